//! What several processes of a talk wrote down, put together to be judged.

use super::trace::Read;
use super::world::World;
use crate::cli::fail::{Exit, Failure};
use std::path::PathBuf;
use swarmyard::base::Moment;
use swarmyard_radio::check::judge::Kept;
use swarmyard_radio::lab::{Event, What};

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
