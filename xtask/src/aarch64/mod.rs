//! `cargo xtask aarch64`: whether x86-64 and aarch64 compute the same bits, tried on one x86-64 machine.
//!
//! In: a Debian machine, root, the network, about 6 GB below `target/aarch64`, and a good hour of one processor.
//! Out: what was found, line by line; an error that names the first thing that is not the same.
//!
//! The command is built for aarch64 in a Debian of its own ([`debian`]) and run by qemu ([`emulated`]). Nothing stays mounted
//! or registered, also when this fails or is killed: mounts live in namespaces of the processes that need them.

mod debian;
mod emulated;
mod mixed;

use crate::goldens::Golden;
use crate::{cargo, root, tools, web};
use emulated::Emulated;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Instant;

const PLAN: &str = "\
This takes, once, a Debian with compilers for aarch64 into target/aarch64/debian (3 GB from deb.debian.org), builds swarmyard in
it for aarch64, and runs that build by qemu beside the build for this machine. Nothing outside of target is changed, except that
debootstrap is installed where it is missing.";

/// Builds for aarch64, and compares with this machine: self-test, goldens, runs over hosts of both kinds.
pub(crate) fn all() -> Result<(), String> {
    if (std::env::consts::OS, std::env::consts::ARCH) != ("linux", "x86_64") {
        return Err("this compares aarch64 with x86-64, and needs Linux on x86-64 to start from".to_owned());
    }
    if !tools::is_root() {
        return Err(
            "only root may make another system's folder and change into it: run this as root".to_owned()
        );
    }
    println!("{PLAN}\n");
    let folder = root().join("target/aarch64");
    debian::make(&folder)?;
    let program = debian::build(&folder)?;
    let emulated = Emulated::new(&debian::qemu(&folder), &program)?;
    cargo(&["build", "--quiet", "--workspace", "--bin", "swarmyard"])?;
    let here = web::target().join("debug/swarmyard");
    self_test(&here, &emulated)?;
    mixed::both(&here, &emulated, &folder)?;
    // This takes longest.
    goldens(&emulated)
}

/// `doctor` must find the same value on both, and know where it is.
fn self_test(here: &Path, emulated: &Emulated) -> Result<(), String> {
    let mut values = Vec::new();
    for (arch, mut command) in [("x86_64", Command::new(here)), ("aarch64", emulated.command())] {
        let said = output(command.arg("doctor"))?;
        if !said.contains(&format!("linux on {arch}")) {
            return Err(format!("`doctor` should say that it is on {arch}:\n{said}"));
        }
        let value =
            said.lines().find_map(|l| l.trim().strip_prefix("self-test")).unwrap_or("not told").trim();
        println!("self-test on {arch}: {value}");
        values.push(value.to_owned());
    }
    if values[0] == values[1] { Ok(()) } else { Err("the self-test of the two is not the same".to_owned()) }
}

/// Every golden world under qemu, as many at once as there are processors.
fn goldens(emulated: &Emulated) -> Result<(), String> {
    // Native programs are started by a call of the kernel that qemu does not know: those worlds would come out otherwise.
    let (native, all): (Vec<Golden>, _) = Golden::all()?.into_iter().partition(Golden::has_native_programs);
    let names: Vec<&str> = native.iter().map(|golden| golden.name.as_str()).collect();
    println!("left out, because qemu cannot start their native programs: {}", names.join(", "));
    let (start, next, wrong) = (Instant::now(), Mutex::new(all.iter()), Mutex::new(Vec::new()));
    let one_after_another = || {
        while let Some(golden) = next.lock().ok().and_then(|mut all| all.next()) {
            let from = Instant::now();
            let found = golden.hash_by(&mut emulated.command(), &[]).unwrap_or_else(|why| why);
            let good = found == golden.hash;
            let (Golden { name, quanta, hash }, took) = (golden, from.elapsed().as_secs_f64());
            println!(
                "{} {name} after {quanta} quanta: {found} ({took:.0} s)",
                if good { "same  " } else { "OTHER " }
            );
            if let (false, Ok(mut wrong)) = (good, wrong.lock()) {
                wrong.push(format!(
                    "`{name}` after {quanta} quanta has `{found}` on aarch64, golden `{hash}`"
                ));
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(one_after_another);
        }
    });
    let wrong = wrong.into_inner().unwrap_or_default();
    let same = all.len() - wrong.len();
    println!(
        "goldens on aarch64: {same} of {} the same, in {:.0} s",
        all.len(),
        start.elapsed().as_secs_f64()
    );
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// What a command prints, when it ends well.
fn output(command: &mut Command) -> Result<String, String> {
    let out = command.current_dir(root()).stdin(Stdio::null()).output();
    let out = out.map_err(|e| format!("cannot run {command:?}: {e}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if out.status.success() {
        Ok(text(&out.stdout))
    } else {
        Err(format!("{command:?} failed ({}):\n{}", out.status, text(&out.stderr)))
    }
}
