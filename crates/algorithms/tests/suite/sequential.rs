//! Functions that run step after step: what they are told, what they keep, and how they are found out.

use std::sync::Arc;
use swarmyard_algorithms::sequential::{Either, Program, Robot, first, program};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2};
use swarmyard_part_api as api;
use swarmyard_part_api::{
    Answer, Ended, Every, Graph, GraphModel, Happening, Motion, NodeSpec, Pending, Push, Query, ServiceKind,
    Watch, WatchFor, protocol_id, to_bytes,
};

const USES: &[ServiceKind] = &[ServiceKind::Motion, ServiceKind::Link, ServiceKind::Watching];

/// A world that writes down what is done to it.
#[derive(Default)]
struct World {
    now: f64,
    numbers: u64,
    said: Vec<String>,
    timers: Vec<u64>,
}

impl api::Robot for World {
    fn now(&self) -> Moment {
        Moment::ZERO.plus(self.now)
    }
    fn me(&self) -> u32 {
        0
    }
    fn robots(&self) -> u32 {
        3
    }
    fn chance(&mut self) -> Draw {
        self.numbers += 1;
        Draw::at(1, Uid(1), Purpose::Test, Time(0), self.numbers as u32)
    }
    fn say(&mut self, text: &str) {
        self.said.push(text.to_owned());
    }
    fn send(&mut self, _: u32, to: &[u32], bytes: Arc<[u8]>) {
        self.said.push(format!("send {to:?} {bytes:?}"));
    }
    fn set_timer(&mut self, _: u16, after_s: f64) -> u64 {
        self.numbers += 1;
        self.timers.push(self.numbers);
        self.said.push(format!("timer {after_s}"));
        self.numbers
    }
    fn cancel_timer(&mut self, timer: u64) {
        self.timers.retain(|t| *t != timer);
    }
    fn go(&mut self, _: u16, motion: &Motion) -> Result<u64, String> {
        self.numbers += 1;
        self.said.push(format!("{motion:?}"));
        Ok(self.numbers)
    }
    fn halt(&mut self) {}
    fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        match query {
            Query::Gps { .. } => Ok(Answer::Point(Vec2::new(self.now, 0.0))),
            _ => Err("no sensor of this robot answers that".to_owned()),
        }
    }
    fn watch(&mut self, _: u16, _: &Watch) -> Result<u64, String> {
        self.numbers += 1;
        Ok(self.numbers)
    }
    fn unwatch(&mut self, _: u64) {}
    fn pending(&self, _: u32) -> Vec<Pending> {
        Vec::new()
    }
    fn shine(&mut self, _: u8) {}
}

fn graph(program: Program) -> Graph {
    let spec = NodeSpec { name: "a".to_owned(), model: Arc::new(program), ports: vec![None; 3] };
    Graph::new(&Arc::new(GraphModel::new(vec![spec]).unwrap_or_else(|_| panic!("it connects"))))
}

fn on(graph: &mut Graph, world: &mut World, what: Happening) {
    graph.on(what, world).expect("it comes to rest");
}

fn message(from: u32, number: u32) -> Happening {
    Happening::Message { protocol: protocol_id("a"), from, bytes: to_bytes(&number).into() }
}

async fn echo(robot: Robot, greeting: String) {
    loop {
        let (from, number) = robot.receive::<u32>().await;
        let at = robot.gps(0.0).await;
        robot.say(&format!("{greeting} {from} {number} at {}", at.x));
    }
}

#[test]
fn messages_are_taken_one_after_another_and_the_memory_goes_on_elsewhere() {
    let (mut world, mut one) = (World::default(), graph(program(USES, "hello".to_owned(), echo)));
    on(&mut one, &mut world, Happening::Start);
    on(&mut one, &mut world, message(2, 7));
    world.now = 4.0;
    let mut other = graph(program(USES, "not used".to_owned(), echo));
    other.load(&one.save()).expect("it is the same function");
    on(&mut other, &mut world, message(1, 8));
    assert_eq!(world.said, ["hello 2 7 at 0", "hello 1 8 at 4"]);
    on(&mut one, &mut world, message(1, 8));
    assert_eq!(one.save(), other.save());
}

#[test]
fn a_function_that_was_changed_is_found_out() {
    let (mut world, mut one) = (World::default(), graph(program(USES, "hello".to_owned(), echo)));
    on(&mut one, &mut world, Happening::Start);
    on(&mut one, &mut world, message(2, 7));
    let changed = |robot: Robot, greeting: String| async move {
        let (from, _) = robot.receive::<u32>().await;
        robot.say(&format!("{greeting} {from}"));
    };
    let mut other = graph(program(USES, "hello".to_owned(), changed));
    let why = other.load(&one.save()).expect_err("it wishes something else");
    assert!(why.contains("wish 2 of its journal") && why.contains("Say"), "{why}");
}

#[test]
fn who_is_not_waited_for_any_more_is_forgotten_and_loses_nothing() {
    let function = |robot: Robot, (): ()| async move {
        // Both can be had at once; the message is not lost with the one who waited for it.
        robot.sleep(1.0).await;
        match first(robot.gps(0.0), robot.receive::<u32>()).await {
            Either::First(_) => robot.say("gps first"),
            Either::Second(_) => robot.say("message first"),
        }
        let (from, number) = robot.receive::<u32>().await;
        robot.say(&format!("then {number} from {from}"));
        let late = robot.receive_within::<u32>(3.0).await;
        robot.say(&format!("late: {late:?}"));
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, (), function)));
    on(&mut one, &mut world, Happening::Start);
    on(&mut one, &mut world, message(2, 9));
    let timer = world.timers[0];
    on(&mut one, &mut world, Happening::Timer { node: 0, timer });
    assert_eq!(world.said[1..3], ["gps first", "then 9 from 2"]);
    on(&mut one, &mut world, message(1, 5));
    assert_eq!(world.said.last().expect("it spoke"), "late: Some((1, 5))");
    assert_eq!(world.timers, [timer], "the timer of the sleep that lost is cancelled");
    let over = one.save();
    on(&mut one, &mut world, message(1, 6));
    assert_eq!(one.save(), over, "a function that is over keeps nothing");
}

#[test]
fn a_checkpoint_empties_the_journal_and_keeps_the_letter_box() {
    let function = |robot: Robot, sum: u32| async move {
        let (_, number) = robot.receive::<u32>().await;
        robot.say(&format!("{}", sum + number));
        robot.checkpoint(&(sum + number)).await;
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, 0, function)));
    on(&mut one, &mut world, Happening::Start);
    let mut sizes = Vec::new();
    for k in 1..=50 {
        on(&mut one, &mut world, message(1, k));
        sizes.push(one.save().len());
    }
    assert_eq!(world.said.last().expect("it spoke"), "1275");
    assert!(sizes[49] <= sizes[0] + 4, "the memory does not grow: {} then {}", sizes[0], sizes[49]);
}

#[test]
fn a_robot_that_comes_back_begins_with_what_it_has_persisted() {
    let function = |robot: Robot, kept: u32| async move {
        robot.say(&format!("begins with {kept}"));
        let mut sum = kept;
        loop {
            sum += robot.receive::<u32>().await.1;
            if sum.is_multiple_of(2) {
                robot.persist(&sum);
            }
        }
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, 7, function)));
    for happening in [Happening::Start, message(1, 2), message(1, 3), message(1, 1)] {
        on(&mut one, &mut world, happening);
    }
    // What was persisted is part of its memory.
    let mut other = graph(program(USES, 7, function));
    other.load(&one.save()).expect("it is the same function");
    for graph in [&mut one, &mut other] {
        graph.crash();
        on(graph, &mut world, Happening::Start);
    }
    assert_eq!(world.said, ["begins with 7", "begins with 12", "begins with 12"]);
}

#[test]
fn of_pushes_that_nobody_waits_for_the_newest_is_kept() {
    let function = |robot: Robot, (): ()| async move {
        let near = robot.watch(Watch { what: WatchFor::Near { range: 1.0 }, every: Every::Exact });
        let how = robot.forward(1.0, 1.0).await;
        robot.say(&format!("{how:?}"));
        loop {
            let (watch, answer) = robot.next_push().await;
            robot.say(&format!("{} {answer:?}", watch == near));
        }
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, (), function)));
    on(&mut one, &mut world, Happening::Start);
    let push =
        |x: f64| Happening::Pushed { node: 0, push: Push { watch: 1, answer: Answer::Numbers(vec![x]) } };
    on(&mut one, &mut world, push(1.0));
    on(&mut one, &mut world, push(2.0));
    on(&mut one, &mut world, Happening::Ended { node: 0, task: 2, how: Ended::Finished });
    on(&mut one, &mut world, push(3.0));
    assert_eq!(world.said[1..], ["Finished", "true Numbers([2.0])", "true Numbers([3.0])"]);
}

#[test]
fn a_missing_sensor_and_an_endless_function_are_named() {
    let blind = |robot: Robot, (): ()| async move {
        robot.view(1.0).await;
        robot.say("never");
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, (), blind)));
    on(&mut one, &mut world, Happening::Start);
    assert_eq!(world.said, ["cannot go on: View { range: 1.0 }: no sensor of this robot answers that"]);

    let restless = |robot: Robot, (): ()| async move {
        robot.gps(0.0).await;
        robot.checkpoint(&()).await;
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, (), restless)));
    on(&mut one, &mut world, Happening::Start);
    assert_eq!(world.said, ["this function never waits: it is stopped"]);
}

#[test]
fn a_collision_ends_the_motion_and_says_with_whom_and_where_and_the_robot_may_move_again() {
    let function = |robot: Robot, (): ()| async move {
        match robot.forward(5.0, 1.0).await {
            Ended::Collided { with, robot: other, at } => {
                robot.say(&format!("touched {} robot {other:?} at {} {}", with.0, at.x, at.y));
            }
            other => robot.say(&format!("{other:?}")),
        }
        robot.say(&format!("{:?}", robot.turn(1.0, 1.0).await));
    };
    let (mut world, mut one) = (World::default(), graph(program(USES, (), function)));
    on(&mut one, &mut world, Happening::Start);
    let how = Ended::Collided { with: Uid(7), robot: Some(2), at: Vec2::new(1.5, -2.0) };
    // The end of another motion is none of its business.
    on(&mut one, &mut world, Happening::Ended { node: 0, task: 9, how: Ended::Finished });
    on(&mut one, &mut world, Happening::Ended { node: 0, task: 1, how });
    on(&mut one, &mut world, Happening::Ended { node: 0, task: 2, how: Ended::Finished });
    let said = [
        "Forward { distance: 5.0, speed: 1.0 }",
        "touched 7 robot Some(2) at 1.5 -2",
        "Turn { by: 1.0, turn_speed: 1.0 }",
        "Finished",
    ];
    assert_eq!(world.said, said);
}
