//! What each body costs in a quantum, when somebody lends a clock.
//!
//! In: a [`Watch`] from outside, how long pieces of work took by it, and whose work they were. Out: [`Spent`] by slot, for
//! one quantum in [`EVERY`].
//!
//! Never: a clock of its own, or anything in a state, a hash or a frame. Without a watch nothing is measured, and nothing
//! costs. What is done for ghosts is nobody's.

use serde::{Deserialize, Serialize};
use std::ops::{AddAssign, Range};
use std::sync::Arc;
use swarmyard_base::hash::mix64;

/// Of so many quanta one is measured.
const EVERY: u64 = 8;
/// A piece of work is long from here on: so long that reading the dear clock for it costs little.
const LONG_NS: u64 = 20_000;

/// A clock that is lent to the engine. No result depends on it.
pub trait Watch: Send + Sync {
    /// Nanoseconds so far; reading it is cheap.
    fn now_ns(&self) -> u64;

    /// Nanoseconds that this thread has worked so far; reading it may be dear. Without such a clock, those that have passed.
    fn worked_ns(&self) -> u64 {
        self.now_ns()
    }
}

/// What one body cost in one quantum.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Nanoseconds of its sensors.
    pub sense_ns: u64,
    /// Nanoseconds of its controllers; of programs outside what they say.
    pub think_ns: u64,
    /// Nanoseconds of its actuators.
    pub act_ns: u64,
    /// Nanoseconds of finding and playing out its contacts.
    pub contact_ns: u64,
    /// Fuel that its programs used, where it is metered.
    pub fuel: u64,
}

impl AddAssign for Spent {
    fn add_assign(&mut self, more: Spent) {
        for kind in [Kind::Sense, Kind::Think, Kind::Act, Kind::Contact] {
            self.add(kind, *{ more }.of(kind));
        }
        self.fuel = self.fuel.saturating_add(more.fuel);
    }
}

impl Spent {
    /// Nanoseconds of all kinds.
    #[must_use]
    pub fn all_ns(&self) -> u64 {
        let sums = [self.think_ns, self.act_ns, self.contact_ns];
        sums.into_iter().fold(self.sense_ns, u64::saturating_add)
    }

    fn of(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Sense => &mut self.sense_ns,
            Kind::Think => &mut self.think_ns,
            Kind::Act => &mut self.act_ns,
            Kind::Contact => &mut self.contact_ns,
        }
    }

    fn add(&mut self, kind: Kind, ns: u64) {
        let sum = self.of(kind);
        *sum = sum.saturating_add(ns);
    }
}

/// What time goes into.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Sense,
    Think,
    Act,
    Contact,
}

/// A piece of work that was done for bodies in these slots, and its nanoseconds.
pub(crate) type Took = (Range<usize>, u64);

/// Keeps count for one engine.
#[derive(Default)]
pub(crate) struct Meter {
    watch: Option<Arc<dyn Watch>>,
    /// Whether the quantum under way is measured.
    is_on: bool,
    /// By slot; of own bodies only.
    spent: Vec<Spent>,
}

impl Meter {
    pub(crate) fn lend(&mut self, watch: Arc<dyn Watch>) {
        self.watch = Some(watch);
    }

    /// A quantum begins, with so many bodies that are its own.
    pub(crate) fn begin(&mut self, stop: u64, own: usize) {
        self.is_on = self.watch.is_some() && is_due(stop);
        self.spent.clear();
        if self.is_on {
            self.spent.resize(own, Spent::default());
        }
    }

    /// The watch, when this quantum is measured.
    pub(crate) fn watch(&self) -> Option<&dyn Watch> {
        self.watch.as_deref().filter(|_| self.is_on)
    }

    /// One body's work.
    pub(crate) fn add(&mut self, kind: Kind, slot: usize, ns: u64) {
        if let Some(spent) = self.spent.get_mut(slot) {
            spent.add(kind, ns);
        }
    }

    /// Fuel that one body's programs used.
    pub(crate) fn burn(&mut self, slot: usize, fuel: u64) {
        if let Some(spent) = self.spent.get_mut(slot) {
            spent.fuel = spent.fuel.saturating_add(fuel);
        }
    }

    /// Work that was done for several bodies at once is divided evenly among them.
    pub(crate) fn share(&mut self, kind: Kind, took: impl IntoIterator<Item = Took>) {
        if !self.is_on {
            return;
        }
        for (slots, ns) in took {
            let each = even(ns, slots.len());
            slots.for_each(|slot| self.add(kind, slot, each));
        }
    }

    /// What each own body cost in the quantum that was just committed; nothing when it was not measured.
    pub(crate) fn take(&mut self) -> Vec<Spent> {
        self.is_on = false;
        std::mem::take(&mut self.spent)
    }
}

/// One of so many, at a place that changes: what happens with a period is met as often as it happens. Not the first of a
/// run, when nothing is warm; but the second, so that a short run is measured too.
fn is_due(stop: u64) -> bool {
    stop > 0 && (stop == 1 || stop % EVERY == mix64(stop / EVERY) % EVERY)
}

/// The share of one of so many, to the nearest.
pub(crate) fn even(ns: u64, among: usize) -> u64 {
    let among = among.max(1) as u64;
    ns.saturating_add(among / 2) / among
}

/// Does a piece of work; answers what the thread worked for it, or 0 when that is not measured.
pub(crate) fn timed<R>(watch: Option<&dyn Watch>, work: impl FnOnce() -> R) -> (R, u64) {
    let Some(watch) = watch else { return (work(), 0) };
    let began = watch.worked_ns();
    let done = work();
    (done, watch.worked_ns().saturating_sub(began))
}

/// Does many small pieces of work one after the other; answers what each took, or nothing when that is not measured.
///
/// Each is timed by the cheap clock. Those that seem to have taken long are timed by the other one as well: maybe somebody
/// else had the processor meanwhile, and short ones are too short for that to matter.
pub(crate) fn each_timed<T>(
    watch: Option<&dyn Watch>,
    items: impl Iterator<Item = T>,
    mut work: impl FnMut(T),
) -> Vec<u64> {
    let Some(watch) = watch else {
        items.for_each(work);
        return Vec::new();
    };
    // The last reading of the dear clock, and what short pieces took since then.
    let (mut worked, mut short) = (watch.worked_ns(), 0_u64);
    let mut before = watch.now_ns();
    let each = items.map(|item| {
        work(item);
        let now = watch.now_ns();
        let passed = now.saturating_sub(std::mem::replace(&mut before, now));
        if passed < LONG_NS {
            short += passed;
            return passed;
        }
        let now = watch.worked_ns();
        let since = now.saturating_sub(std::mem::replace(&mut worked, now));
        let own = since.saturating_sub(std::mem::take(&mut short)).min(passed);
        // Reading the dear clock is nobody's work.
        before = watch.now_ns();
        own
    });
    each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Goes on by itself when it is looked at; of the time that passes the thread works so much.
    struct Fake {
        now: AtomicU64,
        worked: AtomicU64,
    }

    impl Fake {
        fn pass(&self, ns: u64, worked: u64) {
            self.now.fetch_add(ns, Ordering::Relaxed);
            self.worked.fetch_add(worked, Ordering::Relaxed);
        }
    }

    impl Watch for Fake {
        fn now_ns(&self) -> u64 {
            self.now.load(Ordering::Relaxed)
        }

        fn worked_ns(&self) -> u64 {
            self.worked.load(Ordering::Relaxed)
        }
    }

    fn fake() -> Arc<Fake> {
        Arc::new(Fake { now: AtomicU64::new(5), worked: AtomicU64::new(7) })
    }

    #[test]
    fn one_quantum_in_eight_is_measured_and_not_always_the_same() {
        let due: Vec<u64> = (0..8000).filter(|stop| is_due(*stop)).collect();
        assert!((1000..=1001).contains(&due.len()), "{}", due.len());
        assert_eq!((due[0], is_due(0)), (1, false));
        for place in 0..8 {
            let there = due.iter().filter(|stop| *stop % 8 == place).count();
            assert!((90..=160).contains(&there), "place {place}: {there}");
        }
    }

    #[test]
    fn what_is_done_for_several_is_divided_and_what_is_done_for_ghosts_is_nobodys() {
        let mut meter = Meter::default();
        meter.lend(fake());
        meter.begin(1, 2);
        meter.share(Kind::Sense, [(0..4, 400), (1..2, 7)]);
        meter.add(Kind::Contact, 1, 30);
        meter.add(Kind::Contact, 3, 30);
        meter.burn(0, 9);
        let spent = meter.take();
        assert_eq!(spent.len(), 2);
        assert_eq!(spent[0], Spent { sense_ns: 100, fuel: 9, ..Spent::default() });
        assert_eq!(spent[1], Spent { sense_ns: 107, contact_ns: 30, ..Spent::default() });
        assert_eq!(spent[1].all_ns(), 137);
        assert!(meter.take().is_empty() && meter.watch().is_none(), "what was taken is gone");
    }

    #[test]
    fn without_a_watch_or_out_of_turn_nothing_is_measured() {
        let mut meter = Meter::default();
        meter.begin(1, 2);
        meter.share(Kind::Act, [(0..2, 10)]);
        assert!(meter.watch().is_none() && meter.take().is_empty());
        meter.lend(fake());
        meter.begin(0, 2);
        assert!(meter.watch().is_none() && meter.take().is_empty());
        assert!(each_timed(None, 0..3, |_| ()).is_empty());
    }

    #[test]
    fn time_that_others_had_the_processor_is_put_down_to_nobody() {
        let watch = fake();
        // The second and the last wait for the processor.
        let pieces =
            [(10, 10), (4_000_000, 20), (30_000, 30_000), (700, 700), (400, 400), (8_000_000, 55_000)];
        let took =
            each_timed(Some(watch.as_ref()), pieces.into_iter(), |(ns, worked)| watch.pass(ns, worked));
        assert_eq!(took, pieces.map(|piece| piece.1));
        let (_, ns) = timed(Some(watch.as_ref()), || watch.pass(900, 3));
        assert_eq!(ns, 3);
    }

    #[test]
    fn sums_add_up_by_kind() {
        let mut sum = Spent { sense_ns: 1, think_ns: 2, act_ns: 3, contact_ns: 4, fuel: 5 };
        sum += Spent { sense_ns: 10, think_ns: 20, act_ns: 30, contact_ns: 40, fuel: 50 };
        assert_eq!(sum, Spent { sense_ns: 11, think_ns: 22, act_ns: 33, contact_ns: 44, fuel: 55 });
        assert_eq!(sum.all_ns(), 110);
    }
}
