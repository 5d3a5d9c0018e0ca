//! Flocks, pursuit, coverage, consensus and platoons: numbers of theory.

use crate::common::{cloud, draw, ring};
use std::f64::consts::{PI, TAU};
use swarmyard_algorithms::geometry::moments;
use swarmyard_algorithms::lcm::flocks::{CuckerSmale, Moving, OlfatiSaber, Platoon, Reynolds, run};
use swarmyard_algorithms::lcm::rules::{Consensus, CyclicPursuit, LeaderFollower, Lloyd, Topology, Vicsek};
use swarmyard_algorithms::lcm::{Moves, Robots, Schedule, Setup, play};
use swarmyard_base::{Vec2, math};

fn named() -> Setup {
    Setup { names: true, same_m: 0.0, ..Setup::default() }
}

/// Order parameter: length of the mean of all headings.
fn order(robots: &Robots) -> f64 {
    let sum = robots.moved.iter().fold(Vec2::ZERO, |s, m| s + *m * (1.0 / m.norm()));
    sum.norm() / robots.len() as f64
}

/// Mean of the order parameter and of its square for n robots that all see each other.
fn vicsek(n: usize, noise_rad: f64, rounds: u64) -> (f64, f64) {
    let rule = Vicsek { step_m: 0.1, noise_rad };
    let mut robots = cloud(n, 1);
    let (mut one, mut two) = (0.0, 0.0);
    for r in 0..rounds + 5 {
        play::round(&rule, &named(), &Schedule::Full, Moves::Rigid, &mut robots, r);
        if r >= 5 {
            let phi = order(&robots);
            (one, two) = (one + phi, two + phi * phi);
        }
    }
    (one / rounds as f64, two / rounds as f64)
}

/// Variance of φ² of one round, for n headings with independent noise of means s = ⟨e^iξ⟩ and c = ⟨e^2iξ⟩ about a
/// common one: from the fourth moment of their sum, by which of its four places fall together.
fn variance(n: f64, s: f64, c: f64) -> f64 {
    let (pairs, s2) = (n * (n - 1.0), s * s);
    let triples = pairs * (n - 2.0);
    let doubles = n + pairs * c * c;
    let mixed = 2.0 * pairs * s2 + triples * c * s2;
    let singles = 2.0 * pairs + 4.0 * triples * s2 + triples * (n - 3.0) * s2 * s2;
    let (fourth, second) = (doubles + 2.0 * mixed + singles, n + pairs * s2);
    (fourth - second * second) / (n * n * n * n)
}

#[test]
fn headings_that_all_see_are_as_ordered_as_their_noise_allows() {
    let (n, rounds) = (40, 4000);
    for (noise, expected) in [(1.0, 0.95885), (2.0, 0.84147), (3.0, 0.66500), (4.0, 0.45465)] {
        let s = math::sin(0.5 * noise) / (0.5 * noise);
        assert!((s - expected).abs() < 1e-5);
        let (_, square) = vicsek(n, noise, rounds);
        let theory = s * s + (1.0 - s * s) / n as f64;
        let sigma = (variance(n as f64, s, math::sin(noise) / noise) / rounds as f64).sqrt();
        println!("vicsek, noise {noise}: <φ²> = {square:.5} for {theory:.5} ± {sigma:.5}");
        assert!((square - theory).abs() < 4.0 * sigma, "noise {noise}: {square}");
    }
    let (calm, _) = vicsek(n, 0.0, 20);
    assert!((calm - 1.0).abs() < 1e-9, "{calm}");
}

#[test]
fn headings_of_nothing_but_noise_are_as_ordered_as_a_random_walk_is_long() {
    let rounds = 1200;
    for (n, expected) in [(40, 0.1401), (100, 0.0886)] {
        // Of all directions alike, and anew in every round: the mean of n steps in the plane is √π/(2√n) long, and longer
        // by a part of 1/(16n); that of its square is 1/n.
        let theory = PI.sqrt() / (2.0 * f64::from(n).sqrt());
        assert!((theory - expected).abs() < 5e-5);
        let exact = theory * (1.0 + 1.0 / (16.0 * f64::from(n)));
        let sigma = ((1.0 / f64::from(n) - exact * exact) / rounds as f64).sqrt();
        let (mean, _) = vicsek(n as usize, TAU, rounds);
        println!("vicsek, noise 2π, n = {n}: <φ> = {mean:.5} for {exact:.5} ± {sigma:.5}");
        assert!((mean - exact).abs() < 4.0 * sigma, "n = {n}: {mean}");
    }
}

#[test]
fn headings_without_noise_agree_when_everybody_is_connected_to_everybody_by_way_of_others() {
    // A chain of groups, each in sight of the next: nobody sees more than a few, and steps change nothing of that.
    for seed in 0..3 {
        let d = draw(seed);
        let place = |k: u32| {
            Vec2::new(0.4 * f64::from(k) + d.between(2 * k, 0.0, 0.1), d.between(2 * k + 1, 0.0, 0.3))
        };
        let mut robots = Robots::at((0..20).map(place).collect());
        let setup = Setup { seed, sees_m: 1.0, ..named() };
        let seen = (0..20).map(|k| robots.at.iter().filter(|p| (**p - robots.at[k]).norm() <= 1.0).count());
        assert!(seen.clone().all(|n| (2..=6).contains(&n)), "{:?}", seen.collect::<Vec<_>>());
        let rule = Vicsek { step_m: 1e-9, noise_rad: 0.0 };
        let how = (&Schedule::Full, Moves::Rigid);
        let rounds = play::rounds(&rule, &setup, how, &mut robots, 3000, |r| {
            r.moved[0] != Vec2::ZERO && order(r) > 1.0 - 1e-6
        });
        println!("vicsek without noise, limited sight: order {:.7} after {rounds} rounds", order(&robots));
        assert!(order(&robots) > 1.0 - 1e-6, "seed {seed}: {}", order(&robots));
    }
}

#[test]
fn headings_fail_to_order_when_robots_do_not_see_each_other() {
    let mut robots = cloud(40, 1);
    let blind = Setup { sees_m: 1e-6, ..named() };
    let rule = Vicsek { step_m: 1e-3, noise_rad: 0.0 };
    play::rounds(&rule, &blind, (&Schedule::Full, Moves::Rigid), &mut robots, 200, |_| false);
    assert!(order(&robots) < 0.5, "{}", order(&robots));
}

#[test]
fn pursuers_on_a_polygon_meet_after_a_over_v_1_minus_cos() {
    for n in [3_usize, 4, 6] {
        let radius = 1.0 / (2.0 * math::sin(PI / n as f64));
        let steps_per_unit = 8_000.0;
        let expected = 1.0 / (1.0 - math::cos(TAU / n as f64));
        let mut robots = Robots::at(ring(n, radius, 0.0));
        let rule = CyclicPursuit { step_m: 1.0 / steps_per_unit };
        let steps = (0.9 * expected * steps_per_unit) as u64;
        play::rounds(&rule, &named(), (&Schedule::Full, Moves::Rigid), &mut robots, steps, |_| false);
        // The side shrinks evenly: what it lost in nine tenths of the time tells the rest.
        let side = (robots.at[0] - robots.at[1]).norm();
        let time = steps as f64 / steps_per_unit / (1.0 - side);
        println!("pursuit, n = {n}: {time:.4} for {expected:.4}");
        assert!((time - expected).abs() < 2e-3 * expected, "n = {n}: {time}");
        assert!(robots.centre().norm() < 1e-9, "the centre stays");
    }
}

fn lloyd(robots: &mut Robots, rule: &Lloyd, rounds: u64) {
    let setup = Setup { place: true, ..Setup::default() };
    play::rounds(rule, &setup, (&Schedule::Full, Moves::Rigid), robots, rounds, |_| false);
}

#[test]
fn coverage_of_a_line_has_the_eigenvalues_cos_squared() {
    let n = 10_usize;
    let strip = Lloyd { low: Vec2::ZERO, high: Vec2::new(1.0, 0.01) };
    let rest = |i: usize| (2 * i + 1) as f64 / (2 * n) as f64;
    for k in 1..=n {
        let wave = |i: usize| math::sin(PI * (k * (2 * i + 1)) as f64 / (2 * n) as f64);
        let place = |i: usize| Vec2::new(rest(i) + 1e-3 * wave(i), 0.005);
        let mut robots = Robots::at((0..n).map(place).collect());
        lloyd(&mut robots, &strip, 1);
        let c = math::cos(PI * k as f64 / (2 * n) as f64);
        for i in 0..n {
            let left = robots.at[i].x - rest(i);
            assert!((left - c * c * 1e-3 * wave(i)).abs() < 1e-12, "k = {k}, i = {i}");
        }
    }
    let slowest = math::cos(PI / 20.0);
    assert!((slowest * slowest - 0.975_528).abs() < 1e-6);
    let mut robots = Robots::at((0..n).map(|i| Vec2::new(0.04 * (i + 1) as f64, 0.005)).collect());
    lloyd(&mut robots, &strip, 1500);
    assert!((0..n).all(|i| (robots.at[i].x - rest(i)).abs() < 1e-9), "{:?}", robots.at);
    // The cost along the line is 1/(12 n²) for every unit of width; the rest is across it.
    let cost = strip.cost(&robots.at);
    let theory = 0.01 / (12.0 * (n * n) as f64) + 0.01 * 0.01 * 0.01 / 12.0;
    assert!((cost - theory).abs() < 1e-12, "{cost}");
}

#[test]
fn coverage_never_costs_more_than_before_and_never_less_than_hexagons() {
    let rule = Lloyd { low: Vec2::new(-5.0, -5.0), high: Vec2::new(5.0, 5.0) };
    let hexagon = 5.0 / (18.0 * 3_f64.sqrt());
    let (area, _, second) = moments(&ring(6, 1.0, 0.0), Vec2::ZERO);
    assert!((second / (area * area) - hexagon).abs() < 1e-12 && (hexagon - 0.160_375).abs() < 1e-6);
    for seed in 0..4 {
        let n = 30;
        let mut robots = cloud(n, 60 + seed);
        let mut cost = rule.cost(&robots.at);
        let bound = hexagon * 1e4 / n as f64;
        for _ in 0..150 {
            lloyd(&mut robots, &rule, 1);
            let now = rule.cost(&robots.at);
            assert!(now <= cost + 1e-9 && now >= bound, "{now} after {cost}, bound {bound}");
            cost = now;
        }
        println!("lloyd, n = {n}: {:.4} of the bound by hexagons", cost / bound);
        assert!(cost < 1.1 * bound, "{cost}, bound {bound}");
    }
}

#[test]
fn coverage_by_a_hexagonal_lattice_approaches_the_bound_of_hexagons() {
    let bound = 5.0 / (18.0 * 3_f64.sqrt());
    let mut above = Vec::new();
    for m in [8_usize, 16, 32] {
        // Rows half a step against each other, in a rectangle: only cells at its border are no hexagons.
        let high = 3_f64.sqrt() / 2.0;
        let place = |k: usize| {
            let (row, column) = (k / m, k % m);
            let shift = if row.is_multiple_of(2) { 0.25 } else { 0.75 };
            Vec2::new(column as f64 + shift, (row as f64 + 0.5) * high)
        };
        let at: Vec<Vec2> = (0..m * m).map(place).collect();
        let rule = Lloyd { low: Vec2::ZERO, high: Vec2::new(m as f64, m as f64 * high) };
        let area = (m * m) as f64 * high;
        let ratio = rule.cost(&at) / (bound * area * area / (m * m) as f64);
        println!("hexagons, n = {}: {ratio:.5} of the bound", m * m);
        // Who is in the middle is at the centroid of its cell, a hexagon, and stays.
        let (robots, k) = (Robots::at(at), m * m / 2 + m / 2);
        let setup = Setup { place: true, ..Setup::default() };
        let to = play::decide(&rule, &setup, &robots, k, 0, None).1;
        assert!((to - robots.at[k]).norm() < 1e-12, "{to:?}");
        above.push(ratio - 1.0);
    }
    // What is above the bound is at the border: it halves when the side doubles.
    assert!(above.iter().all(|a| *a > 0.0) && above[2] < 0.012, "{above:?}");
    assert!(above.windows(2).all(|w| (w[1] / w[0] - 0.5).abs() < 0.02), "{above:?}");
}

#[test]
fn disagreement_decays_by_the_second_eigenvalue_of_the_graph() {
    let n = 9_usize;
    let gain = 0.05;
    let path = |i: usize| math::cos(PI * (2 * i + 1) as f64 / (2 * n) as f64);
    let around = |i: usize| math::cos(TAU * i as f64 / n as f64);
    let ring_value = 2.0 * (1.0 - math::cos(TAU / n as f64));
    let path_value = 2.0 * (1.0 - math::cos(PI / n as f64));
    type Wave<'a> = &'a dyn Fn(usize) -> f64;
    let cases: [(Topology, f64, Wave<'_>); 3] = [
        (Topology::Ring, ring_value, &around),
        (Topology::Path, path_value, &path),
        (Topology::Complete, n as f64, &around),
    ];
    for (topology, value, wave) in cases {
        let mut robots = Robots::at((0..n).map(|i| Vec2::new(wave(i), 3.0)).collect());
        let centre = robots.centre();
        let rule = Consensus { topology, gain };
        play::rounds(&rule, &named(), (&Schedule::Full, Moves::Rigid), &mut robots, 10, |_| false);
        let factor = math::pow(1.0 - gain * value, 10.0);
        for i in 0..n {
            assert!((robots.at[i].x - factor * wave(i)).abs() < 1e-12, "{topology:?}");
        }
        assert!((robots.centre() - centre).norm() < 1e-12, "the mean stays");
    }
}

fn flock(n: usize, wide: f64, fast: f64, seed: u64) -> Vec<Moving> {
    let d = draw(seed);
    let pair = |k: u32, w: f64| Vec2::new(d.between(k, -w, w), d.between(k + 1, -w, w));
    (0..n as u32)
        .map(|k| Moving { robot: k, at: pair(4 * k, wide), velocity: pair(4 * k + 2, fast) })
        .collect()
}

fn momentum(robots: &[Moving]) -> Vec2 {
    robots.iter().fold(Vec2::ZERO, |s, r| s + r.velocity)
}

#[test]
fn velocities_of_cucker_and_smale_agree_and_their_mean_never_changes() {
    let mut robots = flock(15, 3.0, 1.0, 1);
    let before = momentum(&robots);
    run(&CuckerSmale::default(), &mut robots, 0.0, 0.05, 2000);
    assert!((momentum(&robots) - before).norm() < 1e-10);
    let mean = before * (1.0 / 15.0);
    let worst = robots.iter().map(|r| (r.velocity - mean).norm()).fold(0.0, math::max);
    assert!(worst < 1e-3, "{worst}");
}

#[test]
fn velocities_of_cucker_and_smale_fail_to_agree_when_the_pull_decays_too_fast() {
    // Far apart and fast: they are out of each other's reach before they agree.
    let rule = CuckerSmale { strength: 0.1, decay: 2.0 };
    let mut robots = flock(15, 10.0, 1.0, 1);
    run(&rule, &mut robots, 0.0, 0.05, 2000);
    let mean = momentum(&robots) * (1.0 / 15.0);
    let worst = robots.iter().map(|r| (r.velocity - mean).norm()).fold(0.0, math::max);
    assert!(worst > 0.3, "{worst}");
}

/// Groups of robots that are connected by distances below `range`.
fn groups(robots: &[Moving], range: f64) -> usize {
    let mut group: Vec<usize> = (0..robots.len()).collect();
    for i in 0..robots.len() {
        for j in 0..i {
            if (robots[i].at - robots[j].at).norm() < range && group[i] != group[j] {
                let (from, to) = (group[i], group[j]);
                group.iter_mut().filter(|g| **g == from).for_each(|g| *g = to);
            }
        }
    }
    group.sort_unstable();
    group.dedup();
    group.len()
}

#[test]
fn olfati_sabers_energy_never_grows_and_only_with_a_goal_the_flock_stays_whole() {
    let start = flock(25, 25.0, 1.0, 3);
    let mut end = Vec::new();
    for rule in [OlfatiSaber::free(), OlfatiSaber::towards(Vec2::ZERO, Vec2::ZERO)] {
        let mut robots = start.clone();
        let mut energy = rule.energy(&robots);
        for _ in 0..100 {
            run(&rule, &mut robots, 0.0, 0.02, 20);
            let now = rule.energy(&robots);
            assert!(now <= energy + 1e-6 * math::max(energy.abs(), 1.0), "{now} after {energy}");
            energy = now;
        }
        end.push(groups(&robots, rule.r));
    }
    println!("olfati-saber: {} groups without a goal, {} with one", end[0], end[1]);
    assert!(end[0] > 1, "algorithm 1 fails to keep the flock together");
    assert_eq!(end[1], 1, "algorithm 2 keeps it together");
}

#[test]
fn boids_keep_their_momentum_and_do_the_same_again() {
    let mut robots = flock(12, 4.0, 1.0, 5);
    let (before, mut again) = (momentum(&robots), robots.clone());
    run(&Reynolds::default(), &mut robots, 0.0, 0.01, 1000);
    run(&Reynolds::default(), &mut again, 0.0, 0.01, 1000);
    assert!((momentum(&robots) - before).norm() < 1e-9);
    assert_eq!(robots, again);
}

fn top_gain(platoon: &Platoon) -> f64 {
    (1..40_000).map(|k| platoon.gain(f64::from(k) * 1e-3)).fold(0.0, math::max)
}

#[test]
fn a_platoon_is_string_stable_iff_kp_h2_plus_2_kd_h_is_at_least_2() {
    for kp in [0.3, 1.0, 2.5] {
        for kd in [0.2, 1.0, 3.0] {
            // The headway at which kp h² + 2 kd h = 2.
            let h = f64::sqrt(kd * kd + 2.0 * kp) - kd;
            let h = h / kp;
            for (headway_s, stable) in [(1.02 * h, true), (0.98 * h, false), (0.0, false)] {
                let platoon = Platoon { kp, kd, headway_s, ..Platoon::default() };
                assert_eq!(platoon.string_stable(), stable);
                assert_eq!(top_gain(&platoon) <= 1.0, stable, "kp {kp}, kd {kd}, h {headway_s}");
            }
        }
    }
    let threshold = 3_f64.sqrt() - 1.0;
    assert!((threshold - 0.732_05).abs() < 1e-5);
    let none = top_gain(&Platoon { headway_s: 0.0, ..Platoon::default() });
    println!("platoon without headway: a swing grows by {none:.4} from car to car at worst");
    assert!((none - 1.468).abs() < 1e-3, "{none}");
}

/// Amplitude of the speed of each car when the first one swings.
fn swings(platoon: &Platoon, cars: u32) -> Vec<f64> {
    let place = |k: u32| Moving { robot: k, at: Vec2::new(-2.0 * f64::from(k), 0.0), velocity: Vec2::ZERO };
    let mut robots: Vec<Moving> = (0..cars).map(place).collect();
    let dt = TAU / platoon.omega / 200.0;
    run(platoon, &mut robots, 0.0, dt, 200 * 60);
    let mut top = vec![(f64::MAX, f64::MIN); cars as usize];
    for k in 0..200 {
        run(platoon, &mut robots, f64::from(200 * 60 + k) * dt, dt, 1);
        for (t, r) in top.iter_mut().zip(&robots) {
            *t = (math::min(t.0, r.velocity.x), math::max(t.1, r.velocity.x));
        }
    }
    top.iter().map(|t| 0.5 * (t.1 - t.0)).collect()
}

#[test]
fn a_swing_of_the_first_car_grows_or_shrinks_by_the_gain_of_theory() {
    for (headway_s, omega) in [(1.0, 0.5), (1.0, 1.5), (0.3, 0.8), (0.0, 1.0)] {
        let platoon = Platoon { headway_s, omega, swing: 0.5, ..Platoon::default() };
        let measured = swings(&platoon, 4);
        for pair in measured.windows(2) {
            let gain = pair[1] / pair[0];
            assert!((gain - platoon.gain(omega)).abs() < 2e-3, "h {headway_s}, ω {omega}: {gain}");
        }
        println!(
            "platoon, h {headway_s}, ω {omega}: {:.4} for {:.4}",
            measured[1] / measured[0],
            platoon.gain(omega)
        );
    }
}

/// By how much a swing grows from the first car to the second: amplitudes at its frequency, over one period.
fn simulated_gain(platoon: &Platoon) -> f64 {
    const STEPS: u32 = 1600;
    let place = |k: u32| Moving { robot: k, at: Vec2::new(-2.0 * f64::from(k), 0.0), velocity: Vec2::ZERO };
    let mut robots: Vec<Moving> = (0..2).map(place).collect();
    let dt = TAU / platoon.omega / f64::from(STEPS);
    // What is left of the start after a minute is below rounding.
    let settled = STEPS * (60.0 * platoon.omega / TAU).ceil() as u32;
    run(platoon, &mut robots, 0.0, dt, settled);
    let mut waves = [Vec2::ZERO; 2];
    for k in 0..STEPS {
        let phase = Vec2::at_angle(TAU * f64::from(k) / f64::from(STEPS));
        for (wave, robot) in waves.iter_mut().zip(&robots) {
            *wave = *wave + phase * robot.velocity.x;
        }
        run(platoon, &mut robots, f64::from(settled + k) * dt, dt, 1);
    }
    waves[1].norm() / waves[0].norm()
}

/// The headway below which a swing of that frequency grows.
fn simulated_threshold(omega: f64) -> f64 {
    let (mut low, mut high) = (0.5, 1.0);
    while high - low > 1e-7 {
        let headway_s = 0.5 * (low + high);
        let grows = simulated_gain(&Platoon { headway_s, omega, swing: 0.5, ..Platoon::default() }) > 1.0;
        *(if grows { &mut low } else { &mut high }) = headway_s;
    }
    0.5 * (low + high)
}

#[test]
fn a_simulated_platoon_is_string_stable_from_a_headway_of_73205_on() {
    // Slow swings are the last to grow; the threshold for the slowest follows from two slow ones, as it is even in ω.
    let (slow, slower) = (simulated_threshold(0.2), simulated_threshold(0.1));
    let threshold = slower + (slower - slow) / 3.0;
    println!("platoon: threshold {slow:.6} for ω = 0.2, {slower:.6} for 0.1, {threshold:.6} in the end");
    assert!((threshold - 0.732_05).abs() < 1e-4, "{threshold}");
}

#[test]
fn a_platoon_without_headway_fails_to_calm_a_swing() {
    let platoon = Platoon { headway_s: 0.0, omega: 1.0, swing: 0.5, ..Platoon::default() };
    let measured = swings(&platoon, 6);
    assert!(measured.windows(2).all(|w| w[1] > 1.2 * w[0]), "{measured:?}");
}

#[test]
fn a_follower_that_foresees_is_exactly_in_its_place_and_one_that_does_not_is_one_round_late() {
    let (step, offset) = (Vec2::new(0.3, 0.1), Vec2::new(-1.0, 0.5));
    for foresees in [true, false] {
        let mut robots = cloud(4, 2);
        let rule = LeaderFollower { step, offset, foresees };
        play::rounds(&rule, &named(), (&Schedule::Full, Moves::Rigid), &mut robots, 10, |_| false);
        for k in 1..4 {
            let error = (robots.at[k] - (robots.at[0] + offset * k as f64)).norm();
            let expected = if foresees { 0.0 } else { step.norm() };
            assert!((error - expected).abs() < 1e-12, "{error}");
        }
    }
}
