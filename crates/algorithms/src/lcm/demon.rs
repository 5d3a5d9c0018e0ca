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
