//! What stands at the two ends of a recording: where it came from, and how it ended.

use serde::{Deserialize, Serialize};
use swarmyard_base::hash::NUMERICS_VERSION;
use swarmyard_base::{Ratio, Time};
use swarmyard_engine::{Model, build_id};

/// The newest format of the file; goes up when an older build could not read a new file.
pub(crate) const FORMAT: u32 = 1;

/// One text the scenario was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceText {
    /// Name as the scenario has it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// Everything a run is a function of, except the journal: scenario, seed, build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Format of the file.
    pub format: u32,
    /// Name of the scenario file.
    pub scenario: String,
    /// Title of the scenario.
    pub title: String,
    /// Overrides from the command line, in order: path and value.
    pub overrides: Vec<(String, String)>,
    /// Seed.
    pub seed: u64,
    /// The build that made it.
    pub build: String,
    /// Version of the numerics: equal numbers promise equal bits.
    pub numerics: u32,
    /// Quantum at the start, in seconds.
    pub quantum: Ratio,
    /// Frames per simulated second that were asked for.
    pub rate_hz: f64,
    /// The scenario file and what it includes. Stored as attachments, not in the message.
    #[serde(skip)]
    pub sources: Vec<SourceText>,
    /// Code of controllers at the start, as it ran. Stored as attachments, not in the message.
    #[serde(skip)]
    pub code: Vec<CodeBytes>,
}

/// The code of a controller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeBytes {
    /// Its name; code that came while running is called by its hash.
    pub name: String,
    /// The code.
    pub bytes: Vec<u8>,
}

/// The name under which code that came while running is kept.
#[must_use]
pub fn code_name(code: u64) -> String {
    format!("{code:016x}")
}

impl Header {
    /// The header of a run of this model.
    #[must_use]
    pub fn of(model: &Model, scenario: &str, overrides: &[(String, String)]) -> Header {
        let text =
            |s: &swarmyard_base::diag::Source| SourceText { name: s.name.clone(), text: s.text.to_string() };
        Header {
            format: FORMAT,
            scenario: scenario.to_owned(),
            title: model.title.clone(),
            overrides: overrides.to_vec(),
            seed: model.run.seed,
            build: build_id(),
            numerics: NUMERICS_VERSION,
            quantum: model.run.quantum,
            rate_hz: model.record.rate_hz,
            sources: model.sources.0.iter().map(text).collect(),
            code: model.code().into_iter().map(|(name, bytes)| CodeBytes { name, bytes }).collect(),
        }
    }
}

/// How a recording ended. A file that was cut off has none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct End {
    /// Steps committed.
    pub step: u64,
    /// Simulated time.
    pub time: Time,
    /// Hash of the last state, as the run reported it.
    #[serde(with = "hex")]
    pub hash: u64,
    /// Frames in the file.
    pub frames: u64,
    /// Contacts of the whole run, recorded one by one or not.
    pub contacts: u64,
    /// Robots halted.
    pub halts: u64,
    /// Times a body exceeded its impact limit.
    pub impact_limits: u64,
    /// Inputs from the journal.
    pub inputs: u64,
    /// Only every so many frames were kept at the end, to stay within the budget.
    pub thinned: u64,
    /// Why the recording stopped before the run did, if it did.
    pub stopped: Option<String>,
}

/// 64-bit numbers as hexadecimal text: JSON readers in browsers keep only 53 bits of a number.
pub(crate) mod hex {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn serialize<S: Serializer>(value: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&format_args!("{value:016x}"))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        let text = String::deserialize(from)?;
        u64::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
