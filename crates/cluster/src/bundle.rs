//! A world on its way to a worker: its texts and the code it runs, so that no file has to be there.

use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use swarmyard_agents::{Elsewhere, Workshop};
use swarmyard_engine::{Compiled, Model, compile};
use swarmyard_formats::{Loader, OVERRIDE_SOURCE};
use swarmyard_part_api::Registry;
use swarmyard_sim::{ElsewhereFigures, Error, Options, Scenario, Sim, registry_with};

/// All that a worker needs to compile a world.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bundle {
    /// (name, text); the scenario comes first.
    texts: Vec<(String, String)>,
    /// What was laid over it.
    overrides: Vec<(String, String)>,
    /// (name, bytes) of what was made of the sources of programs.
    code: Vec<(String, Vec<u8>)>,
    /// The project's folder, where native programs are started; `None` for worlds without.
    folder: Option<PathBuf>,
}

/// What native programs may do on a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Natives {
    /// Folders in which worlds with native programs may stand; `None` is anywhere.
    pub allowed: Option<Vec<PathBuf>>,
    /// How those on other hosts are started.
    pub elsewhere: Option<Elsewhere>,
}

impl Natives {
    /// What modules of robots on other hosts cost since this was last asked for.
    pub(crate) fn cost(&self) -> Vec<ElsewhereFigures> {
        self.elsewhere.as_ref().map_or_else(Vec::new, |e| ElsewhereFigures::of(e.prices.take()))
    }
}

struct Texts<'a>(&'a [(String, String)]);

impl Loader for Texts<'_> {
    fn load(&self, name: &str) -> Result<String, String> {
        let found = self.0.iter().find(|t| t.0 == name);
        found.map(|t| t.1.clone()).ok_or_else(|| "it did not come with the world".into())
    }
}

impl Bundle {
    /// Packs a compiled world.
    #[must_use]
    pub fn of(model: &Model, overrides: &[(String, String)]) -> Bundle {
        let texts = model.sources.0.iter().filter(|s| s.name != OVERRIDE_SOURCE);
        let texts: Vec<_> = texts.map(|s| (s.name.clone(), s.text.to_string())).collect();
        let folder = texts.first().filter(|_| model.asks_outside()).map(|(name, _)| {
            let folder = Path::new(name).parent().filter(|p| !p.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
        });
        Bundle { texts, overrides: overrides.to_vec(), code: model.code(), folder }
    }

    /// A run of it, before its first step.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn sim(&self, threads: usize, elsewhere: Option<Elsewhere>) -> Result<Sim, Error> {
        let no_text = || Error::System("the world has no text".to_owned());
        let (name, text) = self.texts.first().ok_or_else(no_text)?;
        let registry = self.registry(elsewhere.clone());
        let options = Options { overrides: self.overrides.clone(), threads, elsewhere, ..Options::default() };
        Sim::read(name, text, &Texts(&self.texts[1..]), &registry, &options)
    }

    /// Puts it on the shelf of a run that goes over to it.
    ///
    /// # Errors
    /// Why it cannot be compiled.
    pub fn shelve(&self, sim: &mut Sim, elsewhere: Option<Elsewhere>) -> Result<u64, Error> {
        let no_text = || Error::System("the world has no text".to_owned());
        let (name, text) = self.texts.first().ok_or_else(no_text)?;
        let (loader, registry) = (Texts(&self.texts[1..]), self.registry(elsewhere));
        let overrides = &self.overrides;
        sim.shelve_world(&Scenario { name, text, overrides, loader: &loader, registry: &registry })
    }

    fn registry(&self, elsewhere: Option<Elsewhere>) -> Registry {
        let workshop = match &self.folder {
            Some(folder) => Workshop::in_folder(folder),
            None => Workshop::with_made(self.code.clone()),
        };
        registry_with(&Arc::new(workshop.with_elsewhere(elsewhere)))
    }

    /// Compiles it, where the owner of the machine may let native programs run only in some folders.
    ///
    /// # Errors
    /// It has native programs and stands elsewhere; nothing of it was compiled or started then. Or it cannot be compiled.
    pub fn compile_within(&self, natives: &Natives) -> Result<Compiled, String> {
        let Some(allowed) = &natives.allowed else { return self.compile(natives) };
        if let Some(folder) = &self.folder {
            let shown = folder.display();
            // What links point to counts, not where they stand.
            let folder =
                folder.canonicalize().map_err(|e| format!("its folder is not here: {e}: `{shown}`"))?;
            let is_inside = |a: &PathBuf| a.canonicalize().is_ok_and(|a| folder.starts_with(a));
            if !allowed.iter().any(is_inside) {
                return Err(format!(
                    "this machine's owner does not let programs of this folder run; they can allow it with `swarmyard host --allow`: `{shown}`"
                ));
            }
        }
        let compiled = self.compile(natives)?;
        if self.folder.is_none() && compiled.model.asks_outside() {
            return Err("the world has native programs and does not say in which folder".to_owned());
        }
        Ok(compiled)
    }

    /// Compiles it.
    ///
    /// # Errors
    /// Why it cannot be, in words.
    fn compile(&self, natives: &Natives) -> Result<Compiled, String> {
        let registry = self.registry(natives.elsewhere.clone());
        let (name, text) = self.texts.first().ok_or("the world has no text")?;
        let loaded =
            swarmyard_formats::read(name, text, &self.overrides, &Texts(&self.texts[1..]), &registry)
                .map_err(|failed| render(&failed.sources, &failed.problems))?;
        compile(&loaded.scene, &registry).map_err(|problems| render(&loaded.scene.sources, &problems))
    }
}

fn render(sources: &swarmyard_base::Sources, problems: &swarmyard_base::Diagnostics) -> String {
    let all: Vec<String> = problems.0.iter().map(|d| sources.render(d)).collect();
    all.join("\n")
}
