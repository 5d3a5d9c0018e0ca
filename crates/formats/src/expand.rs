//! Parameters and templates, worked out on the tree.
//!
//! In: one tree of the scenario and all it includes. Out: the sections without `${…}`, and every
//! placed thing as a [`Piece`] with the frame and name prefix of the templates it came through.
//! Values keep the place where they were written: in the template, or at the parameter.

use crate::Context;
use crate::convert::{self, convert};
use crate::include::duplicate;
use crate::tree::{Data, Key, Tree, shortened};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;
use swarmyard_base::path::is_name;
use swarmyard_base::{Diagnostic, Pose2, Span};
use swarmyard_part_api::ParamType;
use swarmyard_scene::Value;

/// The sections that are lists of placed things; templates may hold these.
pub(crate) const PLACED: [&str; 5] = ["wall", "obstacle", "track", "beacon", "robot"];
const MAX_DEPTH: usize = 8;

/// One entry of a list of placed things.
pub(crate) struct Piece {
    pub(crate) table: Tree,
    /// The frame of the templates around it, in the world's.
    pub(crate) frame: Option<Pose2>,
    /// The names of the uses around it, each with a dot; empty in the scenario itself.
    pub(crate) prefix: Rc<str>,
    /// Its number in its list, from 1.
    pub(crate) number: usize,
}

/// A scenario without includes, parameters and templates.
pub(crate) struct Expanded {
    /// Top-level entries except placed things.
    pub(crate) sections: Vec<(Key, Tree)>,
    /// Placed things, in the order of [`PLACED`].
    pub(crate) placed: [Vec<Piece>; PLACED.len()],
}

/// Works out parameters and templates.
pub(crate) fn expand(context: &mut Context<'_>, root: Tree) -> Option<Expanded> {
    let Data::Table(entries) = root.data else { return None };
    let mut sections = Vec::new();
    let (mut params, mut templates, mut uses) = (None, None, Vec::new());
    let mut placed: [Vec<Piece>; PLACED.len()] = Default::default();
    let no_prefix: Rc<str> = Rc::from("");
    for (key, tree) in entries {
        match key.text.as_str() {
            "params" => params = Some(tree),
            "template" => templates = Some(tree),
            "use" => uses = list_of_tables(context, &key, tree),
            "x" | "format" => {}
            name => match PLACED.iter().position(|p| *p == name) {
                None => sections.push((key, tree)),
                Some(k) => placed[k].extend(list_of_tables(context, &key, tree).into_iter().enumerate().map(
                    |(n, table)| Piece { table, frame: None, prefix: Rc::clone(&no_prefix), number: n + 1 },
                )),
            },
        }
    }
    let params = params.map(|t| read_params(context, t)).unwrap_or_default();
    let templates = templates.map(|t| read_templates(context, t)).unwrap_or_default();
    let nodes_left = context.limits.nodes;
    let mut expander = Expander { context, templates: &templates, placed, nodes_left, open: Vec::new() };
    let scope = Scope { own: &params, given: None, outer: None };
    for (_, tree) in &mut sections {
        expander.substitute(tree, &scope);
    }
    expander.substitute_placed(&scope);
    let root_frame = Frame { pose: None, prefix: no_prefix };
    expander.uses(uses, &scope, &root_frame);
    let placed = expander.placed;
    report_unused(context, &params, &templates);
    Some(Expanded { sections, placed })
}

fn report_unused(context: &mut Context<'_>, params: &Params, templates: &BTreeMap<String, Template>) {
    let unused = |what: &str, name: &str, span: Span| {
        let code = if what == "template" { "unused-template" } else { "unused-param" };
        Diagnostic::error(code, format!("the {what} `{}` is never used", shortened(name)))
            .at(Some(span))
            .help("use it or take it out")
    };
    for (name, param) in params.iter().filter(|p| !p.1.used.get()) {
        context.report(unused("parameter", name, param.key));
    }
    for (name, template) in templates {
        if !template.used.get() {
            context.report(unused("template", name, template.key));
            continue;
        }
        for (name, param) in template.params.iter().filter(|p| !p.1.used.get()) {
            context.report(unused("parameter", name, param.key));
        }
    }
}

/// The tables of a section written as `[[name]]`.
pub(crate) fn list_of_tables(context: &mut Context<'_>, key: &Key, tree: Tree) -> Vec<Tree> {
    let wanted = format!("list of tables, each written as `[[{}]]`", key.text);
    let Data::Array(items) = tree.data else {
        let tree = Tree { span: key.span, data: tree.data };
        context.report(convert::wrong_type(&key.text, &tree, &wanted));
        return Vec::new();
    };
    let is_table = |t: &Tree| t.table().is_some();
    for item in items.iter().filter(|t| !is_table(t)) {
        context.report(convert::wrong_type(&key.text, item, &wanted));
    }
    items.into_iter().filter(is_table).collect()
}

/// A parameter: what it is when nobody says otherwise, and whether anybody asked.
struct Param {
    key: Span,
    value: Tree,
    used: Cell<bool>,
}

type Params = BTreeMap<String, Param>;

struct Template {
    key: Span,
    params: Params,
    body: Vec<(Key, Tree)>,
    used: Cell<bool>,
}

fn read_params(context: &mut Context<'_>, tree: Tree) -> Params {
    let Data::Table(entries) = tree.data else {
        context.report(convert::wrong_type("params", &tree, "table of values"));
        return Params::new();
    };
    let mut params = Params::new();
    for (key, value) in entries {
        if !is_name(&key.text) {
            context.report(bad_name(&key.text, key.span));
        } else if matches!(value.data, Data::Table(_) | Data::Datetime) {
            context.report(convert::wrong_type(&key.text, &value, "number, text, true, false or a list"));
        } else {
            params.insert(key.text, Param { key: key.span, value, used: Cell::new(false) });
        }
    }
    params
}

/// The diagnostic for a name that cannot stand in a path.
pub(crate) fn bad_name(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error("bad-name", format!("not a name: `{}`", shortened(name)))
        .at(Some(span))
        .help("a name has letters, digits, `_`, `-` and `.`, and at most 64 of them; it begins with a letter or digit")
}

fn read_templates(context: &mut Context<'_>, tree: Tree) -> BTreeMap<String, Template> {
    let Data::Table(entries) = tree.data else {
        context.report(convert::wrong_type("template", &tree, "table, written as `[template.NAME]`"));
        return BTreeMap::new();
    };
    let mut templates = BTreeMap::new();
    for (key, tree) in entries {
        let Data::Table(entries) = tree.data else {
            context.report(convert::wrong_type(&key.text, &tree, "table, written as `[template.NAME]`"));
            continue;
        };
        if !is_name(&key.text) {
            context.report(bad_name(&key.text, key.span));
            continue;
        }
        let mut template =
            Template { key: key.span, params: Params::new(), body: Vec::new(), used: Cell::new(false) };
        for (section, tree) in entries {
            if section.text == "params" {
                template.params = read_params(context, tree);
            } else if section.text == "use" || PLACED.contains(&section.text.as_str()) {
                template.body.push((section, tree));
            } else {
                let valid = PLACED.into_iter().chain(["params", "use"]);
                let what = format!("`{}` is not a section of a template", shortened(&section.text));
                let d = Diagnostic::error("unknown-key", what).at(Some(section.span));
                context.report(d.suggest(&section.text, valid));
            }
        }
        for reserved in ["template", "name", "at"] {
            if let Some(param) = template.params.get(reserved) {
                let what = format!("`{reserved}` is a key of `[[use]]`, so no parameter can be called that");
                context.report(Diagnostic::error("bad-name", what).at(Some(param.key)));
            }
        }
        templates.insert(key.text, template);
    }
    templates
}

/// What `${name}` means: the value given at the use, the template's default, or the scenario's.
struct Scope<'a> {
    own: &'a Params,
    given: Option<&'a BTreeMap<String, Tree>>,
    outer: Option<&'a Scope<'a>>,
}

impl Scope<'_> {
    fn find(&self, name: &str) -> Option<&Tree> {
        if let Some(param) = self.own.get(name) {
            param.used.set(true);
            return self.given.and_then(|g| g.get(name)).or(Some(&param.value));
        }
        self.outer.and_then(|o| o.find(name))
    }

    /// The scope of the scenario itself.
    fn global(&self) -> &Scope<'_> {
        self.outer.map_or(self, Scope::global)
    }

    fn names(&self) -> Vec<&str> {
        let outer = self.outer.map(Scope::names).unwrap_or_default();
        self.own.keys().map(String::as_str).take(1000).chain(outer).collect()
    }
}

/// Where the things of a use stand, and how their names begin.
struct Frame {
    pose: Option<Pose2>,
    prefix: Rc<str>,
}

struct Expander<'c, 'a> {
    context: &'c mut Context<'a>,
    templates: &'c BTreeMap<String, Template>,
    placed: [Vec<Piece>; PLACED.len()],
    nodes_left: usize,
    /// Templates being used, outermost first.
    open: Vec<String>,
}

impl Expander<'_, '_> {
    fn substitute_placed(&mut self, scope: &Scope<'_>) {
        let mut placed = std::mem::take(&mut self.placed);
        for piece in placed.iter_mut().flatten() {
            self.substitute(&mut piece.table, scope);
        }
        self.placed = placed;
    }

    /// Replaces every `${name}` in the texts of a tree.
    fn substitute(&mut self, tree: &mut Tree, scope: &Scope<'_>) {
        match &mut tree.data {
            Data::Table(entries) => entries.iter_mut().for_each(|(_, t)| self.substitute(t, scope)),
            Data::Array(items) => items.iter_mut().for_each(|t| self.substitute(t, scope)),
            Data::Str(text) | Data::Loose(text) if text.contains("${") => {
                match self.fill(text, tree.span, scope) {
                    Ok(filled) => *tree = filled,
                    Err(d) => {
                        self.context.report(d.at(Some(tree.span)));
                        tree.data = Data::Failed;
                    }
                }
            }
            _ => {}
        }
    }

    fn fill(&mut self, text: &str, span: Span, scope: &Scope<'_>) -> Result<Tree, Diagnostic> {
        let look = |name: &str| {
            scope.find(name).ok_or_else(|| {
                Diagnostic::error("unknown-param", format!("there is no parameter `{}`", shortened(name)))
                    .suggest(name, scope.names())
            })
        };
        if let Some(name) = text.strip_prefix("${").and_then(|t| t.strip_suffix('}'))
            && !name.contains('}')
        {
            let value = look(name)?;
            self.spend(value.size())?;
            let data =
                if let Data::Array(_) = value.data { value.data.clone() } else { Data::Loose(plain(value)) };
            return Ok(Tree { span: value.span, data });
        }
        let (mut out, mut rest) = (String::new(), text);
        while let Some(at) = rest.find("${") {
            // `$${` is how to write `${` itself.
            if let Some(before) = rest[..at].strip_suffix('$') {
                out.push_str(before);
                out.push_str("${");
                rest = &rest[at + 2..];
                continue;
            }
            out.push_str(&rest[..at]);
            let Some(end) = rest[at..].find('}') else {
                return Err(Diagnostic::error("bad-param", "`${` without `}`"));
            };
            let value = look(&rest[at + 2..at + end])?;
            if let Data::Array(_) = value.data {
                let what = format!("a list cannot stand inside a text: `{}`", shortened(text));
                return Err(Diagnostic::error("bad-param", what));
            }
            let value = plain(value);
            self.spend(1 + value.len() / 16)?;
            out.push_str(&value);
            rest = &rest[at + end + 1..];
        }
        out.push_str(rest);
        Ok(Tree { span, data: Data::Loose(out) })
    }

    fn spend(&mut self, nodes: usize) -> Result<(), Diagnostic> {
        let limit = self.context.limits.nodes;
        if nodes > self.nodes_left {
            self.nodes_left = 0;
            return Err(Diagnostic::error(
                "too-big",
                format!("templates and parameters may make at most `{limit}` values"),
            ));
        }
        self.nodes_left -= nodes;
        Ok(())
    }

    /// Puts the things of templates in place.
    fn uses(&mut self, uses: Vec<Tree>, scope: &Scope<'_>, frame: &Frame) {
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        for (k, mut table) in uses.into_iter().enumerate() {
            self.substitute(&mut table, scope);
            let Some((template, inner, given)) = self.read_use(&table, k + 1, frame) else { continue };
            if let Some(first) = names.insert(inner.prefix.to_string(), table.span) {
                let d = duplicate(self.context, inner.prefix.trim_end_matches('.'), name_span(&table), first);
                self.context.report(d);
                continue;
            }
            self.instantiate(template, &given, scope, &inner, table.span);
            if self.nodes_left == 0 || self.context.is_full() {
                return;
            }
        }
    }

    /// What a `[[use]]` says: which template, where and under which name, and its parameters.
    fn read_use(
        &mut self,
        table: &Tree,
        number: usize,
        outer: &Frame,
    ) -> Option<(String, Frame, BTreeMap<String, Tree>)> {
        let Some(template_tree) = table.get("template") else {
            let d = Diagnostic::error("missing-key", "`use` needs the key `template`").at(Some(table.span));
            self.context.report(d.suggest("", self.templates.keys().map(String::as_str)));
            return None;
        };
        let Some(name) = template_tree.text() else {
            self.context.report(convert::wrong_type("template", template_tree, "name of a template"));
            return None;
        };
        let Some(template) = self.templates.get(name) else {
            let what = format!("there is no template `{}`", shortened(name));
            let d = Diagnostic::error("unknown-template", what).at(Some(template_tree.span));
            self.context.report(d.suggest(name, self.templates.keys().map(String::as_str).take(1000)));
            return None;
        };
        template.used.set(true);
        let mut given = BTreeMap::new();
        let mut pose = outer.pose;
        let mut own_name = format!("{name}{number}");
        for (key, value) in table.table().unwrap_or_default() {
            match key.text.as_str() {
                "template" => {}
                "name" => match value.text() {
                    Some(text) if is_name(text) => own_name = text.to_owned(),
                    Some(text) => self.context.report(bad_name(text, value.span)),
                    None => self.context.report(convert::wrong_type("name", value, "text")),
                },
                "at" => match convert("at", value, &ParamType::Pose) {
                    Ok(Value::Pose(at)) => pose = Some(pose.map_or(at, |outer| outer.then(at))),
                    Ok(_) => {}
                    Err(d) => self.context.report(d),
                },
                other if template.params.contains_key(other) => {
                    given.insert(other.to_owned(), value.clone());
                }
                other => {
                    let valid = ["template", "name", "at"]
                        .into_iter()
                        .chain(template.params.keys().map(String::as_str));
                    let what = format!("the template `{name}` has no parameter `{}`", shortened(other));
                    let d = Diagnostic::error("unknown-key", what).at(Some(key.span));
                    self.context.report(d.suggest(other, valid));
                }
            }
        }
        let prefix = Rc::from(format!("{}{own_name}.", outer.prefix));
        Some((name.to_owned(), Frame { pose, prefix }, given))
    }

    fn instantiate(
        &mut self,
        name: String,
        given: &BTreeMap<String, Tree>,
        outer: &Scope<'_>,
        frame: &Frame,
        span: Span,
    ) {
        if self.open.contains(&name) || self.open.len() >= MAX_DEPTH {
            let what =
                format!("templates use each other in a circle, or deeper than `{MAX_DEPTH}`: `{name}`");
            return self.context.report(Diagnostic::error("template-loop", what).at(Some(span)));
        }
        let templates = self.templates;
        let Some(template) = templates.get(&name) else { return };
        // A template sees its own parameters and the scenario's, never those of a template around it.
        let scope = Scope { own: &template.params, given: Some(given), outer: Some(outer.global()) };
        self.open.push(name);
        for (key, tree) in &template.body {
            if let Err(d) = self.spend(tree.size()) {
                self.context.report(d.at(Some(span)));
                break;
            }
            let tables = list_of_tables(self.context, key, tree.clone());
            let Some(section) = PLACED.iter().position(|p| *p == key.text) else {
                self.uses(tables, &scope, frame);
                continue;
            };
            for (n, mut table) in tables.into_iter().enumerate() {
                self.substitute(&mut table, &scope);
                let prefix = Rc::clone(&frame.prefix);
                self.placed[section].push(Piece { table, frame: frame.pose, prefix, number: n + 1 });
            }
        }
        self.open.pop();
    }
}

fn name_span(table: &Tree) -> Span {
    table.get("name").map_or(table.span, |t| t.span)
}

/// A value as it would be written inside a text.
fn plain(value: &Tree) -> String {
    match &value.data {
        Data::Str(s) | Data::Loose(s) | Data::Lab(s) => s.clone(),
        Data::Int(i) => i.to_string(),
        Data::Float(x) => x.to_string(),
        Data::Bool(b) => b.to_string(),
        Data::Table(_) | Data::Array(_) | Data::Datetime | Data::Failed => String::new(),
    }
}
