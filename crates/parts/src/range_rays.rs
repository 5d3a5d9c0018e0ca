//! Rays that measure distance: a laser scanner, a ring of infrared sensors, or one range finder.

use std::f64::consts::PI;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Ratio, Vec2, math};
use swarmyard_part_api::{
    Built, Channel, Class, Detail, Fan, Kind, Layout, Mark, MarkShape, Outline, Param, ParamType, SenseRows,
    Sensor, Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// Most rays of one part.
const MAX_RAYS: i64 = 720;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("range-rays", Kind::Sensor, "Evenly spaced rays that report the distance to the nearest thing and what it is. Four and more rays are cast neighbour by neighbour, fewer are walked ray by ray; the result is the same.")
        .param(Param::new("rays", ParamType::Int { min: 1, max: MAX_RAYS }, "Number of rays.").or(Value::Int(1)))
        .param(Param::number("spread", Unit::Radian, "Angle between the first and the last ray, centred on the mount's heading; a full turn is divided evenly, beginning at the heading.").within(0.0, 2.0 * PI).or_num(2.0 * PI))
        .param(Param::number("range", Unit::Metre, "Greatest distance. A ray that meets nothing reports it.").within(1e-3, 1.0e5).required())
        .param(Param::number("min", Unit::Metre, "Least distance; nearer things are reported there.").within(0.0, 1.0e5).or_num(0.0))
        .param(Param::number("start", Unit::Metre, "Where the rays begin, from the mount: the rim of a round robot. Distances count from there.").within(0.0, 1.0e4).or_num(0.0))
        .param(Param::new("mount", ParamType::Pose, "Where it is fixed on the body.").or(Value::Pose(Pose2::default())))
        .param(Param::number("height", Unit::Metre, "Height above the floor. It sees over what is lower.").within(0.0, 1.0e4).or_num(0.1))
        .param(Param::number("noise", Unit::Metre, "Standard deviation of the distance.").within(0.0, 1.0e3).or_num(0.0))
        .param(Param::number("noise_share", Unit::None, "Further standard deviation, as a share of the distance.").within(0.0, 1.0).or_num(0.0))
        .param(Param::number("resolution", Unit::Metre, "Step of its readings, which are rounded to whole steps; exact when left out.").within(1e-6, 1.0e3))
        .param(Param::new("period", ParamType::Period, "Time between readings; every quantum when left out."))
        .channel(Channel::reading("range", 1, Unit::Metre, (0.0, f64::MAX), "Distance of each ray."))
        .channel(Channel::reading("hit", 1, Unit::None, (0.0, 3.0), "What each ray met: 0 nothing, 1 wall, 2 robot, 3 obstacle."))
        .level("coarse", "Exact distances without noise.")
        .level("normal", "Exact distances with noise.")
        .level("fine", "As normal.")
        .marks("one line per ray, as long as its reading")
        .example("[[type.demo.part]]\nname = \"scanner\"\nclass = \"range-rays\"\nrays = 180\nspread = \"180deg\"\nrange = \"8m\"\nnoise = \"5mm\"")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let (range, min, start) = (p.num("range"), p.num("min"), p.num("start"));
    if min >= range {
        let d = Diagnostic::error(
            "out-of-range",
            format!("`min` must be less than `range`: `{min}` is not less than `{range}`"),
        );
        return Err(d.at(p.span("min")));
    }
    let fan =
        Fan::new(p.pose("mount"), p.num("height"), p.int("rays") as usize, p.num("spread"), start + range);
    Ok(Built::Sensor(Box::new(RangeRays {
        fan,
        start,
        min,
        range,
        noise: p.num("noise"),
        noise_share: p.num("noise_share"),
        resolution: p.num_or_none("resolution"),
        period: p.ratio_or_none("period"),
        mount: p.pose("mount").at.norm(),
    })))
}

struct RangeRays {
    fan: Fan,
    start: f64,
    min: f64,
    range: f64,
    noise: f64,
    noise_share: f64,
    resolution: Option<f64>,
    period: Option<Ratio>,
    mount: f64,
}

impl Sensor for RangeRays {
    fn layout(&self) -> Layout {
        let channels = sheet().channels.into_iter().map(|c| Channel { len: self.fan.len(), ..c }).collect();
        Layout { channels, bearings: Some(self.fan.bearings()), ..Layout::default() }
    }

    fn period(&self) -> Option<Ratio> {
        self.period
    }

    fn reach(&self) -> f64 {
        self.mount + self.fan.reach()
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        let noisy = world.detail != Detail::Coarse && (self.noise > 0.0 || self.noise_share > 0.0);
        for row in 0..rows.len {
            let slot = rows.first_slot + row;
            let (ranges, hits) = rows.out.row(row).split_at_mut(self.fan.len());
            world.cast_fan(&self.fan, slot, ranges, hits);
            if noisy {
                let draw = Draw::at(world.seed, world.bodies.uid[slot], Purpose::RangeNoise, world.now, 0);
                for (k, r) in ranges.iter_mut().enumerate().filter(|(k, _)| hits[*k] != 0.0) {
                    *r += (self.noise + self.noise_share * *r) * draw.normal(k as u32);
                }
            }
            for r in ranges {
                *r = math::min(math::max(*r - self.start, self.min), self.range);
                if let Some(step) = self.resolution {
                    // The greatest reading is a whole step within the range.
                    *r = (math::min((*r / step).round(), (self.range / step).floor())) * step;
                }
            }
        }
    }

    fn marks(&self, readings: &[f64], _: &Outline) -> Vec<Mark> {
        let origin = self.fan.mount();
        let ray = |(index, direction): (usize, &Vec2)| {
            let (from, to) =
                (origin + *direction * self.start, origin + *direction * (self.start + readings[index]));
            Mark { shape: MarkShape::Line(vec![from, to]), channel: "range", index }
        };
        self.fan.directions().iter().enumerate().map(ray).collect()
    }
}
