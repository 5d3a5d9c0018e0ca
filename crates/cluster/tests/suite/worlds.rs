//! A world crosses the network once for every machine, whatever the number of workers there.

use crate::common::{Threads, fresh_run, load};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use swarmyard_cluster::{Keeper, Plan, Status};
use swarmyard_fabric::local::Switchboard;
use swarmyard_sim::Sim;

/// A run on that many workers, each on a machine.
fn spread(board: &Switchboard, workers: u32, host: fn(u32) -> &'static str) -> (Sim, Arc<Mutex<Status>>) {
    let run = fresh_run();
    let mut staff = Threads::new(board, run);
    staff.host = Some(host);
    let plan = Plan { keep_every: 4, ..Plan::of(workers) };
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff)).expect("a keeper");
    let status = keeper.status();
    let mut sim = load("forty-wander");
    sim.give_to(Box::new(keeper));
    (sim, status)
}

fn steps(many: &mut Sim, one: &mut Sim, n: u64) {
    for _ in 0..n {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"));
    }
}

#[test]
fn workers_of_one_machine_get_the_world_from_the_first_of_them() {
    let board = Switchboard::default();
    let (mut many, status) = spread(&board, 5, |worker| if worker == 3 { "beta" } else { "alpha" });
    let mut one = load("forty-wander");
    steps(&mut many, &mut one, 3);
    let given = status.lock().expect("status").worlds;
    println!(
        "5 workers on 2 machines: the keeper gave its world {} times, {} bytes",
        given.times, given.bytes
    );
    assert_eq!(given.times, 2, "once for each machine");
    let text = many.model().sources.0.iter().map(|s| s.text.len() as u64).sum::<u64>();
    assert!(given.bytes > 2 * text && given.bytes < 2 * text + 2000, "{} bytes of text", text);
}

#[test]
fn a_new_epoch_needs_no_world_again_and_who_comes_late_gets_it_from_who_is_there() {
    let board = Switchboard::new(Duration::from_millis(150));
    let (mut many, status) = spread(&board, 3, |_| "alpha");
    let mut one = load("forty-wander");
    steps(&mut many, &mut one, 6);
    assert_eq!(status.lock().expect("status").worlds.times, 1);
    // Another one comes in its place: it gets it from one of those who are left.
    board.cut("worker-1");
    steps(&mut many, &mut one, 14);
    let told = status.lock().expect("status").clone();
    assert!(told.statistics.lost == [1] && told.statistics.epochs > 1, "{:?}", told.statistics);
    assert_eq!(told.worlds.times, 1, "they had it, or told each other");
}

#[test]
fn who_does_not_hear_the_first_of_its_machine_gets_the_world_from_the_keeper() {
    let board = Switchboard::default();
    board.part("worker-0", "worker-1");
    let (mut many, status) = spread(&board, 2, |_| "alpha");
    // They do not hear each other at all, so one of them is given up; but both have begun.
    steps(&mut many, &mut load("forty-wander"), 2);
    assert_eq!(status.lock().expect("status").worlds.times, 2);
}
