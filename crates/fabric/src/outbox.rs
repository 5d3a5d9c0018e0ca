//! What a worker sent, kept for a while: a fabric may lose it, and then its receiver asks again.
//!
//! In: one payload per neighbour and quantum. Out: the same in its envelope, put under `…/workers/q/<from>/<to>`; and once more as
//! the answer to a question under `…/workers/outbox/<from>/<to>/<quantum>`, as often as it is asked for.
//!
//! Only the last quanta of the present epoch are kept, so its memory is bounded by what is sent.

use crate::envelope::{Header, seal};
use crate::{Care, Fabric, Handle, Lost, RunKey, Secret};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The key under which one worker sends to another.
#[must_use]
pub fn lane_key(run: u64, from: u32, to: u32) -> String {
    format!("swarm/run/{run}/workers/q/{from}/{to}")
}

/// The key under which a worker is asked for what it sent to another about a quantum.
#[must_use]
pub fn again_key(run: u64, from: u32, to: u32, quantum: u64) -> String {
    format!("swarm/run/{run}/workers/outbox/{from}/{to}/{quantum}")
}

/// Sends, and keeps what was sent.
pub struct Outbox {
    fabric: Arc<dyn Fabric>,
    run: u64,
    me: u32,
    kept: Arc<Mutex<Kept>>,
    _answers: Handle,
}

struct Kept {
    epoch: u32,
    secret: Secret,
    /// Quanta that are kept for each neighbour.
    depth: usize,
    lanes: BTreeMap<u32, Lane>,
    answered: u64,
}

/// What was sent to one neighbour.
#[derive(Default)]
struct Lane {
    next: u64,
    sent: VecDeque<(u64, Arc<Vec<u8>>)>,
}

impl Outbox {
    /// The outbox of worker `me` in an epoch of a run, which keeps the last `depth` messages for each neighbour.
    ///
    /// # Errors
    /// The fabric is closed.
    pub fn open(
        fabric: Arc<dyn Fabric>,
        run: impl Into<RunKey>,
        epoch: u32,
        me: u32,
        depth: usize,
    ) -> Result<Outbox, Lost> {
        let key = run.into();
        fabric.trust(&key);
        let RunKey { number: run, secret } = key;
        let kept = Kept { epoch, secret, depth: depth.max(1), lanes: BTreeMap::new(), answered: 0 };
        let kept = Arc::new(Mutex::new(kept));
        let asked = kept.clone();
        let pattern = format!("swarm/run/{run}/workers/outbox/{me}/*/*");
        let answers = fabric.answer(&pattern, Box::new(move |key, epoch| lock(&asked).again(key, epoch)))?;
        Ok(Outbox { fabric, run, me, kept, _answers: answers })
    }

    /// Sends a payload about a quantum to a neighbour, and keeps it.
    ///
    /// # Errors
    /// The payload is too long, or the fabric is closed.
    pub fn send(&self, to: u32, quantum: u64, payload: &[u8]) -> Result<(), Lost> {
        let key = lane_key(self.run, self.me, to);
        let most = crate::MOST_BYTES - crate::envelope::HEADER_BYTES;
        if payload.len() > most {
            return Err(Lost::TooLong { key, bytes: payload.len(), most });
        }
        let sealed = lock(&self.kept).keep(self.run, self.me, to, quantum, payload);
        self.fabric.put(&key, &sealed, Care::Block)
    }

    /// Begins another epoch: nothing of the old one is sent again.
    pub fn begin(&self, epoch: u32) {
        let mut kept = lock(&self.kept);
        kept.epoch = epoch;
        kept.lanes.clear();
    }

    /// How often something was asked for again and given.
    #[must_use]
    pub fn answered(&self) -> u64 {
        lock(&self.kept).answered
    }
}

fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Kept {
    fn keep(&mut self, run: u64, me: u32, to: u32, quantum: u64, payload: &[u8]) -> Arc<Vec<u8>> {
        let lane = self.lanes.entry(to).or_default();
        let header =
            Header { run, epoch: self.epoch, quantum, sender: me, receiver: to, sequence: lane.next };
        lane.next += 1;
        let sealed = Arc::new(seal(&header, payload, &self.secret));
        lane.sent.push_back((quantum, sealed.clone()));
        if lane.sent.len() > self.depth {
            lane.sent.pop_front();
        }
        sealed
    }

    /// What was sent under such a key, for one who asks in the present epoch.
    fn again(&mut self, key: &str, epoch: &[u8]) -> Option<Vec<u8>> {
        if epoch != self.epoch.to_le_bytes() {
            return None;
        }
        let mut chunks = key.rsplit('/');
        let quantum: u64 = chunks.next()?.parse().ok()?;
        let to: u32 = chunks.next()?.parse().ok()?;
        let sent = &self.lanes.get(&to)?.sent;
        let bytes = sent.iter().rev().find(|s| s.0 == quantum)?.1.to_vec();
        self.answered += 1;
        Some(bytes)
    }
}
