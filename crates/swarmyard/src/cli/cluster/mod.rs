//! The commands of many machines: `host`, `hosts`, `keys`, `resume`, `worker`, and what `run` and `bench` do with workers.

mod bench;
mod displays;
mod fabric;
mod host;
mod hosts;
mod keys;
mod names;
mod reach;
mod resume;
mod spread;
mod worker;

pub(crate) use bench::bench;
pub(crate) use displays::Displays;
pub(crate) use host::{HostArgs, host};
pub(crate) use hosts::{HostsArgs, hosts};
pub(crate) use keys::{KeysArgs, keys};
pub(crate) use reach::{ElsewhereArgs, ReachArgs};
pub(crate) use resume::{ResumeArgs, resume};
pub(crate) use spread::{ServeSpreadArgs, Spread, SpreadArgs};
pub(crate) use worker::{WorkerArgs, worker};
