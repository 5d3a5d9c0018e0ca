//! Suites that every engine, part and world must pass.

// The targets of the fuzzer name its crate: in this program they mean this one.
extern crate self as libfuzzer_sys;

mod boards;
mod carry;
mod casts;
mod cones;
mod contacts;
mod divided;
mod drive;
mod examples;
mod fuzz;
mod gas;
mod goldens;
mod impacts;
mod layers;
mod levels;
mod meetings;
mod moving;
mod overlap;
mod same_bits;
mod sensors;
mod worlds;

pub(crate) use fuzz::fuzz_target;
