//! A program of somebody else's on a leash: whatever it speaks, nothing of it is left running.
//!
//! In: a command with its pipes. Out: how it ended, once it and all that it started are gone. What travels
//! over the pipes is the caller's business.

use super::keeper::Keeper;
use super::{Cause, Limits};
use std::os::fd::BorrowedFd;
use std::process::Command;

/// A running program. Dropping this kills it with all that it started, and so does the end of this process.
pub struct Leash(Keeper);

impl Leash {
    /// Starts a program. Of the limits, those of the system count: memory, tasks, files, processor time.
    ///
    /// # Errors
    /// When the system would not start it. Nothing runs then.
    pub fn start(command: Command, limits: &Limits) -> std::io::Result<Leash> {
        Keeper::start(command, limits, None).map(Leash)
    }

    /// The program's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.0.pid().as_raw().unsigned_abs()
    }

    /// Becomes readable when the program is gone.
    #[must_use]
    pub fn status(&self) -> BorrowedFd<'_> {
        self.0.status()
    }

    /// How the program ended, once it and all that it started are gone.
    pub fn end(&mut self) -> Option<Cause> {
        self.0.end().cloned()
    }

    /// Kills the program and all that it started, and waits until they are gone.
    pub fn kill(&mut self) {
        self.0.kill();
    }
}
