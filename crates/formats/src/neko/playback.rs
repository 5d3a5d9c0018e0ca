//! A log as a scenario that plays it back: the animation from a log is a run like any other.
//!
//! In: the lines of a log. Out: the text of a scenario with one robot of class `playback` for each process that the log
//! names. Robots are at every row where it says they are; between rows they go and turn as the log says. What
//! the log left out (a robot that is elsewhere all at once) takes a millisecond. Processes that have no row stand side by
//! side below the others, because nobody knows where they were. What lines say besides are notes (`told.rs`), which the
//! first robot tells for all, in the order of the log.

use super::log::{Animation, Line, Stretch};
use super::told;
use crate::tree::shortened;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use swarmyard_base::{Diagnostic, Vec2, math};

/// Most robots of a scenario made from a log.
pub const MAX_ROBOTS: usize = 10_000;
/// Most pictures of a log that is played back.
pub const MAX_PICTURES: f64 = 1e6;
/// How long what the log left out takes, s.
const JUMP_S: f64 = 1e-3;
/// Two places closer than this are one: the log has three decimals.
const NEAR_M: f64 = 1e-6;
/// Two angles closer than this are one: a thousandth of a degree is the last digit.
const NEAR_RAD: f64 = 1e-4;

/// One row of a `playback`: when, where it is afterwards, how far it turns, how long that takes.
type Row = [f64; 5];

/// A log as a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Played {
    /// The text of the scenario.
    pub text: String,
    /// How many robots it has.
    pub robots: usize,
    /// The latest time of any line, s.
    pub end_s: f64,
    /// Messages that are sent.
    pub sent: usize,
    /// Copies that come.
    pub received: usize,
    /// Lines of algorithms.
    pub words: usize,
    /// Lines that are not told again: what the network does with a message between its sending and its coming, and lines
    /// that do not say whose they are.
    pub left_out: usize,
}

/// The scenario that plays a log back. `title` names it, `radius` is that of all robots, `quantum_s` the time
/// between two pictures.
///
/// # Errors
/// When no line says where a robot is, or there are too many, or the log lasts too long: then it says which line is the last.
pub fn scenario(lines: &[Line], title: &str, radius: f64, quantum_s: f64) -> Result<Played, Diagnostic> {
    let animation = Animation::of(lines)?;
    let robots = &animation.robots;
    let processes = told::processes(lines);
    if processes.len() > MAX_ROBOTS {
        let what = format!("the log has `{}` robots, at most `{MAX_ROBOTS}` can be shown", processes.len());
        return Err(Diagnostic::error("too-big", what));
    }
    check_length(lines, animation.end_s, quantum_s)?;
    let notes = told::notes(lines, &processes)?;
    if robots.is_empty() && notes.sent + notes.received == 0 {
        let what = "no line of the log says where a robot is, or what it sends";
        let help = "rows begin with `Event:`, messages with `messages`";
        return Err(Diagnostic::error("no-rows", what).help(help));
    }
    let rowless: Vec<u32> = processes.iter().copied().filter(|p| !robots.contains_key(p)).collect();
    let (min, max) = bounds(robots.values().flatten().map(|s| s.position), radius);
    let aside = aside(&rowless, (min, max), radius);
    // Below the others, with the room that they have.
    let low = aside.values().fold(min.y, |low, at| math::min(low, at.y - 2.0 * radius));
    let right = aside.values().fold(max.x, |right, at| math::max(right, at.x + 2.0 * radius));
    let (min, max) = (Vec2::new(min.x, low), Vec2::new(right, max.y));
    let mut out = String::from("# Made from a log: robots are where it says they were.\nformat = 1\n");
    // Writing to a string never fails.
    let _ = writeln!(out, "title = {}", toml_edit::Value::from(title));
    // One picture more than the log is long, so that its last line is surely told.
    let lasts_s = animation.end_s + quantum_s;
    let _ = write!(out, "\n[run]\nquantum = {quantum_s:?}\nduration = {lasts_s:?}\ncontact = \"ghost\"\n");
    let _ = write!(out, "\n[world]\nmin = [{:?}, {:?}]\nmax = [{:?}, {:?}]\n", min.x, min.y, max.x, max.y);
    let mut texts = Some(&notes.texts);
    for number in &processes {
        let rows = match (robots.get(number), aside.get(number)) {
            (Some(stretches), _) => rows(stretches, lasts_s),
            (None, at) => at.map(|at| [0.0, at.x, at.y, 0.0, 0.0]).into_iter().collect(),
        };
        robot_type(&mut out, *number, radius, &rows, texts.take());
    }
    for number in &processes {
        let first = robots.get(number).and_then(|s| s.first()).map(|s| (s.position, s.heading_rad));
        let Some((at, heading)) = first.or_else(|| Some((*aside.get(number)?, 0.0))) else { continue };
        let _ = write!(
            out,
            "\n[[robot]]\nname = \"p{number}\"\ntype = \"p{number}\"\nat = [{:?}, {:?}, {heading:?}]\n",
            at.x, at.y
        );
    }
    let told::Notes { sent, received, words, left_out, .. } = notes;
    Ok(Played { text: out, robots: processes.len(), end_s: animation.end_s, sent, received, words, left_out })
}

fn check_length(lines: &[Line], end_s: f64, quantum_s: f64) -> Result<(), Diagnostic> {
    let pictures = end_s / quantum_s;
    if pictures <= MAX_PICTURES {
        return Ok(());
    }
    let last = lines.iter().rev().find(|line| line.time_s() == Some(end_s));
    let last = last.map(|line| shortened(&line.to_string())).unwrap_or_default();
    let what = format!("the log lasts until `{end_s}` s, at most `{MAX_PICTURES}` pictures are made");
    let help = "fewer pictures per second make room for a long log; is the time of this line right?";
    Err(Diagnostic::error("too-big", what).help(format!("{help} `{last}`")))
}

/// The type of one robot, with what it does, and what is told of all when it is the one who tells.
fn robot_type(out: &mut String, number: u32, radius: f64, rows: &[Row], notes: Option<&Vec<String>>) {
    let _ = write!(out, "\n[type.p{number}]\nradius = {radius:?}\ncolour = \"#1f77b4\"\n");
    for part in ["glider", "wheels"] {
        let _ = write!(out, "\n[[type.p{number}.part]]\nname = \"{part}\"\nclass = \"{part}\"\n");
    }
    let _ = write!(out, "\n[type.p{number}.algorithm]\nclass = \"playback\"\nrows = [");
    for (k, [t, x, y, turn, takes]) in rows.iter().enumerate() {
        let comma = if k == 0 { "" } else { ", " };
        let _ = write!(out, "{comma}[{t:?}, {x:?}, {y:?}, {turn:?}, {takes:?}]");
    }
    let _ = writeln!(out, "]");
    if let Some(notes) = notes.filter(|notes| !notes.is_empty()) {
        let _ = writeln!(out, "notes = [");
        for note in notes {
            let _ = writeln!(out, "  {},", quoted(note));
        }
        let _ = writeln!(out, "]");
    }
}

/// A text as the scenario has it: on one line, and without parameters.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.replace("${", "$${").chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", c as u32);
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// Where those stand of whom no row says where they were.
fn aside(processes: &[u32], (min, max): (Vec2, Vec2), radius: f64) -> BTreeMap<u32, Vec2> {
    let step = 3.0 * radius;
    // Rows as wide as the picture, but not too many to be seen.
    let columns = math::max(((max.x - min.x) / step).floor(), 10.0) as usize;
    let place = |k: usize| {
        let (column, row) = ((k % columns) as f64, (k / columns + 1) as f64);
        Vec2::new(min.x + (column + 0.5) * step, min.y - row * step)
    };
    processes.iter().enumerate().map(|(k, process)| (*process, place(k))).collect()
}

/// The box around all places, with some room.
fn bounds(places: impl Iterator<Item = Vec2>, radius: f64) -> (Vec2, Vec2) {
    let (mut min, mut max) = (Vec2::new(f64::MAX, f64::MAX), Vec2::new(f64::MIN, f64::MIN));
    for p in places {
        (min, max) = (
            Vec2::new(math::min(min.x, p.x), math::min(min.y, p.y)),
            Vec2::new(math::max(max.x, p.x), math::max(max.y, p.y)),
        );
    }
    if min.x > max.x {
        (min, max) = (Vec2::ZERO, Vec2::ZERO);
    }
    let room = Vec2::new(2.0 * radius, 2.0 * radius);
    (min - room, max + room)
}

/// What a robot does, row by row.
fn rows(stretches: &[Stretch], end_s: f64) -> Vec<Row> {
    let Some(first) = stretches.first() else { return Vec::new() };
    let mut at = first.position;
    let mut heading = first.heading_rad;
    let mut rows = vec![[0.0, at.x, at.y, 0.0, 0.0]];
    for (k, stretch) in stretches.iter().enumerate() {
        let next = stretches.get(k + 1);
        let from_s = math::max(stretch.from_s, 0.0);
        let until = next.map_or(end_s, |n| n.from_s);
        let lasts = until - from_s;
        if lasts.is_nan() || lasts <= 0.0 {
            continue;
        }
        // A jump before the next row needs a little of the time.
        let jump_s = math::min(JUMP_S, lasts / 4.0);
        let expected = stretch.pose_at(until);
        let (goal, goal_heading) =
            next.map_or((expected.at, expected.heading), |n| (n.position, n.heading_rad));
        let is_jump = (goal - expected.at).norm() > 0.5;
        let (takes, turn_takes) = (math::min(stretch.going_s, lasts), math::min(stretch.turning_s, lasts));
        if takes > 0.0 && stretch.velocity != Vec2::ZERO {
            let to = if is_jump { expected.at } else { goal };
            let takes = if is_jump { math::min(takes, lasts - 2.0 * jump_s) } else { takes };
            rows.push([from_s, to.x, to.y, 0.0, takes]);
            at = to;
        } else if turn_takes > 0.0 && stretch.turn_rad_s != 0.0 {
            // As far as it says, and the last digit so that it looks where the next row says.
            let by = stretch.turn_rad_s * turn_takes;
            let rest = math::wrap_angle(goal_heading - heading - by);
            let by = if rest.abs() < 0.01 { by + rest } else { by };
            rows.push([from_s, at.x, at.y, by, math::min(turn_takes, lasts - 2.0 * jump_s)]);
            heading += by;
        }
        if next.is_none() {
            continue;
        }
        if (goal - at).norm() > NEAR_M {
            rows.push([until - 2.0 * jump_s, goal.x, goal.y, 0.0, jump_s]);
            at = goal;
        }
        let off = math::wrap_angle(goal_heading - heading);
        if off.abs() > NEAR_RAD {
            rows.push([until - jump_s, at.x, at.y, off, jump_s]);
            heading += off;
        }
    }
    rows
}
