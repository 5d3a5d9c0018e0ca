//! Composites: protocols that are put together once, under a name, and used by many types.
//!
//! `[[stack.NAME.protocol]]` lists its protocols; `[[type.T.protocol]]` with `name = "ab"` and
//! `stack = "NAME"` is one use of it. The last protocol of the stack is called `ab` there, the others
//! `ab-` and their name in the stack.

use super::Meaning;
use crate::convert;
use crate::expand::{bad_name, list_of_tables};
use crate::include::duplicate;
use crate::tree::{Data, Key, Tree, shortened};
use std::collections::BTreeMap;
use swarmyard_base::path::is_name;
use swarmyard_base::{Diagnostic, Span};
use swarmyard_part_api::{Kind, ParamType};
use swarmyard_scene::{Node, Value};

/// A composite as it was written.
pub(super) struct Stack {
    protocols: Vec<Node>,
    key: Span,
    used: bool,
}

/// All composites of a scenario.
pub(super) fn read(meaning: &mut Meaning<'_, '_>, tables: Vec<(Key, Tree)>) -> BTreeMap<String, Stack> {
    let mut stacks = BTreeMap::new();
    for (name, table) in tables {
        let path = format!("/stacks/{}", name.text);
        for (key, _) in table.table().unwrap_or_default() {
            if key.text != "protocol" {
                let what = format!("a stack has no key `{}`", shortened(&key.text));
                let d = Diagnostic::error("unknown-key", what).at(Some(key.span)).on(path.as_str());
                meaning.context.report(d.suggest(&key.text, ["protocol"]));
            }
        }
        let tables = match table.entry("protocol") {
            Some((key, list)) if !is_empty(list) => list_of_tables(meaning.context, key, list.clone()),
            _ => {
                let what = format!("the stack `{}` has no protocols", shortened(&name.text));
                let d = Diagnostic::error("missing-key", what).at(Some(name.span)).on(path.as_str());
                meaning.context.report(d.help("list them as `[[stack.NAME.protocol]]`"));
                Vec::new()
            }
        };
        let mut protocols: Vec<Node> = Vec::new();
        let mut names: BTreeMap<String, Span> = BTreeMap::new();
        for table in tables {
            let name = meaning.part_name(&table, "protocol", &path);
            let child = format!("{path}/{name}");
            let place = table.get("name").map_or(table.span, |t| t.span);
            let twice = names.insert(name.clone(), place);
            if let Some(first) = twice {
                let d = duplicate(meaning.context, &name, place, first).on(child.as_str());
                meaning.context.report(d);
            }
            let Some(sheet) = meaning.class_of(&table, "protocol", &[Kind::Protocol], &child) else {
                continue;
            };
            let params = meaning.read(sheet, &table, &child, &["name", "class"]);
            let mut node = Node::new(name, sheet.class).with(params);
            (node.section, node.span) = ("protocol", Some(table.span));
            // A second one of a name was reported; every use would repeat it.
            if twice.is_none() {
                protocols.push(node);
            }
        }
        stacks.insert(name.text, Stack { protocols, key: name.span, used: false });
    }
    stacks
}

fn is_empty(list: &Tree) -> bool {
    matches!(&list.data, Data::Array(items) if items.is_empty())
}

/// The protocols of one use of a composite.
pub(super) fn instance(meaning: &mut Meaning<'_, '_>, table: &Tree, name: &str, path: &str) -> Vec<Node> {
    for (key, _) in table.table().unwrap_or_default() {
        if !["name", "stack"].contains(&key.text.as_str()) {
            meaning.unused(path, key, "a use of a stack has `name` and `stack` only");
        }
    }
    let Some(value) = table.get("stack") else { return Vec::new() };
    let Some(wanted) = value.text() else {
        meaning.context.report(convert::wrong_type("stack", value, "name of a stack").on(path));
        return Vec::new();
    };
    let known: Vec<String> = meaning.stacks.keys().cloned().collect();
    let Some(stack) = meaning.stacks.get_mut(wanted) else {
        let what = format!("there is no stack `{}`", shortened(wanted));
        let d = Diagnostic::error("unknown-stack", what).at(Some(value.span)).on(path);
        meaning.context.report(d.suggest(wanted, known.iter().map(String::as_str)));
        return Vec::new();
    };
    stack.used = true;
    let mut nodes = stack.protocols.clone();
    let last = nodes.last().map(|n| n.name.clone()).unwrap_or_default();
    let own: Vec<String> = nodes.iter().map(|n| n.name.clone()).collect();
    let renamed = |inner: &str| if inner == last { name.to_owned() } else { format!("{name}-{inner}") };
    for node in &mut nodes {
        let sheet = meaning.context.registry.sheet(&node.class);
        let ports = sheet.map(|s| s.params.iter().filter(|p| p.ty == ParamType::Name("protocol")));
        for port in ports.into_iter().flatten() {
            let inner = node.params.text_or_none(port.name).filter(|to| own.iter().any(|o| o == to));
            if let Some(inner) = inner.map(renamed) {
                let span = node.params.span(port.name);
                node.params.set(port.name, Value::Text(inner), span);
            }
        }
        let whole = renamed(&node.name);
        // Both may be names, and together too long.
        if is_name(name) && is_name(&node.name) && !is_name(&whole) {
            meaning.context.report(bad_name(&whole, value.span).on(path));
        }
        node.name = whole;
    }
    nodes
}

/// A stack that nobody uses is a mistake more often than not.
pub(super) fn report_unused(meaning: &mut Meaning<'_, '_>) {
    for (name, stack) in meaning.stacks.iter().filter(|(_, s)| !s.used && s.key.source.0 == 0) {
        let what = format!("no robot uses the stack `{name}`");
        meaning.context.report(Diagnostic::warning("unused-stack", what).at(Some(stack.key)));
    }
}
