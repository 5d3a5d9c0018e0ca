//! What happens in a run, as a log of Neko's robot simulator.

use crate::cli::fail::Failure;
use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use swarmyard::Sim;
use swarmyard::engine::{Frame, RunEvent};
use swarmyard::formats::neko::log::{Entry, Line};
use swarmyard::neko::Scribe;

/// Writes the log; does nothing when nobody asked.
#[derive(Default)]
pub(super) struct NekoLog {
    to: Option<BufWriter<File>>,
    scribe: Scribe,
}

impl NekoLog {
    /// Opens the file, and has the run tell what robots that live by events do.
    pub(super) fn open(path: Option<&Path>, sim: &mut Sim) -> Result<NekoLog, Failure> {
        let Some(path) = path else { return Ok(NekoLog::default()) };
        let file = File::create(path).map_err(|e| Failure::file("write", path, &e))?;
        let mut to = BufWriter::new(file);
        writeln!(to, "{}", Line::bare(Entry::Header))?;
        sim.take_notes(true);
        Ok(NekoLog { to: Some(to), scribe: Scribe::default() })
    }

    /// The lines of one step.
    pub(super) fn frame(&mut self, frame: &Frame) -> Result<(), Failure> {
        let Some(to) = &mut self.to else { return Ok(()) };
        for event in &frame.events {
            if let RunEvent::Live(note) = event
                && let Some(line) = self.scribe.line(note)
            {
                writeln!(to, "{line}")?;
            }
        }
        Ok(())
    }

    /// The last line is written.
    pub(super) fn end(&mut self) -> Result<(), Failure> {
        Ok(self.to.as_mut().map_or(Ok(()), BufWriter::flush)?)
    }
}
