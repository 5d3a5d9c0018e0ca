//! `best-effort-broadcast`: a message to everybody, over a link.
//!
//! Guarantees: what a robot that does not crash broadcasts is delivered by every robot that does not crash, if
//! the link loses nothing (validity); nothing is delivered twice or without having been broadcast, if the link
//! does neither. It does *not* guarantee agreement: when the sender crashes in the middle, some robots deliver
//! and some do not.
//!
//! Cost: n − 1 messages and one step. It keeps no memory.
//! Model-checked in `tests/model/broadcasts.rs`: 3 robots, 2 messages, any order of arrival; with one crash the
//! checker finds the disagreement.

use super::common::{Parcel, few, port_param};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, Request,
    ServiceKind, Sheet, ToAll, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("best-effort-broadcast", Kind::Protocol, "Sends a message to every robot over a link. When the sender crashes on the way, some may get it and some not. Provides broadcast.")
        .param(port_param("link", "What carries its messages; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"all\"\nclass = \"best-effort-broadcast\"")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(Model)))
}

struct Model;

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(BestEffort)
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Parcel>(bytes) {
            Ok(parcel) => ("BROADCAST".into(), few(&parcel.bytes)),
            Err(_) => ("DATA".into(), few(bytes)),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct BestEffort;

impl Microprotocol for BestEffort {
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        if let Request::Broadcast(ToAll(bytes)) = request {
            cx.send(LINK, cx.all(), &Parcel { user: user.0, bytes });
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if let Ok(Parcel { user, bytes }) = from_bytes(&bytes) {
            cx.indicate(User(user), Indication::Delivered { from, bytes });
        }
    }

    memory_is_serde!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Delay, Lab, Stack, Wires};
    use swarmyard_part_api::{Registry, to_bytes};

    #[test]
    fn everybody_delivers_and_it_costs_n_minus_one_messages() {
        let mut registry = Registry::new();
        crate::register(&mut registry);
        let graph = Stack::new(&registry).class("all", "best-effort-broadcast", &[]).probe(&["all"]).build();
        let mut lab = Lab::new(1, &graph.unwrap(), 5, &Wires::new(Delay::Fixed(0.01)));
        lab.broadcast(1.0, 2, "hello");
        lab.run_until(2.0).unwrap();
        let delivered: Vec<u32> = lab.trace().indications().map(|i| i.1).collect();
        assert_eq!(delivered, [2, 0, 1, 3, 4]);
        assert_eq!(lab.trace().copies(), 4);
    }

    #[test]
    fn its_messages_are_shown_with_their_content() {
        let parcel = Parcel { user: 7, bytes: b"hello".as_slice().into() };
        assert_eq!(Model.show(&to_bytes(&parcel)), ("BROADCAST".to_owned(), "hello".to_owned()));
        assert_eq!(Model.show(&[0xff; 40]).0, "DATA");
    }
}
