//! The world changes while a run goes on: what is carried over, what begins anew, what is refused; and
//! a replay makes the same changes at the same stops.

use crate::common;
use swarmyard::base::Ratio;
use swarmyard::engine::{Journal, Report};
use swarmyard::formats::NoFiles;
use swarmyard::part_api::Registry;
use swarmyard::{Error, Options, Scenario, Sim, standard_registry};

/// A yard of robots that wander, a box that can be pushed, a ball that bounces, a wall and an assertion.
const YARD: &str = r#"
format = 1
[run]
quantum = "100ms"
duration = "20s"
seed = 5
contact = "impulse"
[world]
min = [-4, -4]
max = [4, 4]
[[wall]]
name = "middle"
points = [[0, -1], [0, 1]]
[type.bot]
radius = "10cm"
[[type.bot.part]]
name = "drive"
class = "diff-drive"
slip = 0.02
[[type.bot.part]]
name = "rays"
class = "range-rays"
rays = 8
range = "2m"
[type.bot.controller]
class = "wander"
[[robot]]
name = "a"
type = "bot"
at = [-2, 0.3]
[[robot]]
name = "b"
type = "bot"
at = [2, -0.2, "180deg"]
[[robot]]
name = "c"
type = "bot"
at = [-2, -2, "45deg"]
[[obstacle]]
name = "box"
size = [0.4, 0.3]
movable = true
at = [-1.2, 0.3]
[[obstacle]]
name = "ball"
radius = 0.2
movable = true
velocity = [0.7, 0.4]
at = [2, 2]
[[assert]]
name = "in the yard"
that = "all(abs(self.x) < 5)"
"#;

fn given<'a>(text: &'a str, registry: &'a Registry) -> Scenario<'a> {
    Scenario { name: "scenario", text, overrides: &[], loader: &NoFiles, registry }
}

fn change(sim: &mut Sim, text: &str) -> Result<Report, Error> {
    sim.change(&given(text, &standard_registry()))
}

fn changed(sim: &mut Sim, text: &str) -> Report {
    change(sim, text).unwrap_or_else(|e| panic!("{e}"))
}

/// One thing replaced by another; it must be there.
fn with(text: &str, old: &str, new: &str) -> String {
    assert!(text.contains(old), "`{old}` is not in the text");
    text.replacen(old, new, 1)
}

/// Hashes of so many steps, with the full hash at their end.
fn hashes(sim: &mut Sim, steps: usize) -> Vec<u64> {
    let mut all: Vec<u64> = (0..steps).map(|_| sim.step().unwrap().hash).collect();
    all.push(sim.full_hash());
    all
}

/// A fresh run of `text` with the journal of another and the worlds it changes to.
fn replay(text: &str, journal: &Journal, worlds: &[&str]) -> Sim {
    let mut sim = Sim::from_text(text).unwrap();
    for world in worlds {
        sim.shelve_world(&given(world, &standard_registry())).unwrap();
    }
    sim.set_journal(journal.clone()).unwrap();
    sim
}

#[test]
fn a_change_that_changes_nothing_leaves_every_later_hash_equal() {
    let mut plain = Sim::from_text(YARD).unwrap();
    let mut disturbed = Sim::from_text(YARD).unwrap();
    let said = format!("{YARD}\n# A remark.\n");
    for step in 0..150 {
        if step % 10 == 3 {
            let report = changed(&mut disturbed, if step % 20 == 3 { &said } else { YARD });
            assert_eq!((report.kept.count, report.anew.count, report.new.count), (5, 0, 0), "{report:?}");
        }
        assert_eq!(disturbed.full_hash(), plain.full_hash(), "before step {step}");
        assert_eq!(disturbed.step().unwrap(), plain.step().unwrap());
    }
    assert!(plain.state().accounts.contacts > 3, "without contacts this shows little");
}

#[test]
fn a_run_with_many_changes_replays_to_the_same_hash_at_every_step() {
    let moved = with(YARD, "at = [2, -0.2, \"180deg\"]", "at = [3, -2, \"90deg\"]");
    let more = format!("{moved}[[robot]]\nname = \"aa\"\ntype = \"bot\"\nat = [-3.5, -3.5]\n");
    let fewer = with(&more, "[[robot]]\nname = \"a\"\ntype = \"bot\"\nat = [-2, 0.3]\n", "");
    let near = with(&fewer, "range = \"2m\"", "range = \"0.5m\"");
    let walled = with(&near, "[[0, -1], [0, 1]]", "[[-3.9, 3.9], [3.9, 3.9]]");
    let slower = with(&walled, "quantum = \"100ms\"", "quantum = \"50ms\"");
    let worlds = [&*moved, &more, &fewer, &near, &walled, &slower];
    let mut sim = Sim::from_text(YARD).unwrap();
    let mut live = Vec::new();
    for world in worlds {
        live.extend(hashes(&mut sim, 12));
        sim.command("/robots/b/drive", "left", &[0.1]).unwrap();
        changed(&mut sim, world);
        sim.command("/robots/c/drive", "left", &[0.2]).unwrap();
    }
    live.extend(hashes(&mut sim, 12));
    assert!(sim.pose("/robots/a").is_none() && sim.pose("/robots/aa").is_some());

    let mut again = replay(YARD, sim.journal(), &worlds);
    let replayed: Vec<u64> = (0..=worlds.len()).flat_map(|_| hashes(&mut again, 12)).collect();
    assert_eq!(live, replayed);
    let mut plain = Sim::from_text(YARD).unwrap();
    assert_ne!(live[13 * 6..], hashes(&mut plain, 13 * 7)[13 * 6..13 * 7], "the changes changed something");
}

#[test]
fn a_body_whose_start_has_changed_is_put_there_at_rest_and_the_others_stay() {
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(3.0).unwrap();
    let (a, ball) = (sim.pose("/robots/a").unwrap(), sim.twist("/obstacles/ball").unwrap());
    let report = changed(&mut sim, &with(YARD, "at = [2, -0.2, \"180deg\"]", "at = [3, -2, \"90deg\"]"));
    assert_eq!(report.placed.first, ["/robots/b"]);
    let b = sim.pose("/robots/b").unwrap();
    assert_eq!((b.at.x, b.at.y), (3.0, -2.0));
    assert_eq!(sim.twist("/robots/b").unwrap(), swarmyard::base::Twist2::REST);
    assert_eq!((sim.pose("/robots/a").unwrap(), sim.twist("/obstacles/ball").unwrap()), (a, ball));
}

#[test]
fn bodies_come_and_go_and_slots_shift() {
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(3.0).unwrap();
    let (b, box_) = (sim.pose("/robots/b").unwrap(), sim.pose("/obstacles/box").unwrap());
    let rays = sim.channel("/robots/b/rays", "range").unwrap().to_vec();
    let text = with(
        YARD,
        "name = \"a\"\ntype = \"bot\"\nat = [-2, 0.3]",
        "name = \"a0\"\ntype = \"bot\"\nat = [-3.5, 3.5]",
    );
    let report = changed(&mut sim, &text);
    assert_eq!((report.new.first, report.gone.first), (vec!["/robots/a0".into()], vec!["/robots/a".into()]));
    assert_eq!(sim.pose("/robots/a0").unwrap().at.x, -3.5);
    assert_eq!((sim.pose("/robots/b").unwrap(), sim.pose("/obstacles/box").unwrap()), (b, box_));
    assert_eq!(sim.channel("/robots/b/rays", "range").unwrap(), rays);
    assert!(sim.pose("/robots/a").is_none());
}

#[test]
fn a_part_with_other_channels_begins_anew_and_is_reported() {
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(2.0).unwrap();
    let driven = sim.channel("/robots/a/drive", "left").unwrap().to_vec();
    assert_ne!(driven, [0.0]);
    let report = changed(&mut sim, &with(YARD, "rays = 8", "rays = 12"));
    assert_eq!(report.anew.first, ["/types/bot/rays"]);
    assert_eq!(sim.channel("/robots/a/rays", "range").unwrap(), [0.0; 12]);
    assert_eq!(sim.channel("/robots/a/drive", "left").unwrap(), driven);
    // What it can see is not what it can measure: another range keeps the readings.
    let report = changed(&mut sim, &with(YARD, "rays = 8\nrange = \"2m\"", "rays = 12\nrange = \"1m\""));
    assert_eq!(report.anew.count, 0);
}

#[test]
fn a_change_without_room_is_refused_with_both_names_and_nothing_has_changed() {
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(2.0).unwrap();
    let (hash, journal) = (sim.full_hash(), sim.journal().clone());
    let p = sim.pose("/robots/a").unwrap().at;
    let refused = |sim: &mut Sim, text: &str| match change(sim, text) {
        Err(Error::Scenario(_, problems)) => problems.0[0].clone(),
        other => panic!("{other:?}"),
    };
    let wall = format!("points = [[{}, {}], [{}, {}]]", p.x, p.y - 0.5, p.x, p.y + 0.5);
    let d = refused(&mut sim, &with(YARD, "points = [[0, -1], [0, 1]]", &wall));
    assert!(d.message.contains("/robots/a") && d.message.contains("/world/walls/middle"), "{}", d.message);
    // It starts where there is room in the scenario, but somebody is there now.
    let d = refused(&mut sim, &with(YARD, "at = [2, 2]", &format!("at = [{}, {}]", p.x, p.y)));
    assert!(d.message.contains("/robots/a") && d.message.contains("/obstacles/ball"), "{}", d.message);
    let d = refused(&mut sim, &with(YARD, "radius = \"10cm\"", "radius = \"-1cm\""));
    assert!(d.span.is_some(), "a mistake in the text has its place");
    assert_eq!((sim.full_hash(), sim.journal()), (hash, &journal));
    let mut plain = Sim::from_text(YARD).unwrap();
    plain.run_until(2.0).unwrap();
    assert_eq!(hashes(&mut sim, 20), hashes(&mut plain, 20));
}

#[test]
fn of_two_changes_at_one_stop_both_are_made_in_order() {
    let away = with(YARD, "at = [2, -0.2, \"180deg\"]", "at = [3, -2]");
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(1.0).unwrap();
    changed(&mut sim, &away);
    changed(&mut sim, YARD);
    assert_eq!(sim.pose("/robots/b").unwrap().at.x, 2.0, "back at its start, not where it was");
    let live = hashes(&mut sim, 20);
    let mut again = replay(YARD, sim.journal(), &[&away]);
    again.run_until(1.0).unwrap();
    assert_eq!(live, hashes(&mut again, 20));
}

#[test]
fn snapshots_open_in_the_world_they_were_taken_in() {
    let other = with(YARD, "[[0, -1], [0, 1]]", "[[-3.9, 3.9], [3.9, 3.9]]");
    let other = with(&other, "quantum = \"100ms\"", "quantum = \"40ms\"");
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(1.0).unwrap();
    let before = sim.snapshot();
    changed(&mut sim, &other);
    let at_once = sim.snapshot();
    let in_other = hashes(&mut sim, 10);
    let after = sim.snapshot();
    let later = hashes(&mut sim, 10);

    sim.restore(&before).unwrap();
    let mut plain = Sim::from_text(YARD).unwrap();
    plain.run_until(1.0).unwrap();
    assert_eq!(hashes(&mut sim, 10), hashes(&mut plain, 10), "the change is undone");
    assert!(sim.journal().all().is_empty());

    sim.restore(&after).unwrap();
    assert_eq!(hashes(&mut sim, 10), later);
    let mut again = replay(YARD, sim.journal(), &[&other]);
    again.run_until(1.0).unwrap();
    assert_eq!(hashes(&mut again, 10), in_other, "the journal knows of the change again");

    sim.restore(&at_once).unwrap();
    assert_eq!(hashes(&mut sim, 10), in_other);
    let mut again = replay(YARD, sim.journal(), &[&other]);
    again.run_until(1.0).unwrap();
    assert_eq!(hashes(&mut again, 10), in_other);
    assert!(Sim::from_text(YARD).unwrap().restore(&after).is_err(), "of a world that is not here");
}

#[test]
fn a_change_of_the_quantum_counts_and_a_quantum_that_was_set_stays() {
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.set_quantum(Ratio::new(1, 20).unwrap());
    sim.step().unwrap();
    changed(&mut sim, &with(YARD, "range = \"2m\"", "range = \"1m\""));
    sim.step().unwrap();
    assert_eq!(sim.now().seconds(), 0.1, "two quanta of 50 ms");
    changed(&mut sim, &with(YARD, "quantum = \"100ms\"", "quantum = \"25ms\""));
    sim.step().unwrap();
    assert_eq!(sim.now().seconds(), 0.125);
}

#[test]
fn what_an_earlier_command_at_the_stop_was_for_is_found_by_name() {
    let text = with(YARD, "class = \"wander\"", "class = \"external\"");
    // Another drive before it gives the part another number.
    let shifted = with(
        &text,
        "[[type.bot.part]]\nname = \"drive\"",
        "[[type.bot.part]]\nname = \"jaws\"\nclass = \"gripper\"\n[[type.bot.part]]\nname = \"drive\"",
    );
    let mut sim = Sim::from_text(&text).unwrap();
    sim.step().unwrap();
    sim.command("/robots/a/drive", "left", &[0.25]).unwrap();
    changed(&mut sim, &shifted);
    sim.step().unwrap();
    assert_eq!(sim.channel("/robots/a/drive", "left").unwrap(), [0.25]);
}

#[test]
fn verdicts_go_on_by_name_and_condition() {
    let mut sim = Sim::from_text(YARD).unwrap();
    sim.run_until(1.0).unwrap();
    let text = with(YARD, "[[assert]]", "[[assert]]\nname = \"first\"\nthat = \"time < 100\"\n[[assert]]");
    changed(&mut sim, &text);
    let asked = |sim: &Sim| sim.state().verdicts.iter().map(|v| v.asked).collect::<Vec<_>>();
    assert_eq!(asked(&sim), [0, 10]);
    changed(&mut sim, &with(&text, "self.x) < 5", "self.x) < 6"));
    assert_eq!(asked(&sim), [0, 0]);
}

/// A robot that holds a puck in front of it, and one that stands by.
const HOLDS: &str = r#"
format = 1
[run]
quantum = "100ms"
[type.bot]
radius = 0.1
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.part]]
name = "hand"
class = "gripper"
mount = [0.15, 0]
reach = 0.05
opening = 0.3
max_mass = 2
[[robot]]
name = "r"
type = "bot"
at = [0, 0]
[[robot]]
name = "s"
type = "bot"
at = [0, 3]
[[obstacle]]
name = "puck"
radius = 0.05
movable = true
at = [0.17, 0]
"#;

fn holding() -> Sim {
    let mut sim = Sim::from_text(HOLDS).unwrap();
    sim.command("/robots/r/hand", "close", &[1.0]).unwrap();
    for wheel in ["left", "right"] {
        sim.command("/robots/r/drive", wheel, &[0.2]).unwrap();
    }
    hashes(&mut sim, 10);
    assert_eq!(sim.state().carried.len(), 1);
    sim
}

#[test]
fn a_load_is_carried_on_and_goes_along_with_a_carrier_that_is_put_elsewhere() {
    let mut sim = holding();
    // A robot before them shifts the slots, a part before it the number of the hand.
    let text = with(HOLDS, "name = \"s\"", "name = \"a\"");
    let text = with(
        &text,
        "name = \"hand\"",
        "name = \"eye\"\nclass = \"compass\"\n[[type.bot.part]]\nname = \"hand\"",
    );
    assert_eq!(changed(&mut sim, &text).let_go.count, 0);
    hashes(&mut sim, 5);
    let (r, puck) = (sim.pose("/robots/r").unwrap().at, sim.pose("/obstacles/puck").unwrap().at);
    assert!((puck - r).norm() < 0.18 && r.x > 0.25, "{r:?} {puck:?}");
    let report = changed(&mut sim, &with(&text, "at = [0, 0]", "at = [1, -2, \"90deg\"]"));
    assert_eq!((report.placed.first, report.let_go.count), (vec!["/robots/r".into()], 0));
    let there = sim.pose("/obstacles/puck").unwrap().at;
    assert!((there.x - 1.0).abs() < 1e-9 && (there.y + 2.0 - (puck - r).norm()).abs() < 1e-9, "{there:?}");
    hashes(&mut sim, 5);
    assert_eq!(sim.state().carried.len(), 1);
}

#[test]
fn what_is_put_elsewhere_or_whose_carrier_is_gone_is_let_go() {
    for (old, new) in [
        ("at = [0.17, 0]", "at = [0.17, 1]"),
        ("name = \"r\"", "name = \"t\""),
        (
            "class = \"gripper\"\nmount = [0.15, 0]\nreach = 0.05\nopening = 0.3\nmax_mass = 2",
            "class = \"compass\"",
        ),
    ] {
        let mut sim = holding();
        let report = changed(&mut sim, &with(HOLDS, old, new));
        assert_eq!(report.let_go.first, ["/obstacles/puck"]);
        assert!(sim.state().carried.is_empty());
        hashes(&mut sim, 3);
    }
}

/// Counts quanta in its memory, and drives as fast.
const COUNT: &str = "static int n; void robot_step(void) { n++; drive(n, n); }";

fn left(sim: &Sim, robot: &str) -> f64 {
    sim.channel(&format!("/robots/{robot}/drive"), "left").unwrap()[0]
}

#[test]
fn a_programs_memory_goes_on_robot_by_robot() {
    let registry = standard_registry();
    let text = common::world(COUNT, "class = \"program\"", 4);
    let mut sim = Sim::read("scenario", &text, &NoFiles, &registry, &Options::default()).unwrap();
    hashes(&mut sim, 5);
    // A robot before the others shifts their slots; more fuel, and another range.
    let extra = "[[robot]]\nname = \"a\"\ntype = \"bot\"\nat = [4, -4]\n";
    let other = with(&text, "range = \"3m\"", "range = \"2m\"") + extra;
    let other = with(&other, "class = \"program\"", "class = \"program\"\nfuel = 5000");
    let report = sim.change(&given(&other, &registry)).unwrap();
    assert_eq!(report.anew.count, 0, "{report:?}");
    hashes(&mut sim, 3);
    assert_eq!((left(&sim, "r2"), left(&sim, "a")), (0.008, 0.003));
    let live = sim.full_hash();
    let mut again = Sim::read("scenario", &text, &NoFiles, &registry, &Options::default()).unwrap();
    again.shelve_world(&given(&other, &registry)).unwrap();
    again.set_journal(sim.journal().clone()).unwrap();
    hashes(&mut again, 8);
    assert_eq!(again.full_hash(), live);
    // Other code begins anew.
    let code = with(&other, "n++;", "n += 10;");
    let report = sim.change(&given(&code, &registry)).unwrap();
    assert_eq!(report.anew.first, ["/types/bot/controller"]);
    hashes(&mut sim, 1);
    assert_eq!((left(&sim, "r2"), left(&sim, "a")), (0.01, 0.01));
}

#[test]
fn a_program_with_a_loop_of_its_own_goes_on() {
    let code = "int main(void) { int n = 0; rio_init(); while (rio_wait()) { n++; drive(n, n); } return 0; }";
    let text = common::world(code, "class = \"program\"", 2);
    let mut sim = Sim::from_text(&text).unwrap();
    hashes(&mut sim, 5);
    changed(&mut sim, &with(&text, "range = \"3m\"", "range = \"2m\""));
    hashes(&mut sim, 2);
    assert_eq!(left(&sim, "r1"), 0.007);
}

#[test]
#[cfg(target_os = "linux")]
fn a_native_program_goes_on_in_the_process_it_runs_in() {
    // It says once which process it is: one that was started again would say so again.
    let code = "#include <stdio.h>\n#include <unistd.h>\nstatic int n; void robot_step(void) { n++; drive(n, n); if (n == 1) { char t[32]; snprintf(t, 32, \"I am %d\", (int)getpid()); rio_log(t); } }";
    let text = common::world(code, "class = \"process\"\nthink = 0\npatience = 0", 2);
    let registry = standard_registry();
    let mut sim = Sim::read("scenario", &text, &NoFiles, &registry, &Options::default()).unwrap();
    let said = |sim: &mut Sim, steps: usize| {
        let frames = (0..steps).flat_map(|_| sim.step().unwrap().events);
        frames.filter(|e| matches!(e, swarmyard::engine::RunEvent::Said { .. })).count()
    };
    assert_eq!(said(&mut sim, 4), 2);
    let other = text.clone() + "[[robot]]\nname = \"a\"\ntype = \"bot\"\nat = [4, -4]\n";
    sim.change(&given(&other, &registry)).unwrap();
    assert_eq!(said(&mut sim, 3), 1, "only the new one begins");
    assert_eq!((left(&sim, "r2"), left(&sim, "a")), (0.007, 0.003));
    // A replay starts no program at all, and a restored run is run again through both worlds.
    let (live, snapshot) = (sim.full_hash(), sim.snapshot());
    let mut again = Sim::read("scenario", &text, &NoFiles, &registry, &Options::default()).unwrap();
    again.shelve_world(&given(&other, &registry)).unwrap();
    again.set_journal(sim.journal().clone()).unwrap();
    hashes(&mut again, 7);
    assert_eq!(again.full_hash(), live);
    sim.restore(&snapshot).unwrap();
    hashes(&mut sim, 1);
    assert_eq!((left(&sim, "r2"), left(&sim, "a")), (0.008, 0.004));
}

#[test]
#[cfg(target_os = "linux")]
fn a_native_program_that_is_at_work_when_the_world_changes_sees_the_new_one() {
    let code = "#include <unistd.h>\nstatic int n; void robot_step(void) { if (++n == 3) usleep(200000); drive(n, (int)rio_peek16(SONAR_RANGE_AT(0))); }";
    let text = common::world(code, "class = \"process\"\nthink = 0\npatience = 60", 1);
    let mut sim = Sim::from_text(&text).unwrap();
    hashes(&mut sim, 2);
    assert!(sim.poll_step().unwrap().is_none(), "it is at work");
    changed(&mut sim, &with(&text, "range = \"3m\"", "range = \"2m\""));
    hashes(&mut sim, 2);
    let right = |sim: &Sim| sim.channel("/robots/r1/drive", "right").unwrap()[0];
    assert_eq!((left(&sim, "r1"), right(&sim)), (0.004, 2.0), "the third quantum was not counted twice");
    // Run again through its past it does the same, so it was shown what the past says.
    let snapshot = sim.snapshot();
    sim.restore(&snapshot).unwrap();
    let frame = sim.step().unwrap();
    assert!(frame.events.is_empty(), "{:?}", frame.events);
    assert_eq!(left(&sim, "r1"), 0.005);
}
