//! Poses as a table.

use crate::error::RecordError;
use crate::recording::Recording;
use std::io::Write;

/// Writes one row per frame and body: time in seconds, path, x and y in metres, heading in radians.
///
/// # Errors
/// When the recording cannot be read or the table cannot be written.
pub fn to_csv(recording: &Recording, out: &mut impl Write) -> Result<(), RecordError> {
    let mut out = std::io::BufWriter::new(out);
    writeln!(out, "time,robot,x,y,heading").map_err(RecordError::Export)?;
    let mut paths: Vec<String> = Vec::new();
    let mut era = None;
    for (k, frame) in recording.frames().enumerate() {
        let frame = frame?;
        // Only now is it certain that the file really holds as many bodies as it says.
        if era.replace(recording.era_of(k)) != Some(recording.era_of(k)) {
            paths = recording.bodies_of(k).paths().collect();
        }
        let time = frame.time.to_string();
        let time = time.trim_end_matches(" s");
        for (path, [x, y, heading]) in paths.iter().zip(&frame.poses) {
            writeln!(out, "{time},{path},{x},{y},{heading}").map_err(RecordError::Export)?;
        }
    }
    out.flush().map_err(RecordError::Export)
}
