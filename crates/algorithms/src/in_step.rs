//! Robots in step: all make the same moves in the same order, because a total order broadcast says which.
//!
//! Each robot suggests a step to all, itself included; every step that is delivered is made, by everybody; who
//! sees its own step made suggests the next. A step is a turn and a way, so the order of steps matters. Robots
//! that deliver the same steps in the same order are in their old formation once all have come to rest, whatever
//! the network does; others are not.

use crate::random_movement::{pair, speeds};
use crate::sequential::{Robot, program};
use serde::{Deserialize, Serialize};
use std::f64::consts::PI;
use std::sync::Arc;
use swarmyard_base::units::Unit;
use swarmyard_base::{Vec2, math};
use swarmyard_part_api::{Built, Class, Kind, Param, ParamType, Query, ServiceKind, Sheet, from_bytes};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    steps: u32,
    step: f64,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

/// What is suggested: a turn (rad), then a way (m).
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Step {
    turn: f64,
    way: f64,
}

async fn in_step(robot: Robot, settings: Settings) {
    let mut place = robot.gps(0.0).await;
    let (mut direction, mut suggested) = (0.0, 0);
    loop {
        if suggested < settings.steps {
            suggested += 1;
            let [turn, way] = robot.draw([(-PI, PI), (0.2 * settings.step, settings.step)]).await;
            robot.broadcast(&Step { turn, way });
        }
        loop {
            let (from, step) = robot.receive::<Step>().await;
            direction = math::wrap_angle(direction + step.turn);
            place = place + Vec2::at_angle(direction) * step.way;
            let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
            robot.move_to(place, speed, turn_speed).await;
            if from == robot.me() {
                break;
            }
        }
    }
}

fn show(bytes: &[u8]) -> (String, String) {
    let step = from_bytes::<Step>(bytes);
    let words = |s: Step| format!("turn by {} rad, then go {} m", s.turn, s.way);
    (String::from("STEP"), step.map_or_else(|why| why, words))
}

/// The class `in-step`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("in-step", Kind::Algorithm, "Suggests steps to all by a broadcast and makes every step that is delivered. With a total order all robots keep their formation.")
        .param(Param::new("steps", ParamType::Int { min: 0, max: 1_000_000 }, "How many steps each robot suggests.").or(Value::Int(3)))
        .param(Param::number("step", Unit::Metre, "Greatest length of a step.").within(1e-9, 1e6).or_num(1.0))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("broadcast", ParamType::Name("protocol"), "What carries the suggestions; the only broadcast when left out."));
    let sheet = speeds(sheet, [0.5, 1.0], [2.0, 4.0]).example(
        "[network]\nclass = \"random\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[[type.demo.protocol]]\nname = \"order\"\nclass = \"lamport-order\"\n\n[type.demo.algorithm]\nclass = \"in-step\"",
    );
    Class::new(sheet, |params, _| {
        let settings = Settings {
            steps: u32::try_from(params.int("steps")).unwrap_or(0),
            step: params.num("step"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let uses = &[ServiceKind::Motion, ServiceKind::Broadcast];
        let program = program(uses, settings, in_step);
        Ok(Built::Protocol(Arc::new(program.shown_by(show).asking([Query::Gps { error: 0.0 }]))))
    })
}
