//! Where the checkpoint of a run and what entered since are kept, in a file that outlives whoever kept the run.
//!
//! In: a checkpoint, or one more record. Out: a file that has them. A checkpoint is written beside its place and moved there, so
//! there is a whole one at any time, and what entered before it is gone with the one before. A record is added at the end; one
//! that cannot be written whole is taken away again.
//!
//! A record is with the system when it is answered: it outlives every process, and the machine it is on may be another than the
//! keeper's. A checkpoint is on the disk.

use crate::saved::{sealed, sum_of};
use serde::{Deserialize, Serialize};
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// What a worker is asked to keep for its keeper.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Keep {
    /// Greater than that of what was asked before: what somebody says again changes nothing.
    pub(crate) serial: u64,
    pub(crate) what: What,
}

#[derive(Clone, Serialize, Deserialize)]
pub(crate) enum What {
    /// A checkpoint, in place of what was kept before.
    Checkpoint(Vec<u8>),
    /// What entered at one more stop.
    Entered(Vec<u8>),
    /// The run is over.
    Nothing,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Kept {
    /// It is there.
    Done,
    /// Something is missing before it.
    Gap,
    /// It cannot be kept here.
    Failed(String),
}

/// The place of one file.
pub(crate) struct Shelf {
    path: PathBuf,
    /// What was done last, when it was asked by others.
    serial: u64,
    /// How long the file is, and the sum of what is in it; `None` when there is none.
    written: Option<(u64, u64)>,
}

impl Shelf {
    pub(crate) fn new(path: PathBuf) -> Shelf {
        Shelf { path, serial: 0, written: None }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where something is kept, if it is.
    pub(crate) fn kept(&self) -> Option<&Path> {
        self.written.map(|_| &*self.path)
    }

    /// Does what a keeper asks for.
    pub(crate) fn serve(&mut self, keep: Keep) -> Kept {
        let Keep { serial, what } = keep;
        if serial == self.serial {
            return Kept::Done;
        }
        // A record belongs right behind what it was made for.
        if serial < self.serial || (matches!(what, What::Entered(_)) && serial != self.serial + 1) {
            return Kept::Gap;
        }
        let done = match what {
            What::Checkpoint(bytes) => self.put(&bytes),
            What::Entered(_) if self.written.is_none() => return Kept::Gap,
            What::Entered(bytes) => self.add(&bytes),
            What::Nothing => self.clear(),
        };
        match done {
            Ok(()) => {
                self.serial = serial;
                Kept::Done
            }
            Err(e) => Kept::Failed(format!("cannot write `{}`: {e}", self.path.display())),
        }
    }

    /// Keeps a checkpoint, and nothing else.
    pub(crate) fn put(&mut self, checkpoint: &[u8]) -> std::io::Result<()> {
        write_whole(&self.path, checkpoint)?;
        self.written = Some((checkpoint.len() as u64, sum_of(checkpoint)));
        Ok(())
    }

    /// Adds what entered at one more stop.
    pub(crate) fn add(&mut self, entered: &[u8]) -> std::io::Result<()> {
        let Some((length, sum)) = self.written else { return Err(std::io::ErrorKind::NotFound.into()) };
        let (record, sum) = sealed(sum, entered);
        let mut file = OpenOptions::new().append(true).open(&self.path)?;
        if let Err(e) = file.write_all(&record) {
            // When not even that works, what is there reads as cut off.
            let _ = file.set_len(length);
            return Err(e);
        }
        self.written = Some((length + record.len() as u64, sum));
        Ok(())
    }

    fn clear(&mut self) -> std::io::Result<()> {
        match self.written.take() {
            Some(_) => std::fs::remove_file(&self.path),
            None => Ok(()),
        }
    }
}

/// Writes bytes beside a file's place, and moves them there.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let beside = path.with_added_extension("part");
    let mut file = File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&beside, path)
}
