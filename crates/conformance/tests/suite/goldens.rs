//! Every world is a golden test: its hash after some quanta is written down in `goldens.txt`.
//!
//! One line per world: name, quanta, hash; write other quanta to have it go further. `name+key=value` is the world with an override; to have one more
//! of those, add a line with any hash and bless. The file is the same for every profile: `cargo test` and
//! `cargo test --release` must both pass. After a wanted change of numerics run
//! `SWARMYARD_BLESS=1 cargo test -p swarmyard-conformance --test suite goldens` and add a line under
//! *Numerics* in the changelog.

use std::collections::BTreeMap;
use std::path::PathBuf;
use swarmyard::{Options, Sim};
use swarmyard_conformance::{World, read, root, worlds, write};

/// Quanta of a world that has no line yet, at most.
const CAP: u64 = 200;

const HEAD: &str = "# name quanta hash; rewritten by SWARMYARD_BLESS=1 cargo test -p swarmyard-conformance --test suite goldens\n";

fn file() -> PathBuf {
    root().join("crates/conformance/goldens.txt")
}

#[expect(clippy::disallowed_methods, reason = "blessing is asked for by the person who runs the suite")]
fn blessing() -> bool {
    std::env::var("SWARMYARD_BLESS").is_ok_and(|v| v == "1")
}

/// A world, and what is laid over it: the name in the file is both.
struct Case<'a> {
    name: String,
    world: &'a World,
    overrides: Vec<(String, String)>,
}

impl<'a> Case<'a> {
    /// The case of that name in the file; `None` when there is no such world.
    fn of(name: &str, worlds: &'a [World]) -> Option<Case<'a>> {
        let mut pieces = name.split('+');
        let world = pieces.next().and_then(|name| worlds.iter().find(|w| w.name == name))?;
        let laid_over = |piece: &str| {
            let (key, value) = piece.split_once('=').unwrap_or_else(|| panic!("no override: `{piece}`"));
            (key.to_owned(), value.to_owned())
        };
        Some(Case { name: name.to_owned(), world, overrides: pieces.map(laid_over).collect() })
    }
}

/// Every world, and every override that the file names.
fn cases(worlds: &[World]) -> Vec<Case<'_>> {
    let mut names: Vec<String> = worlds.iter().map(|w| w.name.clone()).collect();
    names.extend(written().into_keys().filter(|name| name.contains('+')));
    names.sort();
    names.iter().filter_map(|name| Case::of(name, worlds)).collect()
}

fn load(case: &Case<'_>, threads: usize) -> Sim {
    let options = Options { threads, overrides: case.overrides.clone(), ..Options::default() };
    let world = case.world;
    Sim::load(&world.path, &options).unwrap_or_else(|e| panic!("`{}` does not load: {e}", world.name))
}

/// Hash after that many quanta, or at the end of the world's duration; and how many there were.
fn run(case: &Case<'_>, quanta: u64, threads: usize) -> (u64, u64) {
    let mut sim = load(case, threads);
    while sim.state().stops < quanta && !sim.is_over() {
        sim.step().unwrap_or_else(|e| panic!("`{}`: {e}", case.name));
    }
    (sim.state().stops, sim.hash())
}

fn written() -> BTreeMap<String, (u64, u64)> {
    let mut all = BTreeMap::new();
    for line in read(&file()).lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [name, quanta, hash] = words[..] else { panic!("not a golden: `{line}`") };
        let parsed = quanta.parse::<u64>().ok().zip(u64::from_str_radix(hash, 16).ok());
        all.insert(name.to_owned(), parsed.unwrap_or_else(|| panic!("not a golden: `{line}`")));
    }
    all
}

#[test]
fn every_world_ends_with_its_golden_hash() {
    let worlds = worlds();
    assert!(!worlds.is_empty(), "there are no worlds");
    if blessing() {
        let (mut text, goldens) = (HEAD.to_owned(), written());
        for case in cases(&worlds) {
            let (quanta, hash) = run(&case, goldens.get(&case.name).map_or(CAP, |g| g.0), 1);
            text += &format!("{} {quanta} {hash:016x}\n", case.name);
        }
        write(&file(), &text);
        return;
    }
    let goldens = written();
    let mut wrong = Vec::new();
    for case in cases(&worlds) {
        let Some(&(quanta, hash)) = goldens.get(&case.name) else {
            wrong.push(format!("`{}` has no golden", case.name));
            continue;
        };
        let now = run(&case, quanta, 2);
        if now != (quanta, hash) {
            wrong.push(format!(
                "`{}` after {} of {quanta} quanta: {:016x}, golden {hash:016x}",
                case.name, now.0, now.1
            ));
        }
    }
    wrong.extend(
        goldens.keys().filter(|g| Case::of(g, &worlds).is_none()).map(|g| format!("there is no world `{g}`")),
    );
    assert!(
        wrong.is_empty(),
        "{}\nIf this is wanted: SWARMYARD_BLESS=1, and a line under Numerics in the changelog",
        wrong.join("\n")
    );
}

/// A golden must be able to fail: one quantum less, or another seed where chance is used, is another
/// hash.
#[test]
fn one_quantum_less_is_another_hash() {
    for case in &cases(&worlds()) {
        let (quanta, hash) = run(case, CAP, 1);
        assert_ne!(run(case, quanta - 1, 1).1, hash, "`{}`", case.name);
    }
}
