//! Programs of robots that run in the sandbox of another host.
//!
//! In: what a program here would be shown. Out: what it would do, from a process here that stands for one over there, one
//! for all robots with the program. The memory is over there between steps. Here are the last memory that was fetched and
//! what the program was shown since: with them it goes on here when the host cannot be reached or is lost, and no bit
//! differs. A memory is fetched anew when what was shown since has become longer, so both are bounded.
//!
//! Robots are asked together: what each is shown is posted, and goes on its way when the first answer is wanted.

use super::line::{Talk, Task};
use super::there::{Answer, Begin, Question, Said, Shown};
use crate::wasm::WasmProgram;
use crate::workshop::Elsewhere;
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use swarmyard_base::Diagnostics;
use swarmyard_part_api::{Mind, Occasion, Port, Program, RegisterFile, RegisterMap, Rules, Thought};

/// Bytes that a program may have been shown before its memory is fetched, however small that is.
const SINCE: usize = 64 << 10;
/// What a step counts besides its registers, in bytes.
const STEP: usize = 64;
/// Most copies asked in one message.
const TOGETHER: usize = 128;

/// How the line is opened.
pub(super) type Opens = Box<dyn Fn() -> io::Result<Talk> + Send + Sync>;

/// A program whose copies run on another host.
pub(crate) struct FarProgram {
    here: Arc<WasmProgram>,
    elsewhere: Elsewhere,
    on: String,
    desk: Arc<Desk>,
}

impl FarProgram {
    pub(crate) fn new(here: WasmProgram, elsewhere: &Elsewhere, on: &str) -> FarProgram {
        let (elsewhere, on, here) = (elsewhere.clone(), on.to_owned(), Arc::new(here));
        let opens = {
            let (elsewhere, on) = (elsewhere.clone(), on.clone());
            Box::new(move || Talk::open(&elsewhere, &on, Task::Programs))
        };
        FarProgram { desk: Arc::new(Desk::new(Arc::clone(&here), opens)), here, elsewhere, on }
    }

    fn of(&self, here: WasmProgram) -> Arc<dyn Program> {
        Arc::new(FarProgram::new(here, &self.elsewhere, &self.on))
    }
}

impl Program for FarProgram {
    fn rules(&self) -> Rules {
        self.here.rules()
    }

    fn code(&self) -> u64 {
        self.here.code()
    }

    fn allowance(&self) -> (u64, u64) {
        self.here.allowance()
    }

    fn start(&self) -> Box<dyn Mind> {
        Box::new(FarMind::new(&self.desk))
    }

    fn place(&self) -> Option<&str> {
        Some(&self.on)
    }

    fn bytes(&self) -> (&str, &[u8]) {
        self.here.bytes()
    }

    fn source(&self) -> Option<&Path> {
        self.here.source()
    }

    fn renewed(&self) -> Result<Arc<dyn Program>, Diagnostics> {
        self.here.remade().map(|here| self.of(here))
    }

    fn with_code(&self, code: &[u8]) -> Result<Arc<dyn Program>, Diagnostics> {
        self.here.of_code(&Arc::new(code.to_vec())).map(|here| self.of(here))
    }
}

/// Where the copies of one program ask.
pub(super) struct Desk {
    here: Arc<WasmProgram>,
    opens: Opens,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    line: Line,
    /// The registers that were told of last.
    map: Option<Arc<RegisterMap>>,
    posted: Vec<Posted>,
    /// Answers that nobody has taken yet, by copy.
    answered: BTreeMap<u64, Answered>,
    /// Copies that are over there and not needed any more.
    gone: Vec<u64>,
    /// Copies that there are, and the number of the next.
    copies: usize,
    next: u64,
}

/// The way there.
#[derive(Default)]
enum Line {
    /// Nobody was asked yet, or nobody is left who asks.
    #[default]
    Unused,
    Open(Box<Talk>),
    /// It is not tried again.
    Lost,
}

/// What a copy is to be shown.
struct Posted {
    mind: u64,
    /// `Some(None)` begins fresh, `Some(Some(…))` with a memory.
    begin: Option<Option<Arc<Vec<u8>>>>,
    moment: Occasion,
    /// Its registers, on which its ports answer.
    registers: RegisterFile,
    keep: bool,
}

/// What came of it.
struct Answered {
    thought: Thought,
    /// The registers with everything that was poked.
    registers: RegisterFile,
    /// What ports answered, in order.
    heard: Vec<u32>,
    memory: Option<Vec<u8>>,
}

impl Desk {
    pub(super) fn new(here: Arc<WasmProgram>, opens: Opens) -> Desk {
        Desk { here, opens, books: Mutex::default() }
    }

    #[cfg(test)]
    pub(super) fn is_open(&self) -> bool {
        matches!(self.lock().line, Line::Open(_))
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a new copy.
    fn enter(&self) -> u64 {
        let mut books = self.lock();
        books.copies += 1;
        books.next += 1;
        books.next
    }

    /// A copy is no more.
    fn leave(&self, mind: u64) {
        let mut books = self.lock();
        books.copies -= 1;
        if matches!(books.line, Line::Open(_)) {
            books.gone.push(mind);
        }
        books.posted.retain(|posted| posted.mind != mind);
        books.answered.remove(&mind);
        if books.copies == 0 {
            (books.gone, books.map) = (Vec::new(), None);
            if matches!(books.line, Line::Open(_)) {
                books.line = Line::Unused;
            }
        }
    }

    fn post(&self, posted: Posted) {
        self.lock().posted.push(posted);
    }

    /// What came of what was posted for a copy; nothing when nobody over there answers.
    fn answer(&self, mind: u64) -> Option<Answered> {
        let mut books = self.lock();
        if !books.answered.contains_key(&mind) {
            let posted = std::mem::take(&mut books.posted);
            let answered = self.ask(&mut books, |talk, map| {
                let mut all = Vec::new();
                let same = |a: &Posted, b: &Posted| Arc::ptr_eq(a.registers.map(), b.registers.map());
                let mut rest = posted;
                while !rest.is_empty() {
                    let alike = rest.chunk_by(same).next().map_or(1, <[Posted]>::len).min(TOGETHER);
                    let later = rest.split_off(alike);
                    all.extend(steps(talk, map, rest)?);
                    rest = later;
                }
                Ok(all)
            });
            books.answered.extend(answered?);
        }
        books.answered.remove(&mind)
    }

    /// The memory of a copy that is over there.
    fn memory(&self, mind: u64) -> Option<Vec<u8>> {
        self.ask(&mut self.lock(), |talk, _| {
            talk.say(&Question::Memory(mind))?;
            talk.hear()
        })
    }

    /// What a copy over there says to the end of the run, and its memory then.
    fn stop(&self, mind: u64) -> Option<(Vec<String>, Vec<u8>)> {
        self.ask(&mut self.lock(), |talk, _| {
            talk.say(&Question::Stop(mind))?;
            talk.hear()
        })
    }

    /// Asks; whatever goes wrong loses the line.
    fn ask<T>(
        &self,
        books: &mut Books,
        question: impl FnOnce(&mut Talk, &mut Option<Arc<RegisterMap>>) -> io::Result<T>,
    ) -> Option<T> {
        if matches!(books.line, Line::Unused) {
            books.line = self.open().map_or(Line::Lost, |talk| Line::Open(Box::new(talk)));
        }
        let Books { line, map, gone, .. } = books;
        let Line::Open(talk) = line else { return None };
        let forget = std::mem::take(gone);
        let told = if forget.is_empty() { Ok(()) } else { talk.say(&Question::Forget(forget.into())) };
        let answer = told.and_then(|()| question(talk, map)).ok();
        match &answer {
            Some(_) => talk.answered(),
            None => *line = Line::Lost,
        }
        answer
    }

    fn open(&self) -> io::Result<Talk> {
        let mut talk = (self.opens)()?;
        let ((_, code), (fuel, memory)) = (self.here.bytes(), self.here.allowance());
        talk.say(&Question::Program { code: code.into(), fuel, memory })?;
        Ok(talk)
    }
}

/// A quantum of copies with the same registers.
fn steps(
    talk: &mut Talk,
    map: &mut Option<Arc<RegisterMap>>,
    mut all: Vec<Posted>,
) -> io::Result<Vec<(u64, Answered)>> {
    let wrong = || io::Error::other("it answers what nobody asked");
    let now = all.first().map(|posted| Arc::clone(posted.registers.map()));
    if let Some(now) = now.filter(|now| map.as_ref().is_none_or(|told| !Arc::ptr_eq(told, now))) {
        talk.say(&Question::Registers(now.places()))?;
        *map = Some(now);
    }
    talk.say(&Question::Steps(all.iter().map(shown).collect()))?;
    let mut heard: Vec<Vec<u32>> = vec![Vec::new(); all.len()];
    let answers: Vec<Answer> = loop {
        match talk.hear()? {
            Said::Answers(answers) => break answers,
            Said::Port { mind, address, bytes, write } => {
                let k = all.iter().position(|p| p.mind == mind).ok_or_else(wrong)?;
                if ![1, 2, 4].contains(&bytes) {
                    return Err(wrong());
                }
                let registers = &mut all[k].registers;
                if let Some(value) = write {
                    registers.poke(address, bytes, value);
                } else {
                    let value = registers.peek(address, bytes);
                    heard[k].push(value);
                    talk.say(&value)?;
                }
            }
        }
    };
    if answers.len() != all.len() {
        return Err(wrong());
    }
    let taken = all.into_iter().zip(heard).zip(answers).map(|((mut posted, heard), answer)| {
        let Answer { mind, thought, pokes, memory } = answer;
        let fits = mind == posted.mind && memory.is_some() == posted.keep && posted.registers.take(&pokes);
        let answered = Answered { thought, registers: posted.registers, heard, memory };
        if fits { Ok((mind, answered)) } else { Err(wrong()) }
    });
    taken.collect()
}

fn shown(posted: &Posted) -> Shown<'_> {
    let begin = posted.begin.as_ref().map(|memory| match memory {
        None => Begin::Fresh,
        Some(memory) => Begin::From(memory.as_slice().into()),
    });
    let Occasion { tick, tick_us, .. } = posted.moment;
    let image = posted.registers.image().into();
    Shown { mind: posted.mind, begin, tick, tick_us, image, keep: posted.keep }
}

/// One robot's copy.
pub(super) struct FarMind {
    desk: Arc<Desk>,
    number: u64,
    /// A memory that is asked for may have to be brought home.
    at: RefCell<At>,
}

/// Where a copy is: over there, until it has come home.
#[derive(Default)]
struct At {
    away: Away,
    home: Option<Box<dyn Mind>>,
}

impl At {
    /// The copy over there, when it is.
    fn away(&mut self) -> Option<&mut Away> {
        self.home.is_none().then_some(&mut self.away)
    }

    /// Brings the copy home, if it is not there.
    fn here(&mut self, desk: &Desk) -> &mut Box<dyn Mind> {
        let At { away, home } = self;
        home.get_or_insert_with(|| std::mem::take(away).home(&desk.here))
    }
}

/// A copy over there, and what it takes to go on without it.
#[derive(Default)]
struct Away {
    /// The last memory; `None` is that of a fresh copy.
    memory: Option<Arc<Vec<u8>>>,
    /// What it was shown since.
    since: Vec<Past>,
    /// Bytes of that.
    bytes: usize,
    /// Whether it has begun over there.
    began: bool,
    /// Whether this quantum was posted.
    is_posted: bool,
}

/// What a copy was shown in one quantum.
struct Past {
    moment: Occasion,
    map: Arc<RegisterMap>,
    image: Vec<u8>,
    /// What ports answered.
    heard: Vec<u32>,
}

impl FarMind {
    pub(super) fn new(desk: &Arc<Desk>) -> FarMind {
        FarMind { number: desk.enter(), desk: Arc::clone(desk), at: RefCell::default() }
    }

    /// Quanta that are kept to go on here.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.at.borrow().away.since.len()
    }
}

impl Away {
    fn from(memory: Arc<Vec<u8>>) -> Away {
        Away { memory: Some(memory), ..Away::default() }
    }

    /// What is asked in this quantum. The memory is wanted when what was shown since is longer.
    fn posted(&mut self, mind: u64, moment: &Occasion, registers: &RegisterFile) -> Posted {
        let begin = (!std::mem::replace(&mut self.began, true)).then(|| self.memory.clone());
        let bytes = self.bytes + registers.image().len() + STEP;
        let keep = bytes > self.memory.as_ref().map_or(0, |m| m.len()).max(SINCE);
        self.is_posted = true;
        Posted { mind, begin, moment: *moment, registers: registers.clone(), keep }
    }

    /// Takes what came of it; answers the thought and the registers.
    fn take(&mut self, moment: &Occasion, answered: Answered) -> (Thought, RegisterFile) {
        let Answered { thought, registers, heard, memory } = answered;
        self.is_posted = false;
        match memory {
            Some(memory) => self.fetched(memory),
            None => {
                let image = registers.image().to_vec();
                self.bytes += image.len() + heard.len() * size_of::<u32>() + STEP;
                self.since.push(Past { moment: *moment, map: Arc::clone(registers.map()), image, heard });
            }
        }
        (thought, registers)
    }

    fn fetched(&mut self, memory: Vec<u8>) {
        self.memory = Some(Arc::new(memory));
        self.since.clear();
        self.bytes = 0;
    }

    /// A copy here that has gone through the same.
    fn home(&self, program: &WasmProgram) -> Box<dyn Mind> {
        let mut mind = program.start();
        if let Some(memory) = &self.memory {
            // It was looked at when it came.
            let _ = mind.restore(memory);
        }
        for past in &self.since {
            let again: Arc<dyn Port> = Arc::new(Again(Mutex::new(past.heard.iter().copied().collect())));
            let map = RegisterMap::of_places(&past.map.places(), |_| Arc::clone(&again));
            let mut registers = RegisterFile::new(Arc::new(map.unwrap_or_default()));
            let _ = registers.show(&past.image);
            let _ = mind.think(&past.moment, &mut registers);
        }
        mind
    }
}

/// A port that answers what it answered before.
struct Again(Mutex<VecDeque<u32>>);

impl Port for Again {
    fn read(&self, _: &mut [f64]) -> u32 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front().unwrap_or(0)
    }

    fn write(&self, _: &mut [f64], _: u32) {}
}

impl Mind for FarMind {
    fn show(&mut self, moment: &Occasion, registers: &RegisterFile) {
        if let Some(away) = self.at.get_mut().away() {
            self.desk.post(away.posted(self.number, moment, registers));
        }
    }

    fn think(&mut self, moment: &Occasion, registers: &mut RegisterFile) -> Thought {
        let at = self.at.get_mut();
        if let Some(away) = at.away() {
            if !away.is_posted {
                self.desk.post(away.posted(self.number, moment, registers));
            }
            if let Some(answered) = self.desk.answer(self.number) {
                let (thought, after) = away.take(moment, answered);
                *registers = after;
                return thought;
            }
        }
        at.here(&self.desk).think(moment, registers)
    }

    fn stop(&mut self) -> Vec<String> {
        let at = self.at.get_mut();
        if let Some(away) = at.away().filter(|away| away.began)
            && let Some((said, memory)) = self.desk.stop(self.number)
        {
            away.fetched(memory);
            return said;
        }
        at.here(&self.desk).stop()
    }

    fn image(&self) -> Vec<u8> {
        let at = &mut *self.at.borrow_mut();
        if let Some(away) = at.away() {
            match &away.memory {
                Some(memory) if away.since.is_empty() => return memory.to_vec(),
                None if !away.began => return self.desk.here.start().image(),
                _ => {}
            }
            if let Some(memory) = self.desk.memory(self.number) {
                away.fetched(memory.clone());
                return memory;
            }
        }
        at.here(&self.desk).image()
    }

    fn restore(&mut self, image: &[u8]) -> Result<(), String> {
        self.desk.here.takes(image)?;
        *self.at.get_mut() = At { away: Away::from(Arc::new(image.to_vec())), home: None };
        Ok(())
    }
}

impl Drop for FarMind {
    fn drop(&mut self) {
        self.desk.leave(self.number);
    }
}
