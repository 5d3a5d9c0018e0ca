//! A failure detector by heartbeats: who has not been heard for a while is suspected.
//!
//! In: heartbeats of the others (and, if wanted, whatever else comes from them). Out: `Suspected` and
//! `Trusted`. It never suspects its own robot.
//!
//! | | |
//! |---|---|
//! | provides | Detector |
//! | uses | Link (`link`; the network when left out) |
//! | guarantees | strong completeness: a crashed robot is suspected for good, at the latest timeout + delay after the crash. With a known bound on delay + period below the timeout: nobody else ever (perfect, P). With `adaptive` and a bound nobody knows: eventually nobody else (◇P). |
//! | assumes | clocks that run at one speed; loss only makes mistakes more likely |
//! | messages | n − 1 per robot and period, n(n − 1) in all |
//! | detection time | with constant delay d, period η and timeout Θ after the last arrival: uniform in (Θ − η, Θ] + d over the moment of the crash |
//! | model-checked | n = 2 to 10 steps, n = 3 to 6, any order of messages and timers, one crash: `tests/model/detectors.rs` |

use super::quality::Quality;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Moment};
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, ServiceKind, Sheet, TypeLayout, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("heartbeat", Kind::Protocol, "A failure detector: every robot sends heartbeats to all others, and suspects whom it has not heard for longer than the timeout. Provides detector.")
        .param(Param::number("period", Unit::Second, "Time between heartbeats.").within(1e-6, 1e6).or_num(0.1))
        .param(Param::number("timeout", Unit::Second, "Silence after which a robot is suspected, from the last arrival.").within(1e-6, 1e6).or_num(0.3))
        .param(Param::new("adaptive", ParamType::Bool, "Whether a mistake makes the timeout for that robot longer, by the increment: then there are finitely many mistakes if there is a bound on delays at all.").or(Value::Bool(false)))
        .param(Param::number("increment", Unit::Second, "By how much a mistake makes the timeout longer.").within(1e-6, 1e6).or_num(0.1))
        .param(Param::new("application", ParamType::Bool, "Whether messages of other protocols count as heartbeats, too.").or(Value::Bool(false)))
        .param(Param::new("measure", ParamType::Bool, "Whether it says in the log how good it is: mistakes, T_M, T_MR.").or(Value::Bool(false)))
        .param(Param::number("report", Unit::Second, "Time between such lines.").within(1e-3, 1e6).or_num(10.0))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries the heartbeats; the network when left out. A link that retransmits only hides loss from the detector."))
        .example("[[type.demo.protocol]]\nname = \"fd\"\nclass = \"heartbeat\"\nperiod = \"100ms\"\ntimeout = \"250ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(Heartbeat {
        period_s: p.num("period"),
        timeout_s: p.num("timeout"),
        increment_s: p.bool("adaptive").then(|| p.num("increment")),
        application: p.bool("application"),
        report_s: p.bool("measure").then(|| p.num("report")),
    })))
}

/// Heartbeats with these settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Time between heartbeats, s.
    pub period_s: f64,
    /// Silence after which a robot is suspected, s.
    pub timeout_s: f64,
    /// By how much a mistake makes the timeout longer, s; `None` when it stays.
    pub increment_s: Option<f64>,
    /// Whether messages of other protocols count.
    pub application: bool,
    /// Time between lines about its quality, s; `None` for no lines.
    pub report_s: Option<f64>,
}

impl Heartbeat {
    /// Period and timeout, and nothing beyond.
    #[must_use]
    pub fn new(period_s: f64, timeout_s: f64) -> Heartbeat {
        Heartbeat { period_s, timeout_s, increment_s: None, application: false, report_s: None }
    }
}

impl ProtocolModel for Heartbeat {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Detector)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Watch {
            settings: self.clone(),
            beat: 0,
            report: 0,
            waiting: BTreeMap::new(),
            timeout_s: BTreeMap::new(),
            suspects: BTreeSet::new(),
            quality: Quality::default(),
        })
    }

    fn overhears(&self) -> bool {
        self.application
    }

    fn show(&self, _bytes: &[u8]) -> (String, String) {
        (String::from("HEARTBEAT"), String::new())
    }
}

/// A robot's detector at work.
#[derive(Serialize, Deserialize)]
struct Watch {
    settings: Heartbeat,
    /// Timer of the next heartbeat.
    beat: u64,
    /// Timer of the next line.
    report: u64,
    /// Whom a timer waits for.
    waiting: BTreeMap<u32, u64>,
    /// Timeouts that are not the usual one.
    timeout_s: BTreeMap<u32, f64>,
    suspects: BTreeSet<u32>,
    quality: Quality,
}

impl Microprotocol for Watch {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.send(cx);
        for robot in cx.others() {
            self.wait(robot, cx);
        }
        if let Some(after) = self.settings.report_s {
            self.report = cx.set_timer(after);
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        // What was overheard has been counted already.
        if let Indication::Delivered { from, .. } = what
            && !self.settings.application
        {
            self.heard(from, cx);
        }
    }

    fn overheard(&mut self, from: u32, cx: &mut Cx<'_>) {
        self.heard(from, cx);
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if timer == self.beat {
            self.send(cx);
        } else if timer == self.report && self.settings.report_s.is_some() {
            cx.say(&self.quality.line());
            self.report = cx.set_timer(self.settings.report_s.unwrap_or(1.0));
        } else if let Some((&robot, _)) = self.waiting.iter().find(|w| *w.1 == timer) {
            self.waiting.remove(&robot);
            self.suspects.insert(robot);
            self.quality.suspected(robot, cx.now());
            cx.tell_all(Indication::Suspected(robot));
        }
    }
}

impl Watch {
    fn send(&mut self, cx: &mut Cx<'_>) {
        let others = cx.others();
        if !others.is_empty() {
            cx.send(LINK, others, &());
        }
        self.beat = cx.set_timer(self.settings.period_s);
    }

    fn wait(&mut self, robot: u32, cx: &mut Cx<'_>) {
        if let Some(timer) = self.waiting.remove(&robot) {
            cx.cancel_timer(timer);
        }
        let after = self.timeout_s.get(&robot).copied().unwrap_or(self.settings.timeout_s);
        self.waiting.insert(robot, cx.set_timer(after));
    }

    fn heard(&mut self, robot: u32, cx: &mut Cx<'_>) {
        if robot == cx.me() || robot >= cx.robots() {
            return;
        }
        if self.suspects.remove(&robot) {
            let now: Moment = cx.now();
            self.quality.trusted(robot, now);
            if let Some(more) = self.settings.increment_s {
                *self.timeout_s.entry(robot).or_insert(self.settings.timeout_s) += more;
            }
            cx.tell_all(Indication::Trusted(robot));
        }
        self.wait(robot, cx);
    }
}
