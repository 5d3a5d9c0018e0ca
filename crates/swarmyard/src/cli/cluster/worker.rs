//! `worker`: one worker of a run that is spread. Started by `run --workers` and by hosts, not by people.
//!
//! In: which run, and where its members are; and as the first line of its input the run's secret. Out: one line on stdout, where this worker is reached; then its work. It
//! ends when the run is over, when nothing was heard of the keeper for ten leases, at a signal, and when its input ends:
//! whoever started it is gone then.

use super::fabric::{FabricArgs, lost};
use crate::cli::fail::{Exit, Failure};
use crate::cli::out::Out;
use crate::cli::run::Stop;
use clap::Args;
use std::io::{BufRead as _, Read as _, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use swarmyard_cluster::staff::SecretBytes;
use swarmyard_cluster::{Ended, Natives, Setup, work};
use swarmyard_fabric::{RunKey, Secret};

/// Leases without a word of the keeper after which a worker gives up.
const PATIENCE: f64 = 10.0;

/// Bytes of the first line that are read.
const MOST_LINE: u64 = 256;

/// Arguments of `worker`.
#[derive(Args)]
pub(crate) struct WorkerArgs {
    /// The run
    #[arg(long)]
    run: u64,
    /// Its number in the run
    #[arg(long)]
    number: u32,
    /// Members of the run to connect to
    #[arg(long, value_name = "HOST:PORT")]
    connect: Vec<String>,
    /// Threads
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: u16,
    #[command(flatten)]
    fabric: FabricArgs,
    /// Start native programs only in folders that are allowed
    #[arg(long)]
    only_allowed: bool,
    /// A folder whose native programs may be started
    #[arg(long, value_name = "DIR")]
    allow: Vec<PathBuf>,
    /// Hosts on which controllers may run
    #[arg(long, value_name = "HOST")]
    reach: Vec<String>,
    /// Where the last checkpoint and what entered since are kept, in case the keeper is lost
    #[arg(long, value_name = "DIR")]
    hold: Option<PathBuf>,
    /// Step back behind everything else that runs on this machine
    #[arg(long)]
    idle: bool,
}

/// Works until there is no reason to any more.
pub(crate) fn worker(args: &WorkerArgs, out: &Out) -> Result<Exit, Failure> {
    // A parent that is killed cannot end us; the system can, even while we are stopped.
    let _ = nix::sys::prctl::set_pdeathsig(nix::sys::signal::Signal::SIGKILL);
    if args.idle {
        step_back();
    }
    let stop = Arc::new(AtomicBool::new(false));
    Stop::install_for(&stop)?;
    let name = format!("worker {}", args.number);
    let secret = secret().map_err(|e| Failure::new(Exit::Usage, "worker", format!("{name}: {e}")))?;
    end_with_input(&stop);
    let mesh = args.fabric.open(&name, &args.connect, out)?;
    let mut stdout = std::io::stdout();
    writeln!(stdout, "{}", mesh.endpoints().join(" "))?;
    stdout.flush()?;
    let setup = Setup {
        fabric: Arc::new(mesh),
        run: RunKey { number: args.run, secret },
        me: args.number,
        threads: usize::from(args.threads),
        patience: args.fabric.lease().mul_f64(PATIENCE),
        hold: args.hold.clone(),
        natives: Natives {
            allowed: args.only_allowed.then(|| args.allow.clone()),
            elsewhere: args.fabric.elsewhere(&name, &args.reach)?,
        },
    };
    match work(&setup, &stop).map_err(|e| lost(&name, &e))? {
        Ended::Over | Ended::Told => Ok(Exit::Ok),
        Ended::Alone(saved) => {
            let silence = setup.patience.as_secs_f64();
            out.say(&format!(
                "{name} of run {} ends: nothing was heard of its keeper for {silence} s",
                args.run
            ));
            if let Some(path) = saved {
                out.say(&format!("the run can be resumed from its last checkpoint: `{}`", path.display()));
            }
            Ok(Exit::Failed)
        }
    }
}

/// What only the members of the run know: the first line of the input.
fn secret() -> Result<Secret, String> {
    let mut line = String::new();
    std::io::stdin().lock().take(MOST_LINE).read_line(&mut line).map_err(|e| e.to_string())?;
    Ok(Secret::of(SecretBytes::parse(&line)?.0))
}

/// Ends the work when the input ends, at once when the work does not.
fn end_with_input(stop: &Arc<AtomicBool>) {
    let stop = Arc::clone(stop);
    std::thread::spawn(move || {
        let mut bytes = [0_u8; 64];
        let mut stdin = std::io::stdin().lock();
        while matches!(stdin.read(&mut bytes), Ok(1..)) {}
        stop.store(true, Ordering::Relaxed);
        std::thread::sleep(Duration::from_secs(2));
        std::process::exit(i32::from(Exit::Failed as u8));
    });
}

/// Leaves the processor to others. Linux shares it out by sessions first: so a session of its own, with the least weight.
fn step_back() {
    if nix::unistd::setsid().is_ok() {
        // A system without such groups needs no more than `nice`, which started us.
        let _ = std::fs::write("/proc/self/autogroup", "19");
    }
}
