//! How good a failure detector is, seen by itself: how often it was wrong, for how long.
//!
//! In: its suspicions and their ends. Out: the measures of Chen, Toueg and Aguilera that need no knowledge of
//! crashes: T_M (how long a mistake lasts) and T_MR (from the start of one mistake to the start of the next).
//! T_D (from the crash to the last suspicion) needs to know when the crash was; `check` takes it from a trace.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use swarmyard_base::Moment;

/// What one robot's detector has counted so far. A suspicion counts as a mistake once it is taken back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// Mistakes that have ended.
    pub mistakes: u64,
    /// Their lengths together, s.
    pub mistaken_s: f64,
    /// Times from the start of a mistake to the start of the next about the same robot.
    pub recurrences: u64,
    /// Those times together, s.
    pub recurrence_s: f64,
    /// Since when a robot is suspected now.
    since: BTreeMap<u32, Moment>,
    /// When the last mistake about a robot began.
    last: BTreeMap<u32, Moment>,
}

impl Quality {
    /// A robot is suspected from now on.
    pub fn suspected(&mut self, robot: u32, now: Moment) {
        self.since.insert(robot, now);
    }

    /// It is not any more: that was a mistake (or the robot is back).
    pub fn trusted(&mut self, robot: u32, now: Moment) {
        let Some(began) = self.since.remove(&robot) else { return };
        self.mistakes += 1;
        self.mistaken_s += now.since(began);
        if let Some(before) = self.last.insert(robot, began) {
            self.recurrences += 1;
            self.recurrence_s += began.since(before);
        }
    }

    /// Mean length of a mistake, s.
    #[must_use]
    pub fn mistake_s(&self) -> Option<f64> {
        (self.mistakes > 0).then(|| self.mistaken_s / self.mistakes as f64)
    }

    /// Mean time from the start of a mistake to the start of the next, s.
    #[must_use]
    pub fn between_s(&self) -> Option<f64> {
        (self.recurrences > 0).then(|| self.recurrence_s / self.recurrences as f64)
    }

    /// One line for the log.
    #[must_use]
    pub fn line(&self) -> String {
        let shown = |s: Option<f64>| s.map_or_else(|| String::from("-"), |s| format!("{s:.6} s"));
        let (mistake, between) = (shown(self.mistake_s()), shown(self.between_s()));
        format!("detector: {} mistakes, T_M {mistake}, T_MR {between}", self.mistakes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistake_lasts_from_suspicion_to_trust_and_recurs_from_start_to_start() {
        let at = |s: f64| Moment::ZERO.plus(s);
        let mut q = Quality::default();
        for (from, to) in [(1.0, 1.5), (3.0, 3.25), (7.0, 7.75)] {
            q.suspected(4, at(from));
            q.trusted(4, at(to));
        }
        q.suspected(5, at(9.0));
        assert_eq!(q.mistakes, 3, "a suspicion that stands is none");
        assert!((q.mistake_s().unwrap() - 0.5).abs() < 1e-9);
        assert!((q.between_s().unwrap() - 3.0).abs() < 1e-9);
        assert_eq!(q.line(), "detector: 3 mistakes, T_M 0.500000 s, T_MR 3.000000 s");
        assert_eq!(Quality::default().line(), "detector: 0 mistakes, T_M -, T_MR -");
    }
}
