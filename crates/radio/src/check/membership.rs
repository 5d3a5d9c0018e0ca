//! Membership: the same views everywhere, and between two views the same messages.

use super::{Violations, all};
use crate::lab::{Trace, What, shown};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_part_api::{Bytes, Indication};

/// One view as one process lived through it.
struct Stay {
    process: u32,
    life: u32,
    number: u64,
    members: Vec<u32>,
    delivered: BTreeSet<(u32, Bytes)>,
}

/// The views of all processes, those of one process in order.
fn stays(trace: &Trace) -> Vec<Stay> {
    let mut stays: Vec<Stay> = Vec::new();
    let mut current: BTreeMap<u32, usize> = BTreeMap::new();
    let mut lives = vec![0; trace.processes as usize];
    for event in &trace.events {
        let process = event.process;
        match &event.what {
            What::Recovered => {
                lives[process as usize] += 1;
                current.remove(&process);
            }
            What::Indicated { what: Indication::View { number, members }, .. } => {
                current.insert(process, stays.len());
                let (number, members, life) = (*number, members.clone(), lives[process as usize]);
                stays.push(Stay { process, life, number, members, delivered: BTreeSet::new() });
            }
            What::Indicated { what: Indication::Delivered { from, bytes }, .. } => {
                if let Some(k) = current.get(&process) {
                    stays[*k].delivered.insert((*from, bytes.clone()));
                }
            }
            _ => {}
        }
    }
    stays
}

/// View agreement: views with the same number have the same members, and the numbers of one process grow.
#[must_use]
pub fn view_agreement(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    let mut known: BTreeMap<u64, (u32, Vec<u32>)> = BTreeMap::new();
    let mut last: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for stay in stays(trace) {
        let (p, number) = (stay.process, stay.number);
        let (q, members) = known.entry(number).or_insert_with(|| (p, stay.members.clone()));
        if *members != stay.members {
            wrong.push(format!(
                "views: view {number} is {members:?} at process {q}, and {:?} at process {p}",
                stay.members
            ));
        }
        if let Some(before) = last.insert((p, stay.life), number).filter(|before| *before >= number) {
            wrong.push(format!("views: process {p} comes to view {number} after view {before}"));
        }
    }
    wrong
}

/// View synchrony: processes that go from one view to the next together, as members of both, deliver the same
/// messages in it.
#[must_use]
pub fn view_synchrony(trace: &Trace) -> Violations {
    let stays = stays(trace);
    let mut wrong = Violations::new();
    // By (view, next view): the first who went that way, and what it delivered.
    let mut ways: BTreeMap<(u64, u64), &Stay> = BTreeMap::new();
    for (k, stay) in stays.iter().enumerate() {
        let same = |s: &&Stay| s.process == stay.process && s.life == stay.life;
        let Some(next) = stays[k + 1..].iter().find(same) else { continue };
        // Who hears of a view only that it is not in it was not there.
        if !stay.members.contains(&stay.process) || !next.members.contains(&stay.process) {
            continue;
        }
        let first = ways.entry((stay.number, next.number)).or_insert(stay);
        for (one, other) in [(*first, stay), (stay, *first)] {
            for (from, bytes) in one.delivered.difference(&other.delivered) {
                let (p, q, view) = (one.process, other.process, stay.number);
                let what = shown(bytes);
                wrong.push(format!("view synchrony: in view {view} process {p} delivers {what} of process {from}, process {q} does not"));
            }
        }
    }
    wrong
}

/// In the end: all correct processes are in the same last view, and nobody in it is down.
#[must_use]
pub fn settled(trace: &Trace) -> Violations {
    let mut last: BTreeMap<u32, (u64, Vec<u32>)> = BTreeMap::new();
    for stay in stays(trace) {
        last.insert(stay.process, (stay.number, stay.members));
    }
    let up = trace.up_at_the_end();
    let mut wrong = Violations::new();
    let mut first: Option<(u32, u64)> = None;
    for p in trace.correct() {
        let Some((number, members)) = last.get(&p) else {
            wrong.push(format!("views: process {p} has none"));
            continue;
        };
        let (q, other) = *first.get_or_insert((p, *number));
        if other != *number {
            wrong.push(format!("views: process {q} ends in view {other}, process {p} in view {number}"));
        }
        for down in members.iter().filter(|m| !up.contains(m)) {
            wrong
                .push(format!("views: process {down} is down, and in the last view {number} of process {p}"));
        }
    }
    wrong
}

/// View agreement and view synchrony.
#[must_use]
pub fn safety(trace: &Trace) -> Violations {
    all([view_agreement(trace), view_synchrony(trace)])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{delivers, views};

    fn events() -> Vec<(f64, u32, What)> {
        vec![
            (0.0, 0, views(0, &[0, 1, 2])),
            (0.0, 1, views(0, &[0, 1, 2])),
            (0.0, 2, views(0, &[0, 1, 2])),
            (1.0, 0, delivers(2, "a")),
            (2.0, 2, What::Crashed),
            (3.0, 1, delivers(2, "a")),
            (4.0, 1, views(1, &[0, 1])),
            (5.0, 0, views(1, &[0, 1])),
        ]
    }

    #[test]
    fn a_fine_trace_passes() {
        let trace = Trace::by_hand(3, events());
        assert_eq!(all([safety(&trace), settled(&trace)]), Violations::new());
    }

    #[test]
    fn two_views_of_one_number_are_found_and_numbers_that_fall() {
        let mut events = events();
        events[7].2 = views(1, &[0, 1, 2]);
        assert_eq!(view_agreement(&Trace::by_hand(3, events.clone())).len(), 1);
        events[7].2 = views(0, &[0, 1, 2]);
        assert_eq!(
            view_agreement(&Trace::by_hand(3, events)),
            ["views: process 0 comes to view 0 after view 0"]
        );
    }

    #[test]
    fn a_message_on_the_wrong_side_of_a_view_is_found() {
        let mut events = events();
        events.swap(5, 6);
        let wrong = view_synchrony(&Trace::by_hand(3, events));
        assert_eq!(
            wrong,
            ["view synchrony: in view 0 process 0 delivers `a` of process 2, process 1 does not"]
        );
    }

    #[test]
    fn different_ends_and_dead_members_are_found() {
        let mut events = events();
        events.pop();
        assert_eq!(settled(&Trace::by_hand(3, events)).len(), 2);
        assert_eq!(settled(&Trace::by_hand(2, Vec::new())).len(), 2);
    }
}
