//! Robots that crash and come back.

use crate::common::{consensus, dice, fine, propose};
use swarmyard_part_api::Indication;
use swarmyard_radio::check;
use swarmyard_radio::lab::{Delay, Lab, Wires};

/// Paxos keeps its promises through crashes: everybody may crash and come back at any time, all of them even.
#[test]
fn paxos_agrees_while_everybody_crashes_and_comes_back() {
    for seed in 0..600 {
        let n = 3 + seed as u32 % 3;
        let wires = Wires::new(Delay::Exponential(0.03)).losing(0.1).doubling(0.1);
        let mut lab = Lab::new(seed, &consensus("paxos", false), n, &wires);
        for p in 0..n {
            for instance in 0..2 {
                let at = dice(seed, p).between(instance as u32, 0.1, 1.5);
                propose(&mut lab, at, p, instance, &format!("v{p}.{instance}"));
            }
            for k in 0..3 {
                let draw = dice(seed, 100 * (k + 1) + p);
                let down = draw.between(0, 0.0, 4.0);
                lab.crash(down, p);
                lab.recover(down + draw.between(1, 0.01, 1.0), p);
            }
        }
        lab.run_until(12.0).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        fine(check::consensus::safety(lab.trace()), seed);
        assert_eq!(lab.trace().up_at_the_end().len(), n as usize);
        // Everybody is up again: what was asked while its robot was up is decided everywhere it is known.
        for instance in 0..2 {
            let asked = lab.trace().requests().any(|r| is_proposal(r.3, instance));
            let decided = lab.trace().indications().any(|i| is_decision(i.3, instance));
            assert!(!asked || decided, "seed {seed}: instance {instance} is asked for and not decided");
        }
    }
}

fn is_proposal(request: &swarmyard_part_api::Request, instance: u64) -> bool {
    matches!(request, swarmyard_part_api::Request::Consensus(p) if p.instance == instance)
}

fn is_decision(what: &Indication, wanted: u64) -> bool {
    matches!(what, Indication::Decided { instance, .. } if *instance == wanted)
}

#[test]
fn paxos_tells_a_robot_that_comes_back_what_was_decided() {
    let mut lab = Lab::new(1, &consensus("paxos", false), 3, &Wires::new(Delay::Fixed(0.01)));
    propose(&mut lab, 0.1, 0, 5, "x");
    lab.crash(1.0, 1);
    lab.recover(2.0, 1);
    lab.run_until(4.0).expect("comes to rest");
    let told = lab.trace().indications().filter(|i| i.1 == 1 && is_decision(i.3, 5));
    assert_eq!(told.count(), 2, "once in each life");
    fine(check::consensus::safety(lab.trace()), 1);
}

/// Robot 0 is the first coordinator of every instance. It is up, so no detector suspects it; and it votes no more.
#[test]
fn nobody_waits_for_a_coordinator_that_has_come_back() {
    for class in ["chandra-toueg", "mostefaoui-raynal"] {
        for (n, down) in [(3, vec![0]), (5, vec![0, 1])] {
            let mut lab = Lab::new(1, &consensus(class, false), n, &Wires::new(Delay::Fixed(0.01)));
            for p in &down {
                lab.crash(0.1, *p);
                lab.recover(0.2, *p);
            }
            (0..n).for_each(|p| propose(&mut lab, 1.0, p, 1, &format!("v{p}")));
            lab.run_until(5.0).expect("comes to rest");
            let decided = lab.trace().indications().filter(|i| is_decision(i.3, 1)).count();
            assert_eq!(decided, n as usize, "{class} with {n} robots");
            fine(check::consensus::safety(lab.trace()), 1);
        }
    }
}

/// The other two forget what they promised, so one that comes back must not vote: here it would make up the
/// majority for a second value. Two of three have crashed and come back; only decisions reach them.
#[test]
fn who_has_forgotten_its_promises_does_not_vote() {
    for class in ["chandra-toueg", "mostefaoui-raynal"] {
        for seed in 0..300 {
            let wires = Wires::new(Delay::Exponential(0.02));
            let mut lab = Lab::new(seed, &consensus(class, false), 3, &wires);
            for p in 0..3 {
                propose(&mut lab, 0.1 + 0.02 * f64::from(p), p, 1, &format!("v{p}"));
                let draw = dice(seed, p);
                let down = draw.between(0, 0.1, 0.3);
                lab.crash(down, p);
                lab.recover(down + 0.05, p);
                propose(&mut lab, down + 0.2, p, 1, &format!("w{p}"));
            }
            lab.run_until(4.0).expect("comes to rest");
            fine(check::consensus::safety(lab.trace()), seed);
        }
        let mut lab = Lab::new(1, &consensus(class, false), 3, &Wires::new(Delay::Fixed(0.01)));
        for p in [1, 2] {
            lab.crash(0.1, p);
            lab.recover(0.2, p);
        }
        (0..3).for_each(|p| propose(&mut lab, 1.0, p, 1, &format!("v{p}")));
        lab.run_until(5.0).expect("comes to rest");
        assert_eq!(lab.trace().indications().count(), 0, "{class}: one voter of three decides nothing");
    }
}
