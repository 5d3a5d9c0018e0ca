//! Recordings: made while the run goes on, opened, looked through.

use crate::client::Place;
use crate::http::request;
use serde_json::json;

/// Puts the recording of the run so far into the project.
pub(crate) fn download(place: &Place, name: &str) -> Vec<u8> {
    let (status, bytes) = request(place.server(), "GET", "/v1/recording.mcap", &[], &[]);
    assert_eq!(status, 200);
    std::fs::write(place.folder.0.join(name), &bytes).unwrap();
    bytes
}

#[test]
fn a_recording_is_shown_verified_and_takes_no_input() {
    let place = Place::new();
    let mut console = place.console();
    console.step(50);
    console.done(json!({ "do": "halt", "robot": "/robots/r2", "on": true }));
    let middle = console.step(25);
    let hash = console.step(25);
    download(&place, "run.mcap");
    console.done(json!({ "do": "open", "path": "run.mcap" }));
    console.until("the recording", |d| d.status["mode"] == "replay" && d.status["stop"] == 0);
    assert_eq!((&console.status["newest"], &console.world["entries"]), (&json!(100), &json!([])));
    // A jump ahead, into what has not been executed yet; then back.
    console.done(json!({ "do": "seek", "stop": 100 }));
    assert_eq!(console.hash_at(100), hash);
    assert!(console.status["verified"].as_u64().unwrap() >= 20, "{}", console.status);
    console.done(json!({ "do": "seek", "stop": 75 }));
    assert_eq!(console.hash_at(75), middle);
    let revision = console.status["revision"].as_u64().unwrap();
    for request in [
        json!({ "do": "halt", "robot": "/robots/r1", "on": true }),
        json!({ "do": "quantum", "value": "10ms" }),
        json!({ "do": "branch" }),
        json!({ "do": "edit", "changes": [], "revision": revision }),
        json!({ "do": "undo" }),
    ] {
        assert_eq!(console.refused(request), "replay");
    }
    console.done(json!({ "do": "reset" }));
    console.until("its start", |d| d.status["stop"] == 0);
    console.done(json!({ "do": "speed", "factor": null }));
    console.done(json!({ "do": "start" }));
    console.until_state("ended");
    assert_eq!(console.hash_at(100), hash);
    console.done(json!({ "do": "open", "path": "worlds/world.toml" }));
    console.until("a live run", |d| d.status["mode"] == "live" && d.status["stop"] == 0);
}

#[test]
fn a_recording_is_sent_by_the_console_only() {
    let place = Place::new();
    let mut console = place.console();
    let other = place.display("other");
    console.step(20);
    let bytes = download(&place, "run.mcap");
    let send = |key: &str, bytes: &[u8]| {
        request(place.server(), "POST", &format!("/v1/recording?key={key}"), &[], bytes).0
    };
    assert_eq!(send(&other.key, &bytes), 403);
    assert_eq!(send("", &bytes), 403);
    assert_eq!(send(&console.key, b"nonsense"), 400);
    assert_eq!(send(&console.key, &bytes), 200);
    console.until("the recording", |d| d.status["mode"] == "replay");
}

#[test]
fn what_is_no_recording_is_not_opened() {
    let place = Place::new();
    place.folder.write("bad.mcap", "nonsense");
    let mut console = place.console();
    let hash = console.step(2);
    assert_eq!(console.refused(json!({ "do": "open", "path": "bad.mcap" })), "not-a-recording");
    assert_eq!(console.hash_at(2), hash);
}
