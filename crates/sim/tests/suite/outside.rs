//! Algorithms whose code is somewhere else: in the sandbox, and in processes of their own.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_agents::Workshop;
use swarmyard_base::Pose2;
use swarmyard_engine::{Note, RunEvent};
use swarmyard_formats::NoFiles;
use swarmyard_part_api::{
    Built, Class, Cx, Indication, Kind, Link, Microprotocol, PortSpec, ProtocolModel, ProtocolPort, Request,
    ServiceKind, Sheet, ToAll, ToRobots, User,
};
use swarmyard_sim::{Options, Scenario, Sim, registry_with};

fn world(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds").join(name)
}

fn load(name: &str, overrides: &[(&str, &str)]) -> Sim {
    let overrides = overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    Sim::load(world(name), &Options { overrides, ..Options::default() }).unwrap_or_else(|e| panic!("{e}"))
}

fn poses(sim: &Sim) -> Vec<Pose2> {
    sim.state().pose.clone()
}

/// Poses at the end of each quantum from here on.
fn rest(sim: &mut Sim) -> Vec<Vec<Pose2>> {
    let mut all = Vec::new();
    while !sim.is_over() {
        sim.step().unwrap_or_else(|e| panic!("{e}"));
        if !sim.state().is_mid() {
            all.push(poses(sim));
        }
    }
    all
}

/// Everything that robots say to the end, and every failure of their programs: (number, text).
pub(crate) fn said(sim: &mut Sim) -> Vec<(u32, String)> {
    sim.take_notes(true);
    told(sim)
}

/// The same, with or without notes.
fn told(sim: &mut Sim) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    while !sim.is_over() {
        let frame = sim.step().unwrap_or_else(|e| panic!("{e}"));
        for event in frame.events {
            match event {
                RunEvent::Live(note) => {
                    if let Note::Said(text) = note.what {
                        all.push((note.robot, text));
                    }
                }
                RunEvent::AlgorithmFailed { robot, why } => {
                    let model = sim.model();
                    let number = model.slot_of(robot).and_then(|slot| model.live.as_ref()?.number(slot));
                    all.push((number.expect("a robot that lives by events"), why));
                }
                _ => {}
            }
        }
    }
    all
}

pub(crate) fn lines_of(said: &[(u32, String)], robot: u32) -> Vec<&str> {
    said.iter().filter(|s| s.0 == robot).map(|s| s.1.as_str()).collect()
}

/// A good robot `a` that goes ten metres ahead, and one whose algorithm is given, both in C; the second's key
/// words are added.
fn with_bad(code: &str, keys: &str) -> Sim {
    let text = format!(
        r#"
format = 1
[run]
quantum = "1s"
duration = "20s"
contact = "ghost"
[network]
class = "constant"
[type.good]
radius = 0.1
[[type.good.part]]
name = "wheels"
class = "wheels"
[type.good.algorithm]
class = "program"
code = '''
#include "swarm.h"
void robot_event(int kind, int a, double x, double y) {{
    (void)a; (void)x; (void)y;
    if (kind == SWARM_START) swarm_forward(10, 1);
    if (kind == SWARM_FINISHED) swarm_say("good");
}}
'''
[type.bad]
radius = 0.1
[[type.bad.part]]
name = "wheels"
class = "wheels"
[[type.bad.part]]
name = "gps"
class = "gps"
[[type.bad.part]]
name = "view"
class = "view"
[[type.bad.part]]
name = "proximity"
class = "proximity"
[type.bad.algorithm]
class = "program"
{keys}
code = '''
#include "swarm.h"
#define E(...) void robot_event(int kind, int a, double x, double y) {{ (void)kind; (void)a; (void)x; (void)y; __VA_ARGS__ }}
{code}
'''
[[robot]]
name = "a"
type = "good"
[[robot]]
name = "b"
type = "bad"
at = [0, 5]
"#
    );
    Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn gathering_in_c_has_the_poses_of_the_built_in_one_to_the_bit() {
    let duration = [("run.duration", "150s")];
    let (mut own, mut c) = (load("gathering.toml", &duration), load("c-gathering.toml", &duration));
    let (own, c) = (rest(&mut own), rest(&mut c));
    assert_eq!(own.len(), 150);
    assert!(own[0] != own[149], "they moved");
    for (k, (a, b)) in own.iter().zip(&c).enumerate() {
        let bits = |p: &[Pose2]| -> Vec<[u64; 3]> {
            p.iter().map(|p| [p.at.x.to_bits(), p.at.y.to_bits(), p.heading.to_bits()]).collect()
        };
        assert_eq!(bits(a), bits(b), "after {} s", k + 1);
    }
}

/// A way that somebody gives up ends as replaced: both look again after a second.
#[test]
fn gathering_in_c_is_made_careful_as_the_built_in_one_is() {
    let text = std::fs::read_to_string(world("reserved-gathering.toml")).expect("it can be read");
    let code = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/controllers/gather.c");
    let code = std::fs::read_to_string(code).expect("it can be read");
    let (before, rest_of) = text.split_once("[type.robot.algorithm]").expect("it has one");
    let (_, after) = rest_of.split_once("\n\n").expect("and robots");
    let with = |algorithm: &str| {
        let text =
            format!("{before}[type.robot.algorithm]\nmotion = \"reservation\"\n{algorithm}\n\n{after}");
        Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"))
    };
    let own = "class = \"gathering\"\nnear = 0.01\nspeed = [3, 6]\nturn_speed = [\"3deg/s\", \"9deg/s\"]";
    let program = format!("class = \"program\"\ncode = '''\n{code}'''");
    let gave_up = told_of(&said(&mut with(own)), "gives up its way");
    assert!(gave_up > 3, "{gave_up} give up: too few to say anything");
    assert_eq!(gave_up, told_of(&said(&mut with(&program)), "gives up its way"));
    assert_eq!(rest(&mut with(own)), rest(&mut with(&program)));
}

fn told_of(said: &[(u32, String)], words: &str) -> usize {
    said.iter().filter(|s| s.1.contains(words)).count()
}

#[test]
fn a_program_goes_on_from_a_snapshot_at_every_event() {
    let overrides = [("run.duration", "60s"), ("robot.p.count", "4")];
    let whole = rest(&mut load("c-gathering.toml", &overrides));
    let mut sim = load("c-gathering.toml", &overrides);
    let mut other = load("c-gathering.toml", &overrides);
    let mut tried = 0;
    while !sim.is_over() {
        sim.step_to_event().expect("steps");
        other.restore(&sim.snapshot()).expect("restores");
        assert_eq!(other.full_hash(), sim.full_hash());
        let end = rest(&mut other);
        assert_eq!(end[..], whole[whole.len() - end.len()..]);
        tried += 1;
    }
    assert!(tried > 70, "{tried} stops");
}

#[test]
fn every_call_of_the_sandbox_does_what_it_says() {
    let code = r#"
static swarm_seen seen[4]; static swarm_coming coming[4]; static double d[4]; static char text[64];
static void check(int ok, const char *what) { if (!ok) swarm_say(what); }
static int watch, timer, dead, moves;
E(
    if (kind == SWARM_START) {
        check(swarm_me() == 1 && swarm_robots() == 2 && swarm_now() == 0, "who");
        check(swarm_gps(0, d) == 1 && d[0] == 0 && d[1] == 5, "gps");
        check(swarm_gps_all(0, seen, 1) == 2 && seen[0].robot == 0 && seen[1].robot == 0, "gps_all");
        check(swarm_view(6, seen, 4) == 1 && seen[0].robot == 0 && seen[0].y == 0, "view");
        check(swarm_view(4, seen, 4) == 0, "view nobody");
        check(swarm_proximity(6, d, 4) == 1 && d[0] > 4.79 && d[0] < 4.81, "proximity");
        check(swarm_proximity_points(6, seen, 4) == 1 && seen[0].robot == 0 && seen[0].x == 0 && seen[0].y > 0.09
            && seen[0].y < 0.11, "proximity points");
        check(swarm_proximity_points(4, seen, 4) == 0 && swarm_sense("nose", d, 0, d, 4) == -1, "no such thing");
        double u = swarm_uniform(3, 4);
        check(u >= 3 && u < 4 && u != swarm_uniform(3, 4), "uniform");
        watch = swarm_watch_near(2, 0);
        timer = swarm_timer(1.5); dead = swarm_timer(1);
        check(watch == 1 && timer == 2 && dead == 3, "numbers");
        swarm_cancel(dead); swarm_shine(7);
        check(swarm_pending(1, coming, 4) >= 1 && coming[0].at == 1.5 && coming[0].what[0] == 't'
            && coming[0].robot == -1, "pending");
        check(swarm_persisted(text, 9) == -1, "nothing yet"); swarm_persist("kept", 4);
        check(swarm_persisted(text, 3) == 4 && text[2] == 'p' && !text[3], "persisted"); text[0] = text[1] = 0;
        check(!swarm_elect() && !swarm_propose(1, "x", 1), "no such protocol");
        swarm_send(1, "me", 2); swarm_send_all("hello", 5); swarm_broadcast("nobody", 6);
        swarm_move_to(8, 0.5, 10, 10);
    } else if (kind == SWARM_MESSAGE) {
        check(a == 1 && x == 2 && swarm_other() == 1 && swarm_message(text, 1) == 2 && text[0] == 'm' && !text[1], "message");
        swarm_say("message");
    } else if (kind == SWARM_TIMER) {
        check(a == timer && swarm_now() == 1.5, "timer"); swarm_say("timer");
    } else if (kind == SWARM_PUSHED) {
        check(a == watch && swarm_other() == 0 && y > 0 && y <= 0.1, "its rim"); swarm_say("pushed"); swarm_unwatch(watch);
    } else if (kind == SWARM_FINISHED) {
        if (moves++ == 0) { swarm_turn(1, 1); swarm_halt(); swarm_arc(1, 1, 1); } else swarm_say("done");
    } else if (kind == SWARM_REPLACED) swarm_say("replaced");
)"#;
    let said = said(&mut with_bad(code, ""));
    let lines = lines_of(&said, 1);
    assert_eq!(lines[0], "no sensor of this robot answers that");
    assert!(
        lines[1].contains("no leader: name a protocol for it, `leader = ")
            && lines[2].contains("no consensus")
    );
    assert_eq!(lines[3..], ["message", "replaced", "timer", "done", "pushed"]);
    assert_eq!(lines_of(&said, 0), ["good"], "it hears the message and does not mind");
}

#[test]
fn a_hostile_program_costs_only_its_robot() {
    for (code, why) in [
        ("E( for (;;) x++; )", "fuel"),
        ("E( for (;;) swarm_gps(0, &x); )", "fuel"),
        (
            "static int f(int n) { volatile int m[64]; m[0] = n; return n ? f(n + 1) + m[0] : 0; } E( f(1); )",
            "",
        ),
        ("E( __builtin_trap(); )", "unreachable"),
        ("static char big[20000]; E( swarm_send_all(big, 20000); )", "20000 bytes"),
        ("static char big[16000]; E( for (;;) swarm_send_all(big, 16000); )", "fuel"),
        ("E( swarm_send_all((void *)4000000000u, 10); )", "pointer"),
        ("E( swarm_send_all(&x, -1); )", "negative"),
        ("E( swarm_gps(0, (double *)65533u); )", "pointer"),
        ("E( swarm_gps_all(0, (void *)4, 2000000000); )", "pointer"),
        ("E( swarm_pending(1, (void *)0xffffffffu, 1); )", "pointer"),
        ("E( swarm_say((char *)0xfffffff0u); )", "pointer"),
        ("E( swarm_message((void *)0xfffffff0u, 100); )", "pointer"),
        ("E( for (;;) swarm_timer(1e-9); )", "fuel"),
        ("E( swarm_sense((char *)0xfffffff0u, &x, 0, &x, 1); )", "pointer"),
        ("E( swarm_sense(\"nose\", &x, 1, (double *)0xfffffff0u, 1); )", "pointer"),
        ("E( swarm_sense(\"nose\", (double *)65530u, 1, &x, 1); )", "pointer"),
        ("E( static double d[100]; swarm_sense(\"nose\", d, 100, d, 100); )", "100 numbers"),
        ("E( swarm_pattern(\"walk\", &x, -1); )", "negative"),
        ("E( swarm_pattern(\"walk\", 0, 2000000000); )", "pointer"),
        (
            "static char name[100]; E( for (int k = 0; k < 100; k++) name[k] = 'x'; swarm_pattern(name, 0, 0); )",
            "64 bytes",
        ),
        ("E( swarm_numbers((double *)0xfffffff0u, 1); )", "pointer"),
        ("static char big[20000]; E( swarm_persist(big, 20000); )", "20000 bytes"),
        ("E( swarm_persist((void *)4000000000u, 10); )", "pointer"),
        ("E( for (;;) swarm_persist(0, 16000); )", "fuel"),
    ] {
        let mut sim = with_bad(code, "");
        let said = said(&mut sim);
        let lines = lines_of(&said, 1);
        assert!(
            lines.last().is_some_and(|l| l.contains("the program failed") && l.contains(why)),
            "{code}: {lines:?}"
        );
        assert_eq!(lines.iter().filter(|l| l.contains("failed")).count(), 1, "{code}");
        assert_eq!(lines_of(&said, 0), ["good"], "{code}");
        assert_eq!(sim.pose("/robots/a").map(|p| p.at.x), Some(10.0), "{code}");
        assert_eq!(sim.pose("/robots/b").map(|p| p.at.y), Some(5.0), "{code}");
    }
}

#[test]
fn a_failure_is_told_when_nobody_takes_notes() {
    let mut sim = with_bad("E( __builtin_trap(); )", "");
    let told = told(&mut sim);
    let [(1, why)] = &told[..] else { panic!("{told:?}") };
    assert!(why.starts_with("the program failed, and the robot stays where it is: "), "{why}");
}

#[test]
fn bad_motions_and_ranges_are_refused_and_harm_nobody() {
    let code = "E( if (kind != SWARM_START) return; double n = 0.0 / x, i = 1 / x; static double d[4];
        swarm_move_to(n, 0, 1, 1); swarm_forward(1, -1); swarm_turn(i, 1); swarm_arc(1, n, 1); swarm_velocity(1, 1, 1);
        swarm_timer(n); swarm_timer(i); swarm_timer(-1); swarm_proximity(i, d, 4); swarm_proximity(n, d, 4);
        swarm_watch_near(i, n); swarm_watch_near(i, 1e-300); swarm_unwatch(7); swarm_cancel(-3); swarm_shine(-5);
        swarm_send(77, d, 8); swarm_pending(99, 0, 0); swarm_say(\"through\"); )";
    let mut sim = with_bad(code, "");
    let said = said(&mut sim);
    assert!(lines_of(&said, 1).contains(&"through"), "{said:?}");
    assert!(!lines_of(&said, 1).iter().any(|l| l.contains("failed")), "{said:?}");
    assert_eq!(lines_of(&said, 0), ["good"]);
    assert_eq!(sim.pose("/robots/b").map(|p| (p.at.x, p.at.y)), Some((0.0, 5.0)));
}

#[test]
fn a_program_that_failed_starts_again_when_it_may_and_forgets_everything() {
    let code = "static int n; E(
        if (kind == SWARM_START) { swarm_say(n ? \"old\" : \"fresh\"); n = 1; swarm_forward(100, 1); swarm_timer(2); swarm_timer(2.5); }
        else if (kind == SWARM_TIMER) __builtin_trap();
        else swarm_say(\"told of an earlier life\"); )";
    let mut sim = with_bad(code, "on_failure = \"restart\"");
    let said = said(&mut sim);
    let lines = lines_of(&said, 1);
    // Two seconds of life, one of death, for twenty seconds.
    assert_eq!(lines.iter().filter(|l| **l == "fresh").count(), 7, "{lines:?}");
    assert_eq!(
        lines.iter().filter(|l| l.contains("starts again")).count(),
        6 + usize::from(lines.len() > 13)
    );
    assert!(!lines.contains(&"old") && !lines.contains(&"told of an earlier life"), "{lines:?}");
    let x = sim.pose("/robots/b").map_or(0.0, |p| p.at.x);
    assert!((x - 14.0).abs() < 1e-6, "{x} m in 14 s of life");
}

#[test]
fn a_module_that_does_not_fit_is_refused_when_the_world_is_loaded() {
    for (code, why) in [
        ("int f(void) { return 0; }", "robot_event"),
        ("void robot_event(int k) { (void)k; }", "robot_event"),
        ("syntax error", "error"),
    ] {
        let text = format!(
            "format = 1\n[type.t]\nradius = 1\n[[type.t.part]]\nname = \"w\"\nclass = \"wheels\"\n[type.t.algorithm]\nclass = \"program\"\ncode = '''\n{code}\n'''\n[[robot]]\nname = \"a\"\ntype = \"t\"\n"
        );
        let error = Sim::from_text(&text).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("bad-program") && error.contains(why), "{code}: {error}");
    }
}

#[test]
fn robots_in_python_help_each_other_and_a_replay_starts_no_process() {
    let mut sim = load("python-help.toml", &[]);
    let said = said(&mut sim);
    let first = lines_of(&said, 0);
    assert_eq!(first.len(), 7, "{first:?}");
    assert_eq!(first.last(), Some(&"all are here"), "{first:?}");
    assert_eq!(sim.finish(), [], "they end in silence");
    let text = std::fs::read_to_string(world("python-help.toml")).expect("reads");
    let mut again = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    // There are no files here: had it to start a program, it could not.
    again.set_journal(sim.journal().clone()).expect("a fresh run");
    assert_eq!(self::said(&mut again), said);
    assert_eq!((again.state().stops, again.full_hash()), (sim.state().stops, sim.full_hash()));
    assert_eq!(again.journal(), sim.journal(), "nothing was asked");
    // Without the end of its journal the same world cannot go on: its programs are missed.
    let mut short = Sim::from_text(&text).unwrap_or_else(|e| panic!("{e}"));
    assert!(self::said(&mut short).iter().any(|s| s.1.contains("no files here")));
}

#[test]
fn a_process_is_led_through_its_past_after_a_restore() {
    let overrides = [("run.duration", "30s"), ("robot.r.count", "3"), ("run.seed", "5")];
    let whole = rest(&mut load("python-help.toml", &overrides));
    let mut sim = load("python-help.toml", &overrides);
    let mut tried = 0;
    while !sim.is_over() {
        sim.step().expect("steps");
        if !sim.state().stops.is_multiple_of(3) {
            continue;
        }
        let mut other = load("python-help.toml", &overrides);
        other.restore(&sim.snapshot()).expect("restores");
        assert_eq!(other.full_hash(), sim.full_hash());
        let end = rest(&mut other);
        assert_eq!(end[..], whole[whole.len() - end.len()..], "from stop {}", sim.state().stops);
        tried += 1;
    }
    assert!(tried > 10, "{tried} restores");
}

/// A folder with a script, gone afterwards.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn with(name: &str, script: &str) -> Folder {
        use std::os::unix::fs::PermissionsExt as _;
        let path = std::env::temp_dir().join(format!("swarmyard-outside-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a folder");
        let file = path.join("robot.sh");
        std::fs::write(&file, script).expect("writes");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).expect("may be started");
        Folder(path)
    }

    fn load(&self, keys: &str) -> Result<Sim, String> {
        let tag = self.0.display();
        // What is said of a program must not depend on how busy this machine is.
        let patience = if keys.contains("patience") { "" } else { "patience = 60" };
        let source = if keys.contains("source") { "" } else { "source = \"robot.sh\"" };
        let text = format!(
            "format = 1\n[run]\nquantum = \"1s\"\nduration = \"12s\"\n[type.t]\nradius = 0.1\n[[type.t.part]]\nname = \"w\"\nclass = \"wheels\"\n[type.t.algorithm]\nclass = \"process\"\narguments = [\"{tag}\"]\n{source}\n{patience}\n{keys}\n[[robot]]\nname = \"a\"\ntype = \"t\"\n"
        );
        let registry = registry_with(&Arc::new(Workshop::in_folder(&self.0)));
        Sim::read("s", &text, &NoFiles, &registry, &Options::default()).map_err(|e| e.to_string())
    }

    /// Processes that were started with this folder's name.
    fn running(&self) -> Vec<String> {
        let tag = self.0.display().to_string();
        let entries = std::fs::read_dir("/proc").expect("Linux").flatten();
        let lines = entries.filter_map(|e| std::fs::read(e.path().join("cmdline")).ok());
        let texts = lines.map(|l| String::from_utf8_lossy(&l).replace('\0', " "));
        texts.filter(|l| l.contains(&tag)).collect()
    }

    fn nothing_runs(&self) {
        let until = Instant::now() + Duration::from_secs(60);
        while !self.running().is_empty() {
            assert!(Instant::now() < until, "still running: {:?}", self.running());
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) const GREET: &str = "#!/bin/sh\nread hello; read now; read start\n";

#[test]
fn a_hostile_process_costs_only_its_robot_and_leaves_nothing() {
    for (name, script, why) in [
        ("garbage", "echo fly me to the moon; sleep 60", "which is no call"),
        ("half", "echo move_to 1 2; echo .; sleep 60", "which is no call"),
        ("exit", "exit 3", "code 3"),
        ("closed", "exec >&-; sleep 60", "closed its stdout"),
        ("silent", "sleep 60", "no answer for 0.3 s"),
        ("bytes", "printf '\\377\\376\\n'; sleep 60", "no text"),
        ("long", "printf '%0100000d' 0; sleep 60", "more than 40000 bytes"),
        ("flood", "yes halt", "too much in one turn"),
        ("huge", "printf 'send all %039000d\\n' 0; sleep 60", "no call"),
        ("words", "echo 'my last words' >&2; exit 1", "my last words"),
    ] {
        let folder = Folder::with(name, &format!("{GREET}{script}\n"));
        let keys = if name == "silent" { "patience = 0.3" } else { "" };
        let mut sim = folder.load(keys).expect("loads");
        let lines = said(&mut sim);
        let told: Vec<&str> = lines_of(&lines, 0).into_iter().filter(|l| l.contains("failed")).collect();
        assert!(told.len() == 1 && told[0].contains(why), "{name}: {lines:?}");
        folder.nothing_runs();
        assert_eq!(sim.now().seconds(), 12.0, "the run goes on");
    }
}

#[test]
fn a_process_that_asks_without_end_is_ended() {
    let folder = Folder::with("endless", &format!("{GREET}while :; do echo uniform; read answer; done\n"));
    let mut sim = folder.load("").expect("loads");
    let lines = said(&mut sim);
    assert!(lines.len() == 1 && lines[0].1.contains("5000 questions"), "{lines:?}");
    sim.finish();
    folder.nothing_runs();
}

#[test]
fn a_process_starts_again_when_it_may_and_knows_nothing_of_its_earlier_life() {
    // It counts on: the second event of each life kills it.
    let script = format!(
        "{GREET}echo say $start; echo forward 100 1; echo timer 2; echo .\nread now; read what; exit 1\n"
    );
    let folder = Folder::with("again", &script);
    let mut sim = folder.load("on_crash = \"restart\"").expect("loads");
    let lines = said(&mut sim);
    let starts = lines.iter().filter(|l| l.1 == "start").count();
    assert!((4..=5).contains(&starts), "{lines:?}");
    sim.finish();
    folder.nothing_runs();
}

#[test]
fn a_run_that_is_dropped_leaves_no_process() {
    let folder = Folder::with("drop", &format!("{GREET}echo .; sleep 100 & wait\n"));
    let mut sim = folder.load("").expect("loads");
    sim.step().expect("steps");
    sim.step().expect("steps");
    assert!(!folder.running().is_empty(), "it runs");
    drop(sim);
    folder.nothing_runs();
}

#[test]
fn only_programs_of_the_project_are_started() {
    let folder = Folder::with("inside", GREET);
    for bad in ["/bin/sh", "../../bin/sh", "nothing.sh"] {
        let error = folder.load(&format!("source = \"{bad}\"")).err().unwrap_or_default();
        assert!(error.contains("error"), "{bad}: {error}");
    }
    std::fs::write(folder.0.join("text.txt"), "no program").expect("writes");
    let error = folder.load("source = \"text.txt\"").err().unwrap_or_default();
    assert!(error.contains("not-a-program"), "{error}");
}

#[test]
fn a_robot_that_crashes_and_recovers_has_a_new_process() {
    let folder =
        Folder::with("recover", &format!("{GREET}echo say $$; echo .; while read line; do :; done\n"));
    let mut sim = folder
        .load("\n[[fault]]\nat = \"2s\"\ncrash = [\"a\"]\n[[fault]]\nat = \"4s\"\nrecover = [\"a\"]\n")
        .expect("loads");
    let lines = said(&mut sim);
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_ne!(lines[0], lines[1], "another process");
}

#[test]
fn an_open_question_goes_over_into_a_changed_world() {
    let overrides = [("run.duration", "30s")];
    let text = std::fs::read_to_string(world("python-help.toml")).expect("reads");
    let registry = registry_with(&Arc::new(Workshop::in_folder(world("").as_path())));
    let owned: Vec<(String, String)> =
        overrides.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
    let name = world("python-help.toml").display().to_string();
    let same =
        Scenario { name: &name, text: &text, overrides: &owned, loader: &NoFiles, registry: &registry };
    let whole = rest(&mut load("python-help.toml", &overrides));
    let mut sim = load("python-help.toml", &overrides);
    let (mut changed, mut all) = (0, Vec::new());
    while !sim.is_over() {
        sim.step().expect("steps");
        if !sim.state().is_mid() {
            all.push(poses(&sim));
        } else if changed < 4 {
            sim.change(&same).unwrap_or_else(|e| panic!("{e}"));
            changed += 1;
        }
    }
    assert_eq!(changed, 4, "there were questions to carry over");
    assert_eq!(all, whole);
}

/// The plainest broadcast: over the link to all.
struct Flood;

impl Microprotocol for Flood {
    fn request(&mut self, _: User, request: Request, cx: &mut Cx<'_>) {
        let Request::Broadcast(ToAll(bytes)) = request else { return };
        let to = cx.all().into();
        cx.request(ProtocolPort::<Link>::new(0), ToRobots { to, bytes });
    }

    fn indication(&mut self, _: usize, what: Indication, cx: &mut Cx<'_>) {
        cx.tell_all(what);
    }

    fn save(&self) -> Vec<u8> {
        Vec::new()
    }

    fn load(&mut self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }
}

impl ProtocolModel for Flood {
    fn provides(&self) -> Option<ServiceKind> {
        Some(ServiceKind::Broadcast)
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("link", ServiceKind::Link)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Flood)
    }
}

#[test]
fn programs_and_processes_broadcast_to_each_other_through_a_protocol() {
    let script = format!(
        "{GREET}echo broadcast 6f6e65; echo .\nwhile read now && read what; do echo say $what; echo .; done\n"
    );
    let folder = Folder::with("broadcast", &script);
    let text = r#"
format = 1
[run]
quantum = "1s"
duration = "5s"
contact = "ghost"
[network]
class = "constant"
[type.c]
radius = 0.1
[[type.c.part]]
name = "wheels"
class = "wheels"
[[type.c.protocol]]
name = "flood"
class = "flood"
[type.c.algorithm]
class = "program"
broadcast = "flood"
code = '''
#include "swarm.h"
static char text[8];
void robot_event(int kind, int a, double x, double y) {
    (void)a; (void)x; (void)y;
    if (kind == SWARM_START) swarm_broadcast("two", 3);
    if (kind == SWARM_BROADCAST && swarm_message(text, 7) == 3) swarm_say(text);
}
'''
[type.p]
radius = 0.1
[[type.p.part]]
name = "wheels"
class = "wheels"
[[type.p.protocol]]
name = "flood"
class = "flood"
[type.p.algorithm]
class = "process"
source = "robot.sh"
patience = 60
[[robot]]
name = "a"
type = "p"
[[robot]]
name = "b"
type = "c"
"#;
    let mut registry = registry_with(&Arc::new(Workshop::in_folder(&folder.0)));
    let sheet = Sheet::new("flood", Kind::Protocol, "Sends to all.");
    registry.add(Class::new(sheet, |_, _| Ok(Built::Protocol(Arc::new(Flood)))));
    let sim = Sim::read("s", text, &NoFiles, &registry, &Options::default());
    let said = said(&mut sim.unwrap_or_else(|e| panic!("{e}")));
    assert_eq!(lines_of(&said, 0), ["broadcast 0 6f6e65", "broadcast 1 74776f"]);
    assert_eq!(lines_of(&said, 1), ["two", "one"]);
}
