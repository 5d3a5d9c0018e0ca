//! Robots that are waited for.

use crate::client::{Place, WORLD};
use serde_json::json;

/// Robots whose commands come from outside.
fn steered() -> String {
    WORLD.replace("class = \"wander\"", "class = \"external\"\nwait = true")
}

#[test]
fn a_run_that_waits_says_for_whom_and_goes_on_when_it_gets_what_it_needs() {
    let place = Place::with(&steered());
    let mut console = place.console();
    console.done(json!({ "do": "start" }));
    console.until_state("waiting");
    assert_eq!(console.status["waiting"].as_array().unwrap().len(), 3, "{}", console.status);
    assert_eq!(console.status["stop"], 0);
    for robot in ["/robots/r1", "/robots/r2"] {
        console.done(json!({ "do": "skip", "robot": robot }));
    }
    console.until("one left", |d| d.status["waiting"].as_array().is_some_and(|w| w.len() == 1));
    assert_eq!(console.status["waiting"][0]["robot"], "/robots/r3");
    console.done(json!({ "do": "skip", "robot": "/robots/r3" }));
    console.until("a step", |d| d.status["stop"] == 1);
    console.done(json!({ "do": "pause" }));
    console.until_state("paused");
}

#[test]
fn a_step_that_waits_is_answered_all_the_same() {
    let place = Place::with(&steered());
    let mut console = place.console();
    let answer = console.done(json!({ "do": "step", "n": 2 }));
    assert_eq!((&answer["stop"], &answer["left"]), (&json!(0), &json!(2)));
    console.done(json!({ "do": "pause" }));
    console.until_state("paused");
    assert_eq!(console.status["stop"], 0);
}
