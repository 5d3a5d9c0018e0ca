//! Looking into robots: every number of some, or single numbers step by step.

use crate::hub::Client;
use crate::message::Probe;
use serde_json::{Value, json};
use std::sync::Arc;
use swarmyard_engine::registers_now;
use swarmyard_sim::Sim;

/// Rows of samples that are kept for one message; older ones are left out.
const MOST_ROWS: usize = 4096;

/// Everything about one robot, in the order of the world's types.
pub(crate) fn robot(sim: &Sim, path: &str) -> Option<Value> {
    let (model, state) = (sim.model(), sim.state());
    let slot = model.slot_of_path(path)?;
    let ty = model.type_at(slot);
    let (pose, twist) = (state.pose[slot], state.twist[slot]);
    let parts = ty.parts.iter().map(|part| {
        let of = format!("{path}/{}", part.name);
        let channels = part.layout.channels.iter().map(|c| sim.channel(&of, c.name).unwrap_or(&[]).to_vec());
        channels.collect::<Vec<_>>()
    });
    let mut registers = registers_now(model, state, slot);
    let all = ty.registers.all().iter();
    let places = all.flat_map(|r| (0..r.count).map(|k| (r.at + k * r.bytes, r.bytes)));
    let values: Vec<u32> = places.map(|(at, bytes)| registers.peek(at, bytes)).collect();
    Some(json!({
        "path": path,
        "type": ty.name,
        "pose": [pose.at.x, pose.at.y, pose.heading],
        "twist": [twist.forward, twist.left, twist.spin],
        "halted": state.halted[slot],
        "failed": swarmyard_engine::has_failed(model, state, slot),
        "parts": parts.collect::<Vec<_>>(),
        "registers": values,
        "lines": sim.lines(path),
    }))
}

/// One number: of a channel, or `x`, `y`, `heading` of a body.
fn number(sim: &Sim, probe: &Probe) -> Option<f64> {
    if let Some(pose) = sim.pose(&probe.path) {
        return match probe.channel.as_str() {
            "x" => Some(pose.at.x),
            "y" => Some(pose.at.y),
            "heading" => Some(pose.heading),
            _ => None,
        };
    }
    sim.channel(&probe.path, &probe.channel)?.get(probe.index).copied()
}

/// Takes the row of a step for a display that follows numbers.
pub(crate) fn sample(sim: &Sim, client: &mut Client) {
    if client.wishes.probes.is_empty() {
        return;
    }
    let mut row = vec![crate::tell::seconds(sim.now())];
    row.extend(client.wishes.probes.iter().map(|p| number(sim, p).unwrap_or(f64::NAN)));
    keep_row(client, row);
}

/// Keeps a row until it is sent.
pub(crate) fn keep_row(client: &mut Client, row: Vec<f64>) {
    if client.rows.len() >= MOST_ROWS {
        client.rows.remove(0);
    }
    client.rows.push(row);
}

/// Sends the rows that have come together. What a display has no room for stays for the next time.
pub(crate) fn send_samples(client: &mut Client) {
    if client.rows.is_empty() {
        return;
    }
    let Ok(place) = client.personal.try_reserve() else { return };
    let rows = std::mem::take(&mut client.rows);
    let message = json!({ "is": "samples", "probes": client.wishes.probes, "rows": rows });
    place.send(Arc::from(message.to_string()));
}
