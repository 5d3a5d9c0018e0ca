//! Go to the centre of gravity of all robots seen, each place as often as robots are known to be there.
//!
//! With strong multiplicity this is the barycentre of Cohen and Peleg; without, the isobarycentre of the set.
//! The gathering of the paper (5.2) is this rule in asynchrony.

use crate::lcm::{Decision, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rule `centre-of-gravity`.
#[derive(Clone, Copy, Debug)]
pub struct Gravity;

impl Rule for Gravity {
    fn name(&self) -> &'static str {
        "centre-of-gravity"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let (mut sum, mut count) = (Vec2::ZERO, 0.0);
        for (at, n) in look.towers() {
            sum = sum + at * f64::from(n);
            count += f64::from(n);
        }
        Decision::go(look, sum * (1.0 / count))
    }
}
