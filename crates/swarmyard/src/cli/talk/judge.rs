//! Whether protocols kept their promises, by the checkers that their tests use.
//!
//! In: what was written down of all robots of a world. Out: one verdict for each promise of each pair of protocols.
//! Where only some robots were seen nothing is judged: what the others said is not known.

use super::ledger::Kept;
use super::trace::Read;
use super::world::{Pair, World};
use crate::cli::fail::{Exit, Failure};
use std::path::PathBuf;
use swarmyard::base::Moment;
use swarmyard_radio::check::{Violations, promises};
use swarmyard_radio::lab::{Event, Trace, What};

/// What became of one promise.
pub(super) struct Verdict {
    /// The pair of protocols.
    pub(super) pair: usize,
    pub(super) promise: &'static str,
    /// In words; empty when it was kept.
    pub(super) broken: Violations,
}

/// Which pairs can be judged: those that all robots have, by one port, and whose provider promises something.
pub(super) fn judged(world: &World) -> Vec<bool> {
    let nothing = Trace::new(world.robots.len() as u32);
    let fits = |pair: &Pair| {
        let promises = promises::of(&pair.class, pair.uniform, &nothing, true);
        pair.types == world.uses.len() && pair.ports == 1 && !promises.is_empty()
    };
    world.pairs.iter().map(fits).collect()
}

/// Judges a talk that ended then. What was asked for in the last `settle_s` seconds is not looked at.
pub(super) fn judge(world: &World, kept: &[Kept], end: Moment, settle_s: f64) -> Vec<Verdict> {
    let until = Moment::ZERO.plus((end.since(Moment::ZERO) - settle_s).max(0.0));
    let mut verdicts = Vec::new();
    for (k, pair) in world.pairs.iter().enumerate().filter(|(k, _)| judged(world)[*k]) {
        let of_pair = |kept: &&Kept| kept.pair.is_none_or(|p| p == k);
        let mut events: Vec<Event> = kept.iter().filter(of_pair).map(|k| k.event.clone()).collect();
        events.sort_by_key(|e| e.at);
        let is_fault = |e: &Event| matches!(e.what, What::Crashed | What::Recovered);
        // Nobody used it; but a detector that keeps silent after a crash has something to answer for.
        let detects = pair.class.ends_with("heartbeat") && !events.is_empty();
        if events.iter().all(is_fault) && !detects {
            continue;
        }
        let quiet = !events.iter().any(|e| is_fault(e) && e.at > until);
        let trace = Trace { processes: world.robots.len() as u32, events, end };
        let trace = promises::settled(&promises::told_apart(&trace), until);
        for promise in promises::of(&pair.class, pair.uniform, &trace, quiet) {
            let broken = (promise.check)(&trace).into_iter().map(|w| with_paths(world, w)).collect();
            verdicts.push(Verdict { pair: k, promise: promise.name, broken });
        }
    }
    verdicts
}

/// What the processes wrote down, put together: all that was kept, and when it ended.
pub(super) fn together(world: &World, files: &[(PathBuf, Read)]) -> Result<(Vec<Kept>, Moment), Failure> {
    let wrong = |what: String| Failure::new(Exit::Failed, "trace", what);
    for (number, robot) in world.robots.iter().enumerate() {
        let mut of = files.iter().filter(|f| f.1.robots.contains(&(number as u32)));
        let Some(first) = of.next() else {
            let what = format!("there is no trace of {}", robot.path);
            return Err(wrong(what).help("name the files of all processes"));
        };
        if let Some(second) = of.next() {
            let files = format!("`{}` and `{}`", first.0.display(), second.0.display());
            return Err(wrong(format!("{} is in two traces: {files}", robot.path)));
        }
    }
    let Some(end) = files.iter().filter_map(|f| f.1.end).min() else {
        return Err(wrong("none of these traces has an end: all processes were killed".to_owned()));
    };
    let mut kept = Vec::new();
    for (_, read) in files {
        kept.extend(read.kept.iter().cloned());
        if read.end.is_some() {
            continue;
        }
        let last = read.kept.iter().map(|k| k.event.at).max().unwrap_or(Moment::ZERO).plus(1e-9);
        for robot in &read.robots {
            let event = Event { at: last, process: *robot, what: What::Crashed };
            kept.push(Kept { pair: None, event });
        }
    }
    Ok((kept, end))
}

/// Paths in place of numbers.
fn with_paths(world: &World, words: String) -> String {
    let mut words = words;
    // The highest first, so that `process 1` does not take the beginning of `process 12`.
    for (number, robot) in world.robots.iter().enumerate().rev() {
        words = words.replace(&format!("process {number}"), &robot.path);
    }
    words
}
