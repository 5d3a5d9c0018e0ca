//! The native programs of a run: started when they are first asked, asked together, waited for.
//!
//! In: the robots that the loop waits for, and their latched registers. Out: inputs for the journal,
//! one for each that has answered, died, or been silent for too long. Nothing here changes the state:
//! a run with a journal that is whole starts no program at all.
//!
//! Programs are known by their robot and controller, wherever that robot is in a model: [`away`] keeps those whose
//! robots are simulated elsewhere.

mod away;

use crate::fresh;
use crate::live::Talkers;
use crate::native::{Native, NativeModel, Start};
use crate::process::{BadKind, Child, Launch, Poke, Poll, Reply, StartError};
use std::any::Any;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_base::Uid;
use swarmyard_base::hash::bytes_hash;
use swarmyard_engine::{
    BusAccess, ControllerKind, Heard, Input, InputKind, Journal, Kinship, Minds, Model, State, is_due,
};
use swarmyard_part_api::{Cause, Failure, RegisterFile, Thought};

pub use away::{Answer, Away, Shown};

/// How long one look waits, so that whoever drives the run can do something else in between.
pub(crate) const LOOK: Duration = Duration::from_millis(50);
/// How long a program may take at least for one of the quanta that it is run through again.
const AGAIN: Duration = Duration::from_secs(10);
/// The same for one that may be silent for ever: what it decides must not depend on how busy a machine is.
const AGAIN_AT_MOST: Duration = Duration::from_secs(600);
/// How long to go on trying to start a program whose file somebody holds open for writing.
const BUSY_FILE: Duration = Duration::from_secs(2);
/// Last lines of a program that are told with its end.
const LAST_LINES: usize = 20;

/// The native programs of a run.
#[derive(Default)]
pub struct Crew {
    members: BTreeMap<Key, Member>,
    /// Programs that were made here, as files: by the hash of what is in them.
    files: BTreeMap<u64, ProgramFile>,
    /// Those of robots that live by events.
    talkers: Talkers,
}

/// A robot and one of its controllers.
type Key = (Uid, usize);

/// A program that is to be asked at a stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// Its robot.
    pub robot: Uid,
    /// The robot's slot.
    pub slot: usize,
    /// Which of the robot's controllers it is.
    pub controller: usize,
}

/// A quantum that a program is asked about, whoever asks.
struct Call<'a> {
    key: Key,
    native: &'a Native,
    stop: u64,
    tick_us: u32,
    /// It has been shown nothing, or is to start anew.
    is_new: bool,
    /// What it is led through when it does not run, and what it decided then, as far as that is known.
    past: &'a [Arc<Heard>],
    journal: &'a Journal,
}

struct Member {
    child: Child,
    /// The quantum that is waited for: since when, and what it did so far.
    asked: Option<Asked>,
    /// It has been shown something, now or in its past.
    began: Option<u64>,
    /// It was silent, and has not answered since.
    silent: bool,
    /// Writes of values that did not fit, which have been told: (address, bytes).
    too_wide: Vec<(u32, u32)>,
}

struct Asked {
    stop: u64,
    since: Instant,
    registers: RegisterFile,
    accesses: Vec<BusAccess>,
}

/// A program as a file, gone with the run.
struct ProgramFile(PathBuf);

impl Drop for ProgramFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Where a run stands, for whoever asks its programs.
pub struct Stand<'a> {
    /// What is fixed.
    pub model: &'a Model,
    /// What changes, at the stop that waits.
    pub state: &'a State,
    /// The running programs, which remember what those outside were shown.
    pub minds: &'a Minds,
    /// What came from outside so far.
    pub journal: &'a Journal,
    /// What came at this stop, as the step sees it.
    pub inputs: &'a [Input],
    /// Length of the quantum in microseconds.
    pub tick_us: u32,
}

impl Crew {
    /// Asks programs that the loop waits for, and waits a moment for their answers.
    ///
    /// Answers what is to enter the journal at this stop, and whether some are still at work.
    /// `registers` latches those of a robot.
    pub fn ask(
        &mut self,
        stand: &Stand<'_>,
        due: &[Due],
        registers: impl Fn(usize) -> RegisterFile,
    ) -> (Vec<InputKind>, bool) {
        let mut inputs = Vec::new();
        let mut open = Vec::new();
        for due in due {
            let Some(native) = native(&stand.model.type_at(due.slot).controllers[due.controller].model)
            else {
                continue;
            };
            let past = stand.past(due);
            let call = Call {
                key: (due.robot, due.controller),
                native,
                stop: stand.state.stops,
                tick_us: stand.tick_us,
                is_new: past.is_empty(),
                past,
                journal: stand.journal,
            };
            match self.post(&call, || registers(due.slot)) {
                Ok(()) => open.push(call),
                Err(thought) => inputs.push(input(call.key, Vec::new(), thought, 0)),
            }
        }
        let until = Instant::now() + LOOK;
        let mut at_work = false;
        for call in open {
            let left = until.saturating_duration_since(Instant::now());
            match self.collect(call.key, call.native, left) {
                Some(input) => inputs.push(input),
                None => at_work = true,
            }
        }
        let (answers, talking) = self.talkers.ask(stand);
        inputs.extend(answers);
        (inputs, at_work || talking)
    }

    /// Ends all programs; those that are not silent are asked to. Answers what they said: (robot, line).
    pub fn stop(&mut self) -> Vec<(Uid, String)> {
        let mut said = Vec::new();
        // The silent ones are killed at once, or many of them would take long.
        self.members.retain(|_, member| !member.silent);
        for ((robot, _), member) in std::mem::take(&mut self.members) {
            said.extend(member.child.stop().said.into_iter().map(|line| (robot, line)));
        }
        said.extend(self.talkers.stop());
        said
    }

    /// Ends all programs at once: they will be started and run through their past again.
    pub fn forget(&mut self) {
        self.members.clear();
        self.talkers.forget();
    }

    /// The programs that run: robot and controller.
    pub fn running(&self) -> impl Iterator<Item = (Uid, usize)> {
        self.members.keys().copied()
    }

    /// Ends the programs of one robot at once; they will be started and run through their past again.
    /// Tells whether there were any.
    pub fn dismiss(&mut self, robot: Uid) -> bool {
        let before = self.members.len();
        self.members.retain(|key, _| key.0 != robot);
        self.talkers.dismiss(robot) || self.members.len() < before
    }

    /// Goes over from this world into another: programs that go on there stay as they are, the others are ended.
    ///
    /// One that is at work at this very stop was shown the old world: it is started again, and run
    /// through its past, so that it sees the new one.
    pub fn move_over(&mut self, old: &Model, kinship: &Kinship) {
        // Protocols may have other numbers there.
        self.talkers.forget();
        for ((robot, c), member) in std::mem::take(&mut self.members) {
            let is = old.slot_of(robot).and_then(|slot| kinship.new_controller(slot, c));
            if let Some(c) = is.filter(|_| member.asked.is_none()) {
                self.members.insert((robot, c), member);
            }
        }
    }

    /// Sees to it that a program works on a quantum; or answers what came instead.
    fn post(&mut self, call: &Call<'_>, registers: impl FnOnce() -> RegisterFile) -> Result<(), Thought> {
        let (key, stop) = (call.key, call.stop);
        // One that is to start anew has no past any more.
        let worked = |m: &Member| m.began.is_some_and(|began| began != stop);
        if call.is_new && self.members.get(&key).is_some_and(worked) {
            self.members.remove(&key);
        }
        if !self.members.contains_key(&key) {
            let child = self.start(call).map_err(crash)?;
            let began = call.past.first().map(|heard| heard.stop);
            let member = Member { child, asked: None, began, silent: false, too_wide: Vec::new() };
            self.members.insert(key, member);
        }
        let Some(member) = self.members.get_mut(&key) else { return Ok(()) };
        if member.asked.as_ref().is_some_and(|asked| asked.stop == stop) {
            return Ok(());
        }
        member.asked = None;
        // It may still work on an older quantum: then a late answer is thrown away.
        while member.child.asked().is_some() {
            match member.child.poll(Duration::ZERO) {
                Poll::Pending => {
                    member.silent = true;
                    return Err(Thought::still_busy());
                }
                Poll::Port(_) => member.child.answer_port(0),
                Poll::Ready(_) => {}
                Poll::Dead(_) => return Err(self.bury(key)),
            }
        }
        member.silent = false;
        member.began.get_or_insert(stop);
        let registers = registers();
        member.child.post(stop, registers.image()).map_err(|e| crash(e.to_string()))?;
        member.asked = Some(Asked { stop, since: Instant::now(), registers, accesses: Vec::new() });
        Ok(())
    }

    /// Looks for one program's answer.
    fn collect(&mut self, key: Key, native: &Native, wait: Duration) -> Option<InputKind> {
        let member = self.members.get_mut(&key)?;
        let until = Instant::now() + wait;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let asked = member.asked.as_mut()?;
            match member.child.poll(left) {
                Poll::Port(read) => {
                    note(&read.before, asked);
                    let access = BusAccess { address: read.address, bytes: read.width as u8, write: None };
                    asked.accesses.push(access);
                    let value = access.play(&mut asked.registers);
                    member.child.answer_port(value);
                }
                Poll::Ready(mut reply) => {
                    let mut asked = member.asked.take()?;
                    note(&reply.pokes, &mut asked);
                    note_bad(&reply, &mut asked.accesses);
                    tell_too_wide(&mut reply, &mut member.too_wide);
                    let thought = Thought { said: reply.said, ..Thought::default() };
                    return Some(input(key, asked.accesses, thought, reply.cpu_ns));
                }
                Poll::Dead(_) => {
                    let thought = self.bury(key);
                    return Some(input(key, Vec::new(), thought, 0));
                }
                Poll::Pending if native.patience.is_some_and(|p| asked.since.elapsed() >= p) => {
                    member.asked = None;
                    member.silent = true;
                    let seconds = native.patience.unwrap_or_default().as_secs_f64();
                    let message = format!("no answer for {seconds} s");
                    let failure = Some(Failure { cause: Cause::Silence, message });
                    let said = member.child.take_said();
                    let thought = Thought { said, failure, ..Thought::default() };
                    return Some(input(key, Vec::new(), thought, 0));
                }
                Poll::Pending => return None,
            }
        }
    }

    /// Takes a dead program away; answers how it ended, and what it said last.
    fn bury(&mut self, key: Key) -> Thought {
        let Some(mut member) = self.members.remove(&key) else { return Thought::default() };
        let Poll::Dead(death) = member.child.poll(Duration::ZERO) else { return Thought::default() };
        let mut said = member.child.take_said();
        said.drain(..said.len().saturating_sub(LAST_LINES));
        Thought { said, ..crash(death.to_string()) }
    }

    /// Starts a program, and runs it through what it was shown before, if anything.
    fn start(&mut self, call: &Call<'_>) -> Result<Child, String> {
        let Call { native, past, journal, .. } = call;
        let start = native.start.as_ref().map_err(Clone::clone)?;
        let launch = self.launch(start, call.tick_us)?;
        let mut child = start_when_free(|| Child::start(&launch)).map_err(|e| e.to_string())?;
        for (k, heard) in past.iter().enumerate() {
            let told = told(journal, call.key.0, heard);
            if k + 1 == past.len() && told.is_some_and(|thought| thought.1.failure.is_some()) {
                // It was silent then, and had not answered yet.
                child.post(heard.stop, &heard.image).map_err(|e| e.to_string())?;
            } else {
                let limit = native.patience.map_or(AGAIN_AT_MOST, |p| p.max(AGAIN));
                again(&mut child, heard, told.filter(|t| t.1.failure.is_none()).map(|t| t.0), limit)?;
            }
        }
        Ok(child)
    }

    fn launch(&mut self, start: &Start, tick_us: u32) -> Result<Launch, String> {
        let mut launch = Launch { tick_us, ..start.launch.clone() };
        if let Some(bytes) = &start.made {
            let file = match self.files.entry(bytes_hash(bytes)) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(place) => place.insert(write_program(&std::env::temp_dir(), bytes)?),
            };
            launch.program.clone_from(&file.0);
        }
        Ok(launch)
    }
}

impl<'a> Stand<'a> {
    /// The programs to be asked, of robots that the loop waits for: those that are due, and of which the journal does not
    /// say already what they decided.
    #[must_use]
    pub fn due(&self, waiting: &[Uid]) -> Vec<Due> {
        let told = told_now(self);
        let mut all = Vec::new();
        for &robot in waiting {
            let Some(slot) = self.model.slot_of(robot) else { continue };
            let controllers = self.model.type_at(slot).controllers.iter().enumerate();
            let asked = controllers.filter(|(c, model)| {
                native(&model.model).is_some()
                    && is_due(self.model, self.state, slot, *c)
                    && !told.contains(&(robot, *c))
            });
            all.extend(asked.map(|(controller, _)| Due { robot, slot, controller }));
        }
        all
    }

    /// What a program is shown that runs elsewhere, with these registers of its robot.
    #[must_use]
    pub fn shown(&self, due: &Due, registers: &RegisterFile) -> Shown {
        Shown::new(due.robot, due.controller, self.past(due).is_empty(), registers)
    }

    /// What a program was shown since it started.
    fn past(&self, due: &Due) -> &'a [Arc<Heard>] {
        let t = self.model.type_of[due.slot] as usize;
        self.minds.past(t, due.controller, due.slot - self.model.types[t].slots.start)
    }
}

/// Starts a program. Its file may have just been written, and be open for writing still in a copy of
/// this process that another thread is about to turn into something else.
pub(crate) fn start_when_free<T>(start: impl Fn() -> Result<T, StartError>) -> Result<T, StartError> {
    let until = Instant::now() + BUSY_FILE;
    loop {
        match start() {
            Err(StartError::Spawn { error, .. })
                if error.kind() == std::io::ErrorKind::ExecutableFileBusy && Instant::now() < until =>
            {
                std::thread::sleep(Duration::from_millis(5));
            }
            done => return done,
        }
    }
}

/// The programs of which the journal says already what they decided at this stop: (robot, controller).
fn told_now(stand: &Stand<'_>) -> BTreeSet<Key> {
    let inputs = stand.inputs.iter();
    let thought = |kind: &InputKind| match kind {
        InputKind::Thought { robot, controller, .. } => Some((*robot, *controller as usize)),
        _ => None,
    };
    inputs.filter_map(|input| thought(&input.kind)).collect()
}

/// How a controller's program is run, when it has one outside.
fn native(kind: &ControllerKind) -> Option<&Arc<Native>> {
    match kind {
        ControllerKind::Outside(outside) => {
            (outside.as_ref() as &dyn Any).downcast_ref::<NativeModel>().map(|model| &model.native)
        }
        _ => None,
    }
}

fn crash(message: String) -> Thought {
    Thought { failure: Some(Failure { cause: Cause::Crash, message }), ..Thought::default() }
}

fn input((robot, c): Key, accesses: Vec<BusAccess>, thought: Thought, think_ns: u64) -> InputKind {
    InputKind::Thought { robot, controller: c as u32, accesses, thought, think_ns }
}

fn write(poke: &Poke) -> BusAccess {
    BusAccess { address: poke.address, bytes: poke.width as u8, write: Some(poke.value) }
}

/// Notes pokes, and does them: ports answer to them.
fn note(pokes: &[Poke], asked: &mut Asked) {
    for access in pokes.iter().map(write) {
        access.play(&mut asked.registers);
        asked.accesses.push(access);
    }
}

/// Notes accesses that did less than they said, as they were said, so that they are found and reported
/// like everybody's. Values that did not fit are told in another way: here they would be written.
fn note_bad(reply: &Reply, accesses: &mut Vec<BusAccess>) {
    for bad in reply.bad.iter().filter(|bad| bad.kind != BadKind::TooWide) {
        let bytes = bad.width as u8;
        let same = |a: &BusAccess| (a.address, a.bytes, a.write.is_some()) == (bad.address, bytes, bad.write);
        if !accesses.iter().any(same) {
            accesses.push(BusAccess { address: bad.address, bytes, write: bad.write.then_some(0) });
        }
    }
}

/// Tells of values that did not fit, once for each place.
fn tell_too_wide(reply: &mut Reply, told: &mut Vec<(u32, u32)>) {
    for bad in reply.bad.iter().filter(|bad| bad.kind == BadKind::TooWide) {
        if !told.contains(&(bad.address, bad.width)) {
            told.push((bad.address, bad.width));
            let (bits, at) = (8 * bad.width, bad.address);
            reply.said.push(format!("(a value for {at:#x} does not fit {bits} bits and was not written)"));
        }
    }
}

/// What a program decided on what it was shown.
fn told<'a>(journal: &'a Journal, robot: Uid, heard: &Heard) -> Option<(&'a [BusAccess], &'a Thought)> {
    journal.at(heard.stop).iter().find_map(|input| match &input.kind {
        InputKind::Thought { robot: r, controller: c, accesses, thought, .. }
            if (*r, *c) == (robot, heard.controller) =>
        {
            Some((&accesses[..], thought))
        }
        _ => None,
    })
}

/// Runs a program through a quantum of its past; it must do what it did then.
fn again(
    child: &mut Child,
    heard: &Heard,
    told: Option<&[BusAccess]>,
    limit: Duration,
) -> Result<(), String> {
    let differs = |what: &str| {
        Err(format!(
            "run again from the start, the program does not do at tick {} what it did: {what}",
            heard.stop
        ))
    };
    child.post(heard.stop, &heard.image).map_err(|e| e.to_string())?;
    let mut answers = heard.answers.iter();
    let mut accesses: Vec<BusAccess> = Vec::new();
    let until = Instant::now() + limit;
    loop {
        match child.poll(until.saturating_duration_since(Instant::now())) {
            Poll::Port(read) => {
                accesses.extend(read.before.iter().map(write));
                accesses.push(BusAccess { address: read.address, bytes: read.width as u8, write: None });
                child.answer_port(answers.next().copied().unwrap_or(0));
            }
            Poll::Ready(reply) => {
                accesses.extend(reply.pokes.iter().map(write));
                note_bad(&reply, &mut accesses);
                break;
            }
            Poll::Pending => return differs("it is silent"),
            Poll::Dead(death) => return differs(&death.to_string()),
        }
    }
    if told.is_some_and(|told| told != accesses) { differs("it writes other values") } else { Ok(()) }
}

fn write_program(folder: &Path, bytes: &[u8]) -> Result<ProgramFile, String> {
    use std::io::Write as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    let made = fresh::make(folder, "swarmyard-program", |path| options.open(path));
    let (path, mut file) =
        made.map_err(|e| format!("cannot write a program to `{}`: {e}", folder.display()))?;
    // From here on it is ours, and goes with us.
    let program = ProgramFile(path);
    file.write_all(bytes).map_err(|e| format!("cannot write `{}`: {e}", program.0.display()))?;
    Ok(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compiler::Room;

    #[test]
    fn a_program_is_never_written_to_a_file_of_somebody_else_nor_takes_it_away() {
        let room = Room::new().expect("a folder");
        let first = write_program(&room.0, b"first").expect("a program");
        let name = first.0.file_name().and_then(|n| n.to_str()).expect("a name");
        let number: u64 = name.rsplit('-').next().and_then(|n| n.parse().ok()).expect("a number");
        let others: Vec<PathBuf> = (number + 1..number + 100)
            .map(|n| room.0.join(format!("swarmyard-program-{}-{n}", std::process::id())))
            .collect();
        others.iter().for_each(|path| std::fs::write(path, "theirs").expect("a file of somebody else"));
        let second = write_program(&room.0, b"second").expect("a program");
        assert_eq!(std::fs::read(&second.0).expect("it is there"), b"second");
        drop((first, second));
        assert!(others.iter().all(|path| std::fs::read(path).is_ok_and(|text| text == b"theirs")));
    }
}
