//! Values from the command line: `--set type.scout.part.drive.max_speed=2m/s`.
//!
//! Each pair becomes a little source text of its own, so a mistake in its value is shown like any
//! other. A key may be new in its table (the sheet will say whether it is one); a table may not,
//! except `[run]`, `[world]` and `[record]`, which every scenario has.

use crate::Context;
use crate::tree::{Data, Key, Tree, parse, shortened};
use swarmyard_base::{Diagnostic, SourceId, Span};

/// Sections that every scenario has, written or not.
pub(crate) const IMPLIED: [&str; 3] = ["run", "world", "record"];

/// Puts the overrides into the tree.
pub(crate) fn apply(context: &mut Context<'_>, mut tree: Tree, overrides: &[(String, String)]) -> Tree {
    context.first_override = u32::try_from(context.sources.0.len()).unwrap_or(u32::MAX);
    for (path, value) in overrides {
        let source = context.sources.add(crate::OVERRIDE_SOURCE, format!("{path}={value}"));
        if let Err(d) = apply_one(&mut tree, source, path, value) {
            context.report(d);
        }
    }
    tree
}

fn apply_one(root: &mut Tree, source: SourceId, path: &str, value: &str) -> Result<(), Diagnostic> {
    let whole = Span { source, start: 0, end: offset(path.len()) };
    let value_span =
        Span { source, start: offset(path.len() + 1), end: offset(path.len() + 1 + value.len()) };
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", path));
    if last.is_empty() {
        return Err(
            Diagnostic::error("bad-override", format!("not a key: `{}`", shortened(path))).at(Some(whole))
        );
    }
    let mut at = root;
    for (depth, name) in parents.split('.').filter(|p| !p.is_empty()).enumerate() {
        if depth == 0 && IMPLIED.contains(&name) && at.get(name).is_none() {
            let Data::Table(entries) = &mut at.data else { break };
            let key = Key { text: name.to_owned(), span: whole };
            entries.push((key, Tree { span: whole, data: Data::Table(Vec::new()) }));
        }
        at = step(at, name).map_err(|d| d.at(Some(whole)))?;
    }
    let value = read_value(value, value_span);
    if let Data::Array(_) = at.data {
        *step(at, last).map_err(|d| d.at(Some(whole)))? = value;
        return Ok(());
    }
    let Data::Table(entries) = &mut at.data else {
        return Err(
            Diagnostic::error("bad-override", format!("`{last}` is inside a plain value")).at(Some(whole))
        );
    };
    match entries.iter_mut().find(|(k, _)| k.text == last) {
        Some(entry) => entry.1 = value,
        // A new parameter would be one that nothing uses.
        None if parents == "params" => {
            let names: Vec<&str> = entries.iter().map(|(k, _)| k.text.as_str()).take(1000).collect();
            return Err(no_such(last, &names).at(Some(whole)));
        }
        None => entries.push((Key { text: last.to_owned(), span: whole }, value)),
    }
    Ok(())
}

/// One step into the tree: a key of a table, or the name or number of a list's element.
pub(crate) fn find<'t>(tree: &'t Tree, name: &str) -> Result<&'t Tree, Diagnostic> {
    let at = position(tree, name)?;
    match &tree.data {
        Data::Table(entries) => Ok(&entries[at].1),
        Data::Array(items) => Ok(&items[at]),
        _ => Err(no_such(name, &[])),
    }
}

fn step<'t>(tree: &'t mut Tree, name: &str) -> Result<&'t mut Tree, Diagnostic> {
    let at = position(tree, name)?;
    match &mut tree.data {
        Data::Table(entries) => Ok(&mut entries[at].1),
        Data::Array(items) => Ok(&mut items[at]),
        _ => Err(no_such(name, &[])),
    }
}

fn position(tree: &Tree, name: &str) -> Result<usize, Diagnostic> {
    let names: Vec<&str> = match &tree.data {
        Data::Table(entries) => entries.iter().map(|(k, _)| k.text.as_str()).collect(),
        Data::Array(items) => items.iter().map(name_of).collect(),
        _ => Vec::new(),
    };
    let is_list = matches!(tree.data, Data::Array(_));
    let by_number = || name.parse::<usize>().ok().filter(|&k| is_list && k < names.len());
    names.iter().position(|n| *n == name).or_else(by_number).ok_or_else(|| {
        let valid: Vec<&str> = names.iter().copied().filter(|n| !n.is_empty()).take(1000).collect();
        no_such(name, &valid)
    })
}

fn name_of(tree: &Tree) -> &str {
    tree.get("name").and_then(Tree::text).unwrap_or("")
}

fn no_such(name: &str, valid: &[&str]) -> Diagnostic {
    Diagnostic::error("bad-override", format!("there is nothing called `{}` here", shortened(name)))
        .suggest(name, valid.iter().copied())
}

/// A value as typed: a TOML list, table or quoted text; anything else is read as what is wanted.
fn read_value(value: &str, span: Span) -> Tree {
    let whole = format!("v={value}");
    let parsed = parse(&whole, span.source).ok().and_then(|t| match t.data {
        Data::Table(mut entries) if entries.len() == 1 => entries.pop().map(|e| e.1),
        _ => None,
    });
    let data = match parsed.map(|t| t.data) {
        Some(data @ (Data::Array(_) | Data::Table(_))) => data,
        Some(Data::Str(s)) => Data::Str(s),
        _ => Data::Loose(value.to_owned()),
    };
    let mut tree = Tree { span, data };
    place_all(&mut tree, span);
    tree
}

/// Gives every value inside an override the place of the whole.
fn place_all(tree: &mut Tree, span: Span) {
    tree.span = span;
    match &mut tree.data {
        Data::Array(items) => items.iter_mut().for_each(|t| place_all(t, span)),
        Data::Table(entries) => entries.iter_mut().for_each(|(k, t)| {
            k.span = span;
            place_all(t, span);
        }),
        _ => {}
    }
}

/// A place in a text, as spans count.
pub(crate) fn offset(bytes: usize) -> u32 {
    u32::try_from(bytes).unwrap_or(u32::MAX)
}
