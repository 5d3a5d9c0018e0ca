//! `check`: everything that is wrong with scenarios, without running them.

use super::fail::{Exit, Failure, problem_json};
use super::load::{self, SetArgs};
use super::out::{Out, count};
use super::sweep;
use clap::Args;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use swarmyard::record::check_topics;
use swarmyard::{Modules, Sim};

/// Arguments of `check`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard check arena.toml\n  swarmyard check worlds/*.toml --json\n  swarmyard check arena.toml --set run.contact=impulse"
)]
pub(crate) struct CheckArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    set: SetArgs,
}

/// Reads and compiles every file, and says all that is wrong with all of them.
pub(crate) fn check(args: &CheckArgs, out: &Out) -> Result<Exit, Failure> {
    let mut exit = Exit::Ok;
    let mut results = Vec::new();
    for file in &args.files {
        let name = file.display().to_string();
        match checked(file, &args.set.set) {
            Ok(sim) => results.push(good(&name, &sim, out)?),
            Err(failure) => {
                exit = Exit::Scenario;
                results.push(json!({ "file": name, "ok": false, "problems": failure.json() }));
                if !out.json {
                    out.failure(&failure);
                    out.say(&format!("{name}: {}", count(failure.problems.0.len(), "problem")));
                }
            }
        }
    }
    if out.json {
        out.json("check", json!({ "ok": exit == Exit::Ok, "files": results }))?;
    }
    Ok(exit)
}

/// The world of a file that can be run, recorded and swept.
fn checked(file: &Path, set: &[(String, String)]) -> Result<Sim, Failure> {
    let sim = load::scenario(file, set, 1)?;
    let topics = check_topics(sim.model());
    match sweep::check(file, set) {
        Err(mut failure) => {
            failure.problems.0.extend(topics.0);
            Err(failure)
        }
        Ok(()) if topics.has_errors() => Err(Failure {
            exit: Exit::Scenario,
            sources: sim.model().sources.clone(),
            problems: topics,
            file: Some(file.display().to_string()),
        }),
        Ok(()) => Ok(sim),
    }
}

/// One line about a good file, and its warnings.
fn good(name: &str, sim: &Sim, out: &Out) -> Result<Value, Failure> {
    let model = sim.model();
    let (robots, types) = (model.robots(), load::robot_types(sim));
    let walls: BTreeSet<_> =
        model.fixed.edges().iter().map(|e| e.owner).filter(|&o| is_wall(model.path_of(o))).collect();
    let tier = load::tier(sim);
    let promise = if tier == 1 { "rerun-identical" } else { "replay-identical" };
    if !out.json {
        for d in &sim.warnings().0 {
            out.warn(&model.sources, d);
        }
        let what = [count(walls.len(), "wall"), count(model.asserts.len(), "assertion")].join(", ");
        let robots = format!("{} of {}", count(robots, "robot"), count(types, "type"));
        out.data(&format!("{name}: ok, {robots}, {what}, tier {tier} ({promise})"))?;
    }
    let warnings: Vec<Value> =
        sim.warnings().0.iter().map(|d| problem_json(&model.sources, d, Some(name))).collect();
    Ok(json!({
        "file": name, "ok": true, "title": model.title, "robots": robots, "types": types, "walls": walls.len(),
        "assertions": model.asserts.len(), "tier": tier, "promise": promise, "modules": load::modules_json(Modules::of(model)),
        "problems": warnings,
    }))
}

/// Whether a path is that of a wall that somebody wrote; the border of the world is not.
fn is_wall(path: Option<&str>) -> bool {
    path.is_some_and(|p| Path::new(p).starts_with("/world/walls"))
}
