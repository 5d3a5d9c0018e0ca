//! The project's files, over the wire: what is there, and that nothing else is.

use crate::client::{Place, WORLD};
use serde_json::json;
use std::io::Write as _;
use std::process::Command;

#[test]
fn worlds_files_and_texts_of_the_project_are_there() {
    let place = Place::new();
    let mut display = place.console();
    let worlds = display.done(json!({ "do": "worlds" }));
    assert_eq!(
        worlds["worlds"],
        json!([{ "path": "worlds/world.toml", "title": "three", "about": "Three wanderers." }])
    );
    let files = display.done(json!({ "do": "files", "folder": "worlds" }));
    assert_eq!(files["files"], json!([{ "path": "worlds/world.toml", "kind": "scenario" }]));
    assert_eq!(display.done(json!({ "do": "read", "path": "worlds/world.toml" }))["text"], WORLD);
    let sheets = display.done(json!({ "do": "sheets" }));
    assert!(sheets["sheets"].as_array().unwrap().iter().any(|s| s["class"] == "diff-drive"));
}

#[test]
fn no_path_leads_out() {
    let place = Place::new();
    let secret = place.folder.0.with_extension("secret.toml");
    std::fs::write(&secret, WORLD).unwrap();
    std::os::unix::fs::symlink(&secret, place.folder.0.join("link.toml")).unwrap();
    let mut console = place.console();
    let (name, whole) = (secret.file_name().unwrap().to_str().unwrap(), secret.to_str().unwrap());
    let hash = console.step(3);
    for path in [
        format!("../{name}"),
        format!("worlds/../../{name}"),
        whole.to_owned(),
        "link.toml".to_owned(),
        format!("%2e%2e/{name}"),
        format!("..%2f{name}"),
        "worlds/world.toml\0".to_owned(),
        format!("..\\{name}"),
        "/etc/passwd".to_owned(),
    ] {
        console.refused(json!({ "do": "read", "path": path }));
        console.refused(json!({ "do": "open", "path": path }));
        console.refused(json!({ "do": "write", "path": path, "text": "x" }));
        console.refused(json!({ "do": "save", "path": path }));
        console.refused(json!({ "do": "files", "folder": path }));
    }
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), WORLD);
    std::fs::remove_file(&secret).unwrap();
    assert_eq!((console.hash_at(3), console.step(1)), (hash, crate::run::hashes(4)[4].clone()));
}

/// Says that a test does nothing here, and why. In a whole check, where everything is to be there, that is a failure.
fn skipped(why: &str) {
    assert!(std::env::var_os("SWARMYARD_WHOLE").is_none(), "cannot be tested here: {why}");
    // Past whoever keeps what tests print; a message that nobody can read is none.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

#[test]
fn a_controller_goes_on_with_new_code_when_its_source_is_written() {
    let place = Place::new();
    let source =
        |word: &str| format!("#include \"rio.h\"\nvoid robot_step(void) {{ rio_log(\"{word}\"); }}\n");
    place.folder.write("worlds/think.c", &source("old"));
    let world = WORLD.replace("class = \"wander\"", "class = \"program\"\nsource = \"think.c\"");
    place.folder.write("worlds/program.toml", &world);
    if Command::new("clang").arg("--version").output().is_err() {
        return skipped("`clang` is not installed");
    }
    let mut console = place.console();
    console.done(json!({ "do": "open", "path": "worlds/program.toml" }));
    console.until("that world", |d| d.world["file"] == "worlds/program.toml");
    assert_eq!(console.world["types"][0]["controllers"][0]["source"], "worlds/think.c");
    console.step(2);
    let answer = console.done(json!({ "do": "write", "path": "worlds/think.c", "text": "int broken(" }));
    assert_eq!(answer["reloaded"], json!([]));
    console
        .until("the problem", |d| d.problems.iter().any(|p| p["from"] == "code" && p["list"] != json!([])));
    let answer = console.done(json!({ "do": "write", "path": "worlds/think.c", "text": source("new") }));
    assert_eq!(answer["reloaded"].as_array().unwrap().len(), 1);
    console.until("no problem", |d| d.problems.iter().any(|p| p["from"] == "code" && p["list"] == json!([])));
    console.step(2);
    console.until("its word", |d| d.lines.iter().any(|l| l["kind"] == "print" && l["text"] == "new"));
    assert_eq!(console.status["stop"], 4, "the run went on");
    console.refused(json!({ "do": "write", "path": "worlds/program.toml", "text": "x" }));
}

#[test]
fn a_scenario_that_does_not_load_is_not_opened() {
    let place = Place::new();
    place.folder.write("worlds/bad.toml", "format = 1\n[worl]\n");
    let mut console = place.console();
    let hash = console.step(2);
    assert_eq!(console.refused(json!({ "do": "open", "path": "worlds/bad.toml" })), "problems");
    assert_eq!(console.refused(json!({ "do": "open", "path": "worlds/none.toml" })), "no-file");
    assert_eq!(console.refused(json!({ "do": "open.text", "name": "x", "text": "bad" })), "problems");
    assert_eq!(console.hash_at(2), hash);
}

#[test]
fn a_server_that_is_started_with_a_broken_scenario_shows_what_is_wrong() {
    let broken = WORLD.replace("range-rays", "range-rayz");
    let place = Place::with(&broken);
    let mut console = place.console();
    assert_eq!(console.status["state"], "error");
    assert_eq!(console.world["text"], broken);
    console.until("the problem", |d| {
        d.problems.iter().any(|p| p["from"] == "open" && p["list"][0]["line"].is_u64())
    });
    assert_eq!(console.refused(json!({ "do": "start" })), "problems");
    let revision = console.status["revision"].as_u64().unwrap();
    console.done(json!({ "do": "replace", "text": WORLD, "revision": revision }));
    console.until_state("paused");
    assert_eq!(console.step(5), crate::run::hashes(5)[5]);
}

#[test]
fn a_topic_that_cannot_be_recorded_is_a_problem_of_the_document() {
    let place = Place::new();
    let mut console = place.console();
    let text = format!("{WORLD}\n[record]\ntopics = [\"/robots/r9\"]\n");
    console.done(json!({ "do": "open.text", "name": "topics.toml", "text": text }));
    console.until("the problem", |d| {
        let documents = d.problems.iter().filter(|p| p["from"] == "document");
        documents.flat_map(|p| p["list"].as_array()).flatten().any(|p| p["code"] == "unknown-topic")
    });
    // It costs the recording only.
    console.step(5);
}

#[test]
fn problems_of_a_configuration_have_their_places_in_it() {
    let place = Place::new();
    place.folder.write("worlds/bad.config", "process.nun = 3\nrobot.size = 10\nbornpoint.random = true\n");
    let mut console = place.console();
    let error = console.ask(json!({ "do": "open", "path": "worlds/bad.config" })).unwrap_err();
    let problem = &error["problems"].as_array().unwrap()[0];
    assert_eq!(
        (problem["file"].as_str(), problem["code"].as_str()),
        (Some("worlds/bad.config"), Some("missing-key"))
    );
    let all = error["problems"].as_array().unwrap();
    let unknown = all.iter().find(|p| p["code"] == "unknown-key").unwrap();
    assert_eq!(
        (unknown["line"].as_u64(), unknown["help"].as_str()),
        (Some(1), Some("did you mean `process.num`?"))
    );
}
