//! Controllers that are native processes: any program, in any language.
//!
//! In: the latched registers of one robot, once per quantum, as a packed image. Out: what the program
//! poked, in order; what it said; how much processor time it took. A program that hangs, crashes,
//! floods, forks or answers garbage costs only its own robot: it shows as [`Poll::Pending`] for ever
//! or as [`Poll::Dead`] with the reason, and [`Child::stop`] or dropping leaves no process behind.
//!
//! What never happens: this module knows neither the engine nor what a register means. It holds no
//! thread and waits only inside [`Child::poll`] and [`Child::stop`].
//!
//! Start reading at [`Child`]; `keeper.rs` says how nothing is left running, `memory.rs` and
//! `records.rs` what travels. This is not a sandbox: a native program may do whatever its user may.
//! Programs nobody trusts belong into WebAssembly.
#![cfg(target_os = "linux")]

mod child;
mod events;
mod keeper;
mod leash;
mod lines;
mod memory;
mod pipes;
mod printed;
mod records;
mod spans;
mod stream;
mod sys;
mod talk;

pub use child::{Child, PostError, StartError};
pub use leash::Leash;
pub(crate) use talk::{Talk, Talked};

use std::path::PathBuf;
use std::time::Duration;

/// Reads bytes as a program's answers, in both encodings, to their end or first mistake.
pub(crate) fn fuzz(data: &[u8]) {
    let mut rest = data;
    while let Ok(Some((_, used))) = records::next(rest) {
        assert!(used > 0 && used <= rest.len(), "a reader goes on");
        rest = &rest[used..];
    }
    let mut rest = data;
    while let Ok(Some((_, used))) = lines::next(rest) {
        assert!(used > 0 && used <= rest.len(), "a reader goes on");
        rest = &rest[used..];
    }
}

/// The version of the register interface, `RIO_API_VERSION` in `rio.h`.
pub const VERSION: u32 = 1;

/// What a program may do with a stretch of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A reading: only peeked.
    Read,
    /// A command: peeked (as latched) and poked.
    Write,
    /// Every poke is delivered in order; a peek is answered at once, by the part.
    Port,
}

/// A stretch of mapped addresses, and where its bytes stand in the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Address of the first byte.
    pub address: u32,
    /// Length.
    pub bytes: u32,
    /// Place of the first byte in the image; ports have none, so theirs is not looked at.
    pub offset: u32,
    /// What may be done with it.
    pub access: Access,
}

/// A register as a human knows it. Only told over [`Transport::Lines`]; C has generated headers.
#[derive(Clone, Debug, PartialEq)]
pub struct Register {
    /// Its name, without blanks.
    pub name: String,
    /// Address of its first byte.
    pub at: u32,
    /// Bytes of one number: 1, 2 or 4.
    pub bytes: u32,
    /// How many numbers follow one another.
    pub count: u32,
    /// Whether counts are two's complement.
    pub signed: bool,
    /// What one count is worth.
    pub scale: f64,
    /// What a count of zero means.
    pub offset: f64,
    /// Unit of the value; may be empty.
    pub unit: String,
}

/// How the program and the simulator talk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Shared memory and futexes (`sdk/c/rio_process.c`): the fast one. What the program prints is
    /// captured.
    Shared,
    /// Binary records over stdin and stdout (`sdk/c/rio_process.c`).
    Pipes,
    /// Lines of text over stdin and stdout: docs/register-protocol.md.
    Lines,
}

/// What a program may use up. `None` is unlimited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Address space, in bytes; an allocation beyond it fails in the program.
    pub memory_bytes: Option<u64>,
    /// Processes and threads, of the program and all that it started; when it wants one more, all are
    /// killed. Where the kernel cannot ask us first (no seccomp notification), tasks are counted twenty
    /// times a second, and a fork bomb gets beyond the limit for that long.
    pub tasks: Option<u32>,
    /// Size of a file it writes.
    pub file_bytes: Option<u64>,
    /// Files open at once.
    pub open_files: Option<u64>,
    /// Processor time over its whole life, in seconds.
    pub cpu_seconds: Option<u64>,
    /// Pokes and bad peeks in one quantum; one more ends the program.
    pub accesses: Option<u32>,
    /// Lines it may say in one quantum; what is beyond is counted and thrown away.
    pub said_lines: Option<u32>,
    /// Bytes it may say in one quantum; what is beyond is counted and thrown away.
    pub said_bytes: Option<u32>,
    /// How long [`Child::stop`] waits for it to end by itself.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: Some(4 << 30),
            tasks: Some(64),
            file_bytes: Some(64 << 20),
            open_files: Some(256),
            cpu_seconds: None,
            accesses: Some(65_536),
            said_lines: Some(100),
            said_bytes: Some(16_384),
            grace: Duration::from_millis(500),
        }
    }
}

/// A program to start for one robot.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program: a name is looked up in `PATH`, a path is taken from `cwd`.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<String>,
    /// The directory it works in.
    pub cwd: PathBuf,
    /// Added to the environment it inherits.
    pub env: Vec<(String, String)>,
    /// All mapped addresses, in any order.
    pub spans: Vec<Span>,
    /// Names of the registers; may be empty.
    pub registers: Vec<Register>,
    /// Length of the image.
    pub image_len: usize,
    /// How to talk.
    pub transport: Transport,
    /// What it may use up.
    pub limits: Limits,
    /// Length of a tick in microseconds.
    pub tick_us: u32,
    /// Who counts what it costs, when it stands for a program elsewhere.
    pub meter: Option<crate::Meter>,
}

/// One write to a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poke {
    /// Where.
    pub address: u32,
    /// Bytes: 1, 2 or 4; the address is a multiple of it.
    pub width: u32,
    /// What, in the lowest bytes; the others are zero.
    pub value: u32,
}

/// Why an access did less than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadKind {
    /// The address is not a multiple of the width.
    Misaligned,
    /// Nothing is mapped at one of the bytes.
    Unmapped,
    /// One of the bytes belongs to a reading, which cannot be written.
    ReadOnly,
    /// The value does not fit the width (only sayable over [`Transport::Lines`]).
    TooWide,
}

/// An access that did less than it said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadAccess {
    /// Where.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub width: u32,
    /// Whether it was a poke.
    pub write: bool,
    /// What was wrong with it.
    pub kind: BadKind,
}

/// The program's answer to one quantum.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// What it wrote, in order, since the last [`PortRead`] or the last reply. A poke of which only
    /// some bytes may be written is here and in `bad`; one that can write nothing is only in `bad`.
    pub pokes: Vec<Poke>,
    /// Accesses that did less than they said.
    pub bad: Vec<BadAccess>,
    /// Processor time its process took since the last reply; the first includes its start. What other
    /// processes did for it is not in it.
    pub cpu_ns: u64,
    /// Lines it logged or printed.
    pub said: Vec<String>,
}

/// The program reads a port and waits for [`Child::answer_port`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortRead {
    /// Where.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub width: u32,
    /// What it wrote before, in order: they come first, since a port may answer to them.
    pub before: Vec<Poke>,
}

/// What [`Child::poll`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Poll {
    /// Nothing yet.
    Pending,
    /// The quantum is answered.
    Ready(Reply),
    /// It wants to know what is in a port.
    Port(PortRead),
    /// It is gone, with all that it had started. Every later call says so again.
    Dead(Death),
}

/// Why a program is gone.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// It ended by itself.
    #[error("the program ended by itself with code {0}")]
    Exited(i32),
    /// A signal ended it.
    #[error("the program was ended by signal {0} ({name})", name = sys::signal_name(*.0))]
    Signal(i32),
    /// It was built against another version of the register interface.
    #[error(
        "the program speaks version {theirs} of the register interface, this simulator version {VERSION}: build it anew with this simulator's `sdk`"
    )]
    Version {
        /// The version it speaks.
        theirs: u32,
    },
    /// It broke the protocol and was killed.
    #[error("the program broke the protocol and was ended: {0}")]
    Protocol(String),
    /// It closed its end while it still ran, and was killed.
    #[error("the program closed its stdout, over which it should answer, and was ended")]
    Closed,
    /// It had more processes and threads than it may, and all were killed.
    #[error("the program had more than {0} processes and threads and was ended")]
    Tasks(u32),
    /// It made more accesses in one quantum than it may, and was killed.
    #[error("the program made more than {0} register writes in one quantum and was ended")]
    Accesses(u32),
    /// It did not end when asked, and was killed.
    #[error("the program did not end within the grace time and was killed")]
    Killed,
    /// Its keeper vanished (somebody else killed it), and with it the program.
    #[error("the keeper of the program is gone")]
    Keeper,
}

/// The end of a program, and its last words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Death {
    /// Why.
    pub cause: Cause,
    /// The last lines it logged or printed, at most fifty.
    pub lines: Vec<String>,
}

impl std::fmt::Display for Death {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.cause)?;
        match self.lines.last() {
            Some(line) => write!(f, "; its last words: `{line}`"),
            None => Ok(()),
        }
    }
}

/// How [`Child::stop`] came out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct End {
    /// How it ended; [`Cause::Exited`] with code 0 is as it should be.
    pub cause: Cause,
    /// What it wrote after it was asked to stop.
    pub pokes: Vec<Poke>,
    /// What it said since the last reply.
    pub said: Vec<String>,
}
