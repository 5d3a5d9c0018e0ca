//! What happened in a laboratory, a run or a talk, as plain data: all that checkers look at.

use std::collections::BTreeSet;
use std::fmt;
use swarmyard_base::{Moment, Time};
use swarmyard_part_api::{Bytes, Indication, Loss, Request, to_bytes};

/// Everything that happened, in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// How many processes there were; they count from 0.
    pub processes: u32,
    /// What happened, in order of time, and within a moment in the order it happened.
    pub events: Vec<Event>,
    /// When it was over.
    pub end: Moment,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub struct Event {
    /// When.
    pub at: Moment,
    /// Where.
    pub process: u32,
    /// What.
    pub what: What,
}

/// What can happen.
#[derive(Clone, Debug)]
pub enum What {
    /// The algorithm on top asked for something.
    Requested {
        /// By which of its ports.
        port: u16,
        /// For what.
        request: Request,
    },
    /// The algorithm on top was told something.
    Indicated {
        /// By which of its ports.
        port: u16,
        /// What.
        what: Indication,
    },
    /// A message went into the network.
    Sent {
        /// Its number in this run.
        serial: u64,
        /// Id of the protocol.
        protocol: u32,
        /// To whom.
        to: Vec<u32>,
        /// What.
        bytes: Bytes,
    },
    /// A message came out of the network.
    Received {
        /// Its number in this run.
        serial: u64,
        /// Id of the protocol.
        protocol: u32,
        /// From whom.
        from: u32,
        /// What.
        bytes: Bytes,
    },
    /// A message for this process was lost.
    Lost {
        /// Its number in this run.
        serial: u64,
        /// Why.
        why: Loss,
    },
    /// The process stopped, and lost all it had not persisted.
    Crashed,
    /// The process came back.
    Recovered,
    /// The process said something.
    Said(String),
}

impl Trace {
    /// An empty trace of so many processes.
    #[must_use]
    pub fn new(processes: u32) -> Trace {
        Trace { processes, events: Vec::new(), end: Moment::ZERO }
    }

    /// Adds an event at some seconds: for traces made by hand. Events are added in order of time.
    pub fn push(&mut self, seconds: f64, process: u32, what: What) {
        let at = Moment::at(Time::from_seconds(seconds));
        self.end = self.end.max(at);
        self.events.push(Event { at, process, what });
    }

    /// A trace made by hand: (seconds, process, what), in order of time.
    #[must_use]
    pub fn by_hand(processes: u32, events: Vec<(f64, u32, What)>) -> Trace {
        let mut trace = Trace::new(processes);
        for (seconds, process, what) in events {
            trace.push(seconds, process, what);
        }
        trace
    }

    /// Processes that never crashed.
    #[must_use]
    pub fn correct(&self) -> BTreeSet<u32> {
        let crashed: BTreeSet<u32> =
            self.events.iter().filter(|e| matches!(e.what, What::Crashed)).map(|e| e.process).collect();
        (0..self.processes).filter(|p| !crashed.contains(p)).collect()
    }

    /// Processes that are up at the end, whether or not they ever crashed.
    #[must_use]
    pub fn up_at_the_end(&self) -> BTreeSet<u32> {
        let mut up: BTreeSet<u32> = (0..self.processes).collect();
        for event in &self.events {
            match event.what {
                What::Crashed => up.remove(&event.process),
                What::Recovered => up.insert(event.process),
                _ => continue,
            };
        }
        up
    }

    /// How many messages went into the network, one for each receiver.
    #[must_use]
    pub fn copies(&self) -> usize {
        self.events.iter().map(|e| if let What::Sent { to, .. } = &e.what { to.len() } else { 0 }).sum()
    }

    /// How many messages of one protocol went into the network, one for each receiver.
    #[must_use]
    pub fn copies_of(&self, protocol: &str) -> usize {
        let id = swarmyard_part_api::protocol_id(protocol);
        let copies = |e: &Event| match &e.what {
            What::Sent { to, protocol, .. } if *protocol == id => to.len(),
            _ => 0,
        };
        self.events.iter().map(copies).sum()
    }

    /// What was indicated: (when, process, port, what).
    pub fn indications(&self) -> impl Iterator<Item = (Moment, u32, u16, &Indication)> {
        self.events.iter().filter_map(|e| match &e.what {
            What::Indicated { port, what } => Some((e.at, e.process, *port, what)),
            _ => None,
        })
    }

    /// What was requested: (when, process, port, request).
    pub fn requests(&self) -> impl Iterator<Item = (Moment, u32, u16, &Request)> {
        self.events.iter().filter_map(|e| match &e.what {
            What::Requested { port, request } => Some((e.at, e.process, *port, request)),
            _ => None,
        })
    }

    /// The same trace with only what went through one port of the algorithm; crashes and messages stay.
    #[must_use]
    pub fn of_port(&self, port: u16) -> Trace {
        let stays = |e: &&Event| match &e.what {
            What::Requested { port: p, .. } | What::Indicated { port: p, .. } => *p == port,
            _ => true,
        };
        Trace { events: self.events.iter().filter(stays).cloned().collect(), ..*self }
    }

    /// The whole trace as text, one line for each event: two runs are the same when their texts are.
    #[must_use]
    pub fn text(&self) -> String {
        self.events.iter().map(|e| format!("{e}\n")).collect()
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} p{} ", self.at.time, self.process)?;
        match &self.what {
            What::Requested { port, request } => write!(f, "requested {port} {request:?}"),
            What::Indicated { port, what } => write!(f, "indicated {port} {what:?}"),
            What::Sent { serial, protocol, to, bytes } => {
                write!(f, "sent {serial} {protocol:08x} to {to:?} {:?}", &bytes[..])
            }
            What::Received { serial, protocol, from, bytes } => {
                write!(f, "received {serial} {protocol:08x} from {from} {:?}", &bytes[..])
            }
            What::Lost { serial, why } => write!(f, "lost {serial} {}", why.word()),
            What::Crashed => f.write_str("crashed"),
            What::Recovered => f.write_str("recovered"),
            What::Said(text) => write!(f, "said {text}"),
        }
    }
}

/// Bytes for people: text where it is text, else hexadecimal.
#[must_use]
pub fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| !c.is_control()) => format!("`{text}`"),
        _ => bytes.iter().map(|b| format!("{b:02x}")).collect(),
    }
}

/// What it takes to make traces by hand: the events of broadcasts and the others, in short.
pub mod brief {
    use super::{What, to_bytes};
    use swarmyard_part_api::{Bytes, Exclusion, Indication, Propose, ReadClock, Request, ToAll, ToRobots};

    fn asked(request: impl Into<Request>) -> What {
        What::Requested { port: 0, request: request.into() }
    }

    fn told(what: Indication) -> What {
        What::Indicated { port: 0, what }
    }

    /// The bytes of a text.
    #[must_use]
    pub fn bytes(text: &str) -> Bytes {
        text.as_bytes().into()
    }

    /// The bytes of a number.
    #[must_use]
    pub fn number(n: u64) -> Bytes {
        to_bytes(&n).into()
    }

    /// It broadcasts a text.
    #[must_use]
    pub fn broadcasts(text: &str) -> What {
        asked(ToAll(bytes(text)))
    }

    /// It delivers a text.
    #[must_use]
    pub fn delivers(from: u32, text: &str) -> What {
        told(Indication::Delivered { from, bytes: bytes(text) })
    }

    /// It sends a text to these.
    #[must_use]
    pub fn sends(to: &[u32], text: &str) -> What {
        asked(ToRobots { to: to.iter().copied().collect(), bytes: bytes(text) })
    }

    /// It proposes a text.
    #[must_use]
    pub fn proposes(instance: u64, text: &str) -> What {
        asked(Propose { instance, value: bytes(text) })
    }

    /// It decides a text.
    #[must_use]
    pub fn decides(instance: u64, text: &str) -> What {
        told(Indication::Decided { instance, value: bytes(text) })
    }

    /// It suspects a process.
    #[must_use]
    pub fn suspects(whom: u32) -> What {
        told(Indication::Suspected(whom))
    }

    /// It trusts a process again.
    #[must_use]
    pub fn trusts(whom: u32) -> What {
        told(Indication::Trusted(whom))
    }

    /// It hears who leads.
    #[must_use]
    pub fn follows(whom: u32) -> What {
        told(Indication::Leads(whom))
    }

    /// It wants to be alone.
    #[must_use]
    pub fn wants() -> What {
        asked(Exclusion::Enter)
    }

    /// It is alone.
    #[must_use]
    pub fn enters() -> What {
        told(Indication::Entered)
    }

    /// It leaves.
    #[must_use]
    pub fn leaves() -> What {
        asked(Exclusion::Leave)
    }

    /// It wants to know what its clock shows.
    #[must_use]
    pub fn reads() -> What {
        asked(ReadClock::Now)
    }

    /// It wants to know when its clock shows that.
    #[must_use]
    pub fn waits_until(reading_s: f64) -> What {
        asked(ReadClock::At(reading_s))
    }

    /// Its clock shows that.
    #[must_use]
    pub fn shows(reading_s: f64, error_s: Option<f64>) -> What {
        told(Indication::Clock { reading_s, error_s })
    }

    /// It hears of a view.
    #[must_use]
    pub fn views(number: u64, members: &[u32]) -> What {
        told(Indication::View { number, members: members.to_vec() })
    }
}
