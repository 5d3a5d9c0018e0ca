//! Somebody else's console: the example in Python.
//!
//! Runs when `SWARMYARD_PYTHON` names an interpreter that has `websockets` (`cargo xtask` sees to that);
//! without it the test says that it was skipped, and passes unless the check is to be whole. By hand:
//!
//! ```text
//! python3 -m venv venv && venv/bin/pip install websockets
//! SWARMYARD_PYTHON=venv/bin/python cargo test -p swarmyard --test displays python
//! ```

use crate::circles;
use crate::served::{Served, told};
use std::io::Write as _;
use std::process::Command;

/// Says that a test does nothing here, and why. In a whole check, where everything is to be there, that is a failure.
fn skipped(why: &str) {
    assert!(std::env::var_os("SWARMYARD_WHOLE").is_none(), "cannot be tested here: {why}");
    // Past whoever keeps what tests print; a message that nobody can read is none.
    let _ = writeln!(std::io::stderr(), "SKIPPED: {why}");
}

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/displays/console.py");

#[test]
fn a_console_in_python_drives_a_run_and_writes_the_scenario() {
    let Ok(python) = std::env::var("SWARMYARD_PYTHON") else {
        return skipped("SWARMYARD_PYTHON is not set");
    };
    let mut served = Served::start("python", &circles());
    let (code, out, err) = told(&Command::new(python).args([SCRIPT, &served.url, "--end"]).output().unwrap());
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.contains("after ten steps: 0.2 s") && out.contains("back at stop 0"), "{out}");
    assert!(served.ended(), "the server has ended");
    let text = std::fs::read_to_string(served.path("world.toml")).unwrap();
    assert!(text.contains("at = [-0.95, 0]"), "{text}");
    assert!(text.ends_with("by console.py.\n") && text.contains("# The one in the west."), "{text}");
}

#[test]
fn the_console_in_python_is_short() {
    let text = std::fs::read_to_string(SCRIPT).unwrap();
    assert!(text.lines().count() < 100, "{} lines", text.lines().count());
}
