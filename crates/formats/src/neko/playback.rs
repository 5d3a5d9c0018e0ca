//! A log as a scenario that plays it back: the animation from a log is a run like any other.
//!
//! In: the lines of a log. Out: the text of a scenario with one robot of class `playback` for each that has a
//! row. Robots are at every row where it says they are; between rows they go and turn as the log says. What
//! the log left out (a robot that is elsewhere all at once) takes a millisecond.

use super::log::{Animation, Line, Stretch};
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

/// The scenario that plays a log back. `title` names it, `radius` is that of all robots, `quantum_s` the time
/// between two pictures.
///
/// # Errors
/// When no line says where a robot is, or there are too many, or the log lasts too long: then it says which line is the last.
pub fn scenario(
    lines: &[Line],
    title: &str,
    radius: f64,
    quantum_s: f64,
) -> Result<(String, Animation), Diagnostic> {
    let animation = Animation::of(lines)?;
    let robots = &animation.robots;
    if robots.is_empty() {
        let what = "no line of the log says where a robot is";
        return Err(Diagnostic::error("no-rows", what).help("rows begin with `Event:`"));
    }
    if robots.len() > MAX_ROBOTS {
        let what = format!("the log has `{}` robots, at most `{MAX_ROBOTS}` can be shown", robots.len());
        return Err(Diagnostic::error("too-big", what));
    }
    let pictures = animation.end_s / quantum_s;
    if pictures.is_nan() || pictures > MAX_PICTURES {
        let last = lines.iter().rev().find(|line| line.time_s() == Some(animation.end_s));
        let last = last.map(|line| shortened(&line.to_string())).unwrap_or_default();
        let what = format!(
            "the log lasts until `{}` s, at most `{MAX_PICTURES}` pictures are made",
            animation.end_s
        );
        let help = "fewer pictures per second make room for a long log; is the time of this line right?";
        return Err(Diagnostic::error("too-big", what).help(format!("{help} `{last}`")));
    }
    let (min, max) = bounds(robots, radius);
    let mut out = String::from("# Made from a log: robots are where it says they were.\nformat = 1\n");
    // Writing to a string never fails.
    let _ = writeln!(out, "title = {}", toml_edit::Value::from(title));
    let end_s = math::max(animation.end_s, quantum_s);
    let _ = write!(out, "\n[run]\nquantum = {quantum_s:?}\nduration = {end_s:?}\ncontact = \"ghost\"\n");
    let _ = write!(out, "\n[world]\nmin = [{:?}, {:?}]\nmax = [{:?}, {:?}]\n", min.x, min.y, max.x, max.y);
    for (number, stretches) in robots {
        let _ = write!(out, "\n[type.p{number}]\nradius = {radius:?}\ncolour = \"#1f77b4\"\n");
        for part in ["glider", "wheels"] {
            let _ = write!(out, "\n[[type.p{number}.part]]\nname = \"{part}\"\nclass = \"{part}\"\n");
        }
        let _ = write!(out, "\n[type.p{number}.algorithm]\nclass = \"playback\"\nrows = [");
        for (k, [t, x, y, turn, takes]) in rows(stretches, end_s).into_iter().enumerate() {
            let comma = if k == 0 { "" } else { ", " };
            let _ = write!(out, "{comma}[{t:?}, {x:?}, {y:?}, {turn:?}, {takes:?}]");
        }
        let _ = writeln!(out, "]");
    }
    for (number, stretches) in robots {
        let Some(first) = stretches.first() else { continue };
        let (at, heading) = (first.position, first.heading_rad);
        let _ = write!(
            out,
            "\n[[robot]]\nname = \"p{number}\"\ntype = \"p{number}\"\nat = [{:?}, {:?}, {heading:?}]\n",
            at.x, at.y
        );
    }
    Ok((out, animation))
}

/// The box around all places, with some room.
fn bounds(robots: &BTreeMap<u32, Vec<Stretch>>, radius: f64) -> (Vec2, Vec2) {
    let places = robots.values().flatten().map(|s| s.position);
    let (mut min, mut max) = (Vec2::new(f64::MAX, f64::MAX), Vec2::new(f64::MIN, f64::MIN));
    for p in places {
        (min, max) = (
            Vec2::new(math::min(min.x, p.x), math::min(min.y, p.y)),
            Vec2::new(math::max(max.x, p.x), math::max(max.y, p.y)),
        );
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
