//! Theorems of Pactole (a Coq library about robots) as tests, and the demons of its impossibility proofs.

use crate::common::{self, any_frames, cloud, ring, rule, schedules};
use swarmyard_algorithms::geometry::smallest_enclosing_circle;
use swarmyard_algorithms::lcm::rules::{GatherR2, Gravity, TwoLights};
use swarmyard_algorithms::lcm::{
    BadDemon, Demon, Frame, Moves, Multiplicity, NAMES, Robots, Schedule, Script, Setup, play,
};
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Every rule that brings robots together: of those that need no more than the theorems allow (neither names nor lights
/// nor places nor a unit), the ones that do it by chance.
fn gatherers() -> Vec<&'static str> {
    let allowed = |name: &&str| {
        let needs = rule(name).needs();
        !(needs.names || needs.place || needs.unit) && needs.lights == 0
    };
    let gathers = |name: &&str| {
        let rule = rule(name);
        let n = if rule.needs().robots == 0 { 5 } else { rule.needs().robots };
        let mut robots = cloud(n as usize, 3);
        let how = (&Schedule::Random { p: 0.5 }, Moves::Rigid);
        let gathered = |r: &Robots| r.diameter() < 1e-3;
        play::rounds(rule.as_ref(), &Setup::default(), how, &mut robots, 1000, gathered) < 1000
    };
    let found: Vec<&str> = NAMES.iter().copied().filter(allowed).filter(gathers).collect();
    println!("gatherers: {found:?}");
    assert!(found.len() >= 9 && found.contains(&"weber") && found.contains(&"compass-settling"), "{found:?}");
    found
}

fn towers(sizes: &[usize]) -> Robots {
    let places = ring(sizes.len().max(3), 2.0, 0.4);
    Robots::at(sizes.iter().zip(places).flat_map(|(n, p)| vec![p; *n]).collect())
}

fn bivalent(robots: &Robots) -> bool {
    matches!(robots.towers(1e-9)[..], [(_, a), (_, b)] if a == b)
}

// Gathering/Impossibility.v: `noGathering`, for n even from two towers of n/2.
#[test]
fn every_gatherer_fails_against_the_bad_demon() {
    for name in gatherers() {
        for half in [1, 2, 3, 5] {
            for multiplicity in [Multiplicity::None, Multiplicity::Strong] {
                let rule = rule(name);
                let setup = Setup { multiplicity, ..Setup::default() };
                let mut robots = towers(&[half, half]);
                for r in 0..300 {
                    // As wide as 1 m again: nobody can tell, and numbers do not run out.
                    common::rescale(&mut robots);
                    let mut demon = Turn(BadDemon::against(rule.as_ref(), &setup, &robots), r);
                    play::against(rule.as_ref(), &setup, &mut demon, &mut robots, 1, |_| false);
                    assert!(robots.diameter() > 1e-3, "`{name}` gathered 2 × {half} in round {r}");
                    assert_eq!(robots.towers(1e-9).len(), 2, "towers stay whole");
                }
            }
        }
    }
}

/// A demon at another round than the one that is played.
struct Turn(BadDemon, u64);

impl Demon for Turn {
    fn active(&mut self, robots: &Robots, _: u64) -> Vec<bool> {
        self.0.active(robots, self.1)
    }
    fn frame(&mut self, robots: &Robots, round: u64, robot: usize) -> Option<Frame> {
        self.0.frame(robots, round, robot)
    }
}

#[test]
fn the_bad_demon_is_fair_everybody_is_active_in_every_other_round() {
    for name in gatherers() {
        let robots = towers(&[2, 2]);
        let mut demon = BadDemon::against(rule(name).as_ref(), &Setup::default(), &robots);
        let rounds: Vec<Vec<bool>> = (0..10).map(|r| demon.active(&robots, r)).collect();
        for k in 0..4 {
            assert!(rounds.windows(2).all(|w| w[0][k] || w[1][k]), "`{name}`");
        }
    }
}

fn starts() -> Vec<Robots> {
    let mut starts: Vec<Robots> = (3..10).map(|n| cloud(n, 40 + n as u64)).collect();
    starts.extend((3..9).map(|n| Robots::at(ring(n, 3.0, 0.2))));
    starts.extend([&[1, 2][..], &[3, 1], &[2, 2, 1], &[2, 2, 2], &[1, 1, 1, 1], &[3, 3, 2, 2]].map(towers));
    let line = |xs: &[f64]| Robots::at(xs.iter().map(|x| Vec2::new(*x, 0.5 * x)).collect());
    starts.extend([line(&[0.0, 1.0, 2.0]), line(&[0.0, 0.3, 2.0, 2.2, 9.0]), line(&[0.0, 1.0, 2.0, 3.0])]);
    let mut centred = ring(5, 2.0, 0.0);
    centred.push(Vec2::ZERO);
    starts.push(Robots::at(centred));
    starts
}

// Gathering/InR2/Algorithm.v: `Gathering_in_R2`, with the lemmas on the way.
#[test]
fn gather_gathers_from_every_start_that_is_not_bivalent() {
    let mut longest = 0;
    for (s, start) in starts().into_iter().enumerate() {
        for schedule in schedules() {
            for setup in [Setup::default(), any_frames(9)] {
                let mut robots = start.clone();
                let how = (&schedule, Moves::Rigid);
                let gathered = |r: &Robots| r.towers(1e-9).len() == 1;
                let rounds = play::rounds(&GatherR2, &setup, how, &mut robots, 3000, gathered);
                assert!(gathered(&robots), "start {s}, {schedule:?}: {:?}", robots.towers(1e-9));
                longest = longest.max(rounds);
            }
        }
    }
    println!("gather: at most {longest} rounds");
}

/// Activates one robot that would move, always the same one as long as it would: as unfair as can be.
struct Unfair;

impl Demon for Unfair {
    fn active(&mut self, robots: &Robots, round: u64) -> Vec<bool> {
        let goes = |k: &usize| {
            let target = play::decide(&GatherR2, &Setup::default(), robots, *k, round, None).1;
            (target - robots.at[*k]).norm() > 1e-9
        };
        let chosen = (0..robots.len()).find(goes);
        (0..robots.len()).map(|k| Some(k) == chosen).collect()
    }
}

#[test]
fn gather_needs_no_fairness_as_long_as_somebody_moves() {
    for (s, start) in starts().into_iter().enumerate() {
        let mut robots = start;
        let gathered = |r: &Robots| r.towers(1e-9).len() == 1;
        let rounds = play::against(&GatherR2, &Setup::default(), &mut Unfair, &mut robots, 100, gathered);
        assert!(rounds < 100, "start {s}: {:?}", robots.towers(1e-9));
    }
}

#[test]
fn a_majority_tower_stays_all_movers_go_to_one_place_and_it_never_becomes_bivalent() {
    let mut waited = 0;
    for start in starts() {
        for (k, schedule) in schedules().into_iter().enumerate() {
            let mut robots = start.clone();
            let setup = any_frames(k as u64);
            for r in 0..300 {
                let before = robots.towers(1e-9);
                let highest = before.iter().map(|t| t.1).max();
                let mut tops = before.iter().filter(|t| Some(t.1) == highest);
                let majority = tops.next().filter(|_| tops.next().is_none()).copied();
                let mut goals: Vec<Vec2> = Vec::new();
                for robot in 0..robots.len() {
                    let (_, target) = play::decide(&GatherR2, &setup, &robots, robot, r, None);
                    let moves = (target - robots.at[robot]).norm() > 1e-9;
                    if moves && goals.iter().all(|g| (*g - target).norm() > 1e-6) {
                        goals.push(target);
                    }
                }
                assert!(goals.len() <= 1, "all who move go to one place: {goals:?}");
                let circle = smallest_enclosing_circle(&robots.at);
                // Somebody is neither on the circle nor at the target: those who are must wait.
                let dirty = majority.is_none()
                    && robots
                        .at
                        .iter()
                        .any(|p| !circle.passes(*p, 1e-6) && goals.iter().all(|g| (*g - *p).norm() > 1e-6));
                waited += u32::from(dirty);
                play::round(&GatherR2, &setup, &schedule, Moves::Rigid, &mut robots, r);
                if dirty {
                    let now = smallest_enclosing_circle(&robots.at);
                    assert!(
                        (now.centre - circle.centre).norm() < 1e-6,
                        "the circle stays, {schedule:?}, {r}"
                    );
                }
                assert!(!bivalent(&robots), "{schedule:?}, round {r}");
                if let Some((at, count)) = majority {
                    let now = robots.towers(1e-9);
                    let there = now.iter().find(|t| (t.0 - at).norm() < 1e-9).expect("the tower stands");
                    assert!(there.1 >= count && now.iter().all(|t| t.1 < there.1 || t.0 == there.0));
                }
            }
        }
    }
    println!("gather: somebody had to wait in {waited} rounds");
    assert!(waited > 10);
}

#[test]
fn gather_without_multiplicity_fails() {
    let mut robots = towers(&[1, 2]);
    let setup = Setup { multiplicity: Multiplicity::None, ..Setup::default() };
    for r in 0..600 {
        common::rescale(&mut robots);
        play::round(&GatherR2, &setup, &Schedule::RoundRobin, Moves::Rigid, &mut robots, r);
        assert!(robots.diameter() > 1e-3, "gathered in round {r}");
    }
    let mut seen = towers(&[1, 2]);
    play::rounds(&GatherR2, &Setup::default(), (&Schedule::RoundRobin, Moves::Rigid), &mut seen, 6, |_| {
        false
    });
    assert_eq!(seen.towers(1e-9).len(), 1, "with multiplicity it takes one turn");
}

// Gathering/InR2/Peleg.v and FSyncFlexNoMultAlgorithm.v.
#[test]
fn the_barycentre_gathers_fully_synchronous_robots_whose_moves_are_cut_short() {
    let delta_m = 0.2;
    for multiplicity in [Multiplicity::Strong, Multiplicity::None] {
        for moves in [Moves::Flexible { delta_m }, Moves::Shortest { delta_m }] {
            for seed in 0..20 {
                let mut robots = cloud(3 + seed as usize % 7, seed);
                robots.at.push(robots.at[0]);
                let mut robots = Robots::at(robots.at);
                let setup = Setup { multiplicity, ..any_frames(seed) };
                let start = robots.diameter();
                let mut rounds = 0;
                while robots.towers(1e-9).len() > 1 {
                    let before = robots.diameter();
                    play::round(&Gravity, &setup, &Schedule::Full, moves, &mut robots, rounds);
                    let after = robots.diameter();
                    assert!(
                        after <= math::max(before - delta_m, 0.0) + 1e-9,
                        "the diameter falls by δ at least, from {before} to {after}"
                    );
                    rounds += 1;
                }
                assert!(rounds as f64 <= start / delta_m + 1.0);
            }
        }
    }
}

// Gathering/InR2/Viglietta.v: every schedule in which nobody sleeps for more than two rounds.
#[test]
fn two_robots_with_two_lights_meet_under_every_fair_schedule() {
    fn explore(robots: &Robots, slept: [u32; 2], depth: u32, longest: &mut u32) {
        if robots.diameter() < 1e-12 {
            *longest = (*longest).max(depth);
            return;
        }
        assert!(depth < 14, "no meeting: lights {:?}", robots.light);
        for active in [vec![0], vec![1], vec![0, 1]] {
            let slept = [0, 1].map(|k| if active.contains(&(k as u32)) { 0 } else { slept[k] + 1 });
            if slept.iter().any(|s| *s > 2) {
                continue;
            }
            let mut next = robots.clone();
            let schedule = Schedule::Script(Script::Rounds(vec![active]));
            play::round(&TwoLights, &any_frames(1), &schedule, Moves::Rigid, &mut next, 0);
            explore(&next, slept, depth + 1, longest);
        }
    }
    let mut longest = 0;
    for lights in [[0, 0], [0, 1], [1, 0], [1, 1]] {
        let mut robots = Robots::at(vec![Vec2::ZERO, Vec2::new(3.0, 1.0)]);
        robots.light = lights.to_vec();
        explore(&robots, [0, 0], 0, &mut longest);
    }
    println!("two lights: at most {longest} rounds when nobody sleeps for more than two");
}

#[test]
fn two_lights_defeat_the_activations_that_defeat_all_without() {
    let mut robots = towers(&[1, 1]);
    let mut demon = BadDemon::against(&TwoLights, &Setup::default(), &robots);
    let rounds =
        play::against(&TwoLights, &Setup::default(), &mut demon, &mut robots, 50, |r| r.diameter() == 0.0);
    assert!(rounds < 10, "{rounds}");
}

/// Two thirds are good, in two groups; the last third are not: they are where they want to be.
fn with_liars(good: [Vec2; 2], liars: Vec2, each: usize) -> Robots {
    Robots::at([good[0], good[1], liars].into_iter().flat_map(|p| vec![p; each]).collect())
}

// Convergence/Impossibility_2G_1B.v: with one third of liars (nG = 2 nB) nobody converges.
#[test]
fn every_gatherer_fails_to_converge_with_one_liar_among_three() {
    let cases = gatherers().into_iter().flat_map(|name| [1, 2, 3].map(|each| (name, each)));
    for (name, each) in cases {
        let rule = rule(name);
        let setup = Setup::default();
        let goes = |good: [Vec2; 2], liars: Vec2, who: usize| {
            play::decide(rule.as_ref(), &setup, &with_liars(good, liars, each), who * each, 0, None).1
        };
        let (a, b) = (Vec2::ZERO, Vec2::new(1.0, 0.0));
        let stays = goes([a, a], b, 0) == a && goes([b, b], a, 0) == b;
        if stays {
            // The liar is always with the one that looks, who thinks the other is the liar.
            let mut good = [a, b];
            for r in 0..100 {
                let who = r % 2;
                good[who] = goes(good, good[who], who);
                assert!((good[1] - good[0]).norm() > 0.5, "`{name}` in round {r}, {each} liars");
            }
        } else {
            // The liar keeps ahead of the two, who follow it for ever.
            let mut good = [a, a];
            let mut way = 0.0;
            for _ in 0..100 {
                let before = good;
                // To the side on which it is followed.
                let east = goes(good, good[0] + b, 0);
                let liar = if (east - good[0]).norm() > 0.1 { good[0] + b } else { good[0] - b };
                good = [goes(before, liar, 0), goes(before, liar, 1)];
                way += (good[0] - before[0]).norm();
            }
            assert!(way > 10.0, "`{name}` comes to rest after {way} m, {each} liars");
        }
    }
}
