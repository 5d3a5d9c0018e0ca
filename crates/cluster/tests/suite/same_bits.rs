//! Whoever takes the steps, they come out the same.

use crate::common::{load, spread};
use std::collections::BTreeSet;
use swarmyard_cluster::Plan;
use swarmyard_engine::How;
use swarmyard_fabric::local::Switchboard;

/// Takes the same steps on workers and, with the journal that came of it, at home; compares every frame. Where no
/// program runs outside, that journal is empty.
fn compare(name: &str, plan: Plan, steps: u64) -> u64 {
    let (mut one, board) = (load(name), Switchboard::default());
    let (mut many, status) = spread(name, plan.clone(), &board);
    let mut frames = Vec::new();
    while frames.len() < steps as usize && !many.is_over() {
        frames.push(many.step().unwrap_or_else(|e| panic!("{name}: {e}")));
    }
    one.set_journal(many.journal().clone()).expect("it has not begun");
    for (k, b) in frames.iter().enumerate() {
        let a = one.step().expect("a step");
        assert!(a == *b, "{name} on {plan:?} differs at step {k}: {:016x} {:016x}", a.hash, b.hash);
    }
    many.gather().expect("all comes home");
    assert_eq!(one.full_hash(), many.full_hash(), "{name} on {plan:?}: memories differ");
    many.finish();
    let status = status.lock().expect("status");
    let lost = (&status.statistics.lost, &status.apart);
    assert!(
        lost.0.is_empty(),
        "{name} on {plan:?}: workers were lost, some because they did not hear others: {lost:?}"
    );
    status.statistics.workers.iter().map(|w| w.widened).sum()
}

#[test]
fn forty_robots_on_one_to_five_workers() {
    for workers in [1, 2, 3, 5] {
        compare("forty-wander", Plan::of(workers), 60);
    }
}

/// Every world there is.
fn worlds() -> Vec<String> {
    let files = std::fs::read_dir(crate::common::world("x").parent().expect("a folder")).expect("worlds");
    let files =
        files.flatten().map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "toml"));
    let mut names: Vec<String> =
        files.filter_map(|p| p.file_stem().and_then(|s| s.to_str()).map(str::to_owned)).collect();
    names.sort();
    names
}

/// Counts of workers, each with the quanta after which bodies change hands.
const CREWS: [(u32, u64); 4] = [(1, 8), (2, 3), (3, 2), (5, 1)];
/// Ways to cut.
const WAYS: [How; 3] = [How::Tree, How::Columns, How::Rows];

/// All pairs of a crew and a way to cut: as many places in a list as there are pairs give each of them once.
fn plan_at(place: usize) -> Plan {
    let ((workers, period), how) = (CREWS[place % CREWS.len()], WAYS[place % WAYS.len()]);
    Plan { how, period, keep_every: 7, ..Plan::of(workers) }
}

#[test]
fn every_world_is_the_same_on_one_two_three_and_five_workers_cut_three_ways() {
    let (names, mut seen) = (worlds(), BTreeSet::new());
    assert!(names.len() >= 48, "{names:?}");
    for (k, name) in names.iter().enumerate() {
        // Programs outside take seconds to start: those worlds go one way each.
        let sim = load(name);
        let (few, big) = (sim.model().asks_outside(), sim.model().len() > 1000);
        // From world to world every crew gets the next way to cut.
        let places = if few { k..k + 1 } else { CREWS.len() * k..CREWS.len() * (k + 1) };
        for plan in places.map(plan_at) {
            seen.insert((plan.workers, format!("{:?}", plan.how)));
            let plan = Plan { show_every: u64::from(!big), ..plan };
            compare(name, plan, if few || big { 8 } else { 20 });
        }
    }
    assert_eq!(seen.len(), CREWS.len() * WAYS.len(), "{seen:?}");
}

#[test]
fn bodies_that_crowd_at_borders_and_fly_across_them_make_no_difference() {
    let mut widened = 0;
    for (name, how) in
        [("crowd", How::Tree), ("crowd", How::Rows), ("impacts", How::Columns), ("corridor", How::Columns)]
    {
        let plan = Plan { how, period: 2, ..Plan::of(4) };
        widened += compare(name, plan, 120);
    }
    assert!(widened > 0, "no group ever reached beyond what its workers knew");
}
