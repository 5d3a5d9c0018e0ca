//! Adversaries that see everything: who is active, with which frames, and how far moves carry.

use super::frame::Frame;
use super::play::Robots;
use super::{Decision, Rule};
use crate::lcm::Setup;
use swarmyard_base::Vec2;

/// An adversary. It sees where everybody is before every round.
pub trait Demon {
    /// Who is active in this round.
    fn active(&mut self, robots: &Robots, round: u64) -> Vec<bool>;

    /// The frame a robot looks with; `None` leaves it to the setup.
    fn frame(&mut self, _robots: &Robots, _round: u64, _robot: usize) -> Option<Frame> {
        None
    }

    /// Which share of its way a robot makes; `None` leaves it to the moves.
    fn share(&mut self, _robots: &Robots, _robot: usize, _target: Vec2) -> Option<f64> {
        None
    }
}

/// A greedy adversary: who is active in a round so that robots stay as far apart as it can bring about.
///
/// It sees where all are, and reckons where each would go. Whose turn it is must be active: once in any `bound`
/// rounds, so it is fair. Of the others it adds the one whose move leaves the greatest spread (sum of squared
/// distances from the centre), if that is more than without it, or if it is nobody's turn. It has no memory, so
/// every robot that sees all the others can tell by itself what it chooses; where two choices are as good, the lower
/// number counts.
#[must_use]
pub fn greedy(rule: &dyn Rule, setup: &Setup, bound: u32, robots: &Robots, round: u64) -> Vec<bool> {
    let (n, bound) = (robots.len(), u64::from(bound.max(1)));
    let mut active: Vec<bool> = (0..n as u64).map(|k| (round + k).is_multiple_of(bound)).collect();
    let to: Vec<Vec2> = (0..n).map(|k| super::play::decide(rule, setup, robots, k, round, None).1).collect();
    let mut next = robots.clone();
    for k in (0..n).filter(|k| active[*k]) {
        next.at[k] = to[k];
    }
    let mut chosen: Option<usize> = None;
    let mut best = if active.contains(&true) { next.spread() } else { f64::NEG_INFINITY };
    for k in (0..n).filter(|k| !active[*k]) {
        let from = std::mem::replace(&mut next.at[k], to[k]);
        let spread = next.spread();
        next.at[k] = from;
        // What rounding makes of two that are as good is not better.
        if spread > best * (1.0 + 1e-9) + f64::MIN_POSITIVE || best == f64::NEG_INFINITY {
            (chosen, best) = (Some(k), spread);
        }
    }
    if let Some(k) = chosen {
        active[k] = true;
    }
    active
}

/// The demon of the impossibility proof in Pactole (`Gathering/Impossibility.v`).
///
/// Against an even number of robots in two equal towers: every robot sees itself at the origin and the other
/// tower in one and the same place, so all decide alike. If they decide to go where the others are, all are active and the
/// towers change places; if not, the towers are active in turn and never meet. Each robot is active at least
/// in every other round.
#[derive(Debug)]
pub struct BadDemon {
    all_at_once: bool,
    /// Who belongs to the first tower.
    first: Vec<bool>,
}

/// Direction in which every robot sees the other tower, one unit away. Any will do; this one is on no border
/// that a rule is likely to have.
const SEEN_AT: f64 = 1.0;

impl BadDemon {
    /// Against this rule, from two towers.
    ///
    /// # Panics
    /// When there are not two equal towers.
    #[must_use]
    pub fn against(rule: &dyn Rule, setup: &Setup, robots: &Robots) -> BadDemon {
        let first: Vec<bool> = robots.at.iter().map(|p| *p == robots.at[0]).collect();
        let size = first.iter().filter(|f| **f).count();
        let other = robots.at.iter().zip(&first).find(|(_, f)| !**f).map(|(p, _)| *p);
        assert!(2 * size == robots.at.len(), "the towers are equal");
        assert!(
            robots.at.iter().zip(&first).all(|(p, f)| *f || Some(*p) == other),
            "there are two towers and nobody else"
        );
        let mut demon = BadDemon { all_at_once: false, first };
        let frame = demon.frame(robots, 0, 0).unwrap_or(Frame::COMMON);
        let decision: Decision = super::play::decide(rule, setup, robots, 0, 0, Some(frame)).0;
        demon.all_at_once = (decision.target - Vec2::at_angle(SEEN_AT)).norm() < 1e-9;
        demon
    }
}

impl Demon for BadDemon {
    fn active(&mut self, _robots: &Robots, round: u64) -> Vec<bool> {
        let turn = round.is_multiple_of(2);
        self.first.iter().map(|first| self.all_at_once || *first == turn).collect()
    }

    fn frame(&mut self, robots: &Robots, _round: u64, robot: usize) -> Option<Frame> {
        let other = self.first.iter().position(|f| *f != self.first[robot])?;
        let to = robots.at[other] - robots.at[robot];
        Some(Frame { turn: to.angle() - SEEN_AT, scale: 1.0 / to.norm(), mirror: false })
    }
}
