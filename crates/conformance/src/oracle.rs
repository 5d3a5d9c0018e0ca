//! Independent answers: distances and ray casts by parry2d, depth of overlap by separating axes.

use parry2d_f64::math::Vector;
use parry2d_f64::query::{PointQuery, Ray, RayCast};
use parry2d_f64::shape::{Ball, Segment};
use swarmyard_base::{Pose2, Vec2, math};
use swarmyard_part_api::Outline;

fn v(p: Vec2) -> Vector {
    Vector::new(p.x, p.y)
}

/// A thing in the world's frame: a disc, a line, or a convex polygon.
#[derive(Clone, Debug)]
pub struct Thing {
    /// Corners; one for a disc.
    pub corners: Vec<Vec2>,
    /// Radius of a disc.
    pub round: f64,
}

impl Thing {
    /// An outline at a pose.
    #[must_use]
    pub fn new(outline: &Outline, pose: Pose2) -> Thing {
        let (s, c) = math::sin_cos(pose.heading);
        let place = |p: &Vec2| pose.at + Vec2::new(c * p.x - s * p.y, s * p.x + c * p.y);
        Thing { corners: outline.corners().iter().map(place).collect(), round: outline.round() }
    }

    /// A line.
    #[must_use]
    pub fn line(a: Vec2, b: Vec2) -> Thing {
        Thing { corners: vec![a, b], round: 0.0 }
    }

    /// A convex polygon in the world's frame.
    #[must_use]
    pub fn polygon(corners: &[Vec2]) -> Thing {
        Thing { corners: corners.to_vec(), round: 0.0 }
    }

    fn sides(&self) -> impl Iterator<Item = (Vec2, Vec2)> + '_ {
        let n = self.corners.len();
        (0..n).filter(move |_| n > 1).map(move |k| (self.corners[k], self.corners[(k + 1) % n]))
    }

    /// Distance of a point from the outline's rim (not from its inside).
    #[must_use]
    pub fn rim_distance(&self, p: Vec2) -> f64 {
        if self.corners.len() == 1 {
            return ((p - self.corners[0]).norm() - self.round).abs();
        }
        let to_side = |(a, b)| Segment::new(v(a), v(b)).distance_to_local_point(v(p), true);
        self.sides().map(to_side).fold(f64::INFINITY, math::min)
    }

    fn holds(&self, p: Vec2) -> bool {
        match self.corners.len() {
            1 => (p - self.corners[0]).norm() <= self.round,
            2 => false,
            _ => self.sides().all(|(a, b)| (b - a).cross(p - a) >= 0.0),
        }
    }

    /// Distance from `origin` along a unit `direction`; infinite when the ray misses, zero when it
    /// begins inside.
    #[must_use]
    pub fn cast(&self, origin: Vec2, direction: Vec2) -> f64 {
        if self.holds(origin) {
            return 0.0;
        }
        if self.corners.len() == 1 {
            return cast_ball(self.corners[0], self.round, origin, direction);
        }
        self.sides().map(|(a, b)| cast_side(a, b, origin, direction)).fold(f64::INFINITY, math::min)
    }
}

/// Parry loses digits with the square of the distance, so the ray begins near the disc.
fn cast_ball(centre: Vec2, radius: f64, origin: Vec2, direction: Vec2) -> f64 {
    let skip = math::max((centre - origin).dot(direction) - 2.0 * radius, 0.0);
    let ray = Ray::new(v(origin + direction * skip - centre), v(direction));
    Ball::new(radius).cast_local_ray(&ray, f64::MAX, true).map_or(f64::INFINITY, |t| t + skip)
}

/// The same: a first cast to find the place, a second from just before it.
fn cast_side(a: Vec2, b: Vec2, origin: Vec2, direction: Vec2) -> f64 {
    let segment = Segment::new(v(a), v(b));
    let from = |skip: f64| {
        segment.cast_local_ray(&Ray::new(v(origin + direction * skip), v(direction)), f64::MAX, true)
    };
    let Some(rough) = from(0.0) else { return f64::INFINITY };
    let skip = math::max(rough - 0.01, 0.0);
    from(skip).map_or(rough, |t| t + skip)
}

/// Gap between two things; negative when they overlap, and then how deep.
#[must_use]
pub fn gap(a: &Thing, b: &Thing) -> f64 {
    let (depth, apart) = (axes(a, b), rim_to_rim(a, b));
    let hulls = if depth < 0.0 { depth } else { apart };
    hulls - a.round - b.round
}

/// Least distance of any corner of one from any side of the other (by parry).
fn rim_to_rim(a: &Thing, b: &Thing) -> f64 {
    if a.corners.len() == 1 && b.corners.len() == 1 {
        return (a.corners[0] - b.corners[0]).norm();
    }
    let mut least = f64::INFINITY;
    for (one, other) in [(a, b), (b, a)] {
        for (p, q) in other.sides() {
            let side = Segment::new(v(p), v(q));
            for c in &one.corners {
                least = math::min(least, side.distance_to_local_point(v(*c), true));
            }
        }
    }
    least
}

/// The greatest separation along the normal of any side; negative when no side separates.
fn axes(a: &Thing, b: &Thing) -> f64 {
    let mut best = f64::NEG_INFINITY;
    if a.corners.len() == 1 && b.corners.len() == 1 {
        return f64::INFINITY;
    }
    for (one, other) in [(a, b), (b, a)] {
        for (p, q) in one.sides() {
            let d = q - p;
            let out = Vec2::new(d.y, -d.x) * (1.0 / d.norm());
            let nearest = other.corners.iter().map(|c| out.dot(*c - p)).fold(f64::INFINITY, math::min);
            best = math::max(best, nearest);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oracle_knows_simple_answers() {
        let square =
            Thing::new(&Outline::rectangle(2.0, 2.0), Pose2::new(5.0, 0.0, std::f64::consts::FRAC_PI_4));
        let disc = Thing::new(&Outline::disc(0.5), Pose2::new(0.0, 0.0, 1.0));
        let exact = 5.0 - 2.0_f64.sqrt();
        assert!((gap(&square, &disc) - (exact - 0.5)).abs() < 1e-15);
        assert!((square.cast(Vec2::ZERO, Vec2::new(1.0, 0.0)) - exact).abs() < 1e-12);
        assert_eq!(disc.cast(Vec2::new(0.1, 0.0), Vec2::new(1.0, 0.0)), 0.0);
        let wall = Thing::line(Vec2::new(0.25, -1.0), Vec2::new(0.25, 1.0));
        assert_eq!(gap(&wall, &disc), -0.25);
        let deep = Thing::new(&Outline::rectangle(2.0, 2.0), Pose2::new(0.0, 0.0, 0.0));
        let other = Thing::new(&Outline::rectangle(2.0, 2.0), Pose2::new(1.5, 0.2, 0.0));
        assert_eq!(gap(&deep, &other), -0.5);
    }
}
