//! A served run on worker processes: what displays ask for works as it does of a run in one process.

use crate::carts::{Carts, WANDERERS, many};
use crate::served::{Display, Served};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use swarmyard::Sim;

/// Eight robots that wander and bump into each other, in quanta of 50 ms.
fn herd() -> String {
    let robots = many(8, "class = \"grid\", columns = 4, spacing = 0.6");
    let run = "quantum = \"50ms\"\nduration = \"600s\"";
    Carts { run, half_m: [2, 2], robots: &robots, ..WANDERERS }.text()
}

fn served(name: &str) -> Served {
    // No worker is taken for lost because this machine is busy.
    Served::start_with(name, &herd(), &["--port", "0", "--workers", "2", "--lease", "20"])
}

/// The hashes of a run in this process, by stop.
fn alone(text: &str, stops: u64) -> Vec<String> {
    let mut sim = Sim::from_text(text).unwrap_or_else(|e| panic!("{e}"));
    let start = format!("{:016x}", sim.hash());
    let rest = (0..stops).map(|_| format!("{:016x}", sim.step().unwrap().hash));
    std::iter::once(start).chain(rest).collect()
}

/// Steps, and waits until the run stands there; answers its hash.
fn step(display: &mut Display, n: u64) -> String {
    let to = display.status["stop"].as_u64().unwrap() + n;
    display.ask(json!({ "do": "step", "n": n }));
    display.until(|s| s["stop"] == to && s["state"] == "paused")["hash"].as_str().unwrap().to_owned()
}

/// Asks for what the workers do until it is as wished.
fn figures(display: &mut Display, holds: impl Fn(&Value) -> bool) -> Value {
    let since = Instant::now();
    while since.elapsed() < Duration::from_secs(60) {
        // Who asks anew is told anew.
        display.ask(json!({ "do": "watch", "frames": false, "workers": false }));
        display.workers = Value::Null;
        display.ask(json!({ "do": "watch", "frames": false, "workers": true }));
        while display.workers.is_null() {
            display.hear();
        }
        let told = display.workers.clone();
        if holds(&told["spread"]) {
            return told;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("it never came to that")
}

#[test]
fn a_spread_run_has_the_hashes_of_one_in_one_process_and_can_be_paused_stepped_and_reset() {
    let served = served("spread");
    let mut display = Display::join(&served.url, "console", true);
    assert_eq!(display.status["spread"], true);
    let right = alone(&herd(), 200);
    assert_eq!(step(&mut display, 1), right[1]);
    assert_eq!(step(&mut display, 69), right[70]);
    display.ask(json!({ "do": "speed", "factor": null }));
    display.ask(json!({ "do": "start" }));
    display.until(|s| s["stop"].as_u64().unwrap() > 100);
    display.ask(json!({ "do": "pause" }));
    let at = display.until(|s| s["state"] == "paused").clone();
    let stop = at["stop"].as_u64().unwrap() as usize;
    let right = alone(&herd(), stop as u64);
    assert_eq!(at["hash"], right[stop].as_str(), "at stop {stop}");
    display.ask(json!({ "do": "reset" }));
    display.until(|s| s["stop"] == 0);
    assert_eq!(step(&mut display, 12), right[12]);
}

#[test]
fn a_spread_run_whose_console_is_lost_goes_on_to_its_end() {
    let text = herd().replace("600s", "10s");
    let words = ["--port", "0", "--workers", "2", "--lease", "60"];
    let served = Served::start_with("spread-console-lost", &text, &words);
    let mut other = Display::join(&served.url, "other", false);
    let mut console = Display::join(&served.url, "console", true);
    console.ask(json!({ "do": "speed", "factor": 4.0 }));
    console.ask(json!({ "do": "start" }));
    console.until(|s| s["state"] == "running" && s["stop"].as_u64() > Some(5));
    // Without a word, while the run goes on.
    drop(console);
    while other.control["clients"].as_array().is_none_or(|all| all.len() != 1) {
        other.hear();
    }
    let at = other.until(|s| s["state"] == "ended").clone();
    assert_eq!(at["stop"], 200, "{at}");
    assert_eq!(at["hash"], alone(&text, 200)[200].as_str());
    let told = figures(&mut other, |s| s["workers"].as_array().is_some_and(|all| all.len() == 2));
    assert_eq!(told["spread"]["lost"].as_array().map(Vec::len), Some(0), "{told}");
}

#[test]
fn earlier_moments_branches_inputs_and_edits_work_on_a_spread_run() {
    let served = served("spread-steered");
    let mut display = Display::join(&served.url, "console", true);
    let right = alone(&herd(), 90);
    step(&mut display, 90);
    display.ask(json!({ "do": "seek", "stop": 40 }));
    assert_eq!(display.until(|s| s["looking_back"] == true && s["stop"] == 40)["hash"], right[40].as_str());
    display.ask(json!({ "do": "branch" }));
    display.until(|s| s["looking_back"] == false && s["stop"] == 40);
    assert_eq!(step(&mut display, 5), right[45]);
    // What enters now is as if it had entered in one process.
    let mut one = Sim::from_text(&herd()).unwrap_or_else(|e| panic!("{e}"));
    (0..45).for_each(|_| drop(one.step().unwrap()));
    display.ask(json!({ "do": "halt", "robot": "/robots/r1", "on": true }));
    one.halt("/robots/r1", true).unwrap();
    (0..10).for_each(|_| drop(one.step().unwrap()));
    assert_eq!(step(&mut display, 10), format!("{:016x}", one.hash()));
    // An edit of the running world: one robot more.
    let revision = display.status["revision"].clone();
    let text = herd().replace("count = 8", "count = 9");
    display.ask(json!({ "do": "replace", "text": text, "revision": revision }));
    let before = display.until(|s| s["revision"] != revision)["hash"].clone();
    assert_ne!(step(&mut display, 10), before);
    // It is there, and can be looked into.
    display.ask(json!({ "do": "watch", "frames": true, "inspect": ["/robots/r9"] }));
    let robot = loop {
        let (_, words) = display.hear();
        if words["is"] == "inspect" && !words["robots"][0].is_null() {
            break words["robots"][0].clone();
        }
    };
    assert_eq!(robot["path"], "/robots/r9");
}

#[test]
fn displays_that_ask_are_told_what_workers_do() {
    let served = served("spread-figures");
    let mut display = Display::join(&served.url, "console", true);
    let mut other = Display::join(&served.url, "other", false);
    step(&mut display, 70);
    let told = figures(&mut display, |s| s["heaviest"].as_array().is_some_and(|all| !all.is_empty()));
    let workers = told["spread"]["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 2, "{told}");
    assert_eq!(workers.iter().map(|w| w["bodies"].as_u64().unwrap()).sum::<u64>(), 8, "{told}");
    assert!(workers.iter().all(|w| w["pid"].as_u64().unwrap() > 0 && w["region"].is_array()), "{told}");
    assert!(told["spread"]["links"].as_array().unwrap().iter().all(|l| l["bytes"].as_u64().unwrap() > 0));
    // While nothing changes nothing is said; and who did not ask is told nothing.
    display.ask(json!({ "do": "speed", "factor": 2 }));
    // From before the first was sent until after the last was: late ones only make it longer.
    let since = Instant::now();
    display.ask(json!({ "do": "start" }));
    let mut said = 0;
    while said < 6 {
        said += usize::from(display.hear().1["is"] == "workers");
    }
    let took = since.elapsed();
    assert!(took > Duration::from_millis(1500), "at most twice a second, not six times in {took:?}");
    other.ask(json!({ "do": "watch", "frames": false }));
    let quiet = |words: &Value| words["is"] != "workers";
    for _ in 0..5 {
        assert!(quiet(&other.hear().1));
    }
}

#[test]
fn workers_stay_while_nothing_is_asked_of_them() {
    // Workers end by themselves after ten leases without a word of their keeper.
    let more = ["--port", "0", "--workers", "2", "--lease", "1.5"];
    let served = Served::start_with("spread-rest", &herd(), &more);
    step(&mut Display::join(&served.url, "console", true), 3);
    // Nobody looks either: a display that does not listen is sent away.
    std::thread::sleep(Duration::from_secs(18));
    let mut display = Display::join(&served.url, "console", true);
    assert_eq!(step(&mut display, 3), alone(&herd(), 6)[6]);
    let told = figures(&mut display, |s| s["workers"][0]["work_s"].as_f64() > Some(0.0));
    assert_eq!(told["spread"]["lost"], json!([]), "{told}");
}

#[test]
fn what_a_spread_run_cannot_do_is_refused_in_words() {
    let served = served("spread-refused");
    let (code, _, err) = served.run("ctl restart /robots/r1");
    assert!(code != 0 && err.contains("run with the workers"), "{code} {err}");
}
