//! Failure detectors and Ω: complete, accurate as far as they promise, and as good as the formulae say.

use crate::common::{dice, fine, num, registry, text, yes};
use swarmyard_base::math;
use swarmyard_radio::check::detector::{accuracy_since, completeness, mean, quality};
use swarmyard_radio::check::leader;
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, What, Wires};
use swarmyard_scene::Value;

fn run(
    class: &str,
    params: &[(&str, Value)],
    n: u32,
    seed: u64,
    wires: &Wires,
    script: impl Fn(&mut Lab),
) -> Trace {
    let registry = registry();
    let graph = Stack::new(&registry).class("fd", class, params).probe(&["fd"]).build().expect("connects");
    let mut lab = Lab::new(seed, &graph, n, wires);
    script(&mut lab);
    lab.run_until(20.0).expect("comes to rest");
    lab.into_trace()
}

const BEATS: [&str; 2] = ["heartbeat", "ring-heartbeat"];

fn beats(period: f64, timeout: f64) -> Vec<(&'static str, Value)> {
    vec![("period", num(period)), ("timeout", num(timeout))]
}

#[test]
fn with_constant_delay_and_no_loss_there_is_no_mistake_and_every_crash_is_found() {
    for class in BEATS {
        for seed in 0..100 {
            let n = 2 + seed as u32 % 5;
            let wires = Wires::new(Delay::Fixed(0.03));
            let trace = run(class, &beats(0.1, 0.25), n, seed, &wires, |lab| {
                for k in 0..n - 1 {
                    lab.crash(dice(seed, k).between(0, 0.0, 10.0), k);
                }
            });
            fine(completeness(&trace), seed);
            fine(accuracy_since(&trace, 0.0), seed);
            assert_eq!(quality(&trace).mistakes(), 0, "{class} seed {seed}");
        }
    }
}

/// Period η = 0.1 s, timeout Θ = 0.25 s after the last arrival, delay d: a crash is found between Θ − η and Θ
/// after it, plus d; every moment in between is equally likely.
#[test]
fn the_detection_time_of_heartbeats_is_uniform_between_timeout_less_period_and_timeout_plus_delay() {
    let (period, timeout, delay) = (0.1, 0.25, 0.02);
    let mut times = Vec::new();
    for seed in 0..2000 {
        let crash = 2.0 + dice(seed, 0).between(0, 0.0, 3.0);
        let trace =
            run("heartbeat", &beats(period, timeout), 2, seed, &Wires::new(Delay::Fixed(delay)), |lab| {
                lab.crash(crash, 1);
            });
        times.extend(quality(&trace).detection_s);
    }
    assert_eq!(times.len(), 2000);
    let (low, high) = (timeout - period + delay, timeout + delay);
    assert!(times.iter().all(|t| *t > low - 1e-6 && *t <= high + 1e-6), "all within {low} and {high}");
    assert!((mean(&times) - (low + high) / 2.0).abs() < 0.002, "mean {}", mean(&times));
    // Kolmogorov and Smirnov: the greatest distance is below 1.95/√n in 999 of 1000.
    times.sort_by(f64::total_cmp);
    let n = times.len() as f64;
    let distance = times.iter().enumerate().map(|(k, t)| ((t - low) / period - k as f64 / n).abs());
    let greatest = distance.fold(0.0, math::max);
    assert!(greatest < 1.95 / n.sqrt(), "{greatest}");
    println!("T_D of 2000 crashes: mean {:.4} s, KS distance {greatest:.4}", mean(&times));
}

/// Whatever the delays: never later than the timeout after the arrival of the last heartbeat.
#[test]
fn no_crash_is_found_later_than_timeout_plus_the_longest_delay() {
    for seed in 0..200 {
        let wires = Wires::new(Delay::Uniform(0.0, 0.05)).losing(0.1);
        let trace = run("heartbeat", &beats(0.1, 0.5), 4, seed, &wires, |lab| {
            lab.crash(dice(seed, 0).between(0, 0.5, 10.0), 2);
        });
        fine(completeness(&trace), seed);
        let times = quality(&trace).detection_s;
        assert!(times.len() == 3 && times.iter().all(|t| *t <= 0.5 + 0.05 + 1e-9), "seed {seed}: {times:?}");
    }
}

/// Negative control: a timeout shorter than delays makes mistakes, and they are measured as such.
#[test]
fn a_timeout_shorter_than_the_delay_makes_wrong_suspicions() {
    let wires = Wires::new(Delay::Exponential(0.2));
    let trace = run("heartbeat", &beats(0.1, 0.12), 3, 5, &wires, |_| {});
    let quality = quality(&trace);
    assert!(quality.mistakes() > 300, "{}", quality.mistakes());
    assert!(mean(&quality.mistakes_s) > 0.01 && mean(&quality.recurrence_s) > mean(&quality.mistakes_s));
    assert!(!accuracy_since(&trace, 1.0).is_empty(), "the checker sees it, too");
    println!(
        "{} mistakes, T_M {:.4} s, T_MR {:.4} s",
        quality.mistakes(),
        mean(&quality.mistakes_s),
        mean(&quality.recurrence_s)
    );
    // Also with a constant delay: the first heartbeat takes longer than the timeout.
    let trace = run("heartbeat", &beats(0.1, 0.12), 3, 5, &Wires::new(Delay::Fixed(0.15)), |_| {});
    assert_eq!(
        swarmyard_radio::check::detector::quality(&trace).mistakes_s.len(),
        6,
        "each of the others once"
    );
}

#[test]
fn an_adaptive_timeout_makes_finitely_many_mistakes() {
    for class in BEATS {
        for seed in 0..60 {
            let mut params = beats(0.1, 0.12);
            params.extend([("adaptive", yes()), ("increment", num(0.8))]);
            let trace =
                run(class, &params, 4, seed, &Wires::new(Delay::Uniform(0.0, 0.4)), |lab| lab.crash(5.0, 3));
            fine(completeness(&trace), seed);
            fine(accuracy_since(&trace, 12.0), seed);
            assert!(quality(&trace).mistakes() > 0, "{class} seed {seed}: or the test shows nothing");
        }
    }
}

#[test]
fn a_partition_is_suspected_and_forgiven() {
    for class in BEATS {
        for seed in 0..50 {
            let trace =
                run(class, &beats(0.1, 0.35), 5, seed, &Wires::new(Delay::Uniform(0.0, 0.05)), |lab| {
                    lab.partition(3.0, &[&[0, 3], &[1, 2, 4]]);
                    lab.heal(8.0);
                });
            fine(accuracy_since(&trace, 10.0), seed);
            let mistakes = quality(&trace).mistakes_s.len();
            assert!(mistakes >= 12, "{class} seed {seed}: {mistakes}");
            // On a ring old news go around once more when it is closed again.
            assert!(
                class != "heartbeat" || mistakes == 12,
                "seed {seed}: {mistakes}, each about those beyond"
            );
        }
    }
}

#[test]
fn a_ring_needs_two_messages_for_each_robot_and_period_and_heartbeats_one_for_each_pair() {
    for n in [2_u32, 5, 9] {
        let wires = Wires::new(Delay::Fixed(0.01));
        let quiet = |class| run(class, &beats(0.1, 0.3), n, 1, &wires, |_| {}).copies() as u32;
        // Beats at 0, 0.1, … 20 s; what is asked at 20 s is answered later.
        assert_eq!(quiet("heartbeat"), 201 * n * (n - 1), "n = {n}");
        assert_eq!(quiet("ring-heartbeat"), 201 * n + 200 * n, "n = {n}");
    }
}

#[test]
fn messages_of_other_protocols_count_as_heartbeats_if_wanted() {
    let registry = registry();
    for (application, mistakes) in [(false, true), (true, false)] {
        let mut params = beats(1.0, 0.5);
        params.push(("application", Value::Bool(application)));
        let graph = Stack::new(&registry)
            .class("fd", "heartbeat", &params)
            .class("busy", "heartbeat", &beats(0.1, 10.0))
            .probe(&["fd"])
            .build()
            .expect("connects");
        let mut lab = Lab::new(1, &graph, 3, &Wires::new(Delay::Fixed(0.01)));
        lab.run_until(10.0).expect("comes to rest");
        assert_eq!(quality(lab.trace()).mistakes() > 0, mistakes, "application = {application}");
    }
}

#[test]
fn a_detector_says_how_good_it_is_if_wanted() {
    let mut params = beats(0.1, 0.12);
    params.extend([("measure", yes()), ("report", num(5.0))]);
    let trace = run("heartbeat", &params, 2, 1, &Wires::new(Delay::Exponential(0.2)), |_| {});
    let said: Vec<&String> = trace
        .events
        .iter()
        .filter_map(|e| if let What::Said(t) = &e.what { Some(t) } else { None })
        .collect();
    assert_eq!(said.len(), 8, "two robots, every five seconds of twenty");
    let words: Vec<&str> = said[7].split(' ').collect();
    let (count, t_m): (usize, f64) = (words[1].parse().unwrap(), words[4].parse().unwrap());
    let own = trace.indications().filter(|i| {
        i.1 == trace.events.iter().rev().find(|e| matches!(e.what, What::Said(_))).unwrap().process
    });
    let ends = own.filter(|i| matches!(i.3, swarmyard_part_api::Indication::Trusted(_))).count();
    assert_eq!(count, ends, "as many as the trace has: {}", said[7]);
    assert!(t_m > 0.0);
}

#[test]
fn a_simulated_detector_finds_crashes_exactly_on_time_and_is_never_wrong() {
    for seed in 0..200 {
        let detection = dice(seed, 1).between(0, 0.005, 2.0);
        let trace = run(
            "simulated-detector",
            &[("detection", num(detection))],
            4,
            seed,
            &Wires::new(Delay::Fixed(0.01)),
            |lab| {
                lab.crash(dice(seed, 2).between(0, 0.0, 10.0), 2);
            },
        );
        let quality = quality(&trace);
        assert_eq!(quality.detection_s.len(), 3);
        assert!(
            quality.detection_s.iter().all(|t| (t - detection).abs() < 1e-8),
            "{:?}",
            quality.detection_s
        );
        assert_eq!((quality.mistakes(), trace.copies()), (0, 0));
    }
}

#[test]
fn a_simulated_detector_is_as_bad_as_it_is_told_to_be() {
    let (t_mr, t_m) = (0.5, 0.1);
    let params = [("detection", num(0.05)), ("t_mr", num(t_mr)), ("t_m", num(t_m))];
    let (mut lengths, mut recurrences) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let quality =
            quality(&run("simulated-detector", &params, 5, seed, &Wires::new(Delay::Fixed(0.01)), |_| {}));
        lengths.extend(quality.mistakes_s);
        recurrences.extend(quality.recurrence_s);
    }
    // 20 runs of 20 s with 20 pairs: about 16 000 of each; a standard error is below 1 %.
    assert!(lengths.len() > 14_000, "{}", lengths.len());
    assert!((mean(&lengths) / t_m - 1.0).abs() < 0.03, "T_M {}", mean(&lengths));
    assert!((mean(&recurrences) / t_mr - 1.0).abs() < 0.04, "T_MR {}", mean(&recurrences));
    println!(
        "T_M {:.4} s of 0.1, T_MR {:.4} s of 0.5, {} mistakes",
        mean(&lengths),
        mean(&recurrences),
        lengths.len()
    );
}

#[test]
fn a_simulated_detector_forgives_who_comes_back() {
    let trace =
        run("simulated-detector", &[("detection", num(0.2))], 3, 1, &Wires::new(Delay::Fixed(0.01)), |lab| {
            lab.crash(2.0, 1);
            lab.recover(5.0, 1);
        });
    fine(completeness(&trace), 1);
    fine(accuracy_since(&trace, 0.0), 1);
    assert_eq!(trace.indications().count(), 4, "two suspect it, and trust it again");
}

fn omega(own: bool, n: u32, seed: u64, wires: &Wires, script: impl Fn(&mut Lab)) -> Trace {
    let registry = registry();
    let mut params = beats(0.1, 0.25);
    params.extend([("adaptive", yes()), ("increment", num(0.1))]);
    let mut stack = Stack::new(&registry);
    let mut leader = vec![("way", text(if own { "accusations" } else { "detector" }))];
    if own {
        leader.extend(beats(0.1, 0.25));
    } else {
        stack = stack.class("fd", "heartbeat", &params);
    }
    let graph = stack.class("leader", "omega", &leader).probe(&["leader"]).build().expect("connects");
    let mut lab = Lab::new(seed, &graph, n, wires);
    script(&mut lab);
    lab.run_until(30.0).expect("comes to rest");
    lab.into_trace()
}

#[test]
fn all_who_live_follow_one_of_them_in_the_end() {
    for own in [false, true] {
        for seed in 0..200 {
            let n = 2 + seed as u32 % 4;
            let wires = Wires::new(Delay::Exponential(0.02)).losing(0.05 * (seed % 2) as f64);
            let trace = omega(own, n, seed, &wires, |lab| {
                for k in 0..n - 1 {
                    lab.crash(dice(seed, k).between(0, 0.0, 8.0), (k + seed as u32) % n);
                }
                lab.partition(8.0, &[&[0], &[1]]);
                lab.heal(9.0);
            });
            fine(leader::settled_since(&trace, 22.0), seed);
        }
    }
}

/// Messages of robot 0 to robot 1 take a second, so it is late again and again at first: with accusations
/// somebody else leads in the end, with plain suspicions robot 0 as soon as the timeouts have grown.
#[test]
fn who_is_accused_too_often_loses_the_lead() {
    let mut wires = Wires::new(Delay::Uniform(0.0, 1.0));
    wires.delay = Delay::Uniform(0.0, 0.02);
    let trace = omega(true, 3, 1, &wires.slower(0, 1, 1.0), |_| {});
    fine(leader::settled_since(&trace, 20.0), 1);
    let last = trace.indications().last().map(|i| i.3.clone());
    assert_eq!(last, Some(swarmyard_part_api::Indication::Leads(1)));
}
