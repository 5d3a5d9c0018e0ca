//! The protocols and algorithms of one robot, connected as a graph.
//!
//! In: what happens to the robot ([`Happening`]). Out: what its protocols do to the world, through
//! [`Robot`]. Requests and indications between protocols are played one after another, first in, first out,
//! at one moment; a graph that never comes to rest is stopped and named.

use crate::{
    Bytes, Company, Cx, Drive, Ended, Indication, LookOut, Microprotocol, PortSpec, ProtocolModel, Push,
    Query, Request, Robot, ServiceKind, User,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use swarmyard_base::hash::bytes_hash;
use swarmyard_base::{Diagnostic, Diagnostics};

/// Steps that one happening may cause in one robot before it counts as endless.
pub const MOST_STEPS: usize = 100_000;

/// What happens to a robot that lives by events.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// The run begins, or the robot comes back after a crash.
    Start,
    /// A message came for one of its protocols.
    Message {
        /// Id of the protocol.
        protocol: u32,
        /// Who sent it.
        from: u32,
        /// What.
        bytes: Bytes,
    },
    /// A timer has run out.
    Timer {
        /// Whose.
        node: u16,
        /// Which.
        timer: u64,
    },
    /// A motion has ended.
    Ended {
        /// Whose.
        node: u16,
        /// Which.
        task: u64,
        /// How.
        how: Ended,
    },
    /// A motion under way has come to an event of its pattern.
    Passed {
        /// Whose.
        node: u16,
        /// Which.
        task: u64,
        /// Name of the event.
        name: String,
    },
    /// The program outside that decides for a protocol has answered.
    Answered {
        /// Whose.
        node: u16,
        /// What.
        answer: Bytes,
    },
    /// A push sensor has fired.
    Pushed {
        /// Whose.
        node: u16,
        /// What it saw.
        push: Push,
    },
}

/// Who provides what a port needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Provider {
    /// The network.
    Network,
    /// The robot's body: its motion modules and sensors.
    Body,
    /// Another protocol.
    Node(u16),
    /// Nobody: the port may be left unconnected.
    Nobody,
}

/// One protocol before it is connected.
pub struct NodeSpec {
    /// Its name.
    pub name: String,
    /// Its model.
    pub model: Arc<dyn ProtocolModel>,
    /// Names of providers, by port; `None` means the usual one.
    pub ports: Vec<Option<String>>,
}

struct Node {
    name: String,
    id: u32,
    model: Arc<dyn ProtocolModel>,
    ports: Vec<Provider>,
    /// (node, port) of those that use it.
    users: Vec<(u16, u16)>,
    /// The port at which its messages come from the network.
    network: Option<u16>,
}

/// The protocols of a type of robots, connected. Shared by all its robots.
pub struct GraphModel {
    nodes: Vec<Node>,
    /// (id, node), sorted.
    by_id: Vec<(u32, u16)>,
    /// Those who want to know of every message.
    overhear: Vec<u16>,
    retells: bool,
}

/// Id of a protocol with that name: the same on every robot.
#[must_use]
pub fn protocol_id(name: &str) -> u32 {
    let h = bytes_hash(name.as_bytes());
    (h ^ (h >> 32)) as u32
}

impl GraphModel {
    /// Connects protocols.
    ///
    /// A port without a name gets the usual provider: the network for links, the body for motions and push
    /// sensors, else the only protocol that provides the service.
    ///
    /// # Errors
    /// All ports that cannot be connected, each with what would do.
    pub fn new(specs: Vec<NodeSpec>) -> Result<GraphModel, Diagnostics> {
        let mut problems = Diagnostics::default();
        let mut connected = Vec::new();
        for (n, spec) in specs.iter().enumerate() {
            let mut ports = Vec::new();
            for (p, port) in spec.model.ports().into_iter().enumerate() {
                let named = spec.ports.get(p).and_then(Option::as_deref);
                match provider(&specs, n, port.service, named, port.optional) {
                    Ok(provider) => ports.push(provider),
                    Err(d) => problems.push(d.on(format!("{}.{}", spec.name, port.name))),
                }
            }
            connected.push(ports);
        }
        let mut nodes: Vec<Node> = Vec::new();
        for (spec, ports) in specs.into_iter().zip(connected) {
            let id = protocol_id(&spec.name);
            if let Some(other) = nodes.iter().find(|n| n.id == id) {
                let what = format!("protocols `{}` and `{}` have the same id", other.name, spec.name);
                problems.push(Diagnostic::error("duplicate-name", what).help("rename one of them"));
            }
            let network = ports.iter().position(|p| *p == Provider::Network).map(|p| p as u16);
            nodes.push(Node { name: spec.name, id, model: spec.model, ports, users: Vec::new(), network });
        }
        if problems.has_errors() {
            return Err(problems);
        }
        for n in 0..nodes.len() {
            for p in 0..nodes[n].ports.len() {
                if let Provider::Node(to) = nodes[n].ports[p] {
                    nodes[to as usize].users.push((n as u16, p as u16));
                }
            }
        }
        let mut by_id: Vec<(u32, u16)> =
            nodes.iter().enumerate().map(|(n, node)| (node.id, n as u16)).collect();
        by_id.sort_unstable();
        let overhear = (0..nodes.len() as u16).filter(|n| nodes[*n as usize].model.overhears()).collect();
        let retells = nodes.iter().any(|n| n.model.retells());
        Ok(GraphModel { nodes, by_id, overhear, retells })
    }

    /// Whether all that is told of its robot is what one of its protocols tells.
    #[must_use]
    pub fn retells(&self) -> bool {
        self.retells
    }

    /// Names of its protocols.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.nodes.iter().map(|n| n.name.as_str())
    }

    /// The models of its protocols, by node.
    pub fn models(&self) -> impl Iterator<Item = &dyn ProtocolModel> {
        self.nodes.iter().map(|n| n.model.as_ref())
    }

    /// The first of its protocols that talks over the network and must.
    #[must_use]
    pub fn needs_network(&self) -> Option<&str> {
        let needs = |n: &&Node| {
            let ports = n.model.ports().into_iter().zip(&n.ports);
            ports.into_iter().any(|(spec, to)| *to == Provider::Network && !spec.optional)
        };
        self.nodes.iter().find(needs).map(|n| n.name.as_str())
    }

    /// What is wrong where so many robots are, each on `name.parameter`; `peers` says who has a protocol of a name.
    #[must_use]
    pub fn misfits<'a>(&self, robots: u32, peers: impl Fn(&str) -> &'a [u32]) -> Diagnostics {
        let mut problems = Diagnostics::default();
        for node in &self.nodes {
            let users: Vec<&str> =
                node.users.iter().map(|u| self.nodes[u.0 as usize].name.as_str()).collect();
            let company = Company { robots, users: &users, peers: peers(&node.name) };
            for (key, d) in node.model.misfits(&company) {
                problems.push(d.on(format!("{}.{key}", node.name)));
            }
        }
        problems
    }

    /// Questions that its protocols cannot do without, each with the name of the protocol.
    pub fn asks(&self) -> impl Iterator<Item = (&str, Query)> {
        self.nodes.iter().flat_map(|n| n.model.asks().into_iter().map(|q| (n.name.as_str(), q)))
    }

    /// Number of the protocol with this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<u16> {
        self.nodes.iter().position(|n| n.name == name).map(|n| n as u16)
    }

    /// The ports of a protocol.
    #[must_use]
    pub fn ports(&self, node: u16) -> Vec<PortSpec> {
        self.nodes.get(node as usize).map_or_else(Vec::new, |n| n.model.ports())
    }

    /// Who provides what a port of a protocol needs: the name of another protocol, or `network`. `None` for the robot's
    /// own motions and sensors, and for what nobody provides.
    #[must_use]
    pub fn provider_of(&self, node: u16, port: u16) -> Option<&str> {
        match self.nodes.get(usize::from(node))?.ports.get(usize::from(port))? {
            Provider::Network => Some("network"),
            Provider::Node(k) => Some(&self.nodes[usize::from(*k)].name),
            Provider::Body | Provider::Nobody => None,
        }
    }

    /// Name of the protocol with this id.
    #[must_use]
    pub fn name_of(&self, id: u32) -> Option<&str> {
        self.find(id).map(|n| self.nodes[n as usize].name.as_str())
    }

    /// Name of the protocol that something happens to: the first one at work. When a robot starts, all are; then it is
    /// the last, which is its algorithm.
    #[must_use]
    pub fn at_work(&self, happening: &Happening) -> &str {
        let node = match happening {
            Happening::Start => self.nodes.len().checked_sub(1),
            Happening::Message { protocol, .. } => self.find(*protocol).map(usize::from),
            Happening::Timer { node, .. }
            | Happening::Ended { node, .. }
            | Happening::Passed { node, .. }
            | Happening::Answered { node, .. }
            | Happening::Pushed { node, .. } => Some(usize::from(*node)),
        };
        node.and_then(|n| self.nodes.get(n)).map_or("?", |n| n.name.as_str())
    }

    /// Type and content of a message of one of its protocols, for logs.
    #[must_use]
    pub fn show(&self, id: u32, bytes: &[u8]) -> (String, String) {
        let unknown = || (String::from("DATA"), format!("{} bytes", bytes.len()));
        self.find(id).map_or_else(unknown, |n| self.nodes[n as usize].model.show(bytes))
    }

    fn find(&self, id: u32) -> Option<u16> {
        self.by_id.binary_search_by_key(&id, |e| e.0).ok().map(|k| self.by_id[k].1)
    }
}

fn provider(
    specs: &[NodeSpec],
    me: usize,
    service: ServiceKind,
    named: Option<&str>,
    optional: bool,
) -> Result<Provider, Diagnostic> {
    let fits = |k: usize| k != me && specs[k].model.provides() == Some(service);
    let fitting = || (0..specs.len()).filter(|&k| fits(k)).map(|k| specs[k].name.as_str());
    if let Some(name) = named {
        if name == "network" && service == ServiceKind::Link {
            return Ok(Provider::Network);
        }
        let Some(k) = specs.iter().position(|s| s.name == name) else {
            let what = format!("there is no protocol `{name}`");
            return Err(Diagnostic::error("unknown-protocol", what).suggest(name, fitting()));
        };
        if fits(k) {
            return Ok(Provider::Node(k as u16));
        }
        let offers = specs[k].model.provides().map_or("nothing", ServiceKind::word);
        let what = format!("`{name}` provides {offers}, and {} is needed here", service.word());
        let d = Diagnostic::error("wrong-service", what);
        return Err(match service {
            _ if fitting().next().is_some() => d.suggest("", fitting()),
            ServiceKind::Link => d.help("leave it out, and the network carries its messages; or add a link"),
            ServiceKind::Motion | ServiceKind::Watching => {
                d.help("leave it out, and the robot's own parts do it; or add a protocol that does")
            }
            _ => d.help(ADD_ONE),
        });
    }
    match service {
        ServiceKind::Link => return Ok(Provider::Network),
        ServiceKind::Motion | ServiceKind::Watching => return Ok(Provider::Body),
        _ => {}
    }
    let mut found = (0..specs.len()).filter(|&k| fits(k));
    match (found.next(), found.next()) {
        (Some(k), None) => Ok(Provider::Node(k as u16)),
        (None, _) if optional => Ok(Provider::Nobody),
        (None, _) => {
            let what = format!("no protocol of this robot provides {}", service.word());
            Err(Diagnostic::error("missing-protocol", what).help(ADD_ONE))
        }
        (Some(_), Some(_)) => {
            let what = format!("more than one protocol provides {}: say which", service.word());
            Err(Diagnostic::error("ambiguous-protocol", what).suggest("", fitting()))
        }
    }
}

/// What to do where nobody provides a service.
const ADD_ONE: &str = "add one that does: docs/protocols.md says what each class provides";

/// What a step of a protocol wants of its neighbours; played after the step.
pub(crate) struct Effects {
    /// The first; most steps want one thing or nothing, and that takes no memory of its own.
    first: Option<(u16, Wish)>,
    /// Those after it, once there were some.
    queue: Option<VecDeque<(u16, Wish)>>,
    stores: Vec<(u16, Vec<u8>)>,
}

enum Wish {
    Request(usize, Request),
    Indicate(Option<User>, Indication),
}

impl Effects {
    fn new(stores: Vec<(u16, Vec<u8>)>) -> Effects {
        Effects { first: None, queue: None, stores }
    }

    pub(crate) fn request(&mut self, node: u16, port: usize, request: Request) {
        self.push((node, Wish::Request(port, request)));
    }

    pub(crate) fn indicate(&mut self, node: u16, user: Option<User>, what: Indication) {
        self.push((node, Wish::Indicate(user, what)));
    }

    fn push(&mut self, wish: (u16, Wish)) {
        if self.first.is_none() && self.queue.as_ref().is_none_or(VecDeque::is_empty) {
            self.first = Some(wish);
        } else {
            self.queue.get_or_insert_default().push_back(wish);
        }
    }

    fn pop(&mut self) -> Option<(u16, Wish)> {
        match self.first.take() {
            Some(first) => Some(first),
            None => self.queue.as_mut()?.pop_front(),
        }
    }

    pub(crate) fn persist(&mut self, node: u16, bytes: Vec<u8>) {
        self.stores.retain(|s| s.0 != node);
        self.stores.push((node, bytes));
        self.stores.sort_by_key(|s| s.0);
    }

    pub(crate) fn persisted(&self, node: u16) -> Option<&[u8]> {
        self.stores.iter().find(|s| s.0 == node).map(|s| &s.1[..])
    }
}

/// The running protocols of one robot. 40 bytes and the protocols' own memory, while nothing is under way.
pub struct Graph {
    model: Arc<GraphModel>,
    nodes: Nodes,
    /// `None` means an empty one.
    rest: Option<Box<Rest>>,
}

/// The protocols by number; most robots have one.
enum Nodes {
    One(Box<dyn Microprotocol>),
    Many(Box<[Box<dyn Microprotocol>]>),
}

impl Nodes {
    fn fresh(model: &GraphModel) -> Nodes {
        match &model.nodes[..] {
            [only] => Nodes::One(only.model.start()),
            many => Nodes::Many(many.iter().map(|n| n.model.start()).collect()),
        }
    }
}

impl Deref for Nodes {
    type Target = [Box<dyn Microprotocol>];

    fn deref(&self) -> &Self::Target {
        match self {
            Nodes::One(node) => std::slice::from_ref(node),
            Nodes::Many(nodes) => nodes,
        }
    }
}

impl DerefMut for Nodes {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match self {
            Nodes::One(node) => std::slice::from_mut(node),
            Nodes::Many(nodes) => nodes,
        }
    }
}

/// What a graph has to remember beside its protocols.
#[derive(Clone, Default)]
struct Rest {
    /// What survives a crash, by node.
    stores: Vec<(u16, Vec<u8>)>,
    /// Motions and watches under way: (task or watch, node, the user's tag).
    tags: Vec<(u64, u16, u64)>,
}

/// A graph's memory.
#[derive(Serialize, Deserialize)]
struct GraphImage {
    nodes: Vec<Vec<u8>>,
    stores: Vec<(u16, Vec<u8>)>,
    tags: Vec<(u64, u16, u64)>,
}

/// A graph did not come to rest: it is named, and its robot is stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endless {
    /// The protocol that was at work.
    pub protocol: String,
}

impl Graph {
    /// Fresh protocols; [`Happening::Start`] starts them.
    #[must_use]
    pub fn new(model: &Arc<GraphModel>) -> Graph {
        Graph { model: Arc::clone(model), nodes: Nodes::fresh(model), rest: None }
    }

    /// What it is an instance of.
    #[must_use]
    pub fn model(&self) -> &Arc<GraphModel> {
        &self.model
    }

    /// Loses its memory, except what was persisted.
    pub fn crash(&mut self) {
        self.nodes = Nodes::fresh(&self.model);
        if let Some(rest) = &mut self.rest {
            rest.tags.clear();
        }
    }

    /// Lets the protocols react to what happens.
    ///
    /// # Errors
    /// When they never come to rest.
    pub fn on(&mut self, happening: Happening, robot: &mut dyn Robot) -> Result<(), Endless> {
        let mut effects = Effects::new(self.take_stores());
        self.begin(happening, robot, &mut effects);
        self.settle(&mut effects, robot)
    }

    /// Asks for something as if one of its protocols did: how scripts drive what is below an algorithm.
    ///
    /// # Errors
    /// When the protocols never come to rest.
    pub fn request(
        &mut self,
        node: u16,
        port: usize,
        request: Request,
        robot: &mut dyn Robot,
    ) -> Result<(), Endless> {
        let mut effects = Effects::new(self.take_stores());
        if usize::from(node) < self.nodes.len() {
            effects.request(node, port, request);
        }
        self.settle(&mut effects, robot)
    }

    /// Plays what the protocols want of each other until they want nothing more.
    fn settle(&mut self, effects: &mut Effects, robot: &mut dyn Robot) -> Result<(), Endless> {
        let mut steps = 0;
        let mut endless = None;
        while let Some((node, wish)) = effects.pop() {
            steps += 1;
            if steps > MOST_STEPS {
                endless = Some(Endless { protocol: self.model.nodes[node as usize].name.clone() });
                break;
            }
            match wish {
                Wish::Request(port, request) => self.ask(node, port, request, robot, effects),
                Wish::Indicate(user, what) => self.tell(node, user, &what, robot, effects),
            }
        }
        if !effects.stores.is_empty() {
            self.rest().stores = std::mem::take(&mut effects.stores);
        }
        endless.map_or(Ok(()), Err)
    }

    fn begin(&mut self, happening: Happening, robot: &mut dyn Robot, effects: &mut Effects) {
        match happening {
            Happening::Start => {
                for node in 0..self.nodes.len() as u16 {
                    self.nodes[node as usize].start(&mut Cx { robot, effects, node });
                }
            }
            Happening::Message { protocol, from, bytes } => {
                for &node in &self.model.overhear {
                    self.nodes[node as usize].overheard(from, &mut Cx { robot, effects, node });
                }
                if let Some(node) = self.model.find(protocol)
                    && let Some(port) = self.model.nodes[node as usize].network
                {
                    let what = Indication::Delivered { from, bytes };
                    self.indicate(node, usize::from(port), what, robot, effects);
                }
            }
            Happening::Timer { node, timer } => {
                if let Some(protocol) = self.nodes.get_mut(node as usize) {
                    protocol.timer(timer, &mut Cx { robot, effects, node });
                }
            }
            Happening::Answered { node, answer } => {
                if let Some(protocol) = self.nodes.get_mut(node as usize) {
                    protocol.answered(&answer, &mut Cx { robot, effects, node });
                }
            }
            Happening::Ended { node, task, how } => {
                if let Some(tag) = self.take_tag(task, node) {
                    let port = self.body_port(node, ServiceKind::Motion);
                    let what = Indication::Ended { tag, how };
                    self.indicate(node, port, what, robot, effects);
                }
            }
            Happening::Passed { node, task, name } => {
                if let Some(tag) = self.tag(task, node) {
                    let port = self.body_port(node, ServiceKind::Motion);
                    let what = Indication::Passed { tag, name };
                    self.indicate(node, port, what, robot, effects);
                }
            }
            Happening::Pushed { node, push } => {
                if let Some(tag) = self.tag(push.watch, node) {
                    let port = self.body_port(node, ServiceKind::Watching);
                    let what = Indication::Pushed { tag, push };
                    self.indicate(node, port, what, robot, effects);
                }
            }
        }
    }

    fn indicate(
        &mut self,
        node: u16,
        port: usize,
        what: Indication,
        robot: &mut dyn Robot,
        effects: &mut Effects,
    ) {
        robot.told(node, port, &what);
        self.nodes[node as usize].indication(port, what, &mut Cx { robot, effects, node });
    }

    fn take_tag(&mut self, number: u64, node: u16) -> Option<u64> {
        let tags = &mut self.rest.as_mut()?.tags;
        let k = tags.iter().position(|t| t.0 == number && t.1 == node)?;
        Some(tags.remove(k).2)
    }

    fn tag(&self, number: u64, node: u16) -> Option<u64> {
        self.tags().iter().find(|t| t.0 == number && t.1 == node).map(|t| t.2)
    }

    fn tags(&self) -> &[(u64, u16, u64)] {
        self.rest.as_ref().map_or(&[], |rest| &rest.tags)
    }

    fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }

    fn take_stores(&mut self) -> Vec<(u16, Vec<u8>)> {
        self.rest.as_mut().map(|rest| std::mem::take(&mut rest.stores)).unwrap_or_default()
    }

    fn body_port(&self, node: u16, service: ServiceKind) -> usize {
        let node = &self.model.nodes[node as usize];
        let ports = node.model.ports();
        let is_body = |k: usize| ports[k].service == service && node.ports[k] == Provider::Body;
        (0..ports.len()).find(|&k| is_body(k)).unwrap_or(0)
    }

    fn ask(
        &mut self,
        node: u16,
        port: usize,
        request: Request,
        robot: &mut dyn Robot,
        effects: &mut Effects,
    ) {
        robot.asked(node, port, &request);
        let from = &self.model.nodes[node as usize];
        match from.ports.get(port).copied().unwrap_or(Provider::Nobody) {
            Provider::Nobody => {}
            Provider::Node(to) => {
                let user = User(from.id);
                self.nodes[to as usize].request(user, request, &mut Cx { robot, effects, node: to });
            }
            Provider::Network => {
                let Request::Link(message) = request else { return };
                let (me, mut others) = (robot.me(), message.to);
                let own = others.iter().filter(|r| **r == me).count();
                if own > 0 {
                    others.retain(|r| *r != me);
                }
                if !others.is_empty() {
                    robot.send(from.id, &others, Arc::clone(&message.bytes));
                }
                // What a robot says to itself does not go over the network.
                for _ in 0..own {
                    let what = Indication::Delivered { from: me, bytes: Arc::clone(&message.bytes) };
                    self.indicate(node, port, what, robot, effects);
                }
            }
            Provider::Body => self.do_it(node, port, request, robot, effects),
        }
    }

    /// Motions and push sensors of the robot itself.
    fn do_it(
        &mut self,
        node: u16,
        port: usize,
        request: Request,
        robot: &mut dyn Robot,
        effects: &mut Effects,
    ) {
        match request {
            Request::Motion(Drive::Go { tag, motion }) => match robot.go(node, &motion) {
                Ok(task) => self.rest().tags.push((task, node, tag)),
                Err(why) => {
                    robot.say(&format!("cannot move: {why}"));
                    let what = Indication::Ended { tag, how: Ended::Replaced };
                    self.indicate(node, port, what, robot, effects);
                }
            },
            Request::Motion(Drive::Halt) => robot.halt(),
            Request::Watching(LookOut::On { tag, watch }) => match robot.watch(node, &watch) {
                Ok(number) => self.rest().tags.push((number, node, tag)),
                Err(why) => robot.say(&format!("cannot look out: {why}")),
            },
            Request::Watching(LookOut::Off { tag }) => {
                let watches: Vec<u64> =
                    self.tags().iter().filter(|t| t.1 == node && t.2 == tag).map(|t| t.0).collect();
                for watch in watches {
                    robot.unwatch(watch);
                }
                self.rest().tags.retain(|t| !(t.1 == node && t.2 == tag));
            }
            _ => {}
        }
    }

    fn tell(
        &mut self,
        node: u16,
        user: Option<User>,
        what: &Indication,
        robot: &mut dyn Robot,
        effects: &mut Effects,
    ) {
        for k in 0..self.model.nodes[node as usize].users.len() {
            let (to, port) = self.model.nodes[node as usize].users[k];
            if user.is_none_or(|u| u.0 == self.model.nodes[to as usize].id) {
                self.indicate(to, usize::from(port), what.clone(), robot, effects);
            }
        }
    }

    /// The memory of one of its protocols as bytes.
    #[must_use]
    pub fn memory_of(&self, node: u16) -> Option<Vec<u8>> {
        self.nodes.get(usize::from(node)).map(|n| n.save())
    }

    /// Its whole memory as bytes.
    #[must_use]
    pub fn save(&self) -> Vec<u8> {
        let nodes = self.nodes.iter().map(|n| n.save()).collect();
        let Rest { stores, tags } = self.rest.as_deref().cloned().unwrap_or_default();
        crate::to_bytes(&GraphImage { nodes, stores, tags })
    }

    /// Takes over a memory; on failure it is as fresh.
    ///
    /// # Errors
    /// When the bytes are no memory of such a graph.
    pub fn load(&mut self, image: &[u8]) -> Result<(), String> {
        let image: GraphImage = crate::from_bytes(image)?;
        if image.nodes.len() != self.nodes.len() {
            return Err("the memory is of a robot with other protocols".to_owned());
        }
        self.crash();
        for (node, bytes) in self.nodes.iter_mut().zip(&image.nodes) {
            node.load(bytes)?;
        }
        let empty = image.stores.is_empty() && image.tags.is_empty();
        self.rest = (!empty).then(|| Box::new(Rest { stores: image.stores, tags: image.tags }));
        Ok(())
    }
}
