//! Lines for later analysis: words for programs that count words, or JSON.

use super::Moment;
use crate::cli::fail::Failure;
use crate::cli::out::{Out, marked};
use serde_json::{Value, json};
use std::fmt::Write as _;
use swarmyard_serve::frame::{PER_METRE, PER_RADIAN};

const HEAD: &str = "\
# time stop pose ROBOT x y heading          s, steps, m, m, rad
# time stop value CHANNEL number
# time stop event KIND LEVEL ROBOT text
";

/// Lines on standard output.
pub(super) struct Lines {
    out: Out,
}

impl Lines {
    /// Begins with what the columns are.
    pub(super) fn start(out: Out) -> Result<Lines, Failure> {
        if !out.json {
            out.data(HEAD)?;
        }
        Ok(Lines { out })
    }

    /// One moment: a line per robot and number.
    pub(super) fn moment(&mut self, m: &Moment<'_>) -> Result<(), Failure> {
        let (time, stop) = (m.bodies.head.time_ns as f64 / 1e9, m.bodies.head.stop);
        let poses = m.cast.paths.iter().filter_map(|(k, path)| Some((path, m.bodies.rows.get(*k)?)));
        let poses = poses.map(|(path, row)| {
            let place = [row.x as f64 / PER_METRE, row.y as f64 / PER_METRE, row.heading as f64 / PER_RADIAN];
            (path, place, row.flags)
        });
        let values = m.cast.numbers.iter().map(super::Number::name).zip(m.values);
        if self.out.json {
            let poses: Vec<Value> = poses
                .map(|(path, [x, y, heading], flags)| json!({ "robot": path, "x": x, "y": y, "heading": heading, "flags": flags }))
                .collect();
            let values: Vec<Value> = values.map(|(name, v)| json!({ "channel": name, "value": v })).collect();
            let hash = format!("{:016x}", m.bodies.hash);
            let line = json!({ "is": "moment", "time": time, "stop": stop, "hash": hash, "poses": poses, "values": values });
            return self.out.data(&marked("watch", line).to_string());
        }
        let mut text = String::new();
        for (path, [x, y, heading], _) in poses {
            let _ = writeln!(text, "{time:.3} {stop} pose {path} {x:.4} {y:.4} {heading:.4}");
        }
        for (name, value) in values {
            let _ = writeln!(text, "{time:.3} {stop} value {name} {value}");
        }
        if text.is_empty() { Ok(()) } else { self.out.data(&text) }
    }

    /// What happened.
    pub(super) fn events(&mut self, lines: &[Value]) -> Result<(), Failure> {
        for line in lines {
            if self.out.json {
                let mut line = line.clone();
                line["is"] = json!("event");
                self.out.data(&marked("watch", line).to_string())?;
            } else {
                self.out.data(&event(line))?;
            }
        }
        Ok(())
    }
}

/// An event as one line of words.
pub(super) fn event(line: &Value) -> String {
    let word = |key: &str| line[key].as_str().unwrap_or("-");
    let time = line["time"].as_f64().unwrap_or(0.0);
    let text = word("text").replace(['\n', '\r'], " | ");
    format!("{time:.3} {} event {} {} {} {text}", line["stop"], word("kind"), word("level"), word("robot"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_one_line() {
        let line = json!({ "stop": 12, "time": 1.2, "level": "error", "kind": "fault", "robot": null, "text": "a\nb" });
        assert_eq!(event(&line), "1.200 12 event fault error - a | b");
    }
}
