//! One worker process on this machine.
//!
//! In: how workers are started here ([`Launch`]), and what this one is for ([`Job`]). Out: a process that has said where
//! it is reached. It is killed and waited for when the [`Process`] is dropped; should this process be killed, the worker
//! sees its input end, and ends.

use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;
use swarmyard_fabric::secret::SECRET_BYTES;

/// How long a worker may take to say where it is reached.
pub(super) const BEGIN: Duration = Duration::from_secs(15);
/// The longest line that is read from a worker, in bytes.
const LINE: u64 = 4096;

/// How worker processes are started on this machine.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The `swarmyard` program.
    pub program: PathBuf,
    /// Where a worker listens, with port 0.
    pub listen: String,
    /// Folder of certificates, and whose of them.
    pub keys: Option<(PathBuf, String)>,
    /// Who may do what.
    pub access: Option<PathBuf>,
    /// Folders in which native programs may be started; `None` is anywhere.
    pub allowed: Option<Vec<PathBuf>>,
    /// Where a worker keeps the last checkpoint and what entered since, in case the keeper is lost.
    pub hold: Option<PathBuf>,
    /// Whether workers step back behind everything else that runs here.
    pub idle: bool,
}

/// What a worker is for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// The run.
    pub run: u64,
    /// The worker's number in it.
    pub number: u32,
    /// Addresses of the keeper and of the workers before it.
    pub connect: Vec<String>,
    /// Threads it may use.
    pub threads: u32,
    /// Seconds of silence after which a member is lost.
    pub lease_s: f64,
    /// Addresses of hosts whose programs its robots may use: `HOST:PORT` or `NAME=HOST:PORT`.
    pub reach: Vec<String>,
    /// What only the members of the run know.
    pub secret: SecretBytes,
}

/// The secret of a run on its way to a worker. It is shown to nobody.
#[derive(Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretBytes(pub [u8; SECRET_BYTES]);

impl std::fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SecretBytes")
    }
}

impl SecretBytes {
    /// As a line: the first that a worker reads.
    fn line(self) -> String {
        let digits: String = self.0.iter().map(|byte| format!("{byte:02x}")).collect();
        digits + "\n"
    }

    /// From such a line.
    ///
    /// # Errors
    /// It is none.
    pub fn parse(line: &str) -> Result<SecretBytes, String> {
        let digits = line.trim_end();
        let wrong = || "a worker is told the secret of its run in its first line of input".to_owned();
        if digits.len() != 2 * SECRET_BYTES || !digits.is_ascii() {
            return Err(wrong());
        }
        let mut secret = [0; SECRET_BYTES];
        for (k, byte) in secret.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).map_err(|_| wrong())?;
        }
        Ok(SecretBytes(secret))
    }
}

impl Launch {
    /// Starts a worker, and waits until it says where it is reached.
    ///
    /// # Errors
    /// It cannot be started, or ends or is silent instead. Nothing is left running then.
    pub fn start(&self, job: &Job) -> Result<Process, String> {
        let mut command = self.command(job);
        let child = command.spawn().map_err(|e| format!("cannot start `{}`: {e}", self.program.display()))?;
        let mut process = Process { pid: child.id(), child, endpoint: String::new() };
        // Not among its words, which everybody on the machine may read. One that does not take it has ended.
        let told = process.child.stdin.as_mut().map(|input| input.write_all(job.secret.line().as_bytes()));
        told.ok_or("the worker has no input")?.map_err(|_| ended(job))?;
        let out = process.child.stdout.take().ok_or("the worker has no output")?;
        let (tell, said) = channel();
        std::thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(out.take(LINE)).read_line(&mut line);
            // Who waits may have lost patience.
            let _ = tell.send(read.map(|_| line));
        });
        let line = match said.recv_timeout(BEGIN) {
            Ok(Ok(line)) => line,
            Ok(Err(e)) => return Err(format!("worker {} cannot be heard: {e}", job.number)),
            Err(_) => {
                return Err(format!("worker {} said nothing for {} s", job.number, BEGIN.as_secs()));
            }
        };
        let endpoint = line.trim();
        if endpoint.is_empty() {
            return Err(ended(job));
        }
        process.endpoint = endpoint.to_owned();
        Ok(process)
    }

    fn command(&self, job: &Job) -> Command {
        let mut command = match self.idle {
            // Program and worker are one process: `nice` becomes what it starts.
            true => {
                let mut nice = Command::new("nice");
                nice.args(["-n", "19"]).arg(&self.program);
                nice
            }
            false => Command::new(&self.program),
        };
        command.arg("worker");
        command.args(["--run", &job.run.to_string(), "--number", &job.number.to_string()]);
        command.args(["--listen", &self.listen, "--threads", &job.threads.to_string()]);
        command.args(["--lease", &job.lease_s.to_string()]);
        for endpoint in &job.connect {
            command.args(["--connect", endpoint]);
        }
        for host in &job.reach {
            command.args(["--reach", host]);
        }
        if let Some((folder, name)) = &self.keys {
            command.arg("--keys").arg(folder).args(["--name", name]);
        }
        if let Some(file) = &self.access {
            command.arg("--access").arg(file);
        }
        if let Some(folder) = &self.hold {
            command.arg("--hold").arg(folder);
        }
        if let Some(folders) = &self.allowed {
            command.arg("--only-allowed");
            for folder in folders {
                command.arg("--allow").arg(folder);
            }
        }
        if self.idle {
            command.arg("--idle");
        } else {
            // An interrupt at the terminal is for who keeps the run, not for its workers.
            command.process_group(0);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command
    }
}

fn ended(job: &Job) -> String {
    format!("worker {} ended at once; it says why above", job.number)
}

/// A worker that runs. It ends when this is dropped.
#[derive(Debug)]
pub struct Process {
    child: Child,
    /// Its number on this machine.
    pub pid: u32,
    /// Where others reach it.
    pub endpoint: String,
}

impl Process {
    /// Whether it is still there.
    pub fn is_there(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended before; a worker keeps nothing that it could lose.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_a_line_and_is_not_shown() {
        let secret = SecretBytes(std::array::from_fn(|k| k as u8 * 17));
        assert_eq!(secret.line(), "00112233445566778899aabbccddeeff\n");
        assert_eq!(SecretBytes::parse(&secret.line()), Ok(secret));
        assert_eq!(format!("{secret:?}"), "SecretBytes");
        for wrong in ["", "\n", "0011", "00112233445566778899aabbccddeefg", "öö112233445566778899aabbccddee"]
        {
            assert!(SecretBytes::parse(wrong).is_err(), "{wrong}");
        }
    }
}
