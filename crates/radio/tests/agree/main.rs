//! Consensus, failure detectors, elections and membership in the laboratory, judged by the checkers.

mod adversary;
mod common;
mod compose;
mod consensus;
mod detectors;
mod elections;
#[path = "../support/everybody_wins.rs"]
mod everybody_wins;
mod membership;
mod recovery;
