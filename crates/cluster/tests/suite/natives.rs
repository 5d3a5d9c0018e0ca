//! Robots with native programs travel from worker to worker; their programs stay where they were started.
//!
//! The programs are C, compiled here: these tests need a C compiler.
#![cfg(target_os = "linux")]

use crate::common::{Threads, fresh_run};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_cluster::{Keeper, Plan, Staff as _};
use swarmyard_engine::{Frame, How, RunEvent};
use swarmyard_fabric::Fabric as _;
use swarmyard_fabric::local::Switchboard;
use swarmyard_part_api::Cause;
use swarmyard_sim::{Sim, Statistics};

const ROBOTS: usize = 6;

/// Drives to and fro across the borders of regions; whatever it missed or was shown twice would show.
const TO_AND_FRO: &str = "
static int n, seen;
void robot_step(void) {
    seen += rio_peek16(SONAR_RANGE_AT(0)) % 7;
    int v = n++ % 40 < 20 ? 850 + seen % 100 : -850 - seen % 100;
    drive(v, v + seen % 3);
}";

/// No clock decides about a program that is only slow.
const PATIENT: &str = "patience = 60";

/// A world whose robots run this program, which writes its process number to a file when it starts.
struct World {
    folder: PathBuf,
    text: String,
}

impl World {
    fn new(name: &str, more: &str, code: &str) -> World {
        let folder = std::env::temp_dir().join(format!("swarmyard-links-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let starts = folder.join("starts");
        let text = format!(
            r#"
format = 1
[run]
quantum = "100ms"
[type.bot]
radius = "40cm"
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.part]]
name = "sonar"
class = "sonar"
count = 2
range = "2m"
[[type.bot.register]]
part = "sonar"
channel = "range"
at = 0x10
scale = 0.001
[[type.bot.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001
[[type.bot.register]]
part = "drive"
channel = "right"
at = 0x22
signed = true
scale = 0.001
[type.bot.controller]
class = "process"
think = 0
{more}
code = '''
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "rio.h"
#include "registers.h"
static void drive(int left, int right) {{ rio_pokes16(DRIVE_LEFT, (int16_t)left); rio_pokes16(DRIVE_RIGHT, (int16_t)right); }}
{code}
void robot_setup(void) {{
    FILE *file = fopen("{}", "a");
    if (!file || fprintf(file, "%d\n", (int)getpid()) < 0 || fclose(file)) exit(9);
}}
'''
[[robot]]
name = "r"
type = "bot"
count = {ROBOTS}
layout = {{ class = "row", step = [1.1, 1] }}
"#,
            starts.display()
        );
        World { folder, text }
    }

    fn sim(&self) -> Sim {
        Sim::from_text(&self.text).unwrap_or_else(|e| panic!("{e}"))
    }

    /// How many programs were started since this was last asked. The run is over: none of them runs any more.
    fn starts(&self) -> usize {
        let path = self.folder.join("starts");
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let _ = std::fs::remove_file(path);
        let pids: Vec<u32> = text.lines().map(|line| line.parse().expect("a number")).collect();
        let until = Instant::now() + Duration::from_secs(60);
        while let Some(pid) = pids.iter().find(|pid| runs(**pid)) {
            assert!(Instant::now() < until, "program {pid} is left running");
            std::thread::sleep(Duration::from_millis(5));
        }
        pids.len()
    }

    /// A run in one process, and how often a program was started.
    fn at_home(&self, steps: usize) -> (Vec<Frame>, usize) {
        let mut sim = self.sim();
        let frames = (0..steps).map(|k| sim.step().unwrap_or_else(|e| panic!("step {k}: {e}"))).collect();
        sim.finish();
        (frames, self.starts())
    }

    /// A run on workers.
    fn spread(&self, plan: Plan, board: &Switchboard) -> Sim {
        let run = fresh_run();
        let staff = Threads::new(board, run);
        let plan = Plan { keep_every: 1000, patience: Duration::from_secs(60), ..plan };
        let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff));
        let mut sim = self.sim();
        sim.give_to(Box::new(keeper.expect("a keeper")));
        sim
    }
}

/// Whether a process runs; one that has ended and is not yet buried does not.
fn runs(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn plan(workers: u32, period: u64) -> Plan {
    Plan { how: How::Columns, period, ..Plan::of(workers) }
}

/// Takes steps that come out like these; answers what the workers did.
fn same(sim: &mut Sim, frames: &[Frame], mut before: impl FnMut(usize)) -> Statistics {
    for (k, frame) in frames.iter().enumerate() {
        before(k);
        let step = sim.step().unwrap_or_else(|e| panic!("step {k}: {e}"));
        assert!(
            step == *frame,
            "step {k}: {:016x} {:016x} {:?} {:?}",
            step.hash,
            frame.hash,
            step.events,
            frame.events
        );
    }
    sim.statistics().expect("figures")
}

/// Decisions that came over links, and the microseconds each took.
fn over_links(figures: &Statistics) -> (u64, f64) {
    let decisions: u64 = figures.workers.iter().map(|w| w.asked_home).sum();
    let seconds: f64 = figures.workers.iter().map(|w| w.home_s).sum();
    (decisions, seconds * 1e6 / decisions.max(1) as f64)
}

#[test]
fn programs_are_started_once_and_stay_while_their_robots_travel() {
    let world = World::new("travel", PATIENT, TO_AND_FRO);
    let (frames, starts) = world.at_home(60);
    assert_eq!(starts, ROBOTS);
    for (workers, period) in [(2, 1), (3, 3), (5, 8)] {
        let mut many = world.spread(plan(workers, period), &Switchboard::default());
        let figures = same(&mut many, &frames, |_| {});
        let (decisions, us) = over_links(&figures);
        println!(
            "{workers} workers, hands changed every {period}: {decisions} decisions over links, {us:.0} µs each"
        );
        assert_eq!(figures.epochs, 1, "nothing went wrong");
        assert!(decisions > 40 && decisions < 300, "of 360 decisions {decisions} came over links");
        let asking = figures.workers.iter().filter(|w| w.asked_home > 0).count() as u32;
        assert!(asking > workers / 3, "who asks: {:?}", figures.workers);
        many.finish();
        assert_eq!(world.starts(), ROBOTS, "{workers} workers, hands changed every {period}");
    }
}

/// Where the border is first looked at, all of them stand; a step later they go farther than a quarter of their size.
#[test]
fn small_robots_that_start_from_rest_are_reckoned_with() {
    let mut world = World::new("small", PATIENT, TO_AND_FRO);
    world.text = world.text.replace("40cm", "20cm");
    let (frames, _) = world.at_home(12);
    let mut many = world.spread(plan(3, 4), &Switchboard::default());
    let figures = same(&mut many, &frames, |_| {});
    assert_eq!((figures.epochs, figures.again), (1, 0));
    many.finish();
    assert_eq!(world.starts(), ROBOTS);
}

#[test]
fn programs_go_on_when_somebody_joins_and_the_plane_is_cut_anew() {
    let world = World::new("joined", PATIENT, TO_AND_FRO);
    let (frames, _) = world.at_home(60);
    let (board, run) = (Switchboard::default(), fresh_run());
    // They come by themselves, the third of them late.
    let (mut staff, mut late) = (Threads::new(&board, run), Threads::new(&board, run));
    staff.hires = false;
    let (onlooker, came) = (board.member("onlooker"), Arc::new(AtomicU32::new(0)));
    let count = Arc::clone(&came);
    let note = move |_: &str, is_alive| {
        count.fetch_add(u32::from(is_alive), Ordering::Relaxed);
    };
    let _watch = onlooker.watch(&format!("swarm/run/{run}/live/*"), Box::new(note)).expect("a watcher");
    let mut come = |number: u32| {
        late.hire(number).expect("a thread");
        let since = Instant::now();
        while came.load(Ordering::Relaxed) <= number {
            assert!(since.elapsed() < Duration::from_secs(60), "worker {number} did not come");
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    come(0);
    come(1);
    let plan = Plan { keep_every: 8, patience: Duration::from_millis(100), ..plan(3, 3) };
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff));
    let mut many = world.sim();
    many.give_to(Box::new(keeper.expect("a keeper")));
    let figures = same(&mut many, &frames, |k| {
        if k == 20 {
            come(2);
        }
    });
    many.finish();
    // On a busy machine it may also be cut anew because work was uneven.
    assert!(figures.epochs > 1 && figures.again == 0, "{figures:?}");
    assert_eq!(world.starts(), ROBOTS, "nobody was started anew");
    assert!(over_links(&figures).0 > 20, "{figures:?}");
}

#[test]
fn when_the_home_of_programs_is_lost_they_are_started_where_their_robots_are() {
    let world = World::new("lost", PATIENT, TO_AND_FRO);
    let (frames, _) = world.at_home(60);
    for lost in ["worker-0", "worker-1"] {
        let board = Switchboard::new(Duration::from_millis(150));
        let mut many = world.spread(plan(3, 1), &board);
        let figures = same(&mut many, &frames, |k| {
            if k == 33 {
                board.cut(lost);
            }
        });
        assert_eq!(figures.lost.len(), 1);
        assert!(figures.again > 0 && over_links(&figures).0 > 0);
        many.finish();
        assert!(world.starts() >= 2 * ROBOTS, "all are led through their past again");
    }
}

/// A run of this world on workers of which some may start no programs; and what is told on the way.
fn forbidden(world: &World, plan: Plan, numbers: &[u32]) -> (Sim, Arc<Mutex<Vec<String>>>) {
    let (board, run) = (Switchboard::default(), fresh_run());
    let mut staff = Threads::new(&board, run);
    staff.forbidden = numbers.to_vec();
    let keeper = Keeper::new(Arc::new(board.member("keeper")), run, plan, Box::new(staff));
    let (mut keeper, told) = (keeper.expect("a keeper"), Arc::<Mutex<Vec<String>>>::default());
    let news = Arc::clone(&told);
    keeper.on_news(Box::new(move |text| news.lock().expect("no panic").push(text.to_owned())));
    let mut sim = world.sim();
    sim.give_to(Box::new(keeper));
    (sim, told)
}

#[test]
fn one_whose_owner_forbids_the_programs_is_given_up_and_others_do_its_part() {
    let world = World::new("forbidden", PATIENT, TO_AND_FRO);
    let (frames, _) = world.at_home(10);
    let (mut many, told) = forbidden(&world, plan(3, 3), &[1]);
    let figures = same(&mut many, &frames, |_| {});
    assert_eq!(figures.lost, [1]);
    let told = told.lock().expect("no panic").clone();
    let has = |words: &[&str]| told.iter().any(|line| words.iter().all(|w| line.contains(w)));
    assert!(has(&["worker 1 cannot do its part", "--allow"]), "{told:?}");
    assert!(has(&["worker 1 is lost at step 0"]), "{told:?}");
    assert!(has(&["epoch 2 begins at step 0 with 2 workers"]), "{told:?}");
    many.finish();
    // Nobody is left who may.
    let (mut many, _) = forbidden(&world, plan(2, 3), &[0, 1]);
    let why = many.step().expect_err("nobody may start them").to_string();
    assert!(why.contains("--allow") && why.contains("cannot do its part"), "{why}");
}

#[test]
fn a_program_that_crashes_while_its_robot_is_away_follows_its_rule() {
    let crashes = TO_AND_FRO.replace("int v", "if (n == 14) abort();\n int v");
    for rule in ["restart", "hold", "halt"] {
        let world =
            World::new(&format!("crash-{rule}"), &format!("{PATIENT}\non_crash = \"{rule}\""), &crashes);
        let (frames, starts) = world.at_home(40);
        let failed = frames.iter().flat_map(|f| &f.events).filter(|e| matches!(e, RunEvent::Failed { .. }));
        assert_eq!((failed.count(), starts), if rule == "restart" { (12, 18) } else { (6, 6) }, "{rule}");
        let mut many = world.spread(plan(3, 2), &Switchboard::default());
        let figures = same(&mut many, &frames, |_| {});
        assert!(over_links(&figures).0 > 10, "{rule}: {figures:?}");
        many.finish();
        assert_eq!(world.starts(), starts, "{rule}");
    }
}

#[test]
fn a_program_that_falls_silent_while_its_robot_is_away_is_waited_for_as_long_as_it_may_take() {
    let silent = TO_AND_FRO.replace("int v", "if (n == 14) for (;;) pause();\n int v");
    let world = World::new("silent", "patience = 5", &silent);
    let mut many = world.spread(plan(3, 2), &Switchboard::default());
    let (mut frames, mut links): (Vec<Frame>, Vec<u64>) = (Vec::new(), vec![0]);
    for k in 0..20 {
        frames.push(many.step().unwrap_or_else(|e| panic!("step {k}: {e}")));
        links.push(over_links(&many.statistics().expect("figures")).0);
    }
    assert!(links[15] > links[14], "some of those that fell silent ran elsewhere: {links:?}");
    let silent = |event: &RunEvent| match event {
        RunEvent::Failed { robot, failure, .. } if failure.cause == Cause::Silence => Some(*robot),
        _ => None,
    };
    let silent: BTreeSet<_> = frames[14].events.iter().filter_map(silent).collect();
    assert_eq!(silent.len(), ROBOTS, "{:?}", frames[14].events);
    let journal = many.journal().clone();
    many.finish();
    assert_eq!(world.starts(), ROBOTS);
    // Who was silent when is a matter of the clock; what was written down about it is the run.
    let mut one = world.sim();
    one.set_journal(journal).expect("it has not begun");
    for (k, frame) in frames.iter().enumerate() {
        assert_eq!(one.step().expect("a step").hash, frame.hash, "step {k}");
    }
    assert_eq!(world.starts(), 0, "a journal that is whole starts nothing");
}

#[test]
fn a_robot_that_does_not_reach_its_program_any_more_is_no_matter_while_the_keeper_hears_both() {
    let world = World::new("apart", PATIENT, TO_AND_FRO);
    let (frames, _) = world.at_home(40);
    let board = Switchboard::new(Duration::from_millis(500));
    let mut many = world.spread(plan(2, 1), &board);
    let figures = same(&mut many, &frames, |k| {
        if k == 15 {
            board.part("worker-0", "worker-1");
        }
    });
    assert_eq!(figures.lost, [1]);
    many.finish();
    assert!(world.starts() >= 2 * ROBOTS);
}
