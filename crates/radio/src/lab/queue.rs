//! What is going to happen in a laboratory, and what processes and networks see of it.

use super::{Event, Trace, What};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2};
use swarmyard_part_api::{
    Air, Answer, Indication, Loss, Message, Motion, Network, Pending, Query, Request, Robot, Watch,
};

/// Answers questions to pull sensors: of which process, when, what.
pub type Answers = Box<dyn FnMut(u32, Moment, &Query) -> Result<Answer, String>>;

/// What can be going to happen.
pub(super) enum Item {
    Fault(Fault),
    Start,
    Message(Message),
    Timer { node: u16, timer: u64 },
    Wake { token: u64, generation: u32 },
    Ask { port: usize, request: Request },
}

pub(super) enum Fault {
    Crash { with_flight: bool },
    Recover,
    Pause(Moment),
    Partition(Vec<u32>),
    Rewire(Box<dyn Network>),
}

impl Item {
    fn kind(&self) -> u8 {
        match self {
            Item::Fault(_) => 0,
            Item::Start => 1,
            Item::Message(_) => 2,
            Item::Timer { .. } => 3,
            Item::Wake { .. } => 4,
            Item::Ask { .. } => 5,
        }
    }
}

/// The order in which things happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) at: Moment,
    kind: u8,
    pub(super) process: u32,
    sequence: u64,
}

pub(super) struct Process {
    pub(super) up: bool,
    /// Since when it is down.
    down_since: Option<Moment>,
    /// The protocol that the trace follows.
    pub(super) top: u16,
    /// Timers that have not run out.
    pub(super) timers: BTreeSet<u64>,
    next_timer: u64,
    /// Draws of chance so far.
    draws: u32,
    /// Messages handed over so far, one for each receiver.
    copies: u64,
    pub(super) dies_after: Option<u64>,
    pub(super) paused_until: Moment,
}

/// Everything but the protocols and the network.
pub(super) struct Core {
    seed: u64,
    pub(super) now: Moment,
    queue: BTreeMap<Key, Item>,
    sequence: u64,
    messages: u64,
    pub(super) played: u64,
    /// How often the network was changed.
    pub(super) generation: u32,
    pub(super) processes: Vec<Process>,
    /// Group of each process; messages stay within one.
    pub(super) groups: Vec<u32>,
    pub(super) places: Vec<Vec2>,
    pub(super) answers: Option<Answers>,
    pub(super) trace: Trace,
}

impl Core {
    pub(super) fn new(seed: u64, tops: Vec<u16>) -> Core {
        let n = tops.len();
        let process = |top| Process {
            up: true,
            down_since: None,
            top,
            timers: BTreeSet::new(),
            next_timer: 0,
            draws: 0,
            copies: 0,
            dies_after: None,
            paused_until: Moment::ZERO,
        };
        let mut core = Core {
            seed,
            now: Moment::ZERO,
            queue: BTreeMap::new(),
            sequence: 0,
            messages: 0,
            played: 0,
            generation: 0,
            processes: tops.into_iter().map(process).collect(),
            groups: vec![0; n],
            places: vec![Vec2::ZERO; n],
            answers: None,
            trace: Trace::new(n as u32),
        };
        for p in 0..n as u32 {
            core.push(Moment::ZERO, p, Item::Start);
        }
        core
    }

    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    pub(super) fn push(&mut self, at: Moment, process: u32, item: Item) {
        if at == Moment::NEVER {
            return;
        }
        let key = Key { at: at.max(self.now), kind: item.kind(), process, sequence: self.sequence };
        self.sequence += 1;
        self.queue.insert(key, item);
    }

    /// The next thing to happen, if it happens by then. What happens to a process that pauses is put off.
    pub(super) fn pop(&mut self, until: Moment) -> Option<(Key, Item)> {
        loop {
            let (&key, _) = self.queue.first_key_value().filter(|(key, _)| key.at <= until)?;
            let item = self.queue.remove(&key)?;
            let of_process = !matches!(item, Item::Fault(_) | Item::Wake { .. });
            let paused_until = self.processes[key.process as usize].paused_until;
            if of_process && paused_until > key.at {
                self.queue.insert(Key { at: paused_until, ..key }, item);
                continue;
            }
            self.now = key.at;
            return Some((key, item));
        }
    }

    fn note(&mut self, process: u32, what: What) {
        self.trace.events.push(Event { at: self.now, process, what });
    }

    /// Stops a process; answers whether it was up.
    pub(super) fn crash(&mut self, process: u32) -> bool {
        let it = &mut self.processes[process as usize];
        let was_up = std::mem::replace(&mut it.up, false);
        if was_up {
            it.down_since = Some(self.now);
            it.timers.clear();
            it.dies_after = None;
            self.note(process, What::Crashed);
        }
        was_up
    }

    /// Lets a process start again; answers whether it was down.
    pub(super) fn recover(&mut self, process: u32) -> bool {
        let it = &mut self.processes[process as usize];
        it.down_since = None;
        let was_up = std::mem::replace(&mut it.up, true);
        if !was_up {
            self.note(process, What::Recovered);
        }
        !was_up
    }

    pub(super) fn lose_flight_of(&mut self, process: u32) {
        let from_it = |item: &Item| matches!(item, Item::Message(m) if m.from == process);
        let lost: Vec<Key> = self.queue.iter().filter(|(_, i)| from_it(i)).map(|(k, _)| *k).collect();
        for key in lost {
            if let Some(Item::Message(message)) = self.queue.remove(&key) {
                self.note(key.process, What::Lost { serial: message.serial, why: Loss::Crashed });
            }
        }
    }

    /// Those whom a message can reach at all.
    pub(super) fn reachable(&mut self, message: &Message, to: Vec<u32>) -> Vec<u32> {
        let group = |p: u32| self.groups.get(p as usize).copied();
        let mine = group(message.from);
        let (near, far): (Vec<u32>, Vec<u32>) = to.into_iter().partition(|p| group(*p) == mine);
        for p in far {
            self.note(p, What::Lost { serial: message.serial, why: Loss::Partition });
        }
        near
    }

    /// Whether a message that has come through the network gets to the process.
    pub(super) fn arrives(&mut self, message: &Message, to: u32) -> bool {
        let serial = message.serial;
        if !self.processes[to as usize].up {
            self.note(to, What::Lost { serial, why: Loss::Crashed });
            return false;
        }
        if self.groups[to as usize] != self.groups[message.from as usize] {
            self.note(to, What::Lost { serial, why: Loss::Partition });
            return false;
        }
        let (protocol, from, bytes) = (message.protocol, message.from, Arc::clone(&message.bytes));
        self.note(to, What::Received { serial, protocol, from, bytes });
        true
    }
}

/// What one process can do in one step.
pub(super) struct Hands<'a> {
    pub(super) core: &'a mut Core,
    pub(super) me: u32,
    pub(super) outbox: &'a mut Vec<(Message, Vec<u32>)>,
    /// It has stopped in the middle of this step: nothing of it counts any more.
    pub(super) dying: bool,
}

impl Hands<'_> {
    fn own(&mut self) -> &mut Process {
        &mut self.core.processes[self.me as usize]
    }

    fn note(&mut self, what: What) {
        if !self.dying {
            self.core.note(self.me, what);
        }
    }
}

impl Robot for Hands<'_> {
    fn now(&self) -> Moment {
        self.core.now
    }

    fn me(&self) -> u32 {
        self.me
    }

    fn robots(&self) -> u32 {
        self.core.processes.len() as u32
    }

    fn down_since(&self, robot: u32) -> Option<Moment> {
        self.core.processes.get(robot as usize).and_then(|p| p.down_since)
    }

    fn chance(&mut self) -> Draw {
        let ordinal = self.own().draws;
        self.own().draws += 1;
        Draw::at(self.core.seed, Uid(u64::from(self.me)), Purpose::Algorithm, Time::ZERO, ordinal)
    }

    fn say(&mut self, text: &str) {
        self.note(What::Said(text.to_owned()));
    }

    fn send(&mut self, protocol: u32, to: &[u32], bytes: Arc<[u8]>) {
        if self.dying {
            return;
        }
        let own = self.own();
        let left = own.dies_after.map_or(to.len(), |k| k.saturating_sub(own.copies) as usize);
        let to: Vec<u32> = to[..left.min(to.len())].to_vec();
        let dies = own.dies_after.is_some() && left <= to.len();
        own.copies += to.len() as u64;
        if !to.is_empty() {
            let serial = self.core.messages;
            self.core.messages += 1;
            self.note(What::Sent { serial, protocol, to: to.clone(), bytes: Arc::clone(&bytes) });
            self.outbox.push((Message { serial, from: self.me, protocol, bytes }, to));
        }
        self.dying = dies;
    }

    fn set_timer(&mut self, node: u16, after_s: f64) -> u64 {
        let timer = self.own().next_timer;
        self.own().next_timer += 1;
        if !self.dying {
            self.own().timers.insert(timer);
            let at = self.core.now.plus(after_s);
            self.core.push(at, self.me, Item::Timer { node, timer });
        }
        timer
    }

    fn cancel_timer(&mut self, timer: u64) {
        self.own().timers.remove(&timer);
    }

    fn go(&mut self, _node: u16, _motion: &Motion) -> Result<u64, String> {
        Err("there is nowhere to go in a laboratory".to_owned())
    }

    fn halt(&mut self) {}

    fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        let (me, now) = (self.me, self.core.now);
        match (&mut self.core.answers, query) {
            (Some(answers), _) => answers(me, now, query),
            (None, Query::Gps { .. }) => Ok(Answer::Point(self.core.places[me as usize])),
            (None, _) => Err("there is no such sensor in this laboratory".to_owned()),
        }
    }

    fn watch(&mut self, _node: u16, _watch: &Watch) -> Result<u64, String> {
        Err("there is nothing to look out for in a laboratory".to_owned())
    }

    fn unwatch(&mut self, _watch: u64) {}

    fn pending(&self, _robot: u32) -> Vec<Pending> {
        Vec::new()
    }

    fn shine(&mut self, _light: u8) {}

    fn asked(&mut self, node: u16, port: usize, request: &Request) {
        if self.own().top == node {
            self.note(What::Requested { port: port as u16, request: request.clone() });
        }
    }

    fn told(&mut self, node: u16, port: usize, what: &Indication) {
        if self.own().top == node {
            self.note(What::Indicated { port: port as u16, what: what.clone() });
        }
    }
}

/// What the network can see and do.
pub(super) struct Sky<'a> {
    pub(super) core: &'a mut Core,
}

impl Air for Sky<'_> {
    fn now(&self) -> Moment {
        self.core.now
    }

    fn robots(&self) -> u32 {
        self.core.processes.len() as u32
    }

    fn place(&self, robot: u32) -> Option<Vec2> {
        self.core.places.get(robot as usize).copied()
    }

    fn obstructed(&self, _: Vec2, _: Vec2) -> (u32, f64) {
        (0, 0.0)
    }

    fn chance(&self, message: &Message, to: u32) -> Draw {
        let (uid, time) = (Uid(u64::from(message.from)), Time(message.serial as i64));
        Draw::at(self.core.seed, uid, Purpose::Network, time, to)
    }

    fn deliver(&mut self, message: &Message, to: u32, at: Moment) {
        if (to as usize) < self.core.processes.len() {
            self.core.push(at, to, Item::Message(message.clone()));
        }
    }

    fn lose(&mut self, message: &Message, to: u32, why: Loss) {
        self.core.note(to, What::Lost { serial: message.serial, why });
    }

    fn wake(&mut self, at: Moment, token: u64) {
        let generation = self.core.generation;
        self.core.push(at, 0, Item::Wake { token, generation });
    }
}
