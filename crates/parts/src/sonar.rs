//! Ultrasonic range finders: the distance of the nearest object in the field of view.
//!
//! SPREAD's simple model: whatever is nearest inside the cone, of any surface and at any angle, is
//! the reading. No echo is lost and none comes by a detour. The level of detail says how the nearest is
//! found: along the axis, by a fan of rays that may miss what is thinner than their gaps, or exactly.

use std::f64::consts::PI;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Pose2, Ratio, math};
use swarmyard_part_api::{
    Built, Channel, Class, Cone, Detail, Kind, Layout, Mark, Outline, Param, ParamType, SenseRows, Sensor,
    Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("sonar", Kind::Sensor, "Ultrasonic range finder: the distance to the nearest thing anywhere in its cone, and what it is. With `count` it is a ring of them, the first at the mount's heading, the others following counter-clockwise.")
        .param(Param::new("count", ParamType::Int { min: 1, max: 64 }, "Number of sonars, spread evenly around.").or(Value::Int(1)))
        .param(Param::number("ring", Unit::Metre, "Radius of the circle around the mount on which they sit, looking outward. Distances count from there.").within(0.0, 1.0e3).or_num(0.0))
        .param(Param::number("cone_angle", Unit::Radian, "Full opening angle of the cone.").within(1e-3, PI).or_num(0.261_799_387_799_149_4))
        .param(Param::new("rays", ParamType::Int { min: 1, max: 1024 }, "Rays over the cone, from edge to edge, at the level `normal`. An odd number has one on the axis.").or(Value::Int(9)))
        .param(Param::number("range", Unit::Metre, "Greatest distance; reported when there is nothing nearer.").within(1e-3, 1.0e5).or_num(5.0))
        .param(Param::number("min", Unit::Metre, "Least distance; nearer things are reported there.").within(0.0, 1.0e5).or_num(0.0))
        .param(Param::new("mount", ParamType::Pose, "Where it is fixed on the body, and where the first one looks.").or(Value::Pose(Pose2::default())))
        .param(Param::number("height", Unit::Metre, "Height above the floor. It looks over what is lower.").within(0.0, 1.0e4).or_num(0.1))
        .param(Param::number("noise", Unit::Metre, "Standard deviation of the distance.").within(0.0, 1.0e3).or_num(0.0))
        .param(Param::number("noise_share", Unit::None, "Further standard deviation, as a share of the distance.").within(0.0, 1.0).or_num(0.0))
        .param(Param::new("period", ParamType::Period, "Time between readings; every quantum when left out."))
        .channel(Channel::reading("range", 1, Unit::Metre, (0.0, f64::MAX), "Distance of the nearest thing in each cone."))
        .channel(Channel::reading("hit", 1, Unit::None, (0.0, 3.0), "What is nearest: 0 nothing, 1 wall, 2 robot, 3 obstacle."))
        .level("coarse", "One ray in the middle of the cone, without noise.")
        .level("normal", "The nearest of `rays` rays over the cone, with noise.")
        .level("fine", "The exact nearest point in the cone, with noise.")
        .marks("one cone per sonar, as long as its reading")
        .example("[[type.demo.part]]\nname = \"sonars\"\nclass = \"sonar\"\ncount = 8\nring = \"10cm\"\ncone_angle = \"15deg\"\nrange = \"5m\"\nnoise_share = \"1%\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let (range, min, count) = (p.num("range"), p.num("min"), p.int("count"));
    if min >= range {
        let d = Diagnostic::error(
            "out-of-range",
            format!("`min` must be less than `range`: `{min}` is not less than `{range}`"),
        );
        return Err(d.at(p.span("min")));
    }
    let mount = p.pose("mount");
    let cones = (0..count).map(|k| {
        let turned = mount.then(Pose2::new(0.0, 0.0, 2.0 * PI * k as f64 / count as f64));
        let tip = turned.then(Pose2::new(p.num("ring"), 0.0, 0.0));
        Cone::new(tip, p.num("height"), p.num("cone_angle"), range).with_rays(p.int("rays") as usize)
    });
    Ok(Built::Sensor(Box::new(Sonar {
        cones: cones.collect(),
        min,
        range,
        noise: p.num("noise"),
        noise_share: p.num("noise_share"),
        period: p.ratio_or_none("period"),
        number: layout.parts.len() as u32,
    })))
}

struct Sonar {
    cones: Vec<Cone>,
    min: f64,
    range: f64,
    noise: f64,
    noise_share: f64,
    period: Option<Ratio>,
    /// Number of the part in its type: two sonars of one robot do not share their noise.
    number: u32,
}

impl Sonar {
    /// Distance and kind of what the sonar `k` of the body in `slot` reports, before noise.
    fn look(&self, world: &World<'_>, slot: usize, k: usize) -> (f64, f64) {
        match world.detail {
            Detail::Coarse => world.middle_of_cone(&self.cones[k], slot),
            Detail::Normal => world.nearest_of_rays(&self.cones[k], slot),
            Detail::Fine => world.nearest_in_cone(&self.cones[k], slot),
        }
    }
}

impl Sensor for Sonar {
    fn layout(&self) -> Layout {
        let channels = sheet().channels.into_iter().map(|c| Channel { len: self.cones.len(), ..c }).collect();
        let step = 2.0 * PI / self.cones.len() as f64;
        Layout { channels, bearings: Some((self.cones[0].mount().heading, step)), ..Layout::default() }
    }

    fn period(&self) -> Option<Ratio> {
        self.period
    }

    fn reach(&self) -> f64 {
        let far = self.cones.iter().map(|c| c.mount().at.norm()).fold(0.0, math::max);
        far + self.range
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        let noisy = world.detail != Detail::Coarse && (self.noise > 0.0 || self.noise_share > 0.0);
        for row in 0..rows.len {
            let slot = rows.first_slot + row;
            let draw =
                Draw::at(world.seed, world.bodies.uid[slot], Purpose::SonarNoise, world.now, self.number);
            let (ranges, hits) = rows.out.row(row).split_at_mut(self.cones.len());
            for k in 0..self.cones.len() {
                let (mut range, hit) = self.look(world, slot, k);
                if noisy && hit != 0.0 {
                    range += (self.noise + self.noise_share * range) * draw.normal(k as u32);
                }
                ranges[k] = math::min(math::max(range, self.min), self.range);
                hits[k] = hit;
            }
        }
    }

    fn marks(&self, readings: &[f64], _: &Outline) -> Vec<Mark> {
        let cones = self.cones.iter().enumerate();
        let marks = cones.flat_map(|(index, cone)| {
            cone.shapes(readings[index]).map(|shape| Mark { shape, channel: "range", index })
        });
        marks.collect()
    }
}
