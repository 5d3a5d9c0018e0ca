//! Go to the centre of the smallest circle around all robots in sight, but never out of the sight of anybody
//! (Ando, Oasa, Suzuki, Yamashita 1999).
//!
//! Two robots that see each other stay within the disc whose diameter is the range, about the middle between
//! them: whatever both do there, they still see each other.

use crate::geometry::smallest_enclosing_circle;
use crate::lcm::{Decision, Rule, Snapshot};
use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// The rule `go-to-the-centre`.
#[derive(Clone, Copy, Debug)]
pub struct Ando;

impl Rule for Ando {
    fn name(&self) -> &'static str {
        "go-to-the-centre"
    }

    fn decide(&self, look: &Snapshot, _: Draw) -> Decision {
        let goal = smallest_enclosing_circle(&look.places()).centre;
        let way = goal.norm();
        if way == 0.0 {
            return Decision::stay(look);
        }
        let ahead = goal * (1.0 / way);
        let mut most = way;
        if look.sees.is_finite() {
            for other in look.others() {
                // How far ahead the disc of radius `sees`/2 about the middle between both reaches.
                let (along, aside) = (0.5 * ahead.dot(other), 0.5 * ahead.cross(other));
                let reach = 0.25 * look.sees * look.sees - aside * aside;
                most = math::min(most, along + math::max(reach, 0.0).sqrt());
            }
        }
        Decision::go(look, if most == way { goal } else { ahead * math::max(most, 0.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lcm::{Robots, Setup, play};
    use swarmyard_base::Vec2;

    /// Two robots next to each other, each drawn to two others at the edge of its sight, away from the other.
    fn torn() -> Robots {
        let at = [(0.0, 0.0), (-0.05, 0.0), (0.6, 0.79), (0.6, -0.79), (-0.65, 0.79), (-0.65, -0.79)];
        Robots::at(at.iter().map(|(x, y)| Vec2::new(*x, *y)).collect())
    }

    #[test]
    fn robots_drawn_apart_stay_in_sight_of_each_other() {
        let robots = torn();
        let setup = Setup { sees_m: 1.0, ..Setup::default() };
        let target = |k: usize| play::decide(&Ando, &setup, &robots, k, 0, None).1;
        let middle = Vec2::new(-0.025, 0.0);
        assert!((target(0) - middle).norm() <= 0.5 + 1e-12, "{:?}", target(0));
        assert!((target(0) - target(1)).norm() <= 1.0 + 1e-12);
        // To the centres of their circles they would lose each other.
        let centre = |who: [usize; 4]| smallest_enclosing_circle(&who.map(|k| robots.at[k])).centre;
        assert!((centre([0, 1, 2, 3]) - centre([0, 1, 4, 5])).norm() > 1.2);
    }
}
