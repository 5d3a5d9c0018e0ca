//! One worker's share of a run.
//!
//! Its slots are its own: first its own bodies, type by type, those near the border before those inside; then
//! ghosts. Bodies near the border decide first, so that the others can while messages travel.
//! No slot leaves it, and no order depends on one: outside, bodies go by their number, which is their slot
//! in the whole model.

use super::cut::Cut;
use super::margins::Margins;
use super::parcel::{Held, Packer, Parcel, Sighting};
use crate::area::Area;
use crate::carry::{Gesture, carry};
use crate::commit::commit_own;
use crate::hash::items_on;
use crate::journal::Journal;
use crate::meter::{Spent, Watch};
use crate::minds::Minds;
use crate::model::{Here, Model};
use crate::parallel::Pool;
use crate::resolve::{Horizon, resolve};
use crate::rows::Rows;
use crate::sense::sense;
use crate::state::{Accounts, State};
use crate::step::{Admitted, RunEvent, Scratch, admit, decide, intend, look, next_stop};
use crate::think::switch;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use swarmyard_base::{Period, Rot2, Time, Twist2, Uid, Vec2};
use swarmyard_part_api::{BodyKind, Detail, Program, RegisterFile, Segment, Touch};

/// What all workers of a run agree on at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    /// Now.
    pub now: Time,
    /// Stops so far.
    pub stops: u64,
    /// Quanta counted from the period's origin.
    pub quantum_index: u64,
    /// The current quantum and when it was set.
    pub quantum: Period,
    /// Level of detail.
    pub detail: Detail,
}

impl Clock {
    /// What a state says.
    #[must_use]
    pub fn of(state: &State) -> Clock {
        let State { now, stops, quantum_index, quantum, detail, .. } = *state;
        Clock { now, stops, quantum_index, quantum, detail }
    }

    /// Sets a state to it.
    pub fn set(&self, state: &mut State) {
        let Clock { now, stops, quantum_index, quantum, detail } = *self;
        (state.now, state.stops, state.quantum_index) = (now, stops, quantum_index);
        (state.quantum, state.detail) = (quantum, detail);
    }
}

/// What a worker is charged with from a stop on.
#[derive(Clone, Serialize, Deserialize)]
pub struct Charge {
    /// The stop.
    pub clock: Clock,
    /// The code that each controller runs, by type and controller; 0 for those without.
    pub codes: Vec<Vec<u64>>,
    /// Its bodies.
    pub bodies: Vec<Parcel>,
    /// Bodies around, by number.
    pub ghosts: Vec<(u32, Sighting)>,
}

/// What a body intends in a quantum: all that a neighbour needs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Intent {
    /// The body's number.
    pub body: u32,
    /// Its motion, from where it is.
    pub segment: Segment,
}

/// Whether a worker's bodies have decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Planned {
    /// Those near the border have; [`Share::intents_near`] tells what.
    Ready,
    /// It waits for the commands of these robots.
    Blocked(Vec<Uid>),
}

/// What came of hearing the neighbours.
#[derive(Debug)]
pub enum Settled {
    /// Its part of the step.
    Done(Part),
    /// What lies beyond the known area may matter: hear more, and settle again. Nothing has changed.
    Unsure,
    /// A body went farther than the margins say: all must go back to where they were sure, with wider
    /// ones. Its part of the step is not to be used.
    Farther,
}

/// A worker's part of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The stop that was reached.
    pub clock: Clock,
    /// What its bodies add to the hash.
    pub items: u64,
    /// Contacts, halts and impact limits of its bodies in this step.
    pub accounts: Accounts,
    /// Whether the failure of a controller ends the run.
    pub ended: bool,
    /// What happened to its bodies.
    pub events: Vec<RunEvent>,
}

/// Who is who in the whole run.
struct Roll {
    /// Number of the type of each body, by number.
    type_of: Vec<u32>,
}

/// One worker's share of a run.
pub struct Share {
    roll: Roll,
    model: Model,
    state: State,
    minds: Minds,
    scratch: Scratch,
    /// Number of the body in each slot.
    numbers: Vec<u32>,
    margins: Margins,
    /// Where others want to know of its bodies.
    borders: Vec<Area>,
    /// Rows of bodies near a border, by type; those inside follow them.
    near: Vec<Range<usize>>,
    /// What entered at this stop, once its bodies have begun to decide.
    planned: Option<Admitted>,
    /// Whether those inside have decided too.
    is_whole: bool,
}

impl Share {
    /// Takes charge of bodies of a run. `whole` is the compiled world, of which only what is fixed counts.
    ///
    /// # Errors
    /// When the charge does not fit the world, or the memory of a program cannot be brought back.
    pub fn new(
        mut whole: Model,
        charge: &Charge,
        (margins, borders): (Margins, Vec<Area>),
        library: Vec<Arc<dyn Program>>,
    ) -> Result<Share, String> {
        let roll = Roll { type_of: std::mem::take(&mut whole.type_of) };
        let bodies = roll.type_of.len();
        whole.asserts.clear();
        whole.paths = Default::default();
        whole.here =
            Some(Here { uids: std::mem::take(&mut whole.uids), slots: vec![Here::ELSEWHERE; bodies] });
        Share::take_charge(roll, whole, charge, (margins, borders), library)
    }

    /// Takes charge of other bodies of the same run.
    ///
    /// # Errors
    /// As [`Share::new`].
    pub fn anew(
        self,
        charge: &Charge,
        around: (Margins, Vec<Area>),
        library: Vec<Arc<dyn Program>>,
    ) -> Result<Share, String> {
        Share::take_charge(self.roll, self.model, charge, around, library)
    }

    fn take_charge(
        roll: Roll,
        whole: Model,
        charge: &Charge,
        (margins, borders): (Margins, Vec<Area>),
        library: Vec<Arc<dyn Program>>,
    ) -> Result<Share, String> {
        let bodies = roll.type_of.len();
        let mut numbers: Vec<u32> = charge.bodies.iter().map(|p| p.number).collect();
        numbers.sort_unstable();
        let mut everyone = charge.bodies.iter().map(|p| p.number).chain(charge.ghosts.iter().map(|g| g.0));
        if numbers.windows(2).any(|w| w[0] == w[1]) || everyone.any(|n| n as usize >= bodies) {
            return Err("the charge names bodies twice, or bodies that do not exist".to_owned());
        }
        let mut share = Share {
            state: State::new(&whole, Vec::new()),
            minds: Minds::default(),
            roll,
            model: whole,
            scratch: Scratch::default(),
            numbers: Vec::new(),
            margins,
            borders,
            near: Vec::new(),
            planned: None,
            is_whole: false,
        };
        let bodies = charge.bodies.iter().map(|p| (p.number, share.is_near(p.seen.pose.at))).collect();
        share.people(bodies);
        share.minds = Minds::new(&share.model);
        for program in library {
            share.minds.shelve(program);
        }
        share.minds.switch_all(&charge.codes)?;
        charge.clock.set(&mut share.state);
        for parcel in &charge.bodies {
            share.unpack(parcel)?;
        }
        share.state.touches.sort_by_key(|t| (t.slot, t.other));
        share.sight(&charge.ghosts);
        let seen = charge.bodies.iter().map(|p| (p.number, p.seen)).chain(charge.ghosts.iter().copied());
        share.hold(seen.filter_map(|(number, seen)| Some((number, seen.held?))).collect());
        Ok(share)
    }

    /// Whether a body that is there counts as near a border until bodies change hands; with room, so that few
    /// have to be sorted again.
    fn is_near(&self, p: Vec2) -> bool {
        let room = 3.0 * self.margins.step * self.margins.period as f64;
        self.borders.iter().any(|area| area.grown(room).contains(p))
    }

    /// Whether a body that is there may come to a border before bodies change hands.
    fn must_be_near(&self, p: Vec2) -> bool {
        let room = self.margins.step * self.margins.period as f64;
        self.borders.iter().any(|area| area.grown(room).contains(p))
    }

    /// Makes these bodies its own (number, whether it is near a border), with everything about them at its
    /// initial value. Answers the state before.
    fn people(&mut self, mut bodies: Vec<(u32, bool)>) -> State {
        let Share { roll, model, near, .. } = self;
        // Most of them come in this order: a stable sort finds that out.
        bodies.sort_by_key(|&(n, is_near)| (roll.type_of[n as usize], !is_near, n));
        near.clear();
        for (t, ty) in model.types.iter_mut().enumerate() {
            let first = bodies.partition_point(|b| (roll.type_of[b.0 as usize] as usize) < t);
            let count = bodies[first..].partition_point(|b| roll.type_of[b.0 as usize] as usize == t);
            ty.slots = first..first + count;
            near.push(0..bodies[ty.slots.clone()].partition_point(|b| b.1));
        }
        let numbers: Vec<u32> = bodies.into_iter().map(|b| b.0).collect();
        let here = model.here.get_or_insert_default();
        here.slots.fill(Here::ELSEWHERE);
        (model.uids, model.type_of) = (Vec::new(), Vec::new());
        (model.outline_of, model.kinds) = (Vec::new(), Vec::new());
        for (slot, number) in numbers.iter().enumerate() {
            here.slots[*number as usize] = slot as u32;
        }
        self.numbers = Vec::new();
        for number in numbers {
            self.add(number);
        }
        self.model.own = self.numbers.len();
        let fresh = State::new(&self.model, vec![swarmyard_base::Pose2::default(); self.model.own]);
        let was = std::mem::replace(&mut self.state, fresh);
        Clock::of(&was).set(&mut self.state);
        self.scratch.empty();
        was
    }

    /// Adds a body to the end of the model's columns.
    fn add(&mut self, number: u32) {
        let Share { roll, model, numbers, .. } = self;
        let t = roll.type_of[number as usize];
        let ty = &model.types[t as usize];
        let kind: BodyKind = ty.kind;
        model.outline_of.push(ty.outline);
        model.kinds.push(kind);
        model.uids.extend(model.here.as_ref().map(|here| here.uids[number as usize]));
        model.type_of.push(t);
        numbers.push(number);
    }

    fn unpack(&mut self, parcel: &Parcel) -> Result<(), String> {
        let slot = self.slot_of(parcel.number).ok_or("a parcel came to the wrong worker")?;
        parcel.unpack(&self.model, &mut self.state, Some(&mut self.minds), slot)
    }

    fn slot_of(&self, number: u32) -> Option<usize> {
        self.model.here.as_ref()?.slot_of(number)
    }

    /// Forgets all ghosts and takes these: what can be seen of bodies around.
    fn sight(&mut self, ghosts: &[(u32, Sighting)]) {
        self.drop_ghosts();
        for (number, seen) in ghosts {
            self.haunt(*number, seen, seen.pose.rot());
        }
    }

    /// Forgets all ghosts; who carries what is to be written down again.
    fn drop_ghosts(&mut self) {
        let own = self.model.own;
        self.state.carried.clear();
        let here = self.model.here.get_or_insert_default();
        for number in self.numbers.drain(own..) {
            here.slots[number as usize] = Here::ELSEWHERE;
        }
        let model = &mut self.model;
        model.uids.truncate(own);
        model.type_of.truncate(own);
        model.outline_of.truncate(own);
        model.kinds.truncate(own);
        self.state.pose.truncate(own);
        self.state.twist.truncate(own);
        self.state.moved.truncate(own);
        self.state.halted.truncate(own);
        self.scratch.drop_ghosts(own, self.state.stops);
    }

    /// Adds a ghost, unless it is here already.
    fn haunt(&mut self, number: u32, seen: &Sighting, rot: Rot2) {
        if self.slot_of(number).is_some() || number as usize >= self.roll.type_of.len() {
            return;
        }
        let slot = self.numbers.len() as u32;
        self.model.here.get_or_insert_default().slots[number as usize] = slot;
        self.add(number);
        self.state.pose.push(seen.pose);
        self.state.twist.push(seen.twist);
        self.state.moved.push(seen.moved);
        self.state.halted.push(false);
        self.scratch.add_ghost(rot, self.state.stops);
    }

    /// Who carries what, by number of what is carried.
    fn held(&self) -> Vec<(u32, Held)> {
        let seen =
            self.state.carried.iter().map(|c| (self.numbers[c.object as usize], self.sighting(c.object)));
        seen.filter_map(|(number, seen)| Some((number, seen.held?))).collect()
    }

    /// Writes down who carries what; of what is told twice the last counts.
    fn hold(&mut self, held: Vec<(u32, Held)>) {
        let held: BTreeMap<u32, Held> = held.into_iter().collect();
        let carried = held.iter().filter_map(|(object, held)| held.carry(*object, |n| self.slot_of(n)));
        let mut carried: Vec<_> = carried.collect();
        carried.sort_unstable_by_key(|c| c.object);
        self.state.carried = carried;
    }

    fn sighting(&self, slot: u32) -> Sighting {
        Sighting::of(&self.state, slot as usize, |slot| self.numbers[slot as usize])
    }

    /// Its own bodies, by number.
    #[must_use]
    pub fn own(&self) -> &[u32] {
        &self.numbers[..self.model.own]
    }

    /// How many ghosts it knows.
    #[must_use]
    pub fn ghosts(&self) -> usize {
        self.numbers.len() - self.model.own
    }

    /// Where the run is.
    #[must_use]
    pub fn clock(&self) -> Clock {
        Clock::of(&self.state)
    }

    /// The margins it works with.
    #[must_use]
    pub fn margins(&self) -> &Margins {
        &self.margins
    }

    /// What is fixed, as this worker has it: its slots are its own.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Its state.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Its running programs.
    #[must_use]
    pub fn minds(&self) -> &Minds {
        &self.minds
    }

    /// Puts a program on the shelf, so that the journal may switch to it.
    pub fn shelve(&mut self, program: Arc<dyn Program>) {
        self.minds.shelve(program);
    }

    /// Measures from now on what its bodies cost ([`Scratch::measure`]).
    pub fn measure(&mut self, watch: Arc<dyn Watch>) {
        self.scratch.measure(watch);
    }

    /// What each of its bodies cost in the step that was just settled, by number; nothing when it was not measured.
    pub fn take_spent(&mut self) -> Vec<(u32, Spent)> {
        let spent = self.scratch.take_spent();
        self.own().iter().copied().zip(spent).collect()
    }

    /// A robot's registers as its controllers see them at the stop that waits for them.
    #[must_use]
    pub fn registers_sensed(&self, slot: usize) -> RegisterFile {
        crate::think::registers_sensed(&self.model, &self.state, &self.scratch, slot)
    }

    /// Lets its bodies near the border sense, think and act: what a neighbour must hear of is decided then. Where
    /// programs outside decide, everybody does so at once.
    pub fn plan(&mut self, journal: &Journal, pool: &Pool) -> Planned {
        let inputs = admit(&self.model, &self.state, journal);
        let Share { model, state, minds, scratch, near, .. } = self;
        let near = Rows::Of(near.clone());
        self.is_whole = model.asks_outside();
        let waiting = pool.within(|| {
            if model.asks_outside() {
                return intend(model, state, minds, &inputs, scratch, pool);
            }
            look(model, state, &inputs, &near, scratch, pool);
            switch(minds, &inputs);
            decide(model, state, minds, &inputs, &near, scratch, pool);
            None
        });
        match waiting {
            Some(waiting) => Planned::Blocked(waiting),
            None => {
                self.planned = Some(inputs);
                Planned::Ready
            }
        }
    }

    /// Lets those inside decide, while messages travel.
    ///
    /// # Panics
    /// When those near the border have not.
    pub fn plan_inside(&mut self, pool: &Pool) {
        if std::mem::replace(&mut self.is_whole, true) {
            return;
        }
        let Some(inputs) = self.planned.take() else { panic!("those near the border come first") };
        let Share { model, state, minds, scratch, near, .. } = self;
        let inside = model.types.iter().zip(near).map(|(ty, near)| near.end..ty.slots.len());
        let inside = Rows::Of(inside.collect());
        pool.within(|| {
            sense(model, state, &inputs, &inside, scratch, pool);
            decide(model, state, minds, &inputs, &inside, scratch, pool);
        });
        self.planned = Some(inputs);
    }

    /// What its bodies near the border intend, once they have decided.
    #[must_use]
    pub fn intents_near(&self) -> Vec<Intent> {
        let rows = self.model.types.iter().zip(&self.near);
        let slots = rows.flat_map(|(ty, near)| ty.slots.start..ty.slots.start + near.end);
        slots.map(|slot| self.intent(slot)).collect()
    }

    /// What all its bodies intend, between deciding and settling.
    pub fn intents(&self) -> impl Iterator<Item = Intent> {
        (0..self.model.own).map(|slot| self.intent(slot))
    }

    fn intent(&self, slot: usize) -> Intent {
        Intent { body: self.numbers[slot], segment: self.scratch.intents.segments[slot] }
    }

    /// What its bodies bring to the question who holds what; nothing where there are no hands.
    #[must_use]
    pub fn gestures(&self) -> Vec<Gesture> {
        let Share { model, state, scratch, numbers, .. } = self;
        if !model.has_hands() {
            return Vec::new();
        }
        let carrying = &scratch.intents.carrying;
        let gesture = |slot: usize| carrying.gesture(model, state, &scratch.next, (slot, numbers[slot]));
        (0..model.own).filter_map(gesture).collect()
    }

    /// Resolves what its bodies intend with what others do, and commits it.
    ///
    /// `heard` is what the bodies of all others in the known area intend, and what their hands do; `widening` says
    /// how often that was widened ([`Margins::known`]).
    ///
    /// # Panics
    /// When its bodies have not decided.
    pub fn settle(
        &mut self,
        (heard, gestures): (&[Intent], &[Gesture]),
        region: &Area,
        widening: u32,
        pool: &Pool,
    ) -> Settled {
        self.plan_inside(pool);
        let Some(inputs) = self.planned.take() else { panic!("plan first, then settle") };
        let held = self.held();
        self.drop_ghosts();
        self.scratch.intents.segments.truncate(self.model.own);
        for intent in heard {
            let known = self.numbers.len();
            let (pose, still) = (intent.segment.pose, Twist2::REST);
            let seen = Sighting { pose, twist: still, moved: still, held: None };
            self.haunt(intent.body, &seen, intent.segment.rot);
            if self.numbers.len() > known {
                self.scratch.intents.segments.push(intent.segment);
            }
        }
        self.note_gestures(gestures);
        self.hold(held);
        let Share { model, state, scratch, margins, .. } = self;
        scratch.regrid(model, state, inputs.detail);
        carry(model, state, inputs.quantum_s(), scratch, pool);
        let known = margins.known(region, widening);
        let leap = margins.leap();
        let horizon = Horizon { sure: known.grown(-leap), needed: margins.needed(region), leap };
        let told = scratch.events.len();
        if pool.within(|| resolve(model, state, &inputs, Some(horizon), scratch, pool)).is_err() {
            scratch.events.truncate(told);
            self.planned = Some(inputs);
            return Settled::Unsure;
        }
        if scratch.outcome.farthest > leap && !margins.everybody {
            return Settled::Farther;
        }
        let before = std::mem::take(&mut state.accounts);
        let now = next_stop(&inputs);
        let (events, items) = pool.within(|| {
            let events = commit_own(model, state, &inputs, now, scratch, pool);
            (events, items_on(model, state, pool))
        });
        let accounts = std::mem::replace(&mut state.accounts, before);
        Settled::Done(Part { clock: Clock::of(state), items, accounts, ended: state.ended, events })
    }

    fn note_gestures(&mut self, gestures: &[Gesture]) {
        if !self.model.has_hands() {
            return;
        }
        let here = gestures.iter().filter_map(|g| Some((self.slot_of(g.body)?, g)));
        let ghosts: BTreeMap<usize, &Gesture> = here.filter(|g| g.0 >= self.model.own).collect();
        for (slot, gesture) in &ghosts {
            self.state.twist[*slot] = gesture.twist;
        }
        let carrying = &mut self.scratch.intents.carrying;
        carrying.drop_ghosts(&self.model);
        carrying.take_note(&self.model, &ghosts);
    }

    /// All its bodies, packed; with the memories of their programs for a checkpoint.
    #[must_use]
    pub fn parcels(&self, with_minds: bool) -> Vec<Parcel> {
        let minds = with_minds.then_some(&self.minds);
        let packer = Packer::new(&self.model, &self.state, minds, Some(&self.numbers));
        (0..self.model.own).map(|slot| packer.pack(slot)).collect()
    }

    /// Bodies that another worker is to be charged with, packed: (worker, parcel). They are still here.
    #[must_use]
    pub fn leaving(&self, cut: &Cut, me: u32) -> Vec<(u32, Parcel)> {
        let packer = Packer::new(&self.model, &self.state, Some(&self.minds), Some(&self.numbers));
        let own = self.own().iter().enumerate();
        let owners = own.map(|(slot, n)| (cut.owner(*n, self.state.pose[slot].at), slot));
        owners.filter(|o| o.0 != me).map(|(owner, slot)| (owner, packer.pack(slot))).collect()
    }

    /// What others can see of its bodies in an area.
    #[must_use]
    pub fn sightings(&self, area: &Area) -> Vec<(u32, Sighting)> {
        let own = self.own().iter().enumerate().filter(|(slot, _)| area.contains(self.state.pose[*slot].at));
        own.map(|(slot, number)| (*number, self.sighting(slot as u32))).collect()
    }

    /// Bodies change hands: those the cut gives to others go, these come; then these ghosts are around.
    ///
    /// # Errors
    /// When a parcel does not fit.
    pub fn change_hands(
        &mut self,
        (cut, me): (&Cut, u32),
        come: &[Parcel],
        ghosts: &[(u32, Sighting)],
    ) -> Result<(), String> {
        let inside = self.model.types.iter().zip(&self.near);
        let mut inside = inside.flat_map(|(ty, near)| ty.slots.start + near.end..ty.slots.end);
        let nearer = inside.any(|slot| self.must_be_near(self.state.pose[slot].at));
        let mut held = self.held();
        self.drop_ghosts();
        let stays = |slot: usize| cut.owner(self.numbers[slot], self.state.pose[slot].at) == me;
        let own = self.numbers.len();
        let body = |slot: usize| (self.numbers[slot], self.is_near(self.state.pose[slot].at));
        let mut bodies: Vec<(u32, bool)> = (0..own).filter(|&s| stays(s)).map(body).collect();
        if nearer || bodies.len() < own || !come.is_empty() {
            let strangers = come.iter().filter(|p| !self.slot_of(p.number).is_some_and(stays));
            let mut strangers: Vec<(u32, bool)> =
                strangers.map(|p| (p.number, self.is_near(p.seen.pose.at))).collect();
            strangers.sort_unstable();
            strangers.dedup_by_key(|b| b.0);
            bodies.append(&mut strangers);
            self.regroup(bodies);
            for parcel in come {
                self.unpack(parcel)?;
            }
            self.state.touches.sort_by_key(|t| (t.slot, t.other));
        }
        self.sight(ghosts);
        let seen = come.iter().map(|p| (p.number, p.seen)).chain(ghosts.iter().copied());
        held.extend(seen.filter_map(|(number, seen)| Some((number, seen.held?))));
        self.hold(held);
        Ok(())
    }

    /// Makes these bodies its own; those it had stay as they are. There are no ghosts.
    fn regroup(&mut self, bodies: Vec<(u32, bool)>) {
        let slots = self.model.here.as_ref().map(|here| here.slots.clone()).unwrap_or_default();
        let ranges: Vec<Range<usize>> = self.model.types.iter().map(|ty| ty.slots.clone()).collect();
        let minds = std::mem::take(&mut self.minds);
        let was = self.people(bodies);
        let Share { roll, numbers, model, state, .. } = self;
        // Its slot before, of who was here.
        let before = |slot: usize| {
            let slot = slots[numbers[slot] as usize];
            (slot != Here::ELSEWHERE).then_some(slot as usize)
        };
        self.minds = minds.regrouped(model, |slot| {
            let t = roll.type_of[numbers[slot] as usize] as usize;
            Some((t, before(slot)? - ranges[t].start))
        });
        let moves: Vec<(usize, usize)> =
            (0..model.own).filter_map(|slot| Some((before(slot)?, slot))).collect();
        let mut after = vec![Here::ELSEWHERE; was.pose.len()];
        for &(from, to) in &moves {
            after[from] = to as u32;
            state.pose[to] = was.pose[from];
            state.twist[to] = was.twist[from];
            state.moved[to] = was.moved[from];
            state.halted[to] = was.halted[from];
        }
        for (t, ty) in model.types.iter().enumerate() {
            // They are in the order of slots, and so of types.
            let end = |slot: usize| moves.partition_point(|m| m.1 < slot);
            let of_type = moves[end(ty.slots.start)..end(ty.slots.end)].iter();
            let rows: Vec<(usize, usize)> =
                of_type.map(|m| (m.0 - ranges[t].start, m.1 - ty.slots.start)).collect();
            state.types[t].move_rows(&was.types[t], ranges[t].len(), &rows);
        }
        let touches = was.touches.iter().map(|t| Touch { slot: after[t.slot as usize], ..*t });
        state.touches.extend(touches.filter(|t| t.slot != Here::ELSEWHERE));
        for (key, event) in was.queue.all().filter(|e| model.own_slot_of(e.0.low).is_some()) {
            state.queue.push(*key, event.clone());
        }
    }
}
