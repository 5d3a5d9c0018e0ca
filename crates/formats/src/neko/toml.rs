//! A tree as the text of a scenario.
//!
//! In: a tree that another reader made. Out: TOML that reads as the same tree, laid out as people write
//! scenarios: sections with headers, what chooses a layout on one line.

use crate::tree::{Data, Key, Tree};
use std::fmt::Write as _;

/// Writes a tree of tables.
pub(super) fn write(tree: &Tree) -> String {
    let mut out = String::new();
    table(&mut out, "", tree.table().unwrap_or_default());
    out
}

/// Plain values first, then the sections inside.
fn table(out: &mut String, path: &str, entries: &[(Key, Tree)]) {
    for (key, value) in entries.iter().filter(|(key, value)| !is_section(key, value)) {
        let _ = writeln!(out, "{} = {}", key.text, inline(value));
    }
    for (key, value) in entries.iter().filter(|(key, value)| is_section(key, value)) {
        let path = if path.is_empty() { key.text.clone() } else { format!("{path}.{}", key.text) };
        match &value.data {
            Data::Array(items) => {
                for item in items {
                    let _ = write!(out, "\n[[{path}]]\n");
                    table(out, &path, item.table().unwrap_or_default());
                }
            }
            _ => {
                let inner = value.table().unwrap_or_default();
                // A table that holds only tables needs no header.
                if inner.iter().any(|(key, value)| !is_section(key, value)) {
                    let _ = write!(out, "\n[{path}]\n");
                }
                table(out, &path, inner);
            }
        }
    }
}

fn is_section(key: &Key, value: &Tree) -> bool {
    match &value.data {
        Data::Table(_) => key.text != "layout",
        Data::Array(items) => items.iter().any(|t| t.table().is_some()),
        _ => false,
    }
}

fn inline(tree: &Tree) -> String {
    match &tree.data {
        Data::Table(entries) => {
            let pairs: Vec<String> =
                entries.iter().map(|(k, t)| format!("{} = {}", k.text, inline(t))).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
        Data::Array(items) => {
            format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Data::Str(s) | Data::Loose(s) | Data::Lab(s) => toml_edit::Value::from(s.as_str()).to_string(),
        Data::Int(i) => i.to_string(),
        Data::Float(x) => format!("{x:?}"),
        Data::Bool(b) => b.to_string(),
        Data::Datetime | Data::Failed => "\"\"".into(),
    }
}
