//! Strangers where lanes end: one that greets wrongly, says nothing, announces an enormous length, knows everything but the secret, comes
//! in crowds, or says that lanes end at his place. The members go on, and over lanes.

use crate::lanes::{KEY, is_welcome, lane_opens, run, worker};
use crate::{AGES, listen, member, patient, reaches, until};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use swarmyard_fabric::gate::Kind;
use swarmyard_fabric::mesh::{Mesh, Options};
use swarmyard_fabric::{Fabric, Inbox, Outbox, Patience, Secret};

const END: &str = "swarm/run/1/workers/lane/0/1";
/// A crowd: more connections than may greet at once, and than there are lanes.
const CROWD: usize = 300;

fn address(invitation: &[u8]) -> String {
    String::from_utf8(invitation[32..].to_vec()).expect("an address")
}

fn invited(who: &Mesh) -> Vec<u8> {
    until("the end of the lane is told", || who.ask(END, b"", AGES).is_ok());
    who.ask(END, b"", AGES).expect("an invitation")
}

/// A worker that sends and one that hears, and how long a message may take before it is asked for: longer than any test.
fn pair(options: impl Fn() -> Options) -> (Arc<Mesh>, Arc<Mesh>, Outbox, Inbox) {
    let one = Arc::new(worker(options(), &[]));
    let two = Arc::new(worker(options(), &[&one]));
    let patience = Patience { ask_after: Duration::from_secs(2), give_up: AGES, ..Patience::default() };
    let inbox = Inbox::open(two.clone(), run(), 1, 1, &[0], patience).expect("an inbox");
    let outbox = Outbox::open(one.clone(), run(), 1, 0, 64).expect("an outbox");
    (one, two, outbox, inbox)
}

/// Sends about these quanta, one after the other, and hears each.
fn exchange(outbox: &Outbox, inbox: &Inbox, quanta: std::ops::Range<u64>) {
    for quantum in quanta {
        outbox.send(1, quantum, &quantum.to_le_bytes()).expect("sent");
        let came = inbox.wait(quantum, &[0]).expect("it comes");
        assert_eq!(came, [(0, quantum.to_le_bytes().to_vec())]);
    }
}

/// Until a message goes over a lane. Answers the next quantum.
fn until_lane(two: &Mesh, outbox: &Outbox, inbox: &Inbox, from: u64) -> u64 {
    let (mut quantum, before) = (from, two.traffic().lanes.messages_in);
    until("there is a lane", || {
        exchange(outbox, inbox, quantum..quantum + 1);
        quantum += 1;
        two.traffic().lanes.messages_in > before
    });
    quantum
}

#[test]
fn who_does_not_know_the_secret_takes_nobodys_lane() {
    let (one, two, outbox, inbox) = pair(patient);
    let start = until_lane(&two, &outbox, &inbox, 0);
    let (invitation, before, asked) = (invited(&one), two.traffic().lanes.messages_in, inbox.asked().0);
    for quantum in start..start + 100 {
        let (is_in, _stream) = is_welcome(&invitation, &Secret::default(), KEY);
        assert!(!is_in, "a stranger was given the lane");
        exchange(&outbox, &inbox, quantum..quantum + 1);
    }
    // Not one of them had to go another way, or was asked for.
    assert_eq!(two.traffic().lanes.messages_in - before, 100);
    assert_eq!(inbox.asked().0, asked);
    until("all are counted", || two.traffic().refused.of(Kind::Lane) == 100);
}

/// What was heard when a member greeted does not help: the end of the lane gives something else each time.
#[test]
fn a_greeting_that_is_said_again_is_none() {
    let one = worker(patient(), &[]);
    let two = worker(patient(), &[&one]);
    let (heard, _ear) = listen(&two, "swarm/run/1/workers/q/*/1");
    lane_opens(&one, &two, &heard);
    let invitation = invited(&one);
    let to = address(&invitation);
    // Somebody in between hears what a member says.
    let between = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let asked =
        [&invitation[..32], between.local_addr().expect("its address").to_string().as_bytes()].concat();
    let overheard = std::thread::spawn(move || {
        let (mut caller, _) = between.accept().expect("the member");
        let mut end = TcpStream::connect(to).expect("it listens");
        let mut said = vec![0; 8 + KEY.len()];
        caller.read_exact(&mut said).expect("a greeting");
        end.write_all(&said).expect("sent");
        let mut nonce = [0; 16];
        end.read_exact(&mut nonce).expect("a nonce");
        caller.write_all(&nonce).expect("sent");
        let mut proof = [0; 24];
        caller.read_exact(&mut proof).expect("a proof");
        (said, proof)
    });
    // It believes that the lane ends there.
    let secret = run().secret;
    assert!(!is_welcome(&asked, &secret, KEY).0);
    let (said, proof) = overheard.join().expect("no panic");
    let mut again = TcpStream::connect(address(&invitation)).expect("it listens");
    again.set_read_timeout(Some(AGES)).expect("set");
    again.write_all(&said).expect("sent");
    again.read_exact(&mut [0; 16]).expect("a nonce");
    again.write_all(&proof).expect("sent");
    assert!(!matches!(again.read(&mut [0; 8]), Ok(1..)), "it was let in");
    assert!(reaches(&one, KEY, &heard, AGES));
}

/// All kinds at once, and a crowd of them, while two workers exchange messages: all arrive, over lanes, also when the lane has to
/// be laid in the middle of it.
#[test]
fn a_crowd_of_strangers_does_not_keep_workers_from_their_lanes() {
    let (one, two, outbox, inbox) = pair(|| Options { lease: Duration::from_secs(4), ..patient() });
    let invitation = invited(&one);
    let to = address(&invitation);
    let is_over = AtomicBool::new(false);
    let sends = |to: &str, bytes: &[u8]| {
        let mut stream = TcpStream::connect(to)?;
        stream.write_all(bytes)?;
        std::io::Result::Ok(stream)
    };
    std::thread::scope(|scope| {
        // One thread for each way to be a stranger; each keeps as many connections as a crowd, and lets go of the oldest.
        for first in [
            b"".as_slice(),
            b"GET / HTTP/1.1\r\n\r\n",
            b"SWYL\x02\x00\xff\xff",
            b"SWYL\x02\x00\xff\x00abc",
            b"SWYL\x01\x00",
            &[b"SWYL\x02\x00\x19\x00", KEY.as_bytes()].concat(),
        ] {
            let (first, to, is_over) = (first.to_vec(), to.clone(), &is_over);
            scope.spawn(move || {
                let mut crowd = std::collections::VecDeque::new();
                while !is_over.load(Relaxed) {
                    // It may be refused before everything is sent.
                    crowd.extend(sends(&to, &first));
                    if crowd.len() > CROWD / 6 {
                        crowd.pop_front();
                    }
                    std::thread::sleep(Duration::from_millis(2));
                }
            });
        }
        std::thread::sleep(Duration::from_millis(300));
        let start = until_lane(&two, &outbox, &inbox, 0);
        let before = two.traffic().lanes.messages_in;
        exchange(&outbox, &inbox, start..start + 500);
        let over_lanes = two.traffic().lanes.messages_in - before;
        is_over.store(true, Relaxed);
        println!("{start} messages before there was a lane; then {over_lanes} of 500 over it");
        assert_eq!(over_lanes, 500);
    });
    let strange = two.traffic().refused.of(Kind::Lane);
    println!("{strange} refused");
    assert!(strange >= 32, "{strange}");
}

#[test]
fn one_that_says_nothing_is_let_go_in_time_and_counted() {
    let (one, two, _outbox, _inbox) = pair(|| Options { lease: Duration::from_millis(700), ..patient() });
    let to = address(&invited(&one));
    let mut silent = TcpStream::connect(to).expect("it listens");
    silent.set_read_timeout(Some(AGES)).expect("set");
    let since = Instant::now();
    assert!(!matches!(silent.read(&mut [0]), Ok(1..)));
    assert!(since.elapsed() > Duration::from_millis(600), "{:?}", since.elapsed());
    until("it is counted", || two.traffic().refused.of(Kind::Lane) == 1);
}

/// Anybody may answer a question. One who says that lanes end at his place, and takes connections there, gets no message; one who
/// answers nothing that makes sense neither; and the workers find each other.
#[test]
fn who_says_that_lanes_end_at_his_place_gets_no_message() {
    let (one, two, outbox, inbox) = pair(|| Options { lease: Duration::from_millis(500), ..patient() });
    let trap = TcpListener::bind("127.0.0.1:0").expect("a listener");
    let bait = [&[7; 32][..], trap.local_addr().expect("its address").to_string().as_bytes()].concat();
    let caught = Arc::new(AtomicBool::new(false));
    let seen = caught.clone();
    std::thread::spawn(move || {
        // Each is kept, and told nothing or nonsense.
        let mut kept = Vec::new();
        for stream in trap.incoming().flatten() {
            let mut stream = stream;
            seen.store(true, Relaxed);
            if kept.len() % 2 == 1 {
                let _ = stream.write_all(&[1; 24]);
            }
            kept.push(stream);
        }
    });
    let liar = member(patient(), &[&one, &two]);
    let _lie = liar.answer(END, Box::new(move |_, _| Some(bait.clone()))).expect("an answer");
    let _nonsense = liar.answer(END, Box::new(|_, _| Some(vec![1; 9]))).expect("an answer");
    until("the lie is heard", || {
        one.ask_all(END, b"", Duration::from_secs(1)).is_ok_and(|all| all.len() > 1)
    });
    let since = Instant::now();
    let start = until_lane(&two, &outbox, &inbox, 0);
    println!("{start} messages and {:?} before there was a lane", since.elapsed());
    let before = two.traffic().lanes.messages_in;
    exchange(&outbox, &inbox, start..start + 50);
    assert_eq!(two.traffic().lanes.messages_in - before, 50);
    println!("the liar was called: {}", caught.load(Relaxed));
}
