//! Text to lines of a log.
//!
//! A line is read only if it would be written back to the byte: a number with four decimals or a blank
//! too many is a problem at its place. After a broken line the reader goes on with the next; of a row with
//! several bad columns each is reported.

use super::java::read_java_double;
use super::{
    CONDITIONS, Comma, Command, Condition, Content, Entry, HEADER, Line, MESSAGE_EVENTS, Message, Motion,
    MotionRequest, Sensing, SensorEvent, SensorRequest,
};
use crate::Failed;
use crate::overrides::offset;
use crate::tree::shortened;
use swarmyard_base::{Diagnostic, Diagnostics, SourceId, Sources, Span};

/// Most bytes of one log.
pub const MAX_TEXT: usize = 64 << 20;
/// Most bytes of one line.
pub const MAX_LINE: usize = 1 << 20;
/// Most lines of one log.
pub const MAX_LINES: usize = 1_000_000;
/// Problems after which nobody reads further.
const MAX_PROBLEMS: usize = 1000;
/// Greatest number: up to here three decimals are exact.
const MAX_NUMBER: f64 = 1e12;

/// How lines begin, for suggestions.
const BEGINNINGS: [&str; 7] = [
    "Event:",
    "CollisionEvent:",
    "SensorRequest:",
    "SensorEvent:",
    "MotionRequest:",
    "messages",
    "Algorithm:",
];

/// Reads a log. Empty lines are skipped.
///
/// # Errors
/// All problems at once, in the order of the text.
pub fn read(name: &str, text: &str) -> Result<Vec<Line>, Box<Failed>> {
    let mut lines = Vec::new();
    let mut problems = Vec::new();
    if text.len() > MAX_TEXT {
        let what = format!("a log may have at most `{MAX_TEXT}` bytes, not `{}`", text.len());
        problems.push(Diagnostic::error("too-big", what).at(Some(span(0, 0))));
        let sources = Sources::default();
        return Err(Box::new(Failed { sources, problems: Diagnostics(problems) }));
    }
    let mut start = 0;
    for line in text.split('\n') {
        let base = start;
        start += line.len() + 1;
        let line = line.strip_suffix('\r').unwrap_or(line);
        if line.is_empty() {
            continue;
        }
        if problems.len() >= MAX_PROBLEMS {
            break;
        }
        if lines.len() >= MAX_LINES {
            let what = format!("a log may have at most `{MAX_LINES}` lines");
            problems.push(Diagnostic::error("too-big", what).at(Some(span(base, base))));
            break;
        }
        lines.extend(LineReader { base, problems: &mut problems }.line(line));
    }
    if problems.is_empty() {
        return Ok(lines);
    }
    let mut sources = Sources::default();
    sources.add(name, text);
    let mut problems = Diagnostics(problems);
    problems.sort();
    Err(Box::new(Failed { sources, problems }))
}

/// Reads one line, without what ends it.
///
/// # Errors
/// All its problems; their places are bytes of the line.
pub fn read_line(line: &str) -> Result<Line, Diagnostics> {
    let mut problems = Vec::new();
    let read = LineReader { base: 0, problems: &mut problems }.line(line);
    read.filter(|_| problems.is_empty()).ok_or(Diagnostics(problems))
}

fn span(start: usize, end: usize) -> Span {
    Span { source: SourceId(0), start: offset(start), end: offset(end) }
}

/// A piece of a line, and where it begins in it.
#[derive(Clone, Copy)]
struct Piece<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Piece<'t> {
    /// Before and behind the first `mark`.
    fn cut(self, mark: &str) -> Option<(Piece<'t>, Piece<'t>)> {
        let k = self.text.find(mark)?;
        let after = k + mark.len();
        Some((
            Piece { text: &self.text[..k], at: self.at },
            Piece { text: &self.text[after..], at: self.at + after },
        ))
    }

    fn behind(self, start: &str) -> Option<Piece<'t>> {
        self.text.strip_prefix(start).map(|text| Piece { text, at: self.at + start.len() })
    }

    fn before(self, end: &str) -> Option<Piece<'t>> {
        self.text.strip_suffix(end).map(|text| Piece { text, at: self.at })
    }

    /// The pieces between marks.
    fn split(self, mark: &str) -> Vec<Piece<'t>> {
        let mut at = self.at;
        let piece = |text: &'t str| {
            let piece = Piece { text, at };
            at += text.len() + mark.len();
            piece
        };
        self.text.split(mark).map(piece).collect()
    }
}

struct LineReader<'p> {
    /// Where the line begins in the text.
    base: usize,
    problems: &'p mut Vec<Diagnostic>,
}

impl LineReader<'_> {
    fn line(&mut self, line: &str) -> Option<Line> {
        let whole = Piece { text: line, at: 0 };
        if line.len() > MAX_LINE {
            let what = format!("a line may have at most `{MAX_LINE}` bytes, not `{}`", line.len());
            return self.problem("too-big", what, Piece { text: "", at: 0 });
        }
        if let Some(at) = line.find(['\n', '\r']) {
            return self.problem("syntax", "`\\r` inside a line", Piece { text: "\r", at });
        }
        if line == HEADER {
            return Some(Line::bare(Entry::Header));
        }
        if !line.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Some(Line::bare(self.entry(whole)?));
        }
        let prefix = whole.cut(" ").and_then(|(time, rest)| Some((time, rest.cut(" ")?)));
        let Some((time, (process, rest))) = prefix else {
            return self.expected("a time, a process and an entry, such as `0.031 p1 Algorithm: …`", whole);
        };
        let time_s = self.number("the time", time);
        let process = self.process(process);
        let entry = self.entry(rest);
        Some(Line::at(time_s?, process?, entry?))
    }

    fn entry(&mut self, piece: Piece<'_>) -> Option<Entry> {
        let word = Piece { text: piece.text.split(' ').next().unwrap_or(""), at: piece.at };
        if !BEGINNINGS.contains(&word.text) {
            let what = format!("no line begins with `{}`", shortened(word.text));
            let d = Diagnostic::error("unknown-entry", what).at(Some(self.place(word)));
            self.problems.push(d.suggest(word.text, BEGINNINGS));
            return None;
        }
        let Some(body) = piece.behind(word.text).and_then(|b| b.behind(" ")) else {
            let end = Piece { text: "", at: word.at + word.text.len() };
            return self.expected(&format!("a blank and more behind `{}`", word.text), end);
        };
        match word.text {
            "Event:" => self.motion(body, false).map(Entry::Motion),
            "CollisionEvent:" => self.motion(body, true).map(Entry::Motion),
            "SensorRequest:" => self.sensor_request(body).map(Entry::SensorRequest),
            "SensorEvent:" => self.sensor_event(body).map(Entry::SensorEvent),
            "MotionRequest:" => self.motion_request(body).map(Entry::MotionRequest),
            "messages" => self.message(body).map(Entry::Message),
            _ => Some(Entry::Algorithm(body.text.to_owned())),
        }
    }

    fn motion(&mut self, body: Piece<'_>, collision: bool) -> Option<Motion> {
        let fields = self.literal("| ", body)?.split(" | ");
        let &[time, robot, at, to, angle, turn, distance, turn_speed, move_speed, condition] =
            fields.as_slice()
        else {
            let what = format!("10 columns, not `{}`: {HEADER}", fields.len());
            return self.expected(&what, body);
        };
        // All columns are looked at before the first bad one ends it.
        let time_s = self.number("the time", time);
        let robot = self.whole("the robot", robot);
        let position = self.point("the position", at);
        let destination = self.point("the destination", to);
        let angle_deg = self.number("the angle", angle);
        let turn_deg = self.number("the turn", turn);
        let distance = self.number("the distance", distance);
        let turn_speed_deg = self.number("the turn speed", turn_speed);
        let move_speed = self.number("the move speed", move_speed);
        let condition = self.condition(condition, collision);
        Some(Motion {
            collision,
            time_s: time_s?,
            robot: robot?,
            position: position?,
            destination: destination?,
            angle_deg: angle_deg?,
            turn_deg: turn_deg?,
            distance: distance?,
            turn_speed_deg: turn_speed_deg?,
            move_speed: move_speed?,
            condition: condition?,
        })
    }

    fn condition(&mut self, piece: Piece<'_>, collision: bool) -> Option<Condition> {
        let name = match (piece.before("(Collision)"), collision) {
            (Some(name), true) => name.text,
            (None, false) => piece.text,
            (None, true) => return self.expected("`(Collision)` at the end of a `CollisionEvent`", piece),
            (Some(_), false) => return self.expected("`CollisionEvent` before a `(Collision)`", piece),
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return self.expected("a condition in one word, such as `Finish_MoveTo`", piece);
        }
        let known = CONDITIONS.iter().find(|c| c.1 == name).map(|c| c.0.clone());
        Some(known.unwrap_or_else(|| Condition::Other(name.to_owned())))
    }

    fn sensor_request(&mut self, body: Piece<'_>) -> Option<SensorRequest> {
        let Some((robot, sensing)) = body.cut(" | ") else {
            return self.expected("`ROBOT# n | what it asks for`", body);
        };
        let robot = self.literal("ROBOT# ", robot).and_then(|r| self.whole("the robot", r));
        let sensing = self.sensing(sensing);
        Some(SensorRequest { robot: robot?, sensing: sensing? })
    }

    fn sensing(&mut self, piece: Piece<'_>) -> Option<Sensing> {
        if let Some(size) = piece.behind("Positioning with errorFactor ") {
            return self.java(size).map(|error_factor| Sensing::Positioning { error_factor });
        }
        if let Some(size) = piece.behind("View with viewSize ") {
            return self.java(size).map(|view_size| Sensing::View { view_size });
        }
        if let Some(size) = piece.behind("Proximity with viewSize ") {
            return self.java(size).map(|view_size| Sensing::Proximity { view_size });
        }
        match piece.text {
            "Contact" => Some(Sensing::Contact),
            words if words.is_empty() || words.contains('|') => self.expected("the words of a sensor", piece),
            words => Some(Sensing::Other(words.to_owned())),
        }
    }

    fn sensor_event(&mut self, body: Piece<'_>) -> Option<SensorEvent> {
        let fields = body.split(" | ");
        let &[time, robot, sensing, found] = fields.as_slice() else {
            return self.expected("`TIME: t | ROBOT# n | sensor | [[x,y], …]`", body);
        };
        let time_s = self.literal("TIME: ", time).and_then(|t| self.number("the time", t));
        let robot = self.literal("ROBOT# ", robot).and_then(|r| self.whole("the robot", r));
        let sensing = self.sensing(sensing);
        let Some(list) = found.behind("[").and_then(|f| f.before("]")) else {
            return self.expected("a list of places `[[x,y], …]`", found);
        };
        let places = if list.text.is_empty() { Vec::new() } else { list.split(", ") };
        let found: Option<Vec<[f64; 2]>> = places.into_iter().map(|p| self.point("a place", p)).collect();
        Some(SensorEvent { time_s: time_s?, robot: robot?, sensing: sensing?, found: found? })
    }

    fn motion_request(&mut self, body: Piece<'_>) -> Option<MotionRequest> {
        let fields = body.split(" | ");
        let &[time, robot, command] = fields.as_slice() else {
            return self.expected("`TIME: t | ROBOT# n Task ID = k | command`", body);
        };
        let time_s = self.literal("TIME: ", time).and_then(|t| self.number("the time", t));
        let command = self.command(command);
        let robot = self.literal("ROBOT# ", robot)?;
        let Some((robot, task)) = robot.cut(" Task ID = ") else {
            return self.expected("`ROBOT# n Task ID = k`", robot);
        };
        let (robot, task) = (self.whole("the robot", robot), self.whole("the task", task));
        Some(MotionRequest { time_s: time_s?, robot: robot?, task: task?, command: command? })
    }

    fn command(&mut self, piece: Piece<'_>) -> Option<Command> {
        if let Some(rest) = piece.behind("MoveTo: ( ") {
            return self.move_to(rest);
        }
        if let Some(rest) = piece.behind("Turn: ") {
            let Some((by, speed)) = rest.cut(" with turnSpeed = ") else {
                return self.expected("`Turn: degrees with turnSpeed = speed`", piece);
            };
            let (by, speed) = (self.number("the turn", by), self.number("the turn speed", speed));
            return Some(Command::Turn { by_deg: by?, turn_speed_deg: speed? });
        }
        let Some(rest) = piece.behind("Forward: ") else {
            let what = format!("there is no motion `{}`", shortened(piece.text));
            let d = Diagnostic::error("unknown-entry", what).at(Some(self.place(piece)));
            let word = piece.text.split(' ').next().unwrap_or("");
            self.problems.push(d.suggest(word, ["MoveTo:", "Turn:", "Forward:"]));
            return None;
        };
        let Some((distance, speed)) = rest.cut(" with moveSpeed = ") else {
            return self.expected("`Forward: distance with moveSpeed = speed`", piece);
        };
        let (distance, speed) = (self.number("the distance", distance), self.number("the move speed", speed));
        Some(Command::Forward { distance: distance?, move_speed: speed? })
    }

    fn move_to(&mut self, rest: Piece<'_>) -> Option<Command> {
        let parts = rest.cut(" ) with turnSpeed = ").and_then(|(to, speeds)| {
            let (comma, (x, y)) = match to.cut(" , ") {
                Some(both) => (Comma::Apart, both),
                None => (Comma::Close, to.cut(", ")?),
            };
            Some((comma, x, y, speeds.cut(" moveSpeed = ")?))
        });
        let Some((comma, x, y, (turn, go))) = parts else {
            return self.expected("`MoveTo: ( x , y ) with turnSpeed = speed moveSpeed = speed`", rest);
        };
        let (x, y) = (self.number("x", x), self.number("y", y));
        let (turn, go) = (self.number("the turn speed", turn), self.number("the move speed", go));
        Some(Command::MoveTo { to: [x?, y?], comma, turn_speed_deg: turn?, move_speed: go? })
    }

    fn message(&mut self, body: Piece<'_>) -> Option<Message> {
        let words = "`e s p0 p1,p2 TYPE content`";
        let parts = self.literal("e ", body)?.cut(" ").and_then(|(event, rest)| {
            let (from, rest) = rest.cut(" ")?;
            let (to, rest) = rest.cut(" ")?;
            Some((event, from, to, rest))
        });
        let Some((event, from, to, rest)) = parts else { return self.expected(words, body) };
        let known = MESSAGE_EVENTS.iter().find(|e| e.1 == event.text).map(|e| e.0);
        if known.is_none() {
            let what = format!("a message is at `s`, `r`, `ns` or `nr`, not at `{}`", shortened(event.text));
            self.problem::<()>("unknown-entry", what, event);
        }
        let from = self.process(from);
        // A message for nobody has nothing there.
        let receivers = if to.text.is_empty() { Vec::new() } else { to.split(",") };
        let to: Option<Vec<u32>> = receivers.into_iter().map(|p| self.process(p)).collect();
        let (kind, content) = match rest.cut(" ") {
            Some((kind, content)) => (kind, Some(content_of(content.text))),
            None => (rest, None),
        };
        if kind.text.is_empty() || kind.text.contains(char::is_whitespace) {
            return self.expected("the type of the message, such as `GOTO`", kind);
        }
        Some(Message { event: known?, from: from?, to: to?, kind: kind.text.to_owned(), content })
    }

    fn point(&mut self, what: &str, piece: Piece<'_>) -> Option<[f64; 2]> {
        let inner = piece.behind("[").and_then(|p| p.before("]")).and_then(|p| p.cut(","));
        let Some((x, y)) = inner else {
            return self.expected(&format!("{what} as `[x,y]`"), piece);
        };
        let (x, y) = (self.number(what, x), self.number(what, y));
        Some([x?, y?])
    }

    fn process(&mut self, piece: Piece<'_>) -> Option<u32> {
        match piece.behind("p") {
            Some(number) => self.whole("the process", number),
            None => self.expected("a process, such as `p3`", piece),
        }
    }

    /// A number with three decimals, as it would be written.
    fn number(&mut self, what: &str, piece: Piece<'_>) -> Option<f64> {
        let plain =
            piece.text.len() <= 20 && piece.text.bytes().all(|b| b.is_ascii_digit() || b"-.".contains(&b));
        let number = plain.then(|| piece.text.parse::<f64>().ok()).flatten();
        match number {
            Some(x) if x.abs() <= MAX_NUMBER && format!("{x:.3}") == piece.text => Some(x),
            _ => self.expected(&format!("{what} as a number with three decimals, such as `53.710`"), piece),
        }
    }

    fn whole(&mut self, what: &str, piece: Piece<'_>) -> Option<u32> {
        match piece.text.parse::<u32>() {
            Ok(n) if n.to_string() == piece.text => Some(n),
            _ => self.expected(&format!("{what} as a whole number from 0"), piece),
        }
    }

    fn java(&mut self, piece: Piece<'_>) -> Option<f64> {
        match read_java_double(piece.text) {
            Some(x) => Some(x),
            None => self.expected("a number as Java writes it, such as `0.0` or `1.5E-4`", piece),
        }
    }

    fn literal<'t>(&mut self, wanted: &str, piece: Piece<'t>) -> Option<Piece<'t>> {
        match piece.behind(wanted) {
            Some(rest) => Some(rest),
            None => self.expected(&format!("`{}`", wanted.trim_end()), piece),
        }
    }

    fn expected<T>(&mut self, wanted: &str, piece: Piece<'_>) -> Option<T> {
        let what = format!("expected {wanted}; found `{}`", shortened(piece.text));
        self.problem("bad-line", what, piece)
    }

    fn problem<T>(&mut self, code: &'static str, what: impl Into<String>, piece: Piece<'_>) -> Option<T> {
        let d = Diagnostic::error(code, what).at(Some(self.place(piece)));
        self.problems.push(d);
        None
    }

    fn place(&self, piece: Piece<'_>) -> Span {
        span(self.base + piece.at, self.base + piece.at + piece.text.len())
    }
}

/// What a message says: a place if it is written as Java writes one.
fn content_of(text: &str) -> Content {
    let inner = text.strip_prefix("Point2D.Double[").and_then(|t| t.strip_suffix(']'));
    let numbers = inner.and_then(|t| t.split_once(", "));
    let point = numbers.and_then(|(x, y)| Some([read_java_double(x)?, read_java_double(y)?]));
    point.map_or_else(|| Content::Text(text.to_owned()), Content::Point)
}
