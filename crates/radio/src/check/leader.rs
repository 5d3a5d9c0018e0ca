//! Leaders: in the end one, the same for everybody, and alive.

use super::Violations;
use crate::lab::Trace;
use std::collections::BTreeMap;
use swarmyard_base::{Moment, Time};
use swarmyard_part_api::Indication;

/// Who follows whom at the end.
fn at_the_end(trace: &Trace) -> BTreeMap<u32, u32> {
    let mut leaders = BTreeMap::new();
    for (_, p, _, what) in trace.indications() {
        if let Indication::Leads(leader) = what {
            leaders.insert(p, *leader);
        }
    }
    leaders
}

/// Eventual leadership: at the end all correct processes follow the same process, which is up.
#[must_use]
pub fn eventual(trace: &Trace) -> Violations {
    let leaders = at_the_end(trace);
    let up = trace.up_at_the_end();
    let mut wrong = Violations::new();
    let mut first: Option<(u32, u32)> = None;
    for p in trace.correct() {
        let Some(&leader) = leaders.get(&p) else {
            wrong.push(format!("leader: process {p} has none"));
            continue;
        };
        if !up.contains(&leader) {
            wrong.push(format!("leader: process {p} follows process {leader}, which is down"));
        }
        let (q, other) = *first.get_or_insert((p, leader));
        if other != leader {
            wrong.push(format!(
                "leader: process {q} follows process {other}, process {p} follows process {leader}"
            ));
        }
    }
    wrong
}

/// The same, and no correct process changes its leader from some seconds on.
#[must_use]
pub fn settled_since(trace: &Trace, seconds: f64) -> Violations {
    let since = Moment::at(Time::from_seconds(seconds));
    let correct = trace.correct();
    let mut wrong = eventual(trace);
    let mut leaders: BTreeMap<u32, u32> = BTreeMap::new();
    for (at, p, _, what) in trace.indications() {
        if let Indication::Leads(leader) = what {
            let before = leaders.insert(p, *leader);
            if at >= since && before != Some(*leader) && correct.contains(&p) {
                wrong.push(format!("leader: process {p} begins to follow process {leader} at {}", at.time));
            }
        }
    }
    wrong
}

/// At most one leader ever, as a single election must give: everybody who hears of one hears of the same.
#[must_use]
pub fn only_one_ever(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    let mut first: Option<(u32, u32)> = None;
    for (_, p, _, what) in trace.indications() {
        if let Indication::Leads(leader) = what {
            let (q, other) = *first.get_or_insert((p, *leader));
            if other != *leader {
                wrong.push(format!(
                    "one leader: process {q} heard of process {other}, process {p} of process {leader}"
                ));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::What;
    use crate::lab::brief::follows;

    fn events() -> Vec<(f64, u32, What)> {
        vec![
            (1.0, 0, follows(2)),
            (1.0, 1, follows(2)),
            (5.0, 2, What::Crashed),
            (6.0, 0, follows(1)),
            (7.0, 1, follows(1)),
        ]
    }

    #[test]
    fn a_fine_trace_passes() {
        let trace = Trace::by_hand(3, events());
        assert_eq!(eventual(&trace), Violations::new());
        assert_eq!(settled_since(&trace, 7.5), Violations::new());
    }

    #[test]
    fn two_leaders_dead_leaders_and_none_are_found() {
        let without = |k: usize| {
            let mut events = events();
            events.remove(k);
            eventual(&Trace::by_hand(3, events))
        };
        assert_eq!(without(4).len(), 2, "a dead one, and not the same");
        let mut events = events();
        events.truncate(3);
        assert_eq!(eventual(&Trace::by_hand(3, events.clone())).len(), 2);
        events.remove(0);
        assert!(eventual(&Trace::by_hand(3, events))[0].contains("process 0 has none"));
    }

    #[test]
    fn late_changes_are_found_and_the_same_again_is_none() {
        assert_eq!(settled_since(&Trace::by_hand(3, events()), 6.5).len(), 1);
        let mut again = events();
        again.push((9.0, 0, follows(1)));
        assert_eq!(settled_since(&Trace::by_hand(3, again), 7.5), Violations::new());
    }

    #[test]
    fn an_election_with_two_winners_is_found() {
        let two = vec![(1.0, 0, follows(2)), (1.0, 1, follows(1))];
        assert_eq!(only_one_ever(&Trace::by_hand(3, two)).len(), 1);
        let one = vec![(1.0, 0, follows(2)), (1.0, 1, follows(2))];
        assert_eq!(only_one_ever(&Trace::by_hand(3, one)), Violations::new());
    }
}
