//! Go to the beacon with the lowest code, then to the next; look around when none is in sight.

use crate::steer::{Wheels, drive_param};
use std::f64::consts::PI;
use swarmyard_base::Diagnostic;
use swarmyard_base::math;
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
    Sheet::new("homing", Kind::Controller, "Steers to the visible beacon with the lowest code. With a sonar it notices when it has got there and goes on to the next higher code; when none is in sight it turns to search, and stands still after two turns in vain.")
        .param(Param::new("finder", ParamType::Name("part"), "The beacon finder; the only one when left out."))
        .param(drive_param())
        .param(Param::new("sonar", ParamType::Name("part"), "The sonar (or rays) whose first reading says what is in front. Without one it never arrives: a finder knows no distance."))
        .param(Param::number("near", Unit::Metre, "Reading of the sonar at which a beacon straight ahead is reached.").within(0.0, 1.0e3).or_num(0.3))
        .param(Param::number("speed", Unit::MetrePerSecond, "Forward speed.").within(0.0, 1.0e3).or_num(0.3))
        .param(Param::number("gain", Unit::None, "Turning speed per radian off.").within(0.0, 1.0e3).or_num(2.0))
        .param(Param::number("turn", Unit::RadianPerSecond, "Greatest turning speed, and that of a search.").within(1e-3, 1.0e3).or_num(1.0))
        .level("every", "Everything.")
        .example("[[beacon]]\nid = 1\nat = [3, 1]\n\n[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"finder\"\nclass = \"beacon-finder\"\n\n[[type.demo.part]]\nname = \"sonar\"\nclass = \"sonar\"\nring = \"10cm\"\n\n[type.demo.controller]\nclass = \"homing\"\nsonar = \"sonar\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let finder =
        layout.part(p.text_or_none("finder"), "beacon-finder").map_err(|d| d.at(p.span("finder")))?;
    let sonar = match p.text_or_none("sonar") {
        None => None,
        Some(name) => {
            let part = layout.part(Some(name), "sonar").map_err(|d| d.at(p.span("sonar")))?;
            Some((part, layout.channel(part, "range").map_err(|d| d.at(p.span("sonar")))?.0))
        }
    };
    let place = |name: &str| layout.channel(finder, name).map_err(|d| d.at(p.span("finder")));
    Ok(Built::Controller(Box::new(Homing {
        bearing: place("bearing")?.0,
        id: place("id")?,
        finder,
        wheels: Wheels::find(p, layout)?,
        sonar,
        near: p.num("near"),
        speed: p.num("speed"),
        gain: p.num("gain"),
        turn: p.num("turn"),
    })))
}

struct Homing {
    finder: usize,
    /// Places in the finder's readings.
    bearing: usize,
    id: (usize, usize),
    wheels: Wheels,
    sonar: Option<(usize, usize)>,
    near: f64,
    speed: f64,
    gain: f64,
    turn: f64,
}

/// How far off straight ahead a beacon may be when it is reached, in radians.
const AHEAD: f64 = 0.35;
/// How far a search turns before it gives up, in radians.
const PATIENCE: f64 = 4.0 * PI;

impl Homing {
    /// Bearing and code of the lowest beacon above `done`.
    fn target(&self, readings: &[f64], done: f64) -> Option<(f64, f64)> {
        let ids = &readings[self.id.0..self.id.0 + self.id.1];
        // Empty slots have the code −1, and so has what was reached in the beginning.
        let k = ids.iter().position(|id| *id > done)?;
        Some((readings[self.bearing + k], ids[k]))
    }
}

impl Controller for Homing {
    fn state(&self) -> Vec<f64> {
        // The code reached last; radians turned in the present search.
        vec![crate::beacon_finder::NOBODY, 0.0]
    }

    fn think(&self, view: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            let readings = rows.readings.row(self.finder, row);
            let front = self.sonar.map_or(f64::INFINITY, |(part, place)| rows.readings.row(part, row)[place]);
            let memory = rows.next_state.row(row);
            let mut target = self.target(readings, memory[0]);
            if let Some((bearing, id)) = target
                && front <= self.near
                && bearing.abs() < AHEAD
            {
                memory[0] = id;
                target = self.target(readings, id);
            }
            let (forward, turn) = match target {
                Some((bearing, _)) => {
                    memory[1] = 0.0;
                    // First turn, then go: what is behind or beside is not approached in a wide arc.
                    let ahead = math::max(1.0 - bearing.abs() / 0.8, 0.0);
                    let clear = if front > self.near || bearing.abs() > AHEAD { 1.0 } else { 0.0 };
                    (self.speed * ahead * clear, (self.gain * bearing).clamp(-self.turn, self.turn))
                }
                None if memory[1] < PATIENCE => {
                    memory[1] += self.turn * view.quantum_s;
                    (0.0, self.turn)
                }
                None => (0.0, 0.0),
            };
            self.wheels.go(rows, row, forward, turn);
        }
    }
}
