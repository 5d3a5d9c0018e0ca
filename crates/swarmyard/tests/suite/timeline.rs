//! A run can be looked at, at any earlier stop, and go on from there: with the very bits it had then.
//!
//! Worlds with C programs need clang and lld, the native ones a C compiler or python3.
#![cfg(target_os = "linux")]

use crate::common::world;
use std::path::PathBuf;
use swarmyard::base::Ratio;
use swarmyard::bench::World as Bench;
use swarmyard::part_api::Detail;
use swarmyard::{Error, Options, Sim, Timeline, View};

/// Worlds with built-in controllers, sandboxed programs, things that are carried, native programs.
const WORLDS: [&str; 5] = ["forty-wander", "fig-7-2", "puck", "moving", "python"];
/// Steps of each run.
const STEPS: u64 = 160;

fn load(name: &str) -> Sim {
    let path = format!("{}/../../worlds/{name}.toml", env!("CARGO_MANIFEST_DIR"));
    Sim::load(path, &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn from_text(text: &str) -> Sim {
    Sim::from_text(text).unwrap_or_else(|e| panic!("{e}"))
}

/// What comes from outside before a step: some of everything, and the same in every run.
fn inputs(sim: &mut Sim, stop: u64) {
    match stop {
        20 => sim.set_quantum(Ratio::new(1, 30).unwrap()),
        41 => sim.set_detail(Detail::Coarse),
        63 => sim.set_detail(Detail::Normal),
        50 | 55 => {
            let robot = sim.model().paths[0].to_string();
            sim.halt(&robot, stop == 50).unwrap();
        }
        _ => {}
    }
}

/// Both hashes of a run as it stands.
fn hashes(sim: &Sim) -> (u64, u64) {
    (sim.hash(), sim.full_hash())
}

/// Steps with inputs and keeps; answers the hashes after each step, those of the start first.
fn run(sim: &mut Sim, timeline: &mut Timeline, until: u64, all: &mut Vec<(u64, u64)>) {
    if all.is_empty() {
        timeline.keep(sim);
        all.push(hashes(sim));
    }
    while sim.state().stops < until {
        inputs(sim, sim.state().stops);
        sim.step().unwrap();
        timeline.keep(sim);
        all.push(hashes(sim));
    }
}

/// Ten stops in no order, up to `most`.
fn ten(most: u64) -> impl Iterator<Item = u64> {
    (1..=10_u64).map(move |k| ((k * 0x9e37_79b9) >> 7) % (most + 1))
}

fn code_of(error: Result<View, Error>) -> &'static str {
    match error {
        Err(Error::Wrong(d)) => d.code,
        Err(e) => panic!("{e}"),
        Ok(_) => panic!("there is a view"),
    }
}

#[test]
fn a_view_has_the_hashes_of_its_stop_and_of_those_after_it() {
    for name in WORLDS {
        let (mut sim, mut timeline, mut all) = (load(name), Timeline::default(), Vec::new());
        run(&mut sim, &mut timeline, STEPS, &mut all);
        for stop in ten(STEPS).chain([0, STEPS]) {
            let mut view = timeline.view(&sim, stop).unwrap_or_else(|e| panic!("`{name}` at {stop}: {e}"));
            assert_eq!(hashes(&view), all[stop as usize], "`{name}` at {stop}");
            for later in stop + 1..=(stop + 7).min(STEPS) {
                assert_eq!(view.step().unwrap().hash, all[later as usize].0, "`{name}` from {stop}");
                assert_eq!(hashes(&view), all[later as usize], "`{name}` from {stop}");
            }
        }
        assert!(all.windows(2).all(|w| w[0].0 != w[1].0), "`{name}`: every stop has a hash of its own");
    }
}

#[test]
fn views_do_not_disturb_the_live_run() {
    for name in WORLDS {
        let (mut alone, mut all) = (load(name), Vec::new());
        run(&mut alone, &mut Timeline::default(), STEPS, &mut all);
        let (mut sim, mut timeline, mut seen) = (load(name), Timeline::default(), Vec::new());
        let mut kept: Option<View> = None;
        for stop in (0..=STEPS).step_by(8) {
            run(&mut sim, &mut timeline, stop, &mut seen);
            let view = kept.get_or_insert_with(|| timeline.view(&sim, 0).unwrap());
            for place in ten(stop).take(3) {
                timeline.seek(&sim, view, place).unwrap();
                assert_eq!(hashes(view), all[place as usize], "`{name}`: seeking {place} of {stop}");
            }
        }
        assert_eq!(seen, all, "`{name}`");
        assert_eq!(sim.journal().all().len(), alone.journal().all().len(), "`{name}`: nothing entered twice");
    }
}

#[test]
fn a_branch_with_unchanged_code_goes_as_the_run_went() {
    // The last input comes at stop 63: those after a branch are forgotten.
    for name in WORLDS {
        for from in [64, 97, STEPS] {
            let (mut sim, mut timeline, mut all) = (load(name), Timeline::default(), Vec::new());
            run(&mut sim, &mut timeline, STEPS, &mut all);
            let view = timeline.view(&sim, from).unwrap();
            timeline.branch(&mut sim, view).unwrap();
            assert_eq!(sim.state().stops, from);
            assert!(timeline.stops().all(|stop| stop <= from));
            all.truncate(from as usize + 1);
            let before = all.clone();
            run(&mut sim, &mut timeline, STEPS, &mut all);
            let mut fresh = Vec::new();
            run(&mut load(name), &mut Timeline::default(), STEPS, &mut fresh);
            assert_eq!(all, fresh, "`{name}` from {from}");
            let view = timeline.view(&sim, from / 2).unwrap();
            assert_eq!(hashes(&view), before[from as usize / 2], "`{name}`: before the branch");
        }
    }
}

#[test]
fn a_branch_with_a_poke_differs_and_its_journal_replays() {
    let wander = "static unsigned n = 3; void robot_step(void) { n = n * 1103515245u + 12345u; drive(200 + (int)(n >> 25), 200 + (int)(rio_peek16(SONAR_RANGE_AT(0)) >> 4)); if (rio_ticks() % 3) return; rio_log_int(\"n\", (int)n); }";
    // A program with its own loop is run again through what it read.
    let own_loop = "int main(void) { int n = 0; rio_init(); while (rio_wait()) { n += rio_peek16(SONAR_RANGE_AT(1)); drive(200 + (n & 63), 200); } return 0; }";
    let native = "class = \"process\"\nthink = 0\npatience = 0";
    for (code, class) in
        [(wander, "class = \"program\""), (own_loop, "class = \"program\""), (wander, native)]
    {
        let text = world(code, class, 2);
        let (mut sim, mut timeline, mut all) = (from_text(&text), Timeline::default(), Vec::new());
        run(&mut sim, &mut timeline, 90, &mut all);
        let view = timeline.view(&sim, 70).unwrap();
        timeline.branch(&mut sim, view).unwrap();
        sim.halt("/robots/r2", true).unwrap();
        sim.poke("/robots/r1", 0x20, 2, 77).unwrap();
        let mut branch = all[..=70].to_vec();
        run(&mut sim, &mut timeline, 90, &mut branch);
        assert_ne!(branch[71], all[71], "{class}");
        let mut again = from_text(&text);
        again.set_journal(sim.journal().clone()).unwrap();
        let mut replayed = vec![hashes(&again)];
        for _ in 0..90 {
            again.step().unwrap();
            replayed.push(hashes(&again));
        }
        assert_eq!(replayed, branch, "{class}");
        for stop in ten(90) {
            let view = timeline.view(&sim, stop).unwrap();
            assert_eq!(hashes(&view), branch[stop as usize], "{class}: the branch at {stop}");
        }
    }
}

#[test]
fn a_view_starts_no_native_program_and_a_branch_starts_them_again() {
    let folder = Folder::new("starts");
    let log = folder.write("starts.txt", "");
    let code = format!(
        "#include <stdio.h>\nvoid robot_setup(void) {{ FILE *f = fopen(\"{}\", \"a\"); if (f) {{ fputs(\"start\\n\", f); fclose(f); }} }} void robot_step(void) {{ drive(100 + (int)rio_ticks(), 100); }}",
        log.display()
    );
    let starts = || std::fs::read_to_string(&log).unwrap().lines().count();
    let mut sim = from_text(&world(&code, "class = \"process\"\nthink = 0\npatience = 0", 2));
    let (mut timeline, mut all) = (Timeline::default(), Vec::new());
    run(&mut sim, &mut timeline, 40, &mut all);
    assert_eq!(starts(), 2);
    let mut view = timeline.view(&sim, 13).unwrap();
    timeline.seek(&sim, &mut view, 40).unwrap();
    assert!(view.step().is_err(), "it does not go beyond the live run");
    assert_eq!(starts(), 2, "the journal answers");
    timeline.seek(&sim, &mut view, 13).unwrap();
    timeline.branch(&mut sim, view).unwrap();
    assert_eq!(starts(), 2, "nobody was asked yet");
    sim.step().unwrap();
    assert_eq!((starts(), sim.hash()), (4, all[14].0));
}

/// A folder of one test, gone with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("swarmyard-timeline-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn views_before_and_after_new_code_run_the_code_of_their_time() {
    let program = |speed: u32| {
        format!(
            "#include \"rio.h\"\n#include \"registers.h\"\nvoid robot_step(void) {{ rio_pokes16(DRIVE_LEFT, {speed}); rio_pokes16(DRIVE_RIGHT, 100); }}"
        )
    };
    let folder = Folder::new("code");
    folder.write("bot.c", &program(100));
    let inline = world("", "class = \"program\"", 2);
    let (head, rest) = inline.split_once("code = '''").unwrap();
    let tail = rest.split_once("'''").unwrap().1;
    let scenario = folder.write("bot.toml", &format!("{head}source = \"bot.c\"{tail}"));
    let mut sim = Sim::load(scenario, &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let (mut timeline, mut all) = (Timeline::default(), Vec::new());
    run(&mut sim, &mut timeline, 30, &mut all);
    let mut early = timeline.view(&sim, 12).unwrap();
    folder.write("bot.c", &program(200));
    sim.reload("bot", "controller").unwrap();
    run(&mut sim, &mut timeline, 60, &mut all);
    let left = |sim: &Sim| sim.channel("/robots/r1/drive", "left").unwrap()[0];
    // The view was made before the code came: it hears of it.
    for stop in [29, 30, 31, 45, 60, 12] {
        timeline.seek(&sim, &mut early, stop).unwrap();
        assert_eq!(hashes(&early), all[stop as usize], "{stop}");
        assert_eq!(left(&early), if stop <= 30 { 0.1 } else { 0.2 }, "{stop}");
        assert_eq!(hashes(&timeline.view(&sim, stop).unwrap()), all[stop as usize], "{stop}");
    }
    // Gone back to before the change, the old code goes on.
    timeline.branch(&mut sim, early).unwrap();
    for _ in 0..30 {
        sim.step().unwrap();
    }
    assert_eq!(left(&sim), 0.1);
}

#[test]
fn a_small_budget_is_kept_and_every_stop_can_still_be_seen() {
    let mut all = Vec::new();
    let mut sim = load("forty-wander");
    let mut whole = Timeline::default();
    run(&mut sim, &mut whole, 400, &mut all);
    let one = whole.bytes() / whole.stops().count();
    assert!(whole.stops().count() > 40, "{}", whole.stops().count());
    for fitting in [1, 2, 3, 5, 20] {
        let budget = one * fitting + one / 2;
        let (mut sim, mut timeline, mut seen) = (load("forty-wander"), Timeline::new(budget), Vec::new());
        for stop in 0..=400 {
            run(&mut sim, &mut timeline, stop, &mut seen);
            assert!(timeline.bytes() <= budget, "{fitting} at {stop}");
            assert_eq!(timeline.nearest(0), Some(0), "{fitting} at {stop}");
        }
        let stops: Vec<u64> = timeline.stops().collect();
        assert!(stops.len() == fitting && stops.is_sorted(), "{fitting}: {stops:?}");
        assert!(fitting == 1 || stops[fitting - 1] >= 320, "{fitting}: {stops:?}");
        for stop in ten(400) {
            assert_eq!(hashes(&timeline.view(&sim, stop).unwrap()), all[stop as usize]);
        }
    }
    // The first stays, whatever the budget says.
    let (mut timeline, mut seen) = (Timeline::new(0), Vec::new());
    run(&mut load("forty-wander"), &mut timeline, 40, &mut seen);
    assert_eq!(timeline.stops().collect::<Vec<u64>>(), [0]);
}

#[test]
fn what_was_not_kept_or_has_not_come_cannot_be_seen() {
    let (mut sim, mut timeline) = (load("forty-wander"), Timeline::default());
    assert_eq!(code_of(timeline.view(&sim, 0)), "no-stop", "nothing was kept");
    sim.step().unwrap();
    let mut all = Vec::new();
    timeline.keep(&mut sim);
    assert_eq!(code_of(timeline.view(&sim, 0)), "no-stop", "it began at stop 1");
    run(&mut sim, &mut timeline, 30, &mut all);
    assert_eq!(code_of(timeline.view(&sim, 31)), "no-stop");
    let (mut one, two) = (timeline.view(&sim, 10).unwrap(), timeline.view(&sim, 20).unwrap());
    assert!(timeline.seek(&sim, &mut one, 31).is_err() && one.state().stops == 10);
    let hash = sim.full_hash();
    timeline.branch(&mut sim, two).unwrap();
    assert_ne!(sim.full_hash(), hash);
    // A view from before the branch is of another run.
    let hash = sim.full_hash();
    let old = timeline.branch(&mut sim, one).unwrap_err();
    assert!(matches!(old, Error::Wrong(d) if d.code == "old-view"));
    assert_eq!(sim.full_hash(), hash, "the live run stays");
}

#[test]
fn a_view_follows_the_run_into_its_branch() {
    let (mut sim, mut timeline, mut all) = (load("forty-wander"), Timeline::default(), Vec::new());
    run(&mut sim, &mut timeline, 90, &mut all);
    let mut watch = timeline.view(&sim, 80).unwrap();
    let view = timeline.view(&sim, 70).unwrap();
    timeline.branch(&mut sim, view).unwrap();
    sim.set_quantum(Ratio::new(1, 7).unwrap());
    all.truncate(71);
    run(&mut sim, &mut timeline, 90, &mut all);
    timeline.seek(&sim, &mut watch, 85).unwrap();
    assert_eq!(hashes(&watch), all[85], "of the branch, not of the run it was made of");
}

/// What keyframes cost: the figures behind the defaults. Run it with `--release --ignored --nocapture`.
#[test]
#[ignore = "prints figures"]
fn what_keyframes_cost() {
    use std::time::{Duration, Instant};
    fn took<T>(work: impl FnOnce() -> T) -> (Duration, T) {
        let begun = Instant::now();
        let done = work();
        (begun.elapsed(), done)
    }
    for (name, bench, robots) in [
        ("swarm12", Bench::Swarm12, 1_000),
        ("swarm12", Bench::Swarm12, 10_000),
        ("programs", Bench::Programs, 1_000),
        ("programs", Bench::Programs, 10_000),
    ] {
        let mut sim = bench.load(robots, &Options::default()).unwrap();
        let mut timeline = Timeline::default();
        for _ in 0..20 {
            sim.step().unwrap();
        }
        let (step, _) = took(|| (0..10).for_each(|_| drop(sim.step().unwrap())));
        let (snapshot, bytes) = took(|| sim.snapshot().len());
        let (keep, ()) = took(|| timeline.keep(&mut sim));
        let (view, _) = took(|| timeline.view(&sim, 30).unwrap());
        let (stepping, ()) = took(|| {
            for _ in 0..200 {
                sim.step().unwrap();
            }
        });
        let mut other = bench.load(robots, &Options::default()).unwrap();
        let mut kept = Timeline::default();
        let (keeping, ()) = took(|| {
            for _ in 0..200 {
                kept.keep(&mut other);
                other.step().unwrap();
            }
        });
        println!(
            "{name} {robots}: step {:?}; snapshot {snapshot:?}, {bytes} bytes; keyframe {keep:?}, {} bytes, view from it {view:?}; 200 steps {stepping:?}, with {} keyframes {keeping:?}",
            step / 10,
            timeline.bytes(),
            kept.stops().count(),
        );
    }
}
