//! Consensus, failure detectors, elections and membership in the laboratory, judged by the checkers.

mod adversary;
mod common;
mod compose;
mod consensus;
mod detectors;
mod elections;
mod membership;
mod recovery;
