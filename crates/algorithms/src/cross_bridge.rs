//! Robots that share a bridge for one: each crosses it only while it is alone there.
//!
//! A robot has a lane of its own on either side, a ray from that end of the bridge, and does what it likes there: it
//! stands at its place for a while, comes to where it waits, and asks to be let in. Between waiting place and waiting
//! place it is in the critical section, so the bridge and both its ends are its own; whoever else is about stands on a
//! lane of its own. Who keeps the others out is up to a protocol below. Inside it shows light 1.

use crate::random_movement::{pair, speeds};
use crate::sequential::{News, Robot, program};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_base::units::Unit;
use swarmyard_part_api::{Built, Class, Ended, Exclusion, Kind, Param, ParamType, Query, ServiceKind, Sheet};
use swarmyard_scene::Value;

#[derive(Clone, Serialize, Deserialize)]
struct Settings {
    /// The ends of the bridge.
    ends: (Vec2, Vec2),
    /// How far from an end robots wait, m.
    wait: f64,
    crossings: u32,
    rest: (f64, f64),
    speed: (f64, f64),
    turn_speed: (f64, f64),
}

/// The light of a robot that has the bridge to itself.
const INSIDE: u8 = 1;

async fn cross_bridge(robot: Robot, settings: Settings) {
    let (mut near, mut far) = settings.ends;
    let mut place = robot.gps(0.0).await;
    if (place - far).norm() < (place - near).norm() {
        (near, far) = (far, near);
    }
    for crossing in 1..=settings.crossings {
        let [rest] = robot.draw([settings.rest]).await;
        robot.sleep(rest).await;
        go(&robot, &settings, on_lane(near, place, settings.wait)).await;

        robot.request(ServiceKind::Mutex, Exclusion::Enter);
        while robot.next_news().await != News::Entered {}
        robot.shine(INSIDE);
        // The other side is this one, turned about the middle of the bridge: no two lanes meet there either.
        let other_place = near + far - place;
        for to in [near, far, on_lane(far, other_place, settings.wait)] {
            go(&robot, &settings, to).await;
        }
        robot.shine(0);
        robot.request(ServiceKind::Mutex, Exclusion::Leave);

        robot.say(&format!("has crossed {crossing} times"));
        go(&robot, &settings, other_place).await;
        (near, far, place) = (far, near, other_place);
    }
}

/// The point of a lane so far from its end of the bridge.
fn on_lane(end: Vec2, place: Vec2, distance: f64) -> Vec2 {
    let way = place - end;
    let length = way.norm();
    if length > distance { end + way * (distance / length) } else { place }
}

/// Goes there; what stands in the way is given a second to go away.
async fn go(robot: &Robot, settings: &Settings, to: Vec2) {
    let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
    while robot.move_to(to, speed, turn_speed).await != Ended::Finished {
        robot.sleep(1.0).await;
    }
}

/// The class `cross-bridge`.
pub(crate) fn class() -> Class {
    let sheet = Sheet::new("cross-bridge", Kind::Algorithm, "Goes over a bridge and back, each time only when a mutual exclusion below has let it in; on either side it has a place of its own. Inside it shows light 1.")
        .param(Param::new("from", ParamType::Point, "One end of the bridge.").or(Value::Point(Vec2::new(-1.0, 0.0))))
        .param(Param::new("to", ParamType::Point, "The other end.").or(Value::Point(Vec2::new(1.0, 0.0))))
        .param(Param::number("wait", Unit::Metre, "How far from an end of the bridge it waits, on its way there from its place.").within(0.0, 1e6).or_num(1.0))
        .param(Param::new("crossings", ParamType::Int { min: 0, max: 1_000_000 }, "How often it crosses.").or(Value::Int(2)))
        .param(Param::new("rest", ParamType::Numbers { unit: Unit::Second, min_len: 2, max_len: 2 }, "How long it stays at its place before it comes to cross: least and most.").or(Value::Nums(vec![0.0, 5.0])))
        .param(Param::new("motion", ParamType::Name("protocol"), "Who moves the robot; its motion modules when left out."))
        .param(Param::new("mutex", ParamType::Name("protocol"), "Who lets it in; the only such protocol when left out."));
    let sheet = speeds(sheet, [0.5, 1.0], [2.0, 4.0]).example(
        "[network]\nclass = \"random\"\n\n[[type.demo.part]]\nname = \"wheels\"\nclass = \"wheels\"\n\n[[type.demo.part]]\nname = \"gps\"\nclass = \"gps\"\n\n[[type.demo.protocol]]\nname = \"alone\"\nclass = \"ricart-agrawala\"\n\n[type.demo.algorithm]\nclass = \"cross-bridge\"",
    );
    Class::new(sheet, |params, _| {
        let point = |name: &str| params.point_or_none(name).unwrap_or(Vec2::ZERO);
        let settings = Settings {
            ends: (point("from"), point("to")),
            wait: params.num("wait"),
            crossings: u32::try_from(params.int("crossings")).unwrap_or(0),
            rest: pair(params, "rest")?,
            speed: pair(params, "speed")?,
            turn_speed: pair(params, "turn_speed")?,
        };
        let uses = &[ServiceKind::Motion, ServiceKind::Mutex];
        let program = program(uses, settings, cross_bridge);
        Ok(Built::Protocol(Arc::new(program.asking([Query::Gps { error: 0.0 }]))))
    })
}
