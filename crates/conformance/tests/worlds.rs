//! Every world does what it says, and its controllers are needed for it.
//!
//! These tests compile C: they need clang and lld.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// (type, controller, source) of each program of a world that is made from a file.
fn programs(sim: &Sim) -> Vec<(String, String, PathBuf)> {
    let types = sim.model().types.iter();
    let all = types.flat_map(|ty| ty.controllers.iter().map(move |c| (ty.name.clone(), c.name.clone())));
    all.filter_map(|(ty, controller)| {
        let source = sim.source(&ty, &controller)?.to_path_buf();
        Some((ty, controller, source))
    })
    .collect()
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
        let types: BTreeSet<String> =
            programs(&load(world, &Options::default())).into_iter().map(|(ty, ..)| ty).collect();
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

/// A controller, and the registers that it is made for.
struct Made {
    source: PathBuf,
    /// A folder with its `registers.h`.
    registers: PathBuf,
}

/// Every example with the registers of every robot type that runs it. `straight.c` is for all of them.
fn examples_with_registers() -> Vec<Made> {
    let mut all = Vec::new();
    let straight = root().join("examples/controllers/straight.c");
    for world in worlds() {
        let sim = load(&world, &Options::default());
        for (name, _, source) in programs(&sim) {
            let ty = sim.model().types.iter().find(|t| t.name == name).expect("the type is there");
            let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}", world.name));
            std::fs::create_dir_all(&folder).expect("a folder can be made");
            write(&folder.join("registers.h"), &swarmyard::agents::c_header(&name, &ty.registers));
            let source = world.path.with_file_name("").join(source);
            all.extend([source, straight.clone()].map(|source| Made { source, registers: folder.clone() }));
        }
    }
    all
}

/// What clang says to a source, with all the warnings that a course would switch on.
fn warnings(made: &Made, target: &[&str]) -> Option<String> {
    let done = Command::new("clang")
        .args(target)
        .args(["-ffreestanding", "-std=c99", "-O2", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion"])
        .arg("-I")
        .arg(root().join("sdk/c"))
        .arg("-I")
        .arg(&made.registers)
        .arg("-c")
        .arg(&made.source)
        .args(["-o", "/dev/null"])
        .output()
        .expect("clang runs (Debian: apt install clang lld)");
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    (!done.status.success() || !said.is_empty()).then(|| format!("{}:\n{said}", made.source.display()))
}

#[test]
fn every_example_controller_compiles_without_warnings_for_the_sandbox_and_for_a_board() {
    let made = examples_with_registers();
    let wrong = complaints(&made, |made| {
        let board =
            ["--target=thumbv7m-none-eabi", "-mcpu=cortex-m3", "-DRIO_MMIO", "-DRIO_BASE=0x40000000u"];
        warnings(made, &["--target=wasm32"]).or_else(|| warnings(made, &board))
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let compiled: BTreeSet<String> = made.iter().map(|m| name(&m.source)).collect();
    let folder = std::fs::read_dir(root().join("examples/controllers")).expect("there are examples");
    let files = folder.filter_map(|e| e.ok().map(|e| name(&e.path())));
    let there: BTreeSet<String> =
        files.filter(|f| Path::new(f).extension().is_some_and(|e| e == "c")).collect();
    assert_eq!(compiled, there, "every example has a world, and every program of a world is an example");
}

#[test]
fn the_readme_lists_every_example_and_its_world() {
    let text = read(&root().join("examples/controllers/README.md"));
    let missing: Vec<String> = worlds()
        .iter()
        .flat_map(|world| {
            programs(&load(world, &Options::default())).into_iter().map(|p| (world.name.clone(), p.2))
        })
        .filter(|(world, source)| {
            let file = source.file_name().unwrap_or_default().to_string_lossy();
            let row = text.lines().find(|line| line.starts_with(&format!("| [{file}]")));
            !row.is_some_and(|row| row.contains(&format!("worlds/{world}.toml")))
        })
        .map(|(world, source)| format!("{} in {world}", source.display()))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
