//! The clock by which a worker measures what its bodies cost.
//!
//! Out: nanoseconds that have passed, and nanoseconds that the calling thread had the processor. What a robot costs is the
//! latter: where more workers run than a machine has processors, the former say more about the others.

use std::time::Instant;
use swarmyard_engine::Watch;

/// Time that passes, and time that threads work.
pub struct ProcessorTime {
    began: Instant,
}

impl Default for ProcessorTime {
    fn default() -> ProcessorTime {
        ProcessorTime { began: Instant::now() }
    }
}

impl Watch for ProcessorTime {
    fn now_ns(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    #[cfg(target_os = "linux")]
    fn worked_ns(&self) -> u64 {
        use nix::time::{ClockId, clock_gettime};
        // A thread can always ask for its own time.
        let worked = clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).map(std::time::Duration::from);
        worked.map_or(0, |worked| u64::try_from(worked.as_nanos()).unwrap_or(u64::MAX))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_sleeps_does_not_work() {
        let watch = ProcessorTime::default();
        let (passed, worked) = (watch.now_ns(), watch.worked_ns());
        std::thread::sleep(std::time::Duration::from_millis(50));
        let (passed, worked) = (watch.now_ns() - passed, watch.worked_ns() - worked);
        assert!(passed >= 50_000_000 && worked < passed / 2, "{worked} of {passed}");
        // One that is at work until its time has gone on, has worked.
        let until = watch.worked_ns() + 1_000_000;
        while watch.worked_ns() < until {}
    }
}
