//! Other people's readers open our files: the Python `mcap` and `mcap-ros2-support` packages.
//!
//! Runs when `SWARMYARD_PYTHON` names an interpreter that has both packages (`cargo xtask` sees to
//! that); without it the test says that it was skipped, and passes unless the check is to be whole. By hand:
//!
//! ```text
//! python3 -m venv venv && venv/bin/pip install mcap mcap-ros2-support
//! SWARMYARD_PYTHON=venv/bin/python cargo test -p swarmyard-record --test suite python
//! ```
#![expect(clippy::disallowed_methods, reason = "the test starts another program and hands it files")]

use crate::world::{Disk, RAYS, Run, Setup};
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

/// Says that a test does nothing here, and why. In a whole check, where everything is to be there, that is a failure.
fn skipped(why: &str) {
    assert!(std::env::var_os("SWARMYARD_WHOLE").is_none(), "cannot be tested here: {why}");
    // Past whoever keeps what tests print; a message that nobody can read is none.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

#[test]
fn python_reads_what_was_recorded() {
    let Ok(python) = std::env::var("SWARMYARD_PYTHON") else {
        return skipped("SWARMYARD_PYTHON is not set");
    };
    let topics = vec!["/robots/r1", "/robots/r1/rays", "/robots/r1/nose", "/robots/r1/drive"];
    let disk = Disk::new(usize::MAX);
    let mut run = Run::new(&Setup { topics, ..Setup::default() }, disk.clone());
    run.steps(25);
    let (state, model) = (run.world.state.clone(), &run.world.model);
    let slot = model.slot_of_path("/robots/r1").unwrap();
    let (pose, twist) = (state.pose[slot].at_height(0.0), state.twist[slot]);
    let expected = serde_json::json!({
        "seed": 7, "step": 25, "frames": 26, "time_ns": state.now.0,
        "x": pose.position[0], "y": pose.position[1], "qz": pose.quaternion_xyzw[2], "qw": pose.quaternion_xyzw[3],
        "forward": twist.forward, "spin": twist.spin,
        "angle_min": RAYS.0, "angle_increment": RAYS.1, "angle_max": RAYS.0 + RAYS.1 * (RAYS.2 - 1) as f64,
        "range_max": 8.0, "ranges": ["1", "inf", "3", "4", "5"],
    });
    run.finish();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let (recording, numbers) = (folder.join("python.mcap"), folder.join("python.json"));
    std::fs::write(&recording, disk.contents()).unwrap();
    std::fs::write(&numbers, expected.to_string()).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/read_with_python.py");
    let output = Command::new(&python).arg(script).arg(&recording).arg(&numbers).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`{python}` says:\n{text}");
}
