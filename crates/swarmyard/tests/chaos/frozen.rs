//! Workers that hang hold their connections open and say nothing.

use crate::yard::{Dice, Host, LEASE_S, Run, TICKS, Worker, alone, seeds, signal};
use std::time::{Duration, Instant};

#[test]
fn workers_frozen_at_random_are_given_up_and_nothing_shows() {
    let _alone = alone();
    for seed in seeds(3) {
        let mut dice = Dice::new(1000 + seed);
        let mut run = Run::on_workers(&format!("frozen-{seed}"));
        let tick = dice.roll(1, TICKS - 60);
        run.comes_to(tick);
        let at_work = run.at_work();
        let victim = &at_work[dice.roll(0, at_work.len() as u64) as usize];
        println!("seed {seed}: worker {} is frozen at tick {tick}", victim.number);
        signal(victim.pid, "STOP");
        let since = Instant::now();
        // What was granted before it froze may still come.
        run.comes_to((tick + 40).min(TICKS));
        println!("the run went on after {:.2} s, with a lease of {LEASE_S} s", since.elapsed().as_secs_f64());
        run.ends_as_undisturbed();
    }
}

#[test]
fn a_worker_that_hangs_for_a_moment_only_is_waited_for_or_given_up_and_either_way_nothing_shows() {
    let _alone = alone();
    let mut run = Run::on_workers("hangs");
    for tick in [40, 120] {
        run.comes_to(tick);
        let at_work = run.at_work();
        signal(at_work[0].pid, "STOP");
        std::thread::sleep(Duration::from_secs_f64(LEASE_S / 3.0));
        signal(at_work[0].pid, "CONT");
    }
    run.ends_as_undisturbed();
}

/// Two hosts with a run on both, and no room for anybody else.
fn two_hosts(name: &str) -> ([Host; 2], Run) {
    let hosts = ["a", "b"].map(|name| Host::start(&[], name, "--slots 1"));
    let [a, b] = hosts.each_ref().map(Host::address);
    let run = Run::start(&[], name, &format!("--hosts {a},{b} --workers 2 --rtf 5"));
    (hosts, run)
}

fn on_a(run: &Run) -> Vec<Worker> {
    run.workers().into_iter().filter(|w| w.host.as_deref() == Some("a")).collect()
}

/// A machine hangs with everything on it: nobody waits for what its host would say.
#[test]
fn a_host_that_hangs_with_its_worker_holds_the_run_up_for_less_than_two_leases() {
    let _alone = alone();
    let mut tries = Vec::new();
    while tries.len() < 3 {
        let ([a, _b], mut run) = two_hosts(&format!("host-frozen-{}", tries.len()));
        run.comes_to(30);
        let frozen: Vec<u32> = on_a(&run).iter().map(|w| w.pid).chain([a.pid()]).collect();
        assert!(frozen.len() >= 2, "nobody works on a");
        frozen.iter().for_each(|pid| signal(*pid, "STOP"));
        let longest = run.longest_until(150).as_secs_f64();
        frozen.iter().for_each(|pid| signal(*pid, "CONT"));
        println!("longest time without a step: {longest:.2} s, with a lease of {LEASE_S} s");
        run.ends_as_undisturbed();
        assert!(longest > LEASE_S / 2.0, "nobody was missed");
        if longest < 2.0 * LEASE_S {
            return;
        }
        tries.push(longest);
    }
    panic!("each time the run was held up for too long: {tries:?}");
}

/// It is seen at once; should it not answer on the old connection, there is another.
#[test]
fn a_host_that_wakes_up_after_three_leases_is_asked_again() {
    let _alone = alone();
    let ([a, b], mut run) = two_hosts("host-wakes");
    run.comes_to(10);
    let before = on_a(&run);
    let frozen: Vec<u32> = before.iter().map(|w| w.pid).chain([a.pid()]).collect();
    frozen.iter().for_each(|pid| signal(*pid, "STOP"));
    std::thread::sleep(Duration::from_secs_f64(3.0 * LEASE_S));
    frozen.iter().for_each(|pid| signal(*pid, "CONT"));
    let woken = Instant::now();
    let mut tick = 10;
    while on_a(&run).len() == before.len() {
        tick += 10;
        assert!(tick < TICKS - 10, "nobody asked a again");
        run.comes_to(tick);
    }
    println!("asked again after {:.2} s, before tick {tick}", woken.elapsed().as_secs_f64());
    run.ends_as_undisturbed();
    drop(b);
}
