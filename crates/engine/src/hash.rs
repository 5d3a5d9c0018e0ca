//! The step hash (bodies, channels, queue, accounts) and the full hash (also private memories).

use crate::minds::Minds;
use crate::model::{Model, TypeModel};
use crate::parallel::{CHUNK, Pool};
use crate::state::State;
use swarmyard_base::Uid;
use swarmyard_base::hash::{item_hash, mix64};
use swarmyard_part_api::Detail;

/// What an item is; part of its hash, so never renumber.
const BODY: u64 = 1;
const READINGS: u64 = 2;
const COMMANDS: u64 = 3;
const PART_STATE: u64 = 4;
const CONTROLLER: u64 = 5;
const CLOCK: u64 = 6;
const TOUCH: u64 = 7;
const VERDICT: u64 = 8;
const ENDED: u64 = 9;
const CARRY: u64 = 10;

/// Hash of bodies, channels, queue and accounts.
#[must_use]
pub fn step_hash(model: &Model, state: &State) -> u64 {
    let types = model.types.iter().enumerate();
    types.fold(clock(state).wrapping_add(rest(model, state)), |sum, (t, ty)| {
        sum.wrapping_add(rows_hash(model, state, t, 0..ty.slots.len()))
    })
}

/// What bodies, channels, contacts and pending events add to the hash. It is a sum over items, so the
/// shares of a run add up to the whole; the [`clock`] is added once.
pub(crate) fn items_on(model: &Model, state: &State, pool: &Pool) -> u64 {
    let mut tasks = Vec::new();
    for (t, ty) in model.types.iter().enumerate() {
        for first in (0..ty.slots.len()).step_by(CHUNK) {
            tasks.push((t, first..(first + CHUNK).min(ty.slots.len())));
        }
    }
    let sums = pool.map(tasks, |(t, rows)| rows_hash(model, state, t, rows));
    sums.into_iter().fold(rest(model, state), u64::wrapping_add)
}

/// Hash of everything: the step hash, and the memories of controllers.
#[must_use]
pub fn full_hash(model: &Model, state: &State, minds: &Minds) -> u64 {
    let mut sum = step_hash(model, state).wrapping_add(minds.hash(model));
    for (ty, columns) in model.types.iter().zip(&state.types) {
        for (c, column) in columns.controllers.iter().enumerate() {
            sum = sum.wrapping_add(column_hash(
                model,
                ty,
                CONTROLLER + ((c as u64) << 8),
                column,
                0..ty.slots.len(),
            ));
        }
    }
    sum
}

fn rows_hash(model: &Model, state: &State, t: usize, rows: std::ops::Range<usize>) -> u64 {
    let ty = &model.types[t];
    let mut sum = 0_u64;
    for row in rows.clone() {
        let slot = ty.slots.start + row;
        let (p, v, m) = (state.pose[slot], state.twist[slot], state.moved_of(slot));
        let halted = f64::from(u8::from(state.halted[slot]));
        let numbers =
            [p.at.x, p.at.y, p.heading, v.forward, v.left, v.spin, m.forward, m.left, m.spin, halted];
        sum = sum.wrapping_add(item_hash(model.uids[slot], BODY, &numbers));
    }
    for (p, columns) in state.types[t].parts.iter().enumerate() {
        let tag = (p as u64) << 8;
        sum = sum.wrapping_add(column_hash(model, ty, READINGS + tag, &columns.readings, rows.clone()));
        sum = sum.wrapping_add(column_hash(model, ty, COMMANDS + tag, &columns.commands, rows.clone()));
        sum = sum.wrapping_add(column_hash(model, ty, PART_STATE + tag, &columns.state, rows.clone()));
    }
    sum
}

fn column_hash(
    model: &Model,
    ty: &TypeModel,
    what: u64,
    column: &[f64],
    rows: std::ops::Range<usize>,
) -> u64 {
    if column.is_empty() {
        return 0;
    }
    let width = column.len() / ty.slots.len();
    let uids = &model.uids[ty.slots.start + rows.start..ty.slots.start + rows.end];
    let rows = column[rows.start * width..rows.end * width].chunks_exact(width);
    uids.iter().zip(rows).fold(0, |sum, (uid, row)| sum.wrapping_add(item_hash(*uid, what, row)))
}

/// The level of detail in the hash; never renumber. The usual level is 0, as it was when there were two.
fn detail_word(detail: Detail) -> u64 {
    match detail {
        Detail::Normal => 0,
        Detail::Coarse => 1,
        Detail::Fine => 2,
    }
}

/// Time, settings, accounts and verdicts.
pub(crate) fn clock(state: &State) -> u64 {
    let a = &state.accounts;
    let mut h = mix64(CLOCK);
    for word in [
        state.now.0 as u64,
        state.quantum.origin.0 as u64,
        state.quantum.length.num() as u64,
        state.quantum.length.den() as u64,
        detail_word(state.detail),
        a.contacts,
        a.halts,
        a.impact_limits,
        a.inputs,
    ] {
        h = mix64(h ^ word);
    }
    for (k, v) in state.verdicts.iter().enumerate() {
        h = h.wrapping_add(item_hash(
            Uid(k as u64),
            VERDICT,
            &[v.asked as f64, v.held as f64, f64::from(u8::from(v.last))],
        ));
    }
    if state.ended { h.wrapping_add(mix64(ENDED)) } else { h }
}

/// Contacts, what is carried, and pending events.
fn rest(model: &Model, state: &State) -> u64 {
    let mut h = 0_u64;
    for t in &state.touches {
        let kind = f64::from(t.kind as u8);
        let pair = Uid(model.uids[t.slot as usize].0.rotate_left(17) ^ t.other.0);
        h = h.wrapping_add(item_hash(pair, TOUCH, &[kind, t.point.x, t.point.y, t.impulse]));
    }
    for c in state.carried.iter().filter(|c| (c.object as usize) < model.own) {
        let (object, carrier) = (model.uids[c.object as usize], model.uids[c.carrier as usize]);
        let pair = Uid(object.0.rotate_left(17) ^ carrier.0);
        let o = c.offset;
        h = h.wrapping_add(item_hash(pair, CARRY, &[f64::from(c.part), o.at.x, o.at.y, o.heading]));
    }
    let live = state.live.as_ref().map_or(0, |live| live.hash(model));
    h.wrapping_add(state.queue.hash()).wrapping_add(live)
}
