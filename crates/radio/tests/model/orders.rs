//! Total orders and mutual exclusion, through every schedule at small sizes.

use crate::adaptor::{Net, Note, Snapshot, System, at_rest, says, system, told, trace, within};
use crate::agree::{chandra_toueg_rounds, mostefaoui_raynal_rounds};
use crate::one_word::OneWord;
use crate::oracle::AnyMoment;
use crate::polite_mutex::PoliteMutex;
use serde::{Deserialize, Serialize};
use stateright::{Checker, Expectation, Model};
use std::sync::{Arc, LazyLock};
use swarmyard_part_api::{
    Cx, Exclusion, GraphModel, Indication, Microprotocol, PortSpec, Propose, ProtocolModel, Registry,
    Request, ServiceKind, User, memory_is_serde, protocol_id,
};
use swarmyard_radio::check::broadcast;
use swarmyard_radio::lab::Stack;
use swarmyard_scene::Value;

fn graph(class: &str, params: &[(&str, Value)]) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    Stack::new(&registry).class("top", class, params).probe(&["top"]).build().unwrap()
}

fn by_consensus() -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    Stack::new(&registry)
        .class("spread", "best-effort-broadcast", &[])
        .model("word", Arc::new(OneWord), &[])
        .class("top", "order-by-consensus", &[("broadcast", Value::Text("spread".into()))])
        .probe(&["top"])
        .build()
        .unwrap()
}

fn uniform(yes: bool) -> [(&'static str, Value); 1] {
    [("uniform", Value::Bool(yes))]
}

fn one_each() -> Vec<Vec<Request>> {
    vec![vec![says("a")], vec![says("b")], vec![]]
}

fn all_told(state: &Snapshot, many: usize) -> bool {
    (0..state.actor_states.len()).all(|p| told(state, p) == many)
}

/// Three robots and two messages: what must hold of every total order in every state.
fn ordered(graph: &Arc<GraphModel>, crashes: usize) -> System {
    system(graph, one_each(), Net::Unordered)
        .max_crashes(crashes)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "order", |_, s| broadcast::uniform_total_order(&trace(s)).is_empty())
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 2))
}

fn complete(system: System) -> System {
    system.property(Expectation::Always, "complete", |m, s| at_rest(m, s, broadcast::uniform))
}

/// Checks everything, or everything up to a depth.
fn check(name: &str, system: System, depth: Option<usize>) {
    let builder = system.checker().threads(2);
    match depth {
        Some(depth) => finish(name, &builder.target_max_depth(depth).spawn_bfs().join()),
        None => finish(name, &builder.spawn_dfs().join()),
    }
}

fn finish(name: &str, checker: &impl Checker<System>) {
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker.assert_properties();
}

#[test]
fn lamport_order_is_total_and_complete_and_without_answers_after_a_crash_it_only_stops() {
    let graph = graph("lamport-order", &[]);
    check("lamport-order", complete(ordered(&graph, 0)), None);
    check("lamport-order, one crash", ordered(&graph, 1), None);
}

#[test]
fn skeen_order_is_total_and_complete_and_after_a_crash_it_only_stops() {
    let graph = graph("skeen-order", &[]);
    check("skeen-order", complete(ordered(&graph, 0)), None);
    check("skeen-order, one crash", ordered(&graph, 1), None);
}

#[test]
fn the_sequencer_is_total_under_a_crash_and_uniform_only_when_told_so() {
    check("sequencer-order", complete(ordered(&graph("sequencer-order", &uniform(false)), 0)), None);
    check("sequencer-order, one crash", ordered(&graph("sequencer-order", &uniform(false)), 1), None);
    let agrees = |yes: bool| {
        ordered(&graph("sequencer-order", &uniform(yes)), 1).property(
            Expectation::Always,
            "uniform agreement",
            |m, s| at_rest(m, s, broadcast::uniform_agreement),
        )
    };
    check("sequencer-order, uniform, one crash", agrees(true), None);
    let control = agrees(false).checker().spawn_bfs().join();
    control.assert_any_discovery("uniform agreement");
}

#[test]
fn tokens_keep_the_order_as_far_as_one_looks() {
    for (class, depth) in [("token-order", 24), ("moving-sequencer", 16)] {
        let system = ordered(&graph(class, &uniform(false)), 0);
        check(&format!("{class}, to depth {depth}"), system, Some(depth));
    }
}

static TOKEN: LazyLock<Arc<GraphModel>> = LazyLock::new(|| graph("token-order", &[]));
static MOVING: LazyLock<Arc<GraphModel>> = LazyLock::new(|| graph("moving-sequencer", &[]));

/// Whether a message is not the token, or has been passed on four times at most: then it has been to everybody.
fn early(graph: &GraphModel, bytes: &[u8]) -> bool {
    let (name, text) = graph.show(protocol_id("top"), bytes);
    let pass = text.strip_prefix("pass ").and_then(|t| t.split(' ').next()).and_then(|p| p.parse().ok());
    name != "TOKEN" || pass.is_some_and(|p: u32| p <= 4)
}

/// One message and one crash, and everything that can happen until the token has been to everybody.
fn with_one_dead(class: &str, yes: bool) -> System {
    let system = system(&graph(class, &uniform(yes)), vec![vec![says("a")], vec![], vec![]], Net::Unordered);
    let system = match class {
        "token-order" => system.within_boundary(|_, s| within(s, |bytes| early(&TOKEN, bytes))),
        _ => system.within_boundary(|_, s| within(s, |bytes| early(&MOVING, bytes))),
    };
    system
        .max_crashes(1)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "order", |_, s| broadcast::uniform_total_order(&trace(s)).is_empty())
        .property(Expectation::Always, "uniform agreement", |m, s| {
            at_rest(m, s, broadcast::uniform_agreement)
        })
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 1))
}

#[test]
fn tokens_agree_with_the_dead_only_when_told_so() {
    for class in ["token-order", "moving-sequencer"] {
        check(&format!("{class}, uniform, one crash, four passes"), with_one_dead(class, true), None);
        let control = with_one_dead(class, false).checker().spawn_bfs().join();
        println!("{class}, not uniform: {} states", control.unique_state_count());
        control.assert_any_discovery("uniform agreement");
    }
}

#[test]
fn order_by_consensus_is_total_and_complete() {
    check("order-by-consensus", complete(ordered(&by_consensus(), 0)), None);
}

/// The order over a real consensus, and a detector by which everybody comes to suspect these robots.
fn over(consensus: &str, suspected: &[u32], scripts: Vec<Vec<Request>>) -> System {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let graph = Stack::new(&registry)
        .model("fd", Arc::new(AnyMoment::suspecting(3, suspected)), &[])
        .class("spread", "best-effort-broadcast", &[])
        .class("agree", consensus, &[])
        .class("top", "order-by-consensus", &[("broadcast", Value::Text("spread".into()))])
        .probe(&["top"])
        .build()
        .unwrap();
    let system = system(&graph, scripts, Net::Unordered)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "order", |_, s| broadcast::uniform_total_order(&trace(s)).is_empty());
    match consensus {
        "chandra-toueg" => system.within_boundary(|_, s| within(s, chandra_toueg_rounds)),
        _ => system.within_boundary(|_, s| within(s, mostefaoui_raynal_rounds)),
    }
}

#[test]
fn order_by_consensus_is_total_over_chandra_toueg() {
    let calm =
        over("chandra-toueg", &[], one_each())
            .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 2));
    check("order over chandra-toueg", complete(calm), None);
    let crash = over("chandra-toueg", &[], one_each()).max_crashes(1);
    check("order over chandra-toueg, one crash", crash, None);
}

#[test]
fn order_by_consensus_goes_on_over_chandra_toueg_without_its_first_coordinator() {
    let one = vec![vec![says("a")], vec![], vec![]];
    let system = over("chandra-toueg", &[0], one).max_crashes(1).property(
        Expectation::Sometimes,
        "the others deliver without it",
        |_, s| s.crashed[0] && told(s, 0) == 0 && told(s, 1) == 1 && told(s, 2) == 1,
    );
    check("order over chandra-toueg, one message, doubts, one crash", system, None);
}

#[test]
fn order_by_consensus_is_total_over_mostefaoui_raynal() {
    let system = over("mostefaoui-raynal", &[], vec![vec![says("a")], vec![], vec![]])
        .max_crashes(1)
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 1));
    check("order over mostefaoui-raynal, one message, one crash", system, None);
}

/// Negative control: a consensus by which everybody decides what it has proposed.
#[test]
fn order_by_consensus_is_no_order_over_a_consensus_that_disagrees() {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let graph = Stack::new(&registry)
        .class("spread", "best-effort-broadcast", &[])
        .model("word", Arc::new(OwnWord), &[])
        .class("top", "order-by-consensus", &[("broadcast", Value::Text("spread".into()))])
        .probe(&["top"])
        .build()
        .unwrap();
    ordered(&graph, 0).checker().spawn_bfs().join().assert_any_discovery("order");
}

/// Tells everybody that what it has proposed is decided.
#[derive(Serialize, Deserialize)]
struct OwnWord;

impl ProtocolModel for OwnWord {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Consensus)
    }
    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(OwnWord)
    }
}

impl Microprotocol for OwnWord {
    fn request(&mut self, user: User, request: Request, cx: &mut Cx<'_>) {
        if let Request::Consensus(Propose { instance, value }) = request {
            cx.indicate(user, Indication::Decided { instance, value });
        }
    }
    memory_is_serde!();
}

#[test]
fn the_fake_order_is_seen_through() {
    let graph = graph("fake-order", &[]);
    ordered(&graph, 0).checker().spawn_bfs().join().assert_any_discovery("order");
}

/// Whether a robot is inside.
fn inside(state: &Snapshot, process: usize) -> bool {
    let notes = state.actor_states[process].notes.iter().rev();
    let last = notes.into_iter().find(|n| matches!(n, Note::Entered(_) | Note::Leave(_)));
    matches!(last, Some(Note::Entered(_)))
}

/// Three robots that enter and leave.
fn three_enter(graph: &Arc<GraphModel>) -> System {
    let script = || vec![Request::from(Exclusion::Enter), Request::from(Exclusion::Leave)];
    system(graph, vec![script(), script(), script()], Net::Unordered)
        .property(Expectation::Always, "one at a time", |_, s| {
            (0..3).filter(|p| inside(s, *p) && !s.crashed[*p]).count() <= 1
        })
        .property(Expectation::Sometimes, "all got in", |_, s| all_told(s, 1))
}

/// Negative control: a mutual exclusion that ignores clocks.
#[test]
fn without_clocks_two_get_in_at_once() {
    let registry = Registry::new();
    let stack = Stack::new(&registry).model("top", Arc::new(PoliteMutex), &[]);
    let graph = stack.probe(&["top"]).build().unwrap();
    three_enter(&graph).checker().spawn_bfs().join().assert_any_discovery("one at a time");
}

#[test]
fn ricart_agrawala_lets_in_one_at_a_time_and_everybody_in_the_end() {
    let make = |crashes| three_enter(&graph("ricart-agrawala", &[])).max_crashes(crashes);
    check("ricart-agrawala", make(0), None);
    check("ricart-agrawala, one crash", make(1), None);
    let enter = || vec![Request::from(Exclusion::Enter)];
    let waits = system(&graph("ricart-agrawala", &[]), vec![enter(), enter(), enter()], Net::Unordered)
        .property(Expectation::Always, "somebody gets in", |m, s| {
            at_rest(m, s, |trace| match trace.indications().count() {
                0 => vec!["nobody is in".to_owned()],
                _ => Vec::new(),
            })
        })
        .property(Expectation::Sometimes, "one is in", |_, s| (0..3).any(|p| inside(s, p)));
    check("ricart-agrawala, all stay", waits, None);
}
