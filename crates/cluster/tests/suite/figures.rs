//! What each robot really costs: measured by body, and what the next cut is made from.

use crate::common::spread_text;
use std::sync::{Arc, Mutex};
use swarmyard_cluster::{Placed, Plan, Status};
use swarmyard_sim::{RobotFigures, Sim, Statistics};

const BURNING: usize = 12;

/// Twenty-four robots in a line, a metre apart, that stand: ten idle ones, twelve that burn, two idle ones. Halved by number, the
/// one half has two that burn, the other ten.
fn line() -> String {
    line_of([10, BURNING as u32, 2], 300_000)
}

/// So many idle ones, ones that burn for so many turns of a loop, and idle ones.
pub(crate) fn line_of([west, burning, east]: [u32; 3], turns: u32) -> String {
    let of = |name: &str, work: &str| {
        format!(
            r#"
[type.{name}]
radius = 0.1
[[type.{name}.part]]
name = "drive"
class = "diff-drive"
[[type.{name}.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001
[type.{name}.controller]
class = "program"
fuel = 0
code = '''
#include "rio.h"
#include "registers.h"
void robot_step(void)
{{
    {work}
    rio_pokes16(DRIVE_LEFT, 0);
}}
'''
"#
        )
    };
    let burn = format!(
        "static volatile uint32_t x = 1; for (uint32_t k = 0; k < {turns}u; k++) x = x * 1664525u + 1013904223u;"
    );
    let row = |name: &str, ty: &str, count: u32, from: u32| {
        let middle = f64::from(from) + f64::from(count - 1) / 2.0;
        format!(
            "[[robot]]\nname = \"{name}\"\ntype = \"{ty}\"\nat = [{middle:?}, 0.0]\ncount = {count}\nlayout = {{ class = \"grid\", columns = {count}, spacing = 1 }}\n"
        )
    };
    let robots = row("west", "idle", west, 0)
        + &row("burning", "burning", burning, west)
        + &row("east", "idle", east, west + burning);
    format!("format = 1\n{}{}{robots}", of("idle", ""), of("burning", &burn))
}

fn plan() -> Plan {
    Plan { keep_every: 16, ..Plan::of(2) }
}

fn burns(robot: &RobotFigures) -> bool {
    robot.path.contains("/burning")
}

/// How many of those that burn are in the region of the first worker, now.
fn burning_in_the_first(status: &Mutex<Status>, sim: &Sim) -> usize {
    let status = status.lock().expect("status");
    let region = status.statistics.workers[0].region.expect("the plane is divided");
    let inside = |x: f64| region[0].is_none_or(|left| x >= left) && region[2].is_none_or(|right| x < right);
    let robots = sim.model().paths.iter().zip(&sim.state().pose);
    robots.filter(|(path, pose)| path.contains("/burning") && inside(pose.at.x)).count()
}

/// Takes steps up to the first checkpoint; answers what was measured.
fn measured(sim: &mut Sim, status: &Arc<Mutex<Status>>) -> Statistics {
    for _ in 0..16 {
        sim.step().expect("a step");
    }
    status.lock().expect("status").statistics.clone()
}

#[test]
fn robots_that_burn_cost_more_than_idle_ones_of_the_same_worker() {
    let (mut sim, status) = spread_text(&line(), plan());
    let robots = measured(&mut sim, &status).robots;
    assert_eq!(robots.len(), 24, "{robots:?}");
    for worker in 0..2 {
        let own = || robots.iter().filter(|r| r.worker == worker);
        let least = own().filter(|r| burns(r)).map(|r| r.cost_us).fold(f64::INFINITY, f64::min);
        let most = own().filter(|r| !burns(r)).map(|r| r.cost_us).fold(0.0, f64::max);
        println!(
            "worker {worker}: one that burns costs {least:.1} µs or more, an idle one {most:.2} or less"
        );
        assert!(least.is_finite() && most > 0.0 && least >= 10.0 * most, "worker {worker}: {robots:?}");
    }
    for robot in &robots {
        let RobotFigures { cost_us, sense_us, think_us, act_us, contact_us, fuel, quanta, .. } = robot;
        assert!((2..=4).contains(quanta), "{robot:?}");
        assert!((sense_us + think_us + act_us + contact_us - cost_us).abs() < 1e-6, "{robot:?}");
        assert_eq!(*fuel > 300_000.0, burns(robot), "{robot:?}");
        assert!(*fuel > 0.0 && (!burns(robot) || *think_us > 0.9 * cost_us), "{robot:?}");
    }
}

#[test]
fn while_it_runs_a_world_is_cut_so_that_everybody_has_as_much_to_burn() {
    let (mut sim, status) = spread_text(&line(), plan());
    sim.step().expect("a step");
    let at_first = burning_in_the_first(&status, &sim);
    assert!(at_first == 2 || at_first == BURNING - 2, "halved by number: {at_first}");
    // Work shows at a checkpoint, if the machine has nothing else to do.
    let mut steps = 1;
    while status.lock().expect("status").statistics.epochs < 2 && steps < 40 * 16 {
        steps += 1;
        sim.step().expect("a step");
    }
    let then = burning_in_the_first(&status, &sim);
    println!("{at_first} of {BURNING} that burn were with the first worker, and {then} after {steps} steps");
    assert!(then.abs_diff(BURNING / 2) <= 2, "{then} of {BURNING} are with the first worker");
    let mut one = Sim::from_text(&line()).expect("a world");
    for _ in 0..steps {
        one.step().expect("a step");
    }
    assert_eq!(one.hash(), sim.hash());
}

/// Whoever has that one has more to do than the others, however the plane is cut.
#[test]
fn nothing_is_cut_anew_for_one_robot_that_has_more_to_do_than_all_others() {
    let (mut sim, status) = spread_text(&line_of([4, 1, 2], 3_000_000), Plan { keep_every: 8, ..plan() });
    for _ in 0..48 {
        sim.step().expect("a step");
    }
    let figures = status.lock().expect("status").statistics.clone();
    let work: Vec<f64> = figures.workers.iter().map(|w| w.work_s).collect();
    println!("{work:?} s at work in {} epochs", figures.epochs);
    assert!(figures.epochs <= 2 && figures.lost.is_empty(), "{figures:?}");
}

#[test]
fn the_next_run_gives_everybody_as_much_to_burn_from_the_start() {
    let (mut first, status) = spread_text(&line(), plan());
    let text = serde_json::to_string(&measured(&mut first, &status)).expect("plain data");
    let recorded: Statistics = serde_json::from_str(&text).expect("the same");
    let (mut next, status) = spread_text(&line(), Plan { placement: Some(recorded), ..plan() });
    next.step().expect("a step");
    assert_eq!(status.lock().expect("status").placed, Some(Placed { known: 24, bodies: 24 }));
    let there = burning_in_the_first(&status, &next);
    assert!(there.abs_diff(BURNING / 2) <= 2, "{there} of {BURNING} are with the first worker");
}

#[test]
fn what_older_versions_have_measured_suggests_a_cut_too() {
    let (mut sim, status) = spread_text(&line(), plan());
    let now = measured(&mut sim, &status);
    let robots: Vec<String> = (now.robots.iter())
        .map(|r| {
            let cost = if burns(r) { 1000.0 } else { 1.0 };
            format!(r#"{{"path":"{}","worker":{},"cost_us":{cost:?}}}"#, r.path, r.worker)
        })
        .collect();
    let old = format!(
        r#"{{"epochs":1,"again":0,"lost":[],"undivided":null,"workers":[],"links":[],"robots":[{}]}}"#,
        robots.join(",")
    );
    let old: Statistics = serde_json::from_str(&old).expect("the form of older versions");
    let (mut next, status) = spread_text(&line(), Plan { placement: Some(old), ..plan() });
    next.step().expect("a step");
    assert_eq!(status.lock().expect("status").placed, Some(Placed { known: 24, bodies: 24 }));
    assert!(burning_in_the_first(&status, &next).abs_diff(BURNING / 2) <= 1);
}

#[test]
fn a_world_that_is_not_divided_has_figures_too_unless_its_robots_live_by_events() {
    let text = r#"
format = 1
[type.bot]
radius = 0.1
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.part]]
name = "grip"
class = "gripper"
mount = [0.12, 0]
reach = 0.04
opening = 0.4
[type.bot.controller]
class = "cruise"
left = 0.2
right = 0.3
[[robot]]
name = "r"
type = "bot"
count = 4
layout = { class = "grid", columns = 2, spacing = 1 }
"#;
    let (mut sim, status) = spread_text(text, plan());
    let statistics = measured(&mut sim, &status);
    if statistics.undivided.is_some() {
        // Two workers do the same; one is counted.
        assert!(statistics.robots.iter().all(|r| r.worker == 0), "{statistics:?}");
    }
    assert!(
        statistics.robots.iter().all(|r| r.quanta >= 2 && r.quanta <= 4 && r.act_us > 0.0),
        "{statistics:?}"
    );
    assert_eq!(statistics.robots.len(), 4);
    let (mut live, status) = crate::common::spread("cyclic-pursuit", plan(), &Default::default());
    assert!(measured(&mut live, &status).robots.is_empty());
}

/// The same robots with native programs.
#[cfg(target_os = "linux")]
fn native_line() -> String {
    let text =
        line().replace("class = \"program\"\nfuel = 0", "class = \"process\"\nthink = 0\npatience = 60");
    // Compiled for this machine it goes round faster.
    text.replace("300000u", "2000000u")
}

#[test]
#[cfg(target_os = "linux")]
fn native_programs_are_started_where_the_next_run_has_room_for_them() {
    let (mut first, status) = spread_text(&native_line(), plan());
    first.step().expect("a step");
    let before = burning_in_the_first(&status, &first);
    let recorded = measured(&mut first, &status);
    drop(first);
    let (mut next, status) = spread_text(&native_line(), Plan { placement: Some(recorded), ..plan() });
    let hash = next.step().expect("a step").hash;
    let there = burning_in_the_first(&status, &next);
    println!("{before} of {BURNING} native programs that burn ran with the first worker, then {there}");
    assert!(before.abs_diff(BURNING / 2) == 4, "halved by number: {before}");
    assert!(there.abs_diff(BURNING / 2) <= 2, "{there} of {BURNING} run with the first worker");
    // They run with who has their robots: nothing is asked over links.
    let asked: u64 = status.lock().expect("status").statistics.workers.iter().map(|w| w.asked_home).sum();
    assert_eq!(asked, 0);
    let mut one = Sim::from_text(&native_line()).expect("a world");
    assert_eq!(one.step().expect("a step").hash, hash);
}

#[test]
#[cfg(target_os = "linux")]
fn what_native_programs_work_is_thinking() {
    let text = native_line();
    let (mut sim, status) = spread_text(&text, plan());
    let robots = measured(&mut sim, &status).robots;
    let mean = |of: bool| {
        let all: Vec<f64> = robots.iter().filter(|r| burns(r) == of).map(|r| r.think_us).collect();
        all.iter().sum::<f64>() / all.len() as f64
    };
    println!("native programs: those that burn {:.0} µs, idle ones {:.1} µs", mean(true), mean(false));
    assert!(mean(true) > 10.0 * mean(false) && mean(true) > 300.0, "{robots:?}");
}
