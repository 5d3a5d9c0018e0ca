//! Mutual exclusion: never two at once, and everybody gets a turn.
//!
//! A process is in from the moment it is told so until it leaves or crashes.

use super::{Violations, all};
use crate::lab::{Trace, What};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::Moment;
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

/// Liveness: every correct process that wants in gets in, unless it takes its wish back (leaves before it is in).
#[must_use]
pub fn liveness(trace: &Trace) -> Violations {
    let correct = trace.correct();
    let mut wants: BTreeMap<u32, i64> = BTreeMap::new();
    let mut inside: BTreeSet<u32> = BTreeSet::new();
    for event in trace.events.iter().filter(|e| correct.contains(&e.process)) {
        let p = event.process;
        match &event.what {
            What::Requested { request: Request::Mutex(Exclusion::Enter), .. } => {
                *wants.entry(p).or_default() += 1;
            }
            What::Indicated { what: Indication::Entered, .. } => {
                *wants.entry(p).or_default() -= 1;
                inside.insert(p);
            }
            What::Requested { request: Request::Mutex(Exclusion::Leave), .. } if !inside.remove(&p) => {
                wants.remove(&p);
            }
            _ => {}
        }
    }
    let stuck = wants.into_iter().filter(|w| w.1 > 0);
    stuck
        .map(|(p, times)| format!("liveness: process {p} wants in and never gets in, {times} times"))
        .collect()
}

/// Wishes, by their place among the events, that are not granted in a trace which was cut off, and need not be: those
/// that were made after `until`; and those of who waits while others are in turn, if anybody was in after `until`. Nobody
/// waits for more than two turns of each other: one that was under way when the wish came, and one that was asked for before.
#[must_use]
pub fn excused(trace: &Trace, until: Moment) -> BTreeSet<usize> {
    let mut waiting: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
    let mut inside: BTreeSet<u32> = BTreeSet::new();
    let mut busy = false;
    for (k, event) in trace.events.iter().enumerate() {
        let p = event.process;
        match &event.what {
            What::Requested { request: Request::Mutex(Exclusion::Enter), .. } => {
                waiting.entry(p).or_insert((k, 0));
            }
            What::Indicated { what: Indication::Entered, .. } => {
                waiting.remove(&p);
                waiting.values_mut().for_each(|w| w.1 += 1);
                inside.insert(p);
                busy |= event.at > until;
            }
            What::Requested { request: Request::Mutex(Exclusion::Leave), .. } => {
                busy |= inside.remove(&p) && event.at > until;
                waiting.remove(&p);
            }
            _ => {}
        }
    }
    busy |= !inside.is_empty();
    let others = trace.processes.saturating_sub(1) as usize;
    let fine = |(k, turns): (usize, usize)| trace.events[k].at > until || busy && turns <= 2 * others;
    waiting.into_values().filter(|w| fine(*w)).map(|w| w.0).collect()
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
    fn a_wish_that_is_taken_back_need_not_be_granted() {
        let mut events = events();
        events.truncate(4);
        events.push((3.5, 1, leaves()));
        assert_eq!(mutex(&Trace::by_hand(2, events)), Violations::new());
    }

    /// Of a run that was cut off: who asked late, or waits in a queue that moves, is not stuck; who is passed over is, and who
    /// waits although nobody is in.
    #[test]
    fn who_waits_in_turn_is_excused_and_who_starves_is_not() {
        let at = |seconds: f64| Moment::at(swarmyard_base::Time::from_seconds(seconds));
        let mut waits = events();
        waits.truncate(3);
        let trace = Trace::by_hand(2, waits.clone());
        assert_eq!(excused(&trace, at(0.5)).len(), 1, "asked late");
        assert_eq!(excused(&trace, at(1.5)).len(), 1, "somebody is in");
        waits.push((3.0, 0, leaves()));
        let trace = Trace::by_hand(2, waits.clone());
        assert_eq!(excused(&trace, at(3.5)).len(), 0, "nobody is in");
        for k in 0..2 {
            let t = 4.0 + f64::from(k);
            waits.extend([(t, 0, wants()), (t + 0.1, 0, enters()), (t + 0.2, 0, leaves())]);
        }
        let trace = Trace::by_hand(2, waits);
        assert_eq!(excused(&trace, at(5.0)).len(), 0, "passed over three times");
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
