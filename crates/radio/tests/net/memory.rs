//! A network that is saved and loaded in the middle of traffic goes on as if nothing had happened.

use crate::{chance, v};
use std::sync::Arc;
use swarmyard_part_api::{NetFault, Network, NetworkModel};
use swarmyard_radio::net::radio::Access;
use swarmyard_radio::net::{Constant, Flaws, Metric, Radio, Random, Reliable, StillAir, Uniform};

const ROBOTS: u32 = 12;

fn models() -> Vec<(String, Arc<dyn NetworkModel>)> {
    let flaws = Flaws {
        loss: 0.05,
        burst_loss: 0.9,
        burst_begin: 0.1,
        burst_end: 0.3,
        duplicate: 0.1,
        extra_delay_s: 0.01,
        fifo: true,
        seed: Some(5),
    };
    let mut all: Vec<(String, Arc<dyn NetworkModel>)> = vec![
        ("constant".into(), Arc::new(Constant { delay_s: 0.5, flaws: flaws.clone() })),
        ("reliable".into(), Arc::new(Reliable { delay_s: 0.5 })),
        ("random".into(), Arc::new(Random { mean_s: 1.0, least_s: 0.1, flaws: flaws.clone() })),
        ("uniform".into(), Arc::new(Uniform { least_s: 0.1, most_s: 2.0, flaws: flaws.clone() })),
        (
            "metric".into(),
            Arc::new(Metric { unit_s: 0.2, lambda: 0.7, flaws: flaws.clone(), ..Metric::default() }),
        ),
        ("metric to many".into(), Arc::new(Metric { unit_s: 0.2, multicast: true, ..Metric::default() })),
    ];
    for access in [
        Access::Aloha,
        Access::SlottedAloha,
        Access::Csma,
        Access::CsmaSlotted,
        Access::CsmaPersistent,
        Access::Dcf,
    ] {
        let model = Radio {
            access,
            rate_bps: 2000.0,
            shadowing_db: 3.0,
            shadowing_correlation_m: if access == Access::Aloha { 5.0 } else { 0.0 },
            nakagami: 1.5,
            slot_s: 0.05,
            sensing_s: 0.05,
            backoff_s: 0.3,
            capture_db: Some(3.0),
            queue: 3,
            flaws: flaws.clone(),
            ..Radio::default()
        };
        all.push((format!("radio {access:?}"), Arc::new(model)));
    }
    all
}

fn traffic(air: &mut StillAir, network: &mut dyn Network, messages: std::ops::Range<u64>) {
    for k in messages {
        let draw = chance(k);
        let from = draw.below(0, ROBOTS);
        let to: Vec<u32> = (0..ROBOTS).filter(|r| *r != from && draw.below(10 + r, 3) == 0).collect();
        air.run(network, k as f64 * 0.15);
        if !to.is_empty() {
            air.send(network, from, &to, &vec![0; draw.below(1, 60) as usize]);
        }
        if k == 60 {
            network.fault(&NetFault::Partition(vec![vec![0, 1, 2, 3], vec![4, 5]]));
            network.fault(&NetFault::Delay(0.25));
        }
        if k == 140 {
            network.fault(&NetFault::Heal);
            network.fault(&NetFault::Loss(0.2));
        }
    }
}

#[test]
fn every_network_goes_on_from_its_memory_as_it_would_have() {
    for (name, model) in models() {
        let mut air = StillAir::new(ROBOTS, 1);
        (0..ROBOTS)
            .for_each(|r| air.glide(r, v(f64::from(r % 4) * 3.0, f64::from(r / 4) * 3.0), v(0.1, 0.0)));
        let mut network = model.start(ROBOTS);
        traffic(&mut air, &mut *network, 0..100);
        let image = network.save();
        let mut other_air = air.clone();
        let mut other = model.start(ROBOTS);
        other.load(&image).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(other.save(), image, "{name}");
        for (air, network) in [(&mut air, &mut network), (&mut other_air, &mut other)] {
            traffic(air, &mut **network, 100..200);
            air.run(&mut **network, 1.0e4);
        }
        assert!(air.arrivals > 60, "{name}: {} arrived", air.arrivals);
        assert!(air.lost.iter().any(|l| l.at > air.arrived[0].at), "{name}: nothing was lost");
        assert_eq!(air.arrived, other_air.arrived, "{name}");
        assert_eq!(air.lost, other_air.lost, "{name}");
        assert_eq!(network.save(), other.save(), "{name}");
    }
}

#[test]
fn without_its_memory_a_network_would_go_on_otherwise() {
    for (name, model) in models() {
        let mut air = StillAir::new(ROBOTS, 1);
        let mut network = model.start(ROBOTS);
        traffic(&mut air, &mut *network, 0..100);
        let mut other_air = air.clone();
        let mut fresh = model.start(ROBOTS);
        for (air, network) in [(&mut air, &mut network), (&mut other_air, &mut fresh)] {
            traffic(air, &mut **network, 100..200);
            air.run(&mut **network, 1.0e4);
        }
        assert_ne!(air.arrived, other_air.arrived, "{name}");
    }
}

#[test]
fn memories_of_another_number_of_robots_and_nonsense_are_refused() {
    for (name, model) in models() {
        let mut network = model.start(ROBOTS);
        network.fault(&NetFault::Partition(vec![vec![1]]));
        let image = network.save();
        assert!(model.start(ROBOTS + 1).load(&image).is_err(), "{name}");
        assert!(model.start(ROBOTS).load(&image[..image.len() / 2]).is_err(), "{name}");
        assert!(model.start(ROBOTS).load(&[0xff; 40]).is_err(), "{name}");
    }
}

#[test]
fn what_comes_between_does_not_change_what_a_message_meets() {
    // Chance is addressed by message and receiver: other receivers change nothing.
    let arrivals = |to: &[u32]| {
        let mut network = Random { mean_s: 1.0, ..Random::default() }.start(4);
        let mut air = StillAir::new(4, 1);
        for _ in 0..50 {
            air.send(&mut *network, 0, to, b"x");
        }
        air.run(&mut *network, 1.0e6);
        air.arrived.iter().filter(|a| a.to == 2).copied().collect::<Vec<_>>()
    };
    assert_eq!(arrivals(&[2]), arrivals(&[1, 2, 3]));
}
