//! Mutual exclusion in the laboratory, judged by the independent checkers.

#[path = "../support/polite_mutex.rs"]
mod polite_mutex;

use polite_mutex::PoliteMutex;
use std::sync::Arc;
use swarmyard_part_api::{Exclusion, GraphModel, Registry};
use swarmyard_radio::check::mutex;
use swarmyard_radio::lab::{Delay, Lab, Stack, Wires};

fn graph(hold_s: f64) -> Arc<GraphModel> {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let stack = Stack::new(&registry).class("alone", "ricart-agrawala", &[]);
    stack.probe_that_holds(&["alone"], Some(hold_s)).build().unwrap()
}

/// A robot that wants in again and again, at times made of the seed; the probe leaves after 30 ms.
fn crowd(seed: u64, n: u32, wires: &Wires) -> Lab {
    crowd_of(&graph(0.03), seed, n, wires)
}

fn crowd_of(graph: &Arc<GraphModel>, seed: u64, n: u32, wires: &Wires) -> Lab {
    let mut lab = Lab::new(seed, graph, n, wires);
    for p in 0..n {
        for k in 0..3_u32 {
            let spread = (seed * 31 + u64::from(p * 7 + k * 3)) % 50;
            lab.at(0.1 + f64::from(k) * 3.0 + spread as f64 * 1e-3, p, Exclusion::Enter);
        }
    }
    lab
}

#[test]
fn never_two_at_once_and_everybody_gets_in_over_a_network_that_reorders_and_doubles() {
    let mut entries = 0;
    for seed in 0..2000 {
        let n = 1 + (seed % 5) as u32;
        let wires = Wires::new(Delay::Uniform(0.0, 0.08)).doubling(0.2);
        let mut lab = crowd(seed, n, &wires);
        lab.pause(0.12, 0.3, n - 1);
        lab.run_until(20.0).unwrap();
        let wrong = mutex::mutex(lab.trace());
        assert!(wrong.is_empty(), "seed {seed}: {}\n{}", wrong.join("\n"), lab.trace().text());
        entries += mutex::entries(lab.trace());
    }
    println!("2000 runs, {entries} times inside");
}

#[test]
fn never_two_at_once_whatever_is_lost_and_whoever_crashes_or_comes_back() {
    let mut entries = 0;
    for seed in 0..2000 {
        let n = 2 + (seed % 4) as u32;
        let loss = if seed % 2 == 0 { 0.0 } else { 0.1 };
        let mut lab = crowd(seed, n, &Wires::new(Delay::Uniform(0.0, 0.08)).losing(loss));
        let who = (seed / 3 % u64::from(n)) as u32;
        let at = 0.1 + (seed % 97) as f64 * 2e-3;
        if seed % 5 == 0 {
            lab.crash_losing_messages(at, who)
        } else {
            lab.crash(at, who)
        }
        if seed % 3 == 0 {
            lab.recover(at + 0.05, who);
        }
        lab.run_until(20.0).unwrap();
        let wrong = mutex::exclusion(lab.trace());
        assert!(wrong.is_empty(), "seed {seed}: {}\n{}", wrong.join("\n"), lab.trace().text());
        entries += mutex::entries(lab.trace());
    }
    assert!(entries > 1000, "{entries}: so few got in that it says nothing");
    println!("2000 runs, {entries} times inside");
}

/// Negative control: the same crowd, and nobody looks at clocks.
#[test]
fn without_clocks_two_are_inside_at_once() {
    let registry = Registry::new();
    let stack = Stack::new(&registry).model("alone", Arc::new(PoliteMutex), &[]);
    let graph = stack.probe_that_holds(&["alone"], Some(0.03)).build().unwrap();
    let mut caught = 0;
    for seed in 0..100 {
        let n = 2 + (seed % 4) as u32;
        let mut lab = crowd_of(&graph, seed, n, &Wires::new(Delay::Uniform(0.0, 0.08)));
        lab.run_until(20.0).unwrap();
        caught += u32::from(!mutex::exclusion(lab.trace()).is_empty());
    }
    println!("caught in {caught} of 100 runs");
    assert!(caught > 50, "{caught}");
    // One alone at a time is served all the same, so it is the clocks that make the difference.
    let mut lab = Lab::new(1, &graph, 3, &Wires::new(Delay::Fixed(0.01)));
    (0..3).for_each(|p| lab.at(1.0 + f64::from(p), p, Exclusion::Enter));
    lab.run_until(20.0).unwrap();
    assert_eq!((mutex::mutex(lab.trace()), mutex::entries(lab.trace())), (Vec::new(), 3));
}

#[test]
fn each_time_inside_costs_two_messages_per_other_robot() {
    for n in 2..8 {
        let mut lab = Lab::new(1, &graph(0.5), n, &Wires::new(Delay::Fixed(0.01)));
        (0..n).for_each(|p| lab.at(1.0, p, Exclusion::Enter));
        lab.run_until(20.0).unwrap();
        assert_eq!(mutex::entries(lab.trace()), n as usize);
        assert_eq!(lab.trace().copies(), (n * 2 * (n - 1)) as usize);
        // Asked at the same clock, they go in the order of their numbers.
        let order: Vec<u32> = lab.trace().indications().map(|i| i.1).collect();
        assert_eq!(order, (0..n).collect::<Vec<u32>>());
    }
}

#[test]
fn after_a_crash_nobody_gets_in_any_more() {
    let mut lab = Lab::new(1, &graph(0.1), 3, &Wires::new(Delay::Fixed(0.01)));
    lab.at(0.5, 0, Exclusion::Enter);
    lab.crash(1.0, 2);
    lab.at(1.5, 0, Exclusion::Enter);
    lab.run_until(100.0).unwrap();
    assert_eq!(mutex::entries(lab.trace()), 1);
    assert_eq!(mutex::liveness(lab.trace()).len(), 1);
}

#[test]
fn who_changes_its_mind_holds_up_nobody_and_who_asks_twice_is_told() {
    let mut lab = Lab::new(1, &graph(9.0), 3, &Wires::new(Delay::Fixed(0.01)));
    lab.at(0.5, 0, Exclusion::Enter);
    lab.at(0.6, 1, Exclusion::Enter);
    lab.at(0.7, 2, Exclusion::Enter);
    lab.at(0.8, 1, Exclusion::Leave);
    lab.at(0.9, 2, Exclusion::Enter);
    lab.at(1.0, 0, Exclusion::Leave);
    lab.run_until(2.0).unwrap();
    let inside: Vec<u32> = lab.trace().indications().map(|i| i.1).collect();
    assert_eq!(inside, [0, 2]);
    assert!(lab.trace().text().contains("p2 said wants in twice"));
}
