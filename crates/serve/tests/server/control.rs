//! Exactly one console.

use crate::client::Place;
use serde_json::json;

#[test]
fn the_first_console_holds_control_and_others_are_refused() {
    let place = Place::new();
    let mut console = place.console();
    let mut other = place.display("other");
    assert_eq!(other.control["holder"]["id"], console.id);
    for request in [json!({ "do": "start" }), json!({ "do": "reset" }), json!({ "do": "exit" })] {
        assert_eq!(other.refused(request), "not-console");
    }
    console.done(json!({ "do": "start" }));
    console.done(json!({ "do": "pause" }));
}

#[test]
fn control_is_asked_for_and_given() {
    let place = Place::new();
    let (mut console, mut other) = (place.console(), place.display("other"));
    assert_eq!(other.done(json!({ "do": "control.ask" }))["holds"], false);
    console.until("somebody asks", |d| d.control["asking"][0]["name"] == "other");
    console.done(json!({ "do": "control.give", "to": other.id }));
    let id = other.id;
    other.until("control", |d| d.control["holder"]["id"] == id);
    other.done(json!({ "do": "start" }));
    assert_eq!(console.refused(json!({ "do": "pause" })), "not-console");
    assert_eq!(other.control["asking"], json!([]));
}

#[test]
fn control_is_denied_and_let_go() {
    let place = Place::new();
    let (mut console, mut other) = (place.console(), place.display("other"));
    other.done(json!({ "do": "control.ask" }));
    console.done(json!({ "do": "control.deny", "to": other.id }));
    other.until("refusal", |d| d.control["asking"] == json!([]));
    assert_eq!(console.refused(json!({ "do": "control.deny", "to": other.id })), "unknown-client");
    assert_eq!(console.refused(json!({ "do": "control.give", "to": 99 })), "unknown-client");
    console.done(json!({ "do": "control.give", "to": null }));
    assert_eq!(other.refused(json!({ "do": "start" })), "not-console");
    assert_eq!(other.done(json!({ "do": "control.ask" }))["holds"], true);
    other.done(json!({ "do": "start" }));
}

#[test]
fn control_is_taken_from_the_same_machine() {
    let place = Place::new();
    let (mut console, mut other) = (place.console(), place.display("other"));
    other.done(json!({ "do": "control.take" }));
    other.done(json!({ "do": "start" }));
    assert_eq!(console.refused(json!({ "do": "pause" })), "not-console");
}

#[test]
fn control_is_free_when_the_console_is_gone() {
    let place = Place::new();
    let console = place.console();
    let mut other = place.display("other");
    drop(console);
    other.until("the console is gone", |d| d.control["holder"].is_null());
    assert_eq!(other.control["clients"].as_array().unwrap().len(), 1);
    assert_eq!(other.done(json!({ "do": "control.ask" }))["holds"], true);
}
