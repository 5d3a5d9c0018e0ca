//! Gathering (the paper's second application): look where all are, go to the middle, look again.

use crate::random_movement::{pair, speeds};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Diagnostic, Vec2};
use swarmyard_part_api::{
    Answer, Built, Class, Cx, Ended, Indication, Kind, Microprotocol, Motion, Moving, Param, ParamType,
    PortSpec, ProtocolModel, ProtocolPort, Query, ServiceKind, Sheet, memory_is_serde,
};
use swarmyard_scene::Params;

const MOTION: ProtocolPort<Moving> = ProtocolPort::new(0);

/// What it is told by the scenario.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(crate) error: f64,
    pub(crate) near: f64,
    pub(crate) speed: (f64, f64),
    pub(crate) turn_speed: (f64, f64),
}

#[derive(Clone, Serialize, Deserialize)]
struct Gathering {
    settings: Settings,
    moves: u64,
}

/// The mean of some points.
pub(crate) fn centroid(points: impl Iterator<Item = Vec2>) -> Option<Vec2> {
    let (sum, n) = points.fold((Vec2::ZERO, 0.0), |(sum, n), p| (sum + p, n + 1.0));
    (n > 0.0).then(|| sum * (1.0 / n))
}

impl Gathering {
    fn look_and_go(&mut self, cx: &mut Cx<'_>) {
        let Ok(Answer::Seen(all)) = cx.pull(&Query::GpsAll { error: self.settings.error }) else {
            cx.failed("gathering needs a part of class `gps`, and the robot stays where it is");
            return;
        };
        let me = cx.me();
        // They come in the order of their numbers.
        let own = all.binary_search_by_key(&Some(me), |s| s.robot).map_or(Vec2::ZERO, |k| all[k].at);
        let Some(to) = centroid(all.iter().map(|s| s.at)) else { return };
        // Who is there already looks again after a while: going nowhere takes no time.
        if (to - own).norm() < self.settings.near {
            cx.set_timer(1.0);
            return;
        }
        let draw = cx.chance();
        let Settings { speed, turn_speed, .. } = self.settings;
        let speed = draw.between(0, speed.0, speed.1);
        let turn_speed = draw.between(1, turn_speed.0, turn_speed.1);
        self.moves += 1;
        cx.go(MOTION, self.moves, Motion::MoveTo { to, speed, turn_speed });
    }
}

impl Microprotocol for Gathering {
    fn start(&mut self, cx: &mut Cx<'_>) {
        self.look_and_go(cx);
    }

    fn indication(&mut self, _port: usize, what: Indication, cx: &mut Cx<'_>) {
        match what {
            Indication::Ended { how: Ended::Finished, .. } => self.look_and_go(cx),
            // Something is in the way, or who moves it has given up: it looks again after a while.
            Indication::Ended { how: Ended::Collided { .. } | Ended::Replaced, .. } => {
                cx.set_timer(1.0);
            }
            _ => {}
        }
    }

    fn timer(&mut self, _timer: u64, cx: &mut Cx<'_>) {
        self.look_and_go(cx);
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
        Box::new(Gathering { settings: self.0.clone(), moves: 0 })
    }

    fn asks(&self) -> Vec<Query> {
        vec![Query::GpsAll { error: self.0.error }]
    }
}

/// The sheet of a class that gathers.
pub(crate) fn sheet(class: &'static str, summary: &'static str) -> Sheet {
    let sheet = Sheet::new(class, Kind::Algorithm, summary)
        .param(
            Param::number("error", Unit::Metre, "Standard deviation of each coordinate that the gps tells.")
                .within(0.0, 1.0e6)
                .or_num(0.0),
        )
        .param(
            Param::number(
                "near",
                Unit::Metre,
                "Nearer than this to the middle it waits a second and looks again.",
            )
            .within(1e-9, 1.0e6)
            .or_num(0.001),
        )
        .param(Param::new(
            "motion",
            ParamType::Name("protocol"),
            "Who moves the robot; its motion modules when left out.",
        ));
    let example = if class == "gathering" { EXAMPLE } else { EXAMPLE_SEQUENTIAL };
    speeds(sheet, [0.3, 0.6], [0.3, 1.0]).example(example)
}

const EXAMPLE: &str = "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[type.demo.algorithm]\nclass = \"gathering\"";
const EXAMPLE_SEQUENTIAL: &str = "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[type.demo.algorithm]\nclass = \"gathering-sequential\"";

/// What the scenario says.
pub(crate) fn settings(params: &Params) -> Result<Settings, Diagnostic> {
    let num = |name: &str| params.num_or_none(name).unwrap_or(0.0);
    Ok(Settings {
        error: num("error"),
        near: num("near"),
        speed: pair(params, "speed")?,
        turn_speed: pair(params, "turn_speed")?,
    })
}

/// The class `gathering`.
pub(crate) fn class() -> Class {
    let summary = "Looks where all robots are by a `gps`, goes to the middle of them, and looks again (the paper's second application). Use it with `contact = \"ghost\"`, or they are in each other's way.";
    Class::new(sheet("gathering", summary), |params, _| {
        Ok(Built::Protocol(Arc::new(Model(settings(params)?))))
    })
}
