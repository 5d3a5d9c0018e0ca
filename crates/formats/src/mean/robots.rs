//! Robots: one entry of the file to one or a million nodes.
//!
//! Robots of one type share its subtree; each costs its node and its name. Chance is addressed by
//! the robot's path, and random placement goes in the natural order of paths, so the order of the
//! entries in the file cannot matter.

use super::room::Room;
use super::{Meaning, Type};
use crate::expand::Piece;
use crate::include::duplicate;
use std::collections::BTreeSet;
use std::f64::consts::{PI, TAU};
use std::ops::Range;
use std::sync::Arc;
use swarmyard_base::chance::{DEFAULT_SEED, Draw, Purpose};
use swarmyard_base::path::{MAX_NAME, natural_cmp};
use swarmyard_base::{Diagnostic, Pose2, Rot2, Span, Time, Uid, Vec2, math};
use swarmyard_part_api::ParamType;
use swarmyard_scene::{Node, Params};

/// Random tries per robot before we say that there is no room.
const ATTEMPTS: u32 = 2000;
/// Entries without room that are tried to the end; after these something is plainly wrong.
const MAX_FAILURES: usize = 20;

/// Reads the robots and places them.
pub(super) fn robots(
    m: &mut Meaning<'_, '_>,
    pieces: Vec<Piece>,
    run: &Node,
    world: &Node,
    obstacles: &Node,
) -> Node {
    let mut group = Node::new("robots", "");
    let mut batches: Vec<Batch> = Vec::with_capacity(pieces.len());
    let mut total = 0;
    for piece in &pieces {
        let Some(batch) = read_batch(m, piece, total) else { continue };
        total = batch.nodes.end;
        if total > m.context.limits.robots {
            let what =
                format!("a scenario may have at most `{}` robots, not `{total}`", m.context.limits.robots);
            let span = piece.table.get("count").map_or(piece.table.span, |t| t.span);
            m.context.report(Diagnostic::error("too-many-robots", what).at(Some(span)));
            return group;
        }
        batches.push(batch);
    }
    let seed = run.params.int_or_none("seed").map_or(DEFAULT_SEED, i64::cast_unsigned);
    let class: Arc<str> = Arc::from("robot");
    group.children.reserve_exact(total);
    for batch in &batches {
        batch.fill(&class, seed, &mut group.children);
    }
    report_duplicates(m, &group.children, &batches);
    // With mistakes around, a lack of room would only be what follows from them.
    if batches.iter().any(Batch::is_random) && !m.context.has_errors() {
        place_randomly(m, &mut group.children, &batches, seed, &fixed_things(world, obstacles));
    }
    group
}

/// One `[[robot]]` entry.
struct Batch {
    base: String,
    /// The number in the first one's name, when `count` was given.
    first: Option<u64>,
    /// Its robots among all.
    nodes: Range<usize>,
    proto: Option<Arc<Node>>,
    reach: f64,
    at: Pose2,
    layout: Layout,
    span: Span,
    name_span: Span,
    layout_span: Span,
    /// What its robots have of their own.
    params: Params,
}

enum Layout {
    Single,
    Row { step: Vec2 },
    Grid { columns: usize, spacing: f64, jitter: f64, turned: bool },
    Circle { radius: f64, facing: Facing },
    Random { size: Vec2, gap: f64, turned: bool },
}

enum Facing {
    In,
    Out,
    Along,
    Same,
    Random,
}

fn read_batch(m: &mut Meaning<'_, '_>, piece: &Piece, start: usize) -> Option<Batch> {
    let sheet = m.sheet("robot")?;
    let table = &piece.table;
    let base = m.piece_name(piece, "r").unwrap_or_else(|| "r".into());
    let path = format!("/robots/{base}");
    let params = m.read(sheet, table, &path, &[]);
    let layout = m.read_inline(table, "layout", &path);
    let count = params.int_or_none("count");
    for name in ["layout", "first"] {
        if let (None, Some((key, _))) = (table.get("count"), table.entry(name)) {
            m.unused(&path, key, &format!("`{name}` without `count`"));
        }
    }
    let known = m.types.get_mut(params.text_or_none("type").unwrap_or(""));
    let (proto, reach) = match known {
        Some(Type { node, reach, used, .. }) => {
            *used = true;
            (Some(Arc::clone(node)), *reach)
        }
        None => (None, 0.0),
    };
    // A count that the sheet refuses was reported; it makes no robots.
    let allowed = |c: &i64| !matches!(sheet.find("count").map(|p| p.ty), Some(ParamType::Int { min, max }) if *c < min || *c > max);
    let n = count.map_or(1, |c| usize::try_from(c).ok().filter(|_| allowed(&c)).unwrap_or(0));
    let name_span = table.get("name").map_or(table.span, |t| t.span);
    let first = params.int_or_none("first").and_then(|f| u64::try_from(f).ok()).unwrap_or(1);
    let last = first.saturating_add(n as u64).saturating_sub(1);
    if count.is_some() && base.len() + last.to_string().len() > MAX_NAME {
        let what = format!("with its number the name is longer than `{MAX_NAME}`: `{base}{last}`");
        m.context.report(Diagnostic::error("bad-name", what).at(Some(name_span)));
    }
    let at = params.pose_or_none("at").unwrap_or_default();
    let mut own = Params::default();
    if let Some(on) = params.value("on") {
        own.set("on", on.clone(), params.span("on"));
    }
    Some(Batch {
        first: count.map(|_| first),
        nodes: start..start.saturating_add(n),
        proto,
        reach,
        at: piece.frame.map_or(at, |f| f.then(at)),
        layout: match layout {
            Some((sheet, params)) => read_layout(m, sheet.class, &params, n, &path),
            // Without a layout copies stand in a row, half a body apart.
            None if count.is_some() => Layout::Row { step: Vec2::new(3.0 * reach, 0.0) },
            None => Layout::Single,
        },
        base,
        span: table.span,
        name_span,
        layout_span: table.get("layout").map_or(table.span, |t| t.span),
        params: own,
    })
}

fn read_layout(m: &mut Meaning<'_, '_>, class: &str, params: &Params, n: usize, path: &str) -> Layout {
    let num = |name: &str| params.num_or_none(name).unwrap_or(0.0);
    let pair = |name: &str| match params.nums_or_none(name) {
        Some(&[x, y]) => Vec2::new(x, y),
        _ => Vec2::ZERO,
    };
    match class {
        "row" => Layout::Row { step: pair("step") },
        "grid" => Layout::Grid {
            columns: params
                .int_or_none("columns")
                .and_then(|c| usize::try_from(c).ok())
                .unwrap_or_else(|| ceil_sqrt(n))
                .clamp(1, n.max(1)),
            spacing: num("spacing"),
            jitter: num("jitter"),
            turned: params.text_or_none("heading") == Some("random"),
        },
        "circle" => Layout::Circle {
            radius: num("radius"),
            facing: match params.text_or_none("facing") {
                Some("in") => Facing::In,
                Some("along") => Facing::Along,
                Some("same") => Facing::Same,
                Some("random") => Facing::Random,
                _ => Facing::Out,
            },
        },
        "random" => {
            let size = pair("size");
            if params.has("size") && !(size.x > 0.0 && size.y > 0.0) {
                let what = format!("`size` is out of range: `[{}, {}]`", size.x, size.y);
                let d = Diagnostic::error("out-of-range", what).at(params.span("size")).on(path);
                m.context.report(d.help("both must be greater than 0"));
            }
            Layout::Random { size, gap: num("gap"), turned: params.text_or_none("heading") == Some("random") }
        }
        other => {
            let what = format!("the layout `{other}` cannot be used by this reader");
            m.context.report(Diagnostic::error("unknown-class", what).on(path));
            Layout::Single
        }
    }
}

/// The least c with c² ≥ n.
fn ceil_sqrt(n: usize) -> usize {
    let root = n.isqrt();
    if root * root < n { root + 1 } else { root }
}

impl Batch {
    fn is_random(&self) -> bool {
        matches!(self.layout, Layout::Random { .. })
    }

    /// Appends its robots. Those of a random layout get their poses later.
    fn fill(&self, class: &Arc<str>, seed: u64, out: &mut Vec<Node>) {
        let n = self.nodes.len();
        let rot = self.at.rot();
        for k in 0..n {
            let name = match self.first {
                Some(first) => format!("{}{}", self.base, first + k as u64),
                None => self.base.clone(),
            };
            out.push(Node {
                pose: self.pose(k, n, rot, seed, &name),
                name,
                class: Arc::clone(class),
                section: "",
                params: self.params.clone(),
                children: Vec::new(),
                proto: self.proto.clone(),
                span: Some(self.span),
            });
        }
    }

    /// The pose of robot `k` of `n`.
    fn pose(&self, k: usize, n: usize, rot: Rot2, seed: u64, name: &str) -> Pose2 {
        let at = self.at;
        let placed = |offset: Vec2, heading: f64| Pose2 {
            at: at.at + rot.apply(offset),
            heading: math::wrap_angle(heading),
        };
        match &self.layout {
            Layout::Single | Layout::Random { .. } => at,
            Layout::Row { step } => placed(*step * k as f64, at.heading),
            Layout::Grid { columns, spacing, jitter, turned } => {
                let (column, row, rows) = (k % columns, k / columns, n.div_ceil(*columns));
                let middle = |index: usize, of: usize| (index as f64 - (of - 1) as f64 / 2.0) * spacing;
                let mut offset = Vec2::new(middle(column, *columns), middle(row, rows));
                let mut heading = at.heading;
                if *jitter > 0.0 || *turned {
                    let draw = draw(seed, name, 0);
                    offset = offset
                        + Vec2::new(draw.between(0, -*jitter, *jitter), draw.between(1, -*jitter, *jitter));
                    heading = if *turned { draw.between(2, -PI, PI) } else { heading };
                }
                placed(offset, heading)
            }
            Layout::Circle { radius, facing } => {
                let angle = TAU * k as f64 / n as f64;
                let heading = match facing {
                    Facing::Out => at.heading + angle,
                    Facing::In => at.heading + angle + PI,
                    Facing::Along => at.heading + angle + PI / 2.0,
                    Facing::Same => at.heading,
                    Facing::Random => draw(seed, name, 0).between(2, -PI, PI),
                };
                placed(Vec2::at_angle(angle) * *radius, heading)
            }
        }
    }
}

/// The chance of one robot's placement: index 0 and 1 are x and y, 2 is the heading.
fn draw(seed: u64, name: &str, attempt: u32) -> Draw {
    Draw::at(seed, Uid::of_parts(&["/robots/", name]), Purpose::Placement, Time::ZERO, attempt)
}

/// Reports robots that share a name, once per pair of entries.
fn report_duplicates(m: &mut Meaning<'_, '_>, robots: &[Node], batches: &[Batch]) {
    let mut uids: Vec<(u64, usize)> =
        robots.iter().enumerate().map(|(k, r)| (Uid::of_parts(&["/robots/", &r.name]).0, k)).collect();
    uids.sort_unstable();
    let entry = |k: usize| batches.partition_point(|b| b.nodes.end <= k);
    let mut reported = BTreeSet::new();
    for pair in uids.windows(2) {
        let (first, second) = (pair[0].1, pair[1].1);
        if pair[0].0 != pair[1].0 || robots[first].name != robots[second].name {
            continue;
        }
        let (a, b) = (entry(first), entry(second));
        if reported.insert((a, b)) {
            let name = &robots[second].name;
            let d = duplicate(m.context, name, batches[b].name_span, batches[a].name_span);
            m.context.report(d.on(format!("/robots/{name}")));
        }
    }
}

/// The room that border, walls and obstacles leave.
fn fixed_things(world: &Node, obstacles: &Node) -> impl Fn() -> Room {
    let bounds = world.params.point_or_none("min").zip(world.params.point_or_none("max"));
    move || {
        let mut room = Room::new(bounds);
        for wall in world.child("walls").map_or(&[][..], |w| &w.children) {
            let points = wall.params.points_or_none("points").unwrap_or_default();
            points.windows(2).for_each(|p| room.add_wall(p[0], p[1]));
            if let (Some(true), [first, .., last]) = (wall.params.bool_or_none("closed"), points) {
                room.add_wall(*last, *first);
            }
        }
        for obstacle in &obstacles.children {
            let made = obstacle.proto.as_deref().unwrap_or(obstacle);
            room.add_disc(obstacle.pose.at, reach_of(&made.params));
        }
        room
    }
}

/// Radius of the circle around the outline of checked parameters.
fn reach_of(params: &Params) -> f64 {
    let size = params.nums_or_none("size").map(|s| math::hypot(s[0], s[1]) / 2.0);
    let polygon = params.points_or_none("polygon").map(|p| p.iter().map(|c| c.norm()).fold(0.0, math::max));
    params.num_or_none("radius").or(size).or(polygon).unwrap_or(0.0)
}

fn place_randomly(
    m: &mut Meaning<'_, '_>,
    robots: &mut [Node],
    batches: &[Batch],
    seed: u64,
    room: &dyn Fn() -> Room,
) {
    let mut room = room();
    let mut order: Vec<(usize, &Batch)> = Vec::new();
    for batch in batches {
        if batch.is_random() {
            order.extend(batch.nodes.clone().map(|k| (k, batch)));
        } else {
            batch.nodes.clone().for_each(|k| room.add_disc(robots[k].pose.at, batch.reach));
        }
    }
    order.sort_by(|a, b| natural_cmp(&robots[a.0].name, &robots[b.0].name));
    // How many of an entry found room, for those where one did not.
    let mut full: Vec<(usize, usize)> = Vec::new();
    let mut placed = vec![0_usize; batches.len()];
    for (k, batch) in order {
        let entry = batches.partition_point(|b| b.nodes.end <= k);
        if full.iter().any(|f| f.0 == entry) || full.len() >= MAX_FAILURES {
            continue;
        }
        match find_room(&room, batch, seed, &robots[k].name) {
            Some(pose) => {
                robots[k].pose = pose;
                room.add_disc(pose.at, batch.reach);
                placed[entry] += 1;
            }
            None => full.push((entry, placed[entry])),
        }
    }
    for (entry, fitted) in full {
        let batch = &batches[entry];
        let what = format!("there is room for only `{fitted}` of `{}` robots", batch.nodes.len());
        let d = Diagnostic::error("no-room", what)
            .at(Some(batch.layout_span))
            .on(format!("/robots/{}", batch.base));
        m.context.report(d.help("make the rectangle larger, the gap smaller, or the robots fewer"));
    }
}

fn find_room(room: &Room, batch: &Batch, seed: u64, name: &str) -> Option<Pose2> {
    let Layout::Random { size, gap, turned } = &batch.layout else { return None };
    let rot = batch.at.rot();
    for attempt in 0..ATTEMPTS {
        let draw = draw(seed, name, attempt);
        let half = *size * 0.5;
        let offset = Vec2::new(draw.between(0, -half.x, half.x), draw.between(1, -half.y, half.y));
        let at = batch.at.at + rot.apply(offset);
        if room.fits(at, batch.reach, *gap) {
            let heading = if *turned { draw.between(2, -PI, PI) } else { batch.at.heading };
            return Some(Pose2 { at, heading: math::wrap_angle(heading) });
        }
    }
    None
}
