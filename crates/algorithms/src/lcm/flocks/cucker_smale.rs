//! Cucker and Smale's flock: velocities come to agree, the more slowly the further apart robots are.

use super::{Moving, Steering};
use swarmyard_base::{Vec2, math};

/// a = (strength/n) Σ (1 + r²)^(−decay) (vⱼ − v). The mean velocity never changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CuckerSmale {
    /// Strength.
    pub strength: f64,
    /// Exponent; up to one half all velocities come to agree from any start.
    pub decay: f64,
}

impl Default for CuckerSmale {
    fn default() -> CuckerSmale {
        CuckerSmale { strength: 1.0, decay: 0.4 }
    }
}

impl Steering for CuckerSmale {
    fn accelerate(&self, _: f64, me: &Moving, others: &[Moving]) -> Vec2 {
        let pull = |o: &Moving| {
            let weight = math::pow(1.0 + (o.at - me.at).norm2(), -self.decay);
            (o.velocity - me.velocity) * weight
        };
        others.iter().fold(Vec2::ZERO, |a, o| a + pull(o)) * (self.strength / (others.len() + 1) as f64)
    }
}
