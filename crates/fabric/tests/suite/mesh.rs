//! The suite over Zenoh on the loopback interface.

use crate::{AGES, Town};
use std::sync::Arc;
use swarmyard_fabric::Fabric;
use swarmyard_fabric::mesh::{Mesh, Options};

/// Members that each connect to all before them.
#[derive(Default)]
pub(crate) struct Loopback {
    endpoints: Vec<String>,
}

impl Town for Loopback {
    fn member(&mut self, _: &str) -> Arc<dyn Fabric> {
        // Nobody here hangs: on a busy machine nobody is to be taken for one that does.
        let connect = self.endpoints.clone();
        let options = Options { connect, lease: AGES, reach: AGES, ..Options::default() };
        let mesh = Mesh::open(&options).expect("a member");
        self.endpoints.extend_from_slice(mesh.endpoints());
        Arc::new(mesh)
    }
}

suite_in!(Loopback);
