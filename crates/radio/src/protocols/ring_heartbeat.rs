//! A failure detector on a ring: each robot asks only the one before it, and news of crashes travel around.
//!
//! In: answers of the robot before it. Out: `Suspected` and `Trusted`. It never suspects its own robot.
//!
//! Every period a robot asks its *predecessor*, the nearest one before it on the ring that it does not suspect,
//! and also those between that it suspects, in case one is alive after all. An answer carries the suspicions of
//! the one that answers. Who does not answer in time is suspected, and the one before becomes the predecessor.
//! About robots further back the predecessor's word counts; so each crash has one witness, and the news reaches
//! everybody after at most n periods.
//!
//! | | |
//! |---|---|
//! | provides | Detector |
//! | uses | Link (`link`; the network when left out) |
//! | guarantees | strong completeness; with a timeout above the round trip nobody else is ever suspected (P), with `adaptive` eventually nobody else (◇P) |
//! | assumes | clocks that run at one speed |
//! | messages | 2n per period without crashes: n questions and n answers (heartbeats to all: n(n − 1)) |
//! | model-checked | n = 2 to 10 steps, n = 3 to 6, any order of messages and timers, one crash: `tests/model/detectors.rs` |

use super::quality::Quality;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, ServiceKind, Sheet, TypeLayout, from_bytes, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("ring-heartbeat", Kind::Protocol, "A failure detector on a ring: each robot asks only the nearest one before it that answers, and suspicions travel around with the answers. Few messages, slow news. Provides detector.")
        .param(Param::number("period", Unit::Second, "Time between questions.").within(1e-6, 1e6).or_num(0.1))
        .param(Param::number("timeout", Unit::Second, "Silence after which a robot that is asked is suspected, from its last answer.").within(1e-6, 1e6).or_num(0.3))
        .param(Param::new("adaptive", ParamType::Bool, "Whether a mistake makes the timeout for that robot longer, by the increment.").or(Value::Bool(false)))
        .param(Param::number("increment", Unit::Second, "By how much a mistake makes the timeout longer.").within(1e-6, 1e6).or_num(0.1))
        .param(Param::new("measure", ParamType::Bool, "Whether it says in the log how good it is: mistakes, T_M, T_MR.").or(Value::Bool(false)))
        .param(Param::number("report", Unit::Second, "Time between such lines.").within(1e-3, 1e6).or_num(10.0))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries questions and answers; the network when left out."))
        .example("[[type.demo.protocol]]\nname = \"fd\"\nclass = \"ring-heartbeat\"\nperiod = \"100ms\"\ntimeout = \"250ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(RingHeartbeat {
        period_s: p.num("period"),
        timeout_s: p.num("timeout"),
        increment_s: p.bool("adaptive").then(|| p.num("increment")),
        report_s: p.bool("measure").then(|| p.num("report")),
    })))
}

/// A ring with these settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RingHeartbeat {
    /// Time between questions, s.
    pub period_s: f64,
    /// Silence after which a robot is suspected, s.
    pub timeout_s: f64,
    /// By how much a mistake makes the timeout longer, s; `None` when it stays.
    pub increment_s: Option<f64>,
    /// Time between lines about its quality, s; `None` for no lines.
    pub report_s: Option<f64>,
}

/// What robots on the ring say to each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// Are you there? With the number of the question.
    Ask(u64),
    /// I am, and these I suspect; with the number of the question.
    Alive(u64, BTreeSet<u32>),
}

impl ProtocolModel for RingHeartbeat {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Detector)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Ring {
            settings: self.clone(),
            beat: 0,
            report: 0,
            waiting: None,
            before: 0,
            asked: 0,
            answered: BTreeMap::new(),
            timeout_s: BTreeMap::new(),
            suspects: BTreeSet::new(),
            quality: Quality::default(),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Word::Ask(number)) => (String::from("ASK"), format!("{number}")),
            Ok(Word::Alive(_, suspects)) => (String::from("ALIVE"), format!("suspects {suspects:?}")),
            Err(why) => (String::from("BAD"), why),
        }
    }
}

/// A robot's place on the ring.
#[derive(Serialize, Deserialize)]
struct Ring {
    settings: RingHeartbeat,
    beat: u64,
    report: u64,
    /// Timer for the predecessor's next answer.
    waiting: Option<u64>,
    /// How many places back the predecessor is; 0 when there is none left.
    before: u32,
    /// Questions so far.
    asked: u64,
    /// The latest question each has answered: answers may overtake each other, and old news are no news.
    answered: BTreeMap<u32, u64>,
    timeout_s: BTreeMap<u32, f64>,
    suspects: BTreeSet<u32>,
    quality: Quality,
}

impl Microprotocol for Ring {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.before = u32::from(cx.robots() > 1);
        self.wait(cx);
        self.ask(cx);
        if let Some(after) = self.settings.report_s {
            self.report = cx.set_timer(after);
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        let Indication::Delivered { from, bytes } = what else { return };
        match from_bytes(&bytes) {
            Ok(Word::Ask(number)) => cx.send_to(LINK, from, &Word::Alive(number, self.suspects.clone())),
            Ok(Word::Alive(number, theirs)) => self.answered(from, number, &theirs, cx),
            Err(_) => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if timer == self.beat {
            self.ask(cx);
        } else if Some(timer) == self.waiting {
            self.waiting = None;
            self.silent(cx);
        } else if timer == self.report && self.settings.report_s.is_some() {
            cx.say(&self.quality.line());
            self.report = cx.set_timer(self.settings.report_s.unwrap_or(1.0));
        }
    }
}

impl Ring {
    /// The robot so many places back.
    fn back(places: u32, cx: &Cx<'_>) -> u32 {
        (cx.me() + cx.robots() - places) % cx.robots()
    }

    fn ask(&mut self, cx: &mut Cx<'_>) {
        // When nobody is left, all others are between.
        let furthest = if self.before == 0 { cx.robots() - 1 } else { self.before };
        let asked: Vec<u32> = (1..=furthest).map(|k| Ring::back(k, cx)).collect();
        if !asked.is_empty() {
            self.asked += 1;
            cx.send(LINK, asked, &Word::Ask(self.asked));
        }
        self.beat = cx.set_timer(self.settings.period_s);
    }

    fn wait(&mut self, cx: &mut Cx<'_>) {
        if let Some(timer) = self.waiting.take() {
            cx.cancel_timer(timer);
        }
        if self.before > 0 {
            let robot = Ring::back(self.before, cx);
            let after = self.timeout_s.get(&robot).copied().unwrap_or(self.settings.timeout_s);
            self.waiting = Some(cx.set_timer(after));
        }
    }

    /// The predecessor is suspected, and the one before it takes its place.
    fn silent(&mut self, cx: &mut Cx<'_>) {
        let robot = Ring::back(self.before, cx);
        self.suspect(robot, cx);
        self.before = (self.before + 1) % cx.robots();
        if self.before > 0 {
            // Asked at once: waiting for the next beat would let its timeout run without a question.
            let next = Ring::back(self.before, cx);
            self.asked += 1;
            cx.send_to(LINK, next, &Word::Ask(self.asked));
        }
        self.wait(cx);
    }

    fn answered(&mut self, from: u32, number: u64, theirs: &BTreeSet<u32>, cx: &mut Cx<'_>) {
        let n = cx.robots();
        if from == cx.me() || from >= n {
            return;
        }
        let places = (cx.me() + n - from) % n;
        let nearest = self.before == 0 || places <= self.before;
        if !nearest {
            return;
        }
        if self.before != places {
            // Suspected until now although it lives.
            if let Some(more) = self.settings.increment_s {
                *self.timeout_s.entry(from).or_insert(self.settings.timeout_s) += more;
            }
            self.before = places;
        }
        self.trust(from, cx);
        self.wait(cx);
        let latest = self.answered.entry(from).or_insert(0);
        if number < *latest {
            return;
        }
        *latest = number;
        for k in places + 1..n {
            let robot = Ring::back(k, cx);
            if theirs.contains(&robot) {
                self.suspect(robot, cx);
            } else {
                self.trust(robot, cx);
            }
        }
    }

    fn suspect(&mut self, robot: u32, cx: &mut Cx<'_>) {
        if self.suspects.insert(robot) {
            self.quality.suspected(robot, cx.now());
            cx.tell_all(Indication::Suspected(robot));
        }
    }

    fn trust(&mut self, robot: u32, cx: &mut Cx<'_>) {
        if self.suspects.remove(&robot) {
            self.quality.trusted(robot, cx.now());
            cx.tell_all(Indication::Trusted(robot));
        }
    }
}
