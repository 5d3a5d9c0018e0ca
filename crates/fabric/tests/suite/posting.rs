//! Outbox and inbox make up for what a fabric loses, and let nothing in that does not belong there; on every fabric.

use crate::{AGES, Town, until};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_fabric::envelope::{self, Header};
use swarmyard_fabric::gate::Kind;
use swarmyard_fabric::outbox::lane_key;
use swarmyard_fabric::{Care, Fabric, Inbox, Outbox, Patience, RunKey, Secret, Unmet};

pub(crate) const RUN: u64 = 77;

/// The run, with what its members know.
pub(crate) fn run() -> RunKey {
    RunKey { number: RUN, secret: Secret::of([7; 16]) }
}

fn seal(header: &Header, payload: &[u8]) -> Vec<u8> {
    envelope::seal(header, payload, &run().secret)
}

pub(crate) fn quick() -> Patience {
    Patience { ask_after: Duration::from_millis(30), give_up: AGES, ..Patience::default() }
}

pub(crate) fn outbox(fabric: &Arc<dyn Fabric>, me: u32) -> Outbox {
    Outbox::open(fabric.clone(), run(), 1, me, 8).expect("an outbox")
}

pub(crate) fn inbox(fabric: &Arc<dyn Fabric>, me: u32, neighbours: &[u32]) -> Inbox {
    Inbox::open(fabric.clone(), run(), 1, me, neighbours, quick()).expect("an inbox")
}

pub(crate) fn what_was_sent_before_anyone_listened_is_asked_for_again(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let sender = outbox(&a, 0);
    sender.send(1, 0, b"early").expect("sent");
    sender.send(1, 1, b"and more").expect("sent");
    let receiver = inbox(&b, 1, &[0]);
    assert_eq!(receiver.wait(0, &[0]), Ok(vec![(0, b"early".to_vec())]));
    assert_eq!(receiver.wait(1, &[0]), Ok(vec![(0, b"and more".to_vec())]));
    // Nothing else could bring them. On a busy machine one may be asked for twice; it helps once.
    assert!(sender.answered() >= 2);
    assert_eq!(receiver.asked().1, 2);
}

pub(crate) fn a_neighbour_that_is_ahead_or_late_changes_nothing(town: &mut dyn Town) {
    let (a, b, c) = (town.member("a"), town.member("b"), town.member("c"));
    let receiver = inbox(&b, 1, &[2, 0]);
    let (ahead, late) = (outbox(&a, 0), outbox(&c, 2));
    for quantum in 0..5_u64 {
        ahead.send(1, quantum, &quantum.to_le_bytes()).expect("sent");
    }
    for quantum in 0..5_u64 {
        late.send(1, quantum, &[9]).expect("sent");
        let wanted = vec![(0, quantum.to_le_bytes().to_vec()), (2, vec![9])];
        assert_eq!(receiver.wait(quantum, &[2, 0]), Ok(wanted));
    }
}

pub(crate) fn who_neither_sends_nor_answers_is_named(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let sender = outbox(&a, 0);
    let patience = Patience {
        ask_after: Duration::from_millis(20),
        give_up: Duration::from_secs(3),
        ..Patience::default()
    };
    let receiver = Inbox::open(b, run(), 1, 1, &[0, 2, 3], patience).expect("an inbox");
    until("the first quantum is there", || {
        sender.send(1, 0, b"here").is_ok() && receiver.wait(0, &[0]).is_ok()
    });
    sender.send(1, 1, b"here").expect("sent");
    let start = Instant::now();
    let missing = receiver.wait(1, &[3, 0, 2]);
    assert_eq!(missing, Err(Unmet::Missing { quantum: 1, who: vec![2, 3] }));
    println!("gave up after {:?}", start.elapsed());
    assert_eq!(receiver.wait(1, &[0]), Ok(vec![(0, b"here".to_vec())]), "what came was thrown away");
}

pub(crate) fn replays_forgeries_and_old_epochs_are_refused_and_change_nothing(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let receiver = inbox(&b, 1, &[0, 2]);
    let header = Header { run: RUN, epoch: 1, quantum: 0, sender: 0, receiver: 1, sequence: 0 };
    let good = seal(&header, b"good");
    let put = |from: u32, bytes: &[u8]| a.put(&lane_key(RUN, from, 1), bytes, Care::Block).expect("put");
    until("the inbox hears", || {
        put(0, b"nonsense");
        std::thread::sleep(Duration::from_millis(10));
        receiver.refusals().of(Kind::NotOurs) > 0
    });
    put(0, &seal(&Header { epoch: 0, ..header }, b"old"));
    put(0, &seal(&Header { epoch: 2, ..header }, b"new"));
    put(0, &seal(&Header { run: 1, ..header }, b"elsewhere"));
    put(2, &good);
    put(9, &seal(&Header { sender: 9, ..header }, b"nobody"));
    // One that a member made for somebody else, with the number that the next one for here will have.
    put(0, &seal(&Header { receiver: 2, ..header }, b"for another"));
    put(0, &seal(&Header { quantum: 1000, ..header }, b"far ahead"));
    let mut broken = good.clone();
    broken[55] ^= 1;
    put(0, &broken);
    // Everything about it is right, but its sender does not know the secret; one comes before the message and one after.
    let forged = envelope::seal(&Header { sequence: 7, ..header }, b"forged", &Secret::default());
    put(0, &forged);
    put(0, &good);
    put(0, &good);
    put(0, &forged);
    put(0, &seal(&Header { sequence: 2, ..header }, b"what is there already stays"));
    put(0, &seal(&Header { sequence: 1, quantum: 1, ..header }, b"next"));
    // What came under another worker's key may take longer than what was put after it; and once quantum 0 is over, a
    // second message about it is no longer wanted, whoever sent it.
    until("everything was refused", || {
        receiver.refusals().total() - receiver.refusals().of(Kind::NotOurs) >= 12
    });
    assert_eq!(receiver.wait(0, &[0]), Ok(vec![(0, b"good".to_vec())]));
    assert_eq!(receiver.wait(1, &[0]), Ok(vec![(0, b"next".to_vec())]));
    let no = receiver.refusals();
    let once = [
        Kind::OldEpoch,
        Kind::NewEpoch,
        Kind::OtherRun,
        Kind::OtherReceiver,
        Kind::Forged,
        Kind::UnknownSender,
        Kind::Unwanted,
    ];
    assert_eq!(once.map(|kind| no.of(kind)), [1; 7]);
    assert_eq!((no.of(Kind::WrongSeal), no.of(Kind::Replayed)), (3, 2));
}

pub(crate) fn a_new_epoch_ends_a_wait_and_starts_clean(town: &mut dyn Town) {
    let (a, b) = (town.member("a"), town.member("b"));
    let receiver = Arc::new(inbox(&b, 1, &[0]));
    let waiting = receiver.clone();
    let waiter = std::thread::spawn(move || waiting.wait(5, &[0]));
    let sender = outbox(&a, 0);
    sender.send(1, 5, b"old").expect("sent");
    assert_eq!(waiter.join().expect("no panic"), Ok(vec![(0, b"old".to_vec())]));
    let waiting = receiver.clone();
    let waiter = std::thread::spawn(move || waiting.wait(6, &[0]));
    std::thread::sleep(Duration::from_millis(50));
    receiver.begin(2, 3, &[0]);
    assert_eq!(waiter.join().expect("no panic"), Err(Unmet::NewEpoch(2)));
    sender.send(1, 3, b"still old").expect("sent");
    sender.begin(2);
    sender.send(1, 3, b"new").expect("sent");
    assert_eq!(receiver.wait(3, &[0]), Ok(vec![(0, b"new".to_vec())]));
}
