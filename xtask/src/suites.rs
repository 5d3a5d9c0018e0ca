//! `cargo test`, counted; and a second try for tests that live among real processes and clocks. What it runs was built before.
//!
//! In: the output of `cargo test --no-fail-fast`. Out: counts, and the names of tests that passed only at the second try.
//!
//! Tests that cannot do anything on this machine fail in these runs, which set `SWARMYARD_WHOLE`; only those that need
//! network namespaces may say `SKIPPED` instead, and are counted.
//!
//! Test programs that mostly wait for other processes ([`WAITING`]) run beside all others. Always the whole workspace is named: with a
//! single package cargo would choose other features of what it stands on, and build much of it again.
//!
//! A test of the core that fails once has found a result that depends on something it must not depend on: it is never
//! tried again. Tests of [`AMONG_PROCESSES`] start processes, talk over sockets and wait for clocks of a machine that
//! others use too: a few of them may be tried once more, alone, and that is told.

use crate::tests::Counts;
use crate::{root, web};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// The test programs that start processes and servers, by package. Programs of the same packages that compare bits are
/// not among them.
const AMONG_PROCESSES: [(&str, &[&str]); 6] = [
    ("swarmyard", &["chaos", "command", "displays", "elsewhere", "measuring", "modules", "natives"]),
    ("swarmyard-agents", &["careful", "process", "process_hostile", "talk", "wire"]),
    ("swarmyard-cluster", &["lending", "pipes"]),
    ("swarmyard-fabric", &["peers", "suite"]),
    ("swarmyard-modules", &["pipe", "samples"]),
    ("swarmyard-serve", &["modules", "server"]),
];

/// The test programs that mostly wait.
const WAITING: [&str; 9] =
    ["careful", "chaos", "elsewhere", "lending", "peers", "pipe", "pipes", "talk", "wire"];

/// More failures than these are no accident.
const FEW: usize = 4;

/// Runs all tests of the workspace; answers those that passed only at the second try.
pub(crate) fn all(python: Option<&str>, counts: &mut Counts) -> Result<Vec<String>, String> {
    let first = first_try(python)?;
    counts.add(&first.counts);
    if first.is_good {
        return Ok(Vec::new());
    }
    let why = "cargo test failed".to_owned();
    // A program that died has failed without naming a test, and would name none the second time either.
    let named = first.failed.len() as u64 == first.counts.failed && !first.failed.is_empty();
    if !named || first.failed.len() > FEW || !first.programs.iter().all(|p| is_among_processes(p)) {
        return Err(why);
    }
    println!("\nonce more, alone: {}", first.failed.iter().cloned().collect::<Vec<_>>().join(", "));
    let mut second = Counts::default();
    for program in &first.programs {
        // What stands behind `-p PACKAGE`: `--test NAME` or `--lib`.
        let words = program.split_whitespace().skip(2);
        let names = first.failed.iter().map(String::as_str);
        let args = ["--workspace"].into_iter().chain(words);
        let args = args.chain(["--", "--exact", "--test-threads=1"]).chain(names);
        let again = Run::of(&args.collect::<Vec<_>>(), python, Shown::Now)?;
        if !again.is_good {
            return Err(why);
        }
        second.add(&again.counts);
    }
    if second.passed != first.counts.failed {
        return Err(why);
    }
    counts.failed -= second.passed;
    counts.passed += second.passed;
    Ok(first.failed.into_iter().collect())
}

/// Runs each test program once.
fn first_try(python: Option<&str>) -> Result<Run, String> {
    let (waiting, others): (Vec<String>, Vec<String>) =
        programs()?.into_iter().partition(|name| WAITING.contains(&name.as_str()));
    if waiting.len() != WAITING.len() {
        return Err(format!("of the test programs that wait there are only {}", waiting.join(", ")));
    }
    let chosen = |names: &[String]| names.iter().flat_map(|n| ["--test".to_owned(), n.clone()]).collect();
    let run = |kinds: &[&str], names: Vec<String>, shown| {
        let words = ["--workspace", "--no-fail-fast"].iter().chain(kinds).copied();
        Run::of(&words.chain(names.iter().map(String::as_str)).collect::<Vec<_>>(), python, shown)
    };
    let (waiting, others) = std::thread::scope(|scope| {
        let beside = scope.spawn(|| run(&[], chosen(&waiting), Shown::AtTheEnd));
        let others = run(&["--lib", "--bins"], chosen(&others), Shown::Now);
        (beside.join(), others)
    });
    let waiting = waiting.map_err(|_| "the tests that wait could not be run")??;
    let documents = run(&["--doc"], Vec::new(), Shown::Now)?;
    Ok(others?.and(waiting).and(documents))
}

/// The names of all test programs of the crates, each once.
fn programs() -> Result<BTreeSet<String>, String> {
    let list = |folder: PathBuf| std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let mut names = BTreeSet::new();
    for path in list(root().join("crates")).flat_map(|package| list(package.join("tests"))) {
        let is_program = path.extension().is_some_and(|e| e == "rs") || path.join("main.rs").is_file();
        names.extend(path.file_stem().filter(|_| is_program).map(|n| n.to_string_lossy().into_owned()));
    }
    if names.is_empty() { Err("there are no tests".to_owned()) } else { Ok(names) }
}

/// Whether a program, as cargo names it (`-p swarmyard --test command`), is one that may be tried again.
fn is_among_processes(program: &str) -> bool {
    let words: Vec<&str> = program.split_whitespace().collect();
    let ["-p", package, "--test", name] = words[..] else { return false };
    AMONG_PROCESSES.iter().any(|(of, names)| *of == package && names.contains(&name))
}

/// When the output of a run is passed on.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    Now,
    /// Another run is shown meanwhile.
    AtTheEnd,
}

/// What one `cargo test` said.
struct Run {
    is_good: bool,
    counts: Counts,
    /// Names of tests that failed.
    failed: BTreeSet<String>,
    /// Test programs that failed, by the words that choose them.
    programs: Vec<String>,
}

impl Run {
    /// Runs `cargo test` and passes its output on.
    fn of(args: &[&str], python: Option<&str>, shown: Shown) -> Result<Run, String> {
        let mut command = Command::new("cargo");
        command.arg("test").args(args).current_dir(root()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("SWARMYARD_WHOLE", "1");
        if let Some(python) = python {
            command.env("SWARMYARD_PYTHON", python);
        }
        let mut child = command.spawn().map_err(|e| format!("cannot run cargo: {e}"))?;
        let output = child.stdout.take().ok_or("cargo has no output")?;
        let errors = child.stderr.take().ok_or("cargo has no errors")?;
        let kept = Mutex::new(Vec::new());
        let show = |line: &str| match shown {
            Shown::Now => println!("{line}"),
            Shown::AtTheEnd => kept.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_owned()),
        };
        let (mut counts, mut failed, mut programs) = (Counts::default(), BTreeSet::new(), Vec::new());
        let mut skipped = 0;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                each_line(errors, |line| {
                    show(line);
                    skipped += u64::from(is_skip(line));
                    programs.extend(program_of(line));
                });
            });
            each_line(output, |line| {
                if let Some(result) = line.strip_prefix("test result: ") {
                    counts.passed += web::number_before(result, "passed");
                    counts.failed += web::number_before(result, "failed");
                    counts.ignored += web::number_before(result, "ignored");
                }
                failed.extend(failed_of(line));
                show(line);
            });
        });
        counts.skipped = skipped;
        let is_good = child.wait().map_err(|e| e.to_string())?.success();
        for line in kept.into_inner().unwrap_or_else(PoisonError::into_inner) {
            println!("{line}");
        }
        Ok(Run { is_good, counts, failed, programs })
    }

    /// Two runs as one.
    fn and(mut self, other: Run) -> Run {
        self.is_good &= other.is_good;
        self.counts.add(&other.counts);
        self.failed.extend(other.failed);
        self.programs.extend(other.programs);
        self
    }
}

/// Lines that are not text are read as well as they can be.
fn each_line(from: impl Read, mut f: impl FnMut(&str)) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|n| n > 0) {
        f(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']));
        line.clear();
    }
}

/// `test NAME ... FAILED`, or `test NAME - should panic ... FAILED`.
fn failed_of(line: &str) -> Option<String> {
    let name = line.strip_prefix("test ")?.strip_suffix(" ... FAILED")?;
    Some(name.strip_suffix(" - should panic").unwrap_or(name).to_owned())
}

/// What a test says that can do nothing on this machine, past whoever keeps what tests print.
fn is_skip(line: &str) -> bool {
    line.contains("SKIPPED: ")
}

/// A line of cargo's list at the end: "    `-p swarmyard --test command`".
fn program_of(line: &str) -> Option<String> {
    let words = line.strip_prefix("    `")?.strip_suffix('`')?;
    words.starts_with("-p ").then(|| words.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_read_from_what_cargo_says() {
        assert_eq!(failed_of("test displays::a ... FAILED").as_deref(), Some("displays::a"));
        assert_eq!(failed_of("test displays::a ... ok"), None);
        assert_eq!(
            program_of("    `-p swarmyard --test command`").as_deref(),
            Some("-p swarmyard --test command")
        );
        assert_eq!(program_of("    command::a"), None);
    }

    #[test]
    fn every_test_program_is_in_one_of_the_two_runs() {
        let all = programs().unwrap_or_default();
        assert!(WAITING.iter().all(|name| all.contains(*name)), "{all:?}");
        assert!(["measuring", "command", "suite"].iter().all(|name| all.contains(*name)), "{all:?}");
        // A folder with helpers of tests is none.
        assert!(!all.contains("common"), "{all:?}");
    }

    #[test]
    fn only_tests_among_processes_get_a_second_try() {
        for program in ["-p swarmyard --test command", "-p swarmyard-fabric --test suite"] {
            assert!(is_among_processes(program), "{program}");
        }
        // What compares bits is not tried again, whatever else its package does.
        for program in [
            "-p swarmyard-engine --lib",
            "-p swarmyard-conformance --test suite",
            "-p swarmyard-cluster --test suite",
            "-p swarmyard --test suite",
            "-p swarmyard-serve --lib",
            "-p swarmyard-modules --test worked_cases",
            "--doc",
        ] {
            assert!(!is_among_processes(program), "{program}");
        }
    }

    #[test]
    fn every_program_that_may_be_tried_again_exists() {
        for (package, names) in AMONG_PROCESSES {
            let folder = package.strip_prefix("swarmyard-").unwrap_or(package);
            let tests = root().join("crates").join(folder).join("tests");
            for name in names {
                let is_there = tests.join(format!("{name}.rs")).is_file() || tests.join(name).is_dir();
                assert!(is_there, "{package} has no test program `{name}`");
            }
        }
    }

    #[test]
    fn a_test_that_did_nothing_is_counted() {
        assert!(is_skip("SKIPPED: network namespaces cannot be made here: ip: no such file"));
        assert!(!is_skip("test skipping ... ok"));
    }
}
