//! Measuring what robots cost changes no result, and costs little itself.

use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard::bench::World;
use swarmyard::engine::{Compiled, Journal, Minds, Pool, Scratch, Spent, State, Step, Watch, compile, step};
use swarmyard::formats::NoFiles;
use swarmyard::standard_registry;
use swarmyard_cluster::ProcessorTime;

/// A run that may be measured.
struct Run {
    compiled: Compiled,
    minds: Minds,
    scratch: Scratch,
    pool: Pool,
}

impl Run {
    fn new(world: World, robots: usize, threads: usize, watch: Option<Arc<dyn Watch>>) -> Run {
        let registry = standard_registry();
        let text = world.scenario(robots);
        let read = swarmyard::formats::read("swarm", &text, &[], &NoFiles, &registry);
        let loaded = read.unwrap_or_else(|e| panic!("{:?}", e.problems));
        let compiled = compile(&loaded.scene, &registry).unwrap_or_else(|e| panic!("{e:?}"));
        let (minds, mut scratch) = (Minds::new(&compiled.model), Scratch::default());
        if let Some(watch) = watch {
            scratch.measure(watch);
        }
        Run { compiled, minds, scratch, pool: Pool::new(threads).expect("threads") }
    }

    fn step(&mut self) -> (u64, Vec<Spent>) {
        let Run { compiled: Compiled { model, state, .. }, minds, scratch, pool } = self;
        match step(model, state, minds, &Journal::default(), scratch, pool) {
            Step::Done(frame) => (frame.hash, scratch.take_spent()),
            Step::Blocked(robots) => panic!("waits for {robots:?}"),
            Step::UnderWay => panic!("nobody said when to leave it"),
        }
    }

    fn state(&self) -> &State {
        &self.compiled.state
    }
}

fn watch() -> Option<Arc<dyn Watch>> {
    Some(Arc::new(ProcessorTime::default()))
}

#[test]
fn a_run_that_is_measured_has_the_same_hashes_and_all_kinds_of_costs() {
    for (world, robots) in [(World::Swarm12, 300), (World::Programs, 40)] {
        for threads in [1, 3] {
            let mut plain = Run::new(world, robots, 1, None);
            let mut measured = Run::new(world, robots, threads, watch());
            let mut sum = vec![Spent::default(); robots];
            let mut quanta = 0;
            for k in 0..64 {
                let (one, nothing) = plain.step();
                let (other, spent) = measured.step();
                assert!(one == other && nothing.is_empty(), "{world:?}, {threads} threads, step {k}");
                assert!(spent.is_empty() || spent.len() == robots);
                quanta += usize::from(!spent.is_empty());
                sum.iter_mut().zip(spent).for_each(|(sum, spent)| *sum += spent);
            }
            assert_eq!(plain.state().stops, 64);
            assert!((8..=9).contains(&quanta), "{quanta}");
            let sensors = world == World::Swarm12;
            for s in sum {
                assert_eq!(s.sense_ns > 0, sensors, "{s:?}");
                assert!(s.think_ns > 0 && s.act_ns > 0 && s.contact_ns > 0, "{s:?}");
                assert_eq!(s.fuel > 0, !sensors, "{s:?}");
            }
        }
    }
}

/// Say what it costs: `cargo test -p swarmyard --test measuring -- --ignored --nocapture`.
#[test]
#[ignore = "takes its time, and wants the machine for itself"]
fn what_measuring_costs() {
    for (world, robots) in [(World::Swarm12, 10_000), (World::Programs, 10_000)] {
        let mut runs = [None, watch()].map(|watch| Run::new(world, robots, 1, watch));
        let mut took = [Duration::ZERO; 2];
        let clock = ProcessorTime::default();
        for round in 0..40 {
            for (run, took) in runs.iter_mut().zip(&mut took) {
                let (since, before) = (Instant::now(), clock.worked_ns());
                (0..8).for_each(|_| drop(run.step()));
                let worked = Duration::from_nanos(clock.worked_ns() - before);
                assert!(worked <= since.elapsed() + Duration::from_millis(1));
                // The first rounds are for warming up.
                *took += if round < 4 { Duration::ZERO } else { worked };
            }
        }
        let [plain, measured] = took.map(|t| t.as_secs_f64() / (36.0 * 8.0) * 1e3);
        let more = 100.0 * (measured / plain - 1.0);
        println!(
            "{world:?} with {robots} robots: {plain:.3} ms per quantum, measured {measured:.3}: {more:+.2} %"
        );
    }
}
