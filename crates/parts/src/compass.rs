//! A compass: the robot's heading against a fixed direction.

use std::f64::consts::PI;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::{
    Built, Channel, Class, Detail, Kind, Layout, Mark, MarkShape, Outline, Param, SenseRows, Sensor, Sheet,
    TypeLayout, World,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("compass", Kind::Sensor, "The heading of the robot, counter-clockwise from the world's x axis or from another direction called north.")
        .param(Param::number("north", Unit::Radian, "Direction that reads as zero, against the world's x axis.").within(-2.0 * PI, 2.0 * PI).or_num(0.0))
        .param(Param::number("noise", Unit::Radian, "Standard deviation of the heading.").within(0.0, 2.0 * PI).or_num(0.0))
        .channel(Channel::reading("heading", 1, Unit::Radian, (-PI, PI), "Heading against north."))
        .level("coarse", "The exact heading.")
        .level("normal", "The heading with noise.")
        .level("fine", "As normal.")
        .marks("a needle that points north")
        .example("[[type.demo.part]]\nname = \"compass\"\nclass = \"compass\"\nnorth = \"90deg\"\nnoise = \"2deg\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let number = layout.parts.len() as u32;
    Ok(Built::Sensor(Box::new(Compass { north: p.num("north"), noise: p.num("noise"), number })))
}

struct Compass {
    north: f64,
    noise: f64,
    /// Number of the part in its type: two compasses of one robot do not share their noise.
    number: u32,
}

impl Sensor for Compass {
    fn layout(&self) -> Layout {
        Layout { channels: sheet().channels, ..Layout::default() }
    }

    fn reach(&self) -> f64 {
        0.0
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        let noisy = self.noise > 0.0 && world.detail != Detail::Coarse;
        for row in 0..rows.len {
            let slot = rows.first_slot + row;
            let mut heading = world.bodies.pose[slot].heading - self.north;
            if noisy {
                let uid = world.bodies.uid[slot];
                let draw = Draw::at(world.seed, uid, Purpose::CompassNoise, world.now, self.number);
                heading += self.noise * draw.normal(0);
            }
            rows.out.row(row)[0] = math::wrap_angle(heading);
        }
    }

    fn marks(&self, readings: &[f64], outline: &Outline) -> Vec<Mark> {
        let needle = Vec2::at_angle(-readings[0]) * (0.8 * outline.reach());
        vec![Mark { shape: MarkShape::Line(vec![Vec2::ZERO, needle]), channel: "heading", index: 0 }]
    }
}
