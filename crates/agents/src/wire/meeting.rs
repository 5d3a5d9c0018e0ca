//! How processes on different sides find each other before they talk.
//!
//! In: sockets that listen, the numbers of the robots here, and where others are, as far as anybody knows. Out: a
//! way from each robot here to every other robot, and back. Who is not known says hello itself, so of two
//! processes only one has to know the other. Over UDP a process begins when it has heard from all, and all have
//! heard from all; over TCP when there is a connection each way. Whoever speaks of another run, or for a robot
//! that is known to be elsewhere, is not listened to. It takes no longer than the patience given.

use super::frame::{Frame, HEAD};
use super::greeting::{GREETING, Greeting};
use super::socket::{GLANCE, Inbox, Outlet, Way, both_ends, fails, is_timeout, set_up_hearer, set_up_sender};
use super::{MOST_BYTES, MOST_PROCESSES, Mode, WireError};
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often it says hello.
const HELLO: Duration = Duration::from_millis(50);
/// How long a connection may take, and a greeting on it.
const KNOCK: Duration = Duration::from_millis(250);
/// Frames that may come for a robot before all have met; more are lost.
const MOST_EARLY: usize = 1024;
/// Datagrams of one socket that are looked at before it is the next one's turn.
const ONE_TURN: usize = 256;

/// Sockets that listen, one for each robot of this process.
pub struct Listening {
    sockets: Sockets,
    addresses: Vec<SocketAddr>,
}

enum Sockets {
    Udp(Vec<UdpSocket>),
    Tcp(Vec<TcpListener>),
}

/// Where the others are, and how long to wait for them.
pub struct Others {
    /// A number that all who take part share, and nobody else has.
    pub run: u64,
    /// How many robots there are in all.
    pub robots: u32,
    /// Where robots of other processes listen, as far as it is known.
    pub known: BTreeMap<u32, SocketAddr>,
    /// How long to wait for them.
    pub patience: Duration,
}

/// Robots that have met all others.
pub struct Met {
    pub(super) ends: Vec<(Outlet, Inbox)>,
    pub(super) addresses: Vec<SocketAddr>,
    pub(super) robots: u32,
}

impl Listening {
    /// Listens at these addresses; a port 0 becomes one that the system chooses.
    ///
    /// # Errors
    /// When the system refuses one.
    pub fn open(mode: Mode, at: &[SocketAddr]) -> Result<Listening, WireError> {
        if at.len() > MOST_PROCESSES {
            return Err(WireError::TooMany(at.len()));
        }
        let failed = |what| fails(what);
        let (sockets, addresses) = match mode {
            Mode::Udp => {
                let open = |a: &SocketAddr| {
                    let socket = UdpSocket::bind(a)?;
                    socket.set_nonblocking(true)?;
                    Ok(socket)
                };
                let sockets: std::io::Result<Vec<UdpSocket>> = at.iter().map(open).collect();
                let sockets = sockets.map_err(failed("open a UDP socket"))?;
                let addresses: std::io::Result<Vec<_>> = sockets.iter().map(UdpSocket::local_addr).collect();
                (Sockets::Udp(sockets), addresses)
            }
            Mode::Tcp => {
                let open = |a: &SocketAddr| {
                    let listener = TcpListener::bind(a)?;
                    listener.set_nonblocking(true)?;
                    Ok(listener)
                };
                let sockets: std::io::Result<Vec<TcpListener>> = at.iter().map(open).collect();
                let sockets = sockets.map_err(failed("listen for TCP"))?;
                let addresses: std::io::Result<Vec<_>> =
                    sockets.iter().map(TcpListener::local_addr).collect();
                (Sockets::Tcp(sockets), addresses)
            }
        };
        let addresses = addresses.map_err(failed("find the port of a socket"))?;
        Ok(Listening { sockets, addresses })
    }

    /// Where it listens.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// Meets the others: `here` are the numbers of the robots of this process, one for each address.
    ///
    /// # Errors
    /// When somebody does not come in time, or it is told to stop, or a socket fails.
    ///
    /// # Panics
    /// When there are not as many numbers as addresses, or there is one that no robot has.
    pub fn meet(self, here: &[u32], others: &Others, over: &dyn Fn() -> bool) -> Result<Met, WireError> {
        assert_eq!(here.len(), self.addresses.len(), "one number for each address");
        assert!(here.iter().all(|r| *r < others.robots), "numbers of robots");
        let wait = Wait { since: Instant::now(), patience: others.patience, over };
        let mut peers = others.known.clone();
        peers.retain(|r, _| *r < others.robots && !here.contains(r));
        let room = Room { here, others, local: &self.addresses };
        let ends = match self.sockets {
            Sockets::Udp(sockets) => room.meet_udp(sockets, peers, &wait)?,
            Sockets::Tcp(listeners) => room.meet_tcp(&listeners, peers, &wait)?,
        };
        Ok(Met { ends, addresses: self.addresses, robots: others.robots })
    }
}

/// How long to wait.
struct Wait<'a> {
    since: Instant,
    patience: Duration,
    over: &'a dyn Fn() -> bool,
}

impl Wait<'_> {
    /// Whether to go on waiting for somebody.
    fn goes_on(&self, missing: impl FnOnce() -> Vec<u32>, strangers: u64) -> Result<(), WireError> {
        if (self.over)() {
            return Err(WireError::Stopped);
        }
        if self.since.elapsed() < self.patience {
            return Ok(());
        }
        Err(WireError::Missing { who: missing(), strangers })
    }
}

/// Who is here, and who is to come.
struct Room<'a> {
    here: &'a [u32],
    others: &'a Others,
    local: &'a [SocketAddr],
}

impl Room<'_> {
    /// Robots of other processes.
    fn elsewhere(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.others.robots).filter(|r| !self.here.contains(r))
    }

    fn meet_udp(
        &self,
        sockets: Vec<UdpSocket>,
        mut peers: BTreeMap<u32, SocketAddr>,
        wait: &Wait<'_>,
    ) -> Result<Vec<(Outlet, Inbox)>, WireError> {
        let mut heard = Heard::new(self.here.len());
        let all = self.elsewhere().count();
        let mut hello: Option<Instant> = None;
        loop {
            let met = heard.by.len() == all * self.here.len();
            if met && self.elsewhere().all(|r| heard.have_met.contains(&r)) {
                break;
            }
            wait.goes_on(
                || self.elsewhere().filter(|r| !heard.have_met.contains(r)).collect(),
                heard.strangers,
            )?;
            if hello.is_none_or(|h| h.elapsed() >= HELLO) {
                hello = Some(Instant::now());
                self.say_hello(&sockets, &peers, met);
            }
            for (k, socket) in sockets.iter().enumerate() {
                self.listen_udp((k, socket), &mut peers, &mut heard);
            }
            sleep(Duration::from_millis(2));
        }
        self.say_hello(&sockets, &peers, true);
        for (robot, address) in self.here.iter().zip(self.local) {
            peers.insert(*robot, *address);
        }
        let peers: Vec<SocketAddr> = peers.into_values().collect();
        let mut ends = Vec::new();
        for ((socket, me), early) in sockets.into_iter().zip(self.here).zip(heard.early) {
            let blocking = socket.set_nonblocking(false).and_then(|()| socket.set_read_timeout(Some(GLANCE)));
            blocking.map_err(fails("set up a UDP socket"))?;
            ends.push(both_ends((self.others.run, *me), socket, peers.clone(), early)?);
        }
        Ok(ends)
    }

    fn say_hello(&self, sockets: &[UdpSocket], peers: &BTreeMap<u32, SocketAddr>, met: bool) {
        for (socket, me) in sockets.iter().zip(self.here) {
            for (to, address) in peers {
                let greeting =
                    Greeting { run: self.others.run, from: *me, to: *to, port: 0, met, answer: false };
                // Whoever misses it is greeted again.
                let _ = socket.send_to(&greeting.encode(), address);
            }
        }
    }

    fn listen_udp(
        &self,
        (k, socket): (usize, &UdpSocket),
        peers: &mut BTreeMap<u32, SocketAddr>,
        heard: &mut Heard,
    ) {
        let mut buffer = vec![0; HEAD + MOST_BYTES + 1];
        for _ in 0..ONE_TURN {
            let Ok((length, source)) = socket.recv_from(&mut buffer) else { return };
            let data = &buffer[..length];
            if let Some(greeting) = Greeting::read(data) {
                let from = greeting.from;
                let fits = self.is_for(&greeting, self.here[k]);
                if fits && *peers.entry(from).or_insert(source) == source {
                    heard.by.insert((self.here[k], from));
                    if greeting.met {
                        heard.have_met.insert(from);
                    }
                } else {
                    heard.strangers += 1;
                }
                continue;
            }
            let from = peers.iter().find(|p| *p.1 == source).map(|p| *p.0);
            let frame = from.and_then(|from| Frame::whole(data, self.others.run, from));
            match frame {
                // It talks already: so it has met all.
                Some(frame) => {
                    heard.have_met.insert(frame.from);
                    if heard.early[k].len() < MOST_EARLY {
                        heard.early[k].push(frame);
                    }
                }
                None if !self.local.contains(&source) => heard.strangers += 1,
                None => {}
            }
        }
    }

    fn is_for(&self, greeting: &Greeting, me: u32) -> bool {
        greeting.run == self.others.run
            && greeting.to == me
            && greeting.from < self.others.robots
            && !self.here.contains(&greeting.from)
    }

    fn meet_tcp(
        &self,
        listeners: &[TcpListener],
        mut peers: BTreeMap<u32, SocketAddr>,
        wait: &Wait<'_>,
    ) -> Result<Vec<(Outlet, Inbox)>, WireError> {
        for (robot, address) in self.here.iter().zip(self.local) {
            peers.insert(*robot, *address);
        }
        let n = self.others.robots as usize;
        let mut outs: Vec<Vec<Option<TcpStream>>> =
            self.here.iter().map(|_| (0..n).map(|_| None).collect()).collect();
        let mut ins: Vec<BTreeMap<u32, TcpStream>> = self.here.iter().map(|_| BTreeMap::new()).collect();
        let (mut strangers, mut hello) = (0, None::<Instant>);
        loop {
            let missing = |r: &u32| {
                let unheard = |(k, me): (usize, &u32)| me != r && !ins[k].contains_key(r);
                let unreached = |(k, me): (usize, &u32)| me != r && outs[k][*r as usize].is_none();
                self.here.iter().enumerate().any(unheard) || self.here.iter().enumerate().any(unreached)
            };
            if !(0..self.others.robots).any(|r| missing(&r)) {
                break;
            }
            wait.goes_on(|| (0..self.others.robots).filter(missing).collect(), strangers)?;
            if hello.is_none_or(|h| h.elapsed() >= HELLO) {
                hello = Some(Instant::now());
                self.knock(&peers, &mut outs);
            }
            for (k, listener) in listeners.iter().enumerate() {
                strangers += self.let_in((k, listener), &mut peers, &mut ins[k]);
            }
            sleep(Duration::from_millis(2));
        }
        let run = self.others.run;
        let ends = outs.into_iter().zip(ins).map(|(out, streams)| {
            let streams = streams.into_iter().collect();
            (Outlet { run, way: Way::Tcp(out) }, Inbox::Tcp { run, streams })
        });
        Ok(ends.collect())
    }

    /// Connects to whoever is known and not connected yet.
    fn knock(&self, peers: &BTreeMap<u32, SocketAddr>, outs: &mut [Vec<Option<TcpStream>>]) {
        for ((me, own), out) in self.here.iter().zip(self.local).zip(outs) {
            for (to, address) in peers.iter().filter(|p| p.0 != me) {
                if out[*to as usize].is_some() {
                    continue;
                }
                let greeting = Greeting {
                    run: self.others.run,
                    from: *me,
                    to: *to,
                    port: own.port(),
                    met: false,
                    answer: false,
                };
                let connected = TcpStream::connect_timeout(address, KNOCK).and_then(|mut stream| {
                    set_up_sender(&stream)?;
                    stream.write_all(&greeting.encode())?;
                    Ok(stream)
                });
                // Whoever does not listen yet is knocked at again.
                out[*to as usize] = connected.ok();
            }
        }
    }

    /// Takes in who knocks; answers how many were turned away.
    fn let_in(
        &self,
        (k, listener): (usize, &TcpListener),
        peers: &mut BTreeMap<u32, SocketAddr>,
        ins: &mut BTreeMap<u32, TcpStream>,
    ) -> u64 {
        let mut turned_away = 0;
        for _ in 0..ONE_TURN {
            let (mut stream, source) = match listener.accept() {
                Ok(got) => got,
                Err(error) if is_timeout(&error) => return turned_away,
                // Somebody was gone again before it was let in.
                Err(_) => continue,
            };
            let mut data = [0; GREETING];
            let read = stream
                .set_nonblocking(false)
                .and_then(|()| stream.set_read_timeout(Some(KNOCK)))
                .and_then(|()| stream.read_exact(&mut data))
                .and_then(|()| set_up_hearer(&stream));
            let greeting = Greeting::read(&data).filter(|_| read.is_ok());
            match greeting.filter(|g| self.may_enter(g, self.here[k]) && !ins.contains_key(&g.from)) {
                Some(g) => {
                    peers.entry(g.from).or_insert(SocketAddr::new(source.ip(), g.port));
                    ins.insert(g.from, stream);
                }
                None => turned_away += 1,
            }
        }
        turned_away
    }

    fn may_enter(&self, g: &Greeting, me: u32) -> bool {
        g.run == self.others.run && g.to == me && g.from != me && g.from < self.others.robots
    }
}

/// What was heard over UDP so far.
struct Heard {
    /// (who, by whom).
    by: BTreeSet<(u32, u32)>,
    /// Whose process has heard from all.
    have_met: BTreeSet<u32>,
    /// What came too early, by robot here.
    early: Vec<Vec<Frame>>,
    strangers: u64,
}

impl Heard {
    fn new(here: usize) -> Heard {
        let early = (0..here).map(|_| Vec::new()).collect();
        Heard { by: BTreeSet::new(), have_met: BTreeSet::new(), early, strangers: 0 }
    }
}
