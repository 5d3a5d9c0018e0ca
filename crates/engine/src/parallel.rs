//! Indexed maps over chunks, on one thread or on many.
//!
//! Chunks have a fixed size and each writes only its own slices, so the number of threads cannot
//! change a bit. There are no parallel sums of floats anywhere.

use rayon::prelude::*;

/// Robots per chunk.
pub(crate) const CHUNK: usize = 128;

/// The threads a run may use.
pub struct Pool {
    threads: Option<rayon::ThreadPool>,
}

impl Pool {
    /// A pool of that many threads; 1 runs everything on the caller's thread.
    ///
    /// # Errors
    /// When the system refuses to start threads.
    pub fn new(threads: usize) -> Result<Pool, String> {
        if threads <= 1 {
            return Ok(Pool { threads: None });
        }
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|k| format!("swarmyard-{k}"))
            .build()
            .map_err(|e| format!("cannot start {threads} threads: {e}"))?;
        Ok(Pool { threads: Some(pool) })
    }

    /// Runs `work` on one of the pool's threads, so that the phases inside find the others awake
    /// instead of handing over once per phase.
    pub(crate) fn within<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.threads {
            None => work(),
            Some(pool) => pool.install(work),
        }
    }

    /// Calls `work` for every item and keeps the results in the order of the items.
    pub(crate) fn map<T: Send, R: Send>(&self, items: Vec<T>, work: impl Fn(T) -> R + Sync + Send) -> Vec<R> {
        match &self.threads {
            None => items.into_iter().map(work).collect(),
            Some(pool) => pool.install(|| items.into_par_iter().map(work).collect()),
        }
    }
}
