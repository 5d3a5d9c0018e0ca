//! Workers elsewhere who take the steps of a run.
//!
//! A [`crate::Sim`] with a crowd asks it for every step instead of taking it itself; everything else about the run
//! (journal, recording, displays) stays as it is. What a crowd promises: the same steps, to the bit.

use crate::sim::seen_at;
use crate::{Error, Shelved, Statistics};
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Uid;
use swarmyard_engine::{Frame, Input, Journal, Minds, Model, State};
use swarmyard_part_api::Program;

/// What a crowd works on: the run as its keeper has it.
pub struct Run<'a> {
    /// What is fixed.
    pub model: &'a Arc<Model>,
    /// What was laid over its scenario.
    pub overrides: &'a [(String, String)],
    /// What changes. Its clock and accounts are always those of the last step; bodies and their parts are when
    /// they were asked for.
    pub state: &'a mut State,
    /// What came from outside so far; what programs with the workers decide is added.
    pub journal: &'a mut Journal,
    /// Code that came while running, by hash.
    pub code: &'a BTreeMap<u64, Arc<dyn Program>>,
    /// The running programs, as of the last time they were brought home.
    pub minds: &'a mut Minds,
    /// The worlds of the run.
    pub worlds: Shelf<'a>,
}

impl Run<'_> {
    /// The journal as the steps from `stop` on have to see it, where the world was last changed at one of them; else it is as
    /// it stands. Between two changes a crowd begins anew ([`Crowd::reset`]), so earlier ones are never among its steps.
    #[must_use]
    pub fn seen(&self, stop: u64) -> Option<Journal> {
        let changed = self.state.worlds.last().map(|w| w.0).filter(|changed| *changed >= stop)?;
        let seen = seen_at(changed, self.state, self.worlds, self.journal)?;
        let mut journal = Journal::default();
        let (before, after) = (self.journal.since(stop), self.journal.since(changed + 1));
        let before = before.iter().take_while(|i| i.stop < changed);
        for Input { stop, kind } in before.chain(seen.all()).chain(after) {
            journal.push(*stop, kind.clone());
        }
        Some(journal)
    }
}

/// The worlds of a run, as they stand on its shelf.
#[derive(Clone, Copy)]
pub struct Shelf<'a> {
    /// The hash of the one it began in.
    pub origin: u64,
    /// All of them, by hash.
    pub all: &'a BTreeMap<u64, Arc<Shelved>>,
}

/// What came of asking for a step.
#[derive(Debug)]
pub enum Progress {
    /// It was taken.
    Done(Frame),
    /// Not yet: ask again, or do something else before.
    Pending,
    /// It waits for the commands of these robots.
    Blocked(Vec<Uid>),
}

/// Workers elsewhere who take the steps of a run.
pub trait Crowd: Send {
    /// Takes the next step, or says what it waits for. Comes back after a moment in any case.
    ///
    /// # Errors
    /// When the run cannot go on: no workers are left, or one of them cannot do its part.
    fn step(&mut self, run: Run<'_>) -> Result<Progress, Error>;

    /// Brings everything home: all bodies, and the memories of all programs, as of the last step.
    ///
    /// # Errors
    /// When the run cannot go on.
    fn gather(&mut self, run: Run<'_>) -> Result<(), Error>;

    /// Whether everything can be brought home at this stop without taking steps again.
    fn is_near(&self, stop: u64) -> bool;

    /// The run has been changed, or set back: the next step starts from where it stands now, home.
    fn reset(&mut self);

    /// Another run is theirs from now on, home: as [`Crowd::reset`], and everything is counted anew.
    fn anew(&mut self);

    /// No step is asked for now: lets the workers know that they are still needed. To be called about once a second.
    fn rest(&mut self) {}

    /// What the workers did so far.
    fn statistics(&self) -> Statistics;

    /// Ends the work.
    fn finish(&mut self);
}
