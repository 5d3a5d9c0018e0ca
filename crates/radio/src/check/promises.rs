//! What each class of protocols promises to its users, as far as a checker can tell; and traces of runs that were
//! cut off.
//!
//! In: the class of a protocol and the trace of one of its users. Out: the checkers that its guarantees stand for
//! (docs/protocols.md), without those that it does not give after what happened: a total order that stops when
//! somebody crashes owes no delivery then. What a protocol assumes of those below it is not looked at: a
//! broadcast over a link that loses breaks its promise, and that is said.

use super::{Violations, broadcast, clock, consensus, detector, leader, membership, mutex};
use crate::lab::{Event, Trace, What};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::Moment;
use swarmyard_part_api::{Bytes, Indication, Request, ToAll};

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

/// What a class promises; empty when there is nothing that a checker could look at. `uniform` is the parameter of
/// that name of total orders. `quiet` says whether nobody crashed or came back shortly before the end.
#[must_use]
pub fn of(class: &str, uniform: bool, trace: &Trace, quiet: bool) -> Vec<Promise> {
    let down = trace.processes as usize - trace.correct().len();
    let most_live = 2 * down < trace.processes as usize;
    let only_if = |condition: bool, promises: &[Promise]| {
        if condition { promises.to_vec() } else { Vec::new() }
    };
    match class {
        "best-effort-broadcast" => {
            vec![INTEGRITY, promise("best-effort validity", broadcast::best_effort_validity)]
        }
        "reliable-broadcast" => vec![INTEGRITY, VALIDITY, AGREEMENT],
        "uniform-broadcast" => [vec![INTEGRITY], only_if(most_live, &[VALIDITY, UNIFORM])].concat(),
        "fifo-broadcast" => vec![INTEGRITY, FIFO],
        "causal-broadcast" => vec![INTEGRITY, FIFO, promise("causal order", broadcast::causal)],
        "skeen-order" => [vec![INTEGRITY, TOTAL], only_if(down == 0, &[VALIDITY, AGREEMENT])].concat(),
        "lamport-order" | "sequencer-order" | "moving-sequencer" | "token-order" => {
            let order = if uniform { UNIFORM_TOTAL } else { TOTAL };
            [vec![INTEGRITY, FIFO, order], only_if(down == 0, &[VALIDITY, AGREEMENT])].concat()
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
        "ricart-agrawala" => vec![promise("never two at once", mutex::exclusion)],
        _ => Vec::new(),
    }
}

/// The trace of a run that was cut off, so that it can be judged as if it had gone on until all was quiet: what was
/// broadcast or proposed after `until` is left out, and so is all that came of it.
#[must_use]
pub fn settled(trace: &Trace, until: Moment) -> Trace {
    let mut late: BTreeSet<(u32, Bytes)> = BTreeSet::new();
    let mut late_instances: BTreeSet<u64> = BTreeSet::new();
    for event in &trace.events {
        match &event.what {
            What::Requested { request: Request::Broadcast(ToAll(bytes)), .. } if event.at > until => {
                late.insert((event.process, bytes.clone()));
            }
            What::Requested { request: Request::Consensus(p), .. } if event.at > until => {
                late_instances.insert(p.instance);
            }
            _ => {}
        }
    }
    // An instance in which only some proposed in time has hardly begun: it is left out for all.
    let stays = |event: &&Event| match &event.what {
        What::Requested { request: Request::Broadcast(ToAll(bytes)), .. } => {
            !late.contains(&(event.process, bytes.clone()))
        }
        What::Indicated { what: Indication::Delivered { from, bytes }, .. } => {
            !late.contains(&(*from, bytes.clone()))
        }
        What::Requested { request: Request::Consensus(p), .. } => !late_instances.contains(&p.instance),
        What::Indicated { what: Indication::Decided { instance, .. }, .. } => {
            !late_instances.contains(instance)
        }
        _ => true,
    };
    Trace { events: trace.events.iter().filter(stays).cloned().collect(), ..*trace }
}

/// The same trace with broadcasts that can be told apart: where a process broadcasts the same bytes several times,
/// each gets its number, and the first one that another delivers is taken for the first, and so on.
#[must_use]
pub fn told_apart(trace: &Trace) -> Trace {
    let mut times: BTreeMap<(u32, Bytes), u32> = BTreeMap::new();
    for event in &trace.events {
        if let What::Requested { request: Request::Broadcast(ToAll(bytes)), .. } = &event.what {
            *times.entry((event.process, bytes.clone())).or_default() += 1;
        }
    }
    times.retain(|_, n| *n > 1);
    let mut sent: BTreeMap<(u32, Bytes), u32> = BTreeMap::new();
    let mut delivered: BTreeMap<(u32, u32, Bytes), u32> = BTreeMap::new();
    let mut out = trace.clone();
    for event in &mut out.events {
        match &mut event.what {
            What::Requested { request: Request::Broadcast(ToAll(bytes)), .. } => {
                let key = (event.process, bytes.clone());
                if times.contains_key(&key) {
                    let n = sent.entry(key).or_default();
                    *n += 1;
                    *bytes = numbered(bytes, *n);
                }
            }
            What::Indicated { what: Indication::Delivered { from, bytes }, .. }
                if times.contains_key(&(*from, bytes.clone())) =>
            {
                let n = delivered.entry((event.process, *from, bytes.clone())).or_default();
                *n += 1;
                *bytes = numbered(bytes, *n);
            }
            _ => {}
        }
    }
    out
}

fn numbered(bytes: &Bytes, n: u32) -> Bytes {
    [&bytes[..], format!(" #{n}").as_bytes()].concat().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::brief::{broadcasts, decides, delivers, proposes};
    use swarmyard_base::Time;

    fn at(seconds: f64) -> Moment {
        Moment::at(Time::from_seconds(seconds))
    }

    fn broken(class: &str, trace: &Trace) -> Vec<&'static str> {
        let promises = of(class, false, trace, true);
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
}
