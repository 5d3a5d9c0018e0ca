//! Every broken scenario reports exactly the problems that it says it has, at the right places.
//!
//! A file in `tests/bad` ends with lines such as `#! expect 7:12 unknown-key`; `#! set key=value`
//! adds an override, `#! warn` expects a warning, and `file:7:12` is a place in another text.

use crate::common::{Folder, registry};
use swarmyard_base::Severity;
use swarmyard_formats::{Failed, read};

type Problem = (String, String);

fn directives<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let start = format!("#! {word} ");
    text.lines().filter_map(|l| l.trim_end().strip_prefix(start.as_str())).collect()
}

fn expected(name: &str, text: &str) -> Vec<Problem> {
    let mut all = Vec::new();
    for (word, mark) in [("expect", ""), ("warn", "warning ")] {
        for line in directives(text, word) {
            let (place, code) = line.split_once(' ').expect("a place and a code");
            let place =
                if place.matches(':').count() == 1 { format!("{name}:{place}") } else { place.to_owned() };
            all.push((place, format!("{mark}{code}")));
        }
    }
    all.sort();
    all
}

fn found(failed: &Failed) -> Vec<Problem> {
    let mut all: Vec<Problem> = failed
        .problems
        .0
        .iter()
        .map(|d| {
            let place =
                d.span.and_then(|s| failed.sources.locate(s)).map_or("nowhere".into(), |l| l.to_string());
            let mark = if d.severity == Severity::Warning { "warning " } else { "" };
            (place, format!("{mark}{}", d.code))
        })
        .collect();
    all.sort();
    all
}

#[test]
fn every_broken_scenario_reports_what_it_says() {
    let folder = Folder::of_tests("bad");
    let registry = registry();
    let mut wrong = Vec::new();
    let scenarios = folder.files("toml");
    assert!(scenarios.len() >= 70);
    for (name, text) in scenarios {
        let overrides: Vec<(String, String)> = directives(&text, "set")
            .iter()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let expected = expected(&name, &text);
        match read(&name, &text, &overrides, &folder, &registry) {
            Ok(_) => wrong.push(format!("{name}: was read without a problem, expected {expected:?}")),
            Err(failed) if found(&failed) != expected => {
                wrong.push(format!(
                    "{name}: expected {expected:?}\n     found {:?}\n{failed}",
                    found(&failed)
                ));
            }
            Err(_) => {}
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}

#[test]
fn every_message_shows_the_value_and_ends_without_a_full_stop() {
    let folder = Folder::of_tests("bad");
    let registry = registry();
    for (name, text) in folder.files("toml") {
        let Err(failed) = read(&name, &text, &[], &folder, &registry) else { continue };
        for d in failed.problems.0.iter().filter(|d| d.code != "syntax" && d.code != "missing-format") {
            assert!(d.message.contains('`'), "{name}: {}", d.message);
            assert!(!d.message.ends_with('.'), "{name}: {}", d.message);
        }
    }
}

#[test]
fn near_misses_are_suggested() {
    let folder = Folder::of_tests("bad");
    let registry = registry();
    for (name, hint) in [
        ("unknown-key-run", "`quantum`"),
        ("unknown-section", "`world`"),
        ("unknown-type", "`scout`"),
        ("unknown-surface", "`rubber`"),
        ("unknown-class", "`diff-drive`"),
        ("unknown-param", "`speed`"),
        ("unknown-template", "`pillar`"),
        ("override-unknown-part", "`drive`"),
        ("duplicate-walls", "duplicate-walls.toml:3:8"),
        ("include-duplicate", "include-duplicate.toml:3:7"),
    ] {
        let name = format!("{name}.toml");
        let (_, text) = folder.files("toml").into_iter().find(|s| s.0 == name).expect("the scenario");
        let overrides: Vec<(String, String)> = directives(&text, "set")
            .iter()
            .filter_map(|l| l.split_once('='))
            .map(|(k, v)| (k.to_owned(), v.to_owned()))
            .collect();
        let failed = read(&name, &text, &overrides, &folder, &registry).expect_err(&name);
        let helps: Vec<String> = failed.problems.0.iter().filter_map(|d| d.help.clone()).collect();
        assert!(helps.iter().any(|h| h.contains(hint)), "{name}: {helps:?}");
    }
}
