//! The library of microprotocols, one file each.
//!
//! Every file says what its protocol guarantees, what it assumes, how many messages it costs, and at which
//! size it was model-checked.

pub mod best_effort_broadcast;
pub mod fake_order;
pub mod lamport_order;
pub mod moving_sequencer;
pub mod order_by_consensus;
mod ordering;
pub mod path_reservation;
pub mod ricart_agrawala;
pub mod sequencer_order;
pub mod skeen_order;
pub mod token_order;
mod ways;
pub mod zones;

use swarmyard_part_api::Registry;

/// Registers every microprotocol.
pub fn register(registry: &mut Registry) {
    registry.add(best_effort_broadcast::class());
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
