//! From a scenario to a run before its first step.
//!
//! In: a file, a text or a scene, and options. Out: a [`Sim`], or everything that is wrong at once.

use super::change::{Scenario, Worlds};
use super::{Error, Sim};
use crate::folder::{Folder, read_text};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use swarmyard_agents::{Crew, Elsewhere, Prices, Workshop};
use swarmyard_base::Diagnostic;
use swarmyard_engine::{Compiled, Grouping, Journal, Minds, Pool, Scratch, compile};
use swarmyard_formats::{Loader, NoFiles};
use swarmyard_part_api::Registry;
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

impl Sim {
    /// Loads a scenario file.
    ///
    /// # Errors
    /// All problems of the scenario at once, or why the file cannot be read.
    pub fn load(path: impl AsRef<Path>, options: &Options) -> Result<Sim, Error> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let text = read_text(path).map_err(|e| Error::Wrong(no_file(path, &e)))?;
        let folder = Folder::of(path);
        let workshop = Workshop::in_folder(folder.path()).with_elsewhere(options.elsewhere.clone());
        Sim::read(&name, &text, &folder, &registry_with(&Arc::new(workshop)), options)
    }

    /// Loads a scenario file without the code of its controllers, which do nothing: to look at a world
    /// whose programs are not written yet.
    ///
    /// # Errors
    /// All problems of the scenario at once, or why the file cannot be read.
    pub fn load_idle(path: impl AsRef<Path>) -> Result<Sim, Error> {
        let path = path.as_ref();
        let text = read_text(path).map_err(|e| Error::Wrong(no_file(path, &e)))?;
        let mut registry = without_programs();
        swarmyard_agents::register_idle(&mut registry);
        let name = path.display().to_string();
        Sim::read(&name, &text, &Folder::of(path), &registry, &Options::default())
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
        let overrides = &options.overrides;
        Sim::begin(compiled(&Scenario { name, text, overrides, loader, registry })?, options)
    }

    /// Compiles a scene that a program has built.
    ///
    /// # Errors
    /// All problems of the scene at once.
    pub fn from_scene(scene: &Scene, registry: &Registry, options: &Options) -> Result<Sim, Error> {
        Sim::begin(compiled_scene(scene, registry)?, options)
    }

    /// A run before its first step.
    fn begin(Compiled { model, state, warnings }: Compiled, options: &Options) -> Result<Sim, Error> {
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
            told: None,
            stands: None,
            prices: options.elsewhere.as_ref().map_or_else(Prices::default, |e| e.prices.clone()),
        })
    }
}

/// Reads a scenario and compiles it. Its warnings are those of its reader and those of its compiler.
pub(super) fn compiled(scenario: &Scenario<'_>) -> Result<Compiled, Error> {
    let Scenario { name, text, overrides, loader, registry } = *scenario;
    let loaded = swarmyard_formats::read(name, text, overrides, loader, registry)
        .map_err(|failed| Error::Scenario(failed.sources, failed.problems))?;
    let mut compiled = compiled_scene(&loaded.scene, registry)?;
    compiled.warnings.0.splice(0..0, loaded.warnings.0);
    Ok(compiled)
}

fn compiled_scene(scene: &Scene, registry: &Registry) -> Result<Compiled, Error> {
    compile(scene, registry).map_err(|problems| Error::Scenario(scene.sources.clone(), problems))
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
