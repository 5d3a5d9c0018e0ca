//! Lanes: what one worker sends to another goes over a connection of its own, where that can be had.
//!
//! In: messages under keys `swarm/run/<run>/workers/q/<from>/<to>`, and the listener at the end of such a lane. Out: calls to that
//! listener. The first message on a lane asks over Zenoh where it ends; the answer is an address and a secret. Whoever
//! may not ask does not learn the secret, so the access file holds for lanes as well. With keys, lanes are encrypted
//! by the same certificates.
//!
//! Why not Zenoh alone: it hands a message through four threads, which takes several times as long as sending 64 KiB. A lane
//! is written by the thread that puts, and read by the thread that waits for it (`incoming.rs`).
//!
//! A lane that cannot be had, or breaks, is no error: the message goes over Zenoh. What was on its way is lost, and its
//! receiver asks for it again. Only the listener at its end hears what goes over a lane.

use super::incoming::{Attendance, Incoming};
use super::tls::{Line, Tls, secret};
use super::{Ear, Options};
use crate::Lost;
use crate::key::{MOST_KEY, matches};
use crate::tally::Tally;
use std::collections::BTreeMap;
use std::io::{self, IoSlice, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The keys of lanes.
const LANES: &str = "swarm/run/*/workers/q/*/*";
/// What a lane begins with.
const HELLO: [u8; 6] = *b"SWYL\x01\x00";
/// What the end of a lane answers.
const WELCOME: u8 = 1;
/// Connections that may be open at once.
const MOST_LINES: usize = 256;
/// Time between two attempts at a lane that cannot be had.
const PAUSE: Duration = Duration::from_millis(100);

/// The key under which the end of a lane is asked for, or a pattern of such keys; nothing when it is no lane.
pub(super) fn question(lane: &str) -> Option<String> {
    let is_lane = matches(LANES, lane) && lane.split('/').all(|chunk| chunk != "**");
    is_lane.then(|| lane.replacen("/workers/q/", "/workers/lane/", 1))
}

/// All lanes of one member.
pub(super) struct Lanes {
    inner: Arc<Inner>,
}

struct Inner {
    /// Where lanes end here, for others; nothing when nobody could reach it.
    address: Option<String>,
    /// Where they end, for this machine.
    bound: Option<SocketAddr>,
    secret: [u8; 32],
    tls: Option<Tls>,
    lease: Duration,
    /// Listeners, by their patterns.
    ends: Mutex<BTreeMap<u64, (String, Arc<Ear>)>>,
    /// Connections that were made to here.
    lines: Mutex<BTreeMap<u64, Arc<Incoming>>>,
    attendance: Attendance,
    tally: Arc<Tally>,
    count: AtomicUsize,
    next: AtomicUsize,
    /// Lanes from here, by key.
    ways: Mutex<BTreeMap<String, Arc<Mutex<Way>>>>,
    is_closed: AtomicBool,
}

/// A lane from here.
struct Way {
    line: Option<Box<dyn Line>>,
    /// When it is tried again.
    again: Option<Instant>,
}

impl Lanes {
    /// Begins to take connections, at the first address this member listens on.
    pub(super) fn open(options: &Options, tally: &Arc<Tally>) -> Result<Lanes, Lost> {
        let tls = options.keys.as_ref().map(Tls::new).transpose()?;
        let host = options.listen.first().and_then(|a| a.rsplit_once(':')).map(|a| a.0.to_owned());
        let bound = host.as_ref().and_then(|h| bind(&format!("{h}:0")).ok());
        let outside = options.advertise.clone().or(host.filter(|h| h != "0.0.0.0" && h != "[::]"));
        let address = bound.as_ref().zip(outside).map(|((_, at), host)| format!("{host}:{}", at.port()));
        let inner = Inner {
            address,
            bound: bound.as_ref().map(|b| b.1),
            secret: secret()?,
            tls,
            lease: options.lease,
            ends: Mutex::default(),
            lines: Mutex::default(),
            attendance: Attendance::default(),
            tally: tally.clone(),
            count: AtomicUsize::new(0),
            next: AtomicUsize::new(0),
            ways: Mutex::default(),
            is_closed: AtomicBool::new(false),
        };
        let inner = Arc::new(inner);
        if let Some((listener, _)) = bound {
            let taking = Arc::downgrade(&inner);
            let name = std::thread::Builder::new().name("lanes".into());
            let take = move || {
                for stream in listener.incoming() {
                    let Some(inner) = taking.upgrade().filter(|i| !i.is_closed.load(SeqCst)) else { return };
                    if let Ok(stream) = stream {
                        Inner::take(inner, stream);
                    }
                }
            };
            name.spawn(take)
                .map_err(|e| Lost::Failed { what: "start a thread".into(), why: e.to_string() })?;
        }
        Ok(Lanes { inner })
    }

    /// What is answered to one who asks for the end of a lane.
    pub(super) fn invitation(&self) -> Option<Vec<u8>> {
        let address = self.inner.address.as_ref()?;
        Some([&self.inner.secret, address.as_bytes()].concat())
    }

    /// Lanes of this pattern end at this listener from now on. Returns its number.
    pub(super) fn end_at(&self, pattern: &str, ear: Arc<Ear>) -> u64 {
        let id = self.inner.next.fetch_add(1, Relaxed) as u64;
        lock(&self.inner.ends).insert(id, (pattern.to_owned(), ear));
        id
    }

    /// What undoes that.
    pub(super) fn undo(&self, id: u64) -> impl FnOnce() + Send + Sync + use<> {
        let inner = self.inner.clone();
        move || {
            if let Some((pattern, _)) = lock(&inner.ends).remove(&id) {
                inner.hang_up(|key| matches(&pattern, key));
            }
        }
    }

    /// Sends over the lane; false when the message must go another way. `ask` returns the invitation of the one at its end.
    pub(super) fn send(&self, key: &str, bytes: &[u8], ask: impl FnOnce() -> Option<Vec<u8>>) -> bool {
        let new = || Arc::new(Mutex::new(Way { line: None, again: None }));
        let way = lock(&self.inner.ways).entry(key.to_owned()).or_insert_with(new).clone();
        let mut way = lock(&way);
        if way.line.is_none() && way.again.is_none_or(|again| Instant::now() >= again) {
            way.line = ask().and_then(|invitation| self.inner.call(key, &invitation).ok());
            way.again = Some(Instant::now() + PAUSE);
        }
        let Some(line) = &mut way.line else { return false };
        let Err(why) = write_frame(line, bytes, self.inner.lease) else { return true };
        way.line = None;
        // Who has taken nothing for a whole lease will take nothing over Zenoh either: the message is lost, and nobody waits
        // for another lease.
        matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
    }

    /// Bytes that have come over the lane of this key.
    pub(super) fn arrived(&self, key: &str) -> u64 {
        lock(&self.inner.lines).values().find(|line| line.key == key).map_or(0, |line| line.arrived())
    }

    /// Reads what comes over lanes to here, until `is_done` or the time is up.
    pub(super) fn attend(&self, until: Instant, is_done: &dyn Fn() -> bool) {
        let time = self.inner.attendance.begin();
        let lines: Vec<Arc<Incoming>> = lock(&self.inner.lines).values().cloned().collect();
        loop {
            lines.iter().for_each(|line| line.look());
            if is_done() {
                return;
            }
            if Instant::now() >= until {
                break;
            }
            std::thread::yield_now();
        }
        self.inner.attendance.end_in_vain(time);
        lines.iter().for_each(|line| line.wake());
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.inner.is_closed.store(true, SeqCst);
        self.inner.hang_up(|_| true);
        // The thread that takes connections waits for one.
        if let Some(bound) = &self.inner.bound {
            let _ = TcpStream::connect_timeout(bound, Duration::from_millis(100));
        }
    }
}

impl Inner {
    /// Connects to the end of a lane.
    fn call(&self, key: &str, invitation: &[u8]) -> io::Result<Box<dyn Line>> {
        let bad = || io::Error::other("no invitation");
        let (secret, address) = invitation.split_first_chunk::<32>().ok_or_else(bad)?;
        let address = str::from_utf8(address).map_err(io::Error::other)?;
        let stream = dial(address, self.lease)?;
        // Who takes nothing for so long is gone.
        stream.set_write_timeout(Some(self.lease))?;
        stream.set_read_timeout(Some(self.lease))?;
        let host = address.rsplit_once(':').map_or(address, |a| a.0).trim_matches(['[', ']']);
        let mut line = match &self.tls {
            Some(tls) => tls.connect(host, stream)?,
            None => Box::new(stream),
        };
        let length = u16::try_from(key.len()).map_err(io::Error::other)?;
        line.write_all(&[HELLO.as_slice(), secret, &length.to_le_bytes(), key.as_bytes()].concat())?;
        line.flush()?;
        let mut answer = [0];
        line.read_exact(&mut answer)?;
        if answer[0] == WELCOME { Ok(line) } else { Err(bad()) }
    }

    /// Takes a connection, on a thread of its own.
    fn take(inner: Arc<Inner>, stream: TcpStream) {
        if inner.count.fetch_add(1, SeqCst) >= MOST_LINES {
            inner.count.fetch_sub(1, SeqCst);
            return;
        }
        let taking = inner.clone();
        let spawned = std::thread::Builder::new().name("lane".into()).spawn(move || {
            let id = taking.next.fetch_add(1, Relaxed) as u64;
            // A connection that ends or breaks is over; who sent on it makes another.
            let _ = taking.serve(id, stream);
            lock(&taking.lines).remove(&id);
            taking.count.fetch_sub(1, SeqCst);
        });
        if spawned.is_err() {
            inner.count.fetch_sub(1, SeqCst);
        }
    }

    /// Lets a lane in, and calls its listener until it ends.
    fn serve(&self, id: u64, stream: TcpStream) -> io::Result<()> {
        let incoming = match self.greet(stream) {
            Ok(incoming) => Arc::new(incoming),
            Err(why) => {
                // One that is lost before it has said anything is no stranger.
                if matches!(why.kind(), io::ErrorKind::Other | io::ErrorKind::InvalidData) {
                    self.tally.refused.fetch_add(1, Relaxed);
                }
                return Err(why);
            }
        };
        lock(&self.lines).insert(id, incoming.clone());
        // Who stopped listening meanwhile has not seen it.
        if self.is_closed.load(SeqCst) || !incoming.is_heard() {
            return Ok(());
        }
        incoming.keep(&self.attendance)
    }

    /// Hears who it is, and finds the listener at the end of its lane.
    fn greet(&self, stream: TcpStream) -> io::Result<Incoming> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(self.lease))?;
        stream.set_write_timeout(Some(self.lease))?;
        let socket = stream.try_clone()?;
        let mut line = match &self.tls {
            Some(tls) => tls.accept(stream)?,
            None => Box::new(stream),
        };
        let mut hello = [0; HELLO.len() + 32 + 2];
        line.read_exact(&mut hello)?;
        let (start, rest) = hello.split_at(HELLO.len());
        let is_known = start == HELLO && is_same(&rest[..32], &self.secret);
        let length = usize::from(u16::from_le_bytes([rest[32], rest[33]]));
        if !is_known || length > MOST_KEY {
            return Err(io::Error::other("a stranger"));
        }
        let mut key = vec![0; length];
        line.read_exact(&mut key)?;
        let key = String::from_utf8(key).map_err(io::Error::other)?;
        let end = lock(&self.ends).values().find(|e| matches(&e.0, &key)).map(|e| e.1.clone());
        let Some(ear) = end else { return Err(io::Error::other("nobody listens")) };
        // One that connects again has given up what it had.
        self.hang_up(|other| other == key);
        line.write_all(&[WELCOME])?;
        line.flush()?;
        Incoming::new(key, ear, socket, line)
    }

    /// Ends connections with such keys.
    fn hang_up(&self, is_over: impl Fn(&str) -> bool) {
        for (_, line) in lock(&self.lines).extract_if(.., |_, line| is_over(&line.key)) {
            line.hang_up();
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn bind(address: &str) -> io::Result<(TcpListener, SocketAddr)> {
    let all: Vec<SocketAddr> = address.to_socket_addrs()?.collect();
    let listener = TcpListener::bind(all.as_slice())?;
    let at = listener.local_addr()?;
    Ok((listener, at))
}

fn dial(address: &str, patience: Duration) -> io::Result<TcpStream> {
    let at = address.to_socket_addrs()?.next().ok_or_else(|| io::Error::other("no address"))?;
    let stream = TcpStream::connect_timeout(&at, patience)?;
    stream.set_nodelay(true)?;
    Ok(stream)
}

/// Compares without telling by its time how much is right.
fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.iter().zip(other).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

/// A length, and as many bytes, in one call of the system where it takes them; all of it within `patience`.
fn write_frame(line: &mut Box<dyn Line>, bytes: &[u8], patience: Duration) -> io::Result<()> {
    let length = u32::try_from(bytes.len()).map_err(io::Error::other)?.to_le_bytes();
    let start = Instant::now();
    let mut sent = 0;
    while sent < length.len() + bytes.len() {
        // Each call may wait for as long as the whole is allowed to.
        if start.elapsed() >= patience {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let head = IoSlice::new(&length[sent.min(length.len())..]);
        let rest = IoSlice::new(&bytes[sent.saturating_sub(length.len())..]);
        match line.write_vectored(&[head, rest])? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            more => sent += more,
        }
    }
    line.flush()
}
