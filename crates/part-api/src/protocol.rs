//! Microprotocols: what one offers, what it uses, and what it may do.
//!
//! A microprotocol is a state machine without input or output of its own: one handler call is one atomic
//! step, and its only effects are those of [`Cx`]: requests to protocols below, indications to those above,
//! timers, chance, and words in the log. So the same object runs in the simulator, over real sockets and in
//! a model checker. An algorithm is a microprotocol that offers nothing.
//!
//! Protocols know each other by *services* only ([`Service`]), never by class: whoever composes them
//! chooses who provides what ([`GraphModel`](crate::GraphModel)).

use crate::graph::Effects;
use crate::{Answer, Ended, Motion, Note, Pending, Push, Query, Robot, Watch};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use smallvec::{SmallVec, smallvec};
use std::marker::PhantomData;
use std::sync::Arc;
use swarmyard_base::chance::Draw;
use swarmyard_base::{Diagnostic, Moment};

/// Bytes on their way.
pub type Bytes = Arc<[u8]>;

/// Numbers of robots that something is for: a few take no memory of their own.
pub type Recipients = SmallVec<[u32; 4]>;

/// What one protocol can do for another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ServiceKind {
    /// Messages to named robots.
    Link,
    /// Messages to all robots, with whatever guarantee the provider gives.
    Broadcast,
    /// Agreement on one value per instance.
    Consensus,
    /// Who seems to have failed.
    Detector,
    /// Who leads.
    Leader,
    /// One at a time.
    Mutex,
    /// Who is in the group.
    Membership,
    /// What time it is, for all robots alike.
    Clock,
    /// Motions of the robot.
    Motion,
    /// Push sensors of the robot.
    Watching,
    /// Whatever two protocols of one author agree on.
    Custom,
}

impl ServiceKind {
    /// The word used in text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            ServiceKind::Link => "link",
            ServiceKind::Broadcast => "broadcast",
            ServiceKind::Consensus => "consensus",
            ServiceKind::Detector => "detector",
            ServiceKind::Leader => "leader",
            ServiceKind::Mutex => "mutex",
            ServiceKind::Membership => "membership",
            ServiceKind::Clock => "clock",
            ServiceKind::Motion => "motion",
            ServiceKind::Watching => "watching",
            ServiceKind::Custom => "custom",
        }
    }
}

/// A service, as a type: what may be asked of it.
pub trait Service {
    /// Its kind.
    const KIND: ServiceKind;
    /// What users ask of it.
    type Request: Into<Request>;
}

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident($request:ty) = $kind:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Service for $name {
            const KIND: ServiceKind = ServiceKind::$kind;
            type Request = $request;
        }
        impl From<$request> for Request {
            fn from(request: $request) -> Request {
                Request::$kind(request)
            }
        }
    )*};
}

services! {
    /// Messages to named robots.
    Link(ToRobots) = Link;
    /// Messages to all robots.
    Broadcast(ToAll) = Broadcast;
    /// Agreement.
    Consensus(Propose) = Consensus;
    /// Who seems to have failed.
    Detector(Monitor) = Detector;
    /// Who leads.
    Leader(Elect) = Leader;
    /// One at a time.
    Mutex(Exclusion) = Mutex;
    /// Who is in the group.
    Membership(Group) = Membership;
    /// What time it is, for all robots alike.
    Clock(ReadClock) = Clock;
    /// Motions of the robot.
    Moving(Drive) = Motion;
    /// Push sensors of the robot.
    Watching(LookOut) = Watching;
    /// Whatever two protocols of one author agree on.
    Custom(Private) = Custom;
}

/// Sends bytes to these robots.
#[derive(Clone, Debug, PartialEq)]
pub struct ToRobots {
    /// Numbers of the robots; itself may be among them.
    pub to: Recipients,
    /// What.
    pub bytes: Bytes,
}

/// Sends bytes to all robots, itself among them.
#[derive(Clone, Debug, PartialEq)]
pub struct ToAll(pub Bytes);

/// Proposes a value in an instance of consensus.
#[derive(Clone, Debug, PartialEq)]
pub struct Propose {
    /// Which instance.
    pub instance: u64,
    /// What.
    pub value: Bytes,
}

/// Starts to look after all others (detectors do so by themselves from the start).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitor;

/// Wants an election.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elect;

/// Wants to be alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exclusion {
    /// Wants in.
    Enter,
    /// Is out again.
    Leave,
}

/// Wants the group changed, or something said in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Group {
    /// Joins.
    Join,
    /// Leaves.
    Quit,
    /// Wants another one out.
    Exclude(u32),
    /// Sends bytes to all in the group: whoever sees this view and the next delivers the same between them.
    Cast(Bytes),
}

/// Wants to know what the clock shows. Each of them is answered once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReadClock {
    /// Now.
    Now,
    /// When it shows so many seconds; at once when it does already.
    At(f64),
}

/// Wants the robot moved.
#[derive(Clone, Debug)]
pub enum Drive {
    /// Begins a motion, in place of the one under way. `tag` comes back with its end.
    Go {
        /// The user's own number for it.
        tag: u64,
        /// The motion.
        motion: Motion,
    },
    /// Stops where it is.
    Halt,
}

/// Wants a push sensor switched on or off.
#[derive(Clone, Debug, PartialEq)]
pub enum LookOut {
    /// On. `tag` comes back with every push.
    On {
        /// The user's own number for it.
        tag: u64,
        /// What for.
        watch: Watch,
    },
    /// Off.
    Off {
        /// The number it was switched on with.
        tag: u64,
    },
}

/// Whatever two protocols of one author agree on.
#[derive(Clone, Debug, PartialEq)]
pub struct Private(pub Bytes);

/// A request, whatever the service.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is the request of the service of that name")]
pub enum Request {
    Link(ToRobots),
    Broadcast(ToAll),
    Consensus(Propose),
    Detector(Monitor),
    Leader(Elect),
    Mutex(Exclusion),
    Membership(Group),
    Clock(ReadClock),
    Motion(Drive),
    Watching(LookOut),
    Custom(Private),
}

/// What a provider tells its users.
#[derive(Clone, Debug, PartialEq)]
pub enum Indication {
    /// Of a link or a broadcast: bytes came from a robot.
    Delivered {
        /// Who sent them.
        from: u32,
        /// What.
        bytes: Bytes,
    },
    /// Of consensus: this instance is decided.
    Decided {
        /// Which instance.
        instance: u64,
        /// What.
        value: Bytes,
    },
    /// Of a detector: this robot seems to have failed.
    Suspected(u32),
    /// Of a detector: it does not seem so any more.
    Trusted(u32),
    /// Of a leader service: this robot leads now.
    Leads(u32),
    /// Of mutual exclusion: it is alone until it leaves.
    Entered,
    /// Of membership: a new view of the group.
    View {
        /// Its number.
        number: u64,
        /// Who is in it, ascending.
        members: Vec<u32>,
    },
    /// Of a clock: what it shows.
    Clock {
        /// Seconds that it shows now.
        reading_s: f64,
        /// How far it is at most from a time that is the same for all robots, so that two clocks differ by no more
        /// than both their errors; `None` while it cannot say.
        error_s: Option<f64>,
    },
    /// Of motion: how it ended.
    Ended {
        /// The user's own number for it.
        tag: u64,
        /// How.
        how: Ended,
    },
    /// Of motion: an event of a motion pattern on the way; the motion goes on.
    Passed {
        /// The user's own number for the motion.
        tag: u64,
        /// The event's name.
        name: String,
    },
    /// Of a push sensor: it fired.
    Pushed {
        /// The user's own number for it.
        tag: u64,
        /// What it saw.
        push: Push,
    },
    /// Whatever two protocols of one author agree on.
    Custom(Bytes),
}

/// Who asked: the user's id, which is the same on every robot whose protocol has that name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct User(pub u32);

/// A use of a service: the number of the port, and as what it is used.
#[derive(Debug)]
pub struct Port<S> {
    /// Its place in [`ProtocolModel::ports`].
    pub number: usize,
    service: PhantomData<fn() -> S>,
}

impl<S> Clone for Port<S> {
    fn clone(&self) -> Port<S> {
        *self
    }
}
impl<S> Copy for Port<S> {}

impl<S: Service> Port<S> {
    /// The port with this place in [`ProtocolModel::ports`].
    #[must_use]
    pub const fn new(number: usize) -> Port<S> {
        Port { number, service: PhantomData }
    }
}

/// What a protocol says about one of its ports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortSpec {
    /// The parameter of the scenario that names the provider.
    pub name: &'static str,
    /// What must be provided.
    pub service: ServiceKind,
    /// Whether it may be left unconnected.
    pub optional: bool,
}

impl PortSpec {
    /// A port that must be connected.
    #[must_use]
    pub const fn new(name: &'static str, service: ServiceKind) -> PortSpec {
        PortSpec { name, service, optional: false }
    }

    /// A port that may be left unconnected.
    #[must_use]
    pub const fn optional(name: &'static str, service: ServiceKind) -> PortSpec {
        PortSpec { name, service, optional: true }
    }
}

/// With whom a protocol is put together.
#[derive(Clone, Copy, Debug)]
pub struct Company<'a> {
    /// How many robots there are.
    pub robots: u32,
    /// Names of the protocols and algorithms of the same robot that use it.
    pub users: &'a [&'a str],
    /// Numbers of the robots that have a protocol of its name, rising; none where nobody runs it, and nobody is a stranger then.
    pub peers: &'a [u32],
}

impl Company<'_> {
    /// What is wrong with a parameter that names this robot: it must have the protocol.
    #[must_use]
    pub fn stranger(&self, key: &'static str, robot: u32) -> Option<Diagnostic> {
        if self.peers.is_empty() || self.peers.binary_search(&robot).is_ok() {
            return None;
        }
        let what = format!("`{key}` names robot `{robot}`, which does not have this protocol");
        Some(Diagnostic::error("unknown-robot", what).help(self.those()))
    }

    /// Which robots have the protocol, in words.
    #[must_use]
    pub fn those(&self) -> String {
        let peers = self.peers;
        match peers {
            [one] => format!("only robot {one} has it; robots count from 0"),
            [first, .., last] if (last - first) as usize + 1 == peers.len() => {
                format!("robots {first} to {last} have it; robots count from 0")
            }
            _ => {
                let some: Vec<String> = peers.iter().take(12).map(u32::to_string).collect();
                let more = if peers.len() > 12 { " …" } else { "" };
                format!("those that have it are {}{more}; robots count from 0", some.join(" "))
            }
        }
    }
}

/// A class of protocols with its parameters: shared by all robots of a type.
pub trait ProtocolModel: Send + Sync {
    /// What it offers; nothing, if it is an algorithm on top.
    fn provides(&self) -> Option<ServiceKind>;

    /// What it uses.
    fn ports(&self) -> Vec<PortSpec>;

    /// A fresh one for a robot.
    fn start(&self) -> Box<dyn Microprotocol>;

    /// Questions it cannot do without: a robot none of whose sensors answers one of them is refused.
    fn asks(&self) -> Vec<Query> {
        Vec::new()
    }

    /// What is wrong with the company it is in: each with the parameter that does not go with it.
    fn misfits(&self, _company: &Company<'_>) -> Vec<(&'static str, Diagnostic)> {
        Vec::new()
    }

    /// Whether it wants [`Microprotocol::overheard`].
    fn overhears(&self) -> bool {
        false
    }

    /// Whether all that is told of its robot is what somebody wrote down, by [`Cx::retell`], and not what the simulator
    /// sees it do.
    fn retells(&self) -> bool {
        false
    }

    /// Type and content of one of its messages to itself on other robots, for logs.
    fn show(&self, bytes: &[u8]) -> (String, String) {
        (String::from("DATA"), format!("{} bytes", bytes.len()))
    }

    /// The code it was made of, when that is not part of this program: (name, bytes). It is kept with a recording.
    fn made_of(&self) -> Option<(&str, &[u8])> {
        None
    }

    /// What whoever answers [`Cx::ask`] has to know about it.
    fn outside(&self) -> Option<&dyn std::any::Any> {
        None
    }
}

/// One robot's running protocol.
pub trait Microprotocol: Send {
    /// The run begins, or the robot has come back after a crash with an empty memory.
    fn start(&mut self, _cx: &mut Cx<'_>) {}

    /// A protocol above asks for something.
    fn request(&mut self, _user: User, _request: Request, _cx: &mut Cx<'_>) {}

    /// A protocol below (or the network, or the body) has something to tell.
    fn indication(&mut self, _port: usize, _what: Indication, _cx: &mut Cx<'_>) {}

    /// A message came from a robot over the network, for whichever protocol: only for those whose model
    /// [overhears](ProtocolModel::overhears), and before the message is handed over.
    fn overheard(&mut self, _from: u32, _cx: &mut Cx<'_>) {}

    /// A timer of its own has run out.
    fn timer(&mut self, _timer: u64, _cx: &mut Cx<'_>) {}

    /// The program outside has answered what was asked by [`Cx::ask`].
    fn answered(&mut self, _answer: &[u8], _cx: &mut Cx<'_>) {}

    /// Its whole memory as bytes.
    fn save(&self) -> Vec<u8>;

    /// Takes over a memory.
    ///
    /// # Errors
    /// When the bytes are no memory of such a protocol.
    fn load(&mut self, image: &[u8]) -> Result<(), String>;
}

/// The two functions every plain state machine has in common. Use inside `impl Microprotocol for …`.
#[macro_export]
macro_rules! memory_is_serde {
    () => {
        fn save(&self) -> Vec<u8> {
            $crate::to_bytes(self)
        }
        fn load(&mut self, image: &[u8]) -> Result<(), String> {
            *self = $crate::from_bytes(image)?;
            Ok(())
        }
    };
}

/// A value as bytes, for messages and memories.
///
/// # Panics
/// Never for plain data: there is nothing in it that has no bytes.
#[must_use]
pub fn to_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    postcard::to_allocvec(value).unwrap_or_else(|e| unreachable!("plain data has bytes: {e}"))
}

/// A value as bytes that are shared.
#[must_use]
pub fn to_shared<T: Serialize>(value: &T) -> Bytes {
    // Most messages are short: those never need a buffer of their own.
    let mut buffer = [0; 256];
    match postcard::to_slice(value, &mut buffer) {
        Ok(bytes) => Bytes::from(&*bytes),
        Err(_) => to_bytes(value).into(),
    }
}

/// A value from bytes.
///
/// # Errors
/// When the bytes are not such a value.
pub fn from_bytes<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
    postcard::from_bytes(bytes).map_err(|e| format!("these bytes are not what was expected: {e}"))
}

/// What a protocol may do in one step.
pub struct Cx<'a> {
    pub(crate) robot: &'a mut dyn Robot,
    pub(crate) effects: &'a mut Effects,
    pub(crate) node: u16,
}

impl Cx<'_> {
    /// Now.
    #[must_use]
    pub fn now(&self) -> Moment {
        self.robot.now()
    }

    /// This robot's number.
    #[must_use]
    pub fn me(&self) -> u32 {
        self.robot.me()
    }

    /// How many robots there are.
    #[must_use]
    pub fn robots(&self) -> u32 {
        self.robot.robots()
    }

    /// All robots.
    #[must_use]
    pub fn all(&self) -> Vec<u32> {
        (0..self.robots()).collect()
    }

    /// All robots but this one.
    #[must_use]
    pub fn others(&self) -> Vec<u32> {
        (0..self.robots()).filter(|r| *r != self.me()).collect()
    }

    /// Since when a robot is down, where somebody knows: see [`Robot::down_since`].
    #[must_use]
    pub fn down_since(&self, robot: u32) -> Option<Moment> {
        self.robot.down_since(robot)
    }

    /// Random numbers that nobody else draws: a new address with every call.
    pub fn chance(&mut self) -> Draw {
        self.robot.chance()
    }

    /// Says something in the log.
    pub fn say(&mut self, text: &str) {
        self.robot.say(text);
    }

    /// Tells what was written down about a robot: see [`Robot::retell`].
    pub fn retell(&mut self, robot: u32, what: Note) {
        self.robot.retell(robot, what);
    }

    /// Says that it has failed and does nothing more: see [`Robot::failed`].
    pub fn failed(&mut self, why: &str) {
        self.robot.failed(why);
    }

    /// Asks a protocol below (or the network, or the body) for something; it happens after this step, at the
    /// same moment.
    pub fn request<S: Service>(&mut self, port: Port<S>, request: S::Request) {
        self.effects.request(self.node, port.number, request.into());
    }

    /// The same without its type, for whoever takes requests from elsewhere; one that does not go with the service at the
    /// port is not answered.
    pub fn request_any(&mut self, port: usize, request: Request) {
        self.effects.request(self.node, port, request);
    }

    /// Sends a message over a link.
    pub fn send<M: Serialize>(&mut self, port: Port<Link>, to: Vec<u32>, message: &M) {
        self.request(port, ToRobots { to: to.into(), bytes: to_shared(message) });
    }

    /// Sends a message to one robot.
    pub fn send_to<M: Serialize>(&mut self, port: Port<Link>, robot: u32, message: &M) {
        self.request(port, ToRobots { to: smallvec![robot], bytes: to_shared(message) });
    }

    /// Sends a message to all robots, this one among them.
    pub fn broadcast<M: Serialize>(&mut self, port: Port<Broadcast>, message: &M) {
        self.request(port, ToAll(to_shared(message)));
    }

    /// Begins a motion.
    pub fn go(&mut self, port: Port<Moving>, tag: u64, motion: Motion) {
        self.request(port, Drive::Go { tag, motion });
    }

    /// Tells one user something, after this step.
    pub fn indicate(&mut self, user: User, what: Indication) {
        self.effects.indicate(self.node, Some(user), what);
    }

    /// Tells all users something, after this step.
    pub fn tell_all(&mut self, what: Indication) {
        self.effects.indicate(self.node, None, what);
    }

    /// Wants its [`Microprotocol::timer`] called after some seconds; answers the timer's number.
    pub fn set_timer(&mut self, after_s: f64) -> u64 {
        self.robot.set_timer(self.node, after_s)
    }

    /// Does not want it any more.
    pub fn cancel_timer(&mut self, timer: u64) {
        self.robot.cancel_timer(timer);
    }

    /// Asks a pull sensor.
    ///
    /// # Errors
    /// When the robot has no such sensor.
    pub fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        self.robot.pull(query)
    }

    /// What is going to happen to a robot.
    #[must_use]
    pub fn pending(&self, robot: u32) -> Vec<Pending> {
        self.robot.pending(robot)
    }

    /// Shows a light that others see.
    pub fn shine(&mut self, light: u8) {
        self.robot.shine(light);
    }

    /// Asks the program outside of this one that decides for this protocol; the answer comes as
    /// [`Microprotocol::answered`], at the same moment.
    pub fn ask(&mut self, question: &[u8]) {
        self.robot.ask(self.node, question);
    }

    /// Writes to what survives a crash; there is one such store per protocol.
    pub fn persist<M: Serialize>(&mut self, memory: &M) {
        self.effects.persist(self.node, to_bytes(memory));
    }

    /// What was written to it last.
    #[must_use]
    pub fn persisted<M: DeserializeOwned>(&self) -> Option<M> {
        self.effects.persisted(self.node).and_then(|bytes| from_bytes(bytes).ok())
    }
}
