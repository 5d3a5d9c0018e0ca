//! Who sits at the switchboard, who hears whom, and who is seen by whom.
//!
//! In: members that come, go, listen and answer. Out: letters in their mailboxes. No callback runs here, and no mailbox is
//! waited for while the switchboard is locked.

use super::mischief::{Message, Mischief};
use crate::mailbox::{Mailbox, Mood};
use crate::tally::Tally;
use crate::{Lost, key};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

/// How a member is connected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Link {
    Up,
    Cut,
    Frozen,
    Dead,
}

/// A member, as the switchboard sees it.
struct Seat {
    name: String,
    link: Link,
    /// Its lease has ended since it was cut off or frozen.
    is_gone: bool,
    /// Changes of the link so far: the end of a lease counts only for the cut it belongs to.
    changes: u64,
    tally: Arc<Tally>,
}

/// An answer, and the key it is given under.
pub(super) type Answer = (Arc<str>, Vec<u8>);

/// A question on its way to one that answers.
pub(super) struct Question {
    pub(super) key: Arc<str>,
    pub(super) bytes: Arc<[u8]>,
    pub(super) back: mpsc::Sender<Answer>,
}

/// What a member has opened.
pub(super) enum Opening {
    Ear { pattern: String, mailbox: Mailbox<Message> },
    Mouth { pattern: Arc<str>, mailbox: Mailbox<Question> },
    Token { key: String },
    Eye { pattern: String, mailbox: Mailbox<(String, bool)>, seen: BTreeSet<String> },
}

impl Opening {
    fn set(&self, mood: Mood) {
        match self {
            Opening::Ear { mailbox, .. } => mailbox.set(mood),
            Opening::Mouth { mailbox, .. } => mailbox.set(mood),
            Opening::Eye { mailbox, .. } => mailbox.set(mood),
            Opening::Token { .. } => {}
        }
    }
}

/// Everything the switchboard knows.
#[derive(Default)]
pub(super) struct Board {
    pub(super) mischief: Mischief,
    /// Names of members that do not hear each other.
    pub(super) apart: BTreeSet<(String, String)>,
    seats: BTreeMap<u64, Seat>,
    /// What is open, with its owner, in the order of opening.
    openings: BTreeMap<u64, (u64, Opening)>,
    next: u64,
}

/// The switchboard behind its handles.
pub(super) struct Hub {
    board: Mutex<Board>,
    thawed: Condvar,
    lease: Duration,
}

impl Hub {
    pub(super) fn new(lease: Duration) -> Arc<Hub> {
        Arc::new(Hub { board: Mutex::default(), thawed: Condvar::new(), lease })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Board> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A new seat, and its number.
    pub(super) fn enter(&self, name: &str) -> (u64, Arc<Tally>) {
        let mut board = self.lock();
        let id = board.number();
        let tally = Arc::new(Tally::default());
        let seat =
            Seat { name: name.into(), link: Link::Up, is_gone: false, changes: 0, tally: tally.clone() };
        board.seats.insert(id, seat);
        (id, tally)
    }

    /// The seat is empty: nothing of its owner is seen or called any more.
    pub(super) fn leave(&self, id: u64) {
        let mut board = self.lock();
        board.close_all(id);
        board.seats.remove(&id);
        board.look_around();
        self.thawed.notify_all();
    }

    /// Waits while the member is frozen.
    pub(super) fn running(&self, id: u64) -> Result<MutexGuard<'_, Board>, Lost> {
        let mut board = self.lock();
        loop {
            match board.seats.get(&id).map(|s| s.link) {
                None | Some(Link::Dead) => return Err(Lost::Closed),
                Some(Link::Frozen) => {
                    board = self.thawed.wait(board).unwrap_or_else(PoisonError::into_inner);
                }
                Some(Link::Up | Link::Cut) => return Ok(board),
            }
        }
    }

    /// Opens something for a member, and returns its number.
    pub(super) fn open(&self, owner: u64, opening: Opening) -> Result<u64, Lost> {
        let mut board = self.running(owner)?;
        let id = board.number();
        board.openings.insert(id, (owner, opening));
        board.look_around();
        Ok(id)
    }

    /// Closes it again.
    pub(super) fn close(&self, id: u64) {
        let mut board = self.lock();
        if let Some((_, opening)) = board.openings.remove(&id) {
            opening.set(Mood::Closed);
        }
        board.look_around();
    }

    /// Puts messages into the mailboxes of those who hear them.
    pub(super) fn deliver(&self, messages: Vec<Message>) {
        for message in messages {
            let ears = self.lock().ears(&message);
            for (mailbox, tally) in ears {
                tally.put(message.care).came(message.bytes.len());
                if !mailbox.post(message.clone(), message.bytes.len(), message.care) {
                    tally.dropped.fetch_add(1, Relaxed);
                }
            }
        }
    }

    /// Takes members off, and lets their tokens vanish after the lease.
    pub(super) fn sever(hub: &Arc<Hub>, name: &str, link: Link) {
        let mut board = hub.lock();
        let mood = if link == Link::Frozen { Mood::Paused } else { Mood::Open };
        let ids = board.relink(name, link, mood);
        if hub.lease.is_zero() {
            ids.iter().for_each(|&(id, changes)| board.end_lease(id, changes));
            return;
        }
        drop(board);
        let (weak, lease) = (Arc::downgrade(hub), hub.lease);
        std::thread::spawn(move || {
            std::thread::sleep(lease);
            if let Some(hub) = weak.upgrade() {
                let mut board = hub.lock();
                ids.iter().for_each(|&(id, changes)| board.end_lease(id, changes));
            }
        });
    }

    pub(super) fn mend(&self, name: &str) {
        let mut board = self.lock();
        board.relink(name, Link::Up, Mood::Open);
        board.look_around();
        self.thawed.notify_all();
    }

    pub(super) fn kill(&self, name: &str) {
        let mut board = self.lock();
        for (id, _) in board.relink(name, Link::Dead, Mood::Closed) {
            board.close_all(id);
        }
        board.look_around();
        self.thawed.notify_all();
    }
}

impl Board {
    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }

    /// Those that answer questions under keys with this pattern, in the order in which they began.
    pub(super) fn mouths(&self, asker: u64, asked: &str) -> Vec<(Arc<str>, Mailbox<Question>)> {
        let open = self.openings.values().filter_map(|(owner, opening)| match opening {
            Opening::Mouth { pattern, mailbox }
                if self.is_reached(asker, *owner) && key::meets(pattern, asked) =>
            {
                Some((pattern.clone(), mailbox.clone()))
            }
            _ => None,
        });
        open.collect()
    }

    fn ears(&self, message: &Message) -> Vec<(Mailbox<Message>, Arc<Tally>)> {
        let open = self.openings.values().filter_map(|(owner, opening)| match opening {
            Opening::Ear { pattern, mailbox }
                if self.is_reached(message.from, *owner) && key::matches(pattern, &message.key) =>
            {
                Some((mailbox.clone(), self.seats[owner].tally.clone()))
            }
            _ => None,
        });
        open.collect()
    }

    /// Whether what one member sends now gets to another. What is sent to a frozen one waits until its lease ends.
    fn is_reached(&self, from: u64, to: u64) -> bool {
        let (Some(from_seat), Some(to_seat)) = (self.seats.get(&from), self.seats.get(&to)) else {
            return false;
        };
        let is_listening = to_seat.link == Link::Up || (to_seat.link == Link::Frozen && !to_seat.is_gone);
        let names = (from_seat.name.clone(), to_seat.name.clone());
        from == to
            || (matches!(from_seat.link, Link::Up | Link::Frozen)
                && is_listening
                && (self.apart.is_empty() || !self.apart.contains(&names)))
    }

    /// Whether one member sees the tokens of another.
    fn is_seen(&self, token: u64, eye: u64) -> bool {
        let is_there = |id| self.seats.get(&id).is_some_and(|s| !s.is_gone);
        token == eye || (is_there(token) && is_there(eye))
    }

    /// Tells every watcher what has changed for it.
    fn look_around(&mut self) {
        let mut tokens = Vec::new();
        for (owner, opening) in self.openings.values() {
            if let Opening::Token { key } = opening {
                tokens.push((*owner, key.clone()));
            }
        }
        let mut openings = std::mem::take(&mut self.openings);
        for (owner, opening) in openings.values_mut() {
            let Opening::Eye { pattern, mailbox, seen } = opening else { continue };
            let visible = tokens.iter().filter(|t| self.is_seen(t.0, *owner) && key::matches(pattern, &t.1));
            let now: BTreeSet<String> = visible.map(|t| t.1.clone()).collect();
            for gone in seen.difference(&now) {
                mailbox.post_always((gone.clone(), false));
            }
            for new in now.difference(seen) {
                mailbox.post_always((new.clone(), true));
            }
            *seen = now;
        }
        self.openings = openings;
    }

    /// Changes the link of all members of a name; returns their numbers and how often their link has changed.
    fn relink(&mut self, name: &str, link: Link, mood: Mood) -> Vec<(u64, u64)> {
        let mut changed = Vec::new();
        for (&id, seat) in self.seats.iter_mut().filter(|(_, s)| s.name == name && s.link != Link::Dead) {
            seat.link = link;
            seat.is_gone = link == Link::Dead;
            seat.changes += 1;
            changed.push((id, seat.changes));
        }
        for (owner, opening) in self.openings.values() {
            if changed.iter().any(|c| c.0 == *owner) {
                opening.set(mood);
            }
        }
        changed
    }

    /// The lease of a member ends, unless its link has changed since.
    fn end_lease(&mut self, id: u64, changes: u64) {
        let Some(seat) = self.seats.get_mut(&id).filter(|s| s.changes == changes) else { return };
        seat.is_gone = true;
        if seat.link == Link::Frozen {
            self.openings.values().filter(|o| o.0 == id).for_each(|o| o.1.set(Mood::Deaf));
        }
        self.look_around();
    }

    fn close_all(&mut self, owner: u64) {
        for (_, (_, opening)) in self.openings.extract_if(.., |_, o| o.0 == owner) {
            opening.set(Mood::Closed);
        }
    }
}
