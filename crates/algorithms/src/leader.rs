//! A leader that waits for stragglers, and those who follow it, step after step.
//!
//! The leader goes along a route. At every point of it, it looks about with its view sensor and goes on only
//! when enough of its company is there; nobody sends a message. Followers look where the leader is and go to
//! their own place around it.

use crate::random_movement::{pair, speeds};
use crate::sequential::{Robot, program};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_base::math;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Ended, Kind, Param, ParamType, Query, ServiceKind, Sheet};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Leading {
    route: Vec<Vec2>,
    company: usize,
    range: f64,
    every: f64,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

async fn lead(robot: Robot, settings: Leading) {
    for to in settings.route {
        loop {
            let near = robot.view(settings.range).await.iter().filter(|s| s.robot.is_some()).count();
            if near >= settings.company {
                break;
            }
            robot.say(&format!("waiting: {near} of {} are here", settings.company));
            robot.sleep(settings.every).await;
        }
        let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
        while robot.move_to(to, speed, turn_speed).await != Ended::Finished {
            robot.sleep(settings.every).await;
        }
    }
    robot.say("we are there");
    // Whoever lends it the body may give it to another now.
    robot.halt();
}

/// The class `leader`.
pub(crate) fn leader() -> Class {
    let sheet = Sheet::new("leader", Kind::Algorithm, "Goes along a route, and at each point waits until enough robots are in its view (by a part of class `view`); followers are of class `follow-leader`.")
        .param(Param::new("route", ParamType::Points { min_len: 1 }, "Points to go to, in this order.").required())
        .param(Param::new("company", ParamType::Int { min: 0, max: 1_000_000 }, "How many robots must be in view before it goes on.").or(Value::Int(1)))
        .param(Param::number("range", Unit::Metre, "How far it looks about.").within(1e-6, 1e6).or_num(2.0))
        .param(Param::number("every", Unit::Second, "How often it looks while it waits.").within(1e-3, 1e6).or_num(0.5))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."));
    let sheet = speeds(sheet, [0.5, 0.5], [2.0, 2.0]).example(
        "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"view\"\nclass = \"view\"\n\n[type.demo.algorithm]\nclass = \"leader\"\nroute = [[2, 0], [2, 2]]\ncompany = 0",
    );
    Class::new(sheet, |params, _| {
        let settings = Leading {
            route: params.points_or_none("route").unwrap_or(&[]).to_vec(),
            company: usize::try_from(params.int("company")).unwrap_or(0),
            range: params.num("range"),
            every: params.num("every"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let asks = [Query::View { range: settings.range }];
        Ok(Built::Protocol(Arc::new(program(&[ServiceKind::Motion], settings, lead).asking(asks))))
    })
}

#[derive(Clone, Serialize, Deserialize)]
struct Following {
    leader: u32,
    distance: f64,
    every: f64,
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

async fn follow(robot: Robot, settings: Following) {
    let seen = robot.gps_all(0.0).await;
    let at = |number: u32| seen.iter().find(|s| s.robot == Some(number)).map(|s| s.at);
    if let (Some(leader), Some(own)) = (at(settings.leader), at(robot.me())) {
        let angle = TAU * f64::from(robot.me()) / f64::from(robot.robots());
        let place = leader + Vec2::at_angle(angle) * settings.distance;
        if (place - own).norm() > 0.05 * settings.distance {
            let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
            // It looks again before it is there: the leader may have moved.
            let way =
                (place - own) * math::min(math::max(0.5_f64, settings.distance / (place - own).norm()), 1.0);
            robot.move_to(own + way, speed, turn_speed).await;
        }
    }
    robot.sleep(settings.every).await;
    robot.checkpoint(&settings).await;
}

/// The class `follow-leader`.
pub(crate) fn follower() -> Class {
    let sheet = Sheet::new("follow-leader", Kind::Algorithm, "Looks by a `gps` where the leader is and goes to a place of its own on a circle around it, again and again.")
        .param(Param::new("leader", ParamType::Int { min: 0, max: 1_000_000_000 }, "Number of the robot it follows, in the natural order of names from 0.").or(Value::Int(0)))
        .param(Param::number("distance", Unit::Metre, "Radius of the circle around the leader.").within(1e-6, 1e6).or_num(1.0))
        .param(Param::number("every", Unit::Second, "Pause before it looks again.").within(1e-3, 1e6).or_num(0.5))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."));
    let sheet = speeds(sheet, [0.2, 0.6], [2.0, 2.0]).example(
        "[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[type.demo.algorithm]\nclass = \"follow-leader\"",
    );
    Class::new(sheet, |params, _| {
        let settings = Following {
            leader: u32::try_from(params.int("leader")).unwrap_or(0),
            distance: params.num("distance"),
            every: params.num("every"),
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let asks = [Query::GpsAll { error: 0.0 }];
        Ok(Built::Protocol(Arc::new(program(&[ServiceKind::Motion], settings, follow).asking(asks))))
    })
}
