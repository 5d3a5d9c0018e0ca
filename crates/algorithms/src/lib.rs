//! What robots that live by events do: algorithms, and the motion modules, sensors and schedulers they need.
//!
//! An algorithm is a microprotocol that offers nothing: it stands on top of a robot's protocols. Adding one: a
//! file with its sheet, its state machine and its tests, and one line in [`register`].

mod gathering;
pub mod geometry;
pub mod lcm;
mod playback;
mod random_movement;
mod roll_call;
mod scripted;

use swarmyard_part_api::Registry;

/// Registers every algorithm, motion module and event sensor.
pub fn register(registry: &mut Registry) {
    registry.add(gathering::class());
    registry.add(playback::class());
    registry.add(random_movement::class());
    registry.add(roll_call::class());
    registry.add(scripted::class());
    lcm::register(registry);
}
