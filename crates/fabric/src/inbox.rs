//! What came from neighbours, until somebody waits for it.
//!
//! In: messages of any quantum in any order, each let in by a [`Gate`]. Out: one payload from each expected sender for the quantum
//! that is waited for, sorted by sender; so what is made of them cannot depend on the order in which they came.
//!
//! What does not come is asked for again from its sender's [`crate::Outbox`]; but not while bytes of it are coming, and later
//! where what was asked for had only been slow. When that does not help either, the wait ends by naming who is missing. Quanta are
//! waited for in ascending order.

use crate::gate::{Gate, Refusals, Refused};
use crate::outbox::{again_key, lane_key};
use crate::{Fabric, Handle, Heard, Lost, MOST_BYTES, RunKey};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use thiserror::Error;

/// Quanta that a neighbour may be ahead; what is further ahead is refused, and asked for again when its time comes.
pub const AHEAD: u64 = 64;

/// How long one who is in a hurry watches before it goes to sleep: to be woken up takes about as long as a neighbour takes.
const WATCH: Duration = Duration::from_micros(100);

/// How often the patience for an answer is doubled at most.
const DOUBLINGS: u32 = 3;

/// How often the time after which a neighbour is asked is doubled at most.
const HASTY: u32 = 3;
/// So many messages without asking make it shorter again.
const CALM: u32 = 64;

/// How long an inbox waits.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// After this time, and each time again, what is missing is asked for. An answer may take as long, and up to eight
    /// times as long while none comes: from a busy machine no answer would ever be in time otherwise.
    pub ask_after: Duration,
    /// After this time the wait ends.
    pub give_up: Duration,
    /// For so long it does not go to sleep; no time at all for one who is in no hurry and whose processor others could use.
    pub watch: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Patience { ask_after: Duration::from_millis(250), give_up: Duration::from_secs(5), watch: WATCH }
    }
}

/// Why a wait ended without all messages. Those that came are still there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unmet {
    /// These neighbours neither sent nor answered.
    #[error("nothing about quantum {quantum} came from {who:?}")]
    Missing {
        /// What was waited for.
        quantum: u64,
        /// Who is missing, sorted.
        who: Vec<u32>,
    },
    /// Another epoch began meanwhile.
    #[error("epoch {0} began")]
    NewEpoch(u32),
}

/// Receives, keeps, asks again.
pub struct Inbox {
    fabric: Arc<dyn Fabric>,
    run: u64,
    me: u32,
    patience: Patience,
    shared: Arc<Shared>,
    _ear: Handle,
}

#[derive(Debug)]
struct Shared {
    inner: Mutex<Inner>,
    came: Condvar,
    /// Messages that were let in.
    count: AtomicU64,
}

#[derive(Debug)]
struct Inner {
    gate: Gate,
    /// The next quantum to be waited for.
    next: u64,
    waiting: BTreeMap<(u64, u32), Vec<u8>>,
    /// How often something was asked for again, and how often that helped.
    asked: u64,
    recovered: u64,
    /// How many times in a row nobody answered in time, as far as that counts.
    late: u32,
    /// By neighbour: how slow its way is.
    ways: BTreeMap<u32, Pace>,
    /// By neighbour: what is asked about the next quantum, however often that is waited for.
    asks: BTreeMap<u32, Ask>,
}

/// When a neighbour is asked for what is missing, and what had come from it when that was last looked at.
#[derive(Clone, Copy, Debug)]
struct Ask {
    at: Instant,
    arrived: u64,
}

/// How slow the way from a neighbour is.
#[derive(Clone, Copy, Debug, Default)]
struct Pace {
    /// Messages it gave again and of which nothing else was seen.
    given: u32,
    /// How often it was asked for something that was on its way, as far as that counts.
    hasty: u32,
    /// Messages since then.
    calm: u32,
}

impl Inbox {
    /// The inbox of worker `me` in an epoch of a run with these neighbours.
    ///
    /// # Errors
    /// The fabric is closed.
    pub fn open(
        fabric: Arc<dyn Fabric>,
        run: impl Into<RunKey>,
        epoch: u32,
        me: u32,
        neighbours: &[u32],
        patience: Patience,
    ) -> Result<Inbox, Lost> {
        let key = run.into();
        fabric.trust(&key);
        let run = key.number;
        let mut gate = Gate::new(key, epoch, me, neighbours.iter().copied());
        gate.want(0..=AHEAD);
        let (waiting, ways, asks) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let inner = Inner { gate, next: 0, waiting, asked: 0, recovered: 0, late: 0, ways, asks };
        let shared =
            Arc::new(Shared { inner: Mutex::new(inner), came: Condvar::new(), count: AtomicU64::new(0) });
        let ear = shared.clone();
        let hear = move |heard: Heard<'_>| {
            // The sender is the last chunk of the key but one; a key without it is nobody's.
            let from = heard.key.rsplit('/').nth(1).and_then(|c| c.parse().ok()).unwrap_or(u32::MAX);
            // A refusal is counted by the gate, and there is nobody else here to tell.
            if ear.take_in(from, heard.bytes).is_err_and(is_double) {
                ear.lock().ways.entry(from).or_default().came_twice();
            }
        };
        let ear = fabric.listen(&format!("swarm/run/{run}/workers/q/*/{me}"), Box::new(hear))?;
        Ok(Inbox { fabric, run, me, patience, shared, _ear: ear })
    }

    /// Waits for one message about this quantum from each of these, and takes them out, sorted by sender. Everything
    /// about this quantum and earlier ones is over then.
    ///
    /// # Errors
    /// Who is missing after the inbox has lost its patience; or that another epoch began.
    pub fn wait(&self, quantum: u64, from: &[u32]) -> Result<Vec<(u32, Vec<u8>)>, Unmet> {
        let start = Instant::now();
        let mut inner = self.shared.lock();
        let epoch = inner.gate.epoch();
        inner.expect(quantum);
        let watch_until = start + self.patience.watch;
        loop {
            if inner.gate.epoch() != epoch {
                return Err(Unmet::NewEpoch(inner.gate.epoch()));
            }
            let who = inner.missing(quantum, from);
            if who.is_empty() {
                return Ok(inner.take_out(quantum, from));
            }
            let now = Instant::now();
            if now < watch_until {
                let seen = self.shared.count.load(Ordering::Acquire);
                drop(inner);
                self.fabric.attend(watch_until, &|| self.shared.count.load(Ordering::Acquire) != seen);
                inner = self.shared.lock();
                continue;
            }
            if now >= start + self.patience.give_up {
                return Err(Unmet::Missing { quantum, who });
            }
            let new: Vec<u32> = who.iter().copied().filter(|from| !inner.asks.contains_key(from)).collect();
            self.ask_later(&mut inner, &new, start);
            let is_due = |from: &u32| inner.asks.get(from).is_none_or(|ask| now >= ask.at);
            let due: Vec<u32> = who.iter().copied().filter(is_due).collect();
            if !due.is_empty() {
                let silent: Vec<u32> =
                    due.iter().copied().filter(|from| !self.is_coming(&inner, *from)).collect();
                drop(inner);
                self.ask_again(epoch, quantum, &silent);
                inner = self.shared.lock();
                self.ask_later(&mut inner, &due, Instant::now());
                continue;
            }
            let end = start + self.patience.give_up;
            let wait =
                who.iter().filter_map(|from| inner.asks.get(from)).fold(end, |end, ask| end.min(ask.at))
                    - now;
            inner = self.shared.came.wait_timeout(inner, wait).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// These are to be asked a while after this moment, unless something comes from them.
    fn ask_later(&self, inner: &mut Inner, who: &[u32], since: Instant) {
        for from in who {
            let hasty = inner.ways.get(from).map_or(0, |pace| pace.hasty);
            let at = since + self.patience.ask_after * 2_u32.pow(hasty);
            let arrived = self.fabric.arrived(&lane_key(self.run, *from, self.me));
            inner.asks.insert(*from, Ask { at, arrived });
        }
    }

    /// Whether anything has come from a neighbour since that was last looked at.
    fn is_coming(&self, inner: &Inner, from: u32) -> bool {
        let now = self.fabric.arrived(&lane_key(self.run, from, self.me));
        inner.asks.get(&from).is_some_and(|ask| ask.arrived != now)
    }

    /// Begins another epoch with these neighbours: everything that came before is forgotten, and a wait that is under way
    /// ends. The next quantum waited for may be any.
    pub fn begin(&self, epoch: u32, quantum: u64, neighbours: &[u32]) {
        let mut inner = self.shared.lock();
        inner.gate.begin(epoch, neighbours.iter().copied());
        inner.waiting.clear();
        inner.asks.clear();
        inner.next = 0;
        inner.expect(quantum);
        self.shared.came.notify_all();
    }

    /// What was refused so far.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        self.shared.lock().gate.refusals()
    }

    /// How often something was asked for again, and how often that helped.
    #[must_use]
    pub fn asked(&self) -> (u64, u64) {
        let inner = self.shared.lock();
        (inner.asked, inner.recovered)
    }

    /// Asks everyone who is missing for what it sent.
    fn ask_again(&self, epoch: u32, quantum: u64, who: &[u32]) {
        for &from in who {
            let key = again_key(self.run, from, self.me, quantum);
            let patience = self.patience.ask_after * 2_u32.pow(self.shared.lock().late);
            let since = Instant::now();
            let answer = self.fabric.ask(&key, &epoch.to_le_bytes(), patience);
            // One that has not sent it yet says nothing as well, but at once.
            let is_late = answer.is_err() && since.elapsed() >= patience;
            let taken = answer.map(|bytes| self.shared.take_in(from, &bytes));
            let helped = matches!(taken, Ok(Ok(())));
            let mut inner = self.shared.lock();
            if let Ok(taken) = taken {
                let pace = inner.ways.entry(from).or_default();
                pace.given += 1;
                if taken.is_err_and(is_double) {
                    pace.came_twice();
                }
            }
            inner.late = if is_late { (inner.late + 1).min(DOUBLINGS) } else { 0 };
            inner.asked += 1;
            inner.recovered += u64::from(helped);
        }
    }
}

/// Whether something was refused because it is here, or was.
fn is_double(why: Refused) -> bool {
    matches!(why, Refused::Replayed { .. } | Refused::Unwanted(_))
}

impl Pace {
    /// What was given again has come by itself as well: it had not been lost.
    fn came_twice(&mut self) {
        if self.given > 0 {
            (self.given, self.calm) = (self.given - 1, 0);
            self.hasty = (self.hasty + 1).min(HASTY);
        }
    }

    /// Something came.
    fn came(&mut self) {
        self.calm += 1;
        if self.calm >= CALM {
            *self = Pace { hasty: self.hasty.saturating_sub(1), ..Pace::default() };
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_in(&self, from: u32, bytes: &[u8]) -> Result<(), Refused> {
        let mut inner = self.lock();
        let (header, payload) = inner.gate.admit(from, bytes, MOST_BYTES)?;
        let place = (header.quantum, header.sender);
        if inner.waiting.contains_key(&place) {
            // What is there counts, whatever else its sender says of this quantum.
            let why = Refused::Replayed { sender: header.sender, sequence: header.sequence };
            inner.gate.refuse(why);
            return Err(why);
        }
        inner.waiting.insert(place, payload.to_vec());
        self.count.fetch_add(1, Ordering::Release);
        drop(inner);
        self.came.notify_all();
        Ok(())
    }
}

impl Inner {
    /// This quantum is the next, and earlier ones are over.
    fn expect(&mut self, quantum: u64) {
        if quantum > self.next {
            self.next = quantum;
            self.asks.clear();
        }
        self.gate.want(self.next..=self.next.saturating_add(AHEAD));
        self.waiting = self.waiting.split_off(&(self.next, 0));
    }

    fn missing(&self, quantum: u64, from: &[u32]) -> Vec<u32> {
        let mut who: Vec<u32> =
            from.iter().copied().filter(|f| !self.waiting.contains_key(&(quantum, *f))).collect();
        who.sort_unstable();
        who
    }

    fn take_out(&mut self, quantum: u64, from: &[u32]) -> Vec<(u32, Vec<u8>)> {
        let mut from = from.to_vec();
        from.sort_unstable();
        let taken = from.iter().filter_map(|f| Some((*f, self.waiting.remove(&(quantum, *f))?))).collect();
        self.ways.values_mut().for_each(Pace::came);
        self.expect(quantum.saturating_add(1));
        taken
    }
}
