//! The commands of many machines, in a build without them: each says so.

use super::fail::{Exit, Failure};
use super::load::How;
use super::out::Out;
use clap::Args;
use serde_json::Value;
use std::ffi::OsString;
use swarmyard::engine::Model;
use swarmyard::{Crowd, Sim, Statistics};
use swarmyard_agents::Elsewhere;
use swarmyard_modules::pipe::{Here, Places};

fn absent() -> Failure {
    Failure::new(
        Exit::Failed,
        "no-fabric",
        "this build of swarmyard has no fabric: it runs in one process only",
    )
    .help("build it with the feature `cluster`, which is on by default")
}

/// Whatever comes after the command.
#[derive(Args)]
pub(crate) struct Rest {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _rest: Vec<OsString>,
}

pub(crate) use Rest as HostArgs;
pub(crate) use Rest as HostsArgs;
pub(crate) use Rest as KeysArgs;
pub(crate) use Rest as ResumeArgs;
pub(crate) use Rest as WorkerArgs;

pub(crate) fn bench(_: Option<(swarmyard::bench::World, u32)>, _: &Out) -> Result<Exit, Failure> {
    Err(absent())
}

pub(crate) fn host(_: &Rest, _: &Out) -> Result<Exit, Failure> {
    Err(absent())
}

pub(crate) fn hosts(_: &Rest, _: &Out) -> Result<Exit, Failure> {
    Err(absent())
}

pub(crate) fn keys(_: &Rest, _: &Out) -> Result<Exit, Failure> {
    Err(absent())
}

pub(crate) fn resume(_: &Rest, _: &Out) -> Result<Exit, Failure> {
    Err(absent())
}

pub(crate) fn worker(_: &Rest, _: &Out) -> Result<Exit, Failure> {
    Err(absent())
}

/// Which hosts may run programs: none in this build.
#[derive(Args)]
pub(crate) struct ReachArgs {
    /// Not in this build
    #[arg(long, value_name = "HOSTS", hide = true)]
    hosts: Option<String>,
}

impl ReachArgs {
    pub(crate) fn places(&self, here: Here, _: &Out) -> Result<Box<dyn Places>, Failure> {
        if self.hosts.is_some() { Err(absent()) } else { Ok(Box::new(here)) }
    }

    pub(crate) fn sister(&self, _: &str, _: &[String], _: &Out) -> Result<Exit, Failure> {
        Err(absent())
    }
}

/// Displays on other hosts: none in this build.
pub(crate) struct Displays;

impl Displays {
    pub(crate) fn start(_: &[(String, String)], _: &Elsewhere, _: &str, _: &Out) -> Displays {
        Displays
    }
}

/// Hosts that run what robots have elsewhere: none in this build.
#[derive(Args)]
pub(crate) struct ElsewhereArgs {
    /// Not in this build
    #[arg(long, value_name = "HOSTS", hide = true)]
    reach: Option<String>,
}

impl ElsewhereArgs {
    pub(crate) fn elsewhere(&self) -> Result<Option<Elsewhere>, Failure> {
        if self.reach.is_some() { Err(absent()) } else { Ok(None) }
    }
}

/// Who takes the steps.
#[derive(Args)]
pub(crate) struct SpreadArgs {
    /// Not in this build
    #[arg(long, value_name = "N", hide = true)]
    workers: Option<u32>,
    /// Not in this build
    #[arg(long, value_name = "HOSTS", hide = true)]
    hosts: Option<String>,
    /// Not in this build
    #[arg(long, value_name = "REC", hide = true)]
    placement_from: Option<std::path::PathBuf>,
    #[command(flatten)]
    way: ElsewhereArgs,
}

/// The same for `serve`.
#[derive(Args)]
pub(crate) struct ServeSpreadArgs {
    #[command(flatten)]
    pub(crate) args: SpreadArgs,
}

/// A run that is spread: there is none.
pub(crate) enum Spread {}

impl SpreadArgs {
    pub(crate) fn elsewhere(&self) -> Result<Option<Elsewhere>, Failure> {
        self.way.elsewhere()
    }

    pub(crate) fn is_wanted(&self) -> bool {
        self.workers.is_some() || self.hosts.is_some() || self.placement_from.is_some()
    }

    pub(crate) fn is_placed(&self) -> bool {
        self.placement_from.is_some()
    }

    pub(crate) fn give(
        &self,
        _: &mut Sim,
        _: &How,
        _: Option<&std::path::Path>,
        _: &Out,
    ) -> Result<Option<Spread>, Failure> {
        if self.is_wanted() { Err(absent()) } else { Ok(None) }
    }

    pub(crate) fn crowd(
        &self,
        _: Option<&Model>,
        _: &How,
        _: &Out,
    ) -> Result<Option<Box<dyn Crowd>>, Failure> {
        if self.is_wanted() { Err(absent()) } else { Ok(None) }
    }
}

impl Spread {
    pub(crate) fn statistics(&self) -> Statistics {
        match *self {}
    }

    pub(crate) fn head(&self) -> String {
        match *self {}
    }

    pub(crate) fn is_finished(&mut self) {
        match *self {}
    }

    pub(crate) fn go_on(&self) -> Option<String> {
        match *self {}
    }

    pub(crate) fn text(&self) -> String {
        match *self {}
    }

    pub(crate) fn json(&self) -> Value {
        match *self {}
    }
}
