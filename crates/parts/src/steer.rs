//! What the built-in controllers steer by: rays with bearings, and two wheels.

use swarmyard_base::math::wrap_angle;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_part_api::{Param, ParamType, ThinkRows, TypeLayout};
use swarmyard_scene::Params;

/// The key that names the rays.
pub(crate) fn rays_param() -> Param {
    Param::new("rays", ParamType::Name("part"), "The range rays; the only ones when left out.")
}

/// The key that names the drive.
pub(crate) fn drive_param() -> Param {
    Param::new("drive", ParamType::Name("part"), "The drive; the only one when left out.")
}

/// The rays a controller steers by.
pub(crate) struct Rays {
    part: usize,
    first: usize,
    /// Direction of each ray in the body's frame.
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

/// The two wheels a controller steers with.
pub(crate) struct Wheels {
    drive: usize,
    half_base: f64,
}

impl Wheels {
    /// Finds the part named by the key `drive`, or the only differential drive.
    pub(crate) fn find(p: &Params, layout: &TypeLayout<'_>) -> Result<Wheels, Diagnostic> {
        let drive = layout.part(p.text_or_none("drive"), "diff-drive").map_err(|d| d.at(p.span("drive")))?;
        let Some(base) = layout.parts[drive].2.base else {
            let what = format!("part `{}` has no two wheels", layout.parts[drive].0);
            return Err(Diagnostic::error("wrong-part", what).at(p.span("drive")));
        };
        Ok(Wheels { drive, half_base: base / 2.0 })
    }

    /// Commands the speeds of both wheels.
    #[inline]
    pub(crate) fn speeds(&self, rows: &mut ThinkRows<'_>, row: usize, left: f64, right: f64) {
        rows.commands[self.drive].row(row).copy_from_slice(&[left, right]);
    }

    /// Commands a forward speed and a turning speed.
    #[inline]
    pub(crate) fn go(&self, rows: &mut ThinkRows<'_>, row: usize, forward: f64, turn: f64) {
        let swing = turn * self.half_base;
        self.speeds(rows, row, forward - swing, forward + swing);
    }
}
