//! From arguments to a loaded world.

use super::fail::Failure;
use clap::Args;
use serde_json::{Value, json};
use std::path::Path;
use swarmyard::base::Time;
use swarmyard::base::units::Unit;
use swarmyard::engine::ControllerKind;
use swarmyard::part_api::BodyKind;
use swarmyard::{Modules, Options, Sim};

/// Changes to the scenario from the command line.
#[derive(Args)]
pub(crate) struct SetArgs {
    /// Put a value over the scenario's, such as run.duration=10s (may be repeated)
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = pair)]
    pub(crate) set: Vec<(String, String)>,
}

fn pair(text: &str) -> Result<(String, String), String> {
    let (key, value) = text.split_once('=').ok_or("write it as key=value, such as run.duration=10s")?;
    Ok((key.trim().to_owned(), value.trim().to_owned()))
}

/// How a run that is spread over workers is looked at, and what each of them may use.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(not(feature = "cluster"), expect(dead_code, reason = "nothing is spread in such a build"))]
pub(crate) struct How {
    /// Bodies come home at every so many stops; 0 is never.
    pub(crate) show_every: u64,
    /// Stops that workers may be ahead of who looks.
    pub(crate) ahead: u64,
    /// Threads of each worker.
    pub(crate) threads: u32,
}

/// Loads a scenario file.
pub(crate) fn scenario(path: &Path, overrides: &[(String, String)], threads: usize) -> Result<Sim, Failure> {
    scenario_with(path, &Options { overrides: overrides.to_vec(), threads, ..Options::default() })
}

/// Loads a scenario file.
pub(crate) fn scenario_with(path: &Path, options: &Options) -> Result<Sim, Failure> {
    Sim::load(path, options).map_err(|e| Failure::from(e).on(path.display().to_string()))
}

/// A seed: a number, or one that nobody chose.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seed(pub(crate) u64);

impl Seed {
    /// Reads `7` or `random`.
    pub(crate) fn parse(text: &str) -> Result<Seed, String> {
        if text == "random" {
            return Ok(Seed(random_seed()));
        }
        let wrong = || format!("a seed is a whole number from 0 to {}, or `random`", i64::MAX);
        let seed: u64 = text.parse().map_err(|_| wrong())?;
        if seed > i64::MAX.unsigned_abs() { Err(wrong()) } else { Ok(Seed(seed)) }
    }
}

/// The system's randomness, by way of the keys that the standard library draws for its maps. Kept
/// below 2⁵³, so that every program that reads the JSON gets it right.
fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id()) >> 11
}

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// At the first tick at or after this simulated time.
    Time(Time),
    /// After so many ticks.
    Tick(u64),
}

impl Until {
    /// Reads `60s`, `2min` or `tick:600`.
    pub(crate) fn parse(text: &str) -> Result<Until, String> {
        if let Some(ticks) = text.strip_prefix("tick:") {
            let ticks =
                ticks.parse().map_err(|_| "write a whole number of ticks, such as tick:600".to_owned())?;
            return Ok(Until::Tick(ticks));
        }
        let seconds =
            Unit::Second.parse(text).map_err(|e| format!("{e}; or write ticks, such as tick:600"))?;
        // The end of time is 292 years away.
        if !(0.0..=9.0e9).contains(&seconds) {
            return Err(format!("a run cannot last `{text}`"));
        }
        Ok(Until::Time(Time::from_seconds(seconds)))
    }

    /// Whether the run is there.
    pub(crate) fn reached(self, sim: &Sim) -> bool {
        match self {
            Until::Time(end) => sim.now() >= end,
            Until::Tick(end) => sim.state().stops >= end,
        }
    }

    /// How far the run has got, from 0 to 1.
    pub(crate) fn share(self, sim: &Sim) -> f64 {
        let (done, all) = match self {
            Until::Time(end) => (sim.now().seconds(), end.seconds()),
            Until::Tick(end) => (sim.state().stops as f64, end as f64),
        };
        if all > 0.0 { (done / all).min(1.0) } else { 1.0 }
    }
}

/// Paths of the robots whose controllers wait for commands from outside.
pub(crate) fn waiting_robots(sim: &Sim) -> Vec<String> {
    let model = sim.model();
    let waits = |kind: &ControllerKind| matches!(kind, ControllerKind::Columns(c) if c.waits());
    let waiting = model.types.iter().filter(|t| t.controllers.iter().any(|c| waits(&c.model)));
    waiting.flat_map(|t| t.slots.clone()).map(|slot| model.paths[slot].to_string()).collect()
}

/// Whether the run is a function of scenario and seed alone (tier 1), or of the journal too (tier 2).
pub(crate) fn tier(sim: &Sim) -> u8 {
    if sim.model().asks_outside() { 2 } else { 1 }
}

/// How many modules a run is, for programs.
pub(crate) fn modules_json(modules: Modules) -> Value {
    json!({ "kernel": modules.kernel, "robots": modules.robots, "total": modules.total() })
}

/// Number of robot types that have robots.
pub(crate) fn robot_types(sim: &Sim) -> usize {
    sim.model().types.iter().filter(|t| t.kind == BodyKind::Robot && !t.slots.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_is_a_time_or_a_tick() {
        assert_eq!(Until::parse("tick:600"), Ok(Until::Tick(600)));
        assert_eq!(Until::parse("1.5min"), Ok(Until::Time(Time(90_000_000_000))));
        assert_eq!(Until::parse("10"), Ok(Until::Time(Time(10_000_000_000))));
        for wrong in ["tick:", "tick:-1", "-3s", "soon", "1e300s", ""] {
            assert!(Until::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_seed_is_a_number_or_random() {
        assert_eq!(Seed::parse("7").map(|s| s.0), Ok(7));
        assert!(Seed::parse("random").is_ok_and(|s| s.0 < 1 << 53));
        assert!(Seed::parse("9223372036854775808").is_err() && Seed::parse("-1").is_err());
    }
}
