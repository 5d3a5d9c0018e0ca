//! The nearest thing in a cone: what a simple ultrasonic range finder reports.
//!
//! Exact, not a fan of rays: lines are clipped to the cone, of discs and polygons the nearest point
//! inside of it is taken. The nearest point is never hidden, because whatever hid it would be in the
//! cone too, and nearer. A few rays over the cone are an approximation of the same; what is not nearer
//! in the whole cone is not nearer along a ray, so rays are tested for few things only.

use crate::rays::{REACH_SLACK_M, keep, ray_line};
use crate::{Fan, MarkShape, Outline, World};
use std::f64::consts::PI;
use swarmyard_base::{Pose2, Rot2, Vec2, math};

/// A cone of at most half a turn, fixed on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Cone {
    /// Its tip in the body's frame; the heading is its middle.
    mount: Pose2,
    turned: Rot2,
    height: f64,
    reach: f64,
    /// Direction of its left edge, in its own frame; the right edge is the mirror image.
    edge: Vec2,
    /// Centre, along its middle, and radius of a circle around it.
    circle: (f64, f64),
    /// The ray in its middle.
    middle: Fan,
    /// Directions of some rays over the cone, in its own frame.
    rays: Vec<Vec2>,
}

impl Cone {
    /// A cone of a full opening angle (above zero, at most half a turn) and a greatest distance.
    ///
    /// # Panics
    /// When the angle is not in that range.
    #[must_use]
    pub fn new(mount: Pose2, height_m: f64, opening_rad: f64, reach_m: f64) -> Cone {
        assert!(
            opening_rad > 0.0 && opening_rad <= PI,
            "a cone opens by more than nothing and at most half a turn"
        );
        let edge = Vec2::at_angle(opening_rad / 2.0);
        let circle = if opening_rad <= PI / 2.0 {
            // Through the tip and the two far corners.
            let radius = reach_m / (2.0 * edge.x);
            (radius, radius)
        } else {
            (reach_m * edge.x, reach_m * edge.y)
        };
        let middle = Fan::new(mount, height_m, 1, 0.0, reach_m);
        Cone {
            mount,
            turned: mount.rot(),
            height: height_m,
            reach: reach_m,
            edge,
            circle,
            middle,
            rays: Vec::new(),
        }
    }

    /// The same with some rays over it, from edge to edge; one alone lies in the middle.
    #[must_use]
    pub fn with_rays(self, count: usize) -> Cone {
        let half = self.edge.angle();
        let bearing =
            |k: usize| if count == 1 { 0.0 } else { half * (2.0 * k as f64 / (count - 1) as f64 - 1.0) };
        Cone { rays: (0..count).map(|k| Vec2::at_angle(bearing(k))).collect(), ..self }
    }

    /// Greatest distance from the tip that counts.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// The tip in the body's frame; its heading is the middle of the cone.
    #[must_use]
    pub fn mount(&self) -> Pose2 {
        self.mount
    }

    /// What a display draws of the cone up to a distance: its two edges, and the arc between them. All
    /// in the body's frame.
    #[must_use]
    pub fn shapes(&self, distance_m: f64) -> [MarkShape; 2] {
        let edge = |y: f64| self.mount.at + self.turned.apply(Vec2::new(self.edge.x, y) * distance_m);
        let half = self.edge.angle();
        let (from, to) = (self.mount.heading - half, self.mount.heading + half);
        [
            MarkShape::Line(vec![edge(-self.edge.y), self.mount.at, edge(self.edge.y)]),
            MarkShape::Arc { centre: self.mount.at, radius: distance_m, from, to },
        ]
    }

    fn sees(&self, heights: (f64, f64)) -> bool {
        self.height >= heights.0 && self.height <= heights.1
    }

    /// Distance from the tip to the part of a line inside the cone; everything in the cone's frame.
    fn to_line(&self, a: Vec2, b: Vec2) -> Option<f64> {
        let along = b - a;
        let (mut from, mut to) = (0.0_f64, 1.0_f64);
        let right = Vec2::new(self.edge.x, -self.edge.y);
        // Inside is left of the right edge and right of the left one.
        for normal in [right.perp(), -self.edge.perp()] {
            let (depth, rate) = (normal.dot(a), normal.dot(along));
            if rate > 0.0 {
                from = math::max(from, -depth / rate);
            } else if rate < 0.0 {
                to = math::min(to, -depth / rate);
            } else if depth < 0.0 {
                return None;
            }
        }
        if from > to {
            return None;
        }
        let length2 = along.norm2();
        let nearest =
            if length2 > 0.0 { math::min(math::max(-a.dot(along) / length2, from), to) } else { from };
        Some((a + along * nearest).norm())
    }

    /// Distance from the tip to the part of a disc inside the cone.
    fn to_disc(&self, outline: &Outline, centre: Vec2) -> Option<f64> {
        let right = Vec2::new(self.edge.x, -self.edge.y);
        let radius = outline.round();
        if centre.norm2() <= radius * radius {
            return Some(0.0);
        }
        if right.cross(centre) >= 0.0 && self.edge.cross(centre) <= 0.0 {
            return Some(centre.norm() - radius);
        }
        // A disc is nearer the nearer one looks to its centre, and that is at an edge of the cone.
        let hits = [self.edge, right].map(|edge| outline.ray(-centre, edge));
        hits.into_iter().flatten().reduce(math::min)
    }

    /// Distance from the tip to the part of an outline inside the cone; `pose` in the cone's frame.
    fn to_outline(&self, outline: &Outline, at: Vec2, rot: Rot2) -> Option<f64> {
        let corners = outline.corners();
        if corners.len() < 3 {
            return self.to_disc(outline, at + rot.apply(corners[0]));
        }
        let tip = rot.unapply(-at);
        if outline.sides().iter().all(|(normal, offset)| normal.dot(tip) <= *offset) {
            return Some(0.0);
        }
        let place = |k: usize| at + rot.apply(corners[k % corners.len()]);
        let sides = (0..corners.len()).filter_map(|k| self.to_line(place(k), place(k + 1)));
        sides.reduce(math::min)
    }

    /// Distance from the tip to a line along the rays.
    fn rays_to_line(&self, a: Vec2, b: Vec2) -> Option<f64> {
        self.rays.iter().filter_map(|ray| ray_line(a, b, *ray)).reduce(math::min)
    }

    /// Distance from the tip to an outline along the rays.
    fn rays_to_outline(&self, outline: &Outline, at: Vec2, rot: Rot2) -> Option<f64> {
        let tip = rot.unapply(-at);
        self.rays.iter().filter_map(|ray| outline.ray(tip, rot.unapply(*ray))).reduce(math::min)
    }
}

impl World<'_> {
    /// Distance to the nearest thing in a cone that is fixed on the body in `slot`, and its kind (0 for
    /// nothing, and then the distance is the cone's reach).
    ///
    /// The body itself and what it carries are not seen; nor is what does not reach the cone's height.
    #[must_use]
    pub fn nearest_in_cone(&self, cone: &Cone, slot: usize) -> (f64, f64) {
        self.nearest(cone, slot, |_, _, exact| Some(exact), |_, _, _, exact| Some(exact))
    }

    /// The same along the rays of the cone only: what stands between two of them is not met.
    #[must_use]
    pub fn nearest_of_rays(&self, cone: &Cone, slot: usize) -> (f64, f64) {
        self.nearest(
            cone,
            slot,
            |a, b, _| cone.rays_to_line(a, b),
            |outline, at, rot, _| cone.rays_to_outline(outline, at, rot),
        )
    }

    /// The nearest of what is in a cone, by a measure that is never less than the exact distance, which
    /// it is given last. Everything in the cone's frame.
    fn nearest(
        &self,
        cone: &Cone,
        slot: usize,
        to_line: impl Fn(Vec2, Vec2, f64) -> Option<f64>,
        to_outline: impl Fn(&Outline, Vec2, Rot2, f64) -> Option<f64>,
    ) -> (f64, f64) {
        let (pose, rot) = (self.bodies.pose[slot], self.bodies.rot[slot]);
        let tip = pose.at + rot.apply(cone.mount.at);
        let world_from_cone = rot.then(cone.turned);
        let (mut best, mut kind) = (cone.reach, 0.0);
        let middle = tip + world_from_cone.apply(Vec2::new(cone.circle.0, 0.0));
        let span = |far: f64| Vec2::new(far, far);
        let far = cone.circle.1 + REACH_SLACK_M;
        let (low, high) = (middle - span(far), middle + span(far));
        self.fixed.for_each_in(low, high, |_, edge| {
            let local = |p: Vec2| world_from_cone.unapply(p - tip);
            let (a, b) = (local(edge.a), local(edge.b));
            if cone.sees(edge.heights)
                && let Some(exact) = cone.to_line(a, b).filter(|exact| *exact <= best)
                && let Some(distance) = to_line(a, b, exact)
            {
                keep(distance, edge.kind, &mut best, &mut kind);
            }
        });
        let margin = span(self.grid.max_reach());
        self.grid.for_each_in(low - margin, high + margin, |entry| {
            let other = entry.slot as usize;
            let far = far + entry.reach;
            if self.is_own(slot, other)
                || (entry.at - middle).norm2() > far * far
                || !cone.sees(self.bodies.heights_of(other))
            {
                return;
            }
            let outline = &self.outlines[self.bodies.outline[other] as usize];
            let at = world_from_cone.unapply(entry.at - tip);
            let back = Rot2 { c: world_from_cone.c, s: -world_from_cone.s };
            let turned = back.then(self.bodies.rot[other]);
            if let Some(exact) = cone.to_outline(outline, at, turned).filter(|exact| *exact <= best)
                && let Some(distance) = to_outline(outline, at, turned, exact)
            {
                keep(distance, self.bodies.kind[other], &mut best, &mut kind);
            }
        });
        (best, kind)
    }

    /// Distance along the middle of a cone, as one ray would measure it, and the kind of what it met.
    #[must_use]
    pub fn middle_of_cone(&self, cone: &Cone, slot: usize) -> (f64, f64) {
        let (mut distance, mut kind) = ([0.0], [0.0]);
        self.cast_fan(&cone.middle, slot, &mut distance, &mut kind);
        (distance[0], kind[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cone(opening_deg: f64) -> Cone {
        Cone::new(Pose2::default(), 0.1, opening_deg.to_radians(), 10.0)
    }

    /// A long wall at a perpendicular distance of 2 m, seen at an angle of incidence.
    fn wall(incidence_deg: f64) -> (Vec2, Vec2) {
        let normal = Vec2::at_angle(incidence_deg.to_radians());
        (normal * 2.0 + normal.perp() * 50.0, normal * 2.0 - normal.perp() * 50.0)
    }

    #[test]
    fn a_wall_is_as_far_as_its_foot_while_that_is_in_the_cone_and_then_as_the_nearer_edge() {
        for (incidence, expected) in [
            (0.0, 2.0),
            (5.0, 2.0),
            (7.5, 2.0),
            (10.0, 2.001_905),
            (15.0, 2.017_258),
            (20.0, 2.048_559),
            (30.0, 2.164_784),
            (-30.0, 2.164_784),
        ] {
            let (a, b) = wall(incidence);
            let found = cone(15.0).to_line(a, b).unwrap();
            assert!((found - expected).abs() < 1e-6, "{incidence}: {found}");
        }
    }

    #[test]
    fn a_corner_that_points_here_is_as_far_as_its_point_whatever_the_heading() {
        let bearing_deg = Vec2::new(3.0, 1.0).angle().to_degrees();
        for off_deg in [-7.4, -2.0, 0.0, 3.0, 7.4] {
            let rot = Rot2::new((bearing_deg + off_deg).to_radians());
            let [up, corner, right] =
                [(3.0, 9.0), (3.0, 1.0), (9.0, 1.0)].map(|p| rot.unapply(Vec2::new(p.0, p.1)));
            // The wall along x lies behind the corner; the one along y goes on towards us at an angle.
            let found = cone(15.0).to_line(corner, right).unwrap();
            assert!((found - 10.0_f64.sqrt()).abs() < 1e-9, "{off_deg}: {found}");
            assert!(cone(15.0).to_line(up, corner).is_none_or(|d| d >= 10.0_f64.sqrt() - 1e-9));
        }
    }

    #[test]
    fn nothing_behind_or_beside_the_cone_is_seen() {
        let (a, b) = (Vec2::new(-2.0, -5.0), Vec2::new(-2.0, 5.0));
        assert_eq!(cone(15.0).to_line(a, b), None);
        assert_eq!(cone(15.0).to_disc(&Outline::disc(0.2), Vec2::new(1.0, 1.0)), None);
        assert_eq!(cone(180.0).to_line(a, b), None);
        assert_eq!(cone(180.0).to_line(-a, -b), Some(2.0));
    }
}
