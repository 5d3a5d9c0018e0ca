//! Links: nothing made up, nothing doubled, nothing lost.
//!
//! A message is known by sender, receiver and bytes. Where the same bytes are sent again and again, have them
//! [told apart](super::promises::told_apart) first, except for [`nothing_made_up`], which does without.

use super::Violations;
use crate::lab::{Trace, What, shown};
use std::collections::BTreeSet;
use swarmyard_part_api::{Bytes, Indication, Request};

/// Sender, receiver, bytes.
type Letter = (u32, u32, Bytes);

fn sent(trace: &Trace) -> BTreeSet<Letter> {
    let mut all = BTreeSet::new();
    for (_, p, _, request) in trace.requests() {
        if let Request::Link(message) = request {
            all.extend(message.to.iter().map(|to| (p, *to, message.bytes.clone())));
        }
    }
    all
}

/// What was delivered, in order, and in which life of its receiver.
fn delivered(trace: &Trace) -> Vec<(Letter, u32)> {
    let mut lives = vec![0; trace.processes as usize];
    let mut all = Vec::new();
    for event in &trace.events {
        let p = event.process;
        match &event.what {
            What::Recovered => lives[p as usize] += 1,
            What::Indicated { what: Indication::Delivered { from, bytes }, .. } => {
                all.push(((*from, p, bytes.clone()), lives[p as usize]));
            }
            _ => {}
        }
    }
    all
}

/// No creation: what is delivered was sent, by that process and to that one. Any network keeps this.
#[must_use]
pub fn nothing_made_up(trace: &Trace) -> Violations {
    let sent = sent(trace);
    let unsent = delivered(trace).into_iter().filter(|(letter, _)| !sent.contains(letter));
    let words = unsent.map(|((from, p, bytes), _)| {
        let what = shown(&bytes);
        format!("no creation: process {p} is delivered {what} of process {from}, who has not sent it there")
    });
    words.collect()
}

/// No duplication: nothing is delivered twice in one life, unless its sender crashes, which may forget what it sent.
#[must_use]
pub fn nothing_doubled(trace: &Trace) -> Violations {
    let correct = trace.correct();
    let mut seen = BTreeSet::new();
    let mut wrong = Violations::new();
    for (letter, life) in delivered(trace) {
        let (from, p, bytes) = &letter;
        let words =
            format!("no duplication: process {p} is delivered {} of process {from} twice", shown(bytes));
        if correct.contains(from) && !seen.insert((letter, life)) {
            wrong.push(words);
        }
    }
    wrong
}

/// Reliable delivery: what a correct process sends to a correct one is delivered.
#[must_use]
pub fn nothing_lost(trace: &Trace) -> Violations {
    let correct = trace.correct();
    let delivered: BTreeSet<Letter> = delivered(trace).into_iter().map(|(letter, _)| letter).collect();
    let owed = |l: &&Letter| correct.contains(&l.0) && correct.contains(&l.1) && !delivered.contains(*l);
    let words = |(from, to, bytes): &Letter| {
        format!("delivery: process {to} is never delivered {} of process {from}", shown(bytes))
    };
    sent(trace).iter().filter(owed).map(words).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{delivers, sends};

    fn fine() -> Vec<(f64, u32, What)> {
        vec![
            (0.1, 0, sends(&[1, 2], "a")),
            (0.2, 1, delivers(0, "a")),
            (0.3, 2, delivers(0, "a")),
            (0.4, 1, sends(&[1], "self")),
            (0.4, 1, delivers(1, "self")),
        ]
    }

    fn found(events: Vec<(f64, u32, What)>) -> [usize; 3] {
        let trace = Trace::by_hand(3, events);
        [nothing_made_up(&trace), nothing_doubled(&trace), nothing_lost(&trace)].map(|v| v.len())
    }

    #[test]
    fn a_fine_trace_passes() {
        assert_eq!(found(fine()), [0, 0, 0]);
    }

    #[test]
    fn what_was_sent_to_another_or_by_nobody_is_made_up() {
        let mut events = fine();
        events.push((0.5, 0, delivers(1, "a")));
        events.push((0.5, 2, delivers(1, "self")));
        assert_eq!(found(events), [2, 0, 0]);
    }

    #[test]
    fn the_same_message_twice_is_one_too_many_but_not_in_another_life() {
        let mut events = fine();
        events.push((0.5, 2, delivers(0, "a")));
        assert_eq!(found(events.clone()), [0, 1, 0]);
        events.insert(5, (0.45, 2, What::Recovered));
        events.insert(5, (0.44, 2, What::Crashed));
        assert_eq!(found(events), [0, 0, 0]);
    }

    #[test]
    fn what_never_comes_is_lost_unless_somebody_crashes() {
        let mut events = fine();
        events.remove(2);
        assert_eq!(found(events.clone()), [0, 0, 1]);
        for who in [0, 2] {
            let mut events = events.clone();
            events.push((0.6, who, What::Crashed));
            assert_eq!(found(events), [0, 0, 0]);
        }
    }
}
