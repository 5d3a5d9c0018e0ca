//! What a robot has learned about the floor: kind 5.

use super::wire::{Reader, Unreadable, Writer};
use super::{GRID, Head};

/// An occupancy grid. Lengths are in units.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    /// Which message, which moment.
    pub head: Head,
    /// Number of the body whose grid it is.
    pub body: u32,
    /// Lower left corner.
    pub x: i64,
    /// Lower left corner.
    pub y: i64,
    /// Side of a cell.
    pub cell: i64,
    /// Cells in a row.
    pub columns: u32,
    /// One byte per cell, row by row from below: 0 surely free, 128 unknown, 255 surely occupied. There
    /// are whole rows only.
    pub cells: Vec<u8>,
}

impl Grid {
    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.cells.len().checked_div(self.columns as usize).unwrap_or(0)
    }

    /// The message. Cells beyond the last whole row are left out.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let rows = self.rows();
        let cells = &self.cells[..rows * self.columns as usize];
        let mut w = Writer::with_room(64 + cells.len());
        self.head.put(&mut w, GRID, None);
        w.whole(self.body.into());
        for number in [self.x, self.y, self.cell] {
            w.signed(number);
        }
        w.whole(self.columns.into());
        w.whole(rows as u64);
        w.bytes(cells);
        w.0
    }

    /// Reads the message.
    ///
    /// # Errors
    /// When the bytes are no such message.
    pub fn decode(bytes: &[u8]) -> Result<Grid, Unreadable> {
        let mut r = Reader::new(bytes);
        if r.byte()? != GRID {
            return Err(Unreadable { at: 0, what: "the message does not hold a grid" });
        }
        let (head, _) = Head::take(&mut r, false)?;
        let body = r.small()?;
        let (x, y, cell) = (r.measure(0)?, r.measure(0)?, r.measure(0)?);
        let (columns, rows) = (r.small()?, r.small()?);
        if u64::from(columns) * u64::from(rows) != r.left() as u64 {
            return Err(r.wrong("there are more or fewer cells than columns times rows"));
        }
        let cells = r.bytes(r.left())?.to_vec();
        Ok(Grid { head, body, x, y, cell, columns, cells })
    }
}
