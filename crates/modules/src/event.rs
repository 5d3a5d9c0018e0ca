//! What happens to modules: named, so that whoever watches can tell it from silence.

use crate::line::BadLine;
use swarmyard_base::Time;

/// How a module's program ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum How {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal.
    Signal(i32),
    /// It was ended from here, and this is why.
    Killed(String),
    /// Its host is lost, or would not have it any more, and this is how.
    Lost(String),
    /// It was ended because the chain had ended: nobody needed it any more.
    Stopped,
}

impl How {
    /// Whether it ended as it should.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        matches!(self, How::Exited(0) | How::Stopped)
    }
}

impl std::fmt::Display for How {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            How::Exited(code) => write!(f, "exit code {code}"),
            How::Signal(signal) => write!(f, "signal {signal}"),
            How::Killed(why) => write!(f, "killed: {why}"),
            How::Lost(why) => write!(f, "lost: {why}"),
            How::Stopped => write!(f, "stopped with the chain"),
        }
    }
}

/// What is wrong with a module that must be ended.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Trouble {
    /// One input made it say more than it may.
    #[error("it flooded the chain: more than {0} lines for one input")]
    Flood(u64),
    /// It said too much that is no line.
    #[error("it speaks nonsense: more than {0} bad lines")]
    Nonsense(u64),
    /// It did not answer in time.
    #[error(
        "it hangs: no answer for {0:.1} s (a module passes on lines for others, and flushes its output after each)"
    )]
    Hang(f64),
    /// It passed on what it was not given.
    #[error("it passed on mark {0}, which it had not been given")]
    StrangeMark(u64),
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// It runs, for the first time.
    Started,
    /// It runs again, and gets so many inputs again.
    Restarted {
        /// Inputs it gets again.
        inputs: usize,
    },
    /// It could not be started.
    NotStarted(String),
    /// It said something that is no line; this is its so manieth.
    Bad(u64, BadLine),
    /// It must be ended.
    Trouble(Trouble),
    /// It died, and will be started again.
    Died(How),
    /// It died too often: the chain goes on without it.
    GivenUp(How),
    /// It ended as it should, or by itself with code 0.
    Ended(How),
    /// Started again, it said something else than before.
    Differs {
        /// The input, since the last reset.
        input: usize,
    },
    /// A source that was started again did not say the lines that it had said before; so many they were.
    SaidOther {
        /// Lines it had said.
        lines: u64,
    },
    /// It does not understand a line for it, and this is why.
    Refused(String),
    /// So many inputs since the last reset cannot be kept: should it die, it cannot be started again.
    JournalFull(usize),
    /// Lines for it were dropped because it is off or gone; so many until now.
    Dropped(u64),
    /// It wrote this to stderr.
    Said(String),
    /// It was switched on or off.
    Switched(bool),
}

/// Something that happened to one module.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its number.
    pub number: u16,
    /// Its name.
    pub name: String,
    /// Simulated time of the input it was at.
    pub at: Time,
    /// What happened.
    pub what: What,
}

impl Event {
    /// One word for the kind of event, for programs.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match &self.what {
            What::Started => "started",
            What::Restarted { .. } => "restarted",
            What::NotStarted(_) => "not-started",
            What::Bad(..) => "bad-line",
            What::Trouble(Trouble::Flood(_)) => "flood",
            What::Trouble(Trouble::Nonsense(_)) => "nonsense",
            What::Trouble(Trouble::Hang(_)) => "hang",
            What::Trouble(Trouble::StrangeMark(_)) => "strange-mark",
            What::Died(_) => "died",
            What::GivenUp(_) => "given-up",
            What::Ended(_) => "ended",
            What::Differs { .. } | What::SaidOther { .. } => "differs",
            What::Refused(_) => "refused",
            What::JournalFull(_) => "journal-full",
            What::Dropped(_) => "dropped",
            What::Said(_) => "said",
            What::Switched(true) => "on",
            What::Switched(false) => "off",
        }
    }

    /// Whether it is as it should be.
    #[must_use]
    pub fn is_fine(&self) -> bool {
        let calm = matches!(&self.what, What::Started | What::Said(_) | What::Switched(_));
        calm || matches!(&self.what, What::Ended(how) if how.is_fine())
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Event { number, name, at, what } = self;
        write!(f, "module {number} ({name}), {at}: ")?;
        match what {
            What::Started => write!(f, "started"),
            What::Restarted { inputs } => write!(f, "started again; it gets {inputs} inputs again"),
            What::NotStarted(why) => write!(f, "cannot be started: {why}"),
            What::Bad(n, bad) => write!(f, "bad line {n}: {bad}"),
            What::Trouble(trouble) => write!(f, "{trouble}"),
            What::Died(how) => write!(f, "died: {how}"),
            What::GivenUp(how) => write!(f, "died: {how}; the chain goes on without it"),
            What::Ended(how) => write!(f, "ended: {how}"),
            What::Differs { input } => {
                write!(f, "started again, it answered input {input} in another way than before")
            }
            What::SaidOther { lines } => {
                write!(f, "started again, its first {lines} lines are others than before; they do not go on")
            }
            What::Refused(why) => write!(f, "{why}"),
            What::JournalFull(n) => {
                write!(f, "more than {n} inputs since the last reset: it cannot be started again if it dies")
            }
            What::Dropped(n) => write!(f, "off or gone: {n} lines for it were dropped"),
            What::Said(text) => write!(f, "{text}"),
            What::Switched(on) => write!(f, "switched {}", if *on { "on" } else { "off" }),
        }
    }
}
