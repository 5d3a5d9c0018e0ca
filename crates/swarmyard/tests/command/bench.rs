//! `bench`: the same loop and the same bits as `run`.

use crate::yard::Yard;

#[test]
fn a_run_of_the_written_scenario_has_the_hash_of_the_benchmark() {
    for world in ["swarm12", "swarm12-disc", "prox24", "laser180"] {
        let yard = Yard::new(&format!("bench-{world}"));
        let value = yard
            .run(&format!("bench {world} --robots 50 --steps 40 --json"))
            .exits(0)
            .json("swarmyard-bench/1");
        let total = value["steps_total"].as_u64().unwrap();
        assert!(total >= 40);
        yard.write("world.toml", &yard.run(&format!("bench {world} --robots 50 --scenario")).exits(0).out);
        let hash = yard.run(&format!("run world.toml --no-record -q --until tick:{total}")).exits(0).out;
        assert_eq!(Some(hash.trim()), value["hash"].as_str(), "{world}");
    }
}

#[test]
fn what_is_measured_is_printed() {
    let yard = Yard::new("bench-print");
    let done = yard.run("bench swarm12 --robots 100 --steps 20 --record --threads 2").exits(0);
    for piece in [
        "swarm12, 100 robots, 2 threads",
        "20 of 23 in all",
        "per processor second",
        "bytes per robot",
        "recording",
        "after 23 steps",
    ] {
        assert!(done.out.contains(piece), "no `{piece}` in {}", done.out);
    }
    assert!(yard.run("bench swarm13").exits(2).err.contains("swarm12"));
    yard.run("bench").exits(2);
}

#[test]
fn every_level_of_detail_is_measured_in_the_world_of_levels() {
    let yard = Yard::new("bench-levels");
    let value = yard.run("bench --levels --json").exits(0).json("swarmyard-bench-levels/1");
    let rows = value["rows"].as_array().unwrap();
    let world = concat!(env!("CARGO_MANIFEST_DIR"), "/../../worlds/levels.toml");
    for (row, level) in rows.iter().zip(["coarse", "normal", "fine"]) {
        assert_eq!((row["level"].as_str(), row["robots"].as_u64()), (Some(level), Some(15)));
        assert!(row["quanta_per_cpu_s"].as_f64().unwrap() > 0.0);
        let run = format!("run {world} --no-record -q --until tick:1200 --set run.detail={level}");
        assert_eq!(Some(yard.run(&run).exits(0).out.trim()), row["hash"].as_str(), "{level}");
    }
    assert_eq!(rows.len(), 3);
    assert!(yard.run("bench --levels").exits(0).out.contains("| 0 `coarse` | 15 |"));
}
