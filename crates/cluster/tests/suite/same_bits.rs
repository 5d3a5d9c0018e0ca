//! Whoever takes the steps, they come out the same.

use crate::common::{Threads, fresh_run, load, spread};
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_cluster::{Keeper, Plan};
use swarmyard_engine::How;
use swarmyard_fabric::local::Switchboard;
use swarmyard_sim::{Options, Sim};

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

/// The pair of a plan, for those who count them.
fn pair(plan: &Plan) -> (u32, String) {
    (plan.workers, format!("{:?}", plan.how))
}

/// Every pair occurred.
fn assert_all_pairs(seen: &BTreeSet<(u32, String)>) {
    assert_eq!(seen.len(), CREWS.len() * WAYS.len(), "{seen:?}");
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
            seen.insert(pair(&plan));
            let plan = Plan { show_every: u64::from(!big), ..plan };
            compare(name, plan, if few || big { 8 } else { 20 });
        }
    }
    assert_all_pairs(&seen);
}

/// A line of the file of goldens: a world with what is laid over it, and its hash after some quanta.
struct Golden {
    name: String,
    quanta: u64,
    hash: u64,
}

impl Golden {
    fn all() -> Vec<Golden> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/goldens.txt");
        let text = std::fs::read_to_string(file).expect("goldens");
        let golden = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, quanta, hash] = words[..] else { panic!("not a golden: `{line}`") };
            let (quanta, hash) =
                quanta.parse().ok().zip(u64::from_str_radix(hash, 16).ok()).expect("numbers");
            Golden { name: name.to_owned(), quanta, hash }
        };
        text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()).map(golden).collect()
    }

    /// The world on workers.
    fn spread(&self, plan: Plan) -> Sim {
        let mut pieces = self.name.split('+');
        let path = crate::common::world(pieces.next().expect("a name"));
        let over = |piece: &str| piece.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned()));
        let overrides = pieces.map(|p| over(p).expect("an override")).collect();
        let options = Options { overrides, ..Options::default() };
        let mut sim = Sim::load(path, &options).unwrap_or_else(|e| panic!("{}: {e}", self.name));
        let (board, run) = (Switchboard::default(), fresh_run());
        let staff = Box::new(Threads::new(&board, run));
        let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, staff).expect("a keeper");
        sim.give_to(Box::new(keeper));
        sim
    }
}

#[test]
fn every_golden_hash_comes_of_workers_too() {
    let (goldens, mut seen, mut times) = (Golden::all(), BTreeSet::new(), Vec::new());
    assert!(goldens.len() >= 52, "{} goldens", goldens.len());
    for (k, golden) in goldens.iter().enumerate() {
        let (plan, begun) = (plan_at(k), Instant::now());
        seen.insert(pair(&plan));
        let workers = plan.workers;
        let mut sim = golden.spread(Plan { show_every: 0, ahead: 8, ..plan });
        while sim.state().stops < golden.quanta && !sim.is_over() {
            sim.step().unwrap_or_else(|e| panic!("{}: {e}", golden.name));
        }
        sim.gather().expect("all comes home");
        let found = (sim.state().stops, sim.hash());
        sim.finish();
        assert!(
            found == (golden.quanta, golden.hash),
            "`{}` on {workers} workers after {} of {} quanta: {:016x}, golden {:016x}",
            golden.name,
            found.0,
            golden.quanta,
            found.1,
            golden.hash
        );
        times.push((begun.elapsed(), workers, &golden.name));
    }
    assert_all_pairs(&seen);
    let all: Duration = times.iter().map(|t| t.0).sum();
    times.sort_by(|a, b| b.cmp(a));
    println!("{} goldens on workers in {all:.1?}; slowest: {:.1?}", goldens.len(), &times[..8]);
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
