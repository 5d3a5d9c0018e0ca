//! Programs on other hosts: how they are reached, how modules of a chain are placed there, and the sister process.
//!
//! In: `--hosts` and what belongs to it. Out: [`Places`] for chains, and for `pipe --bytes` a process that has the input,
//! the output, the errors and the exit code of a program elsewhere.

use super::fabric::{FabricArgs, identity};
use super::names::{addresses, words};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use clap::Args;
use std::collections::BTreeSet;
use std::io::{PipeReader, PipeWriter, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use swarmyard_agents::Elsewhere;
use swarmyard_cluster::host::ProgramEnd;
use swarmyard_cluster::reach::{Placed as Found, Reach, Wanted};
use swarmyard_cluster::sister::Outcome;
use swarmyard_cluster::staff::Hosts;
use swarmyard_modules::How;
use swarmyard_modules::builtin;
use swarmyard_modules::pipe::{Here, PlaceError, Placed, Places, Process, Program};

/// Exit code of a sister process whose host is lost.
const LOST: i32 = 121;
/// Exit code of a sister process whose program nobody starts.
const NOT_STARTED: i32 = 125;
/// Added to the number of the signal that ended the program, as shells do.
const SIGNALLED: i32 = 128;

/// Which hosts may run what robots have elsewhere, and how they are reached.
#[derive(Args)]
#[command(next_help_heading = "Other hosts")]
pub(crate) struct ElsewhereArgs {
    /// Hosts on which controllers and part models may run that say so with `on`; those of --hosts may as well
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    pub(super) reach: Vec<String>,
    #[command(flatten)]
    pub(super) fabric: FabricArgs,
}

impl ElsewhereArgs {
    /// How controllers and part models on other hosts are reached.
    pub(crate) fn elsewhere(&self) -> Result<Option<Elsewhere>, Failure> {
        self.fabric.elsewhere("keeper", &words(&self.reach, self.fabric.keys.as_deref())?)
    }
}

/// Which hosts may run programs, and how they are reached.
#[derive(Args)]
#[command(next_help_heading = "Other hosts")]
pub(crate) struct ReachArgs {
    /// Hosts that programs may run on: NAME as `keys add` wrote it down, NAME=HOST:PORT, HOST:PORT, or @FILE with one per line
    #[arg(long, value_name = "HOSTS", value_delimiter = ',')]
    hosts: Vec<String>,
    #[command(flatten)]
    fabric: FabricArgs,
}

impl ReachArgs {
    /// Where modules of a chain may run.
    pub(crate) fn places(&self, here: Here, out: &Out) -> Result<Box<dyn Places>, Failure> {
        if self.hosts.is_empty() {
            return Ok(Box::new(here));
        }
        let reach = Arc::new(self.reach("console")?);
        Ok(Box::new(Far { here, reach, homeless: Arc::default(), out: *out }))
    }

    /// Runs a program on a host, and ends as it does.
    pub(crate) fn sister(&self, place: &str, words: &[String], out: &Out) -> Result<Exit, Failure> {
        if self.hosts.is_empty() {
            let what = "a program on another host needs `--hosts`: NAME=HOST:PORT";
            return Err(Failure::new(Exit::Usage, "hosts", what));
        }
        let wanted = Wanted {
            place: place.to_owned(),
            or_elsewhere: false,
            words: words.to_vec(),
            settings: settings(|name| std::env::var(name).ok()),
        };
        let reach = self.reach("console")?;
        let found = match reach.open(&wanted) {
            Ok(found) => found,
            Err(why) => {
                out.say(&why);
                std::process::exit(NOT_STARTED);
            }
        };
        let outcome = found.sister.carry(std::io::stdin(), std::io::stdout(), std::io::stderr());
        let code = match outcome {
            Outcome::Ended(ProgramEnd::Exited(code)) => code,
            Outcome::Ended(ProgramEnd::Signal(signal)) => SIGNALLED + signal,
            Outcome::Ended(end) => {
                out.say(&format!("`{}` on host `{}`: {end}", wanted.words.join(" "), found.host));
                i32::from(Exit::Failed as u8)
            }
            Outcome::Lost(why) => {
                out.say(&format!("`{}` on host `{}` is lost: {why}", wanted.words.join(" "), found.host));
                LOST
            }
            Outcome::Unread => SIGNALLED + nix::sys::signal::Signal::SIGPIPE as i32,
        };
        drop(found);
        // A thread may still wait for input; nobody waits for it.
        std::process::exit(code);
    }

    fn reach(&self, name: &str) -> Result<Reach, Failure> {
        let hosts = Hosts {
            addresses: addresses(&self.hosts, self.fabric.keys.as_deref())?,
            connect: self.fabric.connect(name)?,
            identity: identity()?,
            wanted: Vec::new(),
        };
        Ok(Reach::new(hosts, self.fabric.lease()))
    }
}

/// What of the environment goes along.
fn settings(value: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
    let names = ["SWARMYARD_MODULE", "RIO_TRANSPORT"];
    names.iter().filter_map(|name| Some(((*name).to_owned(), value(name)?))).collect()
}

/// Starts modules on this machine and on hosts. Where a host is lost, its modules go to another; built-in ones, which
/// are here as well, to this machine when no host takes them.
struct Far {
    here: Here,
    reach: Arc<Reach>,
    /// Modules that no host takes.
    homeless: Arc<Mutex<BTreeSet<u16>>>,
    out: Out,
}

impl Places for Far {
    fn check(&self, host: &str) -> Result<(), PlaceError> {
        if self.here.check(host).is_ok() {
            return Ok(());
        }
        self.reach.check(host).map_err(PlaceError::NoHost)
    }

    fn start(&mut self, program: &Program) -> Result<Placed, PlaceError> {
        if self.here.check(&program.host).is_ok() {
            return self.here.start(program);
        }
        let is_builtin = builtin::NAMES.contains(&program.words.first().map_or("", String::as_str));
        let is_homeless =
            self.homeless.lock().unwrap_or_else(PoisonError::into_inner).contains(&program.number);
        if is_builtin && is_homeless {
            self.out.say(&format!("module {} ({}) runs on this machine", program.number, program.name()));
            return self.here.start(&Program { host: "local".into(), ..program.clone() });
        }
        let failed = |error| PlaceError::Start { program: program.name().to_owned(), error };
        let (stdin, input) = std::io::pipe().map_err(failed)?;
        let (output, stdout) = std::io::pipe().map_err(failed)?;
        let (errors, stderr) = std::io::pipe().map_err(failed)?;
        let number = program.number.to_string();
        let wanted = Wanted {
            place: program.host.clone(),
            or_elsewhere: true,
            words: program.words.clone(),
            settings: settings(|name| (name == "SWARMYARD_MODULE").then(|| number.clone())),
        };
        let state = Arc::new(There::default());
        let (run, reach, homeless) =
            (Arc::clone(&state), Arc::clone(&self.reach), Arc::clone(&self.homeless));
        let number = program.number;
        std::thread::spawn(move || {
            let how = run.carry(&reach, &wanted, (stdin, stdout, stderr));
            if how.is_err() {
                homeless.lock().unwrap_or_else(PoisonError::into_inner).insert(number);
            }
            let how = how.unwrap_or_else(How::Lost);
            *run.how.lock().unwrap_or_else(PoisonError::into_inner) = Some(how);
        });
        let process = Box::new(FarProcess(state));
        Ok(Placed { input: input.into(), output: output.into(), errors: Some(errors.into()), process })
    }
}

/// A program that is to run on a host, or runs there, or ran.
#[derive(Default)]
struct There {
    found: Mutex<Option<Arc<Found>>>,
    is_over: AtomicBool,
    how: Mutex<Option<How>>,
}

impl There {
    /// Finds a host and carries bytes to the end: how the program ended, or why nobody started it.
    fn carry(
        &self,
        reach: &Reach,
        wanted: &Wanted,
        (stdin, stdout, mut stderr): (PipeReader, PipeWriter, PipeWriter),
    ) -> Result<How, String> {
        let found = Arc::new(reach.open(wanted)?);
        *self.found.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&found));
        if self.is_over.load(Ordering::SeqCst) {
            return Ok(How::Stopped);
        }
        if found.host != wanted.place {
            // People read it; the chain goes on if nobody does.
            let _ = writeln!(stderr, "runs on host `{}`", found.host);
        }
        Ok(match found.sister.carry(stdin, stdout, stderr) {
            Outcome::Ended(ProgramEnd::Exited(code)) => How::Exited(code),
            Outcome::Ended(ProgramEnd::Signal(signal)) => How::Signal(signal),
            Outcome::Ended(end) => How::Killed(end.to_string()),
            Outcome::Unread => How::Stopped,
            // It was ended from here, and its host is as good as before.
            Outcome::Lost(_) if self.is_over.load(Ordering::SeqCst) => How::Stopped,
            Outcome::Lost(why) => {
                reach.lose(&found);
                How::Lost(why)
            }
        })
    }
}

struct FarProcess(Arc<There>);

impl Process for FarProcess {
    fn ended(&mut self) -> Option<How> {
        self.0.how.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn kill(&mut self) {
        self.0.is_over.store(true, Ordering::SeqCst);
        let found = self.0.found.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(found) = found {
            found.sister.end();
        }
    }

    fn id(&self) -> Option<u32> {
        None
    }
}

impl Drop for FarProcess {
    fn drop(&mut self) {
        self.kill();
    }
}
