//! Rays against the committed world.
//!
//! Two ways to find candidates, one exact test. A *fan* of many rays is cast neighbour-major: one
//! sweep of the grid around the robot, a bearing interval per neighbour, and only the rays in that
//! interval are tested. *Few long rays* walk the grid piece by piece. The exact test is the same, the
//! nearest hit wins and ties go to the lower kind, so both ways give the same bits.

use crate::{BodyKind, FixedEdge, World};
use std::f64::consts::PI;
use swarmyard_base::{Pose2, Rot2, Vec2, math};

/// From this many rays on, a fan is cast neighbour-major.
pub const SWEEP_FROM: usize = 4;

/// How far the quick bearing may be off, in radians; the true error is below 2e-4.
const BEARING_SLACK: f64 = 1e-3;

/// Slack of every test that passes over something as too far, so that rounding decides no hit at
/// exactly the reach: the exact test does.
pub(crate) const REACH_SLACK_M: f64 = 1e-9;

/// An observer this near to a line stands on it: bearings of its ends say nothing then.
const ON_THE_LINE_M: f64 = 1e-6;

/// Evenly spaced rays from one point, fixed on a body.
#[derive(Clone, Debug, PartialEq)]
pub struct Fan {
    /// Where the rays start from, in the body's frame; its heading is the middle of the fan.
    mount: Pose2,
    /// Height above the floor.
    height: f64,
    /// Greatest distance from the mount that counts.
    reach: f64,
    /// Directions in the body's frame.
    directions: Vec<Vec2>,
    /// Bearing of ray 0 and step between rays, in the body's frame.
    first: f64,
    step: f64,
    /// The same bearing of ray 0 in (−π, π], one over the step, and how far the last ray goes beyond
    /// a full turn from there (negative when it does not).
    turned: f64,
    inverse_step: f64,
    last_beyond: f64,
}

impl Fan {
    /// `count` rays spread over `spread_rad` around the mount's heading. A full turn is divided
    /// evenly (ray 0 in the middle); less than a turn has a ray at each end.
    #[must_use]
    pub fn new(mount: Pose2, height_m: f64, count: usize, spread_rad: f64, reach_m: f64) -> Fan {
        let full = spread_rad >= 2.0 * PI - 1e-9;
        let (first, step) = match count {
            0 | 1 => (mount.heading, 2.0 * PI),
            n if full => (mount.heading, 2.0 * PI / n as f64),
            n => (mount.heading - spread_rad / 2.0, spread_rad / (n - 1) as f64),
        };
        let directions = (0..count).map(|k| Vec2::at_angle(first + k as f64 * step)).collect();
        Fan {
            mount,
            height: height_m,
            reach: reach_m,
            directions,
            first,
            step,
            turned: math::wrap_angle(first),
            inverse_step: 1.0 / step,
            last_beyond: step * (count as f64 - 1.0) - 2.0 * PI,
        }
    }

    /// Number of rays.
    #[must_use]
    pub fn len(&self) -> usize {
        self.directions.len()
    }

    /// Whether there are no rays.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.directions.is_empty()
    }

    /// Direction of each ray in the body's frame.
    #[must_use]
    pub fn directions(&self) -> &[Vec2] {
        &self.directions
    }

    /// Where the rays start from, in the body's frame.
    #[must_use]
    pub fn mount(&self) -> Vec2 {
        self.mount.at
    }

    /// Greatest distance from the mount that counts.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Bearing of ray 0 and the step between rays, in the body's frame.
    #[must_use]
    pub fn bearings(&self) -> (f64, f64) {
        (self.first, self.step)
    }

    /// Calls `test` for every ray whose bearing may lie within `half` of `bearing` (and perhaps for
    /// one at its rim). `bearing` lies within a turn and a half of zero.
    #[inline]
    fn rays_near(&self, bearing: f64, half: f64, mut test: impl FnMut(usize)) {
        let mut from_first = bearing - self.turned;
        if from_first < 0.0 {
            from_first += 2.0 * PI;
        }
        if from_first < 0.0 {
            from_first += 2.0 * PI;
        }
        if from_first >= 2.0 * PI {
            from_first -= 2.0 * PI;
        }
        let mut runs = [self.run(from_first, half); 3];
        let mut count = 1;
        // The same neighbour seen from the other side of the turn.
        if from_first + half >= 2.0 * PI {
            runs[count] = self.run(from_first - 2.0 * PI, half);
            count += 1;
        }
        if from_first - half <= self.last_beyond {
            runs[count] = self.run(from_first + 2.0 * PI, half);
            count += 1;
        }
        for &(first, last) in &runs[..count] {
            for k in first..=last {
                test(k as usize);
            }
        }
    }

    /// First and last ray within `half` of an angle from ray 0.
    #[inline]
    fn run(&self, centre: f64, half: f64) -> (i32, i32) {
        let (low, high) = ((centre - half) * self.inverse_step, (centre + half) * self.inverse_step);
        (
            nearest_int(low + 0.499_999).max(0),
            nearest_int(high - 0.499_999).min(self.directions.len() as i32 - 1),
        )
    }
}

/// The whole number nearest to a small one, by letting the addition round it: the library's `ceil`
/// and `floor` are calls on plain x86-64, and its casts check for what cannot be here.
#[inline]
fn nearest_int(x: f64) -> i32 {
    const ROUNDER: f64 = 6_755_399_441_055_744.0; // 1.5 · 2⁵²
    (x + ROUNDER).to_bits() as i32
}

/// One observer's view while a fan is cast.
struct Eye<'a> {
    world: &'a World<'a>,
    fan: &'a Fan,
    slot: usize,
    rot: Rot2,
    origin: Vec2,
}

impl World<'_> {
    /// Casts a fan fixed on the body in `slot`. `distances` and `kinds` get one number per ray:
    /// the distance from the mount (the fan's reach when nothing is met) and the kind (0 for nothing).
    ///
    /// The body itself and what it carries are never met; a body or wall that does not reach the fan's height is not
    /// seen.
    pub fn cast_fan(&self, fan: &Fan, slot: usize, distances: &mut [f64], kinds: &mut [f64]) {
        if fan.len() >= SWEEP_FROM {
            self.cast_fan_by_sweep(fan, slot, distances, kinds);
        } else {
            self.cast_fan_by_walk(fan, slot, distances, kinds);
        }
    }

    /// Casts a fan by sweeping neighbours, whatever its number of rays (for tests of equality).
    pub fn cast_fan_by_sweep(&self, fan: &Fan, slot: usize, distances: &mut [f64], kinds: &mut [f64]) {
        distances.fill(fan.reach);
        kinds.fill(0.0);
        Eye::new(self, fan, slot).sweep(distances, kinds);
    }

    /// Casts a fan by walking each ray, whatever its number of rays (for tests of equality).
    pub fn cast_fan_by_walk(&self, fan: &Fan, slot: usize, distances: &mut [f64], kinds: &mut [f64]) {
        distances.fill(fan.reach);
        kinds.fill(0.0);
        Eye::new(self, fan, slot).walk(distances, kinds);
    }
}

impl<'a> Eye<'a> {
    fn new(world: &'a World<'a>, fan: &'a Fan, slot: usize) -> Eye<'a> {
        let (pose, rot) = (world.bodies.pose[slot], world.bodies.rot[slot]);
        Eye { world, fan, slot, rot, origin: pose.at + rot.apply(fan.mount.at) }
    }

    /// Neighbour-major: every neighbour tests the rays that may meet it.
    fn sweep(&self, distances: &mut [f64], kinds: &mut [f64]) {
        let far = self.fan.reach + self.world.grid.max_reach() + REACH_SLACK_M;
        let span = Vec2::new(far, far);
        self.world.grid.for_each_in(self.origin - span, self.origin + span, |entry| {
            let away = entry.at - self.origin;
            let far = self.fan.reach + entry.reach + REACH_SLACK_M;
            let distance2 = away.norm2();
            if distance2 > far * far || self.world.is_own(self.slot, entry.slot as usize) {
                return;
            }
            self.meet_body(entry.slot as usize, away, distance2, entry.reach, distances, kinds);
        });
        let far = self.fan.reach + REACH_SLACK_M;
        let span = Vec2::new(far, far);
        self.world.fixed.for_each_in(self.origin - span, self.origin + span, |_, edge| {
            self.meet_edge(edge, distances, kinds);
        });
    }

    #[inline]
    fn sees(&self, heights: (f64, f64)) -> bool {
        self.fan.height >= heights.0 && self.fan.height <= heights.1
    }

    #[inline]
    fn meet_body(
        &self,
        other: usize,
        away: Vec2,
        distance2: f64,
        reach: f64,
        distances: &mut [f64],
        kinds: &mut [f64],
    ) {
        let local = self.rot.unapply(away);
        let (bearing, inverse) = quick_polar(local);
        let half = if distance2 > reach * reach {
            // asin x ≤ x + (π/2 − 1) x³ on [0, 1].
            let x = math::min(reach * inverse, 1.0);
            x * (1.0 + 0.570_797 * x * x) + BEARING_SLACK
        } else {
            PI
        };
        self.fan.rays_near(bearing, half, |ray| {
            if let Some(d) = self.test_body(other, away, local, ray) {
                keep(d, self.world.bodies.kind[other], &mut distances[ray], &mut kinds[ray]);
            }
        });
    }

    /// The exact test of one ray against one body.
    #[inline]
    fn test_body(&self, other: usize, away: Vec2, local: Vec2, ray: usize) -> Option<f64> {
        if !self.sees(self.world.bodies.heights_of(other)) {
            return None;
        }
        let outline = &self.world.outlines[self.world.bodies.outline[other] as usize];
        let direction = self.fan.directions[ray];
        if outline.is_disc() {
            // A disc looks the same from every side: the observer's frame will do.
            return outline.ray(-local, direction);
        }
        let other_rot = self.world.bodies.rot[other];
        outline.ray(other_rot.unapply(-away), other_rot.unapply(self.rot.apply(direction)))
    }

    #[inline]
    fn meet_edge(&self, edge: &FixedEdge, distances: &mut [f64], kinds: &mut [f64]) {
        let (a, b) = (edge.a - self.origin, edge.b - self.origin);
        let nearest2 = nearest_of_line(a, b).norm2();
        let far = self.fan.reach + REACH_SLACK_M;
        if nearest2 > far * far || !self.sees(edge.heights) {
            return;
        }
        let (a, b) = (self.rot.unapply(a), self.rot.unapply(b));
        let (from, to) = (quick_polar(a).0, quick_polar(b).0);
        let mut turn = to - from;
        turn = math::wrap_angle(turn);
        let (middle, half) =
            if turn.abs() > PI - 4.0 * BEARING_SLACK || nearest2 < ON_THE_LINE_M * ON_THE_LINE_M {
                // The observer stands (almost) on the line or on its end: any ray may meet it.
                (from, PI)
            } else {
                (from + turn / 2.0, turn.abs() / 2.0 + BEARING_SLACK)
            };
        self.fan.rays_near(middle, half, |ray| {
            if let Some(d) = ray_line(a, b, self.fan.directions[ray]) {
                keep(d, edge.kind, &mut distances[ray], &mut kinds[ray]);
            }
        });
    }

    /// Ray by ray, piece by piece, until a hit is nearer than the next piece.
    fn walk(&self, distances: &mut [f64], kinds: &mut [f64]) {
        const PIECE_M: f64 = 4.0;
        let margin = self.world.grid.max_reach() + REACH_SLACK_M;
        for (ray, local_direction) in self.fan.directions.iter().enumerate() {
            let direction = self.rot.apply(*local_direction);
            let mut from = 0.0;
            while from < distances[ray] + margin && from < self.fan.reach + margin {
                let to = from + PIECE_M;
                let (p, q) = (self.origin + direction * from, self.origin + direction * to);
                let low = Vec2::new(math::min(p.x, q.x) - margin, math::min(p.y, q.y) - margin);
                let high = Vec2::new(math::max(p.x, q.x) + margin, math::max(p.y, q.y) + margin);
                self.world.grid.for_each_in(low, high, |entry| {
                    let away = entry.at - self.origin;
                    if direction.cross(away).abs() > entry.reach + REACH_SLACK_M
                        || self.world.is_own(self.slot, entry.slot as usize)
                    {
                        return;
                    }
                    let other = entry.slot as usize;
                    if let Some(d) = self.test_body(other, away, self.rot.unapply(away), ray) {
                        keep(d, self.world.bodies.kind[other], &mut distances[ray], &mut kinds[ray]);
                    }
                });
                self.world.fixed.for_each_in(low, high, |_, edge| {
                    let (a, b) = (edge.a - self.origin, edge.b - self.origin);
                    if !self.sees(edge.heights) {
                        return;
                    }
                    let (a, b) = (self.rot.unapply(a), self.rot.unapply(b));
                    if let Some(d) = ray_line(a, b, *local_direction) {
                        keep(d, edge.kind, &mut distances[ray], &mut kinds[ray]);
                    }
                });
                from = to;
            }
        }
    }
}

/// Keeps the nearer hit; of two at the same distance the lower kind.
#[inline]
pub(crate) fn keep(distance: f64, kind: BodyKind, best: &mut f64, best_kind: &mut f64) {
    let kind = f64::from(kind as u8);
    if distance < *best || (distance == *best && (*best_kind == 0.0 || kind < *best_kind)) {
        *best = distance;
        *best_kind = kind;
    }
}

/// Distance along a unit `direction` from the origin to the line from `a` to `b`, if it is met.
#[inline]
#[must_use]
pub(crate) fn ray_line(a: Vec2, b: Vec2, direction: Vec2) -> Option<f64> {
    let edge = b - a;
    let turn = direction.cross(edge);
    if turn == 0.0 {
        return None;
    }
    let share = a.cross(direction) / turn;
    // A hair of slack at the ends, so that no ray slips between two walls that share a corner.
    if !(-1e-12..=1.0 + 1e-12).contains(&share) {
        return None;
    }
    // Measured on the line itself: dividing by `turn` once more would give any number at all for a
    // ray that is parallel up to rounding.
    let along = a.dot(direction) + share * edge.dot(direction);
    (along >= 0.0).then_some(along)
}

/// The point of the line from `a` to `b` nearest to the origin.
#[inline]
#[must_use]
pub(crate) fn nearest_of_line(a: Vec2, b: Vec2) -> Vec2 {
    let d = b - a;
    let len2 = d.norm2();
    if len2 == 0.0 {
        return a;
    }
    a + d * (-a.dot(d) / len2).clamp(0.0, 1.0)
}

/// Bearing of a vector to within 2e-4 rad, and one over its length, at most 1 % too great: from one
/// division and polynomials.
///
/// They only choose which rays are worth the exact test; the slack covers the error.
#[inline]
fn quick_polar(v: Vec2) -> (f64, f64) {
    let (ax, ay) = (v.x.abs(), v.y.abs());
    let inverse = 1.0 / math::max(math::max(ax, ay), 1e-300);
    let r = math::min(ax, ay) * inverse;
    let q = r * r;
    let octant = ((-0.046_496_474_9 * q + 0.159_314_22) * q - 0.327_622_764) * q * r + r;
    // Which octant is a coin toss: arithmetic instead of branches that nobody can predict.
    let steep = f64::from(u8::from(ay > ax));
    let quadrant = steep * (PI / 2.0) + (1.0 - 2.0 * steep) * octant;
    let behind = f64::from(u8::from(v.x < 0.0));
    let half_plane = behind * PI + (1.0 - 2.0 * behind) * quadrant;
    // A parabola just above 1/√(1 + q) on [0, 1].
    (half_plane.copysign(v.y), inverse * ((0.148 * q - 0.44) * q + 1.004))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_bearing_keeps_its_promise() {
        for k in 0..100_000 {
            let angle = f64::from(k) * 2.0 * PI / 100_000.0 - PI;
            let v = Vec2::at_angle(angle) * (0.1 + f64::from(k % 7));
            let (bearing, inverse) = quick_polar(v);
            assert!((1.0..1.01).contains(&(inverse * v.norm())), "{angle}");
            let mut off = bearing - angle;
            off -= (off / (2.0 * PI)).round() * 2.0 * PI;
            assert!(off.abs() < 0.4 * BEARING_SLACK, "{angle}: {off}");
        }
    }

    #[test]
    fn bearing_intervals_find_every_ray_inside_and_on_the_seam() {
        for (count, spread) in
            [(1, 0.0), (4, 2.0 * PI), (12, 2.0 * PI), (180, PI), (5, 4.0), (720, 2.0 * PI), (2, 6.0)]
        {
            for heading in [0.0, 2.5, -3.1] {
                let fan = Fan::new(Pose2::new(0.0, 0.0, heading), 0.1, count, spread, 1.0);
                for k in 0..500 {
                    let (bearing, half) = (f64::from(k) * 0.0185 - 4.6, 0.001 + f64::from(k % 11) * 0.05);
                    let mut found = Vec::new();
                    fan.rays_near(bearing, half, |ray| found.push(ray));
                    let count_of = |ray| found.iter().filter(|&&r| r == ray).count();
                    for ray in 0..count {
                        let mut off = fan.first + ray as f64 * fan.step - bearing;
                        off -= (off / (2.0 * PI)).round() * 2.0 * PI;
                        if off.abs() < half - 1e-9 {
                            assert!(count_of(ray) >= 1, "{count} {spread} {heading} {k} {ray}");
                        }
                    }
                }
            }
        }
    }
}
