//! Clocks: what robots say they show, at moments that the trace knows better.
//!
//! In: readings, each at a moment of the one time of the trace. Out: clocks that are too far apart or too far off,
//! that break what they say of themselves, or that were told without being asked, or too early. Only robots that
//! live are asked, so only they count.

use super::Violations;
use crate::lab::{Trace, What};
use std::collections::BTreeMap;
use swarmyard_base::{Moment, Time, math};
use swarmyard_part_api::{Indication, ReadClock, Request};

/// What rounding may add, s.
const ROUNDING_S: f64 = 1e-9;
/// Readings this far apart are compared by [`claims`], s: over real sockets nobody is asked at the same moment.
const TOGETHER_S: f64 = 0.1;
/// What clocks may gain or lose between such readings, for each second.
const SLACK: f64 = 0.01;

/// One reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// When.
    pub at: Moment,
    /// Whose.
    pub process: u32,
    /// What it showed, s.
    pub reading_s: f64,
    /// How far it may be off, by its own words, s.
    pub error_s: Option<f64>,
}

impl Reading {
    /// How far it is ahead of the time of the trace, s.
    fn ahead_s(&self) -> f64 {
        self.reading_s - self.at.since(Moment::ZERO)
    }
}

/// All readings, in order.
pub fn readings(trace: &Trace) -> impl Iterator<Item = Reading> {
    trace.indications().filter_map(|(at, process, _, what)| match *what {
        Indication::Clock { reading_s, error_s } => Some(Reading { at, process, reading_s, error_s }),
        _ => None,
    })
}

/// Readings of the same moment, moment by moment, from some seconds on.
fn moments(trace: &Trace, from_s: f64) -> BTreeMap<Moment, Vec<Reading>> {
    let from = Moment::at(Time::from_seconds(from_s));
    let mut moments: BTreeMap<Moment, Vec<Reading>> = BTreeMap::new();
    for reading in readings(trace).filter(|r| r.at >= from) {
        moments.entry(reading.at).or_default().push(reading);
    }
    moments
}

/// How far two clocks that were read at one moment differ at most, from some seconds on, s.
#[must_use]
pub fn greatest_skew_s(trace: &Trace, from_s: f64) -> f64 {
    let skews = moments(trace, from_s).into_values().map(|together| {
        let least = together.iter().map(|r| r.reading_s).fold(f64::INFINITY, math::min);
        together.iter().map(|r| r.reading_s - least).fold(0.0, math::max)
    });
    skews.fold(0.0, math::max)
}

/// Skew: from some seconds on, clocks that are read at one moment differ by no more than a bound.
#[must_use]
pub fn skew(trace: &Trace, from_s: f64, bound_s: f64) -> Violations {
    let mut wrong = Violations::new();
    for (at, together) in moments(trace, from_s) {
        for (k, a) in together.iter().enumerate() {
            for b in &together[k + 1..] {
                let apart_s = (a.reading_s - b.reading_s).abs();
                if apart_s > bound_s + ROUNDING_S {
                    let (p, q) = (a.process, b.process);
                    wrong.push(format!("skew: at {} the clocks of processes {p} and {q} differ by {apart_s:.9} s, more than {bound_s:.9} s", at.time));
                }
            }
        }
    }
    wrong
}

/// Accuracy: from some seconds on, no clock is further from the reference's, read at the same moment, than a bound.
#[must_use]
pub fn accuracy(trace: &Trace, from_s: f64, reference: u32, bound_s: f64) -> Violations {
    let mut wrong = Violations::new();
    for (at, together) in moments(trace, from_s) {
        let Some(truth) = together.iter().find(|r| r.process == reference) else { continue };
        for r in &together {
            let off_s = (r.reading_s - truth.reading_s).abs();
            if off_s > bound_s + ROUNDING_S {
                let p = r.process;
                wrong.push(format!("accuracy: at {} the clock of process {p} is off by {off_s:.9} s, more than {bound_s:.9} s", at.time));
            }
        }
    }
    wrong
}

/// Claims: two clocks that say how far they may be off differ by no more than that, both together. Readings need
/// not be of one moment, only of about one.
#[must_use]
pub fn claims(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    let mut recent: Vec<(Reading, f64)> = Vec::new();
    for reading in readings(trace) {
        recent.retain(|(r, _)| reading.at.since(r.at) <= TOGETHER_S);
        let Some(error_s) = reading.error_s else { continue };
        for (other, other_error_s) in recent.iter().filter(|(r, _)| r.process != reading.process) {
            let apart_s = (reading.ahead_s() - other.ahead_s()).abs();
            let most_s = error_s + other_error_s + SLACK * reading.at.since(other.at);
            if apart_s > most_s + ROUNDING_S {
                let (p, q) = (other.process, reading.process);
                wrong.push(format!("claims: at {} the clocks of processes {p} and {q} differ by {apart_s:.9} s, and by their own words by no more than {most_s:.9} s", reading.at.time));
            }
        }
        recent.push((reading, error_s));
    }
    wrong
}

/// Answers: a clock is told once for each time that somebody asks, and to who waits for a time not before it shows
/// that. What is still waited for at the end is no breach.
#[must_use]
pub fn answers(trace: &Trace) -> Violations {
    let mut wrong = Violations::new();
    let mut asked: BTreeMap<(u32, u16), (u64, Vec<f64>)> = BTreeMap::new();
    for event in &trace.events {
        let p = event.process;
        match &event.what {
            What::Requested { port, request: Request::Clock(read) } => {
                let (at_once, waits) = asked.entry((p, *port)).or_default();
                match read {
                    ReadClock::Now => *at_once += 1,
                    ReadClock::At(at_s) => waits.push(*at_s),
                }
            }
            What::Indicated { port, what: Indication::Clock { reading_s, .. } } => {
                let (at_once, waits) = asked.entry((p, *port)).or_default();
                // Who wants to know now is told before anything else happens.
                if *at_once > 0 {
                    *at_once -= 1;
                } else if let Some(k) = waits.iter().position(|at_s| *at_s <= reading_s + ROUNDING_S) {
                    waits.remove(k);
                } else {
                    let what = if waits.is_empty() { "unasked" } else { "too early" };
                    wrong.push(format!(
                        "answers: process {p} was told at {} {what} that its clock shows {reading_s} s",
                        event.at.time
                    ));
                }
            }
            What::Crashed => asked.retain(|(q, _), _| *q != p),
            _ => {}
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{reads, shows, waits_until};

    #[test]
    fn clocks_that_are_read_at_one_moment_are_compared_and_others_not() {
        let trace = Trace::by_hand(
            3,
            vec![
                (1.0, 0, shows(1.0, None)),
                (1.0, 1, shows(1.3, None)),
                (1.0, 2, shows(0.9, None)),
                (2.0, 2, shows(9.0, None)),
            ],
        );
        assert!((greatest_skew_s(&trace, 0.0) - 0.4).abs() < 1e-12);
        assert_eq!(skew(&trace, 0.0, 0.4), Violations::new());
        assert_eq!(skew(&trace, 0.0, 0.35).len(), 1);
        assert_eq!(skew(&trace, 0.0, 0.2).len(), 2);
        assert_eq!(skew(&trace, 1.5, 0.0), Violations::new(), "before that nothing counts");
        assert_eq!(accuracy(&trace, 0.0, 0, 0.3), Violations::new());
        assert_eq!(accuracy(&trace, 0.0, 0, 0.2).len(), 1);
        assert_eq!(accuracy(&trace, 0.0, 1, 0.2).len(), 2);
    }

    #[test]
    fn who_says_too_little_of_its_error_is_found_and_who_says_none_is_not() {
        let two = |error_s: f64, other: Option<f64>| {
            let events = vec![(5.0, 0, shows(5.0, Some(error_s))), (5.05, 1, shows(5.25, other))];
            claims(&Trace::by_hand(2, events)).len()
        };
        assert_eq!(two(0.1, Some(0.1)), 0, "0.2 s ahead, and they say so");
        assert_eq!(two(0.1, Some(0.09)), 1);
        assert_eq!(two(0.0, None), 0);
        let long_ago = vec![(5.0, 0, shows(5.0, Some(0.0))), (6.0, 1, shows(9.0, Some(0.0)))];
        assert_eq!(claims(&Trace::by_hand(2, long_ago)), Violations::new());
    }

    #[test]
    fn unasked_early_and_doubled_answers_are_found() {
        let fine = vec![
            (1.0, 0, reads()),
            (1.0, 0, waits_until(3.0)),
            (1.0, 0, shows(1.5, None)),
            (2.0, 0, waits_until(2.0)),
            (2.0, 0, shows(2.5, None)),
            (2.5, 0, shows(3.0, None)),
        ];
        assert_eq!(answers(&Trace::by_hand(1, fine.clone())), Violations::new());
        let without = |k: usize| {
            let mut events = fine.clone();
            events.remove(k);
            answers(&Trace::by_hand(1, events))
        };
        assert!(without(0)[0].contains("too early"), "nobody asked for that one");
        assert!(without(1)[0].contains("unasked"));
        let mut twice = fine.clone();
        twice.push((2.5, 0, shows(3.0, None)));
        assert_eq!(answers(&Trace::by_hand(1, twice)).len(), 1);
        let mut crashed = fine;
        crashed.insert(5, (2.2, 0, What::Crashed));
        assert_eq!(answers(&Trace::by_hand(1, crashed)).len(), 1, "who crashed waits for nothing");
    }
}
