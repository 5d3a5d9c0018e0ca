//! The simplest controller: always the same wheel speeds.

use crate::steer::{Wheels, drive_param};
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Controller, Kind, Param, Sheet, ThinkRows, ThinkView, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("cruise", Kind::Controller, "Always the same wheel speeds: straight on, an arc, or a turn in place.")
        .param(drive_param())
        .param(Param::number("left", Unit::MetrePerSecond, "Speed of the left wheel.").within(-1.0e4, 1.0e4).or_num(0.3))
        .param(Param::number("right", Unit::MetrePerSecond, "Speed of the right wheel.").within(-1.0e4, 1.0e4).or_num(0.3))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[type.demo.controller]\nclass = \"cruise\"\nleft = 0.2\nright = 0.25")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    Ok(Built::Controller(Box::new(Cruise {
        wheels: Wheels::find(p, layout)?,
        left: p.num("left"),
        right: p.num("right"),
    })))
}

struct Cruise {
    wheels: Wheels,
    left: f64,
    right: f64,
}

impl Controller for Cruise {
    fn think(&self, _: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            self.wheels.speeds(rows, row, self.left, self.right);
        }
    }
}
