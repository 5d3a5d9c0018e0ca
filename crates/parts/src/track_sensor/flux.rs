//! The share of a patch of light that lies on tracks, by area: the fine level of the track sensor.
//!
//! In: the patch and the marks near it, in the sensor's frame. Out: the solid angle of the light that
//! falls on them. Planes across the view meet the floor in straight lines; on each of them the covered
//! stretches are exact, and so is the light between two points. What is left is one integral over the
//! planes, by Gauss and Kronrod, halved until it agrees with itself: the same bits for the same patch.

use super::Patch;
use std::f64::consts::PI;
use swarmyard_base::{Rot2, Vec2, math};
use swarmyard_part_api::TrackPiece;

/// Two rules that differ by less than this share of the whole light agree.
const AGREED: f64 = 1e-10;

/// Most halvings: by then a stretch is narrower than a ten-millionth of the view.
const MAX_HALVINGS: u32 = 24;

/// Marks in the sensor's frame, with buffers that are used again and again.
#[derive(Default)]
pub(super) struct Flux {
    marks: Vec<Mark>,
    points: Vec<Vec2>,
    covered: Vec<(f64, f64, f64)>,
    ends: Vec<f64>,
    breaks: Vec<f64>,
}

/// A band from one point to another, or an area; its points stand in [`Flux::points`].
struct Mark {
    points: std::ops::Range<usize>,
    /// Half the width of a band.
    half: Option<f64>,
    reflectivity: f64,
}

impl Flux {
    /// Takes in marks of the world. `eye` is the point below the sensor, `view` where it looks.
    pub(super) fn take<'a>(&mut self, pieces: impl Iterator<Item = TrackPiece<'a>>, eye: Vec2, view: Rot2) {
        self.marks.clear();
        self.points.clear();
        for piece in pieces {
            let first = self.points.len();
            self.points.extend(piece.points.iter().map(|p| view.unapply(*p - eye)));
            let half = piece.width.map(|w| w / 2.0);
            let points = first..self.points.len();
            self.marks.push(Mark { points, half, reflectivity: piece.reflectivity });
        }
    }

    /// Solid angle of the light that the marks give back.
    pub(super) fn light(&mut self, patch: &Patch) -> f64 {
        if self.marks.is_empty() {
            return 0.0;
        }
        let tolerance = AGREED * patch.whole();
        let mut breaks = std::mem::take(&mut self.breaks);
        self.find_breaks(patch, &mut breaks);
        let pieces = breaks.windows(2);
        let sum = pieces.map(|ends| self.between(patch, (ends[0], ends[1]), tolerance, MAX_HALVINGS)).sum();
        self.breaks = breaks;
        sum
    }

    /// Places where what a plane meets may change, between the ends of the view, in order: corners,
    /// and where round ends begin. Between them nothing is so thin that a rule could pass over it.
    fn find_breaks(&self, patch: &Patch, breaks: &mut Vec<f64>) {
        breaks.clear();
        breaks.extend([-PI / 2.0, PI / 2.0]);
        for mark in &self.marks {
            for p in &self.points[mark.points.clone()] {
                let half = mark.half.unwrap_or(0.0);
                breaks.extend([p.x - half, p.x, p.x + half].iter().filter_map(|x| patch.turn_at(*x)));
            }
        }
        breaks.sort_by(f64::total_cmp);
        breaks.dedup();
    }

    /// The integral from one place to another; places are those of [`Patch::turn_at`].
    fn between(&mut self, patch: &Patch, (from, to): (f64, f64), tolerance: f64, halvings: u32) -> f64 {
        let (middle, half) = ((from + to) / 2.0, (to - from) / 2.0);
        let centre = self.across(patch, middle);
        let (mut fine, mut rough) = (centre * KRONROD[7].1, centre * KRONROD[7].2);
        for (place, weight, gauss) in &KRONROD[..7] {
            let two = self.across(patch, middle - half * place) + self.across(patch, middle + half * place);
            fine += two * weight;
            rough += two * gauss;
        }
        if halvings == 0 || ((fine - rough) * half).abs() <= tolerance {
            return fine * half;
        }
        self.between(patch, (from, middle), tolerance, halvings - 1)
            + self.between(patch, (middle, to), tolerance, halvings - 1)
    }

    /// Light on the line where one plane across the view meets the floor, per turn of the place.
    fn across(&mut self, patch: &Patch, place: f64) -> f64 {
        let (sine, cosine) = math::sin_cos(place);
        let off = patch.half_angle * sine;
        let (slope, widest) = (math::cos(patch.inclination + off) / patch.height, patch.widest(off));
        let x = patch.height * math::tan(patch.inclination + off);
        self.cover(x);
        // Light is even in the sine of the angle out of the plane.
        let sine_at = |y: f64| {
            let aside = y * slope;
            (aside / (1.0 + aside * aside).sqrt()).clamp(-widest, widest)
        };
        self.ends.clear();
        self.ends.extend(self.covered.iter().flat_map(|c| [c.0, c.1]));
        self.ends.sort_by(f64::total_cmp);
        let lit = self.ends.windows(2).map(|ends| {
            let over = |c: &&(f64, f64, f64)| c.0 <= ends[0] && c.1 >= ends[1];
            let brightest = self.covered.iter().filter(over).map(|c| c.2).fold(0.0, math::max);
            if brightest > 0.0 { brightest * (sine_at(ends[1]) - sine_at(ends[0])) } else { 0.0 }
        });
        lit.sum::<f64>() * patch.half_angle * cosine
    }

    /// Stretches of the line at `x` that marks cover, with their reflectivity.
    fn cover(&mut self, x: f64) {
        self.covered.clear();
        for mark in &self.marks {
            let points = &self.points[mark.points.clone()];
            if let (Some(half), &[a, b]) = (mark.half, points) {
                let (low, high) = band_at(a, b, half, x);
                if low < high {
                    self.covered.push((low, high, mark.reflectivity));
                }
                continue;
            }
            self.ends.clear();
            for (k, a) in points.iter().enumerate() {
                let b = points[(k + 1) % points.len()];
                self.ends.extend(crossing(*a, b, x));
            }
            self.ends.sort_by(f64::total_cmp);
            // By the even-odd rule, as the marks themselves.
            let inside = self.ends.chunks_exact(2).map(|two| (two[0], two[1], mark.reflectivity));
            self.covered.extend(inside);
        }
    }
}

impl Patch {
    /// Solid angle of the whole cone.
    pub(super) fn whole(&self) -> f64 {
        2.0 * PI * (1.0 - math::cos(self.half_angle))
    }

    /// Where the plane that meets the floor at `x` stands in the view: −π/2 to π/2 from its near edge to
    /// its far one, crowded towards both, because the width of the view has a root there.
    fn turn_at(&self, x: f64) -> Option<f64> {
        let off = math::atan2(x, self.height) - self.inclination;
        (off.abs() < self.half_angle).then(|| math::asin(off / self.half_angle))
    }
}

/// Where the side from `a` to `b` crosses the line at `x`; each corner belongs to one side only.
fn crossing(a: Vec2, b: Vec2, x: f64) -> Option<f64> {
    ((a.x > x) != (b.x > x)).then(|| a.y + (x - a.x) / (b.x - a.x) * (b.y - a.y))
}

/// The stretch of the line at `x` within `half` of the line from `a` to `b`; low is above high when
/// there is none. A band is convex: the ends of its parts are its ends.
fn band_at(a: Vec2, b: Vec2, half: f64, x: f64) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    let mut take = |y: f64| (low, high) = (math::min(low, y), math::max(high, y));
    for end in [a, b] {
        let under_root = half * half - (x - end.x) * (x - end.x);
        if under_root >= 0.0 {
            take(end.y - under_root.sqrt());
            take(end.y + under_root.sqrt());
        }
    }
    let along = b - a;
    let length = along.norm();
    if length > 0.0 {
        let aside = along.perp() * (half / length);
        let corners = [a + aside, b + aside, b - aside, a - aside];
        (0..4).filter_map(|k| crossing(corners[k], corners[(k + 1) % 4], x)).for_each(take);
    }
    (low, high)
}

/// Half of the fifteen points of Kronrod on −1 to 1, the middle last: place, weight, and the weight of
/// Gauss's seven points among them.
const KRONROD: [(f64, f64, f64); 8] = [
    (0.991_455_371_120_812_6, 0.022_935_322_010_529_224, 0.0),
    (0.949_107_912_342_758_5, 0.063_092_092_629_978_55, 0.129_484_966_168_869_7),
    (0.864_864_423_359_769_1, 0.104_790_010_322_250_18, 0.0),
    (0.741_531_185_599_394_4, 0.140_653_259_715_525_92, 0.279_705_391_489_276_67),
    (0.586_087_235_467_691_1, 0.169_004_726_639_267_9, 0.0),
    (0.405_845_151_377_397_2, 0.190_350_578_064_785_4, 0.381_830_050_505_118_9),
    (0.207_784_955_007_898_47, 0.204_432_940_075_298_9, 0.0),
    (0.0, 0.209_482_141_084_727_83, 0.417_959_183_673_469_4),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(height: f64, inclination_deg: f64, half_deg: f64) -> Patch {
        Patch { height, inclination: inclination_deg.to_radians(), half_angle: half_deg.to_radians() }
    }

    /// Points, width and reflectivity of a mark.
    type Given<'a> = (&'a [(f64, f64)], Option<f64>, f64);

    /// Light on marks under a sensor at the origin that looks along x.
    fn light(patch: &Patch, marks: &[Given<'_>]) -> f64 {
        let points: Vec<Vec<Vec2>> =
            marks.iter().map(|m| m.0.iter().map(|p| Vec2::new(p.0, p.1)).collect()).collect();
        let pieces = marks.iter().zip(&points).map(|((_, width, reflectivity), points)| TrackPiece {
            points,
            width: *width,
            reflectivity: *reflectivity,
        });
        let mut flux = Flux::default();
        flux.take(pieces, Vec2::ZERO, Rot2::IDENTITY);
        flux.light(patch)
    }

    const ALL: &[(f64, f64)] = &[(-500.0, -500.0), (500.0, -500.0), (500.0, 500.0), (-500.0, 500.0)];

    #[track_caller]
    fn is_near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
    }

    /// Light by the plain law on the floor, by many small squares of the ellipse: x and y across the
    /// ellipse's own axes, centres of 2000 by 2000 squares.
    fn by_squares(patch: &Patch, on_track: impl Fn(f64, f64) -> bool) -> f64 {
        let (a, g, h) = (patch.inclination, patch.half_angle, patch.height);
        let (near, far) = (h * math::tan(a - g), h * math::tan(a + g));
        let under = math::cos(a) * math::cos(a) - math::sin(g) * math::sin(g);
        let (along, across) = ((far - near) / 2.0, h * math::sin(g) / under.sqrt());
        let n = 2000;
        let mut sum = 0.0;
        for i in 0..n {
            let u = (2.0 * f64::from(i) + 1.0) / f64::from(n) - 1.0;
            for j in 0..n {
                let v = (2.0 * f64::from(j) + 1.0) / f64::from(n) - 1.0;
                let (x, y) = ((near + far) / 2.0 + along * u, across * v);
                if u * u + v * v <= 1.0 && on_track(x, y) {
                    let r2 = h * h + x * x + y * y;
                    sum += h / (r2 * r2.sqrt());
                }
            }
        }
        sum * 4.0 * along * across / (f64::from(n) * f64::from(n))
    }

    /// Light on |y| < `half` for h = 8, α = 45°, γ = 15°: the integral over y of h / (h² + x² + y²)^(3/2) in
    /// closed form, that over x by the midpoint rule in the angle of x = c + a sin t (row 2.1 has c, a, b).
    /// Squares would lie along its edges and be off by half a row of them.
    fn strip_along(half: f64) -> f64 {
        let (h, centre, along, across) = (8.0, 9.237_604_307_034, 4.618_802_153_517, 3.146_559_145_522);
        let n = 20_000;
        let at = |k: i32| {
            let (s, c) = math::sin_cos(PI * ((f64::from(k) + 0.5) / f64::from(n) - 0.5));
            let (x, y) = (centre + along * s, math::min(across * c, half));
            let q: f64 = h * h + x * x;
            2.0 * h * y / (q * (q + y * y).sqrt()) * along * c * PI / f64::from(n)
        };
        (0..n).map(at).sum()
    }

    /// Row 2.4 of the reference: 2π (1 − cos γ).
    #[test]
    fn the_light_on_a_floor_that_is_all_track_is_the_light_of_the_cone() {
        is_near(light(&patch(8.0, 45.0, 15.0), &[(ALL, None, 1.0)]), 0.214_094_347_6, 1e-9);
        for (height, inclination, half) in
            [(8.0, 45.0, 15.0), (0.08, 0.0, 15.0), (0.08, 45.0, 30.0), (1.0, 70.0, 10.0), (0.3, 20.0, 60.0)]
        {
            let solid = 2.0 * PI * (1.0 - math::cos(f64::to_radians(half)));
            is_near(light(&patch(height, inclination, half), &[(ALL, None, 1.0)]), solid, 1e-9);
        }
    }

    #[test]
    fn a_strip_across_the_view_is_the_closed_form() {
        let p = patch(8.0, 45.0, 15.0);
        let off = |x: f64| math::atan2(x, 8.0) - p.inclination;
        let expected = 2.0 * (p.light_up_to(off(10.0)) - p.light_up_to(off(8.0)));
        let strip: &[(f64, f64)] = &[(8.0, -50.0), (10.0, -50.0), (10.0, 50.0), (8.0, 50.0)];
        is_near(light(&p, &[(strip, None, 1.0)]), expected, 1e-9);
        is_near(expected, by_squares(&p, |x, _| x > 8.0 && x < 10.0), 1e-4);
        // The same as a band, and a hair's breadth that no rule may pass over.
        is_near(light(&p, &[(&[(9.0, -50.0), (9.0, 50.0)], Some(2.0), 1.0)]), expected, 1e-9);
        let hair = 2.0 * (p.light_up_to(off(9.000_05)) - p.light_up_to(off(8.999_95)));
        is_near(light(&p, &[(&[(9.0, -50.0), (9.0, 50.0)], Some(1e-4), 1.0)]), hair, 1e-9);
    }

    #[test]
    fn half_the_floor_gives_half_the_light_and_a_grey_one_its_share() {
        let p = patch(8.0, 45.0, 15.0);
        let left: &[(f64, f64)] = &[(-99.0, 0.0), (99.0, 0.0), (99.0, 99.0), (-99.0, 99.0)];
        is_near(light(&p, &[(left, None, 1.0)]), p.whole() / 2.0, 1e-10);
        is_near(light(&p, &[(ALL, None, 0.4)]), 0.4 * p.whole(), 1e-10);
        let both = light(&p, &[(left, None, 0.9), (ALL, None, 0.4)]);
        is_near(both, (0.9 + 0.4) / 2.0 * p.whole(), 1e-10);
    }

    #[test]
    fn what_a_slanted_cut_takes_from_one_side_it_gives_to_the_other() {
        let p = patch(8.0, 45.0, 15.0);
        for (x, y) in [(6.0, 9.0), (5.0, 13.0), (12.0, 8.5)] {
            let above: &[(f64, f64)] = &[(x, -40.0), (y, 40.0), (-400.0, 40.0), (-400.0, -40.0)];
            let below: &[(f64, f64)] = &[(x, -40.0), (y, 40.0), (400.0, 40.0), (400.0, -40.0)];
            let two = [above, below].map(|half| light(&p, &[(half, None, 1.0)]));
            assert!(two.iter().all(|part| *part > 0.005), "{two:?}");
            is_near(two[0] + two[1], p.whole(), 1e-9);
        }
    }

    #[test]
    fn round_ends_and_narrow_bands_are_as_bright_as_their_squares() {
        let p = patch(8.0, 45.0, 15.0);
        let round = |x: f64, y: f64| (x - 9.0) * (x - 9.0) + (y - 1.0) * (y - 1.0) <= 1.0;
        let dot = light(&p, &[(&[(9.0, 1.0), (9.0, 1.0)], Some(2.0), 1.0)]);
        is_near(dot, by_squares(&p, round), 2e-6);
        let along = light(&p, &[(&[(-50.0, 0.0), (50.0, 0.0)], Some(2.0), 1.0)]);
        is_near(along, strip_along(1.0), 1e-7);
        let bent = light(&p, &[(&[(6.0, -2.0), (11.0, 2.0)], Some(0.6), 1.0)]);
        let near_line = |x: f64, y: f64| {
            let share = (((x - 6.0) * 5.0 + (y + 2.0) * 4.0) / 41.0).clamp(0.0, 1.0);
            let (dx, dy) = (x - 6.0 - 5.0 * share, y + 2.0 - 4.0 * share);
            dx * dx + dy * dy <= 0.09
        };
        is_near(bent, by_squares(&p, near_line), 5e-6);
    }

    #[test]
    fn tighter_rules_change_nothing_that_matters() {
        let p = patch(8.0, 45.0, 15.0);
        let mut flux = Flux::default();
        let corners = [(6.0, -1.0), (11.0, 0.5), (10.0, 3.5), (5.0, 2.0)].map(|c| Vec2::new(c.0, c.1));
        let area = TrackPiece { points: &corners, width: None, reflectivity: 1.0 };
        let band = TrackPiece { points: &corners[1..3], width: Some(0.7), reflectivity: 0.5 };
        flux.take([area, band].into_iter(), Vec2::ZERO, Rot2::IDENTITY);
        let usual = flux.light(&p);
        let mut breaks = Vec::new();
        flux.find_breaks(&p, &mut breaks);
        let tight: f64 = breaks.windows(2).map(|e| flux.between(&p, (e[0], e[1]), 1e-15, MAX_HALVINGS)).sum();
        println!("{usual} and by a tolerance of 1e-15 {tight}: {:e} apart", (usual - tight).abs());
        is_near(usual, tight, 1e-9);
        assert!(usual > 0.05 && usual < p.whole());
    }
}
