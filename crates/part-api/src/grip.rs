//! Hands: how an actuator takes hold of things.
//!
//! An actuator with a [`Hand`] says each quantum where the hand is and what its jaws do ([`Grip`]); the
//! engine finds what is between them, decides who gets what, moves what is held along, and tells the
//! actuator what it feels ([`Felt`]).

use crate::Outline;
use serde::{Deserialize, Serialize};
use swarmyard_base::{Pose2, Rot2, Vec2};

/// What a hand can hold. The same for all robots of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hand {
    /// How far from the middle of the jaws an outline may be, m.
    pub reach: f64,
    /// Greatest width across the jaws, m.
    pub opening: f64,
    /// Greatest mass, kg.
    pub max_mass: f64,
}

impl Hand {
    /// Distance from the middle of the jaws to an outline that can be gripped; `None` when it is too
    /// far or too wide. `jaws` is the hand's pose, `at` and `rot` are the thing's.
    #[must_use]
    pub fn distance(&self, jaws: Pose2, outline: &Outline, at: Vec2, rot: Rot2) -> Option<f64> {
        let distance = outline.distance(rot.unapply(jaws.at - at));
        let across = rot.unapply(jaws.rot().apply(Vec2::new(0.0, 1.0)));
        (distance <= self.reach && outline.width(across) <= self.opening).then_some(distance)
    }
}

/// What the jaws of a hand do in the coming quantum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Jaws {
    /// They are open; what they held is let go.
    #[default]
    Open,
    /// They close on what is between them.
    Closing,
    /// They stay closed: they keep what they hold, and take nothing.
    Shut,
    /// They are open and close by themselves as soon as something is between them.
    Ready,
}

/// What one robot's hand does in the coming quantum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Grip {
    /// The hand in the body's frame, at the start of the quantum: the middle of the jaws, and where
    /// they point.
    pub from: Pose2,
    /// The same at the end. Headings are not wrapped: their difference is how far the hand turns.
    pub to: Pose2,
    /// What the jaws do.
    pub jaws: Jaws,
}

/// What a hand feels at the start of the quantum, after the jaws moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Felt {
    /// It holds something.
    pub holding: bool,
    /// Something that it could grip is between its open jaws.
    pub beam: bool,
    /// It should let go and cannot, because there is no room.
    pub jammed: bool,
    /// What it holds touched something else in the last quantum.
    pub touching: bool,
}

/// Somebody carries something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Carry {
    /// Slot of what is carried.
    pub object: u32,
    /// Slot of who carries it.
    pub carrier: u32,
    /// Number of the carrier's part that holds it.
    pub part: u32,
    /// Where it is in the hand's frame.
    pub offset: Pose2,
}
