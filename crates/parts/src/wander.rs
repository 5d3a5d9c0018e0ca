//! Drive about, turn away from what is in front, and change course now and then.

use crate::steer::{Rays, Wheels, drive_param, rays_param};
use swarmyard_base::Diagnostic;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Controller, Kind, Param, Sheet, ThinkRows, ThinkView, TypeLayout};
use swarmyard_scene::Params;

/// The class.
#[must_use]
pub(crate) fn class() -> Class {
    Class::new(sheet(), build)
}

fn sheet() -> Sheet {
    Sheet::new("wander", Kind::Controller, "Drives about: straight on while the front is clear, turns away from the nearer side when it is not, and sways a little at random.")
        .param(rays_param())
        .param(drive_param())
        .param(Param::number("speed", Unit::MetrePerSecond, "Forward speed.").within(0.0, 1.0e3).or_num(0.4))
        .param(Param::number("turn", Unit::RadianPerSecond, "Turning speed when something is in the way.").within(0.0, 1.0e3).or_num(1.0))
        .param(Param::number("clearance", Unit::Metre, "Free distance in front that is needed to go on.").within(0.0, 1.0e3).or_num(0.6))
        .param(Param::number("sway", Unit::RadianPerSecond, "Standard deviation of the random turning speed.").within(0.0, 1.0e3).or_num(0.3))
        .level("every", "Everything.")
        .example("[[type.demo.part]]\nname = \"drive\"\nclass = \"diff-drive\"\n\n[[type.demo.part]]\nname = \"scanner\"\nclass = \"range-rays\"\nrays = 9\nspread = \"180deg\"\nrange = 3\n\n[type.demo.controller]\nclass = \"wander\"")
}

fn build(p: &Params, layout: &TypeLayout<'_>) -> Result<Built, Diagnostic> {
    let rays = Rays::find(p, layout)?;
    Ok(Built::Controller(Box::new(Wander {
        front: rays.within(1.05),
        left: rays.directions.iter().map(|d| d.y >= 0.0).collect(),
        rays,
        wheels: Wheels::find(p, layout)?,
        speed: p.num("speed"),
        turn: p.num("turn"),
        clearance: p.num("clearance"),
        sway: p.num("sway"),
    })))
}

struct Wander {
    rays: Rays,
    front: Vec<usize>,
    left: Vec<bool>,
    wheels: Wheels,
    speed: f64,
    turn: f64,
    clearance: f64,
    sway: f64,
}

/// Quanta that a random course lasts, and that a turn lasts at least.
const COURSE: f64 = 16.0;
const TURN: f64 = 6.0;

impl Controller for Wander {
    fn state(&self) -> Vec<f64> {
        // Quanta left of the present turn (signed by its direction); quanta left of the present
        // course; its turning speed.
        vec![0.0; 3]
    }

    fn think(&self, view: &ThinkView, rows: &mut ThinkRows<'_>) {
        for row in 0..rows.uids.len() {
            let ranges = self.rays.ranges(rows, row);
            let uid = rows.uids[row];
            let memory = rows.next_state.row(row);
            let blocked = self.front.iter().any(|&k| ranges[k] < self.clearance);
            if blocked && memory[0] == 0.0 {
                let (mut left, mut right) = (0.0, 0.0);
                for (range, is_left) in ranges.iter().zip(&self.left) {
                    *(if *is_left { &mut left } else { &mut right }) += range;
                }
                memory[0] = if left >= right { TURN } else { -TURN };
            }
            let (forward, turn) = if memory[0] != 0.0 {
                let turn = self.turn.copysign(memory[0]);
                // A turn goes on while the front is blocked, then runs out.
                if !blocked {
                    memory[0] -= 1.0_f64.copysign(memory[0]);
                }
                (if blocked { 0.0 } else { self.speed * 0.5 }, turn)
            } else {
                if memory[1] <= 0.0 {
                    let draw = Draw::at(view.seed, uid, Purpose::Behaviour, view.now, 0);
                    memory[1] = COURSE;
                    memory[2] = self.sway * draw.normal(0);
                }
                memory[1] -= 1.0;
                (self.speed, memory[2])
            };
            self.wheels.go(rows, row, forward, turn);
        }
    }
}
