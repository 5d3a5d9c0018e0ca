//! What a request comes to: a value, or why not.

use crate::problems::problem_json;
use serde_json::{Value, json};
use swarmyard_base::{Diagnostic, Diagnostics, Sources};
use swarmyard_sim::Error;

/// Why a request was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Refusal {
    /// Stable word.
    pub(crate) code: &'static str,
    /// What is wrong.
    pub(crate) message: String,
    /// What to do now.
    pub(crate) help: Option<String>,
    /// Every problem, for texts that do not load.
    pub(crate) problems: Vec<Value>,
}

/// What a request comes to.
pub(crate) type Answer = Result<Value, Refusal>;

impl Refusal {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Refusal {
        Refusal { code, message: message.into(), help: None, problems: Vec::new() }
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Refusal {
        self.help = Some(help.into());
        self
    }

    /// A text with problems.
    pub(crate) fn problems(code: &'static str, sources: &Sources, problems: &Diagnostics) -> Refusal {
        let first = problems.0.first().map_or_else(|| "it does not load".to_owned(), |d| d.message.clone());
        let all = problems.0.iter().map(|d| problem_json(sources, d)).collect();
        Refusal { code, message: first, help: problems.0.first().and_then(|d| d.help.clone()), problems: all }
    }

    /// As the `error` of a reply.
    pub(crate) fn json(&self) -> Value {
        json!({ "code": self.code, "message": self.message, "help": self.help, "problems": self.problems })
    }
}

impl From<Diagnostic> for Refusal {
    fn from(d: Diagnostic) -> Refusal {
        let problems = vec![problem_json(&Sources::default(), &d)];
        Refusal { code: d.code, message: d.message, help: d.help, problems }
    }
}

impl From<Error> for Refusal {
    fn from(e: Error) -> Refusal {
        match e {
            Error::Scenario(sources, problems) => Refusal::problems("problems", &sources, &problems),
            Error::Wrong(d) => d.into(),
            Error::Blocked(robots) => {
                Refusal::new("waiting", format!("the run waits for {}", robots.join(", ")))
            }
            Error::Snapshot(e) => Refusal::new("snapshot", e.to_string()),
            Error::System(e) => Refusal::new("system", e),
        }
    }
}
