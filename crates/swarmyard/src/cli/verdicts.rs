//! How protocols kept their promises, for people and for programs.

use serde_json::{Value, json};
use std::fmt::Write as _;
use swarmyard_radio::check::judge::{Uses, Verdict};

/// Breaches of one promise that are shown to people.
const SHOWN: usize = 5;

/// Whether a promise was broken.
pub(crate) fn any_broken(all: &[Verdict]) -> bool {
    all.iter().any(|v| !v.broken.is_empty())
}

/// A line for each promise, and the first breaches of each.
pub(crate) fn text<'a>(uses: &Uses, all: impl IntoIterator<Item = &'a Verdict>) -> String {
    let mut text = String::new();
    for v in all {
        let pair = &uses.pairs()[v.pair];
        let outcome = if v.broken.is_empty() { "kept  " } else { "BROKEN" };
        let _ = writeln!(text, "{outcome}  {} ({}): {}", pair.name(), pair.class, v.promise);
        for what in v.broken.iter().take(SHOWN) {
            let _ = writeln!(text, "        {what}");
        }
        if v.broken.len() > SHOWN {
            let _ = writeln!(text, "        and {} more", v.broken.len() - SHOWN);
        }
    }
    text
}

/// The same for programs.
pub(crate) fn json(uses: &Uses, all: &[Verdict]) -> Vec<Value> {
    let verdict = |v: &Verdict| {
        let pair = &uses.pairs()[v.pair];
        json!({
            "user": pair.user, "provider": pair.provider, "class": pair.class, "promise": v.promise,
            "kept": v.broken.is_empty(), "broken": v.broken,
        })
    };
    all.iter().map(verdict).collect()
}
