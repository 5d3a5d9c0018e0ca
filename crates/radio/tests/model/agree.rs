//! Consensus, elections and membership, through every schedule at small sizes.

use crate::adaptor::{Net, Note, Snapshot, System, at_rest, system, trace, within};
use crate::everybody_wins::EverybodyWins;
use serde::{Deserialize, Serialize};
use stateright::{Checker, Expectation, Model};
use std::sync::Arc;
use swarmyard_part_api::{
    Cx, GraphModel, Group, Indication, Microprotocol, PortSpec, Propose, ProtocolModel, Registry, Request,
    ServiceKind, memory_is_serde,
};
use swarmyard_radio::check::{consensus, leader, membership};
use swarmyard_radio::lab::Stack;
use swarmyard_radio::protocols::chandra_toueg::ChandraToueg;
use swarmyard_radio::protocols::mostefaoui_raynal::MostefaouiRaynal;
use swarmyard_radio::protocols::paxos::Paxos;
use swarmyard_scene::Value;

/// Says each of these things once, each at any moment: the worst detector or leader service there is.
#[derive(Clone)]
struct AnyMoment {
    provides: ServiceKind,
    /// By process.
    says: Vec<Vec<Word>>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
enum Word {
    Suspected(u32),
    Leads(u32),
}

#[derive(Serialize, Deserialize)]
struct Oracle {
    says: Vec<Vec<Word>>,
    /// Timers, and what is said when they run out.
    open: Vec<(u64, Word)>,
}

impl ProtocolModel for AnyMoment {
    fn provides(&self) -> Option<ServiceKind> {
        Some(self.provides)
    }

    fn ports(&self) -> Vec<PortSpec> {
        Vec::new()
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Oracle { says: self.says.clone(), open: Vec::new() })
    }
}

impl Microprotocol for Oracle {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.open = self.says[cx.me() as usize].clone().into_iter().map(|w| (cx.set_timer(1.0), w)).collect();
    }

    fn timer(&mut self, timer: u64, cx: &mut Cx<'_>) {
        if let Some(k) = self.open.iter().position(|o| o.0 == timer) {
            cx.tell_all(match self.open.remove(k).1 {
                Word::Suspected(robot) => Indication::Suspected(robot),
                Word::Leads(robot) => Indication::Leads(robot),
            });
        }
    }
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

/// A consensus on a detector that suspects the first two coordinators at any moment.
fn on_doubts(class: &str) -> Arc<GraphModel> {
    let says = (0..3_u32).map(|me| (0..2).filter(|q| *q != me).map(Word::Suspected).collect()).collect();
    let detector = AnyMoment { provides: ServiceKind::Detector, says };
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

fn chandra_toueg_rounds(bytes: &[u8]) -> bool {
    number(&ChandraToueg::default().show(bytes).1, "round").is_none_or(|r| r <= 2)
}

fn mostefaoui_raynal_rounds(bytes: &[u8]) -> bool {
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

/// Two of three believe to lead, at any moment.
fn two_leaders() -> Arc<GraphModel> {
    let says = vec![vec![Word::Leads(0)], vec![Word::Leads(1)], Vec::new()];
    let leader = AnyMoment { provides: ServiceKind::Leader, says };
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
    let checker = system(&two_leaders(), scripts, Net::Repeating)
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

/// A message and one who quits, at any moment, in a group of two on real consensus.
#[test]
fn a_group_of_two_keeps_views_synchronous() {
    let registry = registry();
    let detector = AnyMoment { provides: ServiceKind::Detector, says: vec![Vec::new(); 2] };
    let graph = Stack::new(&registry)
        .model("fd", Arc::new(detector), &[])
        .class("spread", "best-effort-broadcast", &[])
        .class("agree", "chandra-toueg", &[])
        .class("group", "membership", &[])
        .probe(&["group"])
        .build()
        .unwrap();
    let scripts = vec![vec![Group::Cast(b"x"[..].into()).into()], vec![Group::Quit.into()]];
    let checker = system(&graph, scripts, Net::Unordered)
        .property(Expectation::Always, "safety", |_, s| membership::safety(&trace(s)).is_empty())
        .property(Expectation::Always, "the same view", |m, s| at_rest(m, s, membership::settled))
        .property(Expectation::Sometimes, "both hear it", |_, s| {
            let goes = |n: &Note| matches!(n, Note::View(_, 1, members) if members[..] == [0]);
            s.actor_states.iter().all(|life| life.notes.iter().any(goes))
        })
        .checker()
        .threads(2)
        .spawn_dfs()
        .join();
    report("membership n = 2, a message and one that quits", &checker);
    checker.assert_properties();
}
