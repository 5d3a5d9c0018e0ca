//! What whoever wants a run on workers says beforehand, and who finds workers for it.

use crate::parcel::Lengths;
use crate::staff::Hired;
use std::path::{Path, PathBuf};
use std::time::Duration;
use swarmyard_engine::How;
use swarmyard_sim::Statistics;

/// How a run is spread.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many workers are wanted.
    pub workers: u32,
    /// How the plane is cut.
    pub how: How,
    /// Quanta after which bodies change hands.
    pub period: u64,
    /// How many stops workers may be ahead of what is asked for.
    pub ahead: u64,
    /// Bodies come home at every so many stops; where assertions are judged, at every one.
    pub show_every: u64,
    /// Checkpoints are taken at every so many stops.
    pub keep_every: u64,
    /// How long to wait for workers that were hired.
    pub patience: Duration,
    /// Silence after which the fabric gives up a worker: two who do not hear each other get half as long again, and at least three seconds.
    pub lease: Duration,
    /// What an earlier run measured: it suggests the first cut.
    pub placement: Option<Statistics>,
    /// Where the last checkpoint and what entered since are kept, so that the run can be resumed. A worker that has a folder for it
    /// keeps the same there.
    pub save: Save,
    /// What is sent as one message, and in which pieces everything longer.
    pub lengths: Lengths,
}

/// Whether the last checkpoint is kept in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Save {
    /// It is not.
    #[default]
    Nowhere,
    /// There; when it cannot be written the run ends.
    At(PathBuf),
    /// There; when it cannot be written the run goes on and says so.
    IfPossible(PathBuf),
}

impl Save {
    /// The file.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Save::Nowhere => None,
            Save::At(path) | Save::IfPossible(path) => Some(path),
        }
    }
}

impl Plan {
    /// A plan for that many workers, with bodies home at every stop.
    #[must_use]
    pub fn of(workers: u32) -> Plan {
        Plan {
            workers: workers.max(1),
            how: How::Tree,
            period: 8,
            ahead: 0,
            show_every: 1,
            keep_every: 64,
            patience: Duration::from_secs(20),
            lease: Duration::from_secs(2),
            placement: None,
            save: Save::Nowhere,
            lengths: Lengths::default(),
        }
    }
}

/// Whoever finds workers.
pub trait Staff: Send {
    /// Sees to it that a worker with this number works for the run. It shows by itself when it is there.
    ///
    /// # Errors
    /// When nobody can be found.
    fn hire(&mut self, number: u32) -> Result<(), String>;

    /// A worker is lost, or not needed any more: ends what is left of it.
    fn dismiss(&mut self, number: u32);

    /// Who was hired under a number, as far as it may be told.
    fn hired(&self, _number: u32) -> Option<Hired> {
        None
    }

    /// Where a worker is: the name of its host, and what that can do.
    fn places(&self, _number: u32) -> Vec<String> {
        Vec::new()
    }
}
