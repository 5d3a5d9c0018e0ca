//! The project's own chores: `cargo xtask demo`, `cargo xtask test`, and a few smaller ones.
//!
//! Everything a check needs is installed here, so both commands work in a fresh clone.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

mod aarch64;
mod goldens;
mod suites;
mod tests;
mod tools;
mod web;

const USAGE: &str = "\
cargo xtask demo        build the page and the command, and open a running world in the browser
cargo xtask test        everything that is checked: format, lints, docs, tests, worlds
cargo xtask bless       accept the present hashes of all worlds as golden (needs a Numerics line in CHANGELOG.md)
cargo xtask manual      write docs/reference.md and docs/scenario.schema.json from the sheets
cargo xtask web         build the browser page (web/dist), which the next build of the command takes in
cargo xtask pictures    take the pictures of the page that the guide shows
cargo xtask bench       print the benchmark tables of docs/benchmarks.md
cargo xtask chaos       disturb a hundred runs on worker processes: killed, frozen, cut off, late
cargo xtask aarch64     build for aarch64 in a Debian of its own, and compare with x86-64 under qemu (root; about an hour)
cargo xtask fuzz [S]    fuzz every parser for S seconds each (default 60; needs a nightly toolchain and cargo-fuzz)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("demo") => demo(),
        Some("test" | "ci") => tests::all(),
        Some("bless") => bless(),
        Some("manual") => manual(),
        Some("web") => web::build(),
        Some("pictures") => {
            web::build().and_then(|()| cargo(&["build", "-p", "swarmyard"])).and_then(|()| web::pictures())
        }
        Some("bench") => bench(),
        Some("chaos") => chaos(),
        Some("aarch64") => aarch64::all(),
        Some("fuzz") => fuzz(args.get(1).map_or("60", String::as_str)),
        _ => Err(USAGE.to_owned()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

/// The folder of the workspace.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default()
}

/// Runs a program in the workspace's folder and waits for it.
fn run(program: &str, args: &[&str], envs: &[(&str, &str)]) -> Result<(), String> {
    let shown = format!("{program} {}", args.join(" "));
    let status = Command::new(program)
        .args(args)
        .envs(envs.iter().copied())
        .current_dir(root())
        .status()
        .map_err(|e| format!("cannot run `{shown}`: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{shown}` failed ({status})")) }
}

fn cargo(args: &[&str]) -> Result<(), String> {
    run("cargo", args, &[])
}

/// Runs the swarmyard command of this tree.
fn swarmyard(args: &[&str]) -> Result<(), String> {
    let mut all = vec!["run", "--quiet", "-p", "swarmyard", "--"];
    all.extend(args);
    cargo(&all)
}

/// Opens Figure 7-2 of the Virtual Robots paper, running, in the browser; ends with the console's exit
/// or Ctrl-C.
fn demo() -> Result<(), String> {
    // The robot's program is C, as on the real robot; without a compiler the page lists what is missing.
    tools::compiler().unwrap_or_else(|why| println!("no C compiler: {why}"));
    match web::build() {
        Ok(()) => swarmyard(&["demo"]),
        Err(why) => {
            println!("no page in the browser, which needs Node: {why}\n");
            pictures_only()
        }
    }
}

/// What the demo shows where no page can be built.
fn pictures_only() -> Result<(), String> {
    let out = root().join("out");
    std::fs::create_dir_all(&out).map_err(|e| format!("cannot make `{}`: {e}", out.display()))?;
    let (recording, picture) = ("out/forty-wander.mcap", "out/forty-wander.svg");
    swarmyard(&["run", "worlds/forty-wander.toml", "--record", recording, "--picture", picture])?;
    println!("\nA picture of the run is in {picture}: open it in a browser.");
    Ok(())
}

fn bless() -> Result<(), String> {
    for args in [
        ["test", "-p", "swarmyard-conformance", "--test", "suite", "goldens"].as_slice(),
        ["test", "-p", "swarmyard", "--test", "command", "doctor"].as_slice(),
    ] {
        run("cargo", args, &[("SWARMYARD_BLESS", "1")])?;
    }
    Ok(())
}

fn bench() -> Result<(), String> {
    for what in ["--table", "--levels"] {
        cargo(&["run", "--quiet", "--release", "-p", "swarmyard", "--", "bench", what])?;
    }
    Ok(())
}

/// A hundred runs on worker processes, each disturbed in another way at another moment.
fn chaos() -> Result<(), String> {
    let args = ["test", "-p", "swarmyard", "--test", "chaos", "--", "--nocapture"];
    run("cargo", &args, &[("SWARMYARD_CHAOS_SEEDS", "100")])
}

fn manual() -> Result<(), String> {
    let args = ["test", "-p", "swarmyard", "--test", "suite", "documents"];
    run("cargo", &args, &[("SWARMYARD_BLESS", "1")])
}

fn fuzz(seconds: &str) -> Result<(), String> {
    let limit = format!("-max_total_time={seconds}");
    let folder = root().join("fuzz/fuzz_targets");
    let files = std::fs::read_dir(&folder).map_err(|e| format!("cannot read `{}`: {e}", folder.display()))?;
    let mut targets: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    targets.sort();
    for target in targets {
        let target = target.file_stem().unwrap_or_default().to_string_lossy();
        let args = ["+nightly", "fuzz", "run", &target, "--", &limit, "-max_len=65536", "-timeout=10"];
        run("cargo", &args, &[])?;
    }
    Ok(())
}
