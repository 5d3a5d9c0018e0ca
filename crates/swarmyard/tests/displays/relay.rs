//! The command `relay`, as it is used: a process between a server and those who look.

use crate::circles;
use crate::served::{Display, Served, told};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A relay; it ends with this value.
struct Relayed {
    child: Child,
    url: String,
}

impl Relayed {
    fn of(server: &Served) -> Relayed {
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
        command.args(["relay", &server.url, "--port", "0"]).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").unwrap_or_else(|| panic!("{line}")).to_owned();
        Relayed { child, url }
    }

    /// `ctl` through the relay.
    fn ctl(&self, words: &str) -> (i32, String, String) {
        ctl(&self.url, words)
    }
}

fn ctl(url: &str, words: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
    command.args(["ctl", url, "--json"]).args(words.split_whitespace()).stdin(Stdio::null());
    told(&command.output().unwrap())
}

/// Waits until a relay passes on what it is asked: it listens before it has found its server.
fn found_its_server(relay: &str) {
    let start = Instant::now();
    while ctl(relay, "status").0 != 0 {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?}", ctl(relay, "status"));
    }
}

impl Drop for Relayed {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A host; it ends with this value.
struct Lent {
    child: Child,
    address: String,
}

impl Lent {
    fn start(more: &[&str]) -> Lent {
        let mut command = Command::new(env!("CARGO_BIN_EXE_swarmyard"));
        command.args(["host", "desk", "--listen", "127.0.0.1:0", "--json"]).args(more).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let told: Value = serde_json::from_str(&line).unwrap();
        let endpoint = told["endpoints"][0].as_str().unwrap();
        let address = endpoint.rsplit('/').next().unwrap().to_owned();
        Lent { child, address }
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The line that begins so and has that in it.
fn said(lines: &mut impl Iterator<Item = std::io::Result<String>>, what: &str) -> String {
    let found = lines.map_while(Result::ok).find(|line| line.contains(what));
    found.unwrap_or_else(|| panic!("it never said `{what}`"))
}

#[test]
fn a_scenario_says_on_which_host_it_is_looked_at() {
    let world = circles() + "\n[[display]]\nname = \"wall\"\non = \"pictures\"\n";
    let host = Lent::start(&["--can", "pictures", "--allow-displays"]);
    let way = format!("desk={}", host.address);
    let (server, said_by) = Served::start_heard("display-on", &world, &["--port", "0", "--reach", &way]);
    let mut lines = said_by.lines();
    let line = said(&mut lines, "display `wall` on `pictures`: listening on ");
    let relay = line.rsplit(' ').next().unwrap().to_owned();
    said(&mut lines, " MB in, ");
    found_its_server(&relay);
    let mut display = Display::join(&relay, "there", true);
    display.ask(json!({ "do": "step", "n": 5 }));
    let there = server.done("ctl --json status");
    assert_eq!(serde_json::from_str::<Value>(&there).unwrap()["stop"], 5);
    drop(display);
    // It ends with the server.
    drop(server);
    let start = Instant::now();
    let place = relay.trim_start_matches("http://").split('/').next().unwrap();
    while std::net::TcpStream::connect(place).is_ok() {
        assert!(start.elapsed() < Duration::from_secs(60), "the relay is still there");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_host_shows_nothing_that_its_owner_did_not_allow() {
    let world = circles() + "\n[[display]]\non = \"desk\"\n";
    let host = Lent::start(&[]);
    let way = format!("desk={}", host.address);
    let (server, said_by) = Served::start_heard("display-off", &world, &["--port", "0", "--reach", &way]);
    let mut lines = said_by.lines();
    let line = said(&mut lines, "its owner allows no program `relay`");
    assert!(line.starts_with("display `display1` on `desk`: "), "{line}");
    server.done("ctl --json status");
}

#[test]
fn a_run_is_steered_through_a_relay_which_tells_its_bytes_and_ends_when_told() {
    let server = Served::start("relay", &circles());
    let mut relay = Relayed::of(&server);
    found_its_server(&relay.url);
    let (code, _, err) = relay.ctl("step 7");
    assert_eq!(code, 0, "{err}");
    let seen = |text: &str| {
        let status: Value = serde_json::from_str(text).unwrap();
        (status["stop"].clone(), status["hash"].clone())
    };
    let there = seen(&server.done("ctl --json status"));
    assert_eq!(there.0, 7);
    let start = Instant::now();
    while seen(&relay.ctl("status").1) != there {
        assert!(start.elapsed() < Duration::from_secs(60), "{:?} here, {there:?} there", relay.ctl("status"));
    }
    Command::new("kill").args(["-TERM", &relay.child.id().to_string()]).status().unwrap();
    let mut said = String::new();
    relay.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(relay.child.wait().unwrap().code(), Some(0));
    let last = said.lines().last().unwrap();
    assert!(last.contains(" MB in, ") && last.contains(" MB out, "), "{said}");
}
