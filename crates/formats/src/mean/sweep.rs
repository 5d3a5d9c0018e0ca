//! The section `[sweep]`: its axes and measures against their sheets, then all of it together.

use super::Meaning;
use crate::convert;
use crate::expand::list_of_tables;
use crate::tree::Tree;
use swarmyard_scene::sweep::Sweep;
use swarmyard_scene::{Node, Params};

/// The lists in `[sweep]`, each of a class of that name.
const LISTS: [&str; 2] = ["axis", "measure"];

impl Meaning<'_, '_> {
    /// The node `/sweep`, with its axes and then its measures as children.
    pub(super) fn sweep(&mut self, tree: &Tree) -> Node {
        let mut node = Node::new("sweep", "sweep");
        node.span = Some(tree.span);
        let Some(sheet) = self.sheet("sweep") else { return node };
        if tree.table().is_none() {
            self.context.report(convert::wrong_type("sweep", tree, "table, written as `[sweep]`"));
            return node;
        }
        node.params = self.read(sheet, tree, "/sweep", &LISTS);
        let mut good = tree
            .table()
            .unwrap_or_default()
            .iter()
            .all(|(k, _)| LISTS.contains(&k.text.as_str()) || node.params.span(&k.text).is_some());
        for class in LISTS {
            let (Some((key, list)), Some(sheet)) = (tree.entry(class), self.sheet(class)) else { continue };
            for (k, table) in list_of_tables(self.context, key, list.clone()).iter().enumerate() {
                let path = format!("/sweep/{class}{}", k + 1);
                let params = self.read(sheet, table, &path, &[]);
                for condition in ["of", "when"] {
                    self.condition(table, condition, &path);
                }
                good &= is_whole(table, &params);
                let mut child = Node::new(format!("{class}{}", k + 1), class).with(params);
                child.span = Some(table.span);
                node.children.push(child);
            }
        }
        // Whether the parts go together can be said only when each of them was understood.
        if good && let Err(problems) = Sweep::read(&node) {
            problems.into_iter().for_each(|d| self.context.report(d.on("/sweep")));
        }
        node
    }
}

/// Whether every key of the table was understood.
fn is_whole(table: &Tree, params: &Params) -> bool {
    table.table().unwrap_or_default().iter().all(|(k, _)| params.has(&k.text))
        && (params.has("key") || (params.has("name") && params.has("of")))
}
