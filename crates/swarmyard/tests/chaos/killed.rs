//! Workers that are killed cannot say good-bye.

use crate::yard::{Dice, Host, Run, TICKS, alone, done, folder, seeds, signal};

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

/// Not only hashes: the recording and the list of events have every step once, as those of a run in one process.
#[test]
fn the_log_of_a_run_that_lost_a_worker_is_that_of_an_undisturbed_one() {
    let _alone = alone();
    let folder = folder("killed-log");
    let path = |name: &str| folder.join(name).display().to_string();
    let files = |name: &str| {
        format!("--record {} --events {}", path(&format!("{name}.mcap")), path(&format!("{name}.events")))
    };
    let mut run = Run::start(&[], "killed-log", &format!("--workers 3 --rtf 8 {}", files("harmed")));
    run.comes_to(Dice::new(77).roll(70, 120));
    signal(run.at_work()[0].pid, "KILL");
    run.ends_as_undisturbed();
    done(&format!("run worlds/forty-wander.toml --until tick:{TICKS} -q {}", files("whole")));
    done(&format!("diff {} {}", path("harmed.mcap"), path("whole.mcap")));
    done(&format!("replay {} --verify", path("harmed.mcap")));
    // Heartbeats go by the clock of the machine.
    let events = |name: &str| -> String {
        let text = std::fs::read_to_string(folder.join(name)).expect("events");
        text.lines().filter(|l| !l.contains("\"kind\":\"heartbeat\"")).map(|l| format!("{l}\n")).collect()
    };
    let (harmed, whole) = (events("harmed.events"), events("whole.events"));
    assert!(whole.contains("\"kind\":\"contact\""), "nothing happened: {whole}");
    assert!(harmed == whole, "other events than those of an undisturbed run");
}

/// Harm in a crowd: bodies press on each other across the borders while whoever has them is killed.
#[test]
fn a_dense_crowd_whose_workers_are_killed_comes_out_the_same() {
    let _alone = alone();
    let mut run = Run::start_in("worlds/crowd.toml", &[], "crowd-killed", "--workers 3 --rtf 8");
    let mut tick = 0;
    for seed in [5001, 5002] {
        tick = Dice::new(seed).roll(tick + 20, tick + 120);
        run.comes_to(tick);
        let at_work = run.at_work();
        signal(at_work[seed as usize % at_work.len()].pid, "KILL");
    }
    run.ends_as_undisturbed();
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
