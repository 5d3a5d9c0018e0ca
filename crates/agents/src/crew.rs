//! The native programs of a run: started when they are first asked, asked together, waited for.
//!
//! In: the robots that the loop waits for, and their latched registers. Out: inputs for the journal,
//! one for each that has answered, died, or been silent for too long. Nothing here changes the state:
//! a run with a journal that is whole starts no program at all.

use crate::native::{NativeModel, Start};
use crate::process::{Child, Launch, Poke, Poll, Reply};
use std::any::Any;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_base::Uid;
use swarmyard_engine::{BusAccess, ControllerKind, Heard, InputKind, Journal, Minds, Model};
use swarmyard_part_api::{Cause, Failure, Policy, RegisterFile, Thought};

/// How long one look waits, so that whoever drives the run can do something else in between.
const LOOK: Duration = Duration::from_millis(50);
/// How long a program may take for one of the quanta that it is run through again.
const AGAIN: Duration = Duration::from_secs(10);

/// The native programs of a run.
#[derive(Default)]
pub struct Crew {
    /// By slot and controller.
    members: BTreeMap<(usize, usize), Member>,
    /// Programs that were made here, as files: by type and controller.
    files: BTreeMap<(usize, usize), ProgramFile>,
}

struct Member {
    child: Child,
    /// Since when the quantum it works on is waited for; with what it did so far.
    asked: Option<Asked>,
    /// It was silent before, which has been told.
    silent: bool,
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
    /// The running programs, which remember what those outside were shown.
    pub minds: &'a Minds,
    /// What came from outside so far.
    pub journal: &'a Journal,
    /// The stop that waits.
    pub stop: u64,
    /// Length of the quantum in microseconds.
    pub tick_us: u32,
}

impl Crew {
    /// Asks the programs of robots that the loop waits for, and waits a moment for their answers.
    ///
    /// Answers what is to enter the journal at this stop, and whether some are still at work.
    /// `registers` latches those of a robot.
    pub fn ask(
        &mut self,
        stand: &Stand<'_>,
        waiting: &[Uid],
        registers: impl Fn(usize) -> RegisterFile,
    ) -> (Vec<InputKind>, bool) {
        let mut inputs = Vec::new();
        let mut open = Vec::new();
        for &robot in waiting {
            let Some(slot) = stand.model.slot_of(robot) else { continue };
            for (c, native) in natives(stand, slot) {
                if self.is_told(stand, robot, c) {
                    continue;
                }
                match self.post(stand, (slot, c), native, || registers(slot)) {
                    Ok(true) => open.push((robot, slot, c, native)),
                    // Still busy with an earlier quantum, and that has been told.
                    Ok(false) => inputs.push(input(robot, c, Vec::new(), Thought::default(), 0)),
                    Err(failure) => {
                        let thought = Thought { failure: Some(failure), ..Thought::default() };
                        inputs.push(input(robot, c, Vec::new(), thought, 0));
                    }
                }
            }
        }
        let until = Instant::now() + LOOK;
        let mut at_work = false;
        for (robot, slot, c, native) in open {
            let left = until.saturating_duration_since(Instant::now());
            match self.collect((robot, slot, c), native, left) {
                Some(input) => inputs.push(input),
                None => at_work = true,
            }
        }
        (inputs, at_work)
    }

    /// Ends all programs; those that stand in a quantum of their own are asked to. Answers what they
    /// said: (slot, line).
    pub fn stop(&mut self) -> Vec<(usize, String)> {
        let mut said = Vec::new();
        for ((slot, _), member) in std::mem::take(&mut self.members) {
            said.extend(member.child.stop().said.into_iter().map(|line| (slot, line)));
        }
        said
    }

    /// Ends all programs at once: they will be started and run through their past again.
    pub fn forget(&mut self) {
        self.members.clear();
    }

    fn is_told(&self, stand: &Stand<'_>, robot: Uid, controller: usize) -> bool {
        stand.journal.at(stand.stop).iter().any(|input| match &input.kind {
            InputKind::Thought { robot: r, controller: c, .. } => *r == robot && *c as usize == controller,
            _ => false,
        })
    }

    /// Sees to it that a program works on this quantum; `false` when it is busy with an older one.
    fn post(
        &mut self,
        stand: &Stand<'_>,
        key: (usize, usize),
        native: &NativeModel,
        registers: impl FnOnce() -> RegisterFile,
    ) -> Result<bool, Failure> {
        if !self.members.contains_key(&key) {
            let child = self.start(stand, key, native).map_err(crash)?;
            self.members.insert(key, Member { child, asked: None, silent: false });
        }
        let Some(member) = self.members.get_mut(&key) else { return Ok(false) };
        if member.asked.as_ref().is_some_and(|a| a.stop == stand.stop) {
            return Ok(true);
        }
        if member.child.asked().is_some() {
            // It still works on an older quantum. A late answer is thrown away.
            match member.child.poll(Duration::ZERO) {
                Poll::Pending | Poll::Port(_) => return Ok(false),
                Poll::Ready(_) => {}
                Poll::Dead(death) => {
                    self.members.remove(&key);
                    return Err(crash(death.to_string()));
                }
            }
        }
        member.silent = false;
        let registers = registers();
        member.child.post(stand.stop, registers.image()).map_err(|e| crash(e.to_string()))?;
        let asked = Asked { stop: stand.stop, since: Instant::now(), registers, accesses: Vec::new() };
        member.asked = Some(asked);
        Ok(true)
    }

    /// Looks for one program's answer.
    fn collect(
        &mut self,
        (robot, slot, c): (Uid, usize, usize),
        native: &NativeModel,
        wait: Duration,
    ) -> Option<InputKind> {
        let member = self.members.get_mut(&(slot, c))?;
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
                Poll::Ready(reply) => {
                    let mut asked = member.asked.take()?;
                    finish(&reply, &mut asked);
                    let thought = Thought { said: reply.said, ..Thought::default() };
                    return Some(input(robot, c, asked.accesses, thought, reply.cpu_ns));
                }
                Poll::Dead(death) => {
                    let failure = Some(crash(death.to_string()));
                    let said = if death.lines.len() > 20 {
                        death.lines[death.lines.len() - 20..].to_vec()
                    } else {
                        death.lines
                    };
                    self.members.remove(&(slot, c));
                    return Some(input(
                        robot,
                        c,
                        Vec::new(),
                        Thought { said, failure, ..Thought::default() },
                        0,
                    ));
                }
                Poll::Pending if native.patience.is_some_and(|p| asked.since.elapsed() >= p) => {
                    member.asked = None;
                    member.silent = true;
                    let seconds = native.patience.unwrap_or_default().as_secs_f64();
                    let message = format!("no answer for {seconds} s");
                    let failure = Some(Failure { cause: Cause::Silence, message });
                    if native_rules(native) == Policy::Restart {
                        self.members.remove(&(slot, c));
                    }
                    return Some(input(robot, c, Vec::new(), Thought { failure, ..Thought::default() }, 0));
                }
                Poll::Pending => return None,
            }
        }
    }

    /// Starts a program, and runs it through what it was shown before, if anything.
    fn start(
        &mut self,
        stand: &Stand<'_>,
        (slot, c): (usize, usize),
        native: &NativeModel,
    ) -> Result<Child, String> {
        let start = native.start.as_ref().map_err(Clone::clone)?;
        let t = stand.model.type_of[slot] as usize;
        let launch = self.launch((t, c), start, stand.tick_us)?;
        let mut child = Child::start(&launch).map_err(|e| e.to_string())?;
        let row = slot - stand.model.types[t].slots.start;
        let robot = stand.model.uids[slot];
        for heard in stand.minds.past(t, c, row) {
            again(&mut child, heard, told(stand.journal, robot, c, heard.stop))?;
        }
        Ok(child)
    }

    fn launch(&mut self, key: (usize, usize), start: &Start, tick_us: u32) -> Result<Launch, String> {
        let mut launch = Launch { tick_us, ..start.launch.clone() };
        if let Some(bytes) = &start.made {
            let file = match self.files.entry(key) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => new.insert(write_program(bytes)?),
            };
            launch.program.clone_from(&file.0);
        }
        Ok(launch)
    }
}

/// The native programs among the controllers of a robot.
fn natives<'a>(stand: &Stand<'a>, slot: usize) -> Vec<(usize, &'a NativeModel)> {
    let ty = &stand.model.types[stand.model.type_of[slot] as usize];
    ty.controllers.iter().enumerate().filter_map(|(c, model)| Some((c, native(&model.model)?))).collect()
}

fn native(kind: &ControllerKind) -> Option<&NativeModel> {
    match kind {
        ControllerKind::Outside(outside) => (outside.as_ref() as &dyn Any).downcast_ref(),
        _ => None,
    }
}

fn native_rules(native: &NativeModel) -> Policy {
    use swarmyard_part_api::Outside as _;
    native.rules().after(Cause::Silence)
}

fn crash(message: String) -> Failure {
    Failure { cause: Cause::Crash, message }
}

fn input(robot: Uid, c: usize, accesses: Vec<BusAccess>, thought: Thought, think_ns: u64) -> InputKind {
    InputKind::Thought { robot, controller: c as u32, accesses, thought, think_ns }
}

/// Notes pokes, and does them: ports answer to them.
fn note(pokes: &[Poke], asked: &mut Asked) {
    for poke in pokes {
        let access = BusAccess { address: poke.address, bytes: poke.width as u8, write: Some(poke.value) };
        access.play(&mut asked.registers);
        asked.accesses.push(access);
    }
}

/// Notes the rest of an answer. What did less than it said is noted as it was said, so that it is
/// found and reported like everybody's.
fn finish(reply: &Reply, asked: &mut Asked) {
    note(&reply.pokes, asked);
    for bad in &reply.bad {
        let write = bad.write.then_some(0);
        let known = asked.accesses.iter().any(|a| a.address == bad.address && a.write.is_some() == bad.write);
        if !known {
            asked.accesses.push(BusAccess { address: bad.address, bytes: bad.width as u8, write });
        }
    }
}

/// What a program answered at an earlier stop.
fn told(journal: &Journal, robot: Uid, controller: usize, stop: u64) -> Option<&[BusAccess]> {
    journal.at(stop).iter().find_map(|input| match &input.kind {
        InputKind::Thought { robot: r, controller: c, accesses, thought, .. }
            if *r == robot && *c as usize == controller && thought.failure.is_none() =>
        {
            Some(&accesses[..])
        }
        _ => None,
    })
}

/// Runs a program through a quantum of its past; it must do what it did then.
fn again(child: &mut Child, heard: &Heard, told: Option<&[BusAccess]>) -> Result<(), String> {
    let differs = |what: &str| {
        Err(format!(
            "run again from the start, the program does not do at tick {} what it did: {what}",
            heard.stop
        ))
    };
    child.post(heard.stop, &heard.image).map_err(|e| e.to_string())?;
    let mut answers = heard.answers.iter();
    let mut pokes: Vec<Poke> = Vec::new();
    let until = Instant::now() + AGAIN;
    loop {
        match child.poll(until.saturating_duration_since(Instant::now())) {
            Poll::Port(read) => {
                pokes.extend(read.before);
                child.answer_port(answers.next().copied().unwrap_or(0));
            }
            Poll::Ready(reply) => {
                pokes.extend(reply.pokes);
                break;
            }
            Poll::Pending => return differs("it is silent"),
            Poll::Dead(death) => return differs(&death.to_string()),
        }
    }
    let Some(told) = told else { return Ok(()) };
    let then = told.iter().filter_map(|a| Some((a.address, u32::from(a.bytes), a.write?)));
    // Accesses that wrote nothing stand only in what was told.
    let now: Vec<(u32, u32, u32)> = pokes.iter().map(|p| (p.address, p.width, p.value)).collect();
    let same = then.filter(|p| now.contains(p)).count() >= now.len();
    if same { Ok(()) } else { differs("it writes other values") }
}

fn write_program(bytes: &Arc<Vec<u8>>) -> Result<ProgramFile, String> {
    use std::io::Write as _;
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let name = format!("swarmyard-program-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o700);
    let written = options.open(&path).and_then(|mut file| file.write_all(bytes));
    let file = ProgramFile(path);
    written.map_err(|e| format!("cannot write `{}`: {e}", file.0.display()))?;
    Ok(file)
}
