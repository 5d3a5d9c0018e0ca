//! Failure detectors and Ω, through every schedule to a depth: they never rest.
//!
//! A timer may run out at any moment here, so every wrong suspicion there can be is made. What must hold all the same:
//! words about a robot are true to form, and whoever is down is found out by all others, whatever happened before, once time
//! goes on fairly ([`go_on`]).

use crate::adaptor::{Net, Note, Snapshot, System, system, trace};
use stateright::actor::ActorModelAction;
use stateright::{Checker, Expectation, Model};
use std::sync::Arc;
use swarmyard_part_api::{GraphModel, ProtocolModel, Registry};
use swarmyard_radio::check::{detector, leader};
use swarmyard_radio::lab::Stack;
use swarmyard_radio::protocols::omega::Omega;
use swarmyard_scene::Value;

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

fn detector_of(class: &str) -> Arc<GraphModel> {
    Stack::new(&registry()).class("fd", class, &[]).probe(&["fd"]).build().unwrap()
}

/// What becomes of a state when time goes on fairly, one robot as fast as the other: every timer runs out once, then
/// every message arrives; this so many times. Nobody crashes any more. Timers after which something bad is under way
/// do not run out: that is how time is kept.
fn go_on(system: &System, state: &Snapshot, times: u32, bad: fn(&Snapshot) -> bool) -> Snapshot {
    let mut state = state.clone();
    for _ in 0..times {
        let is_timer = |a: &Action| matches!(a, ActorModelAction::Timeout(..));
        for fire in actions(system, &state).into_iter().filter(is_timer) {
            state = system.next_state(&state, fire).filter(|next| !bad(next)).unwrap_or(state);
        }
        let arrives = |a: &Action| matches!(a, ActorModelAction::Deliver { .. });
        // Answers to answers come within the round; there is an end to them. Messages to a robot that is down go nowhere.
        for _ in 0..200 {
            let mut all = actions(system, &state).into_iter().filter(arrives);
            let Some(next) = all.find_map(|action| system.next_state(&state, action)) else { break };
            state = next;
        }
    }
    state
}

type Action = <System as Model>::Action;

fn actions(system: &System, state: &Snapshot) -> Vec<Action> {
    let mut actions = Vec::new();
    system.actions(state, &mut actions);
    actions
}

/// Nothing is bad.
fn nothing(_: &Snapshot) -> bool {
    false
}

/// Somebody who is up is accused of being late.
fn accusations(state: &Snapshot) -> bool {
    let omega = Omega { own: Some((1.0, 1.0)) };
    let mut to_living = state.network.iter_all().filter(|envelope| !state.crashed[usize::from(envelope.dst)]);
    to_living.any(|envelope| omega.show(envelope.msg.bytes()).0 == "ACCUSE")
}

/// Whether a robot that is up is under a wrong suspicion at some time, and it was taken back.
fn mistake_taken_back(state: &Snapshot) -> bool {
    state.actor_states.iter().any(|life| life.notes.iter().any(|n| matches!(n, Note::Trusted(..))))
}

fn check_detector(class: &str, robots: usize, depth: usize) {
    let checker = system(&detector_of(class), vec![Vec::new(); robots], Net::Unordered)
        .max_crashes(1)
        .property(Expectation::Always, "form", |_, s| detector::form(&trace(s)).is_empty())
        .property(Expectation::Always, "completeness", |m, s| {
            !s.crashed.contains(&true)
                || detector::completeness(&trace(&go_on(m, s, ROUNDS, nothing))).is_empty()
        })
        .property(Expectation::Sometimes, "a mistake, taken back", |_, s| mistake_taken_back(s))
        .property(Expectation::Sometimes, "a crash that others have found out", |_, s| {
            s.crashed.contains(&true) && detector::completeness(&trace(s)).is_empty()
        })
        .checker()
        .threads(2)
        .target_max_depth(depth)
        .spawn_bfs()
        .join();
    println!("{class} n = {robots}, depth {depth}: {} states", checker.unique_state_count());
    checker.assert_properties();
}

/// Enough for news to go round a ring of three, twice.
const ROUNDS: u32 = 6;

#[test]
fn heartbeats_find_every_crash_whatever_they_suspected_before() {
    check_detector("heartbeat", 2, 10);
    check_detector("heartbeat", 3, 6);
}

#[test]
fn a_ring_finds_every_crash_whatever_it_suspected_before() {
    check_detector("ring-heartbeat", 2, 10);
    check_detector("ring-heartbeat", 3, 6);
}

/// Ω by either way: when time goes on fairly all that are up follow one that is up, whatever they believed before.
#[test]
fn omega_ends_with_one_leader_that_is_up() {
    for (way, depth) in [("detector", 5), ("accusations", 6)] {
        let registry = registry();
        let stack = Stack::new(&registry);
        let stack = if way == "detector" { stack.class("fd", "heartbeat", &[]) } else { stack };
        let params = [("way", Value::Text(way.into()))];
        let graph = stack.class("chief", "omega", &params).probe(&["chief"]).build().unwrap();
        let checker = system(&graph, vec![Vec::new(); 3], Net::Unordered)
            .max_crashes(1)
            .property(Expectation::Always, "one leader in the end", |m, s| {
                leader::eventual(&trace(&go_on(m, s, ROUNDS, accusations))).is_empty()
            })
            .property(Expectation::Sometimes, "two leaders meanwhile", |_, s| {
                !leader::only_one_ever(&trace(s)).is_empty()
            })
            .checker()
            .threads(2)
            .target_max_depth(depth)
            .spawn_bfs()
            .join();
        println!("omega, {way}, n = 3, depth {depth}: {} states", checker.unique_state_count());
        checker.assert_properties();
    }
}
