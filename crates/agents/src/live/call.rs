//! What a program outside may do for its robot, and what comes of it: one way for all of them.
//!
//! Motions, timers and watches are numbered together, from 1, in the order of the calls. What a call asks of the
//! body or of a protocol happens after the program's turn, at the same moment; sensors, chance and timers answer
//! at once. Never: more open timers or watches than a bound, or a message longer than one.
//!
//! What calls there are and how they are written is in `table.rs`.

use super::Uses;
use super::event::Event;
use super::table::PASSED;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::Vec2;
use swarmyard_part_api::{
    Answer, Broadcast, Cx, Drive, Every, Indication, Link, LookOut, Motion, Moving, Pending, ProtocolPort,
    Query, Request, Seen, ServiceKind, ToAll, ToRobots, Watch, WatchFor, Watching,
};

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);
const LINK: ProtocolPort<Link> = ProtocolPort::new(1);
const BROADCAST: ProtocolPort<Broadcast> = ProtocolPort::new(2);
const WATCHING: ProtocolPort<Watching> = ProtocolPort::new(3);

/// Most bytes of one message, one value, or of what is kept for after a crash.
pub(super) const MOST_BYTES: usize = 16_384;
/// Most bytes of the name of a sensor or a motion pattern, and most numbers that go with it.
pub(super) const MOST_NAME: usize = 64;
pub(super) const MOST_ARGS: usize = 64;
/// Most times that protocols are asked for something in one event: each of them may send messages to everybody.
pub(super) const MOST_ASKS: u32 = 1000;
/// Most characters of one line that is said.
pub(super) const MOST_CHARS: usize = 200;
/// Most random numbers in one call.
pub(super) const MOST_DRAWS: u32 = 1024;
/// Most timers and watches that are open at once.
const MOST_TIMERS: usize = 1000;
const MOST_WATCHES: usize = 64;
/// A push sensor looks at most that often, s: at shorter intervals a run would never come on.
const LEAST_INTERVAL_S: f64 = 1e-3;
/// Sensors look at most that far, m.
const MOST_RANGE_M: f64 = 1e6;

/// One call.
#[derive(Clone, Debug)]
pub(super) enum Call {
    Go(Motion),
    Halt,
    Pull(Query),
    Watch(Watch),
    Unwatch(u64),
    /// To one robot, or to all others.
    Send {
        to: Option<u32>,
        bytes: Vec<u8>,
    },
    Broadcast(Vec<u8>),
    Timer(f64),
    Cancel(u64),
    /// So many numbers in [0, 1), of one address of chance.
    Uniforms(u32),
    Say(String),
    Shine(u8),
    Pending(u32),
    /// The same, with numbers of robots.
    Coming(u32),
    /// Something of a protocol below.
    Ask(ServiceKind, Request),
    Persist(Vec<u8>),
    Persisted,
}

/// What comes of it at once.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reply {
    Done,
    /// The number of a motion, timer or watch.
    Number(u64),
    Point(Vec2),
    Seen(Vec<Seen>),
    Numbers(Vec<f64>),
    Pending(Vec<Pending>),
    Coming(Vec<Pending>),
    Bytes(Vec<u8>),
    /// It cannot be done; says why.
    No(String),
}

/// What a program has under way.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Hands {
    /// Numbers given out so far.
    given: u64,
    /// Of those, the ones of earlier lives of the program, which it is not told of.
    before: u64,
    /// Open timers: the robot's number for each, and ours.
    timers: BTreeMap<u64, u64>,
    watches: BTreeSet<u64>,
}

impl Hands {
    /// Does what was called for.
    pub(super) fn perform(&mut self, call: Call, uses: &Uses, cx: &mut Cx<'_>) -> Reply {
        match call {
            Call::Go(motion) => {
                let motion_number = self.number();
                cx.go(MOTION, motion_number, motion);
                return Reply::Number(motion_number);
            }
            Call::Halt => cx.request(MOTION, Drive::Halt),
            Call::Pull(query) => return pull(&query, cx),
            Call::Watch(watch) => return self.watch(watch, cx),
            Call::Unwatch(tag) => {
                if self.watches.remove(&tag) {
                    cx.request(WATCHING, LookOut::Off { tag });
                }
            }
            Call::Send { bytes, .. } | Call::Broadcast(bytes) if bytes.len() > MOST_BYTES => {
                return Reply::No(format!("a message has at most {MOST_BYTES} bytes, not {}", bytes.len()));
            }
            Call::Send { to, bytes } => {
                let to = to.map_or_else(|| cx.others(), |one| vec![one]).into();
                cx.request(LINK, ToRobots { to, bytes: bytes.into() });
            }
            Call::Broadcast(bytes) => cx.request(BROADCAST, ToAll(bytes.into())),
            Call::Timer(after_s) => {
                let number = self.number();
                if self.timers.len() >= MOST_TIMERS {
                    return Reply::No(format!("at most {MOST_TIMERS} timers are open at once"));
                }
                self.timers.insert(cx.set_timer(after_s), number);
                return Reply::Number(number);
            }
            Call::Cancel(number) => {
                let found = self.timers.iter().find(|t| *t.1 == number).map(|t| *t.0);
                if let Some(timer) = found {
                    self.timers.remove(&timer);
                    cx.cancel_timer(timer);
                }
            }
            Call::Uniforms(n) => {
                let draw = cx.chance();
                return Reply::Numbers((0..n.min(MOST_DRAWS)).map(|k| draw.uniform(k)).collect());
            }
            Call::Say(text) => cx.say(&text),
            Call::Shine(light) => cx.shine(light),
            Call::Pending(robot) => return Reply::Pending(cx.pending(robot)),
            Call::Coming(robot) => return Reply::Coming(cx.pending(robot)),
            Call::Ask(service, request) => return ask(service, request, uses, cx),
            Call::Persist(bytes) => Kept { bytes: Some(bytes), ..Kept::of(cx) }.write(cx),
            Call::Persisted => {
                let nothing = || Reply::No("nothing was written down yet".to_owned());
                return Kept::of(cx).bytes.map_or_else(nothing, Reply::Bytes);
            }
        }
        Reply::Done
    }

    fn watch(&mut self, watch: Watch, cx: &mut Cx<'_>) -> Reply {
        let tag = self.number();
        if self.watches.len() >= MOST_WATCHES {
            return Reply::No(format!("at most {MOST_WATCHES} push sensors are on at once"));
        }
        let every = match watch.every {
            Every::Interval(s) => Every::Interval(s.max(LEAST_INTERVAL_S)),
            Every::Exact => Every::Exact,
        };
        let what = match watch.what {
            WatchFor::Near { range } => WatchFor::Near { range: bounded(range) },
            other => other,
        };
        self.watches.insert(tag);
        cx.request(WATCHING, LookOut::On { tag, watch: Watch { what, every } });
        Reply::Number(tag)
    }

    fn number(&mut self) -> u64 {
        self.given += 1;
        self.given
    }

    /// What the program is told of something from below; `None` when that is not its business.
    pub(super) fn event(&self, port: usize, what: Indication, uses: &Uses) -> Option<Event> {
        if let Some(service) = uses.at(port) {
            let news = service.news.iter().find_map(|news| Some((news, (news.of)(&what)?)));
            return news.map(|(news, told)| Event::News { news, told });
        }
        match what {
            Indication::Ended { tag, how } if tag > self.before => Some(Event::Ended { motion: tag, how }),
            Indication::Pushed { tag, push } if self.watches.contains(&tag) => {
                Some(Event::Pushed { watch: tag, answer: push.answer })
            }
            Indication::Delivered { from, bytes } => {
                Some(Event::Message { from, bytes, broadcast: port == BROADCAST.number })
            }
            Indication::Passed { tag, .. } if tag > self.before => {
                (PASSED.of)(&what).map(|told| Event::News { news: PASSED, told })
            }
            _ => None,
        }
    }

    /// The same for a timer.
    pub(super) fn timer(&mut self, timer: u64) -> Option<Event> {
        self.timers.remove(&timer).map(Event::Timer)
    }

    /// Leaves everything that is under way: the program has failed.
    pub(super) fn let_go(&mut self, cx: &mut Cx<'_>) {
        for timer in std::mem::take(&mut self.timers).into_keys() {
            cx.cancel_timer(timer);
        }
        for tag in std::mem::take(&mut self.watches) {
            cx.request(WATCHING, LookOut::Off { tag });
        }
        cx.request(MOTION, Drive::Halt);
        self.before = self.given;
    }
}

fn pull(query: &Query, cx: &mut Cx<'_>) -> Reply {
    let query = match *query {
        Query::View { range } => Query::View { range: bounded(range) },
        Query::Proximity { range } => Query::Proximity { range: bounded(range) },
        Query::ProximityPoints { range } => Query::ProximityPoints { range: bounded(range) },
        _ => query.clone(),
    };
    match cx.pull(&query) {
        Ok(Answer::Point(at)) => Reply::Point(at),
        Ok(Answer::Seen(seen)) => Reply::Seen(seen),
        Ok(Answer::Numbers(numbers)) => Reply::Numbers(numbers),
        Err(why) => {
            cx.say(&why);
            Reply::No(why)
        }
    }
}

/// What is said of a program that never stops asking.
pub(super) fn too_many_asks() -> String {
    format!("it asked protocols more than {MOST_ASKS} times in one event")
}

/// Asks a protocol below, if the scenario names one.
fn ask(service: ServiceKind, request: Request, uses: &Uses, cx: &mut Cx<'_>) -> Reply {
    let Some(port) = uses.port(service) else {
        let word = service.word();
        let why = format!("the algorithm has no {word}: name a protocol for it, `{word} = \"NAME\"`");
        cx.say(&why);
        return Reply::No(why);
    };
    cx.request_any(port, request);
    Reply::Done
}

/// What survives a crash of the robot.
pub(super) struct Kept {
    /// Which life of a process it was.
    pub(super) life: u32,
    /// What the program has written down.
    pub(super) bytes: Option<Vec<u8>>,
}

impl Kept {
    pub(super) fn of(cx: &Cx<'_>) -> Kept {
        match cx.persisted::<(u32, Vec<u8>)>() {
            Some((life, bytes)) => Kept { life, bytes: Some(bytes) },
            None => Kept { life: cx.persisted().unwrap_or(0), bytes: None },
        }
    }

    /// Without bytes there is only the life, as there was before programs could write anything down.
    pub(super) fn write(&self, cx: &mut Cx<'_>) {
        match &self.bytes {
            Some(bytes) => cx.persist(&(self.life, bytes)),
            None => cx.persist(&self.life),
        }
    }
}

/// A range that sensors can look at.
fn bounded(range: f64) -> f64 {
    if range > 0.0 { range.min(MOST_RANGE_M) } else { 0.0 }
}
