//! The controller that was tested in the simulator is the one that runs on the robot: on an emulated
//! Cortex-M3 the unchanged source gives the same commands for the same registers.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use swarmyard::part_api::Register;
use swarmyard::{Options, Sim};
use swarmyard_conformance::{root, write};

const TICKS: usize = 300;

/// What the board needs, and the Debian packages that have it.
const NEEDED: [(&str, &str); 3] =
    [("clang", "clang"), ("ld.lld", "lld"), ("qemu-system-arm", "qemu-system-arm")];

/// Little-endian bytes of one register, all its numbers.
fn bytes_of(sim: &Sim, robot: &str, register: &Register) -> Vec<u8> {
    let numbers = (0..register.count).map(|k| {
        let (value, bad) =
            sim.peek(robot, register.at + k * register.bytes, register.bytes).expect("a robot");
        assert_eq!(bad, None, "register `{}`", register.name);
        value.to_le_bytes()
    });
    numbers.flat_map(|n| n.into_iter().take(register.bytes as usize)).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The registers as the controller found them in each tick, and the commands as it left them: one line
/// per tick in each.
///
/// Readings after a step are those that the controllers decided on; commands are what they left, so
/// those that they found are the ones after the step before.
fn record(sim: &mut Sim, robot: &str, registers: &[Register]) -> (Vec<String>, Vec<String>) {
    let end = registers.iter().map(Register::end).max().expect("there are registers") as usize;
    let commands = |sim: &Sim| -> Vec<(usize, Vec<u8>)> {
        let commands = registers.iter().filter(|r| r.is_command());
        let mut all: Vec<_> = commands.map(|r| (r.at as usize, bytes_of(sim, robot, r))).collect();
        all.sort();
        all
    };
    let (mut images, mut left) = (Vec::new(), Vec::new());
    let mut found = commands(sim);
    for tick in 0..TICKS {
        sim.step().unwrap_or_else(|e| panic!("{e}"));
        let readings = registers.iter().filter(|r| !r.is_command());
        let readings = readings.map(|r| (r.at as usize, bytes_of(sim, robot, r)));
        let mut image = vec![0; end];
        for (at, bytes) in readings.chain(found) {
            image[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        images.push(hex(&image));
        found = commands(sim);
        let bytes: Vec<u8> = found.iter().flat_map(|(_, bytes)| bytes.clone()).collect();
        left.push(format!("{tick} {}", hex(&bytes)));
    }
    (images, left)
}

fn missing() -> Vec<&'static str> {
    let there = |program: &str| Command::new(program).arg("--version").output().is_ok();
    NEEDED.iter().filter(|(program, _)| !there(program)).map(|(_, package)| *package).collect()
}

#[test]
fn a_cortex_m3_gives_the_commands_that_the_simulator_gave() {
    let missing = missing();
    assert!(
        missing.is_empty(),
        "this test needs Debian packages that are not here: apt install {} (`cargo xtask test` does it)",
        missing.join(" ")
    );
    let mut sim =
        Sim::load(root().join("worlds/reflex.toml"), &Options::default()).unwrap_or_else(|e| panic!("{e}"));
    let model = sim.model().clone();
    let ty = model.types.iter().find(|t| t.name == "vehicle").expect("the type is there");
    let (images, commands) = record(&mut sim, "/robots/b", ty.registers.all());
    let different: std::collections::BTreeSet<&str> =
        commands.iter().filter_map(|line| line.split(' ').nth(1)).collect();
    assert!(different.len() >= 2, "the robot does one thing only: {different:?}");

    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cortex-m3");
    std::fs::create_dir_all(&folder).expect("a folder can be made");
    write(&folder.join("registers.h"), &swarmyard::agents::c_header("vehicle", &ty.registers));
    write(&folder.join("images.txt"), &(images.join("\n") + "\n"));
    let done = Command::new(root().join("sdk/c/boards/cortex-m3/run.sh"))
        .arg(root().join("examples/controllers/avoid.c"))
        .arg(&folder)
        .arg(folder.join("images.txt"))
        .env("TICK_US", "50000")
        .output()
        .expect("the board's script runs");
    assert!(done.status.success(), "{}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    let on_the_board = String::from_utf8_lossy(&done.stdout);
    let on_the_board: Vec<&str> = on_the_board.lines().collect();
    assert_eq!(on_the_board.len(), TICKS);
    for (board, simulator) in on_the_board.iter().zip(&commands) {
        assert_eq!(board, simulator, "tick and bytes of DRIVE_LEFT and DRIVE_RIGHT");
    }
}
