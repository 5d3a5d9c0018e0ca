//! The only writer of [`State`].

use crate::carry::pin;
use crate::groups::gap_now;
use crate::hash::{clock, items_on};
use crate::live::LiveState;
use crate::model::{Model, PartKind};
use crate::parallel::{CHUNK, Pool};
use crate::queue::{Event, EventKey};
use crate::referee;
use crate::resolve::travel;
use crate::state::State;
use crate::step::{Admitted, Frame, Infinite, RunEvent, Scratch};
use crate::wrap::wrap;
use swarmyard_base::{Time, Twist2, math};
use swarmyard_motion::{SKIN_M, Workspace};
use swarmyard_part_api::{Mirror, Policy, Touch};

/// Makes the outcome the new state.
pub(crate) fn commit(
    model: &Model,
    state: &mut State,
    inputs: &Admitted,
    now: Time,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Frame {
    if let Some(live) = scratch.live.take() {
        let events = std::mem::take(&mut scratch.events);
        return commit_live(model, state, inputs, (live, now), scratch, pool, events);
    }
    let mut events = commit_own(model, state, inputs, now, scratch, pool);
    events.sort_by_key(|event| event.order(model));
    events.extend(referee::judge(model, state).into_iter().map(RunEvent::AssertFailed));
    Frame { now, stops: state.stops, hash: step_hash_on(model, state, pool), events }
}

fn step_hash_on(model: &Model, state: &State, pool: &Pool) -> u64 {
    clock(state).wrapping_add(items_on(model, state, pool))
}

/// The part of it that each worker does for its own bodies. Answers what happened, in no order that counts.
pub(crate) fn commit_own(
    model: &Model,
    state: &mut State,
    inputs: &Admitted,
    now: Time,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Vec<RunEvent> {
    let mut events = std::mem::take(&mut scratch.events);
    events.extend(failed_parts(model, state, scratch));
    columns(model, state, scratch);
    admit_inputs(state, inputs);
    schedule(state, scratch);
    move_bodies(model, state, inputs, scratch, pool, &mut events);
    pin(model, state, scratch);
    turn_mirrors(model, state, scratch);
    wrap(model, state);
    halt(model, state, &events);
    keep_touches(model, state, scratch);
    let accounts = &mut state.accounts;
    accounts.contacts += scratch.outcome.contacts.len() as u64;
    accounts.impact_limits += scratch.outcome.limits.len() as u64;
    accounts.inputs += inputs.count;
    state.now = now;
    state.stops += 1;
    state.quantum_index += 1;
    scratch.committed(state.stops, state.pose.len());
    events
}

/// The same where robots live by events: a stretch may end inside of a quantum.
fn commit_live(
    model: &Model,
    state: &mut State,
    inputs: &Admitted,
    (live, bound): (Box<LiveState>, Time),
    scratch: &mut Scratch,
    pool: &Pool,
    mut events: Vec<RunEvent>,
) -> Frame {
    let played = std::mem::take(&mut scratch.played);
    let by_quanta = model.live.as_ref().is_some_and(|live| !live.all);
    if played.began && by_quanta {
        events.extend(failed_parts(model, state, scratch));
        columns(model, state, scratch);
        schedule(state, scratch);
    }
    admit_inputs(state, inputs);
    if !played.began {
        // What was told inside of a quantum waits for its end.
        for (k, (slot, part, first, values)) in inputs.commands.iter().enumerate() {
            let robot = model.uids[*slot];
            let key =
                EventKey { time: bound, offset: 0, phase: 0, low: robot, high: robot, sequence: k as u64 };
            let event = Event::Command { part: *part as u32, first: *first as u32, values: values.clone() };
            state.queue.push(key, event);
        }
    }
    let mid = live.mid;
    state.live = Some(live);
    place_bodies(model, state, scratch);
    events.extend(played.events);
    events.extend(played.contacts.iter().map(|c| RunEvent::Contact(*c)));
    halt(model, state, &events);
    for slot in played.halted {
        state.halted[slot] = true;
    }
    scratch.outcome.touches = played.touches;
    keep_touches(model, state, scratch);
    let accounts = &mut state.accounts;
    accounts.contacts += played.contacts.len() as u64;
    accounts.inputs += inputs.count;
    state.now = if mid { played.until.time } else { bound };
    state.stops += 1;
    if !mid {
        state.quantum_index += 1;
        events.extend(referee::judge(model, state).into_iter().map(RunEvent::AssertFailed));
    }
    scratch.committed(state.stops, state.pose.len());
    Frame { now: state.now, stops: state.stops, hash: step_hash_on(model, state, pool), events }
}

/// Puts every body where its path has brought it.
fn place_bodies(model: &Model, state: &mut State, scratch: &mut Scratch) {
    let (Some(live), Some(members)) = (&state.live, &model.live) else { return };
    for (slot, going) in live.going.iter().enumerate() {
        let moving = !going.is_rest();
        if moving || state.pose[slot] != going.pose {
            let pose = going.pose_at(live.now);
            if !members.all && pose.heading != state.pose[slot].heading {
                scratch.rot[slot] = pose.rot();
            }
            state.pose[slot] = pose;
        }
        state.twist[slot] = match (moving, going.in_world()) {
            (false, _) => Twist2::REST,
            (true, false) => going.twist(),
            (true, true) => {
                let rot = if members.all { state.pose[slot].rot() } else { scratch.rot[slot] };
                let (v, spin) = (rot.unapply(going.twist().linear()), going.twist().spin);
                Twist2::new(v.x, v.y, spin)
            }
        };
        if members.number_of[slot] == crate::live::LiveModel::NOBODY {
            // Since the start of the quantum: what it did before its present path, and on that.
            let rest = travel(&going.segment(), live.now.since(going.start));
            state.moved[slot] = crate::resolve::add(live.moved[slot], rest);
        }
    }
}

/// Parts whose model failed for a robot now and not the time before.
///
/// Why here: what a sensor finds is kept while a step waits for commands; only now is it final.
fn failed_parts(model: &Model, state: &State, scratch: &Scratch) -> Vec<RunEvent> {
    let mut events = Vec::new();
    for (t, ty) in model.types.iter().enumerate() {
        for (p, part) in ty.parts.iter().enumerate() {
            let Some(place) = part.layout.fault else { continue };
            if matches!(part.kind, PartKind::Sensor(..)) && !state.is_due(&part.kind) {
                continue;
            }
            let width = part.layout.reading_width();
            let (old, new) = (&state.types[t].parts[p].readings, &scratch.next[t].parts[p].readings);
            let rows = old.chunks_exact(width).zip(new.chunks_exact(width)).enumerate();
            for (row, _) in rows.filter(|(_, (old, new))| old[place] == 0.0 && new[place] != 0.0) {
                let robot = model.uids[ty.slots.start + row];
                let why = match &part.kind {
                    PartKind::Sensor(sensor, _) => sensor.why(robot),
                    PartKind::Actuator(actuator) => actuator.why(robot),
                };
                events.push(RunEvent::PartFailed { robot, part: p as u32, why });
            }
        }
    }
    events
}

/// Takes over the columns of parts that were due, and all commands and controller states.
fn columns(model: &Model, state: &mut State, scratch: &mut Scratch) {
    for (t, ty) in model.types.iter().enumerate() {
        let next = &mut scratch.next[t];
        for (p, part) in ty.parts.iter().enumerate() {
            let due = match part.kind {
                PartKind::Sensor(..) => state.is_due(&part.kind),
                PartKind::Actuator(_) => true,
            };
            let (old, new) = (&mut state.types[t].parts[p], &mut next.parts[p]);
            if due || part.has_ports {
                std::mem::swap(&mut old.readings, &mut new.readings);
                std::mem::swap(&mut old.state, &mut new.state);
            }
            std::mem::swap(&mut old.commands, &mut new.commands);
        }
        std::mem::swap(&mut state.types[t].controllers, &mut next.controllers);
    }
}

fn admit_inputs(state: &mut State, inputs: &Admitted) {
    state.quantum = inputs.quantum;
    state.quantum_index = inputs.quantum_index;
    state.detail = inputs.detail;
    for &(slot, halt) in &inputs.halts {
        state.halted[slot] = halt;
    }
    state.queue.drop_due(state.now);
}

/// Commands that take effect later wait in the queue. Their place in its order is a function of who
/// decided what, never of who thought first.
fn schedule(state: &mut State, scratch: &mut Scratch) {
    for (time, robot, controller, part, first, value) in scratch.later.drain(..) {
        let sequence = EventKey::sequence_of(u64::from(controller), part, first);
        let key = EventKey { time, offset: 0, phase: 0, low: robot, high: robot, sequence };
        state.queue.push(key, Event::Command { part, first, values: vec![value] });
    }
}

/// Puts every body where its last segment ends. A pose that is not finite is not taken over.
fn move_bodies(
    model: &Model,
    state: &mut State,
    inputs: &Admitted,
    scratch: &mut Scratch,
    pool: &Pool,
    events: &mut Vec<RunEvent>,
) {
    let until_s = inputs.quantum_s();
    let (segments, ends) = (&scratch.intents.segments, &scratch.outcome.end);
    let tasks: Vec<_> = state
        .pose
        .chunks_mut(CHUNK)
        .zip(state.twist.chunks_mut(CHUNK))
        .zip(state.moved.chunks_mut(CHUNK).zip(scratch.rot.chunks_mut(CHUNK)))
        .enumerate()
        .collect();
    let bad = pool.map(tasks, |(c, ((poses, twists), (moved, rots)))| {
        let mut bad = Vec::new();
        for k in 0..poses.len() {
            let slot = c * CHUNK + k;
            let segment = &segments[slot];
            let turned = segment.pose.heading + segment.spin * (until_s - segment.start_s);
            if !(ends[slot].is_finite() && turned.is_finite()) {
                bad.push(slot);
                twists[k] = Twist2::REST;
                moved[k] = Twist2::REST;
                continue;
            }
            let heading = math::wrap_angle(turned);
            if heading != poses[k].heading {
                rots[k] = swarmyard_base::Rot2::new(heading);
            }
            poses[k].at = ends[slot];
            poses[k].heading = heading;
            twists[k] = segment.twist_with(rots[k]);
            moved[k] = travel(segment, until_s);
        }
        bad
    });
    for &(slot, all) in &scratch.outcome.disturbed {
        state.moved[slot as usize] = all;
    }
    events.extend(
        bad.into_iter()
            .flatten()
            .filter(|&slot| slot < model.own)
            .map(|slot| RunEvent::NotFinite { robot: model.uids[slot], what: Infinite::Pose }),
    );
}

/// Lets movers that keep a mirror know how their bodies bounced.
fn turn_mirrors(model: &Model, state: &mut State, scratch: &Scratch) {
    for (slot, bounce) in &scratch.outcome.mirrors {
        let (slot, t) = (*slot as usize, model.type_of[*slot as usize] as usize);
        let ty = &model.types[t];
        let Some(mover) = ty.mover else { continue };
        let first = (slot - ty.slots.start) * ty.parts[mover].layout.state.len();
        let row = &mut state.types[t].parts[mover].state[first..first + Mirror::WIDTH];
        row.copy_from_slice(&Mirror::of_numbers(row).then(bounce).numbers());
    }
}

/// Halts whoever was reported as not finite, or has a controller that failed under that policy; ends
/// the run when a failure says so.
fn halt(model: &Model, state: &mut State, events: &[RunEvent]) {
    for event in events {
        let robot = match event {
            RunEvent::NotFinite { robot, .. } | RunEvent::Failed { robot, then: Policy::Halt, .. } => robot,
            RunEvent::Failed { then: Policy::End, .. } => {
                state.ended = true;
                continue;
            }
            _ => continue,
        };
        if let Some(slot) = model.own_slot_of(*robot)
            && !state.halted[slot]
        {
            state.halted[slot] = true;
            state.accounts.halts += 1;
        }
    }
}

/// New contacts, and old ones whose bodies are still within the skin of one another.
fn keep_touches(model: &Model, state: &mut State, scratch: &mut Scratch) {
    let mut work = Workspace::default();
    let mut all: Vec<Touch> = std::mem::take(&mut scratch.outcome.touches);
    // A pair that touched several times is felt once, at its last contact (they are in order).
    all.sort_by_key(|t| (t.slot, t.other));
    let mut kept: Vec<Touch> = Vec::with_capacity(all.len());
    for touch in all.drain(..) {
        match kept.last_mut().filter(|k| (k.slot, k.other) == (touch.slot, touch.other)) {
            Some(last) => *last = Touch { impulse: last.impulse + touch.impulse, ..touch },
            None => kept.push(touch),
        }
    }
    scratch.outcome.touches = all;
    let fresh = kept.len();
    for old in std::mem::take(&mut state.touches) {
        let again = kept[..fresh].binary_search_by_key(&(old.slot, old.other), |t| (t.slot, t.other)).is_ok();
        let near = |gap: f64| gap <= 2.5 * SKIN_M;
        if !again
            && gap_now(model, state.detail, &state.pose, (old.slot as usize, old.other), &mut work)
                .is_some_and(near)
        {
            kept.push(Touch { impulse: 0.0, ..old });
        }
    }
    // Who holds something does not feel it as a contact.
    let units = &scratch.intents.carrying.units;
    if !units.all().is_empty() {
        kept.retain(|t| !model.slot_of(t.other).is_some_and(|other| units.together(t.slot, other as u32)));
    }
    kept.sort_by_key(|t| (t.slot, t.other));
    state.touches = kept;
}
