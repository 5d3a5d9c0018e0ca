//! Events to come, at a cost per event that hardly grows with how many there are.
//!
//! In: events with their keys. Out: the one with the least key first. The order is that of [`LiveKey`] and nothing
//! else, as in one ordered map; two agendas with the same events are equal, however they came about.
//!
//! It is a calendar: a ring of days, each a short list, and an ordered map for what is due beyond the
//! ring, or for everything when that is little. The length of a day follows the events, so that some fall on
//! each. Other than in the calendar of flights, an event is taken out at once when it is cancelled, and a
//! thousand events on one day do no harm: such a day is a map.

use super::day::Day;
use super::state::{LiveEvent, LiveKey};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use swarmyard_base::Moment;

/// Events that should fall on a day.
pub(super) const PER_DAY: usize = 4;
/// With so few events there is no ring.
const FEW: usize = 64;
/// Fewest days of a ring.
const LEAST_DAYS: usize = 64;
/// Most days of a ring.
const MOST_DAYS: usize = 1 << 22;

type Later = BTreeMap<LiveKey, LiveEvent>;

/// Events to come, in the order of their keys.
#[derive(Clone, Debug, Default)]
pub struct Agenda {
    /// Day d is at `d mod days.len()`. What is due before the present day stands on it.
    days: Vec<Day>,
    /// One bit per day of the ring: whether anything is due.
    busy: Vec<u64>,
    /// Number of the present day.
    day: u64,
    /// Number of the day before which nothing is among `later`.
    turn: u64,
    /// Length of a day: 2^shift ns.
    shift: u32,
    /// Events in the ring.
    ringed: usize,
    /// What was due beyond the ring when it was added, or everything when there is no ring.
    later: Later,
    /// Days and events since the ring was laid out or turned.
    since: (u64, usize),
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
        self.days.iter().flat_map(Day::iter).chain(&self.later)
    }

    /// Adds an event; one with the same key makes room for it.
    pub(super) fn insert(&mut self, key: LiveKey, event: LiveEvent) {
        let day = self.day_of(key.at);
        if !self.in_ring(day) {
            self.later.insert(key, event);
            return;
        }
        if day >= self.turn && !self.later.is_empty() {
            self.later.remove(&key);
        }
        let place = self.place(day.max(self.day));
        self.busy[place / 64] |= 1 << (place % 64);
        self.ringed += usize::from(self.days[place].insert(key, event).is_none());
    }

    /// Takes out an event before its time.
    pub(super) fn remove(&mut self, key: &LiveKey) -> Option<LiveEvent> {
        let day = self.day_of(key.at);
        if self.in_ring(day) {
            let place = self.place(day.max(self.day));
            if let Some(event) = self.days[place].remove(key) {
                self.took(place);
                return Some(event);
            }
        }
        self.later.remove(key)
    }

    /// When the first event is due.
    #[inline]
    pub(super) fn first(&mut self) -> Option<Moment> {
        if self.open() {
            return self.days[self.place(self.day)].first().map(|key| key.at);
        }
        self.later.first_key_value().map(|(key, _)| key.at)
    }

    /// Takes out the first event.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<(LiveKey, LiveEvent)> {
        if !self.open() {
            return self.later.pop_first();
        }
        let place = self.place(self.day);
        let first = self.days[place].pop_first()?;
        self.took(place);
        self.since.1 += 1;
        Some(first)
    }

    #[inline]
    fn day_of(&self, at: Moment) -> u64 {
        // Time before the start of the run comes first as well.
        ((at.time.0 as u64) ^ (1 << 63)) >> self.shift
    }

    #[inline]
    fn in_ring(&self, day: u64) -> bool {
        day.saturating_sub(self.day) < self.days.len() as u64
    }

    #[inline]
    fn place(&self, day: u64) -> usize {
        day as usize & (self.days.len() - 1)
    }

    /// One event less on a day.
    #[inline]
    fn took(&mut self, place: usize) {
        self.ringed -= 1;
        if self.days[place].is_empty() {
            self.busy[place / 64] &= !(1 << (place % 64));
        }
    }

    /// Goes on to the first day with something to do; `false` when there is no ring, and the first event stands among
    /// `later`.
    #[inline]
    fn open(&mut self) -> bool {
        loop {
            if self.ringed > 0 && !self.days[self.place(self.day)].is_empty() {
                return true;
            }
            if self.ringed > 0 {
                self.next_day();
            } else if self.later.len() > FEW {
                self.lay_out();
            } else {
                (self.days, self.busy) = (Vec::new(), Vec::new());
                return false;
            }
        }
    }

    /// Goes on to the next busy day.
    fn next_day(&mut self) {
        let day = self.busy_day();
        if day < self.turn {
            self.day = day;
        } else {
            self.turn_over();
        }
    }

    /// The first busy day of the ring, which is not empty.
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

    /// Takes into the ring what has come into its reach.
    fn turn_over(&mut self) {
        let (days, taken) = (self.turn - self.since.0, self.since.1 as u64);
        let many = self.len() > 2 * PER_DAY * self.days.len();
        let few = self.days.len() > LEAST_DAYS && 16 * self.len() < PER_DAY * self.days.len();
        if many || few || taken > days * 2 * PER_DAY as u64 || 8 * taken < days {
            self.lay_out();
            return;
        }
        self.day = self.turn - 1;
        self.turn = self.day + self.days.len() as u64;
        self.since = (self.day, 0);
        while self.later.first_key_value().is_some_and(|(key, _)| self.day_of(key.at) < self.turn) {
            let Some((key, event)) = self.later.pop_first() else { return };
            self.insert(key, event);
        }
    }

    /// Chooses the length of a day by the nearer half of all events, and lays everything out anew.
    fn lay_out(&mut self) {
        let mut all: Vec<(LiveKey, LiveEvent)> = Vec::with_capacity(self.len());
        all.extend(std::mem::take(&mut self.days).into_iter().flat_map(Day::into_events));
        all.extend(std::mem::take(&mut self.later));
        let time = |e: &(LiveKey, LiveEvent)| e.0.at.time;
        let middle = all.len() / 2;
        let Some(first) = all.iter().map(time).min() else { return };
        let half = all.select_nth_unstable_by_key(middle, time).1;
        let span = (half.0.at.time.0 as u64).wrapping_sub(first.0 as u64);
        let length = u128::from(span) * PER_DAY as u128 / (middle as u128 + 1);
        self.shift = (u128::BITS - length.leading_zeros()).clamp(2, 60) - 1;
        // Delays that follow an exponential law reach six times as far as the nearer half: the ring holds nearly all of them. Where all
        // is due at once, more days would be of no use.
        let days = if span == 0 { 0 } else { 4 * all.len() / PER_DAY };
        let days = days.next_power_of_two().clamp(LEAST_DAYS, MOST_DAYS);
        self.days.resize_with(days, Day::default);
        self.busy = vec![0; days / 64];
        self.ringed = 0;
        self.day = self.day_of(Moment::at(first));
        self.turn = self.day + days as u64;
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
            assert!(both.agenda.is_empty() && both.agenda.days.is_empty());
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
