//! Numbers of the theory of convergence: centre of gravity, midpoint, minbox, limited sight.

mod common;

use common::{cloud, in_sight, lost_sight, ring, rule, schedules, slope};
use std::f64::consts::PI;
use swarmyard_algorithms::geometry::{convex_hull, in_convex};
use swarmyard_algorithms::lcm::rules::{Ando, Gravity, Midpoint, MinBox};
use swarmyard_algorithms::lcm::{Demon, Moves, Robots, Schedule, Script, Setup, play};
use swarmyard_base::{Vec2, math};

fn one_round(robots: &Robots, active: Vec<u32>) -> Robots {
    let mut after = robots.clone();
    let schedule = Schedule::Script(Script::Rounds(vec![active]));
    play::round(&Gravity, &Setup::default(), &schedule, Moves::Rigid, &mut after, 0);
    after
}

#[test]
fn fully_synchronous_robots_gather_at_the_centre_of_gravity_in_one_round() {
    for n in 2..20 {
        let mut robots = cloud(n, n as u64);
        let centre = robots.centre();
        let setup = common::any_frames(n as u64);
        play::round(&Gravity, &setup, &Schedule::Full, Moves::Rigid, &mut robots, 0);
        assert!(robots.diameter() < 1e-12 && (robots.centre() - centre).norm() < 1e-12);
    }
}

#[test]
fn spread_shrinks_by_1_minus_p_times_1_minus_p_over_n_on_average() {
    for (n, p) in [(3_u32, 0.5), (6, 0.3), (10, 0.5)] {
        let robots = cloud(n as usize, 3);
        // The average over all sets of active robots, each with its probability: no chance in it.
        let mean: f64 = (0..1_u32 << n)
            .map(|set| {
                let active: Vec<u32> = (0..n).filter(|k| set >> k & 1 == 1).collect();
                let (on, off) = (f64::from(active.len() as u32), f64::from(n - active.len() as u32));
                let weight = math::pow(p, on) * math::pow(1.0 - p, off);
                weight * one_round(&robots, active).spread()
            })
            .sum();
        let expected = (1.0 - p) * (1.0 - p / f64::from(n));
        assert!((mean / robots.spread() - expected).abs() < 1e-12, "n = {n}, p = {p}");
    }
    // The schedule itself draws sets with those probabilities.
    let (robots, runs) = (cloud(10, 3), 4000);
    let mean = (0..runs).map(|seed| {
        let mut after = robots.clone();
        let setup = Setup { seed, ..Setup::default() };
        play::round(&Gravity, &setup, &Schedule::Random { p: 0.5 }, Moves::Rigid, &mut after, 0);
        after.spread() / robots.spread()
    });
    let mean = mean.sum::<f64>() / runs as f64;
    println!("n = 10, p = 0.5: {mean:.4} for 0.475");
    // One round has a standard deviation of about 0.15.
    assert!((mean - 0.475).abs() < 5.0 * 0.15 / (runs as f64).sqrt(), "{mean}");
}

#[test]
fn spread_shrinks_by_1_minus_1_over_n_minus_1_over_n2_with_one_robot_at_a_time() {
    for n in [2_u32, 5, 10, 30] {
        let robots = cloud(n as usize, 4);
        let mean = (0..n).map(|k| one_round(&robots, vec![k]).spread()).sum::<f64>() / f64::from(n);
        let x = 1.0 / f64::from(n);
        assert!((mean / robots.spread() - (1.0 - x - x * x)).abs() < 1e-12, "n = {n}");
    }
}

#[test]
fn round_robin_contracts_by_the_second_eigenvalue_of_a_turn() {
    for (n, expected) in [(2, 0.25), (3, 0.192_450), (10, 0.139_036)] {
        let mut robots = cloud(n, 5);
        let turns = 3000;
        let mut log = 0.0;
        for _ in 0..turns {
            common::rescale(&mut robots);
            for k in 0..n as u64 {
                play::round(&Gravity, &Setup::default(), &Schedule::RoundRobin, Moves::Rigid, &mut robots, k);
            }
            log += math::ln(robots.diameter());
        }
        let rate = math::exp(log / f64::from(turns));
        println!("round robin, n = {n}: {rate:.6} for {expected}");
        assert!((rate - expected).abs() < 1e-3 * expected, "n = {n}: {rate}");
    }
}

#[test]
fn the_hull_never_grows_under_any_scheduler() {
    for schedule in schedules() {
        for moves in [Moves::Rigid, Moves::Flexible { delta_m: 0.1 }] {
            let mut robots = cloud(8, 6);
            for r in 0..60 {
                let hull = convex_hull(&robots.at);
                play::round(&Gravity, &Setup::default(), &schedule, moves, &mut robots, r);
                assert!(robots.at.iter().all(|p| in_convex(&hull, *p, 1e-12)));
            }
        }
    }
    // Asynchrony: what was seen long ago is still within the first hull.
    for seed in 0..20 {
        let mut robots = cloud(8, seed);
        let hull = convex_hull(&robots.at);
        let schedule = Schedule::Async { wait: 0.5, compute: 2.0, travel: 3.0 };
        let setup = Setup { seed, ..Setup::default() };
        let how = (&schedule, Moves::Rigid, 0.8);
        play::in_time(&Gravity, &setup, how, &mut robots, 60.0, |_, _, now| {
            assert!(now.at.iter().all(|p| in_convex(&hull, *p, 1e-9)));
        });
    }
}

/// Rounds of asynchrony (in each everybody has begun and ended a cycle) for every halving of `width`, over
/// twenty halvings.
fn rounds_per_halving(
    rule: &dyn swarmyard_algorithms::lcm::Rule,
    n: usize,
    seed: u64,
    means: [f64; 3],
    width: &dyn Fn(&Robots) -> f64,
) -> f64 {
    let schedule = Schedule::Async { wait: means[0], compute: means[1], travel: means[2] };
    let setup = Setup { seed, same_m: 0.0, ..Setup::default() };
    let mut robots = cloud(n, seed);
    let small = width(&robots) / f64::from(1 << 20);
    let (mut rounds, mut found) = (0, None);
    let mut looks = vec![0_u32; n];
    let until = 120.0 * (means[0] + means[1] + means[2]);
    play::in_time(rule, &setup, (&schedule, Moves::Rigid, 0.8), &mut robots, until, |k, _, now| {
        looks[k] += 1;
        // From one look to the next there is a whole cycle.
        if looks.iter().all(|l| *l >= 2) {
            rounds += 1;
            looks.iter_mut().for_each(|l| *l = 0);
        }
        if found.is_none() && width(now) <= small {
            found = Some(rounds);
        }
    });
    f64::from(found.expect("so many cycles are enough")) / 20.0
}

/// Activates robots one by one, each once in every round of n steps: always the one whose move keeps the
/// diameter greatest.
struct Greedy {
    left: Vec<usize>,
}

impl Demon for Greedy {
    fn active(&mut self, robots: &Robots, _: u64) -> Vec<bool> {
        if self.left.is_empty() {
            self.left = (0..robots.len()).collect();
        }
        let after = |k: &usize| one_round(robots, vec![*k as u32]).diameter();
        let best =
            (0..self.left.len()).max_by(|a, b| after(&self.left[*a]).total_cmp(&after(&self.left[*b])));
        let chosen = self.left.swap_remove(best.expect("somebody is left"));
        (0..robots.len()).map(|k| k == chosen).collect()
    }
}

#[test]
fn a_greedy_adversary_cannot_keep_robots_from_halving_their_diameter_within_n_squared_rounds() {
    for n in [2, 4, 8, 16, 32] {
        let mut robots = cloud(n, 9);
        let setup = Setup { same_m: 0.0, ..Setup::default() };
        let small = robots.diameter() / 1024.0;
        let mut demon = Greedy { left: Vec::new() };
        let done = |r: &Robots| r.diameter() <= small;
        let steps = play::against(&Gravity, &setup, &mut demon, &mut robots, 10 * (n * n * n) as u64, done);
        let rounds = steps as f64 / n as f64 / 10.0;
        println!("centre of gravity against a greedy adversary, n = {n}: {rounds:.2} rounds per halving");
        assert!(done(&robots) && rounds <= (n * n) as f64);
    }
}

const TIMES: [[f64; 3]; 3] = [[0.5, 0.2, 0.8], [0.01, 5.0, 5.0], [5.0, 0.01, 0.01]];

#[test]
fn asynchronous_robots_halve_their_diameter_within_n_squared_rounds() {
    for n in [2, 4, 8, 16, 32] {
        let runs = (0..6).flat_map(|seed| TIMES.map(|means| (seed, means)));
        let worst = runs.map(|(seed, means)| rounds_per_halving(&Gravity, n, seed, means, &Robots::diameter));
        let worst = worst.fold(0.0, math::max);
        println!("centre of gravity, async, n = {n}: {worst:.2} rounds per halving at worst");
        assert!(worst > 0.0 && worst <= (n * n) as f64, "n = {n}: {worst}");
    }
}

#[test]
fn minbox_halves_both_sides_of_the_box_in_a_number_of_rounds_that_does_not_depend_on_n() {
    for name in ["width", "height"] {
        let side = |r: &Robots| {
            let all = r.at.iter().map(|p| if name == "width" { p.x } else { p.y });
            all.clone().fold(f64::MIN, math::max) - all.fold(f64::MAX, math::min)
        };
        let mut measured = Vec::new();
        for n in [4, 8, 16, 32, 64] {
            let runs = (0..6).flat_map(|seed| TIMES.map(|means| (seed, means)));
            let worst = runs.map(|(seed, means)| rounds_per_halving(&MinBox, n, seed, means, &side));
            measured.push((n as f64, worst.fold(0.0, math::max)));
        }
        println!("minbox, async, (n, rounds per halving of the {name} at worst): {measured:.2?}");
        assert!(measured.iter().all(|m| m.1 > 0.0 && m.1 <= 3.0), "{measured:?}");
        assert!(slope(&measured).abs() < 0.02, "{measured:?}");
    }
}

#[test]
fn a_crashed_robot_draws_the_others_to_itself() {
    let n = 6;
    let mut robots = cloud(n, 8);
    let crashed = robots.at[0];
    let rounds = (0..2000_u32).map(|r| (1..n as u32).filter(|k| (r + k) % 3 > 0).collect()).collect();
    let schedule = Schedule::Script(Script::Rounds(rounds));
    let setup = Setup { same_m: 0.0, ..Setup::default() };
    play::rounds(&Gravity, &setup, (&schedule, Moves::Rigid), &mut robots, 2000, |_| false);
    assert_eq!(robots.at[0], crashed);
    assert!(robots.diameter() < 1e-9);
}

#[test]
fn two_robots_in_turn_halve_their_distance_and_fail_to_meet() {
    // In whole numbers, doubled before every step so that the middle is whole: exact for ever.
    let (mut p, mut q) = (0_i128, 1_i128);
    for k in 0..120 {
        (p, q) = (2 * p, 2 * q);
        if k % 2 == 0 {
            p = (p + q) / 2;
        } else {
            q = (p + q) / 2;
        }
        assert_eq!(q - p, 1, "the distance is 2^-{} of the first, and never 0", k + 1);
    }
    // The rule does just that, as long as numbers are fine enough.
    let mut robots = Robots::at(vec![Vec2::ZERO, Vec2::new(1.0, 0.0)]);
    let setup = Setup { same_m: 0.0, ..Setup::default() };
    let mut distance = 1.0;
    for r in 0..40 {
        play::round(&Midpoint, &setup, &Schedule::RoundRobin, Moves::Rigid, &mut robots, r);
        distance *= 0.5;
        assert_eq!(robots.diameter(), distance);
    }
    let mut together = Robots::at(vec![Vec2::ZERO, Vec2::new(1.0, 0.0)]);
    play::round(&Midpoint, &setup, &Schedule::Full, Moves::Rigid, &mut together, 0);
    assert_eq!(together.diameter(), 0.0, "at once they meet");
}

#[test]
fn robots_that_go_to_the_centre_never_lose_sight_of_each_other_and_gather() {
    for seed in 0..4 {
        for schedule in schedules() {
            let mut robots = in_sight(10, 1.0, seed);
            let setup = Setup { sees_m: 1.0 + 1e-9, ..common::any_frames(seed) };
            let mut rounds = 0;
            while robots.diameter() >= 1e-6 && rounds < 30_000 {
                let last = robots.clone();
                play::round(&Ando, &setup, &schedule, Moves::Rigid, &mut robots, rounds);
                assert!(!lost_sight(&last, &robots, 1.0), "seed {seed}, {schedule:?}, round {rounds}");
                rounds += 1;
            }
            println!("go to the centre, seed {seed}, {schedule:?}: {rounds} rounds");
            assert!(robots.diameter() < 1e-6, "seed {seed}, {schedule:?}: {}", robots.diameter());
        }
    }
}

#[test]
fn centre_of_gravity_with_limited_sight_fails_to_keep_robots_in_sight() {
    let lost = (0..20).filter(|seed| {
        let mut robots = in_sight(20, 1.0, *seed);
        let setup = Setup { sees_m: 1.0 + 1e-9, ..Setup::default() };
        (0..50).any(|r| {
            let last = robots.clone();
            play::round(
                rule("centre-of-gravity").as_ref(),
                &setup,
                &Schedule::Full,
                Moves::Rigid,
                &mut robots,
                r,
            );
            lost_sight(&last, &robots, 1.0)
        })
    });
    let lost = lost.count();
    println!("limited sight: centre of gravity lost somebody in {lost} of 20 runs");
    assert!(lost >= 3, "{lost}");
}

#[test]
fn gathering_with_limited_sight_takes_a_number_of_rounds_that_grows_as_n_squared_on_a_ring() {
    let mut measured = Vec::new();
    for n in [16, 32, 64, 128] {
        // Neighbours are 0.95 of the range apart.
        let radius = 0.95 / (2.0 * math::sin(PI / n as f64));
        let mut robots = Robots::at(ring(n, radius, 0.1));
        let setup = Setup { sees_m: 1.0, ..Setup::default() };
        let how = (&Schedule::Full, Moves::Rigid);
        let rounds = play::rounds(&Ando, &setup, how, &mut robots, 100_000, |r| {
            (r.at[0] - r.at[r.len() / 2]).norm() < 0.5
        });
        measured.push((math::ln(n as f64), math::ln(rounds as f64)));
        println!("go to the centre on a ring of {n}: {rounds} rounds");
    }
    let exponent = slope(&measured);
    println!("exponent {exponent:.3}");
    assert!((1.8..2.2).contains(&exponent), "{exponent}");
}
