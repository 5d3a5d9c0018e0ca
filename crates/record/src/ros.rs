//! Named topics: robots and parts recorded as the ROS 2 messages that other tools know.

use crate::cdr::Cdr;
use crate::ros_schemas::{NUMBERS, ODOMETRY, RANGE, SCAN, TRANSFORMS};
use crate::sink::{Schema, Sink, message_cost};
use std::collections::BTreeSet;
use std::io::{Seek, Write};
use swarmyard_base::{Diagnostic, Diagnostics, Time};
use swarmyard_engine::{Model, PartModel, State};

/// The reading channel that makes a part a range finder.
const RANGE_CHANNEL: &str = "range";
/// A channel that is zero where a ray met nothing.
const HIT_CHANNEL: &str = "hit";

/// All named topics of a recording.
pub(crate) struct RosTopics {
    topics: Vec<Topic>,
    /// Channel of `/tf`, when a robot is recorded.
    tf: Option<u16>,
    cdr: Cdr,
}

/// One named topic, resolved.
struct Topic {
    channel: u16,
    slot: usize,
    /// The path without its first slash: the name of the robot's frame.
    frame: String,
    what: What,
}

enum What {
    Odometry,
    /// Part number, and whether it has more than one ray.
    Rays(usize, bool),
    Numbers(usize),
}

impl What {
    fn schema(&self) -> Schema<'static> {
        match self {
            What::Odometry => ODOMETRY,
            What::Rays(_, true) => SCAN,
            What::Rays(_, false) => RANGE,
            What::Numbers(_) => NUMBERS,
        }
    }
}

/// Paths of the scenario, resolved: topic, slot, what.
pub(crate) struct Wanted(Vec<(String, usize, What)>);

/// Finds what the scenario asks for.
pub(crate) fn resolve(model: &Model) -> Result<Wanted, Diagnostics> {
    let (mut found, mut problems) = (Vec::new(), Diagnostics::default());
    let paths: BTreeSet<&str> = model.record.topics.iter().map(|t| t.trim_end_matches('/')).collect();
    for path in paths {
        match find(model, path) {
            Ok(topic) => found.push(topic),
            Err(d) => problems.push(d.on("/record")),
        }
    }
    if problems.has_errors() { Err(problems) } else { Ok(Wanted(found)) }
}

/// What is wrong with `[record] topics`: everything that a recorder would refuse, without making a file.
#[must_use]
pub fn check_topics(model: &Model) -> Diagnostics {
    resolve(model).err().unwrap_or_default()
}

/// Finds what there is of it. A world that came while running may ask for what is not there any more.
pub(crate) fn resolve_known(model: &Model) -> Wanted {
    let paths: BTreeSet<&str> = model.record.topics.iter().map(|t| t.trim_end_matches('/')).collect();
    Wanted(paths.into_iter().filter_map(|path| find(model, path).ok()).collect())
}

fn find(model: &Model, path: &str) -> Result<(String, usize, What), Diagnostic> {
    if let Some(slot) = model.slot_of_path(path) {
        return Ok((format!("{path}/odom"), slot, What::Odometry));
    }
    let body = path.rsplit_once('/').and_then(|(body, part)| Some((model.slot_of_path(body)?, body, part)));
    let Some((slot, body, part)) = body else {
        let message = format!("there is no robot or part `{path}` to record");
        // Past this many robots the search for the nearest would take longer than reading the list.
        let near = model.paths.iter().take(20_000);
        return Err(Diagnostic::error("unknown-topic", message).suggest(path, near));
    };
    let parts = &model.types[model.type_of[slot] as usize].parts;
    let Some(p) = parts.iter().position(|p| p.name == part) else {
        let message = format!("`{body}` has no part `{part}` to record");
        let near: Vec<String> = parts.iter().map(|p| format!("{body}/{}", p.name)).collect();
        return Err(
            Diagnostic::error("unknown-topic", message).suggest(path, near.iter().map(String::as_str))
        );
    };
    let range = parts[p].layout.channels.iter().find(|c| c.name == RANGE_CHANNEL && !c.command && c.len > 0);
    let what = range.map_or(What::Numbers(p), |c| What::Rays(p, c.len > 1));
    Ok((path.to_owned(), slot, what))
}

impl RosTopics {
    /// Adds a channel for each topic.
    pub(crate) fn new<W: Write + Seek>(
        model: &Model,
        wanted: Wanted,
        sink: &mut Sink<W>,
    ) -> Result<RosTopics, mcap::McapError> {
        let mut topics = Vec::with_capacity(wanted.0.len());
        let robots = wanted.0.iter().any(|t| matches!(t.2, What::Odometry));
        let tf = if robots { Some(sink.channel("/tf", "cdr", TRANSFORMS)?) } else { None };
        for (topic, slot, what) in wanted.0 {
            let channel = sink.channel(&topic, "cdr", what.schema())?;
            topics.push(Topic {
                channel,
                slot,
                frame: model.paths[slot].trim_start_matches('/').to_owned(),
                what,
            });
        }
        Ok(RosTopics { topics, tf, cdr: Cdr::default() })
    }

    /// About how many bytes one frame of all topics takes.
    pub(crate) fn cost(&self, model: &Model) -> u64 {
        let of = |t: &Topic| match t.what {
            What::Odometry => 2 * message_cost(800),
            What::Rays(p, _) | What::Numbers(p) => message_cost(
                256 + 8 * model.types[model.type_of[t.slot] as usize].parts[p].layout.reading_width(),
            ),
        };
        self.topics.iter().map(of).sum()
    }

    /// Writes one frame of all topics.
    pub(crate) fn write<W: Write + Seek>(
        &mut self,
        model: &Model,
        state: &State,
        now: Time,
        sink: &mut Sink<W>,
    ) -> Result<(), mcap::McapError> {
        for topic in &self.topics {
            message(&mut self.cdr, model, state, now, topic);
            sink.message(topic.channel, now, self.cdr.bytes())?;
        }
        let Some(tf) = self.tf else { return Ok(()) };
        let robots: Vec<_> = self.topics.iter().filter(|t| matches!(t.what, What::Odometry)).collect();
        let poses = robots.iter().map(|t| (t.frame.as_str(), state.pose[t.slot].at_height(0.0)));
        self.cdr.transforms(now, poses);
        sink.message(tf, now, self.cdr.bytes())
    }
}

fn message(cdr: &mut Cdr, model: &Model, state: &State, now: Time, topic: &Topic) {
    let ty = model.type_of[topic.slot] as usize;
    let row = topic.slot - model.types[ty].slots.start;
    let readings = |p: usize| {
        let width = model.types[ty].parts[p].layout.reading_width();
        &state.types[ty].parts[p].readings[row * width..(row + 1) * width]
    };
    match topic.what {
        What::Odometry => {
            cdr.odometry(now, &topic.frame, state.pose[topic.slot].at_height(0.0), state.twist[topic.slot]);
        }
        What::Rays(p, many) => rays(cdr, now, &topic.frame, &model.types[ty].parts[p], readings(p), many),
        What::Numbers(p) => {
            let channels = model.types[ty].parts[p].layout.channels.iter().filter(|c| !c.command);
            let channels: Vec<(&str, usize)> = channels.map(|c| (c.name, c.len)).collect();
            cdr.numbers(&channels, readings(p));
        }
    }
}

fn rays(cdr: &mut Cdr, now: Time, frame: &str, part: &PartModel, readings: &[f64], many: bool) {
    let of = |name: &str| part.layout.place(name).and_then(|(first, len)| readings.get(first..first + len));
    let mut ranges = of(RANGE_CHANNEL).unwrap_or(&[]).to_vec();
    // By convention (REP 117) a ray that meets nothing reads infinity.
    if let Some(hits) = of(HIT_CHANNEL) {
        for (range, _) in ranges.iter_mut().zip(hits).filter(|(_, hit)| **hit == 0.0) {
            *range = f64::INFINITY;
        }
    }
    let limits =
        part.layout.channels.iter().find(|c| c.name == RANGE_CHANNEL).map_or((0.0, 0.0), |c| (c.min, c.max));
    if many {
        cdr.scan(now, frame, ray_angles(part, ranges.len()), limits, &ranges);
    } else {
        cdr.range(now, frame, limits, ranges.first().copied().unwrap_or(0.0));
    }
}

/// Bearing of the first ray and the step between rays, in the body's frame. The only place that
/// knows where they come from: the part's layout, or else a full turn that begins straight ahead.
fn ray_angles(part: &PartModel, count: usize) -> (f64, f64) {
    part.layout.bearings.unwrap_or((0.0, 2.0 * std::f64::consts::PI / count as f64))
}
