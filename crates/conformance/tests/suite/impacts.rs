//! What impacts keep and what they may not create: single impacts, and impacts through the engine.

use swarmyard::Sim;
use swarmyard_base::{Uid, Vec2, math};
use swarmyard_conformance::Dice;
use swarmyard_engine::RunEvent;
use swarmyard_motion::{Impact, Material, SKIN_M, Side};
use swarmyard_part_api::Outline;

fn side(m: f64, i: f64, velocity: (f64, f64), arm: (f64, f64)) -> Side {
    Side {
        velocity: Vec2::new(velocity.0, velocity.1),
        spin: 0.0,
        arm: Vec2::new(arm.0, arm.1),
        inverse_mass: 1.0 / m,
        inverse_inertia: 1.0 / i,
    }
}

fn momentum(s: &Side) -> Vec2 {
    s.velocity * (1.0 / s.inverse_mass)
}

/// About the point of contact.
fn angular(s: &Side) -> f64 {
    (-s.arm).cross(s.velocity) / s.inverse_mass + s.spin / s.inverse_inertia
}

fn energy(s: &Side) -> f64 {
    0.5 * s.velocity.norm2() / s.inverse_mass + 0.5 * s.spin * s.spin / s.inverse_inertia
}

/// Row 5.1.
#[test]
fn equal_masses_head_on_swap_their_velocities() {
    let hit = Impact {
        a: side(1.0, 1.0, (1.0, 0.0), (0.5, 0.0)),
        b: side(1.0, 1.0, (-1.0, 0.0), (-0.5, 0.0)),
        normal: Vec2::new(-1.0, 0.0),
    };
    let (a, b) = hit.apply(hit.impulse(Material { restitution: 1.0, friction: 0.0 }, 0.0));
    assert!((a.velocity.x + 1.0).abs() < 1e-12 && (b.velocity.x - 1.0).abs() < 1e-12);
}

/// Row 5.2; the same from Chipmunk.
#[test]
fn two_kilograms_at_three_metres_per_second_hit_one_at_rest() {
    let hit = Impact {
        a: side(2.0, 1.0, (3.0, 0.0), (0.5, 0.0)),
        b: side(1.0, 1.0, (0.0, 0.0), (-0.5, 0.0)),
        normal: Vec2::new(-1.0, 0.0),
    };
    let (a, b) = hit.apply(hit.impulse(Material { restitution: 0.5, friction: 0.0 }, 0.0));
    assert!((a.velocity.x - 1.5).abs() < 1e-12 && (b.velocity.x - 3.0).abs() < 1e-12);
    assert!(
        (energy(&hit.a) + energy(&hit.b) - 9.0).abs() < 1e-12
            && (energy(&a) + energy(&b) - 6.75).abs() < 1e-12
    );
}

/// Row 5.3.
#[test]
fn an_eccentric_hit_gives_the_reference_numbers() {
    let hit = Impact {
        a: side(2.0, 0.4, (1.0, 0.0), (0.5, 0.3)),
        b: side(1.0, 0.2, (0.0, 0.0), (-0.5, 0.0)),
        normal: Vec2::new(-1.0, 0.0),
    };
    let j = hit.impulse(Material { restitution: 0.5, friction: 0.0 }, 0.0);
    let (a, b) = hit.apply(j);
    let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-9, "{x} is not {y}");
    near(j.normal, 0.869_565_217);
    near(a.velocity.x, 0.565_217_391);
    near(a.spin, 0.652_173_913);
    near(b.velocity.x, 0.869_565_217);
    near(momentum(&a).x + momentum(&b).x, 2.0);
    near(angular(&a) + angular(&b), 0.6);
    near(energy(&hit.a) + energy(&hit.b), 1.0);
    near(energy(&a) + energy(&b), 0.782_608_696);
}

fn random_side(dice: &mut Dice) -> Side {
    Side {
        velocity: dice.point(10.0),
        spin: dice.between(-20.0, 20.0),
        arm: dice.point(1.0),
        inverse_mass: 1.0 / dice.scale(0.01, 100.0),
        inverse_inertia: 1.0 / dice.scale(0.001, 100.0),
    }
}

/// Row 5.5, and Kane's paradox: friction must not create energy.
#[test]
fn any_impact_keeps_momentum_and_creates_no_energy() {
    let mut dice = Dice::new(21);
    let (mut hits, mut paradoxes, mut worst_p, mut worst_l, mut worst_e) = (0, 0, 0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..200_000 {
        let hit = Impact {
            a: random_side(&mut dice),
            b: random_side(&mut dice),
            normal: Vec2::at_angle(dice.angle()),
        };
        let smooth = dice.chance(0.3);
        let material = Material {
            restitution: dice.pick(&[0.0, 0.5, 1.0, dice.clone().unit()]),
            friction: if smooth { 0.0 } else { dice.scale(0.01, 10.0) },
        };
        let j = hit.impulse(material, 0.0);
        let (a, b) = hit.apply(j);
        let closing = hit.closing();
        if closing <= 0.0 {
            assert_eq!((j.normal, j.tangent), (0.0, 0.0), "bodies that part exchange nothing");
            continue;
        }
        hits += 1;
        let scale_p = momentum(&hit.a).norm() + momentum(&hit.b).norm() + j.normal;
        worst_p = math::max(
            worst_p,
            (momentum(&a) + momentum(&b) - momentum(&hit.a) - momentum(&hit.b)).norm() / scale_p,
        );
        let scale_l = angular(&hit.a).abs() + angular(&hit.b).abs() + scale_p;
        worst_l = math::max(
            worst_l,
            (angular(&a) + angular(&b) - angular(&hit.a) - angular(&hit.b)).abs() / scale_l,
        );
        let (before, after) = (energy(&hit.a) + energy(&hit.b), energy(&a) + energy(&b));
        worst_e = math::max(worst_e, (after - before) / before);
        assert!(j.tangent.abs() <= material.friction * j.normal * (1.0 + 1e-12), "beyond Coulomb's limit");
        let parting = -Impact { a, b, normal: hit.normal }.closing();
        if smooth {
            assert!(
                (parting - material.restitution * closing).abs() < 1e-9 * (1.0 + closing),
                "{parting} after {closing}"
            );
            if material.restitution == 1.0 {
                assert!((after - before).abs() < 1e-9 * before, "an elastic, smooth impact keeps energy");
            }
        }
        // The textbook's tangent impulse, uncut: does it gain energy here?
        let t = hit.normal.perp();
        let slide = (hit.a.point_velocity() - hit.b.point_velocity()).dot(t);
        let softness = |s: &Side| s.inverse_mass + s.arm.cross(t) * s.arm.cross(t) * s.inverse_inertia;
        let limit = material.friction * j.normal;
        let tangent = (-slide / (softness(&hit.a) + softness(&hit.b))).clamp(-limit, limit);
        let (a, b) = hit.apply(swarmyard_motion::Impulse { normal: j.normal, tangent });
        paradoxes += usize::from(energy(&a) + energy(&b) > before * (1.0 + 1e-9));
    }
    println!(
        "{hits} impacts, {paradoxes} would have gained energy uncut; worst relative errors: momentum {worst_p:e}, angular {worst_l:e}, energy gained {worst_e:e}"
    );
    assert!(worst_p < 1e-9 && worst_l < 1e-9 && worst_e < 1e-12);
    assert!(hits > 80_000 && paradoxes > 100, "Kane's paradox must come up: {paradoxes}");
}

#[test]
fn strong_friction_brings_the_sliding_of_round_bodies_to_rest() {
    let mut dice = Dice::new(22);
    for _ in 0..1000 {
        let n = Vec2::at_angle(dice.angle());
        let round = |dice: &mut Dice, arm: Vec2| Side { arm, ..random_side(dice) };
        let hit = Impact { a: round(&mut dice, -n), b: round(&mut dice, n), normal: n };
        if hit.closing() <= 0.1 {
            continue;
        }
        let slide = |a: &Side, b: &Side| (a.point_velocity() - b.point_velocity()).dot(n.perp()).abs();
        let (a, b) = hit.apply(hit.impulse(Material { restitution: 0.3, friction: 1e4 }, 0.0));
        assert!(slide(&a, &b) < 1e-9);
        let (a, b) = hit.apply(hit.impulse(Material { restitution: 0.3, friction: 1e-9 }, 0.0));
        assert!(slide(&hit.a, &hit.b) < 1e-3 || slide(&a, &b) > 1e-6, "almost no friction does not");
    }
}

/// Row 5.7, and the model takes it over.
#[test]
fn a_rectangle_of_two_by_one_metres_and_three_kilograms_has_inertia_one_and_a_quarter() {
    assert!((3.0 * Outline::rectangle(2.0, 1.0).inertia_per_mass() - 1.25).abs() < 1e-12);
    let sim =
        Sim::from_text("format = 1\n[[obstacle]]\nname = \"o\"\nsize = [2, 1]\nmass = 3\nmovable = true\n")
            .expect("loads");
    assert!((sim.model().body(0).inverse_inertia - 0.8).abs() < 1e-12);
}

/// A moving obstacle of a scenario.
struct Mover {
    shape: String,
    mass: f64,
    at: Vec2,
    heading: f64,
    velocity: Vec2,
    spin: f64,
}

impl Mover {
    fn text(&self, name: &str) -> String {
        format!(
            "[[obstacle]]\nname = \"{name}\"\n{}\nmass = {}\nat = [{}, {}, {}]\nvelocity = [{}, {}]\nspin = {}\nsurface = \"s\"\n",
            self.shape,
            self.mass,
            self.at.x,
            self.at.y,
            self.heading,
            self.velocity.x,
            self.velocity.y,
            self.spin
        )
    }
}

fn world(rule: &str, restitution: f64, friction: f64, rest: &str) -> String {
    format!(
        "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"{rule}\"\nfloor_friction = 0\nrest_speed = 0\n\
         [surface.s]\nrestitution = {restitution}\nfriction = {friction}\n{rest}"
    )
}

/// (momentum, angular momentum about the origin, energy, sizes of the first two)
fn totals(sim: &Sim, motion: impl Fn(usize) -> (Vec2, Vec2, f64)) -> (Vec2, f64, f64) {
    let (mut p, mut l, mut e) = (Vec2::ZERO, 0.0, 0.0);
    for slot in 0..sim.model().len() {
        let body = sim.model().body(slot);
        let (at, v, spin) = motion(slot);
        p = p + v * (1.0 / body.inverse_mass);
        l += at.cross(v) / body.inverse_mass + spin / body.inverse_inertia;
        e += 0.5 * v.norm2() / body.inverse_mass + 0.5 * spin * spin / body.inverse_inertia;
    }
    (p, l, e)
}

/// Row 5.5 through the engine: two bodies on collision course, one quantum.
#[test]
fn random_pairs_keep_momentum_and_angular_momentum_through_the_engine() {
    let mut dice = Dice::new(23);
    let (mut hits, mut limited, mut worst_p, mut worst_l, mut worst_gain) =
        (0, [0; 3], 0.0_f64, 0.0_f64, 0.0_f64);
    for _ in 0..1500 {
        let mut mover = |x: f64| {
            let shape = match dice.below(3) {
                0 => format!("radius = {}", dice.between(0.2, 0.8)),
                1 => format!("size = [{}, {}]", dice.between(0.3, 1.2), dice.between(0.3, 1.2)),
                // A polygon's mass sits at the body's origin: keep it symmetric.
                _ => "polygon = [[0.8, 0], [0, 0.5], [-0.8, 0], [0, -0.5]]".to_owned(),
            };
            Mover {
                shape,
                mass: dice.scale(0.1, 10.0),
                at: Vec2::new(x, dice.between(-0.6, 0.6)),
                heading: dice.angle(),
                velocity: Vec2::new(-x.signum() * dice.between(1.0, 5.0), dice.between(-0.5, 0.5)),
                spin: dice.between(-2.0, 2.0),
            }
        };
        let movers = [mover(-1.7), mover(1.7)];
        let (restitution, friction) = (dice.pick(&[0.0, 0.5, 1.0]), dice.pick(&[0.0, 0.4]));
        let bodies = movers[0].text("a") + &movers[1].text("b");
        let mut sim = Sim::from_text(&world("impulse", restitution, friction, &bodies)).expect("loads");
        let before = totals(&sim, |k| (movers[k].at, movers[k].velocity, movers[k].spin));
        let frame = sim.step().expect("steps");
        let state = sim.state();
        let after = totals(&sim, |k| {
            let (pose, twist) = (state.pose[k], state.twist[k]);
            (pose.at, pose.rot().apply(twist.linear()), twist.spin)
        });
        if frame.events.iter().any(|e| matches!(e, RunEvent::ImpactLimit(_))) {
            // They stay in touch and turn: too many impacts for one quantum, so both stand and it is said.
            limited[(2.0 * restitution) as usize] += 1;
            assert!(after.2 < before.2);
            continue;
        }
        let size = (2.0 * before.2 * 20.0).sqrt();
        worst_p = math::max(worst_p, (after.0 - before.0).norm() / size);
        worst_l = math::max(worst_l, (after.1 - before.1).abs() / size);
        worst_gain = math::max(worst_gain, (after.2 - before.2) / before.2);
        let contacts = frame.events.iter().filter(|e| matches!(e, RunEvent::Contact(_))).count();
        hits += usize::from(contacts > 0);
        if contacts > 0 && restitution == 1.0 && friction == 0.0 {
            assert!(
                (after.2 / before.2 - 1.0).abs() < 1e-9,
                "an elastic impact keeps energy: {before:?} {after:?}\n{bodies}"
            );
        }
        if contacts == 1 && restitution < 1.0 {
            assert!(after.2 < before.2, "an inelastic impact loses energy");
        }
    }
    println!(
        "{hits} pairs met, {limited:?} reached the impact limit; worst relative errors: momentum {worst_p:e}, angular {worst_l:e}, energy gained {worst_gain:e}"
    );
    assert!(
        hits > 800
            && limited.iter().sum::<usize>() < hits / 2
            && worst_p < 1e-9
            && worst_l < 1e-9
            && worst_gain < 1e-9
    );
}

/// Rows 5.1 and 5.2 through the engine.
#[test]
fn the_engine_gives_the_reference_velocities() {
    for (masses, speeds, restitution, expected) in
        [((1.0, 1.0), (1.0, -1.0), 1.0, (-1.0, 1.0)), ((2.0, 1.0), (3.0, 0.0), 0.5, (1.5, 3.0))]
    {
        let disc = |mass: f64, x: f64, v: f64| Mover {
            shape: "radius = 0.2".into(),
            mass,
            at: Vec2::new(x, 0.0),
            heading: 0.0,
            velocity: Vec2::new(v, 0.0),
            spin: 0.0,
        };
        let bodies = disc(masses.0, -0.5, speeds.0).text("a") + &disc(masses.1, 0.5, speeds.1).text("b");
        let mut sim = Sim::from_text(&world("impulse", restitution, 0.0, &bodies)).expect("loads");
        sim.step().expect("steps");
        let v = |who: &str| sim.twist(who).expect("is there").forward;
        assert!(
            (v("/obstacles/a") - expected.0).abs() < 1e-12 && (v("/obstacles/b") - expected.1).abs() < 1e-12
        );
    }
}

#[test]
fn below_the_rest_speed_nothing_bounces() {
    for (speed, bounces) in [(0.05, false), (0.099, false), (0.101, true), (2.0, true)] {
        let text = format!(
            "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"impulse\"\nrest_speed = 0.1\n[surface.s]\nrestitution = 0.8\nfriction = 0\n\
             [[wall]]\nname = \"w\"\npoints = [[0.12, -1], [0.12, 1]]\nsurface = \"s\"\n\
             [[obstacle]]\nname = \"o\"\nradius = 0.1\nvelocity = [{speed}, 0]\nsurface = \"s\"\n"
        );
        let mut sim = Sim::from_text(&text).expect("loads");
        sim.step().expect("steps");
        let after = sim.twist("/obstacles/o").expect("is there").forward;
        let expected = if bounces { -0.8 * speed } else { 0.0 };
        assert!((after - expected).abs() < 1e-6, "{speed}: {after} is not {expected}");
    }
}

#[test]
fn a_body_beyond_its_impact_limit_is_reported_and_stands() {
    let text = "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"impulse\"\nimpact_limit = 10\n[surface.s]\nrestitution = 1\nfriction = 0\n\
        [[wall]]\nname = \"l\"\npoints = [[-0.2, -1], [-0.2, 1]]\nsurface = \"s\"\n[[wall]]\nname = \"r\"\npoints = [[0.2, -1], [0.2, 1]]\nsurface = \"s\"\n\
        [[obstacle]]\nname = \"o\"\nradius = 0.1\nvelocity = [50, 0]\nsurface = \"s\"\n[[obstacle]]\nname = \"free\"\nradius = 0.1\nat = [5, 0]\nvelocity = [1, 0]\n";
    let mut sim = Sim::from_text(text).expect("loads");
    for quantum in 1..=3 {
        let frame = sim.step().expect("steps");
        let limits: Vec<&RunEvent> =
            frame.events.iter().filter(|e| matches!(e, RunEvent::ImpactLimit(_))).collect();
        assert_eq!(limits, [&RunEvent::ImpactLimit(Uid::of_path("/obstacles/o"))]);
        assert!(
            sim.twist("/obstacles/o").expect("is there").is_rest(),
            "it stands for the rest of the quantum"
        );
        assert!(sim.pose("/obstacles/o").expect("is there").at.x.abs() < 0.1, "and has not left");
        let contacts = frame.events.iter().filter(|e| matches!(e, RunEvent::Contact(_))).count();
        assert_eq!(contacts, 11, "ten impacts and the one too many");
        assert_eq!(sim.state().accounts.impact_limits, quantum);
    }
    assert!((sim.pose("/obstacles/free").expect("is there").at.x - 8.0).abs() < 1e-9, "others go on");
    let mut patient =
        Sim::from_text(&text.replace("impact_limit = 10", "impact_limit = 100000")).expect("loads");
    patient.step().expect("steps");
    assert_eq!(patient.state().accounts.impact_limits, 0, "with a high limit nothing is reported");
    assert!(patient.state().accounts.contacts > 200);
}

#[test]
fn a_resting_contact_lasts_a_thousand_quanta_without_drift() {
    for rule in ["stop", "impulse"] {
        let mut sim = Sim::from_text(&format!(
            "format = 1\n[run]\nquantum = \"50ms\"\ncontact = \"{rule}\"\nrest_speed = 1\n[world]\nmin = [-2, -2]\nmax = [2, 2]\n\
             [type.a]\nsize = [0.2, 0.2]\n[[type.a.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n[[type.a.part]]\nname = \"bumper\"\nclass = \"bumper\"\n\
             [type.a.controller]\nclass = \"cruise\"\nleft = 0.5\nright = 0.5\n[type.b]\nradius = 0.1\n[[type.b.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\
             [[type.b.part]]\nname = \"bumper\"\nclass = \"bumper\"\n[type.b.controller]\nclass = \"cruise\"\nleft = 0.5\nright = 0.5\n\
             [[robot]]\nname = \"box\"\ntype = \"a\"\nat = [1.7, 0]\n[[robot]]\nname = \"disc\"\ntype = \"b\"\nat = [1.7, 1]\n"
        ))
        .expect("loads");
        sim.run_until(1.0).expect("runs");
        let start = ["box", "disc"].map(|r| sim.pose(&format!("/robots/{r}")).expect("is there"));
        for quantum in 0..1000 {
            sim.step().expect("steps");
            for (robot, before) in ["box", "disc"].into_iter().zip(start) {
                let pose = sim.pose(&format!("/robots/{robot}")).expect("is there");
                let gap = 2.0 - 0.1 - pose.at.x;
                assert!(gap > 0.0 && gap < 2.0 * SKIN_M, "{rule} {robot}, quantum {quantum}: gap {gap}");
                assert!(
                    (pose.at.y - before.at.y).abs() < 1e-6 && pose.heading.abs() < 1e-6,
                    "{rule} {robot} drifts: {pose:?}"
                );
                assert_eq!(
                    sim.channel(&format!("/robots/{robot}/bumper"), "pressed").expect("channel")[0],
                    1.0,
                    "{rule} {robot} {quantum}"
                );
            }
        }
    }
}

#[test]
fn floor_friction_stops_what_was_pushed_where_the_formula_says() {
    // The ball stops dead (equal masses, elastic) and hands its 2 m/s to the puck.
    let mut sim = Sim::from_text(
        "format = 1\n[run]\nquantum = \"1ms\"\ncontact = \"impulse\"\nfloor_friction = 0.2\n[surface.s]\nrestitution = 1\nfriction = 0\n\
         [type.t]\nradius = 0.1\nsurface = \"s\"\n[[type.t.part]]\nname = \"drive\"\nclass = \"diff-drive\"\nmax_speed = 2\n[type.t.controller]\nclass = \"external\"\n\
         [[robot]]\nname = \"bot\"\ntype = \"t\"\nat = [-0.5, 0]\n[[obstacle]]\nname = \"puck\"\nradius = 0.1\nat = [0, 0]\nmovable = true\nsurface = \"s\"\n",
    )
    .expect("loads");
    let drive = |sim: &mut Sim, speed: f64| {
        for wheel in ["left", "right"] {
            sim.command("/robots/bot/drive", wheel, &[speed]).expect("takes it");
        }
    };
    drive(&mut sim, 2.0);
    while sim.state().accounts.contacts == 0 {
        sim.step().expect("steps");
    }
    drive(&mut sim, 0.0);
    let mut last = f64::INFINITY;
    for _ in 0..1500 {
        sim.step().expect("steps");
        let speed = sim.twist("/obstacles/puck").expect("is there").forward;
        assert!(speed <= last && speed >= 0.0);
        last = speed;
    }
    let travelled = sim.pose("/obstacles/puck").expect("is there").at.x;
    let formula = 2.0 * 2.0 / (2.0 * 0.2 * 9.81);
    assert!(last == 0.0 && (travelled - formula).abs() < 0.005, "{travelled} is not {formula}");
}

#[test]
fn under_own_each_body_brings_its_rule() {
    let scenario = |a: &str, b: &str| {
        format!(
            "format = 1\n[run]\nquantum = \"1s\"\ncontact = \"own\"\n[surface.s]\nrestitution = 1\nfriction = 0\n\
             [[obstacle]]\nname = \"a\"\nradius = 0.2\nat = [-0.5, 0]\nvelocity = [1, 0]\nsurface = \"s\"\non_contact = \"{a}\"\n\
             [[obstacle]]\nname = \"b\"\nradius = 0.2\nat = [0.5, 0]\nvelocity = [-1, 0]\nsurface = \"s\"\non_contact = \"{b}\"\n"
        )
    };
    for (a, b, expected) in [
        ("impulse", "impulse", (-1.0, 1.0)),
        ("stop", "stop", (0.0, 0.0)),
        // A body that stops is a wall that comes at 1 m/s: the other leaves with 1 + 2.
        ("stop", "impulse", (0.0, 3.0)),
        ("impulse", "stop", (-3.0, 0.0)),
    ] {
        let mut sim = Sim::from_text(&scenario(a, b)).expect("loads");
        let frame = sim.step().expect("steps");
        let v = |who: &str| sim.twist(who).expect("is there").forward;
        let got = (v("/obstacles/a"), v("/obstacles/b"));
        assert!((got.0 - expected.0).abs() < 1e-9 && (got.1 - expected.1).abs() < 1e-9, "{a}, {b}: {got:?}");
        let Some(RunEvent::Contact(contact)) = frame.events.first() else { panic!("a contact is reported") };
        assert_eq!(contact.impulse == 0.0, (a, b) == ("stop", "stop"), "two that stop exchange nothing");
    }
}
