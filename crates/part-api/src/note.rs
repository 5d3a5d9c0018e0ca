//! What there is to tell about a robot that lives by events.
//!
//! The simulator makes notes of what happens, when somebody wants them; an algorithm that plays back what happened
//! elsewhere tells them itself ([`Cx::retell`](crate::Cx::retell)).

use crate::{Loss, Motion, Query, Watch, WatchFor};
use swarmyard_base::{Uid, Vec2};

/// What happened.
#[derive(Clone, Debug)]
pub enum Note {
    /// An algorithm asked for a motion.
    Wanted {
        /// The task's number.
        task: u64,
        /// The motion.
        motion: Motion,
    },
    /// A motion began, went on, or ended.
    Row(Row),
    /// An algorithm asked a sensor.
    Asked(Query),
    /// A push sensor was switched on or off.
    Watched(Option<Watch>),
    /// A push sensor fired.
    Pushed {
        /// In words.
        text: String,
        /// What it looked out for.
        what: WatchFor,
        /// Where it found something, if it says so.
        found: Vec<Vec2>,
    },
    /// It handed a message to the network.
    Sent {
        /// The message's number.
        serial: u64,
        /// For whom.
        to: Vec<u32>,
        /// Name of the protocol.
        protocol: String,
        /// Type of the message.
        label: String,
        /// What is in it.
        content: String,
        /// How long it is.
        bytes: usize,
    },
    /// A message came.
    Received {
        /// The message's number.
        serial: u64,
        /// Who sent it.
        from: u32,
        /// Name of the protocol.
        protocol: String,
        /// Type of the message.
        label: String,
        /// What is in it.
        content: String,
    },
    /// A message for it was lost.
    Lost {
        /// The message's number.
        serial: u64,
        /// Who sent it.
        from: u32,
        /// Why.
        why: Loss,
    },
    /// It said something.
    Said(String),
    /// It crashed, recovered, never came to rest, or fell into a hole.
    Became(&'static str),
}

/// One row about a motion, with what the paper's log has.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What the motion is called: `MoveTo`, `Turn`, `Forward`, …
    pub motion: String,
    /// Which row.
    pub kind: RowKind,
    /// Where the robot is.
    pub at: Vec2,
    /// Where it goes.
    pub to: Vec2,
    /// Heading, rad.
    pub heading: f64,
    /// Angle it is going to turn, rad.
    pub turn: f64,
    /// Way it is going to go, m.
    pub distance: f64,
    /// rad/s.
    pub turn_speed: f64,
    /// m/s.
    pub speed: f64,
}

/// Which row about a motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RowKind {
    /// A phase begins; whether it is one of several.
    Begin(bool),
    /// A phase ended, and another follows.
    Next,
    /// The whole motion ended.
    Finish,
    /// It came to an event of its pattern, whose name stands in the place of the motion's.
    Passed,
    /// It touched something; whether its motion has several phases.
    Collision(Uid, bool),
}
