//! A platoon: each vehicle keeps a gap to the one before it that grows with its speed.
//!
//! a = kp (gap − length − h v) + kd (v of the one before − v). From the speed of one vehicle to that of the next
//! the transfer function is Γ(s) = (kd s + kp)/(s² + (kd + kp h) s + kp). |Γ(jω)| ≤ 1 for every ω, so that no
//! disturbance grows along the platoon, if and only if kp h² + 2 kd h ≥ 2.

use super::{Moving, Steering};
use swarmyard_base::{Vec2, math};

/// Vehicles along the x axis; vehicle k follows k − 1, and vehicle 0 swings about its speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Platoon {
    /// Weight of the gap, 1/s².
    pub kp: f64,
    /// Weight of the speed difference, 1/s.
    pub kd: f64,
    /// Time headway, s.
    pub headway_s: f64,
    /// Gap at rest, m.
    pub length_m: f64,
    /// Amplitude of the leader's speed, m/s.
    pub swing: f64,
    /// Its angular frequency, rad/s.
    pub omega: f64,
}

impl Default for Platoon {
    fn default() -> Platoon {
        Platoon { kp: 1.0, kd: 1.0, headway_s: 1.0, length_m: 1.0, swing: 0.0, omega: 1.0 }
    }
}

impl Platoon {
    /// |Γ(jω)|: by how much a swing of that frequency grows from one vehicle to the next.
    #[must_use]
    pub fn gain(&self, omega: f64) -> f64 {
        let w2 = omega * omega;
        let above = self.kp * self.kp + self.kd * self.kd * w2;
        let damping = self.kd + self.kp * self.headway_s;
        let below = (self.kp - w2) * (self.kp - w2) + damping * damping * w2;
        (above / below).sqrt()
    }

    /// Whether no disturbance grows along the platoon.
    #[must_use]
    pub fn string_stable(&self) -> bool {
        self.kp * self.headway_s * self.headway_s + 2.0 * self.kd * self.headway_s >= 2.0
    }
}

impl Steering for Platoon {
    fn accelerate(&self, t: f64, me: &Moving, others: &[Moving]) -> Vec2 {
        let before = others.iter().find(|o| o.robot + 1 == me.robot);
        let Some(before) = before else {
            return Vec2::new(self.swing * self.omega * math::cos(self.omega * t), 0.0);
        };
        let gap = before.at.x - me.at.x - self.length_m - self.headway_s * me.velocity.x;
        Vec2::new(self.kp * gap + self.kd * (before.velocity.x - me.velocity.x), 0.0)
    }
}
