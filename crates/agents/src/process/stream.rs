//! A program's stdin and stdout, never waited for while reading or writing.

use super::events::Event;
use super::{Launch, Span, Transport, lines, records};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{read, write};
use std::os::fd::OwnedFd;

/// Most bytes read ahead of what is understood.
const AHEAD: usize = 65_536;

/// Both ends that the simulator holds.
pub(super) struct Stream {
    text: bool,
    spans: Vec<Span>,
    pub(super) stdin: Option<OwnedFd>,
    pub(super) stdout: Option<OwnedFd>,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
    /// Bytes of `incoming` that are understood.
    used: usize,
    /// Close stdin when all is written.
    ending: bool,
}

impl Stream {
    pub(super) fn new(launch: &Launch, spans: &[Span], stdin: OwnedFd, stdout: OwnedFd) -> nix::Result<Self> {
        for end in [&stdin, &stdout] {
            fcntl(end, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        }
        let text = launch.transport == Transport::Lines;
        let mut outgoing = Vec::new();
        if text {
            lines::table(&mut outgoing, launch, spans)
        } else {
            records::table(&mut outgoing, launch, spans)
        }
        Ok(Self {
            text,
            spans: spans.to_vec(),
            stdin: Some(stdin),
            stdout: Some(stdout),
            outgoing,
            incoming: Vec::new(),
            used: 0,
            ending: false,
        })
    }

    pub(super) fn quantum(&mut self, tick: u64, image: &[u8]) {
        if self.text {
            lines::quantum(&mut self.outgoing, tick, image, &self.spans);
        } else {
            records::quantum(&mut self.outgoing, tick, image);
        }
        self.pump_out();
    }

    pub(super) fn value(&mut self, value: u32) {
        if self.text {
            lines::value(&mut self.outgoing, value)
        } else {
            records::value(&mut self.outgoing, value)
        }
        self.pump_out();
    }

    pub(super) fn stop(&mut self) {
        if self.text {
            lines::stop(&mut self.outgoing)
        } else {
            records::stop(&mut self.outgoing)
        }
        // Programs that read until the end of their input then end as well.
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
                Ok(n) => drop(self.outgoing.drain(..n)),
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
                Ok(n) => self.incoming.extend(&buffer[..n]),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                Err(_) => self.stdout = None,
            }
        }
    }

    /// The next thing the program said.
    pub(super) fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            let rest = &self.incoming[self.used..];
            let found = if self.text {
                lines::next(rest)?
            } else {
                records::next(rest)?.map(|(event, n)| (Some(event), n))
            };
            let Some((event, n)) = found else { return Ok(None) };
            self.used += n;
            if event.is_some() {
                return Ok(event);
            }
        }
    }
}
