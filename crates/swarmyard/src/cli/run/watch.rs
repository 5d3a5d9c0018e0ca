//! Sources of controllers that change while a run goes on.

use crate::cli::progress::Progress;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use swarmyard::{Error, Sim};

/// Seconds between two looks at the files.
const INTERVAL_S: f64 = 0.2;

/// Looks at the sources, and makes controllers anew.
pub(super) struct Watch {
    sources: Vec<Watched>,
    last_s: f64,
}

struct Watched {
    ty: String,
    controller: String,
    path: PathBuf,
    changed: Option<SystemTime>,
}

impl Watch {
    /// Watches the sources of all controllers.
    pub(super) fn new(sim: &Sim) -> Watch {
        let mut sources = Vec::new();
        for ty in &sim.model().types {
            for controller in &ty.controllers {
                if let Some(path) = sim.source(&ty.name, &controller.name) {
                    sources.push(Watched {
                        ty: ty.name.clone(),
                        controller: controller.name.clone(),
                        path: path.to_owned(),
                        changed: changed(path),
                    });
                }
            }
        }
        Watch { sources, last_s: 0.0 }
    }

    /// Makes anew what has changed since the last look.
    pub(super) fn look(&mut self, sim: &mut Sim, progress: &Progress, wall_s: f64) {
        if wall_s - self.last_s < INTERVAL_S {
            return;
        }
        self.last_s = wall_s;
        for source in &mut self.sources {
            let now = changed(&source.path);
            if now == source.changed || now.is_none() {
                continue;
            }
            source.changed = now;
            let shown = source.path.display();
            match sim.reload(&source.ty, &source.controller) {
                Ok(_) => progress
                    .say(&format!("{:>9}  {shown} has changed; its new code runs", sim.now().to_string())),
                Err(Error::Scenario(sources, problems)) => {
                    progress.say(&format!("{shown} has changed, but the old code goes on:"));
                    for problem in &problems.0 {
                        progress.say(&sources.render(problem));
                    }
                }
                Err(other) => progress.say(&other.to_string()),
            }
        }
    }
}

/// When a source was last changed: itself, or a header beside it.
fn changed(path: &Path) -> Option<SystemTime> {
    let own = path.metadata().and_then(|m| m.modified()).ok()?;
    let beside =
        path.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let headers = beside.filter(|e| e.path().extension().is_some_and(|x| x == "h" || x == "hpp"));
    let times = headers.filter_map(|e| e.metadata().and_then(|m| m.modified()).ok());
    Some(times.fold(own, SystemTime::max))
}
