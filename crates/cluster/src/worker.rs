//! One worker of a run: takes the steps it is granted, together with its neighbours.
//!
//! In: orders of the keeper, and what neighbours' bodies intend. Out: what its own intend, one message per
//! neighbour and quantum, and a report of every stop to the keeper. Having heard all neighbours *is* the
//! permission to go on: nobody is asked.
//!
//! What never happens: a step that depends on when something came. A worker that is told of a new epoch drops
//! what it does and begins again from what it is charged with.

mod epoch;
mod figures;
mod step;

use crate::bundle::{Bundle, Natives};
use crate::door::Door;
use crate::engine::Engine;
use crate::home::Links;
use crate::keeper::costs::Sum;
use crate::message::{
    Begin, KEEPER, Near, Notice, Order, Sent, Signed, Task, figures_key, keep_key, live_key, near_key,
    notice_key, order_key, read, write,
};
use crate::parcel::{Coming, Depot, Name};
use crate::shelf::Shelf;
use crate::staff::Figures;
use crate::world::{Worlds, fetch};
use epoch::Epoch;
pub(crate) use figures::{add, add_link};
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use swarmyard_engine::{Area, Intent};
use swarmyard_fabric::gate::Refusals;
use swarmyard_fabric::{Care, Fabric, Handle, Inbox, Lost, Outbox, Patience, RunKey};
use swarmyard_sim::WorkerFigures;

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
    /// What is too long for one message.
    depot: Depot,
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
    let depot = Depot::open(&**fabric, &door, run, me)?;
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
        depot,
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
                Some(order @ (Order::Begin(_) | Order::BeginInPieces(..))) => {
                    self.take_part(order, &mut epoch)?;
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

    /// Begins the epoch of an order, unless it has begun already.
    fn take_part(&mut self, order: Order, epoch: &mut Option<Epoch>) -> Result<(), Lost> {
        let number = order.begins().unwrap_or_default();
        if number <= self.begun {
            // It was said again: what was said to that may have been lost.
            let is_present = epoch.as_ref().is_some_and(|e| e.begin.epoch == number);
            return if is_present { self.notice(number, Notice::Ready) } else { Ok(()) };
        }
        let whole = self.fetch_order(order);
        match whole.and_then(|begin| self.begin(*begin, epoch.take().map(|e| e.engine))) {
            Ok(begun) => {
                *epoch = Some(begun);
                self.begun = number;
                self.notice(number, Notice::Ready)
            }
            Err(Left::Failed(why)) => self.notice(number, Notice::Failed(why)),
            Err(Left::Lost(lost)) => Err(lost),
            Err(Left::Order | Left::Farther) => Ok(()),
        }
    }

    /// All of an order to begin.
    fn fetch_order(&mut self, order: Order) -> Result<Box<Begin>, Left> {
        let wrong = || Left::Failed("what the keeper sent in pieces is no order to begin".to_owned());
        let (epoch, slip) = match order {
            Order::Begin(begin) => return Ok(begin),
            Order::BeginInPieces(epoch, slip) => (epoch, slip),
            Order::Grant(_) | Order::End => return Err(wrong()),
        };
        let name = Name { epoch, to: self.setup.me, number: u64::from(epoch) };
        let mut coming = Coming::new(KEEPER, name, slip).map_err(Left::Failed)?;
        while !coming.is_here() {
            coming.ask((&*self.setup.fabric, &self.door), self.setup.run.number);
            self.look_for_newer(epoch)?;
        }
        match read(&coming.open().map_err(Left::Failed)?) {
            Some(Order::Begin(begin)) if begin.epoch == epoch => Ok(begin),
            _ => Err(wrong()),
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
                order if order.begins().is_some_and(|begun| begun <= epoch.begin.epoch) => {}
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

    fn begin(&mut self, mut begin: Begin, before: Option<Engine>) -> Result<Epoch, Left> {
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
        self.depot.begin(begin.epoch);
        self.inbox.begin(begin.epoch, 2 * engine.stops(), &others);
        self.told.lock().unwrap_or_else(PoisonError::into_inner).clear();
        // The engine has it now.
        begin.task = Task::Whole(Vec::new());
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
            handed_on: 0,
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
            self.look_for_newer(begin.epoch)?;
            if !is_near {
                // A long one on a slow way takes its time.
                patience = (2 * patience).min(LONGEST);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Looks at orders while it gets ready for an epoch: leaves that for a later one, and when nobody needs it any more.
    fn look_for_newer(&mut self, epoch: u32) -> Result<(), Left> {
        while let Ok(order) = self.orders.try_recv() {
            self.heard = Instant::now();
            let is_new = order.begins().is_some_and(|new| new > epoch);
            if is_new || matches!(order, Order::End) {
                self.next = Some(order);
                return Err(Left::Order);
            }
        }
        if self.stop.load(Ordering::Relaxed) || self.heard.elapsed() > self.setup.patience {
            return Err(Left::Order);
        }
        Ok(())
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
