//! Which bodies are near one another: square cells, counted modulo a grid, so that a plane needs no bounds.
//!
//! In: bodies and the cells they are in. Out: the bodies of a cell, by links from one to the next. On a torus the grid goes
//! around it exactly once; on a plane far cells share a place, and the body's own cell tells them apart.

use super::{Flying, Space};
use crate::pages;
use prefetch_index::prefetch_index;
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Nobody.
pub(super) const NONE: u32 = u32::MAX;

/// The grid.
#[derive(Clone, Debug)]
pub(super) struct Cells {
    origin: Vec2,
    /// Width and height of a cell.
    pub(super) size: Vec2,
    per: Vec2,
    /// Columns and rows until it begins again.
    pub(super) around: [i32; 2],
    /// Blocks of places side by side.
    blocks: usize,
    /// The first body of each place; from each a link leads to the next.
    first: Vec<u32>,
    /// Width and height of a torus; `None` on a plane.
    pub(super) torus: Option<Vec2>,
    /// The farthest that two bodies can touch.
    pub(super) reach: f64,
    /// Whether there is no room for bodies on bends.
    pub(super) is_tight: bool,
}

impl Cells {
    /// A grid for `count` bodies within a box, none of which reaches others from more than `reach` away. Where bodies go
    /// round bends it needs [`ROOM`].
    pub(super) fn new(space: Space, count: usize, reach: f64, (low, high): (Vec2, Vec2), room: f64) -> Cells {
        let span = high - low;
        let share = (span.x * span.y / count.max(1) as f64).sqrt();
        let width = math::max(math::max(reach * room, SHARE * share), f64::MIN_POSITIVE);
        let width = if width > 1e-9 && width.is_finite() { width } else { 1.0 };
        let (size, around, torus) = match space {
            Space::Plane => {
                // Enough for the box, unless it is long and thin.
                let fit = |length: f64| ((length / width) as usize).saturating_add(1);
                let places = (2 * count).max(64);
                let short = fit(math::min(span.x, span.y)).min(places.isqrt()).next_multiple_of(4);
                let long =
                    fit(math::max(span.x, span.y)).min(places / short).next_multiple_of(4).min(1 << 30);
                let around = if span.x < span.y { [short, long] } else { [long, short] };
                (Vec2::new(width, width), around.map(|n| n as i32), None)
            }
            Space::Torus { .. } => {
                let fit = |length: f64| ((length / width) as i32).clamp(1, 1 << 13);
                let around = [fit(span.x), fit(span.y)];
                let size = Vec2::new(span.x / f64::from(around[0]), span.y / f64::from(around[1]));
                (size, around, Some(span))
            }
        };
        let [blocks, rows] = around.map(|n| (n as usize).div_ceil(4));
        let per = Vec2::new(1.0 / size.x, 1.0 / size.y);
        let mut first = pages::list(blocks * rows * 16);
        first.resize(blocks * rows * 16, NONE);
        Cells { origin: low, size, per, around, blocks, first, torus, reach, is_tight: room < ROOM }
    }

    /// The cell of a point, counted without end.
    #[inline]
    pub(super) fn of(&self, p: Vec2) -> [i32; 2] {
        let q = p - self.origin;
        [floor(q.x * self.per.x), floor(q.y * self.per.y)]
    }

    /// Lower left corner of a cell.
    #[inline]
    pub(super) fn corner(&self, cell: [i32; 2]) -> Vec2 {
        self.origin + Vec2::new(f64::from(cell[0]) * self.size.x, f64::from(cell[1]) * self.size.y)
    }

    /// How far outside of its cell a body on a bend may be.
    #[inline]
    pub(super) fn margin(&self) -> f64 {
        math::min(self.size.x, self.size.y) * MARGIN
    }

    /// Places lie in blocks of four by four, a cache line each, so that neighbours are near in memory too: a place is the
    /// sum of what its column and its row give.
    #[inline]
    pub(super) fn column(&self, x: i32) -> usize {
        let x = wrap(x, self.around[0]);
        (x / 4) * 16 + x % 4
    }

    /// What a row gives.
    #[inline]
    pub(super) fn row(&self, y: i32) -> usize {
        let y = wrap(y, self.around[1]);
        (y / 4) * self.blocks * 16 + (y % 4) * 4
    }

    /// The places of `C` columns and `R` rows of cells from one on, row by row, unless one of them is beyond the grid.
    #[inline(always)]
    pub(super) fn places<const C: usize, const R: usize>(&self, from: [i32; 2]) -> Option<[[usize; C]; R]> {
        let to = [from[0].wrapping_add(C as i32 - 1), from[1].wrapping_add(R as i32 - 1)];
        if !(self.is_inside(from) & self.is_inside(to)) {
            return None;
        }
        let [x, y] = from.map(|c| c as usize);
        let columns: [usize; C] = std::array::from_fn(|c| (x + c) / 4 * 16 + (x + c) % 4);
        Some(std::array::from_fn(|r| {
            let row = (y + r) / 4 * self.blocks * 16 + (y + r) % 4 * 4;
            columns.map(|column| row + column)
        }))
    }

    /// Whether a cell is within the grid: then it shares its place with none that is.
    #[inline(always)]
    pub(super) fn is_inside(&self, cell: [i32; 2]) -> bool {
        ((cell[0] as u32) < self.around[0] as u32) & ((cell[1] as u32) < self.around[1] as u32)
    }

    #[inline]
    fn place(&self, cell: [i32; 2]) -> usize {
        self.row(cell[1]) + self.column(cell[0])
    }

    /// Bytes it holds.
    pub(super) fn bytes(&self) -> usize {
        self.first.capacity() * size_of::<u32>()
    }

    /// The first body at a place of the grid.
    #[inline]
    pub(super) fn first(&self, place: usize) -> u32 {
        self.first[place]
    }

    /// Asks for a place of the grid, which is about to be read.
    #[inline]
    pub(super) fn prefetch(&self, place: usize) {
        prefetch_index(&self.first, place);
    }

    /// Calls `f` for each body at a place of the grid.
    #[inline]
    pub(super) fn for_each(&self, bodies: &[Flying], place: usize, mut f: impl FnMut(u32)) {
        let mut body = self.first[place];
        while body != NONE {
            f(body);
            body = bodies[body as usize].link;
        }
    }

    /// Puts a body that is in no cell into one.
    #[inline]
    pub(super) fn insert(&mut self, bodies: &mut [Flying], body: u32, cell: [i32; 2]) {
        let place = self.place(cell);
        let flying = &mut bodies[body as usize];
        (flying.cell, flying.link) = (cell, self.first[place]);
        self.first[place] = body;
    }

    /// Takes a body out of its cell.
    #[inline]
    pub(super) fn remove(&mut self, bodies: &mut [Flying], body: u32) {
        let Flying { cell, link, .. } = bodies[body as usize];
        let place = self.place(cell);
        let mut before = self.first[place];
        if before == body {
            self.first[place] = link;
            return;
        }
        while before != NONE {
            let flying = &mut bodies[before as usize];
            if flying.link == body {
                flying.link = link;
                return;
            }
            before = flying.link;
        }
        debug_assert!(false, "body {body} is not in its cell");
    }
}

/// Least size of a cell over the farthest two bodies can touch, where some go round bends.
pub(super) const ROOM: f64 = 1.25;

/// The same where all are discs on lines: just more than rounding.
pub(super) const TIGHT: f64 = 1.01;

/// Least size of a cell over the side of the square that each body would have to itself. Smaller cells are left more often, larger
/// ones hold more bodies to be looked at.
const SHARE: f64 = 0.8;

/// Margin over the size of a cell: two of them fit into the room that is left, and a little more.
const MARGIN: f64 = 0.08;

/// The whole number below; what is out of all bounds keeps to the ends. Rounding down has no instruction of its own everywhere.
#[inline]
fn floor(x: f64) -> i32 {
    let whole = x as i32;
    whole.saturating_sub(i32::from(f64::from(whole) > x))
}

#[inline]
fn wrap(x: i32, around: i32) -> usize {
    // Nearly always it is inside.
    if (x as u32) < around as u32 { x as usize } else { x.rem_euclid(around) as usize }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three cells that share places or not, with bodies that come and go in an order without a pattern.
    #[test]
    fn bodies_come_and_go_in_chains() {
        let corners = (Vec2::ZERO, Vec2::new(5.0, 2.0));
        let mut cells = Cells::new(Space::Plane, 10, 1.0, corners, ROOM);
        let mut bodies = vec![Flying::NOWHERE; 5_000];
        let around = cells.around[0];
        let homes = [[-3, 7], [-3 + around, 7], [2, 2]];
        let mut there: Vec<(u32, [i32; 2])> = Vec::new();
        let mut number = 12_345_u32;
        for body in 0..5_000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let pick = (number >> 8) as usize;
            if there.len() > 20 || (pick % 5 < 2 && !there.is_empty()) {
                let (gone, _) = there.swap_remove(pick % there.len());
                cells.remove(&mut bodies, gone);
            } else {
                there.push((body, homes[pick % 3]));
                cells.insert(&mut bodies, body, homes[pick % 3]);
            }
            for place in [cells.place(homes[0]), cells.place(homes[2])] {
                let mut listed = Vec::new();
                cells.for_each(&bodies, place, |b| listed.push(b));
                listed.sort_unstable();
                let mut expected: Vec<u32> =
                    there.iter().filter(|(_, c)| cells.place(*c) == place).map(|(b, _)| *b).collect();
                expected.sort_unstable();
                assert_eq!(listed, expected);
            }
        }
    }

    #[test]
    fn a_cell_begins_at_its_lower_border() {
        for (x, cell) in [(0.0, 0), (0.999, 0), (1.0, 1), (-0.0, 0), (-1e-300, -1), (-1.0, -1), (-1.5, -2)] {
            assert_eq!(floor(x), cell, "{x}");
        }
        assert_eq!([floor(1e99), floor(-1e99), floor(f64::NAN)], [i32::MAX, i32::MIN, 0]);
    }
}
