//! Many displays, slow displays, dead displays: the run does not care.

use crate::carts::{self, Carts, WANDERERS};
use crate::circles;
use crate::served::{Display, Served, connect};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use tungstenite::Message;

/// When each stop was seen.
type Seen = BTreeMap<u64, (Instant, String)>;

/// Follows a run by a socket; what it saw of robot `a`, as `watch` would print it.
fn follow(url: &str, upto: u64) -> Seen {
    let mut display = Display::join(url, "follower", false);
    display.ask(json!({ "do": "watch", "rate": 60 }));
    let mut seen = Seen::new();
    while seen.last_key_value().is_none_or(|(stop, _)| *stop < upto) {
        if let (Some(bodies), _) = display.hear() {
            let row = bodies.rows[0];
            let place = [row.x, row.y, row.heading].map(|n| format!("{:.4}", n as f64 / 1e4)).join(" ");
            seen.insert(bodies.head.stop, (Instant::now(), place));
        }
    }
    seen
}

/// The same by a `swarmyard watch` process.
fn follow_by_watch(child: &mut Child, upto: u64) -> Seen {
    let mut seen = Seen::new();
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        let words: Vec<&str> = line.split(' ').collect();
        if let [_, stop, "pose", "/robots/a", place @ ..] = &words[..] {
            let stop = stop.parse().unwrap();
            seen.insert(stop, (Instant::now(), place.join(" ")));
            if stop >= upto {
                break;
            }
        }
    }
    seen
}

#[test]
fn displays_of_one_run_show_the_same_tick_at_the_same_time() {
    let served = Served::start("together", &circles());
    let upto = 100;
    let words = "watch --every tick:1 --robots a";
    let mut watch = served.command(words).stdout(Stdio::piped()).spawn().unwrap();
    let followers: Vec<_> = (0..3)
        .map(|_| {
            let url = served.url.clone();
            std::thread::spawn(move || follow(&url, upto))
        })
        .collect();
    // All of them are here before anything moves.
    let mut console = Display::join(&served.url, "console", true);
    while console.control["clients"].as_array().map_or(0, Vec::len) < 5 {
        console.hear();
    }
    // Slower than displays are: one that is busy for a moment does not lose a stop.
    console.ask(json!({ "do": "speed", "factor": 0.5 }));
    console.ask(json!({ "do": "start" }));
    let mut all: Vec<Seen> = vec![follow_by_watch(&mut watch, upto)];
    all.extend(followers.into_iter().map(|f| f.join().unwrap()));
    let _ = watch.kill();
    let _ = watch.wait();
    let mut spreads = Vec::new();
    for (stop, (_, place)) in &all[0] {
        let Some(same) = all.iter().map(|seen| seen.get(stop)).collect::<Option<Vec<_>>>() else { continue };
        assert!(same.iter().all(|(_, other)| other == place), "stop {stop}: {same:?}");
        let times = same.iter().map(|(at, _)| *at);
        spreads.push(times.clone().max().unwrap() - times.min().unwrap());
    }
    spreads.sort();
    assert!(spreads.len() > 40, "only {} of {upto} stops were seen by all", spreads.len());
    // One in twenty may be late: the machine does other things too.
    let most = spreads[spreads.len() * 95 / 100];
    assert!(most < Duration::from_millis(200), "{most:?} apart");
}

/// Six hundred robots with rays: frames with marks are long enough to fill any buffer.
fn crowd() -> String {
    let robots = carts::many(600, "class = \"random\", size = [78, 78]");
    let run = "quantum = \"20ms\"\nduration = \"6s\"\nseed = 5";
    Carts { run, half_m: [40, 40], rays: 16, range: "3m", robots: &robots, ..WANDERERS }.text()
}

/// Runs the crowd to its end at 1×; answers its last stop, its hash, and the time it took.
fn run_crowd(served: &Served) -> (u64, String, Duration) {
    let mut console = Display::join(&served.url, "console", true);
    console.ask(json!({ "do": "watch", "frames": false }));
    console.ask(json!({ "do": "speed", "factor": 1.0 }));
    let start = Instant::now();
    console.ask(json!({ "do": "start" }));
    let status = console.until(|s| s["state"] == "ended");
    (status["stop"].as_u64().unwrap(), status["hash"].as_str().unwrap().to_owned(), start.elapsed())
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn frozen_killed_and_deaf_displays_cost_the_run_nothing() {
    bad_company("bad-company", &["--port", "0"]);
}

#[test]
fn frozen_killed_and_deaf_displays_cost_a_run_on_workers_nothing() {
    // No worker is taken for lost because this machine is busy.
    bad_company("bad-company-of-workers", &["--port", "0", "--workers", "2", "--lease", "60"]);
}

fn bad_company(name: &str, words: &[&str]) {
    let quiet = Served::start_with(&format!("{name}-alone"), &crowd(), words);
    let served = Served::start_with(name, &crowd(), words);
    // One is frozen, one dies, one never reads what it asked for.
    let watches: Vec<Child> = (0..2)
        .map(|_| served.command("watch --every tick:1").stdout(Stdio::piped()).spawn().unwrap())
        .collect();
    let mut here = Display::join(&served.url, "doorman", false);
    while here.control["clients"].as_array().map_or(0, Vec::len) < 3 {
        here.hear();
    }
    let mut deaf = Display::join(&served.url, "deaf", false);
    deaf.ask(json!({ "do": "watch", "rate": 60, "marks": "all" }));
    signal(&watches[0], "-STOP");
    signal(&watches[1], "-KILL");
    // At the same time: whatever else this machine does slows down both.
    let (alone, among_them) = std::thread::scope(|scope| {
        let alone = scope.spawn(|| run_crowd(&quiet));
        let among_them = run_crowd(&served);
        (alone.join().unwrap(), among_them)
    });
    let frames = deaf.drain(Duration::from_millis(300));
    signal(&watches[0], "-CONT");
    for mut watch in watches {
        let _ = watch.kill();
        let _ = watch.wait();
    }
    assert_eq!(among_them.0, 300);
    assert_eq!(
        (among_them.0, &among_them.1),
        (alone.0, &alone.1),
        "another number of steps, or another hash"
    );
    assert!(frames < 250, "the deaf display got {frames} frames: nothing ever stood still");
    let (with, without) = (among_them.2.as_secs_f64(), alone.2.as_secs_f64());
    assert!(with < 1.5 * without + 1.0, "{with:.2} s instead of {without:.2} s");
}

#[test]
fn a_thousand_displays_come_and_go_and_leave_nothing() {
    // However long that takes, it goes on.
    let served = Served::start("thousand", &circles().replace("60s", "24h"));
    let mut console = Display::join(&served.url, "console", true);
    console.ask(json!({ "do": "watch", "frames": false }));
    console.ask(json!({ "do": "speed", "factor": 1.0 }));
    console.ask(json!({ "do": "start" }));
    let mut cycles = |n: usize| {
        for k in 0..n {
            match k % 3 {
                // Properly, after everything was told.
                0 => drop(Display::join(&served.url, "guest", true)),
                // Without a word, in the middle of what the server says.
                1 => drop(connect(&served.url, "guest", false)),
                // In the middle of what it asks.
                _ => {
                    let mut socket = connect(&served.url, "guest", false);
                    let wish = json!({ "do": "watch", "rate": 60, "marks": "all", "inspect": ["/robots/a"] });
                    socket.send(Message::text(wish.to_string())).unwrap();
                }
            }
        }
        // The server learns of the last ones as they go.
        while console.control["clients"].as_array().map_or(0, Vec::len) > 1 {
            console.hear();
        }
    };
    cycles(50);
    // Gone from the list comes before gone from the table of files.
    std::thread::sleep(Duration::from_millis(500));
    let (files, memory) = (served.open_files(), served.memory());
    cycles(1000);
    let end = Instant::now() + Duration::from_secs(60);
    while served.open_files() > files && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(served.open_files() <= files, "{} files instead of {files}", served.open_files());
    let grown = served.memory().saturating_sub(memory);
    assert!(grown < 20_000_000, "{grown} bytes more than before");
    console.until(|s| s["state"] == "running" && s["stop"].as_u64() > Some(10));
}
