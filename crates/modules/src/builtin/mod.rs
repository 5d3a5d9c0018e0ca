//! The modules that come along, and the loop that makes an algorithm a module.
//!
//! In: lines on a stream. Out: lines on a stream. A module passes on what is not for it, acts on broadcasts and passes
//! them on, starts over at a reset, and ends at the end of its input or at the termination sequence.
//!
//! *Invariants:* what a module says is a function of what it has read; no module here asks a clock, except to wait where
//! it was told to. A line that it does not understand is told on stderr, and changes nothing.

pub mod arm;
pub mod literal;
pub mod obstacles;
pub mod smooth;
pub mod trajectory;

use crate::control::{Control, EVERYONE, NOBODY, Universe};
use crate::line::{Line, Splitter};
use std::io::{self, Read, Write};
use swarmyard_base::Time;

/// Names of the built-in modules.
pub const NAMES: [&str; 5] = ["trajectory", "smooth", "arm", "obstacles", "display"];

/// Moves the arm: a command of the display, of the interpolator and of the arm.
pub const MOVE: u16 = 10;

/// Whether a module goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// It does.
    On,
    /// It ends by itself.
    End,
}

/// An algorithm that can be a module.
pub trait Module {
    /// Back to the pristine state, in this box. What it says about that is added to `out`, a line each.
    fn reset(&mut self, universe: Universe, out: &mut Vec<String>);

    /// A line for it, or a broadcast that is not the chain's.
    ///
    /// # Errors
    /// Why it does not understand the line. Nothing has changed then.
    fn take(&mut self, line: &Line, out: &mut Vec<String>) -> Result<Flow, String>;

    /// Simulated time is now so much. Most modules do not care.
    fn tick(&mut self, now: Time, out: &mut Vec<String>) {
        let _ = (now, out);
    }

    /// Its last words.
    fn end(&mut self, out: &mut Vec<String>) {
        let _ = out;
    }
}

/// A module at work on lines: what comes in, what goes out.
pub struct Station<M> {
    number: u16,
    /// Lines for others are its own too.
    is_for_anybody: bool,
    module: M,
    is_on: bool,
}

/// What one line led to.
#[derive(Debug, Default, PartialEq)]
pub struct Step {
    /// Lines to write.
    pub out: Vec<String>,
    /// What is to be told to people.
    pub said: Option<String>,
    /// The module ends.
    pub is_end: bool,
}

impl<M: Module> Station<M> {
    /// A module with its number.
    pub fn new(number: u16, module: M) -> Station<M> {
        Station { number, is_for_anybody: false, module, is_on: true }
    }

    /// A module that also takes lines for any other, as a display at the end of a chain does; only switches and parameters
    /// of others are none of its business.
    pub fn for_anybody(number: u16, module: M) -> Station<M> {
        Station { is_for_anybody: true, ..Station::new(number, module) }
    }

    fn is_mine(&self, line: &Line) -> bool {
        let is_switch = matches!(line.control(), Some(Control::On | Control::Off | Control::Set(_)));
        let is_for_one = ![EVERYONE, NOBODY].contains(&line.recipient);
        line.recipient == self.number || (self.is_for_anybody && is_for_one && !is_switch)
    }

    /// The module.
    pub fn module(&self) -> &M {
        &self.module
    }

    /// One line, without its newline.
    pub fn take(&mut self, bytes: &[u8]) -> Step {
        let mut step = Step::default();
        let line = match Line::parse(bytes) {
            Ok(line) => line,
            Err(bad) => {
                step.said = Some(format!("bad line, not passed on: {bad}"));
                return step;
            }
        };
        let (is_mine, is_all) = (self.is_mine(&line), line.recipient == EVERYONE);
        let control = line.control();
        if control == Some(Control::End) {
            self.module.end(&mut step.out);
            step.out.push(line.text().to_owned());
            step.is_end = true;
            return step;
        }
        if !is_mine {
            step.out.push(line.text().to_owned());
        }
        if !(is_mine || is_all) {
            return step;
        }
        match control {
            Some(Control::Reset(universe)) => self.module.reset(universe, &mut step.out),
            Some(Control::On) => self.is_on = true,
            Some(Control::Off) => self.is_on = false,
            _ if !self.is_on => {}
            Some(Control::Tick(now)) => self.module.tick(now, &mut step.out),
            _ => match self.module.take(&line, &mut step.out) {
                Ok(flow) => step.is_end = flow == Flow::End,
                // A broadcast may well be meant for others.
                Err(why) if is_mine => step.said = Some(format!("{why}: `{}`", line.text())),
                Err(_) => {}
            },
        }
        step
    }

    /// The input is at its end.
    pub fn end(&mut self) -> Vec<String> {
        let mut out = Vec::new();
        self.module.end(&mut out);
        out
    }

    /// Reads lines until the end, and writes each answer at once.
    ///
    /// # Errors
    /// When the streams fail. Where the reader of its output has gone, it ends.
    pub fn run(
        &mut self,
        mut input: impl Read,
        mut output: impl Write,
        mut tell: impl FnMut(&str),
    ) -> io::Result<()> {
        let mut splitter = Splitter::default();
        let mut buffer = [0; 4096];
        loop {
            let n = match input.read(&mut buffer) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                n => n?,
            };
            let mut lines: Vec<Vec<u8>> = Vec::new();
            if n == 0 {
                splitter.finish(|line| lines.push(line.to_vec()));
            } else {
                splitter.push(&buffer[..n], |line| lines.push(line.to_vec()));
            }
            for line in lines {
                let step = self.take(&line);
                if let Some(said) = &step.said {
                    tell(said);
                }
                write_all(&mut output, &step.out)?;
                if step.is_end {
                    return Ok(());
                }
            }
            if n == 0 {
                return write_all(&mut output, &self.end());
            }
        }
    }
}

fn write_all(output: &mut impl Write, lines: &[String]) -> io::Result<()> {
    for line in lines {
        writeln!(output, "{line}")?;
    }
    output.flush()
}

/// A number that a module can have.
///
/// # Errors
/// When it is reserved.
pub fn module_number(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(EVERYONE | NOBODY) | Err(_) => Err("a module has a number from 1 to 65534".into()),
        Ok(number) => Ok(number),
    }
}

/// A variable that counts things.
pub(crate) fn whole(value: f64) -> Result<u16, String> {
    if (0.0..=65535.0).contains(&value) && value.fract() == 0.0 {
        return Ok(value as u16);
    }
    Err("a number of a thing is whole, from 0 to 65535".into())
}
