//! The process on another host in which programs of robots run: their memories live here between steps.
//!
//! In: a module, the places of registers, and what each robot's copy is shown. Out: what it poked, said and used up, and
//! its memory when that is wanted. An access to a port is asked back, one after another, while the copy waits.
//!
//! The end of the questions is the end of everything that runs here.

use super::line::Pipes;
use crate::wasm::{Budget, WasmProgram};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use swarmyard_base::Uid;
use swarmyard_part_api::{
    Mind, Occasion, Place, Pokes, Port, Program as _, RegisterFile, RegisterMap, Thought,
};

/// What is asked.
#[derive(Serialize, Deserialize)]
pub(super) enum Question<'a> {
    /// From now on this module. It comes once, and first.
    Program { code: Cow<'a, [u8]>, fuel: u64, memory: u64 },
    /// From now on these registers.
    Registers(Vec<Place>),
    /// These copies are not needed any more.
    Forget(Cow<'a, [u64]>),
    /// A quantum of some copies. The answer is [`Said`]: accesses to ports, then [`Said::Answers`], as many.
    Steps(Vec<Shown<'a>>),
    /// The memory of a copy. The answer is bytes.
    Memory(u64),
    /// A copy is told that the run is over. The answer is what it says, and its memory.
    Stop(u64),
}

/// What a copy is shown.
#[derive(Serialize, Deserialize)]
pub(super) struct Shown<'a> {
    /// Its number.
    pub(super) mind: u64,
    /// How it begins; `None` when it goes on.
    pub(super) begin: Option<Begin<'a>>,
    pub(super) tick: u64,
    pub(super) tick_us: u32,
    /// Its latched registers.
    pub(super) image: Cow<'a, [u8]>,
    /// Whether its memory is wanted afterwards.
    pub(super) keep: bool,
}

/// How a copy begins.
#[derive(Serialize, Deserialize)]
pub(super) enum Begin<'a> {
    Fresh,
    /// With this memory.
    From(Cow<'a, [u8]>),
}

/// What is said while copies work.
#[derive(Serialize, Deserialize)]
pub(super) enum Said {
    /// A copy reads a port, and waits for the value; or writes to one.
    Port { mind: u64, address: u32, bytes: u32, write: Option<u32> },
    /// All have done.
    Answers(Vec<Answer>),
}

/// What came of a quantum.
#[derive(Serialize, Deserialize)]
pub(super) struct Answer {
    pub(super) mind: u64,
    pub(super) thought: Thought,
    pub(super) pokes: Pokes,
    pub(super) memory: Option<Vec<u8>>,
}

/// Computes until there are no more questions.
pub(super) fn compute(pipes: Pipes) -> io::Result<()> {
    let link = Arc::new(Link(Mutex::new(Open { pipes, mind: 0, broken: None })));
    let mut there = There { link, program: None, registers: RegisterFile::default(), minds: BTreeMap::new() };
    loop {
        let question = there.link.lock().pipes.hear::<Question<'static>>()?;
        match question {
            Some(question) => there.answer(question)?,
            None => return Ok(()),
        }
    }
}

/// Everything that runs here.
struct There {
    link: Arc<Link>,
    program: Option<WasmProgram>,
    registers: RegisterFile,
    minds: BTreeMap<u64, Box<dyn Mind>>,
}

impl There {
    fn answer(&mut self, question: Question<'_>) -> io::Result<()> {
        match question {
            Question::Program { code, fuel, memory } => {
                let memory = usize::try_from(memory).unwrap_or(usize::MAX);
                let budget = Budget { fuel, memory };
                let program = WasmProgram::nameless(&Arc::new(code.into_owned()), budget);
                self.program = Some(program.map_err(io::Error::other)?);
            }
            Question::Registers(places) => {
                let port = |place: &Place| -> Arc<dyn Port> {
                    Arc::new(Asked { link: Arc::clone(&self.link), at: place.at, bytes: place.bytes })
                };
                let map = RegisterMap::of_places(&places, port);
                let map = map.ok_or_else(|| io::Error::other("there are no such registers"))?;
                self.registers = RegisterFile::new(Arc::new(map));
            }
            Question::Forget(minds) => minds.iter().for_each(|mind| drop(self.minds.remove(mind))),
            Question::Steps(shown) => {
                let mut answers = Vec::new();
                for shown in shown {
                    answers.push(self.step(&shown)?);
                }
                self.link.lock().pipes.say(&Said::Answers(answers))?;
            }
            Question::Memory(mind) => {
                let memory = self.mind(mind)?.image();
                self.link.lock().pipes.say(&memory)?;
            }
            Question::Stop(mind) => {
                let said = self.mind(mind)?.stop();
                let memory = self.mind(mind)?.image();
                self.link.lock().pipes.say(&(said, memory))?;
            }
        }
        Ok(())
    }

    fn step(&mut self, shown: &Shown<'_>) -> io::Result<Answer> {
        if let Some(begin) = &shown.begin {
            let program = self.program.as_ref().ok_or_else(|| io::Error::other("steps before a program"))?;
            let mut mind = program.start();
            if let Begin::From(memory) = begin {
                mind.restore(memory).map_err(io::Error::other)?;
            }
            self.minds.insert(shown.mind, mind);
        }
        if !self.registers.show(&shown.image) {
            return Err(io::Error::other("what is shown does not fit the registers"));
        }
        self.link.lock().mind = shown.mind;
        let moment = Occasion { robot: Uid(shown.mind), tick: shown.tick, tick_us: shown.tick_us };
        let There { minds, registers, link, .. } = self;
        let mind = minds.get_mut(&shown.mind).ok_or_else(unknown)?;
        let thought = mind.think(&moment, registers);
        if let Some(broken) = link.lock().broken.take() {
            return Err(broken);
        }
        let memory = shown.keep.then(|| mind.image());
        Ok(Answer { mind: shown.mind, thought, pokes: registers.pokes(), memory })
    }

    fn mind(&mut self, number: u64) -> io::Result<&mut Box<dyn Mind>> {
        self.minds.get_mut(&number).ok_or_else(unknown)
    }
}

fn unknown() -> io::Error {
    io::Error::other("there is no such copy")
}

/// The line, for the loop and for ports.
struct Link(Mutex<Open>);

struct Open {
    pipes: Pipes,
    /// Who works now.
    mind: u64,
    /// Why the line broke while a copy worked.
    broken: Option<io::Error>,
}

impl Link {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Stands here for a port of a part that is with who asks.
struct Asked {
    link: Arc<Link>,
    at: u32,
    bytes: u32,
}

impl Asked {
    fn access(&self, write: Option<u32>) -> u32 {
        let Open { pipes, mind, broken } = &mut *self.link.lock();
        if broken.is_some() {
            return 0;
        }
        let said = pipes.say(&Said::Port { mind: *mind, address: self.at, bytes: self.bytes, write });
        let value = said.and_then(|()| match write {
            Some(_) => Ok(0),
            None => pipes.hear()?.ok_or_else(|| io::ErrorKind::UnexpectedEof.into()),
        });
        value.unwrap_or_else(|e| {
            *broken = Some(e);
            0
        })
    }
}

impl Port for Asked {
    fn read(&self, _: &mut [f64]) -> u32 {
        self.access(None)
    }

    fn write(&self, _: &mut [f64], value: u32) {
        self.access(Some(value));
    }
}
