//! What algorithms are told, and when: push sensors, pending events, patterns of one's own, contacts, endless loops.

use std::f64::consts::PI;
use std::sync::{Arc, Mutex};
use swarmyard_base::{Moment, Pose2, Vec2};
use swarmyard_engine::RunEvent;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Built, Class, Cx, Ended, Every, Indication, Kind, LookOut, Microprotocol, Motion, MotionPattern, Moving,
    PortSpec, ProtocolModel, ProtocolPort, Registry, ServiceKind, Sheet, Watch, WatchFor, Watching,
};
use swarmyard_sim::{Options, Sim, standard_registry};

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
const WATCH: ProtocolPort<Watching> = ProtocolPort::new(1);

/// What happened, as a test reads it: (seconds, robot, words).
type Diary = Arc<Mutex<Vec<(f64, u32, String)>>>;

/// What an algorithm does at the start.
type Start = fn(&mut Cx<'_>);

/// An algorithm that does one thing at the start and writes down what it is told.
#[derive(Clone)]
struct Writer {
    diary: Diary,
    start: Start,
    /// What it does when it is told something, and how often.
    again: Option<Start>,
    left: u32,
}

impl Writer {
    fn write(&self, cx: &Cx<'_>, words: String) {
        self.diary.lock().expect("one thread").push((cx.now().since(Moment::ZERO), cx.me(), words));
    }
}

impl Writer {
    fn go_on(&mut self, cx: &mut Cx<'_>) {
        if let Some(again) = self.again.filter(|_| self.left > 0) {
            self.left -= 1;
            again(cx);
        }
    }
}

impl Microprotocol for Writer {
    fn start(&mut self, cx: &mut Cx<'_>) {
        (self.start)(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Ended { tag, how } => self.write(cx, format!("ended {tag} {how:?}")),
            Indication::Pushed { tag, .. } => self.write(cx, format!("pushed {tag}")),
            _ => {}
        }
        self.go_on(cx);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        self.write(cx, "timer".to_owned());
        self.go_on(cx);
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _image: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

impl ProtocolModel for Writer {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion), PortSpec::new("watching", ServiceKind::Watching)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(self.clone())
    }
}

/// A world of discs with radius 1 at places and headings, all with one of these algorithms each.
fn world(
    run: &str,
    robots: &[(&str, [f64; 3])],
    algorithms: &[(&'static str, Start, Option<Start>)],
) -> (Sim, Diary) {
    let diary = Diary::default();
    let mut registry: Registry = standard_registry();
    let mut text = format!("format = 1\n[run]\nquantum = \"1s\"\nduration = \"20s\"\n{run}\n");
    for (name, start, again) in algorithms {
        let writer = Writer { diary: Arc::clone(&diary), start: *start, again: *again, left: 1_000_000 };
        let sheet = Sheet::new(name, Kind::Algorithm, "For tests.");
        registry.add(Class::new(sheet, move |_, _| Ok(Built::Protocol(Arc::new(writer.clone())))));
        text.push_str(&format!("[type.{name}]\nradius = 1\n[type.{name}.algorithm]\nclass = \"{name}\"\n"));
        for part in ["wheels", "glider", "proximity", "contact", "gps"] {
            text.push_str(&format!("[[type.{name}.part]]\nname = \"{part}\"\nclass = \"{part}\"\n"));
        }
    }
    for (k, (ty, [x, y, heading])) in robots.iter().enumerate() {
        text.push_str(&format!("[[robot]]\nname = \"r{k}\"\ntype = \"{ty}\"\nat = [{x}, {y}, {heading}]\n"));
    }
    let sim = Sim::read("test", &text, &NoFiles, &registry, &Options::default());
    (sim.unwrap_or_else(|e| panic!("{e}\n{text}")), diary)
}

fn run(sim: &mut Sim) -> Vec<RunEvent> {
    let mut events = Vec::new();
    while !sim.is_over() {
        events.extend(sim.step().expect("steps").events);
    }
    events
}

fn of(diary: &Diary, robot: u32) -> Vec<(f64, String)> {
    let all = diary.lock().expect("one thread");
    all.iter().filter(|l| l.1 == robot).map(|l| (l.0, l.2.clone())).collect()
}

fn rest(_cx: &mut Cx<'_>) {}

fn east(cx: &mut Cx<'_>) {
    cx.go(MOTION, 1, Motion::Forward { distance: 16.0, speed: 2.0 });
}

fn watch(cx: &mut Cx<'_>, every: Every) {
    let watch = Watch { what: WatchFor::Near { range: 1.5 }, every };
    cx.request(WATCH, LookOut::On { tag: 7, watch });
}

fn watch_exactly(cx: &mut Cx<'_>) {
    watch(cx, Every::Exact);
}

fn watch_every_five_seconds(cx: &mut Cx<'_>) {
    watch(cx, Every::Interval(5.0));
}

/// A disc passes another at a distance of 3 m (outline to outline 1 m) at 2 m/s. The range of 1.5 m is crossed where
/// the centres are 3.5 m apart: √(3.5² − 3²) m before the nearest point, at 8 m.
#[test]
fn an_exact_push_sensor_fires_at_the_very_crossing_and_an_interval_can_miss_it() {
    let robots = [("guard", [8.0, 3.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let crossing = (8.0 - (3.5_f64 * 3.5 - 9.0).sqrt()) / 2.0;
    let (mut sim, diary) = world("", &robots, &[("guard", watch_exactly, None), ("walker", east, None)]);
    run(&mut sim);
    let seen = of(&diary, 0);
    assert_eq!(seen.len(), 1, "{seen:?}");
    assert!((seen[0].0 - crossing).abs() < 1e-9 && seen[0].1 == "pushed 7", "{seen:?}, at {crossing}");
    // It is within the range from 3.1 to 4.9 s: looking at 5, 10, … seconds sees nothing.
    let (mut sim, diary) =
        world("", &robots, &[("guard", watch_every_five_seconds, None), ("walker", east, None)]);
    run(&mut sim);
    assert_eq!(of(&diary, 0), []);
}

fn watch_contact(cx: &mut Cx<'_>) {
    let watch = Watch { what: WatchFor::Contact, every: Every::Exact };
    cx.request(WATCH, LookOut::On { tag: 3, watch });
}

/// Centres 10 m apart, radii 1: after 8 m, at 4 s, they touch. Who walked is told so, its arrival is cancelled; who
/// stood feels it; walking on into the contact ends at once, and away from it does not.
#[test]
fn a_collision_ends_the_motion_and_moving_into_it_stops_at_once() {
    fn again(cx: &mut Cx<'_>) {
        // Once more into the contact at 4 s, then away from it at 6 s.
        let now = cx.now().since(Moment::ZERO);
        if cx.pending(cx.me()).iter().any(|p| p.what == "timer") {
            return;
        }
        if now < 4.5 {
            cx.set_timer(2.0);
            cx.go(MOTION, 2, Motion::Forward { distance: 3.0, speed: 2.0 });
        } else if now < 6.5 {
            cx.go(MOTION, 3, Motion::Forward { distance: -3.0, speed: 2.0 });
        }
    }
    let robots = [("feeler", [10.0, 0.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let (mut sim, diary) = world("", &robots, &[("feeler", watch_contact, None), ("walker", east, None)]);
    run(&mut sim);
    let (feeler, walker) = (of(&diary, 0), of(&diary, 1));
    assert_eq!(feeler.iter().map(|l| l.1.as_str()).collect::<Vec<_>>(), ["pushed 3"]);
    assert!((feeler[0].0 - 4.0).abs() < 1e-9, "{feeler:?}");
    assert_eq!(walker.len(), 1, "the arrival at 8 s is cancelled: {walker:?}");
    assert!(walker[0].1.starts_with("ended 1 Collided"), "{walker:?}");
    let at = sim.pose("/robots/r1").expect("is there").at;
    assert!((at - Vec2::new(8.0, 0.0)).norm() < 1e-9, "{at:?}");

    let (mut sim, diary) = world("", &robots, &[("feeler", rest, None), ("walker", east, Some(again))]);
    run(&mut sim);
    let walker = of(&diary, 1);
    let words: Vec<&str> = walker.iter().map(|l| l.1.split_whitespace().nth(1).unwrap_or("timer")).collect();
    assert_eq!(words, ["1", "2", "timer", "3"], "{walker:?}");
    let times: Vec<f64> = walker.iter().map(|l| l.0).collect();
    for (time, should) in times.iter().zip([4.0, 4.0, 6.0, 7.5]) {
        assert!((time - should).abs() < 1e-9, "{walker:?}");
    }
    assert!(walker[1].1.contains("Collided") && walker[3].1.contains("Finished"), "{walker:?}");
}

fn toward_and_ask(cx: &mut Cx<'_>) {
    cx.go(MOTION, 1, Motion::Forward { distance: 16.0, speed: 2.0 });
    cx.set_timer(1.0);
}

#[test]
fn an_algorithm_may_ask_for_the_pending_events_of_any_robot() {
    fn ask(cx: &mut Cx<'_>) {
        let words: Vec<String> = cx
            .pending(1)
            .iter()
            .map(|p| format!("{:.3} {} {}", p.at.since(Moment::ZERO), p.conditional, p.what))
            .collect();
        cx.say(&words.join("; "));
    }
    let robots = [("asker", [10.0, 0.0, PI]), ("walker", [0.0, 0.0, 0.0])];
    let asker: Start = |cx| {
        cx.set_timer(2.0);
    };
    let (mut sim, _) = world("", &robots, &[("asker", asker, Some(ask)), ("walker", toward_and_ask, None)]);
    sim.take_notes(true);
    let said: Vec<String> = run(&mut sim)
        .into_iter()
        .filter_map(|e| match e {
            RunEvent::Live(note) => match note.what {
                swarmyard_engine::Note::Said(text) => Some(text),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(said, ["4.000 true collision with /robots/r0; 8.000 true finish forward"]);
}

/// Half a circle of radius 2, at 1 rad/s.
#[derive(Debug)]
struct HalfCircle;

impl MotionPattern for HalfCircle {
    fn duration_s(&self) -> f64 {
        PI
    }

    fn pose_at(&self, t_s: f64) -> Pose2 {
        Pose2::new(2.0 * t_s.sin(), 2.0 - 2.0 * t_s.cos(), t_s)
    }

    fn events(&self) -> Vec<(f64, String)> {
        vec![(PI / 2.0, "half way".to_owned())]
    }
}

#[test]
fn a_pattern_of_ones_own_is_followed_and_ends_where_it_says() {
    let start: Start = |cx| cx.go(MOTION, 5, Motion::Follow(Arc::new(HalfCircle)));
    let (mut sim, diary) = world("", &[("round", [1.0, 1.0, 0.0])], &[("round", start, None)]);
    sim.run_until(1.0).expect("runs");
    let at = sim.pose("/robots/r0").expect("is there");
    let should = Vec2::new(1.0 + 2.0 * 1_f64.sin(), 3.0 - 2.0 * 1_f64.cos());
    assert!((at.at - should).norm() < 1e-4 && (at.heading - 1.0).abs() < 1e-3, "{at:?}, not {should:?}");
    run(&mut sim);
    let told = of(&diary, 0);
    assert_eq!(told.len(), 1);
    assert!(
        (told[0].0 - PI).abs() < 1e-8 && told[0].1 == format!("ended 5 {:?}", Ended::Finished),
        "{told:?}"
    );
    assert!((sim.pose("/robots/r0").expect("is there").at - Vec2::new(1.0, 5.0)).norm() < 1e-12);
}

/// Equal discs exchange their velocities: the one that came stands, the other goes on with its speed.
#[test]
fn under_impulse_equal_discs_exchange_their_velocities() {
    let robots = [("target", [10.0, 0.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let smooth = "contact = \"impulse\"\n[surface.ball]\nrestitution = 1\nfriction = 0";
    let (mut sim, diary) = world(smooth, &robots, &[("target", rest, None), ("walker", east, None)]);
    run(&mut sim);
    assert!(of(&diary, 1)[0].1.starts_with("ended 1 Collided"));
    let [hit, came] = ["/robots/r0", "/robots/r1"].map(|r| sim.twist(r).expect("is there").linear().norm());
    // The default surface bounces less: momentum is what is promised.
    assert!((hit + came - 2.0).abs() < 1e-12, "{hit} + {came}");
}

#[test]
fn a_protocol_that_loops_for_ever_in_zero_time_is_caught_and_named() {
    let soon: Start = |cx| {
        cx.set_timer(0.0);
    };
    let robots = [("looper", [0.0, 0.0, 0.0]), ("walker", [0.0, 9.0, 0.0])];
    let (mut sim, diary) = world("", &robots, &[("looper", soon, Some(soon)), ("walker", east, None)]);
    let events = run(&mut sim);
    let uid = sim.model().uids[sim.model().slot_of_path("/robots/r0").expect("is there")];
    let endless: Vec<&RunEvent> = events.iter().filter(|e| matches!(e, RunEvent::Endless { .. })).collect();
    assert_eq!(endless.len(), 1);
    assert!(matches!(endless[0], RunEvent::Endless { robot, .. } if *robot == uid), "{endless:?}");
    assert!(of(&diary, 0).len() < 200_000);
    // Everybody else goes on.
    assert_eq!(of(&diary, 1).len(), 1);
    assert_eq!(sim.now().seconds(), 20.0);
}
