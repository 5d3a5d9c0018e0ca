//! Controllers decide; commands from outside are laid over their decisions.

use crate::meter::{Kind, Took, Watch, timed};
use crate::minds::{self, Minds};
use crate::model::{ControllerKind, Model, TypeModel};
use crate::parallel::{CHUNK, Pool};
use crate::rows::{Rows, chunks_mut, copy};
use crate::sense::rows_of;
use crate::state::{PartColumns, State, TypeColumns};
use crate::step::{Admitted, Infinite, RunEvent, Scratch};
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;
use swarmyard_base::Uid;
use swarmyard_part_api::{
    Channels, Column, ColumnMut, Controller, Policy, RegisterFile, ThinkRows, ThinkView,
};

/// Controllers go on with other programs, when that has entered.
pub(crate) fn switch(minds: &mut Minds, inputs: &Admitted) {
    for &(ty, controller, code) in &inputs.codes {
        minds.switch(ty, controller, code);
    }
}

/// Fills `scratch.next` with the commands of these rows. Nobody's may be missing.
pub(crate) fn think(
    model: &Model,
    state: &State,
    minds: &mut Minds,
    inputs: &Admitted,
    rows: &Rows,
    scratch: &mut Scratch,
    pool: &Pool,
) {
    let view = ThinkView { now: state.now, quantum_s: inputs.quantum_s(), seed: model.run.seed };
    for (t, (ty, committed)) in model.types.iter().zip(&state.types).enumerate() {
        let wanted = rows.of(t, ty);
        prepare(state, ty, committed, &wanted, &mut scratch.next[t]);
        for (c, controller) in ty.controllers.iter().enumerate() {
            let width = controller.state.len();
            copy(&mut scratch.next[t].controllers[c], &committed.controllers[c], width, &wanted);
            if let ControllerKind::Columns(controller) = &controller.model {
                let next = &mut scratch.next[t];
                let around = (&view, &wanted, scratch.meter.watch());
                let took = decide(model, state, ty, c, controller.as_ref(), committed, next, around, pool);
                scratch.meter.share(Kind::Think, took);
            } else {
                let own = wanted.start * width..wanted.end * width;
                wake(inputs, (t, c), &mut scratch.next[t].controllers[c][own]);
                minds::decide(model, state, inputs, minds, (t, c, &wanted), scratch, pool);
            }
        }
    }
    overlay(model, inputs, rows, scratch);
    poke(model, state, inputs, rows, scratch);
    check_finite(model, state, inputs, rows, scratch);
}

/// Commands stay as they were until somebody says otherwise. A part with ports keeps its state at
/// hand, whether it is due or not.
fn prepare(
    state: &State,
    ty: &TypeModel,
    committed: &TypeColumns,
    rows: &Range<usize>,
    next: &mut TypeColumns,
) {
    for ((part, old), new) in ty.parts.iter().zip(&committed.parts).zip(&mut next.parts) {
        copy(&mut new.commands, &old.commands, part.layout.command_width(), rows);
        if part.has_ports && !state.is_fresh(&part.kind) {
            copy(&mut new.readings, &old.readings, part.layout.reading_width(), rows);
            copy(&mut new.state, &old.state, part.layout.state.len(), rows);
        }
    }
}

/// New code runs again, whatever became of the old.
fn wake(inputs: &Admitted, controller: (usize, usize), rows: &mut [f64]) {
    if inputs.codes.iter().any(|&(t, c, _)| (t, c) == controller) {
        for row in rows.chunks_exact_mut(minds::ROW.len()) {
            row.copy_from_slice(&minds::ROW);
        }
    }
}

/// The readings controllers see, by part: fresh ones of sensors that were due, else the last ones.
pub(crate) fn fresh_readings<'a>(
    state: &State,
    ty: &TypeModel,
    committed: &'a TypeColumns,
    next: &'a TypeColumns,
) -> Vec<&'a [f64]> {
    let parts = ty.parts.iter().zip(&next.parts).zip(&committed.parts);
    let readings = parts.map(
        |((part, new), old)| if state.is_fresh(&part.kind) { &new.readings[..] } else { &old.readings[..] },
    );
    readings.collect()
}

/// What is written to registers from outside comes last.
fn poke(model: &Model, state: &State, inputs: &Admitted, rows: &Rows, scratch: &mut Scratch) {
    for (slot, poke) in inputs.pokes.iter().filter(|p| rows.has(model, p.0)) {
        let t = model.type_of[*slot] as usize;
        let ty = &model.types[t];
        let row = slot - ty.slots.start;
        let next = &mut scratch.next[t];
        let mut registers = RegisterFile::new(Arc::clone(&ty.registers));
        let readings = fresh_readings(state, ty, &state.types[t], next);
        latch(ty, row, &readings, &next.parts, |p| &next.parts[p].state, &mut registers);
        poke.play(&mut registers);
        for (part, place, value) in registers.commands() {
            next.parts[part].commands[row * ty.parts[part].layout.command_width() + place] = value;
        }
        for (part, private) in registers.ports() {
            let width = private.len();
            next.parts[*part].state[row * width..(row + 1) * width].copy_from_slice(private);
        }
    }
}

/// A robot's registers as the committed state has them.
#[must_use]
pub fn registers_now(model: &Model, state: &State, slot: usize) -> RegisterFile {
    let t = model.type_of[slot] as usize;
    let (ty, parts) = (&model.types[t], &state.types[t].parts);
    let mut registers = RegisterFile::new(Arc::clone(&ty.registers));
    let readings: Vec<&[f64]> = parts.iter().map(|p| &p.readings[..]).collect();
    latch(ty, slot - ty.slots.start, &readings, parts, |p| &parts[p].state, &mut registers);
    registers
}

/// A robot's registers as its controllers see them at the stop that waits for them: fresh readings,
/// commands as they were.
#[must_use]
pub fn registers_sensed(model: &Model, state: &State, scratch: &Scratch, slot: usize) -> RegisterFile {
    let t = model.type_of[slot] as usize;
    let (ty, committed, next) = (&model.types[t], &state.types[t], &scratch.next[t]);
    let mut registers = RegisterFile::new(Arc::clone(&ty.registers));
    let readings = fresh_readings(state, ty, committed, next);
    let row = slot - ty.slots.start;
    let states = |part: usize| {
        let columns = if state.is_fresh(&ty.parts[part].kind) { next } else { committed };
        &columns.parts[part].state[..]
    };
    latch(ty, row, &readings, &committed.parts, states, &mut registers);
    registers
}

/// Latches a robot's registers: readings and states of parts with ports as given, commands from `parts`.
pub(crate) fn latch<'a>(
    ty: &TypeModel,
    row: usize,
    readings: &[&[f64]],
    parts: &[PartColumns],
    states: impl Fn(usize) -> &'a [f64],
    registers: &mut RegisterFile,
) {
    registers.latch(|part, place, command| {
        let layout = &ty.parts[part].layout;
        if command {
            parts[part].commands[row * layout.command_width() + place]
        } else {
            readings[part][row * layout.reading_width() + place]
        }
    });
    registers.bring_ports(|part| {
        let width = ty.parts[part].layout.state.len();
        &states(part)[row * width..(row + 1) * width]
    });
}

/// Robots whose controller waits for the outside and has got nothing at this stop.
pub(crate) fn missing(model: &Model, state: &State, inputs: &Admitted) -> Vec<Uid> {
    let skipped: BTreeSet<usize> = inputs.skipped.iter().copied().collect();
    let mut waiting = Vec::new();
    for ty in &model.types {
        for (c, controller) in ty.controllers.iter().enumerate().filter(|(_, c)| c.model.waits()) {
            let told: BTreeSet<usize> = match controller.model {
                ControllerKind::Outside(_) => {
                    inputs.thoughts.keys().filter(|t| t.1 == c).map(|t| t.0).collect()
                }
                _ => inputs.commands.iter().map(|c| c.0).collect(),
            };
            let asked = |slot: &usize| match controller.model {
                ControllerKind::Outside(_) => {
                    minds::is_due(model, state, *slot, c) && !is_halted(state, inputs, *slot)
                }
                _ => true,
            };
            let open = |slot: &usize| !told.contains(slot) && !skipped.contains(slot) && asked(slot);
            waiting.extend(ty.slots.clone().filter(open));
        }
    }
    waiting.sort_unstable();
    waiting.dedup();
    waiting.into_iter().map(|slot| model.uids[slot]).collect()
}

#[expect(
    clippy::too_many_arguments,
    reason = "one controller over one type: all of them are needed and none belongs together"
)]
fn decide(
    model: &Model,
    state: &State,
    ty: &TypeModel,
    number: usize,
    controller: &dyn Controller,
    committed: &TypeColumns,
    next: &mut TypeColumns,
    (view, wanted, watch): (&ThinkView, &Range<usize>, Option<&dyn Watch>),
    pool: &Pool,
) -> Vec<Took> {
    let chunks = wanted.len().div_ceil(CHUNK);
    let width = ty.controllers[number].state.len();
    let mut commands: Vec<Vec<ColumnMut<'_>>> = (0..chunks).map(|_| Vec::new()).collect();
    let mut readings: Vec<(&[f64], usize)> = Vec::new();
    for ((part, columns), old) in ty.parts.iter().zip(&mut next.parts).zip(&committed.parts) {
        let source = if state.is_fresh(&part.kind) { &columns.readings } else { &old.readings };
        readings.push((source, part.layout.reading_width()));
        let w = part.layout.command_width();
        for (chunk, data) in commands.iter_mut().zip(chunks_mut(&mut columns.commands, w, wanted)) {
            chunk.push(ColumnMut { data, width: w });
        }
    }
    let states = chunks_mut(&mut next.controllers[number], width, wanted);
    let tasks: Vec<_> = commands.into_iter().zip(states).enumerate().collect();
    pool.map(tasks, |(c, (mut commands, next_state))| {
        let first = wanted.start + c * CHUNK;
        let len = CHUNK.min(wanted.end - first);
        let columns: Vec<Column<'_>> = readings.iter().map(|&(d, w)| rows_of(d, w, first, len)).collect();
        let slots = ty.slots.start + first..ty.slots.start + first + len;
        let mut rows = ThinkRows {
            uids: &model.uids[slots.clone()],
            readings: Channels(&columns),
            commands: &mut commands,
            state: rows_of(&committed.controllers[number], width, first, len),
            next_state: ColumnMut { data: next_state, width },
        };
        (slots, timed(watch, || controller.think(view, &mut rows)).1)
    })
}

/// Lays commands from outside over those of the controllers.
fn overlay(model: &Model, inputs: &Admitted, rows: &Rows, scratch: &mut Scratch) {
    for (slot, part, first, values) in inputs.commands.iter().filter(|c| rows.has(model, c.0)) {
        let t = model.type_of[*slot] as usize;
        let Some(p) = model.types[t].parts.get(*part) else { continue };
        let width = p.layout.command_width();
        if first + values.len() <= width {
            let at = (slot - model.types[t].slots.start) * width + first;
            scratch.next[t].parts[*part].commands[at..at + values.len()].copy_from_slice(values);
        }
    }
}

/// Halts robots with a command that is not a finite number, and keeps halted ones quiet, also those
/// whose controller has just failed.
fn check_finite(model: &Model, state: &State, inputs: &Admitted, rows: &Rows, scratch: &mut Scratch) {
    let failed = scratch.events.iter().filter_map(|event| match event {
        RunEvent::Failed { robot, then: Policy::Halt, .. } => model.own_slot_of(*robot),
        _ => None,
    });
    let failed: BTreeSet<usize> = failed.collect();
    for (t, (ty, next)) in model.types.iter().zip(&mut scratch.next).enumerate() {
        let wanted = rows.of(t, ty);
        for (part, columns) in ty.parts.iter().zip(&mut next.parts) {
            let width = part.layout.command_width();
            if width == 0 {
                continue;
            }
            let commands = columns.commands.chunks_mut(width).enumerate();
            for (row, commands) in commands.take(wanted.end).skip(wanted.start) {
                let slot = ty.slots.start + row;
                let finite = commands.iter().all(|x| x.is_finite());
                if !finite && !is_halted(state, inputs, slot) {
                    scratch
                        .events
                        .push(RunEvent::NotFinite { robot: model.uids[slot], what: Infinite::Command });
                }
                if !finite || is_halted(state, inputs, slot) || failed.contains(&slot) {
                    commands.fill(0.0);
                }
            }
        }
    }
}

/// Whether a robot is halted at this stop, after what entered.
pub(crate) fn is_halted(state: &State, inputs: &Admitted, slot: usize) -> bool {
    let entered = inputs.halts.iter().rev().find(|h| h.0 == slot);
    entered.map_or(state.halted[slot], |h| h.1)
}
