//! Setting out together without a signal: every robot goes when its own clock shows a time.
//!
//! How far apart they set out is how far apart their clocks are, and that is up to a protocol below. Who set out
//! has light 1.

use crate::sequential::{News, Robot, program};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Ended, Kind, Param, ParamType, ReadClock, ServiceKind, Sheet};

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    at: f64,
    distance: f64,
    speed: f64,
}

/// The light of a robot that has set out.
const OFF: u8 = 1;

async fn set_out(robot: Robot, settings: Settings) {
    robot.request(ServiceKind::Clock, ReadClock::At(settings.at));
    loop {
        if let News::Clock(reading, error) = robot.next_news().await {
            let error =
                error.map_or_else(|| String::from("nobody knows how wrong"), |e| format!("± {e:.3} s"));
            robot.say(&format!("sets out: it is {reading:.3} s, {error}"));
            break;
        }
    }
    robot.shine(OFF);
    if robot.forward(settings.distance, settings.speed).await != Ended::Finished {
        robot.say("cannot go on");
    }
}

/// The class `set-out`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("set-out", Kind::Algorithm, "Waits until its clock shows a time, then goes straight on, with light 1. What the clock shows is up to a protocol below.")
        .param(Param::number("at", Unit::Second, "What the clock shows when it sets out.").within(-1e9, 1e9).or_num(10.0))
        .param(Param::number("distance", Unit::Metre, "How far it goes.").within(1e-6, 1e6).or_num(5.0))
        .param(Param::number("speed", Unit::MetrePerSecond, "How fast.").within(1e-6, 1e3).or_num(1.0))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("clock", ParamType::Name("protocol"), "Who knows the time; the only such protocol when left out."))
        .example("[network]\nclass = \"uniform\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.protocol]]\nname = \"time\"\nclass = \"clock-sync\"\n\n[type.demo.algorithm]\nclass = \"set-out\"");
    Class::new(sheet, |params, _| {
        let settings =
            Settings { at: params.num("at"), distance: params.num("distance"), speed: params.num("speed") };
        let uses = &[ServiceKind::Motion, ServiceKind::Clock];
        Ok(Built::Protocol(Arc::new(program(uses, settings, set_out))))
    })
}
