//! Groups: views that all agree on, and the same messages between them.

use crate::common::{dice, fine, num, registry, yes};
use std::sync::Arc;
use swarmyard_part_api::{GraphModel, Group, Indication, ToAll};
use swarmyard_radio::check::membership::{safety, settled};
use swarmyard_radio::lab::{Delay, Lab, Stack, Trace, Wires, brief};

fn graph(broadcast: &str) -> Arc<GraphModel> {
    let registry = registry();
    let beats = [("period", num(0.05)), ("timeout", num(0.2)), ("adaptive", yes())];
    Stack::new(&registry)
        .class("fd", "heartbeat", &beats)
        .class("spread", broadcast, &[])
        .class("agree", "chandra-toueg", &[])
        .class("group", "membership", &[])
        .probe(&["group"])
        .build()
        .unwrap_or_else(|e| panic!("{e:?}"))
}

fn cast(lab: &mut Lab, seconds: f64, process: u32, text: &str) {
    lab.at(seconds, process, Group::Cast(brief::bytes(text)));
}

/// The last view of a process.
fn last_view(trace: &Trace, process: u32) -> (u64, Vec<u32>) {
    let views = trace.indications().filter(|i| i.1 == process);
    let views = views.filter_map(|i| {
        if let Indication::View { number, members } = i.3 { Some((*number, members.clone())) } else { None }
    });
    views.last().expect("it has one")
}

fn delivered(trace: &Trace, process: u32) -> usize {
    trace.indications().filter(|i| i.1 == process && matches!(i.3, Indication::Delivered { .. })).count()
}

#[test]
fn crashes_quits_joins_and_messages_keep_views_synchronous() {
    let graphs = [graph("reliable-broadcast"), graph("best-effort-broadcast")];
    let mut changes = 0;
    for seed in 0..2000 {
        let graph = &graphs[seed as usize / 1000];
        let n = 3 + seed as u32 % 3;
        let wires = match seed % 3 {
            0 => Wires::new(Delay::Uniform(0.001, 0.02)),
            1 => Wires::new(Delay::Exponential(0.03)),
            _ => Wires::new(Delay::Exponential(0.06)),
        };
        let mut lab = Lab::new(seed, graph, n, &wires);
        for k in 0..20 {
            let draw = dice(seed, k);
            cast(&mut lab, draw.between(0, 0.0, 3.0), draw.below(1, n), &format!("m{k}"));
        }
        let first = dice(seed, 100).below(0, n);
        for k in 0..(n - 1) / 2 {
            let (p, draw) = ((first + k) % n, dice(seed, 200 + k));
            if draw.below(0, 3) == 0 {
                lab.crash_after_copies(p, u64::from(draw.below(1, 200)));
            } else {
                lab.crash(draw.between(1, 0.0, 3.0), p);
            }
        }
        let (p, draw) = ((first + n - 1) % n, dice(seed, 300));
        if draw.below(0, 2) == 0 {
            lab.at(draw.between(1, 0.0, 2.0), p, Group::Quit);
            lab.at(draw.between(2, 2.0, 3.0), p, Group::Join);
        }
        lab.run_until(8.0).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        fine(safety(lab.trace()), seed);
        let member =
            (0..n).find(|p| lab.trace().correct().contains(p) && last_view(lab.trace(), *p).1.contains(p));
        let (number, members) = last_view(lab.trace(), member.expect("somebody is left"));
        assert!(members.iter().all(|m| lab.trace().correct().contains(m)), "seed {seed}: {members:?}");
        changes += number;
    }
    println!("{changes} changes of view in 2000 runs");
    assert!(changes > 3000, "{changes}: or the test shows nothing");
}

#[test]
fn a_crashed_member_is_excluded_and_messages_go_on() {
    let mut lab = Lab::new(1, &graph("reliable-broadcast"), 4, &Wires::new(Delay::Fixed(0.01)));
    cast(&mut lab, 0.5, 3, "before");
    lab.crash(1.0, 3);
    cast(&mut lab, 1.1, 0, "between");
    cast(&mut lab, 3.0, 1, "after");
    lab.run_until(5.0).expect("comes to rest");
    fine(safety(lab.trace()), 1);
    fine(settled(lab.trace()), 1);
    for p in 0..3 {
        assert_eq!(last_view(lab.trace(), p), (1, vec![0, 1, 2]));
        assert_eq!(delivered(lab.trace(), p), 3);
    }
}

#[test]
fn who_quits_hears_so_and_who_joins_takes_part_again() {
    let mut lab = Lab::new(1, &graph("reliable-broadcast"), 3, &Wires::new(Delay::Fixed(0.01)));
    lab.at(1.0, 2, Group::Quit);
    cast(&mut lab, 2.0, 0, "without");
    cast(&mut lab, 2.0, 2, "from outside");
    lab.at(3.0, 2, Group::Join);
    cast(&mut lab, 4.0, 2, "with");
    lab.at(5.0, 0, Group::Exclude(1));
    lab.run_until(8.0).expect("comes to rest");
    fine(safety(lab.trace()), 1);
    assert_eq!(last_view(lab.trace(), 2), (3, vec![0, 2]));
    assert_eq!(last_view(lab.trace(), 1), (3, vec![0, 2]), "it hears that it is out");
    assert_eq!([0, 1, 2].map(|p| delivered(lab.trace(), p)), [2, 2, 1]);
}

#[test]
fn who_comes_back_is_out_until_it_joins_again() {
    for down_s in [0.05, 1.0] {
        let mut lab = Lab::new(1, &graph("reliable-broadcast"), 3, &Wires::new(Delay::Fixed(0.01)));
        cast(&mut lab, 0.5, 1, "early");
        lab.crash(1.0, 2);
        lab.recover(1.0 + down_s, 2);
        cast(&mut lab, 3.0, 0, "meanwhile");
        lab.at(4.0, 2, Group::Join);
        cast(&mut lab, 6.0, 0, "again");
        lab.run_until(8.0).expect("comes to rest");
        fine(safety(lab.trace()), 1);
        let (number, members) = last_view(lab.trace(), 0);
        assert_eq!((number, members), (2, vec![0, 1, 2]), "out in view 1, in again in view 2");
        assert_eq!(last_view(lab.trace(), 2).0, 2);
        assert_eq!([0, 1, 2].map(|p| delivered(lab.trace(), p)), [3, 3, 2], "early, again, not meanwhile");
    }
}

/// What is said at the very beginning of a view may come to a robot that joins before it hears of the view.
#[test]
fn who_joins_hears_all_that_is_said_in_its_first_view() {
    let mut heard = 0;
    for seed in 0..200 {
        let wires = Wires::new(Delay::Exponential(0.02));
        let mut lab = Lab::new(seed, &graph("reliable-broadcast"), 3, &wires);
        lab.crash(1.0, 2);
        lab.recover(2.0, 2);
        lab.at(4.0, 2, Group::Join);
        // Most of these wait for the new view to begin.
        (0..20).for_each(|k| cast(&mut lab, 4.0 + 0.01 * f64::from(k), k % 2, &format!("m{k}")));
        lab.run_until(8.0).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        fine(safety(lab.trace()), seed);
        let said = [0, 1, 2].map(|p| said_in_the_last_view(lab.trace(), p));
        if last_view(lab.trace(), 0).1 == [0, 1, 2] {
            assert_eq!(said[0], said[2], "seed {seed}");
            assert_eq!(said[0], said[1], "seed {seed}");
            heard += said[2].len();
        }
    }
    println!("{heard} messages in first views");
    assert!(heard > 1000, "{heard}");
}

/// What a process was handed in its last view, sorted.
fn said_in_the_last_view(trace: &Trace, process: u32) -> Vec<Vec<u8>> {
    let mut said = Vec::new();
    for (.., what) in trace.indications().filter(|i| i.1 == process) {
        match what {
            Indication::View { .. } => said.clear(),
            Indication::Delivered { bytes, .. } => said.push(bytes.to_vec()),
            _ => {}
        }
    }
    said.sort();
    said
}

/// One group only: the side without a majority gets no view.
#[test]
fn parted_robots_never_have_two_groups() {
    for seed in 0..60 {
        let graph = graph("reliable-broadcast");
        let mut lab = Lab::new(seed, &graph, 5, &Wires::new(Delay::Uniform(0.001, 0.02)));
        lab.partition(1.0, &[&[0, 1], &[2, 3, 4]]);
        for k in 0..10 {
            cast(&mut lab, 0.9 + 0.05 * f64::from(k), k % 5, &format!("m{k}"));
        }
        lab.run_until(6.0).expect("comes to rest");
        fine(safety(lab.trace()), seed);
        assert_eq!(last_view(lab.trace(), 3).1, [2, 3, 4], "seed {seed}");
        assert_eq!(last_view(lab.trace(), 0).0, 0, "seed {seed}: the minority stays where it was");
    }
}

/// Negative control: messages of a plain broadcast do not fit the views, whoever makes them.
#[test]
fn a_plain_broadcast_is_not_view_synchronous() {
    let registry = registry();
    let graph = Stack::new(&registry)
        .class("fd", "heartbeat", &[("period", num(0.05)), ("timeout", num(0.2))])
        .class("spread", "best-effort-broadcast", &[])
        .class("agree", "chandra-toueg", &[])
        .class("group", "membership", &[])
        .probe(&["group", "spread"])
        .build()
        .expect("connects");
    let mut lab = Lab::new(1, &graph, 4, &Wires::new(Delay::Uniform(0.001, 0.02)));
    // Robot 3 crashes in the middle of its broadcast, so only one hears it, and is excluded then.
    let beats_until_then = 3 * 11;
    lab.at_port(0.52, 3, 1, ToAll(brief::bytes("half")));
    lab.crash_after_copies(3, beats_until_then + 1);
    lab.run_until(4.0).expect("comes to rest");
    assert_eq!(last_view(lab.trace(), 0), (1, vec![0, 1, 2]));
    assert_eq!((0..4).map(|p| delivered(lab.trace(), p)).sum::<usize>(), 1, "{}", lab.trace().text());
    assert!(!safety(lab.trace()).is_empty());
}

/// Where the network loses what the broadcast does not send again, views wait for ever, and never go wrong.
#[test]
fn loss_without_a_reliable_link_stops_the_group_and_never_divides_it() {
    let mut stuck = 0;
    for seed in 0..200 {
        let wires = Wires::new(Delay::Uniform(0.001, 0.02)).losing(0.2);
        let mut lab = Lab::new(seed, &graph("best-effort-broadcast"), 4, &wires);
        (0..8).for_each(|k| cast(&mut lab, 0.5 + 0.2 * f64::from(k), k % 4, &format!("m{k}")));
        lab.at(1.0, 3, Group::Quit);
        lab.run_until(6.0).expect("comes to rest");
        fine(safety(lab.trace()), seed);
        stuck += usize::from((0..3).any(|p| last_view(lab.trace(), p).0 == 0));
    }
    println!("{stuck} of 200 groups are stuck");
    assert!(stuck > 50, "{stuck}");
}
