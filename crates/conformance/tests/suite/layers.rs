//! Crates point downward only, and documents say what is there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use swarmyard_conformance::{read, root, rust_files};

/// Which crates of the workspace a crate may depend on, as its row in ARCHITECTURE.md says.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    may: Vec<String>,
    /// Whether the row says no names, but that it may use all there are.
    all: bool,
}

/// The table of crates: rows such as ``| `crates/scene` | what it holds | base | what it knows nothing about |``. `–` is
/// nothing, and a cell that begins with `all` every row before.
fn table(text: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines().filter_map(|l| l.trim().strip_prefix('|')) {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells[0].split('`').nth(1).and_then(|c| c.strip_prefix("crates/"));
        let (Some(name), Some(may)) = (name, cells.get(2)) else { continue };
        let all = may.starts_with("all");
        let may = if all {
            rows.iter().map(|r| r.name.clone()).collect()
        } else {
            may.split(',').map(str::trim).filter(|m| *m != "–").map(str::to_owned).collect()
        };
        rows.push(Row { name: name.trim_end_matches('/').to_owned(), may, all });
    }
    rows
}

fn architecture() -> Vec<Row> {
    table(&read(&root().join("ARCHITECTURE.md")))
}

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

/// What a crate depends on against the rules, and what it may use and does not.
fn wrong(rows: &[Row], name: &str, manifest: &str) -> Vec<String> {
    let Some(row) = rows.iter().find(|r| r.name == name) else {
        return vec![format!("`{name}` has no row in the table of crates")];
    };
    let mut wrong = Vec::new();
    let mut unused: BTreeSet<&str> = row.may.iter().map(String::as_str).collect();
    for (section, crates) in dependencies(manifest) {
        // Tests of a crate may stand on anything below the command; cargo itself refuses real cycles.
        let tests = section == "dev-dependencies";
        for dependency in &crates {
            if !tests {
                unused.remove(dependency.as_str());
            }
            let fine = tests && name != "base" && dependency != "swarmyard" && dependency != "conformance";
            if !fine && !row.may.contains(dependency) {
                wrong.push(format!("`{name}` depends on `{dependency}` in [{section}]"));
            }
        }
    }
    if !row.all {
        wrong.extend(unused.iter().map(|u| format!("`{name}` may use `{u}`, and does not: correct its row")));
    }
    wrong
}

#[test]
fn crates_point_downward_only_and_the_table_says_how() {
    let rows = architecture();
    let mut wrong: Vec<String> = crates()
        .iter()
        .flat_map(|c| wrong(&rows, c, &read(&root().join("crates").join(c).join("Cargo.toml"))))
        .collect();
    // Down is up in the table: everything used stands in a row before.
    for (k, row) in rows.iter().enumerate() {
        let above = |name: &String| rows[..k].iter().any(|r| r.name == *name);
        let below = row.may.iter().filter(|m| !above(m));
        wrong.extend(
            below.map(|m| format!("`{}` may use `{m}`, which is in no row before its own", row.name)),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_dependency_upward_would_be_seen() {
    let rows = architecture();
    let wrong = |name: &str, manifest: &str| wrong(&rows, name, manifest).len();
    assert_eq!(wrong("base", "[dependencies]\nlibm.workspace = true\n"), 0);
    assert_eq!(wrong("base", "[dependencies]\nswarmyard-scene.workspace = true\n"), 1);
    // Three that it may use and does not.
    assert_eq!(wrong("parts", "[dependencies]\nswarmyard-engine = { path = \"../engine\" }\n"), 1 + 3);
    assert_eq!(wrong("fabric", "[dependencies.swarmyard-base]\npath = \"../base\"\n"), 0);
    assert_eq!(wrong("fabric", "[dev-dependencies]\nswarmyard-base.workspace = true\n"), 1, "unused");
    assert_eq!(wrong("base", "[dev-dependencies]\nswarmyard.workspace = true\n"), 1);
    assert_eq!(wrong("new", ""), 1);
}

#[test]
fn the_architecture_lists_exactly_the_crates_that_exist() {
    let listed: Vec<String> = architecture().into_iter().map(|r| r.name).collect();
    assert_eq!(listed.iter().cloned().collect::<BTreeSet<_>>(), crates());
    assert_eq!(listed.len(), crates().len(), "a crate has two rows");
}

#[test]
fn the_crate_table_is_read_as_it_is_written() {
    let text = "| crate | holds | may use |\n|---|---|---|\n| `crates/base` | uids | – | robots |\n\
        | `crates/engine/` | the loop | base | – |\n| `crates/top` | all | all above | – |\n`crates/other` | no row |\n";
    let row = |name: &str, may: &[&str], all: bool| Row {
        name: name.to_owned(),
        may: may.iter().map(|m| (*m).to_owned()).collect(),
        all,
    };
    assert_eq!(
        table(text),
        [row("base", &[], false), row("engine", &["base"], false), row("top", &["base", "engine"], true)]
    );
}

/// The words of a glossary, as its rows begin.
fn words(text: &str) -> Vec<String> {
    let rows = text.lines().filter_map(|l| l.strip_prefix("| **")?.split_once("**"));
    rows.map(|(word, _)| word.to_lowercase()).collect()
}

#[test]
fn the_glossary_has_one_row_for_a_word_in_order() {
    let words = words(&read(&root().join("GLOSSARY.md")));
    let wrong: Vec<_> = words.windows(2).filter(|w| w[0] >= w[1]).collect();
    assert!(words.len() > 100 && wrong.is_empty(), "{wrong:?}");
}

/// The text of a Markdown document without blocks and pieces of code.
fn prose(text: &str) -> String {
    let mut within = false;
    let mut prose = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            within = !within;
        } else if !within {
            prose.extend(line.split('`').step_by(2).chain(["\n"]));
        }
    }
    prose
}

/// Targets of Markdown links that are no addresses: a path, and an anchor or nothing.
fn links(text: &str) -> Vec<(String, String)> {
    let text = prose(text);
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split([')', ' ']).next());
    let local = targets.filter(|t| !t.contains("://") && !t.starts_with("mailto:"));
    local.map(|t| t.split_once('#').unwrap_or((t, ""))).map(|(p, a)| (p.to_owned(), a.to_owned())).collect()
}

/// The anchors of a Markdown document's headings, as GitHub makes them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    let mut within = false;
    for line in text.lines() {
        within ^= line.trim_start().starts_with("```");
        let title =
            line.trim_start_matches('#').strip_prefix(' ').filter(|_| line.starts_with('#') && !within);
        let Some(title) = title else { continue };
        let kept = title.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor = kept.collect::<String>().to_lowercase().replace(' ', "-");
        let times = seen.entry(anchor.clone()).or_default();
        anchors.insert(if *times == 0 { anchor } else { format!("{anchor}-{times}") });
        *times += 1;
    }
    anchors
}

/// Markdown files in a folder and below it.
fn markdown(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|e| e.path());
    let files = entries.flat_map(|path| if path.is_dir() { markdown(&path) } else { vec![path] });
    files.filter(|path| path.extension().is_some_and(|e| e == "md")).collect()
}

/// Links of a document that lead nowhere; relative to its folder, with their anchors.
fn broken_links(document: &Path) -> (usize, Vec<String>) {
    let links = links(&read(document));
    let folder = document.parent().unwrap_or(document);
    let is_good = |(path, anchor): &&(String, String)| {
        let target = if path.is_empty() { document.to_path_buf() } else { folder.join(path) };
        let has =
            || target.extension().is_some_and(|e| e == "md") && anchors(&read(&target)).contains(anchor);
        target.exists() && (anchor.is_empty() || has())
    };
    let broken = links.iter().filter(|l| !is_good(l));
    (links.len(), broken.map(|(path, anchor)| format!("{}: `{path}#{anchor}`", shown(document))).collect())
}

#[test]
fn links_in_the_documents_lead_somewhere() {
    let top = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "GLOSSARY.md", "CHANGELOG.md"];
    let folders = ["docs", "examples", "sdk"].map(|folder| root().join(folder));
    let documents: Vec<PathBuf> =
        top.iter().map(|d| root().join(d)).chain(folders.iter().flat_map(|f| markdown(f))).collect();
    let (found, broken): (Vec<usize>, Vec<Vec<String>>) = documents.iter().map(|d| broken_links(d)).unzip();
    assert!(broken.concat().is_empty(), "{}", broken.concat().join("\n"));
    assert!(documents.len() > 25 && found.iter().sum::<usize>() > 300, "{documents:?} {found:?}");
}

#[test]
fn links_and_anchors_are_read_as_they_are_written() {
    let text = "[a](b.md#c) [d](https://e) [`f`](#g) ![h](i/j.png) `[k](l)`\n```\n[m](n)\n```\n";
    let pair = |path: &str, anchor: &str| (path.to_owned(), anchor.to_owned());
    assert_eq!(links(text), [pair("b.md", "c"), pair("", "g"), pair("i/j.png", "")]);
    let text = "# One, two: `three`\n```\n# no\n```\n## A–b\n## A–b\n";
    assert_eq!(anchors(text), ["one-two-three", "ab", "ab-1"].map(String::from).into());
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
