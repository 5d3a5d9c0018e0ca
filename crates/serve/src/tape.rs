//! The recording of the run that is shown, in a temporary file.
//!
//! A recording that cannot be written never ends the run: then there is none.

use crate::again;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use swarmyard_engine::Frame;
use swarmyard_record::Recorder;
use swarmyard_sim::Sim;

/// The recording of one run; its file is gone with it.
pub(crate) struct Tape {
    recorder: Option<Recorder>,
    path: PathBuf,
    name: String,
    /// Code that was written, by hash.
    code: Vec<u64>,
    trouble: Option<String>,
}

impl Tape {
    /// Starts recording a run that has just begun.
    pub(crate) fn new(sim: &Sim, name: &str) -> Tape {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let file = format!("swarmyard-serve-{}-{number}.mcap", std::process::id());
        let path = std::env::temp_dir().join(file);
        let header = again::header(sim, name, &[]);
        let mut tape = Tape { recorder: None, path, name: name.to_owned(), code: Vec::new(), trouble: None };
        match Recorder::create(&tape.path, &header, sim.model()) {
            Ok(mut recorder) => {
                recorder.start(sim.model(), sim.state());
                tape.recorder = Some(recorder);
            }
            Err(e) => tape.trouble = Some(e.to_string()),
        }
        tape
    }

    /// Notes a committed step.
    pub(crate) fn frame(&mut self, sim: &Sim, frame: &Frame) {
        let Some(recorder) = &mut self.recorder else { return };
        for (code, bytes) in sim.code() {
            if !self.code.contains(&code) {
                self.code.push(code);
                recorder.code(code, bytes);
            }
        }
        if recorder.in_world() != sim.model().world {
            for world in sim.worlds_of_step() {
                let header = again::header_of(&world.model, &self.name, &world.overrides);
                recorder.world(&header, &world.model, sim.state());
            }
        }
        recorder.frame(sim.model(), sim.state(), frame, sim.journal());
    }

    /// The file, complete up to now.
    pub(crate) fn file(&mut self, sim: &Sim) -> Result<PathBuf, String> {
        match &mut self.recorder {
            Some(recorder) => {
                // Plain data into a growing buffer cannot fail.
                if let Some(Ok(json)) = sim.statistics().map(|s| serde_json::to_string(&s)) {
                    recorder.placement(&json);
                }
                recorder.flush(sim.now());
                Ok(self.path.clone())
            }
            None => Err(self.trouble.clone().unwrap_or_else(|| "there is no recording".into())),
        }
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        // It is in the folder for temporary files; one that stays does no harm.
        let _ = std::fs::remove_file(&self.path);
    }
}
