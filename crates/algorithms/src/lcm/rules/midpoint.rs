//! Two robots: go to the middle between both.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::chance::Draw;

/// The rule `midpoint`; with other than two places in sight it stays.
#[derive(Clone, Copy, Debug)]
pub struct Midpoint;

impl Rule for Midpoint {
    fn name(&self) -> &'static str {
        "midpoint"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        match look.others()[..] {
            [other] => Decision::go(look, other * 0.5),
            _ => Decision::stay(look),
        }
    }

    fn needs(&self) -> Needs {
        Needs { robots: 2, ..Needs::default() }
    }
}
