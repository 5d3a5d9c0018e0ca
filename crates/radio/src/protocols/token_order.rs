//! Total order by a privilege: only who holds the token may number messages, and it numbers its own.
//!
//! The token goes round from robot to robot and carries the next free place. Its holder sends what it has,
//! each with a place, to all, and passes the token on; when it has nothing, after a while. Everybody delivers
//! by place. With `uniform`, who gets a message passes it on to all and delivers it when most robots are known
//! to have it.
//!
//! - **Guarantees**: total order, FIFO per sender; with `uniform` also uniform agreement.
//! - **Assumes**: no message between robots that do not crash is lost (put `reliable-link` below otherwise). When
//!   the holder crashes the token is gone, and nothing new is delivered; the order stays. With `uniform` fewer
//!   than half crash. Links may reorder and duplicate.
//! - **Messages**: n−1 for one broadcast, with `uniform` (n−1)² more; and one for each pass of the token, also when
//!   there is nothing to say. One step once the token is there; it takes up to n−1 passes.
//! - **Model-checked** with 3 robots and 2 messages to a depth of 24 steps (the token never rests), links that reorder.
//!   With `uniform` also with 3 robots, one message and one crash, until the token has been passed on three times.

use super::ordering::{Letter, Places, Token, Turn, asked, came_back};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
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
    Sheet::new("token-order", Kind::Protocol, "Total order broadcast by a token that goes round: who holds it sends its messages with the next places. Fair under load; the token moves even when nobody has anything to say.")
        .param(Param::number("hold", Unit::Second, "How long a robot keeps the token when it has nothing to send.").within(0.0, 3600.0).or_num(0.01))
        .param(Param::new("uniform", ParamType::Bool, "Whether a message is delivered only when most robots have it, so that what a crashed robot delivered is delivered by all.").or(Value::Bool(false)))
        .param(Param::new("link", ParamType::Name("protocol"), "Provider of the link; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"order\"\nclass = \"token-order\"\nhold = \"20ms\"")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let model = TokenOrder { hold_s: params.num("hold"), uniform: params.bool("uniform") };
    Ok(Built::Protocol(Arc::new(model)))
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class with its parameters.
#[derive(Clone, Copy, Debug)]
struct TokenOrder {
    /// How long a robot with nothing to send keeps the token, s.
    pub hold_s: f64,
    /// Whether to wait until most robots have a message.
    pub uniform: bool,
}

impl ProtocolModel for TokenOrder {
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
            pending: VecDeque::new(),
            turn: Turn::default(),
            places: Places::new(self.uniform),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes::<Message>(bytes) {
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
    Token(Token),
    Order(u64, Letter),
    Have(u64, Letter),
}

#[derive(Serialize, Deserialize)]
struct Memory {
    hold_s: f64,
    retired: bool,
    sent: u64,
    pending: VecDeque<Letter>,
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
        if !self.retired {
            self.pending.push_back(Letter { origin: cx.me(), number: self.sent, user, bytes });
            self.sent += 1;
            self.work(cx);
        }
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        if self.retired || from == cx.me() || from >= cx.robots() {
            return;
        }
        match from_bytes(&bytes) {
            Ok(Message::Token(token)) => self.take(token, cx),
            Ok(Message::Order(place, letter) | Message::Have(place, letter))
                if self.places.put(place, letter.clone(), from, cx) =>
            {
                cx.send(LINK, cx.others(), &Message::Have(place, letter));
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
        if self.pending.is_empty() {
            self.turn.hold(self.hold_s, cx);
        }
        self.work(cx);
    }

    /// Sends what there is, if it may, and passes the token on.
    fn work(&mut self, cx: &mut Cx<'_>) {
        let Some(mut token) = self.turn.token else { return };
        if self.pending.is_empty() {
            return;
        }
        while let Some(letter) = self.pending.pop_front() {
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
