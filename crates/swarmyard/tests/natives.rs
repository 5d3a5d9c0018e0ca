//! Controllers that are native processes, through the simulator: what they decide is journalled, what
//! becomes of bad ones costs only their own robot, and nothing is left running.
//!
//! The programs are C, compiled here: these tests need a C compiler and clang.

use std::time::{Duration, Instant};
use swarmyard::engine::{Frame, RunEvent};
use swarmyard::part_api::{BadAccess, Cause, Policy};
use swarmyard::{Error, Sim};

/// One robot with a program (`class` and more TOML in `controller`), and three that drive by themselves.
fn world(code: &str, controller: &str) -> String {
    format!(
        r#"
format = 1
[run]
quantum = "100ms"
duration = "10s"
[world]
min = [-5, -5]
max = [5, 5]

[type.bot]
radius = "10cm"
[[type.bot.part]]
name = "drive"
class = "diff-drive"
[[type.bot.part]]
name = "sonar"
class = "sonar"
range = "3m"
[[type.bot.part]]
name = "dice"
class = "dice"
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
[[type.bot.register]]
part = "dice"
channel = "value"
at = 0x30
width = 32
[type.bot.controller]
{controller}
code = '''
#include "rio.h"
#include "registers.h"
static void drive(int left, int right) {{ rio_pokes16(DRIVE_LEFT, (int16_t)left); rio_pokes16(DRIVE_RIGHT, (int16_t)right); }}
{code}
'''

[type.good]
radius = "10cm"
[[type.good.part]]
name = "drive"
class = "diff-drive"
[type.good.controller]
class = "cruise"
left = 0.2
right = 0.25

[[robot]]
name = "r"
type = "bot"
at = [0, -2]
[[robot]]
name = "g"
type = "good"
count = 3
at = [0, 1]
layout = {{ class = "row", step = [0, 1.2] }}
"#
    )
}

fn sim(code: &str, controller: &str) -> Sim {
    Sim::from_text(&world(code, controller)).unwrap_or_else(|e| panic!("{e}"))
}

const PROCESS: &str = "class = \"process\"\nthink = 0";

fn steps(sim: &mut Sim, n: usize) -> Vec<Frame> {
    (0..n).map(|_| sim.step().unwrap()).collect()
}

fn failures(frames: &[Frame]) -> Vec<(Cause, Policy)> {
    let failed = frames.iter().flat_map(|f| &f.events).filter_map(|e| match e {
        RunEvent::Failed { failure, then, .. } => Some((failure.cause, *then)),
        _ => None,
    });
    failed.collect()
}

fn left(sim: &Sim) -> f64 {
    sim.channel("/robots/r/drive", "left").unwrap()[0]
}

/// Processes whose program was written by this test process.
fn ours() -> Vec<String> {
    let mark = format!("swarmyard-program-{}-", std::process::id());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        if line.contains(&mark) {
            found.push(line);
        }
    }
    found
}

/// Wanders by sonar and dice, in both styles.
const WANDER: &str = "
static int turn;
static void round_(void) {
    unsigned noise = rio_peek32(DICE_VALUE) ^ rio_peek32(DICE_VALUE);
    if (rio_peek16(SONAR_RANGE) < 600) turn = 5 + (int)(noise >> 29);
    if (turn > 0) { turn--; drive(150, -150); } else drive(400 + (int)(noise >> 27), 400);
}";

fn by_functions() -> String {
    format!("{WANDER}\nvoid robot_setup(void) {{ turn = 3; }}\nvoid robot_step(void) {{ round_(); }}")
}

fn by_loop() -> String {
    format!(
        "{WANDER}\nint main(void) {{ rio_init(); turn = 3; while (rio_wait()) round_(); rio_done(); return 0; }}"
    )
}

#[test]
fn one_source_goes_the_same_way_in_the_sandbox_and_as_a_process() {
    for code in [by_functions(), by_loop()] {
        for think in ["think = 0", "think = \"150ms\""] {
            let mut sandbox = sim(&code, &format!("class = \"program\"\n{think}"));
            let mut shared = sim(&code, &format!("class = \"process\"\n{think}"));
            let mut pipes = sim(&code, &format!("class = \"process\"\ntransport = \"pipes\"\n{think}"));
            for tick in 0..60 {
                for sim in [&mut sandbox, &mut shared, &mut pipes] {
                    sim.step().unwrap();
                }
                let pose = sandbox.pose("/robots/r");
                assert_eq!(
                    (shared.pose("/robots/r"), pipes.pose("/robots/r")),
                    (pose, pose),
                    "tick {tick}, {think}"
                );
            }
            assert!(sandbox.pose("/robots/r").unwrap().at.x > 0.2, "it went somewhere");
        }
    }
}

#[test]
fn a_journal_replays_to_the_bit_and_starts_nothing() {
    // Think time as measured: different in every run, the same in every replay.
    for controller in [PROCESS, "class = \"process\""] {
        let mut live = sim(&by_functions(), controller);
        let hashes: Vec<u64> = steps(&mut live, 40).iter().map(|f| f.hash).collect();
        let journal = live.journal().clone();
        drop(live);
        let mut replay = sim(&by_functions(), controller);
        replay.set_journal(journal).unwrap();
        let again: Vec<u64> = steps(&mut replay, 40).iter().map(|f| f.hash).collect();
        assert_eq!(again, hashes);
    }
}

#[test]
fn a_restored_program_is_run_again_through_its_past() {
    let mut one = sim(&by_loop(), PROCESS);
    steps(&mut one, 20);
    let middle = one.snapshot();
    let first: Vec<u64> = steps(&mut one, 20).iter().map(|f| f.hash).collect();
    one.restore(&middle).unwrap();
    let second: Vec<u64> = steps(&mut one, 20).iter().map(|f| f.hash).collect();
    assert_eq!(first, second);
    // Also where it never ran before: the snapshot has its past.
    let mut other = sim(&by_loop(), PROCESS);
    other.restore(&middle).unwrap();
    let third: Vec<u64> = steps(&mut other, 20).iter().map(|f| f.hash).collect();
    assert_eq!(first, third);
}

#[test]
fn a_replay_goes_live_where_its_journal_ends() {
    let mut live = sim(&by_functions(), PROCESS);
    let hashes: Vec<u64> = steps(&mut live, 40).iter().map(|f| f.hash).collect();
    let mut journal = live.journal().clone();
    journal.cut_from(25);
    let mut replay = sim(&by_functions(), PROCESS);
    replay.set_journal(journal).unwrap();
    let again: Vec<u64> = steps(&mut replay, 40).iter().map(|f| f.hash).collect();
    assert_eq!(again, hashes);
}

#[test]
fn a_program_that_cannot_repeat_itself_is_found_out() {
    // Its speed depends on the process it is.
    let code = "int getpid(void); void robot_step(void) { drive(getpid() % 30000, 0); }";
    let mut one = sim(code, PROCESS);
    steps(&mut one, 5);
    let middle = one.snapshot();
    one.restore(&middle).unwrap();
    let frames = steps(&mut one, 3);
    assert_eq!(failures(&frames), [(Cause::Crash, Policy::Halt)]);
    let message = frames.iter().flat_map(|f| &f.events).find_map(|e| match e {
        RunEvent::Failed { failure, .. } => Some(failure.message.clone()),
        _ => None,
    });
    assert!(message.unwrap().contains("does not do at tick 0 what it did"), "the message names the tick");
}

#[test]
fn silence_is_told_once_and_every_policy_follows() {
    let code = "#include <unistd.h>\nvoid robot_step(void) { drive(300, 300); if (rio_ticks() == 3) for (;;) pause(); }";
    let silent = |policy: &str| {
        let mut sim = sim(code, &format!("{PROCESS}\npatience = 0.1\non_silence = \"{policy}\""));
        let frames = steps(&mut sim, 8);
        (sim, frames)
    };
    let (sim, frames) = silent("hold");
    assert_eq!(failures(&frames), [(Cause::Silence, Policy::Hold)]);
    assert!((sim.pose("/robots/r").unwrap().at.x - 0.24).abs() < 1e-9, "its last commands stay");
    let (sim, frames) = silent("halt");
    assert_eq!(failures(&frames), [(Cause::Silence, Policy::Halt)]);
    assert!((sim.pose("/robots/r").unwrap().at.x - 0.09).abs() < 1e-9, "it stands");
    let (_, frames) = silent("restart");
    assert_eq!(failures(&frames), [(Cause::Silence, Policy::Restart)]);
    let (sim, _) = silent("end");
    assert!(sim.is_over());
}

#[test]
fn a_late_answer_is_not_taken_for_the_next_one() {
    let code = "#include <unistd.h>\nvoid robot_step(void) { if (rio_ticks() == 2) usleep(400000); drive((int)rio_ticks() + 1, 0); }";
    let mut one = sim(code, &format!("{PROCESS}\npatience = 0.1"));
    let mut speeds = Vec::new();
    for _ in 0..3 {
        one.step().unwrap();
        speeds.push((left(&one) * 1000.0).round());
    }
    // Tick 2 was given up: its commands are those of tick 1. It sleeps on, then answers tick 2, which
    // is thrown away, and is asked for the tick of then.
    assert_eq!(speeds, [1.0, 2.0, 2.0]);
    let until = Instant::now() + Duration::from_secs(5);
    while (left(&one) * 1000.0).round() < 4.0 {
        assert!(Instant::now() < until, "it never came back");
        let tick = one.state().stops;
        one.step().unwrap();
        let speed = (left(&one) * 1000.0).round();
        assert!(speed == 2.0 || speed == tick as f64 + 1.0, "tick {tick} has speed {speed}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn last_words_and_bad_registers_are_reported() {
    let code = "#include <stdio.h>\n#include <stdlib.h>\nvoid robot_step(void) { drive(100, 100); rio_peek8(0x99); rio_poke16(0x21, 5); printf(\"tick %u\\n\", rio_ticks()); fflush(stdout); if (rio_ticks() == 4) abort(); }";
    let mut one = sim(code, PROCESS);
    let frames = steps(&mut one, 8);
    assert_eq!(failures(&frames), [(Cause::Crash, Policy::Halt)]);
    let (message, lines) = frames
        .iter()
        .flat_map(|f| &f.events)
        .find_map(|e| match e {
            RunEvent::Failed { failure, lines, .. } => Some((failure.message.clone(), lines.clone())),
            _ => None,
        })
        .unwrap();
    assert!(message.contains("signal 6"), "{message}");
    assert!(lines.iter().any(|l| l == "tick 3"), "{lines:?}");
    let mut bad: Vec<(u32, BadAccess)> = frames
        .iter()
        .flat_map(|f| &f.events)
        .filter_map(|e| match e {
            RunEvent::BadAccess { access, .. } => Some((access.address, access.why)),
            _ => None,
        })
        .collect();
    bad.sort();
    assert_eq!(bad, [(0x21, BadAccess::Misaligned), (0x99, BadAccess::Unmapped)], "each site once");
}

/// Programs that do what programs must not.
const HOSTILE: [(&str, &str); 12] = [
    ("hangs", "void robot_step(void) { for (;;) {} }"),
    ("exits at once", "#include <stdlib.h>\nvoid robot_setup(void) { exit(0); } void robot_step(void) {}"),
    ("falls", "void robot_step(void) { *(volatile int *)8 = 1; }"),
    (
        "aborts in its third step",
        "#include <stdlib.h>\nvoid robot_step(void) { if (rio_ticks() == 2) abort(); }",
    ),
    (
        "writes all over itself",
        "#include <string.h>\nvoid robot_step(void) { char c; memset(&c - 4096, 0xee, 1 << 20); }",
    ),
    (
        "writes garbage to stdout",
        "#include <unistd.h>\nvoid robot_step(void) { for (int k = 0; k < 1000; k++) if (write(1, \"\\xff\\0garbage\\n\", 11) < 0) return; }",
    ),
    (
        "floods stderr",
        "#include <stdio.h>\nvoid robot_step(void) { for (int k = 0; k < 100000; k++) fprintf(stderr, \"line %d\\n\", k); }",
    ),
    (
        "leaves children",
        "#include <unistd.h>\nvoid robot_setup(void) { for (int k = 0; k < 3; k++) if (fork() == 0) { setsid(); for (;;) pause(); } } void robot_step(void) {}",
    ),
    (
        "allocates without end",
        "#include <stdlib.h>\n#include <string.h>\nvoid robot_step(void) { for (;;) { char *p = malloc(1 << 24); if (!p) abort(); memset(p, 1, 1 << 24); } }",
    ),
    ("pokes without end", "void robot_step(void) { for (;;) rio_poke16(DRIVE_LEFT, 1); }"),
    (
        "does not stop when asked",
        "#include <signal.h>\n#include <unistd.h>\nvoid robot_setup(void) { signal(SIGTERM, SIG_IGN); } void robot_step(void) { drive(9, 9); } void robot_stop(void) { for (;;) pause(); }",
    ),
    (
        "closes everything",
        "#include <unistd.h>\nvoid robot_step(void) { for (int k = 0; k < 64; k++) close(k); }",
    ),
];

#[test]
fn twelve_hostile_programs_cost_only_their_own_robot_and_leave_nothing() {
    let good = |sim: &Sim| ["/robots/g1", "/robots/g2", "/robots/g3"].map(|g| sim.pose(g).unwrap());
    let mut alone = sim("void robot_step(void) {}", "class = \"program\"");
    steps(&mut alone, 10);
    for (what, code) in HOSTILE {
        for transport in ["shared", "pipes"] {
            let limits = "patience = 0.15\nmemory = 268435456\ntasks = 8";
            let controller = format!("{PROCESS}\ntransport = \"{transport}\"\n{limits}");
            let mut sim = sim(code, &controller);
            steps(&mut sim, 10);
            assert_eq!(good(&sim), good(&alone), "{what}, {transport}");
            sim.finish();
        }
    }
    let until = Instant::now() + Duration::from_secs(5);
    while !ours().is_empty() && Instant::now() < until {
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(ours(), Vec::<String>::new());
}

#[test]
fn a_process_needs_a_program_that_can_be_started() {
    let text = world("", PROCESS).replace("code = '''", "source = \"nothing.py\"\nx = '''");
    let (before, rest) = text.split_once("x = '''").unwrap();
    let text = format!("{before}{}", rest.split_once("'''").unwrap().1);
    // Without files it loads, for a replay, and says why it cannot go on.
    let mut one = Sim::from_text(&text).unwrap();
    let frames = steps(&mut one, 1);
    assert_eq!(failures(&frames), [(Cause::Crash, Policy::Halt)]);
    let Err(Error::Wrong(d)) = one.reload("bot", "controller") else { panic!("it has no code") };
    assert!(d.message.contains("no code"), "{d:?}");
}
