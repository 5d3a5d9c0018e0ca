//! Workers on machines of others, who lend them.
//!
//! In: addresses of hosts. Out: workers there, spread over all of them: each on the host with the fewest of this run, of several on
//! the one with the most free slots; where robots belong to a place, first on a host that is one. A host that refuses or is gone is
//! passed over, and it is said why; it is asked again when somebody is wanted the next time, so it may come late or
//! come back.

use super::process::BEGIN;
use super::{Hired, Job, Tell};
use crate::Staff;
use crate::host::head::{told, with_head};
use crate::host::{Begin, Begun, End, Identity, Info, Running, info_key, live_key, start_key, stop_key};
use crate::message::{figures_key, read, write};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_fabric::{Fabric, Handle, Lost};
use swarmyard_sim::{LinkFigures, RobotFigures, WorkerFigures};

/// How long a host may take to answer a question.
const ANSWER: Duration = Duration::from_secs(3);
/// How long it may take, after two have met, until each knows what the other answers.
const MEET: Duration = Duration::from_secs(1);
/// How long the first worker waits for hosts to be found.
const FIND: Duration = Duration::from_secs(8);
/// Silence to so many offers in a row, of a host that is alive, means that the connection with it is none.
const SILENT: u32 = 2;
/// When a host that was not found is looked for again.
const AGAIN: Duration = Duration::from_millis(500);

/// Connects with a host at an address.
pub type Connect = Arc<dyn Fn(&str) -> Result<Arc<dyn Fabric>, String> + Send + Sync>;

/// Where a host is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Its name, when it must have this one.
    pub name: Option<String>,
    /// `HOST:PORT`.
    pub endpoint: String,
}

impl Address {
    /// Reads `NAME=HOST:PORT`, or `HOST:PORT` for whoever is there.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(text: &str) -> Result<Address, String> {
        let (name, endpoint) = match text.split_once('=') {
            Some((name, endpoint)) => (Some(name.trim().to_owned()), endpoint.trim()),
            None => (None, text.trim()),
        };
        if let Some(name) = &name {
            swarmyard_fabric::access::check_name(name)?;
        }
        let port = endpoint.rsplit_once(':').filter(|(host, _)| !host.is_empty());
        if port.is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(format!("`{endpoint}` is no address of a host: write NAME=HOST:PORT, or HOST:PORT"));
        }
        Ok(Address { name, endpoint: endpoint.to_owned() })
    }

    fn words(&self) -> String {
        match &self.name {
            Some(name) => format!("host `{name}` at {}", self.endpoint),
            None => format!("the host at {}", self.endpoint),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{name}={}", self.endpoint),
            None => f.write_str(&self.endpoint),
        }
    }
}

/// Finds out who is at an address, and what is lent there.
///
/// # Errors
/// Nobody is there, it does not answer, or has another name.
pub fn visit(connect: &Connect, address: &Address) -> Result<(Arc<dyn Fabric>, Info), String> {
    let fabric = connect(&address.endpoint)?;
    let key = info_key(address.name.as_deref().unwrap_or("*"));
    let met = Instant::now();
    loop {
        let answers = fabric.ask_all(&key, &[], ANSWER).map_err(|e| e.to_string())?;
        let (infos, strange): (Vec<_>, Vec<_>) =
            answers.iter().map(|(_, bytes)| told(bytes)).partition(Result::is_ok);
        // Who answers is there, whatever it says.
        if let Some(info) = infos.into_iter().chain(strange).next() {
            return Ok((fabric, info?));
        }
        if met.elapsed() > MEET {
            break;
        }
        std::thread::sleep(MEET / 20);
    }
    Err(match &address.name {
        Some(name) => format!("nobody there answers as `{name}`, or its access file does not let us ask"),
        None => "nobody there answers as a host, or its access file does not let us ask".to_owned(),
    })
}

/// What a worker has done so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// All in all.
    pub worker: WorkerFigures,
    /// What it has sent to whom.
    pub links: Vec<LinkFigures>,
    /// The ten robots that cost it most since it began, as of its last checkpoint.
    pub heaviest: Vec<RobotFigures>,
}

/// What a worker on a host has done so far; `None` when it does not say: it may just have ended, or its access file does
/// not let us ask.
#[must_use]
pub fn figures(connect: &Connect, running: &Running) -> Option<Figures> {
    let fabric = connect(running.endpoint.split(' ').next()?).ok()?;
    let answer = fabric.ask(&figures_key(running.run, running.worker), &[], ANSWER).ok()?;
    read(&answer)
}

/// Which hosts to ask, and who asks.
pub struct Hosts {
    /// Where they are.
    pub addresses: Vec<Address>,
    /// How to connect with one.
    pub connect: Connect,
    /// What this build computes with.
    pub identity: Identity,
    /// Places that robots belong to: names of hosts, and what they can do. Workers are hired there first.
    pub wanted: Vec<String>,
}

/// Hires workers on hosts.
pub struct HostStaff {
    places: Vec<Place>,
    connect: Connect,
    identity: Identity,
    wanted: Vec<String>,
    /// What each worker is for; the number and the addresses are filled in.
    job: Job,
    workers: BTreeMap<u32, At>,
    tell: Tell,
    say: Box<dyn FnMut(&str) + Send>,
    since: Instant,
}

/// Where a worker is.
struct At {
    /// The place, by number.
    place: usize,
    hired: Hired,
    /// The name of its host, and what that can do.
    is: Vec<String>,
}

/// A host, as far as it is known.
struct Place {
    address: Address,
    seen: Arc<Seen>,
    /// What was said of it last; it is not said twice.
    said: String,
    /// How often in a row it was asked and said nothing, though it is alive.
    silent: u32,
}

/// What the thread that looks for a host has found.
#[derive(Default)]
struct Seen {
    link: Mutex<Option<Link>>,
    /// Why it was not found the last time.
    trouble: Mutex<Option<String>>,
    is_over: AtomicBool,
}

#[derive(Clone)]
struct Link {
    fabric: Arc<dyn Fabric>,
    name: String,
    alive: Arc<AtomicBool>,
    _watch: Arc<Handle>,
}

impl HostStaff {
    /// Looks for the hosts. `job.connect` has the addresses of the keeper; `say` is told which hosts are passed over.
    #[must_use]
    pub fn new(hosts: Hosts, job: Job, tell: Tell, say: Box<dyn FnMut(&str) + Send>) -> HostStaff {
        let Hosts { addresses, connect, identity, wanted } = hosts;
        let place = |address: Address| {
            let place = Place { address, seen: Arc::default(), said: String::new(), silent: 0 };
            place.seek(&connect);
            place
        };
        let places = addresses.into_iter().map(place).collect();
        HostStaff {
            places,
            connect,
            identity,
            wanted,
            job,
            workers: BTreeMap::new(),
            tell,
            say,
            since: Instant::now(),
        }
    }

    /// What the hosts lend now, in the order in which they are asked. Those that lend nothing are left out.
    fn offers(&mut self) -> Vec<(usize, Link, Info)> {
        while self.since.elapsed() < FIND && self.places.iter().any(|p| !p.seen.was_looked_for()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let mut offers = Vec::new();
        for k in 0..self.places.len() {
            match self.places[k].offer(&self.connect) {
                Ok((link, info)) if info.free == 0 => {
                    let text = format!("no slot of host `{}` is free", link.name);
                    self.pass_over(k, &text);
                }
                Ok((link, info)) => offers.push((k, link, info)),
                Err(why) => {
                    let text = format!("{} is passed over: {why}", self.places[k].address.words());
                    self.pass_over(k, &text);
                }
            }
        }
        let own = |place: usize| self.workers.values().filter(|at| at.place == place).count();
        let missing = self.missing();
        let is_missing = |info: &Info| {
            missing.iter().any(|place| info.name == **place || info.can.iter().any(|can| can == *place))
        };
        offers.sort_by_cached_key(|(k, _, info)| {
            (!is_missing(info), own(*k), std::cmp::Reverse(info.free), *k)
        });
        offers
    }

    /// Places that robots belong to and no worker is at.
    fn missing(&self) -> Vec<&String> {
        let is_there = |place: &String| self.workers.values().any(|at| at.is.contains(place));
        self.wanted.iter().filter(|place| !is_there(place)).collect()
    }

    fn pass_over(&mut self, k: usize, text: &str) {
        let place = &mut self.places[k];
        if place.said != text {
            text.clone_into(&mut place.said);
            (self.say)(text);
        }
    }

    fn ask_to_start(&self, link: &Link, number: u32) -> Result<Begun, String> {
        let mut job = Job { number, ..self.job.clone() };
        job.connect.extend(self.workers.values().map(|at| at.hired.endpoint.clone()));
        let begin = Begin { identity: self.identity.clone(), job };
        let question = with_head(&self.identity, &begin);
        let ask = || link.fabric.ask(&start_key(&link.name), &question, BEGIN + ANSWER);
        // A worker may have begun although the answer was lost.
        let end = |_| self.ask_to_stop(link, number);
        let asked = ask().map_err(end).or_else(|()| ask());
        let answer = asked.map_err(|e| {
            end(e.clone());
            e.to_string()
        })?;
        read::<Result<Begun, String>>(&answer).ok_or("its answer is none")?
    }

    fn ask_to_stop(&self, link: &Link, number: u32) {
        let end = write(&End { run: self.job.run, number });
        // A host that is gone has ended its workers, and one that is cut off will: they hear nothing of their keeper.
        let _ = link.fabric.ask(&stop_key(&link.name), &end, ANSWER);
    }
}

impl Staff for HostStaff {
    fn hire(&mut self, number: u32) -> Result<(), String> {
        for (k, link, info) in self.offers() {
            match self.ask_to_start(&link, number) {
                Ok(Begun { endpoint, pid }) => {
                    let hired = Hired { worker: number, pid, endpoint, host: Some(link.name) };
                    (self.tell)(&hired);
                    let is = info.can.into_iter().chain([info.name]).collect();
                    self.workers.insert(number, At { place: k, hired, is });
                    self.places[k].said.clear();
                    return Ok(());
                }
                Err(why) => {
                    let text = format!("host `{}` refuses: {why}", link.name);
                    self.pass_over(k, &text);
                }
            }
        }
        let said = self.places.iter().map(|p| p.said.clone()).filter(|s| !s.is_empty());
        let why: Vec<String> = said.collect();
        Err(format!("no host takes worker {number}: {}", why.join("; ")))
    }

    fn hired(&self, number: u32) -> Option<Hired> {
        self.workers.get(&number).map(|at| at.hired.clone())
    }

    fn dismiss(&mut self, number: u32) {
        let Some(at) = self.workers.remove(&number) else { return };
        if let Some(link) = self.places[at.place].seen.link().filter(Link::is_alive) {
            self.ask_to_stop(&link, number);
        }
    }

    fn places(&self, number: u32) -> Vec<String> {
        self.workers.get(&number).map_or_else(Vec::new, |at| at.is.clone())
    }
}

impl Drop for HostStaff {
    fn drop(&mut self) {
        let numbers: Vec<u32> = self.workers.keys().copied().collect();
        for number in numbers {
            self.dismiss(number);
        }
        for place in &self.places {
            place.seen.is_over.store(true, Ordering::Relaxed);
        }
    }
}

impl Place {
    /// Looks for it, on a thread of its own.
    fn seek(&self, connect: &Connect) {
        let (found, connect, wanted) = (Arc::clone(&self.seen), Arc::clone(connect), self.address.clone());
        std::thread::spawn(move || found.seek(&connect, &wanted));
    }

    /// What it lends now.
    ///
    /// One that froze and woke up may be seen and never answer again on the connection there was; so that is given up.
    fn offer(&mut self, connect: &Connect) -> Result<(Link, Info), String> {
        let Some(link) = self.seen.link() else {
            let trouble = self.seen.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
            return Err(trouble.unwrap_or_else(|| "it was not found yet".to_owned()));
        };
        if !link.is_alive() {
            return Err("it is gone".to_owned());
        }
        let answer = link.fabric.ask(&info_key(&link.name), &[], ANSWER);
        self.silent = if matches!(answer, Err(Lost::Silent { .. })) { self.silent + 1 } else { 0 };
        if self.silent >= SILENT {
            self.silent = 0;
            *self.seen.link.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.seek(connect);
        }
        let answer = answer.map_err(|e| e.to_string())?;
        Ok((link, told(&answer)?))
    }
}

impl Link {
    fn is_alive(&self) -> bool {
        self.alive.load(Ordering::Relaxed)
    }
}

impl Seen {
    fn link(&self) -> Option<Link> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn was_looked_for(&self) -> bool {
        self.link().is_some() || self.trouble.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Looks for a host until it is found. Once connected, the fabric keeps trying by itself.
    fn seek(&self, connect: &Connect, address: &Address) {
        while !self.is_over.load(Ordering::Relaxed) {
            match find(connect, address) {
                Ok(link) => {
                    *self.link.lock().unwrap_or_else(PoisonError::into_inner) = Some(link);
                    return;
                }
                Err(why) => *self.trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why),
            }
            std::thread::sleep(AGAIN);
        }
    }
}

fn find(connect: &Connect, address: &Address) -> Result<Link, String> {
    let (fabric, info) = visit(connect, address)?;
    // It has just answered.
    let alive = Arc::new(AtomicBool::new(true));
    let seen = Arc::clone(&alive);
    let watch = fabric
        .watch(&live_key(&info.name), Box::new(move |_, is_alive| seen.store(is_alive, Ordering::Relaxed)))
        .map_err(|e| e.to_string())?;
    Ok(Link { fabric, name: info.name, alive, _watch: Arc::new(watch) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_port_and_may_have_a_name() {
        let address = |name: Option<&str>, endpoint: &str| Address {
            name: name.map(str::to_owned),
            endpoint: endpoint.to_owned(),
        };
        assert_eq!(Address::parse("a=10.0.0.1:7000"), Ok(address(Some("a"), "10.0.0.1:7000")));
        assert_eq!(Address::parse("[::1]:7000"), Ok(address(None, "[::1]:7000")));
        for wrong in ["", "a", "a=b", "a b=c:1", "a=:1", "a=b:", "a=b:70000"] {
            assert!(Address::parse(wrong).is_err(), "{wrong}");
        }
    }
}
