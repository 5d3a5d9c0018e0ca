//! Puts the built page into the program: every file of web/dist, and its compressed twin if there is one.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where this is"));
    let dist = root.join("../../web/dist");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed={}", dist.display());
    let mut files = Vec::new();
    collect(&dist, &mut files);
    files.sort();
    let mut out = String::from("const ASSETS: &[Asset] = &[\n");
    for file in files.iter().filter(|f| f.extension().is_none_or(|e| e != "gz")) {
        let name = file.strip_prefix(&dist).expect("it was found there").to_string_lossy().replace('\\', "/");
        let twin = file.with_added_extension("gz");
        let gzip =
            if files.contains(&twin) { format!("Some(include_bytes!({twin:?}))") } else { "None".into() };
        let _ =
            writeln!(out, "    Asset {{ path: {name:?}, bytes: include_bytes!({file:?}), gzip: {gzip} }},");
    }
    out.push_str("];\n");
    let to =
        PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where things go")).join("assets.rs");
    std::fs::write(to, out).expect("the list of files can be written");
}

/// All files below a folder; none when it is not there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            println!("cargo:rerun-if-changed={}", path.display());
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}
