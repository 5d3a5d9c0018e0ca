//! What a host and a sister process say to each other about one program.
//!
//! Everything is a question of the sister and an answer of the host, so a member that may only ask needs no other
//! right. Bytes are numbered from the beginning of their stream: a question that is put twice, or whose answer was lost,
//! changes nothing.

use crate::host::Identity;
use crate::message::write;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// Most bytes of a stream in one message.
pub(crate) const CHUNK: usize = 64 << 10;
/// Longest message about a program: a chunk of each stream, and a head.
pub(crate) const LONGEST: usize = 3 * CHUNK;
/// Most words of a program: its name and its arguments.
const MOST_WORDS: usize = 256;
/// Most bytes of them all.
const MOST_LETTERS: usize = 32 << 10;
/// What a sister may set in a program's environment.
const SETTINGS: [&str; 2] = ["SWARMYARD_MODULE", "RIO_TRANSPORT"];

/// Start a program for me.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) identity: Identity,
    /// What it is asked for by; nobody else has this number.
    pub(crate) id: u64,
    /// Whoever knows this may give it input and take its output.
    pub(crate) secret: u64,
    /// The name under which the owner allows it, and its arguments.
    pub(crate) words: Vec<String>,
    /// Of its environment.
    pub(crate) settings: Vec<(String, String)>,
    /// Seconds of silence after which the sister is gone.
    pub(crate) lease_s: f64,
}

impl Open {
    /// Refuses what cannot be meant.
    pub(crate) fn check(&self) -> Result<(), String> {
        let letters: usize = self.words.iter().map(String::len).sum();
        if self.words.len() > MOST_WORDS || letters > MOST_LETTERS {
            return Err(format!("a program has at most {MOST_WORDS} words with {MOST_LETTERS} bytes"));
        }
        if self.words.iter().any(|w| w.contains('\0')) {
            return Err("a word of a program has a zero byte in it".to_owned());
        }
        let is_known = |s: &(String, String)| {
            let plain = |c: char| c.is_ascii_alphanumeric();
            SETTINGS.contains(&s.0.as_str()) && s.1.len() <= 32 && s.1.chars().all(plain)
        };
        if let Some((name, _)) = self.settings.iter().find(|s| !is_known(s)) {
            let shown: String = name.chars().take(40).collect();
            return Err(format!("nobody may set `{}` there", shown.escape_default()));
        }
        if !(0.05..=600.0).contains(&self.lease_s) {
            return Err(format!("a lease of {} s makes no sense", self.lease_s));
        }
        Ok(())
    }
}

/// It was started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Opened {
    pub(crate) pid: u32,
}

/// Something for a program; its bytes follow.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Give {
    pub(crate) secret: u64,
    pub(crate) what: Gift,
}

/// What is for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Gift {
    /// Bytes of its input, from this one on, and whether they are the last.
    Input { from: u64, is_last: bool },
    /// Nothing; the sister is still there.
    Sign,
    /// Its end.
    Kill,
}

/// How far its input has come.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Given {
    pub(crate) have: u64,
}

/// What did it say from there on?
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Take {
    pub(crate) secret: u64,
    pub(crate) out_from: u64,
    pub(crate) err_from: u64,
    /// What answers took with the way there and back.
    pub(crate) turns: Turns,
}

/// What it said: so many bytes of its output follow, and then those of its errors.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Taken {
    pub(crate) out: u32,
    pub(crate) end: Option<ProgramEnd>,
}

/// How a program on a host ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ProgramEnd {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal.
    Signal(i32),
    /// It used up what a program may, and was ended; in words.
    Limit(String),
    /// The host ended it, and this is why.
    Ended(String),
}

impl std::fmt::Display for ProgramEnd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ProgramEnd::Exited(code) => write!(f, "exit code {code}"),
            ProgramEnd::Signal(signal) => write!(f, "signal {signal}"),
            ProgramEnd::Limit(why) | ProgramEnd::Ended(why) => f.write_str(why),
        }
    }
}

/// How often input was followed by output, and how long that took altogether.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Turns {
    pub(crate) count: u64,
    pub(crate) ns: u64,
}

impl Turns {
    pub(crate) fn add(&mut self, took: Duration) {
        self.count += 1;
        self.ns = self.ns.saturating_add(u64::try_from(took.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Microseconds of one, on average.
    pub(crate) fn mean_us(self) -> Option<f64> {
        (self.count > 0).then(|| self.ns as f64 / self.count as f64 / 1000.0)
    }
}

/// A program that runs on a host for somebody elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piped {
    /// The name under which it is allowed.
    pub name: String,
    /// Its process.
    pub pid: u32,
    /// Seconds since it was started.
    pub seconds: f64,
    /// Bytes that it was given.
    pub bytes_in: u64,
    /// Bytes that it said, errors included.
    pub bytes_out: u64,
    /// How often output followed input.
    pub turns: u64,
    /// Microseconds that took there, on average.
    pub there_us: Option<f64>,
    /// Microseconds that took for its sister process, on average: with the way there and back.
    pub whole_us: Option<f64>,
}

impl std::fmt::Display for Piped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Piped { name, pid, bytes_in, bytes_out, turns, .. } = self;
        write!(f, "`{name}`, process {pid}, {bytes_in} bytes in, {bytes_out} out")?;
        match (self.there_us, self.whole_us) {
            (Some(there), Some(whole)) => {
                write!(f, ", {turns} answers of {whole:.0} µs, {there:.0} µs of them there")
            }
            _ => Ok(()),
        }
    }
}

/// How long a host keeps a question whose answer is not there yet.
pub(crate) fn hold(lease: Duration) -> Duration {
    (lease / 4).min(Duration::from_millis(300))
}

/// A head, and the bytes that belong to it.
pub(crate) fn with_bytes<T: Serialize>(head: &T, bytes: &[&[u8]]) -> Vec<u8> {
    let mut all = write(head);
    for part in bytes {
        all.extend(*part);
    }
    all
}

/// The head of a message, and the bytes after it; `None` for what is none.
pub(crate) fn head_and_bytes<T: DeserializeOwned>(message: &[u8]) -> Option<(T, &[u8])> {
    let (head, bytes) = postcard::take_from_bytes(message).ok()?;
    (message.len() <= LONGEST).then_some((head, bytes))
}

pub(crate) fn open_key(host: &str) -> String {
    format!("swarm/host/{host}/open")
}

pub(crate) fn input_key(host: &str, id: u64) -> String {
    format!("swarm/host/{host}/pipe/{id:016x}/in")
}

pub(crate) fn output_key(host: &str, id: u64) -> String {
    format!("swarm/host/{host}/pipe/{id:016x}/out")
}

pub(crate) fn sister_key(host: &str, id: u64) -> String {
    format!("swarm/host/{host}/pipe/{id:016x}/sister")
}

/// All sisters of a host.
pub(crate) fn sisters(host: &str) -> String {
    format!("swarm/host/{host}/pipe/*/sister")
}

/// Whose key that is.
pub(crate) fn sister_of(key: &str) -> Option<u64> {
    let id = key.strip_suffix("/sister")?.rsplit('/').next()?;
    u64::from_str_radix(id, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(words: &[&str], settings: &[(&str, &str)]) -> Result<(), String> {
        let identity = Identity { version: "1".into(), numerics: 1 };
        let words = words.iter().map(|w| (*w).to_owned()).collect();
        let settings = settings.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect();
        Open { identity, id: 1, secret: 2, words, settings, lease_s: 1.0 }.check()
    }

    #[test]
    fn only_what_can_be_meant_becomes_a_command() {
        assert_eq!(open(&["smooth", "--to", "7"], &[("SWARMYARD_MODULE", "2")]), Ok(()));
        assert!(open(&["a\0b"], &[]).is_err());
        assert!(open(&["a"; MOST_WORDS + 1], &[]).is_err());
        assert!(open(&["a".repeat(MOST_LETTERS + 1).as_str()], &[]).is_err());
        for (name, value) in [("LD_PRELOAD", "x"), ("PATH", "x"), ("SWARMYARD_MODULE", "2 3")] {
            assert!(open(&["a"], &[(name, value)]).is_err(), "{name}={value}");
        }
    }

    #[test]
    fn a_sister_is_known_by_her_key() {
        assert_eq!(sister_of(&sister_key("alpha", 0xabc)), Some(0xabc));
        assert_eq!(sister_of("swarm/host/alpha/live"), None);
    }

    #[test]
    fn bytes_follow_their_head() {
        let give = Give { secret: 7, what: Gift::Input { from: 9, is_last: true } };
        let message = with_bytes(&give, &[b"ab", b"c"]);
        let (head, bytes): (Give, _) = head_and_bytes(&message).expect("a message");
        assert_eq!((head.what, bytes), (give.what, &b"abc"[..]));
        assert!(head_and_bytes::<Give>(&with_bytes(&give, &[&vec![0; LONGEST]])).is_none(), "too long");
    }
}
