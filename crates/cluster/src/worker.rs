//! One worker of a run: takes the steps it is granted, together with its neighbours.
//!
//! In: orders of the keeper, and what neighbours' bodies intend. Out: what its own intend, one message per
//! neighbour and quantum, and a report of every stop to the keeper. Having heard all neighbours *is* the
//! permission to go on: nobody is asked.
//!
//! What never happens: a step that depends on when something came. A worker that is told of a new epoch drops
//! what it does and begins again from what it is charged with.

use crate::bundle::{Bundle, Natives};
use crate::door::Door;
use crate::engine::{Engine, Stuck};
use crate::home::Links;
use crate::keeper::costs::Sum;
use crate::message::{
    Begin, Done, Grant, KEEPER, Lane, Load, Near, Notice, Order, Report, Sent, Signed, Task, figures_key,
    keep_key, live_key, near_key, notice_key, order_key, read, write,
};
use crate::shelf::Shelf;
use crate::staff::Figures;
use crate::world::{Worlds, fetch};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_engine::{Area, Gesture, Input, InputKind, Intent, Part, Paths, Settled, Share, Spent};
use swarmyard_fabric::gate::Refusals;
use swarmyard_fabric::{Care, Fabric, Handle, Inbox, Lost, Outbox, Patience, RunKey, Unmet};
use swarmyard_sim::{LinkFigures, RobotFigures, WorkerFigures};

/// How a worker is set up.
pub struct Setup {
    /// How it hears the others.
    pub fabric: Arc<dyn Fabric>,
    /// The run, and what only its members know.
    pub run: RunKey,
    /// Its number in the run.
    pub me: u32,
    /// Threads it may use.
    pub threads: usize,
    /// How long it works on without hearing from the keeper, when it has nothing to do.
    pub patience: Duration,
    /// The folder in which it keeps the last checkpoint of the run and what entered since, in case the keeper is lost.
    pub hold: Option<PathBuf>,
    /// What native programs may do here.
    pub natives: Natives,
}

/// Why a worker has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The run is over.
    Over,
    /// It was told to.
    Told,
    /// The keeper has not been heard of for too long; where the last checkpoint is, when it was given one.
    Alone(Option<PathBuf>),
}

/// How long one wait lasts before orders are looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How long a neighbour may take to answer, on a busy machine.
const ANSWER: Duration = Duration::from_millis(500);
/// How long one on the same machine is asked for a world before the keeper is.
const FELLOW: Duration = Duration::from_secs(3);
/// How long a world may take to come.
const LONGEST: Duration = Duration::from_secs(120);
/// Robots that are named to who asks what a worker does: the heaviest.
const HEAVIEST: usize = 10;
/// When to ask a neighbour again.
const ASK_AFTER: Duration = Duration::from_millis(60);
/// Stops of which it is remembered what bodies intended where all are neighbours: these are at most one apart.
const REMEMBERED: usize = 8;

/// What own bodies intended at the last stops: (epoch, stop, intents).
type Told = Arc<Mutex<VecDeque<(u32, u64, Vec<Intent>)>>>;

/// Why the present work was left.
enum Left {
    /// There is a new order.
    Order,
    /// The fabric is gone.
    Lost(Lost),
    /// It cannot do its part.
    Failed(String),
    /// A body went farther than the margins say.
    Farther,
}

impl From<Lost> for Left {
    fn from(lost: Lost) -> Left {
        Left::Lost(lost)
    }
}

struct Worker<'a> {
    setup: &'a Setup,
    stop: &'a AtomicBool,
    orders: Receiver<Order>,
    /// The order that is to be followed next.
    next: Option<Order>,
    inbox: Inbox,
    outbox: Outbox,
    told: Told,
    door: Arc<Door>,
    /// The last world it was in, by hash; and the same for others who are to begin in it.
    world: Option<(u64, Bundle)>,
    worlds: Worlds,
    /// The last epoch that it has begun.
    begun: u32,
    /// What it said last when it could not go on with an epoch: that may have been lost.
    left: Option<(u32, Notice)>,
    /// To programs whose robots are here, and from those that have gone.
    links: Links,
    heard: Instant,
    /// When it was last said who is missing.
    missed: Instant,
    /// Where it keeps what outlives the keeper.
    shelf: Option<Arc<Mutex<Shelf>>>,
    /// How often something had been asked for again at the last report.
    asked: u64,
    /// What it has done so far, for who asks.
    figures: Arc<Mutex<Figures>>,
    /// What bodies cost since it began, by number.
    costs: Vec<Sum>,
    _handles: Vec<Handle>,
}

/// An epoch in which a worker has a part.
struct Epoch {
    begin: Begin,
    /// Its place in the cut.
    place: u32,
    engine: Engine,
    grant: Grant,
    /// What enters at stops to come.
    inputs: BTreeMap<u64, Vec<InputKind>>,
    neighbours: Vec<u32>,
    /// Stops of which it is remembered what bodies intended.
    remembers: usize,
    regions: Vec<Area>,
    /// What was sent since the last report, by place.
    sent: Vec<Sent>,
    /// What bodies cost since that was told, by number: sum, quanta.
    spent: Vec<(Spent, u32)>,
    /// Whether that was ever told.
    is_told: bool,
}

/// Works for a run until it is over, or `stop` is set.
///
/// # Errors
/// When the fabric is lost.
pub fn work(setup: &Setup, stop: &AtomicBool) -> Result<Ended, Lost> {
    let (fabric, run, me) = (&setup.fabric, setup.run.number, setup.me);
    let (tell, orders) = channel();
    let door = Arc::new(Door::new(setup.run.clone()));
    let opens = Arc::clone(&door);
    let ear = fabric.listen(
        &order_key(run, me),
        Box::new(move |heard| {
            // Nobody is left to tell when the worker has ended.
            let _ = opens.open::<Order>(heard.key, heard.bytes).map(|order| tell.send(order));
        }),
    )?;
    let worlds = Worlds::open(&**fabric, &door, run, me)?;
    let told = Told::default();
    let remembered = Arc::clone(&told);
    let near =
        fabric.answer(&near_key(run, me), door.replier(move |question| near(&remembered, question)))?;
    let patience = Patience { ask_after: ASK_AFTER, give_up: LOOK, ..Patience::default() };
    let inbox = Inbox::open(Arc::clone(fabric), setup.run.clone(), 0, me, &[], patience)?;
    let outbox = Outbox::open(Arc::clone(fabric), setup.run.clone(), 0, me, 70)?;
    let figures = WorkerFigures { worker: me, ..WorkerFigures::default() };
    let figures = Arc::new(Mutex::new(Figures { worker: figures, ..Figures::default() }));
    let told_of = Arc::clone(&figures);
    let tell = move |_: &str, _: &[u8]| Some(write(&*told_of.lock().unwrap_or_else(PoisonError::into_inner)));
    let says = fabric.answer(&figures_key(run, me), Box::new(tell))?;
    let shelf = setup
        .hold
        .as_ref()
        .map(|folder| Arc::new(Mutex::new(Shelf::new(folder.join(format!("run-{run:016x}.checkpoint"))))));
    let mut handles = vec![ear, near, says];
    if let Some(shelf) = &shelf {
        let shelf = Arc::clone(shelf);
        let keep = move |question: &[u8]| {
            let keep = read(question)?;
            Some(write(&shelf.lock().unwrap_or_else(PoisonError::into_inner).serve(keep)))
        };
        handles.push(fabric.answer(&keep_key(run, me), door.replier(keep))?);
    }
    handles.push(fabric.live(&live_key(run, me))?);
    let heard = Instant::now();
    let mut worker = Worker {
        setup,
        stop,
        orders,
        next: None,
        inbox,
        outbox,
        told,
        world: None,
        worlds,
        begun: 0,
        left: None,
        links: Links::new(Arc::clone(fabric), Arc::clone(&door), run, me),
        door,
        heard,
        missed: heard,
        shelf,
        asked: 0,
        figures,
        costs: Vec::new(),
        _handles: handles,
    };
    worker.run()
}

/// What own bodies in an area intended at a stop; nothing when they have not decided yet.
fn near(told: &Told, question: &[u8]) -> Option<Vec<u8>> {
    let Near { epoch, stop, area } = read(question)?;
    let told = told.lock().unwrap_or_else(PoisonError::into_inner);
    let (.., intents) = told.iter().rev().find(|t| (t.0, t.1) == (epoch, stop))?;
    Some(write(&within(intents, &area)))
}

fn within(intents: &[Intent], area: &Area) -> Vec<Intent> {
    intents.iter().filter(|i| area.contains(i.segment.pose.at)).copied().collect()
}

impl Worker<'_> {
    fn run(&mut self) -> Result<Ended, Lost> {
        let mut epoch: Option<Epoch> = None;
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(Ended::Told);
            }
            match self.order(epoch.as_ref()) {
                Some(Order::End) => return Ok(Ended::Over),
                Some(Order::Begin(begin)) if begin.epoch <= self.begun => {
                    // It was said again: what was said to that may have been lost.
                    let is_present = epoch.as_ref().is_some_and(|e| e.begin.epoch == begin.epoch);
                    if is_present {
                        self.notice(begin.epoch, Notice::Ready)?;
                    }
                }
                Some(Order::Begin(begin)) => {
                    let number = begin.epoch;
                    match self.begin(*begin, epoch.take().map(|e| e.engine)) {
                        Ok(begun) => {
                            epoch = Some(begun);
                            self.begun = number;
                            self.notice(number, Notice::Ready)?;
                        }
                        Err(Left::Failed(why)) => self.notice(number, Notice::Failed(why))?,
                        Err(Left::Lost(lost)) => return Err(lost),
                        Err(Left::Order | Left::Farther) => {}
                    }
                }
                Some(Order::Grant(grant)) => {
                    if let Some(epoch) = epoch.as_mut().filter(|e| e.begin.epoch == grant.epoch) {
                        epoch.take(grant);
                    } else if let Some((_, notice)) = self.left.as_ref().filter(|l| l.0 == grant.epoch) {
                        self.notice(grant.epoch, notice.clone())?;
                    }
                }
                None if self.heard.elapsed() > self.setup.patience => {
                    return Ok(Ended::Alone(self.kept()));
                }
                None => {}
            }
            let Some(now) = &mut epoch else { continue };
            if now.engine.stops() >= now.grant.until {
                continue;
            }
            let number = now.begin.epoch;
            match self.step(now) {
                Ok(()) | Err(Left::Order) => {}
                Err(Left::Lost(lost)) => return Err(lost),
                Err(Left::Farther) => {
                    self.leave(number, Notice::Farther)?;
                    epoch = None;
                }
                Err(Left::Failed(why)) => {
                    self.leave(number, Notice::Failed(why))?;
                    epoch = None;
                }
            }
        }
    }

    /// The next order, when there is one; waits for it when there is nothing else to do.
    fn order(&mut self, epoch: Option<&Epoch>) -> Option<Order> {
        if let Some(order) = self.next.take() {
            return Some(order);
        }
        let busy = epoch.is_some_and(|e| e.engine.stops() < e.grant.until);
        let got = match (busy, self.orders.try_recv()) {
            (_, Ok(order)) => Some(order),
            (true, Err(_)) => None,
            (false, Err(_)) => self.orders.recv_timeout(LOOK).ok(),
        };
        if got.is_some() {
            self.heard = Instant::now();
        }
        got
    }

    /// Where the last checkpoint and what entered since are, when it was given them.
    fn kept(&self) -> Option<PathBuf> {
        let shelf = self.shelf.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        shelf.kept().map(PathBuf::from)
    }

    /// Leaves the present work when there is an order that ends it; others are followed on the way.
    fn look(&mut self, epoch: &mut Epoch) -> Result<(), Left> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Left::Order);
        }
        while let Ok(order) = self.orders.try_recv() {
            self.heard = Instant::now();
            match order {
                Order::Grant(grant) if grant.epoch == epoch.begin.epoch => epoch.take(grant),
                Order::Grant(_) => {}
                Order::Begin(begin) if begin.epoch <= epoch.begin.epoch => {}
                order => {
                    self.next = Some(order);
                    return Err(Left::Order);
                }
            }
        }
        if self.heard.elapsed() > self.setup.patience {
            return Err(Left::Order);
        }
        Ok(())
    }

    fn begin(&mut self, begin: Begin, before: Option<Engine>) -> Result<Epoch, Left> {
        let wrong = |why: &str| Left::Failed(why.to_owned());
        let place = begin.members.iter().position(|m| *m == self.setup.me);
        let place = place.ok_or_else(|| wrong("this worker is not among the members of the epoch"))? as u32;
        if !begin.cut.is_sound() || begin.cut.workers() as usize != begin.members.len() {
            return Err(wrong("the cut does not fit the members"));
        }
        self.get_world(&begin)?;
        let regions = begin.cut.regions();
        let neighbours = neighbours(&begin, &regions, place);
        let known = |p: &u32| begin.margins.known(&regions[*p as usize], 0);
        let borders = neighbours.iter().map(known).collect();
        let Setup { threads, natives, me, .. } = self.setup;
        let world = self.world.as_ref().map(|w| &w.1).ok_or_else(|| wrong("there is no world"))?;
        let (engine, goes_on) = match (before, &begin.task) {
            (Some(Engine::Share(old)), Task::Share(charge)) if old.share.model().world == begin.hash => {
                Engine::anew(old, (&begin, charge), borders, (*me, &self.links.lodgings))
            }
            _ => Engine::new((&begin, world), borders, *threads, natives).map(|mut engine| {
                engine.find_homes(&begin, *me, &self.links.lodgings);
                (engine, false)
            }),
        }
        .map_err(Left::Failed)?;
        let others: Vec<u32> = begin.members.iter().copied().filter(|m| *m != self.setup.me).collect();
        let asks = engine.asks_outside();
        let asking = if asks { &others[..] } else { &[] };
        self.links.begin(begin.epoch, asking, goes_on)?;
        self.outbox.begin(begin.epoch);
        self.inbox.begin(begin.epoch, 2 * engine.stops(), &others);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        let grant = begin.grant.clone();
        let sent = begin.members.iter().map(|to| Sent { to: *to, ..Sent::default() }).collect();
        let remembers = remembered(neighbours.len(), others.len(), begin.margins.period);
        let mut epoch = Epoch {
            begin,
            place,
            engine,
            grant: grant.clone(),
            inputs: BTreeMap::new(),
            neighbours,
            remembers,
            regions,
            sent,
            spent: Vec::new(),
            is_told: false,
        };
        epoch.take(grant);
        Ok(epoch)
    }

    /// Gets the world of an epoch from who has it, however long that takes.
    fn get_world(&mut self, begin: &Begin) -> Result<(), Left> {
        if self.world.as_ref().is_some_and(|w| w.0 == begin.hash) {
            return Ok(());
        }
        let (run, since, mut patience) = (self.setup.run.number, Instant::now(), ANSWER);
        loop {
            // One that is on the same machine may just be getting it.
            let is_near = begin.source != KEEPER && since.elapsed() < FELLOW;
            let from = if is_near { begin.source } else { KEEPER };
            let way = (&*self.setup.fabric, &*self.door);
            if let Some(world) = fetch(way, (run, from), begin.hash, patience) {
                self.costs.clear();
                self.worlds.put(begin.hash, &world);
                self.world = Some((begin.hash, world));
                return Ok(());
            }
            while let Ok(order) = self.orders.try_recv() {
                self.heard = Instant::now();
                let is_new = matches!(&order, Order::Begin(new) if new.epoch > begin.epoch);
                if is_new || matches!(order, Order::End) {
                    self.next = Some(order);
                    return Err(Left::Order);
                }
            }
            if self.stop.load(Ordering::Relaxed) || self.heard.elapsed() > self.setup.patience {
                return Err(Left::Order);
            }
            if !is_near {
                // A long one on a slow way takes its time.
                patience = (2 * patience).min(LONGEST);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn notice(&self, epoch: u32, notice: Notice) -> Result<(), Lost> {
        let signed = Signed { epoch, worker: self.setup.me, notice };
        let key = notice_key(self.setup.run.number, self.setup.me);
        self.setup.fabric.put(&key, &self.door.seal(&key, &signed), Care::Block)
    }

    /// Says why it does not go on with an epoch.
    fn leave(&mut self, epoch: u32, notice: Notice) -> Result<(), Lost> {
        self.left = Some((epoch, notice.clone()));
        self.notice(epoch, notice)
    }

    /// What it did not let in so far.
    fn refusals(&self) -> Refusals {
        let mut all = self.inbox.refusals();
        all.add(&self.door.refusals().since(&Refusals::default()));
        all.add(&self.setup.fabric.traffic().refused.since(&Refusals::default()));
        all
    }

    /// Tells the keeper who is waited for in vain, ten times a second at most.
    fn misses(&mut self, epoch: &Epoch, number: u64, who: Vec<u32>) -> Result<(), Lost> {
        if self.missed.elapsed() < LOOK {
            return Ok(());
        }
        self.missed = Instant::now();
        self.notice(epoch.begin.epoch, Notice::Misses { number, who })
    }

    /// Takes one step.
    fn step(&mut self, epoch: &mut Epoch) -> Result<(), Left> {
        let began = Instant::now();
        let stop = epoch.engine.stops();
        let mut load = Load::default();
        let mut decided = Vec::new();
        let mut waited = Duration::ZERO;
        let done = loop {
            self.look(epoch)?;
            let mut inputs = epoch.inputs.get(&stop).cloned().unwrap_or_default();
            inputs.extend(decided.iter().cloned());
            match epoch.engine.begin_step(&inputs, epoch.begin.epoch, &self.links) {
                Ok(done) => break done,
                Err(Stuck::Came(came)) => decided.extend(came),
                Err(Stuck::AtWork(silent)) if silent.is_empty() => {}
                // It has sent everything up to this stop, and nothing of it.
                Err(Stuck::AtWork(silent)) => self.misses(epoch, 2 * stop, silent)?,
                Err(Stuck::Waits(robots)) => {
                    self.notice(epoch.begin.epoch, Notice::Blocked { stop, robots })?;
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        };
        let (shown, kept) =
            (is_due(epoch.grant.show_every, stop + 1), is_due(epoch.grant.keep_every, stop + 1));
        let done = match done {
            Some(frame) => {
                let bytes = (shown || kept).then(|| epoch.engine.snapshot());
                Done::Whole(frame, bytes)
            }
            None => {
                let part = self.settle(epoch, stop, &mut load, &mut waited)?;
                let Engine::Share(engine) = &mut epoch.engine else {
                    return Err(Left::Failed("a whole world has no parts".to_owned()));
                };
                let asking = std::mem::take(&mut engine.asking);
                (load.from_home, load.home_us) = (asking.decided, micros(asking.took));
                waited += asking.waited;
                let bodies = (shown || kept).then(|| engine.share.parcels(kept));
                (load.own, load.ghosts) = (engine.share.own().len() as u32, engine.share.ghosts() as u32);
                Done::Part(part, bodies)
            }
        };
        load.wait_us = micros(waited);
        load.work_us = micros(began.elapsed().saturating_sub(waited));
        let asked = self.inbox.asked().0;
        load.asked = u32::try_from(asked - self.asked).unwrap_or(u32::MAX);
        self.asked = asked;
        let links = epoch.take_sent();
        {
            let mut figures = self.figures.lock().unwrap_or_else(PoisonError::into_inner);
            add(&mut figures.worker, load, &links);
            links.iter().for_each(|sent| add_link(&mut figures.links, self.setup.me, sent));
        }
        let (elsewhere, spent) = (self.setup.natives.cost(), epoch.take_spent(kept));
        self.weigh(&spent, epoch.engine.paths());
        let refused = self.refusals().since(&Refusals::default());
        let holds = self.shelf.is_some();
        let homes = if kept { epoch.engine.homes(self.setup.me) } else { Vec::new() };
        let report = Report { done, inputs: decided, load, links, elsewhere, homes, spent, refused, holds };
        self.outbox.send(KEEPER, stop + 1, &write(&report))?;
        epoch.inputs = epoch.inputs.split_off(&(stop + 1));
        if matches!(epoch.engine, Engine::Share(_)) && is_due(epoch.begin.margins.period, stop + 1) {
            self.change_hands(epoch)?;
        }
        Ok(())
    }

    /// Takes note of what bodies cost, for who asks.
    fn weigh(&mut self, spent: &[(u32, Spent, u32)], paths: &Paths) {
        if spent.is_empty() {
            return;
        }
        self.costs.resize(self.costs.len().max(paths.len()), Sum::default());
        for (body, spent, quanta) in spent {
            if let Some(sum) = self.costs.get_mut(*body as usize) {
                sum.add(*spent, *quanta);
            }
        }
        let heaviest = Sum::heaviest(&self.costs, HEAVIEST).into_iter().filter_map(|(body, sum)| {
            let path = paths.iter().nth(body)?.to_owned();
            let mut robot = RobotFigures { path, worker: self.setup.me, ..RobotFigures::default() };
            sum.write(&mut robot);
            Some(robot)
        });
        let heaviest = heaviest.collect();
        self.figures.lock().unwrap_or_else(PoisonError::into_inner).heaviest = heaviest;
    }

    /// Tells neighbours what own bodies intend, hears theirs, and settles.
    fn settle(
        &mut self,
        epoch: &mut Epoch,
        stop: u64,
        load: &mut Load,
        waited: &mut Duration,
    ) -> Result<Part, Left> {
        let Engine::Share(engine) = &mut epoch.engine else {
            return Err(Left::Failed("a whole world has no neighbours".to_owned()));
        };
        let margins = epoch.begin.margins;
        let near = engine.share.intents_near();
        let gestures = engine.share.gestures();
        for &place in &epoch.neighbours {
            let known = margins.known(&epoch.regions[place as usize], 0);
            let bytes = write(&Lane::Intents(within(&near, &known), gestures.clone()));
            note(&mut epoch.sent, place as usize, bytes.len());
            self.outbox.send(epoch.begin.members[place as usize], 2 * stop + 1, &bytes)?;
        }
        // While that travels, those inside decide.
        engine.share.plan_inside(&engine.pool);
        let mut all = self.no_longer_told(epoch.remembers);
        all.extend(engine.share.intents());
        for &place in &epoch.neighbours {
            let known = margins.known(&epoch.regions[place as usize], 0);
            debug_assert_eq!(
                within(&near, &known).len(),
                within(&all, &known).len(),
                "somebody was not told of"
            );
        }
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.push_back((epoch.begin.epoch, stop, all));
        drop(told);
        let from: Vec<u32> = epoch.neighbours.iter().map(|p| epoch.begin.members[*p as usize]).collect();
        let since = Instant::now();
        let (mut heard, mut gestures): (Vec<Intent>, Vec<Gesture>) = Default::default();
        for (sender, lane) in self.hear(epoch, 2 * stop + 1, &from)? {
            match lane {
                Lane::Intents(intents, hands) => {
                    heard.extend(intents);
                    gestures.extend(hands);
                }
                Lane::Hands { .. } => {
                    return Err(Left::Failed(format!("worker {sender} speaks out of turn")));
                }
            }
        }
        *waited += since.elapsed();
        let region = epoch.regions[epoch.place as usize];
        let mut widening = 0;
        loop {
            let Engine::Share(engine) = &mut epoch.engine else { return Err(Left::Order) };
            match engine.share.settle((&heard, &gestures), &region, widening, &engine.pool) {
                Settled::Done(part) => return Ok(part),
                Settled::Farther => return Err(Left::Farther),
                Settled::Unsure => {
                    widening += 1;
                    load.widened += 1;
                    let since = Instant::now();
                    heard = self.widen(epoch, stop, &margins.known(&region, widening))?;
                    *waited += since.elapsed();
                }
            }
        }
    }

    /// An empty list, where that of the oldest stop was which nobody asks about any more.
    fn no_longer_told(&self, remembers: usize) -> Vec<Intent> {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        let oldest = if told.len() >= remembers { told.pop_front() } else { None };
        let mut list = oldest.map_or_else(Vec::new, |(.., intents)| intents);
        list.clear();
        list
    }

    /// Waits for one message of each of these.
    fn hear(&mut self, epoch: &mut Epoch, number: u64, from: &[u32]) -> Result<Vec<(u32, Lane)>, Left> {
        loop {
            match self.inbox.wait(number, from) {
                Ok(all) => {
                    let lanes = all.into_iter().map(|(sender, bytes)| {
                        let lane = read(&bytes);
                        lane.map(|lane| (sender, lane))
                            .ok_or_else(|| Left::Failed(format!("what worker {sender} sent is no message")))
                    });
                    return lanes.collect();
                }
                Err(Unmet::Missing { who, .. }) => {
                    self.look(epoch)?;
                    self.misses(epoch, number, who)?;
                }
                Err(Unmet::NewEpoch(_)) => return Err(Left::Order),
            }
        }
    }

    /// Asks everybody who may have bodies in a wider area for what those intend.
    fn widen(&mut self, epoch: &mut Epoch, stop: u64, area: &Area) -> Result<Vec<Intent>, Left> {
        let question = Near { epoch: epoch.begin.epoch, stop, area: *area };
        let mut heard = Vec::new();
        for place in 0..epoch.regions.len() {
            let allowed = epoch.begin.margins.allowed(&epoch.regions[place]);
            if place == epoch.place as usize || !allowed.meets(area) {
                continue;
            }
            let key = near_key(self.setup.run.number, epoch.begin.members[place]);
            loop {
                let answer = self.door.ask(&*self.setup.fabric, &key, &question, ANSWER);
                if let Ok(Some(intents)) = answer {
                    let intents: Vec<Intent> = intents;
                    heard.extend(intents);
                    break;
                }
                // It has not decided yet, or does not hear.
                self.look(epoch)?;
                let who = vec![epoch.begin.members[place]];
                self.misses(epoch, 2 * stop + 1, who)?;
                std::thread::sleep(Duration::from_micros(500));
            }
        }
        Ok(heard)
    }

    /// Bodies that have strayed into the regions of others go there.
    fn change_hands(&mut self, epoch: &mut Epoch) -> Result<(), Left> {
        let (cut, members, me) = (&epoch.begin.cut, &epoch.begin.members, epoch.place);
        let margins = epoch.begin.margins;
        let Engine::Share(engine) = &mut epoch.engine else { return Ok(()) };
        let stop = engine.share.clock().stops;
        let mut leaving: Vec<Vec<_>> = members.iter().map(|_| Vec::new()).collect();
        for (place, parcel) in engine.share.leaving(cut, me) {
            leaving[place as usize].push(parcel);
        }
        let (own_number, lodgings) = (self.setup.me, Arc::clone(&self.links.lodgings));
        let mut others = Vec::new();
        for (place, bodies) in leaving.into_iter().enumerate().filter(|(place, _)| *place != me as usize) {
            let seen = engine.share.sightings(&margins.known(&epoch.regions[place], 0));
            // They are there for who asks before anybody can.
            let gone = bodies.iter().map(|p| p.number).collect();
            let homes = engine.let_go(&gone, own_number, &lodgings);
            let bytes = write(&Lane::Hands { bodies, seen, homes });
            note(&mut epoch.sent, place, bytes.len());
            self.outbox.send(members[place], 2 * stop, &bytes)?;
            others.push(members[place]);
        }
        let (mut come, mut come_homes) = (Vec::new(), Vec::new());
        // What own bodies that leave look like is known here.
        let mut ghosts = match &epoch.engine {
            Engine::Share(engine) => leavers(&engine.share, cut, me),
            Engine::Whole(_) => Vec::new(),
        };
        for (sender, lane) in self.hear(epoch, 2 * stop, &others)? {
            match lane {
                Lane::Hands { bodies, seen, homes } => {
                    come.extend(bodies);
                    come_homes.extend(homes);
                    ghosts.extend(seen);
                }
                Lane::Intents(..) => return Err(Left::Failed(format!("worker {sender} speaks out of turn"))),
            }
        }
        let Engine::Share(engine) = &mut epoch.engine else { return Ok(()) };
        engine.share.change_hands((&epoch.begin.cut, me), &come, &ghosts).map_err(Left::Failed)?;
        engine.welcome(&come_homes, (own_number, &epoch.begin.members), &lodgings);
        Ok(())
    }
}

/// What others will see of own bodies that leave: they are ghosts from now on.
fn leavers(share: &Share, cut: &swarmyard_engine::Cut, me: u32) -> Vec<(u32, swarmyard_engine::Sighting)> {
    let all = share.sightings(&Area::EVERYWHERE).into_iter();
    all.filter(|(number, seen)| cut.owner(*number, seen.pose.at) != me).collect()
}

/// Adds a step to what a worker has done.
pub(crate) fn add(figures: &mut WorkerFigures, load: Load, sent: &[Sent]) {
    (figures.at_work, figures.bodies, figures.ghosts) = (true, load.own, load.ghosts);
    figures.work_s += f64::from(load.work_us) * 1e-6;
    figures.wait_s += f64::from(load.wait_us) * 1e-6;
    figures.widened += u64::from(load.widened);
    figures.asked_again += u64::from(load.asked);
    figures.asked_home += u64::from(load.from_home);
    figures.home_s += f64::from(load.home_us) * 1e-6;
    figures.sent += sent.iter().map(|s| u64::from(s.bytes)).sum::<u64>();
}

/// Adds what was sent to what went from one worker to another.
pub(crate) fn add_link(links: &mut Vec<LinkFigures>, from: u32, sent: &Sent) {
    let to = sent.to;
    let k = links.partition_point(|l| (l.from, l.to) < (from, to));
    if links.get(k).is_none_or(|l| (l.from, l.to) != (from, to)) {
        links.insert(k, LinkFigures { from, to, ..LinkFigures::default() });
    }
    links[k].messages += u64::from(sent.messages);
    links[k].bytes += u64::from(sent.bytes);
}

/// Counts a message to the one at that place.
fn note(sent: &mut [Sent], place: usize, bytes: usize) {
    let sent = &mut sent[place];
    sent.messages += 1;
    sent.bytes = sent.bytes.saturating_add(u32::try_from(bytes).unwrap_or(u32::MAX));
}

fn micros(time: Duration) -> u32 {
    time.as_micros().min(u128::from(u32::MAX)) as u32
}

/// Whether something is to be done at a stop, every so many stops.
fn is_due(every: u64, stop: u64) -> bool {
    every > 0 && stop.is_multiple_of(every)
}

/// Stops of which is remembered what bodies intended. Who is no neighbour may ask when a group has grown, and is behind by as much
/// as a whole period: only when hands are changed everybody waits for everybody.
fn remembered(neighbours: usize, others: usize, period: u64) -> usize {
    let apart = if neighbours == others { 1 } else { usize::try_from(period).unwrap_or(usize::MAX - 1) };
    REMEMBERED.max(apart.saturating_add(1))
}

/// Places in the cut of those whose bodies may matter here, or to whom these may.
fn neighbours(begin: &Begin, regions: &[Area], place: u32) -> Vec<u32> {
    let margins = &begin.margins;
    let own = (margins.known(&regions[place as usize], 0), margins.allowed(&regions[place as usize]));
    let near = |other: &Area| own.0.meets(&margins.allowed(other)) || own.1.meets(&margins.known(other, 0));
    (0..regions.len() as u32).filter(|p| *p != place && near(&regions[*p as usize])).collect()
}

impl Epoch {
    /// Takes note of how far it may go and what enters on the way.
    fn take(&mut self, grant: Grant) {
        let now = self.engine.stops();
        for stop in grant.from.max(now)..grant.until {
            let entered = grant.inputs.iter().filter(|i| i.stop == stop);
            self.inputs.insert(stop, entered.map(|Input { kind, .. }| kind.clone()).collect());
        }
        if grant.until >= self.grant.until {
            self.grant = grant;
        }
    }

    /// What bodies cost since it was last told: told at checkpoints, when it counts, and the first time, so that a short run knows
    /// something too. All that the keeper reads takes time from workers on its machine.
    fn take_spent(&mut self, kept: bool) -> Vec<(u32, Spent, u32)> {
        for (body, spent) in self.engine.take_spent() {
            let body = body as usize;
            if self.spent.len() <= body {
                self.spent.resize(body + 1, (Spent::default(), 0));
            }
            let sum = &mut self.spent[body];
            sum.0 += spent;
            sum.1 += 1;
        }
        if self.spent.is_empty() || (self.is_told && !kept) {
            return Vec::new();
        }
        self.is_told = true;
        let all = (0..).zip(std::mem::take(&mut self.spent));
        all.filter(|(_, (_, quanta))| *quanta > 0).map(|(body, (sum, quanta))| (body, sum, quanta)).collect()
    }

    /// What was sent since this was last asked.
    fn take_sent(&mut self) -> Vec<Sent> {
        let sent = self.sent.iter().filter(|s| s.messages > 0).copied().collect();
        for to in &mut self.sent {
            (to.messages, to.bytes) = (0, 0);
        }
        sent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_intended_is_remembered_for_as_long_as_somebody_may_ask() {
        assert_eq!(remembered(2, 2, 16), REMEMBERED, "all are neighbours");
        for period in [1, 16, 64] {
            // Who has just changed hands may be asked about the first stop of the period when it is at its last.
            assert!(remembered(1, 3, period) > period as usize, "{period}");
        }
        assert_eq!(remembered(0, 1, u64::MAX), usize::MAX);
    }
}
