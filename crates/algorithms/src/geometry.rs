//! Plane geometry that algorithms for robots need: the smallest enclosing circle, convex hulls, Voronoi cells,
//! the symmetry of a set of points and its geometric median.
//!
//! In: points. Out: exact up to rounding; what is compared is compared with a tolerance the caller gives.
//! Nothing here knows about robots.

mod median;

pub use median::geometric_median;

use std::f64::consts::TAU;
use swarmyard_base::hash::mix64;
use swarmyard_base::{Vec2, math};

/// A circle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Circle {
    /// Its centre.
    pub centre: Vec2,
    /// Its radius.
    pub radius: f64,
}

impl Circle {
    /// Whether a point is in it or on it, with an allowance.
    #[must_use]
    pub fn holds(&self, p: Vec2, allowance: f64) -> bool {
        (p - self.centre).norm() <= self.radius + allowance
    }

    /// Whether a point is on it, with an allowance.
    #[must_use]
    pub fn passes(&self, p: Vec2, allowance: f64) -> bool {
        ((p - self.centre).norm() - self.radius).abs() <= allowance
    }

    fn of_two(a: Vec2, b: Vec2) -> Circle {
        Circle { centre: (a + b) * 0.5, radius: (a - b).norm() * 0.5 }
    }

    /// Through three points; `None` when they are on a line.
    fn of_three(a: Vec2, b: Vec2, c: Vec2) -> Option<Circle> {
        let (u, v) = (b - a, c - a);
        let twice = 2.0 * u.cross(v);
        if twice.abs() <= 1e-14 * (u.norm2() + v.norm2()) {
            return None;
        }
        let (uu, vv) = (u.norm2(), v.norm2());
        let to = Vec2::new(v.y * uu - u.y * vv, u.x * vv - v.x * uu) * (1.0 / twice);
        Some(Circle { centre: a + to, radius: to.norm() })
    }
}

/// The smallest circle that encloses all points; of radius 0 about the origin when there are none.
///
/// Points are taken in a fixed scrambled order, so a sorted list does not make it slow.
#[must_use]
pub fn smallest_enclosing_circle(points: &[Vec2]) -> Circle {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&k| (mix64(k as u64), k));
    let p: Vec<Vec2> = order.into_iter().map(|k| points[k]).collect();
    let Some(&first) = p.first() else { return Circle { centre: Vec2::ZERO, radius: 0.0 } };
    let slack = 1e-12 * p.iter().map(|q| (*q - first).norm()).fold(0.0, math::max);
    let mut circle = Circle { centre: first, radius: 0.0 };
    for i in 1..p.len() {
        if circle.holds(p[i], slack) {
            continue;
        }
        circle = Circle { centre: p[i], radius: 0.0 };
        for j in 0..i {
            if circle.holds(p[j], slack) {
                continue;
            }
            circle = Circle::of_two(p[i], p[j]);
            for k in 0..j {
                if !circle.holds(p[k], slack) {
                    circle = Circle::of_three(p[i], p[j], p[k]).unwrap_or(circle);
                }
            }
        }
    }
    circle
}

/// The corners of the convex hull, counter-clockwise, without points on its edges.
#[must_use]
pub fn convex_hull(points: &[Vec2]) -> Vec<Vec2> {
    let mut p = points.to_vec();
    p.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    p.dedup();
    if p.len() < 3 {
        return p;
    }
    let mut hull: Vec<Vec2> = Vec::new();
    let mut half = |points: &mut dyn Iterator<Item = Vec2>| {
        let start = hull.len();
        for q in points {
            while hull.len() >= start + 2 {
                let (a, b) = (hull[hull.len() - 2], hull[hull.len() - 1]);
                if (b - a).cross(q - b) > 0.0 {
                    break;
                }
                hull.pop();
            }
            hull.push(q);
        }
        hull.pop();
    };
    half(&mut p.iter().copied());
    half(&mut p.iter().rev().copied());
    hull
}

/// The width of a set of points: the least distance of two parallel lines that have all of them between them. 0 when
/// they are on a line. It never grows when points move within their convex hull.
#[must_use]
pub fn width(points: &[Vec2]) -> f64 {
    let hull = convex_hull(points);
    if hull.len() < 3 {
        return 0.0;
    }
    let from_edge = |k: usize| {
        let (a, b) = (hull[k], hull[(k + 1) % hull.len()]);
        let far = hull.iter().map(|p| (b - a).cross(*p - a)).fold(0.0, math::max);
        far / (b - a).norm()
    };
    (0..hull.len()).map(from_edge).fold(f64::INFINITY, math::min)
}

/// Whether a point is in a convex polygon (counter-clockwise) or nearer to it than an allowance.
#[must_use]
pub fn in_convex(polygon: &[Vec2], p: Vec2, allowance: f64) -> bool {
    match polygon {
        [] => false,
        [a] => (p - *a).norm() <= allowance,
        [a, b] => {
            let ab = *b - *a;
            let t = ((p - *a).dot(ab) / ab.norm2()).clamp(0.0, 1.0);
            (p - (*a + ab * t)).norm() <= allowance
        }
        _ => (0..polygon.len()).all(|k| {
            let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
            (b - a).cross(p - a) >= -allowance * (b - a).norm()
        }),
    }
}

/// A rectangle as a polygon, counter-clockwise.
#[must_use]
pub fn rectangle(low: Vec2, high: Vec2) -> Vec<Vec2> {
    vec![low, Vec2::new(high.x, low.y), high, Vec2::new(low.x, high.y)]
}

/// What of a convex polygon is at least as near to `site` as to each of `others`: its Voronoi cell.
/// Others at the very place of the site cut nothing off.
#[must_use]
pub fn voronoi_cell(site: Vec2, others: &[Vec2], within: &[Vec2]) -> Vec<Vec2> {
    let mut cell = within.to_vec();
    for other in others {
        let to = *other - site;
        if to.norm2() > 0.0 {
            let middle = (site + *other) * 0.5;
            cell = clip(&cell, middle, to);
        }
        if cell.is_empty() {
            break;
        }
    }
    cell
}

/// What of a convex polygon is behind the line through `at` with this normal.
#[must_use]
pub fn clip(polygon: &[Vec2], at: Vec2, normal: Vec2) -> Vec<Vec2> {
    let mut kept = Vec::with_capacity(polygon.len() + 1);
    for k in 0..polygon.len() {
        let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
        let (da, db) = ((a - at).dot(normal), (b - at).dot(normal));
        if da <= 0.0 {
            kept.push(a);
        }
        if (da < 0.0 && db > 0.0) || (da > 0.0 && db < 0.0) {
            kept.push(a + (b - a) * (da / (da - db)));
        }
    }
    kept
}

/// Area, centroid, and second moment about `about` (the integral of the squared distance) of a polygon,
/// counter-clockwise. The centroid of a polygon without area is `about`.
#[must_use]
pub fn moments(polygon: &[Vec2], about: Vec2) -> (f64, Vec2, f64) {
    let (mut area, mut first, mut second) = (0.0, Vec2::ZERO, 0.0);
    for k in 0..polygon.len() {
        let (a, b) = (polygon[k] - about, polygon[(k + 1) % polygon.len()] - about);
        let cross = a.cross(b);
        area += 0.5 * cross;
        first = first + (a + b) * (cross / 6.0);
        second += cross * (a.norm2() + a.dot(b) + b.norm2()) / 12.0;
    }
    if area == 0.0 {
        return (0.0, about, 0.0);
    }
    (area, about + first * (1.0 / area), second)
}

/// Order of the rotations about the centre of the smallest enclosing circle that map the points (counted as
/// often as they occur) onto themselves. 0 when all of them are in one place: any rotation does.
#[must_use]
pub fn rotations(points: &[Vec2], allowance: f64) -> usize {
    let circle = smallest_enclosing_circle(points);
    let off: Vec<Vec2> = points.iter().map(|p| *p - circle.centre).collect();
    let around = off.iter().filter(|p| p.norm() > allowance).count();
    if around == 0 {
        return 0;
    }
    let maps = |order: usize| {
        let angle = TAU / order as f64;
        let (s, c) = math::sin_cos(angle);
        let mut free: Vec<Vec2> = off.clone();
        off.iter().all(|p| {
            let turned = Vec2::new(c * p.x - s * p.y, s * p.x + c * p.y);
            match free.iter().position(|q| (*q - turned).norm() <= allowance) {
                Some(k) => {
                    free.swap_remove(k);
                    true
                }
                None => false,
            }
        })
    };
    (1..=around).rev().filter(|k| around.is_multiple_of(*k)).find(|k| maps(*k)).unwrap_or(1)
}

/// The symmetricity of Suzuki and Yamashita: [`rotations`], but 1 when a point is at the centre, for whoever
/// is there is unlike all others. Of points in one place it is their number.
#[must_use]
pub fn symmetricity(points: &[Vec2], allowance: f64) -> usize {
    let centre = smallest_enclosing_circle(points).centre;
    match rotations(points, allowance) {
        0 => points.len(),
        _ if points.iter().any(|p| (*p - centre).norm() <= allowance) => 1,
        order => order,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Time, Uid};

    fn cloud(n: u32, seed: u64) -> Vec<Vec2> {
        let d = Draw::at(seed, Uid(0), Purpose::Test, Time(0), 0);
        (0..n).map(|k| Vec2::new(d.between(2 * k, -5.0, 5.0), d.between(2 * k + 1, -5.0, 5.0))).collect()
    }

    /// Every circle through two or three points that holds all, the smallest of them.
    fn enclosing_by_force(p: &[Vec2]) -> f64 {
        let mut best = f64::INFINITY;
        let mut try_it = |c: Circle| {
            if c.radius < best && p.iter().all(|q| c.holds(*q, 1e-9)) {
                best = c.radius;
            }
        };
        for i in 0..p.len() {
            for j in 0..i {
                try_it(Circle::of_two(p[i], p[j]));
                (0..j).filter_map(|k| Circle::of_three(p[i], p[j], p[k])).for_each(&mut try_it);
            }
        }
        best
    }

    #[test]
    fn the_enclosing_circle_is_the_smallest_of_all_candidates() {
        for seed in 0..60 {
            let p = cloud(3 + (seed % 12) as u32, seed);
            let circle = smallest_enclosing_circle(&p);
            assert!(p.iter().all(|q| circle.holds(*q, 1e-9)));
            assert!((circle.radius - enclosing_by_force(&p)).abs() < 1e-9, "seed {seed}");
        }
        let line: Vec<Vec2> = (0..9).map(|k| Vec2::new(f64::from(k), 2.0 * f64::from(k))).collect();
        assert!((smallest_enclosing_circle(&line).radius - 4.0 * 5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn a_point_is_a_corner_of_the_hull_iff_it_is_in_no_triangle_of_others() {
        for seed in 0..30 {
            let p = cloud(10, 100 + seed);
            let hull = convex_hull(&p);
            for (i, q) in p.iter().enumerate() {
                let mut inside = false;
                for a in 0..p.len() {
                    for b in 0..a {
                        for c in 0..b {
                            let mut t = [p[a], p[b], p[c]];
                            if (t[1] - t[0]).cross(t[2] - t[0]) < 0.0 {
                                t.swap(1, 2);
                            }
                            inside |= a != i && b != i && c != i && in_convex(&t, *q, 0.0);
                        }
                    }
                }
                assert_eq!(hull.contains(q), !inside, "seed {seed}, point {i}");
            }
        }
    }

    #[test]
    fn the_width_is_the_least_extent_over_all_directions() {
        for seed in 0..20 {
            let p = cloud(9, 400 + seed);
            let extent = |k: u32| {
                let u = Vec2::at_angle(TAU * f64::from(k) / 40_000.0);
                let low = p.iter().map(|q| q.dot(u)).fold(f64::INFINITY, math::min);
                p.iter().map(|q| q.dot(u)).fold(f64::NEG_INFINITY, math::max) - low
            };
            let least = (0..20_000).map(extent).fold(f64::INFINITY, math::min);
            let exact = width(&p);
            assert!(exact <= least + 1e-12 && least - exact < 2e-3, "seed {seed}: {exact} and {least}");
        }
        let square = rectangle(Vec2::ZERO, Vec2::new(3.0, 2.0));
        assert!((width(&square) - 2.0).abs() < 1e-12);
        assert_eq!(width(&[Vec2::ZERO, Vec2::new(1.0, 1.0), Vec2::new(3.0, 3.0)]), 0.0);
    }

    #[test]
    fn cells_fill_the_rectangle_and_hold_what_is_nearest() {
        let (low, high) = (Vec2::new(-5.0, -5.0), Vec2::new(5.0, 5.0));
        for seed in 0..20 {
            let p = cloud(12, 200 + seed);
            let cells: Vec<Vec<Vec2>> = p
                .iter()
                .enumerate()
                .map(|(i, site)| {
                    let others: Vec<Vec2> =
                        p.iter().enumerate().filter(|(k, _)| *k != i).map(|(_, q)| *q).collect();
                    voronoi_cell(*site, &others, &rectangle(low, high))
                })
                .collect();
            let area: f64 = cells.iter().map(|c| moments(c, Vec2::ZERO).0).sum();
            assert!((area - 100.0).abs() < 1e-9, "{area}");
            for q in cloud(200, 300 + seed) {
                let nearest = (0..p.len())
                    .min_by(|a, b| (p[*a] - q).norm().total_cmp(&(p[*b] - q).norm()))
                    .expect("there are points");
                assert!(in_convex(&cells[nearest], q, 1e-9));
            }
        }
    }

    #[test]
    fn moments_of_a_rectangle_are_those_of_the_textbook() {
        let r = rectangle(Vec2::new(1.0, 2.0), Vec2::new(4.0, 3.0));
        let (area, centroid, second) = moments(&r, Vec2::new(2.5, 2.5));
        assert!((area - 3.0).abs() < 1e-12 && (centroid - Vec2::new(2.5, 2.5)).norm() < 1e-12);
        assert!((second - 3.0 * (9.0 + 1.0) / 12.0).abs() < 1e-12);
    }

    #[test]
    fn symmetricity_counts_rotations_and_a_robot_at_the_centre_breaks_it() {
        let ring = |n: u32, r: f64, turn: f64| -> Vec<Vec2> {
            (0..n).map(|k| Vec2::at_angle(turn + TAU * f64::from(k) / f64::from(n)) * r).collect()
        };
        for n in 2..9 {
            assert_eq!(symmetricity(&ring(n, 2.0, 0.3), 1e-9), n as usize);
        }
        let mut two_rings = ring(6, 2.0, 0.0);
        two_rings.extend(ring(4, 1.0, 0.2));
        assert_eq!(symmetricity(&two_rings, 1e-9), 2, "the greatest common divisor of 6 and 4");
        let mut centred = ring(5, 1.0, 0.0);
        centred.push(Vec2::ZERO);
        assert_eq!((rotations(&centred, 1e-9), symmetricity(&centred, 1e-9)), (5, 1));
        assert_eq!(symmetricity(&cloud(7, 1), 1e-9), 1);
        assert_eq!(symmetricity(&[Vec2::ZERO; 4], 1e-9), 4);
    }
}
