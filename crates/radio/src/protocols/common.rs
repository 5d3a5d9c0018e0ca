//! What protocols have in common: messages of many users, lives of a robot, numbers already seen.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use swarmyard_part_api::{Bytes, Cx, Param, ParamType};

/// Somebody's bytes on behalf of one user.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Parcel {
    /// Id of the user, the same on every robot.
    pub(crate) user: u32,
    /// What it sent.
    pub(crate) bytes: Bytes,
}

/// A message's name: no two messages of one protocol have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Stamp {
    /// Who sent it first.
    pub(crate) origin: u32,
    /// Which life of the sender.
    pub(crate) life: u32,
    /// How many it had sent before in that life.
    pub(crate) number: u64,
}

/// Which life of this robot begins: how often it has come back from a crash. To be asked once, at the start.
pub(crate) fn next_life(cx: &mut Cx<'_>) -> u32 {
    let life = cx.persisted::<u32>().map_or(0, |before| before.wrapping_add(1));
    cx.persist(&life);
    life
}

/// Numbers that were seen, in little room: all below a floor, and some above.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seen {
    floor: u64,
    above: BTreeSet<u64>,
}

impl Seen {
    /// Takes a number down; answers whether it is new.
    pub(crate) fn insert(&mut self, number: u64) -> bool {
        if number < self.floor || !self.above.insert(number) {
            return false;
        }
        self.raise(self.floor);
        true
    }

    /// Counts all below as seen.
    pub(crate) fn raise(&mut self, floor: u64) {
        if floor > self.floor {
            self.floor = floor;
            self.above = self.above.split_off(&floor);
        }
        while self.above.remove(&self.floor) {
            self.floor += 1;
        }
    }

    /// Whether it was seen.
    pub(crate) fn contains(&self, number: u64) -> bool {
        number < self.floor || self.above.contains(&number)
    }

    /// All below were seen.
    pub(crate) fn floor(&self) -> u64 {
        self.floor
    }
}

/// Bytes in a few words, for logs.
pub(crate) fn few(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= 24 && text.chars().all(|c| !c.is_control()) => text.to_owned(),
        _ => format!("{} bytes", bytes.len()),
    }
}

/// The parameter that names the provider of a port.
pub(crate) fn port_param(name: &'static str, summary: &'static str) -> Param {
    Param::new(name, ParamType::Name("protocol"), summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_new_once_and_the_room_stays_small() {
        let mut seen = Seen::default();
        for n in [1, 0, 3, 2, 5] {
            assert!(seen.insert(n) && !seen.insert(n), "{n}");
        }
        assert_eq!((seen.floor(), seen.above.len()), (4, 1));
        assert!(seen.contains(5) && !seen.contains(4));
        seen.raise(7);
        assert_eq!((seen.floor(), seen.above.len()), (7, 0));
        assert!(!seen.insert(6) && seen.insert(7));
        seen.raise(2);
        assert_eq!(seen.floor(), 8);
    }
}
