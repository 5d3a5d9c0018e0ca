//! Splices: which bytes of a text are replaced by which.
//!
//! In: places of a [`Plan`] and what is wanted there. Out: [`Splice`]s, all by the bytes of the original
//! text, and the text with all of them done. Two splices that touch the same bytes are an error, except
//! two that only take away.

use super::plan::{Item, Leaf, Plan, Section, Step, after_newline, line_start, repr};
use crate::edit::{begins, line_end, newline_of, range};
use crate::tree::{Data, Key, Tree};
use std::ops::Range;
use swarmyard_base::Diagnostic;

/// Bytes to replace.
#[derive(Clone, Debug)]
pub(super) struct Splice {
    pub(super) place: Range<usize>,
    pub(super) new: String,
}

impl Splice {
    pub(super) fn cut(place: Range<usize>) -> Splice {
        Splice { place, new: String::new() }
    }
}

/// A refusal.
pub(super) fn refused(what: impl Into<String>) -> Diagnostic {
    Diagnostic::error("bad-edit", what)
}

/// The text with all splices done.
pub(super) fn spliced(text: &str, mut splices: Vec<Splice>) -> Result<String, Diagnostic> {
    // What is put in at a place comes before what is replaced from there on.
    splices.sort_by_key(|s| (s.place.start, s.place.start != s.place.end));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    let mut only_cuts = true;
    for splice in splices {
        let is_cut = splice.new.is_empty();
        if splice.place.start < at && !(is_cut && only_cuts) {
            let line = text[..splice.place.start].matches('\n').count() + 1;
            return Err(refused(format!("two changes want the same place, at line `{line}`"))
                .help("send them one after the other"));
        }
        if splice.place.start >= at {
            out.push_str(&text[at..splice.place.start]);
            only_cuts = true;
        }
        only_cuts &= is_cut;
        out.push_str(&splice.new);
        at = at.max(splice.place.end);
    }
    out.push_str(&text[at..]);
    Ok(out)
}

impl Plan<'_> {
    /// Where a new section goes: after the last one at or below the first of these ways that has any;
    /// else at the end of the text.
    pub(super) fn place_for(&self, ways: &[&[Step]]) -> usize {
        let last = |way: &&[Step]| self.sections.iter().rfind(|s| s.steps.starts_with(way)).map(|s| s.end);
        ways.iter().find_map(last).unwrap_or_else(|| line_end(self.text, self.text.trim_end().len()))
    }

    /// Puts a section in at a place from [`Plan::place_for`], with an empty line before it; where the
    /// next line is not empty sections follow one another directly, and so does this one.
    pub(super) fn put_section(&self, place: usize, section: &str) -> Splice {
        let newline = newline_of(self.text);
        let section = section.trim_end();
        if self.text.trim_end().is_empty() {
            return Splice { place: 0..0, new: format!("{section}{newline}") };
        }
        let next = after_newline(self.text, place);
        let dense = next > place && !self.text[next..line_end(self.text, next)].trim().is_empty();
        let gap = if dense || self.text[..place].trim().is_empty() { "" } else { newline };
        Splice { place: place..place, new: format!("{newline}{gap}{section}") }
    }

    /// Takes away sections that stand one after the other, with the comments above the first. One gap
    /// stays between the neighbours.
    pub(super) fn cut_sections(&self, first: &Section, last: &Section) -> Splice {
        let text = self.text;
        let (start, end) = (first.start, last.end);
        let rest = &text[end..];
        let after = end + (rest.len() - rest.trim_start().len());
        let newlines = |r: Range<usize>| text[r].matches('\n').count();
        if text[..start].trim().is_empty() {
            let behind = if after == text.len() { after_newline(text, end) } else { line_start(text, after) };
            return Splice::cut(start..behind);
        }
        let before = line_end(text, text[..start].trim_end().len());
        if after < text.len() && newlines(end..after) < 2 && newlines(before..start) > 1 {
            return Splice::cut(start..after_newline(text, end));
        }
        Splice::cut(before..end)
    }

    /// Takes away an item with all that is below it.
    pub(super) fn cut_item(&self, item: &Item) -> Vec<Splice> {
        let table = self.table(item);
        if begins(self.text, table, '{') {
            return self.cut_inline(&item.steps).into_iter().collect();
        }
        let mut splices = self.cut_all(&self.sections_of(&item.steps));
        if !begins(self.text, table, '[') {
            let below = |i: &&Item| i.steps.starts_with(&item.steps) && self.own_header(i).is_none();
            for item in self.items.iter().filter(below) {
                splices.extend(self.leaves(item).iter().map(|leaf| self.cut_leaf(item, leaf)));
            }
        }
        splices
    }

    /// The header of an item's own table, if it has one.
    pub(super) fn own_header(&self, item: &Item) -> Option<Range<usize>> {
        let table = self.table(item);
        (begins(self.text, table, '[') && !item.steps.is_empty()).then(|| range(table.span))
    }

    /// Takes away sections by their numbers, neighbours together.
    pub(super) fn cut_all(&self, numbers: &[usize]) -> Vec<Splice> {
        let runs = numbers.chunk_by(|a, b| a + 1 == *b);
        let ends = |run: &[usize]| Some((*run.first()?, *run.last()?));
        runs.filter_map(ends).map(|(a, b)| self.cut_sections(&self.sections[a], &self.sections[b])).collect()
    }

    /// Takes away one key: its whole line with the comment behind it. Comments above stay, for they may
    /// speak about more than this key.
    pub(super) fn cut_leaf(&self, item: &Item, leaf: &Leaf<'_>) -> Splice {
        if begins(self.text, self.table(item), '{') {
            let place = |l: &Leaf<'_>| self.key_start(l.key.span.start)..range(l.value.span).end;
            let leaves = self.leaves(item);
            let at = leaves.iter().position(|l| l.name == leaf.name).unwrap_or(0);
            return self.cut_from_list(&leaves.iter().map(place).collect::<Vec<_>>(), at);
        }
        self.cut_line(leaf.key.span.start, leaf.value)
    }

    fn cut_line(&self, key: u32, value: &Tree) -> Splice {
        let start = line_start(self.text, key as usize);
        Splice::cut(start..after_newline(self.text, line_end(self.text, range(value.span).end)))
    }

    /// Takes away an inline table: from its list, or with its key.
    fn cut_inline(&self, steps: &[Step]) -> Option<Splice> {
        let (last, parents) = steps.split_last()?;
        let parent = self.at(parents)?;
        match (last, &parent.data) {
            (Step::At(k), Data::Array(list)) => {
                let places: Vec<_> = list.iter().map(|t| range(t.span)).collect();
                Some(self.cut_from_list(&places, *k))
            }
            (Step::Key(key), Data::Table(entries)) if begins(self.text, parent, '{') => {
                let place = |(k, v): &(Key, Tree)| self.key_start(k.span.start)..range(v.span).end;
                let places: Vec<_> = entries.iter().map(place).collect();
                Some(self.cut_from_list(&places, entries.iter().position(|e| e.0.text == *key)?))
            }
            (Step::Key(key), _) => parent.entry(key).map(|(key, value)| self.cut_line(key.span.start, value)),
            _ => None,
        }
    }

    /// Takes away one element with one of the commas beside it.
    fn cut_from_list(&self, places: &[Range<usize>], at: usize) -> Splice {
        let Some(own) = places.get(at).cloned() else { return Splice::cut(0..0) };
        if let Some(next) = places.get(at + 1) {
            return Splice::cut(own.start..next.start);
        }
        if at > 0 {
            return Splice::cut(places[at - 1].end..own.end);
        }
        let rest = self.text[own.end..].trim_start();
        let comma = self.text.len() - rest.len() + usize::from(rest.starts_with(','));
        Splice::cut(own.start..if rest.starts_with(',') { comma } else { own.end })
    }

    /// The start of the dotted key whose last part starts here.
    fn key_start(&self, last: u32) -> usize {
        let before = self.text[..last as usize].trim_end();
        let Some(before) = before.strip_suffix('.') else { return last as usize };
        let open = before.rfind(['{', ',', '\n']).map_or(0, |k| k + 1);
        open + (before[open..].len() - before[open..].trim_start().len())
    }

    /// An item as sections of its own, whatever way it is written in.
    pub(super) fn clipped(&self, item: &Item) -> String {
        let newline = newline_of(self.text);
        let mut pieces: Vec<String> = Vec::new();
        let inline = |i: &&Item| i.steps.starts_with(&item.steps) && self.own_header(i).is_none();
        // What stands inside a section is part of its text.
        if self.own_header(item).is_none() {
            pieces.extend(self.items.iter().filter(inline).filter_map(|i| self.as_section(i)));
        }
        let numbers = self.sections_of(&item.steps);
        for run in numbers.chunk_by(|a, b| a + 1 == *b) {
            let (Some(first), Some(last)) = (run.first(), run.last()) else { continue };
            let start = line_start(self.text, self.sections[*first].header.start);
            pieces.push(self.text[start..self.sections[*last].end].to_owned());
        }
        pieces.join(&format!("{newline}{newline}"))
    }

    /// The keys of an item below a header made for it; nothing when all it has stands in sections.
    fn as_section(&self, item: &Item) -> Option<String> {
        let newline = newline_of(self.text);
        let sections = self.sections_of(&item.steps);
        let elsewhere = |l: &Leaf<'_>| {
            let at = l.key.span.start as usize;
            !sections.iter().any(|k| (self.sections[*k].start..self.sections[*k].end).contains(&at))
        };
        let own: Vec<Leaf<'_>> = self.leaves(item).into_iter().filter(elsewhere).collect();
        if own.is_empty() && !sections.is_empty() {
            return None;
        }
        let mut out = header(&item.steps);
        for leaf in own {
            out += &format!("{newline}{} = {}", leaf.written, self.raw(leaf.value.span));
        }
        Some(out)
    }

    /// The keys of an item as one inline table.
    pub(super) fn as_inline(&self, item: &Item) -> String {
        let pair = |leaf: &Leaf<'_>| format!("{} = {}", leaf.written, self.raw(leaf.value.span));
        let pairs: Vec<String> = self.leaves(item).iter().map(pair).collect();
        format!("{{ {} }}", pairs.join(", "))
    }

    /// The list at a way, if it is written as `name = […]`.
    pub(super) fn inline_list(&self, way: &[Step]) -> Option<&Tree> {
        self.at(way).filter(|t| matches!(t.data, Data::Array(_)) && begins(self.text, t, '['))
    }

    /// Puts an element in at the end of such a list.
    pub(super) fn put_inline(&self, list: &Tree, element: &str) -> Splice {
        let Data::Array(items) = &list.data else { return Splice::cut(0..0) };
        match items.last() {
            Some(last) => {
                let end = range(last.span).end;
                Splice { place: end..end, new: format!(", {element}") }
            }
            None => Splice { place: range(list.span), new: format!("[{element}]") },
        }
    }
}

/// The header of a way: `[[robot]]` or `[type.scout]`.
pub(super) fn header(steps: &[Step]) -> String {
    let keys: Vec<String> = steps
        .iter()
        .filter_map(|s| match s {
            Step::Key(key) => Some(repr(key)),
            Step::At(_) => None,
        })
        .collect();
    let keys = keys.join(".");
    if matches!(steps.last(), Some(Step::At(_))) { format!("[[{keys}]]") } else { format!("[{keys}]") }
}
