//! What a program on pipes is told and what it answers, in either encoding.

use super::events::Event;
use super::pipes::Pipes;
use super::{Launch, Span, Transport, lines, records};
use std::os::fd::OwnedFd;

/// The pipes, and how they are spoken over.
pub(super) struct Stream {
    text: bool,
    spans: Vec<Span>,
    pub(super) pipes: Pipes,
}

impl Stream {
    pub(super) fn new(launch: &Launch, spans: &[Span], stdin: OwnedFd, stdout: OwnedFd) -> nix::Result<Self> {
        let mut pipes = Pipes::new(stdin, stdout, launch.meter.clone())?;
        let text = launch.transport == Transport::Lines;
        if text {
            lines::table(&mut pipes.outgoing, launch, spans)
        } else {
            records::table(&mut pipes.outgoing, launch, spans)
        }
        Ok(Self { text, spans: spans.to_vec(), pipes })
    }

    pub(super) fn quantum(&mut self, tick: u64, image: &[u8]) {
        if self.text {
            lines::quantum(&mut self.pipes.outgoing, tick, image, &self.spans);
        } else {
            records::quantum(&mut self.pipes.outgoing, tick, image);
        }
        self.pipes.asked();
        self.pipes.pump_out();
    }

    pub(super) fn value(&mut self, value: u32) {
        if self.text {
            lines::value(&mut self.pipes.outgoing, value)
        } else {
            records::value(&mut self.pipes.outgoing, value)
        }
        self.pipes.pump_out();
    }

    pub(super) fn stop(&mut self) {
        if self.text {
            lines::stop(&mut self.pipes.outgoing)
        } else {
            records::stop(&mut self.pipes.outgoing)
        }
        self.pipes.end();
    }

    /// The next thing the program said.
    pub(super) fn next(&mut self) -> Result<Option<Event>, String> {
        loop {
            let rest = self.pipes.rest();
            let found = if self.text {
                lines::next(rest)?
            } else {
                records::next(rest)?.map(|(event, n)| (Some(event), n))
            };
            let Some((event, n)) = found else { return Ok(None) };
            self.pipes.understood(n);
            if event.is_some() {
                return Ok(event);
            }
        }
    }
}
