//! Distance between two convex hulls of few points.

use swarmyard_base::Vec2;
use swarmyard_base::math;

/// How far apart two hulls are, and in which direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Distance; negative when they overlap, and then the least push that separates them.
    pub distance: f64,
    /// Unit vector from the second hull to the first.
    pub normal: Vec2,
    /// Whose side the normal stands on.
    pub side: SideOf,
}

/// The hull whose side faces the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SideOf {
    /// A side of the first hull.
    First,
    /// A side of the second hull.
    Second,
    /// Neither: a corner faces a corner.
    Neither,
}

/// Separation of the hulls of `a` and `b` (each a point, a line, or a counter-clockwise polygon).
///
/// Brute force over sides and corners: outlines have a handful of corners, and this has neither
/// iterations nor tolerances to go wrong.
#[must_use]
pub fn separation(a: &[Vec2], b: &[Vec2]) -> Separation {
    let by_sides = best_axis(a, b);
    if let Some(axis) = by_sides
        && axis.distance <= 0.0
    {
        return axis;
    }
    let (mut best2, mut apart) = (f64::INFINITY, Vec2::ZERO);
    let mut consider = |from_b_to_a: Vec2| {
        let d2 = from_b_to_a.norm2();
        if d2 < best2 {
            (best2, apart) = (d2, from_b_to_a);
        }
    };
    for &p in a {
        for_each_side(b, |q, r| consider(p - nearest_on(q, r, p)));
    }
    for &p in b {
        for_each_side(a, |q, r| consider(nearest_on(q, r, p) - p));
    }
    let distance = best2.sqrt();
    if let Some(axis) = by_sides
        && distance - axis.distance <= 1e-12 * (1.0 + distance)
    {
        // A corner faces a side: the side's own normal is exact however near they are.
        return axis;
    }
    let normal = if distance > 0.0 { apart * (1.0 / distance) } else { Vec2::new(1.0, 0.0) };
    Separation { distance, normal, side: SideOf::Neither }
}

/// The nearest points of two hulls, on the first and on the second; of hulls that overlap, two of their rims.
#[must_use]
pub fn nearest_points(a: &[Vec2], b: &[Vec2]) -> (Vec2, Vec2) {
    let mut best = (f64::INFINITY, (Vec2::ZERO, Vec2::ZERO));
    let mut consider = |pair: (Vec2, Vec2)| {
        let d2 = (pair.0 - pair.1).norm2();
        if d2 < best.0 {
            best = (d2, pair);
        }
    };
    for &p in a {
        for_each_side(b, |q, r| consider((p, nearest_on(q, r, p))));
    }
    for &p in b {
        for_each_side(a, |q, r| consider((nearest_on(q, r, p), p)));
    }
    best.1
}

/// The side along whose normal the hulls are farthest apart.
fn best_axis(a: &[Vec2], b: &[Vec2]) -> Option<Separation> {
    let mut best: Option<Separation> = None;
    let mut take = |found: Separation| {
        if best.is_none_or(|now| found.distance > now.distance) {
            best = Some(found);
        }
    };
    for (hull, other, sign, side) in [(b, a, 1.0, SideOf::Second), (a, b, -1.0, SideOf::First)] {
        if hull.len() < 2 {
            continue;
        }
        for_each_side(hull, |q, r| {
            let edge = r - q;
            let outward = -edge.perp() * (1.0 / edge.norm());
            let offset = outward.dot(q);
            let gap = other.iter().map(|p| outward.dot(*p)).fold(f64::INFINITY, math::min) - offset;
            take(Separation { distance: gap, normal: outward * sign, side });
        });
    }
    best
}

/// Calls `f` with both ends of every side; a line has two sides, a point one of no length.
#[inline]
fn for_each_side(hull: &[Vec2], mut f: impl FnMut(Vec2, Vec2)) {
    let n = hull.len();
    for k in 0..n {
        f(hull[k], hull[if k + 1 == n { 0 } else { k + 1 }]);
    }
}

#[inline]
fn nearest_on(q: Vec2, r: Vec2, p: Vec2) -> Vec2 {
    let d = r - q;
    let len2 = d.norm2();
    if len2 == 0.0 { q } else { q + d * ((p - q).dot(d) / len2).clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(x: f64, y: f64) -> Vec2 {
        Vec2::new(x, y)
    }

    #[test]
    fn known_separations() {
        let square = [v(-1.0, -1.0), v(1.0, -1.0), v(1.0, 1.0), v(-1.0, 1.0)];
        let far = square.map(|p| p + v(5.0, 0.0));
        let s = separation(&far, &square);
        assert_eq!((s.distance, s.normal), (3.0, v(1.0, 0.0)));
        let corner = square.map(|p| p + v(5.0, 6.0));
        assert!((separation(&corner, &square).distance - 5.0).abs() < 1e-15);
        let deep = square.map(|p| p + v(1.5, 0.0));
        assert_eq!(separation(&deep, &square).distance, -0.5);
        assert_eq!(separation(&[v(0.0, 3.0)], &[v(0.0, 0.0)]).normal, v(0.0, 1.0));
        let wall = [v(-1.0, 0.0), v(1.0, 0.0)];
        let s = separation(&[v(0.5, -2.0)], &wall);
        assert_eq!((s.distance, s.normal, s.side), (2.0, v(0.0, -1.0), SideOf::Second));
        let s = separation(&wall, &[v(0.5, -2.0)]);
        assert_eq!((s.distance, s.normal, s.side), (2.0, v(0.0, 1.0), SideOf::First));
    }

    #[test]
    fn the_nearest_points_lie_as_far_apart_as_the_hulls() {
        let square = [v(-1.0, -1.0), v(1.0, -1.0), v(1.0, 1.0), v(-1.0, 1.0)];
        assert_eq!(nearest_points(&square, &[v(4.0, 0.5)]), (v(1.0, 0.5), v(4.0, 0.5)));
        for k in 0..50 {
            let off = Vec2::at_angle(f64::from(k)) * (3.0 + f64::from(k) * 0.1);
            let other = square.map(|p| p + off);
            let (p, q) = nearest_points(&square, &other);
            assert!(((p - q).norm() - separation(&square, &other).distance).abs() < 1e-12);
        }
    }

    #[test]
    fn swapping_the_hulls_turns_the_normal() {
        let square = [v(-1.0, -1.0), v(1.0, -1.0), v(1.0, 1.0), v(-1.0, 1.0)];
        for k in 0..50 {
            let off = Vec2::at_angle(f64::from(k)) * (1.0 + f64::from(k) * 0.1);
            let other = square.map(|p| p + off);
            let (s, t) = (separation(&other, &square), separation(&square, &other));
            assert!((s.distance - t.distance).abs() < 1e-12);
        }
    }
}
