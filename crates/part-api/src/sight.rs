//! Whether two points see one another.

use crate::rays::REACH_SLACK_M;
use crate::{FixedEdge, World};
use swarmyard_base::Vec2;
use swarmyard_base::math;

/// What touches the line only this near to its ends does not stand in the way: a beacon may be fixed
/// on a wall or on the rim of a body.
const END_M: f64 = 1e-9;

/// The line between two points, in space.
struct Sight {
    from: Vec2,
    to: Vec2,
    heights: (f64, f64),
    /// Share of the line that belongs to an end.
    end: f64,
}

impl World<'_> {
    /// Whether nothing solid stands between two points, each given with its height above the floor.
    /// The bodies in `skip_slots`, and what they carry, are looked through.
    ///
    /// Exact for outlines and fixed edges: a thing hides the view when the straight line passes it at a
    /// height where it is solid. What only touches an end of the line does not.
    #[must_use]
    pub fn line_of_sight(&self, from: (Vec2, f64), to: (Vec2, f64), skip_slots: &[usize]) -> bool {
        const PIECE_M: f64 = 4.0;
        let length = (to.0 - from.0).norm();
        if length <= END_M {
            return true;
        }
        let sight = Sight { from: from.0, to: to.0, heights: (from.1, to.1), end: END_M / length };
        let margin = self.grid.max_reach() + REACH_SLACK_M;
        let span = Vec2::new(margin, margin);
        let pieces = math::max((length / PIECE_M).ceil(), 1.0);
        let (mut piece, mut free) = (0.0, true);
        while free && piece < pieces {
            let (p, q) = (sight.point(piece / pieces), sight.point((piece + 1.0) / pieces));
            let low = Vec2::new(math::min(p.x, q.x), math::min(p.y, q.y)) - span;
            let high = Vec2::new(math::max(p.x, q.x), math::max(p.y, q.y)) + span;
            self.fixed.for_each_in(low, high, |_, edge| free = free && !sight.meets_edge(edge));
            self.grid.for_each_in(low, high, |entry| {
                let slot = entry.slot as usize;
                let skip = skip_slots.iter().any(|&own| self.is_own(own, slot));
                free = free && (skip || !self.stands_in_the_way(&sight, slot));
            });
            piece += 1.0;
        }
        free
    }

    fn stands_in_the_way(&self, sight: &Sight, slot: usize) -> bool {
        let (pose, rot) = (self.bodies.pose[slot], self.bodies.rot[slot]);
        let local = |p: Vec2| rot.unapply(p - pose.at);
        let outline = &self.outlines[self.bodies.outline[slot] as usize];
        let chord = outline.chord(local(sight.from), local(sight.to));
        chord.is_some_and(|chord| sight.is_blocked(chord, self.bodies.heights_of(slot)))
    }
}

impl Sight {
    fn point(&self, share: f64) -> Vec2 {
        self.from + (self.to - self.from) * share
    }

    /// Whether the line, between two shares of it, is somewhere between two heights.
    fn is_blocked(&self, (enter, leave): (f64, f64), solid: (f64, f64)) -> bool {
        if leave <= self.end || enter >= 1.0 - self.end {
            return false;
        }
        let height = |share: f64| self.heights.0 + (self.heights.1 - self.heights.0) * share.clamp(0.0, 1.0);
        let (a, b) = (height(enter), height(leave));
        math::min(a, b) <= solid.1 && math::max(a, b) >= solid.0
    }

    fn meets_edge(&self, edge: &FixedEdge) -> bool {
        let (along, wall) = (self.to - self.from, edge.b - edge.a);
        let turn = along.cross(wall);
        if turn == 0.0 {
            // Along the wall: a thin wall seen from its end hides nothing.
            return false;
        }
        let to_wall = edge.a - self.from;
        let at = to_wall.cross(along) / turn;
        // Measured on the wall itself: dividing by `turn` once more would give any number at all for a
        // line that is parallel up to rounding.
        let share = (to_wall.dot(along) + at * wall.dot(along)) / along.norm2();
        // A hair of slack, so that no line slips between two walls that share a corner.
        (-1e-12..=1.0 + 1e-12).contains(&at) && self.is_blocked((share, share), edge.heights)
    }
}
