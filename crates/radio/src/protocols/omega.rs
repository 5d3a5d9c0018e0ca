//! Ω: eventually all robots that live trust one and the same of them.
//!
//! In: the suspicions of a detector; or, when there is none, heartbeats and accusations of its own. Out:
//! `Leads`, once at the start and whenever the leader changes.
//!
//! With a detector the leader is the robot with the lowest number that is not suspected. Without one, every
//! robot sends `Alive` with the number of times it has been accused, whoever misses one accuses its sender, and
//! the leader is the least accused one that is not silent (the lowest number among equals). So a robot whose
//! messages are late loses the lead for good, however low its number. Its own accusations survive a crash.
//!
//! | | |
//! |---|---|
//! | provides | Leader |
//! | uses | Detector (`detector`, optional); else Link (`link`; the network when left out) |
//! | guarantees | eventual agreement on one robot that lives. No promise about when: two may lead for a while |
//! | assumes | a detector that is eventually right about everybody (◇P), as `heartbeat` with `adaptive`; without one: an unknown bound on delays, or messages lost at random |
//! | messages | with a detector none; without one n(n − 1) per period, and one for each accusation |
//! | model-checked | n = 3, on `heartbeat` to 5 steps, by accusations to 6, any order of messages and timers, one crash: `tests/model/detectors.rs` |

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::Params;

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);
const DETECTOR: usize = 1;

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("omega", Kind::Protocol, "Eventually one and the same living robot leads everywhere: the lowest that the detector does not suspect, or, with accusations of its own, the one that was late least often. Provides leader.")
        .param(Param::new("way", ParamType::Choice(&["detector", "accusations"]), "How the leader is found: by the suspicions of a detector, or by heartbeats and accusations of its own.").or_text("detector"))
        .param(Param::number("period", Unit::Second, "With accusations: time between heartbeats.").within(1e-6, 1e6).or_num(0.1))
        .param(Param::number("timeout", Unit::Second, "With accusations: silence after which a robot is accused; it grows by as much with every mistake.").within(1e-6, 1e6).or_num(0.3))
        .param(Param::new("link", ParamType::Name("protocol"), "With accusations: what carries the heartbeats; the network when left out."))
        .param(Param::new("detector", ParamType::Name("protocol"), "The detector; the only one when left out."))
        .example("[[type.demo.protocol]]\nname = \"leader\"\nclass = \"omega\"\nway = \"accusations\"\nperiod = \"100ms\"\ntimeout = \"250ms\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let own = (p.text("way") == "accusations").then(|| (p.num("period"), p.num("timeout")));
    Ok(Built::Protocol(Arc::new(Omega { own })))
}

/// Ω with these settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Omega {
    /// Period and timeout of heartbeats of its own, s; `None` when it uses a detector.
    pub own: Option<(f64, f64)>,
}

/// What it says to others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// I am here, and have been accused so often.
    Alive(u64),
    /// You were late.
    Accuse,
}

impl ProtocolModel for Omega {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Leader)
    }

    fn ports(&self) -> Vec<PortSpec> {
        let detector =
            PortSpec { optional: self.own.is_some(), ..PortSpec::new("detector", ServiceKind::Detector) };
        vec![PortSpec::new("link", ServiceKind::Link), detector]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Trust {
            own: self.own,
            beat: 0,
            waiting: BTreeMap::new(),
            timeout_s: BTreeMap::new(),
            silent: BTreeSet::new(),
            accused: BTreeMap::new(),
            leader: None,
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Word::Alive(times)) => (String::from("ALIVE"), format!("accused {times}")),
            Ok(Word::Accuse) => (String::from("ACCUSE"), String::new()),
            Err(why) => (String::from("BAD"), why),
        }
    }
}

/// Whom a robot trusts.
#[derive(Serialize, Deserialize)]
struct Trust {
    own: Option<(f64, f64)>,
    beat: u64,
    waiting: BTreeMap<u32, u64>,
    timeout_s: BTreeMap<u32, f64>,
    /// Suspected by the detector, or not heard in time.
    silent: BTreeSet<u32>,
    /// How often each was accused, as far as known; 0 when absent.
    accused: BTreeMap<u32, u64>,
    leader: Option<u32>,
}

impl Microprotocol for Trust {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.own.is_some() {
            if let Some(times) = cx.persisted::<u64>() {
                self.accused.insert(cx.me(), times);
            }
            self.send(cx);
            for robot in cx.others() {
                self.wait(robot, cx);
            }
        }
        self.choose(cx);
    }

    /// An election is always under way; whoever asks is told how it stands.
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        if let (Request::Leader(_), Some(leader)) = (request, self.leader) {
            cx.indicate(user, Indication::Leads(leader));
        }
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Suspected(robot) if port == DETECTOR && self.own.is_none() => {
                self.silent.insert(robot);
            }
            Indication::Trusted(robot) if port == DETECTOR && self.own.is_none() => {
                self.silent.remove(&robot);
            }
            Indication::Delivered { from, bytes } if from < cx.robots() && from != cx.me() => {
                match from_bytes(&bytes) {
                    Ok(Word::Alive(times)) => self.heard(from, times, cx),
                    Ok(Word::Accuse) => self.take_blame(cx),
                    Err(_) => return,
                }
            }
            _ => return,
        }
        self.choose(cx);
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if timer == self.beat {
            self.send(cx);
        } else if let Some((&robot, _)) = self.waiting.iter().find(|w| *w.1 == timer) {
            self.waiting.remove(&robot);
            self.silent.insert(robot);
            cx.send_to(LINK, robot, &Word::Accuse);
            self.choose(cx);
        }
    }
}

impl Trust {
    fn times(&self, robot: u32) -> u64 {
        self.accused.get(&robot).copied().unwrap_or(0)
    }

    fn choose(&mut self, cx: &mut Cx<'_>) {
        let living = cx.all().into_iter().filter(|r| *r == cx.me() || !self.silent.contains(r));
        let leader = living.min_by_key(|r| (self.times(*r), *r));
        if leader != self.leader {
            self.leader = leader;
            if let Some(leader) = leader {
                cx.tell_all(Indication::Leads(leader));
            }
        }
    }

    fn send(&mut self, cx: &mut Cx<'_>) {
        let Some((period, _)) = self.own else { return };
        let (others, times) = (cx.others(), self.times(cx.me()));
        if !others.is_empty() {
            cx.send(LINK, others, &Word::Alive(times));
        }
        self.beat = cx.set_timer(period);
    }

    fn wait(&mut self, robot: u32, cx: &mut Cx<'_>) {
        let Some((_, usual)) = self.own else { return };
        if let Some(timer) = self.waiting.remove(&robot) {
            cx.cancel_timer(timer);
        }
        let after = self.timeout_s.get(&robot).copied().unwrap_or(usual);
        self.waiting.insert(robot, cx.set_timer(after));
    }

    fn heard(&mut self, robot: u32, times: u64, cx: &mut Cx<'_>) {
        let Some((_, usual)) = self.own else { return };
        if self.silent.remove(&robot) {
            *self.timeout_s.entry(robot).or_insert(usual) += usual;
        }
        // Messages may overtake each other: the count only grows.
        let known = self.accused.entry(robot).or_insert(0);
        *known = times.max(*known);
        self.wait(robot, cx);
    }

    fn take_blame(&mut self, cx: &mut Cx<'_>) {
        if self.own.is_some() {
            let times = self.times(cx.me()) + 1;
            self.accused.insert(cx.me(), times);
            cx.persist(&times);
        }
    }
}
