//! `sweep`: one scenario many times, with other parameters and seeds; a table of what came of it.
//!
//! Runs are independent: each has its own thread of the machine, and the table is in the order of the
//! parameters whatever finished first.

mod chart;

use super::fail::{Exit, Failure};
use super::out::{Out, write_file};
use clap::Args;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use swarmyard::{Options, Sim};

/// Most runs of one sweep.
const MOST_RUNS: usize = 100_000;

const EXAMPLES: &str = "\
Examples:
  swarmyard sweep arena.toml --vary run.quantum=50ms,100ms --seeds 5       ten runs; CSV on stdout
  swarmyard sweep worlds/track-line.toml --vary params.tape=5mm..40mm/8 \\
      --vary type.follower.part.eyes.coverage=15,50 --seeds 5 --plot tape.svg";

/// Arguments of `sweep`.
#[derive(Args)]
#[command(before_help = EXAMPLES)]
pub(crate) struct SweepArgs {
    /// The scenario
    file: PathBuf,
    /// A key and its values: a list, `a,b,c`, or so many evenly from one to another, `a..b/n`
    #[arg(long, value_name = "KEY=VALUES", value_parser = vary, required = true)]
    vary: Vec<Vary>,
    /// Seeds for each combination: 1 to N
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    seeds: u32,
    /// Runs at a time [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Draw the share of runs that meet all assertions over the first key, a line for each value of the second
    #[arg(long, value_name = "PATH.svg")]
    plot: Option<PathBuf>,
}

/// One key and the values it takes.
#[derive(Clone, Debug, PartialEq)]
struct Vary {
    key: String,
    values: Vec<String>,
}

fn vary(text: &str) -> Result<Vary, String> {
    let (key, values) =
        text.split_once('=').ok_or("write it as key=values, such as params.tape=5mm..40mm/8")?;
    let values = match values.split_once("..") {
        Some((from, rest)) => spread(from.trim(), rest.trim())?,
        None => values.split(',').map(|v| v.trim().to_owned()).collect(),
    };
    if key.trim().is_empty() || values.iter().any(String::is_empty) {
        return Err("a key needs a name and values".into());
    }
    Ok(Vary { key: key.trim().to_owned(), values })
}

/// `5mm`, `40mm/8` → eight values from 5mm to 40mm.
fn spread(from: &str, rest: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("write a range as from..to/count, such as 5mm..40mm/8, not `{from}..{rest}`");
    let (to, count) = rest.split_once('/').ok_or_else(wrong)?;
    let count: usize = count.trim().parse().map_err(|_| wrong())?;
    let ((a, unit_a), (b, unit_b)) = (number(from).ok_or_else(wrong)?, number(to.trim()).ok_or_else(wrong)?);
    if !(2..=1000).contains(&count) || (unit_a != unit_b && !unit_a.is_empty()) {
        return Err(wrong());
    }
    let value = |k: usize| {
        let x = a + (b - a) * k as f64 / (count - 1) as f64;
        // As many digits as a person would write.
        let x = (x * 1e9).round() / 1e9;
        format!("{x}{unit_b}")
    };
    Ok((0..count).map(value).collect())
}

/// A number and the unit behind it.
fn number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    // The `e` of a unit is not an exponent.
    let (digits, unit) = text.split_at(end);
    digits.parse().ok().filter(|x: &f64| x.is_finite()).map(|x| (x, unit))
}

/// What came of one run.
struct Ran {
    met: usize,
    asserts: usize,
    contacts: u64,
    end_s: f64,
    hash: u64,
}

/// Runs all combinations and prints the table.
pub(crate) fn sweep(args: &SweepArgs, out: &Out) -> Result<Exit, Failure> {
    let cells: usize = args.vary.iter().map(|v| v.values.len()).product();
    let runs = cells.saturating_mul(args.seeds as usize);
    if runs > MOST_RUNS {
        let what = format!("that is {runs} runs; at most {MOST_RUNS} are done at once");
        return Err(Failure::new(Exit::Usage, "too-many-runs", what));
    }
    let processors = || std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = args.jobs.map_or_else(processors, usize::from).min(runs);
    let all = run_all(args, runs, jobs)?;
    let mut rows = Vec::new();
    for (k, ran) in all.iter().enumerate() {
        rows.push((combination(args, k), ran));
    }
    if let Some(path) = &args.plot {
        plot(args, &rows, path)?;
        out.say(&format!("the plot is in {}", path.display()));
    }
    let value =
        json!({ "file": args.file, "runs": rows.iter().map(|(c, r)| r.json(c)).collect::<Vec<Value>>() });
    out.answer("sweep", value, &table(args, &rows))?;
    Ok(Exit::Ok)
}

/// The overrides of run `k`: values of the keys, the last varying fastest, then the seed.
fn combination(args: &SweepArgs, k: usize) -> Vec<(String, String)> {
    let (mut cell, seed) = (k / args.seeds as usize, k % args.seeds as usize + 1);
    let mut all = Vec::new();
    for vary in args.vary.iter().rev() {
        all.push((vary.key.clone(), vary.values[cell % vary.values.len()].clone()));
        cell /= vary.values.len();
    }
    all.reverse();
    all.push(("run.seed".to_owned(), seed.to_string()));
    all
}

/// Does all runs, `jobs` at a time; the first problem of a scenario ends the sweep.
fn run_all(args: &SweepArgs, runs: usize, jobs: usize) -> Result<Vec<Ran>, Failure> {
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<Option<Result<Ran, Failure>>>> = Mutex::new((0..runs).map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                loop {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    if k >= runs {
                        return;
                    }
                    let ran = one(&args.file, &combination(args, k));
                    if ran.is_err() {
                        next.store(runs, Ordering::Relaxed);
                    }
                    if let Ok(mut done) = done.lock() {
                        done[k] = Some(ran);
                    }
                }
            });
        }
    });
    let done = done.into_inner().unwrap_or_default();
    let mut all = Vec::with_capacity(runs);
    for ran in done.into_iter().flatten() {
        all.push(ran?);
    }
    Ok(all)
}

fn one(file: &Path, overrides: &[(String, String)]) -> Result<Ran, Failure> {
    let options = Options { overrides: overrides.to_vec(), ..Options::default() };
    let mut sim = Sim::load(file, &options).map_err(|e| Failure::from(e).on(file.display().to_string()))?;
    while !sim.is_over() {
        sim.step()?;
    }
    let asserts = sim.model().asserts.iter().zip(&sim.state().verdicts);
    Ok(Ran {
        met: asserts.filter(|(a, v)| a.met(v)).count(),
        asserts: sim.model().asserts.len(),
        contacts: sim.state().accounts.contacts,
        end_s: sim.now().seconds(),
        hash: sim.hash(),
    })
}

impl Ran {
    fn passed(&self) -> bool {
        self.met == self.asserts
    }

    fn json(&self, combination: &[(String, String)]) -> Value {
        let set: serde_json::Map<String, Value> =
            combination.iter().map(|(k, v)| (k.clone(), json!(v))).collect();
        json!({
            "set": set, "passed": self.passed(), "met": self.met, "assertions": self.asserts,
            "contacts": self.contacts, "end_s": self.end_s, "hash": format!("{:016x}", self.hash),
        })
    }
}

fn table(args: &SweepArgs, rows: &[(Vec<(String, String)>, &Ran)]) -> String {
    let keys: Vec<&str> = args.vary.iter().map(|v| v.key.as_str()).collect();
    let mut text = format!("{},seed,passed,met,assertions,contacts,end_s,hash\n", keys.join(","));
    for (combination, ran) in rows {
        for (_, value) in combination {
            let _ = write!(text, "{value},");
        }
        let passed = u8::from(ran.passed());
        let _ = writeln!(
            text,
            "{passed},{},{},{},{},{:016x}",
            ran.met, ran.asserts, ran.contacts, ran.end_s, ran.hash
        );
    }
    text
}

/// Share of runs that passed, over the first key.
fn plot(args: &SweepArgs, rows: &[(Vec<(String, String)>, &Ran)], path: &Path) -> Result<(), Failure> {
    let first = &args.vary[0];
    let one = [String::new()];
    let (name, series) = args.vary.get(1).map_or(("", &one[..]), |v| (v.key.as_str(), &v.values[..]));
    let mut lines = Vec::new();
    for value in series {
        let share = |x: &String| {
            let here = rows.iter().filter(|(c, _)| c[0].1 == *x && (name.is_empty() || c[1].1 == *value));
            let (all, passed) =
                here.fold((0_u32, 0_u32), |(a, p), (_, r)| (a + 1, p + u32::from(r.passed())));
            f64::from(passed) / f64::from(all.max(1))
        };
        lines.push((value.clone(), first.values.iter().map(share).collect()));
    }
    let chart = chart::Chart {
        title: format!("share of runs of {} that meet all assertions", args.file.display()),
        x: first.key.clone(),
        ticks: first.values.clone(),
        at: first.values.iter().enumerate().map(|(k, v)| number(v).map_or(k as f64, |n| n.0)).collect(),
        series: name.to_owned(),
        lines,
    };
    write_file(path, chart.svg().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_a_list_or_a_range() {
        let of = |text: &str| vary(text).map(|v| v.values);
        assert_eq!(of("a.b=1, 2,x"), Ok(vec!["1".into(), "2".into(), "x".into()]));
        assert_eq!(of("w=5mm..20mm/4"), Ok(vec!["5mm".into(), "10mm".into(), "15mm".into(), "20mm".into()]));
        assert_eq!(of("w=0..1/3"), Ok(vec!["0".into(), "0.5".into(), "1".into()]));
        assert_eq!(of("w=0.1..0.3cm/3"), Ok(vec!["0.1cm".into(), "0.2cm".into(), "0.3cm".into()]));
        for wrong in ["w", "w=1..2", "w=1..2/1", "w=1mm..2cm/3", "w=a..b/3", "=1", "w=1,,2", "w=1..2/9999999"]
        {
            assert!(of(wrong).is_err(), "{wrong}");
        }
    }
}
