//! Sensors that are due read the committed world.

use crate::model::{Model, PartKind};
use crate::parallel::{CHUNK, Pool};
use crate::state::State;
use crate::step::{Admitted, Scratch, bodies};
use swarmyard_part_api::{Channels, Column, ColumnMut, SenseRows, Sensor, World};

/// One sensor and one chunk of its robots.
struct Task<'a> {
    sensor: &'a dyn Sensor,
    rows: SenseRows<'a>,
    siblings: Vec<Column<'a>>,
}

/// Fills `scratch.next` with the readings of every sensor that is due.
pub(crate) fn sense(model: &Model, state: &State, inputs: &Admitted, scratch: &mut Scratch, pool: &Pool) {
    let world = World {
        now: state.now,
        quantum_s: inputs.quantum_s(),
        gravity: model.run.gravity,
        seed: model.run.seed,
        detail: inputs.detail,
        bodies: bodies(model, state, &scratch.rot),
        outlines: model.outlines_at(inputs.detail),
        grid: &scratch.grid,
        fixed: &model.fixed,
        beacons: &model.beacons,
        tracks: &model.tracks,
        track_index: &model.track_index,
        touches: &state.touches,
        carried: &state.carried,
    };
    let mut tasks = Vec::new();
    for ((ty, committed), next) in model.types.iter().zip(&state.types).zip(&mut scratch.next) {
        let chunks = ty.slots.len().div_ceil(CHUNK);
        for (p, (part, next_part)) in ty.parts.iter().zip(&mut next.parts).enumerate() {
            let PartKind::Sensor(sensor, _) = &part.kind else { continue };
            if !state.is_due(&part.kind) {
                continue;
            }
            let (readings, states) = (part.layout.reading_width(), part.layout.state.len());
            next_part.state.copy_from_slice(&committed.parts[p].state);
            let outs = chunks_mut(&mut next_part.readings, readings, chunks);
            let next_states = chunks_mut(&mut next_part.state, states, chunks);
            for (c, (out, next_state)) in outs.into_iter().zip(next_states).enumerate() {
                let first = c * CHUNK;
                let len = CHUNK.min(ty.slots.len() - first);
                let column = |data, width: usize| rows_of(data, width, first, len);
                let siblings = (ty.parts.iter().zip(&committed.parts))
                    .map(|(p, c)| column(&c.readings, p.layout.reading_width()))
                    .collect();
                let rows = SenseRows {
                    first_slot: ty.slots.start + first,
                    out: ColumnMut { data: out, width: readings },
                    state: column(&committed.parts[p].state, states),
                    next_state: ColumnMut { data: next_state, width: states },
                    siblings: Channels(&[]),
                    len,
                };
                tasks.push(Task { sensor: sensor.as_ref(), rows, siblings });
            }
        }
    }
    pool.each(tasks, |Task { sensor, rows, siblings }| {
        let mut rows = SenseRows { siblings: Channels(&siblings), ..rows };
        sensor.sense(&world, &mut rows);
    });
}

/// A column cut into chunks of [`CHUNK`] robots; as many empty slices when it has no width.
pub(crate) fn chunks_mut(data: &mut [f64], width: usize, chunks: usize) -> Vec<&mut [f64]> {
    if width == 0 {
        return (0..chunks).map(|_| &mut [][..]).collect();
    }
    data.chunks_mut(width * CHUNK).collect()
}

/// The rows of a chunk.
pub(crate) fn rows_of(data: &[f64], width: usize, first: usize, len: usize) -> Column<'_> {
    Column { data: &data[first * width..(first + len) * width], width }
}
