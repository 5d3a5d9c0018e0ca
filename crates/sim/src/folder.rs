//! The texts of scenarios, from files: bounded, and nothing from outside of the project.
//!
//! Whoever reads a scenario of somebody else reads it through here: a name in it may stand for a pipe that nobody writes to, for
//! more bytes than there is memory, or for a link to somewhere else.

use std::fs::File;
use std::io::{Error, ErrorKind, Read as _, Result};
use std::path::{Path, PathBuf};
use swarmyard_agents::path_in_project;
use swarmyard_formats::Loader;

/// Most bytes of one text.
pub const MOST_TEXT: u64 = 64 << 20;

/// The text of a file: of a regular one, and no more than [`MOST_TEXT`] bytes.
///
/// # Errors
/// Why it cannot be read; nothing is waited for.
pub fn read_text(path: &Path) -> Result<String> {
    let checked = |about: std::fs::Metadata| match about {
        about if !about.is_file() => Err(Error::new(ErrorKind::InvalidInput, "it is no regular file")),
        about if about.len() > MOST_TEXT => Err(too_long()),
        about => Ok(about.len()),
    };
    // Opening a pipe would wait for somebody to write into it.
    checked(std::fs::metadata(path)?)?;
    let file = File::open(path)?;
    let mut text = String::with_capacity(checked(file.metadata()?)? as usize);
    // Somebody may be adding to it.
    file.take(MOST_TEXT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_TEXT { Err(too_long()) } else { Ok(text) }
}

fn too_long() -> Error {
    Error::new(ErrorKind::FileTooLarge, format!("it has more than {MOST_TEXT} bytes"))
}

/// Reads what a scenario includes: files in its folder, wherever in its project links lead.
#[derive(Clone, Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// The files of a scenario in this folder.
    #[must_use]
    pub fn new(folder: &Path) -> Folder {
        Folder(folder.to_owned())
    }

    /// The files of the scenario in this file.
    #[must_use]
    pub fn of(scenario: &Path) -> Folder {
        Folder::new(scenario.parent().unwrap_or(Path::new(".")))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Loader for Folder {
    fn load(&self, name: &str) -> std::result::Result<String, String> {
        let path = path_in_project(&self.0, name).ok_or(
            "it leads out of the scenario's folder, and out of the one above with a file `swarmyard.project`",
        )?;
        read_text(&path).map_err(|e| e.to_string())
    }
}
