//! From a committed state to what frames hold.

use super::bodies::{CARRIED, HALTED, IN_CONTACT, Row};
use super::marks::Marks;
use swarmyard_engine::{Model, PartKind, State};

/// Every body of a state, by slot, which is the order of the world's types. What the state does not know
/// (failed controllers, commands that are waited for) is for the caller to add.
#[must_use]
pub fn rows(state: &State) -> Vec<Row> {
    let bodies = state.pose.iter().zip(&state.halted);
    let mut rows: Vec<Row> = bodies
        .map(|(pose, &halted)| Row::at(pose.at.x, pose.at.y, pose.heading, if halted { HALTED } else { 0 }))
        .collect();
    for touch in &state.touches {
        if let Some(row) = rows.get_mut(touch.slot as usize) {
            row.flags |= IN_CONTACT;
        }
    }
    for carry in &state.carried {
        if let Some(row) = rows.get_mut(carry.object as usize) {
            row.flags |= CARRIED;
        }
    }
    rows
}

/// Adds what the parts of the body in `slot` draw; channels are numbered as in their part's layout.
pub fn add_marks(marks: &mut Marks, model: &Model, state: &State, slot: usize) {
    let t = model.type_of[slot] as usize;
    let ty = &model.types[t];
    let row = slot - ty.slots.start;
    let outline = model.outline(slot);
    marks.add_robot(slot as u32);
    for (p, (part, columns)) in ty.parts.iter().zip(&state.types[t].parts).enumerate() {
        let width = part.layout.reading_width();
        let readings = &columns.readings[row * width..(row + 1) * width];
        let drawn = match &part.kind {
            PartKind::Sensor(sensor, _) => sensor.marks(readings, outline),
            PartKind::Actuator(actuator) => actuator.marks(readings, outline),
        };
        for mark in &drawn {
            let channel = part.layout.channels.iter().position(|c| c.name == mark.channel);
            // A mark that belongs to no channel shows the first one.
            marks.add(p as u32, channel.unwrap_or(0) as u32, mark);
        }
    }
}
