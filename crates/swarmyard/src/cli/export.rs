//! `export`: tables and pictures from recordings.

use super::fail::{Exit, Failure};
use super::out::{Out, bytes, seconds, write_with};
use clap::{Args, ValueEnum};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use swarmyard::record::{Recording, to_csv, to_svg};

/// Arguments of `export`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard export arena.mcap --to svg -o arena.svg     a picture of the whole run\n  swarmyard export arena.mcap --to csv > arena.csv      every recorded pose\n  swarmyard export arena.mcap --to events               what happened, one JSON object per line"
)]
pub(crate) struct ExportArgs {
    /// The recording
    recording: PathBuf,
    /// What to make
    #[arg(long)]
    to: Format,
    /// Where to write it [default: standard output]
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// A table with one row per frame and body
    Csv,
    /// A picture of the whole run
    Svg,
    /// What happened: contacts, messages, words, …; one JSON object per line
    Events,
}

impl Format {
    fn word(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Svg => "svg",
            Format::Events => "events",
        }
    }

    fn write(self, recording: &Recording, out: &mut impl Write) -> Result<(), Failure> {
        match self {
            Format::Csv => to_csv(recording, out)?,
            Format::Svg => to_svg(recording, out)?,
            Format::Events => events(recording, out)?,
        }
        Ok(())
    }
}

/// What happened, a line for each event, with the tick in which it did.
fn events(recording: &Recording, out: &mut impl Write) -> Result<(), Failure> {
    for step in recording.events() {
        let step = step?;
        for event in step.events {
            let mut value = serde_json::to_value(event).unwrap_or_default();
            value["tick"] = json!(step.step);
            // What robots that live by events do has a moment of its own.
            let time = value.get("t").cloned();
            value["time_s"] = time.unwrap_or_else(|| json!(seconds(step.time)));
            writeln!(out, "{value}")?;
        }
    }
    Ok(())
}

/// Exports a recording.
pub(crate) fn export(args: &ExportArgs, out: &Out) -> Result<Exit, Failure> {
    let name = args.recording.display().to_string();
    let recording = Recording::open(&args.recording).map_err(|e| Failure::from(e).on(&*name))?;
    if let Some(why) = recording.damage() {
        out.say(&format!("warning: `{name}` is not whole ({why}); what comes before is exported"));
    }
    let to = args.to.word();
    let frames = recording.len();
    if let Some(path) = &args.output {
        let size = write_with(path, |file| args.to.write(&recording, file))?;
        let text = format!("{}: {frames} frames, {}", path.display(), bytes(size));
        out.answer("export", json!({ "to": to, "path": path, "bytes": size, "frames": frames }), &text)?;
    } else if out.json {
        let mut content = Vec::new();
        args.to.write(&recording, &mut content)?;
        let content = String::from_utf8_lossy(&content);
        out.json("export", json!({ "to": to, "content": content, "frames": frames }))?;
    } else {
        args.to.write(&recording, &mut std::io::stdout().lock())?;
    }
    Ok(Exit::Ok)
}
