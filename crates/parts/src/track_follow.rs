//! Follow a track: keep it in the middle of a row of track sensors.

use crate::steer::{Wheels, drive_param};
use swarmyard_base::Diagnostic;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{
    Built, Class, Controller, Kind, Param, ParamType, Sheet, ThinkRows, ThinkView, TypeLayout,
};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("track-follow", Kind::Controller, "Follows a track with a row of two or more track sensors: steers to where they see most of it, slower the more it is off the middle. When none detects it, goes on turning to the side where it was last seen.")
        .param(Param::new("sensors", ParamType::Name("part"), "The row of track sensors; the only one when left out."))
        .param(drive_param())
        .param(Param::number("speed", Unit::MetrePerSecond, "Forward speed on a straight track.").within(0.0, 1.0e3).or_num(0.2))
        .param(Param::number("turn", Unit::RadianPerSecond, "Turning speed when only the outermost sensor sees the track.").within(0.0, 1.0e3).or_num(1.5))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"eyes\"\nclass = \"track-sensor\"\ncount = 4\nspacing = \"3cm\"\n\n[type.demo.controller]\nclass = \"track-follow\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let sensors =
        layout.part(p.text_or_none("sensors"), "track-sensor").map_err(|d| d.at(p.span("sensors")))?;
    let detected = layout.channel(sensors, "detected")?.0;
    let (value, count) = layout.channel(sensors, "value")?;
    if count < 2 {
        let what =
            format!("`{}` is one sensor: a track is kept between two or more", layout.parts[sensors].0);
        return Err(Diagnostic::error("wrong-part", what)
            .at(p.span("sensors"))
            .help("give it `count` = 2 or more"));
    }
    // From 1 at the far left to −1 at the far right.
    let sides = (0..count).map(|k| 1.0 - 2.0 * k as f64 / (count - 1) as f64).collect();
    Ok(Built::Controller(Box::new(TrackFollow {
        sensors,
        detected,
        value,
        sides,
        wheels: Wheels::find(p, layout)?,
        speed: p.num("speed"),
        turn: p.num("turn"),
    })))
}

struct TrackFollow {
    sensors: usize,
    /// Places in the sensors' readings.
    detected: usize,
    value: usize,
    sides: Vec<f64>,
    wheels: Wheels,
    speed: f64,
    turn: f64,
}

impl TrackFollow {
    /// Where the track is, from 1 (left) to −1 (right); `None` when no sensor detects it.
    fn off(&self, readings: &[f64]) -> Option<f64> {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (k, side) in self.sides.iter().enumerate() {
            // Readings below the threshold are noise.
            let value = readings[self.detected + k] * readings[self.value + k];
            sum += side * value;
            weight += value;
        }
        (weight > 0.0).then(|| sum / weight)
    }
}

impl Controller for TrackFollow {
    fn state(&self) -> Vec<f64> {
        // Where the track was last seen.
        vec![0.0]
    }

    fn think(&self, _: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            let seen = self.off(rows.readings.row(self.sensors, row));
            let memory = rows.next_state.row(row);
            let (forward, turn) = if let Some(off) = seen {
                memory[0] = off;
                (self.speed * (1.0 - 0.7 * off.abs()), self.turn * off)
            } else {
                // Lost: slowly on, and towards the side where it went. Never seen yet: straight on.
                let slow = if memory[0] == 0.0 { 0.5 } else { 0.2 };
                (self.speed * slow, if memory[0] == 0.0 { 0.0 } else { self.turn.copysign(memory[0]) })
            };
            self.wheels.go(rows, row, forward, turn);
        }
    }
}
