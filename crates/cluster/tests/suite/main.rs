//! A run on many workers: the same bits, whatever happens to them.

mod common;
mod figures;
mod harm;
mod inputs;
mod keeping;
mod natives;
mod pieces;
mod placement;
mod same_bits;
mod worlds;
