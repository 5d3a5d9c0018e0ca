//! Sheets as text for people: the terminal's `describe` and the reference manual.

use std::fmt::Write as _;
use swarmyard_part_api::{Channel, Kind, Param, Registry, Sheet};
use swarmyard_scene::Value;

const KINDS: [Kind; 8] = [
    Kind::Structure,
    Kind::Layout,
    Kind::Sensor,
    Kind::Actuator,
    Kind::Controller,
    Kind::Network,
    Kind::Protocol,
    Kind::Algorithm,
];

/// Everything a sheet says, for the terminal.
#[must_use]
pub fn describe(sheet: &Sheet) -> String {
    let mut out = format!("{} ({})\n  {}\n", sheet.class, sheet.kind.word(), sheet.summary);
    if !sheet.params.is_empty() {
        out.push_str("\nparameters\n");
    }
    let width = sheet.params.iter().map(|p| p.name.len()).max().unwrap_or(0);
    for param in &sheet.params {
        let _ = writeln!(out, "  {:width$}  {}", param.name, facts(param).join(", "));
        let _ = writeln!(out, "  {:width$}    {}", "", param.summary);
    }
    for (title, command) in [("readings", false), ("commands", true)] {
        let mut channels = sheet.channels.iter().filter(|c| c.command == command).peekable();
        if channels.peek().is_some() {
            let _ = writeln!(out, "\n{title}");
        }
        for channel in channels {
            let _ = writeln!(out, "  {}  {}", channel_title(channel), channel.summary);
        }
    }
    if !sheet.ports.is_empty() {
        out.push_str("\nports, for registers only\n");
    }
    for (name, summary) in &sheet.ports {
        let _ = writeln!(out, "  {name}  {summary}");
    }
    if !sheet.levels.is_empty() {
        out.push_str("\nlevels of detail\n");
    }
    for level in &sheet.levels {
        let _ = writeln!(out, "  {}  {}", level.name, level.summary);
    }
    if !sheet.marks.is_empty() {
        let _ = writeln!(out, "\ndraws\n  {}", sheet.marks);
    }
    if !sheet.example.is_empty() {
        out.push_str("\nexample\n");
    }
    for line in sheet.example.lines() {
        let _ = writeln!(out, "{}", format!("  {line}").trim_end());
    }
    out
}

/// One line per class, grouped by kind.
#[must_use]
pub fn describe_list(registry: &Registry) -> String {
    let width = registry.sheets().map(|s| s.class.len()).max().unwrap_or(0);
    let mut out = String::new();
    for kind in KINDS {
        let mut sheets = registry.sheets().filter(|s| s.kind == kind).peekable();
        if sheets.peek().is_none() {
            continue;
        }
        let gap = if out.is_empty() { "" } else { "\n" };
        let _ = writeln!(out, "{gap}{}", kind.word());
        for sheet in sheets {
            let _ = writeln!(out, "  {:width$}  {}", sheet.class, first_sentence(sheet.summary));
        }
    }
    out
}

/// The reference manual of all classes, as Markdown.
#[must_use]
pub fn manual(registry: &Registry) -> String {
    let mut out = String::from(
        "# Reference of classes\n\nMade from the sheets of the classes by `swarmyard describe --manual`; do not edit it.\n\
         A plain number is in the unit shown; a text may name another one, such as `\"25cm\"` or `\"90deg\"`.\n\
         A type, part or controller may take what it does not say from a `file`; there plain numbers are in other units: see [part files](part-files.md).\n",
    );
    for kind in KINDS {
        let sheets: Vec<&Sheet> = registry.sheets().filter(|s| s.kind == kind).collect();
        if sheets.is_empty() {
            continue;
        }
        let word = kind.word();
        let _ = writeln!(out, "\n## {}{}", word[..1].to_uppercase(), &word[1..]);
        for sheet in sheets {
            manual_class(&mut out, sheet);
        }
    }
    out
}

fn manual_class(out: &mut String, sheet: &Sheet) {
    let _ = writeln!(out, "\n### `{}`\n\n{}", sheet.class, sheet.summary);
    if !sheet.params.is_empty() {
        out.push_str("\n| key | value | default | range | meaning |\n|---|---|---|---|---|\n");
    }
    for p in &sheet.params {
        let default = match (&p.default, p.required) {
            (Some(value), _) => format!("`{}`", written(value)),
            (None, true) => "**required**".into(),
            (None, false) => String::new(),
        };
        let cells =
            [format!("`{}`", p.name), p.ty.words(), default, p.ty.range_words(), p.summary.to_owned()];
        let cells: Vec<String> = cells.iter().map(|c| c.replace('|', "\\|")).collect();
        let _ = writeln!(out, "| {} |", cells.join(" | "));
    }
    if !sheet.channels.is_empty() {
        out.push_str("\n| channel | direction | range | meaning |\n|---|---|---|---|\n");
    }
    for c in &sheet.channels {
        let direction = if c.command { "command" } else { "reading" };
        let _ = writeln!(
            out,
            "| `{}` | {direction} | {} | {} |",
            channel_title(c),
            channel_range(c),
            c.summary.replace('|', "\\|")
        );
    }
    if !sheet.ports.is_empty() {
        out.push_str("\nPorts, for registers only:\n\n");
    }
    for (name, summary) in &sheet.ports {
        let _ = writeln!(out, "- `{name}`: {summary}");
    }
    if !sheet.levels.is_empty() {
        out.push_str("\nLevels of detail:\n\n");
    }
    for level in &sheet.levels {
        let _ = writeln!(out, "- `{}`: {}", level.name, level.summary);
    }
    if !sheet.marks.is_empty() {
        let _ = writeln!(out, "\nDraws: {}", sheet.marks);
    }
    if !sheet.example.is_empty() {
        let _ = writeln!(out, "\n```toml\n{}\n```", sheet.example.trim());
    }
}

/// Type, range and default of a parameter in words.
fn facts(param: &Param) -> Vec<String> {
    let mut facts = vec![param.ty.words()];
    let range = param.ty.range_words();
    if !range.is_empty() {
        facts.push(range);
    }
    match &param.default {
        Some(value) => facts.push(format!("default {}", written(value))),
        None if param.required => facts.push("required".into()),
        None => {}
    }
    facts
}

fn channel_title(c: &Channel) -> String {
    let len = if c.len == 1 { String::new() } else { format!("[{}]", c.len) };
    let unit = c.unit.symbol();
    if unit.is_empty() { format!("{}{len}", c.name) } else { format!("{}{len} [{unit}]", c.name) }
}

fn channel_range(c: &Channel) -> String {
    match (c.min > f64::MIN, c.max < f64::MAX) {
        (true, true) => format!("{} to {}", c.min, c.max),
        (true, false) => format!("at least {}", c.min),
        (false, true) => format!("at most {}", c.max),
        (false, false) => String::new(),
    }
}

fn first_sentence(text: &str) -> &str {
    text.split_once(". ").map_or(text, |(first, _)| first).trim_end_matches('.')
}

/// A value as it is written in a scenario.
pub(crate) fn written(value: &Value) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    let quoted = |text: &str| toml_edit::Value::from(text).to_string();
    match value {
        Value::Bool(b) => b.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Num(x) if x.abs() >= 1e7 || (*x != 0.0 && x.abs() < 1e-4) => format!("{x:e}"),
        Value::Num(x) => x.to_string(),
        Value::Text(t) => quoted(t),
        Value::Nums(v) => list(v.iter().map(f64::to_string).collect()),
        Value::Texts(v) => list(v.iter().map(|t| quoted(t)).collect()),
        Value::Point(p) => list(vec![p.x.to_string(), p.y.to_string()]),
        Value::Points(v) => list(v.iter().map(|p| format!("[{}, {}]", p.x, p.y)).collect()),
        Value::Rows(rows) => list(rows.iter().map(|r| written(&Value::Nums(r.clone()))).collect()),
        Value::Pose(p) => list(vec![p.at.x.to_string(), p.at.y.to_string(), p.heading.to_string()]),
        Value::Ratio(r) if r.den() == 1 => r.num().to_string(),
        Value::Ratio(r) => quoted(&format!("{}/{} s", r.num(), r.den())),
    }
}
