//! When a frame is due, and how a recording stays within its budget of bytes.

use swarmyard_base::{Period, Ratio, Time};

/// Frames at a steady rate of simulated time, of which only every so many are kept.
pub(crate) struct Pace {
    period: Period,
    every: u64,
    /// Number of the tick of the last frame that was kept.
    last: Option<u64>,
}

impl Pace {
    /// A rate per simulated second.
    pub(crate) fn new(rate_hz: f64) -> Pace {
        let exact = Ratio::from_decimal(rate_hz).and_then(|r| Ratio::new(r.den(), r.num()));
        let near = || Ratio::new(((1e9 / rate_hz) as i64).max(1), 1_000_000_000);
        let tenth = || Ratio::new(1, 10).unwrap_or_else(|| unreachable!("one tenth is a ratio"));
        Pace { period: Period::new(exact.or_else(near).unwrap_or_else(tenth)), every: 1, last: None }
    }

    /// Whether a tick that is to be kept has come since the last frame.
    pub(crate) fn due(&self, now: Time) -> bool {
        let Some(tick) = self.tick(now) else { return false };
        self.last.is_none_or(|last| tick / self.every > last / self.every)
    }

    /// A frame was kept.
    pub(crate) fn kept(&mut self, now: Time) {
        self.last = self.tick(now);
    }

    /// The run went back to this time.
    pub(crate) fn rewind(&mut self, to: Time) {
        self.last = self.tick(to);
    }

    /// Keeps half as many frames from now on.
    pub(crate) fn thin(&mut self) {
        self.every = self.every.saturating_mul(2);
    }

    /// Every how many frames are kept.
    pub(crate) fn every(&self) -> u64 {
        self.every
    }

    fn tick(&self, now: Time) -> Option<u64> {
        self.period.ticks_by(now).checked_sub(1)
    }
}

/// Bytes that may be used, and the next amount at which frames become rarer.
///
/// When half is used, the interval between frames doubles; after that, each time a quarter of the
/// rest is used. So the beginning is dense, no frame has to be taken back, and a long run fits.
///
/// Why a quarter: with a half each time, every level would cover the same stretch of time, and the
/// budget would end after a few of them. With a quarter each level covers half as much again.
pub(crate) struct Budget {
    limit: u64,
    used: u64,
    thin_at: u64,
}

impl Budget {
    /// A budget of which `used` is spent before the first frame.
    pub(crate) fn new(limit: u64, used: u64) -> Budget {
        let left = limit.saturating_sub(used);
        Budget { limit, used, thin_at: used + left / 2 }
    }

    /// Whether so many bytes still fit.
    pub(crate) fn has_room(&self, bytes: u64) -> bool {
        self.used.saturating_add(bytes) <= self.limit
    }

    /// Counts bytes; answers whether frames must become rarer.
    pub(crate) fn spend(&mut self, bytes: u64) -> bool {
        self.used = self.used.saturating_add(bytes);
        if self.used < self.thin_at {
            return false;
        }
        self.thin_at = self.used + self.limit.saturating_sub(self.used) / 4;
        true
    }

    /// The budget.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(rate_hz: f64, quantum: Ratio, quanta: u64, thin_after: u64) -> Vec<u64> {
        let (mut pace, clock) = (Pace::new(rate_hz), Period::new(quantum));
        let mut out = Vec::new();
        for k in 0..=quanta {
            if pace.due(clock.tick(k)) {
                pace.kept(clock.tick(k));
                out.push(k);
            }
            if k == thin_after {
                pace.thin();
            }
        }
        out
    }

    #[test]
    fn a_rate_that_does_not_divide_the_quantum_does_not_drift() {
        let sixtieth = Ratio::new(1, 60).unwrap();
        assert_eq!(kept(30.0, sixtieth, 6000, u64::MAX).len(), 3001);
        assert_eq!(kept(7.0, sixtieth, 6000, u64::MAX).len(), 701);
    }

    #[test]
    fn there_is_at_most_one_frame_per_quantum() {
        assert_eq!(kept(1000.0, Ratio::new(1, 10).unwrap(), 50, u64::MAX).len(), 51);
    }

    #[test]
    fn thinning_halves_the_rate_from_then_on() {
        let all = kept(10.0, Ratio::new(1, 10).unwrap(), 20, 10);
        assert_eq!(all, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 18, 20]);
    }

    #[test]
    fn a_run_a_hundred_times_too_long_fits_and_is_covered_to_its_end() {
        let (mut budget, mut pace) = (Budget::new(500_000, 0), Pace::new(10.0));
        let mut last = 0;
        for k in 0..100_000_i64 {
            let now = Time(k * 100_000_000);
            if pace.due(now) && budget.has_room(500) {
                pace.kept(now);
                last = k;
                if budget.spend(500) {
                    pace.thin();
                }
            }
        }
        assert!(budget.used <= 500_000 && last > 90_000, "{} {last} {}", budget.used, pace.every());
    }
}
