//! Contacts: what the world's rule makes of two bodies that touch.

use super::going::Going;
use super::play::Play;
use crate::groups::{ContactEvent, immovable, mixed};
use crate::model::ContactRule;
use crate::resolve::overlap;
use crate::step::RunEvent;
use swarmyard_base::{Pose2, Twist2, Uid, Vec2};
use swarmyard_motion::flights::{Meeting, With};
use swarmyard_motion::{Impact, Side};
use swarmyard_part_api::{BodyKind, Ended, Happening, Note, RowKind, Touch};

/// What touched a body.
#[derive(Clone, Copy)]
struct Other {
    uid: Uid,
    kind: BodyKind,
    surface: u32,
    heights: (f64, f64),
}

impl Play<'_> {
    /// Two bodies touch, or a body and something fixed.
    pub(super) fn meet(&mut self, meeting: &Meeting) {
        let a = meeting.body as usize;
        let (b, other) = self.other(meeting.with);
        // Who passes over or under takes no notice, and the meeting stays unanswered.
        if !overlap(self.model.heights_of(a), other.heights) {
            return;
        }
        let slots = [Some(a), b];
        let crowded = self.crowd(slots);
        let rule = if crowded { ContactRule::Stop } else { self.model.run.contact };
        let before = slots.map(|slot| slot.map(|slot| self.state.going[slot].pose_at(self.now)));
        let journeys = slots.map(|slot| slot.and_then(|s| self.leave_journey(s)));
        let strength = match rule {
            ContactRule::Impulse | ContactRule::Own => self.bounce(meeting, a, b, other.surface),
            ContactRule::Stop | ContactRule::Ghost => {
                self.stop_at(a, before[0]);
                if let Some(b) = b {
                    self.stop_at(b, before[1]);
                }
                0.0
            }
        };
        self.report(meeting, a, b, other, strength);
        for (k, slot) in slots.into_iter().enumerate() {
            let (Some(slot), Some((node, task))) = (slot, journeys[k]) else { continue };
            let Some(robot) = self.live.number(slot) else { continue };
            let (uid, with) = if k == 0 { (other.uid, b) } else { (self.model.uids[a], Some(a)) };
            let number = with.and_then(|slot| self.live.number(slot));
            let how = Ended::Collided { with: uid, robot: number, at: meeting.point };
            self.then.push_back((robot, Happening::Ended { node, task, how }));
        }
        self.push_contacts(meeting, slots);
    }

    fn other(&self, with: With) -> (Option<usize>, Other) {
        match with {
            With::Body(b) => {
                let b = b as usize;
                let other = Other {
                    uid: self.model.uids[b],
                    kind: self.model.kinds[b],
                    surface: self.model.body(b).surface,
                    heights: self.model.heights_of(b),
                };
                (Some(b), other)
            }
            With::Edge(e) => {
                let edge = &self.model.fixed.edges()[e as usize];
                let (uid, kind) = (edge.owner, edge.kind);
                (None, Other { uid, kind, surface: edge.surface, heights: edge.heights })
            }
        }
    }

    /// Whether one of these bodies has had so many contacts in this very nanosecond that it must stand.
    fn crowd(&mut self, slots: [Option<usize>; 2]) -> bool {
        let crowd = &mut self.state.crowd;
        if crowd.0 != self.now.time {
            *crowd = (self.now.time, Vec::new());
        }
        let mut over = false;
        for slot in slots.into_iter().flatten() {
            let slot = slot as u32;
            let place = crowd.1.iter().position(|c| c.0 == slot).unwrap_or_else(|| {
                crowd.1.push((slot, 0));
                crowd.1.len() - 1
            });
            crowd.1[place].1 += 1;
            if crowd.1[place].1 > self.model.run.impact_limit {
                over = true;
                let uid = self.model.uids[slot as usize];
                if !self.out.events.contains(&RunEvent::ImpactLimit(uid)) {
                    self.out.events.push(RunEvent::ImpactLimit(uid));
                }
            }
        }
        over
    }

    /// A collision ends the motion of each robot touched; answers whose it was.
    fn leave_journey(&mut self, slot: usize) -> Option<(u16, u64)> {
        let journey = self.state.going[slot].journey()?;
        let (node, task) = (journey.node, journey.task);
        if let Some(robot) = self.live.number(slot).filter(|_| self.notes) {
            let (name, several) = (journey.name.clone(), journey.phases.len() > 1);
            let to = journey.phases.last().map_or(Vec2::ZERO, |p| p.end.at);
            let pose = self.state.going[slot].pose_at(self.now);
            // With whom is told by the contact itself.
            let mut row = super::journey::standing(&name, RowKind::Collision(Uid(0), several), pose);
            row.to = to;
            self.note(robot, Note::Row(row));
        }
        self.end_journey(slot);
        Some((node, task))
    }

    fn stop_at(&mut self, slot: usize, pose: Option<Pose2>) {
        if let Some(pose) = pose.filter(|_| !self.state.going[slot].is_rest()) {
            self.set_going(slot, Going::rest(self.now, pose));
        }
    }

    /// Both get what an impulse leaves them with; answers its strength.
    fn bounce(&mut self, meeting: &Meeting, a: usize, b: Option<usize>, surface: u32) -> f64 {
        let side_b = b.map_or_else(|| immovable(Vec2::ZERO, 0.0), |b| self.side(b, meeting.point));
        let impact = Impact { a: self.side(a, meeting.point), b: side_b, normal: meeting.normal };
        let own = self.model.body(a).surface;
        let mut material = mixed(self.model.surfaces[own as usize], self.model.surfaces[surface as usize]);
        if impact.closing() < self.model.run.rest_speed {
            material.restitution = 0.0;
        }
        let impulse = impact.impulse(material, 0.0);
        let (after_a, after_b) = impact.apply(impulse);
        self.glide(a, &after_a);
        if let Some(b) = b {
            self.glide(b, &after_b);
        }
        impulse.normal
    }

    fn side(&self, slot: usize, point: Vec2) -> Side {
        let (going, body) = (&self.state.going[slot], self.model.body(slot));
        let segment = going.segment();
        let t = self.now.since(going.start);
        Side {
            velocity: segment.velocity_with(segment.rot_at(t)),
            spin: segment.spin,
            arm: point - segment.position_at(t),
            inverse_mass: body.inverse_mass,
            inverse_inertia: body.inverse_inertia,
        }
    }

    fn glide(&mut self, slot: usize, after: &Side) {
        let pose = self.state.going[slot].pose_at(self.now);
        let twist = Twist2::new(after.velocity.x, after.velocity.y, after.spin);
        let factor = if self.live.zones.is_empty() { 1.0 } else { self.foothold(slot) };
        self.slide(slot, pose, twist, factor);
    }

    fn report(&mut self, meeting: &Meeting, a: usize, b: Option<usize>, other: Other, impulse: f64) {
        let (uid, first) = (other.uid, self.model.uids[a]);
        let (low, high) = if b.is_some() && uid < first { (uid, first) } else { (first, uid) };
        let kind = if low == first { other.kind } else { self.model.kinds[a] };
        self.out.contacts.push(ContactEvent {
            time_s: self.now.since(self.out.from),
            a: low,
            b: high,
            kind,
            point: meeting.point,
            impulse,
            closing: meeting.closing,
        });
        let mut feel = |slot: usize, uid: Uid, kind: BodyKind| {
            let pose = self.state.going[slot].pose_at(self.now);
            let point = pose.rot().unapply(meeting.point - pose.at);
            self.out.touches.push(Touch { slot: slot as u32, other: uid, kind, point, impulse });
        };
        feel(a, uid, other.kind);
        if let Some(b) = b {
            feel(b, first, self.model.kinds[a]);
        }
    }
}
