//! What a link has in hand: limits, inputs, and what is known about answers to them.

use crate::line::Line;
use swarmyard_base::Time;
use swarmyard_base::hash::bytes_hash;

/// A line, and the simulated time of the input that caused it.
#[derive(Clone, Debug, PartialEq)]
pub struct Stamped {
    /// When.
    pub at: Time,
    /// What.
    pub line: Line,
}

/// How the stream ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The input is at its end.
    Closed,
    /// The termination sequence came, and is passed on.
    Said,
}

/// What one module may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkLimits {
    /// Inputs that wait for it, or that it works on.
    pub inputs: usize,
    /// Inputs handed to it ahead of its answers.
    pub ahead: usize,
    /// Lines that wait for the next module.
    pub outputs: usize,
    /// Lines it may say for one input.
    pub per_input: u64,
    /// Bad lines it may say between two resets.
    pub bad: u64,
    /// Bad lines that are kept.
    pub quarantine: usize,
    /// Inputs since the last reset that are kept to start it again.
    pub journal: usize,
    /// Times it is started again between two resets.
    pub restarts: u32,
}

impl Default for LinkLimits {
    fn default() -> LinkLimits {
        LinkLimits {
            inputs: 256,
            ahead: 32,
            outputs: 256,
            per_input: 100_000,
            bad: 100,
            quarantine: 100,
            journal: 1_000_000,
            restarts: 3,
        }
    }
}

/// An input that is not finished.
#[derive(Debug)]
pub(super) struct Task {
    pub(super) line: Line,
    pub(super) at: Time,
    /// The program gets it.
    pub(super) feeds: bool,
    /// It goes on to the next module.
    pub(super) passes: bool,
    /// The answers that went on, and their hash.
    pub(super) answers: Answers,
}

/// An input that is finished.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) text: String,
    pub(super) answers: Answers,
}

/// What somebody has said: enough to know whether it is said again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Answers {
    pub(crate) count: u64,
    hash: u64,
}

impl Answers {
    pub(crate) fn add(&mut self, line: &[u8]) {
        self.count += 1;
        let mut bytes = self.hash.to_le_bytes().to_vec();
        bytes.extend(line);
        self.hash = bytes_hash(&bytes);
    }
}

/// An input that the program has got, and for which its mark has not come back.
#[derive(Debug)]
pub(super) struct Awaited {
    pub(super) mark: u64,
    /// Which one of the journal; without it, the oldest task.
    pub(super) old: Option<usize>,
    pub(super) seen: Answers,
    /// Its own broadcast came back: that is not passed on a second time.
    pub(super) is_echoed: bool,
}
