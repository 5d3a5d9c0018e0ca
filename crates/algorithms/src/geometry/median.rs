//! The geometric median, or Weber point: where the sum of distances from given places is least.
//!
//! In: places, each with how many are there. Out: the point, as near as rounding allows; a place among them is
//! given back as it is. Places on a line have the median of their order, and the middle of the two medians when it is
//! not unique; all others have exactly one.
//!
//! There is no closed form for five places or more. A place is the median when the others do not pull at it more than
//! it weighs (Vardi and Zhang 2000); else Weiszfeld's steps come near it, and Newton's finish.

use super::width;
use swarmyard_base::{Vec2, math};

/// Pulls that differ by no more than this share of all weights are equal.
const TIE: f64 = 1e-12;
/// Places whose width is no more than this share of their length are on a line.
const FLAT: f64 = 1e-12;

/// The point whose sum of distances from all places, each as often as its number says, is least.
#[must_use]
pub fn geometric_median(places: &[(Vec2, u32)]) -> Vec2 {
    let towers: Vec<(Vec2, f64)> = places.iter().map(|(p, n)| (*p, f64::from(*n))).collect();
    let tie = TIE * towers.iter().map(|t| t.1).sum::<f64>();
    // By how much the others pull at a place more than it weighs.
    let excess = |p: Vec2| {
        let sum = Sum::at(&towers, p);
        sum.pull.norm() - sum.here
    };
    let calm = towers.iter().map(|t| (excess(t.0), t.0)).min_by(|a, b| a.0.total_cmp(&b.0));
    let Some((least, place)) = calm else { return Vec2::ZERO };
    if least < -tie {
        return place;
    }
    if let Some(along) = line(&towers) {
        return middle(&towers, along);
    }
    if least <= tie {
        return place;
    }
    descend(&towers)
}

/// The sum of distances about a point.
#[derive(Clone, Copy, Debug)]
struct Sum {
    /// The sum of distances.
    far: f64,
    /// Minus its gradient: the sum of unit vectors towards all places elsewhere.
    pull: Vec2,
    /// The sum of inverse distances.
    near: f64,
    /// Second derivatives: xx, xy, yy.
    bend: [f64; 3],
    /// The weight of places at the very point, which have no derivative.
    here: f64,
}

impl Sum {
    fn at(towers: &[(Vec2, f64)], x: Vec2) -> Sum {
        let mut sum = Sum { far: 0.0, pull: Vec2::ZERO, near: 0.0, bend: [0.0; 3], here: 0.0 };
        for (p, weight) in towers {
            let to = *p - x;
            let d = to.norm();
            if d == 0.0 {
                sum.here += weight;
                continue;
            }
            let (u, w) = (to * (1.0 / d), weight / d);
            sum.far += weight * d;
            sum.pull = sum.pull + u * *weight;
            sum.near += w;
            sum.bend =
                [sum.bend[0] + w * u.y * u.y, sum.bend[1] - w * u.x * u.y, sum.bend[2] + w * u.x * u.x];
        }
        sum
    }

    /// Weiszfeld's step, at a place with the allowance of Vardi and Zhang: the sum falls.
    fn weiszfeld(&self) -> Vec2 {
        let pull = self.pull.norm();
        if pull <= self.here { Vec2::ZERO } else { self.pull * ((1.0 - self.here / pull) / self.near) }
    }

    /// The step after which this pull would be gone, by second derivatives; Newton's, when it is the pull here.
    fn newton(&self, pull: Vec2) -> Option<Vec2> {
        let [xx, xy, yy] = self.bend;
        let det = xx * yy - xy * xy;
        let step = Vec2::new(yy * pull.x - xy * pull.y, xx * pull.y - xy * pull.x) * (1.0 / det);
        Some(step).filter(|s| det > 0.0 && s.is_finite())
    }
}

/// The median of places that are not on a line, when it is none of them.
fn descend(towers: &[(Vec2, f64)]) -> Vec2 {
    let sum = |x: Vec2| Sum::at(towers, x);
    // From the best place: all later sums are less, so no place is ever met again.
    let best = towers.iter().map(|t| (sum(t.0).far, t.0)).min_by(|a, b| a.0.total_cmp(&b.0));
    let mut x = best.map_or(Vec2::ZERO, |b| b.1);
    for _ in 0..20 {
        x = x + sum(x).weiszfeld();
    }
    let mut now = sum(x);
    let extent = towers.iter().map(|t| (t.0 - x).norm()).fold(0.0, math::max);
    for _ in 0..500 {
        let step = now.newton(now.pull).unwrap_or(Vec2::ZERO);
        let length = step.norm();
        // The step left over counts, not the pull: next to a place that is a thousand times stronger across than along.
        let better = |y: Vec2| {
            let there = sum(y);
            let falls = there.far <= now.far * (1.0 + 1e-14) && there.here == 0.0;
            let left = now.newton(there.pull).map_or(f64::INFINITY, Vec2::norm);
            (falls && left < length).then_some((y, there))
        };
        let mut shorter = (0..10).map(|k| x + step * (1.0 / f64::from(1 << k)));
        let slow = x + now.weiszfeld();
        match shorter.find_map(better).or_else(|| better(slow)) {
            Some(next) => (x, now) = next,
            None => {
                // Far away a step may bring the sum down and nothing else.
                let there = sum(slow);
                if there.far >= now.far * (1.0 - 1e-13) || there.here > 0.0 {
                    break;
                }
                (x, now) = (slow, there);
            }
        }
        if length <= f64::EPSILON * extent {
            break;
        }
    }
    x
}

/// The direction of the line on which all places are.
fn line(towers: &[(Vec2, f64)]) -> Option<Vec2> {
    let points: Vec<Vec2> = towers.iter().map(|t| t.0).collect();
    let first = *points.first()?;
    let off = points.iter().map(|p| *p - first).max_by(|a, b| a.norm2().total_cmp(&b.norm2()))?;
    (width(&points) <= FLAT * off.norm()).then_some(off)
}

/// The middle of all medians of places on a line.
fn middle(towers: &[(Vec2, f64)], along: Vec2) -> Vec2 {
    let mut order: Vec<(f64, Vec2, f64)> = towers.iter().map(|(p, w)| (p.dot(along), *p, *w)).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let half = 0.5 * order.iter().map(|o| o.2).sum::<f64>();
    let (low, high) = (half_way(order.iter(), half), half_way(order.iter().rev(), half));
    if low == high { low } else { (low + high) * 0.5 }
}

/// The first place that has half of all up to it.
fn half_way<'a>(order: impl Iterator<Item = &'a (f64, Vec2, f64)>, half: f64) -> Vec2 {
    let mut passed = 0.0;
    for (_, place, weight) in order {
        passed += weight;
        if passed >= half {
            return *place;
        }
    }
    Vec2::ZERO
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};
    use swarmyard_base::chance::{Draw, Purpose};
    use swarmyard_base::{Rot2, Time, Uid};

    /// x, y, how many.
    type Place = (f64, f64, u32);

    fn p(x: f64, y: f64) -> Vec2 {
        Vec2::new(x, y)
    }

    fn draw(seed: u64) -> Draw {
        Draw::at(seed, Uid(0), Purpose::Test, Time(0), 0)
    }

    fn cloud(n: u32, seed: u64) -> Vec<Vec2> {
        let d = draw(seed);
        (0..n).map(|k| p(d.between(2 * k, -5.0, 5.0), d.between(2 * k + 1, -5.0, 5.0))).collect()
    }

    fn median(points: &[Vec2]) -> Vec2 {
        geometric_median(&points.iter().map(|q| (*q, 1)).collect::<Vec<_>>())
    }

    /// The angle at which two points are seen.
    fn angle(at: Vec2, a: Vec2, b: Vec2) -> f64 {
        let (a, b) = (a - at, b - at);
        math::atan2(a.cross(b).abs(), a.dot(b))
    }

    #[test]
    fn the_median_of_a_triangle_sees_all_sides_at_120_degrees_or_is_the_corner_that_is_wider() {
        let (mut inside, mut corners) = (0, 0);
        for seed in 0..2000 {
            let t = cloud(3, seed);
            let m = median(&t);
            let wide = (0..3).find(|k| angle(t[*k], t[(k + 1) % 3], t[(k + 2) % 3]) >= TAU / 3.0);
            if let Some(k) = wide {
                assert_eq!(m, t[k], "seed {seed}");
                corners += 1;
                continue;
            }
            inside += 1;
            let sides = [(t[0], t[1]), (t[1], t[2]), (t[2], t[0])];
            // Simpson: the sum of distances of Fermat's point from sides and area.
            let squares: f64 = sides.iter().map(|(a, b)| (*a - *b).norm2()).sum();
            let twice_area = (t[1] - t[0]).cross(t[2] - t[0]).abs();
            let least = (0.5 * squares + 3_f64.sqrt() * twice_area).sqrt();
            let sum: f64 = t.iter().map(|q| (*q - m).norm()).sum();
            assert!((sum - least).abs() < 1e-12 * least, "seed {seed}: {sum} and {least}");
            let nearest = t.iter().map(|q| (*q - m).norm()).fold(f64::INFINITY, math::min);
            for (a, b) in sides {
                let off = (angle(m, a, b) - TAU / 3.0).abs();
                assert!(off * nearest < 1e-11, "seed {seed}: {off} at {nearest}");
            }
        }
        println!("medians of triangles: {inside} Fermat points, {corners} corners");
        assert!(inside > 500 && corners > 500);
    }

    #[test]
    fn the_median_of_four_points_is_the_crossing_of_diagonals_or_the_point_among_the_others() {
        let mut count = [0, 0];
        for seed in 0..1000 {
            let q = cloud(4, 5000 + seed);
            let m = median(&q);
            let hull = crate::geometry::convex_hull(&q);
            if let [a, b, c, d] = hull[..] {
                let t = (b - a).cross(d - b) / (c - a).cross(d - b);
                assert!((m - (a + (c - a) * t)).norm() < 1e-11, "seed {seed}");
                count[0] += 1;
            } else {
                let inner = q.iter().find(|x| !hull.contains(x)).expect("one is not on the hull");
                assert_eq!(m, *inner, "seed {seed}");
                count[1] += 1;
            }
        }
        println!("medians of four: {count:?}");
        assert!(count.iter().all(|c| *c > 100));
    }

    #[test]
    fn the_median_of_a_regular_polygon_is_its_centre() {
        for n in 3..40 {
            let centre = p(3.0, -7.0);
            let corner = |k: i32| centre + Vec2::at_angle(0.3 + TAU * f64::from(k) / f64::from(n)) * 2.0;
            let ring: Vec<Vec2> = (0..n).map(corner).collect();
            assert!((median(&ring) - centre).norm() < 1e-13, "n = {n}");
        }
    }

    #[test]
    fn medians_agree_with_those_of_a_library_of_many_digits() {
        // By mpmath, with 40 digits; the third is 3 + √3 twice.
        let cases: [(&[Place], (f64, f64)); 5] = [
            (
                &[(0.0, 0.0, 1), (4.0, 0.0, 1), (5.0, 3.0, 1), (2.0, 6.0, 1), (-1.0, 2.0, 1)],
                (1.901_444_578_451_820_4, 1.890_656_870_524_013_2),
            ),
            (
                &[
                    (0.0, 0.0, 1),
                    (10.0, 1.0, 1),
                    (3.0, 8.0, 1),
                    (7.0, -2.0, 1),
                    (-4.0, 5.0, 1),
                    (6.0, 6.0, 1),
                    (2.0, -6.0, 1),
                ],
                (3.664_330_591_932_059, 1.729_645_915_380_931),
            ),
            (
                &[(0.0, 0.0, 2), (6.0, 0.0, 1), (0.0, 6.0, 1), (5.0, 5.0, 3)],
                (4.732_050_807_568_878, 4.732_050_807_568_878),
            ),
            (
                &[(0.0, 0.0, 2), (6.0, 0.0, 2), (0.0, 6.0, 1), (9.0, 5.0, 3)],
                (5.547_541_886_714_055, 1.906_213_326_257_770_3),
            ),
            (
                &[
                    (0.0, 0.0, 1),
                    (100.0, 1.0, 1),
                    (40.0, -1.0, 1),
                    (60.0, 2.0, 1),
                    (30.0, 1.0, 1),
                    (70.0, -3.0, 1),
                ],
                (44.461_527_979_247_41, -0.285_978_109_901_467_16),
            ),
        ];
        for (k, (places, (x, y))) in cases.iter().enumerate() {
            let places: Vec<(Vec2, u32)> = places.iter().map(|(x, y, n)| (p(*x, *y), *n)).collect();
            let off = (geometric_median(&places) - p(*x, *y)).norm();
            println!("median {k}: off by {off:.1e}");
            assert!(off < if k == 4 { 1e-11 } else { 1e-14 }, "case {k}: {off}");
        }
    }

    #[test]
    fn points_on_a_line_have_the_median_of_their_order_or_the_middle_of_two() {
        for turn in [0.0, 0.7, 2.0, PI] {
            let line = |xs: &[f64]| -> Vec<Vec2> {
                xs.iter().map(|x| p(2.0, 1.0) + Rot2::new(turn).apply(p(*x, 0.0))).collect()
            };
            for (xs, expected) in [
                (&[4.0][..], 4.0),
                (&[4.0, 1.0], 2.5),
                (&[0.0, 1.0, 9.0], 1.0),
                (&[0.0, 1.0, 3.0, 9.0], 2.0),
                (&[0.0, 3.0, 3.0, 9.0], 3.0),
                (&[5.0, 5.0, 5.0], 5.0),
                (&[7.0, 0.1, 0.2, 0.3, 8.0], 0.3),
                (&[0.0, 0.0, 1.0, 1.0], 0.5),
            ] {
                let off = (median(&line(xs)) - line(&[expected])[0]).norm();
                assert!(off < 1e-14, "{xs:?} at {turn}: {off}");
            }
        }
        assert_eq!(geometric_median(&[]), Vec2::ZERO);
    }

    #[test]
    fn nothing_pulls_at_a_median_and_it_is_the_same_in_every_frame() {
        let (mut worst, mut apart) = (0.0, 0.0);
        for seed in 0..600 {
            let n = 3 + (seed % 30) as u32;
            let points = cloud(n, 9000 + seed);
            let m = median(&points);
            let towers: Vec<(Vec2, f64)> = points.iter().map(|q| (*q, 1.0)).collect();
            let sum = Sum::at(&towers, m);
            worst = math::max(worst, sum.pull.norm() - sum.here);
            let d = draw(seed);
            let (rot, scale) =
                (Rot2::new(d.between(100, 0.0, TAU)), math::pow(4.0, d.between(101, -1.0, 1.0)));
            let moved: Vec<Vec2> = points.iter().map(|q| rot.apply(*q - points[0]) * scale).collect();
            let back = points[0] + rot.unapply(median(&moved) * (1.0 / scale));
            apart = math::max(apart, (back - m).norm());
        }
        println!("pull at medians up to {worst:.1e}, between frames {apart:.1e}");
        assert!(worst < 1e-12 && apart < 1e-11);
    }
}
