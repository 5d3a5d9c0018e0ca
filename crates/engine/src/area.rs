//! A box in the plane, with sides along the axes; may be unbounded.

use serde::{Deserialize, Serialize};
use swarmyard_base::Vec2;
use swarmyard_base::math;
use swarmyard_motion::SKIN_M;
use swarmyard_part_api::Segment;

/// A box in the plane.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Area {
    /// Least coordinates.
    pub min: Vec2,
    /// Greatest coordinates.
    pub max: Vec2,
}

impl Area {
    /// The whole plane.
    pub const EVERYWHERE: Area = Area {
        min: Vec2 { x: f64::NEG_INFINITY, y: f64::NEG_INFINITY },
        max: Vec2 { x: f64::INFINITY, y: f64::INFINITY },
    };

    /// The box around everything the outline sweeps over from the segment's start to `until_s`.
    #[inline]
    pub(crate) fn of(segment: &Segment, reach: f64, end: Vec2, until_s: f64) -> Area {
        let start = segment.pose.at;
        let mut margin = reach + 2.0 * SKIN_M;
        if !segment.is_straight() {
            // An arc leaves its chord by at most an eighth of length times angle; past half a turn
            // its whole length will do.
            let dt = until_s - segment.start_s;
            let (length, angle) = (segment.round_speed() * dt, (segment.spin * dt).abs());
            margin += length * if angle < 3.0 { angle / 8.0 } else { 1.0 };
        }
        Area {
            min: Vec2::new(math::min(start.x, end.x) - margin, math::min(start.y, end.y) - margin),
            max: Vec2::new(math::max(start.x, end.x) + margin, math::max(start.y, end.y) + margin),
        }
    }

    /// Whether a point lies in it.
    #[inline]
    #[must_use]
    pub fn contains(&self, p: Vec2) -> bool {
        p.x >= self.min.x && p.x <= self.max.x && p.y >= self.min.y && p.y <= self.max.y
    }

    /// The box with every side moved outward by `margin` (inward, when it is negative).
    #[must_use]
    pub fn grown(&self, margin: f64) -> Area {
        let by = Vec2::new(margin, margin);
        Area { min: self.min - by, max: self.max + by }
    }

    /// Whether two boxes share a point.
    #[inline]
    #[must_use]
    pub fn meets(&self, other: &Area) -> bool {
        self.min.x <= other.max.x
            && self.max.x >= other.min.x
            && self.min.y <= other.max.y
            && self.max.y >= other.min.y
    }

    /// How far the box reaches from a point inside it, along an axis.
    #[inline]
    pub(crate) fn span_from(&self, p: Vec2) -> f64 {
        math::max(
            math::max(math::max(p.x - self.min.x, self.max.x - p.x), p.y - self.min.y),
            self.max.y - p.y,
        )
    }

    /// Whether it holds all of another one.
    #[must_use]
    pub fn holds(&self, other: &Area) -> bool {
        self.min.x <= other.min.x
            && self.max.x >= other.max.x
            && self.min.y <= other.min.y
            && self.max.y >= other.max.y
    }

    pub(crate) fn join(&self, other: &Area) -> Area {
        Area {
            min: Vec2::new(math::min(self.min.x, other.min.x), math::min(self.min.y, other.min.y)),
            max: Vec2::new(math::max(self.max.x, other.max.x), math::max(self.max.y, other.max.y)),
        }
    }
}
