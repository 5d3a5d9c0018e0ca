//! `reliable-link`: a link that loses and doubles nothing, over one that does.
//!
//! Every message is numbered, acknowledged, and sent again until it is; the receiver delivers each number once.
//!
//! Guarantees: what one robot that does not crash sends to another, is delivered exactly once, however often the
//! link below loses or doubles messages, if it does not lose all of them for ever; order is not kept. After a
//! crash and recovery both sides go on; what the crashed robot had not got through may be lost, and what it had
//! already delivered may be delivered again in its next life.
//!
//! Cost without loss: one message and one acknowledgement each. Memory: what is not acknowledged yet; for a
//! robot that never answers that grows without end, unless `give_up` is set.
//! Model-checked in `tests/model/broadcasts.rs`: 2 robots, 2 messages one way and 1 the other, over a link that
//! loses, doubles and reorders; and with crashes and recoveries of either, to 14 steps.

use super::common::{Parcel, Seen, few, next_life, port_param};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Request, ServiceKind, Sheet, ToRobots, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("reliable-link", Kind::Protocol, "Makes a link that loses and doubles messages into one that does neither: acknowledges, sends again, filters. Does not keep their order. Provides a link.")
        .param(port_param("link", "What carries its messages; the network when left out."))
        .param(Param::number("retry", Unit::Second, "Time after which what is not acknowledged is sent again.").within(1e-6, 3600.0).or_num(0.1))
        .param(Param::number("slowest", Unit::Second, "The time doubles with every attempt at a silent robot, up to this.").within(1e-6, 86400.0).or_num(1.0))
        .param(Param::new("give_up", ParamType::Int { min: 0, max: 1_000_000 }, "Attempts after which a message is given up; 0 means never.").or(Value::Int(0)))
        .example("[[type.demo.protocol]]\nname = \"sure\"\nclass = \"reliable-link\"\nretry = \"50ms\"")
}

fn build(params: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let retry_s = params.num("retry");
    // Waiting is counted in whole ticks of `retry`.
    let slowest = (params.num("slowest") / retry_s).clamp(1.0, 1e6) as u32;
    Ok(Built::Protocol(Arc::new(Model { retry_s, slowest, give_up: params.int("give_up") as u32 })))
}

struct Model {
    retry_s: f64,
    slowest: u32,
    give_up: u32,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Link)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        let (retry_s, slowest, give_up) = (self.retry_s, self.slowest, self.give_up);
        let (towards, from) = (BTreeMap::new(), BTreeMap::new());
        Box::new(ReliableLink { retry_s, slowest, give_up, life: 0, timer: None, towards, from })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Msg::Data { number, parcel, .. }) => {
                ("DATA".into(), format!("{number} {}", few(&parcel.bytes)))
            }
            Ok(Msg::Ack { number, .. }) => ("ACK".into(), number.to_string()),
            Err(_) => ("DATA".into(), few(bytes)),
        }
    }
}

#[derive(Serialize, Deserialize)]
enum Msg {
    /// `base`: everything below was acknowledged or given up, and never comes again.
    Data {
        life: u32,
        number: u64,
        base: u64,
        parcel: Parcel,
    },
    Ack {
        life: u32,
        number: u64,
    },
}

/// What was sent to one robot.
#[derive(Default, Serialize, Deserialize)]
struct Towards {
    next: u64,
    /// Not acknowledged yet, with attempts so far.
    open: BTreeMap<u64, (Parcel, u32)>,
    /// Ticks until the next attempt.
    due: u32,
    /// Ticks between attempts.
    wait: u32,
}

#[derive(Serialize, Deserialize)]
struct ReliableLink {
    retry_s: f64,
    slowest: u32,
    give_up: u32,
    life: u32,
    /// Runs while anything is not acknowledged.
    timer: Option<u64>,
    towards: BTreeMap<u32, Towards>,
    /// By sender: its life, and what came from it in that life.
    from: BTreeMap<u32, (u32, Seen)>,
}

impl ReliableLink {
    fn data(&self, to: u32, number: u64, parcel: &Parcel) -> Msg {
        let base = self.towards[&to].open.keys().next().copied().unwrap_or(number);
        Msg::Data { life: self.life, number, base, parcel: parcel.clone() }
    }

    fn received(
        &mut self,
        sender: u32,
        (life, number, base): (u32, u64, u64),
        parcel: Parcel,
        cx: &mut Cx<'_>,
    ) {
        let (known, seen) = self.from.entry(sender).or_insert_with(|| (life, Seen::default()));
        if life < *known {
            return;
        }
        if life > *known {
            (*known, *seen) = (life, Seen::default());
        }
        cx.send_to(LINK, sender, &Msg::Ack { life, number });
        seen.raise(base.min(number));
        if seen.insert(number) {
            cx.indicate(User(parcel.user), Indication::Delivered { from: sender, bytes: parcel.bytes });
        }
    }

    /// Sends again what is due to one robot, and gives up what was tried too often.
    fn retry(&mut self, to: u32, cx: &mut Cx<'_>) {
        let (slowest, give_up) = (self.slowest, self.give_up);
        let Some(peer) = self.towards.get_mut(&to).filter(|p| !p.open.is_empty()) else { return };
        peer.due = peer.due.saturating_sub(1);
        if peer.due > 0 {
            return;
        }
        peer.wait = peer.wait.saturating_mul(2).min(slowest);
        peer.due = peer.wait;
        if give_up > 0 {
            peer.open.retain(|_, (_, attempts)| *attempts < give_up);
            peer.open.values_mut().for_each(|(_, attempts)| *attempts += 1);
        }
        let again: Vec<Msg> =
            self.towards[&to].open.iter().map(|(n, (parcel, _))| self.data(to, *n, parcel)).collect();
        for message in again {
            cx.send_to(LINK, to, &message);
        }
    }
}

impl Microprotocol for ReliableLink {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.life = next_life(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Link(ToRobots { to, bytes }) = request else { return };
        for to in to {
            if to == cx.me() {
                cx.indicate(user, Indication::Delivered { from: to, bytes: Arc::clone(&bytes) });
                continue;
            }
            let parcel = Parcel { user: user.0, bytes: Arc::clone(&bytes) };
            let peer = self.towards.entry(to).or_default();
            if peer.open.is_empty() {
                (peer.due, peer.wait) = (1, 1);
            }
            let number = peer.next;
            peer.next += 1;
            peer.open.insert(number, (parcel.clone(), 1));
            cx.send_to(LINK, to, &self.data(to, number, &parcel));
            if self.timer.is_none() {
                self.timer = Some(cx.set_timer(self.retry_s));
            }
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        match from_bytes(&bytes) {
            Ok(Msg::Data { life, number, base, parcel }) => {
                self.received(from, (life, number, base), parcel, cx)
            }
            Ok(Msg::Ack { life, number }) if life == self.life => {
                if let Some(peer) = self.towards.get_mut(&from) {
                    // It answers, so it need not be spared.
                    peer.wait = 1;
                    peer.due = peer.due.min(1);
                    peer.open.remove(&number);
                }
                if self.towards.values().all(|p| p.open.is_empty())
                    && let Some(timer) = self.timer.take()
                {
                    cx.cancel_timer(timer);
                }
            }
            Ok(Msg::Ack { .. }) | Err(_) => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.timer != Some(timer) {
            return;
        }
        for to in self.towards.keys().copied().collect::<Vec<u32>>() {
            self.retry(to, cx);
        }
        let open = self.towards.values().any(|p| !p.open.is_empty());
        self.timer = open.then(|| cx.set_timer(self.retry_s));
    }

    memory_is_serde!();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Delay, Lab, Stack, Trace, Wires, brief};
    use swarmyard_part_api::{GraphModel, Registry};

    fn graph(params: &[(&str, Value)]) -> Arc<GraphModel> {
        let mut registry = Registry::new();
        crate::register(&mut registry);
        Stack::new(&registry).class("sure", "reliable-link", params).probe(&["sure"]).build().unwrap()
    }

    fn to(robots: &[u32], text: &str) -> ToRobots {
        ToRobots { to: robots.into(), bytes: brief::bytes(text) }
    }

    /// (receiver, sender, text), sorted.
    fn delivered(trace: &Trace) -> Vec<(u32, u32, String)> {
        let mut all: Vec<_> = trace
            .indications()
            .filter_map(|(_, p, _, what)| match what {
                Indication::Delivered { from, bytes } => {
                    Some((p, *from, String::from_utf8_lossy(bytes).into_owned()))
                }
                _ => None,
            })
            .collect();
        all.sort();
        all
    }

    #[test]
    fn without_loss_a_message_costs_itself_and_an_acknowledgement() {
        let mut lab = Lab::new(1, &graph(&[]), 2, &Wires::new(Delay::Fixed(0.01)));
        lab.at(1.0, 0, to(&[1, 0], "a"));
        lab.run_until(20.0).unwrap();
        assert_eq!(delivered(lab.trace()), [(0, 0, "a".to_owned()), (1, 0, "a".to_owned())]);
        assert_eq!(lab.trace().copies(), 2);
        assert!(lab.is_quiet());
    }

    #[test]
    fn everything_arrives_exactly_once_over_wires_that_lose_double_and_reorder() {
        for seed in 0..300 {
            let wires = Wires::new(Delay::Exponential(0.05)).losing(0.4).doubling(0.3);
            let mut lab = Lab::new(seed, &graph(&[]), 3, &wires);
            let mut expected = Vec::new();
            for k in 0..12 {
                let (from, receiver) = (k % 3, (k + 1 + k / 6) % 3);
                lab.at(0.1 * f64::from(k), from, to(&[receiver], &format!("m{k}")));
                expected.push((receiver, from, format!("m{k}")));
            }
            expected.sort();
            lab.partition(0.3, &[&[0], &[1, 2]]);
            lab.heal(2.0);
            lab.run_until(120.0).unwrap();
            assert_eq!(delivered(lab.trace()), expected, "seed {seed}");
            assert!(lab.is_quiet(), "seed {seed}");
        }
    }

    #[test]
    fn the_bare_network_fails_the_same_test() {
        let mut registry = Registry::new();
        crate::register(&mut registry);
        let bare = Stack::new(&registry).probe(&["network"]).build().unwrap();
        let wires = Wires::new(Delay::Exponential(0.05)).losing(0.4).doubling(0.3);
        let mut lab = Lab::new(1, &bare, 2, &wires);
        for k in 0..40 {
            lab.at(0.1 * f64::from(k), 0, to(&[1], &format!("m{k}")));
        }
        lab.run_until(120.0).unwrap();
        let all = delivered(lab.trace());
        let mut distinct = all.clone();
        distinct.dedup();
        assert!(distinct.len() < 40 && distinct.len() < all.len(), "{} of 40", distinct.len());
    }

    #[test]
    fn after_a_recovery_of_either_side_messages_go_on() {
        let mut lab = Lab::new(1, &graph(&[]), 2, &Wires::new(Delay::Fixed(0.01)));
        for (k, t) in [1.0, 3.0, 5.0].into_iter().enumerate() {
            lab.at(t, 0, to(&[1], &format!("from 0, {k}")));
            lab.at(t, 1, to(&[0], &format!("from 1, {k}")));
        }
        lab.crash(2.0, 1);
        lab.recover(4.0, 1);
        lab.run_until(30.0).unwrap();
        let texts: Vec<String> = delivered(lab.trace()).into_iter().map(|d| d.2).collect();
        // Robot 1 asked for nothing while it was down.
        assert_eq!(texts, ["from 1, 0", "from 1, 2", "from 0, 0", "from 0, 1", "from 0, 2"]);
        assert!(lab.is_quiet());
    }

    #[test]
    fn a_silent_robot_is_asked_ever_more_rarely_and_given_up_if_told_so() {
        let copies = |params: &[(&str, Value)]| {
            let mut lab = Lab::new(1, &graph(params), 2, &Wires::new(Delay::Fixed(0.01)));
            lab.crash(0.5, 1);
            lab.at(1.0, 0, to(&[1], "anybody?"));
            lab.run_until(101.0).unwrap();
            (lab.trace().copies(), lab.is_quiet())
        };
        let often = copies(&[("slowest", Value::Num(0.1))]);
        let rarely = copies(&[("slowest", Value::Num(10.0))]);
        assert!(often.0 > 900 && rarely.0 < 20 && !rarely.1, "{often:?} {rarely:?}");
        assert_eq!(copies(&[("give_up", Value::Int(3))]), (3, true));
    }

    #[test]
    fn garbage_changes_nothing_and_messages_are_shown() {
        let model = Model { retry_s: 1.0, slowest: 1, give_up: 0 };
        let data =
            Msg::Data { life: 0, number: 4, base: 0, parcel: Parcel { user: 1, bytes: brief::bytes("hi") } };
        assert_eq!(model.show(&swarmyard_part_api::to_bytes(&data)), ("DATA".to_owned(), "4 hi".to_owned()));
        let ack = swarmyard_part_api::to_bytes(&Msg::Ack { life: 0, number: 4 });
        assert_eq!(model.show(&ack), ("ACK".to_owned(), "4".to_owned()));
        assert_eq!(model.show(&[9; 30]).0, "DATA");
    }
}
