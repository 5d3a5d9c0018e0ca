//! The library of microprotocols, one file each.
//!
//! Every file says what its protocol guarantees, what it assumes, how many messages it costs, and at which
//! size it was model-checked.

pub mod best_effort_broadcast;
pub mod bully;
pub mod causal_broadcast;
pub mod chandra_toueg;
pub mod chang_roberts;
pub mod clock_sync;
pub(crate) mod common;
pub mod fake_order;
pub mod fifo_broadcast;
pub mod heartbeat;
pub mod instances;
pub mod lamport_order;
pub mod leader_election;
pub mod membership;
pub mod mostefaoui_raynal;
pub mod moving_sequencer;
pub mod omega;
pub mod order_by_consensus;
mod ordering;
pub mod path_reservation;
pub mod paxos;
pub mod quality;
pub mod reliable_broadcast;
pub mod reliable_link;
pub mod ricart_agrawala;
pub mod ring_heartbeat;
pub mod sequencer_order;
pub mod simulated_detector;
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
    registry.add(chandra_toueg::class());
    registry.add(clock_sync::class());
    registry.add(fake_order::class());
    registry.add(fifo_broadcast::class());
    registry.add(heartbeat::class());
    registry.add(lamport_order::class());
    registry.add(leader_election::class());
    registry.add(membership::class());
    registry.add(mostefaoui_raynal::class());
    registry.add(moving_sequencer::class());
    registry.add(omega::class());
    registry.add(order_by_consensus::class());
    registry.add(path_reservation::class());
    registry.add(paxos::class());
    registry.add(reliable_broadcast::class());
    registry.add(reliable_link::class());
    registry.add(ricart_agrawala::class());
    registry.add(ring_heartbeat::class());
    registry.add(sequencer_order::class());
    registry.add(simulated_detector::class());
    registry.add(skeen_order::class());
    registry.add(token_order::class());
    registry.add(uniform_broadcast::class());
}
