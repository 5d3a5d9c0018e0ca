//! Sensors that are due read the committed world.

use crate::meter::{Kind, timed};
use crate::model::{Model, PartKind};
use crate::parallel::{CHUNK, Pool};
use crate::rows::{Rows, chunks_mut, copy};
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
pub(crate) fn sense(
    model: &Model,
    state: &State,
    inputs: &Admitted,
    rows: &Rows,
    scratch: &mut Scratch,
    pool: &Pool,
) {
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
    for (t, ((ty, committed), next)) in
        model.types.iter().zip(&state.types).zip(&mut scratch.next).enumerate()
    {
        let wanted = rows.of(t, ty);
        for (p, (part, next_part)) in ty.parts.iter().zip(&mut next.parts).enumerate() {
            let PartKind::Sensor(sensor, _) = &part.kind else { continue };
            if !state.is_due(&part.kind) {
                continue;
            }
            let (readings, states) = (part.layout.reading_width(), part.layout.state.len());
            copy(&mut next_part.state, &committed.parts[p].state, states, &wanted);
            let outs = chunks_mut(&mut next_part.readings, readings, &wanted);
            let next_states = chunks_mut(&mut next_part.state, states, &wanted);
            for (c, (out, next_state)) in outs.into_iter().zip(next_states).enumerate() {
                let first = wanted.start + c * CHUNK;
                let len = CHUNK.min(wanted.end - first);
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
    let watch = scratch.meter.watch();
    let took = pool.map(tasks, |Task { sensor, rows, siblings }| {
        let mut rows = SenseRows { siblings: Channels(&siblings), ..rows };
        let slots = rows.first_slot..rows.first_slot + rows.len;
        (slots, timed(watch, || sensor.sense(&world, &mut rows)).1)
    });
    scratch.meter.share(Kind::Sense, took);
}

/// The rows of a chunk.
pub(crate) fn rows_of(data: &[f64], width: usize, first: usize, len: usize) -> Column<'_> {
    Column { data: &data[first * width..(first + len) * width], width }
}
