//! Motions: from a plan to arrivals, over ground that may slow a robot down.

use super::going::{Footing, Going, Journey};
use super::ground::{self, Ground};
use super::play::Play;
use super::state::{LiveEvent, LiveKey};
use swarmyard_base::{Moment, Pose2, Twist2, Vec2, math};
use swarmyard_part_api::{Ended, Happening, Motion, Note, Phase, Plan, Row, RowKind, Segment};

/// A stretch of a phase on one kind of ground.
pub(super) struct Stage {
    /// The phase as it is made there.
    pub(super) phase: Phase,
    /// When it ends if the ground stays the same.
    pub(super) until: Moment,
    /// When it comes to the edge of a zone before; at once when it is swallowed.
    pub(super) zone: Option<Moment>,
    /// How fast the ground lets it go.
    pub(super) factor: f64,
    /// Whether the ground is a hole.
    pub(super) swallowed: bool,
}

impl Play<'_> {
    /// Starts a motion in place of the one under way.
    pub(super) fn begin(&mut self, robot: u32, node: u16, task: u64, motion: &Motion, plan: Plan) {
        let slot = self.live.members[robot as usize] as usize;
        self.replace_journey(robot, slot);
        self.note(robot, Note::Wanted { task, motion: motion.clone() });
        if plan.phases.is_empty() {
            let pose = self.state.going[slot].pose_at(self.now);
            self.set_going(slot, Going::rest(self.now, pose));
            for (_, name) in plan.events {
                self.pass(robot, (node, task), pose, name);
            }
            self.then.push_back((robot, Happening::Ended { node, task, how: Ended::Finished }));
            return;
        }
        self.hurry(plan.phases.iter().map(|p| p.twist.linear().norm()).fold(0.0, math::max));
        let journey = Journey::new(task, node, name_of(motion), plan);
        let pose = self.state.going[slot].pose_at(self.now);
        self.phase(slot, pose, Box::new(journey));
    }

    /// The motion under way makes room for another one, or for none; its owner is told.
    pub(super) fn replace_journey(&mut self, robot: u32, slot: usize) {
        let old = self.state.going[slot].journey().map(|j| (j.node, j.task));
        self.end_journey(slot);
        if let Some((node, task)) = old {
            self.then.push_back((robot, Happening::Ended { node, task, how: Ended::Replaced }));
        }
    }

    /// The motion under way is over: what was going to happen to it does not.
    pub(super) fn end_journey(&mut self, slot: usize) {
        let Some(journey) = self.state.going[slot].take_journey() else { return };
        self.cancel(slot, &journey);
    }

    fn cancel(&mut self, slot: usize, journey: &Journey) {
        for (at, event) in [
            (Some(journey.until), LiveEvent::Arrive(slot as u32)),
            (journey.zone, LiveEvent::Zone(slot as u32)),
        ] {
            if let Some(at) = at {
                let who = self.model.uids[slot];
                self.state.queue.remove(&LiveKey { at, kind: event.kind(), who, sequence: journey.task });
            }
        }
    }

    /// Begins the journey's present phase at a pose.
    fn phase(&mut self, slot: usize, pose: Pose2, journey: Box<Journey>) {
        let phase = journey.phases[journey.at as usize].clone();
        self.note_phase(slot, pose, &journey, &phase);
        self.pass_events(slot, pose, &journey);
        let stage = self.stage(self.now, pose, &phase, phase.duration_s);
        self.go(slot, pose, journey, stage);
    }

    /// Tells of the events with which the journey's present phase begins.
    fn pass_events(&mut self, slot: usize, pose: Pose2, journey: &Journey) {
        let Some(robot) = self.live.number(slot) else { return };
        for (_, name) in journey.events.iter().filter(|e| e.0 == journey.at) {
            self.pass(robot, (journey.node, journey.task), pose, name.clone());
        }
    }

    /// A robot has come to an event of its motion.
    fn pass(&mut self, robot: u32, (node, task): (u16, u64), pose: Pose2, name: String) {
        if self.notes {
            self.note(robot, Note::Row(standing(&name, RowKind::Passed, pose)));
        }
        self.then.push_back((robot, Happening::Passed { node, task, name }));
    }

    /// Goes on a stretch of a phase from a pose.
    fn go(&mut self, slot: usize, pose: Pose2, mut journey: Box<Journey>, stage: Stage) {
        (journey.until, journey.zone, journey.factor) = (stage.until, stage.zone, stage.factor);
        let (who, task) = (self.model.uids[slot], journey.task);
        if journey.until != Moment::NEVER {
            self.state.push(journey.until, who, task, LiveEvent::Arrive(slot as u32));
        }
        if let Some(at) = journey.zone {
            self.state.push(at, who, task, LiveEvent::Zone(slot as u32));
        }
        self.set_going(slot, Going::told(self.now, pose, &stage.phase, journey));
    }

    /// A phase from a pose at a moment, with `left_s` seconds left on ordinary ground: as it is made on the ground ahead.
    pub(super) fn stage(&self, from: Moment, pose: Pose2, phase: &Phase, left_s: f64) -> Stage {
        let zones = &self.live.zones[..];
        let (ground, border) = ground::ahead(zones, &phase.segment(pose), left_s);
        let (phase, left_s, border, factor) = match ground {
            Ground::Hole => (phase.clone(), left_s, Some(0.0), 1.0),
            Ground::Firm(1.0) => (phase.clone(), left_s, border, 1.0),
            Ground::Firm(factor) => {
                let (slower, left_s) = (phase.slowed(factor, left_s), left_s / factor);
                let border = ground::next_border(zones, &slower.segment(pose), left_s);
                (slower, left_s, border, factor)
            }
        };
        let (until, zone) = (from.plus(left_s), border.map(|t| from.plus(t)));
        Stage { phase, until, zone, factor, swallowed: ground == Ground::Hole }
    }

    /// A phase has ended: the next one begins, or the robot has arrived.
    pub(super) fn arrive(&mut self, slot: usize) {
        let Some(mut journey) = self.state.going[slot].take_journey() else { return };
        self.cancel(slot, &journey);
        let pose = journey.phases[journey.at as usize].end;
        let last = journey.at as usize + 1 == journey.phases.len();
        journey.at += 1;
        if last {
            self.pass_events(slot, pose, &journey);
        }
        let goes_on = journey.phases.get(journey.at as usize).is_some_and(|p| p.name.is_empty());
        if let Some(robot) = self.live.number(slot).filter(|_| self.notes && !goes_on) {
            let kind = if last { RowKind::Finish } else { RowKind::Next };
            self.note(robot, Note::Row(standing(&journey.name, kind, pose)));
        }
        if !last {
            self.phase(slot, pose, journey);
            return;
        }
        self.set_going(slot, Going::rest(self.now, pose));
        if let Some(robot) = self.live.number(slot) {
            let (node, task) = (journey.node, journey.task);
            self.then.push_back((robot, Happening::Ended { node, task, how: Ended::Finished }));
        }
    }

    /// A body's centre is at the edge of a zone, or in a hole.
    pub(super) fn cross_zone(&mut self, slot: usize) {
        let going = &self.state.going[slot];
        let pose = going.pose_at(self.now);
        let Some(journey) = going.journey() else {
            if let Some(footing) = going.footing().filter(|f| f.zone == Some(self.now)) {
                let (twist, factor) = (going.twist(), footing.factor);
                self.slide(slot, pose, twist, factor);
            }
            return;
        };
        let left_s = journey.until.since(self.now) * journey.factor;
        let stage = self.stage(self.now, pose, &journey.phases[journey.at as usize], left_s);
        if stage.swallowed {
            self.swallow(slot);
            return;
        }
        let Some(journey) = self.state.going[slot].take_journey() else { return };
        self.cancel(slot, &journey);
        self.go(slot, pose, journey, stage);
    }

    /// A body glides with a velocity in the world's frame, which it has on ground that lets it go by a factor; nobody told
    /// it to. Zones are for robots that live by events.
    pub(super) fn slide(&mut self, slot: usize, pose: Pose2, twist: Twist2, factor: f64) {
        self.hurry(twist.linear().norm() / factor);
        let zones = &self.live.zones[..];
        if zones.is_empty() || twist.is_rest() || self.live.number(slot).is_none() {
            self.set_going(slot, Going::free(self.now, pose, twist, true));
            return;
        }
        let segment = |t: Twist2| Segment::glide(0.0, pose, pose.rot(), t.linear(), t.spin);
        let (footing, twist) = match ground::ahead(zones, &segment(twist), f64::INFINITY) {
            (Ground::Hole, _)
                if self.state.going[slot].footing().is_some_and(|f| f.zone == Some(self.now)) =>
            {
                self.swallow(slot);
                return;
            }
            // As an event of its own, after what follows from the contact.
            (Ground::Hole, _) => (Footing { factor, zone: Some(self.now) }, twist),
            (Ground::Firm(next), _) => {
                let scale = next / factor;
                let twist = Twist2::new(twist.forward * scale, twist.left * scale, twist.spin * scale);
                let border = ground::next_border(zones, &segment(twist), f64::INFINITY);
                (Footing { factor: next, zone: border.map(|t| self.now.plus(t)) }, twist)
            }
        };
        self.set_going(slot, Going::sliding(self.now, pose, twist, footing));
        if let Some(at) = footing.zone.filter(|at| *at != Moment::NEVER) {
            self.state.push(at, self.model.uids[slot], 0, LiveEvent::Zone(slot as u32));
        }
    }

    /// How fast the ground lets a body go that is where it is.
    pub(super) fn foothold(&self, slot: usize) -> f64 {
        let going = &self.state.going[slot];
        let known = going.journey().map(|j| j.factor).or_else(|| going.footing().map(|f| f.factor));
        known.unwrap_or_else(|| match ground::at(&self.live.zones, going.place_at(self.now)) {
            Ground::Firm(factor) => factor,
            Ground::Hole => 1.0,
        })
    }

    /// A body moves in another way from now on.
    pub(super) fn set_going(&mut self, slot: usize, going: Going) {
        if let Some(at) = self.state.going[slot].footing().and_then(|f| f.zone) {
            let kind = LiveEvent::Zone(slot as u32).kind();
            self.state.queue.remove(&LiveKey { at, kind, who: self.model.uids[slot], sequence: 0 });
        }
        if !self.state.moved.is_empty() {
            let old = &self.state.going[slot];
            // A body that goes by quanta has set out in this one, or stands.
            let passed = crate::resolve::travel(&old.segment(), self.now.since(old.start));
            self.state.moved[slot] = crate::resolve::add(self.state.moved[slot], passed);
        }
        self.sky.set(slot, &going);
        self.state.going[slot] = going;
        self.path_changed(slot);
    }

    fn note_phase(&mut self, slot: usize, pose: Pose2, journey: &Journey, phase: &Phase) {
        let Some(robot) = self.live.number(slot).filter(|_| self.notes && !phase.name.is_empty()) else {
            return;
        };
        let turns = phase.twist.linear() == Vec2::ZERO;
        let speed = phase.twist.linear().norm();
        // Those without a name go on with it.
        let on = journey.phases[journey.at as usize + 1..].iter().take_while(|p| p.name.is_empty());
        let way = |p: &Phase| p.twist.linear().norm() * p.duration_s;
        let (to, distance) =
            on.fold((phase.end.at, way(phase)), |(_, distance), p| (p.end.at, distance + way(p)));
        let row = Row {
            motion: journey.name.clone(),
            kind: RowKind::Begin(journey.phases.len() > 1),
            at: pose.at,
            to,
            heading: pose.heading,
            turn: if turns { phase.twist.spin * phase.duration_s } else { 0.0 },
            distance: if turns { 0.0 } else { distance },
            turn_speed: phase.twist.spin.abs(),
            speed,
        };
        self.note(robot, Note::Row(row));
    }
}

/// A row about a robot that stands.
pub(super) fn standing(motion: &str, kind: RowKind, pose: Pose2) -> Row {
    Row {
        motion: motion.to_owned(),
        kind,
        at: pose.at,
        to: pose.at,
        heading: pose.heading,
        turn: 0.0,
        distance: 0.0,
        turn_speed: 0.0,
        speed: 0.0,
    }
}

/// What a motion is called in logs.
fn name_of(motion: &Motion) -> &str {
    match motion {
        Motion::Turn { .. } => "Turn",
        Motion::Forward { .. } => "Forward",
        Motion::MoveTo { .. } => "MoveTo",
        Motion::Velocity { .. } => "Velocity",
        Motion::Arc { .. } => "Arc",
        Motion::Pattern { name, .. } => name,
        Motion::Follow(_) => "Follow",
    }
}
