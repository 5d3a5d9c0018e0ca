//! How fast the run goes by the clock on the wall, and how fast it really went.
//!
//! Only the server reads the clock: when a step is taken never changes what it comes to.

use std::collections::VecDeque;
use std::time::{Duration, Instant};
use swarmyard_base::Time;

/// A run that is further behind than this gives up to catch up.
const MOST_BEHIND: Duration = Duration::from_millis(200);
/// Over which time the speed is measured.
const WINDOW: Duration = Duration::from_secs(1);

/// When the next step is due.
pub(crate) struct Pace {
    speed: Option<f64>,
    /// A moment on the wall and the simulated time it stands for.
    anchor: Option<(Instant, Time)>,
    /// What was measured: wall and simulated time.
    seen: VecDeque<(Instant, Time)>,
}

impl Pace {
    /// Real time.
    pub(crate) fn new() -> Pace {
        Pace { speed: Some(1.0), anchor: None, seen: VecDeque::new() }
    }

    pub(crate) fn speed(&self) -> Option<f64> {
        self.speed
    }

    /// Sets the speed; `None` is as fast as possible.
    pub(crate) fn set(&mut self, speed: Option<f64>) {
        self.speed = speed;
        self.anchor = None;
    }

    /// The run stands: it begins anew to count when it goes on.
    pub(crate) fn stop(&mut self) {
        self.anchor = None;
        self.seen.clear();
    }

    /// How long until a step that ends at `next` is due; the run is at `now`.
    pub(crate) fn ahead(&mut self, wall: Instant, now: Time, next: Time) -> Duration {
        let Some(speed) = self.speed else { return Duration::ZERO };
        let (since, from) = *self.anchor.get_or_insert((wall, now));
        let seconds = Time(next.0.saturating_sub(from.0)).seconds() / speed;
        // A quantum may be as long as a year.
        let due = since + Duration::from_secs_f64(seconds.clamp(0.0, 1e9));
        if wall.saturating_duration_since(due) > MOST_BEHIND {
            self.anchor = Some((wall, now));
        }
        due.saturating_duration_since(wall)
    }

    /// Notes where the run is.
    pub(crate) fn note(&mut self, wall: Instant, now: Time) {
        if self.seen.back().is_some_and(|last| wall - last.0 < WINDOW / 50) {
            return;
        }
        self.seen.push_back((wall, now));
        while self.seen.len() > 2 && wall - self.seen[1].0 > WINDOW {
            self.seen.pop_front();
        }
    }

    /// Simulated seconds per second, over the last second.
    pub(crate) fn measured(&self, wall: Instant, now: Time) -> f64 {
        let Some((since, from)) = self.seen.front() else { return 0.0 };
        let passed = wall.saturating_duration_since(*since).as_secs_f64();
        if passed < 0.02 { 0.0 } else { Time(now.0 - from.0).seconds() / passed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUANTUM: Time = Time(50_000_000);

    #[test]
    fn a_step_is_due_when_the_wall_has_come_to_its_end() {
        let (mut pace, start) = (Pace::new(), Instant::now());
        pace.set(Some(2.0));
        assert_eq!(pace.ahead(start, Time::ZERO, QUANTUM), Duration::from_millis(25));
        assert_eq!(pace.ahead(start + Duration::from_millis(25), Time::ZERO, QUANTUM), Duration::ZERO);
    }

    #[test]
    fn as_fast_as_possible_is_always_due() {
        let mut pace = Pace::new();
        pace.set(None);
        assert_eq!(pace.ahead(Instant::now(), Time::ZERO, Time(i64::MAX)), Duration::ZERO);
    }

    #[test]
    fn a_run_that_fell_behind_goes_on_from_where_it_is() {
        let (mut pace, start) = (Pace::new(), Instant::now());
        pace.ahead(start, Time::ZERO, QUANTUM);
        let later = start + Duration::from_secs(60);
        assert_eq!(pace.ahead(later, Time::ZERO, QUANTUM), Duration::ZERO);
        assert_eq!(pace.ahead(later, QUANTUM, Time(2 * QUANTUM.0)), Duration::from_millis(100));
    }

    #[test]
    fn the_speed_is_measured_over_the_last_second() {
        let (mut pace, start) = (Pace::new(), Instant::now());
        for k in 0..200_u32 {
            // First at real time, then three times as fast.
            let now = if k < 100 { k } else { 100 + 3 * (k - 100) };
            pace.note(start + k * QUANTUM_WALL, Time(i64::from(now) * QUANTUM.0));
        }
        let end = (start + 200 * QUANTUM_WALL, Time(400 * QUANTUM.0));
        assert!((pace.measured(end.0, end.1) - 3.0).abs() < 1e-6);
    }

    const QUANTUM_WALL: Duration = Duration::from_millis(50);
}
