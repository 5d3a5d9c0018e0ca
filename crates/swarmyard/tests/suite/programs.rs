//! Controllers in the sandbox: what they see, what they may do, and what becomes of bad ones.
//!
//! The programs are C, compiled here: these tests need clang and lld.

use crate::common::{self, LOOP, WANDER};
use swarmyard::engine::RunEvent;
use swarmyard::part_api::{BadAccess, Cause, Policy};
use swarmyard::{Error, Options, Sim};

/// A world with four robots, on which `code` runs; `extra` is more TOML for the controller.
fn world(code: &str, extra: &str) -> String {
    common::world(code, &format!("class = \"program\"\n{extra}"), 4)
}

fn sim(code: &str, extra: &str) -> Sim {
    Sim::from_text(&world(code, extra)).unwrap_or_else(|e| panic!("{e}"))
}

/// All events of `steps` steps.
fn events(sim: &mut Sim, steps: usize) -> Vec<RunEvent> {
    (0..steps).flat_map(|_| sim.step().unwrap().events).collect()
}

fn failures(events: &[RunEvent]) -> Vec<(Cause, Policy)> {
    let failed = events.iter().filter_map(|e| match e {
        RunEvent::Failed { failure, then, .. } => Some((failure.cause, *then)),
        _ => None,
    });
    failed.collect()
}

fn left(sim: &Sim, robot: &str) -> f64 {
    sim.channel(&format!("/robots/{robot}/drive"), "left").unwrap()[0]
}

#[test]
fn a_program_drives_by_its_registers() {
    let mut sim = sim("void robot_step(void) { drive(500, 500); }", "");
    sim.run_until(1.0).unwrap();
    let pose = sim.pose("/robots/r2").unwrap();
    assert!((pose.at.x - 0.5).abs() < 1e-9 && (pose.at.y - 1.0).abs() < 1e-9, "{pose:?}");
}

#[test]
fn threads_do_not_matter() {
    let hash = |threads: usize| {
        let options = Options { threads, ..Options::default() };
        let text = world(WANDER, "")
            .replace("count = 4\nlayout", "count = 400\nlayout")
            .replace("[-5, -5]", "[-50, -50]");
        let text = text.replace("[5, 5]", "[50, 450]");
        let mut sim = Sim::from_text_with(&text, &options).unwrap();
        sim.run_until(3.0).unwrap();
        (sim.hash(), sim.full_hash())
    };
    let one = hash(1);
    assert_eq!((hash(2), hash(8)), (one, one));
}

#[test]
fn memories_survive_snapshot_and_restore_at_every_quantum() {
    for code in [WANDER, LOOP] {
        let mut straight = sim(code, "");
        let (mut hopping, mut other) = (sim(code, ""), sim(code, ""));
        for _ in 0..60 {
            other.restore(&hopping.snapshot()).unwrap();
            std::mem::swap(&mut hopping, &mut other);
            assert_eq!(hopping.full_hash(), straight.full_hash());
            let (a, b) = (straight.step().unwrap(), hopping.step().unwrap());
            assert_eq!(a, b);
        }
    }
}

#[test]
fn images_are_small() {
    let mut sim = sim(WANDER, "");
    sim.run_until(1.0).unwrap();
    let bytes = sim.snapshot().len();
    assert!(bytes < 8000, "{bytes} bytes for four robots");
}

#[test]
fn a_memory_of_another_program_is_refused_and_nothing_changes() {
    let mut one = sim(WANDER, "");
    one.run_until(1.0).unwrap();
    let bytes = one.snapshot();
    let mut other = sim("void robot_step(void) { drive(1, 1); }", "");
    let before = other.full_hash();
    assert!(matches!(other.restore(&bytes), Err(Error::Snapshot(_))));
    assert_eq!(other.full_hash(), before);
}

#[test]
fn a_greedy_program_is_cut_off_and_costs_only_its_own_robot() {
    // Robot r1 has a wall to its right, the others have a neighbour there: it alone hangs.
    let code = "void robot_step(void) { drive(300, 300); if (rio_peek16(SONAR_RANGE_AT(3)) > 1200 && rio_ticks() == 3) for (volatile int k = 0;; k++) {} }";
    let text = world(code, "fuel = 20000").replace("[-5, -5]", "[-5, -1.5]");
    let mut sim = Sim::from_text(&text).unwrap();
    let all = events(&mut sim, 10);
    assert_eq!(failures(&all), [(Cause::Overrun, Policy::Hold)]);
    // Its last commands stayed, and it goes on.
    let (a, b) = (sim.pose("/robots/r1").unwrap(), sim.pose("/robots/r2").unwrap());
    assert!((a.at.x - 0.3).abs() < 1e-9 && (b.at.x - 0.3).abs() < 1e-9, "{a:?} {b:?}");
}

#[test]
fn an_overrun_of_a_loop_goes_on_in_the_next_quantum() {
    let code = "int main(void) { rio_init(); while (rio_wait()) { for (volatile int k = 0; k < 10000; k++) {} drive((int)rio_ticks(), 0); } return 0; }";
    let mut sim = sim(code, "fuel = 30000");
    let all = events(&mut sim, 20);
    assert!(failures(&all).len() > 10 && failures(&all).iter().all(|f| *f == (Cause::Overrun, Policy::Hold)));
    assert!(left(&sim, "r1") > 0.0, "it has finished a round at last");
}

#[test]
fn every_policy_follows_a_crash() {
    let code = "void robot_step(void) { rio_log(\"about to fall\"); drive(300, 300); if (rio_ticks() == 2) __builtin_trap(); }";
    let crash = |policy: &str| {
        let mut sim = sim(code, &format!("on_crash = \"{policy}\""));
        let all = events(&mut sim, 6);
        (sim, all)
    };
    let (sim, all) = crash("hold");
    assert_eq!(failures(&all), [(Cause::Crash, Policy::Hold); 4]);
    let lines = all.iter().find_map(|e| match e {
        RunEvent::Failed { lines, .. } => Some(lines.clone()),
        _ => None,
    });
    assert_eq!(lines.unwrap(), ["about to fall"; 3]);
    assert!((sim.pose("/robots/r1").unwrap().at.x - 0.18).abs() < 1e-9, "its last commands stay");
    let (sim, all) = crash("halt");
    assert_eq!(failures(&all).len(), 4);
    assert!((sim.pose("/robots/r1").unwrap().at.x - 0.06).abs() < 1e-9, "halted for good");
    assert_eq!(sim.state().accounts.halts, 4);
    let (sim, all) = crash("restart");
    assert_eq!(failures(&all).len(), 4);
    assert!((sim.pose("/robots/r1").unwrap().at.x - 0.18).abs() < 1e-9);
    let (sim, _) = crash("end");
    assert!(sim.is_over() && sim.state().ended);
}

#[test]
fn running_until_stops_where_the_run_ends_and_never_goes_on_for_ever() {
    let code = "void robot_step(void) { if (rio_ticks() == 2) __builtin_trap(); }";
    let mut sim = sim(code, "on_crash = \"end\"");
    sim.run_until(60.0).unwrap();
    assert!(sim.state().ended);
    assert_eq!(sim.state().stops, 3);
    for wrong in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 1e300] {
        assert!(matches!(sim.run_until(wrong), Err(swarmyard::Error::Wrong(_))), "{wrong}");
    }
}

#[test]
fn recursion_without_end_and_memory_without_end_are_crashes() {
    for code in [
        "int deep(volatile int *p) { volatile int q = *p; return deep((int *)&q) + q; } void robot_step(void) { volatile int p = 1; deep((int *)&p); }",
        "void robot_step(void) { while (__builtin_wasm_memory_grow(0, 1) != (__SIZE_TYPE__)-1) {} __builtin_trap(); }",
        "void robot_step(void) { *(volatile int *)0x7fffffff = 1; }",
        "void robot_step(void) { int (*volatile f)(int, int) = (int (*)(int, int))(void *)0x77; drive(f(1, 2), 0); }",
        "void robot_step(void) { volatile int zero = 0; drive(77 / zero, 0); }",
    ] {
        let mut sim = sim(code, "fuel = 10000000");
        let all = events(&mut sim, 2);
        assert_eq!(failures(&all), [(Cause::Crash, Policy::Halt); 4], "{code}");
    }
}

#[test]
fn a_loop_that_returns_has_ended() {
    let mut sim = sim(
        "int main(void) { rio_init(); rio_wait(); drive(100, 100); rio_wait(); return 3; }",
        "on_crash = \"hold\"",
    );
    let all = events(&mut sim, 5);
    assert_eq!(failures(&all).len(), 4);
    let said = all.iter().find_map(|e| match e {
        RunEvent::Failed { failure, .. } => Some(failure.message.clone()),
        _ => None,
    });
    assert_eq!(said.unwrap(), "its main function returned 3");
    assert!((left(&sim, "r1") - 0.1).abs() < 1e-12);
}

#[test]
fn bad_accesses_are_reported_once_each() {
    let code = "void robot_step(void) { drive(100, 100); rio_peek8(0x99); rio_poke16(0x11, 1); rio_poke16(SONAR_RANGE, 1); for (unsigned a = 0x1000; a < 0x2000; a += 4) rio_peek32(a); }";
    let mut sim = sim(code, "");
    let all = events(&mut sim, 50);
    let of = |robot: &str| -> Vec<(u32, BadAccess)> {
        let uid = swarmyard::base::Uid::of_path(robot);
        let bad = all.iter().filter_map(|e| match e {
            RunEvent::BadAccess { robot, access, .. } if *robot == uid => Some((access.address, access.why)),
            _ => None,
        });
        bad.collect()
    };
    let one = of("/robots/r1");
    let first = [(0x99, BadAccess::Unmapped), (0x11, BadAccess::Misaligned), (0x10, BadAccess::ReadOnly)];
    assert_eq!(one[..3], first);
    assert!(one.len() <= 64 && of("/robots/r2") == one);
    assert!((left(&sim, "r1") - 0.1).abs() < 1e-12, "the rest of the step counts");
}

#[test]
fn a_bad_register_may_halt() {
    let mut sim = sim("void robot_step(void) { rio_peek8(0x99); }", "on_bad_register = \"halt\"");
    assert_eq!(failures(&events(&mut sim, 3)), [(Cause::BadRegister, Policy::Halt); 4]);
}

#[test]
fn a_flood_of_lines_is_bounded() {
    let mut sim =
        sim("void robot_step(void) { for (int k = 0; k < 5000; k++) rio_log_int(\"line\", k); }", "");
    let all = events(&mut sim, 1);
    let said = all.iter().filter(|e| matches!(e, RunEvent::Said { .. })).count();
    assert_eq!(said, 4 * 20);
    assert!(sim.lines("/robots/r1").len() <= 8);
}

#[test]
fn a_fixed_think_time_delays_commands_to_the_next_quantum() {
    let mut sim = sim("void robot_step(void) { drive(500, 500); }", "think = \"150ms\"");
    // Decided at 0, in effect at 150 ms, which the quantum from 200 ms on is the first to see.
    let moves: Vec<bool> = (0..4)
        .map(|_| {
            sim.step().unwrap();
            left(&sim, "r1") > 0.0
        })
        .collect();
    assert_eq!(moves, [false, false, true, true]);
}

#[test]
fn think_time_from_fuel_is_repeatable_and_grows_with_work() {
    let ticks_until_it_moves = |rounds: u32| {
        let code = format!(
            "void robot_step(void) {{ for (volatile int k = 0; k < {rounds}; k++) {{}} drive(500, 500); }}"
        );
        let mut sim = sim(&code, "clock = 100000");
        (0..200).position(|_| {
            sim.step().unwrap();
            left(&sim, "r1") > 0.0
        })
    };
    let (little, much) = (ticks_until_it_moves(10).unwrap(), ticks_until_it_moves(10_000).unwrap());
    assert_eq!(little, 1);
    assert!(much > 5, "{much}");
    assert_eq!(ticks_until_it_moves(10_000), Some(much));
}

#[test]
fn of_two_controllers_the_later_wins_and_the_quarrel_is_reported_once() {
    let text = world("void robot_step(void) { drive(100, 100); }", "name = \"first\"")
        .replace("[type.bot.controller]", "[[type.bot.controller]]");
    let second = r#"
[[type.bot.controller]]
name = "second"
class = "program"
code = '''
#include "rio.h"
#include "registers.h"
void robot_step(void) { rio_pokes16(DRIVE_LEFT, 200); }
'''
"#;
    let mut sim = Sim::from_text(&(text + second)).unwrap_or_else(|e| panic!("{e}"));
    let all = events(&mut sim, 5);
    assert!((left(&sim, "r1") - 0.2).abs() < 1e-12);
    let right = sim.channel("/robots/r1/drive", "right").unwrap()[0];
    assert!((right - 0.1).abs() < 1e-12);
    let quarrels = all.iter().filter(|e| matches!(e, RunEvent::Quarrel { controller: 1, .. })).count();
    assert_eq!(quarrels, 4, "once for each robot");
}

#[test]
fn a_port_answers_every_read_anew_and_takes_a_write_at_once() {
    let code = r"
static unsigned last[3];
void robot_step(void) {
    unsigned a = rio_peek32(DICE_VALUE), b = rio_peek32(DICE_VALUE), c = rio_peek32(DICE_VALUE);
    if (a == b || b == c || a == last[0] || c == last[2]) __builtin_trap();
    last[0] = a; last[1] = b; last[2] = c;
    drive((int)(a & 255), 300);
    if (rio_peeks32(ODOMETER_RIGHT) > 900) rio_poke8(ODOMETER_RESET, 1);
}";
    let parts = r#"
[[type.bot.part]]
name = "dice"
class = "dice"
[[type.bot.part]]
name = "odometer"
class = "odometer"
[[type.bot.register]]
part = "dice"
channel = "value"
at = 0x40
width = 32
[[type.bot.register]]
part = "odometer"
channel = "right"
at = 0x50
width = 32
signed = true
[[type.bot.register]]
part = "odometer"
channel = "reset"
at = 0x54
width = 8
"#;
    let text = world(code, "") + parts;
    let mut sim = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    let mut counts = Vec::new();
    for _ in 0..20 {
        let frame = sim.step().unwrap();
        assert_eq!(failures(&frame.events), []);
        counts.push(sim.channel("/robots/r1/odometer", "right").unwrap()[0]);
    }
    // 0.03 m per quantum are 318 counts: past 900 after three, then from zero again.
    assert_eq!(
        counts[..6].iter().map(|c| (c / 318.0).round()).collect::<Vec<_>>(),
        [0.0, 1.0, 2.0, 3.0, 1.0, 2.0]
    );
    let speeds: Vec<f64> = (1..=4).map(|k| left(&sim, &format!("r{k}"))).collect();
    assert!(speeds.windows(2).any(|w| w[0] != w[1]), "each robot throws its own dice: {speeds:?}");
}

#[test]
fn reads_are_latched_all_quantum_long() {
    let code = "void robot_step(void) { drive(77, 0); if (rio_peeks16(DRIVE_LEFT) == 77 && rio_ticks() == 0) __builtin_trap(); if (rio_ticks() > 0 && rio_peeks16(DRIVE_LEFT) != 77) __builtin_trap(); }";
    assert_eq!(failures(&events(&mut sim(code, ""), 3)), []);
}

#[test]
fn code_that_does_not_compile_is_a_problem_of_the_scenario_with_its_line() {
    let Err(e) = Sim::from_text(&world("void robot_step(void) { drive(1, 2) }", "")) else {
        panic!("it compiled")
    };
    let text = e.to_string();
    assert!(
        text.contains("bad-program") && text.contains("controller.c:4:36: error: expected ';'"),
        "{text}"
    );
    let Err(e) = Sim::from_text(&world("void robot_stp(void) {}", "")) else { panic!("it was taken") };
    assert!(e.to_string().contains("it exports neither `robot_step` nor `main`"), "{e}");
}

/// A folder with a world whose program is in a file.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str, code: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("swarmyard-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        folder.program(code);
        let text = world("", "source = \"bot.c\"");
        let (before, rest) = text.split_once("code = '''").unwrap();
        let after = rest.split_once("'''").unwrap().1;
        std::fs::write(folder.0.join("world.toml"), format!("{before}{after}")).unwrap();
        folder
    }

    fn program(&self, code: &str) {
        std::fs::write(
            self.0.join("bot.c"),
            format!("#include \"rio.h\"\n#include \"registers.h\"\n{code}\n"),
        )
        .unwrap();
    }

    fn load(&self) -> Sim {
        Sim::load(self.0.join("world.toml"), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Counts its steps since setup in the left wheel's speed; the right one is as before.
fn counting(start: u32) -> String {
    format!(
        "static int n; void robot_setup(void) {{ n = {start}; }}
         void robot_step(void) {{ n++; rio_pokes16(DRIVE_LEFT, (int16_t)n); if (n < 10) rio_pokes16(DRIVE_RIGHT, 50); }}"
    )
}

#[test]
fn new_code_keeps_world_and_registers_and_starts_with_its_setup() {
    let folder = Folder::new("reload", &counting(0));
    let mut sim = folder.load();
    let before = (0..5).map(|_| sim.step().unwrap().hash).last();
    let pose = sim.pose("/robots/r1").unwrap();
    folder.program(&counting(100));
    let code = sim.reload("bot", "controller").unwrap();
    let mut hashes: Vec<u64> = vec![before.unwrap()];
    hashes.push(sim.step().unwrap().hash);
    assert!((left(&sim, "r1") - 0.101).abs() < 1e-12, "set up anew: {}", left(&sim, "r1"));
    let right = sim.channel("/robots/r1/drive", "right").unwrap()[0];
    assert!((right - 0.05).abs() < 1e-12, "what the old code wrote stays");
    assert!((sim.pose("/robots/r1").unwrap().at - pose.at).norm() < 0.02, "the world stays");

    // Code that does not compile changes nothing, and says where.
    folder.program("void robot_step(void) { nonsense }");
    let Err(Error::Scenario(_, problems)) = sim.reload("bot", "controller") else { panic!("it was taken") };
    assert!(
        problems.0[0].message.starts_with("bot.c:3:25: error: use of undeclared identifier"),
        "{problems:?}"
    );
    hashes.push(sim.step().unwrap().hash);
    assert!((left(&sim, "r1") - 0.102).abs() < 1e-12);

    // A replay does the same from the journal and the code that was kept, without the source.
    let bytes: Vec<u8> = sim.code().find(|c| c.0 == code).unwrap().1.to_vec();
    folder.program(&counting(0));
    let mut again = folder.load();
    again.shelve(0, 0, &bytes).unwrap();
    again.set_journal(sim.journal().clone()).unwrap();
    let replayed: Vec<u64> = (0..7).map(|_| again.step().unwrap().hash).collect();
    assert_eq!(replayed[4..], hashes);

    // Without the code the journal is refused.
    assert!(folder.load().set_journal(sim.journal().clone()).is_err());
    // A snapshot from after the change brings the new code with it.
    let snapshot = sim.snapshot();
    sim.step().unwrap();
    sim.restore(&snapshot).unwrap();
    sim.step().unwrap();
    assert!((left(&sim, "r1") - 0.103).abs() < 1e-12);
}

#[test]
fn a_program_says_good_bye() {
    let code =
        "void robot_step(void) {} void robot_stop(void) { rio_log_int(\"stopped at\", (int)rio_ticks()); }";
    let mut one = sim(code, "");
    one.run_until(0.5).unwrap();
    let said = one.finish();
    assert_eq!(said.len(), 4);
    assert_eq!(said[0], ("/robots/r1".to_owned(), "stopped at 4".to_owned()));
    let code = "int main(void) { rio_init(); while (rio_wait()) drive(1, 1); rio_log(\"over\"); return 0; }";
    let mut one = sim(code, "");
    one.run_until(0.5).unwrap();
    assert_eq!(one.finish()[3], ("/robots/r4".to_owned(), "over".to_owned()));
}

#[test]
fn the_first_wait_of_a_loop_begins_the_first_tick() {
    let code = "int main(void) { rio_init(); while (rio_wait()) drive((int)rio_ticks() + 1, 0); return 0; }";
    let mut one = sim(code, "");
    one.step().unwrap();
    assert!((left(&one, "r1") - 0.001).abs() < 1e-12);
    one.step().unwrap();
    assert!((left(&one, "r1") - 0.002).abs() < 1e-12);
}

#[test]
fn constructors_of_cpp_run_once() {
    let folder = Folder::new("cpp", "");
    let code = "#include \"rio.h\"\n#include \"registers.h\"
        struct Counter { int n; Counter() : n((int)rio_tick_us() / 100000 + 40) {} };
        static Counter counter;
        extern \"C\" void robot_step(void) { rio_pokes16(DRIVE_LEFT, (int16_t)counter.n++); }";
    std::fs::write(folder.0.join("bot.cpp"), code).unwrap();
    let text = std::fs::read_to_string(folder.0.join("world.toml")).unwrap();
    std::fs::write(folder.0.join("world.toml"), text.replace("\"bot.c\"", "\"bot.cpp\"")).unwrap();
    let mut one = folder.load();
    let speeds: Vec<f64> = (0..3)
        .map(|_| {
            one.step().unwrap();
            (left(&one, "r1") * 1000.0).round()
        })
        .collect();
    assert_eq!(speeds, [40.0, 41.0, 42.0]);
}
