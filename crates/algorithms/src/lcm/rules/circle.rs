//! Forming a circle (after Défago and Souissi 2008): first onto the smallest enclosing circle, each robot
//! within its own Voronoi cell, then evenly along it.
//!
//! Robots on the circle wait while somebody is inside, so the circle stays as it is; who is inside goes straight
//! outward if that end of the circle is in its own cell, else most of the way to the outermost point of its
//! cell. Cells do not overlap, so nobody meets anybody. When all are on the circle, each goes
//! [half-way](super::Spread::HalfWay) to the middle between its neighbours: no gap becomes wider than the
//! widest, so the circle stays the smallest one.

use super::Spread;
use crate::geometry::{Circle, rectangle, smallest_enclosing_circle, voronoi_cell};
use crate::lcm::{Decision, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// The rule `circle`.
#[derive(Clone, Copy, Debug)]
pub struct CircleFormation;

/// Part of the way to the border of its cell that a robot goes at most: nobody else can be there.
const CAUTION: f64 = 0.9;

impl Rule for CircleFormation {
    fn name(&self) -> &'static str {
        "circle"
    }

    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        let places = look.places();
        let circle = smallest_enclosing_circle(&places);
        let same = math::max(look.same, 1e-9 * circle.radius);
        if places.iter().all(|p| circle.passes(*p, same)) {
            return Spread::HalfWay.decide(look, chance);
        }
        if circle.passes(Vec2::ZERO, same) {
            return Decision::stay(look);
        }
        Decision::go(look, outward(circle, &look.others()))
    }
}

/// Where a robot inside the circle, at the origin, goes.
fn outward(circle: Circle, others: &[Vec2]) -> Vec2 {
    let off = -circle.centre;
    if off.norm() > 1e-9 * circle.radius {
        let exit = circle.centre + off * (circle.radius / off.norm());
        if others.iter().all(|o| exit.norm() < CAUTION * (*o - exit).norm()) {
            return exit;
        }
    }
    // A square that does not touch the circle: where it is cut off depends on nothing but the others.
    let (r, wide) = (circle.radius, Vec2::new(2.0 * circle.radius, 2.0 * circle.radius));
    let cell = voronoi_cell(Vec2::ZERO, others, &rectangle(circle.centre - wide, circle.centre + wide));
    let (mut best, mut far) = (Vec2::ZERO, off.norm());
    for k in 0..cell.len() {
        for p in on_or_in(circle, cell[k], cell[(k + 1) % cell.len()]) {
            // The outermost; of several the nearest.
            let away = (p - circle.centre).norm();
            let alike = (away - far).abs() <= 1e-9 * r;
            if away > far + 1e-9 * r || (alike && best != Vec2::ZERO && p.norm() < best.norm()) {
                (best, far) = (p, away);
            }
        }
    }
    best * CAUTION
}

/// The start of an edge when it is in the circle, and where the edge crosses it.
fn on_or_in(circle: Circle, a: Vec2, b: Vec2) -> Vec<Vec2> {
    let mut found = Vec::new();
    let (from, along) = (a - circle.centre, b - a);
    if from.norm() <= circle.radius {
        found.push(a);
    }
    let (qa, qb, qc) = (along.norm2(), from.dot(along), from.norm2() - circle.radius * circle.radius);
    let under = qb * qb - qa * qc;
    if qa > 0.0 && under >= 0.0 {
        for root in [(-qb - under.sqrt()) / qa, (-qb + under.sqrt()) / qa] {
            if (0.0..=1.0).contains(&root) {
                found.push(a + along * root);
            }
        }
    }
    found
}
