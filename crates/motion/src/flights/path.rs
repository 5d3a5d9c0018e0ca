//! How one body moves from a moment on.
//!
//! In: a start, and a straight line or a [`Segment`]. Out: where the body is at any later moment, always by the
//! formula from the start. A path is never cut into pieces by asking.

use swarmyard_base::{Moment, Pose2, Rot2, Vec2};
use swarmyard_part_api::Segment;

/// Motion of a body from a moment on, until it gets another path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Path {
    /// Rest, or a straight line without turning.
    Straight {
        /// When it starts.
        start: Moment,
        /// Where the body is then.
        position: Vec2,
        /// Velocity, m/s.
        velocity: Vec2,
        /// Heading, rad.
        heading: f64,
    },
    /// Any segment.
    Segment {
        /// When it starts: the segment's `start_s` of 0.
        start: Moment,
        /// The motion.
        segment: Segment,
    },
}

impl Path {
    /// A body that stays where it is.
    #[must_use]
    pub fn rest(start: Moment, pose: Pose2) -> Path {
        Path::Straight { start, position: pose.at, velocity: Vec2::ZERO, heading: pose.heading }
    }

    /// A straight line; the heading is zero.
    #[inline]
    #[must_use]
    pub fn straight(start: Moment, position: Vec2, velocity: Vec2) -> Path {
        Path::Straight { start, position, velocity, heading: 0.0 }
    }

    /// A segment that starts at a moment, whatever its own `start_s`.
    #[must_use]
    pub fn along(start: Moment, segment: &Segment) -> Path {
        if segment.spin == 0.0 && segment.is_straight() {
            let velocity = segment.velocity_with(segment.rot);
            return Path::Straight {
                start,
                position: segment.pose.at,
                velocity,
                heading: segment.pose.heading,
            };
        }
        Path::Segment { start, segment: Segment { start_s: 0.0, ..*segment } }
    }

    /// When it starts.
    #[inline]
    #[must_use]
    pub fn start(&self) -> Moment {
        match self {
            Path::Straight { start, .. } | Path::Segment { start, .. } => *start,
        }
    }

    /// Where the body's centre is at a moment.
    #[inline]
    #[must_use]
    pub fn position_at(&self, moment: Moment) -> Vec2 {
        match self {
            Path::Straight { start, position, velocity, .. } => *position + *velocity * moment.since(*start),
            Path::Segment { start, segment } => segment.position_at(moment.since(*start)),
        }
    }

    /// Position and heading (not wrapped) at a moment.
    #[must_use]
    pub fn pose_at(&self, moment: Moment) -> Pose2 {
        match self {
            Path::Straight { heading, .. } => Pose2 { at: self.position_at(moment), heading: *heading },
            Path::Segment { start, segment } => segment.pose_at(moment.since(*start)),
        }
    }

    /// Velocity of the centre at a moment.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, moment: Moment) -> Vec2 {
        match self {
            Path::Straight { velocity, .. } => *velocity,
            Path::Segment { start, segment } => segment.velocity_with(segment.rot_at(moment.since(*start))),
        }
    }

    /// Greatest speed of the centre.
    #[must_use]
    pub fn top_speed(&self) -> f64 {
        match self {
            Path::Straight { velocity, .. } => velocity.norm(),
            Path::Segment { segment, .. } => segment.top_speed(),
        }
    }

    /// The centre's straight line: start, position and velocity; `None` on a bend.
    #[inline]
    #[must_use]
    pub fn line(&self) -> Option<(Moment, Vec2, Vec2)> {
        match self {
            Path::Straight { start, position, velocity, .. } => Some((*start, *position, *velocity)),
            Path::Segment { start, segment } if segment.is_straight() => {
                Some((*start, segment.pose.at, segment.velocity_with(segment.rot)))
            }
            Path::Segment { .. } => None,
        }
    }

    /// The motion as a segment that starts at `start_s` seconds.
    #[must_use]
    pub fn segment_from(&self, start_s: f64) -> Segment {
        match self {
            Path::Straight { position, velocity, heading, .. } => {
                let pose = Pose2 { at: *position, heading: *heading };
                Segment::glide(start_s, pose, Rot2::new(*heading), *velocity, 0.0)
            }
            Path::Segment { segment, .. } => Segment { start_s, ..*segment },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::{Time, Twist2};

    #[test]
    fn a_path_is_its_formula_from_its_start() {
        let start = Moment::at(Time(2_000_000_000));
        let line = Path::straight(start, Vec2::new(1.0, 2.0), Vec2::new(3.0, -1.0));
        assert_eq!(line.position_at(start.plus(0.5)), Vec2::new(2.5, 1.5));
        let pose = Pose2::new(0.0, 0.0, 0.0);
        let arc = Segment::arc(7.0, pose, pose.rot(), Twist2::new(1.0, 0.0, 1.0));
        let path = Path::along(start, &arc);
        let quarter = start.plus(std::f64::consts::FRAC_PI_2);
        assert!((path.position_at(quarter) - Vec2::new(1.0, 1.0)).norm() < 1e-15);
        assert!((path.velocity_at(quarter) - Vec2::new(0.0, 1.0)).norm() < 1e-15);
        assert_eq!(path.line(), None);
    }

    /// Turning in place moves no disc; neither does going straight in either frame need a bend.
    #[test]
    fn turns_in_place_and_straight_arcs_are_lines() {
        let pose = Pose2::new(1.0, 1.0, 0.5);
        let turn = Segment::arc(0.0, pose, pose.rot(), Twist2::new(0.0, 0.0, 2.0));
        let path = Path::along(Moment::ZERO, &turn);
        assert_eq!(path.line(), Some((Moment::ZERO, pose.at, Vec2::ZERO)));
        assert_eq!(path.pose_at(Moment::ZERO.plus(1.0)).heading, 2.5);
        let ahead = Segment::arc(0.0, pose, pose.rot(), Twist2::new(2.0, 0.0, 0.0));
        assert!(matches!(Path::along(Moment::ZERO, &ahead), Path::Straight { .. }));
    }
}
