//! Moving robots that elect a leader: who leads goes to its post and stays, the others wander.
//!
//! Who leads is up to a protocol below (an election, or an omega); when it says that somebody else leads, the
//! old leader wanders again.

use crate::random_movement::{pair, speeds};
use crate::sequential::{Either, News, Robot, first, program};
use serde::{Deserialize, Serialize};
use std::future::pending;
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_part_api::{Built, Class, Ended, Kind, Param, ParamType, ServiceKind, Sheet};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    post: Vec2,
    min: Vec2,
    max: Vec2,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

/// The light of a robot that leads.
const LEADS: u8 = 1;

async fn take_post(robot: Robot, settings: Settings) {
    let mut leader = None;
    loop {
        let leads = leader == Some(robot.me());
        robot.shine(if leads { LEADS } else { 0 });
        match first(robot.next_news(), travel(&robot, &settings, leads)).await {
            Either::First(News::Leads(who)) => {
                robot.say(&format!("{who} leads"));
                leader = Some(who);
            }
            Either::First(_) | Either::Second(()) => {}
        }
    }
}

async fn travel(robot: &Robot, settings: &Settings, leads: bool) {
    let Settings { post, min, max, speed, turn_speed } = *settings;
    loop {
        let [x, y, speed, turn_speed] = robot.draw([(min.x, max.x), (min.y, max.y), speed, turn_speed]).await;
        let to = if leads { post } else { Vec2::new(x, y) };
        match robot.move_to(to, speed, turn_speed).await {
            Ended::Finished if leads => return pending().await,
            Ended::Finished => {}
            _ => robot.sleep(1.0).await,
        }
    }
}

/// The class `take-post`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("take-post", Kind::Algorithm, "Wanders at random; when a protocol below says that it leads, it goes to its post and stays there, with light 1.")
        .param(Param::new("post", ParamType::Point, "Where the leader stands.").or(Value::Point(Vec2::ZERO)))
        .param(Param::new("min", ParamType::Point, "Lower left corner of the rectangle where the others wander.").or(Value::Point(Vec2::ZERO)))
        .param(Param::new("max", ParamType::Point, "Upper right corner.").or(Value::Point(Vec2::new(8.0, 8.0))))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("leader", ParamType::Name("protocol"), "Who says which robot leads; the only such protocol when left out."));
    let sheet = speeds(sheet, [0.3, 1.0], [1.0, 3.0]).example(
        "[network]\nclass = \"random\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.protocol]]\nname = \"election\"\nclass = \"leader-election\"\n\n[type.demo.algorithm]\nclass = \"take-post\"",
    );
    Class::new(sheet, |params, _| {
        let point = |name: &str| params.point_or_none(name).unwrap_or(Vec2::ZERO);
        let settings = Settings {
            post: point("post"),
            min: point("min"),
            max: point("max"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let uses = &[ServiceKind::Motion, ServiceKind::Leader];
        Ok(Built::Protocol(Arc::new(program(uses, settings, take_post))))
    })
}
