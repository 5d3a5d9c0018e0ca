//! Part files and robot files put into the tree of a scenario: `file = "eye.part"`.
//!
//! In: the tree of the scenario and all it includes. Out: the same tree, as if what the files say had
//! been written in it. A key of the scenario wins over the robot's file, and that over a part's file.
//! Values keep their places in their own files, so whatever is wrong with them is reported there.
//!
//! A parameter that is [the name of a file](ParamType::File) with a text brings that text, under the key that it is for.

use crate::blocks::{self, normal};
use crate::include::join;
use crate::tree::{Data, Key, Tree, shortened};
use crate::{Context, convert};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use swarmyard_base::{Diagnostic, Span};
use swarmyard_part_api::structure::SHAPE_KEYS;
use swarmyard_part_api::{Kind, ParamType};

const MAX_FILES: usize = 1000;

/// The blocks that stand for parts, and what they are.
const KINDS: [(&str, Kind); 3] =
    [("sensor", Kind::Sensor), ("actuator", Kind::Actuator), ("controller", Kind::Controller)];

type Entries = Vec<(Key, Tree)>;

/// Parts and channels that have a register.
type Channels = BTreeSet<(String, String)>;

/// Puts every part file that the types name into the tree; `false` when one could not be read.
pub(crate) fn resolve(context: &mut Context<'_>, root: &mut Tree) -> bool {
    let values_left = context.limits.nodes;
    let mut files =
        Files { context, known: BTreeMap::new(), texts: BTreeMap::new(), values_left, complete: true };
    let Data::Table(sections) = &mut root.data else { return true };
    let types = sections.iter_mut().filter(|(k, _)| k.text == "type");
    for (_, tree) in types {
        let Data::Table(types) = &mut tree.data else { continue };
        for (_, table) in types {
            if let Data::Table(entries) = &mut table.data {
                files.robot_type(entries);
                files.texts_of_type(entries);
            }
        }
    }
    files.complete
}

struct Files<'c, 'a> {
    context: &'c mut Context<'a>,
    /// Files that were read; `None` when that failed, which was reported.
    known: BTreeMap<String, Option<Rc<Tree>>>,
    /// Files that were taken as texts; `None` when that failed, which was reported.
    texts: BTreeMap<String, Option<Tree>>,
    /// How many values the files may still bring: one file can be used often.
    values_left: usize,
    complete: bool,
}

/// A part or controller while it is put together.
struct Part {
    table: Tree,
    /// What a file says it is, and where.
    kind: Option<(Kind, Span)>,
    /// Blocks of registers, nearest first.
    registers: Vec<Tree>,
}

impl Part {
    fn entries(&mut self) -> Option<&mut Entries> {
        match &mut self.table.data {
            Data::Table(entries) => Some(entries),
            _ => None,
        }
    }

    fn name(&self) -> Option<&str> {
        self.table.get("name").and_then(Tree::text)
    }

    /// Adds what a block says and nobody said before.
    fn fill(&mut self, block: &[(Key, Tree)]) {
        let Data::Table(entries) = &mut self.table.data else { return };
        let said = keys(entries);
        for (key, value) in block {
            if key.text == "registers" {
                self.registers.push(value.clone());
            } else if !said.contains(&key.text) {
                entries.push((key.clone(), value.clone()));
            }
        }
    }
}

impl Files<'_, '_> {
    fn robot_type(&mut self, entries: &mut Entries) {
        let names_file = |t: &Tree| match &t.data {
            Data::Array(items) => items.iter().any(|t| t.get("file").is_some()),
            _ => t.get("file").is_some(),
        };
        let is_list = |(k, t): &(Key, Tree)| {
            k.text == "controller" && t.table().is_some() || matches!(t.data, Data::Array(_))
        };
        let concerned = entries.iter().any(|(k, t)| match k.text.as_str() {
            "file" => true,
            "part" | "controller" => names_file(t),
            _ => false,
        });
        let sections = ["part", "controller"];
        // A list that is no list is reported when the type is read.
        let sound = entries.iter().filter(|e| sections.contains(&e.0.text.as_str())).all(is_list);
        if !concerned || !sound {
            return;
        }
        let mut groups = sections.map(|section| take_parts(entries, section));
        if let Some((_, name)) = take(entries, "file") {
            self.robot_file(&name, entries, &mut groups);
        }
        let mut registers = Vec::new();
        let mut taken = listed_channels(entries);
        for (group, section) in groups.iter_mut().zip(sections) {
            for part in &mut group.parts {
                self.part(part, section);
                self.registers(part, &mut taken, &mut registers);
            }
            let tables: Vec<Tree> = group.parts.drain(..).map(|p| p.table).collect();
            if let Some(span) = group.span.or_else(|| tables.first().map(|t| t.span)) {
                let key = Key { text: section.to_owned(), span };
                entries.push((key, Tree { span, data: Data::Array(tables) }));
            }
        }
        add_registers(entries, registers);
    }

    /// Adds a robot's own file to its type.
    fn robot_file(&mut self, name: &Tree, entries: &mut Entries, groups: &mut [Group; 2]) {
        let Some(file) = self.load(name, "type") else { return };
        let Some((_, block)) = self.only_block(&file, &["robot"], name.span) else { return };
        let said = keys(entries);
        let shaped = SHAPE_KEYS.iter().any(|k| said.contains(*k));
        let mut at = [0, 0];
        for (key, value) in block {
            if let Some(&(_, kind)) = KINDS.iter().find(|k| k.0 == key.text) {
                let Some(inner) = value.table() else {
                    let d = convert::wrong_type(&key.text, value, "block `{ … }`");
                    self.context.report(d);
                    continue;
                };
                let group = usize::from(kind == Kind::Controller);
                groups[group].add(inner, value.span, kind, &mut at[group]);
            } else if key.text == "file" {
                let what = "`file` is not a key of a robot's own file";
                self.context.report(
                    Diagnostic::error("unknown-key", what)
                        .at(Some(key.span))
                        .help("a `Sensor`, `Actuator` or `Controller` in it may name a file"),
                );
            } else {
                let outline = shaped && SHAPE_KEYS.contains(&key.text.as_str());
                // Another outline in the scenario replaces the file's.
                if !outline && !said.contains(&key.text) {
                    entries.push((key.clone(), value.clone()));
                }
            }
        }
    }

    /// Adds the file of a part, and checks what only the files know: the kind.
    fn part(&mut self, part: &mut Part, section: &str) {
        if let Some((_, name)) = part.entries().and_then(|e| take(e, "file")) {
            let wanted: &[&str] = if section == "part" { &["sensor", "actuator"] } else { &["controller"] };
            let Some(file) = self.load(&name, section) else { return };
            let Some((key, block)) = self.only_block(&file, wanted, name.span) else { return };
            let kind = KINDS.iter().find(|k| k.0 == key.text).map(|k| k.1);
            match (part.kind, kind) {
                (Some((first, place)), Some(second)) if first != second => {
                    let what =
                        format!("the part is a `{}` here and a `{}` elsewhere", second.word(), first.word());
                    let help = format!("see {}", self.context.place(place));
                    self.context.report(Diagnostic::error("wrong-block", what).at(Some(key.span)).help(help));
                    return;
                }
                (None, Some(kind)) => part.kind = Some((kind, key.span)),
                _ => {}
            }
            part.fill(block);
        }
        let Some((kind, place)) = part.kind else { return };
        let name = part.name().map_or_else(|| "?".to_owned(), shortened);
        let registry = self.context.registry;
        let Some(entries) = part.entries() else { return };
        let Some((_, class)) = entries.iter_mut().find(|(k, _)| k.text == "class") else {
            let what = format!("nothing says of which class the {} `{name}` is", kind.word());
            let classes = registry.sheets().filter(|s| s.kind == kind).map(|s| s.class);
            let d = Diagnostic::error("missing-class", what).at(Some(place)).suggest("", classes);
            self.context.report(d);
            // So that nobody misses it again.
            let key = Key { text: "class".into(), span: place };
            entries.push((key, Tree { span: place, data: Data::Failed }));
            return;
        };
        let known = class.text().filter(|c| registry.sheet(c).is_some());
        if let Some(Err(d)) = known.map(|c| registry.of_kind(c, &[kind])) {
            self.context.report(d.at(Some(class.span)).help(format!(
                "the block is a {} at {}",
                kind.word(),
                self.context.place(place)
            )));
            class.data = Data::Failed;
        }
    }

    /// The registers of a part as the scenario would write them.
    fn registers(&mut self, part: &Part, taken: &mut Channels, out: &mut Vec<Tree>) {
        let Some(name) = part.table.get("name") else { return };
        let Some(own) = name.text() else { return };
        for block in &part.registers {
            let Some(channels) = block.table() else {
                self.context.report(convert::wrong_type("registers", block, "block of registers `{ … }`"));
                continue;
            };
            for (channel, register) in channels {
                let Some(keys) = register.table() else {
                    let d =
                        convert::wrong_type(&channel.text, register, "block such as `{ Address = 0x10 }`");
                    self.context.report(d);
                    continue;
                };
                // The scenario's own register of that channel wins, then the nearest file's.
                if !taken.insert((own.to_owned(), channel.text.clone())) {
                    continue;
                }
                let text = |text: &str, span: Span| Tree { span, data: Data::Str(text.to_owned()) };
                let key = |text: &str| Key { text: text.to_owned(), span: channel.span };
                let mut table = vec![
                    (key("part"), text(own, name.span)),
                    (key("channel"), text(&channel.text, channel.span)),
                ];
                for (key, value) in keys {
                    self.register_key(key, value, &mut table);
                }
                out.push(Tree { span: channel.span, data: Data::Table(table) });
            }
        }
    }

    fn register_key(&mut self, key: &Key, value: &Tree, table: &mut Entries) {
        if key.text == "part" || key.text == "channel" {
            let what = format!("`{}` is not a key of a register in a part file", key.text);
            let d = Diagnostic::error("unknown-key", what).at(Some(key.span));
            return self.context.report(d.help("the part is the one around it, and the channel its own key"));
        }
        let text = if key.text == "address" { "at" } else { &key.text };
        let key = Key { text: text.to_owned(), span: key.span };
        // Other keys cannot stand there twice: that was checked when the file was read.
        let first = if text == "at" { table.iter().find(|(k, _)| k.text == "at") } else { None };
        if let Some((first, _)) = first {
            let d = repeated(self.context, &key, first.span);
            return self.context.report(d);
        }
        table.push((key, value.clone()));
    }

    /// The text of that name as a tree.
    fn load(&mut self, name: &Tree, section: &str) -> Option<Rc<Tree>> {
        let tree = self.load_known(name, section);
        let size = tree.as_ref().map_or(0, |t| t.size());
        if size <= self.values_left && tree.is_some() {
            self.values_left -= size;
            return tree;
        }
        if tree.is_some() {
            let what = format!("part files may bring at most `{}` values", self.context.limits.nodes);
            self.context.report(Diagnostic::error("too-big", what).at(Some(name.span)));
            self.values_left = 0;
        }
        self.complete = false;
        None
    }

    fn load_known(&mut self, name: &Tree, section: &str) -> Option<Rc<Tree>> {
        let full = self.full_name(name, "file", (section, "part", "parts/eye.part"))?;
        if let Some(known) = self.known.get(&full) {
            return known.clone();
        }
        let read = self.fetch(&full, name.span).and_then(|text| self.read(&full, &text, name.span));
        self.known.insert(full, read.clone());
        read
    }

    /// The name of a file from the scenario's folder; says so when it is none, or leaves that folder.
    fn full_name(
        &mut self,
        name: &Tree,
        key: &str,
        (whose, what, example): (&str, &str, &str),
    ) -> Option<String> {
        let Some(text) = name.text() else {
            self.context.report(convert::wrong_type(key, name, &format!("name of the {whose}'s file")));
            return None;
        };
        let full = join(&self.folder(name.span), text);
        if full.is_none() {
            let what = format!("a {what} file must be in the scenario's folder: `{}`", shortened(text));
            let help = format!("write a relative name such as `{example}`");
            self.context.report(Diagnostic::error("bad-file", what).at(Some(name.span)).help(help));
        }
        full
    }

    /// The text of a file; says so when there is none to be had.
    fn fetch(&mut self, full: &str, asked: Span) -> Option<String> {
        let problem = |what: String| Diagnostic::error("bad-file", what).at(Some(asked));
        let shown = shortened(full);
        if self.known.len() + self.texts.len() >= MAX_FILES {
            self.context.report(problem(format!("at most `{MAX_FILES}` files may be used: `{shown}`")));
            return None;
        }
        match self.context.loader.load(full) {
            Ok(text) => Some(text),
            Err(why) => {
                self.context.report(problem(format!("cannot read `{shown}`: {why}")));
                None
            }
        }
    }

    /// Adds the texts of files that the protocols and the algorithm of a type name.
    fn texts_of_type(&mut self, entries: &mut Entries) {
        for (key, tree) in entries {
            let tables: &mut [Tree] = match (&*key.text, &mut tree.data) {
                ("protocol", Data::Array(tables)) => tables,
                ("algorithm", Data::Table(_)) => std::slice::from_mut(tree),
                _ => continue,
            };
            for table in tables {
                self.texts_of(table);
            }
        }
    }

    fn texts_of(&mut self, table: &mut Tree) {
        let registry = self.context.registry;
        let class = table.get("class").and_then(Tree::text);
        let Some(sheet) = class.and_then(|class| registry.sheet(class)) else { return };
        for param in &sheet.params {
            let ParamType::File(target) = param.ty else { continue };
            let Some((key, name)) = table.entry(param.name).map(|(k, t)| (k.clone(), t.clone())) else {
                continue;
            };
            if table.get(target).is_some() {
                let what = format!("`{}` and `{target}` are both given", param.name);
                let d = Diagnostic::error("both-given", what).at(Some(key.span));
                self.context.report(d.help(format!("leave one out: the file has the text of `{target}`")));
                continue;
            }
            let Some(text) = self.text(&name, param.name, target) else {
                self.complete = false;
                continue;
            };
            if let Data::Table(entries) = &mut table.data {
                entries.push((Key { text: target.to_owned(), span: key.span }, text));
            }
        }
    }

    /// A file as a text that stands in it.
    fn text(&mut self, name: &Tree, key: &str, target: &str) -> Option<Tree> {
        let full = self.full_name(name, key, (target, target, "plans/night.csv"))?;
        if let Some(known) = self.texts.get(&full) {
            return known.clone();
        }
        let read = self.fetch(&full, name.span).and_then(|text| {
            let source = self.context.add_text(&full, &text, Some(name.span))?;
            let span = Span { source, start: 0, end: u32::try_from(text.len()).unwrap_or(u32::MAX) };
            Some(Tree { span, data: Data::Str(text) })
        });
        self.texts.insert(full, read.clone());
        read
    }

    fn read(&mut self, full: &str, text: &str, asked: Span) -> Option<Rc<Tree>> {
        let source = self.context.add_text(full, text, Some(asked))?;
        match blocks::read(text, source) {
            Ok(file) => {
                let span = Span { source, start: 0, end: 0 };
                let data = Data::Table(self.table(file.entries(), false));
                Some(Rc::new(Tree { span, data }))
            }
            Err(problems) => {
                problems.0.into_iter().for_each(|d| self.context.report(d));
                None
            }
        }
    }

    /// Blocks as tables, with keys as scenarios write them.
    fn table(&mut self, entries: &[blocks::Entry], in_robot: bool) -> Entries {
        let mut out = Entries::with_capacity(entries.len());
        let mut first: BTreeMap<String, Span> = BTreeMap::new();
        for entry in entries {
            let key = Key { text: normal(entry.key()), span: entry.key_span() };
            let may_repeat = in_robot && KINDS.iter().any(|k| k.0 == key.text);
            if let Some(&first) = first.get(&key.text)
                && !may_repeat
            {
                // To find a place takes time, and past the limit nobody sees it.
                if !self.context.is_full() {
                    let d = repeated(self.context, &key, first);
                    self.context.report(d);
                }
                continue;
            }
            first.insert(key.text.clone(), key.span);
            let value = match entry.value() {
                blocks::Value::Block(block) => {
                    let data = Data::Table(self.table(block.entries(), key.text == "robot"));
                    Tree { span: key.span, data }
                }
                value => plain_tree(value),
            };
            out.push((key, value));
        }
        out
    }

    /// The one block of a file, which must have one of these names.
    fn only_block<'t>(
        &mut self,
        file: &'t Tree,
        wanted: &[&str],
        asked: Span,
    ) -> Option<(&'t Key, &'t [(Key, Tree)])> {
        let shown = wanted.iter().map(|w| format!("`{}`", capital(w))).collect::<Vec<_>>().join(" or ");
        let mut found: Option<(&Key, &[(Key, Tree)])> = None;
        let mut sound = true;
        for (key, value) in file.table().unwrap_or_default() {
            let problem = |code, what: String| Diagnostic::error(code, what).at(Some(key.span));
            let is_block = key.text == "robot" || KINDS.iter().any(|k| k.0 == key.text);
            let d = match (value.table(), found) {
                _ if !wanted.contains(&key.text.as_str()) && is_block => {
                    let what = format!("expected {shown}, found `{}`", capital(&key.text));
                    problem("wrong-block", what).help(format!("asked for at {}", self.context.place(asked)))
                }
                _ if !wanted.contains(&key.text.as_str()) => {
                    let what = format!("expected the block {shown}, found `{}`", shortened(&key.text));
                    problem("unknown-key", what).suggest(&key.text, wanted.iter().copied())
                }
                (Some(_), Some(_)) => {
                    problem("wrong-block", format!("the file has more than one block: `{}`", key.text))
                }
                (Some(block), None) => {
                    found = Some((key, block));
                    continue;
                }
                (None, _) => convert::wrong_type(&key.text, value, "block `{ … }`"),
            };
            self.context.report(d);
            (sound, self.complete) = (false, false);
        }
        if found.is_none() && sound {
            let what = format!("the file has no block {shown}");
            self.context.report(Diagnostic::error("missing-block", what).at(Some(file.span)));
        }
        self.complete &= found.is_some();
        found
    }

    /// The folder of the text that a place is in, from the scenario's.
    fn folder(&self, span: Span) -> String {
        let outside = span.source.0 == 0 || self.context.overrides.contains(&span.source.0);
        let name = self.context.sources.get(span.source).filter(|_| !outside).map_or("", |s| s.name.as_str());
        name.rsplit_once('/').map_or("", |n| n.0).to_owned()
    }
}

/// The parts or the controllers of a type.
struct Group {
    parts: Vec<Part>,
    /// Where the scenario began to list them.
    span: Option<Span>,
}

impl Group {
    /// Adds a part of the robot's file at `at`: to the scenario's of the same name, or as a new one.
    fn add(&mut self, block: &[(Key, Tree)], span: Span, kind: Kind, at: &mut usize) {
        let default = (kind == Kind::Controller).then_some("controller");
        let name = block.iter().find(|(k, _)| k.text == "name").and_then(|e| e.1.text()).or(default);
        let same = |p: &Part| name.is_some() && p.name().or(default) == name;
        // Those before `at` came from the file: two of one name there are a mistake to be reported.
        let known = self.parts[*at..].iter().position(same).map(|k| k + *at);
        let mut part = match known {
            Some(k) => self.parts.remove(k),
            None => Part {
                table: Tree { span, data: Data::Table(Vec::new()) },
                kind: None,
                registers: Vec::new(),
            },
        };
        part.kind = Some((kind, span));
        part.fill(block);
        self.parts.insert(*at, part);
        *at += 1;
    }
}

fn keys(entries: &[(Key, Tree)]) -> BTreeSet<String> {
    entries.iter().map(|(k, _)| k.text.clone()).collect()
}

fn take(entries: &mut Entries, key: &str) -> Option<(Key, Tree)> {
    let at = entries.iter().position(|(k, _)| k.text == key)?;
    Some(entries.remove(at))
}

fn take_parts(entries: &mut Entries, section: &str) -> Group {
    let Some((key, tree)) = take(entries, section) else { return Group { parts: Vec::new(), span: None } };
    let tables = match tree.data {
        Data::Array(items) => items,
        data => vec![Tree { span: tree.span, data }],
    };
    let parts = tables.into_iter().map(|table| Part { table, kind: None, registers: Vec::new() }).collect();
    Group { parts, span: Some(key.span) }
}

/// Part and channel of every register that the scenario lists.
fn listed_channels(entries: &[(Key, Tree)]) -> Channels {
    let Some((_, tree)) = entries.iter().find(|(k, _)| k.text == "register") else { return Channels::new() };
    let Data::Array(items) = &tree.data else { return Channels::new() };
    let text = |t: &Tree, key: &str| t.get(key).and_then(Tree::text).map(str::to_owned);
    items.iter().filter_map(|t| text(t, "part").zip(text(t, "channel"))).collect()
}

/// Puts registers behind those that the scenario lists.
fn add_registers(entries: &mut Entries, registers: Vec<Tree>) {
    let Some(span) = registers.first().map(|t| t.span) else { return };
    if let Some((_, tree)) = entries.iter_mut().find(|(k, _)| k.text == "register") {
        if let Data::Array(items) = &mut tree.data {
            items.extend(registers);
        }
        return;
    }
    let key = Key { text: "register".into(), span };
    entries.push((key, Tree { span, data: Data::Array(registers) }));
}

fn plain_tree(value: &blocks::Value) -> Tree {
    let data = match value {
        blocks::Value::Plain(plain) => Data::Lab(plain.text()),
        blocks::Value::List(list) => Data::Array(list.items().map(plain_tree).collect()),
        // A block inside a list.
        blocks::Value::Block(_) => Data::Table(Vec::new()),
    };
    Tree { span: value.span(), data }
}

fn repeated(context: &Context<'_>, key: &Key, first: Span) -> Diagnostic {
    Diagnostic::error("duplicate-key", format!("the key is written twice: `{}`", shortened(&key.text)))
        .at(Some(key.span))
        .help(format!("first at {}", context.place(first)))
}

/// A word as part files begin it.
fn capital(word: &str) -> String {
    let mut chars = word.chars();
    chars.next().map(|c| c.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
