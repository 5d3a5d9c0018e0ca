//! The project's own chores: `cargo xtask demo`, `cargo xtask test`, and a few smaller ones.
//!
//! Everything a check needs is installed here, so both commands work in a fresh clone.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

mod tests;
mod tools;

const USAGE: &str = "\
cargo xtask demo        run a world and draw a picture of it
cargo xtask test        everything that is checked: format, lints, docs, tests, worlds
cargo xtask bless       accept the present hashes of all worlds as golden (needs a Numerics line in CHANGELOG.md)
cargo xtask manual      write docs/reference.md and docs/scenario.schema.json from the sheets
cargo xtask bench       print the benchmark tables of docs/benchmarks.md
cargo xtask fuzz [S]    fuzz every parser for S seconds each (default 60; needs a nightly toolchain and cargo-fuzz)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let done = match args.first().map(String::as_str) {
        Some("demo") => demo(),
        Some("test" | "ci") => tests::all(),
        Some("bless") => bless(),
        Some("manual") => manual(),
        Some("bench") => bench(),
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

fn demo() -> Result<(), String> {
    let out = root().join("out");
    std::fs::create_dir_all(&out).map_err(|e| format!("cannot make `{}`: {e}", out.display()))?;
    let (recording, picture) = ("out/forty-wander.mcap", "out/forty-wander.svg");
    swarmyard(&["run", "worlds/forty-wander.toml", "--record", recording, "--picture", picture])?;
    // A controller in C, as on the real robot: Figure 7-2 of the Virtual Robots paper.
    let figure = "out/fig-7-2.svg";
    let drawn = tools::compiler().and_then(|()| {
        println!();
        let args = ["run", "worlds/fig-7-2.toml", "--record", "out/fig-7-2.mcap", "--picture", figure];
        swarmyard(&args)
    });
    let second = match drawn {
        Ok(()) => format!(
            "{figure}: a robot with a C program finds a track, follows it, and goes round what stands on it"
        ),
        Err(why) => format!("no second picture, which needs a C compiler: {why}"),
    };
    println!(
        "\nThe pictures are in {picture} and\n{second}.\nOpen them in a browser. Lines are the ways the robots went, marks are contacts.\n\
         The recordings are beside them. Next:\n\
         \x20 cargo run -p swarmyard -- replay {recording} --verify    run it again and compare every hash\n\
         \x20 cargo run -p swarmyard -- run worlds/many-on-a-track.toml --picture out/many.svg    a hundred robots on one track\n\
         \x20 examples/controllers/README.md                           programs to read, run and change\n\
         \x20 cargo run -p swarmyard -- init my-world                  a folder of your own to start from"
    );
    Ok(())
}

fn bless() -> Result<(), String> {
    for args in [
        ["test", "-p", "swarmyard-conformance", "--test", "goldens"].as_slice(),
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

fn manual() -> Result<(), String> {
    let args = ["test", "-p", "swarmyard", "--test", "documents"];
    run("cargo", &args, &[("SWARMYARD_BLESS", "1")])
}

fn fuzz(seconds: &str) -> Result<(), String> {
    let limit = format!("-max_total_time={seconds}");
    for target in ["scenario", "blocks", "recording", "program", "answers"] {
        let args = ["+nightly", "fuzz", "run", target, "--", &limit, "-max_len=65536", "-timeout=10"];
        run("cargo", &args, &[])?;
    }
    Ok(())
}
