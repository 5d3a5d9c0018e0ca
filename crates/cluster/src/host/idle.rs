//! When the owner of a machine needs it.
//!
//! In: how many processors others than the host and its workers use. Out: whether to withdraw. It takes several looks
//! in a row to change one's mind, and less load to come back than to go, so that a host does not come and go.

use super::others::Others;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Looks in a row that must agree.
const LOOKS: u32 = 3;

/// Lends a machine only while its owner does not need it.
pub struct Idle {
    /// The owner's load above which the machine is withdrawn.
    above: f64,
    /// Time between two looks.
    every: Duration,
    load: Load,
    mind: Mutex<Mind>,
}

/// How the load is known.
enum Load {
    /// Of all that runs here, own threads included.
    Whole(Box<dyn Fn() -> Option<f64> + Send + Sync>),
    /// Of others.
    Others(Mutex<Others>),
}

#[derive(Default)]
struct Mind {
    looked: Option<Instant>,
    needs_it: bool,
    /// Looks in a row that would change it.
    against: u32,
}

impl Idle {
    /// Withdraws when others than this process and what it has started keep using more processors than this.
    #[must_use]
    pub fn above(load: f64) -> Idle {
        let others = Load::Others(Mutex::new(Others::than_this_process()));
        Idle { above: load, every: Duration::from_secs(2), load: others, mind: Mutex::default() }
    }

    /// The same, by another measure of the load of the whole machine.
    #[must_use]
    pub fn with(above: f64, every: Duration, load: Box<dyn Fn() -> Option<f64> + Send + Sync>) -> Idle {
        Idle { above, every, load: Load::Whole(load), mind: Mutex::default() }
    }

    /// Whether the owner needs the machine, on which `own` threads of ours run.
    pub(super) fn needs_it(&self, own: u32) -> bool {
        let mut mind = self.mind.lock().unwrap_or_else(PoisonError::into_inner);
        if mind.looked.is_some_and(|at| at.elapsed() < self.every) {
            return mind.needs_it;
        }
        mind.looked = Some(Instant::now());
        // A system that does not tell is taken for an idle one.
        let owners = match &self.load {
            Load::Whole(load) => load().map(|all| all - f64::from(own)),
            Load::Others(others) => others.lock().unwrap_or_else(PoisonError::into_inner).look(),
        };
        let owners = owners.unwrap_or(0.0);
        let is_against = if mind.needs_it { owners < self.above / 2.0 } else { owners > self.above };
        mind.against = if is_against { mind.against + 1 } else { 0 };
        if mind.against >= LOOKS {
            (mind.needs_it, mind.against) = (!mind.needs_it, 0);
        }
        mind.needs_it
    }
}

/// The load average of the last minute.
#[must_use]
pub fn load_average() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    #[test]
    fn a_host_withdraws_when_the_owner_is_busy_for_a_while_and_comes_back_when_not() {
        let load = Arc::new(AtomicU32::new(0));
        let told = Arc::clone(&load);
        let measure = move || Some(f64::from(told.load(Ordering::Relaxed)));
        let idle = Idle::with(2.0, Duration::ZERO, Box::new(measure));
        let looks = |own, n: usize| (0..n).map(|_| idle.needs_it(own)).collect::<Vec<_>>();
        assert_eq!(looks(0, 5), [false; 5]);
        load.store(4, Ordering::Relaxed);
        assert_eq!(looks(2, 5), [false; 5], "half of it is our own work");
        assert_eq!(looks(0, 2), [false; 2], "a short burst");
        assert_eq!(looks(2, 1), [false; 1]);
        assert_eq!(looks(0, 3), [false, false, true]);
        load.store(2, Ordering::Relaxed);
        assert_eq!(looks(0, 5), [true; 5], "less, but not idle");
        load.store(0, Ordering::Relaxed);
        assert_eq!(looks(0, 3), [true, true, false]);
    }
}
