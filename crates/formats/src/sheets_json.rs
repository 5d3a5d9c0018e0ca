//! Sheets as JSON, for pages that show a form for every class, and for scripts.

use serde_json::{Value as Json, json};
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Channel, Param, ParamType, Registry, Sheet};
use swarmyard_scene::Value;

/// Every sheet of a registry, as a list.
#[must_use]
pub fn sheets_json(registry: &Registry) -> Json {
    registry.sheets().map(sheet_json).collect()
}

/// One sheet.
#[must_use]
pub fn sheet_json(sheet: &Sheet) -> Json {
    json!({
        "class": sheet.class,
        "kind": sheet.kind.word(),
        "summary": sheet.summary,
        "params": sheet.params.iter().map(param).collect::<Json>(),
        "channels": sheet.channels.iter().map(channel).collect::<Json>(),
        "ports": sheet.ports.iter().map(|(name, summary)| json!({ "name": name, "summary": summary })).collect::<Json>(),
        "levels": sheet.levels.iter().map(|l| json!({ "name": l.name, "summary": l.summary })).collect::<Json>(),
        "marks": sheet.marks,
        "example": sheet.example,
    })
}

fn param(param: &Param) -> Json {
    let mut out = json!({
        "name": param.name,
        "type": param.ty.words(),
        "kind": kind(&param.ty),
        "range": param.ty.range_words(),
        "required": param.required,
        "default": param.default.as_ref().map(value),
        "summary": param.summary,
    });
    for (key, fact) in facts(&param.ty) {
        out[key] = fact;
    }
    out
}

/// One word that tells a form which field to show.
fn kind(ty: &ParamType) -> &'static str {
    match ty {
        ParamType::Bool => "bool",
        ParamType::Int { .. } => "int",
        ParamType::Number { .. } => "number",
        ParamType::Text | ParamType::File(_) => "text",
        ParamType::Choice(_) => "choice",
        ParamType::Name(_) => "name",
        ParamType::Numbers { .. } => "numbers",
        ParamType::Texts => "texts",
        ParamType::Loose => "loose",
        ParamType::Point => "point",
        ParamType::Points { .. } => "points",
        ParamType::Rows(_) => "rows",
        ParamType::Pose => "pose",
        ParamType::Period => "period",
        ParamType::Inline(_) => "inline",
    }
}

/// What only some types have. An end of a range that is no limit is left out.
fn facts(ty: &ParamType) -> Vec<(&'static str, Json)> {
    let unit = |unit: Unit| ("unit", json!(unit.symbol()));
    let suffixes = |unit: Unit| ("units", unit.suffixes().iter().map(|s| json!(s.0)).collect());
    match *ty {
        ParamType::Int { min, max } => {
            let least = (min > i64::MIN).then(|| ("min", json!(min)));
            let most = (max < i64::MAX).then(|| ("max", json!(max)));
            least.into_iter().chain(most).collect()
        }
        ParamType::Number { unit: of, min, max } => {
            let least = (min > f64::MIN).then(|| ("min", json!(min)));
            let most = (max < f64::MAX).then(|| ("max", json!(max)));
            [unit(of), suffixes(of)].into_iter().chain(least).chain(most).collect()
        }
        ParamType::Numbers { unit: of, min_len, max_len } => {
            let most = (max_len < usize::MAX).then(|| ("max_len", json!(max_len)));
            [unit(of), suffixes(of), ("min_len", json!(min_len))].into_iter().chain(most).collect()
        }
        ParamType::Points { min_len } => vec![unit(Unit::Metre), ("min_len", json!(min_len))],
        ParamType::Point | ParamType::Pose => vec![unit(Unit::Metre)],
        ParamType::Period => vec![unit(Unit::Second), suffixes(Unit::Second)],
        ParamType::Choice(words) => vec![("choices", json!(words))],
        ParamType::Name(what) => vec![("of", json!(what))],
        ParamType::Inline(kind) => vec![("of", json!(kind.word()))],
        ParamType::Rows(columns) => {
            let column = |(name, unit): &(&str, Unit)| json!({ "name": name, "unit": unit.symbol() });
            vec![("columns", columns.iter().map(column).collect())]
        }
        ParamType::Bool | ParamType::Text | ParamType::File(_) | ParamType::Texts | ParamType::Loose => {
            Vec::new()
        }
    }
}

/// An end of its range that is no limit is `null`.
fn channel(channel: &Channel) -> Json {
    json!({
        "name": channel.name,
        "len": channel.len,
        "unit": channel.unit.symbol(),
        "min": (channel.min > f64::MIN).then_some(channel.min),
        "max": (channel.max < f64::MAX).then_some(channel.max),
        "command": channel.command,
        "summary": channel.summary,
    })
}

/// A default in SI units; numbers that JSON does not know become `null`.
fn value(value: &Value) -> Json {
    match value {
        Value::Bool(b) => json!(b),
        Value::Int(i) => json!(i),
        Value::Num(x) => json!(x),
        Value::Text(t) => json!(t),
        Value::Nums(v) => json!(v),
        Value::Texts(v) => json!(v),
        Value::Point(p) => json!([p.x, p.y]),
        Value::Points(v) => v.iter().map(|p| json!([p.x, p.y])).collect(),
        Value::Rows(v) => json!(v),
        Value::Pose(p) => json!([p.at.x, p.at.y, p.heading]),
        Value::Ratio(r) => json!(r.num() as f64 / r.den() as f64),
    }
}
