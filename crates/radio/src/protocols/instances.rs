//! Which instances of consensus are over: a set that stays small as long as instances are numbered in a row.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An instance of consensus: whose, and which of theirs. Users do not see each other's instances.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Instance {
    /// Id of the protocol that uses the consensus.
    pub user: u32,
    /// Its own number for it.
    pub number: u64,
}

/// Instances that are over, as runs of numbers: first and last of each, by user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Closed(BTreeMap<u32, BTreeMap<u64, u64>>);

impl Closed {
    /// Whether it is over.
    #[must_use]
    pub fn contains(&self, at: Instance) -> bool {
        let run = self.0.get(&at.user).and_then(|runs| runs.range(..=at.number).next_back());
        run.is_some_and(|(_, last)| at.number <= *last)
    }

    /// It is over; answers whether that is new.
    pub fn insert(&mut self, at: Instance) -> bool {
        if self.contains(at) {
            return false;
        }
        let runs = self.0.entry(at.user).or_default();
        let mut last = at.number;
        if let Some(next) = at.number.checked_add(1)
            && let Some(end) = runs.remove(&next)
        {
            last = end;
        }
        let before = runs.range(..at.number).next_back().map(|(a, b)| (*a, *b));
        match before {
            Some((first, end)) if end.checked_add(1) == Some(at.number) => runs.insert(first, last),
            _ => runs.insert(at.number, last),
        };
        true
    }

    /// How many runs of numbers it remembers.
    #[must_use]
    pub fn runs(&self) -> usize {
        self.0.values().map(BTreeMap::len).sum()
    }
}

/// How many robots are a majority.
#[must_use]
pub fn majority(robots: u32) -> usize {
    robots as usize / 2 + 1
}

/// A value as text for logs: its letters when it has only such, else its length.
#[must_use]
pub fn shown(value: &[u8]) -> String {
    match std::str::from_utf8(value) {
        Ok(text) if text.len() <= 40 && text.chars().all(|c| c.is_ascii_graphic()) => text.to_owned(),
        _ => format!("{} bytes", value.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid};

    #[test]
    fn runs_of_numbers_say_what_a_plain_set_says() {
        for seed in 0..200 {
            let (mut closed, mut plain) = (Closed::default(), BTreeSet::new());
            for k in 0..60 {
                let draw = Draw::at(seed, Uid(1), Purpose::Test, Time(0), k);
                let at = Instance { user: draw.below(0, 2), number: u64::from(draw.below(1, 20)) };
                assert_eq!(closed.insert(at), plain.insert(at), "{at:?}");
            }
            for user in 0..3 {
                for number in 0..25 {
                    let at = Instance { user, number };
                    assert_eq!(closed.contains(at), plain.contains(&at), "{at:?}");
                }
            }
        }
    }

    #[test]
    fn instances_in_a_row_are_one_run_whatever_their_order() {
        let mut closed = Closed::default();
        for number in (0..1000).rev().chain([u64::MAX, u64::MAX - 1]) {
            closed.insert(Instance { user: 7, number });
        }
        assert_eq!(closed.runs(), 2);
    }

    #[test]
    fn a_majority_is_more_than_half() {
        assert_eq!([1, 2, 3, 4, 5].map(majority), [1, 2, 2, 3, 3]);
    }
}
