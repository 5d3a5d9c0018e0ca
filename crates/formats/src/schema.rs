//! The sheets as a JSON Schema (draft 7), for editors that complete and check TOML.
//!
//! Plain `properties`, `required` and `anyOf` only, because editors support little more. Units in
//! texts and `${parameters}` are accepted wherever a value is; the reader checks them.

use std::fmt::Write as _;
use swarmyard_part_api::{Kind, Param, ParamType, Registry, Sheet};

/// The schema of a scenario, from the sheets of a registry.
#[must_use]
pub fn schema(registry: &Registry) -> String {
    let placed = crate::expand::PLACED;
    let mut top = vec![
        (
            "format",
            obj([
                ("type", text("integer")),
                ("const", Json::Raw(crate::FORMAT.to_string())),
                ("description", text("Version of the format.")),
            ]),
        ),
        ("title", described("string", "Name of the scenario.")),
        ("about", described("string", "What it shows.")),
        (
            "include",
            obj([
                ("type", text("array")),
                ("items", typed("string")),
                ("description", text("Other files whose sections are added.")),
            ]),
        ),
        ("params", described("object", "Values used as `${name}` inside texts.")),
        ("x", described("object", "Free for tools; the simulator ignores it.")),
    ];
    for name in ["run", "world", "record"] {
        top.extend(registry.sheet(name).map(|s| (name, table(registry, s, vec![]))));
    }
    for name in ["surface", "type"] {
        let parts = if name == "type" { type_parts(registry) } else { vec![] };
        top.extend(registry.sheet(name).map(|s| (name, named(table(registry, s, parts)))));
    }
    top.extend(registry.sheet("sweep").map(|s| ("sweep", table(registry, s, sweep_lists(registry)))));
    for name in placed.into_iter().chain(["assert", "fault", "zone", "display"]) {
        top.extend(registry.sheet(name).map(|s| (name, list(table(registry, s, vec![])))));
    }
    top.push(("network", of_class(registry, &[Kind::Network])));
    let protocols = list(of_class(registry, &[Kind::Protocol]));
    let stack = closed(vec![("protocol", protocols)], &["protocol"], "Protocols under one name.");
    top.push(("stack", named(stack)));
    let inside: Vec<(&str, Json)> = placed
        .iter()
        .filter_map(|name| registry.sheet(name).map(|s| (*name, list(table(registry, s, vec![])))))
        .collect();
    let mut template = inside;
    template.push(("params", described("object", "Parameters and their defaults.")));
    template.push(("use", list(use_table())));
    top.push(("template", named(closed(template, &[], "A group of things to be used many times."))));
    top.push(("use", list(use_table())));
    let Json::Object(mut whole) = closed(top, &["format"], "A Swarmyard scenario.") else {
        return String::new();
    };
    whole.insert(0, ("$schema".into(), text("http://json-schema.org/draft-07/schema#")));
    let mut out = String::new();
    Json::Object(whole).write(&mut out, 0);
    out.push('\n');
    out
}

fn type_parts(registry: &Registry) -> Vec<(&'static str, Json)> {
    let of = |kinds: &[Kind], name_required: bool| {
        let classes = registry.sheets().filter(|s| kinds.contains(&s.kind));
        let mut choices: Vec<Json> = classes
            .map(|s| {
                let Json::Object(mut part) = table(registry, s, class_keys(s)) else {
                    return Json::Array(vec![]);
                };
                let mut required: Vec<Json> = vec![text("class")];
                required.extend(name_required.then(|| text("name")));
                required.extend(s.params.iter().filter(|p| p.required).map(|p| text(p.name)));
                part.retain(|(k, _)| k != "required");
                part.push(("required".into(), Json::Array(required)));
                Json::Object(part)
            })
            .collect();
        choices.push(part_with_file());
        obj([("anyOf", Json::Array(choices))])
    };
    let controller = of(&[Kind::Controller], false);
    let algorithm = of_class(registry, &[Kind::Algorithm]);
    let Json::Object(mut protocol) = of_class(registry, &[Kind::Protocol]) else { return Vec::new() };
    if let Some((_, Json::Array(choices))) = protocol.first_mut() {
        let keys = vec![
            ("name", described("string", "Name of its last protocol.")),
            ("stack", described("string", "The composite that stands here.")),
        ];
        choices.push(closed(keys, &["name", "stack"], "One use of a composite."));
    }
    let register = registry.sheet("register").map_or_else(|| typed("object"), |s| table(registry, s, vec![]));
    vec![
        ("register", list(register)),
        ("part", list(of(&[Kind::Sensor, Kind::Actuator], true))),
        ("controller", obj([("anyOf", Json::Array(vec![controller.clone(), list(controller)]))])),
        ("protocol", list(Json::Object(protocol))),
        ("algorithm", obj([("anyOf", Json::Array(vec![algorithm.clone(), list(algorithm)]))])),
    ]
}

/// A table with `class`, one of these kinds.
fn of_class(registry: &Registry, kinds: &[Kind]) -> Json {
    let classes = registry.sheets().filter(|s| kinds.contains(&s.kind));
    let choices = classes.map(|s| {
        let keys = class_keys(s).into_iter().filter(|(key, _)| *key != "file").collect();
        table(registry, s, keys)
    });
    obj([("anyOf", Json::Array(choices.collect()))])
}

fn sweep_lists(registry: &Registry) -> Vec<(&'static str, Json)> {
    let of = |name| registry.sheet(name).map(|s| (name, list(table(registry, s, vec![]))));
    ["axis", "measure"].into_iter().filter_map(of).collect()
}

fn class_keys(sheet: &Sheet) -> Vec<(&'static str, Json)> {
    vec![
        ("class", obj([("const", text(sheet.class)), ("description", text(sheet.summary))])),
        ("name", described("string", "Name in its path.")),
        ("file", described("string", PART_FILE)),
    ]
}

const PART_FILE: &str = "Part file in block syntax that says what is not said here.";

/// A part whose class and parameters are in its file, so that only the reader can check them.
fn part_with_file() -> Json {
    let keys = [
        ("file", described("string", PART_FILE)),
        ("class", described("string", "Its class, when the file does not name one.")),
        ("name", described("string", "Name in its path.")),
    ];
    obj([("type", text("object")), ("properties", obj(keys)), ("required", Json::Array(vec![text("file")]))])
}

fn use_table() -> Json {
    let keys = [
        ("template", described("string", "Name of the template.")),
        ("name", described("string", "Its things are called NAME.… then.")),
        (
            "at",
            obj([
                ("type", text("array")),
                ("description", text("Where the template's origin is: [x, y, heading].")),
            ]),
        ),
    ];
    obj([
        ("type", text("object")),
        ("properties", obj(keys)),
        ("required", Json::Array(vec![text("template")])),
    ])
}

fn table(registry: &Registry, sheet: &Sheet, mut more: Vec<(&'static str, Json)>) -> Json {
    more.extend(sheet.params.iter().map(|p| (p.name, param(registry, p))));
    let required: Vec<&str> = sheet.params.iter().filter(|p| p.required).map(|p| p.name).collect();
    closed(more, &required, sheet.summary)
}

fn param(registry: &Registry, p: &Param) -> Json {
    let number = || Json::Array(vec![text("number"), text("string")]);
    let numbers = |least: usize, most: usize| {
        let mut list = vec![
            ("type", text("array")),
            ("items", obj([("type", number())])),
            ("minItems", Json::Raw(least.to_string())),
        ];
        list.extend((most < usize::MAX).then(|| ("maxItems", Json::Raw(most.to_string()))));
        Json::Object(list.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
    };
    let or_text = |json: Json| obj([("anyOf", Json::Array(vec![json, typed("string")]))]);
    let json = match p.ty {
        ParamType::Bool => or_text(typed("boolean")),
        ParamType::Int { min, max } => {
            or_text(limited("integer", bound(min, i64::MIN), bound(max, i64::MAX)))
        }
        ParamType::Number { min, max, .. } => {
            or_text(limited("number", bound(min, f64::MIN), bound(max, f64::MAX)))
        }
        ParamType::Text | ParamType::Name(_) | ParamType::File(_) => typed("string"),
        ParamType::Choice(words) => {
            let words = words.iter().map(|w| text(w)).collect();
            obj([(
                "anyOf",
                Json::Array(vec![
                    obj([("enum", Json::Array(words))]),
                    obj([("type", text("string")), ("pattern", text("\\$\\{"))]),
                ]),
            )])
        }
        ParamType::Numbers { min_len, max_len, .. } => or_text(numbers(min_len, max_len)),
        ParamType::Texts => obj([("type", text("array")), ("items", typed("string"))]),
        ParamType::Loose => {
            let types = ["number", "string", "boolean", "array"].map(text);
            obj([("type", Json::Array(types.into()))])
        }
        ParamType::Point => or_text(numbers(2, 2)),
        ParamType::Points { min_len } => or_text(obj([
            ("type", text("array")),
            ("items", numbers(2, 2)),
            ("minItems", Json::Raw(min_len.to_string())),
        ])),
        ParamType::Rows(columns) => or_text(obj([
            ("type", text("array")),
            ("items", numbers(columns.len(), columns.len())),
            ("minItems", Json::Raw("1".into())),
        ])),
        ParamType::Pose => or_text(numbers(2, 3)),
        ParamType::Period => obj([("type", number())]),
        ParamType::Inline(kind) => {
            let classes = registry.sheets().filter(|s| s.kind == kind);
            let tables = classes
                .map(|s| table(registry, s, vec![("class", obj([("const", text(s.class))]))]))
                .collect();
            obj([("anyOf", Json::Array(tables))])
        }
    };
    let Json::Object(mut entries) = json else { return json };
    entries.push(("description".into(), text(&format!("{} ({})", p.summary, p.ty.words()))));
    Json::Object(entries)
}

fn bound<T: PartialEq + ToString>(value: T, none: T) -> Option<Json> {
    (value != none).then(|| Json::Raw(value.to_string()))
}

fn limited(ty: &str, min: Option<Json>, max: Option<Json>) -> Json {
    let mut entries = vec![("type".to_owned(), text(ty))];
    entries.extend(min.map(|m| ("minimum".to_owned(), m)));
    entries.extend(max.map(|m| ("maximum".to_owned(), m)));
    Json::Object(entries)
}

fn closed(properties: Vec<(&str, Json)>, required: &[&str], summary: &str) -> Json {
    let properties = Json::Object(properties.into_iter().map(|(k, v)| (k.to_owned(), v)).collect());
    let mut entries = vec![
        ("type".to_owned(), text("object")),
        ("description".to_owned(), text(summary)),
        ("additionalProperties".to_owned(), Json::Raw("false".into())),
        ("properties".to_owned(), properties),
    ];
    if !required.is_empty() {
        entries.push(("required".to_owned(), Json::Array(required.iter().map(|r| text(r)).collect())));
    }
    Json::Object(entries)
}

fn list(items: Json) -> Json {
    obj([("type", text("array")), ("items", items)])
}

fn named(table: Json) -> Json {
    obj([("type", text("object")), ("additionalProperties", table)])
}

fn typed(ty: &str) -> Json {
    obj([("type", text(ty))])
}

fn described(ty: &str, what: &str) -> Json {
    obj([("type", text(ty)), ("description", text(what))])
}

fn text(s: &str) -> Json {
    Json::Text(s.to_owned())
}

fn obj<const N: usize>(entries: [(&str, Json); N]) -> Json {
    Json::Object(entries.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())
}

/// As much JSON as a schema needs. Objects keep their order.
#[derive(Clone)]
enum Json {
    Raw(String),
    Text(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn write(&self, out: &mut String, depth: usize) {
        let pad = "  ".repeat(depth + 1);
        match self {
            Json::Raw(s) => out.push_str(s),
            Json::Text(s) => write_text(out, s),
            Json::Array(items) => {
                out.push('[');
                for (k, item) in items.iter().enumerate() {
                    out.push_str(if k == 0 { "" } else { ", " });
                    item.write(out, depth);
                }
                out.push(']');
            }
            Json::Object(entries) => {
                out.push('{');
                for (k, (key, value)) in entries.iter().enumerate() {
                    let _ = write!(out, "{}\n{pad}", if k == 0 { "" } else { "," });
                    write_text(out, key);
                    out.push_str(": ");
                    value.write(out, depth + 1);
                }
                let _ = write!(out, "\n{}}}", "  ".repeat(depth));
            }
        }
    }
}

fn write_text(out: &mut String, s: &str) {
    out.push('"');
    for c in s.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
