//! Which robots are in this process, where they listen, and where the others are.

use super::world::World;
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use clap::Args;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;
use swarmyard::agents::wire::{Listening, Met, Mode, Others, WireError};

/// Most bytes of a file of peers.
const MOST_FILE: u64 = 64 * 1024;

/// Where robots are.
#[derive(Args)]
pub(super) struct PlaceArgs {
    /// Only this robot is in this process (may be repeated); the others are in other ones
    #[arg(long = "robot", id = "robots", value_name = "PATH")]
    robots: Vec<String>,
    /// Where the first of them listens, the next ones on the ports after it; port 0 takes free ones
    #[arg(long, value_name = "ADDRESS:PORT", requires = "robots")]
    listen: Option<SocketAddr>,
    /// Where a robot of another process listens (may be repeated); of two processes one must know the other
    #[arg(long = "peer", id = "peer", value_name = "PATH=ADDRESS:PORT", requires = "robots", value_parser = peer)]
    peer: Vec<(String, SocketAddr)>,
    /// A file with a line `PATH ADDRESS:PORT` for each robot, those of this process too
    #[arg(long, value_name = "FILE", requires = "robots")]
    peers: Option<PathBuf>,
    /// How long to wait for the other processes
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = super::seconds)]
    wait: f64,
    /// Allow addresses beyond this machine: nothing that is said is secret, and anybody there can join
    #[arg(long)]
    beyond_this_machine: bool,
}

fn peer(text: &str) -> Result<(String, SocketAddr), String> {
    let (path, address) =
        text.split_once('=').ok_or("write it as PATH=ADDRESS:PORT, such as p1=127.0.0.1:7301")?;
    Ok((path.to_owned(), address.parse().map_err(|_| format!("`{address}` is no address with a port"))?))
}

/// Who is here, and how to reach the others.
pub(super) struct Place {
    /// Numbers of the robots of this process.
    pub(super) here: Vec<u32>,
    /// `None` when all robots are here.
    pub(super) sockets: Option<Sockets>,
}

/// Addresses of robots of several processes.
pub(super) struct Sockets {
    listen: Vec<SocketAddr>,
    known: BTreeMap<u32, SocketAddr>,
    patience: Duration,
}

impl Place {
    /// What the arguments say.
    pub(super) fn of(args: &PlaceArgs, world: &World) -> Result<Place, Failure> {
        if args.robots.is_empty() {
            return Ok(Place { here: (0..world.robots.len() as u32).collect(), sockets: None });
        }
        let mut here = Vec::new();
        for path in &args.robots {
            let number = world.number(path)?;
            if !here.contains(&number) {
                here.push(number);
            }
        }
        let mut known = match &args.peers {
            Some(file) => read_peers(file, world)?,
            None => BTreeMap::new(),
        };
        for (path, address) in &args.peer {
            known.insert(world.number(path)?, *address);
        }
        let listen = match args.listen {
            Some(first) => ports_from(first, here.len())?,
            None => {
                let anywhere = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
                here.iter().map(|r| known.get(r).copied().unwrap_or(anywhere)).collect()
            }
        };
        known.retain(|r, _| !here.contains(r));
        let far = listen.iter().chain(known.values()).find(|a| !a.ip().is_loopback());
        if let Some(far) = far.filter(|_| !args.beyond_this_machine) {
            let what = format!("`{far}` is beyond this machine");
            let help = "say --beyond-this-machine if that is meant: nothing that is said is secret";
            return Err(Failure::new(Exit::Usage, "beyond", what).help(help));
        }
        let sockets = Sockets { listen, known, patience: Duration::from_secs_f64(args.wait) };
        Ok(Place { here, sockets: Some(sockets) })
    }
}

impl Sockets {
    /// Listens, says where, and meets the others.
    pub(super) fn meet(
        &self,
        world: &World,
        here: &[u32],
        mode: Mode,
        out: &Out,
        over: &dyn Fn() -> bool,
    ) -> Result<Met, WireError> {
        let listening = Listening::open(mode, &self.listen)?;
        for (robot, address) in here.iter().zip(listening.addresses()) {
            out.say(&format!("{} listens: --peer {0}={address}", world.robots[*robot as usize].path));
        }
        let others = Others {
            run: world.run,
            robots: world.robots.len() as u32,
            known: self.known.clone(),
            patience: self.patience,
        };
        listening.meet(here, &others, over)
    }
}

/// So many addresses on ports one after the other.
fn ports_from(first: SocketAddr, n: usize) -> Result<Vec<SocketAddr>, Failure> {
    let port = |k: usize| match first.port() {
        0 => Some(0),
        port => port.checked_add(u16::try_from(k).ok()?),
    };
    let all: Option<Vec<SocketAddr>> =
        (0..n).map(|k| port(k).map(|port| SocketAddr::new(first.ip(), port))).collect();
    all.ok_or_else(|| {
        let what = format!("there are not {n} ports from {} on", first.port());
        Failure::new(Exit::Usage, "ports", what)
    })
}

fn read_peers(file: &Path, world: &World) -> Result<BTreeMap<u32, SocketAddr>, Failure> {
    let failed = |e: std::io::Error| Failure::file("read", file, &e);
    let mut text = String::new();
    let length = std::fs::File::open(file).map_err(failed)?.take(MOST_FILE).read_to_string(&mut text);
    let shown = file.display().to_string();
    if length.map_err(failed)? as u64 == MOST_FILE {
        return Err(Failure::new(Exit::Failed, "peers", format!("`{shown}` is too long")).on(shown));
    }
    let mut known = BTreeMap::new();
    for (k, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let wrong = || {
            let what = format!("line {} is not PATH ADDRESS:PORT: `{line}`", k + 1);
            Failure::new(Exit::Failed, "peers", what).on(shown.clone())
        };
        let (path, address) = line.split_once(char::is_whitespace).ok_or_else(wrong)?;
        let address = address.trim().parse().map_err(|_| wrong())?;
        known.insert(world.number(path).map_err(|failure| failure.on(shown.clone()))?, address);
    }
    Ok(known)
}
