//! Which robots a `view` sees: by the centre, the nearest first, oneself never, and those that go by quanta as well.

use crate::acting::{Act, Log, MOTION, add, robots_text, type_text};
use swarmyard_base::Vec2;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{Answer, Cx, Motion, Query, Seen};
use swarmyard_sim::{Options, Sim, standard_registry};

/// An algorithm that glides about, and now and then writes down what its view and its gps tell it.
/// What a look finds: those in view, and everybody.
type Looks = Log<(Vec<Seen>, Vec<Seen>)>;

#[derive(Clone)]
struct Watcher(Looks);

const RANGE_M: f64 = 3.0;

fn seen(cx: &mut Cx<'_>, query: &Query) -> Vec<Seen> {
    match cx.pull(query) {
        Ok(Answer::Seen(seen)) => seen,
        other => panic!("{other:?}"),
    }
}

impl Watcher {
    fn look(&self, cx: &mut Cx<'_>) {
        let view = seen(cx, &Query::View { range: RANGE_M });
        let all = seen(cx, &Query::GpsAll { error: 0.0 });
        self.0.write(cx, (view, all));
        let draw = cx.chance();
        let velocity = Vec2::new(draw.between(0, -3.0, 3.0), draw.between(1, -3.0, 3.0));
        let spin = draw.between(2, -1.0, 1.0);
        let motion = match draw.below(3, 3) {
            0 => Motion::Velocity { velocity, for_s: 1.0 },
            1 => Motion::Arc { speed: 2.0, spin, for_s: 1.0 },
            _ => Motion::Turn { by: spin, turn_speed: 1.0 },
        };
        cx.go(MOTION, 1, motion);
        cx.set_timer(draw.between(4, 0.2, 1.5));
    }
}

impl Act for Watcher {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.look(cx);
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        self.look(cx);
    }
}

fn world(text: &str, robots: &[(&str, [f64; 3])]) -> (Sim, Looks) {
    let log = Log::default();
    let mut registry = standard_registry();
    add(&mut registry, "watcher", Watcher(log.clone()));
    let parts = ["wheels", "glider", "view", "gps"].map(|part| (part, part));
    let types = type_text("watcher", "radius = 0.2", &parts);
    let text = format!("format = 1\n{text}\n{types}{}", robots_text(robots));
    let sim = Sim::read("sight.toml", &text, &NoFiles, &registry, &Options::default());
    (sim.unwrap_or_else(|e| panic!("{e}\n{text}")), log)
}

/// By going through all that a gps knows: who is within the range, sorted by distance and number. Two stand at exactly the
/// same distance from a third.
#[test]
fn a_view_tells_what_going_through_everybody_finds() {
    let mut robots =
        vec![("watcher", [0.0, 0.0, 0.0]), ("watcher", [2.0, 0.0, 0.0]), ("watcher", [-2.0, 0.0, 0.0])];
    for k in 0..60 {
        let (column, row) = (f64::from(k % 8), f64::from(k / 8));
        robots.push(("watcher", [1.5 * column - 5.0, 1.5 * row + 2.0, 0.1 * f64::from(k)]));
    }
    for contact in ["stop", "ghost"] {
        let head = format!("[run]\nquantum = \"1s\"\nduration = \"4s\"\ncontact = \"{contact}\"\n");
        let (mut sim, log) = world(&head, &robots);
        sim.run_until(4.0).expect("runs");
        let lines = log.take();
        let mut many = 0;
        for (t, me, (view, all)) in &lines {
            let own = all.iter().find(|s| s.robot == Some(*me)).expect("it sees itself").at;
            let others = all.iter().filter(|s| s.robot != Some(*me));
            let mut should: Vec<(f64, Seen)> = others.map(|s| ((s.at - own).norm(), *s)).collect();
            should.retain(|s| s.0 <= RANGE_M);
            should.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.robot.cmp(&b.1.robot)));
            let should: Vec<Seen> = should.into_iter().map(|s| s.1).collect();
            assert_eq!(*view, should, "{contact}: robot {me} at {t}");
            many += view.len();
        }
        assert!(lines.len() > 150 && many > 4 * lines.len(), "{} {many}", lines.len());
    }
}

#[test]
fn a_view_sees_robots_that_go_by_quanta_and_no_obstacles() {
    let text = "[run]\nquantum = \"100ms\"\nduration = \"1s\"\n\
                [type.q]\nradius = 0.1\n[[type.q.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
                [type.q.controller]\nclass = \"cruise\"\n\
                [[robot]]\nname = \"q\"\ntype = \"q\"\nat = [1, 1]\n\
                [[robot]]\nname = \"far\"\ntype = \"q\"\nat = [4, 1]\n\
                [[obstacle]]\nname = \"puck\"\nradius = 0.1\nmovable = true\nat = [0, -1]\n";
    let (mut sim, log) = world(text, &[("watcher", [0.0, 0.0, 0.0]), ("watcher", [-2.5, 0.0, 0.0])]);
    sim.run_until(0.1).expect("runs");
    let (_, (view, _)) = log.of(0).remove(0);
    let found: Vec<(Option<u32>, Vec2)> = view.iter().map(|s| (s.robot, s.at)).collect();
    assert_eq!(found, [(None, Vec2::new(1.0, 1.0)), (Some(1), Vec2::new(-2.5, 0.0))]);
}
