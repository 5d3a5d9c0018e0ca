//! Nodes and the tree they form.

use crate::Params;
use std::sync::Arc;
use swarmyard_base::{Pose2, Sources, Span};

/// One named thing of the scene.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Name, unique among its siblings.
    pub name: String,
    /// Name of its class; empty for a plain group such as `/robots`.
    pub class: Arc<str>,
    /// For what stands inside a type, the section it stands in, such as `controller`: classes of different kinds
    /// may share a name, and the section says which is meant. Empty when nobody said.
    pub section: &'static str,
    /// Its own parameters.
    pub params: Params,
    /// Where it stands, for classes that stand somewhere.
    pub pose: Pose2,
    /// Its own children.
    pub children: Vec<Node>,
    /// The node whose class-specific children and parameters it shares: a robot's type. A million
    /// robots of one type hold one subtree.
    pub proto: Option<Arc<Node>>,
    /// Where it was written.
    pub span: Option<Span>,
}

impl Node {
    /// A node without parameters.
    #[must_use]
    pub fn new(name: impl Into<String>, class: &str) -> Node {
        Node {
            name: name.into(),
            class: Arc::from(class),
            section: "",
            params: Params::default(),
            pose: Pose2::default(),
            children: Vec::new(),
            proto: None,
            span: None,
        }
    }

    /// Adds parameters.
    #[must_use]
    pub fn with(mut self, params: Params) -> Node {
        self.params = params;
        self
    }

    /// The child of that name: its own, or else its prototype's.
    #[must_use]
    pub fn child(&self, name: &str) -> Option<&Node> {
        self.children
            .iter()
            .find(|c| c.name == name)
            .or_else(|| self.proto.as_deref().and_then(|p| p.child(name)))
    }

    /// The node at a relative path such as `r1/drive`; the empty path is the node itself.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Node> {
        path.split('/').filter(|p| !p.is_empty()).try_fold(self, |node, name| node.child(name))
    }
}

/// A whole scenario as a tree, with the texts it came from.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// The root; its children are `run`, `world`, `types`, `robots` and so on.
    pub root: Node,
    /// The texts the spans point into.
    pub sources: Sources,
}

impl Scene {
    /// The node at an absolute path such as `/robots/r1/drive`.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<&Node> {
        self.root.find(path)
    }

    /// The children of the group at `path`; none when the group is absent.
    #[must_use]
    pub fn group(&self, path: &str) -> &[Node] {
        self.find(path).map_or(&[], |n| &n.children)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_robot_shares_the_parts_of_its_type() {
        let mut scout = Node::new("scout", "type");
        scout.children.push(Node::new("drive", "diff-drive"));
        let scout = Arc::new(scout);
        let mut robots = Node::new("robots", "");
        for k in 0..3 {
            let mut r = Node::new(format!("r{k}"), "robot");
            r.proto = Some(Arc::clone(&scout));
            robots.children.push(r);
        }
        let mut root = Node::new("", "");
        root.children.push(robots);
        let scene = Scene { root, sources: Sources::default() };
        let a = scene.find("/robots/r0/drive").unwrap();
        let b = scene.find("/robots/r2/drive").unwrap();
        assert!(std::ptr::eq(a, b));
        assert!(scene.find("/robots/r9").is_none() && scene.find("/robots/r0/arm").is_none());
        assert_eq!(scene.group("/robots").len(), 3);
    }
}
