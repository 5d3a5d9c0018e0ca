//! What is shown: a live run.

use swarmyard_base::Time;
use swarmyard_engine::Frame;
use swarmyard_sim::{Error, Sim};

/// A run, and what of it is looked at.
pub(crate) struct Show {
    live: Sim,
    hash: u64,
}

/// What came of trying to take a step.
pub(crate) enum Tried {
    /// It was committed.
    Stepped(Frame),
    /// Native programs are at work: try again at once, it waits by itself.
    AtWork,
    /// Commands are waited for that somebody has to give.
    Blocked,
    /// There is nothing more to do.
    Over,
    /// Something went wrong.
    Failed(Error),
}

impl Show {
    /// Shows a run from its start.
    pub(crate) fn new(live: Sim) -> Show {
        Show { hash: live.hash(), live }
    }

    /// The run as it is shown.
    pub(crate) fn sim(&self) -> &Sim {
        &self.live
    }

    /// The run at its newest moment.
    pub(crate) fn live(&self) -> &Sim {
        &self.live
    }

    /// The run at its newest moment, to steer it.
    pub(crate) fn live_mut(&mut self) -> &mut Sim {
        &mut self.live
    }

    /// Hash of what is shown.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// `live` or `replay`.
    pub(crate) fn mode(&self) -> &'static str {
        "live"
    }

    /// Whether an earlier moment is shown.
    pub(crate) fn is_looking_back(&self) -> bool {
        false
    }

    /// Stop and time of the newest moment.
    pub(crate) fn newest(&self) -> (u64, Time) {
        (self.live.state().stops, self.live.now())
    }

    /// Steps of a recording whose hash was compared.
    pub(crate) fn verified(&self) -> u64 {
        0
    }

    /// Now, and when the next step ends.
    pub(crate) fn next_stop(&self) -> (Time, Time) {
        let state = self.live.state();
        (state.now, state.quantum.tick(state.quantum_index + 1))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.live.is_over()
    }

    /// Tries to take a step.
    pub(crate) fn step(&mut self) -> Tried {
        if self.is_over() {
            return Tried::Over;
        }
        match self.live.poll_step() {
            Ok(Some(frame)) => {
                self.hash = frame.hash;
                Tried::Stepped(frame)
            }
            Ok(None) => Tried::AtWork,
            Err(Error::Blocked(_)) => Tried::Blocked,
            Err(other) => Tried::Failed(other),
        }
    }
}
