//! Workers that do not hear each other, though the keeper hears both.
//!
//! In: who waits for whom, as workers say it. Out: who is given up. A worker sends its messages of a number before it waits
//! for those of others; so when one waits for another that itself waits at this number or a later one, and both go on
//! waiting, what was sent does not arrive: the way between them is cut.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Much longer than an answer takes on a busy machine.
const BUSY: Duration = Duration::from_secs(3);
/// Who has said nothing for so long does not wait any more.
const STALE: Duration = Duration::from_secs(1);

/// Who waits for whom in an epoch.
pub(super) struct Apart {
    /// How long two wait for each other before one is given up.
    patience: Duration,
    waits: BTreeMap<u32, Wait>,
}

struct Wait {
    number: u64,
    who: Vec<u32>,
    since: Instant,
    said: Instant,
}

impl Apart {
    /// Nobody waits yet. Of two one is given up after one and a half leases, later than one who is silent altogether; but not before
    /// [`BUSY`].
    pub(super) fn new(lease: Duration) -> Apart {
        Apart { patience: BUSY.max(lease * 3 / 2), waits: BTreeMap::new() }
    }

    /// A worker says at this moment that it waits for messages of a number.
    pub(super) fn misses(&mut self, worker: u32, number: u64, who: Vec<u32>, now: Instant) {
        let since = self.waits.get(&worker).filter(|w| w.number == number && now - w.said < STALE);
        let since = since.map_or(now, |w| w.since);
        self.waits.insert(worker, Wait { number, who, since, said: now });
    }

    /// The one to give up: who is cut off from most; of several the last.
    pub(super) fn worst(&self, now: Instant) -> Option<u32> {
        let long = |w: &&Wait| now - w.since >= self.patience && now - w.said < STALE;
        let mut cuts: BTreeMap<u32, u32> = BTreeMap::new();
        for (worker, wait) in self.waits.iter().filter(|w| long(&w.1)) {
            for other in &wait.who {
                if self.waits.get(other).filter(long).is_some_and(|w| w.number >= wait.number) {
                    *cuts.entry(*worker).or_default() += 1;
                    *cuts.entry(*other).or_default() += 1;
                }
            }
        }
        cuts.into_iter().max_by_key(|(worker, cuts)| (*cuts, *worker)).map(|(worker, _)| worker)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(2);

    /// What is found when these wait from the first moment to the last, and say so ten times a second.
    fn found(waits: &[(u32, u64, &[u32])], seconds: f64) -> Option<u32> {
        let (start, mut apart) = (Instant::now(), Apart::new(LEASE));
        let mut now = start;
        while (now - start).as_secs_f64() < seconds {
            for (worker, number, who) in waits {
                apart.misses(*worker, *number, who.to_vec(), now);
            }
            now += Duration::from_millis(100);
        }
        apart.worst(now)
    }

    #[test]
    fn two_that_wait_for_each_other_are_apart() {
        assert_eq!(found(&[(0, 7, &[1]), (1, 7, &[0])], 5.0), Some(1));
        assert_eq!(found(&[(0, 7, &[1]), (1, 8, &[0])], 5.0), Some(1), "one way is cut");
        assert_eq!(found(&[(0, 7, &[1]), (1, 7, &[0])], 2.9), None, "not yet");
        assert_eq!(found(&[(0, 7, &[1]), (1, 7, &[0])], 3.1), Some(1), "within two leases");
    }

    #[test]
    fn a_longer_lease_is_more_patience() {
        for (lease, patience) in [(0.5, 3.0), (2.0, 3.0), (20.0, 30.0)] {
            assert_eq!(Apart::new(Duration::from_secs_f64(lease)).patience.as_secs_f64(), patience);
        }
    }

    #[test]
    fn who_is_cut_off_from_most_is_given_up() {
        assert_eq!(found(&[(0, 7, &[1]), (1, 7, &[0, 2]), (2, 7, &[1])], 5.0), Some(1));
    }

    #[test]
    fn waiting_for_one_that_is_slow_is_no_cut() {
        assert_eq!(found(&[(0, 7, &[1])], 5.0), None, "1 is at work");
        assert_eq!(found(&[(0, 7, &[1]), (1, 6, &[2])], 5.0), None, "and 2 is, whom 1 waits for");
    }

    #[test]
    fn who_goes_on_does_not_wait() {
        let (start, mut apart) = (Instant::now(), Apart::new(LEASE));
        for k in 0..50 {
            let now = start + k * Duration::from_millis(100);
            apart.misses(0, u64::from(k), vec![1], now);
            apart.misses(1, u64::from(k), vec![0], now);
        }
        assert_eq!(apart.worst(start + Duration::from_secs(5)), None);
    }
}
