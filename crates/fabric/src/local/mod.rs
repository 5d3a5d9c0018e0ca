//! The fabric inside one process: for threads, and for tests, with faults on purpose.
//!
//! In: what members put. Out: the same at listeners of all members. A [`Switchboard`] hands out [`Member`]s, each as
//! separate from the others as a process would be.
//!
//! What each listener hears, and in which order, is a function of the puts alone and of the faults that were asked
//! for ([`Switchboard::lose`] and the others), never of time. Only tokens of members that are cut off or frozen
//! vanish by the clock, after the lease.

mod hub;
mod member;
mod mischief;

pub use member::Member;

use hub::{Hub, Link};
use std::sync::Arc;
use std::time::Duration;

/// Connects members, and does them harm when told to.
#[derive(Clone)]
pub struct Switchboard {
    hub: Arc<Hub>,
}

impl Default for Switchboard {
    fn default() -> Self {
        Switchboard::new(Duration::from_secs(1))
    }
}

impl Switchboard {
    /// A switchboard on which the tokens of a member that is cut off or frozen vanish after `lease`.
    #[must_use]
    pub fn new(lease: Duration) -> Switchboard {
        Switchboard { hub: Hub::new(lease) }
    }

    /// A new member. The name is only what faults are addressed to.
    #[must_use]
    pub fn member(&self, name: &str) -> Member {
        Member::new(self.hub.clone(), self.hub.enter(name))
    }

    /// Loses the next `count` messages put, and questions asked, under keys that match the pattern.
    pub fn lose(&self, pattern: &str, count: u64) {
        self.hub.lock().mischief.lose(pattern, count);
    }

    /// Delivers the next `count` messages and questions under such keys twice.
    pub fn double(&self, pattern: &str, count: u64) {
        self.hub.lock().mischief.double(pattern, count);
    }

    /// From now on holds every message under such keys back until up to `depth` more were put, drawn from the seed, so
    /// they arrive late and in another order. What is held back when no more are put arrives with [`Switchboard::calm`].
    pub fn scramble(&self, pattern: &str, seed: u64, depth: u32) {
        self.hub.lock().mischief.scramble(pattern, seed, depth);
    }

    /// No more harm to messages; those held back arrive.
    pub fn calm(&self) {
        let held = self.hub.lock().mischief.calm();
        self.hub.deliver(held);
    }

    /// Cuts a member off: nothing reaches it or comes from it, and what is put meanwhile is lost. After the lease it
    /// and the others are gone for each other.
    pub fn cut(&self, name: &str) {
        Hub::sever(&self.hub, name, Link::Cut);
    }

    /// Two members do not hear each other any more; everybody else hears both.
    pub fn part(&self, one: &str, other: &str) {
        let (one, other) = (one.to_owned(), other.to_owned());
        self.hub.lock().apart.extend([(one.clone(), other.clone()), (other, one)]);
    }

    /// Stops a member: its calls wait, its callbacks are not called, and what others put waits in its mailboxes. After
    /// the lease it is gone for the others, and what they put is lost.
    pub fn freeze(&self, name: &str) {
        Hub::sever(&self.hub, name, Link::Frozen);
    }

    /// Joins a member again that was cut off or frozen; its tokens are seen again.
    pub fn join(&self, name: &str) {
        self.hub.mend(name);
    }

    /// Ends a member as a killed process ends: its tokens vanish at once, and its calls fail.
    pub fn kill(&self, name: &str) {
        self.hub.kill(name);
    }
}
