//! `reliable-broadcast`: all robots that do not crash deliver the same messages.
//!
//! `eager`: whoever gets a message for the first time passes it on to all others, then delivers it. `lazy`:
//! a message is passed on only when its sender is suspected by a failure detector; until then it is kept.
//!
//! Guarantees (link reliable; for `lazy` the detector complete): validity, integrity, agreement, whoever crashes.
//! *Not* uniform: a robot may deliver, crash, and nobody else ever delivers. No order is promised.
//!
//! Cost: eager (n − 1)² messages at most, one step for the first delivery; lazy n − 1 messages unless somebody is
//! suspected. Memory: eager keeps numbers only; lazy keeps every message until all robots say they have it, which
//! they do every `forget` seconds (0 means never: then it keeps all). A crashed robot says nothing any more, so
//! from then on lazy keeps all.
//! Model-checked in `tests/model/broadcasts.rs`: eager, 3 robots, 3 messages of two of them, 1 crash at any moment, messages of
//! the crashed robot lost or not; lazy, the same with 2 messages, whose senders are suspected at any moment.

use super::common::{Parcel, Seen, Stamp, few, next_life, port_param};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
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
    Sheet::new("reliable-broadcast", Kind::Protocol, "All robots that do not crash deliver the same messages, even those of a robot that crashed on the way. Needs a link that loses nothing. Provides broadcast.")
        .param(port_param("link", "What carries its messages; the network when left out."))
        .param(port_param("detector", "Who says which robots seem to have failed; needed by `lazy`."))
        .param(Param::new("mode", ParamType::Choice(&["eager", "lazy"]), "Whether everybody passes on every message, or only those of robots that seem to have failed.").or_text("eager"))
        .param(Param::number("forget", Unit::Second, "Lazy: how often robots tell each other what they have, so that it can be forgotten; 0 means never.").within(0.0, 3600.0).or_num(0.0))
        .example("[[type.demo.protocol]]\nname = \"all\"\nclass = \"reliable-broadcast\"")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(Model {
        lazy: params.text("mode") == "lazy",
        forget_s: params.num("forget"),
    })))
}

struct Model {
    lazy: bool,
    forget_s: f64,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        let mut ports = vec![PortSpec::new("link", ServiceKind::Link)];
        if self.lazy {
            ports.push(PortSpec::new("detector", ServiceKind::Detector));
        }
        ports
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(ReliableBroadcast {
            lazy: self.lazy,
            forget_s: self.forget_s,
            ..ReliableBroadcast::default()
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Msg::Data { stamp, parcel }) => {
                ("RBCAST".into(), format!("p{} {} {}", stamp.origin, stamp.number, few(&parcel.bytes)))
            }
            Ok(Msg::Have(floors)) => ("HAVE".into(), format!("{floors:?}")),
            Err(_) => ("DATA".into(), few(bytes)),
        }
    }
}

#[derive(Serialize, Deserialize)]
enum Msg {
    Data {
        stamp: Stamp,
        parcel: Parcel,
    },
    /// The sender has all below these numbers: (origin, life, number).
    Have(Vec<(u32, u32, u64)>),
}

#[derive(Default, Serialize, Deserialize)]
struct ReliableBroadcast {
    lazy: bool,
    forget_s: f64,
    life: u32,
    next: u64,
    /// What was delivered, by origin and life.
    seen: BTreeMap<(u32, u32), Seen>,
    suspected: BTreeSet<u32>,
    /// Lazy: what may have to be passed on.
    kept: BTreeMap<Stamp, Parcel>,
    /// Lazy: by robot and (origin, life), below which number it has all.
    have: BTreeMap<u32, BTreeMap<(u32, u32), u64>>,
}

impl ReliableBroadcast {
    fn received(&mut self, from: u32, stamp: Stamp, parcel: Parcel, cx: &mut Cx<'_>) {
        let seen = self.seen.entry((stamp.origin, stamp.life)).or_default();
        if stamp.origin >= cx.robots() || !seen.insert(stamp.number) {
            return;
        }
        if !self.lazy || self.suspected.contains(&stamp.origin) {
            // Passed on before it is delivered: who delivers and lives has told the others.
            pass_on(stamp, &parcel, from, cx);
        }
        if self.lazy {
            self.kept.insert(stamp, parcel.clone());
        }
        cx.indicate(User(parcel.user), Indication::Delivered { from: stamp.origin, bytes: parcel.bytes });
    }

    /// Forgets what everybody has.
    fn forget(&mut self, robots: u32) {
        let have = &self.have;
        let everybody = |s: &Stamp| {
            let has =
                |r| have.get(&r).and_then(|h| h.get(&(s.origin, s.life))).is_some_and(|n| s.number < *n);
            (0..robots).all(has)
        };
        self.kept.retain(|stamp, _| !everybody(stamp));
    }
}

/// Passes a message on to those who need not have it; who sent it first has told everybody already.
fn pass_on(stamp: Stamp, parcel: &Parcel, from: u32, cx: &mut Cx<'_>) {
    if stamp.origin == cx.me() {
        return;
    }
    let others: Vec<u32> = cx.others().into_iter().filter(|r| *r != stamp.origin && *r != from).collect();
    if !others.is_empty() {
        cx.send(LINK, others, &Msg::Data { stamp, parcel: parcel.clone() });
    }
}

impl Microprotocol for ReliableBroadcast {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.life = next_life(cx);
        if self.lazy && self.forget_s > 0.0 {
            cx.set_timer(self.forget_s);
        }
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Broadcast(ToAll(bytes)) = request else { return };
        let stamp = Stamp { origin: cx.me(), life: self.life, number: self.next };
        self.next += 1;
        cx.send(LINK, cx.all(), &Msg::Data { stamp, parcel: Parcel { user: user.0, bytes } });
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Delivered { from, bytes } => match from_bytes(&bytes) {
                Ok(Msg::Data { stamp, parcel }) => self.received(from, stamp, parcel, cx),
                Ok(Msg::Have(floors)) => {
                    self.have.insert(from, floors.into_iter().map(|(o, l, n)| ((o, l), n)).collect());
                    self.forget(cx.robots());
                }
                Err(_) => {}
            },
            Indication::Suspected(robot) => {
                self.suspected.insert(robot);
                for (stamp, parcel) in self.kept.iter().filter(|k| k.0.origin == robot) {
                    pass_on(*stamp, parcel, cx.me(), cx);
                }
            }
            Indication::Trusted(robot) => {
                self.suspected.remove(&robot);
            }
            _ => {}
        }
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        let floors: Vec<(u32, u32, u64)> = self.seen.iter().map(|((o, l), s)| (*o, *l, s.floor())).collect();
        cx.send(LINK, cx.all(), &Msg::Have(floors));
        cx.set_timer(self.forget_s);
    }

    memory_is_serde!();
}
