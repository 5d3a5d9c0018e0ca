//! Sockets of one run: what each process sends by, and what its readers hear.

use super::frame::{Frame, HEAD};
use super::greeting::Greeting;
use super::{MOST_BYTES, Mode, WireError};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::thread::Scope;
use std::time::{Duration, SystemTime};
use swarmyard_base::hash::mix64;

/// How often readers look whether the run is over.
pub(super) const GLANCE: Duration = Duration::from_millis(20);
/// How long a connection may be full before it counts as broken.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a process sends.
pub(super) struct Outlet {
    pub(super) run: u64,
    pub(super) way: Way,
}

/// How a process sends: to each by number.
pub(super) enum Way {
    Udp {
        socket: UdpSocket,
        peers: Vec<SocketAddr>,
    },
    /// `None` for itself, and for connections that broke.
    Tcp(Vec<Option<TcpStream>>),
}

impl Outlet {
    /// Sends a frame to a process; answers whether the system took it.
    pub(super) fn send(&mut self, to: u32, frame: &[u8]) -> bool {
        match &mut self.way {
            Way::Udp { socket, peers } => {
                peers.get(to as usize).is_some_and(|peer| socket.send_to(frame, peer).is_ok())
            }
            Way::Tcp(streams) => {
                let Some(Some(stream)) = streams.get_mut(to as usize) else { return false };
                let sent = stream.write_all(frame).is_ok();
                if !sent {
                    // Half a frame may be out: nothing sensible can follow.
                    streams[to as usize] = None;
                }
                sent
            }
        }
    }
}

/// Where a process hears.
pub(super) enum Inbox {
    Udp {
        run: u64,
        me: u32,
        socket: UdpSocket,
        peers: Vec<SocketAddr>,
        /// What came while the processes were still meeting.
        early: Vec<Frame>,
    },
    /// By sender.
    Tcp { run: u64, streams: Vec<(u32, TcpStream)> },
}

impl Inbox {
    /// Starts the readers; they end when told to stop, or when nobody takes their frames any more.
    pub(super) fn listen<'scope>(
        self,
        scope: &'scope Scope<'scope, '_>,
        stop: &'scope AtomicBool,
        tx: &SyncSender<Frame>,
    ) {
        match self {
            Inbox::Udp { run, me, socket, peers, early } => {
                for frame in early {
                    // A full queue makes UDP lose.
                    let _ = tx.try_send(frame);
                }
                let tx = tx.clone();
                scope.spawn(move || hear_datagrams((run, me), &socket, &peers, stop, &tx));
            }
            Inbox::Tcp { run, streams } => {
                for (from, stream) in streams {
                    let tx = tx.clone();
                    scope.spawn(move || hear_stream(run, from, stream, stop, &tx));
                }
            }
        }
    }
}

pub(super) fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn hear_datagrams(
    (run, me): (u64, u32),
    socket: &UdpSocket,
    peers: &[SocketAddr],
    stop: &AtomicBool,
    tx: &SyncSender<Frame>,
) {
    // One byte more than a frame can have, so that longer ones are seen to be.
    let mut buffer = vec![0; HEAD + MOST_BYTES + 1];
    while !stop.load(Ordering::Relaxed) {
        let (length, source) = match socket.recv_from(&mut buffer) {
            Ok(got) => got,
            Err(error) if is_timeout(&error) => continue,
            // Some systems report here that an earlier datagram found nobody: no reason to stop.
            Err(_) => {
                std::thread::sleep(Duration::from_millis(1));
                continue;
            }
        };
        let Some(from) = peers.iter().position(|p| *p == source) else { continue };
        if let Some(greeting) = Greeting::read(&buffer[..length]) {
            answer(socket, source, (run, me), &greeting);
            continue;
        }
        if let Some(frame) = Frame::whole(&buffer[..length], run, from as u32)
            && tx.send(frame).is_err()
        {
            return;
        }
    }
}

/// Tells somebody who still looks for others that this one has met all: it was late, or has come back.
fn answer(socket: &UdpSocket, source: SocketAddr, (run, me): (u64, u32), greeting: &Greeting) {
    if greeting.run == run && greeting.to == me && !greeting.answer {
        let answer = Greeting { run, from: me, to: greeting.from, port: 0, met: true, answer: true };
        // Whoever misses it asks again.
        let _ = socket.send_to(&answer.encode(), source);
    }
}

fn hear_stream(run: u64, from: u32, mut stream: TcpStream, stop: &AtomicBool, tx: &SyncSender<Frame>) {
    let mut buffer = vec![0; 64 * 1024];
    // Never holds more than one unfinished frame and one buffer.
    let mut waiting: Vec<u8> = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(length) => waiting.extend(&buffer[..length]),
            Err(error) if is_timeout(&error) => continue,
            Err(_) => return,
        }
        let mut used = 0;
        loop {
            match Frame::first(&waiting[used..], run, from) {
                Ok(Some((frame, length))) => {
                    used += length;
                    if tx.send(frame).is_err() {
                        return;
                    }
                }
                Ok(None) => break,
                Err(()) => return,
            }
        }
        waiting.drain(..used);
    }
}

pub(super) fn fails(what: &'static str) -> impl FnOnce(std::io::Error) -> WireError {
    move |why| WireError::Socket { what, why }
}

/// Both ends of each process, and where it hears.
type Opened = (Vec<(Outlet, Inbox)>, Vec<SocketAddr>);

/// Opens the sockets of so many processes.
pub(super) fn open(n: usize, mode: Mode) -> Result<Opened, WireError> {
    match mode {
        Mode::Udp => open_udp(n),
        Mode::Tcp => open_tcp(n),
    }
}

/// A number that no earlier run on the same ports had.
fn new_run(addresses: &[SocketAddr]) -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let ports = addresses.iter().fold(0, |h, a| mix64(h ^ u64::from(a.port())));
    mix64(since.as_nanos() as u64 ^ ports ^ (u64::from(std::process::id()) << 32))
}

fn open_udp(n: usize) -> Result<Opened, WireError> {
    let mut sockets = Vec::new();
    for _ in 0..n {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fails("open a UDP socket"))?;
        socket.set_read_timeout(Some(GLANCE)).map_err(fails("set up a UDP socket"))?;
        sockets.push(socket);
    }
    let addresses: Result<Vec<SocketAddr>, _> = sockets.iter().map(UdpSocket::local_addr).collect();
    let addresses = addresses.map_err(fails("find the port of a UDP socket"))?;
    let run = new_run(&addresses);
    let mut ends = Vec::new();
    for (me, socket) in sockets.into_iter().enumerate() {
        ends.push(both_ends((run, me as u32), socket, addresses.clone(), Vec::new())?);
    }
    Ok((ends, addresses))
}

/// What a process sends by and what it hears, on one socket.
pub(super) fn both_ends(
    (run, me): (u64, u32),
    socket: UdpSocket,
    peers: Vec<SocketAddr>,
    early: Vec<Frame>,
) -> Result<(Outlet, Inbox), WireError> {
    let hears = socket.try_clone().map_err(fails("share a UDP socket"))?;
    let outlet = Outlet { run, way: Way::Udp { socket, peers: peers.clone() } };
    Ok((outlet, Inbox::Udp { run, me, socket: hears, peers, early }))
}

fn open_tcp(n: usize) -> Result<Opened, WireError> {
    let mut listeners = Vec::new();
    for _ in 0..n {
        listeners.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(fails("listen for TCP"))?);
    }
    let addresses: Result<Vec<SocketAddr>, _> = listeners.iter().map(TcpListener::local_addr).collect();
    let addresses = addresses.map_err(fails("find the port of a TCP socket"))?;
    let run = new_run(&addresses);
    let mut outs: Vec<Vec<Option<TcpStream>>> = (0..n).map(|_| (0..n).map(|_| None).collect()).collect();
    let mut ins: Vec<Vec<(u32, TcpStream)>> = (0..n).map(|_| Vec::new()).collect();
    for (from, out) in outs.iter_mut().enumerate() {
        for to in (0..n).filter(|to| *to != from) {
            let (near, far) = connect(&listeners[to], addresses[to])?;
            out[to] = Some(near);
            ins[to].push((from as u32, far));
        }
    }
    let ends = outs.into_iter().zip(ins);
    let ends = ends.map(|(out, streams)| (Outlet { run, way: Way::Tcp(out) }, Inbox::Tcp { run, streams }));
    Ok((ends.collect(), addresses))
}

/// Both ends of one connection; whoever else knocks meanwhile is turned away.
fn connect(listener: &TcpListener, address: SocketAddr) -> Result<(TcpStream, TcpStream), WireError> {
    let near = TcpStream::connect(address).map_err(fails("connect by TCP"))?;
    let own = near.local_addr().map_err(fails("find the port of a TCP socket"))?;
    let far = loop {
        let (stream, peer) = listener.accept().map_err(fails("accept by TCP"))?;
        if peer == own {
            break stream;
        }
    };
    set_up_sender(&near).and_then(|()| set_up_hearer(&far)).map_err(fails("set up a TCP socket"))?;
    Ok((near, far))
}

pub(super) fn set_up_sender(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))
}

pub(super) fn set_up_hearer(stream: &TcpStream) -> std::io::Result<()> {
    stream.set_read_timeout(Some(GLANCE))
}
