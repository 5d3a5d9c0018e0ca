//! The library of microprotocols, one file each.
//!
//! Every file says what its protocol guarantees, what it assumes, how many messages it costs, and at which
//! size it was model-checked.

pub mod best_effort_broadcast;
pub mod causal_broadcast;
pub(crate) mod common;
pub mod fifo_broadcast;
pub mod reliable_broadcast;
pub mod reliable_link;
pub mod uniform_broadcast;

use swarmyard_part_api::Registry;

/// Registers every microprotocol.
pub fn register(registry: &mut Registry) {
    registry.add(best_effort_broadcast::class());
    registry.add(causal_broadcast::class());
    registry.add(fifo_broadcast::class());
    registry.add(reliable_broadcast::class());
    registry.add(reliable_link::class());
    registry.add(uniform_broadcast::class());
}
