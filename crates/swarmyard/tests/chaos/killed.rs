//! Workers that are killed cannot say good-bye.

use crate::yard::{Dice, Host, Run, TICKS, alone, seeds, signal};

#[test]
fn workers_killed_at_random_are_replaced_and_nothing_shows() {
    let _alone = alone();
    for seed in seeds(5) {
        let mut dice = Dice::new(seed);
        let mut run = Run::on_workers(&format!("killed-{seed}"));
        let times = 1 + seed % 3;
        let mut tick = 0;
        for _ in 0..times {
            tick = dice.roll(tick + 1, tick + (TICKS - 60) / times);
            run.comes_to(tick);
            let at_work = run.at_work();
            let victim = &at_work[dice.roll(0, at_work.len() as u64) as usize];
            println!("seed {seed}: worker {} is killed at tick {tick}", victim.number);
            signal(victim.pid, "KILL");
        }
        run.ends_as_undisturbed();
    }
}

/// One computes such a world, and another does the same beside it: first the one is killed, then the other.
#[test]
fn a_world_of_events_outlives_both_who_compute_it() {
    let _alone = alone();
    let mut run = Run::start_in("worlds/cyclic-pursuit.toml", &[], "events-killed", "--workers 3 --rtf 8");
    let mut tick = 0;
    for victim in [0, 1] {
        tick = Dice::new(4000 + victim).roll(tick + 20, tick + 120);
        run.comes_to(tick);
        let workers = run.workers();
        let worker = workers.iter().find(|w| w.number == victim).expect("it was hired");
        println!("worker {victim} is killed at tick {tick}");
        signal(worker.pid, "KILL");
    }
    run.ends_as_undisturbed();
}

#[test]
fn all_workers_may_be_killed_at_once() {
    let _alone = alone();
    let mut run = Run::on_workers("all-killed");
    run.comes_to(100);
    for worker in run.at_work() {
        signal(worker.pid, "KILL");
    }
    run.ends_as_undisturbed();
}

#[test]
fn a_host_that_is_killed_takes_its_workers_along_and_the_run_goes_on_elsewhere() {
    let _alone = alone();
    let (a, b) = (Host::start(&[], "a", "--slots 3"), Host::start(&[], "b", "--slots 1"));
    let hosts = format!("--hosts {},{} --workers 2 --rtf 5", a.address(), b.address());
    let mut run = Run::start(&[], "host-killed", &hosts);
    run.comes_to(30);
    let workers = run.workers();
    let on_a: Vec<_> = workers.iter().filter(|w| w.host.as_deref() == Some("a")).cloned().collect();
    assert!(!on_a.is_empty(), "{workers:?}");
    signal(a.pid(), "KILL");
    crate::yard::assert_gone(&on_a, crate::yard::AGES);
    let said = run.ends_as_undisturbed();
    assert!(said.contains("host `a`"), "{said}");
}
