//! The same bits for any number of threads, order of the file, grouping, restore and replay.
//!
//! Every test runs a world twice in two ways and compares the hashes of all steps; each has a
//! control that another seed gives other hashes.

use swarmyard::bench::World as Bench;
use swarmyard::{Options, Scenario, Sim, registry_with};
use swarmyard_base::Ratio;
use swarmyard_conformance::generate::{Generated, Wish, command, generate};
use swarmyard_conformance::{Dice, Folder, shuffled, workshop, worlds};
use swarmyard_engine::{Grouping, Input, InputKind};
use swarmyard_part_api::Detail;

/// A scenario, and the speed of random commands for those who take them.
struct Subject {
    name: String,
    world: Generated,
    speed: f64,
    quanta: usize,
    /// Whether its runs depend on chance.
    chance: bool,
}

impl Subject {
    fn load(&self, text: &str, options: &Options) -> Sim {
        Sim::read(&self.name, text, &Folder, &registry_with(workshop()), options)
            .unwrap_or_else(|e| panic!("`{}` does not load: {e}", self.name))
    }

    /// Tells the run what comes from outside before a step; the same for every way to run it.
    fn inputs(&self, sim: &mut Sim, dice: &mut Dice, quantum: usize) {
        command(sim, &self.world, dice, self.speed);
        if quantum % 7 == 3 {
            sim.set_quantum(Ratio::new(dice.below(9) as i64 + 1, 90).expect("positive"));
        }
        if quantum % 11 == 5 {
            sim.set_detail(dice.pick(&Detail::ALL));
        }
        if quantum % 13 == 8
            && let Some(robot) = self.world.drives.first().and_then(|d| d.strip_suffix("/drive"))
        {
            sim.halt(robot, dice.chance(0.5)).expect("is there");
        }
    }

    /// Hashes of all steps, and the full hash at the end. `between` may replace the run before a step.
    fn hashes(&self, mut sim: Sim, between: impl Fn(usize, Sim) -> Sim) -> Vec<u64> {
        let mut dice = Dice::new(77);
        let mut hashes = Vec::with_capacity(self.quanta + 1);
        for quantum in 0..self.quanta {
            sim = between(quantum, sim);
            self.inputs(&mut sim, &mut dice, quantum);
            let frame = sim.step().unwrap_or_else(|e| panic!("`{}`: {e}", self.name));
            assert_eq!(frame.hash, sim.hash(), "the frame's hash is the state's");
            hashes.push(frame.hash);
        }
        hashes.push(sim.full_hash());
        hashes
    }

    fn plain(&self, options: &Options) -> Vec<u64> {
        self.hashes(self.load(&self.world.text, options), |_, sim| sim)
    }

    /// The seed laid over the scenario.
    fn seeded(seed: u64) -> Options {
        Options { overrides: vec![("run.seed".into(), seed.to_string())], ..Options::default() }
    }
}

/// Generated worlds of every rule, two benchmark worlds that fill several chunks, and every world
/// of the `worlds` folder.
fn subjects() -> Vec<Subject> {
    let mut all = Vec::new();
    for (k, rule) in ["stop", "impulse", "own"].into_iter().enumerate() {
        for (speed, cell, bodies) in [(2.0, 1.2, 12), (15.0, 0.95, 40)] {
            let seed = 100 + k as u64;
            let wish = Wish { seed, bodies, rule, speed, quantum: "100ms", cell, hands: false };
            let name = format!("generated {rule} with {bodies} bodies");
            all.push(Subject { name, world: generate(&wish), speed, quanta: 30, chance: true });
        }
        let seed = 200 + k as u64;
        let wish = Wish { seed, bodies: 40, rule, speed: 2.0, quantum: "100ms", cell: 0.95, hands: true };
        let name = format!("generated {rule} with carriers");
        all.push(Subject { name, world: generate(&wish), speed: 2.0, quanta: 30, chance: true });
    }
    let outside = |text: String| Generated {
        text,
        drives: Vec::new(),
        hands: Vec::new(),
        solids: Vec::new(),
        divider: None,
    };
    for bench in [Bench::Swarm12, Bench::Prox24] {
        let text = bench
            .scenario(300)
            .replace("spacing = 1 }", "spacing = 0.3, heading = \"random\", jitter = 0.05 }");
        all.push(Subject {
            name: format!("{bench:?}"),
            world: outside(text),
            speed: 0.0,
            quanta: 30,
            chance: true,
        });
    }
    for world in worlds() {
        // Ten thousand robots that live by events do in a few quanta what others do in many.
        let quanta = if world.name == "gathering-10000" { 5 } else { 40 };
        all.push(Subject { name: world.name, world: outside(world.text), speed: 0.0, quanta, chance: false });
    }
    all
}

#[test]
fn another_seed_gives_other_hashes() {
    let mut differ = 0;
    for subject in subjects() {
        let (one, same, other) = (
            subject.plain(&Subject::seeded(5)),
            subject.plain(&Subject::seeded(5)),
            subject.plain(&Subject::seeded(6)),
        );
        assert_eq!(one, same, "`{}`: the same seed twice", subject.name);
        differ += usize::from(one != other);
        assert!(one != other || !subject.chance, "`{}`: the seed does not matter", subject.name);
        let distinct: std::collections::BTreeSet<u64> = one.iter().copied().collect();
        assert!(distinct.len() + 1 >= one.len(), "`{}`: every step has a hash of its own", subject.name);
    }
    println!("the seed matters in {differ} worlds");
}

/// The worlds with hands are about carrying: somebody does at most quanta.
#[test]
fn in_worlds_with_carriers_things_are_carried() {
    for subject in subjects().into_iter().filter(|s| !s.world.hands.is_empty()) {
        let mut carried = 0;
        let sim = subject.load(&subject.world.text, &Options::default());
        let mut dice = Dice::new(77);
        let mut sim = sim;
        for quantum in 0..subject.quanta {
            subject.inputs(&mut sim, &mut dice, quantum);
            sim.step().expect("steps");
            carried += sim.state().carried.len();
        }
        println!("`{}`: {carried} carried", subject.name);
        assert!(2 * carried > subject.quanta, "`{}`: {carried}", subject.name);
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    for subject in subjects() {
        let one = subject.plain(&Options::default());
        for threads in [2, 8] {
            let many = subject.plain(&Options { threads, ..Options::default() });
            assert_eq!(one, many, "`{}` on {threads} threads", subject.name);
        }
    }
}

#[test]
fn the_order_of_the_scenario_file_changes_no_bit() {
    let mut moved = 0;
    for subject in subjects() {
        let one = subject.plain(&Options::default());
        for seed in 1..=3 {
            let text = shuffled(&subject.world.text, &["robot", "obstacle", "wall"], seed);
            moved += usize::from(text != subject.world.text);
            let other = subject.hashes(subject.load(&text, &Options::default()), |_, sim| sim);
            assert_eq!(one, other, "`{}` in order {seed}\n{text}", subject.name);
        }
    }
    println!("{moved} files were really in another order");
    assert!(moved >= 18);
}

#[test]
fn how_contacts_are_grouped_changes_no_bit() {
    for subject in subjects() {
        let smallest = subject.plain(&Options::default());
        for grouping in [Grouping::One, Grouping::Merged(1), Grouping::Merged(2), Grouping::Merged(3)] {
            let other = subject.plain(&Options { grouping, ..Options::default() });
            assert_eq!(smallest, other, "`{}` with {grouping:?}", subject.name);
        }
    }
}

#[test]
fn going_on_in_a_fresh_run_from_a_snapshot_changes_no_bit() {
    for subject in subjects() {
        let one = subject.plain(&Options::default());
        for every in [1, 4] {
            let fresh = || subject.load(&subject.world.text, &Options::default());
            let hopping = subject.hashes(fresh(), |quantum, sim| {
                if quantum % every != 0 {
                    return sim;
                }
                let mut next = fresh();
                next.restore(&sim.snapshot()).unwrap_or_else(|e| panic!("`{}`: {e}", subject.name));
                assert_eq!(next.full_hash(), sim.full_hash());
                next
            });
            assert_eq!(one, hopping, "`{}` restored every {every} quanta", subject.name);
        }
    }
}

#[test]
fn changing_to_the_same_world_in_another_order_changes_no_bit() {
    let registry = registry_with(workshop());
    for subject in subjects() {
        let one = subject.plain(&Options::default());
        let texts = [1, 2].map(|seed| shuffled(&subject.world.text, &["robot", "obstacle", "wall"], seed));
        let changing = subject.hashes(subject.load(&texts[0], &Options::default()), |quantum, mut sim| {
            let (name, text) = (&*subject.name, &*texts[quantum % 2]);
            let scenario = Scenario { name, text, overrides: &[], loader: &Folder, registry: &registry };
            let report = sim.change(&scenario).unwrap_or_else(|e| panic!("`{name}` at {quantum}: {e}"));
            assert_eq!(report.kept.count, sim.model().len(), "`{name}`: {report:?}");
            sim
        });
        assert_eq!(one, changing, "`{}` changed at every quantum", subject.name);
    }
}

#[test]
fn going_back_to_a_snapshot_repeats_the_run() {
    for subject in subjects() {
        let mut sim = subject.load(&subject.world.text, &Options::default());
        let mut dice = Dice::new(77);
        let mut keep: Vec<(Vec<u8>, Dice, usize)> = Vec::new();
        let mut hashes = Vec::new();
        for quantum in 0..subject.quanta {
            keep.push((sim.snapshot(), dice.clone(), quantum));
            subject.inputs(&mut sim, &mut dice, quantum);
            hashes.push(sim.step().expect("steps").hash);
        }
        for (bytes, dice, from) in keep.into_iter().rev().step_by(9) {
            sim.restore(&bytes).expect("opens");
            let mut dice = dice;
            for (quantum, hash) in hashes.iter().enumerate().skip(from).take(5) {
                subject.inputs(&mut sim, &mut dice, quantum);
                assert_eq!(
                    sim.step().expect("steps").hash,
                    *hash,
                    "`{}` from {from} at {quantum}",
                    subject.name
                );
            }
        }
    }
}

#[test]
fn replaying_the_journal_gives_the_same_hashes_and_another_journal_does_not() {
    for subject in subjects() {
        let mut sim = subject.load(&subject.world.text, &Options::default());
        let mut dice = Dice::new(77);
        let mut hashes = Vec::new();
        for quantum in 0..subject.quanta {
            subject.inputs(&mut sim, &mut dice, quantum);
            hashes.push(sim.step().expect("steps").hash);
        }
        // The short run of ten thousand robots is told something once.
        let least = if subject.quanta < 30 { 1 } else { 5 };
        assert!(sim.journal().all().len() >= least, "`{}` takes inputs", subject.name);
        let replay = |journal: swarmyard_engine::Journal, threads: usize| -> Vec<u64> {
            let mut again = subject.load(&subject.world.text, &Options { threads, ..Options::default() });
            again.set_journal(journal).expect("before the first step");
            (0..subject.quanta).map(|_| again.step().expect("steps").hash).collect()
        };
        assert_eq!(replay(sim.journal().clone(), 2), hashes, "`{}`", subject.name);
        let mut shorter = sim.journal().clone();
        let last = shorter.all().last().expect("has inputs").stop;
        shorter.cut_from(last);
        // A native program is asked again for what is missing, and says the same again.
        let is_thought = |i: &Input| matches!(i.kind, InputKind::Thought { .. });
        if sim.journal().at(last).iter().all(is_thought) {
            assert_eq!(
                replay(shorter, 1),
                hashes,
                "`{}`: its programs go on where the journal ends",
                subject.name
            );
        } else {
            assert_ne!(replay(shorter, 1), hashes, "`{}`: without its last input", subject.name);
        }
    }
}
