//! The run: started, paused, stepped, reset, steered; and what displays see of it.

use crate::client::{Display, Place, WORLD};
use serde_json::json;
use std::time::Duration;
use swarmyard_serve::frame::Sort;
use swarmyard_sim::Sim;

/// Hashes of [`WORLD`] after each of some steps, without a server.
pub(crate) fn hashes(steps: usize) -> Vec<String> {
    let mut sim = Sim::from_text(WORLD).unwrap();
    let mut all = vec![format!("{:016x}", sim.hash())];
    for _ in 0..steps {
        all.push(format!("{:016x}", sim.step().unwrap().hash));
    }
    all
}

#[test]
fn a_paused_run_steps_exactly_as_often_as_it_is_told() {
    let place = Place::new();
    let mut console = place.console();
    let hashes = hashes(100);
    assert_eq!(console.status["state"], "paused");
    assert_eq!(console.hash_at(0), hashes[0]);
    assert_eq!(console.step(1), hashes[1]);
    assert_eq!(console.step(99), hashes[100]);
    assert_eq!(console.status["state"], "paused");
    let time = console.status["time"].as_f64().unwrap();
    assert!((time - 5.0).abs() < 1e-9, "{time}");
}

/// Robots that live by events, with a quantum that takes a while: each that has arrived looks once a second where everybody is.
const GATHERING: &str = r#"format = 1
[run]
quantum = "300s"
duration = "1200s"
contact = "ghost"
[type.bot]
radius = 1
[[type.bot.part]]
name = "wheels"
class = "wheels"
[[type.bot.part]]
name = "gps"
class = "gps"
[type.bot.algorithm]
class = "gathering"
near = 10
speed = [8, 20]
turn_speed = [1, 2]
[[robot]]
type = "bot"
count = 500
layout = { class = "grid", spacing = 8 }
"#;

/// Nothing of what is shown changes meanwhile, and the run comes to the hashes that it has without a server.
#[test]
fn a_pause_does_not_wait_for_the_end_of_a_quantum_of_robots_that_live_by_events() {
    let place = Place::with(GATHERING);
    let mut console = place.console();
    let mut sim = Sim::from_text(GATHERING).unwrap();
    let first = console.hash_at(0);
    console.done(json!({ "do": "speed", "factor": null }));
    console.done(json!({ "do": "start" }));
    std::thread::sleep(Duration::from_millis(50));
    console.done(json!({ "do": "pause" }));
    console.until_state("paused");
    assert_eq!((console.status["stop"].as_u64(), console.status["hash"].as_str()), (Some(0), Some(&*first)));
    // What is told now counts from the end of the quantum.
    console.done(json!({ "do": "quantum", "value": "150s" }));
    console.done(json!({ "do": "step", "n": 1 }));
    let hash = format!("{:016x}", sim.step().unwrap().hash);
    assert_eq!(console.hash_at(1), hash);
    sim.set_quantum(swarmyard_base::Ratio::new(150, 1).unwrap());
    console.done(json!({ "do": "start" }));
    std::thread::sleep(Duration::from_millis(50));
    console.done(json!({ "do": "pause" }));
    console.until_state("paused");
    assert_eq!(console.status["stop"], 1);
    // An edit waits for the end of the quantum that is under way.
    let text = GATHERING.replace("1200s", "900s");
    let revision = console.world["revision"].clone();
    console.done(json!({ "do": "replace", "text": text, "revision": revision }));
    sim.step().unwrap();
    assert_eq!(sim.now().0, 450_000_000_000);
    console.until("the new world", |d| d.status["duration"] == 900.0 && d.status["stop"] == 2);
    assert!((console.status["time"].as_f64().unwrap() - 450.0).abs() < 1e-6);
}

#[test]
fn reset_gives_the_first_hash_and_the_same_run_again() {
    let place = Place::new();
    let mut console = place.console();
    let (first, later) = (console.hash_at(0), console.step(50));
    let run = console.status["run"].as_u64().unwrap();
    console.done(json!({ "do": "reset" }));
    console.until("another run", |d| d.status["run"] == run + 1);
    assert_eq!(console.hash_at(0), first);
    assert_eq!(console.step(50), later);
}

#[test]
fn a_run_goes_on_by_itself_until_it_is_paused() {
    let place = Place::new();
    let mut console = place.console();
    console.done(json!({ "do": "speed", "factor": null }));
    console.done(json!({ "do": "start" }));
    console.until("progress", |d| d.status["stop"].as_u64().unwrap() > 200);
    assert_eq!(console.refused(json!({ "do": "step" })), "running");
    console.done(json!({ "do": "pause" }));
    console.until_state("paused");
    let stop = console.status["stop"].as_u64().unwrap();
    assert_eq!(console.hash_at(stop), hashes(stop as usize)[stop as usize]);
}

#[test]
fn a_run_ends_with_its_duration() {
    let place = Place::with(&WORLD.replace("600s", "1s"));
    let mut console = place.console();
    console.done(json!({ "do": "speed", "factor": null }));
    console.done(json!({ "do": "start" }));
    console.until_state("ended");
    assert_eq!(console.status["stop"], 20);
    assert_eq!(console.refused(json!({ "do": "step" })), "ended");
    assert_eq!(console.refused(json!({ "do": "start" })), "ended");
    console.done(json!({ "do": "reset" }));
    console.until_state("paused");
}

#[test]
fn frames_show_where_everybody_is() {
    let place = Place::new();
    let mut console = place.console();
    let mut sim = Sim::from_text(WORLD).unwrap();
    for stop in 0..20 {
        let bodies = console.bodies_at(stop);
        assert_eq!(bodies.hash, sim.hash());
        for (slot, row) in bodies.rows.iter().enumerate() {
            let pose = sim.state().pose[slot];
            assert!((row.x as f64 / 1e4 - pose.at.x).abs() <= 0.5e-4 + 1e-9);
            assert!((row.y as f64 / 1e4 - pose.at.y).abs() <= 0.5e-4 + 1e-9);
        }
        sim.step().unwrap();
        console.step(1);
    }
    assert!(console.kinds.contains(&1) && console.kinds.contains(&2), "whole once, then as differences");
}

#[test]
fn a_display_gets_what_it_wants() {
    let place = Place::new();
    let mut console = place.console();
    console.done(json!({ "do": "watch", "marks": ["/robots/r2"], "inspect": ["/robots/r1"],
        "probes": [{ "path": "/robots/r1", "channel": "x" },
                   { "path": "/robots/r1/sonar", "channel": "range", "index": 4 }] }));
    console.next_frame(Sort::Marks);
    let marks = console.kept.marks.clone().unwrap();
    assert_eq!(marks.robots().map(|r| r.body).collect::<Vec<_>>(), [1]);
    assert_eq!(marks.robots().next().unwrap().labels.len(), 5, "one for each ray");
    console.step(10);
    console.until("ten rows", |d| d.rows.len() == 10);
    let times: Vec<f64> = console.rows.iter().map(|r| r[0].as_f64().unwrap()).collect();
    assert!(times.iter().enumerate().all(|(k, t)| (t - 0.05 * (k + 1) as f64).abs() < 1e-9), "{times:?}");
    console.until("the robot", |d| d.inspect["stop"] == 10);
    let robot = &console.inspect["robots"][0];
    assert_eq!((&robot["path"], &robot["type"]), (&json!("/robots/r1"), &json!("scout")));
    assert_eq!(robot["pose"][0], console.rows[9][1], "inspected and followed are the same number");
    assert_eq!(robot["parts"][1][0].as_array().unwrap().len(), 5);
    // Nothing more is wanted.
    console.done(json!({ "do": "watch", "frames": false }));
    let kinds = console.kinds.len();
    console.step(10);
    assert_eq!(console.kinds.len(), kinds);
    console.done(json!({ "do": "watch", "marks": "all" }));
    console.until("all", |d| d.kept.marks.as_ref().is_some_and(|m| m.len() == 3));
}

#[test]
fn a_map_grows_while_somebody_wants_it() {
    let place = Place::new();
    let mut console = place.console();
    console.done(json!({ "do": "watch", "grid": "/robots/r3" }));
    console.next_frame(Sort::Grid);
    let grid = console.kept.grid.clone().unwrap();
    assert_eq!((grid.body, grid.x, grid.y), (2, -30_000, -30_000));
    assert!(grid.cells.iter().all(|c| *c == 128), "nothing is known yet");
    console.done(json!({ "do": "speed", "factor": null }));
    console.done(json!({ "do": "start" }));
    console.until("free places", |d| {
        d.kept.grid.as_ref().unwrap().cells.iter().filter(|c| **c < 100).count() > 100
    });
}

#[test]
fn single_values_have_units() {
    let place = Place::new();
    let mut console = place.console();
    console.step(1);
    let ask = |part: &str, channel: &str, index: u32| json!({ "do": "value", "robot": "/robots/r1", "part": part, "channel": channel, "index": index });
    let answer = console.done(ask("sonar", "range", 0));
    assert_eq!(answer["unit"], "m");
    assert!(answer["value"].as_f64().unwrap() > 0.0);
    assert_eq!(console.refused(ask("sonar", "range", 5)), "unknown-channel");
    assert_eq!(console.refused(ask("sonar", "colour", 0)), "unknown-channel");
    assert_eq!(console.refused(ask("nose", "range", 0)), "unknown-channel");
}

#[test]
fn inputs_enter_the_run() {
    let place = Place::new();
    let mut console = place.console();
    console.done(json!({ "do": "quantum", "value": "20ms" }));
    console.done(json!({ "do": "detail", "level": "coarse" }));
    console.done(json!({ "do": "halt", "robot": "/robots/r1", "on": true }));
    console.step(1);
    assert_eq!((&console.status["quantum"], &console.status["detail"]), (&json!(0.02), &json!("coarse")));
    let start = console.bodies_at(1).rows[0];
    assert_eq!(start.flags & 1, 1);
    console.step(50);
    let later = console.bodies_at(51).rows.clone();
    assert_eq!((later[0].x, later[0].y), (start.x, start.y), "a halted robot stands");
    assert!(later[1].x != 10_000 || later[1].y != 10_000, "the others do not");
    for (request, code) in [
        (json!({ "do": "quantum", "value": "-1s" }), "bad-value"),
        (json!({ "do": "detail", "level": "huge" }), "bad-value"),
        (json!({ "do": "halt", "robot": "/robots/r9", "on": true }), "unknown-path"),
        (json!({ "do": "skip", "robot": "/robots/r9" }), "unknown-path"),
        (json!({ "do": "restart", "robot": "/robots/r1" }), "no-program"),
        (
            json!({ "do": "poke", "robot": "/robots/r9", "address": 0, "bytes": 1, "value": 0 }),
            "unknown-path",
        ),
        (
            json!({ "do": "poke", "robot": "/robots/r1", "address": 0, "bytes": 3, "value": 0 }),
            "wrong-length",
        ),
        (
            json!({ "do": "command", "part": "/robots/r1/nose", "channel": "x", "values": [1] }),
            "unknown-part",
        ),
    ] {
        assert_eq!(console.refused(request), code);
    }
}

#[test]
fn every_display_sees_the_same() {
    let place = Place::new();
    let mut console = place.console();
    let mut others: Vec<Display> = (0..5).map(|k| place.display(&format!("d{k}"))).collect();
    let hash = console.step(30);
    for other in &mut others {
        assert_eq!(other.hash_at(30), hash);
        assert_eq!(other.bodies_at(30), console.bodies_at(30));
    }
    // One that comes later sees it too.
    assert_eq!(place.display("late").hash_at(30), hash);
}

#[test]
fn the_console_ends_the_server() {
    let mut place = Place::new();
    let mut console = place.console();
    let mut other = place.display("other");
    console.done(json!({ "do": "exit" }));
    crate::client::goodbye(&mut console.socket);
    crate::client::goodbye(&mut other.socket);
    place.server.take().unwrap().wait();
}
