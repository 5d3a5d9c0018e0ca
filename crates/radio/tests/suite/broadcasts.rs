//! The plain broadcasts through thousands of runs with crashes, loss and partitions, by checkers that know
//! nothing of them; and what each of them must fail.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid};
use swarmyard_part_api::{
    Cx, GraphModel, Indication, Microprotocol, PortSpec, ProtocolModel, Registry, ServiceKind,
    memory_is_serde, protocol_id,
};
use swarmyard_radio::check::{Violations, all, broadcast};
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, What, Wires};
use swarmyard_scene::Value;

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

/// A detector that knows: it suspects each of these robots from that time on, and is never wrong if told right.
struct Oracle(Vec<(u32, f64)>);

#[derive(Serialize, Deserialize)]
struct Knowing {
    list: Vec<(u32, f64)>,
    timers: Vec<u64>,
}

impl ProtocolModel for Oracle {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Detector)
    }
    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Knowing { list: self.0.clone(), timers: Vec::new() })
    }
}

impl Microprotocol for Knowing {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.timers = self.list.iter().map(|(_, at)| cx.set_timer(*at)).collect();
    }
    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if let Some(k) = self.timers.iter().position(|t| *t == timer) {
            cx.tell_all(Indication::Suspected(self.list[k].0));
        }
    }
    memory_is_serde!();
}

/// The broadcasts, each over `reliable-link` or over the bare network.
fn graph(name: &str, link: &str, suspects: &[(u32, f64)]) -> Arc<GraphModel> {
    let registry = registry();
    let mut stack = Stack::new(&registry);
    if link == "sure" {
        let params = [("retry", Value::Num(0.05)), ("slowest", Value::Num(0.8))];
        stack = stack.class("sure", "reliable-link", &params);
    }
    let link = ("link", text(link));
    let stack = match name {
        "best-effort" => stack.class("top", "best-effort-broadcast", &[link]),
        "eager" => stack.class("top", "reliable-broadcast", &[link]),
        "lazy" | "forgetful" => {
            let forget = if name == "lazy" { 0.0 } else { 0.5 };
            let params = [link, ("mode", text("lazy")), ("forget", Value::Num(forget))];
            stack.model("oracle", Arc::new(Oracle(suspects.to_vec())), &[]).class(
                "top",
                "reliable-broadcast",
                &params,
            )
        }
        "majority" => stack.class("top", "uniform-broadcast", &[link]),
        "all" => {
            let params = [link, ("wait_for", text("all"))];
            stack.model("oracle", Arc::new(Oracle(suspects.to_vec())), &[]).class(
                "top",
                "uniform-broadcast",
                &params,
            )
        }
        "fifo" | "causal" => {
            let class = if name == "fifo" { "fifo-broadcast" } else { "causal-broadcast" };
            let stack = stack.class("below", "reliable-broadcast", &[link]);
            stack.class("top", class, &[("broadcast", text("below"))])
        }
        _ => panic!("no such stack `{name}`"),
    };
    stack.probe(&["top"]).build().unwrap()
}

/// How one run goes wrong.
#[derive(Clone, Copy)]
struct Trouble {
    /// Most robots that crash; `None`: fewer than half.
    crashes: Option<u32>,
    partitions: bool,
    wires: fn() -> Wires,
    link: &'static str,
}

fn bad_wires() -> Wires {
    Wires::new(Delay::Exponential(0.03)).losing(0.25).doubling(0.1)
}

fn fair_wires() -> Wires {
    Wires::new(Delay::Exponential(0.03))
}

const EVERYTHING: Trouble = Trouble { crashes: None, partitions: true, wires: bad_wires, link: "sure" };

/// One run: 3 to 5 robots, 12 broadcasts within two seconds, then 18 seconds to settle.
fn run(name: &str, seed: u64, trouble: Trouble) -> Trace {
    let draw = Draw::at(seed, Uid(1), Purpose::Test, Time(0), 0);
    let n = 3 + draw.below(0, 3);
    let most = trouble.crashes.unwrap_or((n - 1) / 2);
    let crashes = draw.below(1, most + 1);
    let first = draw.below(2, n);
    let victims: Vec<(u32, f64)> =
        (0..crashes).map(|k| ((first + k) % n, draw.between(10 + k, 0.0, 2.5))).collect();
    // The oracle is 0.3 s late; who crashes by counting its messages is down by then, or never was in danger.
    let suspects: Vec<(u32, f64)> = victims.iter().map(|(p, t)| (*p, t + 0.3)).collect();
    let mut lab = Lab::new(seed, &graph(name, trouble.link, &suspects), n, &(trouble.wires)());
    for k in 0..12 {
        lab.broadcast(draw.between(100 + k, 0.0, 2.0), draw.below(200 + k, n), &format!("m{k}"));
    }
    for (k, (p, t)) in victims.iter().enumerate() {
        match draw.below(20 + k as u32, 3) {
            0 => lab.crash(*t, *p),
            1 => lab.crash_losing_messages(*t, *p),
            _ => {
                lab.crash_after_copies(*p, u64::from(draw.below(30 + k as u32, 60)));
                lab.crash(*t, *p);
            }
        }
    }
    if trouble.partitions && draw.uniform(3) < 0.5 {
        let cut = draw.below(4, n);
        lab.partition(draw.between(5, 0.0, 2.0), &[&[cut]]);
        lab.heal(draw.between(6, 2.0, 4.0));
    }
    lab.run_until(20.0).unwrap();
    lab.into_trace()
}

/// Runs many seeds; every trace must pass.
fn passes(name: &str, seeds: u64, trouble: Trouble, check: fn(&Trace) -> Violations) {
    let (mut delivered, mut crashed) = (0, 0);
    for seed in 0..seeds {
        let trace = run(name, seed, trouble);
        let wrong = check(&trace);
        assert!(wrong.is_empty(), "{name}, seed {seed}: {}", wrong.join("\n"));
        delivered += trace.indications().count();
        crashed += trace.processes as usize - trace.correct().len();
    }
    println!("{name}: {seeds} runs, {delivered} deliveries, {crashed} crashes, no violation");
    assert!(delivered as u64 > 10 * seeds, "hardly anything was delivered");
    assert!(trouble.crashes == Some(0) || crashed as u64 > seeds / 10, "hardly anybody crashed");
}

/// How many of the seeds fail: a control that a checker, and the trouble, have teeth.
fn failures(name: &str, seeds: u64, trouble: Trouble, check: fn(&Trace) -> Violations) -> u64 {
    let failed = (0..seeds).filter(|seed| !check(&run(name, *seed, trouble)).is_empty()).count() as u64;
    println!("{name}: {failed} of {seeds} runs fail, as they must");
    failed
}

#[test]
fn best_effort_is_valid_over_reliable_links_whoever_crashes() {
    let check = |t: &Trace| all([broadcast::best_effort_validity(t), broadcast::integrity(t)]);
    passes("best-effort", 1000, EVERYTHING, check);
}

#[test]
fn eager_reliable_broadcast_is_reliable_whoever_crashes() {
    passes("eager", 1500, Trouble { crashes: Some(2), ..EVERYTHING }, broadcast::reliable);
}

#[test]
fn lazy_reliable_broadcast_is_reliable_whoever_crashes() {
    passes("lazy", 1000, Trouble { crashes: Some(2), ..EVERYTHING }, broadcast::reliable);
    passes("forgetful", 500, Trouble { crashes: Some(2), ..EVERYTHING }, broadcast::reliable);
}

#[test]
fn uniform_broadcast_by_majority_is_uniform_while_a_majority_lives() {
    passes("majority", 1500, EVERYTHING, broadcast::uniform);
}

#[test]
fn uniform_broadcast_by_all_is_uniform_whoever_crashes_with_a_perfect_detector() {
    passes("all", 1000, Trouble { crashes: Some(2), ..EVERYTHING }, broadcast::uniform);
}

#[test]
fn fifo_broadcast_is_reliable_and_in_the_order_of_each_sender() {
    let check = |t: &Trace| all([broadcast::reliable(t), broadcast::fifo(t)]);
    passes("fifo", 1500, Trouble { crashes: Some(2), ..EVERYTHING }, check);
}

#[test]
fn causal_broadcast_is_reliable_and_in_causal_order() {
    let check = |t: &Trace| all([broadcast::reliable(t), broadcast::fifo(t), broadcast::causal(t)]);
    passes("causal", 1500, Trouble { crashes: Some(2), ..EVERYTHING }, check);
}

#[test]
fn best_effort_fails_agreement_under_a_crash() {
    let mut lab = Lab::new(1, &graph("best-effort", "network", &[]), 3, &fair_wires());
    lab.crash_after_copies(0, 1);
    lab.broadcast(1.0, 0, "torn");
    lab.run_until(5.0).unwrap();
    let wrong = broadcast::agreement(lab.trace());
    assert_eq!(wrong, ["agreement: process 1 delivers `torn` of process 0, process 2 does not"]);
    assert!(failures("best-effort", 300, EVERYTHING, broadcast::agreement) > 5);
}

#[test]
fn reliable_broadcast_fails_uniform_agreement_under_a_crash() {
    // Robot 0 has delivered to itself, and what it sent dies with it.
    let mut lab = Lab::new(1, &graph("eager", "network", &[]), 3, &fair_wires());
    lab.broadcast(1.0, 0, "last words");
    lab.crash_losing_messages(1.0 + 1e-6, 0);
    lab.run_until(5.0).unwrap();
    assert_eq!(broadcast::reliable(lab.trace()), Violations::new());
    assert_eq!(broadcast::uniform_agreement(lab.trace()).len(), 2);
    assert!(failures("eager", 300, EVERYTHING, broadcast::uniform_agreement) > 5);
}

#[test]
fn reliable_broadcast_fails_over_links_that_lose() {
    let losing = Trouble { link: "network", ..EVERYTHING };
    assert!(failures("eager", 200, losing, broadcast::reliable) > 50);
}

#[test]
fn lazy_reliable_broadcast_fails_agreement_with_a_detector_that_never_suspects() {
    let run = |suspects: &[(u32, f64)]| {
        let mut lab = Lab::new(1, &graph("lazy", "network", suspects), 3, &fair_wires());
        lab.crash_after_copies(0, 1);
        lab.broadcast(1.0, 0, "torn");
        lab.run_until(5.0).unwrap();
        broadcast::agreement(lab.trace()).len()
    };
    assert_eq!((run(&[]), run(&[(0, 2.0)])), (1, 0));
}

#[test]
fn uniform_broadcast_by_all_fails_with_a_detector_that_is_wrong() {
    // Robot 0 suspects everybody at once, so it delivers alone, and then crashes with its messages.
    let graph = graph("all", "network", &[(1, 0.5), (2, 0.5)]);
    let mut lab = Lab::new(1, &graph, 3, &fair_wires());
    lab.broadcast(1.0, 0, "alone");
    lab.crash_losing_messages(1.0 + 1e-6, 0);
    lab.run_until(5.0).unwrap();
    assert_eq!(broadcast::uniform_agreement(lab.trace()).len(), 2);
}

#[test]
fn uniform_broadcast_by_majority_waits_for_ever_when_half_have_crashed() {
    for seed in 0..300 {
        let mut lab = Lab::new(seed, &graph("majority", "network", &[]), 4, &fair_wires());
        lab.crash(0.5, 0);
        lab.crash(0.5, 1);
        lab.broadcast(1.0, 2, "waiting");
        lab.run_until(20.0).unwrap();
        assert_eq!(lab.trace().indications().count(), 0);
    }
    let too_many = Trouble { crashes: Some(3), ..EVERYTHING };
    for seed in 0..300 {
        assert_eq!(broadcast::integrity(&run("majority", seed, too_many)), Violations::new(), "seed {seed}");
    }
    assert!(failures("majority", 300, too_many, broadcast::validity) > 20);
}

#[test]
fn reliable_broadcast_fails_fifo_and_fifo_fails_causal_and_causal_fails_total_order() {
    let calm = Trouble { crashes: Some(0), partitions: false, wires: fair_wires, link: "network" };
    assert!(failures("eager", 200, calm, broadcast::fifo) > 10);
    assert!(failures("fifo", 200, calm, broadcast::causal) > 10);
    assert!(failures("causal", 200, calm, broadcast::total_order) > 10);
}

#[test]
fn an_answer_overtakes_its_question_over_fifo_but_not_over_causal_broadcast() {
    // From 0 to 2 it takes long; 1 answers at once.
    let wires = Wires::new(Delay::Fixed(0.01)).slower(0, 2, 1.0);
    for (name, fails) in [("fifo", true), ("causal", false)] {
        // Without anybody who passes messages on in time: best effort below.
        let registry = registry();
        let class = if name == "fifo" { "fifo-broadcast" } else { "causal-broadcast" };
        let graph = Stack::new(&registry)
            .class("below", "best-effort-broadcast", &[])
            .class("top", class, &[("broadcast", text("below"))])
            .probe(&["top"])
            .build()
            .unwrap();
        let mut lab = Lab::new(1, &graph, 3, &wires);
        lab.broadcast(1.0, 0, "question");
        lab.broadcast(1.5, 1, "answer");
        lab.run_until(5.0).unwrap();
        assert_eq!(!broadcast::causal(lab.trace()).is_empty(), fails, "{name}");
        assert_eq!(broadcast::reliable(lab.trace()), Violations::new());
    }
}

#[test]
fn messages_without_trouble_are_as_many_as_the_formulae_say() {
    for n in [2, 3, 5, 8_u32] {
        let copies = |name: &str| {
            let mut lab = Lab::new(1, &graph(name, "network", &[]), n, &Wires::new(Delay::Fixed(0.01)));
            lab.broadcast(1.0, 0, "m");
            lab.run_until(5.0).unwrap();
            assert_eq!(lab.trace().indications().count(), n as usize);
            lab.trace().copies()
        };
        let m = n as usize - 1;
        assert_eq!(copies("best-effort"), m);
        assert_eq!(copies("eager"), m * m);
        assert_eq!(copies("lazy"), m);
        assert_eq!(copies("majority"), (m + 1) * m);
        assert_eq!(copies("all"), (m + 1) * m);
        assert_eq!((copies("fifo"), copies("causal")), (m * m, m * m));
    }
}

#[test]
fn lazy_broadcast_forgets_what_everybody_has() {
    let size = |name: &str| {
        let mut lab = Lab::new(1, &graph(name, "network", &[]), 3, &fair_wires());
        for k in 0..50 {
            lab.broadcast(0.1 * f64::from(k), k % 3, &format!("m{k}"));
        }
        lab.run_until(10.0).unwrap();
        lab.graph(0).save().len()
    };
    let (lazy, forgetful) = (size("lazy"), size("forgetful"));
    assert!(forgetful * 3 < lazy, "{forgetful} and {lazy} bytes");
}

#[test]
fn a_robot_that_comes_back_takes_part_again_where_the_protocol_says_so() {
    for name in ["best-effort", "eager", "majority", "fifo"] {
        let mut lab = Lab::new(1, &graph(name, "sure", &[]), 3, &bad_wires());
        for k in 0..4 {
            lab.broadcast(0.1 * f64::from(k), k % 3, &format!("before{k}"));
        }
        lab.crash(2.0, 1);
        lab.broadcast(2.5, 0, "meanwhile");
        lab.recover(6.0, 1);
        for k in 0..6 {
            lab.broadcast(8.0 + 0.1 * f64::from(k), k % 3, &format!("after{k}"));
        }
        lab.run_until(30.0).unwrap();
        assert_eq!(broadcast::integrity(lab.trace()), Violations::new(), "{name}");
        let after = |process: u32| {
            let is_after = |what: &Indication| matches!(what, Indication::Delivered { bytes, .. } if bytes.starts_with(b"after"));
            lab.trace().indications().filter(|i| i.1 == process && is_after(i.3)).count()
        };
        assert_eq!((after(0), after(2)), (6, 6), "{name}");
        assert!(after(1) >= if name == "fifo" { 4 } else { 6 }, "{name}: {}", after(1));
    }
}

#[test]
fn every_message_is_shown_by_its_type_and_content() {
    for (name, word) in [("best-effort", "BROADCAST"), ("eager", "RBCAST"), ("majority", "URBCAST")] {
        let graph = graph(name, "network", &[]);
        let mut lab = Lab::new(1, &graph, 2, &fair_wires());
        lab.broadcast(1.0, 0, "hello");
        lab.run_until(2.0).unwrap();
        let shown = lab.trace().events.iter().find_map(|e| match &e.what {
            What::Sent { protocol, bytes, .. } if *protocol == protocol_id("top") => {
                Some(graph.show(*protocol, bytes))
            }
            _ => None,
        });
        let (kind, content) = shown.unwrap();
        assert!(kind == word && content.ends_with("hello"), "{kind} {content}");
    }
}

#[test]
fn saved_in_the_middle_and_loaded_a_graph_has_the_same_bytes() {
    for name in ["eager", "lazy", "majority", "all", "fifo", "causal"] {
        let graph = graph(name, "sure", &[]);
        let mut lab = Lab::new(3, &graph, 3, &bad_wires());
        for k in 0..12 {
            lab.broadcast(0.1 * f64::from(k), k % 3, &format!("m{k}"));
        }
        lab.run_until(0.7).unwrap();
        let image = lab.graph(1).save();
        let mut copy = swarmyard_part_api::Graph::new(&graph);
        assert_ne!(copy.save(), image);
        copy.load(&image).unwrap();
        assert_eq!(copy.save(), image, "{name}");
    }
}
