//! The recording of a run, and the picture that is made from it.
//!
//! A recording that cannot be written never ends the run; the report says what became of it.

use super::RunArgs;
use crate::cli::again;
use crate::cli::fail::Failure;
use crate::cli::out::{Out, write_file};
use std::path::{Path, PathBuf};
use swarmyard::base::Ratio;
use swarmyard::engine::{Frame, Model};
use swarmyard::record::{RecordError, Recorder, Recording, Summary, Temporary, to_svg};
use swarmyard::{Sim, Statistics};

/// What is recorded, if anything is.
pub(super) struct Tape {
    recorder: Option<(Recorder, Place)>,
    trouble: Option<String>,
    /// Code that was written, by hash.
    code: Vec<u64>,
}

/// Where a recording is.
enum Place {
    Kept(PathBuf),
    /// Only made for the picture, and removed after it.
    Gone(Temporary),
}

impl Place {
    fn path(&self) -> &Path {
        match self {
            Place::Kept(path) => path,
            Place::Gone(file) => file.path(),
        }
    }
}

/// What became of a recording.
pub(super) struct Kept {
    /// The file, its size and its frames; `None` when there is no recording.
    pub(super) file: Option<(PathBuf, Summary)>,
    /// Why there is less than was asked for.
    pub(super) trouble: Option<String>,
    /// The picture.
    pub(super) picture: Option<PathBuf>,
    /// Why there is no picture, although one was asked for.
    pub(super) no_picture: Option<String>,
}

impl Tape {
    /// Starts recording as the arguments say.
    ///
    /// A file that was named and cannot be made is an error. When the default cannot be made, or the
    /// disk is full, the run goes on without.
    pub(super) fn open(args: &RunArgs, sim: &Sim, out: &Out) -> Result<Tape, Failure> {
        let mut tape = Tape { recorder: None, trouble: None, code: Vec::new() };
        let header = || again::header(sim, &args.file.display().to_string(), &args.overrides());
        let made = match args.recording() {
            Some(path) => {
                Recorder::create(&path, &header(), sim.model()).map(|recorder| (recorder, Place::Kept(path)))
            }
            None if args.picture.is_some() => {
                let made = Recorder::temporary(&std::env::temp_dir(), &header(), sim.model());
                made.map(|(recorder, file)| (recorder, Place::Gone(file)))
            }
            None => return Ok(tape),
        };
        match made {
            Ok((mut recorder, place)) => {
                recorder.start(sim.model(), sim.state());
                tape.recorder = Some((recorder, place));
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
        match &self.recorder {
            Some((_, Place::Kept(path))) => Some(path),
            _ => None,
        }
    }

    /// Notes a committed step.
    pub(super) fn frame(&mut self, sim: &Sim, frame: &Frame) {
        if let Some((recorder, _)) = &mut self.recorder {
            for (code, bytes) in sim.code() {
                if !self.code.contains(&code) {
                    self.code.push(code);
                    recorder.code(code, bytes);
                }
            }
            recorder.frame(sim.model(), sim.state(), frame, sim.journal());
        }
    }

    /// Keeps what the workers of the run did, for who asks the recording, and for the next run.
    pub(super) fn placement(&mut self, statistics: &Statistics) {
        // Plain data into a growing buffer cannot fail.
        if let (Some((recorder, _)), Ok(json)) = (&mut self.recorder, serde_json::to_string(statistics)) {
            recorder.placement(&json);
        }
    }

    /// Closes the recording and draws the picture.
    pub(super) fn finish(self, sim: &Sim, picture: Option<&Path>) -> Kept {
        let Tape { recorder, trouble, code: _ } = self;
        let mut kept = Kept { file: None, trouble, picture: None, no_picture: None };
        let drawn = match recorder {
            None => Err("there is no recording to draw".to_owned()),
            Some((recorder, place)) => {
                let summary = recorder.finish(sim.model(), sim.state(), sim.hash());
                kept.trouble = kept.trouble.or_else(|| summary.stopped.clone());
                let drawn = picture.map_or(Ok(()), |to| draw(place.path(), to));
                if let Place::Kept(path) = place {
                    kept.file = Some((path, summary));
                }
                drawn.map_err(|f| f.problems.0.into_iter().map(|d| d.message).collect::<Vec<_>>().join(", "))
            }
        };
        if let Some(picture) = picture {
            kept.picture = drawn.is_ok().then(|| picture.to_owned());
            kept.no_picture = drawn.err();
        }
        kept
    }
}

/// At every how many stops a recording has a frame of the bodies; 1 where frames and quanta do not fit.
pub(crate) fn every(model: &Model) -> u64 {
    let quantum = model.run.quantum;
    let Some(rate) = Ratio::from_decimal(model.record.rate_hz) else { return 1 };
    // (1 / rate) / quantum
    let above = i128::from(rate.den()) * i128::from(quantum.den());
    let below = i128::from(rate.num()) * i128::from(quantum.num());
    if below > 0 && above % below == 0 { u64::try_from(above / below).unwrap_or(1).max(1) } else { 1 }
}

fn draw(recording: &Path, to: &Path) -> Result<(), Failure> {
    let mut picture = Vec::new();
    to_svg(&Recording::open(recording)?, &mut picture)?;
    write_file(to, &picture)
}
