//! Workers that hang hold their connections open and say nothing.

use crate::yard::{Dice, LEASE_S, Run, TICKS, alone, seeds, signal};
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
