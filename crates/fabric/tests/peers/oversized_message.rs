//! Somebody sends more than a member takes: it is not heard, and the others are not disturbed.

use crate::{AGES, listen, member, patient, reaches};
use std::time::Duration;
use swarmyard_fabric::MOST_BYTES;
use zenoh::Wait;

#[test]
fn a_message_longer_than_the_limit_is_refused_and_nobody_else_notices() {
    let victim = member(patient(), &[]);
    let friend = member(patient(), &[&victim]);
    let (heard, _ear) = listen(&victim, "k");
    assert!(reaches(&friend, "k", &heard, AGES));

    // Not one of ours: Zenoh with its own limits, which are far higher.
    let mut config = zenoh::Config::default();
    let endpoint = format!("[\"tcp/{}\"]", victim.endpoints()[0]);
    for (key, value) in [
        ("connect/endpoints", endpoint.as_str()),
        ("listen/endpoints", "[]"),
        ("scouting/multicast/enabled", "false"),
        ("scouting/gossip/enabled", "false"),
    ] {
        config.insert_json5(key, value).expect("a setting");
    }
    let rogue = zenoh::open(config).wait().expect("a session");
    let block = zenoh::qos::CongestionControl::Block;
    crate::until("the rogue is connected", || {
        rogue.put("k", "small").congestion_control(block).wait().expect("put");
        heard.recv_timeout(Duration::from_millis(20)).is_ok_and(|bytes| bytes == b"small")
    });
    while heard.try_recv().is_ok() {}
    let long = vec![7_u8; MOST_BYTES + (1 << 20)];
    rogue.put("k", long).congestion_control(block).wait().expect("put");
    std::thread::sleep(Duration::from_millis(500));
    assert!(reaches(&friend, "k", &heard, AGES), "the victim hears nobody any more");
    assert!(heard.try_iter().all(|bytes| bytes.len() < 100), "the long message was heard");
}
