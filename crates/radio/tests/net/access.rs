//! How much gets through a shared channel: ALOHA (Abramson, Roberts) and carrier sensing (Kleinrock and Tobagi).
//!
//! Very many robots, all within range of each other, offer frames of 1 s as a Poisson process to one receiver.

use crate::chance;
use std::sync::Arc;
use swarmyard_part_api::NetworkModel;
use swarmyard_radio::net::radio::Access;
use swarmyard_radio::net::{Radio, StillAir};

/// Frames that get through per second when `offered` are offered.
fn throughput(access: Access, offered: f64, a: f64, slot_s: f64, frames: u64) -> f64 {
    let senders = 3000;
    let model = Radio {
        access,
        header_bytes: 0,
        rate_bps: 1000.0,
        sensing_s: a,
        slot_s,
        retries: 0,
        ..Radio::default()
    };
    let mut network = model.start(senders + 1);
    let mut air = StillAir::new(senders + 1, 1);
    air.recording = false;
    let frame: Arc<[u8]> = Arc::from([0; 125]);
    let mut now = 0.0;
    for k in 0..frames {
        now += chance(k).exponential(0, 1.0 / offered);
        air.send_at(now, 1 + chance(k).below(1, senders), &[0], &frame);
        air.run(&mut *network, now);
    }
    air.arrivals as f64 / now
}

fn close(what: &str, found: f64, expected: f64, share: f64) {
    println!("{what}: {found:.5} of {expected:.5}");
    assert!((found / expected - 1.0).abs() < share, "{what}: {found}, not {expected}");
}

#[test]
fn pure_aloha_lets_through_what_abramson_found() {
    for g in [0.1, 0.5, 1.0] {
        let expected = g * swarmyard_base::math::exp(-2.0 * g);
        close(&format!("ALOHA at G = {g}"), throughput(Access::Aloha, g, 0.0, 1.0, 400_000), expected, 0.01);
    }
    close("the most of ALOHA", throughput(Access::Aloha, 0.5, 0.0, 1.0, 500_000), 0.183_94, 0.01);
}

#[test]
fn slotted_aloha_lets_through_twice_as_much() {
    let found = throughput(Access::SlottedAloha, 1.0, 0.0, 1.0, 500_000);
    close("the most of slotted ALOHA", found, 0.367_88, 0.01);
    let expected = 2.0 * swarmyard_base::math::exp(-2.0);
    close("slotted ALOHA at G = 2", throughput(Access::SlottedAloha, 2.0, 0.0, 1.0, 500_000), expected, 0.01);
}

#[test]
fn non_persistent_sensing_lets_through_what_kleinrock_and_tobagi_found() {
    for (a, g, expected) in [(0.01, 9.445, 0.8151), (0.1, 2.542, 0.5153)] {
        close(&format!("CSMA, a = {a}"), throughput(Access::Csma, g, a, 1.0, 600_000), expected, 0.01);
    }
}

#[test]
fn slotted_non_persistent_sensing_lets_through_more() {
    for (a, g, expected) in [(0.01, 13.452, 0.8655), (0.1, 3.755, 0.6245)] {
        let found = throughput(Access::CsmaSlotted, g, a, a, 600_000);
        close(&format!("slotted CSMA, a = {a}"), found, expected, 0.01);
    }
}

#[test]
fn persistent_sensing_lets_through_less() {
    for (a, g, expected) in [(0.01, 1.019, 0.5288), (0.1, 0.921, 0.4535)] {
        let found = throughput(Access::CsmaPersistent, g, a, 1.0, 500_000);
        close(&format!("1-persistent CSMA, a = {a}"), found, expected, 0.015);
    }
}

/// Where a formula is greatest, and how great.
fn most(formula: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let all = (1..4000).map(|k| f64::from(k) * 1.0e-3).map(|g| (g, formula(g)));
    all.max_by(|a, b| a.1.total_cmp(&b.1)).unwrap()
}

#[test]
fn sensing_that_is_as_slow_as_a_frame_is_worse_than_none() {
    use swarmyard_base::math::exp;
    // Kleinrock and Tobagi's formulae at a = 1, and their greatest values.
    let plain = |g: f64| g * exp(-g) / (3.0 * g + exp(-g));
    let slotted = |g: f64| g * exp(-g) / (2.0 - exp(-g));
    let persistent = |g: f64| {
        let up = g * (1.0 + g + g * (1.0 + g + g / 2.0)) * exp(-3.0 * g);
        up / (3.0 * g - (1.0 - exp(-g)) + (1.0 + g) * exp(-2.0 * g))
    };
    type Formula<'a> = &'a dyn Fn(f64) -> f64;
    let kinds: [(Access, Formula<'_>, f64); 3] = [
        (Access::Csma, &plain, 0.1444),
        (Access::CsmaSlotted, &slotted, 0.2320),
        (Access::CsmaPersistent, &persistent, 0.1640),
    ];
    for (access, formula, greatest) in kinds {
        let (g, expected) = most(formula);
        assert!((expected - greatest).abs() < 1e-4, "{access:?}: {expected}");
        close(
            &format!("{access:?}, a = 1, G = {g}"),
            throughput(access, g, 1.0, 1.0, 300_000),
            expected,
            0.015,
        );
    }
}

/// Share of the time that data of n robots, each with always more to send, gets through under `dcf`.
fn saturated(n: u32, window: u32, doublings: u32, model: &Radio) -> f64 {
    let model = Radio { window, window_most: window << doublings, ..model.clone() };
    let mut network = model.start(n + 1);
    let mut air = StillAir::new(n + 1, 1);
    air.recording = false;
    let frame: Arc<[u8]> = Arc::from([0; 1250]);
    for robot in 1..=n {
        for _ in 0..9_000 {
            air.send_at(0.0, robot, &[0], &frame);
        }
    }
    // 10 ms of data per frame; long before anybody has sent all.
    let seconds = 60.0;
    air.run(&mut *network, seconds);
    assert!(air.losses == 0, "{}", air.losses);
    air.arrivals as f64 * 10.0e-3 / seconds
}

/// Bianchi (2000): the share of the time with n robots, a first window of w, m doublings.
fn bianchi(n: u32, w: f64, m: u32, slot: f64, data: f64, busy: f64) -> f64 {
    // τ by p and p by τ: one falls and the other grows, so they meet once.
    let tau = |p: f64| {
        let sum: f64 = (0..m).map(|i| (0..i).fold(1.0, |x, _| x * 2.0 * p)).sum();
        2.0 / (1.0 + w + p * w * sum)
    };
    let none = |t: f64, k: u32| (0..k).fold(1.0, |x, _| x * (1.0 - t));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..100 {
        let p = 0.5 * (low + high);
        if 1.0 - none(tau(p), n - 1) > p { low = p } else { high = p }
    }
    let t = tau(low);
    let idle = none(t, n);
    let success = f64::from(n) * t * none(t, n - 1);
    success * data / (idle * slot + (1.0 - idle) * busy)
}

#[test]
fn robots_that_count_slots_let_through_what_bianchi_found() {
    let model = Radio {
        access: Access::Dcf,
        header_bytes: 50,
        rate_bps: 1.0e6,
        slot_s: 50.0e-6,
        pause_s: 128.0e-6,
        acknowledgement_s: 268.0e-6,
        retries: 1000,
        queue: 1_000_000,
        ..Radio::default()
    };
    let busy = 10.0e-3 + 400.0e-6 + 268.0e-6 + 128.0e-6;
    for (n, window, doublings) in
        [(1, 32, 3), (5, 32, 3), (10, 32, 3), (20, 32, 3), (50, 32, 5), (10, 128, 3)]
    {
        let expected = bianchi(n, f64::from(window), doublings, 50.0e-6, 10.0e-3, busy);
        let found = saturated(n, window, doublings, &model);
        close(&format!("802.11, n = {n}, W = {window}, m = {doublings}"), found, expected, 0.03);
    }
}

/// A physical layer of 802.11: times of a frame with 1500 bytes and of what follows it, in microseconds.
struct Phy {
    name: &'static str,
    slot: f64,
    sifs: f64,
    difs: f64,
    /// A frame with its preamble; 36 bytes of headers and checksum go with the data.
    frame: f64,
    /// The acknowledgement of 14 bytes, at the highest basic rate.
    ack: f64,
    window: u32,
    /// The bit rate in Mbit/s that gets through with 5, 10, 20 and 50 robots.
    table: [f64; 4],
}

/// A frame with a preamble of 192 µs.
fn dsss(bytes: f64, mbps: f64) -> f64 {
    192.0 + (8.0 * bytes / mbps).ceil()
}

/// A frame with a preamble of 20 µs, in symbols of 4 µs with so many bits.
fn ofdm(bytes: f64, bits: f64) -> f64 {
    20.0 + 4.0 * ((22.0 + 8.0 * bytes) / bits).ceil()
}

/// Mbit/s that get through when n robots always have something to send.
fn saturated_mbps(n: u32, phy: &Phy) -> f64 {
    // Only how long a frame takes matters: all of it is counted as data here.
    let model = Radio {
        access: Access::Dcf,
        header_bytes: 0,
        rate_bps: 12_000.0 / (phy.frame * 1e-6),
        slot_s: phy.slot * 1e-6,
        pause_s: phy.difs * 1e-6,
        acknowledgement_s: (phy.sifs + phy.ack) * 1e-6,
        window: phy.window,
        window_most: 1024,
        retries: 1000,
        queue: 1_000_000,
        ..Radio::default()
    };
    let mut network = model.start(n + 1);
    let mut air = StillAir::new(n + 1, 1);
    air.recording = false;
    let frame: Arc<[u8]> = Arc::from([0; 1500]);
    let seconds = 8000.0 * phy.frame * 1e-6;
    for robot in 1..=n {
        for _ in 0..16_000 / n {
            air.send_at(0.0, robot, &[0], &frame);
        }
    }
    air.run(&mut *network, seconds);
    assert!(air.losses == 0 && air.arrivals < 8000, "{} lost, {} came", air.losses, air.arrivals);
    air.arrivals as f64 * 12_000.0 / seconds * 1e-6
}

/// What the table of ns-3 (`src/wifi/examples/wifi-bianchi.cc`, with EIFS) expects.
#[test]
fn four_rates_of_802_11_let_through_what_ns_3_expects() {
    let b = Phy {
        name: "1 Mbit/s",
        slot: 20.0,
        sifs: 10.0,
        difs: 50.0,
        frame: dsss(1536.0, 1.0),
        ack: dsss(14.0, 1.0),
        window: 32,
        table: [0.8418, 0.7831, 0.7186, 0.6285],
    };
    let a = Phy {
        name: "6 Mbit/s",
        slot: 9.0,
        sifs: 16.0,
        difs: 34.0,
        frame: ofdm(1536.0, 24.0),
        ack: ofdm(14.0, 24.0),
        window: 16,
        table: [4.6899, 4.3197, 3.9589, 3.4711],
    };
    let phys = [
        Phy {
            name: "11 Mbit/s",
            frame: dsss(1536.0, 11.0),
            ack: dsss(14.0, 2.0),
            table: [6.3821, 6.0269, 5.5765, 4.9103],
            ..b
        },
        Phy {
            name: "54 Mbit/s",
            frame: ofdm(1536.0, 216.0),
            ack: ofdm(14.0, 96.0),
            table: [29.2861, 27.3763, 25.3325, 22.4162],
            ..a
        },
        b,
        a,
    ];
    for phy in &phys {
        for (n, expected) in [5, 10, 20, 50].into_iter().zip(phy.table) {
            close(&format!("802.11 at {}, n = {n}", phy.name), saturated_mbps(n, phy), expected, 0.03);
        }
    }
}
