//! Elections on a ring and by the bully.

use crate::common::{dice, fine, num, registry, text};
use crate::everybody_wins::EverybodyWins;
use std::sync::Arc;
use swarmyard_part_api::{Elect, GraphModel, Indication};
use swarmyard_radio::check::leader;
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, Wires};
use swarmyard_scene::Value;

fn graph(params: &[(&str, Value)], detector: bool) -> Arc<GraphModel> {
    let registry = registry();
    let mut stack = Stack::new(&registry);
    if detector {
        let params = [("period", num(0.1)), ("timeout", num(0.3)), ("adaptive", Value::Bool(true))];
        stack = stack.class("fd", "heartbeat", &params);
    }
    stack.class("chief", "leader-election", params).probe(&["chief"]).build().expect("connects")
}

fn ring(order: &[u32]) -> Vec<(&'static str, Value)> {
    vec![("way", text("ring")), ("order", Value::Nums(order.iter().map(|r| f64::from(*r)).collect()))]
}

/// A random order of 0 … n − 1.
fn shuffled(n: u32, seed: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..n).collect();
    for k in (1..n).rev() {
        order.swap(k as usize, dice(seed, 50).below(k, k + 1) as usize);
    }
    order
}

fn run(graph: &Arc<GraphModel>, n: u32, seed: u64, wires: &Wires, script: impl Fn(&mut Lab)) -> Trace {
    let mut lab = Lab::new(seed, graph, n, wires);
    script(&mut lab);
    lab.run_until(20.0).expect("comes to rest");
    lab.into_trace()
}

fn all_follow(trace: &Trace, robot: u32) -> bool {
    let told: Vec<&Indication> = trace.indications().map(|i| i.3).collect();
    told.len() == trace.processes as usize && told.iter().all(|w| **w == Indication::Leads(robot))
}

#[test]
fn on_a_ring_the_highest_wins_under_any_delay_and_everybody_hears_it_once() {
    for seed in 0..1000 {
        let n = 1 + seed as u32 % 8;
        let graph = graph(&ring(&shuffled(n, seed)), false);
        let trace = run(&graph, n, seed, &Wires::new(Delay::Exponential(0.1)), |_| {});
        fine(leader::only_one_ever(&trace), seed);
        assert!(all_follow(&trace, n - 1), "seed {seed}: {}", trace.text());
    }
}

/// Negative control: on a ring where nobody gives way, everybody wins.
#[test]
fn without_giving_way_everybody_wins_on_a_ring() {
    let registry = registry();
    let stack = Stack::new(&registry).model("chief", Arc::new(EverybodyWins), &[]);
    let graph = stack.probe(&["chief"]).build().expect("connects");
    for seed in 0..20 {
        let trace = run(&graph, 4, seed, &Wires::new(Delay::Exponential(0.1)), |_| {});
        assert!(!leader::only_one_ever(&trace).is_empty() && !leader::eventual(&trace).is_empty());
    }
}

#[test]
fn a_ring_costs_what_chang_and_roberts_say() {
    for n in 2..10_usize {
        let wires = Wires::new(Delay::Fixed(0.01));
        let rising: Vec<u32> = (0..n as u32).collect();
        let falling: Vec<u32> = rising.iter().rev().copied().collect();
        let cost = |order: &[u32]| run(&graph(&ring(order), false), n as u32, 1, &wires, |_| {}).copies();
        assert_eq!(cost(&rising), (2 * n - 1) + n, "n = {n}: numbers rise along the ring");
        assert_eq!(cost(&falling), n * (n + 1) / 2 + n, "n = {n}: numbers fall along the ring");
    }
    // On average over orders: n times the n-th harmonic number, and n to make it known.
    let (n, runs) = (8_u32, 1000);
    let total: usize = (0..runs)
        .map(|s| {
            run(&graph(&ring(&shuffled(n, s)), false), n, s, &Wires::new(Delay::Fixed(0.01)), |_| {}).copies()
        })
        .sum();
    let harmonic: f64 = (1..=n).map(|k| 1.0 / f64::from(k)).sum();
    let (mean, expected) = (total as f64 / runs as f64, f64::from(n) * harmonic + f64::from(n));
    assert!((mean - expected).abs() < 0.5, "mean {mean}, expected {expected}");
    println!("ring of 8: mean {mean:.2} messages, n H_n + n = {expected:.2}");
}

#[test]
fn one_who_stands_is_enough() {
    let mut params = ring(&[2, 0, 3, 1]);
    params.push(("at_start", Value::Bool(false)));
    for way in [params, vec![("way", text("bully")), ("at_start", Value::Bool(false))]] {
        let trace =
            run(&graph(&way, false), 4, 1, &Wires::new(Delay::Fixed(0.01)), |lab| lab.at(1.0, 1, Elect));
        assert!(all_follow(&trace, 3), "{}", trace.text());
    }
}

#[test]
fn the_bully_costs_n_minus_1_at_best_and_n_squared_minus_1_at_worst() {
    for n in 2..9_u32 {
        let params = [("way", text("bully")), ("at_start", Value::Bool(false)), ("timeout", num(0.1))];
        let cost = |first: u32| {
            let wires = Wires::new(Delay::Fixed(0.01));
            let trace = run(&graph(&params, false), n, 1, &wires, |lab| lab.at(1.0, first, Elect));
            assert!(all_follow(&trace, n - 1), "n = {n} first {first}");
            trace.copies() as u32
        };
        assert_eq!(cost(n - 1), n - 1, "the strongest stands");
        assert_eq!(cost(0), n * n - 1, "the weakest stands");
    }
}

#[test]
fn when_leaders_crash_the_highest_that_lives_takes_over() {
    for way in ["ring", "bully"] {
        for seed in 0..300 {
            let n = 3 + seed as u32 % 4;
            let graph = graph(&[("way", text(way)), ("timeout", num(0.2))], true);
            let trace = run(&graph, n, seed, &Wires::new(Delay::Uniform(0.0, 0.05)), |lab| {
                for k in 0..n - 2 {
                    let draw = dice(seed, k);
                    if draw.below(1, 4) == 0 {
                        lab.crash_after_copies(n - 1 - k, u64::from(draw.below(2, 60)));
                    } else {
                        lab.crash(draw.between(0, 0.0, 8.0), n - 1 - k);
                    }
                }
            });
            fine(leader::settled_since(&trace, 15.0), seed);
            let last = trace.indications().last().map(|i| i.3.clone());
            assert_eq!(last, Some(Indication::Leads(1)), "{way} seed {seed}");
        }
    }
}

/// Wrong suspicions make more than one leader for a while, but not for good.
#[test]
fn late_messages_and_partitions_are_survived() {
    for way in ["ring", "bully"] {
        for seed in 0..100 {
            let graph = graph(&[("way", text(way)), ("timeout", num(0.4))], true);
            let trace = run(&graph, 5, seed, &Wires::new(Delay::Uniform(0.0, 0.15)), |lab| {
                lab.partition(3.0, &[&[4, 1], &[0, 2, 3]]);
                lab.heal(6.0);
                lab.crash(9.0, 4);
            });
            fine(leader::settled_since(&trace, 17.0), seed);
        }
    }
}

/// Negative control: the bully's promise rests on its timeout; too short a one makes two leaders.
#[test]
fn a_bully_that_does_not_wait_long_enough_makes_two_leaders() {
    let params = [("way", text("bully")), ("timeout", num(0.01))];
    let trace = run(&graph(&params, false), 4, 1, &Wires::new(Delay::Fixed(0.05)), |_| {});
    assert!(!leader::only_one_ever(&trace).is_empty());
}
