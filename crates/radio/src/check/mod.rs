//! Checkers of traces. They know nothing of any protocol: only what was asked, what was told, and who crashed.
//!
//! In: a [`Trace`](crate::lab::Trace), of the laboratory, of the engine, of real sockets, or made by hand. Out: every
//! violation, in words; none means the trace is fine. A trace is finite, so *eventually* means by its end:
//! let a run go on until it is quiet, or long enough.
//!
//! A process that crashes counts as faulty for good, even if it recovers. What it does after it has recovered
//! counts as another life: nothing may be delivered or decided twice in one life.

pub mod broadcast;
pub mod clock;
pub mod consensus;
pub mod detector;
pub mod judge;
pub mod leader;
pub mod link;
pub mod membership;
pub mod mutex;
pub mod promises;

/// Everything that is wrong, in words.
pub type Violations = Vec<String>;

/// All violations of several checkers in one list.
#[must_use]
pub fn all(parts: impl IntoIterator<Item = Violations>) -> Violations {
    parts.into_iter().flatten().collect()
}
