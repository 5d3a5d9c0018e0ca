//! Numbers of the theory of convergence: centre of gravity, midpoint, minbox, limited sight.

use crate::common::{self, cloud, in_sight, lost_sight, ring, rule, schedules, slope};
use std::f64::consts::PI;
use swarmyard_algorithms::geometry::{convex_hull, in_convex};
use swarmyard_algorithms::lcm::rules::{Ando, Gravity, Midpoint, MinBox};
use swarmyard_algorithms::lcm::{Demon, Moves, Multiplicity, Robots, Schedule, Script, Setup, greedy, play};
use swarmyard_base::{Vec2, math};

fn one_round(robots: &Robots, active: Vec<u32>) -> Robots {
    let mut after = robots.clone();
    let schedule = Schedule::Script(Script::Rounds(vec![active]));
    play::round(&Gravity, &Setup::default(), &schedule, Moves::Rigid, &mut after, 0);
    after
}

// Pactole, Convergence/Algorithm_noB.v: `convergence_FSYNC`, without liars, by the barycentre.
#[test]
fn fully_synchronous_robots_gather_at_the_centre_of_gravity_in_one_round() {
    for n in 2..20 {
        for multiplicity in [Multiplicity::Strong, Multiplicity::None] {
            let mut robots = cloud(n, n as u64);
            let centre = robots.centre();
            let setup = Setup { multiplicity, ..common::any_frames(n as u64) };
            play::round(&Gravity, &setup, &Schedule::Full, Moves::Rigid, &mut robots, 0);
            assert!(robots.diameter() < 1e-12 && (robots.centre() - centre).norm() < 1e-12);
        }
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

/// Sums of x², of y² and of x y, from the centre.
fn moments(robots: &Robots) -> [f64; 3] {
    let centre = robots.centre();
    let sum = |f: fn(Vec2) -> f64| robots.at.iter().map(|p| f(*p - centre)).sum::<f64>();
    [sum(|p| p.x * p.x), sum(|p| p.y * p.y), sum(|p| p.x * p.y)]
}

/// The same configuration by a linear map that makes it as wide in all directions, with moments 1, 1 and 0.
fn even(robots: &mut Robots) {
    let (centre, [xx, _, xy]) = (robots.centre(), moments(robots));
    let y_of = |p: Vec2| p.y - p.x * xy / xx;
    let yy: f64 = robots.at.iter().map(|p| y_of(*p - centre)).map(|y| y * y).sum();
    for p in &mut robots.at {
        *p = Vec2::new((*p - centre).x / xx.sqrt(), y_of(*p - centre) / yy.sqrt());
    }
}

fn one_turn(robots: &mut Robots) {
    let setup = Setup { same_m: 0.0, ..Setup::default() };
    for k in 0..robots.len() as u64 {
        play::round(&Gravity, &setup, &Schedule::RoundRobin, Moves::Rigid, robots, k);
    }
}

#[test]
fn round_robin_contracts_by_the_second_eigenvalue_of_a_turn() {
    let mut two = cloud(2, 5);
    let before = two.diameter();
    one_turn(&mut two);
    assert!((two.diameter() / before - 0.25).abs() < 1e-12);
    // From three robots on the eigenvalue comes with its conjugate: lengths swing on their way down, areas do not. The
    // rule goes with every linear map, so a thin configuration may be made round again.
    for (n, expected) in [(3, 0.192_450), (10, 0.139_036)] {
        let mut robots = cloud(n, 5);
        let mut rate = 0.0;
        for _ in 0..200 {
            even(&mut robots);
            one_turn(&mut robots);
            let [xx, yy, xy] = moments(&robots);
            rate = math::pow(xx * yy - xy * xy, 0.25);
        }
        println!("round robin, n = {n}: {rate:.9} for {expected}");
        assert!((rate - expected).abs() < 1e-6, "n = {n}: {rate}");
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

/// Robots in asynchrony against an adversary that sees all: where they are, and what each has decided and not yet done.
struct Held {
    at: Vec<Vec2>,
    goal: Vec<Option<Vec2>>,
    /// How often a move was seen half-way.
    parts: Vec<u32>,
}

impl Held {
    /// The next event of a robot: its look, a half of its way, or its arrival; answers whether its cycle is over.
    fn event(&mut self, k: usize, half: bool) -> bool {
        let Some(to) = self.goal[k] else {
            let setup = Setup { same_m: 0.0, ..Setup::default() };
            let robots = Robots::at(self.at.clone());
            (self.goal[k], self.parts[k]) = (Some(play::decide(&Gravity, &setup, &robots, k, 0, None).1), 0);
            return false;
        };
        if half && self.parts[k] < 2 {
            (self.at[k], self.parts[k]) = ((self.at[k] + to) * 0.5, self.parts[k] + 1);
            return false;
        }
        (self.at[k], self.goal[k]) = (to, None);
        true
    }

    /// Greatest distance of all places and goals: what it can still keep apart.
    fn width(&self) -> f64 {
        Robots::at(self.at.iter().chain(self.goal.iter().flatten()).copied().collect()).diameter()
    }

    fn copy(&self) -> Held {
        Held { at: self.at.clone(), goal: self.goal.clone(), parts: self.parts.clone() }
    }
}

/// Rounds (in each everybody has begun and ended a cycle) per halving, against an adversary that tries some events before
/// each and takes the one that leaves the greatest width; nobody waits for more than `patience` events.
fn held_up(n: usize, seed: u64, patience: u32, tries: u32) -> f64 {
    let d = common::draw(1000 + seed);
    let mut all = Held { at: cloud(n, seed).at, goal: vec![None; n], parts: vec![0; n] };
    let small = all.width() / 1024.0;
    let (mut idle, mut since, mut done) = (vec![0; n], vec![None; n], vec![false; n]);
    let (mut rounds, mut event) = (0_u32, 0_u32);
    while all.width() > small {
        event += 1;
        assert!(event < 1_000_000, "n = {n}, seed {seed}: held up for ever");
        let forced = (0..n).find(|k| idle[*k] >= patience);
        let pick = |t: u32| {
            let address = 128 * event + 2 * t;
            let k = forced.unwrap_or(d.below(address, n as u32) as usize);
            (k, forced.is_none() && d.below(address + 1, 2) == 0)
        };
        let width = |t: &u32| {
            let mut next = all.copy();
            next.event(pick(*t).0, pick(*t).1);
            next.width()
        };
        let best = (0..tries).max_by(|a, b| width(a).total_cmp(&width(b))).unwrap_or(0);
        let (k, half) = pick(best);
        let looks = all.goal[k].is_none();
        let ends = all.event(k, half);
        if looks {
            since[k] = Some(rounds);
        }
        done[k] |= ends && since[k] == Some(rounds);
        idle.iter_mut().for_each(|i| *i += 1);
        idle[k] = 0;
        if done.iter().all(|d| *d) {
            rounds += 1;
            done.fill(false);
        }
    }
    f64::from(rounds) / 10.0
}

#[test]
fn an_adversary_in_asynchrony_cannot_keep_robots_from_halving_their_diameter_within_n_squared_rounds() {
    for n in [2, 3, 5, 8, 16] {
        let mut worst = 0.0;
        for seed in 0..4 {
            for patience in [2, 8] {
                for tries in [1, 4, 32] {
                    worst = math::max(worst, held_up(n, seed, patience * n as u32, tries));
                }
            }
        }
        println!(
            "centre of gravity against adversaries in asynchrony, n = {n}: {worst:.2} rounds per halving"
        );
        assert!(worst > 0.0 && worst <= (n * n) as f64, "n = {n}: {worst}");
    }
}

/// Rounds until robots are a thousandth as wide as at the start.
fn rounds_to_shrink(schedule: &Schedule, n: usize, seed: u64) -> u64 {
    let mut robots = cloud(n, seed);
    let (small, setup) = (robots.diameter() / 1000.0, Setup { seed, same_m: 0.0, ..Setup::default() });
    play::rounds(&Gravity, &setup, (schedule, Moves::Rigid), &mut robots, 10_000, |r| r.diameter() <= small)
}

#[test]
fn the_adversary_lets_everybody_act_in_time_and_holds_robots_up_for_longer_than_chance() {
    for (n, bound) in [(2, 3), (5, 5), (8, 12), (20, 12)] {
        let mut robots = cloud(n, 5);
        let setup = Setup { same_m: 0.0, ..Setup::default() };
        let schedule = Schedule::Adversary { k: bound };
        let mut last = vec![-1_i64; n];
        for r in 0..300 {
            let active = greedy(&Gravity, &setup, bound, &robots, r);
            assert!(active.contains(&true), "somebody is active in every round");
            for k in (0..n).filter(|k| active[*k]) {
                last[k] = r as i64;
            }
            assert!(last.iter().all(|l| r as i64 - l < i64::from(bound)), "n = {n}, round {r}: {last:?}");
            play::round(&Gravity, &setup, &schedule, Moves::Rigid, &mut robots, r);
        }
        let mean = |s: &Schedule| (0..10).map(|k| rounds_to_shrink(s, n, k)).sum::<u64>() as f64 / 10.0;
        let (adversary, random) = (mean(&schedule), mean(&Schedule::Random { p: 0.5 }));
        println!("n = {n}, bound {bound}: {adversary} rounds against the adversary, {random} by chance");
        assert!(adversary > 1.5 * random, "n = {n}, bound {bound}: {adversary} and {random}");
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
