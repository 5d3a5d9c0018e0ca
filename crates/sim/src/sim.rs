//! A run in the hand of a program.

mod change;

pub(crate) use change::seen_at;
pub use change::{Scenario, Shelved};

use crate::crowd::{Crowd, Progress, Run};
use crate::statistics::{ElsewhereFigures, Statistics};
use change::Worlds;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use swarmyard_agents::{Crew, Elsewhere, Prices, Stand, Workshop};
use swarmyard_base::{Diagnostic, Diagnostics, Moment, Pose2, Ratio, Sources, Time, Twist2, Uid};
use swarmyard_engine::{
    BusAccess, Compiled, ControllerKind, Dealing, Frame, Grouping, InputKind, Journal, Kept, LiveEvent,
    Minds, Model, PartKind, Pool, Scratch, SnapshotError, State, Step, Stride, compile, full_hash,
    registers_sensed, snapshot, step, step_hash,
};
use swarmyard_formats::{Loader, NoFiles};
use swarmyard_part_api::{BadAccess, Detail, Mark, Program, RegisterFile, Registry};
use swarmyard_scene::Scene;

/// How a world is loaded.
#[derive(Clone, Debug)]
pub struct Options {
    /// `key=value` pairs laid over the scenario, as `--set` does.
    pub overrides: Vec<(String, String)>,
    /// Threads; never changes a result. 0 takes all processors for big worlds, and one for small ones.
    pub threads: usize,
    /// How contacts are grouped; never changes a result.
    pub grouping: Grouping,
    /// How controllers and part models on other hosts are reached. Without it native ones are not started, and the
    /// others are computed here.
    pub elsewhere: Option<Elsewhere>,
}

impl Default for Options {
    fn default() -> Options {
        Options { overrides: Vec::new(), threads: 1, grouping: Grouping::Smallest, elsewhere: None }
    }
}

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

/// Reads files next to the scenario, and nowhere else.
struct Folder<'a>(&'a Path);

impl Loader for Folder<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(name)).map_err(|e| e.to_string())
    }
}

/// All standard parts and controllers; programs find their code in `workshop`.
#[must_use]
pub fn registry_with(workshop: &Arc<Workshop>) -> Registry {
    let mut registry = without_programs();
    swarmyard_agents::register(&mut registry, workshop);
    registry
}

/// Everything that comes with this program, except classes whose code is somewhere else.
fn without_programs() -> Registry {
    let mut registry = swarmyard_parts::standard_registry();
    swarmyard_radio::register(&mut registry);
    swarmyard_algorithms::register(&mut registry);
    registry
}

/// All standard parts and controllers; programs have no files.
#[must_use]
pub fn standard_registry() -> Registry {
    registry_with(&Arc::new(Workshop::nowhere()))
}

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
    /// What its modules on other hosts cost.
    prices: Prices,
}

impl Sim {
    /// Loads a scenario file.
    ///
    /// # Errors
    /// All problems of the scenario at once, or why the file cannot be read.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Sim, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(|e| Error::Wrong(no_file(path, &e)))?;
        let folder = path.parent().unwrap_or(Path::new("."));
        let workshop = Arc::new(Workshop::in_folder(folder).with_elsewhere(options.elsewhere.clone()));
        Sim::read(&name, &text, &Folder(folder), &registry_with(&workshop), options)
    }

    /// Loads a scenario file without the code of its controllers, which do nothing: to look at a world
    /// whose programs are not written yet.
    ///
    /// # Errors
    /// All problems of the scenario at once, or why the file cannot be read.
    pub fn load_idle(path: impl AsRef<Path>) -> Result<Sim, Error> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|e| Error::Wrong(no_file(path, &e)))?;
        let mut registry = without_programs();
        swarmyard_agents::register_idle(&mut registry);
        let folder = path.parent().unwrap_or(Path::new("."));
        Sim::read(&path.display().to_string(), &text, &Folder(folder), &registry, &Options::default())
    }

    /// Loads a scenario from text, without includes.
    ///
    /// # Errors
    /// All problems of the scenario at once.
    pub fn from_text(text: &str) -> Result<Sim, Error> {
        Sim::from_text_with(text, &Options::default())
    }

    /// Loads a scenario from text, without includes, with options.
    ///
    /// # Errors
    /// All problems of the scenario at once.
    pub fn from_text_with(text: &str, options: &Options) -> Result<Sim, Error> {
        Sim::read("scenario", text, &NoFiles, &standard_registry(), options)
    }

    /// Loads a scenario from text, with your own way to find includes and your own parts.
    ///
    /// # Errors
    /// All problems of the scenario at once.
    pub fn read(
        name: &str,
        text: &str,
        loader: &dyn Loader,
        registry: &Registry,
        options: &Options,
    ) -> Result<Sim, Error> {
        let loaded = swarmyard_formats::read(name, text, &options.overrides, loader, registry)
            .map_err(|failed| Error::Scenario(failed.sources, failed.problems))?;
        let mut sim = Sim::from_scene(&loaded.scene, registry, options)?;
        let compiled = std::mem::replace(&mut sim.warnings, loaded.warnings);
        sim.warnings.0.extend(compiled.0);
        Ok(sim)
    }

    /// Compiles a scene that a program has built.
    ///
    /// # Errors
    /// All problems of the scene at once.
    pub fn from_scene(scene: &Scene, registry: &Registry, options: &Options) -> Result<Sim, Error> {
        let Compiled { model, state, warnings } =
            compile(scene, registry).map_err(|problems| Error::Scenario(scene.sources.clone(), problems))?;
        let threads = if options.threads == 0 { threads_for(model.robots()) } else { options.threads };
        let model = Arc::new(model);
        Ok(Sim {
            worlds: Worlds::begin(&model, &state, &options.overrides),
            minds: Minds::new(&model),
            model,
            state,
            journal: Journal::default(),
            scratch: Scratch::with_grouping(options.grouping),
            pool: Arc::new(Pool::new(threads).map_err(Error::System)?),
            grouping: options.grouping,
            notes: false,
            warnings,
            code: BTreeMap::new(),
            crew: Crew::default(),
            waiting: Vec::new(),
            crowd: None,
            prices: options.elsewhere.as_ref().map_or_else(Prices::default, |e| e.prices.clone()),
        })
    }

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

    /// Takes one step, or answers `None` when native programs are still at work after a moment: ask
    /// again, or do something else before.
    ///
    /// # Errors
    /// When it waits for commands that somebody else has to give; nothing has changed then.
    pub fn poll_step(&mut self) -> Result<Option<Frame>, Error> {
        self.enter()?;
        if self.crowd.is_some() {
            return self.poll_crowd();
        }
        loop {
            let seen = self.seen();
            let Sim { model, state, minds, journal, scratch, pool, .. } = self;
            match step(model, state, minds, seen.as_ref().unwrap_or(journal), scratch, pool) {
                Step::Done(frame) => {
                    self.waiting.clear();
                    return Ok(Some(frame));
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
        came
    }

    /// Whether everything about it can be brought home now without taking steps again.
    pub(crate) fn is_near(&self) -> bool {
        self.crowd.as_ref().is_none_or(|crowd| crowd.is_near(self.state.stops))
    }

    /// Takes over who took the steps of another run: they begin again from where this one stands.
    pub(crate) fn take_crowd(&mut self, other: &mut Sim) {
        self.crowd = other.crowd.take();
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
        self.minds.links(&self.model, &self.state)
    }

    /// Messages whose arrival is decided and still to come, in the order of arrival: number of the message, slot
    /// of its receiver, and when it arrives, s.
    pub fn under_way(&self) -> impl Iterator<Item = (u64, usize, f64)> {
        let members = self.model.live.as_ref().map_or(&[][..], |live| &live.members[..]);
        let queue = self.state.live.iter().flat_map(|live| live.queue.iter());
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
        if let Some(mut crowd) = self.crowd.take() {
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

    /// Steps until `seconds` of simulated time have passed since the start.
    ///
    /// # Errors
    /// When a step waits for the commands of robots.
    pub fn run_until(&mut self, seconds: f64) -> Result<(), Error> {
        let end = Time::from_seconds(seconds);
        while self.state.now < end {
            self.step()?;
        }
        Ok(())
    }

    /// Empty buffers that work as these do.
    fn fresh_scratch(&self) -> Scratch {
        let mut scratch = Scratch::with_grouping(self.grouping);
        scratch.notes = self.notes;
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

    /// What changes.
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

    /// Simulated time now.
    #[must_use]
    pub fn now(&self) -> Time {
        self.state.now
    }

    /// Pose of a robot or moving obstacle, by path.
    #[must_use]
    pub fn pose(&self, path: &str) -> Option<Pose2> {
        self.model.slot_of_path(path).map(|slot| self.state.pose[slot])
    }

    /// Velocity of a robot or moving obstacle in its own frame, by path.
    #[must_use]
    pub fn twist(&self, path: &str) -> Option<Twist2> {
        self.model.slot_of_path(path).map(|slot| self.state.twist[slot])
    }

    /// A channel of a part, such as `("/robots/r1/rays", "range")`.
    #[must_use]
    pub fn channel(&self, part: &str, channel: &str) -> Option<&[f64]> {
        let (slot, t, p) = self.part(part).ok()?;
        let layout = &self.model.types[t].parts[p].layout;
        let (first, len) = layout.place(channel)?;
        let columns = &self.state.types[t].parts[p];
        let command = layout.channels.iter().any(|c| c.name == channel && c.command);
        let (data, width) = if command {
            (&columns.commands, layout.command_width())
        } else {
            (&columns.readings, layout.reading_width())
        };
        let row = (slot - self.model.types[t].slots.start) * width + first;
        data.get(row..row + len)
    }

    /// What displays draw for a robot's parts, in its own frame: (name of the part, marks).
    #[must_use]
    pub fn marks(&self, robot: &str) -> Vec<(&str, Vec<Mark>)> {
        let Some(slot) = self.model.slot_of_path(robot) else { return Vec::new() };
        let t = self.model.type_of[slot] as usize;
        let ty = &self.model.types[t];
        let row = slot - ty.slots.start;
        let parts = ty.parts.iter().zip(&self.state.types[t].parts);
        let marks = parts.filter_map(|(part, columns)| {
            let width = part.layout.reading_width();
            let readings = &columns.readings[row * width..(row + 1) * width];
            let outline = self.model.outline(slot);
            let marks = match &part.kind {
                PartKind::Sensor(sensor, _) => sensor.marks(readings, outline),
                // Most actuators draw nothing, ever: those are left out.
                PartKind::Actuator(actuator) => {
                    Some(actuator.marks(readings, outline)).filter(|m| !m.is_empty())?
                }
            };
            Some((part.name.as_str(), marks))
        });
        marks.collect()
    }

    /// Sets a command channel from the next step on. It enters the journal.
    ///
    /// # Errors
    /// When there is no such part or channel, or the numbers do not fit.
    pub fn command(&mut self, part: &str, channel: &str, values: &[f64]) -> Result<(), Error> {
        let (slot, t, p) = self.part(part)?;
        let layout = &self.model.types[t].parts[p].layout;
        let commands = layout.channels.iter().filter(|c| c.command).map(|c| c.name);
        let place = layout.place(channel).filter(|_| commands.clone().any(|c| c == channel));
        let Some((first, len)) = place else {
            let what = format!("`{part}` has no command channel `{channel}`");
            return Err(Error::Wrong(Diagnostic::error("unknown-channel", what).suggest(channel, commands)));
        };
        if values.len() != len {
            let what = format!("channel `{channel}` takes {len} numbers, got `{}`", values.len());
            return Err(Error::Wrong(Diagnostic::error("wrong-length", what).on(part)));
        }
        let kind = InputKind::Command {
            robot: self.model.uids[slot],
            part: p as u32,
            first: first as u32,
            values: values.to_vec(),
        };
        self.journal.push(self.state.stops, kind);
        Ok(())
    }

    /// Reads 1, 2 or 4 bytes of a robot's registers, little-endian, as they were latched at the start
    /// of the last quantum. A misaligned or unmapped access reads zero there and says so.
    ///
    /// # Errors
    /// When there is no such robot, or the width is none of these.
    pub fn peek(&self, robot: &str, address: u32, bytes: u32) -> Result<(u32, Option<BadAccess>), Error> {
        let mut registers = self.registers(robot, bytes)?.1;
        let value = registers.peek(address, bytes);
        Ok((value, registers.bad().first().map(|access| access.why)))
    }

    /// Writes 1, 2 or 4 bytes of a robot's registers, little-endian, from the next step on; it enters
    /// the journal. What cannot be written is left alone and said.
    ///
    /// # Errors
    /// When there is no such robot, or the width is none of these.
    pub fn poke(
        &mut self,
        robot: &str,
        address: u32,
        bytes: u32,
        value: u32,
    ) -> Result<Option<BadAccess>, Error> {
        let (slot, mut registers) = self.registers(robot, bytes)?;
        registers.poke(address, bytes, value);
        let bad = registers.bad().first().map(|access| access.why);
        let poke = BusAccess { address, bytes: bytes as u8, write: Some(value) };
        self.journal.push(self.state.stops, InputKind::Poke(self.model.uids[slot], poke));
        Ok(bad)
    }

    /// Goes on without a robot's commands once, although its controller waits for them.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn skip(&mut self, path: &str) -> Result<(), Error> {
        let slot = self.slot(path)?;
        self.journal.push(self.state.stops, InputKind::Skip(self.model.uids[slot]));
        Ok(())
    }

    /// Ends the native programs of a robot at once. When they are next asked they are started again, and
    /// run through what they were shown before. Tells whether there were any.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn restart(&mut self, path: &str) -> Result<bool, Error> {
        let slot = self.slot(path)?;
        Ok(self.crew.dismiss(self.model.uids[slot]))
    }

    /// The file a controller's code was made from, when it may be edited and made anew.
    #[must_use]
    pub fn source(&self, ty: &str, controller: &str) -> Option<&Path> {
        let (t, c) = self.controller(ty, controller).ok()?;
        match &self.model.types[t].controllers[c].model {
            ControllerKind::Program(program) => program.source(),
            _ => None,
        }
    }

    /// Makes a controller's code anew from its source; from the next step on every robot of the type
    /// runs it, from its setup on. World and registers stay. It enters the journal.
    ///
    /// Answers the hash of the code.
    ///
    /// # Errors
    /// What the compiler says; the old code goes on.
    pub fn reload(&mut self, ty: &str, controller: &str) -> Result<u64, Error> {
        let (t, c) = self.controller(ty, controller)?;
        let program = match &self.model.types[t].controllers[c].model {
            ControllerKind::Program(program) => program,
            ControllerKind::Outside(_) => {
                let what = format!(
                    "controller `{controller}` of `{ty}` is a native program, which cannot change in a run"
                );
                let d = Diagnostic::error("native-code", what);
                return Err(Error::Wrong(d.help("start the run again, or use the class `program`")));
            }
            ControllerKind::Columns(_) => {
                let what = format!("controller `{controller}` of `{ty}` has no code that could change");
                return Err(Error::Wrong(Diagnostic::error("no-code", what)));
            }
        };
        let renewed = program.renewed().map_err(|d| Error::Scenario(Sources::default(), d))?;
        let code = renewed.code();
        self.code.insert(code, Arc::clone(&renewed));
        self.minds.shelve(renewed);
        self.journal.push(self.state.stops, InputKind::Code { ty: t as u32, controller: c as u32, code });
        Ok(code)
    }

    /// Puts code on the shelf that a journal switches to.
    ///
    /// # Errors
    /// When there is no such controller, or the code cannot run.
    pub fn shelve(&mut self, ty: usize, controller: usize, code: &[u8]) -> Result<(), Error> {
        self.shelve_in(self.model.world, ty, controller, code)
    }

    /// Code that came while running, by hash.
    pub fn code(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.code.iter().map(|(code, program)| (*code, program.bytes().1))
    }

    /// What the controllers of a robot printed last, oldest first.
    #[must_use]
    pub fn lines(&self, robot: &str) -> Vec<&str> {
        let Some(slot) = self.model.slot_of_path(robot) else { return Vec::new() };
        let t = self.model.type_of[slot] as usize;
        let row = slot - self.model.types[t].slots.start;
        let controllers = 0..self.model.types[t].controllers.len();
        controllers.flat_map(|c| self.minds.lines(t, c, row)).map(String::as_str).collect()
    }

    fn controller(&self, ty: &str, controller: &str) -> Result<(usize, usize), Error> {
        let types = &self.model.types;
        let t = types.iter().position(|t| t.name == ty).ok_or_else(|| {
            let d = Diagnostic::error("unknown-type", format!("no robot is of the type `{ty}`"));
            Error::Wrong(d.suggest(ty, types.iter().map(|t| t.name.as_str())))
        })?;
        let all = &types[t].controllers;
        let c = all.iter().position(|c| c.name == controller).ok_or_else(|| {
            let d = Diagnostic::error("unknown-part", format!("`{ty}` has no controller `{controller}`"));
            Error::Wrong(d.suggest(controller, all.iter().map(|c| c.name.as_str())))
        })?;
        Ok((t, c))
    }

    /// Halts a robot, or lets it go on.
    ///
    /// # Errors
    /// When there is no such robot.
    pub fn halt(&mut self, path: &str, halt: bool) -> Result<(), Error> {
        let slot = self.slot(path)?;
        self.journal.push(self.state.stops, InputKind::Halt(self.model.uids[slot], halt));
        Ok(())
    }

    /// Changes the length of the quantum from the next step on.
    pub fn set_quantum(&mut self, quantum: Ratio) {
        self.journal.push(self.state.stops, InputKind::Quantum(quantum));
    }

    /// Changes the level of detail from the next step on.
    pub fn set_detail(&mut self, detail: Detail) {
        self.journal.push(self.state.stops, InputKind::Detail(detail));
    }

    /// Hash of bodies, channels, queue and accounts.
    #[must_use]
    pub fn hash(&self) -> u64 {
        step_hash(&self.model, &self.state)
    }

    /// Hash of everything, memories of controllers included.
    #[must_use]
    pub fn full_hash(&self) -> u64 {
        full_hash(&self.model, &self.state, &self.minds)
    }

    /// The state as bytes, for this build and scenario.
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

    /// A robot's registers as they are now; what was written to them since the last step counts already.
    fn registers(&self, robot: &str, bytes: u32) -> Result<(usize, RegisterFile), Error> {
        if ![1, 2, 4].contains(&bytes) {
            let what = format!("registers are read and written in 1, 2 or 4 bytes, not `{bytes}`");
            return Err(Error::Wrong(Diagnostic::error("wrong-length", what).on(robot)));
        }
        let slot = self.slot(robot)?;
        let mut registers = swarmyard_engine::registers_now(&self.model, &self.state, slot);
        let own = self.journal.at(self.state.stops).iter().filter_map(|input| match &input.kind {
            InputKind::Poke(uid, poke) if *uid == self.model.uids[slot] => Some(poke),
            _ => None,
        });
        for poke in own {
            poke.play(&mut registers);
        }
        registers.refresh();
        Ok((slot, registers))
    }

    fn slot(&self, path: &str) -> Result<usize, Error> {
        self.model.slot_of_path(path).ok_or_else(|| {
            let near = self.model.paths.iter().take(10_000);
            let d = Diagnostic::error("unknown-path", format!("there is nothing that moves at `{path}`"));
            Error::Wrong(d.suggest(path, near))
        })
    }

    fn part(&self, path: &str) -> Result<(usize, usize, usize), Error> {
        let (robot, part) = path.rsplit_once('/').unwrap_or(("", path));
        let slot = self.slot(robot)?;
        let t = self.model.type_of[slot] as usize;
        let parts = &self.model.types[t].parts;
        let p = parts.iter().position(|p| p.name == part).ok_or_else(|| {
            let d = Diagnostic::error("unknown-part", format!("`{robot}` has no part `{part}`"));
            Error::Wrong(d.suggest(part, parts.iter().map(|p| p.name.as_str())))
        })?;
        Ok((slot, t, p))
    }
}

/// Fewer robots than this are faster on one thread.
const SMALL_WORLD: usize = 1000;

fn threads_for(robots: usize) -> usize {
    if robots < SMALL_WORLD { 1 } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// Says why a scenario cannot be read; when it is not there, which one may have been meant.
fn no_file(path: &Path, why: &std::io::Error) -> Diagnostic {
    let shown = path.display();
    if why.kind() != std::io::ErrorKind::NotFound {
        return Diagnostic::error("no-file", format!("cannot read `{shown}`: {why}"));
    }
    let d = Diagnostic::error("no-file", format!("there is no file `{shown}`"));
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let scenarios = entries.filter(|p| p.extension().is_some_and(|e| e == "toml"));
    let names: Vec<String> = scenarios.filter_map(|p| Some(p.file_name()?.to_str()?.to_owned())).collect();
    let wrong = path.file_name().and_then(|n| n.to_str()).unwrap_or("");
    match swarmyard_base::path::nearest(wrong, names.iter().map(String::as_str)) {
        Some(near) => d.help(format!("did you mean `{}`?", path.with_file_name(near).display())),
        None => d.help("make a project with a scenario that runs: swarmyard init my-project"),
    }
}
