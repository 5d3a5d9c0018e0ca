//! What a fabric does, whatever carries it.
//!
//! In: bytes, under a key such as `swarm/run/7/workers/q/0/1`. Out: calls to whoever listens to a pattern that the key
//! matches. Nothing here is asynchronous to its user: calls return, and callbacks run on threads of the fabric,
//! one thread per listener, in the order in which things came.
//!
//! What a fabric never promises: that something put arrives at all.

use crate::RunKey;
use crate::tally::Traffic;
use std::time::{Duration, Instant};
use thiserror::Error;

/// The longest message a fabric carries, in bytes.
pub const MOST_BYTES: usize = 64 << 20;

/// Called for what was put.
pub type Listener = Box<dyn Fn(Heard<'_>) + Send + Sync>;
/// Called with a key and a question; `None` is no answer.
pub type Replier = Box<dyn Fn(&str, &[u8]) -> Option<Vec<u8>> + Send + Sync>;
/// Called with a key, and whether its owner is alive now.
pub type Watcher = Box<dyn Fn(&str, bool) + Send + Sync>;

/// How the processes of one run find and hear each other.
///
/// Keys and patterns are those of [`crate::key`]. Callbacks must return soon: behind one that does not, its own messages
/// pile up, and those of other listeners do not.
pub trait Fabric: Send + Sync {
    /// Sends bytes under a key to everyone who listens to it, this process included.
    ///
    /// # Errors
    /// A key that is none, bytes longer than [`MOST_BYTES`], a closed fabric. That nobody listens is no error.
    fn put(&self, key: &str, bytes: &[u8], care: Care) -> Result<(), Lost>;

    /// Calls `hear` for everything put under keys that match the pattern, until the handle is dropped. A call that is
    /// under way then is not waited for.
    ///
    /// # Errors
    /// A pattern that is none, or a closed fabric.
    fn listen(&self, pattern: &str, hear: Listener) -> Result<Handle, Lost>;

    /// Answers questions under keys that match the pattern, until the handle is dropped. Where the question was put to a
    /// pattern itself, `reply` is told its own pattern as the key.
    ///
    /// # Errors
    /// A pattern that is none, or a closed fabric.
    fn answer(&self, pattern: &str, reply: Replier) -> Result<Handle, Lost>;

    /// Asks under a key, and returns the first answer.
    ///
    /// # Errors
    /// [`Lost::Silent`] after `patience`, or sooner when it is known that nobody will answer.
    fn ask(&self, key: &str, question: &[u8], patience: Duration) -> Result<Vec<u8>, Lost>;

    /// Asks everyone whose pattern has a key in common with this one. Returns who answered within `patience`, by key,
    /// sorted.
    ///
    /// # Errors
    /// A pattern that is none, or a closed fabric. No answer at all is an empty list.
    fn ask_all(
        &self,
        pattern: &str,
        question: &[u8],
        patience: Duration,
    ) -> Result<Vec<(String, Vec<u8>)>, Lost>;

    /// Is seen alive by all who watch, while the handle lives and this process does.
    ///
    /// # Errors
    /// A key that is none, or a closed fabric.
    fn live(&self, key: &str) -> Result<Handle, Lost>;

    /// Calls `seen` with `(key, true)` for everyone alive now and later, and with `(key, false)` when one is gone; never twice
    /// the same for a key.
    ///
    /// # Errors
    /// A pattern that is none, or a closed fabric.
    fn watch(&self, pattern: &str, seen: Watcher) -> Result<Handle, Lost>;

    /// Says what only the members of a run know. Where a fabric connects two workers alone, each has the other prove that it
    /// knows it; before that, nothing goes over such a connection.
    fn trust(&self, _run: &RunKey) {}

    /// Lends the calling thread to the fabric, until `is_done` or the time is up. For one who waits for a message, in a hurry: it
    /// does not go to sleep, and may be the one who calls the listeners, so it must hold nothing that they need.
    fn attend(&self, until: Instant, is_done: &dyn Fn() -> bool) {
        while !is_done() && Instant::now() < until {
            std::thread::yield_now();
        }
    }

    /// Bytes that have come under a key so far, those of a message that is not whole yet as well; 0 where nobody counts them. Only
    /// whether it has changed means anything.
    fn arrived(&self, _key: &str) -> u64 {
        0
    }

    /// Bytes and messages so far, by kind.
    fn traffic(&self) -> Traffic;
}

/// What happens when the way is full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// `put` waits: for workers, who cannot go on without it.
    Block,
    /// It is dropped: for displays, who look at the next one.
    Drop,
}

/// What somebody put.
#[derive(Clone, Copy, Debug)]
pub struct Heard<'a> {
    /// The key it was put under.
    pub key: &'a str,
    /// What was put.
    pub bytes: &'a [u8],
}

/// Keeps a listener, an answer, a sign of life or a watcher going; dropping it ends that.
#[must_use = "what it stands for ends when it is dropped"]
pub struct Handle {
    end: Option<Box<dyn FnOnce() + Send + Sync>>,
}

impl Handle {
    /// A handle that does something when it is dropped.
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Handle {
        Handle { end: Some(Box::new(end)) }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        if let Some(end) = self.end.take() {
            end();
        }
    }
}

impl std::fmt::Debug for Handle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Handle")
    }
}

/// Why a fabric did not do what was asked. The fabric itself goes on, unless it is closed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Lost {
    /// Nobody answered; asking again later may help.
    #[error("nobody answered `{key}`")]
    Silent {
        /// What was asked.
        key: String,
    },
    /// The key or pattern is none; nothing was sent.
    #[error("`{key}` is no {what}: {why}")]
    BadKey {
        /// The text.
        key: String,
        /// `key` or `pattern`.
        what: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The message is longer than a fabric carries; nothing was sent.
    #[error("a message of {bytes} bytes under `{key}` is too long: at most {most}")]
    TooLong {
        /// Where it was to go.
        key: String,
        /// Its length.
        bytes: usize,
        /// The limit.
        most: usize,
    },
    /// The fabric was closed; nothing will be sent or heard any more.
    #[error("the fabric is closed")]
    Closed,
    /// The fabric below failed.
    #[error("the fabric could not {what}: {why}")]
    Failed {
        /// What was tried.
        what: String,
        /// What it said.
        why: String,
    },
}

/// The message itself, or why it cannot be carried.
pub(crate) fn fits(key: &str, bytes: &[u8]) -> Result<(), Lost> {
    if bytes.len() > MOST_BYTES {
        return Err(Lost::TooLong { key: key.into(), bytes: bytes.len(), most: MOST_BYTES });
    }
    Ok(())
}
