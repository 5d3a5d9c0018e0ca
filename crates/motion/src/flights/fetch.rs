//! Having in the cache what is about to be read.
//!
//! In: the entries of a day that begins. Out: nothing. Only bodies are read, none is changed, and no event depends on it.

use super::cells::NONE;
use super::predict::EDGE;
use super::{AWAY, Flights};

/// Bodies from which on they do not fit into the processor's nearer caches.
pub(super) const MANY: usize = 1 << 13;

/// Entries of a day beyond which what is read first would be gone from the cache before its time comes.
const AT_ONCE: usize = 64;

impl Flights {
    /// Reads what the events of this day will read. One after the other each would wait for memory; here all of it is waited for
    /// together, and the events find it in the cache.
    pub(super) fn fetch_day(&mut self) {
        let mut read = std::mem::take(&mut self.read);
        read.clear();
        let mut sum = 0;
        for entry in self.calendar.today().take(AT_ONCE) {
            sum ^= self.bodies[entry.body as usize].count;
            read.push(entry.body);
            if entry.partner & EDGE == 0 {
                sum ^= self.bodies[entry.partner as usize].count ^ self.plans[entry.partner as usize].serial;
                read.push(entry.partner);
            }
        }
        for n in 0..read.len() {
            let body = read[n];
            let [x, y] = self.bodies[body as usize].cell.map(|c| c.saturating_sub(1));
            let columns = [0, 1, 2].map(|c| self.cells.column(x.saturating_add(c)));
            for r in 0..3 {
                let row = self.cells.row(y.saturating_add(r));
                let firsts = columns.map(|column| self.cells.first(row + column));
                read.extend(firsts.map(|first| if first == NONE { body } else { first }));
            }
        }
        // The second of each cell; a third is rare.
        for body in &read {
            let link = self.bodies[*body as usize].link;
            let next = if link < AWAY { link } else { *body };
            sum ^= self.bodies[next as usize].count;
        }
        std::hint::black_box(sum);
        self.read = read;
    }
}
