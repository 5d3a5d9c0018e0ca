//! `convert`: a configuration of Neko's robot simulator as a scenario.

use super::fail::{Exit, Failure, problem_json};
use super::out::{Out, count, write_file};
use clap::Args;
use serde_json::{Value, json};
use std::path::PathBuf;
use swarmyard::base::Sources;
use swarmyard::formats::neko::config;
use swarmyard::read_text;

/// Arguments of `convert`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard convert robotsim.config -o robots.toml     write it as a scenario\n  swarmyard convert robotsim.config                    print the scenario"
)]
pub(crate) struct ConvertArgs {
    /// The configuration, such as robotsim.config
    file: PathBuf,
    /// Where to write the scenario [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

/// Converts one file, and says what was left out or assumed.
pub(crate) fn convert(args: &ConvertArgs, out: &Out) -> Result<Exit, Failure> {
    let name = args.file.display().to_string();
    let text = read_text(&args.file)
        .map_err(|e| Failure { exit: Exit::Scenario, ..Failure::file("read", &args.file, &e) })?;
    let converted = config::convert(&name, &text).map_err(|failed| Failure {
        exit: Exit::Scenario,
        sources: failed.sources,
        problems: failed.problems,
        file: Some(name.clone()),
    })?;
    let mut sources = Sources::default();
    sources.add(name.as_str(), text);
    if let Some(path) = &args.output {
        write_file(path, converted.toml.as_bytes())?;
    }
    if out.json {
        let notes: Vec<Value> =
            converted.notes.0.iter().map(|d| problem_json(&sources, d, Some(&name))).collect();
        let content = args.output.is_none().then_some(&converted.toml);
        out.json("convert", json!({ "path": args.output, "content": content, "problems": notes }))?;
        return Ok(Exit::Ok);
    }
    converted.notes.0.iter().for_each(|d| out.warn(&sources, d));
    match &args.output {
        Some(path) => {
            let notes = count(converted.notes.0.len(), "note");
            out.data(&format!("{}: a scenario made from `{name}`, {notes}", path.display()))?;
        }
        None => out.data(converted.toml.trim_end())?,
    }
    Ok(Exit::Ok)
}
