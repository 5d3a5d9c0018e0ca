//! Spread out: turn to where there is most room, and go when the way is clear.
//!
//! The controller of Stage's swarm benchmark.

use swarmyard_base::math::{atan2, wrap_angle};
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_part_api::{
    Built, Class, Controller, Kind, Param, ParamType, Sheet, ThinkRows, ThinkView, TypeLayout,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class { sheet: sheet(), build: Some(build) }
}

fn sheet() -> Sheet {
    Sheet::new("expand-swarm", Kind::Controller, "Spreads a swarm: turns toward the vector sum of all ranges and drives on when the front is clear.")
        .param(Param::new("rays", ParamType::Name("part"), "The range rays; the only ones when left out."))
        .param(Param::new("drive", ParamType::Name("part"), "The drive; the only one when left out."))
        .param(Param::number("base", Unit::Metre, "Distance between the wheels.").within(1e-4, 1.0e3).or_num(crate::diff_drive::DEFAULT_BASE_M))
        .param(Param::number("speed", Unit::MetrePerSecond, "Forward speed.").within(0.0, 1.0e3).or_num(0.3))
        .param(Param::number("gain", Unit::None, "Turning speed per radian off.").within(0.0, 1.0e3).or_num(1.0))
        .param(Param::number("clearance", Unit::Metre, "Free distance in front that is needed to go on.").within(0.0, 1.0e3).or_num(0.5))
        .level("full", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"ring\"\nclass = \"range-rays\"\nrays = 12\nrange = 2\n\n[type.demo.controller]\nclass = \"expand-swarm\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let rays = Rays::find(p, layout)?;
    let drive = layout.part(p.text_or_none("drive"), "diff-drive").map_err(|d| d.at(p.span("drive")))?;
    Ok(Built::Controller(Box::new(ExpandSwarm {
        // The front is what lies within 35° of straight ahead: with twelve rays, three of them.
        front: rays.within(0.611),
        rays,
        drive,
        half_base: p.num("base") / 2.0,
        speed: p.num("speed"),
        gain: p.num("gain"),
        clearance: p.num("clearance"),
    })))
}

/// The rays a controller steers by.
pub(crate) struct Rays {
    pub(crate) part: usize,
    pub(crate) first: usize,
    pub(crate) directions: Vec<Vec2>,
}

impl Rays {
    /// Finds the part named by the key `rays`, or the only range rays.
    pub(crate) fn find(p: &Params, layout: &TypeLayout<'_>) -> Result<Rays, Diagnostic> {
        let part = layout.part(p.text_or_none("rays"), "range-rays").map_err(|d| d.at(p.span("rays")))?;
        let (first, len) = layout.channel(part, "range")?;
        let Some((start, step)) = layout.parts[part].2.bearings else {
            let what = format!("part `{}` has no rays with bearings", layout.parts[part].0);
            return Err(Diagnostic::error("wrong-part", what).at(p.span("rays")));
        };
        let directions = (0..len).map(|k| Vec2::at_angle(start + k as f64 * step)).collect();
        Ok(Rays { part, first, directions })
    }

    /// Numbers of the rays within `angle_rad` of straight ahead.
    pub(crate) fn within(&self, angle_rad: f64) -> Vec<usize> {
        let ahead = |k: &usize| wrap_angle(self.directions[*k].angle()).abs() <= angle_rad;
        (0..self.directions.len()).filter(ahead).collect()
    }

    /// The readings of one robot.
    #[inline]
    pub(crate) fn ranges<'a>(&self, rows: &ThinkRows<'a>, row: usize) -> &'a [f64] {
        &rows.readings.row(self.part, row)[self.first..self.first + self.directions.len()]
    }
}

struct ExpandSwarm {
    rays: Rays,
    front: Vec<usize>,
    drive: usize,
    half_base: f64,
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
            let swing = turn * self.half_base;
            rows.commands[self.drive].row(row).copy_from_slice(&[forward - swing, forward + swing]);
        }
    }
}
