//! From a recording back to the run it was made of.

use super::fail::Failure;
use std::path::Path;
use std::sync::Arc;
use swarmyard::agents::Workshop;
use swarmyard::base::hash::NUMERICS_VERSION;
use swarmyard::engine::InputKind;
use swarmyard::formats::Loader;
use swarmyard::record::{Header, Recording, SourceText, code_name};
use swarmyard::{Options, Scenario, Sim, registry_with};

/// The header of a recording of this run.
///
/// Overrides stand in the header by themselves; their little texts are for error messages only.
pub(crate) fn header(sim: &Sim, scenario: &str, overrides: &[(String, String)]) -> Header {
    let mut header = Header::of(sim.model(), scenario, overrides);
    header.sources.retain(|s| s.name != swarmyard::formats::OVERRIDE_SOURCE);
    header
}

/// Opens a recording; its name is added to whatever is wrong with it.
pub(crate) fn open(path: &Path) -> Result<Recording, Failure> {
    Recording::open(path).map_err(|e| Failure::from(e).on(path.display().to_string()))
}

/// The run of a recording before its first step: same texts, same overrides, same journal.
pub(crate) fn rebuild(recording: &Recording, threads: usize) -> Result<Sim, Failure> {
    let header = recording.header();
    let options = Options { overrides: header.overrides.clone(), threads, ..Options::default() };
    let mut sim = with_scenario(header, |s| Sim::read(s.name, s.text, s.loader, s.registry, &options))?;
    for world in recording.worlds() {
        with_scenario(&recording.world(world)?, |scenario| sim.shelve_world(scenario))?;
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
    make: impl FnOnce(&Scenario<'_>) -> Result<T, swarmyard::Error>,
) -> Result<T, Failure> {
    let empty = SourceText { name: header.scenario.clone(), text: String::new() };
    let (root, others) = header.sources.split_first().unwrap_or((&empty, &[]));
    // What was made of the sources then is used now: neither they nor a compiler are needed.
    let code = header.code.iter().map(|c| (c.name.clone(), c.bytes.clone())).collect();
    let registry = registry_with(&Arc::new(Workshop::with_made(code)));
    let (name, text, overrides) = (&*root.name, &*root.text, &*header.overrides);
    let scenario = Scenario { name, text, overrides, loader: &Embedded(others), registry: &registry };
    Ok(make(&scenario)?)
}

/// Why this build may not give the recorded bits again, if so.
pub(crate) fn other_build(recording: &Recording) -> Option<String> {
    let header = recording.header();
    (header.numerics != NUMERICS_VERSION).then(|| {
        format!(
            "it was made by build `{}`; the numbers of this one are version {NUMERICS_VERSION}",
            header.build
        )
    })
}

/// Steps of the recorded run, as far as the file knows.
pub(crate) fn last_step(recording: &Recording) -> u64 {
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
