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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The point of the body that has `velocity`, in the body's frame: its origin, except for one of
    /// several bodies that glide and spin as one about their common centre of mass. Zero in
    /// [`Frame::Body`].
    pub centre: Vec2,
}

impl Segment {
    /// No motion.
    #[inline]
    #[must_use]
    pub fn rest(start_s: f64, pose: Pose2, rot: Rot2) -> Segment {
        Segment {
            start_s,
            pose,
            rot,
            velocity: Vec2::ZERO,
            spin: 0.0,
            frame: Frame::World,
            centre: Vec2::ZERO,
        }
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
        let (velocity, spin) = (twist.linear(), twist.spin);
        Segment { start_s, pose, rot, velocity, spin, frame: Frame::Body, centre: Vec2::ZERO }
    }

    /// A constant velocity in the world's frame, with spin.
    #[inline]
    #[must_use]
    pub fn glide(start_s: f64, pose: Pose2, rot: Rot2, velocity: Vec2, spin: f64) -> Segment {
        Segment { start_s, pose, rot, velocity, spin, frame: Frame::World, centre: Vec2::ZERO }
    }

    /// A constant velocity in the world's frame of one point of the body, with spin about it. Several
    /// bodies with the same velocity, spin and point (each in its own frame) move as one.
    #[inline]
    #[must_use]
    pub fn glide_about(self, centre: Vec2) -> Segment {
        // Without spin every point has the same velocity.
        Segment { centre: if self.spin == 0.0 { Vec2::ZERO } else { centre }, ..self }
    }

    /// The motion of something fixed on this body, which starts at `pose`; `offset` is its pose in
    /// this body's frame.
    #[must_use]
    pub fn carried(&self, pose: Pose2, rot: Rot2, offset: Pose2) -> Segment {
        let turned = offset.rot();
        match self.frame {
            Frame::World => Segment::glide(self.start_s, pose, rot, self.velocity, self.spin)
                .glide_about(turned.unapply(self.centre - offset.at)),
            Frame::Body => {
                let v = turned.unapply(self.velocity + offset.at.perp() * self.spin);
                Segment::arc(self.start_s, pose, rot, Twist2::new(v.x, v.y, self.spin))
            }
        }
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
        self.centre == Vec2::ZERO && (self.frame == Frame::World || self.velocity == Vec2::ZERO)
    }

    /// Position at `t_s` seconds after the beginning of the stretch.
    #[inline]
    #[must_use]
    pub fn position_at(&self, t_s: f64) -> Vec2 {
        let dt = t_s - self.start_s;
        match self.frame {
            Frame::World if self.centre == Vec2::ZERO => self.pose.at + self.velocity * dt,
            Frame::World => {
                let lever = self.rot.apply(self.centre);
                self.pose.at + self.velocity * dt + lever - self.rot_at(t_s).apply(self.centre)
            }
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
            Frame::World if self.centre == Vec2::ZERO => self.velocity,
            Frame::World => self.velocity - rot.apply(self.centre).perp() * self.spin,
            Frame::Body => rot.apply(self.velocity),
        }
    }

    /// Twist in the body's frame, given the rotation at that moment.
    #[inline]
    #[must_use]
    pub fn twist_with(&self, rot: Rot2) -> Twist2 {
        let v = match self.frame {
            Frame::World => rot.unapply(self.velocity_with(rot)),
            Frame::Body => self.velocity,
        };
        Twist2 { forward: v.x, left: v.y, spin: self.spin }
    }

    /// Most that the centre's velocity changes per second, m/s².
    #[inline]
    #[must_use]
    pub fn turn_acceleration(&self) -> f64 {
        match self.frame {
            Frame::World => self.round_speed() * self.spin.abs(),
            Frame::Body => self.velocity.norm() * self.spin.abs(),
        }
    }

    /// Length of the round part of the origin's way per second: all of it on an arc, that around the
    /// centre on a glide, m/s.
    #[inline]
    #[must_use]
    pub fn round_speed(&self) -> f64 {
        match self.frame {
            Frame::World if self.centre == Vec2::ZERO => 0.0,
            Frame::World => self.centre.norm() * self.spin.abs(),
            Frame::Body => self.velocity.norm(),
        }
    }

    /// Greatest speed of the origin, m/s.
    #[inline]
    #[must_use]
    pub fn top_speed(&self) -> f64 {
        match self.frame {
            Frame::World => self.velocity.norm() + self.round_speed(),
            Frame::Body => self.velocity.norm(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Whatever the carrier does, what it carries stays where it is in the carrier's frame.
    #[test]
    fn what_is_carried_keeps_its_place_on_the_carrier() {
        let (pose, offset) = (Pose2::new(1.0, -2.0, 0.7), Pose2::new(0.4, 0.3, -1.1));
        let rot = pose.rot();
        let glide = Segment::glide(0.0, pose, rot, Vec2::new(0.5, -0.2), 1.5);
        for carrier in [
            Segment::rest(0.0, pose, rot),
            Segment::arc(0.0, pose, rot, Twist2::new(0.8, 0.1, -2.0)),
            Segment::arc(0.0, pose, rot, Twist2::new(0.8, 0.1, 0.0)),
            glide,
            glide.glide_about(Vec2::new(0.3, -0.2)),
        ] {
            let load = carrier.carried(pose.then(offset), pose.then(offset).rot(), offset);
            for t in [0.0, 0.3, 1.0, 2.5] {
                let (is, should) = (load.pose_at(t), carrier.pose_at(t).then(offset));
                assert!((is.at - should.at).norm() < 1e-14 && (is.heading - should.heading).abs() < 1e-14);
                let (early, late) = (load.position_at(t - 1e-6), load.position_at(t + 1e-6));
                let slope = (late - early) * 0.5e6;
                assert!((slope - load.velocity_with(load.rot_at(t))).norm() < 1e-8);
                assert!(slope.norm() <= load.top_speed() + 1e-8);
            }
        }
    }

    /// The centre of a body that turns about the point (1, 0) of itself goes round that point.
    #[test]
    fn a_glide_about_a_point_moves_the_point_straight() {
        let s = Segment::glide(0.0, Pose2::default(), Rot2::IDENTITY, Vec2::new(2.0, 0.0), PI)
            .glide_about(Vec2::new(1.0, 0.0));
        near(s.pose_at(1.0), (4.0, 0.0, PI), 1e-14);
        near(s.pose_at(0.5), (2.0, -1.0, PI / 2.0), 1e-14);
    }

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
