//! Plain HTTP: the page, the status, and who is not let in.

use crate::client::{Display, Place, WORLD, options};
use serde_json::{Value, json};
use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use swarmyard_serve::{Options, Server};

/// One request; answers the status and the body. A header given here takes the place of the usual one.
pub(crate) fn request(
    server: &Server,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> (u16, Vec<u8>) {
    request_at(server.address(), method, path, headers, body)
}

/// The same at an address.
pub(crate) fn request_at(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> (u16, Vec<u8>) {
    let whole = exchange(address, method, path, headers, body);
    let split = whole.windows(4).position(|w| w == b"\r\n\r\n").expect("there is a head") + 4;
    let head = String::from_utf8_lossy(&whole[..split]).into_owned();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), whole[split..].to_vec())
}

fn exchange(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address).unwrap();
    let mut head =
        format!("{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
    if !headers.iter().any(|(name, _)| *name == "Host") {
        head += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(b"\r\n").unwrap();
    // A server that refuses need not read all of it.
    let _ = stream.write_all(body);
    let mut whole = Vec::new();
    let _ = stream.read_to_end(&mut whole);
    whole
}

fn get(server: &Server, path: &str, headers: &[(&str, &str)]) -> (u16, String) {
    let (status, body) = request(server, "GET", path, headers, &[]);
    (status, String::from_utf8_lossy(&body).into_owned())
}

#[test]
fn status_scenario_and_version_are_there_for_scripts() {
    let place = Place::new();
    let status: Value = serde_json::from_str(&get(place.server(), "/v1/status", &[]).1).unwrap();
    assert_eq!(
        (&status["is"], &status["state"], &status["stop"]),
        (&json!("status"), &json!("paused"), &json!(0))
    );
    assert_eq!(get(place.server(), "/v1/scenario", &[]), (200, WORLD.to_owned()));
    let version: Value = serde_json::from_str(&get(place.server(), "/v1/version", &[]).1).unwrap();
    assert_eq!(version["version"], 1);
    assert_eq!(get(place.server(), "/v1/nothing", &[]).0, 404);
}

#[test]
fn a_recording_says_how_long_it_is_although_it_comes_in_pieces() {
    let place = Place::new();
    place.console().step(2000);
    let whole = exchange(place.server().address(), "GET", "/v1/recording.mcap", &[], &[]);
    let split = whole.windows(4).position(|w| w == b"\r\n\r\n").expect("there is a head") + 4;
    let head = String::from_utf8_lossy(&whole[..split]).to_lowercase();
    assert!(whole.len() - split > 1 << 16, "{} bytes are one piece", whole.len() - split);
    assert!(head.contains(&format!("content-length: {}\r\n", whole.len() - split)), "{head}");
}

#[test]
fn the_page_is_there_under_a_strict_policy() {
    let place = Place::new();
    let whole =
        String::from_utf8_lossy(&exchange(place.server().address(), "GET", "/", &[], &[])).to_lowercase();
    assert!(whole.starts_with("http/1.1 200") && whole.contains("<!doctype html>"), "{whole}");
    assert!(whole.contains("content-security-policy: default-src 'self'"), "{whole}");
    assert!(whole.contains("x-content-type-options: nosniff"));
    for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "/..%2fCargo.toml", "//etc/passwd", "/nothing"] {
        assert_eq!(get(place.server(), path, &[]).0, 404, "{path}");
    }
}

#[test]
fn a_page_can_be_taken_from_a_folder() {
    let place = Place::new();
    std::fs::create_dir_all(place.folder.0.join("web")).unwrap();
    place.folder.write("web/index.html", "<!doctype html>mine");
    place.folder.write("secret.txt", "secret");
    let web = Some(place.folder.0.join("web"));
    let server =
        Server::start(Options { web, ..options(&place.folder.0.join("worlds/world.toml")) }).unwrap();
    assert_eq!(get(&server, "/", &[]), (200, "<!doctype html>mine".to_owned()));
    for path in ["/../secret.txt", "/%2e%2e/secret.txt", "/.hidden", "/x"] {
        assert_eq!(get(&server, path, &[]).0, 404, "{path}");
    }
    server.stop();
}

#[test]
fn foreign_hosts_and_origins_are_refused() {
    let place = Place::new();
    let port = place.server().address().port();
    let own = format!("http://localhost:{port}");
    let host = format!("localhost:{port}");
    assert_eq!(get(place.server(), "/v1/status", &[("Host", &host), ("Origin", &own)]).0, 200);
    for headers in [
        vec![("Host", "evil.example")],
        vec![("Host", "localhost:1")],
        vec![("Origin", "http://evil.example")],
        vec![("Origin", "null")],
    ] {
        for path in ["/", "/v1/status", "/v1/link", "/v1/scenario"] {
            assert_eq!(get(place.server(), path, &headers).0, 403, "{headers:?} {path}");
        }
    }
}

#[test]
fn beyond_loopback_a_token_is_needed() {
    let place = Place::new();
    let file = place.folder.0.join("worlds/world.toml");
    let listen = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
    let server = Server::start(Options { listen, ..options(&file) }).unwrap();
    let token = server.url().split_once("token=").expect("one is made up").1.to_owned();
    let reach = format!("127.0.0.1:{}", server.address().port());
    let host = [("Host", reach.as_str())];
    assert_eq!(get(&server, "/v1/status", &host).0, 401);
    assert_eq!(get(&server, "/v1/status?token=wrong", &host).0, 401);
    assert_eq!(get(&server, &format!("/v1/status?token={token}"), &host).0, 200);
    let bearer = format!("Bearer {token}");
    assert_eq!(get(&server, "/v1/status", &[host[0], ("Authorization", &bearer)]).0, 200);
    let mut socket = crate::client::connect(&server);
    let hello = json!({ "do": "hello", "version": 1, "token": "wrong" });
    socket.send(tungstenite::Message::text(hello.to_string())).unwrap();
    assert!(crate::client::goodbye(&mut socket).contains("token"));
    Display::join(&server, &json!({ "do": "hello", "version": 1, "token": token }));
    server.stop();
}
