//! A process is killed: the others know at once, go on, and take a replacement in.

use crate::child::Peer;
use crate::{AGES, listen, member, watch};
use std::time::{Duration, Instant};
use swarmyard_fabric::mesh::Options;
use swarmyard_fabric::{Fabric, Lost};

#[test]
fn a_killed_process_is_gone_at_once_and_can_be_replaced() {
    // So long that nothing below can be its doing.
    let lease = Duration::from_secs(60);
    let mesh = member(Options { lease, ..Options::default() }, &[]);
    let (seen, _watch) = watch(&mesh, "live/*");
    let (heard, _ear) = listen(&mesh, "from/*");
    let mut peer = Peer::start(&mesh.endpoints()[0], lease);
    assert!(seen.recv_timeout(AGES).expect("it is seen").1);
    heard.recv_timeout(AGES).expect("it is heard");
    assert_eq!(mesh.ask("child", b"", AGES).as_deref(), Ok(b"here".as_slice()));

    let killed = Instant::now();
    peer.kill();
    let (key, is_alive, when) = seen.recv_timeout(AGES).expect("it is gone");
    println!("gone {:?} after it was killed", when - killed);
    assert!(key == "live/child" && !is_alive);
    assert!(matches!(mesh.ask("child", b"", AGES), Err(Lost::Silent { .. })));

    let started = Instant::now();
    let _replacement = Peer::start(&mesh.endpoints()[0], lease);
    let (key, is_alive, when) = seen.recv_timeout(AGES).expect("its replacement is seen");
    println!("replaced within {:?}", when - started);
    assert!(key == "live/child" && is_alive);
    assert_eq!(mesh.ask("child", b"", AGES).as_deref(), Ok(b"here".as_slice()));
}
