//! Consensus by a leader and numbered ballots (Lamport's Paxos, one value per instance), for robots that crash
//! and come back.
//!
//! In: proposals of the users, who leads. Out: `Decided`, the same everywhere; a robot that comes back tells its
//! users again what it remembers. A decision is never contradicted, whoever believes to lead, whatever is lost,
//! doubled or late, and however many robots crash: what was promised and accepted survives a crash.
//!
//! A robot that does not lead hands its value to the leader. The leader takes a ballot number of its own, higher
//! than any it knows, asks for promises (`Prepare`), and with those of a majority lets them accept the value of
//! the highest ballot among them, or its own when there is none (`Accept`); a majority that accepted decides.
//! What is not answered is said again after `retry`.
//!
//! | | |
//! |---|---|
//! | provides | Consensus, any number of instances |
//! | uses | Link (`link`; it may lose and double messages), Leader (`leader`) |
//! | guarantees | validity and uniform agreement always; termination for who has proposed or heard of the instance, if a majority is up for long enough and one robot leads (Ω) |
//! | messages | failure-free, proposed by the leader: 5(n − 1): prepare, promise, accept, accepted, decide; 4 steps until the leader knows, 5 until all do. Others' proposals cost one message each to hand over |
//! | memory | an instance is forgotten with its decision; the values that were decided last, `keep` of each user, are kept for those who come late, also through a crash. Who has missed more than that of one user is never told of the older ones |
//! | model-checked | n = 3, two leaders with one ballot each, messages in any order, any number of times or never; two that do not hear each other, and one robot that crashes and comes back: `tests/model` |

use super::instances::{Closed, Instance, majority, shown};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Bytes, Class, Cx, Indication, Kind, Link, Microprotocol, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User, from_bytes, memory_is_serde,
};
use swarmyard_scene::{Params, Value};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);
const LEADER: usize = 1;

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("paxos", Kind::Protocol, "Consensus by a leader and numbered ballots: robots may crash and come back, messages may be lost. Agrees while a majority is up and one leads, and never disagrees. Provides consensus.")
        .param(Param::number("retry", Unit::Second, "Time after which what was not answered is said again.").within(1e-6, 1e6).or_num(0.2))
        .param(Param::new("keep", ParamType::Int { min: 1, max: 1_000_000 }, "How many decided values of each user are kept for robots that come late: those that were decided last.").or(Value::Int(64)))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries its messages; the network when left out."))
        .param(Param::new("leader", ParamType::Name("protocol"), "Who says which robot leads; the only such protocol when left out."))
        .example("[[type.demo.protocol]]\nname = \"leader\"\nclass = \"omega\"\nway = \"accusations\"\n\n[[type.demo.protocol]]\nname = \"agree\"\nclass = \"paxos\"\nleader = \"leader\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let keep = usize::try_from(p.int("keep")).unwrap_or(1);
    Ok(Built::Protocol(Arc::new(Paxos { retry_s: p.num("retry"), keep })))
}

/// The consensus with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Paxos {
    /// Time after which what was not answered is said again, s.
    pub retry_s: f64,
    /// How many decided values of each user are kept.
    pub keep: usize,
}

impl Default for Paxos {
    fn default() -> Paxos {
        Paxos { retry_s: 0.2, keep: 64 }
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
    /// To the leader: please have this decided; without a value: please tell me what was decided.
    Wish { value: Option<Bytes> },
    /// Of a leader: promise to accept nothing below this ballot.
    Prepare { ballot: u64 },
    /// Promised; and what was accepted before, in which ballot.
    Promise { ballot: u64, accepted: Option<(u64, Bytes)> },
    /// Of a leader: accept this.
    Accept { ballot: u64, value: Bytes },
    /// Accepted.
    Accepted { ballot: u64 },
    /// Cannot: a higher ballot was promised.
    Refuse { ballot: u64, promised: u64 },
    /// That is it.
    Decide { value: Bytes },
}

impl ProtocolModel for Paxos {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Consensus)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link), PortSpec::new("leader", ServiceKind::Leader)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Parliament {
            settings: self.clone(),
            leader: None,
            retry: None,
            durable: Durable::default(),
            attempts: BTreeMap::new(),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        let Letter { at, word } = match from_bytes(bytes) {
            Ok(letter) => letter,
            Err(why) => return (String::from("BAD"), why),
        };
        let (kind, rest) = match word {
            Word::Wish { value: Some(value) } => ("WISH", shown(&value)),
            Word::Wish { value: None } => ("WISH", String::from("to know")),
            Word::Prepare { ballot } => ("PREPARE", format!("ballot {ballot}")),
            Word::Promise { ballot, accepted: None } => ("PROMISE", format!("ballot {ballot}")),
            Word::Promise { ballot, accepted: Some((in_ballot, value)) } => {
                ("PROMISE", format!("ballot {ballot} accepted in {in_ballot} {}", shown(&value)))
            }
            Word::Accept { ballot, value } => ("ACCEPT", format!("ballot {ballot} {}", shown(&value))),
            Word::Accepted { ballot } => ("ACCEPTED", format!("ballot {ballot}")),
            Word::Refuse { ballot, promised } => ("REFUSE", format!("ballot {ballot} promised {promised}")),
            Word::Decide { value } => ("DECIDE", shown(&value)),
        };
        (kind.to_owned(), format!("instance {} {rest}", at.number))
    }
}

/// All instances of one robot.
#[derive(Serialize, Deserialize)]
struct Parliament {
    settings: Paxos,
    leader: Option<u32>,
    retry: Option<u64>,
    durable: Durable,
    /// Ballots of its own that are under way.
    attempts: BTreeMap<Instance, Attempt>,
}

/// What survives a crash.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Durable {
    open: BTreeMap<Instance, Record>,
    closed: Closed,
    /// Decided values, for those who come late, by user.
    kept: BTreeMap<u32, Kept>,
}

/// The last decisions that one user has heard of, whatever their numbers: what was decided long ago is
/// known everywhere, what has a low number need not be.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Kept {
    /// By number.
    values: BTreeMap<u64, Bytes>,
    /// Their numbers, the oldest decision first.
    order: VecDeque<u64>,
}

impl Kept {
    fn add(&mut self, number: u64, value: Bytes, most: usize) {
        self.values.insert(number, value);
        self.order.push_back(number);
        while self.order.len() > most {
            self.order.pop_front().and_then(|oldest| self.values.remove(&oldest));
        }
    }
}

impl Durable {
    /// What was decided, if that is still known.
    fn value(&self, at: Instance) -> Option<&Bytes> {
        self.kept.get(&at.user)?.values.get(&at.number)
    }
}

/// What survives a crash of an instance that is not decided yet.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Record {
    /// What it wants decided.
    wish: Option<Bytes>,
    promised: Option<u64>,
    accepted: Option<(u64, Bytes)>,
    /// Its own last ballot: never used for two values.
    ballot: Option<u64>,
}

/// A ballot of its own.
#[derive(Serialize, Deserialize)]
struct Attempt {
    ballot: u64,
    /// Who promised, and what each had accepted.
    promises: BTreeMap<u32, Option<(u64, Bytes)>>,
    /// What is to be accepted, once a majority has promised.
    value: Option<Bytes>,
    accepted: BTreeSet<u32>,
}

impl Microprotocol for Parliament {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        let Some(durable) = cx.persisted::<Durable>() else { return };
        self.durable = durable;
        for (&user, kept) in &self.durable.kept {
            for (&instance, value) in &kept.values {
                cx.indicate(User(user), Indication::Decided { instance, value: Arc::clone(value) });
            }
        }
        self.stay_awake(cx);
    }

    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Consensus(propose) = request else { return };
        self.wish(Instance { user: user.0, number: propose.instance }, propose.value, cx);
    }

    fn indication(&mut self, port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Leads(robot) if port == LEADER => {
                self.leader = Some(robot);
                if robot != cx.me() {
                    self.attempts.clear();
                }
                for at in self.durable.open.keys().copied().collect::<Vec<_>>() {
                    self.pursue(at, cx);
                }
            }
            Indication::Delivered { from, bytes } if from < cx.robots() => {
                let Ok(Letter { at, word }) = from_bytes(&bytes) else { return };
                self.heard(from, at, word, cx);
            }
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.retry == Some(timer) {
            self.retry = None;
            for at in self.durable.open.keys().copied().collect::<Vec<_>>() {
                self.pursue(at, cx);
            }
            self.stay_awake(cx);
        }
    }
}

impl Parliament {
    fn wish(&mut self, at: Instance, value: Bytes, cx: &mut Cx<'_>) {
        if self.durable.closed.contains(at) {
            return;
        }
        let record = self.durable.open.entry(at).or_default();
        if record.wish.is_none() {
            record.wish = Some(value);
            cx.persist(&self.durable);
            self.pursue(at, cx);
        }
        self.stay_awake(cx);
    }

    fn heard(&mut self, from: u32, at: Instance, word: Word, cx: &mut Cx<'_>) {
        if self.durable.closed.contains(at) {
            // Whoever still works on it is told how it ended.
            if matches!(word, Word::Wish { .. } | Word::Prepare { .. } | Word::Accept { .. })
                && from != cx.me()
                && let Some(value) = self.durable.value(at)
            {
                send(cx, vec![from], at, Word::Decide { value: Arc::clone(value) });
            }
            return;
        }
        match word {
            Word::Wish { value: Some(value) } => self.wish(at, value, cx),
            Word::Wish { value: None } => {}
            Word::Prepare { ballot } => self.prepare(from, at, ballot, cx),
            Word::Accept { ballot, value } => self.accept(from, at, ballot, value, cx),
            Word::Promise { ballot, accepted } => self.promised(from, at, (ballot, accepted), cx),
            Word::Accepted { ballot } => self.accepted(from, at, ballot, cx),
            Word::Refuse { ballot, promised } => {
                // Tried again with a higher one after `retry`: at once, two leaders would chase each other.
                if self.attempts.get(&at).is_some_and(|a| a.ballot == ballot) {
                    self.attempts.remove(&at);
                    let record = self.durable.open.entry(at).or_default();
                    record.ballot = record.ballot.max(Some(promised));
                    cx.persist(&self.durable);
                }
            }
            Word::Decide { value } => self.learn(at, value, cx),
        }
        self.stay_awake(cx);
    }

    /// As acceptor: promises, or says what it has promised.
    fn prepare(&mut self, from: u32, at: Instance, ballot: u64, cx: &mut Cx<'_>) {
        let record = self.durable.open.entry(at).or_default();
        let word = match record.promised {
            Some(promised) if promised > ballot => Word::Refuse { ballot, promised },
            _ => {
                record.promised = Some(ballot);
                let accepted = record.accepted.clone();
                cx.persist(&self.durable);
                Word::Promise { ballot, accepted }
            }
        };
        send(cx, vec![from], at, word);
    }

    /// As acceptor: accepts, or says what it has promised.
    fn accept(&mut self, from: u32, at: Instance, ballot: u64, value: Bytes, cx: &mut Cx<'_>) {
        let record = self.durable.open.entry(at).or_default();
        let word = match record.promised {
            Some(promised) if promised > ballot => Word::Refuse { ballot, promised },
            _ => {
                record.promised = Some(ballot);
                record.accepted = Some((ballot, value));
                cx.persist(&self.durable);
                Word::Accepted { ballot }
            }
        };
        send(cx, vec![from], at, word);
    }

    /// As leader: with the promises of a majority it knows which value is safe.
    fn promised(
        &mut self,
        from: u32,
        at: Instance,
        (ballot, accepted): (u64, Option<(u64, Bytes)>),
        cx: &mut Cx<'_>,
    ) {
        let wish = self.durable.open.get(&at).and_then(|r| r.wish.clone());
        let Some(attempt) = self.attempts.get_mut(&at).filter(|a| a.ballot == ballot) else { return };
        attempt.promises.insert(from, accepted);
        if attempt.value.is_some() || attempt.promises.len() < majority(cx.robots()) {
            return;
        }
        let newest = attempt.promises.values().flatten().max_by_key(|(ballot, _)| *ballot);
        attempt.value = newest.map(|(_, value)| Arc::clone(value)).or(wish);
        if let Some(value) = attempt.value.clone() {
            send(cx, cx.all(), at, Word::Accept { ballot, value });
        }
    }

    /// As leader: a majority that accepted decides.
    fn accepted(&mut self, from: u32, at: Instance, ballot: u64, cx: &mut Cx<'_>) {
        let Some(attempt) = self.attempts.get_mut(&at).filter(|a| a.ballot == ballot) else { return };
        attempt.accepted.insert(from);
        if attempt.accepted.len() >= majority(cx.robots())
            && let Some(value) = attempt.value.clone()
        {
            send(cx, cx.others(), at, Word::Decide { value: Arc::clone(&value) });
            self.learn(at, value, cx);
        }
    }

    fn learn(&mut self, at: Instance, value: Bytes, cx: &mut Cx<'_>) {
        self.durable.closed.insert(at);
        self.durable.open.remove(&at);
        self.attempts.remove(&at);
        let kept = self.durable.kept.entry(at.user).or_default();
        kept.add(at.number, Arc::clone(&value), self.settings.keep);
        cx.persist(&self.durable);
        cx.indicate(User(at.user), Indication::Decided { instance: at.number, value });
    }

    /// Does what brings an instance on: leads it, or turns to the leader.
    fn pursue(&mut self, at: Instance, cx: &mut Cx<'_>) {
        let (me, n) = (u64::from(cx.me()), u64::from(cx.robots()));
        let Some(record) = self.durable.open.get_mut(&at) else { return };
        let known = record.wish.clone().or_else(|| record.accepted.clone().map(|a| a.1));
        if self.leader != Some(cx.me()) {
            if let Some(leader) = self.leader {
                send(cx, vec![leader], at, Word::Wish { value: known });
            }
            return;
        }
        if let Some(attempt) = self.attempts.get(&at) {
            return again(attempt, at, cx);
        }
        let Some(wish) = known else { return };
        let highest = record.ballot.max(record.promised);
        let ballot = highest.map_or(me, |b| (b / n + 1) * n + me);
        (record.ballot, record.wish) = (Some(ballot), Some(wish));
        cx.persist(&self.durable);
        let (promises, accepted) = (BTreeMap::new(), BTreeSet::new());
        self.attempts.insert(at, Attempt { ballot, promises, value: None, accepted });
        send(cx, cx.all(), at, Word::Prepare { ballot });
    }

    fn stay_awake(&mut self, cx: &mut Cx<'_>) {
        if self.retry.is_none() && !self.durable.open.is_empty() {
            self.retry = Some(cx.set_timer(self.settings.retry_s));
        } else if self.durable.open.is_empty()
            && let Some(timer) = self.retry.take()
        {
            cx.cancel_timer(timer);
        }
    }
}

/// Says again what was not answered.
fn again(attempt: &Attempt, at: Instance, cx: &mut Cx<'_>) {
    let silent = |answered: &dyn Fn(u32) -> bool| cx.all().into_iter().filter(|r| !answered(*r)).collect();
    let (ballot, value) = (attempt.ballot, attempt.value.clone());
    let (to, word) = match value {
        None => (silent(&|r| attempt.promises.contains_key(&r)), Word::Prepare { ballot }),
        Some(value) => (silent(&|r| attempt.accepted.contains(&r)), Word::Accept { ballot, value }),
    };
    send(cx, to, at, word);
}

fn send(cx: &mut Cx<'_>, to: Vec<u32>, at: Instance, word: Word) {
    if !to.is_empty() {
        cx.send(LINK, to, &Letter { at, word });
    }
}
