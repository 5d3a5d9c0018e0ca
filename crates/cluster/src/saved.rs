//! A run on disk: enough to go on with when whoever kept it is gone.
//!
//! In: a run at a checkpoint, and what came from outside since. Out: bytes, and from them the run again, at the stop of the
//! checkpoint, with the inputs that are to enter after it. See [`crate::shelf`] for how they are written.
//!
//! A file is a checkpoint, and behind it one record for each step since then that somebody outside had a word in. Every record
//! is sealed with a sum of itself and of what stands before it. A last record that is cut off was being written when its writer
//! was killed: its step was never shown, so it does not count. Anything else that does not add up is refused.

use crate::bundle::Bundle;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use swarmyard_agents::Elsewhere;
use swarmyard_base::hash::bytes_hash;
use swarmyard_engine::{
    Checkpoint, Input, InputKind, Journal, Minds, Model, State, Whole, build_id, restore, snapshot,
};
use swarmyard_sim::{Error, Run, Shelved, Sim};

const MAGIC: &[u8; 8] = b"SWYSAVE\x02";
/// Bytes before the checkpoint: the magic, its length and its sum.
pub(crate) const HEAD: usize = 24;
/// Bytes before a record: its length and its sum.
const RECORD_HEAD: usize = 12;

/// A run at one stop.
#[derive(Clone, Serialize, Deserialize)]
pub struct Saved {
    build: String,
    /// Its worlds; the one it began in comes first.
    worlds: Vec<Bundle>,
    pub(crate) image: Image,
    /// What entered before that stop.
    journal: Journal,
    /// Code that came while running.
    code: Vec<Code>,
    /// What entered after it, by stop.
    #[serde(skip)]
    later: BTreeMap<u64, Entered>,
    #[serde(skip)]
    torn: bool,
}

/// Everything that entered at one stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entered {
    stop: u64,
    inputs: Vec<InputKind>,
    code: Vec<Code>,
}

/// Code that came while running.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Code {
    /// The world whose controller it is for.
    world: u64,
    ty: u32,
    controller: u32,
    bytes: Vec<u8>,
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

    /// The same as a snapshot, for a run that has its worlds and its code.
    fn snapshot(&self, sim: &Sim) -> Result<Vec<u8>, String> {
        let Image::Bodies(state, _) = self else {
            let Image::Whole(_, bytes) = self else { return Err("there is no image".to_owned()) };
            return Ok(bytes.clone());
        };
        let worlds = sim.worlds();
        let world = state.worlds.last().map_or(worlds.origin, |w| w.1);
        let world: &Arc<Shelved> = worlds.all.get(&world).ok_or("its world did not come with it")?;
        let (state, minds) = self.open(&world.model, sim.minds())?;
        Ok(snapshot(&world.model, &state, &minds))
    }
}

impl Entered {
    /// What enters at each stop from one on, as far as it is known; `decided` enters at the stop where the run is.
    pub(crate) fn since(stop: u64, run: &Run<'_>, decided: &[InputKind]) -> Vec<Entered> {
        let mut stops: BTreeMap<u64, Vec<InputKind>> = BTreeMap::new();
        for Input { stop, kind } in run.journal.since(stop) {
            stops.entry(*stop).or_default().push(kind.clone());
        }
        if !decided.is_empty() {
            stops.entry(run.state.stops).or_default().extend_from_slice(decided);
        }
        let entered = |(stop, inputs): (u64, Vec<InputKind>)| {
            let code = inputs.iter().filter_map(|kind| Code::of(kind, run.model.world, run)).collect();
            Entered { stop, inputs, code }
        };
        stops.into_iter().map(entered).collect()
    }

    pub(crate) fn stop(&self) -> u64 {
        self.stop
    }
}

impl Code {
    /// The code that an input switches to, in a world.
    fn of(kind: &InputKind, world: u64, run: &Run<'_>) -> Option<Code> {
        let InputKind::Code { ty, controller, code } = *kind else { return None };
        let bytes = run.code.get(&code)?.bytes().1.to_vec();
        Some(Code { world, ty, controller, bytes })
    }
}

impl Saved {
    /// A run at a checkpoint of it.
    pub(crate) fn of(run: &Run<'_>, image: Image) -> Saved {
        let mut journal = run.journal.clone();
        journal.cut_from(image.stop());
        let (mut world, mut code, mut seen) = (run.worlds.origin, Vec::new(), BTreeSet::new());
        let mut worlds = vec![world];
        for input in journal.all() {
            match input.kind {
                InputKind::World(next) => {
                    world = next;
                    worlds.push(next);
                }
                InputKind::Code { code: hash, .. } if seen.insert((world, hash)) => {
                    code.extend(Code::of(&input.kind, world, run));
                }
                _ => {}
            }
        }
        // Several changes may have been made at this very stop.
        worlds.extend(run.state.worlds.iter().map(|w| w.1));
        let mut known = BTreeSet::new();
        worlds.retain(|world| known.insert(*world));
        let bundle = |world| Some(run.worlds.all.get(&world)?).map(|w| Bundle::of(&w.model, &w.overrides));
        let worlds = worlds.into_iter().filter_map(bundle).collect();
        Saved { build: build_id(), worlds, image, journal, code, later: BTreeMap::new(), torn: false }
    }

    /// The stop it was saved at.
    #[must_use]
    pub fn stop(&self) -> u64 {
        self.image.stop()
    }

    /// The last stop at which something entered after that.
    #[must_use]
    pub fn last_input(&self) -> Option<u64> {
        self.later.last_key_value().map(|(stop, _)| *stop)
    }

    /// Whether a last record is cut off: its writer was killed before the step was shown.
    #[must_use]
    pub fn is_torn(&self) -> bool {
        self.torn
    }

    /// The checkpoint as bytes, without what entered after it.
    #[must_use]
    pub fn bytes(&self) -> Vec<u8> {
        // Plain data into a growing buffer cannot fail.
        let body = postcard::to_allocvec(self).unwrap_or_default();
        let head = [*MAGIC, (body.len() as u64).to_le_bytes(), bytes_hash(&body).to_le_bytes()].concat();
        [head, body].concat()
    }

    /// From bytes.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(bytes: &[u8]) -> Result<Saved, String> {
        let cut_off = || "the checkpoint is cut off".to_owned();
        bytes.strip_prefix(MAGIC).ok_or("this is no checkpoint of a run")?;
        let (length, sum) = (number(bytes, 8).ok_or_else(cut_off)?, number(bytes, 16).ok_or_else(cut_off)?);
        let rest = &bytes[HEAD..];
        let length = usize::try_from(length).ok().filter(|n| *n <= rest.len()).ok_or_else(cut_off)?;
        let (body, records) = rest.split_at(length);
        if sum != bytes_hash(body) {
            return Err("the checkpoint was changed".to_owned());
        }
        let mut saved: Saved = postcard::from_bytes(body).map_err(|_| "the checkpoint cannot be read")?;
        if saved.build != build_id() {
            let here = build_id();
            return Err(format!("the checkpoint was made by build `{}`, this is `{here}`", saved.build));
        }
        saved.read_records(records, sum)?;
        Ok(saved)
    }

    fn read_records(&mut self, mut rest: &[u8], mut sum: u64) -> Result<(), String> {
        while !rest.is_empty() {
            let Some((body, told)) = record(rest) else {
                self.torn = true;
                return Ok(());
            };
            sum = sum_after(sum, body);
            let read = (sum == told).then(|| postcard::from_bytes::<Entered>(body).ok()).flatten();
            let wrong = || {
                let after = self.last_input().unwrap_or(self.stop());
                format!("what entered after tick {after} was changed, or is damaged")
            };
            let entered = read.filter(|e| e.stop >= self.stop()).ok_or_else(wrong)?;
            // A step that was begun anew may have had other inputs.
            self.later.insert(entered.stop, entered);
            rest = &rest[RECORD_HEAD + body.len()..];
        }
        Ok(())
    }

    /// Writes the checkpoint to a file: whole, or not at all.
    ///
    /// # Errors
    /// What the system says; a file that was there stays.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        crate::shelf::write_whole(path, &self.bytes())
    }

    /// The run again, at the stop where it was saved, with what is to enter after it.
    ///
    /// # Errors
    /// Why it cannot go on here.
    pub fn sim(&self, threads: usize, elsewhere: Option<Elsewhere>) -> Result<Sim, Error> {
        let (first, others) =
            self.worlds.split_first().ok_or_else(|| Error::System("there is no world".to_owned()))?;
        let mut sim = first.sim(threads, elsewhere.clone())?;
        for world in others {
            world.shelve(&mut sim, elsewhere.clone())?;
        }
        for Code { world, ty, controller, bytes } in
            self.code.iter().chain(self.later.values().flat_map(|e| &e.code))
        {
            sim.shelve_in(*world, *ty as usize, *controller as usize, bytes)?;
        }
        let bytes = self.image.snapshot(&sim).map_err(Error::System)?;
        sim.set_journal(self.journal.clone())?;
        sim.restore(&bytes)?;
        let of = |e: &Entered| e.inputs.iter().map(|kind| (e.stop, kind.clone())).collect::<Vec<_>>();
        let inputs = self.later.values().flat_map(of).map(|(stop, kind)| Input { stop, kind });
        sim.foresee(&inputs.collect::<Vec<_>>())?;
        Ok(sim)
    }
}

/// A record of a file, behind the sum of what stands before it; and the sum after it.
pub(crate) fn sealed(sum: u64, entered: &[u8]) -> (Vec<u8>, u64) {
    let sum = sum_after(sum, entered);
    let length = u32::try_from(entered.len()).unwrap_or(u32::MAX).to_le_bytes();
    ([&length[..], &sum.to_le_bytes(), entered].concat(), sum)
}

/// The sum of a checkpoint as it stands in its bytes.
pub(crate) fn sum_of(checkpoint: &[u8]) -> u64 {
    number(checkpoint, 16).unwrap_or_default()
}

/// The first record and its sum, when it is whole.
fn record(bytes: &[u8]) -> Option<(&[u8], u64)> {
    let length = u32::from_le_bytes(*bytes.first_chunk()?) as usize;
    let sum = number(bytes, 4)?;
    Some((bytes.get(RECORD_HEAD..RECORD_HEAD.checked_add(length)?)?, sum))
}

fn sum_after(sum: u64, record: &[u8]) -> u64 {
    bytes_hash(&[&sum.to_le_bytes(), record].concat())
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..at + 8)?.first_chunk().map(|b| u64::from_le_bytes(*b))
}
