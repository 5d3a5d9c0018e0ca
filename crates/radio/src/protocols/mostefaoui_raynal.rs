//! Consensus in two steps by quorums (Mostéfaoui and Raynal 1999), for a detector that is eventually right about
//! one robot (◇S).
//!
//! In: proposals of the users, suspicions. Out: `Decided`, once per instance and robot, the same everywhere.
//! A decision is never contradicted, whatever the detector says and however many robots crash.
//!
//! Rounds 1, 2, … have coordinators 0, 1, …, n − 1, 0, … In a round the coordinator sends its estimate to all;
//! everybody echoes to all what it got from the coordinator, or nothing when it suspects it; whoever has a
//! majority of echoes decides if all carry the value, adopts the value if one does, and goes on. The
//! coordinator's own message counts as its echo.
//!
//! Compared with the centralised `chandra-toueg`: one step fewer, but everybody talks to everybody; where the
//! network is busy that can be slower.
//!
//! A robot that did not propose joins with the first value it hears of. One that comes back after a crash has
//! forgotten what it promised: it only learns decisions and never votes again.
//!
//! | | |
//! |---|---|
//! | provides | Consensus, any number of instances |
//! | uses | Link (`link`), Detector (`detector`) |
//! | guarantees | validity, integrity, uniform agreement always; termination if a majority never crashes, everybody who lives proposes, the detector is ◇S, and links lose nothing between robots that live |
//! | messages | failure-free: n − 1 in the first step, (n − 1)² in the second (so n(n − 1) in all, and never more than that per step), then at most n(n − 1) for the decision; 2 steps |
//! | memory | an instance is forgotten with its decision; what remains is a run of numbers |
//! | model-checked | n = 3, rounds ≤ 2, any suspicions, any order of messages, one crash, after which it may come back: `tests/model` |

use super::instances::{Closed, Instance, majority, shown};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::{
    Built, Bytes, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
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
    Sheet::new("mostefaoui-raynal", Kind::Protocol, "Consensus in two steps: everybody echoes the coordinator's value to everybody, and a majority of echoes decides. Needs a failure detector and links that lose nothing. Provides consensus.")
        .param(Param::new("link", ParamType::Name("protocol"), "What carries its messages; the network when left out."))
        .param(Param::new("detector", ParamType::Name("protocol"), "Who says which robots have failed; the only detector when left out."))
        .example("[[type.demo.protocol]]\nname = \"fd\"\nclass = \"heartbeat\"\n\n[[type.demo.protocol]]\nname = \"agree\"\nclass = \"mostefaoui-raynal\"\ndetector = \"fd\"")
}

fn build(_: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(MostefaouiRaynal)))
}

/// The consensus; it has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MostefaouiRaynal;

/// A message: of which instance, and what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Letter {
    at: Instance,
    word: Word,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// Of the coordinator: its estimate. Of others: what they got from it, or nothing.
    Echo { round: u32, value: Option<Bytes> },
    /// Of anybody: that is it.
    Decide { value: Bytes },
    /// Of one that has come back: do not wait for me, in any instance.
    Forgot,
}

impl ProtocolModel for MostefaouiRaynal {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Consensus)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link), PortSpec::new("detector", ServiceKind::Detector)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Council {
            forgot: false,
            suspects: BTreeSet::new(),
            mute: BTreeSet::new(),
            open: BTreeMap::new(),
            closed: Closed::default(),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        let Letter { at, word } = match from_bytes(bytes) {
            Ok(letter) => letter,
            Err(why) => return (String::from("BAD"), why),
        };
        let (kind, rest) = match word {
            Word::Echo { round, value: Some(value) } => ("ECHO", format!("round {round} {}", shown(&value))),
            Word::Echo { round, value: None } => ("ECHO", format!("round {round} nothing")),
            Word::Decide { value } => ("DECIDE", shown(&value)),
            Word::Forgot => return (String::from("FORGOT"), String::new()),
        };
        (kind.to_owned(), format!("instance {} {rest}", at.number))
    }
}

/// All instances of one robot.
#[derive(Serialize, Deserialize)]
struct Council {
    /// It came back after a crash: what it promised before is gone, so it must not vote.
    forgot: bool,
    suspects: BTreeSet<u32>,
    /// Those among them that have come back and vote no more, whatever the detector says.
    mute: BTreeSet<u32>,
    open: BTreeMap<Instance, Case>,
    closed: Closed,
}

/// One instance that is not decided yet.
#[derive(Serialize, Deserialize)]
struct Case {
    /// From 1; 0 while it has no estimate.
    round: u32,
    estimate: Bytes,
    /// Echoes of this and later rounds, by robot.
    echoes: BTreeMap<u32, BTreeMap<u32, Option<Bytes>>>,
}

impl Microprotocol for Council {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.forgot = cx.persisted::<bool>().is_some();
        if self.forgot {
            cx.say("consensus: came back without memory, only learns decisions from now on");
            // It lives, so no detector will say that nobody need wait for it as coordinator.
            let at = Instance { user: 0, number: 0 };
            send(cx, cx.others(), at, Word::Forgot);
        }
        cx.persist(&true);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Consensus(propose) = request else { return };
        let at = Instance { user: user.0, number: propose.instance };
        self.join(at, &propose.value, cx);
        self.advance(at, cx);
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Suspected(robot) if port == DETECTOR => self.suspect(robot, cx),
            Indication::Trusted(robot) if port == DETECTOR && !self.mute.contains(&robot) => {
                self.suspects.remove(&robot);
            }
            Indication::Delivered { from, bytes } if from < cx.robots() => {
                let Ok(Letter { at, word }) = from_bytes(&bytes) else { return };
                match word {
                    Word::Decide { value } => self.decide(at, &value, Some(from), cx),
                    Word::Echo { round, value } => self.echoed(from, at, round, value, cx),
                    Word::Forgot => {
                        self.mute.insert(from);
                        self.suspect(from, cx);
                    }
                }
            }
            _ => {}
        }
    }
}

fn coordinator(round: u32, cx: &Cx<'_>) -> u32 {
    (round.max(1) - 1) % cx.robots()
}

impl Council {
    /// Waits no longer for what this robot would say as coordinator.
    fn suspect(&mut self, robot: u32, cx: &mut Cx<'_>) {
        self.suspects.insert(robot);
        for at in self.open.keys().copied().collect::<Vec<_>>() {
            self.advance(at, cx);
        }
    }

    /// Begins round 1 with this estimate, unless it takes part already.
    fn join(&mut self, at: Instance, value: &Bytes, cx: &mut Cx<'_>) {
        if self.forgot || self.closed.contains(at) {
            return;
        }
        let case = self.case(at);
        if case.round == 0 {
            case.estimate = Arc::clone(value);
            enter(case, 1, at, cx);
        }
    }

    fn case(&mut self, at: Instance) -> &mut Case {
        let fresh = || Case { round: 0, estimate: Bytes::from([]), echoes: BTreeMap::new() };
        self.open.entry(at).or_insert_with(fresh)
    }

    fn echoed(&mut self, from: u32, at: Instance, round: u32, value: Option<Bytes>, cx: &mut Cx<'_>) {
        if self.forgot || self.closed.contains(at) {
            return;
        }
        if let Some(value) = &value {
            self.join(at, value, cx);
        }
        let case = self.case(at);
        if round >= case.round {
            case.echoes.entry(round).or_default().insert(from, value);
        }
        self.advance(at, cx);
    }

    /// Does all that can be done now in an instance.
    fn advance(&mut self, at: Instance, cx: &mut Cx<'_>) {
        while let Some(case) = self.open.get_mut(&at).filter(|c| c.round > 0) {
            let (me, round) = (cx.me(), case.round);
            let chief = coordinator(round, cx);
            let echoes = case.echoes.entry(round).or_default();
            if !echoes.contains_key(&me) {
                let echo = match echoes.get(&chief) {
                    Some(value) => value.clone(),
                    None if self.suspects.contains(&chief) => None,
                    None => return,
                };
                echoes.insert(me, echo.clone());
                send(cx, cx.others(), at, Word::Echo { round, value: echo });
            }
            if echoes.len() < majority(cx.robots()) {
                return;
            }
            let found = echoes.values().flatten().next().cloned();
            let unanimous = echoes.values().all(Option::is_some);
            match found {
                Some(value) if unanimous => return self.decide(at, &value, None, cx),
                Some(value) => case.estimate = value,
                None => {}
            }
            enter(case, round + 1, at, cx);
        }
    }

    fn decide(&mut self, at: Instance, value: &Bytes, from: Option<u32>, cx: &mut Cx<'_>) {
        if !self.closed.insert(at) {
            return;
        }
        self.open.remove(&at);
        // Everybody passes it on once, so it reaches all who live when it reaches one of them.
        let to = cx.others().into_iter().filter(|r| Some(*r) != from).collect();
        send(cx, to, at, Word::Decide { value: Arc::clone(value) });
        let what = Indication::Decided { instance: at.number, value: Arc::clone(value) };
        cx.indicate(User(at.user), what);
    }
}

fn send(cx: &mut Cx<'_>, to: Vec<u32>, at: Instance, word: Word) {
    if !to.is_empty() {
        cx.send(LINK, to, &Letter { at, word });
    }
}

/// Begins a round: its coordinator sends its estimate to all.
fn enter(case: &mut Case, round: u32, at: Instance, cx: &mut Cx<'_>) {
    case.round = round;
    case.echoes.retain(|r, _| *r >= round);
    if coordinator(round, cx) == cx.me() {
        let value = Some(Arc::clone(&case.estimate));
        case.echoes.entry(round).or_default().insert(cx.me(), value.clone());
        send(cx, cx.others(), at, Word::Echo { round, value });
    }
}
