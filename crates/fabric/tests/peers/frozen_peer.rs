//! A process hangs: it is gone after the lease, nobody waits for it longer, and when it wakes up it is seen again.
//!
//! That is all that is asserted of one that wakes up: Zenoh sometimes leaves questions to it unanswered from then on (see
//! `docs/fabric.md`).

use crate::child::Peer;
use crate::lanes::run;
use crate::{AGES, member, until, watch};
use std::time::{Duration, Instant};
use swarmyard_fabric::mesh::Options;
use swarmyard_fabric::{Care, Fabric};

/// Many times longer than a process that is well waits for a processor on a busy machine.
const LEASE: Duration = Duration::from_secs(3);

#[test]
fn a_frozen_process_is_gone_after_its_lease_and_seen_again_when_it_wakes_up() {
    within_the_lease("gone", gone_after);
}

/// One of three tries takes about as long as the lease, and none much less: it begins with the last word, which may have been
/// a quarter of a lease ago. (On a busy machine one or the other may take longer.)
fn within_the_lease(what: &str, mut took: impl FnMut() -> Duration) {
    let mut tries = Vec::new();
    while tries.len() < 3 {
        let time = took().as_secs_f64() / LEASE.as_secs_f64();
        println!("{what} after {time:.3} leases");
        assert!(time >= 0.7, "{what} too soon: {time} leases");
        if time <= 1.5 {
            return;
        }
        tries.push(time);
    }
    panic!("{what} too late: {tries:?} leases");
}

/// Freezes a member, and wakes it up after it is gone. Answers when that was.
fn gone_after() -> Duration {
    let lease = LEASE;
    let mesh = member(Options { lease, ..Options::default() }, &[]);
    let (seen, _watch) = watch(&mesh, "live/*");
    let peer = Peer::start(&mesh.endpoints()[0], lease);
    assert!(seen.recv_timeout(AGES).expect("it is seen").1);

    let frozen = Instant::now();
    peer.signal("STOP");
    let longest = |care: Care, count: usize| {
        let frame = vec![0; 100_000];
        let times = (0..count).map(|_| {
            let before = Instant::now();
            mesh.put("to/child", &frame, care).expect("put");
            before.elapsed()
        });
        times.max().unwrap_or_default()
    };
    let show = longest(Care::Drop, 200);
    let work = longest(Care::Block, 200);
    let (_, is_alive, gone) = seen.recv_timeout(AGES).expect("it is gone");
    println!("gone {:?} after it froze; longest put: show {show:?}, work {work:?}", gone - frozen);
    assert!(!is_alive);
    assert!(show < lease / 2, "a display held up a put for {show:?}");
    let extra = work.saturating_sub(gone - frozen);
    assert!(extra < lease / 2, "a put waited {work:?} for a member that was gone");

    let woken = Instant::now();
    peer.signal("CONT");
    let (_, is_alive, when) = seen.recv_timeout(AGES).expect("it is back");
    println!("back {:?} after it woke up", when - woken);
    assert!(is_alive);
    gone - frozen
}

#[test]
fn who_sends_on_a_lane_to_a_frozen_process_goes_on_after_the_lease() {
    within_the_lease("goes on", longest_put);
}

/// How long a put on a lane waits for a member that is frozen. There is a lane again when it wakes up.
fn longest_put() -> Duration {
    let lease = LEASE;
    let mesh = member(Options { lease, ..Options::default() }, &[]);
    mesh.trust(&run());
    let (seen, _watch) = watch(&mesh, "live/*");
    let peer = Peer::start(&mesh.endpoints()[0], lease);
    assert!(seen.recv_timeout(AGES).expect("it is seen").1);
    let payload = vec![0; 1 << 20];
    let put = || {
        let before = Instant::now();
        mesh.put("swarm/run/1/workers/q/0/1", &payload, Care::Block).expect("put");
        before.elapsed()
    };
    until("there is a lane", || {
        put();
        mesh.traffic().lanes.messages_out > 0
    });
    peer.signal("STOP");
    let longest = (0..40).map(|_| put()).max().unwrap_or_default();
    println!("longest put on a lane: {longest:?}");
    peer.signal("CONT");
    let before = mesh.traffic().lanes.messages_out;
    until("there is a lane again", || {
        put();
        mesh.traffic().lanes.messages_out > before
    });
    longest
}
