//! What robots that live by events do: algorithms, and the motion modules, sensors and schedulers they need.
//!
//! An algorithm is a microprotocol that offers nothing: it stands on top of a robot's protocols. Adding one: a
//! file with its sheet, its state machine and its tests, and one line in [`register`].

pub mod geometry;
pub mod lcm;

use swarmyard_part_api::Registry;

/// Registers every algorithm, motion module and event sensor.
pub fn register(registry: &mut Registry) {
    lcm::register(registry);
}
