//! `bench --workers`: what it costs and brings to spread a run over worker processes of this machine.
//!
//! Four measurements and a model: time per quantum over robots and workers (SPREAD's Figure 10-1), robots whose programs
//! need a millisecond of processor time each, ten thousand robots that only look and drive, and how long a run stands
//! still when a worker is lost. Everything is on the clock, since waiting for others is what it is about: the machine
//! should have nothing else to do. Ways to run take turns, and are compared turn by turn.

use super::{Spread, SpreadArgs};
use crate::cli::bench::grouped;
use crate::cli::fail::{Exit, Failure};
use crate::cli::load::How;
use crate::cli::out::Out;
use crate::cli::run::AHEAD;
use clap::Parser;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::time::Instant;
use swarmyard::bench::{World, burning, table_10_1};
use swarmyard::{Options, Sim};

/// Robots and workers of the first table.
const ROBOTS: [u32; 9] = [1, 5, 10, 15, 20, 25, 30, 35, 40];
const WORKERS: [u32; 6] = [1, 2, 3, 4, 5, 6];
/// Robots whose programs burn a millisecond, and what they are spread over.
const BURNING: u32 = 40;
const MOST_WORKERS: usize = 16;
/// Sizes the model is fitted to, on one worker and on two.
const SIZES: [u32; 4] = [1_000, 2_500, 5_000, 10_000];
/// Seconds of silence after which a worker is lost, in the last measurement.
const LEASE_S: f64 = 1.0;

/// How a run is spread, from words such as those of `run`.
#[derive(Parser)]
struct Words {
    #[command(flatten)]
    spread: SpreadArgs,
}

/// What a quantum takes.
#[derive(Clone, Copy, Default)]
struct Quantum {
    /// On the clock, in milliseconds.
    clock: f64,
    /// The busiest worker at work, in milliseconds.
    work: f64,
    /// Bytes that the one with most to say sent to its neighbours.
    sent: f64,
    hash: u64,
}

/// Steps before anything is measured: workers are started and know one another.
const WARM_UP: u64 = 20;

/// A run in this process, or on so many workers with a thread each.
fn quantum(text: &str, workers: Option<u32>, steps: u64, out: &Out) -> Result<Quantum, Failure> {
    let mut sim = Sim::from_text_with(text, &Options::default())?;
    let spread = match workers {
        Some(n) => spread(&mut sim, n, out)?,
        None => None,
    };
    let take = |sim: &mut Sim, steps: u64| -> Result<u64, Failure> {
        let mut hash = 0;
        for _ in 0..steps {
            hash = sim.step()?.hash;
        }
        Ok(hash)
    };
    take(&mut sim, WARM_UP)?;
    let did = |spread: &Option<Spread>| {
        spread.as_ref().map_or_else(Vec::new, |s| {
            s.statistics().workers.iter().map(|w| (w.work_s, w.sent)).collect::<Vec<(f64, u64)>>()
        })
    };
    let before = did(&spread);
    let clock = Instant::now();
    let hash = take(&mut sim, steps)?;
    let each = |x: f64| x / steps as f64;
    let mut found = Quantum { clock: each(clock.elapsed().as_secs_f64() * 1e3), hash, ..Quantum::default() };
    found.work = found.clock;
    if let Some(running) = &spread {
        if !running.statistics().lost.is_empty() {
            return Err(Failure::new(
                Exit::Failed,
                "bench",
                "a worker was lost: this machine has too much else to do",
            ));
        }
        let did = did(&spread);
        let more = |of: fn(&(f64, u64)) -> f64| {
            let grown = did.iter().zip(&before).map(|(now, then)| of(now) - of(then));
            grown.fold(0.0, f64::max)
        };
        (found.work, found.sent) = (each(more(|d| d.0) * 1e3), each(more(|d| d.1 as f64)));
    }
    Ok(found)
}

fn spread(sim: &mut Sim, workers: u32, out: &Out) -> Result<Option<Spread>, Failure> {
    let (workers, lease) = (workers.to_string(), LEASE_S.to_string());
    let words = Words::try_parse_from(["bench", "--workers", &workers, "--lease", &lease]);
    let words = words.map_err(|e| Failure::new(Exit::Failed, "bench", e.to_string()))?;
    words.spread.give(sim, &How { show_every: 0, ahead: AHEAD, threads: 1 }, None, out)
}

/// Turns in which each way to run is tried once.
const TURNS: usize = 7;

/// What each way to run a world took: in this process, or on so many workers. They take turns, so that whatever else the machine
/// does falls on all of them alike.
struct Turns(Vec<Vec<Quantum>>);

impl Turns {
    /// Tries these ways; a complaint when the bits differ.
    fn of(text: &str, ways: &[Option<u32>], steps: u64, out: &Out) -> Result<Turns, Failure> {
        let mut turns: Vec<Vec<Quantum>> = Vec::new();
        for _ in 0..TURNS {
            let turn: Result<Vec<Quantum>, Failure> =
                ways.iter().map(|workers| quantum(text, *workers, steps, out)).collect();
            turns.push(turn?);
        }
        let hash = turns[0][0].hash;
        if turns.iter().flatten().any(|found| found.hash != hash) {
            return Err(Failure::new(Exit::Failed, "bench", "the same run had two hashes"));
        }
        Ok(Turns(turns))
    }

    /// The turn in the middle of one way.
    fn middle(&self, way: usize) -> Quantum {
        let mut all: Vec<Quantum> = self.0.iter().map(|turn| turn[way]).collect();
        all.sort_by(|a, b| a.clock.total_cmp(&b.clock));
        all[all.len() / 2]
    }

    /// How many times as fast as another a way is: least, in the middle, and most. Each is compared within its turn, since a
    /// shared host is now faster, now slower.
    fn gain(&self, way: usize, than: usize) -> Gain {
        let mut all: Vec<f64> = self.0.iter().map(|turn| turn[than].clock / turn[way].clock).collect();
        all.sort_by(f64::total_cmp);
        Gain { least: all[0], middle: all[all.len() / 2], most: all[all.len() - 1] }
    }
}

/// How many times as fast one way is as another, over all turns.
#[derive(Clone, Copy)]
struct Gain {
    least: f64,
    middle: f64,
    most: f64,
}

impl std::fmt::Display for Gain {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Gain { least, middle, most } = self;
        write!(f, "{middle:.2} × ({least:.2} to {most:.2})")
    }
}

/// Measures everything, or only one world with so many robots, and prints it as Markdown.
pub(crate) fn bench(only: Option<(World, u32)>, out: &Out) -> Result<Exit, Failure> {
    let mut text = String::new();
    if let Some((world, robots)) = only {
        let (rows, _) = crowd(world, &[robots], out, &mut text)?;
        out.answer("bench-workers", json!({ "crowd": { "rows": rows } }), &text)?;
        return Ok(Exit::Ok);
    }
    let figure = figure_10_1(out, &mut text)?;
    let burns = burning_world(out)?;
    let burning = burning_robots(&burns, out, &mut text)?;
    let (rows, points) = crowd(World::Swarm12, &SIZES, out, &mut text)?;
    let model = predict(&points, &mut text);
    let lost = lost(&burns, out, &mut text)?;
    let all = json!({ "figure": figure, "burning": burning, "crowd": { "rows": rows, "model": model }, "lost": lost });
    out.answer("bench-workers", all, &text)?;
    Ok(Exit::Ok)
}

fn figure_10_1(out: &Out, text: &mut String) -> Result<Value, Failure> {
    let _ = write!(
        text,
        "Milliseconds per quantum of `table-10-1`, as in SPREAD's Figure 10-1\n\n| robots | one process |"
    );
    for workers in WORKERS {
        let _ = write!(text, " {workers} workers |");
    }
    let _ = writeln!(text, "\n|--:|--:|{}", "--:|".repeat(WORKERS.len()));
    let mut rows = Vec::new();
    for robots in ROBOTS {
        out.say(&format!("table-10-1, {robots} robots"));
        let world = table_10_1(robots);
        let ways: Vec<Option<u32>> = std::iter::once(None).chain(WORKERS.map(Some)).collect();
        let turns = Turns::of(&world, &ways, 200, out)?;
        let row: Vec<f64> = (0..ways.len()).map(|way| turns.middle(way).clock).collect();
        let shown: Vec<String> = row.iter().map(|ms| format!("{ms:.3}")).collect();
        let _ = writeln!(text, "| {robots} | {} |", shown.join(" | "));
        rows.push(json!({ "robots": robots, "ms": row }));
    }
    Ok(json!(rows))
}

/// Robots whose programs burn a millisecond each. How often a program goes round in that time is found here, since every machine
/// is another.
fn burning_world(out: &Out) -> Result<String, Failure> {
    let mut rounds = 20_000;
    for _ in 0..3 {
        let took =
            Turns::of(&burning(BURNING, rounds), &[None], 20, out)?.middle(0).clock / f64::from(BURNING);
        rounds = (f64::from(rounds) / took.max(1e-3)) as u32;
    }
    Ok(burning(BURNING, rounds))
}

fn burning_robots(world: &str, out: &Out, text: &mut String) -> Result<Value, Failure> {
    let _ = writeln!(
        text,
        "\n{BURNING} robots whose programs need 1 ms of processor time each\n\n| workers | ms per quantum | against one worker | against one fewer |\n|--:|--:|--:|--:|"
    );
    out.say("programs that burn");
    let cores = std::thread::available_parallelism().map_or(2, |n| n.get().min(MOST_WORKERS));
    let ways: Vec<Option<u32>> = (0..=cores as u32 + 1).map(|n| (n > 0).then_some(n)).collect();
    let turns = Turns::of(world, &ways, 40, out)?;
    let alone = turns.middle(0).clock;
    let _ = writeln!(text, "| one process | {alone:.2} | | |");
    let mut rows = vec![json!({ "workers": 0, "ms": alone })];
    for workers in 1..ways.len() {
        let (clock, gain, more) =
            (turns.middle(workers).clock, turns.gain(workers, 1), turns.gain(workers, workers - 1));
        let note = if workers > cores { " (more than processors)" } else { "" };
        let _ = writeln!(text, "| {workers}{note} | {clock:.2} | {gain} | {more} |");
        rows.push(
            json!({ "workers": workers, "ms": clock, "gain": gain.middle, "against_one_fewer": more.middle }),
        );
    }
    Ok(json!(rows))
}

fn crowd(
    world: World,
    sizes: &[u32],
    out: &Out,
    text: &mut String,
) -> Result<(Vec<Value>, Vec<Point>), Failure> {
    let name = World::ALL.iter().find(|w| w.1 == world).map_or("", |w| w.0);
    let _ = writeln!(
        text,
        "\n{name} on workers with one thread each\n\n| robots | workers | ms per quantum | at work, ms | sent, bytes | against one worker |\n|--:|--:|--:|--:|--:|--:|"
    );
    let (mut rows, mut points) = (Vec::new(), Vec::new());
    for &robots in sizes {
        out.say(&format!("{name}, {robots} robots"));
        let scenario = world.placed_scenario(robots as usize);
        // At least two checkpoints are among what is measured.
        let steps = u64::from(200_000 / robots).max(128);
        let turns = Turns::of(&scenario, &[None, Some(1), Some(2)], steps, out)?;
        let shown = grouped(f64::from(robots));
        let _ = writeln!(text, "| {shown} | one process | {:.2} | | | |", turns.middle(0).clock);
        for workers in 1..=2 {
            let (found, gain) = (turns.middle(workers), turns.gain(workers, 1));
            let Quantum { clock, work, sent, .. } = found;
            let _ = writeln!(
                text,
                "| {shown} | {workers} | {clock:.2} | {work:.2} | {} | {gain} |",
                grouped(sent)
            );
            rows.push(json!({ "robots": robots, "workers": workers, "ms": clock, "work_ms": work, "sent": sent, "gain": gain.middle }));
            points.push(Point {
                each: f64::from(robots) / workers as f64,
                sides: (workers - 1) as f64,
                found,
            });
        }
    }
    Ok((rows, points))
}

/// A measurement: robots of each worker, sides that it shares with another, and what was found.
struct Point {
    each: f64,
    sides: f64,
    found: Quantum,
}

/// What is asked of the model, and what it assumes of the network: a gigabit per second, a tenth of a millisecond.
const FORETOLD: (f64, f64) = (100_000.0, 16.0);
const BYTES_PER_MS: f64 = 125_000.0;
const LATENCY_MS: f64 = 0.1;

/// Fits `a·n + b·s·√n + c` to the time at work, and `d·s·√n` to the bytes, for n robots of a worker that shares s sides of
/// its region; and says what that means for many.
fn predict(points: &[Point], text: &mut String) -> Value {
    let rows: Vec<[f64; 3]> = points.iter().map(|p| [p.each, p.sides * p.each.sqrt(), 1.0]).collect();
    let work: Vec<f64> = points.iter().map(|p| p.found.work).collect();
    let [a, b, c] = fitted(&rows, &work);
    let (up, down) = points.iter().filter(|p| p.sides > 0.0).fold((0.0, 0.0), |(up, down), p| {
        let x = p.sides * p.each.sqrt();
        (up + x * p.found.sent, down + x * x)
    });
    let d = up / f64::max(down, 1e-9);
    let (robots, hosts) = FORETOLD;
    let (n, sides) = (robots / hosts, 4.0);
    let border = sides * n.sqrt();
    let (at_work, bytes) = (a * n + b * border + c, d * border);
    let (travel, whole) = (LATENCY_MS + bytes / BYTES_PER_MS, a * robots + c);
    // What is inside is done while messages travel; what is left of the way is waited for.
    let inside = a * n * 0.5;
    let quantum = at_work + f64::max(travel - inside, 0.0);
    let worst = points.iter().zip(&rows).map(|(p, r)| (a * r[0] + b * r[1] + c * r[2]) / p.found.work - 1.0);
    let worst = worst.fold(0.0_f64, |most, e| most.max(e.abs()));
    let _ = writeln!(
        text,
        "\nFitted to these: a worker with n robots that shares s sides of its region is {:.3} µs · n + {:.2} µs · s √n + {:.0} µs at work (at most {:.0} % off), \
         and sends {:.0} bytes · s √n.\nSo {} robots on {hosts} hosts with one worker of one thread each, in a square, four sides shared, with {LATENCY_MS} ms and a gigabit per second between \
         them, would take {quantum:.1} ms per quantum ({at_work:.1} ms at work, {} bytes to send, {travel:.2} ms on their way, of which what is not hidden behind the inside counts): {:.1} × one worker, which would take {whole:.0} ms.",
        a * 1e3,
        b * 1e3,
        c * 1e3,
        worst * 100.0,
        d,
        grouped(robots),
        grouped(bytes),
        whole / quantum,
    );
    json!({
        "us_per_robot": a * 1e3, "us_per_side": b * 1e3, "us": c * 1e3, "bytes_per_side": d, "off": worst,
        "robots": robots, "hosts": hosts, "ms": quantum, "one_worker_ms": whole,
    })
}

/// Least squares of relative errors with three unknowns; what cannot be negative is not.
fn fitted(rows: &[[f64; 3]], found: &[f64]) -> [f64; 3] {
    let mut sums = [[0.0_f64; 4]; 3];
    for (row, y) in rows.iter().zip(found) {
        let y = y.max(1e-9);
        for i in 0..3 {
            for j in 0..3 {
                sums[i][j] += row[i] * row[j] / (y * y);
            }
            sums[i][3] += row[i] / y;
        }
    }
    // By steps towards each unknown alone, each kept at 0 or above: it ends at the one best point.
    let mut x = [0.0_f64; 3];
    for _ in 0..100_000 {
        for i in 0..3 {
            let rest: f64 = (0..3).filter(|j| *j != i).map(|j| sums[i][j] * x[j]).sum();
            x[i] = ((sums[i][3] - rest) / sums[i][i].max(1e-300)).max(0.0);
        }
    }
    x
}

/// Tries of each way to lose a worker; the middle counts.
const LOSSES: usize = 3;

/// How long a run stands still when one of its workers is killed or frozen, in a world of light steps and in one of heavy ones.
fn lost(burning: &str, out: &Out, text: &mut String) -> Result<Value, Failure> {
    let _ = writeln!(
        text,
        "\nA worker of two is lost, lease {LEASE_S} s; the middle of {LOSSES} tries\n\n| world | how | longest time without a step, s | leases |\n|---|---|--:|--:|"
    );
    let light = World::Swarm12.placed_scenario(1_000);
    let mut rows = Vec::new();
    for (name, scenario, steps) in
        [("swarm12, 1 000 robots", &*light, 200), ("40 robots that burn", burning, 100)]
    {
        for (how, signal) in [("killed", Signal::SIGKILL), ("frozen", Signal::SIGSTOP)] {
            out.say(&format!("{name}: a worker is {how}"));
            let mut tries = Vec::new();
            for _ in 0..LOSSES {
                tries.extend(stands_still(scenario, steps, signal, out)?);
            }
            tries.sort_by(f64::total_cmp);
            let Some(longest) = tries.get(tries.len() / 2).copied() else { continue };
            let _ = writeln!(text, "| {name} | {how} | {longest:.2} | {:.2} |", longest / LEASE_S);
            rows.push(json!({ "world": name, "how": how, "longest_s": longest, "lease_s": LEASE_S, "tries_s": tries }));
        }
    }
    Ok(json!(rows))
}

/// The longest time between two steps of a run on two workers that loses one of them, in seconds.
fn stands_still(scenario: &str, steps: u64, signal: Signal, out: &Out) -> Result<Option<f64>, Failure> {
    let mut sim = Sim::from_text_with(scenario, &Options::default())?;
    let Some(spread) = spread(&mut sim, 2, out)? else { return Ok(None) };
    for _ in 0..steps {
        sim.step()?;
    }
    let Some(pid) = spread.statistics().workers.first().and_then(|w| i32::try_from(w.pid?).ok()) else {
        return Ok(None);
    };
    kill(Pid::from_raw(pid), signal)
        .map_err(|e| Failure::new(Exit::Failed, "bench", format!("cannot signal worker {pid}: {e}")))?;
    let mut longest = 0.0_f64;
    for _ in 0..2 * steps {
        let since = Instant::now();
        sim.step()?;
        longest = longest.max(since.elapsed().as_secs_f64());
    }
    Ok(Some(longest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_what_the_numbers_were_made_from() {
        let rows: Vec<[f64; 3]> = [(100.0, 0.0), (400.0, 0.0), (400.0, 2.0), (900.0, 1.0), (2500.0, 4.0)]
            .map(|(n, s)| [n, s * f64::sqrt(n), 1.0])
            .to_vec();
        let found: Vec<f64> = rows.iter().map(|r| 0.004 * r[0] + 0.02 * r[1] + 0.3).collect();
        let [a, b, c] = fitted(&rows, &found);
        assert!((a - 0.004).abs() < 1e-6 && (b - 0.02).abs() < 1e-5 && (c - 0.3).abs() < 1e-4, "{a} {b} {c}");
    }
}
