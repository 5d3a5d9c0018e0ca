//! Tree to scene: what every section means, by the sheets of the registry.
//!
//! In: the expanded tree. Out: the root node. Every table is read against its sheet, so this file
//! knows only what a sheet cannot say: which keys exclude each other, which names must exist, and
//! what makes an outline usable. It goes on after a mistake, to report them all.

mod live;
pub(crate) mod place;
mod robots;
mod room;
mod shape;
mod stacks;
mod sweep;
mod table;

use crate::Context;
use crate::convert;
use crate::expand::{Expanded, Piece, bad_name, list_of_tables};
use crate::include::duplicate;
use crate::tree::{Data, Key, Tree, shortened};
use stacks::Stack;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::path::is_name;
use swarmyard_base::{Diagnostic, Diagnostics, Pose2, Span, Vec2};
use swarmyard_part_api::structure::OBSTACLE_DRIVE;
use swarmyard_part_api::{Kind, ParamType, Sheet};
use swarmyard_scene::{Node, Params, Value, expr};

/// Top-level keys, for suggestions.
const TOP_LEVEL: [&str; 25] = [
    "format", "title", "about", "include", "params", "run", "world", "record", "surface", "type", "wall",
    "obstacle", "track", "beacon", "robot", "assert", "sweep", "template", "use", "x", "network", "fault",
    "display", "zone", "stack",
];

/// Builds the scene. When problems were reported the scene is incomplete and nobody sees it.
pub(crate) fn mean(context: &mut Context<'_>, expanded: Expanded) -> Node {
    let mut meaning = Meaning {
        context,
        surfaces: BTreeMap::new(),
        types: BTreeMap::new(),
        stacks: BTreeMap::new(),
        bounded: false,
    };
    let mut sections = Sections::default();
    let mut root = Node::new("", "");
    for (key, tree) in expanded.sections {
        meaning.sort_section(key, tree, &mut sections, &mut root);
    }
    let [walls, obstacles, tracks, beacons, robots] = expanded.placed;

    meaning.surfaces = named(&sections.surfaces);
    let surfaces = meaning.surfaces(sections.surfaces);
    meaning.stacks = stacks::read(&mut meaning, sections.stacks);
    let types = meaning.types(sections.types);
    stacks::report_unused(&mut meaning);
    let run = meaning.single("run", sections.run);
    let mut world = meaning.world(sections.world);
    meaning.bounded = world.params.has("min") && world.params.has("max");
    let record = meaning.single("record", sections.record);
    world.children.push(meaning.pieces("walls", walls, Meaning::wall));
    world.children.push(meaning.pieces("tracks", tracks, Meaning::track));
    let obstacles = meaning.pieces("obstacles", obstacles, Meaning::obstacle);
    let beacons = meaning.pieces("beacons", beacons, Meaning::beacon);
    let robots = robots::robots(&mut meaning, robots, &run, &world, &obstacles);
    let talk = sections.network.is_some();
    let network = live::network(&mut meaning, sections.network);
    let faults = live::faults(&mut meaning, sections.faults, &robots, talk);
    let zones = live::zones(&mut meaning, sections.zones);
    let asserts = meaning.asserts(sections.asserts);
    let displays = meaning.displays(sections.displays);
    let sweep = sections.sweep.map(|tree| meaning.sweep(&tree));
    meaning.report_unused_types();
    world.children.push(zones);
    root.children =
        vec![run, world, record, surfaces, types, robots, obstacles, beacons, asserts, faults, displays];
    root.children.extend(network);
    root.children.extend(sweep);
    root
}

#[derive(Default)]
struct Sections {
    run: Option<Tree>,
    world: Option<Tree>,
    record: Option<Tree>,
    surfaces: Vec<(Key, Tree)>,
    types: Vec<(Key, Tree)>,
    asserts: Vec<Tree>,
    network: Option<Tree>,
    faults: Vec<Tree>,
    zones: Vec<Tree>,
    displays: Vec<Tree>,
    stacks: Vec<(Key, Tree)>,
    sweep: Option<Tree>,
}

/// A robot type, while the robots are read.
struct Type {
    node: Arc<Node>,
    /// Radius of the circle around its outline.
    reach: f64,
    key: Span,
    used: bool,
}

struct Meaning<'c, 'a> {
    context: &'c mut Context<'a>,
    surfaces: BTreeMap<String, Span>,
    types: BTreeMap<String, Type>,
    stacks: BTreeMap<String, Stack>,
    /// Whether the world has a border.
    bounded: bool,
}

impl<'a> Meaning<'_, 'a> {
    fn sort_section(&mut self, key: Key, tree: Tree, sections: &mut Sections, root: &mut Node) {
        match key.text.as_str() {
            "title" | "about" => match tree.text() {
                Some(text) => root.params.set(&key.text, Value::Text(text.to_owned()), Some(tree.span)),
                None => self.context.report(convert::wrong_type(&key.text, &tree, "text")),
            },
            "run" => sections.run = Some(tree),
            "world" => sections.world = Some(tree),
            "record" => sections.record = Some(tree),
            "sweep" => sections.sweep = Some(tree),
            "surface" => sections.surfaces = self.named_tables(&key, tree),
            "type" => sections.types = self.named_tables(&key, tree),
            "assert" => sections.asserts = list_of_tables(self.context, &key, tree),
            "network" => sections.network = Some(tree),
            "fault" => sections.faults = list_of_tables(self.context, &key, tree),
            "zone" => sections.zones = list_of_tables(self.context, &key, tree),
            "display" => sections.displays = list_of_tables(self.context, &key, tree),
            "stack" => sections.stacks = self.named_tables(&key, tree),
            other => {
                let what = format!("`{}` is not a section of a scenario", shortened(other));
                let d = Diagnostic::error("unknown-key", what).at(Some(key.span));
                self.context.report(d.suggest(other, TOP_LEVEL));
            }
        }
    }

    /// The tables of a section written as `[section.NAME]`.
    fn named_tables(&mut self, key: &Key, tree: Tree) -> Vec<(Key, Tree)> {
        let wanted = format!("tables, each written as `[{}.NAME]`", key.text);
        let Data::Table(entries) = tree.data else {
            let tree = Tree { span: key.span, data: tree.data };
            self.context.report(convert::wrong_type(&key.text, &tree, &wanted));
            return Vec::new();
        };
        let mut good = Vec::with_capacity(entries.len());
        for (name, table) in entries {
            if table.table().is_none() {
                self.context.report(convert::wrong_type(&name.text, &table, &wanted));
            } else if !is_name(&name.text) {
                self.context.report(bad_name(&name.text, name.span));
            } else {
                good.push((name, table));
            }
        }
        good
    }

    /// A section that exists once, with defaults when it was not written.
    fn single(&mut self, name: &'static str, tree: Option<Tree>) -> Node {
        let path = format!("/{name}");
        let span = tree.as_ref().map(|t| t.span);
        let empty = || Tree {
            span: Span { source: Default::default(), start: 0, end: 0 },
            data: Data::Table(Vec::new()),
        };
        let tree = tree.unwrap_or_else(empty);
        if tree.table().is_none() {
            self.context.report(convert::wrong_type(name, &tree, &format!("table, written as `[{name}]`")));
        }
        let params = match self.sheet(name) {
            Some(sheet) => self.read(sheet, &tree, &path, &[]),
            None => Params::default(),
        };
        let mut node = Node::new(name, name).with(params);
        node.span = span;
        node
    }

    fn world(&mut self, tree: Option<Tree>) -> Node {
        let node = self.single("world", tree.clone());
        let Some(tree) = tree else { return node };
        let (min, max) = (tree.entry("min"), tree.entry("max"));
        match (min, max) {
            (Some((key, _)), None) => self.unused("/world", key, "`min` without `max`"),
            (None, Some((key, _))) => self.unused("/world", key, "`max` without `min`"),
            (None, None) => {
                for name in ["surface", "height"] {
                    if let Some((key, _)) = tree.entry(name) {
                        self.unused(
                            "/world",
                            key,
                            &format!("`{name}` without `min` and `max`: there is no border"),
                        );
                    }
                }
            }
            (Some(_), Some((_, value))) => {
                if let (Some(a), Some(b)) =
                    (node.params.point_or_none("min"), node.params.point_or_none("max"))
                    && !(a.x < b.x && a.y < b.y)
                {
                    let what = format!(
                        "the world has no area: `max` is not above and right of `min`: `[{}, {}]`",
                        b.x, b.y
                    );
                    self.context
                        .report(Diagnostic::error("degenerate", what).at(Some(value.span)).on("/world"));
                }
            }
        }
        node
    }

    fn surfaces(&mut self, tables: Vec<(Key, Tree)>) -> Node {
        let mut group = Node::new("surfaces", "");
        let Some(sheet) = self.sheet("surface") else { return group };
        for (name, table) in tables {
            let params = self.read(sheet, &table, &format!("/surfaces/{}", name.text), &[]);
            let mut node = Node::new(name.text, "surface").with(params);
            node.span = Some(table.span);
            group.children.push(node);
        }
        group
    }

    fn types(&mut self, tables: Vec<(Key, Tree)>) -> Node {
        let mut group = Node::new("types", "");
        let Some(sheet) = self.sheet("type") else { return group };
        for (name, table) in tables {
            let path = format!("/types/{}", name.text);
            let sections = ["part", "controller", "register", "protocol", "algorithm"];
            let params = self.read(sheet, &table, &path, &sections);
            let reach = self.shape(&table, &params, &path, true);
            let mut node = Node::new(name.text.clone(), "type").with(params);
            node.span = Some(table.span);
            let mut names = BTreeMap::new();
            for section in ["part", "controller", "protocol", "algorithm"] {
                self.parts(&table, section, &path, &mut node, &mut names);
            }
            let parts: Vec<String> = names.keys().cloned().collect();
            self.registers(&table, &path, &mut node, &mut names);
            self.check_part_names(&node, &parts);
            let known = Type {
                node: Arc::new(node.clone()),
                reach: reach.unwrap_or(0.0),
                key: name.span,
                used: false,
            };
            self.types.insert(name.text, known);
            group.children.push(node);
        }
        group
    }

    /// The parts or controllers of a type, as its children.
    fn parts(
        &mut self,
        table: &Tree,
        section: &'static str,
        path: &str,
        node: &mut Node,
        names: &mut BTreeMap<String, Span>,
    ) {
        let Some((key, tree)) = table.entry(section) else { return };
        // Of these a type has one as a rule, which needs no name.
        let single = matches!(section, "controller" | "algorithm");
        let tables = match &tree.data {
            Data::Table(_) if single => vec![tree.clone()],
            _ => list_of_tables(self.context, key, tree.clone()),
        };
        let kinds = Kind::of_section(section);
        for table in tables {
            let name = self.part_name(&table, section, path);
            let child = format!("{path}/{name}");
            let place = table.get("name").map_or(table.span, |t| t.span);
            if let Some(first) = names.insert(name.clone(), place) {
                let d = duplicate(self.context, &name, place, first).on(child.as_str());
                self.context.report(d);
            }
            if section == "protocol" && table.get("stack").is_some() {
                for part in stacks::instance(self, &table, &name, &child) {
                    if part.name != name
                        && let Some(first) = names.insert(part.name.clone(), place)
                    {
                        let d = duplicate(self.context, &part.name, place, first);
                        self.context.report(d.on(format!("{path}/{}", part.name)));
                    }
                    node.children.push(part);
                }
                continue;
            }
            let Some(sheet) = self.class_of(&table, section, kinds, &child) else { continue };
            let params = self.read(sheet, &table, &child, &["name", "class"]);
            let mut part = Node::new(name, sheet.class).with(params);
            (part.section, part.span) = (section, Some(table.span));
            node.children.push(part);
        }
    }

    /// The registers of a type, as its children.
    fn registers(&mut self, table: &Tree, path: &str, node: &mut Node, names: &mut BTreeMap<String, Span>) {
        let (Some((key, tree)), Some(sheet)) = (table.entry("register"), self.sheet("register")) else {
            return;
        };
        for table in list_of_tables(self.context, key, tree.clone()) {
            let params = self.read(sheet, &table, path, &[]);
            let own = params.text_or_none("name").map(str::to_owned);
            let of = |key: &str| params.text_or_none(key).unwrap_or("?").to_owned();
            let name = own.unwrap_or_else(|| format!("{}_{}", of("part"), of("channel")));
            let place = table.get("name").map_or(table.span, |t| t.span);
            if !is_name(&name) {
                self.context.report(bad_name(&name, place).on(path));
            } else if let Some(first) = names.insert(name.clone(), place) {
                let d = duplicate(self.context, &name, place, first).on(path);
                self.context.report(d);
            }
            let mut register = Node::new(name, "register").with(params);
            register.span = Some(table.span);
            node.children.push(register);
        }
    }

    /// Parameters that name another part of the type must name one, be it only a broken one.
    fn check_part_names(&mut self, node: &Node, parts: &[String]) {
        for child in &node.children {
            let kinds = Kind::of_section(child.section);
            let Ok(class) = self.context.registry.of_kind(&child.class, kinds) else { continue };
            let sheet = &class.sheet;
            let named = sheet.params.iter().filter_map(|p| match p.ty {
                ParamType::Name(of @ ("part" | "protocol")) => Some((p.name, of)),
                _ => None,
            });
            for (key, of) in named {
                let Some(wanted) = child.params.text_or_none(key) else { continue };
                let is_network =
                    wanted == "network" && matches!(sheet.kind, Kind::Protocol | Kind::Algorithm);
                if is_network || parts.iter().any(|p| p == wanted) {
                    continue;
                }
                let parts = parts.iter().map(String::as_str).filter(|p| is_name(p));
                let what = format!("this type has no {of} `{}`", shortened(wanted));
                let d = Diagnostic::error("unknown-part", what).at(child.params.span(key));
                self.context
                    .report(d.on(format!("/types/{}/{}", node.name, child.name)).suggest(wanted, parts));
            }
        }
    }

    fn part_name(&mut self, table: &Tree, section: &str, path: &str) -> String {
        let Some(value) = table.get("name") else {
            if matches!(section, "controller" | "algorithm") {
                return section.to_owned();
            }
            let d = Diagnostic::error("missing-key", format!("`{section}` needs the key `name`"))
                .at(Some(table.span))
                .on(path);
            self.context.report(d.help("its name in its path, such as `drive`"));
            // It was reported; a name nobody can write keeps it apart from others.
            return format!("?{}", table.span.start);
        };
        match value.text() {
            Some(name) if is_name(name) => return name.to_owned(),
            Some(name) => self.context.report(bad_name(name, value.span).on(path)),
            None => self.context.report(convert::wrong_type("name", value, "text").on(path)),
        }
        format!("?{}", table.span.start)
    }

    /// The sheet of the class that a table names.
    fn class_of(&mut self, table: &Tree, what: &str, kinds: &[Kind], path: &str) -> Option<&'a Sheet> {
        let registry = self.context.registry;
        let Some(value) = table.get("class") else {
            let d = Diagnostic::error("missing-key", format!("`{what}` needs the key `class`"))
                .at(Some(table.span))
                .on(path);
            let valid = registry.sheets().filter(|s| kinds.contains(&s.kind)).map(|s| s.class);
            self.context.report(d.suggest("", valid));
            return None;
        };
        let Some(class) = value.text() else {
            self.context.report(convert::wrong_type("class", value, "name of a class").on(path));
            return None;
        };
        match registry.of_kind(class, kinds) {
            Ok(class) => Some(&class.sheet),
            Err(d) => {
                self.context.report(d.at(Some(value.span)).on(path));
                None
            }
        }
    }

    /// A group of placed things with unique names.
    fn pieces(
        &mut self,
        group: &str,
        pieces: Vec<Piece>,
        read: fn(&mut Self, &Piece, &str) -> Option<Node>,
    ) -> Node {
        let mut node = Node::new(group, "");
        let (root, kind) = match group {
            "walls" => ("/world/walls/", "wall"),
            "tracks" => ("/world/tracks/", "track"),
            "beacons" => ("/beacons/", "beacon"),
            _ => ("/obstacles/", "obstacle"),
        };
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        for piece in &pieces {
            let Some(name) = self.piece_name(piece, &format!("{kind}{}", piece.number)) else { continue };
            let path = format!("{root}{name}");
            let place = piece.table.get("name").map_or(piece.table.span, |t| t.span);
            if let Some(first) = names.insert(name.clone(), place) {
                let d = duplicate(self.context, &name, place, first).on(path.as_str());
                self.context.report(d);
            }
            if let Some(mut child) = read(self, piece, &path) {
                child.name = name;
                child.span = Some(piece.table.span);
                node.children.push(child);
            }
        }
        node
    }

    /// The full name of a placed thing; `None` when it is no name (which is reported).
    fn piece_name(&mut self, piece: &Piece, default: &str) -> Option<String> {
        let value = piece.table.get("name");
        let own = match value {
            None => default,
            // A name of another type is reported when the table is read.
            Some(value) => value.text().unwrap_or(default),
        };
        let name = format!("{}{own}", piece.prefix);
        if is_name(&name) && is_name(own) {
            return Some(name);
        }
        self.context.report(bad_name(&name, value.map_or(piece.table.span, |v| v.span)));
        None
    }

    fn wall(&mut self, piece: &Piece, path: &str) -> Option<Node> {
        let sheet = self.sheet("wall")?;
        let mut params = self.read(sheet, &piece.table, path, &[]);
        let closed = params.bool_or_none("closed") == Some(true);
        if closed
            && params.points_or_none("points").is_some_and(|p| p.len() < 3)
            && let Some((key, _)) = piece.table.entry("closed")
        {
            self.unused(path, key, "`closed` with two points: there is nothing to close");
        }
        self.distinct_points(&piece.table, "points", &params, closed, path);
        self.heights(&piece.table, &params, path);
        move_points(&mut params, piece.frame);
        Some(Node::new("", "wall").with(params))
    }

    fn track(&mut self, piece: &Piece, path: &str) -> Option<Node> {
        let sheet = self.sheet("track")?;
        let mut params = self.read(sheet, &piece.table, path, &[]);
        let distinct = self.distinct_points(&piece.table, "points", &params, false, path);
        if distinct && piece.table.get("width").is_none() {
            self.area(&params, path, "give a `width` for a band");
        }
        let few = params.points_or_none("points").is_some_and(|p| p.len() == 2);
        if few && piece.table.get("width").is_none() {
            let d = Diagnostic::error("missing-key", "a `track` of two points needs the key `width`");
            self.context.report(
                d.at(Some(piece.table.span)).on(path).help("without `width` the points enclose an area"),
            );
        }
        move_points(&mut params, piece.frame);
        Some(Node::new("", "track").with(params))
    }

    fn beacon(&mut self, piece: &Piece, path: &str) -> Option<Node> {
        let sheet = self.sheet("beacon")?;
        let mut params = self.read(sheet, &piece.table, path, &[]);
        let mut node = Node::new("", "beacon");
        node.pose = Self::placed_pose(&mut params, piece.frame);
        Some(node.with(params))
    }

    /// Takes `at` from a template's frame to the world's, and answers it.
    fn placed_pose(params: &mut Params, frame: Option<Pose2>) -> Pose2 {
        let mut pose = params.pose_or_none("at").unwrap_or_default();
        if let Some(frame) = frame {
            pose = frame.then(pose);
            let span = params.span("at");
            params.set("at", Value::Pose(pose), span);
        }
        pose
    }

    fn obstacle(&mut self, piece: &Piece, path: &str) -> Option<Node> {
        let sheet = self.sheet("obstacle")?;
        let table = &piece.table;
        let mut params = self.read(sheet, table, path, &[]);
        let mut node = Node::new("", "obstacle");
        node.pose = Self::placed_pose(&mut params, piece.frame);
        if table.get("type").is_some() {
            node.proto = self.type_of_obstacle(table, &params, path);
            return Some(node.with(params));
        }
        let movable = params.bool_or_none("movable") == Some(true);
        let moves = table.get("velocity").is_some() || table.get("script").is_some();
        self.shape(table, &params, path, moves || movable);
        self.heights(table, &params, path);
        self.idle_keys(table, &params, path);
        // The template's frame turns what was written in it.
        let turned = |v: Vec2| piece.frame.map_or(v, |f| f.rot().apply(v));
        if let Some(&[x, y]) = params.nums_or_none("velocity") {
            let (v, span) = (turned(Vec2::new(x, y)), params.span("velocity"));
            params.set("velocity", Value::Nums(vec![v.x, v.y]), span);
        }
        if let Some(rows) = params.rows_or_none("script") {
            let turned_row = |r: &Vec<f64>| {
                let v = turned(Vec2::new(r[1], r[2]));
                vec![r[0], v.x, v.y, r[3]]
            };
            let (rows, span) = (rows.iter().map(turned_row).collect(), params.span("script"));
            params.set("script", Value::Rows(rows), span);
        }
        // A movable thing is passive: the velocity is only what it starts with.
        if !movable && (params.has("velocity") || params.has("script")) {
            node.children.push(self.drift(&params, path));
        }
        Some(node.with(params))
    }

    /// The robot's type that an obstacle has, and complaints about what it says beside.
    fn type_of_obstacle(&mut self, table: &Tree, params: &Params, path: &str) -> Option<Arc<Node>> {
        for (key, _) in table.table().unwrap_or_default() {
            if !["name", "at", "type"].contains(&key.text.as_str()) {
                self.unused(path, key, &format!("`type` says already what `{}` would", key.text));
            }
        }
        let known = self.types.get_mut(params.text_or_none("type")?)?;
        known.used = true;
        Some(Arc::clone(&known.node))
    }

    /// Keys of an obstacle that contradict others, or are about a motion that it does not have.
    fn idle_keys(&mut self, table: &Tree, params: &Params, path: &str) {
        let has = |key: &str| table.get(key).is_some();
        let movable = params.bool_or_none("movable") == Some(true);
        let wraps = params.text_or_none("at_edge") == Some("wrap");
        for (key, idle, why) in [
            ("script", has("velocity"), "`velocity` says already how it moves"),
            ("script", !has("velocity") && movable, "what is `movable` moves as others push it"),
            ("spin", has("script") && !has("velocity"), "the rows of `script` say how it turns"),
            ("spin", !has("script") && !has("velocity"), "`spin` without `velocity`"),
            ("repeat", !has("script"), "`repeat` without `script`"),
            ("at_edge", !has("velocity") && !has("script"), "`at_edge` without `velocity` or `script`"),
            ("at_edge", has("velocity") && movable, "what is `movable` bounces as its surface does"),
            (
                "at_edge",
                wraps && !self.bounded,
                "`wrap` in a world without `min` and `max`: there is no border",
            ),
        ] {
            if let (true, Some((key, _))) = (idle, table.entry(key)) {
                self.unused(path, key, why);
            }
        }
    }

    /// The part that keeps an obstacle moving.
    fn drift(&mut self, of: &Params, path: &str) -> Node {
        let (name, class) = OBSTACLE_DRIVE;
        let mut params = Params::default();
        for key in ["velocity", "spin", "script", "repeat", "at_edge"] {
            if let Some(value) = of.value(key) {
                params.set(key, value.clone(), of.span(key));
            }
        }
        if let Some(sheet) = self.sheet(class) {
            let mut problems = Diagnostics::default();
            sheet.complete(&mut params, &format!("{path}/{name}"), of.span("velocity"), &mut problems);
            problems.0.into_iter().for_each(|d| self.context.report(d));
        }
        Node::new(name, class).with(params)
    }

    fn asserts(&mut self, tables: Vec<Tree>) -> Node {
        // Its name is a sentence for people more often than not.
        self.listed("assert", "/asserts", tables, |meaning, table, _, path| {
            for key in ["that", "when"] {
                meaning.condition(table, key, path);
            }
        })
    }

    /// `[[display]]`: where somebody looks.
    fn displays(&mut self, tables: Vec<Tree>) -> Node {
        self.listed("display", "/displays", tables, |_, _, _, _| {})
    }

    /// A section that is a list. Each of its things has the name it says, if that is one, or one by its place; `check`
    /// looks at what it says besides.
    fn listed(
        &mut self,
        word: &str,
        group: &str,
        tables: Vec<Tree>,
        check: impl Fn(&mut Self, &Tree, &Params, &str),
    ) -> Node {
        let mut all = Node::new(group.rsplit('/').next().unwrap_or(group), "");
        let Some(sheet) = self.sheet(word) else { return all };
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        for (k, table) in tables.into_iter().enumerate() {
            let own = table.get("name").and_then(Tree::text).filter(|t| is_name(t));
            let name = own.map_or_else(|| format!("{word}{}", k + 1), str::to_owned);
            let path = format!("{group}/{name}");
            let place = table.get("name").map_or(table.span, |t| t.span);
            if let Some(first) = names.insert(name.clone(), place) {
                let d = duplicate(self.context, &name, place, first).on(path.as_str());
                self.context.report(d);
            }
            let params = self.read(sheet, &table, &path, &[]);
            check(self, &table, &params, &path);
            let mut node = Node::new(name, word).with(params);
            node.span = Some(table.span);
            all.children.push(node);
        }
        all
    }

    fn condition(&mut self, table: &Tree, key: &str, path: &str) {
        let Some(value) = table.get(key) else { return };
        let Some(text) = value.text() else { return };
        let Err(e) = expr::parse(text) else { return };
        let span = place::inside(&self.context.sources, value, e.start, e.end);
        let d = Diagnostic::error("bad-condition", format!("in `{}`: {}", shortened(text), e.message));
        self.context.report(d.at(Some(span)).on(path));
    }

    fn report_unused_types(&mut self) {
        let main = |t: &&Type| !t.used && t.key.source.0 == 0;
        for known in self.types.values().filter(main) {
            let what = format!("nothing is of the type `{}`", known.node.name);
            self.context.report(Diagnostic::warning("unused-type", what).at(Some(known.key)));
        }
    }

    fn unused(&mut self, path: &str, key: &Key, why: &str) {
        let what = format!("the key does nothing here: {why}");
        self.context.report(Diagnostic::error("unused-key", what).at(Some(key.span)).on(path));
    }
}

/// The names of a section and where they stand.
fn named(tables: &[(Key, Tree)]) -> BTreeMap<String, Span> {
    tables.iter().map(|(k, _)| (k.text.clone(), k.span)).collect()
}

/// Takes points from a template's frame to the world's.
fn move_points(params: &mut Params, frame: Option<Pose2>) {
    let (Some(frame), Some(points)) = (frame, params.points_or_none("points")) else { return };
    let moved = points.iter().map(|p| frame.point(*p)).collect();
    let span = params.span("points");
    params.set("points", Value::Points(moved), span);
}
