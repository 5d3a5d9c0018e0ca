//! What is said in a run beside the messages that travel in envelopes: orders, notices, questions and answers, each under a
//! seal that only the members of the run can make.
//!
//! In: bytes, the key they are put under, and for an answer the question it is to. Out: the same bytes behind their seal. What
//! comes with a wrong one is counted and not used; so an answer to one question is none to another.
//!
//! What never happens: a seal against doing something twice. Whoever listens can say again what a member has said; so every
//! order and notice says its epoch, and means the same the second time.

use crate::message::{read, write};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard_fabric::envelope::Broken;
use swarmyard_fabric::gate::{Refusals, Refused};
use swarmyard_fabric::{Fabric, Lost, Replier, RunKey};

/// Seals what goes out, opens what comes in, and counts what is refused.
#[derive(Debug)]
pub(crate) struct Door {
    run: RunKey,
    refused: Mutex<Refusals>,
}

impl Door {
    pub(crate) fn new(run: RunKey) -> Door {
        Door { run, refused: Mutex::default() }
    }

    /// Something for whoever hears this key.
    pub(crate) fn seal<T: Serialize>(&self, key: &str, said: &T) -> Vec<u8> {
        self.seal_answer(key, &[], &write(said))
    }

    /// What was said under a key; nothing when nobody of ours said it.
    pub(crate) fn open<T: DeserializeOwned>(&self, key: &str, bytes: &[u8]) -> Option<T> {
        let said = self.open_answer(key, &[], bytes)?;
        let said = read(said);
        if said.is_none() {
            self.refuse(Refused::Broken(Broken::NotOurs));
        }
        said
    }

    /// An answer to a question, which is given as it came.
    pub(crate) fn seal_answer(&self, key: &str, question: &[u8], answer: &[u8]) -> Vec<u8> {
        let seal = self.run.secret.seal(&[key.as_bytes(), question, answer]);
        [&seal.to_le_bytes(), answer].concat()
    }

    /// Asks under a key. Answers nothing when nobody of ours answered.
    pub(crate) fn ask<Q: Serialize, A: DeserializeOwned>(
        &self,
        fabric: &dyn Fabric,
        key: &str,
        question: &Q,
        patience: std::time::Duration,
    ) -> Result<Option<A>, Lost> {
        Ok(self.ask_bytes(fabric, key, question, patience)?.and_then(|answer| read(&answer)))
    }

    /// The same for an answer that is bytes as they are.
    pub(crate) fn ask_bytes<Q: Serialize>(
        &self,
        fabric: &dyn Fabric,
        key: &str,
        question: &Q,
        patience: std::time::Duration,
    ) -> Result<Option<Vec<u8>>, Lost> {
        let question = self.seal(key, question);
        let mut answer = fabric.ask(key, &question, patience)?;
        let said = self.open_answer(key, &question, &answer).map(<[u8]>::len);
        Ok(said.map(|length| answer.split_off(answer.len() - length)))
    }

    /// Who answers questions under a key, as far as a member asks them.
    pub(crate) fn replier(
        self: &Arc<Door>,
        reply: impl Fn(&[u8]) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Replier {
        let door = Arc::clone(self);
        Box::new(move |key, question| {
            let answer = reply(door.open_answer(key, &[], question)?)?;
            Some(door.seal_answer(key, question, &answer))
        })
    }

    fn open_answer<'a>(&self, key: &str, question: &[u8], bytes: &'a [u8]) -> Option<&'a [u8]> {
        let opened = bytes.split_first_chunk().filter(|(seal, said)| {
            u64::from_le_bytes(**seal) == self.run.secret.seal(&[key.as_bytes(), question, said])
        });
        if opened.is_none() {
            self.refuse(Refused::Broken(Broken::WrongSeal));
        }
        opened.map(|(_, said)| said)
    }

    /// Counts what was not used.
    pub(crate) fn refuse(&self, why: Refused) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).count(why);
    }

    /// What was refused so far.
    pub(crate) fn refusals(&self) -> Refusals {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_fabric::Secret;
    use swarmyard_fabric::gate::Kind;

    fn door(secret: u8) -> Door {
        Door::new(RunKey { number: 1, secret: Secret::of([secret; 16]) })
    }

    #[test]
    fn what_a_member_says_is_heard_under_its_key_and_nowhere_else() {
        let (ours, theirs) = (door(1), door(2));
        let said = ours.seal("a/b", &7_u32);
        assert_eq!(ours.open::<u32>("a/b", &said), Some(7));
        assert_eq!(ours.refusals().total(), 0);
        assert_eq!(ours.open::<u32>("a/c", &said), None, "for another");
        assert_eq!(theirs.open::<u32>("a/b", &said), None, "of another run");
        assert_eq!(ours.open::<u32>("a/b", &said[..said.len() - 1]), None, "cut off");
        assert_eq!(ours.open::<u32>("a/b", b"x"), None, "nothing at all");
        assert_eq!((ours.refusals().of(Kind::WrongSeal), ours.refusals().total()), (3, 3));
        assert_eq!(ours.open::<String>("a/b", &said), None, "something else");
        assert_eq!(ours.refusals().of(Kind::NotOurs), 1);
    }

    #[test]
    fn an_answer_belongs_to_one_question() {
        let ours = door(1);
        let answer = ours.seal_answer("a/b", b"question", &write(&7_u32));
        assert_eq!(ours.open_answer("a/b", b"question", &answer).and_then(read::<u32>), Some(7));
        assert_eq!(ours.open_answer("a/b", b"another", &answer), None);
        assert_eq!(ours.open_answer("a/b", b"", &answer), None);
    }
}
