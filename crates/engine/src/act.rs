//! Commands become motion segments: one per body, for the coming quantum.

use crate::carry::Carrying;
use crate::meter::{Kind, timed};
use crate::model::{Model, PartKind, PartModel};
use crate::parallel::{CHUNK, Pool};
use crate::rows::{Rows, chunks_mut, copy};
use crate::sense::rows_of;
use crate::state::{PartColumns, State};
use crate::step::{Admitted, Infinite, RunEvent, Scratch, bodies};
use swarmyard_base::math::approach;
use swarmyard_base::{Pose2, Rot2, Twist2, Vec2};
use swarmyard_part_api::{ActRows, ActView, ColumnMut, Grip, Segment};

/// What every body intends to do in the coming quantum, by slot.
#[derive(Default)]
pub(crate) struct Intents {
    pub(crate) segments: Vec<Segment>,
    pub(crate) carrying: Carrying,
}

/// Fills `scratch.intents`.
pub(crate) fn act(
    model: &Model,
    state: &State,
    inputs: &Admitted,
    rows: &Rows,
    scratch: &mut Scratch,
    pool: &Pool,
) {
    let view = ActView {
        now: state.now,
        quantum_s: inputs.quantum_s(),
        seed: model.run.seed,
        detail: inputs.detail,
        gravity: model.run.gravity,
        bounds: model.bounds,
        bodies: bodies(model, state, &scratch.rot),
        fixed: &model.fixed,
        beacons: &model.beacons,
        tracks: &model.tracks,
        track_index: &model.track_index,
    };
    let Intents { segments, carrying } = &mut scratch.intents;
    let nowhere = Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY);
    segments.resize(state.pose.len(), nowhere);
    carrying.ready(model);
    let mut hands = carrying.hands.iter_mut();
    let mut tasks = Vec::new();
    let mut unclaimed = &mut segments[..];
    for (t, ((ty, committed), next)) in
        model.types.iter().zip(&state.types).zip(&mut scratch.next).enumerate()
    {
        let (own, others) = unclaimed.split_at_mut(ty.slots.len());
        unclaimed = others;
        let wanted = rows.of(t, ty);
        let (first, mut own) = (ty.slots.start + wanted.start, &mut own[wanted.clone()]);
        if ty.mover.is_none() {
            rest(&view, first, own);
            coast(model, state, &view, first, own);
        }
        for (p, (part, columns)) in ty.parts.iter().zip(&mut next.parts).enumerate() {
            let PartKind::Actuator(actuator) = &part.kind else { continue };
            let moved = if ty.mover == Some(p) { std::mem::take(&mut own) } else { &mut [] };
            let hand = actuator.hand().and_then(|_| hands.next());
            let grips = hand.map_or(&mut [][..], |h| &mut h.grips[wanted.clone()]);
            let place = (ty.slots.start, wanted.clone());
            let rows = rows_of_part(part, place, &committed.parts[p], columns, (moved, grips));
            tasks.extend(rows.into_iter().map(|rows| (actuator.as_ref(), rows)));
        }
    }
    let watch = scratch.meter.watch();
    let acted = pool.map(tasks, |(actuator, mut rows)| {
        let (first, slots) = (rows.first_slot, rows.first_slot..rows.first_slot + rows.len);
        let (bad, ns) = timed(watch, || {
            rest(&view, first, rows.segments);
            actuator.act(&view, &mut rows);
            stop_the_infinite(&view, first, rows.segments)
        });
        (bad, (slots, ns))
    });
    let (bad, took): (Vec<_>, Vec<_>) = acted.into_iter().unzip();
    scratch.meter.share(Kind::Act, took);
    let halted = bad.into_iter().flatten();
    scratch
        .events
        .extend(halted.map(|slot| RunEvent::NotFinite { robot: model.uids[slot], what: Infinite::Motion }));
}

/// What one actuator works on, cut into chunks.
fn rows_of_part<'a>(
    part: &PartModel,
    (start, wanted): (usize, std::ops::Range<usize>),
    committed: &'a PartColumns,
    columns: &'a mut PartColumns,
    (segments, grips): (&'a mut [Segment], &'a mut [Grip]),
) -> Vec<ActRows<'a>> {
    let (w_read, w_cmd, w_state) =
        (part.layout.reading_width(), part.layout.command_width(), part.layout.state.len());
    copy(&mut columns.readings, &committed.readings, w_read, &wanted);
    // With ports it is there already, with what they did to it.
    if !part.has_ports {
        copy(&mut columns.state, &committed.state, w_state, &wanted);
    }
    let outs = chunks_mut(&mut columns.readings, w_read, &wanted);
    let states = chunks_mut(&mut columns.state, w_state, &wanted);
    let commands = &columns.commands;
    let (mut segments, mut grips) = (segments.chunks_mut(CHUNK), grips.chunks_mut(CHUNK));
    let rows = outs.into_iter().zip(states).enumerate().map(|(c, (out, next_state))| {
        let first = wanted.start + c * CHUNK;
        let len = CHUNK.min(wanted.end - first);
        ActRows {
            first_slot: start + first,
            commands: rows_of(commands, w_cmd, first, len),
            out: ColumnMut { data: out, width: w_read },
            state: rows_of(&committed.state, w_state, first, len),
            next_state: ColumnMut { data: next_state, width: w_state },
            segments: segments.next().unwrap_or(&mut []),
            grips: grips.next().unwrap_or(&mut []),
            len,
        }
    });
    rows.collect()
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
        let slower = slowed(model, view.quantum_s, slot, twist);
        let (pose, rot) = (state.pose[slot], view.bodies.rot[slot]);
        *segment =
            Segment::glide(0.0, pose, rot, rot.apply(Vec2::new(slower.forward, slower.left)), slower.spin);
    }
}

/// What floor friction leaves of a twist after a quantum.
pub(crate) fn slowed(model: &Model, quantum_s: f64, slot: usize, twist: Twist2) -> Twist2 {
    let loss = model.run.floor_friction * model.run.gravity * quantum_s;
    let speed = twist.linear().norm();
    let share = if speed > 0.0 { approach(speed, 0.0, loss) / speed } else { 0.0 };
    // A uniform disc of radius r that spins on the floor slows by (4/3) μ g / r; other outlines
    // are near enough to their reach.
    let spin_loss = 4.0 / 3.0 * loss / model.outline(slot).reach();
    Twist2::new(twist.forward * share, twist.left * share, approach(twist.spin, 0.0, spin_loss))
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
