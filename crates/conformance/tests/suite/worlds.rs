//! Every world does what it says, and its controllers are needed for it.
//!
//! These tests compile C: they need clang and lld.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use swarmyard::{Options, Sim};
use swarmyard_conformance::{World, read, root, worlds, write};

/// Worlds that need not fail with a program that drives straight on, and why.
const ANYTHING_GOES: &[(&str, &str)] = &[];

fn load(world: &World, options: &Options) -> Sim {
    Sim::load(&world.path, options).unwrap_or_else(|e| panic!("`{}` does not load: {e}", world.name))
}

/// Runs a world to its end.
fn run(world: &World, options: &Options) -> Sim {
    let mut sim = load(world, options);
    while !sim.is_over() {
        sim.step().unwrap_or_else(|e| panic!("`{}`: {e}", world.name));
    }
    sim
}

/// Names of the assertions that are not met.
fn not_met(sim: &Sim) -> Vec<&str> {
    let verdicts = sim.model().asserts.iter().zip(&sim.state().verdicts);
    verdicts.filter(|(a, v)| !a.met(v)).map(|(a, _)| a.name.as_str()).collect()
}

/// A program of a world that is made from a file.
struct Made {
    world: String,
    ty: String,
    source: PathBuf,
    /// Text of the type's `registers.h`.
    registers: String,
}

/// All of them; found once, because loading a world compiles its programs.
fn programs() -> &'static [Made] {
    static ALL: OnceLock<Vec<Made>> = OnceLock::new();
    ALL.get_or_init(|| {
        let found = Mutex::new(Vec::new());
        complaints(&worlds(), |world| {
            let sim = load(world, &Options::default());
            for ty in &sim.model().types {
                let sources = ty.controllers.iter().filter_map(|c| sim.source(&ty.name, &c.name));
                let made = sources.map(|source| Made {
                    world: world.name.clone(),
                    ty: ty.name.clone(),
                    source: world.path.with_file_name("").join(source),
                    registers: swarmyard::agents::c_header(&ty.name, &ty.registers),
                });
                found.lock().expect("nobody panics with it").extend(made);
            }
            None
        });
        found.into_inner().expect("nobody panics with it")
    })
}

/// What `work` complains of, over all items, on as many threads as there are processors.
fn complaints<T: Sync>(items: &[T], work: impl Fn(&T) -> Option<String> + Sync) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Some(complaint) = work(item) {
                        found.lock().expect("nobody panics with it").push(complaint);
                    }
                }
            });
        }
    });
    found.into_inner().expect("nobody panics with it")
}

#[test]
fn every_world_meets_its_assertions() {
    let wrong = complaints(&worlds(), |world| {
        let sim = run(world, &Options::default());
        let missed = not_met(&sim);
        (!missed.is_empty()).then(|| format!("`{}` does not meet: {}", world.name, missed.join("; ")))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Assertions that any program meets would say nothing about the program.
#[test]
fn every_world_of_a_program_fails_with_one_that_drives_straight_on() {
    let tried = AtomicUsize::new(0);
    let wrong = complaints(&worlds(), |world| {
        if ANYTHING_GOES.iter().any(|(name, _)| *name == world.name) {
            return None;
        }
        let own = programs().iter().filter(|made| made.world == world.name);
        let types: BTreeSet<&str> = own.map(|made| made.ty.as_str()).collect();
        if types.is_empty() {
            return None;
        }
        tried.fetch_add(1, Ordering::Relaxed);
        let straight = "../examples/controllers/straight.c".to_owned();
        let overrides = types.iter().map(|ty| (format!("type.{ty}.controller.source"), straight.clone()));
        let sim = run(world, &Options { overrides: overrides.collect(), ..Options::default() });
        not_met(&sim).is_empty().then(|| format!("`{}` is content with straight.c", world.name))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(tried.into_inner() >= 15, "only a few worlds have programs");
}

#[test]
fn the_case_study_ends_the_same_on_any_number_of_threads() {
    for name in ["fig-7-2", "fig-7-2-bug"] {
        let all = worlds();
        let world = all.iter().find(|w| w.name == name).expect("the world is there");
        let end = |threads: usize| {
            let sim = run(world, &Options { threads, ..Options::default() });
            (sim.state().stops, sim.hash(), sim.full_hash())
        };
        let one = end(1);
        assert_eq!((end(2), end(8)), (one, one), "`{name}`");
    }
}

/// What clang says to a source, with all the warnings that a course would switch on.
fn warnings(source: &Path, registers: &Path, target: &[&str]) -> Option<String> {
    let done = Command::new("clang")
        .args(target)
        .args(["-ffreestanding", "-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion"])
        .arg("-I")
        .arg(root().join("sdk/c"))
        .arg("-I")
        .arg(registers)
        .arg("-c")
        .arg(source)
        .args(["-o", "/dev/null"])
        .output()
        .expect("clang runs (Debian: apt install clang lld)");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (!done.status.success() || !said.is_empty()).then(|| format!("{}:\n{said}", source.display()))
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Each with the registers of its world; `straight.c`, which is for all of them, with those of one.
#[test]
fn every_example_controller_compiles_without_warnings_for_the_sandbox_and_for_a_board() {
    let mut sources: Vec<(PathBuf, &Made)> = programs().iter().map(|m| (m.source.clone(), m)).collect();
    sources.push((root().join("examples/controllers/straight.c"), &programs()[0]));
    let wrong = complaints(&sources, |(source, made)| {
        let folder = format!("{}-{}-{}", made.world, made.ty, name(source));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        write(&folder.join("registers.h"), &made.registers);
        let board =
            ["--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-DRIO_MMIO", "-DRIO_BASE=0x40000000u"];
        warnings(source, &folder, &["--target=wasm32"]).or_else(|| warnings(source, &folder, &board))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let compiled: BTreeSet<String> = sources.iter().map(|(source, _)| name(source)).collect();
    let folder = std::fs::read_dir(root().join("examples/controllers")).expect("there are examples");
    let files = folder.filter_map(|e| e.ok().map(|e| e.path()));
    let sources = files.filter(|f| f.extension().is_some_and(|e| e == "c"));
    let (algorithms, there): (Vec<PathBuf>, Vec<PathBuf>) =
        sources.partition(|f| read(f).contains("#include \"swarm.h\""));
    for algorithm in &algorithms {
        assert_eq!(warnings(algorithm, Path::new("."), &["--target=wasm32"]), None);
        let source = format!("source = \"../examples/controllers/{}\"", name(algorithm));
        assert!(worlds().iter().any(|w| w.text.contains(&source)), "no world has {source}");
    }
    let there: BTreeSet<String> = there.iter().map(|f| name(f)).collect();
    assert_eq!(compiled, there, "every example has a world, and every program of a world is an example");
}

#[test]
fn the_readme_lists_every_example_with_its_world() {
    let text = read(&root().join("examples/controllers/README.md"));
    for made in programs() {
        let file = name(&made.source);
        let row = text.lines().find(|line| line.starts_with(&format!("| [{file}]")));
        let world = format!("worlds/{}.toml", made.world);
        assert!(row.is_some_and(|row| row.contains(&world)), "`{file}` with `{world}`");
    }
}
