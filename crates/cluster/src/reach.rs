//! How hosts are reached whose programs one wants to use.
//!
//! In: addresses of hosts, and which of them a program is to run on: by name, or by what the host can do. Out: a
//! [`Sister`] that stands for the program there, or why nobody starts it.
//!
//! A host that is not there is passed over; one that was lost is asked last. What a host refuses is said with its name.

use crate::host::head::told;
use crate::host::{Info, info_key};
use crate::sister::{Order, Sister};
use crate::staff::{Address, Connect, Hosts, visit};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use swarmyard_fabric::Fabric;

/// How long a host may take to answer a question.
const ANSWER: Duration = Duration::from_secs(3);

/// A host that answers: the way to it, and what it lends.
type Seen = (Arc<dyn Fabric>, Info);

/// Hosts that one can reach.
pub struct Reach {
    hosts: Hosts,
    lease: Duration,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    /// Connections that stand, by place in the list of addresses.
    links: BTreeMap<usize, Arc<dyn Fabric>>,
    /// Hosts that were lost: place, and when, counted.
    lost: BTreeMap<usize, u64>,
    losses: u64,
}

/// What is to run, and where.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// The name of a host, or what it must be able to do.
    pub place: String,
    /// Whether any other host will do when that one cannot.
    pub or_elsewhere: bool,
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Of its environment.
    pub settings: Vec<(String, String)>,
}

/// A program that runs, and the name of its host.
pub struct Placed {
    /// Stands for it.
    pub sister: Sister,
    /// The host.
    pub host: String,
    place: usize,
}

impl Reach {
    /// Hosts at these addresses; they are asked when somebody wants something.
    #[must_use]
    pub fn new(hosts: Hosts, lease: Duration) -> Reach {
        Reach { hosts, lease, books: Mutex::default() }
    }

    /// Whether there is a host with this name, or that can do this. One whose name stands in its address need not be
    /// there yet.
    ///
    /// # Errors
    /// What there is instead.
    pub fn check(&self, place: &str) -> Result<(), String> {
        if self.named(place).is_some() {
            return Ok(());
        }
        let all: Vec<usize> = (0..self.hosts.addresses.len()).collect();
        let seen = self.look(&all);
        if seen.iter().any(|(_, s)| s.as_ref().is_ok_and(|(_, info)| is_or_can(info, place))) {
            return Ok(());
        }
        let shown = seen.into_iter().map(|(k, s)| match s {
            Ok((_, info)) if info.can.is_empty() => format!("`{}`", info.name),
            Ok((_, info)) => format!("`{}`, which can {}", info.name, info.can.join(", ")),
            Err(why) => self.words(k, &why),
        });
        Err(format!("no host is, or can: `{place}`; there are: {}", shown.collect::<Vec<_>>().join("; ")))
    }

    /// Has a program started where it is wanted.
    ///
    /// # Errors
    /// Why every host that was asked does not start it.
    pub fn open(&self, wanted: &Wanted) -> Result<Placed, String> {
        let mut refused = Vec::new();
        for group in self.order(wanted) {
            let mut offers = Vec::new();
            for (k, seen) in self.look(&group) {
                match seen {
                    Ok((fabric, info)) if wanted.or_elsewhere || is_or_can(&info, &wanted.place) => {
                        offers.push((
                            !is_or_can(&info, &wanted.place),
                            std::cmp::Reverse(info.free),
                            k,
                            info.name,
                            fabric,
                        ));
                    }
                    Ok(_) => {}
                    Err(why) => refused.push(self.words(k, &why)),
                }
            }
            offers.sort_by_key(|o| (o.0, o.1, o.2));
            for (_, _, place, host, fabric) in offers {
                let order = Order {
                    words: wanted.words.clone(),
                    settings: wanted.settings.clone(),
                    identity: self.hosts.identity.clone(),
                    lease: self.lease,
                };
                match Sister::open(fabric, &host, order) {
                    Ok(sister) => {
                        self.lock().lost.remove(&place);
                        return Ok(Placed { sister, host, place });
                    }
                    Err(why) => refused.push(format!("host `{host}` refuses: {why}")),
                }
            }
        }
        if refused.is_empty() {
            refused.push("no host is so, or can that".to_owned());
        }
        Err(format!("nobody runs `{}` on `{}`: {}", wanted.words.join(" "), wanted.place, refused.join("; ")))
    }

    /// The host of a program is lost: it is asked after all others from now on, over a new connection.
    pub fn lose(&self, placed: &Placed) {
        let mut books = self.lock();
        let link = books.links.remove(&placed.place);
        books.losses += 1;
        let when = books.losses;
        books.lost.insert(placed.place, when);
        drop(books);
        drop(link);
    }

    /// Places in the order in which they are asked; those of a group together.
    fn order(&self, wanted: &Wanted) -> Vec<Vec<usize>> {
        let lost = self.lock().lost.clone();
        let named = self.named(&wanted.place);
        let rest = |k: &usize| Some(*k) != named && !lost.contains_key(k);
        let others: Vec<usize> = (0..self.hosts.addresses.len()).filter(rest).collect();
        let mut last: Vec<usize> = lost.keys().copied().collect();
        // Who was lost longest ago may be back.
        last.sort_by_key(|k| lost[k]);
        let first: Vec<usize> = named.into_iter().filter(|k| !lost.contains_key(k)).collect();
        // A host with another name that is said is not asked when only one will do.
        let (others, last) = match named {
            Some(k) if !wanted.or_elsewhere => (Vec::new(), last.into_iter().filter(|l| *l == k).collect()),
            _ => (others, last),
        };
        let one_by_one = last.into_iter().map(|k| vec![k]);
        [first, others].into_iter().chain(one_by_one).filter(|g| !g.is_empty()).collect()
    }

    /// The place whose address has this name.
    fn named(&self, name: &str) -> Option<usize> {
        self.hosts.addresses.iter().position(|a| a.name.as_deref() == Some(name))
    }

    fn words(&self, k: usize, why: &str) -> String {
        let Address { name, endpoint } = &self.hosts.addresses[k];
        match name {
            Some(name) => format!("host `{name}` at {endpoint}: {why}"),
            None => format!("the host at {endpoint}: {why}"),
        }
    }

    /// What these hosts lend now; all are asked at the same time.
    fn look(&self, places: &[usize]) -> Vec<(usize, Result<Seen, String>)> {
        std::thread::scope(|scope| {
            let asked: Vec<_> = places.iter().map(|&k| (k, scope.spawn(move || self.look_at(k)))).collect();
            let broken = || Err("asking it failed".to_owned());
            asked.into_iter().map(|(k, s)| (k, s.join().unwrap_or_else(|_| broken()))).collect()
        })
    }

    fn look_at(&self, k: usize) -> Result<Seen, String> {
        let address = &self.hosts.addresses[k];
        let link = self.lock().links.get(&k).cloned();
        if let Some(fabric) = link {
            let key = info_key(address.name.as_deref().unwrap_or("*"));
            let answers = fabric.ask_all(&key, &[], ANSWER).unwrap_or_default();
            if let Some(info) = answers.iter().find_map(|(_, bytes)| told(bytes).ok()) {
                return Ok((fabric, info));
            }
        }
        let connect: &Connect = &self.hosts.connect;
        let (fabric, info) = visit(connect, address)?;
        self.lock().links.insert(k, Arc::clone(&fabric));
        Ok((fabric, info))
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_or_can(info: &Info, place: &str) -> bool {
    info.name == place || info.can.iter().any(|word| word == place)
}
