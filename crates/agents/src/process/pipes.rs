//! A program's stdin and stdout as bytes, never waited for while reading or writing.

use crate::far::price::Meter;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{read, write};
use std::os::fd::OwnedFd;
use std::time::Instant;

/// Most bytes read ahead of what is understood.
pub(super) const AHEAD: usize = 65_536;

/// Both ends that the simulator holds.
pub(super) struct Pipes {
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    /// What is to be written.
    pub(super) outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// Bytes of `incoming` that are understood.
    used: usize,
    /// Close stdin when all is written.
    ending: bool,
    /// Counts what goes to a program elsewhere.
    meter: Option<Meter>,
    /// Since when an answer is waited for.
    asked: Option<Instant>,
    /// Whether it has answered before: the first answer takes as long as it takes to start, and is not counted.
    is_warm: bool,
}

impl Pipes {
    pub(super) fn new(stdin: OwnedFd, stdout: OwnedFd, meter: Option<Meter>) -> nix::Result<Self> {
        for end in [&stdin, &stdout] {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        let (stdin, stdout) = (Some(stdin), Some(stdout));
        let (outgoing, incoming) = (Vec::new(), Vec::new());
        Ok(Self {
            stdin,
            stdout,
            outgoing,
            incoming,
            used: 0,
            ending: false,
            meter,
            asked: None,
            is_warm: false,
        })
    }

    /// From now on an answer is waited for.
    pub(super) fn asked(&mut self) {
        self.asked = self.meter.as_ref().map(|_| Instant::now());
    }

    /// It has come.
    pub(super) fn answered(&mut self) {
        if let (Some(meter), Some(asked)) = (&self.meter, self.asked.take())
            && std::mem::replace(&mut self.is_warm, true)
        {
            meter.answered(asked.elapsed());
        }
    }

    /// What has come and is not understood yet.
    pub(super) fn rest(&self) -> &[u8] {
        &self.incoming[self.used..]
    }

    /// So many bytes of it are understood.
    pub(super) fn understood(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// Closes stdin when all is written: programs that read until the end of their input then end as well.
    pub(super) fn end(&mut self) {
        self.ending = true;
        self.pump_out();
    }

    /// Whether something waits for room in the pipe.
    pub(super) fn has_more_to_write(&self) -> bool {
        !self.outgoing.is_empty() && self.stdin.is_some()
    }

    /// Whether the program closed its end.
    pub(super) fn is_closed(&self) -> bool {
        self.stdout.is_none()
    }

    /// Writes what there is room for.
    pub(super) fn pump_out(&mut self) {
        while !self.outgoing.is_empty()
            && let Some(stdin) = &self.stdin
        {
            match write(stdin, &self.outgoing) {
                Ok(n) => {
                    self.outgoing.drain(..n);
                    self.meter.iter().for_each(|meter| meter.sent(n));
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                // It closed its stdin. Whether that matters shows in its answers.
                Err(_) => self.stdin = None,
            }
        }
        if self.ending || self.stdin.is_none() {
            self.outgoing.clear();
            self.stdin = None;
        }
    }

    /// Reads what there is, up to a bound.
    pub(super) fn pump_in(&mut self) {
        if self.used > 0 {
            self.incoming.drain(..self.used);
            self.used = 0;
        }
        let mut buffer = [0; 16_384];
        while self.incoming.len() < AHEAD
            && let Some(stdout) = &self.stdout
        {
            match read(stdout, &mut buffer) {
                Ok(0) => self.stdout = None,
                Ok(n) => {
                    self.incoming.extend(&buffer[..n]);
                    self.meter.iter().for_each(|meter| meter.received(n));
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => self.stdout = None,
            }
        }
    }
}
