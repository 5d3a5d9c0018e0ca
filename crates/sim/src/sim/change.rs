//! Changing the world while it runs.
//!
//! In: a scenario as text, given now or stored. Out: the run in the new world, at the same stop; or why
//! not, and then nothing has changed. The change enters the journal by the world's hash, and the worlds
//! of a run stand on a shelf, so that a replay makes the same change at the same stop, and a snapshot is
//! opened in the world it was taken in. Never: a step.

use super::load::compiled;
use super::{Error, Sim};
use crate::crowd::Shelf;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::Sources;
use swarmyard_engine::{
    Compiled, ControllerKind, Graft, Input, InputKind, Journal, Minds, Model, Report, SnapshotError,
    Standing, Start, State, graft, renumbered, restore, snapshot_world,
};
use swarmyard_formats::Loader;
use swarmyard_part_api::Registry;

/// A scenario as it is given: its text, and where to find what the text names.
#[derive(Clone, Copy)]
pub struct Scenario<'a> {
    /// Name of its file.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// `key=value` pairs laid over it.
    pub overrides: &'a [(String, String)],
    /// Where its other texts come from: files, or those of a recording.
    pub loader: &'a dyn Loader,
    /// What parts and controllers there are.
    pub registry: &'a Registry,
}

/// The worlds of a run, by hash.
#[derive(Clone)]
pub(super) struct Worlds {
    /// The one it began in.
    origin: u64,
    all: BTreeMap<u64, Arc<Shelved>>,
}

/// One world of a run, on its shelf.
pub struct Shelved {
    /// What is fixed in it.
    pub model: Arc<Model>,
    /// What was laid over its scenario.
    pub overrides: Vec<(String, String)>,
    start: Start,
}

impl Shelved {
    fn new(model: Arc<Model>, state: &State, overrides: &[(String, String)]) -> Shelved {
        Shelved { model, start: Start::of(state), overrides: overrides.to_vec() }
    }
}

impl Worlds {
    /// The shelf of a run that has just begun.
    pub(super) fn begin(model: &Arc<Model>, state: &State, overrides: &[(String, String)]) -> Worlds {
        let world = Shelved::new(Arc::clone(model), state, overrides);
        Worlds { origin: model.world, all: BTreeMap::from([(model.world, Arc::new(world))]) }
    }

    /// Whether a world is on the shelf.
    pub(super) fn has(&self, world: u64) -> bool {
        self.all.contains_key(&world)
    }

    /// Takes over the worlds of a run that this one replays.
    pub(super) fn catch_up(&mut self, live: &Worlds) {
        for (hash, world) in &live.all {
            self.all.entry(*hash).or_insert_with(|| Arc::clone(world));
        }
    }

    /// All of them.
    pub(super) fn shelf(&self) -> Shelf<'_> {
        Shelf { origin: self.origin, all: &self.all }
    }

    /// What was laid over the scenario of a world.
    pub(super) fn overrides_of(&self, world: u64) -> &[(String, String)] {
        self.all.get(&world).map_or(&[], |world| &world.overrides)
    }

    fn get(&self, world: u64) -> Result<&Arc<Shelved>, Error> {
        let missing =
            || Error::System(format!("the journal changes to world {world:016x}, which is not here"));
        self.all.get(&world).ok_or_else(missing)
    }
}

impl Sim {
    /// Changes the world: from now on the run is in the one that `scenario` says. It enters the journal.
    ///
    /// Bodies go on by path, parts and controllers by name; a body whose start has changed is put there.
    /// The report says what became of everything. Of several changes at one stop each is made.
    ///
    /// # Errors
    /// All problems of the scenario, or who would overlap, or that a step is under way; the run is as before.
    pub fn change(&mut self, scenario: &Scenario<'_>) -> Result<Report, Error> {
        if self.is_under_way() {
            return Err(Error::System("a step is under way: the world can be changed at its end".into()));
        }
        self.enter()?;
        let Compiled { model, state, warnings } = compiled(scenario)?;
        let world = Shelved::new(Arc::new(model), &state, scenario.overrides);
        let report = self.go_over(&Arc::new(world))?;
        self.warnings = warnings;
        self.journal.push(self.state.stops, InputKind::World(self.model.world));
        Ok(report)
    }

    /// Puts a world on the shelf that a journal changes to. Answers its hash.
    ///
    /// # Errors
    /// All problems of the scenario at once.
    pub fn shelve_world(&mut self, scenario: &Scenario<'_>) -> Result<u64, Error> {
        let Compiled { model, state, .. } = compiled(scenario)?;
        let world = Shelved::new(Arc::new(model), &state, scenario.overrides);
        let hash = world.model.world;
        self.worlds.all.entry(hash).or_insert_with(|| Arc::new(world));
        Ok(hash)
    }

    /// Puts code on the shelf that a journal switches to while the run is in a certain world.
    ///
    /// # Errors
    /// When there is no such world or controller, or the code cannot run.
    pub fn shelve_in(&mut self, world: u64, ty: usize, controller: usize, code: &[u8]) -> Result<(), Error> {
        let model = Arc::clone(&self.worlds.get(world)?.model);
        let found = model.types.get(ty).and_then(|t| t.controllers.get(controller));
        let Some(ControllerKind::Program(program)) = found.map(|c| &c.model) else {
            return Err(Error::System("the code belongs to no controller of this scenario".into()));
        };
        let program = program.with_code(code).map_err(|d| Error::Scenario(Sources::default(), d))?;
        self.code.insert(program.code(), Arc::clone(&program));
        self.minds.shelve(program);
        Ok(())
    }

    /// The overrides of the world that the run is in.
    #[must_use]
    pub fn overrides(&self) -> &[(String, String)] {
        self.worlds.overrides_of(self.model.world)
    }

    /// The worlds that the run went through at the stop of its last step, in order: the present one last,
    /// and alone when nothing changed. A recorder has to be told of them.
    #[must_use]
    pub fn worlds_of_step(&self) -> Vec<&Shelved> {
        let last = self.state.stops.saturating_sub(1);
        let mut worlds: Vec<u64> = self.state.worlds.iter().filter(|w| w.0 >= last).map(|w| w.1).collect();
        if worlds.last() != Some(&self.model.world) {
            worlds.push(self.model.world);
        }
        worlds.iter().filter_map(|world| self.worlds.all.get(world).map(Arc::as_ref)).collect()
    }

    /// The worlds of the run.
    #[must_use]
    pub fn worlds(&self) -> Shelf<'_> {
        self.worlds.shelf()
    }

    /// The programs of the run, with all code that it knows.
    #[must_use]
    pub fn minds(&self) -> &Minds {
        &self.minds
    }

    /// Goes on with inputs that are known already, from where the run stands on: those of a run that came farther. Others
    /// that were to enter at their stops are forgotten.
    ///
    /// # Errors
    /// When they are of earlier stops, out of order, or name what is not here; nothing has changed then.
    pub fn foresee(&mut self, inputs: &[Input]) -> Result<(), Error> {
        self.check(inputs)?;
        let Some(first) = inputs.first() else { return Ok(()) };
        if first.stop < self.state.stops || !inputs.is_sorted_by_key(|i| i.stop) {
            return Err(Error::System("inputs of stops that are over cannot enter".into()));
        }
        self.journal.cut_from(first.stop);
        for input in inputs {
            self.journal.push(input.stop, input.kind.clone());
        }
        Ok(())
    }

    /// Whether everything is here that inputs name.
    pub(super) fn check(&self, inputs: &[Input]) -> Result<(), Error> {
        for input in inputs {
            let missing = match input.kind {
                InputKind::Code { code, .. } if !self.minds.knows(code) => {
                    format!("switches to code {code:016x}")
                }
                InputKind::World(world) if !self.worlds.has(world) => {
                    format!("changes to world {world:016x}")
                }
                _ => continue,
            };
            return Err(Error::System(format!("the journal {missing}, which is not here")));
        }
        Ok(())
    }

    /// Makes the changes that the journal has for this stop and that have not been made yet.
    pub(super) fn enter(&mut self) -> Result<(), Error> {
        let stop = self.state.stops;
        let made = self.state.worlds.iter().rev().take_while(|w| w.0 == stop).count();
        let worlds = self.journal.at(stop).iter().filter_map(|input| match input.kind {
            InputKind::World(world) => Some(world),
            _ => None,
        });
        let open: Vec<u64> = worlds.skip(made).collect();
        for world in open {
            let world = Arc::clone(self.worlds.get(world)?);
            self.go_over(&world)?;
        }
        Ok(())
    }

    /// The inputs of this stop as the step has to see them, where the world changes at it ([`seen_at`]).
    pub(super) fn seen(&self) -> Option<Journal> {
        seen_at(self.state.stops, &self.state, self.worlds.shelf(), &self.journal)
    }

    /// Opens a snapshot in the world it was taken in.
    pub(super) fn open(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let named = snapshot_world(bytes).filter(|world| self.worlds.has(*world));
        let model = Arc::clone(&self.worlds.get(named.unwrap_or(self.worlds.origin))?.model);
        let (state, minds) = restore(&model, &self.minds, bytes).map_err(Error::Snapshot)?;
        // It may be of another run: then it has gone through worlds that are not here.
        let is_known = state.worlds.iter().all(|w| self.worlds.has(w.1));
        let is_last = state.worlds.last().is_none_or(|w| w.1 == model.world);
        if !(is_known && is_last) {
            return Err(Error::Snapshot(SnapshotError::OtherScenario));
        }
        (self.model, self.state, self.minds) = (model, state, minds);
        self.journal.cut_from(self.state.stops);
        self.journal.set_worlds(&self.state.worlds);
        Ok(())
    }

    /// Takes the run over into a world, and puts that on the shelf.
    fn go_over(&mut self, world: &Arc<Shelved>) -> Result<Report, Error> {
        self.gather()?;
        let old = Arc::clone(self.worlds.get(self.model.world)?);
        let before =
            Standing { model: &self.model, start: &old.start, state: &self.state, minds: &self.minds };
        let refused = |problems| Error::Scenario(world.model.sources.clone(), problems);
        let Graft { state, kinship, report } = graft(&before, &world.model, &world.start).map_err(refused)?;
        self.minds.move_over(&self.model, &world.model, &kinship);
        self.crew.move_over(&self.model, &kinship);
        self.state = state;
        self.stands = None;
        self.scratch = self.fresh_scratch();
        if let Some(crowd) = &mut self.crowd {
            crowd.reset();
        }
        // A world that was here before is the same one: its model is not kept twice.
        let kept = self.worlds.all.entry(world.model.world).or_insert_with(|| Arc::clone(world));
        self.model = Arc::clone(&kept.model);
        Ok(report)
    }
}

/// The inputs of a stop as its step has to see them, where the world changes at it; `state` is that of the run there or later.
///
/// What came before a change names parts and controllers by the numbers they had then. A change of
/// `[run]` is an input at its place.
pub(crate) fn seen_at(stop: u64, state: &State, worlds: Shelf<'_>, journal: &Journal) -> Option<Journal> {
    let inputs = journal.at(stop);
    if !inputs.iter().any(|i| matches!(i.kind, InputKind::World(_))) {
        return None;
    }
    let model = |world: u64| worlds.all.get(&world).map(|shelved| &*shelved.model);
    let mut old = model(state.worlds.iter().rev().find(|w| w.0 < stop).map_or(worlds.origin, |w| w.1))?;
    let mut seen: Vec<InputKind> = Vec::new();
    for Input { kind, .. } in inputs {
        let InputKind::World(world) = kind else {
            seen.push(kind.clone());
            continue;
        };
        let new = model(*world)?;
        seen = seen.iter().filter_map(|kind| renumbered(kind, old, new)).collect();
        if new.run.quantum != old.run.quantum {
            seen.push(InputKind::Quantum(new.run.quantum));
        }
        if new.run.detail != old.run.detail {
            seen.push(InputKind::Detail(new.run.detail));
        }
        old = new;
    }
    let mut journal = Journal::default();
    for kind in seen {
        journal.push(stop, kind);
    }
    Some(journal)
}
