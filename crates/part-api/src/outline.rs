//! Outlines of bodies: a disc or a convex polygon, with what rays and contacts need precomputed.

use crate::rays::nearest_of_line;
use serde::{Deserialize, Serialize};
use swarmyard_base::{Pose2, Vec2, math};

/// Most corners an outline may have.
pub const MAX_CORNERS: usize = 64;

/// A disc, a convex polygon, or (for walls) a line between two points.
///
/// All three are "the convex hull of some points, grown by a radius", so contacts need one code.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outline {
    /// Corners, counter-clockwise, in the body's frame. One for a disc, two for a wall.
    corners: Vec<Vec2>,
    /// How far the hull is grown: the radius of a disc, zero for polygons.
    round: f64,
    /// Distance of the farthest point from the body's origin.
    reach: f64,
    /// Outward unit normal and offset of each side; the side k runs from corner k to the next.
    sides: Vec<(Vec2, f64)>,
}

impl Outline {
    /// A disc.
    #[must_use]
    pub fn disc(radius_m: f64) -> Outline {
        Outline { corners: vec![Vec2::ZERO], round: radius_m, reach: radius_m, sides: Vec::new() }
    }

    /// A rectangle centred on the origin, length along x.
    #[must_use]
    pub fn rectangle(length_m: f64, width_m: f64) -> Outline {
        let (l, w) = (length_m / 2.0, width_m / 2.0);
        let corners = vec![Vec2::new(-l, -w), Vec2::new(l, -w), Vec2::new(l, w), Vec2::new(-l, w)];
        Outline::of_hull(corners)
    }

    /// A thin wall from the origin to `to`.
    #[must_use]
    pub fn line(from: Vec2, to: Vec2) -> Outline {
        Outline {
            corners: vec![from, to],
            round: 0.0,
            reach: math::max(from.norm(), to.norm()),
            sides: Vec::new(),
        }
    }

    /// A convex polygon; corners in either direction.
    ///
    /// # Errors
    /// Says in words why the polygon cannot be used.
    pub fn polygon(corners: &[Vec2]) -> Result<Outline, String> {
        if corners.len() > MAX_CORNERS {
            return Err(format!("a body may have at most {MAX_CORNERS} corners, this has {}", corners.len()));
        }
        let mut corners = corners.to_vec();
        if signed_area(&corners) < 0.0 {
            corners.reverse();
        }
        let n = corners.len();
        if n < 3 || signed_area(&corners).abs() < 1e-12 {
            return Err("the polygon has no area".into());
        }
        let convex = (0..n).all(|k| {
            let (a, b, c) = (corners[k], corners[(k + 1) % n], corners[(k + 2) % n]);
            (b - a).cross(c - b) > 0.0
        });
        // All turns left and turning once around: a star also has only left turns.
        let turns = (0..n).map(|k| {
            let (a, b, c) = (corners[k], corners[(k + 1) % n], corners[(k + 2) % n]);
            let (u, v) = (b - a, c - b);
            swarmyard_base::math::atan2(u.cross(v), u.dot(v))
        });
        if !convex || turns.sum::<f64>() > 7.0 {
            return Err(
                "the polygon is not convex (a moving body must be), or has repeated or collinear corners"
                    .into(),
            );
        }
        Ok(Outline::of_hull(corners))
    }

    fn of_hull(corners: Vec<Vec2>) -> Outline {
        let n = corners.len();
        let sides = (0..n)
            .map(|k| {
                let edge = corners[(k + 1) % n] - corners[k];
                let normal = -edge.perp() * (1.0 / edge.norm());
                (normal, normal.dot(corners[k]))
            })
            .collect();
        let reach = corners.iter().map(|c| c.norm()).fold(0.0, math::max);
        Outline { corners, round: 0.0, reach, sides }
    }

    /// Corners in the body's frame.
    #[inline]
    #[must_use]
    pub fn corners(&self) -> &[Vec2] {
        &self.corners
    }

    /// Radius by which the hull of the corners is grown.
    #[inline]
    #[must_use]
    pub fn round(&self) -> f64 {
        self.round
    }

    /// Distance of the farthest point from the body's origin.
    #[inline]
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether turning about the origin leaves the outline as it is.
    #[inline]
    #[must_use]
    pub fn is_disc(&self) -> bool {
        self.corners.len() == 1
    }

    /// Outward unit normals and offsets of the sides of a polygon.
    #[inline]
    #[must_use]
    pub fn sides(&self) -> &[(Vec2, f64)] {
        &self.sides
    }

    /// The greatest disc around the origin that fits into the outline: where polygons do not touch, these
    /// do not either. An outline that does not hold its origin stays as it is.
    #[must_use]
    pub fn inscribed(&self) -> Outline {
        let nearest = self.sides.iter().map(|side| side.1).fold(f64::INFINITY, math::min);
        if nearest.is_finite() && nearest > 0.0 { Outline::disc(nearest) } else { self.clone() }
    }

    /// The outline with everything within a distance of it.
    #[must_use]
    pub fn grown(&self, by_m: f64) -> Outline {
        let sides = self.sides.iter().map(|&(normal, offset)| (normal, offset + by_m)).collect();
        Outline { corners: self.corners.clone(), round: self.round + by_m, reach: self.reach + by_m, sides }
    }

    /// Moment of inertia of the uniform outline about the body's origin, per kilogram.
    #[must_use]
    pub fn inertia_per_mass(&self) -> f64 {
        if self.corners.len() < 3 {
            return 0.5 * self.round * self.round;
        }
        let n = self.corners.len();
        let (mut top, mut bottom) = (0.0, 0.0);
        for k in 0..n {
            let (a, b) = (self.corners[k], self.corners[(k + 1) % n]);
            let c = a.cross(b);
            top += c * (a.dot(a) + a.dot(b) + b.dot(b));
            bottom += c;
        }
        top / (6.0 * bottom)
    }

    /// Distance from a point, in the body's frame, to the outline; zero inside.
    #[must_use]
    pub fn distance(&self, point: Vec2) -> f64 {
        if self.sides.iter().all(|&(normal, offset)| normal.dot(point) <= offset) && !self.sides.is_empty() {
            return 0.0;
        }
        let n = self.corners.len();
        let to_side =
            |k: usize| nearest_of_line(self.corners[k] - point, self.corners[(k + 1) % n] - point).norm();
        math::max((0..n).map(to_side).fold(f64::INFINITY, math::min) - self.round, 0.0)
    }

    /// The nearest point of the outline of a body at `pose`, and how far away it is; zero and the point itself
    /// when that is inside.
    #[must_use]
    pub fn nearest(&self, pose: Pose2, point: Vec2) -> (Vec2, f64) {
        let local = pose.rot().unapply(point - pose.at);
        let distance = self.distance(local);
        if distance <= 0.0 {
            return (point, 0.0);
        }
        let n = self.corners.len();
        let to_side = |k: usize| nearest_of_line(self.corners[k] - local, self.corners[(k + 1) % n] - local);
        let nearest = (0..n).map(to_side).min_by(|a, b| a.norm2().total_cmp(&b.norm2())).unwrap_or_default();
        let on = local + nearest * (distance / nearest.norm());
        (pose.at + pose.rot().apply(on), distance)
    }

    /// How wide the outline is along a unit vector of the body's frame.
    #[must_use]
    pub fn width(&self, direction: Vec2) -> f64 {
        let places = self.corners.iter().map(|c| c.dot(direction));
        let (low, high) = places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
            (math::min(low, x), math::max(high, x))
        });
        high - low + 2.0 * self.round
    }

    /// Distance along `direction` (a unit vector) from `origin` to the outline, both in the body's
    /// frame; `None` when the ray misses. Zero when the origin is inside.
    #[inline]
    #[must_use]
    pub fn ray(&self, origin: Vec2, direction: Vec2) -> Option<f64> {
        if self.sides.is_empty() {
            return self.ray_disc(origin, direction);
        }
        let (enter, leave) = self.clip(origin, direction)?;
        let enter = math::max(enter, 0.0);
        (enter <= leave).then_some(enter)
    }

    /// Where the line from `from` (0) to `to` (1), both in the body's frame, enters and leaves the
    /// outline; the two shares may lie outside of 0 to 1. `None` when the line misses.
    #[must_use]
    pub fn chord(&self, from: Vec2, to: Vec2) -> Option<(f64, f64)> {
        let along = to - from;
        if self.sides.is_empty() {
            let (length2, to_centre) = (along.norm2(), -from);
            let off = along.cross(to_centre);
            let half2 = self.round * self.round * length2 - off * off;
            if half2 < 0.0 || length2 == 0.0 {
                return None;
            }
            let (middle, half) = (to_centre.dot(along), half2.sqrt());
            return Some(((middle - half) / length2, (middle + half) / length2));
        }
        self.clip(from, along).filter(|(enter, leave)| enter <= leave)
    }

    /// Where a line crosses the sides of a polygon from without to within for the last time, and
    /// from within to without for the first, in lengths of `along`; `None` when it runs beside it.
    #[inline]
    fn clip(&self, from: Vec2, along: Vec2) -> Option<(f64, f64)> {
        let (mut enter, mut leave) = (f64::NEG_INFINITY, f64::INFINITY);
        for &(normal, offset) in &self.sides {
            let gap = offset - normal.dot(from);
            let rate = normal.dot(along);
            if rate < 0.0 {
                enter = math::max(enter, gap / rate);
            } else if rate > 0.0 {
                leave = math::min(leave, gap / rate);
            } else if gap < 0.0 {
                return None;
            }
        }
        Some((enter, leave))
    }

    #[inline]
    fn ray_disc(&self, origin: Vec2, direction: Vec2) -> Option<f64> {
        let to_centre = -origin;
        let along = to_centre.dot(direction);
        let off = direction.cross(to_centre);
        let half2 = self.round * self.round - off * off;
        if half2 < 0.0 {
            return None;
        }
        let half = half2.sqrt();
        if along + half < 0.0 {
            return None;
        }
        Some(math::max(along - half, 0.0))
    }
}

/// Signed area of a polygon, positive when counter-clockwise.
#[must_use]
pub fn signed_area(corners: &[Vec2]) -> f64 {
    let n = corners.len();
    (0..n).map(|k| corners[k].cross(corners[(k + 1) % n])).sum::<f64>() / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inertia_of_known_bodies() {
        assert!((3.0 * Outline::rectangle(2.0, 1.0).inertia_per_mass() - 1.25).abs() < 1e-12);
        assert!((Outline::disc(0.2).inertia_per_mass() - 0.02).abs() < 1e-15);
    }

    #[test]
    fn distances_and_widths_of_known_bodies() {
        let disc = Outline::disc(0.2);
        assert!((disc.distance(Vec2::new(0.3, 0.4)) - 0.3).abs() < 1e-15);
        assert_eq!(disc.distance(Vec2::new(0.1, 0.0)), 0.0);
        assert_eq!(disc.width(Vec2::new(0.6, 0.8)), 0.4);
        let box_ = Outline::rectangle(2.0, 1.0);
        assert_eq!(box_.distance(Vec2::new(0.9, 0.4)), 0.0);
        assert_eq!(box_.distance(Vec2::new(0.0, 1.5)), 1.0);
        assert_eq!(box_.distance(Vec2::new(4.0, 4.5)), 5.0);
        assert_eq!((box_.width(Vec2::new(1.0, 0.0)), box_.width(Vec2::new(0.0, 1.0))), (2.0, 1.0));
    }

    #[test]
    fn only_convex_polygons_are_taken() {
        let p =
            |v: &[(f64, f64)]| Outline::polygon(&v.iter().map(|&(x, y)| Vec2::new(x, y)).collect::<Vec<_>>());
        assert!(p(&[(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]).is_ok());
        assert!(p(&[(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)]).is_ok(), "clockwise is turned round");
        assert!(p(&[(0.0, 0.0), (2.0, 0.0), (0.5, 0.5), (0.0, 2.0)]).is_err());
        assert!(p(&[(0.0, 0.0), (1.0, 0.0), (2.0, 0.0)]).is_err());
        let star: Vec<(f64, f64)> = (0..5)
            .map(|k| {
                let a = Vec2::at_angle(f64::from(k) * 4.0 * std::f64::consts::PI / 5.0);
                (a.x, a.y)
            })
            .collect();
        assert!(p(&star).is_err(), "a pentagram turns left everywhere but is not convex");
    }

    #[test]
    fn a_ray_meets_a_square_where_it_should() {
        let square = Outline::rectangle(2.0, 2.0);
        assert_eq!(square.ray(Vec2::new(-3.0, 0.5), Vec2::new(1.0, 0.0)), Some(2.0));
        assert_eq!(square.ray(Vec2::new(-3.0, 1.5), Vec2::new(1.0, 0.0)), None);
        assert_eq!(square.ray(Vec2::new(3.0, 0.0), Vec2::new(1.0, 0.0)), None);
        assert_eq!(square.ray(Vec2::ZERO, Vec2::new(1.0, 0.0)), Some(0.0));
    }
}
