//! Who is in the group, in numbered views that all agree on; and messages that belong to a view.
//!
//! In: wishes to join, to quit, to exclude somebody, to send something to the group; suspicions. Out: `View` and
//! `Delivered`. Two robots that go together from one view to the next have delivered the same messages between
//! them (view synchrony), and a view of one number is the same everywhere.
//!
//! View 0 has everybody in it. A wish to change the view, or doubt whether a suspected member lives, is
//! broadcast and begins a *flush*: each member stops delivering and broadcasts what it has delivered in this
//! view. Who has the flush of every member that is not suspected proposes the next view to consensus: those
//! whose flush it has (so a suspected one that answers in time stays), without those that leave, with those that
//! join, and all messages of these flushes. What is decided is delivered as far as it was not yet, and the
//! view begins. So a member that is in the next view finds there all it has delivered; who is left out, rightly
//! or not, hears of the next view only that it is not in it. Messages that came too late for a view are sent
//! again in the next by their sender.
//!
//! A robot that comes back after a crash has forgotten what it delivered: it is out, says so in the next flush,
//! and may join again. What the group knows beyond messages (its state) is for the user to hand over.
//!
//! | | |
//! |---|---|
//! | provides | Membership |
//! | uses | Consensus (`consensus`), Detector (`detector`), Broadcast (`broadcast`): one that reaches everybody who lives if its sender does; what a crash cuts in half, the next view mends |
//! | guarantees | view agreement and view synchrony always; progress while consensus makes some and the detector is eventually right (◇P). One group only: where robots are parted, views go on at most on the side with a majority of all robots |
//! | messages | per change: 1 broadcast for the wish, one for each member's flush, and one consensus |
//! | memory | messages of a view are kept until the next view |
//! | model-checked | on `chandra-toueg`, any order of messages: n = 2 and 3, a message and one that quits; n = 3, one that is excluded, speaks and may crash; one that is suspected at any moment and may crash: `tests/model` |

use super::instances::shown;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Broadcast, Built, Bytes, Class, Consensus, Cx, Group, Indication, Kind, Microprotocol, Param, ParamType,
    PortSpec, Propose, ProtocolModel, ProtocolPort, Request, ServiceKind, Sheet, TypeLayout, User,
    from_bytes, memory_is_serde, to_bytes,
};
use swarmyard_scene::{Params, Value};

const CONSENSUS: ProtocolPort<Consensus> = ProtocolPort::new(0);
const BROADCAST: ProtocolPort<Broadcast> = ProtocolPort::new(1);

/// The class.
#[must_use]
pub fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("membership", Kind::Protocol, "A group in numbered views that all agree on: robots join, quit and are excluded when they fail, and members of two views have delivered the same messages between them. Provides membership.")
        .param(Param::new("exclude", ParamType::Bool, "Whether suspected members are excluded; else only on request.").or(Value::Bool(true)))
        .param(Param::number("patience", Unit::Second, "How long a member that is still suspected in the next view has until it is doubted again.").within(1e-3, 1e6).or_num(1.0))
        .param(Param::new("consensus", ParamType::Name("protocol"), "What decides on views; the only consensus when left out."))
        .param(Param::new("broadcast", ParamType::Name("protocol"), "What carries its messages, a reliable broadcast; the only broadcast when left out."))
        .param(Param::new("detector", ParamType::Name("protocol"), "Who says which robots have failed; the only detector when left out."))
        .example("[[type.demo.protocol]]\nname = \"fd\"\nclass = \"heartbeat\"\n\n[[type.demo.protocol]]\nname = \"agree\"\nclass = \"chandra-toueg\"\n\n[[type.demo.protocol]]\nname = \"spread\"\nclass = \"reliable-broadcast\"\n\n[[type.demo.protocol]]\nname = \"group\"\nclass = \"membership\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Protocol(Arc::new(MembershipByConsensus {
        exclude: p.bool("exclude").then(|| p.num("patience")),
    })))
}

/// The membership with its settings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MembershipByConsensus {
    /// After how many seconds a suspected member is doubted again; `None` when suspicions exclude nobody.
    pub exclude: Option<f64>,
}

/// A message of a view: who sent it, its number, and what.
type Said = BTreeMap<(u32, u64), Bytes>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Word {
    /// A message of a user.
    Data { view: u64, number: u64, bytes: Bytes },
    /// A robot should be in or out. Without a view: of whichever is the current one.
    Change { view: Option<u64>, robot: u32, member: bool },
    /// A member is suspected: whoever lives should say so.
    Doubt { view: u64, robot: u32 },
    /// All I have delivered in this view, or nothing, when I have forgotten; and who should be in or out, as far
    /// as I know: a flush may overtake the wish that began it.
    Flush { view: u64, delivered: Option<Said>, changes: BTreeMap<u32, bool> },
}

/// What consensus decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Next {
    stay: BTreeSet<u32>,
    join: BTreeSet<u32>,
    said: Said,
}

impl ProtocolModel for MembershipByConsensus {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Membership)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![
            PortSpec::new("consensus", ServiceKind::Consensus),
            PortSpec::new("broadcast", ServiceKind::Broadcast),
            PortSpec::new("detector", ServiceKind::Detector),
        ]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Place {
            exclude: self.exclude,
            doubt: None,
            forgot: false,
            view: 0,
            members: BTreeSet::new(),
            delivered: Said::new(),
            sent: 0,
            own: BTreeMap::new(),
            waiting: Vec::new(),
            wishes: BTreeMap::new(),
            suspects: BTreeSet::new(),
            flush: None,
            early: Vec::new(),
            gone: None,
            decided: BTreeMap::new(),
        })
    }

    fn show(&self, bytes: &[u8]) -> (String, String) {
        match from_bytes(bytes) {
            Ok(Word::Data { view, number, bytes }) => {
                (String::from("DATA"), format!("view {view} number {number} {}", shown(&bytes)))
            }
            Ok(Word::Change { robot, member, .. }) => {
                (String::from("CHANGE"), format!("robot {robot} {}", if member { "in" } else { "out" }))
            }
            Ok(Word::Doubt { view, robot }) => (String::from("DOUBT"), format!("view {view} robot {robot}")),
            Ok(Word::Flush { view, delivered: Some(said), .. }) => {
                (String::from("FLUSH"), format!("view {view} {} messages", said.len()))
            }
            Ok(Word::Flush { view, delivered: None, .. }) => {
                (String::from("FLUSH"), format!("view {view} gone"))
            }
            Err(why) => (String::from("BAD"), why),
        }
    }
}

/// A robot's place in the group.
#[derive(Serialize, Deserialize)]
struct Place {
    exclude: Option<f64>,
    /// Timer after which members that are still suspected are doubted again.
    doubt: Option<u64>,
    /// It came back after a crash, and is not in the group until it has joined anew.
    forgot: bool,
    view: u64,
    members: BTreeSet<u32>,
    /// What it delivered in this view.
    delivered: Said,
    /// Messages it sent in this view.
    sent: u64,
    /// Those of them that it has not delivered yet.
    own: BTreeMap<u64, Bytes>,
    /// What its users want to send as soon as the next view begins.
    waiting: Vec<Bytes>,
    /// Who it wants to be in or out.
    wishes: BTreeMap<u32, bool>,
    suspects: BTreeSet<u32>,
    /// The change of view under way.
    flush: Option<Flush>,
    /// What came for later views.
    early: Vec<(u32, Word)>,
    /// The last view in which it said that it has forgotten.
    gone: Option<u64>,
    /// Decisions about later views.
    decided: BTreeMap<u64, Bytes>,
}

#[derive(Default, Serialize, Deserialize)]
struct Flush {
    /// Who should be in or out.
    changes: BTreeMap<u32, bool>,
    /// What each member has delivered; nothing for one that has forgotten.
    from: BTreeMap<u32, Option<Said>>,
    proposed: bool,
}

impl Microprotocol for Place {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.forgot = cx.persisted::<bool>().is_some();
        cx.persist(&true);
        if self.forgot {
            cx.say("membership: came back without memory, out of the group until it joins again");
        } else {
            self.members = cx.all().into_iter().collect();
            self.tell_view(cx);
        }
    }

    fn request(&mut self, _user: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Membership(wish) = request else { return };
        match wish {
            Group::Join => self.wish(cx.me(), true, cx),
            Group::Quit => self.wish(cx.me(), false, cx),
            Group::Exclude(robot) if robot < cx.robots() => self.wish(robot, false, cx),
            Group::Exclude(_) => {}
            Group::Cast(_) if self.forgot || !self.members.contains(&cx.me()) => {
                cx.say("membership: not in the group, nothing is sent");
            }
            Group::Cast(bytes) if self.flush.is_some() => self.waiting.push(bytes),
            Group::Cast(bytes) => self.send(bytes, cx),
        }
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Delivered { from, bytes } if from < cx.robots() => {
                if let Ok(word) = from_bytes(&bytes) {
                    self.heard(from, word, cx);
                }
            }
            Indication::Decided { instance, value } => {
                self.decided.insert(instance, value);
                self.install(cx);
            }
            Indication::Suspected(robot) => {
                self.suspects.insert(robot);
                self.doubt(robot, cx);
                self.propose(cx);
            }
            Indication::Trusted(robot) => {
                self.suspects.remove(&robot);
            }
            _ => {}
        }
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if self.doubt == Some(timer) {
            self.doubt = None;
            for robot in self.suspects.clone() {
                self.doubt(robot, cx);
            }
        }
    }
}

impl Place {
    fn tell_view(&self, cx: &mut Cx<'_>) {
        let members = self.members.iter().copied().collect();
        cx.tell_all(Indication::View { number: self.view, members });
    }

    /// Wants a robot in or out, and says so to all until it is.
    fn wish(&mut self, robot: u32, member: bool, cx: &mut Cx<'_>) {
        if self.forgot || self.members.contains(&robot) != member {
            self.wishes.insert(robot, member);
            let view = (!self.forgot).then_some(self.view);
            cx.broadcast(BROADCAST, &Word::Change { view, robot, member });
        }
    }

    /// Begins a change of view that a suspected member survives only if it answers.
    fn doubt(&mut self, robot: u32, cx: &mut Cx<'_>) {
        if self.exclude.is_some() && !self.forgot && self.flush.is_none() && self.members.contains(&robot) {
            cx.broadcast(BROADCAST, &Word::Doubt { view: self.view, robot });
        }
    }

    fn send(&mut self, bytes: Bytes, cx: &mut Cx<'_>) {
        let (view, number) = (self.view, self.sent);
        self.sent += 1;
        self.own.insert(number, Arc::clone(&bytes));
        cx.broadcast(BROADCAST, &Word::Data { view, number, bytes });
    }

    fn heard(&mut self, from: u32, word: Word, cx: &mut Cx<'_>) {
        if self.forgot {
            return self.heard_as_outsider(from, word, cx);
        }
        let view = match &word {
            Word::Data { view, .. } | Word::Flush { view, .. } | Word::Doubt { view, .. } => *view,
            Word::Change { view, .. } => view.unwrap_or(self.view),
        };
        if view > self.view {
            self.early.push((from, word));
        } else if view == self.view {
            match word {
                Word::Data { number, bytes, .. } => self.deliver(from, number, bytes, cx),
                Word::Change { robot, member, .. } => self.change(&[(robot, member)].into(), cx),
                Word::Doubt { robot, .. } => {
                    if self.members.contains(&robot) {
                        self.flush(BTreeMap::new(), cx);
                        self.propose(cx);
                    }
                }
                Word::Flush { delivered, changes, .. } => {
                    let real = self.real(&changes, cx);
                    self.flush(real, cx).from.entry(from).or_insert(delivered);
                    self.propose(cx);
                }
            }
        }
    }

    /// Whoever waits for a flush of a robot that has forgotten must hear that there is none. And what is said in the
    /// view that lets it in may come before it hears of that view.
    fn heard_as_outsider(&mut self, from: u32, word: Word, cx: &mut Cx<'_>) {
        let wants_in = self.wishes.contains_key(&cx.me());
        match word {
            Word::Data { view, .. } if wants_in && view > self.view => self.early.push((from, word)),
            Word::Flush { view, .. } if from != cx.me() && self.gone != Some(view) => {
                self.gone = Some(view);
                cx.broadcast(BROADCAST, &Word::Flush { view, delivered: None, changes: BTreeMap::new() });
            }
            _ => {}
        }
    }

    fn deliver(&mut self, from: u32, number: u64, bytes: Bytes, cx: &mut Cx<'_>) {
        let in_group = self.members.contains(&from) && self.members.contains(&cx.me());
        if self.flush.is_some() || !in_group || self.delivered.contains_key(&(from, number)) {
            return;
        }
        if from == cx.me() {
            self.own.remove(&number);
        }
        self.delivered.insert((from, number), Arc::clone(&bytes));
        cx.tell_all(Indication::Delivered { from, bytes });
    }

    /// Those changes that would change something.
    fn real(&self, changes: &BTreeMap<u32, bool>, cx: &Cx<'_>) -> BTreeMap<u32, bool> {
        let known = changes.iter().filter(|(robot, _)| **robot < cx.robots());
        // One that has forgotten must be out before it can be in again.
        let possible = known.map(|(robot, member)| (*robot, *member && !self.members.contains(robot)));
        possible.filter(|(robot, member)| self.members.contains(robot) != *member).collect()
    }

    fn change(&mut self, changes: &BTreeMap<u32, bool>, cx: &mut Cx<'_>) {
        let real = self.real(changes, cx);
        if !real.is_empty() {
            self.flush(real, cx);
            self.propose(cx);
        }
    }

    /// The change of view under way, with these changes; begins it when there is none.
    fn flush(&mut self, changes: BTreeMap<u32, bool>, cx: &mut Cx<'_>) -> &mut Flush {
        if self.flush.is_none() && self.members.contains(&cx.me()) {
            let delivered = Some(self.delivered.clone());
            let word = Word::Flush { view: self.view, delivered, changes: changes.clone() };
            cx.broadcast(BROADCAST, &word);
        }
        let flush = self.flush.get_or_insert_default();
        flush.changes.extend(changes);
        flush
    }

    /// Proposes the next view, when it has heard of every member or suspects it.
    fn propose(&mut self, cx: &mut Cx<'_>) {
        let Some(flush) = self.flush.as_mut().filter(|f| !f.proposed) else { return };
        let heard = |r: &u32| flush.from.contains_key(r) || self.suspects.contains(r);
        if !self.members.iter().all(heard) || flush.from.values().all(Option::is_none) {
            return;
        }
        flush.proposed = true;
        let there = |r: &u32| matches!(flush.from.get(r), Some(Some(_)));
        let wanted_out = |r: &u32| flush.changes.get(r) == Some(&false);
        let stay = self.members.iter().copied().filter(|r| there(r) && !wanted_out(r)).collect();
        let joins = flush.changes.iter().filter(|(r, member)| **member && !self.members.contains(r));
        let join = joins.map(|(r, _)| *r).collect();
        let said = flush.from.values().flatten().flat_map(|said| said.clone()).collect();
        let value = to_bytes(&Next { stay, join, said }).into();
        cx.request(CONSENSUS, Propose { instance: self.view + 1, value });
    }

    /// Begins the next views, as far as they are decided.
    fn install(&mut self, cx: &mut Cx<'_>) {
        if self.forgot {
            return self.install_as_outsider(cx);
        }
        while let Some(value) = self.decided.remove(&(self.view + 1)) {
            let Ok(next) = from_bytes::<Next>(&value) else { continue };
            let me = cx.me();
            if next.stay.contains(&me) {
                for ((from, number), bytes) in next.said {
                    if from == me {
                        self.own.remove(&number);
                    }
                    if !self.delivered.contains_key(&(from, number)) {
                        cx.tell_all(Indication::Delivered { from, bytes });
                    }
                }
            }
            self.enter(next.stay.union(&next.join).copied().collect(), cx);
        }
    }

    fn enter(&mut self, members: BTreeSet<u32>, cx: &mut Cx<'_>) {
        let was_in = self.members.contains(&cx.me());
        (self.view, self.members, self.flush) = (self.view + 1, members, None);
        (self.sent, self.delivered) = (0, Said::new());
        let is_in = self.members.contains(&cx.me());
        if is_in || was_in {
            self.tell_view(cx);
        }
        let late: Vec<Bytes> = std::mem::take(&mut self.own).into_values().collect();
        let waiting = std::mem::take(&mut self.waiting);
        if is_in {
            late.into_iter().chain(waiting).for_each(|bytes| self.send(bytes, cx));
        }
        self.wishes.retain(|robot, member| self.members.contains(robot) != *member);
        for (robot, member) in self.wishes.clone() {
            self.wish(robot, member, cx);
        }
        if let Some(patience_s) = self.exclude
            && self.doubt.is_none()
            && !self.suspects.is_disjoint(&self.members)
        {
            self.doubt = Some(cx.set_timer(patience_s));
        }
        for (from, word) in std::mem::take(&mut self.early) {
            self.heard(from, word, cx);
        }
    }

    /// One that has forgotten follows the views, and is back when it is among those that join.
    fn install_as_outsider(&mut self, cx: &mut Cx<'_>) {
        while let Some((number, value)) = self.decided.pop_first() {
            let Ok(next) = from_bytes::<Next>(&value) else { continue };
            if number <= self.view {
                continue;
            }
            if next.join.contains(&cx.me()) {
                self.forgot = false;
                self.view = number - 1;
                self.members.clear();
                self.enter(next.stay.union(&next.join).copied().collect(), cx);
                return self.install(cx);
            }
            self.view = number;
            self.early.retain(|(_, word)| matches!(word, Word::Data { view, .. } if *view > number));
            if let Some(member) = self.wishes.get(&cx.me()).copied() {
                self.wish(cx.me(), member, cx);
            }
        }
    }
}
