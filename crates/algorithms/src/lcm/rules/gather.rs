//! Gathering of three robots or more with strong multiplicity, proved in Coq (Pactole, `Gathering/InR2`).
//!
//! A tower higher than all others is where everybody goes. Without one, the places on the smallest enclosing
//! circle give a target: of a triangle a distinguished corner (or its centre when it is equilateral), else the
//! centre of the circle. While somebody is neither on the circle nor at the target, those who are wait.

use crate::geometry::smallest_enclosing_circle;
use crate::lcm::{Decision, Rule, Snapshot};
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// The rule `gather`.
#[derive(Clone, Copy, Debug)]
pub struct GatherR2;

impl Rule for GatherR2 {
    fn name(&self) -> &'static str {
        "gather"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let towers = look.towers();
        let highest = towers.iter().map(|t| t.1).max().unwrap_or(0);
        let mut high = towers.iter().filter(|t| t.1 == highest);
        if let (Some(tower), None) = (high.next(), high.next()) {
            return Decision::go(look, tower.0);
        }
        let places: Vec<Vec2> = towers.iter().map(|t| t.0).collect();
        let circle = smallest_enclosing_circle(&places);
        let same = math::max(look.same, 1e-9 * circle.radius);
        let border: Vec<Vec2> = places.iter().copied().filter(|p| circle.passes(*p, same)).collect();
        let target = match border[..] {
            [a, b, c] => corner([a, b, c], same),
            _ => circle.centre,
        };
        let kept = |p: Vec2| circle.passes(p, same) || (p - target).norm() <= same;
        let clean = places.iter().all(|p| kept(*p));
        if !clean && kept(Vec2::ZERO) {
            return Decision::stay(look);
        }
        Decision::go(look, target)
    }
}

/// The corner between two equal sides, else the one opposite the longest; the centre of an equilateral triangle.
fn corner([a, b, c]: [Vec2; 3], same: f64) -> Vec2 {
    // (side, corner opposite it)
    let mut sides = [((b - c).norm(), a), ((c - a).norm(), b), ((a - b).norm(), c)];
    sides.sort_by(|x, y| x.0.total_cmp(&y.0));
    let (low, high) = (sides[1].0 - sides[0].0 <= same, sides[2].0 - sides[1].0 <= same);
    match (low, high) {
        (true, true) => (a + b + c) * (1.0 / 3.0),
        // The two equal sides meet opposite the third.
        (true, false) => sides[2].1,
        (false, true) => sides[0].1,
        (false, false) => sides[2].1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corner_of_a_triangle_depends_on_its_shape_only() {
        let p = |x: f64, y: f64| Vec2::new(x, y);
        let tall = [p(0.0, 0.0), p(1.0, 0.0), p(0.5, 5.0)];
        let flat = [p(0.0, 0.0), p(4.0, 0.0), p(2.0, 1.0)];
        let scalene = [p(0.0, 0.0), p(4.0, 0.0), p(1.0, 2.0)];
        let even = [p(0.0, 0.0), p(2.0, 0.0), p(1.0, 3_f64.sqrt())];
        for turn in 0..3 {
            let turned = |t: [Vec2; 3]| [t[turn], t[(turn + 1) % 3], t[(turn + 2) % 3]];
            assert_eq!(corner(turned(tall), 1e-9), tall[2]);
            assert_eq!(corner(turned(flat), 1e-9), flat[2]);
            assert_eq!(corner(turned(scalene), 1e-9), scalene[2]);
            assert!((corner(turned(even), 1e-9) - p(1.0, 1.0 / 3_f64.sqrt())).norm() < 1e-12);
        }
    }
}
