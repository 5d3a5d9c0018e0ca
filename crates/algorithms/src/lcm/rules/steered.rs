//! A [`Steering`] as a rule: velocities are last displacements, and one round is one step of time.

use crate::lcm::flocks::{Moving, Steering};
use crate::lcm::{Decision, Needs, Rule, Snapshot};
use std::f64::consts::TAU;
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rules `cucker-smale`, `olfati-saber-1`, `olfati-saber-2`, `reynolds`, `platoon`.
#[derive(Clone, Copy, Debug)]
pub struct Steered<S> {
    name: &'static str,
    steering: S,
    round_s: f64,
    kick_m: f64,
}

impl<S: Steering> Steered<S> {
    /// As a rule of that name, with rounds of that length.
    #[must_use]
    pub fn new(name: &'static str, steering: S, round_s: f64) -> Steered<S> {
        Steered { name, steering, round_s, kick_m: 0.0 }
    }

    /// When nobody in sight moves, goes this far in some direction: for flocks that only ever agree on how they
    /// move already.
    #[must_use]
    pub fn kicked(self, kick_m: f64) -> Steered<S> {
        Steered { kick_m, ..self }
    }
}

impl<S: Steering> Rule for Steered<S> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        if self.kick_m > 0.0 && look.seen.iter().all(|s| s.moved == Vec2::ZERO) {
            return Decision::go(look, Vec2::at_angle(chance.between(0, 0.0, TAU)) * self.kick_m);
        }
        let (me, others) = movers(look, self.round_s);
        let velocity = me.velocity + self.steering.accelerate(0.0, &me, &others) * self.round_s;
        Decision::go(look, velocity * self.round_s)
    }

    fn needs(&self) -> Needs {
        Needs { names: true, unit: true, axes: true, place: true, ..Needs::default() }
    }
}

/// The robot itself and all others in sight, with the velocities of their last displacements.
pub(super) fn movers(look: &Snapshot, round_s: f64) -> (Moving, Vec<Moving>) {
    // Positions count from where the robot is; those in the world do, when it knows where that is.
    let here = look.here.unwrap_or(Vec2::ZERO);
    let moving = |robot: Option<u32>, at: Vec2, moved: Vec2| Moving {
        robot: robot.unwrap_or(0),
        at: here + at,
        velocity: moved * (1.0 / round_s),
    };
    let others = look.seen.iter().filter(|s| s.robot != look.me);
    (moving(look.me, Vec2::ZERO, look.moved), others.map(|s| moving(s.robot, s.at, s.moved)).collect())
}
