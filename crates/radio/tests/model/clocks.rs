//! Clocks by their mean, through every schedule of one round of three robots.
//!
//! Time stands still here and messages take none, so delays are known to be 0: then whoever says an error must show
//! the mean of all three clocks, and one whose round ended before it had heard all must say none.

use crate::adaptor::{Net, Note, Snapshot, System, crashes, recovering, system, within};
use stateright::{Checker, Expectation, Model};
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid};
use swarmyard_part_api::{ReadClock, Registry, Request, from_bytes};
use swarmyard_radio::lab::Stack;
use swarmyard_scene::Value;

/// A round of three robots that each look at their clock twice, at any moment.
fn round(crashes: usize) -> System {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let params = [("delay_max", Value::Num(0.0)), ("drift", Value::Num(0.0)), ("offset", Value::Num(1.0))];
    let graph = Stack::new(&registry).class("time", "clock-sync", &params).probe(&["time"]).build().unwrap();
    let looks = || vec![Request::from(ReadClock::Now), Request::from(ReadClock::Now)];
    system(&graph, vec![looks(), looks(), looks()], Net::Unordered)
        .max_crashes(crashes)
        .within_boundary(|_, s| within(s, is_of_the_first_round))
}

/// A robot asks another for the time, twice each time, over a network that loses, doubles and reorders; both look at
/// their clocks twice, at any moment.
fn asked(crashes_at_most: usize) -> System {
    let mut registry = Registry::new();
    swarmyard_radio::register(&mut registry);
    let params = [
        ("way", Value::Text("ask".into())),
        ("tries", Value::Int(2)),
        ("delay_max", Value::Num(0.0)),
        ("drift", Value::Num(0.0)),
        ("offset", Value::Num(1.0)),
    ];
    let graph = Stack::new(&registry).class("time", "clock-sync", &params).probe(&["time"]).build().unwrap();
    let looks = || vec![Request::from(ReadClock::Now), Request::from(ReadClock::Now)];
    recovering(&graph, vec![looks(), looks()], Net::Lossy)
        .max_crashes(crashes_at_most)
        .within_boundary(|_, s| crashes(s) <= 1)
        .property(Expectation::Always, "who is sure shows the reference's clock", |_, s| {
            (0..2).all(|p| readings(s, p).all(|(reading, sure)| !sure || (reading - drawn(0)).abs() < 1e-12))
        })
}

/// What a process saw at each look: the clock, and whether it said an error.
fn readings(state: &Snapshot, process: usize) -> impl Iterator<Item = (f64, bool)> {
    state.actor_states[process].notes.iter().filter_map(|note| match note {
        Note::Clock(_, reading, error) => Some((f64::from_bits(*reading), error.is_some())),
        _ => None,
    })
}

/// A reading on its way begins with its kind and the number of the round.
fn is_of_the_first_round(bytes: &[u8]) -> bool {
    matches!(from_bytes::<(u8, u64, f64)>(bytes), Ok((0, 1, _)))
}

/// What a hardware clock shows: drawn from the constant chance of the model.
fn drawn(process: u64) -> f64 {
    Draw::at(1, Uid(process), Purpose::Algorithm, Time::ZERO, 0).between(1, -1.0, 1.0)
}

/// The mean of the three clocks at the start.
fn mean() -> f64 {
    (0..3).map(drawn).sum::<f64>() / 3.0
}

/// What a process saw at each look: whether the clock showed the mean, and whether it said an error.
fn looks(state: &Snapshot, process: usize) -> Vec<(bool, bool)> {
    readings(state, process).map(|(reading, sure)| ((reading - mean()).abs() < 1e-12, sure)).collect()
}

fn always(state: &Snapshot, fine: impl Fn(&[(bool, bool)]) -> bool) -> bool {
    (0..3).all(|p| fine(&looks(state, p)))
}

#[test]
fn whoever_says_an_error_shows_the_mean_of_all_and_is_corrected_only_once() {
    for crashes in 0..=1 {
        let system = round(crashes)
            .property(Expectation::Always, "who is sure shows the mean", |_, s| {
                always(s, |looks| looks.iter().all(|(is_mean, sure)| *is_mean || !sure))
            })
            .property(Expectation::Always, "who was sure stays so", |_, s| {
                always(s, |looks| looks.is_sorted_by_key(|look| look.1))
            })
            .property(Expectation::Sometimes, "all are sure", |_, s| {
                always(s, |looks| looks.last().is_some_and(|look| look.1))
            });
        let checker = system.checker().threads(2).spawn_dfs().join();
        println!("{crashes} crashes: {} states, depth {}", checker.unique_state_count(), checker.max_depth());
        checker.assert_properties();
    }
}

#[test]
fn whoever_asked_and_says_an_error_shows_the_clock_of_the_reference() {
    for crashes in 0..=1 {
        let system = asked(crashes).property(Expectation::Sometimes, "all are sure", |_, s| {
            (0..2).all(|p| readings(s, p).last().is_some_and(|(_, sure)| sure))
        });
        let checker = system.checker().threads(2).spawn_dfs().join();
        println!("asked, {crashes} crashes: {} states", checker.unique_state_count());
        checker.assert_properties();
    }
    // Who is not sure yet shows its own.
    let control = asked(0).property(Expectation::Always, "everybody shows it", |_, s| {
        (0..2).all(|p| readings(s, p).all(|(reading, _)| (reading - drawn(0)).abs() < 1e-12))
    });
    control.checker().spawn_bfs().join().assert_any_discovery("everybody shows it");
}

#[test]
fn who_ended_its_round_before_it_had_heard_all_does_not_show_the_mean() {
    // Not sure twice, and no clock of the start: it was corrected by fewer than all.
    let system = round(0).property(Expectation::Always, "every correction is the mean", |_, s| {
        always(s, |looks| !matches!(looks, [(false, false), (false, false)]) || unchanged(s))
    });
    system.checker().spawn_bfs().join().assert_any_discovery("every correction is the mean");
}

/// Whether each process saw the same at both looks.
fn unchanged(state: &Snapshot) -> bool {
    let readings = |p: usize| {
        let notes = state.actor_states[p].notes.iter();
        notes.filter_map(|n| if let Note::Clock(_, reading, _) = n { Some(*reading) } else { None })
    };
    (0..3).all(|p| readings(p).is_sorted_by(|a, b| a == b))
}
