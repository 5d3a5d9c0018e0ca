//! Commands become motion segments: one per body, for the coming quantum.

use crate::model::{Model, PartKind};
use crate::parallel::{CHUNK, Pool};
use crate::sense::{chunks_mut, rows_of};
use crate::state::State;
use crate::step::{Admitted, RunEvent, Scratch, bodies};
use swarmyard_base::math::approach;
use swarmyard_base::{Twist2, Vec2};
use swarmyard_part_api::{ActRows, ActView, ColumnMut, Segment};

/// What every body intends to do in the coming quantum, by slot.
#[derive(Default)]
pub(crate) struct Intents {
    pub(crate) segments: Vec<Segment>,
}

/// Fills `scratch.intents`.
pub(crate) fn act(model: &Model, state: &State, inputs: &Admitted, scratch: &mut Scratch, pool: &Pool) {
    let view = ActView {
        now: state.now,
        quantum_s: inputs.quantum_s(),
        seed: model.run.seed,
        detail: inputs.detail,
        gravity: model.run.gravity,
        bodies: bodies(model, state, &scratch.rot),
    };
    let segments = &mut scratch.intents.segments;
    segments.clear();
    segments.extend(state.pose.iter().zip(&scratch.rot).map(|(p, r)| Segment::rest(0.0, *p, *r)));
    let mut tasks = Vec::new();
    let mut rest = &mut segments[..];
    for ((ty, committed), next) in model.types.iter().zip(&state.types).zip(&mut scratch.next) {
        let (own, others) = rest.split_at_mut(ty.slots.len());
        rest = others;
        let Some(mover) = ty.mover else {
            coast(model, state, &view, ty.slots.start, own);
            continue;
        };
        let part = &ty.parts[mover];
        let PartKind::Actuator(actuator) = &part.kind else { continue };
        let chunks = ty.slots.len().div_ceil(CHUNK);
        let (w_read, w_cmd, w_state) =
            (part.layout.reading_width(), part.layout.command_width(), part.layout.state.len());
        let columns = &mut next.parts[mover];
        columns.readings.copy_from_slice(&committed.parts[mover].readings);
        columns.state.copy_from_slice(&committed.parts[mover].state);
        let outs = chunks_mut(&mut columns.readings, w_read, chunks);
        let states = chunks_mut(&mut columns.state, w_state, chunks);
        let commands = &columns.commands;
        for (c, ((out, next_state), segments)) in
            outs.into_iter().zip(states).zip(own.chunks_mut(CHUNK)).enumerate()
        {
            let first = c * CHUNK;
            let len = segments.len();
            let rows = ActRows {
                first_slot: ty.slots.start + first,
                commands: rows_of(commands, w_cmd, first, len),
                out: ColumnMut { data: out, width: w_read },
                state: rows_of(&committed.parts[mover].state, w_state, first, len),
                next_state: ColumnMut { data: next_state, width: w_state },
                segments,
            };
            tasks.push((actuator.as_ref(), rows));
        }
    }
    pool.each(tasks, |(actuator, mut rows)| actuator.act(&view, &mut rows));
    check_finite(model, state, scratch);
}

/// Passive bodies glide on and slow down by floor friction.
fn coast(model: &Model, state: &State, view: &ActView<'_>, first: usize, segments: &mut [Segment]) {
    for (k, segment) in segments.iter_mut().enumerate() {
        let slot = first + k;
        let twist = state.twist[slot];
        if twist.is_rest() {
            continue;
        }
        let loss = model.run.floor_friction * view.gravity * view.quantum_s;
        let speed = twist.linear().norm();
        let share = if speed > 0.0 { approach(speed, 0.0, loss) / speed } else { 0.0 };
        // A uniform disc of radius r that spins on the floor slows by (4/3) μ g / r; other outlines
        // are near enough to their reach.
        let spin_loss = 4.0 / 3.0 * loss / model.outline(slot).reach();
        let slower =
            Twist2::new(twist.forward * share, twist.left * share, approach(twist.spin, 0.0, spin_loss));
        let (pose, rot) = (state.pose[slot], view.bodies.rot[slot]);
        *segment =
            Segment::glide(0.0, pose, rot, rot.apply(Vec2::new(slower.forward, slower.left)), slower.spin);
    }
}

/// Halts bodies whose motion is not finite: the second of the two borders.
fn check_finite(model: &Model, state: &State, scratch: &mut Scratch) {
    for (slot, segment) in scratch.intents.segments.iter_mut().enumerate() {
        if !(segment.velocity.is_finite() && segment.spin.is_finite()) {
            *segment = Segment::rest(0.0, state.pose[slot], scratch.rot[slot]);
            scratch.events.push(RunEvent::NotFinite { robot: model.uids[slot], what: "motion" });
        }
    }
}
