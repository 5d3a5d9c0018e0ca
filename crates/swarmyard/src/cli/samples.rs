//! The example project, which the command carries with it: every world of the gallery.

use super::fail::{Exit, Failure};
use super::out::Out;
use std::fs;
use std::path::{Path, PathBuf};

/// Every file: its path in the project, and its bytes.
const SAMPLES: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/samples.rs"));

/// Writes the example project into a folder; files that are there already stay as they are.
pub(crate) fn unpack(folder: &Path) -> Result<(), Failure> {
    for (name, bytes) in SAMPLES {
        let file = folder.join(name);
        let written = file
            .parent()
            .map_or(Ok(()), fs::create_dir_all)
            .and_then(|()| if file.exists() { Ok(()) } else { fs::write(&file, bytes) });
        written.map_err(|e| Failure::file("write", &file, &e))?;
    }
    Ok(())
}

/// A world of the example project: that of the project around the present folder, or else a copy in a
/// folder `swarmyard-demo` here.
pub(crate) fn world(name: &str, out: &Out) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().map_err(|e| Failure::new(Exit::Failed, "no-folder", e.to_string()))?;
    let there = here.ancestors().map(|folder| folder.join("worlds").join(name)).find(|file| file.is_file());
    if let Some(file) = there {
        return Ok(file);
    }
    let folder = here.join("swarmyard-demo");
    unpack(&folder)?;
    out.say(&format!("the example worlds are in {}", folder.display()));
    Ok(folder.join("worlds").join(name))
}
