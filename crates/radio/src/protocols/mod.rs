//! The library of microprotocols, one file each.

use swarmyard_part_api::Registry;

pub mod bully;
pub mod chandra_toueg;
pub mod chang_roberts;
pub mod heartbeat;
pub mod instances;
pub mod leader_election;
pub mod membership;
pub mod mostefaoui_raynal;
pub mod omega;
pub mod paxos;
pub mod quality;
pub mod ring_heartbeat;
pub mod simulated_detector;

/// Registers every microprotocol.
pub fn register(registry: &mut Registry) {
    registry.add(chandra_toueg::class());
    registry.add(heartbeat::class());
    registry.add(leader_election::class());
    registry.add(membership::class());
    registry.add(mostefaoui_raynal::class());
    registry.add(omega::class());
    registry.add(paxos::class());
    registry.add(ring_heartbeat::class());
    registry.add(simulated_detector::class());
}
