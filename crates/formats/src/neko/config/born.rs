//! The robots of a configuration: where they are born.

use super::{Config, Entries, entry, list_of, number, text};
use crate::neko::properties::{Entry, MAX_PROBLEMS};
use crate::tree::{Data, Key, Tree, shortened};
use std::ops::Bound;
use swarmyard_base::{Diagnostic, Span};

/// Keys of born points begin so; a number follows.
const BORN: &str = "bornpoint";
impl Config<'_> {
    /// The section of the robots.
    pub(super) fn robots(&mut self, n: i64, [width, height]: [Option<Tree>; 2]) -> Option<(Key, Tree)> {
        let random = self.truth("bornpoint.random");
        if self.single.contains_key("bornpoint.random") && random.is_none() {
            return None;
        }
        match random {
            Some((true, place)) => {
                if let Some(entry) = self.born.values().flatten().next() {
                    let what =
                        format!("`{}` changes nothing: with `bornpoint.random` all are drawn", entry.key);
                    self.no_effect(what, entry);
                }
                let inner = self.random_robots(place, width?, height?)?;
                Some(entry("robot", place, list_of(Tree { span: place, data: Data::Table(inner) })))
            }
            _ => self.born_robots(n),
        }
    }

    /// All robots as one entry, somewhere in the rectangle from the origin to (width, height).
    fn random_robots(&self, place: Span, width: Tree, height: Tree) -> Option<Entries> {
        let count = self.count_tree()?;
        let middle = |side: &Tree| Tree { span: side.span, data: half(&side.data) };
        let at = vec![middle(&width), middle(&height)];
        let layout = vec![
            entry("class", place, text("random")),
            entry("size", width.span, Data::Array(vec![width, height])),
            entry("heading", place, text("same")),
        ];
        Some(vec![
            entry("name", place, text("p")),
            entry("first", place, Data::Int(0)),
            entry("type", place, text("robot")),
            (Key { text: "count".into(), span: count.span }, count),
            entry("at", place, Data::Array(at)),
            entry("layout", place, Data::Table(layout)),
        ])
    }

    fn count_tree(&self) -> Option<Tree> {
        let value = &self.single.get("process.num")?.value;
        Some(Tree { span: value.span, data: Data::Int(value.text.parse().ok()?) })
    }

    /// One entry per robot: born point 1 is process p0's, the first.
    fn born_robots(&mut self, n: i64) -> Option<(Key, Tree)> {
        let mut robots = Vec::with_capacity(self.born.len());
        let mut missing = Vec::new();
        let born = std::mem::take(&mut self.born);
        let most = u32::try_from(n).unwrap_or(u32::MAX);
        // The gaps between those that are there; `process.num` may be anything, so they are not counted out.
        let mut next = 1;
        for (&k, lines) in born.range(..=most) {
            if self.problems.0.len() >= 2 * MAX_PROBLEMS {
                return None;
            }
            missing.extend((next..k).take(4 - missing.len()));
            next = k.saturating_add(1);
            robots.extend(self.born_robot(k - 1, lines));
        }
        missing.extend((next..=most).take(4 - missing.len()));
        let found = born.range(..=most).count();
        let lacking = usize::try_from(n).unwrap_or(usize::MAX).saturating_sub(found);
        if lacking > 0 {
            self.missing_points(&missing, lacking);
        }
        for entry in born.range((Bound::Excluded(most), Bound::Unbounded)).flat_map(|b| b.1) {
            let what = format!("`{}` changes nothing: there are only `{n}` robots", entry.key);
            self.no_effect(what, entry);
        }
        let place = robots.first().map_or(self.start, |r: &Tree| r.span);
        Some(entry("robot", place, Data::Array(robots)))
    }

    fn born_robot(&mut self, process: u32, lines: &[&Entry<'_>]) -> Option<Tree> {
        let first = lines.first()?;
        let items: Vec<(&str, Span)> = lines.iter().flat_map(|l| l.value.items()).take(3).collect();
        let numbers: Vec<Tree> = items
            .iter()
            .filter_map(|(item, span)| Some(Tree { span: *span, data: number(item)?.0 }))
            .collect();
        if items.len() != 2 || numbers.len() != 2 {
            let wanted =
                format!("`{}` must be two numbers `x, y`, not `{}`", first.key, shortened(&first.value.text));
            let bad = items.iter().find(|i| number(i.0).is_none()).filter(|_| items.len() == 2);
            let span = bad.map_or(first.value.span, |b| b.1);
            let d = Diagnostic::error("wrong-type", wanted).at(Some(span));
            self.problems.push(d.help("such as `bornpoint1 = 120, 80.5`"));
            return None;
        }
        let inner = vec![
            entry("name", first.key_span, text(&format!("p{process}"))),
            entry("type", first.key_span, text("robot")),
            entry("at", first.value.span, Data::Array(numbers)),
        ];
        Some(Tree { span: first.key_span, data: Data::Table(inner) })
    }

    fn missing_points(&mut self, first: &[u32], lacking: usize) {
        let names: Vec<String> = first.iter().map(|k| format!("`{BORN}{k}`")).collect();
        let more = if lacking > first.len() {
            format!(" and {} more", lacking - first.len())
        } else {
            String::new()
        };
        let span = self.single.get("process.num").map(|e| e.value.span);
        let d = Diagnostic::error(
            "missing-key",
            format!("robots have no born point: {}{more}", names.join(", ")),
        );
        self.problems
            .push(d.at(span).help("write them as `bornpoint1 = x, y`, or `bornpoint.random = true`"));
    }
}

fn half(side: &Data) -> Data {
    match side {
        Data::Int(n) if n % 2 == 0 => Data::Int(n / 2),
        Data::Int(n) => Data::Float(*n as f64 / 2.0),
        Data::Float(x) => Data::Float(x / 2.0),
        other => other.clone(),
    }
}

/// The number of a born point's key.
pub(super) fn born_number(key: &str) -> Option<u32> {
    let digits = key.strip_prefix(BORN).filter(|d| !d.starts_with(['0', '+']))?;
    digits.parse().ok()
}
