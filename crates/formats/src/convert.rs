//! One value: from what the text says to what the parameter wants.
//!
//! In: a [`Tree`] and a [`ParamType`]. Out: a [`Value`] in SI units, or a diagnostic at the very value
//! (the third number of a list, not the list). Ranges are the sheet's business.

use crate::tree::{Data, Tree, shortened};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Ratio, Vec2};
use swarmyard_part_api::ParamType;
use swarmyard_scene::Value;

/// Code of a diagnostic that only repeats an earlier one; it is never shown.
pub(crate) const REPORTED: &str = "";

/// Converts the value of the key `name`.
pub(crate) fn convert(name: &str, tree: &Tree, ty: &ParamType) -> Result<Value, Diagnostic> {
    let wrong = || wrong_type(name, tree, &ty.words());
    match *ty {
        ParamType::Bool => match &tree.data {
            Data::Bool(b) => Ok(Value::Bool(*b)),
            Data::Loose(s) if s == "true" || s == "false" => Ok(Value::Bool(s == "true")),
            Data::Lab(s) => match s.to_lowercase().as_str() {
                "true" | "yes" => Ok(Value::Bool(true)),
                "false" | "no" => Ok(Value::Bool(false)),
                _ => Err(wrong()),
            },
            _ => Err(wrong()),
        },
        ParamType::Int { .. } => match &tree.data {
            Data::Int(i) => Ok(Value::Int(*i)),
            Data::Loose(s) => s.trim().parse().map(Value::Int).map_err(|_| wrong()),
            Data::Lab(s) => lab_integer(s).map(Value::Int).ok_or_else(wrong),
            Data::Str(s) if s.trim().parse::<i64>().is_ok() => {
                Err(wrong().help("write the number without quotes"))
            }
            _ => Err(wrong()),
        },
        ParamType::Number { unit, .. } => number(name, tree, unit, ty).map(Value::Num),
        ParamType::Text | ParamType::Choice(_) | ParamType::Name(_) | ParamType::File(_) => {
            tree.text().map(|t| Value::Text(t.to_owned())).ok_or_else(wrong)
        }
        ParamType::Numbers { unit, .. } => {
            let Data::Array(items) = &tree.data else { return Err(wrong()) };
            let numbers: Result<_, _> = items.iter().map(|t| number(name, t, unit, ty)).collect();
            Ok(Value::Nums(numbers?))
        }
        ParamType::Texts => {
            let Data::Array(items) = &tree.data else { return Err(wrong()) };
            let texts: Result<_, _> = items
                .iter()
                .map(|t| t.text().map(str::to_owned).ok_or_else(|| wrong_type(name, t, &ty.words())))
                .collect();
            Ok(Value::Texts(texts?))
        }
        ParamType::Loose => match &tree.data {
            Data::Array(items) => {
                let texts: Option<Vec<String>> = items.iter().map(as_typed).collect();
                texts.map(Value::Texts).ok_or_else(wrong)
            }
            _ => as_typed(tree).map(Value::Text).ok_or_else(wrong),
        },
        ParamType::Point => point(name, tree, ty).map(Value::Point),
        ParamType::Points { .. } => {
            let Data::Array(items) = &tree.data else { return Err(wrong()) };
            let points: Result<_, _> = items.iter().map(|t| point(name, t, ty)).collect();
            Ok(Value::Points(points?))
        }
        ParamType::Rows(columns) => {
            let Data::Array(items) = &tree.data else { return Err(wrong()) };
            let rows: Result<_, _> = items.iter().map(|t| row(name, t, columns, ty)).collect();
            Ok(Value::Rows(rows?))
        }
        ParamType::Pose => pose(name, tree, ty).map(Value::Pose),
        ParamType::Period => period(name, tree, ty).map(Value::Ratio),
        ParamType::Inline(_) => Err(wrong()),
    }
}

/// A value as `--set` would take it; lists as TOML.
fn as_typed(tree: &Tree) -> Option<String> {
    match &tree.data {
        Data::Str(s) | Data::Loose(s) | Data::Lab(s) => Some(s.clone()),
        Data::Int(i) => Some(i.to_string()),
        Data::Float(x) if x.is_finite() => Some(x.to_string()),
        Data::Bool(b) => Some(b.to_string()),
        Data::Array(items) => {
            let quoted = |t: &Tree| match &t.data {
                Data::Str(s) => Some(toml_edit::Value::from(s.as_str()).to_string()),
                _ => as_typed(t),
            };
            let items: Option<Vec<String>> = items.iter().map(quoted).collect();
            items.map(|items| format!("[{}]", items.join(", ")))
        }
        Data::Float(_) | Data::Table(_) | Data::Datetime | Data::Failed => None,
    }
}

/// The diagnostic for a value of another kind than wanted.
pub(crate) fn wrong_type(name: &str, tree: &Tree, wanted: &str) -> Diagnostic {
    let code = if tree.data == Data::Failed { REPORTED } else { "wrong-type" };
    Diagnostic::error(code, format!("`{name}` must be: {wanted}, not {}", tree.word())).at(Some(tree.span))
}

fn number(name: &str, tree: &Tree, unit: Unit, ty: &ParamType) -> Result<f64, Diagnostic> {
    let x = match &tree.data {
        Data::Int(i) => *i as f64,
        Data::Float(x) => *x,
        Data::Str(s) | Data::Loose(s) => {
            return unit.parse(s).map_err(|why| unreadable(name, s, &why).at(Some(tree.span)));
        }
        Data::Lab(s) => {
            let with_unit = if is_plain(s) { format!("{s} {}", lab_unit(unit, ty)) } else { s.clone() };
            return unit.parse(&with_unit).map_err(|why| unreadable(name, s, &why).at(Some(tree.span)));
        }
        _ => return Err(wrong_type(name, tree, &ty.words())),
    };
    if x.is_finite() { Ok(x) } else { Err(not_finite(name, &x.to_string()).at(Some(tree.span))) }
}

/// What a plain number in a part file is measured in.
///
/// A number without dimension that cannot exceed 1 is a share, and those are written in percent.
fn lab_unit(unit: Unit, ty: &ParamType) -> &'static str {
    match unit {
        Unit::None if matches!(*ty, ParamType::Number { min, max, .. } if min >= 0.0 && max <= 1.0) => "%",
        Unit::Metre => "cm",
        Unit::Radian => "deg",
        Unit::MetrePerSecond => "cm/s",
        Unit::RadianPerSecond => "deg/s",
        Unit::MetrePerSecond2 => "cm/s2",
        Unit::RadianPerSecond2 => "deg/s2",
        Unit::None
        | Unit::Second
        | Unit::Kilogram
        | Unit::KilogramMetre2
        | Unit::NewtonSecond
        | Unit::Hertz => unit.symbol(),
    }
}

/// Whether a number was written without a unit.
fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| (c.is_alphabetic() && !matches!(c, 'e' | 'E')) || matches!(c, '%' | '°'))
}

/// A whole number, decimal or after `0x`.
fn lab_integer(text: &str) -> Option<i64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) if digits.starts_with(|c: char| c.is_ascii_hexdigit()) => {
            i64::from_str_radix(digits, 16).ok()
        }
        Some(_) => None,
        None => text.parse().ok(),
    }
}

fn period(name: &str, tree: &Tree, ty: &ParamType) -> Result<Ratio, Diagnostic> {
    let decimal = |x: f64| {
        if !x.is_finite() {
            return Err(not_finite(name, &x.to_string()));
        }
        let why = format!("`{x}` is not a positive length of time that can be kept exactly");
        Ratio::from_decimal(x).ok_or_else(|| unreadable(name, &x.to_string(), &why))
    };
    let read = match &tree.data {
        Data::Int(i) => decimal(*i as f64),
        Data::Float(x) => decimal(*x),
        Data::Str(s) | Data::Loose(s) | Data::Lab(s) => {
            Unit::Second.parse_ratio(s).map_err(|why| unreadable(name, s, &why))
        }
        _ => Err(wrong_type(name, tree, &ty.words())),
    };
    read.map_err(|d| d.at(Some(tree.span)))
}

fn point(name: &str, tree: &Tree, ty: &ParamType) -> Result<Vec2, Diagnostic> {
    let Data::Array(items) = &tree.data else { return Err(wrong_type(name, tree, &ty.words())) };
    let [x, y] = items.as_slice() else { return Err(wrong_length(name, tree, items.len(), ty)) };
    Ok(Vec2::new(number(name, x, Unit::Metre, ty)?, number(name, y, Unit::Metre, ty)?))
}

fn row(name: &str, tree: &Tree, columns: &[(&str, Unit)], ty: &ParamType) -> Result<Vec<f64>, Diagnostic> {
    let Data::Array(items) = &tree.data else { return Err(wrong_type(name, tree, &ty.words())) };
    if items.len() != columns.len() {
        return Err(wrong_length(name, tree, items.len(), ty));
    }
    items.iter().zip(columns).map(|(item, column)| number(name, item, column.1, ty)).collect()
}

fn pose(name: &str, tree: &Tree, ty: &ParamType) -> Result<Pose2, Diagnostic> {
    let Data::Array(items) = &tree.data else { return Err(wrong_type(name, tree, &ty.words())) };
    let (x, y, heading) = match items.as_slice() {
        [x, y] => (x, y, None),
        [x, y, heading] => (x, y, Some(heading)),
        _ => return Err(wrong_length(name, tree, items.len(), ty)),
    };
    let heading = heading.map_or(Ok(0.0), |h| number(name, h, Unit::Radian, ty))?;
    Ok(Pose2::new(number(name, x, Unit::Metre, ty)?, number(name, y, Unit::Metre, ty)?, heading))
}

fn wrong_length(name: &str, tree: &Tree, len: usize, ty: &ParamType) -> Diagnostic {
    Diagnostic::error("wrong-type", format!("`{name}` must be: {}, not a list of `{len}`", ty.words()))
        .at(Some(tree.span))
}

fn not_finite(name: &str, shown: &str) -> Diagnostic {
    Diagnostic::error("not-finite", format!("`{name}` must be a finite number, not `{shown}`"))
}

/// Sorts the reasons why a text is no number with unit into codes.
fn unreadable(name: &str, text: &str, why: &str) -> Diagnostic {
    let shown = shortened(text);
    if why.contains("finite") {
        return not_finite(name, &shown);
    }
    let code = if why.contains("unit that fits") || why.contains("not wanted") {
        "wrong-unit"
    } else if why.contains("positive length") {
        "out-of-range"
    } else {
        "wrong-type"
    };
    Diagnostic::error(code, format!("`{name}` cannot be `{shown}`"))
        .help(why.chars().take(300).collect::<String>())
}
