//! Total order by Lamport's clocks.
//!
//! Every message carries its sender's clock. A robot delivers the message with the least (clock, sender) as
//! soon as it has heard something later from every other robot: nothing earlier can come then. Who gets a
//! message and has said nothing later answers with its clock, to all.
//!
//! - **Guarantees**: total order, FIFO per sender. As nobody delivers before everybody answered, a crash stops
//!   deliveries; it never changes their order.
//! - **Assumes**: no message is lost (put `reliable-link` below otherwise) and nobody crashes. Lamport's
//!   algorithm needs FIFO links; here messages are numbered per sender and put in order, so that links may
//!   reorder and duplicate.
//! - **Messages**: n−1 with the content and at most (n−1)² answers for one broadcast; fewer when several are
//!   under way, because a broadcast is an answer too. Two steps.
//! - **Model-checked** exhaustively with 3 robots and 2 messages, links that reorder, with and without a crash.

use super::ordering::{Inbox, Letter, asked, came_back};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
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
    Sheet::new("lamport-order", Kind::Protocol, "Total order broadcast by Lamport's clocks: a message is delivered when something later was heard from every robot. Needs reliable links and robots that do not crash; one that does stops all deliveries, but never changes their order.")
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"order\"\nclass = \"lamport-order\"")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(LamportOrder)))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters: it has none.
#[derive(Clone, Copy, Debug)]
struct LamportOrder;

impl ProtocolModel for LamportOrder {
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
            Ok(Message { number, clock, content: Some((_, bytes)) }) => {
                ("DATA".into(), format!("#{number} clock {clock} {} bytes", bytes.len()))
            }
            Ok(Message { number, clock, content: None }) => {
                ("CLOCK".into(), format!("#{number} clock {clock}"))
            }
            Err(why) => ("BAD".into(), why),
        }
    }
}

/// To all others: the sender's clock, and perhaps a message.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Message {
    number: u64,
    clock: u64,
    content: Option<(User, Vec<u8>)>,
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    retired: bool,
    clock: u64,
    /// Messages sent.
    sent: u64,
    /// Clock of the last of them.
    said: u64,
    /// Broadcasts of its own.
    own: u64,
    /// Last clock by robot.
    heard: BTreeMap<u32, u64>,
    /// What is not delivered yet, by clock and sender.
    queue: BTreeMap<(u64, u32), (User, Vec<u8>)>,
    inbox: Inbox<Message>,
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
        self.clock += 1;
        self.queue.insert((self.clock, cx.me()), (user, bytes.clone()));
        self.say(Some((user, bytes)), cx);
        self.deliver(cx);
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        let Ok(message) = from_bytes::<Message>(&bytes) else { return };
        if self.retired || from == cx.me() || from >= cx.robots() {
            return;
        }
        for message in self.inbox.put(from, message.number, message) {
            self.hear(from, message, cx);
        }
        self.deliver(cx);
    }

    memory_is_serde!();
}

impl Memory {
    fn say(&mut self, content: Option<(User, Vec<u8>)>, cx: &mut Cx<'_>) {
        let message = Message { number: self.sent, clock: self.clock, content };
        self.sent += 1;
        self.said = self.clock;
        if cx.robots() > 1 {
            cx.send(LINK, cx.others(), &message);
        }
    }

    fn hear(&mut self, from: u32, message: Message, cx: &mut Cx<'_>) {
        let Message { clock, content, .. } = message;
        self.clock = self.clock.max(clock).saturating_add(1);
        self.heard.insert(from, clock);
        if let Some(content) = content {
            self.queue.insert((clock, from), content);
            if (self.said, cx.me()) < (clock, from) {
                self.say(None, cx);
            }
        }
    }

    fn deliver(&mut self, cx: &mut Cx<'_>) {
        while let Some((&(clock, origin), _)) = self.queue.first_key_value() {
            let later = |r: u32| (self.heard.get(&r).copied().unwrap_or(0), r) >= (clock, origin);
            if !cx.others().into_iter().all(later) {
                return;
            }
            if let Some((_, (user, bytes))) = self.queue.pop_first() {
                Letter { origin, number: 0, user, bytes }.deliver(cx);
            }
        }
    }
}
