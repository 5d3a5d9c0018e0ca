//! `uniform-broadcast`: what any robot delivers, even one that crashes right after, all others deliver too.
//!
//! Whoever gets a message for the first time sends it to all; it is delivered when enough robots were heard to
//! have it. `majority`: more than half of all. `all`: every robot that a failure detector does not suspect.
//!
//! Guarantees (link reliable): validity, integrity, uniform agreement; with `majority` as long as more than half
//! of the robots do not crash (else messages may wait for ever); with `all` whoever crashes, if the detector is
//! perfect — a detector that suspects wrongly makes `all` lose uniformity. No order is promised.
//!
//! Cost: n(n − 1) messages, two steps. Memory: messages that are not delivered yet, and numbers.
//! Model-checked in `tests/model/broadcasts.rs`: majority, 3 robots, 2 messages, 1 crash at any moment; all, the same with a
//! detector that is never wrong, and 1 message with 2 crashes.

use super::common::{Parcel, Seen, Stamp, few, next_life, port_param};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Request, ServiceKind, Sheet, ToAll, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("uniform-broadcast", Kind::Protocol, "What any robot delivers, even one that crashes right after, all that do not crash deliver as well. Needs a link that loses nothing. Provides broadcast.")
        .param(port_param("link", "What carries its messages; the network when left out."))
        .param(port_param("detector", "Who says which robots have failed; needed by `all`."))
        .param(Param::new("wait_for", ParamType::Choice(&["majority", "all"]), "Who must have a message before it is delivered: more than half of all robots, or all that are not suspected.").or_text("majority"))
        .example("[[type.demo.protocol]]\nname = \"all\"\nclass = \"uniform-broadcast\"")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(Model { all: params.text("wait_for") == "all" })))
}

struct Model {
    all: bool,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = vec![PortSpec::new("link", ServiceKind::Link)];
        if self.all {
            ports.push(PortSpec::new("detector", ServiceKind::Detector));
        }
        ports
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(UniformBroadcast { all: self.all, ..UniformBroadcast::default() })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Msg { stamp, parcel }) => {
                ("URBCAST".into(), format!("p{} {} {}", stamp.origin, stamp.number, few(&parcel.bytes)))
            }
            Err(_) => ("DATA".into(), few(bytes)),
        }
    }
}

/// The message itself; whoever sends it has it.
#[derive(Serialize, Deserialize)]
struct Msg {
    stamp: Stamp,
    parcel: Parcel,
}

#[derive(Default, Serialize, Deserialize)]
struct UniformBroadcast {
    all: bool,
    life: u32,
    next: u64,
    delivered: BTreeMap<(u32, u32), Seen>,
    /// Not delivered yet, and who has it.
    waiting: BTreeMap<Stamp, (Parcel, BTreeSet<u32>)>,
    suspected: BTreeSet<u32>,
}

impl UniformBroadcast {
    fn received(&mut self, from: u32, Msg { stamp, parcel }: Msg, cx: &mut Cx<'_>) {
        let done = self.delivered.entry((stamp.origin, stamp.life)).or_default();
        if stamp.origin >= cx.robots() || done.contains(stamp.number) {
            return;
        }
        if !self.waiting.contains_key(&stamp) {
            let others = cx.others();
            cx.send(LINK, others, &Msg { stamp, parcel: parcel.clone() });
        }
        let me = cx.me();
        let (_, has) = self.waiting.entry(stamp).or_insert_with(|| (parcel, BTreeSet::from([me])));
        has.extend([from, stamp.origin]);
        self.deliver(cx);
    }

    /// Delivers what enough robots have.
    fn deliver(&mut self, cx: &mut Cx<'_>) {
        let (all, suspected, robots) = (self.all, &self.suspected, cx.robots());
        let enough = |has: &BTreeSet<u32>| {
            if all {
                (0..robots).all(|r| has.contains(&r) || suspected.contains(&r))
            } else {
                has.len() > robots as usize / 2
            }
        };
        let ready: Vec<Stamp> = self.waiting.iter().filter(|w| enough(&w.1.1)).map(|w| *w.0).collect();
        for stamp in ready {
            let Some((parcel, _)) = self.waiting.remove(&stamp) else { continue };
            self.delivered.entry((stamp.origin, stamp.life)).or_default().insert(stamp.number);
            cx.indicate(User(parcel.user), Indication::Delivered { from: stamp.origin, bytes: parcel.bytes });
        }
    }
}

impl Microprotocol for UniformBroadcast {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.life = next_life(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Broadcast(ToAll(bytes)) = request else { return };
        let stamp = Stamp { origin: cx.me(), life: self.life, number: self.next };
        self.next += 1;
        // What it sends itself it gets like any other, and that is when the others get it.
        self.received(cx.me(), Msg { stamp, parcel: Parcel { user: user.0, bytes } }, cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Delivered { from, bytes } => {
                if let Ok(message) = from_bytes(&bytes) {
                    self.received(from, message, cx);
                }
            }
            Indication::Suspected(robot) => {
                self.suspected.insert(robot);
                self.deliver(cx);
            }
            Indication::Trusted(robot) => {
                self.suspected.remove(&robot);
            }
            _ => {}
        }
    }

    memory_is_serde!();
}
