//! A graph of protocols as an actor of stateright, so that the same objects that run in the simulator and over
//! sockets are run through every schedule.
//!
//! How to check another protocol (a whole test):
//!
//! ```ignore
//! let graph = Stack::new(&registry).class("rb", "reliable-broadcast", &[]).probe(&["rb"]).build().unwrap();
//! // One script for each process: its requests, each made at any moment after the one before.
//! let scripts = vec![vec![says("a")], vec![says("b")], vec![]];
//! let checker = system(&graph, scripts, Net::Unordered)
//!     .max_crashes(1)
//!     // Must hold in every state. Any checker of `check` will do.
//!     .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
//!     // Must hold whenever nothing more is going to happen by itself.
//!     .property(Expectation::Always, "agreement", |m, s| at_rest(m, s, broadcast::agreement))
//!     // Must be possible, or the two above say nothing.
//!     .property(Expectation::Sometimes, "all deliver both", |_, s| told(s, 0) == 2 && told(s, 1) == 2 && told(s, 2) == 2)
//!     .checker().threads(2).spawn_dfs().join();
//! checker.assert_properties();
//! ```
//!
//! A negative control ends in `checker.assert_any_discovery("agreement")` instead.
//!
//! What is modelled: a timer may run out at any moment, whatever its length, and `now` is always 0. Timers get
//! the lowest free number, so that protocols that set timers again and again have finitely many states. Chance is
//! a constant. Messages of a crashed process may be late for ever, so [`at_rest`] does not wait for them: that
//! covers crashes in the middle of sending. `Net::Lossy` also loses messages of the living, and doubles and
//! reorders them; a message sent again is the same message there, so retransmission stays finite. Crashed
//! processes stay down, unless the system is made by [`recovering`]; then they come back with what they persisted,
//! and by [`forgetful`] with nothing. How often that may happen is for a boundary to say ([`crashes`]).

use stateright::Model as _;
use stateright::actor::{
    Actor, ActorModel, ActorModelAction, ActorModelState, Id, LossyNetwork, Network, Out, model_timeout,
};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2};
use swarmyard_part_api::{
    Answer, Endless, Exclusion, Graph, GraphModel, Happening, Indication, Motion, Pending, Propose, Query,
    Request, Robot, ToAll, ToRobots, Watch,
};
use swarmyard_radio::check::Violations;
use swarmyard_radio::lab::{Trace, What, service_of, top};

/// One process: its protocols, and what it is going to ask for.
#[derive(Clone)]
pub(crate) struct Process {
    model: Arc<GraphModel>,
    script: Vec<Request>,
    processes: u32,
    comeback: Comeback,
    /// Two that never hear each other.
    parted: Option<[u32; 2]>,
}

/// With what a process comes back after a crash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comeback {
    /// It does not.
    Never,
    /// With what it persisted.
    Whole,
    /// As on the first day.
    Empty,
}

/// What it knows, and all it asked and was told.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Life {
    memory: Vec<u8>,
    /// In order.
    pub(crate) notes: Vec<Note>,
    pub(crate) timers: BTreeMap<u64, u16>,
    /// The light it shows. A gps answers (light & 7, light >> 3 & 3): wheels made for tests say by it where
    /// they are.
    pub(crate) light: u8,
    /// It should have stayed down: such states are out of bounds.
    gone: bool,
}

/// What a process asked or was told, as plain data.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Note {
    Sent(u16, Vec<u32>, Vec<u8>),
    Broadcast(u16, Vec<u8>),
    Delivered(u16, u32, Vec<u8>),
    Proposed(u16, u64, Vec<u8>),
    Decided(u16, u64, Vec<u8>),
    Suspected(u16, u32),
    Trusted(u16, u32),
    Leads(u16, u32),
    Enter(u16),
    Entered(u16),
    Leave(u16),
    View(u16, u64, Vec<u32>),
    /// Bits of the reading and of the error.
    Clock(u16, u64, Option<u64>),
    CrashedAndRecovered,
    Other(String),
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Packet {
    protocol: u32,
    bytes: Vec<u8>,
}

impl Packet {
    /// What a protocol says to itself on another process.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// What may run out.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Tick {
    Timer {
        node: u16,
        timer: u64,
    },
    /// The next request of the script.
    Script(usize),
}

/// What survives a crash.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Kept {
    memory: Vec<u8>,
    notes: Vec<Note>,
}

/// How messages travel.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Net {
    /// In any order, each exactly once.
    Unordered,
    /// Between two processes in the order they were sent, each exactly once.
    Ordered,
    /// In any order, any number of times, or never.
    Lossy,
    /// The same for what must always hold, with far fewer states: what is never delivered was lost. Nothing is
    /// ever at rest here.
    Repeating,
}

/// The whole system.
pub(crate) type System = ActorModel<Process, (), ()>;
/// One of its states.
pub(crate) type Snapshot = ActorModelState<Process, ()>;

/// As many processes as there are scripts. Crashed ones stay down.
pub(crate) fn system(model: &Arc<GraphModel>, scripts: Vec<Vec<Request>>, net: Net) -> System {
    make(model, scripts, net, Comeback::Never)
}

/// The same; crashed processes may come back.
pub(crate) fn recovering(model: &Arc<GraphModel>, scripts: Vec<Vec<Request>>, net: Net) -> System {
    make(model, scripts, net, Comeback::Whole)
}

/// The same; they come back without what they persisted. For negative controls.
pub(crate) fn forgetful(model: &Arc<GraphModel>, scripts: Vec<Vec<Request>>, net: Net) -> System {
    make(model, scripts, net, Comeback::Empty)
}

fn make(model: &Arc<GraphModel>, scripts: Vec<Vec<Request>>, net: Net, comeback: Comeback) -> System {
    let processes = scripts.len() as u32;
    let process = |script| Process { model: Arc::clone(model), script, processes, comeback, parted: None };
    let (network, lossy) = match net {
        Net::Unordered => (Network::new_unordered_nonduplicating([]), LossyNetwork::No),
        Net::Ordered => (Network::new_ordered([]), LossyNetwork::No),
        Net::Lossy => (Network::new_unordered_duplicating([]), LossyNetwork::Yes),
        Net::Repeating => (Network::new_unordered_duplicating([]), LossyNetwork::No),
    };
    ActorModel::new((), ())
        .actors(scripts.into_iter().map(process))
        .init_network(network)
        .lossy_network(lossy)
        .within_boundary(|_, state| state.actor_states.iter().all(|life| !life.gone))
}

/// Whether a state counts: nobody is back who should have stayed down, and no message on its way is out of
/// bounds. For systems that go on for ever: `system(…).within_boundary(|_, s| within(s, |bytes| …))`.
pub(crate) fn within(state: &Snapshot, fine: fn(&[u8]) -> bool) -> bool {
    let messages = || state.network.iter_all().all(|envelope| fine(&envelope.msg.bytes));
    state.actor_states.iter().all(|life| !life.gone) && messages()
}

/// The same system where two processes never hear each other.
pub(crate) fn parted(mut system: System, two: [u32; 2]) -> System {
    system.actors.iter_mut().for_each(|process| process.parted = Some(two));
    system
}

/// How often somebody has crashed, whether or not it has come back.
pub(crate) fn crashes(state: &Snapshot) -> usize {
    let back = |life: &Arc<Life>| life.notes.iter().filter(|n| **n == Note::CrashedAndRecovered).count();
    let down = state.crashed.iter().filter(|down| **down).count();
    down + state.actor_states.iter().map(back).sum::<usize>()
}

/// Whether only those are suspected that are down: what a perfect detector says. The probe must use the detector.
pub(crate) fn rightly_suspected(state: &Snapshot) -> bool {
    let right = |note: &Note| !matches!(note, Note::Suspected(_, robot) if !state.crashed[*robot as usize]);
    state.actor_states.iter().all(|life| life.notes.iter().all(right))
}

/// How many messages a process was handed.
pub(crate) fn delivered(state: &Snapshot, process: usize) -> usize {
    state.actor_states[process].notes.iter().filter(|n| matches!(n, Note::Delivered(..))).count()
}

/// A request to broadcast a text.
pub(crate) fn says(text: &str) -> Request {
    ToAll(text.as_bytes().into()).into()
}

/// How many indications a process got.
pub(crate) fn told(state: &Snapshot, process: usize) -> usize {
    let is_asked = |n: &&Note| {
        let asked = matches!(
            n,
            Note::Sent(..) | Note::Broadcast(..) | Note::Proposed(..) | Note::Enter(_) | Note::Leave(_)
        );
        asked || matches!(n, Note::CrashedAndRecovered | Note::Other(_))
    };
    state.actor_states[process].notes.iter().filter(|n| !is_asked(n)).count()
}

/// Whether nothing is wrong by a checker, or more is going to happen by itself.
pub(crate) fn at_rest(system: &System, state: &Snapshot, checker: fn(&Trace) -> Violations) -> bool {
    checker(&trace(state)).is_empty() || !is_at_rest(system, state)
}

/// The same where nothing happens that is out of bounds: for bounds that are part of what is assumed, like a
/// detector that is never wrong.
pub(crate) fn at_rest_within(system: &System, state: &Snapshot, checker: fn(&Trace) -> Violations) -> bool {
    checker(&trace(state)).is_empty()
        || !rests(system, state, |next| next == state || !system.within_boundary(next))
}

/// Whether nothing more is going to happen: no message of a living process is under way, and no timer of one
/// changes anything.
fn is_at_rest(system: &System, state: &Snapshot) -> bool {
    rests(system, state, |next| next == state)
}

/// Whether all that can happen leads to a state that is nothing new.
fn rests(system: &System, state: &Snapshot, nothing_new: impl Fn(&Snapshot) -> bool) -> bool {
    let mut actions = Vec::new();
    system.actions(state, &mut actions);
    actions.into_iter().all(|action| match &action {
        ActorModelAction::Drop(_) | ActorModelAction::Crash(_) | ActorModelAction::Recover(_) => true,
        ActorModelAction::Deliver { src, .. } if state.crashed[usize::from(*src)] => true,
        _ => system.next_state(state, action).is_none_or(|next| nothing_new(&next)),
    })
}

/// What happened, as a trace for checkers. Notes of different processes are merged so that nothing is delivered
/// or decided before it was broadcast or proposed, if there is such an order.
pub(crate) fn trace(state: &Snapshot) -> Trace {
    let notes: Vec<&[Note]> = state.actor_states.iter().map(|life| &life.notes[..]).collect();
    let mut next = vec![0; notes.len()];
    let mut trace = Trace::new(notes.len() as u32);
    let mut time = 0.0;
    let mut put = |trace: &mut Trace, p: usize, note: &Note| {
        time += 1e-3;
        for what in whats(note) {
            trace.push(time, p as u32, what);
        }
    };
    loop {
        let mut moved = false;
        for p in 0..notes.len() {
            while let Some(note) = notes[p].get(next[p]).filter(|n| !waits(n, &notes, &next)) {
                put(&mut trace, p, note);
                next[p] += 1;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    for p in 0..notes.len() {
        notes[p][next[p]..].iter().for_each(|note| put(&mut trace, p, note));
    }
    for p in (0..notes.len()).filter(|p| state.crashed[*p]) {
        trace.push(time, p as u32, What::Crashed);
    }
    trace
}

/// Whether a note must come after one that is still to be put.
fn waits(note: &Note, notes: &[&[Note]], next: &[usize]) -> bool {
    match note {
        Note::Delivered(_, from, bytes) => {
            let is_it = |n: &Note| matches!(n, Note::Broadcast(_, b) if b == bytes);
            let from = *from as usize;
            from < notes.len() && notes[from][next[from]..].iter().any(is_it)
        }
        Note::Decided(_, instance, value) => {
            let is_it = |n: &Note| matches!(n, Note::Proposed(_, i, v) if i == instance && v == value);
            let proposed = (0..notes.len()).any(|q| notes[q][..next[q]].iter().any(is_it));
            !proposed && (0..notes.len()).any(|q| notes[q][next[q]..].iter().any(is_it))
        }
        _ => false,
    }
}

fn whats(note: &Note) -> Vec<What> {
    let asked = |port: &u16, request: Request| vec![What::Requested { port: *port, request }];
    let told = |port: &u16, what: Indication| vec![What::Indicated { port: *port, what }];
    match note {
        Note::Sent(p, to, b) => asked(p, ToRobots { to: to.clone().into(), bytes: b[..].into() }.into()),
        Note::Broadcast(p, b) => asked(p, ToAll(b[..].into()).into()),
        Note::Proposed(p, i, v) => asked(p, Propose { instance: *i, value: v[..].into() }.into()),
        Note::Enter(p) => asked(p, Exclusion::Enter.into()),
        Note::Leave(p) => asked(p, Exclusion::Leave.into()),
        Note::Delivered(p, from, b) => told(p, Indication::Delivered { from: *from, bytes: b[..].into() }),
        Note::Decided(p, i, v) => told(p, Indication::Decided { instance: *i, value: v[..].into() }),
        Note::Suspected(p, q) => told(p, Indication::Suspected(*q)),
        Note::Trusted(p, q) => told(p, Indication::Trusted(*q)),
        Note::Leads(p, q) => told(p, Indication::Leads(*q)),
        Note::Entered(p) => told(p, Indication::Entered),
        Note::View(p, n, m) => told(p, Indication::View { number: *n, members: m.clone() }),
        Note::Clock(p, reading, error) => {
            let (reading_s, error_s) = (f64::from_bits(*reading), error.map(f64::from_bits));
            told(p, Indication::Clock { reading_s, error_s })
        }
        Note::CrashedAndRecovered => vec![What::Crashed, What::Recovered],
        Note::Other(text) => vec![What::Said(text.clone())],
    }
}

fn note_of_request(port: u16, request: &Request) -> Note {
    match request {
        Request::Link(m) => Note::Sent(port, m.to.to_vec(), m.bytes.to_vec()),
        Request::Broadcast(ToAll(b)) => Note::Broadcast(port, b.to_vec()),
        Request::Consensus(p) => Note::Proposed(port, p.instance, p.value.to_vec()),
        Request::Mutex(Exclusion::Enter) => Note::Enter(port),
        Request::Mutex(Exclusion::Leave) => Note::Leave(port),
        other => Note::Other(format!("{other:?}")),
    }
}

fn note_of_indication(port: u16, what: &Indication) -> Note {
    match what {
        Indication::Delivered { from, bytes } => Note::Delivered(port, *from, bytes.to_vec()),
        Indication::Decided { instance, value } => Note::Decided(port, *instance, value.to_vec()),
        Indication::Suspected(q) => Note::Suspected(port, *q),
        Indication::Trusted(q) => Note::Trusted(port, *q),
        Indication::Leads(q) => Note::Leads(port, *q),
        Indication::Entered => Note::Entered(port),
        Indication::View { number, members } => Note::View(port, *number, members.clone()),
        Indication::Clock { reading_s, error_s } => {
            Note::Clock(port, reading_s.to_bits(), error_s.map(f64::to_bits))
        }
        other => Note::Other(format!("{other:?}")),
    }
}

impl Process {
    /// One step from a life to the next.
    fn step(
        &self,
        id: Id,
        life: &Life,
        out: &mut Out<Process>,
        work: impl FnOnce(&mut Graph, &mut dyn Robot) -> Result<(), Endless>,
    ) -> Life {
        let mut graph = Graph::new(&self.model);
        graph.load(&life.memory).expect("it was saved by such a graph");
        let (me, robots, top) = (usize::from(id) as u32, self.processes, top(&self.model));
        let mut hands = Hands { me, robots, top, parted: self.parted, life: life.clone(), out };
        work(&mut graph, &mut hands).expect("protocols come to rest");
        let mut next = hands.life;
        next.memory = graph.save();
        if next != *life {
            self.keep(graph, &next, out);
        }
        next
    }

    /// Writes down what it would come back with.
    fn keep(&self, mut graph: Graph, life: &Life, out: &mut Out<Process>) {
        let memory = match self.comeback {
            Comeback::Never => return,
            Comeback::Whole => {
                graph.crash();
                graph.save()
            }
            Comeback::Empty => Graph::new(&self.model).save(),
        };
        out.save(Kept { memory, notes: life.notes.clone() });
    }

    fn port_for(&self, request: &Request) -> usize {
        let ports = self.model.ports(top(&self.model));
        ports.iter().position(|p| p.service == service_of(request)).expect("the script fits the probe")
    }
}

impl Actor for Process {
    type Msg = Packet;
    type State = Life;
    type Timer = Tick;
    type Random = ();
    type Storage = Kept;

    fn on_start(&self, id: Id, kept: &Option<Kept>, out: &mut Out<Self>) -> Life {
        let mut life = Life {
            memory: Graph::new(&self.model).save(),
            notes: Vec::new(),
            timers: BTreeMap::new(),
            light: usize::from(id) as u8,
            gone: false,
        };
        match kept {
            Some(_) if self.comeback == Comeback::Never => return Life { gone: true, ..life },
            Some(kept) => {
                (life.memory, life.notes) = (kept.memory.clone(), kept.notes.clone());
                life.notes.push(Note::CrashedAndRecovered);
                out.save(Kept { memory: kept.memory.clone(), notes: life.notes.clone() });
            }
            None => {
                // So that a later start is known to be a recovery.
                out.save(Kept { memory: life.memory.clone(), notes: Vec::new() });
                if !self.script.is_empty() {
                    out.set_timer(Tick::Script(0), model_timeout());
                }
            }
        }
        self.step(id, &life, out, |graph, robot| graph.on(Happening::Start, robot))
    }

    fn on_msg(&self, id: Id, state: &mut Cow<'_, Life>, src: Id, packet: Packet, out: &mut Out<Self>) {
        let (protocol, from, bytes) = (packet.protocol, usize::from(src) as u32, packet.bytes.into());
        let happening = Happening::Message { protocol, from, bytes };
        let next = self.step(id, state, out, |graph, robot| graph.on(happening, robot));
        if next != **state {
            *state.to_mut() = next;
        }
    }

    fn on_timeout(&self, id: Id, state: &mut Cow<'_, Life>, tick: &Tick, out: &mut Out<Self>) {
        let next = match tick {
            Tick::Script(k) => {
                let request = self.script[*k].clone();
                let port = self.port_for(&request);
                if k + 1 < self.script.len() {
                    out.set_timer(Tick::Script(k + 1), model_timeout());
                }
                self.step(id, state, out, |graph, robot| {
                    graph.request(top(&self.model), port, request, robot)
                })
            }
            Tick::Timer { node, timer } => {
                let mut before = state.clone().into_owned();
                before.timers.remove(timer);
                let happening = Happening::Timer { node: *node, timer: *timer };
                self.step(id, &before, out, |graph, robot| graph.on(happening, robot))
            }
        };
        if next != **state {
            *state.to_mut() = next;
        }
    }
}

/// What a process can do in one step.
struct Hands<'a> {
    me: u32,
    robots: u32,
    top: u16,
    parted: Option<[u32; 2]>,
    life: Life,
    out: &'a mut Out<Process>,
}

impl Robot for Hands<'_> {
    fn now(&self) -> Moment {
        Moment::ZERO
    }
    fn me(&self) -> u32 {
        self.me
    }
    fn robots(&self) -> u32 {
        self.robots
    }
    fn chance(&mut self) -> Draw {
        Draw::at(1, Uid(u64::from(self.me)), Purpose::Algorithm, Time::ZERO, 0)
    }
    fn say(&mut self, _text: &str) {}
    fn send(&mut self, protocol: u32, to: &[u32], bytes: Arc<[u8]>) {
        let cut = |to: &u32| {
            self.parted.is_some_and(|two| *to != self.me && two.contains(to) && two.contains(&self.me))
        };
        for to in to.iter().filter(|to| !cut(to)) {
            self.out.send(Id::from(*to as usize), Packet { protocol, bytes: bytes.to_vec() });
        }
    }
    fn set_timer(&mut self, node: u16, _after_s: f64) -> u64 {
        let timer = (0..).find(|t| !self.life.timers.contains_key(t)).expect("there are numbers enough");
        self.life.timers.insert(timer, node);
        self.out.set_timer(Tick::Timer { node, timer }, model_timeout());
        timer
    }
    fn cancel_timer(&mut self, timer: u64) {
        if let Some(node) = self.life.timers.remove(&timer) {
            self.out.cancel_timer(Tick::Timer { node, timer });
        }
    }
    fn go(&mut self, _node: u16, _motion: &Motion) -> Result<u64, String> {
        Err("there is nowhere to go".to_owned())
    }
    fn halt(&mut self) {}
    fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        let light = self.life.light;
        match query {
            Query::Gps { .. } => {
                Ok(Answer::Point(Vec2::new(f64::from(light & 7), f64::from(light >> 3 & 3))))
            }
            _ => Err("there is no such sensor".to_owned()),
        }
    }
    fn watch(&mut self, _node: u16, _watch: &Watch) -> Result<u64, String> {
        Err("there is no sensor".to_owned())
    }
    fn unwatch(&mut self, _watch: u64) {}
    fn pending(&self, _robot: u32) -> Vec<Pending> {
        Vec::new()
    }
    fn shine(&mut self, light: u8) {
        self.life.light = light;
    }
    fn asked(&mut self, node: u16, port: usize, request: &Request) {
        if node == self.top {
            self.life.notes.push(note_of_request(port as u16, request));
        }
    }
    fn told(&mut self, node: u16, port: usize, what: &Indication) {
        if node == self.top {
            self.life.notes.push(note_of_indication(port as u16, what));
        }
    }
}
