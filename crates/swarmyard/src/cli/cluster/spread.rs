//! A run on workers: `run`, `resume` and `serve` with `--workers` or `--hosts`.
//!
//! In: the arguments, and a loaded run. Out: the same run, given to a keeper whose workers are processes of this machine
//! or of hosts; and at the end what each of them did.

use super::fabric::{identity, lost};
use super::names::{addresses, words};
use super::reach::ElsewhereArgs;
use crate::cli::fail::{Exit, Failure};
use crate::cli::load::How;
use crate::cli::out::{Out, bytes, count, marked};
use crate::cli::{again, figures, info};
use clap::{ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard::engine::{Model, undivided};
use swarmyard::{Crowd, Sim, Statistics};
use swarmyard_agents::Elsewhere;
use swarmyard_cluster::staff::{Hired, HostStaff, Hosts, Job, Processes, SecretBytes, Tell};
use swarmyard_cluster::{Given, Keeper, Plan, Save, Staff, Status};
use swarmyard_fabric::mesh::random_secret;
use swarmyard_fabric::{RunKey, Secret};

/// Who takes the steps.
#[derive(Args)]
#[command(next_help_heading = "Many machines")]
pub(crate) struct SpreadArgs {
    /// Spread the run over so many worker processes [with --hosts: one for each host]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub(crate) workers: Option<u32>,
    /// Spread the run over hosts: NAME as `keys add` wrote it down, NAME=HOST:PORT, HOST:PORT, or @FILE with one per line
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(crate) hosts: Vec<String>,
    /// Keep the last checkpoint in a file, to resume the run from when this process is lost [default for `run`: beside the recording, until the run has ended]
    #[arg(long, value_name = "PATH")]
    save: Option<PathBuf>,
    /// Take a checkpoint every N ticks, and sooner where ticks take long: when a worker is lost, the ticks since the last one are taken again
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    checkpoint_every: u64,
    /// Start from the cut that a recording of an earlier run on workers suggests; it never changes a result
    #[arg(long, value_name = "REC")]
    placement_from: Option<PathBuf>,
    /// Write where each worker runs, as JSON lines
    #[arg(long, value_name = "PATH")]
    workers_log: Option<PathBuf>,
    #[command(flatten)]
    way: ElsewhereArgs,
}

/// The same for `serve`, whose `--listen` is for displays.
pub(crate) struct ServeSpreadArgs {
    pub(crate) args: SpreadArgs,
}

impl FromArgMatches for ServeSpreadArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        SpreadArgs::from_arg_matches(matches).map(|args| ServeSpreadArgs { args })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.args.update_from_arg_matches(matches)
    }
}

impl Args for ServeSpreadArgs {
    fn augment_args(command: Command) -> Command {
        SpreadArgs::augment_args(command).mut_arg("listen", |arg| arg.long("workers-listen"))
    }

    fn augment_args_for_update(command: Command) -> Command {
        SpreadArgs::augment_args_for_update(command).mut_arg("listen", |arg| arg.long("workers-listen"))
    }
}

/// A run that is spread.
pub(crate) struct Spread {
    status: Arc<Mutex<Status>>,
    undivided: Option<&'static str>,
    /// From where the run can be resumed; a file that nobody asked for goes when the run has ended.
    saved: Save,
}

impl SpreadArgs {
    /// Whether the run is to be spread.
    pub(crate) fn is_wanted(&self) -> bool {
        self.workers.is_some() || !self.hosts.is_empty()
    }

    /// Whether robots of an earlier run say how to begin.
    pub(crate) fn is_placed(&self) -> bool {
        self.placement_from.is_some()
    }

    /// How controllers and part models on other hosts are reached.
    pub(crate) fn elsewhere(&self) -> Result<Option<Elsewhere>, Failure> {
        self.way.fabric.elsewhere("keeper", &self.reached()?)
    }

    /// Hosts whose programs robots may use, as they are written.
    fn reached(&self) -> Result<Vec<String>, Failure> {
        let keys = self.way.fabric.keys.as_deref();
        let mut all = words(&self.hosts, keys)?;
        all.extend(words(&self.way.reach, keys)?);
        Ok(all)
    }

    /// Gives the run to workers, when they are asked for. Where nothing is said about it, its checkpoint is kept beside a recording.
    pub(crate) fn give(
        &self,
        sim: &mut Sim,
        how: &How,
        recording: Option<&Path>,
        out: &Out,
    ) -> Result<Option<Spread>, Failure> {
        let undivided = undivided(sim.model()).map(|why| why.words());
        // What is not divided tells the state only as a whole; whether it has ended stands there.
        let how = How { show_every: if undivided.is_some() { 1 } else { how.show_every }, ..*how };
        let saved = match (&self.save, recording) {
            (Some(path), _) => Save::At(path.clone()),
            (None, Some(recording)) => Save::IfPossible(recording.with_extension("saved")),
            (None, None) => Save::Nowhere,
        };
        let keeper = self.keeper(Some(sim.model()), &how, saved.clone(), out)?;
        let Some(keeper) = keeper else { return Ok(None) };
        let status = keeper.status();
        sim.give_to(Box::new(keeper));
        Ok(Some(Spread { status, undivided, saved }))
    }

    /// Workers for one run after another, when they are asked for. Nobody is hired before the first step.
    pub(crate) fn crowd(
        &self,
        model: Option<&Model>,
        how: &How,
        out: &Out,
    ) -> Result<Option<Box<dyn Crowd>>, Failure> {
        let keeper = self.keeper(model, how, self.save.clone().map_or(Save::Nowhere, Save::At), out)?;
        Ok(keeper.map(|keeper| Box::new(keeper) as Box<dyn Crowd>))
    }

    fn keeper(
        &self,
        model: Option<&Model>,
        how: &How,
        save: Save,
        out: &Out,
    ) -> Result<Option<Keeper>, Failure> {
        if !self.is_wanted() {
            if self.placement_from.is_some() {
                let what = "`--placement-from` is for runs on workers";
                return Err(Failure::new(Exit::Usage, "placement", what).help("add --workers or --hosts"));
            }
            return Ok(None);
        }
        let addresses = addresses(&self.hosts, self.way.fabric.keys.as_deref())?;
        let workers = self.workers.unwrap_or(addresses.len() as u32);
        let placement = self.placement_from.as_deref().map(|path| placement(path, model, out)).transpose()?;
        let How { show_every, ahead, threads } = *how;
        let lease = self.way.fabric.lease();
        let keep_every = self.checkpoint_every;
        let plan = Plan { ahead, show_every, keep_every, save, placement, lease, ..Plan::of(workers) };
        let mesh = self.way.fabric.open("keeper", &[], out)?;
        let job = Job {
            run: random_run(),
            number: 0,
            connect: mesh.endpoints().to_vec(),
            threads,
            lease_s: self.way.fabric.lease,
            reach: self.reached()?,
            secret: SecretBytes(random_secret().map_err(|e| lost("keeper", &e))?),
        };
        let run = RunKey { number: job.run, secret: Secret::of(job.secret.0) };
        let tell = self.tell(&job)?;
        let staff: Box<dyn Staff> = if addresses.is_empty() {
            Box::new(Processes::new(self.way.fabric.launch("keeper")?, job, tell))
        } else {
            let (connect, wanted) = (self.way.fabric.connect("keeper")?, model.map_or_else(Vec::new, wanted));
            let hosts = Hosts { addresses, connect, identity: identity()?, wanted };
            let out = *out;
            Box::new(HostStaff::new(hosts, job, tell, Box::new(move |text| out.say(text))))
        };
        let mut keeper = Keeper::new(Arc::new(mesh), run, plan, staff).map_err(|e| lost("keeper", &e))?;
        let out = *out;
        keeper.on_news(Box::new(move |text| out.say(text)));
        Ok(Some(keeper))
    }

    /// Who notes everyone who is hired.
    fn tell(&self, job: &Job) -> Result<Tell, Failure> {
        let mut log = None;
        if let Some(path) = &self.workers_log {
            let mut file = File::create(path).map_err(|e| Failure::file("write", path, &e))?;
            let line = marked("keeper", json!({ "run": job.run.to_string(), "endpoints": job.connect }));
            writeln!(file, "{line}").map_err(|e| Failure::file("write", path, &e))?;
            log = Some(file);
        }
        Ok(Box::new(move |new: &Hired| {
            if let Some(file) = &mut log {
                let Hired { worker, pid, endpoint, host } = new;
                let line = json!({ "worker": worker, "pid": pid, "endpoint": endpoint, "host": host });
                // A log that cannot be written does not end the run.
                let _ = writeln!(file, "{}", marked("worker", line));
            }
        }))
    }
}

/// Places that robots belong to.
fn wanted(model: &Model) -> Vec<String> {
    let places: BTreeSet<&str> = (0..model.type_of.len()).filter_map(|slot| model.host_of(slot)).collect();
    places.into_iter().map(str::to_owned).collect()
}

/// What an earlier run on workers measured. Of robots that it did not have, the mean is taken; when it had none of them,
/// it says nothing about this run.
fn placement(path: &Path, model: Option<&Model>, out: &Out) -> Result<Statistics, Failure> {
    let refused = |what: String, help: &str| {
        Err(Failure::new(Exit::Failed, "placement", what).on(path.display().to_string()).help(help))
    };
    let again = "record a run of this scenario with --workers or --hosts, and take that";
    let Some(measured) = info::statistics(&again::open(path)?) else {
        return refused("it was made in one process: nothing is known about workers".to_owned(), again);
    };
    let measured = measured.map_err(|why| info::figureless(path, &why))?;
    if measured.robots.is_empty() {
        let why = measured.undivided.as_deref();
        let why =
            why.map_or_else(|| "it was too short".to_owned(), |why| format!("not divided, because {why}"));
        return refused(format!("its run measured nothing about robots: {why}"), again);
    }
    let Some(model) = model else { return Ok(measured) };
    let known: BTreeSet<&str> = measured.robots.iter().map(|r| r.path.as_str()).collect();
    let strange: Vec<&str> = model.paths.iter().filter(|path| !known.contains(path)).collect();
    match strange.first() {
        Some(_) if strange.len() == model.paths.len() => {
            refused("it is of other robots: none of this scenario is in it".to_owned(), again)
        }
        Some(first) => {
            let (n, path) = (strange.len(), path.display());
            out.say(&format!(
                "{n} robots, such as `{first}`, are not in `{path}`: they count as the mean of the others"
            ));
            Ok(measured)
        }
        None => Ok(measured),
    }
}

/// A name for a run that no other has: the system's randomness, by way of the keys of its maps.
fn random_run() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    RandomState::new().hash_one(std::process::id())
}

impl Spread {
    fn status(&self) -> Status {
        self.status.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What the workers did so far.
    pub(crate) fn statistics(&self) -> Statistics {
        self.status().statistics
    }

    /// What is worth knowing before the run begins.
    pub(crate) fn head(&self) -> String {
        let mut text = match self.saved.path() {
            Some(path) => format!("  checkpoint  {}\n", path.display()),
            None => "  checkpoint  none: `--save PATH` keeps one, to resume the run from\n".to_owned(),
        };
        if let Some(why) = self.undivided {
            let _ = writeln!(text, "  workers     not divided, because {why}");
        }
        text
    }

    /// The run has got where it should: a checkpoint that nobody asked for has done its work.
    pub(crate) fn is_finished(&mut self) {
        if let Save::IfPossible(path) = &self.saved {
            // There is none when the run was over before the first one.
            let _ = std::fs::remove_file(path);
            self.saved = Save::Nowhere;
        }
    }

    /// How to go on with the run, when it has not got there.
    pub(crate) fn go_on(&self) -> Option<String> {
        let path = self.saved.path().filter(|path| path.exists())?;
        Some(format!("go on with: swarmyard resume {}", path.display()))
    }

    /// What each worker did.
    pub(crate) fn text(&self) -> String {
        let status = self.status();
        let mut text = figures::text(&status.statistics);
        if !status.nowhere.is_empty() {
            let places = status.nowhere.join("`, `");
            let _ = writeln!(
                text,
                "    no host is, or can: `{places}`; robots that should be there were elsewhere"
            );
        }
        let Given { times, bytes: sent } = status.worlds;
        let _ = writeln!(text, "  world       given {}, {}", count(times as usize, "time"), bytes(sent));
        if !status.apart.is_empty() {
            let all: Vec<String> = status.apart.iter().map(u32::to_string).collect();
            let _ = writeln!(text, "    given up, because others did not hear them: {}", all.join(", "));
        }
        for why in status.unable.iter().chain(&status.unkept) {
            let _ = writeln!(text, "    {why}");
        }
        // What comes twice or too late, because somebody was lost or asked again, is no news.
        let usual = ["old epoch", "new epoch", "unwanted quantum", "replayed"];
        let strange = named(&status).filter(|(name, _)| !usual.contains(name));
        let refused: Vec<String> = strange.map(|(name, n)| format!("{n} {name}")).collect();
        if !refused.is_empty() {
            let _ = writeln!(text, "    not let in: {}", refused.join(", "));
        }
        text
    }

    /// The same, for programs.
    pub(crate) fn json(&self) -> Value {
        let status = self.status();
        let mut value = figures::json(&status.statistics);
        let refused = named(&status).map(|(name, n)| (name.to_owned(), json!(n)));
        let lanes = status.traffic.lanes;
        value["nowhere"] = json!(status.nowhere);
        value["apart"] = json!(status.apart);
        value["unable"] = json!(status.unable);
        value["unkept"] = json!(status.unkept);
        value["worlds"] = json!({ "times": status.worlds.times, "bytes": status.worlds.bytes });
        value["lanes"] = json!({ "messages": lanes.messages_in, "bytes": lanes.bytes_in });
        value["refused"] = Value::Object(refused.collect::<Map<_, _>>());
        value
    }
}

/// Messages that the keeper and its workers did not let in, by name.
fn named(status: &Status) -> impl Iterator<Item = (&'static str, u64)> {
    status.refused.named().into_iter().filter(|(_, n)| *n > 0)
}
