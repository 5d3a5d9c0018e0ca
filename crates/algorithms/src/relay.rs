//! News that travels with robots: who knows it says it again and again, and who hears it knows it.
//!
//! A robot may patrol a route meanwhile, and may have a goal to which it goes as soon as it knows. With a radio
//! that does not reach far the news gets only where somebody carries it.

use crate::random_movement::{pair, speeds};
use crate::sequential::{Either, Robot, first, program};
use serde::{Deserialize, Serialize};
use std::future::pending;
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Ended, Kind, Param, ParamType, ServiceKind, Sheet};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    knows: bool,
    every: f64,
    route: Vec<Vec2>,
    goal: Option<Vec2>,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

/// The light of a robot that knows.
const KNOWS: u8 = 1;

async fn relay(robot: Robot, settings: Settings) {
    match first(talk(&robot, &settings), travel(&robot, &settings)).await {
        Either::First(never) | Either::Second(never) => never,
    }
}

/// Waits for the news, then tells everybody in reach, for ever.
async fn talk(robot: &Robot, settings: &Settings) {
    if !settings.knows {
        let (from, ()) = robot.receive().await;
        robot.say(&format!("{from} told me the news"));
    }
    robot.shine(KNOWS);
    if let Some(goal) = settings.goal {
        // In place of the patrol.
        let motion = robot.move_to(goal, settings.speed.1, settings.turn_speed.1);
        first(motion, tell(robot, settings.every)).await;
    }
    tell(robot, settings.every).await;
}

async fn tell(robot: &Robot, every: f64) {
    loop {
        robot.send(&robot.others(), &());
        robot.sleep(every).await;
    }
}

/// Goes along the route for ever, until something else moves the robot.
async fn travel(robot: &Robot, settings: &Settings) {
    while !settings.route.is_empty() {
        for to in &settings.route {
            let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
            match robot.move_to(*to, speed, turn_speed).await {
                Ended::Finished => {}
                Ended::Collided { .. } => robot.sleep(1.0).await,
                Ended::Replaced | Ended::Swallowed => return pending().await,
            }
        }
    }
    pending().await
}

/// The class `relay`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("relay", Kind::Algorithm, "Waits for news and tells it again and again to everybody in reach; may patrol a route meanwhile, and goes to its goal, if it has one, as soon as it knows. Its light is 1 from then on.")
        .param(Param::new("knows", ParamType::Bool, "Whether it knows the news from the start.").or(Value::Bool(false)))
        .param(Param::number("every", Unit::Second, "How often it tells the news.").within(1e-3, 1e6).or_num(0.5))
        .param(Param::new("route", ParamType::Points { min_len: 1 }, "Points it goes to, one after another, for ever. Stands still when left out."))
        .param(Param::new("goal", ParamType::Point, "Where it goes when it knows."))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("link", ParamType::Name("protocol"), "What carries the news; the network when left out."));
    let sheet = speeds(sheet, [0.5, 0.5], [2.0, 2.0]).example(
        "[network]\nclass = \"radio\"\nrange = 2\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[type.demo.algorithm]\nclass = \"relay\"\nroute = [[2, 0], [-2, 0]]",
    );
    Class::new(sheet, |params, _| {
        let settings = Settings {
            knows: params.bool("knows"),
            every: params.num("every"),
            route: params.points_or_none("route").unwrap_or(&[]).to_vec(),
            goal: params.point_or_none("goal"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let uses = &[ServiceKind::Motion, ServiceKind::Link];
        Ok(Built::Protocol(Arc::new(program(uses, settings, relay))))
    })
}
