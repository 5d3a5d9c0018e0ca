//! Workers are lost, cut off, late; messages are lost, doubled and late: the run comes out the same.

use crate::common::{Threads, fresh_run, given_to_workers, load, spread};
use crate::figures::line_of;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_cluster::{Keeper, Plan, Staff};
use swarmyard_engine::Frame;
use swarmyard_fabric::Fabric as _;
use swarmyard_fabric::local::Switchboard;
use swarmyard_sim::{Sim, Statistics};

const WORLD: &str = "forty-wander";
const STEPS: usize = 60;

fn undisturbed() -> Vec<Frame> {
    frames_of(WORLD)
}

fn frames_of(world: &str) -> Vec<Frame> {
    let mut sim = load(world);
    (0..STEPS).map(|_| sim.step().expect("a step")).collect()
}

/// Runs on three workers; `harm` is called before every step.
fn disturbed(plan: Plan, lease: Duration, harm: impl FnMut(usize, &Switchboard)) -> (Vec<Frame>, Lives) {
    disturbed_in(WORLD, plan, lease, harm)
}

/// The same in another world.
fn disturbed_in(
    world: &str,
    plan: Plan,
    lease: Duration,
    mut harm: impl FnMut(usize, &Switchboard),
) -> (Vec<Frame>, Lives) {
    let board = Switchboard::new(lease);
    let (mut sim, status) = spread(world, plan, &board);
    let mut frames = Vec::new();
    for k in 0..STEPS {
        harm(k, &board);
        frames.push(sim.step().unwrap_or_else(|e| panic!("step {k}: {e}")));
    }
    let status = status.lock().expect("status").clone();
    let Statistics { epochs, lost, again, .. } = status.statistics;
    (frames, Lives { epochs, lost, again })
}

struct Lives {
    epochs: u32,
    lost: Vec<u32>,
    again: u64,
}

fn plan() -> Plan {
    Plan { keep_every: 16, period: 4, ..Plan::of(3) }
}

#[test]
fn a_worker_that_is_cut_off_is_replaced_and_nothing_shows() {
    let lease = Duration::from_millis(150);
    let (frames, lives) = disturbed(plan(), lease, |k, board| {
        if k == 25 {
            board.cut("worker-1");
        }
    });
    assert!(frames == undisturbed());
    assert_eq!(lives.lost, [1]);
    assert!(lives.epochs >= 2 && lives.again > 0, "{} {}", lives.epochs, lives.again);
}

#[test]
fn two_that_do_not_hear_each_other_are_no_matter_while_the_keeper_hears_both() {
    let (frames, lives) = disturbed(plan(), Duration::from_millis(500), |k, board| {
        if k == 25 {
            board.part("worker-0", "worker-1");
        }
    });
    assert!(frames == undisturbed());
    assert_eq!(lives.lost, [1]);
}

/// Whoever computes such a world is lost, and then the one that did the same beside it.
#[test]
fn a_world_of_events_goes_on_with_the_worker_that_did_the_same() {
    for world in ["gathering", "cyclic-pursuit"] {
        let lease = Duration::from_millis(150);
        let (frames, lives) = disturbed_in(world, plan(), lease, |k, board| match k {
            20 => board.cut("worker-0"),
            41 => board.cut("worker-1"),
            _ => {}
        });
        assert!(frames == frames_of(world), "{world}");
        assert_eq!(lives.lost, [0, 1], "{world}");
        assert!(lives.epochs >= 3 && lives.again > 0, "{world}: {} {}", lives.epochs, lives.again);
    }
}

#[test]
fn workers_lost_one_after_another_are_no_matter_while_others_come() {
    let lease = Duration::from_millis(150);
    let (frames, lives) = disturbed(plan(), lease, |k, board| match k {
        10 => board.cut("worker-0"),
        20 => board.cut("worker-2"),
        40 => board.cut("worker-3"),
        _ => {}
    });
    assert!(frames == undisturbed());
    assert_eq!(lives.lost, [0, 2, 3]);
}

/// The longest step of a run whose third worker is cut off, when whoever hires and dismisses takes this long for it.
fn longest_after_a_loss(lease: Duration, delay: Duration) -> Duration {
    let (board, run) = (Switchboard::new(lease), fresh_run());
    let mut staff = Threads::new(&board, run);
    (staff.delay, staff.slow_from, staff.farewell) = (delay, 3, delay);
    let keeper =
        Keeper::new(Arc::new(board.member("keeper")), run, plan(), Box::new(staff)).expect("a keeper");
    let mut sim = load(WORLD);
    sim.give_to(Box::new(keeper));
    let mut longest = Duration::ZERO;
    for (k, frame) in undisturbed().into_iter().enumerate() {
        if k == 30 {
            board.cut("worker-2");
        }
        let since = Instant::now();
        assert_eq!(sim.step().expect("a step"), frame, "step {k}");
        if k >= 30 {
            longest = longest.max(since.elapsed());
        }
    }
    longest
}

#[test]
fn recovery_takes_less_than_two_leases_however_long_it_takes_to_hire_somebody() {
    let lease = Duration::from_millis(500);
    for delay in [Duration::ZERO, 10 * lease] {
        let tries: Vec<Duration> = (0..3).map(|_| longest_after_a_loss(lease, delay)).collect();
        println!("longest step after the loss, hiring takes {delay:?}: {tries:?}");
        let best = tries.iter().min().expect("three");
        assert!(*best > lease / 2, "it was not cut off: {tries:?}");
        assert!(*best < 2 * lease, "recovery took too long: {tries:?}");
    }
}

/// What a step of two robots that burn takes when one worker does it all.
const HEAVY: Duration = Duration::from_millis(80);
/// Steps before one of two workers is cut off: to take all of them again would take much longer than two leases.
const MANY: usize = 45;

/// A world of two robots whose programs burn for about that long wherever this test runs, and its frames.
fn heavy_world() -> (String, Vec<Frame>) {
    let text = |turns| line_of([1, 2, 1], turns);
    let mut sim = Sim::from_text(&text(200_000)).unwrap_or_else(|e| panic!("{e}"));
    let took = |sim: &mut Sim| {
        let since = Instant::now();
        sim.step().expect("a step");
        since.elapsed()
    };
    let least = (0..5).map(|_| took(&mut sim)).min().expect("five");
    let turns = (200_000.0 * HEAVY.as_secs_f64() / least.as_secs_f64()) as u32;
    let mut sim = Sim::from_text(&text(turns)).unwrap_or_else(|e| panic!("{e}"));
    let frames = (0..MANY + 10).map(|_| sim.step().expect("a step")).collect();
    (text(turns), frames)
}

#[test]
fn recovery_takes_less_than_two_leases_where_steps_are_heavy() {
    let (lease, (text, frames)) = (Duration::from_secs(1), heavy_world());
    let longest = || {
        let board = Switchboard::new(lease);
        // By ticks alone there would be no checkpoint at all.
        let plan = Plan { keep_every: 1000, ahead: 16, lease, ..Plan::of(2) };
        let sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
        let (mut sim, status) = given_to_workers(sim, plan, &board);
        let mut longest = Duration::ZERO;
        for (k, frame) in frames.iter().enumerate() {
            if k == MANY {
                board.cut("worker-1");
            }
            let since = Instant::now();
            assert_eq!(sim.step().expect("a step"), *frame, "step {k}");
            if k >= MANY {
                longest = longest.max(since.elapsed());
            }
        }
        let Statistics { lost, again, .. } = status.lock().expect("status").statistics.clone();
        assert_eq!(lost, [1]);
        println!("longest step after the loss: {longest:?}, {again} steps of {HEAVY:?} taken again");
        longest
    };
    let mut tries = vec![longest()];
    while tries.len() < 3 && tries.iter().all(|took| *took >= 2 * lease) {
        tries.push(longest());
    }
    let best = tries.iter().min().expect("one");
    assert!(*best > lease / 2, "it was not cut off: {tries:?}");
    assert!(*best < 2 * lease, "recovery took too long: {tries:?}");
}

#[test]
fn the_last_one_is_enough_when_nobody_else_comes() {
    let board = Switchboard::new(Duration::from_millis(150));
    let run = fresh_run();
    let mut staff = Threads::new(&board, run);
    staff.most = 3;
    let keeper =
        Keeper::new(Arc::new(board.member("keeper")), run, plan(), Box::new(staff)).expect("a keeper");
    let mut sim = load(WORLD);
    sim.give_to(Box::new(keeper));
    for (k, frame) in undisturbed().into_iter().enumerate() {
        match k {
            12 => board.cut("worker-0"),
            30 => board.cut("worker-1"),
            _ => {}
        }
        assert_eq!(sim.step().expect("a step"), frame, "step {k}");
    }
}

/// Hires workers that end as soon as they have come.
struct Mayflies(Switchboard, u64);

impl Staff for Mayflies {
    fn hire(&mut self, number: u32) -> Result<(), String> {
        let (member, key) =
            (self.0.member(&format!("worker-{number}")), format!("swarm/run/{}/live/{number}", self.1));
        std::thread::spawn(move || {
            let _live = member.live(&key).expect("the switchboard is there");
            std::thread::sleep(Duration::from_millis(50));
        });
        Ok(())
    }

    fn dismiss(&mut self, _: u32) {}
}

#[test]
fn a_run_whose_workers_are_lost_again_and_again_without_a_step_ends_and_says_so() {
    let (board, run) = (Switchboard::new(Duration::from_millis(150)), fresh_run());
    let staff = Mayflies(board.clone(), run);
    let plan = Plan { patience: Duration::from_secs(60), ..Plan::of(1) };
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff));
    let mut sim = load(WORLD);
    sim.give_to(Box::new(keeper.expect("a keeper")));
    let why = sim.step().expect_err("nobody lives long enough").to_string();
    assert!(why.contains("times in a row") && why.contains("step 0") && why.contains("resume"), "{why}");
}

#[test]
fn messages_that_are_lost_are_asked_for_again() {
    let (frames, lives) = disturbed(plan(), Duration::from_secs(1), |k, board| {
        if k % 7 == 3 {
            board.lose("swarm/run/*/workers/q/**", 2);
        }
    });
    assert!(frames == undisturbed());
    assert!(lives.lost.is_empty());
}

#[test]
fn messages_that_come_twice_or_in_another_order_make_no_difference() {
    let (frames, lives) = disturbed(plan(), Duration::from_secs(1), |k, board| {
        if k == 0 {
            board.double("swarm/run/*/workers/q/**", 200);
            board.scramble("swarm/run/*/workers/q/**", 7, 3);
        }
    });
    assert!(frames == undisturbed());
    assert!(lives.lost.is_empty());
}

#[test]
fn orders_that_are_lost_are_said_again() {
    let (frames, _) = disturbed(plan(), Duration::from_secs(1), |k, board| {
        if k % 20 == 5 {
            board.lose("swarm/run/*/workers/order/*", 1);
        }
    });
    assert!(frames == undisturbed());
}

#[test]
fn workers_may_run_ahead_of_who_looks() {
    let (frames, _) = disturbed(Plan { ahead: 16, ..plan() }, Duration::from_millis(150), |k, board| {
        if k == 33 {
            board.cut("worker-1");
        }
    });
    assert!(frames == undisturbed());
}

#[test]
fn a_worker_that_comes_late_joins_at_the_next_checkpoint() {
    let board = Switchboard::new(Duration::from_millis(150));
    let run = fresh_run();
    let mut staff = Threads::new(&board, run);
    staff.hires = false;
    let plan = Plan { patience: Duration::from_millis(100), ..plan() };
    let (onlooker, seen) = (board.member("onlooker"), Arc::new(Mutex::new(BTreeSet::new())));
    let list = Arc::clone(&seen);
    let note = move |key: &str, _| {
        list.lock().expect("no panic").insert(key.to_owned());
    };
    let _watch = onlooker.watch(&format!("swarm/run/{run}/live/*"), Box::new(note)).expect("a watcher");
    let come = |count: usize| {
        let since = Instant::now();
        while seen.lock().expect("no panic").len() < count {
            assert!(since.elapsed() < Duration::from_secs(60), "{count} workers did not come");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    // They come by themselves, the third of them late.
    let mut late = Threads::new(&board, run);
    late.hire(0).expect("a thread");
    late.hire(1).expect("a thread");
    come(2);
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff));
    let keeper = keeper.expect("a keeper");
    let status = keeper.status();
    let mut sim = load(WORLD);
    sim.give_to(Box::new(keeper));
    for (k, frame) in undisturbed().into_iter().enumerate() {
        if k == 20 {
            late.hire(2).expect("a thread");
            come(3);
        }
        assert_eq!(sim.step().expect("a step"), frame, "step {k}");
    }
    let status = status.lock().expect("status");
    let workers = &status.statistics.workers;
    assert!(workers.iter().any(|w| w.worker == 2 && w.bodies > 0), "{workers:?}");
}
