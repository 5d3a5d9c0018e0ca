//! Which bodies are near one another: square cells, counted modulo a grid, so that a plane needs no bounds.
//!
//! In: numbers of bodies and of the cells they are in. Out: the bodies of a cell. On a torus the grid goes
//! around it exactly once; on a plane far cells share a place, and the body's own cell tells them apart.

use super::Space;
use swarmyard_base::Vec2;

/// Nobody.
pub(super) const NONE: u32 = u32::MAX;

/// Bodies of one cell; more of them follow in the chain.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bunch {
    /// Bodies, [`NONE`] behind the last.
    pub(super) items: [u32; 3],
    /// The next bunch of this cell.
    pub(super) next: u32,
}

const EMPTY: Bunch = Bunch { items: [NONE; 3], next: NONE };

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
    /// Bunches: one per place, then those of chains.
    bunches: Vec<Bunch>,
    free: u32,
    /// Width and height of a torus; `None` on a plane.
    pub(super) torus: Option<Vec2>,
}

impl Cells {
    /// A grid for `count` bodies on `area`, none of which reaches others from more than `reach` away.
    pub(super) fn new(space: Space, count: usize, reach: f64, area: f64) -> Cells {
        let share = (area / count.max(1) as f64).sqrt();
        let width = (reach * ROOM).max(share).max(f64::MIN_POSITIVE);
        let width = if width > 1e-9 && width.is_finite() { width } else { 1.0 };
        let (origin, size, around, torus) = match space {
            Space::Plane => {
                let side = (2 * count.max(32)).next_power_of_two().isqrt().next_power_of_two().min(1 << 13);
                (Vec2::ZERO, Vec2::new(width, width), [side as i32; 2], None)
            }
            Space::Torus { min, max } => {
                let round = max - min;
                let fit = |length: f64| ((length / width) as i32).clamp(1, 1 << 13);
                let around = [fit(round.x), fit(round.y)];
                let size = Vec2::new(round.x / f64::from(around[0]), round.y / f64::from(around[1]));
                (min, size, around, Some(round))
            }
        };
        let [blocks, high] = around.map(|n| (n as usize).div_ceil(8));
        let places = blocks * high * 64;
        let per = Vec2::new(1.0 / size.x, 1.0 / size.y);
        Cells { origin, size, per, around, blocks, bunches: vec![EMPTY; places], free: NONE, torus }
    }

    /// The cell of a point, counted without end.
    #[inline]
    pub(super) fn of(&self, p: Vec2) -> [i32; 2] {
        let q = p - self.origin;
        // The cast keeps to the ends for what is out of all bounds.
        [(q.x * self.per.x).floor() as i32, (q.y * self.per.y).floor() as i32]
    }

    /// Lower left corner of a cell.
    #[inline]
    pub(super) fn corner(&self, cell: [i32; 2]) -> Vec2 {
        self.origin + Vec2::new(f64::from(cell[0]) * self.size.x, f64::from(cell[1]) * self.size.y)
    }

    /// How far outside of its cell a body on a bend may be.
    #[inline]
    pub(super) fn margin(&self) -> f64 {
        self.size.x.min(self.size.y) * MARGIN
    }

    /// Places lie in blocks of eight by eight, so that neighbours are near in memory too: a place is the sum of what its
    /// column and its row give.
    #[inline]
    pub(super) fn column(&self, x: i32) -> usize {
        let x = wrap(x, self.around[0]);
        (x / 8) * 64 + x % 8
    }

    /// What a row gives.
    #[inline]
    pub(super) fn row(&self, y: i32) -> usize {
        let y = wrap(y, self.around[1]);
        (y / 8) * self.blocks * 64 + (y % 8) * 8
    }

    #[inline]
    fn place(&self, cell: [i32; 2]) -> usize {
        self.row(cell[1]) + self.column(cell[0])
    }

    #[inline]
    pub(super) fn bunch(&self, place: usize) -> &Bunch {
        &self.bunches[place]
    }

    /// Calls `f` for each body at a place of the grid.
    #[inline]
    pub(super) fn for_each(&self, place: usize, mut f: impl FnMut(u32)) {
        let mut place = place;
        loop {
            let bunch = &self.bunches[place];
            for body in bunch.items {
                if body == NONE {
                    break;
                }
                f(body);
            }
            if bunch.next == NONE {
                return;
            }
            place = bunch.next as usize;
        }
    }

    pub(super) fn insert(&mut self, body: u32, cell: [i32; 2]) {
        let mut place = self.place(cell);
        loop {
            let bunch = &mut self.bunches[place];
            if let Some(room) = bunch.items.iter().position(|b| *b == NONE) {
                bunch.items[room] = body;
                return;
            }
            if bunch.next == NONE {
                break;
            }
            place = bunch.next as usize;
        }
        let fresh = Bunch { items: [body, NONE, NONE], next: NONE };
        let at = if self.free == NONE {
            self.bunches.push(fresh);
            (self.bunches.len() - 1) as u32
        } else {
            let at = self.free;
            self.free = self.bunches[at as usize].next;
            self.bunches[at as usize] = fresh;
            at
        };
        self.bunches[place].next = at;
    }

    pub(super) fn remove(&mut self, body: u32, cell: [i32; 2]) {
        let mut place = self.place(cell);
        let (mut found, mut before) = (None, None);
        loop {
            let bunch = &self.bunches[place];
            if let Some(slot) = bunch.items.iter().position(|b| *b == body) {
                found = Some((place, slot));
            }
            if bunch.next == NONE {
                break;
            }
            before = Some(place);
            place = bunch.next as usize;
        }
        let Some((found, slot)) = found else {
            debug_assert!(false, "body {body} is not in its cell");
            return;
        };
        // The last of the chain takes the place; only the last bunch has room, and it is never empty.
        let last = self.bunches[place].items.iter().rposition(|b| *b != NONE).unwrap_or(0);
        self.bunches[found].items[slot] = self.bunches[place].items[last];
        self.bunches[place].items[last] = NONE;
        if last == 0
            && let Some(before) = before
        {
            self.bunches[before].next = NONE;
            self.bunches[place].next = self.free;
            self.free = place as u32;
        }
    }
}

/// Size of a cell over the farthest two bodies can touch.
const ROOM: f64 = 1.25;

/// Margin over the size of a cell: two of them fit into the room that is left, and a little more.
const MARGIN: f64 = 0.08;

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
        let mut cells = Cells::new(Space::Plane, 10, 1.0, 10.0);
        let around = cells.around[0];
        let homes = [[-3, 7], [-3 + around, 7], [2, 2]];
        let mut there: Vec<(u32, [i32; 2])> = Vec::new();
        let mut number = 12_345_u32;
        for body in 0..5_000 {
            number = number.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let pick = (number >> 8) as usize;
            if there.len() > 20 || (pick % 5 < 2 && !there.is_empty()) {
                let (gone, cell) = there.swap_remove(pick % there.len());
                cells.remove(gone, cell);
            } else {
                there.push((body, homes[pick % 3]));
                cells.insert(body, homes[pick % 3]);
            }
            for place in [cells.place(homes[0]), cells.place(homes[2])] {
                let mut listed = Vec::new();
                cells.for_each(place, |b| listed.push(b));
                listed.sort_unstable();
                let mut expected: Vec<u32> =
                    there.iter().filter(|(_, c)| cells.place(*c) == place).map(|(b, _)| *b).collect();
                expected.sort_unstable();
                assert_eq!(listed, expected);
            }
        }
    }
}
