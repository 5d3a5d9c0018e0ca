//! A run on worker processes: what it prints, and that it is the run it would be in one process.

use crate::carts::{Carts, WANDERERS, many};
use crate::yard::Yard;
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use swarmyard::base::Vec2;
use swarmyard::engine::{Cut, How};
use swarmyard::record::Recorder;
use swarmyard::{Options, RobotFigures, Sim, Statistics};

/// Two workers, neither of which is taken for lost because this machine is busy.
const TWO: &str = "--workers 2 --lease 20";

#[test]
fn a_run_on_workers_has_the_same_hash_and_says_who_did_what() {
    let yard = Yard::with_duel("workers");
    let one = yard.run("run duel.toml -q --no-record").exits(0).out;
    let done = yard.run(&format!("run duel.toml --no-record {TWO} --json")).exits(0).json("swarmyard-run/1");
    assert_eq!(done["hash"], one.trim());
    let spread = &done["spread"];
    // There may be more than one epoch: uneven work is cut anew.
    assert_eq!(spread["lost"].as_array().map(Vec::len), Some(0), "{spread}");
    let workers = spread["workers"].as_array().unwrap();
    assert_eq!(workers.len(), 2);
    assert!(
        workers.iter().all(|w| w["work_s"].as_f64().unwrap() > 0.0 && w["pid"].as_u64().unwrap() > 0),
        "{spread}"
    );
    let text = yard.run(&format!("run duel.toml --no-record {TWO} --workers-log log")).exits(0);
    assert!(text.out.contains("  workers     2, none lost, "), "{text:#?}");
    assert!(text.out.contains("assertions  1 of 1 met"), "{text:#?}");
    assert_eq!(yard.read("log").lines().count(), 3, "the keeper and two workers");
}

#[test]
fn a_recording_made_on_workers_is_the_one_of_a_run_in_one_process() {
    let yard = Yard::with_duel("workers-recorded");
    // A frame of the recording at every fourth quantum, and no assertion that would have everything shown.
    let text = yard.read("duel.toml").replace("seed = 3", "seed = 3\nquantum = \"25ms\"");
    yard.write("fine.toml", text.split("[[assert]]").next().unwrap());
    yard.run("run fine.toml --record one.mcap -q").exits(0);
    yard.run("run fine.toml --record two.mcap -q --workers 2").exits(0);
    let same = yard.run("diff one.mcap two.mcap").exits(0);
    assert!(same.err.is_empty(), "{same:#?}");
    yard.run("replay two.mcap --verify").exits(0);
}

/// What of a table is in another: its rows are the last ones there.
fn is_the_end_of(rest: &str, whole: &str) -> bool {
    let (rest, whole): (Vec<&str>, Vec<&str>) = (rest.lines().collect(), whole.lines().collect());
    // Both begin with the names of the columns.
    rest.len() > 2 && rest.len() < whole.len() && rest[0] == whole[0] && whole.ends_with(&rest[1..])
}

#[test]
fn a_resumed_run_is_judged_and_recorded_as_the_whole_of_it_was() {
    let yard = Yard::with_duel("resumed");
    let text = yard.read("duel.toml").replace("seed = 3", "seed = 3\nquantum = \"25ms\"");
    let (bare, they_meet) = text.split_once("[[assert]]").unwrap();
    // One that is not met before the checkpoint, and one that is not met after it.
    let early = "[[assert]]\nname = \"touching\"\nthat = \"contacts > 0\"\n";
    let late = "[[assert]]\nname = \"apart\"\nthat = \"contacts < 1\"\n";
    for (name, asserts, code) in [
        ("good", format!("[[assert]]{they_meet}"), 0),
        ("early", format!("[[assert]]{they_meet}{early}"), 4),
        ("late", format!("{late}[[assert]]{they_meet}"), 4),
        ("bare", String::new(), 0),
    ] {
        yard.write("world.toml", &format!("{bare}{asserts}"));
        let whole = yard.run("run world.toml --record whole.mcap --json").exits(code).json("swarmyard-run/1");
        yard.run(&format!("run world.toml --no-record -q {TWO} --until tick:70 --save it.saved"));
        for workers in ["", TWO] {
            let words = format!("resume it.saved --record rest.mcap {workers}");
            let rest = yard.run(&format!("{words} --json")).exits(code).json("swarmyard-resume/1");
            assert_eq!(rest["from"], 64, "{name}: {rest}");
            for key in ["hash", "ticks", "exit", "assertions"] {
                assert_eq!(rest[key], whole[key], "{name} {workers}: {key}");
            }
            let verified = yard.run("replay rest.mcap --verify --json").exits(0).json("swarmyard-replay/1");
            assert_eq!((&verified["hash"], &verified["verified"]), (&whole["hash"], &true.into()));
            let table = |file: &str| yard.run(&format!("export {file} --to csv")).exits(0).out;
            assert!(is_the_end_of(&table("rest.mcap"), &table("whole.mcap")), "{name} {workers}");
        }
    }
    let told = yard.run("resume it.saved").exits(0).out;
    assert!(!told.contains("assertions") && !told.contains("recording"), "{told}");
    let over = yard.run("resume it.saved --record it.saved").exits(2);
    assert!(over.err.contains("over the checkpoint"), "{over:#?}");
}

#[test]
fn a_resumed_run_says_in_words_which_assertion_is_not_met() {
    let yard = Yard::with_duel("resumed-words");
    let text = yard.read("duel.toml").replace("seed = 3", "seed = 3\nquantum = \"25ms\"");
    yard.write("late.toml", &text.replace("that = \"contacts > 0\"", "that = \"contacts > 99999\""));
    yard.run(&format!("run late.toml --no-record -q {TWO} --until tick:70 --save late.saved")).exits(4);
    let told = yard.run("resume late.saved").exits(4).out;
    assert!(told.contains("  assertions  0 of 1 met\n    NOT MET  they meet, it never held\n"), "{told}");
}

#[test]
fn a_world_that_is_not_divided_says_why() {
    let yard = Yard::new("undivided");
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds/cyclic-pursuit.toml");
    // Twenty ticks are too few for its assertions.
    let one = yard.run(&format!("run {world} --until tick:20 -q --no-record")).exits(4).out;
    let done = yard.run(&format!("run {world} --until tick:20 --no-record --workers 2")).exits(4);
    assert!(done.out.contains("not divided, because its robots live by events"), "{done:#?}");
    assert!(done.out.contains(one.trim()), "{one} {done:#?}");
    let no = yard.run(&format!("run {world} --no-record --workers 2 --neko-log log")).exits(2);
    assert!(no.err.contains("one process only"), "{no:#?}");
}

#[test]
fn certificates_are_made_once_and_never_over_others() {
    let yard = Yard::new("keys");
    yard.run("keys init keys").exits(0);
    assert!(yard.run("keys add keys alpha 10.0.0.5").exits(0).out.contains("alpha.key"));
    for (words, why) in [
        ("keys init keys", "not overwritten"),
        ("keys add keys alpha", "not overwritten"),
        ("keys add keys ../alpha", "no name of a member"),
        ("keys add nowhere beta", "no such file"),
        ("run x.toml --workers 2 --name alpha", "--keys"),
    ] {
        let done = yard.run(words);
        assert!(done.code != Some(0) && done.err.contains(why), "{words}: {done:#?}");
    }
}

#[test]
fn hosts_that_are_not_there_are_in_the_list_with_the_reason() {
    let yard = Yard::with_duel("no-hosts");
    let list = yard.run("hosts a=127.0.0.1:9 --json").exits(1).json("swarmyard-hosts/1");
    assert_eq!(list["hosts"][0]["name"], "a");
    assert!(list["hosts"][0]["trouble"].is_string(), "{list}");
    let run = yard.run("run duel.toml --no-record --hosts a=127.0.0.1:9").exits(1);
    assert!(run.err.contains("host `a` at 127.0.0.1:9"), "{run:#?}");
    for (host, why) in
        [("a=nonsense", "NAME=HOST:PORT"), ("nonsense", "nobody says where host `nonsense` is")]
    {
        let usage = yard.run(&format!("run duel.toml --no-record --hosts {host}")).exits(2);
        assert!(usage.err.contains(why), "{usage:#?}");
    }
}

/// Twelve robots that wander, in two rows.
fn herd() -> String {
    let robots = many(12, "class = \"grid\", columns = 6, spacing = 1.2");
    Carts { run: "duration = \"3s\"", robots: &robots, ..WANDERERS }.text()
}

/// Borders of regions, by worker, in nanometres: a reader of JSON may be wrong in the last bit of a number.
type Regions = Vec<[Option<i64>; 4]>;

fn borders(all: [Option<f64>; 4]) -> [Option<i64>; 4] {
    all.map(|x| x.filter(|x| x.is_finite()).map(|x| (x * 1e9).round() as i64))
}

/// The regions of a run.
fn regions(run: &serde_json::Value) -> Regions {
    // There may be more than one epoch; before the first checkpoint all of them are cut from the same measurements.
    assert!(run["ticks"].as_u64().unwrap() < 64, "{run}");
    let workers = run["spread"]["workers"].as_array().unwrap();
    workers.iter().map(|w| borders([0, 1, 2, 3].map(|k| w["region"][k].as_f64()))).collect()
}

/// A recording of a herd of which it was measured that a robot costs this, by its place.
fn measured(yard: &Yard, name: &str, cost: impl Fn(f64) -> f64) -> Vec<(Vec2, f64)> {
    let sim = Sim::load(yard.path("herd.toml"), &Options::default()).unwrap();
    let places: Vec<(Vec2, f64)> = sim.state().pose.iter().map(|p| (p.at, cost(p.at.x))).collect();
    let robot = |(path, place): (&str, &(Vec2, f64))| RobotFigures {
        path: path.to_owned(),
        cost_us: place.1,
        ..RobotFigures::default()
    };
    let robots = sim.model().paths.iter().zip(&places).map(robot).collect();
    let statistics = Statistics { robots, ..Statistics::default() };
    let header = swarmyard_serve::again::header(&sim, "herd.toml", &[]);
    let mut recorder = Recorder::create(&yard.path(name), &header, sim.model()).unwrap();
    recorder.start(sim.model(), sim.state());
    recorder.placement(&serde_json::to_string(&statistics).unwrap());
    let summary = recorder.finish(sim.model(), sim.state(), sim.hash());
    assert_eq!(summary.stopped, None);
    places
}

#[test]
fn the_next_run_starts_from_the_cut_that_a_recording_suggests() {
    let yard = Yard::new("placement-from");
    yard.write("herd.toml", &herd());
    let first = yard.run("run herd.toml --workers 2 --json").exits(0).json("swarmyard-run/1");
    let one = yard.run("run herd.toml -q --no-record").exits(0).out;
    assert_eq!(first["hash"], one.trim());
    let even = regions(&first);
    // Those in the east cost ten times as much as those in the west.
    let places = measured(&yard, "east.mcap", |x| if x > 0.0 { 10.0 } else { 1.0 });
    let words = "run herd.toml --workers 2 --no-record --json --placement-from";
    let next = yard.run(&format!("{words} east.mcap")).exits(0).json("swarmyard-run/1");
    assert_eq!(next["hash"], one.trim(), "no placement changes a result");
    let suggested = Cut::even(&places, 2, How::Tree).regions();
    let suggested: Regions =
        suggested.iter().map(|a| borders([a.min.x, a.min.y, a.max.x, a.max.y].map(Some))).collect();
    assert_eq!(regions(&next), suggested);
    assert_ne!(suggested, even, "the measurements say something else than the number of robots");
    // What `run` itself has recorded will do as well.
    let again = yard.run(&format!("{words} herd.mcap")).exits(0).json("swarmyard-run/1");
    assert_eq!(again["hash"], one.trim());
}

#[test]
fn what_cannot_suggest_a_cut_is_refused_in_words() {
    let yard = Yard::with_duel("placement-refused");
    yard.write("herd.toml", &herd());
    yard.run("run duel.toml -q --record alone.mcap").exits(0);
    measured(&yard, "herd.mcap", |_| 1.0);
    let run = "run duel.toml --no-record";
    for (words, exit, why) in [
        ("--workers 2 --placement-from alone.mcap", 1, "made in one process"),
        ("--workers 2 --placement-from herd.mcap", 1, "of other robots"),
        ("--workers 2 --placement-from nothing.mcap", 1, "nothing.mcap"),
        ("--placement-from herd.mcap", 2, "--workers or --hosts"),
    ] {
        let done = yard.run(&format!("{run} {words}")).exits(exit);
        assert!(done.err.contains(why), "{words}: {done:#?}");
    }
    // One robot more is a hint, and the run goes on.
    yard.write("more.toml", &herd().replace("count = 12", "count = 13"));
    let done = yard.run("run more.toml -q --no-record --workers 2 --placement-from herd.mcap").exits(0);
    assert!(done.err.contains("1 robots, such as `/robots/r13`, are not in `herd.mcap`"), "{done:#?}");
}

#[test]
fn what_workers_did_is_in_the_recording() {
    let yard = Yard::new("figures");
    yard.write("herd.toml", &herd());
    let run = yard.run(&format!("run herd.toml {TWO}")).exits(0);
    for line in [
        "    worker  bodies  work",
        "  links       ",
        // Which of them comes first depends on who had more to say.
        "0→1 ",
        "1→0 ",
        "  heaviest    µs per tick",
        "              /robots/r",
    ] {
        assert!(run.out.contains(line), "{line}: {run:#?}");
    }
    let info = yard.run("info herd.mcap --all --json").exits(0).json("swarmyard-info/1");
    assert_eq!(info["robots"], 12);
    let spread = &info["spread"];
    assert_eq!(spread["workers"].as_array().map(Vec::len), Some(2), "{info}");
    assert_eq!(spread["robots"].as_array().map(Vec::len), Some(12), "{info}");
    assert_eq!(spread["heaviest"].as_array().map(Vec::len), Some(10), "{info}");
    for robot in spread["robots"].as_array().unwrap() {
        let us = |kind: &str| robot[format!("{kind}_us")].as_f64().unwrap();
        let kinds = ["sense", "think", "act", "contact"].map(us);
        assert!(kinds[0] > 0.0 && (us("cost") - kinds.iter().sum::<f64>()).abs() < 0.01, "{robot}");
        assert!(robot["quanta"].as_u64().unwrap() > 0, "{robot}");
    }
    let links = spread["links"].as_array().unwrap();
    assert!(links.len() == 2 && links.iter().all(|l| l["messages"].as_u64().unwrap() >= 30), "{info}");
    let text = yard.run("info herd.mcap").exits(0).out;
    assert!(text.contains("  workers     2, none lost"), "{text}");
    yard.run("run herd.toml -q --record alone.mcap").exits(0);
    let alone = yard.run("info alone.mcap").exits(0).out;
    assert!(alone.contains("workers     none"), "{alone}");
    assert_eq!(
        info["end"]["hash"].as_str(),
        Some(alone.lines().last().unwrap().trim().trim_start_matches("hash").trim())
    );
}

/// Six robots whose programs drive them to and fro across regions, and write a line when they start.
const SHUTTLES: &str = r#"format = 1
title = "Shuttles"

[run]
duration = "4s"
quantum = "100ms"

[type.cart]
radius = 0.4

[[type.cart.part]]
name = "drive"
class = "diff-drive"

[[type.cart.register]]
part = "drive"
channel = "left"
at = 0x20
signed = true
scale = 0.001

[[type.cart.register]]
part = "drive"
channel = "right"
at = 0x22
signed = true
scale = 0.001

[type.cart.controller]
class = "process"
think = 0
patience = 60
code = '''
#include <stdio.h>
#include "rio.h"
#include "registers.h"
static int n;
void robot_setup(void) { FILE *f = fopen("starts", "a"); if (f) { fputs("once\n", f); fclose(f); } }
void robot_step(void)
{
    int16_t v = n++ % 40 < 20 ? 900 : -900;
    rio_pokes16(DRIVE_LEFT, v);
    rio_pokes16(DRIVE_RIGHT, (int16_t)(v + n % 3));
}
'''

[[robot]]
name = "r"
type = "cart"
count = 6
layout = { class = "row", step = [1.1, 1] }
"#;

#[test]
#[cfg(target_os = "linux")]
fn native_programs_stay_with_the_process_that_started_them() {
    let yard = Yard::new("shuttles");
    yard.write("shuttles.toml", SHUTTLES);
    let one = yard.run("run shuttles.toml -q --no-record").exits(0).out;
    assert_eq!(yard.read("starts").lines().count(), 6);
    for words in ["--json", ""] {
        yard.write("starts", "");
        // With a lease that no busy machine outlasts nobody is lost, so nobody starts a program twice.
        let run = format!("run shuttles.toml --no-record --workers 3 --lease 60 {words}");
        let done = yard.run(&run).exits(0);
        if words.is_empty() {
            assert!(
                done.out.contains("  programs    ") && done.out.contains(" decisions over links, "),
                "{done:#?}"
            );
            assert!(done.out.contains(one.trim()), "{one} {done:#?}");
            continue;
        }
        let done = done.json("swarmyard-run/1");
        assert_eq!(done["hash"], one.trim());
        let spread = &done["spread"];
        let asked: u64 =
            spread["workers"].as_array().unwrap().iter().map(|w| w["asked_home"].as_u64().unwrap()).sum();
        assert!(asked > 30, "{spread}");
        assert_eq!(yard.read("starts").lines().count(), 6, "{spread}");
    }
}

/// Robots are away from the process with their programs most of the time, so whoever is killed has programs of others.
#[test]
#[cfg(target_os = "linux")]
fn programs_whose_worker_is_killed_are_led_through_their_past_and_nothing_shows() {
    let yard = Yard::new("shuttles-killed");
    yard.write("shuttles.toml", SHUTTLES);
    let one = yard.run("run shuttles.toml -q --no-record --hash-every 1 --until tick:160").exits(0).out;
    let middle = one.lines().count() / 2;
    for victim in 0..3 {
        let log = format!("log-{victim}");
        let words = "run shuttles.toml -q --no-record --hash-every 1 --until tick:160 --rtf 4 --lease 20 --workers 3 --workers-log ";
        let mut run = yard.command(&format!("{words}{log}")).stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(run.stdout.take().unwrap()).lines().map_while(Result::ok);
        let mut told: Vec<String> = lines.by_ref().take(middle).collect();
        let pids = yard.read(&log);
        let pids =
            pids.lines().filter_map(|line| serde_json::from_str::<Value>(line).unwrap()["pid"].as_u64());
        let pid = pids.collect::<Vec<_>>()[victim].to_string();
        assert!(Command::new("kill").args(["-KILL", &pid]).status().unwrap().success());
        told.extend(lines);
        assert!(run.wait().unwrap().success());
        assert_eq!(told, one.lines().collect::<Vec<_>>(), "worker {victim} was killed");
    }
}
