//! `talk`: the protocols of a world over real sockets, in real time.
//!
//! In: a scenario, and which of its robots are in this process. Out: what was said, how many messages it took, and
//! whether every protocol kept its promises, by the checkers of its tests.
//!
//! There is no world in a talk: a robot goes where its own motion modules take it, touches nothing, and knows no
//! place but its own. No two talks are the same. Sockets are on this machine unless somebody says otherwise.

mod judge;
mod ledger;
mod place;
mod report;
mod trace;
mod world;

use super::fail::{Exit, Failure};
use super::load::SetArgs;
use super::out::Out;
use super::run::Stop;
use super::verdicts;
use clap::{Args, ValueEnum};
use ledger::Ledger;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use swarmyard::agents::wire::{Ear, Mode, Settings, Talk, WireError};
use swarmyard::base::units::Unit;
use swarmyard_radio::lab::Event;
use trace::TraceFile;
use world::World;

const EXAMPLES: &str = "\
Examples:
  swarmyard talk election.toml                                   all robots, over UDP, for 10 s
  swarmyard talk election.toml --over tcp --for 60s --json
  swarmyard talk pair.toml --robot a --listen 127.0.0.1:7301 --peer b=127.0.0.1:7302 --trace a.trace
  swarmyard talk pair.toml --robot b --listen 127.0.0.1:7302 --peer a=127.0.0.1:7301 --trace b.trace
  swarmyard talk pair.toml --judge a.trace b.trace               what the two of them did, judged together";

/// Arguments of `talk`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct TalkArgs {
    /// The scenario
    file: PathBuf,
    /// How messages travel
    #[arg(long, value_enum, default_value = "udp")]
    over: Over,
    /// How long they talk, in real time
    #[arg(long = "for", value_name = "TIME", default_value = "10s", value_parser = seconds)]
    long: f64,
    /// Share of messages that are dropped before they are sent
    #[arg(long, value_name = "SHARE", default_value_t = 0.0, value_parser = share)]
    loss: f64,
    /// What is asked for so shortly before the end is not judged
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = seconds)]
    settle: f64,
    #[command(flatten)]
    place: place::PlaceArgs,
    /// Write down what is to be judged, line by line
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// Do not talk: judge what all processes of a talk wrote down
    #[arg(long, value_name = "FILE", num_args = 1.., conflicts_with_all = ["trace", "robots"])]
    judge: Vec<PathBuf>,
    #[command(flatten)]
    set: SetArgs,
}

/// How messages travel.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Over {
    /// Datagrams: may be lost, doubled and reordered
    Udp,
    /// A connection for each ordered pair: nothing is lost while both live
    Tcp,
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = Unit::Second.parse(text).map_err(|e| e.to_string())?;
    if (0.0..=86_400.0).contains(&seconds) { Ok(seconds) } else { Err("write a time of up to a day".into()) }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().map_err(|_| "write a number from 0 to 1".to_owned())?;
    if (0.0..=1.0).contains(&share) { Ok(share) } else { Err("write a number from 0 to 1".into()) }
}

/// Lets the robots of a world talk, or judges what they wrote down.
pub(crate) fn talk(args: &TalkArgs, out: &Out) -> Result<Exit, Failure> {
    let world = World::load(&args.file, &args.set)?;
    if !args.judge.is_empty() {
        return judge_files(args, &world, out);
    }
    let place = place::Place::of(&args.place, &world)?;
    let file = args.trace.as_ref().map(|path| TraceFile::begin(path, &world, &place.here)).transpose()?;
    let stop = Stop::install()?;
    let over = || stop.requested();
    let mode = match args.over {
        Over::Udp => Mode::Udp,
        Over::Tcp => Mode::Tcp,
    };
    let settings = Settings { mode, loss: args.loss, seed: world.seed() };
    let said = |e: WireError| explained(&world, e);
    let talkers = world.talkers(&place.here);
    let talk = match &place.sockets {
        None => Talk::here(talkers, settings).map_err(said)?,
        Some(sockets) => {
            let met = sockets.meet(&world, &place.here, mode, out, &over).map_err(said)?;
            Talk::with_others(talkers, settings, met)
        }
    };
    report::begins(args, &world, &place, out)?;
    let ledger = Arc::new(Mutex::new(Ledger::new(&world, file, !out.json)));
    let ear: Ear = Arc::new(Mutex::new({
        let ledger = Arc::clone(&ledger);
        move |event: &Event| ledger.lock().unwrap_or_else(PoisonError::into_inner).hear(event)
    }));
    let end = talk.run(&world.script(), Duration::from_secs_f64(args.long), &over, &ear).map_err(said)?;
    let mut ledger = ledger.lock().unwrap_or_else(PoisonError::into_inner);
    ledger.end(end);
    let overflowed = ledger.docket.has_overflowed();
    let all_here = place.here.len() == world.robots.len() && !overflowed;
    let verdicts =
        if all_here { world.uses.judge(ledger.docket.kept(), end, args.settle) } else { Vec::new() };
    // Who has only some of the robots here judges nothing, and keeps its trace elsewhere.
    let too_much = overflowed && place.here.len() == world.robots.len();
    let failed = verdicts::failed(&verdicts, too_much) || ledger.file_trouble.is_some();
    let exit = match (failed, stop.requested()) {
        (true, _) => Exit::Failed,
        (false, true) => Exit::Signal,
        (false, false) => Exit::Ok,
    };
    let done = report::Done { ledger: &ledger, end, verdicts: &verdicts, all_here, exit };
    report::ends(args, &world, &place, &done, out)?;
    Ok(exit)
}

fn judge_files(args: &TalkArgs, world: &World, out: &Out) -> Result<Exit, Failure> {
    let read = |path: &PathBuf| trace::read(path, world).map(|read| (path.clone(), read));
    let files: Vec<(PathBuf, trace::Read)> = args.judge.iter().map(read).collect::<Result<_, _>>()?;
    let (kept, end) = judge::together(world, &files)?;
    let verdicts = world.uses.judge(&kept, end, args.settle);
    let exit = if verdicts::failed(&verdicts, false) { Exit::Failed } else { Exit::Ok };
    report::judged(world, &verdicts, kept.len(), exit, out)?;
    Ok(exit)
}

/// The same problem with paths of robots, and what to do now.
fn explained(world: &World, problem: WireError) -> Failure {
    let path = |n: &u32| world.robots.get(*n as usize).map_or("?", |r| r.path.as_str()).to_owned();
    let (code, what, help) = match &problem {
        WireError::Cannot { process, what } => {
            let help = "run it in the simulator: `swarmyard run`";
            ("cannot-talk", format!("{} {what}", path(process)), Some(help))
        }
        WireError::Endless { process, protocol } => {
            let what = format!("protocol `{protocol}` of {} does not come to rest", path(process));
            ("endless", what, None)
        }
        WireError::Missing { who, strangers } => {
            let names: Vec<String> = who.iter().map(path).collect();
            let mut what = format!("nobody spoke for {} in time", names.join(", "));
            if *strangers > 0 {
                what += &format!("; {strangers} messages came that were not for this talk");
            }
            let help = "start their processes with the same scenario, and give each the address of another by `--peer`";
            ("missing", what, Some(help))
        }
        WireError::Stopped => {
            return Failure::new(Exit::Signal, "signal", "stopped before all robots had met");
        }
        other => ("socket", other.to_string(), Some("another port may be free")),
    };
    let failure = Failure::new(Exit::Failed, code, what);
    match help {
        Some(help) => failure.help(help),
        None => failure,
    }
}
