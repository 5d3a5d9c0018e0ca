//! What displays are shown at one moment: made by the runner, shared by all links.
//!
//! In: the committed state of a run. Out: bytes, encoded when the first display wants them and kept for
//! the others. A shot never changes, so a slow display reads an old one while the run is far ahead.

use crate::frame::{self, Bodies, Grid, Head, Marks};
use crate::message::MarksWanted;
use axum::body::Bytes;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard_base::Vec2;
use swarmyard_sim::Sim;

/// Contacts that are kept for displays that skip shots.
const MOST_CONTACTS: usize = 1024;

/// Everything that is shown, as it is now. Messages are ready to be sent.
#[derive(Clone)]
pub(crate) struct Shown {
    pub(crate) status: Arc<str>,
    pub(crate) control: Arc<str>,
    pub(crate) world: Arc<str>,
    /// The document.
    pub(crate) text: Arc<str>,
    pub(crate) problems: Arc<[Arc<str>]>,
    pub(crate) shot: Arc<Shot>,
    pub(crate) inspected: Arc<Inspected>,
}

impl Shown {
    /// Nothing is shown yet.
    pub(crate) fn nothing() -> Shown {
        let nothing = || Arc::<str>::from("{}");
        Shown {
            status: nothing(),
            control: nothing(),
            world: nothing(),
            text: Arc::from(""),
            problems: Arc::from([]),
            shot: Arc::default(),
            inspected: Arc::default(),
        }
    }
}

/// Robots that are looked into, by path, as JSON.
#[derive(Default)]
pub(crate) struct Inspected {
    pub(crate) stop: u64,
    pub(crate) robots: BTreeMap<String, String>,
}

/// Where everybody is at one moment, and what their parts draw for those who want it.
#[derive(Default)]
pub(crate) struct Shot {
    bodies: Bodies,
    /// Places of contacts of this and earlier shots: (serial, place).
    contacts: Vec<(u64, [i64; 2])>,
    /// What parts draw, by who wants to see it.
    marks: Vec<(MarksWanted, Marks)>,
    /// Grids, by robot.
    pub(crate) grids: BTreeMap<String, Arc<Grid>>,
    /// Encoded bodies, by the serial they build on; 0 for none.
    encoded: Mutex<BTreeMap<u64, Bytes>>,
}

/// Places of contacts that displays may not have been told of.
#[derive(Default)]
pub(crate) struct Contacts(Vec<(u64, [i64; 2])>);

impl Contacts {
    /// Notes a place; it belongs to the shot with this serial.
    pub(crate) fn add(&mut self, serial: u64, at: Vec2) {
        if self.0.len() < MOST_CONTACTS {
            self.0.push((serial, [frame::length(at.x), frame::length(at.y)]));
        }
    }

    /// Notes places that a message told.
    pub(crate) fn told(&mut self, serial: u64, places: &[[i64; 2]]) {
        let room = MOST_CONTACTS.saturating_sub(self.0.len());
        self.0.extend(places.iter().take(room).map(|place| (serial, *place)));
    }

    /// Forgets what even the slowest display has been told: 60 shots are a second.
    pub(crate) fn forget_before(&mut self, serial: u64) {
        self.0.retain(|c| c.0 + 60 >= serial);
    }
}

impl Shot {
    /// Takes a shot of a run.
    pub(crate) fn of(sim: &Sim, head: Head, hash: u64, contacts: &Contacts) -> Shot {
        let (model, state) = (sim.model(), sim.state());
        let mut rows = frame::rows(state);
        for slot in sim.waiting() {
            rows[slot].flags |= frame::WAITED_FOR;
        }
        for (slot, row) in rows.iter_mut().enumerate() {
            if swarmyard_engine::has_failed(model, state, slot) {
                row.flags |= frame::FAILED;
            }
        }
        let bodies = Bodies { head, hash, rows, contacts: Vec::new() };
        Shot { bodies, contacts: contacts.0.clone(), ..Shot::default() }
    }

    /// A shot that somebody else took: what its messages told.
    pub(crate) fn told(
        bodies: Bodies,
        contacts: &Contacts,
        marks: Vec<(MarksWanted, Marks)>,
        grids: BTreeMap<String, Arc<Grid>>,
    ) -> Shot {
        let bodies = Bodies { contacts: Vec::new(), ..bodies };
        Shot { bodies, contacts: contacts.0.clone(), marks, grids, ..Shot::default() }
    }

    /// Adds the marks that somebody wants.
    pub(crate) fn draw(&mut self, sim: &Sim, wanted: &MarksWanted) {
        if self.marks.iter().any(|m| m.0 == *wanted) {
            return;
        }
        let (model, state) = (sim.model(), sim.state());
        let mut marks = Marks::new(self.bodies.head);
        match wanted {
            MarksWanted::Robots(robots) => {
                for slot in robots.iter().filter_map(|r| model.slot_of_path(r)) {
                    frame::add_marks(&mut marks, model, state, slot);
                }
            }
            MarksWanted::Word(_) | MarksWanted::Unsaid => {
                for slot in 0..model.len() {
                    frame::add_marks(&mut marks, model, state, slot);
                }
            }
        }
        self.marks.push((wanted.clone(), marks));
    }

    pub(crate) fn serial(&self) -> u64 {
        self.bodies.head.serial
    }

    /// The bodies as bytes, built on what the display got last if that is possible.
    pub(crate) fn bodies_since(&self, earlier: Option<&Shot>) -> Bytes {
        let base = earlier.map_or(0, Shot::serial);
        let mut encoded = self.encoded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = encoded.get(&base) {
            return known.clone();
        }
        let fresh =
            self.contacts.iter().filter(|c| if base == 0 { c.0 == self.serial() } else { c.0 > base });
        let contacts: Vec<[i64; 2]> = fresh.map(|c| c.1).collect();
        let with_contacts;
        let bodies = if contacts.is_empty() {
            &self.bodies
        } else {
            with_contacts = Bodies { contacts, ..self.bodies.clone() };
            &with_contacts
        };
        let since = earlier.and_then(|e| bodies.encode_since(&e.bodies));
        let bytes = Bytes::from(since.unwrap_or_else(|| bodies.encode_full()));
        encoded.insert(base, bytes.clone());
        bytes
    }

    /// The marks that somebody wanted as bytes, built on what the display got last if that is possible.
    pub(crate) fn marks_since(&self, wanted: &MarksWanted, earlier: Option<&Shot>) -> Option<Vec<u8>> {
        let marks = self.marks_for(wanted)?;
        let since = earlier.and_then(|e| marks.encode_since(e.marks_for(wanted)?));
        Some(since.unwrap_or_else(|| marks.encode_full()))
    }

    fn marks_for(&self, wanted: &MarksWanted) -> Option<&Marks> {
        self.marks.iter().find(|m| m.0 == *wanted).map(|m| &m.1)
    }
}
