//! SPREAD's infrared track sensor: how much of its patch of light on the floor lies on a track.
//!
//! The sensor hangs at `height` above the floor and looks at an `inclination` α **from the vertical**
//! towards the front (the paper does not say from what it is measured, and its 45° hides the
//! difference). Its cone of light, of full opening angle β, meets the floor in an ellipse. The ellipse
//! is divided into `precision` segments that receive the same amount of light, so they are dense where
//! the floor is near; a segment is covered when its centre lies on a track. At the fine level the light
//! on tracks is measured by area instead ([`flux`]).

mod flux;

use flux::Flux;
use std::f64::consts::PI;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Ratio, Rot2, Vec2, math};
use swarmyard_part_api::{
    Built, Channel, Class, Detail, Kind, Layout, Mark, MarkShape, Outline, Param, ParamType, SenseRows,
    Sensor, Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("track-sensor", Kind::Sensor, "Infrared emitter and detector above the floor, or a row of them, after SPREAD's case study. The cone of light meets the floor in an ellipse, divided into segments that receive equal light; it reports how many of them lie on a track.")
        .param(Param::number("height", Unit::Metre, "Height above the floor.").within(1e-4, 1.0e3).or_num(0.08))
        .param(Param::number("inclination", Unit::Radian, "Angle of its axis from the vertical, towards the mount's heading.").within(0.0, PI / 2.0).or_num(PI / 4.0))
        .param(Param::number("cone_angle", Unit::Radian, "Full opening angle of the cone. With the inclination, its far side must stay below the horizon.").within(1e-3, PI).or_num(PI / 6.0))
        .param(Param::new("precision", ParamType::Int { min: 1, max: 1024 }, "Number of segments. Covered are those whose centre of light lies on a track; a track that gives back a share of the light counts by that share.").or(Value::Int(16)))
        .param(Param::number("coverage", Unit::None, "Percentage of segments, as in the paper (15 is 15 %), that must be exceeded for a detection.").within(0.0, 100.0).or_num(15.0))
        .param(Param::number("max_value", Unit::None, "Reading when all segments are covered.").within(1.0, 1.0e9).or_num(255.0))
        .param(Param::number("error_level", Unit::None, "Noise as a percentage of `max_value`, as in the paper (5 is 5 %): the reading is off by at most this much either way, evenly.").within(0.0, 100.0).or_num(0.0))
        .param(Param::new("mount", ParamType::Pose, "Where it is fixed on the body, seen from above; with `count`, the middle of the row.").or(Value::Pose(Pose2::default())))
        .param(Param::new("count", ParamType::Int { min: 1, max: 256 }, "Number of sensors in a row across the robot, from left to right.").or(Value::Int(1)))
        .param(Param::number("spacing", Unit::Metre, "Distance from one sensor of the row to the next.").within(0.0, 1.0e3).or_num(0.02))
        .param(Param::new("period", ParamType::Period, "Time between readings; every quantum when left out."))
        .channel(Channel::reading("detected", 1, Unit::None, (0.0, 1.0), "1 for each sensor with more than `coverage` of its segments on a track."))
        .channel(Channel::reading("value", 1, Unit::None, (0.0, 1.0e9), "Reading of each sensor: `max_value` times the covered share, a whole number, with noise."))
        .level("coarse", "Only the point where the axis meets the floor: all or nothing, without noise.")
        .level("normal", "Segments of equal light, covered or not by their centres, with noise.")
        .level("fine", "The share of light that falls on tracks, by area, to better than one in a million; with noise. `precision` does nothing.")
        .marks("two small concentric circles for each sensor that detects a track")
        .example("[[type.demo.part]]\nname = \"track\"\nclass = \"track-sensor\"\nheight = \"8cm\"\ninclination = \"45deg\"\ncone_angle = \"30deg\"\nprecision = 16\ncoverage = 15\nmax_value = 255\nerror_level = 5\ncount = 5\nspacing = \"3cm\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    for name in ["coverage", "error_level"] {
        let value = p.num(name);
        if value > 0.0 && value < 1.0 {
            let d = Diagnostic::error("out-of-range", format!("`{name}` is a percentage already: `{value}`"));
            return Err(d.at(p.span(name)).help("write 15 for 15 %, without the sign; 0, or from 1 to 100"));
        }
    }
    let patch = Patch {
        height: p.num("height"),
        inclination: p.num("inclination"),
        half_angle: p.num("cone_angle") / 2.0,
    };
    if patch.inclination + patch.half_angle >= PI / 2.0 - 1e-6 {
        let what = "the far side of the cone does not meet the floor: `inclination` and half of `cone_angle` make a right angle or more";
        return Err(Diagnostic::error("out-of-range", what)
            .at(p.span("inclination"))
            .help("make one of them smaller"));
    }
    let (count, spacing) = (p.int("count") as usize, p.num("spacing"));
    let mount = p.pose("mount");
    let eyes =
        (0..count).map(|k| mount.then(Pose2::new(0.0, ((count - 1) as f64 / 2.0 - k as f64) * spacing, 0.0)));
    let rot = mount.rot();
    let centres: Vec<Vec2> =
        patch.centres(p.int("precision") as usize).into_iter().map(|c| rot.apply(c)).collect();
    Ok(Built::Sensor(Box::new(TrackSensor {
        eyes: eyes.map(|e| e.at).collect(),
        patch,
        view: rot,
        axis: rot.apply(Vec2::new(patch.axis_foot(), 0.0)),
        ring: patch.height * math::tan(patch.half_angle) / 2.0,
        reach: patch.height * math::tan(patch.inclination + patch.half_angle),
        centres,
        coverage: p.num("coverage"),
        max_value: p.num("max_value"),
        error_level: p.num("error_level"),
        period: p.ratio_or_none("period"),
        number: layout.parts.len() as u32,
    })))
}

/// The cone of light and where it meets the floor; x is forward of the point below the sensor.
#[derive(Clone, Copy, Debug)]
struct Patch {
    height: f64,
    inclination: f64,
    half_angle: f64,
}

impl Patch {
    /// Where the axis meets the floor. It is not the centre of the ellipse.
    fn axis_foot(&self) -> f64 {
        self.height * math::tan(self.inclination)
    }

    /// Point of the floor seen at an angle `off_rad` from the axis in the vertical plane, and `sine`
    /// out of that plane.
    fn foot(&self, off_rad: f64, sine: f64) -> Vec2 {
        let down = self.inclination + off_rad;
        let aside = sine / (1.0 - sine * sine).sqrt();
        Vec2::new(self.height * math::tan(down), self.height * aside / math::cos(down))
    }

    /// Sine of the greatest angle out of the vertical plane that belongs to the cone.
    fn widest(&self, off_rad: f64) -> f64 {
        let share = math::cos(self.half_angle) / math::cos(off_rad);
        math::max(1.0 - share * share, 0.0).sqrt()
    }

    /// Half of the light between the middle plane and the plane at `off_rad` from the axis, as a solid
    /// angle; planes through the sensor and across its view.
    ///
    /// A direction at (off, out) from the axis has the solid angle cos(out) d(out) d(off), and belongs
    /// to the cone while cos(off) cos(out) ≥ cos γ; so this is the integral of [`Patch::widest`], and
    /// over the whole cone it is 2π (1 − cos γ) as it should be.
    fn light_up_to(&self, off_rad: f64) -> f64 {
        let g = self.half_angle;
        let ratio = |x: f64| math::asin(x.clamp(-1.0, 1.0));
        ratio(math::sin(off_rad) / math::sin(g)) - math::cos(g) * ratio(math::tan(off_rad) / math::tan(g))
    }

    /// The plane in front of which lies this share of the light.
    fn plane_at(&self, share: f64) -> f64 {
        let wanted = PI / 2.0 * (1.0 - math::cos(self.half_angle)) * (2.0 * share - 1.0);
        let (mut low, mut high) = (-self.half_angle, self.half_angle);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            *(if self.light_up_to(middle) < wanted { &mut low } else { &mut high }) = middle;
        }
        (low + high) / 2.0
    }

    /// Centres of `precision` segments that receive equal light: planes across the view cut the light
    /// into equal strips, and every strip is cut likewise to the sides. Half of a segment's light falls
    /// in front of its centre, half of the light beside it to either side.
    fn centres(&self, precision: usize) -> Vec<Vec2> {
        let (strips, across) = strips_of(precision);
        let mut centres = Vec::with_capacity(precision);
        for strip in 0..strips {
            let off = self.plane_at((strip as f64 + 0.5) / strips as f64);
            for k in 0..across {
                // Light is even in the sine of the angle out of the plane.
                let share = (2.0 * k as f64 + 1.0) / across as f64 - 1.0;
                centres.push(self.foot(off, share * self.widest(off)));
            }
        }
        centres
    }
}

/// How many strips, and segments in each: as near to a square as the number allows.
fn strips_of(precision: usize) -> (usize, usize) {
    let across = (1..=precision.isqrt()).rev().find(|d| precision.is_multiple_of(*d)).unwrap_or(1);
    (precision / across, across)
}

struct TrackSensor {
    patch: Patch,
    /// Where it looks, in the body's frame.
    view: Rot2,
    /// Points below the sensors, in the body's frame, from left to right.
    eyes: Vec<Vec2>,
    /// From such a point to where the axis meets the floor, and to the centres of the segments.
    axis: Vec2,
    centres: Vec<Vec2>,
    /// Radius of its mark.
    ring: f64,
    reach: f64,
    coverage: f64,
    max_value: f64,
    error_level: f64,
    period: Option<Ratio>,
    /// Number of the part in its type: two sensors of one robot do not share their noise.
    number: u32,
}

impl TrackSensor {
    /// Whether the share of covered segments is a detection: it must exceed the coverage.
    fn detects(&self, share: f64) -> bool {
        100.0 * share > self.coverage
    }

    /// Share of light on tracks for the sensor above a point of the floor.
    fn share(&self, world: &World<'_>, body: (Vec2, Rot2), eye: Vec2, flux: &mut Flux) -> f64 {
        let (at, rot) = body;
        let lit = |spot: &Vec2| world.reflectivity_at(at + rot.apply(eye + *spot));
        match world.detail {
            Detail::Coarse => lit(&self.axis),
            Detail::Normal => self.centres.iter().map(lit).sum::<f64>() / self.centres.len() as f64,
            Detail::Fine => {
                let (foot, far) = (at + rot.apply(eye), Vec2::new(self.reach, self.reach));
                let pieces = world.track_pieces(foot - far, foot + far);
                flux.take(pieces.into_iter(), foot, rot.then(self.view));
                flux.light(&self.patch) / self.patch.whole()
            }
        }
    }

    /// The reading for a share of covered segments and a noise in −1 to 1.
    fn value(&self, share: f64, noise: f64) -> f64 {
        let off = noise * self.error_level / 100.0;
        ((share + off) * self.max_value).round().clamp(0.0, self.max_value)
    }
}

impl Sensor for TrackSensor {
    fn layout(&self) -> Layout {
        let channel = |c: Channel| {
            let max = if c.name == "value" { self.max_value } else { c.max };
            Channel { len: self.eyes.len(), max, ..c }
        };
        Layout { channels: sheet().channels.into_iter().map(channel).collect(), ..Layout::default() }
    }

    fn period(&self) -> Option<Ratio> {
        self.period
    }

    fn reach(&self) -> f64 {
        self.eyes.iter().map(|e| e.norm()).fold(0.0, math::max) + self.reach
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        let noisy = world.detail != Detail::Coarse && self.error_level > 0.0;
        let mut flux = Flux::default();
        for row in 0..rows.len {
            let slot = rows.first_slot + row;
            let (pose, rot) = (world.bodies.pose[slot], world.bodies.rot[slot]);
            let draw =
                Draw::at(world.seed, world.bodies.uid[slot], Purpose::TrackNoise, world.now, self.number);
            let (detected, values) = rows.out.row(row).split_at_mut(self.eyes.len());
            for (k, eye) in self.eyes.iter().enumerate() {
                let share = self.share(world, (pose.at, rot), *eye, &mut flux);
                let noise = if noisy { draw.between(k as u32, -1.0, 1.0) } else { 0.0 };
                detected[k] = f64::from(u8::from(self.detects(share)));
                values[k] = self.value(share, noise);
            }
        }
    }

    fn marks(&self, readings: &[f64], _: &Outline) -> Vec<Mark> {
        let detecting = |(k, _): &(usize, &Vec2)| readings[*k] != 0.0;
        let marks = self.eyes.iter().enumerate().filter(detecting).flat_map(|(index, eye)| {
            [1.0, 0.5].map(|share| {
                let shape = MarkShape::Circle { centre: *eye + self.axis, radius: share * self.ring };
                Mark { shape, channel: "detected", index }
            })
        });
        marks.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ellipse in closed form: centre, half axes along and across, eccentricity.
    struct Ellipse {
        near: f64,
        far: f64,
        centre: f64,
        along: f64,
        across: f64,
    }

    /// By the paper's geometry, without using anything of the model.
    fn ellipse(height: f64, inclination_deg: f64, half_deg: f64) -> Ellipse {
        let (a, g) = (inclination_deg.to_radians(), half_deg.to_radians());
        let (near, far) = (height * math::tan(a - g), height * math::tan(a + g));
        let under = math::cos(a) * math::cos(a) - math::sin(g) * math::sin(g);
        let along = height * math::sin(g) * math::cos(g) / under;
        Ellipse { near, far, centre: (near + far) / 2.0, along, across: height * math::sin(g) / under.sqrt() }
    }

    fn patch(height: f64, inclination_deg: f64, half_deg: f64) -> Patch {
        Patch { height, inclination: inclination_deg.to_radians(), half_angle: half_deg.to_radians() }
    }

    /// Points of the rim of a patch, by the model.
    fn rim(patch: &Patch, points: usize) -> Vec<Vec2> {
        let at = |k: usize| {
            let off = -patch.half_angle + 2.0 * patch.half_angle * k as f64 / points as f64;
            patch.foot(off, patch.widest(off))
        };
        (0..=points).map(at).collect()
    }

    fn is_near(found: f64, expected: f64, tolerance: f64) {
        assert!((found - expected).abs() < tolerance, "{found} is not {expected}");
    }

    /// Integral over the ellipse by strips in x: the midpoint rule in the angle of x = c + a sin t, which
    /// converges fast because the integrand is periodic and smooth.
    fn over_ellipse(e: &Ellipse, f: impl Fn(f64, f64) -> f64) -> f64 {
        let n = 4000;
        (0..n)
            .map(|k| {
                let t = PI * ((f64::from(k) + 0.5) / f64::from(n) - 0.5);
                let (s, c) = math::sin_cos(t);
                f(e.centre + e.along * s, e.across * c) * e.along * c * PI / f64::from(n)
            })
            .sum()
    }

    /// Light on the part of a strip of the floor at x with |y| up to a bound: the integral over y of
    /// h / (h² + x² + y²)^(3/2).
    fn light_at(height: f64, x: f64, y: f64) -> f64 {
        let q = height * height + x * x;
        2.0 * height * y / (q * (q + y * y).sqrt())
    }

    #[test]
    fn the_patch_is_the_ellipse_of_the_reference() {
        for (inclination, half, expected) in [
            (45.0, 15.0, [4.618_802, 13.856_406, 9.237_604, 4.618_802, 3.146_559, 45.657_816]),
            (0.0, 15.0, [-2.143_594, 2.143_594, 0.0, 2.143_594, 2.143_594, 14.435_597]),
            (45.0, 30.0, [2.143_594, 29.856_406, 16.0, 13.856_406, 8.0, 348.249_478]),
        ] {
            let e = ellipse(8.0, inclination, half);
            let found = [e.near, e.far, e.centre, e.along, e.across, PI * e.along * e.across];
            for (found, expected) in found.into_iter().zip(expected) {
                is_near(found, expected, 1e-6);
            }
            let model = patch(8.0, inclination, half);
            for p in rim(&model, 1000) {
                let (x, y) = ((p.x - e.centre) / e.along, p.y / e.across);
                is_near(x * x + y * y, 1.0, 1e-6);
            }
            let ends = rim(&model, 2);
            is_near(ends[0].x, e.near, 1e-6);
            is_near(ends[2].x, e.far, 1e-6);
        }
        let e = ellipse(8.0, 45.0, 15.0);
        is_near((1.0 - (e.across / e.along) * (e.across / e.along)).sqrt(), 3.0_f64.sqrt() - 1.0, 1e-6);
        is_near(patch(8.0, 45.0, 15.0).axis_foot(), 8.0, 1e-6);
    }

    #[test]
    fn the_light_on_the_floor_is_the_light_of_the_cone() {
        let e = ellipse(8.0, 45.0, 15.0);
        let solid = 2.0 * PI * (1.0 - math::cos(15.0_f64.to_radians()));
        is_near(over_ellipse(&e, |x, y| light_at(8.0, x, y)), solid, 1e-9);
        is_near(solid, 0.214_094_347_6, 1e-9);
        let model = patch(8.0, 45.0, 15.0);
        is_near(
            2.0 * (model.light_up_to(model.half_angle) - model.light_up_to(-model.half_angle)),
            solid,
            1e-12,
        );
    }

    #[test]
    fn the_near_edge_is_more_than_five_times_as_bright_as_the_far_edge() {
        let e = ellipse(8.0, 45.0, 15.0);
        let bright = |x: f64| {
            let distance = (64.0 + x * x).sqrt();
            8.0 / (distance * distance * distance)
        };
        is_near(bright(e.near) / bright(e.far), 27.0_f64.sqrt(), 1e-6);
    }

    #[test]
    fn plain_areas_of_the_ellipse_are_those_of_shapely() {
        let e = ellipse(8.0, 45.0, 15.0);
        let area = PI * e.along * e.across;
        is_near(over_ellipse(&e, |_, y| 2.0 * math::min(y, 1.0)) / area, 0.397_726, 1e-5);
        // A strip across has sharp ends, which the rule above does not like: the closed form instead.
        let part = |x: f64| {
            let s = (x - e.centre) / e.along;
            (s * (1.0 - s * s).sqrt() + math::asin(s)) / PI
        };
        is_near(part(10.0) - part(8.0), 0.273_122, 1e-6);
    }

    #[test]
    fn every_segment_receives_the_same_light() {
        for (inclination, half, precision) in
            [(45.0, 15.0, 16), (0.0, 15.0, 16), (30.0, 20.0, 12), (50.0, 10.0, 7)]
        {
            let model = patch(0.08, inclination, half);
            let (strips, across) = strips_of(precision);
            let whole = 2.0 * PI * (1.0 - math::cos(model.half_angle));
            for strip in 0..strips {
                let ends = [strip, strip + 1].map(|k| model.plane_at(k as f64 / strips as f64));
                for k in 0..across {
                    let sides = [k, k + 1].map(|k| 2.0 * k as f64 / across as f64 - 1.0);
                    // Over the floor: x along the strip, y between the two sides; light by the plain law.
                    let n = 2000;
                    let mut light = 0.0;
                    for step in 0..n {
                        let at = |s: f64| ends[0] + (ends[1] - ends[0]) * s;
                        // Ends crowded towards both borders: the width has a root there.
                        let t = PI * (f64::from(step) + 0.5) / f64::from(n);
                        let off = at((1.0 - math::cos(t)) / 2.0);
                        let widest = model.widest(off);
                        let [low, high] = sides.map(|s| model.foot(off, s * widest));
                        let slope = model.height
                            / (math::cos(model.inclination + off) * math::cos(model.inclination + off));
                        let dx = slope * (ends[1] - ends[0]) * math::sin(t) / 2.0 * PI / f64::from(n);
                        let half = |y: f64| light_at(model.height, low.x, y) / 2.0;
                        light += (half(high.y) - half(low.y)) * dx;
                    }
                    is_near(light / whole * precision as f64, 1.0, 2e-6);
                }
            }
        }
    }

    #[test]
    fn centres_lie_inside_and_are_denser_near_the_robot() {
        let e = ellipse(0.08, 45.0, 15.0);
        let centres = patch(0.08, 45.0, 15.0).centres(16);
        assert_eq!(centres.len(), 16);
        for c in &centres {
            let (x, y) = ((c.x - e.centre) / e.along, c.y / e.across);
            assert!(x * x + y * y < 1.0, "{c:?}");
        }
        let near = centres.iter().filter(|c| c.x < e.centre).count();
        assert!(near > 8, "{near} of 16 in the nearer half");
    }

    fn sensor(precision: usize) -> TrackSensor {
        let centres = patch(0.08, 45.0, 15.0).centres(precision);
        TrackSensor {
            patch: patch(0.08, 45.0, 15.0),
            view: Rot2::IDENTITY,
            eyes: vec![Vec2::ZERO],
            axis: Vec2::ZERO,
            centres,
            ring: 0.01,
            reach: 0.2,
            coverage: 15.0,
            max_value: 255.0,
            error_level: 5.0,
            period: None,
            number: 0,
        }
    }

    #[test]
    fn two_of_sixteen_segments_are_too_few_and_three_are_enough() {
        let s = sensor(16);
        assert!(!s.detects(2.0 / 16.0) && s.detects(3.0 / 16.0));
        assert_eq!([s.value(2.0 / 16.0, 0.0), s.value(3.0 / 16.0, 0.0)], [32.0, 48.0]);
        assert!(!sensor(20).detects(3.0 / 20.0), "as much as the coverage is not more");
    }

    #[test]
    fn noise_stays_within_the_error_level_and_readings_within_their_range() {
        let s = sensor(16);
        assert_eq!([s.value(0.5, 1.0), s.value(0.5, -1.0)], [140.0, 115.0]);
        assert_eq!([s.value(0.0, -1.0), s.value(1.0, 1.0)], [0.0, 255.0]);
    }

    #[test]
    fn sixteen_segments_are_four_by_four() {
        assert_eq!(
            [strips_of(16), strips_of(12), strips_of(7), strips_of(1)],
            [(4, 4), (4, 3), (7, 1), (1, 1)]
        );
    }
}
