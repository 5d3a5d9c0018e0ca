//! Rays: a million casts against parry2d, both ways of casting bit for bit, heights, kinds, ties.

use std::f64::consts::PI;
use swarmyard::Sim;
use swarmyard_base::{Pose2, Vec2, math};
use swarmyard_conformance::oracle::Thing;
use swarmyard_conformance::{Dice, Yard};
use swarmyard_part_api::{BodyKind, Fan, Outline};

/// How near our distance has to be to parry's.
const TOLERANCE_M: f64 = 1e-9;

const KINDS: [BodyKind; 3] = [BodyKind::Wall, BodyKind::Robot, BodyKind::Obstacle];

type Seen = (Thing, BodyKind, (f64, f64));

/// What the rays of one test were like.
#[derive(Debug, Default)]
struct Tally {
    rays: usize,
    hits: usize,
    inside: usize,
    grazing: usize,
    worst_m: f64,
}

/// One ray in the world's frame.
#[derive(Clone, Copy)]
struct Ray {
    origin: Vec2,
    direction: Vec2,
    reach: f64,
}

impl Ray {
    /// Nearest hit by parry among things at that height.
    fn nearest(&self, things: &[&Seen]) -> (f64, Option<BodyKind>) {
        let mut best = (f64::INFINITY, None);
        for (thing, kind, _) in things.iter().copied() {
            let d = thing.cast(self.origin, self.direction);
            if d <= self.reach && d < best.0 {
                best = (d, Some(*kind));
            }
        }
        best
    }

    /// Compares our answer with parry's.
    ///
    /// Where they differ by more than the tolerance the ray must graze: our hit is on somebody's rim,
    /// and everything that parry meets before is not met there when the ray is moved by the tolerance.
    fn check(&self, things: &[&Seen], ours: (f64, f64), tally: &mut Tally) -> Result<(), String> {
        tally.rays += 1;
        let hit = ours.1 != 0.0;
        let distance = if hit { ours.0 } else { f64::INFINITY };
        let (exact, kind) = self.nearest(things);
        if hit {
            tally.hits += 1;
            tally.inside += usize::from(ours.0 == 0.0);
        } else if ours.0 != self.reach {
            return Err(format!(
                "nothing was met, yet the distance is {} and not the reach {}",
                ours.0, self.reach
            ));
        }
        let error = if distance == exact { 0.0 } else { (distance - exact).abs() };
        if error <= TOLERANCE_M {
            tally.worst_m = math::max(tally.worst_m, error);
            let named = kind.map_or(0.0, |k| f64::from(k as u8));
            // Of several things at one place either may be named.
            let point = self.origin + self.direction * ours.0;
            let there = |t: &&Seen| {
                let d = t.0.cast(self.origin, self.direction);
                (d - ours.0).abs() < 2.0 * TOLERANCE_M || t.0.rim_distance(point) < 2.0 * TOLERANCE_M
            };
            let also = hit && things.iter().any(|t| f64::from(t.1 as u8) == ours.1 && there(t));
            return if named == ours.1 || also { Ok(()) } else { Err(format!("kind {} is {named}", ours.1)) };
        }
        tally.grazing += 1;
        let point = self.origin + self.direction * distance;
        let on_rim = !hit || things.iter().any(|t| t.0.rim_distance(point) <= TOLERANCE_M);
        // Whatever parry meets before is only grazed, or stood upon: a nanometre away it is not met.
        let not_before = |d: f64| d >= math::min(distance, self.reach) - 10.0 * TOLERANCE_M;
        let ways = [self.direction.perp(), -self.direction.perp(), self.direction, -self.direction];
        let grazed = things.iter().all(|t| {
            let met_from = |origin: Vec2| t.0.cast(origin, self.direction);
            not_before(met_from(self.origin))
                || ways.iter().any(|way| not_before(met_from(self.origin + *way * TOLERANCE_M)))
        });
        if on_rim && grazed {
            return Ok(());
        }
        Err(format!("{distance} but parry says {exact}"))
    }
}

fn random_fan(dice: &mut Dice, half: f64) -> (Fan, Pose2, f64) {
    let mount = Pose2::new(dice.between(-0.2, 0.2), dice.between(-0.2, 0.2), dice.angle());
    let count = dice.pick(&[1, 2, 3, 4, 12, 64, 181, 360]);
    let (height, spread, reach) =
        (dice.between(0.0, 0.6), dice.pick(&[0.5, PI, 2.0 * PI]), dice.scale(0.2 * half, 3.0 * half));
    (Fan::new(mount, height, count, spread, reach), mount, height)
}

/// Checks every ray of a fan cast both ways. The observer's pose is given again, so that rays are
/// put together without the code under test.
fn check_fan(yard: &Yard, pose: Pose2, (fan, mount, height): &(Fan, Pose2, f64), tally: &mut Tally) {
    let look = yard.look(fan);
    assert_eq!(look.bits(), yard.look_by_sweep(fan).bits(), "sweep differs");
    assert_eq!(look.bits(), yard.look_by_walk(fan).bits(), "walk differs");
    let all = yard.things();
    let seen: Vec<&Seen> = all.iter().filter(|t| *height >= t.2.0 && *height <= t.2.1).collect();
    let origin = pose.at
        + Vec2::at_angle(pose.heading) * mount.at.x
        + Vec2::at_angle(pose.heading).perp() * mount.at.y;
    let (first, step) = fan.bearings();
    for k in 0..fan.len() {
        let direction = Vec2::at_angle(pose.heading + first + k as f64 * step);
        let ray = Ray { origin, direction, reach: fan.reach() };
        let ours = (look.distances[k], look.kinds[k]);
        ray.check(&seen, ours, tally).unwrap_or_else(|why| panic!("ray {k} of {fan:?} at {pose:?}: {why}"));
    }
}

#[test]
fn a_million_random_rays_agree_with_parry_and_both_ways_give_the_same_bits() {
    let mut dice = Dice::new(1);
    let mut tally = Tally::default();
    while tally.rays < 1_000_000 {
        let half = dice.pick(&[1.0, 10.0, 100.0]);
        let yard = Yard::random(&mut dice, half, 20, 0.02);
        for _ in 0..8 {
            let fan = random_fan(&mut dice, half);
            check_fan(&yard, yard.observer(), &fan, &mut tally);
        }
    }
    println!("{tally:?}");
    assert!(tally.hits > 200_000 && tally.inside > 10_000, "{tally:?}");
    assert!(tally.grazing < tally.rays / 10_000, "grazing must be the exception: {tally:?}");
}

#[test]
fn rays_that_graze_agree_with_parry_up_to_a_nanometre_of_tangency() {
    let mut dice = Dice::new(2);
    let mut tally = Tally::default();
    for _ in 0..40_000 {
        let centre = dice.point(50.0);
        let size = dice.scale(0.02, 20.0);
        let corners = dice.below(5) + 3;
        let polygon = dice.convex(corners, size);
        let disc = dice.chance(0.5);
        let outline = if disc { Outline::disc(size) } else { Outline::polygon(&polygon).expect("convex") };
        let turn = dice.angle();
        // A point to aim at: on the rim of a disc sideways, or a corner.
        let bearing = dice.angle();
        let distance = size + dice.scale(0.01, 100.0);
        let eye = centre - Vec2::at_angle(bearing) * distance;
        let rim = if disc {
            let side = swarmyard_base::math::asin(size / distance) * dice.pick(&[1.0, -1.0]);
            eye + Vec2::at_angle(bearing + side) * (distance * distance - size * size).sqrt()
        } else {
            let corner = dice.below(polygon.len());
            Pose2 { at: centre, heading: turn }.point(polygon[corner])
        };
        let off = dice.scale(1e-13, 1e-3) * dice.pick(&[1.0, -1.0]);
        let away = rim - eye;
        let heading = (away + away.perp() * (off / away.norm())).angle();
        let mut yard = Yard::default();
        let pose = Pose2 { at: eye, heading };
        yard.body(Outline::disc(0.01), pose, BodyKind::Robot, (0.0, 1.0));
        yard.body(outline, Pose2 { at: centre, heading: turn }, BodyKind::Obstacle, (0.0, 1.0));
        yard.ready();
        let fan = (Fan::new(Pose2::default(), 0.1, 1, 0.0, 300.0), Pose2::default(), 0.1);
        check_fan(&yard, pose, &fan, &mut tally);
    }
    println!("{tally:?}");
    assert!(
        tally.grazing > 100 && tally.hits > 10_000 && tally.hits < 35_000,
        "both sides of the rim: {tally:?}"
    );
}

/// Round numbers make coincidences: rays through corners, along walls, hits exactly at the reach.
#[test]
fn coincidences_are_answered_both_ways_alike_and_as_parry_does() {
    let mut dice = Dice::new(3);
    let half_steps = |dice: &mut Dice, n: usize| dice.below(2 * n + 1) as f64 / 2.0 - n as f64 / 2.0;
    let (mut fans, mut at_reach) = (0, 0);
    let mut tally = Tally::default();
    for _ in 0..20_000 {
        let mut yard = Yard::default();
        let heading = dice.below(24) as f64 * PI / 12.0;
        let eye = Vec2::new(half_steps(&mut dice, 4), half_steps(&mut dice, 4));
        yard.body(Outline::disc(0.25), Pose2 { at: eye, heading }, BodyKind::Robot, (0.0, 1.0));
        for _ in 0..3 {
            let at = Vec2::new(half_steps(&mut dice, 8), half_steps(&mut dice, 8));
            let turn = dice.below(8) as f64 * PI / 4.0;
            let size = dice.pick(&[0.5, 1.0, 2.0]);
            let outline = if dice.chance(0.5) { Outline::disc(size) } else { Outline::rectangle(size, size) };
            let kind = dice.pick(&KINDS);
            yard.body(outline, Pose2 { at, heading: turn }, kind, (0.0, 1.0));
        }
        for _ in 0..3 {
            let a = Vec2::new(half_steps(&mut dice, 8), half_steps(&mut dice, 8));
            let b = a + Vec2::new(half_steps(&mut dice, 6), half_steps(&mut dice, 6));
            let kind = dice.pick(&KINDS);
            if a != b {
                yard.edge(a, b, kind, (0.0, 1.0));
            }
        }
        yard.ready();
        for reach in [0.5, 1.0, 2.5, 4.0] {
            let fan = Fan::new(Pose2::default(), 0.5, 24, 2.0 * PI, reach);
            let (sweep, walk) = (yard.look_by_sweep(&fan), yard.look_by_walk(&fan));
            at_reach += (0..24).filter(|&k| sweep.kinds[k] != 0.0 && sweep.distances[k] == reach).count();
            fans += 1;
            let same = sweep.bits() == walk.bits();
            assert!(
                same,
                "eye {eye:?} heading {heading} reach {reach}\n{:?}\n{sweep:?}\n{walk:?}",
                yard.things()
            );
            let fan = (fan, Pose2::default(), 0.5);
            check_fan(&yard, Pose2 { at: eye, heading }, &fan, &mut tally);
        }
    }
    println!("{fans} fans, {at_reach} hits exactly at the reach, {tally:?}");
    assert!(at_reach > 1000);
}

/// A ray that is parallel to a wall up to rounding used to be answered with any distance at all.
#[test]
fn a_ray_along_the_line_of_a_wall_is_no_hit_before_the_wall() {
    let mut dice = Dice::new(4);
    for _ in 0..20_000 {
        let (start, bearing) = (dice.point(10.0), dice.angle());
        let (near, far) = (dice.between(0.5, 3.0), dice.between(3.5, 9.0));
        let along = Vec2::at_angle(bearing);
        let mut yard = Yard::default();
        yard.body(Outline::disc(0.1), Pose2 { at: start, heading: bearing }, BodyKind::Robot, (0.0, 1.0));
        yard.edge(start + along * near, start + along * far, BodyKind::Wall, (0.0, 1.0));
        yard.ready();
        for count in [1, 8] {
            let look = yard.look(&Fan::new(Pose2::default(), 0.5, count, 2.0 * PI, 20.0));
            let hit = look.kinds[0] != 0.0;
            assert!(!hit || (near - 1e-9..=far + 1e-9).contains(&look.distances[0]), "{near} {far} {look:?}");
        }
    }
}

/// Row 2.11: a laser in a room, computed with shapely.
#[test]
fn a_laser_measures_the_room_of_the_reference() {
    let mut sim = Sim::from_text(
        "format = 1\n[world]\nmin = [-4, -2.5]\nmax = [6, 3.5]\n[type.bot]\nradius = 0.1\n[[type.bot.part]]\nname = \"laser\"\n\
         class = \"range-rays\"\nrays = 24\nrange = 20\n[[robot]]\nname = \"r\"\ntype = \"bot\"\n",
    )
    .expect("the room loads");
    sim.step().expect("steps");
    let ranges = sim.channel("/robots/r/laser", "range").expect("channel");
    let expected = [(0, 6.0), (2, 6.928_203), (3, 4.949_747), (6, 3.5), (9, 4.949_747), (12, 4.0), (18, 2.5)];
    for (ray, range) in expected {
        assert!((ranges[ray] - range).abs() < 1e-6, "ray {ray}: {} is not {range}", ranges[ray]);
    }
    assert!(
        sim.channel("/robots/r/laser", "hit").expect("channel").iter().all(|&k| k == 1.0),
        "the border is a wall"
    );
}

#[test]
fn a_ray_passes_over_what_is_lower_and_under_what_begins_higher() {
    let mut yard = Yard::default();
    yard.body(Outline::disc(0.1), Pose2::default(), BodyKind::Robot, (0.0, 1.0));
    yard.body(Outline::disc(0.5), Pose2::new(2.0, 0.0, 0.0), BodyKind::Obstacle, (0.0, 0.25));
    yard.body(Outline::rectangle(1.0, 1.0), Pose2::new(4.0, 0.0, 0.0), BodyKind::Robot, (0.5, 0.75));
    yard.edge(Vec2::new(6.0, -1.0), Vec2::new(6.0, 1.0), BodyKind::Wall, (0.0, 1.0));
    yard.ready();
    for (height, distance, kind) in [
        (0.0, 1.5, 3.0),
        (0.25, 1.5, 3.0),
        (0.3, 6.0, 1.0),
        (0.5, 3.5, 2.0),
        (0.75, 3.5, 2.0),
        (0.8, 6.0, 1.0),
        (1.0, 6.0, 1.0),
        (1.1, 10.0, 0.0),
    ] {
        for count in [1, 8] {
            let look = yard.look(&Fan::new(Pose2::default(), height, count, 2.0 * PI, 10.0));
            assert_eq!((look.distances[0], look.kinds[0]), (distance, kind), "height {height}, {count} rays");
        }
    }
}

#[test]
fn of_hits_at_one_distance_the_lower_kind_is_reported_whatever_the_order() {
    let flat = |x: f64| (Outline::rectangle(1.0, 1.0), Pose2::new(x + 0.5, 0.0, 0.0));
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1]] {
        for (robot, obstacle, wall, expected) in
            [(true, true, true, 1.0), (true, true, false, 2.0), (false, true, false, 3.0)]
        {
            let mut yard = Yard::default();
            yard.body(Outline::disc(0.1), Pose2::default(), BodyKind::Robot, (0.0, 1.0));
            for thing in order {
                let (outline, pose) = flat(2.0);
                match thing {
                    0 if robot => yard.body(outline, pose, BodyKind::Robot, (0.0, 1.0)),
                    1 if obstacle => yard.body(outline, pose, BodyKind::Obstacle, (0.0, 1.0)),
                    2 if wall => {
                        yard.edge(Vec2::new(2.0, -1.0), Vec2::new(2.0, 1.0), BodyKind::Wall, (0.0, 1.0))
                    }
                    _ => {}
                }
            }
            yard.ready();
            for count in [1, 12] {
                let look = yard.look(&Fan::new(Pose2::default(), 0.5, count, 2.0 * PI, 5.0));
                assert_eq!(
                    (look.distances[0], look.kinds[0]),
                    (2.0, expected),
                    "order {order:?}, {count} rays"
                );
            }
        }
    }
}

/// The comparison itself must be able to fail: a wrong distance, a missed hit, an invented one, a
/// wrong kind.
#[test]
fn the_comparison_refuses_wrong_answers() {
    let wall = (Thing::line(Vec2::new(2.0, -1.0), Vec2::new(2.0, 1.0)), BodyKind::Wall, (0.0, 1.0));
    let disc = (Thing::new(&Outline::disc(0.5), Pose2::new(0.0, 3.0, 0.0)), BodyKind::Robot, (0.0, 1.0));
    let things = [&wall, &disc];
    let ahead = Ray { origin: Vec2::ZERO, direction: Vec2::new(1.0, 0.0), reach: 10.0 };
    let behind = Ray { direction: Vec2::new(-1.0, 0.0), ..ahead };
    let mut tally = Tally::default();
    assert!(ahead.check(&things, (2.0, 1.0), &mut tally).is_ok());
    assert!(ahead.check(&things, (2.0 + 3e-9, 1.0), &mut tally).is_err());
    assert!(ahead.check(&things, (10.0, 0.0), &mut tally).is_err());
    assert!(ahead.check(&things, (2.0, 2.0), &mut tally).is_err());
    assert!(behind.check(&things, (10.0, 0.0), &mut tally).is_ok());
    assert!(behind.check(&things, (3.0, 1.0), &mut tally).is_err());
    assert!(behind.check(&things, (9.0, 0.0), &mut tally).is_err());
    // Grazing by 1e-10 may be called a hit or a miss; by 1e-6 not.
    for (off, free) in [(1e-10, true), (1e-6, false)] {
        let tangent = Ray { origin: Vec2::new(-0.5 + off, 0.0), direction: Vec2::new(0.0, 1.0), reach: 10.0 };
        assert_eq!(tangent.check(&things, (10.0, 0.0), &mut tally).is_ok(), free, "{off}");
    }
}
