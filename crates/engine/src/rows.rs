//! Which rows of each type a phase works on: all of them, or those whose turn it is.

use crate::model::{Model, TypeModel};
use crate::parallel::CHUNK;
use std::ops::Range;

/// Rows by type.
#[derive(Clone, Debug, Default)]
pub(crate) enum Rows {
    /// All rows of every type.
    #[default]
    All,
    /// These rows of each type.
    Of(Vec<Range<usize>>),
}

impl Rows {
    /// The rows of the type with that number.
    pub(crate) fn of(&self, number: usize, ty: &TypeModel) -> Range<usize> {
        match self {
            Rows::All => 0..ty.slots.len(),
            Rows::Of(rows) => rows[number].clone(),
        }
    }

    /// Whether the body in `slot` is among them.
    pub(crate) fn has(&self, model: &Model, slot: usize) -> bool {
        match self {
            Rows::All => true,
            Rows::Of(rows) => {
                let t = model.type_of[slot] as usize;
                rows[t].contains(&(slot - model.types[t].slots.start))
            }
        }
    }
}

/// Some rows of a column cut into chunks of [`CHUNK`] robots; as many empty slices when it has no width.
pub(crate) fn chunks_mut<'a>(data: &'a mut [f64], width: usize, rows: &Range<usize>) -> Vec<&'a mut [f64]> {
    if width == 0 {
        return (0..rows.len().div_ceil(CHUNK)).map(|_| &mut [][..]).collect();
    }
    data[rows.start * width..rows.end * width].chunks_mut(width * CHUNK).collect()
}

/// Copies some rows of a column.
pub(crate) fn copy(to: &mut [f64], from: &[f64], width: usize, rows: &Range<usize>) {
    let at = rows.start * width..rows.end * width;
    to[at.clone()].copy_from_slice(&from[at]);
}
