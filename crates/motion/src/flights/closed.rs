//! Closed forms: when a disc on a straight line meets another, or an edge.
//!
//! In: positions and velocities at a common moment. Out: seconds until they touch, without any skin.
//! Swapping the two discs changes no bit: every product is the same, every difference only turns its sign.

use swarmyard_base::Vec2;
use swarmyard_base::math;

/// Square of the share of its speed with which a disc in touch may close and still move along: the root
/// of it is the sine of the angle. Deeper than half of this times the radii nobody can come that way, and
/// that is less than rounding.
pub(super) const ALONG2: f64 = 1e-16;

/// What the answer of [`discs`] is made of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Approach {
    b: f64,
    c: f64,
    under_root: f64,
}

impl Approach {
    pub(super) const NONE: Approach = Approach { b: 0.0, c: 0.0, under_root: 0.0 };

    #[inline(always)]
    pub(super) fn of(r: Vec2, v: Vec2, s: f64) -> Approach {
        let (b, a, c) = (r.dot(v), v.dot(v), r.dot(r) - s * s);
        Approach { b, c, under_root: b * b - a * c }
    }

    /// Whether [`discs`] can have an answer, without a branch.
    #[inline(always)]
    pub(super) fn may_touch(&self) -> bool {
        (self.b < 0.0) & (self.under_root >= 0.0)
    }

    /// The answer of [`discs`], to the bit, for two that may touch and are far enough apart not to be in touch already; their
    /// distance is at least `s` (1 + 1e-9) or so then.
    #[inline(always)]
    pub(super) fn seconds_from_afar(&self, s: f64) -> Option<f64> {
        (self.c > 2e-9 * (s * s)).then(|| self.c / (self.under_root.sqrt() - self.b))
    }
}

/// Seconds until |r + v t| = s, for bodies that come nearer.
///
/// Those that touch or overlap and come nearer meet at once; those that touch and move along or away do not.
#[inline(always)]
pub(super) fn discs(r: Vec2, v: Vec2, s: f64) -> Option<f64> {
    let (b, a, r2) = (r.dot(v), v.dot(v), r.dot(r));
    let c = r2 - s * s;
    let under_root = b * b - a * c;
    // What is not a number never meets.
    if b < 0.0 && under_root >= 0.0 { touch(a, b, c, r2, under_root) } else { None }
}

/// The rest of [`discs`], for the few pairs that get here.
#[inline(always)]
fn touch(a: f64, b: f64, c: f64, r2: f64, under_root: f64) -> Option<f64> {
    if c <= ALONG2 * r2 && b * b <= ALONG2 * (a * r2) {
        return None;
    }
    Some(if c <= 0.0 { 0.0 } else { c / (under_root.sqrt() - b) })
}

/// The point of the line from `a` to `b` that is nearest to `p`.
pub(super) fn nearest(a: Vec2, b: Vec2, p: Vec2) -> Vec2 {
    let along = b - a;
    let length2 = along.norm2();
    if length2 <= 0.0 {
        return a;
    }
    let share = (p - a).dot(along) / length2;
    if share <= 0.0 {
        a
    } else if share >= 1.0 {
        b
    } else {
        a + along * share
    }
}

/// Seconds until a disc of radius `radius` at `p`, moving at `v`, touches the line from `a` to `b`.
pub(super) fn edge(p: Vec2, v: Vec2, radius: f64, (a, b): (Vec2, Vec2)) -> Option<f64> {
    let away = p - nearest(a, b, p);
    let distance2 = away.norm2();
    if distance2 <= radius * radius * (1.0 + ALONG2) {
        // In touch. The distance from a line is a convex function of time: who does not close now never will.
        let closing = -away.dot(v);
        let closes = closing > 0.0 && closing * closing > ALONG2 * (distance2 * v.norm2());
        return closes.then_some(0.0);
    }
    let mut first = f64::INFINITY;
    let along = b - a;
    let length = along.norm();
    if length > 0.0 {
        let across = along.perp() * (1.0 / length);
        let off = across.dot(p - a);
        let (off, speed) = if off < 0.0 { (-off, across.dot(v)) } else { (off, -across.dot(v)) };
        if speed > 0.0 && off >= radius {
            let t = (off - radius) / speed;
            let foot = (p + v * t - a).dot(along);
            if foot >= 0.0 && foot <= length * length {
                first = t;
            }
        }
    }
    for end in [a, b] {
        if let Some(t) = discs(p - end, v, radius) {
            first = math::min(first, t);
        }
    }
    (first < f64::INFINITY).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disc_meets_the_face_the_ends_or_nothing() {
        let wall = (Vec2::new(0.0, -1.0), Vec2::new(0.0, 1.0));
        let v = Vec2::new(2.0, 0.0);
        let at = |y: f64| edge(Vec2::new(-3.0, y), v, 0.5, wall);
        assert_eq!(at(0.0), Some(1.25));
        // Past the end by 0.3: the corner is met at √(0.25 − 0.09) = 0.4 before it.
        assert!((at(1.3).unwrap() - 1.3).abs() < 1e-15);
        assert_eq!(at(1.6), None);
        assert_eq!(edge(Vec2::new(-3.0, 0.0), -v, 0.5, wall), None);
    }

    /// A disc that touches a wall may slide along it or leave; it meets the wall at once when it goes into it.
    #[test]
    fn a_disc_in_touch_with_a_wall_slides_leaves_or_meets_at_once() {
        let wall = (Vec2::new(-5.0, 0.0), Vec2::new(5.0, 0.0));
        for (y, note) in [(0.5, "touching"), (0.3, "inside"), (0.5 - 1e-16, "by rounding")] {
            let p = Vec2::new(0.0, y);
            assert_eq!(edge(p, Vec2::new(1.0, 0.0), 0.5, wall), None, "{note}");
            assert_eq!(edge(p, Vec2::new(1.0, 1e-3), 0.5, wall), None, "{note}");
            assert_eq!(edge(p, Vec2::new(1.0, -1e-17), 0.5, wall), None, "{note}");
            assert_eq!(edge(p, Vec2::new(1.0, -1e-3), 0.5, wall), Some(0.0), "{note}");
        }
    }
}
