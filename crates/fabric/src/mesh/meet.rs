//! How the two sides of a lane prove to each other that they belong to its run, before anything goes over it.
//!
//! ```text
//! who connects   HELLO, 2 bytes of length, the key of the lane
//! who listens    16 bytes that nobody had before
//! who connects   16 bytes of its own, and its proof: 8 bytes
//! who listens    its own proof: 8 bytes
//! ```
//! A proof is a seal with the run's secret over all that, the ticket that was given to whoever may ask for the lane, and the
//! address at which it was to be found. So one who knows the ticket and not the secret gets no lane; nor does one who says again what
//! he has heard, or who passes on to the other side what he is told at an address of his own.
//!
//! All of it is over within a given time, and takes no more memory than a key.

use super::tls::{Line, Tls, secret};
use crate::Secret;
use crate::key::MOST_KEY;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// What a lane begins with.
const HELLO: [u8; 6] = *b"SWYL\x02\x00";
/// Bytes that each side gives the other, so that no proof serves twice.
const NONCE: usize = 16;
/// Bytes of a ticket.
pub(super) const TICKET: usize = 32;

/// What both sides of a lane know before they meet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Meeting<'a> {
    /// The key of the lane.
    pub(super) key: &'a str,
    /// What was given to one who may ask for it.
    pub(super) ticket: &'a [u8; TICKET],
    /// Where it was said to end.
    pub(super) address: &'a str,
}

impl Meeting<'_> {
    /// What one side proves; it depends on what the other gave.
    fn proof(&self, secret: &Secret, side: &[u8], own: &[u8], other: &[u8]) -> [u8; 8] {
        let Meeting { key, ticket, address } = self;
        secret.seal(&[side, key.as_bytes(), *ticket, address.as_bytes(), own, other]).to_le_bytes()
    }

    /// The side that connects.
    pub(super) fn as_caller(&self, line: &mut dyn Line, run: &Secret) -> io::Result<()> {
        let length = u16::try_from(self.key.len()).map_err(io::Error::other)?;
        line.write_all(&[HELLO.as_slice(), &length.to_le_bytes(), self.key.as_bytes()].concat())?;
        line.flush()?;
        let (mut theirs, mut proof) = ([0; NONCE], [0; 8]);
        line.read_exact(&mut theirs)?;
        let ours = nonce()?;
        line.write_all(&[ours.as_slice(), &self.proof(run, b"calls", &ours, &theirs)].concat())?;
        line.flush()?;
        line.read_exact(&mut proof)?;
        if proof != self.proof(run, b"hears", &theirs, &ours) {
            return Err(stranger("who listens does not know the run's secret"));
        }
        Ok(())
    }

    /// The side that listens, once it has read the key.
    pub(super) fn as_listener(&self, line: &mut dyn Line, run: &Secret) -> io::Result<()> {
        let ours = nonce()?;
        line.write_all(&ours)?;
        line.flush()?;
        let (mut theirs, mut proof) = ([0; NONCE], [0; 8]);
        line.read_exact(&mut theirs)?;
        line.read_exact(&mut proof)?;
        if proof != self.proof(run, b"calls", &theirs, &ours) {
            return Err(stranger("it does not know the run's secret"));
        }
        line.write_all(&self.proof(run, b"hears", &ours, &theirs))?;
        line.flush()
    }
}

/// The key that a connection begins with.
pub(super) fn read_key(line: &mut dyn Line) -> io::Result<String> {
    let mut hello = [0; HELLO.len() + 2];
    line.read_exact(&mut hello)?;
    let (start, length) = hello.split_at(HELLO.len());
    let length = usize::from(u16::from_le_bytes([length[0], length[1]]));
    if start != HELLO {
        return Err(stranger("it does not greet as members do"));
    }
    if length > MOST_KEY {
        return Err(stranger("a key that is too long"));
    }
    let mut key = vec![0; length];
    line.read_exact(&mut key)?;
    String::from_utf8(key).map_err(|_| stranger("a key that is no text"))
}

/// Somebody who does not belong here, and by what that was seen.
pub(super) fn stranger(why: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, why)
}

fn nonce() -> io::Result<[u8; NONCE]> {
    let mut nonce = [0; NONCE];
    nonce.copy_from_slice(&secret().map_err(io::Error::other)?[..NONCE]);
    Ok(nonce)
}

/// A connection whose greeting must be over in time, however slowly its bytes come. Afterwards it is as slow as it likes.
pub(super) struct Timed {
    stream: TcpStream,
    limit: Arc<Limit>,
}

/// Until when.
pub(super) struct Limit {
    until: Instant,
    is_met: AtomicBool,
}

impl Limit {
    /// The two sides have met: it does not matter any more.
    pub(super) fn is_met(&self) {
        self.is_met.store(true, Relaxed);
    }
}

impl Timed {
    /// This connection, and what says that it has greeted.
    pub(super) fn new(stream: TcpStream, patience: Duration) -> (Timed, Arc<Limit>) {
        let limit = Arc::new(Limit { until: Instant::now() + patience, is_met: AtomicBool::new(false) });
        (Timed { stream, limit: limit.clone() }, limit)
    }

    /// What is left; nothing when it does not matter.
    fn left(&self) -> io::Result<Option<Duration>> {
        if self.limit.is_met.load(Relaxed) {
            return Ok(None);
        }
        let left = self.limit.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.stream.set_read_timeout(Some(left))?;
        }
        self.stream.read(into)
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.stream.set_write_timeout(Some(left))?;
        }
        self.stream.write(bytes)
    }

    fn write_vectored(&mut self, pieces: &[io::IoSlice<'_>]) -> io::Result<usize> {
        if let Some(left) = self.left()? {
            self.stream.set_write_timeout(Some(left))?;
        }
        self.stream.write_vectored(pieces)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

/// The same connection, encrypted where there are keys; `host` is whom we called, and nobody when we were called.
pub(super) fn dress(tls: Option<&Tls>, stream: Timed, host: Option<&str>) -> io::Result<Box<dyn Line>> {
    match (tls, host) {
        (Some(tls), Some(host)) => tls.connect(host, stream),
        (Some(tls), None) => tls.accept(stream),
        (None, _) => Ok(Box::new(stream)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    const TICKET_OF_IT: [u8; TICKET] = [5; TICKET];

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a listener");
        let one = TcpStream::connect(listener.local_addr().expect("its address")).expect("a connection");
        (one, listener.accept().expect("the same").0)
    }

    fn meeting<'a>(ticket: &'a [u8; TICKET], address: &'a str) -> Meeting<'a> {
        Meeting { key: "swarm/run/1/workers/q/0/1", ticket, address }
    }

    /// Whether the caller and the listener take each other for members.
    fn meet(caller: (Meeting<'_>, Secret), listener: (Meeting<'_>, Secret)) -> (bool, bool) {
        let (one, other) = pair();
        let patience = Duration::from_secs(60);
        std::thread::scope(|scope| {
            let hears = scope.spawn(move || {
                let (mut line, _limit) = Timed::new(other, patience);
                read_key(&mut line).is_ok_and(|key| key == listener.0.key)
                    && listener.0.as_listener(&mut line, &listener.1).is_ok()
            });
            let (mut line, _limit) = Timed::new(one, patience);
            let calls = caller.0.as_caller(&mut line, &caller.1).is_ok();
            drop(line);
            (calls, hears.join().expect("no panic"))
        })
    }

    #[test]
    fn only_two_who_know_the_secret_the_ticket_and_the_address_meet() {
        let (ours, theirs) = (Secret::of([1; 16]), Secret::of([2; 16]));
        let here = || meeting(&TICKET_OF_IT, "127.0.0.1:1");
        assert_eq!(meet((here(), ours.clone()), (here(), ours.clone())), (true, true));
        assert_eq!(meet((here(), theirs.clone()), (here(), ours.clone())), (false, false));
        let guessed = [6; TICKET];
        let other = meeting(&guessed, "127.0.0.1:1");
        assert_eq!(meet((other, ours.clone()), (here(), ours.clone())), (false, false));
        // Somebody in between, who was asked at his own address.
        let elsewhere = meeting(&TICKET_OF_IT, "127.0.0.1:2");
        assert_eq!(meet((elsewhere, ours.clone()), (here(), ours)), (false, false));
    }

    #[test]
    fn a_listener_who_only_says_back_what_it_hears_is_found_out() {
        let ours = Secret::of([1; 16]);
        let (one, mut other) = pair();
        let echo = std::thread::spawn(move || {
            read_key(&mut other).expect("a key");
            other.write_all(&[0; NONCE]).expect("sent");
            let mut heard = [0; NONCE + 8];
            other.read_exact(&mut heard).expect("an answer");
            other.write_all(&heard[NONCE..]).expect("sent");
        });
        let (mut line, _limit) = Timed::new(one, Duration::from_secs(60));
        let refused = meeting(&TICKET_OF_IT, "a").as_caller(&mut line, &ours).expect_err("an echo");
        assert_eq!(refused.kind(), io::ErrorKind::PermissionDenied);
        echo.join().expect("no panic");
    }

    #[test]
    fn one_who_gives_a_byte_now_and_then_does_not_hold_a_place_for_longer() {
        let (mut one, other) = pair();
        let drips = std::thread::spawn(move || {
            for byte in HELLO.iter().chain(&[100, 0]).chain(&[b'a'; 80]) {
                if one.write_all(&[*byte]).is_err() {
                    return;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        let (mut line, limit) = Timed::new(other, Duration::from_millis(200));
        let since = Instant::now();
        assert!(read_key(&mut line).is_err(), "it was waited for");
        assert!(since.elapsed() < Duration::from_millis(1200), "{:?}", since.elapsed());
        limit.is_met();
        assert!(line.left().expect("no limit").is_none());
        drop(line);
        drips.join().expect("no panic");
    }
}
