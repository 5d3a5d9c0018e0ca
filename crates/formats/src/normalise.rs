//! What a person types into a field, to a value that a scenario can hold.
//!
//! In: a parameter of a sheet, and the text as typed: `25cm`, `0.3*2`, `red brick`, `1, 2m, 90deg`.
//! Out: the value as TOML, ready for a change, or a diagnostic that names what is allowed. A number with
//! a unit stays as typed; arithmetic becomes the plain number in SI units. Texts with `${…}` are left to
//! the reader, which knows the parameters.

use crate::convert::convert;
use crate::document::rounded;
use crate::tree::{Data, Tree, parse, shortened};
use swarmyard_base::path::is_name;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, SourceId};
use swarmyard_part_api::{Param, ParamType};

/// Longest text of a field, in bytes.
const MAX_TYPED: usize = 1 << 20;
/// Deepest brackets of arithmetic.
const MAX_DEPTH: usize = 32;

/// Turns what was typed for a parameter into the TOML of its value.
///
/// # Errors
/// When it is not of the parameter's type or out of its range.
pub fn normalise(param: &Param, typed: &str) -> Result<String, Diagnostic> {
    let typed = typed.trim();
    if typed.len() > MAX_TYPED {
        return Err(Diagnostic::error(
            "too-big",
            format!("`{}` may have at most `{MAX_TYPED}` bytes", param.name),
        ));
    }
    if typed.contains("${") {
        return Ok(as_text(typed));
    }
    let toml = toml_of(param, typed).map_err(|d| with_range(param, d))?;
    let tree = value_of(&toml).ok_or_else(|| wrong(param, typed))?;
    if let ParamType::Inline(_) = param.ty {
        return if tree.table().is_some() { Ok(toml) } else { Err(wrong(param, typed)) };
    }
    let mut checked = convert(param.name, &tree, &param.ty).and_then(|v| param.check(&v));
    if let (Ok(()), ParamType::Name(_), Some(name)) = (&checked, param.ty, tree.text())
        && !is_name(name)
    {
        checked = Err(Diagnostic::error("bad-name", format!("not a name: `{}`", shortened(name))));
    }
    // The place is one in the field, which has no lines.
    checked.map(|()| toml).map_err(|d| with_range(param, d.at(None)))
}

/// Adds the allowed range where the diagnostic has no advice of its own.
fn with_range(param: &Param, d: Diagnostic) -> Diagnostic {
    let range = param.ty.range_words();
    if range.is_empty() || d.help.as_ref().is_some_and(|h| h.contains(&range)) {
        return d;
    }
    let help = d.help.clone().map_or(String::new(), |h| format!("{h}; "));
    d.help(format!("{help}allowed: {range} ({})", param.ty.words()))
}

fn wrong(param: &Param, typed: &str) -> Diagnostic {
    let what = format!("`{}` must be: {}, not `{}`", param.name, param.ty.words(), shortened(typed));
    with_range(param, Diagnostic::error("wrong-type", what))
}

fn toml_of(param: &Param, typed: &str) -> Result<String, Diagnostic> {
    let bad = || wrong(param, typed);
    match param.ty {
        ParamType::Bool | ParamType::Inline(_) => Ok(typed.to_owned()),
        ParamType::Loose => match value_of(typed) {
            Some(_) => Ok(typed.to_owned()),
            None => Ok(as_text(typed)),
        },
        ParamType::Text | ParamType::Choice(_) | ParamType::Name(_) | ParamType::File(_) => {
            Ok(as_text(&unquoted(typed)))
        }
        ParamType::Int { .. } => match value_of(typed).map(|t| t.data) {
            Some(Data::Int(_)) => Ok(typed.to_owned()),
            _ => {
                let x = arithmetic(typed, Unit::None).map_err(|why| bad().help(why))?;
                // Beyond this a float does not hold every whole number.
                if x.fract() != 0.0 || x.abs() > 9e15 {
                    return Err(bad());
                }
                Ok(x.to_string())
            }
        },
        ParamType::Number { unit, .. } => number(param, typed, unit),
        ParamType::Period => match Unit::Second.parse_ratio(&unquoted(typed)) {
            Ok(_) => Ok(plain_or_text(&unquoted(typed))),
            Err(_) => number(param, typed, Unit::Second),
        },
        ParamType::Numbers { unit, .. } => list(typed, &|item, _| number(param, item, unit)),
        ParamType::Texts => list(typed, &|item, _| Ok(as_text(&unquoted(item)))),
        ParamType::Point => row(param, typed, &[Unit::Metre; 2]),
        ParamType::Pose => row(param, typed, &[Unit::Metre, Unit::Metre, Unit::Radian]),
        ParamType::Points { .. } => list(typed, &|item, _| row(param, item, &[Unit::Metre; 2])),
        ParamType::Rows(columns) => {
            let units: Vec<Unit> = columns.iter().map(|c| c.1).collect();
            list(typed, &|item, _| row(param, item, &units))
        }
    }
}

fn row(param: &Param, typed: &str, units: &[Unit]) -> Result<String, Diagnostic> {
    list(typed, &|item, k| match units.get(k) {
        Some(unit) => number(param, item, *unit),
        None => Err(wrong(param, typed)),
    })
}

/// A number: as typed when the reader understands it, else worked out.
fn number(param: &Param, typed: &str, unit: Unit) -> Result<String, Diagnostic> {
    let typed = unquoted(typed);
    let as_typed = match unit.parse(&typed) {
        Ok(_) => return Ok(plain_or_text(&typed)),
        Err(why) => why,
    };
    // A plain mistake in a unit is better explained by the unit itself.
    let is_sum = typed.contains(['+', '*', '(', '/', '−']) || typed.trim_start_matches('-').contains('-');
    let worked_out = arithmetic(&typed, unit).map_err(|why| if is_sum { why } else { as_typed });
    worked_out.map(|x| x.to_string()).map_err(|why| {
        let code = match &why {
            w if w.contains("finite") => "not-finite",
            w if w.contains("unit") => "wrong-unit",
            _ => "wrong-type",
        };
        Diagnostic::error(code, format!("`{}` cannot be `{}`", param.name, shortened(&typed))).help(why)
    })
}

/// A number as it is when TOML takes it for one, else as a text.
fn plain_or_text(typed: &str) -> String {
    match value_of(typed).map(|t| t.data) {
        Some(Data::Int(_) | Data::Float(_)) => typed.to_owned(),
        _ => as_text(typed),
    }
}

fn as_text(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// What a text in quotes says; any other text as it is.
fn unquoted(typed: &str) -> String {
    let typed = typed.trim();
    match value_of(typed).map(|t| t.data) {
        Some(Data::Str(said)) => said,
        _ => typed.to_owned(),
    }
}

/// One TOML value.
fn value_of(text: &str) -> Option<Tree> {
    let tree = parse(&format!("v = {text}"), SourceId(0)).ok()?;
    match tree.data {
        Data::Table(mut entries) if entries.len() == 1 => entries.pop().map(|e| e.1),
        _ => None,
    }
}

type Element<'e> = &'e dyn Fn(&str, usize) -> Result<String, Diagnostic>;

/// A list, typed with its brackets or without.
fn list(typed: &str, element: Element<'_>) -> Result<String, Diagnostic> {
    let typed = typed.trim();
    let items = elements(typed);
    let inner = match items.as_slice() {
        // `[1, 2]` is the whole list, `[1, 2], [3, 4]` its elements.
        [only] if only.starts_with('[') && only.ends_with(']') => elements(&only[1..only.len() - 1]),
        _ => items,
    };
    let written: Result<Vec<String>, Diagnostic> =
        inner.iter().enumerate().map(|(k, item)| element(item, k)).collect();
    Ok(format!("[{}]", written?.join(", ")))
}

/// What stands between the commas that are not inside brackets or quotes.
fn elements(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let (mut depth, mut start) = (0_i64, 0);
    let mut quote = None;
    for (k, c) in text.char_indices() {
        match (quote, c) {
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '(' | '{') => depth += 1,
            (None, ']' | ')' | '}') => depth -= 1,
            (None, ',') if depth == 0 => {
                out.push(text[start..k].trim());
                start = k + 1;
            }
            _ => {}
        }
    }
    // A comma at the end ends the list.
    let last = text[start..].trim();
    if !last.is_empty() {
        out.push(last);
    }
    out
}

/// Works out `25cm + 2 * (1m - 3mm)` in SI units.
///
/// Plain numbers are factors, or SI where they are added to something with a unit.
fn arithmetic(text: &str, unit: Unit) -> Result<f64, String> {
    let text = text.replace('−', "-").replace(['×', '·'], "*");
    let mut sum = Sum { rest: &text, unit, depth: 0 };
    let value = sum.terms()?;
    if !sum.rest.trim_start().is_empty() {
        return Err(format!("expected an operator before `{}`", shortened(sum.rest.trim_start())));
    }
    if value.power != 1 && value.measured {
        return Err("the units do not fit: they cancel out or are multiplied".into());
    }
    if !value.x.is_finite() {
        return Err("the result is not a finite number".into());
    }
    // Shorter where it makes no difference: 0.3 * 2 is 0.6, not 0.6 and a bit.
    let short = rounded(value.x);
    Ok(if (short - value.x).abs() <= 1e-12 * value.x.abs() { short } else { value.x })
}

/// A number on its way, and how often the unit is in it.
#[derive(Clone, Copy)]
struct Measured {
    x: f64,
    power: i32,
    /// Whether any unit was written.
    measured: bool,
}

struct Sum<'t> {
    rest: &'t str,
    unit: Unit,
    depth: usize,
}

impl Sum<'_> {
    fn eat(&mut self, operators: [char; 2]) -> Option<char> {
        let rest = self.rest.trim_start();
        let found = rest.chars().next().filter(|c| operators.contains(c))?;
        self.rest = &rest[found.len_utf8()..];
        Some(found)
    }

    fn terms(&mut self) -> Result<Measured, String> {
        let mut left = self.factors()?;
        while let Some(operator) = self.eat(['+', '-']) {
            let right = self.factors()?;
            if left.measured && right.measured && left.power != right.power {
                return Err("the units do not fit: only like can be added to like".into());
            }
            left = Measured {
                x: if operator == '+' { left.x + right.x } else { left.x - right.x },
                power: left.power.max(right.power),
                measured: left.measured || right.measured,
            };
        }
        Ok(left)
    }

    fn factors(&mut self) -> Result<Measured, String> {
        let mut left = self.operand()?;
        while let Some(operator) = self.eat(['*', '/']) {
            let right = self.operand()?;
            let (x, power) = match operator {
                '*' => (left.x * right.x, left.power.saturating_add(right.power)),
                _ => (left.x / right.x, left.power.saturating_sub(right.power)),
            };
            left = Measured { x, power, measured: left.measured || right.measured };
        }
        Ok(left)
    }

    fn operand(&mut self) -> Result<Measured, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("brackets and signs may be nested at most {MAX_DEPTH} deep"));
        }
        let value = if let Some(sign) = self.eat(['-', '+']) {
            let inner = self.operand()?;
            Measured { x: if sign == '-' { -inner.x } else { inner.x }, ..inner }
        } else if self.eat(['(', '(']).is_some() {
            let inner = self.terms()?;
            self.eat([')', ')']).ok_or("a bracket is not closed")?;
            inner
        } else {
            self.number()?
        };
        self.depth -= 1;
        Ok(value)
    }

    /// A number, and the longest unit that is written behind it.
    fn number(&mut self) -> Result<Measured, String> {
        let text = self.rest.trim_start();
        let digits = |t: &str| t.len() - t.trim_start_matches(|c: char| c.is_ascii_digit() || c == '.').len();
        let mut end = digits(text);
        let exponent = text[end..].strip_prefix(['e', 'E']).map(|e| e.trim_start_matches(['+', '-']));
        if let Some(after) = exponent.filter(|e| e.starts_with(|c: char| c.is_ascii_digit())) {
            end = text.len() - after.len() + digits(after);
        }
        let x: f64 =
            text[..end].parse().map_err(|_| format!("expected a number, found `{}`", shortened(text)))?;
        let behind = text[end..].trim_start();
        let letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '²' | '°' | '%');
        let fits = |s: &&(&str, f64)| behind.strip_prefix(s.0).is_some_and(|b| !b.starts_with(letter));
        let suffix = self.unit.suffixes().iter().filter(fits).max_by_key(|s| s.0.len());
        if let Some(&(suffix, factor)) = suffix {
            self.rest = &behind[suffix.len()..];
            let measured = self.unit != Unit::None;
            return Ok(Measured { x: x * factor, power: i32::from(measured), measured });
        }
        if behind.starts_with(letter) {
            let word: String = behind.chars().take_while(|c| letter(*c) || *c == '/').collect();
            let valid: Vec<&str> = self.unit.suffixes().iter().map(|s| s.0).collect();
            let shown = shortened(&word);
            return Err(format!("`{shown}` is not a unit that fits here (valid: {})", valid.join(", ")));
        }
        self.rest = &text[end..];
        Ok(Measured { x, power: 0, measured: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length() -> Param {
        Param::number("range", Unit::Metre, "").within(0.01, 100.0)
    }

    #[track_caller]
    fn becomes(param: &Param, typed: &str, toml: &str) {
        assert_eq!(normalise(param, typed).unwrap_or_else(|d| panic!("{typed}: {d:?}")), toml);
    }

    #[track_caller]
    fn refuses(param: &Param, typed: &str, code: &str, says: &str) {
        let d = normalise(param, typed).expect_err(typed);
        let all = format!("{} {}", d.message, d.help.clone().unwrap_or_default());
        assert!(d.code == code && all.contains(says), "{typed}: {d:?}");
    }

    #[test]
    fn numbers_stay_as_typed_and_arithmetic_becomes_a_plain_number() {
        for (typed, toml) in [
            ("0.5", "0.5"),
            (" 25cm ", "\"25cm\""),
            ("\"25cm\"", "\"25cm\""),
            ("25 cm", "\"25 cm\""),
            ("1/4 m", "\"1/4 m\""),
            ("0.3*2", "0.6"),
            ("0.1+0.2", "0.3"),
            ("25cm+1m", "1.25"),
            ("2*(1m - 3mm)", "1.994"),
            ("1 m / 3", "0.3333333333333333"),
            ("5 − 2", "3"),
            ("-(-2)", "2"),
            ("1e-1 + 1", "1.1"),
            ("25cm + 1", "1.25"),
        ] {
            becomes(&length(), typed, toml);
        }
        let angle = Param::number("turn", Unit::Radian, "");
        becomes(&angle, "90deg", "\"90deg\"");
        becomes(&angle, "360°/4", "1.5707963267948966");
        let speed = Param::number("speed", Unit::MetrePerSecond, "");
        becomes(&speed, "2*1m/s", "2");
        becomes(&speed, "36km/h / 2", "5");
        becomes(&Param::number("share", Unit::None, ""), "10% + 0.2", "0.3");
        becomes(&length(), "${gap}", "\"${gap}\"");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_the_range_is_named() {
        refuses(&length(), "200m", "out-of-range", "0.01 to 100");
        refuses(&length(), "60+60", "out-of-range", "0.01 to 100");
        refuses(&length(), "3kg", "wrong-unit", "cm");
        refuses(&length(), "3kg+1m", "wrong-unit", "`kg`");
        refuses(&length(), "1m*1m", "wrong-unit", "multiplied");
        refuses(&length(), "1m/1m", "wrong-unit", "cancel");
        refuses(&length(), "1m + 1m*1m", "wrong-unit", "like");
        refuses(&length(), "", "wrong-type", "number");
        refuses(&length(), "abc", "wrong-type", "0.01 to 100");
        refuses(&length(), "1/0", "not-finite", "finite");
        refuses(&length(), "(1", "wrong-type", "closed");
        refuses(&length(), &"(".repeat(1000), "wrong-type", "deep");
        refuses(&length(), "2 2", "wrong-unit", "`2`");
        let count = Param::new("count", ParamType::Int { min: 1, max: 9 }, "");
        becomes(&count, "2*3", "6");
        becomes(&count, "0x8", "0x8");
        refuses(&count, "7/2", "wrong-type", "whole number");
        refuses(&count, "10", "out-of-range", "1 to 9");
        let flag = Param::new("closed", ParamType::Bool, "");
        becomes(&flag, "true", "true");
        refuses(&flag, "maybe", "wrong-type", "true or false");
    }

    #[test]
    fn words_names_and_texts_get_their_quotes() {
        let rule = Param::new("contact", ParamType::Choice(&["stop", "impulse"]), "");
        becomes(&rule, "stop", "\"stop\"");
        refuses(&rule, "stopp", "unknown-choice", "did you mean `stop`?");
        let surface = Param::new("surface", ParamType::Name("surface"), "");
        becomes(&surface, "ice", "\"ice\"");
        refuses(&surface, "thin ice", "bad-name", "thin ice");
        let text = Param::new("name", ParamType::Text, "");
        becomes(&text, "3", "\"3\"");
        becomes(&text, "it's", "\"it's\"");
        becomes(&text, "", "\"\"");
    }

    #[test]
    fn lists_may_be_typed_without_brackets_and_quotes() {
        let at = Param::new("at", ParamType::Pose, "");
        becomes(&at, "1, 2", "[1, 2]");
        becomes(&at, "[1, 25cm*2, 90deg]", "[1, 0.5, \"90deg\"]");
        refuses(&at, "1", "wrong-type", "pose");
        refuses(&at, "1, 2, 3, 4", "wrong-type", "pose");
        refuses(&at, "1, 2kg", "wrong-unit", "cm");
        let points = Param::new("points", ParamType::Points { min_len: 2 }, "");
        becomes(&points, "[[0, 0], [1m, 2]]", "[[0, 0], [\"1m\", 2]]");
        becomes(&points, "[0, 0], [1, 2]", "[[0, 0], [1, 2]]");
        refuses(&points, "[[0, 0]]", "out-of-range", "at least 2");
        let topics = Param::new("topics", ParamType::Texts, "");
        becomes(&topics, "/robots/a, \"/robots/b,c\"", "[\"/robots/a\", \"/robots/b,c\"]");
        let period = Param::new("period", ParamType::Period, "");
        becomes(&period, "1/60 s", "\"1/60 s\"");
        becomes(&period, "0.1", "0.1");
        becomes(&period, "50ms*2", "0.1");
        refuses(&period, "0", "out-of-range", "positive");
    }
}
