//! What a program outside is told about its robot.

use super::table::{News, Told};
use swarmyard_part_api::{Answer, Bytes, Ended};

/// Something that happened.
#[derive(Clone, Debug)]
pub(super) enum Event {
    /// The run begins, or the robot or its program starts again.
    Start,
    /// A motion has ended.
    Ended { motion: u64, how: Ended },
    /// A message came; over the broadcast port or the link.
    Message { from: u32, bytes: Bytes, broadcast: bool },
    /// A timer has run out.
    Timer(u64),
    /// A push sensor has fired.
    Pushed { watch: u64, answer: Answer },
    /// A protocol has something to tell, or a motion under way.
    News { news: &'static News, told: Told },
}
