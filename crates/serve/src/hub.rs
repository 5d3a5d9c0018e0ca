//! Who is here, and who holds control.
//!
//! In: joins, leaves, and what is asked about control. Out: at most one console at any time. Only the runner's
//! thread touches this, so two consoles cannot both believe that they are the one.

use crate::answer::{Answer, Refusal};
use crate::message::{MarksWanted, MarksWord, Probe};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use tokio::sync::mpsc;

/// Most displays at once.
pub(crate) const MOST_CLIENTS: usize = 256;

/// What a display wants to be sent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Wishes {
    pub(crate) frames: bool,
    /// Frames per second.
    pub(crate) rate: u32,
    pub(crate) marks: MarksWanted,
    pub(crate) inspect: Vec<String>,
    pub(crate) probes: Vec<Probe>,
    /// Robots whose maps are wanted.
    pub(crate) grid: Vec<String>,
    /// What robots tell each other.
    pub(crate) comms: bool,
    /// Who could hear whom.
    pub(crate) links: bool,
    /// What the workers of the run do.
    pub(crate) workers: bool,
}

impl Wishes {
    pub(crate) fn wants_marks(&self) -> bool {
        match &self.marks {
            MarksWanted::Word(word) => *word == MarksWord::All,
            MarksWanted::Robots(robots) => !robots.is_empty(),
            MarksWanted::Unsaid => false,
        }
    }
}

/// One display.
pub(crate) struct Client {
    pub(crate) name: String,
    /// It is on the server's own machine.
    pub(crate) local: bool,
    /// What it names when it sends a file.
    pub(crate) key: String,
    pub(crate) wishes: Wishes,
    /// What is meant for it alone; when it does not keep up, it is left out.
    pub(crate) personal: mpsc::Sender<Arc<str>>,
    /// Rows of its probes that have not been sent.
    pub(crate) rows: Vec<Vec<f64>>,
    /// How many lines about messages there had been when it was last told.
    pub(crate) comms_seen: u64,
    /// The links it was told last.
    pub(crate) links_seen: Option<Arc<str>>,
    /// What it was told last about workers.
    pub(crate) workers_seen: Option<Arc<str>>,
}

/// All displays.
pub(crate) struct Hub {
    clients: BTreeMap<u64, Client>,
    holder: Option<u64>,
    asking: Vec<u64>,
    last_id: u64,
    /// From one display's number to the next.
    stride: u64,
}

impl Default for Hub {
    fn default() -> Hub {
        Hub::numbered(0, 1)
    }
}

impl Hub {
    /// Nobody yet; displays are numbered from after `last` on, `stride` apart.
    pub(crate) fn numbered(last: u64, stride: u64) -> Hub {
        Hub { clients: BTreeMap::new(), holder: None, asking: Vec::new(), last_id: last, stride }
    }

    /// Everybody is gone. Numbers are never used again.
    pub(crate) fn clear(&mut self) {
        *self = Hub::numbered(self.last_id, self.stride);
    }

    /// Somebody comes. It gets control if it wants it and nobody has it.
    pub(crate) fn join(&mut self, client: Client, console: bool) -> Result<u64, Refusal> {
        if self.clients.len() >= MOST_CLIENTS {
            return Err(Refusal::new("full", format!("there are {MOST_CLIENTS} displays already")));
        }
        self.last_id += self.stride;
        self.clients.insert(self.last_id, client);
        if console && self.holder.is_none() {
            self.holder = Some(self.last_id);
        }
        Ok(self.last_id)
    }

    /// Somebody goes. Control that it had is free.
    pub(crate) fn leave(&mut self, id: u64) -> bool {
        self.asking.retain(|a| *a != id);
        if self.holder == Some(id) {
            self.holder = None;
        }
        self.clients.remove(&id).is_some()
    }

    pub(crate) fn holds(&self, id: u64) -> bool {
        self.holder == Some(id)
    }

    /// Why somebody may not do what only the console may.
    pub(crate) fn check(&self, id: u64) -> Result<(), Refusal> {
        if self.holds(id) {
            return Ok(());
        }
        Err(match self.holder.and_then(|h| self.clients.get(&h)) {
            Some(holder) => Refusal::new("not-console", format!("`{}` holds control", holder.name))
                .help("ask for it with `control.ask`"),
            None => Refusal::new("not-console", "nobody holds control").help("take it with `control.ask`"),
        })
    }

    /// Asks for control.
    pub(crate) fn ask(&mut self, id: u64) -> Answer {
        if self.holder.is_none() {
            self.holder = Some(id);
            self.asking.retain(|a| *a != id);
        } else if !self.holds(id) && !self.asking.contains(&id) {
            self.asking.push(id);
        }
        Ok(json!({ "holds": self.holds(id) }))
    }

    /// Notes that somebody asks whom only others can give control.
    pub(crate) fn want(&mut self, id: u64) {
        if !self.holds(id) && !self.asking.contains(&id) {
            self.asking.push(id);
        }
    }

    /// Who asked first.
    pub(crate) fn first_asking(&self) -> Option<u64> {
        self.asking.first().copied()
    }

    /// Nobody asks any more.
    pub(crate) fn refuse_all(&mut self) {
        self.asking.clear();
    }

    /// Control is nobody's.
    pub(crate) fn let_go(&mut self) {
        self.holder = None;
    }

    pub(crate) fn is_held(&self) -> bool {
        self.holder.is_some()
    }

    /// Why somebody may not take control away from others.
    pub(crate) fn may_take(&self, id: u64) -> Result<(), Refusal> {
        if self.clients.get(&id).is_some_and(|c| c.local) {
            return Ok(());
        }
        let what = "control is taken only from the machine that the server runs on";
        Err(Refusal::new("not-local", what).help("ask for it with `control.ask`"))
    }

    /// Takes control, whoever has it: for people who sit at the machine.
    pub(crate) fn take(&mut self, id: u64) -> Answer {
        self.may_take(id)?;
        self.holder = Some(id);
        self.asking.retain(|a| *a != id);
        Ok(json!({ "holds": true }))
    }

    /// Hands control on, or lets it go: then it goes to nobody until somebody asks.
    pub(crate) fn give(&mut self, to: Option<u64>) -> Answer {
        if let Some(id) = to.filter(|id| !self.clients.contains_key(id)) {
            return Err(Refusal::new("unknown-client", format!("there is no display `{id}`")));
        }
        self.holder = to;
        self.asking.retain(|a| Some(*a) != to);
        Ok(json!({}))
    }

    /// Refuses one that asked.
    pub(crate) fn deny(&mut self, id: u64) -> Answer {
        if !self.asking.contains(&id) {
            return Err(Refusal::new("unknown-client", format!("display `{id}` has not asked for control")));
        }
        self.asking.retain(|a| *a != id);
        Ok(json!({}))
    }

    pub(crate) fn get_mut(&mut self, id: u64) -> Option<&mut Client> {
        self.clients.get_mut(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Client> + Clone {
        self.clients.values()
    }

    pub(crate) fn all_mut(&mut self) -> impl Iterator<Item = &mut Client> {
        self.clients.values_mut()
    }

    /// Whether the console named this key.
    pub(crate) fn is_console_key(&self, key: &str) -> bool {
        let console = self.holder.and_then(|h| self.clients.get(&h));
        console.is_some_and(|c| crate::guard::is_same(c.key.as_bytes(), key.as_bytes()))
    }

    /// The `control` message.
    pub(crate) fn json(&self) -> Value {
        self.json_with(None, &[], &[])
    }

    /// The `control` message where others are elsewhere: who holds control there, who asks, and who is there.
    pub(crate) fn json_with(&self, holder: Option<&Value>, asking: &[Value], clients: &[Value]) -> Value {
        let named = |id: &u64| json!({ "id": id, "name": self.clients.get(id).map(|c| c.name.as_str()) });
        let here = |ids: &mut dyn Iterator<Item = &u64>| ids.map(named).collect::<Vec<Value>>();
        let asking = [asking, &here(&mut self.asking.iter())].concat();
        let clients = [clients, &here(&mut self.clients.keys())].concat();
        let holder = self.holder.as_ref().map(named).or(holder.cloned());
        json!({ "is": "control", "holder": holder, "asking": asking, "clients": clients })
    }
}
