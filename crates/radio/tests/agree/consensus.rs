//! Consensus by Chandra and Toueg, by Mostéfaoui and Raynal, and Paxos: the same tests for all three, and the
//! message counts of each.

use crate::common::{consensus, counts, dice, fine, num, propose, registry, text};
use swarmyard_base::math;
use swarmyard_part_api::{Indication, ToAll};
use swarmyard_radio::check;
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, Wires, brief};

const CLASSES: [&str; 3] = ["chandra-toueg", "mostefaoui-raynal", "paxos"];

/// Everybody proposes in some instances, at most `crashes` processes crash, some in the middle of a step.
fn random_run(class: &str, seed: u64, n: u32, crashes: u32, wires: &Wires, reliable: bool) -> Trace {
    let mut lab = Lab::new(seed, &consensus(class, reliable), n, wires);
    for instance in 0..3_u64 {
        for p in 0..n {
            let at = 0.3 * instance as f64 + dice(seed, p).between(instance as u32, 0.0, 0.1);
            propose(&mut lab, at, p, instance, &format!("v{p}.{instance}"));
        }
    }
    let first = dice(seed, 100).below(0, n);
    for k in 0..crashes {
        let (p, draw) = ((first + k) % n, dice(seed, 200 + k));
        match draw.below(0, 3) {
            0 => lab.crash(draw.between(1, 0.0, 0.8), p),
            1 => lab.crash_losing_messages(draw.between(1, 0.0, 0.8), p),
            _ => lab.crash_after_copies(p, u64::from(draw.below(1, 120))),
        }
    }
    lab.run_until(6.0).unwrap_or_else(|e| panic!("{class} seed {seed}: {e}"));
    lab.into_trace()
}

#[test]
fn everybody_decides_the_same_with_crashes_of_a_minority_and_random_delays() {
    for class in CLASSES {
        let mut decided = 0;
        for seed in 0..700 {
            let n = 3 + seed as u32 % 3;
            let wires = match seed % 3 {
                0 => Wires::new(Delay::Uniform(0.001, 0.02)),
                1 => Wires::new(Delay::Exponential(0.03)).doubling(0.1),
                _ => Wires::new(Delay::Exponential(0.08)).slower(0, 1, 0.2),
            };
            let trace = random_run(class, seed, n, (n - 1) / 2, &wires, false);
            fine(check::consensus::uniform(&trace), seed);
            decided += check::consensus::decided_instances(&trace);
        }
        assert_eq!(decided, 3 * 700, "{class}: every instance of every run is decided");
    }
}

#[test]
fn loss_below_a_reliable_link_changes_nothing() {
    for class in CLASSES {
        for seed in 0..150 {
            let wires = Wires::new(Delay::Uniform(0.001, 0.02)).losing(0.2).doubling(0.1);
            fine(check::consensus::uniform(&random_run(class, seed, 4, 1, &wires, true)), seed);
        }
    }
}

#[test]
fn paxos_needs_no_reliable_link() {
    for seed in 0..300 {
        let wires = Wires::new(Delay::Exponential(0.02)).losing(0.25).doubling(0.1);
        fine(check::consensus::uniform(&random_run("paxos", seed, 5, 2, &wires, false)), seed);
    }
}

/// More decisions than are kept, with numbers that fall: who missed one is told, however low its number is.
#[test]
fn paxos_keeps_what_was_decided_last_and_not_what_has_the_highest_number() {
    let (graph, instances) = (consensus("paxos", false), 100_u64);
    let wires = Wires::new(Delay::Exponential(0.01)).losing(0.2);
    let mut lab = Lab::new(5, &graph, 3, &wires);
    for k in 0..instances {
        for p in 0..3 {
            propose(&mut lab, 0.2 * k as f64, p, instances - k, &format!("v{p}"));
        }
    }
    lab.run_until(0.2 * instances as f64 + 10.0).expect("comes to rest");
    fine(check::consensus::uniform(lab.trace()), 5);
    assert_eq!(lab.trace().indications().count(), 3 * instances as usize, "all decide everything, once");
}

/// Two protocols use one consensus. What the one decides does not push out what the other has decided.
#[test]
fn paxos_keeps_decisions_of_each_user_for_itself() {
    let registry = registry();
    let graph = Stack::new(&registry)
        .class("sure", "reliable-link", &[])
        .class("fd", "heartbeat", &[("timeout", num(3.0))])
        .class("leader", "omega", &[])
        .class("agree", "paxos", &[])
        .class("all", "reliable-broadcast", &[("link", text("sure"))])
        .class("one", "order-by-consensus", &[("broadcast", text("all"))])
        .class("two", "order-by-consensus", &[("broadcast", text("all"))])
        .probe(&["one", "two"])
        .build()
        .unwrap_or_else(|e| panic!("{e:?}"));
    let mut lab = Lab::new(5, &graph, 3, &Wires::new(Delay::Exponential(0.01)).losing(0.2));
    let rounds = 90_u32;
    for k in 0..rounds {
        for port in 0..2 {
            let value = ToAll(brief::bytes(&format!("{port}.{k}")));
            lab.at_port(0.3 * f64::from(k), k % 3, port, value);
        }
    }
    lab.run_until(0.3 * f64::from(rounds) + 15.0).expect("comes to rest");
    for port in 0..2 {
        let trace = lab.trace().of_port(port);
        for p in 0..3 {
            let got = trace.indications().filter(|i| i.1 == p).count();
            assert_eq!(got, rounds as usize, "process {p} by port {port}");
        }
    }
}

/// The minority side waits, nobody contradicts, and all decide after the partition has healed: here the links
/// below lose what crosses the partition, so they must send it again.
#[test]
fn a_partition_delays_and_never_divides() {
    for class in CLASSES {
        for seed in 0..100 {
            let wires = Wires::new(Delay::Uniform(0.001, 0.02));
            let mut lab = Lab::new(seed, &consensus(class, class != "paxos"), 5, &wires);
            lab.partition(0.05, &[&[0, 1], &[2, 3, 4]]);
            for p in 0..5 {
                propose(&mut lab, 0.1 + dice(seed, p).between(0, 0.0, 0.1), p, 1, &format!("v{p}"));
            }
            lab.run_until(2.0).unwrap();
            for (_, p, ..) in lab.trace().indications() {
                assert!(p >= 2, "{class} seed {seed}: process {p} of the minority decides");
            }
            assert_eq!(lab.trace().indications().count(), 3, "{class} seed {seed}: the majority decides");
            lab.heal(2.0);
            lab.run_until(8.0).unwrap();
            fine(check::consensus::uniform(lab.trace()), seed);
        }
    }
}

/// Negative control: without a majority nobody may decide, and those who live never disagree.
#[test]
fn without_a_majority_it_blocks_but_never_disagrees() {
    for class in CLASSES {
        let mut undecided = 0;
        for seed in 0..300 {
            let n = 4 + seed as u32 % 2;
            let wires = Wires::new(Delay::Exponential(0.02));
            let trace = random_run(class, seed, n, n.div_ceil(2), &wires, false);
            fine(check::consensus::safety(&trace), seed);
            undecided += 3 - check::consensus::decided_instances(&trace);
        }
        assert!(undecided > 100, "{class}: {undecided} of 900 instances block");
        let mut lab = Lab::new(1, &consensus(class, false), 4, &Wires::new(Delay::Fixed(0.01)));
        lab.crash(0.0, 0);
        lab.crash(0.0, 1);
        for p in 0..4 {
            propose(&mut lab, 0.1, p, 1, &format!("v{p}"));
        }
        lab.run_until(20.0).unwrap();
        assert_eq!(lab.trace().indications().count(), 0, "{class}: two of four cannot decide");
    }
}

/// One instance without faults over a constant delay, on a detector that sends nothing.
fn quiet_run(class: &str, n: u32, proposers: u32) -> (Trace, std::collections::BTreeMap<String, usize>) {
    let registry = registry();
    let mut stack = Stack::new(&registry).class("fd", "simulated-detector", &[("detection", num(1.0))]);
    if class == "paxos" {
        stack = stack.class("leader", "omega", &[]);
    }
    let params = if class == "paxos" { vec![("retry", num(5.0))] } else { Vec::new() };
    let graph = stack.class("agree", class, &params).probe(&["agree"]).build().expect("connects");
    let mut lab = Lab::new(3, &graph, n, &Wires::new(Delay::Fixed(0.01)));
    for p in 0..proposers {
        propose(&mut lab, 1.0, p, 0, &format!("v{p}"));
    }
    lab.run_until(3.0).expect("comes to rest");
    let counts = counts(lab.trace(), &graph, "agree");
    (lab.into_trace(), counts)
}

/// When the first and the last process decide, in steps of one delay after the proposal.
fn steps(trace: &Trace) -> (f64, f64) {
    let times = trace.indications().filter(|i| matches!(i.3, Indication::Decided { .. }));
    let steps: Vec<f64> = times.map(|i| ((i.0.time.seconds() - 1.0) / 0.01 * 1e6).round() / 1e6).collect();
    assert_eq!(steps.len(), trace.processes as usize);
    (steps.iter().copied().fold(f64::MAX, math::min), steps.iter().copied().fold(0.0, math::max))
}

#[test]
fn chandra_toueg_without_failures_takes_three_steps_and_the_messages_of_the_book() {
    for n in 2..9_usize {
        let (trace, counts) = quiet_run("chandra-toueg", n as u32, n as u32);
        let expected = [("ACK", n - 1), ("DECIDE", (n - 1) * (n - 1)), ("PROPOSE", n - 1)];
        let counted: Vec<(&str, usize)> = counts.iter().map(|(k, c)| (k.as_str(), *c)).collect();
        assert_eq!(counted, expected, "n = {n}");
        assert_eq!(steps(&trace), (2.0, 3.0), "the coordinator after two, the others after three");
    }
}

#[test]
fn mostefaoui_raynal_without_failures_takes_two_steps_of_at_most_n_times_n_minus_1() {
    for n in 4..9_usize {
        let (trace, counts) = quiet_run("mostefaoui-raynal", n as u32, n as u32);
        assert_eq!(counts["ECHO"], (n - 1) + (n - 1) * (n - 1), "n = {n}: coordinator, then all the others");
        assert_eq!(counts["DECIDE"], n * (n - 1), "n = {n}: all decide by themselves, and say so");
        assert_eq!(steps(&trace), (2.0, 2.0));
    }
    let (trace, _) = quiet_run("mostefaoui-raynal", 3, 3);
    assert_eq!(steps(&trace).0, 1.0, "two of three are a majority: the coordinator and oneself");
}

#[test]
fn paxos_without_failures_takes_five_messages_for_each_other_robot() {
    for n in 2..9_usize {
        let (trace, counts) = quiet_run("paxos", n as u32, 1);
        for kind in ["PREPARE", "PROMISE", "ACCEPT", "ACCEPTED", "DECIDE"] {
            assert_eq!(counts[kind], n - 1, "n = {n} {kind}");
        }
        assert_eq!(counts.len(), 5);
        assert_eq!(steps(&trace), (4.0, 5.0), "the leader after four, the others after five");
        let (_, counts) = crate::consensus::quiet_run("paxos", n as u32, n as u32);
        assert_eq!(counts["WISH"], n - 1, "who does not lead hands its value to the leader");
    }
}

#[test]
fn instances_are_forgotten_with_their_decision() {
    for class in CLASSES {
        let graph = consensus(class, false);
        let mut lab = Lab::new(1, &graph, 3, &Wires::new(Delay::Fixed(0.001)));
        let mut sizes = Vec::new();
        for instance in 0..400_u64 {
            for p in 0..3 {
                propose(&mut lab, 0.02 * instance as f64, p, instance, &format!("v{p}"));
            }
            if instance % 100 == 99 {
                lab.run_until(0.02 * (instance + 1) as f64).expect("comes to rest");
                sizes.push(lab.graph(0).save().len());
            }
        }
        assert_eq!(check::consensus::decided_instances(lab.trace()), 400);
        fine(check::consensus::uniform(lab.trace()), 0);
        // After 100 instances Paxos has its last 64 values; nobody grows from there.
        let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
        assert!(most - least < 600, "{class}: {sizes:?}");
    }
}
