//! What a sweep is to do: the scenario's `[sweep]` and the arguments over it.
//!
//! In: arguments. Out: a [`Plan`]: the runs in order, and an identity that says whether results found in
//! a journal are results of this very scenario. No run is started here.

use super::SweepArgs;
use crate::cli::fail::{Exit, Failure};
use crate::cli::load;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use swarmyard::base::hash::{NUMERICS_VERSION, bytes_hash, mix64};
use swarmyard::base::{Diagnostic, Diagnostics, Sources, Span};
use swarmyard::formats;
use swarmyard::scene::sweep::{Sweep, quantity};
use swarmyard::scene::{Node, Scene};
use swarmyard::{Folder, Gauge, Sim, read_text, standard_registry};

/// A sweep, ready to be run.
pub(super) struct Plan {
    pub(super) file: PathBuf,
    /// Overrides of every run, from `--set`.
    pub(super) set: Vec<(String, String)>,
    pub(super) sweep: Sweep,
    /// Values of the axes, point by point.
    pub(super) points: Vec<Vec<String>>,
    /// Names of the scenario's assertions.
    pub(super) asserts: Vec<String>,
    /// Hash of what the scenario means, comments and `[sweep]` aside, and of the code it runs.
    pub(super) identity: u64,
    /// The same of the scenario with a value that is no number.
    brought: BTreeMap<(String, String), u64>,
}

/// One run of a sweep.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task {
    /// Index of its point.
    pub(super) point: usize,
    pub(super) seed: u64,
}

impl Plan {
    /// Reads the scenario and lays the arguments over its `[sweep]`.
    pub(super) fn make(args: &SweepArgs) -> Result<Plan, Failure> {
        let scene = read(&args.file, &args.set.set)?;
        let table = table(&scene)?;
        if table.is_none() && args.vary.is_empty() && args.seeds.is_none() {
            let file = args.file.display();
            let what = format!("`{file}` has no table `[sweep]`, and nothing to vary was given");
            return Err(Failure::new(Exit::Usage, "nothing-to-vary", what).help(
                "give --vary KEY=VALUES or --seeds N, or write a table `[sweep]`: swarmyard describe sweep",
            ));
        }
        let mut sweep = table.unwrap_or_default();
        args.lay_over(&mut sweep);
        let (mut plan, base) = Plan::checked(&args.file, &args.set.set, sweep)?;
        plan.identity = meaning(&scene, &base);
        plan.bring();
        Ok(plan)
    }

    /// A plan whose keys and measures the scenario has; and the scenario as it is, loaded.
    fn checked(file: &Path, set: &[(String, String)], sweep: Sweep) -> Result<(Plan, Sim), Failure> {
        let points = sweep.points().map_err(|what| Failure::new(Exit::Usage, "bad-sweep", what))?;
        let base = load::scenario(file, set, 1)?;
        let plan = Plan {
            file: file.to_owned(),
            set: set.to_vec(),
            sweep,
            points,
            asserts: base.model().asserts.iter().map(|a| a.name.clone()).collect(),
            identity: 0,
            brought: BTreeMap::new(),
        };
        plan.check_keys()?;
        plan.check_measures(&base)?;
        Ok((plan, base))
    }

    pub(super) fn runs(&self) -> usize {
        self.points.len() * self.sweep.seeds.len()
    }

    /// Run `k`, counted from 0: all seeds of the first point, then those of the second, and so on.
    pub(super) fn task(&self, k: usize) -> Task {
        let seeds = &self.sweep.seeds;
        Task { point: k / seeds.len(), seed: seeds[k % seeds.len()] }
    }

    /// Keys and values of a point.
    pub(super) fn point(&self, task: Task) -> Vec<(String, String)> {
        let keys = self.sweep.axes.iter().map(|a| a.key.clone());
        keys.zip(self.points[task.point].iter().cloned()).collect()
    }

    /// Everything that a run lays over the scenario.
    pub(super) fn overrides(&self, task: Task) -> Vec<(String, String)> {
        let mut all = self.set.clone();
        all.extend(self.point(task));
        if let Some(until_s) = self.sweep.until_s {
            all.push(("run.duration".into(), until_s.to_string()));
        }
        all.push(("run.seed".into(), task.seed.to_string()));
        all
    }

    /// A key that the scenario does not have is wrong in every run: it is said at once. A value that a key
    /// cannot have is a matter of its runs.
    fn check_keys(&self) -> Result<(), Failure> {
        let Err(mut failure) = read(&self.file, &self.overrides(self.task(0))) else { return Ok(()) };
        if failure.problems.0.iter().all(|d| d.code != "bad-override") {
            return Ok(());
        }
        if let Ok(scene) = read(&self.file, &self.set) {
            failure.problems.0.iter_mut().for_each(|d| place_at_axis(d, &failure.sources, &scene));
        }
        Err(failure)
    }

    /// A measure must have a meaning in the scenario as it is, or at the last point.
    fn check_measures(&self, base: &Sim) -> Result<(), Failure> {
        for measure in &self.sweep.measures {
            let Err(d) = Gauge::new(base.model(), measure) else { continue };
            let last = load::scenario(&self.file, &self.overrides(self.task(self.runs() - 1)), 1);
            if last.map_or(true, |sim| Gauge::new(sim.model(), measure).is_err()) {
                return Err(Failure::one(Exit::Scenario, d).on(self.file.display().to_string()));
            }
        }
        Ok(())
    }

    /// Name of a run: what it is a run of, in one number. Results are found again by it.
    pub(super) fn key(&self, task: Task) -> u64 {
        let mut text = format!("{:016x} numerics {NUMERICS_VERSION} seed {}\n", self.identity, task.seed);
        for pair in self.point(task) {
            let brought = self.brought.get(&pair).copied().unwrap_or(0);
            let _ = writeln!(text, "{}={} {brought:016x}", pair.0, pair.1);
        }
        bytes_hash(text.as_bytes())
    }

    /// What values bring with them that are no numbers: they may name files.
    fn bring(&mut self) {
        for (at, axis) in self.sweep.axes.iter().enumerate() {
            let words: BTreeSet<&String> = self.points.iter().map(|p| &p[at]).collect();
            for word in words.into_iter().filter(|v| quantity(v).is_none()) {
                let pair = (axis.key.clone(), word.clone());
                let set = [&self.set[..], std::slice::from_ref(&pair)].concat();
                if let (Ok(scene), Ok(sim)) = (read(&self.file, &set), load::scenario(&self.file, &set, 1)) {
                    self.brought.insert(pair, meaning(&scene, &sim));
                }
            }
        }
    }
}

/// A wrong key of an axis that stands in a scenario is wrong there, and not where it was laid over it.
fn place_at_axis(d: &mut Diagnostic, sources: &Sources, scene: &Scene) {
    let text = |sources: &Sources, span: Span| Some(sources.0.get(span.source.0 as usize)?.text.clone());
    let Some(laid_over) = d.span.and_then(|span| text(sources, span)) else { return };
    let Some((key, _)) = laid_over.split_once('=') else { return };
    let axes = scene.group("/sweep").iter().filter(|child| &*child.class == "axis");
    let written =
        axes.filter(|a| a.params.text_or_none("key") == Some(key)).find_map(|a| a.params.span("key"));
    if let Some(span) = written.filter(|span| text(sources, *span) == text(&scene.sources, *span)) {
        d.span = Some(span);
    }
}

/// Hash of what a scenario says and of the code it runs; not of comments, places, names of files or `[sweep]`.
pub(crate) fn meaning(scene: &Scene, sim: &Sim) -> u64 {
    fn node(out: &mut String, of: &Node) {
        let _ = write!(out, "{} {} {:?} {{", of.name, of.class, of.pose);
        for (key, entry) in of.params.iter() {
            let _ = write!(out, "{key}={:?};", entry.value);
        }
        let _ = write!(out, "}}{}(", of.proto.as_ref().map_or("", |p| p.name.as_str()));
        of.children.iter().filter(|c| &*c.class != "sweep").for_each(|child| node(out, child));
        out.push(')');
    }
    let mut text = String::new();
    node(&mut text, &scene.root);
    let code = sim.model().code();
    code.iter().fold(bytes_hash(text.as_bytes()), |sum, (_, bytes)| mix64(sum ^ bytes_hash(bytes)))
}

/// Says whether the keys and measures of a scenario's `[sweep]` exist.
pub(super) fn check(file: &Path, set: &[(String, String)]) -> Result<(), Failure> {
    match table(&read(file, set)?)? {
        None => Ok(()),
        Some(sweep) => Plan::checked(file, set, sweep).map(|_| ()),
    }
}

/// What the scenario's `[sweep]` says, if it has one.
fn table(scene: &Scene) -> Result<Option<Sweep>, Failure> {
    scene.find("/sweep").map(Sweep::read).transpose().map_err(|problems| Failure {
        exit: Exit::Scenario,
        sources: scene.sources.clone(),
        problems: Diagnostics(problems),
        file: None,
    })
}

/// The scene of a scenario file.
pub(crate) fn read(file: &Path, set: &[(String, String)]) -> Result<Scene, Failure> {
    let name = file.display().to_string();
    let text = read_text(file).map_err(|e| Failure::file("read", file, &e))?;
    let registry = standard_registry();
    let read = formats::read(&name, &text, set, &Folder::of(file), &registry);
    read.map(|loaded| loaded.scene).map_err(|failed| Failure {
        exit: Exit::Scenario,
        sources: failed.sources,
        problems: failed.problems,
        file: Some(name),
    })
}
