//! Random movement (the paper's first application): go somewhere, then somewhere else, for ever.
//!
//! As a state machine: one handler per event. After a collision it simply goes somewhere else.

use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2, math};
use swarmyard_part_api::{
    Built, Class, Cx, Ended, Indication, Kind, Microprotocol, Motion, Moving, Param, ParamType, PortSpec,
    ProtocolModel, ProtocolPort, ServiceKind, Sheet, memory_is_serde,
};

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

/// What it is told by the scenario.
#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    min: Vec2,
    max: Vec2,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

#[derive(Clone, Serialize, Deserialize)]
struct RandomMovement {
    settings: Settings,
    moves: u64,
}

impl RandomMovement {
    fn go(&mut self, cx: &mut Cx<'_>) {
        let Settings { min, max, speed, turn_speed } = self.settings;
        let draw = cx.chance();
        let to = Vec2::new(draw.between(0, min.x, max.x), draw.between(1, min.y, max.y));
        let motion = Motion::MoveTo {
            to,
            speed: draw.between(2, speed.0, speed.1),
            turn_speed: draw.between(3, turn_speed.0, turn_speed.1),
        };
        self.moves += 1;
        cx.go(MOTION, self.moves, motion);
    }
}

impl Microprotocol for RandomMovement {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.go(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Ended { how: Ended::Finished, .. } => self.go(cx),
            // Into whatever stands in the way it would be stopped at once, at the same moment: it waits a little;
            // and so it does when who moves it has given up.
            Indication::Ended { how: Ended::Collided { .. } | Ended::Replaced, .. } => {
                cx.set_timer(1.0);
            }
            _ => {}
        }
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        self.go(cx);
    }

    memory_is_serde!();
}

struct Model(Settings);

impl ProtocolModel for Model {
    fn provides(&self) -> Option<ServiceKind> {
        None
    }

    fn ports(&self) -> Vec<PortSpec> {
        vec![PortSpec::new("motion", ServiceKind::Motion)]
    }

    fn start(&self) -> Box<dyn Microprotocol> {
        Box::new(RandomMovement { settings: self.0.clone(), moves: 0 })
    }
}

/// The parameters that say how fast robots go: from `min` to `max`, drawn anew for every motion.
pub(crate) fn speeds(sheet: Sheet, speed: [f64; 2], turn_speed: [f64; 2]) -> Sheet {
    use swarmyard_scene::Value;
    let pair = |unit: Unit| ParamType::Numbers { unit, min_len: 2, max_len: 2 };
    sheet
        .param(
            Param::new(
                "speed",
                pair(Unit::MetrePerSecond),
                "Least and greatest speed; drawn anew for every motion.",
            )
            .or(Value::Nums(speed.to_vec())),
        )
        .param(
            Param::new("turn_speed", pair(Unit::RadianPerSecond), "Least and greatest turning speed.")
                .or(Value::Nums(turn_speed.to_vec())),
        )
}

/// Two numbers of the parameters, in order.
pub(crate) fn pair(params: &swarmyard_scene::Params, name: &str) -> Result<(f64, f64), Diagnostic> {
    let Some(&[a, b]) = params.nums_or_none(name) else { return Ok((1.0, 1.0)) };
    let (least, most) = (math::min(a, b), math::max(a, b));
    if least < 0.0 || most == 0.0 {
        let what = format!("`{name}` goes from `{least}` to `{most}`, and a speed is more than 0");
        let d = Diagnostic::error("out-of-range", what).at(params.span(name));
        return Err(d.help("the least and the greatest speed, such as [0.3, 1.3]"));
    }
    Ok((math::max(least, 1e-9), most))
}

/// The class `random-movement`.
pub(crate) fn class() -> Class {
    use swarmyard_scene::Value;
    let sheet = Sheet::new(
        "random-movement",
        Kind::Algorithm,
        "Goes to a random place in a rectangle, then to another, for ever (the paper's first application).",
    )
    .param(
        Param::new("min", ParamType::Point, "Lower left corner of the rectangle.")
            .or(Value::Point(Vec2::ZERO)),
    )
    .param(Param::new("max", ParamType::Point, "Upper right corner.").or(Value::Point(Vec2::new(8.0, 8.0))))
    .param(Param::new(
        "motion",
        ParamType::Name("protocol"),
        "Who moves the robot; its motion modules when left out.",
    ));
    let sheet = speeds(sheet, [0.3, 1.3], [0.3, 3.0]).example(
        "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"random-movement\"\nmin = [-3, -3]\nmax = [3, 3]",
    );
    Class::new(sheet, |params, _| {
        let point = |name: &str| params.point_or_none(name).unwrap_or(Vec2::ZERO);
        let settings = Settings {
            min: point("min"),
            max: point("max"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        Ok(Built::Protocol(Arc::new(Model(settings))))
    })
}
