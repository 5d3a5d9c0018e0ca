//! Counts what a member of a fabric sends and hears, by kind.

#[cfg(feature = "zenoh")]
use crate::gate::Kind;
use crate::gate::Refusals;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

/// Messages and their bytes, without what the fabric below adds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flow {
    /// Messages sent.
    pub messages_out: u64,
    /// Bytes sent.
    pub bytes_out: u64,
    /// Messages that came.
    pub messages_in: u64,
    /// Bytes that came.
    pub bytes_in: u64,
}

/// What one member of a fabric has sent and heard so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Put with [`crate::Care::Block`].
    pub work: Flow,
    /// What of that went by a connection between two workers alone.
    pub lanes: Flow,
    /// Put with [`crate::Care::Drop`].
    pub show: Flow,
    /// Questions.
    pub questions: Flow,
    /// Answers.
    pub answers: Flow,
    /// Messages that came and were dropped here, because a listener did not take them.
    pub dropped: u64,
    /// What was not let in, before there was a message to look at; by the fabric below since this member was opened.
    pub refused: Refusals,
}

/// One kind, counted by any number of threads.
#[derive(Default)]
pub(crate) struct Count {
    messages_out: AtomicU64,
    bytes_out: AtomicU64,
    messages_in: AtomicU64,
    bytes_in: AtomicU64,
}

impl Count {
    pub(crate) fn sent(&self, bytes: usize) {
        self.messages_out.fetch_add(1, Relaxed);
        self.bytes_out.fetch_add(bytes as u64, Relaxed);
    }

    pub(crate) fn came(&self, bytes: usize) {
        self.messages_in.fetch_add(1, Relaxed);
        self.bytes_in.fetch_add(bytes as u64, Relaxed);
    }

    fn flow(&self) -> Flow {
        Flow {
            messages_out: self.messages_out.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            messages_in: self.messages_in.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
        }
    }
}

/// All kinds.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) work: Count,
    pub(crate) lanes: Count,
    pub(crate) show: Count,
    pub(crate) questions: Count,
    pub(crate) answers: Count,
    pub(crate) dropped: AtomicU64,
    pub(crate) refused: Mutex<Refusals>,
}

impl Tally {
    /// The count of what is put with this care.
    pub(crate) fn put(&self, care: crate::Care) -> &Count {
        match care {
            crate::Care::Block => &self.work,
            crate::Care::Drop => &self.show,
        }
    }

    /// Counts something that was not let in.
    #[cfg(feature = "zenoh")]
    pub(crate) fn refuse(&self, kind: Kind) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).count(kind);
    }

    pub(crate) fn traffic(&self) -> Traffic {
        Traffic {
            work: self.work.flow(),
            lanes: self.lanes.flow(),
            show: self.show.flow(),
            questions: self.questions.flow(),
            answers: self.answers.flow(),
            dropped: self.dropped.load(Relaxed),
            refused: *self.refused.lock().unwrap_or_else(PoisonError::into_inner),
        }
    }
}
