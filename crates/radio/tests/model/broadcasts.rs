//! The plain broadcasts and the reliable link, through every schedule at small sizes.

use crate::adaptor::{
    Net, Note, Snapshot, System, at_rest, at_rest_within, delivered, recovering, rightly_suspected, says,
    system, told, trace, within,
};
use crate::oracle::AnyMoment;
use stateright::{Checker, Expectation, Model};
use std::sync::Arc;
use swarmyard_part_api::{GraphModel, Registry, Request, ToRobots};
use swarmyard_radio::check::broadcast;
use swarmyard_radio::lab::Stack;
use swarmyard_scene::Value;

fn text(value: &str) -> Value {
    Value::Text(value.to_owned())
}

fn graph(class: &str) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    Stack::new(&registry).class("top", class, &[]).probe(&["top"]).build().unwrap()
}

/// A broadcast over `reliable-broadcast`.
fn graph_over(class: &str) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    Stack::new(&registry)
        .class("below", "reliable-broadcast", &[])
        .class("top", class, &[("broadcast", text("below"))])
        .probe(&["top"])
        .build()
        .unwrap()
}

fn one_each() -> Vec<Vec<Request>> {
    vec![vec![says("a")], vec![says("b")], vec![]]
}

fn two_and_one() -> Vec<Vec<Request>> {
    vec![vec![says("a"), says("b")], vec![says("c")], vec![]]
}

/// Everybody has delivered so many.
fn all_told(state: &Snapshot, many: usize) -> bool {
    (0..state.actor_states.len()).all(|p| told(state, p) == many)
}

fn report(name: &str, checker: &impl Checker<System>) {
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
}

#[test]
fn best_effort_broadcast_is_valid_and_disagrees_only_under_a_crash() {
    let make = |crashes| {
        system(&graph("best-effort-broadcast"), one_each(), Net::Unordered)
            .max_crashes(crashes)
            .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
            .property(Expectation::Always, "validity", |m, s| at_rest(m, s, broadcast::best_effort_validity))
            .property(Expectation::Always, "agreement", |m, s| at_rest(m, s, broadcast::agreement))
            .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 2))
            .checker()
            .spawn_dfs()
            .join()
    };
    let calm = make(0);
    report("best-effort, no crash", &calm);
    calm.assert_properties();
    let crash = make(1);
    report("best-effort, one crash", &crash);
    crash.assert_no_discovery("integrity");
    crash.assert_no_discovery("validity");
    crash.assert_any_discovery("agreement");
}

#[test]
fn best_effort_broadcast_is_fifo_only_where_the_network_is() {
    let make = |net| {
        system(&graph("best-effort-broadcast"), two_and_one(), net)
            .property(Expectation::Always, "fifo", |_, s| broadcast::fifo(&trace(s)).is_empty())
            .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 3))
            .checker()
            .spawn_dfs()
            .join()
    };
    make(Net::Ordered).assert_properties();
    make(Net::Unordered).assert_any_discovery("fifo");
}

#[test]
fn reliable_broadcast_agrees_under_a_crash_but_not_uniformly() {
    let checker = system(&graph("reliable-broadcast"), two_and_one(), Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "reliable", |m, s| at_rest(m, s, broadcast::reliable))
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 3))
        .checker()
        .spawn_dfs()
        .join();
    report("reliable-broadcast, one crash", &checker);
    checker.assert_properties();
    let control = system(&graph("reliable-broadcast"), one_each(), Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "uniform", |m, s| at_rest(m, s, broadcast::uniform_agreement))
        .checker()
        .spawn_bfs()
        .join();
    control.assert_any_discovery("uniform");
    let control = system(&graph("reliable-broadcast"), two_and_one(), Net::Unordered)
        .property(Expectation::Always, "fifo", |_, s| broadcast::fifo(&trace(s)).is_empty())
        .checker()
        .spawn_bfs()
        .join();
    control.assert_any_discovery("fifo");
}

/// A broadcast on a detector by which everybody comes to suspect these robots, at any moment.
fn graph_on(suspected: &[u32], class: &str, params: &[(&str, Value)]) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    Stack::new(&registry)
        .model("fd", Arc::new(AnyMoment::suspecting(3, suspected)), &[])
        .class("top", class, params)
        .probe(&["top", "fd"])
        .build()
        .unwrap()
}

/// Everybody was handed so many messages.
fn all_delivered(state: &Snapshot, many: usize) -> bool {
    (0..state.actor_states.len()).all(|p| delivered(state, p) == many)
}

/// Two messages over the lazy kind, and a crash of any one.
fn lazy(suspected: &[u32]) -> System {
    let graph = graph_on(suspected, "reliable-broadcast", &[("mode", text("lazy"))]);
    system(&graph, one_each(), Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "reliable", |m, s| at_rest(m, s, broadcast::reliable))
        .property(Expectation::Sometimes, "all deliver", |_, s| all_delivered(s, 2))
}

#[test]
fn lazy_reliable_broadcast_agrees_under_a_crash_whatever_is_suspected_before() {
    // Both senders are suspected in the end, rightly or not.
    let checker = lazy(&[0, 1]).checker().threads(2).spawn_dfs().join();
    report("reliable-broadcast, lazy, one crash", &checker);
    checker.assert_properties();
    // A detector that never finds out about robot 1.
    let control = lazy(&[0]).checker().spawn_bfs().join();
    control.assert_no_discovery("integrity");
    control.assert_any_discovery("reliable");
}

/// Messages that wait for all that are not suspected.
fn waits_for_all(scripts: Vec<Vec<Request>>, crashes: usize) -> System {
    let graph = graph_on(&[0, 1, 2], "uniform-broadcast", &[("wait_for", text("all"))]);
    system(&graph, scripts, Net::Unordered)
        .max_crashes(crashes)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "uniform", |m, s| at_rest_within(m, s, broadcast::uniform))
}

#[test]
fn uniform_broadcast_that_waits_for_all_is_uniform_whoever_crashes_if_no_suspicion_is_wrong() {
    let one = || vec![vec![says("a")], vec![], vec![]];
    for (scripts, crashes) in [(one_each(), 1), (one(), 2)] {
        let (messages, name) = (scripts.iter().flatten().count(), format!("uniform, all, {crashes} crashes"));
        let system = waits_for_all(scripts, crashes)
            .within_boundary(|_, s| within(s, |_| true) && rightly_suspected(s));
        let system = match messages {
            1 => system.property(Expectation::Sometimes, "all deliver", |_, s| all_delivered(s, 1)),
            _ => system.property(Expectation::Sometimes, "all deliver", |_, s| all_delivered(s, 2)),
        };
        let checker = system.checker().threads(2).spawn_dfs().join();
        report(&name, &checker);
        checker.assert_properties();
    }
    // A detector that is wrong: somebody delivers alone, and crashes.
    let control = waits_for_all(one(), 1).checker().spawn_bfs().join();
    control.assert_no_discovery("integrity");
    control.assert_any_discovery("uniform");
}

#[test]
fn uniform_broadcast_by_majority_is_uniform_under_a_crash() {
    let checker = system(&graph("uniform-broadcast"), one_each(), Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "uniform", |m, s| at_rest(m, s, broadcast::uniform))
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 2))
        .checker()
        .spawn_dfs()
        .join();
    report("uniform-broadcast, one crash", &checker);
    checker.assert_properties();
}

#[test]
fn uniform_broadcast_by_majority_is_not_valid_when_two_of_three_crash() {
    let scripts = vec![vec![says("a")], vec![], vec![]];
    let checker = system(&graph("uniform-broadcast"), scripts, Net::Unordered)
        .max_crashes(2)
        .property(Expectation::Always, "valid", |m, s| at_rest(m, s, broadcast::validity))
        .checker()
        .spawn_dfs()
        .join();
    checker.assert_any_discovery("valid");
}

#[test]
fn fifo_broadcast_keeps_the_order_of_a_sender_but_not_causal_order() {
    let checker = system(&graph_over("fifo-broadcast"), two_and_one(), Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "fifo", |_, s| broadcast::fifo(&trace(s)).is_empty())
        .property(Expectation::Always, "reliable", |m, s| at_rest(m, s, broadcast::reliable))
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 3))
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report("fifo-broadcast, one crash", &checker);
    checker.assert_properties();
    let control = system(&graph_over("fifo-broadcast"), one_each(), Net::Unordered)
        .property(Expectation::Always, "causal", |_, s| broadcast::causal(&trace(s)).is_empty())
        .checker()
        .spawn_bfs()
        .join();
    control.assert_any_discovery("causal");
}

#[test]
fn causal_broadcast_keeps_causal_order_under_a_crash_but_not_total_order() {
    let checker = system(&graph_over("causal-broadcast"), two_and_one(), Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "integrity", |_, s| broadcast::integrity(&trace(s)).is_empty())
        .property(Expectation::Always, "causal", |_, s| broadcast::causal(&trace(s)).is_empty())
        .property(Expectation::Always, "reliable", |m, s| at_rest(m, s, broadcast::reliable))
        .property(Expectation::Sometimes, "all deliver", |_, s| all_told(s, 3))
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report("causal-broadcast, one crash", &checker);
    checker.assert_properties();
    let control = system(&graph_over("causal-broadcast"), one_each(), Net::Unordered)
        .property(Expectation::Always, "total", |_, s| broadcast::total_order(&trace(s)).is_empty())
        .checker()
        .spawn_bfs()
        .join();
    control.assert_any_discovery("total");
}

fn to(robot: u32, text: &str) -> Request {
    ToRobots { to: vec![robot].into(), bytes: text.as_bytes().into() }.into()
}

/// Negative control: the network itself.
#[test]
fn a_network_that_doubles_is_no_reliable_link() {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let graph = Stack::new(&registry).probe(&["network"]).build().unwrap();
    let checker = system(&graph, vec![vec![to(1, "a")], vec![]], Net::Lossy)
        .property(Expectation::Always, "once", |_, s| link_is_sound(s))
        .checker()
        .spawn_bfs()
        .join();
    checker.assert_any_discovery("once");
}

fn link() -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    // No longer waits between attempts: their length means nothing here.
    let params = [("retry", Value::Num(0.1)), ("slowest", Value::Num(0.1))];
    Stack::new(&registry).class("top", "reliable-link", &params).probe(&["top"]).build().unwrap()
}

/// Nobody gets anything twice in one life, or anything that was not sent to it.
fn link_is_sound(state: &Snapshot) -> bool {
    state.actor_states.iter().enumerate().all(|(p, life)| {
        let lives = life.notes.split(|n| *n == Note::CrashedAndRecovered);
        let once = lives.into_iter().all(|notes| {
            let got: Vec<&Note> = notes.iter().filter(|n| matches!(n, Note::Delivered(..))).collect();
            got.iter().enumerate().all(|(k, n)| !got[..k].contains(n))
        });
        let was_sent = |n: &Note| match n {
            Note::Delivered(_, from, bytes) => {
                let is_it =
                    |s: &Note| matches!(s, Note::Sent(_, to, b) if to.contains(&(p as u32)) && b == bytes);
                state.actor_states[*from as usize].notes.iter().any(is_it)
            }
            _ => true,
        };
        once && life.notes.iter().all(was_sent)
    })
}

#[test]
fn a_reliable_link_delivers_once_over_one_that_loses_doubles_and_reorders() {
    let scripts = vec![vec![to(1, "a"), to(1, "b")], vec![to(0, "c")]];
    let checker = system(&link(), scripts, Net::Lossy)
        .property(Expectation::Always, "once", |_, s| link_is_sound(s))
        .property(Expectation::Sometimes, "all arrive", |_, s| told(s, 0) == 1 && told(s, 1) == 2)
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report("reliable-link", &checker);
    checker.assert_properties();
}

#[test]
fn a_reliable_link_stays_sound_when_either_end_comes_back_from_a_crash() {
    let scripts = vec![vec![to(1, "a"), to(1, "b")], vec![]];
    let checker = recovering(&link(), scripts, Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "once", |_, s| link_is_sound(s))
        .property(Expectation::Sometimes, "all arrive", |_, s| told(s, 1) == 2)
        .checker()
        .target_max_depth(14)
        .spawn_bfs()
        .join();
    report("reliable-link, recovering, to depth 14", &checker);
    checker.assert_properties();
}
