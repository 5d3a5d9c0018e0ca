//! The bytes between one program and its link. Nothing here waits.

use super::{Placed, Process, Program};
use crate::event::How;
use crate::line::Splitter;
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::unistd::{read, write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

/// Bytes read at once.
const CHUNK: usize = 16_384;
/// Most bytes that wait to be written to a program.
const MOST_WAITING: usize = 65_536;
/// Longest line of stderr that is told.
const LONGEST_SAID: usize = 400;

/// A pipe that is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pipe {
    Input,
    Output,
    Errors,
}

/// Whose: the source's, or that of a module.
pub(super) type Place = Option<usize>;

/// A program, when it runs, and what is on its way to and from it.
pub(super) struct Seat {
    pub(super) program: Program,
    running: Option<Running>,
    /// How long it has been silent while it should answer.
    pub(super) silent: Duration,
    /// Whether it has finished a line since that was looked at.
    pub(super) spoke: bool,
}

struct Running {
    process: Box<dyn Process>,
    input: Option<OwnedFd>,
    output: Option<OwnedFd>,
    errors: Option<OwnedFd>,
    outgoing: Vec<u8>,
    is_closing: bool,
    /// Of its output.
    said: Splitter,
    /// Of its errors.
    told: Splitter,
}

impl Seat {
    pub(super) fn new(program: Program) -> Seat {
        Seat { program, running: None, silent: Duration::ZERO, spoke: false }
    }

    pub(super) fn begin(&mut self, placed: Placed) -> nix::Result<()> {
        let Placed { input, output, errors, process } = placed;
        fcntl(&input, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        self.silent = Duration::ZERO;
        self.running = Some(Running {
            process,
            input: Some(input),
            output: Some(output),
            errors,
            outgoing: Vec::new(),
            is_closing: false,
            said: Splitter::default(),
            told: Splitter::default(),
        });
        Ok(())
    }

    pub(super) fn is_running(&self) -> bool {
        self.running.is_some()
    }

    pub(super) fn id(&self) -> Option<u32> {
        self.running.as_ref().and_then(|r| r.process.id())
    }

    /// Whether more may be given to it.
    pub(super) fn has_room(&self) -> bool {
        self.running.as_ref().is_some_and(|r| r.outgoing.len() < MOST_WAITING)
    }

    pub(super) fn give(&mut self, text: &str) {
        if let Some(r) = &mut self.running {
            r.outgoing.extend(text.as_bytes());
        }
    }

    /// Closes its input when all is written.
    pub(super) fn close(&mut self) {
        if let Some(r) = &mut self.running {
            r.is_closing = true;
        }
    }

    /// Writes what there is room for.
    pub(super) fn pump_out(&mut self) {
        let Some(r) = &mut self.running else { return };
        while !r.outgoing.is_empty()
            && let Some(input) = &r.input
        {
            match write(input, &r.outgoing) {
                Ok(n) => drop(r.outgoing.drain(..n)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => return,
                // It does not read any more. Whether that matters shows in its answers.
                Err(_) => r.input = None,
            }
        }
        if r.is_closing || r.input.is_none() {
            r.outgoing.clear();
            r.input = None;
        }
    }

    /// What is to be looked at: room to write into, what it says (if that can be taken), what it tells people.
    pub(super) fn pipes(
        &self,
        place: Place,
        wants_output: bool,
    ) -> impl Iterator<Item = (Place, Pipe, BorrowedFd<'_>)> {
        let pipes = self.running.as_ref().map(|r| {
            let input = r.input.as_ref().filter(|_| !r.outgoing.is_empty());
            let output = r.output.as_ref().filter(|_| wants_output);
            [(Pipe::Input, input), (Pipe::Output, output), (Pipe::Errors, r.errors.as_ref())]
        });
        let open = pipes.into_iter().flatten().filter_map(|(pipe, file)| Some((pipe, file?.as_fd())));
        open.map(move |(pipe, file)| (place, pipe, file))
    }

    /// Reads what it says, once; only called when there is something, or the end.
    pub(super) fn read_output(&mut self, mut each: impl FnMut(&[u8])) {
        let Some(r) = &mut self.running else { return };
        let Some(output) = &r.output else { return };
        let mut buffer = [0; CHUNK];
        match read(output, &mut buffer) {
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Ok(0) | Err(_) => r.output = None,
            Ok(n) => r.said.push(&buffer[..n], |line| {
                self.spoke = true;
                each(line);
            }),
        }
    }

    /// Reads what it tells people, once.
    pub(super) fn read_errors(&mut self, mut each: impl FnMut(String)) {
        let Some(r) = &mut self.running else { return };
        let Some(errors) = &r.errors else { return };
        let mut buffer = [0; CHUNK];
        let tell = |line: &[u8]| {
            let shown = String::from_utf8_lossy(&line[..line.len().min(LONGEST_SAID)]).into_owned();
            each(shown);
        };
        match read(errors, &mut buffer) {
            Err(Errno::EINTR | Errno::EAGAIN) => {}
            Ok(0) | Err(_) => {
                r.errors = None;
                r.told.finish(tell);
            }
            Ok(n) => r.told.push(&buffer[..n], tell),
        }
    }

    /// How it ended, once everything that it said has been read. `each` gets a last line without its end, of one that
    /// ended by itself; whoever was killed, or lost, may have wanted to say more of it.
    pub(super) fn ended(&mut self, each: impl FnMut(&[u8])) -> Option<How> {
        let r = self.running.as_mut().filter(|r| r.output.is_none())?;
        let how = r.process.ended()?;
        if matches!(how, How::Exited(_)) {
            r.said.finish(each);
        }
        self.running = None;
        Some(how)
    }

    /// Whether it closed its output, but is still there.
    pub(super) fn is_mute(&self) -> bool {
        self.running.as_ref().is_some_and(|r| r.output.is_none())
    }

    /// Ends it. What it said and nobody read is lost.
    pub(super) fn kill(&mut self) {
        if let Some(mut r) = self.running.take() {
            r.process.kill();
        }
    }
}
