//! Controllers that are native programs: the same as in the sandbox, replayed from the journal, run
//! again after a restore; and bad ones cost only their own robot.
//!
//! The programs are C, compiled here: these tests need a C compiler, and clang and lld for the sandbox.
#![cfg(target_os = "linux")]

mod common;

use common::{LOOP, WANDER, world};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use swarmyard::base::{Pose2, Uid};
use swarmyard::engine::{Journal, RunEvent};
use swarmyard::part_api::{BadAccess, Cause, Policy};
use swarmyard::{Options, Sim};

fn load(text: &str) -> Sim {
    Sim::from_text(text).unwrap_or_else(|e| panic!("{e}"))
}

/// The class of programs that are waited for: how busy this machine is decides nothing about them.
const WAITED_FOR: &str = "class = \"process\"\npatience = 0";

/// A run of native programs whose decisions have effect at once; `more` is more TOML.
fn native(code: &str, more: &str, count: usize) -> Sim {
    load(&world(code, &format!("{WAITED_FOR}\nthink = 0\n{more}"), count))
}

/// All events of `steps` steps.
fn events(sim: &mut Sim, steps: usize) -> Vec<RunEvent> {
    (0..steps).flat_map(|_| sim.step().unwrap().events).collect()
}

/// Who failed how: (robot, cause, what follows, message, last lines).
fn failures(events: &[RunEvent]) -> Vec<(Uid, Cause, Policy, String, Vec<String>)> {
    let failed = events.iter().filter_map(|e| match e {
        RunEvent::Failed { robot, failure, then, lines, .. } => {
            Some((*robot, failure.cause, *then, failure.message.clone(), lines.clone()))
        }
        _ => None,
    });
    failed.collect()
}

fn causes(events: &[RunEvent]) -> Vec<(Cause, Policy)> {
    failures(events).into_iter().map(|f| (f.1, f.2)).collect()
}

fn said(events: &[RunEvent]) -> Vec<&str> {
    let said = events.iter().filter_map(|e| match e {
        RunEvent::Said { text, .. } => Some(text.as_str()),
        _ => None,
    });
    said.collect()
}

fn hashes(sim: &mut Sim, steps: usize) -> Vec<u64> {
    (0..steps).map(|_| sim.step().unwrap().hash).collect()
}

fn left(sim: &Sim, robot: &str) -> f64 {
    sim.channel(&format!("/robots/{robot}/drive"), "left").unwrap()[0]
}

/// Processes that this one started and that still run, at any depth.
fn below() -> Vec<u32> {
    let parent = |pid: u32| -> Option<u32> {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let rest = stat.rsplit_once(')')?.1;
        let words: Vec<&str> = rest.split_whitespace().collect();
        if words[0] == "Z" { None } else { words[1].parse().ok() }
    };
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let mine = pids.filter(|&pid| {
        let mut above = parent(pid);
        while let Some(p) = above.filter(|p| *p > 1) {
            if p == std::process::id() {
                return true;
            }
            above = parent(p);
        }
        false
    });
    mine.collect()
}

/// Processes whose program is a file made by the process `pid`.
fn made_by(pid: u32) -> Vec<u32> {
    let name = format!("swarmyard-program-{pid}-");
    let all = std::fs::read_dir("/proc").unwrap().flatten();
    let named = all.filter_map(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        String::from_utf8_lossy(&line).contains(&name).then(|| entry.file_name().to_str()?.parse().ok())?
    });
    named.collect()
}

/// Files of programs made by the process `pid`.
fn files_of(pid: u32) -> Vec<PathBuf> {
    let name = format!("swarmyard-program-{pid}-");
    let all = std::fs::read_dir(std::env::temp_dir()).unwrap().flatten();
    let made = all.filter(|entry| entry.file_name().to_string_lossy().starts_with(&name));
    made.map(|entry| entry.path()).collect()
}

/// Tests that look for what is left of them run alone, in a copy of this program: others start
/// processes at the same time.
fn alone(test: &str, body: impl FnOnce()) {
    if std::env::var_os("SWARMYARD_ALONE").is_some() {
        body();
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("SWARMYARD_ALONE", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// Nothing runs below this process, and no file of a program is left. What was killed may need a moment.
fn nothing_left(what: &str) {
    let begun = Instant::now();
    while !below().is_empty() || !made_by(std::process::id()).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(60), "{what} left running: {:?}", below());
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(files_of(std::process::id()).is_empty(), "{what} left files");
}

#[test]
fn sandbox_shared_memory_and_pipes_give_the_same_poses() {
    for code in [WANDER, LOOP] {
        for think in ["0", "\"150ms\""] {
            let poses = |class: &str| -> Vec<Pose2> {
                let mut sim = load(&world(code, &format!("{class}\nthink = {think}"), 3));
                let mut all = Vec::new();
                for _ in 0..80 {
                    sim.step().unwrap();
                    all.extend(["r1", "r2", "r3"].map(|r| sim.pose(&format!("/robots/{r}")).unwrap()));
                }
                all
            };
            let sandbox = poses("class = \"program\"");
            assert!(sandbox[0] != sandbox[237], "it moves");
            let process = |transport: &str| poses(&format!("{WAITED_FOR}\ntransport = \"{transport}\""));
            assert_eq!(process("shared"), sandbox, "shared {think}");
            assert_eq!(process("pipes"), sandbox, "pipes {think}");
        }
    }
}

/// Hashes of a replay, which must start nothing.
fn replayed(text: &str, journal: &Journal, steps: usize) -> Vec<u64> {
    let mut sim = load(text);
    sim.set_journal(journal.clone()).unwrap();
    let hashes = hashes(&mut sim, steps);
    assert!(below().is_empty() && files_of(std::process::id()).is_empty(), "a replay starts programs");
    hashes
}

#[test]
fn a_journal_replays_without_any_process() {
    alone("a_journal_replays_without_any_process", || {
        for class in ["think = 0", "think = 0.15\ntransport = \"pipes\"", "# as measured"] {
            let text = world(WANDER, &format!("class = \"process\"\n{class}"), 3);
            let mut sim = load(&text);
            let live = hashes(&mut sim, 60);
            assert_eq!(made_by(std::process::id()).len(), 3, "one process per robot");
            let journal = sim.journal().clone();
            drop(sim);
            nothing_left(class);
            assert_eq!(replayed(&text, &journal, 60), live, "{class}");
        }
    });
}

#[test]
fn failures_replay_from_the_journal_too() {
    let code = "#include <unistd.h>\nvoid robot_step(void) { drive(300, 300); rio_peek8(0x99); if (rio_ticks() == 3) usleep(300000); if (rio_ticks() == 9) __builtin_trap(); }";
    let text = world(code, "class = \"process\"\nthink = 0\npatience = 0.1\non_crash = \"restart\"", 2);
    let mut sim = load(&text);
    let live: Vec<_> = (0..20).map(|_| sim.step().unwrap()).collect();
    let mut again = load(&text);
    again.set_journal(sim.journal().clone()).unwrap();
    assert_eq!((0..20).map(|_| again.step().unwrap()).collect::<Vec<_>>(), live);
}

#[test]
fn after_a_restore_programs_are_run_again_from_what_they_saw() {
    for (code, transport) in [(WANDER, "shared"), (LOOP, "pipes")] {
        let text = world(code, &format!("{WAITED_FOR}\nthink = 0\ntransport = \"{transport}\""), 2);
        let mut sim = load(&text);
        hashes(&mut sim, 25);
        let middle = sim.snapshot();
        let first = hashes(&mut sim, 25);
        sim.restore(&middle).unwrap();
        assert_eq!(hashes(&mut sim, 25), first, "{transport}");
        let mut other = load(&text);
        other.restore(&middle).unwrap();
        assert_eq!(hashes(&mut other, 25), first, "{transport}, in another run");
    }
}

#[test]
fn a_program_that_does_not_repeat_itself_is_named_and_costs_only_its_own_robot() {
    // Only r1 has a wall to its right: it alone looks at what differs from run to run.
    let code = "#include <unistd.h>\nvoid robot_step(void) { drive(100 + (rio_peek16(SONAR_RANGE_AT(3)) > 1200 ? getpid() % 1000 : 0), 100); }";
    let text = world(code, &format!("{WAITED_FOR}\nthink = 0"), 3).replace("[-5, -5]", "[-5, -1.5]");
    let mut sim = load(&text);
    hashes(&mut sim, 5);
    let middle = sim.snapshot();
    sim.restore(&middle).unwrap();
    let failed = failures(&events(&mut sim, 5));
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, Uid::of_path("/robots/r1"));
    assert!(
        failed[0].3.contains("run again from the start, the program does not do at tick 0"),
        "{failed:?}"
    );
    assert!(left(&sim, "r1") == 0.0 && left(&sim, "r2") > 0.0);
}

/// Seconds that a silent program is waited for: those that are not silent must not be taken for it on a busy machine.
const PATIENCE: u32 = 3;
/// Longer than any test takes, in seconds.
const FOR_EVER: u32 = 1000;

/// Is silent in tick 3, for as long as that takes, and then goes on.
fn sleeper(seconds: u32) -> String {
    format!(
        "#include <unistd.h>\nvoid robot_step(void) {{ drive(100 + (int)rio_ticks(), 100); if (rio_ticks() == 3 && rio_peek16(SONAR_RANGE_AT(3)) > 1200) sleep({seconds}); }}"
    )
}

/// Robot r1 sleeps in tick 3, r2 and r3 do not.
fn silent(policy: &str, seconds: u32) -> Sim {
    let class = format!("class = \"process\"\nthink = 0\npatience = {PATIENCE}\non_silence = \"{policy}\"");
    load(&world(&sleeper(seconds), &class, 3).replace("[-5, -5]", "[-5, -1.5]"))
}

#[test]
fn a_silent_program_is_reported_once_and_its_commands_stay() {
    let mut sim = silent("hold", FOR_EVER);
    let begun = Instant::now();
    let all = events(&mut sim, 120);
    assert!(begun.elapsed() < Duration::from_secs(60), "it is waited for once, not 117 times");
    let failed = failures(&all);
    assert_eq!(causes(&all), [(Cause::Silence, Policy::Hold)]);
    assert_eq!((failed[0].0, failed[0].3.as_str()), (Uid::of_path("/robots/r1"), "no answer for 3 s"));
    assert!((left(&sim, "r1") - 0.102).abs() < 1e-12, "the last commands before stay");
    assert!((left(&sim, "r2") - 0.219).abs() < 1e-12, "others go on");
}

#[test]
fn a_late_answer_is_not_taken_for_a_new_one() {
    let mut sim = silent("hold", 2 * PATIENCE);
    let all = events(&mut sim, 4);
    assert_eq!(causes(&all), [(Cause::Silence, Policy::Hold)]);
    let (held, begun) = (left(&sim, "r1"), Instant::now());
    // Its commands stay until it answers something; that is what it was asked last.
    let tick = loop {
        let tick = sim.state().stops;
        assert_eq!(causes(&events(&mut sim, 1)), []);
        if left(&sim, "r1") != held {
            break tick;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not wake up");
        std::thread::sleep(Duration::from_millis(100));
    };
    assert!(tick > 3, "{tick}");
    assert!((left(&sim, "r1") - (0.1 + 0.001 * tick as f64)).abs() < 1e-12, "it answers what it was asked");
    // Run again from what it saw, which leaves out the quanta it slept through.
    let middle = sim.snapshot();
    let first = hashes(&mut sim, 5);
    sim.restore(&middle).unwrap();
    assert_eq!(hashes(&mut sim, 5), first);
}

#[test]
fn a_silent_program_is_still_silent_after_a_restore() {
    let mut sim = silent("hold", FOR_EVER);
    events(&mut sim, 6);
    let middle = sim.snapshot();
    sim.restore(&middle).unwrap();
    assert_eq!(causes(&events(&mut sim, 4)), [], "which has been reported");
    assert!((left(&sim, "r1") - 0.102).abs() < 1e-12 && (left(&sim, "r2") - 0.109).abs() < 1e-12);
}

#[test]
fn every_policy_follows_silence() {
    let mut sim = silent("halt", FOR_EVER);
    assert_eq!(causes(&events(&mut sim, 6)), [(Cause::Silence, Policy::Halt)]);
    assert!(left(&sim, "r1") == 0.0 && left(&sim, "r2") > 0.1 && sim.state().accounts.halts == 1);
    let mut sim = silent("restart", FOR_EVER);
    assert_eq!(causes(&events(&mut sim, 6)), [(Cause::Silence, Policy::Restart)]);
    assert!((left(&sim, "r1") - 0.105).abs() < 1e-12, "a new one goes on");
    let mut sim = silent("end", FOR_EVER);
    assert_eq!(causes(&events(&mut sim, 4)), [(Cause::Silence, Policy::End)]);
    assert!(sim.is_over() && sim.state().ended);
}

#[test]
fn crash_exit_and_abort_are_told_with_the_last_lines() {
    let last = |end: &str| {
        let code = format!(
            "#include <stdlib.h>\n#include <stdio.h>\nvoid robot_step(void) {{ drive(300, 300); rio_log_int(\"tick\", (int)rio_ticks()); if (rio_ticks() == 2) {{ fprintf(stderr, \"about to fall\\n\"); {end} }} }}"
        );
        let all = events(&mut native(&code, "", 1), 5);
        assert_eq!(causes(&all), [(Cause::Crash, Policy::Halt)], "{end}");
        assert_eq!(said(&all)[..2], ["tick 0", "tick 1"], "{end}: each line once");
        failures(&all).remove(0)
    };
    for (end, message) in [
        ("exit(3);", "ended by itself with code 3"),
        ("abort();", "SIGABRT"),
        ("*(volatile int *)8 = 1;", "SIGSEGV"),
    ] {
        let failure = last(end);
        assert!(failure.3.contains(message), "{failure:?}");
        assert_eq!(failure.4.last().unwrap(), "about to fall", "{failure:?}");
        assert_eq!(failure.4.iter().filter(|l| *l == "tick 1").count(), 1, "{failure:?}");
    }
}

#[test]
fn every_policy_follows_a_crash() {
    let code = "void robot_step(void) { drive(300, 300); if (rio_ticks() == 2) __builtin_trap(); }";
    let crash = |policy: &str| {
        let mut sim = native(code, &format!("on_crash = \"{policy}\""), 2);
        let all = events(&mut sim, 6);
        (sim, all)
    };
    let x = |sim: &Sim| sim.pose("/robots/r1").unwrap().at.x;
    let (sim, all) = crash("hold");
    assert_eq!(causes(&all), [(Cause::Crash, Policy::Hold); 2]);
    assert!((x(&sim) - 0.18).abs() < 1e-9, "its last commands stay");
    let (sim, all) = crash("halt");
    assert_eq!(causes(&all), [(Cause::Crash, Policy::Halt); 2]);
    assert!((x(&sim) - 0.06).abs() < 1e-9, "halted for good");
    let (sim, all) = crash("restart");
    assert_eq!(
        causes(&all),
        [(Cause::Crash, Policy::Restart); 2],
        "the new one does not see the old one's past"
    );
    assert!((x(&sim) - 0.18).abs() < 1e-9);
    let (sim, _) = crash("end");
    assert!(sim.is_over() && sim.state().ended);
}

#[test]
fn bad_accesses_are_reported_once_each_and_reads_too() {
    let code = "void robot_step(void) { drive(100, 100); rio_peek8(0x99); rio_poke16(0x11, 1); rio_poke16(SONAR_RANGE, 1); }";
    for transport in ["shared", "pipes"] {
        let mut sim = native(code, &format!("transport = \"{transport}\""), 2);
        let all = events(&mut sim, 10);
        let of = |robot: &str| -> Vec<(u32, BadAccess)> {
            let uid = Uid::of_path(robot);
            let bad = all.iter().filter_map(|e| match e {
                RunEvent::BadAccess { robot, access, .. } if *robot == uid => {
                    Some((access.address, access.why))
                }
                _ => None,
            });
            bad.collect()
        };
        let mut one = of("/robots/r1");
        one.sort_unstable();
        let sites = [(0x10, BadAccess::ReadOnly), (0x11, BadAccess::Misaligned), (0x99, BadAccess::Unmapped)];
        assert_eq!(one, sites, "{transport}");
        assert!((left(&sim, "r2") - 0.1).abs() < 1e-12, "the rest of the step counts");
    }
}

#[test]
fn a_bad_register_may_start_it_anew() {
    let code = "static int steps; void robot_step(void) { drive(100 + steps++, 100); if (rio_ticks() == 3) rio_peek8(0x99); }";
    let mut sim = native(code, "on_bad_register = \"restart\"", 1);
    assert_eq!(causes(&events(&mut sim, 6)), [(Cause::BadRegister, Policy::Restart)]);
    assert!((left(&sim, "r1") - 0.101).abs() < 1e-12, "{}", left(&sim, "r1"));
}

#[test]
fn a_value_that_does_not_fit_is_told_once_and_not_written() {
    let mut sim = script(
        "wide",
        "#!/bin/sh\necho 'rio 1'\nwhile read -r word tick rest; do case \"$word\" in tick) echo 'poke16 0x20 100'; echo 'poke16 0x20 70000'; echo \"done $tick\";; stop) exit 0;; esac; done\n",
    );
    let all = events(&mut sim, 5);
    assert_eq!(said(&all), ["(a value for 0x20 does not fit 16 bits and was not written)"]);
    assert!((left(&sim, "r1") - 0.1).abs() < 1e-12);
}

/// A run with a program that is a script, started as it stands.
fn script(name: &str, text: &str) -> Sim {
    use std::os::unix::fs::PermissionsExt as _;
    let folder =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("natives-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("program.sh");
    std::fs::write(&program, text).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let world = world("", "class = \"process\"\nthink = 0\npatience = 0\nsource = \"program.sh\"", 1);
    let (before, after) = world.split_once("code = '''").unwrap();
    let world = format!("{before}{}", after.split_once("'''").unwrap().1);
    std::fs::write(folder.join("world.toml"), world).unwrap();
    Sim::load(folder.join("world.toml"), &Options::default()).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn code_of_native_programs_cannot_change_in_a_run() {
    let mut sim = native(WANDER, "", 1);
    sim.step().unwrap();
    let Err(problem) = sim.reload("bot", "controller") else { panic!("it was reloaded") };
    assert!(problem.to_string().contains("is a native program, which cannot change in a run"), "{problem}");
    sim.step().unwrap();
}

/// A hostile program, `r1`, among three good robots; the good ones' poses after every step, and what
/// was told.
fn among_good_ones(code: &str, more: &str) -> (Vec<Pose2>, Vec<RunEvent>) {
    let good = r#"
[type.good]
radius = "10cm"
[[type.good.part]]
name = "drive"
class = "diff-drive"
slip = "5%"
[type.good.controller]
class = "cruise"
left = 0.3
right = 0.35
[[robot]]
name = "good"
type = "good"
at = [2, 0]
count = 3
layout = { class = "row", step = [0, 1] }
"#;
    let class = format!("class = \"process\"\nthink = 0\npatience = {PATIENCE}\n{more}");
    let mut sim = load(&(world(code, &class, 1) + good));
    let (mut poses, mut all) = (Vec::new(), Vec::new());
    for _ in 0..10 {
        all.extend(sim.step().unwrap().events);
        poses.extend(["good1", "good2", "good3"].map(|r| sim.pose(&format!("/robots/{r}")).unwrap()));
    }
    sim.finish();
    (poses, all)
}

/// Ten kinds of hostile programs: (what it does, more TOML, code).
const HOSTILE: [(&str, &str, &str); 12] = [
    ("hangs", "", "void robot_step(void) { for (;;) {} }"),
    ("exits at once", "", "int main(void) { return 0; }"),
    ("segfaults", "", "void robot_step(void) { *(volatile int *)8 = 1; }"),
    (
        "aborts mid-step",
        "",
        "#include <stdlib.h>\nvoid robot_step(void) { drive(1, 1); if (rio_ticks() == 2) abort(); }",
    ),
    (
        "scribbles over memory",
        "",
        "#include <stdlib.h>\n#include <string.h>\n#include <sys/mman.h>\n#include <sys/stat.h>\nvoid robot_step(void) { struct stat s; int fd = atoi(getenv(\"RIO_FD\")); if (fstat(fd, &s) != 0) { exit(4); } void *m = mmap(0, (size_t)s.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0); memset(m, 0xa5, (size_t)s.st_size); for (;;) {} }",
    ),
    (
        "garbage for lines",
        "transport = \"lines\"",
        "#include <stdio.h>\nint main(void) { for (int k = 0; k < 1000; k++) printf(\"garbage %d\\n\", k); return 0; }",
    ),
    (
        "garbage for records",
        "transport = \"pipes\"",
        "#include <stdio.h>\nint main(void) { for (int k = 0; k < 1000; k++) printf(\"garbage %d\\n\", k); return 0; }",
    ),
    (
        "floods stderr",
        "",
        "#include <stdio.h>\nvoid robot_step(void) { for (;;) fprintf(stderr, \"all work and no play\\n\"); }",
    ),
    (
        "forks children that survive",
        "",
        "#include <unistd.h>\nvoid robot_step(void) { if (fork() == 0) { setsid(); if (fork() == 0) for (;;) sleep(100); _exit(0); } if (rio_ticks() == 3) _exit(0); }",
    ),
    (
        "allocates without end",
        "memory = 100000000",
        "#include <stdlib.h>\n#include <string.h>\nvoid robot_step(void) { for (;;) memset(malloc(1 << 20), 1, 1 << 20); }",
    ),
    ("forks without end", "tasks = 16", "#include <unistd.h>\nvoid robot_step(void) { for (;;) fork(); }"),
    (
        "ignores the stop request",
        "",
        "#include <signal.h>\n#include <unistd.h>\nvoid robot_setup(void) { signal(SIGTERM, SIG_IGN); signal(SIGHUP, SIG_IGN); }\nvoid robot_step(void) { drive(1, 1); }\nvoid robot_stop(void) { for (;;) sleep(100); }",
    ),
];

#[test]
fn hostile_programs_cost_only_their_own_robot_and_leave_nothing() {
    alone("hostile_programs_cost_only_their_own_robot_and_leave_nothing", || {
        let (quiet, _) = among_good_ones("void robot_step(void) {}", "");
        for (what, more, code) in HOSTILE {
            let (poses, all) = among_good_ones(code, more);
            assert_eq!(poses, quiet, "{what}: the others are as without it");
            let obeys = what == "ignores the stop request";
            assert_eq!(failures(&all).len(), usize::from(!obeys), "{what}: {all:?}");
            nothing_left(what);
        }
    });
}

#[test]
fn nothing_runs_on_after_a_run_was_killed() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("natives-kill-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let code = "#include <unistd.h>\nvoid robot_setup(void) { if (fork() == 0) { setsid(); for (;;) sleep(100); } }\nvoid robot_step(void) { drive(1, 1); }";
    std::fs::write(folder.join("world.toml"), world(code, "class = \"process\"\nthink = 0", 3)).unwrap();
    let mut run = Command::new(env!("CARGO_BIN_EXE_swarmyard"))
        .args(["run", "world.toml", "--rtf", "1", "--until", "1h", "--no-record"])
        .current_dir(&folder)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while made_by(run.id()).len() < 6 {
        assert!(begun.elapsed() < Duration::from_secs(60), "three programs and what they forked");
        std::thread::sleep(Duration::from_millis(20));
    }
    run.kill().unwrap();
    run.wait().unwrap();
    while !made_by(run.id()).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(120), "left running: {:?}", made_by(run.id()));
        std::thread::sleep(Duration::from_millis(5));
    }
    // The file of its program stays: nobody was left to remove it.
    let files = files_of(run.id());
    assert_eq!(files.len(), 1);
    files.iter().for_each(|file| std::fs::remove_file(file).unwrap());
    std::fs::remove_dir_all(folder).unwrap();
}
