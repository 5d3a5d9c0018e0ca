//! A failure detector that is simulated: it knows who is down, and is as bad as it is told to be.
//!
//! In: the truth about crashes, from the simulator. Out: `Suspected` a set time after a crash, `Trusted` a set
//! time after a recovery; and wrong suspicions at random. It sends no message at all, so algorithms above can
//! be compared for one quality of detection, without what heartbeats cost.
//!
//! | | |
//! |---|---|
//! | provides | Detector |
//! | uses | nothing |
//! | guarantees | a crash is detected exactly `detection` after it (T_D constant); each robot suspects each other one wrongly with mean recurrence T_MR = `t_mr` and mean length T_M = `t_m`, both exponential; none without `t_mr` (perfect, P) |
//! | assumes | a simulator that knows who is down; over real sockets nobody knows, and it suspects nobody rightly |
//! | messages | none |

use super::quality::Quality;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::math;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ServiceKind, Sheet, TypeLayout, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("simulated-detector", Kind::Protocol, "A failure detector that asks the simulator who is down and sends no messages: crashes are detected after a set time, and wrong suspicions come at random as often and as long as wanted. Provides detector.")
        .param(Param::number("detection", Unit::Second, "Time from a crash to its detection (T_D), and from a recovery to its detection.").within(1e-6, 1e6).or_num(0.01))
        .param(Param::number("t_mr", Unit::Second, "Mean time from the start of a wrong suspicion to the start of the next about the same robot; no wrong suspicions when left out.").within(1e-6, 1e9))
        .param(Param::number("t_m", Unit::Second, "Mean length of a wrong suspicion.").within(1e-9, 1e9).or_num(1e-3))
        .param(Param::new("measure", ParamType::Bool, "Whether it says in the log how good it is: mistakes, T_M, T_MR.").or(Value::Bool(false)))
        .param(Param::number("report", Unit::Second, "Time between such lines.").within(1e-3, 1e6).or_num(10.0))
        .example("[[type.demo.protocol]]\nname = \"fd\"\nclass = \"simulated-detector\"\ndetection = \"20ms\"\nt_mr = \"5s\"\nt_m = \"10ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let wrong = p.num_or_none("t_mr").map(|t_mr| (t_mr, p.num("t_m")));
    if let Some((t_mr, t_m)) = wrong
        && t_m >= t_mr
    {
        let what = format!("wrong suspicions last longer (`{t_m}` s) than from one to the next (`{t_mr}` s)");
        return Err(Diagnostic::error("out-of-range", what).help("make t_m shorter than t_mr"));
    }
    let report_s = p.bool("measure").then(|| p.num("report"));
    Ok(Built::Protocol(Arc::new(SimulatedDetector { detection_s: p.num("detection"), wrong, report_s })))
}

/// A simulated detector with these settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SimulatedDetector {
    /// Time from a crash to its detection, s.
    pub detection_s: f64,
    /// Mean recurrence and mean length of wrong suspicions, s; `None` for no wrong suspicions.
    pub wrong: Option<(f64, f64)>,
    /// Time between lines about its quality, s; `None` for no lines.
    pub report_s: Option<f64>,
}

impl ProtocolModel for SimulatedDetector {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Detector)
    }

    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Known {
            settings: self.clone(),
            look: 0,
            report: 0,
            turns: BTreeMap::new(),
            sure: BTreeMap::new(),
            down: BTreeSet::new(),
            mistaken: BTreeSet::new(),
            suspects: BTreeSet::new(),
            quality: Quality::default(),
        })
    }
}

/// A robot's detector at work.
#[derive(Serialize, Deserialize)]
struct Known {
    settings: SimulatedDetector,
    /// Timer of the next look at who is down.
    look: u64,
    report: u64,
    /// Timers at which a mistake about a robot begins or ends.
    turns: BTreeMap<u64, u32>,
    /// Timers at which the truth about a robot (is it down?) becomes known.
    sure: BTreeMap<u64, (u32, bool)>,
    /// Whose crash is known, or about to be.
    down: BTreeSet<u32>,
    /// About whom it is mistaken now.
    mistaken: BTreeSet<u32>,
    /// Whom its users believe to be suspected.
    suspects: BTreeSet<u32>,
    quality: Quality,
}

impl Microprotocol for Known {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.look(cx);
        for robot in cx.others() {
            self.next_turn(robot, cx);
        }
        if let Some(after) = self.settings.report_s {
            self.report = cx.set_timer(after);
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if timer == self.look {
            self.look(cx);
        } else if let Some((robot, _)) = self.sure.remove(&timer) {
            self.tell(robot, cx);
        } else if let Some(robot) = self.turns.remove(&timer) {
            if !self.mistaken.remove(&robot) {
                self.mistaken.insert(robot);
            }
            self.tell(robot, cx);
            self.next_turn(robot, cx);
        } else if timer == self.report && self.settings.report_s.is_some() {
            cx.say(&self.quality.line());
            self.report = cx.set_timer(self.settings.report_s.unwrap_or(1.0));
        }
    }
}

impl Known {
    /// Looks who is down. It looks as often as the detection takes, so nothing is seen too late to be told
    /// exactly on time.
    fn look(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        for robot in cx.others() {
            match cx.down_since(robot) {
                Some(since) if self.down.insert(robot) => {
                    let left = self.settings.detection_s - now.since(since);
                    self.sure.insert(cx.set_timer(math::max(left, 0.0)), (robot, true));
                }
                None if self.down.remove(&robot) => {
                    self.sure.insert(cx.set_timer(0.0), (robot, false));
                }
                _ => {}
            }
        }
        self.look = cx.set_timer(self.settings.detection_s);
    }

    /// Sets the timer of the next beginning or end of a mistake.
    fn next_turn(&mut self, robot: u32, cx: &mut Cx<'_>) {
        let Some((t_mr, t_m)) = self.settings.wrong else { return };
        let mean = if self.mistaken.contains(&robot) { t_m } else { t_mr - t_m };
        let after = cx.chance().exponential(0, mean);
        self.turns.insert(cx.set_timer(after), robot);
    }

    /// Tells its users when what they believe about a robot has changed.
    fn tell(&mut self, robot: u32, cx: &mut Cx<'_>) {
        let pending = self.sure.values().any(|s| *s == (robot, true));
        let known = self.down.contains(&robot) && !pending;
        let suspected = known || self.mistaken.contains(&robot);
        if suspected && self.suspects.insert(robot) {
            self.quality.suspected(robot, cx.now());
            cx.tell_all(Indication::Suspected(robot));
        } else if !suspected && self.suspects.remove(&robot) {
            self.quality.trusted(robot, cx.now());
            cx.tell_all(Indication::Trusted(robot));
        }
    }
}
