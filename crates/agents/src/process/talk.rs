//! A program that is told lines and answers lines: no registers, no ticks.
//!
//! The order of calls: [`Talk::tell`], then [`Talk::poll`] until there is a turn, and again. What it answers is
//! bounded; one that says too much, or a line that means nothing, is ended. Dropping leaves nothing running.

use super::keeper::Keeper;
use super::pipes::{AHEAD, Pipes};
use super::printed::Printed;
use super::{Cause, Death, Launch, StartError};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::unistd::pipe2;
use std::os::fd::AsFd;
use std::process::Command;
use std::time::{Duration, Instant};

/// Longest line, and most lines and bytes of one turn.
const LONGEST: usize = 40_000;
const MOST_LINES: usize = 10_000;
const MOST_BYTES: usize = 1 << 20;
/// How long after closing its stdout a program may take to end before that counts as a mistake.
const CLOSING: Duration = Duration::from_millis(200);

/// A running program.
pub(crate) struct Talk {
    keeper: Keeper,
    pipes: Pipes,
    printed: Printed,
    /// Lines of the turn so far, and their bytes.
    lines: Vec<String>,
    bytes: usize,
    death: Option<Death>,
}

/// What [`Talk::poll`] found.
pub(crate) enum Talked {
    /// Nothing yet.
    Pending,
    /// The lines up to one that ends the turn, and what it printed.
    Turn(Vec<String>, Vec<String>),
    /// It is gone, with all that it had started.
    Dead(Death),
}

impl Talk {
    /// Starts a program, without waiting for a word from it.
    pub(crate) fn start(launch: &Launch) -> Result<Talk, StartError> {
        let failed = |error| StartError::Spawn { program: launch.program.display().to_string(), error };
        spawn(launch).map_err(failed)
    }

    /// Tells it some lines.
    pub(crate) fn tell(&mut self, text: &str) {
        self.pipes.outgoing.extend(text.as_bytes());
        self.pipes.asked();
        self.pipes.pump_out();
    }

    /// Looks for a whole turn, and waits for it at most `wait`. `ends` says whether a line ends the turn, or why
    /// it means nothing.
    pub(crate) fn poll(&mut self, wait: Duration, ends: &dyn Fn(&str) -> Result<bool, String>) -> Talked {
        if let Some(death) = &self.death {
            return Talked::Dead(death.clone());
        }
        match self.turn(wait, ends) {
            Ok(Some(said)) => {
                self.bytes = 0;
                self.pipes.answered();
                Talked::Turn(std::mem::take(&mut self.lines), said)
            }
            Ok(None) => Talked::Pending,
            Err(cause) => Talked::Dead(self.die(cause)),
        }
    }

    /// Asks it to end, by a last line and the end of its input.
    pub(crate) fn dismiss(&mut self) {
        self.tell("stop\n");
        self.pipes.end();
    }

    /// Waits until it has ended, or kills it; answers what it printed.
    pub(crate) fn farewell(mut self, until: Instant) -> Vec<String> {
        while self.death.is_none() && self.keeper.end().is_none() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            // What it still answers is not looked at, but must not hold it up.
            self.pipes.pump_in();
            let unread = self.pipes.rest().len();
            self.pipes.understood(unread);
            self.sleep(left.min(CLOSING));
        }
        self.keeper.kill();
        self.printed.drain();
        self.printed.take_said()
    }

    /// What it printed, when a turn is whole.
    fn turn(
        &mut self,
        wait: Duration,
        ends: &dyn Fn(&str) -> Result<bool, String>,
    ) -> Result<Option<Vec<String>>, Cause> {
        let deadline = Instant::now() + wait;
        let mut closed_since = None;
        loop {
            // The pipe is read once in a round: a flood must not hold the caller beyond its time.
            self.pipes.pump_out();
            self.pipes.pump_in();
            if self.take(ends)? {
                self.printed.drain();
                return Ok(Some(self.printed.take_said()));
            }
            self.printed.drain();
            if let Some(cause) = self.keeper.end().cloned() {
                return Err(cause);
            }
            let now = Instant::now();
            if self.pipes.is_closed() && now - *closed_since.get_or_insert(now) >= CLOSING {
                return Err(Cause::Closed);
            }
            let left = deadline.saturating_duration_since(now);
            if left.is_zero() && closed_since.is_none() {
                return Ok(None);
            }
            self.sleep(if closed_since.is_some() { CLOSING } else { left });
        }
    }

    /// Takes in the lines that have come, up to one that ends the turn.
    fn take(&mut self, ends: &dyn Fn(&str) -> Result<bool, String>) -> Result<bool, Cause> {
        const { assert!(LONGEST < AHEAD, "a whole line fits") };
        loop {
            let rest = self.pipes.rest();
            let Some(n) = rest.iter().position(|b| *b == b'\n') else {
                if rest.len() > LONGEST {
                    return Err(Cause::Protocol(format!("it said a line of more than {LONGEST} bytes")));
                }
                return Ok(false);
            };
            let line = std::str::from_utf8(&rest[..n]).map(|l| l.trim().to_owned());
            self.pipes.understood(n + 1);
            let line = line.map_err(|_| Cause::Protocol("it said something that is no text".into()))?;
            if line.is_empty() {
                continue;
            }
            self.bytes += n;
            if n > LONGEST || self.lines.len() >= MOST_LINES || self.bytes > MOST_BYTES {
                return Err(Cause::Protocol("it said too much in one turn".into()));
            }
            let ended = ends(&line).map_err(Cause::Protocol)?;
            self.lines.push(line);
            if ended {
                return Ok(true);
            }
        }
    }

    /// Waits until something may have happened.
    fn sleep(&self, longest: Duration) {
        let mut files = vec![PollFd::new(self.keeper.status(), PollFlags::POLLIN)];
        files.extend(self.printed.pipe().map(|p| PollFd::new(p, PollFlags::POLLIN)));
        files.extend(self.pipes.stdout.as_ref().map(|p| PollFd::new(p.as_fd(), PollFlags::POLLIN)));
        if self.pipes.has_more_to_write() {
            files.extend(self.pipes.stdin.as_ref().map(|p| PollFd::new(p.as_fd(), PollFlags::POLLOUT)));
        }
        let _ = ppoll(&mut files, Some(TimeSpec::from_duration(longest)), None);
    }

    fn die(&mut self, cause: Cause) -> Death {
        self.keeper.kill();
        self.printed.drain();
        let death = Death { cause, lines: self.printed.last_words() };
        self.death = Some(death.clone());
        death
    }
}

fn spawn(launch: &Launch) -> std::io::Result<Talk> {
    let mut command = Command::new(launch.cwd.join(&launch.program));
    command.args(&launch.args).current_dir(&launch.cwd);
    let (printed, printed_end) = pipe2(OFlag::O_CLOEXEC)?;
    let printed = Printed::new(printed, &launch.limits)?;
    let (stdin_end, stdin) = pipe2(OFlag::O_CLOEXEC)?;
    let (stdout, stdout_end) = pipe2(OFlag::O_CLOEXEC)?;
    command.stdin(stdin_end).stdout(stdout_end).stderr(printed_end);
    let pipes = Pipes::new(stdin, stdout, launch.meter.clone())?;
    let keeper = Keeper::start(command, &launch.limits, None)?;
    Ok(Talk { keeper, pipes, printed, lines: Vec::new(), bytes: 0, death: None })
}
