//! Ask for help (the paper's third application), step after step.
//!
//! Each robot asks all others to go somewhere, then goes where the first order that arrives tells it to, and so
//! on. Orders that were not taken up yet wait, first in, first out.

use crate::random_movement::{pair, speeds};
use crate::sequential::{Robot, program};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_part_api::{Built, Class, Ended, Kind, Param, ParamType, ServiceKind, Sheet, from_bytes};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    min: Vec2,
    max: Vec2,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

async fn ask_for_help(robot: Robot, settings: Settings) {
    let Settings { min, max, speed, turn_speed } = settings;
    loop {
        let [x, y] = robot.draw([(min.x, max.x), (min.y, max.y)]).await;
        robot.send(&robot.others(), &Vec2::new(x, y));

        let (_, order) = robot.receive::<Vec2>().await;
        robot.say(&format!("Someone told me to go to: {}", written(order)));
        let [speed, turn_speed] = robot.draw([speed, turn_speed]).await;
        if robot.move_to(order, speed, turn_speed).await != Ended::Finished {
            // Somebody is in the way: one breath, then the next order.
            robot.sleep(1.0).await;
        }
    }
}

/// A place with all digits that it has, and one behind the point at least.
fn written(place: Vec2) -> String {
    format!("({:?}, {:?})", place.x, place.y)
}

fn show(bytes: &[u8]) -> (String, String) {
    (String::from("GOTO"), from_bytes::<Vec2>(bytes).map_or_else(|why| why, written))
}

/// The class `ask-for-help`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("ask-for-help", Kind::Algorithm, "Asks all other robots to go to a random place, then goes where the first order that arrives tells it to, and so on (the paper's third application).")
        .param(Param::new("min", ParamType::Point, "Lower left corner of the rectangle orders are drawn from.").or(Value::Point(Vec2::ZERO)))
        .param(Param::new("max", ParamType::Point, "Upper right corner.").or(Value::Point(Vec2::new(8.0, 8.0))))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries the orders; the network when left out."));
    let sheet = speeds(sheet, [0.3, 1.2], [0.6, 3.0]).example(
        "[network]\nclass = \"random\"\nmean = \"10ms\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"ask-for-help\"\nmin = [-3, -3]\nmax = [3, 3]",
    );
    Class::new(sheet, |params, _| {
        let settings = Settings {
            min: params.point_or_none("min").unwrap_or(Vec2::ZERO),
            max: params.point_or_none("max").unwrap_or(Vec2::ZERO),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let uses = &[ServiceKind::Motion, ServiceKind::Link];
        Ok(Built::Protocol(Arc::new(program(uses, settings, ask_for_help).shown_by(show))))
    })
}
