//! Who keeps a run together: deals its bodies out, puts the parts of every step together, and goes back to the
//! last checkpoint when a worker is lost.
//!
//! In: steps that somebody asks for ([`Crowd`]). Out: the same frames as one process would give. Workers go on by
//! themselves as far as they are granted; the keeper only collects.
//!
//! An *epoch* is a stretch of the run with the same workers. When one is lost, when another joins, or when a
//! body goes farther than the margins say, a new epoch begins from the last checkpoint that all have reached, and
//! what was shown already is taken again silently; every hash must come out as before.

mod apart;
pub(crate) mod costs;
mod crew;
mod office;
mod recut;
mod safe;
mod status;
mod vault;

use crate::bundle::Bundle;
use crate::door::Door;
use crate::message::{
    Begin, Done, Grant, Home, KEEPER, Notice, Order, Report, Signed, order_key, read, write,
};
use crate::staff::Hired;
use crate::world::Worlds;
use apart::Apart;
use costs::Costs;
use office::Office;
use recut::Recut;
use safe::Safe;
pub use status::{Placed, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_engine::{
    Cut, Frame, How, Input, InputKind, Margins, Model, Part, State, Whole, awaited, undivided,
};
use swarmyard_fabric::gate::{Refusals, Refused};
use swarmyard_fabric::{Care, Fabric, Handle, Inbox, Lost, MOST_BYTES, Patience, RunKey, Unmet};
use swarmyard_sim::{Crowd, ElsewhereFigures, Error, Progress, Run, Statistics};
use vault::Vault;

/// How a run is spread.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How many workers are wanted.
    pub workers: u32,
    /// How the plane is cut.
    pub how: How,
    /// Quanta after which bodies change hands.
    pub period: u64,
    /// How many stops workers may be ahead of what is asked for.
    pub ahead: u64,
    /// Bodies come home at every so many stops; where assertions are judged, at every one.
    pub show_every: u64,
    /// Checkpoints are taken at every so many stops.
    pub keep_every: u64,
    /// How long to wait for workers that were hired.
    pub patience: Duration,
    /// Silence after which the fabric gives up a worker: two who do not hear each other get half as long again, and at least three seconds.
    pub lease: Duration,
    /// What an earlier run measured: it suggests the first cut.
    pub placement: Option<Statistics>,
    /// Where the last checkpoint and what entered since are kept, so that the run can be resumed. A worker that has a folder for it
    /// keeps the same there.
    pub save: Save,
}

/// Whether the last checkpoint is kept in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Save {
    /// It is not.
    #[default]
    Nowhere,
    /// There; when it cannot be written the run ends.
    At(PathBuf),
    /// There; when it cannot be written the run goes on and says so.
    IfPossible(PathBuf),
}

impl Plan {
    /// A plan for that many workers, with bodies home at every stop.
    #[must_use]
    pub fn of(workers: u32) -> Plan {
        Plan {
            workers: workers.max(1),
            how: How::Tree,
            period: 16,
            ahead: 0,
            show_every: 1,
            keep_every: 64,
            patience: Duration::from_secs(20),
            lease: Duration::from_secs(2),
            placement: None,
            save: Save::Nowhere,
        }
    }
}

/// Who is told in words what happens on the way.
pub type Teller = Box<dyn FnMut(&str) + Send>;

/// Whoever finds workers.
pub trait Staff: Send {
    /// Sees to it that a worker with this number works for the run. It shows by itself when it is there.
    ///
    /// # Errors
    /// When nobody can be found.
    fn hire(&mut self, number: u32) -> Result<(), String>;

    /// A worker is lost, or not needed any more: ends what is left of it.
    fn dismiss(&mut self, number: u32);

    /// Who was hired under a number, as far as it may be told.
    fn hired(&self, _number: u32) -> Option<Hired> {
        None
    }

    /// Where a worker is: the name of its host, and what that can do.
    fn places(&self, _number: u32) -> Vec<String> {
        Vec::new()
    }
}

/// Room for the seal of an order.
const SEALED: usize = 1 << 10;
/// How long one look lasts.
const LOOK: Duration = Duration::from_millis(20);
/// When somebody is looked for again, after nobody was found.
const LOOK_AGAIN: Duration = Duration::from_secs(1);
/// How often workers are told that they are needed, while nothing is to be done.
const REST: Duration = Duration::from_secs(1);
/// How long the end of a run waits for workers to be gone.
const FAREWELL: Duration = Duration::from_secs(2);
/// When a report is asked for again by a keeper whom nobody waits for.
const UNHURRIED: Duration = Duration::from_millis(150);
/// When a grant is said again.
const SAY_AGAIN: Duration = Duration::from_millis(300);

/// Keeps a run together.
pub struct Keeper {
    fabric: Arc<dyn Fabric>,
    run: u64,
    door: Arc<Door>,
    plan: Plan,
    office: Office,
    inbox: Inbox,
    notices: Receiver<Signed>,
    alive: Arc<Mutex<BTreeSet<u32>>>,
    /// The next number for a worker. None is used twice, not even that of one who could not be had.
    next: u32,
    /// Those who were hired and not dismissed. Somebody else is fenced off: nobody is connected with it.
    staffed: BTreeSet<u32>,
    /// Where each of them is.
    places: BTreeMap<u32, Vec<String>>,
    /// The machine of each of them that is on another one.
    hosts: BTreeMap<u32, String>,
    /// The world, for those who begin in it.
    worlds: Worlds,
    /// Why nobody was found the last time.
    nobody: Option<String>,
    /// Those of them who have been seen alive.
    came: BTreeSet<u32>,
    /// When to look for somebody again, when too few are there.
    look_again: Instant,
    epoch: Option<Epoch>,
    epochs: u32,
    margins: Option<Margins>,
    safe: Option<Safe>,
    vault: Vault,
    /// When the plane is cut anew, because work was uneven.
    recut: Recut,
    /// Where native programs ran at the last checkpoint, and its stop.
    homes: (u64, Vec<Home>),
    /// What each body has cost.
    costs: Costs,
    /// Epochs that began because somebody was lost, since the last step that was shown.
    fruitless: u32,
    /// Told what happens on the way.
    teller: Option<Teller>,
    /// When workers were last told that they are needed although nothing is to be done.
    rested: Instant,
    status: Arc<Mutex<Status>>,
    /// What each worker did not let in, as it told last.
    refused: BTreeMap<u32, Vec<(u8, u64)>>,
    _handles: Vec<Handle>,
}

struct Epoch {
    number: u32,
    members: Vec<u32>,
    cut: Cut,
    /// The stop up to which reports were taken.
    reached: u64,
    granted: u64,
    said: Instant,
    /// What was granted to enter.
    entered: Vec<Input>,
    divided: bool,
    /// What those are to begin with who have not said that they have begun.
    begins: BTreeMap<u32, Vec<u8>>,
    /// Reports of a step that is not shown yet, because what it depends on is not safe.
    pending: Option<Vec<(u32, Report)>>,
    /// The stop it began from.
    begun: u64,
    apart: Apart,
    /// By worker: microseconds at work since the last checkpoint.
    work: BTreeMap<u32, u64>,
}

impl Keeper {
    /// Keeps a run on this fabric; `staff` finds workers when they are needed.
    ///
    /// # Errors
    /// When the fabric is lost.
    pub fn new(
        fabric: Arc<dyn Fabric>,
        run: impl Into<RunKey>,
        plan: Plan,
        staff: Box<dyn Staff>,
    ) -> Result<Keeper, Lost> {
        let key = run.into();
        let (run, door) = (key.number, Arc::new(Door::new(key.clone())));
        let (tell, notices) = channel();
        let opens = Arc::clone(&door);
        let ear = fabric.listen(
            &format!("swarm/run/{run}/workers/notice/*"),
            Box::new(move |heard| {
                let Some(signed) = opens.open::<Signed>(heard.key, heard.bytes) else { return };
                let came_from = number_of(heard.key).unwrap_or(u32::MAX);
                if signed.worker != came_from {
                    return opens.refuse(Refused::Forged { says: signed.worker, came_from });
                }
                // Nobody is left to tell when the keeper has ended.
                let _ = tell.send(signed);
            }),
        )?;
        let alive = Arc::new(Mutex::new(BTreeSet::new()));
        let seen = Arc::clone(&alive);
        let watch = fabric.watch(
            &format!("swarm/run/{run}/live/*"),
            Box::new(move |key, is_alive| {
                let Some(number) = number_of(key) else { return };
                let mut alive: std::sync::MutexGuard<'_, BTreeSet<u32>> =
                    seen.lock().unwrap_or_else(PoisonError::into_inner);
                if is_alive {
                    alive.insert(number)
                } else {
                    alive.remove(&number)
                };
            }),
        )?;
        let mut patience =
            Patience { ask_after: Duration::from_millis(15), give_up: LOOK, ..Patience::default() };
        if plan.ahead > 0 {
            // Workers go on meanwhile, and need the processor more.
            (patience.watch, patience.ask_after) = (Duration::ZERO, UNHURRIED);
        }
        let inbox = Inbox::open(Arc::clone(&fabric), key, 0, KEEPER, &[], patience)?;
        let vault = Vault::new(plan.save.clone());
        let worlds = Worlds::open(&*fabric, &door, run, KEEPER)?;
        Ok(Keeper {
            fabric,
            run,
            door,
            plan,
            office: Office::open(staff)?,
            inbox,
            notices,
            alive,
            next: 0,
            staffed: BTreeSet::new(),
            places: BTreeMap::new(),
            hosts: BTreeMap::new(),
            worlds,
            nobody: None,
            came: BTreeSet::new(),
            look_again: Instant::now(),
            epoch: None,
            epochs: 0,
            margins: None,
            safe: None,
            vault,
            recut: Recut::default(),
            homes: (0, Vec::new()),
            costs: Costs::default(),
            fruitless: 0,
            teller: None,
            rested: Instant::now(),
            status: Arc::default(),
            refused: BTreeMap::new(),
            _handles: vec![ear, watch],
        })
    }

    /// How the run is spread, for whoever wants to know while it goes on.
    #[must_use]
    pub fn status(&self) -> Arc<Mutex<Status>> {
        Arc::clone(&self.status)
    }

    /// Tells what happens on the way, one line each: who is lost, and which epochs begin.
    pub fn on_news(&mut self, teller: Teller) {
        self.teller = Some(teller);
    }

    fn alive(&self) -> BTreeSet<u32> {
        self.alive.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note(&self, change: impl FnOnce(&mut Status)) {
        change(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Those who are alive and belong to the run.
    fn present(&self) -> BTreeSet<u32> {
        self.alive().intersection(&self.staffed).copied().collect()
    }

    /// Begins an epoch with these workers from the last checkpoint.
    fn begin(&mut self, members: Vec<u32>, run: &Run<'_>) -> Result<(), Error> {
        let before = self.epoch.take();
        self.recut.at = None;
        let safe = self.safe.get_or_insert_with(|| Safe::of(run));
        safe.learn(run);
        let margins =
            *self.margins.get_or_insert_with(|| Margins::of(run.model, run.state, self.plan.period));
        let divided = undivided(run.model);
        let members: Vec<u32> = members.into_iter().take(useful(run.model)).collect();
        self.epochs += 1;
        let number = self.epochs;
        let stop = safe.stop();
        let grant = self.grant_from(number, stop, run);
        self.worlds.put(run.model.world, &Bundle::of(run.model, run.overrides));
        let sources: Vec<u32> = members.iter().map(|member| self.source(*member, &members)).collect();
        let safe = self.safe.get_or_insert_with(|| Safe::of(run));
        self.costs.name(run.model);
        if let Some(placement) = self.plan.placement.take() {
            let placed = safe.weigh(run.model, &placement);
            self.status.lock().unwrap_or_else(PoisonError::into_inner).placed = Some(placed);
        }
        let goes_on = before.is_some_and(|e| e.stands_at(stop, &members)) && self.homes.0 == stop;
        let homes = goes_on.then(|| self.homes.1.clone());
        let (cut, nowhere) = self.cut(&members, run.model);
        let safe = self.safe.get_or_insert_with(|| Safe::of(run));
        let tasks = safe.deal(&cut, &margins);
        let mut begins = BTreeMap::new();
        for ((member, source), task) in members.iter().zip(sources).zip(tasks) {
            let begin = Begin {
                epoch: number,
                members: members.clone(),
                hash: run.model.world,
                source,
                cut: cut.clone(),
                margins,
                task,
                code: safe.code().to_vec(),
                homes: homes.clone(),
                grant: grant.clone(),
            };
            begins.insert(*member, write(&Order::Begin(Box::new(begin))));
        }
        if let Some(longest) = begins.values().map(Vec::len).max().filter(|n| *n + SEALED > MOST_BYTES) {
            return Err(Error::System(too_long(longest, members.len())));
        }
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
            pending: None,
            apart: Apart::new(self.plan.lease),
            work: BTreeMap::new(),
        });
        Ok(())
    }

    fn say(&self, member: u32, order: &[u8]) -> Result<(), Error> {
        let key = order_key(self.run, member);
        let put = self.fabric.put(&key, &self.door.seal_answer(&key, &[], order), Care::Block);
        put.map_err(|e| Error::System(e.to_string()))
    }

    /// How far workers may go, and what enters from `from` on.
    fn grant_from(&self, epoch: u32, from: u64, run: &Run<'_>) -> Grant {
        let until = run.state.stops + 1 + self.plan.ahead;
        // Where the plane is cut anew everybody waits, so that nothing has to be taken back.
        let until = self.recut.at.map_or(until, |at| until.min(at));
        let seen = run.seen(from);
        let journal = seen.as_ref().unwrap_or(run.journal);
        let inputs = journal.since(from).iter().take_while(|i| i.stop < until).cloned().collect();
        let judged = !run.model.asserts.is_empty();
        let show_every = if judged { 1 } else { self.plan.show_every };
        Grant { epoch, until, from, inputs, show_every, keep_every: self.plan.keep_every }
    }

    /// Looks after the workers: begins a new epoch when something is wrong with this one.
    fn tend(&mut self, run: &Run<'_>) -> Result<(), Error> {
        // Who has no part in this epoch would hear nothing otherwise, and leave.
        self.rest();
        self.learn();
        let Some(epoch) = &self.epoch else {
            let members = self.assemble()?;
            return self.begin(members, run);
        };
        let present = self.present();
        self.came.extend(epoch.members.iter().chain(&present));
        let mut lost: Vec<u32> = self.came.difference(&present).copied().collect();
        let mut again = false;
        let mut failed = Vec::new();
        while let Ok(signed) = self.notices.try_recv() {
            let Some(epoch) = self.epoch.as_mut().filter(|e| e.number == signed.epoch) else { continue };
            if !epoch.members.contains(&signed.worker) {
                self.door.refuse(Refused::UnknownSender(signed.worker));
                continue;
            }
            match signed.notice {
                Notice::Ready => drop(epoch.begins.remove(&signed.worker)),
                Notice::Blocked { .. } => {}
                Notice::Misses { number, who } => {
                    epoch.apart.misses(signed.worker, number, who, Instant::now());
                }
                Notice::Farther => {
                    self.margins = self.margins.map(|m| m.wider());
                    again = true;
                }
                Notice::Failed(why) => failed.push((signed.worker, why)),
            }
        }
        lost.extend(self.unable(failed)?);
        if let Some(worker) = self.epoch.as_ref().and_then(|e| e.apart.worst(Instant::now())) {
            // Whoever came instead might not hear the others either: the run goes on with one fewer.
            self.plan.workers = self.plan.workers.saturating_sub(1).max(1);
            self.note(|status| status.apart.push(worker));
            self.tell(&format!("worker {worker} and another do not hear each other: it is given up"));
            lost.push(worker);
        }
        lost.sort_unstable();
        lost.dedup();
        again |= self.give_up(&lost, run)?;
        if !lost.is_empty() || Instant::now() > self.look_again {
            // Somebody else comes when there is somebody, and joins at a checkpoint; meanwhile the others go on.
            self.hire();
            self.fence_off();
        }
        let present = self.present();
        let joined = !again && self.is_near(run.state.stops) && self.somebody_joined(&present, run.model);
        let recut =
            self.recut.at.take_if(|at| *at <= run.state.stops).is_some() && self.is_near(run.state.stops);
        if again || joined || recut {
            let members: Vec<u32> = present.into_iter().collect();
            let members = if members.is_empty() { self.assemble()? } else { members };
            self.begin(members, run)?;
            let why = match (again, joined) {
                (true, _) if lost.is_empty() => "a body went farther than was reckoned",
                (true, _) => "of that loss",
                (false, true) => "somebody joined",
                (false, false) => "work was uneven",
            };
            self.tell_epoch(why);
        }
        Ok(())
    }

    /// Whether there is somebody to work who has no part yet.
    fn somebody_joined(&self, alive: &BTreeSet<u32>, model: &Model) -> bool {
        let Some(epoch) = &self.epoch else { return false };
        let wanted = useful(model).min(self.plan.workers as usize);
        epoch.members.len() < wanted && alive.iter().any(|n| !epoch.members.contains(n))
    }

    /// Says again what may not have been heard.
    fn repeat(&mut self, run: &Run<'_>) -> Result<(), Error> {
        let Some(epoch) = &self.epoch else { return Ok(()) };
        if epoch.said.elapsed() < SAY_AGAIN {
            return Ok(());
        }
        let grant = self.grant_from(epoch.number, run.state.stops.min(epoch.reached), run);
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
    fn grant(&mut self, run: &Run<'_>) -> Result<(), Error> {
        let Some(epoch) = &self.epoch else { return Ok(()) };
        let (number, granted, now) = (epoch.number, epoch.granted, run.state.stops);
        let open = |i: &&Input| (now..granted).contains(&i.stop);
        let seen = run.seen(now);
        let entering = seen.as_ref().unwrap_or(run.journal).since(now).iter().filter(open);
        if !entering.eq(epoch.entered.iter().filter(open)) {
            // They may have gone on without it.
            return self.begin(epoch.members.clone(), run);
        }
        if granted > now + self.plan.ahead / 2 || self.recut.at == Some(granted) {
            return Ok(());
        }
        let grant = self.grant_from(number, now, run);
        let order = write(&Order::Grant(grant.clone()));
        for member in &epoch.members {
            self.say(*member, &order)?;
        }
        if let Some(epoch) = &mut self.epoch {
            (epoch.granted, epoch.entered, epoch.said) = (grant.until, grant.inputs, Instant::now());
        }
        Ok(())
    }

    /// The reports of the next stop, when all are there.
    fn reports(&mut self) -> Result<Option<Vec<(u32, Report)>>, Error> {
        let Some(epoch) = &mut self.epoch else { return Ok(None) };
        if let Some(reports) = epoch.pending.take() {
            return Ok(Some(reports));
        }
        let next = epoch.reached + 1;
        if next > epoch.granted {
            return Ok(None);
        }
        let all = match self.inbox.wait(next, &epoch.members) {
            Ok(all) => all,
            Err(Unmet::Missing { .. } | Unmet::NewEpoch(_)) => return Ok(None),
        };
        epoch.reached = next;
        // Who has reported has begun.
        epoch.begins.clear();
        let mut reports = Vec::with_capacity(all.len());
        for (worker, bytes) in all {
            let report: Report =
                read(&bytes).ok_or_else(|| Error::System(format!("worker {worker} sent no report")))?;
            let load = report.load;
            if report.holds {
                self.vault.enable(worker);
            }
            self.refused.insert(worker, report.refused.clone());
            *epoch.work.entry(worker).or_default() += u64::from(load.work_us);
            // Of those who all do the same, one is measured.
            if epoch.divided || epoch.members.first() == Some(&worker) {
                self.costs.add(worker, &report.spent);
            }
            let mut status = self.status.lock().unwrap_or_else(PoisonError::into_inner);
            status.add(worker, load, &report.links);
            ElsewhereFigures::add(&mut status.statistics.elsewhere, &report.elsewhere);
            drop(status);
            reports.push((worker, report));
        }
        Ok(Some(reports))
    }

    /// Makes a step of the reports. `None` when it was one that had been taken before.
    fn put_together(
        &mut self,
        reports: Vec<(u32, Report)>,
        run: &mut Run<'_>,
    ) -> Result<Option<Frame>, Error> {
        let Some(epoch) = &self.epoch else { return Ok(None) };
        let (reached, divided) = (epoch.reached, epoch.divided);
        let Some(safe) = &mut self.safe else { return Ok(None) };
        if reached <= run.state.stops {
            // It has been shown already; it must come out as it did.
            self.status.lock().unwrap_or_else(PoisonError::into_inner).statistics.again += 1;
            let hash = match divided {
                true => reports.iter().fold(0_u64, |sum, r| sum.wrapping_add(items(&r.1))),
                false => reports.first().map_or(0, |r| items(&r.1)),
            };
            return if safe.agrees(reached, hash) {
                Ok(None)
            } else {
                Err(Error::System(format!("step {reached} came out differently when it was taken again")))
            };
        }
        let mut decided: Vec<InputKind> = Vec::new();
        let (mut parts, mut bodies, mut whole) = (Vec::new(), Some(Vec::new()), None);
        let keep = reached.is_multiple_of(self.plan.keep_every);
        let mut homes = Vec::new();
        for (_, report) in reports {
            decided.extend(report.inputs);
            homes.extend(report.homes);
            match report.done {
                Done::Part(part, own) => {
                    parts.push(part);
                    bodies = bodies.zip(own).map(|(mut all, own)| {
                        all.extend(own);
                        all
                    });
                }
                Done::Whole(frame, bytes) => match &whole {
                    None => whole = Some((frame, bytes)),
                    Some((first, _)) if first.hash != frame.hash => {
                        return Err(Error::System(format!(
                            "step {reached} came out differently on two workers: one of their machines is faulty"
                        )));
                    }
                    Some(_) => {}
                },
            }
        }
        for kind in decided {
            run.journal.push(run.state.stops, kind);
        }
        if let Some((frame, bytes)) = whole {
            safe.took(reached, frame.hash);
            if let Some(bytes) = bytes {
                safe.take_whole(run, bytes, keep).map_err(Error::System)?;
                if keep {
                    self.measure();
                    self.save(run)?;
                }
            }
            (run.state.stops, run.state.now) = (frame.stops, frame.now);
            return Ok(Some(frame));
        }
        safe.took(reached, parts.iter().fold(0_u64, |sum, p: &Part| sum.wrapping_add(p.items)));
        let seen = run.seen(run.state.stops);
        let mut together = Whole { model: run.model, state: run.state };
        let journal = seen.as_ref().unwrap_or(run.journal);
        let frame = together.step(parts, bodies.as_deref(), journal).map_err(Error::System)?;
        if let Some(bodies) = bodies.filter(|_| keep) {
            safe.take(run, bodies, &self.costs.weigh());
            self.homes = (reached, homes);
            self.at_checkpoint(run.model);
            self.save(run)?;
        }
        Ok(Some(frame))
    }
}

impl Epoch {
    /// Whether all its workers are among these, and wait at this stop.
    fn stands_at(&self, stop: u64, members: &[u32]) -> bool {
        let is_there = self.divided && (self.granted, self.reached) == (stop, stop);
        is_there && self.members.iter().all(|m| members.contains(m))
    }
}

impl Keeper {
    /// What was not let in: here, and by workers as far as they have told.
    fn refusals(&self) -> Refusals {
        let mut all = self.inbox.refusals();
        all.add(&self.door.refusals().since(&Refusals::default()));
        self.refused.values().for_each(|told| all.add(told));
        all.add(&self.fabric.traffic().refused.since(&Refusals::default()));
        all
    }

    /// Writes down what bodies have cost, and begins to count anew who works how much.
    fn measure(&mut self) {
        if let Some(epoch) = &mut self.epoch {
            epoch.work.clear();
        }
        self.costs.write(&mut self.status.lock().unwrap_or_else(PoisonError::into_inner).statistics.robots);
    }
}

/// What a report adds to the hash of its step.
fn items(report: &Report) -> u64 {
    match &report.done {
        Done::Part(part, _) => part.items,
        Done::Whole(frame, _) => frame.hash,
    }
}

impl Crowd for Keeper {
    fn step(&mut self, mut run: Run<'_>) -> Result<Progress, Error> {
        let seen = run.seen(run.state.stops);
        let missing = awaited(run.model, run.state, seen.as_ref().unwrap_or(run.journal));
        if !missing.is_empty() {
            return Ok(Progress::Blocked(missing));
        }
        if self.safe.as_mut().is_some_and(|safe| safe.learn(&run)) {
            // Workers get code when they begin.
            if let Some(members) = self.epoch.as_ref().map(|epoch| epoch.members.clone()) {
                self.begin(members, &run)?;
            }
        }
        self.tend(&run)?;
        self.grant(&run)?;
        let until = Instant::now() + 4 * LOOK;
        loop {
            match self.reports()? {
                Some(reports) if !self.is_kept(&reports, &run)? => {
                    if let Some(epoch) = &mut self.epoch {
                        epoch.pending = Some(reports);
                    }
                    self.tend(&run)?;
                }
                Some(reports) => {
                    if let Some(frame) = self.put_together(reports, &mut run)? {
                        self.fruitless = 0;
                        let (traffic, refused) = (self.fabric.traffic(), self.refusals());
                        let worlds = self.worlds.given();
                        self.note(|s| (s.traffic, s.refused, s.worlds) = (traffic, refused, worlds));
                        return Ok(Progress::Done(frame));
                    }
                }
                None => {
                    self.tend(&run)?;
                    self.repeat(&run)?;
                }
            }
            if Instant::now() > until {
                return Ok(Progress::Pending);
            }
        }
    }

    fn gather(&mut self, run: Run<'_>) -> Result<(), Error> {
        let Some(safe) = &self.safe else { return Ok(()) };
        let (state, minds): (State, _) = safe.at(&run).map_err(Error::System)?;
        (*run.state, *run.minds) = (state, minds);
        Ok(())
    }

    fn is_near(&self, stop: u64) -> bool {
        self.safe.as_ref().is_none_or(|safe| safe.stop() == stop)
    }

    fn reset(&mut self) {
        self.measure();
        self.vault.outdate();
        (self.epoch, self.safe, self.margins) = (None, None, None);
    }

    fn anew(&mut self) {
        self.reset();
        self.costs = Costs::default();
        self.note(Status::count_anew);
    }

    fn rest(&mut self) {
        if self.rested.elapsed() < REST {
            return;
        }
        self.rested = Instant::now();
        // A grant of no epoch changes nothing for who hears it.
        let grant = Grant { epoch: 0, until: 0, from: 0, inputs: Vec::new(), show_every: 0, keep_every: 0 };
        let order = write(&Order::Grant(grant));
        for worker in self.present() {
            // Who is lost is missed at the next step.
            let _ = self.say(worker, &order);
        }
    }

    fn statistics(&self) -> Statistics {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).statistics.clone()
    }

    fn finish(&mut self) {
        self.measure();
        self.keep_nothing();
        let order = write(&Order::End);
        for number in self.alive() {
            // Who is gone needs no telling.
            let _ = self.say(number, &order);
        }
        let since = Instant::now();
        while !self.alive().is_empty() && since.elapsed() < FAREWELL {
            std::thread::sleep(Duration::from_millis(2));
        }
        for number in std::mem::take(&mut self.staffed) {
            self.office.dismiss(number);
        }
        // Whoever is just being hired ends with the staff, at the latest with this process.
        self.office.close(FAREWELL);
    }
}

/// How many workers a world has a use for.
fn useful(model: &Model) -> usize {
    match undivided(model) {
        None => usize::MAX,
        Some(_) if model.asks_outside() => 1,
        // One does the work; another does the same, in case the first is lost.
        Some(_) => 2,
    }
}

/// The worker that a key is about.
/// Why bodies cannot be dealt out: one worker's share is one message.
fn too_long(bytes: usize, workers: usize) -> String {
    let enough = workers * bytes.div_ceil(MOST_BYTES / 2);
    format!(
        "there is too much for {workers} workers: the share of one takes {bytes} bytes, and a message at most {MOST_BYTES}; `--workers {enough}` would do, or leave it out"
    )
}

fn number_of(key: &str) -> Option<u32> {
    key.rsplit('/').next().and_then(|n| n.parse().ok())
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_spreads_too_much_over_too_few_is_told_how_many_would_do() {
        // 220 000 robots of the benchmark on one worker.
        let said = too_long(85_783_567, 1);
        assert!(said.contains("too much for 1 workers") && said.contains("`--workers 3` would do"), "{said}");
    }
}
