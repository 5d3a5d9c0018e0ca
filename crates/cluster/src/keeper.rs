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
mod epoch;
mod office;
mod pace;
mod plan;
mod recut;
mod reports;
mod safe;
mod status;
mod vault;

use crate::door::Door;
use crate::message::{Grant, Home, KEEPER, Order, Signed, write};
use crate::parcel::Depot;
use crate::world::Worlds;
use costs::Costs;
use epoch::{Epoch, Now};
use office::Office;
use pace::Pace;
pub use plan::{Plan, Save, Staff};
use recut::Recut;
use safe::Safe;
pub use status::{Placed, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_engine::{Margins, Model, State, awaited, undivided};
use swarmyard_fabric::gate::{Refusals, Refused};
use swarmyard_fabric::{Fabric, Handle, Inbox, Lost, Patience, RunKey};
use swarmyard_sim::{Crowd, Error, Progress, Run, Statistics};
use vault::Vault;

/// Who is told in words what happens on the way.
pub type Teller = Box<dyn FnMut(&str) + Send>;

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
    /// What is too long for one message.
    depot: Depot,
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
    /// Where the next checkpoint is, and how far workers may be ahead.
    pace: Pace,
    /// When the reports of the last step came.
    arrived: Instant,
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
        let vault = Vault::new(plan.save.clone(), plan.lengths);
        let worlds = Worlds::open(&*fabric, &door, run, KEEPER)?;
        let depot = Depot::open(&*fabric, &door, run, KEEPER)?;
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
            depot,
            nobody: None,
            came: BTreeSet::new(),
            look_again: Instant::now(),
            epoch: None,
            epochs: 0,
            margins: None,
            safe: None,
            vault,
            pace: Pace::default(),
            arrived: Instant::now(),
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

impl Crowd for Keeper {
    fn step(&mut self, run: Run<'_>) -> Result<Progress, Error> {
        let mut now = Now::of(run, self.safe.as_ref().map(Safe::stop));
        let missing = awaited(now.run.model, now.run.state, now.journal());
        if !missing.is_empty() {
            return Ok(Progress::Blocked(missing));
        }
        if self.safe.as_mut().is_some_and(|safe| safe.learn(&now)) {
            // Workers get code when they begin.
            if let Some(members) = self.epoch.as_ref().map(|epoch| epoch.members.clone()) {
                self.begin(members, &now)?;
            }
        }
        self.tend(&now)?;
        self.grant(&now)?;
        let until = Instant::now() + 4 * LOOK;
        loop {
            match self.reports()? {
                Some(reports) if !self.is_kept(&reports, &now.run)? => {
                    if let Some(epoch) = &mut self.epoch {
                        epoch.pending = Some(reports);
                    }
                    self.tend(&now)?;
                }
                Some(reports) => {
                    if let Some(frame) = self.put_together(reports, &mut now)? {
                        self.fruitless = 0;
                        let (traffic, refused) = (self.fabric.traffic(), self.refusals());
                        let worlds = self.worlds.given();
                        self.note(|s| (s.traffic, s.refused, s.worlds) = (traffic, refused, worlds));
                        return Ok(Progress::Done(frame));
                    }
                }
                None => {
                    self.tend(&now)?;
                    self.repeat(&now)?;
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
        self.pace = Pace::default();
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
        let order = write(&Order::Grant(Grant::none()));
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
fn number_of(key: &str) -> Option<u32> {
    key.rsplit('/').next().and_then(|n| n.parse().ok())
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}
