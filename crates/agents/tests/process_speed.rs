//! What one quantum costs, against a bare futex ping-pong between two processes.
//!
//! `cargo test -p swarmyard-agents --test process_speed -- --ignored --nocapture`
#![cfg(target_os = "linux")]

mod common;

use common::{build, launch, quantum, start};
use std::process::Command;
use std::time::Instant;
use swarmyard_agents::process::Transport;

const ROUNDS: u64 = 20_000;

fn bare(spin: &str) -> f64 {
    let output = Command::new(build("bare.c", "cc", &["-std=gnu99"])).arg(spin).output().expect("it runs");
    String::from_utf8_lossy(&output.stdout).trim().parse::<f64>().expect("a number") / 1000.0
}

/// Microseconds of a quantum in which a program peeks, pokes and answers.
fn ours(transport: Transport) -> f64 {
    let mut launch = launch(&build("follow.c", "cc", &["-std=c99"]), transport, "speed");
    launch.limits.accesses = None;
    let mut child = start(&launch);
    quantum(&mut child, 0, &[0; 14]);
    let begun = Instant::now();
    for tick in 1..=ROUNDS {
        quantum(&mut child, tick, &[tick as u8; 14]);
    }
    begun.elapsed().as_secs_f64() * 1e6 / ROUNDS as f64
}

fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut all: Vec<f64> = (0..5).map(|_| measure()).collect();
    all.sort_by(f64::total_cmp);
    all[2]
}

#[test]
#[ignore = "a measurement; run it alone on a quiet machine"]
fn a_quantum_costs_at_most_three_bare_hand_overs() {
    let bare_sleeping = median(|| bare("0"));
    let bare_spinning = median(|| bare("100"));
    let shared = median(|| ours(Transport::Shared));
    let pipes = median(|| ours(Transport::Pipes));
    println!("bare futex ping-pong            {bare_sleeping:8.2} µs");
    println!("the same, looking first         {bare_spinning:8.2} µs");
    println!("one quantum over shared memory  {shared:8.2} µs, ratio {:.2}", shared / bare_sleeping);
    println!("one quantum over pipes          {pipes:8.2} µs, ratio {:.2}", pipes / bare_sleeping);
    assert!(shared <= 3.0 * bare_sleeping);
}
