//! Moving and turning what stands somewhere: numbers in the text are replaced one by one.
//!
//! In: an item and a motion. Out: splices of exactly the numbers that change. Lengths are written in
//! plain metres and to the micrometre; a heading keeps the unit it is written in. What is computed from
//! parameters is refused: a person has to say which of the two should change.

use super::change::set_in;
use super::plan::{Item, Plan};
use super::sections::{Stands, sort_of};
use super::write::{Splice, refused};
use crate::edit::range;
use crate::tree::{Data, Tree};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Rot2, Vec2, math};

/// Farthest from the origin that things are moved to, in metres.
const FARTHEST: f64 = 1e9;

/// A turn about a point, then a shift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Motion {
    pub(super) by: Vec2,
    /// In radians.
    pub(super) turn: f64,
    /// What the turn leaves where it is; the thing's own place when `None`.
    pub(super) about: Option<Vec2>,
}

impl Motion {
    fn of(&self, point: Vec2, own: Vec2) -> Vec2 {
        if self.turn == 0.0 {
            return point + self.by;
        }
        let about = self.about.unwrap_or(own);
        about + Rot2::new(self.turn).apply(point - about) + self.by
    }
}

/// The splices that move an item.
pub(super) fn moved(plan: &Plan<'_>, item: &Item, motion: Motion) -> Result<Vec<Splice>, Diagnostic> {
    if let Some(template) = &item.template {
        let what = format!("`{}` stands in the template `{template}`", item.key);
        return Err(refused(what).help("move the use of the template"));
    }
    match sort_of(item.section).map_or(Stands::Nowhere, |s| s.stands) {
        Stands::AtPose => move_pose(plan, item, motion),
        Stands::ByPoints => move_points(plan, item, motion),
        Stands::Nowhere => {
            Err(refused(format!("`{}` does not stand anywhere, so it cannot be moved", item.key)))
        }
    }
}

fn move_pose(plan: &Plan<'_>, item: &Item, motion: Motion) -> Result<Vec<Splice>, Diagnostic> {
    let Some(at) = plan.table(item).get("at") else {
        let to = motion.of(Vec2::ZERO, Vec2::ZERO);
        let heading = math::wrap_angle(motion.turn);
        if to == Vec2::ZERO && heading == 0.0 {
            return Ok(Vec::new());
        }
        return Ok(set_in(plan, item, "at", &pose_text(to, heading, true)?)?.into_iter().collect());
    };
    let Data::Array(items) = &at.data else { return Err(not_numbers(item, at)) };
    let (Some(x), Some(y)) = (items.first(), items.get(1)) else { return Err(not_numbers(item, at)) };
    let mut splices = Vec::new();
    let from = Vec2::new(metres(item, x)?, metres(item, y)?);
    move_point(plan, (x, y), from, motion.of(from, from), &mut splices)?;
    if motion.turn == 0.0 {
        // What cannot be read is refused, even where it would not change.
        items.get(2).map_or(Ok(0.0), |h| radians(item, h))?;
        return Ok(splices);
    }
    match items.get(2) {
        Some(heading) => {
            let to = math::wrap_angle(radians(item, heading)? + motion.turn);
            let new = heading_text(heading, plan.raw(heading.span), to);
            splices.push(Splice { place: range(heading.span), new });
        }
        None => {
            let end = range(y.span).end;
            let new = format!(", {}", degrees(math::wrap_angle(motion.turn)));
            splices.push(Splice { place: end..end, new });
        }
    }
    Ok(splices)
}

fn move_points(plan: &Plan<'_>, item: &Item, motion: Motion) -> Result<Vec<Splice>, Diagnostic> {
    let Some(list) = plan.table(item).get("points") else {
        return Err(refused(format!("`{}` has no `points` to move", item.key)));
    };
    let Data::Array(list_items) = &list.data else { return Err(not_numbers(item, list)) };
    let mut points = Vec::with_capacity(list_items.len());
    for point in list_items {
        let Data::Array(xy) = &point.data else { return Err(not_numbers(item, point)) };
        let [x, y] = xy.as_slice() else { return Err(not_numbers(item, point)) };
        points.push((x, y, Vec2::new(metres(item, x)?, metres(item, y)?)));
    }
    let lowest = points
        .iter()
        .fold(Vec2::new(f64::MAX, f64::MAX), |a, p| Vec2::new(math::min(a.x, p.2.x), math::min(a.y, p.2.y)));
    let highest = points
        .iter()
        .fold(Vec2::new(f64::MIN, f64::MIN), |a, p| Vec2::new(math::max(a.x, p.2.x), math::max(a.y, p.2.y)));
    let middle = (lowest + highest) * 0.5;
    let mut splices = Vec::new();
    for (x, y, from) in points {
        move_point(plan, (x, y), from, motion.of(from, middle), &mut splices)?;
    }
    Ok(splices)
}

fn move_point(
    plan: &Plan<'_>,
    (x, y): (&Tree, &Tree),
    from: Vec2,
    to: Vec2,
    splices: &mut Vec<Splice>,
) -> Result<(), Diagnostic> {
    for (tree, from, to) in [(x, from.x, to.x), (y, from.y, to.y)] {
        if from == to {
            continue;
        }
        let raw = plan.raw(tree.span);
        let mut new = short(to)?;
        // A number that had a point keeps one.
        if matches!(tree.data, Data::Float(_)) && raw.contains('.') && !new.contains('.') {
            new += ".0";
        }
        if new != raw {
            splices.push(Splice { place: range(tree.span), new });
        }
    }
    Ok(())
}

fn not_numbers(item: &Item, tree: &Tree) -> Diagnostic {
    let computed = tree.text().is_some_and(|t| t.contains("${"));
    let why = if computed { "a parameter says where it is" } else { "its place is not written in numbers" };
    refused(format!("`{}` cannot be moved: {why}", item.key))
        .at(Some(tree.span))
        .help("change this value by hand")
}

fn metres(item: &Item, tree: &Tree) -> Result<f64, Diagnostic> {
    measure(tree, Unit::Metre).ok_or_else(|| not_numbers(item, tree))
}

fn radians(item: &Item, tree: &Tree) -> Result<f64, Diagnostic> {
    measure(tree, Unit::Radian).ok_or_else(|| not_numbers(item, tree))
}

fn measure(tree: &Tree, unit: Unit) -> Option<f64> {
    let x = match &tree.data {
        Data::Int(i) => *i as f64,
        Data::Float(x) => *x,
        Data::Str(s) => unit.parse(s).ok()?,
        _ => return None,
    };
    x.is_finite().then_some(x)
}

/// A length, short and to the micrometre.
pub(super) fn short(x: f64) -> Result<String, Diagnostic> {
    if !x.is_finite() || x.abs() > FARTHEST {
        return Err(refused(format!("that is too far away: `{x}` m")));
    }
    Ok(rounded(x).to_string())
}

/// To six digits behind the point, without a negative zero.
pub(crate) fn rounded(x: f64) -> f64 {
    let r = (x * 1e6).round() / 1e6;
    if r == 0.0 { 0.0 } else { r }
}

/// A heading in the unit that the old one is written in.
fn heading_text(old: &Tree, raw: &str, to: f64) -> String {
    let Data::Str(text) = &old.data else {
        let new = rounded(to).to_string();
        let keeps_point = raw.contains('.') && !new.contains('.');
        return if keeps_point { new + ".0" } else { new };
    };
    let text = text.trim();
    let fits = |s: &&(&str, f64)| text.ends_with(s.0);
    let suffix = Unit::Radian.suffixes().iter().filter(fits).max_by_key(|s| s.0.len());
    let Some(&(suffix, factor)) = suffix else { return format!("\"{}\"", rounded(to)) };
    let blank = if text[..text.len() - suffix.len()].ends_with(' ') { " " } else { "" };
    format!("\"{}{blank}{suffix}\"", rounded(to / factor))
}

fn degrees(heading: f64) -> String {
    format!("\"{}deg\"", rounded(heading.to_degrees()))
}

/// A pose as a list; the heading is left out when it is zero.
pub(super) fn pose_text(at: Vec2, heading: f64, in_degrees: bool) -> Result<String, Diagnostic> {
    let (x, y) = (short(at.x)?, short(at.y)?);
    Ok(match rounded(heading) {
        0.0 => format!("[{x}, {y}]"),
        _ if in_degrees => format!("[{x}, {y}, {}]", degrees(heading)),
        heading => format!("[{x}, {y}, {heading}]"),
    })
}
