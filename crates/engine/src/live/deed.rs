//! What a robot's algorithm reaches of the world.

use super::air::Sight;
use super::note::Deal;
use super::play::Play;
use super::sky::Sky;
use super::state::{Inner, LiveEvent, LiveKey, LiveState, Status};
use super::watch::too_often;
use crate::model::Model;
use crate::step::RunEvent;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Pose2, Uid, Vec2, math};
use swarmyard_motion::{nearest_points, separation};
use swarmyard_part_api::{
    Air, Answer, BodyKind, Indication, Loss, Message, Motion, Network, Note, Outline, Pending, Query,
    Request, Robot, Seen, Surroundings, Watch,
};

/// One robot at work.
pub(super) struct Deed<'p, 'a> {
    pub(super) play: &'p mut Play<'a>,
    pub(super) robot: u32,
}

impl Deed<'_, '_> {
    fn slot(&self) -> usize {
        self.play.live.members[self.robot as usize] as usize
    }

    /// A number that this robot has not used before.
    fn next(&mut self) -> u64 {
        let inner = &mut self.play.state.robots[self.robot as usize];
        inner.ordinal += 1;
        inner.ordinal
    }
}

impl Robot for Deed<'_, '_> {
    fn now(&self) -> Moment {
        self.play.now
    }

    fn me(&self) -> u32 {
        self.robot
    }

    fn robots(&self) -> u32 {
        self.play.live.members.len() as u32
    }

    fn down_since(&self, robot: u32) -> Option<Moment> {
        self.play.state.down.get(&robot).copied()
    }

    fn chance(&mut self) -> Draw {
        let ordinal = self.next() as u32;
        let (seed, uid) = (self.play.model.run.seed, self.play.uid(self.robot));
        Draw::at(seed, uid, Purpose::Algorithm, self.play.now.time, ordinal)
    }

    fn say(&mut self, text: &str) {
        let robot = self.robot;
        self.play.note(robot, Note::Said(text.to_owned()));
    }

    fn retell(&mut self, robot: u32, what: Note) {
        if (robot as usize) < self.play.live.members.len() {
            self.play.tell_of(robot, what);
        }
    }

    fn failed(&mut self, why: &str) {
        let robot = self.play.uid(self.robot);
        self.play.out.events.push(RunEvent::AlgorithmFailed { robot, why: why.to_owned() });
    }

    fn send(&mut self, protocol: u32, to: &[u32], bytes: Arc<[u8]>) {
        let play = &mut *self.play;
        let is_there = |r: &u32| *r != self.robot && (*r as usize) < play.live.members.len();
        let others = if to.iter().all(is_there) && to.is_sorted_by(|a, b| a < b) {
            Cow::Borrowed(to)
        } else {
            let mut others: Vec<u32> = to.iter().copied().filter(is_there).collect();
            others.sort_unstable();
            others.dedup();
            Cow::Owned(others)
        };
        if others.is_empty() {
            return;
        }
        let serial = play.state.sent;
        play.state.sent += 1;
        if play.notes {
            let (name, label, content) = play.shown(self.robot, protocol, &bytes);
            let (to, bytes) = (others.to_vec(), bytes.len());
            play.note(self.robot, Note::Sent { serial, to, protocol: name, label, content, bytes });
        }
        let message = Message { serial, from: self.robot, protocol, bytes };
        play.with_network(|network, air| network.send(&message, &others, air));
    }

    fn set_timer(&mut self, node: u16, after_s: f64) -> u64 {
        let timer = self.next();
        let (at, robot) = (self.play.now.plus(math::max(after_s, 0.0)), self.robot);
        if at != Moment::NEVER {
            let who = self.play.uid(robot);
            self.play.state.push(at, who, timer, LiveEvent::Timer { robot, node, timer });
            self.play.state.timers.insert((robot, timer), at);
        }
        timer
    }

    fn cancel_timer(&mut self, timer: u64) {
        self.play.drop_timer(self.robot, timer);
    }

    fn go(&mut self, node: u16, motion: &Motion) -> Result<u64, String> {
        let slot = self.slot();
        let life = self.play.model.type_at(slot).life.as_ref();
        let modules = life.map_or(&[][..], |life| &life.equipment.modules[..]);
        let pose = self.play.state.going[slot].pose_at(self.play.now);
        let planned = modules.iter().find_map(|(_, module)| module.plan(pose, motion));
        let plan =
            planned.unwrap_or_else(|| Err("no motion module of this robot knows this motion".to_owned()))?;
        let sound =
            |p: &swarmyard_part_api::Phase| p.twist.is_finite() && p.end.is_finite() && p.duration_s >= 0.0;
        if !plan.phases.iter().all(sound) {
            return Err("the motion is not a finite one".to_owned());
        }
        let most = plan.phases.len();
        if !(plan.events.is_sorted_by_key(|e| e.0) && plan.events.iter().all(|e| e.0 as usize <= most)) {
            return Err("the events of the motion are out of order, or beyond its end".to_owned());
        }
        let task = self.next();
        self.play.begin(self.robot, node, task, motion, plan);
        Ok(task)
    }

    fn halt(&mut self) {
        let slot = self.slot();
        self.play.replace_journey(self.robot, slot);
        self.play.stand(slot);
    }

    fn pull(&mut self, query: &Query) -> Result<Answer, String> {
        let ordinal = self.next();
        self.play.note(self.robot, Note::Asked(query.clone()));
        let slot = self.slot();
        let life = self.play.model.type_at(slot).life.as_ref();
        let sensors = life.map_or(&[][..], |life| &life.equipment.sensors[..]);
        let look = Look::new(self.play, self.robot, ordinal);
        let named = |name: &str| match query {
            Query::Own { sensor, .. } => sensor == name,
            _ => true,
        };
        let answers = sensors.iter().filter(|(name, _)| named(name));
        let answer = answers.map(|(_, sensor)| sensor.pull(query, &look)).find_map(|a| a);
        answer.ok_or_else(|| "no sensor of this robot answers that".to_owned())
    }

    fn watch(&mut self, node: u16, watch: &Watch) -> Result<u64, String> {
        let number = self.next();
        if let Some(why) = too_often(watch.every) {
            let life = self.play.model.type_at(self.slot()).life.as_ref();
            let name = life.and_then(|life| life.graph.names().nth(usize::from(node))).unwrap_or("?");
            self.failed(&format!("`{name}` cannot look out: {why}"));
            return Err(why);
        }
        self.play.watch(self.robot, node, watch, number)?;
        Ok(number)
    }

    fn unwatch(&mut self, watch: u64) {
        self.play.unwatch(self.robot, watch);
        let robot = self.robot;
        self.play.note(robot, Note::Watched(None));
    }

    fn pending(&self, robot: u32) -> Vec<Pending> {
        let Some(slot) = self.play.live.members.get(robot as usize) else { return Vec::new() };
        pending(self.play, robot, *slot)
    }

    fn ask(&mut self, node: u16, question: &[u8]) {
        self.play.state.asks.push((self.robot, node, question.into()));
    }

    fn shine(&mut self, light: u8) {
        self.play.state.robots[self.robot as usize].light = light;
    }

    fn asked(&mut self, node: u16, port: usize, request: &Request) {
        self.play.hear(self.robot, || Deal::Asked { node, port: port as u16, request: request.clone() });
    }

    fn told(&mut self, node: u16, port: usize, what: &Indication) {
        self.play.hear(self.robot, || Deal::Told { node, port: port as u16, what: what.clone() });
    }
}

impl Play<'_> {
    /// Lets the network work, and puts what it says into effect.
    pub(super) fn with_network(&mut self, work: impl FnOnce(&mut dyn Network, &mut dyn Air)) {
        let Some(mut network) = self.cast.network.take() else { return };
        let LiveState { going, robots, queue, instant, .. } = &mut *self.state;
        let (model, now) = (self.model, self.now);
        let mut sight = Sight { model, going, robots, queue, instant, now, lost: Vec::new() };
        work(network.as_mut(), &mut sight);
        let lost = sight.lost;
        self.cast.network = Some(network);
        if !lost.is_empty() {
            self.lose(lost);
        }
    }

    #[cold]
    fn lose(&mut self, lost: Vec<(Message, u32, Loss)>) {
        for (message, to, why) in lost {
            self.state.lost += 1;
            self.note_lost(&message, to, why);
        }
    }
}

/// What is going to happen to a robot, in order.
fn pending(play: &Play<'_>, robot: u32, slot: u32) -> Vec<Pending> {
    // What happens first at one moment comes first.
    let collision = play.collision_ahead(slot as usize).map(|(at, other, robot)| Pending {
        at,
        conditional: true,
        what: format!("collision with {other}"),
        robot,
    });
    let motion = play.motion_ahead(slot as usize).into_iter();
    let motion = motion.map(|(at, what)| Pending { at, conditional: true, what, robot: None });
    let mut all: Vec<Pending> = collision.into_iter().chain(motion).collect();
    let own = play.uid(robot);
    let mut queued: Vec<(LiveKey, bool, &str)> = Vec::new();
    for (key, event) in play.state.queue.unsorted() {
        let (mine, conditional, what) = match event {
            LiveEvent::Zone(s) => (*s == slot, true, "zone"),
            LiveEvent::Deliver { to, .. } => (*to == robot, false, "message"),
            LiveEvent::Timer { robot: r, .. } => (*r == robot, false, "timer"),
            LiveEvent::Look(_) => (key.who == own, false, "sense"),
            LiveEvent::Start(r) => (*r == robot, false, "start"),
            LiveEvent::Fault(_) | LiveEvent::Wake(_) | LiveEvent::Arrive(_) | LiveEvent::Crossing { .. } => {
                (false, false, "")
            }
        };
        if mine {
            queued.push((*key, conditional, what));
        }
    }
    queued.sort_unstable_by_key(|q| q.0);
    let kind = LiveEvent::Crossing { watch: 0, slot: 0, entering: true }.kind();
    let crossing = |at: Moment| (LiveKey { at, kind, who: own, sequence: 0 }, true, "crossing");
    queued.extend(play.crossings_ahead(robot).into_iter().map(crossing));
    queued.sort_by_key(|q| (q.0.at, q.0.kind));
    let pending = |(key, conditional, what): (LiveKey, bool, &str)| Pending {
        at: key.at,
        conditional,
        what: what.to_owned(),
        robot: None,
    };
    all.extend(queued.into_iter().map(pending));
    all.sort_by_key(|p| p.at);
    all
}

/// Something that is near: its uid, its number if it is a robot, its nearest point, and how far away that is.
type Found = (Uid, Option<u32>, Vec2, f64);

/// The nearest first, ties by uid; of one wall or obstacle only the nearest point counts.
fn nearest_of_each(mut found: Vec<Found>) -> Vec<Found> {
    found.sort_by(|a, b| a.3.total_cmp(&b.3).then(a.0.cmp(&b.0)));
    let mut owners: BTreeSet<Uid> = BTreeSet::new();
    found.retain(|f| owners.insert(f.0));
    found
}

/// The corners of a body at a pose.
pub(super) fn corners_at(outline: &Outline, pose: Pose2) -> Vec<Vec2> {
    let rot = pose.rot();
    outline.corners().iter().map(|c| pose.at + rot.apply(*c)).collect()
}

/// The nearest point of a hull, grown by a radius, to another one; and how far apart the two are.
pub(super) fn nearest_of((mine, round): (&[Vec2], f64), (other, grown): (&[Vec2], f64)) -> (Vec2, f64) {
    let apart = separation(mine, other).distance;
    let (p, q) = nearest_points(mine, other);
    let point = if apart > 0.0 { q + (p - q) * (grown / apart) } else { q };
    (point, math::max(apart - round - grown, 0.0))
}

/// The world as a sensor of one robot sees it.
pub(super) struct Look<'a> {
    model: &'a Model,
    state: &'a LiveState,
    sky: &'a Sky,
    now: Moment,
    robot: u32,
    ordinal: u64,
}

impl<'a> Look<'a> {
    pub(super) fn new(play: &'a Play<'_>, robot: u32, ordinal: u64) -> Look<'a> {
        Look { model: play.model, state: play.state, sky: play.sky, now: play.now, robot, ordinal }
    }

    fn slot(&self, robot: u32) -> Option<usize> {
        self.model.live.as_ref()?.members.get(robot as usize).map(|s| *s as usize)
    }
}

impl Surroundings for Look<'_> {
    fn now(&self) -> Moment {
        self.now
    }

    fn me(&self) -> u32 {
        self.robot
    }

    fn robots(&self) -> u32 {
        self.state.robots.len() as u32
    }

    fn pose(&self, robot: u32) -> Option<Pose2> {
        let inner = self.state.robots.get(robot as usize)?;
        if inner.status == Status::Gone {
            return None;
        }
        Some(self.state.going[self.slot(robot)?].pose_at(self.now))
    }

    fn everybody(&self) -> Vec<Seen> {
        let Some(live) = &self.model.live else { return Vec::new() };
        let (courses, now) = (self.sky.courses(self.state), self.now);
        let mut gone = false;
        let seen = |(number, (inner, slot)): (usize, (&Inner, &u32))| {
            gone |= inner.status == Status::Gone;
            let slot = *slot as usize;
            let at = courses[slot].place_at(now, || self.state.going[slot].place_at(now));
            Seen { robot: Some(number as u32), at, light: inner.light }
        };
        // Nothing is left out on the way, so that the room for all of them is known: it is asked for all by many, often.
        let mut all: Vec<Seen> = self.state.robots.iter().zip(&live.members).enumerate().map(seen).collect();
        if gone {
            let is_there = |number: u32| self.state.robots[number as usize].status != Status::Gone;
            all.retain(|s| s.robot.is_some_and(is_there));
        }
        all
    }

    fn in_sight(&self, at: Vec2, range: f64) -> Vec<Seen> {
        let me = self.slot(self.robot);
        let mut seen: Vec<(f64, Option<u32>, Uid, Seen)> = Vec::new();
        for slot in self.sky.near(self.model.len(), at, range, self.now) {
            if Some(slot) == me || self.model.kinds[slot] != BodyKind::Robot {
                continue;
            }
            let robot = self.model.live.as_ref().and_then(|l| l.number(slot));
            let inner = robot.map(|n| &self.state.robots[n as usize]);
            if inner.is_some_and(|i| i.status == Status::Gone) {
                continue;
            }
            let place = self.state.going[slot].place_at(self.now);
            let distance = (place - at).norm();
            if distance <= range {
                let light = inner.map_or(0, |i| i.light);
                seen.push((distance, robot, self.model.uids[slot], Seen { robot, at: place, light }));
            }
        }
        seen.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        seen.into_iter().map(|s| s.3).collect()
    }

    fn light(&self, robot: u32) -> u8 {
        self.state.robots.get(robot as usize).map_or(0, |r| r.light)
    }

    fn near(&self, at: Vec2, range: f64) -> Vec<Found> {
        let me = self.slot(self.robot);
        let live = self.model.live.as_ref();
        let mut found = Vec::new();
        let reach = self.model.outlines.iter().fold(0.0, |most: f64, o| math::max(most, o.reach()));
        for slot in self.sky.near(self.model.len(), at, range + reach, self.now) {
            if Some(slot) == me {
                continue;
            }
            let number = live.and_then(|l| l.number(slot));
            if number.is_some_and(|n| self.state.robots[n as usize].status == Status::Gone) {
                continue;
            }
            let pose = self.state.going[slot].pose_at(self.now);
            let outline = self.model.outline(slot);
            if (pose.at - at).norm() - outline.reach() > range {
                continue;
            }
            let (point, distance) = outline.nearest(pose, at);
            if distance <= range {
                found.push((self.model.uids[slot], number, point, distance));
            }
        }
        let box_of = Vec2::new(range, range);
        let mut seen: BTreeSet<usize> = BTreeSet::new();
        self.model.fixed.for_each_in(at - box_of, at + box_of, |k, edge| {
            if !seen.insert(k) {
                return;
            }
            let e = edge.b - edge.a;
            let t = ((at - edge.a).dot(e) / e.norm2()).clamp(0.0, 1.0);
            let point = edge.a + e * t;
            let distance = (point - at).norm();
            if distance <= range {
                found.push((edge.owner, None, point, distance));
            }
        });
        nearest_of_each(found)
    }

    fn around(&self, range: f64) -> Vec<Found> {
        let Some((own, pose)) = self.slot(self.robot).zip(self.pose(self.robot)) else { return Vec::new() };
        let outline = self.model.outline(own);
        let reach = outline.reach();
        let mut found = Vec::new();
        if outline.is_disc() {
            found = self.near(pose.at, range + reach);
            found.iter_mut().for_each(|f| f.3 = math::max(f.3 - reach, 0.0));
            return found;
        }
        let mine = (&corners_at(outline, pose)[..], outline.round());
        let mut take = |uid: Uid, number: Option<u32>, other: (&[Vec2], f64)| {
            let (point, distance) = nearest_of(mine, other);
            if distance <= range {
                found.push((uid, number, point, distance));
            }
        };
        let most = self.model.outlines.iter().fold(0.0, |most: f64, o| math::max(most, o.reach()));
        for slot in self.sky.near(self.model.len(), pose.at, range + reach + most, self.now) {
            let number = self.model.live.as_ref().and_then(|l| l.number(slot));
            let gone = number.is_some_and(|n| self.state.robots[n as usize].status == Status::Gone);
            if slot != own && !gone {
                let other = self.model.outline(slot);
                let corners = corners_at(other, self.state.going[slot].pose_at(self.now));
                take(self.model.uids[slot], number, (&corners, other.round()));
            }
        }
        let box_of = Vec2::new(range + reach, range + reach);
        self.model.fixed.for_each_in(pose.at - box_of, pose.at + box_of, |_, edge| {
            take(edge.owner, None, (&[edge.a, edge.b], 0.0));
        });
        nearest_of_each(found)
    }

    fn radius(&self, robot: u32) -> f64 {
        self.slot(robot).map_or(0.0, |slot| self.model.outline(slot).reach())
    }

    fn chance(&self) -> Draw {
        let uid = self.slot(self.robot).map_or(Uid(0), |slot| self.model.uids[slot]);
        Draw::at(self.model.run.seed, uid, Purpose::Positioning, self.now.time, self.ordinal as u32)
    }
}
