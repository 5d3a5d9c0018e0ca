//! The server of a chain's scene, over real sockets: what pages see, and what they may say.

use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use swarmyard_modules::{Event, Line, Scenery, What};
use swarmyard_serve::ModuleServer;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

const FOREVER: Duration = Duration::from_secs(60);

fn server(token: Option<&str>) -> ModuleServer {
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    ModuleServer::start(3, anywhere, token.map(str::to_owned), None).unwrap()
}

fn open(server: &ModuleServer) -> WebSocket<TcpStream> {
    let stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(FOREVER)).unwrap();
    let request = format!("ws://{}/v1/modules", server.address()).into_client_request().unwrap();
    tungstenite::client(request, stream).unwrap().0
}

fn next(socket: &mut WebSocket<TcpStream>, wanted: &str) -> Value {
    loop {
        if let Message::Text(text) = socket.read().unwrap() {
            let value: Value = serde_json::from_str(&text).unwrap();
            if value["is"] == wanted {
                return value;
            }
        }
    }
}

fn shown(lines: &[&str]) -> Scenery {
    let mut scenery = Scenery::default();
    for line in lines {
        scenery.show(&Line::parse(line.as_bytes()).unwrap()).unwrap();
    }
    scenery
}

/// The status line of a plain request.
fn get(server: &ModuleServer, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(server.address()).unwrap();
    stream.set_read_timeout(Some(FOREVER)).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text.lines().next().unwrap_or("").to_owned()
}

#[test]
fn a_page_sees_the_newest_scene_and_what_happened_before_it_came() {
    let server = server(None);
    let event = Event { number: 2, name: "smooth".into(), at: swarmyard_base::Time(0), what: What::Started };
    server.tell(&event);
    server.show(&shown(&["2 3 10 5 0 0 0 0", "5 3 12 7 1 2 3", "0 3 13 7"]));
    let mut page = open(&server);
    let events = next(&mut page, "events");
    assert_eq!(events["lines"][0]["kind"], "started");
    let scene = next(&mut page, "scenery");
    assert_eq!(scene["arm"]["pose"]["base_m"], 5.0);
    assert_eq!(scene["eye_now"], json!([1.0, 2.0, 3.0]));
    assert_eq!((&scene["display"], &scene["attached"]), (&json!(3), &json!(7)));
    server.show(&shown(&["2 3 10 6 0 0 0 0"]));
    assert_eq!(next(&mut page, "scenery")["arm"]["pose"]["base_m"], 6.0);
}

#[test]
fn commands_of_a_page_reach_whoever_drives_the_chain_and_the_answer_comes_back() {
    let server = server(None);
    let mut page = open(&server);
    page.send(Message::text(json!({ "id": 7, "line": "0 2 65532" }).to_string())).unwrap();
    let asked = server.wait_command(FOREVER).unwrap();
    assert_eq!(asked.line, "0 2 65532");
    asked.answer(Err("the chain has ended".into()));
    assert_eq!(
        next(&mut page, "answer"),
        json!({ "is": "answer", "id": 7, "ok": false, "why": "the chain has ended" })
    );
    page.send(Message::text(json!({ "id": 8, "line": "0 0 65534" }).to_string())).unwrap();
    server.wait_command(FOREVER).unwrap().answer(Ok(()));
    assert_eq!(next(&mut page, "answer")["ok"], true);
}

#[test]
fn what_is_no_command_is_refused_by_name_and_goes_nowhere() {
    let server = server(None);
    let mut page = open(&server);
    let bad = [
        ("\"x\"", "has a `line`"),
        ("not json", "has a `line`"),
        (r#"{"line":"1 2 3"}"#, "sender 0"),
        (r#"{"line":"0 2 x"}"#, "column 5"),
    ];
    for (text, why) in bad {
        page.send(Message::text(text)).unwrap();
        let answer = next(&mut page, "answer");
        assert_eq!(answer["ok"], false);
        assert!(answer["why"].as_str().unwrap().contains(why), "{answer}");
    }
    assert!(server.next_command().is_none());
}

#[test]
fn strangers_are_refused_and_too_long_a_message_ends_the_connection() {
    let locked = server(Some("a-long-secret"));
    let host = locked.address().to_string();
    assert!(get(&locked, "/v1/modules/scenery", &host).contains("401"));
    assert!(get(&locked, "/v1/modules/scenery?token=wrong-secret", &host).contains("401"));
    assert!(get(&locked, "/v1/modules/scenery?token=a-long-secret", &host).contains("200"));
    assert!(get(&locked, "/v1/modules/scenery?token=a-long-secret", "evil.example").contains("403"));
    assert!(locked.url().ends_with("/?token=a-long-secret#/modules"));

    let server = server(None);
    let mut page = open(&server);
    let _ = page.send(Message::text(format!("{{\"line\":\"{}\"}}", "9".repeat(20_000))));
    let ended = (0..100).any(|_| page.read().is_err());
    assert!(ended, "the connection goes on");
    assert!(server.next_command().is_none());
}
