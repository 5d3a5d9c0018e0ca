//! One module and its place in the chain, without its process: what it is given, and what goes on from it.
//!
//! In: lines from the module before it, and what its program writes. Out: what its program is to read, lines for the
//! module after it, events. Whoever drives it ([`crate::pipe`] on one machine) only carries bytes.
//!
//! Every input is followed by a *mark*: a line for nobody, which a module passes on as it passes on every line that is
//! not for it. What comes out before the mark was caused by the input before it. So three things are exact, although
//! the program runs at its own pace: where broadcasts and lines for others stand among its answers, at which simulated
//! time it answered, and which answers were delivered already when it has to be started again.
//!
//! *Invariants:* what goes on is a function of what came in and of the program alone; how fast anybody is, and how often
//! the program died, changes no byte. A program sees the current reset first. Nothing here waits, or asks a clock.

mod task;

use crate::control::{Control, EVERYONE, mark};
use crate::event::{Event, How, Trouble, What};
use crate::line::{BadLine, Line, Reason};
use std::collections::VecDeque;
use swarmyard_base::Time;
use task::{Awaited, Done, Task};

pub(crate) use task::Answers;
pub use task::{Ending, LinkLimits, Stamped};

/// A module's place in the chain. See the head of this file.
#[derive(Debug)]
pub struct Link {
    number: u16,
    name: String,
    /// Answers depend on the input and on parameters alone: it need not get other old inputs again.
    is_stateless: bool,
    limits: LinkLimits,
    /// Simulated time of the last input.
    clock: Time,
    is_on: bool,
    tasks: VecDeque<Task>,
    /// How many of `tasks` were looked at for handing over.
    fed: usize,
    journal: Vec<Done>,
    /// How many of `journal` the program has got again.
    replayed: usize,
    awaiting: VecDeque<Awaited>,
    marks: u64,
    state: State,
    ending: Option<Ending>,
    /// Its last words: how many this program has said, and how many have gone on.
    last_words: (u64, u64),
    starts: u32,
    restarts: u32,
    is_journal_full: bool,
    out: VecDeque<Stamped>,
    /// The last reset and the time that went on from here.
    left: (Option<Line>, Time),
    events: VecDeque<Event>,
    trouble: Option<Trouble>,
    quarantine: VecDeque<BadLine>,
    bad: u64,
    /// How many lines had been bad at the last reset.
    bad_before: u64,
    dropped: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no program.
    Idle,
    /// There is.
    Running,
    /// It has been told of the end, and may say its last.
    Closing,
    /// It died too often.
    GivenUp,
    /// The end.
    Finished,
}

impl Link {
    /// A place for a module at the beginning of a stream.
    #[must_use]
    pub fn new(number: u16, name: &str, is_stateless: bool, limits: LinkLimits) -> Link {
        Link {
            number,
            name: name.to_owned(),
            is_stateless,
            limits,
            clock: Time::ZERO,
            is_on: true,
            tasks: VecDeque::new(),
            fed: 0,
            journal: Vec::new(),
            replayed: 0,
            awaiting: VecDeque::new(),
            marks: 0,
            state: State::Idle,
            ending: None,
            last_words: (0, 0),
            starts: 0,
            restarts: 0,
            is_journal_full: false,
            out: VecDeque::new(),
            left: (None, Time::ZERO),
            events: VecDeque::new(),
            trouble: None,
            quarantine: VecDeque::new(),
            bad: 0,
            bad_before: 0,
            dropped: 0,
        }
    }

    /// Puts the module into a stream that flows already: the reset that those after it have had comes first, for
    /// it alone.
    pub(crate) fn join(&mut self, reset: Option<Line>, clock: Time) {
        self.clock = clock;
        self.left = (reset.clone(), clock);
        if let Some(line) = reset {
            self.tasks.push_back(Task {
                line,
                at: clock,
                feeds: true,
                passes: false,
                answers: Answers::default(),
            });
        }
    }

    /// Its number.
    #[must_use]
    pub fn number(&self) -> u16 {
        self.number
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it takes another input.
    #[must_use]
    pub fn has_room(&self) -> bool {
        let has_room = self.tasks.len() < self.limits.inputs && self.out.len() < self.limits.outputs;
        has_room && self.ending.is_none() && self.state != State::Finished
    }

    /// An input, from the module before.
    pub fn take(&mut self, line: Line) {
        let control = line.control();
        match control {
            Some(Control::Tick(now)) => self.clock = now,
            Some(Control::Reset(_)) => {
                self.clock = Time::ZERO;
                self.restarts = 0;
                self.bad_before = self.bad;
                // A new beginning, also for one that had been given up.
                if self.state == State::GivenUp {
                    self.state = State::Idle;
                }
            }
            Some(Control::End) => return self.end(Ending::Said),
            _ => {}
        }
        let is_mine = line.recipient == self.number;
        let is_all = line.recipient == EVERYONE;
        let is_switch = match control {
            Some(Control::On) if is_mine || is_all => Some(true),
            Some(Control::Off) if is_mine || is_all => Some(false),
            _ => None,
        };
        if let Some(on) = is_switch.filter(|on| *on != self.is_on) {
            self.is_on = on;
            self.event(What::Switched(on));
        }
        let is_reset = matches!(control, Some(Control::Reset(_)));
        let hears = self.state != State::GivenUp && (self.is_on || is_reset);
        let feeds = is_switch.is_none() && hears && (is_mine || is_all);
        if is_mine && !feeds && is_switch.is_none() {
            self.drop_one();
        }
        let task = Task { line, at: self.clock, feeds, passes: !is_mine, answers: Answers::default() };
        self.tasks.push_back(task);
        self.advance();
    }

    /// There are no more inputs.
    pub fn end(&mut self, how: Ending) {
        if self.ending.is_none() {
            self.ending = Some(how);
            self.advance();
        }
    }

    /// Whether its program is wanted, and is not there.
    #[must_use]
    pub fn wants_start(&self) -> bool {
        self.state == State::Idle && (self.tasks.iter().any(|t| t.feeds) || self.restarts > 0)
    }

    /// Its program has been started, with nothing in its memory.
    pub fn started(&mut self) {
        self.state = State::Running;
        self.starts += 1;
        let what = match self.starts {
            1 => What::Started,
            _ => What::Restarted { inputs: self.journal.len() },
        };
        self.event(what);
    }

    /// Its program could not be started.
    pub fn not_started(&mut self, why: &str) {
        self.event(What::NotStarted(why.to_owned()));
        self.give_up(How::Killed(why.to_owned()));
    }

    /// What its program is to read next, with newlines; nothing while it has enough to do.
    pub fn to_module(&mut self) -> Option<String> {
        if self.state != State::Running || self.awaiting.len() >= self.limits.ahead {
            return None;
        }
        if let Some(done) = self.journal.get(self.replayed) {
            let text = done.text.clone();
            self.replayed += 1;
            return Some(self.hand_over(&text, Some(self.replayed - 1)));
        }
        let ahead = self.tasks.iter().skip(self.fed).position(|t| t.feeds)?;
        let text = self.tasks[self.fed + ahead].line.text().to_owned();
        self.fed += ahead + 1;
        Some(self.hand_over(&text, None))
    }

    fn hand_over(&mut self, text: &str, old: Option<usize>) -> String {
        self.marks += 1;
        self.awaiting.push_back(Awaited {
            mark: self.marks,
            old,
            seen: Answers::default(),
            is_echoed: false,
        });
        format!("{text}\n{}\n", mark(self.marks).text())
    }

    /// Whether its program is to be told that there is no more: its last words, if any, and then the end of its input.
    pub fn close(&mut self) -> Option<String> {
        let ending = self.ending?;
        if self.state != State::Running || !self.tasks.is_empty() || self.replayed < self.journal.len() {
            return None;
        }
        if !self.awaiting.is_empty() {
            return None;
        }
        self.state = State::Closing;
        Some(match ending {
            Ending::Closed => String::new(),
            Ending::Said => format!("{}\n", crate::control::end().text()),
        })
    }

    /// Whether it works on something, so that silence means that it hangs.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.awaiting.is_empty() || self.state == State::Closing
    }

    /// Whether it has been told of the end.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.state == State::Closing
    }

    /// Whether what its program says can be taken now.
    #[must_use]
    pub fn wants_output(&self) -> bool {
        self.out.len() < self.limits.outputs
    }

    /// A line that its program wrote, without the newline.
    pub fn from_module(&mut self, bytes: &[u8]) {
        if self.trouble.is_some() {
            return;
        }
        let line = match Line::parse(bytes) {
            Ok(line) => line,
            Err(bad) => return self.quarantine(bad),
        };
        let own = line.sender == self.number;
        let reason = match line.control() {
            Some(Control::Mark(k)) => return self.marked(k),
            _ if own && (self.state == State::Closing || !self.awaiting.is_empty()) => {
                return self.answer(line);
            }
            _ if own => Reason::Unasked,
            _ if self.is_echo(&line) => return,
            _ => Reason::NotItsOwn { number: self.number, sender: line.sender },
        };
        self.quarantine(BadLine::new(1, reason, bytes));
    }

    /// A broadcast that its program passes on. It went on already, in its place.
    fn is_echo(&mut self, line: &Line) -> bool {
        if self.state == State::Closing && line.control() == Some(Control::End) {
            return true;
        }
        let Some(awaited) = self.awaiting.front_mut().filter(|a| !a.is_echoed) else { return false };
        let given = match awaited.old {
            // A reset may have emptied the journal meanwhile; what the program says now is thrown away anyway.
            Some(i) => self.journal.get(i).map_or(Some(line.text()), |d| Some(d.text.as_str())),
            None => self.tasks.front().map(|t| t.line.text()),
        };
        awaited.is_echoed = line.recipient == EVERYONE && given == Some(line.text());
        awaited.is_echoed
    }

    /// An answer to the oldest input.
    fn answer(&mut self, line: Line) {
        let per_input = self.limits.per_input;
        let Some(awaited) = self.awaiting.front_mut() else {
            return self.last_word(line);
        };
        awaited.seen.add(line.text().as_bytes());
        let seen = awaited.seen;
        if seen.count > per_input {
            self.trouble(Trouble::Flood(per_input));
        } else if awaited.old.is_none()
            && let Some(task) = self.tasks.front_mut()
            && seen.count > task.answers.count
        {
            task.answers = seen;
            let at = task.at;
            self.out.push_back(Stamped { at, line });
        }
    }

    fn last_word(&mut self, line: Line) {
        self.last_words.0 += 1;
        if self.last_words.0 > self.limits.per_input {
            self.trouble(Trouble::Flood(self.limits.per_input));
        } else if self.last_words.0 > self.last_words.1 {
            self.last_words.1 += 1;
            self.out.push_back(Stamped { at: self.clock, line });
        }
    }

    /// The oldest input is answered.
    fn marked(&mut self, k: u64) {
        let Some(awaited) = self.awaiting.pop_front().filter(|a| a.mark == k) else {
            return self.trouble(Trouble::StrangeMark(k));
        };
        if let Some(i) = awaited.old {
            if self.journal.get(i).is_some_and(|d| d.answers != awaited.seen) {
                self.event(What::Differs { input: i });
            }
            return;
        }
        // It was handed over, so it is the oldest: what is not handed over goes on as soon as it is the oldest.
        if let Some(task) = self.tasks.pop_front() {
            self.fed = self.fed.saturating_sub(1);
            if task.answers != awaited.seen {
                self.event(What::Differs { input: self.journal.len() });
            }
            let is_parameter = matches!(task.line.control(), Some(Control::Set(_)));
            self.keep(Done { text: task.line.text().to_owned(), answers: task.answers }, is_parameter);
        }
        self.advance();
    }

    /// Remembers a finished input, for a program that has to be started again.
    fn keep(&mut self, done: Done, is_parameter: bool) {
        let is_reset = self.journal.is_empty();
        if self.is_stateless && !is_reset && !is_parameter {
            return;
        }
        if self.journal.len() < self.limits.journal {
            self.journal.push(done);
            self.replayed = self.journal.len();
        } else if !self.is_journal_full {
            self.is_journal_full = true;
            self.event(What::JournalFull(self.limits.journal));
        }
    }

    /// Lets go on what need not wait for the program.
    fn advance(&mut self) {
        while let Some(task) = self.tasks.front_mut() {
            if task.passes {
                task.passes = false;
                let (at, line) = (task.at, task.line.clone());
                if matches!(line.control(), Some(Control::Reset(_))) {
                    // Nothing before it will be needed again. It may be in the program's hands already.
                    self.journal.clear();
                    self.replayed = 0;
                    self.is_journal_full = false;
                }
                self.out.push_back(Stamped { at, line });
            }
            let waits = self.tasks.front().is_some_and(|t| t.feeds);
            if waits && self.state != State::GivenUp {
                return;
            }
            self.tasks.pop_front();
            self.fed = self.fed.saturating_sub(1);
        }
        let is_needed = matches!(self.state, State::Running | State::Closing) || self.wants_start();
        if self.ending.is_some() && !is_needed {
            self.finish();
        }
    }

    fn finish(&mut self) {
        if self.state == State::Finished {
            return;
        }
        self.state = State::Finished;
        self.tasks.clear();
        self.fed = 0;
        self.awaiting.clear();
        if self.ending == Some(Ending::Said) {
            self.out.push_back(Stamped { at: self.clock, line: crate::control::end() });
        }
    }

    /// Its program is gone. One that ended with code 0 wanted to: then this is the end of its stream.
    pub fn ended(&mut self, how: How) {
        let trouble = self.trouble.take();
        if matches!(self.state, State::Finished | State::GivenUp | State::Idle) {
            return;
        }
        let how = trouble.map_or(how, |t| How::Killed(t.to_string()));
        // Told of the end, it may end as it likes; but a signal from elsewhere, or the loss of its host, does not take
        // its last words.
        let is_told = self.state == State::Closing && !matches!(how, How::Signal(_) | How::Lost(_));
        if is_told || how == How::Exited(0) {
            self.event(What::Ended(how));
            return self.finish();
        }
        self.restarts += 1;
        if self.restarts > self.limits.restarts || self.is_journal_full {
            return self.give_up(how);
        }
        self.event(What::Died(how));
        self.state = State::Idle;
        self.awaiting.clear();
        self.fed = 0;
        self.replayed = 0;
        self.last_words.0 = 0;
    }

    /// The chain goes on without it.
    fn give_up(&mut self, how: How) {
        self.event(What::GivenUp(how));
        self.state = State::GivenUp;
        self.awaiting.clear();
        self.fed = 0;
        self.journal.clear();
        for _ in 0..self.tasks.iter().filter(|t| t.feeds && t.line.recipient == self.number).count() {
            self.drop_one();
        }
        self.advance();
    }

    fn drop_one(&mut self) {
        self.dropped += 1;
        // The first, and then ever more seldom.
        if self.dropped.is_power_of_two() {
            self.event(What::Dropped(self.dropped));
        }
    }

    /// Why its program must be ended, if it must. Then [`Link::ended`] is to be called.
    #[must_use]
    pub fn must_end(&self) -> Option<&Trouble> {
        self.trouble.as_ref()
    }

    /// It must be ended.
    pub fn trouble(&mut self, trouble: Trouble) {
        if self.trouble.is_none() && matches!(self.state, State::Running | State::Closing) {
            self.event(What::Trouble(trouble.clone()));
            self.trouble = Some(trouble);
        }
    }

    fn quarantine(&mut self, bad: BadLine) {
        self.bad += 1;
        self.event(What::Bad(self.bad, bad.clone()));
        self.quarantine.push_back(bad);
        while self.quarantine.len() > self.limits.quarantine {
            self.quarantine.pop_front();
        }
        if self.bad - self.bad_before > self.limits.bad {
            self.trouble(Trouble::Nonsense(self.limits.bad));
        }
    }

    /// Something about it that only the driver knows.
    pub fn event(&mut self, what: What) {
        let at = self.tasks.front().map_or(self.clock, |t| t.at);
        self.events.push_back(Event { number: self.number, name: self.name.clone(), at, what });
    }

    /// The next line for the module after it.
    pub fn next_output(&mut self) -> Option<Stamped> {
        let next = self.out.pop_front()?;
        if matches!(next.line.control(), Some(Control::Reset(_))) {
            self.left.0 = Some(next.line.clone());
        }
        self.left.1 = next.at;
        Some(next)
    }

    /// Throws away what nobody will take.
    pub(crate) fn discard_outputs(&mut self) {
        self.out.clear();
    }

    /// The last reset that went on from here, and the time of what went on last.
    pub(crate) fn left(&self) -> (Option<Line>, Time) {
        self.left.clone()
    }

    /// The next thing that happened.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// How its stream ended, when it has and nothing more goes on from here.
    #[must_use]
    pub fn finished(&self) -> Option<Ending> {
        let is_over = self.state == State::Finished && self.out.is_empty();
        is_over.then(|| self.ending.unwrap_or(Ending::Closed))
    }

    /// Whether there is nothing to run any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.state == State::Finished
    }

    /// Whether the chain goes on without it.
    #[must_use]
    pub fn is_given_up(&self) -> bool {
        self.state == State::GivenUp
    }

    /// The newest bad lines, oldest first.
    #[must_use]
    pub fn quarantined(&self) -> impl ExactSizeIterator<Item = &BadLine> {
        self.quarantine.iter()
    }

    /// How many lines were bad.
    #[must_use]
    pub fn bad_lines(&self) -> u64 {
        self.bad
    }
}
