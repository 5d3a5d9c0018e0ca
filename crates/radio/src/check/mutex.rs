//! Mutual exclusion: never two at once, and everybody gets a turn.
//!
//! A process is in from the moment it is told so until it leaves or crashes.

use super::{Violations, all};
use crate::lab::{Trace, What};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_part_api::{Exclusion, Indication, Request};

/// Safety: never two in at once, and nobody in who did not want to be.
#[must_use]
pub fn exclusion(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    let mut inside: BTreeSet<u32> = BTreeSet::new();
    let mut wants: BTreeMap<u32, usize> = BTreeMap::new();
    for event in &trace.events {
        let p = event.process;
        match &event.what {
            What::Requested { request: Request::Mutex(Exclusion::Enter), .. } => {
                *wants.entry(p).or_default() += 1;
            }
            What::Indicated { what: Indication::Entered, .. } => {
                for q in &inside {
                    wrong.push(format!(
                        "exclusion: process {p} enters at {}, and process {q} is in",
                        event.at.time
                    ));
                }
                match wants.get_mut(&p).filter(|w| **w > 0) {
                    Some(w) => *w -= 1,
                    None => wrong.push(format!("exclusion: process {p} enters at {} unasked", event.at.time)),
                }
                inside.insert(p);
            }
            What::Requested { request: Request::Mutex(Exclusion::Leave), .. } => {
                inside.remove(&p);
            }
            What::Crashed => {
                inside.remove(&p);
                wants.remove(&p);
            }
            _ => {}
        }
    }
    wrong
}

/// Liveness: every correct process that wants in gets in.
#[must_use]
pub fn liveness(trace: &Trace) -> Violations {
    let correct = trace.correct();
    let mut wants: BTreeMap<u32, i64> = BTreeMap::new();
    for event in trace.events.iter().filter(|e| correct.contains(&e.process)) {
        match &event.what {
            What::Requested { request: Request::Mutex(Exclusion::Enter), .. } => {
                *wants.entry(event.process).or_default() += 1;
            }
            What::Indicated { what: Indication::Entered, .. } => {
                *wants.entry(event.process).or_default() -= 1
            }
            _ => {}
        }
    }
    let stuck = wants.into_iter().filter(|w| w.1 > 0);
    stuck
        .map(|(p, times)| format!("liveness: process {p} wants in and never gets in, {times} times"))
        .collect()
}

/// Both.
#[must_use]
pub fn mutex(trace: &Trace) -> Violations {
    all([exclusion(trace), liveness(trace)])
}

/// How often somebody got in.
#[must_use]
pub fn entries(trace: &Trace) -> usize {
    trace.indications().filter(|i| *i.3 == Indication::Entered).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{enters, leaves, wants};

    fn events() -> Vec<(f64, u32, What)> {
        vec![
            (1.0, 0, wants()),
            (1.0, 1, wants()),
            (2.0, 0, enters()),
            (3.0, 0, leaves()),
            (3.0, 1, enters()),
            (4.0, 1, leaves()),
        ]
    }

    #[test]
    fn a_fine_trace_passes() {
        let trace = Trace::by_hand(2, events());
        assert_eq!(mutex(&trace), Violations::new());
        assert_eq!(entries(&trace), 2);
    }

    #[test]
    fn two_at_once_are_found() {
        let mut events = events();
        events.swap(3, 4);
        assert_eq!(
            exclusion(&Trace::by_hand(2, events)),
            ["exclusion: process 1 enters at 3 s, and process 0 is in"]
        );
    }

    #[test]
    fn a_crash_inside_frees_the_place() {
        let mut events = events();
        events[3].2 = What::Crashed;
        assert_eq!(mutex(&Trace::by_hand(2, events)), Violations::new());
    }

    #[test]
    fn entering_unasked_and_never_entering_are_found() {
        let mut unasked = events();
        unasked.remove(1);
        assert_eq!(exclusion(&Trace::by_hand(2, unasked)), ["exclusion: process 1 enters at 3 s unasked"]);
        let mut never = events();
        never.truncate(4);
        assert_eq!(
            liveness(&Trace::by_hand(2, never)),
            ["liveness: process 1 wants in and never gets in, 1 times"]
        );
    }
}
