//! Gathering once more, step after step: to the bit what `gathering.rs` does as a state machine.

use crate::gathering::{Settings, centroid, settings, sheet};
use crate::sequential::{Robot, program};
use std::sync::Arc;
use swarmyard_base::Vec2;
use swarmyard_part_api::{Built, Class, Ended, Query, ServiceKind};

/// One look and one move; then it begins again, and so its journal stays short.
async fn gathering(robot: Robot, settings: Settings) {
    let all = robot.gps_all(settings.error).await;
    let own = all.iter().find(|s| s.robot == Some(robot.me())).map_or(Vec2::ZERO, |s| s.at);
    let Some(to) = centroid(all.iter().map(|s| s.at)) else { return };
    if (to - own).norm() < settings.near {
        robot.sleep(1.0).await;
    } else {
        let [speed, turn_speed] = robot.draw([settings.speed, settings.turn_speed]).await;
        if robot.move_to(to, speed, turn_speed).await != Ended::Finished {
            robot.sleep(1.0).await;
        }
    }
    robot.checkpoint(&settings).await;
}

/// The class `gathering-sequential`.
pub(crate) fn class() -> Class {
    let summary = "Gathers as `gathering` does, to the bit; written as a sequence of steps instead of a state machine, to show that style.";
    Class::new(sheet("gathering-sequential", summary), |params, _| {
        let program = program(&[ServiceKind::Motion], settings(params)?, gathering);
        Ok(Built::Protocol(Arc::new(program.asking([Query::GpsAll { error: 0.0 }]))))
    })
}
