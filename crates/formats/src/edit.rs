//! Editing by program: one value changes, every other byte of the text stays.

use crate::overrides::{find, offset};
use crate::tree::{Data, Tree, parse};
use crate::{Failed, Limits};
use swarmyard_base::{Diagnostic, Sources, Span};

/// Sets the value at a key path such as `type.scout.part.drive.max_speed`.
///
/// `value` is TOML as written (`3`, `[1, 2]`, `"text"`), or else a text that gets its quotes here
/// (`2m/s`). A key that is not there yet is added to its section; a missing `[run]`, `[world]` or
/// `[record]` is added at the end.
///
/// # Errors
/// When the text is not TOML, or there is no such place in it.
pub fn set(text: &str, key_path: &str, value: &str) -> Result<String, Box<Failed>> {
    let mut sources = Sources::default();
    let source = sources.add("scenario", text);
    let edited = if text.len() > Limits::NORMAL.text {
        Err(Diagnostic::error("too-big", "the text is too long to edit"))
    } else {
        parse(text, source).and_then(|tree| {
            let edited = set_in(text, &tree, key_path, &written(value))?;
            parse(&edited, source).map(|_| edited)
        })
    };
    edited.map_err(|d| Box::new(Failed { sources, problems: d.into() }))
}

fn set_in(text: &str, root: &Tree, path: &str, value: &str) -> Result<String, Diagnostic> {
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    if last.is_empty() {
        return Err(Diagnostic::error("bad-override", format!("not a key: `{path}`")));
    }
    let mut at = root;
    for (depth, name) in parents.split('.').filter(|p| !p.is_empty()).enumerate() {
        match find(at, name) {
            Ok(next) => at = next,
            Err(_) if depth == 0 && name == parents && crate::overrides::IMPLIED.contains(&name) => {
                return Ok(append_section(text, name, last, value));
            }
            Err(d) => return Err(d),
        }
    }
    if let Ok(old) = find(at, last) {
        if is_section(text, old) {
            return Err(Diagnostic::error("bad-override", format!("`{path}` is a section, not a value")));
        }
        return Ok(splice(text, old.span, value));
    }
    let Data::Table(entries) = &at.data else {
        return Err(Diagnostic::error("bad-override", format!("there is nothing called `{last}` here")));
    };
    let pair = format!("{} = {value}", toml_edit::Key::new(last).display_repr());
    let own = entries.iter().map(|e| &e.1).rfind(|t| !is_section(text, t));
    let header = text.get(at.span.start as usize..at.span.end as usize).unwrap_or("");
    if header.starts_with('{') {
        let Some(last) = own else { return Ok(splice(text, at.span, &format!("{{ {pair} }}"))) };
        let end = Span { start: last.span.end, ..last.span };
        return Ok(splice(text, end, &format!(", {pair}")));
    }
    let is_root = std::ptr::eq(at, root);
    if !is_root && !header.starts_with('[') {
        return Err(Diagnostic::error(
            "bad-override",
            format!("there is no section `[{parents}]` to put `{last}` in"),
        ));
    }
    let newline = newline_of(text);
    let Some(after) = own.map(|t| t.span.end).or((!is_root).then_some(at.span.end)) else {
        return Ok(format!("{pair}{newline}{text}"));
    };
    let rest = &text[after as usize..];
    let line_end = after as usize + rest.find(['\r', '\n']).unwrap_or(rest.len());
    let place = Span { source: at.span.source, start: offset(line_end), end: offset(line_end) };
    Ok(splice(text, place, &format!("{newline}{pair}")))
}

fn append_section(text: &str, section: &str, key: &str, value: &str) -> String {
    let newline = newline_of(text);
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let key = toml_edit::Key::new(key);
    format!("{text}{gap}{newline}[{section}]{newline}{} = {value}{newline}", key.display_repr())
}

fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn splice(text: &str, span: Span, new: &str) -> String {
    format!("{}{new}{}", &text[..span.start as usize], &text[span.end as usize..])
}

/// Whether a value is written as sections with headers (or dotted keys), not after one `=`.
fn is_section(text: &str, tree: &Tree) -> bool {
    let starts = |c: char| text.get(tree.span.start as usize..).is_some_and(|t| t.starts_with(c));
    match &tree.data {
        Data::Table(_) => !starts('{'),
        Data::Array(_) => !starts('['),
        _ => false,
    }
}

/// A value as TOML: as it is, or else in quotes.
fn written(value: &str) -> String {
    let value = value.trim();
    let alone = |t: Tree| t.table().is_some_and(|entries| entries.len() == 1);
    let is_toml = !value.contains('#') && !value.contains('\n');
    if is_toml && parse(&format!("v={value}"), Default::default()).is_ok_and(alone) {
        return value.to_owned();
    }
    toml_edit::Value::from(value).to_string()
}
