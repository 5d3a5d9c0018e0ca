//! The library of microprotocols, one file each.
//!
//! Every file says what its protocol guarantees, what it assumes, how many messages it costs, and at which
//! size it was model-checked.

pub mod best_effort_broadcast;
pub mod causal_broadcast;
pub(crate) mod common;
pub mod fake_order;
pub mod fifo_broadcast;
pub mod lamport_order;
pub mod moving_sequencer;
pub mod order_by_consensus;
mod ordering;
pub mod path_reservation;
pub mod reliable_broadcast;
pub mod reliable_link;
pub mod ricart_agrawala;
pub mod sequencer_order;
pub mod skeen_order;
pub mod token_order;
pub mod uniform_broadcast;
mod ways;
pub mod zones;

use swarmyard_part_api::Registry;

/// Registers every microprotocol.
pub fn register(registry: &mut Registry) {
    registry.add(best_effort_broadcast::class());
    registry.add(causal_broadcast::class());
    registry.add(fake_order::class());
    registry.add(fifo_broadcast::class());
    registry.add(lamport_order::class());
    registry.add(moving_sequencer::class());
    registry.add(order_by_consensus::class());
    registry.add(path_reservation::class());
    registry.add(reliable_broadcast::class());
    registry.add(reliable_link::class());
    registry.add(ricart_agrawala::class());
    registry.add(sequencer_order::class());
    registry.add(skeen_order::class());
    registry.add(token_order::class());
    registry.add(uniform_broadcast::class());
}
