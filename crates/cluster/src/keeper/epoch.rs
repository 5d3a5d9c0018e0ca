//! An epoch: a stretch of the run with the same workers, from the last checkpoint on.
//!
//! In: who works, and where the run stands. Out: everybody's part, and how far all may go. Orders are said again until it shows that
//! they were heard; what is too long for one message is announced, and fetched in pieces.

use super::apart::Apart;
use super::pace::budget_us;
use super::reports::Arriving;
use super::safe::Safe;
use super::{Keeper, useful};
use crate::bundle::Bundle;
use crate::message::{Begin, Grant, Order, Report, Task, order_key, write};
use crate::parcel::MOST_BYTES;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use swarmyard_engine::{Cut, Input, InputKind, Journal, Margins, undivided};
use swarmyard_fabric::Care;
use swarmyard_sim::{Error, Run};

/// When a grant is said again.
const SAY_AGAIN: Duration = Duration::from_millis(300);

/// A run while one step is asked for, and its journal as the steps since the checkpoint have to see it.
pub(super) struct Now<'a> {
    pub(super) run: Run<'a>,
    /// What stands in place of the run's own journal, where the world was changed at one of these steps.
    seen: Option<Journal>,
}

impl<'a> Now<'a> {
    /// `safe` is the stop of the checkpoint, when there is one.
    pub(super) fn of(run: Run<'a>, safe: Option<u64>) -> Now<'a> {
        let seen = run.seen(safe.map_or(run.state.stops, |stop| stop.min(run.state.stops)));
        Now { run, seen }
    }

    pub(super) fn journal(&self) -> &Journal {
        self.seen.as_ref().unwrap_or(self.run.journal)
    }

    /// The run, and what stands in place of its journal.
    pub(super) fn parts(&mut self) -> (&mut Run<'a>, Option<&Journal>) {
        (&mut self.run, self.seen.as_ref())
    }

    /// Something enters where the run stands.
    pub(super) fn enter(&mut self, kind: InputKind) {
        let stop = self.run.state.stops;
        if let Some(seen) = &mut self.seen {
            seen.push(stop, kind.clone());
        }
        self.run.journal.push(stop, kind);
    }
}

pub(super) struct Epoch {
    pub(super) number: u32,
    pub(super) members: Vec<u32>,
    pub(super) cut: Cut,
    /// The stop up to which reports were taken.
    pub(super) reached: u64,
    pub(super) granted: u64,
    said: Instant,
    /// What was granted to enter.
    entered: Vec<Input>,
    pub(super) divided: bool,
    /// What those are to begin with who have not said that they have begun.
    pub(super) begins: BTreeMap<u32, Vec<u8>>,
    /// Reports of the next stop, as far as they are here.
    pub(super) arriving: Option<Arriving>,
    /// Reports of a step that is not shown yet, because what it depends on is not safe.
    pub(super) pending: Option<Vec<(u32, Report)>>,
    /// The stop it began from.
    pub(super) begun: u64,
    pub(super) apart: Apart,
    /// By worker: microseconds at work since the last checkpoint.
    pub(super) work: BTreeMap<u32, u64>,
}

impl Epoch {
    /// Whether all its workers are among these, and wait at this stop.
    fn stands_at(&self, stop: u64, members: &[u32]) -> bool {
        let is_there = self.divided && (self.granted, self.reached) == (stop, stop);
        is_there && self.members.iter().all(|m| members.contains(m))
    }
}

impl Keeper {
    /// Begins an epoch with these workers from the last checkpoint.
    pub(super) fn begin(&mut self, members: Vec<u32>, now: &Now<'_>) -> Result<(), Error> {
        let (before, run) = (self.epoch.take(), &now.run);
        self.recut.at = None;
        let mut safe = self.safe.take().unwrap_or_else(|| Safe::of(run));
        safe.learn(now);
        self.costs.name(run.model);
        if let Some(placement) = self.plan.placement.take() {
            let placed = safe.weigh(run.model, &placement);
            self.note(|status| status.placed = Some(placed));
        }
        let margins =
            *self.margins.get_or_insert_with(|| Margins::of(run.model, run.state, self.plan.period));
        let divided = undivided(run.model);
        let members: Vec<u32> = members.into_iter().take(useful(run.model)).collect();
        self.epochs += 1;
        let (number, stop) = (self.epochs, safe.stop());
        let goes_on = before.is_some_and(|e| e.stands_at(stop, &members)) && self.homes.0 == stop;
        let (cut, nowhere) = self.cut(&safe, &members, run.model);
        // What was ordered was never heard by those who begin now.
        self.pace.at = None;
        let grant = self.grant_from(number, (stop, self.until(members.len(), now)), now);
        let homes = goes_on.then(|| self.homes.1.clone());
        let part = |member: u32, task: Task| Begin {
            epoch: number,
            members: members.clone(),
            hash: run.model.world,
            source: self.source(member, &members),
            cut: cut.clone(),
            margins,
            task,
            code: safe.code().to_vec(),
            homes: homes.clone(),
            lengths: self.plan.lengths,
            grant: grant.clone(),
        };
        self.worlds.put(run.model.world, &Bundle::of(run.model, run.overrides));
        let begins = self.begins((number, &members), safe.deal(&cut, &margins), part);
        self.safe = Some(safe);
        let begins = begins?;
        self.inbox.begin(number, stop + 1, &members);
        for (member, bytes) in &begins {
            self.say(*member, bytes)?;
        }
        self.note(|status| {
            status.statistics.epochs = number;
            status.statistics.undivided = divided.map(|why| why.words().to_owned());
            status.nowhere = nowhere;
            status.members(&members, divided.is_none().then(|| cut.regions()));
        });
        self.epoch = Some(Epoch {
            number,
            members,
            cut,
            reached: stop,
            granted: grant.until,
            said: Instant::now(),
            entered: grant.inputs,
            divided: divided.is_none(),
            begins,
            begun: stop,
            arriving: None,
            pending: None,
            apart: Apart::new(self.plan.lease),
            work: BTreeMap::new(),
        });
        Ok(())
    }

    /// What each worker is to begin with: its order, or where the pieces of that are.
    fn begins(
        &self,
        (epoch, members): (u32, &[u32]),
        tasks: Vec<Task>,
        part: impl Fn(u32, Task) -> Begin,
    ) -> Result<BTreeMap<u32, Vec<u8>>, Error> {
        let lengths = self.plan.lengths;
        self.depot.begin(epoch);
        let mut begins = BTreeMap::new();
        for (member, task) in members.iter().zip(tasks) {
            let mut bytes = write(&Order::Begin(Box::new(part(*member, task))));
            if bytes.len() as u64 > MOST_BYTES {
                return Err(Error::System(too_long(bytes.len() as u64, members.len() as u64)));
            }
            if lengths.divides(bytes.len()) {
                let slip = self.depot.put(*member, u64::from(epoch), bytes, lengths.piece);
                bytes = write(&Order::BeginInPieces(epoch, slip));
            }
            begins.insert(*member, bytes);
        }
        Ok(begins)
    }

    pub(super) fn say(&self, member: u32, order: &[u8]) -> Result<(), Error> {
        let key = order_key(self.run, member);
        let put = self.fabric.put(&key, &self.door.seal_answer(&key, &[], order), Care::Block);
        put.map_err(|e| Error::System(e.to_string()))
    }

    /// These have begun: nobody needs what they began with any more.
    pub(super) fn has_begun(&mut self, members: &[u32]) {
        let Some(epoch) = &mut self.epoch else { return };
        for member in members {
            if epoch.begins.remove(member).is_some() {
                self.depot.drop_below(*member, u64::MAX);
            }
        }
    }

    /// The stop up to which so many workers may go.
    fn until(&self, workers: usize, now: &Now<'_>) -> u64 {
        let ahead = self.pace.ahead(self.plan.ahead, budget_us(self.plan.lease, workers));
        let until = now.run.state.stops + 1 + ahead;
        // Where the plane is cut anew everybody waits, so that nothing has to be taken back.
        self.recut.at.map_or(until, |at| until.min(at))
    }

    /// How far workers may go, and what enters from `from` on.
    fn grant_from(&self, epoch: u32, (from, until): (u64, u64), now: &Now<'_>) -> Grant {
        let inputs = now.journal().since(from).iter().take_while(|i| i.stop < until).cloned().collect();
        let judged = !now.run.model.asserts.is_empty();
        let show_every = if judged { 1 } else { self.plan.show_every };
        let (keep_every, keep_at) = (self.plan.keep_every, self.pace.at);
        Grant { epoch, until, from, inputs, show_every, keep_every, keep_at }
    }

    /// Says again what may not have been heard.
    pub(super) fn repeat(&mut self, now: &Now<'_>) -> Result<(), Error> {
        let Some(epoch) = &self.epoch else { return Ok(()) };
        if epoch.said.elapsed() < SAY_AGAIN {
            return Ok(());
        }
        // No farther than was granted before: a checkpoint may be ordered right behind that.
        let grant =
            self.grant_from(epoch.number, (now.run.state.stops.min(epoch.reached), epoch.granted), now);
        let order = write(&Order::Grant(grant));
        for member in &epoch.members {
            let begin = epoch.begins.get(member);
            self.say(*member, begin.unwrap_or(&order))?;
        }
        if let Some(epoch) = &mut self.epoch {
            epoch.said = Instant::now();
        }
        Ok(())
    }

    /// Lets workers go on, and takes note when somebody has changed what was granted to enter.
    pub(super) fn grant(&mut self, now: &Now<'_>) -> Result<(), Error> {
        let Some(epoch) = &self.epoch else { return Ok(()) };
        let (number, granted, stops) = (epoch.number, epoch.granted, now.run.state.stops);
        let open = |i: &&Input| (stops..granted).contains(&i.stop);
        let entering = now.journal().since(stops).iter().filter(open);
        if !entering.eq(epoch.entered.iter().filter(open)) {
            // They may have gone on without it.
            return self.begin(epoch.members.clone(), now);
        }
        let budget = budget_us(self.plan.lease, epoch.members.len());
        let ahead = self.pace.ahead(self.plan.ahead, budget);
        let until = self.until(epoch.members.len(), now);
        if granted > stops + ahead / 2 || until <= granted {
            return Ok(());
        }
        // Nobody has been told to go beyond what is granted: a checkpoint behind it can be ordered of all.
        if !is_due_at(self.plan.keep_every, granted + 1) && self.pace.is_due(granted + 1 - stops, budget) {
            self.pace.at = Some(granted + 1);
        }
        let grant = self.grant_from(number, (stops, until), now);
        let order = write(&Order::Grant(grant.clone()));
        for member in &epoch.members {
            self.say(*member, &order)?;
        }
        if let Some(epoch) = &mut self.epoch {
            (epoch.granted, epoch.entered, epoch.said) = (grant.until, grant.inputs, Instant::now());
        }
        Ok(())
    }
}

/// Whether a stop is one of every so many.
fn is_due_at(every: u64, stop: u64) -> bool {
    every > 0 && stop.is_multiple_of(every)
}

/// Why bodies cannot be dealt out: one worker's share is more than may be announced.
fn too_long(bytes: u64, workers: u64) -> String {
    let enough = workers * bytes.div_ceil(MOST_BYTES / 2);
    format!(
        "there is too much for {workers} workers: the share of one takes {bytes} bytes, and at most {MOST_BYTES} are sent in pieces; `--workers {enough}` would do, or leave it out"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_spreads_too_much_over_too_few_is_told_how_many_would_do() {
        let said = too_long(5_500_000_000, 1);
        assert!(said.contains("too much for 1 workers") && said.contains("`--workers 3` would do"), "{said}");
    }
}
