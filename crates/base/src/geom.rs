//! Points, rotations, poses and twists of the plane.
//!
//! SI units and radians; right-handed, x forward, y left, counter-clockwise positive.

use crate::math;
use serde::{Deserialize, Serialize};
use std::ops::{Add, Mul, Neg, Sub};

/// A vector or point of the plane, in metres unless its name says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Vec2 {
    /// East, or forward in a body frame.
    pub x: f64,
    /// North, or left in a body frame.
    pub y: f64,
}

impl Vec2 {
    /// The origin.
    pub const ZERO: Vec2 = Vec2 { x: 0.0, y: 0.0 };

    /// A vector from its two coordinates.
    #[inline]
    #[must_use]
    pub const fn new(x: f64, y: f64) -> Vec2 {
        Vec2 { x, y }
    }

    /// The unit vector at an angle.
    #[must_use]
    pub fn at_angle(angle_rad: f64) -> Vec2 {
        let (s, c) = math::sin_cos(angle_rad);
        Vec2::new(c, s)
    }

    /// Scalar product.
    #[inline]
    #[must_use]
    pub fn dot(self, other: Vec2) -> f64 {
        self.x * other.x + self.y * other.y
    }

    /// Third component of the vector product.
    #[inline]
    #[must_use]
    pub fn cross(self, other: Vec2) -> f64 {
        self.x * other.y - self.y * other.x
    }

    /// The vector turned left by a quarter turn.
    #[inline]
    #[must_use]
    pub fn perp(self) -> Vec2 {
        Vec2::new(-self.y, self.x)
    }

    /// Square of the length.
    #[inline]
    #[must_use]
    pub fn norm2(self) -> f64 {
        self.dot(self)
    }

    /// Length.
    #[inline]
    #[must_use]
    pub fn norm(self) -> f64 {
        self.norm2().sqrt()
    }

    /// Direction of the vector, in (−π, π].
    #[must_use]
    pub fn angle(self) -> f64 {
        math::atan2(self.y, self.x)
    }

    /// Whether both coordinates are finite.
    #[inline]
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.x.is_finite() && self.y.is_finite()
    }
}

impl Add for Vec2 {
    type Output = Vec2;
    #[inline]
    fn add(self, other: Vec2) -> Vec2 {
        Vec2::new(self.x + other.x, self.y + other.y)
    }
}

impl Sub for Vec2 {
    type Output = Vec2;
    #[inline]
    fn sub(self, other: Vec2) -> Vec2 {
        Vec2::new(self.x - other.x, self.y - other.y)
    }
}

impl Mul<f64> for Vec2 {
    type Output = Vec2;
    #[inline]
    fn mul(self, k: f64) -> Vec2 {
        Vec2::new(self.x * k, self.y * k)
    }
}

impl Neg for Vec2 {
    type Output = Vec2;
    #[inline]
    fn neg(self) -> Vec2 {
        Vec2::new(-self.x, -self.y)
    }
}

/// A rotation of the plane, kept as cosine and sine.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rot2 {
    /// Cosine of the angle.
    pub c: f64,
    /// Sine of the angle.
    pub s: f64,
}

impl Rot2 {
    /// No rotation.
    pub const IDENTITY: Rot2 = Rot2 { c: 1.0, s: 0.0 };

    /// The rotation by an angle.
    #[inline]
    #[must_use]
    pub fn new(angle_rad: f64) -> Rot2 {
        let (s, c) = math::sin_cos(angle_rad);
        Rot2 { c, s }
    }

    /// Rotates a vector from the body's frame to the world's.
    #[inline]
    #[must_use]
    pub fn apply(self, v: Vec2) -> Vec2 {
        Vec2::new(self.c * v.x - self.s * v.y, self.s * v.x + self.c * v.y)
    }

    /// Rotates a vector from the world's frame to the body's.
    #[inline]
    #[must_use]
    pub fn unapply(self, v: Vec2) -> Vec2 {
        Vec2::new(self.c * v.x + self.s * v.y, self.c * v.y - self.s * v.x)
    }

    /// This rotation, and another one in the frame it leads to.
    #[inline]
    #[must_use]
    pub fn then(self, b: Rot2) -> Rot2 {
        Rot2 { c: self.c * b.c - self.s * b.s, s: self.s * b.c + self.c * b.s }
    }
}

/// Position and heading in the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pose2 {
    /// Position, in metres.
    pub at: Vec2,
    /// Heading, in radians.
    pub heading: f64,
}

impl Pose2 {
    /// A pose from its three numbers.
    #[must_use]
    pub const fn new(x: f64, y: f64, heading: f64) -> Pose2 {
        Pose2 { at: Vec2::new(x, y), heading }
    }

    /// The rotation from this frame to the frame the pose is given in.
    #[inline]
    #[must_use]
    pub fn rot(self) -> Rot2 {
        Rot2::new(self.heading)
    }

    /// This pose's frame, then `inner` inside it.
    #[must_use]
    pub fn then(self, inner: Pose2) -> Pose2 {
        Pose2 { at: self.at + self.rot().apply(inner.at), heading: self.heading + inner.heading }
    }

    /// A point of this frame, in the frame the pose is given in.
    #[must_use]
    pub fn point(self, local: Vec2) -> Vec2 {
        self.at + self.rot().apply(local)
    }

    /// Whether all three numbers are finite.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.at.is_finite() && self.heading.is_finite()
    }

    /// The same pose in space, at a fixed height: what is published to the outside.
    #[must_use]
    pub fn at_height(self, z_m: f64) -> Pose3 {
        let (s, c) = math::sin_cos(self.heading / 2.0);
        Pose3 { position: [self.at.x, self.at.y, z_m], quaternion_xyzw: [0.0, 0.0, s, c] }
    }
}

/// Position and orientation in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pose3 {
    /// Position x, y, z in metres.
    pub position: [f64; 3],
    /// Orientation as a unit quaternion x, y, z, w.
    pub quaternion_xyzw: [f64; 4],
}

/// Velocity of a body in its own frame.
///
/// Kept in the body's frame because a robot on an arc then has a constant twist, bit for bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Twist2 {
    /// Forward speed, m/s.
    pub forward: f64,
    /// Speed to the left, m/s.
    pub left: f64,
    /// Turning speed, rad/s.
    pub spin: f64,
}

impl Twist2 {
    /// No motion.
    pub const REST: Twist2 = Twist2 { forward: 0.0, left: 0.0, spin: 0.0 };

    /// A twist from its three numbers.
    #[must_use]
    pub const fn new(forward: f64, left: f64, spin: f64) -> Twist2 {
        Twist2 { forward, left, spin }
    }

    /// The linear part.
    #[inline]
    #[must_use]
    pub fn linear(self) -> Vec2 {
        Vec2::new(self.forward, self.left)
    }

    /// Whether the body is at rest.
    #[inline]
    #[must_use]
    pub fn is_rest(self) -> bool {
        self.forward == 0.0 && self.left == 0.0 && self.spin == 0.0
    }

    /// Whether all three numbers are finite.
    #[must_use]
    pub fn is_finite(self) -> bool {
        self.forward.is_finite() && self.left.is_finite() && self.spin.is_finite()
    }
}
