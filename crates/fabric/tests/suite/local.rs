//! The suite inside one process, and the faults that only a switchboard has.

use crate::{AGES, Town, listen, posting, until};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use swarmyard_fabric::local::Switchboard;
use swarmyard_fabric::{Care, Fabric, Handle, Lost};

impl Town for Switchboard {
    fn member(&mut self, name: &str) -> Arc<dyn Fabric> {
        Arc::new(Switchboard::member(self, name))
    }
}

suite_in!(Switchboard);

/// What a listener hears of the numbers 0 to 9 and of the end, when the switchboard does this to them.
fn numbers(harm: impl Fn(&Switchboard)) -> Vec<String> {
    let board = Switchboard::default();
    let (a, b) = (board.member("a"), board.member("b"));
    let ear = listen(&b, "n/**", &a, "n/probe");
    harm(&board);
    for n in 0..10 {
        a.put("n/1", n.to_string().as_bytes(), Care::Block).expect("put");
    }
    board.calm();
    a.put("n/end", b"end", Care::Block).expect("put");
    let texts = std::iter::from_fn(|| ear.heard.recv_timeout(AGES).ok()).map(|h| h.1);
    texts.take_while(|t| t != "end").collect()
}

#[test]
fn exactly_as_many_messages_are_lost_as_were_asked_for() {
    assert_eq!(numbers(|_| {}).concat(), "0123456789");
    assert_eq!(numbers(|board| board.lose("n/*", 3)).concat(), "3456789");
    assert_eq!(numbers(|board| board.lose("m/*", 3)).concat(), "0123456789");
}

#[test]
fn doubled_messages_arrive_twice() {
    assert_eq!(numbers(|board| board.double("n/1", 2)).concat(), "00112".to_owned() + "3456789");
}

#[test]
fn scrambled_messages_all_arrive_in_an_order_that_is_a_function_of_the_seed() {
    let scrambled = |seed| numbers(move |board| board.scramble("n/1", seed, 4));
    assert_eq!(scrambled(1), scrambled(1));
    assert_ne!(scrambled(1), scrambled(2));
    assert_ne!(scrambled(1).concat(), "0123456789");
    let mut sorted = scrambled(1);
    sorted.sort();
    assert_eq!(sorted.concat(), "0123456789");
}

/// What a member sees of the tokens of others: whether one is alive, and since when.
fn comings(member: &dyn Fabric) -> (Receiver<(bool, Instant)>, Handle) {
    let (tell, seen) = channel();
    let tell = Mutex::new(tell);
    let note = move |_: &str, is_alive| drop(tell.lock().map(|t| t.send((is_alive, Instant::now()))));
    (seen, member.watch("live/*", Box::new(note)).expect("a watcher"))
}

#[test]
fn a_member_cut_off_loses_what_is_put_and_is_gone_after_the_lease() {
    let lease = Duration::from_millis(300);
    let board = Switchboard::new(lease);
    let (a, b) = (board.member("a"), board.member("b"));
    let ear = listen(&b, "n", &a, "n");
    let _token = b.live("live/b").expect("a token");
    let (seen, _watch) = comings(&a);
    assert!(seen.recv_timeout(AGES).expect("it is seen").0);
    let cut = Instant::now();
    board.cut("b");
    a.put("n", b"lost", Care::Block).expect("put");
    assert!(matches!(a.ask("q", b"", AGES), Err(Lost::Silent { .. })));
    let (is_alive, when) = seen.recv_timeout(AGES).expect("it is gone");
    assert!(!is_alive && when - cut >= lease, "gone after {:?}", when - cut);
    board.join("b");
    assert!(seen.recv_timeout(AGES).expect("it is back").0);
    a.put("n", b"after", Care::Block).expect("put");
    assert_eq!(ear.heard.recv_timeout(AGES).expect("it hears again").1, "after");
}

#[test]
fn a_short_cut_is_not_noticed_by_watchers() {
    let lease = Duration::from_secs(2);
    let board = Switchboard::new(lease);
    let (a, b) = (board.member("a"), board.member("b"));
    let _token = b.live("live/b").expect("a token");
    let (seen, _watch) = comings(&a);
    assert_eq!(seen.recv_timeout(AGES).map(|s| s.0), Ok(true));
    board.cut("b");
    board.join("b");
    assert!(seen.recv_timeout(lease + lease / 4).is_err(), "the old lease still counted");
}

#[test]
fn a_frozen_member_does_nothing_until_it_is_joined() {
    let board = Switchboard::new(Duration::from_secs(60));
    let (a, b) = (board.member("a"), Arc::new(board.member("b")));
    let ear = listen(&*b, "n", &a, "n");
    let back = listen(&a, "m", &*b, "m");
    board.freeze("b");
    a.put("n", b"waits", Care::Block).expect("put");
    let frozen = b.clone();
    let speaker = std::thread::spawn(move || frozen.put("m", b"late", Care::Block));
    assert!(ear.heard.recv_timeout(Duration::from_millis(100)).is_err(), "a frozen member heard");
    assert!(back.heard.recv_timeout(Duration::from_millis(100)).is_err(), "a frozen member spoke");
    board.join("b");
    assert_eq!(ear.heard.recv_timeout(AGES).expect("it thaws").1, "waits");
    assert_eq!(back.heard.recv_timeout(AGES).expect("it thaws").1, "late");
    assert_eq!(speaker.join().expect("no panic"), Ok(()));
}

#[test]
fn who_waits_for_a_frozen_member_goes_on_when_its_lease_ends() {
    let board = Switchboard::new(Duration::from_millis(300));
    let (a, b) = (board.member("a"), board.member("b"));
    let ear = listen(&b, "n", &a, "n");
    let start = Instant::now();
    board.freeze("b");
    for _ in 0..2000 {
        a.put("n", b"much", Care::Block).expect("put");
    }
    assert!(start.elapsed() >= Duration::from_millis(250), "nobody waited: {:?}", start.elapsed());
    board.join("b");
    a.put("n", b"end", Care::Block).expect("put");
    until("it hears again", || ear.heard.recv_timeout(AGES).is_ok_and(|h| h.1 == "end"));
}

#[test]
fn a_killed_member_is_gone_at_once_and_its_calls_fail() {
    let board = Switchboard::new(Duration::from_secs(60));
    let (a, b) = (board.member("a"), board.member("b"));
    let _token = b.live("live/b").expect("a token");
    let (seen, _watch) = comings(&a);
    assert_eq!(seen.recv_timeout(AGES).map(|s| s.0), Ok(true));
    board.kill("b");
    assert_eq!(seen.recv_timeout(AGES).map(|s| s.0), Ok(false));
    assert_eq!(b.put("n", b"", Care::Block), Err(Lost::Closed));
    let replacement = board.member("b");
    let _token = replacement.live("live/b").expect("a token");
    assert_eq!(seen.recv_timeout(AGES).map(|s| s.0), Ok(true));
}

/// Two workers that go through 200 quanta in lock-step, each a sum of what both said before.
fn lock_step(harm: impl Fn(&Switchboard, u64) + Sync) -> (u64, u64) {
    let board = Switchboard::new(Duration::from_millis(50));
    let work = |me: u32| {
        let fabric: Arc<dyn Fabric> = Arc::new(board.member(&format!("w{me}")));
        (posting::outbox(&fabric, me), posting::inbox(&fabric, me, &[1 - me]))
    };
    let pairs = [work(0), work(1)];
    let run = |me: u32, (out, inbox): &(swarmyard_fabric::Outbox, swarmyard_fabric::Inbox)| {
        let mut sum = u64::from(me);
        for quantum in 0..200 {
            if me == 0 {
                harm(&board, quantum);
            }
            out.send(1 - me, quantum, &sum.to_le_bytes()).expect("sent");
            let came = inbox.wait(quantum, &[1 - me]).expect("it comes in the end");
            let other = u64::from_le_bytes(came[0].1.as_slice().try_into().expect("eight bytes"));
            sum = sum.wrapping_mul(31).wrapping_add(other ^ quantum);
        }
        sum
    };
    std::thread::scope(|scope| {
        let other = scope.spawn(|| run(1, &pairs[1]));
        (run(0, &pairs[0]), other.join().expect("no panic"))
    })
}

#[test]
fn lock_step_gives_the_same_sums_whatever_happens_to_messages() {
    let undisturbed = lock_step(|_, _| {});
    assert_eq!(lock_step(|board, quantum| board.lose("swarm/**", u64::from(quantum % 20 == 3))), undisturbed);
    assert_eq!(lock_step(|board, _| board.double("swarm/**", 1)), undisturbed);
    let scramble = |board: &Switchboard, quantum| {
        if quantum == 0 {
            board.scramble("swarm/**", 5, 3);
        }
    };
    assert_eq!(lock_step(scramble), undisturbed);
}

#[test]
fn lock_step_survives_a_worker_that_is_cut_off_or_frozen_for_a_while() {
    let undisturbed = lock_step(|_, _| {});
    let away = |is_frozen: bool| {
        move |board: &Switchboard, quantum: u64| {
            if quantum % 50 == 20 {
                let board = board.clone();
                if is_frozen {
                    board.freeze("w1")
                } else {
                    board.cut("w1")
                }
                std::thread::spawn(move || {
                    std::thread::sleep(Duration::from_millis(120));
                    board.join("w1");
                });
            }
        }
    };
    assert_eq!(lock_step(away(false)), undisturbed);
    assert_eq!(lock_step(away(true)), undisturbed);
}
