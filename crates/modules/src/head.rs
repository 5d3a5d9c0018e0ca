//! Where the stream begins: what the source says, and what the controller says meanwhile.
//!
//! In: lines of the source, and commands of whoever steers. Out: one stream, whose first line is a reset.
//!
//! *Invariants:* nothing goes on before a reset; where the source does not begin with one, the reset with the universe
//! it was given goes first. Simulated time never runs backwards between resets. A source that has to be started again
//! says nothing twice.

use crate::control::{Control, Universe};
use crate::event::{Event, How, Trouble, What};
use crate::line::{BadLine, Line, Reason};
use crate::link::{Ending, Stamped};
use std::collections::VecDeque;
use swarmyard_base::Time;

/// Most lines that wait for the first module.
const MOST_WAITING: usize = 256;
/// Most bad lines of a source.
const MOST_BAD: u64 = 100;
/// Bad lines that are kept.
const KEPT_BAD: usize = 100;
/// How often a source is started again between two resets.
const RESTARTS: u32 = 3;

/// The beginning of the stream.
#[derive(Debug)]
pub struct Head {
    number: u16,
    name: String,
    universe: Universe,
    queue: VecDeque<Line>,
    /// Whether the first reset is in.
    is_begun: bool,
    clock: Time,
    is_on: bool,
    ending: Option<Ending>,
    /// Lines that the source has said since it was started for the first time, or anew by a reset.
    said: u64,
    /// Lines it still has to say again.
    again: u64,
    restarts: u32,
    starts_anew: bool,
    bad: u64,
    quarantine: VecDeque<BadLine>,
    trouble: Option<Trouble>,
    left: (Option<Line>, Time),
    events: VecDeque<Event>,
}

impl Head {
    /// A beginning with a source that has a number and a name. The universe counts where the source does not begin
    /// with a reset.
    #[must_use]
    pub fn new(number: u16, name: &str, universe: Universe) -> Head {
        Head {
            number,
            name: name.to_owned(),
            universe,
            queue: VecDeque::new(),
            is_begun: false,
            clock: Time::ZERO,
            is_on: true,
            ending: None,
            said: 0,
            again: 0,
            restarts: 0,
            starts_anew: false,
            bad: 0,
            quarantine: VecDeque::new(),
            trouble: None,
            left: (None, Time::ZERO),
            events: VecDeque::new(),
        }
    }

    /// Begins with the reset at once, without waiting for the source's first line.
    pub fn begin(&mut self) {
        if !self.is_begun {
            self.push(self.universe.reset());
        }
    }

    /// The box of the last reset that whoever steers gave.
    #[must_use]
    pub fn universe(&self) -> Universe {
        self.universe
    }

    /// The source's number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Whether the source may say more: the first module keeps up, and the source is on.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.is_on && self.queue.len() < MOST_WAITING && self.ending.is_none()
    }

    /// A line of the source, without its newline.
    pub fn from_source(&mut self, bytes: &[u8]) {
        if self.ending.is_some() || self.trouble.is_some() {
            return;
        }
        self.said += u64::from(self.again == 0);
        if self.again > 0 {
            self.again -= 1;
            return;
        }
        match Line::parse(bytes) {
            Ok(line) => match line.control() {
                Some(Control::Mark(_)) => self.bad_line(BadLine::new(1, Reason::Nobody, bytes)),
                Some(Control::Tick(now)) if now < self.clock => {
                    self.bad_line(BadLine::new(1, Reason::TimeBackwards, bytes));
                }
                _ => self.push(line),
            },
            Err(bad) => self.bad_line(bad),
        }
    }

    /// A command of whoever steers. A reset also starts the source anew.
    ///
    /// # Errors
    /// When it is no line, does not come from sender 0, or the chain has ended. Nothing happens then.
    pub fn control(&mut self, text: &str) -> Result<(), BadLine> {
        let line = Line::parse(text.as_bytes())?;
        let refused = |reason| Err(BadLine::new(1, reason, text.as_bytes()));
        match line.control() {
            _ if line.sender != 0 => return refused(Reason::NotController(line.command)),
            _ if self.ending.is_some() => return refused(Reason::Over),
            Some(Control::Mark(_)) => return refused(Reason::Nobody),
            Some(Control::Tick(now)) if now < self.clock => return refused(Reason::TimeBackwards),
            Some(Control::Reset(universe)) => {
                self.universe = universe;
                self.starts_anew = true;
                self.said = 0;
                self.again = 0;
                self.restarts = 0;
            }
            Some(switch @ (Control::On | Control::Off)) if [0, self.number].contains(&line.recipient) => {
                self.is_on = switch == Control::On;
                self.event(What::Switched(self.is_on));
            }
            _ => {}
        }
        self.push(line);
        Ok(())
    }

    fn push(&mut self, line: Line) {
        match line.control() {
            Some(Control::Reset(_)) => self.clock = Time::ZERO,
            Some(Control::Tick(now)) => self.clock = now,
            Some(Control::End) => self.ending = Some(Ending::Said),
            _ => {}
        }
        if !self.is_begun && !matches!(line.control(), Some(Control::Reset(_))) {
            self.queue.push_back(self.universe.reset());
        }
        self.is_begun = true;
        self.queue.push_back(line);
    }

    /// Whether the source is to be started anew, because there was a reset. Asked once.
    pub fn starts_anew(&mut self) -> bool {
        std::mem::take(&mut self.starts_anew)
    }

    /// The source is gone. Answers whether it is to be started again; otherwise the stream ends here.
    pub fn source_ended(&mut self, how: How) -> bool {
        let how = self.trouble.take().map_or(how, |t| How::Killed(t.to_string()));
        self.restarts += 1;
        if how == How::Exited(0) || self.ending.is_some() || self.restarts > RESTARTS {
            self.event(What::Ended(how));
            self.end();
            return false;
        }
        self.event(What::Died(how));
        self.again = self.said;
        true
    }

    /// There is no more.
    pub fn end(&mut self) {
        if self.ending.is_none() {
            self.begin();
            self.ending = Some(Ending::Closed);
        }
    }

    /// The next line of the stream.
    pub(crate) fn next(&mut self) -> Option<Stamped> {
        let line = self.queue.pop_front()?;
        match line.control() {
            Some(Control::Reset(_)) => self.left = (Some(line.clone()), Time::ZERO),
            Some(Control::Tick(now)) => self.left.1 = now,
            _ => {}
        }
        Some(Stamped { at: self.left.1, line })
    }

    /// The reset that went on last, and the time.
    pub(crate) fn left(&self) -> (Option<Line>, Time) {
        self.left.clone()
    }

    /// How the stream ended, when all of it has gone on.
    #[must_use]
    pub fn finished(&self) -> Option<Ending> {
        self.ending.filter(|_| self.queue.is_empty())
    }

    /// Why the source must be ended, if it must. Then [`Head::source_ended`] is to be called.
    #[must_use]
    pub fn must_end(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    fn bad_line(&mut self, bad: BadLine) {
        self.bad += 1;
        self.event(What::Bad(self.bad, bad.clone()));
        self.quarantine.push_back(bad);
        while self.quarantine.len() > KEPT_BAD {
            self.quarantine.pop_front();
        }
        if self.bad > MOST_BAD && self.trouble.is_none() {
            self.event(What::Trouble(Trouble::Nonsense(MOST_BAD)));
            self.trouble = Some(Trouble::Nonsense(MOST_BAD));
        }
    }

    /// Something about the source that only the driver knows.
    pub fn event(&mut self, what: What) {
        self.events.push_back(Event { number: self.number, name: self.name.clone(), at: self.clock, what });
    }

    /// The next thing that happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// The newest bad lines, oldest first.
    #[must_use]
    pub fn quarantined(&self) -> impl ExactSizeIterator<Item = &BadLine> {
        self.quarantine.iter()
    }
}
