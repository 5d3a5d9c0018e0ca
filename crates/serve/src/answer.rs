//! What a request comes to: a value, or why not.

use crate::problems::problem_json;
use serde_json::{Value, json};
use std::sync::Arc;
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

/// What a display is replied.
pub(crate) enum Reply {
    /// An answer that was made here.
    Made(Answer),
    /// One that was made elsewhere, word for word.
    Passed(Passed),
}

/// A `reply` that somebody else made.
#[derive(Clone, Debug)]
pub(crate) struct Passed {
    /// The number it carries.
    pub(crate) id: u64,
    pub(crate) is_ok: bool,
    pub(crate) text: Arc<str>,
}

impl Reply {
    pub(crate) fn is_ok(&self) -> bool {
        match self {
            Reply::Made(answer) => answer.is_ok(),
            Reply::Passed(passed) => passed.is_ok,
        }
    }

    /// As a message; `None` for what went well and has no number: nobody waits for it.
    pub(crate) fn words(&self, asked: Option<u64>) -> Option<String> {
        if self.is_ok() && asked.is_none() {
            return None;
        }
        Some(match self {
            Reply::Made(Ok(value)) => json!({ "is": "reply", "id": asked, "ok": value }).to_string(),
            Reply::Made(Err(refusal)) => {
                json!({ "is": "reply", "id": asked, "error": refusal.json() }).to_string()
            }
            Reply::Passed(passed) => passed.renumbered(asked),
        })
    }
}

impl Passed {
    /// The same reply with another number. Where it stands as a server of ours writes it, the rest is not
    /// touched: numbers that are read and written again may come out with another last digit.
    fn renumbered(&self, asked: Option<u64>) -> String {
        let id = Value::from(asked);
        match self.text.strip_prefix(&format!(r#"{{"id":{},"#, self.id)) {
            Some(rest) => format!(r#"{{"id":{id},{rest}"#),
            None => {
                let mut reply: Value = serde_json::from_str(&self.text).unwrap_or_default();
                reply["id"] = id;
                reply.to_string()
            }
        }
    }
}

impl From<Answer> for Reply {
    fn from(answer: Answer) -> Reply {
        Reply::Made(answer)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_that_is_passed_on_keeps_every_digit_and_gets_the_number_of_who_asked() {
        let text = r#"{"id":12,"is":"reply","ok":{"value":0.30000000000000004441}}"#;
        let passed = Reply::Passed(Passed { id: 12, is_ok: true, text: text.into() });
        assert_eq!(passed.words(Some(7)), Some(text.replace("12", "7")));
        assert_eq!(passed.words(None), None);
        let text = r#"{"is":"reply","id":12,"error":{}}"#;
        let passed = Reply::Passed(Passed { id: 12, is_ok: false, text: text.into() });
        assert_eq!(passed.words(None), Some(r#"{"error":{},"id":null,"is":"reply"}"#.into()));
    }
}
