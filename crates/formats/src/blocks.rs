//! Part files: blocks of keys and values as a laboratory writes them, kept to the byte.
//!
//! In: text such as `Sensor = { Cone Angle = 30 }`. Out: a [`File`], a tree that knows every blank and
//! comment, so writing it back gives the identical text; or every problem at its place. Setting one
//! value changes only that value. The grammar is in `docs/part-files.md`.
//!
//! Nothing here knows what a key means.

mod read;

use crate::Failed;
use crate::tree::shortened;
use std::fmt;
use swarmyard_base::{Diagnostic, Sources, Span};

pub(crate) use read::read;

/// Most bytes of one text.
pub const MAX_TEXT: usize = 1 << 20;
/// Deepest nesting of blocks and lists.
pub const MAX_DEPTH: usize = 32;
/// Most keys and values of one text.
pub const MAX_VALUES: usize = 100_000;

/// A text as a tree. Its `Display` is the text.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    entries: Vec<Entry>,
    /// What stands behind the last entry.
    after: String,
}

/// A key and its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Blanks, comments and a comma before the key.
    before: String,
    key: String,
    key_span: Span,
    /// The equals sign and what is around it.
    equals: String,
    value: Value,
}

/// What stands behind an equals sign.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A number with or without unit, a word, or a text in quotes.
    Plain(Plain),
    /// `[…]`
    List(List),
    /// `{…}`
    Block(Block),
}

/// A value that holds no others.
#[derive(Clone, Debug, PartialEq)]
pub struct Plain {
    raw: String,
    span: Span,
}

/// Values in brackets.
#[derive(Clone, Debug, PartialEq)]
pub struct List {
    /// Each with what stands before it.
    items: Vec<(String, Value)>,
    after: String,
    span: Span,
}

/// Keys and values in braces.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    entries: Vec<Entry>,
    after: String,
    span: Span,
}

/// A key as scenarios write it: lower case, `_` for blanks. `Cone Angle` is `cone_angle`.
#[must_use]
pub fn normal(key: &str) -> String {
    key.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

/// Reads a text.
///
/// # Errors
/// All problems at once, in the order of the text.
pub fn parse(name: &str, text: &str) -> Result<File, Box<Failed>> {
    let mut sources = Sources::default();
    let source = sources.add(name, text);
    read(text, source).map_err(|problems| Box::new(Failed { sources, problems }))
}

/// Sets the value at a path such as `Sensor.Cone Angle`; every other byte of the text stays.
///
/// Keys are compared without regard to case and blanks; a block is also found by its `Name`. `value`
/// is written as it is if it reads as one value, and in quotes otherwise. A key that is not there yet
/// is added at the end of its block.
///
/// # Errors
/// When the text cannot be read, or there is no such place in it.
pub fn set(text: &str, path: &str, value: &str) -> Result<String, Box<Failed>> {
    let mut file = parse("part file", text)?;
    file.set(path, value).map_err(|d| {
        let mut sources = Sources::default();
        sources.add("part file", text);
        Box::new(Failed { sources, problems: d.into() })
    })?;
    Ok(file.to_string())
}

impl File {
    /// Its entries, in the order of the text.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What stands at a path such as `Sensor.Cone Angle`.
    #[must_use]
    pub fn get(&self, path: &str) -> Option<&Value> {
        let mut entries = &self.entries;
        let mut parts = path.split('.').peekable();
        while let Some(part) = parts.next() {
            let value = &entries[position(entries, part).ok()??].value;
            if parts.peek().is_none() {
                return Some(value);
            }
            let Value::Block(block) = value else { return None };
            entries = &block.entries;
        }
        None
    }

    /// Sets the value at a path; see [`set`].
    ///
    /// # Errors
    /// When there is no such place. Nothing is changed then.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Diagnostic> {
        let value = value.trim();
        let mut wanted = self.clone();
        let raw = if is_value(value) { value.to_owned() } else { quoted(value)? };
        let newline = if self.to_string().contains("\r\n") { "\r\n" } else { "\n" };
        put(&mut wanted.entries, &mut wanted.after, path, &raw, newline)?;
        if !wanted.reads_as_itself() {
            // On a line with other keys a unit can be taken for the beginning of the next key.
            wanted = self.clone();
            put(&mut wanted.entries, &mut wanted.after, path, &quoted(value)?, newline)?;
            if !wanted.reads_as_itself() {
                let what = format!("the text could not be read with `{}` in it", shortened(value));
                return Err(Diagnostic::error("bad-override", what));
            }
        }
        *self = wanted;
        Ok(())
    }

    /// Whether reading its text gives the same keys and values again.
    fn reads_as_itself(&self) -> bool {
        let text = self.to_string();
        let words = |file: &File| {
            let mut out = Vec::new();
            flatten(&file.entries, &mut out);
            out
        };
        read(&text, Default::default()).is_ok_and(|again| words(&again) == words(self))
    }
}

impl Entry {
    /// The key as it was written.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Where the key was written.
    #[must_use]
    pub fn key_span(&self) -> Span {
        self.key_span
    }

    /// The value.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.value
    }
}

impl Value {
    /// Where it was written.
    #[must_use]
    pub fn span(&self) -> Span {
        match self {
            Value::Plain(plain) => plain.span,
            Value::List(list) => list.span,
            Value::Block(block) => block.span,
        }
    }
}

impl Plain {
    /// The text without its quotes.
    #[must_use]
    pub fn text(&self) -> String {
        let Some(inner) = self.raw.strip_prefix('"').and_then(|r| r.strip_suffix('"')) else {
            return self.raw.clone();
        };
        let mut out = String::with_capacity(inner.len());
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            out.extend(if c == '\\' { chars.next() } else { Some(c) });
        }
        out
    }
}

impl List {
    /// Its values.
    pub fn items(&self) -> impl Iterator<Item = &Value> {
        self.items.iter().map(|i| &i.1)
    }
}

impl Block {
    /// Its entries, in the order of the text.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }
}

impl fmt::Display for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.entries.iter().try_for_each(|e| e.fmt(f))?;
        f.write_str(&self.after)
    }
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}{}", self.before, self.key, self.equals, self.value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Plain(plain) => f.write_str(&plain.raw),
            Value::List(list) => {
                f.write_str("[")?;
                list.items.iter().try_for_each(|(before, value)| write!(f, "{before}{value}"))?;
                write!(f, "{}]", list.after)
            }
            Value::Block(block) => {
                f.write_str("{")?;
                block.entries.iter().try_for_each(|e| e.fmt(f))?;
                write!(f, "{}}}", block.after)
            }
        }
    }
}

/// The entry of that key, or the block of that name.
fn position(entries: &[Entry], part: &str) -> Result<Option<usize>, Diagnostic> {
    let wanted = normal(part);
    let is_called = |e: &Entry| match &e.value {
        Value::Block(block) => block.entries.iter().any(|e| match &e.value {
            Value::Plain(plain) => normal(&e.key) == "name" && plain.text() == part,
            _ => false,
        }),
        _ => false,
    };
    if let Some(at) = entries.iter().position(is_called) {
        return Ok(Some(at));
    }
    let mut found = entries.iter().enumerate().filter(|(_, e)| normal(&e.key) == wanted).map(|e| e.0);
    let first = found.next();
    if found.next().is_some() {
        let what = format!("several things are called `{}` here", shortened(part));
        return Err(Diagnostic::error("bad-override", what).help("use the `Name` of the block instead"));
    }
    Ok(first)
}

/// Writes a value at a path.
fn put(
    entries: &mut Vec<Entry>,
    after: &mut String,
    path: &str,
    raw: &str,
    newline: &str,
) -> Result<(), Diagnostic> {
    let (part, rest) = path.split_once('.').map_or((path, None), |(part, rest)| (part, Some(rest)));
    let problem = |what: String| Diagnostic::error("bad-override", what);
    let Some(at) = position(entries, part)? else {
        if rest.is_none() {
            return append(entries, after, part, raw, newline);
        }
        let keys = entries.iter().map(|e| e.key.as_str());
        return Err(
            problem(format!("there is nothing called `{}` here", shortened(part))).suggest(part, keys)
        );
    };
    match (&mut entries[at].value, rest) {
        (Value::Block(block), Some(rest)) => put(&mut block.entries, &mut block.after, rest, raw, newline),
        (Value::Block(_), None) => Err(problem(format!("`{}` is a block, not a value", shortened(part)))),
        (_, Some(_)) => Err(problem(format!("`{}` is a value, not a block", shortened(part)))),
        (value, None) => {
            *value = Value::Plain(Plain { raw: raw.to_owned(), span: value.span() });
            Ok(())
        }
    }
}

/// Adds a key at the end of a block, laid out like the one before it.
fn append(
    entries: &mut Vec<Entry>,
    after: &mut String,
    key: &str,
    raw: &str,
    newline: &str,
) -> Result<(), Diagnostic> {
    let key = key.trim();
    if key.is_empty() || !key.chars().all(|c| read::is_key_char(c) || c == ' ') {
        return Err(Diagnostic::error("bad-override", format!("not a key: `{}`", shortened(key))));
    }
    let mut before = String::from(" ");
    if let Some(at) = after.rfind('\n') {
        let at = if after[..at].ends_with('\r') { at - 1 } else { at };
        let indent = entries.last().and_then(|e| e.before.rsplit_once('\n')).map(|b| b.1);
        // Only blanks are an indentation; a comment there stays alone.
        let indent =
            indent.filter(|i| i.trim().is_empty()).unwrap_or(if entries.is_empty() { "    " } else { "" });
        before = format!("{}{newline}{indent}", &after[..at]);
        after.drain(..at);
    } else if after.contains(['#', '/']) || entries.is_empty() {
        before = format!("{after}{newline}");
        *after = newline.to_owned();
    }
    let span = Span { source: Default::default(), start: 0, end: 0 };
    entries.push(Entry {
        before,
        key: key.to_owned(),
        key_span: span,
        equals: " = ".into(),
        value: Value::Plain(Plain { raw: raw.to_owned(), span }),
    });
    Ok(())
}

/// Whether a text is one plain value or list as it stands.
fn is_value(text: &str) -> bool {
    let Ok(file) = read(&format!("v={text}"), Default::default()) else { return false };
    let [entry] = file.entries.as_slice() else { return false };
    !matches!(entry.value, Value::Block(_)) && entry.value.to_string() == text
}

/// A text in quotes.
fn quoted(text: &str) -> Result<String, Diagnostic> {
    if text.contains(['\n', '\r']) || text.chars().any(char::is_control) {
        let what = format!("a text in a part file has one line: `{}`", shortened(text));
        return Err(Diagnostic::error("bad-override", what));
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}

/// Keys and values in order, without layout.
fn flatten(entries: &[Entry], out: &mut Vec<String>) {
    for entry in entries {
        out.push(entry.key.clone());
        match &entry.value {
            Value::Block(block) => {
                out.push("{".into());
                flatten(&block.entries, out);
                out.push("}".into());
            }
            value => out.push(value.to_string()),
        }
    }
}
