//! `bench`: how fast this machine simulates, in the loop that `run` uses.
//!
//! Contacts and hashing are on. Time is the processor time of the whole process, so a machine that
//! does other things as well gives the same answer.

mod displays;
mod gas;
mod live;

use super::again;
use super::fail::{Exit, Failure};
use super::out::{Out, bytes, count};
use clap::Args;
use nix::time::{ClockId, clock_gettime};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use swarmyard::base::Diagnostic;
use swarmyard::bench::World;
use swarmyard::part_api::Detail;
use swarmyard::record::{Recorder, Temporary};
use swarmyard::{Options, Sim};

/// Steps before anything is measured: buffers grow to their size.
const WARM_UP: u64 = 3;
/// Processor seconds that are timed when nobody says how many steps.
const WINDOW_S: f64 = 1.0;

const EXAMPLES: &str = "\
Examples:
  swarmyard bench swarm12 --robots 10000
  swarmyard bench swarm12 --robots 50 --scenario > swarm12.toml    the same world as a file
  swarmyard bench --table                                          the standard set, as Markdown
  swarmyard bench --levels                                         what each level of detail costs
  swarmyard bench --gas                                            collisions of discs in flight
  swarmyard bench --live                                           robots that live by events
  swarmyard bench --workers                                        runs that are spread over workers
  swarmyard bench swarm12 --robots 10000 --workers                 this one alone and on one worker and two";

/// Arguments of `bench`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    /// The world: swarm12, swarm12-disc, prox24, laser180, circles, programs, or a scenario file
    #[arg(value_name = "WORLD|FILE", required_unless_present_any = ["table", "levels", "controllers", "displays", "gas", "live", "workers"])]
    world: Option<String>,
    /// Number of robots, in a world of that many
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    robots: u32,
    /// Steps to time [default: as many as take about one processor second]
    #[arg(long, value_name = "K", value_parser = clap::value_parser!(u64).range(1..))]
    steps: Option<u64>,
    /// Threads; they never change a result
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    /// Measure with the default recording
    #[arg(long)]
    record: bool,
    /// Print the world as a scenario instead of measuring
    #[arg(long, conflicts_with_all = ["record", "steps"])]
    scenario: bool,
    /// Measure the standard set and print a Markdown table
    #[arg(long, conflicts_with_all = ["world", "robots", "steps", "threads", "record", "scenario"])]
    table: bool,
    /// Measure one world at every level of detail and print a Markdown table
    #[arg(long, conflicts_with_all = ["world", "robots", "steps", "threads", "record", "scenario", "table"])]
    levels: bool,
    /// Measure what a controller in the sandbox costs and print a Markdown table
    #[arg(long, conflicts_with_all = ["world", "robots", "steps", "threads", "record", "scenario", "table", "levels"])]
    controllers: bool,
    /// Measure what showing a run to displays costs and print a Markdown table
    #[arg(long, conflicts_with_all = ["world", "robots", "steps", "threads", "record", "scenario", "table", "levels", "controllers"])]
    displays: bool,
    /// Measure collisions of discs in flight, a gas of hard discs, and print a Markdown table
    #[arg(long, conflicts_with_all = ["world", "robots", "steps", "threads", "record", "scenario", "table", "levels", "controllers", "displays"])]
    gas: bool,
    /// Measure robots that live by events: messages, a gathering, memory; and print a Markdown table
    #[arg(long, conflicts_with_all = ["world", "robots", "steps", "threads", "record", "scenario", "table", "levels", "controllers", "displays", "gas"])]
    live: bool,
    /// Measure runs that are spread over worker processes, several minutes long, and print Markdown tables; with a WORLD only that one
    #[arg(long, conflicts_with_all = ["steps", "threads", "record", "scenario", "table", "levels", "controllers", "displays", "gas", "live"])]
    workers: bool,
}

/// What is measured.
enum Subject {
    World(World),
    File(PathBuf),
}

impl Subject {
    fn named(name: &str) -> Result<Subject, Failure> {
        if let Some(world) = World::ALL.iter().find(|w| w.0 == name) {
            return Ok(Subject::World(world.1));
        }
        if Path::new(name).extension().is_some_and(|e| e == "toml") {
            return Ok(Subject::File(name.into()));
        }
        let what = format!("there is no benchmark world `{name}`, and it is not a scenario file");
        let d = Diagnostic::error("unknown-world", what).suggest(name, World::ALL.iter().map(|w| w.0));
        Err(Failure::one(Exit::Usage, d))
    }

    fn load(&self, args: &BenchArgs) -> Result<Sim, Failure> {
        let threads = usize::from(args.threads);
        match self {
            Subject::World(world) => {
                let options = Options { threads, ..Options::default() };
                Ok(world.load(args.robots as usize, &options)?)
            }
            Subject::File(path) => super::load::scenario(path, &[], threads),
        }
    }
}

/// Measures one world, or the standard set.
pub(crate) fn bench(args: &BenchArgs, out: &Out) -> Result<Exit, Failure> {
    if args.table {
        return table(out);
    }
    if args.levels {
        return levels(out);
    }
    let name = args.world.as_deref().unwrap_or_default();
    if args.controllers {
        return controllers(out);
    }
    if args.displays {
        return displays::displays(out);
    }
    if args.gas {
        return gas::gas(out);
    }
    if args.live {
        return live::live(out);
    }
    if args.workers {
        let only = match args.world.as_deref().map(Subject::named).transpose()? {
            None => None,
            Some(Subject::World(world)) => Some((world, args.robots)),
            Some(Subject::File(_)) => {
                let why = "a file is measured on workers by `swarmyard run FILE --workers N`";
                return Err(Failure::new(Exit::Usage, "usage", why));
            }
        };
        return super::cluster::bench(only, out);
    }
    let subject = Subject::named(name)?;
    if args.scenario {
        let Subject::World(world) = subject else {
            return Err(Failure::new(Exit::Usage, "usage", "a file is a scenario already"));
        };
        let text = world.placed_scenario(args.robots as usize);
        out.answer(
            "bench-scenario",
            json!({ "world": name, "robots": args.robots, "scenario": text }),
            &text,
        )?;
        return Ok(Exit::Ok);
    }
    let result = measure(&subject, args)?;
    out.answer("bench", result.json(name, args), &result.text(name, args))?;
    Ok(Exit::Ok)
}

/// What was measured.
struct Measured {
    robots: usize,
    load_s: f64,
    steps: u64,
    total_steps: u64,
    cpu_s: f64,
    wall_s: f64,
    /// `None` where the system does not tell.
    bytes_per_robot: Option<f64>,
    contacts: u64,
    hash: u64,
    recorded_bytes: Option<u64>,
}

/// A world being measured, recorded or not.
struct Bench {
    sim: Sim,
    recorder: Option<(Recorder, Temporary)>,
}

impl Bench {
    fn start(subject: &Subject, args: &BenchArgs) -> Result<Bench, Failure> {
        let sim = subject.load(args)?;
        let mut recorder = None;
        if args.record {
            let header = again::header(&sim, "bench", &[]);
            let (mut tape, file) = Recorder::temporary(&std::env::temp_dir(), &header, sim.model())?;
            tape.start(sim.model(), sim.state());
            recorder = Some((tape, file));
        }
        Ok(Bench { sim, recorder })
    }

    fn steps(&mut self, steps: u64) -> Result<(), Failure> {
        for _ in 0..steps {
            let frame = self.sim.step()?;
            if let Some((recorder, _)) = &mut self.recorder {
                recorder.frame(self.sim.model(), self.sim.state(), &frame, self.sim.journal());
            }
        }
        Ok(())
    }

    /// Steps that take about the window, from the time of a few.
    fn calibrate(&mut self) -> Result<u64, Failure> {
        let mut steps = 1;
        loop {
            let (cpu, wall) = (cpu_seconds(), Instant::now());
            self.steps(steps)?;
            let wall = wall.elapsed().as_secs_f64();
            if wall >= 0.05 || steps >= 1 << 20 {
                let spent = cpu.and_then(|before| Some(cpu_seconds()? - before)).unwrap_or(wall).max(1e-6);
                return Ok(((WINDOW_S * steps as f64 / spent).round() as u64).max(1));
            }
            steps *= 2;
        }
    }

    /// Closes the recording and takes it away again; answers its size.
    fn finish(self) -> (Sim, Option<u64>) {
        let Bench { sim, recorder } = self;
        let bytes =
            recorder.map(|(recorder, _file)| recorder.finish(sim.model(), sim.state(), sim.hash()).bytes);
        (sim, bytes)
    }
}

fn measure(subject: &Subject, args: &BenchArgs) -> Result<Measured, Failure> {
    let before = resident_bytes();
    let started = Instant::now();
    let mut bench = Bench::start(subject, args)?;
    let load_s = started.elapsed().as_secs_f64();
    bench.steps(WARM_UP)?;
    let grown = before.and_then(|b| Some(resident_bytes()?.saturating_sub(b)));
    let steps = match args.steps {
        Some(steps) => steps,
        None => bench.calibrate()?,
    };
    let (cpu, wall) = (cpu_seconds(), Instant::now());
    bench.steps(steps)?;
    let wall_s = wall.elapsed().as_secs_f64();
    let cpu_s = cpu.and_then(|before| Some(cpu_seconds()? - before)).unwrap_or(wall_s);
    let (sim, recorded_bytes) = bench.finish();
    let robots = sim.model().robots();
    Ok(Measured {
        robots,
        load_s,
        steps,
        total_steps: sim.state().stops,
        cpu_s,
        wall_s,
        bytes_per_robot: grown.map(|g| g as f64 / robots.max(1) as f64),
        contacts: sim.state().accounts.contacts,
        hash: sim.hash(),
        recorded_bytes,
    })
}

impl Measured {
    fn cpu_rate(&self) -> f64 {
        self.robots as f64 * self.steps as f64 / self.cpu_s.max(1e-9)
    }

    fn wall_rate(&self) -> f64 {
        self.robots as f64 * self.steps as f64 / self.wall_s.max(1e-9)
    }

    fn text(&self, name: &str, args: &BenchArgs) -> String {
        let mut text =
            format!("{name}, {}, {}\n", count(self.robots, "robot"), count(args.threads.into(), "thread"));
        let rate = self.cpu_rate();
        let _ = writeln!(
            text,
            "  steps timed     {} of {} in all, {:.2} processor seconds",
            self.steps, self.total_steps, self.cpu_s
        );
        let _ = writeln!(
            text,
            "  speed           {} robot-steps per processor second, {:.0} ns each",
            grouped(rate),
            1e9 / rate
        );
        let quanta = self.steps as f64 / self.cpu_s.max(1e-9);
        let _ = writeln!(text, "  quanta          {} per processor second", grouped(quanta));
        let _ = writeln!(text, "  on the clock    {} robot-steps per second", grouped(self.wall_rate()));
        let memory =
            self.bytes_per_robot.map_or_else(|| "unknown here".into(), |b| format!("{b:.0} bytes per robot"));
        let _ = writeln!(text, "  memory          {memory}");
        let _ = writeln!(text, "  loading         {:.3} s", self.load_s);
        if let Some(size) = self.recorded_bytes {
            let _ = writeln!(text, "  recording       {}", bytes(size));
        }
        let _ = writeln!(text, "  contacts        {}", self.contacts);
        let _ = writeln!(text, "  hash            {:016x} after {} steps", self.hash, self.total_steps);
        text
    }

    fn json(&self, name: &str, args: &BenchArgs) -> Value {
        json!({
            "world": name, "robots": self.robots, "threads": args.threads,
            "steps_timed": self.steps, "steps_total": self.total_steps,
            "cpu_s": self.cpu_s, "wall_s": self.wall_s, "load_s": self.load_s,
            "quanta_per_cpu_s": self.steps as f64 / self.cpu_s.max(1e-9), "robot_steps_per_cpu_s": self.cpu_rate(), "robot_steps_per_s": self.wall_rate(),
            "bytes_per_robot": self.bytes_per_robot, "contacts": self.contacts,
            "recorded_bytes": self.recorded_bytes, "hash": format!("{:016x}", self.hash),
        })
    }
}

/// World, robots, steps and tries of the standard set. The same simulated time for all sizes of a
/// world, so that rows can be compared; the best of the tries counts.
const STANDARD: [(&str, u32, u64, u32); 8] = [
    ("swarm12", 1_000, 100, 5),
    ("swarm12", 10_000, 100, 3),
    ("swarm12", 100_000, 100, 1),
    ("swarm12", 1_000_000, 10, 1),
    ("swarm12-disc", 1_000, 100, 5),
    ("prox24", 1_000, 100, 5),
    ("prox24", 10_000, 100, 3),
    ("laser180", 1_000, 100, 3),
];

fn table(out: &Out) -> Result<Exit, Failure> {
    let mut text = String::from(
        "| world | robots | robot-steps per processor second | per second, 1 thread | per second, 2 threads | bytes per robot | loading |\n|---|--:|--:|--:|--:|--:|--:|\n",
    );
    let mut rows = Vec::new();
    for (world, robots, steps, tries) in STANDARD {
        out.say(&format!("{world}, {robots} robots"));
        let best = |threads: u16| best_of(tries, || child(world, robots, steps, threads));
        let (one, two) = (best(1)?, best(2)?);
        let number = |v: &Value, key: &str| v[key].as_f64().unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "| {world} | {} | {} | {} | {} | {:.0} | {:.3} s |",
            grouped(f64::from(robots)),
            grouped(number(&one, "robot_steps_per_cpu_s")),
            grouped(number(&one, "robot_steps_per_s")),
            grouped(number(&two, "robot_steps_per_s")),
            number(&one, "bytes_per_robot"),
            number(&one, "load_s"),
        );
        rows.extend([one, two]);
    }
    out.answer("bench-table", json!({ "rows": rows }), &text)?;
    Ok(Exit::Ok)
}

/// Quanta of the world of levels that are timed, from its start: a minute of simulated time.
const LEVEL_QUANTA: u64 = 1200;

/// What each level of detail costs: the same world from the same start, best of five.
fn levels(out: &Out) -> Result<Exit, Failure> {
    let mut text = String::from(
        "| level | robots | quanta per processor second | robot-steps per processor second |\n|---|--:|--:|--:|\n",
    );
    let mut rows = Vec::new();
    for detail in Detail::ALL {
        let (mut best, mut robots, mut hash) = (0.0_f64, 0, 0);
        for _ in 0..5 {
            let mut bench = Bench { sim: swarmyard::bench::at_level(detail)?, recorder: None };
            let (cpu, wall) = (cpu_seconds(), Instant::now());
            bench.steps(LEVEL_QUANTA)?;
            let wall_s = wall.elapsed().as_secs_f64();
            let cpu_s = cpu.and_then(|before| Some(cpu_seconds()? - before)).unwrap_or(wall_s);
            best = best.max(LEVEL_QUANTA as f64 / cpu_s.max(1e-9));
            (robots, hash) = (bench.sim.model().robots(), bench.sim.hash());
        }
        let (number, word) = (detail as u8, detail.word());
        let all = best * robots as f64;
        let _ = writeln!(text, "| {number} `{word}` | {robots} | {} | {} |", grouped(best), grouped(all));
        rows.push(json!({
            "level": word, "robots": robots, "quanta": LEVEL_QUANTA, "quanta_per_cpu_s": best,
            "robot_steps_per_cpu_s": all, "hash": format!("{hash:016x}"),
        }));
    }
    out.answer("bench-levels", json!({ "rows": rows }), &text)?;
    Ok(Exit::Ok)
}

/// What a controller in the sandbox costs: the same drives by a built-in controller and by a program.
fn controllers(out: &Out) -> Result<Exit, Failure> {
    let mut text = String::from(
        "| robots | built-in, ns per robot-step | C program, ns per robot-step | overhead, ns | bytes per robot with a program |\n|--:|--:|--:|--:|--:|\n",
    );
    let mut rows = Vec::new();
    for (robots, steps) in [(40, 20_000), (1_000, 1_000), (10_000, 200)] {
        let ns = |v: &Value| 1e9 / v["robot_steps_per_cpu_s"].as_f64().unwrap_or(f64::NAN);
        let built_in = best_of(3, || child("circles", robots, steps, 1))?;
        let program = best_of(3, || child("programs", robots, steps, 1))?;
        let (a, b) = (ns(&built_in), ns(&program));
        let size = program["bytes_per_robot"].as_f64().unwrap_or(f64::NAN);
        let _ = writeln!(
            text,
            "| {} | {a:.0} | {b:.0} | {:.0} | {} |",
            grouped(f64::from(robots)),
            b - a,
            grouped(size)
        );
        rows.push(json!({ "robots": robots, "built_in_ns": a, "program_ns": b, "bytes_per_robot": size }));
    }
    out.answer("bench-controllers", json!({ "rows": rows }), &text)?;
    Ok(Exit::Ok)
}

/// The try with the greatest wall rate.
fn best_of(tries: u32, mut measure: impl FnMut() -> Result<Value, Failure>) -> Result<Value, Failure> {
    let rate = |v: &Value| v["robot_steps_per_s"].as_f64().unwrap_or(0.0);
    let mut best = measure()?;
    for _ in 1..tries {
        let next = measure()?;
        if rate(&next) > rate(&best) {
            best = next;
        }
    }
    Ok(best)
}

fn child(world: &str, robots: u32, steps: u64, threads: u16) -> Result<Value, Failure> {
    let failed =
        |why: String| Failure::new(Exit::Failed, "bench", format!("cannot measure `{world}`: {why}"));
    let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
    let (robots, steps, threads) = (robots.to_string(), steps.to_string(), threads.to_string());
    let args = ["bench", world, "--robots", &robots, "--steps", &steps, "--threads", &threads, "--json"];
    let output = Command::new(program).args(args).output().map_err(|e| failed(e.to_string()))?;
    serde_json::from_slice(&output.stdout).map_err(|e| failed(e.to_string()))
}

/// Processor time of this process so far.
fn cpu_seconds() -> Option<f64> {
    let time = clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID).ok()?;
    Some(std::time::Duration::from(time).as_secs_f64())
}

/// Processor time of all threads of another process so far, where the system tells it; to a tick of its scheduler.
fn processor_seconds(process: &str) -> Option<f64> {
    let mut nanoseconds = 0_u64;
    for task in fs::read_dir(format!("/proc/{process}/task")).ok()? {
        let text = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        nanoseconds += text.split_whitespace().next()?.parse::<u64>().ok()?;
    }
    (nanoseconds > 0).then_some(nanoseconds as f64 * 1e-9)
}

/// Memory that is really in use.
fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// A whole number in groups of three digits.
pub(super) fn grouped(x: f64) -> String {
    let digits = format!("{x:.0}");
    let mut out = String::new();
    for (k, c) in digits.chars().enumerate() {
        if k > 0 && (digits.len() - k) % 3 == 0 {
            out.push(' ');
        }
        out.push(c);
    }
    out
}
