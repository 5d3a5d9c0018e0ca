//! Where the stream begins: what the source says, and what the controller says meanwhile.
//!
//! In: lines of the source, and commands of whoever steers. Out: one stream, whose first line is a reset.
//!
//! *Invariants:* nothing goes on before a reset; where the source does not begin with one, the reset with the universe
//! it was given goes first. Simulated time never runs backwards between resets. A source that has to be started again
//! says nothing twice. Whoever steers and the source have room of their own here: neither can keep the other out, and
//! nothing waits without bound.

use crate::control::{Control, Universe};
use crate::event::{Event, How, Trouble, What};
use crate::line::{BadLine, Line, Reason};
use crate::link::{Answers, Ending, Stamped};
use std::collections::VecDeque;
use swarmyard_base::Time;

/// Most lines of the source that wait for the first module.
const MOST_WAITING: usize = 256;
/// Most lines of whoever steers that wait for the first module.
const MOST_STEERED: usize = 64;
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
    queue: VecDeque<Waiting>,
    /// How many of `queue` come from whoever steers.
    steered: usize,
    /// The box of the last reset that is in, once there is one.
    begun: Option<Universe>,
    clock: Time,
    is_on: bool,
    ending: Option<Ending>,
    /// Whether the source said the end itself, so that it may still finish what it does.
    is_own_end: bool,
    /// Whether marks go on: those of a chain around this one.
    passes_marks: bool,
    /// Whether it stays open when the source has ended by itself.
    stays: bool,
    /// Whether the source has ended by itself, and everything stays open.
    is_dry: bool,
    /// Lines that the source has said since it was started for the first time, or anew by a reset.
    said: Answers,
    /// What it has said of them again, until that is all.
    again: Option<Answers>,
    restarts: u32,
    starts_anew: bool,
    bad: u64,
    /// How many lines had been bad at the last reset.
    bad_before: u64,
    quarantine: VecDeque<BadLine>,
    trouble: Option<Trouble>,
    left: (Option<Line>, Time),
    events: VecDeque<Event>,
}

/// A line that waits for the first module.
#[derive(Debug)]
struct Waiting {
    line: Line,
    /// Whoever steers said it.
    is_steered: bool,
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
            steered: 0,
            begun: None,
            clock: Time::ZERO,
            is_on: true,
            ending: None,
            is_own_end: false,
            passes_marks: false,
            stays: false,
            is_dry: false,
            said: Answers::default(),
            again: None,
            restarts: 0,
            starts_anew: false,
            bad: 0,
            bad_before: 0,
            quarantine: VecDeque::new(),
            trouble: None,
            left: (None, Time::ZERO),
            events: VecDeque::new(),
        }
    }

    /// Lets marks through. They are those of another chain, in which this one stands as a module.
    #[must_use]
    pub fn with_marks(mut self) -> Head {
        self.passes_marks = true;
        self
    }

    /// Begins with the reset at once, without waiting for the source's first line.
    pub fn begin(&mut self) {
        if self.begun.is_none() {
            self.push(self.universe.reset(), false);
        }
    }

    /// Whether everything stays open when the source has ended by itself, with code 0: somebody may steer, and a reset
    /// starts the source anew. Without it the end of the source is that of the stream, also when it lies behind.
    pub fn stay(&mut self, stays: bool) {
        self.stays = stays;
        if !stays && self.is_dry {
            self.end();
        }
    }

    /// Whether the source has ended by itself, and everything [stays](Head::stay) open.
    #[must_use]
    pub fn is_dry(&self) -> bool {
        self.is_dry && self.ending.is_none()
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
        self.is_on && self.queue.len() - self.steered < MOST_WAITING && self.ending.is_none()
    }

    /// Whether whoever steers may say more.
    #[must_use]
    pub fn wants_control(&self) -> bool {
        self.steered < MOST_STEERED
    }

    /// Whether the source said the end of the stream itself: it may finish what it does, as a module may.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.is_own_end
    }

    /// A line of the source, without its newline.
    pub fn from_source(&mut self, bytes: &[u8]) {
        if self.ending.is_some() || self.trouble.is_some() {
            return;
        }
        if let Some(again) = &mut self.again {
            again.add(bytes);
            if again.count == self.said.count {
                self.compare();
            }
            return;
        }
        self.said.add(bytes);
        match Line::parse(bytes) {
            Ok(line) => match line.control() {
                Some(Control::Mark(_)) if !self.passes_marks => {
                    self.bad_line(BadLine::new(1, Reason::Nobody, bytes));
                }
                Some(Control::Tick(now)) if now < self.clock => {
                    self.bad_line(BadLine::new(1, Reason::TimeBackwards, bytes));
                }
                // It begins with the reset that it was given, which is in already.
                Some(Control::Reset(universe)) if self.said.count == 1 && self.begun == Some(universe) => {}
                control => {
                    self.is_own_end = control == Some(Control::End);
                    self.push(line, false);
                }
            },
            Err(bad) => self.bad_line(bad),
        }
    }

    /// Looks whether a source that was started again has said what it had said before.
    fn compare(&mut self) {
        if self.again.take().is_some_and(|again| again != self.said) {
            self.event(What::SaidOther { lines: self.said.count });
        }
    }

    /// A command of whoever steers. A reset also starts the source anew.
    ///
    /// # Errors
    /// When it is no line, does not come from sender 0, the chain has ended, or too many wait already
    /// ([`Head::wants_control`]). Nothing happens then.
    pub fn control(&mut self, text: &str) -> Result<(), BadLine> {
        let line = Line::parse(text.as_bytes())?;
        let refused = |reason| Err(BadLine::new(1, reason, text.as_bytes()));
        match line.control() {
            _ if line.sender != 0 => return refused(Reason::NotController(line.command)),
            _ if self.ending.is_some() => return refused(Reason::Over),
            _ if !self.wants_control() => return refused(Reason::Busy),
            Some(Control::Mark(_)) => return refused(Reason::Nobody),
            Some(Control::Tick(now)) if now < self.clock => return refused(Reason::TimeBackwards),
            Some(Control::Reset(universe)) => {
                self.universe = universe;
                self.starts_anew = true;
                self.is_dry = false;
                self.said = Answers::default();
                self.again = None;
                self.restarts = 0;
            }
            Some(switch @ (Control::On | Control::Off)) if [0, self.number].contains(&line.recipient) => {
                self.is_on = switch == Control::On;
                self.event(What::Switched(self.is_on));
            }
            _ => {}
        }
        self.push(line, true);
        Ok(())
    }

    fn push(&mut self, line: Line, is_steered: bool) {
        let control = line.control();
        if self.begun.is_none() && !matches!(control, Some(Control::Reset(_))) {
            self.push(self.universe.reset(), false);
        }
        match control {
            Some(Control::Reset(universe)) => {
                self.begun = Some(universe);
                self.clock = Time::ZERO;
                self.bad_before = self.bad;
            }
            Some(Control::Tick(now)) => self.clock = now,
            Some(Control::End) => self.ending = Some(Ending::Said),
            _ => {}
        }
        self.steered += usize::from(is_steered);
        self.queue.push_back(Waiting { line, is_steered });
    }

    /// Whether the source is to be started anew, because there was a reset. Asked once.
    pub fn starts_anew(&mut self) -> bool {
        std::mem::take(&mut self.starts_anew)
    }

    /// The source is gone. Answers whether it is to be started again; otherwise the stream ends here, unless it
    /// [stays](Head::stay).
    pub fn source_ended(&mut self, how: How) -> bool {
        let how = self.trouble.take().map_or(how, |t| How::Killed(t.to_string()));
        self.restarts += 1;
        if how == How::Exited(0) && self.ending.is_none() {
            // It has said less than before, if it did not come to where it was.
            self.compare();
            if self.stays {
                self.begin();
                self.is_dry = true;
                self.event(What::Ended(how));
                return false;
            }
        }
        if how == How::Exited(0) || self.ending.is_some() || self.restarts > RESTARTS {
            self.event(What::Ended(how));
            self.end();
            return false;
        }
        self.event(What::Died(how));
        self.again = Some(Answers::default()).filter(|none| *none != self.said);
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
        let Waiting { line, is_steered } = self.queue.pop_front()?;
        self.steered -= usize::from(is_steered);
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
        if self.bad - self.bad_before > MOST_BAD {
            self.trouble(Trouble::Nonsense(MOST_BAD));
        }
    }

    /// The source must be ended.
    pub fn trouble(&mut self, trouble: Trouble) {
        if self.trouble.is_none() {
            self.event(What::Trouble(trouble.clone()));
            self.trouble = Some(trouble);
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
