//! Entries written again: copies, robots of a group one by one, and fragments from text to text.
//!
//! A fragment is plain TOML: the sections of some entries, and before them those that they need. So it
//! can be kept, mailed, and pasted into another scenario. What is pasted gets free names.

use super::change::{ASSERTS, Change, Edited, Work, apply, count_of, root_of_item, stem_of};
use super::motion::pose_text;
use super::plan::{Item, Plan, Step, failed};
use super::sections::{Shape, inside, sort_of};
use super::write::{Splice, refused};
use super::{Document, Names, outline};
use crate::Failed;
use crate::edit::{begins, newline_of, range};
use crate::tree::{Data, shortened};
use swarmyard_base::path::is_name;
use swarmyard_base::{Diagnostic, Vec2};

/// Most robots that a group is taken apart into.
const MAX_SPLIT: usize = 500;
/// Most entries of a fragment.
const MAX_ENTRIES: usize = 10_000;
/// Deepest that things need each other.
const MAX_DEPTH: usize = 32;

/// Writes an item once more.
pub(super) fn copy(
    work: &mut Work<'_>,
    item: &Item,
    name: Option<&str>,
    fields: &[(String, String)],
) -> Result<(), Diagnostic> {
    if item.steps.is_empty() || matches!(item.section, "run" | "world" | "record" | "params" | "network") {
        return Err(refused(format!("there can be only one `{}`", item.key)));
    }
    let single =
        matches!(item.section, "controller" | "algorithm") && !matches!(item.steps.last(), Some(Step::At(_)));
    if single {
        return Err(refused(format!(
            "a second {0} needs both to be written as `[[type.NAME.{0}]]`",
            item.section
        )));
    }
    let root = root_of_item(item);
    let count = count_of(work.plan, item);
    let new = match (&root, name) {
        (Some(root), Some(name)) => {
            work.check_name(name, root, count)?;
            work.names.take(root, name, count);
            Some(name.to_owned())
        }
        (Some(root), None) => {
            let wanted = work.plan.name(item).unwrap_or(stem_of(item.section));
            Some(work.names.claim(root, wanted, count))
        }
        (None, name) => {
            let wanted = name.or(work.plan.name(item));
            wanted.map(|wanted| free_title(&mut work.names, wanted))
        }
    };
    let piece = Piece::of(work.plan, item)?;
    let text = piece.changed(new.as_deref(), fields, &[])?;
    put(work, item, &text)?;
    work.made.extend(root.zip(new).map(|(root, name)| format!("{root}{name}")));
    Ok(())
}

/// A title of an assertion: a sentence as it is, a name made free.
fn free_title(names: &mut Names, wanted: &str) -> String {
    if is_name(wanted) { names.claim(ASSERTS, wanted, None) } else { wanted.to_owned() }
}

/// Makes an item with `count` into one item per robot.
pub(super) fn split(work: &mut Work<'_>, item: &Item) -> Result<(), Diagnostic> {
    let entry = work.document.entry(&item.key);
    let Some(entry) = entry.filter(|e| item.section == "robot" && e.fixed.is_none()) else {
        return Err(refused(format!("`{}` is not a group of robots", item.key)));
    };
    if work.plan.table(item).get("count").is_none() {
        return Err(refused(format!("`{}` is one robot already: it has no `count`", item.key)));
    }
    if entry.count > MAX_SPLIT || entry.count != entry.paths.len() || entry.paths.is_empty() {
        let what = format!("a group of `{}` robots cannot be taken apart", entry.count);
        return Err(refused(what).help(format!("at most {MAX_SPLIT} can")));
    }
    let heading = work.plan.table(item).get("at").and_then(|at| match &at.data {
        Data::Array(items) => items.get(2),
        _ => None,
    });
    let in_degrees = heading.is_none_or(|h| h.text().is_some());
    let piece = Piece::of(work.plan, item)?;
    let mut texts = Vec::with_capacity(entry.paths.len());
    for made in &entry.paths {
        let [x, y, heading] = made.pose.unwrap_or_default();
        let at = pose_text(Vec2::new(x, y), heading, in_degrees)?;
        let name = made.path.rsplit('/').next().unwrap_or("");
        texts.push(piece.changed(Some(name), &[("at".into(), at)], &["count", "first", "layout"])?);
    }
    let newline = newline_of(work.plan.text);
    if work.plan.own_header(item).is_none() {
        let elements: Result<Vec<String>, Diagnostic> = texts.iter().map(|t| inline(t, "robot")).collect();
        let place = range(work.plan.table(item).span);
        work.splices.push(Splice { place, new: elements?.join(", ") });
        return Ok(());
    }
    let numbers = work.plan.sections_of(&item.steps);
    let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else { return Ok(()) };
    // The sections of one list element stand together, unless something stands between them.
    if last - first + 1 != numbers.len() {
        return Err(refused(format!("the sections of `{}` do not stand together", item.key)));
    }
    let start = work.plan.sections[*first].header.start;
    let end = work.plan.sections[*last].end;
    let new = texts.join(&format!("{newline}{newline}"));
    work.splices.push(Splice { place: start..end, new });
    Ok(())
}

/// An entry cut out, as a little text of its own.
struct Piece {
    document: Document,
    /// Its address in it.
    key: String,
    /// Whether its name is a part of its address.
    named: bool,
}

impl Piece {
    fn of(plan: &Plan<'_>, item: &Item) -> Result<Piece, Diagnostic> {
        let document = outline("piece", plan.clipped(item).trim()).map_err(|f| first_problem(*f))?;
        let key = document.entries.iter().find(|e| e.section == item.section).map(|e| e.key.clone());
        let key = key.ok_or_else(|| refused(format!("`{}` cannot be written again", item.key)))?;
        Ok(Piece { document, key, named: item.name.is_some() })
    }

    /// The piece with another name and other keys.
    fn changed(
        &self,
        name: Option<&str>,
        fields: &[(String, String)],
        without: &[&str],
    ) -> Result<String, Diagnostic> {
        let entry = || self.key.clone();
        let mut changes = Vec::new();
        match name {
            Some(name) if self.named => {
                changes.push(Change::Rename { entry: entry(), name: name.to_owned() })
            }
            Some(name) => changes.push(Change::Set {
                entry: entry(),
                key: "name".into(),
                value: toml_edit::Value::from(name).to_string(),
            }),
            None => {}
        }
        for (key, value) in fields.iter().filter(|f| f.0 != "name") {
            changes.push(Change::Set { entry: entry(), key: key.clone(), value: value.clone() });
        }
        let written = |key: &&&str| {
            let below = format!("{key}.");
            let fields = self.document.entry(&self.key).map(|e| &e.fields[..]).unwrap_or_default();
            fields.iter().any(|f| f.name == **key || f.name.starts_with(&below))
        };
        for key in without.iter().filter(written) {
            changes.push(Change::Unset { entry: entry(), key: (*key).to_owned() });
        }
        apply(&self.document, &changes).map(|e| e.text.trim_end().to_owned()).map_err(|f| first_problem(*f))
    }
}

fn first_problem(failed: Failed) -> Diagnostic {
    let mut d = failed.problems.0.into_iter().next().unwrap_or_else(|| refused("it cannot be written again"));
    // The place is one in a piece, which nobody sees.
    d.span = None;
    d
}

/// The only entry of a section in a piece, as an inline table.
fn inline(piece: &str, section: &str) -> Result<String, Diagnostic> {
    let plan = Plan::of(piece)?;
    let item = plan.items.iter().find(|i| i.section == section);
    Ok(plan.as_inline(item.ok_or_else(|| refused("there is nothing to write"))?))
}

/// Puts a piece in after the last of its kind.
fn put(work: &mut Work<'_>, like: &Item, text: &str) -> Result<(), Diagnostic> {
    let way = match like.steps.split_last() {
        Some((_, way)) => way,
        None => &[],
    };
    if let Some(list) = work.plan.inline_list(way) {
        let element = inline(text, like.section)?;
        work.splices.push(work.plan.put_inline(list, &element));
        return Ok(());
    }
    let parent = way.split_last().map_or(&[][..], |w| w.1);
    let ways: &[&[Step]] = if parent.is_empty() { &[way] } else { &[way, parent] };
    let newline = newline_of(work.plan.text);
    let text = text.replace("\r\n", "\n").replace('\n', newline);
    work.splices.push(work.plan.put_section(work.plan.place_for(ways), &text));
    Ok(())
}

/// Entries as a text for pasting, with the types, surfaces and templates of this text that they need.
///
/// # Errors
/// When an address leads nowhere, or to something that cannot stand in another scenario.
pub fn fragment(document: &Document, keys: &[String]) -> Result<String, Box<Failed>> {
    let text = Plan::of(&document.text).and_then(|plan| {
        if keys.len() > MAX_ENTRIES {
            return Err(refused(format!("a fragment has at most `{MAX_ENTRIES}` entries")));
        }
        let mut wanted: Vec<usize> = Vec::new();
        for key in keys {
            let Some(at) = plan.items.iter().position(|i| i.key == *key) else {
                return Err(refused(format!(
                    "`{}` cannot be copied: it is not in this text",
                    shortened(key)
                )));
            };
            if matches!(plan.items[at].section, "run" | "world" | "record" | "params") || at == 0 {
                return Err(refused(format!("`{key}` is part of every scenario and cannot be copied")));
            }
            need(&plan, at, &mut Vec::new(), &mut wanted);
        }
        let covered = |k: usize| {
            let below = |o: usize| o != k && plan.items[k].steps.starts_with(&plan.items[o].steps);
            wanted.iter().any(|o| below(*o))
        };
        let pieces: Vec<String> =
            wanted.iter().filter(|k| !covered(**k)).map(|k| plan.clipped(&plan.items[*k])).collect();
        let newline = newline_of(plan.text);
        let text = pieces.join(&format!("{newline}{newline}")) + newline;
        let odd = || refused("these entries cannot stand in a text of their own").help("copy them by hand");
        Plan::of(&text).map_err(|_| odd()).map(|_| text.clone())
    });
    text.map_err(|d| failed(&document.name, &document.text, d))
}

/// Adds an item, and before it what it needs.
fn need(plan: &Plan<'_>, at: usize, open: &mut Vec<usize>, wanted: &mut Vec<usize>) {
    // Templates that use each other in a circle are no scenario, but must end here too.
    if wanted.contains(&at) || open.contains(&at) || open.len() >= MAX_DEPTH {
        return;
    }
    open.push(at);
    for part in plan.items.iter().filter(|i| i.steps.starts_with(&plan.items[at].steps)) {
        for section in ["surface", "type", "template"] {
            let Some(name) = plan.said(part, section) else { continue };
            let is_it = |i: &Item| i.section == section && i.name.as_deref() == Some(name);
            if let Some(other) = plan.items.iter().position(is_it) {
                need(plan, other, open, wanted);
            }
        }
    }
    open.pop();
    wanted.push(at);
}

/// Puts a fragment into the text: with free names, and moved by `offset` in metres.
///
/// Types, surfaces and templates whose names the text has already are taken to be the same and left out.
///
/// # Errors
/// When the fragment is not TOML, or holds what cannot be pasted, or cannot be moved.
pub fn paste(document: &Document, fragment: &str, offset: [f64; 2]) -> Result<Edited, Box<Failed>> {
    let outlined = outline("fragment", fragment)?;
    let prepared = Plan::of(&outlined.text).and_then(|plan| prepare(document, &plan, offset));
    let changes = prepared.map_err(|d| failed("fragment", fragment, d))?;
    let renamed = apply(&outlined, &changes)?.text;
    let done = Plan::of(&document.text).and_then(|plan| {
        let pasted = Plan::of(&renamed)?;
        let mut work = Work::new(&plan, document);
        for item in pasted.items.iter().filter(|i| is_pasted(document, &pasted, i)) {
            put(&mut work, item, pasted.clipped(item).trim())?;
            let root = root_of_item(item).filter(|r| r.starts_with('/'));
            let path = root.zip(pasted.name(item)).map(|(root, name)| format!("{root}{name}"));
            work.made.push(path.unwrap_or_else(|| item.key.clone()));
        }
        work.finish()
    });
    done.map_err(|d| failed(&document.name, &document.text, d))
}

/// Whether an item of a fragment is put into the text by itself.
fn is_pasted(document: &Document, pasted: &Plan<'_>, item: &Item) -> bool {
    let exists = |key: &str| document.entry(key).is_some_and(|e| e.line > 0);
    match item.section {
        "surface" | "type" | "template" | "stack" => {
            let root = root_of_item(item).unwrap_or_default();
            let name = item.name.as_deref().unwrap_or("");
            is_whole(pasted, item) && !exists(&item.key) && !document.names.is_taken(&format!("{root}{name}"))
        }
        // Parts come along with their type, if that is here.
        "part" | "controller" | "register" | "protocol" | "algorithm" => {
            owner(pasted, item).is_none_or(|o| !is_whole(pasted, o))
        }
        "run" | "world" | "record" | "params" | "network" | super::plan::SCENARIO => false,
        _ => item.template.is_none(),
    }
}

/// Whether a type or the like is here itself, not only parts of it.
fn is_whole(plan: &Plan<'_>, item: &Item) -> bool {
    plan.own_header(item).is_some()
        || begins(plan.text, plan.table(item), '{')
        || !plan.leaves(item).is_empty()
}

fn owner<'p>(plan: &'p Plan<'_>, part: &Item) -> Option<&'p Item> {
    plan.items.iter().find(|i| i.steps.len() == 2 && part.steps.starts_with(&i.steps))
}

/// The changes that give everything in a fragment a free name and its new place.
fn prepare(document: &Document, plan: &Plan<'_>, offset: [f64; 2]) -> Result<Vec<Change>, Diagnostic> {
    if plan.items.len() > MAX_ENTRIES {
        return Err(refused(format!("a fragment has at most `{MAX_ENTRIES}` entries")));
    }
    let mut names = document.names.clone();
    let mut changes = Vec::new();
    let mut moving = Vec::new();
    for item in plan.items.iter().filter(|i| is_pasted(document, plan, i)) {
        let entry = item.key.clone();
        let shape = sort_of(item.section).map(|s| s.shape);
        match item.section {
            "fault" => continue,
            _ if shape == Some(Shape::Named) => continue,
            "assert" => {
                if let Some(old) = plan.name(item) {
                    let name = free_title(&mut names, old);
                    if name != old {
                        changes.push(Change::Rename { entry, name });
                    }
                }
                continue;
            }
            section if inside("type").any(|word| word == section) => {
                let of = owner(plan, item).map(|o| o.key.clone()).unwrap_or_default();
                if document.entry(&of).is_none_or(|e| e.line == 0) {
                    return Err(refused(format!("there is no `[{of}]` here to put `{entry}` in")));
                }
                let single = shape == Some(Shape::OneInType);
                let same = format!("{of}.{}", item.section);
                let has_one = document.entries.iter().any(|e| e.key.starts_with(&same));
                if single && has_one {
                    let one = if item.section == "algorithm" { "an algorithm" } else { "a controller" };
                    let what = format!("`[{of}]` has {one} already");
                    return Err(refused(what).help("take that one away first"));
                }
                if single && plan.name(item).is_none() {
                    continue;
                }
            }
            _ => moving.push(entry.clone()),
        }
        let Some(root) = root_of_item(item) else { continue };
        let said = |key: &str| plan.said(item, key).unwrap_or("");
        let usual = match item.section {
            "robot" => "r1".to_owned(),
            "register" => format!("{}_{}", said("part"), said("channel")),
            section => stem_of(section).to_owned(),
        };
        let wanted = plan.name(item).unwrap_or(&usual);
        let name = names.claim(&root, wanted, count_of(plan, item));
        if plan.name(item) != Some(name.as_str()) {
            changes.push(Change::Rename { entry, name });
        }
    }
    if plan.items.iter().any(|i| matches!(i.section, "run" | "world" | "record" | "params")) {
        return Err(refused("a fragment holds things of a scenario, not its settings"));
    }
    if offset != [0.0, 0.0] && !moving.is_empty() {
        changes.push(Change::Move { entries: moving, by: offset });
    }
    Ok(changes)
}
