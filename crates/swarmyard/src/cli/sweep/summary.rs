//! What a sweep shows at a glance: mean and spread of every measure, as a table of text and as charts.
//!
//! In: plan and rows. Out: text and [`Chart`]s. Runs that failed are counted and otherwise left out.

use super::chart::{Chart, Line, Spot, Ticks};
use super::one::{Ran, Row};
use super::plan::Plan;
use crate::cli::out::count;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use swarmyard::scene::sweep::{Mode, quantity};

/// Most lines of a chart that are told apart by a second axis.
const MOST_LINES: usize = 8;

/// One number of every run.
#[derive(Clone, Copy)]
pub(super) enum Shown {
    Measure(usize),
    /// Share of runs that met all assertions.
    Passed,
    Contacts,
}

impl Shown {
    /// What there is to show: the measures and, if there are assertions, how often they were met.
    pub(super) fn all(plan: &Plan) -> Vec<Shown> {
        let mut all: Vec<Shown> = (0..plan.sweep.measures.len()).map(Shown::Measure).collect();
        if !plan.asserts.is_empty() {
            all.push(Shown::Passed);
        }
        if all.is_empty() {
            all.push(Shown::Contacts);
        }
        all
    }

    pub(super) fn name(self, plan: &Plan) -> &str {
        match self {
            Shown::Measure(k) => &plan.sweep.measures[k].name,
            Shown::Passed => "passed",
            Shown::Contacts => "contacts",
        }
    }

    fn of(self, ran: &Ran) -> Option<f64> {
        match self {
            Shown::Measure(k) => ran.measures.get(k).copied().flatten(),
            Shown::Passed => Some(f64::from(u8::from(ran.passed()))),
            Shown::Contacts => Some(ran.contacts as f64),
        }
    }
}

/// Mean and spread of some numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Stats {
    pub(super) n: usize,
    pub(super) mean: f64,
    /// Standard error of the mean; `None` of one number.
    pub(super) error: Option<f64>,
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Stats {
    /// `None` when there are no numbers.
    pub(super) fn of(values: &[f64]) -> Option<Stats> {
        let n = values.len();
        if n == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let squares: f64 = values.iter().map(|x| (x - mean) * (x - mean)).sum();
        Some(Stats {
            n,
            mean,
            error: (n > 1).then(|| (squares / (n as f64 - 1.0) / n as f64).sqrt()),
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        })
    }
}

/// The numbers of some rows.
fn numbers<'r>(shown: Shown, rows: impl Iterator<Item = &'r Row>) -> Vec<f64> {
    rows.filter_map(|r| r.ran.as_ref().ok().and_then(|ran| shown.of(ran))).collect()
}

/// A table for every number that is shown: a line for every point.
pub(super) fn text(plan: &Plan, rows: &[Row]) -> String {
    let mut out = String::new();
    let seeds = plan.sweep.seeds.len();
    for shown in Shown::all(plan) {
        let keys = plan.sweep.axes.iter().map(|a| a.key.clone());
        let mut cells: Vec<Vec<String>> =
            vec![keys.chain(["n", "mean", "s.e.", "min", "max"].map(Into::into)).collect()];
        for (point, rows) in plan.points.iter().zip(rows.chunks(seeds)) {
            let stats = Stats::of(&numbers(shown, rows.iter()));
            let of = |f: &dyn Fn(&Stats) -> Option<f64>| {
                stats.as_ref().and_then(f).map_or_else(|| "-".to_owned(), short)
            };
            let mut line = point.clone();
            line.push(stats.map_or(0, |s| s.n).to_string());
            line.extend([
                of(&|s| Some(s.mean)),
                of(&|s| s.error),
                of(&|s| Some(s.min)),
                of(&|s| Some(s.max)),
            ]);
            cells.push(line);
        }
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{gap}{}", shown.name(plan));
        aligned(&mut out, &cells, plan.sweep.axes.len());
    }
    let failed = rows.iter().filter(|r| r.ran.is_err()).count();
    let failed = if failed > 0 { format!(", {failed} of them failed") } else { String::new() };
    let _ = writeln!(out, "\n{}{failed}", count(rows.len(), "run"));
    out
}

/// Columns under one another: the first `left` to the left, the others to the right.
fn aligned(out: &mut String, cells: &[Vec<String>], left: usize) {
    let wide = |k: usize| cells.iter().map(|line| line[k].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..cells.first().map_or(0, Vec::len)).map(wide).collect();
    for line in cells {
        let mut text = String::new();
        for (k, (cell, width)) in line.iter().zip(&widths).enumerate() {
            let cell = if k < left { format!("{cell:<width$}") } else { format!("{cell:>width$}") };
            text += &format!("  {cell}");
        }
        let _ = writeln!(out, "{}", text.trim_end());
    }
}

/// The same for programs.
pub(super) fn json(plan: &Plan, rows: &[Row]) -> Value {
    let seeds = plan.sweep.seeds.len();
    let points = plan.points.iter().zip(rows.chunks(seeds)).map(|(point, rows)| {
        let keys = plan.sweep.axes.iter().map(|a| a.key.clone());
        let set: serde_json::Map<String, Value> = keys.zip(point.iter().map(|v| json!(v))).collect();
        let stats = Shown::all(plan).into_iter().filter_map(|shown| {
            let s = Stats::of(&numbers(shown, rows.iter()))?;
            let value =
                json!({ "n": s.n, "mean": s.mean, "standard_error": s.error, "min": s.min, "max": s.max });
            Some((shown.name(plan).to_owned(), value))
        });
        json!({ "set": set, "measures": stats.collect::<serde_json::Map<String, Value>>() })
    });
    points.collect()
}

/// A number with five digits.
pub(super) fn short(x: f64) -> String {
    if x != 0.0 && !(1e-4..1e7).contains(&x.abs()) {
        return format!("{x:.4e}");
    }
    let short: f64 = format!("{x:.4e}").parse().unwrap_or(x);
    (short + 0.0).to_string()
}

/// The chart of one number over one axis, a line for each value of another. `None` when nothing varies.
pub(super) fn chart(
    plan: &Plan,
    rows: &[Row],
    shown: Shown,
    over: Option<usize>,
    by: Option<usize>,
) -> Option<Chart> {
    let varies = |k: &usize| rows.iter().any(|r| r.values[*k] != rows[0].values[*k]);
    let mut axes = (0..plan.sweep.axes.len()).filter(varies);
    let over = over.or_else(|| axes.clone().find(|k| Some(*k) != by))?;
    // Zipped axes vary together: a line for each value would have one point.
    let other = || axes.find(|k| *k != over).filter(|_| plan.sweep.mode == Mode::Grid);
    let by = by.or_else(other).filter(|k| distinct(rows, *k).len() <= MOST_LINES && *k != over);
    let axis = &plan.sweep.axes[over];
    let values = distinct(rows, over);
    let numbers_of: Option<Vec<f64>> = values.iter().map(|v| quantity(v).map(|q| q.si())).collect();
    let at = numbers_of.clone().unwrap_or_else(|| (0..values.len()).map(|k| k as f64).collect());
    let log = axis.is_log() && at.iter().all(|x| *x > 0.0) && numbers_of.is_some();
    let by_chance =
        numbers_of.is_some() && (axis.is_drawn() || plan.sweep.mode == Mode::Random && values.len() > 12);
    let groups = by.map_or_else(|| vec![String::new()], |k| distinct(rows, k));
    let line = |name: &String| {
        let spots = values.iter().zip(&at).filter_map(|(value, x)| {
            let here =
                rows.iter().filter(|r| r.values[over] == *value && by.is_none_or(|k| r.values[k] == *name));
            Stats::of(&numbers(shown, here)).map(|stats| Spot { x: *x, stats })
        });
        let mut spots: Vec<Spot> =
            spots.filter(|s| s.stats.min.is_finite() && s.stats.max.is_finite()).collect();
        spots.sort_by(|a, b| a.x.total_cmp(&b.x));
        Line { name: name.clone(), spots }
    };
    let unit = if by_chance && values.iter().any(|v| quantity(v).is_some_and(|q| !q.unit.is_empty())) {
        ", SI units"
    } else {
        ""
    };
    let what = match shown {
        Shown::Passed => "share of runs that meet all assertions",
        _ => shown.name(plan),
    };
    Some(Chart {
        title: what.to_owned(),
        file: plan.file.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default(),
        x: format!("{}{unit}", axis.key),
        log,
        ticks: if by_chance {
            Ticks::Chosen
        } else {
            Ticks::At(at.iter().copied().zip(values.clone()).collect())
        },
        joined: !by_chance,
        share: matches!(shown, Shown::Passed),
        series: by.map_or_else(String::new, |k| plan.sweep.axes[k].key.clone()),
        lines: groups.iter().map(line).collect(),
    })
}

/// The values of an axis, in the order in which they come up.
fn distinct(rows: &[Row], k: usize) -> Vec<String> {
    let mut seen = BTreeSet::new();
    rows.iter().map(|r| &r.values[k]).filter(|v| seen.insert((*v).clone())).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_and_standard_error_are_those_of_the_textbook() {
        // 2, 4, 4, 4, 5, 5, 7, 9: mean 5, sum of squares 32, so s² = 32/7 and the error √(32/7/8) = √(4/7).
        let s = Stats::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
        assert_eq!((s.n, s.mean, s.min, s.max), (8, 5.0, 2.0, 9.0));
        assert!((s.error.unwrap() - (4.0_f64 / 7.0).sqrt()).abs() < 1e-15);
        assert_eq!(Stats::of(&[3.0]).unwrap().error, None);
        assert_eq!(Stats::of(&[]), None);
    }

    #[test]
    fn numbers_are_shown_with_five_digits() {
        let shown = [0.0, 1.0, 0.333_333_33, 123_456.0, 1e-9, -2.5e9].map(short);
        assert_eq!(shown, ["0", "1", "0.33333", "123460", "1.0000e-9", "-2.5000e9"]);
    }
}
