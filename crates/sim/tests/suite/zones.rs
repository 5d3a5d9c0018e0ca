//! Ground that slows robots down or swallows them: from its edges, on bends, after a push, and at the start.

use crate::acting::{Act, Log, MOTION, WATCH, add, robots_text, type_text};
use swarmyard_base::{Pose2, Twist2, Vec2};
use swarmyard_engine::{RunEvent, Zone, ZoneKind};
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{Cx, Ended, Every, Indication, LookOut, Motion, Segment, Watch, WatchFor};
use swarmyard_sim::{Options, Sim, standard_registry};

/// What robots were told: how motions ended, and `None` for a push sensor.
type Diary = Log<Option<Ended>>;
type Deed = fn(&mut Cx<'_>);

/// An algorithm that does something at the start and at timers, and writes down what it is told.
#[derive(Clone)]
struct Walker {
    diary: Diary,
    start: Deed,
    timer: Deed,
}

impl Act for Walker {
    fn start(&mut self, cx: &mut Cx<'_>) {
        (self.start)(cx);
    }

    fn told(&mut self, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Ended { how, .. } => self.diary.write(cx, Some(how)),
            Indication::Pushed { .. } => self.diary.write(cx, None),
            _ => {}
        }
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        (self.timer)(cx);
    }
}

fn nothing(_cx: &mut Cx<'_>) {}

/// What a type does at the start, and at timers.
fn deeds(start: Deed, timer: Deed) -> [Deed; 2] {
    [start, timer]
}

const SMALL: &str = "radius = 0.3";

/// A world with zones, and robots of types: name, outline, and what it does at the start and at timers.
fn world(text: &str, types: &[(&'static str, &str, [Deed; 2])], robots: &[(&str, [f64; 3])]) -> (Sim, Diary) {
    let diary = Diary::default();
    let mut registry = standard_registry();
    let mut text = format!("format = 1\n{text}\n");
    let parts = ["wheels", "glider", "proximity"].map(|part| (part, part));
    for (name, outline, [start, timer]) in types {
        add(&mut registry, name, Walker { diary: diary.clone(), start: *start, timer: *timer });
        text.push_str(&type_text(name, outline, &parts));
    }
    text.push_str(&robots_text(robots));
    let sim = Sim::read("zones.toml", &text, &NoFiles, &registry, &Options::default());
    (sim.unwrap_or_else(|e| panic!("{e}\n{text}")), diary)
}

/// Runs to the end; answers who was swallowed, in order.
fn run(sim: &mut Sim) -> Vec<String> {
    let mut swallowed = Vec::new();
    while !sim.is_over() {
        for event in sim.step().expect("steps").events {
            if let RunEvent::Swallowed { robot } = event {
                swallowed.push(sim.model().path_of(robot).expect("is there").to_owned());
            }
        }
    }
    swallowed
}

fn box_of(name: &str, [x0, x1]: [f64; 2], [y0, y1]: [f64; 2], what: &str) -> String {
    format!(
        "[[zone]]\nname = \"{name}\"\npoints = [[{x0}, {y0}], [{x1}, {y0}], [{x1}, {y1}], [{x0}, {y1}]]\n{what}\n"
    )
}

const HOLE: &str = "kind = \"swallow\"";

fn x(sim: &Sim, robot: &str) -> f64 {
    sim.pose(&format!("/robots/{robot}")).expect("is there").at.x
}

fn forward(cx: &mut Cx<'_>, distance: f64) {
    cx.go(MOTION, 1, Motion::Forward { distance, speed: 1.0 });
}

/// One goes on from the left edge of a hole, one from the right: both have stood exactly on it, and nothing happened.
#[test]
fn who_goes_on_from_the_edge_of_a_hole_is_swallowed_there() {
    fn to_the_edge(cx: &mut Cx<'_>) {
        forward(cx, 12.0);
        cx.set_timer(14.0);
    }
    fn on(cx: &mut Cx<'_>) {
        forward(cx, 8.0);
    }
    let head = "[run]\nquantum = \"1s\"\nduration = \"30s\"\n".to_owned();
    let text = head + &box_of("hole", [12.0, 15.0], [-1.0, 1.0], HOLE);
    let robots = [("walker", [0.0, 0.0, 0.0]), ("walker", [27.0, 0.0, std::f64::consts::PI])];
    let (mut sim, diary) = world(&text, &[("walker", SMALL, deeds(to_the_edge, on))], &robots);
    assert_eq!(run(&mut sim), ["/robots/r0", "/robots/r1"]);
    for robot in 0..2 {
        assert_eq!(diary.of(robot), [(12.0, Some(Ended::Finished)), (14.0, Some(Ended::Swallowed))]);
    }
    assert!((x(&sim, "r0") - 12.0).abs() < 1e-9 && (x(&sim, "r1") - 15.0).abs() < 1e-9);
}

/// 8 m to the edge of a river, a rest until 10 s, 4 m at a quarter of the speed, and 8 m: at 34 s, from either side.
#[test]
fn a_river_counts_from_its_edge_on() {
    fn to_the_edge(cx: &mut Cx<'_>) {
        forward(cx, 8.0);
        cx.set_timer(10.0);
    }
    fn on(cx: &mut Cx<'_>) {
        forward(cx, 12.0);
    }
    let head = "[run]\nquantum = \"1s\"\nduration = \"40s\"\n".to_owned();
    let text = head + &box_of("river", [8.0, 12.0], [-5.0, 5.0], "factor = 0.25");
    let robots = [("walker", [0.0, -1.0, 0.0]), ("walker", [20.0, 1.0, std::f64::consts::PI])];
    let (mut sim, diary) = world(&text, &[("walker", SMALL, deeds(to_the_edge, on))], &robots);
    run(&mut sim);
    for robot in 0..2 {
        let times: Vec<f64> = diary.of(robot).iter().map(|line| line.0).collect();
        assert!(times.len() == 2 && (times[1] - 34.0).abs() < 1e-6, "{times:?}");
    }
}

/// Each robot goes round a bend of its own, narrow or wide, from a place of its own.
fn bend(robot: u32) -> (Pose2, f64) {
    let part = |step: f64| (f64::from(robot) * step).fract();
    let pose =
        Pose2::new(6.0 * part(0.618_034) - 4.0, 5.0 * part(0.414_214) - 3.0, 6.0 * part(0.732_051) - 3.0);
    (pose, (2.0 * part(0.236_068) - 1.0) * if robot.is_multiple_of(2) { 2.0 } else { 0.03 })
}

/// Whoever dense sampling sees in the hole is swallowed when it gets there, and nobody else, but for who only dips into it
/// between two samples. The hole has a slanting side and a notch.
#[test]
fn on_bends_the_hole_is_where_dense_sampling_sees_it() {
    fn round(cx: &mut Cx<'_>) {
        let (_, spin) = bend(cx.me());
        cx.go(MOTION, 1, Motion::Arc { speed: 1.0, spin, for_s: 12.0 });
    }
    const CORNERS: [[f64; 2]; 5] = [[-2.0, -0.1], [4.0, 1.5], [1.0, -0.5], [4.0, -3.0], [-2.0, -2.5]];
    let points = CORNERS.map(|[x, y]| Vec2::new(x, y)).to_vec();
    let hole = Zone { path: String::new(), points, kind: ZoneKind::Swallow };
    let text = format!(
        "[run]\nquantum = \"1s\"\nduration = \"13s\"\ncontact = \"ghost\"\n\
         [[zone]]\nname = \"hole\"\npoints = {CORNERS:?}\n{HOLE}\n"
    );
    let places: Vec<Pose2> = (0..150).map(|k| bend(k).0).collect();
    let robots: Vec<(&str, [f64; 3])> =
        places.iter().map(|p| ("walker", [p.at.x, p.at.y, p.heading])).collect();
    let (mut sim, diary) = world(&text, &[("walker", "radius = 0.01", deeds(round, nothing))], &robots);
    run(&mut sim);
    let (mut born, mut fell, mut dips) = (0, 0, 0);
    for robot in 0..150 {
        let (pose, spin) = bend(robot);
        let told = diary.of(robot);
        if hole.holds(pose.at) {
            // It never started.
            assert_eq!(told, [], "{robot}");
            assert_eq!(sim.pose(&format!("/robots/r{robot}")).expect("is there").at, pose.at);
            born += 1;
            continue;
        }
        let arc = Segment::arc(0.0, pose, pose.rot(), Twist2::new(1.0, 0.0, spin));
        let step_s = 2e-3;
        let first = (1..6000).map(|k| f64::from(k) * step_s).find(|t| hole.holds(arc.position_at(*t)));
        let [(t, Some(how))] = told[..] else { panic!("{robot}: {told:?}") };
        match (first, how) {
            (Some(seen), Ended::Swallowed) if t > seen - step_s - 1e-6 && t < seen + 1e-6 => fell += 1,
            (None, Ended::Finished) => {}
            (_, Ended::Swallowed) if first.is_none_or(|seen| t < seen) => dips += 1,
            _ => panic!("{robot}: seen at {first:?}, {how:?} at {t}"),
        }
    }
    assert!(born > 10 && fell > 25 && dips < 4, "{born} {fell} {dips}");
}

/// A push at 4 s sends the second one off at 1 m/s. The river, 2 m at half the speed, takes it 4 s; at 13 s it is at the hole.
#[test]
fn who_glides_after_a_push_is_slowed_and_swallowed_as_well() {
    fn push(cx: &mut Cx<'_>) {
        forward(cx, 20.0);
    }
    let head = "[run]\nquantum = \"1s\"\nduration = \"20s\"\ncontact = \"impulse\"\nrest_speed = 0\n\
                [surface.ivory]\nrestitution = 1\nfriction = 0\n"
        .to_owned();
    let river = box_of("river", [7.0, 9.0], [-2.0, 2.0], "factor = 0.5");
    let text = head + &river + &box_of("hole", [12.0, 14.0], [-2.0, 2.0], HOLE);
    let ball = "radius = 0.5\nmass = 1\nsurface = \"ivory\"";
    let types = [("pusher", ball, deeds(push, nothing)), ("ball", ball, deeds(nothing, nothing))];
    let (mut sim, _) = world(&text, &types, &[("pusher", [0.0, 0.0, 0.0]), ("ball", [5.0, 0.0, 0.0])]);
    for (t, should) in [(6.0, 7.0), (8.0, 8.0), (10.0, 9.0), (12.0, 11.0)] {
        sim.run_until(t).expect("runs");
        assert!((x(&sim, "r1") - should).abs() < 1e-6, "{} at {t}", x(&sim, "r1"));
    }
    assert_eq!(run(&mut sim), ["/robots/r1"]);
    assert!((x(&sim, "r1") - 12.0).abs() < 1e-6, "{}", x(&sim, "r1"));
}

#[test]
fn who_is_born_in_a_hole_is_swallowed_at_once_and_check_says_so() {
    fn away(cx: &mut Cx<'_>) {
        forward(cx, 5.0);
    }
    let head = "[run]\nquantum = \"1s\"\nduration = \"5s\"\n".to_owned();
    let text = head + &box_of("hole", [-1.0, 1.0], [-1.0, 1.0], HOLE);
    let robots = [("walker", [0.0, 0.0, 0.0]), ("walker", [0.0, 3.0, 0.0])];
    let (mut sim, diary) = world(&text, &[("walker", SMALL, deeds(away, nothing))], &robots);
    let codes: Vec<&str> = sim.warnings().0.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["in-a-hole"]);
    assert!(sim.warnings().0[0].span.is_some());
    assert_eq!(run(&mut sim), ["/robots/r0"]);
    assert_eq!((diary.of(0), x(&sim, "r0"), x(&sim, "r1")), (Vec::new(), 0.0, 5.0));
}

/// In the river from 5 to 15 m: 3 m at half the speed to the hole in it, at 11 s. In the upper one another river, farther
/// down in the file, does not count: 5 + 20 + 5 s.
#[test]
fn a_hole_in_a_river_swallows_and_of_two_rivers_the_first_counts() {
    fn across(cx: &mut Cx<'_>) {
        forward(cx, 20.0);
    }
    let head = "[run]\nquantum = \"1s\"\nduration = \"40s\"\n".to_owned();
    let text = head
        + &box_of("wide", [5.0, 15.0], [-5.0, 5.0], "factor = 0.5")
        + &box_of("hole", [8.0, 10.0], [-1.0, 1.0], HOLE)
        + &box_of("narrow", [8.0, 10.0], [2.0, 4.0], "factor = 0.1");
    let robots = [("walker", [0.0, 0.0, 0.0]), ("walker", [0.0, 3.0, 0.0])];
    let (mut sim, diary) = world(&text, &[("walker", SMALL, deeds(across, nothing))], &robots);
    assert_eq!(run(&mut sim), ["/robots/r0"]);
    let ends = [0, 1].map(|robot| diary.of(robot));
    assert!(matches!(ends[0][..], [(t, Some(Ended::Swallowed))] if (t - 11.0).abs() < 1e-6), "{ends:?}");
    assert!(matches!(ends[1][..], [(t, Some(Ended::Finished))] if (t - 30.0).abs() < 1e-6), "{ends:?}");
}

/// One falls into the hole at 5 s; the other passes the place later, and its exact watch has nothing to tell of but the
/// other while it is there: it is 4.4 m behind, and never nearer.
#[test]
fn nobody_looks_out_for_who_has_been_swallowed() {
    fn ahead(cx: &mut Cx<'_>) {
        forward(cx, 9.0);
    }
    fn behind(cx: &mut Cx<'_>) {
        let watch = Watch { what: WatchFor::Near { range: 0.5 }, every: Every::Exact };
        cx.request(WATCH, LookOut::On { tag: 1, watch });
        forward(cx, 30.0);
    }
    let head = "[run]\nquantum = \"1s\"\nduration = \"35s\"\n".to_owned();
    let text = head + &box_of("hole", [5.0, 7.0], [-0.4, 0.4], HOLE);
    let types = [("ahead", SMALL, deeds(ahead, nothing)), ("behind", SMALL, deeds(behind, nothing))];
    let robots = [("ahead", [0.0, 0.0, 0.0]), ("behind", [-10.0, 0.8, 0.0])];
    let (mut sim, diary) = world(&text, &types, &robots);
    run(&mut sim);
    assert_eq!(diary.of(0), [(5.0, Some(Ended::Swallowed))]);
    let told = diary.of(1);
    assert!(matches!(told[..], [(_, Some(Ended::Finished))]), "{told:?}");
}

/// Zones are for robots that live by events: of others in the same world it is said.
#[test]
fn it_is_said_that_zones_do_nothing_to_robots_that_go_by_quanta() {
    let head = "[run]\nquantum = \"1s\"\nduration = \"5s\"\n".to_owned();
    let more = "[type.q]\nradius = 0.1\n[[type.q.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
                [type.q.controller]\nclass = \"cruise\"\n[[robot]]\nname = \"q\"\ntype = \"q\"\nat = [0, 9]\n";
    let text = head + &box_of("hole", [5.0, 7.0], [-1.0, 1.0], HOLE) + more;
    let (sim, _) =
        world(&text, &[("walker", SMALL, deeds(nothing, nothing))], &[("walker", [0.0, 0.0, 0.0])]);
    let found = &sim.warnings().0;
    assert!(found.len() == 1 && found[0].code == "no-effect" && found[0].path == "/types/q", "{found:?}");
    assert!(found[0].span.is_some());
}
