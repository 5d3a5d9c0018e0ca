//! The library of microprotocols, one file each.

mod fake_order;
mod lamport_order;
mod moving_sequencer;
mod order_by_consensus;
mod ordering;
mod path_reservation;
mod ricart_agrawala;
mod sequencer_order;
mod skeen_order;
mod token_order;
pub mod zones;

use swarmyard_part_api::Registry;

/// Registers every microprotocol.
pub fn register(registry: &mut Registry) {
    registry.add(fake_order::class());
    registry.add(lamport_order::class());
    registry.add(moving_sequencer::class());
    registry.add(order_by_consensus::class());
    registry.add(path_reservation::class());
    registry.add(ricart_agrawala::class());
    registry.add(sequencer_order::class());
    registry.add(skeen_order::class());
    registry.add(token_order::class());
}
