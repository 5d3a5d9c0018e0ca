//! Consensus: what is decided was proposed, once, and by everybody the same.

use super::{Violations, all};
use crate::lab::{Trace, What, shown};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_part_api::{Bytes, Indication, Propose, Request};

/// One instance as a story.
#[derive(Default)]
struct Story {
    /// (process, value), in order.
    proposed: Vec<(u32, Bytes)>,
    /// (process, life, value, whether it had been proposed), in order.
    decided: Vec<(u32, u32, Bytes, bool)>,
}

fn stories(trace: &Trace) -> BTreeMap<u64, Story> {
    let mut stories: BTreeMap<u64, Story> = BTreeMap::new();
    let mut lives = vec![0; trace.processes as usize];
    for event in &trace.events {
        match &event.what {
            What::Recovered => lives[event.process as usize] += 1,
            What::Requested { request: Request::Consensus(Propose { instance, value }), .. } => {
                stories.entry(*instance).or_default().proposed.push((event.process, value.clone()));
            }
            What::Indicated { what: Indication::Decided { instance, value }, .. } => {
                let story = stories.entry(*instance).or_default();
                let known = story.proposed.iter().any(|p| p.1 == *value);
                let life = lives[event.process as usize];
                story.decided.push((event.process, life, value.clone(), known));
            }
            _ => {}
        }
    }
    stories
}

/// Validity: what is decided was proposed before, by anybody.
#[must_use]
pub fn validity(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    for (instance, story) in stories(trace) {
        for (p, _, value, _) in story.decided.iter().filter(|d| !d.3) {
            let value = shown(value);
            wrong.push(format!(
                "validity: process {p} decides {value} in instance {instance}, which nobody has proposed"
            ));
        }
    }
    wrong
}

/// Integrity: nobody decides an instance twice in one life.
#[must_use]
pub fn integrity(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    for (instance, story) in stories(trace) {
        let mut seen = BTreeSet::new();
        for (p, ..) in story.decided.iter().filter(|d| !seen.insert((d.0, d.1))) {
            wrong.push(format!("integrity: process {p} decides instance {instance} twice"));
        }
    }
    wrong
}

/// Agreement: no two correct processes decide differently.
#[must_use]
pub fn agreement(trace: &Trace) -> Violations {
    let correct = trace.correct();
    agree("agreement", trace, |p| correct.contains(&p))
}

/// Uniform agreement: no two processes decide differently, not even when they crash later.
#[must_use]
pub fn uniform_agreement(trace: &Trace) -> Violations {
    agree("uniform agreement", trace, |_| true)
}

fn agree(property: &str, trace: &Trace, counts: impl Fn(u32) -> bool) -> Violations {
    let mut wrong = Violations::new();
    for (instance, story) in stories(trace) {
        let mut deciders = story.decided.iter().filter(|d| counts(d.0));
        let Some((first, _, value, _)) = deciders.next() else { continue };
        for (p, _, other, _) in deciders.filter(|d| d.2 != *value) {
            let (a, b) = (shown(value), shown(other));
            wrong.push(format!(
                "{property}: in instance {instance} process {first} decides {a}, process {p} {b}"
            ));
        }
    }
    wrong
}

/// Termination: an instance that all correct processes propose in, or that one of them decides, is decided by
/// all of them.
#[must_use]
pub fn termination(trace: &Trace) -> Violations {
    let correct = trace.correct();
    let mut wrong = Violations::new();
    for (instance, story) in stories(trace) {
        let proposers: BTreeSet<u32> = story.proposed.iter().map(|p| p.0).collect();
        let deciders: BTreeSet<u32> = story.decided.iter().map(|d| d.0).collect();
        if correct.is_subset(&proposers) || !correct.is_disjoint(&deciders) {
            for p in correct.difference(&deciders) {
                wrong.push(format!("termination: process {p} does not decide instance {instance}"));
            }
        }
    }
    wrong
}

/// What must never be broken, whatever happens: validity, integrity, uniform agreement.
#[must_use]
pub fn safety(trace: &Trace) -> Violations {
    all([validity(trace), integrity(trace), uniform_agreement(trace)])
}

/// Uniform consensus: safety and termination.
#[must_use]
pub fn uniform(trace: &Trace) -> Violations {
    all([safety(trace), termination(trace)])
}

/// In how many instances somebody decided.
#[must_use]
pub fn decided_instances(trace: &Trace) -> usize {
    stories(trace).values().filter(|s| !s.decided.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{decides, proposes};

    fn trace(events: Vec<(u32, What)>) -> Trace {
        let timed = events.into_iter().enumerate().map(|(k, (p, what))| (k as f64, p, what));
        Trace::by_hand(2, timed.collect())
    }

    fn fine() -> Vec<(u32, What)> {
        vec![(0, proposes(1, "a")), (1, proposes(1, "b")), (0, decides(1, "b")), (1, decides(1, "b"))]
    }

    #[test]
    fn a_fine_trace_passes() {
        assert_eq!(uniform(&trace(fine())), Violations::new());
        assert_eq!(decided_instances(&trace(fine())), 1);
    }

    #[test]
    fn deciding_what_nobody_proposed_is_found() {
        let mut events = fine();
        events[3].1 = decides(1, "c");
        events[2].1 = decides(1, "c");
        assert_eq!(validity(&trace(events)).len(), 2);
        let early = vec![(0, decides(1, "a")), (0, proposes(1, "a"))];
        assert_eq!(validity(&trace(early)).len(), 1);
    }

    #[test]
    fn deciding_twice_is_found_within_one_life_only() {
        let mut events = fine();
        events.push((0, decides(1, "b")));
        assert_eq!(integrity(&trace(events)), ["integrity: process 0 decides instance 1 twice"]);
        let mut events = fine();
        events.extend([(0, What::Crashed), (0, What::Recovered), (0, decides(1, "b"))]);
        assert_eq!(integrity(&trace(events)), Violations::new());
    }

    #[test]
    fn disagreement_is_found_and_that_of_the_dead_by_the_uniform_checker_only() {
        let mut events = fine();
        events[3].1 = decides(1, "a");
        assert_eq!(agreement(&trace(events.clone())).len(), 1);
        events.push((1, What::Crashed));
        assert_eq!(agreement(&trace(events.clone())), Violations::new());
        assert_eq!(uniform_agreement(&trace(events)).len(), 1);
    }

    #[test]
    fn other_instances_may_decide_otherwise() {
        let mut events = fine();
        events.extend([(0, proposes(2, "a")), (0, decides(2, "a"))]);
        assert_eq!(safety(&trace(events)), Violations::new());
    }

    #[test]
    fn not_deciding_is_found_when_all_proposed_or_one_decided() {
        let mut events = fine();
        events.truncate(2);
        assert_eq!(termination(&trace(events.clone())).len(), 2);
        events.truncate(1);
        assert_eq!(termination(&trace(events.clone())), Violations::new());
        events.push((0, decides(1, "a")));
        assert_eq!(termination(&trace(events)), ["termination: process 1 does not decide instance 1"]);
    }
}
