//! `run`: exit codes, streams, and what is recorded.

use crate::yard::{DUEL, WAITING, Yard};

#[test]
fn a_run_says_what_it_did_and_how_to_do_it_again() {
    let yard = Yard::with_duel("run-says");
    let done = yard.run("run duel.toml").exits(0);
    for piece in [
        "Duel\n",
        "robots      2 of 1 type",
        "seed        3",
        "finished at 5 s, after 50 ticks",
        "met      they meet",
    ] {
        assert!(done.out.contains(piece), "no `{piece}` in {}", done.out);
    }
    assert_eq!(done.err, "");
    assert!(yard.files().contains(&"duel.mcap".to_owned()));
    let hash = done.out.lines().find_map(|l| l.trim().strip_prefix("hash ")).unwrap().trim().to_owned();
    assert_eq!(hash.len(), 16);
    let again = done.out.lines().find_map(|l| l.strip_prefix("reproduce with: swarmyard ")).unwrap();
    assert_eq!(yard.run(&format!("{again} -q")).exits(0).out.trim(), hash);
}

#[test]
fn threads_do_not_change_the_hash() {
    let yard = Yard::with_duel("run-threads");
    let one = yard.run("run duel.toml -q --no-record --threads 1").exits(0);
    let two = yard.run("run duel.toml -q --no-record --threads 2").exits(0);
    assert_eq!(one.out, two.out);
}

#[test]
fn json_has_the_same_facts() {
    let yard = Yard::with_duel("run-json");
    let value = yard.run("run duel.toml --json").exits(0).json("swarmyard-run/1");
    assert_eq!(
        (value["robots"].as_u64(), value["seed"].as_u64(), value["ticks"].as_u64()),
        (Some(2), Some(3), Some(50))
    );
    assert_eq!((value["ended"].as_str(), value["exit"].as_u64()), (Some("finished"), Some(0)));
    assert_eq!((value["time_s"].as_f64(), value["hash"].as_str().unwrap().len()), (Some(5.0), 16));
    assert_eq!(value["assertions"][0]["met"], true);
    assert_eq!(value["recording"]["path"], "duel.mcap");
}

#[test]
fn an_unmet_assertion_is_exit_4_with_its_first_time() {
    let yard = Yard::new("run-assert");
    yard.write("a.toml", &format!("{DUEL}\n[[assert]]\nname = \"apart\"\nthat = \"contacts == 0\"\n"));
    let done = yard.run("run a.toml --no-record").exits(4);
    assert!(
        done.out.contains("1 of 2 met") && done.out.contains("NOT MET  apart, first at "),
        "{}",
        done.out
    );
    let value = yard.run("run a.toml --no-record --json").exits(4).json("swarmyard-run/1");
    assert!(value["assertions"][1]["first_failure_s"].as_f64().unwrap() > 0.0);
    assert!(yard.run("run a.toml --no-record -q").exits(4).err.contains("apart"));
}

#[test]
fn a_robot_that_waits_is_named_with_exit_5() {
    let yard = Yard::new("run-waits");
    yard.write("w.toml", WAITING);
    let done = yard.run("run w.toml").exits(5);
    assert!(done.err.contains("/robots/r waits for commands") && done.err.contains("help:"), "{}", done.err);
    assert_eq!(yard.files(), ["w.toml"]);
}

#[test]
fn the_end_can_be_a_tick_or_a_time() {
    let yard = Yard::with_duel("run-until");
    let ticks = |words: &str| yard.run(words).exits(4).json("swarmyard-run/1")["ticks"].as_u64();
    assert_eq!(ticks("run duel.toml --no-record --json --until tick:7"), Some(7));
    assert_eq!(ticks("run duel.toml --no-record --json --until 500ms"), Some(5));
    let wrong = yard.run("run duel.toml --until soon").exits(2);
    assert!(wrong.err.contains("tick:600"), "{}", wrong.err);
}

#[test]
fn hashes_are_lines_of_tick_time_and_hash() {
    let yard = Yard::with_duel("run-hashes");
    let done = yard.run("run duel.toml --no-record --hash-every 10").exits(0);
    let lines: Vec<Vec<&str>> = done.out.lines().map(|l| l.split(' ').collect()).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[2][..2], ["30", "3"]);
    assert!(lines.iter().all(|l| l.len() == 3 && u64::from_str_radix(l[2], 16).is_ok()));
    assert!(done.err.contains("reproduce with"), "the report goes to stderr: {}", done.err);
    assert_eq!(yard.run("run duel.toml --no-record -q").out.trim(), lines[4][2]);
}

#[test]
fn events_are_json_lines_with_paths_and_times() {
    let yard = Yard::new("run-events");
    yard.write("a.toml", &format!("{DUEL}\n[[assert]]\nname = \"apart\"\nthat = \"contacts == 0\"\n"));
    let lines = yard.run("run a.toml --no-record --events -").exits(4).json_lines();
    assert!(
        lines
            .iter()
            .all(|l| l["schema"] == "swarmyard-event/1" && l["time_s"].is_number() && l["tick"].is_u64())
    );
    let contact = lines.iter().find(|l| l["kind"] == "contact").unwrap();
    let mut pair = [contact["a"].as_str().unwrap(), contact["b"].as_str().unwrap()];
    pair.sort_unstable();
    assert_eq!(pair, ["/robots/a", "/robots/b"]);
    let failed = lines.iter().find(|l| l["kind"] == "assert-failed").unwrap();
    assert_eq!(
        (failed["name"].as_str(), failed["condition"].as_str()),
        (Some("apart"), Some("contacts == 0"))
    );
    assert_eq!(lines.last().unwrap()["kind"], "end");
    yard.run("run a.toml --no-record --events events.jsonl -q").exits(4);
    assert_eq!(yard.read("events.jsonl").lines().count(), lines.len());
}

#[test]
fn walls_have_their_paths_in_events() {
    let yard = Yard::new("run-walls");
    yard.write("a.toml", &format!("{DUEL}\n[[wall]]\nname = \"middle\"\npoints = [[0, -1], [0, 1]]\n"));
    let lines = yard.run("run a.toml --no-record --events -").json_lines();
    assert!(lines.iter().any(|l| l["b"] == "/world/walls/middle" && l["with"] == "wall"), "{lines:?}");
}

#[test]
fn a_slow_run_has_a_heartbeat_each_second() {
    let yard = Yard::with_duel("run-heartbeat");
    let lines = yard.run("run duel.toml --no-record --events - --rtf 1.0 --until 1.3s").json_lines();
    let beat = lines.iter().find(|l| l["kind"] == "heartbeat").unwrap();
    // As fast as it may be at most; a busy machine may have been slower.
    let rtf = beat["rtf"].as_f64().unwrap();
    assert!(rtf > 0.0 && rtf < 2.0, "{beat}");
    assert!(beat["eta_s"].is_number() && beat["ticks_per_s"].is_number());
}

#[test]
fn a_wall_limit_is_exit_124_and_the_recording_is_whole() {
    let yard = Yard::with_duel("run-limit");
    let value =
        yard.run("run duel.toml --rtf 0.5 --wall-limit 0.4 --json").exits(124).json("swarmyard-run/1");
    assert_eq!(value["ended"], "wall-limit");
    assert!(value["reproduce"].as_str().unwrap().contains("--until tick:"), "{value}");
    yard.run("replay duel.mcap --verify").exits(0);
}

#[test]
fn a_full_disk_ends_the_recording_and_not_the_run() {
    let yard = Yard::with_duel("run-full");
    let done = yard.run("run duel.toml --record /dev/full").exits(0);
    assert!(done.out.contains("finished at 5 s"), "{done:#?}");
    let told = format!("{}{}", done.out, done.err);
    assert!(told.contains("recording stopped") || told.contains("without a recording"), "{told}");
    let value = yard.run("run duel.toml --record /dev/full --json").exits(0).json("swarmyard-run/1");
    assert!(value["recording_trouble"].is_string(), "{value}");
}

#[test]
fn a_named_recording_that_cannot_be_made_is_an_error() {
    let yard = Yard::with_duel("run-nowhere");
    let done = yard.run("run duel.toml --record no/such/folder/x.mcap").exits(1);
    assert!(done.err.contains("no/such/folder/x.mcap"), "{}", done.err);
}

#[test]
fn nothing_is_written_over_the_scenario() {
    let yard = Yard::with_duel("run-over");
    yard.write("arena.mcap", DUEL);
    for words in [
        "run duel.toml --record duel.toml",
        "run duel.toml --no-record --picture ./duel.toml",
        "run duel.toml --record x --picture x",
        "run arena.mcap",
    ] {
        assert!(yard.run(words).exits(2).err.contains("would be written over"), "{words}");
    }
    assert_eq!((yard.read("duel.toml"), yard.read("arena.mcap")), (DUEL.to_owned(), DUEL.to_owned()));
}

#[test]
fn a_picture_is_drawn_with_and_without_a_recording() {
    let yard = Yard::with_duel("run-picture");
    yard.run("run duel.toml --picture a.svg -q").exits(0);
    yard.run("run duel.toml --picture b.svg --no-record -q").exits(0);
    assert!(yard.read("a.svg").contains("<svg") && yard.read("a.svg").trim_end().ends_with("</svg>"));
    assert_eq!(yard.read("a.svg"), yard.read("b.svg"));
    assert_eq!(yard.files(), ["a.svg", "b.svg", "duel.mcap", "duel.toml"]);
}

#[test]
fn a_picture_that_cannot_be_written_is_said_after_the_report() {
    let yard = Yard::with_duel("run-no-picture");
    let done = yard.run("run duel.toml --picture no/such/folder.svg").exits(1);
    assert!(done.out.contains("NO PICTURE") && done.out.contains("finished at 5 s"), "{}", done.out);
    assert!(
        yard.run("run duel.toml --record /dev/full --picture a.svg -q").exits(1).err.contains("no picture")
    );
}

#[test]
fn a_seed_can_be_set_drawn_or_left() {
    let yard = Yard::with_duel("run-seed");
    let seed = |words: &str| yard.run(words).exits(0).json("swarmyard-run/1")["seed"].as_u64().unwrap();
    assert_eq!(seed("run duel.toml --no-record --json --seed 9"), 9);
    assert_eq!(seed("run duel.toml --no-record --json --set run.seed=8"), 8);
    assert_ne!(
        seed("run duel.toml --no-record --json --seed random"),
        seed("run duel.toml --no-record --json --seed random")
    );
    yard.run("run duel.toml --seed maybe").exits(2);
}

#[test]
fn a_closed_output_is_no_panic() {
    let yard = Yard::with_duel("run-closed");
    let mut child = yard
        .command("run duel.toml --no-record --hash-every 1 --until tick:200000")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let done = crate::yard::Done::from(child.wait_with_output().unwrap());
    assert_eq!(done.code, Some(1));
    assert!(!done.err.contains("panic"), "{}", done.err);
}
