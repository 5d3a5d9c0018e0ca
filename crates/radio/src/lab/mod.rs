//! A laboratory for microprotocols: processes and a network, without a world.
//!
//! In: a graph of protocols for each process, a network, a script of requests and of faults. Out: a
//! [`Trace`]. The same inputs give the same trace, to the bit; nothing here moves, and nothing waits.
//!
//! ```
//! use swarmyard_radio::lab::{Delay, Lab, Stack, Wires};
//! # let mut registry = swarmyard_part_api::Registry::new();
//! # swarmyard_radio::register(&mut registry);
//! let graph = Stack::new(&registry)
//!     .class("all", "best-effort-broadcast", &[])
//!     .probe(&["all"])
//!     .build()
//!     .unwrap();
//! let mut lab = Lab::new(7, &graph, 3, &Wires::new(Delay::Uniform(0.001, 0.010)));
//! lab.broadcast(0.5, 0, "hello");
//! lab.crash(0.6, 2);
//! lab.run_until(1.0).unwrap();
//! assert_eq!(lab.trace().indications().count(), 3);
//! ```
//!
//! Events are played in the order of (moment, kind, process, sequence), kinds in the order faults, starts,
//! messages, timers, wakes of the network, requests of the script.

mod queue;
mod stack;
mod trace;
mod wires;

pub use queue::Answers;
use queue::{Core, Fault, Hands, Item, Sky};
pub use stack::{PROBE, Stack};
pub use trace::{Event, Trace, What, brief, shown};
pub use wires::{Delay, Wires};

use std::sync::Arc;
use swarmyard_base::{Moment, Time, Vec2};
use swarmyard_part_api::{
    Endless, Graph, GraphModel, Happening, Network, NetworkModel, Request, Robot, ServiceKind, ToAll,
};

/// Events after which a run counts as one that never ends.
const MOST_EVENTS: u64 = 5_000_000;

/// Processes and a network.
pub struct Lab {
    graphs: Vec<Graph>,
    network: Box<dyn Network>,
    core: Core,
}

impl Lab {
    /// So many processes with the same protocols. The trace follows the protocol called [`PROBE`], or, when
    /// there is none, the last one of the graph.
    #[must_use]
    pub fn new(seed: u64, model: &Arc<GraphModel>, processes: u32, network: &dyn NetworkModel) -> Lab {
        Lab::of(seed, &vec![Arc::clone(model); processes as usize], network)
    }

    /// Processes with protocols of their own each.
    #[must_use]
    pub fn of(seed: u64, models: &[Arc<GraphModel>], network: &dyn NetworkModel) -> Lab {
        let tops = models.iter().map(|m| top(m)).collect();
        let core = Core::new(seed, tops);
        let network = network.start(models.len() as u32);
        Lab { graphs: models.iter().map(Graph::new).collect(), network, core }
    }

    /// Follows another protocol in the trace.
    ///
    /// # Panics
    /// When a process has no protocol of this name.
    pub fn follow(&mut self, protocol: &str) {
        for (graph, process) in self.graphs.iter().zip(&mut self.core.processes) {
            let Some(node) = graph.model().node(protocol) else {
                panic!("there is no protocol `{protocol}` to follow")
            };
            process.top = node;
        }
    }

    /// At some seconds, a process asks for something by the first port of its probe that offers the service.
    ///
    /// # Panics
    /// When the probe has no such port: the script does not fit the graph.
    pub fn at(&mut self, seconds: f64, process: u32, request: impl Into<Request>) {
        let request = request.into();
        let service = service_of(&request);
        let top = self.core.processes[process as usize].top;
        let ports = self.graphs[process as usize].model().ports(top);
        let Some(port) = ports.iter().position(|p| p.service == service) else {
            panic!("the probe of process {process} has no port for {}", service.word())
        };
        self.at_port(seconds, process, port, request);
    }

    /// The same by the port of this number.
    pub fn at_port(&mut self, seconds: f64, process: u32, port: usize, request: impl Into<Request>) {
        self.core.push(moment(seconds), process, Item::Ask { port, request: request.into() });
    }

    /// At some seconds, a process broadcasts a text. Checkers want every text to be another one.
    pub fn broadcast(&mut self, seconds: f64, process: u32, text: &str) {
        self.at(seconds, process, ToAll(brief::bytes(text)));
    }

    /// At some seconds, a process stops and loses what it has not persisted. What it sent before still arrives.
    pub fn crash(&mut self, seconds: f64, process: u32) {
        self.core.push(moment(seconds), process, Item::Fault(Fault::Crash { with_flight: false }));
    }

    /// The same, and what it sent and is still on its way is lost as well.
    pub fn crash_losing_messages(&mut self, seconds: f64, process: u32) {
        self.core.push(moment(seconds), process, Item::Fault(Fault::Crash { with_flight: true }));
    }

    /// A process stops in the middle of a step: when it has handed over so many messages (one for each
    /// receiver), counted from the start of the run. The rest of that step does not happen.
    pub fn crash_after_copies(&mut self, process: u32, copies: u64) {
        self.core.processes[process as usize].dies_after = Some(copies);
    }

    /// At some seconds, a crashed process starts again, with what it has persisted.
    pub fn recover(&mut self, seconds: f64, process: u32) {
        self.core.push(moment(seconds), process, Item::Fault(Fault::Recover));
    }

    /// Between two times a process does nothing; what happens to it meanwhile happens afterwards.
    pub fn pause(&mut self, from_s: f64, until_s: f64, process: u32) {
        self.core.push(moment(from_s), process, Item::Fault(Fault::Pause(moment(until_s))));
    }

    /// From some seconds on, messages between these groups are lost, on their way as well. Processes that are
    /// not named form one more group.
    pub fn partition(&mut self, seconds: f64, groups: &[&[u32]]) {
        let mut of = vec![0; self.graphs.len()];
        for (k, group) in groups.iter().enumerate() {
            group.iter().for_each(|p| of[*p as usize] = k as u32 + 1);
        }
        self.core.push(moment(seconds), 0, Item::Fault(Fault::Partition(of)));
    }

    /// From some seconds on, there is one group again.
    pub fn heal(&mut self, seconds: f64) {
        self.partition(seconds, &[]);
    }

    /// From some seconds on, messages go over another network. What the old one still held back is lost; what
    /// it already promised to deliver arrives.
    pub fn rewire(&mut self, seconds: f64, network: &dyn NetworkModel) {
        let network = network.start(self.graphs.len() as u32);
        self.core.push(moment(seconds), 0, Item::Fault(Fault::Rewire(network)));
    }

    /// Puts a process somewhere, for networks that want to know. All are at the origin at first.
    pub fn place(&mut self, process: u32, at: Vec2) {
        self.core.places[process as usize] = at;
    }

    /// Who answers questions to pull sensors. Without, a `gps` answers the place of the process.
    pub fn answers(&mut self, answers: Answers) {
        self.core.answers = Some(answers);
    }

    /// Plays everything up to some seconds.
    ///
    /// # Errors
    /// When a graph never comes to rest (says which protocol was at work), or when there is no end to events.
    pub fn run_until(&mut self, seconds: f64) -> Result<(), String> {
        let until = moment(seconds);
        while let Some((key, item)) = self.core.pop(until) {
            self.core.played += 1;
            if self.core.played > MOST_EVENTS {
                return Err(format!("more than {MOST_EVENTS} events, and it is only {}", key.at.time));
            }
            self.play(key.process, item).map_err(|e| {
                format!(
                    "protocol `{}` of process {} does not come to rest at {}",
                    e.protocol, key.process, key.at.time
                )
            })?;
        }
        self.core.now = self.core.now.max(until);
        self.core.trace.end = self.core.now;
        Ok(())
    }

    fn play(&mut self, process: u32, item: Item) -> Result<(), Endless> {
        match item {
            Item::Fault(fault) => self.fault(process, fault),
            Item::Start => self.step(process, |graph, robot| graph.on(Happening::Start, robot)),
            Item::Message(message) => {
                if self.core.arrives(&message, process) {
                    let (protocol, from, bytes) = (message.protocol, message.from, message.bytes);
                    let happening = Happening::Message { protocol, from, bytes };
                    return self.step(process, |graph, robot| graph.on(happening, robot));
                }
                Ok(())
            }
            Item::Timer { node, timer } => {
                if self.core.processes[process as usize].timers.remove(&timer) {
                    return self
                        .step(process, |graph, robot| graph.on(Happening::Timer { node, timer }, robot));
                }
                Ok(())
            }
            Item::Wake { token, generation } => {
                if generation == self.core.generation {
                    self.network.wake(token, &mut Sky { core: &mut self.core });
                }
                Ok(())
            }
            Item::Ask { port, request } => {
                let top = self.core.processes[process as usize].top;
                self.step(process, |graph, robot| graph.request(top, port, request, robot))
            }
        }
    }

    /// One step of one process, and what it sent goes into the network.
    fn step(
        &mut self,
        process: u32,
        work: impl FnOnce(&mut Graph, &mut dyn Robot) -> Result<(), Endless>,
    ) -> Result<(), Endless> {
        if !self.core.processes[process as usize].up {
            return Ok(());
        }
        let mut outbox = Vec::new();
        let mut hands = Hands { core: &mut self.core, me: process, outbox: &mut outbox, dying: false };
        work(&mut self.graphs[process as usize], &mut hands)?;
        let dying = hands.dying;
        for (message, to) in outbox {
            let to = self.core.reachable(&message, to);
            if !to.is_empty() {
                self.network.send(&message, &to, &mut Sky { core: &mut self.core });
            }
        }
        if dying {
            self.fault(process, Fault::Crash { with_flight: false })?;
        }
        Ok(())
    }

    fn fault(&mut self, process: u32, fault: Fault) -> Result<(), Endless> {
        match fault {
            Fault::Crash { with_flight } => {
                if self.core.crash(process) {
                    self.graphs[process as usize].crash();
                    if with_flight {
                        self.core.lose_flight_of(process);
                    }
                }
            }
            Fault::Recover => {
                if self.core.recover(process) {
                    return self.step(process, |graph, robot| graph.on(Happening::Start, robot));
                }
            }
            Fault::Pause(until) => self.core.processes[process as usize].paused_until = until,
            Fault::Partition(groups) => self.core.groups = groups,
            Fault::Rewire(network) => {
                self.network = network;
                self.core.generation += 1;
            }
        }
        Ok(())
    }

    /// What happened so far.
    #[must_use]
    pub fn trace(&self) -> &Trace {
        &self.core.trace
    }

    /// What happened.
    #[must_use]
    pub fn into_trace(self) -> Trace {
        self.core.trace
    }

    /// The protocols of a process.
    #[must_use]
    pub fn graph(&self, process: u32) -> &Graph {
        &self.graphs[process as usize]
    }

    /// Whether nothing more is going to happen by itself.
    #[must_use]
    pub fn is_quiet(&self) -> bool {
        self.core.is_empty()
    }
}

/// The protocol that a trace follows: the probe, or the last one.
#[must_use]
pub fn top(model: &GraphModel) -> u16 {
    model.node(PROBE).unwrap_or_else(|| model.names().count().saturating_sub(1) as u16)
}

/// The service that a request is one of.
#[must_use]
pub fn service_of(request: &Request) -> ServiceKind {
    match request {
        Request::Link(_) => ServiceKind::Link,
        Request::Broadcast(_) => ServiceKind::Broadcast,
        Request::Consensus(_) => ServiceKind::Consensus,
        Request::Detector(_) => ServiceKind::Detector,
        Request::Leader(_) => ServiceKind::Leader,
        Request::Mutex(_) => ServiceKind::Mutex,
        Request::Membership(_) => ServiceKind::Membership,
        Request::Clock(_) => ServiceKind::Clock,
        Request::Motion(_) => ServiceKind::Motion,
        Request::Watching(_) => ServiceKind::Watching,
        Request::Custom(_) => ServiceKind::Custom,
    }
}

fn moment(seconds: f64) -> Moment {
    Moment::at(Time::from_seconds(seconds))
}

#[cfg(test)]
mod tests;
