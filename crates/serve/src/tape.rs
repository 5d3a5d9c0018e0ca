//! The recording of the run that is shown, in a temporary file.
//!
//! A recording that cannot be written never ends the run: then there is none.

use crate::again;
use crate::parcel::Parcel;
use swarmyard_engine::Frame;
use swarmyard_record::{Recorder, Temporary};
use swarmyard_sim::Sim;

/// The recording of one run; its file is gone with it.
pub(crate) struct Tape {
    recorder: Option<(Recorder, Temporary)>,
    name: String,
    /// Code that was written, by hash.
    code: Vec<u64>,
    trouble: Option<String>,
}

impl Tape {
    /// Starts recording a run that has just begun.
    pub(crate) fn new(sim: &Sim, name: &str) -> Tape {
        let header = again::header(sim, name, &[]);
        let mut tape = Tape { recorder: None, name: name.to_owned(), code: Vec::new(), trouble: None };
        match Recorder::temporary(&std::env::temp_dir(), &header, sim.model()) {
            Ok((mut recorder, file)) => {
                recorder.start(sim.model(), sim.state());
                tape.recorder = Some((recorder, file));
            }
            Err(e) => tape.trouble = Some(e.to_string()),
        }
        tape
    }

    /// Notes a committed step.
    pub(crate) fn frame(&mut self, sim: &Sim, frame: &Frame) {
        let Some((recorder, _)) = &mut self.recorder else { return };
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
    pub(crate) fn file(&mut self, sim: &Sim) -> Result<Parcel, String> {
        match &mut self.recorder {
            Some((recorder, file)) => {
                // Plain data into a growing buffer cannot fail.
                if let Some(Ok(json)) = sim.statistics().map(|s| serde_json::to_string(&s)) {
                    recorder.placement(&json);
                }
                recorder.flush(sim.now());
                Parcel::open(file.path()).map_err(|e| format!("cannot read the recording: {e}"))
            }
            None => Err(self.trouble.clone().unwrap_or_else(|| "there is no recording".into())),
        }
    }
}
