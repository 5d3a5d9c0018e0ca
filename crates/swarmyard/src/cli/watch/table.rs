//! A table on a terminal, written anew over itself.

use super::Moment;
use super::lines::event;
use crate::cli::fail::Failure;
use crate::cli::out::three_digits;
use console::Term;
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::Write as _;
use swarmyard_serve::frame::{CARRIED, FAILED, HALTED, IN_CONTACT, PER_METRE, PER_RADIAN, WAITED_FOR};

/// Events at the foot of the table.
const EVENTS: usize = 6;

/// The table, and what stands of it.
#[derive(Default)]
pub(super) struct Table {
    /// Lines on the terminal that the next picture goes over.
    standing: usize,
    events: VecDeque<String>,
}

impl Table {
    /// Draws a moment over the one before.
    pub(super) fn moment(&mut self, m: &Moment<'_>) -> Result<(), Failure> {
        let (height, width) = Term::stdout().size();
        let lines = self.lines(m, usize::from(height).max(12));
        let mut text = String::new();
        if self.standing > 0 {
            let _ = write!(text, "\x1b[{}A", self.standing);
        }
        for line in &lines {
            let line: String = line.chars().take(usize::from(width).max(20) - 1).collect();
            let _ = writeln!(text, "\x1b[2K{line}");
        }
        // What a longer picture left below.
        text.push_str("\x1b[J");
        self.standing = lines.len();
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        Ok(stdout.flush()?)
    }

    fn lines(&self, m: &Moment<'_>, height: usize) -> Vec<String> {
        let word = |key: &str| m.status[key].as_str().unwrap_or("?").to_owned();
        let time = m.bodies.head.time_ns as f64 / 1e9;
        let rtf = m.status["rtf"].as_f64().map_or_else(|| "?".into(), three_digits);
        let mut lines = vec![
            format!(
                "{}: {}, {time:.3} s, stop {}, {rtf} x real time, hash {:016x}",
                word("title"),
                word("state"),
                m.bodies.head.stop,
                m.bodies.hash
            ),
            format!("{:<28} {:>11} {:>11} {:>11}", "robot", "x/m", "y/m", "heading/rad"),
        ];
        let numbers = m.cast.numbers.len().min(m.values.len()).min(height / 3);
        let room = height.saturating_sub(lines.len() + numbers + self.events.len() + 2).max(3);
        for (k, path) in m.cast.paths.iter().take(room) {
            let Some(row) = m.bodies.rows.get(*k) else { continue };
            let (x, y) = (row.x as f64 / PER_METRE, row.y as f64 / PER_METRE);
            let heading = row.heading as f64 / PER_RADIAN;
            lines.push(format!("{path:<28} {x:>11.4} {y:>11.4} {heading:>11.4}{}", flags(row.flags)));
        }
        if m.cast.paths.len() > room {
            lines.push(format!("and {} more", m.cast.paths.len() - room));
        }
        for (number, value) in m.cast.numbers.iter().zip(m.values).take(numbers) {
            lines.push(format!("{:<28} {value:>11.4}", number.name()));
        }
        lines.extend(self.events.iter().cloned());
        lines
    }

    /// Keeps the last few of what happened.
    pub(super) fn events(&mut self, lines: &[Value]) {
        self.events.extend(lines.iter().skip(lines.len().saturating_sub(EVENTS)).map(event));
        self.events.drain(..self.events.len().saturating_sub(EVENTS));
    }
}

/// What is special about a body, in words.
fn flags(flags: u8) -> String {
    let words = [
        (HALTED, " halted"),
        (FAILED, " failed"),
        (IN_CONTACT, " contact"),
        (CARRIED, " carried"),
        (WAITED_FOR, " waited for"),
    ];
    words.iter().filter(|(bit, _)| flags & bit != 0).map(|(_, word)| *word).collect()
}

#[cfg(test)]
mod tests {
    use super::super::cast::Cast;
    use super::*;
    use serde_json::json;
    use swarmyard_serve::frame::{Bodies, Row};

    #[test]
    fn a_table_has_as_many_lines_as_the_terminal_and_says_what_is_left_out() {
        let rows = vec![Row::at(1.0, -2.0, 0.5, HALTED | IN_CONTACT); 40];
        let bodies = Bodies { rows, ..Bodies::default() };
        let paths = (0..40).map(|k| (k, format!("/robots/r{k}"))).collect();
        let cast = Cast { paths, bodies: 40, ..Cast::default() };
        let status = json!({ "title": "Duel", "state": "paused", "rtf": 0.0 });
        let mut table = Table::default();
        let happened = json!({ "stop": 1, "time": 0.1, "kind": "print", "level": "info", "robot": "/robots/r1", "text": "hi" });
        table.events(&vec![happened; 20]);
        let moment = Moment { bodies: &bodies, cast: &cast, values: &[], status: &status };
        let lines = table.lines(&moment, 24);
        assert!(lines.len() < 24, "{} lines", lines.len());
        assert!(lines[0].starts_with("Duel: paused, 0.000 s, stop 0"), "{lines:#?}");
        assert!(lines[2].contains("1.0000     -2.0000      0.5000 halted contact"), "{lines:#?}");
        let shown = lines.iter().filter(|l| l.starts_with("/robots/")).count();
        assert!(lines.contains(&format!("and {} more", 40 - shown)), "{lines:#?}");
        assert_eq!(lines.iter().filter(|l| l.contains("event print")).count(), EVENTS);
    }
}
