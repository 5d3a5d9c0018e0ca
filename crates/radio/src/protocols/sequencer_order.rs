//! Total order by a fixed sequencer.
//!
//! Messages go to one robot, which gives each the next place and sends it to all. Everybody delivers by place.
//! With `uniform`, who gets a message with its place passes it on to all, and delivers it when most robots are
//! known to have it.
//!
//! - **Guarantees**: total order, FIFO per sender; agreement while the sequencer does not crash. With `uniform`
//!   also uniform agreement: what even a robot that crashes has delivered, all others deliver too.
//! - **Assumes**: no message between robots that do not crash is lost (put `reliable-link` below otherwise). The
//!   sequencer must not crash for anything new to be delivered; others may, with `uniform` fewer than half.
//!   Links may reorder and duplicate. There is no fail-over: see `order-by-consensus`.
//! - **Messages**: 1 + (n−1) for one broadcast, one fewer when the sequencer itself sends; two steps. With `uniform`
//!   (n−1)² more, and three steps.
//! - **Model-checked** exhaustively with 3 robots, 2 messages, both kinds, links that reorder, one crash.

use super::ordering::{Inbox, Letter, Places, asked, came_back};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Class, Company, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("sequencer-order", Kind::Protocol, "Total order broadcast by a fixed sequencer: one robot numbers all messages. The cheapest, n messages; everything rests on that one robot.")
        .param(Param::new("sequencer", ParamType::Int { min: 0, max: 1_000_000 }, "Number of the robot that gives the places.").or(Value::Int(0)))
        .param(Param::new("uniform", ParamType::Bool, "Whether a message is delivered only when most robots have it, so that what a crashed robot delivered is delivered by all.").or(Value::Bool(false)))
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"order\"\nclass = \"sequencer-order\"\nuniform = true")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let sequencer = u32::try_from(params.int("sequencer")).unwrap_or(0);
    Ok(Built::Protocol(Arc::new(SequencerOrder { sequencer, uniform: params.bool("uniform") })))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters.
#[derive(Clone, Copy, Debug)]
struct SequencerOrder {
    /// Who gives the places.
    pub sequencer: u32,
    /// Whether to wait until most robots have a message.
    pub uniform: bool,
}

impl ProtocolModel for SequencerOrder {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn misfits(&self, company: &Company<'_>) -> Vec<(&'static str, Diagnostic)> {
        company.stranger("sequencer", self.sequencer).map(|d| ("sequencer", d)).into_iter().collect()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory {
            sequencer: self.sequencer,
            retired: false,
            sent: 0,
            given: 0,
            inbox: Inbox::default(),
            places: Places::new(self.uniform),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Message>(bytes) {
            Ok(Message::Ask(letter)) => ("ASK".into(), letter.words()),
            Ok(Message::Order(place, letter)) => {
                ("ORDER".into(), format!("place {place}: {}", letter.words()))
            }
            Ok(Message::Have(place, letter)) => ("HAVE".into(), format!("place {place}: {}", letter.words())),
            Err(why) => ("BAD".into(), why),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
enum Message {
    /// To the sequencer: wants a place.
    Ask(Letter),
    /// From the sequencer to all: has this place.
    Order(u64, Letter),
    /// From anybody to all: has got it in this place.
    Have(u64, Letter),
}

#[derive(Serialize, Deserialize)]
struct Memory {
    sequencer: u32,
    retired: bool,
    sent: u64,
    /// Of the sequencer: places given so far.
    given: u64,
    /// Of the sequencer: what asked for a place.
    inbox: Inbox<Letter>,
    places: Places,
}

impl Microprotocol for Memory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.retired = came_back(cx);
        self.sequencer = self.sequencer.min(cx.robots() - 1);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Some(bytes) = asked(request) else { return };
        if self.retired {
            return;
        }
        let letter = Letter { origin: cx.me(), number: self.sent, user, bytes };
        self.sent += 1;
        if self.sequencer == cx.me() {
            self.order(letter, cx);
        } else {
            cx.send_to(LINK, self.sequencer, &Message::Ask(letter));
        }
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if self.retired || from == cx.me() || from >= cx.robots() {
            return;
        }
        match from_bytes(&bytes) {
            Ok(Message::Ask(letter)) if self.sequencer == cx.me() && letter.origin == from => {
                for letter in self.inbox.put(from, letter.number, letter) {
                    self.order(letter, cx);
                }
            }
            Ok(Message::Order(place, letter)) if from == self.sequencer => {
                self.have(place, letter, from, cx);
            }
            Ok(Message::Have(place, letter)) => self.have(place, letter, from, cx),
            _ => {}
        }
    }

    memory_is_serde!();
}

impl Memory {
    /// The sequencer gives a message the next place.
    fn order(&mut self, letter: Letter, cx: &mut Cx<'_>) {
        let place = self.given;
        self.given += 1;
        if cx.robots() > 1 {
            cx.send(LINK, cx.others(), &Message::Order(place, letter.clone()));
        }
        self.places.put(place, letter, cx.me(), cx);
    }

    fn have(&mut self, place: u64, letter: Letter, from: u32, cx: &mut Cx<'_>) {
        if self.places.put(place, letter.clone(), from, cx) {
            cx.send(LINK, cx.others(), &Message::Have(place, letter));
        }
    }
}
