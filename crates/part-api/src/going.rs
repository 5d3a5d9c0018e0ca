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
/// at their ends, as many as it takes to stay within [`MotionPattern::tolerance_m`] of it and to face where it
/// faces within [`MotionPattern::tolerance_rad`]. That is checked at a thousand times and more, irregularly spread
/// over the pattern and at least eight in each arc: what comes and goes between two of them is not seen.
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

    /// How far its heading may be from the pattern's, rad.
    fn tolerance_rad(&self) -> f64 {
        1e-2
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
    /// When the pattern is not finite or jumps, would take more than 100 000 arcs or has more than 100 000 events, or when
    /// an event lies outside of it.
    pub fn follow(from: Pose2, pattern: &dyn MotionPattern) -> Result<Plan, String> {
        let duration = pattern.duration_s();
        if !(duration > 0.0 && duration.is_finite()) {
            return Err(format!("a motion pattern takes a positive time, not `{duration}` s"));
        }
        for tolerance in [pattern.tolerance_m(), pattern.tolerance_rad()] {
            if tolerance.is_nan() || tolerance < 0.0 {
                return Err(format!("a tolerance of a motion pattern is not negative, unlike `{tolerance}`"));
            }
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

    /// The same way, at no more than these speeds (m/s and rad/s): phases that are faster take longer.
    #[must_use]
    pub fn no_faster(mut self, speed: f64, turn_speed: f64) -> Plan {
        for phase in &mut self.phases {
            let factor = math::min(speed / phase.twist.linear().norm(), turn_speed / phase.twist.spin.abs());
            if factor < 1.0 {
                *phase = phase.slowed(factor, phase.duration_s);
            }
        }
        self
    }
}

/// Arcs, and events, of one pattern.
const MOST_ARCS: usize = 100_000;

/// How often a stretch of a pattern is halved at most.
const DEEPEST: u32 = 20;

/// Times at which a whole pattern is compared with its arcs, and the least number of one arc.
const LOOKS: u32 = 1024;
const LEAST_LOOKS: u32 = 8;

/// Whether an arc that begins at `t0` and takes `dt` is too far from the pattern somewhere; says where and how far.
///
/// Why the times are irregular: a pattern that swings in step with regular ones looks straight. Quarters are looked at
/// as well, because a smooth pattern is farthest from its arc there or in the middle.
fn stray(
    arc: &Segment,
    (t0, dt): (f64, f64),
    looks: u32,
    pattern: &dyn MotionPattern,
    pose_at: impl Fn(f64) -> Pose2,
) -> Result<Option<String>, String> {
    // Multiples of the golden section, modulo 1, never come together and leave no gap for long.
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let shares = (1..=looks).map(|k| (f64::from(k) * GOLDEN).fract());
    for share in [0.5, 0.25, 0.75].into_iter().chain(shares) {
        let t = t0 + share * dt;
        let (here, should) = (arc.pose_at(share * dt), pose_at(t));
        if !should.is_finite() {
            return Err(format!("the motion pattern has no finite pose at {t} s"));
        }
        let turned = math::wrap_angle(here.heading - should.heading).abs();
        let metres = ((here.at - should.at).norm(), pattern.tolerance_m(), "m");
        for (off, most, unit) in [metres, (turned, pattern.tolerance_rad(), "rad")] {
            if off > most || off.is_nan() {
                let allowed = format!("{most} {unit} is allowed");
                return Ok(Some(format!("at {t} s an arc is {off} {unit} off, and {allowed}")));
            }
        }
    }
    Ok(None)
}

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
    let looks = LEAST_LOOKS.max((f64::from(LOOKS) * (dt / pattern.duration_s())) as u32);
    let off = stray(&arc.segment(a), (t0, dt), looks, pattern, at)?;
    if off.is_some() || depth < 2 {
        if let Some(how) = off.filter(|_| depth == DEEPEST) {
            return Err(format!("the motion pattern jumps, or bends too sharply: {how}"));
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A pattern by a function of time.
    struct Way<F>(f64, F);

    impl<F> std::fmt::Debug for Way<F> {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("a way")
        }
    }

    impl<F: Fn(f64) -> Pose2 + Send + Sync> MotionPattern for Way<F> {
        fn duration_s(&self) -> f64 {
            self.0
        }

        fn pose_at(&self, t_s: f64) -> Pose2 {
            self.1(t_s)
        }
    }

    /// How far the plan is from the pattern, at most: metres and radians; and of how many arcs it is.
    fn compared(pattern: &dyn MotionPattern) -> (f64, f64, usize) {
        let plan = Plan::follow(Pose2::default(), pattern).expect("can be followed");
        let (mut start, mut pose, mut off, mut turned) = (0.0, pattern.pose_at(0.0), 0.0, 0.0);
        for phase in &plan.phases {
            let segment = phase.segment(pose);
            for k in 0..100 {
                let t = f64::from(k) / 100.0 * phase.duration_s;
                let (here, should) = (segment.pose_at(t), pattern.pose_at(start + t));
                off = math::max(off, (here.at - should.at).norm());
                turned = math::max(turned, math::wrap_angle(here.heading - should.heading).abs());
            }
            (start, pose) = (start + phase.duration_s, phase.end);
        }
        (off, turned, plan.phases.len())
    }

    /// One period a second: 8 or 16 of them in as many seconds look straight at every eighth of the time.
    #[test]
    fn a_sine_in_step_with_the_halves_of_its_time_is_followed_all_the_same() {
        for periods in [4.0, 7.0, 8.0, 16.0] {
            let slope = |t: f64| 0.5 * TAU * math::cos(TAU * t);
            let along = Way(periods, |t| Pose2::new(t, 0.5 * math::sin(TAU * t), math::atan2(slope(t), 1.0)));
            let level = Way(periods, |t| Pose2::new(t, 0.5 * math::sin(TAU * t), 0.0));
            for pattern in [&along as &dyn MotionPattern, &level] {
                let (off, turned, arcs) = compared(pattern);
                assert!(off < 1.1e-4 && turned < 1e-2, "{periods}: {off} m and {turned} rad, {arcs} arcs");
            }
        }
    }

    /// What an arc is already is four of them: more looks make no more arcs.
    #[test]
    fn a_circle_stays_four_arcs() {
        let circle = Way(3.0, |t| Pose2::new(2.0 * math::sin(t), 2.0 - 2.0 * math::cos(t), t));
        let (off, turned, arcs) = compared(&circle);
        assert!(off < 1e-12 && turned < 1e-12 && arcs == 4, "{off} m, {turned} rad, {arcs} arcs");
    }

    /// A whole turn a second on the spot: after each second, and each quarter of four seconds, it looks the same way.
    #[test]
    fn the_heading_is_followed_as_well_as_the_place() {
        let (_, turned, arcs) = compared(&Way(4.0, |t| Pose2::new(0.0, 0.0, TAU * t)));
        assert!(turned < 1e-9 && arcs > 4, "{turned} rad, {arcs} arcs");
    }

    #[test]
    fn a_pattern_that_cannot_be_followed_says_where_and_why() {
        let refused = |pattern: &dyn MotionPattern| {
            Plan::follow(Pose2::default(), pattern).expect_err("cannot be followed")
        };
        let jump = Way(1.0, |t| Pose2::new(if t < 0.345 { 0.0 } else { 1.0 }, 0.0, 0.0));
        let why = refused(&jump);
        assert!(why.contains("jumps") && why.contains("at 0.34") && why.contains("0.0001 m"), "{why}");
        let turn = Way(1.0, |t| Pose2::new(t, 0.0, if t < 0.3 { 0.0 } else { 1.0 }));
        assert!(refused(&turn).contains("0.01 rad is allowed"), "{}", refused(&turn));
        let hole = Way(1.0, |t| Pose2::new(if (0.31..0.33).contains(&t) { f64::NAN } else { t }, 0.0, 0.0));
        assert!(refused(&hole).contains("no finite pose at 0.3"), "{}", refused(&hole));
    }
}
