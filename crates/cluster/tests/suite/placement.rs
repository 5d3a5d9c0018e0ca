//! Where robots are simulated changes nothing but the time it takes.

use crate::common::{Threads, fresh_run};
use std::sync::{Arc, Mutex};
use swarmyard_cluster::host::Running;
use swarmyard_cluster::staff::{Connect, Figures, figures};
use swarmyard_cluster::{Keeper, Placed, Plan, Status};
use swarmyard_fabric::local::Switchboard;
use swarmyard_sim::Sim;

const WORLD: &str = r#"
    format = 1
    [type.plain]
    radius = 0.2
    [[type.plain.part]]
    name = "drive"
    class = "diff-drive"
    [[type.plain.part]]
    name = "eyes"
    class = "range-rays"
    rays = 8
    range = 2
    [type.plain.controller]
    class = "wander"
    [type.graphics]
    on = "display"
    radius = 0.2
    [[type.graphics.part]]
    name = "drive"
    class = "diff-drive"
    [[type.graphics.part]]
    name = "eyes"
    class = "range-rays"
    rays = 8
    range = 2
    [type.graphics.controller]
    class = "wander"
    [[robot]]
    name = "a"
    type = "plain"
    count = 12
    layout = { class = "grid", columns = 4, spacing = 1 }
    [[robot]]
    name = "b"
    type = "graphics"
    at = [0, 3]
    count = 6
    layout = { class = "grid", columns = 3, spacing = 1 }
"#;

fn spread(world: &str, plan: Plan, display: impl IntoIterator<Item = u32>) -> (Sim, Arc<Mutex<Status>>) {
    let (board, run) = (Switchboard::default(), fresh_run());
    let mut staff = Threads::new(&board, run);
    staff.places = display.into_iter().map(|worker| (worker, "display".to_owned())).collect();
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff)).expect("a keeper");
    let status = keeper.status();
    let mut sim = Sim::from_text(world).unwrap_or_else(|e| panic!("{e}"));
    sim.give_to(Box::new(keeper));
    (sim, status)
}

#[test]
fn robots_that_belong_to_a_place_are_there_wherever_they_go() {
    let mut one = Sim::from_text(WORLD).unwrap_or_else(|e| panic!("{e}"));
    let (mut many, status) = spread(WORLD, Plan { period: 2, ..Plan::of(3) }, Some(2));
    for k in 0..40 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}");
        let status = status.lock().expect("status");
        let there = status.statistics.workers.iter().find(|w| w.worker == 2).expect("it is at work");
        assert!(there.bodies >= 6, "{there:?}");
        assert!(status.nowhere.is_empty());
    }
}

#[test]
fn robots_that_belong_to_a_place_are_shared_out_among_all_who_are_there() {
    let bodies = |status: &Mutex<Status>| -> Vec<u32> {
        status.lock().expect("status").statistics.workers.iter().map(|w| w.bodies).collect()
    };
    let mut one = Sim::from_text(WORLD).unwrap_or_else(|e| panic!("{e}"));
    let (mut many, status) = spread(WORLD, Plan { period: 2, ..Plan::of(3) }, [1, 2]);
    for k in 0..20 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}");
        let has = bodies(&status);
        assert!(has[1] >= 3 && has[2] >= 3, "three of six for each: {has:?}");
        if k == 0 {
            // The other twelve are shared out so that all have as much to do.
            assert!(has.iter().all(|n| (5..=7).contains(n)), "{has:?}");
        }
    }
    // Where all robots belong to what all workers can do, nobody is idle.
    let world = WORLD.replace("[type.plain]", "[type.plain]\n    on = \"display\"");
    let (mut many, status) = spread(&world, Plan::of(3), [0, 1, 2]);
    many.step().expect("a step");
    assert_eq!(bodies(&status), [6, 6, 6]);
}

#[test]
fn a_single_robot_may_belong_to_a_place() {
    let world = WORLD.replace("on = \"display\"", "").replace("count = 6", "on = \"display\"\n    count = 6");
    let mut one = Sim::from_text(&world).unwrap_or_else(|e| panic!("{e}"));
    let (mut many, status) = spread(&world, Plan { period: 2, ..Plan::of(3) }, Some(1));
    for k in 0..20 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}");
        let status = status.lock().expect("status");
        let there = status.statistics.workers.iter().find(|w| w.worker == 1).expect("it is at work");
        assert!(there.bodies >= 6, "{there:?}");
    }
}

#[test]
fn a_place_that_nobody_has_is_told_and_does_not_stop_the_run() {
    let mut one = Sim::from_text(WORLD).unwrap_or_else(|e| panic!("{e}"));
    let (mut many, status) = spread(WORLD, Plan::of(2), None);
    for _ in 0..10 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"));
    }
    assert_eq!(status.lock().expect("status").nowhere, ["display"]);
}

#[test]
fn the_next_run_starts_from_the_cut_that_the_last_one_suggests() {
    let plan = Plan { keep_every: 8, ..Plan::of(2) };
    let (mut first, status) = spread(WORLD, plan.clone(), None);
    let hashes: Vec<u64> = (0..16).map(|_| first.step().expect("a step").hash).collect();
    let mut measured = status.lock().expect("status").statistics.clone();
    assert_eq!(measured.robots.len(), 18, "{measured:?}");
    assert!(measured.robots.iter().all(|r| r.cost_us > 0.0 && r.worker < 2), "{:?}", measured.robots);
    // As if the second worker's bodies had cost ten times as much; one robot was not there.
    for robot in &mut measured.robots {
        robot.cost_us = if robot.worker == 1 { 10.0 } else { 1.0 };
    }
    measured.robots.pop();
    let (mut next, status) = spread(WORLD, Plan { placement: Some(measured), ..plan }, None);
    assert_eq!(next.step().expect("a step").hash, hashes[0]);
    let at_start = status.lock().expect("status").clone();
    assert_eq!(at_start.placed, Some(Placed { known: 17, bodies: 18 }));
    let own =
        |worker: u32| at_start.statistics.workers.iter().find(|w| w.worker == worker).map_or(0, |w| w.bodies);
    assert!(own(0) > own(1) + 4, "{:?}", at_start.statistics.workers);
    for hash in &hashes[1..] {
        assert_eq!(next.step().expect("a step").hash, *hash);
    }
}

#[test]
fn what_workers_tell_each_other_and_what_robots_cost_is_counted() {
    let (mut sim, status) = spread(WORLD, Plan { keep_every: 1000, period: 4, ..Plan::of(3) }, None);
    for _ in 0..12 {
        sim.step().expect("a step");
    }
    let before = status.lock().expect("status").statistics.clone();
    assert_eq!(before.workers.iter().map(|w| w.bodies).sum::<u32>(), 18);
    assert!(before.workers.iter().all(|w| w.at_work && w.work_s > 0.0 && w.region.is_some()), "{before:?}");
    assert_eq!(before.links.len(), 6, "each of three tells two: {:?}", before.links);
    for worker in &before.workers {
        let own = before.links.iter().filter(|l| l.from == worker.worker);
        assert_eq!(own.clone().map(|l| l.bytes).sum::<u64>(), worker.sent, "{worker:?}");
        // Neighbours hear every quantum, everybody every fourth.
        assert!(own.clone().all(|l| (2..=15).contains(&l.messages)), "{:?}", before.links);
    }
    assert!(before.robots.is_empty(), "no checkpoint, no figures");
    // What was not yet put down to bodies is when the run ends.
    sim.finish();
    let after = status.lock().expect("status").statistics.clone();
    let paths: Vec<&str> = after.robots.iter().map(|r| r.path.as_str()).collect();
    assert_eq!(paths, sim.model().paths.iter().collect::<Vec<_>>());
    assert!(after.robots.iter().all(|r| (1..6).contains(&r.quanta)), "{:?}", after.robots);
    let cost: f64 = after.robots.iter().map(|r| r.cost_us * r.quanta as f64).sum();
    let work: f64 = after.workers.iter().map(|w| w.work_s * 1e6).sum();
    assert!(cost > 0.0 && cost < work, "{cost} of {work} microseconds were put down to bodies");
    for r in &after.robots {
        assert!(r.sense_us > 0.0 && r.think_us > 0.0 && r.act_us > 0.0 && r.contact_us > 0.0, "{r:?}");
    }
    let heaviest = after.heaviest(10);
    assert!(heaviest.len() == 10 && heaviest.windows(2).all(|w| w[0].cost_us >= w[1].cost_us));
}

#[test]
fn a_worker_says_what_it_has_done_to_who_asks() {
    let (board, run) = (Switchboard::default(), fresh_run());
    let staff = Threads::new(&board, run);
    let keeper =
        Keeper::new(Arc::new(board.member("keeper")), run, Plan::of(2), Box::new(staff)).expect("a keeper");
    let status = keeper.status();
    let mut sim = Sim::from_text(WORLD).unwrap_or_else(|e| panic!("{e}"));
    sim.give_to(Box::new(keeper));
    for _ in 0..5 {
        sim.step().expect("a step");
    }
    let connect: Connect = Arc::new(move |_| Ok(Arc::new(board.member("console"))));
    let running = |worker: u32| Running { run, worker, pid: 1, endpoint: "there".to_owned(), threads: 1 };
    let known = status.lock().expect("status").statistics.clone();
    assert_eq!(known.links.len(), 2, "{:?}", known.links);
    for worker in 0..2 {
        let Figures { worker: said, links, heaviest } =
            figures(&connect, &running(worker)).expect("it answers");
        let kept = &known.workers[worker as usize];
        assert_eq!(links, [known.links[worker as usize].clone()]);
        assert!(!heaviest.is_empty() && heaviest.len() <= 10, "{heaviest:?}");
        assert!(heaviest.windows(2).all(|w| w[0].cost_us >= w[1].cost_us), "{heaviest:?}");
        for robot in heaviest {
            assert!(
                robot.worker == worker && robot.cost_us > 0.0 && robot.path.starts_with("/robots/"),
                "{robot:?}"
            );
        }
        assert_eq!((said.worker, said.bodies, said.work_s), (worker, kept.bodies, kept.work_s));
    }
    assert_eq!(figures(&connect, &running(7)), None, "nobody has that number");
}

#[test]
fn another_run_of_the_same_workers_is_counted_anew() {
    let (mut first, status) = spread(WORLD, Plan { keep_every: 4, ..Plan::of(2) }, None);
    for _ in 0..8 {
        first.step().expect("a step");
    }
    let crowd = first.release().expect("workers");
    let text = WORLD.replace("count = 12", "count = 8");
    let (mut one, mut many) =
        (Sim::from_text(&text).expect("a world"), Sim::from_text(&text).expect("a world"));
    many.give_to(crowd);
    assert!(many.is_spread() && !first.is_spread());
    let anew = status.lock().expect("status").statistics.clone();
    assert!(anew.links.is_empty() && anew.robots.is_empty(), "{anew:?}");
    for k in 0..8 {
        assert_eq!(one.step().expect("a step"), many.step().expect("a step"), "step {k}");
    }
    let statistics = many.statistics().expect("figures");
    assert_eq!((statistics.workers.len(), statistics.robots.len()), (2, 14), "nobody else was hired");
}
