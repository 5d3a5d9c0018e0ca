//! Where everything of a scenario's text stands: sections by their headers, and addresses.
//!
//! In: TOML text. Out: a [`Plan`] that finds the table behind an address such as `robot[2]`, the lines
//! that belong to it, and the keys written in it. Nothing here changes a text or knows a class.
//!
//! A *section* is a header with the lines below it. Comment lines directly above a header belong to it;
//! so do comment lines directly below its last key, unless they stand directly above the next header.

use super::sections::{Shape, inside, sort_of};
use crate::edit::{begins, line_end, range};
use crate::tree::{Data, Key, Tree, parse};
use crate::{Failed, Limits};
use std::ops::Range;
use swarmyard_base::{Diagnostic, SourceId, Sources, Span};

/// The address of the keys before the first header.
pub(crate) const SCENARIO: &str = "scenario";

/// Keys that describe the file itself.
const SCENARIO_KEYS: [&str; 4] = ["format", "title", "about", "include"];

/// One step from a table or list into it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    At(usize),
}

/// A header and the lines that belong to it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    /// The way to its table.
    pub(super) steps: Vec<Step>,
    /// The header itself, from `[` to `]`.
    pub(super) header: Range<usize>,
    /// Start of its first line, comments above included.
    pub(super) start: usize,
    /// End of its last line, before the newline.
    pub(super) end: usize,
}

/// One thing that has an address.
#[derive(Clone, Debug)]
pub(super) struct Item {
    pub(super) key: String,
    pub(super) section: &'static str,
    /// The way to its table.
    pub(super) steps: Vec<Step>,
    /// Its own name, when that is a part of its address.
    pub(super) name: Option<String>,
    /// The template it stands in.
    pub(super) template: Option<String>,
}

/// A key that is written in an item, with nested tables taken apart.
pub(super) struct Leaf<'p> {
    /// The key, with dots between those of nested tables.
    pub(super) name: String,
    /// The same as TOML writes it.
    pub(super) written: String,
    pub(super) key: &'p Key,
    pub(super) value: &'p Tree,
}

/// A text and where its things stand.
pub(super) struct Plan<'t> {
    pub(super) text: &'t str,
    pub(super) tree: Tree,
    /// In the order of the text.
    pub(super) sections: Vec<Section>,
    /// In the order of the text.
    pub(super) items: Vec<Item>,
}

/// A problem of an edit, with the text it is about.
pub(super) fn failed(name: &str, text: &str, d: Diagnostic) -> Box<Failed> {
    let mut sources = Sources::default();
    sources.add(name, text);
    Box::new(Failed { sources, problems: d.into() })
}

impl<'t> Plan<'t> {
    pub(super) fn of(text: &'t str) -> Result<Plan<'t>, Diagnostic> {
        if text.len() > Limits::NORMAL.text {
            return Err(Diagnostic::error("too-big", "the text is too long to edit"));
        }
        let tree = parse(text, SourceId(0))?;
        let sections = sections(text, &tree);
        let items = items(&tree);
        Ok(Plan { text, tree, sections, items })
    }

    /// The item at an address.
    pub(super) fn item(&self, key: &str) -> Option<&Item> {
        self.items.iter().find(|i| i.key == key)
    }

    /// The table at the end of a way.
    pub(super) fn at(&self, steps: &[Step]) -> Option<&Tree> {
        steps.iter().try_fold(&self.tree, |tree, step| match (step, &tree.data) {
            (Step::Key(key), _) => tree.get(key),
            (Step::At(k), Data::Array(items)) => items.get(*k),
            _ => None,
        })
    }

    /// The table of an item.
    pub(super) fn table(&self, item: &Item) -> &Tree {
        self.at(&item.steps).unwrap_or(&self.tree)
    }

    /// The numbers of the sections that belong to a way, its own first header and those below.
    pub(super) fn sections_of(&self, steps: &[Step]) -> Vec<usize> {
        let belongs = |s: &Section| s.steps.starts_with(steps);
        (0..self.sections.len()).filter(|k| belongs(&self.sections[*k])).collect()
    }

    /// The keys written in an item, those of parts and the like below it not included.
    pub(super) fn leaves(&self, item: &Item) -> Vec<Leaf<'_>> {
        let mut out = Vec::new();
        let skip = |key: &str| match item.section {
            SCENARIO => !SCENARIO_KEYS.contains(&key),
            section => inside(section).any(|word| word == key),
        };
        self.add_leaves(self.table(item), ("", ""), &skip, &mut out);
        out.sort_by_key(|l| l.value.span.start);
        out
    }

    fn add_leaves<'p>(
        &self,
        of: &'p Tree,
        (prefix, written): (&str, &str),
        skip: &dyn Fn(&str) -> bool,
        out: &mut Vec<Leaf<'p>>,
    ) {
        for (key, value) in of.table().unwrap_or_default() {
            if prefix.is_empty() && skip(&key.text) {
                continue;
            }
            let name = format!("{prefix}{}", key.text);
            let written = format!("{written}{}", repr(&key.text));
            match &value.data {
                Data::Table(_) if !begins(self.text, value, '{') => {
                    let prefixes = (format!("{name}."), format!("{written}."));
                    self.add_leaves(value, (&prefixes.0, &prefixes.1), skip, out);
                }
                Data::Array(_) if !begins(self.text, value, '[') => {}
                _ => out.push(Leaf { name, written, key, value }),
            }
        }
    }

    /// The text as it is written at a place.
    pub(super) fn raw(&self, span: Span) -> &'t str {
        self.text.get(range(span)).unwrap_or("")
    }

    /// The value of a key of an item as text, when it is a plain text.
    pub(super) fn said(&self, item: &Item, key: &str) -> Option<&str> {
        match &self.table(item).get(key)?.data {
            Data::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The name that an item was given.
    pub(super) fn name<'p>(&'p self, item: &'p Item) -> Option<&'p str> {
        item.name.as_deref().or_else(|| self.said(item, "name"))
    }
}

/// A key as TOML writes it.
pub(super) fn repr(key: &str) -> String {
    toml_edit::Key::new(key).display_repr().into_owned()
}

/// The start of the line that `at` is in.
pub(super) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |k| k + 1)
}

/// One past the newline that stands at `end`; `end` itself when the text ends there.
pub(super) fn after_newline(text: &str, end: usize) -> usize {
    let rest = &text[end..];
    end + if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
}

/// The keys of a header or of a dotted key, each with its place in `text`.
pub(super) fn key_parts(text: &str, whole: Range<usize>) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut parts = Vec::new();
    let mut at = whole.start;
    while at < whole.end {
        let start = at;
        match bytes[at] {
            quote @ (b'"' | b'\'') => {
                at += 1;
                while at < whole.end && bytes[at] != quote {
                    at += if quote == b'"' && bytes[at] == b'\\' { 2 } else { 1 };
                }
                at = (at + 1).min(whole.end);
                parts.push(start..at);
            }
            b'[' | b']' | b'.' | b' ' | b'\t' => at += 1,
            b'=' => break,
            _ => {
                let ends = |b: &u8| matches!(b, b'[' | b']' | b'.' | b' ' | b'\t' | b'=' | b'"' | b'\'');
                at += bytes[at..whole.end].iter().position(ends).unwrap_or(whole.end - at).max(1);
                parts.push(start..at);
            }
        }
    }
    parts
}

/// All headers with their lines.
fn sections(text: &str, root: &Tree) -> Vec<Section> {
    // The end of the last line of each with a key, besides.
    let mut found: Vec<(Section, usize)> = Vec::new();
    headers(text, root, &mut Vec::new(), &mut found);
    found.sort_by_key(|s| s.0.header.start);
    let mut floor = own_end(text, root).map_or(0, |end| line_end(text, end));
    for (section, own_end) in &mut found {
        section.start = line_start(text, section.header.start);
        while section.start > floor {
            let above = line_start(text, section.start - 1);
            if above < floor || !is_comment(&text[above..section.start]) {
                break;
            }
            section.start = above;
        }
        floor = *own_end;
    }
    for k in 0..found.len() {
        let limit = found.get(k + 1).map_or(text.len(), |next| next.0.start);
        found[k].0.end = with_comments_below(text, found[k].1, limit);
    }
    found.into_iter().map(|f| f.0).collect()
}

fn headers(text: &str, tree: &Tree, steps: &mut Vec<Step>, out: &mut Vec<(Section, usize)>) {
    if !steps.is_empty() && tree.table().is_some() && begins(text, tree, '[') {
        let header = range(tree.span);
        let last = own_end(text, tree).unwrap_or(0).max(header.end);
        let section = Section { steps: steps.clone(), header, start: 0, end: 0 };
        out.push((section, line_end(text, last)));
    }
    match &tree.data {
        Data::Table(_) if begins(text, tree, '{') && !steps.is_empty() => {}
        Data::Table(entries) => {
            for (key, value) in entries {
                steps.push(Step::Key(key.text.clone()));
                headers(text, value, steps, out);
                steps.pop();
            }
        }
        Data::Array(list) if !begins(text, tree, '[') => {
            for (k, value) in list.iter().enumerate() {
                steps.push(Step::At(k));
                headers(text, value, steps, out);
                steps.pop();
            }
        }
        _ => {}
    }
}

/// The end of the last value that stands below the header of a table itself.
fn own_end(text: &str, table: &Tree) -> Option<usize> {
    let ends = table.table()?.iter().filter_map(|(_, value)| match &value.data {
        Data::Table(_) if begins(text, value, '[') => None,
        Data::Table(_) if !begins(text, value, '{') => own_end(text, value),
        Data::Array(_) if !begins(text, value, '[') => None,
        _ => Some(range(value.span).end),
    });
    ends.max()
}

fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The end of the comment lines that follow a line directly, before `limit`.
fn with_comments_below(text: &str, mut end: usize, limit: usize) -> usize {
    loop {
        let next = after_newline(text, end);
        if next == end || next >= limit || !is_comment(&text[next..line_end(text, next)]) {
            return end;
        }
        end = line_end(text, next);
    }
}

/// All things with addresses.
fn items(root: &Tree) -> Vec<Item> {
    let scenario =
        Item { key: SCENARIO.into(), section: SCENARIO, steps: Vec::new(), name: None, template: None };
    let mut out = vec![(0, scenario)];
    for (key, tree) in root.table().unwrap_or_default() {
        let steps = vec![Step::Key(key.text.clone())];
        let section = key.text.as_str();
        match sort_of(section).map(|s| s.shape) {
            Some(Shape::Only) if tree.table().is_some() => add(&mut out, section, section, steps, tree, None),
            Some(Shape::Named) => named_items(&mut out, key, tree),
            Some(Shape::List) => list_items(&mut out, section, section, &steps, tree, None),
            _ => {}
        }
    }
    out.sort_by_key(|i| i.0);
    out.into_iter().map(|i| i.1).collect()
}

type Found = Vec<(u32, Item)>;

fn add(out: &mut Found, key: &str, section: &str, steps: Vec<Step>, tree: &Tree, template: Option<&str>) {
    let section = sort_of(section).map_or("assert", |s| s.word);
    let item =
        Item { key: key.to_owned(), section, steps, name: None, template: template.map(str::to_owned) };
    out.push((tree.span.start, item));
}

fn named_items(out: &mut Found, section: &Key, tree: &Tree) {
    for (name, table) in tree.table().unwrap_or_default() {
        if table.table().is_none() {
            continue;
        }
        let key = format!("{}.{}", section.text, quoted(&name.text));
        let steps = vec![Step::Key(section.text.clone()), Step::Key(name.text.clone())];
        add(out, &key, &section.text, steps.clone(), table, None);
        if let Some((_, item)) = out.last_mut() {
            item.name = Some(name.text.clone());
        }
        let template = (section.text == "template").then_some(name.text.as_str());
        for list in inside(&section.text) {
            let Some(tree) = table.get(list) else { continue };
            let steps = [&steps[..], &[Step::Key(list.to_owned())]].concat();
            list_items(out, &format!("{key}.{list}"), list, &steps, tree, template);
        }
    }
}

/// A name as it stands in an address: in quotes when its dots could be mistaken.
pub(super) fn quoted(name: &str) -> String {
    if name.contains('.') { format!("\"{name}\"") } else { name.to_owned() }
}

fn list_items(
    out: &mut Found,
    key: &str,
    section: &str,
    steps: &[Step],
    tree: &Tree,
    template: Option<&str>,
) {
    match &tree.data {
        Data::Array(list) => {
            for (k, table) in list.iter().enumerate().filter(|t| t.1.table().is_some()) {
                let steps = [steps, &[Step::At(k)]].concat();
                add(out, &format!("{key}[{k}]"), section, steps, table, template);
            }
        }
        Data::Table(_) if sort_of(section).is_some_and(|s| s.shape == Shape::OneInType) => {
            add(out, key, section, steps.to_vec(), tree, template);
        }
        _ => {}
    }
}
