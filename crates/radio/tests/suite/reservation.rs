//! Path reservation in the laboratory: robots on wheels made of timers walk about at random, and the zones
//! they occupy at the same time never meet, whatever messages and robots do. Over a fake order they do.

use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex};
use swarmyard_base::{Moment, Rot2, Uid, Vec2, math};
use swarmyard_part_api::{
    Answer, Cx, Drive, Ended, GraphModel, Indication, Microprotocol, Motion, Moving, PortSpec, ProtocolModel,
    ProtocolPort, Query, Registry, Request, ServiceKind, User, memory_is_serde,
};
use swarmyard_radio::lab::{Delay, Lab, Stack, Wires};
use swarmyard_radio::protocols::zones::Zone;
use swarmyard_scene::Value;

const RADIUS: f64 = 0.1;
const MARGIN: f64 = 0.02;

/// One stretch on which a robot moved, from when to when.
#[derive(Clone, Copy, Debug)]
struct Leg {
    since: Moment,
    until: Moment,
    a: Vec2,
    b: Vec2,
}

#[derive(Clone, Debug)]
struct Body {
    at: Vec2,
    heading: f64,
    legs: Vec<Leg>,
    /// The last leg is under way: its task, user, tag, planned end and pose there.
    under_way: Option<(u64, User, u64, Leg, f64)>,
}

impl Body {
    fn place(&self, now: Moment) -> Vec2 {
        let Some((_, _, _, leg, _)) = self.under_way else { return self.at };
        let whole = leg.until.since(leg.since);
        let share = if whole > 0.0 { (now.since(leg.since) / whole).clamp(0.0, 1.0) } else { 1.0 };
        leg.a + (leg.b - leg.a) * share
    }
}

type World = Arc<Mutex<Vec<Body>>>;

/// Wheels: a motion takes as long as it should, and now and then much longer.
#[derive(Clone)]
struct Wheels {
    world: World,
    stalls: bool,
    /// The leg in the middle of which robot 0 touches something.
    bump: Option<usize>,
}

impl ProtocolModel for Wheels {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Motion)
    }
    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(self.clone())
    }
}

impl Microprotocol for Wheels {
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let now = cx.now();
        let stall =
            if self.stalls && cx.chance().below(0, 10) == 0 { cx.chance().between(0, 0.0, 2.0) } else { 0.0 };
        let mut world = self.world.lock().unwrap();
        let body = &mut world[cx.me() as usize];
        // Whatever is asked, what was under way ends here.
        if let Some((task, user, tag, leg, _)) = body.under_way {
            body.at = body.place(now);
            body.legs.push(Leg { until: now, b: body.at, ..leg });
            body.under_way = None;
            cx.cancel_timer(task);
            cx.indicate(user, Indication::Ended { tag, how: Ended::Replaced });
        }
        let Request::Motion(Drive::Go { tag, motion }) = request else { return };
        let (a, heading) = (body.at, body.heading);
        let (b, heading, takes_s) = match motion {
            Motion::Turn { by, turn_speed } => (a, heading + by, by.abs() / turn_speed),
            Motion::Forward { distance, speed } => {
                (a + Vec2::at_angle(heading) * distance, heading, distance.abs() / speed)
            }
            Motion::MoveTo { to, speed, turn_speed } => {
                let target = (to - a).angle();
                let turn = math::wrap_angle(target - heading).abs() / turn_speed;
                (to, target, turn + (to - a).norm() / speed)
            }
            Motion::Velocity { velocity, for_s } => (a + velocity * for_s, heading, for_s),
            Motion::Arc { speed, spin, for_s } => {
                let chord = Rot2::new(heading + 0.5 * spin * for_s).apply(Vec2::new(speed * for_s, 0.0));
                let turned = 0.5 * spin * for_s;
                let short = if turned == 0.0 { 1.0 } else { math::sin(turned) / turned };
                (a + chord * short, heading + spin * for_s, for_s)
            }
            other => panic!("nobody asked for {other:?}"),
        };
        let takes_s = takes_s + stall;
        let task = cx.set_timer(takes_s);
        let leg = Leg { since: now, until: now.plus(takes_s), a, b };
        body.under_way = Some((task, user, tag, leg, heading));
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        let mut world = self.world.lock().unwrap();
        let body = &mut world[cx.me() as usize];
        if let Some((task, user, tag, leg, heading)) = body.under_way
            && task == timer
        {
            let bumps = cx.me() == 0 && self.bump == Some(body.legs.len());
            let b = if bumps { (leg.a + leg.b) * 0.5 } else { leg.b };
            (body.at, body.heading) = (b, heading);
            body.legs.push(Leg { until: cx.now(), b, ..leg });
            body.under_way = None;
            let collided = Ended::Collided { with: Uid(7), robot: None, at: b };
            cx.indicate(user, Indication::Ended { tag, how: if bumps { collided } else { Ended::Finished } });
        }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
    fn load(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// An algorithm that knows nothing of others: it goes somewhere, in one way or another, again and again.
struct Walker {
    arena: f64,
}

#[derive(Serialize, Deserialize)]
struct WalkerMemory {
    arena: f64,
    trips: u64,
    /// When it changes its mind, or goes on after a rest.
    timer: Option<u64>,
}

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

impl ProtocolModel for Walker {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(WalkerMemory { arena: self.arena, trips: 0, timer: None })
    }
}

impl WalkerMemory {
    fn walk(&mut self, cx: &mut Cx<'_>) {
        self.trips += 1;
        let draw = cx.chance();
        let to = Vec2::new(draw.between(1, 0.0, self.arena), draw.between(2, 0.0, self.arena));
        let motion = match draw.below(0, 10) {
            0 => Motion::Turn { by: draw.between(3, -3.0, 3.0), turn_speed: 2.0 },
            1 => Motion::Forward { distance: draw.between(3, -0.8, 0.8), speed: 0.5 },
            2 => Motion::Velocity { velocity: (to - Vec2::new(1.0, 1.0)) * 0.3, for_s: 1.5 },
            3 => Motion::Velocity { velocity: (to - Vec2::new(1.0, 1.0)) * 0.1, for_s: f64::INFINITY },
            4 => Motion::Arc { speed: 0.5, spin: draw.between(3, -2.0, 2.0), for_s: 1.5 },
            _ => Motion::MoveTo { to, speed: 0.5, turn_speed: 3.0 },
        };
        cx.go(MOTION, self.trips, motion);
        self.later(draw.exponential(4, 4.0), cx);
    }

    fn later(&mut self, after_s: f64, cx: &mut Cx<'_>) {
        if let Some(timer) = self.timer.take() {
            cx.cancel_timer(timer);
        }
        self.timer = Some(cx.set_timer(after_s));
    }
}

impl Microprotocol for WalkerMemory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.walk(cx);
    }
    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        if matches!(what, Indication::Ended { tag, .. } if tag == self.trips) {
            self.later(0.05, cx);
        }
    }
    fn timer(&mut self, _: u64, cx: &mut Cx<'_>) {
        if cx.chance().below(0, 3) == 0 {
            cx.request(MOTION, Drive::Halt);
            self.later(0.2, cx);
        } else {
            self.walk(cx);
        }
    }
    memory_is_serde!();
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

struct Setup<'a> {
    order: &'a str,
    chunk: f64,
    ahead: i64,
    stalls: bool,
    bump: Option<usize>,
    /// How long one waits for somebody who wants nothing.
    wait: Option<f64>,
}

fn bodies(at: &[Vec2]) -> World {
    let body = |at: &Vec2| Body { at: *at, heading: 0.0, legs: Vec::new(), under_way: None };
    Arc::new(Mutex::new(at.iter().map(body).collect()))
}

/// The stack of the thesis: algorithm, path reservation, total order, network; and wheels.
fn stack<'a>(registry: &'a Registry, setup: &Setup<'_>, world: &World) -> Stack<'a> {
    let wheels = Wheels { world: Arc::clone(world), stalls: setup.stalls, bump: setup.bump };
    let mut params = vec![
        ("chunk", Value::Num(setup.chunk)),
        ("margin", Value::Num(MARGIN)),
        ("radius", Value::Num(RADIUS)),
        ("ahead", Value::Int(setup.ahead)),
        ("patience", Value::Num(0.5)),
        ("motion", Value::Text("wheels".into())),
        ("broadcast", Value::Text("order".into())),
    ];
    params.extend(setup.wait.map(|s| ("wait", Value::Num(s))));
    Stack::new(registry).model("wheels", Arc::new(wheels), &[]).class("order", setup.order, &[]).class(
        "careful",
        "path-reservation",
        &params,
    )
}

fn lab(seed: u64, graph: &Arc<GraphModel>, world: &World, wires: &Wires) -> Lab {
    let n = world.lock().unwrap().len() as u32;
    let mut lab = Lab::new(seed, graph, n, wires);
    let seen = Arc::clone(world);
    lab.answers(Box::new(move |process, now, query| match query {
        Query::Gps { .. } => Ok(Answer::Point(seen.lock().unwrap()[process as usize].place(now))),
        _ => Err("there is only a gps".to_owned()),
    }));
    lab
}

/// The zones that a robot occupied, each from when to when: chunks while it moved, discs while it stood.
fn occupied(body: &Body, start: Vec2) -> Vec<(Moment, Moment, Zone)> {
    let radius = RADIUS + MARGIN;
    let mut zones = Vec::new();
    let (mut at, mut since) = (start, Moment::ZERO);
    let open = body.under_way.map(|u| Leg { until: Moment::NEVER, ..u.3 });
    for leg in body.legs.iter().chain(open.as_ref()) {
        zones.push((since, leg.since, Zone::disc(at, radius)));
        zones.push((leg.since, leg.until, Zone { a: leg.a, b: leg.b, radius }));
        (at, since) = (leg.b, leg.until);
    }
    zones.push((since, Moment::NEVER, Zone::disc(at, radius)));
    zones.retain(|z| z.0 < z.1);
    zones
}

/// How far a place is from the way from `a` to `b`.
fn off(at: Vec2, a: Vec2, b: Vec2) -> f64 {
    let (way, to) = (b - a, at - a);
    let share = if way.norm2() > 0.0 { (way.dot(to) / way.norm2()).clamp(0.0, 1.0) } else { 0.0 };
    (at - (a + way * share)).norm()
}

/// How far two ways are apart; this test's own, so that the protocol's geometry is judged too.
fn apart(p: &Zone, q: &Zone) -> f64 {
    let side = |a: Vec2, b: Vec2, at: Vec2| (b - a).x * (at - a).y - (b - a).y * (at - a).x;
    let between = |a: Vec2, b: Vec2, c: Vec2, d: Vec2| side(a, b, c) * side(a, b, d) < 0.0;
    if between(p.a, p.b, q.a, q.b) && between(q.a, q.b, p.a, p.b) {
        return 0.0;
    }
    let ends = [off(p.a, q.a, q.b), off(p.b, q.a, q.b), off(q.a, p.a, p.b), off(q.b, p.a, p.b)];
    ends.into_iter().fold(f64::INFINITY, math::min)
}

/// Pairs of zones that met while two robots occupied them.
fn overlaps(world: &World, start: &[Vec2]) -> Vec<String> {
    let bodies = world.lock().unwrap();
    let zones: Vec<_> = bodies.iter().zip(start).map(|(b, s)| occupied(b, *s)).collect();
    let mut wrong = Vec::new();
    for p in 0..zones.len() {
        for q in 0..p {
            for a in &zones[p] {
                for b in zones[q].iter().filter(|b| a.0.max(b.0) < a.1.min(b.1)) {
                    if apart(&a.2, &b.2) <= a.2.radius + b.2.radius {
                        wrong.push(format!("robots {q} and {p}: {b:?} and {a:?}"));
                    }
                }
            }
        }
    }
    wrong
}

/// A row of robots far enough from each other.
fn grid(n: u32) -> Vec<Vec2> {
    (0..n).map(|k| Vec2::new(0.5 * f64::from(k % 3), 0.5 * f64::from(k / 3))).collect()
}

struct Outcome {
    wrong: Vec<String>,
    legs: usize,
    trips: usize,
    deadlocks: usize,
}

fn walk(seed: u64, setup: &Setup<'_>, wires: &Wires, n: u32, disturb: impl Fn(&mut Lab)) -> Outcome {
    let registry = registry();
    let start = grid(n);
    let world = bodies(&start);
    let walker = Walker { arena: 1.5 };
    let graph = stack(&registry, setup, &world)
        .model("walk", Arc::new(walker), &[("motion", "careful")])
        .build()
        .unwrap();
    let mut lab = lab(seed, &graph, &world, wires);
    disturb(&mut lab);
    lab.run_until(30.0).unwrap();
    let trace = lab.into_trace();
    let text = trace.text();
    let finished =
        |i: &&(Moment, u32, u16, &Indication)| matches!(i.3, Indication::Ended { how: Ended::Finished, .. });
    let trips = trace.indications().collect::<Vec<_>>().iter().filter(finished).count();
    let legs = world.lock().unwrap().iter().map(|b| b.legs.len()).sum();
    Outcome { wrong: overlaps(&world, &start), legs, trips, deadlocks: text.matches("deadlock:").count() }
}

const TOTAL: [&str; 5] =
    ["lamport-order", "skeen-order", "sequencer-order", "token-order", "moving-sequencer"];

#[test]
fn zones_occupied_at_the_same_time_never_meet_whatever_messages_and_robots_do() {
    let (mut legs, mut trips, mut deadlocks) = (0, 0, 0);
    for seed in 0..1000 {
        let order = TOTAL[seed as usize % 5];
        let n = 2 + (seed % 6) as u32;
        let setup = Setup {
            order,
            chunk: 0.2 + 0.1 * (seed % 4) as f64,
            ahead: (seed / 5 % 3) as i64,
            stalls: true,
            bump: None,
            wait: (seed % 3 == 0).then_some(0.7),
        };
        let wires = match seed % 4 {
            0 => Wires::new(Delay::Exponential(0.2)),
            1 => Wires::new(Delay::Uniform(0.0, 0.5)).doubling(0.2),
            2 => Wires::new(Delay::Fixed(0.01)).slower(0, n - 1, 1.5),
            _ => Wires::new(Delay::Fixed(0.0)),
        };
        let pauses = |lab: &mut Lab| {
            lab.pause(5.0, 8.0, (seed % u64::from(n)) as u32);
            lab.pause(12.0, 12.5, 0);
        };
        let outcome = walk(seed, &setup, &wires, n, pauses);
        assert!(outcome.wrong.is_empty(), "seed {seed} {order}: {}", outcome.wrong[0]);
        assert!(outcome.legs > 0, "seed {seed} {order}: nobody moved");
        (legs, trips, deadlocks) =
            (legs + outcome.legs, trips + outcome.trips, deadlocks + outcome.deadlocks);
    }
    assert!(trips > 10_000 && deadlocks > 100, "{trips} {deadlocks}: too little happened to say anything");
    println!("1000 runs of 30 s: {legs} chunks, {trips} trips, {deadlocks} deadlocks seen");
}

#[test]
fn over_a_fake_order_zones_do_meet() {
    let mut caught = 0;
    for seed in 0..40 {
        let setup = Setup { order: "fake-order", chunk: 0.3, ahead: 0, stalls: true, bump: None, wait: None };
        let outcome = walk(seed, &setup, &Wires::new(Delay::Exponential(0.2)), 6, |_| {});
        caught += u32::from(!outcome.wrong.is_empty());
    }
    println!("caught in {caught} of 40 runs");
    assert!(caught > 15, "{caught}");
}

#[test]
fn who_crashes_keeps_its_zone_and_the_others_go_on_around_it() {
    let mut trips = 0;
    for seed in 0..100 {
        let setup =
            Setup { order: "sequencer-order", chunk: 0.3, ahead: 1, stalls: true, bump: None, wait: None };
        let n = 5;
        let who = 1 + (seed % 4) as u32;
        let crash = |lab: &mut Lab| {
            lab.crash_losing_messages(6.0 + seed as f64 * 0.01, who);
            if seed % 2 == 0 {
                lab.recover(12.0, who);
            }
        };
        let outcome = walk(seed, &setup, &Wires::new(Delay::Exponential(0.05)), n, crash);
        assert!(outcome.wrong.is_empty(), "seed {seed}: {}", outcome.wrong[0]);
        trips += outcome.trips;
    }
    println!("{trips} trips");
    assert!(trips > 1000, "{trips}");
}

#[test]
fn zones_never_meet_while_the_network_is_slow_falls_apart_and_robots_crash() {
    let (mut legs, mut trips, mut after) = (0, 0, 0);
    for seed in 0..300_u64 {
        let order = TOTAL[seed as usize % 5];
        let n = 3 + (seed % 4) as u32;
        let setup =
            Setup { order, chunk: 0.3, ahead: (seed % 3) as i64, stalls: true, bump: None, wait: None };
        // Some messages take longer than whole ways, and some overtake others.
        let wires = match seed % 3 {
            0 => Wires::new(Delay::Exponential(1.0)),
            1 => Wires::new(Delay::Uniform(0.5, 3.0)).doubling(0.2),
            _ => Wires::new(Delay::Exponential(0.05)).slower(0, n - 1, 4.0),
        };
        let who = (seed / 7 % u64::from(n)) as u32;
        let disturb = |lab: &mut Lab| {
            lab.partition(4.0 + 0.01 * seed as f64, &[&[who], &[(who + 1) % n]]);
            lab.heal(10.0);
            match seed % 4 {
                0 => lab.crash(12.0, who),
                1 => lab.crash_losing_messages(3.0, who),
                2 => {
                    lab.crash_losing_messages(6.0, who);
                    lab.recover(9.0, who);
                }
                _ => {}
            }
        };
        let outcome = walk(seed, &setup, &wires, n, disturb);
        assert!(outcome.wrong.is_empty(), "seed {seed} {order}: {}", outcome.wrong[0]);
        (legs, trips) = (legs + outcome.legs, trips + outcome.trips);
        after += usize::from(outcome.trips > 0);
    }
    println!("300 runs of 30 s: {legs} chunks, {trips} trips, somebody arrived in {after}");
    assert!(legs > 2000 && trips > 300, "{legs} {trips}: too little happened to say anything");
}

/// One robot goes straight on for so far, another stands elsewhere and gives the places: the time it takes.
fn time_of(order: &str, chunk: f64, ahead: i64, way: f64, delay: f64) -> f64 {
    let registry = registry();
    let start = [Vec2::new(0.0, 50.0), Vec2::ZERO];
    let world = bodies(&start);
    let setup = Setup { order, chunk, ahead, stalls: false, bump: None, wait: None };
    let graph = stack(&registry, &setup, &world).probe(&["careful"]).build().unwrap();
    let mut lab = lab(1, &graph, &world, &Wires::new(Delay::Fixed(delay)));
    let motion = Motion::MoveTo { to: Vec2::new(way, 0.0), speed: 0.5, turn_speed: 1.0 };
    lab.at(10.0, 1, Drive::Go { tag: 7, motion });
    lab.run_until(2000.0).unwrap();
    let ends: Vec<(Moment, &Indication)> = lab.trace().indications().map(|i| (i.0, i.3)).collect();
    assert_eq!(ends.len(), 1);
    assert_eq!(*ends[0].1, Indication::Ended { tag: 7, how: Ended::Finished });
    assert_eq!(world.lock().unwrap()[1].at, Vec2::new(way, 0.0));
    ends[0].0.since(Moment::ZERO) - 10.0
}

#[test]
fn without_chunks_ahead_the_speed_is_l_over_l_by_v_plus_t() {
    for order in ["sequencer-order", "lamport-order", "skeen-order"] {
        // Two steps of 0.1 s until the robot's own message is delivered to itself, in each of these orders.
        let (v, chunk, way, t) = (0.5, 0.25, 20.0, 0.2);
        let speed = way / time_of(order, chunk, 0, way, 0.1);
        let formula = chunk / (chunk / v + t);
        println!("{order}: {speed} m/s, formula {formula} m/s");
        assert!((speed - formula).abs() < 1e-6, "{order}: {speed} {formula}");
    }
}

#[test]
fn with_chunks_ahead_that_make_up_for_the_delay_the_speed_is_the_robots_own() {
    let (v, chunk, way, delay) = (0.5, 0.25, 20.0, 0.6);
    // v T = 0.6 m: three chunks ahead are enough, two are not.
    let enough = time_of("sequencer-order", chunk, 3, way, delay);
    assert!((enough - (way / v + 2.0 * delay)).abs() < 1e-6, "only the first chunk waits: {enough}");
    let few = time_of("sequencer-order", chunk, 2, way, delay);
    println!("{} m/s with three chunks ahead, {} m/s with two", way / enough, way / few);
    assert!(few > enough + 5.0, "{few}");
}

/// Robots that are sent somewhere, all at once: what each was told in the end, and what was said.
fn send(start: &[Vec2], to: &[Vec2], seconds: f64) -> (Vec<(u32, Ended)>, String, Vec<String>) {
    let orders: Vec<_> = to.iter().enumerate().map(|(robot, to)| (1.0, robot as u32, Some(*to))).collect();
    send_at(start, &orders, None, seconds)
}

/// Robots that are sent somewhere, or told to halt, at these times.
fn send_at(
    start: &[Vec2],
    orders: &[(f64, u32, Option<Vec2>)],
    wait: Option<f64>,
    seconds: f64,
) -> (Vec<(u32, Ended)>, String, Vec<String>) {
    let registry = registry();
    let world = bodies(start);
    let setup = Setup { order: "lamport-order", chunk: 0.5, ahead: 1, stalls: false, bump: None, wait };
    let graph = stack(&registry, &setup, &world).probe(&["careful"]).build().unwrap();
    let mut lab = lab(1, &graph, &world, &Wires::new(Delay::Fixed(0.01)));
    for (at_s, robot, to) in orders {
        let go = |to| Drive::Go { tag: 1, motion: Motion::MoveTo { to, speed: 0.5, turn_speed: 3.0 } };
        lab.at(*at_s, *robot, to.map_or(Drive::Halt, go));
    }
    lab.run_until(seconds).unwrap();
    let how = |i: (Moment, u32, u16, &Indication)| match i.3 {
        Indication::Ended { how, .. } => (i.1, *how),
        other => panic!("{other:?}"),
    };
    let ends = lab.trace().indications().map(how).collect();
    (ends, lab.trace().text(), overlaps(&world, start))
}

#[test]
fn ways_that_cross_are_taken_one_after_the_other() {
    let start = [Vec2::new(0.0, 1.0), Vec2::new(1.0, 0.0)];
    let (ends, said, wrong) = send(&start, &[Vec2::new(2.0, 1.0), Vec2::new(1.0, 2.0)], 30.0);
    assert_eq!(ends.len(), 2);
    assert!(ends.iter().all(|e| e.1 == Ended::Finished) && wrong.is_empty() && !said.contains("deadlock"));
}

#[test]
fn two_that_want_to_change_places_report_it_and_the_higher_number_gives_up() {
    let start = [Vec2::ZERO, Vec2::new(1.0, 0.0)];
    let (ends, said, wrong) = send(&start, &[start[1], start[0]], 30.0);
    assert_eq!(ends, [(1, Ended::Replaced)]);
    assert!(
        said.contains("p0 said deadlock: robots [0, 1]") && said.contains("p1 said deadlock: robots [0, 1]")
    );
    assert!(said.contains("p1 said gives up its way") && wrong.is_empty());
}

/// The timer of the one that is to give up runs out while the circle is open, and the circle closes as it was.
#[test]
fn a_circle_that_opens_and_closes_again_is_given_up_all_the_same() {
    let (here, there) = (Vec2::ZERO, Vec2::new(0.4, 0.0));
    let orders = [(1.0, 0, Some(there)), (1.0, 1, Some(here)), (1.2, 0, None), (2.0, 0, Some(there))];
    let (ends, said, wrong) = send_at(&[here, there], &orders, None, 30.0);
    assert_eq!(ends, [(0, Ended::Replaced), (1, Ended::Replaced)]);
    assert_eq!(said.matches("p1 said deadlock: robots [0, 1]").count(), 2, "{said}");
    assert_eq!(said.matches("p1 said gives up its way").count(), 1, "{said}");
    assert!(wrong.is_empty());
}

/// Robot 1 never thinks of something else: after twenty seconds robot 0, that has asked first, must.
#[test]
fn who_has_asked_first_gives_up_when_the_last_one_has_done_so_for_long_in_vain() {
    let (here, there) = (Vec2::ZERO, Vec2::new(0.4, 0.0));
    let again = (0..30).map(|k| (1.0 + 1.3 * f64::from(k), 1, Some(here)));
    let orders: Vec<_> = [(1.0, 0, Some(there))].into_iter().chain(again).collect();
    let (ends, said, wrong) = send_at(&[here, there], &orders, None, 60.0);
    let of = |robot: u32| ends.iter().filter(|e| e.0 == robot).count();
    assert_eq!(of(0), 1, "{ends:?}");
    assert!(of(1) > 10, "{ends:?}");
    assert!(said.contains("p0 said gives up its way: the others do not get out of it"));
    assert!(wrong.is_empty());
}

/// Robot 2 stands and wants nothing; robot 1 wants to where it is, and robot 0 to where robot 1 is.
#[test]
fn who_waits_for_one_that_wants_nothing_gives_up_after_a_while_if_it_is_told_to() {
    let at = |x: f64| Vec2::new(x, 0.0);
    let start = [at(0.0), at(0.4), at(0.8)];
    let orders = [(1.0, 1, Some(at(0.8))), (1.0, 0, Some(at(0.4)))];
    let (ends, said, wrong) = send_at(&start, &orders, None, 60.0);
    assert!(ends.is_empty() && !said.contains("gives up"), "without `wait` they stand in line: {ends:?}");
    assert!(wrong.is_empty());
    let (mut ends, said, wrong) = send_at(&start, &orders, Some(2.0), 60.0);
    ends.sort_by_key(|e| e.0);
    assert_eq!(ends, [(0, Ended::Replaced), (1, Ended::Replaced)]);
    assert!(said.contains("p1 said gives up its way: robot 2 stands there and wants nothing"), "{said}");
    assert!(wrong.is_empty());
    // One that goes in time is waited for.
    let orders = [orders[0], orders[1], (2.5, 2, Some(at(5.0)))];
    let (ends, _, wrong) = send_at(&start, &orders, Some(2.0), 60.0);
    assert_eq!(ends.iter().filter(|e| e.1 == Ended::Finished).count(), 3, "{ends:?}");
    assert!(wrong.is_empty());
}

#[test]
fn who_starts_too_near_to_another_is_told() {
    let (ends, said, _) =
        send(&[Vec2::ZERO, Vec2::new(0.22, 0.0)], &[Vec2::new(-1.0, 0.0), Vec2::new(1.0, 0.0)], 9.0);
    assert!(
        said.contains("p0 said starts too near to [1]") && said.contains("p1 said starts too near to [0]")
    );
    assert!(ends.iter().all(|e| e.1 == Ended::Replaced), "{ends:?}");
}

#[test]
fn patterns_are_refused_with_a_reason() {
    let registry = registry();
    let world = bodies(&[Vec2::ZERO]);
    let setup =
        Setup { order: "sequencer-order", chunk: 0.5, ahead: 1, stalls: false, bump: None, wait: None };
    let graph = stack(&registry, &setup, &world).probe(&["careful"]).build().unwrap();
    let mut lab = lab(1, &graph, &world, &Wires::new(Delay::Fixed(0.01)));
    let motion = Motion::Pattern { name: "loop".into(), args: Vec::new() };
    lab.at(1.0, 0, Drive::Go { tag: 3, motion });
    lab.at(2.0, 0, Drive::Go { tag: 4, motion: Motion::Forward { distance: f64::NAN, speed: 1.0 } });
    lab.run_until(3.0).unwrap();
    let ends: Vec<&Indication> = lab.trace().indications().map(|i| i.3).collect();
    let replaced = |tag| Indication::Ended { tag, how: Ended::Replaced };
    assert_eq!(ends, [&replaced(3), &replaced(4)]);
    assert!(lab.trace().text().contains("where the pattern `loop` leads is not known"));
}

#[test]
fn a_collision_is_handed_up_and_what_was_reserved_ahead_is_free_again() {
    let registry = registry();
    let start = [Vec2::ZERO, Vec2::new(3.0, 1.0)];
    let world = bodies(&start);
    let setup =
        Setup { order: "lamport-order", chunk: 1.0, ahead: 3, stalls: false, bump: Some(1), wait: None };
    let graph = stack(&registry, &setup, &world).probe(&["careful"]).build().unwrap();
    let mut lab = lab(1, &graph, &world, &Wires::new(Delay::Fixed(0.01)));
    let go = |to| Drive::Go { tag: 5, motion: Motion::MoveTo { to, speed: 0.5, turn_speed: 3.0 } };
    lab.at(1.0, 0, go(Vec2::new(6.0, 0.0)));
    // Across what robot 0 has asked for before.
    lab.at(1.5, 1, go(Vec2::new(3.0, -1.0)));
    // On, from where it touched something.
    lab.at(30.0, 0, go(Vec2::new(2.0, 0.0)));
    lab.run_until(60.0).unwrap();
    let ends: Vec<(u32, &Indication)> = lab.trace().indications().map(|i| (i.1, i.3)).collect();
    let ended = |how| Indication::Ended { tag: 5, how };
    let at = Vec2::new(1.5, 0.0);
    let collided = ended(Ended::Collided { with: Uid(7), robot: None, at });
    assert_eq!(ends, [(0, &collided), (1, &ended(Ended::Finished)), (0, &ended(Ended::Finished))]);
    assert!(overlaps(&world, &start).is_empty());
}
