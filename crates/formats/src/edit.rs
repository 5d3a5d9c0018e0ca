//! Editing by program: one value changes, every other byte of the text stays.

use crate::overrides::find;
use crate::tree::{Data, Tree, parse};
use crate::{Failed, Limits};
use std::ops::Range;
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
        return Ok(splice(text, range(old.span), value));
    }
    let (place, new) = new_key(text, root, at, last, value)?;
    Ok(splice(text, place, &new))
}

/// Where a new key of the table `at` goes, and what is written there.
pub(crate) fn new_key(
    text: &str,
    root: &Tree,
    at: &Tree,
    key: &str,
    value: &str,
) -> Result<(Range<usize>, String), Diagnostic> {
    let Data::Table(entries) = &at.data else {
        return Err(Diagnostic::error("bad-override", format!("there is nothing called `{key}` here")));
    };
    let pair = format!("{} = {value}", toml_edit::Key::new(key).display_repr());
    let own = entries.iter().rfind(|e| !is_section(text, &e.1));
    if begins(text, at, '{') {
        let start = range(at.span).start + 1;
        return Ok(match own {
            Some((_, last)) => (range(last.span).end..range(last.span).end, format!(", {pair}")),
            None if entries.is_empty() => (range(at.span), format!("{{ {pair} }}")),
            None => (start..start, format!(" {pair},")),
        });
    }
    let newline = newline_of(text);
    let is_root = std::ptr::eq(at, root);
    let mut prefix = "";
    if !is_root && !begins(text, at, '[') {
        // A table without a header exists by dotted keys: the new one is written like the last of them.
        prefix = own.and_then(|(k, _)| dotted_prefix(text, k.span)).ok_or_else(|| {
            Diagnostic::error("bad-override", format!("there is no section to put `{key}` in"))
                .at(Some(at.span))
        })?;
    }
    let Some(after) = own.map(|e| e.1.span.end).or((!is_root).then_some(at.span.end)) else {
        return Ok((0..0, format!("{pair}{newline}")));
    };
    let line_end = line_end(text, after as usize);
    Ok((line_end..line_end, format!("{newline}{prefix}{pair}")))
}

/// What stands before the last part of a dotted key, with its dot: `run.` of `run.seed`.
fn dotted_prefix(text: &str, last: Span) -> Option<&str> {
    let line = text[..last.start as usize].rfind('\n').map_or(0, |k| k + 1);
    let prefix = &text[line..last.start as usize];
    (prefix.trim_end().ends_with('.') && !prefix.contains(['=', '{', '#'])).then_some(prefix)
}

fn append_section(text: &str, section: &str, key: &str, value: &str) -> String {
    let newline = newline_of(text);
    let gap = if text.is_empty() || text.ends_with('\n') { "" } else { newline };
    let key = toml_edit::Key::new(key);
    format!("{text}{gap}{newline}[{section}]{newline}{} = {value}{newline}", key.display_repr())
}

/// How lines of this text end.
pub(crate) fn newline_of(text: &str) -> &'static str {
    if text.contains("\r\n") { "\r\n" } else { "\n" }
}

fn splice(text: &str, place: Range<usize>, new: &str) -> String {
    format!("{}{new}{}", &text[..place.start], &text[place.end..])
}

/// A place as bytes of its text.
pub(crate) fn range(span: Span) -> Range<usize> {
    span.start as usize..span.end as usize
}

/// The end of the line that `at` is in, before its newline.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let rest = &text[at..];
    let end = rest.find('\n').unwrap_or(rest.len());
    at + rest[..end].strip_suffix('\r').map_or(end, str::len)
}

/// Whether a value is written from this character on.
pub(crate) fn begins(text: &str, tree: &Tree, with: char) -> bool {
    text.get(tree.span.start as usize..).is_some_and(|t| t.starts_with(with))
}

/// Whether a value is written as sections with headers (or dotted keys), not after one `=`.
pub(crate) fn is_section(text: &str, tree: &Tree) -> bool {
    match &tree.data {
        Data::Table(_) => !begins(text, tree, '{'),
        Data::Array(_) => !begins(text, tree, '['),
        _ => false,
    }
}

/// A value as TOML: as it is, or else in quotes.
pub(crate) fn written(value: &str) -> String {
    let value = value.trim();
    let alone = |t: Tree| t.table().is_some_and(|entries| entries.len() == 1);
    let is_toml = !value.contains('#') && !value.contains('\n');
    if is_toml && parse(&format!("v={value}"), Default::default()).is_ok_and(alone) {
        return value.to_owned();
    }
    toml_edit::Value::from(value).to_string()
}
