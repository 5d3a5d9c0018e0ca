//! Puts the built page into the program: every file of web/dist, and its compressed twin if there is one.
//!
//! The files are copied first: a page that is built anew meanwhile does not pull them away.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let dist = here.join("../../web/dist");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, &mut files);
    files.sort();
    let page = out.join("page");
    // What was copied before belongs to another page.
    let _ = fs::remove_dir_all(&page);
    let mut table = String::from("const ASSETS: &[Asset] = &[\n");
    for file in files.iter().filter(|f| f.extension().is_none_or(|e| e != "gz")) {
        let name = file.strip_prefix(&dist).unwrap_or(file);
        let bytes = copy(file, &page.join(name))?;
        let twin = file.with_added_extension("gz");
        let gzip = if files.contains(&twin) {
            let bytes = copy(&twin, &page.join(name).with_added_extension("gz"))?;
            format!("Some(include_bytes!({bytes:?}))")
        } else {
            "None".into()
        };
        let path = name.to_string_lossy().replace('\\', "/");
        let _ = writeln!(
            table,
            "    Asset {{ path: {path:?}, bytes: include_bytes!({bytes:?}), gzip: {gzip} }},"
        );
    }
    table.push_str("];\n");
    fs::write(out.join("assets.rs"), table)
}

fn copy(from: &Path, to: &Path) -> io::Result<PathBuf> {
    to.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::copy(from, to)?;
    Ok(to.to_path_buf())
}

/// All files below a folder; none when it is not there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
