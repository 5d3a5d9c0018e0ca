//! Runs and hosts as processes, the harm that can be done to them, and the proof that they are gone.

use serde_json::Value;
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The world that is disturbed, and for how long it runs.
const WORLD: &str = "worlds/forty-wander.toml";
pub(crate) const TICKS: u64 = 300;
/// Seconds of silence after which a worker is lost.
pub(crate) const LEASE_S: f64 = 0.8;
/// Longer than anything takes that works.
pub(crate) const AGES: Duration = Duration::from_secs(60);

/// One disturbed run at a time: they measure silence, and two processors are few.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The seeds of one way to fail: it has so many tenths of all.
pub(crate) fn seeds(tenths: u64) -> std::ops::Range<u64> {
    let all: u64 = std::env::var("SWARMYARD_CHAOS_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(10);
    0..(all * tenths / 10).max(1)
}

/// Chance with a seed, so that a failure can be had again.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// A number from `low` up to, not including, `high`.
    pub(crate) fn roll(&mut self, low: u64, high: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        low + (x ^ (x >> 31)) % (high - low)
    }
}

/// A folder of its own for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("chaos-{name}-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).expect("a folder");
    dir
}

/// The command, in the folder of the project; `inside` is a program that starts it elsewhere.
pub(crate) fn swarmyard(inside: &[String], words: &str) -> Command {
    let mut all: Vec<&str> = inside.iter().map(String::as_str).collect();
    all.push(env!("CARGO_BIN_EXE_swarmyard"));
    let mut command = Command::new(all[0]);
    command.args(&all[1..]).args(words.split_whitespace());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

/// The same words with the usual lease, when they say none.
fn with_lease(words: &str) -> String {
    if words.contains("--lease ") { words.to_owned() } else { format!("--lease {LEASE_S} {words}") }
}

/// Runs the command to its end; answers what it printed.
pub(crate) fn done(words: &str) -> String {
    let out = swarmyard(&[], words).output().expect("the command");
    assert!(out.status.success(), "{words}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("text")
}

/// The hashes of the run when nobody disturbs it: in one process.
pub(crate) fn undisturbed() -> &'static str {
    static HASHES: OnceLock<String> = OnceLock::new();
    HASHES.get_or_init(|| hashes_of(WORLD))
}

/// The same of any world.
fn hashes_of(world: &str) -> String {
    done(&format!("run {world} --until tick:{TICKS} --no-record -q --hash-every 1"))
}

/// A run on workers.
pub(crate) struct Run {
    child: Child,
    lines: Receiver<String>,
    /// What it has printed so far.
    printed: String,
    log: PathBuf,
    world: &'static str,
}

/// What a run says about one of its workers.
#[derive(Clone, Debug)]
pub(crate) struct Worker {
    pub(crate) number: u64,
    pub(crate) pid: u32,
    pub(crate) endpoint: String,
    pub(crate) host: Option<String>,
}

impl Run {
    /// Starts one on three processes, so slow that it is not over before somebody has looked.
    pub(crate) fn on_workers(name: &str) -> Run {
        Run::start(&[], name, "--workers 3 --rtf 8")
    }

    /// Starts one with these arguments.
    pub(crate) fn start(inside: &[String], name: &str, words: &str) -> Run {
        Run::start_in(WORLD, inside, name, words)
    }

    /// The same in another world.
    pub(crate) fn start_in(world: &'static str, inside: &[String], name: &str, words: &str) -> Run {
        let log = folder(name).join("workers.jsonl");
        let record = if words.contains("--record") { "" } else { "--no-record" };
        let words = format!(
            "run {world} --until tick:{TICKS} {record} -q --hash-every 1 --workers-log {} {}",
            log.display(),
            with_lease(words)
        );
        let mut command = swarmyard(inside, &words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
        let out = child.stdout.take().expect("its output");
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Run { child, lines, printed: String::new(), log, world }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has printed, as far as it was waited for.
    pub(crate) fn printed(&self) -> &str {
        &self.printed
    }

    /// Waits until the run has come to this tick.
    pub(crate) fn comes_to(&mut self, tick: u64) {
        self.longest_until(tick);
    }

    /// The same; answers the longest time between two steps.
    pub(crate) fn longest_until(&mut self, tick: u64) -> Duration {
        let until = Instant::now() + AGES;
        let (mut longest, mut before) = (Duration::ZERO, Instant::now());
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let Ok(line) = self.lines.recv_timeout(left) else {
                let _ = self.child.kill();
                panic!("the run did not come to tick {tick}: {}", self.errors());
            };
            self.printed += &line;
            self.printed.push('\n');
            let at: u64 = line.split(' ').next().and_then(|t| t.parse().ok()).expect("a tick");
            let now = Instant::now();
            longest = longest.max(now - before);
            before = now;
            if at >= tick {
                return longest;
            }
        }
    }

    /// The lines of its log.
    fn log(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The number of the run, and where its keeper is reached.
    pub(crate) fn keeper(&self) -> (u64, String) {
        let log = self.log();
        let run = log[0]["run"].as_str().and_then(|r| r.parse().ok()).expect("a number");
        (run, log[0]["endpoints"][0].as_str().expect("an address").to_owned())
    }

    /// Everyone who was hired so far.
    pub(crate) fn workers(&self) -> Vec<Worker> {
        let of = |v: &Value| {
            Some(Worker {
                number: v["worker"].as_u64()?,
                pid: u32::try_from(v["pid"].as_u64()?).ok()?,
                endpoint: v["endpoint"].as_str()?.to_owned(),
                host: v["host"].as_str().map(str::to_owned),
            })
        };
        self.log().iter().filter_map(of).collect()
    }

    /// Those of them that run now, the oldest first. One may just have been given up, and another is about to come.
    pub(crate) fn at_work(&self) -> Vec<Worker> {
        let until = Instant::now() + AGES;
        loop {
            let all: Vec<Worker> = self.workers().into_iter().filter(|w| is_there(w.pid)).collect();
            if !all.is_empty() {
                return all;
            }
            assert!(Instant::now() < until, "nobody works for the run");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn errors(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut err) = self.child.stderr.take() {
            let _ = err.read_to_string(&mut text);
        }
        text
    }

    /// The run ends well, with the hashes of an undisturbed one, and leaves nothing behind. Answers what it said on
    /// stderr.
    pub(crate) fn ends_as_undisturbed(mut self) -> String {
        self.comes_to(TICKS);
        let status = self.child.wait().expect("waited for");
        let errors = self.errors();
        assert!(status.success(), "{status}: {errors}");
        let wanted = if self.world == WORLD { undisturbed().to_owned() } else { hashes_of(self.world) };
        assert_eq!(self.printed, wanted, "the run was disturbed: {errors}");
        // One that was cut off gives up its keeper after ten leases, which is less.
        assert_gone(&self.workers(), AGES);
        errors
    }

    /// Ends it with a signal, and waits; answers whether it ended well and what it said.
    pub(crate) fn ended_by(mut self, name: &str) -> (Option<i32>, Vec<Worker>) {
        let workers = self.workers();
        signal(self.pid(), name);
        let status = self.child.wait().expect("waited for");
        (status.code(), workers)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A host as a process.
pub(crate) struct Host {
    child: Child,
    /// What it says on stderr goes here.
    said: PathBuf,
    pub(crate) name: String,
    pub(crate) endpoint: String,
}

impl Host {
    pub(crate) fn start(inside: &[String], name: &str, words: &str) -> Host {
        let words = format!("host {name} --json {}", with_lease(words));
        static HOSTS: AtomicU32 = AtomicU32::new(0);
        let said = folder(&format!("host-{name}-{}", HOSTS.fetch_add(1, Ordering::Relaxed))).join("said");
        let mut child = swarmyard(inside, &words)
            .stdout(Stdio::piped())
            .stderr(File::create(&said).expect("a file"))
            .spawn()
            .expect("the command");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let first: Value = serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: `{line}`"));
        let endpoint = first["endpoints"][0].as_str().expect("an address").to_owned();
        Host { child, said, name: name.to_owned(), endpoint }
    }

    /// How `--hosts` names it.
    pub(crate) fn address(&self) -> String {
        format!("{}={}", self.name, self.endpoint)
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What it has said on stderr, its workers too.
    pub(crate) fn said(&self) -> String {
        std::fs::read_to_string(&self.said).expect("its words")
    }

    /// What it lends now.
    pub(crate) fn info(&self) -> Value {
        let text = done(&format!("hosts {} --json", self.address()));
        let value: Value = serde_json::from_str(&text).expect("JSON");
        value["hosts"][0].clone()
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        signal(self.pid(), "TERM");
        // It may have been frozen.
        signal(self.pid(), "CONT");
        let _ = self.child.wait();
        let _ = self.said.parent().map(std::fs::remove_dir_all);
    }
}

/// Sends a signal; one that is gone gets none.
pub(crate) fn signal(pid: u32, name: &str) {
    let _ = Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).stderr(Stdio::null()).status();
}

/// Whether a worker of ours has this process; the number may belong to somebody else by now.
pub(crate) fn is_there(pid: u32) -> bool {
    let words = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    words.split(|b| *b == 0).any(|word| word == b"worker")
}

/// Nothing of these workers runs any more.
#[track_caller]
pub(crate) fn assert_gone(workers: &[Worker], within: Duration) {
    let until = Instant::now() + within;
    let left = || -> BTreeSet<u32> { workers.iter().map(|w| w.pid).filter(|p| is_there(*p)).collect() };
    while !left().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(left().is_empty(), "these workers are left running: {:?}", left());
}
