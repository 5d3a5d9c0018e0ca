//! The events of one day of an [`Agenda`](super::Agenda).
//!
//! In: events with their keys. Out: the one with the least key first. Few stand in a list, the last one first, so that taking the first
//! moves nothing and the list's room serves the next day in its place; many stand in an ordered map.

use super::agenda::PER_DAY;
use super::state::{LiveEvent, LiveKey};
use std::collections::BTreeMap;

/// The longest list.
const MOST: usize = 8 * PER_DAY;

/// Events in the order of their keys.
#[derive(Clone, Debug)]
pub(super) enum Day {
    /// The last one first.
    Few(Vec<(LiveKey, LiveEvent)>),
    Many(BTreeMap<LiveKey, LiveEvent>),
}

impl Default for Day {
    fn default() -> Day {
        Day::Few(Vec::new())
    }
}

impl Day {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        match self {
            Day::Few(list) => list.is_empty(),
            Day::Many(map) => map.is_empty(),
        }
    }

    /// Adds an event; answers the one with the same key that made room for it.
    #[inline]
    pub(super) fn insert(&mut self, key: LiveKey, event: LiveEvent) -> Option<LiveEvent> {
        let list = match self {
            Day::Few(list) => list,
            Day::Many(map) => return map.insert(key, event),
        };
        let place = list.iter().rposition(|e| e.0 >= key).map_or(0, |k| k + 1);
        if let Some(same) = list[..place].last_mut().filter(|e| e.0 == key) {
            return Some(std::mem::replace(&mut same.1, event));
        }
        if list.len() < MOST {
            list.insert(place, (key, event));
            return None;
        }
        let mut map: BTreeMap<LiveKey, LiveEvent> = list.drain(..).collect();
        map.insert(key, event);
        *self = Day::Many(map);
        None
    }

    /// Takes out an event.
    pub(super) fn remove(&mut self, key: &LiveKey) -> Option<LiveEvent> {
        let event = match self {
            Day::Few(list) => {
                let place = list.iter().position(|e| e.0 == *key)?;
                list.remove(place).1
            }
            Day::Many(map) => map.remove(key)?,
        };
        self.make_room();
        Some(event)
    }

    /// The least key.
    #[inline]
    pub(super) fn first(&self) -> Option<&LiveKey> {
        match self {
            Day::Few(list) => list.last().map(|e| &e.0),
            Day::Many(map) => map.first_key_value().map(|e| e.0),
        }
    }

    /// Takes out the first event.
    #[inline]
    pub(super) fn pop_first(&mut self) -> Option<(LiveKey, LiveEvent)> {
        let first = match self {
            Day::Few(list) => list.pop(),
            Day::Many(map) => map.pop_first(),
        };
        self.make_room();
        first
    }

    /// What an unusually busy day needed is given back when it is over.
    #[inline]
    fn make_room(&mut self) {
        let unusual = match self {
            Day::Few(list) => list.is_empty() && list.capacity() > 2 * PER_DAY,
            Day::Many(map) => map.is_empty(),
        };
        if unusual {
            *self = Day::default();
        }
    }

    /// All events in no order.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&LiveKey, &LiveEvent)> {
        let (list, map) = match self {
            Day::Few(list) => (&list[..], None),
            Day::Many(map) => (&[][..], Some(map)),
        };
        list.iter().map(|e| (&e.0, &e.1)).chain(map.into_iter().flatten())
    }

    /// All events in no order.
    pub(super) fn into_events(self) -> impl Iterator<Item = (LiveKey, LiveEvent)> {
        let (list, map) = match self {
            Day::Few(list) => (list, BTreeMap::new()),
            Day::Many(map) => (Vec::new(), map),
        };
        list.into_iter().chain(map)
    }
}
