//! Go to the centre of the smallest box, parallel to common axes, that holds all robots seen
//! (Cord-Landwehr and others 2011).

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// The rule `minbox`.
#[derive(Clone, Copy, Debug)]
pub struct MinBox;

impl Rule for MinBox {
    fn name(&self) -> &'static str {
        "minbox"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let first = look.seen[0].at;
        let (low, high) = look.seen.iter().fold((first, first), |(low, high), s| {
            (
                Vec2::new(math::min(low.x, s.at.x), math::min(low.y, s.at.y)),
                Vec2::new(math::max(high.x, s.at.x), math::max(high.y, s.at.y)),
            )
        });
        Decision::go(look, (low + high) * 0.5)
    }

    fn needs(&self) -> Needs {
        Needs { axes: true, ..Needs::default() }
    }
}
