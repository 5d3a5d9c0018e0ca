//! Touch sensors around the body.

use std::f64::consts::PI;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::{
    Built, Channel, Class, Kind, Layout, Mark, MarkShape, Outline, Param, ParamType, SenseRows, Sensor,
    Sheet, TypeLayout, World,
};
use swarmyard_scene::{Params, Value};

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("bumper", Kind::Sensor, "Equal sectors around the body, each pressed while something touches it there. The first sector is centred on the front, the others follow counter-clockwise.")
        .param(Param::new("sectors", ParamType::Int { min: 1, max: 64 }, "Number of sectors.").or(Value::Int(4)))
        .channel(Channel::reading("pressed", 4, Unit::None, (0.0, 1.0), "1 for each sector that is touched."))
        .channel(Channel::reading("by", 4, Unit::None, (0.0, 3.0), "What touches it: 0 nothing, 1 wall, 2 robot, 3 obstacle."))
        .level("every", "Everything.")
        .marks("an arc for each pressed sector")
        .example("[[type.demo.part]]\nname = \"bumper\"\nclass = \"bumper\"\nsectors = 8")
}

fn build(p: &Params, _: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Sensor(Box::new(Bumper { sectors: p.int("sectors") as usize })))
}

struct Bumper {
    sectors: usize,
}

impl Sensor for Bumper {
    fn layout(&self) -> Layout {
        let channels = sheet().channels.into_iter().map(|c| Channel { len: self.sectors, ..c }).collect();
        Layout { channels, ..Layout::default() }
    }

    fn reach(&self) -> f64 {
        0.0
    }

    fn sense(&self, world: &World<'_>, rows: &mut SenseRows<'_>) {
        for row in 0..rows.len {
            let (pressed, by) = rows.out.row(row).split_at_mut(self.sectors);
            pressed.fill(0.0);
            by.fill(0.0);
            for touch in world.touches_of(rows.first_slot + row) {
                let width = 2.0 * PI / self.sectors as f64;
                let turns = (touch.point.angle() + width / 2.0) / width;
                let sector = (turns.floor() as i64).rem_euclid(self.sectors as i64) as usize;
                pressed[sector] = 1.0;
                by[sector] = math::max(by[sector], f64::from(touch.kind as u8));
            }
        }
    }

    fn marks(&self, readings: &[f64], outline: &Outline) -> Vec<Mark> {
        let width = 2.0 * PI / self.sectors as f64;
        let arc = |index: usize| {
            let middle = index as f64 * width;
            let (from, to) = (middle - width / 2.0, middle + width / 2.0);
            let shape = MarkShape::Arc { centre: Vec2::ZERO, radius: outline.reach(), from, to };
            Mark { shape, channel: "pressed", index }
        };
        (0..self.sectors).filter(|&k| readings[k] != 0.0).map(arc).collect()
    }
}
