//! Controllers with a memory of their own for each robot: programs in a sandbox, and programs outside.
//!
//! A [`Program`] is shared by all robots of a type; a [`Mind`] is one robot's running copy of it. What
//! a mind does is a function of its memory and the registers it is shown, so a run with minds is
//! repeatable. What decides [`Outside`] of this program is not: its decisions enter the journal.

use crate::RegisterFile;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;
use swarmyard_base::{Diagnostics, Uid};

/// When a mind is asked, and whose it is.
#[derive(Clone, Copy, Debug)]
pub struct Occasion {
    /// The robot.
    pub robot: Uid,
    /// Quanta since the start of the run.
    pub tick: u64,
    /// Length of the quantum in microseconds, rounded.
    pub tick_us: u32,
}

/// What went wrong with a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Cause {
    /// It used up its fuel within one quantum.
    Overrun,
    /// It did not answer in time.
    Silence,
    /// It stopped, or did what a program must not do.
    Crash,
    /// It used an address that has no register, or one that cannot be used that way.
    BadRegister,
}

impl Cause {
    /// The words used in text.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Cause::Overrun => "ran out of fuel",
            Cause::Silence => "was silent",
            Cause::Crash => "crashed",
            Cause::BadRegister => "used a bad register",
        }
    }
}

/// What happens after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Policy {
    /// Its last commands stay; it goes on if it can.
    Hold,
    /// The robot is halted.
    Halt,
    /// It starts anew at the next quantum.
    Restart,
    /// The run ends.
    End,
}

impl Policy {
    /// The words in scenarios, in the order of the variants.
    pub const WORDS: &'static [&'static str] = &["hold", "halt", "restart", "end"];

    /// The policy of that name.
    #[must_use]
    pub fn named(word: &str) -> Option<Policy> {
        let all = [Policy::Hold, Policy::Halt, Policy::Restart, Policy::End];
        Policy::WORDS.iter().position(|w| *w == word).map(|k| all[k])
    }

    /// Its word.
    #[must_use]
    pub fn word(self) -> &'static str {
        Policy::WORDS[self as usize]
    }
}

/// How long a controller's decision takes to have effect, in simulated time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThinkTime {
    /// Always as long, in nanoseconds; zero means at once.
    Fixed(u64),
    /// As long as its fuel lasts on a processor of so many units per second.
    Fuel(f64),
    /// The processor time it took, as measured and journalled.
    Measured,
}

/// How a controller is treated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How long its decisions take.
    pub think: ThinkTime,
    /// After it ran out of fuel.
    pub on_overrun: Policy,
    /// After it was silent.
    pub on_silence: Policy,
    /// After it crashed.
    pub on_crash: Policy,
    /// After it used a bad register.
    pub on_bad_register: Policy,
}

impl Rules {
    /// What happens after a failure of this kind.
    #[must_use]
    pub fn after(&self, cause: Cause) -> Policy {
        match cause {
            Cause::Overrun => self.on_overrun,
            Cause::Silence => self.on_silence,
            Cause::Crash => self.on_crash,
            Cause::BadRegister => self.on_bad_register,
        }
    }

    /// Simulated nanoseconds until a decision has effect.
    #[must_use]
    pub fn think_ns(&self, fuel: u64, measured_ns: u64) -> u64 {
        match self.think {
            ThinkTime::Fixed(ns) => ns,
            ThinkTime::Fuel(per_second) => (fuel as f64 / per_second * 1e9).round() as u64,
            ThinkTime::Measured => measured_ns,
        }
    }
}

/// Something went wrong, in words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What kind of thing.
    pub cause: Cause,
    /// What exactly; may be empty.
    pub message: String,
}

/// What came of asking a mind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Thought {
    /// Fuel it used.
    pub fuel: u64,
    /// What it printed.
    pub said: Vec<String>,
    /// What went wrong. Pokes of an unfinished step do not count.
    pub failure: Option<Failure>,
}

impl Thought {
    /// A program outside is still busy with an earlier quantum: it has not even seen this one.
    #[must_use]
    pub fn still_busy() -> Thought {
        let failure = Some(Failure { cause: Cause::Silence, message: String::new() });
        Thought { failure, ..Thought::default() }
    }

    /// Whether a program outside has seen the quantum that this is about.
    #[must_use]
    pub fn was_shown(&self) -> bool {
        *self != Thought::still_busy()
    }
}

/// A program that runs inside: shared by all robots of a type.
pub trait Program: Send + Sync {
    /// How it is treated.
    fn rules(&self) -> Rules;

    /// Hash of its code.
    fn code(&self) -> u64;

    /// What one running copy may use: fuel per quantum, bytes of memory.
    fn allowance(&self) -> (u64, u64);

    /// A fresh copy for one robot.
    fn start(&self) -> Box<dyn Mind>;

    /// The host in whose sandbox copies run, by its name or what it can do; `None` is here.
    fn place(&self) -> Option<&str> {
        None
    }

    /// Its code as bytes, and the name under which a recording keeps it.
    fn bytes(&self) -> (&str, &[u8]);

    /// The file it was made from, if there is one.
    fn source(&self) -> Option<&Path>;

    /// Makes it anew from its source.
    ///
    /// # Errors
    /// What the compiler says.
    fn renewed(&self) -> Result<Arc<dyn Program>, Diagnostics>;

    /// A program that is treated the same, of other code.
    ///
    /// # Errors
    /// When the code cannot run here.
    fn with_code(&self, code: &[u8]) -> Result<Arc<dyn Program>, Diagnostics>;
}

/// One robot's running program.
pub trait Mind: Send {
    /// Shows it what the next [`Mind::think`] will ask: robots whose programs run elsewhere are asked together. The
    /// others need not look.
    fn show(&mut self, _: &Occasion, _: &RegisterFile) {}

    /// Lets it work for one quantum on the latched registers.
    fn think(&mut self, moment: &Occasion, registers: &mut RegisterFile) -> Thought;

    /// Tells it that the run is over; answers what it says to that. What it pokes has no effect.
    fn stop(&mut self) -> Vec<String>;

    /// Its whole memory as bytes: an image, or what it takes to make one by running again.
    fn image(&self) -> Vec<u8>;

    /// Brings a fresh copy to where `image` was taken.
    ///
    /// # Errors
    /// When the bytes do not fit to this program.
    fn restore(&mut self, image: &[u8]) -> Result<(), String>;
}

/// A controller outside of this program. The loop waits for its decisions.
pub trait Outside: Send + Sync + std::any::Any {
    /// How it is treated.
    fn rules(&self) -> Rules;

    /// Hash of what is started and of the registers it is shown, as the scenario has them: the same with
    /// its files at hand and without.
    fn code(&self) -> u64;
}
