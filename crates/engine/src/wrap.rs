//! Bodies that leave the world on one side and come back on the other.
//!
//! The border does not stop them. At the end of the quantum in which its centre passed the border, such
//! a body is put to the opposite side, by exactly the width of the world: so its position is that of
//! free motion modulo the width, whatever the quantum. If there is no room, it stays outside, and its mover
//! stands and waits there. Whoever has the lower uid goes first.

use crate::model::Model;
use crate::resolve::{overlap, passes};
use crate::state::State;
use std::collections::BTreeMap;
use swarmyard_base::{Pose2, Rot2, Uid, Vec2};
use swarmyard_motion::{Mover, SKIN_M, Workspace, gap_at};
use swarmyard_part_api::{AtEdge, BodyKind, Segment};

/// Puts bodies back that passed the border.
pub(crate) fn wrap(model: &Model, state: &mut State) {
    let Some((min, max)) = model.bounds else { return };
    if !model.wraps() {
        return;
    }
    let slots = (0..model.len()).filter(|slot| model.type_at(*slot).at_edge() == AtEdge::Wrap);
    let outside = |slot: &usize| {
        let p = state.pose[*slot].at;
        p.x < min.x || p.x > max.x || p.y < min.y || p.y > max.y
    };
    let mut gone: Vec<usize> = slots.filter(outside).collect();
    gone.sort_by_key(|&slot| model.uids[slot]);
    for slot in gone {
        let pose = state.pose[slot];
        let (x, y) = (within(pose.at.x, min.x, max.x), within(pose.at.y, min.y, max.y));
        let back = Pose2 { at: Vec2::new(x, y), heading: pose.heading };
        if is_free(model, state, slot, back) {
            state.pose[slot] = back;
        }
    }
}

/// A coordinate modulo the width of the world.
fn within(x: f64, min: f64, max: f64) -> f64 {
    if x < min || x > max { x - (max - min) * ((x - min) / (max - min)).floor() } else { x }
}

/// Whether a body would touch nothing there.
fn is_free(model: &Model, state: &State, slot: usize, pose: Pose2) -> bool {
    let mut work = Workspace::default();
    let outline = |slot: usize| model.outline_at(state.detail, slot);
    let at_rest = |pose: Pose2| Segment::rest(0.0, pose, pose.rot());
    let own = at_rest(pose);
    let a = Mover { outline: outline(slot), segment: &own };
    let reach = a.outline.reach() + 2.0 * SKIN_M;
    let bodies_clear = (0..model.len()).filter(|&other| other != slot).all(|other| {
        let far = reach + outline(other).reach();
        let there = state.pose[other];
        (there.at - pose.at).norm2() > far * far
            || !overlap(model.heights_of(slot), model.heights_of(other))
            || gap_at(&a, &Mover { outline: outline(other), segment: &at_rest(there) }, 0.0, &mut work)
                > SKIN_M
    });
    let span = Vec2::new(reach, reach);
    let mut clear = bodies_clear && !inside_something(model, slot, pose.at);
    let still = Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY);
    model.fixed.for_each_in(pose.at - span, pose.at + span, |k, edge| {
        if !passes(model, slot, edge) && overlap(model.heights_of(slot), edge.heights) {
            let wall = Mover { outline: &model.fixed_outlines[k], segment: &still };
            clear &= gap_at(&a, &wall, 0.0, &mut work) > SKIN_M;
        }
    });
    clear
}

/// Whether a point lies inside a fixed obstacle, by the even-odd rule.
fn inside_something(model: &Model, slot: usize, p: Vec2) -> bool {
    let mut inside: BTreeMap<Uid, bool> = BTreeMap::new();
    for edge in model.fixed.edges() {
        let solid = edge.kind == BodyKind::Obstacle && overlap(model.heights_of(slot), edge.heights);
        let (a, b) = (edge.a, edge.b);
        if solid && (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x) {
            *inside.entry(edge.owner).or_default() ^= true;
        }
    }
    inside.into_values().any(|odd| odd)
}
