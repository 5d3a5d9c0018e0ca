//! Identity: a uid is a hash of a path, so it is the same on every machine and in every run.

use crate::hash::mix64;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Identity of one thing in a run: a 64-bit hash of its path.
///
/// Ties in the engine are broken by uid, never by slot or arrival. Two paths with the same uid are
/// refused when the scenario is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Uid(pub u64);

impl Uid {
    /// The uid of a path such as `/robots/r1`.
    ///
    /// FNV-1a over the bytes, then a finaliser so that neighbours like `r1` and `r2` share no bits.
    #[must_use]
    pub fn of_path(path: &str) -> Uid {
        Uid::of_parts(&[path])
    }

    /// The uid of the path that the pieces spell one after the other.
    #[must_use]
    pub fn of_parts(pieces: &[&str]) -> Uid {
        let mut h: u64 = 0xcbf2_9ce4_8422_2325;
        for byte in pieces.iter().flat_map(|piece| piece.bytes()) {
            h = (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Uid(mix64(h))
    }

    /// The uid of something born while running: its parent, its kind and the parent's own ordinal.
    #[must_use]
    pub fn born(parent_path: &str, kind: &str, ordinal: u64) -> Uid {
        Uid::of_path(&format!("{parent_path}/{kind}/{ordinal}"))
    }
}

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uid_depends_on_the_path_only() {
        assert_eq!(Uid::of_path("/robots/r1"), Uid::of_parts(&["/robots/", "r1"]));
        assert_ne!(Uid::of_path("/robots/r1"), Uid::of_path("/robots/r2"));
        assert_eq!(Uid::born("/robots/r1", "puck", 3), Uid::of_path("/robots/r1/puck/3"));
    }

    #[test]
    fn a_hundred_thousand_names_do_not_collide() {
        let mut all: Vec<Uid> = (0..100_000).map(|k| Uid::of_path(&format!("/robots/r{k}"))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 100_000);
    }
}
