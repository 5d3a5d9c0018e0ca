//! How protocols kept their promises, for people and for programs.

use serde_json::{Value, json};
use std::fmt::Write as _;
use swarmyard_radio::check::judge::{Uses, Verdict};

/// Breaches of one promise that are shown to people.
const SHOWN: usize = 5;

/// Said where there was more than can be kept, and what to do now.
pub(crate) const TOO_MUCH: &str =
    "not judged: there was too much to keep; let it run for a shorter time, or with fewer robots";

/// Whether nobody may say that all promises were kept: one was broken, or too much happened to be judged.
pub(crate) fn failed(all: &[Verdict], overflowed: bool) -> bool {
    overflowed || all.iter().any(|v| !v.broken.is_empty())
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

/// A line for each pair of protocols that promises something which is not judged, and why.
pub(crate) fn not_judged(uses: &Uses) -> String {
    let mut text = String::new();
    for (k, why) in uses.not_judged() {
        let pair = &uses.pairs()[k];
        let class = if pair.class.is_empty() { String::new() } else { format!(" ({})", pair.class) };
        let _ = writeln!(text, "not judged  {}{class}: {why}", pair.name());
    }
    text
}

/// The same for programs.
pub(crate) fn not_judged_json(uses: &Uses) -> Vec<Value> {
    let line = |(k, why): (usize, &str)| {
        let pair = &uses.pairs()[k];
        json!({ "user": pair.user, "provider": pair.provider, "class": pair.class, "why": why })
    };
    uses.not_judged().into_iter().map(line).collect()
}

/// Verdicts for programs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_judged_is_no_success() {
        let verdict = |broken: &[&str]| {
            let broken = broken.iter().map(|b| (*b).to_owned()).collect();
            Verdict { pair: 0, promise: "agreement", broken }
        };
        assert!(!failed(&[verdict(&[])], false) && !failed(&[], false));
        assert!(failed(&[verdict(&["process 1 does not"])], false));
        assert!(failed(&[], true));
    }
}
