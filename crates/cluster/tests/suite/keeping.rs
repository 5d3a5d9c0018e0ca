//! What is kept of a run, and how it goes on from there.

use crate::common::{Threads, fresh_run, load, spread};
use std::sync::Arc;
use std::time::Duration;
use swarmyard_cluster::{Keeper, Lengths, Natives, Plan, Save, Saved, Setup, work};
use swarmyard_fabric::local::Switchboard;

fn folder(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("swarmyard-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a folder");
    path
}

#[test]
fn a_run_whose_keeper_is_gone_goes_on_from_its_checkpoint() {
    for name in ["forty-wander", "gathering", "crowd"] {
        let folder = folder("keeping");
        let path = folder.join(format!("{name}.checkpoint"));
        let plan = Plan { keep_every: 8, save: Save::At(path.clone()), ..Plan::of(2) };
        let board = Switchboard::default();
        let (mut sim, _) = spread(name, plan, &board);
        for _ in 0..20 {
            sim.step().expect("a step");
        }
        drop(sim);
        let saved = Saved::read(&std::fs::read(&path).expect("a file")).expect("a checkpoint");
        assert_eq!(saved.stop(), 16, "{name}");
        let mut again = saved.sim(1, None).expect("a run");
        let mut one = load(name);
        for _ in 0..30 {
            one.step().expect("a step");
        }
        while again.state().stops < 30 {
            again.step().expect("a step");
        }
        assert_eq!(again.hash(), one.hash(), "{name}");
        assert_eq!(again.full_hash(), one.full_hash(), "{name}");
        std::fs::remove_dir_all(folder).expect("it was there");
    }
}

#[test]
fn who_is_there_waits_for_who_is_hired_after_it_however_long_that_takes() {
    let (board, run) = (Switchboard::default(), fresh_run());
    let mut staff = Threads::new(&board, run);
    (staff.patience, staff.delay) = (Duration::from_secs(5), Duration::from_secs(8));
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, Plan::of(2), Box::new(staff));
    let keeper = keeper.expect("a keeper");
    let status = keeper.status();
    let (mut many, mut one) = (load("forty-wander"), load("forty-wander"));
    many.give_to(Box::new(keeper));
    for _ in 0..5 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"));
    }
    let told = status.lock().expect("status").statistics.clone();
    assert_eq!((told.lost, told.workers.len()), (Vec::new(), 2));
}

#[test]
fn a_worker_left_alone_writes_down_what_it_was_given() {
    left_alone("alone", Lengths::default());
}

#[test]
fn a_checkpoint_that_is_too_long_for_one_message_is_held_as_well() {
    left_alone("alone-in-pieces", Lengths { whole: 2000, piece: 999 });
}

fn left_alone(name: &str, lengths: Lengths) {
    let folder = folder(name);
    let (board, run) = (Switchboard::default(), fresh_run());
    let member = board.member("worker-0");
    let hold = Some(folder.clone());
    let mut sim = load("forty-wander");
    let worker = std::thread::spawn(move || {
        let patience = Duration::from_secs(3);
        let setup = Setup {
            fabric: Arc::new(member),
            run: run.into(),
            me: 0,
            threads: 1,
            patience,
            hold,
            natives: Natives::default(),
        };
        work(&setup, &std::sync::atomic::AtomicBool::new(false)).expect("the switchboard is there")
    });
    let plan = Plan { keep_every: 4, lengths, ..Plan::of(1) };
    let mut staff = Threads::new(&board, run);
    staff.hires = false;
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff)).expect("a keeper");
    sim.give_to(Box::new(keeper));
    for _ in 0..10 {
        sim.step().expect("a step");
    }
    // The keeper's process is gone without a word.
    board.kill("keeper");
    let ended = worker.join().expect("no panic");
    let swarmyard_cluster::Ended::Alone(Some(path)) = ended else { panic!("{ended:?}") };
    let saved = Saved::read(&std::fs::read(path).expect("a file")).expect("a checkpoint");
    assert_eq!(saved.stop(), 8);
    std::fs::remove_dir_all(folder).expect("it was there");
}

#[test]
fn a_record_that_is_cut_off_does_not_count_and_everything_before_it_does() {
    let path = folder("torn").join("run.checkpoint");
    let plan = Plan { keep_every: 4, save: Save::At(path.clone()), ..Plan::of(1) };
    let (mut sim, _) = spread("forty-wander", plan, &Switchboard::default());
    let length = || std::fs::metadata(&path).expect("a file").len() as usize;
    let (mut one, mut lengths) = (load("forty-wander"), Vec::new());
    for stop in 0..7 {
        // All of a stop is one record.
        let robots: &[&str] = match stop {
            5 => &["/robots/tug3"],
            6 => &["/robots/tug1", "/robots/tug2"],
            _ => &[],
        };
        for robot in robots {
            sim.halt(robot, true).expect("a robot");
            one.halt(robot, true).expect("a robot");
        }
        sim.step().expect("a step");
        one.step().expect("a step");
        lengths.push(length());
    }
    assert!(lengths[4] == lengths[3] && lengths[5] > lengths[4] && lengths[6] > lengths[5], "{lengths:?}");
    let bytes = std::fs::read(&path).expect("a file");
    let whole = Saved::read(&bytes).expect("a checkpoint");
    assert_eq!((whole.stop(), whole.last_input(), whole.is_torn()), (4, Some(6), false));
    let mut again = whole.sim(1, None).expect("a run");
    while again.state().stops < 7 {
        again.step().expect("a step");
    }
    assert_eq!((again.hash(), again.journal()), (one.hash(), one.journal()));
    for cut in (0..lengths[4]).step_by(1999).chain(lengths[4] - 1..bytes.len()) {
        let read = Saved::read(&bytes[..cut]);
        let Ok(saved) = read else {
            assert!(cut < lengths[4], "cut at {cut} of {lengths:?}");
            continue;
        };
        assert!(cut >= lengths[4], "cut at {cut} of {lengths:?}");
        let last = if cut < lengths[5] { None } else { Some(5) };
        assert_eq!((saved.last_input(), saved.is_torn()), (last, ![lengths[4], lengths[5]].contains(&cut)));
    }
    for k in lengths[4] + 4..bytes.len() {
        let mut changed = bytes.clone();
        changed[k] ^= 1;
        // A length that was changed may look like a cut.
        let is_length = (lengths[5]..lengths[5] + 4).contains(&k);
        assert!(is_length || Saved::read(&changed).is_err(), "changed at {k}");
    }
    std::fs::remove_dir_all(path.parent().expect("a folder")).expect("it was there");
}

#[test]
fn a_checkpoint_that_was_changed_or_cut_off_is_refused() {
    let folder = folder("broken");
    let path = folder.join("run.checkpoint");
    let plan = Plan { keep_every: 4, save: Save::At(path.clone()), ..Plan::of(1) };
    let (mut sim, _) = spread("forty-wander", plan, &Switchboard::default());
    for _ in 0..5 {
        sim.step().expect("a step");
    }
    drop(sim);
    let bytes = std::fs::read(&path).expect("a file");
    assert!(Saved::read(&bytes).is_ok());
    for cut in [0, 7, 12, 40, bytes.len() / 2, bytes.len() - 1] {
        assert!(Saved::read(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let mut changed = bytes.clone();
    changed[bytes.len() / 3] ^= 1;
    assert!(Saved::read(&changed).is_err());
    std::fs::remove_dir_all(folder).expect("it was there");
}
