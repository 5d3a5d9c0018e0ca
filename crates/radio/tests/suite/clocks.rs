//! Clocks in the laboratory: the bounds of Lundelius and Lynch and of Cristian, and what breaks them.
//!
//! Bounds are computed here from delays, drift and number of robots alone; the laboratory knows the true time.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::{Moment, math};
use swarmyard_part_api::{
    Cx, GraphModel, Indication, Link, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, ReadClock,
    Registry, Request, ServiceKind, User, from_bytes, memory_is_serde,
};
use swarmyard_radio::check::{Violations, all, clock};
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, Wires};
use swarmyard_scene::Value;

/// What messages take at least and at most, s, and the difference.
const LEAST: f64 = 0.02;
const MOST: f64 = 0.10;
const U: f64 = MOST - LEAST;
/// A round is over for all this long after it began.
const ROUND: f64 = 3.5 * MOST;

fn registry() -> Registry {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    registry
}

fn graph(way: &str, period: f64, drift: f64) -> Arc<GraphModel> {
    let params = [
        ("way", Value::Text(way.to_owned())),
        ("period", Value::Num(period)),
        ("delay_min", Value::Num(LEAST)),
        ("delay_max", Value::Num(MOST)),
        ("offset", Value::Num(5.0)),
        ("drift", Value::Num(drift)),
        ("tries", Value::Int(4)),
    ];
    Stack::new(&registry()).class("time", "clock-sync", &params).probe(&["time"]).build().unwrap()
}

fn uniform() -> Wires {
    Wires::new(Delay::Uniform(LEAST, MOST))
}

/// All clocks are read at the same moments: from, until, every.
fn read(lab: &mut Lab, n: u32, [from, until, every]: [f64; 3]) {
    let times = ((until - from) / every) as u32;
    for k in 0..=times {
        (0..n).for_each(|p| lab.at(from + f64::from(k) * every, p, ReadClock::Now));
    }
}

fn lundelius_lynch(n: u32) -> f64 {
    U * (1.0 - 1.0 / f64::from(n))
}

fn fine(trace: &Trace, wrong: Violations, what: &str) {
    let wrong = all([wrong, clock::answers(trace)]);
    assert!(wrong.is_empty(), "{what}: {}", wrong.join("\n"));
}

#[test]
fn after_one_round_of_averaging_clocks_differ_by_at_most_the_bound_of_lundelius_and_lynch() {
    for n in 2..=8 {
        let (mut before, mut after) = (0.0, 0.0);
        for seed in 0..200 {
            let mut lab = Lab::new(seed, &graph("average", 1e3, 0.0), n, &uniform());
            read(&mut lab, n, [0.0, 0.0, 1.0]);
            read(&mut lab, n, [ROUND, 1.0, 0.3]);
            lab.run_until(1.0).unwrap();
            let trace = lab.trace();
            let wrong = all([clock::skew(trace, ROUND, lundelius_lynch(n)), clock::claims(trace)]);
            fine(trace, wrong, &format!("{n} robots, seed {seed}"));
            assert!(clock::readings(trace).filter(|r| r.at > Moment::ZERO).all(|r| r.error_s.is_some()));
            before = math::max(before, clock::greatest_skew_s(trace, 0.0));
            after = math::max(after, clock::greatest_skew_s(trace, ROUND));
        }
        let bound = lundelius_lynch(n);
        println!(
            "{n} robots: {before:.3} s before, {:.2} ms after, bound {:.2} ms",
            after * 1e3,
            bound * 1e3
        );
        assert!(before > 2.0 && after > bound * 0.3, "{n}: the runs say something");
    }
}

/// Everything to robot 0 is as fast as can be, everything to robot 1 as slow.
fn against(n: u32) -> Wires {
    let fast = Wires::new(Delay::Fixed(LEAST));
    (0..n).filter(|p| *p != 1).fold(fast, |wires, p| wires.slower(p, 1, U))
}

#[test]
fn the_worst_delays_reach_the_bound_and_who_copies_one_clock_without_averaging_breaks_it() {
    for n in 3..=8 {
        let run = |graph: &Arc<GraphModel>, wires: &Wires| {
            let mut lab = Lab::new(7, graph, n, wires);
            read(&mut lab, n, [ROUND, 1.0, 0.3]);
            lab.run_until(1.0).unwrap();
            lab.into_trace()
        };
        let (bound, trace) = (lundelius_lynch(n), run(&graph("average", 1e3, 0.0), &against(n)));
        fine(&trace, clock::skew(&trace, ROUND, bound), &format!("{n} robots"));
        assert!((clock::greatest_skew_s(&trace, ROUND) - bound).abs() < 1e-9, "{n}: the bound is reached");
        // One clock copied: robots 1 and 2 hear of it as late and as early as can be.
        let copied =
            Stack::new(&registry()).model("time", Arc::new(CopyOne), &[]).probe(&["time"]).build().unwrap();
        let trace = run(&copied, &against(n));
        assert!(!clock::skew(&trace, ROUND, bound).is_empty(), "{n}: copying is worse");
        assert!((clock::greatest_skew_s(&trace, ROUND) - U).abs() < 1e-9);
    }
}

#[test]
fn with_drift_clocks_grow_apart_between_rounds_and_are_brought_together_again() {
    let (period, drift) = (5.0, 1e-3);
    for n in 2..=6 {
        let bound = lundelius_lynch(n) + 2.0 * drift * period / (1.0 - drift);
        let (mut greatest, mut left_alone) = (0.0, 0.0);
        for seed in 0..60 {
            let mut lab = Lab::new(seed, &graph("average", period, drift), n, &uniform());
            // The first robot begins a round every 4.995 to 5.005 s.
            for k in 1..8 {
                let begins = 5.005 * f64::from(k);
                read(&mut lab, n, [begins - 0.1 - f64::from(k) * 0.01, begins - 0.1, 0.02]);
            }
            lab.run_until(41.0).unwrap();
            let trace = lab.trace();
            fine(
                trace,
                all([clock::skew(trace, 1.0, bound), clock::claims(trace)]),
                &format!("{n} robots, seed {seed}"),
            );
            greatest = math::max(greatest, clock::greatest_skew_s(trace, 1.0));
            let mut lab = Lab::new(seed, &graph("average", 1e3, drift), n, &uniform());
            read(&mut lab, n, [400.0, 400.0, 1.0]);
            lab.run_until(401.0).unwrap();
            left_alone = math::max(left_alone, clock::greatest_skew_s(lab.trace(), 1.0));
        }
        println!(
            "{n} robots, drift {drift}: {:.2} ms, bound {:.2} ms; {:.0} ms without rounds",
            greatest * 1e3,
            bound * 1e3,
            left_alone * 1e3
        );
        assert!(left_alone > 3.0 * bound, "{n}: without rounds they go apart");
    }
}

#[test]
fn at_no_moment_clocks_differ_by_more_than_they_say() {
    let mut said = 0;
    let mut greatest = 0.0;
    for seed in 0..100 {
        let n = 2 + (seed % 6) as u32;
        let mut lab = Lab::new(seed, &graph("average", 2.0, 1e-3), n, &uniform().doubling(0.2));
        read(&mut lab, n, [0.0, 10.0, 0.013]);
        lab.run_until(10.0).unwrap();
        let trace = lab.trace();
        fine(trace, clock::claims(trace), &format!("seed {seed}"));
        said += clock::readings(trace).filter(|r| r.error_s.is_some()).count();
        greatest = math::max(greatest, clock::greatest_skew_s(trace, 1.0) / lundelius_lynch(n));
    }
    println!(
        "{said} readings with an error; at most {greatest:.2} times u(1 - 1/n), also in the middle of rounds"
    );
    assert!(said > 100_000);
}

#[test]
fn asked_clocks_are_off_by_at_most_half_the_round_trip_less_the_least_delay() {
    let (mut best, mut worst) = (f64::INFINITY, 0.0);
    for seed in 0..300 {
        let n = 2 + (seed % 5) as u32;
        let mut lab = Lab::new(seed, &graph("ask", 1e3, 0.0), n, &uniform());
        read(&mut lab, n, [1.0, 1.0, 1.0]);
        lab.run_until(2.0).unwrap();
        let trace = lab.trace();
        // The longest round trip of all is twice the greatest delay; each knows its own, and says so.
        fine(
            trace,
            all([clock::accuracy(trace, 0.9, 0, MOST - LEAST), clock::claims(trace)]),
            &format!("seed {seed}"),
        );
        for r in clock::readings(trace).filter(|r| r.process != 0) {
            let error = r.error_s.unwrap();
            (best, worst) = (math::min(best, error), math::max(worst, error));
        }
    }
    println!(
        "errors said from {:.2} to {:.2} ms; a single round trip may take {:.0} ms",
        best * 1e3,
        worst * 1e3,
        2e3 * MOST
    );
    assert!(worst < MOST - LEAST, "four tries are better than the worst");
}

#[test]
fn a_one_sided_delay_reaches_the_bound_of_cristian() {
    // The way there is as fast as can be, the way back slow: the error is half of the round trip less the least.
    let wires = Wires::new(Delay::Fixed(LEAST)).slower(0, 1, 0.05);
    let mut lab = Lab::new(3, &graph("ask", 1e3, 0.0), 2, &wires);
    read(&mut lab, 2, [1.0, 1.0, 1.0]);
    lab.run_until(2.0).unwrap();
    let bound = (LEAST + LEAST + 0.05) / 2.0 - LEAST;
    assert!((clock::greatest_skew_s(lab.trace(), 0.9) - bound).abs() < 1e-9);
    assert_eq!(clock::claims(lab.trace()), Violations::new());
    assert_eq!(lab.trace().copies(), 8, "two messages for each of four questions");
}

#[test]
fn without_the_reference_robots_go_on_by_their_own_clocks_and_say_so() {
    let drift = 1e-3;
    for seed in 0..40 {
        let mut lab = Lab::new(seed, &graph("ask", 2.0, drift), 4, &uniform());
        read(&mut lab, 4, [1.0, 60.0, 0.1]);
        lab.crash(11.0, 0);
        lab.recover(50.0, 0);
        lab.run_until(60.0).unwrap();
        let trace = lab.trace();
        fine(trace, clock::claims(trace), &format!("seed {seed}"));
        let error = |at: f64| {
            let r = clock::readings(trace)
                .find(|r| r.process == 3 && r.at.since(Moment::ZERO) >= at - 1e-6)
                .unwrap();
            r.error_s.unwrap()
        };
        assert!(error(49.0) > error(20.0) + 0.05, "it grows");
        assert!(error(55.0) < error(49.0), "the reference is back, with the clock that it had");
        let said = |text: &str| trace.text().matches(text).count();
        assert_eq!((said("does not answer"), said("answers again")), (3, 3), "seed {seed}");
    }
}

#[test]
fn when_one_crashes_the_others_stay_together_and_take_it_in_again() {
    for seed in 0..200 {
        let (n, drift) = (3 + (seed % 4) as u32, 1e-4);
        let mut lab = Lab::new(seed, &graph("average", 2.0, drift), n, &uniform());
        read(&mut lab, n, [0.5, 29.9, 0.1]);
        // In the middle of a round, when some have its reading and some will never get it.
        if seed % 2 == 0 {
            lab.crash_after_copies(1, u64::from(n - 1) * 3 + 1);
        } else {
            lab.crash_losing_messages(6.0 + (seed % 20) as f64 * 0.01, 1);
        }
        lab.recover(15.3, 1);
        lab.run_until(30.0).unwrap();
        let trace = lab.trace();
        let drifted = 2.0 * drift * (2.0 / (1.0 - drift) + 5.0 * MOST);
        // A round that some ended with it and some without it, while clocks are corrected.
        let worst = 1.5 * U + 1.5 * lundelius_lynch(n) + drifted;
        fine(
            trace,
            all([clock::claims(trace), clock::skew(&before(trace, 15.3), 0.5, worst)]),
            &format!("seed {seed}"),
        );
        assert_eq!(
            clock::skew(trace, 20.0, 1.5 * lundelius_lynch(n) + drifted),
            Violations::new(),
            "seed {seed}"
        );
        let sure = |from: f64, until: f64| {
            let within = |r: &clock::Reading| (from..until).contains(&r.at.since(Moment::ZERO));
            clock::readings(trace).filter(within).all(|r| r.error_s.is_some())
        };
        assert!(sure(0.5, 6.0) && !sure(6.0, 10.0) && sure(25.0, 30.0), "seed {seed}");
        assert!(sure(13.0, 15.0), "seed {seed}: without it, too, as more than half live");
    }
}

#[test]
fn when_all_crash_and_come_back_one_begins_and_all_agree_again() {
    for seed in 0..20 {
        let mut lab = Lab::new(seed, &graph("average", 2.0, 1e-4), 5, &uniform());
        (0..5).for_each(|p| lab.crash(5.0, p));
        (0..5).for_each(|p| lab.recover(6.0 + 0.1 * f64::from(p), p));
        read(&mut lab, 5, [25.0, 30.0, 0.1]);
        lab.run_until(30.0).unwrap();
        fine(lab.trace(), clock::claims(lab.trace()), &format!("seed {seed}"));
        assert!(clock::readings(lab.trace()).all(|r| r.error_s.is_some()), "seed {seed}");
    }
}

/// What happened before some seconds.
fn before(trace: &Trace, seconds: f64) -> Trace {
    let events = trace.events.iter().filter(|e| e.at.since(Moment::ZERO) < seconds);
    Trace { events: events.cloned().collect(), ..*trace }
}

#[test]
fn a_message_later_than_it_may_be_breaks_the_bound_and_that_is_found() {
    for n in 3..=8 {
        let mut lab = Lab::new(5, &graph("average", 1e3, 0.0), n, &against(n).slower(0, 1, 0.06));
        read(&mut lab, n, [ROUND, 1.0, 0.3]);
        lab.run_until(1.0).unwrap();
        let wrong = clock::skew(lab.trace(), ROUND, lundelius_lynch(n));
        assert!(!wrong.is_empty(), "{n} robots: 60 ms too late");
        let mut lab = Lab::new(5, &graph("average", 1e3, 0.0), n, &Wires::new(Delay::Uniform(0.0, 0.6)));
        read(&mut lab, n, [0.0, 1.0, 0.1]);
        lab.run_until(1.0).unwrap();
        assert!(!clock::skew(lab.trace(), 0.9, lundelius_lynch(n)).is_empty(), "{n} robots: any delay");
    }
    // Two robots say at most 60 ms; 90 ms too late on one way makes 85 ms.
    let mut lab =
        Lab::new(5, &graph("average", 1e3, 0.0), 2, &Wires::new(Delay::Fixed(LEAST)).slower(0, 1, U + 0.09));
    read(&mut lab, 2, [1.0, 1.0, 1.0]);
    lab.run_until(1.0).unwrap();
    assert!((clock::greatest_skew_s(lab.trace(), 1.0) - 0.085).abs() < 1e-9);
    assert_eq!(clock::claims(lab.trace()).len(), 1);
}

#[test]
fn who_waits_for_a_time_is_told_then_also_when_the_clock_is_corrected_meanwhile() {
    for seed in 0..50 {
        let mut lab = Lab::new(seed, &graph("average", 2.0, 1e-3), 4, &uniform());
        for p in 0..4 {
            lab.at(0.0, p, ReadClock::At(20.0));
            lab.at(0.0, p, ReadClock::At(-100.0));
            lab.at(1.0, p, ReadClock::At(20.5));
        }
        lab.run_until(30.0).unwrap();
        let told: Vec<clock::Reading> = clock::readings(lab.trace()).collect();
        assert_eq!((told.len(), clock::answers(lab.trace())), (12, Violations::new()));
        let rings = |reading: f64| {
            let at: Vec<f64> = told
                .iter()
                .filter(|r| (r.reading_s - reading).abs() < U)
                .map(|r| r.at.since(Moment::ZERO))
                .collect();
            assert_eq!(at.len(), 4, "seed {seed}: {told:?}");
            at.iter().copied().fold(0.0, math::max) - at.iter().copied().fold(f64::INFINITY, math::min)
        };
        let most = 1.5 * lundelius_lynch(4) + 2e-3 * (2.0 / 0.999 + 5.0 * MOST);
        assert!(rings(20.0) <= most * 1.001 && rings(20.5) <= most * 1.001, "seed {seed}");
    }
}

#[test]
fn a_robot_alone_has_a_clock_and_rounds_cost_what_they_should() {
    for n in 1..=6_u32 {
        let mut lab = Lab::new(1, &graph("average", 2.0, 0.0), n, &uniform());
        read(&mut lab, n, [1.0, 1.0, 1.0]);
        lab.run_until(5.0).unwrap();
        assert_eq!(lab.trace().copies(), (3 * n * (n - 1)) as usize, "three rounds");
        assert!(clock::readings(lab.trace()).all(|r| r.error_s.is_some()));
    }
}

#[test]
fn settings_that_cannot_work_are_refused() {
    let problem = |params: &[(&str, Value)]| {
        let built = Stack::new(&registry()).class("time", "clock-sync", params).build();
        built.map(|_| ()).unwrap_err().0[0].message.clone()
    };
    let min = [("delay_min", Value::Num(0.2)), ("delay_max", Value::Num(0.1))];
    assert!(problem(&min).contains("delay_min is 0.2 s"));
    assert!(problem(&[("period", Value::Num(0.39))]).contains("a correction may take 0.4 s"));
    let tries = [("way", Value::Text("ask".into())), ("tries", Value::Int(100))];
    assert!(problem(&tries).contains("may take 25 s"));
}

/// The negative control: everybody takes over robot 0's clock from one message, as if it took a middle delay.
struct CopyOne;

#[derive(Serialize, Deserialize)]
struct Copied {
    offset_s: f64,
}

const LINK: ProtocolPort<Link> = ProtocolPort::new(0);

impl ProtocolModel for CopyOne {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Clock)
    }
    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }
    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Copied { offset_s: 0.0 })
    }
}

impl Microprotocol for Copied {
    memory_is_serde!();

    fn start(&mut self, cx: &mut Cx<'_>) {
        self.offset_s = cx.chance().between(0, -5.0, 5.0);
        if cx.me() == 0 {
            cx.send(LINK, cx.others(), &(self.offset_s + cx.now().since(Moment::ZERO)));
        }
    }
    fn request(&mut self, user: User, _: Request, cx: &mut Cx<'_>) {
        let reading_s = cx.now().since(Moment::ZERO) + self.offset_s;
        cx.indicate(user, Indication::Clock { reading_s, error_s: None });
    }
    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        if let Indication::Delivered { bytes, .. } = what {
            let shown: f64 = from_bytes(&bytes).unwrap();
            self.offset_s = shown + f64::midpoint(LEAST, MOST) - cx.now().since(Moment::ZERO);
        }
    }
}
