//! What one process has seen of a talk, as a file: lines of JSON, each written before anybody can have heard of it.
//!
//! A file of a process that was killed has no last line: its robots count as crashed after the last thing in it. A
//! line that was cut off is left out. Every length is bounded before anything is read.

use super::world::World;
use crate::cli::fail::{Exit, Failure};
use crate::cli::lines::{self, Line};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufReader, Write as _};
use std::path::Path;
use swarmyard::agents::wire::MOST_BYTES;
use swarmyard::base::{Moment, Time};
use swarmyard::part_api::{
    Bytes, Elect, Exclusion, Group, Indication, Monitor, Propose, ReadClock, Request, ToAll, ToRobots,
};
use swarmyard_radio::check::judge::{Kept, Pair};
use swarmyard_radio::lab::{Event, What};

const SCHEMA: &str = "swarmyard-talk-trace/1";
/// Most bytes of a line: those of a message in hexadecimal, and some words.
const MOST_LINE: usize = 2 * MOST_BYTES + 10_000;
/// Most lines of a file.
const MOST_LINES: usize = 4_000_000;

/// A file that is being written.
pub(super) struct TraceFile {
    file: File,
    pairs: Vec<Pair>,
}

impl TraceFile {
    /// Begins a file, in place of an older one.
    pub(super) fn begin(path: &Path, world: &World, here: &[u32]) -> Result<TraceFile, Failure> {
        let failed = |e: std::io::Error| Failure::file("write", path, &e);
        let mut file = File::create(path).map_err(failed)?;
        let head = json!({
            "schema": SCHEMA, "run": format!("{:016x}", world.run), "robots": here, "of": world.robots.len(),
        });
        writeln!(file, "{head}").map_err(failed)?;
        Ok(TraceFile { file, pairs: world.uses.pairs().to_vec() })
    }

    /// Writes an event, at once.
    pub(super) fn write(&mut self, kept: &Kept) -> std::io::Result<()> {
        let Some(what) = words_of(&kept.event.what) else { return Ok(()) };
        let pair = kept.pair.map(|k| [&self.pairs[k].user, &self.pairs[k].provider]);
        let at = kept.event.at;
        let line = json!({
            "at": [at.time.0, at.offset], "robot": kept.event.process, "pair": pair, "what": what,
        });
        self.file.write_all(format!("{line}\n").as_bytes())
    }

    /// Writes that the talk is over.
    pub(super) fn end(&mut self, at: Moment) -> std::io::Result<()> {
        self.file.write_all(format!("{}\n", json!({ "end": [at.time.0, at.offset] })).as_bytes())
    }
}

/// A file that was read.
pub(super) struct Read {
    pub(super) robots: Vec<u32>,
    pub(super) kept: Vec<Kept>,
    /// When it was over; `None` when the process was killed.
    pub(super) end: Option<Moment>,
}

/// Reads a file of this world.
pub(super) fn read(path: &Path, world: &World) -> Result<Read, Failure> {
    let wrong = |what: &str| {
        let shown = path.display().to_string();
        Failure::new(Exit::Failed, "trace", format!("{what} in `{shown}`")).on(shown)
    };
    let file = File::open(path).map_err(|e| Failure::file("read", path, &e))?;
    let mut reader = BufReader::new(file);
    let mut next = || -> Result<Option<Value>, Failure> {
        match lines::next(&mut reader, MOST_LINE).map_err(|e| Failure::file("read", path, &e))? {
            Some(Line::Whole(line)) => {
                serde_json::from_slice(&line).map(Some).map_err(|_| wrong("there is a line that is no JSON"))
            }
            Some(Line::Long(_)) => Err(wrong("a line is too long")),
            // What a killed process left of a line, or nothing.
            Some(Line::Last(_)) | None => Ok(None),
        }
    };
    let head = next()?.unwrap_or_default();
    if head["schema"] != SCHEMA {
        return Err(wrong("there is no trace of a talk"));
    }
    if head["run"] != format!("{:016x}", world.run) {
        return Err(wrong("there is a trace of another world").help("all must have loaded the same scenario"));
    }
    let known = |v: &Value| v.as_u64().filter(|r| *r < world.robots.len() as u64).map(|r| r as u32);
    let robots: Option<Vec<u32>> =
        head["robots"].as_array().and_then(|all| all.iter().take(1000).map(known).collect());
    let robots = robots.ok_or_else(|| wrong("there are robots that the world has not"))?;
    let mut read = Read { robots, kept: Vec::new(), end: None };
    while let Some(value) = next()? {
        if let Some(end) = moment(&value["end"]) {
            read.end = Some(end);
            break;
        }
        let kept = event(&value, world).filter(|k| read.robots.contains(&k.event.process));
        read.kept.push(kept.ok_or_else(|| wrong("there is a line that makes no sense"))?);
        if read.kept.len() > MOST_LINES {
            return Err(wrong("there are too many lines"));
        }
    }
    Ok(read)
}

fn moment(value: &Value) -> Option<Moment> {
    let offset = u32::try_from(value[1].as_u64()?).ok()?;
    Some(Moment { time: Time(value[0].as_i64().filter(|t| *t >= 0)?), offset })
}

fn event(value: &Value, world: &World) -> Option<Kept> {
    let pair = match &value["pair"] {
        Value::Null => None,
        names => {
            let (user, provider) = (names[0].as_str()?, names[1].as_str()?);
            Some(world.uses.find(user, provider)?)
        }
    };
    let process = u32::try_from(value["robot"].as_u64()?).ok()?;
    Some(Kept { pair, event: Event { at: moment(&value["at"])?, process, what: what_of(&value["what"])? } })
}

/// An event as a list whose first word says what it is; `None` for what nobody judges.
fn words_of(what: &What) -> Option<Value> {
    Some(match what {
        What::Crashed => json!(["crashed"]),
        What::Recovered => json!(["recovered"]),
        What::Requested { request, .. } => match request {
            Request::Link(message) => json!(["send", message.to.to_vec(), hex(&message.bytes)]),
            Request::Broadcast(ToAll(bytes)) => json!(["broadcast", hex(bytes)]),
            Request::Consensus(p) => json!(["propose", p.instance, hex(&p.value)]),
            Request::Detector(Monitor) => json!(["monitor"]),
            Request::Leader(Elect) => json!(["elect"]),
            Request::Mutex(Exclusion::Enter) => json!(["enter"]),
            Request::Mutex(Exclusion::Leave) => json!(["leave"]),
            Request::Membership(Group::Join) => json!(["join"]),
            Request::Membership(Group::Quit) => json!(["quit"]),
            Request::Membership(Group::Exclude(who)) => json!(["exclude", who]),
            Request::Membership(Group::Cast(bytes)) => json!(["cast", hex(bytes)]),
            Request::Clock(ReadClock::Now) => json!(["read"]),
            Request::Clock(ReadClock::At(seconds)) => json!(["read-at", seconds]),
            _ => return None,
        },
        What::Indicated { what, .. } => match what {
            Indication::Delivered { from, bytes } => json!(["delivered", from, hex(bytes)]),
            Indication::Decided { instance, value } => json!(["decided", instance, hex(value)]),
            Indication::Suspected(who) => json!(["suspected", who]),
            Indication::Trusted(who) => json!(["trusted", who]),
            Indication::Leads(who) => json!(["leads", who]),
            Indication::Entered => json!(["entered"]),
            Indication::View { number, members } => json!(["view", number, members]),
            Indication::Clock { reading_s, error_s } => json!(["clock", reading_s, error_s]),
            _ => return None,
        },
        _ => return None,
    })
}

/// The event that such a list stands for.
fn what_of(words: &Value) -> Option<What> {
    let asked = |request: Request| Some(What::Requested { port: 0, request });
    let told = |what: Indication| Some(What::Indicated { port: 0, what });
    let bytes = |k: usize| unhex(words[k].as_str()?);
    let number = |k: usize| words[k].as_u64();
    let robot = |k: usize| number(k).and_then(|r| u32::try_from(r).ok());
    let robots = |k: usize| -> Option<Vec<u32>> {
        words[k].as_array()?.iter().map(|m| m.as_u64().and_then(|m| u32::try_from(m).ok())).collect()
    };
    match words[0].as_str()? {
        "crashed" => Some(What::Crashed),
        "recovered" => Some(What::Recovered),
        "send" => asked(ToRobots { to: robots(1)?.into(), bytes: bytes(2)? }.into()),
        "broadcast" => asked(ToAll(bytes(1)?).into()),
        "propose" => asked(Propose { instance: number(1)?, value: bytes(2)? }.into()),
        "monitor" => asked(Monitor.into()),
        "elect" => asked(Elect.into()),
        "enter" => asked(Exclusion::Enter.into()),
        "leave" => asked(Exclusion::Leave.into()),
        "join" => asked(Group::Join.into()),
        "quit" => asked(Group::Quit.into()),
        "exclude" => asked(Group::Exclude(robot(1)?).into()),
        "cast" => asked(Group::Cast(bytes(1)?).into()),
        "read" => asked(ReadClock::Now.into()),
        "read-at" => asked(ReadClock::At(words[1].as_f64()?).into()),
        "delivered" => told(Indication::Delivered { from: robot(1)?, bytes: bytes(2)? }),
        "decided" => told(Indication::Decided { instance: number(1)?, value: bytes(2)? }),
        "suspected" => told(Indication::Suspected(robot(1)?)),
        "trusted" => told(Indication::Trusted(robot(1)?)),
        "leads" => told(Indication::Leads(robot(1)?)),
        "entered" => told(Indication::Entered),
        "clock" => told(Indication::Clock { reading_s: words[1].as_f64()?, error_s: words[2].as_f64() }),
        "view" => told(Indication::View { number: number(1)?, members: robots(2)? }),
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn unhex(text: &str) -> Option<Bytes> {
    let digits = text.as_bytes().chunks(2);
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let whole = text.len().is_multiple_of(2) && text.bytes().all(|b| b.is_ascii_hexdigit());
    digits.map(byte).collect::<Option<Vec<u8>>>().filter(|_| whole).map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_radio::lab::brief::{
        broadcasts, decides, delivers, enters, follows, leaves, proposes, reads, sends, shows, suspects,
        trusts, views, waits_until, wants,
    };

    #[test]
    fn every_event_that_is_judged_comes_back_as_it_was() {
        let asked = |request: Request| What::Requested { port: 0, request };
        let all = [
            broadcasts("hi"),
            sends(&[], "to nobody"),
            sends(&[2, 0, 1, 5, 9], "to five"),
            proposes(3, "x"),
            wants(),
            leaves(),
            asked(Monitor.into()),
            asked(Elect.into()),
            asked(Group::Join.into()),
            asked(Group::Quit.into()),
            asked(Group::Exclude(2).into()),
            asked(Group::Cast(Bytes::from(&b"\x00\xff"[..])).into()),
            delivers(1, ""),
            decides(u64::MAX, "y"),
            suspects(1),
            trusts(1),
            follows(2),
            enters(),
            views(4, &[0, 2]),
            reads(),
            waits_until(-2.5),
            shows(0.1, None),
            shows(1e9 + 0.1, Some(1e-3)),
            What::Crashed,
            What::Recovered,
        ];
        for what in all {
            let words = words_of(&what).unwrap_or_else(|| panic!("no words for {what:?}"));
            let back = what_of(&words).unwrap_or_else(|| panic!("nothing for {words}"));
            assert_eq!(format!("{back:?}"), format!("{what:?}"));
        }
    }

    #[test]
    fn what_is_no_event_is_none() {
        for words in [
            json!([]),
            json!(["broadcast", "0"]),
            json!(["broadcast", "+1"]),
            json!(["leads", -1]),
            json!(["x"]),
        ] {
            assert!(what_of(&words).is_none(), "{words}");
        }
    }
}
