//! What a sweep runs: points, seeds, and what is measured.
//!
//! In: the node `/sweep` of a scene. Out: a [`Sweep`], and from it the [points](Sweep::points): one text
//! for every axis. Nothing is run here, and no path of a measure is looked up.

mod axis;

pub use axis::{Axis, Law, MOST_VALUES, Quantity, Span, Spread, quantity};

use crate::{Node, Params, Value};
use std::collections::BTreeSet;
use swarmyard_base::Diagnostic;

/// Most runs of one sweep.
pub const MOST_RUNS: usize = 100_000;

/// Columns of the table that every sweep has; no measure may be called so.
pub const FIXED_COLUMNS: [&str; 9] =
    ["run", "seed", "passed", "met", "assertions", "contacts", "end_s", "hash", "error"];

/// A whole sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// How axes go together.
    pub mode: Mode,
    /// Points of a sweep by chance.
    pub samples: Option<usize>,
    /// Seeds of the runs at every point.
    pub seeds: Vec<u64>,
    /// Seed of the values that axes draw.
    pub draw_seed: u64,
    /// Duration of every run in seconds, when it is not the scenario's.
    pub until_s: Option<f64>,
    /// What varies.
    pub axes: Vec<Axis>,
    /// What is taken of every run.
    pub measures: Vec<Measure>,
}

impl Default for Sweep {
    fn default() -> Sweep {
        Sweep {
            mode: Mode::Grid,
            samples: None,
            seeds: vec![1],
            draw_seed: 1,
            until_s: None,
            axes: Vec::new(),
            measures: Vec::new(),
        }
    }
}

/// How the axes of a sweep go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Every combination, the last axis changing fastest.
    Grid,
    /// The first values of all axes, then the second, and so on.
    Zip,
    /// Points by chance.
    Random,
}

impl Mode {
    /// The mode of that name.
    #[must_use]
    pub fn of(word: &str) -> Option<Mode> {
        match word {
            "grid" => Some(Mode::Grid),
            "zip" => Some(Mode::Zip),
            "random" => Some(Mode::Random),
            _ => None,
        }
    }
}

/// A number that is taken of every run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Name of the column.
    pub name: String,
    /// The number, in the language of conditions.
    pub of: String,
    /// The condition under which a quantum counts.
    pub when: Option<String>,
    /// Which of the numbers.
    pub take: Take,
}

/// Which number of a run a measure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Take {
    /// That of the last quantum that counts.
    End,
    /// That of the first.
    First,
    /// The mean of all.
    Mean,
    /// The least.
    Min,
    /// The greatest.
    Max,
}

impl Take {
    /// The words for them.
    pub const WORDS: [(&'static str, Take); 5] = [
        ("end", Take::End),
        ("first", Take::First),
        ("mean", Take::Mean),
        ("min", Take::Min),
        ("max", Take::Max),
    ];

    /// The one of that name.
    #[must_use]
    pub fn of(word: &str) -> Option<Take> {
        Take::WORDS.iter().find(|w| w.0 == word).map(|w| w.1)
    }
}

impl Measure {
    /// Reads `NAME=of` or `NAME=take:of`.
    ///
    /// # Errors
    /// Says how to write it.
    pub fn parse(text: &str) -> Result<Measure, String> {
        let wrong = "write it as name=number, such as speed=mean(self.speed), or name=max:number";
        let (name, of) = text.split_once('=').ok_or(wrong)?;
        let take = of.split_once(':').and_then(|(word, of)| Some((Take::of(word.trim())?, of)));
        let (take, of) = take.unwrap_or((Take::End, of));
        let (name, of) = (name.trim(), of.trim());
        if name.is_empty() || of.is_empty() {
            return Err(wrong.into());
        }
        bad_name(name)?;
        crate::expr::parse(of).map_err(|e| format!("in `{of}`: {}", e.message))?;
        Ok(Measure { name: name.to_owned(), of: of.to_owned(), when: None, take })
    }
}

fn bad_name(name: &str) -> Result<(), String> {
    if name.is_empty() || name.chars().count() > 64 || name.chars().any(char::is_control) {
        return Err("the name of a measure has 1 to 64 letters".into());
    }
    if FIXED_COLUMNS.contains(&name) {
        return Err(format!("every table has a column `{name}` already: give the measure another name"));
    }
    Ok(())
}

/// Reads `5` (1 to 5), `3..9` or `1,4,7`.
///
/// # Errors
/// Says what is wrong with it.
pub fn seeds(text: &str) -> Result<Vec<u64>, String> {
    let (from, to) = if let Some((from, to)) = text.split_once("..") {
        (seed(from)?, seed(to)?)
    } else if text.contains(',') {
        return checked(text.split(',').map(seed).collect::<Result<_, _>>()?);
    } else {
        (1, seed(text)?)
    };
    if from > to || to - from >= MOST_VALUES as u64 {
        return Err(format!("a sweep has 1 to {MOST_VALUES} seeds, not `{text}`"));
    }
    Ok((from..=to).collect())
}

fn seed(text: &str) -> Result<u64, String> {
    let wrong = || format!("seeds are a number of them, a range such as 5..14 or a list, not `{text}`");
    text.trim().parse().ok().filter(|n: &u64| *n <= i64::MAX.unsigned_abs()).ok_or_else(wrong)
}

fn checked(list: Vec<u64>) -> Result<Vec<u64>, String> {
    if list.is_empty() || list.len() > MOST_VALUES {
        return Err(format!("a sweep has 1 to {MOST_VALUES} seeds, not {}", list.len()));
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = list.iter().find(|s| !seen.insert(**s)) {
        return Err(format!(
            "the seed `{twice}` stands there twice: the same run again would tell nothing new"
        ));
    }
    Ok(list)
}

impl Sweep {
    /// Reads the node `/sweep`. What a sheet has refused already is passed over.
    ///
    /// # Errors
    /// Everything that is wrong, each at its place.
    pub fn read(node: &Node) -> Result<Sweep, Vec<Diagnostic>> {
        let mut problems = Vec::new();
        let params = &node.params;
        let mut sweep = Sweep {
            mode: params.text_or_none("mode").and_then(Mode::of).unwrap_or(Mode::Grid),
            samples: params.int_or_none("samples").and_then(|n| usize::try_from(n).ok()),
            draw_seed: params.int_or_none("draw_seed").map_or(1, i64::unsigned_abs),
            until_s: params.num_or_none("until"),
            ..Sweep::default()
        };
        match read_seeds(params) {
            Ok(seeds) => sweep.seeds = seeds,
            Err(what) => problems.push(Diagnostic::error("bad-seeds", what).at(params.span("seeds"))),
        }
        for child in &node.children {
            match &*child.class {
                "axis" => match Axis::read(&child.params) {
                    Ok(axis) => sweep.axes.push(axis),
                    Err(d) => problems.push(d),
                },
                _ => match read_measure(&child.params) {
                    Ok(measure) => sweep.measures.extend(measure),
                    Err(d) => problems.push(d),
                },
            }
        }
        if problems.is_empty()
            && let Err(what) = sweep.fits()
        {
            problems.push(Diagnostic::error("bad-sweep", what).at(node.span));
        }
        if problems.is_empty() { Ok(sweep) } else { Err(problems) }
    }

    /// Whether all of it goes together.
    ///
    /// # Errors
    /// Says what does not.
    pub fn fits(&self) -> Result<(), String> {
        let random = self.mode == Mode::Random;
        match (random, self.samples) {
            (true, None) => return Err("a sweep by chance needs `samples`: how many points".into()),
            (false, Some(_)) => return Err("`samples` does nothing without the mode `random`".into()),
            _ => {}
        }
        let mut keys = BTreeSet::new();
        for axis in &self.axes {
            let key = &axis.key;
            if !keys.insert(key) {
                return Err(format!("two axes vary the key `{key}`"));
            }
            if key == "run.seed" {
                return Err("`run.seed` is no axis: give `seeds`".into());
            }
            if key == "run.duration" && self.until_s.is_some() {
                return Err(
                    "`until` says already how long every run lasts: vary `run.duration` without it".into()
                );
            }
            match &axis.spread {
                Spread::Drawn { count: None, .. } if !random => {
                    return Err(format!("the draws of `{key}` need a `count`, or the mode `random`"));
                }
                Spread::Drawn { count: Some(_), .. } if random => {
                    return Err(format!(
                        "in the mode `random`, `samples` says how many: `{key}` has no `count`"
                    ));
                }
                _ => {}
            }
        }
        let mut names = BTreeSet::new();
        for measure in &self.measures {
            let name = measure.name.as_str();
            if !names.insert(name) || keys.iter().any(|k| *k == name) {
                return Err(format!("two columns would be called `{name}`"));
            }
        }
        let points = self.count()?;
        let runs = points.saturating_mul(self.seeds.len());
        if runs > MOST_RUNS {
            return Err(format!("that is {runs} runs; at most {MOST_RUNS} are done at once"));
        }
        Ok(())
    }

    /// How many points there are.
    fn count(&self) -> Result<usize, String> {
        let mut lengths = self.axes.iter().map(|a| match &a.spread {
            Spread::List(values) | Spread::Range { values, .. } => values.len(),
            Spread::Drawn { count, .. } => count.unwrap_or(1),
        });
        match self.mode {
            Mode::Random => Ok(self.samples.unwrap_or(1)),
            Mode::Grid => Ok(lengths.fold(1, usize::saturating_mul)),
            Mode::Zip => {
                let first = lengths.next().unwrap_or(1);
                let other = self.axes.iter().skip(1).zip(lengths).find(|(_, n)| *n != first);
                match other {
                    None => Ok(first),
                    Some((axis, n)) => Err(format!(
                        "axes that are zipped have the same number of values: `{}` has {first}, `{}` has {n}",
                        self.axes[0].key, axis.key
                    )),
                }
            }
        }
    }

    /// The points, in order: one value for every axis.
    ///
    /// # Errors
    /// When the parts of the sweep do not go together.
    pub fn points(&self) -> Result<Vec<Vec<String>>, String> {
        self.fits()?;
        let count = self.count()?;
        if self.mode == Mode::Random {
            let point = |k: usize| self.axes.iter().map(|a| a.sample(self.draw_seed, k as u32)).collect();
            return Ok((0..count).map(point).collect());
        }
        let values: Vec<Vec<String>> = self.axes.iter().map(|a| a.values(self.draw_seed)).collect();
        let point = |k: usize| {
            if self.mode == Mode::Zip {
                return values.iter().map(|v| v[k].clone()).collect();
            }
            let mut rest = k;
            let mut point: Vec<String> = Vec::with_capacity(values.len());
            for values in values.iter().rev() {
                point.push(values[rest % values.len()].clone());
                rest /= values.len();
            }
            point.reverse();
            point
        };
        Ok((0..count).map(point).collect())
    }
}

fn read_seeds(params: &Params) -> Result<Vec<u64>, String> {
    match params.value("seeds") {
        Some(Value::Text(text)) => seeds(text),
        Some(Value::Texts(list)) => checked(list.iter().map(|t| seed(t)).collect::<Result<_, _>>()?),
        _ => Ok(vec![1]),
    }
}

fn read_measure(params: &Params) -> Result<Option<Measure>, Diagnostic> {
    let (Some(name), Some(of)) = (params.text_or_none("name"), params.text_or_none("of")) else {
        return Ok(None);
    };
    bad_name(name).map_err(|what| Diagnostic::error("bad-name", what).at(params.span("name")))?;
    Ok(Some(Measure {
        name: name.to_owned(),
        of: of.to_owned(),
        when: params.text_or_none("when").map(str::to_owned),
        take: params.text_or_none("take").and_then(Take::of).unwrap_or(Take::End),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sweep(mode: Mode, axes: &[&str]) -> Sweep {
        let axes = axes.iter().map(|a| Axis::parse(a).unwrap()).collect();
        Sweep { mode, axes, ..Sweep::default() }
    }

    fn points(sweep: &Sweep) -> Vec<String> {
        sweep.points().unwrap().iter().map(|p| p.join(" ")).collect()
    }

    #[test]
    fn a_grid_has_every_combination_and_the_last_axis_changes_fastest() {
        let grid = sweep(Mode::Grid, &["a=1,2", "b=x,y,z"]);
        assert_eq!(points(&grid), ["1 x", "1 y", "1 z", "2 x", "2 y", "2 z"]);
        assert_eq!(points(&sweep(Mode::Grid, &[])), [""]);
    }

    #[test]
    fn zipped_axes_go_in_step_and_have_the_same_length() {
        assert_eq!(points(&sweep(Mode::Zip, &["a=1,2", "b=x,y"])), ["1 x", "2 y"]);
        let what = sweep(Mode::Zip, &["a=1,2", "b=x,y", "c=1..3/3"]).points().unwrap_err();
        assert!(what.contains("`a` has 2, `c` has 3"), "{what}");
    }

    #[test]
    fn points_by_chance_do_not_depend_on_how_many_there_are_or_on_other_axes() {
        let of = |samples: usize, axes: &[&str]| {
            points(&Sweep { samples: Some(samples), ..sweep(Mode::Random, axes) })
        };
        let axes = ["a=uniform:0..1", "b=x,y,z", "c=log:1..100/3"];
        let long = of(200, &axes);
        assert_eq!(of(5, &axes), long[..5]);
        let alone = of(5, &axes[..1]);
        assert!(alone.iter().zip(&long).all(|(a, all)| all.starts_with(a.as_str())));
        assert!(["x", "y", "z"].iter().all(|v| long.iter().any(|p| p.contains(v))));
        assert!(["1", "10", "100"].iter().all(|v| long.iter().any(|p| p.ends_with(&format!(" {v}")))));
    }

    #[test]
    fn seeds_are_a_number_a_range_or_a_list() {
        assert_eq!(seeds("3"), Ok(vec![1, 2, 3]));
        assert_eq!(seeds("5..7"), Ok(vec![5, 6, 7]));
        assert_eq!(seeds("9, 2,4"), Ok(vec![9, 2, 4]));
        for wrong in ["", "0", "7..5", "1,1", "x", "-1", "1..99999", "99999999999999999999"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_does_not_go_together_is_said() {
        let says = |sweep: &Sweep, word: &str| {
            let what = sweep.fits().expect_err(word);
            assert!(what.contains(word), "{what}");
        };
        says(&sweep(Mode::Random, &["a=1,2"]), "samples");
        says(&Sweep { samples: Some(3), ..sweep(Mode::Grid, &["a=1,2"]) }, "samples");
        says(&sweep(Mode::Grid, &["a=1,2", "a=3"]), "two axes");
        says(&sweep(Mode::Grid, &["run.seed=1,2"]), "seeds");
        says(&Sweep { until_s: Some(1.0), ..sweep(Mode::Grid, &["run.duration=1,2"]) }, "until");
        says(&sweep(Mode::Grid, &["a=uniform:1..2"]), "count");
        says(&Sweep { samples: Some(3), ..sweep(Mode::Random, &["a=uniform:1..2/5"]) }, "no `count`");
        says(&sweep(Mode::Grid, &["a=1..1000/1000", "b=1..1000/1000"]), "1000000 runs");
        let measures = vec![Measure::parse("n=contacts").unwrap(), Measure::parse("n=max:contacts").unwrap()];
        says(&Sweep { measures, ..Sweep::default() }, "two columns");
    }

    #[test]
    fn measures_are_checked_when_they_are_written() {
        let measure = Measure::parse("speed = max:mean(self.speed)").unwrap();
        assert_eq!(
            (measure.name.as_str(), measure.of.as_str(), measure.take),
            ("speed", "mean(self.speed)", Take::Max)
        );
        assert_eq!(Measure::parse("t=time").unwrap().take, Take::End);
        for wrong in ["speed", "=time", "x=", "x=tme", "x=max:", "hash=time"] {
            assert!(Measure::parse(wrong).is_err(), "{wrong}");
        }
    }
}
