//! What the ordering protocols have in common: a broadcast message with its address, and bookkeeping of
//! what came from whom.
//!
//! In: numbered messages as a network brings them: late, early, twice. Out: each once, where wanted in the
//! order in which its sender numbered them. Nothing here sends or delivers by itself.

use super::common::few;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_part_api::{Cx, Indication, Request, ToAll, User};

/// A broadcast message: whose, which, for whom, what.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct Letter {
    /// Who broadcast it.
    pub(super) origin: u32,
    /// How many its origin broadcast before it.
    pub(super) number: u64,
    /// Whose it is on every robot.
    pub(super) user: User,
    /// What.
    pub(super) bytes: Vec<u8>,
}

impl Letter {
    /// Hands it to its user on this robot.
    pub(super) fn deliver(self, cx: &mut Cx<'_>) {
        cx.indicate(self.user, Indication::Delivered { from: self.origin, bytes: self.bytes.into() });
    }

    /// For logs.
    pub(super) fn words(&self) -> String {
        format!("{}#{} {}", self.origin, self.number, few(&self.bytes))
    }
}

/// The bytes of a request to broadcast; `None` when something else was asked.
pub(super) fn asked(request: Request) -> Option<Vec<u8>> {
    match request {
        Request::Broadcast(ToAll(bytes)) => Some(bytes.to_vec()),
        _ => None,
    }
}

/// Whether the robot is back after a crash. These protocols know robots that stop, not robots that forget:
/// one that comes back with an empty memory would give numbers twice, so it keeps silent instead.
pub(super) fn came_back(cx: &mut Cx<'_>) -> bool {
    let back = cx.persisted::<bool>().is_some();
    if back {
        cx.say("is back after a crash without its memory, and takes no part any more");
    } else {
        cx.persist(&true);
    }
    back
}

/// Puts the messages of each sender into the order in which it numbered them, each once.
#[derive(Serialize, Deserialize)]
pub(super) struct Inbox<M> {
    senders: BTreeMap<u32, (u64, BTreeMap<u64, M>)>,
}

impl<M> Default for Inbox<M> {
    fn default() -> Inbox<M> {
        Inbox { senders: BTreeMap::new() }
    }
}

impl<M> Inbox<M> {
    /// Takes a message; answers those whose turn has come.
    pub(super) fn put(&mut self, from: u32, number: u64, message: M) -> Vec<M> {
        let (next, early) = self.senders.entry(from).or_insert_with(|| (0, BTreeMap::new()));
        if number >= *next {
            early.entry(number).or_insert(message);
        }
        let mut ready = Vec::new();
        while let Some(message) = early.remove(next) {
            *next += 1;
            ready.push(message);
        }
        ready
    }
}

/// Which numbers of which sender there were. It takes little memory as long as few are missing in between.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Seen {
    /// By sender: all below the first number, and those in the set.
    senders: BTreeMap<u32, (u64, BTreeSet<u64>)>,
}

impl Seen {
    /// Whether it was there.
    pub(super) fn has(&self, from: u32, number: u64) -> bool {
        self.senders.get(&from).is_some_and(|(all, some)| number < *all || some.contains(&number))
    }

    /// Adds one; answers whether it is new.
    pub(super) fn add(&mut self, from: u32, number: u64) -> bool {
        if self.has(from, number) {
            return false;
        }
        let (all, some) = self.senders.entry(from).or_default();
        some.insert(number);
        while some.remove(all) {
            *all += 1;
        }
        true
    }
}

/// The right to give letters their places: it goes round from robot to robot.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(super) struct Token {
    /// How often it was passed on: an old copy is not the token.
    pass: u64,
    /// The next free place.
    pub(super) place: u64,
}

impl Token {
    /// As the first robot has it at the start.
    pub(super) const FIRST: Token = Token { pass: 1, place: 0 };

    /// For logs.
    pub(super) fn words(&self) -> String {
        format!("pass {} next place {}", self.pass, self.place)
    }
}

/// A robot's part in passing the token round.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Turn {
    /// While it is here.
    pub(super) token: Option<Token>,
    /// Of the last token that was here.
    last_pass: u64,
    timer: Option<u64>,
}

impl Turn {
    /// The token has come; answers whether it is no old copy.
    pub(super) fn take(&mut self, token: Token) -> bool {
        let is_new = token.pass > self.last_pass;
        if is_new {
            self.last_pass = token.pass;
            self.token = Some(token);
        }
        is_new
    }

    /// There is nothing to do with the token: it goes on after a while.
    pub(super) fn hold(&mut self, seconds: f64, cx: &mut Cx<'_>) {
        if cx.robots() > 1 {
            self.timer = Some(cx.set_timer(seconds));
        }
    }

    /// Whether this timer says that it is time for the token to go on.
    pub(super) fn is_over(&mut self, timer: u64) -> bool {
        let is_over = self.timer == Some(timer);
        if is_over {
            self.timer = None;
        }
        is_over
    }

    /// Lets go of the token: to whom it goes, and how. Who is alone keeps it.
    pub(super) fn pass_on(&mut self, cx: &mut Cx<'_>) -> Option<(u32, Token)> {
        if cx.robots() == 1 {
            return None;
        }
        if let Some(timer) = self.timer.take() {
            cx.cancel_timer(timer);
        }
        let Token { pass, place } = self.token.take()?;
        Some(((cx.me() + 1) % cx.robots(), Token { pass: pass + 1, place }))
    }
}

/// Delivers letters by their place in one common sequence.
///
/// Uniform means: not before most robots are known to have the letter in that place. Then at least one of
/// them does not crash, and has told all others.
#[derive(Serialize, Deserialize)]
pub(super) struct Places {
    uniform: bool,
    next: u64,
    /// By place: the letter, and who is known to have it.
    waiting: BTreeMap<u64, (Letter, BTreeSet<u32>)>,
}

impl Places {
    pub(super) fn new(uniform: bool) -> Places {
        Places { uniform, next: 0, waiting: BTreeMap::new() }
    }

    /// Robot `from` has this letter in that place. Answers whether this robot must pass it on: it is new here,
    /// and everybody must know.
    pub(super) fn put(&mut self, place: u64, letter: Letter, from: u32, cx: &mut Cx<'_>) -> bool {
        if place < self.next || letter.origin >= cx.robots() {
            return false;
        }
        let news = !self.waiting.contains_key(&place);
        let who = &mut self.waiting.entry(place).or_insert_with(|| (letter, BTreeSet::new())).1;
        who.insert(from);
        who.insert(cx.me());
        self.deliver(cx);
        news && self.uniform
    }

    /// The first place of which nothing is known here.
    pub(super) fn first_unknown(&self) -> u64 {
        (self.next..).find(|place| !self.waiting.contains_key(place)).unwrap_or(u64::MAX)
    }

    fn deliver(&mut self, cx: &mut Cx<'_>) {
        let most = cx.robots() as usize / 2 + 1;
        while let Some((letter, who)) = self.waiting.remove(&self.next) {
            if self.uniform && who.len() < most {
                self.waiting.insert(self.next, (letter, who));
                return;
            }
            self.next += 1;
            letter.deliver(cx);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_inbox_gives_each_message_once_and_in_order() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.put(1, 1, 'b'), vec![]);
        assert_eq!(inbox.put(2, 0, 'x'), vec!['x']);
        assert_eq!(inbox.put(1, 0, 'a'), vec!['a', 'b']);
        assert_eq!(inbox.put(1, 1, 'b'), vec![]);
        assert_eq!(inbox.put(1, 2, 'c'), vec!['c']);
    }

    #[test]
    fn seen_numbers_are_compacted() {
        let mut seen = Seen::default();
        for number in [2, 0, 1, 4] {
            assert!(seen.add(7, number) && !seen.add(7, number));
        }
        assert!(seen.has(7, 2) && !seen.has(7, 3) && seen.has(7, 4) && !seen.has(8, 0));
        assert_eq!(seen.senders[&7], (3, BTreeSet::from([4])));
    }
}
