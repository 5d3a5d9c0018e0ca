//! What becomes of bodies if nothing comes between.
//!
//! In: what each body was told to do. Out: its paths until that is done, and which contact is a body's next. Nothing
//! changes by asking, and no result of a run depends on it but by who asks.

use super::Status;
use super::play::Play;
use super::watch::MOST_S;
use crate::model::ContactRule;
use crate::resolve::overlap;
use std::collections::BTreeSet;
use swarmyard_base::{Moment, Pose2, Uid, Vec2, math};
use swarmyard_motion::flights::{Flights, Path};
use swarmyard_part_api::{Outline, Phase};

/// One path of a course, and until when it is followed.
struct Leg {
    path: Path,
    until: Moment,
    /// The phase it is of.
    phase: usize,
}

/// The paths of a body, one after the other.
struct Course {
    legs: Vec<Leg>,
    /// Whether the last of them is the rest after its motion.
    arrives: bool,
}

/// A contact that lies ahead: its place in the order of contacts, and what is touched; with its number, when that is a
/// robot that lives by events.
type Ahead = ((Moment, bool, u32), (String, Option<u32>));

impl Play<'_> {
    /// The next contact of a body if nobody is told anything new and nothing else comes between: when, with what, and its
    /// number when that is a robot that lives by events.
    ///
    /// Of a body that is on a motion it is looked for until that motion ends: what it does then is not known. A body
    /// that stands or glides may be touched as long as anybody moves. Pairs of which one turns, goes round a bend or has
    /// corners are followed for an hour at most.
    pub(super) fn collision_ahead(&self, slot: usize) -> Option<(Moment, String, Option<u32>)> {
        if self.model.run.contact == ContactRule::Ghost || self.is_gone(slot) {
            return None;
        }
        let mut own = self.course(slot, Moment::NEVER);
        if own.arrives {
            own.legs.pop();
        }
        let mut best: Option<Ahead> = None;
        self.edges_ahead(slot, &own, &mut best);
        self.bodies_ahead(slot, &own, &mut best);
        best.map(|((at, ..), (what, robot))| (at, what, robot))
    }

    /// The first contact of a body with any other, if it is the next of all. Who is far away comes later: one looks a second
    /// ahead, and farther as long as nothing is found.
    fn bodies_ahead(&self, slot: usize, own: &Course, best: &mut Option<Ahead>) {
        let most = self.model.outlines.iter().fold(0.0, |most: f64, o| math::max(most, o.reach()));
        let reach = self.model.outline(slot).reach() + most;
        let place = self.state.going[slot].place_at(self.now);
        let end = own.legs.last().map_or(Moment::NEVER, |l| l.until);
        let (mut done, mut span_s) = (BTreeSet::from([slot]), 1.0);
        loop {
            let by = self.now.plus(span_s);
            let radius = reach + 2.0 * self.state.fastest * span_s;
            for other in self.sky.near(self.model.len(), place, radius, self.now) {
                let heights = [slot, other].map(|s| self.model.heights_of(s));
                if done.insert(other) && !self.is_gone(other) && overlap(heights[0], heights[1]) {
                    self.meeting_ahead(slot, own, other, best);
                }
            }
            let limit = best.as_ref().map_or(end, |b| end.min(b.0.0));
            if by >= limit || done.len() >= self.model.len() || self.state.fastest == 0.0 {
                return;
            }
            span_s *= 4.0;
        }
    }

    /// The end of what a body is doing, and the events on the way, if nothing comes between: when, and what.
    pub(super) fn motion_ahead(&self, slot: usize) -> Vec<(Moment, String)> {
        let Some(journey) = self.state.going[slot].journey() else { return Vec::new() };
        let (phases, at) = (&journey.phases, journey.at as usize);
        let next = (at + 1..phases.len()).find(|k| !phases[*k].name.is_empty()).unwrap_or(phases.len());
        let name = phases[..=at].iter().rev().map(|p| p.name.as_str()).find(|name| !name.is_empty());
        let events = journey.events.iter().map(|(k, name)| (*k as usize, format!("pass {name}")));
        let finish = (next, format!("finish {}", name.unwrap_or("motion")));
        let legs = self.course(slot, Moment::NEVER).legs;
        // A phase begins when the last leg of the one before it ends.
        let begins = |k: usize| {
            let before = legs.iter().rposition(|l| l.phase + 1 == k)?;
            (before + 1 < legs.len()).then(|| legs[before].until)
        };
        let ahead = events.chain([finish]).filter(|(k, _)| *k > at);
        ahead.filter_map(|(k, what)| Some((begins(k)?, what))).collect()
    }

    pub(super) fn is_gone(&self, slot: usize) -> bool {
        self.live.number(slot).is_some_and(|n| self.state.robots[n as usize].status == Status::Gone)
    }

    /// What a body does until it is done, or until `by`.
    fn course(&self, slot: usize, by: Moment) -> Course {
        let going = &self.state.going[slot];
        let mut leg = Leg { path: going.path(), until: Moment::NEVER, phase: 0 };
        let mut course = Course { legs: Vec::new(), arrives: false };
        let Some(journey) = going.journey() else {
            course.legs.push(leg);
            return course;
        };
        let far = self.now.plus(MOST_S);
        let (mut until, mut zone, mut factor) = (journey.until, journey.zone, journey.factor);
        let mut k = journey.at as usize;
        loop {
            let border = zone.filter(|z| *z < until);
            let end = border.unwrap_or(until);
            let bent = leg.path.line().is_none();
            (leg.until, leg.phase) = (end, k);
            course.legs.push(leg);
            if end >= by || bent && end >= far {
                return course;
            }
            let path = &course.legs[course.legs.len() - 1].path;
            let (pose, left_s);
            if border.is_some() {
                let at = path.pose_at(end);
                pose = Pose2 { heading: math::wrap_angle(at.heading), ..at };
                left_s = until.since(end) * factor;
            } else {
                pose = journey.phases[k].end;
                k += 1;
                let Some(next) = journey.phases.get(k) else {
                    course.legs.push(Leg { path: Path::rest(end, pose), until: Moment::NEVER, phase: k });
                    course.arrives = true;
                    return course;
                };
                left_s = next.duration_s;
            }
            let stage = self.stage(end, pose, &journey.phases[k], left_s);
            if stage.swallowed {
                return course;
            }
            (until, zone, factor) = (stage.until, stage.zone, stage.factor);
            leg = Leg { path: path_of(end, pose, &stage.phase), until, phase: k };
        }
    }

    /// The first contact of a body with another, if it is the next of all.
    fn meeting_ahead(&self, slot: usize, own: &Course, other: usize, best: &mut Option<Ahead>) {
        let limit = own.legs.last().map_or(Moment::NEVER, |l| l.until);
        let theirs = self.course(other, limit);
        let (mine, their) = (self.model.outline(slot), self.model.outline(other));
        let [rank, lower] = [other, slot].map(|s| self.live.ranks[s]);
        let (mut i, mut j) = (0, 0);
        while let (Some(a), Some(b)) = (own.legs.get(i), theirs.legs.get(j)) {
            let from = self.now.max(a.path.start()).max(b.path.start());
            let until = self.bound(best, &[(a, mine), (b, their)]);
            let (a, b) = ((&a.path, mine), (&b.path, their));
            let (a, b) = if lower < rank { (a, b) } else { (b, a) };
            if let Some(at) = Flights::first_meeting(a, b, from, until) {
                let touched = || (self.name_of(self.model.uids[other]), self.live.number(other));
                take(best, (at, false, rank), touched);
                return;
            }
            let (a, b) = (own.legs[i].until, theirs.legs[j].until);
            if until < a.min(b) || until == Moment::NEVER {
                return;
            }
            (i, j) = (i + usize::from(a <= b), j + usize::from(b <= a));
        }
    }

    /// The first contact of a body with something fixed, if it is the next of all.
    fn edges_ahead(&self, slot: usize, own: &Course, best: &mut Option<Ahead>) {
        let (outline, heights) = (self.model.outline(slot), self.model.heights_of(slot));
        for leg in &own.legs {
            let from = self.now.max(leg.path.start());
            let until = self.bound(best, &[(leg, outline)]);
            if from > until {
                return;
            }
            let mut look = |k: usize| {
                let edge = &self.model.fixed.edges()[k];
                if !overlap(heights, edge.heights) {
                    return;
                }
                let until = self.bound(best, &[(leg, outline)]);
                let met =
                    Flights::first_meeting_with_edge((&leg.path, outline), (edge.a, edge.b), from, until);
                if let Some(at) = met {
                    take(best, (at, true, k as u32), || (self.name_of(edge.owner), None));
                }
            };
            // Where it can get to.
            let way = leg.path.top_speed() * until.since(from) + outline.reach() * (1.0 + 1e-9) + 1e-6;
            if until == Moment::NEVER || !way.is_finite() {
                (0..self.model.fixed.edges().len()).for_each(look);
            } else {
                let (at, grown) = (leg.path.position_at(from), Vec2::new(way, way));
                self.model.fixed.for_each_in(at - grown, at + grown, |k, _| look(k));
            }
        }
    }

    /// Until when a leg is followed, or two of them: while both last, not after the best so far, and not for ever where
    /// there is no closed form.
    fn bound(&self, best: &Option<Ahead>, legs: &[(&Leg, &Outline)]) -> Moment {
        let until = best.as_ref().map_or(Moment::NEVER, |b| b.0.0);
        let until = legs.iter().fold(until, |until, (leg, _)| until.min(leg.until));
        let is_plain = |(leg, outline): &(&Leg, &Outline)| outline.is_disc() && leg.path.line().is_some();
        if legs.iter().all(is_plain) { until } else { until.min(self.now.plus(MOST_S)) }
    }

    fn name_of(&self, uid: Uid) -> String {
        self.model.path_of(uid).unwrap_or("something").to_owned()
    }
}

/// The path of a phase.
fn path_of(from: Moment, pose: Pose2, phase: &Phase) -> Path {
    if phase.twist.is_rest() { Path::rest(from, pose) } else { Path::along(from, &phase.segment(pose)) }
}

/// Takes a contact if it is the first of all so far.
fn take(best: &mut Option<Ahead>, place: (Moment, bool, u32), what: impl FnOnce() -> (String, Option<u32>)) {
    if best.as_ref().is_none_or(|b| place < b.0) {
        *best = Some((place, what()));
    }
}
