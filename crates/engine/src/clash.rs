//! What stands where it cannot: bodies that overlap, and bodies outside of the world.
//!
//! In: a model, and a pose for each of its bodies. Out: who clashes with what. Never: a judgement;
//! whoever asks says which clashes count.

use crate::groups::gap_now;
use crate::model::{ContactRule, Model};
use crate::resolve::{overlap, passes};
use swarmyard_base::{Pose2, Uid, Vec2, math};
use swarmyard_motion::Workspace;
use swarmyard_part_api::{BodyGrid, BodyKind, Detail, FixedEdge};

/// Who stands where it cannot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clash {
    /// A body is outside of the world.
    Outside(usize),
    /// A body and something else overlap.
    Overlap(usize, Uid),
    /// A body is inside of a fixed obstacle.
    Inside(usize, Uid),
}

/// More than this nobody reads.
const MOST: usize = 20;

/// All clashes that count, up to a number that is enough for a report.
pub(crate) fn clashes(
    model: &Model,
    detail: Detail,
    poses: &[Pose2],
    counts: impl Fn(Clash) -> bool,
) -> Vec<Clash> {
    if model.run.contact == ContactRule::Ghost {
        return Vec::new();
    }
    let mut grid = BodyGrid::default();
    grid.rebuild(poses, |slot| model.outline_at(detail, slot).reach());
    let mut work = Workspace::default();
    let mut found = Vec::new();
    for (slot, pose) in poses.iter().enumerate() {
        if found.len() >= MOST {
            break;
        }
        if is_outside(model, *pose) {
            found.extend(Some(Clash::Outside(slot)).filter(|c| counts(*c)));
            continue;
        }
        for other in near(model, detail, poses, slot, &grid) {
            let gap = gap_now(model, detail, poses, (slot, other), &mut work);
            let clash = gap.filter(|gap| *gap <= 0.0).map(|_| Clash::Overlap(slot, other));
            found.extend(clash.filter(|c| counts(*c)));
        }
    }
    for obstacle in model.fixed.edges().chunk_by(|a, b| a.owner == b.owner) {
        if obstacle[0].kind == BodyKind::Obstacle && found.len() < 2 * MOST {
            insiders(model, poses, obstacle, &grid, |slot| {
                found.extend(Some(Clash::Inside(slot, obstacle[0].owner)).filter(|c| counts(*c)));
            });
        }
    }
    found
}

/// Whether a pose is outside of the world's bounds.
pub(crate) fn is_outside(model: &Model, pose: Pose2) -> bool {
    let p = pose.at;
    model.bounds.is_some_and(|(min, max)| !(p.x >= min.x && p.x <= max.x && p.y >= min.y && p.y <= max.y))
}

/// Whether a point is within the polygon that these edges are.
pub(crate) fn is_inside(edges: &[FixedEdge], p: Vec2) -> bool {
    edges.iter().fold(false, |inside, FixedEdge { a, b, .. }| {
        let crosses = (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x);
        inside != crosses
    })
}

/// Who may overlap a body: bodies in later slots, and what is fixed.
fn near(model: &Model, detail: Detail, poses: &[Pose2], slot: usize, grid: &BodyGrid) -> Vec<Uid> {
    let (pose, reach) = (poses[slot], model.outline_at(detail, slot).reach());
    let far = Vec2::new(reach + grid.max_reach(), reach + grid.max_reach());
    let mut others: Vec<Uid> = Vec::new();
    grid.for_each_in(pose.at - far, pose.at + far, |entry| {
        let (other, d) = (entry.slot as usize, (entry.at - pose.at).norm());
        let tall = overlap(model.heights_of(slot), model.heights_of(other));
        if other > slot && tall && d < reach + entry.reach {
            others.push(model.uids[other]);
        }
    });
    let near = Vec2::new(reach, reach);
    model.fixed.for_each_in(pose.at - near, pose.at + near, |_, edge| {
        if overlap(model.heights_of(slot), edge.heights) && !passes(model, slot, edge) {
            others.push(edge.owner);
        }
    });
    others.sort_unstable();
    others.dedup();
    others
}

/// Bodies within a fixed polygon.
fn insiders(
    model: &Model,
    poses: &[Pose2],
    edges: &[FixedEdge],
    grid: &BodyGrid,
    mut tell: impl FnMut(usize),
) {
    let corners = || edges.iter().map(|e| e.a);
    let min = corners().fold(edges[0].a, |m, c| Vec2::new(math::min(m.x, c.x), math::min(m.y, c.y)));
    let max = corners().fold(edges[0].a, |m, c| Vec2::new(math::max(m.x, c.x), math::max(m.y, c.y)));
    let from = edges[0].heights.0;
    grid.for_each_in(min, max, |entry| {
        let slot = entry.slot as usize;
        if is_inside(edges, poses[slot].at) && model.heights_of(slot).1 > from {
            tell(slot);
        }
    });
}
