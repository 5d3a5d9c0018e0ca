//! A relay over real sockets: the same as the server itself shows, for the price of one display.

use crate::cable::{Cable, Message};
use crate::client::{Display, Place, WORLD, connect_to};
use crate::http::request_at;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use swarmyard_serve::frame::{Row, Sort};
use swarmyard_serve::{Relay, RelayOptions};

/// A relay that is connected.
pub(crate) fn relay_of(server: SocketAddr) -> Relay {
    let options = RelayOptions { server: server.to_string(), port: 0, ..RelayOptions::default() };
    let relay = Relay::start(options).unwrap();
    until(&relay, "a connection", |relay| relay.traffic().is_connected);
    relay
}

pub(crate) fn until(relay: &Relay, what: &str, is_true: impl Fn(&Relay) -> bool) {
    let start = Instant::now();
    while !is_true(relay) {
        assert!(start.elapsed() < Duration::from_secs(60), "it never came: {what}; {:?}", relay.traffic());
        std::thread::sleep(Duration::from_millis(10));
    }
}

pub(crate) fn join(relay: &Relay, name: &str) -> Display {
    Display::join_at(relay.address(), &json!({ "do": "hello", "version": 1, "name": name, "console": true }))
}

/// A display that has got control.
pub(crate) fn console(relay: &Relay, name: &str) -> Display {
    let display = join(relay, name);
    assert_eq!(display.control["holder"]["id"], display.id);
    display
}

/// A hundred wanderers.
fn crowd() -> String {
    let world = WORLD.split("[[robot]]").next().unwrap().replace("[-3, -3]", "[-9, -9]");
    let mut world = world.replace("[3, 3]", "[9, 9]");
    for k in 0..100 {
        let (x, y) = (f64::from(k % 10) * 1.5 - 6.5, f64::from(k / 10) * 1.5 - 6.5);
        world += &format!("[[robot]]\nname = \"w{k}\"\ntype = \"scout\"\nat = [{x}, {y}, {}]\n", k % 6);
    }
    world
}

/// What was seen at a stop.
type Seen = (u64, String, u64, Vec<Row>);

/// Messages from the server and their bytes: for everything before the first step, and for the steps, by sort and stop; the
/// number of the last picture that the server made; bytes to each display.
struct Costs {
    first: u64,
    steps: BTreeMap<(&'static str, u64), Vec<u64>>,
    pictures: u64,
    to_each: u64,
}

impl Costs {
    fn of_steps(&self) -> u64 {
        self.steps.values().flatten().sum()
    }
}

/// Shows some steps to displays on a relay and to one at the server: all see the same.
fn show(displays: usize, steps: u64) -> Costs {
    let place = Place::with(&crowd());
    let cable = Cable::to(place.server().address());
    let relay = relay_of(cable.address);
    let mut all = vec![console(&relay, "console")];
    all.extend((1..displays).map(|k| join(&relay, &format!("display {k}"))));
    all.push(Display::join(place.server(), &json!({ "do": "hello", "version": 1, "name": "direct" })));
    for display in all.iter_mut().rev() {
        display.done(json!({ "do": "watch", "rate": 60, "marks": "all" }));
    }
    for display in &mut all {
        display.until("marks", |d| d.kept.marks.is_some());
    }
    for stop in 1..=steps {
        all[0].done(json!({ "do": "step" }));
        let seen: Vec<Seen> = all.iter_mut().map(|display| display.seen_at(stop)).collect();
        let direct = seen.last().unwrap();
        for (k, seen) in seen.iter().enumerate() {
            assert_eq!(seen, direct, "display {k} at stop {stop}");
        }
    }
    let (bytes, messages) = (cable.settled(), cable.messages());
    let traffic = relay.traffic();
    assert_eq!(traffic.displays.len(), displays);
    // What the relay says that it received is what went through the cable, but for the first greeting.
    assert!(bytes.abs_diff(traffic.received) < 400, "{bytes} bytes came; {traffic:?}");
    drop(all);
    relay.stop();
    let mut costs = Costs {
        first: 0,
        steps: BTreeMap::new(),
        pictures: messages.iter().map(|m| m.serial).max().unwrap(),
        to_each: traffic.displays.iter().map(|d| d.2).min().unwrap(),
    };
    // What is about no step was said before the first, or because time went by.
    for Message { sort, stop, bytes, .. } in messages {
        match (sort, stop) {
            ("ping", _) => {}
            (_, 0) => costs.first += bytes,
            _ => costs.steps.entry((sort, stop)).or_default().push(bytes),
        }
    }
    costs
}

impl Display {
    /// What it is shown at a stop: the step, the hash in words and in the frame, the bodies.
    fn seen_at(&mut self, stop: u64) -> Seen {
        let words = self.hash_at(stop);
        let bodies = self.bodies_at(stop);
        (stop, words, bodies.hash, bodies.rows.clone())
    }
}

#[test]
fn twenty_displays_cost_the_server_the_very_bytes_of_one_and_all_see_the_same() {
    const STEPS: u64 = 60;
    let (one, twenty) = (show(1, STEPS), show(20, STEPS));
    for (n, costs) in [(1, &one), (20, &twenty)] {
        println!("{n} displays: {} bytes from the server to begin with,", costs.first);
        println!("    {} for {STEPS} steps; {} to each display", costs.of_steps(), costs.to_each);
    }
    // Every step is told once, however slow the machine is, …
    for sort in ["status", "reply", "bodies", "marks"] {
        let told = |stop| one.steps.get(&(sort, stop)).map(Vec::len);
        assert!((1..=STEPS).all(|stop| told(stop) == Some(1)), "{sort}: {:?}", one.steps);
    }
    // … and in the same bytes, whoever looks.
    assert_eq!(one.steps, twenty.steps);
    // So is what there is to begin with, but for the few bytes of pictures in which nothing has changed: of those that are
    // made within a thirtieth of a second only the last is sent.
    assert_eq!(one.pictures, twenty.pictures);
    assert!(one.first.abs_diff(twenty.first) * 50 <= one.first, "{} and {}", one.first, twenty.first);
    assert!(twenty.to_each > one.of_steps(), "{} bytes to a display", twenty.to_each);
}

#[test]
fn a_display_that_comes_late_is_told_everything_for_a_few_bytes() {
    let place = Place::with(&crowd());
    let cable = Cable::to(place.server().address());
    let relay = relay_of(cable.address);
    let mut first = console(&relay, "first");
    first.done(json!({ "do": "step", "n": 5 }));
    let hash = first.seen_at(5);
    let before = cable.settled();
    let mut late = join(&relay, "late");
    assert_eq!(late.seen_at(5), hash);
    assert_eq!((&late.world, &late.lines), (&first.world, &first.lines));
    first.until("it is there", |d| d.control["clients"].as_array().unwrap().len() == 2);
    let more = cable.settled() - before;
    assert!(more < 200, "{more} bytes came for a display that is shown what is known");
    // The sheets are long, and the same for all.
    let sheets = first.done(json!({ "do": "sheets" }));
    let before = cable.settled();
    assert_eq!(late.done(json!({ "do": "sheets" })), sheets);
    assert!(cable.bytes() - before < 200, "the sheets came twice");
    relay.stop();
}

#[test]
fn control_goes_round_between_displays_here_and_there() {
    let place = Place::new();
    let relay = relay_of(place.server().address());
    let (mut a, mut b) = (console(&relay, "a"), join(&relay, "b"));
    let mut c = place.display("c");
    assert_eq!(c.control["holder"]["name"], "relay");
    for other in [&mut b, &mut c] {
        assert_eq!(other.refused(json!({ "do": "start" })), "not-console");
    }
    // From one here to the other, …
    assert_eq!(b.done(json!({ "do": "control.ask" }))["holds"], false);
    a.until("somebody asks", |d| d.control["asking"][0]["name"] == "b");
    a.done(json!({ "do": "control.give", "to": b.id }));
    let id = b.id;
    b.until("control", |d| d.control["holder"]["id"] == id);
    b.step(1);
    assert_eq!(a.refused(json!({ "do": "step" })), "not-console");
    // … to one at the server, …
    assert_eq!(c.done(json!({ "do": "control.ask" }))["holds"], false);
    b.until("somebody asks", |d| d.control["asking"][0]["name"] == "c");
    let there = b.control["asking"][0]["id"].clone();
    b.done(json!({ "do": "control.give", "to": there }));
    c.until("control", |d| d.control["holder"]["name"] == "c");
    c.step(1);
    b.until("it is gone", |d| d.control["holder"]["name"] == "c");
    assert_eq!(b.refused(json!({ "do": "step" })), "not-console");
    // … which refuses, and lets it go, …
    assert_eq!(a.done(json!({ "do": "control.ask" }))["holds"], false);
    c.until("the relay asks", |d| d.control["asking"][0]["name"] == "relay");
    a.until("it asks", |d| d.control["asking"][0]["name"] == "a");
    let asking = c.control["asking"][0]["id"].clone();
    c.done(json!({ "do": "control.deny", "to": asking }));
    a.until("refusal", |d| d.control["asking"] == json!([]));
    c.done(json!({ "do": "control.give", "to": null }));
    a.until("it is free", |d| d.control["holder"].is_null());
    assert_eq!(a.done(json!({ "do": "control.ask" }))["holds"], true);
    a.step(1);
    // … is taken on the same machine, …
    b.done(json!({ "do": "control.take" }));
    b.step(1);
    c.done(json!({ "do": "control.take" }));
    a.until("it is gone", |d| d.control["holder"]["name"] == "c");
    b.done(json!({ "do": "control.take" }));
    c.until("it is gone", |d| d.control["holder"]["name"] == "relay");
    b.step(1);
    // … and is free when its holder goes.
    drop(b);
    c.until("it is free", |d| d.control["holder"].is_null());
    assert_eq!(c.done(json!({ "do": "control.ask" }))["holds"], true);
    c.step(1);
    relay.stop();
}

/// Two values are the same; numbers but for their last digits, which go through one more reader.
fn same(a: &Value, b: &Value) {
    match (a, b) {
        (Value::Array(all), Value::Array(others)) => {
            assert_eq!(all.len(), others.len(), "{a} {b}");
            all.iter().zip(others).for_each(|(a, b)| same(a, b));
        }
        (Value::Object(all), Value::Object(others)) => {
            assert!(all.keys().eq(others.keys()), "{a} {b}");
            all.values().zip(others.values()).for_each(|(a, b)| same(a, b));
        }
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            assert!((a - b).abs() <= 1e-15 * a.abs(), "{a} {b}");
        }
        _ => assert_eq!(a, b),
    }
}

#[test]
fn each_display_gets_what_it_wants_and_no_more() {
    let place = Place::new();
    let relay = relay_of(place.server().address());
    let (mut a, mut b) = (console(&relay, "a"), join(&relay, "b"));
    let mut direct = [place.display("c"), place.display("d")];
    let wishes = |robot: &str, channel: &str| {
        let path = format!("/robots/{robot}");
        json!({ "do": "watch", "rate": 60, "marks": [path], "inspect": [path], "grid": path,
            "probes": [{ "path": path, "channel": channel }] })
    };
    for (here, there, wish) in [(&mut a, 0, wishes("r2", "x")), (&mut b, 1, wishes("r1", "heading"))] {
        here.done(wish.clone());
        direct[there].done(wish);
    }
    for stop in 1..=12 {
        a.done(json!({ "do": "step" }));
        let [c, d] = &mut direct;
        for (here, there) in [(&mut a, c), (&mut b, d)] {
            for display in [&mut *here, &mut *there] {
                display.until("everything", |d| {
                    let marks = d.kept.marks.as_ref().is_some_and(|m| m.head.stop == stop);
                    marks && d.inspect["stop"] == stop && d.rows.len() as u64 == stop
                });
            }
            same(&json!(here.rows), &json!(there.rows));
            same(&here.inspect["robots"], &there.inspect["robots"]);
            let robots = |display: &Display| {
                let marks = display.kept.marks.clone().unwrap();
                marks.robots().map(|r| (r.body, r.labels.to_vec(), r.numbers.to_vec())).collect::<Vec<_>>()
            };
            assert_eq!(robots(here), robots(there), "at stop {stop}");
            assert_eq!(robots(here).len(), 1);
        }
    }
    assert_eq!(a.inspect["robots"].as_array().unwrap().len(), 1);
    a.done(json!({ "do": "start" }));
    for (display, body) in [(&mut a, 1), (&mut b, 0)] {
        display.next_frame(Sort::Grid);
        assert_eq!(display.kept.grid.as_ref().unwrap().body, body, "each has its own map");
    }
    relay.stop();
}

#[test]
fn requests_and_files_pass_through() {
    let place = Place::new();
    let relay = relay_of(place.server().address());
    let (mut a, mut b) = (console(&relay, "a"), join(&relay, "b"));
    assert_eq!(a.done(json!({ "do": "read", "path": "worlds/world.toml" }))["text"], WORLD);
    assert_eq!(a.refused(json!({ "do": "read", "path": "../secret" })), "outside");
    let revision = a.status["revision"].clone();
    a.step(3);
    let change = json!([{ "op": "set", "entry": "robot[0]", "key": "at", "value": "[2, 2, 0]" }]);
    let edit = json!({ "do": "edit", "label": "move", "changes": change, "revision": revision });
    assert_eq!(b.refused(edit.clone()), "not-console");
    let edited = a.done(edit)["revision"].clone();
    for display in [&mut a, &mut b] {
        display.until("the new world", |d| d.world["revision"] == edited);
    }
    let bodies = b.bodies_at(3);
    assert_eq!((bodies.rows[0].x, bodies.rows[0].y), (20_000, 20_000));
    let get = |path: &str| request_at(relay.address(), "GET", path, &[], &[]);
    let status: Value = serde_json::from_slice(&get("/v1/status").1).unwrap();
    assert_eq!(status["stop"], 3);
    let (code, text) = get("/v1/scenario");
    assert_eq!((code, String::from_utf8(text).unwrap()), (200, a.world["text"].as_str().unwrap().to_owned()));
    let (code, recording) = get("/v1/recording.mcap");
    assert!(code == 200 && recording.len() > 1000, "{code}");
    assert!(get("/").1.starts_with(b"<!doctype html>"));
    assert_eq!(get("/v1/nothing").0, 404);
    // A recording is opened by who holds control, under the key it has here.
    let send = |key: &str| {
        let path = format!("/v1/recording?key={key}");
        request_at(relay.address(), "POST", &path, &[], &recording).0
    };
    assert_eq!((send(&b.key), send(&a.key)), (403, 200));
    b.until("the recording", |d| d.status["mode"] == "replay");
    // The lines of the new run are those a display at the server is told.
    let texts = |d: &Display| d.lines.iter().map(|l| l["text"].clone()).collect::<Vec<_>>();
    let start = Instant::now();
    loop {
        let (here, there) = (texts(&join(&relay, "late")), texts(&place.display("there")));
        if here == there {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{here:?} {there:?}");
    }
    let told: Value = serde_json::from_slice(&get("/v1/relay").1).unwrap();
    assert_eq!((&told["connected"], &told["connections"]), (&json!(true), &json!(1)));
    assert!(told["in"].as_u64().unwrap() > 1000 && told["out"].as_u64().unwrap() > 1000, "{told}");
    assert!(told["displays"][0]["out"].as_u64().unwrap() > 1000, "{told}");
    assert_eq!(request_at(place.server().address(), "GET", "/v1/relay", &[], &[]).0, 404);
    relay.stop();
}

#[test]
fn a_relay_may_stand_behind_a_relay() {
    let place = Place::new();
    let near = relay_of(place.server().address());
    let far = relay_of(near.address());
    let (mut a, mut b) = (console(&far, "a"), join(&near, "b"));
    assert_eq!(a.step(4), b.hash_at(4));
    let there = |d: &Display, name: &str| {
        let clients = d.control["clients"].as_array().unwrap().clone();
        clients.iter().find(|c| c["name"] == name).map(|c| c["id"].clone())
    };
    a.until("the other", |d| there(d, "b").is_some());
    let id = there(&a, "b");
    a.done(json!({ "do": "control.give", "to": id }));
    let id = b.id;
    b.until("control", |d| d.control["holder"]["id"] == id);
    assert_eq!(b.step(1), a.hash_at(5));
    far.stop();
    near.stop();
}

#[test]
fn strangers_are_refused_as_at_the_server() {
    let place = Place::new();
    let token = Some("a-secret-word".to_owned());
    let server = place.server().address().to_string();
    let relay = Relay::start(RelayOptions { server, port: 0, token, ..RelayOptions::default() }).unwrap();
    until(&relay, "a connection", |relay| relay.traffic().is_connected);
    let get = |path: &str, headers: &[(&str, &str)]| request_at(relay.address(), "GET", path, headers, &[]).0;
    assert_eq!(get("/v1/relay", &[("Authorization", "Bearer a-secret-word")]), 200);
    for path in ["/v1/relay", "/v1/status", "/v1/relay?token=another-word"] {
        assert_eq!(get(path, &[]), 401, "{path}");
    }
    for path in ["/", "/v1/link", "/v1/relay?token=a-secret-word"] {
        assert_eq!(get(path, &[("Origin", "http://evil.example")]), 403, "{path}");
        assert_eq!(get(path, &[("Host", "evil.example")]), 403, "{path}");
    }
    let mut socket = connect_to(relay.address());
    let hello = json!({ "do": "hello", "version": 1, "token": "another-word" });
    socket.send(tungstenite::Message::text(hello.to_string())).unwrap();
    assert!(crate::client::goodbye(&mut socket).contains("token"));
    relay.stop();
}

#[test]
fn where_nobody_looks_no_frames_come_and_who_comes_sees_the_present() {
    let place = Place::with(&crowd());
    let cable = Cable::to(place.server().address());
    let relay = relay_of(cable.address);
    place.console().done(json!({ "do": "start" }));
    let mut display = join(&relay, "display");
    display.done(json!({ "do": "watch", "rate": 60, "marks": "all" }));
    (0..10).for_each(|_| display.next_frame(Sort::Marks));
    drop(display);
    until(&relay, "nobody", |relay| relay.traffic().displays.is_empty());
    // The server hears of it, and then a second passes in which next to nothing comes.
    let start = Instant::now();
    loop {
        let before = cable.bytes();
        std::thread::sleep(Duration::from_secs(1));
        let more = cable.bytes() - before;
        if more < 20_000 {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{more} bytes came in a second, for nobody");
    }
    let mut late = join(&relay, "late");
    late.next_frame(Sort::Bodies);
    let (shown, told) = (late.kept.bodies.as_ref().unwrap().head.stop, late.status["stop"].as_u64().unwrap());
    assert!(shown + 5 >= told, "stop {shown} is shown at stop {told}");
    relay.stop();
}
