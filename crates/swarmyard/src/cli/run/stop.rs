//! Signals: the first ends the run in order, the second at once.

use crate::cli::fail::{Exit, Failure};
use std::sync::Arc;
#[cfg(feature = "cluster")]
use std::sync::atomic::AtomicBool;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;
use swarmyard::engine::Leave;

/// Whether somebody wants the run to end.
pub(crate) struct Stop {
    asked: Arc<AtomicU32>,
}

impl Stop {
    /// Listens for interrupt, termination and hang-up from now on.
    pub(crate) fn install() -> Result<Stop, Failure> {
        let asked = Arc::new(AtomicU32::new(0));
        let seen = Arc::clone(&asked);
        ctrlc::set_handler(move || {
            if seen.fetch_add(1, Ordering::SeqCst) > 0 {
                std::process::exit(i32::from(Exit::Signal as u8));
            }
        })
        .map_err(|e| Failure::new(Exit::Failed, "system", format!("cannot listen for signals: {e}")))?;
        Ok(Stop { asked })
    }

    /// Sets `stop` at the first signal; the second ends the process.
    #[cfg(feature = "cluster")]
    pub(crate) fn install_for(stop: &Arc<AtomicBool>) -> Result<(), Failure> {
        let stop = Arc::clone(stop);
        ctrlc::set_handler(move || {
            if stop.swap(true, Ordering::SeqCst) {
                std::process::exit(i32::from(Exit::Signal as u8));
            }
        })
        .map_err(|e| Failure::new(Exit::Failed, "system", format!("cannot listen for signals: {e}")))
    }

    /// Says when a step is to be left before its end: after a signal, or from a moment on.
    pub(crate) fn leave(&self, from: Option<Instant>) -> Arc<Leave> {
        let asked = Arc::clone(&self.asked);
        Arc::new(move || {
            asked.load(Ordering::Relaxed) > 0 || from.is_some_and(|moment| Instant::now() >= moment)
        })
    }

    /// Whether a signal has come.
    pub(crate) fn requested(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > 0
    }
}
