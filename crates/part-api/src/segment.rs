//! Motion of a planar body over an interval, as a formula.
//!
//! A segment is a function of its own start only; where a body is at time t never depends on the
//! hops by which somebody asked. That is what makes contact times, and so whole runs, independent
//! of grouping.

use serde::{Deserialize, Serialize};
use swarmyard_base::{Pose2, Rot2, Twist2, Vec2, math};

/// In which frame the linear velocity is constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// In the body's frame: a wheeled robot on an arc.
    Body,
    /// In the world's frame: a body that glides and spins after an impact.
    World,
}

/// Constant velocity and spin from a start: rest, straight line, turn in place, arc, or glide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Start, in seconds after the beginning of the stretch.
    pub start_s: f64,
    /// Pose at the start.
    pub pose: Pose2,
    /// Cosine and sine of the heading at the start.
    pub rot: Rot2,
    /// Linear velocity, m/s, constant in `frame`.
    pub velocity: Vec2,
    /// Turning speed, rad/s.
    pub spin: f64,
    /// The frame of `velocity`.
    pub frame: Frame,
}

impl Segment {
    /// No motion.
    #[inline]
    #[must_use]
    pub fn rest(start_s: f64, pose: Pose2, rot: Rot2) -> Segment {
        Segment { start_s, pose, rot, velocity: Vec2::ZERO, spin: 0.0, frame: Frame::World }
    }

    /// A constant twist in the body's frame: the exact arc of a wheeled robot.
    #[inline]
    #[must_use]
    pub fn arc(start_s: f64, pose: Pose2, rot: Rot2, twist: Twist2) -> Segment {
        // A straight line is the same motion in both frames; keeping it in the world's lets the
        // closed forms for straight motion apply.
        if twist.spin == 0.0 {
            return Segment::glide(start_s, pose, rot, rot.apply(twist.linear()), 0.0);
        }
        Segment { start_s, pose, rot, velocity: twist.linear(), spin: twist.spin, frame: Frame::Body }
    }

    /// A constant velocity in the world's frame, with spin.
    #[inline]
    #[must_use]
    pub fn glide(start_s: f64, pose: Pose2, rot: Rot2, velocity: Vec2, spin: f64) -> Segment {
        Segment { start_s, pose, rot, velocity, spin, frame: Frame::World }
    }

    /// Whether the body does not move at all.
    #[inline]
    #[must_use]
    pub fn is_rest(&self) -> bool {
        self.velocity == Vec2::ZERO && self.spin == 0.0
    }

    /// Whether the centre moves on a straight line (or not at all).
    #[inline]
    #[must_use]
    pub fn is_straight(&self) -> bool {
        self.frame == Frame::World || self.velocity == Vec2::ZERO
    }

    /// Position at `t_s` seconds after the beginning of the stretch.
    #[inline]
    #[must_use]
    pub fn position_at(&self, t_s: f64) -> Vec2 {
        let dt = t_s - self.start_s;
        match self.frame {
            Frame::World => self.pose.at + self.velocity * dt,
            Frame::Body => {
                let (sinc, cosc) = math::sinc_cosc(self.spin * dt);
                let v = self.velocity;
                let local = Vec2::new(sinc * v.x - cosc * v.y, cosc * v.x + sinc * v.y);
                self.pose.at + self.rot.apply(local) * dt
            }
        }
    }

    /// Pose at `t_s`; the heading is not wrapped.
    #[inline]
    #[must_use]
    pub fn pose_at(&self, t_s: f64) -> Pose2 {
        let heading = self.pose.heading + self.spin * (t_s - self.start_s);
        Pose2 { at: self.position_at(t_s), heading }
    }

    /// Rotation at `t_s`.
    #[inline]
    #[must_use]
    pub fn rot_at(&self, t_s: f64) -> Rot2 {
        if self.spin == 0.0 {
            self.rot
        } else {
            Rot2::new(self.pose.heading + self.spin * (t_s - self.start_s))
        }
    }

    /// Velocity of the centre in the world's frame, given the rotation at that moment.
    #[inline]
    #[must_use]
    pub fn velocity_with(&self, rot: Rot2) -> Vec2 {
        match self.frame {
            Frame::World => self.velocity,
            Frame::Body => rot.apply(self.velocity),
        }
    }

    /// Twist in the body's frame, given the rotation at that moment.
    #[inline]
    #[must_use]
    pub fn twist_with(&self, rot: Rot2) -> Twist2 {
        let v = match self.frame {
            Frame::World => rot.unapply(self.velocity),
            Frame::Body => self.velocity,
        };
        Twist2 { forward: v.x, left: v.y, spin: self.spin }
    }

    /// Most that the centre's velocity changes per second, m/s².
    #[inline]
    #[must_use]
    pub fn turn_acceleration(&self) -> f64 {
        match self.frame {
            Frame::World => 0.0,
            Frame::Body => self.velocity.norm() * self.spin.abs(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    fn drive(left: f64, right: f64, base: f64, t: f64) -> Pose2 {
        let twist = Twist2::new((left + right) / 2.0, 0.0, (right - left) / base);
        Segment::arc(0.0, Pose2::default(), Rot2::IDENTITY, twist).pose_at(t)
    }

    fn near(a: Pose2, b: (f64, f64, f64), tol: f64) {
        assert!(
            (a.at.x - b.0).abs() < tol && (a.at.y - b.1).abs() < tol && (a.heading - b.2).abs() < tol,
            "{a:?}"
        );
    }

    /// Closed forms of the unicycle: (v/ω)(sin ωt, 1 − cos ωt).
    #[test]
    fn arcs_follow_the_closed_forms() {
        near(drive(1.0, 1.5, 0.5, 1.0), (1.051_838_731_0, 0.574_622_117_7, 1.0), 1e-9);
        near(drive(-0.2, 0.2, 0.4, 1.0), (0.0, 0.0, 1.0), 1e-12);
        near(drive(0.2, 0.4, 0.5, 2.5 * PI), (0.0, 1.5, PI), 1e-9);
    }

    #[test]
    fn a_thousand_small_arcs_are_one_large_arc() {
        let twist = Twist2::new(1.25, 0.0, 1.0);
        let mut pose = Pose2::default();
        for _ in 0..1000 {
            pose = Segment::arc(0.0, pose, pose.rot(), twist).pose_at(0.001);
        }
        near(pose, (1.051_838_731_0, 0.574_622_117_7, 1.0), 1e-9);
    }

    #[test]
    fn a_nearly_straight_arc_is_nearly_a_straight_line() {
        near(drive(1.0, 1.0 + 1e-12, 0.5, 1.0), (1.0, 1e-12, 2e-12), 1e-11);
        near(drive(1.0, 1.0, 0.5, 2.0), (2.0, 0.0, 0.0), 1e-15);
    }
}
