//! Vicsek's model: take the mean heading of all robots in sight, itself included, with noise; then one step.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use std::f64::consts::TAU;
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rule `vicsek`.
#[derive(Clone, Copy, Debug)]
pub struct Vicsek {
    /// Way of every round, m.
    pub step_m: f64,
    /// Width of the noise, rad.
    pub noise_rad: f64,
}

impl Rule for Vicsek {
    fn name(&self) -> &'static str {
        "vicsek"
    }

    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        let unit = |v: Vec2| if v.norm() > 0.0 { v * (1.0 / v.norm()) } else { Vec2::ZERO };
        let sum = look.seen.iter().fold(Vec2::ZERO, |s, seen| s + unit(seen.moved));
        // Nobody has a heading yet: any will do.
        let heading = if sum.norm() > 0.0 { sum.angle() } else { chance.between(1, 0.0, TAU) };
        let noise = chance.between(0, -0.5, 0.5) * self.noise_rad;
        Decision::go(look, Vec2::at_angle(heading + noise) * self.step_m)
    }

    fn needs(&self) -> Needs {
        Needs { unit: true, names: true, ..Needs::default() }
    }
}
