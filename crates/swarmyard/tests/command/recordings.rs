//! `replay`, `diff` and `export`.

use crate::yard::Yard;

#[test]
fn a_recording_replays_to_the_same_hashes() {
    let yard = Yard::with_duel("replay");
    let hash = yard.run("run duel.toml -q --set type.cart.part.drive.slip=0.05").exits(0).out;
    // The recording holds the scenario; the file is not needed any more.
    std::fs::remove_file(yard.path("duel.toml")).unwrap();
    let done = yard.run("replay duel.mcap --verify").exits(0);
    assert!(done.out.contains(hash.trim()) && done.out.contains("all the same"), "{}", done.out);
    let value = yard.run("replay duel.mcap --json").exits(0).json("swarmyard-replay/1");
    assert_eq!((value["hash"].as_str(), value["ticks"].as_u64()), (Some(hash.trim()), Some(50)));
    assert!(value["verified"].is_null());
}

#[test]
fn included_files_are_in_the_recording() {
    let yard = Yard::with_duel("replay-include");
    yard.write("walls.toml", "[[wall]]\npoints = [[0, -1], [0, 1]]\n");
    let text = yard.read("duel.toml").replace("format = 1", "format = 1\ninclude = [\"walls.toml\"]");
    yard.write("duel.toml", &text);
    yard.run("run duel.toml -q --record a.mcap --seed 5").exits(0);
    std::fs::remove_file(yard.path("walls.toml")).unwrap();
    yard.run("replay a.mcap --verify").exits(0);
}

#[test]
fn a_changed_hash_is_found_at_its_tick() {
    let yard = Yard::with_duel("replay-damage");
    let value = yard.run("run duel.toml --json --hash-every 20").exits(0);
    let hash = value.json_lines()[0]["hash"].as_str().unwrap().to_owned();
    let bytes = std::fs::read(yard.path("duel.mcap")).unwrap();
    let wanted = u64::from_str_radix(&hash, 16).unwrap().to_le_bytes();
    let mut changed = bytes;
    let places: Vec<usize> = (0..changed.len() - 8).filter(|&k| changed[k..k + 8] == wanted).collect();
    assert!(!places.is_empty());
    for k in places {
        changed[k] ^= 1;
    }
    std::fs::write(yard.path("bad.mcap"), changed).unwrap();
    let value = yard.run("replay bad.mcap --verify --json").exits(6).json("swarmyard-replay/1");
    assert_eq!((value["verified"].as_bool(), value["mismatch"]["tick"].as_u64()), (Some(false), Some(20)));
    let done = yard.run("diff duel.mcap bad.mcap").exits(6);
    assert!(done.out.contains("they do not differ"), "{}", done.out);
}

#[test]
fn equal_runs_have_no_difference() {
    let yard = Yard::with_duel("diff-same");
    yard.run("run duel.toml -q --record a.mcap").exits(0);
    yard.run("run duel.toml -q --record b.mcap --seed 3 --threads 2").exits(0);
    let done = yard.run("diff a.mcap b.mcap").exits(0);
    assert!(
        done.out.contains("the same run") && done.out.contains("note: the overrides differ"),
        "{}",
        done.out
    );
    assert_eq!(yard.run("diff a.mcap b.mcap --json").exits(0).json("swarmyard-diff/1")["same"], true);
}

#[test]
fn another_seed_parts_at_a_named_time_robot_and_field() {
    let yard = Yard::with_duel("diff-seed");
    yard.run("run duel.toml -q --record a.mcap").exits(0);
    yard.run("run duel.toml -q --record b.mcap --set run.seed=4").exits(0);
    let done = yard.run("diff a.mcap b.mcap").exits(6);
    assert!(
        done.out.contains("at 0.1 s (tick 1): `/robots/a`") && done.out.contains("pose.x"),
        "{}",
        done.out
    );
    let first = &yard.run("diff a.mcap b.mcap --json").exits(6).json("swarmyard-diff/1")["first"];
    assert_eq!((first["tick"].as_u64(), first["path"].as_str()), (Some(1), Some("/robots/a")));
    assert!(first["a"].is_number() && first["a"] != first["b"]);
    let fields: Vec<&str> =
        first["fields"].as_array().unwrap().iter().map(|f| f["field"].as_str().unwrap()).collect();
    assert!(fields.contains(&"twist.forward"), "{fields:?}");
}

#[test]
fn the_tick_is_exact_between_frames_and_channels_are_named() {
    let yard = Yard::with_duel("diff-channel");
    // One frame per second, and nothing moves differently before 0.1 s.
    yard.run("run duel.toml -q --record a.mcap --set record.rate=1").exits(0);
    yard.run("run duel.toml -q --record b.mcap --set record.rate=1 --set type.cart.controller.left=0.2")
        .exits(4);
    let first = &yard.run("diff a.mcap b.mcap --json").exits(6).json("swarmyard-diff/1")["first"];
    assert_eq!(first["tick"], 1);
    let fields: Vec<&str> =
        first["fields"].as_array().unwrap().iter().map(|f| f["field"].as_str().unwrap()).collect();
    assert!(fields.contains(&"channel drive.left[0]"), "{fields:?}");
}

#[test]
fn a_longer_run_is_a_difference() {
    let yard = Yard::with_duel("diff-length");
    yard.run("run duel.toml -q --record a.mcap").exits(0);
    yard.run("run duel.toml -q --record b.mcap --until tick:30").exits(0);
    assert!(yard.run("diff a.mcap b.mcap").exits(6).out.contains("30"));
}

#[test]
fn recordings_become_tables_and_pictures() {
    let yard = Yard::with_duel("export");
    yard.run("run duel.toml -q").exits(0);
    let table = yard.run("export duel.mcap --to csv").exits(0).out;
    assert_eq!(table.lines().count(), 1 + 51 * 2);
    let value = yard.run("export duel.mcap --to csv -o t.csv --json").exits(0).json("swarmyard-export/1");
    assert_eq!((value["bytes"].as_u64(), yard.read("t.csv")), (Some(table.len() as u64), table));
    yard.run("export duel.mcap --to svg -o t.svg").exits(0);
    assert!(yard.read("t.svg").contains("<svg"));
    yard.run("export duel.mcap --to gif").exits(2);
}

#[test]
fn what_is_no_recording_is_said_to_be_none() {
    let yard = Yard::with_duel("not-a-recording");
    assert!(yard.run("replay duel.toml").exits(1).err.contains("not a Swarmyard recording"));
    assert!(yard.run("diff duel.toml nothing.mcap").exits(1).err.contains("error["));
    let value = yard.run("export nothing.mcap --to csv --json").exits(1).json("swarmyard-error/1");
    assert_eq!(value["file"], "nothing.mcap");
}
