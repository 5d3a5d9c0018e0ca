//! A chain of modules, without their processes: each reads what the one before it says.
//!
//! In: the stream of the [`Head`], and what the programs write. Out: what the last one lets go on, and events.
//!
//! *Invariants:* messages flow in one direction. Every number is there once. The chain ends in order: a module hears of
//! the end when the one before it has said its last. Nothing waits without bound between two modules.

use crate::control::{EVERYONE, NOBODY};
use crate::event::Event;
use crate::head::Head;
use crate::link::{Ending, Link, Stamped};

/// Why a module cannot stand in a chain. The chain is as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    /// Somebody has that number.
    #[error("number {0} is taken by `{1}`: every module has a number of its own")]
    Taken(u16, String),
    /// Nobody may have that number.
    #[error("no module can have number {0}: 0 is the controller and everyone, 65535 nobody")]
    Reserved(u16),
    /// The stream has ended.
    #[error("the chain has ended: nothing can be added to it")]
    Over,
}

/// A chain of modules.
#[derive(Debug)]
pub struct Chain {
    /// Where it begins.
    pub head: Head,
    links: Vec<Link>,
}

impl Chain {
    /// A chain that has only a beginning.
    #[must_use]
    pub fn new(head: Head) -> Chain {
        Chain { head, links: Vec::new() }
    }

    /// Adds a module at the end, also while lines flow: the current reset is the first that it gets.
    ///
    /// # Errors
    /// When its number cannot be, or the chain is over.
    pub fn add(&mut self, mut link: Link) -> Result<usize, ChainError> {
        let number = link.number();
        if number == EVERYONE || number == NOBODY {
            return Err(ChainError::Reserved(number));
        }
        if number == self.head.number() {
            return Err(ChainError::Taken(number, "the source".into()));
        }
        if let Some(other) = self.links.iter().find(|l| l.number() == number) {
            return Err(ChainError::Taken(number, other.name().to_owned()));
        }
        if self.is_over() {
            return Err(ChainError::Over);
        }
        let (reset, clock) = self.links.last().map_or_else(|| self.head.left(), Link::left);
        link.join(reset, clock);
        self.links.push(link);
        Ok(self.links.len() - 1)
    }

    /// The modules, in order.
    #[must_use]
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// One module.
    pub fn link_mut(&mut self, place: usize) -> Option<&mut Link> {
        self.links.get_mut(place)
    }

    /// Moves lines from module to module, as far as there is room.
    pub fn pump(&mut self) {
        // Whoever has ended by itself needs nothing from those before it.
        if let Some(last) = self.links.iter().rposition(Link::is_over) {
            self.head.end();
            while self.links[0].is_over() && self.head.next().is_some() {}
            for link in &mut self.links[..last] {
                link.end(Ending::Closed);
            }
            for i in 0..last {
                if self.links[i + 1].is_over() {
                    self.links[i].discard_outputs();
                }
            }
        }
        let Some(first) = self.links.first_mut() else { return };
        while first.has_room()
            && let Some(next) = self.head.next()
        {
            first.take(next.line);
        }
        if let Some(how) = self.head.finished() {
            first.end(how);
        }
        for i in 1..self.links.len() {
            let (before, after) = self.links.split_at_mut(i);
            let (from, to) = (&mut before[i - 1], &mut after[0]);
            while to.has_room()
                && let Some(next) = from.next_output()
            {
                to.take(next.line);
            }
            if let Some(how) = from.finished() {
                to.end(how);
            }
        }
    }

    /// What the last module lets go on.
    pub fn next_output(&mut self) -> Option<Stamped> {
        match self.links.last_mut() {
            Some(last) => last.next_output(),
            None => self.head.next(),
        }
    }

    /// The next thing that happened to anybody, in order of the chain.
    pub fn next_event(&mut self) -> Option<Event> {
        self.head.next_event().or_else(|| self.links.iter_mut().find_map(Link::next_event))
    }

    /// Whether everything has been said, and everybody has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let all = self.links.iter().all(Link::is_over);
        all && self.links.last().map_or_else(|| self.head.finished(), Link::finished).is_some()
    }
}
