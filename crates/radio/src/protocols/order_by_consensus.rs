//! Total order by consensus, as Chandra and Toueg reduce one to the other.
//!
//! Messages go to all by a reliable broadcast. Robots agree, instance after instance, on the next batch of
//! messages; each batch is delivered in the order of (sender, number). The batch carries the messages
//! themselves, so that who did not get one by the broadcast gets it by the decision.
//!
//! - **Guarantees**: those of the consensus below: with a uniform one, uniform total order; it goes on as long as
//!   consensus does, whoever crashes. Not FIFO, unless the broadcast below is.
//! - **Assumes**: a reliable broadcast (what one robot that does not crash delivers, all do), and consensus.
//! - **Messages**: those of one reliable broadcast per message, and of one consensus per batch.
//! - **Model-checked** with 3 robots and 2 messages over a consensus that is one robot's word, and over `chandra-toueg`, with
//!   a crash; with 1 message also over `mostefaoui-raynal`, and over a detector that doubts the first coordinator.

use super::ordering::{Letter, Seen, asked, came_back};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Broadcast, Built, Class, Consensus, Cx, Indication, Kind, Microprotocol, Param, ParamType, PortSpec,
    Propose, ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes,
    memory_is_serde, to_bytes,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("order-by-consensus", Kind::Protocol, "Total order broadcast by consensus on the next batch of messages (Chandra and Toueg). Goes on when robots crash, as long as the consensus below does.")
        .param(Param::new("batch", ParamType::Int { min: 1, max: 100_000 }, "How many messages one decision may hold.").or(Value::Int(64)))
        .param(Param::new("broadcast", ParamType::Name("protocol"), "Provider of the reliable broadcast; the only one there is when left out."))
        .param(Param::new("consensus", ParamType::Name("protocol"), "Provider of consensus; the only one there is when left out."))
        .example("[[type.demo.protocol]]\nname = \"detector\"\nclass = \"heartbeat\"\n\n[[type.demo.protocol]]\nname = \"consensus\"\nclass = \"chandra-toueg\"\n\n[[type.demo.protocol]]\nname = \"spread\"\nclass = \"reliable-broadcast\"\n\n[[type.demo.protocol]]\nname = \"order\"\nclass = \"order-by-consensus\"\nbroadcast = \"spread\"\nconsensus = \"consensus\"")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let batch = usize::try_from(params.int("batch")).unwrap_or(1);
    Ok(Built::Protocol(Arc::new(OrderByConsensus { batch })))
}

const BROADCAST: ProtocolPort<Broadcast> = ProtocolPort::new(0);
const CONSENSUS: ProtocolPort<Consensus> = ProtocolPort::new(1);

/// The class with its parameters.
#[derive(Clone, Copy, Debug)]
struct OrderByConsensus {
    /// How many messages one decision may hold.
    pub batch: usize,
}

impl ProtocolModel for OrderByConsensus {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![
            PortSpec::new("broadcast", ServiceKind::Broadcast),
            PortSpec::new("consensus", ServiceKind::Consensus),
        ]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory { batch: self.batch as u64, ..Memory::default() })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Letter>(bytes) {
            Ok(letter) => ("DATA".into(), letter.words()),
            Err(why) => ("BAD".into(), why),
        }
    }
}

#[derive(Default, Serialize, Deserialize)]
struct Memory {
    retired: bool,
    batch: u64,
    sent: u64,
    /// Not delivered yet, by (sender, number).
    pending: BTreeMap<(u32, u64), Letter>,
    done: Seen,
    /// The instance that is decided next.
    instance: u64,
    /// Whether this robot has proposed in it.
    proposed: bool,
    /// Decisions that came before their turn.
    early: BTreeMap<u64, Vec<Letter>>,
}

impl Microprotocol for Memory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.retired = came_back(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Some(bytes) = asked(request) else { return };
        if !self.retired {
            let letter = Letter { origin: cx.me(), number: self.sent, user, bytes };
            self.sent += 1;
            cx.broadcast(BROADCAST, &letter);
        }
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        if self.retired {
            return;
        }
        match what {
            Indication::Delivered { from, bytes } => {
                if let Ok(letter) = from_bytes::<Letter>(&bytes)
                    && letter.origin == from
                    && !self.done.has(from, letter.number)
                {
                    self.pending.insert((from, letter.number), letter);
                }
            }
            Indication::Decided { instance, value } if instance >= self.instance => {
                // A value that is no batch was proposed by somebody else: nothing of it is ours.
                self.early.insert(instance, from_bytes(&value).unwrap_or_default());
                while let Some(batch) = self.early.remove(&self.instance) {
                    self.instance += 1;
                    self.proposed = false;
                    self.deliver(batch, cx);
                }
            }
            _ => {}
        }
        self.propose(cx);
    }

    memory_is_serde!();
}

impl Memory {
    fn deliver(&mut self, mut batch: Vec<Letter>, cx: &mut Cx<'_>) {
        batch.sort_by_key(|p| (p.origin, p.number));
        for letter in batch {
            self.pending.remove(&(letter.origin, letter.number));
            if self.done.add(letter.origin, letter.number) {
                letter.deliver(cx);
            }
        }
    }

    fn propose(&mut self, cx: &mut Cx<'_>) {
        if self.proposed || self.pending.is_empty() {
            return;
        }
        self.proposed = true;
        let batch: Vec<&Letter> = self.pending.values().take(self.batch as usize).collect();
        cx.request(CONSENSUS, Propose { instance: self.instance, value: to_bytes(&batch).into() });
    }
}
