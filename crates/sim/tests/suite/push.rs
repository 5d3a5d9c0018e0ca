//! Push sensors of robots that live by events: at intervals and exactly, among robots, walls and corners; sensors and
//! motion modules of one's own.

use crate::acting::{Act, MOTION, WATCH, add, robots_text, type_text};
use std::f64::consts::PI;
use std::sync::Arc;
use swarmyard_base::{Moment, Pose2, Vec2};
use swarmyard_engine::{Note, RunEvent};
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Answer, Built, Class, Cx, EventSensor, Every, Indication, Kind, LookOut, Motion, MotionModule, Plan,
    Query, Seen, Sheet, Surroundings, Watch, WatchFor,
};
use swarmyard_sim::{Options, Sim, standard_registry};

/// What a robot was told by a push sensor, or by itself: a tag, and what.
type Log = crate::acting::Log<(u64, Answer)>;

/// What an algorithm does at a moment.
type Deed = fn(&mut Cx<'_>, &Log);

/// An algorithm that does something at the start and whenever a timer runs out, and writes down what it is told.
#[derive(Clone)]
struct Actor {
    log: Log,
    start: Deed,
    timer: Deed,
    pushed: Deed,
}

impl Act for Actor {
    fn start(&mut self, cx: &mut Cx<'_>) {
        (self.start)(cx, &self.log);
    }

    fn told(&mut self, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Pushed { tag, push } => {
                self.log.write(cx, (tag, push.answer));
                (self.pushed)(cx, &self.log);
            }
            Indication::Passed { tag, name } => cx.say(&format!("passed {tag} {name}")),
            Indication::Ended { tag, how } => cx.say(&format!("ended {tag} {how:?}")),
            _ => {}
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        (self.timer)(cx, &self.log);
    }
}

fn nothing(_cx: &mut Cx<'_>, _log: &Log) {}

/// A type of robots: its name, its outline, and what it does at the start, at timers and when pushed.
struct Type(&'static str, &'static str, [Deed; 3]);

/// A world of robots of some types at places, and of whatever else there is.
fn world(head: &str, types: &[Type], robots: &[(&str, [f64; 3])], more: &str) -> (Sim, Log) {
    let log = Log::default();
    let mut registry = standard_registry();
    let sheet = Sheet::new("sniffer", Kind::Sensor, "For these tests.").level("every", "Everything.");
    registry.add(Class::new(sheet, |_, _| Ok(Built::Senses(Arc::new(Sniffer)))));
    let sheet = Sheet::new("squares", Kind::Actuator, "For these tests.").level("every", "Everything.");
    registry.add(Class::new(sheet, |_, _| Ok(Built::Motions(Arc::new(Squares)))));
    let mut text = format!("format = 1\n[run]\nquantum = \"1s\"\n{head}\n{more}\n");
    let parts = [
        ("wheels", "wheels"),
        ("glider", "glider"),
        ("legs", "squares"),
        ("eye", "proximity"),
        ("skin", "contact"),
        ("nose", "sniffer"),
    ];
    for Type(name, outline, [start, timer, pushed]) in types {
        let actor = Actor { log: log.clone(), start: *start, timer: *timer, pushed: *pushed };
        add(&mut registry, name, actor);
        text.push_str(&type_text(name, outline, &parts));
    }
    text.push_str(&robots_text(robots));
    let sim = Sim::read("push.toml", &text, &NoFiles, &registry, &Options::default());
    (sim.unwrap_or_else(|e| panic!("{e}\n{text}")), log)
}

/// Runs to the end; answers what was said.
fn run(sim: &mut Sim) -> Vec<(f64, String)> {
    sim.take_notes(true);
    let mut said = Vec::new();
    while !sim.is_over() {
        for event in sim.step().expect("steps").events {
            if let RunEvent::Live(note) = event
                && let Note::Said(words) = note.what
            {
                said.push((note.at.since(Moment::ZERO), words));
            }
        }
    }
    said
}

fn of(log: &Log, robot: u32, tag: u64) -> Vec<(f64, Answer)> {
    let own = log.of(robot).into_iter().filter(|line| line.1.0 == tag);
    own.map(|(t, (_, answer))| (t, answer)).collect()
}

fn times(log: &Log, robot: u32, tag: u64) -> Vec<f64> {
    of(log, robot, tag).into_iter().map(|l| l.0).collect()
}

fn seen(answer: &Answer) -> &[Seen] {
    match answer {
        Answer::Seen(seen) => seen,
        _ => &[],
    }
}

fn look_out(cx: &mut Cx<'_>, tag: u64, what: WatchFor, every: Every) {
    cx.request(WATCH, LookOut::On { tag, watch: Watch { what, every } });
}

fn east(cx: &mut Cx<'_>, _log: &Log) {
    cx.go(MOTION, 1, Motion::Forward { distance: 16.0, speed: 2.0 });
}

fn near(times: &[f64], should: &[f64], within: f64) {
    assert_eq!(times.len(), should.len(), "{times:?}, not {should:?}");
    for (t, s) in times.iter().zip(should) {
        assert!((t - s).abs() <= within, "{times:?}, not {should:?}");
    }
}

const DISC: &str = "radius = 1";

/// A disc of radius 1 passes another at 3 m (outline to outline 1 m), at 2 m/s: it is within 1.5 m while the centres are
/// within 3.5 m, from 3.099 to 4.901 s. Looking every 0.25 s sees it at 3.25, 3.5, …, 4.75 s; switched off at 4.1 s,
/// until 4 s only.
#[test]
fn proximity_at_intervals_fires_repeats_and_is_silent_when_switched_off() {
    fn on(cx: &mut Cx<'_>, _log: &Log) {
        look_out(cx, 7, WatchFor::Near { range: 1.5 }, Every::Interval(0.25));
    }
    fn on_for_a_while(cx: &mut Cx<'_>, log: &Log) {
        on(cx, log);
        cx.set_timer(4.1);
    }
    fn off(cx: &mut Cx<'_>, _log: &Log) {
        cx.request(WATCH, LookOut::Off { tag: 7 });
    }
    let robots = [("guard", [8.0, 3.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let walker = || Type("walker", DISC, [east, nothing, nothing]);
    let head = "duration = \"10s\"";
    let types = [Type("guard", DISC, [on, nothing, nothing]), walker()];
    let (mut sim, log) = world(head, &types, &robots, "");
    run(&mut sim);
    near(&times(&log, 0, 7), &[3.25, 3.5, 3.75, 4.0, 4.25, 4.5, 4.75], 1e-9);
    for (t, answer) in of(&log, 0, 7) {
        // The point of the walker's rim that is nearest to the guard.
        let (guard, centre) = (Vec2::new(8.0, 3.0), Vec2::new(2.0 * t, 0.0));
        let point = centre + (guard - centre) * (1.0 / (guard - centre).norm());
        let [one] = seen(&answer) else { panic!("{answer:?}") };
        assert!(one.robot == Some(1) && (one.at - point).norm() < 1e-9, "{one:?}, not {point:?}");
    }
    let types = [Type("guard", DISC, [on_for_a_while, off, nothing]), walker()];
    let (mut sim, log) = world(head, &types, &robots, "");
    run(&mut sim);
    near(&times(&log, 0, 7), &[3.25, 3.5, 3.75, 4.0], 1e-9);
}

/// Touched at 4 s, left alone at 5.9 s: looking every 0.6 s feels it at 4.2, 4.8 and 5.4 s.
#[test]
fn a_contact_sensor_at_intervals_feels_what_touches_and_no_longer() {
    fn feel(cx: &mut Cx<'_>, _log: &Log) {
        look_out(cx, 2, WatchFor::Contact, Every::Interval(0.6));
    }
    fn east_and_back(cx: &mut Cx<'_>, log: &Log) {
        east(cx, log);
        cx.set_timer(5.9);
    }
    fn back(cx: &mut Cx<'_>, _log: &Log) {
        cx.go(MOTION, 2, Motion::Forward { distance: -3.0, speed: 2.0 });
    }
    let types = [
        Type("feeler", DISC, [feel, nothing, nothing]),
        Type("walker", DISC, [east_and_back, back, nothing]),
    ];
    let robots = [("feeler", [10.0, 0.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let (mut sim, log) = world("duration = \"10s\"", &types, &robots, "");
    run(&mut sim);
    near(&times(&log, 0, 2), &[4.2, 4.8, 5.4], 1e-9);
    let (_, answer) = of(&log, 0, 2).remove(0);
    let [one] = seen(&answer) else { panic!("{answer:?}") };
    assert!(one.robot == Some(1) && (one.at - Vec2::new(9.0, 0.0)).norm() < 1e-8, "{one:?}");
}

#[test]
fn a_contact_sensor_tells_the_light_of_what_touches() {
    fn feel(cx: &mut Cx<'_>, _log: &Log) {
        cx.shine(3);
        look_out(cx, 1, WatchFor::Contact, Every::Exact);
        look_out(cx, 2, WatchFor::Contact, Every::Interval(0.6));
    }
    fn shining_east(cx: &mut Cx<'_>, log: &Log) {
        cx.shine(7);
        look_out(cx, 1, WatchFor::Contact, Every::Exact);
        east(cx, log);
    }
    let types = [
        Type("feeler", DISC, [feel, nothing, nothing]),
        Type("walker", DISC, [shining_east, nothing, nothing]),
    ];
    let robots = [("feeler", [10.0, 0.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
    let (mut sim, log) = world("duration = \"5s\"", &types, &robots, "");
    run(&mut sim);
    for (robot, tag, other, light) in [(0, 1, 1, 7), (0, 2, 1, 7), (1, 1, 0, 3)] {
        let (_, answer) = of(&log, robot, tag).remove(0);
        let [one] = seen(&answer) else { panic!("{answer:?}") };
        assert_eq!((one.robot, one.light), (Some(other), light), "robot {robot}, watch {tag}");
    }
}

/// Bodies with corners, and discs that come round a bend, stop a skin's width from what they touch: looking every 0.6 s feels
/// it, a wall and a robot, from the contact on to the end.
#[test]
fn a_contact_sensor_at_intervals_feels_corners_and_bends_too() {
    fn feel(cx: &mut Cx<'_>, _log: &Log) {
        look_out(cx, 1, WatchFor::Contact, Every::Exact);
        look_out(cx, 2, WatchFor::Contact, Every::Interval(0.6));
    }
    fn straight(cx: &mut Cx<'_>, log: &Log) {
        feel(cx, log);
        east(cx, log);
    }
    fn bent(cx: &mut Cx<'_>, log: &Log) {
        feel(cx, log);
        cx.go(MOTION, 1, Motion::Arc { speed: 2.0, spin: 0.05, for_s: 8.0 });
    }
    let wall = "[[wall]]\nname = \"w\"\npoints = [[9.7, -20], [9.7, 20]]\n";
    for (outline, go) in
        [("size = [2, 1]", straight as Deed), ("size = [2, 1]", bent as Deed), (DISC, bent as Deed)]
    {
        for (more, other) in [(wall, [30.0, 0.0, 0.0]), ("", [9.3, 0.4, 0.4])] {
            let types = [
                Type("walker", outline, [go, nothing, nothing]),
                Type("still", "size = [1, 1]", [nothing, nothing, nothing]),
            ];
            let robots = [("walker", [0.0, 0.0, 0.0]), ("still", other)];
            let (mut sim, log) = world("duration = \"10s\"", &types, &robots, more);
            run(&mut sim);
            let touched = times(&log, 0, 1);
            assert!(touched.len() == 1 && touched[0] < 6.0, "{outline}: {touched:?}");
            let looks: Vec<f64> = (1..=16).map(|k| 0.6 * f64::from(k)).filter(|t| *t > touched[0]).collect();
            near(&times(&log, 0, 2), &looks, 1e-6);
        }
    }
}

/// Outlines 1.5 m apart, which is the range, at the very end of a motion: something has come. It goes away and comes again;
/// it goes on, and is there already.
#[test]
fn an_exact_watch_misses_nobody_who_stops_at_the_very_range() {
    fn watch(cx: &mut Cx<'_>, _log: &Log) {
        look_out(cx, 1, WatchFor::Near { range: 1.5 }, Every::Exact);
    }
    fn come(cx: &mut Cx<'_>, _log: &Log) {
        // From 0 to 4.5 m, at 2.25 s; away at 5 s for 1 s; at 8 s on to 5.5 m, past the range at 9 s; at 12 s on to 5.75 m.
        let now = cx.now().since(Moment::ZERO);
        let distance = match now as u32 {
            0 => 4.5,
            5 => -2.0,
            8 => 3.0,
            _ => 0.25,
        };
        cx.go(MOTION, 1, Motion::Forward { distance, speed: 2.0 });
        if now < 11.0 {
            cx.set_timer(if now == 0.0 {
                5.0
            } else if now < 6.0 {
                3.0
            } else {
                4.0
            });
        }
    }
    for (outline, within) in [(DISC, 1e-9), ("size = [2, 1]", 1e-6)] {
        let types =
            [Type("guard", DISC, [watch, nothing, nothing]), Type("walker", outline, [come, come, nothing])];
        let robots = [("guard", [8.0, 0.0, 0.0]), ("walker", [0.0, 0.0, 0.0])];
        let (mut sim, log) = world("duration = \"15s\"", &types, &robots, "");
        run(&mut sim);
        near(&times(&log, 0, 1), &[2.25, 9.0], within);
    }
    // The same with a wall, 1.5 m from the rim of the one that comes and watches.
    fn come_and_watch(cx: &mut Cx<'_>, log: &Log) {
        watch(cx, log);
        come(cx, log);
    }
    let types = [Type("walker", DISC, [come_and_watch, come, nothing])];
    let wall = "[[wall]]\nname = \"w\"\npoints = [[7, -5], [7, 5]]\n";
    let (mut sim, log) = world("duration = \"15s\"", &types, &[("walker", [0.0, 0.0, 0.0])], wall);
    run(&mut sim);
    near(&times(&log, 0, 1), &[2.25, 9.0], 1e-9);
}

/// A disc of radius 1 at (5, 0), a box whose side is at y = −3, a wall whose end is at (−4, 3): their nearest points, the
/// nearest first, and what is farther than 4.5 m not at all.
#[test]
fn proximity_answers_the_nearest_points_of_all_that_is_near() {
    fn ask(cx: &mut Cx<'_>, log: &Log) {
        for (tag, query) in [(1, Query::ProximityPoints { range: 4.5 }), (2, Query::Proximity { range: 4.5 })]
        {
            let answer = cx.pull(&query).expect("it has one");
            log.write(cx, (tag, answer));
        }
    }
    let more = "[[obstacle]]\nname = \"box\"\nsize = [4, 1]\nat = [0, -3.5]\n\
                [[wall]]\nname = \"w\"\npoints = [[-4, 3], [-4, 9]]\n";
    let types =
        [Type("asker", DISC, [ask, nothing, nothing]), Type("still", DISC, [nothing, nothing, nothing])];
    let robots = [("asker", [0.0, 0.0, 0.0]), ("still", [5.0, 0.0, 0.0]), ("still", [0.0, 7.0, 0.0])];
    let (mut sim, log) = world("duration = \"1s\"", &types, &robots, more);
    run(&mut sim);
    let (_, points) = of(&log, 0, 1).remove(0);
    let should = [(None, [0.0, -3.0]), (Some(1), [4.0, 0.0]), (None, [-4.0, 3.0])];
    assert_eq!(seen(&points).len(), should.len(), "{points:?}");
    for (one, (robot, [x, y])) in seen(&points).iter().zip(should) {
        assert!(one.robot == robot && (one.at - Vec2::new(x, y)).norm() < 1e-12, "{points:?}");
    }
    let (_, numbers) = of(&log, 0, 2).remove(0);
    assert_eq!(numbers, Answer::Numbers(vec![2.0, 3.0, 4.0]));
}

/// What comes near exactly: (when, where).
fn exact(outline: &'static str, start: Deed, more: &str) -> Vec<(f64, Vec2)> {
    let types = [Type("guard", outline, [start, nothing, nothing])];
    let (mut sim, log) = world("duration = \"12s\"", &types, &[("guard", [0.0, 0.0, 0.0])], more);
    run(&mut sim);
    let found = of(&log, 0, 1).into_iter();
    found.map(|(t, answer)| (t, seen(&answer).first().map_or(Vec2::ZERO, |s| s.at))).collect()
}

fn one_event(found: &[(f64, Vec2)], t: f64, at: Vec2, within: f64) {
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].0 - t).abs() <= within, "{found:?}, not at {t}");
    assert!((found[0].1 - at).norm() <= within, "{found:?}, not {at:?}");
}

/// A disc of radius 1 goes east at 2 m/s and looks out for what is within 0.5 m.
#[test]
fn an_exact_watch_sees_walls_corners_and_the_border_at_the_very_crossing() {
    fn go(cx: &mut Cx<'_>, log: &Log) {
        look_out(cx, 1, WatchFor::Near { range: 0.5 }, Every::Exact);
        east(cx, log);
    }
    // Face at 8 m.
    let face = exact(DISC, go, "[[obstacle]]\nname = \"w\"\nsize = [1, 4]\nat = [8.5, 0]");
    one_event(&face, (8.0 - 1.5) / 2.0, Vec2::new(8.0, 0.0), 1e-9);
    // The end of a wall, 1.2 m beside the way: √(1.5² − 1.2²) = 0.9 m before it.
    let end = exact(DISC, go, "[[wall]]\nname = \"w\"\npoints = [[6, 1.2], [6, 5]]");
    one_event(&end, (6.0 - 0.9) / 2.0, Vec2::new(6.0, 1.2), 1e-9);
    // A wall along the way, beyond the range; and one that is within it from the start.
    assert_eq!(exact(DISC, go, "[[wall]]\nname = \"w\"\npoints = [[-9, 1.6], [30, 1.6]]"), []);
    assert_eq!(exact(DISC, go, "[[wall]]\nname = \"w\"\npoints = [[-9, 1.4], [30, 1.4]]"), []);
    // The border.
    let border = exact(DISC, go, "[world]\nmin = [-5, -5]\nmax = [9, 5]");
    one_event(&border, (9.0 - 1.5) / 2.0, Vec2::new(9.0, 0.0), 1e-9);
}

/// A rectangle of 2 m by 1 m turns at 0.1 rad/s in front of a wall 1.5 m away and looks out for 0.4 m. Its corner is
/// sin θ + cos θ / 2 away from its middle: 1.1 m at θ = asin(1.1 / √1.25) − atan(1/2).
#[test]
fn an_exact_watch_goes_by_the_corners_of_an_outline() {
    fn turn(cx: &mut Cx<'_>, _log: &Log) {
        look_out(cx, 1, WatchFor::Near { range: 0.4 }, Every::Exact);
        cx.go(MOTION, 1, Motion::Turn { by: 1.1, turn_speed: 0.1 });
    }
    let found = exact("size = [2, 1]", turn, "[[wall]]\nname = \"w\"\npoints = [[-9, 1.5], [9, 1.5]]");
    let angle = (1.1 / 1.25_f64.sqrt()).asin() - 0.5_f64.atan();
    let corner = Vec2::new(angle.cos() - 0.5 * angle.sin(), 1.5);
    one_event(&found, angle / 0.1, corner, 1e-5);
    // Going east at 2 m/s, its front is 1 m ahead.
    fn go(cx: &mut Cx<'_>, log: &Log) {
        look_out(cx, 1, WatchFor::Near { range: 0.4 }, Every::Exact);
        east(cx, log);
    }
    let found = exact("size = [2, 1]", go, "[[wall]]\nname = \"w\"\npoints = [[9, 0.2], [9, 4]]");
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].0 - (9.0 - 1.4) / 2.0).abs() < 1e-8, "{found:?}");
}

const RANGE_M: f64 = 0.5;
const LOOK_S: f64 = 0.001;

fn guard(cx: &mut Cx<'_>, log: &Log) {
    look_out(cx, 1, WatchFor::Near { range: RANGE_M }, Every::Exact);
    look_out(cx, 2, WatchFor::Near { range: RANGE_M }, Every::Interval(LOOK_S));
    wander(cx, log);
}

/// Another motion every second or so.
fn wander(cx: &mut Cx<'_>, _log: &Log) {
    let draw = cx.chance();
    let speed = draw.between(0, 1.0, 5.0);
    let to = Vec2::new(draw.between(1, -5.0, 5.0), draw.between(2, -5.0, 5.0));
    let spin = draw.between(3, -3.0, 3.0);
    let motion = match draw.below(4, 5) {
        0 => Motion::Arc { speed, spin, for_s: f64::INFINITY },
        1 => Motion::Velocity { velocity: to * 0.5, for_s: 5.0 },
        2 => Motion::Turn { by: spin, turn_speed: speed },
        3 => Motion::MoveTo { to: to * 0.5, speed, turn_speed: 8.0 },
        _ => Motion::MoveTo { to, speed, turn_speed: 3.0 },
    };
    cx.go(MOTION, 9, motion);
    cx.set_timer(draw.between(5, 0.5, 2.5));
}

/// Notes how far from the range the nearest to it is, when the exact watch fires.
fn check_distance(cx: &mut Cx<'_>, log: &Log) {
    let last = log.last().map(|line| (line.1, line.2.0));
    if last == Some((cx.me(), 1))
        && let Ok(Answer::Numbers(all)) = cx.pull(&Query::Proximity { range: RANGE_M + 0.1 })
    {
        let off = all.iter().map(|d| (d - RANGE_M).abs()).fold(f64::INFINITY, f64::min);
        log.write(cx, (3, Answer::Numbers(vec![off])));
    }
}

/// The fixed things of the random worlds: their corners, and whether the last joins the first.
const FIXED: [(&[[f64; 2]], bool); 4] = [
    (&[[-6.0, -6.0], [6.0, -6.0], [6.0, 6.0], [-6.0, 6.0]], true),
    (&[[1.0, 1.0], [3.0, 1.5], [2.5, 3.0]], true),
    (&[[-4.0, -2.0], [-2.0, -2.0], [-2.0, -4.0]], false),
    (&[[-3.0, 2.0], [-1.0, 3.0]], false),
];

/// Which fixed thing a point is on.
fn whose(at: Vec2) -> u32 {
    let distance = |(corners, closed): &(&[[f64; 2]], bool)| {
        let sides = if *closed { corners.len() } else { corners.len() - 1 };
        let side = |k: usize| {
            let [a, b] = [corners[k], corners[(k + 1) % corners.len()]].map(|[x, y]| Vec2::new(x, y));
            let along = ((at - a).dot(b - a) / (b - a).norm2()).clamp(0.0, 1.0);
            (a + (b - a) * along - at).norm()
        };
        (0..sides).map(side).fold(f64::INFINITY, f64::min)
    };
    let found = FIXED.iter().position(|f| distance(f) < 1e-6);
    1000 + found.unwrap_or_else(|| panic!("{at:?} is on nothing")) as u32
}

fn thing(seen: &Seen) -> u32 {
    seen.robot.unwrap_or_else(|| whose(seen.at))
}

/// What the two ways to look have in common over one world: comings found by both, how many of these are of fixed things,
/// and short visits between two looks.
fn compare(seed: u32, outline: &'static str) -> [usize; 3] {
    let corners =
        |list: &[[f64; 2]]| list.iter().map(|[x, y]| format!("[{x}, {y}]")).collect::<Vec<_>>().join(", ");
    let more = format!(
        "[world]\nmin = [-6, -6]\nmax = [6, 6]\n[[obstacle]]\nname = \"o\"\npolygon = [{}]\n\
         [[wall]]\nname = \"a\"\npoints = [{}]\n[[wall]]\nname = \"b\"\npoints = [{}]\n",
        corners(FIXED[1].0),
        corners(FIXED[2].0),
        corners(FIXED[3].0)
    );
    let types = [
        Type("guard", outline, [guard, wander, check_distance]),
        Type("disc", "radius = 0.4", [wander, wander, nothing]),
        Type("hull", "size = [1.2, 0.5]", [wander, wander, nothing]),
    ];
    let robots = [
        ("guard", [0.0, 0.0, 0.3]),
        ("disc", [4.0, -3.0, 2.0]),
        ("hull", [-4.5, 4.5, 1.0]),
        ("hull", [4.5, 4.5, 0.0]),
        ("disc", [0.0, -4.5, 0.0]),
        ("hull", [-5.0, 0.0, 0.0]),
    ];
    // They pass through everything, so that they get everywhere.
    let head = format!("duration = \"8s\"\nseed = {seed}\ncontact = \"ghost\"");
    let (mut sim, log) = world(&head, &types, &robots, &more);
    sim.run_until(8.0).expect("runs");
    for (t, off) in of(&log, 0, 3) {
        let Answer::Numbers(off) = off else { continue };
        assert!(off[0] < 2e-6, "seed {seed}, at {t}: {off:?} m from the range");
    }
    // Who was seen at each look.
    let mut looks = vec![Vec::new(); (8.0 / LOOK_S).round() as usize + 2];
    for (t, answer) in of(&log, 0, 2) {
        looks[(t / LOOK_S).round() as usize] = seen(&answer).iter().map(thing).collect();
    }
    let mut told: Vec<(f64, u32)> = Vec::new();
    for (t, answer) in of(&log, 0, 1) {
        told.extend(seen(&answer).iter().map(|s| (t, thing(s))));
    }
    let (mut both, mut fixed, mut matched) = (0, 0, vec![false; told.len()]);
    for k in 2..looks.len() {
        for who in looks[k].iter().filter(|w| !looks[k - 1].contains(w)) {
            let (from, to) = ((k - 1) as f64 * LOOK_S - 1e-6, k as f64 * LOOK_S + 1e-6);
            let found = told.iter().position(|e| e.1 == *who && e.0 >= from && e.0 <= to);
            let found = found.unwrap_or_else(|| panic!("seed {seed}: {who} came at look {k}: {told:?}"));
            (both, matched[found]) = (both + 1, true);
            fixed += usize::from(*who >= 1000);
        }
    }
    let short = told.iter().zip(&matched).filter(|(_, m)| !**m).map(|(e, _)| *e);
    let short: Vec<(f64, u32)> = short.collect();
    for (t, who) in &short {
        let k = (t / LOOK_S).floor() as usize;
        assert!(!looks[k].contains(who), "seed {seed}: {who} came at {t} and was there already");
    }
    [both, fixed, short.len()]
}

#[test]
fn what_looking_every_millisecond_finds_an_exact_watch_finds_within_that_millisecond() {
    for outline in ["radius = 0.3", "size = [0.9, 0.4]"] {
        let (mut both, mut fixed, mut short) = (0, 0, 0);
        for seed in 1..=40 {
            let [b, f, s] = compare(seed, outline);
            (both, fixed, short) = (both + b, fixed + f, short + s);
        }
        println!(
            "{outline}: {both} comings found by both, {fixed} of them of fixed things, {short} short visits"
        );
        assert!(both - fixed > 30 && fixed > 60 && short * 20 < both, "{outline}: {both} {fixed} {short}");
    }
}

/// Robots that go by quanta, of another kind every quantum: who is not there at a look and is at the next has come between.
#[test]
fn an_exact_watch_follows_robots_that_go_by_quanta() {
    let more = "[type.quantal]\nradius = 0.15\n[[type.quantal.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
                base = 0.2\n[[type.quantal.part]]\nname = \"ring\"\nclass = \"range-rays\"\nrays = 12\n\
                start = 0.15\nrange = 1\n[type.quantal.controller]\nclass = \"wander\"\n\
                [[robot]]\nname = \"q\"\ntype = \"quantal\"\ncount = 12\nlayout = { class = \"circle\", radius = 2 }\n";
    let (mut come, mut told) = (0, 0);
    for seed in 1..=8 {
        let head = format!("duration = \"15s\"\nseed = {seed}\ncontact = \"ghost\"");
        let types = [Type("guard", "radius = 0.3", [guard, wander, check_distance])];
        let (mut sim, log) = world(&head, &types, &[("guard", [0.0, 0.0, 0.3])], more);
        sim.run_until(15.0).expect("runs");
        for (t, off) in of(&log, 0, 3) {
            let Answer::Numbers(off) = off else { continue };
            assert!(off[0] < 2e-6, "seed {seed}, at {t}: {off:?} m from the range");
        }
        let mut looks = vec![0; (15.0 / LOOK_S).round() as usize + 2];
        for (t, answer) in of(&log, 0, 2) {
            looks[(t / LOOK_S).round() as usize] = seen(&answer).len();
        }
        let times = times(&log, 0, 1);
        for k in 2..looks.len() {
            let (from, to) = ((k - 1) as f64 * LOOK_S - 1e-6, k as f64 * LOOK_S + 1e-6);
            let fired = times.iter().filter(|t| **t >= from && **t <= to).count();
            let more = looks[k].saturating_sub(looks[k - 1]);
            assert!(fired >= more, "seed {seed}: {more} came at look {k}, and {fired} were told: {times:?}");
            come += more;
        }
        told += times.len();
    }
    println!("{come} comings, {told} told");
    assert!(come > 20 && told <= come + come / 10, "{come} {told}");
}

/// A sensor of one's own. Asked, it answers its argument doubled and the number of robots. At intervals it tells when its
/// robot is east of a place; exactly, when something comes within a distance.
pub(crate) struct Sniffer;

impl EventSensor for Sniffer {
    fn pull(&self, query: &Query, world: &dyn Surroundings) -> Option<Answer> {
        let Query::Own { args, .. } = query else { return None };
        Some(Answer::Numbers(vec![2.0 * args.first()?, f64::from(world.robots())]))
    }

    fn push(&self, what: &WatchFor, world: &dyn Surroundings) -> Option<Option<Answer>> {
        let WatchFor::Own { args, .. } = what else { return None };
        let x = world.pose(world.me())?.at.x;
        Some((x >= *args.first()?).then(|| Answer::Numbers(vec![x])))
    }

    fn exact(&self, what: &WatchFor) -> Option<f64> {
        let WatchFor::Own { args, .. } = what else { return None };
        args.first().copied()
    }
}

/// A motion module of one's own: goes along a square, `args` being its side and the speed.
pub(crate) struct Squares;

impl MotionModule for Squares {
    fn plan(&self, from: Pose2, motion: &Motion) -> Option<Result<Plan, String>> {
        let Motion::Pattern { name, args } = motion else { return None };
        if name != "square" {
            return None;
        }
        let &[side, speed] = &args[..] else {
            return Some(Err("a square needs a side and a speed".to_owned()));
        };
        let (mut plan, mut at) = (Plan::default(), from);
        for corner in 1..=4 {
            plan.phases.extend(Plan::forward(at, side, speed).phases);
            at = plan.phases[plan.phases.len() - 1].end;
            plan.events.push((plan.phases.len() as u32, format!("corner {corner}")));
            plan.phases.extend(Plan::turn(at, PI / 2.0, PI / 2.0).phases);
            at = plan.phases[plan.phases.len() - 1].end;
        }
        Some(Ok(plan))
    }
}

fn nose(args: &[f64]) -> (String, Vec<f64>) {
    ("nose".to_owned(), args.to_vec())
}

#[test]
fn a_sensor_of_ones_own_is_asked_looks_at_intervals_and_watches_exactly() {
    fn sniff(cx: &mut Cx<'_>, log: &Log) {
        let (sensor, args) = nose(&[21.0]);
        let answer = cx.pull(&Query::Own { sensor, args }).expect("it has one");
        log.write(cx, (1, answer));
        let other = cx.pull(&Query::Own { sensor: "ear".to_owned(), args: Vec::new() });
        cx.say(&other.expect_err("it has none"));
        let (sensor, args) = nose(&[5.0]);
        look_out(cx, 2, WatchFor::Own { sensor, args }, Every::Interval(0.75));
        let (sensor, args) = nose(&[0.25]);
        look_out(cx, 3, WatchFor::Own { sensor, args }, Every::Exact);
        east(cx, log);
    }
    let types =
        [Type("walker", DISC, [sniff, nothing, nothing]), Type("still", DISC, [nothing, nothing, nothing])];
    let robots = [("walker", [0.0, 0.0, 0.0]), ("still", [8.5, 0.0, 0.0])];
    let (mut sim, log) = world("duration = \"5s\"", &types, &robots, "");
    let said = run(&mut sim);
    assert_eq!(of(&log, 0, 1), [(0.0, Answer::Numbers(vec![42.0, 2.0]))]);
    assert_eq!(said[0].1, "no sensor of this robot answers that");
    // East of 5 m from 2.5 s on, and stopped by a contact at 6.5 m, at 3.25 s.
    near(&times(&log, 0, 2), &[3.0, 3.75, 4.5], 1e-9);
    assert!(matches!(&of(&log, 0, 2)[0].1, Answer::Numbers(x) if (x[0] - 6.0).abs() < 1e-9));
    near(&times(&log, 0, 3), &[(8.5 - 2.25) / 2.0], 1e-9);
}

/// A square of 2 m at 1 m/s, with quarter turns of 1 s: 12 s, back where it began; corners at 2, 5, 8 and 11 s.
#[test]
fn a_motion_module_of_ones_own_plans_a_pattern_with_events() {
    fn square(cx: &mut Cx<'_>, _log: &Log) {
        cx.go(MOTION, 4, Motion::Pattern { name: "square".to_owned(), args: vec![2.0, 1.0] });
        cx.set_timer(20.0);
    }
    fn mistakes(cx: &mut Cx<'_>, _log: &Log) {
        cx.go(MOTION, 5, Motion::Pattern { name: "square".to_owned(), args: vec![2.0] });
        cx.go(MOTION, 6, Motion::Pattern { name: "circle".to_owned(), args: Vec::new() });
    }
    let types = [Type("walker", DISC, [square, mistakes, nothing])];
    let (mut sim, _) = world("duration = \"21s\"", &types, &[("walker", [1.0, 1.0, 0.0])], "");
    let said = run(&mut sim);
    let words: Vec<&str> = said.iter().map(|s| s.1.as_str()).collect();
    let should = [
        "passed 4 corner 1",
        "passed 4 corner 2",
        "passed 4 corner 3",
        "passed 4 corner 4",
        "ended 4 Finished",
        "cannot move: a square needs a side and a speed",
        "ended 5 Replaced",
        "cannot move: no motion module of this robot knows this motion",
        "ended 6 Replaced",
    ];
    assert_eq!(words, should);
    near(&said.iter().map(|s| s.0).collect::<Vec<_>>()[..5], &[2.0, 5.0, 8.0, 11.0, 12.0], 1e-8);
    let pose = sim.pose("/robots/r0").expect("is there");
    assert!((pose.at - Vec2::new(1.0, 1.0)).norm() < 1e-12 && pose.heading.abs() < 1e-12, "{pose:?}");
}

/// Two states that differ in what is going to happen have different hashes, also before it happens.
#[test]
fn the_hash_of_a_state_knows_what_robots_look_out_for_and_where_they_will_go() {
    fn hash(deed: Deed) -> u64 {
        let types = [Type("a", DISC, [deed, nothing, nothing])];
        let (mut sim, _) = world("duration = \"9s\"", &types, &[("a", [0.0; 3])], "");
        sim.step().expect("steps");
        sim.hash()
    }
    let deeds: [Deed; 8] = [
        |cx, _| look_out(cx, 1, WatchFor::Near { range: 1.0 }, Every::Interval(0.5)),
        |cx, _| look_out(cx, 1, WatchFor::Near { range: 1.5 }, Every::Interval(0.5)),
        |cx, _| look_out(cx, 1, WatchFor::Contact, Every::Interval(0.5)),
        |cx, _| {
            look_out(
                cx,
                1,
                WatchFor::Own { sensor: "nose".to_owned(), args: vec![1.0] },
                Every::Interval(0.5),
            )
        },
        |cx, _| {
            look_out(
                cx,
                1,
                WatchFor::Own { sensor: "nose".to_owned(), args: vec![2.0] },
                Every::Interval(0.5),
            )
        },
        // All of them turn to the north-east at first.
        |cx, _| cx.go(MOTION, 1, Motion::MoveTo { to: Vec2::new(4.0, 4.0), speed: 1.0, turn_speed: 0.5 }),
        |cx, _| cx.go(MOTION, 1, Motion::MoveTo { to: Vec2::new(5.0, 5.0), speed: 1.0, turn_speed: 0.5 }),
        |cx, _| cx.go(MOTION, 1, Motion::MoveTo { to: Vec2::new(5.0, 5.0), speed: 2.0, turn_speed: 0.5 }),
    ];
    let hashes: Vec<u64> = deeds.iter().map(|deed| hash(*deed)).collect();
    assert_eq!(hashes, deeds.iter().map(|deed| hash(*deed)).collect::<Vec<u64>>());
    for (k, one) in hashes.iter().enumerate() {
        assert!(!hashes[..k].contains(one), "deed {k} looks like an earlier one");
    }
}
