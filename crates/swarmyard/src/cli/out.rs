//! Where text goes: data to stdout, everything else to stderr; and how files are written.

use super::fail::Failure;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use swarmyard::base::{Diagnostic, Sources, Time};

/// How the person (or program) wants to be answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Out {
    /// JSON instead of text.
    pub(crate) json: bool,
}

impl Out {
    /// Prints data.
    pub(crate) fn data(&self, text: &str) -> Result<(), Failure> {
        let mut stdout = std::io::stdout().lock();
        stdout.write_all(text.as_bytes())?;
        if !text.ends_with('\n') {
            stdout.write_all(b"\n")?;
        }
        Ok(stdout.flush()?)
    }

    /// Prints one JSON object on a line of its own, marked with its schema.
    pub(crate) fn json(&self, name: &str, value: Value) -> Result<(), Failure> {
        self.data(&marked(name, value).to_string())
    }

    /// Prints the JSON or the text, as asked for.
    pub(crate) fn answer(&self, name: &str, value: Value, text: &str) -> Result<(), Failure> {
        if self.json { self.json(name, value) } else { self.data(text) }
    }

    /// Tells a person something.
    pub(crate) fn say(&self, text: &str) {
        // Nobody listens on a closed stderr.
        let _ = writeln!(std::io::stderr(), "{text}");
    }

    /// Tells a person about something that is no error.
    pub(crate) fn warn(&self, sources: &Sources, d: &Diagnostic) {
        self.say(&sources.render(d));
    }

    /// Says why the command ends.
    pub(crate) fn failure(&self, failure: &Failure) {
        if !self.json {
            for d in &failure.problems.0 {
                self.say(&failure.sources.render(d));
            }
            return;
        }
        let problems = failure.json();
        let mut whole = problems.first().cloned().unwrap_or_else(|| json!({}));
        whole["exit"] = json!(failure.exit as u8);
        whole["problems"] = json!(problems);
        let _ = self.json("error", whole);
    }
}

/// Adds the mark that says what a JSON object is.
pub(crate) fn marked(name: &str, mut value: Value) -> Value {
    value["schema"] = json!(format!("swarmyard-{name}/1"));
    value
}

/// Writes a whole file: readers see the old one or the new one, never a half.
pub(crate) fn write_file(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    write_with(path, |file| Ok(file.write_all(bytes)?)).map(|_| ())
}

/// Writes a whole file piece by piece; answers its size. Until it is complete the old one stays.
pub(crate) fn write_with(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let failed = |e: std::io::Error| Failure::file("write", path, &e);
    // A link stays a link; a device is written to, not replaced.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let old = fs::metadata(&target).ok();
    if old.as_ref().is_some_and(|m| !m.is_file()) {
        let mut file = fs::OpenOptions::new().write(true).open(&target).map_err(failed)?;
        return write(&mut file).map(|()| 0);
    }
    let Some(name) = target.file_name() else {
        return Err(failed(std::io::Error::other("this is not the name of a file")));
    };
    let temporary = target.with_file_name(format!(".{}.{}.tmp", name.to_string_lossy(), std::process::id()));
    let written = File::create(&temporary).map_err(failed).and_then(|mut file| {
        write(&mut file)?;
        if let Some(old) = old {
            file.set_permissions(old.permissions()).map_err(failed)?;
        }
        let size = file.sync_all().and_then(|()| file.metadata()).map_err(failed)?.len();
        fs::rename(&temporary, &target).map_err(failed)?;
        Ok(size)
    });
    if written.is_err() {
        // It may never have been there.
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// A moment in seconds, as near as a number can be; `0.1 s` is 0.1 and not a neighbour of it.
pub(crate) fn seconds(t: Time) -> f64 {
    t.0 as f64 / 1e9
}

/// Bytes as people say them.
pub(crate) fn bytes(n: u64) -> String {
    match n {
        0..1_000 => format!("{n} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", n as f64 / 1e6),
        _ => format!("{:.2} GB", n as f64 / 1e9),
    }
}

/// A number with about three digits: nobody needs more to judge a speed.
pub(crate) fn three_digits(x: f64) -> String {
    match x {
        x if x >= 100.0 => format!("{x:.0}"),
        x if x >= 10.0 => format!("{x:.1}"),
        x if x >= 1.0 => format!("{x:.2}"),
        x => format!("{x:.3}"),
    }
}

/// A count with the right form of its noun: `1 robot`, `2 robots`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

/// A word as a shell takes it: quoted when it has to be.
pub(crate) fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,@%+".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_reach_the_shell_as_they_are() {
        assert_eq!(shell_word("a/b-c_1.toml"), "a/b-c_1.toml");
        assert_eq!(shell_word("my file"), "'my file'");
        assert_eq!(shell_word("it's"), r"'it'\''s'");
        assert_eq!(shell_word(""), "''");
    }

    #[test]
    fn moments_are_the_nearest_numbers() {
        assert_eq!(seconds(Time(60_000_000_000)), 60.0);
        assert_eq!(seconds(Time(10_600_000_000)), 10.6);
    }

    #[test]
    fn speeds_have_three_digits() {
        assert_eq!([0.1234, 1.234, 12.34, 1234.0].map(three_digits), ["0.123", "1.23", "12.3", "1234"]);
    }
}
