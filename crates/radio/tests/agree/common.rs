//! What the tests have in common: stacks by name, random schedules, counting by type of message.

use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid};
use swarmyard_part_api::{GraphModel, Propose, Registry, protocol_id};
use swarmyard_radio::lab::{Lab, Stack, Trace, What, brief};
use swarmyard_scene::Value;

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

pub(crate) fn num(x: f64) -> Value {
    Value::Num(x)
}

pub(crate) fn text(t: &str) -> Value {
    Value::Text(t.to_owned())
}

pub(crate) fn yes() -> Value {
    Value::Bool(true)
}

/// Random numbers of one test run.
pub(crate) fn dice(seed: u64, ordinal: u32) -> Draw {
    Draw::at(seed, Uid(77), Purpose::Test, Time(0), ordinal)
}

/// A consensus called `agree` on an adaptive heartbeat detector (or Ω on it), with the probe on top.
pub(crate) fn consensus(class: &str, reliable: bool) -> Arc<GraphModel> {
    let registry = registry();
    let beats =
        [("period", num(0.05)), ("timeout", num(0.12)), ("adaptive", yes()), ("increment", num(0.05))];
    let mut stack = Stack::new(&registry).class("fd", "heartbeat", &beats);
    let mut params = Vec::new();
    if reliable {
        stack = stack.class("sure", "reliable-link", &[]);
        params.push(("link", text("sure")));
    }
    if class == "paxos" {
        stack = stack.class("leader", "omega", &[]);
    }
    stack.class("agree", class, &params).probe(&["agree"]).build().unwrap_or_else(|e| panic!("{e:?}"))
}

pub(crate) fn propose(lab: &mut Lab, seconds: f64, process: u32, instance: u64, value: &str) {
    lab.at(seconds, process, Propose { instance, value: brief::bytes(value) });
}

/// How many messages of a protocol went into the network, by type, one for each receiver.
pub(crate) fn counts(trace: &Trace, model: &GraphModel, protocol: &str) -> BTreeMap<String, usize> {
    let id = protocol_id(protocol);
    let mut counts = BTreeMap::new();
    for event in &trace.events {
        if let What::Sent { protocol, to, bytes, .. } = &event.what
            && *protocol == id
        {
            *counts.entry(model.show(id, bytes).0).or_insert(0) += to.len();
        }
    }
    counts
}

/// Fails with everything that is wrong.
pub(crate) fn fine(wrong: Vec<String>, seed: u64) {
    assert!(wrong.is_empty(), "seed {seed}:\n{}", wrong.join("\n"));
}
