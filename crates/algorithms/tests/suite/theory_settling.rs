//! Robots with limited sight whose compasses are wrong until they settle: nobody is ever lost, and all gather in
//! finite time after (Souissi, Défago, Yamashita 2009).

use crate::common::{self, in_sight, lost_sight, schedules};
use std::f64::consts::{FRAC_PI_2, PI};
use swarmyard_algorithms::lcm::rules::Settling;
use swarmyard_algorithms::lcm::{Demon, Frame, Frames, Moves, Robots, Schedule, Setup, play};
use swarmyard_base::Vec2;

/// How far robots see, with room for rounding: starts are in sight at 1.
const SEES: f64 = 1.0 + 1e-9;

/// How robots are scheduled and how far they get.
type How<'a> = (&'a Schedule, Moves);

fn settled(seed: u64) -> Setup {
    Setup { seed, sees_m: SEES, frames: Frames { scale: true, ..Frames::default() }, ..Setup::default() }
}

fn wrong(seed: u64) -> Setup {
    let frames = Frames { rotate: true, scale: true, mirror: true, redraw: true };
    Setup { frames, ..settled(seed) }
}

/// Plays with wrong compasses for so many rounds, then with settled ones. Answers how many rounds these took to gather;
/// nobody may be lost in any round.
fn gather(robots: &mut Robots, how: How<'_>, seed: u64, settle: u64, same_m: f64) -> Option<u64> {
    for r in 0..settle + 20_000 {
        if r >= settle && robots.diameter() <= 2.0 * same_m {
            return Some(r - settle);
        }
        let setup = if r < settle { wrong(seed) } else { settled(seed) };
        let last = robots.clone();
        play::round(&Settling, &Setup { same_m, ..setup }, how.0, how.1, robots, r);
        assert!(!lost_sight(&last, robots, 1.0), "somebody was lost in round {r}: {last:?}");
    }
    None
}

#[test]
fn robots_gather_after_their_compasses_have_settled_and_nobody_is_ever_lost() {
    let mut longest = 0;
    for n in [2, 3, 5, 9, 16] {
        for seed in 0..6 {
            for schedule in schedules() {
                let mut robots = in_sight(n, 1.0, seed);
                let rounds = gather(&mut robots, (&schedule, Moves::Rigid), seed, 40, 1e-9);
                longest = longest.max(rounds.unwrap_or_else(|| panic!("n = {n}, seed {seed}, {schedule:?}")));
            }
        }
    }
    println!("compass-settling: at most {longest} rounds after settling, 2 to 16 robots");
}

/// Starts where every robot sees its neighbours only just.
fn taut() -> Vec<Vec<Vec2>> {
    let grid = (0..16).map(|k| Vec2::new(f64::from(k % 4), f64::from(k / 4))).collect();
    let column = (0..10).map(|k| Vec2::new(0.0, f64::from(k))).collect();
    let row = (0..10).map(|k| Vec2::new(f64::from(k), 0.0)).collect();
    let path = |angles: &[f64]| {
        let mut at = vec![Vec2::ZERO];
        for a in angles {
            at.push(at[at.len() - 1] + Vec2::at_angle(*a));
        }
        at
    };
    // Nearly upright lines, leaning now to the one side and now to the other: here ways are cut short.
    let bent: Vec<f64> = (0..11).map(|k| FRAC_PI_2 + [0.001, -0.2, 0.0, 0.4, -0.03][k % 5]).collect();
    let comb: Vec<f64> = (0..11).map(|k| [FRAC_PI_2, 0.1, -FRAC_PI_2, 0.3, 1.4][k % 5]).collect();
    vec![grid, column, row, path(&bent), path(&comb), common::ring(12, 1.9318, 0.1)]
}

#[test]
fn robots_that_see_each_other_only_just_gather_too() {
    for (k, start) in taut().into_iter().enumerate() {
        for schedule in schedules() {
            for settle in [0, 25] {
                let mut robots = Robots::at(start.clone());
                let rounds = gather(&mut robots, (&schedule, Moves::Rigid), 3, settle, 1e-9);
                assert!(rounds.is_some(), "start {k}, {schedule:?}, settled after {settle}");
            }
        }
    }
}

#[test]
fn moves_that_stop_early_lose_nobody_and_only_take_longer() {
    for seed in 0..6 {
        for moves in [Moves::Flexible { delta_m: 0.05 }, Moves::Shortest { delta_m: 0.05 }] {
            for schedule in [Schedule::Full, Schedule::Random { p: 0.4 }, Schedule::RoundRobin] {
                let mut robots = in_sight(8, 1.0, seed);
                let rounds = gather(&mut robots, (&schedule, moves), seed, 40, 1e-9);
                assert!(rounds.is_some(), "seed {seed}, {schedule:?}, {moves:?}");
            }
        }
    }
}

#[test]
fn they_gather_in_finite_time_not_only_to_within_what_counts_as_together() {
    // If ways were halved for ever, robots would be together only because of a tolerance: then a smaller one would
    // take more rounds. In an upright column that leans every way is cut short.
    let mut starts: Vec<Vec<Vec2>> = (0..12).map(|seed| in_sight(12, 1.0, seed).at).collect();
    starts.extend(taut());
    let mut longest = 0;
    for (k, start) in starts.into_iter().enumerate() {
        for schedule in [Schedule::Full, Schedule::RoundRobin, Schedule::Random { p: 0.3 }] {
            let rounds = [1e-7, 1e-9, 1e-11].map(|same| {
                let mut robots = Robots::at(start.clone());
                gather(&mut robots, (&schedule, Moves::Rigid), 1, 0, same)
                    .unwrap_or_else(|| panic!("start {k}, {schedule:?}, together within {same}"))
            });
            assert!(rounds.iter().all(|r| *r == rounds[2]), "start {k}, {schedule:?}: {rounds:?}");
            longest = longest.max(rounds[2]);
        }
    }
    println!("compass-settling: at most {longest} rounds from 18 starts, whatever is together");
}

/// Compasses that never settle: everybody is shown its nearest neighbour on the left.
struct Never;

impl Demon for Never {
    fn active(&mut self, robots: &Robots, _: u64) -> Vec<bool> {
        vec![true; robots.len()]
    }

    fn frame(&mut self, robots: &Robots, _: u64, k: usize) -> Option<Frame> {
        let to = robots.at.iter().map(|p| *p - robots.at[k]).filter(|v| v.norm() > 1e-9);
        let near = to.min_by(|a, b| a.norm().total_cmp(&b.norm()))?;
        Some(Frame { turn: near.angle() + PI, scale: 1.0, mirror: false })
    }
}

#[test]
fn compasses_that_never_settle_fail_the_robots() {
    for n in [2, 5, 9] {
        let start = in_sight(n, 1.0, 4);
        let mut robots = start.clone();
        let rounds =
            play::against(&Settling, &settled(1), &mut Never, &mut robots, 500, |r| r.diameter() < 1e-9);
        assert_eq!((rounds, robots.at), (500, start.at));
    }
}

#[test]
fn two_swarms_out_of_sight_of_each_other_fail_to_gather() {
    let mut at = in_sight(5, 1.0, 2).at;
    let far = at.iter().map(|p| *p + Vec2::new(50.0, 3.0)).collect::<Vec<Vec2>>();
    at.extend(far);
    let mut robots = Robots::at(at);
    assert_eq!(gather(&mut robots, (&Schedule::Full, Moves::Rigid), 2, 10, 1e-9), None);
    assert_eq!(robots.towers(1e-9).len(), 2, "each gathers by itself");
}
