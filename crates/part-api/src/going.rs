//! Motions of robots that live by events: what they ask for, the plan that a motion module makes of it,
//! and how it ends.
//!
//! A plan is a chain of phases, each an exact segment with the very pose it ends in, so a robot is
//! exactly at its destination when it arrives, and anybody can ask where it is at any moment between.

use crate::Segment;
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use std::sync::Arc;
use swarmyard_base::{Pose2, Twist2, Uid, Vec2, math};

/// What a robot asks its motion modules for. Speeds are positive.
#[derive(Clone, Debug)]
pub enum Motion {
    /// Turns in place by an angle, counter-clockwise when positive.
    Turn {
        /// Angle, rad.
        by: f64,
        /// Turning speed, rad/s.
        turn_speed: f64,
    },
    /// Goes straight on in the direction it faces; backward when negative.
    Forward {
        /// Way, m.
        distance: f64,
        /// Speed, m/s.
        speed: f64,
    },
    /// Turns towards a point, then goes straight there.
    MoveTo {
        /// Where to.
        to: Vec2,
        /// Speed, m/s.
        speed: f64,
        /// Turning speed, rad/s.
        turn_speed: f64,
    },
    /// A constant velocity in the world's frame, whatever the heading.
    Velocity {
        /// m/s.
        velocity: Vec2,
        /// For how long, s; may be infinite.
        for_s: f64,
    },
    /// A constant speed forward and a constant turning speed.
    Arc {
        /// m/s.
        speed: f64,
        /// rad/s.
        spin: f64,
        /// For how long, s; may be infinite.
        for_s: f64,
    },
    /// A pattern of a motion module, by name.
    Pattern {
        /// Its name.
        name: String,
        /// Its arguments.
        args: Vec<f64>,
    },
    /// A pattern that the algorithm brings along.
    Follow(Arc<dyn MotionPattern>),
}

/// A motion pattern of your own: where the robot is at any time, and the events on the way.
///
/// Poses are relative to the pose at the start. The engine moves the robot on arcs that meet the pattern
/// at their ends, as many as it takes to stay within [`MotionPattern::tolerance_m`] of it.
pub trait MotionPattern: Send + Sync + std::fmt::Debug {
    /// How long it takes, s.
    fn duration_s(&self) -> f64;

    /// Pose at that time after the start.
    fn pose_at(&self, t_s: f64) -> Pose2;

    /// Events on the way: (time after the start, name). The robot's algorithm is told of each at its moment, by
    /// [`Indication::Passed`](crate::Indication::Passed). Start and finish are there anyway.
    fn events(&self) -> Vec<(f64, String)> {
        Vec::new()
    }

    /// How far the robot may be from the pattern, m.
    fn tolerance_m(&self) -> f64 {
        1e-4
    }
}

/// What moves a robot that lives by events. A robot may have several, of different kinds: the first that
/// knows a motion makes the plan.
pub trait MotionModule: Send + Sync {
    /// The phases of a motion; `None` when it is not one of this module's.
    ///
    /// # Errors
    /// When the motion is one of its own, but cannot be done; says why.
    fn plan(&self, from: Pose2, motion: &Motion) -> Option<Result<Plan, String>>;
}

/// One stretch of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// Its name in logs: `turn`, `forward`, …; empty when it only goes on with the one before.
    pub name: String,
    /// Velocity in the body's frame, or in the world's.
    pub twist: Twist2,
    /// Whether the linear velocity is constant in the world's frame.
    pub in_world: bool,
    /// How long it takes, s; may be infinite.
    pub duration_s: f64,
    /// The pose it ends in.
    pub end: Pose2,
}

impl Phase {
    /// Its segment, which begins at `pose` at the time 0.
    #[must_use]
    pub fn segment(&self, pose: Pose2) -> Segment {
        if self.in_world {
            Segment::glide(0.0, pose, pose.rot(), self.twist.linear(), self.twist.spin)
        } else {
            Segment::arc(0.0, pose, pose.rot(), self.twist)
        }
    }

    /// The same on ground where a robot is slower (or faster) by a factor: what is left of it from a
    /// pose, `left_s` seconds before its end.
    #[must_use]
    pub fn slowed(&self, factor: f64, left_s: f64) -> Phase {
        let t = self.twist;
        let twist = Twist2::new(t.forward * factor, t.left * factor, t.spin * factor);
        Phase { twist, duration_s: left_s / factor, ..self.clone() }
    }
}

/// The phases of one motion, in order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// At least one, unless there is nothing to do.
    pub phases: Vec<Phase>,
    /// What the algorithm is told on the way, in order: the number of the phase with whose beginning it happens (as many
    /// as there are phases: with the end), and its name.
    pub events: Vec<(u32, String)>,
}

/// How a robot turns towards a point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TurnWay {
    /// The shorter way round.
    #[default]
    Shortest,
    /// Always counter-clockwise, as in the paper.
    CounterClockwise,
}

impl Plan {
    /// Phases without events on the way.
    #[must_use]
    pub fn of(phases: Vec<Phase>) -> Plan {
        Plan { phases, events: Vec::new() }
    }

    /// TURN: the heading changes, the place does not.
    #[must_use]
    pub fn turn(from: Pose2, by: f64, turn_speed: f64) -> Plan {
        let spin = if by < 0.0 { -turn_speed } else { turn_speed };
        let end = Pose2 { at: from.at, heading: math::wrap_angle(from.heading + by) };
        Plan::of(vec![phase("turn", Twist2::new(0.0, 0.0, spin), by.abs() / turn_speed, end)])
    }

    /// FORWARD: straight on along the heading.
    #[must_use]
    pub fn forward(from: Pose2, distance: f64, speed: f64) -> Plan {
        let end = Pose2 { at: from.at + from.rot().apply(Vec2::new(distance, 0.0)), heading: from.heading };
        let v = if distance < 0.0 { -speed } else { speed };
        Plan::of(vec![phase("forward", Twist2::new(v, 0.0, 0.0), distance.abs() / speed, end)])
    }

    /// MOVETO: a turn towards the point, then straight there.
    #[must_use]
    pub fn move_to(from: Pose2, to: Vec2, speed: f64, turn_speed: f64, way: TurnWay) -> Plan {
        let path = to - from.at;
        let distance = path.norm();
        if distance == 0.0 {
            return Plan::default();
        }
        let target = path.angle();
        let mut by = math::wrap_angle(target - from.heading);
        if way == TurnWay::CounterClockwise && by < 0.0 {
            by += TAU;
        }
        let mut plan = Plan::turn(from, by, turn_speed);
        let end = Pose2 { at: to, heading: target };
        plan.phases[0].end.heading = target;
        plan.phases.push(phase("forward", Twist2::new(speed, 0.0, 0.0), distance / speed, end));
        plan
    }

    /// A constant velocity in the world's frame.
    #[must_use]
    pub fn velocity(from: Pose2, velocity: Vec2, for_s: f64) -> Plan {
        let way = if for_s.is_finite() { velocity * for_s } else { Vec2::ZERO };
        let end = Pose2 { at: from.at + way, heading: from.heading };
        let twist = Twist2::new(velocity.x, velocity.y, 0.0);
        Plan::of(vec![Phase { in_world: true, ..phase("velocity", twist, for_s, end) }])
    }

    /// A constant twist: an arc.
    #[must_use]
    pub fn arc(from: Pose2, speed: f64, spin: f64, for_s: f64) -> Plan {
        let twist = Twist2::new(speed, 0.0, spin);
        let end = if for_s.is_finite() {
            let end = Segment::arc(0.0, from, from.rot(), twist).pose_at(for_s);
            Pose2 { heading: math::wrap_angle(end.heading), ..end }
        } else {
            from
        };
        Plan::of(vec![phase("arc", twist, for_s, end)])
    }

    /// A pattern as a chain of arcs, each of which begins and ends on it, with its events.
    ///
    /// # Errors
    /// When the pattern is not finite, would take more than 100 000 arcs or has more than 100 000 events, or when an event
    /// lies outside of it.
    pub fn follow(from: Pose2, pattern: &dyn MotionPattern) -> Result<Plan, String> {
        let duration = pattern.duration_s();
        if !(duration > 0.0 && duration.is_finite()) {
            return Err(format!("a motion pattern takes a positive time, not `{duration}` s"));
        }
        let mut marks: Vec<(f64, String)> = pattern.events();
        if marks.len() > MOST_ARCS {
            return Err(format!("the motion pattern has {} events, more than {MOST_ARCS}", marks.len()));
        }
        if let Some((t, name)) = marks.iter().find(|m| !(m.0 >= 0.0 && m.0 <= duration)) {
            let whole = format!("the pattern, which takes {duration} s");
            return Err(format!("the event `{name}` at `{t}` s lies outside of {whole}"));
        }
        marks.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut plan = Plan::default();
        let mut start = 0.0;
        for (mark, event) in marks {
            if mark > start {
                chain(from, pattern, (start, mark), 0, &mut plan)?;
                start = mark;
            }
            plan.events.push((plan.phases.len() as u32, event));
        }
        if duration > start {
            chain(from, pattern, (start, duration), 0, &mut plan)?;
        }
        // The arcs are one motion.
        plan.phases[0].name = String::from("follow");
        Ok(plan)
    }
}

/// Arcs, and events, of one pattern.
const MOST_ARCS: usize = 100_000;

/// Adds the arcs of a pattern between two times.
fn chain(
    from: Pose2,
    pattern: &dyn MotionPattern,
    (t0, t1): (f64, f64),
    depth: u32,
    plan: &mut Plan,
) -> Result<(), String> {
    let at = |t: f64| from.then(pattern.pose_at(t));
    let (a, b, dt) = (at(t0), at(t1), t1 - t0);
    if !(a.is_finite() && b.is_finite()) {
        return Err(format!("the motion pattern has no finite pose between {t0} s and {t1} s"));
    }
    // The twist that leads from one pose to the other along an arc.
    let turned = math::wrap_angle(b.heading - a.heading);
    let (sinc, cosc) = math::sinc_cosc(turned);
    let local = a.rot().unapply(b.at - a.at);
    let det = sinc * sinc + cosc * cosc;
    let v = Vec2::new(sinc * local.x + cosc * local.y, sinc * local.y - cosc * local.x) * (1.0 / (det * dt));
    let arc = phase(
        "",
        Twist2::new(v.x, v.y, turned / dt),
        dt,
        Pose2 { heading: math::wrap_angle(b.heading), ..b },
    );
    let segment = arc.segment(a);
    let off = |share: f64| (segment.position_at(share * dt) - at(t0 + share * dt).at).norm();
    let worst = math::max(math::max(off(0.25), off(0.5)), off(0.75));
    if (worst > pattern.tolerance_m() || depth < 2) && depth < 20 {
        let middle = 0.5 * (t0 + t1);
        chain(from, pattern, (t0, middle), depth + 1, plan)?;
        return chain(from, pattern, (middle, t1), depth + 1, plan);
    }
    if plan.phases.len() >= MOST_ARCS {
        return Err(format!("the motion pattern takes more than {MOST_ARCS} arcs: allow a larger tolerance"));
    }
    plan.phases.push(arc);
    Ok(())
}

fn phase(name: &str, twist: Twist2, duration_s: f64, end: Pose2) -> Phase {
    Phase { name: name.to_owned(), twist, in_world: false, duration_s, end }
}

/// How a motion ended.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Ended {
    /// It arrived.
    Finished,
    /// It touched something; under `stop` it stands now, and may move again.
    Collided {
        /// What it touched.
        with: Uid,
        /// The robot's number, when it is one.
        robot: Option<u32>,
        /// Where they touched.
        at: Vec2,
    },
    /// Another motion took its place, or it was told to stop.
    Replaced,
    /// It fell into a hole and is gone.
    Swallowed,
}
