//! Worlds that can be read and must not be run: each is refused with the problems that it says it has.
//!
//! A file in `tests/bad` ends with lines such as `#! expect 7:12 rule-needs`, and `#! help` with a piece of what it
//! says to do. Texts that cannot even be read have their own folder, in the crate of formats.

use std::path::PathBuf;
use swarmyard_sim::{Error, Sim};

fn directives<'t>(text: &'t str, word: &str) -> Vec<&'t str> {
    let start = format!("#! {word} ");
    text.lines().filter_map(|l| l.strip_prefix(start.as_str())).collect()
}

#[test]
fn every_world_that_cannot_work_is_refused_where_and_why_it_says() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/bad");
    let mut wrong = Vec::new();
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).expect("the folder").map(|e| e.expect("an entry").path()).collect();
    files.sort();
    assert!(files.len() >= 15);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a text");
        let Err(Error::Scenario(sources, problems)) = Sim::from_text(&text) else {
            wrong.push(format!("{} is accepted", file.display()));
            continue;
        };
        let place = |d: &swarmyard_base::Diagnostic| {
            let at = d.span.and_then(|s| sources.locate(s)).map_or("nowhere".to_owned(), |l| l.to_string());
            let at: Vec<&str> = at.rsplit(':').take(2).collect();
            format!("{} {}", at.into_iter().rev().collect::<Vec<_>>().join(":"), d.code)
        };
        let (mut found, mut expected): (Vec<String>, _) =
            (problems.0.iter().map(place).collect(), directives(&text, "expect"));
        found.sort_unstable();
        expected.sort_unstable();
        let helps: Vec<&str> = problems.0.iter().filter_map(|d| d.help.as_deref()).collect();
        let helped = |piece: &&str| helps.iter().any(|h| h.contains(piece));
        if found != expected || !directives(&text, "help").iter().all(helped) {
            wrong.push(format!("{}: {found:?}, {helps:?}\n{problems:?}", file.display()));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n\n"));
}
