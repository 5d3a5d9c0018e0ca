//! What the keeper of a run and its workers say to each other.
//!
//! Orders may be said twice, come late, or come twice: each says all that the worker needs to know from then on.

use crate::parcel::{Lengths, Slip};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use swarmyard_agents::Shown;
use swarmyard_base::Uid;
use swarmyard_engine::{
    Area, Charge, Cut, Frame, Gesture, Input, InputKind, Intent, Margins, Parcel, Part, Sighting, Spent,
};
use swarmyard_sim::ElsewhereFigures;

/// The keeper's number as a sender.
pub(crate) const KEEPER: u32 = u32::MAX - 1;

/// What the keeper tells a worker.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Begin an epoch.
    Begin(Box<Begin>),
    /// Begin this epoch, whose order is too long for one message.
    BeginInPieces(u32, Slip),
    /// Go on.
    Grant(Grant),
    /// The run is over.
    End,
}

impl Order {
    /// The epoch that it begins.
    pub(crate) fn begins(&self) -> Option<u32> {
        match self {
            Order::Begin(begin) => Some(begin.epoch),
            Order::BeginInPieces(epoch, _) => Some(*epoch),
            Order::Grant(_) | Order::End => None,
        }
    }
}

/// A worker's part in an epoch.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Begin {
    pub(crate) epoch: u32,
    /// The workers of this epoch, by their place in the cut.
    pub(crate) members: Vec<u32>,
    /// Hash of the compiled world, as the keeper has it.
    pub(crate) hash: u64,
    /// Who has its texts and code.
    pub(crate) source: u32,
    pub(crate) cut: Cut,
    pub(crate) margins: Margins,
    pub(crate) task: Task,
    /// Code that came while running: type, controller, bytes.
    pub(crate) code: Vec<(u32, u32, Vec<u8>)>,
    /// Where native programs run, when they go on from where they are; else all are led through their past.
    pub(crate) homes: Option<Vec<Home>>,
    /// What is too long for one message, and how long pieces are.
    pub(crate) lengths: Lengths,
    pub(crate) grant: Grant,
}

/// What a worker has to do.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Task {
    /// Its share of a divided world.
    Share(Charge),
    /// All of a world that is not divided, from this snapshot on.
    Whole(Vec<u8>),
}

/// How far workers may go.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Grant {
    pub(crate) epoch: u32,
    /// The last stop they may reach.
    pub(crate) until: u64,
    /// The first stop of which `inputs` has everything.
    pub(crate) from: u64,
    /// What enters at the stops from there up to `until`.
    pub(crate) inputs: Vec<Input>,
    /// Bodies are shown at every so many stops; 0 for never.
    pub(crate) show_every: u64,
    /// Everything is packed for a checkpoint at every so many stops.
    pub(crate) keep_every: u64,
    /// And at this one, which nobody has been granted before.
    pub(crate) keep_at: Option<u64>,
}

impl Grant {
    /// One of no epoch, which changes nothing for who hears it.
    pub(crate) fn none() -> Grant {
        let (inputs, keep_at) = (Vec::new(), None);
        Grant { epoch: 0, until: 0, from: 0, inputs, show_every: 0, keep_every: 0, keep_at }
    }
}

/// What a worker says when it is ready, or cannot go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Notice {
    /// It has begun an epoch.
    Ready,
    /// It waits for the commands of these robots.
    Blocked {
        /// The stop that waits.
        stop: u64,
        /// Who.
        robots: Vec<Uid>,
    },
    /// It has sent its own messages of this number, and waits in vain for those of others.
    Misses {
        /// The number.
        number: u64,
        /// Who.
        who: Vec<u32>,
    },
    /// A body went farther than the margins say.
    Farther,
    /// Why it cannot do its part.
    Failed(String),
}

/// A notice with who and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Signed {
    pub(crate) epoch: u32,
    pub(crate) worker: u32,
    pub(crate) notice: Notice,
}

/// A worker's report of one stop.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) done: Done,
    /// What programs of its robots decided, which entered at the stop before.
    pub(crate) inputs: Vec<InputKind>,
    pub(crate) load: Load,
    /// What it sent to neighbours since the last report.
    pub(crate) links: Vec<Sent>,
    /// What modules of its robots on other hosts cost since then.
    pub(crate) elsewhere: Vec<ElsewhereFigures>,
    /// Where programs of its robots run, at a checkpoint.
    pub(crate) homes: Vec<Home>,
    /// What bodies cost that were measured since it was last told: number, sum, quanta.
    pub(crate) spent: Vec<(u32, Spent, u32)>,
    /// What it did not let in since it began, by kind: a report that is lost with its epoch takes nothing along.
    pub(crate) refused: Vec<(u8, u64)>,
    /// Whether it has a folder for what outlives the keeper.
    pub(crate) holds: bool,
}

/// What a worker sent to one neighbour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Sent {
    /// The neighbour's number.
    pub(crate) to: u32,
    pub(crate) messages: u32,
    pub(crate) bytes: u32,
}

/// What came of a step.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Done {
    /// Its part; and its bodies, when they are to be shown, with memories when they are to be kept.
    Part(Part, Option<Vec<Parcel>>),
    /// All of it; and a snapshot, when it is to be shown or kept.
    Whole(Frame, Option<Vec<u8>>),
}

/// What one worker did in one step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Load {
    /// Bodies it has.
    pub(crate) own: u32,
    /// Ghosts it knows.
    pub(crate) ghosts: u32,
    /// Microseconds at work.
    pub(crate) work_us: u32,
    /// Microseconds of waiting for neighbours.
    pub(crate) wait_us: u32,
    /// How often it had to ask for more than it was told.
    pub(crate) widened: u32,
    /// How many of its bodies have gone to others since the report before.
    pub(crate) handed_on: u32,
    /// How often it asked again for what had not come.
    pub(crate) asked: u32,
    /// Decisions of programs that run with other workers.
    pub(crate) from_home: u32,
    /// Microseconds that asking for them took.
    pub(crate) home_us: u32,
}

/// What a worker sends to one neighbour, once per quantum.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Lane {
    /// What bodies intend, and what hands do.
    Intents(Vec<Intent>, Vec<Gesture>),
    /// Bodies that change hands, others that can be seen, and where programs of the first run.
    Hands { bodies: Vec<Parcel>, seen: Vec<(u32, Sighting)>, homes: Vec<Home> },
}

/// Where a native program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Home {
    pub(crate) robot: Uid,
    /// Which of the robot's controllers it is.
    pub(crate) controller: u32,
    /// The worker that runs it.
    pub(crate) worker: u32,
}

/// A question for what programs decide whose robots are with who asks. The answer is an answer for each.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Ask {
    pub(crate) epoch: u32,
    pub(crate) stop: u64,
    /// Length of the quantum in microseconds.
    pub(crate) tick_us: u32,
    /// Whether to wait a moment for the answers.
    pub(crate) waits: bool,
    pub(crate) shown: Vec<Shown>,
}

/// A question for what bodies in an area intend.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Near {
    pub(crate) epoch: u32,
    pub(crate) stop: u64,
    pub(crate) area: Area,
}

/// Bytes of a message. Plain data into a growing buffer cannot fail.
pub(crate) fn write<T: Serialize>(message: &T) -> Vec<u8> {
    postcard::to_allocvec(message).unwrap_or_default()
}

/// A message from bytes; `None` for what is none.
pub(crate) fn read<T: DeserializeOwned>(bytes: &[u8]) -> Option<T> {
    postcard::from_bytes(bytes).ok()
}

pub(crate) fn order_key(run: u64, worker: u32) -> String {
    format!("swarm/run/{run}/workers/order/{worker}")
}

pub(crate) fn notice_key(run: u64, worker: u32) -> String {
    format!("swarm/run/{run}/workers/notice/{worker}")
}

pub(crate) fn near_key(run: u64, worker: u32) -> String {
    format!("swarm/run/{run}/workers/near/{worker}")
}

/// The key under which a worker answers for programs whose robots are with another.
pub(crate) fn home_key(run: u64, home: u32, asks: u32) -> String {
    format!("swarm/run/{run}/workers/home/{home}/{asks}")
}

/// The key under which somebody is asked for a piece of what is too long for one message.
pub(crate) fn piece_key(run: u64, member: u32) -> String {
    format!("swarm/run/{run}/workers/piece/{member}")
}

/// The key under which somebody is asked for the world that it has.
pub(crate) fn world_key(run: u64, member: u32) -> String {
    format!("swarm/run/{run}/workers/world/{member}")
}

/// The key under which a worker is asked to keep what outlives the keeper.
pub(crate) fn keep_key(run: u64, worker: u32) -> String {
    format!("swarm/run/{run}/workers/keep/{worker}")
}

/// The key under which a worker says what it has done so far.
pub(crate) fn figures_key(run: u64, worker: u32) -> String {
    format!("swarm/run/{run}/workers/figures/{worker}")
}

/// The key under which a worker shows that it is alive.
pub(crate) fn live_key(run: u64, worker: u32) -> String {
    format!("swarm/run/{run}/live/{worker}")
}
