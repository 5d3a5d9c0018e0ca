//! Harm to messages, on purpose and repeatable.
//!
//! In: messages in the order they were put. Out: those that are delivered now, in the order of delivery.

use crate::{Care, key};
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid};

/// A message on its way.
#[derive(Clone)]
pub(super) struct Message {
    pub(super) from: u64,
    pub(super) key: Arc<str>,
    pub(super) bytes: Arc<[u8]>,
    pub(super) care: Care,
}

/// What is to be done to messages.
#[derive(Default)]
pub(super) struct Mischief {
    lose: Vec<(String, u64)>,
    double: Vec<(String, u64)>,
    scramble: Vec<Scramble>,
}

/// Holds messages back by a seeded rule.
struct Scramble {
    pattern: String,
    seed: u64,
    depth: u32,
    /// Messages that came by so far.
    count: u64,
    /// When each is due, counted in messages, and when it came.
    held: Vec<(u64, u64, Message)>,
}

impl Mischief {
    pub(super) fn lose(&mut self, pattern: &str, count: u64) {
        self.lose.push((pattern.to_owned(), count));
    }

    pub(super) fn double(&mut self, pattern: &str, count: u64) {
        self.double.push((pattern.to_owned(), count));
    }

    pub(super) fn scramble(&mut self, pattern: &str, seed: u64, depth: u32) {
        self.scramble.push(Scramble { pattern: pattern.to_owned(), seed, depth, count: 0, held: Vec::new() });
    }

    /// What is to be delivered now that this message was put.
    pub(super) fn pass(&mut self, message: Message) -> Vec<Message> {
        if spend(&mut self.lose, &message.key) {
            return Vec::new();
        }
        let mut now = vec![message];
        if spend(&mut self.double, &now[0].key) {
            now.push(now[0].clone());
        }
        match self.scramble.iter_mut().find(|s| key::matches(&s.pattern, &now[0].key)) {
            Some(scramble) => now.into_iter().flat_map(|m| scramble.pass(m)).collect(),
            None => now,
        }
    }

    /// How often a question under this key is heard: not at all when it is lost.
    pub(super) fn times(&mut self, key: &str) -> usize {
        if spend(&mut self.lose, key) {
            return 0;
        }
        1 + usize::from(spend(&mut self.double, key))
    }

    /// Ends all harm, and returns what was held back.
    pub(super) fn calm(&mut self) -> Vec<Message> {
        let all = std::mem::take(self);
        all.scramble.into_iter().flat_map(|mut s| s.due(u64::MAX)).collect()
    }
}

impl Scramble {
    fn pass(&mut self, message: Message) -> Vec<Message> {
        let draw = Draw::at(self.seed, Uid(0), Purpose::Test, Time(self.count as i64), 0);
        let delay = u64::from(draw.block(0)[0]) % (u64::from(self.depth) + 1);
        self.held.push((self.count + delay, self.count, message));
        self.count += 1;
        self.due(self.count - 1)
    }

    fn due(&mut self, now: u64) -> Vec<Message> {
        let mut due: Vec<_> = self.held.extract_if(.., |h| h.0 <= now).collect();
        due.sort_by_key(|h| (h.0, h.1));
        due.into_iter().map(|h| h.2).collect()
    }
}

/// Whether one of these rules applies; it then applies once less.
fn spend(rules: &mut Vec<(String, u64)>, key: &str) -> bool {
    let Some(rule) = rules.iter_mut().find(|r| key::matches(&r.0, key) && r.1 > 0) else { return false };
    rule.1 -= 1;
    rules.retain(|r| r.1 > 0);
    true
}
