//! Motions at given times: to set a scene, to try a world, to play what somebody logged.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::{
    Built, Class, Cx, Ended, Indication, Kind, Microprotocol, Motion, Moving, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, ServiceKind, Sheet, memory_is_serde,
};
use swarmyard_scene::Params;

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

/// One row: when, where to, how fast, how fast it turns.
pub(crate) type Row = [f64; 5];

#[derive(Clone, Serialize, Deserialize)]
struct Scripted {
    rows: Vec<Row>,
    next: usize,
}

impl Scripted {
    /// Waits for the next row.
    fn wait(&self, cx: &mut Cx<'_>) {
        if let Some(row) = self.rows.get(self.next) {
            let now = cx.now();
            let at = swarmyard_base::Moment::ZERO.plus(row[0]);
            cx.set_timer(math::max(at.since(now), 0.0));
        }
    }
}

impl Microprotocol for Scripted {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.wait(cx);
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        let Some(&[_, x, y, speed, turn_speed]) = self.rows.get(self.next) else { return };
        self.next += 1;
        cx.go(MOTION, self.next as u64, Motion::MoveTo { to: Vec2::new(x, y), speed, turn_speed });
        self.wait(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        if let Indication::Ended { how: Ended::Collided { at, .. }, .. } = what {
            cx.say(&format!("stopped by a contact at ({}, {})", at.x, at.y));
        }
    }

    memory_is_serde!();
}

struct Model(Vec<Row>);

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(Scripted { rows: self.0.clone(), next: 0 })
    }
}

/// The columns of the script.
const COLUMNS: &[(&str, Unit)] = &[
    ("t", Unit::Second),
    ("x", Unit::Metre),
    ("y", Unit::Metre),
    ("speed", Unit::MetrePerSecond),
    ("turn_speed", Unit::RadianPerSecond),
];

/// The class `scripted`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("scripted", Kind::Algorithm, "Goes to given points at given times. A motion that is still under way then is replaced.")
        .param(Param::new("moves", ParamType::Rows(COLUMNS), "Rows of [time, x, y, speed, turning speed], in ascending order of time.").required())
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .example("[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"scripted\"\nmoves = [[0, 1, 1, 0.5, \"90deg/s\"], [5, 0, 0, 0.5, \"90deg/s\"]]");
    Class::new(sheet, |params, _| {
        let rows = rows(params, "moves")?;
        for (k, [.., speed, turn_speed]) in rows.iter().enumerate() {
            if let Some(slow) = [speed, turn_speed].into_iter().find(|s| **s <= 0.0) {
                let what =
                    format!("row `{}` of `moves` has the speed `{slow}`, and nobody would arrive", k + 1);
                let d = Diagnostic::error("out-of-range", what).at(params.span("moves"));
                return Err(d.help("both speeds are more than 0"));
            }
        }
        Ok(Built::Protocol(Arc::new(Model(rows))))
    })
}

/// Rows of five numbers of which the first is a time, in ascending order.
pub(crate) fn rows(params: &Params, key: &str) -> Result<Vec<Row>, Diagnostic> {
    let row = |r: &Vec<f64>| -> Option<Row> { r[..].try_into().ok() };
    let rows: Vec<Row> = params.rows_or_none(key).unwrap_or(&[]).iter().filter_map(row).collect();
    let Some(k) = rows.windows(2).position(|two| two[1][0] < two[0][0]) else { return Ok(rows) };
    let (early, late) = (rows[k + 1][0], rows[k][0]);
    let what = format!("row `{}` of `{key}` is at `{early}` s, and the one before it at `{late}` s", k + 2);
    Err(Diagnostic::error("wrong-order", what)
        .at(params.span(key))
        .help("put the rows in the order of their times"))
}
