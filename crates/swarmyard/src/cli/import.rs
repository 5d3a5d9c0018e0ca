//! `import`: a log of Neko's robot simulator as a recording that can be shown, or as the scenario that plays it.

use super::again;
use super::fail::{Exit, Failure};
use super::out::{Out, count, write_file};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use swarmyard::formats::neko::log;
use swarmyard::formats::neko::playback::{self, Played};
use swarmyard::record::Recorder;
use swarmyard::{Sim, read_text};

/// Arguments of `import`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard import gathering.log -o gathering.mcap     a recording: swarmyard serve gathering.mcap shows it\n  swarmyard import gathering.log -o gathering.toml     the scenario that plays the log"
)]
pub(crate) struct ImportArgs {
    /// The log
    file: PathBuf,
    /// Where it goes: FILE.mcap for a recording, FILE.toml for a scenario
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Radius of the robots; a log does not say it
    #[arg(long, value_name = "M", default_value = "10", value_parser = positive)]
    radius: f64,
    /// Pictures per simulated second
    #[arg(long, value_name = "N", default_value = "10", value_parser = clap::value_parser!(u16).range(1..=1000))]
    framerate: u16,
}

fn positive(text: &str) -> Result<f64, String> {
    let x: f64 = text.parse().map_err(|_| "write a number above 0".to_owned())?;
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err("write a number above 0".into()) }
}

/// Reads a log, and plays it into a recording.
pub(crate) fn import(args: &ImportArgs, out: &Out) -> Result<Exit, Failure> {
    let name = args.file.display().to_string();
    let is_recording = match args.output.extension().and_then(|e| e.to_str()) {
        Some("mcap") => true,
        Some("toml") => false,
        _ => {
            let what = format!("`{}` is neither a recording nor a scenario", args.output.display());
            return Err(Failure::new(Exit::Usage, "wrong-name", what).help("end it in .mcap or .toml"));
        }
    };
    let text = read_text(&args.file)
        .map_err(|e| Failure { exit: Exit::Scenario, ..Failure::file("read", &args.file, &e) })?;
    let lines = log::read(&name, &text).map_err(|failed| Failure {
        exit: Exit::Scenario,
        sources: failed.sources,
        problems: failed.problems,
        file: Some(name.clone()),
    })?;
    let quantum_s = 1.0 / f64::from(args.framerate);
    let played = playback::scenario(&lines, &name, args.radius, quantum_s).map_err(|problem| {
        let failure = Failure::new(Exit::Scenario, problem.code, problem.message).on(name.clone());
        if let Some(help) = problem.help { failure.help(help) } else { failure }
    })?;
    if is_recording {
        record(args, &played.text)?;
    } else {
        write_file(&args.output, played.text.as_bytes())?;
    }
    let Played { robots, end_s, sent, received, words, left_out, .. } = played;
    let path = args.output.display().to_string();
    let value = json!({
        "path": path, "robots": robots, "lines": lines.len(), "end_s": end_s,
        "sent": sent, "received": received, "words": words, "left_out": left_out,
    });
    let mut text =
        format!("{path}: {} and {}, {end_s} s\n", count(robots, "robot"), count(lines.len(), "line"));
    if sent + received + words > 0 {
        let told = [count(sent, "message"), format!("{received} received"), count(words, "line")];
        text += &format!("  {} sent, {}, {} of algorithms\n", told[0], told[1], told[2]);
    }
    if left_out > 0 {
        let what = "of the network's own, or without a process";
        text += &format!("  left out: {} {what}\n", count(left_out, "line"));
    }
    out.answer("import", value, &text)?;
    Ok(Exit::Ok)
}

/// Runs the scenario that plays the log, and records it: a recording like any other, hashes and all.
fn record(args: &ImportArgs, scenario: &str) -> Result<(), Failure> {
    let mut sim = Sim::from_text(scenario)?;
    sim.take_notes(true);
    let header = again::header(&sim, "scenario", &[]);
    let mut recorder = Recorder::create(&args.output, &header, sim.model())?;
    recorder.start(sim.model(), sim.state());
    while !sim.is_over() {
        let frame = sim.step()?;
        recorder.frame(sim.model(), sim.state(), &frame, sim.journal());
    }
    let summary = recorder.finish(sim.model(), sim.state(), sim.hash());
    match summary.stopped {
        Some(why) => {
            Err(Failure::new(Exit::Failed, "not-written", why).on(args.output.display().to_string()))
        }
        None => Ok(()),
    }
}
