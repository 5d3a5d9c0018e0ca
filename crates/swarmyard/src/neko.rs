//! What happens in a run, as lines of Neko's log.

use swarmyard_base::Moment;
use swarmyard_engine::{LiveNote, Note, Row, RowKind};
use swarmyard_formats::neko::log::{
    self, Comma, Command, Condition, Content, Entry, Line, MessageEvent, MotionRequest, Sensing, SensorEvent,
    SensorRequest,
};
use swarmyard_part_api::{Motion, Query, Watch, WatchFor};

/// Most characters of what a program says or sends in one line.
const MOST_TEXT: usize = 10_000;

/// The line of a note, if the log has one for it: what is lost has none.
///
/// Every line reads back with [`log::read`].
#[must_use]
pub fn line(note: &LiveNote) -> Option<Line> {
    let (time_s, robot) = (note.at.since(Moment::ZERO), note.robot);
    let entry = match &note.what {
        Note::Wanted { task, motion } => {
            let task = u32::try_from(*task).unwrap_or(u32::MAX);
            match command(motion) {
                Some(command) => Entry::MotionRequest(MotionRequest { time_s, robot, task, command }),
                // A motion that the thesis has no line for is said in words.
                None => Entry::Algorithm(text(&format!("MotionRequest {motion:?}"))),
            }
        }
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
        Note::Sent { to, label, content, .. } => {
            message(MessageEvent::Send, robot, to.clone(), label, content)
        }
        Note::Received { from, label, content, .. } => {
            message(MessageEvent::Receive, *from, vec![robot], label, content)
        }
        Note::Said(words) => Entry::Algorithm(text(words)),
        Note::Became(word) => Entry::Algorithm((*word).to_owned()),
    };
    Some(Line::at(time_s, robot, entry))
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
    let content = text(content);
    let content = (!content.is_empty()).then_some(Content::Text(content));
    Entry::Message(log::Message { event, from, to, kind: text(label), content })
}

/// A text that stays on its line, of a bounded length.
fn text(words: &str) -> String {
    let short: String = words.chars().take(MOST_TEXT).collect();
    short.split_whitespace().collect::<Vec<_>>().join(" ")
}
