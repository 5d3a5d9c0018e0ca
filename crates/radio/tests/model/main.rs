//! Protocols in a model checker: every order of messages, timers, requests and crashes.
//!
//! [`adaptor`] says how a protocol is checked. One file for each family of protocols.

mod adaptor;
mod agree;
mod broadcasts;
mod clocks;
mod detectors;
#[path = "../support/everybody_wins.rs"]
mod everybody_wins;
mod membership;
#[path = "../support/one_word.rs"]
mod one_word;
mod oracle;
mod orders;
#[path = "../support/polite_mutex.rs"]
mod polite_mutex;
mod reservation;
