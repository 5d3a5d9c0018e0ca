//! Commands become motion segments: one per body, for the coming quantum.

use crate::model::{Model, PartKind};
use crate::parallel::{CHUNK, Pool};
use crate::sense::{chunks_mut, rows_of};
use crate::state::State;
use crate::step::{Admitted, RunEvent, Scratch, bodies};
use swarmyard_base::math::approach;
use swarmyard_base::{Pose2, Rot2, Twist2, Vec2};
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
        fixed: &model.fixed,
        beacons: &model.beacons,
        tracks: &model.tracks,
        track_index: &model.track_index,
    };
    let segments = &mut scratch.intents.segments;
    let nowhere = Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY);
    segments.resize(state.pose.len(), nowhere);
    let mut tasks = Vec::new();
    let mut unclaimed = &mut segments[..];
    for ((ty, committed), next) in model.types.iter().zip(&state.types).zip(&mut scratch.next) {
        let (own, others) = unclaimed.split_at_mut(ty.slots.len());
        unclaimed = others;
        let Some(mover) = ty.mover else {
            rest(&view, ty.slots.start, own);
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
    let bad = pool.map(tasks, |(actuator, mut rows)| {
        let first = rows.first_slot;
        rest(&view, first, rows.segments);
        actuator.act(&view, &mut rows);
        stop_the_infinite(&view, first, rows.segments)
    });
    let halted = bad.into_iter().flatten();
    scratch.events.extend(halted.map(|slot| RunEvent::NotFinite { robot: model.uids[slot], what: "motion" }));
}

/// Every body stands, unless somebody says otherwise.
fn rest(view: &ActView<'_>, first: usize, segments: &mut [Segment]) {
    for (k, segment) in segments.iter_mut().enumerate() {
        *segment = Segment::rest(0.0, view.bodies.pose[first + k], view.bodies.rot[first + k]);
    }
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

/// Stops bodies whose motion is not finite, and answers their slots: the second of the two borders.
fn stop_the_infinite(view: &ActView<'_>, first: usize, segments: &mut [Segment]) -> Vec<usize> {
    let mut bad = Vec::new();
    for (k, segment) in segments.iter_mut().enumerate() {
        if !(segment.velocity.is_finite() && segment.spin.is_finite()) {
            let slot = first + k;
            *segment = Segment::rest(0.0, view.bodies.pose[slot], view.bodies.rot[slot]);
            bad.push(slot);
        }
    }
    bad
}
