//! What happened to robots that live by events, as plain text and numbers: for recordings, charts and logs.

use serde::{Deserialize, Serialize};
use swarmyard_engine::{LiveNote, Model, Note, RowKind};
use swarmyard_part_api::Motion;

/// One happening.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveLine {
    /// When, in seconds.
    pub t: f64,
    /// Path of the robot.
    pub robot: String,
    /// What: `wanted`, `began`, `next`, `finished`, `collided`, `asked`, `watched`, `pushed`, `sent`, `received`,
    /// `lost`, `said`, `crashed`, `recovered`, `endless`, `swallowed`.
    pub what: String,
    /// In words: the motion, the question, what was said, why it was lost.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Number of the message, or of the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub serial: Option<u64>,
    /// Paths of the other robots: receivers, or the sender.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub peers: Vec<String>,
    /// Name of the protocol.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub protocol: String,
    /// Type of the message.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub label: String,
    /// What is in it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub content: String,
    /// Of a motion: x, y, target x, target y, heading, angle to turn, way to go, turning speed, speed (SI).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub row: Vec<f64>,
}

impl LiveLine {
    /// A note in words.
    #[must_use]
    pub fn new(model: &Model, note: &LiveNote) -> LiveLine {
        let path = |number: u32| {
            let slot = model.live.as_ref().and_then(|l| l.members.get(number as usize));
            slot.map_or_else(|| format!("robot {number}"), |s| model.paths[*s as usize].to_string())
        };
        let t = note.at.time.0 as f64 / 1e9 + f64::from(note.at.offset) / 4_294_967_296.0 * 1e-9;
        let mut line = LiveLine { t, robot: path(note.robot), ..LiveLine::default() };
        let what;
        match &note.what {
            Note::Wanted { task, motion } => {
                what = "wanted";
                (line.serial, line.text) = (Some(*task), words(motion));
            }
            Note::Row(row) => {
                what = match row.kind {
                    RowKind::Begin(_) => "began",
                    RowKind::Next => "next",
                    RowKind::Finish => "finished",
                    RowKind::Passed => "passed",
                    RowKind::Collision(..) => "collided",
                };
                line.text.clone_from(&row.motion);
                let (at, to) = (row.at, row.to);
                let turning = [row.heading, row.turn, row.distance, row.turn_speed, row.speed];
                line.row = [at.x, at.y, to.x, to.y].into_iter().chain(turning).collect();
            }
            Note::Asked(query) => {
                what = "asked";
                line.text = format!("{query:?}");
            }
            Note::Watched(watch) => {
                what = "watched";
                line.text = watch.as_ref().map_or_else(|| "off".to_owned(), |w| format!("{w:?}"));
            }
            Note::Pushed { text, .. } => {
                what = "pushed";
                line.text.clone_from(text);
            }
            Note::Sent { serial, to, protocol, label, content, .. } => {
                what = "sent";
                line.serial = Some(*serial);
                line.peers = to.iter().map(|n| path(*n)).collect();
                (line.protocol, line.label, line.content) =
                    (protocol.clone(), label.clone(), content.clone());
            }
            Note::Received { serial, from, protocol, label, content } => {
                what = "received";
                line.serial = Some(*serial);
                line.peers = vec![path(*from)];
                (line.protocol, line.label, line.content) =
                    (protocol.clone(), label.clone(), content.clone());
            }
            Note::Lost { serial, from, why } => {
                what = "lost";
                line.serial = Some(*serial);
                line.peers = vec![path(*from)];
                line.text = why.word().to_owned();
            }
            Note::Said(text) => {
                what = "said";
                line.text.clone_from(text);
            }
            Note::Became(word) => what = word,
        }
        line.what = what.to_owned();
        line
    }
}

/// A motion in words.
fn words(motion: &Motion) -> String {
    match motion {
        Motion::Turn { by, turn_speed } => format!("Turn by {by} with turnSpeed = {turn_speed}"),
        Motion::Forward { distance, speed } => format!("Forward {distance} with moveSpeed = {speed}"),
        Motion::MoveTo { to, speed, turn_speed } => {
            format!("MoveTo ({}, {}) with turnSpeed = {turn_speed} moveSpeed = {speed}", to.x, to.y)
        }
        Motion::Velocity { velocity, for_s } => {
            format!("Velocity ({}, {}) for {for_s} s", velocity.x, velocity.y)
        }
        Motion::Arc { speed, spin, for_s } => format!("Arc with {speed} and {spin} for {for_s} s"),
        Motion::Pattern { name, args } => format!("{name} {args:?}"),
        Motion::Follow(pattern) => format!("Follow {pattern:?}"),
    }
}
