//! How bodies move where robots live by events: each on one path from a moment on, or at rest.
//!
//! A body at rest takes 48 bytes: what only a moving one needs stands elsewhere.

use serde::{Deserialize, Serialize};
use swarmyard_base::hash::{bytes_hash, item_hash, mix64};
use swarmyard_base::{Moment, Pose2, Time, Twist2, Uid, Vec2, math};
use swarmyard_motion::flights::Path;
use swarmyard_part_api::{Phase, Plan, Segment};

/// How one body moves from a moment on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Going {
    /// Since when.
    pub start: Moment,
    /// Pose at the start. It is never changed: what moves knows its velocity from it.
    pub pose: Pose2,
    /// `None` when it stands and is not told to do anything.
    motion: Option<Box<Moving>>,
}

/// What there is to say of a body that moves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Moving {
    twist: Twist2,
    in_world: bool,
    /// Velocity of the centre in the world's frame, where that is constant: all who look want to know, and turning it is most of
    /// the work.
    drift: Option<Vec2>,
    journey: Option<Box<Journey>>,
    /// What the ground does to one that glides, where there are zones.
    footing: Option<Footing>,
}

/// What the ground does to a robot that glides without having been told to.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Footing {
    /// How fast it lets it go.
    pub factor: f64,
    /// When that changes: its centre is at the edge of a zone.
    pub zone: Option<Moment>,
}

impl Moving {
    fn new(pose: Pose2, twist: Twist2, in_world: bool, journey: Option<Box<Journey>>) -> Box<Moving> {
        let linear = twist.linear();
        let drift = match (in_world, twist.spin == 0.0) {
            (true, _) => Some(linear),
            (false, true) => Some(pose.rot().apply(linear)),
            (false, false) => (linear == Vec2::ZERO).then_some(Vec2::ZERO),
        };
        Box::new(Moving { twist, in_world, drift, journey, footing: None })
    }
}

impl Going {
    /// At rest.
    #[must_use]
    pub fn rest(start: Moment, pose: Pose2) -> Going {
        Going { start, pose, motion: None }
    }

    /// With a velocity in its own frame, or in the world's; nobody told it to.
    #[must_use]
    pub fn free(start: Moment, pose: Pose2, twist: Twist2, in_world: bool) -> Going {
        let motion = (!twist.is_rest()).then(|| Moving::new(pose, twist, in_world, None));
        Going { start, pose, motion }
    }

    /// With a velocity in the world's frame over ground that is not all the same; nobody told it to.
    #[must_use]
    pub fn sliding(start: Moment, pose: Pose2, twist: Twist2, footing: Footing) -> Going {
        let mut moving = Moving::new(pose, twist, true, None);
        moving.footing = Some(footing);
        Going { start, pose, motion: Some(moving) }
    }

    /// On a phase of a motion it was told to make.
    #[must_use]
    pub fn told(start: Moment, pose: Pose2, phase: &Phase, journey: Box<Journey>) -> Going {
        Going { start, pose, motion: Some(Moving::new(pose, phase.twist, phase.in_world, Some(journey))) }
    }

    /// Velocity: in the body's frame, or in the world's.
    #[inline]
    #[must_use]
    pub fn twist(&self) -> Twist2 {
        self.motion.as_ref().map_or(Twist2::REST, |m| m.twist)
    }

    /// Whether it stands.
    #[inline]
    #[must_use]
    pub fn is_rest(&self) -> bool {
        self.motion.as_ref().is_none_or(|m| m.twist.is_rest())
    }

    /// Speed of its centre, m/s.
    #[must_use]
    pub fn speed(&self) -> f64 {
        self.twist().linear().norm()
    }

    /// Whether the linear velocity is constant in the world's frame.
    #[must_use]
    pub fn in_world(&self) -> bool {
        self.motion.as_ref().is_some_and(|m| m.in_world)
    }

    /// The motion a robot was told to make; none when it stands or only glides.
    #[must_use]
    pub fn journey(&self) -> Option<&Journey> {
        self.motion.as_ref()?.journey.as_deref()
    }

    /// What the ground does to it if it glides where there are zones.
    #[must_use]
    pub fn footing(&self) -> Option<Footing> {
        self.motion.as_ref()?.footing
    }

    /// Nobody's motion any more; it goes on as it goes.
    pub(super) fn take_journey(&mut self) -> Option<Box<Journey>> {
        self.motion.as_mut()?.journey.take()
    }

    /// As a segment that starts at 0.
    #[must_use]
    pub fn segment(&self) -> Segment {
        let (rot, twist) = (self.pose.rot(), self.twist());
        if self.in_world() {
            Segment::glide(0.0, self.pose, rot, twist.linear(), twist.spin)
        } else {
            Segment::arc(0.0, self.pose, rot, twist)
        }
    }

    /// As a path.
    #[must_use]
    pub fn path(&self) -> Path {
        if self.is_rest() {
            return Path::rest(self.start, self.pose);
        }
        Path::along(self.start, &self.segment())
    }

    /// Where it is at a moment; the heading is wrapped.
    #[must_use]
    pub fn pose_at(&self, moment: Moment) -> Pose2 {
        if self.is_rest() {
            return self.pose;
        }
        let turned = self.pose.heading + self.twist().spin * moment.since(self.start);
        Pose2 { at: self.place_at(moment), heading: math::wrap_angle(turned) }
    }

    /// Where its centre is at a moment.
    #[inline]
    #[must_use]
    pub fn place_at(&self, moment: Moment) -> Vec2 {
        self.course().place_at(moment, || self.segment().position_at(moment.since(self.start)))
    }

    /// How its centre moves.
    #[inline]
    pub(super) fn course(&self) -> Course {
        let (how, drift) = match self.motion.as_deref() {
            None => (Drift::None, Vec2::ZERO),
            Some(moving) if moving.twist.is_rest() => (Drift::None, Vec2::ZERO),
            Some(Moving { drift: Some(velocity), .. }) => (Drift::Straight, *velocity),
            Some(_) => (Drift::Curved, Vec2::ZERO),
        };
        let Moment { time, offset } = self.start;
        Course { at: self.pose.at, drift, time, offset, how }
    }

    /// Bytes of memory that its motion takes.
    pub(super) fn motion_bytes(&self) -> usize {
        let journey =
            |j: &Journey| size_of::<Journey>() + size_of_val(&j.phases[..]) + size_of_val(&j.events[..]);
        self.motion.as_ref().map_or(0, |m| size_of::<Moving>() + m.journey.as_deref().map_or(0, journey))
    }
}

/// How the centre of a body moves, in one place: who asks where everybody is reads a column of these.
#[derive(Clone, Copy, Debug)]
pub(super) struct Course {
    at: Vec2,
    drift: Vec2,
    /// Since when, with `offset`: two fields, so that `how` has room beside them.
    time: Time,
    offset: u32,
    how: Drift,
}

#[derive(Clone, Copy, Debug)]
enum Drift {
    None,
    Straight,
    /// Only the motion itself says where.
    Curved,
}

impl Course {
    /// Where the centre is at a moment; `motion` is asked when only that says.
    #[inline]
    pub(super) fn place_at(&self, moment: Moment, motion: impl FnOnce() -> Vec2) -> Vec2 {
        let start = Moment { time: self.time, offset: self.offset };
        match self.how {
            Drift::None => self.at,
            Drift::Straight => self.at + self.drift * moment.since(start),
            Drift::Curved => motion(),
        }
    }
}

/// A motion under way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Journey {
    /// Number of the task.
    pub task: u64,
    /// The protocol that wanted it.
    pub node: u16,
    /// What it was called: `MoveTo`, `Turn`, …
    pub name: String,
    /// All its phases.
    pub phases: Vec<Phase>,
    /// What its owner is told on the way: (the phase with whose beginning it happens, name), in order.
    pub events: Vec<(u32, String)>,
    /// The one under way.
    pub at: u32,
    /// When that ends, as far as is known.
    pub until: Moment,
    /// When its centre crosses the edge of a zone next.
    pub zone: Option<Moment>,
    /// How fast the ground lets it go.
    pub factor: f64,
    /// Hash of what was planned: all that does not change on the way. It is kept, because the state is hashed at every step,
    /// and a plan may have thousands of phases.
    pub plan: u64,
}

impl Journey {
    /// A motion about to begin.
    #[must_use]
    pub fn new(task: u64, node: u16, name: &str, Plan { phases, events }: Plan) -> Journey {
        let word = |h: u64, word: u64| mix64(h ^ word);
        let mut h = word(bytes_hash(name.as_bytes()), u64::from(node));
        for p in &phases {
            let (t, e) = (p.twist, p.end);
            let numbers = [t.forward, t.left, t.spin, p.duration_s, e.at.x, e.at.y, e.heading];
            let phase = item_hash(Uid(bytes_hash(p.name.as_bytes())), u64::from(p.in_world), &numbers);
            h = word(h, phase);
        }
        for (phase, name) in &events {
            h = word(word(h, u64::from(*phase)), bytes_hash(name.as_bytes()));
        }
        let (until, name) = (Moment::NEVER, name.to_owned());
        Journey { task, node, name, phases, events, at: 0, until, zone: None, factor: 1.0, plan: h }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::Inner;
    use swarmyard_part_api::Graph;

    #[test]
    fn a_robot_that_stands_takes_little_memory() {
        assert_eq!(size_of::<Going>(), 48);
        assert_eq!(size_of::<Course>(), 48);
        assert_eq!(size_of::<Inner>(), 16);
        assert_eq!(size_of::<Option<Graph>>(), 40);
    }

    #[test]
    fn a_velocity_of_zero_is_rest() {
        let pose = Pose2::default();
        assert_eq!(Going::free(Moment::ZERO, pose, Twist2::REST, true), Going::rest(Moment::ZERO, pose));
    }
}
