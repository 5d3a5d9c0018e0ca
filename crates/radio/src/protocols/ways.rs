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

#[cfg(test)]
mod tests {
    use super::*;

    /// All pieces of a motion, each with where it starts and ends; a robot that faces along y if it knows.
    fn pieces(motion: &Motion, heading: Option<Vec2>) -> Vec<(Vec2, Piece)> {
        let (mut way, mut at, mut fresh, mut all) = (way(motion).unwrap(), Vec2::ZERO, true, Vec::new());
        while let Some(piece) = cut(&mut way, at, heading, fresh, 0.4) {
            let from = at;
            at = piece.end.unwrap_or(at);
            fresh = false;
            all.push((from, piece));
            assert!(all.len() < 100, "{motion:?} never ends");
        }
        all
    }

    #[test]
    fn a_move_to_a_point_turns_once_and_ends_there_exactly() {
        let to = Vec2::new(0.6, 0.8);
        let all = pieces(&Motion::MoveTo { to, speed: 0.5, turn_speed: 1.0 }, None);
        assert_eq!(all.len(), 3);
        assert!(matches!(all[0].1.step, Way::To { .. }) && matches!(all[1].1.step, Way::Forward { .. }));
        assert_eq!(all[2].1.end, Some(to));
        assert!(all.iter().all(|(from, p)| (p.end.unwrap() - *from).norm() <= 0.4 + 1e-12 && p.reach == 0.0));
        assert!(pieces(&Motion::MoveTo { to: Vec2::ZERO, speed: 0.5, turn_speed: 1.0 }, None).is_empty());
    }

    #[test]
    fn pieces_add_up_to_the_motion() {
        let forward = Motion::Forward { distance: -1.0, speed: 0.5 };
        let up = Some(Vec2::new(0.0, 1.0));
        let all = pieces(&forward, up);
        assert_eq!((all.len(), all[2].1.end), (3, Some(Vec2::new(0.0, -1.0))));
        let velocity = Motion::Velocity { velocity: Vec2::new(0.0, 2.0), for_s: 0.5 };
        let all = pieces(&velocity, None);
        assert_eq!((all.len(), all[2].1.end), (3, Some(Vec2::new(0.0, 1.0))));
        let time = |p: &Piece| if let Way::Arc { for_s, .. } = p.step { for_s } else { 0.0 };
        let all = pieces(&Motion::Arc { speed: 0.5, spin: 1.0, for_s: 2.0 }, up);
        assert!((all.iter().map(|(_, p)| time(p)).sum::<f64>() - 2.0).abs() < 1e-12 && all.len() == 3);
    }

    #[test]
    fn what_leads_nobody_knows_where_takes_a_disc_and_what_stays_takes_nothing() {
        let all = pieces(&Motion::Forward { distance: 0.3, speed: 0.5 }, None);
        assert_eq!((all[0].1.end, all[0].1.reach), (None, 0.3));
        let arc = pieces(&Motion::Arc { speed: -0.5, spin: 1.0, for_s: 0.5 }, None);
        assert_eq!((arc[0].1.end, arc[0].1.reach, arc[0].1.moves), (None, 0.25, true));
        for stays in [
            Motion::Turn { by: 1.0, turn_speed: 1.0 },
            Motion::Arc { speed: 0.0, spin: 1.0, for_s: f64::INFINITY },
            Motion::Velocity { velocity: Vec2::ZERO, for_s: 3.0 },
        ] {
            let all = pieces(&stays, None);
            assert!(all.len() == 1 && !all[0].1.moves, "{stays:?}");
        }
    }

    #[test]
    fn what_is_put_back_is_cut_again() {
        for motion in [
            Motion::Turn { by: 1.0, turn_speed: 1.0 },
            Motion::Forward { distance: 0.9, speed: 0.5 },
            Motion::MoveTo { to: Vec2::new(0.3, 0.0), speed: 0.5, turn_speed: 1.0 },
            Motion::Velocity { velocity: Vec2::new(0.5, 0.0), for_s: 1.5 },
            Motion::Arc { speed: 0.5, spin: 1.0, for_s: 1.5 },
        ] {
            let whole = way(&motion).unwrap();
            let mut left = whole;
            let piece = cut(&mut left, Vec2::ZERO, None, true, 0.4).unwrap();
            assert_ne!(left, whole);
            left.put_back(&piece.step);
            assert_eq!(left, whole);
        }
    }

    #[test]
    fn a_heading_is_known_after_a_way_straight_on_and_turns_with_the_robot() {
        let (east, north) = (Vec2::new(1.0, 0.0), Vec2::new(0.0, 1.0));
        let forward = |distance| Way::Forward { distance, speed: 1.0 };
        let after = |before, step, moved| heading_after(before, &step, Ended::Finished, moved);
        assert_eq!(after(None, forward(2.0), east * 2.0), Some(east));
        assert_eq!(after(None, forward(-2.0), east * -2.0), Some(east));
        assert_eq!(after(None, forward(1e-9), east * 1e-9), None);
        let turn = Way::Turn { by: std::f64::consts::FRAC_PI_2, turn_speed: 1.0 };
        assert!((after(Some(east), turn, Vec2::ZERO).unwrap() - north).norm() < 1e-15);
        assert_eq!(heading_after(Some(east), &turn, Ended::Replaced, Vec2::ZERO), None);
    }
}
