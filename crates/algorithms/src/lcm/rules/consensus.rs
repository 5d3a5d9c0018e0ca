//! Linear consensus: x + gain · Σ (xⱼ − x) over one's neighbours in a fixed graph.
//!
//! If all act together, disagreement falls by 1 − gain · λ₂ in every round, where λ₂ is the second eigenvalue
//! of the graph's Laplacian: n when it is complete, 2(1 − cos 2π/n) on a ring, 2(1 − cos π/n) on a path.

use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// Who is whose neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topology {
    /// Everybody everybody's.
    Complete,
    /// By number; the last one and the first are neighbours too.
    Ring,
    /// By number.
    Path,
}

/// The rules `consensus`, `consensus-on-a-ring`, `consensus-on-a-path`.
#[derive(Clone, Copy, Debug)]
pub struct Consensus {
    /// Who is whose neighbour.
    pub topology: Topology,
    /// Weight of a neighbour.
    pub gain: f64,
}

impl Rule for Consensus {
    fn name(&self) -> &'static str {
        match self.topology {
            Topology::Complete => "consensus",
            Topology::Ring => "consensus-on-a-ring",
            Topology::Path => "consensus-on-a-path",
        }
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let Some(me) = look.me else { return Decision::stay(look) };
        let last = look.seen.iter().filter_map(|s| s.robot).max().unwrap_or(0);
        let next_to = |other: u32| match self.topology {
            Topology::Complete => true,
            Topology::Path => other.abs_diff(me) == 1,
            Topology::Ring => other.abs_diff(me) == 1 || (other.min(me) == 0 && other.max(me) == last),
        };
        let neighbours = look.seen.iter().filter(|s| s.robot.is_some_and(next_to));
        Decision::go(look, neighbours.fold(Vec2::ZERO, |sum, s| sum + s.at) * self.gain)
    }

    fn needs(&self) -> Needs {
        Needs { names: true, ..Needs::default() }
    }
}
