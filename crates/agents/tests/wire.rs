//! The same protocols over real sockets, judged by the same checkers as in the laboratory.

use std::net::UdpSocket;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_agents::wire::{self, Mode, Script, Settings, Wire, WireError};
use swarmyard_base::hash::mix64;
use swarmyard_part_api::{Exclusion, GraphModel, Group, Indication, Propose, ReadClock, Registry};
use swarmyard_radio::check::{
    Violations, all, broadcast, clock, consensus, detector, leader, membership, mutex,
};
use swarmyard_radio::lab::{Stack, Trace, What};
use swarmyard_scene::Value;

/// Long enough for everything below on a busy machine; nothing waits for it but the clock.
const LONG: Duration = Duration::from_secs(12);

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// A protocol: its name, its class, its parameters.
type Layer = (&'static str, &'static str, Vec<(&'static str, Value)>);

fn link() -> Layer {
    ("sure", "reliable-link", vec![("retry", Value::Num(0.03)), ("slowest", Value::Num(0.2))])
}

/// A graph by (name, class, parameters), over a reliable link called `sure`; the probe uses the last one.
fn graph(classes: &[Layer]) -> Arc<GraphModel> {
    let registry = registry();
    let (name, class, params) = link();
    let mut stack = Stack::new(&registry).class(name, class, &params);
    for (name, class, params) in classes {
        stack = stack.class(name, class, params);
    }
    stack.probe(&[classes.last().map_or("sure", |c| c.0)]).build().unwrap()
}

/// Twelve broadcasts of three processes within half a second.
fn twelve() -> Script {
    let mut script = Script::default();
    for k in 0..12 {
        script.broadcast(0.1 + 0.03 * f64::from(k), k % 3, &format!("m{k}"));
    }
    script
}

/// Three processes propose in five instances.
fn five_instances() -> Script {
    let mut script = Script::default();
    for instance in 0..5 {
        for process in 0..3 {
            let value = format!("v{instance} of {process}").into_bytes().into();
            script.at(0.2 + 0.1 * instance as f64, process, Propose { instance, value });
        }
    }
    script
}

/// Three processes want to be alone three times, all at once; the probe leaves after 30 ms.
fn three_times_alone() -> Script {
    let mut script = Script::default();
    for round in 0..3 {
        for process in 0..3 {
            script.at(0.2 + 1.3 * f64::from(round), process, Exclusion::Enter);
        }
    }
    script
}

/// Messages in a group, and one that quits and joins again between them.
fn a_group() -> Script {
    let mut script = Script::default();
    for k in 0..12_u32 {
        let bytes = format!("m{k}").into_bytes().into();
        script.at(0.2 + 0.25 * f64::from(k), k % 2, Group::Cast(bytes));
    }
    script.at(0.8, 2, Group::Quit);
    script.at(2.0, 2, Group::Join);
    script
}

/// Three processes look at their clocks ten times, about at the same moments.
fn ten_looks() -> Script {
    let mut script = Script::default();
    for k in 0..10 {
        (0..3).for_each(|p| script.at(2.5 + 0.2 * f64::from(k), p, ReadClock::Now));
    }
    script
}

/// Clocks up to 5 s wrong over the bare network, where messages take up to so many seconds.
fn clocks(way: &'static str, delay_max: f64) -> Arc<GraphModel> {
    let params = vec![
        ("way", text(way)),
        ("period", Value::Num(20.0 * delay_max)),
        ("delay_max", Value::Num(delay_max)),
        ("offset", Value::Num(5.0)),
        ("drift", Value::Num(1e-3)),
    ];
    graph(&[("time", "clock-sync", params)])
}

/// They are as near as they say, and most do say so.
fn near(trace: &Trace) -> Violations {
    let silent = clock::readings(trace).filter(|r| r.error_s.is_none()).count();
    let few =
        if silent > 20 { vec![format!("{silent} of 30 readings without an error")] } else { Vec::new() };
    all([clock::claims(trace), clock::answers(trace), few])
}

/// Seconds of silence after which somebody is suspected: nobody fails where that counts, and a busy machine must not pass
/// for a failure.
const SUSPECTED: f64 = 5.0;

/// A detector that is patient enough for a busy machine.
fn patient() -> Layer {
    ("fd", "heartbeat", vec![("timeout", Value::Num(SUSPECTED)), ("adaptive", Value::Bool(true))])
}

fn agreeing(class: &'static str) -> Layer {
    ("agree", class, vec![("link", text("sure")), ("detector", text("fd"))])
}

/// This one crashes early and stays away.
fn without(process: u32) -> Script {
    let mut script = Script::default();
    script.crash(1.0, process);
    script
}

/// When everything has settled, in seconds: a second before the end.
const ENDS: f64 = 11.0;

/// All that live follow this one at the end.
fn follow(trace: &Trace, wanted: u32) -> Violations {
    let last = |process: u32| {
        let said = trace.indications().filter(|i| i.1 == process);
        said.filter_map(|i| if let Indication::Leads(robot) = i.3 { Some(*robot) } else { None }).last()
    };
    let others = trace.correct().into_iter().filter(|p| last(*p) != Some(wanted));
    others.map(|p| format!("process {p} follows {:?}, not {wanted}", last(p))).collect()
}

struct Case {
    name: &'static str,
    graph: fn() -> Arc<GraphModel>,
    script: fn() -> Script,
    /// How many indications there must be at least.
    least: usize,
    check: fn(&Trace) -> Violations,
}

fn over_sure(name: &'static str, class: &'static str) -> Layer {
    (name, class, vec![("link", text("sure"))])
}

/// A total order that agrees with the dead.
fn uniform(class: &'static str) -> Layer {
    ("order", class, vec![("link", text("sure")), ("uniform", Value::Bool(true))])
}

/// One line for each stack.
const CASES: &[Case] = &[
    Case {
        name: "reliable broadcast",
        graph: || graph(&[over_sure("rb", "reliable-broadcast")]),
        script: twelve,
        least: 36,
        check: broadcast::reliable,
    },
    Case {
        name: "uniform broadcast",
        graph: || graph(&[over_sure("urb", "uniform-broadcast")]),
        script: twelve,
        least: 36,
        check: broadcast::uniform,
    },
    Case {
        name: "FIFO broadcast",
        graph: || {
            let fifo = ("fifo", "fifo-broadcast", vec![("broadcast", text("rb"))]);
            graph(&[over_sure("rb", "reliable-broadcast"), fifo])
        },
        script: twelve,
        least: 36,
        check: |t| all([broadcast::reliable(t), broadcast::fifo(t)]),
    },
    Case {
        name: "causal broadcast",
        graph: || {
            let causal = ("causal", "causal-broadcast", vec![("broadcast", text("rb"))]);
            graph(&[over_sure("rb", "reliable-broadcast"), causal])
        },
        script: twelve,
        least: 36,
        check: |t| all([broadcast::reliable(t), broadcast::fifo(t), broadcast::causal(t)]),
    },
    Case {
        name: "total order by Lamport's clocks",
        graph: || graph(&[over_sure("order", "lamport-order")]),
        script: twelve,
        least: 36,
        check: |t| all([broadcast::atomic(t), broadcast::fifo(t)]),
    },
    Case {
        name: "total order by a sequencer",
        graph: || graph(&[uniform("sequencer-order")]),
        script: twelve,
        least: 36,
        check: broadcast::uniform_atomic,
    },
    Case {
        name: "total order by a sequencer that is not uniform",
        graph: || graph(&[over_sure("order", "sequencer-order")]),
        script: twelve,
        least: 36,
        check: |t| all([broadcast::atomic(t), broadcast::fifo(t)]),
    },
    Case {
        name: "total order by a moving sequencer",
        graph: || graph(&[over_sure("order", "moving-sequencer")]),
        script: twelve,
        least: 36,
        check: |t| all([broadcast::atomic(t), broadcast::fifo(t)]),
    },
    Case {
        name: "uniform total order by a moving sequencer",
        graph: || graph(&[uniform("moving-sequencer")]),
        script: twelve,
        least: 36,
        check: |t| all([broadcast::uniform_atomic(t), broadcast::fifo(t)]),
    },
    Case {
        name: "total order by a token",
        graph: || graph(&[over_sure("order", "token-order")]),
        script: twelve,
        least: 36,
        check: |t| all([broadcast::atomic(t), broadcast::fifo(t)]),
    },
    Case {
        name: "uniform total order by a token",
        graph: || graph(&[uniform("token-order")]),
        script: twelve,
        least: 36,
        check: |t| all([broadcast::uniform_atomic(t), broadcast::fifo(t)]),
    },
    Case {
        name: "total order by Skeen",
        graph: || graph(&[over_sure("order", "skeen-order")]),
        script: twelve,
        least: 36,
        check: broadcast::atomic,
    },
    Case {
        name: "consensus of Chandra and Toueg",
        graph: || graph(&[patient(), agreeing("chandra-toueg")]),
        script: five_instances,
        least: 15,
        check: consensus::uniform,
    },
    Case {
        name: "consensus of Mostéfaoui and Raynal",
        graph: || graph(&[patient(), agreeing("mostefaoui-raynal")]),
        script: five_instances,
        least: 15,
        check: consensus::uniform,
    },
    Case {
        name: "Paxos over the bare network",
        graph: || {
            let timeout = vec![("way", text("accusations")), ("timeout", Value::Num(SUSPECTED))];
            graph(&[("leader", "omega", timeout), ("agree", "paxos", vec![("leader", text("leader"))])])
        },
        script: five_instances,
        least: 15,
        check: consensus::uniform,
    },
    Case {
        name: "total order by consensus",
        graph: || {
            let order = vec![("broadcast", text("rb")), ("consensus", text("agree"))];
            let rb = over_sure("rb", "reliable-broadcast");
            graph(&[patient(), agreeing("chandra-toueg"), rb, ("order", "order-by-consensus", order)])
        },
        script: twelve,
        least: 36,
        check: broadcast::uniform_atomic,
    },
    Case {
        name: "mutual exclusion of Ricart and Agrawala",
        graph: || {
            let registry = registry();
            let (name, class, params) = link();
            let stack = Stack::new(&registry).class(name, class, &params);
            let (name, class, params) = over_sure("alone", "ricart-agrawala");
            stack.class(name, class, &params).probe_that_holds(&["alone"], Some(0.03)).build().unwrap()
        },
        script: three_times_alone,
        least: 9,
        check: mutex::mutex,
    },
    Case {
        name: "failures found around a ring over the bare network",
        graph: || {
            let params = vec![("timeout", Value::Num(SUSPECTED)), ("adaptive", Value::Bool(true))];
            graph(&[("fd", "ring-heartbeat", params)])
        },
        script: || without(2),
        // Both that are left suspect the third.
        least: 2,
        check: |t| all([detector::form(t), detector::completeness(t), detector::accuracy_since(t, ENDS)]),
    },
    Case {
        name: "a leader by accusations over the bare network",
        graph: || {
            let params = vec![("way", text("accusations")), ("timeout", Value::Num(SUSPECTED))];
            graph(&[("leader", "omega", params)])
        },
        script: || without(0),
        // Both that are left have followed the first, then another.
        least: 4,
        check: |t| all([leader::eventual(t), follow(t, 1)]),
    },
    Case {
        name: "clocks by asking one",
        graph: || clocks("ask", 0.05),
        script: ten_looks,
        least: 30,
        check: near,
    },
    Case {
        name: "a group with views",
        graph: || {
            let rb = over_sure("rb", "reliable-broadcast");
            graph(&[patient(), agreeing("chandra-toueg"), rb, ("group", "membership", vec![])])
        },
        script: a_group,
        // Twelve messages for each of two, and two changes of view at least.
        least: 26,
        check: membership::safety,
    },
];

fn all_cases(settings: Settings) {
    std::thread::scope(|scope| {
        for case in CASES {
            scope.spawn(move || {
                let graphs = vec![(case.graph)(); 3];
                let trace = wire::run(&graphs, settings, &(case.script)(), LONG).unwrap();
                let wrong = (case.check)(&trace);
                assert!(wrong.is_empty(), "{} over {:?}: {}", case.name, settings.mode, wrong.join("\n"));
                let told = trace.indications().count();
                assert!(
                    told >= case.least,
                    "{} over {:?}: only {told} indications",
                    case.name,
                    settings.mode
                );
                let lost = trace.events.iter().filter(|e| matches!(e.what, What::Lost { .. })).count();
                println!(
                    "{} over {:?}: {told} indications, {} messages, {lost} lost",
                    case.name,
                    settings.mode,
                    trace.copies()
                );
                // What is sent to a process that is gone is lost too.
                let gone = trace.correct().len() < 3;
                assert_eq!(lost > 0, settings.loss > 0.0 || gone, "{}", case.name);
            });
        }
    });
}

#[test]
fn every_stack_passes_its_checker_over_udp_that_loses() {
    all_cases(Settings::new(Mode::Udp).losing(0.2));
}

#[test]
fn every_stack_passes_its_checker_over_tcp() {
    all_cases(Settings::new(Mode::Tcp));
}

#[test]
fn clocks_by_their_mean_agree_over_udp() {
    // The delay is generous for a busy machine: clocks that were up to 10 s apart are within a second.
    let graphs = vec![clocks("average", 1.0); 3];
    let trace = wire::run(&graphs, Settings::new(Mode::Udp), &ten_looks(), LONG).unwrap();
    assert_eq!(near(&trace), Violations::new());
    assert_eq!(clock::readings(&trace).count(), 30);
}

#[test]
fn bare_best_effort_fails_over_udp_that_loses() {
    let graph =
        Stack::new(&registry()).class("all", "best-effort-broadcast", &[]).probe(&["all"]).build().unwrap();
    let settings = Settings::new(Mode::Udp).losing(0.3);
    let trace = wire::run(&vec![graph; 3], settings, &twelve(), Duration::from_secs(4)).unwrap();
    assert!(!broadcast::best_effort_validity(&trace).is_empty());
    assert_eq!(broadcast::integrity(&trace), Violations::new());
}

#[test]
fn a_process_crashes_and_comes_back() {
    let mut script = twelve();
    script.crash(0.3, 2);
    script.recover(1.0, 2);
    script.broadcast(1.5, 2, "back");
    let graph = graph(&[over_sure("rb", "reliable-broadcast")]);
    let trace = wire::run(&vec![graph; 3], Settings::new(Mode::Udp).losing(0.1), &script, LONG).unwrap();
    assert_eq!(broadcast::reliable(&trace), Violations::new());
    assert_eq!((trace.correct(), trace.up_at_the_end()), ([0, 1].into(), [0, 1, 2].into()));
    let back =
        |what: &Indication| matches!(what, Indication::Delivered { bytes, .. } if bytes[..] == b"back"[..]);
    assert_eq!(trace.indications().filter(|i| back(i.3)).count(), 3);
}

#[test]
fn garbage_changes_nothing() {
    let graph = graph(&[over_sure("rb", "reliable-broadcast")]);
    let bound = Wire::bind(&vec![graph; 3], Settings::new(Mode::Udp)).unwrap();
    let addresses = bound.addresses().to_vec();
    let trace = std::thread::scope(|scope| {
        scope.spawn(|| {
            let stranger = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
            let start = Instant::now();
            let mut sent = 0_u64;
            while sent <= 100 || start.elapsed() < Duration::from_secs(1) {
                sent += 1;
                let length = (mix64(sent) % 1400) as usize;
                let mut garbage: Vec<u8> = (0..length as u64).map(|k| mix64(sent << 12 | k) as u8).collect();
                if sent.is_multiple_of(2) && garbage.len() > 4 {
                    garbage[..4].copy_from_slice(b"SWY1");
                }
                // The system may refuse some of a flood.
                let _ = stranger.send_to(&garbage, addresses[(sent % 3) as usize]);
                std::thread::sleep(Duration::from_micros(200));
            }
        });
        bound.run(&twelve(), LONG).unwrap()
    });
    assert_eq!(broadcast::reliable(&trace), Violations::new());
    assert_eq!(trace.indications().count(), 36);
    // Everything that was heard had been sent.
    let sent: Vec<u64> = trace.events.iter().filter_map(|e| serial(&e.what, true)).collect();
    let heard: Vec<u64> = trace.events.iter().filter_map(|e| serial(&e.what, false)).collect();
    assert!(!heard.is_empty() && heard.iter().all(|s| sent.contains(s)));
}

fn serial(what: &What, sent: bool) -> Option<u64> {
    match what {
        What::Sent { serial, .. } if sent => Some(*serial),
        What::Received { serial, .. } if !sent => Some(*serial),
        _ => None,
    }
}

#[test]
fn messages_that_are_too_long_are_lost_and_nothing_else() {
    let graph =
        Stack::new(&registry()).class("all", "best-effort-broadcast", &[]).probe(&["all"]).build().unwrap();
    for mode in [Mode::Udp, Mode::Tcp] {
        let mut script = Script::default();
        script.broadcast(0.1, 0, &"x".repeat(wire::MOST_BYTES + 1));
        script.broadcast(0.2, 0, &"y".repeat(wire::MOST_BYTES / 2));
        let graphs = vec![Arc::clone(&graph); 2];
        let trace = wire::run(&graphs, Settings::new(mode), &script, Duration::from_secs(4)).unwrap();
        let delivered: Vec<usize> = trace
            .indications()
            .filter(|i| i.1 == 1)
            .map(|i| if let Indication::Delivered { bytes, .. } = i.3 { bytes.len() } else { 0 })
            .collect();
        assert_eq!(delivered, [wire::MOST_BYTES / 2], "{mode:?}");
    }
}

#[test]
fn mistakes_are_reported_before_anything_runs() {
    let graph = graph(&[]);
    let many = vec![Arc::clone(&graph); wire::MOST_PROCESSES + 1];
    let result = Wire::bind(&many, Settings::new(Mode::Udp)).map(|_| ());
    assert!(matches!(result, Err(WireError::TooMany(65))), "{result:?}");
    let mut script = Script::default();
    script.at(0.1, 0, Exclusion::Enter);
    let problem = wire::run(&[graph], Settings::new(Mode::Udp), &script, LONG).unwrap_err();
    assert_eq!(problem.to_string(), "the probe of process 0 has no port for mutex");
}
