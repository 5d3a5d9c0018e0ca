//! Crates point downward only, and documents say what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use swarmyard_conformance::{read, root, rust_files};

/// Which crates of the workspace each crate may depend on. A new crate needs a line here, in
/// ARCHITECTURE.md, and a reason.
const MAY: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("fabric", &["base"]),
    ("scene", &["base"]),
    ("part-api", &["base", "scene"]),
    ("motion", &["base", "scene", "part-api"]),
    ("engine", &["base", "scene", "part-api", "motion"]),
    ("parts", &["base", "scene", "part-api"]),
    ("radio", &["base", "scene", "part-api"]),
    ("algorithms", &["base", "scene", "part-api", "radio"]),
    ("formats", &["base", "scene", "part-api"]),
    ("agents", &["base", "scene", "part-api", "engine", "radio"]),
    ("record", &["base", "scene", "part-api", "motion", "engine"]),
    ("sim", &["base", "scene", "part-api", "engine", "parts", "radio", "algorithms", "formats", "agents"]),
    ("cluster", &["base", "part-api", "engine", "formats", "agents", "sim", "fabric"]),
    ("modules", &["base", "agents"]),
    ("serve", &["base", "scene", "part-api", "engine", "formats", "agents", "record", "sim", "modules"]),
    (
        "swarmyard",
        &[
            "base",
            "fabric",
            "scene",
            "part-api",
            "motion",
            "engine",
            "parts",
            "radio",
            "algorithms",
            "formats",
            "agents",
            "record",
            "sim",
            "cluster",
            "modules",
            "serve",
        ],
    ),
    (
        "conformance",
        &[
            "base",
            "fabric",
            "scene",
            "part-api",
            "motion",
            "engine",
            "parts",
            "radio",
            "algorithms",
            "formats",
            "agents",
            "record",
            "sim",
            "cluster",
            "modules",
            "serve",
            "swarmyard",
        ],
    ),
];

/// Folders in `crates`, sorted.
fn crates() -> BTreeSet<String> {
    let manifests = std::fs::read_dir(root().join("crates")).expect("there are crates");
    let folders =
        manifests.filter_map(|e| e.ok().map(|e| e.path())).filter(|p| p.join("Cargo.toml").is_file());
    folders.filter_map(|p| Some(p.file_name()?.to_string_lossy().into_owned())).collect()
}

/// The workspace's crates that a manifest depends on, by section.
fn dependencies(manifest: &str) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut section = String::new();
    for line in manifest.lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[').and_then(|l| l.strip_suffix(']')) {
            section = name.to_owned();
            // Also the long form: [dependencies.swarmyard-base]
            if let Some((kind, package)) = name.rsplit_once("dependencies.") {
                all.entry(format!("{kind}dependencies")).or_default().extend(own(package));
            }
        } else if section.ends_with("dependencies")
            && let Some((key, _)) = line.split_once(['=', '.'])
        {
            all.entry(section.clone()).or_default().extend(own(key.trim()));
        }
    }
    all
}

/// The crate's folder when a package is one of ours.
fn own(package: &str) -> Option<String> {
    if package == "swarmyard" {
        Some(package.into())
    } else {
        package.strip_prefix("swarmyard-").map(str::to_owned)
    }
}

/// What a crate depends on against the rules.
fn upward(name: &str, manifest: &str) -> Vec<String> {
    let Some((_, may)) = MAY.iter().find(|m| m.0 == name) else {
        return vec![format!("`{name}` has no line in the table of layers")];
    };
    let mut wrong = Vec::new();
    for (section, crates) in dependencies(manifest) {
        // Tests of a crate may stand on anything below the command; cargo itself refuses real cycles.
        let tests = section == "dev-dependencies";
        for dependency in crates.iter().filter(|d| !may.contains(&d.as_str())) {
            let fine = tests && name != "base" && dependency != "swarmyard" && dependency != "conformance";
            if !fine {
                wrong.push(format!("`{name}` depends on `{dependency}` in [{section}]"));
            }
        }
    }
    wrong
}

#[test]
fn crates_point_downward_only() {
    let wrong: Vec<String> = crates()
        .iter()
        .flat_map(|c| upward(c, &read(&root().join("crates").join(c).join("Cargo.toml"))))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(crates().len() >= MAY.len(), "a crate in the table is gone: {:?}", crates());
}

#[test]
fn a_dependency_upward_would_be_seen() {
    assert!(upward("base", "[dependencies]\nlibm.workspace = true\n").is_empty());
    assert_eq!(upward("base", "[dependencies]\nswarmyard-scene.workspace = true\n").len(), 1);
    assert_eq!(upward("parts", "[dependencies]\nswarmyard-engine = { path = \"../engine\" }\n").len(), 1);
    assert_eq!(upward("formats", "[dependencies.swarmyard-parts]\npath = \"../parts\"\n").len(), 1);
    assert_eq!(upward("engine", "[dev-dependencies]\nswarmyard.workspace = true\n").len(), 1);
    assert_eq!(upward("new", "").len(), 1);
}

/// Names in lines such as ``| `crates/base` | … |``.
fn listed(text: &str) -> BTreeSet<String> {
    let rows = text.lines().filter_map(|l| l.trim().strip_prefix('|'));
    let cells = rows.filter_map(|r| r.split('|').next()).filter_map(|c| c.split('`').nth(1));
    cells.filter_map(|c| c.strip_prefix("crates/")).map(|c| c.trim_end_matches('/').to_owned()).collect()
}

#[test]
fn the_architecture_lists_exactly_the_crates_that_exist() {
    let listed = listed(&read(&root().join("ARCHITECTURE.md")));
    assert_eq!(listed, crates());
}

#[test]
fn the_crate_table_is_read_as_it_is_written() {
    let text = "| crate | what |\n|---|---|\n| `crates/base` | uids |\n| `crates/engine/` | the loop |\n`crates/other` | no row |\n";
    assert_eq!(listed(text), ["base", "engine"].map(String::from).into());
}

/// Relative targets of Markdown links, without anchors.
fn links(text: &str) -> Vec<String> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let local = targets.filter(|t| !t.contains("://") && !t.starts_with('#') && !t.starts_with("mailto:"));
    local.filter_map(|t| t.split(['#', ' ']).next()).map(str::to_owned).collect()
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let documents = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "CHANGELOG.md"];
    let mut broken = Vec::new();
    let mut found = 0;
    for document in documents.iter().filter(|d| **d == "README.md" || root().join(d).exists()) {
        for link in links(&read(&root().join(document))) {
            found += 1;
            if !root().join(&link).exists() {
                broken.push(format!("{document}: `{link}`"));
            }
        }
    }
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(found > 0, "no document links to anything");
    assert_eq!(links("[a](b.md#c) [d](https://e) [f](#g) ![h](i/j.png)"), ["b.md", "i/j.png"]);
}

fn sources() -> Vec<PathBuf> {
    let mut files = rust_files(&root().join("crates"));
    files.extend(rust_files(&root().join("xtask")));
    files
}

fn shown(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn no_file_has_more_than_a_thousand_lines() {
    let long: Vec<String> = sources()
        .iter()
        .map(|p| (shown(p), read(p).lines().count()))
        .filter(|(_, lines)| *lines > 1000)
        .map(|(path, lines)| format!("{path}: {lines} lines"))
        .collect();
    assert!(long.is_empty(), "{}", long.join("\n"));
    assert!(sources().len() > 60, "only {} files were found", sources().len());
}

/// Attributes that switch a lint off without saying why.
fn bare_allows(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for opening in ["#[allow(", "#![allow(", "#[expect(", "#![expect("] {
        for rest in text.split(opening).skip(1) {
            let attribute = rest.split(")]").next().unwrap_or(rest);
            if !attribute.contains("reason") {
                found.push(format!("{opening}{attribute})]"));
            }
        }
    }
    found
}

#[test]
fn no_lint_is_switched_off_without_a_reason() {
    let here = "layers.rs";
    let mut found = Vec::new();
    for path in sources().iter().filter(|p| p.file_name().is_some_and(|n| n != here)) {
        found.extend(bare_allows(&read(path)).into_iter().map(|a| format!("{}: {a}", shown(path))));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert_eq!(bare_allows("#[allow(dead_code)]\nfn f() {}").len(), 1);
    assert_eq!(bare_allows("#[expect(\n    dead_code,\n    reason = \"x\"\n)]\nfn f() {}").len(), 0);
}
