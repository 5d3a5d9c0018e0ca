//! Failure detectors: complete, accurate in the end, and how good on the way.

use super::Violations;
use crate::lab::{Trace, What};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::{Moment, Time, math};
use swarmyard_part_api::Indication;

/// Who is suspected by whom at the end: (who, whom).
fn at_the_end(trace: &Trace) -> BTreeSet<(u32, u32)> {
    let mut suspicions = BTreeSet::new();
    for (_, p, _, what) in trace.indications() {
        match what {
            Indication::Suspected(q) => suspicions.insert((p, *q)),
            Indication::Trusted(q) => suspicions.remove(&(p, *q)),
            _ => continue,
        };
    }
    suspicions
}

/// What a detector says is true to form: nobody is told about itself, nobody is trusted again who was not suspected, and
/// nobody is suspected twice.
#[must_use]
pub fn form(trace: &Trace) -> Violations {
    let mut suspicions = BTreeSet::new();
    let mut wrong = Violations::new();
    for (_, p, port, what) in trace.indications() {
        let (q, news) = match what {
            Indication::Suspected(q) => (*q, suspicions.insert((p, port, *q))),
            Indication::Trusted(q) => (*q, suspicions.remove(&(p, port, *q))),
            _ => continue,
        };
        if p == q {
            wrong.push(format!("form: process {p} is told about itself"));
        }
        if !news {
            wrong.push(format!("form: process {p} is told what it knows about process {q}"));
        }
    }
    wrong
}

/// Strong completeness: who is down at the end is suspected by every correct process.
#[must_use]
pub fn completeness(trace: &Trace) -> Violations {
    let (suspicions, up) = (at_the_end(trace), trace.up_at_the_end());
    let mut wrong = Violations::new();
    for p in trace.correct() {
        for q in (0..trace.processes).filter(|q| !up.contains(q) && !suspicions.contains(&(p, *q))) {
            wrong.push(format!("completeness: process {p} does not suspect process {q}, which is down"));
        }
    }
    wrong
}

/// Eventual strong accuracy: from some seconds on no correct process suspects a correct one.
#[must_use]
pub fn accuracy_since(trace: &Trace, seconds: f64) -> Violations {
    let since = Moment::at(Time::from_seconds(seconds));
    let correct = trace.correct();
    let mut wrong = Violations::new();
    let both = |p: u32, q: u32| correct.contains(&p) && correct.contains(&q);
    for (p, q) in at_the_end(trace).into_iter().filter(|(p, q)| both(*p, *q)) {
        wrong.push(format!("accuracy: process {p} suspects process {q} at the end, which is up"));
    }
    for (at, p, _, what) in trace.indications() {
        if let Indication::Suspected(q) = what
            && at >= since
            && both(p, *q)
        {
            wrong.push(format!("accuracy: process {p} suspects process {q} at {}, which is up", at.time));
        }
    }
    wrong
}

/// Eventual weak accuracy: at the end there is a correct process that no correct process suspects.
#[must_use]
pub fn weak_accuracy(trace: &Trace) -> Violations {
    let (suspicions, correct) = (at_the_end(trace), trace.correct());
    let trusted = |q: &u32| correct.iter().all(|p| !suspicions.contains(&(*p, *q)));
    if correct.is_empty() || correct.iter().any(trusted) {
        return Violations::new();
    }
    vec!["weak accuracy: every correct process is suspected by another one at the end".to_owned()]
}

/// How good a detector was, over all pairs, by the measures of Chen, Toueg and Aguilera.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quality {
    /// T_D: seconds from each crash to the suspicion that lasted, for each correct observer.
    pub detection_s: Vec<f64>,
    /// T_M: how long each wrong suspicion lasted, in seconds.
    pub mistakes_s: Vec<f64>,
    /// T_MR: seconds from the beginning of one wrong suspicion to that of the next.
    pub recurrence_s: Vec<f64>,
    /// Wrong suspicions that had not ended at the end of the trace or at the crash of either.
    pub open_mistakes: usize,
    /// Crashes that an observer had not noticed at the end.
    pub undetected: usize,
}

impl Quality {
    /// All wrong suspicions.
    #[must_use]
    pub fn mistakes(&self) -> usize {
        self.mistakes_s.len() + self.open_mistakes
    }
}

/// The mean; 0 of nothing.
#[must_use]
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// Measures a detector. Crashes count when the process stays down; observers when they never crash.
#[must_use]
pub fn quality(trace: &Trace) -> Quality {
    let (correct, up) = (trace.correct(), trace.up_at_the_end());
    let mut quality = Quality::default();
    let mut down_since: BTreeMap<u32, Moment> = BTreeMap::new();
    // Of each pair: since when there is a suspicion, and whether the other was up then.
    let mut suspected: BTreeMap<(u32, u32), (Moment, bool)> = BTreeMap::new();
    let mut last_mistake: BTreeMap<(u32, u32), Moment> = BTreeMap::new();
    for event in &trace.events {
        let pair = |q: &u32| (event.process, *q);
        match &event.what {
            What::Crashed => {
                down_since.insert(event.process, event.at);
            }
            What::Recovered => {
                down_since.remove(&event.process);
            }
            What::Indicated { what: Indication::Suspected(q), .. } if correct.contains(&event.process) => {
                let wrong = !down_since.contains_key(q);
                if suspected.insert(pair(q), (event.at, wrong)).is_none()
                    && wrong
                    && let Some(before) = last_mistake.insert(pair(q), event.at)
                {
                    quality.recurrence_s.push(event.at.since(before));
                }
            }
            What::Indicated { what: Indication::Trusted(q), .. } => {
                if let Some((since, true)) = suspected.remove(&pair(q)) {
                    quality.mistakes_s.push(event.at.since(since));
                }
            }
            _ => {}
        }
    }
    quality.open_mistakes = suspected.values().filter(|s| s.1).count();
    for (q, crashed) in down_since.iter().filter(|(q, _)| !up.contains(q)) {
        for &p in &correct {
            match suspected.get(&(p, *q)) {
                // Who suspected it before it crashed noticed at once.
                Some((since, _)) => quality.detection_s.push(math::max(since.since(*crashed), 0.0)),
                None => quality.undetected += 1,
            }
        }
    }
    quality
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{suspects, trusts};

    /// 0 and 1 are correct; 2 crashes at 10 s. 0 suspects 1 wrongly at 2–3 s and 6–8 s.
    fn events() -> Vec<(f64, u32, What)> {
        vec![
            (2.0, 0, suspects(1)),
            (3.0, 0, trusts(1)),
            (6.0, 0, suspects(1)),
            (8.0, 0, trusts(1)),
            (10.0, 2, What::Crashed),
            (10.5, 1, suspects(2)),
            (11.5, 0, suspects(2)),
        ]
    }

    #[test]
    fn a_fine_trace_passes_and_is_measured() {
        let trace = Trace::by_hand(3, events());
        assert_eq!(completeness(&trace), Violations::new());
        assert_eq!(accuracy_since(&trace, 7.0), Violations::new());
        assert_eq!(weak_accuracy(&trace), Violations::new());
        let quality = quality(&trace);
        assert_eq!(quality.mistakes_s, [1.0, 2.0]);
        assert_eq!(quality.recurrence_s, [4.0]);
        assert_eq!(quality.detection_s, [1.5, 0.5]);
        assert_eq!((quality.open_mistakes, quality.undetected, quality.mistakes()), (0, 0, 2));
        assert_eq!((mean(&quality.detection_s), mean(&[])), (1.0, 0.0));
    }

    #[test]
    fn a_crash_that_one_process_does_not_notice_is_found() {
        let mut events = events();
        events.pop();
        let trace = Trace::by_hand(3, events);
        assert_eq!(
            completeness(&trace),
            ["completeness: process 0 does not suspect process 2, which is down"]
        );
        assert_eq!(quality(&trace).undetected, 1);
    }

    #[test]
    fn taking_a_suspicion_of_a_dead_process_back_is_found() {
        let mut events = events();
        events.push((12.0, 0, trusts(2)));
        assert_eq!(completeness(&Trace::by_hand(3, events)).len(), 1);
    }

    #[test]
    fn words_that_are_not_true_to_form_are_found() {
        assert_eq!(form(&Trace::by_hand(3, events())), Violations::new());
        for (word, why) in [
            (suspects(0), "form: process 0 is told about itself"),
            (suspects(2), "form: process 0 is told what it knows about process 2"),
            (trusts(1), "form: process 0 is told what it knows about process 1"),
        ] {
            let mut events = events();
            events.push((20.0, 0, word));
            assert_eq!(form(&Trace::by_hand(3, events)), [why]);
        }
    }

    #[test]
    fn late_and_lasting_mistakes_are_found() {
        let mut events = events();
        assert_eq!(accuracy_since(&Trace::by_hand(3, events.clone()), 5.0).len(), 1);
        events.push((12.0, 1, suspects(0)));
        let trace = Trace::by_hand(3, events.clone());
        assert_eq!(
            accuracy_since(&trace, 20.0),
            ["accuracy: process 1 suspects process 0 at the end, which is up"]
        );
        assert_eq!(weak_accuracy(&trace), Violations::new());
        assert_eq!(quality(&trace).open_mistakes, 1);
        events.push((12.0, 0, suspects(1)));
        assert_eq!(weak_accuracy(&Trace::by_hand(3, events)).len(), 1);
    }
}
