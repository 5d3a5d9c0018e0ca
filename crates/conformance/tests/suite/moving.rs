//! Obstacles that move by themselves, against closed forms: unfolded bounces, positions modulo the world,
//! integrals of scripts.

use swarmyard::Sim;
use swarmyard_base::Vec2;
use swarmyard_motion::SKIN_M;
use swarmyard_part_api::BodyKind;

fn load(text: &str) -> Sim {
    Sim::from_text(text).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// A world from (−2, −1) to (2, 1) after some simulated time.
fn after(run: &str, things: &str, seconds: f64) -> Sim {
    let mut sim = load(&format!(
        "format = 1\n[run]\n{run}\nduration = \"1h\"\n[world]\nmin = [-2, -1]\nmax = [2, 1]\n{things}"
    ));
    while sim.now().seconds() < seconds - 1e-9 {
        sim.step().expect("steps");
    }
    sim
}

fn at(sim: &Sim, name: &str) -> Vec2 {
    sim.pose(&format!("/obstacles/{name}")).expect("is there").at
}

#[track_caller]
fn near(found: Vec2, expected: (f64, f64), tolerance: f64) {
    let off = (found - Vec2::new(expected.0, expected.1)).norm();
    assert!(off < tolerance, "{found:?} is {off} off {expected:?}");
}

/// Where a point is that goes to and fro between two ends.
fn unfolded(x: f64, low: f64, high: f64) -> f64 {
    let width = high - low;
    let round = (x - low).rem_euclid(2.0 * width);
    low + if round > width { 2.0 * width - round } else { round }
}

const PUCK: &str = "[[obstacle]]\nname = \"puck\"\nat = [0.3, -0.2]\nradius = 0.1\nvelocity = [0.7, 0.43]\nat_edge = \"bounce\"\n";

/// Bounces happen a skin before the wall, so the box is that much smaller; how near to the skin a
/// contact is found adds a sixteenth of it each time.
#[test]
fn a_bouncing_disc_is_where_the_unfolded_line_says() {
    let mut bounces = 0;
    for run in [
        "quantum = \"100ms\"",
        "quantum = \"250ms\"",
        "quantum = \"5s\"",
        "quantum = \"50ms\"\ncontact = \"impulse\"",
    ] {
        let sim = after(run, PUCK, 60.0);
        let x = unfolded(0.3 + 0.7 * 60.0, -1.9 + SKIN_M, 1.9 - SKIN_M);
        let y = unfolded(-0.2 + 0.43 * 60.0, -0.9 + SKIN_M, 0.9 - SKIN_M);
        near(at(&sim, "puck"), (x, y), 3.0 * SKIN_M);
        let speed = sim.twist("/obstacles/puck").expect("is there").linear().norm();
        assert!((speed - (0.7_f64 * 0.7 + 0.43 * 0.43).sqrt()).abs() < 1e-12, "{speed}");
        bounces = sim.state().accounts.contacts;
    }
    // 42 m in a box of 3.8 m and 25.8 m in one of 1.8 m.
    assert_eq!(bounces, 11 + 14);
}

#[test]
fn a_disc_bounces_off_a_fixed_disc_and_a_slanted_wall() {
    let fixed = "[[obstacle]]\nat = [1, 0]\nradius = 0.3\n\
                 [[obstacle]]\nname = \"puck\"\nat = [-1, 0]\nradius = 0.1\nvelocity = [0.5, 0]\nat_edge = \"bounce\"\n";
    // It meets the disc at x = 0.6 after 3.2 s and has 1.4 s to go back.
    near(at(&after("", fixed, 4.6), "puck"), (0.6 - 0.7, 0.0), 3.0 * SKIN_M);
    let wall = "[[wall]]\npoints = [[0, -1], [1, 0]]\n\
                [[obstacle]]\nname = \"puck\"\nat = [-1, -0.5]\nradius = 0.1\nvelocity = [0.5, 0]\nat_edge = \"bounce\"\n";
    // The wall at 45° turns it north where its centre is 10 cm from it: at x = 0.5 − 0.1 √2, after 2.717157 s.
    let up = 0.5 * (4.0 - (1.5 - 0.1 * 2.0_f64.sqrt()) / 0.5);
    near(at(&after("", wall, 4.0), "puck"), (0.5 - 0.1 * 2.0_f64.sqrt(), -0.5 + up), 5.0 * SKIN_M);
}

#[test]
fn a_bouncing_obstacle_pushes_against_what_could_move() {
    let robot = "[type.post]\nradius = 0.1\n[[robot]]\ntype = \"post\"\nat = [1, 0]\n\
                 [[obstacle]]\nname = \"puck\"\nat = [0, 0]\nradius = 0.1\nvelocity = [0.5, 0]\nat_edge = \"bounce\"\n";
    near(at(&after("", robot, 10.0), "puck"), (0.8, 0.0), 3.0 * SKIN_M);
}

#[test]
fn a_turning_box_bounces_for_ever_and_stays_inside() {
    let text = "[[obstacle]]\nname = \"box\"\nat = [0.3, -0.2]\nsize = [0.5, 0.2]\nvelocity = [0.5, 0.3]\nspin = 1.3\nat_edge = \"bounce\"\n";
    for run in ["", "contact = \"impulse\""] {
        let sim = after(run, text, 120.0);
        let twist = sim.twist("/obstacles/box").expect("is there");
        let p = at(&sim, "box");
        assert!(p.x.abs() < 1.9 && p.y.abs() < 0.9, "{p:?}");
        assert!((twist.linear().norm() - 0.34_f64.sqrt()).abs() < 1e-9, "{twist:?}");
        assert!((twist.spin.abs() - 1.3).abs() < 1e-12, "{twist:?}");
        assert!(sim.state().accounts.contacts > 40, "{}", sim.state().accounts.contacts);
        assert_eq!(sim.state().accounts.impact_limits, 0);
    }
}

#[test]
fn bounces_survive_a_snapshot() {
    let mut sim = after("", PUCK, 20.0);
    let mut other = after("", PUCK, 0.0);
    other.restore(&sim.snapshot()).expect("restores");
    for _ in 0..50 {
        assert_eq!(sim.step().expect("steps").hash, other.step().expect("steps").hash);
    }
}

/// Under `impulse` and without friction a body that pushes goes along the wall; one that stops does not.
#[test]
fn what_stops_at_the_edge_stands_for_ever_and_what_pushes_goes_on() {
    let things = |at_edge: &str| {
        format!(
            "surface = \"ice\"\n[surface.ice]\nfriction = 0\nrestitution = 0\n[[obstacle]]\nname = \"o\"\nat = [1, -0.5]\nradius = 0.1\n\
             surface = \"ice\"\nvelocity = [0.5, 0.2]\nat_edge = \"{at_edge}\"\n"
        )
    };
    // At the wall after 1.8 s, at y = −0.14.
    for seconds in [3.0, 30.0] {
        let stops = after("contact = \"impulse\"", &things("stop"), seconds);
        near(at(&stops, "o"), (1.9, -0.14), 3.0 * SKIN_M);
    }
    let pushes = after("contact = \"impulse\"", &things("push"), 3.0);
    near(at(&pushes, "o"), (1.9, 0.1), 1e-3);
}

#[test]
fn what_wraps_is_where_free_motion_is_modulo_the_world() {
    let cart = "[[obstacle]]\nname = \"cart\"\nat = [0.3, -0.2]\nsize = [0.3, 0.2]\nvelocity = [0.77, -0.31]\nat_edge = \"wrap\"\n";
    for run in ["quantum = \"100ms\"", "quantum = \"50ms\"\ncontact = \"impulse\"", "quantum = \"12s\""] {
        let sim = after(run, cart, 60.0);
        let x = (0.3 + 0.77 * 60.0 + 2.0_f64).rem_euclid(4.0) - 2.0;
        let y = (-0.2 - 0.31 * 60.0 + 1.0_f64).rem_euclid(2.0) - 1.0;
        near(at(&sim, "cart"), (x, y), 1e-9);
        assert_eq!(sim.state().accounts.contacts, 0);
    }
}

#[test]
fn what_wraps_waits_outside_until_there_is_room() {
    let things = "[type.t]\nradius = 0.1\n[[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[type.t.controller]\nclass = \"external\"\n\
                  [[robot]]\nname = \"r\"\ntype = \"t\"\nat = [-1.85, 0]\n\
                  [[obstacle]]\nname = \"cart\"\nat = [1.82, 0]\nradius = 0.1\nvelocity = [0.5, 0]\nat_edge = \"wrap\"\n";
    let mut sim = after("", things, 0.0);
    let mut go = |speed: f64, steps: usize| {
        for _ in 0..steps {
            for wheel in ["left", "right"] {
                sim.command("/robots/r/drive", wheel, &[speed]).expect("takes it");
            }
            sim.step().expect("steps");
        }
        at(&sim, "cart")
    };
    near(go(0.0, 3), (1.97, 0.0), 1e-9);
    // It passes the border in the fourth quantum, and 13 cm are too few for two discs of 10 cm.
    near(go(0.0, 20), (2.02, 0.0), 1e-9);
    // The robot leaves by 5 cm a quantum: 18 cm, then 23 cm.
    near(go(0.5, 1), (2.02, 0.0), 1e-9);
    near(go(0.5, 1), (-1.98, 0.0), 1e-9);
    near(go(0.5, 1), (-1.93, 0.0), 1e-9);
}

#[test]
fn walls_inside_the_world_hold_what_wraps() {
    let things = "[[wall]]\npoints = [[1, -0.9], [1, 0.9]]\n\
                  [[obstacle]]\nname = \"cart\"\nat = [0, 0]\nradius = 0.1\nvelocity = [0.5, 0]\nat_edge = \"wrap\"\n";
    near(at(&after("", things, 20.0), "cart"), (0.9, 0.0), 3.0 * SKIN_M);
    // Nor does it come back into something solid: it would be inside of the block.
    let block = "[[obstacle]]\nat = [-1.5, 0]\nsize = [0.8, 1]\n\
                 [[obstacle]]\nname = \"cart\"\nat = [1.5, 0]\nradius = 0.05\nvelocity = [2, 0]\nat_edge = \"wrap\"\n";
    near(at(&after("quantum = \"400ms\"", block, 20.0), "cart"), (2.3, 0.0), 1e-9);
}

/// One round of 2 s: 0.8 s at 1 m/s east, 0.5 s at 2 m/s south turning by 1 rad/s. After three rounds and 1 s:
/// 3 · 0.8 + 0.75 m, −3 · 1 m, 3 · 0.5 rad.
#[test]
fn a_script_ends_where_its_integral_says() {
    for (quantum, frame, expected) in [
        ("100ms", 0.0, (3.15, -3.0)),
        ("70ms", 0.0, (3.15, -3.0)),
        ("7s", 0.0, (3.15, -3.0)),
        ("100ms", 90.0, (3.0, 3.15)),
    ] {
        let text = format!(
            "format = 1\n[run]\nquantum = \"{quantum}\"\nduration = \"1h\"\n[template.gate]\n[[template.gate.obstacle]]\nname = \"leaf\"\nsize = [1, 0.1]\n\
             script = [[0.25, 1, 0, 0], [1.05, 0, -2, 1], [\"1550ms\", 0, 0, 0]]\nrepeat = \"2s\"\n\
             [[use]]\ntemplate = \"gate\"\nname = \"g\"\nat = [0, 0, \"{frame}deg\"]\n"
        );
        let mut sim = load(&text);
        while sim.now().seconds() < 6.999 {
            sim.step().expect("steps");
        }
        let pose = sim.pose("/obstacles/g.leaf").expect("is there");
        near(pose.at, expected, 1e-9);
        assert!((pose.heading - 1.5 - f64::to_radians(frame)).abs() < 1e-9, "{pose:?}");
    }
}

#[test]
fn a_script_out_of_order_is_refused_at_its_place() {
    let text = "format = 1\n[[obstacle]]\nradius = 1\nscript = [[1, 1, 0, 0], [1, 0, 0, 0]]\n";
    let Err(error) = Sim::from_text(text) else { panic!("it loads") };
    let said = error.to_string();
    assert!(said.contains("bad-script") && said.contains(":4:10"), "{said}");
}

/// A robot's type makes an obstacle that drives, with channels of its own, and that others see as one.
#[test]
fn an_obstacle_of_a_robots_type_drives_like_one_and_is_an_obstacle() {
    let text = "format = 1\n[type.tug]\nsize = [0.4, 0.2]\nheight = 0.5\n[[type.tug.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
                [type.tug.controller]\nclass = \"cruise\"\nleft = 0.25\nright = 0.25\n\
                [type.eye]\nradius = 0.1\n[[type.eye.part]]\nname = \"rays\"\nclass = \"range-rays\"\nrays = 1\nrange = 5\n\
                [[robot]]\nname = \"r\"\ntype = \"eye\"\n[[robot]]\nname = \"same\"\ntype = \"tug\"\nat = [0, 5]\n\
                [[obstacle]]\nname = \"o\"\ntype = \"tug\"\nat = [1, 0]\n";
    let mut sim = load(text);
    for _ in 0..11 {
        sim.step().expect("steps");
    }
    near(at(&sim, "o"), (1.275, 0.0), 1e-12);
    assert_eq!(sim.channel("/obstacles/o/drive", "left_speed").expect("channel"), [0.25]);
    // Readings are of the start of the quantum.
    let (range, hit) = (sim.channel("/robots/r/rays", "range"), sim.channel("/robots/r/rays", "hit"));
    assert!((range.expect("channel")[0] - 1.05).abs() < 1e-12);
    assert_eq!(hit.expect("channel"), [3.0]);
    assert_eq!(sim.model().robots(), 2);
    let slot = sim.model().slot_of_path("/obstacles/o").expect("is there");
    assert_eq!((sim.model().kinds[slot], sim.model().heights_of(slot)), (BodyKind::Obstacle, (0.0, 0.5)));
}
