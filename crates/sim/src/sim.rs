//! A run in the hand of a program.

mod change;
mod load;
mod tell;

pub(crate) use change::seen_at;
pub use change::{Scenario, Shelved};
pub use load::{Options, registry_with, standard_registry};

use crate::crowd::{Crowd, Progress, Run};
use crate::statistics::{ElsewhereFigures, Statistics};
use change::Worlds;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_agents::{Crew, Prices, Stand};
use swarmyard_base::{Diagnostic, Diagnostics, Moment, Sources, Time, Uid};
use swarmyard_engine::{
    Dealing, Frame, Grouping, Journal, Kept, Leave, LiveEvent, LiveState, Minds, Model, Pool, Scratch,
    SnapshotError, State, Step, Stride, full_hash, registers_sensed, snapshot, step, step_hash,
};
use swarmyard_part_api::Program;

/// Why something could not be done. The run is as it was before.
#[derive(Debug)]
pub enum Error {
    /// The scenario has problems: all of them, and the texts they point into.
    Scenario(Sources, Diagnostics),
    /// The step waits for the commands of these robots.
    Blocked(Vec<String>),
    /// A path or channel does not exist, or a value does not fit.
    Wrong(Diagnostic),
    /// A snapshot cannot be opened.
    Snapshot(SnapshotError),
    /// The system refused something.
    System(String),
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Error::Scenario(sources, problems) => {
                let all: Vec<String> = problems.0.iter().map(|d| sources.render(d)).collect();
                f.write_str(&all.join("\n"))
            }
            Error::Blocked(robots) => write!(f, "waiting for {}", robots.join(", ")),
            Error::Wrong(d) => f.write_str(&Sources::default().render(d)),
            Error::Snapshot(e) => e.fmt(f),
            Error::System(e) => f.write_str(e),
        }
    }
}

impl std::error::Error for Error {}

/// A loaded world and where it has got to.
pub struct Sim {
    model: Arc<Model>,
    state: State,
    minds: Minds,
    journal: Journal,
    scratch: Scratch,
    /// Shared with views.
    pool: Arc<Pool>,
    grouping: Grouping,
    /// Whether frames tell what happens to robots that live by events.
    notes: bool,
    warnings: Diagnostics,
    /// Code that came while running, by hash.
    code: BTreeMap<u64, Arc<dyn Program>>,
    /// Native programs.
    crew: Crew,
    /// Whose commands the last try to step waited for.
    waiting: Vec<Uid>,
    /// The worlds it has been in, and those that its journal changes to.
    worlds: Worlds,
    /// Who takes its steps, when this process does not.
    crowd: Option<Box<dyn Crowd>>,
    /// Hash of the last step, when others took it and not all that came of it is home.
    told: Option<u64>,
    /// Hash of where it stands, when a step may be left under way or is: then not all of the state is in its place.
    stands: Option<u64>,
    /// What its modules on other hosts cost.
    prices: Prices,
}

impl Sim {
    /// Takes one step: to the end of the quantum. Waits for native programs as long as their patience
    /// lasts.
    ///
    /// # Errors
    /// When it waits for commands that somebody else has to give; nothing has changed then.
    pub fn step(&mut self) -> Result<Frame, Error> {
        loop {
            if let Some(frame) = self.poll_step()? {
                return Ok(frame);
            }
        }
    }

    /// Takes one step, or answers `None` when native programs are still at work after a moment, or the step was left
    /// under way ([`Sim::leave_when`]): ask again, or do something else before.
    ///
    /// # Errors
    /// When it waits for commands that somebody else has to give; nothing has changed then.
    pub fn poll_step(&mut self) -> Result<Option<Frame>, Error> {
        if !self.is_under_way() {
            self.enter()?;
        }
        if self.crowd.is_some() {
            return self.poll_crowd();
        }
        if self.scratch.leave.is_some() && self.model.live.is_some() && self.stands.is_none() {
            self.stands = Some(step_hash(&self.model, &self.state));
        }
        loop {
            let seen = self.seen();
            let Sim { model, state, minds, journal, scratch, pool, .. } = self;
            match step(model, state, minds, seen.as_ref().unwrap_or(journal), scratch, pool) {
                Step::Done(frame) => {
                    self.waiting.clear();
                    self.stands = self.scratch.leave.as_ref().map(|_| frame.hash);
                    return Ok(Some(frame));
                }
                Step::UnderWay => {
                    self.waiting.clear();
                    return Ok(None);
                }
                Step::Blocked(robots) => {
                    let (came, at_work) = self.ask(&robots, seen.as_ref());
                    self.waiting = robots;
                    if came {
                        continue;
                    }
                    if at_work {
                        return Ok(None);
                    }
                    let path = |slot: usize| self.model.paths[slot].to_string();
                    return Err(Error::Blocked(self.waiting().map(path).collect()));
                }
            }
        }
    }

    /// Has a step left under way, between two events of robots that live by events, as soon as `leave` says so: then
    /// [`Sim::poll_step`] answers `None`, and goes on with the step when it is asked again. So a step that takes long can be
    /// waited for by somebody who has other things to do, or given up. It is asked often, also by other threads, and no
    /// result depends on it. Where others take the steps, nobody asks.
    ///
    /// Meanwhile the run stands where the last step ended, and shows its bodies as they were there. What enters counts from the
    /// end of the step. The world cannot be changed, and there is nothing to take a snapshot of; who could hear whom, and messages
    /// under way, are those of the moment that the step has got to.
    pub fn leave_when(&mut self, leave: Option<Arc<Leave>>) {
        self.scratch.leave = leave;
    }

    /// Whether a step was left under way.
    #[must_use]
    pub fn is_under_way(&self) -> bool {
        self.scratch.is_under_way()
    }

    /// The stop at which what comes from outside now enters.
    pub(super) fn entrance(&self) -> u64 {
        self.state.stops + u64::from(self.is_under_way())
    }

    /// Lets others take the steps from now on, from where the run stands.
    pub fn give_to(&mut self, mut crowd: Box<dyn Crowd>) {
        crowd.anew();
        self.crowd = Some(crowd);
    }

    /// Whether others take its steps.
    #[must_use]
    pub fn is_spread(&self) -> bool {
        self.crowd.is_some()
    }

    /// Takes the run away from those who take its steps, for another to be given to them. This one stands where they
    /// last brought it home.
    pub fn release(&mut self) -> Option<Box<dyn Crowd>> {
        self.told = None;
        self.crowd.take()
    }

    /// No step is asked for now: those who take the steps are told that they are still needed.
    pub fn rest(&mut self) {
        if let Some(crowd) = &mut self.crowd {
            crowd.rest();
        }
    }

    /// What those did who take the steps; `None` where this process does.
    #[must_use]
    pub fn statistics(&self) -> Option<Statistics> {
        self.crowd.as_ref().map(|crowd| crowd.statistics())
    }

    /// What its modules on other hosts cost, by place: those that this process asked, and those that workers did.
    #[must_use]
    pub fn elsewhere(&self) -> Vec<ElsewhereFigures> {
        let mut all = ElsewhereFigures::of(self.prices.all());
        if let Some(statistics) = self.statistics() {
            ElsewhereFigures::add(&mut all, &statistics.elsewhere);
        }
        all
    }

    fn poll_crowd(&mut self) -> Result<Option<Frame>, Error> {
        let Some(mut crowd) = self.crowd.take() else { return Ok(None) };
        let came = crowd.step(self.as_kept());
        self.crowd = Some(crowd);
        match came? {
            Progress::Done(frame) => {
                self.waiting.clear();
                self.told = Some(frame.hash);
                Ok(Some(frame))
            }
            Progress::Pending => Ok(None),
            Progress::Blocked(robots) => {
                self.waiting = robots;
                Err(Error::Blocked(self.waiting().map(|slot| self.model.paths[slot].to_string()).collect()))
            }
        }
    }

    fn as_kept(&mut self) -> Run<'_> {
        let Sim { model, state, journal, minds, worlds, code, .. } = self;
        let overrides = worlds.overrides_of(model.world);
        Run { overrides, model, state, journal, code, minds, worlds: worlds.shelf() }
    }

    /// Brings everything home that workers elsewhere have: before a snapshot, or a hash of all memories. Nothing
    /// is to be done where this process takes the steps.
    ///
    /// # Errors
    /// When the workers are lost.
    pub fn gather(&mut self) -> Result<(), Error> {
        let Some(mut crowd) = self.crowd.take() else { return Ok(()) };
        let came = crowd.gather(self.as_kept());
        self.crowd = Some(crowd);
        came.inspect(|()| self.told = None)
    }

    /// Whether all of it is home: always where this process takes the steps; where workers do, from [`Sim::gather`] to the
    /// next step.
    #[must_use]
    pub fn is_gathered(&self) -> bool {
        self.told.is_none()
    }

    /// Whether everything about it can be brought home now without taking steps again.
    pub(crate) fn is_near(&self) -> bool {
        self.crowd.as_ref().is_none_or(|crowd| crowd.is_near(self.state.stops))
    }

    /// Takes over who took the steps of another run: they begin again from where this one stands.
    pub(crate) fn take_crowd(&mut self, other: &mut Sim) {
        self.crowd = other.release();
        if let Some(crowd) = &mut self.crowd {
            crowd.reset();
        }
    }

    /// Takes one step to the next event of a robot that lives by events, or to the end of the quantum. The run
    /// goes on as if it had not stopped there.
    ///
    /// # Errors
    /// When it waits for commands that somebody else has to give; nothing has changed then.
    pub fn step_to_event(&mut self) -> Result<Frame, Error> {
        self.scratch.stride = Stride::Event;
        let done = self.step();
        self.scratch.stride = Stride::Quantum;
        done
    }

    /// Says whether frames tell what happens to robots that live by events: motions, questions, messages. No
    /// result depends on it.
    pub fn take_notes(&mut self, wanted: bool) {
        self.notes = wanted;
        self.scratch.notes = wanted;
    }

    /// Says whether it is kept what protocols of robots that live by events ask of each other and tell, until somebody
    /// takes it away by [`Sim::dealings`]. No result depends on it, and no recording has it. A run whose steps others
    /// take keeps nothing.
    pub fn keep_dealings(&mut self, wanted: bool) {
        self.scratch.dealings = wanted.then(Vec::new);
    }

    /// What was kept since this was last asked, in order.
    pub fn dealings(&mut self) -> Vec<Dealing> {
        self.scratch.dealings.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Which robots could hear each other now, as pairs of slots: what displays draw as links. `None` when it
    /// does not depend on the place: everybody can. Without a network nobody can.
    #[must_use]
    pub fn links(&self) -> Option<Vec<(usize, usize)>> {
        self.minds.links(&self.model, self.live())
    }

    /// What lives by events: where the run stands, or where a step has got to that was left under way.
    fn live(&self) -> Option<&LiveState> {
        self.scratch.left().or(self.state.live.as_deref())
    }

    /// Messages whose arrival is decided and still to come, in the order of arrival: number of the message, slot
    /// of its receiver, and when it arrives, s.
    pub fn under_way(&self) -> impl Iterator<Item = (u64, usize, f64)> {
        let members = self.model.live.as_ref().map_or(&[][..], |live| &live.members[..]);
        let queue = self.live().into_iter().flat_map(|live| live.queue.iter());
        queue.filter_map(move |(key, event)| match event {
            LiveEvent::Deliver { to, serial, .. } => {
                let slot = *members.get(*to as usize)? as usize;
                Some((*serial, slot, key.at.since(Moment::ZERO)))
            }
            _ => None,
        })
    }

    /// Slots of the robots whose commands the last try to step waited for; none after a step.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter().filter_map(|uid| self.model.slot_of(*uid))
    }

    /// Asks the native programs of robots that the loop waits for. Their answers enter the journal;
    /// tells whether any came, and whether some are still at work.
    fn ask(&mut self, robots: &[Uid], seen: Option<&Journal>) -> (bool, bool) {
        let Sim { model, state, minds, journal, scratch, crew, .. } = self;
        let tick_us = state.quantum.length.micros();
        let inputs = seen.unwrap_or(journal).at(state.stops);
        let stand = Stand { model, state, minds, journal, inputs, tick_us };
        let (inputs, at_work) =
            crew.ask(&stand, &stand.due(robots), |slot| registers_sensed(model, state, scratch, slot));
        let came = !inputs.is_empty();
        for input in inputs {
            self.journal.push(self.state.stops, input);
        }
        (came, at_work)
    }

    /// Ends the programs of controllers: each may say a last word, which is answered with its robot's
    /// path. The run can go on only after a restore.
    pub fn finish(&mut self) -> Vec<(String, String)> {
        if let Some(mut crowd) = self.release() {
            // What programs say last they say at home; when they cannot be brought there, they say nothing.
            let home = crowd.gather(self.as_kept()).is_ok();
            crowd.finish();
            if !home {
                return Vec::new();
            }
        }
        let mut said = self.minds.stop(&self.model, &self.state);
        let last = self.crew.stop().into_iter();
        let mut last: Vec<_> =
            last.filter_map(|(robot, line)| Some((self.model.slot_of(robot)?, line))).collect();
        last.sort_by_key(|(slot, _)| *slot);
        said.extend(last);
        said.into_iter().map(|(slot, line)| (self.model.paths[slot].to_string(), line)).collect()
    }

    /// Steps until `seconds` of simulated time have passed since the start, or the failure of a controller has ended the run.
    ///
    /// # Errors
    /// When a step waits for the commands of robots, or no run could last so long.
    pub fn run_until(&mut self, seconds: f64) -> Result<(), Error> {
        if !(f64::MIN..=MOST_SECONDS).contains(&seconds) {
            let what = format!("a run cannot last until `{seconds}` s");
            return Err(Error::Wrong(Diagnostic::error("bad-value", what)));
        }
        let end = Time::from_seconds(seconds);
        while self.state.now < end && !self.state.ended {
            self.step()?;
        }
        Ok(())
    }

    /// Empty buffers that work as these do.
    fn fresh_scratch(&self) -> Scratch {
        let mut scratch = Scratch::with_grouping(self.grouping);
        scratch.notes = self.notes;
        scratch.leave = self.scratch.leave.clone();
        scratch.dealings = self.scratch.dealings.is_some().then(Vec::new);
        scratch
    }

    /// Whether the scenario's duration has passed, or the failure of a controller has ended the run.
    #[must_use]
    pub fn is_over(&self) -> bool {
        // Inside of a quantum something may still be to come at the very end.
        self.state.ended || (self.state.now >= self.model.run.duration && !self.state.is_mid())
    }

    /// What is fixed.
    #[must_use]
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// What changes. On workers its clock and accounts are always those of the last step; bodies and their parts are those of
    /// the last one at which they were brought home.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What came from outside so far.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Things worth knowing about the scenario that are no errors.
    #[must_use]
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// Replays a journal instead of taking inputs: only before the first step.
    ///
    /// # Errors
    /// When the run has begun.
    pub fn set_journal(&mut self, journal: Journal) -> Result<(), Error> {
        if self.state.stops > 0 || !self.journal.all().is_empty() {
            return Err(Error::System("a journal can be given only before the first step".into()));
        }
        self.check(journal.all())?;
        self.journal = journal;
        Ok(())
    }

    /// Hash of bodies, channels, queue and accounts after the last step, whoever took it.
    #[must_use]
    pub fn hash(&self) -> u64 {
        let stands = self.stands.filter(|_| self.is_under_way());
        self.told.or(stands).unwrap_or_else(|| step_hash(&self.model, &self.state))
    }

    /// Hash of everything, memories of controllers included. Of a run on workers it means something only when everything is
    /// home: [`Sim::gather`] first; and never while a step is under way.
    #[must_use]
    pub fn full_hash(&self) -> u64 {
        full_hash(&self.model, &self.state, &self.minds)
    }

    /// The state as bytes, for this build and scenario. Of a run on workers it can be opened only when everything was home:
    /// [`Sim::gather`] first; and never when a step was under way.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        snapshot(&self.model, &self.state, &self.minds)
    }

    /// Goes back (or ahead) to a snapshot, into the world it was taken in. Inputs after it are forgotten:
    /// the run takes a new branch.
    ///
    /// # Errors
    /// When the bytes are not a snapshot of this scenario by this build.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.open(bytes)?;
        if let Some(crowd) = &mut self.crowd {
            crowd.reset();
        }
        self.crew.forget();
        self.waiting.clear();
        (self.told, self.stands) = (None, None);
        self.scratch = self.fresh_scratch();
        Ok(())
    }

    /// Where the run stands, to come back to.
    pub(crate) fn keep(&self) -> Kept {
        Kept::new(&self.state, &self.minds)
    }

    /// A run that stands where this one was kept, and has this one's journal: up to where this one is,
    /// it starts no native program. It shares threads, model and code.
    pub(crate) fn replay_from(&self, model: &Arc<Model>, kept: &Kept) -> Result<Sim, Error> {
        let (state, minds) = kept.bring_back(model, &self.minds).map_err(Error::Snapshot)?;
        Ok(Sim {
            model: Arc::clone(model),
            state,
            minds,
            journal: self.journal.clone(),
            scratch: self.fresh_scratch(),
            pool: Arc::clone(&self.pool),
            grouping: self.grouping,
            notes: self.notes,
            warnings: self.warnings.clone(),
            code: self.code.clone(),
            crew: Crew::default(),
            waiting: Vec::new(),
            worlds: self.worlds.clone(),
            crowd: None,
            told: None,
            stands: None,
            prices: self.prices.clone(),
        })
    }

    /// Takes over what came to `live` since this replay of it began, or caught up the last time.
    pub(crate) fn catch_up(&mut self, live: &Sim) {
        self.journal.catch_up(&live.journal);
        self.worlds.catch_up(&live.worlds);
        for (code, program) in &live.code {
            if !self.code.contains_key(code) {
                self.code.insert(*code, Arc::clone(program));
                self.minds.shelve(Arc::clone(program));
            }
        }
    }

    /// Makes a replay a run of its own: what came from here on is forgotten.
    pub(crate) fn go_live(&mut self) {
        self.journal.cut_from(self.state.stops);
        self.journal.set_worlds(&self.state.worlds);
    }
}

/// The end of time is 292 years away.
const MOST_SECONDS: f64 = 9.2e9;
