//! Why a command did not do what was asked, and the exit code for it.

use serde_json::{Value, json};
use swarmyard::base::{Diagnostic, Diagnostics, Sources};
use swarmyard::record::RecordError;

/// What the exit code says. The numbers are part of the command's promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// All is well.
    Ok = 0,
    /// It could not be done.
    Failed = 1,
    /// The arguments make no sense.
    Usage = 2,
    /// The scenario has problems.
    Scenario = 3,
    /// An assertion of the scenario was not met.
    Assertion = 4,
    /// A controller failed, or waits for commands that cannot come.
    Controller = 5,
    /// A replay, a comparison or the self-test differs.
    Mismatch = 6,
    /// The wall limit was reached.
    WallLimit = 124,
    /// A signal stopped it. Interrupt, termination and hang-up arrive by one door, so all are 130.
    Signal = 130,
}

/// A command that ended early: what to tell the person, and the exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The exit code.
    pub(crate) exit: Exit,
    /// The texts that spans point into.
    pub(crate) sources: Sources,
    /// What is wrong; empty when there is nobody left to tell.
    pub(crate) problems: Diagnostics,
    /// The file concerned, for problems without a place of their own.
    pub(crate) file: Option<String>,
}

impl Failure {
    /// A failure with one problem.
    pub(crate) fn new(exit: Exit, code: &'static str, message: impl Into<String>) -> Failure {
        Failure::one(exit, Diagnostic::error(code, message))
    }

    /// A failure with one problem.
    pub(crate) fn one(exit: Exit, problem: Diagnostic) -> Failure {
        Failure { exit, sources: Sources::default(), problems: problem.into(), file: None }
    }

    /// A file that cannot be read or written.
    pub(crate) fn file(verb: &str, path: &std::path::Path, why: &std::io::Error) -> Failure {
        let shown = path.display().to_string();
        Failure::new(Exit::Failed, "file", format!("cannot {verb} `{shown}`: {why}")).on(shown)
    }

    /// Names the file concerned.
    pub(crate) fn on(mut self, file: impl Into<String>) -> Failure {
        self.file = Some(file.into());
        self
    }

    /// Adds what to do now.
    pub(crate) fn help(mut self, help: impl Into<String>) -> Failure {
        if let Some(d) = self.problems.0.first_mut() {
            d.help = Some(help.into());
        }
        self
    }

    /// Every problem as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.problems.0.iter().map(|d| problem_json(&self.sources, d, self.file.as_deref())).collect()
    }
}

/// One problem as JSON: the same fields always, `null` where there is nothing to say.
pub(crate) fn problem_json(sources: &Sources, d: &Diagnostic, file: Option<&str>) -> Value {
    let place = d.span.and_then(|s| sources.locate(s));
    json!({
        "code": d.code,
        "severity": d.severity.to_string(),
        "message": d.message,
        "file": place.as_ref().map(|p| p.file.as_str()).or(file),
        "line": place.as_ref().map(|p| p.line),
        "column": place.as_ref().map(|p| p.column),
        "path": (!d.path.is_empty()).then_some(&d.path),
        "help": d.help,
    })
}

impl From<swarmyard::Error> for Failure {
    fn from(e: swarmyard::Error) -> Failure {
        match e {
            swarmyard::Error::Scenario(sources, problems) => {
                Failure { exit: Exit::Scenario, sources, problems, file: None }
            }
            swarmyard::Error::Blocked(robots) => waiting(&robots),
            swarmyard::Error::Wrong(d) => Failure::one(Exit::Scenario, d),
            swarmyard::Error::Snapshot(e) => Failure::new(Exit::Failed, "snapshot", e.to_string()),
            swarmyard::Error::System(e) => Failure::new(Exit::Failed, "system", e),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(e: RecordError) -> Failure {
        match e {
            RecordError::Topics(problems) => {
                Failure { exit: Exit::Scenario, sources: Sources::default(), problems, file: None }
            }
            RecordError::Export(e) => e.into(),
            e @ RecordError::NotARecording(_) => Failure::new(Exit::Failed, "not-a-recording", e.to_string()),
            e => Failure::new(Exit::Failed, "recording", e.to_string()),
        }
    }
}

/// Standard output: a reader that has gone away is no news to anybody.
impl From<std::io::Error> for Failure {
    fn from(e: std::io::Error) -> Failure {
        let mut failure = Failure::new(Exit::Failed, "output", format!("cannot write the output: {e}"));
        if e.kind() == std::io::ErrorKind::BrokenPipe {
            failure.problems.0.clear();
        }
        failure
    }
}

/// Robots whose controllers wait for commands that nobody gives here.
pub(crate) fn waiting(robots: &[String]) -> Failure {
    let shown = robots.iter().take(5).map(String::as_str).collect::<Vec<_>>().join(", ");
    let more = if robots.len() > 5 { format!(" and {} more", robots.len() - 5) } else { String::new() };
    let verb = if robots.len() == 1 { "waits" } else { "wait" };
    Failure::new(
        Exit::Controller,
        "waits-for-commands",
        format!("the run cannot go on: {shown}{more} {verb} for commands from outside"),
    )
    .help("drive them from a program that uses the library, or set `wait = false` in their controller")
}
