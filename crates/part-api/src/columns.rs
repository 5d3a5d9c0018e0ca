//! Columns: the numbers of many robots of one type, row by row, and the slices a model works on.

use crate::{Grip, Segment};
use swarmyard_base::Uid;

/// A stretch of a column: `width` numbers per robot.
#[derive(Clone, Copy, Debug, Default)]
pub struct Column<'a> {
    /// The numbers.
    pub data: &'a [f64],
    /// Numbers per robot.
    pub width: usize,
}

impl<'a> Column<'a> {
    /// The numbers of one robot of the chunk.
    #[inline]
    #[must_use]
    pub fn row(&self, row: usize) -> &'a [f64] {
        &self.data[row * self.width..(row + 1) * self.width]
    }
}

/// A stretch of a column that may be written.
#[derive(Debug, Default)]
pub struct ColumnMut<'a> {
    /// The numbers.
    pub data: &'a mut [f64],
    /// Numbers per robot.
    pub width: usize,
}

impl ColumnMut<'_> {
    /// The numbers of one robot of the chunk.
    #[inline]
    pub fn row(&mut self, row: usize) -> &mut [f64] {
        &mut self.data[row * self.width..(row + 1) * self.width]
    }
}

/// The readings of all parts of a type, for a chunk of robots, by part number.
#[derive(Clone, Copy, Debug)]
pub struct Channels<'a>(pub &'a [Column<'a>]);

impl<'a> Channels<'a> {
    /// The readings of one part of one robot of the chunk.
    #[inline]
    #[must_use]
    pub fn row(&self, part: usize, row: usize) -> &'a [f64] {
        self.0[part].row(row)
    }
}

/// What a sensor works on: a chunk of robots of one type.
pub struct SenseRows<'a> {
    /// Slot of the chunk's first robot in the bodies' columns; the others follow.
    pub first_slot: usize,
    /// Where the readings go.
    pub out: ColumnMut<'a>,
    /// Its private state, as committed.
    pub state: Column<'a>,
    /// Its private state after this phase; starts as a copy of `state`.
    pub next_state: ColumnMut<'a>,
    /// Committed readings of all parts of the same robots.
    pub siblings: Channels<'a>,
    /// Number of robots in the chunk.
    pub len: usize,
}

/// What a controller works on: a chunk of robots of one type.
pub struct ThinkRows<'a> {
    /// Uids of the chunk's robots.
    pub uids: &'a [Uid],
    /// Readings of all parts, by part number.
    pub readings: Channels<'a>,
    /// Commands of all parts, by part number; start as they were last quantum.
    pub commands: &'a mut [ColumnMut<'a>],
    /// Its private state, as committed.
    pub state: Column<'a>,
    /// Its private state after this phase; starts as a copy of `state`.
    pub next_state: ColumnMut<'a>,
}

/// What an actuator works on: a chunk of robots of one type.
pub struct ActRows<'a> {
    /// Slot of the chunk's first robot in the bodies' columns; the others follow.
    pub first_slot: usize,
    /// Commands now in effect.
    pub commands: Column<'a>,
    /// Where its own readings go (a drive reports its slip); start as they were last quantum.
    pub out: ColumnMut<'a>,
    /// Its private state, as committed.
    pub state: Column<'a>,
    /// Its private state after this phase; starts as a copy of `state`, with what its ports did to it.
    pub next_state: ColumnMut<'a>,
    /// The motion of each robot over the coming quantum; empty for a part that does not move its body.
    pub segments: &'a mut [Segment],
    /// What each robot's hand does; empty for a part that has none.
    pub grips: &'a mut [Grip],
    /// Number of robots in the chunk.
    pub len: usize,
}
