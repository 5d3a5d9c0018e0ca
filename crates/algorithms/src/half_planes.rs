//! The best point of a disc within half-planes, and the least bad one when no point is in all of them.
//!
//! In: half-planes, the radius of a disc about the origin, and a point that would be best. Out: a point of the disc.
//! What is asked for is one point only, so the order of half-planes changes no more than the last digits; only
//! where several points are equally little bad it decides between them.
//!
//! Half-planes are added one by one (Seidel; de Berg and others, chapter 4): as long as the best point so far is in
//! the next one, it stays the best; else the new one is on the border of that half-plane, and finding it is a matter
//! of one dimension.

use swarmyard_base::{Vec2, math};

/// All points v with normal · v ≥ level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HalfPlane {
    /// Unit vector across the border, inwards.
    pub normal: Vec2,
    /// Distance of the border from the origin along the normal; negative when the origin is inside.
    pub level: f64,
}

impl HalfPlane {
    /// How far a point is outside; negative when it is inside.
    #[must_use]
    pub fn lack(&self, v: Vec2) -> f64 {
        self.level - self.normal.dot(v)
    }
}

/// Sine of an angle below which two borders are parallel: where they cross is rounding.
const PARALLEL: f64 = 1e-10;

/// The point nearest to `wish` in the disc of that radius and in all half-planes; when there is none, the point of the
/// disc whose greatest [lack](HalfPlane::lack) is smallest.
#[must_use]
pub fn nearest(planes: &[HalfPlane], radius: f64, wish: Vec2) -> Vec2 {
    match best(planes, radius, Wish::Near(wish)) {
        Ok(v) => v,
        Err((missed, v)) => least_lack(planes, radius, missed, v),
    }
}

/// What makes a point better than another.
#[derive(Clone, Copy)]
enum Wish {
    /// To be near this point.
    Near(Vec2),
    /// To be far in this direction, a unit vector.
    Far(Vec2),
}

impl Wish {
    /// The best of the disc.
    fn in_disc(self, radius: f64) -> Vec2 {
        match self {
            Wish::Near(p) if p.norm() <= radius => p,
            Wish::Near(p) => p * (radius / p.norm()),
            Wish::Far(direction) => direction * radius,
        }
    }

    /// The best of the border of a half-plane within the disc and other half-planes; `None` when all of it is outside.
    fn on_border(self, plane: &HalfPlane, others: &[HalfPlane], radius: f64) -> Option<Vec2> {
        let (foot, along) = (plane.normal * plane.level, plane.normal.perp());
        let chord2 = radius * radius - plane.level * plane.level;
        if chord2 < 0.0 {
            return None;
        }
        let (mut low, mut high) = (-chord2.sqrt(), chord2.sqrt());
        for other in others {
            let (rate, lack) = (other.normal.dot(along), other.lack(foot));
            if rate.abs() <= PARALLEL {
                if lack > PARALLEL * radius {
                    return None;
                }
            } else if rate > 0.0 {
                low = math::max(low, lack / rate);
            } else {
                high = math::min(high, lack / rate);
            }
        }
        let wanted = match self {
            Wish::Near(p) => along.dot(p),
            // Along the border it makes no difference: the nearest to the origin.
            Wish::Far(direction) if along.dot(direction) == 0.0 => 0.0,
            Wish::Far(direction) => f64::INFINITY.copysign(along.dot(direction)),
        };
        (low <= high).then(|| foot + along * math::max(low, math::min(high, wanted)))
    }
}

/// The best point, or the first half-plane that leaves none and the best point without it.
fn best(planes: &[HalfPlane], radius: f64, wish: Wish) -> Result<Vec2, (usize, Vec2)> {
    let mut v = wish.in_disc(radius);
    for (k, plane) in planes.iter().enumerate() {
        if plane.lack(v) > 0.0 {
            v = wish.on_border(plane, &planes[..k], radius).ok_or((k, v))?;
        }
    }
    Ok(v)
}

/// The point of the disc whose greatest lack is smallest, from one that is in all half-planes before `missed`.
///
/// If the next half-plane lacks more than all before, then at the new point none lacks more than it: that again is
/// one half-plane for each, and far inside the next is better.
fn least_lack(planes: &[HalfPlane], radius: f64, missed: usize, from: Vec2) -> Vec2 {
    let (mut v, mut most) = (from, 0.0);
    for (k, plane) in planes.iter().enumerate().skip(missed) {
        if plane.lack(v) <= most {
            continue;
        }
        let less = |other: &HalfPlane| {
            let across = other.normal - plane.normal;
            let length = across.norm();
            let level = (other.level - plane.level) / length;
            (length > PARALLEL).then(|| HalfPlane { normal: across * (1.0 / length), level })
        };
        let rivals: Vec<HalfPlane> = planes[..k].iter().filter_map(less).collect();
        // There always is such a point; where rounding hides it, the last one is as good.
        v = best(&rivals, radius, Wish::Far(plane.normal)).unwrap_or(v);
        most = plane.lack(v);
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn plane(x: f64, level: f64) -> HalfPlane {
        HalfPlane { normal: Vec2::new(x, 0.0), level }
    }

    #[test]
    fn parallel_borders_leave_a_strip_or_its_middle_where_nothing_is_left() {
        let strip = [plane(1.0, 0.5), plane(-1.0, -1.2)];
        assert_eq!(nearest(&strip, 2.0, Vec2::new(0.0, 0.3)), Vec2::new(0.5, 0.3));
        assert_eq!(nearest(&strip, 2.0, Vec2::new(1.0, 0.3)), Vec2::new(1.0, 0.3));
        assert_eq!(nearest(&strip, 2.0, Vec2::new(3.0, 0.0)), Vec2::new(1.2, 0.0));
        let nothing = [plane(1.0, 1.0), plane(-1.0, 0.5)];
        assert_eq!(nearest(&nothing, 2.0, Vec2::new(0.0, 0.3)), Vec2::new(0.25, 0.0));
    }

    #[test]
    fn the_same_half_plane_twice_is_the_same_as_once() {
        let turned = |angle: f64| HalfPlane { normal: Vec2::at_angle(angle), level: 0.7 };
        for k in 0..100 {
            let angle = 0.1 + 0.06 * f64::from(k);
            let (wish, once) = (Vec2::new(-0.3, 0.2), turned(angle));
            let twice = [once, turned(angle + 1e-15), HalfPlane { level: 0.7 + 1e-15, ..once }];
            let off = nearest(&twice, 2.0, wish) - nearest(&[once], 2.0, wish);
            assert!(off.norm() < 1e-9, "{angle}: {off:?}");
        }
    }
}
