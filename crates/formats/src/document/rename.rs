//! Other names: where a name is written, and where the text refers to it.
//!
//! In: an item and its new name. Out: splices of the name itself, of the keys that name it, and of the
//! scene paths in conditions and topics. Only whole names are touched. What is put together from
//! parameters is not seen; the reader will say that something is missing then.

use super::change::{count_of, root_of_item, set_in};
use super::plan::{Item, Plan, Step, key_parts, line_start, repr};
use super::write::Splice;
use crate::edit::{begins, range};
use crate::mean::place;
use crate::tree::{Data, Tree};
use swarmyard_base::{Diagnostic, Sources};
use swarmyard_scene::expr::{self, Expr, Root, Thing};

/// What is called otherwise from now on.
pub(super) struct Renaming<'r> {
    /// How its scene paths begin.
    pub(super) root: String,
    pub(super) old: String,
    /// How many numbered things have the name, when it is one of numbered things.
    pub(super) count: Option<usize>,
    new: &'r str,
}

impl<'r> Renaming<'r> {
    /// What changes when an item gets a name; `None` when it cannot have one.
    pub(super) fn of(plan: &Plan<'_>, item: &Item, new: &'r str) -> Option<Renaming<'r>> {
        let root = root_of_item(item)?;
        let number = || match item.steps.last() {
            Some(Step::At(k)) => k + 1,
            _ => 1,
        };
        let old = match plan.name(item) {
            Some(name) => name.to_owned(),
            None => match item.section {
                "robot" => "r".into(),
                "controller" | "algorithm" => item.section.into(),
                "use" => format!("{}{}", plan.said(item, "template").unwrap_or(""), number()),
                section => format!("{section}{}", number()),
            },
        };
        Some(Renaming { root, old, count: count_of(plan, item), new })
    }

    /// The bytes of a scene path that are the old name, if it has it.
    fn find(
        &self,
        item: &Item,
        path: &str,
        robots: &[(String, Option<usize>)],
    ) -> Option<std::ops::Range<usize>> {
        let found = |start: usize| start..start + self.old.len();
        match item.section {
            // Everything that a use makes has its name and a dot before its own.
            "use" => {
                let start = path.rfind('/').map_or(0, |k| k + 1);
                let roots = ["/robots/", "/obstacles/", "/beacons/", "/world/walls/", "/world/tracks/"];
                let start = roots.iter().find(|r| path.starts_with(**r)).map_or(start, |r| r.len());
                path[start..].strip_prefix(self.old.as_str())?.starts_with('.').then(|| found(start))
            }
            "part" | "controller" | "protocol" | "algorithm" => {
                let (robot, rest) = path.strip_prefix("/robots/")?.split_once('/')?;
                let of_type = |(name, count): &(String, Option<usize>)| is_called(robot, name, *count);
                let is_part = rest == self.old || rest.strip_prefix(self.old.as_str())?.starts_with('/');
                (is_part && robots.iter().any(of_type)).then(|| found("/robots/".len() + robot.len() + 1))
            }
            _ => {
                let name = path.strip_prefix(self.root.as_str())?;
                let name = name.split('/').next().unwrap_or(name);
                is_called(name, &self.old, self.count).then(|| found(self.root.len()))
            }
        }
    }
}

/// Whether a name is this one, or a number of it.
fn is_called(name: &str, base: &str, count: Option<usize>) -> bool {
    let Some(rest) = name.strip_prefix(base) else { return false };
    match count {
        None => rest.is_empty(),
        Some(n) => !rest.starts_with('0') && rest.parse::<usize>().is_ok_and(|k| k <= n),
    }
}

/// Where the name of an item itself is written.
pub(super) fn own_splices(plan: &Plan<'_>, item: &Item, name: &str) -> Result<Vec<Splice>, Diagnostic> {
    if item.name.is_none() {
        let value = toml_edit::Value::from(name).to_string();
        return Ok(set_in(plan, item, "name", &value)?.into_iter().collect());
    }
    let mut splices = Vec::new();
    let depth = item.steps.len() - 1;
    let mut replace = |place: std::ops::Range<usize>| splices.push(Splice { place, new: repr(name) });
    for k in plan.sections_of(&item.steps) {
        let part = key_parts(plan.text, plan.sections[k].header.clone()).into_iter().nth(depth);
        part.into_iter().for_each(&mut replace);
    }
    let table = plan.table(item);
    if begins(plan.text, table, '{') {
        let parent = plan.at(&item.steps[..depth]);
        let own = item.name.as_deref().and_then(|n| parent?.entry(n));
        own.into_iter().for_each(|(key, _)| replace(range(key.span)));
    } else if plan.own_header(item).is_none() {
        // Dotted keys: the name stands in each of them, behind what the header around says.
        let below = |i: &&Item| i.steps.starts_with(&item.steps) && plan.own_header(i).is_none();
        for leaf in plan.items.iter().filter(below).flat_map(|i| plan.leaves(i)) {
            let at = leaf.key.span.start as usize;
            let around = plan.sections.iter().rfind(|s| s.header.start < at);
            let said = around.map_or(0, |s| s.steps.iter().filter(|s| matches!(s, Step::Key(_))).count());
            let line = line_start(plan.text, at)..range(leaf.value.span).start;
            let parts = key_parts(plan.text, line);
            depth.checked_sub(said).and_then(|k| parts.into_iter().nth(k)).into_iter().for_each(&mut replace);
        }
    }
    Ok(splices)
}

/// Where the text refers to an item.
pub(super) fn references(
    plan: &Plan<'_>,
    item: &Item,
    renaming: &Renaming<'_>,
    part_keys: &[(&str, &str)],
) -> Vec<Splice> {
    let mut sources = Sources::default();
    sources.add("", plan.text);
    let robots = robots_of(plan, item);
    let mut out = References { plan, item, renaming, robots, sources, splices: Vec::new() };
    for other in &plan.items {
        out.keys_of(other, part_keys);
        match other.section {
            "assert" => ["that", "when"].iter().for_each(|key| out.condition(other, key)),
            "record" => out.topics(other),
            _ => {}
        }
    }
    out.splices
}

/// The names of the robots that have a part.
fn robots_of(plan: &Plan<'_>, part: &Item) -> Vec<(String, Option<usize>)> {
    let [Step::Key(_), Step::Key(of), ..] = &part.steps[..] else { return Vec::new() };
    let is_one = |i: &&Item| i.section == "robot" && plan.said(i, "type") == Some(of.as_str());
    let named = |i: &Item| (plan.name(i).unwrap_or("r").to_owned(), count_of(plan, i));
    plan.items.iter().filter(is_one).map(named).collect()
}

struct References<'p> {
    plan: &'p Plan<'p>,
    item: &'p Item,
    renaming: &'p Renaming<'p>,
    robots: Vec<(String, Option<usize>)>,
    sources: Sources,
    splices: Vec<Splice>,
}

impl References<'_> {
    /// Keys whose value is the name.
    fn keys_of(&mut self, other: &Item, part_keys: &[(&str, &str)]) {
        let of_same_type = other.steps.get(..2) == self.item.steps.get(..2);
        let class = self.plan.said(other, "class").unwrap_or(other.section);
        let names_it = |key: &str| match self.item.section {
            "type" => key == "type" && matches!(other.section, "robot" | "obstacle"),
            "surface" => key == "surface" && matches!(other.section, "world" | "wall" | "obstacle" | "type"),
            "template" => key == "template" && other.section == "use",
            "part" | "controller" | "protocol" | "algorithm" if of_same_type => match other.section {
                "register" => key == "part",
                "part" | "controller" | "protocol" | "algorithm" => part_keys.contains(&(class, key)),
                _ => false,
            },
            _ => false,
        };
        for leaf in self.plan.leaves(other).iter().filter(|l| names_it(&l.name)) {
            if matches!(&leaf.value.data, Data::Str(s) if *s == self.renaming.old) {
                self.put(leaf.value, 0..self.renaming.old.len());
            }
        }
    }

    /// Scene paths in a condition.
    fn condition(&mut self, assert: &Item, key: &str) {
        let Some(value) = self.plan.table(assert).get(key) else { return };
        let Data::Str(text) = &value.data else { return };
        let Ok(condition) = expr::parse(text) else { return };
        let mut things = Vec::new();
        collect(&condition, &mut things);
        for thing in things {
            let place = match thing.root {
                Root::Scene => self.renaming.find(self.item, &thing.path, &self.robots),
                Root::Own => self.own_part(&thing.path).map(|r| r.start + 5..r.end + 5),
            };
            if let Some(place) = place {
                self.put(value, thing.place.start + place.start..thing.place.start + place.end);
            }
        }
    }

    /// The bytes of what follows `self/` that are the part, if no other type has a part of that name.
    fn own_part(&self, path: &str) -> Option<std::ops::Range<usize>> {
        if !matches!(self.item.section, "part" | "controller" | "protocol" | "algorithm")
            || path.split('/').next()? != self.renaming.old
        {
            return None;
        }
        let same_name = |i: &&Item| {
            i.section == self.item.section && self.plan.name(i) == Some(self.renaming.old.as_str())
        };
        (self.plan.items.iter().filter(same_name).count() == 1).then_some(0..self.renaming.old.len())
    }

    fn topics(&mut self, record: &Item) {
        let Some(Data::Array(topics)) = self.plan.table(record).get("topics").map(|t| &t.data) else {
            return;
        };
        for topic in topics {
            let Data::Str(path) = &topic.data else { continue };
            if let Some(place) = self.renaming.find(self.item, path, &self.robots) {
                self.put(topic, place);
            }
        }
    }

    /// The new name at these bytes of what a text says.
    fn put(&mut self, value: &Tree, bytes: std::ops::Range<usize>) {
        let span = place::inside(&self.sources, value, bytes.start, bytes.end);
        // Where the bytes of a text cannot be found the whole of it would be replaced.
        if span != value.span {
            self.splices.push(Splice { place: range(span), new: self.renaming.new.to_owned() });
        }
    }
}

fn collect<'e>(expr: &'e Expr, out: &mut Vec<&'e Thing>) {
    match expr {
        Expr::Number(_) | Expr::Variable(_) => {}
        Expr::Read { of, .. } => out.push(of),
        Expr::Distance(a, b) => out.extend([a, b]),
        Expr::Not(inner) | Expr::Negate(inner) | Expr::Over(_, inner) => collect(inner, out),
        Expr::Binary(_, a, b) => [a, b].into_iter().for_each(|e| collect(e, out)),
        Expr::Call(_, all) => all.iter().for_each(|e| collect(e, out)),
    }
}
