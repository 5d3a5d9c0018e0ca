//! Connections between two workers: used where they can be had, closed to strangers, and replaced when they break.

use crate::strangers::{authority, with};
use crate::{AGES, folder, listen, member, patient, reaches, until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;
use swarmyard_fabric::envelope::{Header, seal};
use swarmyard_fabric::gate::Kind;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::secret::SECRET_BYTES;
use swarmyard_fabric::{Care, Fabric, Inbox, MOST_BYTES, Patience, RunKey, Secret};

pub(crate) const KEY: &str = "swarm/run/1/workers/q/0/1";

/// Sends until something that went over a lane was heard. What was on a lane that broke is lost.
pub(crate) fn lane_opens(sender: &Mesh, receiver: &Mesh, heard: &std::sync::mpsc::Receiver<Vec<u8>>) {
    let before = receiver.traffic().lanes.messages_in;
    until("there is a lane", || {
        sender.put(KEY, b"hello", Care::Block).expect("put");
        let is_heard = heard.recv_timeout(Duration::from_millis(20)).is_ok();
        is_heard && receiver.traffic().lanes.messages_in > before
    });
    while heard.recv_timeout(Duration::from_millis(100)).is_ok() {}
}

#[test]
fn workers_find_a_lane_and_another_when_its_listener_is_replaced() {
    let one = worker(patient(), &[]);
    let two = worker(patient(), &[&one]);
    let (heard, handle) = listen(&two, "swarm/run/1/workers/q/*/1");
    lane_opens(&one, &two, &heard);
    drop(handle);
    let (heard, _handle) = listen(&two, "swarm/run/1/workers/q/*/1");
    lane_opens(&one, &two, &heard);
}

#[test]
fn lanes_are_encrypted_when_there_are_keys() {
    let [alpha, beta] = authority(&folder("lanes"), ["alpha", "beta"]);
    let one = worker(with(&alpha), &[]);
    let two = worker(with(&beta), &[&one]);
    let (heard, _handle) = listen(&two, "swarm/run/1/workers/q/*/1");
    lane_opens(&one, &two, &heard);
    let long: Vec<u8> = (0..1_000_000).map(|n| (n % 251) as u8).collect();
    one.put(KEY, &long, Care::Block).expect("put");
    assert!(heard.recv_timeout(AGES).expect("it arrives") == long);
    // Who knows the secret but has no certificate is not let in.
    let invitation = one.ask("swarm/run/1/workers/lane/0/1", b"", AGES).expect("an invitation");
    assert!(!is_welcome(&invitation, &run().secret, KEY).0, "an open connection was let in");
    assert!(reaches(&one, KEY, &heard, AGES), "the lane was disturbed");
}

/// What only the members of the run know.
pub(crate) fn run() -> RunKey {
    RunKey { number: 1, secret: Secret::of([9; SECRET_BYTES]) }
}

/// A member of the run.
pub(crate) fn worker(options: Options, before: &[&Mesh]) -> Mesh {
    let mesh = member(options, before);
    mesh.trust(&run());
    mesh
}

/// Bytes of the ticket that an invitation begins with.
const TICKET: usize = 32;
const NONCE: usize = 16;

/// Whether one that knows the protocol is let in with this secret; and the connection. It is no code of the fabric that says what
/// goes over it.
pub(crate) fn is_welcome(invitation: &[u8], secret: &Secret, key: &str) -> (bool, TcpStream) {
    let address = &invitation[TICKET..];
    let mut stream = TcpStream::connect(str::from_utf8(address).expect("text")).expect("it listens");
    stream.set_read_timeout(Some(AGES)).expect("set");
    let length = (key.len() as u16).to_le_bytes();
    // It may be refused before everything is sent.
    let _ = stream.write_all(&[b"SWYL\x02\x00".as_slice(), &length, key.as_bytes()].concat());
    let (ours, mut theirs, mut proof) = ([3; NONCE], [0; NONCE], [0; 8]);
    if stream.read_exact(&mut theirs).is_err() {
        return (false, stream);
    }
    let sealed = |side: &[u8], one: &[u8], other: &[u8]| {
        let pieces = [side, key.as_bytes(), &invitation[..TICKET], address, one, other];
        secret.seal(&pieces).to_le_bytes()
    };
    let _ = stream.write_all(&[ours.as_slice(), &sealed(b"calls", &ours, &theirs)].concat());
    let is_in = stream.read_exact(&mut proof).is_ok();
    (is_in && proof == sealed(b"hears", &theirs, &ours), stream)
}

#[test]
fn strangers_nonsense_and_oversized_frames_are_refused_on_a_lane() {
    let one = worker(patient(), &[]);
    let two = worker(patient(), &[&one]);
    let (heard, _handle) = listen(&two, "swarm/run/1/workers/q/*/1");
    lane_opens(&one, &two, &heard);
    let invitation = one.ask("swarm/run/1/workers/lane/0/1", b"", AGES).expect("an invitation");
    let ours = run().secret;
    let mut wrong = invitation.clone();
    wrong[31] ^= 1;
    assert!(!is_welcome(&wrong, &ours, KEY).0, "a wrong ticket was taken");
    assert!(!is_welcome(&invitation, &Secret::default(), KEY).0, "a wrong secret was taken");
    assert!(!is_welcome(&invitation, &ours, "swarm/run/1/workers/q/0/9").0, "nobody listens there");
    assert!(!is_welcome(&invitation, &ours, "show/frame").0, "this is no lane");
    // One that is let in, and then says it will send more than anybody takes.
    let (is_in, mut rogue) = is_welcome(&invitation, &ours, "swarm/run/1/workers/q/7/1");
    assert!(is_in, "who knows the secret is let in");
    rogue.write_all(&(MOST_BYTES as u32 + 1).to_le_bytes()).expect("sent");
    assert_eq!(rogue.read(&mut [0; 10]).ok(), Some(0), "the connection was not ended");
    until("all five are counted", || two.traffic().refused.of(Kind::Lane) == 5);
    while heard.try_recv().is_ok() {}
    assert!(reaches(&one, KEY, &heard, AGES), "the lane was disturbed");
}

/// A message of a tenth of a megabyte that takes two and a half seconds. It would be asked for after one, and once more after two.
#[test]
fn a_long_message_on_a_slow_lane_is_not_asked_for_while_it_comes() {
    let one = member(patient(), &[]);
    let two = Arc::new(member(patient(), &[&one]));
    let patience = Patience { ask_after: Duration::from_secs(1), give_up: AGES, ..Patience::default() };
    let receiver = Inbox::open(two.clone(), 1_u64, 1, 1, &[0], patience).expect("an inbox");
    let invitation = || one.ask("swarm/run/1/workers/lane/0/1", b"", AGES).ok();
    until("the end of the lane is told", || invitation().is_some());
    let invitation = invitation().expect("an invitation");
    let (is_in, mut lane) = is_welcome(&invitation, &RunKey::from(1).secret, KEY);
    assert!(is_in, "who knows the secret is let in");
    let long: Vec<u8> = (0..100_000).map(|n| (n % 251) as u8).collect();
    let header = Header { run: 1, epoch: 1, quantum: 0, sender: 0, receiver: 1, sequence: 0 };
    let sealed = seal(&header, &long, &RunKey::from(1_u64).secret);
    let frame = [&(sealed.len() as u32).to_le_bytes()[..], &sealed].concat();
    let sends = std::thread::spawn(move || {
        for piece in frame.chunks(frame.len() / 25) {
            lane.write_all(piece).expect("sent");
            std::thread::sleep(Duration::from_millis(100));
        }
        lane
    });
    let came = receiver.wait(0, &[0]).expect("it comes");
    assert!(came == vec![(0, long)]);
    assert_eq!(receiver.asked(), (0, 0));
    drop(sends.join().expect("no panic"));
}
