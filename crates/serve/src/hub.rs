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
    pub(crate) grid: Option<String>,
    /// What robots tell each other.
    pub(crate) comms: bool,
    /// Who could hear whom.
    pub(crate) links: bool,
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
}

/// All displays.
#[derive(Default)]
pub(crate) struct Hub {
    clients: BTreeMap<u64, Client>,
    holder: Option<u64>,
    asking: Vec<u64>,
    last_id: u64,
}

impl Hub {
    /// Somebody comes. It gets control if it wants it and nobody has it.
    pub(crate) fn join(&mut self, client: Client, console: bool) -> Result<u64, Refusal> {
        if self.clients.len() >= MOST_CLIENTS {
            return Err(Refusal::new("full", format!("there are {MOST_CLIENTS} displays already")));
        }
        self.last_id += 1;
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

    /// Takes control, whoever has it: for people who sit at the machine.
    pub(crate) fn take(&mut self, id: u64) -> Answer {
        if !self.clients.get(&id).is_some_and(|c| c.local) {
            let what = "control is taken only from the machine that the server runs on";
            return Err(Refusal::new("not-local", what).help("ask for it with `control.ask`"));
        }
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

    pub(crate) fn all(&self) -> impl Iterator<Item = &Client> {
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
        let named = |id: &u64| json!({ "id": id, "name": self.clients.get(id).map(|c| c.name.as_str()) });
        json!({
            "is": "control",
            "holder": self.holder.as_ref().map(named),
            "asking": self.asking.iter().map(named).collect::<Vec<_>>(),
            "clients": self.clients.keys().map(named).collect::<Vec<_>>(),
        })
    }
}
