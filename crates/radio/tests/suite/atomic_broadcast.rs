//! Atomic broadcast as the thesis composes it: total order over consensus over failure detection and a leader.
//! Robots crash, fewer than half; those who live go on, and agree with the dead.

use swarmyard_part_api::Registry;
use swarmyard_radio::check::{all, broadcast};
use swarmyard_radio::lab::{Delay, Lab, Stack, Wires};
use swarmyard_scene::Value;

#[test]
fn order_by_consensus_goes_on_when_fewer_than_half_crash_and_agrees_with_the_dead() {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    for consensus in ["chandra-toueg", "mostefaoui-raynal", "paxos"] {
        let beats = [("period", Value::Num(0.05)), ("timeout", Value::Num(0.2))];
        let mut stack = Stack::new(&registry)
            .class("fd", "heartbeat", &beats)
            .class("spread", "reliable-broadcast", &[])
            .class("agree", consensus, &[]);
        if consensus == "paxos" {
            stack = stack.class("leader", "omega", &[]);
        }
        let graph = stack
            .class("order", "order-by-consensus", &[("broadcast", Value::Text("spread".into()))])
            .probe(&["order"])
            .build()
            .unwrap();
        let mut delivered = 0;
        for seed in 0..300_u64 {
            let n = 3 + (seed % 3) as u32;
            let mut lab = Lab::new(seed, &graph, n, &Wires::new(Delay::Uniform(0.001, 0.04)));
            for k in 0..10 {
                let at = 0.1 + (seed * 37 + k * 53) as f64 % 97.0 * 0.01;
                lab.broadcast(at, ((seed + k * 7) % u64::from(n)) as u32, &format!("m{k}"));
            }
            for who in 0..(n - 1) / 2 {
                match (seed / 3) % 3 {
                    0 => lab.crash(0.3 + (seed % 50) as f64 * 0.01, who),
                    1 => lab.crash_losing_messages(0.3 + (seed % 50) as f64 * 0.01, who),
                    _ => lab.crash_after_copies(who, 10 + seed % 60),
                }
            }
            lab.run_until(12.0).unwrap();
            let trace = lab.into_trace();
            let wrong = all([
                broadcast::uniform(&trace),
                broadcast::best_effort_validity(&trace),
                broadcast::uniform_total_order(&trace),
                broadcast::prefix_order(&trace),
            ]);
            assert!(wrong.is_empty(), "{consensus}, seed {seed}: {}", wrong.join("\n"));
            delivered += trace.indications().count();
        }
        println!("over {consensus}: 300 runs, {delivered} deliveries");
    }
}
