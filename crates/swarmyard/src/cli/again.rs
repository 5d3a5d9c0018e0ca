//! From a recording back to the run it was made of.

use super::fail::Failure;
use std::path::Path;
use swarmyard::Sim;
use swarmyard::base::hash::NUMERICS_VERSION;
use swarmyard::record::Recording;
use swarmyard_serve::again;

pub(crate) use swarmyard_serve::again::{header, last_step};

/// Opens a recording; its name is added to whatever is wrong with it.
pub(crate) fn open(path: &Path) -> Result<Recording, Failure> {
    Recording::open(path).map_err(|e| Failure::from(e).on(path.display().to_string()))
}

/// The run of a recording before its first step: same texts, same overrides, same journal.
pub(crate) fn rebuild(recording: &Recording, threads: usize) -> Result<Sim, Failure> {
    Ok(again::rebuild(recording, threads)?)
}

/// Why this build may not give the recorded bits again, if so.
pub(crate) fn other_build(recording: &Recording) -> Option<String> {
    let header = recording.header();
    (header.numerics != NUMERICS_VERSION).then(|| {
        format!(
            "it was made by build `{}`; the numbers of this one are version {NUMERICS_VERSION}",
            header.build
        )
    })
}
