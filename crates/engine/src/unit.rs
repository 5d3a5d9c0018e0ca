//! Several bodies that move as one, at an impact: their common mass, moment of inertia and motion.

use crate::model::BodyModel;
use swarmyard_base::Vec2;
use swarmyard_motion::Side;
use swarmyard_part_api::Segment;

/// What a unit of bodies is at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Whole {
    mass: f64,
    inertia: f64,
    /// Centre of mass, in the world's frame.
    pub(crate) centre: Vec2,
    velocity: Vec2,
    spin: f64,
}

impl Whole {
    /// Puts bodies together at `time_s`.
    ///
    /// Momentum and angular momentum are those of the parts. Where an arm moves its load about on the
    /// carrier they do not move as one: from here on they do, as if the joints locked, and what energy
    /// that costs is lost.
    pub(crate) fn of(parts: &[(&BodyModel, Segment)], time_s: f64) -> Whole {
        let moving =
            |segment: &Segment| (segment.position_at(time_s), segment.velocity_with(segment.rot_at(time_s)));
        let (mut mass, mut moment, mut momentum) = (0.0, Vec2::ZERO, Vec2::ZERO);
        for (body, segment) in parts {
            let (own, (at, velocity)) = (1.0 / body.inverse_mass, moving(segment));
            mass += own;
            moment = moment + at * own;
            momentum = momentum + velocity * own;
        }
        let (centre, velocity) = (moment * (1.0 / mass), momentum * (1.0 / mass));
        let (mut inertia, mut angular) = (0.0, 0.0);
        for (body, segment) in parts {
            let (own, (at, v)) = (1.0 / body.inverse_mass, moving(segment));
            let (arm, turning) = (at - centre, 1.0 / body.inverse_inertia);
            inertia += turning + own * arm.norm2();
            angular += turning * segment.spin + own * arm.cross(v - velocity);
        }
        Whole { mass, inertia, centre, velocity, spin: angular / inertia }
    }

    /// The whole as one side of an impact at a point.
    pub(crate) fn side(&self, point: Vec2) -> Side {
        Side {
            velocity: self.velocity,
            spin: self.spin,
            arm: point - self.centre,
            inverse_mass: 1.0 / self.mass,
            inverse_inertia: 1.0 / self.inertia,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::{Pose2, Rot2, Twist2};

    fn body(mass: f64, inertia: f64) -> BodyModel {
        BodyModel {
            inverse_mass: 1.0 / mass,
            inverse_inertia: 1.0 / inertia,
            surface: 0,
            own_stop: false,
            colour: None,
        }
    }

    /// By hand: 3 kg at the origin and 1 kg at (1, 0) have their centre at (0.25, 0), and
    /// 0.5 + 0.1 + 3·0.25² + 1·0.75² = 1.35 kg m² about it. Turning at 2 rad/s about the first body,
    /// which goes at 1 m/s, the centre goes at (1, 0.5).
    #[test]
    fn a_load_on_a_turning_carrier_is_put_together_as_by_hand() {
        let carrier = Segment::arc(0.0, Pose2::default(), Rot2::IDENTITY, Twist2::new(1.0, 0.0, 2.0));
        let offset = Pose2::new(1.0, 0.0, 0.5);
        let load = carrier.carried(offset, offset.rot(), offset);
        let (heavy, light) = (body(3.0, 0.5), body(1.0, 0.1));
        let whole = Whole::of(&[(&heavy, carrier), (&light, load)], 0.0);
        let near = |x: f64, y: f64| assert!((x - y).abs() < 1e-14, "{x} is not {y}");
        near(whole.mass, 4.0);
        near(whole.inertia, 1.35);
        near(whole.centre.x, 0.25);
        near(whole.velocity.x, 1.0);
        near(whole.velocity.y, 0.5);
        near(whole.spin, 2.0);
    }

    /// By hand: 1 kg at rest and 1 kg at (0, 1) that an arm moves at (2, 0): together (1, 0), and the
    /// angular momentum −1·0.5 − 1·0.5 about the middle over 0.2 + 2·0.25 = 0.7 kg m².
    #[test]
    fn joints_that_lock_keep_momentum() {
        let still = Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY);
        let swung = Segment::glide(0.0, Pose2::new(0.0, 1.0, 0.0), Rot2::IDENTITY, Vec2::new(2.0, 0.0), 0.0);
        let one = body(1.0, 0.1);
        let whole = Whole::of(&[(&one, still), (&one, swung)], 0.0);
        assert_eq!(whole.velocity, Vec2::new(1.0, 0.0));
        assert!((whole.spin + 1.0 / 0.7).abs() < 1e-14);
    }
}
