//! What algorithms are told, and when: push sensors, pending events, patterns of one's own, contacts, endless loops.

use crate::acting::{Act, LINK, Log, MOTION, WATCH, add, robots_text, type_text};
use std::f64::consts::PI;
use std::sync::Arc;
use swarmyard_base::{Moment, Pose2, Uid, Vec2};
use swarmyard_engine::{Note, RowKind, RunEvent};
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Built, Class, Custom, Cx, Ended, Every, Indication, Kind, LookOut, Microprotocol, Motion, MotionPattern,
    Param, ParamType, PortSpec, Private, ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, User,
    Watch, WatchFor,
};
use swarmyard_sim::{Options, Sim, standard_registry};

/// What happened, as a test reads it: words, and how a motion ended.
type Diary = Log<(String, Option<Ended>)>;

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
        self.write_end(cx, words, None);
    }

    fn write_end(&self, cx: &Cx<'_>, words: String, how: Option<Ended>) {
        self.diary.write(cx, (words, how));
    }

    fn go_on(&mut self, cx: &mut Cx<'_>) {
        if let Some(again) = self.again.filter(|_| self.left > 0) {
            self.left -= 1;
            again(cx);
        }
    }
}

impl Act for Writer {
    fn start(&mut self, cx: &mut Cx<'_>) {
        (self.start)(cx);
    }

    fn told(&mut self, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Ended { tag, how } => self.write_end(cx, format!("ended {tag} {how:?}"), Some(how)),
            Indication::Passed { tag, name } => self.write(cx, format!("passed {tag} {name}")),
            Indication::Pushed { tag, .. } => self.write(cx, format!("pushed {tag}")),
            _ => {}
        }
        self.go_on(cx);
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        self.write(cx, "timer".to_owned());
        self.go_on(cx);
    }
}

/// A world of discs with radius 1 at places and headings, all with one of these algorithms each.
fn world(
    run: &str,
    robots: &[(&str, [f64; 3])],
    algorithms: &[(&'static str, Start, Option<Start>)],
) -> (Sim, Diary) {
    let diary = Diary::default();
    let mut registry = standard_registry();
    let mut text = format!("format = 1\n[run]\nquantum = \"1s\"\nduration = \"20s\"\n{run}\n");
    let parts = ["wheels", "glider", "proximity", "contact", "gps"].map(|part| (part, part));
    for (name, start, again) in algorithms {
        let writer = Writer { diary: diary.clone(), start: *start, again: *again, left: 1_000_000 };
        add(&mut registry, name, writer);
        text.push_str(&type_text(name, "radius = 1", &parts));
    }
    text.push_str(&robots_text(robots));
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
    diary.of(robot).into_iter().map(|(t, (words, _))| (t, words)).collect()
}

/// The collisions a robot was told of: when, with what, with which robot, and where.
fn collisions(diary: &Diary, robot: u32) -> Vec<(f64, Uid, Option<u32>, Vec2)> {
    let told = diary.of(robot).into_iter().filter_map(|(t, (_, how))| match how {
        Some(Ended::Collided { with, robot, at }) => Some((t, with, robot, at)),
        _ => None,
    });
    told.collect()
}

fn rest(_cx: &mut Cx<'_>) {}

fn east(cx: &mut Cx<'_>) {
    cx.go(MOTION, 1, Motion::Forward { distance: 16.0, speed: 2.0 });
}

/// A wall 1 m thick and 4 m long across the way east, from x = 8 m on.
const WALL: &str = "[[obstacle]]\nname = \"w\"\nsize = [1, 4]\nat = [8.5, 0]";

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
    let hit = collisions(&diary, 1);
    let feeler = sim.model().uids[sim.model().slot_of_path("/robots/r0").expect("is there")];
    assert_eq!((hit[0].1, hit[0].2), (feeler, Some(0)));
    assert!((hit[0].3 - Vec2::new(9.0, 0.0)).norm() < 1e-9, "{hit:?}");
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

/// Discs of radius 1 go towards each other, at 2 and 1 m/s, their lines 1 m apart: they touch when the centres are 2 m
/// apart, √3 m of it along the way, half way between them. Both are told, each of the other.
#[test]
fn both_robots_of_a_collision_are_told_with_whom_and_where() {
    fn west(cx: &mut Cx<'_>) {
        cx.go(MOTION, 4, Motion::Velocity { velocity: Vec2::new(-1.0, 0.0), for_s: 30.0 });
    }
    for contact in ["stop", "impulse"] {
        let robots = [("other", [10.0, 1.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
        let rule = format!("contact = \"{contact}\"");
        let (mut sim, diary) = world(&rule, &robots, &[("other", west, None), ("walker", east, None)]);
        run(&mut sim);
        let t = (10.0 - 3_f64.sqrt()) / 3.0;
        let point = (Vec2::new(2.0 * t, 0.0) + Vec2::new(10.0 - t, 1.0)) * 0.5;
        for (me, other) in [(0, 1), (1, 0)] {
            let path = format!("/robots/r{other}");
            let uid = sim.model().uids[sim.model().slot_of_path(&path).expect("is there")];
            let told = collisions(&diary, me);
            assert_eq!(told.len(), 1, "{contact}: {told:?}");
            let (at, with, robot, place) = told[0];
            assert_eq!((with, robot), (uid, Some(other)), "{contact}, robot {me}");
            assert!((at - t).abs() < 1e-9 && (place - point).norm() < 1e-9, "{told:?}, not {t} {point:?}");
        }
    }
}

/// A wall whose face is at x = 8 m, and a disc of radius 1 at 2 m/s from 0: it touches at 3.5 s, at (8, 0).
#[test]
fn who_runs_into_a_wall_is_told_which_and_where() {
    let robots = [("walker", [0.0, 0.0, 0.0])];
    let (mut sim, diary) = world(WALL, &robots, &[("walker", east, None)]);
    run(&mut sim);
    let told = collisions(&diary, 0);
    assert_eq!(told.len(), 1, "{told:?}");
    let (at, with, robot, place) = told[0];
    assert_eq!((sim.model().path_of(with), robot), (Some("/obstacles/w"), None));
    assert!((at - 3.5).abs() < 1e-9 && (place - Vec2::new(8.0, 0.0)).norm() < 1e-9, "{told:?}");
}

fn toward_and_ask(cx: &mut Cx<'_>) {
    cx.go(MOTION, 1, Motion::Forward { distance: 16.0, speed: 2.0 });
    cx.set_timer(1.0);
}

/// Says what is pending for robot 1.
fn ask(cx: &mut Cx<'_>) {
    let words: Vec<String> = cx
        .pending(1)
        .iter()
        .map(|p| format!("{:.3} {} {}", p.at.since(Moment::ZERO), p.conditional, p.what))
        .collect();
    cx.say(&words.join("; "));
}

/// Asks at 2 s.
fn ask_later(cx: &mut Cx<'_>) {
    cx.set_timer(2.0);
}

/// What was said in a run.
fn said(sim: &mut Sim) -> Vec<String> {
    sim.take_notes(true);
    let notes = run(sim).into_iter().filter_map(|e| match e {
        RunEvent::Live(note) => Some(note.what),
        _ => None,
    });
    let words = notes.filter_map(|note| match note {
        Note::Said(text) => Some(text),
        _ => None,
    });
    words.collect()
}

#[test]
fn an_algorithm_may_ask_for_the_pending_events_of_any_robot() {
    let robots = [("asker", [10.0, 0.0, PI]), ("walker", [0.0, 0.0, 0.0])];
    let (mut sim, _) =
        world("", &robots, &[("asker", ask_later, Some(ask)), ("walker", toward_and_ask, None)]);
    assert_eq!(said(&mut sim), ["4.000 true collision with /robots/r0; 8.000 true finish forward"]);
}

fn round_for_ever(cx: &mut Cx<'_>) {
    cx.go(MOTION, 1, Motion::Arc { speed: 1.0, spin: 0.5, for_s: f64::INFINITY });
}

/// Somebody goes round for ever and meets nobody: asking ends, and finds the contact there is, or none.
#[test]
fn asking_what_is_pending_ends_though_somebody_goes_round_for_ever() {
    let round = ("round", [0.0, 30.0, 0.0]);
    let robots = [("asker", [10.0, 0.0, PI]), ("walker", [0.0, 0.0, 0.0]), round];
    for contact in ["stop", "impulse"] {
        let (mut sim, _) = world(
            &format!("contact = \"{contact}\""),
            &robots,
            &[("asker", ask_later, Some(ask)), ("walker", east, None), ("round", round_for_ever, None)],
        );
        assert_eq!(said(&mut sim)[0], "4.000 true collision with /robots/r0; 8.000 true finish forward");
    }
    // Robot 1 stands, and nobody ever comes near it.
    let robots = [("asker", [10.0, 0.0, PI]), ("still", [0.0, 0.0, 0.0]), round];
    let algorithms: [(&str, Start, Option<Start>); 3] =
        [("asker", ask_later, Some(ask)), ("still", rest, None), ("round", round_for_ever, None)];
    let (mut sim, _) = world("", &robots, &algorithms);
    assert_eq!(said(&mut sim), [""]);
    // Robot 1 is the one that goes round, on a circle of radius 2, and robot 0 stands on it half a turn from the start. They
    // touch when the centres are 2 m apart, as long as the radius: 60° before that.
    let robots = [("asker", [0.0, 4.0, 0.0]), ("round", [0.0, 0.0, 0.0])];
    let algorithms: [(&str, Start, Option<Start>); 2] =
        [("asker", ask_later, Some(ask)), ("round", round_for_ever, None)];
    let (mut sim, _) = world("", &robots, &algorithms);
    let at = (PI - PI / 3.0) / 0.5;
    assert_eq!(said(&mut sim), [format!("{at:.3} true collision with /robots/r0")]);
}

/// Somebody stands 20 m ahead, and the way is 5 m: nothing is touched.
#[test]
fn no_contact_is_pending_beyond_the_end_of_a_motion() {
    fn five(cx: &mut Cx<'_>) {
        cx.go(MOTION, 1, Motion::Forward { distance: 5.0, speed: 1.0 });
    }
    let robots = [("asker", [20.0, 0.0, PI]), ("walker", [0.0, 0.0, 0.0])];
    let (mut sim, _) = world("", &robots, &[("asker", ask_later, Some(ask)), ("walker", five, None)]);
    assert_eq!(said(&mut sim), ["5.000 true finish forward"]);
    assert_eq!(sim.state().accounts.contacts, 0);
}

/// Robot 1 turns for π / 2 s and then goes 10 m at 2 m/s; robot 2 is on its way to a place 9 m ahead, and stands there before
/// it comes. What is pending then happens, at that moment.
#[test]
fn what_is_pending_counts_later_phases_and_those_who_have_arrived_by_then() {
    fn up(cx: &mut Cx<'_>) {
        cx.go(MOTION, 1, Motion::MoveTo { to: Vec2::new(0.0, 10.0), speed: 2.0, turn_speed: 1.0 });
    }
    fn into_the_way(cx: &mut Cx<'_>) {
        cx.go(MOTION, 1, Motion::Forward { distance: 6.0, speed: 3.0 });
    }
    fn ask_now(cx: &mut Cx<'_>) {
        cx.set_timer(0.5);
    }
    let robots = [("asker", [50.0, 0.0, 0.0]), ("walker", [0.0, 0.0, 0.0]), ("other", [-6.0, 9.0, 0.0])];
    let algorithms: [(&str, Start, Option<Start>); 3] =
        [("asker", ask_now, Some(ask)), ("walker", up, None), ("other", into_the_way, None)];
    let (mut sim, diary) = world("", &robots, &algorithms);
    let at = PI / 2.0 + 7.0 / 2.0;
    assert_eq!(
        said(&mut sim),
        [format!("{:.3} true finish turn; {at:.3} true collision with /robots/r2", PI / 2.0)]
    );
    let walker = of(&diary, 1);
    assert!((walker[0].0 - at).abs() < 1e-9 && walker[0].1.contains("Collided"), "{walker:?}");
}

/// The wall is touched after 7 m at 2 m/s.
#[test]
fn contacts_with_walls_are_pending_too() {
    let robots = [("asker", [0.0, 20.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let (mut sim, _) = world(WALL, &robots, &[("asker", ask_later, Some(ask)), ("walker", east, None)]);
    assert_eq!(said(&mut sim), ["3.500 true collision with /obstacles/w; 8.000 true finish forward"]);
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
    let words: Vec<&str> = told.iter().map(|l| l.1.as_str()).collect();
    assert_eq!(words, ["passed 5 half way", &format!("ended 5 {:?}", Ended::Finished)]);
    assert!((told[0].0 - PI / 2.0).abs() < 1e-8 && (told[1].0 - PI).abs() < 1e-8, "{told:?}");
    assert!((sim.pose("/robots/r0").expect("is there").at - Vec2::new(1.0, 5.0)).norm() < 1e-12);
}

/// The log has the beginning, the event and the end, at their places, and nothing of the arcs in between; whoever asks
/// is told of the event before it happens.
#[test]
fn the_events_of_a_pattern_are_pending_and_in_the_log() {
    let start: Start = |cx| cx.go(MOTION, 5, Motion::Follow(Arc::new(HalfCircle)));
    let asker: Start = |cx| {
        cx.set_timer(0.25);
    };
    let robots = [("asker", [50.0, 0.0, 0.0]), ("round", [0.0, 0.0, 0.0])];
    let (mut sim, _) = world("", &robots, &[("asker", asker, Some(ask)), ("round", start, None)]);
    sim.take_notes(true);
    let (mut rows, mut said) = (Vec::new(), Vec::new());
    for event in run(&mut sim) {
        let RunEvent::Live(note) = event else { continue };
        match note.what {
            Note::Row(row) => {
                let kind = if let RowKind::Begin(_) = row.kind { RowKind::Begin(true) } else { row.kind };
                rows.push((row.motion, kind, note.at.since(Moment::ZERO), row.at, row.to));
            }
            Note::Said(words) => said.push(words),
            _ => {}
        }
    }
    let (here, half, end) = (Vec2::ZERO, Vec2::new(2.0, 2.0), Vec2::new(0.0, 4.0));
    let should = [
        ("Follow", RowKind::Begin(true), 0.0, here, end),
        ("half way", RowKind::Passed, PI / 2.0, half, half),
        ("Follow", RowKind::Finish, PI, end, end),
    ];
    assert_eq!(rows.len(), should.len(), "{rows:?}");
    for (row, should) in rows.iter().zip(should) {
        assert_eq!((row.0.as_str(), row.1), (should.0, should.1));
        let near = (row.3 - should.3).norm() < 1e-9 && (row.4 - should.4).norm() < 1e-9;
        assert!(near && (row.2 - should.2).abs() < 1e-8, "{row:?}, not {should:?}");
    }
    assert_eq!(said, ["1.571 true pass half way; 3.142 true finish follow"]);
}

/// Events at the start, two at one time, one at the end; and one beyond it, which is a mistake.
#[test]
fn events_of_a_pattern_lie_anywhere_on_it_and_nowhere_else() {
    #[derive(Debug)]
    struct Line(&'static [(f64, &'static str)]);
    impl MotionPattern for Line {
        fn duration_s(&self) -> f64 {
            4.0
        }
        fn pose_at(&self, t_s: f64) -> Pose2 {
            Pose2::new(t_s, 0.0, 0.0)
        }
        fn events(&self) -> Vec<(f64, String)> {
            self.0.iter().map(|(t, name)| (*t, (*name).to_owned())).collect()
        }
    }
    let good: Start = |cx| {
        let line = Line(&[(4.0, "there"), (2.0, "b"), (0.0, "off"), (2.0, "c")]);
        cx.go(MOTION, 1, Motion::Follow(Arc::new(line)));
    };
    let (mut sim, diary) = world("", &[("walker", [0.0, 0.0, 0.0])], &[("walker", good, None)]);
    run(&mut sim);
    let told = of(&diary, 0);
    let should = [(0.0, "passed 1 off"), (2.0, "passed 1 b"), (2.0, "passed 1 c"), (4.0, "passed 1 there")];
    assert_eq!(told.len(), should.len() + 1, "{told:?}");
    for (told, should) in told.iter().zip(should) {
        assert!((told.0 - should.0).abs() < 1e-8 && told.1 == should.1, "{told:?}, not {should:?}");
    }
    let bad: Start = |cx| cx.go(MOTION, 1, Motion::Follow(Arc::new(Line(&[(5.0, "late")]))));
    let (mut sim, _) = world("", &[("walker", [0.0, 0.0, 0.0])], &[("walker", bad, None)]);
    let words = said(&mut sim);
    assert!(words[0].contains("`late` at `5` s lies outside"), "{words:?}");
}

/// Looks that find nothing are no events of a robot: were they allowed without time between them, the run would never end.
#[test]
fn a_push_sensor_that_looks_without_end_at_one_moment_is_refused_and_its_algorithm_named() {
    let bad: [Start; 3] = [
        |cx| watch(cx, Every::Interval(1e-30)),
        |cx| watch(cx, Every::Interval(0.0)),
        |cx| watch(cx, Every::Interval(f64::NAN)),
    ];
    for start in bad {
        let (mut sim, diary) = world("", &[("guard", [0.0, 0.0, 0.0])], &[("guard", start, None)]);
        let uid = sim.model().uids[0];
        let events = run(&mut sim);
        let [RunEvent::AlgorithmFailed { robot, why }] = &events[..] else { panic!("{events:?}") };
        assert!(*robot == uid && why.contains("an interval is a nanosecond at least"), "{why}");
        assert!(why.starts_with("`algorithm` cannot look out"), "{why}");
        assert_eq!(of(&diary, 0), []);
    }
}

/// Robot 1 at 2 s: every kind of what may be pending, when, and whether it is conditional. It goes 2 m/s.
#[test]
fn what_is_pending_is_told_by_its_kind_and_whether_it_is_conditional() {
    fn timer(cx: &mut Cx<'_>) {
        cx.set_timer(5.0);
    }
    fn look_and_go(cx: &mut Cx<'_>) {
        watch_exactly(cx);
        east(cx);
    }
    // Somebody far away tells everybody at once to go somewhere, and the network takes five seconds.
    let crier = "[network]\nclass = \"constant\"\ndelay = \"5s\"\n[type.other]\nradius = 1\n\
        [[type.other.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
        [type.other.algorithm]\nclass = \"ask-for-help\"\nmin = [0, 60]\nmax = [9, 69]";
    // Half as fast from 8 m to 12 m.
    let river = "[[zone]]\nname = \"river\"\npoints = [[8, -5], [12, -5], [12, 5], [8, 5]]\nfactor = 0.5";
    let (near, far) = ([10.0, 0.0, 0.0], [0.0, 60.0, 0.0]);
    let collision = "4.000 true collision with /robots/r2; 8.000 true finish forward";
    let table: [(&str, [f64; 3], Start, &str); 7] = [
        ("", far, rest, ""),
        ("", far, timer, "5.000 false timer"),
        (crier, far, rest, "5.000 false message"),
        ("", far, watch_every_five_seconds, "5.000 false sense"),
        ("", near, east, collision),
        // The outlines are 1.5 m apart after 6.5 m.
        ("", near, look_and_go, &format!("3.250 true crossing; {collision}")),
        (river, far, east, "4.000 true zone; 10.000 true finish forward"),
    ];
    for (text, at, start, should) in table {
        let robots = [("asker", [0.0, -60.0, 0.0]), ("one", [0.0, 0.0, 0.0]), ("other", at)];
        let mut algorithms: Vec<(&str, Start, Option<Start>)> =
            vec![("asker", ask_later, Some(ask)), ("one", start, None)];
        if text != crier {
            algorithms.push(("other", rest, None));
        }
        let (mut sim, _) = world(text, &robots, &algorithms);
        assert_eq!(said(&mut sim)[0], should);
    }
}

/// At the start who has its turn first sees that the other is about to start, and not the other way round.
#[test]
fn the_start_of_a_robot_is_pending_until_it_has_started() {
    let asks: Start = |cx| {
        let pending = cx.pending(1 - cx.me());
        let kinds: Vec<String> = pending.iter().map(|p| format!("{} {}", p.conditional, p.what)).collect();
        cx.say(&kinds.join("; "));
    };
    let robots = [("one", [0.0, 0.0, 0.0]), ("one", [9.0, 0.0, 0.0])];
    let (mut sim, _) = world("", &robots, &[("one", asks, None)]);
    assert_eq!(said(&mut sim), ["false start", ""]);
}

/// The robots that did not come to rest: which, what it was about, and when, s.
fn endless(sim: &Sim, events: &[RunEvent]) -> Vec<(String, String, f64)> {
    let found = events.iter().filter_map(|e| match e {
        RunEvent::Endless { robot, protocol, at } => {
            let path = sim.model().path_of(*robot).expect("is there").to_owned();
            Some((path, protocol.clone(), at.since(Moment::ZERO)))
        }
        _ => None,
    });
    found.collect()
}

#[test]
fn a_protocol_that_loops_for_ever_in_zero_time_is_caught_and_named() {
    let soon: Start = |cx| {
        cx.set_timer(0.0);
    };
    // Begins its loop after a while, and not where a step ends.
    let later: Start = |cx| {
        cx.set_timer(2.5);
    };
    let nowhere: Start = |cx| cx.go(MOTION, 1, Motion::Forward { distance: 0.0, speed: 1.0 });
    let serve: Start = |cx| {
        if cx.me() == 0 {
            cx.send_to(LINK, 1, &());
        }
    };
    let answer: Start = |cx| cx.send_to(LINK, 1 - cx.me(), &());
    let cases: [(&str, Start, Start, f64); 4] = [
        ("", soon, soon, 0.0),
        ("", later, soon, 2.5),
        ("", nowhere, nowhere, 0.0),
        ("[network]\nclass = \"constant\"\ndelay = 0", serve, answer, 0.0),
    ];
    for (k, (run_text, start, again, at)) in cases.into_iter().enumerate() {
        let talks = !run_text.is_empty();
        let second = if talks { "looper" } else { "walker" };
        let robots = [("looper", [0.0, 0.0, 0.0]), (second, [0.0, 9.0, 0.0]), ("walker", [0.0, 18.0, 0.0])];
        let algorithms = [("looper", start, Some(again)), ("walker", east, None)];
        let (mut sim, diary) = world(run_text, &robots, &algorithms);
        let events = run(&mut sim);
        let found = endless(&sim, &events);
        // Of two that loop together one is stopped, and then the other has nothing to answer.
        assert_eq!(found.len(), 1, "case {k}: {found:?}");
        let (path, protocol, when) = &found[0];
        assert!(path == "/robots/r0" || talks && path == "/robots/r1", "case {k}: {path}");
        assert_eq!((protocol.as_str(), *when), ("algorithm", at), "case {k}");
        assert!(of(&diary, 0).len() < 200_000, "case {k}");
        // Everybody else goes on.
        assert_eq!(of(&diary, 2).len(), 1, "case {k}");
        assert_eq!(sim.now().seconds(), 20.0);
    }
}

/// Protocols that ask each other for ever within one step, below an algorithm that does nothing.
#[test]
fn protocols_that_never_come_to_rest_among_themselves_are_named() {
    #[derive(Clone)]
    struct Echo;
    impl ProtocolModel for Echo {
        fn provides(&self) -> Option<ServiceKind> {
            Some(ServiceKind::Custom)
        }
        fn ports(&self) -> Vec<PortSpec> {
            vec![PortSpec::new("other", ServiceKind::Custom)]
        }
        fn start(&self) -> Box<dyn Microprotocol> {
            Box::new(Echo)
        }
    }
    impl Microprotocol for Echo {
        fn start(&mut self, cx: &mut Cx<'_>) {
            cx.request(ProtocolPort::<Custom>::new(0), Private(Arc::new([])));
        }
        fn request(&mut self, _: User, _: Request, cx: &mut Cx<'_>) {
            cx.request(ProtocolPort::<Custom>::new(0), Private(Arc::new([])));
        }
        fn save(&self) -> Vec<u8> {
            Vec::new()
        }
        fn load(&mut self, _: &[u8]) -> Result<(), String> {
            Ok(())
        }
    }
    let mut registry = standard_registry();
    let sheet = Sheet::new("echo", Kind::Protocol, "For tests.").param(Param::new(
        "other",
        ParamType::Name("protocol"),
        "The other.",
    ));
    registry.add(Class::new(sheet, |_, _| Ok(Built::Protocol(Arc::new(Echo)))));
    let text = "format = 1\n[run]\nquantum = \"1s\"\nduration = \"3s\"\n[type.dot]\nradius = 0.1\n\
        [[type.dot.protocol]]\nname = \"one\"\nclass = \"echo\"\nother = \"two\"\n\
        [[type.dot.protocol]]\nname = \"two\"\nclass = \"echo\"\nother = \"one\"\n\
        [[robot]]\nname = \"r\"\ntype = \"dot\"\n";
    let mut sim = Sim::read("test", text, &NoFiles, &registry, &Options::default()).expect("is a world");
    let events = run(&mut sim);
    let found = endless(&sim, &events);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(["one", "two"].contains(&found[0].1.as_str()) && found[0].2 == 0.0, "{found:?}");
}

/// What arrives at one moment was sent before, however much it is, and does no harm; nor does what comes of one event at
/// that event's moment, as long as nothing comes of that in turn.
#[test]
fn who_hears_very_much_at_one_moment_is_not_endless() {
    let much: Start = |cx| (0..50_100).for_each(|_| cx.send_to(LINK, 2, &()));
    for delay in ["10ms", "0s"] {
        let network = format!("[network]\nclass = \"constant\"\ndelay = \"{delay}\"");
        let robots = [("talker", [0.0, 0.0, 0.0]), ("talker", [0.0, 9.0, 0.0]), ("hearer", [0.0, 18.0, 0.0])];
        let (mut sim, _) = world(&network, &robots, &[("talker", much, None), ("hearer", rest, None)]);
        let events = run(&mut sim);
        assert_eq!(endless(&sim, &events), [], "{delay}");
        let live = sim.state().live.as_ref().expect("lives by events");
        assert_eq!((live.delivered, live.lost), (100_200, 0), "{delay}");
    }
}

/// What becomes more at every step never gets to a long row of causes: it is stopped all the same.
#[test]
fn who_answers_every_message_with_two_is_stopped() {
    let twice: Start = |cx| {
        for _ in 0..2 {
            cx.send_to(LINK, 1 - cx.me(), &());
        }
    };
    let network = "[network]\nclass = \"constant\"\ndelay = 0";
    let robots = [("looper", [0.0, 0.0, 0.0]), ("looper", [0.0, 9.0, 0.0])];
    let (mut sim, _) = world(network, &robots, &[("looper", twice, Some(twice))]);
    let events = run(&mut sim);
    assert!(!endless(&sim, &events).is_empty());
    assert_eq!(sim.now().seconds(), 20.0);
}
