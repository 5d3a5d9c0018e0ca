//! What robots that live by events do: algorithms, and the schedulers they need.
//!
//! An algorithm is a microprotocol that offers nothing: it stands on top of a robot's protocols. It is written
//! as a state machine, or as a sequence of steps ([`sequential`]), or as a rule ([`lcm`]). Adding one: a file
//! with its sheet, its code and its tests, and one line in [`register`].

mod ask_for_help;
mod cross_bridge;
mod gathering;
mod gathering_sequential;
pub mod geometry;
pub mod half_planes;
mod in_step;
mod in_turn;
pub mod lcm;
mod leader;
mod playback;
mod random_movement;
mod relay;
mod roll_call;
mod scripted;
pub mod sequential;
mod set_out;
mod share_out;
mod take_post;

use swarmyard_part_api::Registry;

/// Registers every algorithm, and the protocols that put algorithms together.
pub fn register(registry: &mut Registry) {
    registry.add(ask_for_help::class());
    registry.add(cross_bridge::class());
    registry.add(gathering::class());
    registry.add(gathering_sequential::class());
    registry.add(in_step::class());
    registry.add(in_turn::class());
    registry.add(leader::leader());
    registry.add(leader::follower());
    lcm::register(registry);
    registry.add(playback::class());
    registry.add(random_movement::class());
    registry.add(relay::class());
    registry.add(roll_call::class());
    registry.add(scripted::class());
    registry.add(set_out::class());
    registry.add(share_out::class());
    registry.add(take_post::class());
}
