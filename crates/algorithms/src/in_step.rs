//! Robots in step: all make the same moves in the same order, because a total order broadcast says which.
//!
//! Each robot suggests a step to all, itself included; every step that is delivered is made, by everybody; who
//! sees its own step made suggests the next. Robots that deliver the same steps in the same order keep their
//! formation to the bit once all have come to rest, whatever the network does.

use crate::random_movement::{pair, speeds};
use crate::sequential::{Robot, program};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Kind, Param, ParamType, ServiceKind, Sheet, from_bytes};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    steps: u32,
    step: f64,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

async fn in_step(robot: Robot, settings: Settings) {
    let mut place = robot.gps(0.0).await;
    let mut suggested = 0;
    loop {
        if suggested < settings.steps {
            suggested += 1;
            let side = (-settings.step, settings.step);
            let [x, y] = robot.draw([side, side]).await;
            robot.broadcast(&Vec2::new(x, y));
        }
        loop {
            let (from, step) = robot.receive::<Vec2>().await;
            place = place + step;
            let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
            robot.move_to(place, speed, turn_speed).await;
            if from == robot.me() {
                break;
            }
        }
    }
}

fn show(bytes: &[u8]) -> (String, String) {
    let step = from_bytes::<Vec2>(bytes);
    (String::from("STEP"), step.map_or_else(|why| why, |p| format!("[{}, {}]", p.x, p.y)))
}

/// The class `in-step`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("in-step", Kind::Algorithm, "Suggests steps to all by a broadcast and makes every step that is delivered. With a total order all robots keep their formation.")
        .param(Param::new("steps", ParamType::Int { min: 0, max: 1_000_000 }, "How many steps each robot suggests.").or(Value::Int(3)))
        .param(Param::number("step", Unit::Metre, "Greatest length of a step along each axis.").within(1e-9, 1e6).or_num(1.0))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("broadcast", ParamType::Name("protocol"), "What carries the suggestions; the only broadcast when left out."));
    let sheet = speeds(sheet, [0.5, 1.0], [2.0, 4.0]).example(
        "[network]\nclass = \"random\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[[type.demo.protocol]]\nname = \"order\"\nclass = \"lamport-order\"\n\n[type.demo.algorithm]\nclass = \"in-step\"",
    );
    Class::new(sheet, |params, _| {
        let settings = Settings {
            steps: u32::try_from(params.int("steps")).unwrap_or(0),
            step: params.num("step"),
            speed: pair(params, "speed"),
            turn_speed: pair(params, "turn_speed"),
        };
        let uses = &[ServiceKind::Motion, ServiceKind::Broadcast];
        Ok(Built::Protocol(Arc::new(program(uses, settings, in_step).shown_by(show))))
    })
}
