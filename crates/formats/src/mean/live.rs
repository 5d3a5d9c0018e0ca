//! The sections for robots that live by events: the network, faults, and zones of the ground.

use super::Meaning;
use crate::convert;
use crate::tree::Tree;
use swarmyard_base::Diagnostic;
use swarmyard_part_api::Kind;
use swarmyard_scene::{Node, Params, Value};

/// `[network]`, when there is one.
pub(super) fn network(meaning: &mut Meaning<'_, '_>, tree: Option<Tree>) -> Option<Node> {
    let tree = tree?;
    if tree.table().is_none() {
        meaning.context.report(convert::wrong_type("network", &tree, "table, written as `[network]`"));
        return None;
    }
    let sheet = meaning.class_of(&tree, "network", &[Kind::Network], "/network")?;
    let params = meaning.read(sheet, &tree, "/network", &["class"]);
    let mut node = Node::new("network", sheet.class).with(params);
    node.span = Some(tree.span);
    Some(node)
}

/// What a fault may do; exactly one of these is given.
const DEEDS: [&str; 6] = ["crash", "recover", "partition", "heal", "loss", "delay"];

/// What faults do to a network.
const OF_NETWORK: [&str; 4] = ["partition", "heal", "loss", "delay"];

/// `[[fault]]`, in the order of the file. `talk` says whether there is a network.
pub(super) fn faults(meaning: &mut Meaning<'_, '_>, tables: Vec<Tree>, robots: &Node, talk: bool) -> Node {
    let mut group = Node::new("faults", "");
    let Some(sheet) = meaning.sheet("fault") else { return group };
    for (k, table) in tables.into_iter().enumerate() {
        let name = format!("fault{}", k + 1);
        let path = format!("/faults/{name}");
        let params = meaning.read(sheet, &table, &path, &[]);
        let given: Vec<&str> = DEEDS.into_iter().filter(|d| table.get(d).is_some()).collect();
        if given.len() != 1 {
            let what = format!("a fault does one thing, and this one does `{}`", given.len());
            let d = Diagnostic::error("wrong-fault", what).at(Some(table.span)).on(path.as_str());
            meaning.context.report(d.suggest("", DEEDS));
        }
        for key in ["crash", "recover", "partition"] {
            known_robots(meaning, &params, key, robots, &path);
        }
        one_side_each(meaning, &params, &path);
        if params.bool_or_none("heal") == Some(false) {
            let what = "`heal` is `false`, and a fault that does nothing is none";
            let d = Diagnostic::error("wrong-fault", what).at(params.span("heal")).on(path.as_str());
            meaning.context.report(d.help("write `heal = true`, or leave this fault out"));
        }
        if let Some(key) = given.iter().find(|key| !talk && OF_NETWORK.contains(key)) {
            let what = format!("`{key}` is a fault of the network, and there is none");
            let d = Diagnostic::error("no-network", what).at(params.span(key)).on(path.as_str());
            meaning.context.report(d.help("add a section such as `[network]` with `class = \"constant\"`"));
        }
        let mut node = Node::new(name, "fault").with(params);
        node.span = Some(table.span);
        group.children.push(node);
    }
    group
}

/// Every robot that a fault names must be there. A partition is a list of texts, each with the names of one
/// side.
fn known_robots(meaning: &mut Meaning<'_, '_>, params: &Params, key: &str, robots: &Node, path: &str) {
    let Some(Value::Texts(texts)) = params.value(key) else { return };
    if texts.iter().all(|t| t.trim().is_empty()) {
        let what = format!("`{key}` names no robot, and a fault that does nothing is none");
        let d = Diagnostic::error("wrong-fault", what).at(params.span(key)).on(path);
        meaning.context.report(
            d.help(format!("write `{key} = [\"r1\"]` with the names of robots, or leave this fault out")),
        );
    }
    let names = texts.iter().flat_map(|t| t.split_whitespace());
    let known = |name: &str| robots.children.iter().any(|r| r.name == name);
    for name in names.filter(|n| !known(n)) {
        let what = format!("there is no robot `{name}`");
        let d = Diagnostic::error("unknown-robot", what).at(params.span(key)).on(path);
        meaning.context.report(d.suggest(name, robots.children.iter().map(|r| r.name.as_str())));
    }
}

/// Nobody is on two sides of a partition.
fn one_side_each(meaning: &mut Meaning<'_, '_>, params: &Params, path: &str) {
    let Some(Value::Texts(sides)) = params.value("partition") else { return };
    let named: Vec<&str> = sides.iter().flat_map(|t| t.split_whitespace()).collect();
    let mut told: Vec<&str> = Vec::new();
    for (k, name) in named.iter().enumerate() {
        if named[..k].contains(name) && !told.contains(name) {
            told.push(name);
            let what = format!("`{name}` is named more than once in this partition");
            let d = Diagnostic::error("wrong-fault", what).at(params.span("partition")).on(path);
            meaning
                .context
                .report(d.help("name each robot on one side; those that are not named are one more side"));
        }
    }
}

/// `[[zone]]`: ground that slows robots down or swallows them.
pub(super) fn zones(meaning: &mut Meaning<'_, '_>, tables: Vec<Tree>) -> Node {
    meaning.listed("zone", "/world/zones", tables, |meaning, table, params, path| {
        if meaning.distinct_points(table, "points", params, true, path) {
            meaning.area(params, path, "name corners that are not on one line");
        }
        if params.text_or_none("kind") == Some("swallow")
            && let Some((key, _)) = table.entry("factor")
        {
            meaning.unused(path, key, "`factor` says how much slower, and this zone swallows");
        }
    })
}
