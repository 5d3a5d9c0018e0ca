//! Native programs whose robot is simulated elsewhere: they stay here, and answer whoever has their robot now.
//!
//! In: what a robot's registers show at a stop ([`Shown`]). Out: what its program decided ([`Answer`]), as if its robot were
//! here. Whoever did not hear an answer asks again and gets the same one.
//!
//! What never happens: a program that is shown the same stop twice, or an earlier one after a later one; one that is
//! led through its past here: only who has the robot has that.

use super::{Call, Crew, Key, native};
use crate::native::Native;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use swarmyard_base::Uid;
use swarmyard_engine::{InputKind, Journal, Model};
use swarmyard_part_api::{RegisterFile, RegisterMap};

/// What a program is shown by who has its robot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shown {
    /// The robot.
    pub robot: Uid,
    /// Which of its controllers.
    pub controller: u32,
    /// It has been shown nothing before, or is to start anew.
    is_new: bool,
    /// The latched registers.
    image: Vec<u8>,
    /// The private states of parts with ports: (part, state).
    ports: Vec<(u32, Vec<f64>)>,
}

/// What comes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Answer {
    /// This is to enter the journal.
    Decided(InputKind),
    /// It is still at work: ask again.
    AtWork,
    /// It does not run here: who asks has to run it.
    NotHere,
}

/// The programs of one robot that is elsewhere. Dropping this ends them.
pub struct Away {
    robot: Uid,
    /// The stop at which the robot left: nothing before it is asked any more.
    left: u64,
    registers: Arc<RegisterMap>,
    /// Numbers in the private states of parts with ports, by part.
    widths: BTreeMap<u32, usize>,
    /// By controller.
    natives: Vec<Option<Arc<Native>>>,
    crew: Crew,
    /// The last stop that each was asked about, and what it decided.
    last: BTreeMap<usize, (u64, Option<InputKind>)>,
}

impl Shown {
    pub(super) fn new(robot: Uid, controller: usize, is_new: bool, registers: &RegisterFile) -> Shown {
        let ports = registers.ports().iter().map(|(part, state)| (*part as u32, state.clone()));
        Shown {
            robot,
            controller: controller as u32,
            is_new,
            image: registers.image().to_vec(),
            ports: ports.collect(),
        }
    }

    /// About how many bytes it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        32 + self.image.len() + self.ports.iter().map(|(_, state)| 16 + 8 * state.len()).sum::<usize>()
    }
}

impl Crew {
    /// Lets go of the programs of a robot that leaves at this stop; `None` when none of them runs.
    pub fn part_with(&mut self, model: &Model, robot: Uid, stop: u64) -> Option<Away> {
        let own: Vec<Key> =
            self.members.range((robot, 0)..=(robot, usize::MAX)).map(|(key, _)| *key).collect();
        let ty = model.type_at(model.slot_of(robot).filter(|_| !own.is_empty())?);
        let mut crew = Crew::default();
        for key in own {
            crew.members.extend(self.members.remove(&key).map(|member| (key, member)));
        }
        let ports = ty.registers.all().iter().filter(|register| register.is_port());
        Some(Away {
            robot,
            left: stop,
            registers: Arc::clone(&ty.registers),
            widths: ports.map(|r| (r.part as u32, ty.parts[r.part].layout.state.len())).collect(),
            natives: ty.controllers.iter().map(|c| native(&c.model).cloned()).collect(),
            crew,
            last: BTreeMap::new(),
        })
    }

    /// A robot is back: those of its programs that are still meant are members again, the others are ended.
    pub fn take_back(&mut self, away: Away, is_meant: impl Fn(usize) -> bool) {
        self.members.extend(away.crew.members.into_iter().filter(|(key, _)| is_meant(key.1)));
    }
}

impl Away {
    /// Whose they are.
    #[must_use]
    pub fn robot(&self) -> Uid {
        self.robot
    }

    /// Which of the robot's controllers run here.
    pub fn controllers(&self) -> impl Iterator<Item = usize> {
        self.crew.members.keys().map(|key| key.1)
    }

    /// Sees to it that a program works on what it is shown at a stop, in a quantum of so many microseconds. Answers at once
    /// what is known already; else [`Away::collect`] tells what comes.
    pub fn post(&mut self, stop: u64, tick_us: u32, shown: &Shown) -> Option<Answer> {
        let c = shown.controller as usize;
        match self.last.get(&c) {
            Some((last, Some(decided))) if *last == stop => return Some(Answer::Decided(decided.clone())),
            Some((last, None)) if *last == stop => return None,
            // Somebody who has gone on since does not wait for this.
            Some((last, _)) if *last > stop => return Some(Answer::NotHere),
            _ => {}
        }
        let Some(native) = self.natives.get(c).cloned().flatten().filter(|_| stop >= self.left) else {
            return Some(Answer::NotHere);
        };
        let key = (self.robot, c);
        let Some(registers) = self.latched(shown) else { return Some(Answer::NotHere) };
        if !shown.is_new && !self.crew.members.contains_key(&key) {
            return Some(Answer::NotHere);
        }
        let (is_new, journal) = (shown.is_new, Journal::default());
        let call = Call { key, native: &native, stop, tick_us, is_new, past: &[], journal: &journal };
        self.last.insert(c, (stop, None));
        match self.crew.post(&call, || registers) {
            Ok(()) => None,
            Err(thought) => Some(self.decided(key, stop, super::input(key, Vec::new(), thought, 0))),
        }
    }

    /// Looks for a program's answer to what it was shown.
    pub fn collect(&mut self, stop: u64, shown: &Shown, wait: Duration) -> Answer {
        let key = (self.robot, shown.controller as usize);
        let Some(native) = self.natives.get(key.1).cloned().flatten() else { return Answer::NotHere };
        match self.last.get(&key.1) {
            Some((last, Some(decided))) if *last == stop => Answer::Decided(decided.clone()),
            Some((last, None)) if *last == stop => match self.crew.collect(key, &native, wait) {
                Some(input) => self.decided(key, stop, input),
                None => Answer::AtWork,
            },
            _ => Answer::NotHere,
        }
    }

    fn decided(&mut self, key: Key, stop: u64, input: InputKind) -> Answer {
        self.last.insert(key.1, (stop, Some(input.clone())));
        Answer::Decided(input)
    }

    /// The registers as they are where the robot is; `None` when they are not those of this robot.
    fn latched(&self, shown: &Shown) -> Option<RegisterFile> {
        let states: BTreeMap<u32, &[f64]> = shown.ports.iter().map(|(part, s)| (*part, &s[..])).collect();
        let fits =
            self.widths.iter().all(|(part, width)| states.get(part).is_some_and(|s| s.len() == *width));
        let mut registers = RegisterFile::new(Arc::clone(&self.registers));
        if shown.robot != self.robot || !fits || !registers.bring_image(&shown.image) {
            return None;
        }
        registers.bring_ports(|part| states.get(&(part as u32)).copied().unwrap_or_default());
        Some(registers)
    }
}
