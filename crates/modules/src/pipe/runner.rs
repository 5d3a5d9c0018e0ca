//! One thread that carries bytes between all programs of a chain.

use super::seat::{Pipe, Place, Seat};
use super::{PlaceError, Places, Program};
use crate::chain::{Chain, ChainError};
use crate::event::{Event, How, Trouble, What};
use crate::head::Head;
use crate::line::{BadLine, Splitter};
use crate::link::{Link, LinkLimits, Stamped};
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::unistd::read;
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::{Duration, Instant};

/// Longest sleep while somebody is looked after by looking.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes read at once from a stream.
const CHUNK: usize = 16_384;

/// How long modules may take, by the clock on the wall.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Patience {
    /// Without a finished line, while it should answer and everybody waits for it.
    pub answer: Duration,
    /// To end, after the end of its input.
    pub grace: Duration,
}

impl Default for Patience {
    fn default() -> Patience {
        Patience { answer: Duration::from_secs(10), grace: Duration::from_secs(5) }
    }
}

/// Where the stream comes from.
pub enum Source {
    /// A program.
    Program(Program),
    /// A file or pipe that is open already, such as stdin.
    Stream(OwnedFd),
    /// Nowhere: all lines come from whoever steers.
    Nobody,
}

/// A chain that runs. Dropping it ends every program of it.
pub struct Runner {
    chain: Chain,
    places: Box<dyn Places>,
    source: Spring,
    seats: Vec<Seat>,
    limits: LinkLimits,
    patience: Patience,
    events: VecDeque<Event>,
    ends: Vec<(u16, String, How)>,
}

/// The source, and what is on its way from it.
enum Spring {
    Program(Seat),
    Stream(OwnedFd, Splitter),
    Dry,
}

impl Runner {
    /// A chain with a beginning and no modules.
    ///
    /// # Errors
    /// When the source's host is not known, or it cannot be started.
    pub fn new(
        head: Head,
        source: Source,
        places: Box<dyn Places>,
        limits: LinkLimits,
        patience: Patience,
    ) -> Result<Runner, PlaceError> {
        let mut runner = Runner {
            chain: Chain::new(head),
            places,
            source: Spring::Dry,
            seats: Vec::new(),
            limits,
            patience,
            events: VecDeque::new(),
            ends: Vec::new(),
        };
        match source {
            Source::Program(program) => {
                runner.places.check(&program.host)?;
                runner.source = Spring::Program(Seat::new(program));
                runner.start_source()?;
                runner.chain.head.event(What::Started);
            }
            Source::Stream(file) => runner.source = Spring::Stream(file, Splitter::default()),
            Source::Nobody => {}
        }
        Ok(runner)
    }

    /// Adds a module at the end, also while lines flow. Its program starts when the first message for it comes.
    ///
    /// # Errors
    /// When its number or its host cannot be, or the chain is over. Then the chain is as it was.
    pub fn add(&mut self, program: Program) -> Result<(), AddError> {
        self.places.check(&program.host)?;
        let link = Link::new(program.number, program.name(), program.is_stateless, self.limits);
        self.chain.add(link)?;
        self.seats.push(Seat::new(program));
        Ok(())
    }

    /// A command of whoever steers: a line of sender 0, which enters at the head of the chain.
    ///
    /// # Errors
    /// When it is none. Nothing happens then.
    pub fn control(&mut self, text: &str) -> Result<(), BadLine> {
        self.chain.head.control(text)
    }

    /// Whether whoever steers may say more now: so much of theirs waits at the head, and no more.
    #[must_use]
    pub fn wants_control(&self) -> bool {
        self.chain.head.wants_control()
    }

    /// Whether the chain stays open when its source has ended by itself ([`Head::stay`]).
    pub fn stay(&mut self, stays: bool) {
        self.chain.head.stay(stays);
    }

    /// Ends the stream: what was said goes through, and everybody ends in order.
    pub fn end(&mut self) {
        self.chain.head.end();
    }

    /// Carries what can be carried, and waits for more at most so long.
    pub fn step(&mut self, wait: Duration) {
        self.chain.pump();
        self.look_after_source();
        for place in 0..self.seats.len() {
            self.look_after(place);
        }
        self.chain.pump();
        let begun = Instant::now();
        for (place, pipe) in self.wait(wait) {
            self.carry(place, pipe);
        }
        self.mind_silence(begun.elapsed());
        self.chain.pump();
        while let Some(event) = self.chain.next_event() {
            if let What::Ended(how) | What::GivenUp(how) = &event.what {
                // One that was given up may have had another chance after a reset.
                self.ends.retain(|e| e.0 != event.number);
                self.ends.push((event.number, event.name.clone(), how.clone()));
            }
            self.events.push_back(event);
        }
    }

    /// What the last module lets go on.
    pub fn next_output(&mut self) -> Option<Stamped> {
        self.chain.next_output()
    }

    /// The next thing that happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Whether all has been said and everybody has ended.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.chain.is_over() && self.events.is_empty() && !self.is_source_running()
    }

    /// How everybody ended, in that order.
    #[must_use]
    pub fn ends(&self) -> &[(u16, String, How)] {
        &self.ends
    }

    /// The chain itself, to look at.
    #[must_use]
    pub fn chain(&self) -> &Chain {
        &self.chain
    }

    /// The process of a module, while it runs on this machine.
    #[must_use]
    pub fn process(&self, number: u16) -> Option<u32> {
        if let Spring::Program(seat) = &self.source
            && seat.program.number == number
        {
            return seat.id();
        }
        self.seats.iter().find(|s| s.program.number == number).and_then(Seat::id)
    }

    fn is_source_running(&self) -> bool {
        matches!(&self.source, Spring::Program(seat) if seat.is_running())
    }

    fn start_source(&mut self) -> Result<(), PlaceError> {
        let Spring::Program(seat) = &mut self.source else { return Ok(()) };
        let placed = self.places.start(&seat.program)?;
        let name = seat.program.name().to_owned();
        seat.begin(placed).map_err(|e| PlaceError::Start { program: name, error: e.into() })?;
        // A source is given the reset, as every module, and nothing more.
        seat.give(&format!("{}\n", self.chain.head.universe().reset().text()));
        seat.close();
        Ok(())
    }

    fn look_after_source(&mut self) {
        let Spring::Program(seat) = &mut self.source else { return };
        let head = &mut self.chain.head;
        seat.pump_out();
        if head.starts_anew() {
            if !seat.is_running() {
                head.event(What::Started);
            }
            seat.kill();
        } else {
            if !seat.is_running() {
                return;
            }
            let how = match seat.ended(|line| head.from_source(line)) {
                Some(how) => how,
                None if head.must_end().is_some() => {
                    seat.kill();
                    How::Killed(String::new())
                }
                // Somebody else ended the stream, or nobody listens any more.
                None if head.finished().is_some() && !head.is_closing() => {
                    seat.kill();
                    How::Stopped
                }
                None => return,
            };
            if !head.source_ended(how) {
                return;
            }
        }
        if let Err(e) = self.start_source() {
            self.chain.head.event(What::NotStarted(e.to_string()));
            self.chain.head.end();
        }
    }

    fn look_after(&mut self, place: usize) {
        let seat = &mut self.seats[place];
        let Some(link) = self.chain.link_mut(place) else { return };
        if link.must_end().is_some() {
            seat.kill();
            link.ended(How::Killed(String::new()));
        } else if let Some(how) = seat.ended(|line| link.from_module(line)) {
            link.ended(how);
        }
        if link.is_over() || link.is_given_up() {
            seat.kill();
        }
        if link.wants_start() {
            let started = self.places.start(&seat.program).map_err(|e| e.to_string());
            match started.and_then(|placed| seat.begin(placed).map_err(|e| e.to_string())) {
                Ok(()) => link.started(),
                Err(why) => link.not_started(&why),
            }
        }
        while seat.has_room()
            && let Some(text) = link.to_module()
        {
            seat.give(&text);
        }
        if let Some(last) = link.close() {
            seat.silent = Duration::ZERO;
            seat.give(&last);
            seat.close();
        }
        seat.pump_out();
    }

    /// Sleeps until something can be carried; answers what.
    fn wait(&self, wait: Duration) -> Vec<(Place, Pipe)> {
        let mut pipes: Vec<(Place, Pipe, BorrowedFd<'_>)> = Vec::new();
        let head = &self.chain.head;
        let mut looks = false;
        match &self.source {
            Spring::Program(seat) => {
                // What it says after the end is for nobody, but must not hold it up.
                pipes.extend(seat.pipes(None, head.wants_output() || head.is_closing()));
                looks |= seat.is_mute();
            }
            Spring::Stream(file, _) if head.wants_output() => pipes.push((None, Pipe::Output, file.as_fd())),
            _ => {}
        }
        for (place, (seat, link)) in self.seats.iter().zip(self.chain.links()).enumerate() {
            pipes.extend(seat.pipes(Some(place), link.wants_output()));
            looks |= seat.is_mute() || link.wants_start() || link.must_end().is_some();
        }
        let flags = |pipe| if pipe == Pipe::Input { PollFlags::POLLOUT } else { PollFlags::POLLIN };
        let mut files: Vec<PollFd<'_>> = pipes.iter().map(|p| PollFd::new(p.2, flags(p.1))).collect();
        let longest = if looks { wait.min(LOOK) } else { wait };
        let timeout = PollTimeout::try_from(longest).unwrap_or(PollTimeout::MAX);
        let _ = poll(&mut files, timeout);
        let ready = files.iter().zip(&pipes).filter(|(f, _)| f.any().unwrap_or(false));
        ready.map(|(_, p)| (p.0, p.1)).collect()
    }

    fn carry(&mut self, place: Place, pipe: Pipe) {
        let Some(i) = place else { return self.carry_source(pipe) };
        let seat = &mut self.seats[i];
        let Some(link) = self.chain.link_mut(i) else { return };
        match pipe {
            Pipe::Input => seat.pump_out(),
            Pipe::Output => seat.read_output(|line| link.from_module(line)),
            Pipe::Errors => seat.read_errors(|text| link.event(What::Said(text))),
        }
    }

    fn carry_source(&mut self, pipe: Pipe) {
        let head = &mut self.chain.head;
        match (&mut self.source, pipe) {
            (Spring::Program(seat), Pipe::Input) => seat.pump_out(),
            (Spring::Program(seat), Pipe::Output) => seat.read_output(|line| head.from_source(line)),
            (Spring::Program(seat), Pipe::Errors) => seat.read_errors(|text| head.event(What::Said(text))),
            (Spring::Stream(file, splitter), Pipe::Output) => {
                let mut buffer = [0; CHUNK];
                match read(&*file, &mut buffer) {
                    Ok(n @ 1..) => splitter.push(&buffer[..n], |line| head.from_source(line)),
                    Err(Errno::EINTR | Errno::EAGAIN) => {}
                    Ok(0) | Err(_) => {
                        splitter.finish(|line| head.from_source(line));
                        head.end();
                        self.source = Spring::Dry;
                    }
                }
                if head.must_end().is_some() {
                    head.source_ended(How::Killed(String::new()));
                    head.end();
                    self.source = Spring::Dry;
                }
            }
            _ => {}
        }
    }

    /// Counts how long modules have been silent: only a finished line breaks silence, however many bytes come. Only time
    /// counts in which they were listened to: while the chain's own reader takes its time, nobody hangs.
    fn mind_silence(&mut self, listened: Duration) {
        for (place, seat) in self.seats.iter_mut().enumerate() {
            let Some(link) = self.chain.link_mut(place) else { continue };
            let spoke = std::mem::take(&mut seat.spoke);
            if spoke || !seat.is_running() || !link.is_busy() || !link.wants_output() {
                seat.silent = Duration::ZERO;
                continue;
            }
            seat.silent += listened;
            let limit = if link.is_closing() { self.patience.grace } else { self.patience.answer };
            if seat.silent > limit {
                link.trouble(Trouble::Hang(seat.silent.as_secs_f64()));
                seat.silent = Duration::ZERO;
            }
        }
        let head = &mut self.chain.head;
        if let Spring::Program(seat) = &mut self.source
            && seat.is_running()
            && head.is_closing()
        {
            seat.silent += listened;
            if seat.silent > self.patience.grace {
                head.trouble(Trouble::Hang(seat.silent.as_secs_f64()));
            }
        }
    }
}

/// Why a module could not be added. The chain is as it was.
#[derive(Debug, thiserror::Error)]
pub enum AddError {
    /// Its place in the chain.
    #[error(transparent)]
    Chain(#[from] ChainError),
    /// Its host.
    #[error(transparent)]
    Place(#[from] PlaceError),
}
