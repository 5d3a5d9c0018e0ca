//! How far workers may be ahead, and where the next checkpoint is taken: after so many steps, or sooner when it would take too long
//! to take the steps since the last one again.
//!
//! In: how long each new step took the slowest worker, and how long a checkpoint takes. Out: how many steps may be granted ahead, and
//! whether a checkpoint is to be ordered. Neither shows in a result: a checkpoint is neither hashed nor in the journal.

use std::time::Duration;

/// Of a lease, what taking steps again may take: the other half, and one more, are for finding out who is lost and for beginning anew.
const REDO: u32 = 2;
/// Of that, what is granted ahead at most.
const AHEAD: u64 = 2;

/// What it would cost to go back, as far as it is known.
#[derive(Default)]
pub(super) struct Pace {
    /// Microseconds of the steps since the last checkpoint.
    since_us: u64,
    /// Of one step, lately; nothing before the first.
    step_us: Option<u64>,
    /// Of the last checkpoint.
    keep_us: u64,
    /// The stop at which a checkpoint was ordered.
    pub(super) at: Option<u64>,
}

/// How long steps may take again: when one of so many workers is lost, the others take longer for each.
pub(super) fn budget_us(lease: Duration, workers: usize) -> u64 {
    let workers = workers.max(1) as u64;
    let lease = u64::try_from((lease / REDO).as_micros()).unwrap_or(u64::MAX);
    lease / workers * (workers - 1).max(1)
}

impl Pace {
    /// A new step took the slowest worker so long. One that took longer than before counts at once.
    pub(super) fn took(&mut self, step_us: u64) {
        self.since_us = self.since_us.saturating_add(step_us);
        let lately = self.step_us.map_or(step_us, |before| before - before / 4 + step_us / 4);
        self.step_us = Some(lately.max(step_us));
    }

    /// There is a checkpoint, and it took so long.
    pub(super) fn kept(&mut self, took: Duration) {
        self.keep_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        (self.since_us, self.at) = (0, None);
    }

    /// How many steps may be granted ahead, of as many as are wished.
    pub(super) fn ahead(&self, wished: u64, budget_us: u64) -> u64 {
        let step_us = self.step_us.map_or(u64::MAX, |us| us.max(1));
        wished.min(budget_us / AHEAD / step_us)
    }

    /// Whether a checkpoint is to be ordered that can be taken after so many steps more. At most half of the time goes by with checkpoints:
    /// where one takes longer than steps may take again, as long passes before the next.
    pub(super) fn is_due(&self, more: u64, budget_us: u64) -> bool {
        let then = self.since_us.saturating_add(more.saturating_mul(self.step_us.unwrap_or(0)));
        self.at.is_none() && self.step_us.is_some() && then >= budget_us.max(self.keep_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(2);

    #[test]
    fn who_are_left_need_longer() {
        assert_eq!([1, 2, 3, 5].map(|n| budget_us(LEASE, n)), [1_000_000, 500_000, 666_666, 800_000]);
    }

    #[test]
    fn light_steps_are_granted_as_many_as_are_wished_and_heavy_ones_one_by_one() {
        let budget = budget_us(LEASE, 2);
        let mut pace = Pace::default();
        assert_eq!(pace.ahead(16, budget), 0, "nothing is known yet");
        pace.took(200);
        assert_eq!((pace.ahead(16, budget), pace.is_due(17, budget)), (16, false));
        pace.took(100_000);
        assert_eq!(pace.ahead(16, budget), 2);
        pace.took(400_000);
        assert_eq!((pace.ahead(16, budget), pace.is_due(1, budget)), (0, true));
        for _ in 0..40 {
            pace.took(200);
        }
        assert_eq!(pace.ahead(16, budget), 16, "it was only once");
    }

    #[test]
    fn a_checkpoint_is_due_before_the_steps_since_the_last_one_take_too_long() {
        let (budget, mut pace) = (budget_us(LEASE, 2), Pace::default());
        let mut stops = Vec::new();
        for stop in 1..=20 {
            pace.took(110_000);
            if pace.at == Some(stop) {
                pace.kept(Duration::from_millis(10));
                stops.push(stop);
            }
            if pace.is_due(1, budget) {
                pace.at = Some(stop + 1);
            }
        }
        assert_eq!(stops, [5, 10, 15, 20], "five of them take more than half a second");
    }

    #[test]
    fn checkpoints_that_take_long_are_not_all_that_is_done() {
        let (budget, mut pace) = (budget_us(LEASE, 2), Pace::default());
        pace.kept(Duration::from_secs(3));
        let mut steps = 0;
        while !pace.is_due(1, budget) {
            pace.took(300_000);
            steps += 1;
        }
        assert_eq!(steps, 9);
    }
}
