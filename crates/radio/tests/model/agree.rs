//! Consensus, elections and membership, through every schedule at small sizes.

use crate::adaptor::{
    Net, Note, Snapshot, System, at_rest, crashes, forgetful, parted, recovering, system, trace, within,
};
use crate::everybody_wins::EverybodyWins;
use crate::oracle::{AnyMoment, Word};
use stateright::{Checker, Expectation, Model};
use std::sync::Arc;
use swarmyard_part_api::{GraphModel, Propose, ProtocolModel, Registry, Request, ServiceKind};
use swarmyard_radio::check::{consensus, leader};
use swarmyard_radio::lab::Stack;
use swarmyard_radio::protocols::chandra_toueg::ChandraToueg;
use swarmyard_radio::protocols::mostefaoui_raynal::MostefaouiRaynal;
use swarmyard_radio::protocols::paxos::Paxos;
use swarmyard_scene::Value;

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

/// A consensus on a detector that suspects the first two coordinators at any moment.
fn on_doubts(class: &str) -> Arc<GraphModel> {
    let detector = AnyMoment::suspecting(3, &[0, 1]);
    let registry = registry();
    let stack = Stack::new(&registry).model("fd", Arc::new(detector), &[]).class("agree", class, &[]);
    stack.probe(&["agree"]).build().unwrap()
}

fn proposes(text: &str) -> Request {
    Propose { instance: 0, value: text.as_bytes().into() }.into()
}

fn three_values() -> Vec<Vec<Request>> {
    vec![vec![proposes("a")], vec![proposes("b")], vec![proposes("c")]]
}

/// The number after a word in the text of a message.
fn number(text: &str, word: &str) -> Option<u64> {
    let mut words = text.split(' ');
    words.find(|w| *w == word).and_then(|_| words.next()).and_then(|w| w.parse().ok())
}

fn all_decide(state: &Snapshot, value: &str) -> bool {
    let is_it = |n: &Note| matches!(n, Note::Decided(_, _, v) if v == value.as_bytes());
    state.actor_states.iter().all(|life| life.notes.iter().any(is_it))
}

fn report(name: &str, checker: &impl Checker<System>) {
    println!("{name}: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
}

fn safe(state: &Snapshot) -> bool {
    consensus::safety(&trace(state)).is_empty()
}

/// Safety with a crash of any one; and without that everybody decides in the end.
fn check_consensus(name: &str, system: System) {
    let checker = system
        .max_crashes(1)
        .property(Expectation::Always, "safety", |_, s| safe(s))
        // Who waits for a coordinator that has crashed waits for a suspicion that is out of bounds here.
        .property(Expectation::Always, "termination", |m, s| {
            s.crashed.contains(&true) || at_rest(m, s, consensus::termination)
        })
        .property(Expectation::Sometimes, "all decide a", |_, s| all_decide(s, "a"))
        .property(Expectation::Sometimes, "all decide b", |_, s| all_decide(s, "b"))
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report(name, &checker);
    checker.assert_properties();
}

pub(crate) fn chandra_toueg_rounds(bytes: &[u8]) -> bool {
    number(&ChandraToueg::default().show(bytes).1, "round").is_none_or(|r| r <= 2)
}

pub(crate) fn mostefaoui_raynal_rounds(bytes: &[u8]) -> bool {
    number(&MostefaouiRaynal.show(bytes).1, "round").is_none_or(|r| r <= 2)
}

#[test]
fn chandra_toueg_agrees_with_three_robots_in_two_rounds_whatever_is_suspected_and_one_crashes() {
    let system = system(&on_doubts("chandra-toueg"), three_values(), Net::Unordered)
        .within_boundary(|_, s| within(s, chandra_toueg_rounds));
    check_consensus("chandra-toueg n = 3, rounds <= 2, one crash", system);
}

#[test]
fn mostefaoui_raynal_agrees_with_three_robots_in_two_rounds_whatever_is_suspected_and_one_crashes() {
    let system = system(&on_doubts("mostefaoui-raynal"), three_values(), Net::Unordered)
        .within_boundary(|_, s| within(s, mostefaoui_raynal_rounds));
    check_consensus("mostefaoui-raynal n = 3, rounds <= 2, one crash", system);
}

/// A consensus on doubts, and one robot that crashes at any moment and comes back at any later one.
fn council(class: &str, make: Make) -> System {
    let system = make(&on_doubts(class), three_values(), Net::Unordered).max_crashes(1);
    let system = match class {
        "chandra-toueg" => system.within_boundary(|_, s| within(s, chandra_toueg_rounds) && crashes(s) <= 1),
        _ => system.within_boundary(|_, s| within(s, mostefaoui_raynal_rounds) && crashes(s) <= 1),
    };
    system.property(Expectation::Always, "safety", |_, s| safe(s))
}

/// Two of three believe to lead: at any moment, or from the start on.
fn two_leaders(at_once: bool) -> Arc<GraphModel> {
    let says = vec![vec![Word::Leads(0)], vec![Word::Leads(1)], Vec::new()];
    let leader = AnyMoment { provides: ServiceKind::Leader, at_once, says };
    let registry = registry();
    let stack = Stack::new(&registry).model("leader", Arc::new(leader), &[]).class("agree", "paxos", &[]);
    stack.probe(&["agree"]).build().unwrap()
}

fn first_ballots(bytes: &[u8]) -> bool {
    number(&Paxos::default().show(bytes).1, "ballot").is_none_or(|b| b < 3)
}

#[test]
fn paxos_agrees_with_two_leaders_while_messages_are_lost_doubled_and_late() {
    let scripts = vec![vec![proposes("a")], vec![proposes("b")], vec![]];
    let checker = system(&two_leaders(false), scripts, Net::Repeating)
        .within_boundary(|_, s| within(s, first_ballots))
        .property(Expectation::Always, "safety", |_, s| safe(s))
        .property(Expectation::Sometimes, "all decide a", |_, s| all_decide(s, "a"))
        .property(Expectation::Sometimes, "all decide b", |_, s| all_decide(s, "b"))
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report("paxos n = 3, two leaders, one ballot each", &checker);
    checker.assert_properties();
}

/// How a system of processes that come back after a crash is made.
type Make = fn(&Arc<GraphModel>, Vec<Vec<Request>>, Net) -> System;

/// Two leaders that do not hear each other, so both need robot 2 for a majority; and any one crashes at any moment and
/// comes back at any later one.
fn paxos_with_one_that_comes_back(make: Make) -> System {
    let scripts = vec![vec![proposes("a")], vec![proposes("b")], vec![]];
    parted(make(&two_leaders(true), scripts, Net::Repeating), [0, 1])
        .max_crashes(1)
        .within_boundary(|_, s| within(s, first_ballots) && crashes(s) <= 1)
        .property(Expectation::Always, "safety", |_, s| safe(s))
}

/// As it is: with what it persisted.
#[test]
fn paxos_agrees_when_one_crashes_and_comes_back() {
    let checker = paxos_with_one_that_comes_back(recovering)
        .property(Expectation::Sometimes, "all decide a, one of them in its second life", |_, s| {
            all_decide(s, "a") && crashes(s) == 1
        })
        .property(Expectation::Sometimes, "all decide b", |_, s| all_decide(s, "b"))
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report("paxos n = 3, one crashes and comes back", &checker);
    checker.assert_properties();
}

/// Negative control: the same, and who comes back has forgotten what it promised and accepted.
#[test]
fn a_paxos_that_forgets_its_promises_disagrees() {
    let checker = paxos_with_one_that_comes_back(forgetful).checker().threads(2).spawn_dfs().join();
    report("paxos n = 3, one crashes and forgets", &checker);
    checker.assert_any_discovery("safety");
}

/// Who comes back only listens.
#[test]
fn consensus_agrees_when_one_crashes_and_comes_back() {
    for class in ["chandra-toueg", "mostefaoui-raynal"] {
        let checker = council(class, recovering).checker().threads(2).target_max_depth(9).spawn_bfs().join();
        report(&format!("{class} n = 3, one crashes and comes back, to depth 9"), &checker);
        checker.assert_properties();
    }
}

/// Negative control: who comes back with nothing persisted votes again, and there are two decisions.
#[test]
fn who_votes_twice_makes_two_decisions() {
    for class in ["chandra-toueg", "mostefaoui-raynal"] {
        let control = council(class, forgetful).checker().threads(2).spawn_dfs().join();
        report(&format!("{class} n = 3, one crashes and forgets"), &control);
        control.assert_any_discovery("safety");
    }
}

/// Which orders of a ring are there, with 0 first: the rest is the same turned round.
fn rings(n: u32) -> Vec<Vec<u32>> {
    let mut rings = vec![vec![0]];
    for next in 1..n {
        let longer = rings.iter().flat_map(|ring| {
            (1..=ring.len()).map(move |at| {
                let mut ring = ring.clone();
                ring.insert(at, next);
                ring
            })
        });
        rings = longer.collect();
    }
    rings
}

fn one_leader(state: &Snapshot, highest: u32) -> bool {
    state.actor_states.iter().all(|life| life.notes == [Note::Leads(0, highest)])
}

#[test]
fn the_highest_wins_on_every_ring_of_up_to_five_under_every_order_of_messages() {
    for n in 1..=5_u32 {
        let (mut states, all) = (0, rings(n));
        for ring in &all {
            let order = Value::Nums(ring.iter().map(|r| f64::from(*r)).collect());
            let registry = registry();
            let params = [("way", Value::Text("ring".into())), ("order", order)];
            let stack = Stack::new(&registry).class("chief", "leader-election", &params);
            let graph = stack.probe(&["chief"]).build().unwrap();
            let checker = system(&graph, vec![vec![]; n as usize], Net::Unordered)
                .property(Expectation::Always, "one leader", |_, s| {
                    leader::only_one_ever(&trace(s)).is_empty()
                })
                .property(Expectation::Always, "everybody follows", |m, s| at_rest(m, s, leader::eventual))
                .property(Expectation::Sometimes, "the highest leads", |_, s| {
                    one_leader(s, s.actor_states.len() as u32 - 1)
                })
                .checker()
                .spawn_dfs()
                .join();
            checker.assert_properties();
            states += checker.unique_state_count();
        }
        println!("ring n = {n}: {} orders, {states} states", all.len());
    }
}

/// Negative control: on a ring where lower numbers are passed on like higher ones.
#[test]
fn a_ring_on_which_nobody_gives_way_makes_two_leaders() {
    let registry = registry();
    let stack = Stack::new(&registry).model("chief", Arc::new(EverybodyWins), &[]);
    let graph = stack.probe(&["chief"]).build().unwrap();
    for n in 2..=4 {
        let checker = system(&graph, vec![vec![]; n], Net::Unordered)
            .property(Expectation::Always, "one leader", |_, s| leader::only_one_ever(&trace(s)).is_empty())
            .checker()
            .spawn_bfs()
            .join();
        report(&format!("everybody wins n = {n}"), &checker);
        checker.assert_any_discovery("one leader");
    }
}

/// Negative control: in the checker a timer may run out at any moment, and the bully needs time to be kept.
#[test]
fn a_bully_without_bounds_on_time_makes_two_leaders() {
    let registry = registry();
    let stack =
        Stack::new(&registry).class("chief", "leader-election", &[("way", Value::Text("bully".into()))]);
    let graph = stack.probe(&["chief"]).build().unwrap();
    let checker = system(&graph, vec![vec![]; 3], Net::Unordered)
        .property(Expectation::Always, "one leader", |_, s| leader::only_one_ever(&trace(s)).is_empty())
        .checker()
        .spawn_bfs()
        .join();
    checker.assert_any_discovery("one leader");
}
