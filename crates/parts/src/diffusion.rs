//! Go straight until something is near, then turn away from it.
//!
//! The controller of ARGoS's diffusion experiment.

use crate::steer::{Rays, Wheels, drive_param, rays_param};
use swarmyard_base::math::{atan2, tan};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::{Built, Class, Controller, Kind, Param, Sheet, ThinkRows, ThinkView, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("diffusion", Kind::Controller, "Goes straight; when the mean of all proximities points at something near, turns away on the spot of one wheel.")
        .param(rays_param())
        .param(drive_param())
        .param(Param::number("speed", Unit::MetrePerSecond, "Wheel speed.").within(0.0, 1.0e3).or_num(0.05))
        .param(Param::number("alpha", Unit::Radian, "Something within this angle of straight ahead is still no reason to turn, if it is far.").within(0.0, 3.2).or_num(7.5_f64.to_radians()))
        .param(Param::number("delta", Unit::None, "Mean proximity (0 nothing, 1 touching) above which something is near.").within(0.0, 1.0).or_num(0.1))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"ring\"\nclass = \"range-rays\"\nrays = 24\nstart = 0.1\nrange = 0.1\n\n[type.demo.controller]\nclass = \"diffusion\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let rays = Rays::find(p, layout)?;
    Ok(Built::Controller(Box::new(Diffusion {
        rays,
        wheels: Wheels::find(p, layout)?,
        speed: p.num("speed"),
        tan_alpha: tan(math::min(p.num("alpha"), 1.57)),
        delta: p.num("delta"),
    })))
}

struct Diffusion {
    rays: Rays,
    wheels: Wheels,
    speed: f64,
    tan_alpha: f64,
    delta: f64,
}

impl Controller for Diffusion {
    fn think(&self, _: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            let ranges = self.rays.ranges(rows, row);
            // The farthest reading stands for "nothing there", so no range constant is needed here.
            let far = ranges.iter().fold(0.0_f64, |m, r| math::max(m, *r));
            let mut sum = Vec2::ZERO;
            for (range, direction) in ranges.iter().zip(&self.rays.directions) {
                sum = sum + *direction * (1.0 - range / math::max(far, 1e-9));
            }
            let mean = sum * (1.0 / ranges.len() as f64);
            let ahead = mean.x >= 0.0 && mean.y.abs() <= self.tan_alpha * mean.x;
            let (left, right) = if mean == Vec2::ZERO || (ahead && mean.norm() < self.delta) {
                (self.speed, self.speed)
            } else if atan2(mean.y, mean.x) > 0.0 {
                (self.speed, 0.0)
            } else {
                (0.0, self.speed)
            };
            self.wheels.speeds(rows, row, left, right);
        }
    }
}
