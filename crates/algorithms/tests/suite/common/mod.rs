//! What tests of theory have in common.

#![allow(dead_code, reason = "every test file uses some of it")]

use std::f64::consts::TAU;
use std::sync::Arc;
use swarmyard_algorithms::lcm::{Frames, Robots, Rule, Schedule, Setup, Tuning, by_name};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid, Vec2};

pub(crate) fn draw(seed: u64) -> Draw {
    Draw::at(seed, Uid(77), Purpose::Test, Time(0), 0)
}

/// Robots anywhere in a square of 10 m.
pub(crate) fn cloud(n: usize, seed: u64) -> Robots {
    let d = draw(seed);
    let at = (0..n as u32).map(|k| Vec2::new(d.between(2 * k, -5.0, 5.0), d.between(2 * k + 1, -5.0, 5.0)));
    Robots::at(at.collect())
}

pub(crate) fn ring(n: usize, radius: f64, turn: f64) -> Vec<Vec2> {
    (0..n).map(|k| Vec2::at_angle(turn + TAU * k as f64 / n as f64) * radius).collect()
}

pub(crate) fn rule(name: &str) -> Arc<dyn Rule> {
    by_name(name, &Tuning::default()).expect("there is such a rule")
}

/// Frames of any kind, anew at every look.
pub(crate) fn any_frames(seed: u64) -> Setup {
    let frames = Frames { rotate: true, scale: true, mirror: true, redraw: true };
    Setup { seed, frames, ..Setup::default() }
}

/// Fair schedules by rounds.
pub(crate) fn schedules() -> Vec<Schedule> {
    vec![
        Schedule::Full,
        Schedule::Random { p: 0.5 },
        Schedule::Random { p: 0.2 },
        Schedule::OneRandom,
        Schedule::RoundRobin,
        Schedule::Bounded { p: 0.1, k: 6 },
        Schedule::Adversary { k: 12 },
    ]
}

/// The same configuration about its centre, as wide as 1 m: rules that do not know any unit cannot tell.
pub(crate) fn rescale(robots: &mut Robots) -> f64 {
    let (centre, width) = (robots.centre(), robots.diameter());
    for p in &mut robots.at {
        *p = (*p - centre) * (1.0 / width);
    }
    width
}

/// Robots at random, each in sight of an earlier one.
pub(crate) fn in_sight(n: usize, sees: f64, seed: u64) -> Robots {
    let d = draw(seed);
    let mut at = vec![Vec2::ZERO];
    for k in 1..n as u32 {
        let next_to = at[d.below(3 * k, k) as usize];
        let off = Vec2::at_angle(d.between(3 * k + 1, 0.0, TAU)) * d.between(3 * k + 2, 0.5 * sees, sees);
        at.push(next_to + off);
    }
    Robots::at(at)
}

/// Whether somebody who saw somebody does not any more.
pub(crate) fn lost_sight(before: &Robots, after: &Robots, sees: f64) -> bool {
    let n = before.len();
    (0..n).any(|i| {
        (0..i).any(|j| {
            (before.at[i] - before.at[j]).norm() <= sees && (after.at[i] - after.at[j]).norm() > sees + 1e-9
        })
    })
}

/// Slope of a straight line through points, by least squares.
pub(crate) fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let above: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    above / points.iter().map(|p| (p.0 - mx) * (p.0 - mx)).sum::<f64>()
}
