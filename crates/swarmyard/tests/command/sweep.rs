//! `sweep`, and a controller that is written while its world runs.

use crate::yard::Yard;

/// The world of the case study, from anywhere.
fn network() -> String {
    format!("{}/../../worlds/search-network.toml", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn the_case_study_a_track_below_the_designed_width_fails_and_above_it_is_followed_to_every_end() {
    let yard = Yard::new("sweep-case");
    let world = network();
    let done = yard
        .run(&format!(
            "sweep {world} --vary params.tape=4mm,24mm,30mm --vary type.surveyor.part.eyes.coverage=15,50 --seeds 2 --plot tape.svg --json"
        ))
        .exits(0);
    let value = done.json("swarmyard-sweep/1");
    let runs = value["runs"].as_array().unwrap();
    let passed: Vec<(String, String, bool)> = runs
        .iter()
        .map(|r| {
            let set = |key: &str| r["set"][key].as_str().unwrap_or("").to_owned();
            (set("params.tape"), set("type.surveyor.part.eyes.coverage"), r["passed"].as_bool().unwrap())
        })
        .collect();
    assert_eq!(passed.len(), 12);
    for (tape, coverage, passed) in passed {
        assert_eq!(passed, tape != "4mm", "tape {tape}, coverage {coverage}");
    }
    let svg = yard.read("tape.svg");
    assert!(svg.starts_with("<svg") && svg.matches("<polyline").count() == 2, "{svg}");
}

#[test]
fn a_sweep_is_a_table_in_the_order_of_its_parameters_whoever_finishes_first() {
    let yard = Yard::with_duel("sweep-table");
    let done = yard.run("sweep duel.toml --vary run.duration=1s,5s --seeds 2 --jobs 4").exits(0);
    let lines: Vec<&str> = done.out.lines().collect();
    assert_eq!(lines[0], "run.duration,seed,passed,met,assertions,contacts,end_s,hash");
    let heads: Vec<String> =
        lines[1..].iter().map(|l| l.split(',').take(3).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(heads, ["1s,1,0", "1s,2,0", "5s,1,1", "5s,2,1"]);
    assert_eq!(
        done.out,
        yard.run("sweep duel.toml --vary run.duration=1s,5s --seeds 2 --jobs 1").exits(0).out
    );
}

#[test]
fn wrong_sweeps_are_refused() {
    let yard = Yard::with_duel("sweep-wrong");
    yard.run("sweep duel.toml").exits(2);
    yard.run("sweep duel.toml --vary run.duration=1s..5s").exits(2);
    yard.run("sweep duel.toml --vary run.duratoin=1s,2s").exits(3);
    yard.run("sweep duel.toml --vary run.seed=1..1000/1000 --vary run.duration=1..9/1000").exits(2);
}
