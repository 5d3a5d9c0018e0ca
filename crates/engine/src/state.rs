//! Everything that changes in a run: plain data, complete, hashable, serialisable.

use crate::carry::hand_of;
use crate::live::LiveState;
use crate::model::{Model, PartKind};
use crate::queue::EventQueue;
use serde::{Deserialize, Serialize};
use swarmyard_base::{Period, Pose2, Time, Twist2};
use swarmyard_part_api::{Carry, Detail, Touch};

/// Numbers of one part, for all robots of its type, row by row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PartColumns {
    /// What it reports.
    pub readings: Vec<f64>,
    /// What it is told.
    pub commands: Vec<f64>,
    /// Its private state.
    pub state: Vec<f64>,
}

/// Numbers of all parts and controllers of one type.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeColumns {
    /// By part number.
    pub parts: Vec<PartColumns>,
    /// Private state by controller number.
    pub controllers: Vec<Vec<f64>>,
}

impl TypeColumns {
    /// All columns, in one order: what parts report, are told and keep to themselves, then what controllers keep.
    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        let parts = self.parts.iter().flat_map(|p| [&p.readings[..], &p.commands, &p.state]);
        parts.chain(self.controllers.iter().map(|c| &c[..]))
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        let parts = self.parts.iter_mut().flat_map(|PartColumns { readings, commands, state }| {
            [&mut readings[..], &mut commands[..], &mut state[..]]
        });
        parts.chain(self.controllers.iter_mut().map(|c| &mut c[..]))
    }

    /// Everything about one body of `rows`, column by column.
    pub(crate) fn row(&self, rows: usize, row: usize) -> Vec<f64> {
        let width = |column: &[f64]| column.len() / rows.max(1);
        let mut all = Vec::with_capacity(self.columns().map(width).sum());
        for column in self.columns() {
            let width = width(column);
            all.extend_from_slice(&column[row * width..(row + 1) * width]);
        }
        all
    }

    /// Writes down everything about one body of `rows`; answers whether it fits, and changes nothing when it does not.
    pub(crate) fn put_row(&mut self, rows: usize, row: usize, mut all: &[f64]) -> bool {
        let width = |column: &[f64]| column.len() / rows.max(1);
        if self.columns().map(width).sum::<usize>() != all.len() {
            return false;
        }
        for column in self.columns_mut() {
            let width = width(column);
            let (own, others) = all.split_at(width);
            column[row * width..(row + 1) * width].copy_from_slice(own);
            all = others;
        }
        true
    }

    /// Takes over rows of columns that have as many of them as `rows`: (row there, row here).
    pub(crate) fn move_rows(&mut self, from: &TypeColumns, rows: usize, moves: &[(usize, usize)]) {
        for (to, from) in self.columns_mut().zip(from.columns()) {
            let width = from.len() / rows.max(1);
            for &(there, here) in moves {
                let row = &from[there * width..(there + 1) * width];
                to[here * width..(here + 1) * width].copy_from_slice(row);
            }
        }
    }
}

/// Counters of the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Accounts {
    /// Contacts so far.
    pub contacts: u64,
    /// Robots halted so far.
    pub halts: u64,
    /// Times a body exceeded its impact limit.
    pub impact_limits: u64,
    /// Inputs admitted from the journal so far.
    pub inputs: u64,
}

/// How an assertion stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Quanta at which the condition was asked for.
    pub asked: u64,
    /// Quanta at which it held.
    pub held: u64,
    /// Whether it held the last time it was asked for.
    pub last: bool,
    /// First time it did not hold.
    pub first_failure: Option<Time>,
}

/// Everything that changes in a run. Only `commit` writes it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// Now.
    pub now: Time,
    /// Stops so far: the number of committed steps.
    pub stops: u64,
    /// Quanta counted from the period's origin.
    pub quantum_index: u64,
    /// The current quantum and when it was set.
    pub quantum: Period,
    /// Level of detail.
    pub detail: Detail,
    /// Pose of each body, by slot.
    pub pose: Vec<Pose2>,
    /// Velocity of each body in its own frame, by slot.
    pub twist: Vec<Twist2>,
    /// What each body did in the last stretch, in its own frame, by slot; empty where all live by events, and
    /// nobody asks.
    pub moved: Vec<Twist2>,
    /// Halted bodies, by slot.
    pub halted: Vec<bool>,
    /// Numbers of parts and controllers, by type.
    pub types: Vec<TypeColumns>,
    /// Contacts of the last stretch and those that persist, by slot, then by the other's uid.
    pub touches: Vec<Touch>,
    /// Who carries what, by the carried slot.
    pub carried: Vec<Carry>,
    /// Events to come.
    pub queue: EventQueue,
    /// Counters.
    pub accounts: Accounts,
    /// Assertions, by number.
    pub verdicts: Vec<Verdict>,
    /// What else changes where robots live by events.
    pub live: Option<Box<LiveState>>,
    /// Whether the failure of a controller has ended the run.
    pub ended: bool,
    /// Changes of the world so far: the stop at which each was made, and the world's hash. No part of
    /// the hash of a step: it is how the state came about, not what it is.
    pub worlds: Vec<(u64, u64)>,
}

impl State {
    /// The state at the start: bodies at rest where the scenario put them, every column at its
    /// initial value.
    #[must_use]
    pub fn new(model: &Model, poses: Vec<Pose2>) -> State {
        let n = poses.len();
        let repeat = |row: &[f64], times: usize| row.repeat(times);
        let types = model
            .types
            .iter()
            .map(|ty| TypeColumns {
                parts: ty
                    .parts
                    .iter()
                    .map(|part| PartColumns {
                        readings: vec![0.0; part.layout.reading_width() * ty.slots.len()],
                        commands: vec![0.0; part.layout.command_width() * ty.slots.len()],
                        state: repeat(&part.layout.state, ty.slots.len()),
                    })
                    .collect(),
                controllers: ty.controllers.iter().map(|c| repeat(&c.state, ty.slots.len())).collect(),
            })
            .collect();
        let live = LiveState::new(model, &poses).map(Box::new);
        let all_live = model.live.as_ref().is_some_and(|live| live.all);
        State {
            live,
            now: Time::ZERO,
            stops: 0,
            quantum_index: 0,
            quantum: Period::new(model.run.quantum),
            detail: model.run.detail,
            pose: poses,
            twist: vec![Twist2::REST; n],
            moved: if all_live { Vec::new() } else { vec![Twist2::REST; n] },
            halted: vec![false; n],
            types,
            touches: Vec::new(),
            carried: Vec::new(),
            queue: EventQueue::default(),
            accounts: Accounts::default(),
            verdicts: vec![Verdict::default(); model.asserts.len()],
            ended: false,
            worlds: Vec::new(),
        }
    }

    /// What the body in `slot` did in the last stretch, in its own frame.
    #[inline]
    #[must_use]
    pub fn moved_of(&self, slot: usize) -> Twist2 {
        self.moved.get(slot).copied().unwrap_or(Twist2::REST)
    }

    /// Whether this state has the shape that `model` needs: sizes of all columns.
    #[must_use]
    pub fn fits(&self, model: &Model) -> bool {
        let n = model.len();
        let bodies = [self.pose.len(), self.twist.len(), self.halted.len()];
        let all_live = model.live.as_ref().is_some_and(|live| live.all);
        bodies.iter().all(|&len| len == n)
            && (self.moved.len() == n || all_live && self.moved.is_empty())
            && self.types.len() == model.types.len()
            && self.live.as_ref().map_or(model.live.is_none(), |live| live.fits(model))
            && self.verdicts.len() == model.asserts.len()
            && self.touches.iter().all(|t| (t.slot as usize) < n)
            && self.carried.is_sorted_by(|a, b| a.object < b.object)
            && self.carried.iter().all(|c| is_possible(model, c))
            && self.types.iter().zip(&model.types).all(|(columns, ty)| {
                let robots = ty.slots.len();
                columns.parts.len() == ty.parts.len()
                    && columns.controllers.len() == ty.controllers.len()
                    && columns.parts.iter().zip(&ty.parts).all(|(c, p)| {
                        c.readings.len() == p.layout.reading_width() * robots
                            && c.commands.len() == p.layout.command_width() * robots
                            && c.state.len() == p.layout.state.len() * robots
                    })
                    && columns
                        .controllers
                        .iter()
                        .zip(&ty.controllers)
                        .all(|(c, m)| c.len() == m.state.len() * robots)
            })
    }

    /// Bytes of memory it takes.
    #[must_use]
    pub(crate) fn bytes(&self) -> usize {
        let bodies = size_of_val(&self.pose[..])
            + size_of_val(&self.twist[..])
            + size_of_val(&self.moved[..])
            + size_of_val(&self.halted[..]);
        let parts = self.types.iter().flat_map(|ty| &ty.parts);
        let numbers: usize = parts.map(|p| p.readings.len() + p.commands.len() + p.state.len()).sum();
        let own: usize = self.types.iter().flat_map(|ty| &ty.controllers).map(Vec::len).sum();
        let rest = size_of_val(&self.touches[..])
            + size_of_val(&self.carried[..])
            + size_of_val(&self.verdicts[..])
            + self.queue.bytes()
            + self.live.as_ref().map_or(0, |live| live.bytes());
        size_of::<State>() + bodies + (numbers + own) * size_of::<f64>() + rest
    }

    /// Whether a part reports something new at this stop: actuators always, sensors when due.
    #[must_use]
    pub(crate) fn is_due(&self, kind: &PartKind) -> bool {
        match kind {
            PartKind::Sensor(_, Some(period)) => {
                let ticks = Period::new(*period);
                // Due when a tick has come since the previous stop (or at the very start).
                let before = if self.stops == 0 { 0 } else { ticks.ticks_by(self.previous_stop()) };
                ticks.ticks_by(self.now) > before
            }
            _ => true,
        }
    }

    /// Whether a part is a sensor that takes a reading at this stop.
    #[must_use]
    pub fn is_fresh(&self, kind: &PartKind) -> bool {
        matches!(kind, PartKind::Sensor(..)) && self.is_due(kind)
    }

    /// Whether the last stop was inside of a quantum: nothing that goes by quanta is due.
    #[must_use]
    pub fn is_mid(&self) -> bool {
        self.live.as_ref().is_some_and(|live| live.mid)
    }

    fn previous_stop(&self) -> Time {
        // A change of quantum restarts the period at its own origin, which was a stop.
        if self.quantum_index == 0 { Time(self.now.0 - 1) } else { self.quantum.tick(self.quantum_index - 1) }
    }
}

/// Whether the model has such bodies, and such a hand.
fn is_possible(model: &Model, carry: &Carry) -> bool {
    let (object, carrier) = (carry.object as usize, carry.carrier as usize);
    object < model.len()
        && carrier < model.len()
        && model.is_movable(object)
        && hand_of(model, model.type_of[carrier] as usize, carry.part as usize).is_some()
}
