//! Reynolds' boids: keep apart, fly alike, stay together.
//!
//! Every term of one robot is the opposite of the other's, so the sum of velocities of a flock in which all see
//! all never changes. There is no theorem about it.

use super::{Moving, Steering};
use swarmyard_base::Vec2;

/// Weights of the three urges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reynolds {
    /// Away from others, by the inverse of the distance.
    pub apart: f64,
    /// Towards the velocity of others.
    pub alike: f64,
    /// Towards others, by the distance.
    pub together: f64,
}

impl Default for Reynolds {
    fn default() -> Reynolds {
        Reynolds { apart: 1.0, alike: 0.1, together: 0.02 }
    }
}

impl Steering for Reynolds {
    fn accelerate(&self, _: f64, me: &Moving, others: &[Moving]) -> Vec2 {
        others.iter().fold(Vec2::ZERO, |sum, o| {
            let to = o.at - me.at;
            // Two in one place have no direction to part in.
            let away = if to.norm2() > 0.0 { to * (-self.apart / to.norm2()) } else { Vec2::ZERO };
            sum + away + (o.velocity - me.velocity) * self.alike + to * self.together
        })
    }
}
