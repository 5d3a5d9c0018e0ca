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
