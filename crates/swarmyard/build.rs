//! Takes the example project into the command, so that `swarmyard demo` works anywhere: every world
//! with its parts, controllers and headers.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// What belongs to the example project, from the workspace's root.
const SAMPLES: [&str; 6] =
    ["swarmyard.project", "worlds", "examples/controllers", "examples/parts", "sdk/python", "sdk/prolog"];

fn main() -> io::Result<()> {
    let root =
        PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("../..").canonicalize()?;
    let mut files = Vec::new();
    for name in SAMPLES {
        println!("cargo:rerun-if-changed={}", root.join(name).display());
        collect(&root.join(name), &mut files)?;
    }
    files.sort();
    let mut table = String::from("&[\n");
    for file in &files {
        let name = file.strip_prefix(&root).unwrap_or(file);
        let _ = writeln!(
            table,
            "    ({:?}, include_bytes!({:?})),",
            name.display().to_string(),
            file.display().to_string()
        );
    }
    table.push(']');
    fs::write(PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("samples.rs"), table)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if !path.is_dir() {
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in fs::read_dir(path)? {
        collect(&entry?.path(), files)?;
    }
    Ok(())
}
