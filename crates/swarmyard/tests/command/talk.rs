//! `talk`: protocols of a world over real sockets, in one process and in several.

use crate::in_step::{LAMPORT, in_step};
use crate::yard::{Done, Yard};
use serde_json::Value;
use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::{Duration, Instant};

/// Four robots that elect a leader around a ring, find out when it is gone, and elect another.
const ELECTION: &str = r#"format = 1
title = "An election"
[network]
class = "constant"
[type.robot]
radius = 0.2
[[type.robot.part]]
name = "wheels"
class = "wheels"
[[type.robot.protocol]]
name = "heart"
class = "heartbeat"
period = "100ms"
timeout = "1s"
adaptive = true
[[type.robot.protocol]]
name = "election"
class = "leader-election"
way = "ring"
detector = "heart"
[type.robot.algorithm]
class = "take-post"
[[robot]]
name = "p"
type = "robot"
count = 4
layout = { class = "circle", radius = 5 }
"#;

const BEST_EFFORT: &str = "[[type.robot.protocol]]\nname = \"order\"\nclass = \"best-effort-broadcast\"\n";

/// Promises by name, and whether they were kept.
fn promises(value: &Value) -> Vec<(String, bool)> {
    let all = value["promises"].as_array().unwrap();
    all.iter().map(|p| (p["promise"].as_str().unwrap().to_owned(), p["kept"].as_bool().unwrap())).collect()
}

/// Who said something, however often.
fn said<'a>(value: &'a Value, text: &str) -> BTreeSet<&'a str> {
    let all = value["said"].as_array().unwrap().iter();
    all.filter(|s| s["text"] == text).map(|s| s["robot"].as_str().unwrap()).collect()
}

#[test]
fn a_total_order_keeps_its_promises_over_both_kinds_of_sockets() {
    let yard = Yard::new("talk-order");
    yard.write("w.toml", &in_step(LAMPORT));
    for over in ["udp", "tcp"] {
        let done = yard.run(&format!("talk w.toml --over {over} --for 8s --settle 2s --json")).exits(0);
        let value = done.json("swarmyard-talk/1");
        let kept = |name: &str| (name.to_owned(), true);
        let all = ["integrity", "FIFO order", "total order", "validity", "agreement"].map(kept);
        assert_eq!(promises(&value), all, "{value}");
        let order = &value["protocols"][0];
        assert_eq!(order["name"], "order");
        assert_eq!(order["sent"], order["received"], "nothing is lost on an idle loopback: {value}");
        let steps = value["uses"].as_array().unwrap().iter().find(|u| u["provider"] == "order").unwrap();
        assert_eq!((&steps["asked"]["broadcasts"], &steps["told"]["delivered"]), (&18.into(), &54.into()));
    }
}

#[test]
fn a_broadcast_over_a_link_that_loses_is_found_out() {
    let yard = Yard::new("talk-loses");
    yard.write("w.toml", &in_step(BEST_EFFORT));
    let done = yard.run("talk w.toml --for 5s --settle 3s --loss 0.5").exits(1);
    assert!(
        done.out.contains("BROKEN  order by algorithm (best-effort-broadcast): best-effort validity"),
        "{}",
        done.out
    );
    assert!(
        done.out.contains("kept    order by algorithm (best-effort-broadcast): integrity"),
        "{}",
        done.out
    );
    assert!(done.out.contains("/robots/r1") && !done.out.contains("process "), "{}", done.out);
    yard.run("talk w.toml --for 5s --settle 3s").exits(0);
}

#[test]
fn a_run_in_the_engine_is_judged_as_a_talk_is() {
    let yard = Yard::new("run-judge");
    yard.write("w.toml", &in_step(BEST_EFFORT));
    let run = "run w.toml --until 30s --no-record --judge";
    let done = yard.run(run).exits(0);
    let kept = "    kept    order by algorithm (best-effort-broadcast): best-effort validity";
    assert!(done.out.contains("  promises    2 of 2 kept") && done.out.contains(kept), "{}", done.out);
    let done = yard.run(&format!("{run} --set network.loss=0.5")).exits(1);
    let broken = "    BROKEN  order by algorithm (best-effort-broadcast): best-effort validity";
    assert!(done.out.contains("  promises    1 of 2 kept") && done.out.contains(broken), "{}", done.out);
    assert!(done.out.contains("/robots/r1") && !done.out.contains("process "), "{}", done.out);
    // For programs, and quietly.
    let value = yard.run(&format!("{run} --set network.loss=0.5 --json")).exits(1).json("swarmyard-run/1");
    let judged = &value["judged"];
    assert_eq!((&judged["judged"], &value["exit"]), (&true.into(), &1.into()));
    let all = [("integrity".to_owned(), true), ("best-effort validity".to_owned(), false)];
    assert_eq!(promises(judged), all, "{judged}");
    let quiet = yard.run(&format!("{run} --set network.loss=0.5 --quiet")).exits(1);
    assert!(quiet.err.contains("BROKEN") && !quiet.err.contains("kept"), "{}", quiet.err);
    // The run is the same, looked at or not.
    let plain = yard.run("run w.toml --until 30s --no-record --quiet --set network.loss=0.5").exits(0);
    assert_eq!(plain.out, quiet.out);
}

#[test]
fn a_run_without_protocols_or_on_workers_is_not_judged_and_says_so() {
    let yard = Yard::with_duel("run-judge-nobody");
    let done = yard.run("run duel.toml --no-record --judge").exits(1);
    assert!(
        done.err.contains("no protocols to judge") && done.err.contains("leave out --judge"),
        "{}",
        done.err
    );
    let done = yard.run("run duel.toml --no-record --judge --workers 2").exits(2);
    assert!(done.err.contains("of a run in one process only"), "{}", done.err);
}

/// Two types of robots whose broadcasts have two names do not hear each other: `check` warns, and what is not judged is
/// said, with the reason.
#[test]
fn what_is_not_judged_is_said_with_the_reason() {
    let yard = Yard::new("run-judge-strangers");
    let stranger = in_step(BEST_EFFORT).replace("type.robot", "type.other").replace("\"order\"", "\"ordre\"");
    let other = &stranger[stranger.find("[type.other]").expect("is there")..];
    let other = other.replace("type = \"robot\"", "type = \"other\"").replace("name = \"r\"", "name = \"s\"");
    let other = other.replace("radius = 5", "radius = 8");
    yard.write("w.toml", &format!("{}{other}", in_step(BEST_EFFORT)));
    let done = yard.run("check w.toml").exits(0);
    let (a, b) = ("`order` of `robot`", "`ordre` of `other`");
    let warned = done.err.contains("do not hear each other") && done.err.contains("help: call both `ord");
    assert!(warned && done.err.contains(a) && done.err.contains(b), "{}", done.err);
    let done = yard.run("run w.toml --until 3s --no-record --judge").exits(0);
    assert!(done.out.contains("  promises    none judged"), "{}", done.out);
    let line = "    not judged  order by algorithm (best-effort-broadcast): not all types of robots have it";
    assert!(done.out.contains(line), "{}", done.out);
    let value = yard.run("run w.toml --until 3s --no-record --judge --json").exits(0).json("swarmyard-run/1");
    assert_eq!(value["judged"]["not_judged"].as_array().map(Vec::len), Some(2), "{value}");
}

/// A robot that goes to where it is, for ever.
#[test]
fn an_endless_algorithm_is_named_by_run_and_talk_with_its_time() {
    let yard = Yard::new("endless");
    let world = r#"format = 1
[run]
quantum = "1s"
duration = "2s"
[type.dot]
radius = 0.1
[[type.dot.part]]
name = "wheels"
class = "wheels"
[type.dot.algorithm]
class = "random-movement"
min = [0, 0]
max = [0, 0]
[[robot]]
name = "r"
type = "dot"
"#;
    yard.write("w.toml", world);
    let done = yard.run("run w.toml --no-record").exits(0);
    let line = "      0 s  /robots/r: `algorithm` never came to rest at one moment: the robot was stopped";
    assert!(
        done.err.contains(line) && done.out.contains("halted      /robots/r"),
        "{}{}",
        done.err,
        done.out
    );
    yard.write("w.toml", &format!("{world}[network]\nclass = \"constant\"\n"));
    let done = yard.run("talk w.toml --for 2s").exits(1);
    assert!(done.err.contains("protocol `algorithm` of /robots/r does not come to rest"), "{}", done.err);
}

#[test]
fn a_crash_of_the_scenario_is_played_and_the_next_one_leads() {
    let yard = Yard::new("talk-crash");
    yard.write("w.toml", &format!("{ELECTION}\n[[fault]]\nat = \"4s\"\ncrash = [\"p4\"]\n"));
    let done = yard.run("talk w.toml --for 12s --settle 3s --json").exits(0);
    let value = done.json("swarmyard-talk/1");
    assert_eq!(said(&value, "(crashes)"), BTreeSet::from(["/robots/p4"]));
    assert_eq!(said(&value, "3 leads").len(), 4, "{value}");
    assert_eq!(said(&value, "2 leads").len(), 3, "{value}");
    let all = [("completeness".to_owned(), true), ("one leader in the end".to_owned(), true)];
    assert_eq!(promises(&value), all);
}

/// A process of a talk, with what it says on its standard error.
struct Side {
    child: Child,
    err: BufReader<ChildStderr>,
    addresses: Vec<String>,
}

impl Side {
    /// Starts a process with so many robots, and waits until it has said where they listen.
    fn start(yard: &Yard, words: &str, robots: usize) -> Side {
        let mut command = yard.command(words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut err = BufReader::new(child.stderr.take().unwrap());
        let mut addresses = Vec::new();
        for _ in 0..robots {
            let mut line = String::new();
            err.read_line(&mut line).unwrap();
            let (_, flag) = line.trim().split_once("listens: ").unwrap_or_else(|| panic!("{line}"));
            addresses.push(flag.to_owned());
        }
        Side { child, err, addresses }
    }

    fn ends(mut self) -> Done {
        let output = self.child.wait_with_output().unwrap();
        let mut err = String::new();
        self.err.read_to_string(&mut err).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        Done { code: output.status.code(), out: text, err }
    }
}

#[test]
fn two_processes_share_the_robots_and_are_judged_together() {
    for over in ["udp", "tcp"] {
        let yard = Yard::new(&format!("talk-two-{over}"));
        yard.write("w.toml", &in_step(LAMPORT));
        let talk = format!("talk w.toml --over {over} --for 8s --json");
        let a = Side::start(
            &yard,
            &format!("{talk} --robot r1 --robot r3 --listen 127.0.0.1:0 --trace a.trace"),
            2,
        );
        // Of the two robots there it has to know one only.
        let b = Side::start(&yard, &format!("{talk} --robot r2 {} --trace b.trace", a.addresses[1]), 1);
        let (a, b) = (a.ends().exits(0).json("swarmyard-talk/1"), b.ends().exits(0).json("swarmyard-talk/1"));
        assert_eq!((&a["judged"], &b["judged"]), (&false.into(), &false.into()));
        assert_eq!(a["here"], serde_json::json!(["/robots/r1", "/robots/r3"]));
        let delivered = |v: &Value| {
            v["uses"][1]["told"]["delivered"].as_u64().or(v["uses"][0]["told"]["delivered"].as_u64())
        };
        assert_eq!((delivered(&a), delivered(&b)), (Some(36), Some(18)), "{a} {b}");
        let value =
            yard.run("talk w.toml --json --judge a.trace b.trace").exits(0).json("swarmyard-talk-judged/1");
        let all = promises(&value);
        assert!(all.len() == 5 && all.iter().all(|p| p.1), "{value}");
        let missing = yard.run("talk w.toml --judge a.trace").exits(1);
        assert!(missing.err.contains("there is no trace of /robots/r2"), "{}", missing.err);
        let other = yard.run("talk w.toml --judge a.trace b.trace --set type.robot.radius=0.2").exits(1);
        assert!(other.err.contains("a trace of another world in `a.trace`"), "{}", other.err);
    }
}

#[test]
fn a_message_that_one_process_never_got_is_found_when_both_are_judged() {
    let yard = Yard::new("talk-two-lose");
    yard.write("w.toml", &in_step(BEST_EFFORT));
    let talk = "talk w.toml --for 5s --json --loss 0.6";
    let a = Side::start(&yard, &format!("{talk} --robot r1 --robot r3 --trace a.trace"), 2);
    let b = Side::start(&yard, &format!("{talk} --robot r2 {} --trace b.trace", a.addresses[0]), 1);
    assert_eq!((a.ends().code, b.ends().code), (Some(0), Some(0)));
    let done = yard.run("talk w.toml --judge a.trace b.trace").exits(1);
    assert!(done.out.contains("BROKEN  order by algorithm"), "{}", done.out);
}

#[test]
fn those_who_are_left_elect_another_when_a_process_is_killed() {
    for over in ["udp", "tcp"] {
        let yard = Yard::new(&format!("talk-killed-{over}"));
        yard.write("w.toml", ELECTION);
        let talk = format!("talk w.toml --over {over} --json");
        let rest = "--for 15s --robot p1 --robot p2 --robot p3 --trace a.trace";
        let a = Side::start(&yard, &format!("{talk} {rest}"), 3);
        let first = &a.addresses[0];
        let mut b = Side::start(&yard, &format!("{talk} --for 60s --robot p4 {first} --trace b.trace"), 1);
        // Its file says so as soon as it hears who leads.
        let start = Instant::now();
        while !yard.read("b.trace").contains("\"leads\"") && start.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let killed = Command::new("kill").args(["-KILL", &b.child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        b.child.wait().unwrap();
        let value = a.ends().exits(0).json("swarmyard-talk/1");
        assert_eq!(said(&value, "3 leads").len(), 3, "{value}");
        assert_eq!(said(&value, "2 leads").len(), 3, "{value}");
        assert!(!yard.read("b.trace").contains("\"end\""));
        let value =
            yard.run("talk w.toml --json --judge a.trace b.trace").exits(0).json("swarmyard-talk-judged/1");
        let all = [("completeness".to_owned(), true), ("one leader in the end".to_owned(), true)];
        assert_eq!(promises(&value), all);
    }
}

#[test]
fn who_does_not_come_is_named() {
    let yard = Yard::new("talk-missing");
    yard.write("w.toml", ELECTION);
    for over in ["udp", "tcp"] {
        let done =
            yard.run(&format!("talk w.toml --over {over} --robot p1 --robot p3 --wait 300ms")).exits(1);
        assert!(done.err.contains("nobody spoke for /robots/p2, /robots/p4 in time"), "{}", done.err);
    }
}

#[test]
fn what_cannot_be_done_over_sockets_is_said() {
    let yard = Yard::with_duel("talk-cannot");
    assert!(yard.run("talk duel.toml").exits(1).err.contains("no robot of this world lives by events"));
    let gathering = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds/gathering.toml");
    let done = yard.run(&format!("talk {gathering} --for 5s")).exits(1);
    assert!(done.err.contains("over sockets a robot knows only its own place"), "{}", done.err);
    let helped = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds/python-help.toml");
    assert!(yard.run(&format!("talk {helped}")).exits(1).err.contains("process outside"));
    yard.write("w.toml", ELECTION);
    let far = yard.run("talk w.toml --robot p1 --listen 0.0.0.0:0").exits(2);
    assert!(
        far.err.contains("beyond this machine") && far.err.contains("--beyond-this-machine"),
        "{}",
        far.err
    );
    let who = yard.run("talk w.toml --robot p9").exits(2);
    assert!(who.err.contains("`p9` is no robot") && who.err.contains("/robots/p4"), "{}", who.err);
    yard.write("peers", "p1 127.0.0.1:0\np2 nowhere\n");
    let peers = yard.run("talk w.toml --robot p1 --peers peers").exits(1);
    assert!(peers.err.contains("line 2 is not PATH ADDRESS:PORT"), "{}", peers.err);
}
