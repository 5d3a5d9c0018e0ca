//! Whoever takes the steps, they come out the same: every world on every crew, cut every way.
//!
//! A run at home gives what has to come out, once for every world; worlds are compared beside each other. Programs outside are
//! started for that run only, and on workers their decisions come from its journal; once for every such world it is the other way round.
//!
//! That bodies really changed hands is told by the workers. How often they must have is reckoned here, from where bodies were at home.

use crate::common::{load, spread, world};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;
use swarmyard_base::{Uid, Vec2};
use swarmyard_cluster::{Plan, Status};
use swarmyard_engine::{Cut, Frame, How, Journal, RunEvent, undivided};
use swarmyard_fabric::local::Switchboard;
use swarmyard_sim::{Sim, WorkerFigures};

/// Counts of workers, each with the quanta after which bodies change hands.
const CREWS: [(u32, u64); 4] = [(1, 8), (2, 3), (3, 2), (5, 1)];
/// Ways to cut.
const WAYS: [How; 3] = [How::Tree, How::Columns, How::Rows];

/// How far worlds go that have no line below.
const QUANTA: usize = 60;

/// Worlds that go less far, or farther, and why.
const LENGTHS: [(&str, usize, &str); 7] = [
    ("arm", 140, "nothing comes over a border before"),
    ("beacons", 100, "the first body comes over a border late"),
    ("crowd", 30, "a thousand bodies, crowded from the start"),
    ("fuzzy", 160, "the first body comes over a border late"),
    ("gathering-10000", 4, "ten thousand robots, of which every worker has all"),
    ("home-beacon", 100, "the first body comes over a border late"),
    ("one-robot", 80, "the first body comes over a border late"),
];

/// Worlds that can be divided and in which nobody has to change hands, and why.
const STILL: [(&str, &str); 1] = [(
    "search-network",
    "borders go through where its only robot starts, and it never comes back to their other side",
)];

/// Worlds in which bodies of different workers touch.
const TOUCHING: [&str; 3] = ["corridor", "crowd", "impacts"];

fn quanta(name: &str) -> usize {
    LENGTHS.iter().find(|(of, ..)| *of == name).map_or(QUANTA, |(_, quanta, _)| *quanta)
}

/// Every world there is.
fn worlds() -> Vec<String> {
    let files = std::fs::read_dir(world("x").parent().expect("a folder")).expect("worlds");
    let files =
        files.flatten().map(|entry| entry.path()).filter(|p| p.extension().is_some_and(|e| e == "toml"));
    let mut names: Vec<String> =
        files.filter_map(|p| p.file_stem().and_then(|s| s.to_str()).map(str::to_owned)).collect();
    names.sort();
    names
}

/// A run in one process.
struct Home {
    name: String,
    frames: Vec<Frame>,
    full_hash: u64,
    journal: Journal,
    bodies: BTreeMap<Uid, usize>,
    /// Where bodies were at every stop.
    places: Vec<Vec<Vec2>>,
    is_divided: bool,
    asks_outside: bool,
}

impl Home {
    fn of(name: &str, quanta: usize) -> Home {
        let mut sim = load(name);
        let places = |sim: &Sim| sim.state().pose.iter().map(|pose| pose.at).collect::<Vec<_>>();
        let (mut frames, mut all) = (Vec::new(), vec![places(&sim)]);
        while frames.len() < quanta && !sim.is_over() {
            frames.push(sim.step().unwrap_or_else(|e| panic!("{name}: {e}")));
            all.push(places(&sim));
        }
        Home {
            name: name.to_owned(),
            frames,
            full_hash: sim.full_hash(),
            journal: sim.journal().clone(),
            bodies: sim.model().uids.iter().copied().zip(0..).collect(),
            places: all,
            is_divided: undivided(sim.model()).is_none(),
            asks_outside: sim.model().asks_outside(),
        }
    }
}

/// Who has which body, reckoned from where bodies are.
struct Owners {
    cut: Cut,
    of: Vec<u32>,
}

impl Owners {
    /// What the keeper has to begin with; `workers` are what it tells of them.
    fn new(places: &[Vec2], plan: &Plan, workers: &[WorkerFigures]) -> Owners {
        let all: Vec<(Vec2, f64)> = places.iter().map(|at| (*at, 1.0)).collect();
        let cut = Cut::even(&all, plan.workers, plan.how);
        let border = |x: f64| x.is_finite().then_some(x);
        let regions = cut.regions().into_iter();
        let regions = regions.map(|r| Some([r.min.x, r.min.y, r.max.x, r.max.y].map(border)));
        assert!(regions.eq(workers.iter().map(|w| w.region)), "the plane is cut otherwise: {workers:?}");
        let mut owners = Owners { cut, of: vec![0; places.len()] };
        owners.change_hands(places);
        owners
    }

    /// Everybody goes to whose region it is in; answers how many went to somebody else.
    fn change_hands(&mut self, places: &[Vec2]) -> u64 {
        let now: Vec<u32> = (0..).zip(places).map(|(body, at)| self.cut.owner(body, *at)).collect();
        let went = now.iter().zip(&self.of).filter(|(now, before)| now != before).count();
        self.of = now;
        went as u64
    }
}

/// What became of a world on workers.
#[derive(Debug, Default)]
struct Tally {
    ways: usize,
    /// How often a body went to another worker, as those told.
    handed_on: u64,
    /// Contacts of bodies of two workers.
    across: u64,
    /// How often a worker asked for more than it was told.
    widened: u64,
    /// Runs in which it was known for every body when it had to go.
    reckoned: usize,
}

/// Takes the steps of a run at home on workers, and compares every frame and all memories.
fn compare(home: &Home, plan: Plan, tally: &mut Tally) {
    let name = &home.name;
    let (mut many, status) = spread(name, plan.clone(), &Switchboard::default());
    many.set_journal(home.journal.clone()).expect("it has not begun");
    let figures = || status.lock().expect("status").clone();
    let (mut owners, mut must, mut across) = (None, 0, 0);
    for (k, frame) in home.frames.iter().enumerate() {
        let other = many.step().unwrap_or_else(|e| panic!("{name} on {plan:?} at step {k}: {e}"));
        assert!(
            *frame == other,
            "{name} on {plan:?} differs at step {k}: {:016x} {:016x}",
            frame.hash,
            other.hash
        );
        if !home.is_divided || plan.workers == 1 {
            continue;
        }
        let workers = || figures().statistics.workers;
        let owners = owners.get_or_insert_with(|| Owners::new(&home.places[0], &plan, &workers()));
        across += frame.events.iter().filter(|event| is_across(event, home, owners)).count() as u64;
        // Of what happens after the last step nobody tells.
        if frame.stops.is_multiple_of(plan.period) && k + 1 < home.frames.len() {
            must += owners.change_hands(&home.places[k + 1]);
        }
    }
    many.gather().unwrap_or_else(|e| panic!("{name} on {plan:?}: {e}"));
    assert_eq!(home.full_hash, many.full_hash(), "{name} on {plan:?}: memories differ");
    many.finish();
    let Status { statistics, apart, .. } = figures();
    assert!(
        statistics.lost.is_empty(),
        "{name} on {plan:?}: workers were lost: {:?}, {apart:?} because they did not hear others",
        statistics.lost
    );
    let handed_on = statistics.workers.iter().map(|w| w.handed_on).sum::<u64>();
    // A new epoch deals bodies out anew.
    if statistics.epochs == 1 {
        assert_eq!(handed_on, must, "{name} on {plan:?}: other bodies changed hands than had to");
        tally.reckoned += 1;
    }
    tally.ways += 1;
    tally.handed_on += handed_on;
    tally.across += across;
    tally.widened += statistics.workers.iter().map(|w| w.widened).sum::<u64>();
}

/// Whether bodies of two workers touch.
fn is_across(event: &RunEvent, home: &Home, owners: &Owners) -> bool {
    let RunEvent::Contact(contact) = event else { return false };
    let owner = |uid: &Uid| home.bodies.get(uid).map(|body| owners.of[*body]);
    // What is fixed is nobody's.
    owner(&contact.a).zip(owner(&contact.b)).is_some_and(|(a, b)| a != b)
}

/// The other way round: workers ask programs outside, and the journal that came of it is followed at home.
fn compare_at_work(name: &str, plan: Plan, quanta: usize) {
    let (mut one, mut many) = (load(name), spread(name, plan.clone(), &Switchboard::default()).0);
    let mut frames = Vec::new();
    while frames.len() < quanta && !many.is_over() {
        frames.push(many.step().unwrap_or_else(|e| panic!("{name}: {e}")));
    }
    one.set_journal(many.journal().clone()).expect("it has not begun");
    for (k, b) in frames.iter().enumerate() {
        let a = one.step().expect("a step");
        assert!(a == *b, "{name} on {plan:?} differs at step {k}: {:016x} {:016x}", a.hash, b.hash);
    }
    many.gather().expect("all comes home");
    assert_eq!(one.full_hash(), many.full_hash(), "{name} on {plan:?}: memories differ");
}

fn plan(crew: usize, way: usize) -> Plan {
    let (workers, period) = CREWS[crew];
    // What is compared of bodies and parts is their hash: they come home where assertions are judged.
    Plan { how: WAYS[way], period, keep_every: 7, show_every: 0, ..Plan::of(workers) }
}

/// One world in all ways. It is cut only where it can be divided.
fn in_all_ways(number: usize, name: &str) -> Tally {
    let home = Home::of(name, quanta(name));
    let mut tally = Tally::default();
    let ways = if home.is_divided { WAYS.len() } else { 1 };
    for crew in 0..CREWS.len() {
        (0..ways).for_each(|way| compare(&home, plan(crew, way), &mut tally));
    }
    if home.asks_outside {
        let (crew, way) = (number % CREWS.len(), number % WAYS.len());
        compare_at_work(name, plan(crew, way), 8);
    }
    tally
}

/// Does something for all of these, on as many threads as there are processors.
fn beside_each_other<T: Send>(names: &[String], work: impl Fn(usize, &str) -> T + Sync) -> Vec<T> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((k, name)) = {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    names.get(k).map(|name| (k, name))
                } {
                    let one = work(k, name);
                    done.lock().unwrap_or_else(PoisonError::into_inner).push((k, one));
                }
            });
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_by_key(|(k, _)| *k);
    done.into_iter().map(|(_, one)| one).collect()
}

#[test]
fn every_world_is_the_same_on_one_two_three_and_five_workers_cut_three_ways() {
    let names = worlds();
    assert!(names.len() >= 53, "{names:?}");
    let tallies = beside_each_other(&names, |k, name| {
        let since = Instant::now();
        let tally = in_all_ways(k, name);
        println!("{name}: {:.1} s {tally:?}", since.elapsed().as_secs_f64());
        tally
    });
    let all: BTreeMap<&str, Tally> = names.iter().map(String::as_str).zip(tallies).collect();
    for (name, tally) in &all {
        if tally.ways < CREWS.len() * WAYS.len() {
            continue;
        }
        let is_still = STILL.iter().any(|(of, _)| of == name);
        assert_eq!(tally.handed_on == 0, is_still, "{name}: {tally:?}");
        assert!(tally.across > 0 || !TOUCHING.contains(name), "{name}: {tally:?}");
    }
    let count = |of: fn(&Tally) -> u64| all.values().map(of).sum::<u64>();
    let ways = count(|t| t.ways as u64);
    println!(
        "{} worlds in {ways} ways: {} bodies changed hands, {} touched one of another worker, {} times a group reached farther",
        all.len(),
        count(|t| t.handed_on),
        count(|t| t.across),
        count(|t| t.widened)
    );
    assert!(count(|t| t.widened) > 0, "no group ever reached beyond what its workers knew");
}

/// Longer, on as many workers as no crew above has, and with everything shown at every stop.
#[test]
fn bodies_that_crowd_at_borders_and_fly_across_them_make_no_difference() {
    for (name, ways) in
        [("crowd", &[How::Tree, How::Rows][..]), ("impacts", &[How::Columns]), ("corridor", &[How::Columns])]
    {
        let (home, mut tally) = (Home::of(name, 120), Tally::default());
        for how in ways {
            compare(&home, Plan { how: *how, period: 2, ..Plan::of(4) }, &mut tally);
        }
        let Tally { handed_on, across, widened, .. } = tally;
        println!(
            "{name}: {handed_on} changed hands, {across} contacts across borders, {widened} times wider"
        );
        assert!(handed_on > 0 && across > 0 && (widened > 0 || name != "crowd"), "{name}: {tally:?}");
    }
}

/// Lines about worlds that are gone, or about the wrong ones, would hide something.
#[test]
fn every_exception_is_a_world() {
    let names: BTreeSet<String> = worlds().into_iter().collect();
    let lengths = LENGTHS.iter().map(|(name, ..)| *name);
    let all = lengths.chain(STILL.iter().map(|(name, _)| *name)).chain(TOUCHING);
    let gone: Vec<&str> = all.filter(|name| !names.contains(*name)).collect();
    assert!(gone.is_empty(), "{gone:?}");
}
