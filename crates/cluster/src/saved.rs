//! A run on disk: enough to go on with when whoever kept it is gone.
//!
//! In: a run at a checkpoint. Out: bytes, and from them the run again, at the same stop. A file is written beside its
//! place and moved there, so that there is a whole one at any time.

use crate::bundle::Bundle;
use serde::{Deserialize, Serialize};
use std::io::Write as _;
use std::path::Path;
use swarmyard_agents::Elsewhere;
use swarmyard_base::hash::bytes_hash;
use swarmyard_engine::{Checkpoint, Journal, Minds, Model, State, Whole, build_id, restore, snapshot};
use swarmyard_sim::{Error, Sim};

const MAGIC: &[u8; 8] = b"SWYSAVE\x02";

/// A run at one stop.
#[derive(Clone, Serialize, Deserialize)]
pub struct Saved {
    build: String,
    world: Bundle,
    pub(crate) image: Image,
    journal: Journal,
    /// Code that came while running: type, controller, bytes.
    code: Vec<(u32, u32, Vec<u8>)>,
}

/// Everything that changes, at one stop.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum Image {
    /// Body by body.
    Bodies(Box<State>, Checkpoint),
    /// As one.
    Whole(u64, Vec<u8>),
}

impl Image {
    /// Where a run stands.
    pub(crate) fn of(model: &Model, state: &State, minds: &Minds) -> Image {
        if swarmyard_engine::undivided(model).is_some() {
            return Image::Whole(state.stops, snapshot(model, state, minds));
        }
        Image::Bodies(Box::new(state.clone()), Checkpoint::of(model, state, minds))
    }

    /// The stop.
    pub(crate) fn stop(&self) -> u64 {
        match self {
            Image::Bodies(state, _) => state.stops,
            Image::Whole(stop, _) => *stop,
        }
    }

    /// State and programs, as they were. `minds` are programs of the same world, which know all code that came.
    pub(crate) fn open(&self, model: &Model, minds: &Minds) -> Result<(State, Minds), String> {
        match self {
            Image::Whole(_, bytes) => restore(model, minds, bytes).map_err(|e| e.to_string()),
            Image::Bodies(state, checkpoint) => {
                let mut state = (**state).clone();
                let mut minds = minds.fresh(model, checkpoint.codes())?;
                Whole { model, state: &mut state }.take(checkpoint.bodies(), Some(&mut minds))?;
                Ok((state, minds))
            }
        }
    }

    /// The same as a snapshot.
    pub(crate) fn snapshot(&self, model: &Model, minds: &Minds) -> Result<Vec<u8>, String> {
        if let Image::Whole(_, bytes) = self {
            return Ok(bytes.clone());
        }
        let (state, minds) = self.open(model, minds)?;
        Ok(snapshot(model, &state, &minds))
    }
}

impl Saved {
    pub(crate) fn of(world: Bundle, image: Image, journal: &Journal, code: &[(u32, u32, Vec<u8>)]) -> Saved {
        let mut journal = journal.clone();
        journal.cut_from(image.stop());
        Saved { build: build_id(), world, image, journal, code: code.to_vec() }
    }

    /// The stop it was saved at.
    #[must_use]
    pub fn stop(&self) -> u64 {
        self.image.stop()
    }

    /// As bytes.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Plain data into a growing buffer cannot fail.
        let body = postcard::to_allocvec(self).unwrap_or_default();
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&bytes_hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        bytes
    }

    /// From bytes.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(bytes: &[u8]) -> Result<Saved, String> {
        let rest = bytes.strip_prefix(MAGIC).ok_or("this is no checkpoint of a run")?;
        let (sum, body) = rest.split_first_chunk::<8>().ok_or("the checkpoint is cut off")?;
        if *sum != bytes_hash(body).to_le_bytes() {
            return Err("the checkpoint is cut off, or was changed".to_owned());
        }
        let saved: Saved = postcard::from_bytes(body).map_err(|_| "the checkpoint cannot be read")?;
        if saved.build != build_id() {
            let here = build_id();
            return Err(format!("the checkpoint was made by build `{}`, this is `{here}`", saved.build));
        }
        Ok(saved)
    }

    /// Writes it to a file: whole, or not at all.
    ///
    /// # Errors
    /// What the system says; a file that was there stays.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        write_whole(path, &self.bytes())
    }

    /// The run again, at the stop where it was saved.
    ///
    /// # Errors
    /// Why it cannot go on here.
    pub fn sim(&self, threads: usize, elsewhere: Option<Elsewhere>) -> Result<Sim, Error> {
        let mut sim = self.world.sim(threads, elsewhere)?;
        for (ty, controller, bytes) in &self.code {
            sim.shelve(*ty as usize, *controller as usize, bytes)?;
        }
        let bytes = self.image.snapshot(sim.model(), &Minds::new(sim.model())).map_err(Error::System)?;
        sim.set_journal(self.journal.clone())?;
        sim.restore(&bytes)?;
        Ok(sim)
    }
}

/// Writes bytes beside a file's place, and moves them there.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_added_extension("part");
    let mut file = std::fs::File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}
