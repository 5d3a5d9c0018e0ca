//! The committed world, as a sensor sees it.

use crate::{BodyGrid, FixedIndex, Outline};
use serde::{Deserialize, Serialize};
use swarmyard_base::{Pose2, Rot2, Time, Twist2, Uid, Vec2};

/// Level of detail of the simulation; each class's sheet says what it leaves out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Detail {
    /// Everything the class models.
    #[default]
    Full,
    /// Without noise and limits.
    Coarse,
}

/// What kind of thing a ray or a bumper met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum BodyKind {
    /// A wall or the border of the world.
    Wall = 1,
    /// A robot.
    Robot = 2,
    /// An obstacle, fixed or moving.
    Obstacle = 3,
}

impl BodyKind {
    /// The word used in text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            BodyKind::Wall => "wall",
            BodyKind::Robot => "robot",
            BodyKind::Obstacle => "obstacle",
        }
    }
}

/// Columns of everything that can move. The index is the slot: local, never an identity.
#[derive(Clone, Copy, Debug)]
pub struct Bodies<'a> {
    /// Identity.
    pub uid: &'a [Uid],
    /// Position and heading.
    pub pose: &'a [Pose2],
    /// Cosine and sine of the heading (derived).
    pub rot: &'a [Rot2],
    /// Velocity in the body's frame.
    pub twist: &'a [Twist2],
    /// What the body really did in the last stretch, in its own frame: metres forward, metres to the
    /// left, radians turned.
    pub moved: &'a [Twist2],
    /// Number of its outline.
    pub outline: &'a [u32],
    /// Kind.
    pub kind: &'a [BodyKind],
    /// Heights above the floor between which the body is solid.
    pub heights: &'a [(f64, f64)],
}

impl Bodies<'_> {
    /// Number of bodies.
    #[must_use]
    pub fn len(&self) -> usize {
        self.uid.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.uid.is_empty()
    }
}

/// A contact as one of the two bodies feels it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Touch {
    /// Slot of the body that feels it.
    pub slot: u32,
    /// Uid of what it touched.
    pub other: Uid,
    /// Kind of what it touched.
    pub kind: BodyKind,
    /// Where, in the body's own frame.
    pub point: Vec2,
    /// Impulse exchanged, N s; zero under the rule `stop`.
    pub impulse: f64,
}

/// The committed world.
pub struct World<'a> {
    /// Now.
    pub now: Time,
    /// Seed of the run.
    pub seed: u64,
    /// Level of detail.
    pub detail: Detail,
    /// Everything that can move.
    pub bodies: Bodies<'a>,
    /// Outlines by number.
    pub outlines: &'a [Outline],
    /// Bodies by place.
    pub grid: &'a BodyGrid,
    /// Walls and fixed obstacles by place.
    pub fixed: &'a FixedIndex,
    /// Contacts of the last stretch and those that persist, in the order of slots.
    pub touches: &'a [Touch],
}

impl World<'_> {
    /// The contacts that the body in `slot` feels.
    #[must_use]
    pub fn touches_of(&self, slot: usize) -> &[Touch] {
        let first = self.touches.partition_point(|t| (t.slot as usize) < slot);
        let len = self.touches[first..].partition_point(|t| t.slot as usize == slot);
        &self.touches[first..first + len]
    }
}
