//! `sweep`: one scenario many times, with other parameters and seeds; a table of what came of it.
//!
//! Start reading at [`sweep`]. Runs are independent: each is on one thread, `--jobs` of them at a time, and
//! the table is in the order of the plan whatever finished first. A run that fails is a row with its error.

mod chart;
mod journal;
mod one;
#[cfg(feature = "parquet")]
mod parquet;
mod plan;
mod summary;
mod table;

use super::cluster::ElsewhereArgs;
use super::fail::{Exit, Failure};
use super::load::SetArgs;
use super::out::{Out, count, write_file};
use super::run::Stop;
use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget};
use journal::Journal;
use one::Row;
use plan::Plan;
pub(crate) use plan::{meaning, read as scene};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use summary::Shown;
use swarmyard::base::units::Unit;
use swarmyard::engine::Leave;
use swarmyard::scene::sweep::{self, Axis, Measure, Mode, Sweep};
use table::Table;

const EXAMPLES: &str = "\
Examples:
  swarmyard sweep arena.toml --out results       what its table [sweep] says; goes on where it was ended
  swarmyard sweep arena.toml --vary run.quantum=log:10ms..1s/5 --seeds 10 --measure hits=contacts
  swarmyard sweep worlds/track-line.toml --vary params.tape=5mm..40mm/8 \\
      --vary type.follower.part.eyes.coverage=15,50 --seeds 5 --plot tape.svg";

/// Arguments of `sweep`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct SweepArgs {
    /// The scenario; its table [sweep] says what to run, and the options below win over it
    file: PathBuf,
    /// A key and its values: a list `a,b,c`, a range `a..b/n`, `a..b+step` or `log:a..b/n`, or drawn
    /// by chance: `uniform:a..b/n`, `log-uniform:a..b/n`, `normal:mean,sd/n`, `choice:a,b,c/n`
    #[arg(long, value_name = "KEY=VALUES", value_parser = Axis::parse)]
    vary: Vec<Axis>,
    /// Seeds at each point: N of them from 1, a range `a..b`, or a list `a,b,c`
    #[arg(long, value_name = "SEEDS", value_parser = parse_seeds)]
    seeds: Option<Seeds>,
    /// How keys go together: `grid` every combination, `zip` in step, `random` --samples points by chance
    #[arg(long, value_name = "MODE", value_parser = parse_mode)]
    mode: Option<Mode>,
    /// Points of a sweep by chance
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    samples: Option<u32>,
    /// Seed of the values that are drawn
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=i64::MAX as u64))]
    draw_seed: Option<u64>,
    /// A number of every run, such as `hits=contacts` or `top=max:highest(self.speed)`; instead of the table's
    #[arg(long, value_name = "NAME=[TAKE:]NUMBER", value_parser = Measure::parse)]
    measure: Vec<Measure>,
    /// Duration of every run
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    until: Option<f64>,
    #[command(flatten)]
    set: SetArgs,
    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Folder for journal, CSV, Parquet, summary and charts; what is there already is not run again
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
    /// Throw away what is in the folder's journal, and begin anew
    #[arg(long, requires = "out")]
    fresh: bool,
    /// Print mean and spread at each point instead of the table of all runs (with --out always)
    #[arg(long)]
    summary: bool,
    /// Draw a chart
    #[arg(long, value_name = "PATH.svg")]
    plot: Option<PathBuf>,
    /// Measure of the chart [default: the first; without measures the share of runs that passed]
    #[arg(long, value_name = "NAME")]
    plot_of: Option<String>,
    /// Key along the chart [default: the first that varies]
    #[arg(long, value_name = "KEY")]
    plot_over: Option<String>,
    /// Key with a line for each value [default: the next that varies]
    #[arg(long, value_name = "KEY")]
    plot_by: Option<String>,
    #[command(flatten)]
    way: ElsewhereArgs,
}

/// Seeds from the command line.
#[derive(Clone, Debug)]
struct Seeds(Vec<u64>);

fn parse_seeds(text: &str) -> Result<Seeds, String> {
    sweep::seeds(text).map(Seeds)
}

fn parse_mode(text: &str) -> Result<Mode, String> {
    Mode::of(text).ok_or_else(|| "a mode is grid, zip or random".to_owned())
}

fn parse_duration(text: &str) -> Result<f64, String> {
    Unit::Second.parse(text).and_then(|s| {
        if (0.0..=3.0e9).contains(&s) { Ok(s) } else { Err(format!("a run cannot last `{text}`")) }
    })
}

impl SweepArgs {
    /// Puts what the arguments say over what the scenario says.
    fn lay_over(&self, sweep: &mut Sweep) {
        for axis in &self.vary {
            match sweep.axes.iter_mut().find(|a| a.key == axis.key && !self.vary.contains(a)) {
                Some(own) => *own = axis.clone(),
                None => sweep.axes.push(axis.clone()),
            }
        }
        if let Some(Seeds(seeds)) = &self.seeds {
            sweep.seeds.clone_from(seeds);
        }
        if let Some(mode) = self.mode {
            sweep.mode = mode;
            sweep.samples = sweep.samples.filter(|_| mode == Mode::Random);
        }
        sweep.samples = self.samples.map(|n| n as usize).or(sweep.samples);
        sweep.draw_seed = self.draw_seed.unwrap_or(sweep.draw_seed);
        sweep.until_s = self.until.or(sweep.until_s);
        if !self.measure.is_empty() {
            sweep.measures.clone_from(&self.measure);
        }
    }

    /// What the chart shows: which number, over which axis, by which.
    fn chart_of(&self, plan: &Plan) -> Result<(Shown, Option<usize>, Option<usize>), Failure> {
        let wrong = |what: String, wrong: &str, valid: Vec<&str>| {
            let d = swarmyard::base::Diagnostic::error("unknown-column", what);
            Failure::one(Exit::Usage, d.suggest(wrong, valid))
        };
        let axis = |key: &Option<String>| {
            let Some(key) = key else { return Ok(None) };
            let keys: Vec<&str> = plan.sweep.axes.iter().map(|a| a.key.as_str()).collect();
            let at = keys.iter().position(|k| k == key);
            at.map(Some).ok_or_else(|| wrong(format!("this sweep does not vary `{key}`"), key, keys))
        };
        let all = Shown::all(plan);
        let shown = match &self.plot_of {
            None => all.first().copied().unwrap_or(Shown::Contacts),
            Some(name) => *all.iter().find(|s| s.name(plan) == name).ok_or_else(|| {
                let valid = all.iter().map(|s| s.name(plan)).collect();
                wrong(format!("this sweep has no measure `{name}`"), name, valid)
            })?,
        };
        Ok((shown, axis(&self.plot_over)?, axis(&self.plot_by)?))
    }
}

/// Says whether the keys and measures of a scenario's `[sweep]` exist.
pub(crate) fn check(file: &Path, set: &[(String, String)]) -> Result<(), Failure> {
    plan::check(file, set)
}

/// Makes the plan, runs what is missing, and writes what came of it.
pub(crate) fn sweep(args: &SweepArgs, out: &Out) -> Result<Exit, Failure> {
    let plan = Plan::make(args)?;
    let chart = args.chart_of(&plan)?;
    let mut journal = args.out.as_ref().map(|folder| Journal::open(folder, &plan, args.fresh)).transpose()?;
    let mut rows = found(&plan, journal.as_ref(), out);
    let complete = run_missing(args, &plan, &mut rows, journal.as_mut())?;
    if let Some(journal) = journal {
        journal.close()?;
    }
    let done = rows.iter().flatten().count();
    if !complete {
        out.say(&format!("ended after {done} of {}", count(plan.runs(), "run")));
        if args.out.is_some() {
            out.say("the same command goes on from there");
        }
        return Ok(Exit::Signal);
    }
    let rows: Vec<Row> = rows.into_iter().flatten().collect();
    if let Some(path) = &args.plot {
        draw(&plan, &rows, chart, path)?;
        out.say(&format!("the plot is in {}", path.display()));
    }
    let table = Table::new(&plan, &rows);
    let summary = summary::text(&plan, &rows);
    if let Some(folder) = &args.out {
        write_results(folder, &plan, &rows, &table, &summary)?;
        out.say(&format!("the results are in {}", folder.display()));
    }
    let text = if args.out.is_some() || args.summary { summary } else { table.csv() };
    out.answer("sweep", as_json(args, &plan, &rows), &text)?;
    let failed = rows.iter().filter(|r| r.ran.is_err()).count();
    if failed == 0 {
        return Ok(Exit::Ok);
    }
    out.say(&format!("{failed} of {} failed: see the column `error`", count(rows.len(), "run")));
    Ok(Exit::Failed)
}

/// The rows that a journal has already. Runs that failed are tried again.
fn found(plan: &Plan, journal: Option<&Journal>, out: &Out) -> Vec<Option<Row>> {
    let Some(journal) = journal else { return vec![None; plan.runs()] };
    if journal.damaged > 0 {
        let lines = count(journal.damaged, "line");
        out.say(&format!("{lines} of the journal cannot be read; those runs are done again"));
    }
    let row = |k: usize| {
        let task = plan.task(k);
        let row = journal.rows.get(&plan.key(task))?;
        let same = row.seed == task.seed && row.values == plan.points[task.point] && row.ran.is_ok();
        same.then(|| row.clone())
    };
    let rows: Vec<Option<Row>> = (0..plan.runs()).map(row).collect();
    let there = rows.iter().flatten().count();
    if there > 0 {
        out.say(&format!("{there} of {} are there already", count(plan.runs(), "run")));
    }
    rows
}

/// Does the runs that have no row yet, some at a time. Answers whether all are done: a signal ends it early.
fn run_missing(
    args: &SweepArgs,
    plan: &Plan,
    rows: &mut [Option<Row>],
    mut journal: Option<&mut Journal>,
) -> Result<bool, Failure> {
    let missing: Vec<usize> = (0..rows.len()).filter(|k| rows[*k].is_none()).collect();
    if missing.is_empty() {
        return Ok(true);
    }
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or_else(processors, usize::from).min(missing.len());
    let signal = Stop::install()?;
    let elsewhere = args.way.elsewhere()?;
    let (next, broken) = (AtomicUsize::new(0), Arc::new(AtomicBool::new(false)));
    let (asked, gone) = (signal.leave(None), Arc::clone(&broken));
    let stop: Arc<Leave> = Arc::new(move || asked() || gone.load(Ordering::Relaxed));
    let bar = std::io::stderr()
        .is_terminal()
        .then(|| ProgressBar::with_draw_target(Some(missing.len() as u64), ProgressDrawTarget::stderr()));
    let (sender, receiver) = mpsc::channel();
    let kept = std::thread::scope(|scope| {
        for _ in 0..jobs {
            let (sender, missing, next, stop) = (sender.clone(), &missing, &next, &stop);
            let elsewhere = elsewhere.as_ref();
            scope.spawn(move || {
                while !stop() {
                    let Some(&k) = missing.get(next.fetch_add(1, Ordering::Relaxed)) else { return };
                    let Some(row) = one::run(plan, plan.task(k), elsewhere, stop) else { return };
                    // Nobody listens any more only when all is over.
                    let _ = sender.send((k, row));
                }
            });
        }
        drop(sender);
        for (k, row) in receiver {
            if let Some(journal) = &mut journal
                && let Err(failure) = journal.add(plan.key(plan.task(k)), &row)
            {
                // Results that cannot be kept are not worth waiting for.
                broken.store(true, Ordering::Relaxed);
                return Err(failure);
            }
            rows[k] = Some(row);
            if let Some(bar) = &bar {
                bar.inc(1);
            }
        }
        Ok(())
    });
    if let Some(bar) = bar {
        bar.finish_and_clear();
    }
    kept?;
    Ok(rows.iter().all(Option::is_some))
}

fn draw(
    plan: &Plan,
    rows: &[Row],
    (shown, over, by): (Shown, Option<usize>, Option<usize>),
    path: &Path,
) -> Result<(), Failure> {
    let Some(chart) = summary::chart(plan, rows, shown, over, by) else {
        let what = "no key has two values, so there is nothing to draw a chart over";
        return Err(Failure::new(Exit::Usage, "nothing-to-plot", what));
    };
    write_file(path, chart.svg().as_bytes())
}

/// All files of a folder of results but the journal.
fn write_results(
    folder: &Path,
    plan: &Plan,
    rows: &[Row],
    table: &Table,
    summary: &str,
) -> Result<(), Failure> {
    write_file(&folder.join("results.csv"), table.csv().as_bytes())?;
    #[cfg(feature = "parquet")]
    {
        let failed = |e| Failure::new(Exit::Failed, "parquet", format!("cannot make the Parquet table: {e}"));
        write_file(&folder.join("results.parquet"), &parquet::bytes(table).map_err(failed)?)?;
    }
    write_file(&folder.join("summary.txt"), summary.as_bytes())?;
    let mut names = BTreeSet::new();
    for shown in Shown::all(plan) {
        if let Some(chart) = summary::chart(plan, rows, shown, None, None) {
            let letter = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '-' };
            let plain: String = shown.name(plan).chars().map(letter).collect();
            // Two measures may differ in letters that no file name has.
            let mut name = plain.clone();
            while !names.insert(name.clone()) {
                name = format!("{plain}-{}", names.len());
            }
            write_file(&folder.join(format!("{name}.svg")), chart.svg().as_bytes())?;
        }
    }
    Ok(())
}

fn as_json(args: &SweepArgs, plan: &Plan, rows: &[Row]) -> Value {
    let runs = rows.iter().enumerate().map(|(k, row)| {
        let task = plan.task(k);
        let mut set = plan.point(task);
        set.push(("run.seed".into(), row.seed.to_string()));
        let set: serde_json::Map<String, Value> = set.into_iter().map(|(k, v)| (k, json!(v))).collect();
        let ran = row.ran.as_ref().ok();
        let measures = ran.map(|r| {
            let named = plan.sweep.measures.iter().zip(&r.measures).map(|(m, x)| (m.name.clone(), json!(x)));
            named.collect::<serde_json::Map<String, Value>>()
        });
        json!({
            "run": k + 1, "set": set, "seed": row.seed, "measures": measures,
            "passed": ran.map(one::Ran::passed), "met": ran.map(|r| r.met.iter().filter(|m| **m).count()),
            "assertions": ran.map(|r| r.met.len()), "contacts": ran.map(|r| r.contacts),
            "end_s": ran.map(|r| r.end_s), "hash": ran.map(|r| format!("{:016x}", r.hash)),
            "error": row.ran.as_ref().err(),
        })
    });
    json!({ "file": args.file, "runs": runs.collect::<Vec<Value>>(), "points": summary::json(plan, rows) })
}
