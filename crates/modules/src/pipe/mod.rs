//! Chains whose modules are processes: each has its stdin and stdout as pipes, and a link that says what goes through.
//!
//! In: programs and the hosts they are to run on. Out: the lines that come out of the last one, and events.
//!
//! Start reading at [`Runner::step`]: one thread looks at all pipes, carries bytes, and waits only there. Where a module
//! runs is decided by [`Places`]: [`Here`] starts it on this machine; whoever knows other hosts brings pipes that lead
//! there.
//!
//! *Invariants:* no module can hang the chain: silence, floods, nonsense and deaths are named events, and then the
//! module is started again or left out. Dropping a [`Runner`] ends every program that it started.
#![cfg(target_os = "linux")]

mod here;
mod runner;
mod seat;

pub use here::{Here, words};
pub use runner::{AddError, Patience, Runner, Source};

use crate::event::How;
use std::os::fd::OwnedFd;

/// A module's program, and where it is to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Its number in the chain.
    pub number: u16,
    /// The host.
    pub host: String,
    /// The program and its arguments; the name of a built-in module stands for that module.
    pub words: Vec<String>,
    /// Its answers depend on one input alone: when it is started again, it does not get old inputs again.
    pub is_stateless: bool,
}

impl Program {
    /// What it is called in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        let program = self.words.first().map_or("?", String::as_str);
        program.rsplit('/').next().unwrap_or(program)
    }
}

/// A program that runs, wherever it is.
pub trait Process {
    /// How it ended, once it has.
    fn ended(&mut self) -> Option<How>;
    /// Ends it, and waits until it is gone.
    fn kill(&mut self);
    /// Its process, when it is on this machine.
    fn id(&self) -> Option<u32>;
}

/// A program that runs, and the pipes that lead to it.
pub struct Placed {
    /// What it reads.
    pub input: OwnedFd,
    /// What it writes.
    pub output: OwnedFd,
    /// What it tells people, if that can be had.
    pub errors: Option<OwnedFd>,
    /// The program. Dropping it ends it.
    pub process: Box<dyn Process>,
}

/// Why a module cannot run there. Nothing runs.
#[derive(Debug, thiserror::Error)]
pub enum PlaceError {
    /// Nobody knows that host.
    #[error(
        "host `{0}` is not known here: other machines are given by `--hosts`, this one is `local` or `-`"
    )]
    UnknownHost(String),
    /// Nobody among the hosts that are known is so, or can that; in words.
    #[error("{0}")]
    NoHost(String),
    /// There is nothing to start.
    #[error("there is no program to start")]
    NoProgram,
    /// The host would not start it.
    #[error("the program `{program}` cannot be started: {error}")]
    Start {
        /// The program.
        program: String,
        /// What the host said.
        #[source]
        error: std::io::Error,
    },
}

/// Those who start modules: this machine, or many.
pub trait Places {
    /// Whether there is such a host, before anything is started.
    ///
    /// # Errors
    /// When there is none.
    fn check(&self, host: &str) -> Result<(), PlaceError>;

    /// Starts a module on its host. It is asked again after a death, and may then choose another host.
    ///
    /// # Errors
    /// When it cannot run there.
    fn start(&mut self, program: &Program) -> Result<Placed, PlaceError>;
}
