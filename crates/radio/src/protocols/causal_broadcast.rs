//! `causal-broadcast`: nobody sees an answer before its question.
//!
//! Messages carry a vector clock: how many messages of each robot its sender had delivered (of itself:
//! broadcast) before it. Who gets a message too early keeps it until it has delivered as many.
//!
//! Guarantees: causal order (and so FIFO order), and whatever the broadcast below guarantees besides. If that one
//! loses a message, what depends on it waits for ever: it wants a reliable one. Robots that crash must not come
//! back: a robot that does has forgotten its clock, stays silent and delivers nothing.
//!
//! Cost: no message of its own, but n numbers in each. Memory: messages that came too early. Messages that do
//! not depend on each other may come in different orders at different robots: it is not total.
//! Model-checked in `tests/model/broadcasts.rs`: over `reliable-broadcast`, 3 robots, 3 messages of two of them,
//! 1 crash.

use super::common::{Parcel, few, next_life, port_param};
use serde::{Deserialize, Serialize};
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
    Sheet::new("causal-broadcast", Kind::Protocol, "Delivers a message only after all that its sender had broadcast or delivered before it, by vector clocks. Needs a broadcast that loses nothing. Provides broadcast.")
        .param(port_param("broadcast", "What carries its messages; the only other broadcast when left out."))
        .example("[[type.demo.protocol]]\nname = \"all\"\nclass = \"reliable-broadcast\"\n\n[[type.demo.protocol]]\nname = \"causal\"\nclass = \"causal-broadcast\"\nbroadcast = \"all\"")
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
        Box::new(CausalBroadcast::default())
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Msg { clock, parcel }) => ("CAUSAL".into(), format!("{clock:?} {}", few(&parcel.bytes))),
            Err(_) => ("DATA".into(), few(bytes)),
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Msg {
    clock: Vec<u64>,
    parcel: Parcel,
}

#[derive(Default, Serialize, Deserialize)]
struct CausalBroadcast {
    /// It has come back from a crash and does not know where the others are.
    lost: bool,
    /// Own messages so far.
    next: u64,
    /// How many messages of each robot it has delivered.
    delivered: Vec<u64>,
    /// Came too early: (sender, message).
    early: Vec<(u32, Msg)>,
}

impl CausalBroadcast {
    fn is_ready(&self, message: &Msg) -> bool {
        message.clock.iter().zip(&self.delivered).all(|(needs, has)| needs <= has)
    }
}

impl Microprotocol for CausalBroadcast {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.delivered = vec![0; cx.robots() as usize];
        self.lost = next_life(cx) > 0;
        if self.lost {
            cx.say("causal broadcast: back from a crash without its clock, it takes no part any more");
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Broadcast(ToAll(bytes)) = request else { return };
        if self.lost {
            return;
        }
        let mut clock = self.delivered.clone();
        clock[cx.me() as usize] = self.next;
        self.next += 1;
        cx.broadcast(BELOW, &Msg { clock, parcel: Parcel { user: user.0, bytes } });
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        let Ok(message) = from_bytes::<Msg>(&bytes) else { return };
        if self.lost || message.clock.len() != self.delivered.len() || from >= cx.robots() {
            return;
        }
        self.early.push((from, message));
        while let Some(k) = self.early.iter().position(|(_, m)| self.is_ready(m)) {
            let (from, Msg { parcel, .. }) = self.early.remove(k);
            self.delivered[from as usize] += 1;
            cx.indicate(User(parcel.user), Indication::Delivered { from, bytes: parcel.bytes });
        }
    }

    memory_is_serde!();
}
