//! The files of the project, as the suites read them.

use std::path::{Path, PathBuf};

/// A world of the `worlds` folder.
#[derive(Clone, Debug)]
pub struct World {
    /// Its name: the file's without ending.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// What it says.
    pub text: String,
}

/// The folder of the workspace.
#[must_use]
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Every world of the `worlds` folder, in the order of names.
///
/// # Panics
/// When a file cannot be read.
#[must_use]
pub fn worlds() -> Vec<World> {
    let mut all: Vec<World> = entries(&root().join("worlds"))
        .into_iter()
        .filter(|p| p.extension().is_some_and(|e| e == "toml"))
        .map(|path| World {
            name: path.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            text: read(&path),
            path,
        })
        .collect();
    all.sort_by(|a, b| a.name.cmp(&b.name));
    all
}

/// Every Rust file below a folder, build results left out.
#[must_use]
pub fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for path in entries(folder) {
        if path.is_dir() && path.file_name().is_some_and(|n| n != "target") {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
    files
}

/// Names in a folder, sorted; none when there is no such folder.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(found) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = found.filter_map(|e| e.ok().map(|e| e.path())).collect();
    paths.sort();
    paths
}

/// The text of a file.
///
/// # Panics
/// When it cannot be read.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "suites read the project's files; nothing here is in the core")]
pub fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|e| panic!("cannot read `{}`: {e}", path.display()))
}

/// Writes a file.
///
/// # Panics
/// When it cannot be written.
#[expect(clippy::disallowed_methods, reason = "blessing rewrites the goldens; nothing here is in the core")]
pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap_or_else(|e| panic!("cannot write `{}`: {e}", path.display()));
}
