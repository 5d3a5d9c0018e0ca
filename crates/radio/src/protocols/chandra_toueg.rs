//! Consensus by a rotating coordinator (Chandra and Toueg 1996), for a detector that is eventually right about
//! one robot (◇S).
//!
//! In: proposals of the users, suspicions. Out: `Decided`, once per instance and robot, the same everywhere.
//! A decision is never contradicted, whatever the detector says and however many robots crash.
//!
//! Rounds 1, 2, … have coordinators 0, 1, …, n − 1, 0, … In a round everybody sends its estimate to the
//! coordinator (not in round 1: nothing can be locked yet, so the coordinator takes its own); the coordinator
//! proposes the newest of a majority; who gets the proposal adopts it and says `Ack`, who suspects the
//! coordinator says `Nack`; a majority of `Ack` locks the value, and the coordinator floods the decision.
//! A coordinator that got a majority of answers with a `Nack` among them says `Next`: that spares the robots
//! that said `Ack` from running ahead through rounds that are not needed.
//!
//! A robot that did not propose joins with the first value it hears of. One that comes back after a crash has
//! forgotten what it promised: it only learns decisions and never votes again, and says so, because others would wait for
//! it as coordinator.
//!
//! | | |
//! |---|---|
//! | provides | Consensus, any number of instances |
//! | uses | Link (`link`), Detector (`detector`) |
//! | guarantees | validity, integrity, uniform agreement always; termination if a majority never crashes, everybody who lives proposes, the detector is ◇S, and links lose nothing between robots that live (put `reliable-link` below where the network loses) |
//! | messages | failure-free, in one instance: n − 1 proposals, n − 1 acks, (n − 1)² for the decision; 3 steps to the last decision |
//! | memory | an instance is forgotten with its decision; what remains is a run of numbers |
//! | model-checked | n = 3, rounds ≤ 2, any suspicions, any order of messages, one crash, after which it may come back: `tests/model` |

use super::instances::{Closed, Instance, majority, shown};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
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
    Sheet::new("chandra-toueg", Kind::Protocol, "Consensus by a rotating coordinator: robots agree on one of the proposed values as long as a majority lives, and never disagree. Needs a failure detector and links that lose nothing. Provides consensus.")
        .param(Param::number("pause", Unit::Second, "How long it waits before it passes over a second suspected coordinator in a row: who suspects everybody would else never come to rest.").within(1e-6, 1e6).or_num(0.01))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries its messages; the network when left out."))
        .param(Param::new("detector", ParamType::Name("protocol"), "Who says which robots have failed; the only detector when left out."))
        .example("[[type.demo.protocol]]\nname = \"fd\"\nclass = \"heartbeat\"\n\n[[type.demo.protocol]]\nname = \"agree\"\nclass = \"chandra-toueg\"\ndetector = \"fd\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(ChandraToueg { pause_s: p.num("pause") })))
}

/// The consensus with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChandraToueg {
    /// Wait before a second suspected coordinator in a row is passed over, s.
    pub pause_s: f64,
}

impl Default for ChandraToueg {
    fn default() -> ChandraToueg {
        ChandraToueg { pause_s: 0.01 }
    }
}

/// A message: of which instance, and what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Letter {
    at: Instance,
    word: Word,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// To the coordinator: my estimate, adopted in that round.
    Estimate { round: u32, adopted: u32, value: Bytes },
    /// Of the coordinator: take this.
    Propose { round: u32, value: Bytes },
    /// To the coordinator: taken.
    Ack { round: u32 },
    /// To the coordinator: I suspect you.
    Nack { round: u32 },
    /// Of the coordinator: this round came to nothing.
    Next { round: u32 },
    /// Of anybody: that is it.
    Decide { value: Bytes },
    /// Of one that has come back: do not wait for me, in any instance.
    Forgot,
}

impl ProtocolModel for ChandraToueg {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Consensus)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link), PortSpec::new("detector", ServiceKind::Detector)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Council {
            pause_s: self.pause_s,
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
            Word::Estimate { round, adopted, value } => {
                ("ESTIMATE", format!("round {round} adopted {adopted} {}", shown(&value)))
            }
            Word::Propose { round, value } => ("PROPOSE", format!("round {round} {}", shown(&value))),
            Word::Ack { round } => ("ACK", format!("round {round}")),
            Word::Nack { round } => ("NACK", format!("round {round}")),
            Word::Next { round } => ("NEXT", format!("round {round}")),
            Word::Decide { value } => ("DECIDE", shown(&value)),
            Word::Forgot => return (String::from("FORGOT"), String::new()),
        };
        (kind.to_owned(), format!("instance {} {rest}", at.number))
    }
}

/// All instances of one robot.
#[derive(Serialize, Deserialize)]
struct Council {
    pause_s: f64,
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
    /// Round in which the estimate was adopted; 0 when it is a proposal of a user.
    adopted: u32,
    /// Whether it has answered the coordinator of this round.
    answered: bool,
    /// Whether it has proposed in this round, as coordinator.
    proposed: bool,
    /// Timer that lets it pass over the coordinator.
    pause: Option<u64>,
    /// Proposals of this and later rounds.
    proposals: BTreeMap<u32, Bytes>,
    /// Rounds whose coordinator said `Next`.
    over: BTreeSet<u32>,
    /// As coordinator: estimates by round and robot.
    estimates: BTreeMap<u32, BTreeMap<u32, (u32, Bytes)>>,
    /// As coordinator: who said yes or no, by round.
    answers: BTreeMap<u32, BTreeMap<u32, bool>>,
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
                self.heard(from, at, word, cx);
            }
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        let waiting = self.open.iter_mut().find(|(_, case)| case.pause == Some(timer));
        if let Some((&at, case)) = waiting {
            case.pause = None;
            if self.suspects.contains(&coordinator(case.round, cx)) {
                pass_over(case, at, cx);
            }
            self.advance(at, cx);
        }
    }
}

fn coordinator(round: u32, cx: &Cx<'_>) -> u32 {
    (round.max(1) - 1) % cx.robots()
}

fn case_of(open: &mut BTreeMap<Instance, Case>, at: Instance) -> &mut Case {
    open.entry(at).or_insert_with(|| Case {
        round: 0,
        estimate: Bytes::from([]),
        adopted: 0,
        answered: false,
        proposed: false,
        pause: None,
        proposals: BTreeMap::new(),
        over: BTreeSet::new(),
        estimates: BTreeMap::new(),
        answers: BTreeMap::new(),
    })
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
        let case = case_of(&mut self.open, at);
        if case.round == 0 {
            case.estimate = Arc::clone(value);
            enter(case, 1, at, cx);
        }
    }

    fn heard(&mut self, from: u32, at: Instance, word: Word, cx: &mut Cx<'_>) {
        if let Word::Decide { value } = word {
            return self.decide(at, &value, Some(from), cx);
        }
        if word == Word::Forgot {
            self.mute.insert(from);
            return self.suspect(from, cx);
        }
        if self.forgot || self.closed.contains(at) {
            return;
        }
        if let Word::Estimate { value, .. } | Word::Propose { value, .. } = &word {
            self.join(at, value, cx);
        }
        let case = case_of(&mut self.open, at);
        match word {
            // A robot that is past a round is not interested in it any more.
            Word::Estimate { round, adopted, value } if round >= case.round => {
                case.estimates.entry(round).or_default().insert(from, (adopted, value));
            }
            Word::Propose { round, value } if round >= case.round && coordinator(round, cx) == from => {
                case.proposals.insert(round, value);
            }
            Word::Ack { round } if round >= case.round => {
                case.answers.entry(round).or_default().insert(from, true);
            }
            Word::Nack { round } if round >= case.round => {
                case.answers.entry(round).or_default().insert(from, false);
            }
            Word::Next { round } if round >= case.round && coordinator(round, cx) == from => {
                case.over.insert(round);
            }
            _ => {}
        }
        self.advance(at, cx);
    }

    /// Does all that can be done now in an instance.
    fn advance(&mut self, at: Instance, cx: &mut Cx<'_>) {
        let mut passed = false;
        while let Some(case) = self.open.get_mut(&at).filter(|c| c.round > 0) {
            let (me, round) = (cx.me(), case.round);
            let chief = coordinator(round, cx);
            if chief == me && !case.proposed {
                propose(case, at, cx);
            }
            if chief == me && case.proposed {
                match verdict(case, cx) {
                    Some(true) => {
                        let value = Arc::clone(&case.estimate);
                        return self.decide(at, &value, None, cx);
                    }
                    Some(false) => {
                        send(cx, cx.others(), at, Word::Next { round });
                        enter(case, round + 1, at, cx);
                        continue;
                    }
                    None => return,
                }
            }
            if chief == me {
                return;
            }
            if !case.answered
                && let Some(value) = case.proposals.get(&round)
            {
                (case.estimate, case.adopted, case.answered) = (Arc::clone(value), round, true);
                send(cx, vec![chief], at, Word::Ack { round });
            }
            if case.over.contains(&round) {
                enter(case, round + 1, at, cx);
            } else if self.suspects.contains(&chief) && !passed {
                pass_over(case, at, cx);
                passed = true;
            } else {
                if self.suspects.contains(&chief) && case.pause.is_none() {
                    case.pause = Some(cx.set_timer(self.pause_s));
                }
                return;
            }
        }
    }

    fn decide(&mut self, at: Instance, value: &Bytes, from: Option<u32>, cx: &mut Cx<'_>) {
        if !self.closed.insert(at) {
            return;
        }
        if let Some(timer) = self.open.remove(&at).and_then(|case| case.pause) {
            cx.cancel_timer(timer);
        }
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

/// Begins a round: its coordinator is sent the estimate, except in the first.
fn enter(case: &mut Case, round: u32, at: Instance, cx: &mut Cx<'_>) {
    (case.round, case.answered, case.proposed) = (round, false, false);
    if let Some(timer) = case.pause.take() {
        cx.cancel_timer(timer);
    }
    case.proposals.retain(|r, _| *r >= round);
    case.over.retain(|r| *r >= round);
    case.estimates.retain(|r, _| *r >= round);
    case.answers.retain(|r, _| *r >= round);
    if round == 1 {
        return;
    }
    let chief = coordinator(round, cx);
    if chief == cx.me() {
        let own = (case.adopted, Arc::clone(&case.estimate));
        case.estimates.entry(round).or_default().insert(chief, own);
    } else {
        let word = Word::Estimate { round, adopted: case.adopted, value: Arc::clone(&case.estimate) };
        send(cx, vec![chief], at, word);
    }
}

/// Goes on without the coordinator, which is suspected.
fn pass_over(case: &mut Case, at: Instance, cx: &mut Cx<'_>) {
    let (round, chief) = (case.round, coordinator(case.round, cx));
    if !case.answered {
        send(cx, vec![chief], at, Word::Nack { round });
    }
    enter(case, round + 1, at, cx);
}

/// As coordinator: proposes the newest estimate of a majority, if that many have come.
fn propose(case: &mut Case, at: Instance, cx: &mut Cx<'_>) {
    let round = case.round;
    if round > 1 {
        let Some(estimates) = case.estimates.get(&round) else { return };
        if estimates.len() < majority(cx.robots()) {
            return;
        }
        // Among equally new ones the lowest robot's: any would do, but not a random one.
        let newest = estimates.iter().max_by_key(|(robot, (adopted, _))| (*adopted, u32::MAX - **robot));
        let Some((_, (_, value))) = newest else { return };
        case.estimate = Arc::clone(value);
    }
    (case.adopted, case.proposed, case.answered) = (round, true, true);
    case.answers.entry(round).or_default().insert(cx.me(), true);
    let value = Arc::clone(&case.estimate);
    send(cx, cx.others(), at, Word::Propose { round, value });
}

/// As coordinator: whether a majority took the proposal; `None` while that is open.
fn verdict(case: &Case, cx: &Cx<'_>) -> Option<bool> {
    let answers = case.answers.get(&case.round)?;
    let (needed, taken) = (majority(cx.robots()), answers.values().filter(|yes| **yes).count());
    if taken >= needed { Some(true) } else { (answers.len() >= needed).then_some(false) }
}
