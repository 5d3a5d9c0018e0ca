//! Robots of a world that talk: all of them here, or some here and the others in other processes.
//!
//! In: the robots of this process with their protocols, motion modules and sensors, and their sockets. Out: every
//! event, told to an [`Ear`] at the moment it happens, before what follows from it. Nothing is kept here.

use super::body::Notes;
use super::carriage::Carriage;
use super::meeting::Met;
use super::process::{Runner, Who};
use super::socket::{self, Inbox, Outlet};
use super::{MOST_PROCESSES, Script, Settings, WireError};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};
use swarmyard_base::{Moment, Pose2};
use swarmyard_part_api::{Equipment, GraphModel};
use swarmyard_radio::lab::Event;

/// How often it is asked whether all are to stop.
const GLANCE: Duration = Duration::from_millis(20);

/// Who hears of every event. Processes wait while it listens.
pub type Ear = Arc<Mutex<dyn FnMut(&Event) + Send>>;

/// A robot that talks in this process.
pub struct Talker {
    /// Its number among all robots of the world that live by events.
    pub number: u32,
    /// Its protocols.
    pub graph: Arc<GraphModel>,
    /// (node, port) of its protocols whose requests and indications are told; the place in this list is the port
    /// of the event.
    pub uses: Vec<(u16, u16)>,
    /// Where it stands.
    pub start: Pose2,
    /// What moves it, and its sensors.
    pub equipment: Equipment,
}

/// Robots with their sockets, not talking yet.
pub struct Talk {
    talkers: Vec<Talker>,
    robots: u32,
    settings: Settings,
    ends: Vec<(Outlet, Inbox)>,
    addresses: Vec<SocketAddr>,
}

impl Talk {
    /// All robots of a world, numbered from 0 in this order, on sockets of 127.0.0.1.
    ///
    /// # Errors
    /// When the system refuses a socket, or there are too many robots.
    pub fn here(talkers: Vec<Talker>, settings: Settings) -> Result<Talk, WireError> {
        if talkers.len() > MOST_PROCESSES {
            return Err(WireError::TooMany(talkers.len()));
        }
        let (ends, addresses) = socket::open(talkers.len(), settings.mode)?;
        let robots = talkers.len() as u32;
        Ok(Talk { talkers, robots, settings, ends, addresses })
    }

    /// Some robots, which have met those of other processes, in the order in which they listened.
    #[must_use]
    pub fn with_others(talkers: Vec<Talker>, settings: Settings, met: Met) -> Talk {
        let Met { ends, addresses, robots } = met;
        Talk { talkers, robots, settings, ends, addresses }
    }

    /// Where the robots of this process hear.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Lets them talk for so long, or until they are to stop; answers when that was.
    ///
    /// # Errors
    /// When a graph never comes to rest, or wants something that cannot be done over sockets.
    pub fn run(
        self,
        script: &Script,
        duration: Duration,
        over: &(dyn Fn() -> bool + Sync),
        ear: &Ear,
    ) -> Result<Moment, WireError> {
        let (epoch, end) = (Instant::now(), Moment::ZERO.plus(duration.as_secs_f64()));
        let mut cast = Vec::new();
        for (talker, (outlet, inbox)) in self.talkers.into_iter().zip(self.ends) {
            let who = Who { me: talker.number, robots: self.robots, epoch, end };
            let carriage = Carriage::new(talker.start, talker.equipment);
            let notes = Notes::Told { uses: talker.uses, ear: Arc::clone(ear) };
            let ends = (outlet, Some(carriage));
            let runner =
                Runner::new(&talker.graph, &who, ends, (self.settings, notes), script.of(talker.number))?;
            cast.push((runner, inbox));
        }
        play(cast, over).map(|(_, end)| end)
    }
}

/// Lets processes live, each on a thread of its own. Answers what they kept, and when the last one ended. All
/// threads are joined.
pub(super) fn play(
    cast: Vec<(Runner, Inbox)>,
    over: &(dyn Fn() -> bool + Sync),
) -> Result<(Vec<Event>, Moment), WireError> {
    let (halt, stop) = (AtomicBool::new(false), AtomicBool::new(false));
    let outcomes = thread::scope(|scope| {
        let mut threads = Vec::new();
        for (runner, inbox) in cast {
            // A full queue makes the readers wait, and UDP lose.
            let (tx, rx) = std::sync::mpsc::sync_channel(4096);
            inbox.listen(scope, &stop, &tx);
            let halt = &halt;
            threads.push(scope.spawn(move || runner.live(&rx, halt)));
        }
        while !threads.iter().all(thread::ScopedJoinHandle::is_finished) {
            if over() {
                halt.store(true, Ordering::Relaxed);
            }
            thread::sleep(GLANCE);
        }
        let outcomes: Vec<_> = threads.into_iter().map(thread::ScopedJoinHandle::join).collect();
        stop.store(true, Ordering::Relaxed);
        outcomes
    });
    let (mut events, mut last) = (Vec::new(), Moment::ZERO);
    for outcome in outcomes {
        // A panic of a protocol is a mistake in the program: it goes on here.
        let (kept, end) = outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        events.extend(kept);
        last = last.max(end);
    }
    Ok((events, last))
}
