//! Broadcasts: nothing lost, doubled or made up; the same everywhere; in order.
//!
//! A message is known by its sender and its bytes, so a script must not let one robot broadcast the same bytes
//! twice; [`integrity`] says so when it does.

use super::{Violations, all};
use crate::lab::{Trace, What, shown};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_part_api::{Bytes, Indication, Request, ToAll};

/// A message as checkers see it.
struct Sent {
    from: u32,
    bytes: Bytes,
    /// How often its sender had recovered.
    life: u32,
    /// What its sender had broadcast or delivered before it, directly or not: how many of each process.
    after: Vec<usize>,
    /// How many its sender had broadcast before it.
    number: usize,
}

/// What one process delivered.
struct Delivered {
    /// The message; `None` when nobody had broadcast it.
    message: Option<usize>,
    from: u32,
    bytes: Bytes,
    life: u32,
}

/// A trace as a story of broadcasts.
struct Story {
    sent: Vec<Sent>,
    /// Messages of each process, in order.
    of: Vec<Vec<usize>>,
    /// What each process delivered, in order.
    delivered: Vec<Vec<Delivered>>,
    correct: BTreeSet<u32>,
    /// Messages that cannot be told apart.
    unclear: Violations,
}

impl Story {
    fn of(trace: &Trace) -> Story {
        let n = trace.processes as usize;
        let mut story = Story {
            sent: Vec::new(),
            of: vec![Vec::new(); n],
            delivered: (0..n).map(|_| Vec::new()).collect(),
            correct: trace.correct(),
            unclear: Violations::new(),
        };
        let mut by_content: BTreeMap<(u32, Bytes), usize> = BTreeMap::new();
        let mut lives = vec![0; n];
        let mut clocks = vec![vec![0; n]; n];
        for event in &trace.events {
            let p = event.process as usize;
            match &event.what {
                What::Recovered => lives[p] += 1,
                What::Requested { request: Request::Broadcast(ToAll(bytes)), .. } => {
                    let id = story.sent.len();
                    if by_content.insert((event.process, bytes.clone()), id).is_some() {
                        let what = shown(bytes);
                        story
                            .unclear
                            .push(format!("process {p} broadcasts {what} twice: it cannot be told apart"));
                    }
                    let number = story.of[p].len();
                    let after = clocks[p].clone();
                    clocks[p][p] = number + 1;
                    story.of[p].push(id);
                    story.sent.push(Sent {
                        from: event.process,
                        bytes: bytes.clone(),
                        life: lives[p],
                        after,
                        number,
                    });
                }
                What::Indicated { what: Indication::Delivered { from, bytes }, .. } => {
                    let message = by_content.get(&(*from, bytes.clone())).copied();
                    if let Some(id) = message {
                        let m = &story.sent[id];
                        for (mine, its) in clocks[p].iter_mut().zip(&m.after) {
                            *mine = (*mine).max(*its);
                        }
                        let own = &mut clocks[p][m.from as usize];
                        *own = (*own).max(m.number + 1);
                    }
                    let (from, bytes, life) = (*from, bytes.clone(), lives[p]);
                    story.delivered[p].push(Delivered { message, from, bytes, life });
                }
                _ => {}
            }
        }
        story
    }

    fn name(&self, message: usize) -> String {
        let m = &self.sent[message];
        format!("{} of process {}", shown(&m.bytes), m.from)
    }

    /// The messages that a process delivered, in order, those of nobody left out.
    fn sequence(&self, process: usize) -> Vec<usize> {
        self.delivered[process].iter().filter_map(|d| d.message).collect()
    }

    fn set(&self, process: usize) -> BTreeSet<usize> {
        self.sequence(process).into_iter().collect()
    }
}

/// What one process has delivered so far. Most have delivered all of a sender's messages up to one: these are not
/// looked at again, so that a long trace takes no time that grows with its square.
struct Before<'a> {
    story: &'a Story,
    delivered: BTreeSet<usize>,
    /// By sender: so many of its first messages have all been delivered.
    whole: Vec<usize>,
}

impl<'a> Before<'a> {
    fn new(story: &'a Story) -> Before<'a> {
        Before { story, delivered: BTreeSet::new(), whole: vec![0; story.of.len()] }
    }

    fn insert(&mut self, message: usize) {
        self.delivered.insert(message);
        let from = self.story.sent[message].from as usize;
        let rest = self.story.of[from].iter().skip(self.whole[from]);
        self.whole[from] += rest.take_while(|m| self.delivered.contains(*m)).count();
    }

    /// Those among the first `count` messages of a sender that have not been delivered.
    fn missing(&self, from: usize, count: usize) -> impl Iterator<Item = &'a usize> + use<'_, 'a> {
        let earlier = self.story.of[from].iter().take(count).skip(self.whole[from]);
        earlier.filter(|m| !self.delivered.contains(*m))
    }
}

/// Validity: a correct process delivers what it broadcasts.
#[must_use]
pub fn validity(trace: &Trace) -> Violations {
    let story = Story::of(trace);
    let mut wrong = Violations::new();
    for &p in &story.correct {
        let delivered = story.set(p as usize);
        for m in story.of[p as usize].iter().filter(|m| !delivered.contains(m)) {
            wrong.push(format!(
                "validity: process {p} does not deliver its own {}",
                shown(&story.sent[*m].bytes)
            ));
        }
    }
    wrong
}

/// Validity of best effort: what a correct process broadcasts, every correct process delivers.
#[must_use]
pub fn best_effort_validity(trace: &Trace) -> Violations {
    let story = Story::of(trace);
    let mut wrong = Violations::new();
    for &p in &story.correct {
        let delivered = story.set(p as usize);
        for m in (0..story.sent.len()).filter(|m| !delivered.contains(m)) {
            if story.correct.contains(&story.sent[m].from) {
                wrong.push(format!("validity: process {p} does not deliver {}", story.name(m)));
            }
        }
    }
    wrong
}

/// Integrity: nothing is delivered twice in one life, and nothing that was not broadcast before.
#[must_use]
pub fn integrity(trace: &Trace) -> Violations {
    let mut story = Story::of(trace);
    let mut wrong = std::mem::take(&mut story.unclear);
    for (p, delivered) in story.delivered.iter().enumerate() {
        let mut seen = BTreeSet::new();
        for d in delivered {
            match d.message {
                None => {
                    let what = shown(&d.bytes);
                    wrong.push(format!(
                        "no creation: process {p} delivers {what} of process {}, who has not broadcast it",
                        d.from
                    ));
                }
                Some(m) if !seen.insert((d.life, m)) => {
                    wrong.push(format!("no duplication: process {p} delivers {} twice", story.name(m)));
                }
                Some(_) => {}
            }
        }
    }
    wrong
}

/// Agreement: what one correct process delivers, all correct ones do.
#[must_use]
pub fn agreement(trace: &Trace) -> Violations {
    agree("agreement", trace, |story, p| story.correct.contains(&p))
}

/// Uniform agreement: what any process delivers, even one that crashes later, all correct ones do.
#[must_use]
pub fn uniform_agreement(trace: &Trace) -> Violations {
    agree("uniform agreement", trace, |_, _| true)
}

fn agree(property: &str, trace: &Trace, counts: impl Fn(&Story, u32) -> bool) -> Violations {
    let story = Story::of(trace);
    let mut by: BTreeMap<usize, u32> = BTreeMap::new();
    for p in (0..trace.processes).filter(|p| counts(&story, *p)) {
        for m in story.set(p as usize) {
            by.entry(m).or_insert(p);
        }
    }
    let mut wrong = Violations::new();
    for &p in &story.correct {
        let delivered = story.set(p as usize);
        for (m, who) in by.iter().filter(|(m, _)| !delivered.contains(m)) {
            wrong
                .push(format!("{property}: process {who} delivers {}, process {p} does not", story.name(*m)));
        }
    }
    wrong
}

/// Reliable broadcast: validity, integrity and agreement.
#[must_use]
pub fn reliable(trace: &Trace) -> Violations {
    all([validity(trace), integrity(trace), agreement(trace)])
}

/// Uniform reliable broadcast: validity, integrity and uniform agreement.
#[must_use]
pub fn uniform(trace: &Trace) -> Violations {
    all([validity(trace), integrity(trace), uniform_agreement(trace)])
}

/// FIFO: whoever delivers a message has delivered before what its sender broadcast before, in the same life.
#[must_use]
pub fn fifo(trace: &Trace) -> Violations {
    let story = Story::of(trace);
    let mut wrong = Violations::new();
    for p in 0..trace.processes as usize {
        let mut before = Before::new(&story);
        for m in story.sequence(p) {
            let sent = &story.sent[m];
            let earlier = before.missing(sent.from as usize, sent.number);
            for e in earlier.filter(|e| story.sent[**e].life == sent.life) {
                let (late, early) = (story.name(m), shown(&story.sent[*e].bytes));
                wrong.push(format!(
                    "FIFO: process {p} delivers {late} and has not delivered its earlier {early}"
                ));
            }
            before.insert(m);
        }
    }
    wrong
}

/// Causal order: whoever delivers a message has delivered before all that its sender had broadcast or
/// delivered before it, and so on. Vector clocks are computed from the trace.
#[must_use]
pub fn causal(trace: &Trace) -> Violations {
    let story = Story::of(trace);
    let mut wrong = Violations::new();
    for p in 0..trace.processes as usize {
        let mut before = Before::new(&story);
        for m in story.sequence(p) {
            for (from, count) in story.sent[m].after.iter().enumerate() {
                for e in before.missing(from, *count) {
                    let (late, early) = (story.name(m), story.name(*e));
                    wrong.push(format!(
                        "causal order: process {p} delivers {late} before {early}, which came before it"
                    ));
                }
            }
            before.insert(m);
        }
    }
    wrong
}

/// Total order: any two correct processes deliver the messages that both deliver in the same order.
#[must_use]
pub fn total_order(trace: &Trace) -> Violations {
    let story = Story::of(trace);
    let processes: Vec<u32> = story.correct.iter().copied().collect();
    in_order("total order", &story, &processes)
}

/// Uniform total order: the same for any two processes, also those that crash.
#[must_use]
pub fn uniform_total_order(trace: &Trace) -> Violations {
    let processes: Vec<u32> = (0..trace.processes).collect();
    in_order("uniform total order", &Story::of(trace), &processes)
}

fn in_order(property: &str, story: &Story, processes: &[u32]) -> Violations {
    let mut wrong = Violations::new();
    for (k, &p) in processes.iter().enumerate() {
        let places: BTreeMap<usize, usize> = first_places(&story.sequence(p as usize));
        for &q in &processes[k + 1..] {
            let mut last: Option<(usize, usize)> = None;
            for m in distinct(&story.sequence(q as usize)) {
                let Some(&place) = places.get(&m) else { continue };
                if let Some((earlier, _)) = last.filter(|l| l.1 > place) {
                    let (a, b) = (story.name(earlier), story.name(m));
                    wrong.push(format!(
                        "{property}: process {p} delivers {b} before {a}, process {q} the other way round"
                    ));
                }
                if last.is_none_or(|l| l.1 < place) {
                    last = Some((m, place));
                }
            }
        }
    }
    wrong
}

/// No gaps: of any two correct processes, what one delivers is a beginning of what the other does.
#[must_use]
pub fn prefix_order(trace: &Trace) -> Violations {
    let story = Story::of(trace);
    let processes: Vec<u32> = story.correct.iter().copied().collect();
    prefixes("prefix order", &story, &processes)
}

/// No gaps, also for processes that crash.
#[must_use]
pub fn uniform_prefix_order(trace: &Trace) -> Violations {
    let processes: Vec<u32> = (0..trace.processes).collect();
    prefixes("uniform prefix order", &Story::of(trace), &processes)
}

fn prefixes(property: &str, story: &Story, processes: &[u32]) -> Violations {
    let mut wrong = Violations::new();
    for (k, &p) in processes.iter().enumerate() {
        let a = distinct(&story.sequence(p as usize));
        for &q in &processes[k + 1..] {
            let b = distinct(&story.sequence(q as usize));
            if let Some(place) = (0..a.len().min(b.len())).find(|&i| a[i] != b[i]) {
                let (x, y) = (story.name(a[place]), story.name(b[place]));
                wrong.push(format!(
                    "{property}: delivery {place} is {x} at process {p}, and {y} at process {q}"
                ));
            }
        }
    }
    wrong
}

/// Atomic broadcast: reliable broadcast in total order.
#[must_use]
pub fn atomic(trace: &Trace) -> Violations {
    all([reliable(trace), total_order(trace)])
}

/// Uniform atomic broadcast: uniform reliable broadcast in uniform total order, without gaps.
#[must_use]
pub fn uniform_atomic(trace: &Trace) -> Violations {
    all([uniform(trace), uniform_total_order(trace), uniform_prefix_order(trace)])
}

fn first_places(sequence: &[usize]) -> BTreeMap<usize, usize> {
    distinct(sequence).into_iter().enumerate().map(|(place, m)| (m, place)).collect()
}

fn distinct(sequence: &[usize]) -> Vec<usize> {
    let mut seen = BTreeSet::new();
    sequence.iter().copied().filter(|m| seen.insert(*m)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{broadcasts, delivers};

    /// A trace of three processes: one event for each (process, what), a millisecond apart.
    fn trace(events: Vec<(u32, What)>) -> Trace {
        let timed = events.into_iter().enumerate().map(|(k, (p, what))| (k as f64 * 1e-3, p, what));
        Trace::by_hand(3, timed.collect())
    }

    fn says(violations: &Violations, what: &str) {
        assert!(violations.iter().any(|v| v.contains(what)), "`{what}` is not in {violations:?}");
    }

    /// Everybody delivers `a` of 0 and `b` of 1, which was broadcast after `a` was delivered.
    fn fine() -> Vec<(u32, What)> {
        vec![
            (0, broadcasts("a")),
            (0, delivers(0, "a")),
            (1, delivers(0, "a")),
            (1, broadcasts("b")),
            (1, delivers(1, "b")),
            (2, delivers(0, "a")),
            (2, delivers(1, "b")),
            (0, delivers(1, "b")),
        ]
    }

    #[test]
    fn a_fine_trace_passes_every_checker() {
        let t = trace(fine());
        let wrong = all([
            uniform_atomic(&t),
            atomic(&t),
            fifo(&t),
            causal(&t),
            prefix_order(&t),
            best_effort_validity(&t),
        ]);
        assert_eq!(wrong, Violations::new());
    }

    #[test]
    fn what_its_sender_does_not_deliver_is_a_violation_of_validity() {
        let mut events = fine();
        events.remove(4);
        let t = trace(events);
        says(&validity(&t), "process 1 does not deliver its own `b`");
        says(&best_effort_validity(&t), "process 1 does not deliver `b` of process 1");
    }

    #[test]
    fn what_is_delivered_twice_or_was_never_broadcast_is_a_violation_of_integrity() {
        let mut events = fine();
        events.push((2, delivers(1, "b")));
        events.push((2, delivers(1, "c")));
        says(&integrity(&trace(events.clone())), "process 2 delivers `b` of process 1 twice");
        says(&integrity(&trace(events)), "process 2 delivers `c` of process 1, who has not broadcast it");
        let early = vec![(1, delivers(0, "a")), (0, broadcasts("a"))];
        says(&integrity(&trace(early)), "no creation");
        let same = vec![(0, broadcasts("a")), (0, broadcasts("a"))];
        says(&integrity(&trace(same)), "cannot be told apart");
    }

    #[test]
    fn delivering_again_after_a_recovery_is_another_life() {
        let mut events = fine();
        events.extend([(2, What::Crashed), (2, What::Recovered), (2, delivers(1, "b"))]);
        assert_eq!(integrity(&trace(events)), Violations::new());
    }

    #[test]
    fn what_only_some_deliver_is_a_violation_of_agreement() {
        let mut events = fine();
        events.pop();
        says(&agreement(&trace(events)), "process 1 delivers `b` of process 1, process 0 does not");
    }

    #[test]
    fn what_only_a_crashed_process_delivers_violates_only_uniform_agreement() {
        let events = vec![(0, broadcasts("a")), (0, delivers(0, "a")), (0, What::Crashed)];
        let t = trace(events);
        assert_eq!(agreement(&t), Violations::new());
        says(&uniform_agreement(&t), "process 0 delivers `a` of process 0, process 1 does not");
    }

    #[test]
    fn delivering_the_second_first_violates_fifo_and_causal_order() {
        let t = trace(vec![
            (0, broadcasts("a")),
            (0, broadcasts("b")),
            (1, delivers(0, "b")),
            (1, delivers(0, "a")),
        ]);
        says(&fifo(&t), "process 1 delivers `b` of process 0 and has not delivered its earlier `a`");
        says(&causal(&t), "process 1 delivers `b` of process 0 before `a` of process 0");
    }

    #[test]
    fn an_answer_before_its_question_violates_only_causal_order() {
        let mut events = fine();
        events.swap(5, 6);
        let t = trace(events);
        assert_eq!(fifo(&t), Violations::new());
        says(&causal(&t), "process 2 delivers `b` of process 1 before `a` of process 0");
    }

    #[test]
    fn causality_goes_on_over_several_processes() {
        // a → b → c; process 0 delivers c without b.
        let t = trace(vec![
            (0, broadcasts("a")),
            (1, delivers(0, "a")),
            (1, broadcasts("b")),
            (2, delivers(0, "a")),
            (2, delivers(1, "b")),
            (2, broadcasts("c")),
            (0, delivers(0, "a")),
            (0, delivers(2, "c")),
        ]);
        says(&causal(&t), "process 0 delivers `c` of process 2 before `b` of process 1");
        assert_eq!(causal(&t).len(), 1);
    }

    #[test]
    fn two_orders_violate_total_order_and_those_of_the_dead_the_uniform_one() {
        let mut events = vec![(0, broadcasts("a")), (1, broadcasts("b"))];
        events.extend([
            (0, delivers(0, "a")),
            (0, delivers(1, "b")),
            (1, delivers(1, "b")),
            (1, delivers(0, "a")),
        ]);
        says(
            &total_order(&trace(events.clone())),
            "process 0 delivers `a` of process 0 before `b` of process 1",
        );
        says(&prefix_order(&trace(events.clone())), "delivery 0 is `a` of process 0 at process 0");
        events.push((1, What::Crashed));
        assert_eq!(total_order(&trace(events.clone())), Violations::new());
        says(&uniform_total_order(&trace(events.clone())), "the other way round");
        says(&uniform_prefix_order(&trace(events)), "delivery 0");
    }

    #[test]
    fn a_gap_violates_prefix_order_but_not_total_order() {
        let mut events = vec![(0, broadcasts("a")), (1, broadcasts("b"))];
        events.extend([(0, delivers(0, "a")), (0, delivers(1, "b")), (1, delivers(1, "b"))]);
        let t = trace(events);
        assert_eq!(total_order(&t), Violations::new());
        says(
            &prefix_order(&t),
            "delivery 0 is `a` of process 0 at process 0, and `b` of process 1 at process 1",
        );
    }

    #[test]
    fn distant_pairs_out_of_order_are_found_behind_others_in_order() {
        let names = ["a", "b", "c", "d"];
        let mut events: Vec<(u32, What)> = names.iter().map(|n| (2, broadcasts(n))).collect();
        events.extend(names.iter().map(|n| (0, delivers(2, n))));
        events.extend(["c", "d", "a", "b"].iter().map(|n| (1, delivers(2, n))));
        assert_eq!(total_order(&trace(events)).len(), 2);
    }
}
