//! Spread out: turn to where there is most room, and go when the way is clear.
//!
//! The controller of Stage's swarm benchmark.

use crate::steer::{Rays, Wheels, drive_param, rays_param};
use swarmyard_base::math::atan2;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_part_api::{Built, Class, Controller, Kind, Param, Sheet, ThinkRows, ThinkView, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("expand-swarm", Kind::Controller, "Spreads a swarm: turns toward the vector sum of all ranges and drives on when the front is clear.")
        .param(rays_param())
        .param(drive_param())
        .param(Param::number("speed", Unit::MetrePerSecond, "Forward speed.").within(0.0, 1.0e3).or_num(0.3))
        .param(Param::number("gain", Unit::None, "Turning speed per radian off.").within(0.0, 1.0e3).or_num(1.0))
        .param(Param::number("clearance", Unit::Metre, "Free distance in front that is needed to go on.").within(0.0, 1.0e3).or_num(0.5))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"ring\"\nclass = \"range-rays\"\nrays = 12\nrange = 2\n\n[type.demo.controller]\nclass = \"expand-swarm\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let rays = Rays::find(p, layout)?;
    Ok(Built::Controller(Box::new(ExpandSwarm {
        // The front is what lies within 35° of straight ahead: with twelve rays, three of them.
        front: rays.within(0.611),
        rays,
        wheels: Wheels::find(p, layout)?,
        speed: p.num("speed"),
        gain: p.num("gain"),
        clearance: p.num("clearance"),
    })))
}

struct ExpandSwarm {
    rays: Rays,
    front: Vec<usize>,
    wheels: Wheels,
    speed: f64,
    gain: f64,
    clearance: f64,
}

impl Controller for ExpandSwarm {
    fn think(&self, _: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            let ranges = self.rays.ranges(rows, row);
            let mut sum = Vec2::ZERO;
            for (range, direction) in ranges.iter().zip(&self.rays.directions) {
                sum = sum + *direction * *range;
            }
            let clear = self.front.iter().all(|&k| ranges[k] > self.clearance);
            let forward = if clear { self.speed } else { 0.0 };
            // A sum of nothing but rounding has no direction.
            let turn = if sum.norm2() > 1e-18 { self.gain * atan2(sum.y, sum.x) } else { 0.0 };
            self.wheels.go(rows, row, forward, turn);
        }
    }
}
