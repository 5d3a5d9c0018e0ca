//! What each class of protocols promises to its users, as far as a checker can tell; and traces of runs that were
//! cut off.
//!
//! In: the class of a protocol and the trace of one of its users. Out: the checkers that its guarantees stand for
//! (docs/protocols.md), without those that it does not give after what happened: a total order that stops when
//! somebody crashes owes no delivery then. What a protocol assumes of those below it is not looked at: a
//! broadcast over a link that loses breaks its promise, and that is said.

use super::{Violations, broadcast, clock, consensus, detector, leader, link, membership, mutex};
use crate::lab::{Event, Trace, What};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::Moment;
use swarmyard_part_api::{Bytes, Indication, Request, ToAll, ToRobots};

/// Something that is promised, and who looks after it.
#[derive(Clone, Copy)]
pub struct Promise {
    /// Its name.
    pub name: &'static str,
    /// The checker.
    pub check: fn(&Trace) -> Violations,
}

const fn promise(name: &'static str, check: fn(&Trace) -> Violations) -> Promise {
    Promise { name, check }
}

const INTEGRITY: Promise = promise("integrity", broadcast::integrity);
const VALIDITY: Promise = promise("validity", broadcast::validity);
const AGREEMENT: Promise = promise("agreement", broadcast::agreement);
const UNIFORM: Promise = promise("uniform agreement", broadcast::uniform_agreement);
const FIFO: Promise = promise("FIFO order", broadcast::fifo);
const TOTAL: Promise = promise("total order", broadcast::total_order);
const UNIFORM_TOTAL: Promise = promise("uniform total order", broadcast::uniform_total_order);

/// What the parameters of a protocol say about its promises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// Of total orders: `uniform`.
    pub uniform: bool,
    /// Of links: whether `give_up` lets them lose something in the end.
    pub gives_up: bool,
}

/// What a class promises; empty when there is nothing that a checker could look at. `quiet` says whether nobody crashed
/// or came back shortly before the end.
#[must_use]
pub fn of(class: &str, given: Given, trace: &Trace, quiet: bool) -> Vec<Promise> {
    let down = trace.processes as usize - trace.correct().len();
    let most_live = 2 * down < trace.processes as usize;
    let only_if = |condition: bool, promises: &[Promise]| {
        if condition { promises.to_vec() } else { Vec::new() }
    };
    match class {
        "reliable-link" => {
            let lossless = promise("nothing lost", link::nothing_lost);
            let others = [
                promise("nothing made up", link::nothing_made_up),
                promise("nothing doubled", link::nothing_doubled),
            ];
            [others.to_vec(), only_if(!given.gives_up, &[lossless])].concat()
        }
        "best-effort-broadcast" => {
            vec![INTEGRITY, promise("best-effort validity", broadcast::best_effort_validity)]
        }
        "reliable-broadcast" => vec![INTEGRITY, VALIDITY, AGREEMENT],
        "uniform-broadcast" => [vec![INTEGRITY], only_if(most_live, &[VALIDITY, UNIFORM])].concat(),
        "fifo-broadcast" => vec![INTEGRITY, FIFO],
        "causal-broadcast" => vec![INTEGRITY, FIFO, promise("causal order", broadcast::causal)],
        "skeen-order" => [vec![INTEGRITY, TOTAL], only_if(down == 0, &[VALIDITY, AGREEMENT])].concat(),
        "lamport-order" | "sequencer-order" | "moving-sequencer" | "token-order" => {
            let order = if given.uniform { UNIFORM_TOTAL } else { TOTAL };
            let all = only_if(down == 0, &[VALIDITY, AGREEMENT]);
            // What anybody has delivered, most have and pass on; new messages may stop.
            let some = only_if(given.uniform && down > 0 && most_live, &[UNIFORM]);
            [vec![INTEGRITY, FIFO, order], all, some].concat()
        }
        "order-by-consensus" => {
            [vec![INTEGRITY, UNIFORM_TOTAL], only_if(most_live, &[VALIDITY, UNIFORM])].concat()
        }
        "chandra-toueg" | "mostefaoui-raynal" | "paxos" => {
            let termination = promise("termination", consensus::termination);
            let safety = [
                promise("validity", consensus::validity),
                promise("integrity", consensus::integrity),
                promise("uniform agreement", consensus::uniform_agreement),
            ];
            [safety.to_vec(), only_if(most_live && quiet, &[termination])].concat()
        }
        "heartbeat" | "ring-heartbeat" => only_if(quiet, &[promise("completeness", detector::completeness)]),
        "omega" | "leader-election" => only_if(quiet, &[promise("one leader in the end", leader::eventual)]),
        "membership" => vec![
            promise("view agreement", membership::view_agreement),
            promise("view synchrony", membership::view_synchrony),
        ],
        // How near clocks are takes a time that is the same everywhere, and processes of a talk begin one by one.
        "clock-sync" => vec![promise("told when asked, never too early", clock::answers)],
        "ricart-agrawala" => {
            let turns = promise("everybody gets a turn", mutex::liveness);
            [vec![promise("never two at once", mutex::exclusion)], only_if(down == 0, &[turns])].concat()
        }
        _ => Vec::new(),
    }
}

/// Something that was said: by whom, to whom (`None` for all), what.
type Said = (u32, Option<u32>, Bytes);

/// What was said with an event.
fn said(event: &Event) -> Option<Said> {
    let What::Requested { request, .. } = &event.what else { return None };
    match request {
        Request::Broadcast(ToAll(bytes)) => Some((event.process, None, bytes.clone())),
        // One receiver each, once they are told apart.
        Request::Link(m) => Some((event.process, m.to.first().copied(), m.bytes.clone())),
        _ => None,
    }
}

/// What was heard with an event, as it would have been said: to all, or to this one.
fn heard(event: &Event) -> Option<[Said; 2]> {
    let What::Indicated { what: Indication::Delivered { from, bytes }, .. } = &event.what else {
        return None;
    };
    Some([(*from, None, bytes.clone()), (*from, Some(event.process), bytes.clone())])
}

/// The trace of a run that was cut off, so that it can be judged as if it had gone on until all was quiet: what was
/// said or proposed after `until` is left out, and so is all that came of it; and who still waits for its turn in a
/// mutual exclusion does not count as waiting, if it need not be in yet.
#[must_use]
pub fn settled(trace: &Trace, until: Moment) -> Trace {
    let mut late: BTreeSet<Said> = BTreeSet::new();
    let mut late_instances: BTreeSet<u64> = BTreeSet::new();
    for event in trace.events.iter().filter(|e| e.at > until) {
        late.extend(said(event));
        if let What::Requested { request: Request::Consensus(p), .. } = &event.what {
            late_instances.insert(p.instance);
        }
    }
    // An instance in which only some proposed in time has hardly begun: it is left out for all.
    let stays = |event: &&Event| match &event.what {
        What::Requested { request: Request::Consensus(p), .. } => !late_instances.contains(&p.instance),
        What::Indicated { what: Indication::Decided { instance, .. }, .. } => {
            !late_instances.contains(instance)
        }
        _ => {
            let is_late = |s: &Said| late.contains(s);
            !(said(event).is_some_and(|s| is_late(&s))
                || heard(event).is_some_and(|all| all.iter().any(is_late)))
        }
    };
    let waits = mutex::excused(trace, until);
    let events = trace.events.iter().enumerate().filter(|(k, e)| !waits.contains(k) && stays(e));
    Trace { events: events.map(|(_, e)| e.clone()).collect(), ..*trace }
}

/// The same trace with messages that can be told apart: where a process broadcasts the same bytes several times, or
/// sends them to one process, each gets its number, and the first one that another delivers is taken for the first,
/// and so on. What is sent to several processes is sent to each. Who crashes may be sent again what it has forgotten:
/// what was sent to it is counted in each of its lives.
#[must_use]
pub fn told_apart(trace: &Trace) -> Trace {
    let mut out = one_by_one(trace);
    let mut times: BTreeMap<Said, u32> = BTreeMap::new();
    for said in out.events.iter().filter_map(said) {
        *times.entry(said).or_default() += 1;
    }
    times.retain(|_, n| *n > 1);
    let mut uttered: BTreeMap<Said, u32> = BTreeMap::new();
    let mut delivered: BTreeMap<(u32, u32, Said), u32> = BTreeMap::new();
    let mut lives = vec![0; trace.processes as usize];
    for event in &mut out.events {
        let p = event.process;
        let spoke = said(event).filter(|s| times.contains_key(s));
        let known = heard(event).and_then(|all| all.into_iter().find(|s| times.contains_key(s)));
        match &mut event.what {
            What::Recovered => lives[p as usize] += 1,
            What::Requested { request, .. } => {
                let Some(spoke) = spoke else { continue };
                let n = uttered.entry(spoke).or_default();
                *n += 1;
                match request {
                    Request::Broadcast(ToAll(bytes)) => *bytes = numbered(bytes, *n),
                    Request::Link(message) => message.bytes = numbered(&message.bytes, *n),
                    _ => {}
                }
            }
            What::Indicated { what: Indication::Delivered { bytes, .. }, .. } => {
                let Some(known) = known else { continue };
                let life = if known.1.is_some() { lives[p as usize] } else { 0 };
                let n = delivered.entry((p, life, known)).or_default();
                *n += 1;
                *bytes = numbered(bytes, *n);
            }
            _ => {}
        }
    }
    out
}

/// The same trace where what is sent to several processes is sent to one after the other.
fn one_by_one(trace: &Trace) -> Trace {
    let mut events = Vec::with_capacity(trace.events.len());
    for event in &trace.events {
        match &event.what {
            What::Requested { port, request: Request::Link(message) } if message.to.len() != 1 => {
                for to in &message.to {
                    let request =
                        ToRobots { to: [*to].into_iter().collect(), bytes: message.bytes.clone() }.into();
                    let what = What::Requested { port: *port, request };
                    events.push(Event { at: event.at, process: event.process, what });
                }
            }
            _ => events.push(event.clone()),
        }
    }
    Trace { events, ..*trace }
}

fn numbered(bytes: &Bytes, n: u32) -> Bytes {
    [&bytes[..], format!(" #{n}").as_bytes()].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{broadcasts, decides, delivers, enters, leaves, proposes, sends, wants};
    use swarmyard_base::Time;

    fn at(seconds: f64) -> Moment {
        Moment::at(Time::from_seconds(seconds))
    }

    fn broken(class: &str, trace: &Trace) -> Vec<&'static str> {
        let promises = of(class, Given::default(), trace, true);
        promises.iter().filter(|p| !(p.check)(trace).is_empty()).map(|p| p.name).collect()
    }

    #[test]
    fn what_was_said_too_late_is_no_breach() {
        let trace = Trace::by_hand(
            2,
            vec![
                (0.1, 0, broadcasts("a")),
                (0.2, 0, delivers(0, "a")),
                (0.3, 1, delivers(0, "a")),
                (0.9, 1, broadcasts("b")),
                (0.95, 1, delivers(1, "b")),
            ],
        );
        assert_eq!(broken("reliable-broadcast", &trace), ["agreement"]);
        assert!(broken("reliable-broadcast", &settled(&trace, at(0.5))).is_empty());
        assert_eq!(settled(&trace, at(0.5)).events.len(), 3);
    }

    #[test]
    fn what_was_said_in_time_and_never_came_is_one() {
        let trace = Trace::by_hand(2, vec![(0.1, 0, broadcasts("a")), (0.2, 0, delivers(0, "a"))]);
        assert_eq!(broken("best-effort-broadcast", &settled(&trace, at(0.5))), ["best-effort validity"]);
        assert!(broken("fifo-broadcast", &trace).is_empty(), "it promises no delivery");
        assert!(broken("no-such-class", &trace).is_empty());
    }

    #[test]
    fn an_instance_that_was_proposed_late_by_one_is_left_out_for_all() {
        let events = vec![(0.1, 0, proposes(1, "x")), (0.9, 1, proposes(1, "y")), (0.95, 1, decides(1, "x"))];
        let trace = Trace::by_hand(2, events);
        assert_eq!(broken("paxos", &trace), ["termination"]);
        assert!(settled(&trace, at(0.5)).events.is_empty());
    }

    #[test]
    fn the_same_words_twice_are_two_messages_and_three_deliveries_are_one_too_many() {
        let twice = vec![
            (0.1, 0, broadcasts("again")),
            (0.2, 0, delivers(0, "again")),
            (0.3, 0, broadcasts("again")),
            (0.4, 0, delivers(0, "again")),
        ];
        let mut trace = Trace::by_hand(1, twice);
        assert!(!broadcast::integrity(&trace).is_empty(), "they cannot be told apart");
        assert!(broadcast::integrity(&told_apart(&trace)).is_empty());
        trace.push(0.5, 0, delivers(0, "again"));
        assert_eq!(broadcast::integrity(&told_apart(&trace)).len(), 1);
    }

    #[test]
    fn an_order_that_stops_at_a_crash_owes_no_delivery_after_one() {
        let mut trace = Trace::by_hand(3, vec![(0.1, 0, broadcasts("a"))]);
        assert_eq!(broken("lamport-order", &trace), ["validity"]);
        trace.push(0.2, 2, What::Crashed);
        assert!(broken("lamport-order", &trace).is_empty());
        assert_eq!(broken("order-by-consensus", &trace), ["validity"], "this one goes on");
    }

    /// A crash takes nothing from what a uniform order promises about what was delivered, while most robots live.
    #[test]
    fn a_uniform_order_owes_after_a_crash_what_anybody_has_delivered() {
        let events = vec![(0.1, 0, broadcasts("a")), (0.2, 0, delivers(0, "a")), (0.3, 0, What::Crashed)];
        let trace = Trace::by_hand(3, events);
        let given = Given { uniform: true, ..Given::default() };
        for class in ["sequencer-order", "moving-sequencer", "token-order"] {
            let of = |given| of(class, given, &trace, true);
            let broken = |given| {
                of(given).iter().filter(|p| !(p.check)(&trace).is_empty()).map(|p| p.name).collect::<Vec<_>>()
            };
            assert_eq!(broken(given), ["uniform agreement"], "{class}");
            assert!(broken(Given::default()).is_empty(), "{class} promises it only if `uniform`");
        }
        let mut two = trace.clone();
        two.push(0.4, 1, What::Crashed);
        assert!(of("token-order", given, &two, true).iter().all(|p| p.name != "uniform agreement"));
    }

    #[test]
    fn who_is_never_let_in_is_found_unless_somebody_went_down() {
        let mut trace = Trace::by_hand(2, vec![(0.1, 0, wants()), (0.2, 0, enters()), (0.3, 0, leaves())]);
        trace.push(0.4, 1, wants());
        trace.push(2.0, 0, broadcasts("the end"));
        assert_eq!(broken("ricart-agrawala", &settled(&trace, at(1.0))), ["everybody gets a turn"]);
        assert!(broken("ricart-agrawala", &settled(&trace, at(0.3))).is_empty(), "asked late");
        trace.push(2.1, 0, What::Crashed);
        assert!(broken("ricart-agrawala", &settled(&trace, at(1.0))).is_empty());
    }

    #[test]
    fn the_same_bytes_on_a_link_are_told_apart_for_each_receiver() {
        let events = vec![
            (0.1, 0, sends(&[1, 2], "beat")),
            (0.2, 1, delivers(0, "beat")),
            (0.2, 2, delivers(0, "beat")),
            (0.3, 0, sends(&[1, 2], "beat")),
            (0.4, 1, delivers(0, "beat")),
            (0.9, 0, sends(&[1, 2], "beat")),
        ];
        let trace = Trace::by_hand(3, events);
        let whole = told_apart(&trace);
        assert_eq!(broken("reliable-link", &whole), ["nothing lost"]);
        assert_eq!(link::nothing_lost(&whole).len(), 3, "one of two to robot 2, and both of the last");
        let given = Given { gives_up: true, ..Given::default() };
        assert!(of("reliable-link", given, &whole, true).iter().all(|p| p.name != "nothing lost"));
        assert_eq!(link::nothing_lost(&settled(&whole, at(0.5))).len(), 1, "the last were too late");
        let mut trace = trace;
        trace.push(0.5, 1, delivers(0, "beat"));
        trace.push(0.6, 1, delivers(0, "beat"));
        assert_eq!(broken("reliable-link", &told_apart(&trace)), ["nothing made up", "nothing lost"]);
    }
}
