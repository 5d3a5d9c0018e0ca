//! What there is to tell about robots that live by events, one note per happening: for logs, displays and
//! message-sequence charts. Notes are made only when somebody wants them; no result depends on them.

use swarmyard_base::Moment;
use swarmyard_part_api::{Indication, Note, Request};

/// One happening.
#[derive(Clone, Debug)]
pub struct LiveNote {
    /// When.
    pub at: Moment,
    /// Number of the robot.
    pub robot: u32,
    /// What.
    pub what: Note,
}

impl PartialEq for LiveNote {
    fn eq(&self, other: &LiveNote) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// What the protocols of one robot had to do with each other, for whoever judges them. Heard only when somebody wants
/// it, apart from notes: no recording and no log has it.
#[derive(Clone, Debug)]
pub struct Dealing {
    /// When.
    pub at: Moment,
    /// Number of the robot.
    pub robot: u32,
    /// What.
    pub what: Deal,
}

/// One thing between two protocols, or what ends them all.
#[derive(Clone, Debug)]
pub enum Deal {
    /// A protocol asked for something.
    Asked {
        /// Its place in the graph.
        node: u16,
        /// By which of its ports.
        port: u16,
        /// For what.
        request: Request,
    },
    /// A protocol was told something.
    Told {
        /// Its place in the graph.
        node: u16,
        /// By which of its ports.
        port: u16,
        /// What.
        what: Indication,
    },
    /// The robot crashed, never came to rest, or fell into a hole.
    Down,
    /// It came back.
    Back,
}
