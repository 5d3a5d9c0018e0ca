//! Suites that every engine, part and world must pass.

mod boards;
mod carry;
mod casts;
mod cones;
mod contacts;
mod divided;
mod drive;
mod examples;
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
