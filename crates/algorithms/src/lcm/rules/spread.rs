//! Robots on a circle spread evenly along it.
//!
//! If all act together the angles change linearly: to the midpoint of one's neighbours with the eigenvalues
//! cos(2πk/n), of which one is −1 when n is even; half-way there with (1 + cos(2πk/n))/2.

use crate::geometry::smallest_enclosing_circle;
use crate::lcm::{Decision, Rule, Snapshot};
use std::f64::consts::TAU;
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// The rules `spread` and `spread-to-midpoint`; a robot that is not on the circle stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Half-way to the middle between its neighbours.
    HalfWay,
    /// To the middle between its neighbours.
    ToMidpoint,
}

impl Rule for Spread {
    fn name(&self) -> &'static str {
        match self {
            Spread::HalfWay => "spread",
            Spread::ToMidpoint => "spread-to-midpoint",
        }
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let places = look.places();
        let circle = smallest_enclosing_circle(&places);
        let same = math::max(look.same, 1e-9 * circle.radius);
        if !circle.passes(Vec2::ZERO, same) || places.len() < 3 {
            return Decision::stay(look);
        }
        let own = -circle.centre;
        // Angles of the others from this one, counter-clockwise.
        let ahead = look.others().into_iter().map(|p| {
            let off = p - circle.centre;
            let angle = swarmyard_base::math::atan2(own.cross(off), own.dot(off));
            if angle < 0.0 { angle + TAU } else { angle }
        });
        let (mut next, mut last) = (TAU, 0.0_f64);
        for angle in ahead {
            next = math::min(next, angle);
            last = math::max(last, angle);
        }
        let middle = 0.5 * (next - (TAU - last));
        let by = if *self == Spread::HalfWay { 0.5 * middle } else { middle };
        let turned = swarmyard_base::Rot2::new(by).apply(own);
        Decision::go(look, circle.centre + turned)
    }
}
