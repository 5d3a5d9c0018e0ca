//! `run`: one scenario, from its start to its end, recorded.
//!
//! Start reading at [`run`] and [`drive`]: the loop is one call of [`Sim::step`] and the sinks that
//! look at what it committed. No sink can change or end the run, except by a closed output.

mod events;
mod judge;
mod neko;
pub(crate) mod report;
mod speech;
mod stop;
pub(crate) mod tape;
mod watch;

use super::cluster::SpreadArgs;
use super::fail::{Exit, Failure, waiting};
use super::load::{self, How, Seed, SetArgs, Until};
use super::out::{self, Out, marked};
use super::progress::Progress;
use clap::Args;
use events::Events;
use judge::Judge;
use neko::NekoLog;
use serde_json::json;
use speech::Speech;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
pub(crate) use stop::Stop;
use swarmyard::engine::Frame;
use swarmyard::{Options, Sim};
use tape::Tape;
use watch::Watch;

const EXAMPLES: &str = "\
Examples:
  swarmyard run arena.toml                                  to its end; writes arena.mcap
  swarmyard run arena.toml --until 10s --seed random -q     prints the hash only
  swarmyard run arena.toml --events - --no-record           what happens, as JSON lines
  swarmyard run election.toml --judge                       and whether its protocols keep their promises
  swarmyard run arena.toml --workers 4                      on four processes, with the same hash
  swarmyard run arena.toml --workers 4 --placement-from arena-1.mcap   from the cut that the last run suggests";

/// Stops that workers may be ahead of the recording and the others who look.
pub(crate) const AHEAD: u64 = 16;

/// Arguments of `run`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The scenario
    file: PathBuf,
    /// Seed of every random number: a whole number, or `random` [default: the scenario's]
    #[arg(long, value_name = "N|random", value_parser = Seed::parse)]
    seed: Option<Seed>,
    /// When to end: 60s, 2min or tick:600 [default: the scenario's duration]
    #[arg(long, value_name = "WHEN", value_parser = Until::parse)]
    until: Option<Until>,
    #[command(flatten)]
    set: SetArgs,
    /// Threads; they never change a result [default: one, or all processors for 1000 robots and more]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Where the recording goes [default: the scenario's name with .mcap, in this folder; written anew]
    #[arg(long, value_name = "PATH", conflicts_with = "no_record")]
    record: Option<PathBuf>,
    /// Record nothing
    #[arg(long)]
    no_record: bool,
    /// Print `tick time hash` every N ticks
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    hash_every: Option<u64>,
    /// Write what happens as JSON lines: `-` for standard output, or a file
    #[arg(long, value_name = "-|PATH")]
    events: Option<PathBuf>,
    /// Write what robots that live by events do as a log of Neko's robot simulator
    #[arg(long, value_name = "PATH")]
    neko_log: Option<PathBuf>,
    /// Say at the end whether every protocol kept its promises; exit code 1 when one was broken
    #[arg(long)]
    judge: bool,
    /// What protocols are asked for so shortly before the end, in simulated time, is not judged
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = super::talk::seconds)]
    settle: f64,
    /// Simulated seconds per second: `max`, or a number such as 1.0
    #[arg(long, value_name = "max|X", default_value = "max", value_parser = rate)]
    rtf: Rate,
    /// Write a picture of the whole run
    #[arg(long, value_name = "PATH.svg")]
    picture: Option<PathBuf>,
    /// Stop after so many seconds on the clock, with exit code 124
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    wall_limit: Option<f64>,
    /// Make controllers anew when their source files change, and go on with them
    #[arg(long)]
    watch: bool,
    /// No progress and no report: print the final hash only
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    spread: SpreadArgs,
}

/// Simulated seconds per second; `None` is as fast as possible.
#[derive(Clone, Copy, Debug)]
struct Rate(Option<f64>);

fn rate(text: &str) -> Result<Rate, String> {
    if text == "max" {
        return Ok(Rate(None));
    }
    seconds(text).map(|x| Rate(Some(x))).map_err(|_| "write `max`, or a number above 0 such as 1.0".into())
}

fn seconds(text: &str) -> Result<f64, String> {
    let x: f64 = text.parse().map_err(|_| "write a number above 0".to_owned())?;
    if x.is_finite() && x > 0.0 { Ok(x) } else { Err("write a number above 0".into()) }
}

impl RunArgs {
    /// What is laid over the scenario: `--set` in order, then the seed.
    fn overrides(&self) -> Vec<(String, String)> {
        let mut all = self.set.set.clone();
        all.extend(self.seed.map(|s| ("run.seed".to_owned(), s.0.to_string())));
        all
    }

    /// Where the recording goes, if there is to be one.
    fn recording(&self) -> Option<PathBuf> {
        let stem = self.file.file_stem().unwrap_or(self.file.as_os_str());
        let default = || Path::new(stem).with_added_extension("mcap");
        (!self.no_record).then(|| self.record.clone().unwrap_or_else(default))
    }

    /// Refuses to write two things to one file, or anything over the scenario.
    fn check_files(&self) -> Result<(), Failure> {
        let recording = self.recording();
        let written = [&self.picture, &self.events, &self.neko_log].map(Option::as_ref);
        let files = [Some(&self.file), recording.as_ref()].into_iter().chain(written);
        let files: Vec<&Path> = files.flatten().map(PathBuf::as_path).collect();
        for (k, a) in files.iter().enumerate() {
            if let Some(b) = files[k + 1..].iter().find(|b| is_same_file(a, b)) {
                let what = format!("`{}` would be written over `{}`", b.display(), a.display());
                return Err(Failure::new(Exit::Usage, "same-file", what).help("choose another name"));
            }
        }
        let alone = [
            (self.neko_log.is_some(), "neko-log", "a log of Neko's robot simulator can be written"),
            (self.judge, "judge", "promises of protocols can be judged"),
        ];
        let refused = alone.into_iter().find(|(wanted, ..)| *wanted && self.spread.is_wanted());
        if let Some((_, code, what)) = refused {
            let what = format!("{what} of a run in one process only");
            return Err(Failure::new(Exit::Usage, code, what).help("leave out --workers and --hosts"));
        }
        Ok(())
    }

    /// How workers take the steps, when there are some: the recording says how often it must see the bodies.
    fn how(&self, sim: &Sim) -> How {
        let is_recorded = !self.no_record || self.picture.is_some();
        let show_every = if is_recorded { tape::every(sim.model()) } else { 0 };
        How { show_every, ahead: AHEAD, threads: self.threads.map_or(1, u32::from) }
    }

    /// Whether standard output carries a stream, so that the report has to go elsewhere.
    fn streams(&self) -> bool {
        self.hash_every.is_some() || self.events.as_ref().is_some_and(|p| p.as_os_str() == "-")
    }
}

/// Whether two names are one file. Devices may be used twice.
pub(crate) fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b && a.is_file(),
        _ => a == b,
    }
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// It got where it should.
    Finished,
    /// A signal.
    Signal,
    /// The wall limit.
    WallLimit,
}

/// Runs a scenario.
pub(crate) fn run(args: &RunArgs, out: &Out) -> Result<Exit, Failure> {
    args.check_files()?;
    let stop = Stop::install()?;
    let own_threads = if args.spread.is_wanted() { Some(1) } else { args.threads };
    let mut sim = load::scenario_with(
        &args.file,
        &Options {
            overrides: args.overrides(),
            threads: own_threads.map_or(0, usize::from),
            elsewhere: args.spread.elsewhere()?,
            ..Options::default()
        },
    )?;
    let waits = load::waiting_robots(&sim);
    if !waits.is_empty() {
        return Err(waiting(&waits).on(args.file.display().to_string()));
    }
    let until = args.until.unwrap_or(Until::Time(sim.model().run.duration));
    let judge = Judge::open(args, &mut sim)?;
    let mut tape = Tape::open(args, &sim, out)?;
    let mut sinks = Sinks {
        events: Events::open(args.events.as_deref())?,
        neko: NekoLog::open(args.neko_log.as_deref(), &mut sim)?,
        judge,
        hash_every: args.hash_every,
        progress: Progress::new(!args.quiet),
        json: out.json,
        speech: Speech::new(!args.quiet && !out.json && !args.streams()),
    };
    let how = args.how(&sim);
    let mut spread = args.spread.give(&mut sim, &how, tape.path(), out)?;
    report::head(args, &sim, until, &tape, spread.as_ref(), out)?;
    let started = Instant::now();
    let (rate, limit) = (args.rtf.0, args.wall_limit);
    // Beyond the end of the clock it never comes.
    let limited = limit.and_then(|s| started.checked_add(Duration::try_from_secs_f64(s).ok()?));
    sim.leave_when(Some(stop.leave(limited)));
    let mut drive = Drive { last: None, until, stop: &stop, rate, limit, started, given_up_s: 0.0 };
    let mut watch = args.watch.then(|| Watch::new(&sim));
    let ending = drive.run(&mut sim, &mut tape, &mut sinks, watch.as_mut());
    let wall = started.elapsed();
    sinks.progress.clear();
    for (robot, line) in sim.finish() {
        sinks.speech.last(&robot, &line);
    }
    let came_home = spread.as_ref().map_or(Ok(()), |_| drive.compare(&sim));
    // The recording is closed whatever happened.
    if let Some(spread) = &spread {
        tape.placement(&spread.statistics());
    }
    let kept = tape.finish(&sim, args.picture.as_deref());
    let ending = ending.and_then(|ending| came_home.map(|()| ending));
    if let Some(spread) = &mut spread {
        match &ending {
            Ok(Ending::Finished) => spread.is_finished(),
            _ => spread.go_on().into_iter().for_each(|words| out.say(&words)),
        }
    }
    let ending = ending?;
    sinks.events.end(&sim)?;
    sinks.neko.end()?;
    let judged = sinks.judge.end(&sim, args.settle);
    report::tail(&report::Ended { args, sim: &sim, ending, wall, kept, spread, judged }, out)
}

/// How a run is driven.
struct Drive<'a> {
    /// The last frame: its stop and its hash.
    last: Option<(u64, u64)>,
    until: Until,
    stop: &'a Stop,
    rate: Option<f64>,
    limit: Option<f64>,
    started: Instant,
    /// Seconds on the clock that are not made up for: workers had to come first, or the machine was too slow.
    given_up_s: f64,
}

/// A run that is further behind its clock than this, in seconds, gives up to catch up.
const MOST_BEHIND_S: f64 = 0.2;

impl Drive<'_> {
    /// The loop: a step, and everybody who looks at what it committed.
    fn run(
        &mut self,
        sim: &mut Sim,
        tape: &mut Tape,
        sinks: &mut Sinks,
        mut watch: Option<&mut Watch>,
    ) -> Result<Ending, Failure> {
        while !self.until.reached(sim) && !sim.state().ended {
            if let Some(early) = self.early() {
                return Ok(early);
            }
            if let Some(watch) = &mut watch {
                watch.look(sim, &sinks.progress, self.started.elapsed().as_secs_f64());
            }
            let before = sim.now();
            let Some(frame) = sim.poll_step()? else { continue };
            self.last = Some((frame.stops, frame.hash));
            tape.frame(sim, &frame);
            sinks.speech.frame(sim, &frame, &sinks.progress);
            sinks.events.frame(sim, before, &frame)?;
            sinks.neko.frame(&frame)?;
            sinks.judge.look(sim);
            sinks.hash(&frame)?;
            let wall = self.started.elapsed().as_secs_f64();
            sinks.events.heartbeat(sim, self.until, wall)?;
            sinks.progress.show(sim, self.until, wall);
            self.wait(sim);
        }
        Ok(Ending::Finished)
    }

    /// Compares what workers computed with what came home from them at the end.
    fn compare(&self, sim: &Sim) -> Result<(), Failure> {
        let Some((stop, hash)) = self.last else { return Ok(()) };
        if (sim.state().stops, sim.hash()) == (stop, hash) {
            return Ok(());
        }
        let what =
            format!("what came home from the workers is not what they computed: {hash:016x} at tick {stop}");
        Err(Failure::new(Exit::Mismatch, "came-home", what))
    }

    /// Why the run must end before its time.
    fn early(&self) -> Option<Ending> {
        if self.stop.requested() {
            return Some(Ending::Signal);
        }
        self.limit
            .is_some_and(|limit| self.started.elapsed().as_secs_f64() >= limit)
            .then_some(Ending::WallLimit)
    }

    /// Waits until the clock has caught up with the simulated time; a signal ends the wait.
    fn wait(&mut self, sim: &Sim) {
        let Some(rate) = self.rate else { return };
        let target = sim.now().seconds() / rate + self.given_up_s;
        let behind = self.started.elapsed().as_secs_f64() - target;
        if behind > MOST_BEHIND_S {
            self.given_up_s += behind;
        }
        while self.early().is_none() {
            let ahead = target - self.started.elapsed().as_secs_f64();
            if ahead <= 0.0 {
                return;
            }
            std::thread::sleep(Duration::from_secs_f64(ahead.min(0.05)));
        }
    }
}

/// Those who look at the run while it goes on.
struct Sinks {
    events: Events,
    neko: NekoLog,
    judge: Judge,
    hash_every: Option<u64>,
    progress: Progress,
    json: bool,
    speech: Speech,
}

impl Sinks {
    /// Prints the hash of a step that is asked for.
    fn hash(&mut self, frame: &Frame) -> Result<(), Failure> {
        if self.hash_every.is_none_or(|n| !frame.stops.is_multiple_of(n)) {
            return Ok(());
        }
        let hash = format!("{:016x}", frame.hash);
        let mut stdout = std::io::stdout().lock();
        if self.json {
            let line = json!({ "tick": frame.stops, "time_s": out::seconds(frame.now), "hash": hash });
            writeln!(stdout, "{}", marked("hash", line))?;
        } else {
            writeln!(stdout, "{} {} {hash}", frame.stops, out::seconds(frame.now))?;
        }
        Ok(())
    }
}
