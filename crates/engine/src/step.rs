//! One stretch of simulated time, from start to finish.
//!
//! In: the committed [`State`], the compiled [`Model`], and the journal of what came from outside.
//! Out: the next committed state, and a [`Frame`] for displays, recorders and referees.
//!
//! Only `commit` changes the state. Every phase is an indexed map over robots, so neither the number
//! of threads nor the order of the scenario file can change a result.

use crate::act::{Intents, act};
use crate::carry::carry;
use crate::commit::commit;
use crate::groups::{ContactEvent, Grouping};
use crate::journal::{BusAccess, InputKind, Journal};
use crate::live::{Dealing, Given, Going, Leave, LiveNote, LiveState, Played, Sky, Wants, play};
use crate::meter::{Meter, Spent, Watch};
use crate::minds::Minds;
use crate::model::Model;
use crate::parallel::Pool;
use crate::queue::Event;
use crate::resolve::{Outcome, resolve};
use crate::rows::Rows;
use crate::sense::sense;
use crate::state::{State, TypeColumns};
use crate::think::{missing, switch, think};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::{Moment, Period, Rot2, Time, Twist2, Uid};
use swarmyard_part_api::{Access, Bodies, BodyGrid, Detail, Failure, Frame as PathFrame, Policy, Thought};

/// Advances the run by one step, or says which robots it waits for.
///
/// When it waits, nothing has changed: ask again after their commands (or a decision to skip them)
/// have entered the journal. When it is left under way ([`Scratch::leave`]), ask again with the same scratch, and
/// it goes on where it was left, with the inputs it began with.
pub fn step(
    model: &Model,
    state: &mut State,
    minds: &mut Minds,
    journal: &Journal,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Step {
    pool.within(|| stretch(model, state, minds, journal, scratch, pool))
}

fn stretch(
    model: &Model,
    state: &mut State,
    minds: &mut Minds,
    journal: &Journal,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Step {
    if let Some((inputs, bound)) = scratch.under_way.take() {
        resolve_live(model, state, minds, (bound, &[]), scratch);
        return commit_unless_left(model, state, (inputs, bound), scratch, pool);
    }
    let inputs = admit(model, state, journal);
    let bound = next_stop(&inputs);
    let Ok(answers) = answers(model, state, &inputs) else {
        return Step::Blocked(unanswered(model, state, &inputs));
    };
    // Nothing goes by quanta inside of one, or where everybody lives by events.
    let all_live = model.live.as_ref().is_some_and(|live| live.all);
    if all_live || state.is_mid() {
        // Where everybody lives by events, nothing but a path is ever turned.
        if !all_live {
            scratch.turn_to(state);
        }
        resolve_live(model, state, minds, (bound, &answers), scratch);
        return commit_unless_left(model, state, (inputs, bound), scratch, pool);
    }
    if let Some(waiting) = intend(model, state, minds, &inputs, scratch, pool) {
        return Step::Blocked(waiting);
    }
    carry(model, state, inputs.quantum_s(), scratch, pool);
    if model.live.is_some() {
        resolve_live(model, state, minds, (bound, &answers), scratch);
    } else {
        // The whole world is known here.
        let known = resolve(model, state, &inputs, None, scratch, pool);
        debug_assert!(known.is_ok(), "there is no horizon");
    }
    commit_unless_left(model, state, (inputs, bound), scratch, pool)
}

/// Makes the outcome the new state, unless the stretch was left before its end.
fn commit_unless_left(
    model: &Model,
    state: &mut State,
    (inputs, bound): (Admitted, Time),
    scratch: &mut Scratch,
    pool: &Pool,
) -> Step {
    if scratch.played.was_left {
        scratch.under_way = Some((inputs, bound));
        return Step::UnderWay;
    }
    Step::Done(commit(model, state, &inputs, bound, scratch, pool))
}

/// Everybody senses, thinks and acts: what bodies intend stands in the scratch. Or says whose commands are
/// missing.
pub(crate) fn intend(
    model: &Model,
    state: &State,
    minds: &mut Minds,
    inputs: &Admitted,
    scratch: &mut Scratch,
    pool: &Pool,
) -> Option<Vec<Uid>> {
    look(model, state, inputs, &Rows::All, scratch, pool);
    let waiting = missing(model, state, inputs);
    if !waiting.is_empty() {
        return Some(waiting);
    }
    switch(minds, inputs);
    decide(model, state, minds, inputs, &Rows::All, scratch, pool);
    None
}

/// The sensors of these rows look at the committed state, unless they have.
pub(crate) fn look(
    model: &Model,
    state: &State,
    inputs: &Admitted,
    rows: &Rows,
    scratch: &mut Scratch,
    pool: &Pool,
) {
    // Asked again after it waited, it has looked already.
    let circumstances = (state.stops, inputs.detail, inputs.quantum);
    if scratch.sensed != Some(circumstances) {
        scratch.look(model, state, inputs.detail);
        sense(model, state, inputs, rows, scratch, pool);
        scratch.sensed = Some(circumstances);
    }
}

/// Controllers and actuators of these rows do their part.
pub(crate) fn decide(
    model: &Model,
    state: &State,
    minds: &mut Minds,
    inputs: &Admitted,
    rows: &Rows,
    scratch: &mut Scratch,
    pool: &Pool,
) {
    think(model, state, minds, inputs, rows, scratch, pool);
    act(model, state, inputs, rows, scratch, pool);
}

/// Where robots live by events, all bodies are resolved event by event: those that go by quanta as well, on
/// the segments they intend. The live part of the state is handed on to `commit` in the scratch, and stays there
/// when the stretch is left before its end.
fn resolve_live(
    model: &Model,
    state: &mut State,
    minds: &mut Minds,
    (bound, answers): (Time, &[Arc<[u8]>]),
    scratch: &mut Scratch,
) {
    let left = scratch.live.take();
    let before = left.is_some().then(|| std::mem::take(&mut scratch.played));
    let Some(mut live) = left.or_else(|| state.live.take()) else { return };
    scratch.sky.ready(model, &live, state.stops);
    let set_out = if live.mid || before.is_some() { Vec::new() } else { set_out(model, &mut live, scratch) };
    let (one_event, dealings) = (scratch.stride == Stride::Event, scratch.dealings.is_some());
    let wants = Wants { one_event, notes: scratch.notes, dealings, leave: scratch.leave.as_deref() };
    let bound = Moment::at(bound);
    let given = Given { answers, set_out: &set_out, before };
    scratch.played = play(model, &mut live, &mut minds.cast, &mut scratch.sky, bound, wants, given);
    if let Some(all) = scratch.dealings.as_mut().filter(|_| !scratch.played.was_left) {
        all.append(&mut scratch.played.dealings);
    }
    scratch.live = Some(live);
}

/// The answers to the questions that robots living by events have asked outside, in order.
///
/// # Errors
/// When some are missing: the number of the first.
fn answers(model: &Model, state: &State, inputs: &Admitted) -> Result<Vec<Arc<[u8]>>, usize> {
    let (Some(live), Some(members)) = (&state.live, &model.live) else { return Ok(Vec::new()) };
    let mut left: Vec<&(Uid, Arc<[u8]>)> = inputs.answers.iter().collect();
    let mut all = Vec::with_capacity(live.asks.len());
    for (k, (robot, ..)) in live.asks.iter().enumerate() {
        let uid = model.uids[members.members[*robot as usize] as usize];
        let place = left.iter().position(|a| a.0 == uid).ok_or(k)?;
        all.push(Arc::clone(&left.remove(place).1));
    }
    Ok(all)
}

/// Robots whose questions have no answer yet.
fn unanswered(model: &Model, state: &State, inputs: &Admitted) -> Vec<Uid> {
    let (Some(live), Some(members)) = (&state.live, &model.live) else { return Vec::new() };
    let mut left: Vec<Uid> = inputs.answers.iter().map(|a| a.0).collect();
    let mut waiting = Vec::new();
    for (robot, ..) in &live.asks {
        let uid = model.uids[members.members[*robot as usize] as usize];
        match left.iter().position(|a| *a == uid) {
            Some(place) => {
                left.remove(place);
            }
            None if !waiting.contains(&uid) => waiting.push(uid),
            None => {}
        }
    }
    waiting
}

/// Bodies that go by quanta set out on what they intend for this one; answers which of them go in another way than
/// before, by slot.
fn set_out(model: &Model, live: &mut LiveState, scratch: &mut Scratch) -> Vec<usize> {
    let mut changed = Vec::new();
    let Some(members) = model.live.as_ref().filter(|m| !m.all) else { return changed };
    live.moved.fill(Twist2::REST);
    for slot in (0..model.len()).filter(|slot| members.number(*slot).is_none()) {
        let segment = &scratch.intents.segments[slot];
        let going = &live.going[slot];
        if segment.is_rest() && going.is_rest() && going.pose == segment.pose {
            continue;
        }
        let (v, in_world) = (segment.velocity, segment.frame == PathFrame::World);
        let twist = Twist2::new(v.x, v.y, segment.spin);
        live.going[slot] = Going::free(live.now, segment.pose, twist, in_world);
        scratch.sky.set(slot, &live.going[slot]);
        changed.push(slot);
    }
    changed
}

/// How far a step goes where robots live by events. No result depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stride {
    /// To the end of the quantum.
    #[default]
    Quantum,
    /// To the next event, or to the end of the quantum.
    Event,
}

/// What came of one step.
#[derive(Debug)]
pub enum Step {
    /// It was committed.
    Done(Frame),
    /// It waits for the commands of these robots; the state is as before.
    Blocked(Vec<Uid>),
    /// It was left between two events, and goes on when it is asked for again. Bodies, clock and accounts are as before;
    /// what lives by events is on its way, and in no state.
    UnderWay,
}

/// What displays, recorders and referees learn about a committed step, beside the state itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Now.
    pub now: Time,
    /// Steps committed so far.
    pub stops: u64,
    /// Hash of bodies, channels, queue and accounts.
    pub hash: u64,
    /// What happened, in a fixed order.
    pub events: Vec<RunEvent>,
}

/// Something worth telling a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RunEvent {
    /// Two things touched.
    Contact(ContactEvent),
    /// A robot was halted because a command or its motion was not a finite number.
    NotFinite {
        /// The robot.
        robot: Uid,
        /// What was not finite.
        what: Infinite,
    },
    /// A body exceeded the impact limit and was stopped for the rest of the quantum.
    ImpactLimit(Uid),
    /// An assertion that must always hold does not, for the first time. The number is its place.
    AssertFailed(usize),
    /// A controller printed a line.
    Said {
        /// Its robot.
        robot: Uid,
        /// Its number.
        controller: u32,
        /// The line.
        text: String,
    },
    /// A controller used a register as it cannot be used; each site is reported once.
    BadAccess {
        /// Its robot.
        robot: Uid,
        /// Its number.
        controller: u32,
        /// The access.
        access: Access,
    },
    /// Two controllers of a robot wrote different values to one command in the same quantum: the
    /// later one's holds. Reported once per command.
    Quarrel {
        /// Their robot.
        robot: Uid,
        /// Number of the later controller.
        controller: u32,
        /// The part.
        part: u32,
        /// Place in its command row.
        place: u32,
    },
    /// The model of a part failed for a robot, after it had not: its readings are 0, or it does not move.
    PartFailed {
        /// The robot.
        robot: Uid,
        /// Number of the part.
        part: u32,
        /// What went wrong.
        why: String,
    },
    /// The protocols of a robot never came to rest at one moment: it was stopped.
    Endless {
        /// The robot.
        robot: Uid,
        /// The protocol that was at work.
        protocol: String,
        /// When.
        at: Moment,
    },
    /// What decides for a robot that lives by events failed: a program outside, or an algorithm that asked for something
    /// that cannot be.
    AlgorithmFailed {
        /// The robot.
        robot: Uid,
        /// What went wrong, and what follows.
        why: String,
    },
    /// A robot fell into a hole and is gone.
    Swallowed {
        /// The robot.
        robot: Uid,
    },
    /// A controller failed.
    Failed {
        /// Its robot.
        robot: Uid,
        /// Its number.
        controller: u32,
        /// What went wrong.
        failure: Failure,
        /// What follows.
        then: Policy,
        /// What it printed last, oldest first.
        lines: Vec<String>,
    },
    /// Something happened to a robot that lives by events; told only when somebody wants to know.
    // It is not told as bytes, so it comes last: what comes after it would have two numbers there.
    #[serde(skip)]
    Live(Box<LiveNote>),
}

/// What was not a finite number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Infinite {
    /// A command.
    Command,
    /// The motion that a drive made of its commands.
    Motion,
    /// Where a motion led.
    Pose,
}

impl Infinite {
    /// The word used in text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Infinite::Command => "command",
            Infinite::Motion => "motion",
            Infinite::Pose => "pose",
        }
    }
}

impl RunEvent {
    /// When within the step it was that protocols did not come to rest; `None` for what counts at the end of a step, or
    /// says itself when it was.
    #[must_use]
    pub fn at(&self) -> Option<Moment> {
        if let RunEvent::Endless { at, .. } = self { Some(*at) } else { None }
    }

    /// Place among the events of a step: a function of what happened to whom, never of who told it first.
    pub(crate) fn order(&self, model: &Model) -> (u8, u64, u64, u64) {
        let slot = |robot: &Uid| model.slot_of(*robot).unwrap_or(usize::MAX) as u64;
        let ty = |robot: &Uid| model.slot_of(*robot).map_or(u64::MAX, |s| u64::from(model.type_of[s]));
        match self {
            RunEvent::Said { robot, controller, .. }
            | RunEvent::BadAccess { robot, controller, .. }
            | RunEvent::Quarrel { robot, controller, .. }
            | RunEvent::Failed { robot, controller, .. } => {
                (0, ty(robot), u64::from(*controller), slot(robot))
            }
            RunEvent::NotFinite { robot, what: Infinite::Command } => (1, slot(robot), 0, 0),
            RunEvent::NotFinite { robot, what: Infinite::Motion } => (2, slot(robot), 0, 0),
            RunEvent::Contact(contact) => {
                let (time, a, b) = contact.order();
                (3, time, a.0, b.0)
            }
            RunEvent::ImpactLimit(robot) => (4, robot.0, 0, 0),
            RunEvent::PartFailed { robot, part, .. } => (5, ty(robot), u64::from(*part), slot(robot)),
            RunEvent::NotFinite { robot, .. } => (6, slot(robot), 0, 0),
            RunEvent::Endless { .. }
            | RunEvent::Swallowed { .. }
            | RunEvent::AlgorithmFailed { .. }
            | RunEvent::Live(_) => (7, 0, 0, 0),
            RunEvent::AssertFailed(number) => (8, *number as u64, 0, 0),
        }
    }
}

/// What entered at this stop, resolved against the model.
pub(crate) struct Admitted {
    pub(crate) quantum: Period,
    pub(crate) quantum_index: u64,
    pub(crate) detail: Detail,
    /// (slot, part, first number, numbers)
    pub(crate) commands: Vec<(usize, usize, usize, Vec<f64>)>,
    pub(crate) halts: Vec<(usize, bool)>,
    pub(crate) skipped: Vec<usize>,
    /// By slot and controller; of two the first counts.
    pub(crate) thoughts: BTreeMap<(usize, usize), Told>,
    pub(crate) pokes: Vec<(usize, BusAccess)>,
    /// What programs outside answered: (robot, answer), in order.
    pub(crate) answers: Vec<(Uid, Arc<[u8]>)>,
    /// (type, controller, code)
    pub(crate) codes: Vec<(usize, usize, u64)>,
    pub(crate) count: u64,
}

/// What a controller outside decided.
pub(crate) struct Told {
    pub(crate) accesses: Vec<BusAccess>,
    pub(crate) thought: Thought,
    pub(crate) think_ns: u64,
}

impl Admitted {
    /// Length of the coming quantum in seconds.
    pub(crate) fn quantum_s(&self) -> f64 {
        self.quantum.length.value()
    }
}

/// Reads the journal for this stop: settings and commands that come from outside.
///
/// Entries that name no robot or part of this model are passed over here; whoever writes the
/// journal checks them first and tells the person.
pub(crate) fn admit(model: &Model, state: &State, journal: &Journal) -> Admitted {
    let mut admitted = Admitted {
        quantum: state.quantum,
        quantum_index: state.quantum_index,
        detail: state.detail,
        commands: Vec::new(),
        halts: Vec::new(),
        skipped: Vec::new(),
        thoughts: BTreeMap::new(),
        pokes: Vec::new(),
        answers: Vec::new(),
        codes: Vec::new(),
        count: 0,
    };
    for (key, event) in state.queue.due(state.now) {
        let Event::Command { part, first, values } = event;
        if let Some(slot) = model.own_slot_of(key.low) {
            admitted.commands.push((slot, *part as usize, *first as usize, values.clone()));
        }
    }
    for input in journal.at(state.stops) {
        // A change of the world shows in the state; one that changes nothing leaves no trace.
        admitted.count += u64::from(!matches!(input.kind, InputKind::World(_)));
        match &input.kind {
            InputKind::World(_) => {}
            InputKind::Command { robot, part, first, values } => {
                if let Some(slot) = model.own_slot_of(*robot) {
                    admitted.commands.push((slot, *part as usize, *first as usize, values.clone()));
                }
            }
            InputKind::Quantum(length) => {
                admitted.quantum = Period { origin: state.now, length: *length };
                admitted.quantum_index = 0;
            }
            InputKind::Detail(detail) => admitted.detail = *detail,
            InputKind::Halt(robot, halt) => {
                admitted.halts.extend(model.own_slot_of(*robot).map(|s| (s, *halt)))
            }
            InputKind::Skip(robot) => admitted.skipped.extend(model.own_slot_of(*robot)),
            InputKind::Thought { robot, controller, accesses, thought, think_ns } => {
                if let Some(slot) = model.own_slot_of(*robot) {
                    let (accesses, thought) = (accesses.clone(), thought.clone());
                    let told = Told { accesses, thought, think_ns: *think_ns };
                    admitted.thoughts.entry((slot, *controller as usize)).or_insert(told);
                }
            }
            InputKind::Poke(robot, poke) => {
                admitted.pokes.extend(model.own_slot_of(*robot).map(|s| (s, *poke)))
            }
            InputKind::Answer(robot, answer) => admitted.answers.push((*robot, answer.as_slice().into())),
            InputKind::Code { ty, controller, code } => {
                admitted.codes.push((*ty as usize, *controller as usize, *code));
            }
        }
    }
    admitted
}

/// The latest moment this step may reach: the end of the quantum. Events that fall inside a quantum
/// are admitted at its end.
pub(crate) fn next_stop(inputs: &Admitted) -> Time {
    inputs.quantum.tick(inputs.quantum_index + 1)
}

/// Buffers and derived data. Nothing here outlives a step in meaning: after a restore an empty one
/// does as well.
#[derive(Default)]
pub struct Scratch {
    /// Cosine and sine of every heading.
    pub(crate) rot: Vec<Rot2>,
    /// Which stop `rot` belongs to.
    rot_of: Option<(u64, usize)>,
    /// Bodies by place.
    pub(crate) grid: BodyGrid,
    /// Columns being filled; `commit` swaps them with the state's.
    pub(crate) next: Vec<TypeColumns>,
    /// Events of the step so far.
    pub(crate) events: Vec<RunEvent>,
    /// What bodies intend.
    pub(crate) intents: Intents,
    /// What came of it.
    pub(crate) outcome: Outcome,
    /// How contact groups are formed.
    pub(crate) grouping: Grouping,
    /// Commands that take effect after a think time: (when, robot, controller, part, place, value).
    pub(crate) later: Vec<(Time, Uid, u32, u32, u32, f64)>,
    /// Predictions about bodies where robots live by events.
    pub(crate) sky: Sky,
    /// What came of a stretch there.
    pub(crate) played: Played,
    /// The part of the state that was played, on its way to `commit`.
    pub(crate) live: Option<Box<LiveState>>,
    /// What a step that was left before its end began with, and how far it goes.
    under_way: Option<(Admitted, Time)>,
    /// Says when a step is to be left before its end where robots live by events; `None` when it never is.
    pub leave: Option<Arc<Leave>>,
    /// How far a step goes there.
    pub stride: Stride,
    /// Whether it is told what happens to robots that live by events.
    pub notes: bool,
    /// What protocols of robots that live by events had to do with each other since somebody took it away; `None` when
    /// nobody wants to know.
    pub dealings: Option<Vec<Dealing>>,
    /// What bodies cost, when somebody lends a clock.
    pub(crate) meter: Meter,
    /// The stop, level of detail and quantum that the readings in `next` belong to.
    sensed: Option<(u64, Detail, Period)>,
}

impl Scratch {
    /// Buffers that group contacts in another way than the cheapest; no result may depend on it.
    #[must_use]
    pub fn with_grouping(grouping: Grouping) -> Scratch {
        Scratch { grouping, ..Scratch::default() }
    }

    /// Measures from now on what bodies cost. No result depends on it. Where robots live by events, nobody is measured.
    pub fn measure(&mut self, watch: Arc<dyn Watch>) {
        self.meter.lend(watch);
    }

    /// What each body cost in the step just taken, by slot; nothing when it was not measured, as most are not.
    pub fn take_spent(&mut self) -> Vec<Spent> {
        self.meter.take()
    }

    /// Empty buffers, for other bodies; a clock that was lent stays.
    pub(crate) fn empty(&mut self) {
        *self = Scratch { meter: std::mem::take(&mut self.meter), ..Scratch::default() };
    }

    /// What lives by events, as far as a step has got that was left before its end.
    #[must_use]
    pub fn left(&self) -> Option<&LiveState> {
        self.live.as_deref().filter(|_| self.is_under_way())
    }

    /// Whether a step was left before its end.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.under_way.is_some()
    }

    /// Forgets what belongs to another state: call after the state was replaced.
    pub fn forget(&mut self) {
        self.rot_of = None;
        self.sensed = None;
        self.under_way = None;
        self.live = None;
        self.played = Played::default();
        self.sky.forget();
    }

    /// Prepares for a step from the committed state.
    fn look(&mut self, model: &Model, state: &State, detail: Detail) {
        // Events are played one by one, whoever they happen to: there is no share to measure.
        if model.live.is_none() {
            self.meter.begin(state.stops, model.own);
        }
        self.turn_to(state);
        if self.next.len() != state.types.len() {
            self.next = state.types.clone();
        }
        self.regrid(model, state, detail);
        self.events.clear();
        self.later.clear();
    }

    /// Makes `rot` that of the committed state.
    fn turn_to(&mut self, state: &State) {
        if self.rot_of != Some((state.stops, state.pose.len())) {
            self.rot.clear();
            self.rot.extend(state.pose.iter().map(|p| p.rot()));
            self.rot_of = Some((state.stops, state.pose.len()));
        }
    }

    /// Leaves only what belongs to own bodies.
    pub(crate) fn drop_ghosts(&mut self, own: usize, stops: u64) {
        if self.rot_of == Some((stops, self.rot.len())) {
            self.rot.truncate(own);
            self.rot_of = Some((stops, own));
        }
    }

    /// Makes room for one more ghost.
    pub(crate) fn add_ghost(&mut self, rot: Rot2, stops: u64) {
        if self.rot_of == Some((stops, self.rot.len())) {
            self.rot.push(rot);
            self.rot_of = Some((stops, self.rot.len()));
        }
    }

    /// Sorts bodies by place again, after ghosts came or went.
    pub(crate) fn regrid(&mut self, model: &Model, state: &State, detail: Detail) {
        self.grid.rebuild(&state.pose, |slot| model.outline_at(detail, slot).reach());
    }

    /// Says that `rot` now belongs to the newly committed stop.
    pub(crate) fn committed(&mut self, stops: u64, bodies: usize) {
        self.rot_of = (self.rot.len() == bodies).then_some((stops, bodies));
        self.sky.committed(stops);
    }
}

/// The bodies' columns, borrowed from where they live.
pub(crate) fn bodies<'a>(model: &'a Model, state: &'a State, rot: &'a [Rot2]) -> Bodies<'a> {
    Bodies {
        uid: &model.uids,
        pose: &state.pose,
        rot,
        twist: &state.twist,
        moved: &state.moved,
        outline: &model.outline_of,
        kind: &model.kinds,
        type_of: &model.type_of,
        heights: &model.heights,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_part_api::Cause;

    #[test]
    fn every_event_that_is_told_as_bytes_comes_back() {
        let robot = Uid(7);
        let failure = Failure { cause: Cause::Crash, message: "oh".into() };
        let events = [
            RunEvent::NotFinite { robot, what: Infinite::Pose },
            RunEvent::Said { robot, controller: 1, text: "hello".into() },
            RunEvent::AlgorithmFailed { robot, why: "oh".into() },
            RunEvent::Swallowed { robot },
            RunEvent::Failed {
                robot,
                controller: 0,
                failure,
                then: Policy::Restart,
                lines: vec!["ah".into()],
            },
        ];
        for event in events {
            let bytes = postcard::to_allocvec(&event).expect("bytes");
            assert_eq!(postcard::from_bytes::<RunEvent>(&bytes).expect("an event"), event);
        }
    }
}
