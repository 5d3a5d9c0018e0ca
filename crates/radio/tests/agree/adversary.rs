//! What no asynchronous consensus can survive (Fischer, Lynch and Paterson): somebody who sees everything and
//! chooses the delays. Nothing is lost, nobody crashes, every message arrives, and still nobody decides.

use crate::common::{fine, num, propose, registry};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Moment;
use swarmyard_part_api::{
    Air, GraphModel, Message, Network, NetworkModel, ProtocolModel, from_bytes, protocol_id, to_bytes,
};
use swarmyard_radio::check;
use swarmyard_radio::lab::{Delay, Lab, Stack, What, Wires};
use swarmyard_radio::protocols::chandra_toueg::ChandraToueg;
use swarmyard_radio::protocols::mostefaoui_raynal::MostefaouiRaynal;
use swarmyard_scene::Value;

/// Reads every message. As soon as a coordinator proposes, all it says is held back for a while.
#[derive(Clone, Copy)]
struct Adversary {
    hold_s: f64,
}

impl NetworkModel for Adversary {
    fn start(&self, _robots: u32) -> Box<dyn Network> {
        Box::new(AtWork { hold_s: self.hold_s, held: BTreeMap::new() })
    }
}

struct AtWork {
    hold_s: f64,
    held: BTreeMap<u32, Moment>,
}

/// Whether a message is a coordinator's proposal, of either consensus.
fn is_proposal(message: &Message, robots: u32) -> bool {
    if message.protocol != protocol_id("agree") {
        return false;
    }
    let (kind, _) = ChandraToueg::default().show(&message.bytes);
    if kind == "PROPOSE" {
        return true;
    }
    let (kind, text) = MostefaouiRaynal.show(&message.bytes);
    let words: Vec<&str> = text.split(' ').collect();
    let round = words.get(3).and_then(|w| w.parse::<u32>().ok());
    kind == "ECHO" && !text.ends_with("nothing") && round.is_some_and(|r| (r - 1) % robots == message.from)
}

impl Network for AtWork {
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air) {
        if is_proposal(message, air.robots()) {
            self.held.insert(message.from, air.now().plus(self.hold_s));
        }
        let soon = air.now().plus(0.005);
        let at = self.held.get(&message.from).map_or(soon, |until| soon.max(*until));
        to.iter().for_each(|p| air.deliver(message, *p, at));
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.held)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.held = from_bytes(image)?;
        Ok(())
    }
}

fn graph(class: &str, adaptive: bool) -> Arc<GraphModel> {
    let registry = registry();
    let beats = [
        ("period", num(0.03)),
        ("timeout", num(0.1)),
        ("adaptive", Value::Bool(adaptive)),
        ("increment", num(0.05)),
    ];
    let stack = Stack::new(&registry).class("fd", "heartbeat", &beats).class("agree", class, &[]);
    stack.probe(&["agree"]).build().expect("connects")
}

fn started(class: &str, adaptive: bool, n: u32, hold_s: f64) -> Lab {
    let mut lab = Lab::new(1, &graph(class, adaptive), n, &Adversary { hold_s });
    (0..n).for_each(|p| propose(&mut lab, 1.0, p, 0, &format!("v{p}")));
    lab
}

#[test]
fn an_adversary_that_sees_everything_stalls_consensus_without_losing_a_message() {
    for class in ["chandra-toueg", "mostefaoui-raynal"] {
        for n in [3, 4, 5] {
            let mut lab = started(class, false, n, 0.3);
            lab.run_until(60.0).expect("comes to rest");
            assert_eq!(lab.trace().indications().count(), 0, "{class} n = {n}: nobody decides");
            let lost =
                lab.trace().events.iter().filter(|e| matches!(e.what, What::Lost { .. } | What::Crashed));
            assert_eq!(lost.count(), 0, "and nothing is lost");
            let model = graph(class, false);
            let id = protocol_id("agree");
            let rounds = lab.trace().events.iter().filter_map(|e| match &e.what {
                What::Sent { protocol, bytes, .. } if *protocol == id => {
                    model.show(id, bytes).1.split(' ').nth(3).and_then(|w| w.parse::<u32>().ok())
                }
                _ => None,
            });
            let rounds = rounds.max().unwrap_or(0);
            assert!(rounds > 100, "{class} n = {n}: {rounds} rounds");
            println!("{class} n = {n}: {rounds} rounds in 59 s without a decision");
            // It only stalls: as soon as it lets go, all decide, and the same.
            lab.rewire(60.0, &Wires::new(Delay::Fixed(0.005)));
            lab.run_until(63.0).expect("comes to rest");
            assert_eq!(lab.trace().indications().count(), n as usize, "{class} n = {n}");
            fine(check::consensus::uniform(lab.trace()), 0);
        }
    }
}

/// Why detectors adapt: a bound on delays, known or not, is all it takes.
#[test]
fn an_adversary_with_a_bound_on_its_delays_loses_against_an_adaptive_timeout() {
    for class in ["chandra-toueg", "mostefaoui-raynal"] {
        let mut lab = started(class, true, 3, 0.3);
        lab.run_until(60.0).expect("comes to rest");
        assert_eq!(lab.trace().indications().count(), 3, "{class}");
        fine(check::consensus::uniform(lab.trace()), 0);
    }
}
