//! The one kind of message to a person: where, what, and what now.
//!
//! The command line, the browser and the log print the same [`Diagnostic`]; nothing else reports a
//! problem with what a person wrote.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing; the run goes on.
    Warning,
    /// The scenario cannot be used as it is.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Severity::Warning => "warning",
            Severity::Error => "error",
        })
    }
}

/// Which source text a span points into.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A stretch of bytes in one source text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// One problem, told to a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, such as `unknown-key`: documentation and tools refer to it.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// Path of the thing concerned, such as `/robots/r1/drive`; empty when there is none.
    pub path: String,
    /// Where it was written, if it was written.
    pub span: Option<Span>,
    /// What is wrong: the rule first, then the offending value in backticks.
    pub message: String,
    /// What to do now.
    pub help: Option<String>,
}

impl Diagnostic {
    /// An error.
    #[must_use]
    pub fn error(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic {
            code,
            severity: Severity::Error,
            path: String::new(),
            span: None,
            message: message.into(),
            help: None,
        }
    }

    /// A warning.
    #[must_use]
    pub fn warning(code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Adds where it was written.
    #[must_use]
    pub fn at(mut self, span: Option<Span>) -> Diagnostic {
        self.span = span;
        self
    }

    /// Adds the path of the thing concerned.
    #[must_use]
    pub fn on(mut self, path: impl Into<String>) -> Diagnostic {
        self.path = path.into();
        self
    }

    /// Adds what to do now.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }

    /// Adds "did you mean" when a candidate is near `wrong`, or else the list of what is valid.
    #[must_use]
    pub fn suggest<'a>(self, wrong: &str, valid: impl IntoIterator<Item = &'a str> + Clone) -> Diagnostic {
        if let Some(near) = crate::path::nearest(wrong, valid.clone()) {
            return self.help(format!("did you mean `{near}`?"));
        }
        let all: Vec<&str> = valid.into_iter().collect();
        match all.len() {
            0 => self,
            1..=24 => self.help(format!("valid here: {}", all.join(", "))),
            n => self.help(format!("valid here: {}, … ({n} in all)", all[..24].join(", "))),
        }
    }
}

/// Several problems: everything that was found, not only the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnostics(pub Vec<Diagnostic>);

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, d: Diagnostic) {
        self.0.push(d);
    }

    /// Whether any is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|d| d.severity == Severity::Error)
    }

    /// Puts them in the order of the text, and drops exact repeats.
    pub fn sort(&mut self) {
        self.0.sort_by_key(|d| (d.span.map(|s| (s.source, s.start, s.end)), d.code, d.message.clone()));
        self.0.dedup();
    }
}

impl From<Diagnostic> for Diagnostics {
    fn from(d: Diagnostic) -> Diagnostics {
        Diagnostics(vec![d])
    }
}

/// A position as editors count: lines and characters from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Name of the file.
    pub file: String,
    /// Line, from 1.
    pub line: usize,
    /// Character in the line, from 1.
    pub column: usize,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// One source text and its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name as the person wrote it.
    pub name: String,
    /// The text.
    pub text: Arc<str>,
}

/// All texts a scenario was read from: the file itself first, then what it includes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources(pub Vec<Source>);

impl Sources {
    /// Adds a text.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<Arc<str>>) -> SourceId {
        self.0.push(Source { name: name.into(), text: text.into() });
        SourceId(u32::try_from(self.0.len() - 1).unwrap_or(u32::MAX))
    }

    /// The text behind an id.
    #[must_use]
    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.0.get(id.0 as usize)
    }

    /// Where a span starts, as editors count.
    #[must_use]
    pub fn locate(&self, span: Span) -> Option<Location> {
        let source = self.get(span.source)?;
        let mut start = (span.start as usize).min(source.text.len());
        while !source.text.is_char_boundary(start) {
            start -= 1;
        }
        let before = &source.text[..start];
        let line_start = before.rfind('\n').map_or(0, |k| k + 1);
        Some(Location {
            file: source.name.clone(),
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
        })
    }

    /// The diagnostic as text: position, message, the line itself with a mark, and the help.
    #[must_use]
    pub fn render(&self, d: &Diagnostic) -> String {
        let mut out = String::new();
        let place = d.span.and_then(|s| self.locate(s));
        if let Some(place) = &place {
            let _ = write!(out, "{place}: ");
        }
        let _ = write!(out, "{}[{}]: {}", d.severity, d.code, d.message);
        if !d.path.is_empty() {
            let _ = write!(out, " ({})", d.path);
        }
        if let (Some(span), Some(place)) = (d.span, &place)
            && let Some(line) = self.get(span.source).and_then(|s| s.text.lines().nth(place.line - 1))
        {
            let shown: String = line.chars().take(160).collect();
            let width = (span.end.saturating_sub(span.start) as usize)
                .clamp(1, shown.chars().count().saturating_sub(place.column - 1).max(1));
            let number = place.line.to_string();
            let gap = " ".repeat(number.len());
            let pad = " ".repeat(place.column - 1);
            let _ = write!(out, "\n {gap} |\n {number} | {shown}\n {gap} | {pad}{}", "^".repeat(width));
        }
        if let Some(help) = &d.help {
            let _ = write!(out, "\n   = help: {help}");
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_not_bytes() {
        let mut sources = Sources::default();
        let id = sources.add("a.toml", "x = 1\nß = 2\n");
        let at = sources.locate(Span { source: id, start: 9, end: 10 }).unwrap();
        assert_eq!((at.line, at.column), (2, 3));
    }

    #[test]
    fn a_rendered_problem_says_where_what_and_what_now() {
        let mut sources = Sources::default();
        let id = sources.add("a.toml", "[world]\nsizee = 2\n");
        let d = Diagnostic::error("unknown-key", "`sizee` is not a key of `world`")
            .at(Some(Span { source: id, start: 8, end: 13 }))
            .on("/world")
            .suggest("sizee", ["size", "bounds"]);
        assert_eq!(
            sources.render(&d),
            "a.toml:2:1: error[unknown-key]: `sizee` is not a key of `world` (/world)\n   |\n 2 | sizee = 2\n   | ^^^^^\n   = help: did you mean `size`?"
        );
    }

    #[test]
    fn a_span_outside_its_text_does_no_harm() {
        let mut sources = Sources::default();
        let id = sources.add("a", "ß");
        assert!(sources.locate(Span { source: id, start: 1, end: 99 }).is_some());
        let d = Diagnostic::error("x", "y").at(Some(Span { source: id, start: 900, end: 3 }));
        assert!(sources.render(&d).contains("error[x]"));
    }
}
