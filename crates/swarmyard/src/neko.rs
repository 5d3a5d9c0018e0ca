//! What happens in a run, as lines of Neko's log.
//!
//! In: the notes of a run, in their order. Out: lines as the thesis prints them. A [`Scribe`] keeps nothing of the
//! run but for whom messages are, because the line of one that came names all its receivers.

use std::collections::BTreeMap;
use swarmyard_base::Moment;
use swarmyard_engine::{LiveNote, Note, Row, RowKind};
use swarmyard_formats::neko::log::{
    self, Comma, Command, Condition, Content, Entry, Line, MessageEvent, MotionRequest, Sensing, SensorEvent,
    SensorRequest,
};
use swarmyard_part_api::{Motion, Query, Watch, WatchFor};

/// Most characters of what a program says or sends in one line.
const MOST_TEXT: usize = 10_000;

/// Most receivers of messages that a [`Scribe`] remembers. A message that was sent so many copies ago and comes
/// only now is for its receiver alone, as far as the log can tell.
const MOST_RECEIVERS: usize = 1 << 20;

/// The number of a task among those that its robot has under way. A new motion takes the place of the old one, so
/// there is one at most; the thesis prints 1 for every request, first or later.
const TASK: u32 = 1;

/// Writes lines about a run.
#[derive(Clone, Debug, Default)]
pub struct Scribe {
    /// For whom messages are, by their numbers.
    receivers: BTreeMap<u64, Vec<u32>>,
    /// How many receivers these are in all.
    remembered: usize,
}

impl Scribe {
    /// The line of a note, if the log has one for it: what is lost has none.
    ///
    /// Every line reads back with [`log::read`].
    pub fn line(&mut self, note: &LiveNote) -> Option<Line> {
        let (time_s, robot) = (note.at.since(Moment::ZERO), note.robot);
        let entry = match &note.what {
            Note::Wanted { motion, .. } => match command(motion) {
                Some(command) => Entry::MotionRequest(MotionRequest { time_s, robot, task: TASK, command }),
                // A motion that the thesis has no line for is said in words.
                None => Entry::Algorithm(text(&format!("MotionRequest {motion:?}"))),
            },
            Note::Row(row) => Entry::Motion(motion(time_s, robot, row)),
            Note::Asked(query) => Entry::SensorRequest(SensorRequest { robot, sensing: asked(query) }),
            Note::Watched(Some(Watch { what, .. })) => {
                Entry::SensorRequest(SensorRequest { robot, sensing: watched(what) })
            }
            Note::Watched(None) | Note::Lost { .. } => return None,
            Note::Pushed { what, found, .. } => {
                let found = found.iter().map(|at| [at.x, at.y]).collect();
                Entry::SensorEvent(SensorEvent { time_s, robot, sensing: watched(what), found })
            }
            Note::Sent { serial, to, label, content, .. } => {
                self.remember(*serial, to);
                message(MessageEvent::Send, robot, to.clone(), label, content)
            }
            Note::Received { serial, from, label, content, .. } => {
                let to = self.receivers.get(serial).cloned().unwrap_or_else(|| vec![robot]);
                message(MessageEvent::Receive, *from, to, label, content)
            }
            Note::Said(words) => Entry::Algorithm(text(words)),
            Note::Became(word) => Entry::Algorithm((*word).to_owned()),
        };
        Some(Line::at(time_s, robot, entry))
    }

    /// Why nothing is forgotten when all copies have come: a network may double one.
    fn remember(&mut self, serial: u64, to: &[u32]) {
        self.remembered += to.len();
        self.receivers.insert(serial, to.to_vec());
        while self.remembered > MOST_RECEIVERS
            && let Some((_, forgotten)) = self.receivers.pop_first()
        {
            self.remembered -= forgotten.len();
        }
    }
}

/// Degrees from 0 to less than 360, as they are printed.
fn degrees(radians: f64) -> f64 {
    let angle = radians.to_degrees().rem_euclid(360.0);
    if angle >= 359.9995 { 0.0 } else { angle }
}

fn motion(time_s: f64, robot: u32, row: &Row) -> log::Motion {
    let collision = matches!(row.kind, RowKind::Collision(..));
    log::Motion {
        collision,
        time_s,
        robot,
        position: [row.at.x, row.at.y],
        destination: [row.to.x, row.to.y],
        angle_deg: degrees(row.heading),
        turn_deg: row.turn.to_degrees(),
        distance: row.distance,
        turn_speed_deg: row.turn_speed.to_degrees(),
        move_speed: row.speed,
        condition: condition(row),
    }
}

fn condition(row: &Row) -> Condition {
    use Condition as C;
    match (row.motion.as_str(), row.kind) {
        (event, RowKind::Passed) => C::Other(event.to_owned()),
        ("MoveTo", RowKind::Begin(_) | RowKind::Collision(..)) => C::DoMoveToSequence,
        ("MoveTo", RowKind::Next) => C::FinishMoveToSequence,
        ("MoveTo", RowKind::Finish) => C::FinishMoveTo,
        ("Turn", RowKind::Begin(_) | RowKind::Collision(..)) => C::DoTurn,
        ("Turn", _) => C::FinishTurn,
        ("Forward", RowKind::Begin(_) | RowKind::Collision(..)) => C::DoForward,
        ("Forward", _) => C::FinishForward,
        (name, RowKind::Begin(true) | RowKind::Collision(_, true)) => C::Other(format!("Do_{name}_Sequence")),
        (name, RowKind::Begin(false) | RowKind::Collision(_, false)) => C::Other(format!("Do_{name}")),
        (name, RowKind::Next) => C::Other(format!("Finish_{name}_Sequence")),
        (name, RowKind::Finish) => C::Other(format!("Finish_{name}")),
    }
}

fn command(motion: &Motion) -> Option<Command> {
    Some(match motion {
        Motion::MoveTo { to, speed, turn_speed } => Command::MoveTo {
            to: [to.x, to.y],
            comma: Comma::Apart,
            turn_speed_deg: turn_speed.to_degrees(),
            move_speed: *speed,
        },
        Motion::Turn { by, turn_speed } => {
            Command::Turn { by_deg: by.to_degrees(), turn_speed_deg: turn_speed.to_degrees() }
        }
        Motion::Forward { distance, speed } => Command::Forward { distance: *distance, move_speed: *speed },
        _ => return None,
    })
}

fn asked(query: &Query) -> Sensing {
    match query {
        Query::Gps { error } | Query::GpsAll { error } => Sensing::Positioning { error_factor: *error },
        Query::View { range } => Sensing::View { view_size: *range },
        Query::Proximity { range } | Query::ProximityPoints { range } => {
            Sensing::Proximity { view_size: *range }
        }
        Query::Own { sensor, args } => own(sensor, args),
    }
}

fn watched(what: &WatchFor) -> Sensing {
    match what {
        WatchFor::Near { range } => Sensing::Proximity { view_size: *range },
        WatchFor::Contact => Sensing::Contact,
        WatchFor::Own { sensor, args } => own(sensor, args),
    }
}

/// A sensor of one's own, in words.
fn own(sensor: &str, args: &[f64]) -> Sensing {
    Sensing::Other(text(&format!("Own {sensor} {args:?}")))
}

fn message(event: MessageEvent, from: u32, to: Vec<u32>, label: &str, content: &str) -> Entry {
    let content = match place(content) {
        Some(at) => Some(Content::Point(at)),
        None => Some(text(content)).filter(|t| !t.is_empty()).map(Content::Text),
    };
    Entry::Message(log::Message { event, from, to, kind: text(label), content })
}

/// The place that a content is, when it is one and nothing else: `(x, y)`.
fn place(content: &str) -> Option<[f64; 2]> {
    let (x, y) = content.strip_prefix('(')?.strip_suffix(')')?.split_once(", ")?;
    let number = |t: &str| t.parse::<f64>().ok().filter(|n| n.is_finite());
    Some([number(x)?, number(y)?])
}

/// A text that stays on its line, of a bounded length.
fn text(words: &str) -> String {
    let short: String = words.chars().take(MOST_TEXT).collect();
    short.split_whitespace().collect::<Vec<_>>().join(" ")
}
