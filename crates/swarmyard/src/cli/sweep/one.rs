//! One run of a sweep.
//!
//! In: a plan and which of its runs. Out: a [`Row`]. Whatever goes wrong in a run is the row's error; a run
//! that somebody interrupted is no row at all.

use super::plan::{Plan, Task};
use crate::cli::fail::Failure;
use crate::cli::out::seconds;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use swarmyard::engine::Leave;
use swarmyard::{Error, Gauge, Options, Sim};
use swarmyard_agents::Elsewhere;

/// Longest error of a row, in letters.
const LONGEST: usize = 500;

/// What came of one run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) seed: u64,
    /// The values of its point.
    pub(super) values: Vec<String>,
    pub(super) ran: Result<Ran, String>,
}

/// What a run left behind.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ran {
    /// One for each measure; `None` where there was no number.
    pub(super) measures: Vec<Option<f64>>,
    /// Whether each assertion was met.
    pub(super) met: Vec<bool>,
    pub(super) contacts: u64,
    pub(super) end_s: f64,
    pub(super) hash: u64,
}

impl Ran {
    /// Whether all assertions were met.
    pub(super) fn passed(&self) -> bool {
        self.met.iter().all(|met| *met)
    }
}

/// Runs a task to its end; `None` when `stop` says that nobody waits for it any more.
pub(super) fn run(plan: &Plan, task: Task, elsewhere: Option<&Elsewhere>, stop: &Arc<Leave>) -> Option<Row> {
    let work = AssertUnwindSafe(|| drive(plan, task, elsewhere, stop));
    let ran = match catch_unwind(work) {
        Ok(Ok(ran)) => Ok(ran?),
        Ok(Err(why)) => Err(why),
        Err(_) => Err("the simulator panicked; please report it".into()),
    };
    let ran = ran.map_err(|why| why.chars().take(LONGEST).collect());
    Some(Row { seed: task.seed, values: plan.points[task.point].clone(), ran })
}

fn drive(
    plan: &Plan,
    task: Task,
    elsewhere: Option<&Elsewhere>,
    stop: &Arc<Leave>,
) -> Result<Option<Ran>, String> {
    let (overrides, elsewhere) = (plan.overrides(task), elsewhere.cloned());
    let options = Options { overrides, elsewhere, ..Options::default() };
    let mut sim = Sim::load(&plan.file, &options).map_err(in_words)?;
    let model = sim.model().clone();
    let gauges = plan.sweep.measures.iter().map(|m| Gauge::new(&model, m));
    let mut gauges = gauges.collect::<Result<Vec<_>, _>>().map_err(|d| d.message)?;
    sim.leave_when(Some(Arc::clone(stop)));
    while !sim.is_over() {
        if stop() {
            return Ok(None);
        }
        let Some(_) = sim.poll_step().map_err(in_words)? else { continue };
        gauges.iter_mut().for_each(|gauge| gauge.look(&sim));
    }
    let asserts = model.asserts.iter().zip(&sim.state().verdicts);
    Ok(Some(Ran {
        measures: gauges.iter().map(Gauge::answer).collect(),
        met: asserts.map(|(a, v)| a.met(v)).collect(),
        contacts: sim.state().accounts.contacts,
        end_s: seconds(sim.now()),
        hash: sim.hash(),
    }))
}

/// All problems on one line.
fn in_words(e: Error) -> String {
    let failure = Failure::from(e);
    let words: Vec<String> = failure.problems.0.iter().map(|d| d.message.replace('\n', " ")).collect();
    words.join("; ")
}
