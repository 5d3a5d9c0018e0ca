//! One key of a sweep and the values it takes.
//!
//! In: a table `[[sweep.axis]]`, or the same in one word of the command line. Out: values as texts, as
//! `--set` takes them. Value n is a function of the axis, the seed of draws and n: no other value, axis
//! or run can change it.

use crate::{Params, Value};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Time, Uid, math};

/// Most values of one axis.
pub const MOST_VALUES: usize = 10_000;

/// One key and what it may be.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// The key, such as `params.robots`.
    pub key: String,
    /// Its values.
    pub spread: Spread,
}

/// Where the values of an axis come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Spread {
    /// They are given.
    List(Vec<String>),
    /// They are counted out, and have the same difference from one to the next or the same ratio.
    Range {
        /// The values.
        values: Vec<String>,
        /// Whether it is the ratio.
        log: bool,
    },
    /// They are drawn.
    Drawn {
        /// How.
        law: Law,
        /// How many; `None` in a sweep by chance, where every point draws one.
        count: Option<usize>,
    },
}

/// How values are drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Law {
    /// Evenly in [from, to); with a step, evenly among the whole steps, `to` included.
    Uniform(Span),
    /// Evenly in the logarithm.
    LogUniform(Span),
    /// Normally.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        sd: f64,
        /// Values are multiples of it.
        step: Option<f64>,
        /// What is written behind the number.
        unit: String,
    },
    /// One of these, evenly.
    Choice(Vec<String>),
}

/// From where to where.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// Least value.
    pub from: f64,
    /// Greatest value.
    pub to: f64,
    /// Values are whole steps from `from`.
    pub step: Option<f64>,
    /// What is written behind the number.
    pub unit: String,
}

impl Axis {
    /// The values, in order. Empty for draws without a count.
    #[must_use]
    pub fn values(&self, draw_seed: u64) -> Vec<String> {
        match &self.spread {
            Spread::List(values) | Spread::Range { values, .. } => values.clone(),
            Spread::Drawn { count, .. } => {
                (0..count.unwrap_or(0)).map(|k| self.sample(draw_seed, k as u32)).collect()
            }
        }
    }

    /// Value `k` of an endless row of values by chance.
    #[must_use]
    pub fn sample(&self, draw_seed: u64, k: u32) -> String {
        let draw = Draw::at(draw_seed, Uid::of_path(&self.key), Purpose::SweepValue, Time(0), 0);
        let one_of = |values: &[String]| {
            let at = (draw.uniform(k) * values.len() as f64) as usize;
            values.get(at.min(values.len().saturating_sub(1))).cloned().unwrap_or_default()
        };
        let law = match &self.spread {
            Spread::List(values) | Spread::Range { values, .. } => return one_of(values),
            Spread::Drawn { law, .. } => law,
        };
        match law {
            Law::Choice(values) => one_of(values),
            Law::Uniform(span) => match span.step {
                None => written(draw.between(k, span.from, span.to), &span.unit),
                Some(step) => {
                    let at = (draw.uniform(k) * (steps(span, step) + 1) as f64).floor();
                    written(span.from + at * step, &span.unit)
                }
            },
            Law::LogUniform(span) => {
                let x = math::exp(draw.between(k, math::ln(span.from), math::ln(span.to)));
                let stepped = |step: f64| span.from + ((x - span.from) / step).round() * step;
                written(span.step.map_or(x, stepped), &span.unit)
            }
            Law::Normal { mean, sd, step, unit } => {
                let x = mean + sd * draw.normal(k);
                written(step.map_or(x, |step| (x / step).round() * step), unit)
            }
        }
    }

    /// Whether its values belong on a logarithmic scale.
    #[must_use]
    pub fn is_log(&self) -> bool {
        matches!(self.spread, Spread::Range { log: true, .. } | Spread::Drawn { law: Law::LogUniform(_), .. })
    }

    /// Whether its values are drawn.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        matches!(self.spread, Spread::Drawn { .. })
    }

    /// Reads the parameters of a `[[sweep.axis]]`.
    ///
    /// # Errors
    /// What does not go together or is no number, at its place.
    pub fn read(params: &Params) -> Result<Axis, Diagnostic> {
        let key = params.text_or_none("key").unwrap_or_default().to_owned();
        let table = Table { params };
        let draw = params.text_or_none("draw");
        let used: &[&str] = match draw {
            None if params.has("values") => &["values"],
            None => &["from", "to", "step", "count", "scale"],
            Some("choice") => &["values", "count"],
            Some("normal") => &["mean", "sd", "step", "count"],
            Some(_) => &["from", "to", "step", "count"],
        };
        for (other, entry) in params.iter() {
            if other != "key" && other != "draw" && !used.contains(&other) {
                let with = draw.map_or_else(|| used[0].to_owned(), |d| format!("draw = \"{d}\""));
                let what = format!("the key does nothing here: `{other}` beside `{with}`");
                return Err(Diagnostic::error("unused-key", what).at(entry.span));
            }
        }
        let count = params.int_or_none("count").and_then(|n| usize::try_from(n).ok());
        let law = match draw {
            None if params.has("values") => {
                return Ok(Axis { key, spread: Spread::List(table.list("values")?) });
            }
            None => return Ok(Axis { key, spread: table.range(count)? }),
            Some("choice") => Law::Choice(table.list("values")?),
            Some("normal") => table.normal()?,
            Some("log-uniform") => Law::LogUniform(table.span(true)?),
            Some(_) => Law::Uniform(table.span(false)?),
        };
        Ok(Axis { key, spread: Spread::Drawn { law, count } })
    }

    /// Reads `params.tape=5mm..40mm/8` and its kin.
    ///
    /// | text | values |
    /// |---|---|
    /// | `a,b,c` | these |
    /// | `a..b/n` | n from a to b, evenly |
    /// | `a..b+s` | from a to b by steps of s |
    /// | `log:a..b/n` | n from a to b, each the same multiple of the one before |
    /// | `uniform:a..b/n`, `log-uniform:a..b/n` | n drawn between a and b |
    /// | `normal:m,s/n` | n drawn around m with the deviation s |
    /// | `choice:a,b,c/n` | n drawn of these |
    ///
    /// # Errors
    /// Says how to write it.
    pub fn parse(text: &str) -> Result<Axis, String> {
        let (key, values) =
            text.split_once('=').ok_or("write it as key=values, such as params.tape=5mm..40mm/8")?;
        let (key, values) = (key.trim(), values.trim());
        if key.is_empty() || values.is_empty() {
            return Err("a key needs a name and values".into());
        }
        let mut params = Params::default();
        let mut set = |name: &str, value: Value| params.set(name, value, None);
        set("key", Value::Text(key.to_owned()));
        let laws = ["log", "uniform", "log-uniform", "normal", "choice"];
        let law = values.split_once(':').filter(|(law, _)| laws.contains(law));
        let (law, rest) = law.unwrap_or(("", values));
        let wrong = || format!("write a range as from..to/count, such as 5mm..40mm/8, not `{values}`");
        let counted = |rest: &str| -> Result<(String, Option<i64>), String> {
            match rest.rsplit_once('/') {
                None => Ok((rest.to_owned(), None)),
                Some((rest, n)) => Ok((rest.to_owned(), Some(n.trim().parse().map_err(|_| wrong())?))),
            }
        };
        let is_range = rest.contains("..") && !rest.starts_with('[');
        if law == "log" {
            set("scale", Value::Text(law.to_owned()));
        } else if !law.is_empty() {
            set("draw", Value::Text(law.to_owned()));
        }
        if law.is_empty() && !is_range {
            set("values", Value::Texts(items(rest)));
            return Axis::read(&params).map_err(|d| d.message);
        }
        let (rest, count) = counted(rest)?;
        if let Some(n) = count {
            if !(1..=MOST_VALUES as i64).contains(&n) {
                return Err(format!("an axis has 1 to {MOST_VALUES} values, not {n}"));
            }
            set("count", Value::Int(n));
        }
        match law {
            "choice" => set("values", Value::Texts(items(&rest))),
            "normal" => {
                let (mean, sd) = rest.split_once(',').ok_or("write normal:mean,deviation/count")?;
                set("mean", Value::Text(mean.trim().to_owned()));
                set("sd", Value::Text(sd.trim().to_owned()));
            }
            _ => {
                let (from, to) = rest.split_once("..").ok_or_else(wrong)?;
                set("from", Value::Text(from.trim().to_owned()));
                // The sign of an exponent is no step.
                let step = to.rfind('+').filter(|&at| at > 0 && !to[..at].ends_with(['e', 'E']));
                let (to, step) = step.map_or((to, None), |at| (&to[..at], Some(&to[at + 1..])));
                set("to", Value::Text(to.trim().to_owned()));
                if let Some(step) = step {
                    set("step", Value::Text(step.trim().to_owned()));
                }
            }
        }
        Axis::read(&params).map_err(|d| d.message)
    }
}

/// What stands between the commas that are not inside brackets.
fn items(text: &str) -> Vec<String> {
    let mut depth = 0_i32;
    let parts = text.split(|c: char| {
        depth += i32::from(c == '[' || c == '{') - i32::from(c == ']' || c == '}');
        c == ',' && depth == 0
    });
    parts.map(|part| part.trim().to_owned()).collect()
}

/// The parameters of an axis.
struct Table<'a> {
    params: &'a Params,
}

impl Table<'_> {
    fn wrong(&self, key: &str, code: &'static str, what: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, what).at(self.params.span(key).or_else(|| self.params.span("key")))
    }

    fn list(&self, key: &str) -> Result<Vec<String>, Diagnostic> {
        let list = match self.params.value(key) {
            Some(Value::Texts(list)) => list.clone(),
            Some(Value::Text(one)) => vec![one.clone()],
            _ => Vec::new(),
        };
        if list.is_empty() || list.len() > MOST_VALUES {
            let what = format!("an axis has 1 to {MOST_VALUES} values, not {}", list.len());
            return Err(self.wrong(key, "out-of-range", what));
        }
        if list.iter().any(String::is_empty) {
            return Err(self.wrong(key, "wrong-type", format!("a value in `{key}` is empty")));
        }
        Ok(list)
    }

    /// A number that must be there, in `unit` when it has a unit of its own.
    fn number(&self, key: &str, unit: Option<&str>) -> Result<Quantity, Diagnostic> {
        let Some(value) = self.params.value(key) else {
            let what = format!("this axis needs the key `{key}`");
            return Err(self.wrong(key, "missing-key", what));
        };
        let Value::Text(text) = value else {
            return Err(self.wrong(key, "wrong-type", format!("`{key}` must be one number")));
        };
        let Some(number) = quantity(text) else {
            let what = format!("`{key}` must be a number, with or without a unit, not `{text}`");
            return Err(self.wrong(key, "wrong-type", what));
        };
        let Some(unit) = unit else { return Ok(number) };
        number.to(unit).ok_or_else(|| {
            let what = format!("`{text}` cannot be measured in `{unit}` as the other numbers of this axis");
            self.wrong(key, "wrong-unit", what)
        })
    }

    /// `from`, `to` and `step`, all in the unit of `to`.
    fn span(&self, log: bool) -> Result<Span, Diagnostic> {
        let to = self.number("to", None)?;
        let from = self.number("from", Some(&to.unit))?.x;
        let step = self.step(&to.unit)?;
        if self.params.has("draw") && from >= to.x {
            return Err(self.wrong("to", "out-of-range", "`to` must be greater than `from`"));
        }
        if log && (from <= 0.0 || to.x <= 0.0) {
            let what = "`from` and `to` must be greater than 0: only such numbers have logarithms";
            return Err(self.wrong("from", "out-of-range", what));
        }
        Ok(Span { from, to: to.x, step, unit: to.unit })
    }

    fn step(&self, unit: &str) -> Result<Option<f64>, Diagnostic> {
        if !self.params.has("step") {
            return Ok(None);
        }
        let step = self.number("step", Some(unit))?.x;
        if step > 0.0 {
            return Ok(Some(step));
        }
        Err(self.wrong("step", "out-of-range", "`step` must be greater than 0"))
    }

    fn normal(&self) -> Result<Law, Diagnostic> {
        let mean = self.number("mean", None)?;
        let sd = self.number("sd", Some(&mean.unit))?.x;
        if sd < 0.0 {
            return Err(self.wrong("sd", "out-of-range", "`sd` cannot be less than 0"));
        }
        Ok(Law::Normal { mean: mean.x, sd, step: self.step(&mean.unit)?, unit: mean.unit })
    }

    fn range(&self, count: Option<usize>) -> Result<Spread, Diagnostic> {
        let log = self.params.text_or_none("scale") == Some("log");
        let span = self.span(log)?;
        let (from, to) = (span.from, span.to);
        let count = match (count, span.step) {
            (Some(n), None) => n,
            (None, Some(_)) if log => {
                return Err(self.wrong("step", "unused-key", "a logarithmic range has a `count`, no `step`"));
            }
            (None, Some(step)) if to >= from => steps(&span, step) + 1,
            (None, Some(_)) => {
                return Err(self.wrong("to", "out-of-range", "by steps, `to` cannot be less than `from`"));
            }
            (None, None) => {
                let what = "a range needs `count` or `step`";
                return Err(self.wrong("from", "missing-key", what));
            }
            (Some(_), Some(_)) => {
                return Err(self.wrong(
                    "step",
                    "unused-key",
                    "`count` says already how many values there are",
                ));
            }
        };
        if !(2..=MOST_VALUES).contains(&count) {
            let key = if span.step.is_some() { "step" } else { "count" };
            let what = format!("a range has 2 to {MOST_VALUES} values, not {count}");
            return Err(self.wrong(key, "out-of-range", what));
        }
        let value = |k: usize| {
            let share = k as f64 / (count - 1) as f64;
            match span.step {
                Some(step) => from + k as f64 * step,
                None if log => math::exp(math::ln(from) + (math::ln(to) - math::ln(from)) * share),
                None => from + (to - from) * share,
            }
        };
        Ok(Spread::Range { values: (0..count).map(|k| written(value(k), &span.unit)).collect(), log })
    }
}

/// Whole steps between the ends; half a millionth of a step is forgiven.
fn steps(span: &Span, step: f64) -> usize {
    let steps = ((span.to - span.from) / step + 5e-7).floor();
    if steps.is_finite() { steps.clamp(0.0, 1e15) as usize } else { usize::MAX >> 1 }
}

/// A number and the unit behind it.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// The number as written.
    pub x: f64,
    /// The unit as written; empty when there is none.
    pub unit: String,
}

/// Reads `40mm`, `-1.5` or `2 m/s`.
#[must_use]
pub fn quantity(text: &str) -> Option<Quantity> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.eE".contains(c))).unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let (x, unit) = (digits.parse().ok().filter(|x: &f64| x.is_finite())?, unit.trim());
    let known = unit.is_empty() || factor_of(unit).is_some();
    known.then(|| Quantity { x, unit: unit.to_owned() })
}

impl Quantity {
    /// The plain number that the text means: in SI when it has a unit.
    #[must_use]
    pub fn si(&self) -> f64 {
        self.x * factor_of(&self.unit).map_or(1.0, |f| f.1)
    }

    /// The same in another unit. A number without a unit is taken to be in it already.
    fn to(&self, unit: &str) -> Option<Quantity> {
        let as_is = || Some(Quantity { x: self.x, unit: unit.to_owned() });
        if self.unit == unit || self.unit.is_empty() {
            return as_is();
        }
        let (a, b) = (factor_of(&self.unit)?, factor_of(unit)?);
        (a.0 == b.0).then(|| Quantity { x: self.x * (a.1 / b.1), unit: unit.to_owned() })
    }
}

/// Dimension and factor of a unit as written.
fn factor_of(suffix: &str) -> Option<(Unit, f64)> {
    let all = Unit::ALL.iter().flat_map(|u| u.suffixes().iter().map(move |s| (*u, *s)));
    all.into_iter().find(|(_, s)| s.0 == suffix).map(|(u, s)| (u, s.1))
}

/// A number with as many digits as a person would write, twelve at most.
fn written(x: f64, unit: &str) -> String {
    let short: f64 = format!("{x:.11e}").parse().unwrap_or(x);
    // No −0.
    format!("{}{unit}", short + 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Result<Vec<String>, String> {
        Axis::parse(text).map(|axis| axis.values(1))
    }

    #[track_caller]
    fn gives(text: &str, wanted: &str) {
        assert_eq!(values(text).map(|v| v.join(" ")), Ok(wanted.to_owned()), "{text}");
    }

    #[test]
    fn values_are_a_list_or_a_range() {
        gives("a.b=1, 2,x", "1 2 x");
        gives("a.b=[1,2],[3,4]", "[1,2] [3,4]");
        gives("w=5mm..20mm/4", "5mm 10mm 15mm 20mm");
        gives("w=0..1/3", "0 0.5 1");
        gives("w=1..0/3", "1 0.5 0");
        gives("w=0.1..0.3cm/3", "0.1cm 0.2cm 0.3cm");
        gives("w=5mm..1cm/2", "0.5cm 1cm");
        gives("w=-1..1+0.5", "-1 -0.5 0 0.5 1");
        gives("w=10..35+10", "10 20 30");
        gives("w=0..0.3+0.1", "0 0.1 0.2 0.3");
        gives("w=1e-3..1e+1/2", "0.001 10");
        gives("w=log:1ms..1s/4", "0.001s 0.01s 0.1s 1s");
        gives("w=log:1..1024/11", "1 2 4 8 16 32 64 128 256 512 1024");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for wrong in [
            "w",
            "w=",
            "=1",
            "w=1..2",
            "w=1..2/1",
            "w=1mm..2s/3",
            "w=a..b/3",
            "w=1,,2",
            "w=1..2/9999999",
            "w=1..2+0",
            "w=2..1+1",
            "w=1..1e300+1e-300",
            "w=log:0..1/3",
            "w=log:1..9+2",
            "w=uniform:2..1/3",
            "w=normal:1/3",
            "w=normal:1,-1/3",
            "w=choice:/3",
            "w=uniform:1..2/x",
            "w=1..2parsec/3",
        ] {
            assert!(values(wrong).is_err(), "{wrong}: {:?}", values(wrong));
        }
    }

    fn drawn(text: &str) -> Vec<f64> {
        values(text).unwrap().iter().map(|v| quantity(v).unwrap().x).collect()
    }

    fn mean_and_sd(all: &[f64]) -> (f64, f64) {
        let n = all.len() as f64;
        let mean = all.iter().sum::<f64>() / n;
        (mean, (all.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt())
    }

    /// Standard errors of the mean of 10 000 are a hundredth of the deviation; four of them are allowed.
    #[test]
    fn draws_have_the_moments_of_their_law() {
        let near = |x: f64, wanted: f64, by: f64| assert!((x - wanted).abs() < by, "{x} is not {wanted}");
        let uniform = drawn("w=uniform:2..8/10000");
        let (mean, sd) = mean_and_sd(&uniform);
        near(mean, 5.0, 4.0 * 0.01 * 6.0 / 12_f64.sqrt());
        near(sd, 6.0 / 12_f64.sqrt(), 0.03);
        assert!(uniform.iter().all(|x| (2.0..8.0).contains(x)));
        let normal = drawn("w=normal:5,0.5/10000");
        let (mean, sd) = mean_and_sd(&normal);
        near(mean, 5.0, 4.0 * 0.01 * 0.5);
        near(sd, 0.5, 0.02);
        let beyond = normal.iter().filter(|x| (*x - 5.0).abs() > 0.5 * 1.959_964).count();
        near(beyond as f64 / 1e4, 0.05, 4.0 * (0.05 * 0.95 / 1e4_f64).sqrt());
        // The logarithm to base 10 of a log-uniform draw between 0.001 and 1 is uniform in [-3, 0).
        let logs: Vec<f64> =
            drawn("w=log-uniform:1ms..1s/10000").iter().map(|x| math::ln(*x) / math::ln(10.0)).collect();
        let (mean, sd) = mean_and_sd(&logs);
        near(mean, -1.5, 4.0 * 0.01 * 3.0 / 12_f64.sqrt());
        near(sd, 3.0 / 12_f64.sqrt(), 0.015);
        let dice = values("w=choice:a,b,c,d/10000").unwrap();
        for face in ["a", "b", "c", "d"] {
            let share = dice.iter().filter(|v| *v == face).count() as f64 / 1e4;
            near(share, 0.25, 4.0 * (0.25 * 0.75 / 1e4_f64).sqrt());
        }
        // With a step both ends come up as often as the rest.
        let whole = drawn("w=uniform:1..6+1/10000");
        for face in 1..=6 {
            let share = whole.iter().filter(|x| **x == f64::from(face)).count() as f64 / 1e4;
            near(share, 1.0 / 6.0, 4.0 * (5.0 / 36.0 / 1e4_f64).sqrt());
        }
    }

    #[test]
    fn a_drawn_value_depends_on_seed_key_and_number_alone() {
        let axis = Axis::parse("params.gap=uniform:1cm..5cm/3").unwrap();
        let longer = Axis::parse("params.gap=uniform:1cm..5cm/300").unwrap();
        // The very digits: they are part of what a sweep promises.
        assert_eq!(axis.values(1), ["2.7198880048cm", "2.1752083346cm", "4.27542195904cm"]);
        assert_eq!(axis.values(1)[..], longer.values(1)[..3]);
        assert_eq!(longer.values(1)[250], axis.sample(1, 250));
        assert_ne!(axis.values(1), axis.values(2));
        let other = Axis::parse("params.gop=uniform:1cm..5cm/3").unwrap();
        assert_ne!(axis.values(1), other.values(1));
    }
}
