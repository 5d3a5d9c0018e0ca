//! Motions that can be cut into pieces.
//!
//! In: a motion, where the robot is, and which way it faces if that is known. Out: one piece after another, no
//! longer than a chunk, each with where it ends. The pieces together are the motion.

use serde::{Deserialize, Serialize};
use swarmyard_base::{Rot2, Vec2};
use swarmyard_part_api::{Ended, Motion};

/// A motion that can be cut, or what is left of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Way {
    Turn {
        by: f64,
        turn_speed: f64,
    },
    Forward {
        distance: f64,
        speed: f64,
    },
    /// `cut` says that all of it is: what is off the destination then is rounding, not way.
    To {
        to: Vec2,
        speed: f64,
        turn_speed: f64,
        cut: bool,
    },
    Velocity {
        velocity: Vec2,
        for_s: f64,
    },
    Arc {
        speed: f64,
        spin: f64,
        for_s: f64,
    },
}

/// The motion as something that can be cut.
pub(super) fn way(motion: &Motion) -> Result<Way, String> {
    let positive = |what: &str, value: f64| {
        if value > 0.0 && value.is_finite() {
            Ok(value)
        } else {
            Err(format!("the {what} must be positive, not `{value}`"))
        }
    };
    let finite = |what: &str, value: f64| {
        if value.is_finite() { Ok(value) } else { Err(format!("the {what} is not finite")) }
    };
    let time = |value: f64| {
        if value >= 0.0 { Ok(value) } else { Err(format!("the time must not be negative, as `{value}` is")) }
    };
    Ok(match *motion {
        Motion::Turn { by, turn_speed } => {
            Way::Turn { by: finite("angle", by)?, turn_speed: positive("turning speed", turn_speed)? }
        }
        Motion::Forward { distance, speed } => {
            Way::Forward { distance: finite("distance", distance)?, speed: positive("speed", speed)? }
        }
        Motion::MoveTo { to, speed, turn_speed } => {
            finite("destination", to.x + to.y)?;
            let turn_speed = positive("turning speed", turn_speed)?;
            Way::To { to, speed: positive("speed", speed)?, turn_speed, cut: false }
        }
        Motion::Velocity { velocity, for_s } => {
            finite("velocity", velocity.x + velocity.y)?;
            Way::Velocity { velocity, for_s: time(for_s)? }
        }
        Motion::Arc { speed, spin, for_s } => Way::Arc {
            speed: finite("speed", speed)?,
            spin: finite("turning speed", spin)?,
            for_s: time(for_s)?,
        },
        Motion::Pattern { ref name, .. } => {
            return Err(format!("where the pattern `{name}` leads is not known"));
        }
        Motion::Follow(_) => return Err("where a pattern of one's own leads is not known".to_owned()),
    })
}

/// A piece cut off a way.
pub(super) struct Piece {
    pub(super) step: Way,
    /// Where it ends, if that is known.
    pub(super) end: Option<Vec2>,
    /// Whether it leaves the place.
    pub(super) moves: bool,
    /// How far from the line between start and end it may come.
    pub(super) reach: f64,
}

/// Cuts the next piece off a way; nothing when the way is at its end.
pub(super) fn cut(
    way: &mut Way,
    from: Vec2,
    heading: Option<Vec2>,
    fresh: bool,
    chunk_m: f64,
) -> Option<Piece> {
    // What is hardly longer than a chunk is one: rounding must not leave a crumb.
    let whole = |length: f64| length <= chunk_m * (1.0 + 1e-9);
    // All of it may be infinite.
    let rest = |all: f64, piece: f64| if piece == all { 0.0 } else { all - piece };
    let stays = |step| Piece { step, end: Some(from), moves: false, reach: 0.0 };
    let straight = |step, end| Piece { step, end: Some(end), moves: true, reach: 0.0 };
    match *way {
        Way::Turn { by: 0.0, .. } => None,
        Way::Turn { turn_speed, .. } => {
            let step = std::mem::replace(way, Way::Turn { by: 0.0, turn_speed });
            Some(stays(step))
        }
        Way::Forward { distance: 0.0, .. } => None,
        Way::Forward { distance, speed } => {
            let piece = if whole(distance.abs()) { distance } else { chunk_m.copysign(distance) };
            *way = Way::Forward { distance: distance - piece, speed };
            let step = Way::Forward { distance: piece, speed };
            Some(match heading {
                Some(ahead) => straight(step, from + ahead * piece),
                None => Piece { step, end: None, moves: true, reach: piece.abs() },
            })
        }
        Way::To { cut: true, .. } => None,
        Way::To { to, speed, turn_speed, .. } => {
            let path = to - from;
            let length = path.norm();
            if length == 0.0 {
                return None;
            }
            let end = if whole(length) { to } else { from + path * (chunk_m / length) };
            *way = Way::To { to, speed, turn_speed, cut: end == to };
            let turned = Way::Forward { distance: (end - from).norm(), speed };
            let first = Way::To { to: end, speed, turn_speed, cut: false };
            Some(straight(if fresh { first } else { turned }, end))
        }
        Way::Velocity { for_s: 0.0, .. } | Way::Arc { for_s: 0.0, .. } => None,
        Way::Velocity { velocity, for_s } => {
            let speed = velocity.norm();
            let piece = if speed == 0.0 || whole(speed * for_s) { for_s } else { chunk_m / speed };
            *way = Way::Velocity { velocity, for_s: rest(for_s, piece) };
            let step = Way::Velocity { velocity, for_s: piece };
            Some(if speed == 0.0 { stays(step) } else { straight(step, from + velocity * piece) })
        }
        Way::Arc { speed, spin, for_s } => {
            let piece =
                if speed == 0.0 || whole(speed.abs() * for_s) { for_s } else { chunk_m / speed.abs() };
            *way = Way::Arc { speed, spin, for_s: rest(for_s, piece) };
            let step = Way::Arc { speed, spin, for_s: piece };
            let reach = speed.abs() * piece;
            Some(if speed == 0.0 { stays(step) } else { Piece { step, end: None, moves: true, reach } })
        }
    }
}

/// The direction a robot faces after a step that moved it so far.
pub(super) fn heading_after(before: Option<Vec2>, step: &Way, how: Ended, moved: Vec2) -> Option<Vec2> {
    let along = || (moved.norm() > 1e-6).then(|| moved * (1.0 / moved.norm()));
    let turned = |by: f64| before.map(|h| Rot2::new(by).apply(h));
    match *step {
        Way::To { .. } if how == Ended::Finished => along(),
        Way::Forward { distance, .. } => {
            before.or_else(|| along().map(|h| if distance < 0.0 { h * -1.0 } else { h }))
        }
        Way::Velocity { .. } => before,
        Way::Turn { by, .. } if how == Ended::Finished => turned(by),
        Way::Arc { spin, for_s, .. } if how == Ended::Finished && for_s.is_finite() => turned(spin * for_s),
        _ => None,
    }
}

impl Way {
    pub(super) fn motion(self) -> Motion {
        match self {
            Way::Turn { by, turn_speed } => Motion::Turn { by, turn_speed },
            Way::Forward { distance, speed } => Motion::Forward { distance, speed },
            Way::To { to, speed, turn_speed, .. } => Motion::MoveTo { to, speed, turn_speed },
            Way::Velocity { velocity, for_s } => Motion::Velocity { velocity, for_s },
            Way::Arc { speed, spin, for_s } => Motion::Arc { speed, spin, for_s },
        }
    }

    /// A piece that was cut off last is not travelled.
    pub(super) fn put_back(&mut self, step: &Way) {
        match (self, step) {
            (Way::Turn { by, .. }, Way::Turn { by: more, .. }) => *by += more,
            (Way::Forward { distance, .. }, Way::Forward { distance: more, .. }) => *distance += more,
            (Way::Velocity { for_s, .. }, Way::Velocity { for_s: more, .. })
            | (Way::Arc { for_s, .. }, Way::Arc { for_s: more, .. }) => *for_s += more,
            (Way::To { cut, .. }, _) => *cut = false,
            _ => {}
        }
    }
}
