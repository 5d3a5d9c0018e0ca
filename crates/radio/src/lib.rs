//! How robots talk: networks, and the library of microprotocols.
//!
//! A network says when and whether a message arrives; a microprotocol makes something better of it. Both are
//! state machines without clock, thread or socket, made of what `part-api` offers ([`Microprotocol`] and
//! [`Network`]); the same protocols run in the simulator, over real sockets and in a model checker.
//!
//! [`Microprotocol`]: swarmyard_part_api::Microprotocol
//! [`Network`]: swarmyard_part_api::Network

pub mod check;
pub mod lab;
pub mod net;
pub mod protocols;

use swarmyard_part_api::Registry;

/// Registers every network and every microprotocol.
pub fn register(registry: &mut Registry) {
    net::register(registry);
    protocols::register(registry);
}
