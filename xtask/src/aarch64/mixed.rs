//! One run over two hosts, `alpha` on x86-64 and `beta` on aarch64: with the hashes of one process, also when `beta` is killed.

use super::emulated::Emulated;
use super::output;
use crate::root;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const WORLD: &str = "worlds/forty-wander.toml";
const TICKS: usize = 300;
/// Where in the run `beta` is killed.
const KILLED_AT: usize = 100;
/// Seconds of silence after which a host is lost: many, since emulation is slow.
const LEASE_S: &str = "20";
/// Longer than anything takes that works.
const AGES: Duration = Duration::from_secs(600);

/// Both runs; each must have been shared by the two hosts, or it proves nothing.
pub(super) fn both(here: &Path, emulated: &Emulated, folder: &Path) -> Result<(), String> {
    let alone = output(Command::new(here).args(run_words()))?;
    let alone: Vec<&str> = alone.lines().collect();
    if alone.len() < TICKS {
        return Err(format!("a hash per tick was wanted, {TICKS} of them, and {} came", alone.len()));
    }
    for kill in [false, true] {
        let alpha = Host::start(Command::new(here), "alpha")?;
        let mut beta = Host::start(emulated.command(), "beta")?;
        println!("{}", output(Command::new(here).args(["hosts", &alpha.address, &beta.address]))?.trim_end());
        let start = Instant::now();
        let mut run = Run::start(here, &[&alpha, &beta], folder)?;
        if kill {
            run.comes_to(KILLED_AT)?;
            beta.kill();
        }
        run.comes_to(alone.len())?;
        let said = run.ends()?;
        if let Some(k) = (0..alone.len()).find(|k| run.lines.get(*k).map(String::as_str) != Some(alone[*k])) {
            let other = run.lines.get(k).map_or("nothing", String::as_str);
            return Err(format!("on both hosts `{other}` where one process has `{}`\n{said}", alone[k]));
        }
        run.was_on(&["alpha", "beta"])?;
        if kill && !said.contains("beta") {
            return Err(format!("`beta` was killed, and nobody missed it:\n{said}"));
        }
        let how = if kill { format!(", beta killed at tick {KILLED_AT}") } else { String::new() };
        let (last, took) = (alone[alone.len() - 1], start.elapsed().as_secs_f64());
        println!(
            "same   {WORLD} on alpha (x86-64) and beta (aarch64){how}: every hash, the last `{last}` ({took:.0} s)"
        );
    }
    Ok(())
}

fn run_words() -> Vec<String> {
    let until = format!("tick:{TICKS}");
    ["run", WORLD, "--until", &until, "--no-record", "-q", "--hash-every", "1"].map(str::to_owned).to_vec()
}

/// A host as a process; it is killed when it is not needed any more.
struct Host {
    child: Child,
    /// How `--hosts` names it.
    address: String,
}

impl Host {
    fn start(mut command: Command, name: &str) -> Result<Host, String> {
        command.args(["host", name, "--slots", "1", "--lease", LEASE_S]).current_dir(root());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|e| format!("cannot start host `{name}`: {e}"))?;
        let out = child.stdout.take().ok_or("a host has no output")?;
        let mut host = Host { child, address: String::new() };
        let first = lines(out).recv_timeout(AGES).unwrap_or_default();
        let Some(endpoint) = first.split(" at ").nth(1).and_then(|rest| rest.split(' ').next()) else {
            return Err(format!("host `{name}` does not say where it is: `{first}`"));
        };
        host.address = format!("{name}={endpoint}");
        Ok(host)
    }

    fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A run over hosts.
struct Run {
    child: Child,
    coming: Receiver<String>,
    /// What it has printed so far: a line per tick.
    lines: Vec<String>,
    log: PathBuf,
}

impl Run {
    fn start(here: &Path, hosts: &[&Host], folder: &Path) -> Result<Run, String> {
        let log = folder.join("workers.jsonl");
        let addresses: Vec<&str> = hosts.iter().map(|h| h.address.as_str()).collect();
        let mut command = Command::new(here);
        command.args(run_words()).args(["--lease", LEASE_S, "--hosts", &addresses.join(",")]);
        // Not as fast as it can, or it would be over before anybody could be killed.
        command.args(["--rtf", "10"]).arg("--workers-log").arg(&log).current_dir(root());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("cannot start the run: {e}"))?;
        let coming = lines(child.stdout.take().ok_or("a run has no output")?);
        Ok(Run { child, coming, lines: Vec::new(), log })
    }

    /// Waits until it has printed so many lines.
    fn comes_to(&mut self, count: usize) -> Result<(), String> {
        while self.lines.len() < count {
            let Ok(line) = self.coming.recv_timeout(AGES) else {
                let _ = self.child.kill();
                return Err(format!(
                    "the run came to {} of {count} ticks:\n{}",
                    self.lines.len(),
                    self.said()
                ));
            };
            self.lines.push(line);
        }
        Ok(())
    }

    /// Waits for its end, which must be a good one; answers what it said beside its hashes.
    fn ends(&mut self) -> Result<String, String> {
        let said = self.said();
        let status = self.child.wait().map_err(|e| e.to_string())?;
        if status.success() { Ok(said) } else { Err(format!("the run failed ({status}):\n{said}")) }
    }

    fn said(&mut self) -> String {
        let mut text = String::new();
        if let Some(mut err) = self.child.stderr.take() {
            let _ = err.read_to_string(&mut text);
        }
        text
    }

    /// Workers on each of these hosts have had a part in it.
    fn was_on(&self, hosts: &[&str]) -> Result<(), String> {
        let log =
            std::fs::read_to_string(&self.log).map_err(|e| format!("cannot read the workers' log: {e}"))?;
        match hosts.iter().find(|host| !log.contains(&format!("\"host\":\"{host}\""))) {
            None => Ok(()),
            Some(host) => Err(format!("no worker ran on `{host}`:\n{log}")),
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The lines of an output as they come, until it ends.
fn lines(out: impl std::io::Read + Send + 'static) -> Receiver<String> {
    let (tell, told) = channel();
    std::thread::spawn(move || {
        // Reads on when nobody listens any more: who writes must not be held up.
        for line in BufReader::new(out).lines().map_while(Result::ok) {
            let _ = tell.send(line);
        }
    });
    told
}
