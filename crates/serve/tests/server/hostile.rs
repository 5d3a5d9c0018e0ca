//! Messages that nobody should send: each is refused with a reason, and the run goes on as if nothing had been.

use crate::client::{Place, connect, goodbye};
use crate::run::hashes;
use serde_json::json;
use tungstenite::Message;

#[test]
fn a_connection_begins_with_a_good_hello() {
    let place = Place::new();
    for first in [
        r#"{"do": "start"}"#,
        r#"{"do": "hello", "version": 2}"#,
        r#"{"do": "hello"}"#,
        r#"{"do": "hello", "version": 1, "colour": "red"}"#,
        "hello",
        "",
        "[1]",
        "\u{0}",
    ] {
        let mut socket = connect(place.server());
        socket.send(Message::text(first)).unwrap();
        assert!(!goodbye(&mut socket).is_empty(), "{first}");
    }
    let mut socket = connect(place.server());
    socket.send(Message::binary(vec![1, 2, 3])).unwrap();
    assert!(goodbye(&mut socket).contains("JSON"));
    assert_eq!(place.console().step(3), hashes(3)[3]);
}

#[test]
fn a_display_that_says_nothing_is_sent_away() {
    let place = Place::new();
    let mut socket = connect(place.server());
    assert!(goodbye(&mut socket).contains("hello"));
}

#[test]
fn malformed_requests_are_refused_and_the_run_is_untouched() {
    let place = Place::new();
    let mut console = place.console();
    console.step(5);
    for wrong in [
        "nonsense",
        "{}",
        "[]",
        "null",
        r#"{"do": 7}"#,
        r#"{"do": "step", "n": 0}"#,
        r#"{"do": "step", "n": 1e9}"#,
        r#"{"do": "step", "n": "1"}"#,
        r#"{"do": "seek"}"#,
        r#"{"do": "speed", "factor": -1}"#,
        r#"{"do": "speed", "factor": 1e999}"#,
        r#"{"do": "start", "really": true}"#,
        r#"{"do": "poke", "robot": "/robots/r1", "address": -1, "bytes": 1, "value": 0}"#,
        r#"{"do": "watch", "rate": 0}"#,
        r#"{"do": "watch", "marks": "some"}"#,
        r#"{"do": "hello", "version": 1}"#,
    ] {
        console.socket.send(Message::text(wrong)).unwrap();
        loop {
            let Some(message) = console.next() else { continue };
            if message["is"] == "reply" {
                assert!(
                    message["id"].is_null() && !message["error"]["message"].is_null(),
                    "{wrong}: {message}"
                );
                break;
            }
        }
    }
    assert_eq!(console.step(5), hashes(10)[10]);
}

#[test]
fn a_message_that_is_too_long_is_refused() {
    let place = Place::new();
    let mut console = place.console();
    let long = json!({ "do": "open.text", "name": "x", "text": " ".repeat(1 << 20) });
    assert_eq!(console.refused(long), "malformed");
    assert_eq!(console.step(2), hashes(2)[2]);
    // One that is absurd costs the connection, and nothing else.
    let absurd = Message::text(" ".repeat(8 << 20));
    if console.socket.send(absurd).is_ok() {
        let gone = (0..1000).any(|_| console.socket.read().is_err());
        assert!(gone, "the connection is closed");
    }
    let mut next = place.display("next");
    next.until("free control", |d| d.control["holder"].is_null() || d.control["holder"]["id"] == d.id);
    next.done(json!({ "do": "control.ask" }));
    assert_eq!(next.step(1), hashes(3)[3]);
}

#[test]
fn bytes_instead_of_requests_cost_the_connection_only() {
    let place = Place::new();
    let mut console = place.console();
    console.step(1);
    console.socket.send(Message::binary(vec![0; 100])).unwrap();
    assert!(!goodbye(&mut console.socket).is_empty());
    let mut next = place.display("next");
    next.done(json!({ "do": "control.ask" }));
    assert_eq!(next.step(1), hashes(2)[2]);
}
