//! How far around its own bodies a worker must know.

use crate::area::Area;
use crate::model::{Model, PartKind};
use crate::state::State;
use serde::{Deserialize, Serialize};
use swarmyard_base::math;
use swarmyard_motion::SKIN_M;

/// How much faster than its drive can a body may be: wheels slip, and others push.
const ROOM: f64 = 1.1;

/// How far bodies reach, see and go.
///
/// Between two times at which bodies change hands they may stray from their worker's region by `period`
/// steps; around there the worker must know everybody whom its bodies see or touch, and what those may
/// touch. A body that goes farther than `step` in a quantum is found out by its worker, and the run goes
/// back to where it was sure, with wider margins.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Margins {
    /// Greatest distance at which anything is sensed, m.
    pub sight: f64,
    /// Greatest reach of an outline from its centre, m.
    pub body: f64,
    /// Farthest any body goes in one quantum, m.
    pub step: f64,
    /// Quanta after which bodies change hands.
    pub period: u64,
    /// Whether every worker must know everybody: who gets what between two hands, and who may come back on the other
    /// side of the world, is not decided by those near by alone.
    pub everybody: bool,
}

impl Margins {
    /// What a world needs: steps are reckoned from what moves now and what drives can do, with room.
    #[must_use]
    pub fn of(model: &Model, state: &State, period: u64) -> Margins {
        let sensors = model.types.iter().flat_map(|ty| &ty.parts).filter_map(|part| match &part.kind {
            PartKind::Sensor(sensor, _) => Some(sensor.reach()),
            PartKind::Actuator(_) => None,
        });
        let sight = sensors.fold(0.0, math::max);
        let body = model.outlines.iter().map(|o| o.reach()).fold(0.0, math::max);
        let speeds = state.twist.iter().map(|t| t.linear().norm() + t.spin.abs() * body);
        let speed = 2.0 * speeds.fold(0.0, math::max);
        let drives = model.types.iter().flat_map(|ty| &ty.parts).filter_map(|part| match &part.kind {
            PartKind::Actuator(actuator) => actuator.top_speed(),
            PartKind::Sensor(..) => None,
        });
        // Who stands now may be as fast as its drive is in the next quantum.
        let top = ROOM * drives.filter(|speed| speed.is_finite()).fold(0.0, math::max);
        let length = state.quantum.length.value();
        let step = math::max(math::max(math::max(speed, top) * length, body / 4.0), 0.01);
        let everybody = model.has_hands() || model.wraps();
        Margins { sight, body, step, period: period.max(1), everybody }
    }

    /// The same for bodies that go twice as far.
    #[must_use]
    pub fn wider(&self) -> Margins {
        Margins { step: self.step * 2.0, ..*self }
    }

    /// No envelope reaches farther from where its body started.
    #[must_use]
    pub fn leap(&self) -> f64 {
        self.body + self.step + 4.0 * SKIN_M
    }

    /// Where the bodies of a worker may be until they change hands.
    #[must_use]
    pub fn allowed(&self, region: &Area) -> Area {
        region.grown(self.step * self.period as f64)
    }

    /// Where ghosts must come out right, because own bodies may sense them next.
    #[must_use]
    pub fn needed(&self, region: &Area) -> Area {
        if self.everybody {
            return Area::EVERYWHERE;
        }
        self.allowed(region).grown(self.sight + 2.0 * self.body + 2.0 * self.step)
    }

    /// Of where a worker is told everybody; each `widening` doubles the room for contacts.
    #[must_use]
    pub fn known(&self, region: &Area, widening: u32) -> Area {
        let room = 4.0 * self.leap() * f64::from(1_u32 << widening.min(24));
        self.needed(region).grown(room)
    }
}
