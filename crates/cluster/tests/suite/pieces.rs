//! What is too long for one message goes in pieces: nothing of it shows, whatever happens to a piece.

use crate::common::{load, spread};
use std::time::Duration;
use swarmyard_cluster::{Lengths, Plan};
use swarmyard_engine::Frame;
use swarmyard_fabric::local::Switchboard;

const STEPS: usize = 40;

/// Everything but the shortest orders goes in pieces.
const SHORT: Lengths = Lengths { whole: 600, piece: 256 };

fn frames_of(world: &str) -> Vec<Frame> {
    let mut sim = load(world);
    (0..STEPS).map(|_| sim.step().expect("a step")).collect()
}

/// Runs in pieces; `harm` is called before every step. Answers the frames, who was lost, and how many questions the keeper asked.
fn in_pieces(
    world: &str,
    plan: Plan,
    lease: Duration,
    mut harm: impl FnMut(usize, &Switchboard),
) -> (Vec<Frame>, Vec<u32>, u64) {
    let board = Switchboard::new(lease);
    let (mut sim, status) = spread(world, Plan { lengths: SHORT, ..plan }, &board);
    let mut frames = Vec::new();
    for k in 0..STEPS {
        harm(k, &board);
        frames.push(sim.step().unwrap_or_else(|e| panic!("{world}, step {k}: {e}")));
    }
    let status = status.lock().expect("status").clone();
    (frames, status.statistics.lost, status.traffic.questions.messages_out)
}

fn plan() -> Plan {
    Plan { keep_every: 8, period: 4, ..Plan::of(3) }
}

#[test]
fn a_run_all_of_which_goes_in_pieces_is_the_same() {
    // One is divided, with hands; one is computed as a whole.
    for world in ["forty-wander", "gathering"] {
        let (frames, lost, asked) = in_pieces(world, plan(), Duration::from_secs(2), |_, _| {});
        assert!(frames == frames_of(world), "{world}");
        assert!(lost.is_empty(), "{world}: {lost:?}");
        println!("{world}: {asked} pieces in {STEPS} steps came to the keeper");
        assert!(asked > 10 * STEPS as u64, "{world}: {asked} pieces");
    }
}

#[test]
fn pieces_that_are_lost_or_come_twice_make_no_difference() {
    let (frames, lost, _) = in_pieces("forty-wander", plan(), Duration::from_secs(2), |k, board| {
        board.lose("swarm/run/*/workers/piece/*", u64::from(k % 5 == 2));
        board.double("swarm/run/*/workers/piece/*", 3);
    });
    assert!(frames == frames_of("forty-wander"));
    assert!(lost.is_empty(), "{lost:?}");
}

#[test]
fn a_worker_that_is_lost_among_pieces_is_replaced() {
    let plan = Plan { ahead: 8, ..plan() };
    let (frames, lost, _) = in_pieces("forty-wander", plan, Duration::from_millis(150), |k, board| {
        if k == 21 {
            board.cut("worker-1");
        }
    });
    assert!(frames == frames_of("forty-wander"));
    assert_eq!(lost, [1]);
}
