//! How many messages per second of processor time. Printed, never asserted: `cargo test --release -- --ignored --nocapture`.

use swarmyard_base::Moment;
use swarmyard_part_api::{Air, NetworkModel};
use swarmyard_radio::net::{Random, StillAir};

/// Seconds this thread has been on a processor.
#[expect(clippy::disallowed_methods, reason = "measures, and is no part of a run")]
fn cpu_s() -> f64 {
    let stat =
        std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux says how long a thread ran");
    let nanos: f64 = stat.split_whitespace().next().and_then(|n| n.parse().ok()).expect("a number");
    nanos * 1e-9
}

#[test]
#[ignore = "a measurement"]
fn messages_per_second_of_the_random_network() {
    let (robots, messages) = (1000, 4_000_000_u64);
    let mut network = Random { mean_s: 1.0, ..Random::default() }.start(robots);
    let mut air = StillAir::new(robots, 1);
    air.recording = false;
    let begin = cpu_s();
    // About a thousand are always under way.
    for k in 0..messages {
        air.run(&mut *network, k as f64 * 1.0e-3);
        let from = (k % u64::from(robots)) as u32;
        air.send(&mut *network, from, &[(from + 1) % robots], b"sixteen bytes...");
    }
    while air.step(&mut *network) {}
    let took = cpu_s() - begin;
    assert_eq!(air.arrivals, messages);
    assert!(air.now() > Moment::ZERO);
    println!("{:.3} million messages per CPU-second", messages as f64 / took * 1e-6);
}
