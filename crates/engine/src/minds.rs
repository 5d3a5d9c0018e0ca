//! Programs that decide for single robots: their running copies, and what comes of asking them.
//!
//! In: the readings of this quantum and the committed commands, latched into each robot's registers.
//! Out: commands, now or after the think time; states of parts with ports; what failed and what was
//! said. A program that fails costs only its own robot, by the policy of its rules.
//!
//! The running copies stand beside the state, not in it: they are live sandboxes. Their memories are
//! taken as bytes for snapshots and the full hash.

use crate::kinship::Kinship;
use crate::live::{Cast, CastImage, LiveState};
use crate::meter::{Kind, Watch, each_timed};
use crate::model::{ControllerKind, Model, TypeModel};
use crate::parallel::{CHUNK, Pool};
use crate::rows::chunks_mut;
use crate::state::{State, TypeColumns};
use crate::step::{Admitted, RunEvent, Scratch};
use crate::think::{is_halted, latch};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use swarmyard_base::hash::{bytes_hash, mix64};
use swarmyard_base::{Time, Uid};
use swarmyard_part_api::{
    Access, Cause, Failure, Mind, Occasion, Policy, Program, RegisterFile, Rules, Thought,
};

/// Numbers the engine keeps for each program and robot, in the controller's column.
pub(crate) const ROW: [f64; 4] = [0.0; 4];
/// [`RUNS`], [`DEAD`], [`ANEW`] or [`SILENT`].
const STATUS: usize = 0;
/// Failures so far.
const FAILURES: usize = 1;
/// It thinks until then, in nanoseconds; it is not asked before.
const BUSY: usize = 2;
/// How long it thought the last time, in nanoseconds.
const THOUGHT: usize = 3;

const RUNS: f64 = 0.0;
const DEAD: f64 = 1.0;
const ANEW: f64 = 2.0;
/// It was silent the last time, which has been reported.
const SILENT: f64 = 3.0;

/// Sites of bad accesses that are remembered for one robot, so that each is reported once.
const MOST_SITES: usize = 64;
/// Lines a robot's program may say in one quantum; the rest is dropped.
const MOST_LINES: usize = 20;
/// Last lines kept for the report of a failure.
const LAST_LINES: usize = 8;

/// The running programs of all robots.
#[derive(Default)]
pub struct Minds {
    /// By type and controller.
    staffs: Vec<Vec<Staff>>,
    /// Programs that may be switched to, by the hash of their code.
    library: BTreeMap<u64, Arc<dyn Program>>,
    /// Protocols of robots that live by events, and their network.
    pub(crate) cast: Cast,
}

/// The memories of everything that runs beside the state.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Images {
    /// By type and controller.
    pub(crate) staffs: Vec<Vec<StaffImage>>,
    /// Protocols and the network.
    pub(crate) cast: CastImage,
}

/// One controller of one type: a program, and a running copy per robot.
struct Staff {
    /// `None` for what decides outside.
    program: Option<Arc<dyn Program>>,
    /// Empty for controllers that work on columns.
    members: Vec<Member>,
}

struct Member {
    mind: Option<Box<dyn Mind>>,
    registers: RegisterFile,
    memo: Memo,
}

/// What is remembered about one robot's program besides its own memory.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Memo {
    /// Sites that were reported.
    sites: Vec<Access>,
    /// Registers over which it quarrelled with another controller: (part, place).
    quarrels: Vec<(u32, u32)>,
    /// What it said last.
    lines: Vec<String>,
    /// What a program outside was shown so far: with it, it is run again after a restore.
    past: Vec<Arc<Heard>>,
}

/// What a program outside was shown in one quantum.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heard {
    /// The stop.
    pub stop: u64,
    /// Its number among the controllers then: a change of the world may give it another.
    pub controller: u32,
    /// Its latched registers.
    pub image: Vec<u8>,
    /// What ports answered, in order.
    pub answers: Vec<u32>,
}

/// The memories of a staff as bytes.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StaffImage {
    /// Hash of the code that runs.
    code: u64,
    /// (memory, memo) by row.
    members: Vec<(Vec<u8>, Memo)>,
}

/// The memory of one robot's program, and what is remembered about it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(crate) struct Packed {
    memory: Vec<u8>,
    memo: Memo,
}

impl Minds {
    /// A fresh copy of every program for every robot.
    #[must_use]
    pub fn new(model: &Model) -> Minds {
        let staffs = Minds::staffs(model, |_, _, program| (program.map(Program::start), Memo::default()));
        Minds { staffs, library: BTreeMap::new(), cast: Cast::new(model) }
    }

    /// A staff for every controller; `found` answers the mind and the memo of one: (slot, controller).
    fn staffs(
        model: &Model,
        mut found: impl FnMut(usize, usize, Option<&dyn Program>) -> (Option<Box<dyn Mind>>, Memo),
    ) -> Vec<Vec<Staff>> {
        let mut staff = |ty: &TypeModel, c: usize| {
            let program = match &ty.controllers[c].model {
                ControllerKind::Columns(_) => return Staff { program: None, members: Vec::new() },
                ControllerKind::Program(program) => Some(Arc::clone(program)),
                ControllerKind::Outside(_) => None,
            };
            let members = ty.slots.clone().map(|slot| {
                let (mind, memo) = found(slot, c, program.as_deref());
                Member { mind, registers: RegisterFile::new(Arc::clone(&ty.registers)), memo }
            });
            Staff { members: members.collect(), program }
        };
        let types = model.types.iter();
        types.map(|ty| (0..ty.controllers.len()).map(|c| staff(ty, c)).collect()).collect()
    }

    /// Goes over into another world: programs that go on keep running there, the others start.
    ///
    /// One that may now use more or less than before, or runs elsewhere now, is brought to a fresh copy by
    /// its memory; where that does not fit any more, it starts anew.
    pub fn move_over(&mut self, old: &Model, new: &Model, kinship: &Kinship) {
        let was_of = |slot: usize, c: usize| {
            let (was, kin) = (kinship.old_slot(slot)?, kinship.of(slot)?);
            let t = old.type_of[was] as usize;
            Some((t, kin.controllers[c]?, was - old.types[t].slots.start, kin.keeps_part_numbers()))
        };
        let before = &mut self.staffs;
        let staffs = Minds::staffs(new, |slot, c, program| {
            let fresh = || program.map(Program::start);
            let Some((t, d, row, same_parts)) = was_of(slot, c) else { return (fresh(), Memo::default()) };
            let staff = &mut before[t][d];
            let had = staff.program.as_deref().map(means);
            let Some(member) = staff.members.get_mut(row) else { return (fresh(), Memo::default()) };
            let mut memo = std::mem::take(&mut member.memo);
            if !same_parts {
                memo.quarrels.clear();
            }
            let mind = member.mind.take();
            if had == program.map(means) {
                return (mind, memo);
            }
            let mut anew = fresh();
            if let (Some(anew), Some(mind)) = (&mut anew, mind)
                && anew.restore(&mind.image()).is_err()
            {
                return (fresh(), Memo::default());
            }
            (anew, memo)
        });
        self.staffs = staffs;
        self.cast.move_over(old, new, kinship);
    }

    /// Hash of the code that a controller runs, when it is a program inside.
    pub(crate) fn code(&self, ty: usize, controller: usize) -> Option<u64> {
        let staff = self.staffs.get(ty).and_then(|t| t.get(controller))?;
        staff.program.as_ref().map(|p| p.code())
    }

    /// Puts a program on the shelf, so that the journal may switch to it.
    pub fn shelve(&mut self, program: Arc<dyn Program>) {
        self.library.insert(program.code(), program);
    }

    /// Whether a program with this code is on the shelf or running.
    #[must_use]
    pub fn knows(&self, code: u64) -> bool {
        self.library.contains_key(&code)
            || self.staffs.iter().flatten().any(|c| c.program.as_ref().is_some_and(|p| p.code() == code))
    }

    /// The last lines a robot's controller printed, oldest first.
    #[must_use]
    pub fn lines(&self, ty: usize, controller: usize, row: usize) -> &[String] {
        let member =
            self.staffs.get(ty).and_then(|t| t.get(controller)).and_then(|staff| staff.members.get(row));
        member.map_or(&[], |m| &m.memo.lines)
    }

    /// What a program outside was shown since it started: stops, registers, answers of ports.
    #[must_use]
    pub fn past(&self, ty: usize, controller: usize, row: usize) -> &[Arc<Heard>] {
        let staff = self.staffs.get(ty).and_then(|t| t.get(controller));
        staff.and_then(|staff| staff.members.get(row)).map_or(&[], |m| &m.memo.past)
    }

    /// The memory of a protocol of a robot that lives by events, as bytes; by the robot's number.
    #[must_use]
    pub fn protocol_memory(&self, robot: u32, node: u16) -> Option<Vec<u8>> {
        self.cast.graphs.get(robot as usize)?.as_ref()?.memory_of(node)
    }

    /// Tells every program that the run is over; answers what they said: (slot, line).
    pub fn stop(&mut self, model: &Model, state: &State) -> Vec<(usize, String)> {
        let mut said = Vec::new();
        for (ty, staffs) in model.types.iter().zip(&mut self.staffs) {
            for member in staffs.iter_mut().flat_map(|staff| staff.members.iter_mut().enumerate()) {
                let (row, member) = member;
                let slot = ty.slots.start + row;
                if let Some(mind) = member.mind.as_mut().filter(|_| !state.halted[slot]) {
                    said.extend(mind.stop().into_iter().map(|line| (slot, line)));
                }
            }
        }
        said
    }

    /// Which robots that live by events could hear each other now, as pairs of slots: what displays draw as
    /// links. `None` when it does not depend on the place: everybody can.
    #[must_use]
    pub fn links(&self, model: &Model, live: Option<&LiveState>) -> Option<Vec<(usize, usize)>> {
        crate::live::links(model, live, &self.cast)
    }

    /// Hash of all memories.
    pub(crate) fn hash(&self, model: &Model) -> u64 {
        let mut sum = self.cast.hash(model);
        for (ty, staffs) in model.types.iter().zip(&self.staffs) {
            for (c, staff) in staffs.iter().enumerate() {
                for (row, member) in staff.members.iter().enumerate() {
                    let Some(mind) = &member.mind else { continue };
                    let owner = model.uids[ty.slots.start + row].0.rotate_left(c as u32);
                    sum = sum.wrapping_add(mix64(owner ^ mix64(bytes_hash(&mind.image()))));
                }
            }
        }
        sum
    }

    /// All memories.
    pub(crate) fn images(&self) -> Images {
        let member =
            |m: &Member| (m.mind.as_ref().map_or_else(Vec::new, |mind| mind.image()), m.memo.clone());
        let image = |staff: &Staff| StaffImage {
            code: staff.program.as_ref().map_or(0, |p| p.code()),
            members: staff.members.iter().map(member).collect(),
        };
        let staffs = self.staffs.iter().map(|staffs| staffs.iter().map(image).collect()).collect();
        Images { staffs, cast: self.cast.image() }
    }

    /// New minds that run this code, by type and controller; these stay as they are.
    ///
    /// # Errors
    /// When some code is known neither to the model nor here.
    pub fn fresh(&self, model: &Model, codes: &[Vec<u64>]) -> Result<Minds, String> {
        let mut minds = Minds::new(model);
        minds.library.clone_from(&self.library);
        minds.switch_all(codes)?;
        Ok(minds)
    }

    /// The memories of one robot's programs, by controller.
    pub(crate) fn pack(&self, ty: usize, row: usize) -> Vec<Packed> {
        let staffs = self.staffs.get(ty).into_iter().flatten();
        let packed = staffs.map(|staff| match staff.members.get(row) {
            None => Packed::default(),
            Some(member) => Packed {
                memory: member.mind.as_ref().map_or_else(Vec::new, |mind| mind.image()),
                memo: member.memo.clone(),
            },
        });
        packed.collect()
    }

    /// Brings the memories of one robot's programs back; with none they stay as they are.
    pub(crate) fn unpack(&mut self, ty: usize, row: usize, packed: &[Packed]) -> Result<(), String> {
        for (staff, packed) in self.staffs.get_mut(ty).into_iter().flatten().zip(packed) {
            let Some(member) = staff.members.get_mut(row) else { continue };
            if let Some(mind) = &mut member.mind {
                mind.restore(&packed.memory)?;
            }
            member.memo.clone_from(&packed.memo);
        }
        Ok(())
    }

    /// Minds of another model: for each of its robots those that `was` found here (type and row), as they
    /// are; the others start. Programs that were switched to go on.
    pub(crate) fn regrouped(mut self, model: &Model, was: impl Fn(usize) -> Option<(usize, usize)>) -> Minds {
        let Minds { staffs: before, library, .. } = &mut self;
        let programs: Vec<Vec<_>> =
            before.iter().map(|staffs| staffs.iter().map(|s| s.program.clone()).collect()).collect();
        let mut staffs = Minds::staffs(model, |slot, c, _| {
            let t = model.type_of[slot] as usize;
            let found = was(slot).and_then(|(t, row)| before[t][c].members.get_mut(row));
            match found {
                Some(member) => (member.mind.take(), std::mem::take(&mut member.memo)),
                None => (programs[t][c].as_ref().map(|p| p.start()), Memo::default()),
            }
        });
        for (staff, program) in staffs.iter_mut().flatten().zip(programs.into_iter().flatten()) {
            staff.program = program;
        }
        Minds { staffs, library: std::mem::take(library), cast: Cast::default() }
    }

    /// New minds with these memories; these stay as they are. They may belong to another model.
    pub(crate) fn with_images(&self, model: &Model, images: &Images) -> Result<Minds, String> {
        let mut minds = Minds::new(model);
        minds.cast = Cast::with_image(model, &images.cast)?;
        let images = &images.staffs;
        minds.library.clone_from(&self.library);
        let wrong = || "the snapshot has other controllers".to_owned();
        if images.len() != minds.staffs.len() {
            return Err(wrong());
        }
        for (t, (staffs, images)) in minds.staffs.iter_mut().zip(images).enumerate() {
            if staffs.len() != images.len() {
                return Err(wrong());
            }
            for (c, (staff, image)) in staffs.iter_mut().zip(images).enumerate() {
                if image.members.len() != staff.members.len() {
                    return Err(wrong());
                }
                if staff.program.as_ref().is_some_and(|p| p.code() != image.code) {
                    // They may be those of another world, where something else has these numbers.
                    let running = self.staffs.get(t).and_then(|t| t.get(c)).and_then(|s| s.program.as_ref());
                    let running = running.filter(|p| p.code() == image.code);
                    let found = running.or_else(|| self.library.get(&image.code));
                    staff.switch(Arc::clone(found.ok_or("the snapshot's code is not known here")?));
                }
                for (member, (bytes, memo)) in staff.members.iter_mut().zip(&image.members) {
                    if let Some(mind) = &mut member.mind {
                        mind.restore(bytes)?;
                    }
                    member.memo.clone_from(memo);
                }
            }
        }
        Ok(minds)
    }

    /// Hash of the code that each controller runs, by type and controller; 0 for those without.
    #[must_use]
    pub fn codes(&self) -> Vec<Vec<u64>> {
        let code = |staff: &Staff| staff.program.as_ref().map_or(0, |p| p.code());
        self.staffs.iter().map(|staffs| staffs.iter().map(code).collect()).collect()
    }

    /// Switches every controller to the program with this code.
    ///
    /// # Errors
    /// When one is not known here.
    pub(crate) fn switch_all(&mut self, codes: &[Vec<u64>]) -> Result<(), String> {
        let now = self.codes();
        for (t, (was, is)) in now.iter().zip(codes).enumerate() {
            for (c, (was, is)) in was.iter().zip(is).enumerate() {
                if was != is && !self.library.contains_key(is) {
                    return Err(format!("code {is:016x} is not known here"));
                }
                if was != is {
                    self.switch(t, c, *is);
                }
            }
        }
        Ok(())
    }

    /// Switches a controller to another program: every robot's copy starts anew.
    pub(crate) fn switch(&mut self, ty: usize, controller: usize, code: u64) {
        let program = self.library.get(&code).cloned();
        let staff = self.staffs.get_mut(ty).and_then(|staffs| staffs.get_mut(controller));
        if let (Some(program), Some(staff)) = (program, staff) {
            staff.switch(program);
        }
    }
}

/// What a running copy may use, and where it runs.
fn means(program: &dyn Program) -> ((u64, u64), Option<String>) {
    (program.allowance(), program.place().map(str::to_owned))
}

impl StaffImage {
    /// Programs in the sandbox, whose memories were looked through.
    pub(crate) fn sandboxes(&self) -> usize {
        self.members.iter().filter(|(memory, _)| !memory.is_empty()).count()
    }

    /// Bytes of memory it takes. What programs outside were shown is shared with the run it was taken of.
    pub(crate) fn bytes(&self) -> usize {
        let row = size_of::<(Vec<u8>, Memo)>();
        self.members.iter().map(|(memory, memo)| row + memory.len() + memo.bytes()).sum()
    }
}

impl Memo {
    fn bytes(&self) -> usize {
        let lines: usize = self.lines.iter().map(|line| size_of::<String>() + line.len()).sum();
        size_of_val(&self.sites[..]) + size_of_val(&self.quarrels[..]) + size_of_val(&self.past[..]) + lines
    }
}

impl Staff {
    fn switch(&mut self, program: Arc<dyn Program>) {
        for member in &mut self.members {
            member.mind = Some(program.start());
            member.memo.sites.clear();
        }
        self.program = Some(program);
    }
}

/// What one chunk of robots decided.
#[derive(Default)]
struct Decided {
    /// (row, part, place, value), at once.
    now: Vec<(usize, usize, usize, f64)>,
    /// (effective at, row, part, place, value).
    later: Vec<(Time, usize, usize, usize, f64)>,
    /// (row, part, private state).
    ports: Vec<(usize, usize, Vec<f64>)>,
    events: Vec<RunEvent>,
    /// What thinking cost, when that is measured: (row, nanoseconds, fuel).
    spent: Vec<(usize, u64, u64)>,
}

/// What everybody of one staff looks at.
struct View<'a> {
    model: &'a Model,
    state: &'a State,
    inputs: &'a Admitted,
    ty: &'a TypeModel,
    controller: usize,
    rules: Rules,
    committed: &'a TypeColumns,
    /// Readings of this quantum, by part.
    readings: Vec<&'a [f64]>,
    /// Private states of parts as they are now, by part.
    states: Vec<&'a [f64]>,
    tick_us: u32,
    watch: Option<&'a dyn Watch>,
}

/// Asks one controller of every robot of a type, and takes over what they decide.
pub(crate) fn decide(
    model: &Model,
    state: &State,
    inputs: &Admitted,
    minds: &mut Minds,
    (t, controller, wanted): (usize, usize, &Range<usize>),
    scratch: &mut Scratch,
    pool: &Pool,
) {
    let (ty, committed) = (&model.types[t], &state.types[t]);
    let Some(rules) = ty.controllers[controller].model.rules() else { return };
    let staff = &mut minds.staffs[t][controller];
    let program = staff.program.clone();
    let program = program.as_deref();
    let next = &mut scratch.next[t];
    let mut rows = std::mem::take(&mut next.controllers[controller]);
    let view = View {
        model,
        state,
        inputs,
        ty,
        controller,
        rules: program.map_or(rules, Program::rules),
        committed,
        readings: crate::think::fresh_readings(state, ty, committed, next),
        states: next.parts.iter().map(|p| p.state.as_slice()).collect(),
        tick_us: inputs.quantum.length.micros(),
        watch: scratch.meter.watch(),
    };
    if program.is_some_and(|program| program.place().is_some()) {
        show(&view, program, staff, &mut rows, wanted, pool);
    }
    let members = staff.members[wanted.clone()].chunks_mut(CHUNK);
    let tasks: Vec<_> = members.zip(chunks_mut(&mut rows, ROW.len(), wanted)).enumerate().collect();
    let all = pool.map(tasks, |(k, (members, rows))| {
        let (mut decided, first) = (Decided::default(), wanted.start + k * CHUNK);
        let robots = members.iter_mut().zip(rows.chunks_exact_mut(ROW.len())).enumerate();
        let took = each_timed(view.watch, robots, |(j, (member, own))| {
            ask(&view, program, member, own, first + j, &mut decided);
        });
        decided.spent.extend(took.into_iter().enumerate().map(|(j, ns)| (first + j, ns, 0)));
        decided
    });
    drop(view);
    next.controllers[controller] = rows;
    for decided in all {
        take_over(model, committed, staff, (t, controller), decided, scratch);
    }
}

/// Shows every robot's program what it will be asked: those that run elsewhere are asked together, with the first.
fn show(
    view: &View<'_>,
    program: Option<&dyn Program>,
    staff: &mut Staff,
    rows: &mut [f64],
    wanted: &Range<usize>,
    pool: &Pool,
) {
    let members = staff.members[wanted.clone()].chunks_mut(CHUNK);
    let tasks: Vec<_> = members.zip(chunks_mut(rows, ROW.len(), wanted)).enumerate().collect();
    pool.map(tasks, |(k, (members, rows))| {
        for (j, (member, own)) in members.iter_mut().zip(rows.chunks_exact_mut(ROW.len())).enumerate() {
            let moment = ready(view, program, member, own, wanted.start + k * CHUNK + j);
            if let (Some(moment), Some(mind)) = (moment, &mut member.mind) {
                mind.show(&moment, &member.registers);
            }
        }
    });
}

/// Readies a robot whose turn it is: its program, and its latched registers. `None` when it is not asked now.
fn ready(
    view: &View<'_>,
    program: Option<&dyn Program>,
    member: &mut Member,
    own: &mut [f64],
    row: usize,
) -> Option<Occasion> {
    let slot = view.ty.slots.start + row;
    if is_halted(view.state, view.inputs, slot) || !is_asked(own, view.state.now) {
        return None;
    }
    if own[STATUS] == ANEW {
        member.mind = program.map(Program::start);
        own[STATUS] = RUNS;
    }
    // Ports answer from the state they are in now, after the controllers before this one.
    let states = |part: usize| view.states[part];
    latch(view.ty, row, &view.readings, &view.committed.parts, states, &mut member.registers);
    Some(Occasion { robot: view.model.uids[slot], tick: view.state.stops, tick_us: view.tick_us })
}

/// One robot's turn.
fn ask(
    view: &View<'_>,
    program: Option<&dyn Program>,
    member: &mut Member,
    own: &mut [f64],
    row: usize,
    decided: &mut Decided,
) {
    let Some(moment) = ready(view, program, member, own, row) else { return };
    let (slot, robot) = (view.ty.slots.start + row, moment.robot);
    let (thought, measured_ns) = match &mut member.mind {
        Some(mind) => (mind.think(&moment, &mut member.registers), 0),
        None => match view.inputs.thoughts.get(&(slot, view.controller)) {
            Some(told) => {
                let image = member.registers.image().to_vec();
                let answers = told.accesses.iter().filter_map(|access| {
                    let read = access.play(&mut member.registers);
                    access.write.is_none().then_some(read)
                });
                let answers = answers.collect();
                if told.thought.was_shown() {
                    member.memo.past.push(Arc::new(Heard {
                        stop: view.state.stops,
                        controller: view.controller as u32,
                        image,
                        answers,
                    }));
                }
                (told.thought.clone(), told.think_ns)
            }
            None => return,
        },
    };
    if view.watch.is_some() {
        // A program outside has worked elsewhere.
        decided.spent.push((row, measured_ns, thought.fuel));
    }
    let think_ns = view.rules.think_ns(thought.fuel, measured_ns);
    own[THOUGHT] = think_ns as f64;
    own[BUSY] = view.state.now.0 as f64 + think_ns as f64;
    settle(view, member, own, (robot, row), thought, think_ns, decided);
}

/// Takes what a thought brought: commands, lines, and failures with what follows from them.
fn settle(
    view: &View<'_>,
    member: &mut Member,
    own: &mut [f64],
    (robot, row): (Uid, usize),
    thought: Thought,
    think_ns: u64,
    decided: &mut Decided,
) {
    let controller = view.controller as u32;
    for text in thought.said.into_iter().take(MOST_LINES) {
        if member.memo.lines.len() >= LAST_LINES {
            member.memo.lines.remove(0);
        }
        member.memo.lines.push(text.clone());
        decided.events.push(RunEvent::Said { robot, controller, text });
    }
    let unfinished = thought.failure.is_some();
    let mut failure = thought.failure;
    for access in member.registers.bad() {
        if member.memo.sites.len() < MOST_SITES && !member.memo.sites.contains(access) {
            member.memo.sites.push(*access);
            decided.events.push(RunEvent::BadAccess { robot, controller, access: *access });
            if view.rules.on_bad_register != Policy::Hold && failure.is_none() {
                failure = Some(Failure { cause: Cause::BadRegister, message: String::new() });
            }
        }
    }
    if !unfinished {
        commands(view, member, row, think_ns, decided);
        let states = member.registers.ports().iter();
        decided.ports.extend(states.map(|(part, state)| (row, *part, state.clone())));
    }
    let was_silent = own[STATUS] == SILENT;
    let Some(failure) = failure else {
        own[STATUS] = RUNS;
        return;
    };
    let then = view.rules.after(failure.cause);
    own[STATUS] = match (then, failure.cause) {
        (Policy::Restart, _) => ANEW,
        (Policy::Hold, Cause::Crash) => DEAD,
        (_, Cause::Silence) => SILENT,
        _ => RUNS,
    };
    if own[STATUS] == ANEW || failure.cause == Cause::Crash {
        // Should it start again, then from the beginning.
        member.memo.past.clear();
    }
    if was_silent && failure.cause == Cause::Silence {
        return;
    }
    own[FAILURES] += 1.0;
    let lines = member.memo.lines.clone();
    decided.events.push(RunEvent::Failed { robot, controller, failure, then, lines });
}

/// The commands behind the registers that were poked.
fn commands(view: &View<'_>, member: &Member, row: usize, think_ns: u64, decided: &mut Decided) {
    let at = Time(view.state.now.0.saturating_add_unsigned(think_ns));
    for (part, place, value) in member.registers.commands() {
        if think_ns > 0 {
            decided.later.push((at, row, part, place, value));
        } else {
            decided.now.push((row, part, place, value));
        }
    }
}

/// Writes what a chunk decided into the columns being filled.
fn take_over(
    model: &Model,
    committed: &TypeColumns,
    staff: &mut Staff,
    (t, controller): (usize, usize),
    decided: Decided,
    scratch: &mut Scratch,
) {
    let ty = &model.types[t];
    let next = &mut scratch.next[t];
    for (row, part, place, value) in decided.now {
        let at = row * ty.parts[part].layout.command_width() + place;
        let (old, new) = (committed.parts[part].commands[at], &mut next.parts[part].commands[at]);
        // Somebody before has changed it in this quantum, to something else.
        if controller > 0 && *new != old && *new != value {
            let (part, place) = (part as u32, place as u32);
            let quarrels = &mut staff.members[row].memo.quarrels;
            if !quarrels.contains(&(part, place)) {
                quarrels.push((part, place));
                let robot = model.uids[ty.slots.start + row];
                let controller = controller as u32;
                scratch.events.push(RunEvent::Quarrel { robot, controller, part, place });
            }
        }
        *new = value;
    }
    for (row, part, state) in decided.ports {
        let width = state.len();
        next.parts[part].state[row * width..(row + 1) * width].copy_from_slice(&state);
    }
    for (at, row, part, place, value) in decided.later {
        let robot = model.uids[ty.slots.start + row];
        scratch.later.push((at, robot, controller as u32, part as u32, place as u32, value));
    }
    for (row, ns, fuel) in decided.spent {
        scratch.meter.add(Kind::Think, ty.slots.start + row, ns);
        scratch.meter.burn(ty.slots.start + row, fuel);
    }
    scratch.events.extend(decided.events);
}

/// Whether one of a robot's controllers, a program, is asked at this stop.
#[must_use]
pub fn is_due(model: &Model, state: &State, slot: usize, controller: usize) -> bool {
    let t = model.type_of[slot] as usize;
    let row = (slot - model.types[t].slots.start) * ROW.len();
    is_asked(&state.types[t].controllers[controller][row..row + ROW.len()], state.now)
}

/// Whether a program of the robot in `slot` has failed and has not gone on since.
#[must_use]
pub fn has_failed(model: &Model, state: &State, slot: usize) -> bool {
    let t = model.type_of[slot] as usize;
    let row = (slot - model.types[t].slots.start) * ROW.len();
    let columns = model.types[t].controllers.iter().zip(&state.types[t].controllers);
    let programs = columns.filter(|(c, _)| !matches!(c.model, ControllerKind::Columns(_)));
    programs.into_iter().any(|(_, column)| column[row + STATUS] != RUNS)
}

/// Whether a program with this row is asked now: it runs, and has done thinking.
pub(crate) fn is_asked(own: &[f64], now: Time) -> bool {
    own[STATUS] != DEAD && own[BUSY] <= now.0 as f64
}
