//! Having in the cache what is about to be read.
//!
//! In: the entries of the coming day. Out: nothing. The processor is asked for lines of memory while the events of this day happen; none is waited
//! for or changed, and no event depends on it.

use super::Flights;
use super::predict::EDGE;
use prefetch_index::prefetch_index;

/// Bodies from which on they do not fit into the processor's nearest caches.
pub(super) const SOME: usize = 1 << 12;

/// Bodies from which on their surroundings do not fit into the nearer ones either: up to here it is enough to ask for them when a body
/// has a new path.
pub(super) const MANY: usize = 1 << 14;

/// Bodies of a day beyond which what is fetched first would be gone from the cache before its time comes.
const MOST: usize = 128;

/// Bodies that are looked after with each event: some more than take part in one.
const AT_ONCE: usize = 4;

/// Who takes part in the coming day, and how far their surroundings have been asked for.
#[derive(Debug, Default)]
pub(super) struct Ahead {
    bodies: Vec<u32>,
    /// Of so many the cells have been asked for,
    cells: usize,
    /// and of so many those who are first in them.
    firsts: usize,
}

impl Ahead {
    pub(super) fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<u32>()
    }
}

impl Flights {
    /// A day has begun: asks for the bodies of the next one.
    pub(super) fn fetch_day(&mut self) {
        let ahead = &mut self.ahead;
        ahead.bodies.clear();
        (ahead.cells, ahead.firsts) = (0, 0);
        for entry in self.calendar.tomorrow() {
            let partner = (entry.partner & EDGE == 0).then_some(entry.partner);
            for body in std::iter::once(entry.body).chain(partner) {
                prefetch_index(&self.plans, body as usize);
                prefetch_index(&self.bodies, body as usize);
                ahead.bodies.push(body);
            }
            if ahead.bodies.len() >= MOST {
                break;
            }
        }
    }

    /// Asks for those who are first in the cells around one.
    #[inline]
    pub(super) fn fetch_around(&self, cell: [i32; 2]) {
        let Some(places) = self.cells.places::<3, 3>(cell.map(|c| c.saturating_sub(1))) else { return };
        // Whether somebody is there is as good as chance: where nobody is, any body will do.
        let any = self.bodies.len() as u32 - 1;
        for place in places.as_flattened() {
            prefetch_index(&self.bodies, self.cells.first(*place).min(any) as usize);
        }
    }

    /// Asks for some more of what is around the bodies of the coming day; what was asked for with the event before is there by now.
    #[inline]
    pub(super) fn fetch(&mut self) {
        let Ahead { bodies, cells, firsts } = &self.ahead;
        let (from, to) = (*firsts, *cells);
        if from == bodies.len() {
            return;
        }
        let beyond = (to + AT_ONCE).min(bodies.len());
        for body in &bodies[from..to] {
            self.fetch_around(self.bodies[*body as usize].cell);
        }
        for body in &bodies[to..beyond] {
            let cell = self.bodies[*body as usize].cell;
            for row in self.cells.places::<3, 3>(cell.map(|c| c.saturating_sub(1))).iter().flatten() {
                self.cells.prefetch(row[0]);
                self.cells.prefetch(row[2]);
            }
        }
        (self.ahead.firsts, self.ahead.cells) = (to, beyond);
    }
}
