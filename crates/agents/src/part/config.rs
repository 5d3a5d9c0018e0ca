//! The configuration of a part model: keys and numbers as a laboratory writes them.
//!
//! In: a text such as `Sensor = { Cone Angle = 30 }`, or plain `Key = value` lines. Out: the values by
//! key, and which of them the model has asked for. What a key means is the model's business.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;

/// Most keys of one configuration.
const MOST_KEYS: usize = 4096;

/// Values by key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Config(BTreeMap<String, Entry>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// The key as it was written.
    written: String,
    value: String,
}

/// A key as it is compared: lower case, `_` for blanks.
pub(crate) fn normal(key: &str) -> String {
    key.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join("_")
}

impl Config {
    /// Reads a text over what is there already; `name` is for messages.
    ///
    /// # Errors
    /// What cannot be read, with its line.
    pub(crate) fn read(&mut self, name: &str, text: &str) -> Result<(), String> {
        let mut open = false;
        let mut keys = BTreeSet::new();
        for (k, line) in text.lines().enumerate() {
            let wrong = |why: String| format!("{name}:{}: {why}", k + 1);
            let line = line.split('#').next().unwrap_or("");
            for piece in line.split_inclusive(['{', '}', ',', ';']) {
                let (body, end) = match piece.chars().last() {
                    Some(c @ ('{' | '}' | ',' | ';')) => (&piece[..piece.len() - 1], c),
                    _ => (piece, ' '),
                };
                let entry = body.trim();
                if end == '{' {
                    if open || !entry.ends_with('=') {
                        return Err(wrong("a block begins as `Sensor = {`, and has none in it".into()));
                    }
                    open = true;
                    continue;
                }
                if !entry.is_empty() {
                    let key = self.entry(entry).map_err(wrong)?;
                    if !keys.insert(key) {
                        return Err(wrong(format!("`{entry}` gives a key its second value")));
                    }
                }
                if end == '}' && !std::mem::take(&mut open) {
                    return Err(wrong("`}` ends no block".into()));
                }
            }
        }
        if open { Err(format!("{name}: the block is not closed with `}}`")) } else { Ok(()) }
    }

    fn entry(&mut self, text: &str) -> Result<String, String> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(format!("`{text}` is not of the form `Key = value`"));
        };
        let (key, value) = (key.trim(), value.trim().trim_matches('"'));
        if key.is_empty() || value.is_empty() || value.contains('=') || self.0.len() >= MOST_KEYS {
            return Err(format!("`{text}` is not of the form `Key = value`, one on a line"));
        }
        let entry = Entry { written: key.to_owned(), value: value.to_owned() };
        self.0.insert(normal(key), entry);
        Ok(normal(key))
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(&normal(key))
    }

    /// The number behind a key.
    ///
    /// # Errors
    /// When it is not a plain number.
    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, String> {
        let Some(entry) = self.0.get(&normal(key)) else { return Ok(None) };
        match entry.value.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(format!("`{}` must be a plain number, not `{}`", entry.written, entry.value)),
        }
    }

    /// The same in SI; a plain number, and the default, are in `unit`.
    ///
    /// # Errors
    /// When it is not a number of such a unit, or there is no such unit.
    pub(crate) fn number_in(&self, key: &str, suffix: &str, default: f64) -> Result<f64, String> {
        let known = |unit: &&Unit| unit.suffixes().iter().any(|(s, _)| *s == suffix);
        let Some(unit) = Unit::ALL.iter().find(known) else {
            return Err(format!("there is no unit `{suffix}`"));
        };
        let Some(entry) = self.0.get(&normal(key)) else { return unit.parse(&format!("{default} {suffix}")) };
        let plain = entry.value.parse::<f64>().is_ok();
        let text = if plain { format!("{} {suffix}", entry.value) } else { entry.value.clone() };
        unit.parse(&text).map_err(|why| format!("`{}`: {why}", entry.written))
    }

    /// The first key that is not in `asked`, as an error.
    pub(crate) fn unused(&self, asked: &BTreeSet<String>) -> Option<Diagnostic> {
        let (_, entry) = self.0.iter().find(|(key, _)| !asked.contains(*key))?;
        let what = format!("the model never asks for the key `{}` of its configuration", entry.written);
        let names = asked.iter().map(String::as_str);
        Some(Diagnostic::error("unknown-key", what).suggest(&normal(&entry.written), names))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Config, String> {
        let mut config = Config::default();
        config.read("a.part", text).map(|()| config)
    }

    #[test]
    fn blocks_and_plain_lines_say_the_same() {
        let block = read("# eye\nSensor = {\n  Cone Angle = 30 # wide\n  Height = 8cm\n}\n").unwrap();
        for other in ["cone  angle = 30\nHEIGHT = 8cm", "S = { Cone Angle = 30, Height = 8cm }"] {
            let other = read(other).unwrap();
            assert_eq!(other.number("Cone Angle").unwrap(), Some(30.0));
            assert_eq!(other.number_in("height", "cm", 1.0), block.number_in("height", "cm", 1.0));
        }
        assert_eq!(block.number("depth").unwrap(), None);
        assert_eq!(block.number_in("depth", "cm", 3.0).unwrap(), 0.03);
        assert!(block.number("height").is_err() && block.number_in("height", "deg", 1.0).is_err());
        assert!(block.number_in("height", "ell", 1.0).is_err());
    }

    #[test]
    fn what_cannot_be_read_is_named_with_its_line() {
        for (text, place) in [
            ("A = 1\nnonsense", "a.part:2: "),
            ("A = {\nB = { C = 1 }\n}", "a.part:2: "),
            ("}", "a.part:1: "),
            ("A = 1\nA = 2", "a.part:2: "),
            ("A = {", "a.part: "),
            ("A = 1 B = 2", "a.part:1: "),
            ("{", "a.part:1: "),
        ] {
            let why = read(text).unwrap_err();
            assert!(why.starts_with(place), "{text}: {why}");
        }
    }

    #[test]
    fn a_key_nobody_asks_for_is_an_error_with_the_nearest_one() {
        let config = read("Hieght = 8").unwrap();
        let asked: BTreeSet<String> = [normal("Height")].into();
        let d = config.unused(&asked).unwrap();
        assert!(format!("{d:?}").contains("height"), "{d:?}");
        assert!(read("Height = 8").unwrap().unused(&asked).is_none());
    }
}
