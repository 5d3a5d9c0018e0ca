//! The applications of cooperative robots, as worlds: each is run to its end, meets its assertions, and comes out
//! the same on any number of threads and whether or not it stops at every event.

use crate::acting::{Act, MOTION, add};
use crate::polite_mutex::PoliteMutex;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use swarmyard_engine::{Note, RunEvent};
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{Built, Class, Cx, Drive, Kind, Motion, Sheet};
use swarmyard_sim::{Options, Sim, standard_registry};

/// Every world of this kind.
const WORLDS: &[&str] = &[
    "ask-for-help",
    "circle-formation",
    "clocks",
    "contention",
    "coverage",
    "cyclic-pursuit",
    "election",
    "figure-3-10",
    "flocking",
    "gather-then-scatter",
    "gathering",
    "gathering-10000",
    "inaccurate-compasses",
    "leader-waits",
    "one-lane-bridge",
    "orca",
    "path-reservation",
    "platoon",
    "radio-building",
    "radio-relay",
    "random-movement",
    "reserved-gathering",
    "river-and-hole",
    "share-out",
    "two-kinds-of-time",
    "two-lights",
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../worlds").join(format!("{name}.toml"))
}

fn load(name: &str, options: &Options) -> Sim {
    Sim::load(path(name), options).unwrap_or_else(|e| panic!("`{name}` does not load: {e}"))
}

fn with(overrides: &[(&str, &str)]) -> Options {
    let overrides = overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Options { overrides, ..Options::default() }
}

fn run(mut sim: Sim) -> Sim {
    while !sim.is_over() {
        sim.step().expect("steps");
    }
    sim
}

/// Names of the assertions that are not met, or were never asked for.
fn not_met(sim: &Sim) -> Vec<&str> {
    let verdicts = sim.model().asserts.iter().zip(&sim.state().verdicts);
    verdicts.filter(|(a, v)| !a.met(v) || v.asked == 0).map(|(a, _)| a.name.as_str()).collect()
}

#[test]
fn every_application_meets_its_assertions() {
    let mut wrong = Vec::new();
    for name in WORLDS {
        let sim = match Sim::load(path(name), &Options::default()) {
            Ok(sim) => run(sim),
            Err(e) => {
                wrong.push(format!("`{name}` does not load: {e}"));
                continue;
            }
        };
        let missed = not_met(&sim);
        let contacts = sim.state().accounts.contacts;
        println!("{name}: {} stops, {contacts} contacts, hash {:016x}", sim.state().stops, sim.full_hash());
        if !missed.is_empty() {
            wrong.push(format!("`{name}` does not meet: {}", missed.join("; ")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn sources_that_worlds_name_are_there() {
    let mut named = 0;
    for name in WORLDS {
        let text = std::fs::read_to_string(path(name)).expect("it can be read");
        let lines = text.lines().filter_map(|l| l.strip_prefix("# Source: "));
        for file in lines.flat_map(|l| l.trim_end_matches('.').split(", ")) {
            let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
            assert!(file.is_file(), "`{name}`: there is no `{}`", file.display());
            named += 1;
        }
    }
    assert!(named >= 20, "{named}");
}

/// A world, a piece of its text, and what makes an assertion fail in its place.
const BROKEN: &[(&str, &str, &str)] = &[
    ("ask-for-help", "mean = \"10s\"", "mean = \"10000s\""),
    ("circle-formation", "rule = \"circle\"", "rule = \"centre-of-gravity\""),
    ("clocks", "most = \"50ms\"", "most = \"50ms\"\nloss = 1"),
    ("clocks", "most = \"50ms\"", "most = \"400ms\""),
    ("clocks", "delay_max = \"50ms\"\noffset", "delay_max = \"10ms\"\noffset"),
    ("contention", "class = \"sequencer-order\"", "class = \"lamport-order\""),
    ("contention", "class = \"sequencer-order\"", "class = \"fake-order\""),
    ("coverage", "round = \"1s\"", "round = \"1s\"\nrounds = 2"),
    ("cyclic-pursuit", "step = \"20mm\"", "step = \"19mm\""),
    ("election", "crash = [\"p8\"]", "crash = [\"p7\"]"),
    ("election", "detector = \"heart\"", "order = [7, 6, 5, 4, 3, 2, 1, 0]\nat_start = false"),
    ("figure-3-10", "broadcast = \"atomic\"", "broadcast = \"atomic-reliable\""),
    ("figure-3-10", "crash = [\"r1\"]", "crash = [\"r1\", \"r2\", \"r3\"]"),
    ("flocking", "noise = \"20deg\"", "noise = \"360deg\""),
    ("gather-then-scatter", "[\"gather\", \"scatter\"]", "[\"scatter\", \"gather\"]"),
    ("gathering", "speed = [3, 6]", "speed = [0.1, 0.2]"),
    (
        "inaccurate-compasses",
        "\"sectors\"\nscheduler = \"bounded\"",
        "\"midpoint\"\nscheduler = \"round-robin\"",
    ),
    ("leader-waits", "company = 5", "company = 0"),
    ("one-lane-bridge", "wait = 1.5", "wait = 10"),
    ("one-lane-bridge", "[[assert]]", "[[fault]]\nat = \"60s\"\ncrash = [\"l1\"]\n\n[[assert]]"),
    ("orca", "noise = \"20deg\"", ""),
    ("orca", "radius = 0.25", "radius = 0.1"),
    ("path-reservation", "motion = \"reservation\"", ""),
    ("platoon", "rule = \"platoon\"", "rule = \"centre-of-gravity\""),
    ("radio-building", "rate = 54e6", "rate = 6e6"),
    ("radio-building", "solid_db_per_m = 10", "solid_db_per_m = 0"),
    ("radio-building", "size = [0.2, 8]", "size = [1, 8]"),
    ("radio-building", "access = \"csma\"", "access = \"csma\"\ncapture_db = -3"),
    ("radio-relay", "wall_db = 60", "wall_db = 0"),
    ("radio-relay", "range = 5", "range = 30"),
    ("random-movement", "\ncontact = \"stop\"", "\ncontact = \"ghost\""),
    ("reserved-gathering", "motion = \"reservation\"", ""),
    ("reserved-gathering", "chunk = 5", "chunk = 30"),
    ("river-and-hole", "factor = 0.25", "factor = 0.26"),
    ("river-and-hole", "kind = \"swallow\"", "kind = \"slow\""),
    ("share-out", "class = \"membership\"", "class = \"membership\"\nexclude = false"),
    ("share-out", "crash = [\"d3\"]", "crash = [\"d2\", \"d3\"]"),
    ("two-kinds-of-time", "\ncontact = \"stop\"", "\ncontact = \"ghost\""),
    ("two-lights", "rule = \"two-lights\"", "rule = \"midpoint\""),
];

/// An assertion that nothing breaks would say nothing.
#[test]
fn assertions_fail_where_something_is_broken() {
    let mut content = Vec::new();
    for (name, from, to) in BROKEN {
        let text = std::fs::read_to_string(path(name)).expect("it can be read");
        assert!(text.contains(from), "`{name}` has no `{from}`");
        let sim = Sim::from_text(&text.replacen(from, to, 1)).unwrap_or_else(|e| panic!("`{name}`: {e}"));
        let sim = run(sim);
        println!("{name} with `{to}`: {}", not_met(&sim).join("; "));
        if not_met(&sim).is_empty() {
            content.push(format!("`{name}` is content with `{to}` for `{from}`"));
        }
    }
    assert!(content.is_empty(), "{}", content.join("\n"));
}

#[test]
fn two_threads_are_one_thread() {
    for name in WORLDS.iter().filter(|n| **n != "gathering-10000") {
        let end = |threads| run(load(name, &Options { threads, ..Options::default() })).full_hash();
        assert_eq!(end(1), end(2), "`{name}`");
    }
}

#[test]
fn stopping_at_every_event_changes_nothing() {
    for name in WORLDS.iter().filter(|n| **n != "gathering-10000") {
        let whole = run(load(name, &Options::default())).full_hash();
        let mut sim = load(name, &Options::default());
        let mut stops = 0;
        while !sim.is_over() {
            sim.step_to_event().expect("steps");
            stops += 1;
        }
        assert_eq!(sim.full_hash(), whole, "`{name}` after {stops} stops");
    }
}

/// Sequential functions are rebuilt from their journals.
#[test]
fn a_snapshot_goes_on_the_same() {
    for name in [
        "ask-for-help",
        "clocks",
        "election",
        "figure-3-10",
        "gather-then-scatter",
        "leader-waits",
        "one-lane-bridge",
        "radio-relay",
        "share-out",
    ] {
        let whole = run(load(name, &Options::default())).full_hash();
        let mut sim = load(name, &Options::default());
        for part in 1..4 {
            sim.run_until(f64::from(part) * 12.5).expect("runs");
            let bytes = sim.snapshot();
            sim = load(name, &Options::default());
            sim.restore(&bytes).unwrap_or_else(|e| panic!("`{name}`: {e}"));
        }
        assert_eq!(run(sim).full_hash(), whole, "`{name}`");
    }
}

#[test]
fn both_styles_gather_to_the_bit() {
    let class = [("type.robot.algorithm.class", "gathering-sequential")];
    let (mut machine, mut steps) = (load("gathering", &Options::default()), load("gathering", &with(&class)));
    let mut moved = false;
    while !machine.is_over() {
        machine.step().expect("steps");
        steps.step().expect("steps");
        assert_eq!(machine.state().pose, steps.state().pose, "at {:?}", machine.now());
        moved |= machine.state().twist.iter().any(|t| t.forward > 0.0);
    }
    assert!(moved, "they move");
}

/// Without the reservation they touch; with it nobody ever does.
#[test]
fn reserved_robots_never_touch_whatever_the_seed() {
    let (mut bare, mut moved) = (0, 0.0);
    for seed in 1..=12 {
        for name in ["path-reservation", "reserved-gathering"] {
            let seed = seed.to_string();
            let mut sim = load(name, &with(&[("run.seed", &seed), ("run.duration", "60s")]));
            let start = sim.state().pose.clone();
            sim.run_until(60.0).expect("runs");
            assert_eq!(sim.state().accounts.contacts, 0, "`{name}` with seed {seed}");
            let way = |(a, b): (&swarmyard_base::Pose2, &swarmyard_base::Pose2)| (a.at - b.at).norm();
            moved += start.iter().zip(&sim.state().pose).map(way).sum::<f64>();
            let text = std::fs::read_to_string(path(name)).expect("it can be read");
            let text = text
                .replace("motion = \"reservation\"\n", "")
                .replace("quantum", &format!("seed = {seed}\nquantum"));
            let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
            sim.run_until(60.0).expect("runs");
            bare += sim.state().accounts.contacts;
        }
    }
    println!("without reservation {bare} contacts; with it 0, and {moved:.0} m as the crow flies");
    assert!(bare > 24 && moved > 10_000.0, "{bare} contacts, {moved} m");
}

/// Robots that block each other for good give up, again and again: nobody's motion is the last one.
#[test]
fn reserved_robots_never_come_to_a_standstill() {
    for seed in ["2", "5", "6"] {
        let mut sim = load("path-reservation", &with(&[("run.seed", seed), ("run.duration", "300s")]));
        sim.run_until(240.0).expect("runs");
        let then = sim.state().pose.clone();
        sim.run_until(300.0).expect("runs");
        let moved = then.iter().zip(&sim.state().pose).filter(|(a, b)| a != b).count();
        println!("seed {seed}: {moved} of 12 have moved in the last minute");
        assert!(moved > 0, "seed {seed}: everybody stands");
        assert_eq!(sim.state().accounts.contacts, 0, "seed {seed}");
    }
}

/// Negative control: an exclusion that ignores clocks.
#[test]
fn two_meet_on_the_bridge_when_the_exclusion_lets_them() {
    let mut registry = standard_registry();
    let sheet = Sheet::new("polite-mutex", Kind::Protocol, "Lets everybody in who waits.");
    registry.add(Class::new(sheet, |_, _| Ok(Built::Protocol(Arc::new(PoliteMutex)))));
    let text = std::fs::read_to_string(path("one-lane-bridge")).expect("it can be read");
    let text = text.replace("class = \"ricart-agrawala\"", "class = \"polite-mutex\"");
    let sim = Sim::read("bridge.toml", &text, &NoFiles, &registry, &Options::default());
    let sim = run(sim.unwrap_or_else(|e| panic!("{e}")));
    let missed = not_met(&sim);
    assert!(missed.contains(&"there are never two on the bridge or at its ends"), "{missed:?}");
    assert!(missed.contains(&"nobody ever touches anybody"), "{missed:?}");
}

/// How often each bed was dug to its end, and how many views there were.
fn beds(text: &str, seed: u64) -> ([u32; 40], BTreeSet<u64>) {
    let seed = seed.to_string();
    let options = with(&[("run.seed", &seed)]);
    let sim = Sim::read("share-out.toml", text, &NoFiles, &standard_registry(), &options);
    let mut sim = sim.unwrap_or_else(|e| panic!("{e}"));
    sim.take_notes(true);
    let (mut dug, mut views) = ([0; 40], BTreeSet::new());
    while !sim.is_over() {
        for event in sim.step().expect("steps").events {
            let RunEvent::Live(note) = event else { continue };
            let Note::Said(words) = note.what else { continue };
            if let Some(bed) = words.strip_prefix("has dug bed ") {
                dug[bed.parse::<usize>().expect("a number")] += 1;
            }
            if let Some((view, _)) = words.strip_prefix("view ").and_then(|w| w.split_once(':')) {
                views.insert(view.parse().expect("a number"));
            }
        }
    }
    (dug, views)
}

/// Nobody said who does what: that each bed is dug once, whoever is in the group, follows from views that are the same
/// everywhere and messages that are the same between them.
#[test]
fn a_group_digs_every_bed_once_whenever_somebody_crashes_and_comes_back() {
    let text = std::fs::read_to_string(path("share-out")).expect("it can be read");
    for seed in 1..=8 {
        let (down, up) = (4.0 + 3.0 * seed as f64, 20.0 + 2.5 * seed as f64);
        let text = text.replace("\"12s\"", &format!("\"{down}s\"")).replace("\"30s\"", &format!("\"{up}s\""));
        let (dug, views) = beds(&text, seed);
        assert_eq!(dug, [1; 40], "seed {seed}, down at {down} s, up at {up} s");
        assert!(views.len() >= 3, "seed {seed}: {views:?}");
    }
}

/// Two algorithms on one body: where each motion goes to, as a letter for the half of the world it is in.
fn turns(until: &str, first: &str) -> String {
    let text = format!(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"60s\"\n[type.bot]\nradius = 0.1\n\
         [[type.bot.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
         [[type.bot.part]]\nname = \"view\"\nclass = \"view\"\n\
         [[type.bot.protocol]]\nname = \"turns\"\nclass = \"in-turn\"\norder = [\"west\", \"east\"]\n{until}\n\
         [[type.bot.algorithm]]\nname = \"west\"\nmotion = \"turns\"\n{first}\n\
         [[type.bot.algorithm]]\nname = \"east\"\nmotion = \"turns\"\nclass = \"random-movement\"\n\
         min = [1, -1]\nmax = [3, 1]\n[[robot]]\nname = \"r\"\ntype = \"bot\"\n"
    );
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    sim.take_notes(true);
    let mut letters = String::new();
    while !sim.is_over() {
        for event in sim.step().expect("steps").events {
            if let RunEvent::Live(note) = event
                && let Note::Wanted { motion: Motion::MoveTo { to, .. }, .. } = note.what
            {
                letters.push(if to.x < 0.0 { 'w' } else { 'e' });
            }
        }
    }
    letters
}

#[test]
fn algorithms_take_turns_by_motions_by_time_and_by_halting() {
    let wander = "class = \"random-movement\"\nmin = [-3, -1]\nmax = [-1, 1]";
    let by_motions = turns("until = \"motions\"\nmotions = 2\nrepeat = true", wander);
    assert!(by_motions.starts_with("wweewwee"), "{by_motions}");
    let by_time = turns("time = \"20s\"", wander);
    let west = by_time.chars().filter(|c| *c == 'w').count();
    assert!(by_time.starts_with("www") && by_time.ends_with("eee"), "{by_time}");
    assert!(!by_time.trim_start_matches('w').contains('w'), "the last one keeps the body: {by_time}");
    assert!(west > 2, "{by_time}");
    let route = "class = \"leader\"\ncompany = 0\nroute = [[-1, 0], [-2, 0], [-1, 1]]";
    let by_halting = turns("until = \"halt\"", route);
    assert!(by_halting.starts_with("wwweee"), "{by_halting}");
}

/// Where a robot is at some times, that an algorithm moves which asks for more than it has time for.
fn places(until: &str, order: &str, moves: &str, at: &[f64]) -> Vec<f64> {
    let text = format!(
        "format = 1\n[run]\nquantum = \"1s\"\nduration = \"200s\"\n[type.bot]\nradius = 0.1\n\
         [[type.bot.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
         [[type.bot.protocol]]\nname = \"turns\"\nclass = \"in-turn\"\norder = {order}\n{until}\n\
         [[type.bot.algorithm]]\nname = \"a\"\nclass = \"scripted\"\nmotion = \"turns\"\nmoves = [[1, 1, 0, 1, 10]]\n\
         [[type.bot.algorithm]]\nname = \"b\"\nclass = \"scripted\"\nmotion = \"turns\"\nmoves = {moves}\n\
         [[robot]]\nname = \"r\"\ntype = \"bot\"\n"
    );
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    at.iter()
        .map(|t| {
            sim.run_until(*t).expect("runs");
            sim.state().pose[0].at.x
        })
        .collect()
}

/// The last one keeps the body: what it asks for after its time, or its motions, are over is done at once.
#[test]
fn the_last_turn_has_no_end() {
    let moves = "[[12, 30, 0, 1, 10], [25, -30, 0, 1, 10], [120, 0, 0, 1, 10]]";
    for until in ["time = \"10s\"", "until = \"motions\"\nmotions = 1"] {
        let x = places(until, "[\"a\", \"b\"]", moves, &[24.0, 40.0, 110.0, 199.0]);
        assert!(x[0] > 10.0 && x[1] < 5.0, "{until}: {x:?}");
        assert!((x[2] + 30.0).abs() < 1e-9 && x[3].abs() < 1e-9, "{until}: {x:?}");
    }
}

/// Goes ahead, halts after three seconds, and goes back at once.
#[derive(Clone)]
struct Halts;

impl Act for Halts {
    fn start(&mut self, cx: &mut Cx<'_>) {
        cx.go(MOTION, 1, Motion::Forward { distance: 10.0, speed: 1.0 });
        cx.set_timer(3.0);
    }

    fn timer(&mut self, cx: &mut Cx<'_>) {
        cx.request(MOTION, Drive::Halt);
        cx.go(MOTION, 2, Motion::Forward { distance: -5.0, speed: 1.0 });
    }
}

#[test]
fn the_last_one_goes_on_after_it_has_halted() {
    let mut registry = standard_registry();
    add(&mut registry, "halts", Halts);
    let text = "format = 1\n[run]\nquantum = \"1s\"\nduration = \"20s\"\n[type.bot]\nradius = 0.1\n\
                [[type.bot.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\
                [[type.bot.protocol]]\nname = \"turns\"\nclass = \"in-turn\"\norder = [\"it\"]\nuntil = \"halt\"\n\
                [[type.bot.algorithm]]\nname = \"it\"\nclass = \"halts\"\nmotion = \"turns\"\n\
                [[robot]]\nname = \"r\"\ntype = \"bot\"\n";
    let sim = Sim::read("halts.toml", text, &NoFiles, &registry, &Options::default());
    let sim = run(sim.unwrap_or_else(|e| panic!("{e}")));
    assert!((sim.state().pose[0].at.x + 2.0).abs() < 1e-9, "{:?}", sim.state().pose[0]);
}
