//! Controllers decide; commands from outside are laid over their decisions.

use crate::model::{Model, PartKind, TypeModel};
use crate::parallel::{CHUNK, Pool};
use crate::sense::{chunks_mut, rows_of};
use crate::state::{State, TypeColumns};
use crate::step::{Admitted, RunEvent, Scratch};
use std::collections::BTreeSet;
use swarmyard_base::Uid;
use swarmyard_part_api::{Channels, Column, ColumnMut, Controller, ThinkRows, ThinkView};

/// Fills `scratch.next` with commands; or says whose commands are missing, having changed nothing
/// that counts.
pub(crate) fn think(
    model: &Model,
    state: &State,
    inputs: &Admitted,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Option<Vec<Uid>> {
    let waiting = missing(model, inputs);
    if !waiting.is_empty() {
        return Some(waiting);
    }
    let view = ThinkView { now: state.now, quantum_s: inputs.quantum_s(), seed: model.run.seed };
    for ((ty, committed), next) in model.types.iter().zip(&state.types).zip(&mut scratch.next) {
        for (p, part) in next.parts.iter_mut().enumerate() {
            part.commands.copy_from_slice(&committed.parts[p].commands);
        }
        for (c, controller) in ty.controllers.iter().enumerate() {
            next.controllers[c].copy_from_slice(&committed.controllers[c]);
            decide(model, state, ty, c, controller.model.as_ref(), committed, next, &view, pool);
        }
    }
    overlay(model, inputs, scratch);
    check_finite(model, state, inputs, scratch);
    None
}

/// Robots whose controller waits for the outside and has got nothing at this stop.
fn missing(model: &Model, inputs: &Admitted) -> Vec<Uid> {
    let told: BTreeSet<usize> =
        inputs.commands.iter().map(|c| c.0).chain(inputs.skipped.iter().copied()).collect();
    let waits = model.types.iter().filter(|t| t.controllers.iter().any(|c| c.model.waits()));
    let slots = waits.flat_map(|t| t.slots.clone()).filter(|slot| !told.contains(slot));
    slots.map(|slot| model.uids[slot]).collect()
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
    view: &ThinkView,
    pool: &Pool,
) {
    let chunks = ty.slots.len().div_ceil(CHUNK);
    let width = ty.controllers[number].state.len();
    let mut commands: Vec<Vec<ColumnMut<'_>>> = (0..chunks).map(|_| Vec::new()).collect();
    let mut readings: Vec<(&[f64], usize)> = Vec::new();
    for ((part, columns), old) in ty.parts.iter().zip(&mut next.parts).zip(&committed.parts) {
        let fresh = matches!(part.kind, PartKind::Sensor(..)) && state.is_due(&part.kind);
        let source = if fresh { &columns.readings } else { &old.readings };
        readings.push((source, part.layout.reading_width()));
        let w = part.layout.command_width();
        for (chunk, data) in commands.iter_mut().zip(chunks_mut(&mut columns.commands, w, chunks)) {
            chunk.push(ColumnMut { data, width: w });
        }
    }
    let states = chunks_mut(&mut next.controllers[number], width, chunks);
    let tasks: Vec<_> = commands.into_iter().zip(states).enumerate().collect();
    pool.each(tasks, |(c, (mut commands, next_state))| {
        let first = c * CHUNK;
        let len = CHUNK.min(ty.slots.len() - first);
        let columns: Vec<Column<'_>> = readings.iter().map(|&(d, w)| rows_of(d, w, first, len)).collect();
        let slots = ty.slots.start + first..ty.slots.start + first + len;
        controller.think(
            view,
            &mut ThinkRows {
                uids: &model.uids[slots],
                readings: Channels(&columns),
                commands: &mut commands,
                state: rows_of(&committed.controllers[number], width, first, len),
                next_state: ColumnMut { data: next_state, width },
            },
        );
    });
}

/// Lays commands from outside over those of the controllers.
fn overlay(model: &Model, inputs: &Admitted, scratch: &mut Scratch) {
    for (slot, part, first, values) in &inputs.commands {
        let t = model.type_of[*slot] as usize;
        let Some(p) = model.types[t].parts.get(*part) else { continue };
        let width = p.layout.command_width();
        if first + values.len() <= width {
            let at = (slot - model.types[t].slots.start) * width + first;
            scratch.next[t].parts[*part].commands[at..at + values.len()].copy_from_slice(values);
        }
    }
}

/// Halts robots with a command that is not a finite number, and keeps halted ones quiet.
fn check_finite(model: &Model, state: &State, inputs: &Admitted, scratch: &mut Scratch) {
    for (ty, next) in model.types.iter().zip(&mut scratch.next) {
        for (part, columns) in ty.parts.iter().zip(&mut next.parts) {
            let width = part.layout.command_width();
            if width == 0 {
                continue;
            }
            for (row, commands) in columns.commands.chunks_mut(width).enumerate() {
                let slot = ty.slots.start + row;
                let finite = commands.iter().all(|x| x.is_finite());
                if !finite && !is_halted(state, inputs, slot) {
                    scratch.events.push(RunEvent::NotFinite { robot: model.uids[slot], what: "command" });
                }
                if !finite || is_halted(state, inputs, slot) {
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
