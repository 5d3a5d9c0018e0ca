//! Changes to a document, a batch at a time.
//!
//! In: a [`Document`] and changes against its addresses. Out: the new text, or a refusal. All changes of
//! a batch speak about the original text; they are done together or not at all, and two that want the
//! same bytes are refused.

use super::clip;
use super::motion::{Motion, moved};
use super::plan::{Item, Plan, Step, failed, quoted, repr};
use super::rename::{self, Renaming};
use super::sections::{Shape, inside, sort_of};
use super::write::{Splice, header, refused, spliced};
use super::{Document, Names};
use crate::edit::{new_key, newline_of, range, written};
use crate::overrides::IMPLIED;
use crate::tree::{Data, shortened};
use crate::{Failed, Limits};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::path::is_name;
use swarmyard_base::{Diagnostic, Vec2};

/// Most changes of one batch, and most fields of one change.
const MAX_CHANGES: usize = 10_000;

/// How the scene paths of assertions begin.
pub(super) const ASSERTS: &str = "/asserts/";

/// One change of a document. Values are TOML as written (`3`, `[1, 2]`, `"text"`), or else a text that
/// gets its quotes (`2m/s`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase", deny_unknown_fields)]
pub enum Change {
    /// Sets a key of an entry; a new key gets a line of its own behind the others.
    Set {
        /// Address of the entry.
        entry: String,
        /// The key, such as `at` or `layout.class`.
        key: String,
        /// The value.
        value: String,
    },
    /// Takes a key away, with its whole line and the comment in it. Comments above it stay.
    Unset {
        /// Address of the entry.
        entry: String,
        /// The key.
        key: String,
    },
    /// Adds an entry after the last of its kind, or at the end.
    Add {
        /// What it is: `robot`, `wall`, `type`, `part`, …
        section: String,
        /// Its name; a free one when left out.
        #[serde(default)]
        name: Option<String>,
        /// Its other keys.
        #[serde(default)]
        fields: Vec<(String, String)>,
        /// The address of the type or template it belongs to.
        #[serde(default)]
        under: Option<String>,
    },
    /// Writes an entry once more, after the last of its kind, without the comment above it.
    Copy {
        /// Address of the entry.
        entry: String,
        /// The name of the copy; a free one when left out.
        #[serde(default)]
        name: Option<String>,
        /// Keys that are different in the copy.
        #[serde(default)]
        fields: Vec<(String, String)>,
    },
    /// Takes an entry away: its header, its keys, what stands below it and the comment above it.
    Remove {
        /// Address of the entry.
        entry: String,
    },
    /// Gives an entry another name, here and wherever the text refers to it.
    Rename {
        /// Address of the entry.
        entry: String,
        /// The new name.
        name: String,
    },
    /// Makes an entry with `count` into one entry per robot, each where it starts.
    Split {
        /// Address of the entry.
        entry: String,
    },
    /// Moves what stands somewhere.
    Move {
        /// Addresses of the entries.
        entries: Vec<String>,
        /// How far, in metres.
        by: [f64; 2],
    },
    /// Turns what stands somewhere.
    Turn {
        /// Addresses of the entries.
        entries: Vec<String>,
        /// How far, in radians, counter-clockwise.
        by: f64,
        /// The point that stays; each entry's own place when left out.
        #[serde(default)]
        about: Option<[f64; 2]>,
    },
}

/// A changed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edited {
    /// The whole new text.
    pub text: String,
    /// The scene paths of what was added, in the order of the changes; with `count`, without number.
    pub made: Vec<String>,
}

/// Does all changes, or none.
///
/// # Errors
/// When an address leads nowhere, a change cannot be done there, or two want the same place.
pub fn apply(document: &Document, changes: &[Change]) -> Result<Edited, Box<Failed>> {
    let done = Plan::of(&document.text).and_then(|plan| {
        let mut work = Work::new(&plan, document);
        if changes.len() > MAX_CHANGES {
            return Err(refused(format!("a batch may have at most `{MAX_CHANGES}` changes")));
        }
        for change in changes {
            work.change(change)?;
        }
        work.finish()
    });
    done.map_err(|d| failed(&document.name, &document.text, d))
}

/// A batch while it is worked on.
pub(super) struct Work<'w> {
    pub(super) plan: &'w Plan<'w>,
    pub(super) document: &'w Document,
    pub(super) names: Names,
    pub(super) splices: Vec<Splice>,
    pub(super) made: Vec<String>,
    /// New keys of sections that are not written yet.
    implied: BTreeMap<String, Vec<String>>,
}

impl<'w> Work<'w> {
    pub(super) fn new(plan: &'w Plan<'w>, document: &'w Document) -> Work<'w> {
        let names = document.names.clone();
        Work { plan, document, names, splices: Vec::new(), made: Vec::new(), implied: BTreeMap::new() }
    }

    fn change(&mut self, change: &Change) -> Result<(), Diagnostic> {
        match change {
            Change::Set { entry, key, value } => self.set(entry, key, value),
            Change::Unset { entry, key } => self.unset(entry, key),
            Change::Add { section, name, fields, under } => {
                self.add(section, name.as_deref(), fields, under.as_deref())
            }
            Change::Copy { entry, name, fields } => {
                let item = self.item(entry)?;
                clip::copy(self, item, name.as_deref(), fields)
            }
            Change::Remove { entry } => {
                let item = self.item(entry)?;
                if item.steps.is_empty() {
                    return Err(refused("the head of the scenario cannot be taken away"));
                }
                self.splices.extend(self.plan.cut_item(item));
                Ok(())
            }
            Change::Rename { entry, name } => self.rename(entry, name),
            Change::Split { entry } => {
                let item = self.item(entry)?;
                clip::split(self, item)
            }
            Change::Move { entries, by } => {
                self.motion(entries, Motion { by: Vec2::new(by[0], by[1]), turn: 0.0, about: None })
            }
            Change::Turn { entries, by, about } => {
                let about = about.map(|[x, y]| Vec2::new(x, y));
                self.motion(entries, Motion { by: Vec2::ZERO, turn: *by, about })
            }
        }
    }

    /// The text with all changes, if it is still TOML.
    pub(super) fn finish(mut self) -> Result<Edited, Diagnostic> {
        let newline = newline_of(self.plan.text);
        for (section, pairs) in std::mem::take(&mut self.implied) {
            let section = format!("[{section}]{newline}{}", pairs.join(newline));
            self.splices.push(self.plan.put_section(self.plan.place_for(&[]), &section));
        }
        let text = spliced(self.plan.text, self.splices)?;
        if text.len() > Limits::NORMAL.text {
            return Err(Diagnostic::error("too-big", "the text would become too long"));
        }
        match Plan::of(&text) {
            Ok(_) => Ok(Edited { text, made: self.made }),
            Err(d) => Err(refused(format!("the text would not be TOML any more: {}", d.message))
                .help("change this place by hand")),
        }
    }

    /// The item at an address, or why there is none.
    pub(super) fn item(&self, key: &str) -> Result<&'w Item, Diagnostic> {
        self.plan.item(key).ok_or_else(|| {
            if let Some(why) = self.document.entry(key).and_then(|e| e.fixed.as_ref()) {
                return refused(format!("`{}` cannot be edited here: {why}", shortened(key)));
            }
            let keys = self.plan.items.iter().map(|i| i.key.as_str()).take(1000);
            Diagnostic::error("unknown-entry", format!("there is nothing at `{}`", shortened(key)))
                .suggest(key, keys)
        })
    }

    fn set(&mut self, entry: &str, key: &str, value: &str) -> Result<(), Diagnostic> {
        let value = written(value);
        if key.is_empty() {
            return Err(refused("a key cannot be empty"));
        }
        if IMPLIED.contains(&entry) && self.plan.item(entry).is_none() {
            let pairs = self.implied.entry(entry.to_owned()).or_default();
            pairs.push(format!("{} = {value}", repr(key)));
            return Ok(());
        }
        let item = self.item(entry)?;
        let splice = set_in(self.plan, item, key, &value)?;
        self.splices.extend(splice);
        Ok(())
    }

    fn unset(&mut self, entry: &str, key: &str) -> Result<(), Diagnostic> {
        let item = self.item(entry)?;
        let splices = unset_in(self.plan, item, key);
        if splices.is_empty() {
            let leaves = self.plan.leaves(item);
            let names = leaves.iter().map(|l| l.name.as_str());
            let what = format!("`{entry}` has no key `{}`", shortened(key));
            return Err(Diagnostic::error("unknown-key", what).suggest(key, names));
        }
        self.splices.extend(splices);
        Ok(())
    }

    fn add(
        &mut self,
        section: &str,
        name: Option<&str>,
        fields: &[(String, String)],
        under: Option<&str>,
    ) -> Result<(), Diagnostic> {
        if fields.len() > MAX_CHANGES {
            return Err(refused(format!("an entry may have at most `{MAX_CHANGES}` keys")));
        }
        let way = self.way_of(section, under)?;
        let shape = sort_of(section).map(|s| s.shape);
        let said = |key: &str| fields.iter().find(|f| f.0 == key).map(|f| f.1.trim().trim_matches('"'));
        let count = said("count").and_then(|c| c.parse().ok()).filter(|_| section == "robot");
        let wanted = name.or_else(|| said("name"));
        let root = self.root_under(section, under);
        let name = match (wanted, &root) {
            (Some(name), _) if section == "assert" => {
                if is_name(name) {
                    self.check_name(name, ASSERTS, None)?;
                    self.names.take(ASSERTS, name, None);
                }
                Some(name.to_owned())
            }
            (Some(name), Some(root)) => {
                self.check_name(name, root, count)?;
                self.names.take(root, name, count);
                Some(name.to_owned())
            }
            // A part is called what it is; a controller needs no name.
            (None, Some(root)) if shape != Some(Shape::OneInType) => {
                let stem = if matches!(section, "part" | "protocol") { said("class") } else { None };
                let first = if section == "robot" && count.is_none() { "r1" } else { stem_of(section) };
                Some(self.names.claim(root, stem.unwrap_or(first), count))
            }
            _ => None,
        };
        let is_key = shape == Some(Shape::Named);
        let mut steps = way.clone();
        if let (true, Some(name)) = (is_key, &name) {
            steps.push(Step::Key(name.clone()));
        } else if shape != Some(Shape::Only) && !self.is_single(section, &way) {
            steps.push(Step::At(0));
        }
        let mut lines = Vec::new();
        if let (false, Some(name)) = (is_key, &name) {
            lines.push(format!("name = {}", toml_edit::Value::from(name.as_str())));
        }
        let others = fields.iter().filter(|f| f.0 != "name");
        lines.extend(others.map(|(key, value)| format!("{} = {}", repr(key), written(value))));
        if let Some(list) = self.plan.inline_list(&way) {
            self.splices.push(self.plan.put_inline(list, &format!("{{ {} }}", lines.join(", "))));
        } else {
            lines.insert(0, header(&steps));
            let parent = way.split_last().map_or(&[][..], |w| w.1);
            let ways: &[&[Step]] = if parent.is_empty() { &[&way] } else { &[&way, parent] };
            let block = lines.join(newline_of(self.plan.text));
            self.splices.push(self.plan.put_section(self.plan.place_for(ways), &block));
        }
        if let (Some(root), Some(name)) = (root, name) {
            self.made.push(format!("{root}{name}"));
        }
        Ok(())
    }

    /// The way to the list or table that holds all entries of a section.
    pub(super) fn way_of(&self, section: &str, under: Option<&str>) -> Result<Vec<Step>, Diagnostic> {
        let key = |k: &str| Step::Key(k.to_owned());
        let needs = |what: &str| {
            refused(format!("a `{}` belongs to a {what}: say `under` which", shortened(section)))
        };
        let shape = sort_of(section).map(|s| s.shape);
        match (section, under) {
            ("protocol", Some(under)) if self.plan.item(under).is_some_and(|i| i.section == "stack") => {
                Ok([&self.item(under)?.steps[..], &[key(section)]].concat())
            }
            (_, under) if inside("type").any(|word| word == section) => {
                let item = self.item(under.ok_or_else(|| needs("type"))?)?;
                if item.section != "type" {
                    return Err(needs("type"));
                }
                Ok([&item.steps[..], &[key(section)]].concat())
            }
            (_, Some(under)) if inside("template").any(|word| word == section) => {
                let item = self.item(under)?;
                if item.section != "template" {
                    return Err(refused(format!(
                        "a `{section}` can belong to a template only, not to `{under}`"
                    )));
                }
                Ok([&item.steps[..], &[key(section)]].concat())
            }
            (_, None) if matches!(shape, Some(Shape::List | Shape::Named)) => Ok(vec![key(section)]),
            (_, None) if shape == Some(Shape::Only) && self.plan.item(section).is_none() => {
                Ok(vec![key(section)])
            }
            (_, None) if shape == Some(Shape::Only) => {
                Err(refused(format!("there is a section `[{section}]` already")))
            }
            _ => Err(refused(format!("`{}` is not a section that can be added", shortened(section)))),
        }
    }

    /// Whether a controller is the only one of its type, so that it is written as a table.
    fn is_single(&self, section: &str, way: &[Step]) -> bool {
        sort_of(section).is_some_and(|s| s.shape == Shape::OneInType)
            && !matches!(self.plan.at(way).map(|t| &t.data), Some(Data::Array(_)))
    }

    /// How the scene paths begin of what is added; `None` for what has no name.
    fn root_under(&self, section: &str, under: Option<&str>) -> Option<String> {
        let Some(under) = under.and_then(|u| self.plan.item(u)) else {
            return root_of(section).map(str::to_owned);
        };
        match under.section {
            "type" => self.plan.name(under).map(|n| format!("/types/{n}/")),
            _ => Some(format!("{}.{section}/", under.key)),
        }
    }

    pub(super) fn check_name(&self, name: &str, root: &str, count: Option<usize>) -> Result<(), Diagnostic> {
        if !is_name(name) {
            return Err(Diagnostic::error("bad-name", format!("not a name: `{}`", shortened(name)))
                .help("a name has letters, digits, `_`, `-` and `.`, and at most 64 of them"));
        }
        if self.names.collides(root, name, count) {
            return Err(Diagnostic::error("duplicate-name", format!("the name is taken: `{name}`")));
        }
        Ok(())
    }

    fn rename(&mut self, entry: &str, name: &str) -> Result<(), Diagnostic> {
        let item = self.item(entry)?;
        if item.section == "assert" {
            // A sentence for people may stand there often, but a name only once.
            if is_name(name) && self.plan.name(item) != Some(name) {
                self.check_name(name, ASSERTS, None)?;
                self.names.take(ASSERTS, name, None);
            }
            return self.set(entry, "name", &toml_edit::Value::from(name).to_string());
        }
        let Some(renaming) = Renaming::of(self.plan, item, name) else {
            return Err(refused(format!("`{entry}` has no name to change")));
        };
        if renaming.old == name {
            return Ok(());
        }
        self.check_name(name, &renaming.root, renaming.count)?;
        self.names.take(&renaming.root, name, renaming.count);
        self.splices.extend(rename::own_splices(self.plan, item, name)?);
        self.splices.extend(rename::references(self.plan, item, &renaming, &self.document.part_keys));
        Ok(())
    }

    fn motion(&mut self, entries: &[String], motion: Motion) -> Result<(), Diagnostic> {
        if entries.len() > 100 * MAX_CHANGES {
            return Err(refused("too many entries to move at once"));
        }
        let finite = motion.by.is_finite() && motion.turn.is_finite();
        if !finite || !motion.about.is_none_or(Vec2::is_finite) {
            return Err(refused("things move by finite numbers only"));
        }
        for entry in entries {
            let item = self.item(entry)?;
            self.splices.extend(moved(self.plan, item, motion)?);
        }
        Ok(())
    }
}

/// The splice that sets a key of an item; none when the value is that already.
pub(super) fn set_in(
    plan: &Plan<'_>,
    item: &Item,
    key: &str,
    value: &str,
) -> Result<Option<Splice>, Diagnostic> {
    let leaves = plan.leaves(item);
    if let Some(leaf) = leaves.iter().find(|l| l.name == key) {
        let place = range(leaf.value.span);
        return Ok((plan.raw(leaf.value.span) != value).then(|| Splice { place, new: value.to_owned() }));
    }
    let table = plan.table(item);
    let below = format!("{key}.");
    if leaves.iter().any(|l| l.name.starts_with(&below)) || table.get(key).is_some() {
        return Err(refused(format!("`{}` is a section, not a value", shortened(key))));
    }
    // A key of a nested table that is there, or else of the entry itself.
    let nested = key.rsplit_once('.').and_then(|(parents, last)| {
        let parent = parents.split('.').try_fold(table, |t, name| t.get(name))?;
        parent.table().map(|_| (parent, last))
    });
    let (of, last) = nested.unwrap_or((table, key));
    if let Some(old) = of.get(last) {
        let place = range(old.span);
        return Ok((plan.raw(old.span) != value).then(|| Splice { place, new: value.to_owned() }));
    }
    let (place, new) = new_key(plan.text, &plan.tree, of, last, value)?;
    Ok(Some(Splice { place, new }))
}

/// The splices that take a key of an item away, with all below it; none when it is not there.
pub(super) fn unset_in(plan: &Plan<'_>, item: &Item, key: &str) -> Vec<Splice> {
    let below = format!("{key}.");
    let steps = [&item.steps[..], &[Step::Key(key.to_owned())]].concat();
    let sections = plan.sections_of(&steps);
    let inside = |at: u32| {
        sections.iter().any(|k| (plan.sections[*k].start..plan.sections[*k].end).contains(&(at as usize)))
    };
    let leaves = plan.leaves(item);
    let mut splices: Vec<Splice> = leaves
        .iter()
        .filter(|l| l.name == key || l.name.starts_with(&below))
        .filter(|l| !inside(l.key.span.start))
        .map(|l| plan.cut_leaf(item, l))
        .collect();
    // Parts of a type are entries of their own.
    if leaves.iter().any(|l| l.name == key || l.name.starts_with(&below)) {
        splices.extend(plan.cut_all(&sections));
    }
    splices
}

/// How the scene paths of an item begin; of those in templates, something that keeps them apart.
pub(super) fn root_of_item(item: &Item) -> Option<String> {
    match (item.section, &item.steps[..]) {
        (
            "part" | "register" | "controller" | "protocol" | "algorithm",
            [Step::Key(list), Step::Key(of), ..],
        ) if list == "type" => Some(format!("/types/{of}/")),
        ("protocol", [_, Step::Key(of), ..]) => Some(format!("stack.{}.protocol/", quoted(of))),
        (section, [_, Step::Key(of), ..]) if item.template.is_some() => {
            Some(format!("template.{}.{section}/", quoted(of)))
        }
        (section, _) => root_of(section).map(str::to_owned),
    }
}

/// How the scene paths of a section begin.
fn root_of(section: &str) -> Option<&'static str> {
    sort_of(section).and_then(|s| s.root)
}

/// How names of a section begin when nobody said one.
pub(super) fn stem_of(section: &str) -> &str {
    sort_of(section).map_or(section, |s| s.stem)
}

/// The number of things an item makes, when it says one.
pub(super) fn count_of(plan: &Plan<'_>, item: &Item) -> Option<usize> {
    let count = plan.table(item).get("count").filter(|_| item.section == "robot")?;
    match count.data {
        Data::Int(n) => usize::try_from(n).ok(),
        // A parameter says how many: nobody knows here.
        _ => Some(10_000_000),
    }
}
