//! Where the checkpoint of a run and what entered since are kept, in a file that outlives whoever kept the run.
//!
//! In: a checkpoint, or one more record. Out: a file that has them. A checkpoint is written beside its place and moved there, so
//! there is a whole one at any time, and what entered before it is gone with the one before. A record is added at the end; one
//! that cannot be written whole is taken away again.
//!
//! A record is with the system when it is answered: it outlives every process, and the machine it is on may be another than the
//! keeper's. A checkpoint is on the disk.

use crate::parcel::MOST_BYTES;
use crate::saved::{HEAD, sealed, sum_of};
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
    /// A piece of a checkpoint, from a place on; when all of it is there it takes the place of what was kept before.
    Checkpoint { at: u64, of: u64, bytes: Vec<u8> },
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
    /// A checkpoint that is coming in pieces.
    coming: Option<Coming>,
}

/// A checkpoint of which not all is there, beside its place.
struct Coming {
    path: PathBuf,
    file: File,
    at: u64,
    of: u64,
    /// Its first bytes.
    head: Vec<u8>,
}

impl Shelf {
    pub(crate) fn new(path: PathBuf) -> Shelf {
        Shelf { path, serial: 0, written: None, coming: None }
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
        // A record belongs right behind what it was made for, and so does a piece.
        let begins = matches!(what, What::Checkpoint { at: 0, .. } | What::Nothing);
        if serial < self.serial || (!begins && serial != self.serial + 1) {
            return Kept::Gap;
        }
        let done = match what {
            What::Checkpoint { at, of, bytes } => {
                let is_next = at == 0 || self.coming.as_ref().is_some_and(|c| (c.at, c.of) == (at, of));
                if !is_next || of > MOST_BYTES || bytes.len() as u64 > of - at {
                    return Kept::Gap;
                }
                self.put_piece(at, of, &bytes)
            }
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
        self.put_piece(0, checkpoint.len() as u64, checkpoint)
    }

    /// Writes the next piece of a checkpoint; the first begins a new one, and with the last it is kept.
    fn put_piece(&mut self, at: u64, of: u64, bytes: &[u8]) -> std::io::Result<()> {
        // What cannot be written is begun anew.
        let before = self.coming.take().filter(|_| at > 0);
        let mut coming = match before {
            Some(coming) => coming,
            None => Coming::begin(&self.path, of)?,
        };
        coming.add(bytes)?;
        if coming.at < coming.of {
            self.coming = Some(coming);
            return Ok(());
        }
        let written = (coming.of, sum_of(&coming.head));
        coming.put_in_place(&self.path)?;
        self.written = Some(written);
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
        self.coming = None;
        match self.written.take() {
            Some(_) => std::fs::remove_file(&self.path),
            None => Ok(()),
        }
    }
}

impl Coming {
    fn begin(place: &Path, of: u64) -> std::io::Result<Coming> {
        let path = place.with_added_extension("part");
        let file = File::create(&path)?;
        Ok(Coming { path, file, at: 0, of, head: Vec::new() })
    }

    fn add(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        let missing = HEAD.saturating_sub(self.head.len());
        self.head.extend(bytes.iter().take(missing));
        self.file.write_all(bytes)?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    /// All of it is there: moves it to its place.
    fn put_in_place(self, place: &Path) -> std::io::Result<()> {
        self.file.sync_all()?;
        std::fs::rename(&self.path, place)
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        if self.at < self.of {
            // Half a checkpoint is of no use to anybody.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Writes bytes beside a file's place, and moves them there.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let mut coming = Coming::begin(path, bytes.len() as u64)?;
    coming.add(bytes)?;
    coming.put_in_place(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(serial: u64, at: u64, bytes: &[u8]) -> Keep {
        Keep { serial, what: What::Checkpoint { at, of: 60, bytes: bytes.to_vec() } }
    }

    #[test]
    fn a_checkpoint_that_comes_in_pieces_is_there_when_the_last_one_is() {
        let folder = std::env::temp_dir().join(format!("swarmyard-shelf-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let path = folder.join("run.checkpoint");
        let (first, second): (Vec<u8>, Vec<u8>) = ((0..60).collect(), (100..160).collect());
        let mut shelf = Shelf::new(path.clone());
        for (serial, at) in [(1, 0), (2, 20), (3, 40)] {
            assert!(shelf.kept().is_none());
            assert_eq!(shelf.serve(piece(serial, at, &first[at as usize..][..20])), Kept::Done);
            // Whoever asks may not have heard the answer.
            assert_eq!(shelf.serve(piece(serial, at, &first[at as usize..][..20])), Kept::Done);
        }
        assert_eq!(std::fs::read(&path).expect("a file"), first);
        // Pieces of the next one: the one before stays until all of it is there.
        assert_eq!(shelf.serve(piece(4, 0, &second[..30])), Kept::Done);
        assert_eq!(shelf.serve(piece(6, 30, &second[30..])), Kept::Gap, "one is missing before it");
        assert_eq!(shelf.serve(piece(5, 31, &second[31..])), Kept::Gap, "not the next place");
        assert_eq!(shelf.serve(piece(3, 0, &first[..20])), Kept::Gap, "an old one");
        assert_eq!(shelf.serve(piece(5, 30, &[0; 31])), Kept::Gap, "more than was announced");
        assert_eq!(std::fs::read(&path).expect("a file"), first);
        assert_eq!(shelf.serve(piece(5, 30, &second[30..])), Kept::Done);
        assert_eq!(std::fs::read(&path).expect("a file"), second);
        let long = What::Checkpoint { at: 0, of: MOST_BYTES + 1, bytes: vec![1] };
        assert_eq!(shelf.serve(Keep { serial: 6, what: long }), Kept::Gap);
        // One that is never finished leaves nothing behind.
        assert_eq!(shelf.serve(piece(6, 0, &first[..20])), Kept::Done);
        drop(shelf);
        let left: Vec<_> =
            std::fs::read_dir(&folder).expect("a folder").flatten().map(|f| f.path()).collect();
        assert_eq!(left, [path]);
        std::fs::remove_dir_all(folder).expect("it was there");
    }
}
