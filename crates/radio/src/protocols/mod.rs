//! The library of microprotocols, one file each.
//!
//! Every file says what its protocol guarantees, what it assumes, how many messages it costs, and at which
//! size it was model-checked.

pub mod best_effort_broadcast;
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

use swarmyard_part_api::Registry;

/// Registers every microprotocol.
pub fn register(registry: &mut Registry) {
    registry.add(best_effort_broadcast::class());
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

/// What the protocols have in common: messages of many users over one link or broadcast.
pub(crate) mod common {
    use serde::{Deserialize, Serialize};
    use swarmyard_part_api::{Bytes, Param, ParamType};

    /// Somebody's bytes on behalf of one user.
    #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub(crate) struct Parcel {
        /// Id of the user, the same on every robot.
        pub(crate) user: u32,
        /// What it sent.
        pub(crate) bytes: Bytes,
    }

    /// Bytes in a few words, for logs.
    pub(crate) fn few(bytes: &[u8]) -> String {
        match std::str::from_utf8(bytes) {
            Ok(text) if text.len() <= 24 && text.chars().all(|c| !c.is_control()) => text.to_owned(),
            _ => format!("{} bytes", bytes.len()),
        }
    }

    /// The parameter that names the provider of a port.
    pub(crate) fn port_param(name: &'static str, summary: &'static str) -> Param {
        Param::new(name, ParamType::Name("protocol"), summary)
    }
}
