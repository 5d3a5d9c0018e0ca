//! Events to come, at a cost per event that hardly grows with how many there are.
//!
//! In: events with their keys. Out: the one with the least key first. The order is that of [`LiveKey`] and nothing
//! else, as in one ordered map; two agendas with the same events are equal, however they came about.
//!
//! It is a calendar: a ring of days, each a short list, and an ordered map for what is due beyond the
//! ring, or for everything when that is little. The length of a day follows the events, so that few fall on
//! each. All lists run through one table of events, where a new one takes the place of the last that happened: so what is written next is
//! at hand. Other than in the calendar of flights, an event is taken out at once when it is cancelled, and a
//! thousand events on one day do no harm: such a day is a map.

use super::state::{LiveEvent, LiveKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use swarmyard_base::Moment;

/// Events that should fall on a day, at most.
const PER_DAY: usize = 2;
/// With so few events there is no ring.
const FEW: usize = 64;
/// Fewest days of a ring.
const LEAST_DAYS: usize = 64;
/// Most days of a ring.
const MOST_DAYS: usize = 1 << 22;
/// Events that are passed on the way through the list of a day before it becomes a map.
const MOST: usize = 32;
/// Instead of a place in the table: nobody, the end of a list.
const NONE: u32 = u32::MAX;
/// Instead of the first of a list: the events of the day stand in a map.
const CROWD: u32 = u32::MAX - 1;

type Later = BTreeMap<LiveKey, LiveEvent>;

/// Events to come, in the order of their keys.
#[derive(Clone, Debug)]
pub struct Agenda {
    /// The first event of each day; day d is at `d mod firsts.len()`. What is due before the present day stands on it.
    firsts: Vec<u32>,
    /// One bit per day of the ring: whether anything is due.
    busy: Vec<u64>,
    /// The events in the ring, in no order, and places that are free.
    table: Vec<Noted>,
    /// The first free place; the others follow it as in a list.
    free: u32,
    /// The events of days with more than a list holds, as places in the table, by the day's place in the ring.
    crowds: BTreeMap<usize, BTreeMap<LiveKey, u32>>,
    /// Number of the present day.
    day: u64,
    /// Length of a day: 2^shift ns.
    shift: u32,
    /// Events in the ring.
    ringed: usize,
    /// What is due beyond the ring, or everything when there is no ring.
    later: Later,
    /// Number of a day before which nothing is among `later`.
    later_from: u64,
    /// The day on which it was last seen to that days have a good length, and events since.
    since: (u64, usize),
}

/// An event, and the place of the next one of its day.
#[derive(Clone, Debug)]
struct Noted {
    next: u32,
    key: LiveKey,
    /// Nothing where the place is free.
    event: Option<LiveEvent>,
}

impl Default for Agenda {
    fn default() -> Agenda {
        Agenda {
            firsts: Vec::new(),
            busy: Vec::new(),
            table: Vec::new(),
            free: NONE,
            crowds: BTreeMap::new(),
            day: 0,
            shift: 0,
            ringed: 0,
            later: Later::new(),
            later_from: 0,
            since: (0, 0),
        }
    }
}

impl Agenda {
    /// How many events there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ringed + self.later.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All events in order. They are sorted for it, so it is nothing to do at every event.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&LiveKey, &LiveEvent)> {
        let mut all: Vec<(&LiveKey, &LiveEvent)> = self.unsorted().collect();
        all.sort_unstable_by_key(|e| e.0);
        all.into_iter()
    }

    /// All events in no order.
    pub(super) fn unsorted(&self) -> impl Iterator<Item = (&LiveKey, &LiveEvent)> {
        self.table.iter().filter_map(|n| Some((&n.key, n.event.as_ref()?))).chain(&self.later)
    }

    /// Adds an event; one with the same key makes room for it.
    pub(super) fn insert(&mut self, key: LiveKey, event: LiveEvent) {
        let day = self.day_of(key.at);
        if !self.in_ring(day) {
            self.later_from = self.later_from.min(day);
            self.later.insert(key, event);
            return;
        }
        let place = self.place(day.max(self.day));
        if self.firsts[place] == CROWD {
            self.insert_in_crowd(place, key, event);
            return;
        }
        let (mut before, mut after, mut passed) = (NONE, self.firsts[place], 0);
        while after != NONE {
            let noted = &mut self.table[after as usize];
            if noted.key >= key {
                if noted.key == key {
                    noted.event = Some(event);
                    return;
                }
                break;
            }
            (before, after, passed) = (after, noted.next, passed + 1);
        }
        if passed >= MOST {
            self.make_crowd(place);
            self.insert_in_crowd(place, key, event);
            return;
        }
        let new = self.note(after, key, event);
        if before == NONE {
            self.firsts[place] = new;
            self.busy[place / 64] |= 1 << (place % 64);
        } else {
            self.table[before as usize].next = new;
        }
    }

    /// Takes out an event before its time.
    pub(super) fn remove(&mut self, key: &LiveKey) -> Option<LiveEvent> {
        let day = self.day_of(key.at);
        if !self.in_ring(day) {
            return self.later.remove(key);
        }
        let place = self.place(day.max(self.day));
        let (mut before, mut at, mut passed) = (NONE, self.firsts[place], 0);
        if at == CROWD {
            let at = self.crowds.get_mut(&place)?.remove(key)?;
            return self.take(place, at, CROWD).map(|e| e.1);
        }
        while at != NONE && self.table[at as usize].key != *key {
            (before, at, passed) = (at, self.table[at as usize].next, passed + 1);
        }
        if passed >= MOST {
            self.make_crowd(place);
            return self.remove(key);
        }
        let next = self.table.get(at as usize)?.next;
        if before == NONE {
            return self.take(place, at, next).map(|e| e.1);
        }
        self.table[before as usize].next = next;
        self.take(place, at, self.firsts[place]).map(|e| e.1)
    }

    /// When the first event is due.
    #[inline]
    pub(super) fn first(&mut self) -> Option<Moment> {
        if !self.open() {
            return self.later.first_key_value().map(|(key, _)| key.at);
        }
        let place = self.place(self.day);
        match self.firsts[place] {
            CROWD => self.crowds.get(&place)?.first_key_value().map(|(key, _)| key.at),
            first => Some(self.table[first as usize].key.at),
        }
    }

    /// Takes out the first event.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<(LiveKey, LiveEvent)> {
        if !self.open() {
            return self.later.pop_first();
        }
        self.since.1 += 1;
        let place = self.place(self.day);
        let first = self.firsts[place];
        if first == CROWD {
            let (_, first) = self.crowds.get_mut(&place)?.pop_first()?;
            return self.take(place, first, CROWD);
        }
        self.take(place, first, self.table[first as usize].next)
    }

    #[inline]
    fn day_of(&self, at: Moment) -> u64 {
        // Time before the start of the run comes first as well.
        ((at.time.0 as u64) ^ (1 << 63)) >> self.shift
    }

    #[inline]
    fn in_ring(&self, day: u64) -> bool {
        day.saturating_sub(self.day) < self.firsts.len() as u64
    }

    #[inline]
    fn place(&self, day: u64) -> usize {
        day as usize & (self.firsts.len() - 1)
    }

    /// Writes an event into the table, before another one of its day; answers where.
    #[inline]
    fn note(&mut self, next: u32, key: LiveKey, event: LiveEvent) -> u32 {
        self.ringed += 1;
        let noted = Noted { next, key, event: Some(event) };
        let place = self.free;
        if let Some(free) = self.table.get_mut(place as usize) {
            self.free = free.next;
            *free = noted;
            return place;
        }
        self.table.push(noted);
        (self.table.len() - 1) as u32
    }

    /// Takes an event out of the table; `first` is the first of its day from now on.
    #[inline]
    fn take(&mut self, place: usize, at: u32, first: u32) -> Option<(LiveKey, LiveEvent)> {
        self.ringed -= 1;
        let first = if first == CROWD { self.rest_of_crowd(place) } else { first };
        self.firsts[place] = first;
        if first == NONE {
            self.busy[place / 64] &= !(1 << (place % 64));
        }
        let noted = self.table.get_mut(at as usize)?;
        noted.next = std::mem::replace(&mut self.free, at);
        Some((noted.key, noted.event.take()?))
    }

    #[cold]
    fn insert_in_crowd(&mut self, place: usize, key: LiveKey, event: LiveEvent) {
        let there = self.crowds.entry(place).or_default().get(&key).copied();
        if let Some(noted) = there.and_then(|at| self.table.get_mut(at as usize)) {
            noted.event = Some(event);
            return;
        }
        let at = self.note(NONE, key, event);
        self.crowds.entry(place).or_default().insert(key, at);
    }

    /// A list has grown too long.
    #[cold]
    fn make_crowd(&mut self, place: usize) {
        let mut at = std::mem::replace(&mut self.firsts[place], CROWD);
        let mut crowd = BTreeMap::new();
        while at != NONE {
            let noted = &self.table[at as usize];
            crowd.insert(noted.key, at);
            at = noted.next;
        }
        self.crowds.insert(place, crowd);
    }

    /// What stands for the first of a day from which one of a crowd has gone: perhaps it was the last.
    #[cold]
    fn rest_of_crowd(&mut self, place: usize) -> u32 {
        if self.crowds.get(&place).is_some_and(|crowd| !crowd.is_empty()) {
            return CROWD;
        }
        self.crowds.remove(&place);
        NONE
    }

    /// Goes on to the first day with something to do; `false` when there is no ring, and the first event stands among
    /// `later`.
    #[inline]
    fn open(&mut self) -> bool {
        if self.ringed > 0 && self.firsts[self.place(self.day)] != NONE {
            return true;
        }
        self.open_next()
    }

    fn open_next(&mut self) -> bool {
        if self.ringed > 0 {
            self.next_day();
            return true;
        }
        if self.later.len() > FEW {
            self.lay_out();
            return true;
        }
        if !self.firsts.is_empty() {
            *self = Agenda { later: std::mem::take(&mut self.later), ..Agenda::default() };
        }
        false
    }

    /// Goes on to the next busy day of the ring, which is not empty.
    fn next_day(&mut self) {
        self.day = self.busy_day();
        let around = self.firsts.len() as u64;
        if self.day - self.since.0 >= around && self.is_badly_laid_out() {
            self.lay_out();
        } else if self.later_from < self.day + around {
            self.fetch_later();
        }
    }

    fn busy_day(&self) -> u64 {
        let mut day = self.day;
        loop {
            let place = self.place(day);
            let word = self.busy[place / 64] >> (place % 64);
            if word != 0 {
                return day + u64::from(word.trailing_zeros());
            }
            day += 64 - (place % 64) as u64;
        }
    }

    /// Whether there are far more or far fewer events than the ring was laid out for, or they come faster or slower.
    fn is_badly_laid_out(&mut self) -> bool {
        let (days, taken) = (self.day - self.since.0, self.since.1 as u64);
        self.since = (self.day, 0);
        let (ring, per_day) = (self.firsts.len(), PER_DAY as u64);
        let many = self.len() > 2 * PER_DAY * ring;
        let few = ring > LEAST_DAYS && 16 * self.len() < PER_DAY * ring;
        many || few || taken > 2 * per_day * days || 32 * taken < per_day * days
    }

    /// Takes into the ring what has come into its reach.
    fn fetch_later(&mut self) {
        while let Some((key, event)) = self.later.pop_first() {
            let day = self.day_of(key.at);
            self.insert(key, event);
            if !self.in_ring(day) {
                // It went back to where it was.
                self.later_from = day;
                return;
            }
        }
        self.later_from = u64::MAX;
    }

    /// Chooses the length of a day by the nearer half of all events, and lays everything out anew.
    fn lay_out(&mut self) {
        let mut all: Vec<(LiveKey, LiveEvent)> = Vec::with_capacity(self.len());
        all.extend(std::mem::take(&mut self.table).into_iter().filter_map(|n| Some((n.key, n.event?))));
        all.extend(std::mem::take(&mut self.later));
        let time = |e: &(LiveKey, LiveEvent)| e.0.at.time;
        let middle = all.len() / 2;
        let Some(first) = all.iter().map(time).min() else { return };
        let half = all.select_nth_unstable_by_key(middle, time).1;
        let span = (half.0.at.time.0 as u64).wrapping_sub(first.0 as u64);
        let length = u128::from(span) * PER_DAY as u128 / (middle as u128 + 1);
        let shift = (u128::BITS - length.leading_zeros()).clamp(2, 60) - 1;
        // Delays that follow an exponential law reach six times as far as the nearer half: the ring holds nearly all of them. Where all
        // is due at once, more days would be of no use.
        let days = if span == 0 { 0 } else { 4 * all.len() / PER_DAY };
        let days = days.next_power_of_two().clamp(LEAST_DAYS, MOST_DAYS);
        *self = Agenda {
            firsts: vec![NONE; days],
            busy: vec![0; days / 64],
            table: Vec::with_capacity(all.len()),
            shift,
            later_from: u64::MAX,
            ..Agenda::default()
        };
        self.day = self.day_of(Moment::at(first));
        self.since = (self.day, 0);
        for (key, event) in all {
            self.insert(key, event);
        }
    }
}

impl PartialEq for Agenda {
    fn eq(&self, other: &Agenda) -> bool {
        self.iter().eq(other.iter())
    }
}

impl FromIterator<(LiveKey, LiveEvent)> for Agenda {
    fn from_iter<I: IntoIterator<Item = (LiveKey, LiveEvent)>>(events: I) -> Agenda {
        Agenda { later: events.into_iter().collect(), ..Agenda::default() }
    }
}

impl Serialize for Agenda {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Agenda {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Agenda, D::Error> {
        Ok(Agenda { later: Later::deserialize(deserializer)?, ..Agenda::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid, math};

    /// An agenda, and an ordered map that does the same.
    struct Both {
        agenda: Agenda,
        map: Later,
        draw: Draw,
        drawn: u32,
    }

    impl Both {
        fn new(seed: u64) -> Both {
            let draw = Draw::at(seed, Uid(1), Purpose::Test, Time::ZERO, 0);
            Both { agenda: Agenda::default(), map: Later::new(), draw, drawn: 0 }
        }

        fn unit(&mut self) -> f64 {
            self.drawn += 1;
            self.draw.uniform(self.drawn)
        }

        fn insert(&mut self, at: Moment) {
            let (kind, who, sequence) = (self.unit() * 3.0, self.unit() * 4.0, self.unit() * 4.0);
            let key = LiveKey { at, kind: kind as u8, who: Uid(who as u64), sequence: sequence as u64 };
            let event = LiveEvent::Wake(u64::from(self.drawn));
            self.agenda.insert(key, event.clone());
            self.map.insert(key, event);
        }

        fn cancel(&mut self) {
            let place = (self.unit() * self.map.len() as f64) as usize;
            let Some((key, event)) = self.map.iter().nth(place).map(|(k, e)| (*k, e.clone())) else { return };
            self.map.remove(&key);
            assert_eq!(self.agenda.remove(&key), Some(event));
            assert_eq!(self.agenda.remove(&key), None);
        }

        fn pop(&mut self) -> Option<Moment> {
            assert_eq!(self.agenda.first(), self.map.first_key_value().map(|e| e.0.at));
            let first = self.map.pop_first();
            assert_eq!(self.agenda.pop_first(), first);
            assert_eq!(self.agenda.len(), self.map.len());
            first.map(|e| e.0.at)
        }
    }

    /// Times on very different scales, ties, equal keys, events in the past and cancelled ones, bursts and droughts.
    #[test]
    fn it_gives_what_an_ordered_map_gives() {
        for seed in 0..8 {
            let mut both = Both::new(seed);
            let mut now = Moment::at(Time(-5));
            for step in 0..30_000_u32 {
                let scale = [1e-9, 1e-3, 1.0, 1e-15, 1e4][(step / 3_000) as usize % 5];
                let filling = if (step / 1500) % 2 == 0 { 0.7 } else { 0.25 };
                let choice = both.unit();
                if choice < filling {
                    let ahead = -math::ln(1.0 - both.unit()) * scale;
                    let at = match (both.unit() * 20.0) as u32 {
                        0 => now,
                        1 => Moment::at(Time(now.time.0.saturating_add(1_000_000_000))),
                        2 => Moment { time: Time(now.time.0 - 3), offset: now.offset },
                        3 => now.plus(ahead * 1e4),
                        4 if step % 500 == 0 => Moment::NEVER,
                        _ => now.plus(ahead),
                    };
                    both.insert(at);
                } else if choice < filling + 0.1 {
                    both.cancel();
                } else {
                    now = both.pop().unwrap_or(now).max(now);
                    if now == Moment::NEVER {
                        now = Moment::at(Time(i64::from(step)));
                    }
                }
                if step % 5_000 == 4_999 {
                    assert!(both.agenda.iter().eq(&both.map));
                    let bytes = postcard::to_allocvec(&both.agenda).unwrap();
                    assert_eq!(bytes, postcard::to_allocvec(&both.map).unwrap());
                    let again: Agenda = postcard::from_bytes(&bytes).unwrap();
                    assert!(again == both.agenda);
                    both.agenda = again;
                }
            }
            while both.pop().is_some() {}
            assert!(both.agenda.is_empty() && both.agenda.firsts.is_empty());
        }
    }

    #[test]
    fn another_event_makes_two_agendas_differ() {
        let key = |sequence: u64| LiveKey { at: Moment::ZERO, kind: 5, who: Uid(0), sequence };
        let agenda = |sequences: [u64; 2]| -> Agenda {
            sequences.into_iter().map(|s| (key(s), LiveEvent::Wake(s))).collect()
        };
        assert_eq!(agenda([1, 2]), agenda([2, 1]));
        assert_ne!(agenda([1, 2]), agenda([1, 3]));
    }
}
