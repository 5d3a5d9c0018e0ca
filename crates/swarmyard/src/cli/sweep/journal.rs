//! Results on disk as they come, so that a sweep that was ended goes on where it was.
//!
//! In: rows, one by one. Out: a file of lines, each with a checksum, that is only ever added to; and the rows
//! of an earlier sweep of the same scenario. Whatever ends the program, at most the runs under way are lost.
//! Never: rows of another scenario, or of a build that computes otherwise.

use super::one::{Ran, Row};
use super::plan::Plan;
use crate::cli::fail::{Exit, Failure};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use swarmyard::base::hash::{NUMERICS_VERSION, bytes_hash};

/// Name of the journal in the folder of results.
pub(super) const NAME: &str = "journal.txt";
/// Longest journal that is read: a row takes a few hundred bytes.
const MOST_BYTES: u64 = 1 << 30;
const SCHEMA: &str = "swarmyard-sweep-journal/1";

/// An open journal.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
    /// Rows of earlier sweeps, by the key of their run.
    pub(super) rows: BTreeMap<u64, Row>,
    /// Lines that were damaged and left out.
    pub(super) damaged: usize,
}

impl Journal {
    /// Opens the journal of a folder, or begins one; `fresh` begins anew.
    pub(super) fn open(folder: &Path, plan: &Plan, fresh: bool) -> Result<Journal, Failure> {
        let path = folder.join(NAME);
        let failed = |verb: &'static str| {
            let path = path.clone();
            move |e: std::io::Error| Failure::file(verb, &path, &e)
        };
        std::fs::create_dir_all(folder).map_err(failed("write"))?;
        let open = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = open.map_err(failed("write"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let what = format!("another sweep is writing to `{}`", path.display());
                return Err(
                    Failure::new(Exit::Failed, "in-use", what).help("wait for it, or give another --out")
                );
            }
            Err(TryLockError::Error(e)) => return Err(failed("lock")(e)),
        }
        if fresh {
            file.set_len(0).map_err(failed("write"))?;
        }
        let length = file.metadata().map_err(failed("read"))?.len();
        if length > MOST_BYTES {
            let what = format!("`{}` is too long for a journal: `{length}` bytes", path.display());
            return Err(Failure::new(Exit::Failed, "too-big", what));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failed("read"))?;
        let (lines, good, damaged) = lines(&bytes);
        let mut journal = Journal { file, path: path.clone(), rows: BTreeMap::new(), damaged };
        match lines.first() {
            None if bytes.iter().all(|b| *b != b'\n') => journal.begin(plan)?,
            None => return Err(journal.foreign()),
            Some(header) => {
                journal.compare(header, plan)?;
                journal.file.set_len(good as u64).map_err(failed("write"))?;
                journal.file.seek(SeekFrom::End(0)).map_err(failed("write"))?;
            }
        }
        for line in lines.iter().skip(1) {
            if let Some((key, row)) = row_of(line) {
                journal.rows.insert(key, row);
            }
        }
        Ok(journal)
    }

    /// Adds the row of a run.
    pub(super) fn add(&mut self, key: u64, row: &Row) -> Result<(), Failure> {
        let ran = row.ran.as_ref().ok();
        self.write(&json!({
            "key": format!("{key:016x}"),
            "seed": row.seed,
            "values": row.values,
            // As texts, because JSON knows no infinity and not every reader of it keeps the last digit.
            "measures": ran.map(|r| r.measures.iter().map(|m| m.map(|x| x.to_string())).collect::<Vec<_>>()),
            "met": ran.map(|r| &r.met),
            "contacts": ran.map(|r| r.contacts),
            "end_s": ran.map(|r| r.end_s.to_string()),
            "hash": ran.map(|r| format!("{:016x}", r.hash)),
            "error": row.ran.as_ref().err(),
        }))
    }

    /// Makes sure that all of it is on the disk.
    pub(super) fn close(self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|e| Failure::file("write", &self.path, &e))
    }

    /// One line in one call, so that lines of a program that is ended are whole but for the last.
    fn write(&mut self, value: &Value) -> Result<(), Failure> {
        let text = value.to_string();
        let line = format!("{:016x} {text}\n", bytes_hash(text.as_bytes()));
        self.file.write_all(line.as_bytes()).map_err(|e| Failure::file("write", &self.path, &e))
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Failure> {
        let failed = |e: std::io::Error| Failure::file("write", &self.path, &e);
        self.file.set_len(0).map_err(failed)?;
        self.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        self.write(&header(plan))
    }

    /// Refuses a journal of something else, and says of what.
    fn compare(&self, found: &Value, plan: &Plan) -> Result<(), Failure> {
        let wanted = header(plan);
        if found["schema"] != wanted["schema"] {
            return Err(self.foreign());
        }
        let scenario = plan.file.display();
        let differs = |key: &str| found[key] != wanted[key];
        let (what, why) = if differs("numerics") {
            (
                "build",
                format!(
                    "numbers of version {}, this build has version {NUMERICS_VERSION}",
                    found["numerics"]
                ),
            )
        } else if differs("identity") {
            let was = found["scenario"].as_str().unwrap_or("?");
            ("scenario", format!("`{was}` as it was then; `{scenario}` says something else now"))
        } else if differs("measures") {
            ("measures", "other measures".into())
        } else if differs("until") {
            ("duration", format!("runs until {}, not {}", found["until"], wanted["until"]))
        } else {
            return Ok(());
        };
        let shown = self.path.display();
        Err(Failure::new(
            Exit::Failed,
            "other-sweep",
            format!("`{shown}` holds results of another {what}: {why}"),
        )
        .on(shown.to_string())
        .help("give another folder with --out to keep them, or --fresh to throw them away and begin anew"))
    }

    fn foreign(&self) -> Failure {
        let what = format!("`{}` is not the journal of a sweep", self.path.display());
        Failure::new(Exit::Failed, "not-a-journal", what).help("give another folder with --out")
    }
}

fn header(plan: &Plan) -> Value {
    let measures: Vec<Value> = plan
        .sweep
        .measures
        .iter()
        .map(|m| json!({ "name": m.name, "of": m.of, "when": m.when, "take": format!("{:?}", m.take) }))
        .collect();
    json!({
        "schema": SCHEMA,
        "scenario": plan.file.display().to_string(),
        "identity": format!("{:016x}", plan.identity),
        "build": swarmyard::engine::build_id(),
        "numerics": NUMERICS_VERSION,
        "until": plan.sweep.until_s.map(|s| s.to_string()),
        "measures": measures,
        "assertions": plan.asserts,
    })
}

/// The whole lines, where they end, and how many were damaged. What stands behind the last newline is a line
/// that was never finished.
fn lines(bytes: &[u8]) -> (Vec<Value>, usize, usize) {
    let (mut all, mut good, mut damaged) = (Vec::new(), 0, 0);
    for line in bytes.split_inclusive(|b| *b == b'\n') {
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        good += line.len();
        match line_of(whole) {
            Some(value) => all.push(value),
            None => damaged += 1,
        }
    }
    (all, good, damaged)
}

fn line_of(line: &[u8]) -> Option<Value> {
    let (sum, text) = line.split_at_checked(16)?;
    let text = text.strip_prefix(b" ")?;
    let sum = u64::from_str_radix(str::from_utf8(sum).ok()?, 16).ok()?;
    (sum == bytes_hash(text)).then(|| serde_json::from_slice(text).ok())?
}

fn row_of(line: &Value) -> Option<(u64, Row)> {
    let hex = |value: &Value| u64::from_str_radix(value.as_str()?, 16).ok();
    let values = line["values"].as_array()?.iter().map(|v| v.as_str().map(str::to_owned));
    let ran = match line["error"].as_str() {
        Some(why) => Err(why.to_owned()),
        None => Ok(Ran {
            measures: line["measures"]
                .as_array()?
                .iter()
                .map(|m| m.as_str().map_or(Some(None), |x| x.parse().ok().map(Some)))
                .collect::<Option<_>>()?,
            met: line["met"].as_array()?.iter().map(Value::as_bool).collect::<Option<_>>()?,
            contacts: line["contacts"].as_u64()?,
            end_s: line["end_s"].as_str()?.parse().ok()?,
            hash: hex(&line["hash"])?,
        }),
    };
    let row = Row { seed: line["seed"].as_u64()?, values: values.collect::<Option<_>>()?, ran };
    Some((hex(&line["key"])?, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> String {
        format!("{:016x} {text}\n", bytes_hash(text.as_bytes()))
    }

    #[test]
    fn a_line_that_was_not_finished_is_dropped_and_a_damaged_one_is_counted() {
        let (one, two) = (line("{\"a\":1}"), line("{\"b\":2}"));
        let whole = format!("{one}{two}");
        for cut in 0..=whole.len() {
            let (read, good, damaged) = lines(&whole.as_bytes()[..cut]);
            let wanted = usize::from(cut >= one.len()) + usize::from(cut >= whole.len());
            assert_eq!((read.len(), damaged), (wanted, 0), "cut at {cut}");
            assert_eq!(good, [0, one.len(), whole.len()][wanted]);
        }
        let spoilt = whole.replace("\"a\"", "\"c\"");
        let (read, good, damaged) = lines(spoilt.as_bytes());
        assert_eq!((read, good, damaged), (vec![json!({ "b": 2 })], whole.len(), 1));
    }
}
