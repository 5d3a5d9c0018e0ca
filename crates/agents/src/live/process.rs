//! The class `process` of algorithms: a native program, in any language, that is told lines and answers lines.
//!
//! The program itself is not here: what it has to see is asked outside ([`Cx::ask`]), and what it answered comes
//! back from the journal, so a replay starts no process. Its memory is out of reach; instead everything that it
//! was told and answered in this life is kept, and one that has to be started again is led through it.

use super::call::{Call, Hands, Kept, MOST_ASKS, too_many_asks};
use super::event::Event;
use super::{Status, Then, Uses, with_ports, words};
use crate::native::{elsewhere, launch, patience, startable};
use crate::process::{Launch, Transport};
use crate::workshop::Workshop;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    RegisterMap, ServiceKind, Sheet, from_bytes, to_bytes,
};
use swarmyard_scene::{Params, Value};

/// Questions that a program may ask in one turn before it counts as one that never ends.
const MOST_QUESTIONS: u32 = 5000;

/// The class, which finds its programs in `workshop`.
pub(super) fn class(workshop: &Arc<Workshop>) -> Class {
    let workshop = Arc::clone(workshop);
    Class::new(sheet(), move |p, _| build(&workshop, p))
}

pub(super) fn sheet() -> Sheet {
    let sheet = Sheet::new("process", Kind::Algorithm, "A native program in any language, one process per robot, that is told every event as a line and answers with lines of calls (docs/cooperative-programs.md, sdk/python/swarm.py). What it answers enters the journal, so a recording replays exactly and starts no process. C belongs into `program`.")
        .param(Param::new("source", ParamType::Text, "The program, in the project, started as it stands; a script needs its `#!` line.").required())
        .param(Param::new("on", ParamType::Text, "The host it runs on, by its name or what it can do; left out, here. `source` is then what that host calls it. It may be silent for five seconds more, and the host's limits count (docs/many-machines.md)."))
        .param(Param::new("arguments", ParamType::Texts, "What it is started with.").or(Value::Texts(Vec::new())))
        .param(Param::number("patience", Unit::Second, "How long it may be silent, on the clock; 0 waits for ever.").within(0.0, 1.0e6).or_num(1.0))
        .param(Param::new("memory", ParamType::Int { min: 0, max: i64::MAX }, "Bytes of memory it may have; 0 is without limit.").or(Value::Int(4 << 30)))
        .param(Param::new("tasks", ParamType::Int { min: 0, max: 1_000_000 }, "Processes and threads it may have; 0 is without limit.").or(Value::Int(64)))
        .param(Then::param("on_silence", "What follows when it is silent for longer; it is ended. Under `halt` the robot stays where it is; under `restart` the program starts again after a second."))
        .param(Then::param("on_crash", "What follows when it ends, or says what is no call; the same two ways."));
    with_ports(sheet).level("every", "Everything.").example("[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"process\"\nsource = \"robot.py\"")
}

fn build(workshop: &Workshop, p: &Params) -> Result<Built, Diagnostic> {
    let name = p.text_or_none("source").unwrap_or_default();
    let start = match (p.text_or_none("on"), workshop.folder()) {
        (Some(on), _) => elsewhere(workshop, p, &RegisterMap::default(), (on, name))?,
        (None, Some(folder)) => {
            let (program, cwd) = startable(workshop, folder, p, name)?;
            Ok(launch(p, &RegisterMap::default(), program, cwd, Transport::Lines))
        }
        // Where there are no files the journal must do.
        (None, None) => Err(format!("there are no files here to start `{name}` from")),
    };
    let patience = patience(p);
    let then = (Then::of(p, "on_silence"), Then::of(p, "on_crash"));
    Ok(Built::Protocol(Arc::new(Model { about: Native { start, patience }, then, uses: Uses::of(p) })))
}

/// What whoever runs the programs has to know.
pub(super) struct Native {
    /// What to start; an error where there are no files, as in a replay.
    pub(super) start: Result<Launch, String>,
    /// How long it may be silent; `None` for ever.
    pub(super) patience: Option<Duration>,
}

struct Model {
    about: Native,
    /// After silence, and after a crash.
    then: (Then, Then),
    uses: Uses,
}

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        self.uses.ports()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Running { then: self.then, uses: self.uses.clone(), memory: Memory::default() })
    }

    fn outside(&self) -> Option<&dyn Any> {
        Some(&self.about)
    }
}

/// A question to the program outside.
#[derive(Serialize, Deserialize)]
pub(super) struct Question {
    /// Which life of the program: each starts a process of its own.
    pub(super) life: u32,
    /// How many it has answered in this life.
    pub(super) turn: u64,
    /// What it is told.
    pub(super) text: String,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Spoken {
    /// Its lines: the last ends the turn, or is a question; and what it printed.
    Lines(Vec<String>, Vec<String>),
    /// It was silent for too long.
    Silent(String),
    /// It ended, or said what is no call.
    Crashed(String),
}

/// Everything about one robot's program that is kept.
#[derive(Serialize, Deserialize)]
pub(super) struct Memory {
    hands: Hands,
    status: Status,
    life: u32,
    /// What it was told and answered in this life.
    pub(super) past: Vec<(String, Vec<String>)>,
    /// What it was told and has not answered yet.
    open: Option<String>,
    /// Questions of its own in this turn.
    questions: u32,
    /// What it is to be told after that.
    waiting: VecDeque<String>,
}

impl Default for Memory {
    fn default() -> Memory {
        Memory {
            hands: Hands::default(),
            status: Status::Runs,
            life: 0,
            past: Vec::new(),
            open: None,
            questions: 0,
            waiting: VecDeque::new(),
        }
    }
}

/// One robot's program, seen from inside.
struct Running {
    then: (Then, Then),
    uses: Uses,
    memory: Memory,
}

impl Running {
    fn begin(&mut self, cx: &mut Cx<'_>) {
        // The number of lives survives a crash of the robot, so that its old process is not taken for the new one.
        let kept = Kept::of(cx);
        self.memory.life = kept.life + 1;
        Kept { life: self.memory.life, ..kept }.write(cx);
        self.memory.status = Status::Runs;
        let first = words::hello(cx.me(), cx.robots()) + &words::told(cx.now(), &Event::Start);
        self.ask(first, cx);
    }

    fn happens(&mut self, event: &Event, cx: &mut Cx<'_>) {
        if self.memory.status != Status::Runs {
            return;
        }
        let text = words::told(cx.now(), event);
        if self.memory.open.is_some() {
            self.memory.waiting.push_back(text);
        } else {
            self.ask(text, cx);
        }
    }

    fn ask(&mut self, text: String, cx: &mut Cx<'_>) {
        let turn = self.memory.past.len() as u64;
        cx.ask(&to_bytes(&Question { life: self.memory.life, turn, text: text.clone() }));
        self.memory.open = Some(text);
    }

    /// Does what the program called for; answers the reply to a question that the last line may be.
    fn obey(&mut self, lines: &[String], cx: &mut Cx<'_>) -> Result<Option<String>, String> {
        let unfinished = || "its turn does not end".to_owned();
        let (last, others) = lines.split_last().ok_or_else(unfinished)?;
        let mut asks = 0;
        for line in others {
            let said = words::call(line)?.filter(|said| !said.asks).ok_or("it said more than its turn")?;
            asks += u32::from(matches!(said.call, Call::Ask(..)));
            if asks > MOST_ASKS {
                return Err(too_many_asks());
            }
            self.memory.hands.perform(said.call, &self.uses, cx);
        }
        let Some(said) = words::call(last)? else {
            self.memory.questions = 0;
            return Ok(None);
        };
        if !said.asks {
            return Err(unfinished());
        }
        self.memory.questions += 1;
        if self.memory.questions > MOST_QUESTIONS {
            return Err(format!("it asked more than {MOST_QUESTIONS} questions in one turn"));
        }
        Ok(Some(words::answered(&self.memory.hands.perform(said.call, &self.uses, cx))))
    }

    fn fail(&mut self, why: &str, then: Then, cx: &mut Cx<'_>) {
        self.memory.hands.let_go(cx);
        self.memory.past.clear();
        self.memory.waiting.clear();
        self.memory.questions = 0;
        self.memory.status = Status::after(then.follow(why, cx));
    }
}

impl Microprotocol for Running {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.begin(cx);
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        if let Some(event) = self.memory.hands.event(port, what, &self.uses) {
            self.happens(&event, cx);
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.memory.status == Status::Again(timer) {
            self.begin(cx);
        } else if let Some(event) = self.memory.hands.timer(timer) {
            self.happens(&event, cx);
        }
    }

    fn answered(&mut self, answer: &[u8], cx: &mut Cx<'_>) {
        let Some(told) = self.memory.open.take() else { return };
        let spoken = from_bytes(answer).unwrap_or_else(Spoken::Crashed);
        let (lines, printed) = match spoken {
            Spoken::Lines(lines, printed) => (lines, printed),
            Spoken::Silent(why) => return self.fail(&why, self.then.0, cx),
            Spoken::Crashed(why) => return self.fail(&why, self.then.1, cx),
        };
        for line in &printed {
            cx.say(line);
        }
        let reply = match self.obey(&lines, cx) {
            Ok(reply) => reply,
            Err(why) => return self.fail(&why, self.then.1, cx),
        };
        self.memory.past.push((told, lines));
        if let Some(next) = reply.or_else(|| self.memory.waiting.pop_front()) {
            self.ask(next, cx);
        }
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.memory)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.memory = from_bytes(image)?;
        Ok(())
    }
}
