//! A leader goes straight on; the others keep their places in its formation.
//!
//! A follower that goes where its place *is* is one round late: its error is the leader's way of one round. One
//! that goes where its place *will be*, by the leader's last displacement, is exactly there from its second
//! round on, as long as the leader keeps its velocity.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rule `leader-follower`: robot 0 leads.
#[derive(Clone, Copy, Debug)]
pub struct LeaderFollower {
    /// Way of the leader in every round, m.
    pub step: Vec2,
    /// Place of robot k against the leader is k times this, m.
    pub offset: Vec2,
    /// Whether followers allow for the leader's last displacement.
    pub foresees: bool,
}

impl Rule for LeaderFollower {
    fn name(&self) -> &'static str {
        "leader-follower"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        match (look.me, look.named(0)) {
            (Some(0), _) => Decision::go(look, self.step),
            (Some(me), Some(leader)) => {
                let soon = if self.foresees { leader.moved } else { Vec2::ZERO };
                Decision::go(look, leader.at + soon + self.offset * f64::from(me))
            }
            _ => Decision::stay(look),
        }
    }

    fn needs(&self) -> Needs {
        Needs { names: true, axes: true, unit: true, ..Needs::default() }
    }
}
