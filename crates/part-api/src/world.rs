//! The committed world, as a sensor sees it.

use crate::{BodyGrid, Carry, FixedIndex, Outline, TrackIndex, TrackPiece};
use serde::{Deserialize, Serialize};
use swarmyard_base::{Pose2, Rot2, Time, Twist2, Uid, Vec2};

/// Level of detail of the simulation, 0 to 2; each class's sheet says what it means there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[repr(u8)]
pub enum Detail {
    /// As cheap as can be: bodies are discs, sensors look along one line, nothing is noisy or limited.
    Coarse = 0,
    /// What a run usually wants.
    #[default]
    Normal = 1,
    /// Exact sensors, whatever they cost.
    Fine = 2,
}

impl Detail {
    /// All levels, by their numbers.
    pub const ALL: [Detail; 3] = [Detail::Coarse, Detail::Normal, Detail::Fine];

    /// The words used in text, by the levels' numbers.
    pub const WORDS: &'static [&'static str] = &["coarse", "normal", "fine"];

    /// The word used in text.
    #[must_use]
    pub fn word(self) -> &'static str {
        Detail::WORDS[self as usize]
    }

    /// The level of that word.
    #[must_use]
    pub fn of_word(word: &str) -> Option<Detail> {
        Detail::ALL.into_iter().find(|d| d.word() == word)
    }
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
    /// Number of its type.
    pub type_of: &'a [u32],
    /// Heights above the floor between which bodies are solid, by type.
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

    /// Heights above the floor between which the body in `slot` is solid.
    #[inline]
    #[must_use]
    pub fn heights_of(&self, slot: usize) -> (f64, f64) {
        self.heights[self.type_of[slot] as usize]
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

/// A mark on the floor, for track sensors.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Track {
    /// Its path.
    pub path: String,
    /// Middle of the band, or corners of the area.
    pub points: Vec<Vec2>,
    /// Width of the band; `None` for an area.
    pub width: Option<f64>,
    /// Share of light that comes back.
    pub reflectivity: f64,
}

/// A light that says who it is. It has no body: nothing collides with it, and nothing hides behind it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beacon {
    /// Its path.
    pub path: String,
    /// Identity of the thing; several may shine with the same code.
    pub uid: Uid,
    /// Where it is; its heading is where it shines.
    pub pose: Pose2,
    /// The code it shines with.
    pub id: u16,
    /// Full angle of the light, rad.
    pub aperture: f64,
    /// How far it is seen, m.
    pub range: f64,
    /// Height above the floor, m.
    pub height: f64,
}

/// The committed world.
pub struct World<'a> {
    /// Now.
    pub now: Time,
    /// Length of the coming quantum in seconds.
    pub quantum_s: f64,
    /// Gravity, m/s².
    pub gravity: f64,
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
    /// Beacons in the order of their codes, those of one code in the order of uids.
    pub beacons: &'a [Beacon],
    /// Marks on the floor.
    pub tracks: &'a [Track],
    /// Marks on the floor by place.
    pub track_index: &'a TrackIndex,
    /// Contacts of the last stretch and those that persist, in the order of slots.
    pub touches: &'a [Touch],
    /// Who carries what, in the order of the carried slots.
    pub carried: &'a [Carry],
}

impl World<'_> {
    /// Whether `other` is the body in `slot` itself, or held by it: its own sensors see neither. A hand
    /// in front of a sensor would blind it otherwise; that it holds something it knows from the hand.
    #[inline]
    #[must_use]
    pub fn is_own(&self, slot: usize, other: usize) -> bool {
        slot == other || (!self.carried.is_empty() && self.holds(slot, other))
    }

    fn holds(&self, slot: usize, other: usize) -> bool {
        let found = self.carried.binary_search_by_key(&(other as u32), |c| c.object);
        found.is_ok_and(|k| self.carried[k].carrier as usize == slot)
    }

    /// The contacts that the body in `slot` feels.
    #[must_use]
    pub fn touches_of(&self, slot: usize) -> &[Touch] {
        let first = self.touches.partition_point(|t| (t.slot as usize) < slot);
        let len = self.touches[first..].partition_point(|t| t.slot as usize == slot);
        &self.touches[first..first + len]
    }

    /// Pieces of marks on the floor that may reach into a box, each once.
    #[must_use]
    pub fn track_pieces(&self, low: Vec2, high: Vec2) -> Vec<TrackPiece<'_>> {
        self.track_index.pieces(self.tracks, low, high)
    }

    /// Share of light that the floor gives back at a point: that of the brightest mark there, or 0.
    #[must_use]
    pub fn reflectivity_at(&self, point: Vec2) -> f64 {
        self.track_index.reflectivity_at(self.tracks, point)
    }
}
