//! The text of a scenario as a document that programs edit: what is in it, and changes to it.
//!
//! In: the text, as a person wrote it. Out: a [`Document`] that lists what can be edited under which
//! address, and, for changes, another text in which only the bytes changed that had to. Comments and
//! layout stay. Nothing here decides whether a changed text is a scenario: whoever keeps the document
//! reads and compiles it first.

mod change;
mod clip;
mod motion;
mod names;
mod plan;
mod rename;
mod sections;
mod write;

pub use change::{Change, Edited, apply};
pub use clip::{fragment, paste};
pub(crate) use motion::rounded;

use crate::{Failed, Limits, Loader, read_within};
use names::Names;
use plan::{Item, Plan, failed, line_start};
use sections::{Stands, groups, sort_of};
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::{Sources, Span};
use swarmyard_part_api::{Kind, ParamType, Registry};
use swarmyard_scene::{Node, Scene};

/// Most paths (and most points of one) that an entry lists.
pub const MAX_PATHS: usize = 1000;

/// What can be edited in a scenario's text, in the order of the text.
#[derive(Clone, Debug, Serialize)]
pub struct Document {
    /// Everything that has an address here, and everything that comes from elsewhere.
    pub entries: Vec<Entry>,
    #[serde(skip)]
    name: String,
    #[serde(skip)]
    text: Arc<str>,
    #[serde(skip)]
    names: Names,
    /// Keys that name a part of the same type, by class.
    #[serde(skip)]
    part_keys: Vec<(&'static str, &'static str)>,
}

/// One thing of the document.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Entry {
    /// Its address in this text, such as `robot[2]` or `type.scout.part[0]`; what stands elsewhere has
    /// its first scene path instead.
    pub key: String,
    /// Which section it is: `robot`, `part`, `run`.
    pub section: String,
    /// The class whose sheet describes its keys; empty when nothing says so.
    pub class: String,
    /// The name that was written for it.
    pub name: Option<String>,
    /// What it makes in the scene, at most [`MAX_PATHS`].
    pub paths: Vec<Made>,
    /// How many things it makes in the scene.
    pub count: usize,
    /// The line it begins at, from 1; 0 when it is not written in this text.
    pub line: usize,
    /// Every key that is written in it.
    pub fields: Vec<Field>,
    /// Why it cannot be moved or changed by itself here.
    pub fixed: Option<String>,
}

/// One thing of the scene.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Made {
    /// Its path, such as `/robots/r1`.
    pub path: String,
    /// Position and heading at the start, for what stands somewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pose: Option<[f64; 3]>,
    /// Points in the world, for walls and tracks; at most [`MAX_PATHS`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<[f64; 2]>,
}

/// One key as written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Field {
    /// The key; those of nested tables that are not written inline with dots, such as `layout.class`.
    pub name: String,
    /// The value as it stands in the text.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
}

impl Document {
    /// The text that this is the document of.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The entry at an address.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|e| e.key == key)
    }
}

/// What can be edited in the text of a scenario, with what it makes in the scene.
///
/// `[run]`, `[world]` and `[record]` are listed even when they are not written. Things that stand in an
/// included file or a part file are listed too, with the reason why they cannot be edited here. What a
/// `[[use]]` makes is listed there and once more, fixed, where it stands in the template.
///
/// # Errors
/// When the text is not a scenario: see [`outline`] for such texts.
pub fn document(
    name: &str,
    text: &str,
    loader: &dyn Loader,
    registry: &Registry,
) -> Result<Document, Box<Failed>> {
    document_within(Limits::NORMAL, (name, text), loader, registry)
}

pub(crate) fn document_within(
    limits: Limits,
    (name, text): (&str, &str),
    loader: &dyn Loader,
    registry: &Registry,
) -> Result<Document, Box<Failed>> {
    let scene = read_within(limits, (name, text), &[], loader, registry)?.scene;
    let plan = Plan::of(text).map_err(|d| failed(name, text, d))?;
    let mut document = bare(name, &plan);
    document.part_keys = registry
        .sheets()
        .flat_map(|s| s.params.iter().map(move |p| (s.class, p)))
        .filter(|(_, p)| matches!(p.ty, ParamType::Name("part" | "protocol")))
        .map(|(class, p)| (class, p.name))
        .collect();
    let mut owners = Owners::of(&plan, &document, &scene.sources, registry);
    owners.scene(&scene, &mut document);
    document.entries.extend(owners.elsewhere);
    Ok(document)
}

/// What can be edited in a text that is TOML but need not be a scenario: without scene paths.
///
/// # Errors
/// When the text is not TOML.
pub fn outline(name: &str, text: &str) -> Result<Document, Box<Failed>> {
    let plan = Plan::of(text).map_err(|d| failed(name, text, d))?;
    Ok(bare(name, &plan))
}

/// The entries of a text alone.
fn bare(name: &str, plan: &Plan<'_>) -> Document {
    let starts: Vec<usize> =
        std::iter::once(0).chain(plan.text.match_indices('\n').map(|(k, _)| k + 1)).collect();
    let line = |at: usize| starts.partition_point(|s| *s <= at);
    let mut entries: Vec<Entry> = plan.items.iter().map(|item| entry(plan, item, &line)).collect();
    for implied in crate::overrides::IMPLIED {
        if plan.item(implied).is_none() {
            let [key, section, class] = [implied; 3].map(str::to_owned);
            entries.push(Entry { key, section, class, ..Entry::default() });
        }
    }
    let mut names = Names::default();
    for item in &plan.items {
        match (change::root_of_item(item), plan.name(item), item.steps.last()) {
            (Some(root), Some(name), _) => names.take(&root, name, change::count_of(plan, item)),
            // It is called by its place; in a template no scene says so.
            (Some(root), None, Some(plan::Step::At(k))) => {
                names.add(format!("{root}{}{}", item.section, k + 1));
            }
            _ => {}
        }
        if let ("assert", Some(name)) = (item.section, plan.name(item)) {
            names.add(format!("{}{name}", change::ASSERTS));
        }
    }
    Document { entries, name: name.to_owned(), text: Arc::from(plan.text), names, part_keys: Vec::new() }
}

fn entry(plan: &Plan<'_>, item: &Item, line: &dyn Fn(usize) -> usize) -> Entry {
    let fields = plan.leaves(item).into_iter().map(|leaf| Field {
        text: plan.raw(leaf.value.span).to_owned(),
        line: line(leaf.value.span.start as usize),
        name: leaf.name,
    });
    let class = match item.section {
        "part" | "controller" | "protocol" | "algorithm" | "network" => {
            plan.said(item, "class").unwrap_or("").to_owned()
        }
        section => section.to_owned(),
    };
    let of_template =
        |t: &String| format!("it stands in the template `{t}`, and changes with every use of it");
    Entry {
        key: item.key.clone(),
        section: item.section.to_owned(),
        class,
        name: plan.name(item).map(str::to_owned),
        line: line(line_start(plan.text, plan.table(item).span.start as usize)),
        fields: fields.collect(),
        fixed: item.template.as_ref().map(of_template),
        ..Entry::default()
    }
}

/// Who made what: from places of the scene's nodes to entries.
struct Owners<'d> {
    sources: &'d Sources,
    registry: &'d Registry,
    /// Where the type stands whose parts are looked at.
    part_of: Option<Span>,
    /// Numbers of entries by where their tables begin.
    by_place: BTreeMap<u32, usize>,
    /// The beginnings of names that the uses of this text give, and the numbers of their entries.
    uses: Vec<(String, usize)>,
    elsewhere: Vec<Entry>,
    /// Numbers in `elsewhere` by place and type.
    known: BTreeMap<(Span, String), usize>,
}

impl<'d> Owners<'d> {
    fn of(plan: &Plan<'_>, document: &Document, sources: &'d Sources, registry: &'d Registry) -> Owners<'d> {
        let by_place =
            plan.items.iter().enumerate().map(|(k, i)| (plan.table(i).span.start, k)).skip(1).collect();
        let uses = plan.items.iter().enumerate().filter(|(_, i)| i.section == "use" && i.template.is_none());
        let mut uses: Vec<(String, usize)> = uses
            .enumerate()
            .map(|(n, (k, item))| {
                let template = plan.said(item, "template").unwrap_or("");
                let name = document.entries[k].name.clone();
                (format!("{}.", name.unwrap_or_else(|| format!("{template}{}", n + 1))), k)
            })
            .collect();
        // `a.b` before `a`: the longer beginning says more.
        uses.sort_by_key(|u| std::cmp::Reverse(u.0.len()));
        Owners {
            sources,
            registry,
            part_of: None,
            by_place,
            uses,
            elsewhere: Vec::new(),
            known: BTreeMap::new(),
        }
    }

    fn scene(&mut self, scene: &Scene, document: &mut Document) {
        for section in crate::overrides::IMPLIED {
            if let Some(node) = scene.find(section) {
                self.one(document, "/", section, node);
            }
        }
        // Robots have their own way below.
        for (group, section) in groups().filter(|g| g.1 != "robot") {
            for node in scene.group(group) {
                self.one(document, &format!("{group}/"), section, node);
                document.names.add(format!("{group}/{}", node.name));
                let parts = if section == "type" { &node.children[..] } else { &[] };
                for part in parts {
                    let root = format!("{group}/{}/", node.name);
                    self.part_of = node.span;
                    self.one(document, &root, self.part_word(part), part);
                    document.names.add(format!("{root}{}", part.name));
                }
            }
        }
        if let Some(node) = scene.find("/network") {
            self.one(document, "/", "network", node);
        }
        self.robots(scene.group("/robots"), document);
    }

    fn robots(&mut self, robots: &[Node], document: &mut Document) {
        // Beginning of the names of a run, and how many it has so far.
        let mut run: (String, usize) = Default::default();
        for node in robots {
            self.one(document, "/robots/", "robot", node);
            let goes_on = |(base, n): &(String, usize)| {
                node.name.strip_prefix(base.as_str()).is_some_and(|k| k.parse() == Ok(n + 1))
            };
            if run.1 > 0 && goes_on(&run) {
                run.1 += 1;
                continue;
            }
            document.names.add_run(format!("/robots/{}", run.0), run.1);
            run = Default::default();
            match node.name.strip_suffix('1') {
                Some(base) => run = (base.to_owned(), 1),
                None => document.names.add(format!("/robots/{}", node.name)),
            }
        }
        document.names.add_run(format!("/robots/{}", run.0), run.1);
    }

    fn one(&mut self, document: &mut Document, root: &str, section: &str, node: &Node) {
        let Some(span) = node.span else {
            // A section that nobody wrote.
            if let Some(entry) = document.entries.iter_mut().find(|e| e.key == section) {
                make(entry, root, node);
            }
            return;
        };
        let here = if span.source.0 == 0 { self.by_place.get(&span.start).copied() } else { None };
        let in_template = here.is_some_and(|k| document.entries[k].fixed.is_some());
        let placed = sort_of(section).is_some_and(|s| s.stands != Stands::Nowhere);
        let by_use = if placed && (in_template || here.is_none()) { self.used(&node.name) } else { None };
        for k in here.into_iter().chain(by_use) {
            make(&mut document.entries[k], root, node);
        }
        // A part may leave its class to its file.
        if let Some(entry) = here.map(|k| &mut document.entries[k])
            && entry.class.is_empty()
        {
            entry.class = node.class.to_string();
        }
        if here.is_none() && by_use.is_none() {
            self.make_elsewhere(root, section, node, span);
        }
    }

    fn part_word(&self, part: &Node) -> &'static str {
        if !part.section.is_empty() {
            return if part.section == "controller" { "controller" } else { "part" };
        }
        match self.registry.sheet(&part.class).map(|s| s.kind) {
            Some(Kind::Structure) => "register",
            Some(Kind::Controller) => "controller",
            Some(Kind::Protocol) => "protocol",
            Some(Kind::Algorithm) => "algorithm",
            _ => "part",
        }
    }

    /// The use that gave a name.
    fn used(&self, name: &str) -> Option<usize> {
        self.uses.iter().find(|u| name.starts_with(&u.0)).map(|u| u.1)
    }

    fn make_elsewhere(&mut self, root: &str, section: &str, node: &Node, span: Span) {
        let is_part = matches!(section, "part" | "controller" | "register" | "protocol" | "algorithm");
        let of = if is_part { root.to_owned() } else { String::new() };
        let file_of_part = is_part && self.part_of.is_some_and(|s| s.source != span.source);
        let at = *self.known.entry((span, of)).or_insert_with(|| {
            let file = self.sources.get(span.source).map_or("", |s| s.name.as_str());
            let what = if file_of_part { "part file" } else { "included file" };
            self.elsewhere.push(Entry {
                key: format!("{root}{}", node.name),
                section: section.to_owned(),
                class: node.class.to_string(),
                name: Some(node.name.clone()),
                fixed: Some(format!("it comes from the {what} `{file}`")),
                ..Entry::default()
            });
            self.elsewhere.len() - 1
        });
        make(&mut self.elsewhere[at], root, node);
    }
}

/// Notes that an entry made a node.
fn make(entry: &mut Entry, root: &str, node: &Node) {
    entry.count += 1;
    if entry.paths.len() >= MAX_PATHS {
        return;
    }
    let how = sort_of(&node.class).map_or(Stands::Nowhere, |s| s.stands);
    let stands = how == Stands::AtPose;
    let points = match how {
        Stands::ByPoints => node.params.points_or_none("points").unwrap_or_default(),
        _ => &[],
    };
    entry.paths.push(Made {
        path: format!("{root}{}", node.name),
        pose: stands.then_some([node.pose.at.x, node.pose.at.y, node.pose.heading]),
        points: points.iter().take(MAX_PATHS).map(|p| [p.x, p.y]).collect(),
    });
}
