//! Events to come, in one total order.
//!
//! The order is (time, sub-nanosecond offset, phase, lower uid, higher uid, own sequence): a function
//! of identities and time, never of arrival. Quantum worlds stop at quanta and use the queue for
//! inputs that were scheduled ahead; event-driven worlds live on it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::hash::{canonical_bits, mix64};
use swarmyard_base::{Time, Uid};

/// Place of an event in the total order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct EventKey {
    /// When, in nanoseconds.
    pub time: Time,
    /// Sub-nanosecond offset in 2⁻³² ns.
    pub offset: u32,
    /// Phase of the step it belongs to.
    pub phase: u8,
    /// Lower uid of the entities concerned.
    pub low: Uid,
    /// Higher uid of the entities concerned; the same when there is one.
    pub high: Uid,
    /// The entity's own sequence number.
    pub sequence: u64,
}

impl EventKey {
    /// The sequence number of a command that a controller gave: a function of who decided what, never
    /// of who thought first.
    pub(crate) fn sequence_of(controller: u64, part: u32, first: u32) -> u64 {
        controller << 48 | u64::from(part) << 24 | u64::from(first)
    }
}

/// What will happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Event {
    /// Commands of a part take effect (a controller's think time, or an input scheduled ahead).
    Command {
        /// Number of the part.
        part: u32,
        /// First number in the part's command row.
        first: u32,
        /// The numbers.
        values: Vec<f64>,
    },
}

/// Pending events.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EventQueue {
    events: BTreeMap<EventKey, Event>,
}

impl EventQueue {
    /// Schedules an event; an event with the same key is replaced.
    pub fn push(&mut self, key: EventKey, event: Event) {
        self.events.insert(key, event);
    }

    /// Cancels an event.
    pub fn cancel(&mut self, key: &EventKey) -> Option<Event> {
        self.events.remove(key)
    }

    /// Bytes of memory it takes.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        let event = |Event::Command { values, .. }: &Event| size_of_val(&values[..]);
        self.events.values().map(|e| size_of::<(EventKey, Event)>() + event(e)).sum()
    }

    /// Time of the earliest event.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.events.first_key_value().map(|(k, _)| k.time)
    }

    /// Events due by `now`, in order, without removing them.
    pub fn due(&self, now: Time) -> impl Iterator<Item = (&EventKey, &Event)> {
        self.events.iter().take_while(move |(k, _)| k.time <= now)
    }

    /// Removes every event due by `now`.
    pub fn drop_due(&mut self, now: Time) {
        while self.next_time().is_some_and(|t| t <= now) {
            self.events.pop_first();
        }
    }

    /// All pending events, in order.
    pub fn all(&self) -> impl Iterator<Item = (&EventKey, &Event)> {
        self.events.iter()
    }

    /// All pending events of one entity, in order.
    pub fn of(&self, uid: Uid) -> impl Iterator<Item = (&EventKey, &Event)> {
        self.events.iter().filter(move |(k, _)| k.low == uid || k.high == uid)
    }

    /// The same queue with every event renamed, or dropped.
    pub(crate) fn renamed(
        &self,
        name: impl Fn(&EventKey, &Event) -> Option<(EventKey, Event)>,
    ) -> EventQueue {
        EventQueue { events: self.events.iter().filter_map(|(key, event)| name(key, event)).collect() }
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    /// Commutative hash of what is pending.
    #[must_use]
    pub fn hash(&self) -> u64 {
        self.events.iter().fold(0_u64, |sum, (k, e)| {
            let mut h = mix64(k.time.0 as u64 ^ u64::from(k.offset).rotate_left(32) ^ u64::from(k.phase));
            for word in [k.low.0, k.high.0, k.sequence] {
                h = mix64(h ^ word);
            }
            let Event::Command { part, first, values } = e;
            h = mix64(h ^ (u64::from(*part) << 32 | u64::from(*first)));
            for v in values {
                h = mix64(h ^ canonical_bits(*v));
            }
            sum.wrapping_add(h)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(time: i64, low: u64, sequence: u64) -> EventKey {
        EventKey { time: Time(time), offset: 0, phase: 0, low: Uid(low), high: Uid(low), sequence }
    }

    fn event(value: f64) -> Event {
        Event::Command { part: 0, first: 0, values: vec![value] }
    }

    #[test]
    fn order_is_time_then_uid_then_sequence_whatever_the_arrival() {
        let keys = [key(2, 1, 0), key(1, 9, 1), key(1, 9, 0), key(1, 3, 5)];
        let mut forward = EventQueue::default();
        let mut backward = EventQueue::default();
        for k in keys {
            forward.push(k, event(k.sequence as f64));
        }
        for k in keys.iter().rev() {
            backward.push(*k, event(k.sequence as f64));
        }
        let order: Vec<EventKey> = forward.due(Time(9)).map(|(k, _)| *k).collect();
        assert_eq!(order, [key(1, 3, 5), key(1, 9, 0), key(1, 9, 1), key(2, 1, 0)]);
        assert_eq!(forward, backward);
        assert_eq!(forward.hash(), backward.hash());
    }

    #[test]
    fn only_due_events_go() {
        let mut q = EventQueue::default();
        q.push(key(1, 1, 0), event(1.0));
        q.push(key(5, 1, 1), event(2.0));
        q.drop_due(Time(4));
        assert_eq!((q.len(), q.next_time()), (1, Some(Time(5))));
        assert!(q.cancel(&key(5, 1, 1)).is_some() && q.is_empty());
    }
}
