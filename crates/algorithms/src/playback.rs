//! Playback: a robot is where somebody wrote down that it was, at every moment.
//!
//! In: rows of when, where to, how far it turns, and how long that takes. Out: motions that meet the rows
//! exactly. It needs a `glider` for ways and `wheels` for turns. Nothing it meets makes it do anything else.

use crate::scripted::{Row, rows};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Moment, Vec2, math};
use swarmyard_part_api::{
    Built, Class, Cx, Kind, Microprotocol, Motion, Moving, Param, ParamType, PortSpec, ProtocolModel,
    ProtocolPort, ServiceKind, Sheet,
};

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

struct Playback {
    /// When, where it is afterwards, how far it turns, how long that takes. Those of its class; no part of its memory.
    rows: Arc<[Row]>,
    next: usize,
}

impl Playback {
    fn wait(&self, cx: &mut Cx<'_>) {
        if let Some(row) = self.rows.get(self.next) {
            let wait = Moment::ZERO.plus(row[0]).since(cx.now());
            cx.set_timer(math::max(wait, 0.0));
        }
    }

    /// Where it was before a row.
    fn before(&self, row: usize) -> Option<Vec2> {
        let &[_, x, y, ..] = self.rows.get(row.checked_sub(1)?)?;
        Some(Vec2::new(x, y))
    }
}

impl Microprotocol for Playback {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.wait(cx);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        let Some(&[_, x, y, turn, for_s]) = self.rows.get(self.next) else { return };
        let way = self.before(self.next).map_or(Vec2::ZERO, |from| Vec2::new(x, y) - from);
        self.next += 1;
        if for_s > 0.0 && way != Vec2::ZERO {
            let motion = Motion::Velocity { velocity: way * (1.0 / for_s), for_s };
            cx.go(MOTION, self.next as u64, motion);
        } else if for_s > 0.0 && turn != 0.0 {
            cx.go(MOTION, self.next as u64, Motion::Arc { speed: 0.0, spin: turn / for_s, for_s });
        }
        self.wait(cx);
    }

    fn save(&self) -> Vec<u8> {
        swarmyard_part_api::to_bytes(&self.next)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        self.next = swarmyard_part_api::from_bytes(image)?;
        Ok(())
    }
}

struct Model(Arc<[Row]>);

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Playback { rows: Arc::clone(&self.0), next: 0 })
    }
}

/// The columns of the rows.
const COLUMNS: &[(&str, Unit)] = &[
    ("t", Unit::Second),
    ("x", Unit::Metre),
    ("y", Unit::Metre),
    ("turn", Unit::Radian),
    ("takes", Unit::Second),
];

/// The class `playback`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("playback", Kind::Algorithm, "Is where somebody wrote down that it was: `swarmyard import` makes such robots from a log.")
        .param(Param::new("rows", ParamType::Rows(COLUMNS), "Rows of [time, x, y, turn, takes], in ascending order of time: where it is afterwards, how far it turns in place, and how long that takes. The first row is where it begins.").required())
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .example("[[type.demo.part]]\nname = \"glider\"\nclass = \"glider\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"playback\"\nrows = [[0, 0, 0, 0, 0], [1, 0, 0, \"90deg\", 2], [3, 0, 1, 0, 4]]");
    Class::new(sheet, |params, _| Ok(Built::Protocol(Arc::new(Model(rows(params, "rows")?.into())))))
}
