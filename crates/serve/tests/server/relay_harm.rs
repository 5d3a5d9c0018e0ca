//! What may go wrong around a relay: its server goes, speaks nonsense, or a display does not read.

use crate::cable::Cable;
use crate::client::{Place, connect, connect_to, goodbye, options};
use crate::relay::{console, join, relay_of, until};
use serde_json::json;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc;
use std::time::Duration;
use swarmyard_serve::{Relay, RelayOptions, Server};
use tungstenite::{Message, WebSocket};

#[test]
fn a_relay_finds_its_server_again() {
    let mut place = Place::new();
    let cable = Cable::to(place.server().address());
    let relay = relay_of(cable.address);
    let mut a = console(&relay, "a");
    a.step(7);
    place.server.take().unwrap().stop();
    assert!(goodbye(&mut a.socket).contains("lost"));
    until(&relay, "the loss", |relay| !relay.traffic().is_connected);
    // Meanwhile nobody is let in, with a reason, and may try again.
    let mut socket = connect_to(relay.address());
    socket.send(Message::text(r#"{"do": "hello", "version": 1}"#)).unwrap();
    assert!(goodbye(&mut socket).contains("no server"));
    match socket.read().unwrap() {
        Message::Close(Some(close)) => assert_eq!(u16::from(close.code), 1001),
        other => panic!("{other:?}"),
    }
    let server = Server::start(options(&place.folder.0.join("worlds/world.toml"))).unwrap();
    cable.plug_into(server.address());
    until(&relay, "the server", |relay| relay.traffic().is_connected);
    assert_eq!(relay.traffic().connections, 2);
    let mut b = console(&relay, "b");
    assert_eq!(b.status["stop"], 0);
    assert_ne!(a.id, b.id, "numbers are not used again");
    assert_eq!(b.step(3), crate::run::hashes(3)[3]);
    server.stop();
    relay.stop();
}

#[test]
fn a_relay_may_be_there_before_its_server() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let cable = Cable::to(free);
    let options = RelayOptions { server: cable.address.to_string(), port: 0, ..RelayOptions::default() };
    let relay = Relay::start(options).unwrap();
    until(&relay, "a reason", |relay| relay.traffic().why.is_some());
    let place = Place::new();
    cable.plug_into(place.server().address());
    until(&relay, "the server", |relay| relay.traffic().is_connected);
    assert_eq!(console(&relay, "a").step(2), crate::run::hashes(2)[2]);
    relay.stop();
}

#[test]
fn a_display_that_does_not_read_holds_nobody() {
    let place = Place::new();
    let relay = relay_of(place.server().address());
    let mut a = console(&relay, "a");
    let mut stuck = join(&relay, "stuck");
    let watch = json!({ "do": "watch", "rate": 60, "marks": "all", "comms": true,
        "probes": [{ "path": "/robots/r1", "channel": "x" }] });
    stuck.done(watch);
    // Far more than a socket holds, until it takes no more.
    stuck.socket.get_mut().set_write_timeout(Some(Duration::from_millis(300))).unwrap();
    let request = format!(r#"{{"id": 1, "do": "sheets"{}}}"#, " ".repeat(8000));
    let asked = (0..20_000).take_while(|_| stuck.socket.send(Message::text(request.clone())).is_ok());
    let asked = asked.count();
    assert!(asked < 20_000, "it never filled");
    for hash in &crate::run::hashes(60)[1..] {
        assert_eq!(a.step(1), *hash);
    }
    assert!(join(&relay, "late").status["stop"].as_u64() >= Some(60));
    drop(stuck);
    relay.stop();
}

/// What a server says first to a display.
fn first_words(server: &Server) -> Vec<Message> {
    let mut socket = connect(server);
    socket.send(Message::text(r#"{"do": "hello", "version": 1}"#)).unwrap();
    let mut words = Vec::new();
    while words.len() < 6 {
        words.extend(Some(socket.read().unwrap()).filter(Message::is_text));
    }
    // The answer to what a relay asks first.
    words.push(Message::text(r#"{"id": 1, "is": "reply", "ok": {}}"#));
    words
}

/// Something that looks like a server: says to each connection what it is given. Answers why each was ended.
fn liar(speeches: Vec<Vec<Message>>) -> (SocketAddr, mpsc::Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for speech in speeches {
            let (stream, _) = listener.accept().unwrap();
            let mut socket: WebSocket<TcpStream> = tungstenite::accept(stream).unwrap();
            for message in speech {
                socket.send(message).unwrap();
            }
            let why = loop {
                match socket.read() {
                    Ok(Message::Close(Some(close))) => break close.reason.to_string(),
                    Ok(_) => {}
                    Err(e) => break e.to_string(),
                }
            };
            let _ = tell.send(why);
        }
        // Nobody is let in any more.
    });
    (address, told)
}

#[test]
fn nonsense_from_the_server_ends_the_connection_with_a_word_and_nothing_else() {
    let place = Place::new();
    let good = first_words(place.server());
    let then = |more: Message| [&good[..], &[more]].concat();
    let frame = then(Message::binary(vec![2, 1, 7, 1, 1, 1]));
    let unasked = then(Message::text(r#"{"is": "reply", "id": 99, "ok": {}}"#));
    let (address, told) = liar(vec![
        vec![Message::text("{")],
        vec![Message::text(r#"{"is": "welcome", "version": 2, "you": 1}"#)],
        then(Message::text(r#"{"is": "control", "holder": {"id": -1}, "asking": [], "clients": 7}"#)),
        frame,
        unasked,
        then(Message::text("[".repeat(100_000))),
    ]);
    let options = RelayOptions { server: address.to_string(), port: 0, ..RelayOptions::default() };
    let relay = Relay::start(options).unwrap();
    let mut reasons = Vec::new();
    for expected in ["no JSON", "version 2", "wrongly who", "wrong bytes", "not asked", "no JSON"] {
        let why = told.recv_timeout(Duration::from_secs(60)).unwrap();
        assert!(why.starts_with("the server"), "{why}");
        until(&relay, expected, |relay| relay.traffic().why.is_some_and(|why| why.contains(expected)));
        reasons.push(why);
    }
    assert_eq!(relay.traffic().connections, 4, "two said nothing that can be shown; {reasons:?}");
    // It is there all the same.
    let (status, page) = crate::http::request_at(relay.address(), "GET", "/", &[], &[]);
    assert!(status == 200 && page.starts_with(b"<!doctype html>"));
    relay.stop();
}

#[test]
fn what_is_no_server_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = std::io::Write::write_all(&mut stream, b"220 mail.example ESMTP\r\n");
        }
    });
    let options = RelayOptions { server: address.to_string(), port: 0, ..RelayOptions::default() };
    let relay = Relay::start(options).unwrap();
    until(&relay, "a reason", |relay| {
        relay.traffic().why.is_some_and(|why| why.contains("no server of ours"))
    });
    relay.stop();
}
