use super::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use swarmyard_part_api::{
    Cx, Indication, Link, Loss, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, Registry, ToRobots,
    User, memory_is_serde,
};

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

fn registry() -> Registry {
    let mut registry = Registry::new();
    crate::register(&mut registry);
    registry
}

fn broadcast_graph() -> Arc<GraphModel> {
    Stack::new(&registry()).class("all", "best-effort-broadcast", &[]).probe(&["all"]).build().unwrap()
}

/// A graph with only the probe, which talks over the bare network.
fn bare() -> Arc<GraphModel> {
    Stack::new(&registry()).probe(&["network"]).build().unwrap()
}

fn to(robots: &[u32], text: &str) -> ToRobots {
    ToRobots { to: robots.into(), bytes: brief::bytes(text) }
}

fn delivered(trace: &Trace) -> Vec<(u32, String)> {
    let text = |what: &Indication| match what {
        Indication::Delivered { bytes, .. } => String::from_utf8_lossy(bytes).into_owned(),
        other => format!("{other:?}"),
    };
    trace.indications().map(|(_, process, _, what)| (process, text(what))).collect()
}

#[test]
fn the_same_seed_gives_the_same_trace_and_another_seed_another() {
    let run = |seed| {
        let wires = Wires::new(Delay::Exponential(0.01)).losing(0.2).doubling(0.2);
        let mut lab = Lab::new(seed, &broadcast_graph(), 4, &wires);
        for k in 0..20 {
            lab.broadcast(0.1 * f64::from(k), k % 4, &format!("m{k}"));
        }
        lab.crash(0.7, 1);
        lab.recover(1.2, 1);
        lab.run_until(3.0).unwrap();
        lab.into_trace().text()
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_crashed_process_neither_asks_nor_hears_until_it_recovers() {
    let mut lab = Lab::new(1, &bare(), 2, &Wires::new(Delay::Fixed(0.1)));
    lab.crash(1.0, 1);
    lab.at(1.5, 0, to(&[1], "lost"));
    lab.at(1.5, 1, to(&[0], "unsaid"));
    lab.recover(2.0, 1);
    lab.at(2.5, 0, to(&[1], "heard"));
    lab.run_until(3.0).unwrap();
    assert_eq!(delivered(lab.trace()), [(1, "heard".to_owned())]);
    let lost = lab.trace().events.iter().filter(|e| matches!(e.what, What::Lost { why: Loss::Crashed, .. }));
    assert_eq!(lost.count(), 1);
    assert_eq!((lab.trace().correct(), lab.trace().up_at_the_end()), ([0].into(), [0, 1].into()));
    assert!(lab.is_quiet());
}

#[test]
fn what_a_crashed_process_sent_arrives_unless_it_goes_with_it() {
    for (with_flight, arrives) in [(false, 1), (true, 0)] {
        let mut lab = Lab::new(1, &bare(), 2, &Wires::new(Delay::Fixed(0.1)));
        lab.at(1.0, 0, to(&[1], "last words"));
        if with_flight {
            lab.crash_losing_messages(1.05, 0);
        } else {
            lab.crash(1.05, 0);
        }
        lab.run_until(3.0).unwrap();
        assert_eq!(delivered(lab.trace()).len(), arrives);
    }
}

#[test]
fn a_process_can_stop_in_the_middle_of_a_step() {
    let mut lab = Lab::new(1, &broadcast_graph(), 4, &Wires::new(Delay::Fixed(0.1)));
    lab.crash_after_copies(0, 4);
    lab.broadcast(1.0, 0, "whole");
    lab.broadcast(2.0, 0, "torn");
    lab.run_until(3.0).unwrap();
    let of =
        |text: &str| delivered(lab.trace()).iter().filter(|d| d.1 == text).map(|d| d.0).collect::<Vec<_>>();
    assert_eq!(of("whole"), [0, 1, 2, 3]);
    assert_eq!(of("torn"), [1]);
    assert_eq!(lab.trace().correct(), [1, 2, 3].into());
}

#[test]
fn partitions_hold_back_what_is_sent_and_what_is_on_its_way_until_they_heal() {
    let mut lab = Lab::new(1, &bare(), 3, &Wires::new(Delay::Fixed(0.1)));
    lab.partition(1.0, &[&[0, 1], &[2]]);
    lab.heal(2.0);
    for t in [0.95, 1.5, 1.95, 2.5] {
        lab.at(t, 0, to(&[1, 2], &format!("{t}")));
    }
    lab.run_until(3.0).unwrap();
    let heard =
        |p: u32| delivered(lab.trace()).into_iter().filter(|d| d.0 == p).map(|d| d.1).collect::<Vec<_>>();
    assert_eq!(heard(1), ["0.95", "1.5", "1.95", "2.5"]);
    assert_eq!(heard(2), ["2.5"]);
}

#[test]
fn a_pause_puts_off_and_loses_nothing() {
    let mut lab = Lab::new(1, &bare(), 2, &Wires::new(Delay::Fixed(0.1)));
    lab.pause(1.0, 2.0, 1);
    for k in 0..5 {
        lab.at(0.95 + 0.2 * f64::from(k), 0, to(&[1], &format!("m{k}")));
    }
    lab.run_until(3.0).unwrap();
    let times: Vec<f64> = lab.trace().indications().map(|i| i.0.time.seconds()).collect();
    assert_eq!(times, [2.0; 5]);
    let order: Vec<String> = delivered(lab.trace()).into_iter().map(|d| d.1).collect();
    assert_eq!(order, ["m0", "m1", "m2", "m3", "m4"]);
}

#[test]
fn wires_keep_order_only_when_told_so_and_lose_and_double_as_often_as_told() {
    let run = |wires: &Wires| {
        let mut lab = Lab::new(1, &bare(), 2, wires);
        for k in 0..2000 {
            lab.at(0.001 * f64::from(k), 0, to(&[1], &format!("{k:05}")));
        }
        lab.run_until(60.0).unwrap();
        delivered(lab.trace()).into_iter().map(|d| d.1).collect::<Vec<_>>()
    };
    let wires = Wires::new(Delay::Exponential(0.1));
    assert!(!run(&wires).is_sorted());
    assert!(run(&wires.clone().in_order()).is_sorted());
    // 2000 draws: three standard deviations are 0.027.
    let share = run(&wires.clone().losing(0.3)).len() as f64 / 2000.0;
    assert!((share - 0.7).abs() < 0.031, "{share}");
    let all = run(&wires.doubling(0.3));
    let distinct: BTreeSet<&String> = all.iter().collect();
    assert_eq!(distinct.len(), 2000);
    assert!((all.len() as f64 / 2000.0 - 1.3).abs() < 0.031, "{}", all.len());
}

#[test]
fn another_network_takes_over_when_it_is_told_to() {
    let mut lab = Lab::new(1, &bare(), 2, &Wires::new(Delay::Fixed(0.1)).losing(1.0));
    lab.rewire(2.0, &Wires::new(Delay::Fixed(0.1)));
    lab.at(1.0, 0, to(&[1], "before"));
    lab.at(2.0, 0, to(&[1], "after"));
    lab.run_until(3.0).unwrap();
    assert_eq!(delivered(lab.trace()), [(1, "after".to_owned())]);
}

#[derive(Serialize, Deserialize)]
struct Restless;
struct RestlessModel;

impl ProtocolModel for RestlessModel {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Link)
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Restless)
    }
}

impl Microprotocol for Restless {
    fn request(&mut self, _: User, _: Request, cx: &mut Cx<'_>) {
        cx.send_to(LINK, cx.me(), &());
    }
    fn indication(&mut self, _: usize, _: Indication, cx: &mut Cx<'_>) {
        cx.send_to(LINK, cx.me(), &());
    }
    memory_is_serde!();
}

#[test]
fn a_graph_that_never_comes_to_rest_is_named() {
    let registry = registry();
    let stack = Stack::new(&registry).model("fidget", Arc::new(RestlessModel), &[]).probe(&["fidget"]);
    let mut lab = Lab::new(1, &stack.build().unwrap(), 2, &Wires::new(Delay::Fixed(0.1)));
    lab.at(1.5, 1, to(&[0], "go"));
    let problem = lab.run_until(2.0).unwrap_err();
    assert_eq!(problem, "protocol `fidget` of process 1 does not come to rest at 1.5 s");
}

#[test]
fn mistakes_in_a_stack_are_reported_with_what_would_do() {
    let registry = registry();
    let problems = |stack: Stack<'_>| format!("{:?}", stack.build().err());
    let text = problems(Stack::new(&registry).class("all", "best-efort-broadcast", &[]));
    assert!(text.contains("best-effort-broadcast"), "{text}");
    let text = problems(Stack::new(&registry).probe(&["nobody"]));
    assert!(text.contains("the probe cannot use `nobody`"), "{text}");
}
