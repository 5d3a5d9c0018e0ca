//! Push sensors: at intervals, as the paper has them, or at the very moment of a crossing.
//!
//! An exact watch is aimed at what can come within its range soon, or leave it: until when that is all there is, stands
//! with it, and then it is aimed anew. How soon that is follows from how fast bodies are and how far it reaches, so an
//! event concerns those near it only. What is within the range is remembered: what comes is told once, also when somebody
//! stops or turns at the very range.

use super::deed::{Look, corners_at, nearest_of};
use super::play::Play;
use super::state::{LiveEvent, LiveKey, LiveState, Status, Watching};
use crate::model::Model;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use swarmyard_base::{Moment, Pose2, Uid, Vec2, math};
use swarmyard_motion::flights::{CLEAR_M, Flights, Meeting, Path, TOUCHING_M, crossing};
use swarmyard_part_api::{Answer, EventSensor, Every, Happening, Note, Outline, Push, Seen, Watch, WatchFor};

/// The least time between two looks of a push sensor, s. Looks that find nothing are not counted as events of a moment, so
/// time must go on between them.
const LEAST_INTERVAL_S: f64 = 1e-9;

/// How far ahead a motion is looked at, s: at most, and at least.
pub(super) const MOST_S: f64 = 3600.0;
const LEAST_S: f64 = 1e-3;

/// When a path changes, who is nearer to the range than this is at it, m: it comes if it does not go away, and a change of
/// path there is no second coming.
const AT_RANGE_M: f64 = 1e-9;

/// A watch: its robot, and its number.
type Key = (u32, u64);

/// Why a watch is aimed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Aim {
    /// It is new, or the world is: what is within the range has not come.
    First,
    /// Somebody moves in another way.
    Changed,
    /// What was known has come true, or does not reach any farther.
    Again,
}

impl Play<'_> {
    /// Switches a push sensor on. How often it looks must be [`too_often`]'s no.
    pub(super) fn watch(&mut self, robot: u32, node: u16, watch: &Watch, number: u64) -> Result<(), String> {
        let slot = self.live.members[robot as usize] as usize;
        let life = self.model.type_at(slot).life.as_ref();
        let sensors = life.map_or(&[][..], |life| &life.equipment.sensors[..]);
        let look = Look::new(self, robot, number);
        let can = |(name, sensor): &(String, Arc<dyn EventSensor>)| {
            let named = !matches!(&watch.what, WatchFor::Own { sensor, .. } if sensor != name);
            named
                && match watch.every {
                    Every::Exact => sensor.exact(&watch.what).is_some(),
                    Every::Interval(_) => sensor.push(&watch.what, &look).is_some(),
                }
        };
        let Some(sensor) = sensors.iter().position(can) else {
            return Err(match watch.every {
                Every::Exact => "no sensor of this robot can look out for that exactly".to_owned(),
                Every::Interval(_) => "no sensor of this robot looks out for that".to_owned(),
            });
        };
        if let Every::Interval(s) = watch.every {
            self.state.push(self.now.plus(s), self.uid(robot), number, LiveEvent::Look(number));
        }
        let (crossings, within) = Default::default();
        let (sensor, what, every) = (sensor as u16, watch.what.clone(), watch.every);
        let watching = Watching { watch: number, robot, node, sensor, what, every, crossings, within };
        let aims = watching.aims();
        self.state.watches.insert((robot, number), watching);
        self.note(robot, Note::Watched(Some(watch.clone())));
        if aims {
            self.aim_all((robot, number), Aim::First);
        }
        Ok(())
    }

    /// Switches it off.
    pub(super) fn unwatch(&mut self, robot: u32, watch: u64) {
        let Some(w) = self.state.watches.remove(&(robot, watch)) else { return };
        let who = self.uid(robot);
        for (slot, (at, entering)) in w.crossings {
            self.drop_crossing(who, watch, slot, at, entering);
        }
        let own = |event: &LiveEvent| *event == LiveEvent::Look(watch);
        let looks: Vec<LiveKey> = self
            .state
            .queue
            .unsorted()
            .filter(|(key, event)| key.who == who && own(event))
            .map(|(key, _)| *key)
            .collect();
        for key in looks {
            self.state.queue.remove(&key);
        }
    }

    /// A push sensor looks, and will look again.
    pub(super) fn look(&mut self, key: LiveKey, watch: u64) {
        let found = self.number_of(key.who).and_then(|robot| self.state.watches.get(&(robot, watch)));
        let Some(w) = found.cloned() else { return };
        if let Every::Interval(s) = w.every {
            self.state.push(self.now.plus(s), key.who, watch, LiveEvent::Look(watch));
        }
        if self.state.robots[w.robot as usize].status != Status::Well {
            return;
        }
        let slot = self.live.members[w.robot as usize] as usize;
        let Some(life) = &self.model.type_at(slot).life else { return };
        let sensor = &life.equipment.sensors[w.sensor as usize].1;
        if let Some(Some(answer)) = sensor.push(&w.what, &Look::new(self, w.robot, watch)) {
            self.fire(&w, answer);
        }
    }

    fn fire(&mut self, w: &Watching, answer: Answer) {
        if self.notes {
            let found = match &answer {
                Answer::Point(at) => vec![*at],
                Answer::Seen(seen) => seen.iter().map(|s| s.at).collect(),
                Answer::Numbers(_) => Vec::new(),
            };
            let text = format!("{:?} | {answer:?}", w.what);
            self.note(w.robot, Note::Pushed { text, what: w.what.clone(), found });
        }
        let push = Push { watch: w.watch, answer };
        self.then.push_back((w.robot, Happening::Pushed { node: w.node, push }));
    }

    /// Contact sensors of those that touched fire.
    pub(super) fn push_contacts(&mut self, meeting: &Meeting, slots: [Option<usize>; 2]) {
        if self.state.watches.is_empty() {
            return;
        }
        for (k, slot) in slots.into_iter().enumerate() {
            let Some(robot) = slot.and_then(|s| self.live.number(s)) else { continue };
            let with = slots[1 - k].and_then(|s| self.live.number(s));
            let light = with.map_or(0, |r| self.state.robots[r as usize].light);
            let seen = Seen { robot: with, at: meeting.point, light };
            let feels = |w: &&Watching| w.what == WatchFor::Contact && w.every == Every::Exact;
            let watches: Vec<Watching> = self.watches_of(robot).filter(feels).cloned().collect();
            for w in watches {
                self.fire(&w, Answer::Seen(vec![seen]));
            }
        }
    }

    /// A body or something fixed has crossed the range of an exact watch, or it is time to aim anew.
    pub(super) fn crossed(&mut self, key: LiveKey, watch: u64, slot: u32, entering: bool) {
        let Some(key) = self.number_of(key.who).map(|robot| (robot, watch)) else { return };
        let Some(w) = self.state.watches.get_mut(&key) else { return };
        if w.crossings.get(&slot) != Some(&(self.now, entering)) {
            return;
        }
        w.crossings.remove(&slot);
        match slot {
            ANEW => return self.aim_all(key, Aim::First),
            AGAIN => return self.aim_all(key, Aim::Again),
            _ => {}
        }
        if entering {
            w.within.insert(slot);
        } else {
            w.within.remove(&slot);
        }
        if slot >= FIXED {
            self.aim_fixed(key, Some(slot), Aim::Again);
        } else {
            self.aim(key, slot as usize, Aim::Again);
        }
        if entering && let Some(w) = self.state.watches.get(&key).cloned() {
            self.fire(&w, Answer::Seen(vec![self.came_near(w.robot, slot)]));
        }
    }

    /// What has come near a robot: a body, or something fixed; and its nearest point.
    fn came_near(&self, robot: u32, slot: u32) -> Seen {
        let own = self.live.members[robot as usize] as usize;
        let place = |s: usize| {
            let outline = self.model.outline(s);
            (corners_at(outline, self.state.going[s].pose_at(self.now)), outline.round())
        };
        let (mine, round) = place(own);
        if slot < FIXED {
            let (theirs, grown) = place(slot as usize);
            let (at, _) = nearest_of((&mine, round), (&theirs, grown));
            let robot = self.live.number(slot as usize);
            let light = robot.map_or(0, |r| self.state.robots[r as usize].light);
            return Seen { robot, at, light };
        }
        let edges = self.model.fixed.edges();
        let owner = edges[(slot & !FIXED) as usize].owner;
        let points = edges.iter().filter(|e| e.owner == owner);
        let points = points.map(|e| nearest_of((&mine, round), (&[e.a, e.b], 0.0)));
        let (at, _) = points.min_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
        Seen { robot: None, at, light: 0 }
    }

    /// Works out for everything that can cross the range of an exact watch soon when it does.
    fn aim_all(&mut self, key: Key, why: Aim) {
        let Some(gap) = self.exact_range(key) else { return };
        let own = self.live.members[key.0 as usize] as usize;
        self.state.widest = math::max(self.state.widest, self.reach_of(own, gap));
        for slot in self.state.watches[&key].crossings.keys().copied().collect::<Vec<u32>>() {
            self.forget_crossing(key, slot);
        }
        let until = self.now.plus(self.horizon_s(self.reach_of(own, gap)));
        self.expect(key, AGAIN, (until, false));
        let going = &self.state.going[own];
        let way = (going.speed() + self.state.fastest) * until.since(self.now);
        let near = self.near(going.place_at(self.now), self.reach_of(own, gap) + way);
        // Who was within the range and is not near is not any more.
        let is_near = |slot: &u32| *slot >= FIXED || near.binary_search(&(*slot as usize)).is_ok();
        if let Some(w) = self.state.watches.get_mut(&key) {
            w.within.retain(is_near);
        }
        for other in near {
            self.aim(key, other, why);
        }
        self.aim_fixed(key, None, why);
    }

    /// How long it takes, at least, until somebody from far away is within reach, s. The farther ahead one looks, the more
    /// there is to look at; the less far, the more often. No result depends on it but by what is aimed at when.
    fn horizon_s(&self, reach: f64) -> f64 {
        (0.5 * reach / self.state.fastest).clamp(LEAST_S, MOST_S)
    }

    /// Bodies whose centres are so near a point, and perhaps some that are not, by slot.
    fn near(&self, at: Vec2, radius: f64) -> Vec<usize> {
        self.sky.near(self.model.len(), at, radius, self.now)
    }

    /// From which distance of centres on another body can be within a range of one.
    fn reach_of(&self, own: usize, gap: f64) -> f64 {
        let most = self.model.outlines.iter().fold(0.0, |most: f64, o| math::max(most, o.reach()));
        gap + self.model.outline(own).reach() + most
    }

    /// Works out when a body crosses the range of an exact watch next, if it can before the watch is aimed again.
    fn aim(&mut self, key: Key, other: usize, why: Aim) {
        let slot = other as u32;
        self.forget_crossing(key, slot);
        let own = self.live.members[key.0 as usize] as usize;
        let gone =
            self.live.number(other).is_some_and(|n| self.state.robots[n as usize].status == Status::Gone);
        let gap = self.exact_range(key).filter(|_| other != own && !gone);
        let (mine, theirs) = (self.model.outline(own), self.model.outline(other));
        let (a, b) = (self.state.going[own].path(), self.state.going[other].path());
        let (r, v) = (
            a.position_at(self.now) - b.position_at(self.now),
            a.velocity_at(self.now) - b.velocity_at(self.now),
        );
        let until = self.sure_until(key);
        let reaches = mine.reach() + theirs.reach();
        let way = (a.top_speed() + b.top_speed()) * until.since(self.now);
        let soon = |gap: &f64| r.norm() <= (*gap + reaches + way) * (1.0 + 1e-9) + 1e-6;
        let Some(gap) = gap.filter(soon) else {
            self.remember(key, slot, false);
            return;
        };
        let until = until.min(self.known_until(&[own, other]));
        if mine.is_disc() && theirs.is_disc() {
            let range = gap + reaches;
            let is = |_was: bool| {
                let apart = r.norm() - range;
                apart <= -AT_RANGE_M || apart <= AT_RANGE_M && r.dot(v) <= 0.0
            };
            if let Some(within) = self.settle(key, slot, why, is) {
                let next = self.next_of((own, other), gap, within, until);
                self.expect_some(key, slot, next, !within);
            }
        } else {
            self.aim_outlines(key, slot, why, (&a, mine), &[(b, theirs.clone())], (gap, until));
        }
    }

    /// When a body that is within a range of another, or is not, leaves it or comes within it.
    fn next_of(&self, (own, other): (usize, usize), gap: f64, within: bool, until: Moment) -> Option<Moment> {
        let (mine, theirs) = (self.model.outline(own), self.model.outline(other));
        let (a, b) = (self.state.going[own].path(), self.state.going[other].path());
        if mine.is_disc() && theirs.is_disc() {
            let range = gap + mine.reach() + theirs.reach();
            return next_crossing((&a, &b), range, !within, self.now, until);
        }
        next_of_outlines((&a, mine), &[(b, theirs.clone())], within, (gap, self.now, until))
    }

    /// The same for outlines with corners, or for what is fixed.
    fn aim_outlines(
        &mut self,
        key: Key,
        slot: u32,
        why: Aim,
        me: (&Path, &Outline),
        things: &[(Path, Outline)],
        (gap, until): (f64, Moment),
    ) {
        let now = self.now;
        let is = |was: bool| {
            // What has been within the range leaves it a little farther away.
            let least = if was { 0.999 * CLEAR_M } else { TOUCHING_M };
            Flights::gap_to(me, things, gap, now) <= least
        };
        if let Some(within) = self.settle(key, slot, why, is) {
            let next = next_of_outlines(me, things, within, (gap, now, until));
            self.expect_some(key, slot, next, !within);
        }
    }

    /// Whether something is within the range; `None` when it has just come, which happens at once then. `is` tells it by
    /// where things are, knowing what it was.
    fn settle(&mut self, key: Key, slot: u32, why: Aim, is: impl Fn(bool) -> bool) -> Option<bool> {
        let was = self.state.watches.get(&key)?.within.contains(&slot);
        let within = match why {
            Aim::First => is(false),
            Aim::Changed => is(was),
            Aim::Again => was,
        };
        if why == Aim::Changed && within && !was {
            self.expect(key, slot, (self.now, true));
            return None;
        }
        self.remember(key, slot, within);
        Some(within)
    }

    fn remember(&mut self, key: Key, slot: u32, within: bool) {
        let Some(w) = self.state.watches.get_mut(&key) else { return };
        if within {
            w.within.insert(slot);
        } else {
            w.within.remove(&slot);
        }
    }

    /// Works out when the robot of an exact watch comes near to what is fixed, or leaves it: all of it that it can get to,
    /// or only the thing whose first edge is said.
    fn aim_fixed(&mut self, key: Key, only: Option<u32>, why: Aim) {
        let edges = self.model.fixed.edges();
        let Some(gap) = self.exact_range(key).filter(|_| !edges.is_empty()) else { return };
        let own = self.live.members[key.0 as usize] as usize;
        let (path, outline) = (self.state.going[own].path(), self.model.outline(own));
        let sure = self.sure_until(key);
        let way = gap + outline.reach() + path.top_speed() * sure.since(self.now);
        let at = path.position_at(self.now);
        let grown = Vec2::new(way, way) * (1.0 + 1e-9) + Vec2::new(1e-6, 1e-6);
        let mut there: BTreeSet<usize> = BTreeSet::new();
        self.model.fixed.for_each_in(at - grown, at + grown, |k, _| {
            there.insert(k);
        });
        let things = self.fixed_things(&path, there);
        if let Some(w) = self.state.watches.get_mut(&key).filter(|_| only.is_none()) {
            w.within.retain(|slot| *slot < FIXED || things.contains_key(slot));
        }
        let until = sure.min(self.known_until(&[own]));
        for (slot, lines) in things.into_iter().filter(|t| only.is_none_or(|o| o == t.0)) {
            self.forget_crossing(key, slot);
            self.aim_outlines(key, slot, why, (&path, outline), &lines, (gap, until));
        }
    }

    /// Fixed things with some of their edges, for a body on a path; by what stands in the place of a slot.
    fn fixed_things(
        &self,
        path: &Path,
        edges: impl IntoIterator<Item = usize>,
    ) -> BTreeMap<u32, Vec<(Path, Outline)>> {
        let still = Path::rest(path.start(), Pose2::default());
        let mut things: BTreeMap<u32, Vec<(Path, Outline)>> = BTreeMap::new();
        for e in edges {
            let edge = &self.model.fixed.edges()[e];
            let lines = things.entry(FIXED | self.live.first_edges[e]).or_default();
            lines.push((still, Outline::line(edge.a, edge.b)));
        }
        things
    }

    /// Within which distance something must come for an exact watch.
    fn exact_range(&self, key: Key) -> Option<f64> {
        let w = self.state.watches.get(&key)?;
        let own = self.live.members[w.robot as usize] as usize;
        let life = self.model.type_at(own).life.as_ref()?;
        life.equipment.sensors[w.sensor as usize].1.exact(&w.what)
    }

    /// Until when an exact watch is aimed at all that can cross its range.
    fn sure_until(&self, key: Key) -> Moment {
        let again = self.state.watches.get(&key).and_then(|w| w.crossings.get(&AGAIN));
        again.map_or(self.now, |again| again.0)
    }

    /// Until when these bodies go as they go. When a motion ends there is a new path, and crossings are worked out again.
    fn known_until(&self, slots: &[usize]) -> Moment {
        let end = |s: &usize| self.state.going[*s].journey().map_or(Moment::NEVER, |j| j.until);
        slots.iter().map(end).fold(Moment::NEVER, Moment::min)
    }

    fn expect_some(&mut self, key: Key, slot: u32, at: Option<Moment>, entering: bool) {
        if let Some(at) = at {
            self.expect(key, slot, (at, entering));
        }
    }

    /// Writes down when a range is crossed, or when to look again.
    fn expect(&mut self, key: Key, slot: u32, (at, entering): (Moment, bool)) {
        let Some(w) = self.state.watches.get_mut(&key) else { return };
        w.crossings.insert(slot, (at, entering));
        let (who, watch) = (self.uid(key.0), key.1);
        let sequence = crossing_sequence(watch, slot);
        self.state.push(at, who, sequence, LiveEvent::Crossing { watch, slot, entering });
    }

    fn forget_crossing(&mut self, key: Key, slot: u32) {
        let Some(w) = self.state.watches.get_mut(&key) else { return };
        if let Some((at, entering)) = w.crossings.remove(&slot) {
            self.drop_crossing(self.uid(key.0), key.1, slot, at, entering);
        }
    }

    fn drop_crossing(&mut self, who: Uid, watch: u64, slot: u32, at: Moment, entering: bool) {
        let kind = LiveEvent::Crossing { watch, slot, entering }.kind();
        let sequence = crossing_sequence(watch, slot);
        self.state.queue.remove(&LiveKey { at, kind, who, sequence });
    }

    /// A body moves in another way: exact watches aim anew, its own, and at it those that are near.
    pub(super) fn path_changed(&mut self, slot: usize) {
        if self.state.widest == 0.0 {
            return;
        }
        for key in self.exact_of(slot) {
            self.aim_all(key, Aim::Changed);
        }
        // Whoever is aimed at it was within reach of both ways when that was worked out, and has gone its way since.
        let widest = self.state.widest;
        let radius = widest + 4.0 * self.state.fastest * self.horizon_s(widest);
        for other in self.near(self.state.going[slot].place_at(self.now), radius) {
            if other != slot {
                for key in self.exact_of(other) {
                    self.aim(key, slot, Aim::Changed);
                }
            }
        }
    }

    /// Everybody may be faster than before: all exact watches look again.
    pub(super) fn aim_everything(&mut self) {
        let exact = |(key, w): (&Key, &Watching)| w.aims().then_some(*key);
        for key in self.state.watches.iter().filter_map(exact).collect::<Vec<Key>>() {
            self.aim_all(key, Aim::Changed);
        }
    }

    /// When the ranges of a robot's exact watches are crossed next, by everything there is, if nobody moves in another way;
    /// of what bends or has corners for an hour at most.
    pub(super) fn crossings_ahead(&self, robot: u32) -> Vec<Moment> {
        let own = self.live.members[robot as usize] as usize;
        let far = self.now.plus(MOST_S);
        let mut all = Vec::new();
        for w in self.watches_of(robot).filter(|w| w.aims()) {
            let Some(gap) = self.exact_range((robot, w.watch)) else { continue };
            let mut next = |slot: u32, find: &dyn Fn(bool) -> Option<Moment>| {
                let known = w.crossings.get(&slot).map(|c| c.0);
                all.extend(known.or_else(|| find(w.within.contains(&slot))));
            };
            for other in (0..self.model.len()).filter(|o| *o != own && !self.is_gone(*o)) {
                let until = far.min(self.known_until(&[own, other]));
                next(other as u32, &|within| self.next_of((own, other), gap, within, until));
            }
            let until = far.min(self.known_until(&[own]));
            let me = (&self.state.going[own].path(), self.model.outline(own));
            for (slot, lines) in self.fixed_things(me.0, 0..self.model.fixed.edges().len()) {
                next(slot, &|within| next_of_outlines(me, &lines, within, (gap, self.now, until)));
            }
        }
        all
    }

    /// The exact watches of the robot in a slot.
    fn exact_of(&self, slot: usize) -> Vec<Key> {
        let Some(robot) = self.live.number(slot) else { return Vec::new() };
        self.watches_of(robot).filter(|w| w.aims()).map(|w| (robot, w.watch)).collect()
    }

    fn watches_of(&self, robot: u32) -> impl Iterator<Item = &Watching> {
        self.state.watches.range((robot, 0)..=(robot, u64::MAX)).map(|(_, w)| w)
    }

    /// The number of the robot with a uid.
    fn number_of(&self, uid: Uid) -> Option<u32> {
        self.live.number(self.model.slot_of(uid)?)
    }
}

/// The next moment after `after` at which the distance of two centres comes within a range, or leaves it.
fn next_crossing(
    (a, b): (&Path, &Path),
    range: f64,
    entering: bool,
    mut after: Moment,
    until: Moment,
) -> Option<Moment> {
    loop {
        let (at, enters) = crossing(a, b, range, after, until)?;
        if enters == entering {
            return Some(at);
        }
        after = at;
    }
}

/// When a body whose outline is within a range of some things, or is not, leaves it or comes within it.
fn next_of_outlines(
    me: (&Path, &Outline),
    things: &[(Path, Outline)],
    within: bool,
    (gap, now, until): (f64, Moment, Moment),
) -> Option<Moment> {
    if within {
        Flights::departure(me, things, gap, now, until)
    } else {
        Flights::approach(me, things, gap, now, until)
    }
}

impl Watching {
    /// Whether it is aimed: contacts are told by themselves.
    fn aims(&self) -> bool {
        self.every == Every::Exact && self.what != WatchFor::Contact
    }
}

/// Why a push sensor cannot look as often as that.
pub(super) fn too_often(every: Every) -> Option<String> {
    match every {
        Every::Interval(s) if s >= LEAST_INTERVAL_S && s.is_finite() => None,
        Every::Interval(s) => Some(format!("an interval is a nanosecond at least, not `{s}` s")),
        Every::Exact => None,
    }
}

impl LiveState {
    /// Lets all exact watches be aimed anew now, because the world is another one.
    pub(super) fn aim_anew(&mut self, model: &Model) {
        let Some(live) = &model.live else { return };
        let exact = |(key, w): (&Key, &Watching)| w.aims().then_some(*key);
        for key in self.watches.iter().filter_map(exact).collect::<Vec<Key>>() {
            let Some(w) = self.watches.get_mut(&key) else { continue };
            w.crossings.insert(ANEW, (self.now, false));
            let (watch, who) = (key.1, model.uids[live.members[key.0 as usize] as usize]);
            let event = LiveEvent::Crossing { watch, slot: ANEW, entering: false };
            self.push(self.now, who, crossing_sequence(watch, ANEW), event);
        }
    }
}

/// Set in the place of a slot for something fixed: the number of its first edge.
const FIXED: u32 = 1 << 31;

/// In the place of a slot: everything is to be worked out anew, in another world.
const ANEW: u32 = u32::MAX;

/// In the place of a slot: everything is to be worked out again.
const AGAIN: u32 = u32::MAX - 1;

/// Crossings of one watch are told apart by whom they are about.
fn crossing_sequence(watch: u64, slot: u32) -> u64 {
    watch << 32 | u64::from(slot)
}
