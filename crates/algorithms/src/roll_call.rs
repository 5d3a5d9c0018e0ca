//! Roll call: every robot asks all others again and again whether they are there, and they answer.
//!
//! The smallest algorithm with messages in both directions: to try a network, its faults, and what displays
//! show of messages. A robot says who answered no later than its next call, and who did not.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::math;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, ServiceKind, Sheet, from_bytes, memory_is_serde,
};
use swarmyard_scene::Value;

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
enum Message {
    /// Is anybody there?
    Call(u64),
    /// I am, in this round.
    Here(u64),
}

#[derive(Clone, Serialize, Deserialize)]
struct RollCall {
    every_s: f64,
    round: u64,
    /// Who answered in this round.
    here: Vec<u32>,
}

impl RollCall {
    fn call(&mut self, cx: &mut Cx<'_>) {
        self.round += 1;
        self.here.clear();
        cx.send(LINK, cx.others(), &Message::Call(self.round));
        cx.set_timer(self.every_s);
    }
}

impl Microprotocol for RollCall {
    fn start(&mut self, cx: &mut Cx<'_>) {
        // Not all at the same moment.
        let wait = cx.chance().between(0, 0.0, self.every_s);
        cx.set_timer(wait);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        let missing = cx.others().into_iter().filter(|r| !self.here.contains(r)).count();
        if self.round > 0 && missing > 0 {
            cx.say(&format!("round {}: {missing} did not answer", self.round));
        }
        self.call(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        match from_bytes(&bytes) {
            Ok(Message::Call(round)) => cx.send_to(LINK, from, &Message::Here(round)),
            Ok(Message::Here(round)) if round == self.round && !self.here.contains(&from) => {
                self.here.push(from);
            }
            _ => {}
        }
    }

    memory_is_serde!();
}

struct Model {
    every_s: f64,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(RollCall { every_s: self.every_s, round: 0, here: Vec::new() })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Message::Call(round)) => ("CALL".into(), format!("round {round}")),
            Ok(Message::Here(round)) => ("HERE".into(), format!("round {round}")),
            Err(why) => ("?".into(), why),
        }
    }
}

/// The class `roll-call`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new(
        "roll-call",
        Kind::Algorithm,
        "Asks all other robots again and again whether they are there, and answers those that ask.",
    )
    .param(
        Param::new("every", ParamType::Number { unit: Unit::Second, min: 1e-3, max: 1e9 }, "Time between two calls.")
            .or(Value::Num(5.0)),
    )
    .param(Param::new("link", ParamType::Name("protocol"), "Who carries its messages; the network when left out."))
    .example("[network]\nclass = \"random\"\nmean = \"100ms\"\n\n[type.demo.algorithm]\nclass = \"roll-call\"\nevery = \"2s\"");
    Class::new(sheet, |params, _| {
        let every_s = math::max(params.num_or_none("every").unwrap_or(5.0), 1e-3);
        Ok(Built::Protocol(Arc::new(Model { every_s })))
    })
}
