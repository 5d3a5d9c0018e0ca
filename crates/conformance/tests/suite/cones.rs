//! The nearest thing in a cone, against dense fans of rays by parry; and lines of sight, against
//! walking along them.

use std::f64::consts::PI;
use swarmyard::Sim;
use swarmyard_base::{Pose2, Vec2, math};
use swarmyard_conformance::oracle::Thing;
use swarmyard_conformance::{Dice, Yard};
use swarmyard_part_api::{BodyKind, Cone, Fan, Outline};

/// Two oracles: no ray of a dense fan may find anything nearer; and the distance is that of parry's rays
/// to the few places where the nearest point can be.
#[test]
fn the_nearest_in_a_cone_is_what_twenty_thousand_rays_find() {
    const RAYS: usize = 20_001;
    let mut dice = Dice::new(11);
    let (mut hits, mut inside, mut close, mut worst) = (0, 0, 0, 0.0_f64);
    for round in 0..1_500 {
        let half = dice.pick(&[1.0, 5.0, 20.0]);
        let yard = Yard::random(&mut dice, half, 14, 0.05);
        let mount = Pose2::new(dice.between(-0.2, 0.2), dice.between(-0.2, 0.2), dice.angle());
        let opening = dice.pick(&[0.05, 0.26, 0.5, 1.2, 2.5, PI]);
        let (height, reach) = (dice.between(0.0, 0.6), dice.scale(0.3 * half, 3.0 * half));
        let cone = Cone::new(mount, height, opening, reach);
        let (distance, kind) = yard.world().nearest_in_cone(&cone, 0);
        let look = yard.look_by_sweep(&Fan::new(mount, height, RAYS, opening, reach));
        let fan = look.distances.iter().copied().fold(f64::INFINITY, math::min);
        assert!(distance <= fan + 1e-9, "round {round}: a ray finds {fan}, the cone {distance}");
        let exact = exact_nearest(&yard, mount, height, opening, reach);
        worst = math::max(worst, (exact - distance).abs());
        assert!(
            (exact - distance).abs() < 1e-9,
            "round {round}: {distance}, by parry {exact}, by the fan {fan}"
        );
        assert_eq!(kind == 0.0, distance == reach, "round {round}");
        if kind != 0.0 {
            hits += 1;
            inside += usize::from(distance == 0.0);
            close += usize::from(fan - distance <= opening / (RAYS - 1) as f64 * distance);
        }
    }
    println!("{hits} hits, {inside} from inside; off parry by at most {worst:e} m");
    println!("{close} within the gap between two rays of what the fan finds");
    assert!(hits > 600 && inside > 50);
    // The others are corners between two rays, met at a slant by the nearest ray.
    assert!(close > hits * 9 / 10, "{close} of {hits}");
}

/// The few rays of a cone are rays of a fan: the nearest thing along them is what the fan's shortest ray met.
#[test]
fn the_rays_of_a_cone_find_what_a_fan_of_as_many_finds() {
    let mut dice = Dice::new(14);
    let (mut hits, mut farther) = (0, 0);
    for round in 0..3_000 {
        let half = dice.pick(&[1.0, 5.0, 20.0]);
        let yard = Yard::random(&mut dice, half, 14, 0.05);
        let mount = Pose2::new(dice.between(-0.2, 0.2), dice.between(-0.2, 0.2), dice.angle());
        let opening = dice.pick(&[0.05, 0.26, 0.5, 1.2, 2.5, PI]);
        let (height, reach) = (dice.between(0.0, 0.6), dice.scale(0.3 * half, 3.0 * half));
        let count = dice.pick(&[1, 2, 3, 9, 20]);
        let cone = Cone::new(mount, height, opening, reach).with_rays(count);
        let (distance, kind) = yard.world().nearest_of_rays(&cone, 0);
        let look = yard.look(&Fan::new(mount, height, count, if count == 1 { 0.0 } else { opening }, reach));
        let met = look.distances.iter().zip(&look.kinds).map(|(d, k)| (*d, *k));
        let fan = met.reduce(|a, b| if b.0 < a.0 { b } else { a }).expect("a ray");
        assert!((distance - fan.0).abs() < 1e-9, "round {round}: {distance}, by the fan {}", fan.0);
        assert_eq!(kind == 0.0, fan.1 == 0.0, "round {round}");
        let exact = yard.world().nearest_in_cone(&cone, 0).0;
        assert!(distance >= exact - 1e-9, "round {round}");
        hits += usize::from(kind != 0.0);
        farther += usize::from(distance > exact + 1e-6);
    }
    println!("{hits} hits; {farther} farther than the nearest in the cone");
    assert!(hits > 1_000 && farther > 300);
}

/// The same by parry alone: the nearest of the rays along both edges of the cone, to every corner, to
/// the foot on every side and to every disc's centre, as far as those lie in the cone.
fn exact_nearest(yard: &Yard, mount: Pose2, height: f64, opening: f64, reach: f64) -> f64 {
    let pose = yard.observer();
    let tip = pose.then(mount);
    let things: Vec<Thing> =
        yard.things().into_iter().filter(|t| height >= t.2.0 && height <= t.2.1).map(|t| t.0).collect();
    let mut bearings = vec![tip.heading - opening / 2.0, tip.heading + opening / 2.0];
    for thing in &things {
        let n = thing.corners.len();
        for k in 0..n {
            let (a, b) = (thing.corners[k], thing.corners[(k + 1) % n]);
            bearings.push((a - tip.at).angle());
            let along = b - a;
            if along.norm2() > 0.0 {
                let foot = a + along * ((tip.at - a).dot(along) / along.norm2());
                bearings.push((foot - tip.at).angle());
            }
        }
    }
    bearings.retain(|b| math::wrap_angle(b - tip.heading).abs() <= opening / 2.0 + 1e-12);
    let cast = |b: &f64| {
        // A ray at a corner may pass beside it: one a hair to either side does not.
        let near = [-1e-13, 0.0, 1e-13].map(|off| Vec2::at_angle(b + off));
        let distances = near.iter().flat_map(|d| things.iter().map(|t| t.cast(tip.at, *d)));
        distances.fold(f64::INFINITY, math::min)
    };
    bearings.iter().map(cast).fold(reach, math::min)
}

#[test]
fn a_line_of_sight_is_what_walking_along_it_finds() {
    const STEP_M: f64 = 0.002;
    let mut dice = Dice::new(12);
    let (mut free, mut blocked, mut unclear) = (0, 0, 0);
    for round in 0..1_500 {
        let yard = Yard::random(&mut dice, 4.0, 14, 0.05);
        let things = yard.things();
        let from = (dice.point(4.0), dice.between(0.0, 0.6));
        let to_height = if dice.chance(0.5) { from.1 } else { dice.between(0.0, 0.6) };
        let to = (dice.point(4.0), to_height);
        let ours = yard.world().line_of_sight(from, to, &[0]);
        assert_eq!(ours, yard.world().line_of_sight(to, from, &[0]), "round {round}: both see, or neither");
        let steps = ((to.0 - from.0).norm() / STEP_M).ceil();
        let (mut surely_blocked, mut surely_free) = (false, true);
        for k in 0..=steps as usize {
            let share = k as f64 / steps;
            let at = from.0 + (to.0 - from.0) * share;
            let height = from.1 + (to.1 - from.1) * share;
            for (thing, _, solid) in &things {
                let inside = thing.corners.len() != 2 && thing.cast(at, Vec2::new(1.0, 0.0)) == 0.0;
                let rim = thing.rim_distance(at);
                let level = height >= solid.0 && height <= solid.1;
                surely_blocked |= inside && level && rim > STEP_M && k > 0 && (k as f64) < steps;
                let off_level = height < solid.0 - STEP_M || height > solid.1 + STEP_M;
                surely_free &= off_level || (!inside && rim > STEP_M);
            }
        }
        // Lines have no inside to walk into: the two ends lie on different sides of each other.
        for (thing, _, solid) in things.iter().filter(|t| t.0.corners.len() == 2) {
            let (a, b) = (thing.corners[0], thing.corners[1]);
            let side = |p: Vec2, q: Vec2, r: Vec2| (q - p).cross(r - p);
            let (s, t) = (side(a, b, from.0), side(a, b, to.0));
            let crosses = s * t < 0.0 && side(from.0, to.0, a) * side(from.0, to.0, b) < 0.0;
            let height = from.1 + (to.1 - from.1) * s / (s - t);
            surely_blocked |= crosses && height > solid.0 + 1e-9 && height < solid.1 - 1e-9;
        }
        match (surely_free, surely_blocked) {
            (true, true) => panic!("round {round}: the oracle contradicts itself"),
            (true, false) => free += 1,
            (false, true) => blocked += 1,
            (false, false) => unclear += 1,
        }
        assert!(!surely_blocked || !ours, "round {round}: something stands between {from:?} and {to:?}");
        assert!(!surely_free || ours, "round {round}: nothing stands between {from:?} and {to:?}");
    }
    println!("{free} free, {blocked} blocked, {unclear} too near to call");
    assert!(free > 200 && blocked > 200 && unclear < 150);
}

#[test]
fn what_only_touches_an_end_of_the_line_hides_nothing() {
    let mut yard = Yard::default();
    yard.body(Outline::disc(0.1), Pose2::new(0.0, 5.0, 0.0), BodyKind::Robot, (0.0, 1.0));
    yard.body(Outline::disc(0.5), Pose2::new(3.5, 0.0, 0.0), BodyKind::Obstacle, (0.0, 1.0));
    yard.edge(Vec2::new(2.0, -1.0), Vec2::new(2.0, 1.0), BodyKind::Wall, (0.0, 0.5));
    yard.ready();
    let world = yard.world();
    let sees =
        |x: f64, height: f64| world.line_of_sight((Vec2::ZERO, height), (Vec2::new(x, 0.0), height), &[0]);
    assert!(sees(2.0, 0.2), "a lamp on the wall");
    assert!(!sees(2.1, 0.2), "behind the wall");
    assert!(sees(3.0, 0.6), "over the wall, a lamp on the rim of the disc");
    assert!(!sees(3.1, 0.6), "a lamp inside of the disc");
    assert!(!sees(5.0, 0.6) && sees(5.0, 1.1), "behind the disc, and over it");
    let slanted = world.line_of_sight((Vec2::ZERO, 0.0), (Vec2::new(2.5, 0.0), 0.6), &[0]);
    assert!(!slanted, "at the wall the line is 48 cm high");
    assert!(world.line_of_sight((Vec2::ZERO, 0.0), (Vec2::new(2.5, 0.0), 0.7), &[0]), "here 56 cm");
    assert!(
        world.line_of_sight((Vec2::new(3.0, -2.0), 0.2), (Vec2::new(3.5, 2.0), 0.2), &[0, 1]),
        "looked through"
    );
}

#[test]
fn a_wall_in_line_with_the_view_but_beyond_it_hides_nothing() {
    let mut dice = Dice::new(13);
    for _ in 0..5_000 {
        let (start, along) = (dice.point(10.0), Vec2::at_angle(dice.angle()));
        let mut yard = Yard::default();
        yard.body(Outline::disc(0.1), Pose2::default(), BodyKind::Robot, (0.0, 1.0));
        yard.edge(start + along * 4.0, start + along * 9.0, BodyKind::Wall, (0.0, 1.0));
        yard.ready();
        assert!(yard.world().line_of_sight((start, 0.1), (start + along * 3.9, 0.1), &[0]));
    }
}

/// Row 1.13, through the whole simulator: one wall two metres away, seen at an angle.
#[test]
fn a_sonar_measures_the_wall_of_the_reference() {
    for (incidence_deg, expected) in [
        (0.0, 2.0),
        (5.0, 2.0),
        (7.5, 2.0),
        (10.0, 2.001_905),
        (15.0, 2.017_258),
        (20.0, 2.048_559),
        (30.0, 2.164_784),
    ] {
        let mut sim = Sim::from_text(&format!(
            "format = 1\n[run]\ndetail = \"fine\"\n[[wall]]\npoints = [[2.1, -40], [2.1, 40]]\n[type.bot]\nradius = 0.1\n[[type.bot.part]]\n\
             name = \"sonar\"\nclass = \"sonar\"\ncone_angle = \"15deg\"\nrange = 10\nmount = [0, 0, \"{incidence_deg}deg\"]\n\
             [[robot]]\nname = \"r\"\ntype = \"bot\"\nat = [0.1, 0]\n"
        ))
        .expect("loads");
        sim.step().expect("steps");
        let range = sim.channel("/robots/r/sonar", "range").expect("channel")[0];
        assert!((range - expected).abs() < 1e-6, "{incidence_deg}: {range} is not {expected}");
        assert_eq!(sim.channel("/robots/r/sonar", "hit").expect("channel"), [1.0]);
    }
}
