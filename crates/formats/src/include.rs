//! Many texts to one tree: `include = ["walls.toml"]`.
//!
//! Lists of an included file are appended, named sections are put together, and a name that stands in
//! two files is an error. What describes a file itself (`format`, `title`, `about`) stays with it.

use crate::tree::{Data, Key, Tree, parse, shortened};
use crate::{Context, FORMAT, convert, neko};
use std::collections::BTreeMap;
use swarmyard_base::{Diagnostic, Span};

const MAX_FILES: usize = 64;
const MAX_DEPTH: usize = 8;

/// Reads the scenario and all it includes into one tree.
///
/// Answers `None` when going on would only report what follows from the first mistake.
pub(crate) fn gather(context: &mut Context<'_>, name: &str, text: &str) -> Option<Tree> {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
    let mut gatherer = Gatherer { context, open: vec![base.clone()], seen: vec![base] };
    let mut root = gatherer.text(name, text, None)?;
    if !check_format(gatherer.context, &root, true) {
        return None;
    }
    gatherer.includes(&mut root);
    Some(root)
}

struct Gatherer<'c, 'a> {
    context: &'c mut Context<'a>,
    /// Files being read, outermost first.
    open: Vec<String>,
    /// Files that were read.
    seen: Vec<String>,
}

impl Gatherer<'_, '_> {
    /// One text to one tree.
    fn text(&mut self, name: &str, text: &str, asked: Option<Span>) -> Option<Tree> {
        let source = self.context.add_text(name, text, asked)?;
        if neko::is_config(name) {
            let (tree, problems) = neko::config::tree(text, source);
            problems.0.into_iter().for_each(|d| self.context.report(d));
            return tree;
        }
        parse(text, source).map_err(|d| self.context.report(d)).ok()
    }

    /// Merges everything that `tree` includes into it.
    fn includes(&mut self, tree: &mut Tree) {
        let Data::Table(entries) = &mut tree.data else { return };
        let Some(at) = entries.iter().position(|(k, _)| k.text == "include") else { return };
        let (_, list) = entries.remove(at);
        let Data::Array(names) = &list.data else {
            return self.context.report(convert::wrong_type("include", &list, "list of file names"));
        };
        for item in names {
            let Some(name) = item.text() else {
                self.context.report(convert::wrong_type("include", item, "list of file names"));
                continue;
            };
            if let Some(included) = self.include(name, item.span) {
                merge(self.context, tree, included);
            }
        }
    }

    fn include(&mut self, name: &str, span: Span) -> Option<Tree> {
        let problem = |code, what: String| Diagnostic::error(code, what).at(Some(span));
        let shown = shortened(name);
        let folder = self.open.last().and_then(|f| f.rsplit_once('/')).map_or("", |f| f.0);
        let Some(full) = join(folder, name) else {
            let what = format!("an included file must be in the scenario's folder: `{shown}`");
            self.context.report(
                problem("bad-include", what).help("write a relative name such as `parts/walls.toml`"),
            );
            return None;
        };
        if self.open.contains(&full) {
            let chain = self.open.join("` → `");
            self.context
                .report(problem("include-loop", format!("`{shown}` includes itself: `{chain}` → `{full}`")));
            return None;
        }
        if self.seen.contains(&full) {
            return None;
        }
        if self.seen.len() > MAX_FILES || self.open.len() > MAX_DEPTH {
            let what = format!("at most `{MAX_FILES}` files may be included, `{MAX_DEPTH}` deep: `{shown}`");
            self.context.report(problem("too-many-includes", what));
            return None;
        }
        self.seen.push(full.clone());
        let text = match self.context.loader.load(&full) {
            Ok(text) => text,
            Err(why) => {
                self.context.report(problem("bad-include", format!("cannot include `{shown}`: {why}")));
                return None;
            }
        };
        let mut tree = self.text(&full, &text, Some(span))?;
        if !check_format(self.context, &tree, false) {
            return None;
        }
        self.open.push(full);
        self.includes(&mut tree);
        self.open.pop();
        Some(tree)
    }
}

/// The name of a file next to others in `folder`; `None` when it leaves the scenario's folder.
pub(crate) fn join(folder: &str, name: &str) -> Option<String> {
    if name.is_empty() || name.starts_with('/') || name.contains(['\\', ':', '\0']) {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|p| !p.is_empty()).collect();
    for part in name.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    if parts.is_empty() { None } else { Some(parts.join("/")) }
}

/// Whether this program can read the file at all; says so when it cannot.
fn check_format(context: &mut Context<'_>, root: &Tree, required: bool) -> bool {
    let Some((_, value)) = root.entry("format") else {
        if required {
            let what = "the file does not say which format it has";
            context.report(
                Diagnostic::error("missing-format", what)
                    .at(Some(root.span))
                    .help(format!("begin with `format = {FORMAT}`")),
            );
        }
        return true;
    };
    match value.data {
        Data::Int(n) if n > FORMAT => {
            let what = format!("the file was made by a newer version of the program: format `{n}`");
            let help = format!("this program reads format {FORMAT}; use a newer one");
            context.report(Diagnostic::error("newer-format", what).at(Some(value.span)).help(help));
            return false;
        }
        Data::Int(n) if n < 1 => {
            let what = format!("`format` is out of range: `{n}`");
            context.report(
                Diagnostic::error("out-of-range", what).at(Some(value.span)).help("write `format = 1`"),
            );
        }
        Data::Int(_) => {}
        _ => context.report(convert::wrong_type("format", value, "whole number")),
    }
    true
}

/// Adds the sections of an included file.
fn merge(context: &mut Context<'_>, into: &mut Tree, from: Tree) {
    let (Data::Table(into), Data::Table(from)) = (&mut into.data, from.data) else { return };
    let places: BTreeMap<String, usize> =
        into.iter().enumerate().map(|(k, e)| (e.0.text.clone(), k)).collect();
    for (key, tree) in from {
        if matches!(key.text.as_str(), "format" | "title" | "about") {
            continue;
        }
        let Some(&at) = places.get(&key.text) else {
            into.push((key, tree));
            continue;
        };
        let first = &mut into[at];
        match (&mut first.1.data, tree.data) {
            (Data::Array(a), Data::Array(b)) => a.extend(b),
            (Data::Table(a), Data::Table(b)) => merge_names(context, a, b, key.text != "x"),
            (_, data) => {
                let other = Tree { span: tree.span, data };
                let place = context.place(first.0.span);
                let d = convert::wrong_type(&key.text, &other, &format!("what it is at {place}"));
                context.report(d);
            }
        }
    }
}

fn merge_names(context: &mut Context<'_>, into: &mut Vec<(Key, Tree)>, from: Vec<(Key, Tree)>, once: bool) {
    let first: BTreeMap<String, Span> = into.iter().map(|(k, _)| (k.text.clone(), k.span)).collect();
    for (key, tree) in from {
        match first.get(&key.text) {
            Some(&span) if once => context.report(duplicate(context, &key.text, key.span, span)),
            Some(_) => {}
            None => into.push((key, tree)),
        }
    }
}

/// The diagnostic for a second thing of one name.
pub(crate) fn duplicate(context: &Context<'_>, name: &str, span: Span, first: Span) -> Diagnostic {
    Diagnostic::error("duplicate-name", format!("the name is taken: `{}`", shortened(name)))
        .at(Some(span))
        .help(format!("first used at {}", context.place(first)))
}
