//! One program, asked once per quantum.

use super::events::Event;
use super::keeper::Keeper;
use super::memory::Memory;
use super::printed::Printed;
use super::spans::SpanMap;
use super::stream::Stream;
use super::{
    BadAccess, BadKind, Cause, Death, End, Launch, Poke, Poll, PortRead, Reply, Transport, VERSION, records,
};
use nix::fcntl::OFlag;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use nix::time::{ClockId, clock_getcpuclockid};
use nix::unistd::pipe2;
use std::os::fd::{AsFd, AsRawFd};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Longest sleep between two looks at whether a program on shared memory still lives.
const LOOK: Duration = Duration::from_millis(5);
/// How long after closing its stdout a program may take to end before that counts as a mistake. Polling
/// waits that long once, whatever it was told.
const CLOSING: Duration = Duration::from_millis(200);

/// The signal our own killing shows as.
const KILLED: i32 = nix::sys::signal::Signal::SIGKILL as i32;
/// Nobody waits longer.
const LONGEST: Duration = Duration::from_secs(86_400);

/// Why a program could not be started. Nothing runs afterwards.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The register map cannot be.
    #[error("the register map is wrong: {0}")]
    Spans(String),
    /// The system would not start it.
    #[error("the program `{program}` cannot be started: {error}")]
    Spawn {
        /// The program.
        program: String,
        /// What the system said.
        #[source]
        error: std::io::Error,
    },
}

/// Why a quantum was not handed over. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PostError {
    /// The last one is not answered yet.
    #[error("the program has not answered tick {0} yet")]
    Busy(u64),
    /// The image has another length than the launch said.
    #[error("the image has {got} bytes, not {want}")]
    Image {
        /// Its length.
        got: usize,
        /// What the launch said.
        want: usize,
    },
}

/// A running program. Dropping it kills it with all that it started.
///
/// The order of calls: [`Child::post`], then [`Child::poll`] until it is ready, and again.
pub struct Child {
    keeper: Keeper,
    link: Link,
    spans: SpanMap,
    printed: Printed,
    state: State,
    greeted: bool,
    image_len: usize,
    most_accesses: u32,
    accesses: u32,
    pokes: Vec<Poke>,
    bad: Vec<BadAccess>,
    grace: Duration,
    cpu: Option<ClockId>,
    cpu_ns: u64,
    death: Option<Death>,
}

/// How to reach the program.
enum Link {
    Shared { memory: Memory, inbox: Vec<u8> },
    Stream(Stream),
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    /// Nothing is asked.
    Idle,
    /// It works on a tick.
    Busy(u64),
    /// It waits for a port, in a tick.
    Port(u64),
    /// It was asked to end.
    Stopping,
}

impl Child {
    /// Starts a program. It need not have said anything yet: whether it speaks our version shows when
    /// it is polled, so that many programs start at the same time.
    pub fn start(launch: &Launch) -> Result<Self, StartError> {
        let spans = SpanMap::new(&launch.spans, launch.image_len).map_err(StartError::Spans)?;
        let failed = |error: std::io::Error| StartError::Spawn {
            program: launch.program.display().to_string(),
            error,
        };
        let (keeper, link, printed) = spawn(launch, &spans).map_err(failed)?;
        let cpu = clock_getcpuclockid(keeper.pid()).ok();
        Ok(Self {
            keeper,
            link,
            spans,
            printed,
            state: State::Idle,
            greeted: false,
            image_len: launch.image_len,
            most_accesses: launch.limits.accesses.unwrap_or(u32::MAX),
            accesses: 0,
            pokes: Vec::new(),
            bad: Vec::new(),
            grace: launch.limits.grace,
            cpu,
            cpu_ns: 0,
            death: None,
        })
    }

    /// The program's process.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.keeper.pid().as_raw().unsigned_abs()
    }

    /// The tick it works on, if it has not answered yet.
    #[must_use]
    pub fn asked(&self) -> Option<u64> {
        match self.state {
            State::Busy(tick) | State::Port(tick) => Some(tick),
            State::Idle | State::Stopping => None,
        }
    }

    /// Hands over one quantum, without waiting. A dead program takes it silently: polling tells.
    pub fn post(&mut self, tick: u64, image: &[u8]) -> Result<(), PostError> {
        if image.len() != self.image_len {
            return Err(PostError::Image { got: image.len(), want: self.image_len });
        }
        if self.death.is_some() {
            return Ok(());
        }
        if let Some(tick) = self.asked() {
            return Err(PostError::Busy(tick));
        }
        self.state = State::Busy(tick);
        match &mut self.link {
            Link::Shared { memory, .. } => memory.quantum(tick, image),
            Link::Stream(stream) => stream.quantum(tick, image),
        }
        Ok(())
    }

    /// Looks for an answer, and waits for it at most `wait`.
    pub fn poll(&mut self, wait: Duration) -> Poll {
        if let Some(death) = &self.death {
            return Poll::Dead(death.clone());
        }
        self.answer(wait).unwrap_or_else(|cause| Poll::Dead(self.die(cause)))
    }

    /// Answers the port read that [`Poll::Port`] told of; without one, does nothing.
    pub fn answer_port(&mut self, value: u32) {
        if let State::Port(tick) = self.state {
            self.state = State::Busy(tick);
            self.send_value(value);
        }
    }

    fn send_value(&mut self, value: u32) {
        match &mut self.link {
            Link::Shared { memory, .. } => memory.value(value),
            Link::Stream(stream) => stream.value(value),
        }
    }

    /// What it said since the last reply: for one that will not answer any more.
    #[must_use]
    pub fn take_said(&mut self) -> Vec<String> {
        self.printed.take_said()
    }

    /// Asks the program to end (`rio_wait` answers 0, `robot_stop` is called), waits for the grace
    /// time, then kills it. Ports read zero meanwhile.
    #[must_use]
    pub fn stop(mut self) -> End {
        let deadline = Instant::now() + self.grace.min(LONGEST);
        self.answer_port(0);
        let (mut pokes, mut said) = (Vec::new(), Vec::new());
        let cause = loop {
            // One that still works on a tick is asked when it has answered.
            if self.state == State::Idle {
                self.state = State::Stopping;
                match &mut self.link {
                    Link::Shared { memory, .. } => memory.stop(),
                    Link::Stream(stream) => stream.stop(),
                }
            }
            match self.poll(deadline.saturating_duration_since(Instant::now())) {
                Poll::Ready(reply) => {
                    pokes.extend(reply.pokes);
                    said.extend(reply.said);
                }
                Poll::Port(port) => {
                    pokes.extend(port.before);
                    self.answer_port(0);
                    if self.state == State::Stopping {
                        self.send_value(0);
                    }
                }
                Poll::Dead(death) => break death.cause,
                Poll::Pending => break self.die(Cause::Killed).cause,
            }
        };
        pokes.append(&mut self.pokes);
        said.extend(self.printed.take_said());
        End { cause, pokes, said }
    }

    fn answer(&mut self, wait: Duration) -> Result<Poll, Cause> {
        let deadline = Instant::now() + wait.min(LONGEST);
        let mut looks = wait.is_zero();
        loop {
            if let Some(poll) = self.arrived()? {
                return Ok(poll);
            }
            if looks {
                self.printed.drain();
                if let Some(cause) = self.keeper.end().cloned() {
                    return self.last_answer()?.ok_or(cause);
                }
            }
            let rest = deadline.saturating_duration_since(Instant::now());
            if rest.is_zero() {
                return Ok(Poll::Pending);
            }
            looks = self.sleep(rest)?;
        }
    }

    /// What a program that has ended had said before.
    fn last_answer(&mut self) -> Result<Option<Poll>, Cause> {
        // A pipe holds at most a megabyte. Its end need not come: somebody else may hold it open.
        for _ in 0..16 {
            let answer = self.arrived()?;
            let more = matches!(&self.link, Link::Stream(stream) if !stream.pipes.is_closed());
            if answer.is_some() || !more {
                return Ok(answer);
            }
        }
        Ok(None)
    }

    /// Waits until something may have happened; true when it is time to look after the program itself.
    fn sleep(&mut self, longest: Duration) -> Result<bool, Cause> {
        let stream = match &self.link {
            Link::Shared { memory, .. } => return Ok(!memory.wait(longest.min(LOOK))),
            Link::Stream(stream) => stream,
        };
        let closed = stream.pipes.is_closed();
        let longest = if closed { CLOSING } else { longest };
        let mut files = vec![PollFd::new(self.keeper.status(), PollFlags::POLLIN)];
        files.extend(self.printed.pipe().map(|p| PollFd::new(p, PollFlags::POLLIN)));
        files.extend(stream.pipes.stdout.as_ref().map(|p| PollFd::new(p.as_fd(), PollFlags::POLLIN)));
        if stream.pipes.has_more_to_write() {
            files.extend(stream.pipes.stdin.as_ref().map(|p| PollFd::new(p.as_fd(), PollFlags::POLLOUT)));
        }
        let _ = ppoll(&mut files, Some(TimeSpec::from_duration(longest)), None);
        let quiet = files.iter().all(|f| !f.any().unwrap_or(false));
        if closed && quiet { Err(Cause::Closed) } else { Ok(true) }
    }

    /// Takes in what the program said; answers when that completes something.
    fn arrived(&mut self) -> Result<Option<Poll>, Cause> {
        if matches!(self.link, Link::Shared { .. }) { self.arrived_shared() } else { self.arrived_stream() }
    }

    fn arrived_shared(&mut self) -> Result<Option<Poll>, Cause> {
        let Link::Shared { memory, inbox } = &mut self.link else { return Ok(None) };
        let theirs = memory.their_version();
        if theirs != VERSION && theirs != 0 {
            return Err(Cause::Version { theirs });
        }
        if !memory.take(inbox).map_err(Cause::Protocol)? {
            return Ok(None);
        }
        if theirs == 0 {
            return Err(Cause::Protocol("it answered without saying which version it speaks".into()));
        }
        self.greeted = true;
        let inbox = std::mem::take(inbox);
        let answer = self.read_outbox(&inbox);
        let Link::Shared { memory, inbox: place } = &mut self.link else { return Ok(None) };
        *place = inbox;
        let answer = answer?;
        if answer.is_none() {
            memory.more();
        }
        Ok(answer)
    }

    fn read_outbox(&mut self, mut rest: &[u8]) -> Result<Option<Poll>, Cause> {
        let mut answer = None;
        while !rest.is_empty() {
            let next = records::next(rest).map_err(Cause::Protocol)?;
            let Some((event, n)) = next.filter(|_| answer.is_none()) else {
                return Err(Cause::Protocol("there is more in its outbox than one answer".into()));
            };
            rest = &rest[n..];
            answer = self.take(event)?;
        }
        Ok(answer)
    }

    fn arrived_stream(&mut self) -> Result<Option<Poll>, Cause> {
        // The pipe is read once in a call: a flood must not hold the caller beyond its time.
        let mut pumped = false;
        loop {
            let Link::Stream(stream) = &mut self.link else { return Ok(None) };
            let mut next = stream.next().map_err(Cause::Protocol)?;
            if next.is_none() && !pumped {
                stream.pipes.pump_out();
                stream.pipes.pump_in();
                pumped = true;
                next = stream.next().map_err(Cause::Protocol)?;
            }
            let Some(event) = next else { return Ok(None) };
            if let Some(poll) = self.take(event)? {
                return Ok(Some(poll));
            }
        }
    }

    /// One thing the program said. Pokes and messages may come at any time and belong to the next
    /// answer; whether they come before or after the next `post` must make no difference.
    fn take(&mut self, event: Event) -> Result<Option<Poll>, Cause> {
        match event {
            Event::Hello(VERSION) => self.greeted = true,
            Event::Hello(theirs) => return Err(Cause::Version { theirs }),
            Event::Log(text) => self.printed.log(&text),
            _ if !self.greeted => {
                return Err(Cause::Protocol("its first word is not the version it speaks".into()));
            }
            Event::Poke { address, width, value, fits } => {
                self.count()?;
                let (bad, writes) = self.spans.bad_poke(address, width);
                let bad = if fits { bad } else { Some(BadKind::TooWide) };
                if writes && fits {
                    self.pokes.push(Poke { address, width, value });
                }
                self.bad.extend(bad.map(|kind| BadAccess { address, width, write: true, kind }));
            }
            Event::BadPeek { address, width } => {
                self.count()?;
                let bad = self.spans.bad_peek(address, width);
                self.bad.extend(bad.map(|kind| BadAccess { address, width, write: false, kind }));
            }
            Event::Peek { address, width } => return self.port_read(address, width).map(Some),
            Event::Done(tick) => return self.done(tick).map(Some),
        }
        Ok(None)
    }

    fn count(&mut self) -> Result<(), Cause> {
        self.accesses += 1;
        if self.accesses > self.most_accesses { Err(Cause::Accesses(self.most_accesses)) } else { Ok(()) }
    }

    fn port_read(&mut self, address: u32, width: u32) -> Result<Poll, Cause> {
        let next = match self.state {
            State::Busy(tick) => State::Port(tick),
            State::Stopping => State::Stopping,
            State::Idle | State::Port(_) => {
                return Err(Cause::Protocol(format!(
                    "it read a port at {address:#x} while it was not asked"
                )));
            }
        };
        if !self.spans.is_port(address, width) {
            return Err(Cause::Protocol(format!("it asked for {address:#x}, where no port is")));
        }
        self.count()?;
        self.state = next;
        Ok(Poll::Port(PortRead { address, width, before: std::mem::take(&mut self.pokes) }))
    }

    fn done(&mut self, tick: u32) -> Result<Poll, Cause> {
        match self.state {
            State::Stopping => {}
            State::Busy(asked) if asked as u32 == tick => {}
            State::Busy(asked) => {
                return Err(Cause::Protocol(format!("it answered tick {tick} when asked for {asked}")));
            }
            State::Idle | State::Port(_) => {
                return Err(Cause::Protocol(format!("it answered tick {tick} while it was not asked")));
            }
        }
        if self.state != State::Stopping {
            self.state = State::Idle;
        }
        if let Link::Stream(stream) = &mut self.link {
            stream.pipes.answered();
        }
        self.accesses = 0;
        self.printed.drain();
        Ok(Poll::Ready(Reply {
            pokes: std::mem::take(&mut self.pokes),
            bad: std::mem::take(&mut self.bad),
            cpu_ns: self.think_time(),
            said: self.printed.take_said(),
        }))
    }

    /// Processor time since the last call.
    fn think_time(&mut self) -> u64 {
        let Some(Ok(now)) = self.cpu.map(ClockId::now) else { return 0 };
        let now = now.tv_sec() as u64 * 1_000_000_000 + now.tv_nsec() as u64;
        let before = std::mem::replace(&mut self.cpu_ns, now);
        now.saturating_sub(before)
    }

    /// Ends the program, if it has not ended, and remembers why.
    fn die(&mut self, cause: Cause) -> Death {
        self.keeper.kill();
        self.printed.drain();
        let ended = self.keeper.end().cloned();
        let cause = match (&self.link, cause) {
            // It was about to end by itself, only slowly; or its keeper knows better.
            (_, Cause::Closed) => ended.filter(|e| *e != Cause::Signal(KILLED)).unwrap_or(Cause::Closed),
            // It saw our version and left.
            (Link::Shared { memory, .. }, Cause::Exited(_))
                if ![0, VERSION].contains(&memory.their_version()) =>
            {
                Cause::Version { theirs: memory.their_version() }
            }
            (_, cause) => cause,
        };
        let death = Death { cause, lines: self.printed.last_words() };
        self.death = Some(death.clone());
        death
    }
}

/// Starts the program with its ends of whatever connects it.
fn spawn(launch: &Launch, spans: &SpanMap) -> std::io::Result<(Keeper, Link, Printed)> {
    let is_path = launch.program.components().count() > 1;
    let program = if is_path { launch.cwd.join(&launch.program) } else { launch.program.clone() };
    let mut command = Command::new(program);
    command.args(&launch.args).current_dir(&launch.cwd).envs(launch.env.iter().map(|(k, v)| (k, v)));
    let (printed, printed_end) = pipe2(OFlag::O_CLOEXEC)?;
    let printed = Printed::new(printed, &launch.limits)?;
    command.stderr(printed_end.try_clone()?);
    let name = match launch.transport {
        Transport::Shared => "shared",
        Transport::Pipes => "pipes",
        Transport::Lines => "lines",
    };
    command.env("RIO_TRANSPORT", name);
    let (link, inherit) = if launch.transport == Transport::Shared {
        let (memory, file) = Memory::new(launch, spans.all())?;
        command.env("RIO_FD", file.as_raw_fd().to_string()).stdin(Stdio::null()).stdout(printed_end);
        (Link::Shared { memory, inbox: Vec::new() }, Some(file))
    } else {
        let (stdin_end, stdin) = pipe2(OFlag::O_CLOEXEC)?;
        let (stdout, stdout_end) = pipe2(OFlag::O_CLOEXEC)?;
        command.stdin(stdin_end).stdout(stdout_end);
        (Link::Stream(Stream::new(launch, spans.all(), stdin, stdout)?), None)
    };
    Ok((Keeper::start(command, &launch.limits, inherit)?, link, printed))
}
