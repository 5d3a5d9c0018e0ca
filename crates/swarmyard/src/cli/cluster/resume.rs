//! `resume`: goes on with a run whose keeper was lost, from its last checkpoint.
//!
//! In: what `run --save` or a host with `--hold` has left. Out: the rest of the run, with the hashes it would have had. The
//! world is in the file; nothing is recorded.

use super::spread::SpreadArgs;
use crate::cli::fail::{Exit, Failure};
use crate::cli::figures;
use crate::cli::load::{How, Until};
use crate::cli::out::{Out, seconds};
use crate::cli::run::{AHEAD, Stop};
use clap::Args;
use serde_json::json;
use std::path::PathBuf;
use swarmyard_cluster::Saved;

/// The longest checkpoint that is read, in bytes.
const MOST: u64 = 4 << 30;

/// Arguments of `resume`.
#[derive(Args)]
#[command(
    before_help = "Examples:\n  swarmyard run arena.toml --workers 4 --save arena.saved\n  swarmyard resume arena.saved"
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
    #[command(flatten)]
    spread: SpreadArgs,
}

/// Goes on with a run.
pub(crate) fn resume(args: &ResumeArgs, out: &Out) -> Result<Exit, Failure> {
    let stop = Stop::install()?;
    let shown = args.file.display().to_string();
    let failed = |e: std::io::Error| Failure::file("read", &args.file, &e);
    if std::fs::metadata(&args.file).map_err(failed)?.len() > MOST {
        return Err(Failure::new(Exit::Failed, "checkpoint", "this is longer than any checkpoint").on(shown));
    }
    let bytes = std::fs::read(&args.file).map_err(failed)?;
    let saved =
        Saved::read(&bytes).map_err(|e| Failure::new(Exit::Failed, "checkpoint", e).on(shown.clone()))?;
    let mut sim = saved
        .sim(usize::from(args.threads), args.spread.elsewhere()?)
        .map_err(|e| Failure::from(e).on(shown))?;
    let from = sim.state().stops;
    let until = args.until.unwrap_or(Until::Time(sim.model().run.duration));
    let how = How { show_every: 0, ahead: AHEAD, threads: u32::from(args.threads) };
    let spread = args.spread.give(&mut sim, &how, out)?;
    while !until.reached(&sim) && !sim.state().ended && !stop.requested() {
        let Some(frame) = sim.poll_step()? else { continue };
        if args.hash_every.is_some_and(|n| frame.stops.is_multiple_of(n)) {
            out.data(&format!("{} {} {:016x}", frame.stops, seconds(frame.now), frame.hash))?;
        }
    }
    sim.finish();
    let (tick, hash) = (sim.state().stops, format!("{:016x}", sim.hash()));
    let value = json!({
        "from": from, "ticks": tick, "time_s": seconds(sim.now()), "hash": hash,
        "spread": spread.as_ref().map(super::Spread::json), "elsewhere": figures::elsewhere_json(&sim.elsewhere()),
    });
    let mut text = format!("resumed at tick {from}, ended at {} after {tick} ticks\n", sim.now());
    text.push_str(&spread.map_or_else(String::new, |s| s.text()));
    text.push_str(&figures::elsewhere(&sim.elsewhere()));
    text.push_str(&format!("  hash        {hash}\n"));
    out.answer("resume", value, &text)?;
    Ok(if stop.requested() { Exit::Signal } else { Exit::Ok })
}
