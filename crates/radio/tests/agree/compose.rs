//! Graphs from names alone: atomic broadcast on consensus, on failure detection and leader election.

use crate::common::{fine, propose, registry, text};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_part_api::{Kind, Microprotocol, PortSpec, ProtocolModel, ServiceKind, memory_is_serde};
use swarmyard_radio::check;
use swarmyard_radio::lab::{Delay, Lab, Stack, Wires};

/// Stands where atomic broadcast by consensus stands: it has its ports, and does nothing.
struct Stub;

#[derive(Serialize, Deserialize)]
struct Nothing;

impl Microprotocol for Nothing {
    memory_is_serde!();
}

impl ProtocolModel for Stub {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![
            PortSpec::new("broadcast", ServiceKind::Broadcast),
            PortSpec::new("consensus", ServiceKind::Consensus),
        ]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Nothing)
    }
}

#[test]
fn atomic_broadcast_consensus_failure_detection_and_leader_election_wire_up_by_names() {
    let registry = registry();
    for leader in ["omega", "leader-election"] {
        for consensus in ["chandra-toueg", "mostefaoui-raynal", "paxos"] {
            for detector in ["heartbeat", "ring-heartbeat", "simulated-detector"] {
                // No port is named: each service has one provider only, apart from broadcast.
                let graph = Stack::new(&registry)
                    .class("spread", "best-effort-broadcast", &[])
                    .class("fd", detector, &[])
                    .class("leader", leader, &[])
                    .class("agree", consensus, &[])
                    .model("order", Arc::new(Stub), &[("broadcast", "spread")])
                    .probe(&["order", "agree"])
                    .build()
                    .unwrap_or_else(|e| panic!("{leader} {consensus} {detector}: {e:?}"));
                let mut lab = Lab::new(1, &graph, 3, &Wires::new(Delay::Fixed(0.01)));
                lab.crash(0.5, 2);
                (0..3).for_each(|p| propose(&mut lab, 1.0, p, 7, &format!("v{p}")));
                lab.run_until(10.0).expect("comes to rest");
                fine(check::consensus::uniform(lab.trace()), 0);
                let decided = check::consensus::decided_instances(lab.trace());
                assert_eq!(decided, 1, "{leader} {consensus} {detector}");
            }
        }
    }
}

#[test]
fn a_missing_or_wrong_provider_is_named() {
    let registry = registry();
    let Err(problems) = Stack::new(&registry).class("agree", "chandra-toueg", &[]).build() else {
        panic!("it has no detector")
    };
    assert!(format!("{problems:?}").contains("no protocol of this robot provides detector"));
    let two = Stack::new(&registry).class("a", "heartbeat", &[]).class("b", "ring-heartbeat", &[]);
    let Err(problems) = two.class("agree", "chandra-toueg", &[]).build() else { panic!("two detectors") };
    assert!(format!("{problems:?}").contains("more than one protocol provides detector"));
    let named = Stack::new(&registry).class("a", "heartbeat", &[]);
    let Err(problems) = named.class("agree", "paxos", &[("leader", text("a"))]).build() else {
        panic!("wrong")
    };
    assert!(format!("{problems:?}").contains("`a` provides detector, and leader is needed here"));
}

/// Two users of one consensus do not get into each other's instances.
#[test]
fn every_user_has_instances_of_its_own() {
    let registry = registry();
    let stack =
        Stack::new(&registry).class("fd", "simulated-detector", &[]).class("agree", "chandra-toueg", &[]);
    let graph = stack
        .class("spread", "best-effort-broadcast", &[])
        .class("group", "membership", &[])
        .probe(&["agree", "group"])
        .build()
        .expect("connects");
    let mut lab = Lab::new(1, &graph, 3, &Wires::new(Delay::Fixed(0.01)));
    // The group decides on its view 1 in its own instance 1.
    (0..3).for_each(|p| propose(&mut lab, 1.0, p, 1, &format!("v{p}")));
    lab.at(1.0, 2, swarmyard_part_api::Group::Quit);
    lab.run_until(3.0).expect("comes to rest");
    fine(check::consensus::uniform(&lab.trace().of_port(0)), 0);
    fine(check::membership::safety(&lab.trace().of_port(1)), 0);
    assert_eq!(lab.trace().of_port(0).indications().count(), 3);
    assert_eq!(lab.trace().of_port(1).indications().count(), 6, "views 0 and 1 at three robots");
}

#[test]
fn every_sheet_names_its_ports_as_parameters_and_has_an_example() {
    let registry = registry();
    let mine = [
        "chandra-toueg",
        "heartbeat",
        "leader-election",
        "membership",
        "mostefaoui-raynal",
        "omega",
        "paxos",
        "ring-heartbeat",
        "simulated-detector",
    ];
    for class in mine {
        let sheet = registry.sheet(class).expect("is registered");
        assert_eq!(sheet.kind, Kind::Protocol);
        assert!(sheet.example.contains(&format!("class = \"{class}\"")), "{class}");
        let port = |name: &str| sheet.find(name).is_some();
        assert!(class == "simulated-detector" || port("link") || port("consensus"), "{class}");
    }
}
