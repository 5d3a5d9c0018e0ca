//! A queue of what will happen, at a cost per event that does not grow with how much is waiting.
//!
//! In: moments with something that happens then. Out: the earliest first; at the same moment the lesser
//! first. The order is that of `(Moment, T)` and nothing else: days, their length and their number
//! never show.
//!
//! It is a bounded calendar (Paul 2006): a ring of days; what is due on the present day lies in a small
//! heap, what is due beyond the ring in a pile that is looked through once per turn of the ring. The length
//! of a day follows the events: some fall on each, so that days are few and what is due lies side by side.
//!
//! Nothing is ever taken out before its time. Who changes their mind leaves the old entry and knows it by
//! a counter when it comes; [`Calendar::retain`] clears such entries away when they become many.

use swarmyard_base::Moment;

/// Events that should fall on a day.
const PER_DAY: u64 = 8;
/// Fewest days of a ring.
const LEAST_DAYS: usize = 64;
/// Most days of a ring.
const MOST_DAYS: usize = 1 << 24;

/// A queue ordered by `(Moment, T)`.
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    /// What is due today or earlier.
    today: Heap<T>,
    /// The days after today; day d is at `d mod days.len()`.
    days: Vec<Vec<(Moment, T)>>,
    /// One bit per day of the ring: whether anything is due.
    busy: Vec<u64>,
    /// Number of the present day.
    day: u128,
    /// Number of the day on which the pile is looked through.
    turn: u128,
    /// Length of a day: 2^shift of 2⁻³² ns.
    shift: u32,
    /// What is due beyond the ring.
    later: Vec<(Moment, T)>,
    /// Earliest in `later`.
    first_later: Moment,
    /// Entries in `days`.
    ringed: usize,
    /// Entries taken since the last turn.
    taken: u64,
    /// Day of the last turn.
    turned: u128,
}

/// A moment as one number.
#[inline]
fn ticks(moment: Moment) -> u128 {
    // Time before the start of the run comes first as well.
    let time = (moment.time.0 as u64) ^ (1 << 63);
    (u128::from(time) << 32) | u128::from(moment.offset)
}

impl<T: Ord + Copy> Default for Calendar<T> {
    fn default() -> Self {
        Calendar::new()
    }
}

impl<T: Ord + Copy> Calendar<T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Calendar<T> {
        Calendar {
            today: Heap { items: Vec::new() },
            days: (0..LEAST_DAYS).map(|_| Vec::new()).collect(),
            busy: vec![0; LEAST_DAYS / 64],
            day: 0,
            turn: 0,
            shift: 32,
            later: Vec::new(),
            first_later: Moment::NEVER,
            ringed: 0,
            taken: 0,
            turned: 0,
        }
    }

    /// How many entries wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.today.items.len() + self.ringed + self.later.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds something that happens at a moment; it may be earlier than what was taken last.
    #[inline]
    pub fn push(&mut self, moment: Moment, what: T) {
        let day = ticks(moment) >> self.shift;
        if day <= self.day {
            self.today.push((moment, what));
        } else if day - self.day < self.days.len() as u128 {
            self.ring(day, (moment, what));
        } else {
            self.first_later = self.first_later.min(moment);
            self.later.push((moment, what));
        }
    }

    /// Takes the first entry that is not after `bound`.
    #[inline]
    pub fn pop(&mut self, bound: Moment) -> Option<(Moment, T)> {
        self.pop_live(bound, |_| true)
    }

    /// The same without the entries for which `live` does not hold; it is asked for a whole day at once, and may be asked
    /// again when the entry comes.
    #[inline]
    pub fn pop_live(&mut self, bound: Moment, live: impl Fn(&T) -> bool) -> Option<(Moment, T)> {
        loop {
            if !self.advance(bound, &live) {
                return None;
            }
            self.taken += 1;
            let entry = self.today.pop()?;
            if live(&entry.1) {
                return Some(entry);
            }
        }
    }

    /// The first entry that is not after `bound`.
    pub fn peek(&mut self, bound: Moment) -> Option<(Moment, T)> {
        if self.advance(bound, &|_: &T| true) { self.today.items.first().copied() } else { None }
    }

    /// Keeps only the entries for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(Moment, &T) -> bool) {
        let mut all = self.take_all();
        all.retain(|(moment, what)| keep(*moment, what));
        self.lay_out(all);
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        *self = Calendar::new();
    }

    /// Moves on to the first day on which something is due, not beyond `bound`; whether something is due by then.
    #[inline]
    fn advance(&mut self, bound: Moment, live: &impl Fn(&T) -> bool) -> bool {
        loop {
            if let Some(first) = self.today.items.first() {
                return first.0 <= bound;
            }
            if !self.next_day(bound, live) {
                return false;
            }
        }
    }

    /// Goes to the next busy day; whether there is one that begins by `bound`.
    fn next_day(&mut self, bound: Moment, live: &impl Fn(&T) -> bool) -> bool {
        if self.ringed == 0 {
            if self.later.is_empty() || self.first_later > bound {
                return false;
            }
            // All that waits is far away: a new ring there.
            let all = self.take_all();
            self.lay_out(all);
            return true;
        }
        let (day, last) = (self.busy_day(), ticks(bound) >> self.shift);
        if day.min(self.turn) > last {
            return false;
        }
        if day >= self.turn {
            self.turn_over();
            return true;
        }
        self.day = day;
        let slot = self.slot(day);
        self.busy[slot / 64] &= !(1 << (slot % 64));
        self.ringed -= self.days[slot].len();
        self.taken += self.today.fill(&mut self.days[slot], live);
        true
    }

    /// The first busy day of the ring, which is not empty.
    fn busy_day(&self) -> u128 {
        let mut day = self.day + 1;
        loop {
            debug_assert!(day <= self.day + self.days.len() as u128 + 64, "the ring is empty");
            let slot = self.slot(day);
            let word = self.busy[slot / 64] >> (slot % 64);
            if word != 0 {
                return day + u128::from(word.trailing_zeros());
            }
            day += 64 - (slot % 64) as u128;
        }
    }

    /// Puts what has come into reach of the ring on its day, for the next turn.
    fn turn_over(&mut self) {
        let days = self.days.len() as u128;
        let passed = self.turn - self.turned;
        let (often, seldom) = (passed * u128::from(4 * PER_DAY), passed * u128::from(PER_DAY) / 4);
        let taken = u128::from(self.taken);
        let waiting = self.len();
        let right = 2 * waiting / PER_DAY as usize;
        let wrong_size = right > 4 * self.days.len() || 8 * right + LEAST_DAYS < self.days.len();
        if taken > often || taken < seldom || wrong_size {
            let all = self.take_all();
            self.lay_out(all);
            return;
        }
        (self.turned, self.taken) = (self.turn, 0);
        self.day = self.turn - 1;
        self.turn = self.day + days;
        self.first_later = Moment::NEVER;
        let mut later = std::mem::take(&mut self.later);
        later.retain(|&(moment, what)| {
            let day = ticks(moment) >> self.shift;
            if day - self.day < days {
                self.ring(day, (moment, what));
                return false;
            }
            self.first_later = self.first_later.min(moment);
            true
        });
        self.later = later;
    }

    #[inline]
    fn slot(&self, day: u128) -> usize {
        (day as usize) & (self.days.len() - 1)
    }

    #[inline]
    fn ring(&mut self, day: u128, entry: (Moment, T)) {
        let slot = self.slot(day);
        self.busy[slot / 64] |= 1 << (slot % 64);
        self.days[slot].push(entry);
        self.ringed += 1;
    }

    fn take_all(&mut self) -> Vec<(Moment, T)> {
        let mut all = std::mem::take(&mut self.later);
        all.append(&mut self.today.items);
        for day in &mut self.days {
            all.append(day);
        }
        self.busy.fill(0);
        self.ringed = 0;
        all
    }

    /// Chooses the length of a day by the nearer half of what waits, and lays everything out anew.
    fn lay_out(&mut self, mut all: Vec<(Moment, T)>) {
        self.first_later = Moment::NEVER;
        self.taken = 0;
        let days = (2 * all.len() / PER_DAY as usize).next_power_of_two().clamp(LEAST_DAYS, MOST_DAYS);
        if days != self.days.len() {
            self.days.resize_with(days, Vec::new);
            self.days.shrink_to_fit();
            self.busy = vec![0; days / 64];
        }
        let middle = all.len() / 2;
        let Some(first) = all.iter().map(|e| e.0).min() else {
            (self.turned, self.turn) = (self.day, self.day);
            return;
        };
        all.select_nth_unstable_by_key(middle, |e| e.0);
        let span = ticks(all[middle].0) - ticks(first);
        let length = span * u128::from(PER_DAY) / (middle as u128 + 1);
        // Whole powers of two; at least 2⁻³² ns, at most some seconds.
        self.shift = (u128::BITS - length.leading_zeros()).clamp(1, 64) - 1;
        self.day = ticks(first) >> self.shift;
        (self.turned, self.turn) = (self.day, self.day + days as u128);
        for &(moment, what) in &all {
            self.push(moment, what);
        }
        // The room of the pile is used again.
        if self.later.capacity() < all.capacity() / 2 {
            all.clear();
            all.append(&mut self.later);
            self.later = all;
        }
    }
}

/// A binary heap with the least on top, by `(Moment, T)`.
#[derive(Clone, Debug)]
struct Heap<T> {
    items: Vec<(Moment, T)>,
}

impl<T: Ord + Copy> Heap<T> {
    /// Takes over a day's entries; the heap is empty and the day keeps its room.
    /// Returns how many were left out.
    fn fill(&mut self, day: &mut Vec<(Moment, T)>, live: &impl Fn(&T) -> bool) -> u64 {
        debug_assert!(self.items.is_empty());
        let due = day.len();
        self.items.extend(day.iter().filter(|e| live(&e.1)));
        day.clear();
        for k in (0..self.items.len() / 2).rev() {
            self.sink(k);
        }
        (due - self.items.len()) as u64
    }

    #[inline]
    fn push(&mut self, entry: (Moment, T)) {
        self.items.push(entry);
        let mut k = self.items.len() - 1;
        while k > 0 {
            let up = (k - 1) / 2;
            if self.items[up] <= entry {
                break;
            }
            self.items[k] = self.items[up];
            k = up;
        }
        self.items[k] = entry;
    }

    #[inline]
    fn pop(&mut self) -> Option<(Moment, T)> {
        let last = self.items.pop()?;
        let Some(first) = self.items.first_mut() else { return Some(last) };
        let top = std::mem::replace(first, last);
        self.sink(0);
        Some(top)
    }

    fn sink(&mut self, mut k: usize) {
        let entry = self.items[k];
        loop {
            let mut child = 2 * k + 1;
            if child >= self.items.len() {
                break;
            }
            if child + 1 < self.items.len() && self.items[child + 1] < self.items[child] {
                child += 1;
            }
            if entry <= self.items[child] {
                break;
            }
            self.items[k] = self.items[child];
            k = child;
        }
        self.items[k] = entry;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid, math};

    struct Both {
        calendar: Calendar<u32>,
        map: BTreeMap<(Moment, u32), ()>,
        draw: Draw,
        drawn: u32,
    }

    impl Both {
        fn new(seed: u64) -> Both {
            let draw = Draw::at(seed, Uid(1), Purpose::Test, Time::ZERO, 0);
            Both { calendar: Calendar::new(), map: BTreeMap::new(), draw, drawn: 0 }
        }

        fn unit(&mut self) -> f64 {
            self.drawn += 1;
            self.draw.uniform(self.drawn)
        }

        fn push(&mut self, moment: Moment) {
            let what = (self.unit() * 1e9) as u32;
            if self.map.insert((moment, what), ()).is_none() {
                self.calendar.push(moment, what);
            }
        }

        fn pop(&mut self, bound: Moment) -> Option<Moment> {
            let first = self.map.first_key_value().map(|e| *e.0).filter(|e| e.0 <= bound);
            assert_eq!(self.calendar.peek(bound), first);
            assert_eq!(self.calendar.pop(bound), first);
            self.map.remove(&first?);
            assert_eq!(self.calendar.len(), self.map.len());
            Some(first?.0)
        }
    }

    /// Times on very different scales, ties, entries in the past, bounds, bursts and droughts.
    #[test]
    fn it_gives_what_an_ordered_map_gives() {
        for seed in 0..12 {
            let mut both = Both::new(seed);
            let mut now = Moment::at(Time(-5));
            for step in 0..40_000_u32 {
                // The scale changes from time to time.
                let scale = [1e-9, 1e-3, 1.0, 1e-15, 1e4][(step / 4_000) as usize % 5];
                let pushing = if (step / 1000) % 2 == 0 { 0.6 } else { 0.4 };
                if both.unit() < pushing {
                    let far = both.unit();
                    let ahead = -math::ln(1.0 - far) * scale;
                    let moment = match (both.unit() * 20.0) as u32 {
                        0 => now,
                        1 => Moment::at(now.time),
                        2 => Moment { time: Time(now.time.0 - 3), offset: now.offset },
                        3 => now.plus(ahead * 1e4),
                        4 if step % 500 == 0 => Moment::NEVER,
                        _ => now.plus(ahead),
                    };
                    both.push(moment);
                } else {
                    let bound = if both.unit() < 0.3 { now.plus(scale * 0.1) } else { Moment::NEVER };
                    now = both.pop(bound).unwrap_or(now).max(now);
                    if now == Moment::NEVER {
                        now = Moment::at(Time(i64::from(step)));
                    }
                }
                if step % 7_777 == 0 {
                    both.calendar.retain(|_, what| what % 3 != 0);
                    both.map.retain(|key, ()| key.1 % 3 != 0);
                }
            }
            while both.pop(Moment::NEVER).is_some() {}
            assert!(both.calendar.is_empty() && both.map.is_empty());
        }
    }

    #[test]
    fn equal_moments_come_by_what_they_are() {
        let mut calendar = Calendar::new();
        for what in [5, 1, 4, 2, 3] {
            calendar.push(Moment::at(Time(7)), what);
        }
        let order: Vec<i32> = std::iter::from_fn(|| calendar.pop(Moment::at(Time(7)))).map(|e| e.1).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_bound_is_kept_to_the_last_bit() {
        let mut calendar = Calendar::new();
        let moment = Moment { time: Time(1_000), offset: 17 };
        calendar.push(moment, ());
        assert_eq!(calendar.pop(Moment { time: Time(1_000), offset: 16 }), None);
        assert_eq!(calendar.pop(moment), Some((moment, ())));
    }
}
