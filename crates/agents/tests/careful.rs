//! Path reservation over real sockets: robots on wheels made of timers cross each other's ways, and never share a
//! place, judged by the test's own geometry.

use std::sync::{Arc, Mutex};
use std::time::Duration;
use swarmyard_agents::wire::{Ear, Mode, Script, Settings, Talk, Talker};
use swarmyard_base::{Moment, Pose2, Vec2};
use swarmyard_part_api::{
    Answer, Cx, Drive, Ended, Equipment, EventSensor, GraphModel, Indication, Microprotocol, Motion,
    PortSpec, ProtocolModel, Query, Registry, Request, ServiceKind, Surroundings, User,
};
use swarmyard_radio::lab::{Event, Stack, What, top};
use swarmyard_scene::Value;

const RADIUS: f64 = 0.15;
/// Metres per second.
const SPEED: f64 = 0.8;
/// Long enough for all ways, one after the other, on a busy machine.
const LONG: Duration = Duration::from_secs(14);

/// A way that a robot has set out on, from when to when it was told that it is there.
#[derive(Clone, Copy, Debug)]
struct Leg {
    since: Moment,
    until: Moment,
    a: Vec2,
    b: Vec2,
}

/// Where each robot stands, and all its ways; the last one may be under way.
#[derive(Default)]
struct Body {
    at: Vec2,
    heading: f64,
    legs: Vec<Leg>,
    /// Timer, user and tag.
    under_way: Option<(u64, User, u64)>,
}

type World = Arc<Mutex<Vec<Body>>>;

/// Wheels: a motion takes as long as it should.
#[derive(Clone)]
struct Wheels(World);

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
        let mut world = self.0.lock().unwrap();
        let body = &mut world[cx.me() as usize];
        let Request::Motion(Drive::Go { tag, motion }) = request else { return };
        assert!(body.under_way.is_none(), "one chunk after the other");
        let (to, speed) = match motion {
            Motion::MoveTo { to, speed, .. } => (to, speed),
            Motion::Forward { distance, speed } => (body.at + Vec2::at_angle(body.heading) * distance, speed),
            other => panic!("nobody asked for {other:?}"),
        };
        let takes_s = (to - body.at).norm() / speed;
        body.heading = (to - body.at).angle();
        body.under_way = Some((cx.set_timer(takes_s), user, tag));
        body.legs.push(Leg { since: cx.now(), until: Moment::NEVER, a: body.at, b: to });
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        let mut world = self.0.lock().unwrap();
        let body = &mut world[cx.me() as usize];
        let Some((_, user, tag)) = body.under_way.take_if(|u| u.0 == timer) else { return };
        if let Some(leg) = body.legs.last_mut() {
            leg.until = cx.now();
            body.at = leg.b;
        }
        cx.indicate(user, Indication::Ended { tag, how: Ended::Finished });
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }
    fn load(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// Knows where the wheels have taken its robot; it is asked at the start and between ways.
struct Gps(World);

impl EventSensor for Gps {
    fn pull(&self, query: &Query, world: &dyn Surroundings) -> Option<Answer> {
        let Query::Gps { .. } = query else { return None };
        Some(Answer::Point(self.0.lock().unwrap()[world.me() as usize].at))
    }
}

fn graph(world: &World) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let named = |name: &str| Value::Text(name.to_owned());
    let careful = [
        ("chunk", Value::Num(0.5)),
        ("margin", Value::Num(0.05)),
        ("radius", Value::Num(RADIUS)),
        ("ahead", Value::Int(1)),
        ("motion", named("wheels")),
        ("broadcast", named("order")),
    ];
    Stack::new(&registry)
        .model("wheels", Arc::new(Wheels(Arc::clone(world))), &[])
        .class("sure", "reliable-link", &[("retry", Value::Num(0.03)), ("slowest", Value::Num(0.2))])
        .class("order", "lamport-order", &[("link", named("sure"))])
        .class("careful", "path-reservation", &careful)
        .probe(&["careful"])
        .build()
        .unwrap()
}

/// How near two ways come to each other, to a fiftieth of a radius: both are sampled.
fn nearest(p: &Leg, q: &Leg) -> f64 {
    let steps = |leg: &Leg| ((leg.b - leg.a).norm() / (0.02 * RADIUS)).ceil().max(1.0) as usize;
    let (n, m) = (steps(p), steps(q));
    let on = |leg: &Leg, k: usize, n: usize| leg.a + (leg.b - leg.a) * (k as f64 / n as f64);
    let from = |at: Vec2| (0..=m).map(|j| (on(q, j, m) - at).norm()).fold(f64::INFINITY, f64::min);
    (0..=n).map(|k| from(on(p, k, n))).fold(f64::INFINITY, f64::min)
}

/// All stretches of a robot's life, those in which it stands among them.
fn life(body: &Body, start: Vec2) -> Vec<Leg> {
    let mut life = vec![Leg { since: Moment::ZERO, until: Moment::NEVER, a: start, b: start }];
    for leg in &body.legs {
        if let Some(stood) = life.last_mut() {
            stood.until = leg.since;
        }
        life.extend([*leg, Leg { since: leg.until, until: Moment::NEVER, a: leg.b, b: leg.b }]);
    }
    life.retain(|l| l.since < l.until);
    life
}

#[test]
fn ways_that_cross_are_taken_one_after_the_other_over_sockets() {
    let start = [Vec2::new(-1.0, 0.0), Vec2::new(-0.25, -1.0), Vec2::new(0.5, 1.0)];
    // One goes along, two go across, each at a place of its own.
    let goal = [Vec2::new(1.0, 0.0), Vec2::new(-0.25, 1.0), Vec2::new(0.5, -1.0)];
    for settings in [Settings::new(Mode::Udp).losing(0.2), Settings::new(Mode::Tcp)] {
        let body = |at: &Vec2| Body { at: *at, ..Body::default() };
        let world: World = Arc::new(Mutex::new(start.iter().map(body).collect()));
        let graph = graph(&world);
        let talker = |number: u32| Talker {
            number,
            uses: vec![(top(&graph), 0)],
            graph: Arc::clone(&graph),
            start: Pose2::default(),
            equipment: Equipment {
                modules: Vec::new(),
                sensors: vec![("gps".to_owned(), Arc::new(Gps(Arc::clone(&world))))],
            },
        };
        let mut script = Script::default();
        for (robot, to) in goal.iter().enumerate() {
            let motion = Motion::MoveTo { to: *to, speed: SPEED, turn_speed: 100.0 };
            script.at(0.3, robot as u32, Drive::Go { tag: 1, motion });
        }
        let heard = Arc::new(Mutex::new((Vec::new(), 0_usize)));
        let told = Arc::clone(&heard);
        let ear: Ear = Arc::new(Mutex::new(move |event: &Event| match &event.what {
            What::Indicated { what: Indication::Ended { how, .. }, .. } => {
                told.lock().unwrap().0.push((event.process, *how));
            }
            What::Lost { .. } => told.lock().unwrap().1 += 1,
            _ => {}
        }));
        let talk = Talk::here((0..3).map(talker).collect(), settings).unwrap();
        talk.run(&script, LONG, &|| false, &ear).unwrap();
        let (ends, lost) = std::mem::take(&mut *heard.lock().unwrap());
        let world = world.lock().unwrap();
        let lives: Vec<Vec<Leg>> = world.iter().zip(&start).map(|(b, s)| life(b, *s)).collect();
        let mut least = f64::INFINITY;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            for a in &lives[p] {
                for b in lives[q].iter().filter(|b| a.since.max(b.since) < a.until.min(b.until)) {
                    let apart = nearest(a, b);
                    assert!(apart > 2.0 * RADIUS, "robots {p} and {q} meet: {a:?} and {b:?}");
                    least = least.min(apart);
                }
            }
        }
        println!("{:?}: {lost} messages lost, ends {ends:?}, never nearer than {least:.3}", settings.mode);
        assert!(ends.len() == 3 && ends.iter().all(|e| e.1 == Ended::Finished), "{ends:?}");
        for (body, goal) in world.iter().zip(&goal) {
            assert!((body.at - *goal).norm() < 1e-9, "it has arrived: {:?}", body.at);
        }
        assert_eq!(lost > 0, settings.loss > 0.0);
    }
}
