//! Coverage of a rectangle (Lloyd; Cortés and others 2004): go to the centroid of one's own Voronoi cell.
//!
//! The sum over all points of the rectangle of the squared distance to the nearest robot never grows.

use crate::geometry::{moments, rectangle, voronoi_cell};
use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;

/// The rule `lloyd`; a robot that does not know where it is stays.
#[derive(Clone, Copy, Debug)]
pub struct Lloyd {
    /// South-western corner.
    pub low: Vec2,
    /// North-eastern corner.
    pub high: Vec2,
}

impl Lloyd {
    /// The integral over the rectangle of the squared distance to the nearest of these places.
    #[must_use]
    pub fn cost(&self, at: &[Vec2]) -> f64 {
        let within = rectangle(self.low, self.high);
        at.iter().map(|site| moments(&voronoi_cell(*site, at, &within), *site).2).sum()
    }
}

impl Rule for Lloyd {
    fn name(&self) -> &'static str {
        "lloyd"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let Some(here) = look.here else { return Decision::stay(look) };
        let within = rectangle(self.low - here, self.high - here);
        let cell = voronoi_cell(Vec2::ZERO, &look.others(), &within);
        Decision::go(look, moments(&cell, Vec2::ZERO).1)
    }

    fn needs(&self) -> Needs {
        Needs { axes: true, unit: true, place: true, ..Needs::default() }
    }
}
