//! Circles, spreading along them, scattering, and symmetry.

use crate::common::{any_frames, cloud, ring, rule, schedules, slope};
use std::f64::consts::{PI, TAU};
use swarmyard_algorithms::geometry::{rotations, smallest_enclosing_circle, symmetricity};
use swarmyard_algorithms::lcm::rules::{CircleFormation, PatternFormation, Scatter, Spread};
use swarmyard_algorithms::lcm::{Frame, Frames, Moves, Robots, Schedule, Setup, play};
use swarmyard_base::{Rot2, Vec2, math};

/// How near two robots come to each other that all go straight, from the first moment to the last.
fn nearest_on_the_way(before: &Robots, after: &Robots) -> f64 {
    let n = before.len();
    let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
    let nearest = |(i, j): (usize, usize)| {
        let (from, to) = (before.at[i] - before.at[j], after.at[i] - after.at[j]);
        let (way, back) = (to - from, -from);
        let share = if way.norm2() > 0.0 { back.dot(way) / way.norm2() } else { 0.0 };
        (from + way * math::max(0.0, math::min(1.0, share))).norm()
    };
    pairs.map(nearest).fold(f64::INFINITY, math::min)
}

/// Gaps between neighbours on the circle, as angles.
fn gaps(robots: &Robots) -> Vec<f64> {
    let centre = smallest_enclosing_circle(&robots.at).centre;
    let mut angles: Vec<f64> = robots.at.iter().map(|p| (*p - centre).angle()).collect();
    angles.sort_by(f64::total_cmp);
    let next = |k: usize| if k + 1 < angles.len() { angles[k + 1] } else { angles[0] + TAU };
    (0..angles.len()).map(|k| next(k) - angles[k]).collect()
}

#[test]
fn who_goes_to_the_circle_goes_to_where_it_is_nearer_than_anybody_else() {
    let mut within = 0;
    for seed in 0..200 {
        let robots = cloud(5 + seed as usize % 20, 900 + seed);
        let circle = smallest_enclosing_circle(&robots.at);
        for k in 0..robots.len() {
            let (_, to) = play::decide(&CircleFormation, &any_frames(seed), &robots, k, 0, None);
            let others = (0..robots.len()).filter(|j| *j != k).map(|j| (robots.at[j] - to).norm());
            let nearest = others.fold(f64::INFINITY, math::min);
            let way = (robots.at[k] - to).norm();
            assert!(
                way < (1.0 - 1e-6) * nearest,
                "seed {seed}, robot {k}: {way} m for it, {nearest} m for another"
            );
            within += u32::from(way > 0.0 && !circle.passes(to, 1e-6));
        }
    }
    println!("circle: {within} moves ended within a cell");
    assert!(within > 100, "the way to the circle was never blocked: {within}");
}

#[test]
fn robots_form_a_circle_in_finite_time_and_spread_evenly_without_meeting() {
    let mut longest = 0;
    for seed in 0..6 {
        for schedule in schedules() {
            let n = 4 + 2 * seed as usize;
            let mut robots = cloud(n, 500 + seed);
            let setup = any_frames(seed);
            let circle = smallest_enclosing_circle(&robots.at);
            let mut formed = None;
            let rounds =
                if matches!(schedule, Schedule::OneRandom | Schedule::RoundRobin) { 3000 } else { 800 };
            for r in 0..rounds {
                let before = robots.clone();
                play::round(&CircleFormation, &setup, &schedule, Moves::Rigid, &mut robots, r);
                let near = nearest_on_the_way(&before, &robots);
                assert!(near > 1e-4, "seed {seed}, {schedule:?}, round {r}: {near} m on the way");
                let now = smallest_enclosing_circle(&robots.at);
                assert!((now.centre - circle.centre).norm() < 1e-6, "seed {seed}, {schedule:?}, round {r}");
                assert!((now.radius - circle.radius).abs() < 1e-6);
                if formed.is_none() && robots.at.iter().all(|p| circle.passes(*p, 1e-6)) {
                    formed = Some(r);
                }
            }
            let formed = formed.unwrap_or_else(|| panic!("no circle: seed {seed}, {schedule:?}"));
            if schedule == Schedule::Full {
                longest = longest.max(formed);
            }
            let worst = gaps(&robots).iter().map(|g| (g - TAU / n as f64).abs()).fold(0.0, math::max);
            assert!(worst < 1e-2, "seed {seed}, {schedule:?}: gap off by {worst}");
        }
    }
    println!("circle, fsync: on the circle after {longest} rounds at most");
}

/// By which factor one round changes a small swing of n robots on a circle with k waves.
fn factor(spread: Spread, n: usize, k: usize) -> f64 {
    let wave = |i: usize| math::cos(TAU * (k * i) as f64 / n as f64);
    let place = |i: usize| Vec2::at_angle(TAU * i as f64 / n as f64 + 0.01 * wave(i)) * 2.0;
    let mut robots = Robots::at((0..n).map(place).collect());
    play::round(&spread, &Setup::default(), &Schedule::Full, Moves::Rigid, &mut robots, 0);
    // Angles of the places without the swing are known: what is left is the swing.
    let centre = smallest_enclosing_circle(&robots.at).centre;
    let swing = |i: usize| math::wrap_angle((robots.at[i] - centre).angle() - TAU * i as f64 / n as f64);
    let (above, below): (f64, f64) =
        (0..n).fold((0.0, 0.0), |(a, b), i| (a + swing(i) * wave(i), b + 0.01 * wave(i) * wave(i)));
    above / below
}

#[test]
fn spreading_has_the_eigenvalues_of_theory() {
    for n in [5, 6, 8, 11] {
        for k in 1..n {
            let c = math::cos(TAU * k as f64 / n as f64);
            let (half, full) = (factor(Spread::HalfWay, n, k), factor(Spread::ToMidpoint, n, k));
            assert!((half - 0.5 * (1.0 + c)).abs() < 1e-6, "n = {n}, k = {k}: {half}");
            assert!((full - c).abs() < 1e-6, "n = {n}, k = {k}: {full}");
        }
    }
}

#[test]
fn robots_on_a_circle_are_even_in_the_limit_only() {
    let n = 8;
    let mut robots = Robots::at((0..n).map(|i| Vec2::at_angle(0.7 * f64::from(i))).collect());
    let uneven = |r: &Robots| gaps(r).iter().map(|g| (g - TAU / f64::from(n)).abs()).fold(0.0, math::max);
    let how = (&Schedule::Full, Moves::Rigid);
    play::rounds(&Spread::HalfWay, &Setup::default(), how, &mut robots, 60, |_| false);
    // The slowest wave is left, and shrinks by its eigenvalue in every round: it is never gone.
    let slowest = 0.5 * (1.0 + math::cos(TAU / f64::from(n)));
    for r in 60..100 {
        let before = uneven(&robots);
        play::round(&Spread::HalfWay, &Setup::default(), how.0, how.1, &mut robots, r);
        let factor = uneven(&robots) / before;
        assert!((factor - slowest).abs() < 1e-3, "round {r}: {factor} for {slowest}");
    }
    println!(
        "on a circle of 8: gaps off by {:.1e} after 100 rounds, by {slowest:.6} of it a round",
        uneven(&robots)
    );
}

#[test]
fn spreading_to_the_midpoint_fails_on_a_circle_of_even_number() {
    let swung = |n: usize| {
        let turn = |i: usize| TAU * i as f64 / n as f64 + if i.is_multiple_of(2) { 0.05 } else { -0.05 };
        let mut robots = Robots::at((0..n).map(|i| Vec2::at_angle(turn(i))).collect());
        let how = (&Schedule::Full, Moves::Rigid);
        play::rounds(&Spread::ToMidpoint, &Setup::default(), how, &mut robots, 2000, |_| false);
        gaps(&robots).iter().map(|g| (g - TAU / n as f64).abs()).fold(0.0, math::max)
    };
    assert!((swung(8) - 0.1).abs() < 1e-6, "it swings for ever: {}", swung(8));
    assert!(swung(7) < 1e-6, "an odd number comes to rest: {}", swung(7));
}

#[test]
fn robots_of_a_tower_scatter_and_never_meet_again() {
    let mut means = Vec::new();
    for n in [8_usize, 32, 128] {
        let runs = 60;
        let mut sum = 0;
        for seed in 0..runs {
            let at = [vec![Vec2::ZERO; n / 2], vec![Vec2::new(1.0, 0.0); n / 2]];
            let mut robots = Robots::at(at.concat());
            let setup = Setup { seed, same_m: 1e-12, ..Setup::default() };
            let how = (&Schedule::Full, Moves::Rigid);
            let mut before = robots.clone();
            sum += play::rounds(&Scatter, &setup, how, &mut robots, 300, |r| {
                for (a, b) in (0..n).flat_map(|a| (0..a).map(move |b| (a, b))) {
                    let (was, is) = ((before.at[a] - before.at[b]).norm(), (r.at[a] - r.at[b]).norm());
                    assert!(is >= 0.5 * was - 1e-12, "{is} m apart after {was} m");
                }
                before = r.clone();
                r.towers(1e-12).len() == n
            });
            assert_eq!(robots.towers(1e-12).len(), n);
        }
        let mean = sum as f64 / runs as f64;
        println!("scatter, n = {n}: {mean:.2} rounds");
        means.push((math::ln(n as f64) / math::ln(2.0), mean));
    }
    let growth = slope(&means);
    println!("scatter: {growth:.2} rounds per doubling");
    assert!((0.8..1.2).contains(&growth), "{growth}");
}

#[test]
fn scattering_fails_without_chance() {
    // All see the same, so all do the same.
    for name in ["circle", "spread", "gather", "centre-of-gravity"] {
        let mut robots = Robots::at([vec![Vec2::ZERO; 4], ring(3, 2.0, 0.3)].concat());
        let how = (&Schedule::Full, Moves::Rigid);
        play::rounds(rule(name).as_ref(), &Setup::default(), how, &mut robots, 50, |_| false);
        assert!(robots.towers(1e-9).iter().any(|t| t.1 >= 4), "`{name}` parted a tower");
    }
}

#[test]
fn symmetry_is_never_broken_by_robots_whose_frames_have_it_too() {
    // The impossible side of pattern formation: what has the symmetricity k keeps its rotations for ever.
    for name in ["centre-of-gravity", "go-to-the-centre", "gather", "circle", "spread"] {
        for k in 2..6_usize {
            let inner = ring(k, 1.0, 0.7);
            let start = Robots::at([ring(k, 2.0, 0.2), inner].concat());
            assert_eq!(symmetricity(&start.at, 1e-9), k);
            let frame = |i: usize| Frame { turn: TAU * (i % k) as f64 / k as f64, scale: 1.0, mirror: false };
            let setup = Setup { given: (0..2 * k).map(frame).collect(), ..Setup::default() };
            let mut robots = start;
            for r in 0..30 {
                play::round(rule(name).as_ref(), &setup, &Schedule::Full, Moves::Rigid, &mut robots, r);
                let order = rotations(&robots.at, 1e-6);
                assert!(order.is_multiple_of(k), "`{name}`, k = {k}, round {r}: {order}");
            }
        }
    }
}

#[test]
fn a_regular_polygon_is_formed_from_robots_without_symmetry() {
    // The possible side, for the one pattern whose symmetricity every other divides.
    let mut robots = cloud(6, 12);
    assert_eq!(symmetricity(&robots.at, 1e-6), 1);
    let how = (&Schedule::Full, Moves::Rigid);
    play::rounds(&CircleFormation, &any_frames(3), how, &mut robots, 400, |_| false);
    assert_eq!(symmetricity(&robots.at, 1e-6), 6);
    assert!(gaps(&robots).iter().all(|g| (g - PI / 3.0).abs() < 1e-6));
}

/// Whether points are a turned, shifted and scaled copy of a pattern.
fn similar(points: &[Vec2], pattern: &[Vec2]) -> bool {
    let normal = |p: &[Vec2]| -> Vec<Vec2> {
        let c = smallest_enclosing_circle(p);
        p.iter().map(|q| (*q - c.centre) * (1.0 / c.radius)).collect()
    };
    let (p, f) = (normal(points), normal(pattern));
    let Some(first) = p.iter().find(|q| q.norm() > 0.5) else { return false };
    f.iter().filter(|q| q.norm() > 0.5).any(|q| {
        let turn = Rot2::new(first.angle() - q.angle());
        f.iter().all(|q| p.iter().any(|p| (*p - turn.apply(*q)).norm() < 1e-6))
    })
}

/// Configurations of 12 robots with known symmetricity.
fn twelve() -> Vec<(usize, Vec<Vec2>)> {
    let mut all: Vec<(usize, Vec<Vec2>)> = vec![(1, cloud(12, 31).at), (12, ring(12, 1.0, 0.4))];
    for k in [2, 3, 4, 6] {
        let rings = (0..12 / k).map(|j| ring(k, 1.0 + 0.3 * j as f64, 0.37 * (j * j) as f64));
        all.push((k, rings.flatten().collect()));
    }
    let mut centred = ring(11, 2.0, 0.1);
    centred.push(Vec2::ZERO);
    all.push((1, centred));
    for (k, points) in &all {
        assert_eq!(symmetricity(points, 1e-7), *k);
    }
    all
}

#[test]
fn a_pattern_is_formed_iff_the_symmetricity_of_the_start_divides_its_own() {
    let (mut formed, mut refused) = (0, 0);
    for (k, start) in twelve() {
        for (m, pattern) in twelve() {
            let rule = PatternFormation { pattern: pattern.clone() };
            let frames = Frames { rotate: true, scale: true, mirror: false, redraw: true };
            let setup = Setup { frames, ..Setup::default() };
            let mut robots = Robots::at(start.clone());
            play::rounds(&rule, &setup, (&Schedule::Full, Moves::Rigid), &mut robots, 6, |_| false);
            assert_eq!(similar(&robots.at, &pattern), m % k == 0, "from {k} to {m}");
            if m % k == 0 {
                formed += 1;
                let there = robots.clone();
                play::round(&rule, &setup, &Schedule::Full, Moves::Rigid, &mut robots, 7);
                assert!((0..12).all(|i| (there.at[i] - robots.at[i]).norm() < 1e-6), "and they stay there");
            } else {
                refused += 1;
            }
        }
    }
    println!("patterns: {formed} formed, {refused} cannot be");
}
