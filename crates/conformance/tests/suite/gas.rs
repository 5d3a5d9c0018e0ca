//! The flights as a gas of hard discs: numbers that physics knows.

use swarmyard::gas::Gas;
use swarmyard_base::Vec2;
use swarmyard_conformance::Dice;
use swarmyard_conformance::gas::virial_series;
use swarmyard_motion::flights::With;

/// Pressure by the virial of the collisions, and the collision rate per disc (Enskog: Γ = 4/√π · (Z − 1)).
fn check(packing: f64, discs: usize, collisions: u64, in_table: f64) {
    let z = virial_series(packing);
    assert!((z - in_table).abs() < 1e-5, "{z}");
    let rate = 4.0 / std::f64::consts::PI.sqrt() * (z - 1.0);
    let mut gas = Gas::new(discs, packing, 3);
    // Long waves of density must come up as well: those of a lattice are still.
    gas.run(100 * discs as u64);
    let (start, virial) = (gas.seconds(), gas.virial);
    gas.run(collisions);
    let (seconds, n) = (gas.seconds() - start, gas.count() as f64);
    let measured_z = 1.0 + (gas.virial - virial) / (2.0 * n * seconds);
    let measured_rate = 2.0 * collisions as f64 / (n * seconds);
    println!("packing {packing}: Z {measured_z:.5} ({z:.5}), rate {measured_rate:.5} ({rate:.5})");
    assert!((measured_z / z - 1.0).abs() < 0.003, "Z = {measured_z} instead of {z}");
    assert!((measured_rate / rate - 1.0).abs() < 0.003, "rate {measured_rate} instead of {rate}");
}

#[test]
fn a_thin_gas_has_the_pressure_and_the_collision_rate_of_the_virial_series() {
    check(0.1, 2_500, 3_000_000, 1.23614);
}

#[test]
fn a_gas_has_the_pressure_and_the_collision_rate_of_the_virial_series() {
    check(0.3, 2_500, 3_000_000, 2.06326);
}

#[test]
fn a_dense_gas_has_the_pressure_and_the_collision_rate_of_the_virial_series() {
    check(0.5, 2_500, 3_000_000, 4.10715);
}

#[test]
fn a_million_collisions_keep_energy_and_momentum() {
    let mut gas = Gas::new(1_024, 0.5, 4);
    let energy = |gas: &Gas| gas.velocities().map(Vec2::norm2).sum::<f64>();
    let momentum = |gas: &Gas| gas.velocities().fold(Vec2::ZERO, |sum, v| sum + v).norm();
    let before = energy(&gas);
    gas.run(1_000_000);
    let (drift, push) = (energy(&gas) / before - 1.0, momentum(&gas));
    println!("energy drifts by {drift:e}, momentum is {push:e}");
    assert!(drift.abs() < 1e-12 && push < 1e-11);
}

/// From equal speeds (⟨v⁴⟩/⟨v²⟩² = 1) to those of Maxwell: 2, and ⟨v⟩ = √(π/2).
#[test]
fn equal_speeds_become_those_of_maxwell() {
    let mut dice = Dice::new(5);
    let speeds: Vec<Vec2> = (0..10_000).map(|_| Vec2::at_angle(dice.angle()) * 2.0_f64.sqrt()).collect();
    let mut gas = Gas::with_velocities(0.3, &speeds);
    let kurtosis = |gas: &Gas| {
        let n = gas.count() as f64;
        let (mut m1, mut m2, mut m4) = (0.0, 0.0, 0.0);
        for v in gas.velocities() {
            m1 += v.norm() / n;
            m2 += v.norm2() / n;
            m4 += v.norm2() * v.norm2() / n;
        }
        (m4 / (m2 * m2), m1)
    };
    assert!((kurtosis(&gas).0 - 1.0).abs() < 1e-12);
    gas.run(100_000);
    let (mut k, mut mean) = (0.0, 0.0);
    for _ in 0..20 {
        gas.run(40_000);
        let (a, b) = kurtosis(&gas);
        (k, mean) = (k + a / 20.0, mean + b / 20.0);
    }
    println!("kurtosis {k}, mean speed {mean}");
    // One look has a standard error of 0.02 and 0.005 at most.
    assert!((k - 2.0).abs() < 0.02 && (mean - 1.253_314).abs() < 0.003);
}

#[test]
fn turned_around_the_gas_goes_back_collision_by_collision() {
    let mut gas = Gas::new(400, 0.4, 6);
    let mut there = Vec::new();
    for _ in 0..1_600 {
        let m = gas.collide().expect("a gas never rests");
        there.push((m.body, m.with));
    }
    gas.reverse();
    let back: Vec<(u32, With)> =
        there.iter().map(|_| gas.collide().expect("a gas never rests")).map(|m| (m.body, m.with)).collect();
    there.reverse();
    let same = there.iter().zip(&back).take_while(|(a, b)| a == b).count();
    println!("{same} of {} collisions retraced", there.len());
    assert_eq!(same, there.len());
}
