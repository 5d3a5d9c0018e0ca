//! Everything that changes about robots that live by events: plain data.

use super::agenda::Agenda;
use super::going::Going;
use crate::model::Model;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::hash::{bytes_hash, item_hash, mix64};
use swarmyard_base::{Moment, Pose2, Time, Twist2, Uid};
use swarmyard_part_api::{Every, WatchFor};

/// How a robot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    /// It works.
    Well,
    /// It has crashed and may recover.
    Crashed,
    /// It never came to rest at one moment and was stopped.
    Endless,
    /// It has fallen into a hole.
    Gone,
}

/// What the engine keeps for each robot besides its motion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Inner {
    /// How it is.
    pub status: Status,
    /// The light it shows.
    pub light: u8,
    /// Events it has had at the moment of [`Instant`] that came of others at that very moment.
    pub at_once: u32,
    /// Random numbers, timers, tasks and watches given out so far.
    pub ordinal: u64,
}

/// The moment of the last event, and what came of what at that moment, in no time: by this a robot is known that never
/// comes to rest. However much arrives at one moment, it does no harm as long as it was sent before.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Instant {
    /// When.
    pub at: Moment,
    /// Numbers of the robots that have had events which came of others at this moment: how many is to be found with each.
    pub robots: Vec<u32>,
    /// The length of the chain of causes that an event has which comes of the one that happens; 0 while none does.
    pub next: u32,
    /// The length of the chain of causes of each event that is still to come at this moment, for those that came of others.
    pub chains: BTreeMap<LiveKey, u32>,
}

impl Instant {
    /// An event is going to happen: if it is at this very moment, it has a cause at this moment.
    #[inline]
    pub(super) fn expect(&mut self, key: &LiveKey) {
        if key.at == self.at && self.next > 0 {
            self.chains.insert(*key, self.next);
        }
    }
}

/// A push sensor that is switched on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watching {
    /// Its number.
    pub watch: u64,
    /// Number of the robot.
    pub robot: u32,
    /// The protocol that wanted it.
    pub node: u16,
    /// Place of the sensor in the equipment.
    pub sensor: u16,
    /// What for.
    pub what: WatchFor,
    /// How often.
    pub every: Every,
    /// For exact ones: when each body crosses the range next, by slot, or something fixed, by a number that is no slot;
    /// and whether it comes in. Only of what can do so soon.
    pub crossings: BTreeMap<u32, (Moment, bool)>,
    /// For exact ones: what is within the range, by the same numbers. It is kept, and not worked out from where things
    /// are, because a path may change at the very range.
    pub within: BTreeSet<u32>,
}

/// Place of an event in the total order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LiveKey {
    /// When.
    pub at: Moment,
    /// What kind of event; see [`LiveEvent::kind`].
    pub kind: u8,
    /// Whom it is about.
    pub who: Uid,
    /// The entity's own sequence number.
    pub sequence: u64,
}

/// What is going to happen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum LiveEvent {
    /// The fault with this place in the list.
    Fault(u32),
    /// A body's phase of motion ends. Conditional.
    Arrive(u32),
    /// A body's centre crosses the edge of a zone. Conditional.
    Zone(u32),
    /// A body (by slot) or something fixed comes into or leaves the range of an exact watch, or it is time to look at it
    /// again. Conditional.
    Crossing {
        /// The watch.
        watch: u64,
        /// The body, or a number that is no slot.
        slot: u32,
        /// Whether it comes in.
        entering: bool,
    },
    /// The network wants to be woken.
    Wake(u64),
    /// A message arrives.
    Deliver {
        /// Number of the robot.
        to: u32,
        /// Who sent it.
        from: u32,
        /// Id of the protocol.
        protocol: u32,
        /// Its number.
        serial: u64,
        /// What.
        bytes: Arc<[u8]>,
    },
    /// A timer runs out.
    Timer {
        /// Number of the robot.
        robot: u32,
        /// The protocol.
        node: u16,
        /// The timer.
        timer: u64,
    },
    /// A push sensor looks.
    Look(u64),
    /// A robot starts.
    Start(u32),
}

impl LiveEvent {
    /// The kind in the order of events at one moment; never renumber.
    #[must_use]
    pub fn kind(&self) -> u8 {
        match self {
            LiveEvent::Fault(_) => 0,
            LiveEvent::Start(_) => 1,
            LiveEvent::Arrive(_) => 2,
            LiveEvent::Zone(_) => 3,
            LiveEvent::Crossing { .. } => 4,
            LiveEvent::Wake(_) => 5,
            LiveEvent::Deliver { .. } => 6,
            LiveEvent::Timer { .. } => 7,
            LiveEvent::Look(_) => 8,
        }
    }
}

/// Everything that changes about robots that live by events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LiveState {
    /// Now, to a fraction of a nanosecond.
    pub now: Moment,
    /// Whether the last stop was inside of a quantum.
    pub mid: bool,
    /// How each body moves, by slot; also those that do not live by events.
    pub going: Vec<Going>,
    /// What else there is to know of each robot, by number.
    pub robots: Vec<Inner>,
    /// Who has had events at the last moment.
    pub instant: Instant,
    /// Events to come.
    pub queue: Agenda,
    /// When each timer runs out that is set, by robot and number: to find it among the events.
    pub timers: BTreeMap<(u32, u64), Moment>,
    /// Push sensors that are switched on, by robot and number.
    pub watches: BTreeMap<(u32, u64), Watching>,
    /// No body is faster than this, or is going to be on the motion it was told to make, m/s.
    pub fastest: f64,
    /// No exact watch reaches farther than this, from centre to centre, m; 0 when there has been none.
    pub widest: f64,
    /// Questions to programs outside that wait for answers: (robot, protocol, question), in order.
    pub asks: Vec<(u32, u16, Arc<[u8]>)>,
    /// Since when robots are out of service, by number.
    pub down: BTreeMap<u32, Moment>,
    /// Messages sent so far.
    pub sent: u64,
    /// Messages delivered so far.
    pub delivered: u64,
    /// Messages lost so far.
    pub lost: u64,
    /// Contacts of bodies that pass over or under each other, which have been told: (body, whether the other is
    /// a body, its slot or the number of the edge).
    pub open: Vec<(u32, bool, u32)>,
    /// The nanosecond of the last contact, and how many each body has had in it: (slot, contacts).
    pub crowd: (Time, Vec<(u32, u32)>),
    /// What each body that does not live by events did in this quantum before its present path, by slot.
    pub moved: Vec<Twist2>,
}

impl LiveState {
    /// The state at the start: everybody stands, and is about to start.
    #[must_use]
    pub fn new(model: &Model, poses: &[Pose2]) -> Option<LiveState> {
        let live = model.live.as_ref()?;
        let robots =
            live.members.iter().map(|_| Inner { status: Status::Well, light: 0, at_once: 0, ordinal: 0 });
        let mut state = LiveState {
            now: Moment::ZERO,
            mid: false,
            going: poses.iter().map(|pose| Going::rest(Moment::ZERO, *pose)).collect(),
            robots: robots.collect(),
            instant: Instant::default(),
            queue: Agenda::default(),
            timers: BTreeMap::new(),
            watches: BTreeMap::new(),
            fastest: 0.0,
            widest: 0.0,
            asks: Vec::new(),
            down: BTreeMap::new(),
            sent: 0,
            delivered: 0,
            lost: 0,
            open: Vec::new(),
            crowd: (Time::ZERO, Vec::new()),
            moved: if live.all { Vec::new() } else { vec![Twist2::REST; poses.len()] },
        };
        for (k, fault) in live.faults.iter().enumerate() {
            state.push(Moment::at(fault.at), Uid(0), k as u64, LiveEvent::Fault(k as u32));
        }
        for (n, slot) in live.members.iter().enumerate() {
            state.push(Moment::ZERO, model.uids[*slot as usize], 0, LiveEvent::Start(n as u32));
        }
        Some(state)
    }

    /// Whether this state has the shape that a model needs.
    pub(crate) fn fits(&self, model: &Model) -> bool {
        model.live.as_ref().is_some_and(|live| {
            self.going.len() == model.len()
                && self.robots.len() == live.members.len()
                && self.instant.robots.iter().all(|robot| (*robot as usize) < live.members.len())
                && (live.all || self.moved.len() == model.len())
        })
    }

    /// An event happens at a moment; `key` is that under which it was expected, if it was. Answers how long its chain of
    /// causes at this moment is.
    #[inline]
    pub(crate) fn begin(&mut self, now: Moment, key: Option<&LiveKey>) -> u32 {
        if self.instant.at != now {
            self.forget_instant();
            self.instant.at = now;
        }
        // Nearly always nothing of this moment has a cause at it.
        if self.instant.chains.is_empty() {
            return 0;
        }
        key.and_then(|key| self.instant.chains.remove(key)).unwrap_or(0)
    }

    /// Counts an event of a robot that came of others at this moment; answers how many of them it has had.
    pub(crate) fn count(&mut self, robot: u32) -> u32 {
        let inner = &mut self.robots[robot as usize];
        if inner.at_once == 0 {
            self.instant.robots.push(robot);
        }
        inner.at_once += 1;
        inner.at_once
    }

    #[inline]
    fn forget_instant(&mut self) {
        if !(self.instant.robots.is_empty() && self.instant.chains.is_empty()) {
            self.forget_causes();
        }
    }

    #[cold]
    fn forget_causes(&mut self) {
        for robot in self.instant.robots.drain(..) {
            self.robots[robot as usize].at_once = 0;
        }
        self.instant.chains.clear();
    }

    /// Nothing more happens before a moment: who had events earlier is of no interest any more.
    pub(crate) fn past(&mut self, until: Moment) {
        self.instant.next = 0;
        if self.instant.at < until {
            self.forget_instant();
        }
    }

    pub(crate) fn push(&mut self, at: Moment, who: Uid, sequence: u64, event: LiveEvent) {
        let key = LiveKey { at, kind: event.kind(), who, sequence };
        self.instant.expect(&key);
        self.queue.insert(key, event);
    }

    /// Bytes of memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let motions: usize = self.going.iter().map(Going::motion_bytes).sum();
        let bytes = |event: &LiveEvent| match event {
            LiveEvent::Deliver { bytes, .. } => bytes.len(),
            _ => 0,
        };
        let queue: usize =
            self.queue.unsorted().map(|(_, e)| size_of::<(LiveKey, LiveEvent)>() + bytes(e)).sum();
        size_of::<LiveState>()
            + size_of_val(&self.going[..])
            + size_of_val(&self.robots[..])
            + size_of_val(&self.moved[..])
            + self.watches.len() * size_of::<((u32, u64), Watching)>()
            + size_of_val(&self.instant.robots[..])
            + motions
            + queue
    }

    /// Commutative hash of all of it that says what will happen, but for what follows from the rest, and what counts at the present
    /// moment only.
    pub(crate) fn hash(&self, model: &Model) -> u64 {
        const LIVE: u64 = 11;
        let mut sum = mix64(moment(self.now) ^ u64::from(self.mid));
        for word in [self.sent, self.delivered, self.lost] {
            sum = mix64(sum ^ word);
        }
        for (slot, going) in self.going.iter().enumerate() {
            let (p, t) = (going.pose, going.twist());
            let numbers = [p.at.x, p.at.y, p.heading, t.forward, t.left, t.spin];
            let mut h = item_hash(model.uids[slot], LIVE, &numbers) ^ moment(going.start);
            h ^= u64::from(going.in_world());
            if let Some(j) = going.journey() {
                for word in [j.task, u64::from(j.at), moment(j.until), j.factor.to_bits(), j.plan] {
                    h = mix64(h ^ word);
                }
            }
            if let Some(footing) = going.footing() {
                h = mix64(h ^ footing.zone.map_or(0, moment) ^ footing.factor.to_bits());
            }
            sum = sum.wrapping_add(mix64(h));
        }
        for (n, robot) in self.robots.iter().enumerate() {
            let word = robot.ordinal ^ (u64::from(robot.light) << 48) ^ ((robot.status as u64) << 56);
            sum = sum.wrapping_add(mix64(mix64(n as u64 ^ 0x51) ^ word));
        }
        for w in self.watches.values() {
            let mut h = mix64(mix64(mix64(u64::from(w.robot) ^ 0x52) ^ w.watch) ^ w.aim());
            for slot in &w.within {
                h = h.wrapping_add(mix64(u64::from(*slot) ^ 0x54));
            }
            sum = sum.wrapping_add(h);
        }
        for (robot, node, question) in &self.asks {
            let who = u64::from(*robot) << 16 | u64::from(*node);
            sum = sum.wrapping_add(mix64(mix64(who ^ 0x53) ^ bytes_hash(question)));
        }
        for (key, event) in self.queue.unsorted() {
            let mut h = moment(key.at) ^ u64::from(key.kind);
            for word in [key.who.0, key.sequence] {
                h = mix64(h ^ word);
            }
            match event {
                LiveEvent::Deliver { bytes, from, protocol, .. } => {
                    h = mix64(h ^ bytes_hash(bytes) ^ u64::from(*from) ^ u64::from(*protocol) << 32);
                }
                LiveEvent::Timer { node, .. } => h = mix64(h ^ u64::from(*node)),
                LiveEvent::Crossing { entering, .. } => h = mix64(h ^ u64::from(*entering)),
                // The rest says no more than its key.
                _ => {}
            }
            sum = sum.wrapping_add(h);
        }
        for (robot, since) in &self.down {
            sum = sum.wrapping_add(mix64(mix64(u64::from(*robot) ^ 0x55) ^ moment(*since)));
        }
        for (body, with_body, other) in &self.open {
            let pair = u64::from(*body) << 32 | u64::from(*other);
            sum = sum.wrapping_add(mix64(mix64(pair ^ 0x56) ^ u64::from(*with_body)));
        }
        sum
    }
}

fn moment(m: Moment) -> u64 {
    mix64(m.time.0 as u64 ^ u64::from(m.offset).rotate_left(32))
}

impl Watching {
    /// Hash of whom it is for, what for, and how often.
    fn aim(&self) -> u64 {
        let (what, name, numbers) = match &self.what {
            WatchFor::Near { range } => (0, "", std::slice::from_ref(range)),
            WatchFor::Contact => (1, "", &[][..]),
            WatchFor::Own { sensor, args } => (2, sensor.as_str(), &args[..]),
        };
        let every = match self.every {
            Every::Interval(s) => mix64(s.to_bits()),
            Every::Exact => 0,
        };
        let who = u64::from(self.node) << 16 | u64::from(self.sensor);
        item_hash(Uid(bytes_hash(name.as_bytes()) ^ who), what, numbers) ^ every
    }
}
