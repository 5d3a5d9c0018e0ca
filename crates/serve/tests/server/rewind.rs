//! Looking back, and going on from there.

use crate::client::Place;
use crate::run::hashes;
use serde_json::json;

#[test]
fn earlier_moments_have_their_hashes_and_the_run_goes_on_undisturbed() {
    let place = Place::new();
    let mut console = place.console();
    let hashes = hashes(320);
    console.step(300);
    for stop in [0, 299, 7, 8, 9, 150, 149, 42, 300, 1] {
        console.done(json!({ "do": "seek", "stop": stop }));
        assert_eq!(console.hash_at(stop), hashes[stop as usize], "at stop {stop}");
        assert_eq!(console.bodies_at(stop).hash, u64::from_str_radix(&hashes[stop as usize], 16).unwrap());
        assert_eq!(
            (&console.status["newest"], &console.status["looking_back"]),
            (&json!(300), &json!(stop < 300))
        );
    }
    for request in [
        json!({ "do": "start" }),
        json!({ "do": "step" }),
        json!({ "do": "halt", "robot": "/robots/r1", "on": true }),
    ] {
        assert_eq!(console.refused(request), "looking-back");
    }
    let revision = console.status["revision"].as_u64().unwrap();
    assert_eq!(console.refused(json!({ "do": "replace", "text": "", "revision": revision })), "looking-back");
    assert_eq!(console.refused(json!({ "do": "seek", "stop": 301 })), "no-stop");
    console.done(json!({ "do": "live" }));
    assert_eq!(console.hash_at(300), hashes[300]);
    assert_eq!(console.step(20), hashes[320]);
}

#[test]
fn live_goes_on_running_if_the_run_was_running() {
    let place = Place::new();
    let mut console = place.console();
    console.done(json!({ "do": "start" }));
    console.until("some steps", |d| d.status["stop"].as_u64().unwrap() >= 3);
    console.done(json!({ "do": "seek", "stop": 1 }));
    console.until("the past", |d| d.status["looking_back"] == true && d.status["state"] == "paused");
    console.done(json!({ "do": "live" }));
    console.until_state("running");
}

#[test]
fn a_branch_goes_as_the_run_went_until_something_differs() {
    let place = Place::new();
    let mut console = place.console();
    let hashes = hashes(100);
    console.step(100);
    assert_eq!(console.refused(json!({ "do": "branch" })), "not-looking-back");
    console.done(json!({ "do": "seek", "stop": 40 }));
    assert_eq!(console.done(json!({ "do": "branch" }))["stop"], 40);
    console.until("a new run", |d| d.status["newest"] == 40 && d.status["looking_back"] == false);
    assert_eq!(console.status["run"], 2);
    assert_eq!(console.step(60), hashes[100]);
    console.done(json!({ "do": "seek", "stop": 40 }));
    console.done(json!({ "do": "branch" }));
    console.done(json!({ "do": "halt", "robot": "/robots/r2", "on": true }));
    assert_ne!(console.step(60), hashes[100]);
}

#[test]
fn the_world_before_an_edit_is_shown_as_it_was_and_comes_back_with_a_branch() {
    let place = Place::new();
    let mut console = place.console();
    console.step(10);
    let revision = console.status["revision"].as_u64().unwrap();
    let change = json!([{ "op": "remove", "entry": "robot[2]" }]);
    console.done(json!({ "do": "edit", "changes": change, "revision": revision }));
    console.step(10);
    assert_eq!(console.bodies_at(20).rows.len(), 2);
    console.done(json!({ "do": "seek", "stop": 5 }));
    assert_eq!(console.bodies_at(5).rows.len(), 3);
    console.done(json!({ "do": "live" }));
    assert_eq!(console.bodies_at(20).rows.len(), 2);
    console.done(json!({ "do": "seek", "stop": 5 }));
    console.done(json!({ "do": "branch" }));
    console.until("the old text", |d| d.world["text"] == crate::client::WORLD);
    assert_eq!(console.step(1), hashes(6)[6]);
}
