//! The algorithm `look-compute-move` does what `lcm::play` does: the same rules and schedules, played by
//! protocol graphs in a small world of robots that move along straight lines in continuous time.

use crate::common::cloud;
use std::f64::consts::PI;
use std::sync::Arc;
use swarmyard_algorithms::lcm::{
    Compass, Frames, Moves, NAMES, Robots, Schedule, Script, Setup, Tuning, by_name, play, rules,
};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Diagnostics, Moment, Pose2, Time, Uid, Vec2};
use swarmyard_part_api::{
    Answer, Built, Ended, Graph, GraphModel, Happening, Motion, NodeSpec, Outline, Pending, Plan, Query,
    RegisterMap, Registry, Robot, Seen, TurnWay, TypeLayout, Watch,
};
use swarmyard_scene::{Params, Value};

const ROUND_S: f64 = 0.25;

struct Body {
    from: Pose2,
    start: Moment,
    plan: Plan,
    /// The task under way: (number, node, end).
    task: Option<(u64, u16, Moment)>,
    light: u8,
}

impl Body {
    fn pose(&self, now: Moment) -> Pose2 {
        let (mut pose, mut t) = (self.from, now.since(self.start));
        for phase in &self.plan.phases {
            if t < phase.duration_s {
                return phase.segment(pose).pose_at(t);
            }
            (pose, t) = (phase.end, t - phase.duration_s);
        }
        pose
    }
}

struct World {
    now: Moment,
    bodies: Vec<Body>,
    /// (when, robot, node, number)
    timers: Vec<(Moment, usize, u16, u64)>,
    numbers: u64,
    said: Vec<String>,
}

/// The world as one robot reaches it.
struct Reach<'a> {
    world: &'a mut World,
    me: usize,
}

impl Reach<'_> {
    fn seen(&self, k: usize) -> Seen {
        let body = &self.world.bodies[k];
        Seen { robot: Some(k as u32), at: body.pose(self.world.now).at, light: body.light }
    }

    fn number(&mut self) -> u64 {
        self.world.numbers += 1;
        self.world.numbers
    }
}

impl Robot for Reach<'_> {
    fn now(&self) -> Moment {
        self.world.now
    }
    fn me(&self) -> u32 {
        self.me as u32
    }
    fn robots(&self) -> u32 {
        self.world.bodies.len() as u32
    }
    fn chance(&mut self) -> Draw {
        let number = self.number();
        Draw::at(1, Uid(self.me as u64), Purpose::Algorithm, Time(number as i64), 0)
    }
    fn say(&mut self, text: &str) {
        self.world.said.push(text.to_owned());
    }
    fn send(&mut self, _: u32, _: &[u32], _: Arc<[u8]>) {
        panic!("robots that look, compute and move do not talk");
    }
    fn set_timer(&mut self, node: u16, after_s: f64) -> u64 {
        let number = self.number();
        self.world.timers.push((self.world.now.plus(after_s), self.me, node, number));
        number
    }
    fn cancel_timer(&mut self, timer: u64) {
        self.world.timers.retain(|t| t.3 != timer);
    }
    fn go(&mut self, node: u16, motion: &Motion) -> Result<u64, String> {
        let (number, now) = (self.number(), self.world.now);
        let body = &mut self.world.bodies[self.me];
        let from = body.pose(now);
        let plan = match *motion {
            Motion::Velocity { velocity, for_s } => Plan::velocity(from, velocity, for_s),
            Motion::MoveTo { to, speed, turn_speed } => {
                Plan::move_to(from, to, speed, turn_speed, TurnWay::CounterClockwise)
            }
            _ => return Err("this robot cannot do that".to_owned()),
        };
        let takes: f64 = plan.phases.iter().map(|p| p.duration_s).sum();
        (body.from, body.start, body.plan) = (from, now, plan);
        body.task = Some((number, node, now.plus(takes)));
        Ok(number)
    }
    fn halt(&mut self) {}
    fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        let all = 0..self.world.bodies.len();
        match *query {
            Query::Gps { .. } => Ok(Answer::Point(self.seen(self.me).at)),
            Query::GpsAll { .. } => Ok(Answer::Seen(all.map(|k| self.seen(k)).collect())),
            Query::View { range } => {
                let here = self.seen(self.me).at;
                let others = all.filter(|k| *k != self.me).map(|k| self.seen(k));
                let mut near: Vec<Seen> = others.filter(|s| (s.at - here).norm() <= range).collect();
                near.sort_by(|a, b| (a.at - here).norm().total_cmp(&(b.at - here).norm()));
                Ok(Answer::Seen(near))
            }
            _ => Err("this robot has no such sensor".to_owned()),
        }
    }
    fn watch(&mut self, _: u16, _: &Watch) -> Result<u64, String> {
        Err("this robot has no such sensor".to_owned())
    }
    fn unwatch(&mut self, _: u64) {}
    fn pending(&self, _: u32) -> Vec<Pending> {
        Vec::new()
    }
    fn shine(&mut self, light: u8) {
        self.world.bodies[self.me].light = light;
    }
}

fn graph(params: Params) -> Result<Arc<GraphModel>, String> {
    let mut registry = Registry::new();
    swarmyard_algorithms::register(&mut registry);
    let class = registry.get("look-compute-move").expect("it is registered");
    let (mut params, mut problems) = (params, Diagnostics::default());
    class.sheet.complete(&mut params, "test", None, &mut problems);
    assert!(!problems.has_errors(), "{problems:?}");
    let (outline, registers) = (Outline::disc(0.1), RegisterMap::default());
    let layout = TypeLayout { outline: &outline, parts: &[], registers: &registers, name: "bot" };
    let build = class.build.as_ref().expect("it can be built");
    let Built::Protocol(model) = build(&params, &layout).map_err(|d| d.message)? else {
        panic!("it is a protocol")
    };
    let spec = NodeSpec { name: "lcm".to_owned(), model, ports: vec![None] };
    GraphModel::new(vec![spec]).map(Arc::new).map_err(|p| format!("{p:?}"))
}

/// What robots have to go through.
#[derive(Clone, Copy, PartialEq)]
enum Trial {
    Nothing,
    /// Every graph is saved and loaded anew after every happening.
    Saved,
    /// All lose their memory at this time, and start again.
    CrashAt(f64),
}

/// Plays the algorithm with these parameters until a time.
fn live(params: Params, start: &Robots, until_s: f64, trial: Trial) -> (Robots, Vec<String>) {
    let model = graph(params).expect("the parameters are good");
    let body = |at: &Vec2| Body {
        from: Pose2 { at: *at, heading: 0.3 },
        start: Moment::ZERO,
        plan: Plan::default(),
        task: None,
        light: 0,
    };
    let bodies = start.at.iter().map(body).collect();
    let mut world = World { now: Moment::ZERO, bodies, timers: Vec::new(), numbers: 0, said: Vec::new() };
    let mut graphs: Vec<Graph> = start.at.iter().map(|_| Graph::new(&model)).collect();
    let mut tell = |me: usize, what: Happening, world: &mut World| {
        if what == Happening::Start {
            graphs[me].crash();
        }
        graphs[me].on(what, &mut Reach { world, me }).expect("it comes to rest");
        if trial == Trial::Saved {
            let image = graphs[me].save();
            graphs[me] = Graph::new(&model);
            graphs[me].load(&image).expect("it is a memory of that graph");
        }
    };
    for me in 0..start.len() {
        tell(me, Happening::Start, &mut world);
    }
    let end = Moment::ZERO.plus(until_s);
    let mut crash = if let Trial::CrashAt(t) = trial { Some(Moment::ZERO.plus(t)) } else { None };
    loop {
        let next = world.timers.iter().map(|t| t.0).min();
        if let Some(at) = crash.filter(|c| *c < end && next.is_none_or(|n| *c <= n)) {
            (world.now, crash) = (at, None);
            world.timers.clear();
            for me in 0..start.len() {
                tell(me, Happening::Start, &mut world);
            }
        }
        let arrival = (0..world.bodies.len())
            .filter_map(|k| world.bodies[k].task.map(|t| (t.2, k)))
            .min_by(|a, b| a.cmp(b));
        let timer = (0..world.timers.len()).min_by(|a, b| world.timers[*a].cmp(&world.timers[*b]));
        let due = timer.map(|k| world.timers[k].0);
        match (arrival, timer) {
            (Some((at, me)), _) if due.is_none_or(|d| at <= d) && at < end => {
                world.now = at;
                let (task, node, _) = world.bodies[me].task.take().expect("it is under way");
                tell(me, Happening::Ended { node, task, how: Ended::Finished }, &mut world);
            }
            (_, Some(k)) if world.timers[k].0 < end => {
                let (at, me, node, timer) = world.timers.swap_remove(k);
                world.now = at;
                tell(me, Happening::Timer { node, timer }, &mut world);
            }
            _ => break,
        }
    }
    world.now = end;
    let mut robots = Robots::at(world.bodies.iter().map(|b| b.pose(end).at).collect());
    robots.light = world.bodies.iter().map(|b| b.light).collect();
    (robots, world.said)
}

fn text(t: &str) -> Value {
    Value::Text(t.to_owned())
}

fn params(rule: &str, scheduler: &str) -> Params {
    Params::default()
        .with("rule", text(rule))
        .with("scheduler", text(scheduler))
        .with("round", Value::Num(ROUND_S))
        .with("seed", Value::Int(5))
        .with("lights", Value::Int(lights(rule)))
        .with("pattern", Value::Points(tuning().pattern))
        .with("goals", Value::Points(tuning().goals))
        .with("radius", Value::Num(tuning().way.radius_m))
}

fn lights(rule: &str) -> i64 {
    i64::from(by_name(rule, &tuning()).expect("there is such a rule").needs().lights.max(2))
}

fn schedule(word: &str) -> Schedule {
    match word {
        "fsync" => Schedule::Full,
        "random" => Schedule::Random { p: 0.5 },
        "one-random" => Schedule::OneRandom,
        "round-robin" => Schedule::RoundRobin,
        "bounded" => Schedule::Bounded { p: 0.5, k: 5 },
        "adversary" => Schedule::Adversary { k: 5 },
        _ => Schedule::Async { wait: 0.5, compute: 0.2, travel: 0.8 },
    }
}

const WORDS: &[&str] = &["fsync", "random", "one-random", "round-robin", "bounded", "async", "adversary"];

fn start(n: usize) -> Robots {
    cloud(n, 21)
}

fn assert_agree(pure: &Robots, live: &Robots, what: &str) {
    for k in 0..pure.len() {
        let off = (pure.at[k] - live.at[k]).norm();
        assert!(off < 1e-6, "{what}, robot {k}: {:?} and {:?}", pure.at[k], live.at[k]);
    }
    assert_eq!(pure.light, live.light, "{what}");
}

fn setup(rule: &str) -> Setup {
    let needs = by_name(rule, &tuning()).expect("there is such a rule").needs();
    Setup { seed: 5, names: needs.names, place: needs.place, same_m: 1e-6, ..Setup::default() }
}

fn tuning() -> Tuning {
    // Through the middle, and too near to each other not to give way.
    let goals = start(6).at.iter().map(|p| -*p).collect();
    let way = rules::GiveWay { radius_m: 0.6, ..rules::GiveWay::default() };
    Tuning { round_s: ROUND_S, pattern: cloud(6, 99).at, goals, way, ..Tuning::default() }
}

/// Plays both and compares; answers how far robots went.
fn compare(rule: &str, word: &str, setup: &Setup, moves: Moves, params: Params) -> f64 {
    let tuning = Tuning { compass_rad: setup.compass.error, ..tuning() };
    let pure_rule = by_name(rule, &tuning).expect("there is such a rule");
    let n = if pure_rule.needs().robots == 2 { 2 } else { 6 };
    let rounds = 12.95;
    let mut pure = start(n);
    play::in_time(pure_rule.as_ref(), setup, (&schedule(word), moves, 0.8), &mut pure, rounds, |_, _, _| {});
    let (live, said) = live(params, &start(n), rounds * ROUND_S, Trial::Nothing);
    assert!(said.is_empty(), "`{rule}` under {word}: {said:?}");
    assert_agree(&pure, &live, &format!("`{rule}` under {word}, {moves:?}"));
    (0..n).map(|k| (pure.at[k] - start(n).at[k]).norm()).sum()
}

#[test]
fn every_rule_under_every_scheduler_goes_where_it_goes_without_an_engine() {
    for rule in NAMES {
        let went: f64 = WORDS
            .iter()
            .map(|word| compare(rule, word, &setup(rule), Moves::Rigid, params(rule, word)))
            .sum();
        // A swarm without towers has nothing to scatter.
        assert!(went > 0.01 || *rule == "scatter", "`{rule}` never moved: this test would prove nothing");
    }
}

#[test]
fn flexible_moves_private_frames_and_limited_sight_agree_too() {
    for word in WORDS {
        let base = setup("go-to-the-centre");
        let flexible =
            params("centre-of-gravity", word).with("moves", text("flexible")).with("delta", Value::Num(0.3));
        compare("centre-of-gravity", word, &base, Moves::Flexible { delta_m: 0.3 }, flexible);
        let private = params("gather", word).with("frames", text("any")).with("redraw", Value::Bool(true));
        let frames = Frames { rotate: true, scale: true, mirror: true, redraw: true };
        compare("gather", word, &Setup { frames, ..base.clone() }, Moves::Rigid, private);
        let limited = params("go-to-the-centre", word).with("visibility", Value::Num(4.0));
        compare("go-to-the-centre", word, &Setup { sees_m: 4.0, ..base.clone() }, Moves::Rigid, limited);
        let settling = params("compass-settling", word)
            .with("visibility", Value::Num(4.0))
            .with("compass", Value::Num(PI))
            .with("compass_changes", Value::Bool(true))
            .with("compass_settles", Value::Int(4));
        let compass = Compass { error: PI, dynamic: true, settles: 4 };
        let wrong = Setup { sees_m: 4.0, compass, ..base.clone() };
        compare("compass-settling", word, &wrong, Moves::Rigid, settling);
        for (name, dynamic) in [("sectors", false), ("compass-kept", false), ("compass-changing", true)] {
            let compass = Compass { error: PI / 8.0, dynamic, settles: 0 };
            let erring = params(name, word)
                .with("compass", Value::Num(PI / 8.0))
                .with("compass_changes", Value::Bool(dynamic));
            compare(name, word, &Setup { compass, ..base.clone() }, Moves::Rigid, erring);
        }
    }
}

#[test]
fn a_life_line_from_a_base_agrees_too() {
    let mut at = vec![Vec2::ZERO; 6];
    at[0] = Vec2::new(0.15, 0.0);
    let start = Robots::at(at);
    let pure_rule = by_name("life-line", &tuning()).expect("there is such a rule");
    let setup = Setup { sees_m: 0.8, ..setup("life-line") };
    let mut pure = start.clone();
    let how = (&Schedule::Full, Moves::Rigid, 0.8);
    play::in_time(pure_rule.as_ref(), &setup, how, &mut pure, 29.95, |_, _, _| {});
    let params = params("life-line", "fsync").with("visibility", Value::Num(0.8));
    let (live, said) = live(params, &start, 29.95 * ROUND_S, Trial::Nothing);
    assert!(said.is_empty(), "{said:?}");
    assert_agree(&pure, &live, "a life line");
    let out = live.light.iter().filter(|l| **l == rules::LifeLine::GOES).count();
    assert!(
        out > 3 && live.light.contains(&rules::LifeLine::FRESH),
        "some have set out, one waits: {live:?}"
    );
}

#[test]
fn a_written_schedule_agrees_too() {
    let csv = "0, 1, 2, 5, 6, 7\n0.5, 0.5, 3\n1, 1.5, 2.5, 2.5, 4, 8\n";
    let script = Schedule::Script(Script::from_csv(csv).expect("it is well written"));
    let mut pure = start(3);
    let how = (&script, Moves::Rigid, 0.8);
    play::in_time(&rules::Gravity, &setup("centre-of-gravity"), how, &mut pure, 10.0, |_, _, _| {});
    let params = params("centre-of-gravity", "script").with("script", text(csv));
    let (live, _) = live(params, &start(3), 10.0 * ROUND_S, Trial::Nothing);
    assert_agree(&pure, &live, "a written schedule");
    assert_ne!(pure.at, start(3).at);
}

#[test]
fn robots_that_turn_before_they_go_arrive_within_the_round_too() {
    for word in ["fsync", "random", "round-robin"] {
        let base = setup("circle");
        compare("circle", word, &base, Moves::Rigid, params("circle", word).with("drive", text("move-to")));
    }
}

#[test]
fn fully_synchronous_robots_gather_within_the_first_round() {
    let (live, _) = live(params("centre-of-gravity", "fsync"), &start(9), 0.95 * ROUND_S, Trial::Nothing);
    assert!(live.diameter() < 1e-9, "{}", live.diameter());
}

#[test]
fn two_robots_with_lights_meet_and_lights_are_seen() {
    let (robots, _) = live(params("two-lights", "random"), &start(2), 40.0 * ROUND_S, Trial::Nothing);
    assert!(robots.diameter() < 1e-6);
    let blind = params("midpoint", "round-robin").with("same", Value::Num(0.0));
    let (apart, _) =
        live(blind, &Robots::at(vec![Vec2::ZERO, Vec2::new(8.0, 0.0)]), 8.95 * ROUND_S, Trial::Nothing);
    assert!(apart.diameter() > 1e-3, "without lights, in turn, they only halve their distance");
}

/// Rules have no memory: what one decides does not depend on what it, or another like it, has decided before.
#[test]
fn decisions_made_again_in_another_order_by_fresh_rules_are_the_same() {
    for name in NAMES {
        let rule = by_name(name, &tuning()).expect("there is such a rule");
        let n = if rule.needs().robots == 2 { 2 } else { 6 };
        let (setup, mut robots, mut made) = (setup(name), start(n), Vec::new());
        for r in 0..20 {
            for k in 0..n {
                made.push((robots.clone(), k, r, play::decide(rule.as_ref(), &setup, &robots, k, r, None)));
            }
            play::round(rule.as_ref(), &setup, &Schedule::Random { p: 0.5 }, Moves::Rigid, &mut robots, r);
        }
        for (robots, k, r, decision) in made.into_iter().rev() {
            let fresh = by_name(name, &tuning()).expect("there is such a rule");
            let again = play::decide(fresh.as_ref(), &setup, &robots, k, r, None);
            assert_eq!(again, decision, "`{name}`, robot {k}, round {r}");
        }
    }
}

#[test]
fn a_robot_saved_and_loaded_after_every_step_goes_on_as_if_nothing_had_happened() {
    for word in WORDS {
        let plain = live(params("vicsek", word), &start(5), 9.0 * ROUND_S, Trial::Nothing);
        let saved = live(params("vicsek", word), &start(5), 9.0 * ROUND_S, Trial::Saved);
        assert_eq!(plain, saved, "{word}");
    }
}

#[test]
fn robots_that_forget_everything_between_two_rounds_go_on_as_if_nothing_had_happened() {
    for word in ["fsync", "random", "round-robin", "bounded"] {
        // Their timers start from another moment, so the last bits may differ.
        let plain = live(params("centre-of-gravity", word), &start(5), 9.95 * ROUND_S, Trial::Nothing);
        let crash = Trial::CrashAt(3.95 * ROUND_S);
        let crashed = live(params("centre-of-gravity", word), &start(5), 9.95 * ROUND_S, crash);
        assert_agree(&plain.0, &crashed.0, word);
    }
}

#[test]
fn nobody_looks_after_the_last_round() {
    let params = params("vicsek", "fsync").with("rounds", Value::Int(3));
    let (three, _) = live(params.clone(), &start(4), 3.0 * ROUND_S, Trial::Nothing);
    let (later, _) = live(params, &start(4), 30.0 * ROUND_S, Trial::Nothing);
    assert_eq!(three.at, later.at);
    assert_ne!(three.at, start(4).at);
}

#[test]
fn what_cannot_be_meant_is_named() {
    let points = |p: &[(f64, f64)]| Value::Points(p.iter().map(|(x, y)| Vec2::new(*x, *y)).collect());
    let cases = [
        (params("midpoint", "script").with("script", text("0, 2, 1")), "line 1"),
        (params("lloyd", "fsync").with("area", points(&[(1.0, 0.0), (0.0, 1.0)])), "`area`"),
        (params("two-lights", "fsync").with("lights", Value::Int(1)), "`2` lights"),
        (params("life-line", "fsync").with("lights", Value::Int(2)), "`4` lights"),
        (params("minbox", "fsync").with("frames", text("rotated")), "common axes"),
        (params("vicsek", "fsync").with("frames", text("scaled")), "unit of length"),
        (params("pattern", "fsync").with("frames", text("any")), "left and right"),
        (params("gather", "random").with("p", Value::Num(0.0)), "never"),
        (params("gather", "bounded").with("p", Value::Num(1e-9)), "hardly ever"),
        (params("pattern", "fsync").with("pattern", points(&[(1.0, 2.0), (0.0, 1.0), (1.0, 2.0)])), "[1, 2]"),
    ];
    for (params, word) in cases {
        let Err(why) = graph(params) else { panic!("{word}: it must not be taken") };
        assert!(why.contains(word), "{why}");
    }
}

#[test]
fn a_robot_that_forgets_its_light_puts_it_out() {
    // Both show their second light when they forget it; the rule of two lights starts anew, and they meet.
    let two = Robots::at(vec![Vec2::ZERO, Vec2::new(8.0, 0.0)]);
    let crash = Trial::CrashAt(0.95 * ROUND_S);
    let (before, _) = live(params("two-lights", "fsync"), &two, 0.9 * ROUND_S, Trial::Nothing);
    assert_eq!(before.light, [1, 1]);
    let (after, _) =
        live(params("two-lights", "fsync").with("rounds", Value::Int(1)), &two, 2.0 * ROUND_S, crash);
    assert_eq!(after.light, [0, 0]);
}
