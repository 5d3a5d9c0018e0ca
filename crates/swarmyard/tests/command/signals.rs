//! Ctrl-C: once in order, twice at once.

use crate::yard::{Done, Yard};
use std::process::{Child, Command, Stdio};
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
