//! `doctor`: what this installation is, and whether it computes what it should.

use super::fail::{Exit, Failure};
use super::out::Out;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use swarmyard::base::Uid;
use swarmyard::base::hash::bytes_hash;
use swarmyard::engine::{ControllerKind, build_id};
use swarmyard::part_api::{Occasion, Program, RegisterFile, RegisterMap};
use swarmyard::{Options, Sim, registry_with};
use swarmyard_agents::Workshop;
use swarmyard_formats::NoFiles;

/// Tiny worlds in which everything happens: rays, noise, contacts, impacts; cones, lines of sight, robots that live by events, radio.
const SELF_TESTS: [&str; 2] =
    [include_str!("doctor/self-test.toml"), include_str!("doctor/self-test-events.toml")];
/// One whose robots have a program in the sandbox, and that program: `self-test.wat` is its text.
const PROGRAM_TEST: (&str, &[u8]) =
    (include_str!("doctor/self-test-program.toml"), include_bytes!("doctor/self-test.wasm"));
/// What it is called in its world.
const PROGRAM: &str = "self-test.wasm";
/// Quanta for which it is counted what the program uses.
const COUNTED: u64 = 8;
/// What the hashes of all their steps come to, with what the program used and wrote, on every machine, in hexadecimal digits. A file of its own, so that a chore
/// can renew it; it changes only with the numerics.
const SELF_TEST_HASH: &str = include_str!("doctor/self-test.hash").trim_ascii();

/// Programs that other programs of a project may need.
const TOOLS: [(&str, &str); 5] = [
    ("python3", "scripts and notebooks"),
    ("cc", "controllers in C as native programs"),
    ("clang", "controllers in C as WebAssembly"),
    ("wasm-ld", "linking WebAssembly controllers"),
    ("chromium", "a window without a browser's frame"),
];

/// Looks at everything, and tests itself.
pub(crate) fn doctor(out: &Out) -> Result<Exit, Failure> {
    let hash = format!("{:016x}", self_test()?);
    let good = hash == SELF_TEST_HASH;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let features = cpu_features();
    let writable = can_write();
    let tools = TOOLS.map(|(name, purpose)| (name, purpose, find(name)));
    let mut text = format!("swarmyard {}, build {}\n", env!("CARGO_PKG_VERSION"), build_id());
    let _ = writeln!(text, "  system       {} on {}", std::env::consts::OS, std::env::consts::ARCH);
    let _ = writeln!(
        text,
        "  processors   {processors}, {}",
        if features.is_empty() { "no known features".into() } else { features.join(" ") }
    );
    let _ = writeln!(
        text,
        "  this folder  {}",
        if writable {
            "can be written to: recordings are possible"
        } else {
            "CANNOT be written to: record elsewhere with --record"
        }
    );
    for (name, purpose, path) in &tools {
        let found = path.as_ref().map_or_else(|| "not found".to_owned(), |p| p.display().to_string());
        let _ = writeln!(text, "  {name:<11}  {found} ({purpose})");
    }
    let _ = writeln!(text, "  self-test    {hash}, {}", if good { "as it should be" } else { "WRONG" });
    if !good {
        let _ = writeln!(
            text,
            "this build does not compute what it should: expected {SELF_TEST_HASH}. Do not trust its runs."
        );
    }
    let value = json!({
        "version": env!("CARGO_PKG_VERSION"), "build": build_id(), "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH, "processors": processors, "features": features, "writable": writable,
        "tools": tools.iter().map(|(n, w, p)| json!({ "name": n, "for": w, "path": p })).collect::<Vec<_>>(),
        "self_test": {
            "ok": good, "hash": hash, "expected": SELF_TEST_HASH,
        },
    });
    out.answer("doctor", value, &text)?;
    Ok(if good { Exit::Ok } else { Exit::Mismatch })
}

/// What this build makes of tiny worlds in which everything happens.
pub(crate) fn self_test() -> Result<u64, Failure> {
    let mut hashes = Vec::new();
    for world in SELF_TESTS {
        take_all(&mut Sim::from_text(world)?, &mut hashes)?;
    }
    let (world, module) = PROGRAM_TEST;
    let workshop = Workshop::with_made(vec![(PROGRAM.to_owned(), module.to_vec())]);
    let registry = registry_with(&Arc::new(workshop));
    let mut sim = Sim::read("self-test", world, &NoFiles, &registry, &Options::default())?;
    take_all(&mut sim, &mut hashes)?;
    for ty in &sim.model().types {
        for controller in &ty.controllers {
            if let ControllerKind::Program(program) = &controller.model {
                count(&**program, &ty.registers, &mut hashes);
            }
        }
    }
    Ok(bytes_hash(&hashes))
}

/// Every step counts, and nothing of how this build keeps its memories.
fn take_all(sim: &mut Sim, hashes: &mut Vec<u8>) -> Result<(), Failure> {
    while !sim.is_over() {
        hashes.extend(sim.step()?.hash.to_le_bytes());
    }
    Ok(())
}

/// What a program uses of its fuel, and what stands in its registers after that.
fn count(program: &dyn Program, map: &Arc<RegisterMap>, hashes: &mut Vec<u8>) {
    let (mut mind, mut registers) = (program.start(), RegisterFile::new(Arc::clone(map)));
    for tick in 0..COUNTED {
        registers.latch(|_, place, _| 0.1 * (tick + place as u64) as f64);
        let thought = mind.think(&Occasion { robot: Uid(1), tick, tick_us: 50_000 }, &mut registers);
        registers.refresh();
        hashes.extend(thought.fuel.to_le_bytes());
        hashes.push(u8::from(thought.failure.is_some()));
        hashes.extend_from_slice(registers.image());
    }
}

#[cfg(target_arch = "x86_64")]
fn cpu_features() -> Vec<&'static str> {
    let all = [
        ("sse4.2", std::arch::is_x86_feature_detected!("sse4.2")),
        ("avx", std::arch::is_x86_feature_detected!("avx")),
        ("avx2", std::arch::is_x86_feature_detected!("avx2")),
        ("fma", std::arch::is_x86_feature_detected!("fma")),
        ("avx512f", std::arch::is_x86_feature_detected!("avx512f")),
    ];
    all.into_iter().filter(|f| f.1).map(|f| f.0).collect()
}

#[cfg(not(target_arch = "x86_64"))]
fn cpu_features() -> Vec<&'static str> {
    Vec::new()
}

fn can_write() -> bool {
    let probe = format!(".swarmyard-doctor-{}.tmp", std::process::id());
    let written = std::fs::write(&probe, b"").is_ok();
    written && std::fs::remove_file(&probe).is_ok()
}

/// Where a program is, if it is anywhere the shell would look.
fn find(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    let names =
        if name == "chromium" { vec!["chromium", "chromium-browser", "google-chrome"] } else { vec![name] };
    std::env::split_paths(&paths)
        .flat_map(|dir| names.iter().map(move |n| dir.join(n)).collect::<Vec<_>>())
        .find(|p| p.is_file())
}
