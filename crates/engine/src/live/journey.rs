//! Motions: from a plan to arrivals, over ground that may slow a robot down.

use super::going::{Going, Journey};
use super::note::{Note, Row, RowKind};
use super::play::Play;
use super::state::{LiveEvent, LiveKey};
use super::{Zone, ZoneKind};
use swarmyard_base::{Moment, Pose2, Vec2, math};
use swarmyard_part_api::{Ended, Happening, Motion, Phase, Plan, Segment};

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
        let journey = Journey {
            task,
            node,
            name: name_of(motion).to_owned(),
            phases: plan.phases,
            events: plan.events,
            at: 0,
            until: Moment::NEVER,
            zone: None,
            factor: 1.0,
        };
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
    fn phase(&mut self, slot: usize, pose: Pose2, mut journey: Box<Journey>) {
        let phase = journey.phases[journey.at as usize].clone();
        journey.factor = self.ground(pose.at);
        self.note_phase(slot, pose, &journey, &phase);
        self.pass_events(slot, pose, &journey);
        self.go(slot, pose, journey, phase.duration_s, &phase);
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

    /// Goes on a phase from a pose, with `left_s` seconds left on ordinary ground.
    fn go(&mut self, slot: usize, pose: Pose2, mut journey: Box<Journey>, left_s: f64, phase: &Phase) {
        let slower;
        (slower, journey.until, journey.zone) = self.leg(self.now, pose, phase, left_s, journey.factor);
        let (who, task) = (self.model.uids[slot], journey.task);
        if journey.until != Moment::NEVER {
            self.state.push(journey.until, who, task, LiveEvent::Arrive(slot as u32));
        }
        if let Some(at) = journey.zone {
            self.state.push(at, who, task, LiveEvent::Zone(slot as u32));
        }
        self.set_going(slot, Going::told(self.now, pose, &slower, journey));
    }

    /// A phase from a pose at a moment on ground that lets robots go by a factor, with `left_s` seconds left on ordinary
    /// ground: as it is made there, when it ends, and when it crosses the edge of a zone before.
    pub(super) fn leg(
        &self,
        from: Moment,
        pose: Pose2,
        phase: &Phase,
        left_s: f64,
        factor: f64,
    ) -> (Phase, Moment, Option<Moment>) {
        let slower = if factor == 1.0 { phase.clone() } else { phase.slowed(factor, left_s) };
        let left_s = left_s / factor;
        let zone = self.next_border(&slower.segment(pose), left_s).map(|t| from.plus(t));
        (slower, from.plus(left_s), zone)
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

    /// A body's centre is at the edge of a zone.
    pub(super) fn cross_zone(&mut self, slot: usize) {
        let going = &self.state.going[slot];
        let pose = going.pose_at(self.now);
        // Which side it is on now is decided a little further on its way.
        let ahead = going.segment().position_at(self.now.since(going.start) + 1e-9);
        if self.zone_at(ahead).is_some_and(|z| z.kind == ZoneKind::Swallow) {
            self.swallow(slot);
            return;
        }
        let Some(mut journey) = self.state.going[slot].take_journey() else { return };
        self.cancel(slot, &journey);
        let left_s = journey.until.since(self.now) * journey.factor;
        journey.factor = self.ground(ahead);
        let phase = journey.phases[journey.at as usize].clone();
        self.go(slot, pose, journey, left_s, &phase);
    }

    /// A body moves in another way from now on.
    pub(super) fn set_going(&mut self, slot: usize, going: Going) {
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

    /// The zone a point is in; of several the first.
    pub(super) fn zone_at(&self, at: Vec2) -> Option<&Zone> {
        self.live.zones.iter().find(|z| z.holds(at))
    }

    /// How fast the ground at a point lets robots go.
    pub(super) fn ground(&self, at: Vec2) -> f64 {
        match self.zone_at(at).map(|z| z.kind) {
            Some(ZoneKind::Slow(factor)) => factor,
            _ => 1.0,
        }
    }

    /// When the centre crosses the edge of a zone next, in seconds, before `end_s`.
    fn next_border(&self, segment: &Segment, end_s: f64) -> Option<f64> {
        let mut first: Option<f64> = None;
        for (a, b) in self.live.zones.iter().flat_map(Zone::edges) {
            let found = if segment.is_straight() {
                straight_crossing(segment, a, b)
            } else {
                bent_crossing(segment, a, b, end_s)
            };
            if let Some(t) = found.filter(|t| *t < end_s && first.is_none_or(|f| *t < f)) {
                first = Some(t);
            }
        }
        first
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

/// Least time after which a crossing counts: the one that was just made does not count again.
const LEAST_S: f64 = 2e-9;

fn straight_crossing(segment: &Segment, a: Vec2, b: Vec2) -> Option<f64> {
    let (v, e) = (segment.velocity_with(segment.rot), b - a);
    let det = v.cross(e);
    if det == 0.0 {
        return None;
    }
    let from = a - segment.pose.at;
    let (t, u) = (from.cross(e) / det, from.cross(v) / det);
    (t > LEAST_S && (0.0..=1.0).contains(&u)).then_some(t)
}

/// On a bend the side changes of small pieces are looked for and then halved down; a piece turns by at most
/// a fiftieth of a circle.
fn bent_crossing(segment: &Segment, a: Vec2, b: Vec2, end_s: f64) -> Option<f64> {
    let e = b - a;
    let side = |t: f64| (segment.position_at(t) - a).cross(e);
    let turn = std::f64::consts::TAU / segment.spin.abs();
    // After a full circle everything comes again.
    let end = math::min(end_s, turn + LEAST_S);
    let pieces = math::max(((end / turn) * 50.0).ceil(), 1.0);
    let mut t0 = LEAST_S;
    for k in 1..=pieces as u32 {
        let t1 = LEAST_S + (end - LEAST_S) * f64::from(k) / pieces;
        if (side(t0) > 0.0) != (side(t1) > 0.0) {
            let (mut low, mut high) = (t0, t1);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if (side(low) > 0.0) == (side(middle) > 0.0) { low = middle } else { high = middle }
            }
            let along = (segment.position_at(high) - a).dot(e) / e.norm2();
            if (0.0..=1.0).contains(&along) {
                return Some(high);
            }
        }
        t0 = t1;
    }
    None
}
