//! A way that is slow: what is on it is not asked for again, as long as that can be known.

use crate::posting::{RUN, outbox, run};
use crate::{AGES, until};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use swarmyard_fabric::local::Switchboard;
use swarmyard_fabric::outbox::{again_key, lane_key};
use swarmyard_fabric::{
    Care, Fabric, Handle, Inbox, Listener, Lost, Patience, Replier, Traffic, Unmet, Watcher,
};

/// A fabric on which, whenever somebody looks, a bit more has come; while it is slow.
struct Slow {
    inner: Arc<dyn Fabric>,
    is_slow: AtomicBool,
    bytes: AtomicU64,
}

impl Fabric for Slow {
    fn put(&self, key: &str, bytes: &[u8], care: Care) -> Result<(), Lost> {
        self.inner.put(key, bytes, care)
    }
    fn listen(&self, pattern: &str, hear: Listener) -> Result<Handle, Lost> {
        self.inner.listen(pattern, hear)
    }
    fn answer(&self, pattern: &str, reply: Replier) -> Result<Handle, Lost> {
        self.inner.answer(pattern, reply)
    }
    fn ask(&self, key: &str, question: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        self.inner.ask(key, question, patience)
    }
    fn ask_all(
        &self,
        key: &str,
        question: &[u8],
        patience: Duration,
    ) -> Result<Vec<(String, Vec<u8>)>, Lost> {
        self.inner.ask_all(key, question, patience)
    }
    fn live(&self, key: &str) -> Result<Handle, Lost> {
        self.inner.live(key)
    }
    fn watch(&self, pattern: &str, seen: Watcher) -> Result<Handle, Lost> {
        self.inner.watch(pattern, seen)
    }
    fn attend(&self, until: Instant, is_done: &dyn Fn() -> bool) {
        self.inner.attend(until, is_done);
    }
    fn arrived(&self, key: &str) -> u64 {
        assert_eq!(key, lane_key(RUN, 0, 1), "whose way it is");
        self.bytes.fetch_add(u64::from(self.is_slow.load(Ordering::Relaxed)), Ordering::Relaxed)
    }
    fn traffic(&self) -> Traffic {
        self.inner.traffic()
    }
}

const ASK_AFTER: Duration = Duration::from_millis(20);

/// A sender, and a receiver with such patience. The first so many messages do not come by themselves.
fn two(give_up: Duration, lost: u64) -> (Arc<dyn Fabric>, Arc<Slow>, Inbox) {
    let board = Switchboard::default();
    let sender: Arc<dyn Fabric> = Arc::new(board.member("a"));
    let (is_slow, bytes) = (AtomicBool::new(false), AtomicU64::new(0));
    let slow = Arc::new(Slow { inner: Arc::new(board.member("b")), is_slow, bytes });
    board.lose("swarm/run/*/workers/q/**", lost);
    let patience = Patience { ask_after: ASK_AFTER, give_up, watch: Duration::ZERO };
    let fabric: Arc<dyn Fabric> = Arc::clone(&slow) as Arc<dyn Fabric>;
    let inbox = Inbox::open(fabric, run(), 1, 1, &[0], patience).expect("an inbox");
    (sender, slow, inbox)
}

#[test]
fn what_is_still_coming_is_not_asked_for() {
    let (a, slow, receiver) = two(8 * ASK_AFTER, 1);
    let sender = outbox(&a, 0);
    sender.send(1, 0, b"long").expect("sent");
    slow.is_slow.store(true, Ordering::Relaxed);
    for _ in 0..3 {
        assert_eq!(receiver.wait(0, &[0]), Err(Unmet::Missing { quantum: 0, who: vec![0] }));
    }
    assert_eq!((receiver.asked(), sender.answered()), ((0, 0), 0));
    // It stands still: it may be lost.
    slow.is_slow.store(false, Ordering::Relaxed);
    let mut waits = 0;
    while receiver.wait(0, &[0]).is_err() {
        waits += 1;
        assert!(waits < 1000, "it is never asked for");
    }
    assert_eq!((receiver.asked().1, sender.answered() > 0), (1, true));
}

#[test]
fn one_that_was_asked_for_what_was_on_its_way_is_asked_later() {
    // One wait is long enough to ask in, and shorter than twice as long.
    let (a, _slow, receiver) = two(ASK_AFTER * 3 / 2, 1);
    let sender = outbox(&a, 0);
    sender.send(1, 0, b"slow").expect("sent");
    let mut waits = 0;
    while receiver.wait(0, &[0]).is_err() {
        waits += 1;
        assert!(waits < 1000, "it is never asked for");
    }
    let asked = receiver.asked().0;
    // What was given comes by itself after all.
    let again = a.ask(&again_key(RUN, 0, 1, 0), &1_u32.to_le_bytes(), AGES).expect("it is kept");
    let (lane, refused) = (lane_key(RUN, 0, 1), receiver.refusals().total());
    a.put(&lane, &again, Care::Block).expect("put");
    until("it was refused", || receiver.refusals().total() > refused);
    sender.send(1, 1, b"next").expect("sent");
    until("it came", || receiver.wait(1, &[0]).is_ok());
    assert_eq!(receiver.wait(2, &[0]), Err(Unmet::Missing { quantum: 2, who: vec![0] }));
    assert_eq!(receiver.asked().0, asked, "it was asked too soon");
    waits = 0;
    while receiver.asked().0 == asked {
        assert!(receiver.wait(2, &[0]).is_err());
        waits += 1;
        assert!(waits < 1000, "it is never asked again");
    }
}
