//! Where workers come from: processes on this machine, or hosts that lend theirs.
//!
//! In: numbers of workers that are wanted. Out: processes that work for the run, each told the addresses of the keeper
//! and of all workers before it, so that every two are connected directly.
//!
//! What never happens: a process that stays when nobody needs it any more.

mod hosts;
mod local;
mod process;

pub use hosts::{Address, Connect, Figures, HostStaff, Hosts, figures, visit};
pub use local::Processes;
pub use process::{Job, Launch, Process, SecretBytes};

/// Somebody was hired: what may be told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hired {
    /// The number of the worker.
    pub worker: u32,
    /// Its process, on the machine it runs on.
    pub pid: u32,
    /// Where others reach it.
    pub endpoint: String,
    /// The host that lends the machine; `None` is this machine.
    pub host: Option<String>,
}

/// Told of everyone who is hired.
pub type Tell = Box<dyn FnMut(&Hired) + Send>;
