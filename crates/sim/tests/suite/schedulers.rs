//! Robots that look, compute and move, in a world: whatever the scheduler, they go where theory without an engine
//! has them go.

use swarmyard_algorithms::lcm::{Moves, Robots, Schedule, Script, Setup, Tuning, by_name, play};
use swarmyard_base::Vec2;
use swarmyard_sim::Sim;

const ROUNDS: f64 = 14.95;
const ROUND_S: f64 = 0.5;

/// Not even, so that no two choices are as good.
fn start(n: usize) -> Vec<Vec2> {
    let at = [(-3.0, 0.5), (2.5, 1.5), (0.25, -3.5), (-1.5, 3.0), (3.5, -2.0)];
    at.iter().take(n).map(|(x, y)| Vec2::new(*x, *y)).collect()
}

/// Where robots are in the end, by a run of a world with these lines for their algorithm.
fn in_a_world(lines: &str, n: usize) -> Vec<Vec2> {
    let mut text = format!(
        "format = 1\n[run]\nquantum = {ROUND_S}\nduration = 60\ncontact = \"ghost\"\n[type.bot]\nradius = 0.1\n\
         [[type.bot.part]]\nname = \"glider\"\nclass = \"glider\"\n[[type.bot.part]]\nname = \"gps\"\nclass = \"gps\"\n\
         [type.bot.algorithm]\nclass = \"look-compute-move\"\nround = {ROUND_S}\nseed = 5\n{lines}\n"
    );
    for (k, at) in start(n).iter().enumerate() {
        text += &format!("[[robot]]\nname = \"r{k}\"\ntype = \"bot\"\nat = [{}, {}]\n", at.x, at.y);
    }
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{lines}: {e}"));
    // The next look is the first that is not played.
    sim.run_until(ROUNDS.ceil() * ROUND_S).expect("runs");
    (0..n).map(|k| sim.pose(&format!("/robots/r{k}")).expect("it is there").at).collect()
}

fn in_theory(rule: &str, schedule: &Schedule, n: usize, until: f64) -> Vec<Vec2> {
    let rule = by_name(rule, &Tuning::default()).expect("there is such a rule");
    let setup = Setup { seed: 5, same_m: 1e-6, ..Setup::default() };
    let mut robots = Robots::at(start(n));
    play::in_time(rule.as_ref(), &setup, (schedule, Moves::Rigid, 0.8), &mut robots, until, |_, _, _| {});
    robots.at
}

fn assert_same(world: &[Vec2], theory: &[Vec2], what: &str) {
    let off = world.iter().zip(theory).map(|(a, b)| (*a - *b).norm()).fold(0.0, f64::max);
    assert!(off < 1e-6, "{what}: {world:?} and {theory:?}");
    assert!(world.iter().zip(start(5)).any(|(a, b)| (*a - b).norm() > 0.1), "{what}: nobody went anywhere");
}

#[test]
fn every_scheduler_has_robots_go_in_a_world_where_they_go_in_theory() {
    let times = "0, 1, 2, 5, 6, 7\n0.5, 0.5, 3\n\n1, 1.5, 2.5, 2.5, 4, 8\n9, 10.5, 14\n";
    let script = format!("scheduler = \"script\"\nscript = \"\"\"\n{times}\"\"\"");
    let cases = [
        ("scheduler = \"fsync\"", Schedule::Full),
        ("scheduler = \"random\"\np = 0.3", Schedule::Random { p: 0.3 }),
        ("scheduler = \"one-random\"", Schedule::OneRandom),
        ("scheduler = \"round-robin\"", Schedule::RoundRobin),
        ("scheduler = \"bounded\"\np = 0.1\nbound = 4", Schedule::Bounded { p: 0.1, k: 4 }),
        ("scheduler = \"adversary\"\nbound = 4", Schedule::Adversary { k: 4 }),
        ("scheduler = \"async\"", Schedule::Async { wait: 0.5, compute: 0.2, travel: 0.8 }),
        (script.as_str(), Schedule::Script(Script::from_csv(times).expect("it is well written"))),
    ];
    for (lines, schedule) in &cases {
        for rule in ["centre-of-gravity", "minbox", "gather"] {
            // By times, somebody may be on its way at the end of the last round.
            let until = if schedule.in_rounds() { ROUNDS } else { ROUNDS.ceil() };
            let world = in_a_world(&format!("rule = \"{rule}\"\n{lines}"), 5);
            assert_same(&world, &in_theory(rule, schedule, 5, until), &format!("`{rule}` with {lines}"));
        }
    }
}

/// What a robot sees of the other's light decides where it goes.
#[test]
fn two_robots_with_lights_go_in_a_world_where_they_go_in_theory() {
    let cases = [
        ("scheduler = \"random\"\np = 0.3", Schedule::Random { p: 0.3 }),
        ("scheduler = \"round-robin\"", Schedule::RoundRobin),
        ("scheduler = \"adversary\"\nbound = 4", Schedule::Adversary { k: 4 }),
        ("scheduler = \"async\"", Schedule::Async { wait: 0.5, compute: 0.2, travel: 0.8 }),
    ];
    for (lines, schedule) in &cases {
        let until = if schedule.in_rounds() { ROUNDS } else { ROUNDS.ceil() };
        let world = in_a_world(&format!("rule = \"two-lights\"\n{lines}"), 2);
        assert_same(&world, &in_theory("two-lights", schedule, 2, until), lines);
    }
}
