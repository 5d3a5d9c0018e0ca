//! The document: edited, undone, saved; and the run that goes on with it.

use crate::client::{Display, Place, WORLD};
use serde_json::{Value, json};

fn revision(display: &Display) -> u64 {
    display.status["revision"].as_u64().unwrap()
}

/// One edit, at the present revision.
fn edit(display: &mut Display, changes: Value) -> Result<Value, Value> {
    let revision = revision(display);
    display.ask(json!({ "do": "edit", "label": "an edit", "changes": changes, "revision": revision }))
}

fn move_r1() -> Value {
    json!([{ "op": "move", "entries": ["robot[0]"], "by": [0.5, -0.25] }])
}

/// The text of the document, once that revision is shown.
fn text(display: &mut Display, revision: &Value) -> String {
    display.until("that world", |d| d.world["revision"] == *revision);
    display.world["text"].as_str().unwrap().to_owned()
}

#[test]
fn an_edit_changes_only_what_it_must_and_undo_gives_every_byte_back() {
    let place = Place::new();
    let mut console = place.console();
    assert_eq!(console.world["text"], WORLD);
    assert_eq!(
        console.world["entries"].as_array().unwrap().iter().filter(|e| e["section"] == "robot").count(),
        3
    );
    let answer = edit(&mut console, move_r1()).unwrap();
    let edited = text(&mut console, &answer["revision"]);
    assert_eq!(edited, WORLD.replace("at = [0, 0, 0] # in", "at = [0.5, -0.25, 0] # in"));
    console.until("dirty", |d| d.status["dirty"] == true && d.status["undo"] == "an edit");
    assert_eq!(console.status["undo_depth"], 1);
    let answer = console.done(json!({ "do": "undo" }));
    assert_eq!(text(&mut console, &answer["revision"]), WORLD);
    console.until("clean", |d| d.status["dirty"] == false && d.status["redo"] == "an edit");
    let answer = console.done(json!({ "do": "redo" }));
    assert_eq!(text(&mut console, &answer["revision"]), edited);
    assert_eq!(console.refused(json!({ "do": "redo" })), "nothing");
    console.done(json!({ "do": "undo" }));
    assert_eq!(console.refused(json!({ "do": "undo" })), "nothing");
    assert_eq!(place.folder.read("worlds/world.toml"), WORLD, "nothing is written before it is saved");
}

#[test]
fn before_the_first_step_an_edit_is_as_if_it_had_been_written_so() {
    let place = Place::new();
    let mut console = place.console();
    edit(&mut console, move_r1()).unwrap();
    let hash = console.step(20);
    let fresh = Place::with(&WORLD.replace("at = [0, 0, 0]", "at = [0.5, -0.25, 0]"));
    assert_eq!(fresh.console().step(20), hash);
}

#[test]
fn while_the_run_goes_on_an_edit_takes_effect_and_the_rest_goes_on() {
    let place = Place::new();
    let mut console = place.console();
    console.step(20);
    let before = console.bodies_at(20).rows.clone();
    edit(&mut console, move_r1()).unwrap();
    console.until("the robot where it was put", |d| d.kept.bodies.as_ref().unwrap().rows[0].x == 5000);
    let after = console.kept.bodies.clone().unwrap();
    assert_eq!((after.head.stop, after.rows[0].y), (20, -2500));
    assert_eq!(after.rows[1..], before[1..], "the others stay where they are");
    console.step(20);
    let added = edit(
        &mut console,
        json!([{ "op": "add", "section": "robot",
        "fields": [["type", "scout"], ["at", "[2.5, -2.5, 0]"]] }]),
    );
    assert_eq!(added.unwrap()["paths"], json!(["/robots/r4"]));
    console.until("four robots", |d| d.kept.bodies.as_ref().is_some_and(|b| b.rows.len() == 4));
    edit(&mut console, json!([{ "op": "remove", "entry": "robot[1]" }])).unwrap();
    console.until("three again", |d| d.kept.bodies.as_ref().is_some_and(|b| b.rows.len() == 3));
    assert_eq!(console.status["run"], 1, "it is the same run");
    let hash = console.step(40);
    // What was edited is in the journal: the recording runs through it again, to the same hash.
    crate::replay::download(&place, "edited.mcap");
    console.done(json!({ "do": "open", "path": "edited.mcap" }));
    console.until("the recording", |d| d.status["mode"] == "replay");
    console.done(json!({ "do": "seek", "stop": 80 }));
    assert_eq!(console.hash_at(80), hash);
}

#[test]
fn an_edit_of_something_that_has_changed_meanwhile_is_refused() {
    let place = Place::new();
    let mut console = place.console();
    let old = revision(&console);
    edit(&mut console, move_r1()).unwrap();
    for request in [
        json!({ "do": "edit", "changes": move_r1(), "revision": old }),
        json!({ "do": "replace", "text": WORLD, "revision": old }),
        json!({ "do": "paste", "fragment": "", "revision": old }),
    ] {
        assert_eq!(console.refused(request), "stale");
    }
    assert_eq!(console.status["undo_depth"], 1);
}

#[test]
fn an_invalid_edit_is_refused_with_its_problems_and_changes_nothing() {
    let place = Place::new();
    let mut console = place.console();
    console.step(7);
    let (hash, revision) = (console.hash_at(7), revision(&console));
    let broken = WORLD.replace("class = \"range-rays\"", "class = \"range-rayz\"");
    let overlap = WORLD.replace("at = [1, 1, \"90deg\"]", "at = [0.05, 0, 0]");
    for text in [broken.as_str(), overlap.as_str(), "format = 1\nnonsense", "", "format = 99\n"] {
        let error = console
            .ask(json!({ "do": "replace", "text": text, "revision": revision }))
            .expect_err("it does not load");
        assert_eq!(error["code"], "problems");
        assert!(!error["problems"][0]["message"].as_str().unwrap().is_empty());
    }
    let problem = console.ask(json!({ "do": "replace", "text": broken, "revision": revision })).unwrap_err();
    let line = broken.lines().position(|l| l.contains("rayz")).unwrap() + 1;
    assert_eq!(problem["problems"][0]["line"], line);
    let unknown = edit(&mut console, json!([{ "op": "remove", "entry": "robot[9]" }])).unwrap_err();
    assert_eq!(unknown["code"], "problems");
    let nonsense = edit(&mut console, json!([{ "op": "fly" }])).unwrap_err();
    assert_eq!(nonsense["code"], "malformed");
    console.done(json!({ "do": "pause" }));
    assert_eq!((console.hash_at(7), console.status["revision"].as_u64()), (hash, Some(revision)));
    assert_eq!(console.status["undo_depth"], 0);
}

#[test]
fn entries_are_copied_and_pasted() {
    let place = Place::new();
    let mut console = place.console();
    let piece = console.done(json!({ "do": "copy", "entries": ["robot[0]"] }))["fragment"].clone();
    let revision = revision(&console);
    let answer =
        console.done(json!({ "do": "paste", "fragment": piece, "by": [0.0, -1.0], "revision": revision }));
    assert_eq!(answer["paths"].as_array().unwrap().len(), 1);
    let text = text(&mut console, &answer["revision"]);
    assert!(text.contains("at = [0, -1, 0]"), "{text}");
    assert_eq!(console.refused(json!({ "do": "copy", "entries": ["robot[9]"] })), "problems");
}

#[test]
fn typed_values_are_normalised() {
    let place = Place::new();
    let mut console = place.console();
    let ask = |class: &str, param: &str, typed: &str| json!({ "do": "normalise", "class": class, "param": param, "typed": typed });
    console.done(ask("diff-drive", "max_speed", "0.3*2"));
    assert_eq!(console.refused(ask("nothing", "max_speed", "1")), "unknown-class");
    assert_eq!(console.refused(ask("diff-drive", "colour", "1")), "unknown-param");
    assert!(console.ask(ask("diff-drive", "max_speed", "fast")).is_err());
}

#[test]
fn reset_keeps_what_was_edited() {
    let place = Place::new();
    let mut console = place.console();
    console.step(5);
    edit(&mut console, move_r1()).unwrap();
    console.step(5);
    console.done(json!({ "do": "reset" }));
    console.until("the start", |d| d.status["stop"] == 0 && d.status["run"] == 2);
    assert_eq!(console.bodies_at(0).rows[0].x, 5000);
    console.done(json!({ "do": "undo" }));
    console.until("where it was", |d| d.kept.bodies.as_ref().unwrap().rows[0].x == 0);
}

#[test]
fn a_document_is_saved_where_it_is_said() {
    let place = Place::new();
    let mut console = place.console();
    edit(&mut console, move_r1()).unwrap();
    assert_eq!(console.done(json!({ "do": "save" }))["path"], "worlds/world.toml");
    let edited = place.folder.read("worlds/world.toml");
    assert!(edited.contains("[0.5, -0.25, 0]"));
    console.until("clean", |d| d.status["dirty"] == false);
    console.done(json!({ "do": "save", "path": "worlds/other.toml" }));
    assert_eq!(place.folder.read("worlds/other.toml"), edited);
    console.until("its new name", |d| d.status["file"] == "worlds/other.toml");
    for path in ["../out.toml", "/tmp/out.toml", "worlds/x.c", "worlds/.x.toml", "nowhere/x.toml"] {
        console.refused(json!({ "do": "save", "path": path }));
    }
    console.done(json!({ "do": "open.text", "name": "new", "text": WORLD }));
    console.until("no file", |d| d.status["file"].is_null() && d.status["dirty"] == true);
    assert_eq!(console.refused(json!({ "do": "save" })), "no-name");
}
