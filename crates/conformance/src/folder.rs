//! The folder of the worlds, with what their programs were made of made once for all tests of a suite.

use crate::{read, root};
use std::sync::{Arc, OnceLock};
use swarmyard::agents::Workshop;
use swarmyard_formats::Loader;

/// Includes of worlds come from the folder of the worlds.
pub struct Folder;

impl Loader for Folder {
    fn load(&self, name: &str) -> Result<String, String> {
        Ok(read(&root().join("worlds").join(name)))
    }
}

/// Where the programs of worlds are made, each once.
pub fn workshop() -> &'static Arc<Workshop> {
    static WORKSHOP: OnceLock<Arc<Workshop>> = OnceLock::new();
    WORKSHOP.get_or_init(|| Arc::new(Workshop::in_folder(&root().join("worlds"))))
}
