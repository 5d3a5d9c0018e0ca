//! Runs of worlds in the engine before the checkers of protocols: the worlds of the house, many seeds with faults laid
//! over, and worlds that must be found broken.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use swarmyard_formats::{Loader, NoFiles};
use swarmyard_radio::check::judge::Verdict;
use swarmyard_radio::check::{broadcast, promises};
use swarmyard_sim::{Options, Sim, Witness, standard_registry};

/// A run that is over, and what was seen of it.
struct Seen {
    sim: Sim,
    witness: Witness,
}

struct Folder(PathBuf);

impl Loader for Folder {
    fn load(&self, name: &str) -> Result<String, String> {
        std::fs::read_to_string(self.0.join(name)).map_err(|e| e.to_string())
    }
}

/// Runs a world to its end; `None` when nobody in it lives by events, or somebody outside would have to decide.
fn seen(name: &str, text: &str, loader: &dyn Loader, over: &[(String, String)]) -> Option<Seen> {
    let registry = standard_registry();
    let loaded = swarmyard_formats::read(name, text, over, loader, &registry).ok()?;
    let options = Options { overrides: over.to_vec(), ..Options::default() };
    let mut sim = Sim::from_scene(&loaded.scene, &registry, &options).ok()?;
    if sim.model().asks_outside() {
        return None;
    }
    let mut witness = Witness::of_everything(&mut sim, &loaded.scene)?;
    while !sim.is_over() {
        sim.step().unwrap_or_else(|e| panic!("{name}: {e}"));
        witness.look(&mut sim);
    }
    Some(Seen { sim, witness })
}

impl Seen {
    fn verdicts(&self, settle_s: f64) -> Vec<Verdict> {
        self.witness.verdicts(&self.sim, settle_s)
    }

    /// Broken promises in words.
    fn broken(&self, settle_s: f64) -> Vec<String> {
        let words = |v: Verdict| {
            let pair = &self.witness.uses().pairs()[v.pair];
            let first = v.broken.into_iter().next()?;
            Some(format!("{} ({}), {}: {first}", pair.name(), pair.class, v.promise))
        };
        self.verdicts(settle_s).into_iter().filter_map(words).collect()
    }

    /// Messages that came and that nobody had sent.
    fn made_up(&self) -> Vec<String> {
        let end = swarmyard_base::Moment::at(self.sim.now());
        self.witness.uses().made_up(self.witness.docket().kept(), end)
    }
}

fn worlds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../worlds")
}

#[test]
fn the_protocols_of_every_world_keep_their_promises() {
    let mut judged = BTreeSet::new();
    let mut talked = BTreeSet::new();
    let mut files: Vec<PathBuf> = std::fs::read_dir(worlds()).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|p| p.extension().is_some_and(|e| e == "toml")) {
        let text = std::fs::read_to_string(path).unwrap();
        // Ten thousand robots that talk to nobody.
        if !text.contains("[network]") {
            continue;
        }
        let name = path.file_stem().unwrap().to_str().unwrap();
        let Some(seen) = seen(name, &text, &Folder(worlds()), &[]) else { continue };
        assert_eq!(seen.broken(2.0), Vec::<String>::new(), "{name}");
        assert_eq!(seen.made_up(), Vec::<String>::new(), "{name}");
        assert!(!seen.witness.docket().has_overflowed());
        let kept = seen.verdicts(2.0).len();
        println!("{name}: {} events, {kept} promises kept", seen.witness.docket().kept().len());
        if kept > 0 {
            judged.insert(name.to_owned());
        }
        if seen.sim.state().live.as_ref().is_some_and(|live| live.sent > 0) {
            talked.insert(name.to_owned());
        }
    }
    let expected = [
        "clocks",
        "contention",
        "election",
        "figure-3-10",
        "one-lane-bridge",
        "path-reservation",
        "reserved-gathering",
        "share-out",
    ];
    for name in expected {
        assert!(judged.contains(name), "`{name}` was not judged, but {judged:?}");
    }
    assert!(talked.contains("ask-for-help") && talked.contains("radio-relay"), "{talked:?}");
}

/// Protocols of a robot, and which one the algorithm talks by.
fn stack(order: &str) -> String {
    let class = order.split_whitespace().next().unwrap();
    let extra: String = order.split_whitespace().skip(1).map(|line| format!("{line}\n")).collect();
    let mut text = protocol("sure", "reliable-link", "retry = \"100ms\"\nslowest = \"400ms\"");
    match class {
        "order-by-consensus" => {
            text += &protocol("heart", "heartbeat", "period = \"200ms\"\ntimeout = \"1s\"\nadaptive = true");
            text += &protocol("omega", "omega", "way = \"detector\"\ndetector = \"heart\"");
            let paxos = extra.contains("paxos");
            let uses = if paxos { "leader = \"omega\"" } else { "detector = \"heart\"" };
            let consensus = extra.trim();
            text += &protocol("agree", consensus, &format!("link = \"sure\"\n{uses}"));
            text += &protocol("rb", "reliable-broadcast", "link = \"sure\"");
            text += &protocol("order", class, "broadcast = \"rb\"\nconsensus = \"agree\"");
        }
        "fifo-broadcast" | "causal-broadcast" => {
            text += &protocol("rb", "reliable-broadcast", "link = \"sure\"");
            text += &protocol("order", class, "broadcast = \"rb\"");
        }
        _ => text += &protocol("order", class, &format!("link = \"sure\"\n{extra}")),
    }
    text
}

fn protocol(name: &str, class: &str, rest: &str) -> String {
    format!("[[type.dot.protocol]]\nname = \"{name}\"\nclass = \"{class}\"\n{rest}\n")
}

/// Five robots in step for 40 s, over a network that overtakes, with these flaws and faults.
fn in_step(stack: &str, network: &str, faults: &str) -> String {
    let mut world =
        String::from("format = 1\n[run]\nquantum = \"1s\"\nduration = \"40s\"\ncontact = \"ghost\"\n");
    let _ = write!(
        world,
        "[network]\nclass = \"random\"\nmean = \"50ms\"\n{network}\n[type.dot]\nradius = 0.1\n"
    );
    world += "[[type.dot.part]]\nname = \"wheels\"\nclass = \"wheels\"\n";
    world += "[[type.dot.part]]\nname = \"gps\"\nclass = \"gps\"\n";
    world += stack;
    world += "[type.dot.algorithm]\nclass = \"in-step\"\nbroadcast = \"order\"\nsteps = 3\nstep = 2\n";
    world += "speed = [2, 4]\nturn_speed = [6, 9]\n";
    world += "[[robot]]\nname = \"r\"\ntype = \"dot\"\ncount = 5\n";
    world + faults
}

const LOSSY: &str = "loss = 0.2\nduplicate = 0.1";
const CUT: &str =
    "[[fault]]\nat = \"1s\"\npartition = [\"r1 r2\", \"r3 r4\"]\n[[fault]]\nat = \"4s\"\nheal = true\n";

/// One of the five crashes at some moment of the first seconds; what that is, and who, is a function of the seed.
fn crash(seed: u64) -> String {
    let (who, at) = (seed % 5 + 1, 0.05 + (seed * 37 % 60) as f64 * 0.05);
    format!("[[fault]]\nat = {at}\ncrash = [\"r{who}\"]\n")
}

fn with_seed(seed: u64) -> Vec<(String, String)> {
    vec![("run.seed".to_owned(), seed.to_string())]
}

/// What every seed must keep: in a world that loses, doubles and overtakes, is torn apart for three seconds, and in every
/// second seed loses a robot.
fn keeps_under_faults(order: &str, seeds: std::ops::Range<u64>, goes_on: bool) {
    let (mut promises, mut crashes) = (0, 0);
    for seed in seeds.clone() {
        let crashed = seed % 2 == 1;
        let faults = if crashed { CUT.to_owned() + &crash(seed) } else { CUT.to_owned() };
        let world = in_step(&stack(order), LOSSY, &faults);
        let seen = seen(order, &world, &NoFiles, &with_seed(seed))
            .unwrap_or_else(|| panic!("{order} does not load"));
        assert_eq!(seen.broken(8.0), Vec::<String>::new(), "{order}, seed {seed}");
        let delivered = seen.witness.trace_of(&seen.sim, "algorithm", "order").unwrap().indications().count();
        // One that stops at a crash may have stopped before the first message.
        assert!(crashed && !goes_on || delivered >= 4 * 12, "{order}, seed {seed}: {delivered}");
        promises += seen.verdicts(8.0).len();
        crashes += u32::from(crashed);
    }
    println!("{order}: {} seeds, {crashes} with a crash, {promises} promises kept", seeds.end - seeds.start);
}

const SEEDS: std::ops::Range<u64> = 0..24;

#[test]
fn total_orders_keep_their_promises_under_loss_partition_and_crashes() {
    for order in [
        "lamport-order",
        "skeen-order",
        "sequencer-order",
        "sequencer-order uniform=true",
        "moving-sequencer",
        "moving-sequencer uniform=true",
        "token-order",
        "token-order uniform=true",
    ] {
        keeps_under_faults(order, SEEDS, false);
    }
}

#[test]
fn orders_by_consensus_keep_their_promises_and_go_on_after_a_crash() {
    for order in [
        "order-by-consensus paxos",
        "order-by-consensus chandra-toueg",
        "order-by-consensus mostefaoui-raynal",
    ] {
        keeps_under_faults(order, SEEDS, true);
    }
}

#[test]
fn broadcasts_keep_their_promises_under_loss_partition_and_crashes() {
    for order in [
        "best-effort-broadcast",
        "reliable-broadcast",
        "uniform-broadcast",
        "fifo-broadcast",
        "causal-broadcast",
    ] {
        keeps_under_faults(order, SEEDS, true);
    }
}

#[test]
fn an_order_over_a_network_that_loses_is_found_broken() {
    let bare = |class: &str| protocol("order", class, "");
    let mut found = 0;
    for seed in 0..20 {
        let seen =
            seen("bare", &in_step(&bare("lamport-order"), "loss = 0.2", ""), &NoFiles, &with_seed(seed))
                .unwrap();
        let broken = seen.broken(8.0);
        found += u32::from(broken.iter().any(|b| b.starts_with("order by algorithm (lamport-order), ")));
    }
    assert_eq!(found, 20, "of 20 runs without a `reliable-link`");
    // The same over a network that does not lose.
    let fine = seen("bare", &in_step(&bare("lamport-order"), "", ""), &NoFiles, &[]).unwrap();
    assert_eq!(fine.broken(8.0), Vec::<String>::new());
    assert!(!fine.verdicts(8.0).is_empty());
}

#[test]
fn a_link_that_loses_for_ever_is_found_broken_under_its_user() {
    // Robot 5 is cut off for good: what is sent to it and never comes is the link's breach.
    let cut = "[[fault]]\nat = \"100ms\"\npartition = [\"r1 r2 r3 r4\", \"r5\"]\n";
    let seen = seen("cut", &in_step(&stack("best-effort-broadcast"), "", cut), &NoFiles, &[]).unwrap();
    let broken = seen.broken(8.0);
    assert!(
        broken.iter().any(|b| b.starts_with("sure by order (reliable-link), nothing lost: ")),
        "{broken:?}"
    );
    assert!(broken.iter().any(|b| b.contains("/robots/r5")), "{broken:?}");
    assert!(
        broken.iter().all(|b| !b.contains("nothing made up") && !b.contains("nothing doubled")),
        "{broken:?}"
    );
}

#[test]
fn a_fake_order_is_seen_through() {
    let mut found = 0;
    for seed in 0..20 {
        let world = in_step(&protocol("order", "fake-order", ""), "", "");
        let seen = seen("fake", &world, &NoFiles, &with_seed(seed)).unwrap();
        assert!(seen.verdicts(2.0).is_empty(), "it promises nothing");
        let trace = promises::told_apart(&seen.witness.trace_of(&seen.sim, "algorithm", "order").unwrap());
        assert_eq!(broadcast::reliable(&trace), Vec::<String>::new());
        found += u32::from(!broadcast::total_order(&trace).is_empty());
    }
    assert_eq!(found, 20, "of 20 runs whose messages overtake each other");
}

#[test]
fn nobody_notices_that_a_run_is_looked_at() {
    let text = std::fs::read_to_string(worlds().join("figure-3-10.toml")).unwrap();
    let mut plain = Sim::from_text(&text).unwrap();
    let looked_at = seen("figure-3-10", &text, &NoFiles, &[]).unwrap();
    while !plain.is_over() {
        plain.step().unwrap();
        assert!(plain.dealings().is_empty(), "nothing is kept unless somebody wants it");
    }
    assert_eq!(plain.full_hash(), looked_at.sim.full_hash());
}
