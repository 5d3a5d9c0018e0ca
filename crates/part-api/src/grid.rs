//! Things by place: a uniform grid over bodies, rebuilt every quantum, and one over what is fixed.
//!
//! Neither decides a result: they only say which candidates are worth looking at. Any cell size
//! gives the same bits.

use crate::BodyKind;
use serde::{Deserialize, Serialize};
use swarmyard_base::{Pose2, Uid, Vec2, math};

/// One entry of the body grid: what a sweep needs before it looks any closer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Entry {
    /// Position.
    pub at: Vec2,
    /// Reach of the outline.
    pub reach: f64,
    /// Slot of the body.
    pub slot: u32,
}

/// Cells of a rectangle; what lies outside belongs to the nearest border cell.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cells {
    origin: Vec2,
    per_m: f64,
    columns: usize,
    rows: usize,
}

impl Cells {
    /// A grid over a box with about `wanted` cells, none smaller than `least_m`.
    pub(crate) fn over(min: Vec2, max: Vec2, wanted: usize, least_m: f64) -> Cells {
        let (w, h) = (math::max(max.x - min.x, 1e-9), math::max(max.y - min.y, 1e-9));
        let wanted = wanted.clamp(1, 1 << 26) as f64;
        // A long thin box gets cells by its length, or there would be millions of columns.
        let mut size = math::max(math::max((w * h / wanted).sqrt(), math::max(w, h) / wanted), least_m);
        if !size.is_finite() {
            size = f64::MAX;
        }
        let count = |extent: f64| ((extent / size).ceil() as usize).clamp(1, 1 << 24);
        Cells { origin: min, per_m: 1.0 / size, columns: count(w), rows: count(h) }
    }

    #[inline]
    pub(crate) fn column(&self, x: f64) -> usize {
        // A cast saturates: far left and NaN become 0, far right the largest number.
        (((x - self.origin.x) * self.per_m) as usize).min(self.columns - 1)
    }

    #[inline]
    pub(crate) fn row(&self, y: f64) -> usize {
        (((y - self.origin.y) * self.per_m) as usize).min(self.rows - 1)
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.columns * self.rows
    }

    /// Number of the cell in a column and a row.
    #[inline]
    pub(crate) fn cell(&self, column: usize, row: usize) -> usize {
        row * self.columns + column
    }
}

/// Bodies sorted by cell.
#[derive(Clone, Debug, Default)]
pub struct BodyGrid {
    cells: Cells,
    starts: Vec<u32>,
    entries: Vec<Entry>,
    cell_of: Vec<u32>,
    /// Greatest reach of any body.
    max_reach: f64,
}

impl BodyGrid {
    /// Sorts bodies into cells. `reach` gives the reach of the body in a slot.
    pub fn rebuild(&mut self, poses: &[Pose2], reach: impl Fn(usize) -> f64) {
        let (min, max) = bounds(poses.iter().map(|p| p.at));
        self.cells = Cells::over(min, max, poses.len(), 1e-3);
        self.starts.clear();
        self.starts.resize(self.cells.len() + 1, 0);
        self.cell_of.clear();
        self.max_reach = 0.0;
        for pose in poses {
            let cell = self.cells.row(pose.at.y) * self.cells.columns + self.cells.column(pose.at.x);
            self.cell_of.push(cell as u32);
            self.starts[cell + 1] += 1;
        }
        for k in 1..self.starts.len() {
            self.starts[k] += self.starts[k - 1];
        }
        self.entries.clear();
        self.entries.resize(poses.len(), Entry::default());
        // Filling from the back leaves `starts` shifted right by one cell; the shift below undoes it.
        for (slot, pose) in poses.iter().enumerate() {
            let cell = self.cell_of[slot] as usize;
            let place = self.starts[cell] as usize;
            self.starts[cell] += 1;
            let reach = reach(slot);
            self.max_reach = math::max(self.max_reach, reach);
            self.entries[place] = Entry { at: pose.at, reach, slot: slot as u32 };
        }
        self.starts.copy_within(0..self.cells.len(), 1);
        self.starts[0] = 0;
    }

    /// Greatest reach of any body.
    #[must_use]
    pub fn max_reach(&self) -> f64 {
        self.max_reach
    }

    /// Visits the entries of every cell that touches the box, each body once.
    #[inline]
    pub fn for_each_in(&self, min: Vec2, max: Vec2, mut visit: impl FnMut(&Entry)) {
        if self.entries.is_empty() {
            return;
        }
        let (c0, c1) = (self.cells.column(min.x), self.cells.column(max.x));
        for row in self.cells.row(min.y)..=self.cells.row(max.y) {
            let base = row * self.cells.columns;
            // Cells of one row are neighbours in memory: one run of entries per row.
            let (a, b) = (self.starts[base + c0] as usize, self.starts[base + c1 + 1] as usize);
            for entry in &self.entries[a..b] {
                visit(entry);
            }
        }
    }
}

/// One straight piece of something that never moves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FixedEdge {
    /// One end.
    pub a: Vec2,
    /// The other end.
    pub b: Vec2,
    /// Uid of this piece: ties are broken by it.
    pub uid: Uid,
    /// Uid of the wall or obstacle it belongs to.
    pub owner: Uid,
    /// Wall or obstacle.
    pub kind: BodyKind,
    /// Heights above the floor between which it is solid.
    pub heights: (f64, f64),
    /// Number of its surface.
    pub surface: u32,
}

/// Fixed edges by place.
#[derive(Clone, Debug, Default)]
pub struct FixedIndex {
    edges: Vec<FixedEdge>,
    cells: Cells,
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl FixedIndex {
    /// Sorts edges into cells; an edge is in every cell it crosses.
    #[must_use]
    pub fn new(edges: Vec<FixedEdge>) -> FixedIndex {
        let (min, max) = bounds(edges.iter().flat_map(|e| [e.a, e.b]));
        // Cells of at least half a metre: finer ones cost memory and save nothing.
        let cells = Cells::over(min, max, (4 * edges.len() + 64).clamp(4096, 1 << 20), 0.5);
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        for (k, edge) in edges.iter().enumerate() {
            cells_of(&cells, (edge.a, edge.b), 0.0, |cell| pairs.push((cell as u32, k as u32)));
        }
        pairs.sort_unstable();
        let mut starts = vec![0_u32; cells.len() + 1];
        for &(cell, _) in &pairs {
            starts[cell as usize + 1] += 1;
        }
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        FixedIndex { edges, cells, starts, members: pairs.into_iter().map(|p| p.1).collect() }
    }

    /// All edges.
    #[must_use]
    pub fn edges(&self) -> &[FixedEdge] {
        &self.edges
    }

    /// Visits the edges in every cell that touches the box; an edge may come more than once.
    #[inline]
    pub fn for_each_in(&self, min: Vec2, max: Vec2, mut visit: impl FnMut(usize, &FixedEdge)) {
        if self.edges.is_empty() {
            return;
        }
        let (c0, c1) = (self.cells.column(min.x), self.cells.column(max.x));
        for row in self.cells.row(min.y)..=self.cells.row(max.y) {
            let base = row * self.cells.columns;
            let (a, b) = (self.starts[base + c0] as usize, self.starts[base + c1 + 1] as usize);
            for &k in &self.members[a..b] {
                visit(k as usize, &self.edges[k as usize]);
            }
        }
    }
}

/// Calls `take` for every cell within `margin_m` of the line from `a` to `b` (and perhaps some beside them).
pub(crate) fn cells_of(cells: &Cells, (a, b): (Vec2, Vec2), margin_m: f64, mut take: impl FnMut(usize)) {
    let size = 1.0 / cells.per_m;
    let (r0, r1) = (cells.row(math::min(a.y, b.y) - margin_m), cells.row(math::max(a.y, b.y) + margin_m));
    let slack = 1e-9 * (1.0 + size) + margin_m;
    for row in r0..=r1 {
        // The part of the line near this row's band gives the columns it can touch.
        let (low, high) =
            (cells.origin.y + row as f64 * size - slack, cells.origin.y + (row + 1) as f64 * size + slack);
        let low = if row == 0 { f64::NEG_INFINITY } else { low };
        let high = if row + 1 == cells.rows { f64::INFINITY } else { high };
        let d = b - a;
        let (mut t0, mut t1) = (0.0_f64, 1.0_f64);
        if d.y != 0.0 {
            let (u, v) = ((low - a.y) / d.y, (high - a.y) / d.y);
            t0 = math::max(t0, math::min(u, v));
            t1 = math::min(t1, math::max(u, v));
        }
        if t0 > t1 {
            continue;
        }
        let (x0, x1) = (a.x + d.x * t0, a.x + d.x * t1);
        for column in cells.column(math::min(x0, x1) - slack)..=cells.column(math::max(x0, x1) + slack) {
            take(row * cells.columns + column);
        }
    }
}

pub(crate) fn bounds(points: impl Iterator<Item = Vec2>) -> (Vec2, Vec2) {
    let (mut min, mut max) = (Vec2::new(f64::MAX, f64::MAX), Vec2::new(f64::MIN, f64::MIN));
    for p in points {
        min = Vec2::new(math::min(min.x, p.x), math::min(min.y, p.y));
        max = Vec2::new(math::max(max.x, p.x), math::max(max.y, p.y));
    }
    if min.x > max.x { (Vec2::ZERO, Vec2::ZERO) } else { (min, max) }
}
