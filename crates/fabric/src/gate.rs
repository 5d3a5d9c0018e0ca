//! Who comes in: the check that stands between what arrives and what is used.
//!
//! In: the header of a message, and the worker whose key it came under. Out: yes, or a named refusal, which is counted.
//! A gate knows whose it is, one run, one epoch and the workers that belong to it.
//!
//! Each sequence number of a sender passes once. Out of order is fine: up to [`WINDOW`] numbers that came early are
//! remembered, and what is older than those is refused.

use crate::envelope::{Broken, Header};
use crate::secret::{RunKey, Secret};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use thiserror::Error;

/// Sequence numbers of one sender that may be ahead of one that is missing.
pub const WINDOW: usize = 1024;

/// Why a message was not let in. The run is as it was before it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Refused {
    /// It is no message at all.
    #[error(transparent)]
    Broken(#[from] Broken),
    /// It belongs to another run.
    #[error("it belongs to run {0}")]
    OtherRun(u64),
    /// It comes from before a worker was lost.
    #[error("it belongs to epoch {0}, which is over")]
    OldEpoch(u32),
    /// It comes from an epoch that has not begun here; its sender is asked again later.
    #[error("it belongs to epoch {0}, which has not begun here")]
    NewEpoch(u32),
    /// It is for somebody else: who has heard it put it under another key.
    #[error("it is for {0}")]
    OtherReceiver(u32),
    /// Its sender is no worker of this run.
    #[error("its sender {0} is unknown")]
    UnknownSender(u32),
    /// It came under the key of another worker than it names.
    #[error("it says it is from {says} and came under the key of {came_from}")]
    Forged {
        /// The sender in the header.
        says: u32,
        /// The sender in the key.
        came_from: u32,
    },
    /// It is about a quantum that is over here, or too far ahead; its number may still pass later.
    #[error("it is about quantum {0}, which is not wanted now")]
    Unwanted(u64),
    /// It was let in before.
    #[error("number {sequence} of sender {sender} came before")]
    Replayed {
        /// Whose it is.
        sender: u32,
        /// Its number.
        sequence: u64,
    },
}

/// What kind of refusal it was. What stands in front of the gate refuses as well: lanes, and the fabric below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// [`Broken::NotOurs`].
    NotOurs,
    /// [`Broken::OtherVersion`].
    OtherVersion,
    /// [`Broken::CutOff`].
    CutOff,
    /// [`Broken::TooLong`], or longer than the fabric below takes.
    TooLong,
    /// [`Broken::WrongSeal`].
    WrongSeal,
    /// [`Refused::OtherRun`].
    OtherRun,
    /// [`Refused::OldEpoch`].
    OldEpoch,
    /// [`Refused::NewEpoch`].
    NewEpoch,
    /// [`Refused::OtherReceiver`].
    OtherReceiver,
    /// [`Refused::UnknownSender`].
    UnknownSender,
    /// [`Refused::Forged`].
    Forged,
    /// [`Refused::Unwanted`].
    Unwanted,
    /// [`Refused::Replayed`].
    Replayed,
    /// A connection of a lane that began or went on as none of ours would.
    Lane,
    /// A connection that showed no certificate, or one that does not count here; or that did not take ours.
    Certificate,
    /// A member with a certificate of ours that is not in the access file.
    NotListed,
    /// Something that the access file does not allow a member.
    NotAllowed,
    /// A connection that did not begin, or go on, as that of a member does.
    Stranger,
}

impl Kind {
    /// All of them. The place in this list is the number of a kind in [`Refusals::since`].
    pub const ALL: [Kind; 18] = [
        Kind::NotOurs,
        Kind::OtherVersion,
        Kind::CutOff,
        Kind::TooLong,
        Kind::WrongSeal,
        Kind::OtherRun,
        Kind::OldEpoch,
        Kind::NewEpoch,
        Kind::OtherReceiver,
        Kind::UnknownSender,
        Kind::Forged,
        Kind::Unwanted,
        Kind::Replayed,
        Kind::Lane,
        Kind::Certificate,
        Kind::NotListed,
        Kind::NotAllowed,
        Kind::Stranger,
    ];

    /// Its name in a report.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Kind::NotOurs => "not ours",
            Kind::OtherVersion => "other version",
            Kind::CutOff => "cut off",
            Kind::TooLong => "too long",
            Kind::WrongSeal => "wrong seal",
            Kind::OtherRun => "other run",
            Kind::OldEpoch => "old epoch",
            Kind::NewEpoch => "new epoch",
            Kind::OtherReceiver => "other receiver",
            Kind::UnknownSender => "unknown sender",
            Kind::Forged => "forged sender",
            Kind::Unwanted => "unwanted quantum",
            Kind::Replayed => "replayed",
            Kind::Lane => "strange lane",
            Kind::Certificate => "wrong certificate",
            Kind::NotListed => "not in the access file",
            Kind::NotAllowed => "not allowed",
            Kind::Stranger => "strange connection",
        }
    }
}

impl From<Refused> for Kind {
    fn from(why: Refused) -> Kind {
        match why {
            Refused::Broken(Broken::NotOurs) => Kind::NotOurs,
            Refused::Broken(Broken::OtherVersion(_)) => Kind::OtherVersion,
            Refused::Broken(Broken::CutOff { .. }) => Kind::CutOff,
            Refused::Broken(Broken::TooLong { .. }) => Kind::TooLong,
            Refused::Broken(Broken::WrongSeal) => Kind::WrongSeal,
            Refused::OtherRun(_) => Kind::OtherRun,
            Refused::OldEpoch(_) => Kind::OldEpoch,
            Refused::NewEpoch(_) => Kind::NewEpoch,
            Refused::OtherReceiver(_) => Kind::OtherReceiver,
            Refused::UnknownSender(_) => Kind::UnknownSender,
            Refused::Forged { .. } => Kind::Forged,
            Refused::Unwanted(_) => Kind::Unwanted,
            Refused::Replayed { .. } => Kind::Replayed,
        }
    }
}

/// How often each kind of refusal happened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refusals([u64; Kind::ALL.len()]);

impl Refusals {
    /// How often this kind happened.
    #[must_use]
    pub fn of(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }

    /// All of them by name, for a report.
    #[must_use]
    pub fn named(&self) -> [(&'static str, u64); Kind::ALL.len()] {
        Kind::ALL.map(|kind| (kind.word(), self.of(kind)))
    }

    /// What has been added since, as (kind, count).
    #[must_use]
    pub fn since(&self, before: &Refusals) -> Vec<(u8, u64)> {
        let grown = self.0.iter().zip(before.0).map(|(now, then)| now.saturating_sub(then));
        (0..).zip(grown).filter(|(_, more)| *more > 0).collect()
    }

    /// Adds such a list; what is no kind is left out.
    pub fn add(&mut self, more: &[(u8, u64)]) {
        for (kind, more) in more {
            if let Some(count) = self.0.get_mut(usize::from(*kind)) {
                *count = count.saturating_add(*more);
            }
        }
    }

    /// All together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Counts one more.
    pub fn count(&mut self, why: impl Into<Kind>) {
        self.0[why.into() as usize] += 1;
    }
}

/// The check, and what it remembers.
#[derive(Clone, Debug)]
pub struct Gate {
    run: u64,
    secret: Secret,
    epoch: u32,
    me: u32,
    wanted: RangeInclusive<u64>,
    senders: BTreeMap<u32, Passed>,
    refusals: Refusals,
}

/// Which sequence numbers of a sender have passed: all below the floor, and these.
#[derive(Clone, Debug, Default)]
struct Passed {
    floor: u64,
    above: BTreeSet<u64>,
}

impl Gate {
    /// The gate of worker `me` for what these workers of a run send to it.
    #[must_use]
    pub fn new(run: impl Into<RunKey>, epoch: u32, me: u32, senders: impl IntoIterator<Item = u32>) -> Gate {
        let senders = senders.into_iter().map(|s| (s, Passed::default())).collect();
        let RunKey { number: run, secret } = run.into();
        Gate { run, secret, epoch, me, wanted: 0..=u64::MAX, senders, refusals: Refusals::default() }
    }

    /// Lets in only messages about these quanta from now on; without it, about all.
    pub fn want(&mut self, quanta: RangeInclusive<u64>) {
        self.wanted = quanta;
    }

    /// Begins another epoch with these workers: sequence numbers begin again, all quanta are wanted, and what was refused
    /// stays counted.
    pub fn begin(&mut self, epoch: u32, senders: impl IntoIterator<Item = u32>) {
        let run = RunKey { number: self.run, secret: self.secret.clone() };
        *self = Gate { refusals: self.refusals, ..Gate::new(run, epoch, self.me, senders) };
    }

    /// The epoch.
    #[must_use]
    pub fn epoch(&self) -> u32 {
        self.epoch
    }

    /// What was refused so far.
    #[must_use]
    pub fn refusals(&self) -> Refusals {
        self.refusals
    }

    /// Counts a message that was let in and turned out to be of no use.
    pub fn refuse(&mut self, why: Refused) {
        self.refusals.count(why);
    }

    /// Opens bytes that came under the key of a worker, and lets them in or not.
    ///
    /// # Errors
    /// The reason, which has been counted.
    pub fn admit<'a>(
        &mut self,
        came_from: u32,
        bytes: &'a [u8],
        limit: usize,
    ) -> Result<(Header, &'a [u8]), Refused> {
        let opened = crate::envelope::open(bytes, limit, &self.secret).map_err(Refused::from);
        let admitted = opened.and_then(|(header, payload)| {
            self.check(came_from, &header)?;
            Ok((header, payload))
        });
        if let Err(why) = admitted {
            self.refusals.count(why);
        }
        admitted
    }

    fn check(&mut self, came_from: u32, header: &Header) -> Result<(), Refused> {
        let Header { run, epoch, quantum, sender, receiver, sequence } = *header;
        if run != self.run {
            return Err(Refused::OtherRun(run));
        }
        // Numbers count what goes to one receiver: what was meant for another would use up one of them.
        if receiver != self.me {
            return Err(Refused::OtherReceiver(receiver));
        }
        if epoch < self.epoch {
            return Err(Refused::OldEpoch(epoch));
        }
        if epoch > self.epoch {
            return Err(Refused::NewEpoch(epoch));
        }
        let passed = self.senders.get_mut(&sender).ok_or(Refused::UnknownSender(sender))?;
        if sender != came_from {
            return Err(Refused::Forged { says: sender, came_from });
        }
        if !self.wanted.contains(&quantum) {
            return Err(Refused::Unwanted(quantum));
        }
        if !passed.pass(sequence) {
            return Err(Refused::Replayed { sender, sequence });
        }
        Ok(())
    }
}

impl Passed {
    /// Whether this number passes for the first time.
    fn pass(&mut self, sequence: u64) -> bool {
        if sequence < self.floor || !self.above.insert(sequence) {
            return false;
        }
        if self.above.len() > WINDOW
            && let Some(first) = self.above.pop_first()
        {
            self.floor = first + 1;
        }
        while self.above.remove(&self.floor) {
            self.floor += 1;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::seal;

    const ME: u32 = 7;

    fn message(run: u64, epoch: u32, sender: u32, sequence: u64) -> Vec<u8> {
        seal(&Header { run, epoch, quantum: 5, sender, receiver: ME, sequence }, b"hello", &Secret::default())
    }

    #[test]
    fn what_belongs_here_comes_in_and_everything_else_is_named_and_counted() {
        let mut gate = Gate::new(10_u64, 3, ME, [1, 2]);
        assert!(gate.admit(1, &message(10, 3, 1, 0), 100).is_ok());
        let cases = [
            (1, message(11, 3, 1, 1), Refused::OtherRun(11)),
            (1, message(10, 2, 1, 1), Refused::OldEpoch(2)),
            (1, message(10, 4, 1, 1), Refused::NewEpoch(4)),
            (9, message(10, 3, 9, 1), Refused::UnknownSender(9)),
            (1, message(10, 3, 2, 1), Refused::Forged { says: 2, came_from: 1 }),
            (1, message(10, 3, 1, 0), Refused::Replayed { sender: 1, sequence: 0 }),
            (1, b"nonsense".to_vec(), Refused::Broken(Broken::NotOurs)),
        ];
        for (count, (came_from, bytes, why)) in cases.into_iter().enumerate() {
            assert_eq!(gate.admit(came_from, &bytes, 100), Err(why));
            assert_eq!(gate.refusals().total(), count as u64 + 1);
        }
        assert!(gate.refusals().named().iter().filter(|n| n.1 > 0).all(|n| n.1 == 1));
        let long = message(10, 3, 1, 1);
        assert_eq!(gate.admit(1, &long, 4), Err(Broken::TooLong { is: 5, most: 4 }.into()));
        assert!(gate.admit(1, &long, 5).is_ok(), "a refusal spent its sequence number");
    }

    #[test]
    fn every_kind_stands_at_its_place_under_a_name_of_its_own() {
        for (place, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, place);
        }
        let names: BTreeSet<&str> = Kind::ALL.map(Kind::word).into();
        assert_eq!(names.len(), Kind::ALL.len());
    }

    #[test]
    fn what_is_told_of_refusals_adds_up() {
        let mut gate = Gate::new(10_u64, 3, ME, [1]);
        let mut sum = Refusals::default();
        for (k, bytes) in [message(11, 3, 1, 0), message(10, 2, 1, 0), b"x".to_vec()].iter().enumerate() {
            let before = gate.refusals();
            assert!(gate.admit(1, bytes, 100).is_err());
            let more = gate.refusals().since(&before);
            assert_eq!(more.len(), 1, "{k}");
            sum.add(&more);
        }
        sum.add(&[(200, 7)]);
        assert_eq!(sum, gate.refusals());
        let named: Vec<(&str, u64)> = sum.named().into_iter().filter(|n| n.1 > 0).collect();
        assert_eq!(named, [("not ours", 1), ("other run", 1), ("old epoch", 1)]);
    }

    #[test]
    fn a_forged_message_spends_no_number_of_the_one_it_names() {
        let mut gate = Gate::new(10_u64, 3, ME, [1, 2]);
        assert!(gate.admit(1, &message(10, 3, 2, 0), 100).is_err());
        assert!(gate.admit(2, &message(10, 3, 2, 0), 100).is_ok());
    }

    #[test]
    fn a_message_for_another_is_refused_and_spends_no_number() {
        let mut gate = Gate::new(10_u64, 3, ME, [1]);
        let header = Header { run: 10, epoch: 3, quantum: 5, sender: 1, receiver: 8, sequence: 0 };
        let redirected = seal(&header, b"for another", &Secret::default());
        assert_eq!(gate.admit(1, &redirected, 100), Err(Refused::OtherReceiver(8)));
        assert_eq!(gate.refusals().of(Kind::OtherReceiver), 1);
        assert!(gate.admit(1, &message(10, 3, 1, 0), 100).is_ok());
    }

    #[test]
    fn what_is_not_wanted_now_may_come_again_later() {
        let mut gate = Gate::new(10_u64, 3, ME, [1]);
        gate.want(0..=4);
        assert_eq!(gate.admit(1, &message(10, 3, 1, 0), 100), Err(Refused::Unwanted(5)));
        gate.want(5..=9);
        assert!(gate.admit(1, &message(10, 3, 1, 0), 100).is_ok());
    }

    #[test]
    fn numbers_pass_once_in_any_order() {
        let mut passed = Passed::default();
        for sequence in [3, 1, 0, 2, 10, 4] {
            assert!(passed.pass(sequence), "{sequence}");
            assert!(!passed.pass(sequence), "{sequence} twice");
        }
        assert_eq!((passed.floor, passed.above.len()), (5, 1));
    }

    #[test]
    fn a_number_that_never_comes_costs_bounded_memory() {
        let mut passed = Passed::default();
        for sequence in 1..10_000 {
            assert!(passed.pass(sequence));
            assert!(passed.above.len() <= WINDOW);
        }
        assert!(!passed.pass(0), "too old to know");
        assert!(passed.pass(u64::MAX) && passed.above.len() <= WINDOW);
    }

    #[test]
    fn a_new_epoch_begins_from_the_first_number() {
        let mut gate = Gate::new(10_u64, 3, ME, [1]);
        assert!(gate.admit(1, &message(10, 3, 1, 0), 100).is_ok());
        gate.begin(4, [1, 2]);
        assert!(gate.admit(1, &message(10, 4, 1, 0), 100).is_ok());
        assert!(gate.admit(2, &message(10, 4, 2, 0), 100).is_ok());
        assert_eq!(gate.admit(1, &message(10, 3, 1, 1), 100), Err(Refused::OldEpoch(3)));
    }
}
