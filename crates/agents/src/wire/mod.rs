//! Microprotocols over real sockets: the same graphs as in the simulator, with threads and a clock.
//!
//! In: a graph of protocols for each process, a script, and how long it may take. Out: a
//! [`Trace`] of the kind the laboratory makes, so that the same checkers judge it.
//!
//! Every process has a thread of its own and a socket on 127.0.0.1 with a port the system chose; over TCP
//! there is one connection for each ordered pair. Frames are bounded, and whatever is no frame of this run, or
//! comes from somebody else, is dropped (`frame.rs`). All threads are joined and all sockets closed when
//! [`Wire::run`] returns. What never happens: two runs give the same trace. That is what the laboratory is for.
//!
//! ```no_run
//! # use swarmyard_agents::wire::{self, Mode, Script, Settings};
//! # fn f(graph: &std::sync::Arc<swarmyard_part_api::GraphModel>) -> Result<(), wire::WireError> {
//! let mut script = Script::default();
//! script.broadcast(0.1, 0, "hello");
//! let graphs = vec![graph.clone(); 3];
//! let trace = wire::run(&graphs, Settings::new(Mode::Udp), &script, std::time::Duration::from_secs(1))?;
//! # Ok(()) }
//! ```

mod body;
mod carriage;
mod frame;
mod greeting;
mod meeting;
mod process;
mod socket;
mod talk;

pub use meeting::{Listening, Met, Others};
pub use talk::{Ear, Talk, Talker};

use body::Notes;
use process::{Runner, Who};
use socket::{Inbox, Outlet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_base::{Moment, Time};
use swarmyard_part_api::{GraphModel, Request, ToAll};
use swarmyard_radio::lab::{Trace, top};

/// Most bytes of one message.
pub const MOST_BYTES: usize = 60_000;
/// Most processes in one run.
pub const MOST_PROCESSES: usize = 64;

/// How messages travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One datagram for each message and receiver: may be lost, doubled and reordered.
    Udp,
    /// One connection for each ordered pair: nothing is lost while both live.
    Tcp,
}

/// How a run is set up.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How messages travel.
    pub mode: Mode,
    /// Share of messages that are dropped before they are sent, to make trouble.
    pub loss: f64,
    /// For that, and for the chance of protocols.
    pub seed: u64,
}

impl Settings {
    /// Without trouble.
    #[must_use]
    pub fn new(mode: Mode) -> Settings {
        Settings { mode, loss: 0.0, seed: swarmyard_base::chance::DEFAULT_SEED }
    }

    /// Drops some messages.
    #[must_use]
    pub fn losing(self, loss: f64) -> Settings {
        Settings { loss, ..self }
    }
}

/// What processes are to do, and when.
#[derive(Clone, Debug, Default)]
pub struct Script {
    /// (when, which process, what).
    steps: Vec<(Moment, u32, Step)>,
}

/// One step of a script.
#[derive(Clone, Debug)]
enum Step {
    Ask(Request),
    Crash,
    Recover,
}

impl Script {
    /// At some seconds, a process asks for something by the first port of its probe that offers the service.
    pub fn at(&mut self, seconds: f64, process: u32, request: impl Into<Request>) {
        self.push(seconds, process, Step::Ask(request.into()));
    }

    /// At some seconds, a process broadcasts a text.
    pub fn broadcast(&mut self, seconds: f64, process: u32, text: &str) {
        self.at(seconds, process, ToAll(text.as_bytes().into()));
    }

    /// At some seconds, a process loses its memory and is deaf until it recovers. Its sockets stay open.
    pub fn crash(&mut self, seconds: f64, process: u32) {
        self.push(seconds, process, Step::Crash);
    }

    /// At some seconds, it starts again with what it persisted.
    pub fn recover(&mut self, seconds: f64, process: u32) {
        self.push(seconds, process, Step::Recover);
    }

    fn push(&mut self, seconds: f64, process: u32, step: Step) {
        self.steps.push((Moment::at(Time::from_seconds(seconds)), process, step));
        self.steps.sort_by_key(|s| s.0);
    }
}

impl Script {
    /// What one process is to do.
    fn of(&self, process: u32) -> Vec<(Moment, Step)> {
        self.steps.iter().filter(|s| s.1 == process).map(|s| (s.0, s.2.clone())).collect()
    }
}

/// Why a run could not be, or not go on.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// A socket could not be had. Nothing has run.
    #[error("cannot {what}: {why}")]
    Socket {
        /// What was tried.
        what: &'static str,
        /// What the system said.
        why: std::io::Error,
    },
    /// Too many processes. Nothing has run.
    #[error("at most {MOST_PROCESSES} processes can talk, not `{0}`")]
    TooMany(usize),
    /// The script asks for something that no port of the probe offers.
    #[error("the probe of process {process} has no port for {service}")]
    NoPort {
        /// Whose.
        process: u32,
        /// For what.
        service: &'static str,
    },
    /// The protocols of a process never came to rest. All have stopped.
    #[error("protocol `{protocol}` of process {process} does not come to rest")]
    Endless {
        /// Whose.
        process: u32,
        /// Which was at work.
        protocol: String,
    },
    /// A process wants something that cannot be done over sockets. All have stopped.
    #[error("process {process} {what}")]
    Cannot {
        /// Whose.
        process: u32,
        /// What.
        what: String,
    },
    /// Some never came. Nothing has run.
    #[error(
        "nobody spoke for processes {who:?} in time; {strangers} messages came that were not for this run"
    )]
    Missing {
        /// Who was waited for.
        who: Vec<u32>,
        /// How many greetings of others there were.
        strangers: u64,
    },
    /// It was told to stop before all had met. Nothing has run.
    #[error("told to stop before all had met")]
    Stopped,
}

/// Runs protocols over sockets of this machine.
///
/// # Errors
/// When sockets cannot be had, or a graph never comes to rest.
pub fn run(
    graphs: &[Arc<GraphModel>],
    settings: Settings,
    script: &Script,
    duration: Duration,
) -> Result<Trace, WireError> {
    Wire::bind(graphs, settings)?.run(script, duration)
}

/// Processes with their sockets, not talking yet.
pub struct Wire {
    graphs: Vec<Arc<GraphModel>>,
    settings: Settings,
    /// Of each process: where it sends, and where it hears.
    ends: Vec<(Outlet, Inbox)>,
    addresses: Vec<SocketAddr>,
}

impl Wire {
    /// Opens and connects all sockets.
    ///
    /// # Errors
    /// When the system refuses one, or there are too many processes.
    pub fn bind(graphs: &[Arc<GraphModel>], settings: Settings) -> Result<Wire, WireError> {
        if graphs.len() > MOST_PROCESSES {
            return Err(WireError::TooMany(graphs.len()));
        }
        let (ends, addresses) = socket::open(graphs.len(), settings.mode)?;
        Ok(Wire { graphs: graphs.to_vec(), settings, ends, addresses })
    }

    /// Where each process hears; over TCP nobody else is let in any more.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Lets them talk for so long.
    ///
    /// # Errors
    /// When a graph never comes to rest, or the script does not fit the graphs.
    pub fn run(self, script: &Script, duration: Duration) -> Result<Trace, WireError> {
        let n = self.graphs.len() as u32;
        let (epoch, end) = (Instant::now(), Moment::ZERO.plus(duration.as_secs_f64()));
        let mut cast = Vec::new();
        for (me, (graph, (outlet, inbox))) in self.graphs.iter().zip(self.ends).enumerate() {
            let who = Who { me: me as u32, robots: n, epoch, end };
            let notes = Notes::Kept { top: top(graph), events: Vec::new() };
            let runner = Runner::new(graph, &who, (outlet, None), (self.settings, notes), script.of(who.me))?;
            cast.push((runner, inbox));
        }
        let (mut events, _) = talk::play(cast, &|| false)?;
        events.sort_by_key(|e| e.at);
        Ok(Trace { processes: n, events, end })
    }
}
