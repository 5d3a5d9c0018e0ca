//! `resume`: goes on with a run whose keeper was lost, from its last checkpoint.
//!
//! In: what `run --save` or a host with `--hold` has left: a checkpoint, and what entered after it. Out: the rest of the run, with
//! the hashes it would have had, judged by the assertions as the whole of it would have been; and a recording of the rest, where
//! one is asked for, which can be replayed. The world is in the file.

use super::spread::SpreadArgs;
use crate::cli::fail::{Exit, Failure};
use crate::cli::figures;
use crate::cli::load::{How, Until};
use crate::cli::out::{Out, bytes, seconds};
use crate::cli::run::report::{all_met, assertions_json, assertions_text};
use crate::cli::run::{AHEAD, Stop, is_same_file, tape};
use clap::Args;
use serde_json::json;
use std::path::{Path, PathBuf};
use swarmyard::record::{Recorder, Summary};
use swarmyard::{Shelved, Sim};
use swarmyard_cluster::Saved;
use swarmyard_serve::again::header_of;

/// The longest checkpoint that is read, in bytes.
const MOST: u64 = 4 << 30;

/// Arguments of `resume`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard run arena.toml --workers 4 --save arena.saved\n  swarmyard resume arena.saved\n  swarmyard resume arena.saved --record rest.mcap     and records the rest"
)]
pub(crate) struct ResumeArgs {
    /// The checkpoint
    file: PathBuf,
    /// When to end: 60s, 2min or tick:600 [default: the scenario's duration]
    #[arg(long, value_name = "WHEN", value_parser = Until::parse)]
    until: Option<Until>,
    /// Threads; they never change a result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Print `tick time hash` every N ticks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hash_every: Option<u64>,
    /// Record the rest of the run there [default: nothing is recorded]
    #[arg(long, value_name = "PATH")]
    record: Option<PathBuf>,
    #[command(flatten)]
    spread: SpreadArgs,
}

/// Goes on with a run.
pub(crate) fn resume(args: &ResumeArgs, out: &Out) -> Result<Exit, Failure> {
    let stop = Stop::install()?;
    let (mut sim, later) = load(args, out)?;
    let from = sim.state().stops;
    let until = args.until.unwrap_or(Until::Time(sim.model().run.duration));
    let show_every = if args.record.is_some() { tape::every(sim.model()) } else { 0 };
    let how = How { show_every, ahead: AHEAD, threads: u32::from(args.threads) };
    let mut recorder = args.record.as_deref().map(|path| record(path, &sim)).transpose()?;
    let spread = args.spread.give(&mut sim, &how, None, out)?;
    let mut last = None;
    while !until.reached(&sim) && !sim.state().ended && !stop.requested() {
        let Some(frame) = sim.poll_step()? else { continue };
        last = Some((frame.stops, frame.hash));
        if let Some(recorder) = &mut recorder {
            recorder.frame(sim.model(), sim.state(), &frame, sim.journal());
        }
        if args.hash_every.is_some_and(|n| frame.stops.is_multiple_of(n)) {
            out.data(&format!("{} {} {:016x}", frame.stops, seconds(frame.now), frame.hash))?;
        }
    }
    sim.finish();
    let came_home = last.is_none_or(|last| last == (sim.state().stops, sim.hash()));
    let statistics = spread.as_ref().and_then(|s| serde_json::to_string(&s.statistics()).ok());
    let kept = recorder.map(|mut recorder| {
        if let Some(json) = &statistics {
            recorder.placement(json);
        }
        recorder.finish(sim.model(), sim.state(), sim.hash())
    });
    if !came_home {
        let what = format!("what came home from the workers is not what they computed: {last:016x?}");
        return Err(Failure::new(Exit::Mismatch, "came-home", what));
    }
    let exit = match stop.requested() {
        true => Exit::Signal,
        false if all_met(&sim) => Exit::Ok,
        false => Exit::Assertion,
    };
    let (tick, hash) = (sim.state().stops, format!("{:016x}", sim.hash()));
    let recording = args.record.as_ref().zip(kept.as_ref());
    let value = json!({
        "from": from, "inputs_until": later, "ticks": tick, "time_s": seconds(sim.now()), "hash": hash, "exit": exit as u8,
        "assertions": assertions_json(&sim),
        "recording": recording.map(|(path, s)| json!({ "path": path, "bytes": s.bytes, "frames": s.frames, "thinned": s.thinned })),
        "recording_trouble": kept.as_ref().and_then(|s| s.stopped.as_ref()),
        "spread": spread.as_ref().map(super::Spread::json), "elsewhere": figures::elsewhere_json(&sim.elsewhere()),
    });
    let with =
        later.map_or_else(String::new, |stop| format!(", with what came from outside up to tick {stop}"));
    let mut text = format!("resumed at tick {from}{with}, ended at {} after {tick} ticks\n", sim.now());
    text.push_str(&assertions_text(&sim, exit != Exit::Signal));
    text.push_str(&recording.map_or_else(String::new, |(path, summary)| recording_text(path, summary)));
    text.push_str(&spread.map_or_else(String::new, |s| s.text()));
    text.push_str(&figures::elsewhere(&sim.elsewhere()));
    text.push_str(&format!("  hash        {hash}\n"));
    out.answer("resume", value, &text)?;
    Ok(exit)
}

/// The run at the stop where it was saved, and the last stop after it at which something entered.
fn load(args: &ResumeArgs, out: &Out) -> Result<(Sim, Option<u64>), Failure> {
    let shown = args.file.display().to_string();
    let failed = |e: std::io::Error| Failure::file("read", &args.file, &e);
    if std::fs::metadata(&args.file).map_err(failed)?.len() > MOST {
        return Err(Failure::new(Exit::Failed, "checkpoint", "this is longer than any checkpoint").on(shown));
    }
    if args.record.as_ref().is_some_and(|to| is_same_file(to, &args.file)) {
        let what = "the recording would be written over the checkpoint";
        return Err(Failure::new(Exit::Usage, "same-file", what).help("choose another name").on(shown));
    }
    let bytes = std::fs::read(&args.file).map_err(failed)?;
    let saved =
        Saved::read(&bytes).map_err(|e| Failure::new(Exit::Failed, "checkpoint", e).on(shown.clone()))?;
    if saved.is_torn() {
        out.say(&format!(
            "`{shown}` ends in the middle of a record: its writer was killed, and the step it was for was never shown"
        ));
    }
    let sim = saved.sim(usize::from(args.threads), args.spread.elsewhere()?);
    Ok((sim.map_err(|e| Failure::from(e).on(shown))?, saved.last_input()))
}

/// Begins a recording at the stop where the run is. What came before is in it, so that it can be replayed: the worlds, the code
/// and every input.
fn record(path: &Path, sim: &Sim) -> Result<Recorder, Failure> {
    let name = sim.model().sources.0.first().map_or("", |s| &s.name);
    let worlds = sim.worlds();
    let header = |world: &Shelved| header_of(&world.model, name, &world.overrides);
    let of = |hash: u64| {
        let missing = || Failure::new(Exit::Failed, "checkpoint", format!("world {hash:016x} is not in it"));
        worlds.all.get(&hash).ok_or_else(missing)
    };
    let origin = of(worlds.origin)?;
    let mut recorder = Recorder::create(path, &header(origin), &origin.model)?;
    for (_, hash) in &sim.state().worlds {
        let world = of(*hash)?;
        recorder.world(&header(world), &world.model, sim.state());
    }
    for (code, bytes) in sim.code() {
        recorder.code(code, bytes);
    }
    recorder.earlier(sim.state(), sim.journal());
    recorder.start(sim.model(), sim.state());
    Ok(recorder)
}

fn recording_text(path: &Path, Summary { bytes: size, frames, stopped, .. }: &Summary) -> String {
    let mut text = format!("  recording   {}, {frames} frames, {}\n", path.display(), bytes(*size));
    if let Some(why) = stopped {
        text.push_str(&format!("  NOT WHOLE   the recording stopped, the run did not: {why}\n"));
    }
    text
}
