//! From a recording back to the run it was made of, and the header of a new one.
//!
//! Here because both the command and the server open recordings, and the crate of recordings knows
//! nothing about how a run is driven.

use std::sync::Arc;
use swarmyard_agents::Workshop;
use swarmyard_engine::{InputKind, Model};
use swarmyard_formats::{Loader, OVERRIDE_SOURCE};
use swarmyard_record::{Header, Recording, SourceText, code_name};
use swarmyard_sim::{Error, Options, Scenario, Sim, registry_with};

/// The header of a recording of this run.
#[must_use]
pub fn header(sim: &Sim, scenario: &str, overrides: &[(String, String)]) -> Header {
    header_of(sim.model(), scenario, overrides)
}

/// The header of a recording in this world.
///
/// Overrides stand in the header by themselves; their little texts are for error messages only.
#[must_use]
pub fn header_of(model: &Model, scenario: &str, overrides: &[(String, String)]) -> Header {
    let mut header = Header::of(model, scenario, overrides);
    header.sources.retain(|s| s.name != OVERRIDE_SOURCE);
    header
}

/// The run of a recording before its first step: same texts, same overrides, same journal.
///
/// # Errors
/// When its texts or its code are not there, or cannot be used.
pub fn rebuild(recording: &Recording, threads: usize) -> Result<Sim, Error> {
    let header = recording.header();
    let options = Options { overrides: header.overrides.clone(), threads, ..Options::default() };
    let mut sim = with_scenario(header, |s| Sim::read(s.name, s.text, s.loader, s.registry, &options))?;
    for world in recording.worlds() {
        let header = recording.world(world).map_err(|e| Error::System(e.to_string()))?;
        with_scenario(&header, |scenario| sim.shelve_world(scenario))?;
    }
    let mut world = sim.model().world;
    for input in recording.journal().all() {
        match input.kind {
            InputKind::World(next) => world = next,
            InputKind::Code { ty, controller, code } => {
                let name = code_name(code);
                let bytes = header.code.iter().find(|c| c.name == name).map_or(&[][..], |c| &c.bytes);
                sim.shelve_in(world, ty as usize, controller as usize, bytes)?;
            }
            _ => {}
        }
    }
    sim.set_journal(recording.journal().clone())?;
    Ok(sim)
}

/// Makes something of the scenario that a header holds.
fn with_scenario<T>(
    header: &Header,
    make: impl FnOnce(&Scenario<'_>) -> Result<T, Error>,
) -> Result<T, Error> {
    let empty = SourceText { name: header.scenario.clone(), text: String::new() };
    let (root, others) = header.sources.split_first().unwrap_or((&empty, &[]));
    // What was made of the sources then is used now: neither they nor a compiler are needed.
    let code = header.code.iter().map(|c| (c.name.clone(), c.bytes.clone())).collect();
    let registry = registry_with(&Arc::new(Workshop::with_made(code)));
    let (name, text, overrides) = (&*root.name, &*root.text, &*header.overrides);
    let scenario = Scenario { name, text, overrides, loader: &Embedded(others), registry: &registry };
    make(&scenario)
}

/// Steps of the recorded run, as far as the file knows.
#[must_use]
pub fn last_step(recording: &Recording) -> u64 {
    recording.end().map_or_else(|| recording.hashes().last().map_or(0, |m| m.step), |e| e.step)
}

/// Texts inside a recording, by name.
struct Embedded<'a>(&'a [SourceText]);

impl Loader for Embedded<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        let found = self.0.iter().find(|s| s.name == name);
        found.map(|s| s.text.clone()).ok_or_else(|| "the recording does not hold it".into())
    }
}
