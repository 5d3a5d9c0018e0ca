//! One member of a switchboard: a [`Fabric`] in the hand of one thread, or of a test.

use super::hub::{Answer, Hub, Opening, Question};
use super::mischief::Message;
use crate::fabric::fits;
use crate::key::{check_key, check_pattern, is_plain};
use crate::mailbox::{Mailbox, Room};
use crate::tally::Tally;
use crate::{Care, Fabric, Handle, Heard, Listener, Lost, Replier, Traffic, Watcher};
use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// One member of a switchboard; gone from it when dropped.
pub struct Member {
    hub: Arc<Hub>,
    id: u64,
    tally: Arc<Tally>,
}

impl Member {
    pub(super) fn new(hub: Arc<Hub>, (id, tally): (u64, Arc<Tally>)) -> Member {
        Member { hub, id, tally }
    }

    fn open(&self, opening: Opening) -> Result<Handle, Lost> {
        let id = self.hub.open(self.id, opening)?;
        let hub = self.hub.clone();
        Ok(Handle::new(move || hub.close(id)))
    }

    /// Sends a question to everyone who answers such keys, and returns where answers come.
    fn send_question(&self, pattern: &str, question: &[u8]) -> Result<mpsc::Receiver<Answer>, Lost> {
        fits(pattern, question)?;
        let (mouths, times) = {
            let mut board = self.hub.running(self.id)?;
            (board.mouths(self.id, pattern), board.mischief.times(pattern))
        };
        let (back, answers) = mpsc::channel();
        let bytes: Arc<[u8]> = question.into();
        self.tally.questions.sent(question.len());
        for (own, mailbox) in mouths {
            let key: Arc<str> = if is_plain(pattern) { pattern.into() } else { own };
            for _ in 0..times {
                let letter = Question { key: key.clone(), bytes: bytes.clone(), back: back.clone() };
                mailbox.post(letter, question.len(), Care::Drop);
            }
        }
        Ok(answers)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        self.hub.leave(self.id);
    }
}

impl Fabric for Member {
    fn put(&self, key: &str, bytes: &[u8], care: Care) -> Result<(), Lost> {
        check_key(key)?;
        fits(key, bytes)?;
        let message = Message { from: self.id, key: key.into(), bytes: bytes.into(), care };
        let now = self.hub.running(self.id)?.mischief.pass(message);
        self.tally.put(care).sent(bytes.len());
        self.hub.deliver(now);
        Ok(())
    }

    fn listen(&self, pattern: &str, hear: Listener) -> Result<Handle, Lost> {
        check_pattern(pattern)?;
        let mailbox = mailbox(pattern, move |m: Message| hear(Heard { key: &m.key, bytes: &m.bytes }))?;
        self.open(Opening::Ear { pattern: pattern.into(), mailbox })
    }

    fn answer(&self, pattern: &str, reply: Replier) -> Result<Handle, Lost> {
        check_pattern(pattern)?;
        let tally = self.tally.clone();
        let mailbox = mailbox(pattern, move |question: Question| {
            tally.questions.came(question.bytes.len());
            let answer = reply(&question.key, &question.bytes);
            if let Some(answer) = answer.filter(|a| fits(&question.key, a).is_ok()) {
                tally.answers.sent(answer.len());
                // Whoever asked may have lost patience.
                let _ = question.back.send((question.key, answer));
            }
        })?;
        self.open(Opening::Mouth { pattern: pattern.into(), mailbox })
    }

    fn ask(&self, key: &str, question: &[u8], patience: Duration) -> Result<Vec<u8>, Lost> {
        check_key(key)?;
        let answers = self.send_question(key, question)?;
        let (_, answer) = answers.recv_timeout(patience).map_err(|_| Lost::Silent { key: key.into() })?;
        self.tally.answers.came(answer.len());
        Ok(answer)
    }

    fn ask_all(
        &self,
        pattern: &str,
        question: &[u8],
        patience: Duration,
    ) -> Result<Vec<(String, Vec<u8>)>, Lost> {
        check_pattern(pattern)?;
        let answers = self.send_question(pattern, question)?;
        let until = Instant::now() + patience;
        let mut all = Vec::new();
        while let Ok(one) = answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
            self.tally.answers.came(one.1.len());
            all.push((one.0.as_ref().to_owned(), one.1));
        }
        all.sort();
        Ok(all)
    }

    fn live(&self, key: &str) -> Result<Handle, Lost> {
        check_key(key)?;
        self.open(Opening::Token { key: key.into() })
    }

    fn watch(&self, pattern: &str, seen: Watcher) -> Result<Handle, Lost> {
        check_pattern(pattern)?;
        let mailbox = mailbox(pattern, move |(key, is_alive): (String, bool)| seen(&key, is_alive))?;
        self.open(Opening::Eye { pattern: pattern.into(), mailbox, seen: BTreeSet::new() })
    }

    fn traffic(&self) -> Traffic {
        self.tally.traffic()
    }
}

/// A mailbox for callbacks of a member. Who puts something waits for room as long as it takes.
fn mailbox<T: Send + 'static>(name: &str, call: impl Fn(T) + Send + 'static) -> Result<Mailbox<T>, Lost> {
    Mailbox::open(name, Room::usual(None), call)
        .map_err(|e| Lost::Failed { what: "start a thread".into(), why: e.to_string() })
}
