//! Which two meet next: against closed forms, all pairs, parry2d, time slices and dense sampling.

use parry2d_f64::math::{Pose, Vector};
use parry2d_f64::query::{ShapeCastOptions, cast_shapes};
use parry2d_f64::shape::{Ball, ConvexPolygon, Segment as Line, Shape as ParryShape};
use swarmyard_base::{Moment, Pose2, Time, Twist2, Uid, Vec2, math};
use swarmyard_conformance::Dice;
use swarmyard_conformance::gas::{AllPairs, Billiard, Event, event};
use swarmyard_conformance::oracle::{Thing, gap};
use swarmyard_motion::flights::{
    Flights, Flyer, Meeting, Path, Shape, Space, Told, With, disc_meeting, edge_meeting,
};
use swarmyard_part_api::{BodyKind, FixedEdge, FixedIndex, Outline, Segment};

fn v(x: f64, y: f64) -> Vec2 {
    Vec2::new(x, y)
}

fn at(s: f64) -> Moment {
    Moment::ZERO.plus(s)
}

fn disc(rank: u32, radius: f64, position: Vec2, velocity: Vec2) -> Flyer {
    let path = Path::straight(Moment::ZERO, position, velocity);
    Flyer { shape: Shape::Disc(radius), rank, path, ghost: false }
}

fn edges(ends: &[(Vec2, Vec2)]) -> FixedIndex {
    let edge = |(k, &(a, b)): (usize, &(Vec2, Vec2))| FixedEdge {
        a,
        b,
        uid: Uid(k as u64),
        owner: Uid(7),
        kind: BodyKind::Wall,
        heights: (0.0, 1.0),
        surface: 0,
    };
    FixedIndex::new(ends.iter().enumerate().map(edge).collect())
}

fn walls(low: Vec2, high: Vec2) -> FixedIndex {
    let corners = [low, v(high.x, low.y), high, v(low.x, high.y)];
    let sides: Vec<_> = (0..4).map(|k| (corners[k], corners[(k + 1) % 4])).collect();
    edges(&sides)
}

fn flights(bodies: &[Flyer]) -> Flights {
    Flights::new(Space::Plane, bodies, FixedIndex::default())
}

fn all(flights: &mut Flights) -> Vec<Meeting> {
    std::iter::from_fn(|| flights.next(Moment::NEVER)).collect()
}

/// Galperin: a heavy disc, a light one and a wall count the digits of π.
fn galperin(ratio: f64) -> u32 {
    let fixed = edges(&[(v(0.0, -10.0), v(0.0, 10.0))]);
    let bodies = [disc(0, 0.5, v(2.0, 0.0), Vec2::ZERO), disc(1, 0.5, v(4.0, 0.0), v(-1.0, 0.0))];
    let flights = Flights::new(Space::Plane, &bodies, fixed.clone());
    let mut game = Billiard::new(flights, Space::Plane, &bodies, &fixed);
    game.masses = vec![1.0, ratio];
    let mut count = 0;
    while game.collide(Moment::NEVER).is_some() {
        count += 1;
    }
    count
}

#[test]
fn a_heavy_disc_a_light_one_and_a_wall_count_the_digits_of_pi() {
    assert_eq!([1.0, 1e2, 1e4, 1e6, 1e8].map(galperin), [3, 31, 314, 3_141, 31_415]);
}

/// Equal discs on a line swap velocities: without their widths they are points that pass through one another.
#[test]
fn equal_discs_on_a_line_are_free_flights_with_other_names() {
    let mut dice = Dice::new(21);
    let n = 60;
    let bodies: Vec<Flyer> = (0..n)
        .map(|k| {
            disc(k, 0.5, v(f64::from(k) * 1.5 + dice.unit() * 0.4, 0.0), v(dice.between(-3.0, 3.0), 0.0))
        })
        .collect();
    let mut game = Billiard::new(flights(&bodies), Space::Plane, &bodies, &FixedIndex::default());
    let mut collisions = 0;
    let end = at(1000.0);
    while game.collide(end).is_some() {
        collisions += 1;
    }
    let point = |k: usize| {
        let path = &bodies[k].path;
        (path.position_at(Moment::ZERO).x - k as f64, path.velocity_at(Moment::ZERO).x)
    };
    let points: Vec<(f64, f64)> = (0..n as usize).map(point).collect();
    let passes = (0..points.len())
        .flat_map(|k| (0..k).map(move |j| (j, k)))
        .filter(|&(j, k)| points[j].0 + points[j].1 * 1000.0 > points[k].0 + points[k].1 * 1000.0)
        .count();
    assert_eq!(collisions, passes);
    let mut free: Vec<f64> = points.iter().map(|(x, v)| x + v * 1000.0).collect();
    free.sort_by(f64::total_cmp);
    for (k, x) in free.iter().enumerate() {
        assert!((game.state(k, end).0.x - (x + k as f64)).abs() < 1e-9);
    }
}

/// A disc in a rectangle flies straight in a plane of mirror images.
#[test]
fn a_billiard_in_a_rectangle_unfolds_to_a_straight_line() {
    let (low, high, radius) = (v(0.0, 0.0), v(3.0, 2.0), 0.25);
    let fixed = walls(low, high);
    let (start, velocity) = (v(0.7, 1.1), v(1.3, 0.77));
    let bodies = [disc(0, radius, start, velocity)];
    let flights = Flights::new(Space::Plane, &bodies, fixed.clone());
    let mut game = Billiard::new(flights, Space::Plane, &bodies, &fixed);
    let end = at(500.0);
    let mut bounces = 0;
    while game.collide(end).is_some() {
        bounces += 1;
    }
    let fold = |x: f64, length: f64| {
        let turn = x.rem_euclid(2.0 * length);
        if turn > length { 2.0 * length - turn } else { turn }
    };
    let (length, width) = (high.x - 2.0 * radius, high.y - 2.0 * radius);
    let straight = start - v(radius, radius) + velocity * 500.0;
    let exact = v(fold(straight.x, length) + radius, fold(straight.y, width) + radius);
    assert!((game.state(0, end).0 - exact).norm() < 1e-9);
    assert_eq!(bounces, (straight.x / length) as i32 + (straight.y / width) as i32);
}

#[test]
fn a_cradle_with_gaps_hands_the_push_on() {
    let gap = 0.01;
    let mut bodies: Vec<Flyer> =
        (0..5).map(|k| disc(k, 0.5, v(f64::from(k) * (1.0 + gap), 0.0), Vec2::ZERO)).collect();
    bodies[0] = disc(0, 0.5, v(-3.0, 0.0), v(2.0, 0.0));
    let mut game = Billiard::new(flights(&bodies), Space::Plane, &bodies, &FixedIndex::default());
    let events: Vec<Event> = std::iter::from_fn(|| game.collide(Moment::NEVER)).collect();
    let pairs: Vec<_> = events.iter().map(|e| (e.body, e.with)).collect();
    assert_eq!(pairs, (0..4).map(|k| (k, With::Body(k + 1))).collect::<Vec<_>>());
    for (k, e) in events.iter().enumerate() {
        let exact = (3.0 + gap + gap * k as f64) / 2.0;
        assert!((e.moment.since(Moment::ZERO) - exact).abs() < 1e-12);
    }
    assert_eq!(game.state(4, at(9.0)).1, v(2.0, 0.0));
    assert!((0..4).all(|k| game.state(k, at(9.0)).1 == Vec2::ZERO));
}

/// Discs of many sizes, apart from one another and from the walls of the box.
fn crowd(dice: &mut Dice, n: usize, low: Vec2, high: Vec2, walled: bool) -> Vec<Flyer> {
    let mut placed: Vec<(Vec2, f64)> = Vec::new();
    let round = high - low;
    while placed.len() < n {
        let radius = dice.scale(0.1, 0.6);
        let inset = if walled { radius * 1.01 } else { 0.0 };
        let p = v(dice.between(low.x + inset, high.x - inset), dice.between(low.y + inset, high.y - inset));
        let apart = |q: Vec2| {
            let d = p - q;
            if walled {
                return d.norm();
            }
            v(d.x - (d.x / round.x).round() * round.x, d.y - (d.y / round.y).round() * round.y).norm()
        };
        if placed.iter().all(|(q, r)| apart(*q) > (radius + r) * 1.01) {
            placed.push((p, radius));
        }
    }
    let ranks = dice.order(n);
    let mut body =
        |(k, (p, radius)): (usize, &(Vec2, f64))| disc(ranks[k] as u32, *radius, *p, dice.point(2.0));
    placed.iter().enumerate().map(&mut body).collect()
}

fn same_as_all_pairs(
    (space, rounds): (Space, i32),
    bodies: &[Flyer],
    fixed: &FixedIndex,
    events: usize,
) -> usize {
    let mut indexed = Billiard::new(Flights::new(space, bodies, fixed.clone()), space, bodies, fixed);
    let mut brute = Billiard::new(AllPairs::new(space, bodies, fixed, rounds), space, bodies, fixed);
    for game in [&mut indexed.masses, &mut brute.masses] {
        game.iter_mut().enumerate().for_each(|(k, m)| *m = 1.0 + k as f64 * 0.1);
    }
    let mut at_walls = 0;
    for k in 0..events {
        let (a, b) = (indexed.collide(Moment::NEVER), brute.collide(Moment::NEVER));
        assert_eq!(a, b, "event {k}");
        at_walls += usize::from(matches!(a.expect("they never rest").with, With::Edge(_)));
    }
    assert_eq!(indexed.bodies, brute.bodies);
    at_walls
}

#[test]
fn cells_and_calendar_tell_what_all_pairs_tell_bit_by_bit_in_a_box() {
    let (low, high) = (v(-4.0, -3.0), v(4.0, 3.0));
    let bodies = crowd(&mut Dice::new(22), 30, low, high, true);
    let at_walls = same_as_all_pairs((Space::Plane, 0), &bodies, &walls(low, high), 1_000_000);
    println!("{at_walls} of 1000000 at walls");
    assert!(at_walls > 100_000);
}

#[test]
fn cells_and_calendar_tell_what_all_pairs_tell_bit_by_bit_on_a_torus() {
    for (seed, n, side, rounds, events) in [(23, 30, 8.0, 3, 4_000), (24, 4, 3.2, 9, 4_000)] {
        let (low, high) = (v(-1.0, -1.0), v(side - 1.0, side - 1.0));
        let bodies = crowd(&mut Dice::new(seed), n, low, high, false);
        let space = Space::Torus { min: low, max: high };
        same_as_all_pairs((space, rounds), &bodies, &FixedIndex::default(), events);
    }
}

/// Restoring a snapshot is making flights anew from the paths.
#[test]
fn flights_made_anew_at_any_event_go_on_with_the_same_bits() {
    let (low, high) = (v(-4.0, -3.0), v(4.0, 3.0));
    let fixed = walls(low, high);
    let bodies = crowd(&mut Dice::new(25), 20, low, high, true);
    let make = |bodies: &[Flyer], told: &Told| {
        let flights = Flights::resume(Space::Plane, bodies, fixed.clone(), told);
        Billiard::new(flights, Space::Plane, bodies, &fixed)
    };
    let mut game = make(&bodies, &Told::default());
    let (mut events, mut stops) = (Vec::new(), Vec::new());
    for _ in 0..400 {
        stops.push((game.bodies.clone(), game.predictor.told()));
        events.extend(game.collide(Moment::NEVER));
    }
    for (k, (bodies, told)) in stops.iter().enumerate().take(300) {
        let mut again = make(bodies, told);
        let rest: Vec<Event> = (0..100).filter_map(|_| again.collide(Moment::NEVER)).collect();
        assert_eq!(rest, events[k..k + 100], "made anew before event {k}");
    }
}

/// Meetings nobody answers: each is told once, none hides another, and a restored run does not tell them again.
#[test]
fn meetings_without_an_answer_are_told_once_and_hide_nothing() {
    let mut dice = Dice::new(26);
    let bodies: Vec<Flyer> =
        (0..40).map(|k| disc(k, dice.scale(0.1, 0.6), dice.point(5.0), dice.point(1.0))).collect();
    let fixed = edges(&[(v(-3.0, -3.0), v(3.0, 1.0)), (v(-3.0, 4.0), v(3.0, 4.0))]);
    let mut expected = Vec::new();
    for (k, a) in bodies.iter().enumerate() {
        let Shape::Disc(ra) = a.shape else { unreachable!() };
        for (j, b) in bodies.iter().enumerate().skip(k + 1) {
            let Shape::Disc(rb) = b.shape else { unreachable!() };
            let moment = disc_meeting((&a.path, ra), (&b.path, rb), Vec2::ZERO);
            expected.extend(moment.map(|m| (m, a.rank, b.rank, k as u32, With::Body(j as u32))));
        }
        for (e, edge) in fixed.edges().iter().enumerate() {
            let moment = edge_meeting((&a.path, ra), (edge.a, edge.b));
            let high = (1 << 31) + e as u32;
            expected.extend(moment.map(|m| (m, a.rank, high, k as u32, With::Edge(e as u32))));
        }
    }
    expected.sort_by_key(|e| (e.0, e.1, e.2));
    let expected: Vec<Event> = expected.iter().map(|e| Event { moment: e.0, body: e.3, with: e.4 }).collect();
    let mut flights = Flights::new(Space::Plane, &bodies, fixed.clone());
    let mut told = Vec::new();
    while let Some(m) = flights.next(Moment::NEVER) {
        told.push(event(m));
        let mut again = Flights::resume(Space::Plane, &bodies, fixed.clone(), &flights.told());
        assert_eq!(again.next(Moment::NEVER).map(event), expected.get(told.len()).copied());
    }
    assert_eq!(told, expected);
    assert!(told.len() > 50, "{}", told.len());
}

#[test]
fn grazing_discs_meet_when_they_touch_in_one_point() {
    let bodies = |y: f64| [disc(0, 0.5, v(-4.0, y), v(1.0, 0.0)), disc(1, 0.5, v(0.0, 0.0), Vec2::ZERO)];
    // D = 0 exactly.
    let graze = all(&mut flights(&bodies(1.0)));
    assert_eq!(graze.len(), 1);
    assert_eq!((graze[0].moment, graze[0].closing), (at(4.0), 0.0));
    assert_eq!(all(&mut flights(&bodies(1.0 + 1e-15))), []);
    assert_eq!(all(&mut flights(&bodies(1.0 - 1e-15))).len(), 1);
}

/// From touching: into the contact at once; along it, within an angle of 10⁻⁸, or away never.
#[test]
fn a_motion_from_touching_meets_at_once_or_not_at_all() {
    for turn in 0..24 {
        let normal = Vec2::at_angle(f64::from(turn) * 0.26);
        let along = normal.perp();
        let place = v(31.7, -12.9);
        let start = |velocity: Vec2| {
            let bodies = [disc(0, 0.3, place + normal, velocity), disc(1, 0.7, place, Vec2::ZERO)];
            all(&mut flights(&bodies))
        };
        for tilt in [0.0, 1e-9, -1e-9, -1e-3, -1.0] {
            assert_eq!(start(along - normal * tilt), [], "turn {turn}, tilt {tilt}");
        }
        for tilt in [1e-6, 1e-3, 1.0] {
            let met = start(along - normal * tilt);
            assert_eq!(met.len(), 1, "turn {turn}, tilt {tilt}");
            assert!(met[0].moment.since(Moment::ZERO) < 1e-7 && met[0].closing > 0.0);
        }
    }
}

#[test]
fn discs_that_overlap_meet_at_once_when_they_close() {
    let bodies = |vx: f64| [disc(0, 0.5, v(0.0, 0.0), v(vx, 0.0)), disc(1, 0.5, v(0.5, 0.0), Vec2::ZERO)];
    assert_eq!(all(&mut flights(&bodies(1.0)))[0].moment, Moment::ZERO);
    assert_eq!(all(&mut flights(&bodies(-1.0))), []);
}

#[test]
fn three_that_meet_at_one_moment_come_by_rank() {
    // Slots and ranks disagree on purpose.
    let still = disc(5, 0.5, Vec2::ZERO, Vec2::ZERO);
    let bodies = [
        disc(9, 0.5, v(4.0, 0.0), v(-1.0, 0.0)),
        disc(2, 0.5, v(-4.0, 0.0), v(1.0, 0.0)),
        still.clone(),
        disc(7, 0.5, v(0.0, 4.0), v(0.0, -1.0)),
    ];
    let met = all(&mut flights(&bodies));
    let order: Vec<_> = met.iter().take(3).map(|m| (m.moment, m.body, m.with)).collect();
    let t = at(3.0);
    assert_eq!(order, [(t, 1, With::Body(2)), (t, 2, With::Body(3)), (t, 2, With::Body(0))]);
    // One stops the middle again by an answer of its own: the others still come.
    let mut stopping = flights(&bodies);
    let first = stopping.next(Moment::NEVER).unwrap();
    stopping.set(first.body, &Path::rest(t, Pose2::new(-1.0, 0.0, 0.0)));
    assert_eq!(stopping.next(Moment::NEVER).unwrap().with, With::Body(3));
    assert_eq!(stopping.next(Moment::NEVER).unwrap().with, With::Body(0));
}

#[test]
fn equal_velocities_never_meet() {
    let velocity = v(0.3, -1.7);
    let bodies = [disc(0, 0.5, v(0.0, 0.0), velocity), disc(1, 0.5, v(1.0, 0.0), velocity)];
    assert_eq!(all(&mut flights(&bodies[..])), []);
    let apart = [disc(0, 0.5, v(0.0, 0.0), velocity), disc(1, 0.5, v(1.5, 0.0), velocity)];
    assert_eq!(flights(&apart).next(at(1e6)), None);
}

#[test]
fn ghosts_and_those_taken_out_meet_nobody() {
    let mut bodies = [disc(0, 0.5, v(-3.0, 0.0), v(1.0, 0.0)), disc(1, 0.5, Vec2::ZERO, Vec2::ZERO)];
    bodies[1].ghost = true;
    assert_eq!(all(&mut flights(&bodies)), []);
    bodies[1].ghost = false;
    let mut away = flights(&bodies);
    away.remove(1);
    assert_eq!(away.next(at(1.0)), None);
    away.put_back(1, &Path::rest(at(1.0), Pose2::default()));
    assert_eq!(away.next(Moment::NEVER).map(|m| m.moment), Some(at(2.0)));
}

#[test]
fn near_a_point_are_those_that_are() {
    let mut dice = Dice::new(27);
    for space in [Space::Plane, Space::Torus { min: v(-6.0, -6.0), max: v(6.0, 6.0) }] {
        let mut bodies: Vec<Flyer> =
            (0..200).map(|k| disc(k, 0.01, dice.point(6.0), dice.point(1.0))).collect();
        bodies.iter_mut().step_by(7).for_each(|b| b.ghost = true);
        let mut flights = Flights::new(space, &bodies, FixedIndex::default());
        let mut found = 0;
        for step in 0..200 {
            let moment = at(f64::from(step) * 0.1);
            if step % 3 != 0 {
                while flights.next(moment).is_some() {}
            }
            let (point, radius) = (dice.point(6.0), dice.scale(0.1, 9.0));
            let mut near = Vec::new();
            flights.within(point, radius, moment, |body, _| near.push(body));
            near.sort_unstable();
            let distance = |b: &Flyer| {
                let d = b.path.position_at(moment) - point;
                let wrap = |x: f64| if space == Space::Plane { x } else { x - (x / 12.0).round() * 12.0 };
                v(wrap(d.x), wrap(d.y)).norm()
            };
            let expected: Vec<u32> = (0..200).filter(|k| distance(&bodies[*k as usize]) <= radius).collect();
            assert_eq!(near, expected);
            found += near.len();
        }
        assert!(found > 1_000);
    }
}

/// Time of impact by parry2d.
fn parry(a: &dyn ParryShape, pa: Vec2, va: Vec2, b: &dyn ParryShape, until: f64) -> Option<f64> {
    let options = ShapeCastOptions::with_max_time_of_impact(until);
    let cast = |from: f64| {
        let (p, still) = (pa + va * from, Pose::translation(0.0, 0.0));
        let pose = Pose::translation(p.x, p.y);
        let hit = cast_shapes(&pose, Vector::new(va.x, va.y), a, &still, Vector::ZERO, b, options);
        hit.expect("supported").map(|h| from + h.time_of_impact)
    };
    // It loses digits with the distance: a first cast to find the place, a second from shortly before it.
    let rough = cast(0.0)?;
    cast(math::max(rough - 0.05, 0.0)).or(Some(rough))
}

/// What a disc comes to in the comparison with parry.
#[derive(Clone, Copy, PartialEq)]
enum Target {
    Disc,
    Line,
    Polygon,
}

/// How well two agree about when a disc meets such things.
#[derive(Debug, Default)]
struct Agreement {
    met: u32,
    head_on: u32,
    /// Pairs of which only one of the two says that they meet, because they only just do.
    grazing: u32,
    /// How far the disc goes between the two moments, at most, of those that meet head-on, m.
    worst_m: f64,
    /// Greatest gap at parry's moments, and at ours, m.
    their_gap: f64,
    own_gap: f64,
}

/// Plays that many pairs.
fn agreement(target: Target, seed: u64, pairs: u32) -> Agreement {
    let mut dice = Dice::new(seed);
    let mut all = Agreement::default();
    for k in 0..pairs {
        let radius = dice.scale(0.05, 1.0);
        let position = Vec2::at_angle(dice.angle()) * dice.between(2.5, 4.0);
        let velocity = -position * dice.scale(0.2, 3.0) + dice.point(1.5);
        let path = Path::straight(Moment::ZERO, position, velocity);
        let ball = Ball::new(radius);
        let (ours, theirs, other) = match target {
            Target::Disc => {
                let other = dice.scale(0.05, 1.0);
                let rest = Path::rest(Moment::ZERO, Pose2::default());
                let ours = disc_meeting((&path, radius), (&rest, other), Vec2::ZERO);
                let thing = Thing::new(&Outline::disc(other), Pose2::default());
                (ours, parry(&ball, position, velocity, &Ball::new(other), 1e3), thing)
            }
            Target::Line => {
                let (a, b) = (dice.point(1.0), dice.point(1.0));
                let ours = edge_meeting((&path, radius), (a, b));
                let line = Line::new(Vector::new(a.x, a.y), Vector::new(b.x, b.y));
                (ours, parry(&ball, position, velocity, &line, 1e3), Thing::line(a, b))
            }
            Target::Polygon => {
                let corners = dice.convex(5, 1.0);
                let side = |k: usize| (corners[k], corners[(k + 1) % 5]);
                let ours = (0..5).filter_map(|k| edge_meeting((&path, radius), side(k))).min();
                let points = corners.iter().map(|c| Vector::new(c.x, c.y)).collect();
                let polygon = ConvexPolygon::from_convex_polyline(points).expect("convex");
                (ours, parry(&ball, position, velocity, &polygon, 1e3), Thing::polygon(&corners))
            }
        };
        let gap_at = |t: f64| {
            let there = Pose2 { at: position + velocity * t, heading: 0.0 };
            gap(&Thing::new(&Outline::disc(radius), there), &other)
        };
        let ours = ours.map(|m| m.since(Moment::ZERO));
        if let Some(t) = ours {
            all.own_gap = math::max(all.own_gap, gap_at(t).abs());
        }
        match (ours, theirs) {
            (Some(a), Some(b)) => {
                all.met += 1;
                all.their_gap = math::max(all.their_gap, gap_at(b).abs());
                // A grazing hit magnifies any error of the distance: those are told by their gap alone.
                if gap_at(a - 1e-4) > 2e-5 * velocity.norm() {
                    all.head_on += 1;
                    all.worst_m = math::max(all.worst_m, (a - b).abs() * velocity.norm());
                }
            }
            (None, None) => {}
            // One that only just touches may do so for one of us alone; the gap is convex in time.
            (a, b) => {
                let (mut from, mut until) = (0.0, 20.0);
                for _ in 0..120 {
                    let (early, late) = ((2.0 * from + until) / 3.0, (from + 2.0 * until) / 3.0);
                    if gap_at(early) < gap_at(late) { until = late } else { from = early }
                }
                let least = gap_at(from);
                assert!(least.abs() < 1e-7, "pair {k}: {a:?} here, {b:?} by parry, least gap {least}");
                all.grazing += 1;
            }
        }
    }
    println!("{pairs} pairs: {all:?}");
    all
}

/// A million pairs in all. Parry casts lines and polygons by iterations that stop some 10⁻⁸ m early or late; its distances
/// are exact.
#[test]
fn a_disc_meets_discs_when_parry_says() {
    let all = agreement(Target::Disc, 28, 400_000);
    assert!(all.head_on > 60_000 && all.grazing < 10 && all.worst_m < 1e-9, "{all:?}");
    assert!(all.own_gap < 1e-12 && all.their_gap < 1e-7, "{all:?}");
}

#[test]
fn a_disc_meets_lines_when_parry_says() {
    let all = agreement(Target::Line, 128, 300_000);
    assert!(all.head_on > 60_000 && all.grazing < 10 && all.worst_m < 1e-7, "{all:?}");
    assert!(all.own_gap < 1e-12 && all.their_gap < 1e-7, "{all:?}");
}

#[test]
fn a_disc_meets_polygons_when_parry_says() {
    let all = agreement(Target::Polygon, 228, 300_000);
    assert!(all.head_on > 60_000 && all.grazing < 10 && all.worst_m < 1e-7, "{all:?}");
    assert!(all.own_gap < 1e-12 && all.their_gap < 1e-7, "{all:?}");
}

/// Looks in small steps never find an overlap that was not told.
#[test]
fn time_slices_find_nothing_that_is_missed() {
    let mut dice = Dice::new(29);
    let bodies = crowd(&mut dice, 40, v(-6.0, -6.0), v(6.0, 6.0), true);
    let fixed = walls(v(-6.0, -6.0), v(6.0, 6.0));
    let flights = Flights::new(Space::Plane, &bodies, fixed.clone());
    let mut game = Billiard::new(flights, Space::Plane, &bodies, &fixed);
    let (mut worst, mut events) = (f64::INFINITY, 0);
    for step in 0..4_000 {
        let moment = at(f64::from(step) * 0.003);
        while game.collide(moment).is_some() {
            events += 1;
        }
        for k in 0..bodies.len() {
            let Shape::Disc(ra) = bodies[k].shape else { unreachable!() };
            let p = game.state(k, moment).0;
            worst = math::min(worst, 6.0 - ra - math::max(p.x.abs(), p.y.abs()));
            for (j, other) in bodies.iter().enumerate().take(k) {
                let Shape::Disc(rb) = other.shape else { unreachable!() };
                worst = math::min(worst, (p - game.state(j, moment).0).norm() - ra - rb);
            }
        }
    }
    println!("{events} events, least gap {worst:e}");
    assert!(events > 200 && worst > -1e-13);
}

fn arc(dice: &mut Dice) -> Path {
    let pose = Pose2 { at: dice.point(3.0), heading: dice.angle() };
    let twist = Twist2::new(dice.between(-1.0, 1.0), 0.0, dice.between(-3.0, 3.0));
    let segment = match dice.below(3) {
        0 => Segment::glide(0.0, pose, pose.rot(), dice.point(1.0), 0.0),
        1 => Segment::glide(0.0, pose, pose.rot(), dice.point(1.0), dice.between(-4.0, 4.0)),
        _ => Segment::arc(0.0, pose, pose.rot(), twist),
    };
    Path::along(Moment::ZERO, &segment)
}

/// The first meeting of discs and polygons on arcs, spins and lines, against gaps at many moments by parry2d.
#[test]
fn arcs_and_hulls_meet_when_dense_sampling_says() {
    let mut dice = Dice::new(30);
    let (mut met, mut free) = (0, 0);
    let (seconds, samples) = (4.0, 4_000);
    let fixed = edges(&[(v(-3.0, -3.2), v(3.0, -2.8)), (v(3.2, -3.0), v(2.9, 3.0))]);
    for case in 0..150 {
        let bodies: Vec<Flyer> = (0..5)
            .map(|rank| {
                let shape = if dice.chance(0.6) {
                    Shape::Disc(dice.scale(0.1, 0.5))
                } else {
                    Shape::Hull(Outline::polygon(&dice.convex(5, 0.4)).expect("convex"))
                };
                Flyer { shape, rank, path: arc(&mut dice), ghost: false }
            })
            .collect();
        let thing = |k: usize, moment: Moment| {
            let outline = match &bodies[k].shape {
                Shape::Disc(radius) => Outline::disc(*radius),
                Shape::Hull(outline) => outline.clone(),
            };
            Thing::new(&outline, bodies[k].path.pose_at(moment))
        };
        let least = |moment: Moment| {
            let mut least = f64::INFINITY;
            for k in 0..5 {
                let one = thing(k, moment);
                for j in 0..k {
                    least = math::min(least, gap(&one, &thing(j, moment)));
                }
                for e in fixed.edges() {
                    least = math::min(least, gap(&one, &Thing::line(e.a, e.b)));
                }
            }
            least
        };
        if least(Moment::ZERO) < 1e-3 {
            continue;
        }
        let mut flights = Flights::new(Space::Plane, &bodies, fixed.clone());
        let first = flights.next(at(seconds));
        let until = first.map_or(seconds, |m| m.moment.since(Moment::ZERO));
        for k in 0..samples {
            let t = seconds * f64::from(k) / f64::from(samples);
            assert!(t >= until || least(at(t)) > 0.0, "case {case}: overlap at {t}, told {first:?}");
        }
        let Some(meeting) = first else {
            free += 1;
            continue;
        };
        met += 1;
        assert!(least(meeting.moment).abs() < 2e-9, "case {case}: {} at {meeting:?}", least(meeting.moment));
        assert!(meeting.closing > -1e-9, "case {case}: {meeting:?}");
    }
    println!("{met} met, {free} did not");
    assert!(met > 40 && free > 5);
}

/// The stop rule with robots that turn, go on arcs and straight: nobody ever overlaps, and it ends.
#[test]
fn those_who_stop_at_meetings_never_overlap() {
    let mut dice = Dice::new(31);
    let mut bodies = crowd(&mut dice, 40, v(-5.0, -5.0), v(5.0, 5.0), true);
    let fixed = walls(v(-5.0, -5.0), v(5.0, 5.0));
    let mut flights = Flights::new(Space::Plane, &bodies, fixed);
    let (mut now, mut met) = (Moment::ZERO, 0);
    let mut least = f64::INFINITY;
    for round in 0..200 {
        for (k, body) in bodies.iter_mut().enumerate() {
            let pose = body.path.pose_at(now);
            let twist = Twist2::new(
                dice.between(0.0, 1.0),
                0.0,
                if dice.chance(0.5) { dice.between(-2.0, 2.0) } else { 0.0 },
            );
            let pose = Pose2 { heading: dice.angle(), ..pose };
            body.path = Path::along(now, &Segment::arc(0.0, pose, pose.rot(), twist));
            flights.set(k as u32, &body.path);
        }
        let bound = now.plus(0.2);
        let mut here = 0;
        while let Some(m) = flights.next(bound) {
            here += 1;
            assert!(here < 2_000, "round {round} does not end");
            let pair = [Some(m.body), if let With::Body(j) = m.with { Some(j) } else { None }];
            for k in pair.into_iter().flatten() {
                let body = &mut bodies[k as usize];
                body.path = Path::rest(m.moment, body.path.pose_at(m.moment));
                flights.set(k, &body.path);
            }
        }
        (met, now) = (met + here, bound);
        for k in 0..bodies.len() {
            let Shape::Disc(ra) = bodies[k].shape else { unreachable!() };
            let p = bodies[k].path.position_at(now);
            least = math::min(least, 5.0 - ra - math::max(p.x.abs(), p.y.abs()));
            for other in &bodies[..k] {
                let Shape::Disc(rb) = other.shape else { unreachable!() };
                least = math::min(least, (p - other.path.position_at(now)).norm() - ra - rb);
            }
        }
    }
    println!("{met} meetings, least gap {least:e}, until {}", Time(now.time.0));
    assert!(met > 500 && least > -1e-9);
}
