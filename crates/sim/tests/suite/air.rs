//! What a network sees of the world that robots live in, and what becomes of copies of messages there.

use crate::acting::{Act, LINK, MOTION, add, robots_text, type_text};
use std::sync::{Arc, Mutex};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2};
use swarmyard_engine::{Note, RunEvent};
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Air, Built, Class, Cx, Kind, Message, Motion, Network, NetworkModel, Outline, Sheet,
};
use swarmyard_radio::net::StillAir;
use swarmyard_sim::{Options, Sim, standard_registry};

/// A line, the edges it crosses, and its length inside of obstacles.
type Looked = (Vec2, Vec2, u32, f64);

/// A network that carries nothing, and writes down what lies on some lines whenever it is handed a message.
#[derive(Clone, Default)]
struct Surveyor(Arc<Mutex<Vec<Looked>>>);

impl NetworkModel for Surveyor {
    fn start(&self, _: u32) -> Box<dyn Network> {
        Box::new(self.clone())
    }
}

impl Network for Surveyor {
    fn send(&mut self, message: &Message, _: &[u32], air: &mut dyn Air) {
        for k in 0..500 {
            let draw = Draw::at(message.serial, Uid(1), Purpose::Test, Time::ZERO, k);
            let end = |n: u32| Vec2::new(draw.between(n, -6.0, 6.0), draw.between(n + 1, -6.0, 6.0));
            let (a, b) = (end(0), end(2));
            let (edges, inside) = air.obstructed(a, b);
            self.0.lock().expect("one thread").push((a, b, edges, inside));
        }
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

/// The first one drives east; all call each other every second.
#[derive(Clone)]
struct Caller;

impl Act for Caller {
    fn start(&mut self, cx: &mut Cx<'_>) {
        if cx.me() == 0 {
            cx.go(MOTION, 1, Motion::Forward { distance: 9.0, speed: 1.0 });
        }
        cx.set_timer(1.0);
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        cx.send_to(LINK, 1 - cx.me(), &());
        cx.set_timer(1.0);
    }
}

const CORNERS: [[f64; 2]; 6] = [[0.0, 0.0], [3.0, 0.0], [3.0, 1.0], [1.0, 1.0], [1.0, 2.0], [0.0, 2.0]];

/// Blocks, also one that is no convex one, discs, obstacles that can be moved, and a wall. The line may begin or end, or lie,
/// inside of one. An obstacle that is hit and pushed away counts where it is.
#[test]
fn obstacles_of_every_kind_stand_between_robots_where_they_are_now() {
    let surveyor = Surveyor::default();
    let mut registry = standard_registry();
    let sheet = Sheet::new("surveyor", Kind::Network, "For tests.");
    let made = surveyor.clone();
    registry.add(Class::new(sheet, move |_, _| Ok(Built::Network(Arc::new(made.clone())))));
    add(&mut registry, "caller", Caller);
    let mut text = String::from(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"8s\"\ncontact = \"impulse\"\n\
         [network]\nclass = \"surveyor\"\n\
         [[wall]]\nname = \"wall\"\npoints = [[-5, -5], [-5, 5]]\n\
         [[obstacle]]\nname = \"block\"\nsize = [2, 1]\nat = [3, 4, 0.5]\n\
         [[obstacle]]\nname = \"corner\"\nat = [-4, -5, 0.2]\n",
    );
    text += &format!("polygon = {CORNERS:?}\n");
    text += "[[obstacle]]\nname = \"pillar\"\nradius = 1\nat = [-2, 4]\n\
         [[obstacle]]\nname = \"ball\"\nradius = 0.5\nat = [-1, 0.1]\nmovable = true\n\
         [[obstacle]]\nname = \"crate\"\nsize = [1.5, 1]\nat = [2, 0.3, 0.7]\nmovable = true\n";
    text += &type_text("caller", "radius = 0.3", &[("wheels", "wheels")]);
    text += &robots_text(&[("caller", [-4.0, 0.0, 0.0]), ("caller", [5.0, -5.0, 0.0])]);
    let sim = Sim::read("test", &text, &NoFiles, &registry, &Options::default());
    let mut sim = sim.unwrap_or_else(|e| panic!("{e}\n{text}"));
    let was = sim.pose("/obstacles/ball").expect("is there");
    let (mut odd, mut looked) = (0, 0);
    while !sim.is_over() {
        sim.step().expect("steps");
        let pose = |name: &str| sim.pose(&format!("/obstacles/{name}"));
        let mut still = StillAir::new(0, 1);
        still.wall(Vec2::new(-5.0, -5.0), Vec2::new(-5.0, 5.0));
        let mut block = |name: &str, fixed: Option<[f64; 3]>, corners: &[Vec2]| {
            let fixed = fixed.map(|[x, y, heading]| swarmyard_base::Pose2::new(x, y, heading));
            let pose = fixed.or_else(|| pose(name)).expect("is there");
            still.block(&corners.iter().map(|c| pose.point(*c)).collect::<Vec<Vec2>>());
        };
        block("block", Some([3.0, 4.0, 0.5]), Outline::rectangle(2.0, 1.0).corners());
        block("corner", Some([-4.0, -5.0, 0.2]), &CORNERS.map(|[x, y]| Vec2::new(x, y)));
        block("crate", None, Outline::rectangle(1.5, 1.0).corners());
        still.disc(pose("pillar").expect("is there").at, 1.0);
        still.disc(pose("ball").expect("is there").at, 0.5);
        for (a, b, edges, inside) in std::mem::take(&mut *surveyor.0.lock().expect("one thread")) {
            let should = still.obstructed(a, b);
            let same = edges == should.0 && (inside - should.1).abs() < 1e-6;
            assert!(same, "{a:?} to {b:?}: {edges} edges and {inside} m, not {should:?}, at {}", sim.now());
            odd += edges % 2;
            looked += 1;
        }
    }
    assert!(looked >= 7000 && odd > 500, "{looked} lines, {odd} from or to inside");
    let moved = (sim.pose("/obstacles/ball").expect("is there").at - was.at).norm();
    assert!(moved > 0.1, "the ball has gone {moved} m");
}

/// Every copy is doubled, whatever the network decides and when, also where no time passes on the way.
#[test]
fn a_doubled_message_arrives_twice_over_every_class_of_network() {
    for network in [
        "class = \"constant\"",
        "class = \"constant\"\ndelay = 0",
        "class = \"constant\"\ndelay = 0\nfifo = true",
        "class = \"random\"",
        "class = \"uniform\"\nfifo = true",
        "class = \"metric\"",
        "class = \"metric\"\nfifo = true",
        "class = \"radio\"\nrange = 100",
    ] {
        let text = format!(
            "format = 1\n[run]\nquantum = \"1s\"\nduration = \"10s\"\n[network]\n{network}\nduplicate = 1\n\
             [type.dot]\nradius = 0.1\n[type.dot.algorithm]\nclass = \"roll-call\"\nevery = \"1s\"\n\
             [[robot]]\nname = \"r\"\ntype = \"dot\"\ncount = 2\nlayout = {{ class = \"circle\", radius = 2 }}\n"
        );
        let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        sim.take_notes(true);
        let [mut sent, mut came] = [const { Vec::<(u64, Moment)>::new() }; 2];
        while !sim.is_over() {
            for event in sim.step().expect("steps").events {
                let RunEvent::Live(note) = event else { continue };
                match note.what {
                    Note::Sent { serial, .. } => sent.push((serial, note.at)),
                    Note::Received { serial, .. } => came.push((serial, note.at)),
                    _ => {}
                }
            }
        }
        // What is sent at the very end is still on its way.
        let early: Vec<&(u64, Moment)> =
            sent.iter().filter(|s| s.1 < Moment::at(Time::from_seconds(9.0))).collect();
        assert!(early.len() >= 18, "{network}: {} sent", early.len());
        for (serial, at) in early {
            let times: Vec<Moment> = came.iter().filter(|c| c.0 == *serial).map(|c| c.1).collect();
            let twice = times.len() == 2 && times[0] < times[1] && *at <= times[0];
            // By at most as long as the first took.
            let soon = twice && times[1].since(times[0]) <= times[0].since(*at) + 1e-12;
            assert!(soon, "{network}: message {serial} of {at:?} came at {times:?}");
        }
    }
}
