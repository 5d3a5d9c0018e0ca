//! Text to tree: the shape of the file, with the place of every key and value.
//!
//! In: TOML text. Out: a [`Tree`], or one diagnostic at the place of the first syntax error.
//! Nothing here knows what a key means.

use swarmyard_base::{Diagnostic, SourceId, Span};
use toml_edit::{Document, Item, Table, TableLike, Value};

/// Deepest nesting of tables and lists.
pub(crate) const MAX_DEPTH: usize = 32;

/// Most values in one text.
const MAX_VALUES: usize = 4_000_000;

/// A key and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A value and where it was written; for a section that is its header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    pub(crate) span: Span,
    pub(crate) data: Data,
}

/// What a value is, as far as the text says.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Data {
    Table(Vec<(Key, Tree)>),
    Array(Vec<Tree>),
    Str(String),
    /// A text that came from a parameter or from the command line: it is read as whatever is wanted.
    Loose(String),
    /// A value of a part file: read as whatever is wanted, a plain number in the laboratory's unit.
    Lab(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    Datetime,
    /// Something whose trouble was reported already.
    Failed,
}

impl Tree {
    /// The entries of a table.
    pub(crate) fn table(&self) -> Option<&[(Key, Tree)]> {
        match &self.data {
            Data::Table(entries) => Some(entries),
            _ => None,
        }
    }

    /// The entry of that key in a table.
    pub(crate) fn entry(&self, key: &str) -> Option<&(Key, Tree)> {
        self.table()?.iter().find(|(k, _)| k.text == key)
    }

    /// The value of that key in a table.
    pub(crate) fn get(&self, key: &str) -> Option<&Tree> {
        self.entry(key).map(|e| &e.1)
    }

    /// The text, if it is one.
    pub(crate) fn text(&self) -> Option<&str> {
        match &self.data {
            Data::Str(s) | Data::Loose(s) | Data::Lab(s) => Some(s),
            _ => None,
        }
    }

    /// What it is, in words for a person.
    pub(crate) fn word(&self) -> String {
        match &self.data {
            Data::Table(_) => "a table".into(),
            Data::Array(_) => "a list".into(),
            Data::Str(s) | Data::Loose(s) | Data::Lab(s) => format!("the text `{}`", shortened(s)),
            Data::Int(i) => format!("the number `{i}`"),
            Data::Float(x) => format!("the number `{x}`"),
            Data::Bool(b) => format!("`{b}`"),
            Data::Datetime => "a date".into(),
            Data::Failed => "this".into(),
        }
    }

    /// How many values it holds, itself included.
    pub(crate) fn size(&self) -> usize {
        1 + match &self.data {
            Data::Table(entries) => entries.iter().map(|(_, t)| t.size()).sum(),
            Data::Array(items) => items.iter().map(Tree::size).sum(),
            _ => 0,
        }
    }
}

/// A text from outside, cut to a length that fits in a message.
pub(crate) fn shortened(text: &str) -> String {
    if text.chars().count() <= 60 {
        return text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    }
    format!("{}…", text.chars().take(60).collect::<String>().escape_debug())
}

/// Reads TOML.
pub(crate) fn parse(text: &str, source: SourceId) -> Result<Tree, Diagnostic> {
    let here = |range: std::ops::Range<usize>| Span {
        source,
        start: u32::try_from(range.start).unwrap_or(u32::MAX),
        end: u32::try_from(range.end).unwrap_or(u32::MAX),
    };
    // Every value stands behind one of these bytes. The TOML library needs half a kilobyte for each,
    // so this is what bounds memory.
    let values = text.bytes().filter(|b| matches!(b, b',' | b'=' | b'[' | b'{')).count();
    if values > MAX_VALUES {
        let what = format!("a text may hold at most `{MAX_VALUES}` values, not `{values}`");
        return Err(Diagnostic::error("too-big", what).at(Some(here(0..0))));
    }
    let document = Document::parse(text).map_err(|e| {
        let end = text.len();
        let range = e.span().unwrap_or(end..end);
        Diagnostic::error("syntax", e.message().trim().to_owned()).at(Some(here(range)))
    })?;
    let maker = Maker { here: &here };
    maker.table(document.as_table(), here(0..0), 0)
}

struct Maker<'a> {
    here: &'a dyn Fn(std::ops::Range<usize>) -> Span,
}

impl Maker<'_> {
    fn table(&self, table: &Table, fallback: Span, depth: usize) -> Result<Tree, Diagnostic> {
        let span = table.span().map_or(fallback, self.here);
        self.entries(table, span, depth)
    }

    fn entries(&self, table: &dyn TableLike, span: Span, depth: usize) -> Result<Tree, Diagnostic> {
        check_depth(depth, span)?;
        let mut entries = Vec::with_capacity(table.len());
        for (name, item) in table.iter() {
            let key_span = table.key(name).and_then(|k| k.span()).map_or(span, self.here);
            let value = self.item(item, key_span, depth + 1)?;
            entries.push((Key { text: name.to_owned(), span: key_span }, value));
        }
        Ok(Tree { span, data: Data::Table(entries) })
    }

    fn item(&self, item: &Item, key: Span, depth: usize) -> Result<Tree, Diagnostic> {
        match item {
            Item::None => Ok(Tree { span: key, data: Data::Table(Vec::new()) }),
            Item::Value(value) => self.value(value, key, depth),
            Item::Table(table) => self.table(table, key, depth),
            Item::ArrayOfTables(array) => {
                check_depth(depth, key)?;
                let items: Result<_, _> = array.iter().map(|t| self.table(t, key, depth + 1)).collect();
                Ok(Tree { span: key, data: Data::Array(items?) })
            }
        }
    }

    fn value(&self, value: &Value, key: Span, depth: usize) -> Result<Tree, Diagnostic> {
        let span = value.span().map_or(key, self.here);
        check_depth(depth, span)?;
        let data = match value {
            Value::String(s) => Data::Str(s.value().clone()),
            Value::Integer(i) => Data::Int(*i.value()),
            Value::Float(x) => Data::Float(*x.value()),
            Value::Boolean(b) => Data::Bool(*b.value()),
            Value::Datetime(_) => Data::Datetime,
            Value::Array(array) => {
                let items: Result<_, _> = array.iter().map(|v| self.value(v, span, depth + 1)).collect();
                Data::Array(items?)
            }
            Value::InlineTable(table) => return self.entries(table, span, depth),
        };
        Ok(Tree { span, data })
    }
}

fn check_depth(depth: usize, span: Span) -> Result<(), Diagnostic> {
    if depth <= MAX_DEPTH {
        return Ok(());
    }
    Err(Diagnostic::error(
        "too-deep",
        format!("tables and lists may be nested at most `{MAX_DEPTH}` levels deep"),
    )
    .at(Some(span)))
}
