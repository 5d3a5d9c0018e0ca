//! Lanes: what one worker sends to another goes over a connection of its own, where that can be had.
//!
//! In: messages under keys `swarm/run/<run>/workers/q/<from>/<to>`, and the listener at the end of such a lane. Out: calls to that
//! listener. Whoever sends on a lane asks over Zenoh where it ends; the answer is an address and a ticket. Whoever may not ask
//! does not get the ticket, so the access file holds for lanes as well. Then both sides prove that they know the run's secret
//! (`meet.rs`): before that, a connection is one of a few that greet, takes nobody's place and is read by nobody who waits. With
//! keys, lanes are encrypted by the same certificates.
//!
//! Why not Zenoh alone: it hands a message through four threads, which takes several times as long as sending 64 KiB. A lane
//! is written by the thread that puts, and read by the thread that waits for it (`incoming.rs`).
//!
//! A lane that cannot be had, or breaks, is no error: the message goes over Zenoh. What was on its way is lost, and its
//! receiver asks for it again. Nobody waits until there is a lane. Only the listener at its end hears what goes over it.

use super::incoming::{Attendance, Incoming};
use super::meet::{self, Meeting, TICKET, Timed, stranger};
use super::tls::{Line, Tls, secret};
use super::{Ear, Options, refused};
use crate::gate::Kind;
use crate::key::matches;
use crate::tally::Tally;
use crate::{Lost, RunKey, Secret};
use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The keys of lanes.
const LANES: &str = "swarm/run/*/workers/q/*/*";
/// Lanes that may end here at once.
const MOST_LINES: usize = 256;
/// Connections that may be greeting at once. For one more, the oldest has to go: who belongs here greets in no time.
const MOST_GREETING: usize = 32;
/// How long a greeting may take, where a lease is longer.
const GREET: Duration = Duration::from_secs(2);
/// Time between two attempts at a lane that cannot be had; doubled each time, up to the most.
const PAUSE: Duration = Duration::from_millis(100);
const MOST_PAUSE: Duration = Duration::from_secs(2);
/// Answers that are tried when it is asked where a lane ends: any member can answer.
const MOST_ANSWERS: usize = 8;
/// How long it takes no connections when the system gives it none.
const REST: Duration = Duration::from_millis(20);

/// Whether a key, or a pattern of keys, is that of lanes.
pub(super) fn is_lane(key: &str) -> bool {
    matches(LANES, key) && key.split('/').all(|chunk| chunk != "**")
}

/// The key under which the end of a lane is asked for, or a pattern of such keys; nothing when it is no lane.
pub(super) fn question(lane: &str) -> Option<String> {
    is_lane(lane).then(|| lane.replacen("/workers/q/", "/workers/lane/", 1))
}

/// What became of a message.
pub(super) enum Sent {
    /// It went over its lane, or is lost.
    Over,
    /// It must go another way.
    Otherwise,
    /// The same, and it is time that somebody laid a lane ([`Lanes::lay`]).
    Wanting,
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
    ticket: [u8; TICKET],
    tls: Option<Tls>,
    lease: Duration,
    /// What members of a run know, by its number.
    secrets: Mutex<BTreeMap<u64, Secret>>,
    /// Listeners, by their patterns.
    ends: Mutex<BTreeMap<u64, (String, Arc<Ear>)>>,
    /// Connections that were made to here and have proved nothing yet, the oldest first.
    greeting: Mutex<BTreeMap<u64, TcpStream>>,
    /// Those that have.
    lines: Mutex<BTreeMap<u64, Arc<Incoming>>>,
    attendance: Attendance,
    tally: Arc<Tally>,
    next: AtomicU64,
    /// Lanes from here, by key.
    ways: Mutex<BTreeMap<String, Arc<Mutex<Way>>>>,
    is_closed: AtomicBool,
}

/// A lane from here.
struct Way {
    line: Option<Box<dyn Line>>,
    /// Whether somebody is laying one.
    is_begun: bool,
    /// When it is tried again.
    again: Instant,
    pause: Duration,
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
            ticket: secret()?,
            tls,
            lease: options.lease,
            secrets: Mutex::default(),
            ends: Mutex::default(),
            greeting: Mutex::default(),
            lines: Mutex::default(),
            attendance: Attendance::default(),
            tally: tally.clone(),
            next: AtomicU64::new(0),
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
                    match stream {
                        Ok(stream) => Inner::take(&inner, stream),
                        // There are no more connections to be had for now.
                        Err(_) => std::thread::sleep(REST),
                    }
                }
            };
            name.spawn(take)
                .map_err(|e| Lost::Failed { what: "start a thread".into(), why: e.to_string() })?;
        }
        Ok(Lanes { inner })
    }

    /// Says what the members of a run know.
    pub(super) fn trust(&self, run: &RunKey) {
        lock(&self.inner.secrets).insert(run.number, run.secret.clone());
    }

    /// What is answered to one who asks for the end of a lane.
    pub(super) fn invitation(&self) -> Option<Vec<u8>> {
        let address = self.inner.address.as_ref()?;
        Some([&self.inner.ticket, address.as_bytes()].concat())
    }

    /// Lanes of this pattern end at this listener from now on. Returns its number.
    pub(super) fn end_at(&self, pattern: &str, ear: Arc<Ear>) -> u64 {
        let id = self.inner.next.fetch_add(1, Relaxed);
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

    /// Sends over the lane, when there is one.
    pub(super) fn send(&self, key: &str, bytes: &[u8]) -> Sent {
        let way = self.inner.way(key);
        let mut way = lock(&way);
        let Some(line) = &mut way.line else {
            let is_due = !way.is_begun && Instant::now() >= way.again && self.inner.secret_of(key).is_some();
            way.is_begun |= is_due;
            return if is_due { Sent::Wanting } else { Sent::Otherwise };
        };
        let Err(why) = write_frame(line, bytes, self.inner.lease) else { return Sent::Over };
        way.line = None;
        // Who has taken nothing for a whole lease will take nothing over Zenoh either: the message is lost, and nobody waits
        // for another lease.
        let is_stuck = matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
        if is_stuck { Sent::Over } else { Sent::Otherwise }
    }

    /// Lays the lane that was wanting, on a thread of its own: `invitations` says where it may end.
    pub(super) fn lay(&self, key: &str, invitations: impl Iterator<Item = Vec<u8>> + Send + 'static) {
        let (inner, key_of_it) = (self.inner.clone(), key.to_owned());
        let laying = move || {
            let tried = invitations.take(MOST_ANSWERS).find_map(|i| inner.call(&key_of_it, &i).ok());
            inner.laid(&key_of_it, tried.filter(|_| !inner.is_closed.load(SeqCst)));
        };
        if std::thread::Builder::new().name("lays a lane".into()).spawn(laying).is_err() {
            self.inner.laid(key, None);
        }
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
        for stream in lock(&self.inner.greeting).values() {
            // It may have ended by itself.
            let _ = stream.shutdown(Shutdown::Both);
        }
        // The thread that takes connections waits for one.
        if let Some(bound) = &self.inner.bound {
            let _ = TcpStream::connect_timeout(bound, Duration::from_millis(100));
        }
    }
}

impl Inner {
    fn way(&self, key: &str) -> Arc<Mutex<Way>> {
        let new = || Way { line: None, is_begun: false, again: Instant::now(), pause: PAUSE };
        let mut ways = lock(&self.ways);
        if let Some(way) = ways.get(key) {
            return way.clone();
        }
        ways.entry(key.to_owned()).or_insert_with(|| Arc::new(Mutex::new(new()))).clone()
    }

    /// Somebody has laid a lane, or not.
    fn laid(&self, key: &str, line: Option<Box<dyn Line>>) {
        let way = self.way(key);
        let mut way = lock(&way);
        way.pause = if line.is_some() { PAUSE } else { (way.pause * 2).min(MOST_PAUSE) };
        way.again = Instant::now() + way.pause;
        (way.is_begun, way.line) = (false, line);
    }

    /// What the members of the run know that this lane belongs to.
    fn secret_of(&self, key: &str) -> Option<Secret> {
        let run = key.split('/').nth(2)?.parse().ok()?;
        lock(&self.secrets).get(&run).cloned()
    }

    /// Connects to the end of a lane.
    fn call(&self, key: &str, invitation: &[u8]) -> io::Result<Box<dyn Line>> {
        let run = self.secret_of(key).ok_or_else(|| io::Error::other("no run of ours"))?;
        let (ticket, address) =
            invitation.split_first_chunk().ok_or_else(|| io::Error::other("no invitation"))?;
        let address = str::from_utf8(address).map_err(io::Error::other)?;
        let stream = dial(address, self.lease)?;
        let socket = stream.try_clone()?;
        let host = address.rsplit_once(':').map_or(address, |a| a.0).trim_matches(['[', ']']);
        let (stream, limit) = Timed::new(stream, self.lease.min(GREET));
        let mut line = meet::dress(self.tls.as_ref(), stream, Some(host))?;
        Meeting { key, ticket, address }.as_caller(&mut *line, &run)?;
        limit.is_met();
        // Who takes nothing for so long is gone.
        socket.set_write_timeout(Some(self.lease))?;
        Ok(line)
    }

    /// Takes a connection, on a thread of its own.
    fn take(inner: &Arc<Inner>, stream: TcpStream) {
        let id = inner.next.fetch_add(1, Relaxed);
        let Ok(socket) = stream.try_clone() else { return };
        let oldest = {
            let mut greeting = lock(&inner.greeting);
            greeting.insert(id, socket);
            if greeting.len() > MOST_GREETING { greeting.pop_first() } else { None }
        };
        if let Some((_, oldest)) = oldest {
            inner.refuse(&refused::peer(&oldest), "too many connections that do not greet");
            // It may have ended by itself.
            let _ = oldest.shutdown(Shutdown::Both);
        }
        let taking = inner.clone();
        let spawned = std::thread::Builder::new().name("lane".into()).spawn(move || {
            // A connection that ends or breaks is over; who sent on it makes another.
            let _ = taking.serve(id, stream);
            lock(&taking.lines).remove(&id);
        });
        if spawned.is_err() {
            lock(&inner.greeting).remove(&id);
        }
    }

    /// Counts a connection that is none of ours, and tells of it.
    fn refuse(&self, peer: &str, why: &str) {
        self.tally.refuse(Kind::Lane);
        refused::tell(Kind::Lane, peer, why);
    }

    /// Lets a lane in, and calls its listener until it ends.
    fn serve(&self, id: u64, stream: TcpStream) -> io::Result<()> {
        let peer = refused::peer(&stream);
        let greeted = self.greet(stream);
        let was_counted = lock(&self.greeting).remove(&id).is_none();
        let incoming = match greeted {
            Ok(incoming) => Arc::new(incoming),
            Err(why) => {
                let is_lost = matches!(
                    why.kind(),
                    io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe
                );
                // One that is lost before it has proved anything is no stranger.
                if !is_lost && !was_counted && !self.is_closed.load(SeqCst) {
                    let is_silent = matches!(why.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut);
                    let what = if is_silent { "it did not greet in time" } else { &why.to_string() };
                    self.refuse(&peer, what);
                }
                return Err(why);
            }
        };
        {
            let mut lines = lock(&self.lines);
            if lines.len() >= MOST_LINES {
                return Err(io::Error::other("too many lanes"));
            }
            // One that connects again has given up what it had.
            for (_, line) in lines.extract_if(.., |_, line| line.key == incoming.key) {
                line.hang_up();
            }
            lines.insert(id, incoming.clone());
        }
        // Who stopped listening meanwhile has not seen it.
        if self.is_closed.load(SeqCst) || !incoming.is_heard() {
            return Ok(());
        }
        incoming.keep(&self.attendance)
    }

    /// Hears who it is, has it prove that it belongs here, and finds the listener at the end of its lane.
    fn greet(&self, stream: TcpStream) -> io::Result<Incoming> {
        stream.set_nodelay(true)?;
        let socket = stream.try_clone()?;
        let (stream, limit) = Timed::new(stream, self.lease.min(GREET));
        let mut line = meet::dress(self.tls.as_ref(), stream, None)?;
        let key = meet::read_key(&mut *line)?;
        let end = lock(&self.ends).values().find(|e| matches(&e.0, &key)).map(|e| e.1.clone());
        let known = end.zip(self.secret_of(&key)).zip(self.address.as_deref());
        let Some(((ear, run), address)) = known else { return Err(stranger("nobody listens there")) };
        Meeting { key: &key, ticket: &self.ticket, address }.as_listener(&mut *line, &run)?;
        limit.is_met();
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
