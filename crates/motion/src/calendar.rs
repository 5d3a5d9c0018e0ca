//! A queue of what will happen, at a cost per event that does not grow with how much is waiting.
//!
//! In: moments with something that happens then. Out: the earliest first; at the same moment what the [`Rule`]
//! puts first. The order is that of moments and the rule and nothing else: days, their length and their wheels never show.
//!
//! It is a hierarchy of wheels (Varghese and Lauck 1987) over days: what is due on the present day lies in order,
//! what is due within 256 days in one slot per day, within 256² days in one slot per 256 days, and so on. When its first
//! day comes, a slot is dealt out to the wheels below. So entries are always written behind one another in a few places and read
//! one after the other, however many wait. The length of a day follows the events: some fall on each.
//!
//! Nothing is ever taken out before its time. Who changes their mind leaves the old entry, and the rule knows it; such
//! entries are dropped whenever they are come across, and by [`Calendar::clear_away`].

use crate::pages;
use std::cmp::Ordering;
use swarmyard_base::{Moment, Time};

/// Events that should fall on a day.
const PER_DAY: u64 = 8;
/// Slots of a wheel, as a power of two.
const BITS: u32 = 8;
/// Slots of a wheel.
const SLOTS: usize = 1 << BITS;
/// Wheels: enough for every day there is.
const WHEELS: usize = 64 / BITS as usize;
/// Entries that lie side by side.
const CHUNK: usize = 16;
/// No chunk.
const NONE: u32 = u32::MAX;

/// What the calendar must know of its entries.
pub trait Rule<T> {
    /// Whether an entry still counts. One that does not never will again.
    fn is_live(&self, what: &T) -> bool;
    /// Which of two at the same moment comes first. It must stay the same, even for entries that no longer count.
    fn is_before(&self, a: &T, b: &T) -> bool;
}

/// All entries count, and come in their own order.
#[derive(Clone, Copy, Debug)]
pub struct OwnOrder;

impl<T: Ord> Rule<T> for OwnOrder {
    fn is_live(&self, _: &T) -> bool {
        true
    }

    fn is_before(&self, a: &T, b: &T) -> bool {
        a < b
    }
}

/// A queue ordered by moment, then by a [`Rule`].
#[derive(Clone, Debug)]
pub struct Calendar<T> {
    /// What is due today or earlier.
    today: Today<T>,
    /// Slots of all wheels, the one of days first.
    slots: Vec<Slot>,
    /// One bit per slot: whether anything is in it.
    busy: [[u64; SLOTS / 64]; WHEELS],
    /// What is in the slots, chunk after chunk.
    items: Vec<Item<T>>,
    /// The next chunk of the same slot, or the next free one.
    next: Vec<u32>,
    /// The first free chunk.
    free: u32,
    /// Entries in slots.
    slotted: usize,
    /// Number of the present day.
    day: u64,
    /// Length of a day: 2^shift ns.
    shift: u32,
    /// Entries when everything was laid out last.
    laid_out: usize,
    /// Entries that have come to their day since `since`.
    come: u64,
    /// Day of the last look at how many come.
    since: u64,
}

/// The chunk of a slot that is being filled, and how full it is.
#[derive(Clone, Copy, Debug)]
struct Slot {
    chunk: u32,
    filled: u32,
}

const EMPTY: Slot = Slot { chunk: NONE, filled: 0 };

/// An entry. The moment is kept as its two numbers, without room between them.
#[derive(Clone, Copy, Debug)]
struct Item<T> {
    ns: i64,
    offset: u32,
    what: T,
}

impl<T: Copy> Item<T> {
    #[inline]
    fn moment(&self) -> Moment {
        Moment { time: Time(self.ns), offset: self.offset }
    }

    #[inline]
    fn is_before(&self, other: &Item<T>, rule: &impl Rule<T>) -> bool {
        if self.ns == other.ns {
            return self.is_before_within(other, rule);
        }
        self.ns < other.ns
    }

    fn order(&self, other: &Item<T>, rule: &impl Rule<T>) -> Ordering {
        if self.is_before(other, rule) {
            Ordering::Less
        } else if other.is_before(self, rule) {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    }

    #[cold]
    fn is_before_within(&self, other: &Item<T>, rule: &impl Rule<T>) -> bool {
        if self.offset == other.offset {
            return rule.is_before(&self.what, &other.what);
        }
        self.offset < other.offset
    }
}

impl<T: Copy> Default for Calendar<T> {
    fn default() -> Self {
        Calendar::new()
    }
}

impl<T: Copy> Calendar<T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Calendar<T> {
        Calendar {
            today: Today::new(),
            slots: vec![EMPTY; WHEELS * SLOTS],
            busy: [[0; SLOTS / 64]; WHEELS],
            items: Vec::new(),
            next: Vec::new(),
            free: NONE,
            slotted: 0,
            day: 0,
            shift: 0,
            laid_out: 0,
            come: 0,
            since: 0,
        }
    }

    /// How many entries wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.today.len() + self.slotted
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        (self.today.capacity() + self.items.capacity()) * size_of::<Item<T>>()
            + self.slots.capacity() * size_of::<Slot>()
            + self.next.capacity() * size_of::<u32>()
    }

    /// Adds something that happens at a moment; it may be earlier than what was taken last.
    #[inline]
    pub fn push(&mut self, moment: Moment, what: T, rule: &impl Rule<T>) {
        let item = Item { ns: moment.time.0, offset: moment.offset, what };
        let day = self.day_of(item.ns);
        if day <= self.day {
            self.come += 1;
            self.today.push(item, rule);
        } else {
            self.put(day, item);
        }
    }

    /// Goes on to the next day when this one is over; whether one has begun that way, not after `bound`.
    #[inline]
    pub fn begin_day(&mut self, bound: Moment, rule: &impl Rule<T>) -> bool {
        self.today.is_empty() && self.advance(bound, rule)
    }

    /// What is due on the next day on which anything is, in any order, as far as it is dealt out: what no longer counts too.
    pub fn tomorrow(&self) -> impl Iterator<Item = &T> {
        let slot = match self.busy_slot() {
            Some((0, digit)) => self.slots[digit],
            _ => EMPTY,
        };
        self.chunks(slot).flatten().map(|item| &item.what)
    }

    /// What is in a slot, chunk by chunk.
    fn chunks(&self, slot: Slot) -> impl Iterator<Item = &[Item<T>]> {
        let (mut chunk, mut filled) = (slot.chunk, slot.filled as usize);
        std::iter::from_fn(move || {
            let first = (chunk != NONE).then_some(chunk as usize)? * CHUNK;
            let items = &self.items[first..first + filled];
            (chunk, filled) = (self.next[first / CHUNK], CHUNK);
            Some(items)
        })
    }

    /// Takes the first entry that counts and is not after `bound`.
    #[inline]
    pub fn pop(&mut self, bound: Moment, rule: &impl Rule<T>) -> Option<(Moment, T)> {
        while self.advance(bound, rule) {
            let item = self.today.pop(rule)?;
            if rule.is_live(&item.what) {
                return Some((item.moment(), item.what));
            }
        }
        None
    }

    /// The first entry that is not after `bound`.
    pub fn peek(&mut self, bound: Moment, rule: &impl Rule<T>) -> Option<(Moment, T)> {
        if !self.advance(bound, rule) {
            return None;
        }
        self.today.first(rule).map(|item| (item.moment(), item.what))
    }

    /// A moment before which nothing is due.
    pub fn due_from(&self, rule: &impl Rule<T>) -> Moment {
        if let Some(first) = self.today.first(rule) {
            return first.moment();
        }
        let Some((wheel, digit)) = self.busy_slot().filter(|_| self.slotted > 0) else {
            return Moment::NEVER;
        };
        Moment::at(Time(((self.first_day(wheel, digit) << self.shift) ^ (1 << 63)) as i64))
    }

    /// Drops the entries that no longer count.
    pub fn clear_away(&mut self, rule: &impl Rule<T>) {
        let all = self.take_all(rule);
        self.lay_out(&all, rule);
    }

    /// Moves on to the first day on which something is due, not beyond `bound`; whether something is due by then.
    #[inline]
    fn advance(&mut self, bound: Moment, rule: &impl Rule<T>) -> bool {
        loop {
            if let Some(first) = self.today.first(rule) {
                return first.moment() <= bound;
            }
            if !self.next_day(bound, rule) {
                return false;
            }
        }
    }

    /// Goes to the next busy slot and deals it out; whether there is one that begins by `bound`.
    fn next_day(&mut self, bound: Moment, rule: &impl Rule<T>) -> bool {
        if self.slotted == 0 {
            return false;
        }
        if self.is_badly_laid_out() {
            let all = self.take_all(rule);
            self.lay_out(&all, rule);
            return true;
        }
        let Some((wheel, digit)) = self.busy_slot() else { return false };
        let day = self.first_day(wheel, digit);
        if day > self.day_of(bound.time.0) {
            return false;
        }
        self.day = day;
        self.deal_out(wheel, digit, rule);
        true
    }

    /// Whether many more or fewer entries come to a day than should, or most came since days were given their length.
    #[inline]
    fn is_badly_laid_out(&mut self) -> bool {
        let waiting = self.len();
        if waiting > 4 * self.laid_out + 64 {
            return true;
        }
        if self.come <= waiting as u64 + 1024 {
            return false;
        }
        let days = self.day - self.since;
        let (often, seldom) = (days.saturating_mul(4 * PER_DAY), days.saturating_mul(PER_DAY) / 4);
        let bad = self.come > often && self.shift > 0 || self.come < seldom;
        (self.come, self.since) = (0, self.day);
        bad
    }

    /// The first busy slot: what is on a lower wheel comes before what is on a higher.
    fn busy_slot(&self) -> Option<(usize, usize)> {
        for (wheel, busy) in self.busy.iter().enumerate() {
            let now = (self.day >> (BITS * wheel as u32)) as usize % SLOTS;
            // Slots up to the present one are empty.
            for (word, bits) in busy.iter().enumerate().skip(now / 64) {
                if *bits != 0 {
                    return Some((wheel, word * 64 + bits.trailing_zeros() as usize));
                }
            }
        }
        None
    }

    /// The first day of a slot to come.
    fn first_day(&self, wheel: usize, digit: usize) -> u64 {
        let low = BITS * wheel as u32;
        let above = self.day & u64::MAX.checked_shl(low + BITS).unwrap_or(0);
        above | (digit as u64) << low
    }

    /// Puts what is in a slot on its days; the slot's first day is the present one.
    fn deal_out(&mut self, wheel: usize, digit: usize, rule: &impl Rule<T>) {
        self.busy[wheel][digit / 64] &= !(1 << (digit % 64));
        let slot = std::mem::replace(&mut self.slots[wheel * SLOTS + digit], EMPTY);
        let (mut chunk, mut filled) = (slot.chunk, slot.filled as usize);
        while chunk != NONE {
            let first = chunk as usize * CHUNK;
            self.slotted -= filled;
            if wheel == 0 {
                self.today.add(&self.items[first..first + filled], rule);
            } else {
                for k in first..first + filled {
                    let item = self.items[k];
                    let day = self.day_of(item.ns);
                    if day > self.day {
                        self.put(day, item);
                    } else {
                        self.today.add(&[item], rule);
                    }
                }
            }
            let next = std::mem::replace(&mut self.next[chunk as usize], self.free);
            (self.free, chunk, filled) = (chunk, next, CHUNK);
        }
        self.come += self.today.run.len() as u64;
        self.today.order(rule);
    }

    #[inline]
    fn day_of(&self, ns: i64) -> u64 {
        // Time before the start of the run comes first as well.
        ((ns as u64) ^ (1 << 63)) >> self.shift
    }

    /// Puts an entry of a later day into its slot.
    #[inline]
    fn put(&mut self, day: u64, item: Item<T>) {
        let wheel = ((u64::BITS - 1 - (day ^ self.day).leading_zeros()) / BITS) as usize % WHEELS;
        let digit = (day >> (BITS * wheel as u32)) as usize % SLOTS;
        let mut slot = self.slots[wheel * SLOTS + digit];
        if (slot.filled as usize).is_multiple_of(CHUNK) {
            if slot.chunk == NONE {
                self.busy[wheel][digit / 64] |= 1 << (digit % 64);
            }
            slot = Slot { chunk: self.fresh_chunk(slot.chunk, item), filled: 0 };
        }
        self.items[slot.chunk as usize * CHUNK + slot.filled as usize] = item;
        slot.filled += 1;
        self.slots[wheel * SLOTS + digit] = slot;
        self.slotted += 1;
    }

    /// An empty chunk before another; a new one is filled with something.
    fn fresh_chunk(&mut self, before: u32, filling: Item<T>) -> u32 {
        if self.free == NONE {
            let room = self.items.capacity();
            self.items.resize(self.items.len() + CHUNK, filling);
            if self.items.capacity() != room {
                pages::advise(&self.items);
            }
            self.next.push(before);
            return (self.next.len() - 1) as u32;
        }
        let chunk = self.free;
        self.free = std::mem::replace(&mut self.next[chunk as usize], before);
        chunk
    }

    /// Takes everything that counts out.
    fn take_all(&mut self, rule: &impl Rule<T>) -> Vec<Item<T>> {
        let mut all: Vec<Item<T>> = self.today.items().copied().collect();
        self.today = Today::new();
        all.retain(|item| rule.is_live(&item.what));
        for slot in &self.slots {
            all.extend(self.chunks(*slot).flatten().filter(|item| rule.is_live(&item.what)));
        }
        self.slots.fill(EMPTY);
        self.busy = [[0; SLOTS / 64]; WHEELS];
        self.items.clear();
        self.next.clear();
        (self.free, self.slotted) = (NONE, 0);
        all
    }

    /// Chooses the length of a day by the nearer half of what waits, and lays everything out anew.
    fn lay_out(&mut self, all: &[Item<T>], rule: &impl Rule<T>) {
        self.laid_out = all.len();
        let mut times: Vec<i64> = all.iter().map(|item| item.ns).collect();
        let middle = times.len() / 2;
        let Some(first) = times.iter().min().copied() else { return };
        let (_, half, _) = times.select_nth_unstable(middle);
        let span = half.wrapping_sub(first) as u64;
        let length = u128::from(span) * u128::from(PER_DAY) / (middle as u128 + 1);
        // Whole powers of two; at least a nanosecond, at most some seconds.
        self.shift = (u128::BITS - length.leading_zeros()).clamp(1, 33) - 1;
        self.day = self.day_of(first);
        (self.come, self.since) = (0, self.day);
        for item in all {
            self.push(item.moment(), item.what, rule);
        }
    }
}

/// What is due on one day. Most is known when the day begins and is put in order once; the little that comes up later lies in
/// a heap beside it.
#[derive(Clone, Debug)]
struct Today<T> {
    /// In order, the first last.
    run: Vec<Item<T>>,
    /// The same before it was put in order.
    mixed: Vec<Item<T>>,
    /// A heap with the first on top.
    late: Vec<Item<T>>,
}

/// Items up to which each is compared with each: who comes first is as good as chance, and this needs no branch. There is always
/// room for so many, so that the way through it is always as long.
const FEW: usize = 16;
/// The same on a busier day.
const MORE: usize = 32;
/// Distances up to which they are compared that way: with room for a number below [`MORE`].
const NEAR_NS: i64 = (1 << 31) / MORE as i64;

impl<T: Copy> Today<T> {
    fn new() -> Today<T> {
        Today { run: Vec::new(), mixed: Vec::new(), late: Vec::new() }
    }

    #[inline]
    fn len(&self) -> usize {
        self.run.len() + self.late.len()
    }

    #[inline]
    fn is_empty(&self) -> bool {
        self.run.is_empty() && self.late.is_empty()
    }

    fn capacity(&self) -> usize {
        self.run.capacity() + self.mixed.capacity() + self.late.capacity()
    }

    /// All of it, in any order.
    fn items(&self) -> impl Iterator<Item = &Item<T>> {
        self.run.iter().chain(&self.late)
    }

    /// Adds what the day begins with, as far as it counts, in any order.
    #[inline]
    fn add(&mut self, items: &[Item<T>], rule: &impl Rule<T>) {
        let mut kept = self.run.len();
        self.run.extend_from_slice(items);
        for item in items {
            // What does not count is written over by the next.
            self.run[kept] = *item;
            kept += usize::from(rule.is_live(&item.what));
        }
        self.run.truncate(kept);
    }

    /// Puts in order what the day begins with.
    fn order(&mut self, rule: &impl Rule<T>) {
        match self.run.len() {
            0 | 1 => {}
            2..=FEW => self.order_few::<FEW>(rule),
            ..=MORE => self.order_few::<MORE>(rule),
            _ => self.run.sort_unstable_by(|a, b| b.order(a, rule)),
        }
    }

    /// The same for at most `N`.
    fn order_few<const N: usize>(&mut self, rule: &impl Rule<T>) {
        let count = self.run.len();
        std::mem::swap(&mut self.run, &mut self.mixed);
        self.run.clear();
        self.run.extend_from_slice(&self.mixed);
        // A key is the distance from one of them, which is short on one day, and the place it was found in: so no two are the same.
        let base = self.mixed[0].ns;
        let (mut keys, mut far) = ([i32::MIN; N], 0);
        for (k, (key, item)) in keys.iter_mut().zip(&self.mixed).enumerate() {
            let distance = item.ns.wrapping_sub(base);
            far |= distance.wrapping_add(NEAR_NS) as u64 / (2 * NEAR_NS as u64);
            *key = (distance as i32).wrapping_mul(MORE as i32) + k as i32;
        }
        if far != 0 {
            self.run.sort_unstable_by(|a, b| b.order(a, rule));
            return;
        }
        // The place of each is how many come after it.
        for (item, own) in self.mixed.iter().zip(keys) {
            let after = keys.iter().map(|key| u32::from(*key > own)).sum::<u32>() as usize;
            self.run[after] = *item;
        }
        // Those of one nanosecond, such as both sides of a meeting, lie side by side, in any order.
        for k in 1..count {
            let mut at = k;
            while at > 0
                && self.run[at - 1].ns == self.run[at].ns
                && self.run[at - 1].is_before_within(&self.run[at], rule)
            {
                self.run.swap(at - 1, at);
                at -= 1;
            }
        }
    }

    /// The first of all.
    #[inline]
    fn first(&self, rule: &impl Rule<T>) -> Option<&Item<T>> {
        if self.late.is_empty() { self.run.last() } else { self.first_of_both(rule) }
    }

    #[cold]
    fn first_of_both(&self, rule: &impl Rule<T>) -> Option<&Item<T>> {
        let late = self.late.first()?;
        Some(self.run.last().filter(|item| item.is_before(late, rule)).unwrap_or(late))
    }

    /// Adds something that came up during the day.
    fn push(&mut self, item: Item<T>, rule: &impl Rule<T>) {
        let late = &mut self.late;
        late.push(item);
        let mut k = late.len() - 1;
        while k > 0 {
            let up = (k - 1) / 2;
            if !item.is_before(&late[up], rule) {
                break;
            }
            late[k] = late[up];
            k = up;
        }
        late[k] = item;
    }

    /// Takes the first of all out.
    #[inline]
    fn pop(&mut self, rule: &impl Rule<T>) -> Option<Item<T>> {
        if self.late.is_empty() { self.run.pop() } else { self.pop_of_both(rule) }
    }

    #[cold]
    fn pop_of_both(&mut self, rule: &impl Rule<T>) -> Option<Item<T>> {
        let late = self.late.first()?;
        if self.run.last().is_some_and(|item| item.is_before(late, rule)) {
            return self.run.pop();
        }
        let top = self.late.swap_remove(0);
        self.sink(rule);
        Some(top)
    }

    /// Moves the top of the heap down to where it belongs.
    fn sink(&mut self, rule: &impl Rule<T>) {
        let late = &mut self.late;
        let Some(item) = late.first().copied() else { return };
        let mut k = 0;
        loop {
            let mut child = 2 * k + 1;
            if child >= late.len() {
                break;
            }
            if child + 1 < late.len() && late[child + 1].is_before(&late[child], rule) {
                child += 1;
            }
            if !late[child].is_before(&item, rule) {
                break;
            }
            late[k] = late[child];
            k = child;
        }
        late[k] = item;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid, math};

    /// What can be divided by three no longer counts.
    struct NoThirds;

    impl Rule<u32> for NoThirds {
        fn is_live(&self, what: &u32) -> bool {
            !what.is_multiple_of(3)
        }

        fn is_before(&self, a: &u32, b: &u32) -> bool {
            a < b
        }
    }

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
                self.calendar.push(moment, what, &OwnOrder);
            }
        }

        fn pop(&mut self, bound: Moment) -> Option<Moment> {
            let first = self.map.first_key_value().map(|e| *e.0).filter(|e| e.0 <= bound);
            assert!(first.is_none_or(|e| self.calendar.due_from(&OwnOrder) <= e.0));
            assert_eq!(self.calendar.peek(bound, &OwnOrder), first);
            assert_eq!(self.calendar.pop(bound, &OwnOrder), first);
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
                    both.calendar.clear_away(&NoThirds);
                    both.map.retain(|key, ()| key.1 % 3 != 0);
                }
            }
            while both.pop(Moment::NEVER).is_some() {}
            assert!(both.calendar.is_empty() && both.map.is_empty());
        }
    }

    /// Of every number of items, near and far from one another, many of them in one nanosecond.
    #[test]
    fn a_day_is_put_in_order_however_much_it_holds() {
        let draw = Draw::at(1, Uid(1), Purpose::Test, Time::ZERO, 0);
        for count in 0..40_u32 {
            for (trial, span) in [0.0, 3.0, 1e3, 6e7, 7e7, 1e10].into_iter().enumerate() {
                let at = |k: u32| draw.uniform((count * 6 + trial as u32) * 100 + k);
                let item = |k: u32| Item {
                    ns: (at(2 * k) * span) as i64 - 1_000_000_000_000,
                    offset: (at(2 * k + 1) * 2.0) as u32,
                    what: k,
                };
                let mut today = Today::new();
                today.add(&(0..count).map(item).collect::<Vec<_>>(), &OwnOrder);
                today.order(&OwnOrder);
                let mut sorted: Vec<_> = (0..count).map(item).map(|i| (i.ns, i.offset, i.what)).collect();
                sorted.sort_unstable_by(|a, b| b.cmp(a));
                let found: Vec<_> = today.run.iter().map(|i| (i.ns, i.offset, i.what)).collect();
                assert_eq!(found, sorted, "{count} items within {span} ns");
            }
        }
    }

    #[test]
    fn equal_moments_come_by_what_they_are() {
        let mut calendar = Calendar::new();
        for what in [5, 1, 4, 2, 3] {
            calendar.push(Moment::at(Time(7)), what, &OwnOrder);
        }
        let order: Vec<i32> =
            std::iter::from_fn(|| calendar.pop(Moment::at(Time(7)), &OwnOrder)).map(|e| e.1).collect();
        assert_eq!(order, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_bound_is_kept_to_the_last_bit() {
        let mut calendar = Calendar::new();
        let moment = Moment { time: Time(1_000), offset: 17 };
        calendar.push(moment, (), &OwnOrder);
        assert_eq!(calendar.pop(Moment { time: Time(1_000), offset: 16 }, &OwnOrder), None);
        assert_eq!(calendar.pop(moment, &OwnOrder), Some((moment, ())));
    }
}
