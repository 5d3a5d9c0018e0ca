//! Total orders in the laboratory: every class over networks that reorder, double and lose, with robots that
//! crash, come back and pause, judged by the independent checkers.

#[path = "../support/one_word.rs"]
mod one_word;

use one_word::OneWord;
use std::sync::Arc;
use swarmyard_part_api::{GraphModel, Registry};
use swarmyard_radio::check::{Violations, all, broadcast};
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, Wires};
use swarmyard_scene::Value;

/// A total order, as a scenario would put it together.
#[derive(Clone, Copy, Debug)]
struct Order {
    class: &'static str,
    uniform: Option<bool>,
    fifo: bool,
}

const ORDERS: &[Order] = &[
    Order { class: "lamport-order", uniform: None, fifo: true },
    Order { class: "skeen-order", uniform: None, fifo: false },
    Order { class: "sequencer-order", uniform: Some(false), fifo: true },
    Order { class: "sequencer-order", uniform: Some(true), fifo: true },
    Order { class: "moving-sequencer", uniform: Some(false), fifo: true },
    Order { class: "moving-sequencer", uniform: Some(true), fifo: true },
    Order { class: "token-order", uniform: Some(false), fifo: true },
    Order { class: "token-order", uniform: Some(true), fifo: true },
    Order { class: "order-by-consensus", uniform: None, fifo: false },
];

fn graph(order: Order) -> Arc<GraphModel> {
    graph_over(order, None)
}

/// The same over a link of this class.
fn graph_over(order: Order, link: Option<&str>) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let mut params: Vec<(&str, Value)> = Vec::new();
    params.extend(order.uniform.map(|u| ("uniform", Value::Bool(u))));
    let mut stack = Stack::new(&registry);
    if let Some(class) = link {
        stack = stack.class("link", class, &[]);
        params.push(("link", Value::Text("link".into())));
    }
    let stack = if order.class == "order-by-consensus" {
        let below = [("broadcast", Value::Text("spread".into())), ("consensus", Value::Text("word".into()))];
        stack.class("spread", "best-effort-broadcast", &[]).model("word", Arc::new(OneWord), &[]).class(
            "order",
            order.class,
            &below,
        )
    } else {
        stack.class("order", order.class, &params)
    };
    stack.probe(&["order"]).build().unwrap()
}

fn find(class: &str, uniform: bool) -> Order {
    let uniform = ["lamport-order", "skeen-order", "order-by-consensus", "fake-order"]
        .iter()
        .all(|c| *c != class)
        .then_some(uniform);
    Order {
        class: ORDERS.iter().map(|o| o.class).find(|c| *c == class).unwrap_or("fake-order"),
        uniform,
        fifo: false,
    }
}

/// Small numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
    fn time(&mut self, most_s: f64) -> f64 {
        self.below(1_000_000) as f64 * 1e-6 * most_s
    }
}

/// Some robots broadcast some messages within the first half second.
fn chat(lab: &mut Lab, dice: &mut Dice, n: u32, messages: u64) {
    for k in 0..messages {
        lab.broadcast(dice.time(0.5), dice.below(u64::from(n)) as u32, &format!("m{k}"));
    }
}

fn nothing_is_wrong(seed: u64, order: Order, trace: &Trace, wrong: &Violations) {
    assert!(wrong.is_empty(), "seed {seed} {order:?}\n{}\n{}", wrong.join("\n"), trace.text());
}

#[test]
fn every_order_is_total_and_complete_over_a_network_that_reorders_and_doubles() {
    let mut delivered = 0;
    for &order in ORDERS {
        let graph = graph(order);
        for seed in 0..1000 {
            let mut dice = Dice(seed);
            let n = 1 + dice.below(5) as u32;
            let wires = match seed % 3 {
                0 => Wires::new(Delay::Uniform(0.0, 0.2)).doubling(0.2),
                1 => Wires::new(Delay::Exponential(0.03)),
                _ => Wires::new(Delay::Fixed(0.01)).in_order().slower(0, n - 1, 0.3),
            };
            let mut lab = Lab::new(seed, &graph, n, &wires);
            chat(&mut lab, &mut dice, n, 8);
            let pauser = dice.below(u64::from(n)) as u32;
            lab.pause(0.1, 0.4, pauser);
            lab.run_until(8.0).unwrap();
            let trace = lab.into_trace();
            let wrong = all([
                broadcast::uniform(&trace),
                broadcast::best_effort_validity(&trace),
                broadcast::uniform_total_order(&trace),
                broadcast::prefix_order(&trace),
                if order.fifo { broadcast::fifo(&trace) } else { Violations::new() },
            ]);
            nothing_is_wrong(seed, order, &trace, &wrong);
            delivered += trace.indications().count();
        }
    }
    println!("{} runs, {delivered} deliveries", ORDERS.len() * 1000);
}

#[test]
fn every_order_is_complete_over_a_reliable_link_although_messages_are_lost_and_the_network_splits() {
    for &order in ORDERS.iter().filter(|o| o.class != "order-by-consensus") {
        let graph = graph_over(order, Some("reliable-link"));
        for seed in 0..100 {
            let mut dice = Dice(seed ^ 0x55);
            let n = 2 + dice.below(4) as u32;
            let wires = Wires::new(Delay::Uniform(0.0, 0.05)).losing(0.2).doubling(0.1);
            let mut lab = Lab::new(seed, &graph, n, &wires);
            chat(&mut lab, &mut dice, n, 8);
            lab.partition(dice.time(0.5), &[&[dice.below(u64::from(n)) as u32]]);
            lab.heal(1.0);
            lab.run_until(15.0).unwrap();
            let trace = lab.into_trace();
            let wrong = all([
                broadcast::uniform(&trace),
                broadcast::best_effort_validity(&trace),
                broadcast::prefix_order(&trace),
            ]);
            nothing_is_wrong(seed, order, &trace, &wrong);
        }
    }
}

#[test]
fn nothing_is_ever_delivered_in_another_order_whatever_is_lost_and_whoever_crashes_or_comes_back() {
    let mut delivered = 0;
    for &order in ORDERS {
        let graph = graph(order);
        for seed in 0..1000 {
            let mut dice = Dice(seed ^ 0xabcd);
            let n = 2 + dice.below(4) as u32;
            let loss = [0.0, 0.05, 0.3][seed as usize % 3];
            let wires = Wires::new(Delay::Uniform(0.0, 0.1)).losing(loss).doubling(0.1);
            let mut lab = Lab::new(seed, &graph, n, &wires);
            chat(&mut lab, &mut dice, n, 12);
            for _ in 0..dice.below(3) {
                let (at, who) = (dice.time(0.6), dice.below(u64::from(n)) as u32);
                match dice.below(3) {
                    0 => lab.crash(at, who),
                    1 => lab.crash_losing_messages(at, who),
                    _ => lab.crash_after_copies(who, dice.below(30)),
                }
                if dice.below(2) == 0 {
                    lab.recover(at + dice.time(0.3), who);
                }
            }
            let split = dice.below(u64::from(n)) as u32;
            lab.partition(dice.time(0.5), &[&[split]]);
            lab.heal(0.6);
            lab.run_until(3.0).unwrap();
            let trace = lab.into_trace();
            let wrong = all([
                broadcast::integrity(&trace),
                broadcast::uniform_total_order(&trace),
                if order.fifo { broadcast::fifo(&trace) } else { Violations::new() },
            ]);
            nothing_is_wrong(seed, order, &trace, &wrong);
            delivered += trace.indications().count();
        }
    }
    assert!(delivered > 20_000, "{delivered}: so little was delivered that the order says nothing");
    println!("{} runs, {delivered} deliveries", ORDERS.len() * 1000);
}

/// Many speak, and fewer than half crash, the one that numbers among them.
fn with_the_dead(graph: &Arc<GraphModel>, seed: u64) -> Trace {
    let mut dice = Dice(seed ^ 0x77);
    let n = 3 + dice.below(3) as u32;
    let mut lab = Lab::new(seed, graph, n, &Wires::new(Delay::Uniform(0.0, 0.05)).doubling(0.1));
    chat(&mut lab, &mut dice, n, 10);
    for who in 0..(n - 1) / 2 {
        match dice.below(2) {
            0 => lab.crash_losing_messages(dice.time(0.6), who),
            _ => lab.crash_after_copies(who, dice.below(60)),
        }
    }
    lab.run_until(4.0).unwrap();
    lab.into_trace()
}

#[test]
fn uniform_orders_agree_with_the_dead_as_long_as_most_live() {
    for class in ["sequencer-order", "moving-sequencer", "token-order"] {
        let order = find(class, true);
        let graph = graph(order);
        for seed in 0..2000 {
            let trace = with_the_dead(&graph, seed);
            let wrong = all([
                broadcast::integrity(&trace),
                broadcast::uniform_agreement(&trace),
                broadcast::uniform_total_order(&trace),
                broadcast::fifo(&trace),
            ]);
            nothing_is_wrong(seed, order, &trace, &wrong);
        }
    }
}

/// Negative control of the test before: the same runs without `uniform`.
#[test]
fn orders_that_are_not_uniform_do_not_agree_with_the_dead() {
    for class in ["sequencer-order", "moving-sequencer", "token-order"] {
        let graph = graph(find(class, false));
        let mut caught = 0;
        for seed in 0..300 {
            let trace = with_the_dead(&graph, seed);
            assert!(broadcast::total_order(&trace).is_empty(), "{class}: the order stays");
            caught += u32::from(!broadcast::uniform_agreement(&trace).is_empty());
        }
        println!("{class}: caught in {caught} of 300 runs");
        assert!(caught > 5, "{class}: {caught}");
    }
}

#[test]
fn a_sequencer_that_lives_serves_those_who_live() {
    for uniform in [false, true] {
        let order = find("sequencer-order", uniform);
        let graph = graph(order);
        for seed in 0..1000 {
            let mut dice = Dice(seed ^ 0x1234);
            let n = 3 + dice.below(3) as u32;
            let mut lab = Lab::new(seed, &graph, n, &Wires::new(Delay::Uniform(0.0, 0.05)));
            chat(&mut lab, &mut dice, n, 10);
            for who in 0..(n - 1) / 2 {
                lab.crash_losing_messages(dice.time(0.6), n - 1 - who);
            }
            lab.run_until(3.0).unwrap();
            let trace = lab.into_trace();
            let wrong = all([
                if uniform { broadcast::uniform(&trace) } else { broadcast::reliable(&trace) },
                broadcast::best_effort_validity(&trace),
                broadcast::prefix_order(&trace),
            ]);
            nothing_is_wrong(seed, order, &trace, &wrong);
        }
    }
}

#[test]
fn the_fake_order_is_no_total_order_over_a_random_network() {
    let graph = graph(find("fake-order", false));
    let mut caught = 0;
    for seed in 0..100 {
        let mut lab = Lab::new(seed, &graph, 3, &Wires::new(Delay::Exponential(0.05)));
        chat(&mut lab, &mut Dice(seed), 3, 10);
        lab.run_until(3.0).unwrap();
        let trace = lab.into_trace();
        assert!(broadcast::reliable(&trace).is_empty(), "it loses nothing, all the same");
        caught += u32::from(!broadcast::total_order(&trace).is_empty());
    }
    println!("caught in {caught} of 100 runs");
    assert!(caught > 90, "{caught}");
}

#[test]
fn the_non_uniform_sequencer_fails_uniform_agreement_under_a_crash_and_the_uniform_one_does_not() {
    let run = |uniform: bool| {
        let mut lab =
            Lab::new(1, &graph(find("sequencer-order", uniform)), 3, &Wires::new(Delay::Fixed(0.01)));
        lab.broadcast(1.0, 0, "last words");
        lab.crash_losing_messages(1.005, 0);
        lab.run_until(2.0).unwrap();
        lab.into_trace()
    };
    let trace = run(false);
    assert_eq!(broadcast::uniform_agreement(&trace).len(), 2, "{}", trace.text());
    assert!(broadcast::agreement(&trace).is_empty(), "those who live agree");
    assert!(broadcast::uniform_agreement(&run(true)).is_empty());
    assert_eq!(run(true).indications().count(), 0);
}

#[test]
fn a_crash_blocks_lamport_and_skeen_for_good() {
    for class in ["lamport-order", "skeen-order"] {
        let mut lab = Lab::new(1, &graph(find(class, false)), 3, &Wires::new(Delay::Fixed(0.01)));
        lab.broadcast(0.5, 0, "before");
        lab.crash(1.0, 2);
        lab.broadcast(1.5, 0, "after");
        lab.run_until(100.0).unwrap();
        assert_eq!(lab.trace().indications().count(), 3, "{class}: `before` at all, `after` at nobody");
        assert!(!broadcast::validity(lab.trace()).is_empty());
    }
}

/// Messages on the wire for one broadcast by the last of n robots when nothing else is going on.
fn cost(order: Order, n: u32) -> usize {
    let mut lab = Lab::new(1, &graph(order), n, &Wires::new(Delay::Fixed(0.01)));
    lab.broadcast(1.0, n - 1, "m");
    lab.run_until(3.0).unwrap();
    assert_eq!(lab.trace().indications().count(), n as usize);
    lab.trace().copies()
}

#[test]
fn one_broadcast_costs_as_many_messages_as_the_books_say() {
    for n in 2..8 {
        let others = n as usize - 1;
        assert_eq!(cost(find("fake-order", false), n), others);
        assert_eq!(cost(find("lamport-order", false), n), others + others * others);
        assert_eq!(cost(find("skeen-order", false), n), 3 * others);
        assert_eq!(cost(find("sequencer-order", false), n), 1 + others);
        assert_eq!(cost(find("sequencer-order", true), n), 1 + others + others * others);
        // Proposals of all but robot 0, and its word to all others.
        assert_eq!(cost(find("order-by-consensus", false), n), others + others + others);
    }
}

#[test]
fn a_token_costs_a_pass_at_a_time_and_a_broadcast_as_many_as_there_are_others() {
    for (class, per_broadcast) in [("token-order", 3), ("moving-sequencer", 6)] {
        let passes = |messages: u64| {
            let mut lab = Lab::new(1, &graph(find(class, false)), 4, &Wires::new(Delay::Fixed(0.01)));
            for k in 0..messages {
                lab.broadcast(1.0, 2, &format!("m{k}"));
            }
            lab.run_until(5.0).unwrap();
            let shown = |e: &swarmyard_radio::lab::Event| match &e.what {
                swarmyard_radio::lab::What::Sent { protocol, bytes, .. } => {
                    lab.graph(0).model().show(*protocol, bytes).0 == "TOKEN"
                }
                _ => false,
            };
            let tokens = lab.trace().events.iter().filter(|e| shown(e)).count();
            (tokens, lab.trace().copies() - tokens)
        };
        let (idle, none) = passes(0);
        assert!((240..=250).contains(&idle) && none == 0, "{class}: 20 ms a pass makes {idle} in 5 s");
        assert_eq!(passes(5).1, 5 * per_broadcast, "{class}");
    }
}

#[test]
fn lamport_saves_answers_when_all_talk_at_once() {
    let mut lab = Lab::new(1, &graph(find("lamport-order", false)), 5, &Wires::new(Delay::Fixed(0.01)));
    (0..5).for_each(|p| lab.broadcast(1.0, p, &format!("m{p}")));
    lab.run_until(2.0).unwrap();
    assert_eq!(lab.trace().indications().count(), 25);
    // 20 messages with content. All have clock 1, so a robot answers only what came from one with a higher
    // number, and only the first time: after that it has said something later than all.
    println!("{} messages instead of {}", lab.trace().copies(), 5 * 20);
    assert_eq!(lab.trace().copies(), 20 + 4 * 4);
}

#[test]
fn messages_of_every_class_are_shown_by_name_and_garbage_is_called_so() {
    for &order in ORDERS {
        let mut lab = Lab::new(1, &graph(order), 3, &Wires::new(Delay::Fixed(0.01)));
        lab.broadcast(0.5, 1, "hello");
        lab.run_until(1.0).unwrap();
        let model = lab.graph(0).model();
        let mut names: Vec<String> = Vec::new();
        for event in &lab.trace().events {
            if let swarmyard_radio::lab::What::Sent { protocol, bytes, .. } = &event.what {
                names.push(model.show(*protocol, bytes).0);
            }
        }
        assert!(!names.is_empty() && !names.contains(&"BAD".to_owned()), "{order:?}: {names:?}");
        assert_eq!(model.show(swarmyard_part_api::protocol_id("order"), &[0xff; 12]).0, "BAD");
    }
}

#[test]
fn empty_and_long_messages_arrive_as_well() {
    for &order in ORDERS {
        let graph = graph(order);
        let run = |with: bool| {
            let mut lab = Lab::new(3, &graph, 3, &Wires::new(Delay::Fixed(0.01)));
            if with {
                lab.broadcast(0.2, 0, "");
                lab.broadcast(0.2, 1, &"x".repeat(5000));
            }
            lab.broadcast(0.5, 1, "hello");
            lab.run_until(2.0).unwrap();
            let trace = lab.into_trace();
            nothing_is_wrong(3, order, &trace, &broadcast::reliable(&trace));
            trace.indications().count()
        };
        assert_eq!((run(false), run(true)), (3, 9), "{order:?}");
    }
}
