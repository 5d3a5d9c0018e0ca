//! What displays may say, as types: one request per message, every length bounded.
//!
//! In: text from a socket. Out: a [`Request`] whose strings and lists have sane sizes, or why not. Nothing
//! here knows a run.

use crate::answer::Refusal;
use serde::Deserialize;
use serde_json::Value;

/// Most bytes of one message from a display.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// Greatest `id`: JSON readers in browsers keep 53 bits of a number.
const MOST_ID: u64 = (1 << 53) - 1;
/// Most characters of a name, a path or a label.
const MOST_NAME: usize = 1024;
/// Most numbers, robots or entries in one list.
pub(crate) const MOST_LIST: usize = 20_000;
/// Most robots whose values are shown at once.
pub(crate) const MOST_INSPECTED: usize = 16;
/// Most numbers that are plotted at once.
pub(crate) const MOST_PROBES: usize = 64;
/// Most maps that a display wants at once.
pub(crate) const MOST_GRIDS: usize = 8;

/// A request and the number its reply carries.
#[derive(Debug)]
pub(crate) struct Asked {
    pub(crate) id: Option<u64>,
    pub(crate) request: Request,
}

/// Everything a display may ask for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "do", deny_unknown_fields)]
pub(crate) enum Request {
    #[serde(rename = "hello")]
    Hello {
        version: u64,
        #[serde(default)]
        name: String,
        #[serde(default)]
        console: bool,
        #[serde(default)]
        token: Option<String>,
    },
    #[serde(rename = "watch")]
    Watch {
        #[serde(default = "yes")]
        frames: bool,
        #[serde(default = "thirty")]
        rate: u32,
        #[serde(default)]
        marks: MarksWanted,
        #[serde(default)]
        inspect: Vec<String>,
        #[serde(default)]
        probes: Vec<Probe>,
        #[serde(default, deserialize_with = "one_or_many")]
        grid: Vec<String>,
        #[serde(default)]
        comms: bool,
        #[serde(default)]
        links: bool,
        #[serde(default)]
        workers: bool,
    },
    #[serde(rename = "value")]
    Value { robot: String, part: String, channel: String, index: usize },
    #[serde(rename = "sheets")]
    Sheets {},
    #[serde(rename = "worlds")]
    Worlds {},
    #[serde(rename = "files")]
    Files {
        #[serde(default)]
        folder: String,
    },
    #[serde(rename = "read")]
    Read { path: String },
    #[serde(rename = "copy")]
    Copy { entries: Vec<String> },
    #[serde(rename = "normalise")]
    Normalise { class: String, param: String, typed: String },
    #[serde(rename = "history")]
    History {
        #[serde(default)]
        from: u64,
        #[serde(default)]
        to: Option<u64>,
        #[serde(default)]
        limit: Option<usize>,
    },
    #[serde(rename = "comms")]
    Comms {
        #[serde(default)]
        from_s: f64,
        #[serde(default)]
        to_s: Option<f64>,
        #[serde(default)]
        limit: Option<usize>,
    },
    #[serde(rename = "control.ask")]
    ControlAsk {},
    #[serde(rename = "control.take")]
    ControlTake {},
    #[serde(rename = "control.give")]
    ControlGive { to: Option<u64> },
    #[serde(rename = "control.deny")]
    ControlDeny { to: u64 },
    #[serde(rename = "start")]
    Start {},
    #[serde(rename = "pause")]
    Pause {},
    #[serde(rename = "step")]
    Step {
        #[serde(default = "one")]
        n: u64,
    },
    #[serde(rename = "reset")]
    Reset {},
    #[serde(rename = "exit")]
    Exit {},
    #[serde(rename = "speed")]
    Speed { factor: Option<f64> },
    #[serde(rename = "quantum")]
    Quantum { value: String },
    #[serde(rename = "detail")]
    Detail { level: String },
    #[serde(rename = "skip")]
    Skip { robot: String },
    #[serde(rename = "restart")]
    Restart { robot: String },
    #[serde(rename = "halt")]
    Halt { robot: String, on: bool },
    #[serde(rename = "poke")]
    Poke { robot: String, address: u32, bytes: u32, value: u32 },
    #[serde(rename = "command")]
    Command { part: String, channel: String, values: Vec<f64> },
    #[serde(rename = "seek")]
    Seek { stop: u64 },
    #[serde(rename = "live")]
    Live {},
    #[serde(rename = "branch")]
    Branch {},
    #[serde(rename = "open")]
    Open { path: String },
    #[serde(rename = "open.text")]
    OpenText { name: String, text: String },
    #[serde(rename = "save")]
    Save {
        #[serde(default)]
        path: Option<String>,
    },
    #[serde(rename = "edit")]
    Edit {
        #[serde(default)]
        label: String,
        changes: Vec<Value>,
        revision: u64,
    },
    #[serde(rename = "replace")]
    Replace {
        #[serde(default)]
        label: String,
        text: String,
        revision: u64,
    },
    #[serde(rename = "paste")]
    Paste {
        fragment: String,
        #[serde(default)]
        by: [f64; 2],
        revision: u64,
    },
    #[serde(rename = "undo")]
    Undo {},
    #[serde(rename = "redo")]
    Redo {},
    #[serde(rename = "write")]
    Write { path: String, text: String },
}

/// Whose marks a display wants.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(untagged)]
pub(crate) enum MarksWanted {
    /// `"none"` or `"all"`.
    Word(MarksWord),
    /// Those of these robots.
    Robots(Vec<String>),
    /// Nothing was said: none.
    #[default]
    #[serde(skip)]
    Unsaid,
}

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MarksWord {
    None,
    All,
}

/// One number that is followed step by step.
#[derive(Clone, Debug, PartialEq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Probe {
    /// Path of a part, or of a robot for `x`, `y` and `heading`.
    pub(crate) path: String,
    pub(crate) channel: String,
    #[serde(default)]
    pub(crate) index: usize,
}

/// Reads nothing, one name, or a list of them.
fn one_or_many<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Named {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Option::<Named>::deserialize(from)? {
        None => Vec::new(),
        Some(Named::One(name)) => vec![name],
        Some(Named::Many(names)) => names,
    })
}

fn yes() -> bool {
    true
}

fn thirty() -> u32 {
    30
}

fn one() -> u64 {
    1
}

/// Reads one message.
///
/// # Errors
/// Why it is no request, with its id if that could be read.
pub(crate) fn parse(text: &str) -> Result<Asked, (Option<u64>, Refusal)> {
    let malformed = |why: String| Refusal::new("malformed", why);
    let mut value: Value =
        serde_json::from_str(text).map_err(|e| (None, malformed(format!("this is not JSON: {e}"))))?;
    let Some(object) = value.as_object_mut() else {
        return Err((None, malformed("a message is an object with `do`".into())));
    };
    let id = match object.remove("id") {
        None => None,
        Some(id) => match id.as_u64().filter(|id| *id <= MOST_ID) {
            Some(id) => Some(id),
            None => {
                return Err((None, malformed(format!("`id` is a whole number from 0 to {MOST_ID}"))));
            }
        },
    };
    // After the id, so that the refusal carries it; whoever reads the socket bounds what comes here.
    if text.len() > MOST_BYTES {
        return Err((id, malformed(format!("a message has at most {MOST_BYTES} bytes, not {}", text.len()))));
    }
    let request: Request =
        serde_json::from_value(value).map_err(|e| (id, malformed(format!("this is no request: {e}"))))?;
    request.check().map_err(|refusal| (id, refusal))?;
    Ok(Asked { id, request })
}

/// For fuzzing: no bytes may make the reader of requests panic.
pub fn fuzz_request(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = parse(text);
    }
}

impl Request {
    /// Whether only the console may ask for this.
    pub(crate) fn needs_control(&self) -> bool {
        use Request as R;
        !matches!(
            self,
            R::Hello { .. }
                | R::Watch { .. }
                | R::Value { .. }
                | R::Sheets {}
                | R::Worlds {}
                | R::Files { .. }
                | R::Read { .. }
                | R::Copy { .. }
                | R::Normalise { .. }
                | R::History { .. }
                | R::Comms { .. }
                | R::ControlAsk {}
                | R::ControlTake {}
        )
    }

    /// Whether it would change or steer the run, which a recording does not allow.
    pub(crate) fn changes_run(&self) -> bool {
        use Request as R;
        self.is_input()
            || matches!(
                self,
                R::Branch {}
                    | R::Save { .. }
                    | R::Edit { .. }
                    | R::Replace { .. }
                    | R::Paste { .. }
                    | R::Undo {}
                    | R::Redo {}
            )
    }

    /// Whether it enters the journal of the run.
    pub(crate) fn is_input(&self) -> bool {
        use Request as R;
        matches!(
            self,
            R::Quantum { .. }
                | R::Detail { .. }
                | R::Skip { .. }
                | R::Restart { .. }
                | R::Halt { .. }
                | R::Poke { .. }
                | R::Command { .. }
        )
    }

    /// Refuses what is too long, too many or not a number.
    fn check(&self) -> Result<(), Refusal> {
        use Request as R;
        match self {
            R::Hello { name, token, .. } => names([name, token.as_deref().unwrap_or("")]),
            R::Watch { rate, marks, inspect, probes, grid, .. } => {
                within("rate", u64::from(*rate), 1, 60)?;
                within("inspect", inspect.len() as u64, 0, MOST_INSPECTED as u64)?;
                within("probes", probes.len() as u64, 0, MOST_PROBES as u64)?;
                names(probes.iter().flat_map(|p| [p.path.as_str(), p.channel.as_str()]))?;
                names(inspect.iter().map(String::as_str))?;
                within("grid", grid.len() as u64, 0, MOST_GRIDS as u64)?;
                names(grid.iter().map(String::as_str))?;
                match marks {
                    MarksWanted::Robots(robots) => list(robots),
                    MarksWanted::Word(_) | MarksWanted::Unsaid => Ok(()),
                }
            }
            R::Value { robot, part, channel, .. } => names([robot, part, channel].map(String::as_str)),
            R::Files { folder: path } | R::Read { path } | R::Open { path } => names([path.as_str()]),
            R::Save { path } => names(path.iter().map(String::as_str)),
            R::Copy { entries } => list(entries),
            R::Normalise { class, param, typed } => names([class, param, typed].map(String::as_str)),
            R::Step { n } => within("n", *n, 1, 1_000_000),
            R::Speed { factor } => match factor {
                Some(f) if !(0.1..=1000.0).contains(f) => {
                    Err(Refusal::new("out-of-range", format!("a speed is from 0.1 to 1000, not `{f}`"))
                        .help("null is as fast as possible"))
                }
                _ => Ok(()),
            },
            R::Quantum { value } => names([value.as_str()]),
            R::Detail { level } => names([level.as_str()]),
            R::Skip { robot } | R::Restart { robot } | R::Halt { robot, .. } | R::Poke { robot, .. } => {
                names([robot.as_str()])
            }
            R::Command { part, channel, values } => {
                within("values", values.len() as u64, 0, MOST_LIST as u64)?;
                names([part.as_str(), channel])
            }
            R::Edit { label, changes, .. } => {
                within("changes", changes.len() as u64, 0, MOST_LIST as u64)?;
                names([label.as_str()])
            }
            R::Replace { label, .. } => names([label.as_str()]),
            R::OpenText { name, .. } => names([name.as_str()]),
            R::Write { path, .. } => names([path.as_str()]),
            R::History { limit, .. } | R::Comms { limit, .. } => {
                limit.map_or(Ok(()), |n| within("limit", n as u64, 0, 2000))
            }
            _ => Ok(()),
        }
    }
}

fn within(what: &str, n: u64, least: u64, most: u64) -> Result<(), Refusal> {
    if (least..=most).contains(&n) {
        return Ok(());
    }
    Err(Refusal::new("out-of-range", format!("`{what}` is from {least} to {most}, not `{n}`")))
}

fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> Result<(), Refusal> {
    match all.into_iter().find(|name| name.len() > MOST_NAME) {
        None => Ok(()),
        Some(name) => {
            let what = format!("a name has at most {MOST_NAME} bytes, not {}", name.len());
            Err(Refusal::new("out-of-range", what))
        }
    }
}

fn list(all: &[String]) -> Result<(), Refusal> {
    within("list", all.len() as u64, 0, MOST_LIST as u64)?;
    names(all.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> &'static str {
        parse(text).map(|asked| panic!("{text} was read as {asked:?}")).unwrap_or_else(|e| e.1.code)
    }

    #[test]
    fn a_map_is_wanted_of_one_robot_or_of_some() {
        for (grid, wanted) in
            [("null", &[][..]), (r#""/a""#, &["/a"]), (r#"["/a", "/b"]"#, &["/a", "/b"]), ("[]", &[])]
        {
            match parse(&format!(r#"{{"do": "watch", "grid": {grid}}}"#)).unwrap().request {
                Request::Watch { grid, .. } => assert_eq!(grid, wanted),
                other => panic!("{other:?}"),
            }
        }
        let many = [r#""r""#; MOST_GRIDS + 1].join(",");
        assert_eq!(refused(&format!(r#"{{"do": "watch", "grid": [{many}]}}"#)), "out-of-range");
        assert_eq!(refused(r#"{"do": "watch", "grid": 7}"#), "malformed");
    }

    #[test]
    fn a_request_is_an_object_with_known_fields() {
        let asked = parse(r#"{"id": 7, "do": "step", "n": 3}"#).unwrap();
        assert_eq!((asked.id, asked.request), (Some(7), Request::Step { n: 3 }));
        assert_eq!(parse(r#"{"do": "pause"}"#).unwrap().request, Request::Pause {});
        for wrong in [
            "",
            "[]",
            "7",
            r#"{"id": 1}"#,
            r#"{"do": "fly"}"#,
            r#"{"do": "pause", "now": true}"#,
            r#"{"do": "step", "m": 1}"#,
            r#"{"do": "step", "n": -1}"#,
            r#"{"do": "pause", "id": -1}"#,
            r#"{"do": "pause", "id": 9007199254740992}"#,
            r#"{"do": "pause", "id": "x"}"#,
            r#"{"do": "seek", "stop": 1.5}"#,
        ] {
            assert_eq!(refused(wrong), "malformed", "{wrong}");
        }
    }

    #[test]
    fn what_is_too_long_or_too_many_is_refused() {
        let long = "x".repeat(MOST_NAME + 1);
        assert_eq!(refused(&format!(r#"{{"do": "open", "path": "{long}"}}"#)), "out-of-range");
        assert_eq!(refused(r#"{"do": "step", "n": 1000001}"#), "out-of-range");
        assert_eq!(refused(r#"{"do": "watch", "rate": 61}"#), "out-of-range");
        assert_eq!(refused(r#"{"do": "speed", "factor": 0}"#), "out-of-range");
        let robots = vec![r#""r""#; MOST_INSPECTED + 1].join(",");
        assert_eq!(refused(&format!(r#"{{"do": "watch", "inspect": [{robots}]}}"#)), "out-of-range");
        assert_eq!(refused(&format!(r#"{{"do": "{}"}}"#, "x".repeat(MOST_BYTES))), "malformed");
        let deep = "[".repeat(100_000);
        assert_eq!(refused(&format!(r#"{{"do": "edit", "revision": 1, "changes": {deep}"#)), "malformed");
    }

    #[test]
    fn the_id_of_a_bad_request_is_known() {
        assert_eq!(parse(r#"{"id": 5, "do": "fly"}"#).unwrap_err().0, Some(5));
    }
}
