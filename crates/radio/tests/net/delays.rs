//! Delays: the metric network's formulae, the distribution of random delays, and what waits in queues.

use crate::chance;
use swarmyard_base::math;
use swarmyard_part_api::{Network, NetworkModel};
use swarmyard_radio::net::radio::Access;
use swarmyard_radio::net::{Metric, Radio, Random, StillAir};

fn metric(lambda: f64, multicast: bool) -> Metric {
    Metric { lambda, unit_s: 1.0, multicast, ..Metric::default() }
}

/// When the last copy of one broadcast among n arrives.
fn last_delivery(n: u32, lambda: f64, multicast: bool) -> f64 {
    let mut network = metric(lambda, multicast).start(n);
    let mut air = StillAir::new(n, 1);
    let others: Vec<u32> = (1..n).collect();
    air.send(&mut *network, 0, &others, b"x");
    air.run(&mut *network, 1.0e6);
    assert_eq!(air.arrivals, u64::from(n - 1));
    air.arrived.iter().map(|a| a.seconds()).fold(0.0, math::max)
}

#[test]
fn a_message_alone_takes_two_lambda_and_one() {
    for lambda in [0.0, 0.1, 0.5, 1.0, 10.0] {
        assert!((last_delivery(2, lambda, false) - (2.0 * lambda + 1.0)).abs() < 1e-9, "{lambda}");
    }
}

#[test]
fn a_multicast_takes_as_long_as_one_message() {
    for (n, lambda) in [(5, 0.1), (5, 1.0), (5, 10.0), (10, 0.1), (10, 1.0), (10, 10.0)] {
        assert!((last_delivery(n, lambda, true) - (2.0 * lambda + 1.0)).abs() < 1e-9, "{n} {lambda}");
    }
}

#[test]
fn copies_of_a_broadcast_queue_for_processor_and_network() {
    // max(λ + n − 1, (n − 1) λ + 1) + λ.
    let table =
        [(5, 0.1, 4.2), (5, 1.0, 6.0), (5, 10.0, 51.0), (10, 0.1, 9.2), (10, 1.0, 11.0), (10, 10.0, 101.0)];
    for (n, lambda, expected) in table {
        let last = last_delivery(n, lambda, false);
        assert!((last - expected).abs() < 1e-8, "n = {n}, λ = {lambda}: {last}, not {expected}");
    }
}

#[test]
fn a_pair_of_robots_gets_through_what_the_slowest_stage_lets_through() {
    for lambda in [0.1, 0.9, 1.0, 1.5, 4.0] {
        let mut network = metric(lambda, false).start(2);
        let mut air = StillAir::new(2, 1);
        for _ in 0..1001 {
            air.send(&mut *network, 0, &[1], b"x");
        }
        air.run(&mut *network, 1.0e6);
        let (first, last) = (air.arrived[0].seconds(), air.arrived[1000].seconds());
        let rate = 1000.0 / (last - first);
        assert!((rate - 1.0 / math::max(lambda, 1.0)).abs() < 1e-6, "λ = {lambda}: {rate}");
    }
}

/// Delays of messages to k receivers each.
fn random_delays(mean_s: f64, messages: usize, k: u32) -> Vec<Vec<f64>> {
    let mut network = Random { mean_s, ..Random::default() }.start(k + 1);
    let mut air = StillAir::new(k + 1, 42);
    let to: Vec<u32> = (1..=k).collect();
    for _ in 0..messages {
        air.send(&mut *network, 0, &to, b"x");
    }
    air.run(&mut *network, 1.0e9);
    let mut delays = vec![Vec::new(); messages];
    air.arrived.iter().for_each(|a| delays[a.serial as usize].push(a.seconds()));
    delays
}

#[test]
fn random_delays_have_the_mean_and_the_variance_of_an_exponential() {
    let (mean_s, n) = (10.0, 200_000);
    let delays: Vec<f64> = random_delays(mean_s, n, 1).concat();
    let mean = delays.iter().sum::<f64>() / n as f64;
    let variance = delays.iter().map(|d| (d - mean) * (d - mean)).sum::<f64>() / n as f64;
    println!("mean {mean} of 10, variance {variance} of 100");
    // Five standard errors: λ/√n and λ² √(8/n).
    assert!((mean - mean_s).abs() < 5.0 * mean_s / (n as f64).sqrt());
    assert!((variance - mean_s * mean_s).abs() < 5.0 * mean_s * mean_s * (8.0 / n as f64).sqrt());
}

#[test]
fn the_first_of_k_messages_takes_a_kth_of_the_mean() {
    for k in [2, 5, 10] {
        let n = 20_000;
        let delays = random_delays(1.0, n, k);
        let first = delays.iter().map(|d| d.iter().copied().fold(f64::INFINITY, math::min));
        let mean = first.sum::<f64>() / n as f64;
        assert!((mean - 1.0 / f64::from(k)).abs() < 5.0 / f64::from(k) / (n as f64).sqrt(), "{k}: {mean}");
    }
}

#[test]
fn random_delays_pass_kolmogorov_and_smirnov() {
    let n = 50_000;
    let mut delays = random_delays(3.0, n, 1).concat();
    delays.sort_by(f64::total_cmp);
    let distance = |cdf: &dyn Fn(f64) -> f64| {
        let steps = delays.iter().enumerate();
        let gaps = steps.map(|(k, d)| {
            let (below, above) = (k as f64 / n as f64, (k + 1) as f64 / n as f64);
            math::max((cdf(*d) - below).abs(), (above - cdf(*d)).abs())
        });
        gaps.fold(0.0, math::max) * (n as f64).sqrt()
    };
    let d = distance(&|x| 1.0 - swarmyard_base::math::exp(-x / 3.0));
    println!("Kolmogorov–Smirnov √n D = {d}");
    // 999 of 1000 are below 1.95.
    assert!(d < 1.95, "{d}");
    assert!(
        distance(&|x| 1.0 - swarmyard_base::math::exp(-x / 3.1)) > 1.95,
        "a mean of 3.1 would be noticed"
    );
}

/// How long messages waited that came to one queue as a Poisson process, in units of a mean service of 1 s: the mean, and
/// its standard error from means over long stretches, which hardly depend on each other. `transit_s` of a message is what
/// it takes when it is alone.
fn waits(
    network: &mut dyn Network,
    load: f64,
    n: u64,
    bytes: &dyn Fn(u64) -> usize,
    transit_s: &dyn Fn(usize) -> f64,
) -> (f64, f64) {
    let zeros = vec![0; 100_000];
    let mut air = StillAir::new(2, 1);
    let mut sent = Vec::new();
    let mut now = 0.0;
    for k in 0..n {
        now += chance(k).exponential(0, 1.0 / load);
        air.run(network, now);
        let length = bytes(k).min(zeros.len());
        air.send(network, 0, &[1], &zeros[..length]);
        sent.push((now, length));
    }
    air.run(network, now + 1.0e6);
    assert_eq!(air.arrivals, n);
    let mut waited = vec![0.0; n as usize];
    for a in &air.arrived {
        let (at, length) = sent[a.serial as usize];
        waited[a.serial as usize] = a.seconds() - at - transit_s(length);
    }
    let mean_of = |part: &[f64]| part.iter().sum::<f64>() / part.len() as f64;
    let parts: Vec<f64> = waited.chunks(n as usize / 60).map(mean_of).collect();
    let mean = mean_of(&waited);
    let squares = parts.iter().map(|p| (p - mean) * (p - mean)).sum::<f64>();
    (mean, squares.sqrt() / parts.len() as f64)
}

fn waits_as(what: &str, load: f64, (found, error): (f64, f64), expected: f64) {
    println!("{what} at load {load}: waited {found:.4} of {expected:.4}, ± {error:.4}");
    assert!((found - expected).abs() < 4.0 * error, "{what}, load {load}: {found}, not {expected}");
    assert!(error < 0.03 * expected, "{what}, load {load}: not sure enough");
}

const LOADS: [(f64, u64); 3] = [(0.3, 120_000), (0.5, 180_000), (0.8, 600_000)];

/// One queue at 8000 bit/s: 1000 bytes take 1 s.
fn one_queue() -> Radio {
    Radio { access: Access::Aloha, header_bytes: 0, rate_bps: 8000.0, queue: 1_000_000, ..Radio::default() }
}

#[test]
fn frames_of_one_size_wait_as_long_as_pollaczek_and_khinchine_say() {
    for (load, n) in LOADS {
        let found = waits(&mut *one_queue().start(2), load, n, &|_| 1000, &|_| 1.0);
        waits_as("M/D/1", load, found, load / (2.0 * (1.0 - load)));
    }
}

#[test]
fn frames_of_exponential_size_wait_twice_as_long() {
    let size = |k: u64| chance(k).exponential(1, 1000.0).round() as usize;
    for (load, n) in LOADS {
        let found = waits(&mut *one_queue().start(2), load, n, &size, &|bytes| bytes as f64 * 1.0e-3);
        waits_as("M/M/1", load, found, load / (1.0 - load));
    }
}

#[test]
fn messages_wait_for_the_network_of_the_metric_model_as_for_any_queue() {
    // Processors that take no time: the network alone serves, one unit each.
    for (load, n) in LOADS {
        let model = Metric { lambda: 0.0, unit_s: 1.0, queue: 1_000_000, ..Metric::default() };
        let found = waits(&mut *model.start(2), load, n, &|_| 1, &|_| 1.0);
        waits_as("metric M/D/1", load, found, load / (2.0 * (1.0 - load)));
    }
}
