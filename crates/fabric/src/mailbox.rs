//! A queue with a thread behind it: what stands between a fabric and one callback.
//!
//! In: letters, from any thread. Out: calls with them, one after another, on a thread of the mailbox. The fabric's own
//! threads never run a callback, so one that hangs holds up nobody but itself.
//!
//! A mailbox is bounded in letters and in bytes. When it is full, a letter with [`Care::Drop`] is dropped, and one with
//! [`Care::Block`] waits.

use crate::Care;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How much may lie in a mailbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    pub(crate) letters: usize,
    pub(crate) bytes: usize,
    /// How long a letter with [`Care::Block`] waits for room; without it, until there is some. Who waited in vain is
    /// the last to wait until the mailbox is empty again.
    pub(crate) wait: Option<Duration>,
}

impl Room {
    /// Room for the callbacks of a member.
    pub(crate) fn usual(wait: Option<Duration>) -> Room {
        Room { letters: 1024, bytes: 2 * crate::MOST_BYTES, wait }
    }
}

/// What a mailbox does with letters at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Takes and delivers.
    Open,
    /// Takes, and delivers later.
    Paused,
    /// Takes nothing and delivers nothing; what lies there stays.
    Deaf,
    /// Over.
    Closed,
}

/// A queue of letters and the thread that delivers them.
pub(crate) struct Mailbox<T> {
    shared: Arc<Shared<T>>,
}

impl<T> Clone for Mailbox<T> {
    fn clone(&self) -> Self {
        Mailbox { shared: self.shared.clone() }
    }
}

struct Shared<T> {
    inner: Mutex<Inner<T>>,
    changed: Condvar,
    room: Room,
}

struct Inner<T> {
    letters: VecDeque<(T, usize)>,
    bytes: usize,
    mood: Mood,
    /// Somebody waited in vain, and nothing was taken since.
    is_stuck: bool,
}

impl<T: Send + 'static> Mailbox<T> {
    /// A mailbox whose letters go to `deliver`, until it is closed.
    pub(crate) fn open(
        name: &str,
        room: Room,
        deliver: impl Fn(T) + Send + 'static,
    ) -> std::io::Result<Mailbox<T>> {
        let inner = Inner { letters: VecDeque::new(), bytes: 0, mood: Mood::Open, is_stuck: false };
        let shared = Arc::new(Shared { inner: Mutex::new(inner), changed: Condvar::new(), room });
        let mailbox = Mailbox { shared: shared.clone() };
        let short: String = name.chars().take(15).collect();
        std::thread::Builder::new().name(short).spawn(move || {
            while let Some(letter) = shared.take() {
                deliver(letter);
            }
        })?;
        Ok(mailbox)
    }

    /// Puts a letter in; false when it was dropped.
    pub(crate) fn post(&self, letter: T, bytes: usize, care: Care) -> bool {
        let shared = &*self.shared;
        let mut inner = shared.lock();
        if care == Care::Block && !inner.is_stuck {
            inner = shared.wait_for_room(inner, bytes);
        }
        let is_taking = matches!(inner.mood, Mood::Open | Mood::Paused);
        if !is_taking || inner.is_full(bytes, shared.room) {
            return false;
        }
        inner.push(letter, bytes);
        shared.changed.notify_all();
        true
    }

    /// Puts a letter in, however full it is: for the few that must not be lost, and only unless it is closed.
    pub(crate) fn post_always(&self, letter: T) {
        let mut inner = self.shared.lock();
        if inner.mood != Mood::Closed {
            inner.push(letter, 0);
            self.shared.changed.notify_all();
        }
    }

    /// Changes what happens to letters. A closed mailbox stays closed.
    pub(crate) fn set(&self, mood: Mood) {
        let mut inner = self.shared.lock();
        if inner.mood != Mood::Closed {
            inner.mood = mood;
        }
        if mood == Mood::Closed {
            inner.letters.clear();
            inner.bytes = 0;
        }
        self.shared.changed.notify_all();
    }
}

impl<T> Inner<T> {
    fn is_full(&self, bytes: usize, room: Room) -> bool {
        let is_empty = self.letters.is_empty();
        self.letters.len() >= room.letters || (!is_empty && self.bytes.saturating_add(bytes) > room.bytes)
    }

    fn push(&mut self, letter: T, bytes: usize) {
        self.letters.push_back((letter, bytes));
        self.bytes += bytes;
    }
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next letter, or nothing when the mailbox is closed.
    fn take(&self) -> Option<T> {
        let mut inner = self.lock();
        loop {
            if inner.mood == Mood::Closed {
                return None;
            }
            if inner.mood == Mood::Open
                && let Some((letter, bytes)) = inner.letters.pop_front()
            {
                inner.bytes -= bytes;
                inner.is_stuck = false;
                self.changed.notify_all();
                return Some(letter);
            }
            inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn wait_for_room<'a>(
        &'a self,
        mut inner: MutexGuard<'a, Inner<T>>,
        bytes: usize,
    ) -> MutexGuard<'a, Inner<T>> {
        let until = self.room.wait.map(|wait| Instant::now() + wait);
        while matches!(inner.mood, Mood::Open | Mood::Paused) && inner.is_full(bytes, self.room) {
            let Some(until) = until else {
                inner = self.changed.wait(inner).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                inner.is_stuck = true;
                break;
            }
            inner = self.changed.wait_timeout(inner, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A mailbox with two places whose reader has taken one letter and waits for leave to go on.
    fn stuck(wait: Option<Duration>) -> (Mailbox<u32>, mpsc::Receiver<u32>, mpsc::Sender<()>) {
        let (go, wait_for_go) = mpsc::channel::<()>();
        let (told, heard) = mpsc::channel();
        let room = Room { letters: 2, bytes: 100, wait };
        let mailbox = Mailbox::open("test", room, move |n| {
            let _ = told.send(n);
            let _ = wait_for_go.recv();
        });
        let mailbox = mailbox.expect("a thread");
        assert!(mailbox.post(0, 1, Care::Drop));
        assert_eq!(heard.recv(), Ok(0));
        (mailbox, heard, go)
    }

    #[test]
    fn a_full_mailbox_drops_what_may_be_dropped() {
        let (mailbox, heard, go) = stuck(None);
        assert!(mailbox.post(1, 1, Care::Drop) && mailbox.post(2, 1, Care::Drop));
        assert!(!mailbox.post(3, 1, Care::Drop));
        drop(go);
        assert_eq!(heard.iter().take(2).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn bytes_fill_it_too_but_one_letter_always_fits() {
        let (mailbox, _heard, _go) = stuck(None);
        assert!(mailbox.post(1, 1000, Care::Drop));
        assert!(!mailbox.post(2, 1, Care::Drop));
    }

    #[test]
    fn who_must_not_be_dropped_waits_for_room() {
        let (mailbox, heard, go) = stuck(None);
        assert!(mailbox.post(1, 1, Care::Block) && mailbox.post(2, 1, Care::Block));
        let other = mailbox.clone();
        let (done, is_done) = mpsc::channel();
        std::thread::spawn(move || done.send(other.post(3, 1, Care::Block)));
        assert!(is_done.recv_timeout(Duration::from_millis(50)).is_err(), "it did not wait");
        drop(go);
        assert_eq!(is_done.recv(), Ok(true));
        assert_eq!(heard.iter().take(3).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn only_the_first_waits_for_one_that_is_stuck() {
        // Long enough that a busy machine does not pass for a wait.
        let wait = Duration::from_secs(3);
        let (mailbox, heard, go) = stuck(Some(wait));
        assert!(mailbox.post(1, 1, Care::Block) && mailbox.post(2, 1, Care::Block));
        assert!(!mailbox.post(3, 1, Care::Block));
        let before = Instant::now();
        assert!(!mailbox.post(4, 1, Care::Block));
        assert!(before.elapsed() < wait / 2, "the second waited as well");
        drop(go);
        assert_eq!(heard.iter().take(2).collect::<Vec<_>>(), [1, 2]);
        assert!(mailbox.post(5, 1, Care::Block));
        assert_eq!(heard.recv(), Ok(5));
    }

    #[test]
    fn closing_lets_everyone_go() {
        let (mailbox, _heard, _go) = stuck(None);
        assert!(mailbox.post(1, 1, Care::Block) && mailbox.post(2, 1, Care::Block));
        let other = mailbox.clone();
        let waiter = std::thread::spawn(move || other.post(3, 1, Care::Block));
        mailbox.set(Mood::Closed);
        assert!(!waiter.join().expect("no panic"));
        mailbox.set(Mood::Open);
        assert!(!mailbox.post(4, 1, Care::Drop));
    }
}
