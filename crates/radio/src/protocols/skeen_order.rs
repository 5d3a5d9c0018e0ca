//! Total order by agreement of the destinations: Skeen's algorithm.
//!
//! The sender asks all robots for a time stamp; each answers with its clock; the sender takes the greatest and
//! tells all. A robot delivers the message with the least stamp as soon as that stamp is final: stamps that
//! are not final yet can only grow.
//!
//! - **Guarantees**: total order. Not FIFO: two messages of one sender may change places, the same way
//!   everywhere. A crash can stop deliveries; it never changes their order.
//! - **Assumes**: no message is lost (put `reliable-link` below otherwise) and nobody crashes. Links may reorder
//!   and duplicate.
//! - **Messages**: 3(n−1) for one broadcast. Three steps.
//! - **Model-checked** exhaustively with 3 robots and 2 messages, links that reorder, with and without a crash.

use super::ordering::{Letter, Seen, asked, came_back};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("skeen-order", Kind::Protocol, "Total order broadcast by agreement of the destinations (Skeen): every robot proposes a time stamp, the greatest counts. Cheap, 3(n-1) messages; needs reliable links and robots that do not crash.")
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"order\"\nclass = \"skeen-order\"")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(SkeenOrder)))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters: it has none.
#[derive(Clone, Copy, Debug)]
struct SkeenOrder;

impl ProtocolModel for SkeenOrder {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory::default())
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Message>(bytes) {
            Ok(Message::Data { number, bytes, .. }) => {
                ("DATA".into(), format!("#{number} {} bytes", bytes.len()))
            }
            Ok(Message::Proposal { number, clock }) => {
                ("PROPOSAL".into(), format!("#{number} clock {clock}"))
            }
            Ok(Message::Final { number, stamp }) => {
                ("FINAL".into(), format!("#{number} clock {} of {}", stamp.0, stamp.1))
            }
            Err(why) => ("BAD".into(), why),
        }
    }
}

/// Clock, and whose it was. No two messages get the same one, as nobody proposes a clock twice.
type Stamp = (u64, u32);

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Message {
    Data { number: u64, user: User, bytes: Vec<u8> },
    Proposal { number: u64, clock: u64 },
    Final { number: u64, stamp: Stamp },
}

#[derive(Serialize, Deserialize)]
struct Waiting {
    stamp: Stamp,
    is_final: bool,
    user: User,
    bytes: Vec<u8>,
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    retired: bool,
    clock: u64,
    sent: u64,
    /// Own messages: the greatest stamp so far, and who has not answered.
    asking: BTreeMap<u64, (Stamp, BTreeSet<u32>)>,
    /// By (sender, number).
    queue: BTreeMap<(u32, u64), Waiting>,
    done: Seen,
}

impl Microprotocol for Memory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.retired = came_back(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Some(bytes) = asked(request) else { return };
        if self.retired {
            return;
        }
        let number = self.sent;
        self.sent += 1;
        let stamp = self.wait((cx.me(), number), user, bytes.clone(), cx);
        if cx.robots() > 1 {
            cx.send(LINK, cx.others(), &Message::Data { number, user, bytes });
        }
        self.asking.insert(number, (stamp, cx.others().into_iter().collect()));
        self.settle(number, cx);
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if self.retired || from == cx.me() || from >= cx.robots() {
            return;
        }
        match from_bytes(&bytes) {
            Ok(Message::Data { number, user, bytes }) => {
                let id = (from, number);
                if !self.queue.contains_key(&id) && !self.done.has(from, number) {
                    let (clock, _) = self.wait(id, user, bytes, cx);
                    cx.send_to(LINK, from, &Message::Proposal { number, clock });
                }
            }
            Ok(Message::Proposal { number, clock }) => {
                if let Some((best, missing)) = self.asking.get_mut(&number)
                    && missing.remove(&from)
                {
                    *best = (*best).max((clock, from));
                    self.settle(number, cx);
                }
            }
            Ok(Message::Final { number, stamp }) => self.fix((from, number), stamp, cx),
            Err(_) => {}
        }
    }

    memory_is_serde!();
}

impl Memory {
    /// Puts a message into the queue; answers the stamp this robot proposes for it.
    fn wait(&mut self, id: (u32, u64), user: User, bytes: Vec<u8>, cx: &Cx<'_>) -> Stamp {
        self.clock = self.clock.saturating_add(1);
        let stamp = (self.clock, cx.me());
        self.queue.insert(id, Waiting { stamp, is_final: false, user, bytes });
        stamp
    }

    /// Tells all the stamp of an own message, when everybody has answered.
    fn settle(&mut self, number: u64, cx: &mut Cx<'_>) {
        if self.asking.get(&number).is_some_and(|(_, missing)| missing.is_empty())
            && let Some((stamp, _)) = self.asking.remove(&number)
        {
            if cx.robots() > 1 {
                cx.send(LINK, cx.others(), &Message::Final { number, stamp });
            }
            self.fix((cx.me(), number), stamp, cx);
        }
    }

    fn fix(&mut self, id: (u32, u64), stamp: Stamp, cx: &mut Cx<'_>) {
        self.clock = self.clock.max(stamp.0);
        if let Some(waiting) = self.queue.get_mut(&id) {
            (waiting.stamp, waiting.is_final) = (stamp, true);
        }
        while let Some((&id, first)) = self.queue.iter().min_by_key(|(_, w)| w.stamp) {
            if !first.is_final {
                return;
            }
            if let Some(Waiting { user, bytes, .. }) = self.queue.remove(&id) {
                self.done.add(id.0, id.1);
                Letter { origin: id.0, number: id.1, user, bytes }.deliver(cx);
            }
        }
    }
}
