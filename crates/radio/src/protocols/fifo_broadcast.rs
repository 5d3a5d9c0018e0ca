//! `fifo-broadcast`: messages of one robot are delivered in the order it broadcast them.
//!
//! Messages carry a number; who gets one too early keeps it until those before it have come.
//!
//! Guarantees: FIFO order, and whatever the broadcast below guarantees besides. If that one loses a message, all
//! later ones of its sender wait for ever: it wants a reliable one. A robot that comes back from a crash begins
//! with the first message of each sender that it sees.
//!
//! Cost: no message of its own. Memory: messages that came too early. Orders of different robots are not
//! compared: it is not causal.
//! Model-checked in `tests/model/broadcasts.rs`: over `reliable-broadcast`, 3 robots, 3 messages of two of them,
//! 1 crash; and it finds that causal order fails.

use super::common::{Parcel, few, next_life, port_param};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Broadcast, Built, Class, Cx, Indication, Kind, Microprotocol, PortSpec, ProtocolModel, ProtocolPort,
    Request, ServiceKind, Sheet, ToAll, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

const BELOW: ProtocolPort<Broadcast> = ProtocolPort::new(0);

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("fifo-broadcast", Kind::Protocol, "Delivers the messages of one robot in the order it broadcast them. Needs a broadcast that loses nothing. Provides broadcast.")
        .param(port_param("broadcast", "What carries its messages; the only other broadcast when left out."))
        .example("[[type.demo.protocol]]\nname = \"all\"\nclass = \"reliable-broadcast\"\n\n[[type.demo.protocol]]\nname = \"in-turn\"\nclass = \"fifo-broadcast\"\nbroadcast = \"all\"")
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
        vec![PortSpec::new("broadcast", ServiceKind::Broadcast)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(FifoBroadcast::default())
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Msg { number, parcel, .. }) => ("FIFO".into(), format!("{number} {}", few(&parcel.bytes))),
            Err(_) => ("DATA".into(), few(bytes)),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Msg {
    life: u32,
    number: u64,
    parcel: Parcel,
}

#[derive(Default, Serialize, Deserialize)]
struct FifoBroadcast {
    life: u32,
    next: u64,
    /// By sender and its life: the number to be delivered next, and what came too early.
    from: BTreeMap<(u32, u32), (u64, BTreeMap<u64, Parcel>)>,
}

impl Microprotocol for FifoBroadcast {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.life = next_life(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Broadcast(ToAll(bytes)) = request else { return };
        let parcel = Parcel { user: user.0, bytes };
        cx.broadcast(BELOW, &Msg { life: self.life, number: self.next, parcel });
        self.next += 1;
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        let Ok(Msg { life, number, parcel }) = from_bytes(&bytes) else { return };
        let came_back = self.life > 0 && from != cx.me();
        let first = if came_back { number } else { 0 };
        let (expected, early) = self.from.entry((from, life)).or_insert_with(|| (first, BTreeMap::new()));
        if number < *expected {
            return;
        }
        early.insert(number, parcel);
        while let Some(parcel) = early.remove(expected) {
            *expected += 1;
            cx.indicate(User(parcel.user), Indication::Delivered { from, bytes: parcel.bytes });
        }
    }

    memory_is_serde!();
}
