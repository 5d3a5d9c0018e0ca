//! How a world gets to workers: once to every machine, whatever the number of workers there.
//!
//! In: the hash of a world. Out: its texts and code. Whoever is to begin in a world that it does not have asks somebody who has it: the
//! first worker of a machine asks the keeper, every other one that first one, so it crosses the network once. When that one does
//! not answer, the keeper does.

use crate::bundle::Bundle;
use crate::door::Door;
use crate::message::{world_key, write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use swarmyard_fabric::{Fabric, Handle, Lost};

/// The world that a member has, for those who ask.
pub(crate) struct Worlds {
    has: Arc<Mutex<Has>>,
    _answers: Handle,
}

#[derive(Default)]
struct Has {
    world: Option<(u64, Arc<Vec<u8>>)>,
    given: Given,
}

/// How often a world was given to others, and how many bytes that were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// How often.
    pub times: u64,
    /// Bytes.
    pub bytes: u64,
}

impl Worlds {
    /// Answers those who ask `me`.
    pub(crate) fn open(fabric: &dyn Fabric, door: &Arc<Door>, run: u64, me: u32) -> Result<Worlds, Lost> {
        let has: Arc<Mutex<Has>> = Arc::default();
        let asked = Arc::clone(&has);
        let reply = move |question: &[u8]| {
            let hash: u64 = crate::message::read(question)?;
            let mut has = lock(&asked);
            let world = has.world.as_ref().filter(|w| w.0 == hash).map(|w| Arc::clone(&w.1))?;
            has.given.times += 1;
            has.given.bytes += world.len() as u64;
            Some(world.to_vec())
        };
        let answers = fabric.answer(&world_key(run, me), door.replier(reply))?;
        Ok(Worlds { has, _answers: answers })
    }

    /// Has this world from now on.
    pub(crate) fn put(&self, hash: u64, world: &Bundle) {
        let mut has = lock(&self.has);
        if has.world.as_ref().is_none_or(|w| w.0 != hash) {
            has.world = Some((hash, Arc::new(write(world))));
        }
    }

    /// What was given so far.
    pub(crate) fn given(&self) -> Given {
        lock(&self.has).given
    }
}

/// Asks a member for a world.
pub(crate) fn fetch(
    (fabric, door): (&dyn Fabric, &Door),
    (run, from): (u64, u32),
    hash: u64,
    patience: Duration,
) -> Option<Bundle> {
    door.ask(fabric, &world_key(run, from), &hash, patience).ok().flatten()
}

fn lock(has: &Mutex<Has>) -> MutexGuard<'_, Has> {
    has.lock().unwrap_or_else(PoisonError::into_inner)
}
