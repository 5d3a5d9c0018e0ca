//! What is fixed about robots that live by events.

use super::ground::{self, Ground};
use std::sync::Arc;
use swarmyard_base::{Time, Vec2, math};
use swarmyard_part_api::{BodyKind, Equipment, FixedEdge, GraphModel, NetworkModel, chord};

/// What makes a type of robots live by events: its protocols and algorithms, motion modules and sensors.
#[derive(Clone)]
pub struct Life {
    /// Protocols and algorithms, connected.
    pub graph: Arc<GraphModel>,
    /// Motion modules and sensors.
    pub equipment: Equipment,
}

/// What is fixed about all robots that live by events.
pub struct LiveModel {
    /// Their slots, in the natural order of paths; the place in this list is a robot's number.
    pub members: Vec<u32>,
    /// Number of each body, by slot; [`LiveModel::NOBODY`] for one that does not live by events.
    pub number_of: Vec<u32>,
    /// Place of each body in the order of uids, by slot.
    pub ranks: Vec<u32>,
    /// How messages travel.
    pub network: Option<Arc<dyn NetworkModel>>,
    /// What goes wrong, in the order of time.
    pub faults: Vec<Fault>,
    /// Ground that slows down or swallows.
    pub zones: Vec<Zone>,
    /// Obstacles that are bodies, by slot: those that can be moved, and discs.
    pub bodies: Vec<u32>,
    /// Fixed obstacles with corners.
    pub blocks: Vec<Block>,
    /// The first edge of the fixed thing that each fixed edge belongs to.
    pub first_edges: Vec<u32>,
    /// Whether every body lives by events: then nothing is done at quanta but looking.
    pub all: bool,
}

impl LiveModel {
    /// The number of a body that does not live by events.
    pub const NOBODY: u32 = u32::MAX;

    /// Number of the robot in a slot.
    #[must_use]
    pub fn number(&self, slot: usize) -> Option<u32> {
        Some(self.number_of[slot]).filter(|n| *n != LiveModel::NOBODY)
    }

    /// Whether there is a hole at a point.
    pub(crate) fn is_hole(&self, at: Vec2) -> bool {
        ground::at(&self.zones, at) == Ground::Hole
    }
}

/// A fixed obstacle with corners: where it is among the fixed edges, and the box around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// Its first edge.
    pub first: u32,
    /// How many it has.
    pub edges: u32,
    /// The lower corner of the box.
    pub min: Vec2,
    /// The upper one.
    pub max: Vec2,
}

impl Block {
    /// All of them, in the order of their edges.
    #[must_use]
    pub fn all(edges: &[FixedEdge]) -> Vec<Block> {
        let (mut blocks, mut first) = (Vec::new(), 0);
        for own in edges.chunk_by(|a, b| a.owner == b.owner) {
            if own[0].kind == BodyKind::Obstacle {
                let (mut min, mut max) = (own[0].a, own[0].a);
                for corner in own.iter().map(|e| e.a) {
                    min = Vec2::new(math::min(min.x, corner.x), math::min(min.y, corner.y));
                    max = Vec2::new(math::max(max.x, corner.x), math::max(max.y, corner.y));
                }
                blocks.push(Block { first, edges: own.len() as u32, min, max });
            }
            first += own.len() as u32;
        }
        blocks
    }
}

/// Something goes wrong, or right again.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// When.
    pub at: Time,
    /// What.
    pub what: FaultKind,
}

/// What goes wrong, or right again. Robots are meant by number.
#[derive(Clone, Debug, PartialEq)]
pub enum FaultKind {
    /// These stop and lose their memory.
    Crash(Vec<u32>),
    /// These start again.
    Recover(Vec<u32>),
    /// The network.
    Network(swarmyard_part_api::NetFault),
}

/// What a zone does to a robot whose centre is in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ZoneKind {
    /// It is slower by this factor.
    Slow(f64),
    /// It is gone.
    Swallow,
}

/// Ground that does not block.
#[derive(Clone, Debug, PartialEq)]
pub struct Zone {
    /// Its path.
    pub path: String,
    /// Its corners.
    pub points: Vec<Vec2>,
    /// What it does.
    pub kind: ZoneKind,
}

impl Zone {
    /// Whether a point is inside (even–odd rule).
    #[must_use]
    pub fn holds(&self, p: Vec2) -> bool {
        chord::holds(self.edges(), p)
    }

    /// Its edges.
    pub fn edges(&self) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
        chord::edges_of(&self.points)
    }
}
