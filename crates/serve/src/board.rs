//! Where the runner puts what there is to see, and links take it from.
//!
//! Only the newest of everything lies here: a display that looks rarely misses what was there in between. Events
//! are told one by one, a bounded number of them.

use crate::frame::Head;
use crate::hub::Hub;
use crate::inspect;
use crate::maps::Maps;
use crate::shot::{Contacts, Inspected, Shot, Shown};
use crate::show::Show;
use crate::tell::Line;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_base::Vec2;
use tokio::sync::{broadcast, watch};

/// Time between two frames.
const FRAME: Duration = Duration::from_micros(16_600);
/// Time between two messages that people read.
const CALM: Duration = Duration::from_millis(100);
/// Messages with events that a display may be behind.
pub(crate) const NEWS: usize = 256;

/// What there is to see.
pub(crate) struct Board {
    shown: watch::Sender<Arc<Shown>>,
    news: broadcast::Sender<Arc<str>>,
    serial: u64,
    contacts: Contacts,
    /// Something has changed since the last frame.
    is_stale: bool,
    /// Something has changed since the last status.
    is_calm_stale: bool,
    last: Option<Instant>,
    last_calm: Option<Instant>,
    /// Revision of the world message that lies here.
    world: Option<u64>,
}

/// What the runner has to show.
pub(crate) struct Fresh<'a> {
    pub(crate) show: &'a Show,
    pub(crate) hub: &'a Hub,
    /// What is wrong, by where it comes from.
    pub(crate) problems: &'a BTreeMap<&'static str, Vec<Value>>,
    /// Number of the world that is shown.
    pub(crate) revision: u64,
    /// Maps, by robot.
    pub(crate) maps: &'a mut Maps,
    /// The `status` message, when it is time for it.
    pub(crate) status: Option<Value>,
    /// The `world` message, when it is another than the one on the board.
    pub(crate) world: Option<Value>,
}

impl Board {
    /// An empty board, and the way to look at it.
    pub(crate) fn new() -> (Board, watch::Receiver<Arc<Shown>>) {
        let (shown, look) = watch::channel(Arc::new(Shown::nothing()));
        let board = Board {
            shown,
            news: broadcast::Sender::new(NEWS),
            serial: 0,
            contacts: Contacts::default(),
            is_stale: true,
            is_calm_stale: true,
            last: None,
            last_calm: None,
            world: None,
        };
        (board, look)
    }

    pub(crate) fn news(&self) -> broadcast::Receiver<Arc<str>> {
        self.news.subscribe()
    }

    /// Whether the world of this number lies here.
    pub(crate) fn has_world(&self, revision: u64) -> bool {
        self.world == Some(revision)
    }

    /// Something has changed.
    pub(crate) fn touch(&mut self) {
        (self.is_stale, self.is_calm_stale) = (true, true);
    }

    /// Two things touched.
    pub(crate) fn contact(&mut self, at: Vec2) {
        self.contacts.add(self.serial + 1, at);
    }

    /// Forgets what belongs to another run.
    pub(crate) fn forget(&mut self) {
        self.contacts = Contacts::default();
    }

    /// How long until something is to be put here; zero for now.
    pub(crate) fn wait(&mut self, urgent: bool, is_waiting: bool) -> Duration {
        if urgent {
            (self.last_calm, self.last) = (None, None);
            return Duration::ZERO;
        }
        let left = |last: Option<Instant>, every: Duration| {
            last.map_or(Duration::ZERO, |last| every.saturating_sub(last.elapsed()))
        };
        match (self.is_stale, self.is_calm_stale || is_waiting) {
            (true, _) => left(self.last, FRAME),
            (false, true) => left(self.last_calm, CALM),
            (false, false) => CALM * 10,
        }
    }

    /// Whether it is time for what people read.
    pub(crate) fn is_calm_due(&self) -> bool {
        self.last_calm.is_none_or(|last| last.elapsed() >= CALM)
    }

    /// Tells everybody something that happened.
    pub(crate) fn tell(&self, lines: &[Line]) {
        if !lines.is_empty() && self.news.receiver_count() > 0 {
            // They may have gone this very moment.
            let _ = self.news.send(Arc::from(json!({ "is": "events", "lines": lines }).to_string()));
        }
    }

    /// Puts everything here that has changed.
    pub(crate) fn put(&mut self, fresh: Fresh<'_>) {
        let Fresh { show, hub, maps, problems, revision, status, world } = fresh;
        let wall = Instant::now();
        let mut next = Shown::clone(&self.shown.borrow());
        if let Some(world) = world {
            next.text = Arc::from(world["text"].as_str().unwrap_or_default());
            next.world = Arc::from(world.to_string());
            self.world = Some(revision);
        }
        if hub.all().any(|c| c.wishes.frames) {
            self.serial += 1;
            next.shot = Arc::new(self.shot(show, revision, hub, maps));
            self.contacts.forget_before(self.serial);
        }
        if let Some(status) = status {
            (self.last_calm, self.is_calm_stale) = (Some(wall), false);
            let sim = show.sim();
            let robots = hub.all().flat_map(|c| &c.wishes.inspect);
            let seen =
                robots.filter_map(|r| Some((r.clone(), inspect::robot(sim, r)?.to_string()))).collect();
            next.inspected = Arc::new(Inspected { stop: sim.state().stops, robots: seen });
            replace(&mut next.status, &status.to_string());
        }
        replace(&mut next.control, &hub.json().to_string());
        let problems = ["document", "code", "open"].map(|from| {
            let list = problems.get(from).map_or(&[][..], Vec::as_slice);
            json!({ "is": "problems", "from": from, "list": list }).to_string()
        });
        if !next.problems.iter().map(|p| &**p).eq(problems.iter().map(String::as_str)) {
            next.problems = problems.into_iter().map(Arc::from).collect();
        }
        self.is_stale = false;
        self.last = Some(wall);
        self.shown.send_replace(Arc::new(next));
    }

    fn shot(&self, show: &Show, revision: u64, hub: &Hub, maps: &mut Maps) -> Shot {
        let sim = show.sim();
        let state = sim.state();
        let time_ns = u64::try_from(state.now.0).unwrap_or(0);
        let head = Head { serial: self.serial, revision, stop: state.stops, time_ns };
        let mut shot = Shot::of(sim, head, show.hash(), &self.contacts);
        for wishes in hub.all().map(|c| &c.wishes).filter(|w| w.frames && w.wants_marks()) {
            shot.draw(sim, &wishes.marks);
        }
        shot.grids = maps.grids(sim, head);
        shot
    }
}

/// Puts a text in the place of another, unless it is the same.
fn replace(old: &mut Arc<str>, new: &str) {
    if **old != *new {
        *old = Arc::from(new);
    }
}
