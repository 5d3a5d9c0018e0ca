//! `bench --displays`: what showing a run costs.
//!
//! The swarm12 world runs; every step is made into frames as the server makes them. Then a real server is
//! watched by many displays, and its processor time is read from the system.

use super::{grouped, processor_seconds};
use crate::cli::fail::{Exit, Failure};
use crate::cli::link::{Link, Said, ServerArgs};
use crate::cli::out::Out;
use serde_json::json;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use swarmyard::bench::World;
use swarmyard::record::Temporary;
use swarmyard::{Options, Sim};
use swarmyard_serve::frame::{self, Bodies, Head, Marks};

/// Steps that are shown, after as many again that are not.
const STEPS: u64 = 40;
/// Displays of one server, frames per second of each, and the seconds it is looked at.
const DISPLAYS: usize = 20;
const RATE: u32 = 30;
const WINDOW: Duration = Duration::from_secs(5);

/// One sort of message: time to make it and its length, step by step.
#[derive(Default)]
struct Cost {
    seconds: Vec<f64>,
    bytes: Vec<usize>,
}

impl Cost {
    fn of(&mut self, make: impl FnOnce() -> Vec<u8>) {
        let start = Instant::now();
        let bytes = make();
        self.seconds.push(start.elapsed().as_secs_f64());
        self.bytes.push(bytes.len());
    }

    /// Microseconds in the middle step: one during which the machine did something else does not count.
    fn micros(&self) -> f64 {
        let mut all = self.seconds.clone();
        all.sort_by(f64::total_cmp);
        all.get(all.len() / 2).map_or(f64::NAN, |s| s * 1e6)
    }

    fn bytes_per(&self, robots: usize) -> f64 {
        self.bytes.iter().sum::<usize>() as f64 / (self.bytes.len() * robots).max(1) as f64
    }
}

/// Measures, and prints a table.
pub(super) fn displays(out: &Out) -> Result<Exit, Failure> {
    let mut text = String::from(
        "| robots | message | µs to gather | µs to encode whole | bytes per robot | µs to encode since | bytes per robot |\n|--:|---|--:|--:|--:|--:|--:|\n",
    );
    let mut rows = Vec::new();
    for robots in [1_000, 10_000] {
        out.say(&format!("frames of {robots} robots"));
        for (message, [gather, whole, since]) in frames(robots)? {
            let numbers = [gather.micros(), whole.micros(), since.micros()];
            let (full, delta) = (whole.bytes_per(robots), since.bytes_per(robots));
            let _ = writeln!(
                text,
                "| {} | {message} | {:.0} | {:.0} | {full:.1} | {:.0} | {delta:.1} |",
                grouped(robots as f64),
                numbers[0],
                numbers[1],
                numbers[2]
            );
            rows.push(json!({
                "robots": robots, "message": message, "gather_us": numbers[0], "whole_us": numbers[1],
                "whole_bytes_per_robot": full, "since_us": numbers[2], "since_bytes_per_robot": delta,
            }));
        }
    }
    let served = served(out)?;
    let _ = writeln!(
        text,
        "\nA server with 1 000 robots at 1× uses {:.1} % of a processor with nobody, {:.1} % with {DISPLAYS} displays at {RATE} Hz with marks of one robot.",
        100.0 * served[0],
        100.0 * served[1]
    );
    let share = json!({ "displays": DISPLAYS, "alone": served[0], "watched": served[1] });
    out.answer("bench-displays", json!({ "rows": rows, "server": share }), &text)?;
    Ok(Exit::Ok)
}

/// Costs of bodies and of marks: to gather, to encode whole, to encode as differences.
fn frames(robots: usize) -> Result<[(&'static str, [Cost; 3]); 2], Failure> {
    let mut sim = World::Swarm12.load(robots, &Options::default())?;
    for _ in 0..STEPS {
        sim.step()?;
    }
    let (mut of_bodies, mut of_marks) = (<[Cost; 3]>::default(), <[Cost; 3]>::default());
    let (mut before, mut marked) = gathered(&sim, 0);
    for serial in 1..=STEPS {
        sim.step()?;
        let head = head(&sim, serial);
        of_bodies[0].of(|| {
            std::hint::black_box(frame::rows(sim.state()));
            Vec::new()
        });
        of_marks[0].of(|| {
            std::hint::black_box(marks(&sim, head));
            Vec::new()
        });
        let (bodies, marks) = gathered(&sim, serial);
        of_bodies[1].of(|| bodies.encode_full());
        of_bodies[2].of(|| bodies.encode_since(&before).unwrap_or_default());
        of_marks[1].of(|| marks.encode_full());
        of_marks[2].of(|| marks.encode_since(&marked).unwrap_or_default());
        (before, marked) = (bodies, marks);
    }
    Ok([("bodies", of_bodies), ("marks of all", of_marks)])
}

fn head(sim: &Sim, serial: u64) -> Head {
    Head { serial, revision: 1, stop: sim.state().stops, time_ns: sim.now().0.unsigned_abs() }
}

fn gathered(sim: &Sim, serial: u64) -> (Bodies, Marks) {
    let head = head(sim, serial);
    let bodies = Bodies { head, hash: sim.hash(), rows: frame::rows(sim.state()), contacts: Vec::new() };
    (bodies, marks(sim, head))
}

fn marks(sim: &Sim, head: Head) -> Marks {
    let mut marks = Marks::new(head);
    for slot in 0..sim.model().len() {
        frame::add_marks(&mut marks, sim.model(), sim.state(), slot);
    }
    marks
}

/// A server in a process of its own; it ends with this value.
struct Served {
    child: Child,
    address: ServerArgs,
}

impl Drop for Served {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Served {
    fn start(scenario: &std::path::Path) -> Result<Served, Failure> {
        let failed =
            |why: String| Failure::new(Exit::Failed, "bench", format!("cannot start a server: {why}"));
        let program = std::env::current_exe().map_err(|e| failed(e.to_string()))?;
        let mut command = Command::new(program);
        command.arg("serve").arg(scenario).args(["--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| failed(e.to_string()))?;
        let mut line = String::new();
        if let Some(stdout) = child.stdout.take() {
            BufReader::new(stdout).read_line(&mut line).map_err(|e| failed(e.to_string()))?;
        }
        let url = line.trim().rsplit(' ').next().unwrap_or("");
        let address = ServerArgs::at(url).map_err(failed)?;
        Ok(Served { child, address })
    }
}

/// Share of a processor that a server uses: with a console only, and with displays.
fn served(out: &Out) -> Result<[f64; 2], Failure> {
    let folder = std::env::temp_dir();
    let failed = |e: std::io::Error| Failure::file("write", &folder, &e);
    let (scenario, mut file) = Temporary::new(&folder, "toml").map_err(failed)?;
    // Long enough for both windows at 1×.
    file.write_all(World::Swarm12.placed_scenario(1000).as_bytes()).map_err(failed)?;
    let served = Served::start(scenario.path())?;
    // The server has read it.
    drop(scenario);
    let mut console = Link::open(&served.address, "bench", true)?;
    for request in [
        json!({ "do": "watch", "frames": false }),
        json!({ "do": "speed", "factor": 1.0 }),
        json!({ "do": "start" }),
    ] {
        console.ask(request)??;
    }
    out.say("a server with nobody");
    let alone = share(&served, std::slice::from_mut(&mut console))?;
    out.say(&format!("a server with {DISPLAYS} displays"));
    let mut all = vec![console];
    for k in 0..DISPLAYS {
        let mut link = Link::open(&served.address, &format!("bench {k}"), false)?;
        let robot = robot_of(&mut link)?;
        link.ask(json!({ "do": "watch", "rate": RATE, "marks": [robot] }))??;
        all.push(link);
    }
    let watched = share(&served, &mut all)?;
    Ok([alone, watched])
}

/// Path of the first robot of the world that a server tells of.
fn robot_of(link: &mut Link) -> Result<String, Failure> {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        match link.next(Duration::from_secs(1))? {
            Said::Words(words) if words["is"] == "world" => {
                let run = &words["drawing"]["types"][0]["names"][0];
                let number = run["from"].as_u64().map_or_else(String::new, |n| n.to_string());
                return Ok(format!("{}{number}", run["prefix"].as_str().unwrap_or("")));
            }
            Said::Gone(why) => return Err(crate::cli::link::lost(why)),
            Said::Nothing if Instant::now() > end => {
                return Err(Failure::new(Exit::Failed, "bench", "the server tells of no world"));
            }
            _ => {}
        }
    }
}

/// Processor seconds of the server per second, while all displays are read.
fn share(served: &Served, links: &mut [Link]) -> Result<f64, Failure> {
    let used = || processor_seconds(&served.child.id().to_string()).unwrap_or(f64::NAN);
    let (before, start) = (used(), Instant::now());
    let wait = Duration::from_millis(if links.len() == 1 { 100 } else { 1 });
    while start.elapsed() < WINDOW {
        for link in &mut *links {
            while !matches!(link.next(wait)?, Said::Nothing | Said::Gone(_)) {
                if start.elapsed() >= WINDOW {
                    break;
                }
            }
        }
    }
    Ok((used() - before) / start.elapsed().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_step_counts() {
        let cost = Cost { seconds: vec![9.0, 1e-6, 2e-6], bytes: vec![10, 20, 30] };
        assert_eq!((cost.micros(), cost.bytes_per(10)), (2.0, 2.0));
    }
}
