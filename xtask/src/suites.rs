//! `cargo test`, counted; and a second try for tests that live among real processes and clocks.
//!
//! In: the output of `cargo test --no-fail-fast`. Out: counts, and the names of tests that passed only at the second try.
//!
//! A test of the core that fails once has found a result that depends on something it must not depend on: it is never
//! tried again. Tests of [`AMONG_PROCESSES`] start processes, talk over sockets and wait for clocks of a machine that
//! others use too: a few of them may be tried once more, alone, and that is told.

use crate::tests::Counts;
use crate::{root, web};
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};

/// The packages whose tests start processes and servers.
const AMONG_PROCESSES: [&str; 6] = [
    "swarmyard",
    "swarmyard-agents",
    "swarmyard-cluster",
    "swarmyard-fabric",
    "swarmyard-modules",
    "swarmyard-serve",
];

/// More failures than these are no accident.
const FEW: usize = 4;

/// Runs all tests of the workspace; answers those that passed only at the second try.
pub(crate) fn all(python: Option<&str>, counts: &mut Counts) -> Result<Vec<String>, String> {
    let first = Run::of(&["test", "--workspace", "--no-fail-fast"], python)?;
    counts.add(&first.counts);
    if first.status.success() {
        return Ok(Vec::new());
    }
    let why = format!("cargo test failed ({})", first.status);
    // A program that died has failed without naming a test, and would name none the second time either.
    let named = first.failed.len() as u64 == first.counts.failed && !first.failed.is_empty();
    if !named || first.failed.len() > FEW || !first.programs.iter().all(|p| is_among_processes(p)) {
        return Err(why);
    }
    println!("\nonce more, alone: {}", first.failed.iter().cloned().collect::<Vec<_>>().join(", "));
    let mut second = Counts::default();
    for program in &first.programs {
        let words = program.split_whitespace();
        let names = first.failed.iter().map(String::as_str);
        let args =
            ["test"].into_iter().chain(words).chain(["--", "--exact", "--test-threads=1"]).chain(names);
        let again = Run::of(&args.collect::<Vec<_>>(), python)?;
        if !again.status.success() {
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

/// Whether a program, as cargo names it (`-p swarmyard --test command`), is of a package that may be tried again.
fn is_among_processes(program: &str) -> bool {
    let mut words = program.split_whitespace();
    words.next() == Some("-p") && words.next().is_some_and(|package| AMONG_PROCESSES.contains(&package))
}

/// What one `cargo test` said.
struct Run {
    status: ExitStatus,
    counts: Counts,
    /// Names of tests that failed.
    failed: BTreeSet<String>,
    /// Test programs that failed, by the words that choose them.
    programs: Vec<String>,
}

impl Run {
    /// Runs cargo and passes its output on.
    fn of(args: &[&str], python: Option<&str>) -> Result<Run, String> {
        let mut command = Command::new("cargo");
        command.args(args).current_dir(root()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(python) = python {
            command.env("SWARMYARD_PYTHON", python);
        }
        let mut child = command.spawn().map_err(|e| format!("cannot run cargo: {e}"))?;
        let output = child.stdout.take().ok_or("cargo has no output")?;
        let errors = child.stderr.take().ok_or("cargo has no errors")?;
        let programs = std::thread::spawn(move || {
            let mut programs = Vec::new();
            each_line(errors, |line| {
                eprintln!("{line}");
                programs.extend(program_of(line));
            });
            programs
        });
        let (mut counts, mut failed) = (Counts::default(), BTreeSet::new());
        each_line(output, |line| {
            if let Some(result) = line.strip_prefix("test result: ") {
                counts.passed += web::number_before(result, "passed");
                counts.failed += web::number_before(result, "failed");
                counts.ignored += web::number_before(result, "ignored");
            }
            failed.extend(failed_of(line));
            println!("{line}");
        });
        let status = child.wait().map_err(|e| e.to_string())?;
        let programs = programs.join().map_err(|_| "cargo's errors could not be read")?;
        Ok(Run { status, counts, failed, programs })
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
    fn only_tests_among_processes_get_a_second_try() {
        assert!(is_among_processes("-p swarmyard --test command"));
        assert!(is_among_processes("-p swarmyard-serve --lib"));
        for program in ["-p swarmyard-engine --lib", "-p swarmyard-conformance --test goldens", "--doc"] {
            assert!(!is_among_processes(program), "{program}");
        }
    }
}
