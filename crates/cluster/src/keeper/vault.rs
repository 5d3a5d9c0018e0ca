//! What outlives the keeper: the last checkpoint, and everything that entered from outside since, in a file of its own and with
//! a worker that has a folder for it.
//!
//! In: a step that is about to be shown. Out: whether everything that it depends on, and that nobody could compute again, is where it
//! outlives this process. A step is shown only then; so whoever resumes the run knows all that anybody has seen.
//!
//! A worker that cannot write, or lives and does not answer for several leases, is asked no more: another takes its place, and when
//! there is none the run goes on and says so.

use super::safe::Safe;
use super::{Keeper, Save};
use crate::door::Door;
use crate::message::{Report, keep_key, write};
use crate::parcel::Lengths;
use crate::saved::{Entered, Saved};
use crate::shelf::{Keep, Kept, Shelf, What};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};
use swarmyard_base::hash::bytes_hash;
use swarmyard_engine::InputKind;
use swarmyard_fabric::{Fabric, Lost};
use swarmyard_sim::{Error, Run};

/// The slowest way on which a checkpoint still comes in time, in bytes per second.
const SLOWEST: f64 = 100e3;
/// Leases after which one that is silent is asked no more, and the least time.
const SILENT: (u32, Duration) = (3, Duration::from_secs(6));
/// How long one that was silent is left alone, where nothing waits for it.
const REST: Duration = Duration::from_secs(1);

/// How a worker is asked.
#[derive(Clone, Copy)]
struct Way<'a> {
    fabric: &'a dyn Fabric,
    door: &'a Door,
    run: u64,
    lease: Duration,
}

/// What is kept, and where.
pub(super) struct Vault {
    /// The number of the present checkpoint.
    image: u64,
    own: Option<Own>,
    /// The present checkpoint as bytes, while somebody lacks it.
    bytes: Option<Arc<Vec<u8>>>,
    /// What is sent in one piece.
    lengths: Lengths,
    holder: Option<Holder>,
    /// Workers that have a folder for it.
    able: BTreeSet<u32>,
    /// Of what was asked last.
    serial: u64,
    /// Why workers keep it no more.
    trouble: Vec<String>,
}

impl Keeper {
    /// There is a new checkpoint: puts it where it outlives this process.
    pub(super) fn save(&mut self, run: &Run<'_>) -> Result<(), Error> {
        self.vault.outdate();
        self.keep(run, &[]).map(|_| ())
    }

    /// Whether what a step depends on outlives this process, so that it may be shown.
    pub(super) fn is_kept(&mut self, reports: &[(u32, Report)], run: &Run<'_>) -> Result<bool, Error> {
        let is_new = self.epoch.as_ref().is_some_and(|epoch| epoch.reached > run.state.stops);
        if !is_new || (self.vault.own.is_none() && self.vault.able.is_empty()) {
            return Ok(true);
        }
        let decided: Vec<InputKind> = reports.iter().flat_map(|r| r.1.inputs.iter().cloned()).collect();
        self.keep(run, &decided)
    }

    fn keep(&mut self, run: &Run<'_>, decided: &[InputKind]) -> Result<bool, Error> {
        let (Some(safe), Some(epoch)) = (&self.safe, &self.epoch) else { return Ok(true) };
        let way = Way { fabric: &*self.fabric, door: &self.door, run: self.run, lease: self.plan.lease };
        let kept = self.vault.keep(way, (run, safe), &epoch.members, decided)?;
        let trouble = self.vault.trouble();
        if !trouble.is_empty() {
            self.note(|status| status.unkept.extend(trouble));
        }
        Ok(kept)
    }

    /// The run is over: no worker keeps anything of it.
    pub(super) fn keep_nothing(&mut self) {
        let way = Way { fabric: &*self.fabric, door: &self.door, run: self.run, lease: self.plan.lease };
        self.vault.clear(way);
    }
}

/// A file of its own.
struct Own {
    shelf: Shelf,
    marks: Marks,
    /// Somebody asked for it: without it the run ends.
    is_wanted: bool,
}

/// What is at a place.
#[derive(Default, PartialEq)]
struct Marks {
    /// Which checkpoint; 0 for none.
    image: u64,
    /// Which one is coming in pieces, and how much of it is there.
    coming: (u64, u64),
    /// The stop from which on something may be missing.
    next: u64,
    /// What was written, by stop.
    written: BTreeMap<u64, u64>,
}

/// What is there once something more was put there.
enum Mark {
    /// A checkpoint, up to this place.
    Piece(u64, u64),
    /// All of a checkpoint, which was taken at this stop.
    Image(u64, u64),
    /// What entered at a stop.
    Entered(u64, u64),
}

/// The worker that keeps it.
struct Holder {
    worker: u32,
    marks: Marks,
    /// What it was asked last and has not answered: its number, and what it was.
    asked: Option<(u64, u64)>,
    /// Since when it has not answered, and when it was last asked.
    silent: Option<(Instant, Instant)>,
}

impl Vault {
    pub(super) fn new(save: Save, lengths: Lengths) -> Vault {
        let own = |path, is_wanted| Own { shelf: Shelf::new(path), marks: Marks::default(), is_wanted };
        Vault {
            image: 1,
            own: match save {
                Save::Nowhere => None,
                Save::At(path) => Some(own(path, true)),
                Save::IfPossible(path) => Some(own(path, false)),
            },
            bytes: None,
            lengths,
            holder: None,
            able: BTreeSet::new(),
            serial: 0,
            trouble: Vec::new(),
        }
    }

    /// There is another checkpoint, or the run was set back: what is kept is out of date.
    pub(super) fn outdate(&mut self) {
        self.image += 1;
        self.bytes = None;
    }

    /// A worker has a folder for it.
    pub(super) fn enable(&mut self, worker: u32) {
        self.able.insert(worker);
    }

    /// Why workers keep it no more: what was not told before.
    fn trouble(&mut self) -> Vec<String> {
        std::mem::take(&mut self.trouble)
    }

    /// Puts everything where it outlives this process: the present checkpoint, what entered since, and what was `decided` for
    /// the step that is to be shown. Answers whether it is there, as far as the step needs it.
    fn keep(
        &mut self,
        way: Way<'_>,
        (run, safe): (&Run<'_>, &Safe),
        members: &[u32],
        decided: &[InputKind],
    ) -> Result<bool, Error> {
        self.keep_here((run, safe), decided)?;
        let present = (self.image, safe.stop());
        let enters = !decided.is_empty() || !run.journal.at(run.state.stops).is_empty();
        'asking: loop {
            let Some(holder) = choose(&mut self.holder, &self.able, members) else {
                self.bytes = None;
                return Ok(true);
            };
            if !enters && holder.silent.is_some_and(|(_, tried)| tried.elapsed() < REST) {
                return Ok(true);
            }
            let bytes = (holder.marks.image != present.0).then(|| bytes_of(&mut self.bytes, run, safe));
            let pieces = bytes.map(|bytes| holder.marks.pieces(present, bytes, self.lengths));
            let entered = holder.marks.entered(present, run, decided);
            let entered = entered.into_iter().map(|(bytes, mark)| (What::Entered(bytes), mark));
            for (what, mark) in pieces.into_iter().flatten().chain(entered) {
                match holder.ask(way, &mut self.serial, what) {
                    Some(Kept::Done) => holder.marks.note(mark),
                    Some(Kept::Gap) if holder.marks != Marks::default() => {
                        holder.marks = Marks::default();
                        continue 'asking;
                    }
                    None if !holder.is_silent(way.lease) => return Ok(!enters),
                    answer => {
                        let why = match answer {
                            Some(Kept::Failed(why)) => why,
                            _ => "it does not answer".to_owned(),
                        };
                        self.trouble.push(format!("worker {} keeps no checkpoint: {why}", holder.worker));
                        self.able.remove(&holder.worker);
                        self.holder = None;
                        continue 'asking;
                    }
                }
            }
            self.bytes = None;
            return Ok(true);
        }
    }

    /// The same for the file of its own.
    fn keep_here(&mut self, (run, safe): (&Run<'_>, &Safe), decided: &[InputKind]) -> Result<(), Error> {
        let Some(Own { shelf, marks, is_wanted }) = &mut self.own else { return Ok(()) };
        let present = (self.image, safe.stop());
        let mut write = || {
            let entered = marks.entered(present, run, decided);
            if marks.image != present.0 {
                shelf.put(&bytes_of(&mut self.bytes, run, safe))?;
                marks.note(Mark::Image(present.0, present.1));
            }
            for (bytes, mark) in entered {
                shelf.add(&bytes)?;
                marks.note(mark);
            }
            Ok(())
        };
        let done: std::io::Result<()> = write();
        if let Err(e) = done {
            let why = format!("cannot write `{}`: {e}", shelf.path().display());
            if *is_wanted {
                return Err(Error::System(why));
            }
            self.trouble.push(format!("the run cannot be resumed if it is lost: {why}"));
            self.own = None;
        }
        Ok(())
    }

    /// The run is over: nothing is kept for it by others.
    fn clear(&mut self, way: Way<'_>) {
        if let Some(mut holder) = self.holder.take() {
            // Who does not hear it leaves a file behind, which does no harm.
            let _ = holder.ask(way, &mut self.serial, What::Nothing);
        }
    }
}

/// Who keeps it: the same as before, or another when that one has no part any more.
fn choose<'a>(
    holder: &'a mut Option<Holder>,
    able: &BTreeSet<u32>,
    members: &[u32],
) -> Option<&'a mut Holder> {
    if holder.as_ref().is_none_or(|h| !members.contains(&h.worker)) {
        let worker = members.iter().copied().find(|m| able.contains(m));
        *holder = worker.map(|worker| Holder { worker, marks: Marks::default(), asked: None, silent: None });
    }
    holder.as_mut()
}

/// The present checkpoint as bytes: they are made once for all who lack it.
fn bytes_of(bytes: &mut Option<Arc<Vec<u8>>>, run: &Run<'_>, safe: &Safe) -> Arc<Vec<u8>> {
    let make = || Arc::new(Saved::of(run, safe.image().clone()).bytes());
    Arc::clone(bytes.get_or_insert_with(make))
}

impl Marks {
    /// The pieces of the present checkpoint that are not there yet, each with what is there then: `present` is its number and its
    /// stop.
    fn pieces(
        &self,
        present: (u64, u64),
        bytes: Arc<Vec<u8>>,
        lengths: Lengths,
    ) -> impl Iterator<Item = (What, Mark)> + use<> {
        let of = bytes.len();
        let length = if lengths.divides(of) { lengths.piece.max(1) as usize } else { of.max(1) };
        let from = if self.coming.0 == present.0 { self.coming.1 as usize } else { 0 };
        (from..of).step_by(length).map(move |at| {
            let piece = &bytes[at..of.min(at + length)];
            let there = at + piece.len();
            let mark = match there == of {
                true => Mark::Image(present.0, present.1),
                false => Mark::Piece(present.0, there as u64),
            };
            (What::Checkpoint { at: at as u64, of: of as u64, bytes: piece.to_vec() }, mark)
        })
    }

    /// What entered after the present checkpoint and is not there yet.
    fn entered(&self, present: (u64, u64), run: &Run<'_>, decided: &[InputKind]) -> Vec<(Vec<u8>, Mark)> {
        let is_there = self.image == present.0;
        let from = if is_there { self.next } else { present.1 };
        let mut all = Vec::new();
        for entered in Entered::since(from.min(run.state.stops), run, decided) {
            let (stop, bytes) = (entered.stop(), write(&entered));
            let hash = bytes_hash(&bytes);
            // A step that was begun anew may have other inputs: the last word counts.
            if !is_there || self.written.get(&stop) != Some(&hash) {
                all.push((bytes, Mark::Entered(stop, hash)));
            }
        }
        all
    }

    fn note(&mut self, mark: Mark) {
        match mark {
            Mark::Piece(image, at) => self.coming = (image, at),
            Mark::Image(image, stop) => {
                *self = Marks { image, next: stop, ..Marks::default() };
            }
            Mark::Entered(stop, hash) => {
                self.written.insert(stop, hash);
                self.next = self.next.max(stop + 1);
            }
        }
    }
}

impl Holder {
    /// Asks it to keep something; the same again when that was not answered.
    fn ask(&mut self, way: Way<'_>, serial: &mut u64, what: What) -> Option<Kept> {
        let hash = bytes_hash(&write(&what));
        let number = self.asked.filter(|a| a.1 == hash).map_or(*serial + 1, |a| a.0);
        *serial = number.max(*serial);
        self.asked = Some((number, hash));
        let patience = match &what {
            What::Checkpoint { bytes, .. } => {
                way.lease + Duration::from_secs_f64(bytes.len() as f64 / SLOWEST)
            }
            What::Entered(_) | What::Nothing => way.lease / 4,
        };
        let (key, keep) = (keep_key(way.run, self.worker), Keep { serial: number, what });
        let answer = match way.door.ask::<Keep, Kept>(way.fabric, &key, &keep, patience) {
            Ok(answer) => answer,
            // It would be so the next time, whoever is asked.
            Err(why @ Lost::TooLong { .. }) => Some(Kept::Failed(why.to_string())),
            Err(_) => None,
        };
        if answer.is_some() {
            (self.asked, self.silent) = (None, None);
        } else {
            let since = self.silent.map_or_else(Instant::now, |s| s.0);
            self.silent = Some((since, Instant::now()));
        }
        answer
    }

    /// Whether it has been silent for too long.
    fn is_silent(&self, lease: Duration) -> bool {
        self.silent.is_some_and(|(since, _)| since.elapsed() > SILENT.1.max(lease * SILENT.0))
    }
}
