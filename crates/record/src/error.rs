//! Why a recording cannot be made or read.

use std::path::PathBuf;
use swarmyard_base::Diagnostics;

/// Why a recording cannot be made or read. Neither the run nor any other file is touched.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be created; there is no recording.
    #[error("cannot create the recording: {source} ({})", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The beginning of the file could not be written; what is there cannot be used.
    #[error("cannot write the recording: {0}")]
    Write(String),
    /// The scenario asks for topics that do not exist; nothing was written.
    #[error("the scenario asks for topics that cannot be recorded: {}", first(.0))]
    Topics(Diagnostics),
    /// The file cannot be opened.
    #[error("cannot open the recording: {source} ({})", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file cannot be read.
    #[error("cannot read the recording: {0}")]
    Read(#[from] std::io::Error),
    /// It is some other file, or it ends before the header does.
    #[error("this is not a Swarmyard recording: {0}")]
    NotARecording(String),
    /// It was written by a newer version; open it with that one.
    #[error("the recording has format `{found}`, this build reads up to `{known}`")]
    NewerFormat {
        /// Format of the file.
        found: u32,
        /// The newest format this build knows.
        known: u32,
    },
    /// One record contradicts the others. What comes before it can be read.
    #[error("the recording is damaged: {0}")]
    Damaged(String),
    /// The export could not be written.
    #[error("cannot write the export: {0}")]
    Export(std::io::Error),
}

fn first(all: &Diagnostics) -> String {
    let Some(d) = all.0.first() else { return String::new() };
    match &d.help {
        Some(help) => format!("{} ({help})", d.message),
        None => d.message.clone(),
    }
}
