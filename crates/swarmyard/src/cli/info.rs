//! `info`: what a recording is of, how it ended, and how its run was spread.

use super::fail::{Exit, Failure};
use super::out::{Out, count, seconds};
use super::{again, figures};
use clap::Args;
use serde_json::json;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use swarmyard::Statistics;
use swarmyard::record::{Event, Recording};

/// Arguments of `info`.
#[derive(Args)]
#[command(before_help = "Examples:\n  swarmyard info arena.mcap\n  swarmyard info arena.mcap --json --all")]
pub(crate) struct InfoArgs {
    /// The recording
    recording: PathBuf,
    /// With --json: what every robot cost, not only the heaviest
    #[arg(long)]
    all: bool,
}

/// Says what a recording is.
pub(crate) fn info(args: &InfoArgs, out: &Out) -> Result<Exit, Failure> {
    let recording = again::open(&args.recording)?;
    let statistics = statistics(&recording).transpose();
    let statistics = statistics.map_err(|why| figureless(&args.recording, &why))?;
    let header = recording.header();
    let (robots, end) = (recording.bodies().robots(), recording.end());
    let happened = happened(&recording);
    let mut spread = statistics.as_ref().map(figures::json);
    if let Some((value, s)) = spread.as_mut().zip(statistics.as_ref()).filter(|_| args.all) {
        value["robots"] = json!(s.robots);
    }
    let value = json!({
        "recording": args.recording, "scenario": header.scenario, "title": header.title, "seed": header.seed,
        "build": header.build, "robots": robots, "frames": recording.len(),
        "end": end.map(|e| json!({ "tick": e.step, "time_s": seconds(e.time), "hash": format!("{:016x}", e.hash) })),
        "damage": recording.damage(), "spread": spread, "events": happened,
    });
    out.answer("info", value, &text(&recording, statistics.as_ref(), &happened))?;
    Ok(Exit::Ok)
}

/// How often what happened in it, by the word for it: `contact`, `said`, `sent`, `received`, …
fn happened(recording: &Recording) -> BTreeMap<String, u64> {
    let mut counts = BTreeMap::new();
    let mut add = |what: &str, times: u64| *counts.entry(what.to_owned()).or_default() += times;
    // What cannot be read is told as damage.
    for event in recording.events().filter_map(Result::ok).flat_map(|step| step.events) {
        match event {
            Event::MoreContacts { count } => add("contact", count),
            Event::Live(line) => add(&line.what, 1),
            other => add(other.word(), 1),
        }
    }
    counts
}

fn text(recording: &Recording, statistics: Option<&Statistics>, happened: &BTreeMap<String, u64>) -> String {
    let header = recording.header();
    let name = if header.title.is_empty() { &header.scenario } else { &header.title };
    let mut text = format!("{name}\n  scenario    {}, seed {}\n", header.scenario, header.seed);
    let _ = writeln!(text, "  robots      {}", recording.bodies().robots());
    let _ = writeln!(text, "  frames      {}", recording.len());
    let _ = writeln!(text, "  build       {}", header.build);
    for (k, words) in
        happened.iter().map(|(what, n)| format!("{n} {what}")).collect::<Vec<_>>().chunks(6).enumerate()
    {
        let _ = writeln!(text, "  {:<12}{}", if k == 0 { "events" } else { "" }, words.join(", "));
    }
    if let Some(why) = recording.damage() {
        let _ = writeln!(text, "  NOT WHOLE   {why}");
    }
    if let Some(end) = recording.end() {
        let _ = writeln!(text, "  ended       at {}, after {}", end.time, count(end.step as usize, "tick"));
    }
    match statistics {
        Some(s) => {
            if let Some(why) = &s.undivided {
                let _ = writeln!(text, "  workers     not divided, because {why}");
            }
            text.push_str(&figures::text(s));
            text.push_str(&figures::elsewhere(&s.elsewhere));
        }
        None => text.push_str("  workers     none: it was made in one process\n"),
    }
    if let Some(end) = recording.end() {
        let _ = writeln!(text, "  hash        {:016x}", end.hash);
    }
    text
}

/// What the workers of a recorded run did, when there were some.
pub(crate) fn statistics(recording: &Recording) -> Option<Result<Statistics, String>> {
    let text = recording.placement()?;
    Some(serde_json::from_str(text).map_err(|e| e.to_string()))
}

/// The figures of a recording cannot be read.
pub(crate) fn figureless(recording: &std::path::Path, why: &str) -> Failure {
    let what = format!("what its workers did cannot be read: {why}");
    Failure::new(Exit::Failed, "placement", what).on(recording.display().to_string())
}
