//! Protocols over real sockets between two machines: network namespaces of this one, with a cable between them. Where those may not
//! be made, these tests say so and do nothing; on one machine `command/talk.rs` tests the same between processes.

use crate::in_step::{LAMPORT, in_step};
use crate::nets::{ADDRESSES, Net, skipped};
use crate::yard::{AGES, alone, folder, swarmyard};
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

/// No order, over a link that sends again what was lost.
const SURE: &str = "[[type.robot.protocol]]\nname = \"sure\"\nclass = \"reliable-link\"\n\
    [[type.robot.protocol]]\nname = \"order\"\nclass = \"best-effort-broadcast\"\nlink = \"sure\"\n";

/// Two machines, or a word about why there are none.
fn machines() -> Option<Net> {
    Net::make().map_err(|why| skipped(&format!("network namespaces cannot be made here: {why}"))).ok()
}

/// A process of a talk.
struct Side {
    child: Child,
    err: BufReader<ChildStderr>,
    /// Where its robots listen, as arguments for another.
    peers: Vec<String>,
}

impl Side {
    /// Starts one on a machine, with so many robots, and waits until it has said where they listen.
    fn start(net: &Net, machine: usize, words: &str, robots: usize) -> Side {
        let mut command = swarmyard(&net.on(machine), words);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
        let mut err = BufReader::new(child.stderr.take().expect("its errors"));
        let mut peers = Vec::new();
        for _ in 0..robots {
            let mut line = String::new();
            err.read_line(&mut line).expect("a line");
            let (_, flag) = line.trim().split_once("listens: ").unwrap_or_else(|| panic!("`{line}`"));
            peers.push(flag.to_owned());
        }
        Side { child, err, peers }
    }

    /// What it reports when it is done.
    fn ends(mut self) -> Value {
        let mut said = String::new();
        self.err.read_to_string(&mut said).expect("text");
        let mut out = String::new();
        self.child.stdout.take().expect("its output").read_to_string(&mut out).expect("text");
        let status = self.child.wait().expect("waited for");
        assert!(status.success(), "{status}: {said}");
        serde_json::from_str(&out).unwrap_or_else(|e| panic!("{e}: `{out}` {said}"))
    }
}

impl Drop for Side {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Two robots on the first machine and one on the second, which is told of one of them only; what both wrote down.
fn talk(net: &Net, dir: &Path, over: &str, long: &str, meanwhile: impl FnOnce()) -> [PathBuf; 2] {
    let traces = ["a", "b"].map(|side| dir.join(format!("{side}-{over}.trace")));
    let usual =
        format!("talk {}/w.toml --over {over} --for {long} --json --beyond-this-machine", dir.display());
    let words = |k: usize, robots: &str| {
        format!("{usual} {robots} --listen {}:0 --trace {}", ADDRESSES[k], traces[k].display())
    };
    let a = Side::start(net, 0, &words(0, "--robot r1 --robot r3"), 2);
    assert!(a.peers[0].contains(ADDRESSES[0]), "{:?}", a.peers);
    let b = Side::start(net, 1, &format!("{} {}", words(1, "--robot r2"), a.peers[1]), 1);
    meanwhile();
    let (a, b) = (a.ends(), b.ends());
    let delivered = |v: &Value| {
        let uses = v["uses"].as_array().expect("a list");
        uses.iter().find_map(|u| u["told"]["delivered"].as_u64().filter(|n| *n > 0))
    };
    assert!(delivered(&a).is_some() && delivered(&b).is_some(), "{a} {b}");
    traces
}

/// What the checkers say of both together.
fn judged(dir: &Path, traces: &[PathBuf; 2]) -> Value {
    let [a, b] = traces.each_ref().map(|t| t.display());
    let words = format!("talk {}/w.toml --json --judge {a} {b}", dir.display());
    let out = swarmyard(&[], &words).output().expect("the command");
    let said = String::from_utf8_lossy(&out.stderr);
    let text = String::from_utf8_lossy(&out.stdout);
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text} {said}"));
    assert!(out.status.success(), "{value}");
    value
}

fn assert_kept(value: &Value, wanted: &[&str]) {
    let all = value["promises"].as_array().expect("promises");
    for name in wanted {
        assert!(all.iter().any(|p| p["promise"] == *name && p["kept"] == true), "{name}: {value}");
    }
    assert!(all.iter().all(|p| p["kept"] == true), "{value}");
}

const TOTAL_ORDER: [&str; 5] = ["integrity", "FIFO order", "total order", "validity", "agreement"];

#[test]
fn a_total_order_between_two_machines_keeps_its_promises_over_both_kinds_of_sockets() {
    let _alone = alone();
    let Some(net) = machines() else { return };
    let dir = folder("talk-order");
    std::fs::write(dir.join("w.toml"), in_step(LAMPORT)).expect("a world");
    for over in ["udp", "tcp"] {
        let traces = talk(&net, &dir, over, "7s", || {});
        let value = judged(&dir, &traces);
        println!("{over}: {value}");
        assert_kept(&value, &TOTAL_ORDER);
    }
}

/// What was sent meanwhile is lost; who sends again until there is an answer, and TCP, make up for it.
#[test]
fn a_cable_that_is_out_for_a_while_costs_no_promise() {
    let _alone = alone();
    let Some(net) = machines() else { return };
    let dir = folder("talk-cable");
    let sure = ["integrity", "best-effort validity"].as_slice();
    for (over, protocols, promises) in [("udp", SURE, sure), ("tcp", LAMPORT, &TOTAL_ORDER)] {
        std::fs::write(dir.join("w.toml"), in_step(protocols)).expect("a world");
        let trace = dir.join(format!("b-{over}.trace"));
        let traces = talk(&net, &dir, over, "10s", || {
            // They talk as soon as something is written down behind the first lines.
            let since = Instant::now();
            while std::fs::read_to_string(&trace).map_or(0, |text| text.lines().count()) < 4 {
                assert!(since.elapsed() < AGES, "they do not talk");
                std::thread::sleep(Duration::from_millis(10));
            }
            net.cable("down");
            std::thread::sleep(Duration::from_millis(700));
            net.cable("up");
        });
        let value = judged(&dir, &traces);
        println!("{over}: {value}");
        assert_kept(&value, promises);
    }
}

/// Somebody on the other machine who is not of this talk says hello, and nonsense, to every port: nobody listens to him.
#[test]
fn a_stranger_on_the_other_machine_is_not_listened_to() {
    let _alone = alone();
    let Some(net) = machines() else { return };
    let dir = folder("talk-stranger");
    std::fs::write(dir.join("w.toml"), in_step(LAMPORT)).expect("a world");
    std::fs::write(dir.join("other.toml"), in_step(LAMPORT).replace("0.1\n[[", "0.2\n[[")).expect("a world");
    let usual = format!("--for 1s --wait 1500ms --json --beyond-this-machine --listen {}:0", ADDRESSES[0]);
    let here = format!("talk {}/w.toml {usual} --robot r1 --robot r3", dir.display());
    let mut a = Side::start(&net, 0, &here, 2);
    let usual = format!("--for 1s --wait 1s --json --beyond-this-machine --listen {}:0", ADDRESSES[1]);
    let there = format!("talk {}/other.toml {usual} --robot r2 {}", dir.display(), a.peers[0]);
    let mut b = Side::start(&net, 1, &there, 1);
    for side in [&mut a, &mut b] {
        let status = side.child.wait().expect("waited for");
        assert_eq!(status.code(), Some(1));
    }
    let mut said = String::new();
    a.child.stdout.take().expect("its output").read_to_string(&mut said).expect("text");
    a.err.read_to_string(&mut said).expect("text");
    assert!(said.contains("nobody spoke for /robots/r2 in time"), "{said}");
    assert!(said.contains("messages came that were not for this talk"), "{said}");
    // Nor is it begun beyond this machine unless that is said.
    let words = here.replace(" --beyond-this-machine", "");
    let out = swarmyard(&net.on(0), &words).output().expect("the command");
    let said = String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    assert!(out.status.code() == Some(2) && said.contains("--beyond-this-machine"), "{said}");
}
