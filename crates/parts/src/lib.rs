//! The standard parts and the built-in controllers. One part, one file.
//!
//! Adding one: a file with its sheet, its model and its tests, and one line in [`register`].

mod arm;
mod beacon_finder;
mod bumper;
mod compass;
mod cruise;
mod dice;
mod diff_drive;
mod diffusion;
mod drift;
mod event_sensors;
mod expand_swarm;
mod external;
mod gripper;
mod hand;
mod homing;
mod odometer;
mod range_rays;
mod sonar;
mod steer;
mod track_follow;
mod track_sensor;
mod wander;
mod wheels;

use swarmyard_part_api::Registry;

/// Registers every standard part and controller.
pub fn register(registry: &mut Registry) {
    registry.add(arm::class());
    registry.add(beacon_finder::class());
    registry.add(bumper::class());
    registry.add(compass::class());
    registry.add(cruise::class());
    registry.add(dice::class());
    registry.add(diff_drive::class());
    registry.add(diffusion::class());
    registry.add(drift::class());
    registry.add(expand_swarm::class());
    for class in event_sensors::classes() {
        registry.add(class);
    }
    registry.add(external::class());
    registry.add(wheels::glider());
    registry.add(gripper::class());
    registry.add(homing::class());
    registry.add(odometer::class());
    registry.add(range_rays::class());
    registry.add(sonar::class());
    registry.add(track_follow::class());
    registry.add(track_sensor::class());
    registry.add(wander::class());
    registry.add(wheels::wheels());
}

/// The registry with everything this crate has.
#[must_use]
pub fn standard_registry() -> Registry {
    let mut registry = Registry::new();
    register(&mut registry);
    registry
}
