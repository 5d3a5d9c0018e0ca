//! The rule `impulse` among robots that live by events, against closed forms: two discs, Galperin's billiard, Newton's
//! cradle. Everything is perfectly elastic and smooth.

use crate::acting::{Act, MOTION, add};
use swarmyard_base::Vec2;
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{Cx, Motion};
use swarmyard_sim::{Options, Sim, standard_registry};

/// Sets out with a velocity and then lets things happen.
#[derive(Clone)]
struct Thrown(Vec2);

impl Act for Thrown {
    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.0 != Vec2::ZERO {
            cx.go(MOTION, 0, Motion::Velocity { velocity: self.0, for_s: f64::INFINITY });
        }
    }
}

/// A disc: radius, mass, place, velocity.
struct Disc(f64, f64, [f64; 2], [f64; 2]);

/// Discs on a plane, and whatever else stands in it.
fn world(more: &str, discs: &[Disc]) -> Sim {
    let mut registry = standard_registry();
    let mut text = format!(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"1000s\"\ncontact = \"impulse\"\nrest_speed = 0\n\
         [surface.ivory]\nrestitution = 1\nfriction = 0\n{more}\n"
    );
    for (k, Disc(radius, mass, [x, y], [vx, vy])) in discs.iter().enumerate() {
        let name: &'static str = ["t0", "t1", "t2", "t3", "t4"][k];
        add(&mut registry, name, Thrown(Vec2::new(*vx, *vy)));
        text.push_str(&format!(
            "[type.{name}]\nradius = {radius}\nmass = {mass}\nsurface = \"ivory\"\n[[type.{name}.part]]\nname = \"glider\"\n\
             class = \"glider\"\n[type.{name}.algorithm]\nclass = \"{name}\"\n[[robot]]\nname = \"r{k}\"\ntype = \"{name}\"\n\
             at = [{x}, {y}]\n"
        ));
    }
    let sim = Sim::read("bounces.toml", &text, &NoFiles, &registry, &Options::default());
    sim.unwrap_or_else(|e| panic!("{e}\n{text}"))
}

fn velocity(sim: &Sim, k: usize) -> Vec2 {
    let path = format!("/robots/r{k}");
    let (pose, twist) = (sim.pose(&path).expect("is there"), sim.twist(&path).expect("is there"));
    // Twists are in the robot's frame.
    pose.rot().apply(twist.linear())
}

/// Equal discs exchange their velocities: the one that came stands, the other goes on with its speed.
#[test]
fn equal_discs_exchange_their_velocities() {
    let discs = [Disc(1.0, 1.0, [0.0, 0.0], [2.0, 0.0]), Disc(1.0, 1.0, [10.0, 0.0], [0.0, 0.0])];
    let mut sim = world("", &discs);
    sim.run_until(8.0).expect("runs");
    let [came, hit] = [0, 1].map(|k| velocity(&sim, k));
    assert!(came.norm() < 1e-12 && (hit - Vec2::new(2.0, 0.0)).norm() < 1e-12, "{came:?} {hit:?}");
    assert_eq!(sim.state().accounts.contacts, 1);
}

/// Only what goes along the line of centres is exchanged: with masses m and M, the impulse along it is
/// 2 m M / (m + M) times the closing speed.
#[test]
fn discs_of_any_mass_part_as_the_formula_says() {
    let (m0, m1, v0, v1) = (2.0, 3.0, Vec2::new(2.0, 0.5), Vec2::new(-1.0, 0.25));
    let (p0, p1) = (Vec2::new(0.0, 0.0), Vec2::new(9.0, 0.0));
    let discs = [Disc(1.0, m0, [p0.x, p0.y], [v0.x, v0.y]), Disc(0.5, m1, [p1.x, p1.y], [v1.x, v1.y])];
    let mut sim = world("", &discs);
    sim.run_until(10.0).expect("runs");
    // |r + v t| = 1.5
    let (r, v) = (p0 - p1, v0 - v1);
    let (a, b, c) = (v.norm2(), r.dot(v), r.norm2() - 1.5 * 1.5);
    let t = c / (-b + (b * b - a * c).sqrt());
    let n = (r + v * t) * (1.0 / 1.5);
    let j = -2.0 * m0 * m1 / (m0 + m1) * v.dot(n);
    let should = [v0 + n * (j / m0), v1 - n * (j / m1)];
    for (k, should) in should.iter().enumerate() {
        let is = velocity(&sim, k);
        assert!((is - *should).norm() < 1e-12, "{k}: {is:?}, not {should:?}");
    }
    assert_eq!(sim.state().accounts.contacts, 1);
    assert!(n.y.abs() > 0.1, "it is no head-on collision: {n:?}");
}

/// A great disc comes along a line towards a small one in front of a wall. Counted are all collisions, of the two and of
/// the small one with the wall: the digits of π (Galperin 2003), and never one more.
#[test]
fn galperins_billiard_counts_the_digits_of_pi() {
    // The wall's face is at x = 0.
    let wall = "[[obstacle]]\nname = \"wall\"\nsize = [1, 20]\nat = [-0.5, 0]\nsurface = \"ivory\"";
    for (mass, should) in [(1.0, 3), (100.0, 31), (10_000.0, 314), (1_000_000.0, 3141)] {
        let discs = [Disc(0.5, 1.0, [2.0, 0.0], [0.0, 0.0]), Disc(0.5, mass, [6.0, 0.0], [-1.0, 0.0])];
        let mut sim = world(wall, &discs);
        sim.run_until(1000.0).expect("runs");
        let [small, great] = [0, 1].map(|k| velocity(&sim, k));
        let energy = (small.norm2() + mass * great.norm2()) / mass - 1.0;
        println!("mass {mass}: {} collisions, energy off by {energy:e}", sim.state().accounts.contacts);
        assert_eq!(sim.state().accounts.contacts, should, "mass {mass}");
        assert!(small.x >= 0.0 && small.x <= great.x, "no more to come: {small:?} {great:?}");
        assert!(energy.abs() < 1e-12, "{energy}");
        assert!(small.y.abs() < 1e-12 && great.y.abs() < 1e-12, "{small:?} {great:?}");
    }
}

/// Five equal discs in a row, the ones that stand with gaps or in touch: as many leave at one end as come at the other, as
/// fast. (Who comes is not in touch: of two that touch, one sets out first and pushes the other.)
#[test]
fn newtons_cradle_lets_as_many_go_as_come() {
    for gap in [0.25, 0.0] {
        for coming in [1, 2, 3] {
            let at = |k: usize| {
                let near = (1.0 + gap) * k as f64;
                if k < coming { near - 2.0 - 0.1 * (coming - k) as f64 } else { near }
            };
            let speed = |k: usize| if k < coming { 1.0 } else { 0.0 };
            let discs: Vec<Disc> = (0..5).map(|k| Disc(0.5, 1.0, [at(k), 0.0], [speed(k), 0.0])).collect();
            let mut sim = world("", &discs);
            sim.run_until(20.0).expect("runs");
            for k in 0..5 {
                let should = Vec2::new(if k >= 5 - coming { 1.0 } else { 0.0 }, 0.0);
                let is = velocity(&sim, k);
                assert!((is - should).norm() < 1e-12, "gap {gap}, {coming} come, disc {k}: {is:?}");
            }
            // Every one that comes passes its velocity on, disc by disc.
            let contacts = sim.state().accounts.contacts;
            assert_eq!(contacts, (coming * (5 - coming)) as u64, "gap {gap}, {coming} come");
        }
    }
}
