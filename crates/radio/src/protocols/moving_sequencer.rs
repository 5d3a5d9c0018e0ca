//! Total order by a sequencer that moves from robot to robot.
//!
//! Messages go to all. A token goes round and carries the next free place; who holds it waits until it knows
//! all places given before, gives the next ones to every message it has that has none, tells all, and passes
//! the token on; when there is nothing, after a while. Everybody delivers by place. With `uniform`, who learns
//! of a place passes it on to all and delivers when most robots are known to have it.
//!
//! - **Guarantees**: total order, FIFO per sender; with `uniform` also uniform agreement.
//! - **Assumes**: no message between robots that do not crash is lost (put `reliable-link` below otherwise). When
//!   the holder crashes the token is gone, and nothing new is delivered; the order stays. With `uniform` fewer
//!   than half crash. Links may reorder and duplicate.
//! - **Messages**: 2(n−1) for one broadcast, with `uniform` (n−1)² more; and one for each pass of the token. The
//!   work of numbering is shared by all, and a message waits for the next pass only, not for its own turn.
//! - **Model-checked** with 3 robots and 2 messages to a depth of 16 steps (the token never rests), links that reorder.
//!   With `uniform` also with 3 robots, one message and one crash, until the token has been passed on three times.

use super::ordering::{Inbox, Letter, Places, Seen, Token, Turn, asked, came_back};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("moving-sequencer", Kind::Protocol, "Total order broadcast by a sequencer that moves: a token goes round, and who holds it numbers all messages it knows. Shares the work of a fixed sequencer among all robots.")
        .param(Param::number("hold", Unit::Second, "How long a robot keeps the token when there is nothing to number.").within(0.0, 3600.0).or_num(0.01))
        .param(Param::new("uniform", ParamType::Bool, "Whether a message is delivered only when most robots have it, so that what a crashed robot delivered is delivered by all.").or(Value::Bool(false)))
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"order\"\nclass = \"moving-sequencer\"\nhold = \"20ms\"")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let model = MovingSequencer { hold_s: params.num("hold"), uniform: params.bool("uniform") };
    Ok(Built::Protocol(Arc::new(model)))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters.
#[derive(Clone, Copy, Debug)]
struct MovingSequencer {
    /// How long a robot keeps the token when there is nothing to number, s.
    pub hold_s: f64,
    /// Whether to wait until most robots have a message.
    pub uniform: bool,
}

impl ProtocolModel for MovingSequencer {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Memory {
            hold_s: self.hold_s,
            retired: false,
            sent: 0,
            inbox: Inbox::default(),
            unplaced: BTreeMap::new(),
            placed: Seen::default(),
            turn: Turn::default(),
            places: Places::new(self.uniform),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Message>(bytes) {
            Ok(Message::Data(letter)) => ("DATA".into(), letter.words()),
            Ok(Message::Token(token)) => ("TOKEN".into(), token.words()),
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
    Data(Letter),
    Token(Token),
    Order(u64, Letter),
    Have(u64, Letter),
}

#[derive(Serialize, Deserialize)]
struct Memory {
    hold_s: f64,
    retired: bool,
    sent: u64,
    inbox: Inbox<Letter>,
    /// Messages without a place, as far as is known here.
    unplaced: BTreeMap<(u32, u64), Letter>,
    /// Messages with a place.
    placed: Seen,
    turn: Turn,
    places: Places,
}

impl Microprotocol for Memory {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.retired = came_back(cx);
        if cx.me() == 0 && !self.retired {
            self.take(Token::FIRST, cx);
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Some(bytes) = asked(request) else { return };
        if self.retired {
            return;
        }
        let letter = Letter { origin: cx.me(), number: self.sent, user, bytes };
        self.sent += 1;
        if cx.robots() > 1 {
            cx.send(LINK, cx.others(), &Message::Data(letter.clone()));
        }
        self.unplaced.insert((letter.origin, letter.number), letter);
        self.work(cx);
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if self.retired || from == cx.me() || from >= cx.robots() {
            return;
        }
        match from_bytes(&bytes) {
            Ok(Message::Data(letter)) if letter.origin == from => {
                for letter in self.inbox.put(from, letter.number, letter) {
                    if !self.placed.has(from, letter.number) {
                        self.unplaced.insert((from, letter.number), letter);
                    }
                }
                self.work(cx);
            }
            Ok(Message::Token(token)) => self.take(token, cx),
            Ok(Message::Order(place, letter) | Message::Have(place, letter)) => {
                self.note(&letter);
                if self.places.put(place, letter.clone(), from, cx) {
                    cx.send(LINK, cx.others(), &Message::Have(place, letter));
                }
                self.work(cx);
            }
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.turn.is_over(timer) {
            self.pass_on(cx);
        }
    }

    memory_is_serde!();
}

impl Memory {
    fn take(&mut self, token: Token, cx: &mut Cx<'_>) {
        if !self.turn.take(token) {
            return;
        }
        self.work(cx);
        if self.turn.token.is_some() {
            self.turn.hold(self.hold_s, cx);
        }
    }

    /// A message has its place.
    fn note(&mut self, letter: &Letter) {
        self.placed.add(letter.origin, letter.number);
        self.unplaced.remove(&(letter.origin, letter.number));
    }

    /// Gives places to all that have none, if it may, and passes the token on.
    ///
    /// Why it must know all earlier places: else it could give a second one to the same message.
    fn work(&mut self, cx: &mut Cx<'_>) {
        let Some(mut token) = self.turn.token else { return };
        if self.unplaced.is_empty() || self.places.first_unknown() < token.place {
            return;
        }
        while let Some((_, letter)) = self.unplaced.pop_first() {
            self.note(&letter);
            if cx.robots() > 1 {
                cx.send(LINK, cx.others(), &Message::Order(token.place, letter.clone()));
            }
            self.places.put(token.place, letter, cx.me(), cx);
            token.place += 1;
        }
        self.turn.token = Some(token);
        self.pass_on(cx);
    }

    fn pass_on(&mut self, cx: &mut Cx<'_>) {
        if let Some((next, token)) = self.turn.pass_on(cx) {
            cx.send_to(LINK, next, &Message::Token(token));
        }
    }
}
