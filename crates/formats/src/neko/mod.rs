//! The files of Neko's simulator of cooperative robots: its configuration and its log.
//!
//! [`config`] reads `robotsim.config` as a scenario, [`log`] reads and writes the log of a run. What
//! every key and line means is in `docs/neko.md`.

pub mod config;
pub mod log;
pub mod playback;
mod properties;
mod told;
mod toml;

use crate::tree::{self, Data, Tree};
use crate::{Limits, NoFiles, read_within};
use swarmyard_base::SourceId;
use swarmyard_part_api::Registry;

/// Whether a file of that name is a configuration of Neko.
pub(crate) fn is_config(name: &str) -> bool {
    name.ends_with(".config")
}

/// Reads anything as a configuration; for fuzzing. It must never panic, and what can be read must be the
/// same as a scenario's text.
pub fn fuzz_config(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let _ = read_within(Limits::SMALL, ("fuzz.config", &text), &[], &NoFiles, &Registry::new());
    let Ok(converted) = config::convert("fuzz.config", &text) else { return };
    let (made, _) = config::tree(&text, SourceId(0));
    let read = tree::parse(&converted.toml, SourceId(0)).ok();
    let same = made.zip(read).is_some_and(|(a, b)| is_same(&a, &b));
    assert!(same, "a configuration and its scenario are the same:\n{text}\n---\n{}", converted.toml);
}

/// Reads anything as a log; for fuzzing. It must never panic, a line that can be read must be written back
/// to the byte, and robots must be somewhere.
pub fn fuzz_log(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = Vec::new();
    for text in text.lines() {
        if let Ok(line) = log::read_line(text) {
            assert_eq!(line.to_string(), text, "a line is written back as it was");
            lines.push(line);
        }
    }
    let _ = log::read("fuzz.log", &text);
    if let Ok(played) = playback::scenario(&lines, "fuzz", 10.0, 0.1) {
        assert!(tree::parse(&played.text, SourceId(0)).is_ok(), "the scenario that plays a log can be read");
    }
    let Ok(animation) = log::Animation::of(&lines) else { return };
    for &robot in animation.robots.keys() {
        for time in [f64::NEG_INFINITY, 0.0, animation.end_s / 3.0, animation.end_s, 1e300, f64::INFINITY] {
            let pose = animation.pose_at(robot, time);
            assert!(pose.is_some_and(|p| p.at.x.is_finite() && p.at.y.is_finite() && p.heading.is_finite()));
        }
    }
}

/// Whether two trees say the same, wherever that stands and in whatever order.
fn is_same(a: &Tree, b: &Tree) -> bool {
    match (&a.data, &b.data) {
        (Data::Table(x), Data::Table(y)) => {
            x.len() == y.len() && x.iter().all(|(k, t)| b.get(&k.text).is_some_and(|other| is_same(t, other)))
        }
        (Data::Array(x), Data::Array(y)) => x.len() == y.len() && x.iter().zip(y).all(|(a, b)| is_same(a, b)),
        (x, y) => x == y,
    }
}
