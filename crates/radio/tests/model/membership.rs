//! Groups on real consensus, through every schedule at small sizes.

use crate::adaptor::{Net, Note, Snapshot, System, at_rest, at_rest_within, says, system, trace, within};
use crate::oracle::{AnyMoment, Word};
use stateright::{Checker, Expectation, Model};
use std::sync::Arc;
use swarmyard_part_api::{GraphModel, Group, Registry, Request, ServiceKind};
use swarmyard_radio::check::membership;
use swarmyard_radio::lab::Stack;
use swarmyard_scene::Value;

/// A group on Chandra's and Toueg's consensus. By process: whom it comes to suspect. `exclude`: whether that is a
/// reason to be out; else it is a reason not to wait for somebody.
fn group(suspects: Vec<Vec<Word>>, exclude: bool, probed: &[&str]) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let detector = AnyMoment { provides: ServiceKind::Detector, at_once: false, says: suspects };
    Stack::new(&registry)
        .model("fd", Arc::new(detector), &[])
        .class("spread", "best-effort-broadcast", &[])
        .class("agree", "chandra-toueg", &[])
        .class("group", "membership", &[("exclude", Value::Bool(exclude))])
        .probe(probed)
        .build()
        .unwrap()
}

/// Nobody is ever suspected.
fn calm(robots: usize) -> Arc<GraphModel> {
    group(vec![Vec::new(); robots], true, &["group"])
}

fn casts(text: &str) -> Request {
    Group::Cast(text.as_bytes().into()).into()
}

/// View agreement and view synchrony.
fn grouped(graph: &Arc<GraphModel>, scripts: Vec<Vec<Request>>) -> System {
    system(graph, scripts, Net::Unordered)
        .property(Expectation::Always, "safety", |_, s| membership::safety(&trace(s)).is_empty())
}

/// Only the last of three crashes, and this many views begin at most.
fn within_views(state: &Snapshot, views: u64) -> bool {
    let early = |n: &Note| !matches!(n, Note::View(_, number, _) if *number > views);
    let others_live = !state.crashed[0] && !state.crashed[1];
    within(state, |_| true) && others_live && state.actor_states.iter().all(|l| l.notes.iter().all(early))
}

/// Whether these have come to view 1, with these members.
fn in_next_view(state: &Snapshot, processes: &[usize], members: &[u32]) -> bool {
    let there = |n: &Note| matches!(n, Note::View(_, 1, m) if m == members);
    processes.iter().all(|p| state.actor_states[*p].notes.iter().any(there))
}

fn check(name: &str, system: System) {
    let checker = system.checker().threads(2).spawn_dfs().join();
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
    checker.assert_properties();
}

/// A message and one who quits, at any moment.
#[test]
fn groups_of_two_and_three_keep_views_synchronous_when_one_quits() {
    let scripts = vec![vec![casts("x")], vec![Group::Quit.into()]];
    let two = grouped(&calm(2), scripts)
        .property(Expectation::Always, "the same view", |m, s| at_rest(m, s, membership::settled))
        .property(Expectation::Sometimes, "both hear it", |_, s| in_next_view(s, &[0, 1], &[0]));
    check("membership n = 2, a message and one that quits", two);
    let scripts = vec![vec![casts("x")], vec![], vec![Group::Quit.into()]];
    let three = grouped(&calm(3), scripts)
        .property(Expectation::Always, "the same view", |m, s| at_rest(m, s, membership::settled))
        .property(Expectation::Sometimes, "all hear it", |_, s| in_next_view(s, &[0, 1, 2], &[0, 1]));
    check("membership n = 3, a message and one that quits", three);
}

/// Robot 2 says something, and is excluded on request; it may crash at any moment, and is suspected at any moment.
#[test]
fn a_group_of_three_excludes_one_that_speaks_and_may_crash() {
    let suspects = vec![vec![Word::Suspected(2)], vec![Word::Suspected(2)], vec![]];
    let scripts = vec![vec![Group::Exclude(2).into()], vec![], vec![casts("x")]];
    let system = grouped(&group(suspects, false, &["group"]), scripts)
        .max_crashes(1)
        .within_boundary(|_, s| within_views(s, 1))
        .property(Expectation::Always, "the same view", |m, s| at_rest(m, s, membership::settled))
        .property(Expectation::Sometimes, "it hears that it is out", |_, s| in_next_view(s, &[2], &[0, 1]))
        .property(Expectation::Sometimes, "it is down, and out", |_, s| {
            s.crashed[2] && in_next_view(s, &[0, 1], &[0, 1])
        });
    check("membership n = 3, one is excluded, speaks and may crash", system);
}

/// Robot 0 suspects robot 2 at any moment, rightly or not: who answers in time stays.
#[test]
fn a_suspected_member_has_answered_or_is_out() {
    let suspects = vec![vec![Word::Suspected(2)], vec![], vec![]];
    let system = grouped(&group(suspects, true, &["group"]), vec![vec![]; 3])
        .max_crashes(1)
        // It is not doubted a second time.
        .within_boundary(|_, s| {
            let doubts_again = in_next_view(s, &[0], &[0, 1, 2]) && s.actor_states[0].timers.is_empty();
            within_views(s, 1) && !doubts_again
        })
        .property(Expectation::Always, "the same view", |m, s| {
            s.crashed[2] || at_rest_within(m, s, membership::settled)
        })
        .property(Expectation::Sometimes, "it stays", |_, s| in_next_view(s, &[0, 1, 2], &[0, 1, 2]))
        .property(Expectation::Sometimes, "it lives and is out", |_, s| in_next_view(s, &[0, 1, 2], &[0, 1]))
        .property(Expectation::Sometimes, "it is down, and out", |_, s| {
            s.crashed[2] && in_next_view(s, &[0, 1], &[0, 1])
        });
    check("membership n = 3, one is doubted", system);
}

/// Negative control: messages of the broadcast below do not fit the views.
#[test]
fn a_plain_broadcast_beside_a_group_is_not_view_synchronous() {
    let graph = group(vec![Vec::new(); 3], true, &["group", "spread"]);
    let scripts = vec![vec![Group::Exclude(2).into()], vec![says("x")], vec![]];
    grouped(&graph, scripts).checker().spawn_bfs().join().assert_any_discovery("safety");
}
