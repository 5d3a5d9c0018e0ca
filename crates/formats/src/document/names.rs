//! Names that are taken, and new ones that are not.
//!
//! Robots made by `count` are kept as runs (`r1` to `r1000000`), not one by one.

use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::path::{MAX_NAME, is_name};

/// Numbered names beyond which new ones are not numbered on.
const LONG_RUN: usize = 1000;

/// Scene paths that exist.
#[derive(Clone, Debug, Default)]
pub(super) struct Names {
    exact: BTreeSet<String>,
    /// Beginnings of paths that are numbered from 1, and the highest number.
    runs: BTreeMap<String, usize>,
    /// Numbers up to which all are taken, by stem and count.
    tried: BTreeMap<(String, Option<usize>), usize>,
}

impl Names {
    pub(super) fn add(&mut self, path: impl Into<String>) {
        self.exact.insert(path.into());
    }

    pub(super) fn add_run(&mut self, base: impl Into<String>, count: usize) {
        let highest = self.runs.entry(base.into()).or_default();
        *highest = count.max(*highest);
    }

    pub(super) fn is_taken(&self, path: &str) -> bool {
        self.exact.contains(path) || self.in_run(path)
    }

    fn in_run(&self, path: &str) -> bool {
        let digits = path.bytes().rev().take_while(u8::is_ascii_digit).count().min(9);
        (1..=digits).any(|n| {
            let (base, number) = path.split_at(path.len() - n);
            !number.starts_with('0')
                && self.runs.get(base).is_some_and(|top| number.parse().is_ok_and(|k: usize| k <= *top))
        })
    }

    /// Whether one of `count` numbered paths exists.
    fn is_run_taken(&self, base: &str, count: usize) -> bool {
        // Whoever stands among the first thousand is found by looking, whoever comes later by its beginning.
        let later = |p: &String| {
            p.strip_prefix(base).and_then(|n| n.parse::<usize>().ok()).is_some_and(|k| k >= 1 && k <= count)
        };
        self.runs.contains_key(base)
            || (1..=count.min(1000)).any(|k| self.is_taken(&format!("{base}{k}")))
            || self.exact.range(base.to_owned()..).take_while(|p| p.starts_with(base)).any(later)
    }

    /// Whether something of this name could not be there; `count` is how many numbered ones it makes.
    pub(super) fn collides(&self, root: &str, name: &str, count: Option<usize>) -> bool {
        let path = format!("{root}{name}");
        match count {
            // Its own name is nobody's path, but to call it like somebody would confuse people.
            Some(n) => self.is_run_taken(&path, n) || self.is_taken(&path),
            None => self.is_taken(&path),
        }
    }

    /// A free name like `wanted`, which is taken now.
    pub(super) fn claim(&mut self, root: &str, wanted: &str, count: Option<usize>) -> String {
        // Numbers are added, and the name must not become too long by them.
        let most = MAX_NAME - 8 - count.map_or(0, |n| n.to_string().len());
        let fits = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let mut name: String = wanted.chars().filter(fits).take(most).collect();
        if !is_name(&name) {
            name = "n".into();
        }
        if self.collides(root, &name, count) {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let mut stem = if stem.is_empty() { "n".to_owned() } else { stem.to_owned() };
            // Past a long run the numbers would be long, and finding the first free one too.
            while self.runs.get(&format!("{root}{stem}")).is_some_and(|top| *top > LONG_RUN) {
                stem.push('_');
            }
            // What was taken stays taken, so the search goes on where it ended last time.
            let tried = (format!("{root}{stem}"), count);
            let mut number = self.tried.get(&tried).copied().unwrap_or(1);
            while self.collides(root, &name, count) {
                number += 1;
                name = format!("{stem}{number}");
            }
            self.tried.insert(tried, number);
        }
        self.take(root, &name, count);
        name
    }

    pub(super) fn take(&mut self, root: &str, name: &str, count: Option<usize>) {
        match count {
            Some(n) => self.add_run(format!("{root}{name}"), n),
            None => self.add(format!("{root}{name}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_names_keep_clear_of_single_and_of_numbered_ones() {
        let mut names = Names::default();
        names.add("/robots/crate");
        names.add_run("/robots/r", 12);
        assert!(names.is_taken("/robots/r12") && !names.is_taken("/robots/r13"));
        assert!(!names.is_taken("/robots/r01") && !names.is_taken("/robots/r0"));
        assert_eq!(names.claim("/robots/", "crate", None), "crate2");
        assert_eq!(names.claim("/robots/", "crate", None), "crate3");
        assert_eq!(names.claim("/robots/", "r1", None), "r13");
        assert_eq!(names.claim("/robots/", "free", None), "free");
        assert_eq!(names.claim("/robots/", "fre", Some(3)), "fre");
        assert_eq!(names.claim("/robots/", "fre2", None), "fre4");
        // `r2` would make `r21`, which is free, but it is itself somebody's name.
        assert_eq!(names.claim("/robots/", "r1", Some(2)), "r14");
        names.add_run("/robots/q", 10_000_000);
        assert_eq!(names.claim("/robots/", "q7", None), "q_2");
        assert_eq!(names.claim("/robots/", "q", Some(10_000_000)), "q_3");
    }
}
