//! What workers report of a step, and the step that is made of it.
//!
//! In: one report of each worker. Out: the frame of the step; at a checkpoint also a new place to go back to. A report that is too
//! long for one message is fetched in pieces, a few at a time, so that whoever is lost meanwhile is missed.

use super::Keeper;
use super::epoch::Now;
use crate::door::Door;
use crate::message::{Done, Home, KEEPER, Report, read};
use crate::parcel::{Coming, Letter, Name};
use std::time::{Duration, Instant};
use swarmyard_engine::{Frame, InputKind, Parcel, Part, Whole};
use swarmyard_fabric::{Fabric, Unmet};
use swarmyard_sim::{ElsewhereFigures, Error};

/// How long pieces are fetched before workers are looked after again.
const STRETCH: Duration = Duration::from_millis(80);

/// Reports of one stop that are being fetched: of each worker, and how much of it is here.
pub(super) struct Arriving {
    here: Vec<(u32, Report)>,
    coming: Vec<(u32, Coming)>,
}

/// What workers did in one step, put together.
#[derive(Default)]
struct Sum {
    decided: Vec<InputKind>,
    parts: Vec<Part>,
    /// All bodies, when all workers told theirs.
    bodies: Option<Vec<Parcel>>,
    whole: Option<(Frame, Option<Vec<u8>>)>,
    homes: Vec<Home>,
}

impl Keeper {
    /// The reports of the next stop, when all are there.
    pub(super) fn reports(&mut self) -> Result<Option<Vec<(u32, Report)>>, Error> {
        let Some(epoch) = &mut self.epoch else { return Ok(None) };
        if let Some(reports) = epoch.pending.take() {
            return Ok(Some(reports));
        }
        let next = epoch.reached + 1;
        let mut arriving = match epoch.arriving.take() {
            Some(arriving) => arriving,
            None if next > epoch.granted => return Ok(None),
            None => match self.inbox.wait(next, &epoch.members) {
                Ok(all) => {
                    self.arrived = Instant::now();
                    Arriving::of(all, (epoch.number, next))?
                }
                Err(Unmet::Missing { .. } | Unmet::NewEpoch(_)) => return Ok(None),
            },
        };
        let until = Instant::now() + STRETCH;
        while arriving.fetch_one((&*self.fabric, &self.door), self.run)? && Instant::now() < until {}
        if !arriving.coming.is_empty() {
            epoch.arriving = Some(arriving);
            return Ok(None);
        }
        epoch.reached = next;
        let mut reports = arriving.here;
        reports.sort_unstable_by_key(|r| r.0);
        // Who has reported has begun.
        let members = epoch.members.clone();
        self.has_begun(&members);
        reports.iter().for_each(|(worker, report)| self.note_report(*worker, report));
        Ok(Some(reports))
    }

    /// Takes note of what a worker tells beside its part of the step.
    fn note_report(&mut self, worker: u32, report: &Report) {
        let Some(epoch) = &mut self.epoch else { return };
        if report.holds {
            self.vault.enable(worker);
        }
        self.refused.insert(worker, report.refused.clone());
        *epoch.work.entry(worker).or_default() += u64::from(report.load.work_us);
        // Of those who all do the same, one is measured.
        if epoch.divided || epoch.members.first() == Some(&worker) {
            self.costs.add(worker, &report.spent);
        }
        self.note(|status| {
            status.add(worker, report.load, &report.links);
            ElsewhereFigures::add(&mut status.statistics.elsewhere, &report.elsewhere);
        });
    }

    /// Makes a step of the reports. `None` when it was one that had been taken before.
    pub(super) fn put_together(
        &mut self,
        reports: Vec<(u32, Report)>,
        now: &mut Now<'_>,
    ) -> Result<Option<Frame>, Error> {
        let Some(epoch) = &self.epoch else { return Ok(None) };
        let (reached, divided) = (epoch.reached, epoch.divided);
        if reached <= now.run.state.stops {
            return self.compare(reached, divided, &reports).map(|()| None);
        }
        let keep = reached.is_multiple_of(self.plan.keep_every) || self.pace.at == Some(reached);
        self.pace.took(reports.iter().map(|r| u64::from(r.1.load.work_us)).max().unwrap_or(0));
        let Sum { decided, parts, bodies, whole, homes } = Sum::of(reports, reached)?;
        decided.into_iter().for_each(|kind| now.enter(kind));
        let Some(safe) = &mut self.safe else { return Ok(None) };
        if let Some((frame, bytes)) = whole {
            safe.took(reached, frame.hash);
            if let Some(bytes) = bytes {
                safe.take_whole(&mut now.run, bytes, keep).map_err(Error::System)?;
                if keep {
                    self.measure();
                    self.save(&now.run)?;
                    self.pace.kept(self.arrived.elapsed());
                }
            }
            (now.run.state.stops, now.run.state.now) = (frame.stops, frame.now);
            return Ok(Some(frame));
        }
        safe.took(reached, parts.iter().fold(0_u64, |sum, p: &Part| sum.wrapping_add(p.items)));
        let frame = now.step(parts, bodies.as_deref()).map_err(Error::System)?;
        if let Some(bodies) = bodies.filter(|_| keep) {
            safe.take(now, bodies, &self.costs.weigh());
            self.homes = (reached, homes);
            self.at_checkpoint(now.run.model);
            self.save(&now.run)?;
            self.pace.kept(self.arrived.elapsed());
        }
        Ok(Some(frame))
    }

    /// A step that has been shown already must come out as it did.
    fn compare(&self, reached: u64, divided: bool, reports: &[(u32, Report)]) -> Result<(), Error> {
        self.note(|status| status.statistics.again += 1);
        let hash = match divided {
            true => reports.iter().fold(0_u64, |sum, r| sum.wrapping_add(items(&r.1))),
            false => reports.first().map_or(0, |r| items(&r.1)),
        };
        if self.safe.as_ref().is_none_or(|safe| safe.agrees(reached, hash)) {
            return Ok(());
        }
        Err(Error::System(format!("step {reached} came out differently when it was taken again")))
    }
}

impl Now<'_> {
    /// The step that parts of it make.
    fn step(&mut self, parts: Vec<Part>, bodies: Option<&[Parcel]>) -> Result<Frame, String> {
        let (run, seen) = self.parts();
        Whole { model: run.model, state: run.state }.step(parts, bodies, seen.unwrap_or(run.journal))
    }
}

impl Sum {
    fn of(reports: Vec<(u32, Report)>, reached: u64) -> Result<Sum, Error> {
        let mut sum = Sum { bodies: Some(Vec::new()), ..Sum::default() };
        for (_, report) in reports {
            sum.decided.extend(report.inputs);
            sum.homes.extend(report.homes);
            match report.done {
                Done::Part(part, own) => {
                    sum.parts.push(part);
                    sum.bodies = sum.bodies.zip(own).map(|(mut all, own)| {
                        all.extend(own);
                        all
                    });
                }
                Done::Whole(frame, bytes) => match &sum.whole {
                    None => sum.whole = Some((frame, bytes)),
                    Some((first, _)) if first.hash != frame.hash => {
                        return Err(Error::System(format!(
                            "step {reached} came out differently on two workers: one of their machines is faulty"
                        )));
                    }
                    Some(_) => {}
                },
            }
        }
        Ok(sum)
    }
}

impl Arriving {
    /// What came as messages of a number, in an epoch.
    fn of(all: Vec<(u32, Vec<u8>)>, (epoch, number): (u32, u64)) -> Result<Arriving, Error> {
        let mut arriving = Arriving { here: Vec::with_capacity(all.len()), coming: Vec::new() };
        for (worker, bytes) in all {
            match read::<Letter<Report>>(&bytes).ok_or_else(|| no_report(worker))? {
                Letter::Here(report) => arriving.here.push((worker, report)),
                Letter::Pieces(slip) => {
                    let coming = Coming::new(worker, Name { epoch, to: KEEPER, number }, slip);
                    arriving.coming.push((worker, coming.map_err(Error::System)?));
                }
            }
        }
        Ok(arriving)
    }

    /// Fetches one piece. Answers whether there is any more to fetch now.
    fn fetch_one(&mut self, way: (&dyn Fabric, &Door), run: u64) -> Result<bool, Error> {
        let Some((_, coming)) = self.coming.last_mut() else { return Ok(false) };
        if !coming.ask(way, run) {
            return Ok(false);
        }
        if coming.is_here()
            && let Some((worker, coming)) = self.coming.pop()
        {
            let bytes = coming.open().map_err(Error::System)?;
            let Some(Letter::Here(report)) = read(&bytes) else { return Err(no_report(worker)) };
            self.here.push((worker, report));
        }
        Ok(true)
    }
}

fn no_report(worker: u32) -> Error {
    Error::System(format!("worker {worker} sent no report"))
}

/// What a report adds to the hash of its step.
fn items(report: &Report) -> u64 {
    match &report.done {
        Done::Part(part, _) => part.items,
        Done::Whole(frame, _) => frame.hash,
    }
}
