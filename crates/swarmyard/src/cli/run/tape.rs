//! The recording of a run, and the picture that is made from it.
//!
//! A recording that cannot be written never ends the run; the report says what became of it.

use super::RunArgs;
use crate::cli::again;
use crate::cli::fail::Failure;
use crate::cli::out::{Out, write_file};
use std::path::{Path, PathBuf};
use swarmyard::Sim;
use swarmyard::engine::Frame;
use swarmyard::record::{RecordError, Recorder, Recording, Summary, to_svg};

/// What is recorded, if anything is.
pub(super) struct Tape {
    recorder: Option<Recorder>,
    path: PathBuf,
    /// Only made for the picture, and removed after it.
    temporary: bool,
    trouble: Option<String>,
}

/// What became of a recording.
pub(super) struct Kept {
    /// The file, its size and its frames; `None` when there is no recording.
    pub(super) file: Option<(PathBuf, Summary)>,
    /// Why there is less than was asked for.
    pub(super) trouble: Option<String>,
    /// The picture.
    pub(super) picture: Option<PathBuf>,
}

impl Tape {
    /// Starts recording as the arguments say.
    ///
    /// A file that was named and cannot be made is an error. When the default cannot be made, or the
    /// disk is full, the run goes on without.
    pub(super) fn open(args: &RunArgs, sim: &Sim, out: &Out) -> Result<Tape, Failure> {
        let temporary = args.no_record && args.picture.is_some();
        let path = match &args.record {
            Some(path) => path.clone(),
            None if temporary => std::env::temp_dir().join(format!("swarmyard-{}.mcap", std::process::id())),
            None => {
                Path::new(args.file.file_stem().unwrap_or(args.file.as_os_str())).with_added_extension("mcap")
            }
        };
        let mut tape = Tape { recorder: None, path, temporary, trouble: None };
        if args.no_record && !temporary {
            return Ok(tape);
        }
        let header = again::header(sim, &args.file.display().to_string(), &args.overrides());
        match Recorder::create(&tape.path, &header, sim.model()) {
            Ok(mut recorder) => {
                recorder.start(sim.model(), sim.state());
                tape.recorder = Some(recorder);
            }
            Err(e @ RecordError::Topics(_)) => {
                return Err(Failure { sources: sim.model().sources.clone(), ..Failure::from(e) });
            }
            Err(e @ RecordError::Create { .. }) if args.record.is_some() => return Err(e.into()),
            Err(e) => {
                out.say(&format!("warning: {e}; the run goes on without a recording"));
                tape.trouble = Some(e.to_string());
            }
        }
        Ok(tape)
    }

    /// Where the recording goes, if there is one that stays.
    pub(super) fn path(&self) -> Option<&Path> {
        (self.recorder.is_some() && !self.temporary).then_some(&*self.path)
    }

    /// Notes a committed step.
    pub(super) fn frame(&mut self, sim: &Sim, frame: &Frame) {
        if let Some(recorder) = &mut self.recorder {
            recorder.frame(sim.model(), sim.state(), frame, sim.journal());
        }
    }

    /// Closes the recording and draws the picture.
    pub(super) fn finish(self, sim: &Sim, picture: Option<&Path>) -> Result<Kept, Failure> {
        let Tape { recorder, path, temporary, trouble } = self;
        let mut kept = Kept { file: None, trouble, picture: None };
        let Some(recorder) = recorder else { return Ok(kept) };
        let summary = recorder.finish(sim.model(), sim.state(), sim.hash());
        kept.trouble = kept.trouble.or_else(|| summary.stopped.clone());
        let drawn = picture.map_or(Ok(()), |to| draw(&path, to));
        if temporary {
            // It is in the folder for temporary files; one that stays does no harm.
            let _ = std::fs::remove_file(&path);
        } else {
            kept.file = Some((path, summary));
        }
        drawn?;
        kept.picture = picture.map(Path::to_owned);
        Ok(kept)
    }
}

fn draw(recording: &Path, to: &Path) -> Result<(), Failure> {
    let mut picture = Vec::new();
    to_svg(&Recording::open(recording)?, &mut picture)?;
    write_file(to, &picture)
}
