//! Cyclic pursuit: every robot goes towards the next one, one step at most.
//!
//! In the limit of small steps robots at the corners of a regular n-gon of side a and speed v meet in its
//! centre after a/(v(1 − cos 2π/n)).

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::chance::Draw;

/// The rule `cyclic-pursuit`; the last one follows the first that it sees.
#[derive(Clone, Copy, Debug)]
pub struct CyclicPursuit {
    /// Longest way of a round, m.
    pub step_m: f64,
}

impl Rule for CyclicPursuit {
    fn name(&self) -> &'static str {
        "cyclic-pursuit"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let next = look.me.and_then(|me| look.named(me + 1).or_else(|| look.named(0)));
        let Some(next) = next else { return Decision::stay(look) };
        let way = next.at.norm();
        Decision::go(look, if way <= self.step_m { next.at } else { next.at * (self.step_m / way) })
    }

    fn needs(&self) -> Needs {
        Needs { names: true, unit: true, ..Needs::default() }
    }
}
