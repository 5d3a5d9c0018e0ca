//! The paths of all bodies, by slot, packed: they are there for people, and most runs hardly look at them.
//!
//! In: paths in the order of slots. Out: `paths[slot]`, as a text. Never: a text of its own per body, which
//! would take three times the memory.

use std::ops::{Index, Range};

/// Paths by slot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// One path after the other.
    text: String,
    /// Where each one ends in the text.
    ends: Vec<u32>,
}

impl Paths {
    /// Adds the path of the next slot; `false` when there is no room for it: all of them together may have
    /// 4 GiB.
    pub(crate) fn push(&mut self, path: &str) -> bool {
        let Ok(end) = u32::try_from(self.text.len() + path.len()) else { return false };
        self.text.push_str(path);
        self.ends.push(end);
        true
    }

    /// Gives back the memory that was kept for more.
    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All of them, in the order of slots.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> + Clone {
        self.of(0..self.len())
    }

    /// Those of some slots.
    pub fn of(&self, slots: Range<usize>) -> impl ExactSizeIterator<Item = &str> + Clone {
        slots.map(|slot| &self[slot])
    }
}

impl Index<usize> for Paths {
    type Output = str;

    fn index(&self, slot: usize) -> &str {
        let first = if slot == 0 { 0 } else { self.ends[slot - 1] };
        &self.text[first as usize..self.ends[slot] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_slot_has_its_own_path_again() {
        let all = ["/robots/r1", "", "/robots/wächter", "/obstacles/o"];
        let mut paths = Paths::default();
        for path in all {
            assert!(paths.push(path));
        }
        paths.shrink();
        assert_eq!(paths.len(), 4);
        assert!(paths.iter().eq(all));
        assert_eq!(&paths[2], "/robots/wächter");
        assert!(paths.of(1..3).eq(["", "/robots/wächter"]));
        assert!(Paths::default().is_empty() && !paths.is_empty());
    }
}
