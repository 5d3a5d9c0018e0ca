//! Diagnostics as JSON, for every display: the same fields always, `null` where there is nothing to say.

use serde_json::{Value, json};
use swarmyard_base::{Diagnostic, Sources, Span};

/// One problem.
pub(crate) fn problem_json(sources: &Sources, d: &Diagnostic) -> Value {
    let place = d.span.and_then(|s| sources.locate(s));
    let end = d.span.and_then(|s| sources.locate(Span { start: s.end, ..s }));
    json!({
        "code": d.code,
        "severity": d.severity.to_string(),
        "message": d.message,
        "help": d.help,
        "path": (!d.path.is_empty()).then_some(&d.path),
        "file": place.as_ref().map(|p| p.file.as_str()),
        "line": place.as_ref().map(|p| p.line),
        "column": place.as_ref().map(|p| p.column),
        "end_line": end.as_ref().map(|p| p.line),
        "end_column": end.as_ref().map(|p| p.column),
    })
}
