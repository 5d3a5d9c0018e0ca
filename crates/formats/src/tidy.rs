//! `swarmyard fmt`: canonical spacing. Comments, order and line breaks inside lists stay.
//!
//! `key = value`, one blank before a comment, one empty line before a section, at most one empty
//! line elsewhere, no indentation except in lists over several lines.

use crate::Failed;
use crate::tree::parse;
use swarmyard_base::{Diagnostic, Sources};
use toml_edit::{Array, Decor, Document, DocumentMut, InlineTable, Item, KeyMut, RawString, Table, Value};

/// Formats a scenario. Formatting twice is formatting once, and the meaning stays.
///
/// # Errors
/// When the text is not TOML.
pub fn format(name: &str, text: &str) -> Result<String, Box<Failed>> {
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    let unix = text.replace("\r\n", "\n");
    match parse(text, source).and_then(|_| tidy(&unix)) {
        Ok(tidy) => Ok(tidy),
        Err(d) => Err(Box::new(Failed { sources, problems: d.into() })),
    }
}

/// Formats header by header and key by key, each as a little document of its own.
///
/// The TOML library would print the whole document too, but it puts `a.x`, `b`, `a.y` in another order.
fn tidy(text: &str) -> Result<String, Diagnostic> {
    let syntax = |e: toml_edit::TomlError| Diagnostic::error("syntax", e.message().to_owned());
    let mut ends = Vec::new();
    expression_ends(Document::parse(text).map_err(syntax)?.as_table(), &mut ends);
    ends.sort_unstable();
    let mut out = String::new();
    let mut start = 0;
    for end in ends {
        let end = end + text[end..].find('\n').map_or(text.len() - end, |k| k + 1);
        let mut piece: DocumentMut = text[start..end].parse().map_err(syntax)?;
        tidy_table(piece.as_table_mut());
        out.push_str(&piece.to_string());
        start = end;
    }
    out.push_str(&lines_before(&text[start..], ""));
    Ok(format!("{}\n", out.trim_matches('\n')))
}

/// Where every header and every value behind a key ends.
fn expression_ends(table: &Table, ends: &mut Vec<usize>) {
    let section = |table: &Table, ends: &mut Vec<usize>| {
        if !table.is_implicit() {
            ends.extend(table.span().map(|s| s.end));
        }
        expression_ends(table, ends);
    };
    for (_, item) in table.iter() {
        match item {
            Item::Value(value) => ends.extend(value.span().map(|s| s.end)),
            Item::Table(inner) => section(inner, ends),
            Item::ArrayOfTables(tables) => tables.iter().for_each(|t| section(t, ends)),
            Item::None => {}
        }
    }
}

fn tidy_table(table: &mut Table) {
    for (mut key, item) in table.iter_mut() {
        match item {
            Item::Table(inner) => {
                bare_key(&mut key);
                if !inner.is_dotted() {
                    header(inner.decor_mut());
                }
                tidy_table(inner);
            }
            Item::ArrayOfTables(tables) => {
                bare_key(&mut key);
                for inner in tables.iter_mut() {
                    header(inner.decor_mut());
                    tidy_table(inner);
                }
            }
            Item::Value(value) => {
                let before = lines_before(&key.leaf_decor().prefix().map(raw).unwrap_or_default(), "");
                dotted(&mut key);
                key.leaf_decor_mut().set_prefix(before);
                key.leaf_decor_mut().set_suffix(" ");
                let comment = comment_after(value.decor());
                tidy_value(value, "");
                value.decor_mut().set_prefix(" ");
                value.decor_mut().set_suffix(comment);
            }
            Item::None => {}
        }
    }
}

/// The key of a header or the beginning of a dotted key: nothing around it.
fn bare_key(key: &mut KeyMut<'_>) {
    dotted(key);
    key.leaf_decor_mut().set_prefix("");
    key.leaf_decor_mut().set_suffix("");
}

fn dotted(key: &mut KeyMut<'_>) {
    key.dotted_decor_mut().set_prefix("");
    key.dotted_decor_mut().set_suffix("");
}

/// An empty line before a section, above its comments unless there is one further down.
fn header(decor: &mut Decor) {
    let mut before = lines_before(&decor.prefix().map(raw).unwrap_or_default(), "");
    if !before.starts_with('\n') && !before.contains("\n\n") {
        before.insert(0, '\n');
    }
    let after = comment_after(decor);
    decor.set_prefix(before);
    decor.set_suffix(after);
}

/// The comment behind a value or header, one blank away.
fn comment_after(decor: &Decor) -> String {
    let comment = decor.suffix().map(raw).unwrap_or_default();
    let comment = comment.trim();
    if comment.is_empty() { String::new() } else { format!(" {comment}") }
}

/// Whole lines of comments and blanks: trimmed, indented, at most one empty line in a row.
fn lines_before(raw: &str, indent: &str) -> String {
    let mut out = String::new();
    // What follows the last line break is the old indentation.
    for line in raw.split_inclusive('\n').filter(|l| l.ends_with('\n') || l.contains('#')) {
        let line = line.trim();
        if !line.is_empty() {
            out.push_str(indent);
            out.push_str(line);
        } else if out.ends_with("\n\n") || out == "\n" {
            continue;
        }
        out.push('\n');
    }
    out
}

fn tidy_value(value: &mut Value, indent: &str) {
    match value {
        Value::Array(array) => tidy_array(array, indent),
        Value::InlineTable(table) => tidy_inline(table, indent),
        _ => {}
    }
}

fn tidy_array(array: &mut Array, indent: &str) {
    let inner = format!("{indent}    ");
    let last = array.len().saturating_sub(1);
    let mut behind_last = String::new();
    let has_comma = array.trailing_comma();
    for (k, value) in array.iter_mut().enumerate() {
        let before = value.decor().prefix().map(raw).unwrap_or_default();
        let after = value.decor().suffix().map(raw).unwrap_or_default();
        tidy_value(value, &inner);
        let blank = if k == 0 { "" } else { " " };
        value.decor_mut().set_prefix(broken(&before, &inner, blank));
        if k == last && !has_comma {
            // A comma will follow if the list ends on its own line: the comment goes behind it.
            behind_last = after;
            value.decor_mut().set_suffix("");
        } else {
            value.decor_mut().set_suffix(broken(&after, &inner, ""));
        }
    }
    let trailing = format!("{behind_last}{}", raw(array.trailing()));
    let trailing = broken(&trailing, indent, "");
    array.set_trailing_comma(trailing.contains('\n') && !array.is_empty());
    array.set_trailing(trailing);
}

/// What stands between two elements: line breaks and comments stay, indentation is made anew.
fn broken(raw: &str, indent: &str, blank: &str) -> String {
    let Some((first, rest)) = raw.split_once('\n') else { return blank.to_owned() };
    let comment = first.trim();
    let comment = if comment.is_empty() { String::new() } else { format!(" {comment}") };
    format!("{comment}\n{}{indent}", lines_before(rest, indent).trim_start_matches('\n'))
}

fn tidy_inline(table: &mut InlineTable, indent: &str) {
    let text = table.to_string();
    // Over several lines its layout is the author's.
    if text.trim().contains('\n') {
        return;
    }
    inline_keys(table, indent);
    table.set_trailing_comma(false);
    table.set_trailing(if table.is_empty() { "" } else { " " });
}

fn inline_keys(table: &mut InlineTable, indent: &str) {
    for (mut key, value) in table.iter_mut() {
        dotted(&mut key);
        key.leaf_decor_mut().set_prefix(" ");
        key.leaf_decor_mut().set_suffix(" ");
        match value {
            Value::InlineTable(inner) if inner.is_dotted() => {
                inline_keys(inner, indent);
                key.leaf_decor_mut().set_suffix("");
            }
            value => {
                tidy_value(value, indent);
                value.decor_mut().set_prefix(" ");
                value.decor_mut().set_suffix("");
            }
        }
    }
}

fn raw(raw: &RawString) -> String {
    raw.as_str().unwrap_or_default().to_owned()
}
