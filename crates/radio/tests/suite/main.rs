//! Protocols in the laboratory.

mod atomic_broadcast;
mod broadcasts;
mod clocks;
mod exclusion;
mod orders;
mod reservation;
