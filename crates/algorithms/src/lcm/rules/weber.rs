//! Go to the Weber point of all robots, where the sum of distances from them is least (Pactole,
//! `Gathering/InR2/Weber`; the idea is from Bouzid's thesis).
//!
//! Robots that go straight towards the Weber point leave it where it is, however far they have come. So it does not
//! matter when a robot looked: all that are on their way are on their way to the same place, in full asynchrony and
//! with moves that stop anywhere. To gather, the Weber point must be unique at the start: robots on a line whose number
//! is even may have a stretch of them. To get onto one line there is no condition at all.

use crate::geometry::{geometric_median, width};
use crate::lcm::{Decision, Rule, Snapshot};
use swarmyard_base::chance::Draw;

/// The rules `weber` and `weber-align`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weber {
    /// To the Weber point, until all are there.
    Gather,
    /// To the Weber point, until all are on one line.
    Align,
}

impl Rule for Weber {
    fn name(&self) -> &'static str {
        match self {
            Weber::Gather => "weber",
            Weber::Align => "weber-align",
        }
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        if *self == Weber::Align && width(&look.places()) <= look.same {
            return Decision::stay(look);
        }
        Decision::go(look, geometric_median(&look.towers()))
    }
}
