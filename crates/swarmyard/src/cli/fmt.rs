//! `fmt`: the one layout of scenario files.

use super::fail::{Exit, Failure};
use super::out::{Out, count, write_file};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use swarmyard::{formats, read_text};

/// Arguments of `fmt`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard fmt arena.toml          write it back, formatted\n  swarmyard fmt --check *.toml      change nothing; exit 1 when a file would change"
)]
pub(crate) struct FmtArgs {
    /// Scenario files
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Change nothing; only say which files would change
    #[arg(long)]
    check: bool,
}

/// Formats files. Comments and meaning stay; a file that is right already is not touched.
pub(crate) fn fmt(args: &FmtArgs, out: &Out) -> Result<Exit, Failure> {
    let mut results = Vec::new();
    let mut exit = Exit::Ok;
    let mut changes = 0;
    for file in &args.files {
        let name = file.display().to_string();
        match one(file, &name, args.check) {
            Ok(changed) => {
                changes += usize::from(changed);
                if changed && !out.json {
                    out.say(&format!(
                        "{name}: {}",
                        if args.check { "would be changed" } else { "formatted" }
                    ));
                }
                results.push(json!({ "file": name, "changed": changed, "problems": [] }));
            }
            Err(failure) => {
                exit = Exit::Scenario;
                results.push(json!({ "file": name, "changed": false, "problems": failure.json() }));
                if !out.json {
                    out.failure(&failure);
                }
            }
        }
    }
    if out.json {
        out.json("fmt", json!({ "check": args.check, "files": results }))?;
    } else if changes == 0 && exit == Exit::Ok {
        out.say(&format!("{}: nothing to change", count(args.files.len(), "file")));
    }
    Ok(if exit == Exit::Ok && args.check && changes > 0 { Exit::Failed } else { exit })
}

/// Formats one file; answers whether it changed (or would).
fn one(file: &std::path::Path, name: &str, check: bool) -> Result<bool, Failure> {
    let text =
        read_text(file).map_err(|e| Failure { exit: Exit::Scenario, ..Failure::file("read", file, &e) })?;
    let tidy = formats::format(name, &text).map_err(|failed| Failure {
        exit: Exit::Scenario,
        sources: failed.sources,
        problems: failed.problems,
        file: Some(name.to_owned()),
    })?;
    if tidy != text && !check {
        write_file(file, tidy.as_bytes())?;
    }
    Ok(tidy != text)
}
