//! What comes from outside enters a run on workers as it enters one at home.

use crate::common::{given_to_workers, load, spread};
use std::time::Duration;
use swarmyard_base::{Ratio, Time};
use swarmyard_cluster::Plan;
use swarmyard_fabric::local::Switchboard;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::Detail;
use swarmyard_sim::{Error, Scenario, Sim, Timeline, standard_registry};

/// Steers a run: halts, another quantum, another level of detail, commands, at certain stops.
fn steer(sim: &mut Sim, stop: u64) {
    match stop {
        5 => sim.halt("/robots/tug3", true).expect("a robot"),
        9 => sim.set_quantum(Ratio::new(1, 50).expect("a quantum")),
        14 => sim.halt("/robots/tug3", false).expect("a robot"),
        17 => sim.set_detail(Detail::Coarse),
        21 => sim.command("/robots/tug2/drive", "left", &[0.1]).expect("a drive"),
        _ => {}
    }
}

#[test]
fn a_run_is_steered_on_workers_as_at_home() {
    for ahead in [0, 6] {
        let (mut one, board) = (load("forty-wander"), Switchboard::default());
        let plan = Plan { ahead, keep_every: 8, period: 4, ..Plan::of(3) };
        let (mut many, status) = spread("forty-wander", plan, &board);
        for k in 0..40 {
            steer(&mut one, k);
            steer(&mut many, k);
            assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}, {ahead} ahead");
        }
        assert_eq!(one.journal(), many.journal());
        // Who had gone ahead had to go back.
        assert_eq!(status.lock().expect("status").statistics.again > 0, ahead > 0);
    }
}

/// Checkpoints are at stops 8, 16, 24 and 32; each loss is between an input and the checkpoint after it.
#[test]
fn what_came_from_outside_is_not_lost_with_a_worker() {
    for ahead in [0, 6] {
        let (mut one, board) = (load("forty-wander"), Switchboard::new(Duration::from_millis(150)));
        let plan = Plan { ahead, keep_every: 8, period: 4, ..Plan::of(3) };
        let (mut many, status) = spread("forty-wander", plan, &board);
        for k in 0..40 {
            steer(&mut one, k);
            steer(&mut many, k);
            match k {
                6 => board.cut("worker-0"),
                15 => board.cut("worker-2"),
                22 => board.cut("worker-1"),
                _ => {}
            }
            assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}, {ahead} ahead");
        }
        assert_eq!(one.journal(), many.journal());
        let told = status.lock().expect("status").statistics.clone();
        assert_eq!(told.lost, [0, 2, 1]);
        assert!(told.again > 0, "nothing was taken again");
    }
}

/// Two robots that wait for somebody to say what to do.
const WAITING: &str = r#"
        format = 1
        [type.bot]
        radius = 0.2
        [[type.bot.part]]
        name = "drive"
        class = "diff-drive"
        [type.bot.controller]
        class = "external"
        wait = true
        [[robot]]
        name = "a"
        type = "bot"
        at = [0, 0]
        [[robot]]
        name = "b"
        type = "bot"
        at = [3, 0]
    "#;

#[test]
fn robots_that_wait_for_commands_are_named_and_then_go_on_though_workers_are_lost() {
    let waiting = |sim: &mut Sim| match sim.step() {
        Err(Error::Blocked(robots)) => robots,
        other => panic!("{other:?}"),
    };
    let run = crate::common::fresh_run();
    let board = Switchboard::new(Duration::from_millis(150));
    let staff = crate::common::Threads::new(&board, run);
    let keeper = swarmyard_cluster::Keeper::new(
        std::sync::Arc::new(board.member("keeper")),
        run,
        Plan { keep_every: 4, ..Plan::of(2) },
        Box::new(staff),
    );
    let (mut one, mut many) =
        (Sim::from_text(WAITING).expect("a world"), Sim::from_text(WAITING).expect("a world"));
    let keeper = keeper.expect("a keeper");
    let status = keeper.status();
    many.give_to(Box::new(keeper));
    for k in 0..24 {
        assert_eq!(waiting(&mut one), waiting(&mut many), "step {k}");
        for sim in [&mut one, &mut many] {
            sim.command("/robots/a/drive", "left", &[0.05 * f64::from(k)]).expect("a drive");
            sim.skip("/robots/b").expect("a robot");
        }
        // The commands are in the journal, and the step that they are for has not been taken.
        match k {
            5 => board.cut("worker-0"),
            13 => board.cut("worker-1"),
            _ => {}
        }
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}");
    }
    assert_eq!(one.journal(), many.journal());
    assert_eq!(status.lock().expect("status").statistics.lost, [0, 1]);
}

#[test]
fn a_run_on_workers_can_be_rewound_and_branched() {
    let plan = Plan { keep_every: 4, ..Plan::of(2) };
    let (mut sim, _) = spread("forty-wander", plan, &Switchboard::default());
    let mut timeline = Timeline::default();
    let mut hashes = vec![sim.hash()];
    timeline.keep(&mut sim);
    for _ in 0..20 {
        hashes.push(sim.step().expect("a step").hash);
        timeline.keep(&mut sim);
    }
    let view = timeline.view(&sim, 10).expect("it was there");
    assert_eq!(view.hash(), hashes[10]);
    timeline.branch(&mut sim, view).expect("it is the same run");
    for (k, hash) in hashes.iter().enumerate().skip(11) {
        assert_eq!(sim.step().expect("a step").hash, *hash, "step {k}, on workers again");
    }
}

#[test]
fn a_snapshot_taken_at_home_is_opened_on_workers() {
    let mut one = load("crowd");
    for _ in 0..10 {
        one.step().expect("a step");
    }
    let bytes = one.snapshot();
    let (mut many, _) = spread("crowd", Plan::of(3), &Switchboard::default());
    many.step().expect("a step");
    many.restore(&bytes).expect("the same world");
    for _ in 0..10 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"));
    }
    many.gather().expect("it comes home");
    assert_eq!(one.snapshot(), many.snapshot());
}

#[test]
fn what_is_not_home_is_said_to_be_away_and_the_hash_is_right_all_the_same() {
    let mut one = load("crowd");
    let plan = Plan { show_every: 0, keep_every: 64, ..Plan::of(2) };
    let (mut many, _) = spread("crowd", plan, &Switchboard::default());
    assert!(many.is_gathered());
    for _ in 0..10 {
        let hash = one.step().expect("a step").hash;
        many.step().expect("a step");
        assert!(one.is_gathered() && !many.is_gathered());
        assert_eq!((one.hash(), many.hash()), (hash, hash));
    }
    many.gather().expect("it comes home");
    assert!(many.is_gathered());
    assert_eq!((many.hash(), many.full_hash()), (one.hash(), one.full_hash()));
    assert_eq!(many.snapshot(), one.snapshot());
    let robot = one.model().paths[0].to_string();
    assert_eq!(many.pose(&robot), one.pose(&robot));
}

/// Another quantum and another level of detail by a change of the world: its first step begins with them, also when it is
/// taken again because a worker is lost before the next checkpoint.
#[test]
fn a_world_changed_on_workers_goes_as_one_changed_at_home() {
    let text = |run: &str| {
        format!(
            "format = 1\n[run]\n{run}\n[world]\nmin = [-9, -9]\nmax = [9, 9]\n[type.cart]\nradius = 0.2\n\
             [[type.cart.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[[type.cart.part]]\nname = \"sonar\"\nclass = \"range-rays\"\nrays = 8\nrange = 2\n\
             [type.cart.controller]\nclass = \"wander\"\n[[robot]]\nname = \"c\"\ntype = \"cart\"\ncount = 20\nlayout = {{ class = \"grid\", spacing = 1.5 }}\n"
        )
    };
    let (first, second) = ("quantum = \"100ms\"", "quantum = \"40ms\"\ndetail = \"coarse\"");
    for (ahead, loses) in [(0, false), (6, false), (0, true), (6, true)] {
        let begin = || Sim::from_text(&text(first)).expect("a world");
        let mut one = begin();
        let board = Switchboard::new(Duration::from_millis(150));
        let plan = Plan { ahead, keep_every: 8, period: 4, ..Plan::of(3) };
        let (mut many, status) = given_to_workers(begin(), plan, &board);
        for k in 0..20 {
            if k == 5 {
                for sim in [&mut one, &mut many] {
                    sim.halt("/robots/c3", true).expect("a robot");
                    let registry = standard_registry();
                    let other = text(second);
                    let scenario = Scenario {
                        name: "other",
                        text: &other,
                        overrides: &[],
                        loader: &NoFiles,
                        registry: &registry,
                    };
                    sim.change(&scenario).expect("a world");
                }
            }
            if k == 7 && loses {
                board.cut("worker-1");
            }
            assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}, {ahead} ahead");
        }
        assert_eq!(one.now(), many.now());
        assert_eq!(one.now(), Time::from_seconds(5.0 * 0.1 + 15.0 * 0.04));
        many.gather().expect("all of it");
        assert_eq!(one.full_hash(), many.full_hash());
        assert_eq!(status.lock().expect("status").statistics.lost.len(), usize::from(loses));
    }
}
