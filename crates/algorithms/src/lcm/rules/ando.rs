//! Go to the centre of the smallest circle around all robots in sight, but never out of the sight of anybody
//! (Ando, Oasa, Suzuki, Yamashita 1999).
//!
//! Two robots that see each other stay within the disc whose diameter is the range, about the middle between
//! them: whatever both do there, they still see each other.

use crate::geometry::smallest_enclosing_circle;
use crate::lcm::{Decision, Rule, Snapshot};
use swarmyard_base::chance::Draw;

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
                most = most.min(along + reach.max(0.0).sqrt());
            }
        }
        Decision::go(look, if most == way { goal } else { ahead * most.max(0.0) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lcm::{Robots, Setup, play};
    use swarmyard_base::Vec2;

    #[test]
    fn a_robot_at_the_edge_of_sight_does_not_go_away_from_it() {
        // The one at the left is just in sight; the circle around the three others pulls to the right.
        let at = [(0.0, 0.0), (-1.0, 0.0), (0.9, 0.4), (0.9, -0.4)];
        let robots = Robots::at(at.iter().map(|(x, y)| Vec2::new(*x, *y)).collect());
        let setup = Setup { sees_m: 1.0, ..Setup::default() };
        let (_, target) = play::decide(&Ando, &setup, &robots, 0, 0, None);
        assert!((target - Vec2::new(-0.5, 0.0)).norm() <= 0.5 + 1e-12, "{target:?}");
        let free = Setup { sees_m: 100.0, ..Setup::default() };
        let (_, goal) = play::decide(&Ando, &free, &robots, 3, 0, None);
        assert!(goal.norm() < 0.1, "without a limit it goes to the centre of the circle: {goal:?}");
    }
}
