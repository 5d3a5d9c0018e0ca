//! Ctrl-C: once in order, twice at once.

use crate::yard::{Done, Yard};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Starts a run and waits until it is under way: its recording is made after it listens for signals.
fn start(yard: &Yard, words: &str, recording: &str) -> Child {
    let child = yard.command(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let since = Instant::now();
    while !yard.path(recording).exists() {
        assert!(since.elapsed() < Duration::from_secs(60), "it does not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(200));
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn an_interrupt_ends_the_run_in_order() {
    for name in ["-INT", "-TERM"] {
        let yard = Yard::with_duel(&format!("signal{name}"));
        let child = start(&yard, "run duel.toml --rtf 1 --until 1h --json", "duel.mcap");
        signal(&child, name);
        let done = Done::from(child.wait_with_output().unwrap()).exits(130);
        let value = done.json("swarmyard-run/1");
        assert_eq!(value["ended"], "signal");
        let replayed = yard.run("replay duel.mcap --verify --json").exits(0).json("swarmyard-replay/1");
        assert_eq!((replayed["verified"].as_bool(), &replayed["hash"]), (Some(true), &value["hash"]));
    }
}

/// Nobody can tidy up after `kill -9`: what was on disk must do.
#[test]
fn a_killed_run_leaves_a_recording_that_ends_a_second_before() {
    let yard = Yard::with_duel("signal-kill");
    let mut child = start(&yard, "run duel.toml --rtf 1 --until 1h", "duel.mcap");
    // What is on disk grows while it runs.
    let since = Instant::now();
    loop {
        std::fs::copy(yard.path("duel.mcap"), yard.path("part.mcap")).unwrap();
        let part = yard.run("replay part.mcap --verify --json");
        let ticks = (part.code == Some(0)).then(|| part.json("swarmyard-replay/1")["ticks"].as_u64());
        if ticks.flatten() >= Some(10) {
            break;
        }
        assert!(since.elapsed() < Duration::from_secs(60), "{part:#?}");
        std::thread::sleep(Duration::from_millis(200));
    }
    signal(&child, "-KILL");
    child.wait().unwrap();
    let done = yard.run("replay duel.mcap --verify --json").exits(0);
    let replayed = done.json("swarmyard-replay/1");
    let ticks = replayed["ticks"].as_u64().unwrap_or_else(|| panic!("{replayed}"));
    assert!(ticks >= 10 && replayed["verified"] == true, "{replayed}");
    assert!(yard.run("replay duel.mcap").exits(0).err.contains("not whole"));
}

/// A world whose quanta take long: nothing can be ended in order between two signals.
const CROWD: &str = r#"format = 1
[type.bot]
radius = 0.1
[[type.bot.part]]
name = "rays"
class = "range-rays"
rays = 180
range = 8
[[robot]]
type = "bot"
count = 20000
layout = { class = "grid", spacing = 1 }
"#;

#[test]
fn a_second_interrupt_does_not_wait() {
    let yard = Yard::new("signal-twice");
    yard.write("crowd.toml", CROWD);
    let ends_at_once = |k: u32| {
        let recording = format!("crowd-{k}.mcap");
        let child = start(&yard, &format!("run crowd.toml --threads 1 --record {recording}"), &recording);
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_millis(20));
        // Should the first have ended it between two quanta, there is nobody left to signal.
        let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).stderr(Stdio::null()).status();
        let done = Done::from(child.wait_with_output().unwrap()).exits(130);
        assert!(!done.err.contains("panic"), "{}", done.err);
        !done.out.contains("stopped by a signal")
    };
    // Who ends in order reports. The first signal may hit the end of a quantum, but not every time.
    assert!((0..3).any(ends_at_once), "it ended in order, whether interrupted again or not");
}

/// A thousand robots that live by events set out for the middle of all, far away. Who is there looks once a second where everybody
/// is, so the quanta, of a thousand seconds each, take longer and longer: soon minutes.
const FAR_AWAY: &str = r#"format = 1
[run]
quantum = "1000s"
duration = "100000s"
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
speed = [1, 2]
turn_speed = [1, 2]
[[robot]]
type = "bot"
count = 1000
layout = { class = "grid", spacing = 400 }
"#;

/// Starts the run of [`FAR_AWAY`] and waits until a quantum takes long; answers after how many.
fn within_a_long_quantum(yard: &Yard, more: &str) -> (Child, u64) {
    let words = format!("run far.toml --json --hash-every 1{more}");
    let mut child = yard.command(&words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (sender, ticks) = mpsc::channel();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    std::thread::spawn(move || {
        let mut line = String::new();
        while out.read_line(&mut line).is_ok_and(|n| n > 0) {
            // Nobody waits for the last lines.
            let _ = sender.send(std::mem::take(&mut line));
        }
    });
    let mut seen = 0;
    // The first may take a while to come.
    while ticks.recv_timeout(Duration::from_secs(if seen == 0 { 60 } else { 1 })).is_ok() {
        seen += 1;
    }
    assert!(seen > 0 && child.try_wait().unwrap().is_none(), "{seen} quanta, and it has ended");
    (child, seen)
}

/// An event is the least that is waited for, however long the quantum takes. Committed is what was before.
#[test]
fn an_interrupt_does_not_wait_for_the_end_of_a_quantum_of_robots_that_live_by_events() {
    let yard = Yard::new("signal-far");
    yard.write("far.toml", FAR_AWAY);
    let (child, ticks) = within_a_long_quantum(&yard, "");
    let since = Instant::now();
    signal(&child, "-INT");
    let done = Done::from(child.wait_with_output().unwrap()).exits(130);
    let took = since.elapsed();
    assert!(took < Duration::from_secs(3), "it took {took:?}");
    assert!(!done.err.contains("panic"), "{}", done.err);
    let replayed = yard.run("replay far.mcap --verify --json").exits(0).json("swarmyard-replay/1");
    assert_eq!((replayed["verified"].as_bool(), replayed["ticks"].as_u64()), (Some(true), Some(ticks)));
}

#[test]
fn a_wall_limit_does_not_wait_for_the_end_of_such_a_quantum() {
    let yard = Yard::new("signal-limit");
    yard.write("far.toml", &FAR_AWAY.replace("\"1000s\"", "\"10000s\""));
    let since = Instant::now();
    let done = yard.run("run far.toml --wall-limit 2 --json").exits(124);
    let took = since.elapsed();
    assert!(took < Duration::from_secs(8), "it took {took:?}");
    let value = done.json("swarmyard-run/1");
    assert_eq!((value["ended"].as_str(), value["ticks"].as_u64()), (Some("wall-limit"), Some(0)));
    let replayed = yard.run("replay far.mcap --verify --json").exits(0).json("swarmyard-replay/1");
    assert_eq!((replayed["verified"].as_bool(), &replayed["hash"]), (Some(true), &value["hash"]));
}
