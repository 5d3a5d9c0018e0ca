//! Networks: when, and whether, a message arrives.
//!
//! A network is a state machine as well: it is handed messages and woken at moments it asked for, and says
//! through [`Air`] what becomes of each message.

use crate::Bytes;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::chance::Draw;
use swarmyard_base::{Moment, Vec2};

/// A message as a network sees it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its number: how many were sent in this run before it.
    pub serial: u64,
    /// Who sent it.
    pub from: u32,
    /// Id of the protocol it belongs to.
    pub protocol: u32,
    /// What.
    pub bytes: Bytes,
}

/// Why a message did not arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Loss {
    /// By chance.
    Chance,
    /// Sender and receiver are in different partitions.
    Partition,
    /// Out of range, or too weak behind walls.
    Range,
    /// Another transmission was in the air at the receiver.
    Collision,
    /// A queue was full.
    Full,
    /// The air was not free in any of the attempts to send.
    Busy,
    /// The receiver has crashed.
    Crashed,
}

impl Loss {
    /// The word used in text.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Loss::Chance => "chance",
            Loss::Partition => "partition",
            Loss::Range => "range",
            Loss::Collision => "collision",
            Loss::Full => "full",
            Loss::Busy => "busy",
            Loss::Crashed => "crashed",
        }
    }
}

/// What a network may look at, and what it says.
pub trait Air {
    /// Now.
    fn now(&self) -> Moment;
    /// How many robots there are.
    fn robots(&self) -> u32;
    /// Where a robot is now; `None` when it is gone.
    fn place(&self, robot: u32) -> Option<Vec2>;
    /// Walls and obstacles on the straight line between two points: how many edges it crosses, and the length
    /// of it inside solid obstacles, m. Robots do not count.
    fn obstructed(&self, a: Vec2, b: Vec2) -> (u32, f64);
    /// Random numbers of one message and receiver: of the run's seed, the message's serial and the receiver,
    /// and of nothing else. Asked later they are the same.
    fn chance(&self, message: &Message, to: u32) -> Draw;
    /// Random numbers of a pair of robots, the same at any time. Their place is the end of the serials, where no
    /// message ever comes to.
    fn pair_chance(&self, a: u32, b: u32) -> Draw {
        let serial = u64::MAX - (u64::from(a) << 32 | u64::from(b));
        self.chance(&Message { serial, from: a, protocol: 0, bytes: Arc::new([]) }, b)
    }
    /// The message arrives at a robot, now or later.
    fn deliver(&mut self, message: &Message, to: u32, at: Moment);
    /// The message is lost for a robot.
    fn lose(&mut self, message: &Message, to: u32, why: Loss);
    /// Wants to be woken, now or later.
    fn wake(&mut self, at: Moment, token: u64);
}

/// What goes wrong with a network from some moment on. It counts for every message whose arrival the network
/// decides after that moment.
#[derive(Clone, Debug, PartialEq)]
pub enum NetFault {
    /// Only robots of the same group reach each other. Robots in none of the groups are one more group.
    Partition(Vec<Vec<u32>>),
    /// The partition ends.
    Heal,
    /// Each copy of a message is lost with this probability, besides what the network loses itself; 0 ends it.
    Loss(f64),
    /// Each message takes so many seconds longer; 0 ends it.
    Delay(f64),
}

/// A class of networks with its parameters.
pub trait NetworkModel: Send + Sync {
    /// A fresh one for a run with so many robots.
    fn start(&self, robots: u32) -> Box<dyn Network>;
}

/// A network at work.
pub trait Network: Send {
    /// A robot hands over a message for these robots (never itself, never twice).
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air);

    /// A moment it asked for has come.
    fn wake(&mut self, _token: u64, _air: &mut dyn Air) {}

    /// Something goes wrong with it, or right again, from now on. Every registered class does as told; one that does
    /// not know how ignores it.
    fn fault(&mut self, _fault: &NetFault) {}

    /// Which robots could hear each other now, as pairs (lower, higher): what displays draw as links. `None` when
    /// it does not depend on the place: everybody can.
    fn links(&self, _air: &dyn Air) -> Option<Vec<(u32, u32)>> {
        None
    }

    /// Its whole memory as bytes.
    fn save(&self) -> Vec<u8>;

    /// Takes over a memory.
    ///
    /// # Errors
    /// When the bytes are no memory of such a network.
    fn load(&mut self, image: &[u8]) -> Result<(), String>;
}
