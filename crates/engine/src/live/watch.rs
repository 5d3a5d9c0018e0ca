//! Push sensors: at intervals, as the paper has them, or at the very moment of a crossing.

use super::deed::{Look, corners_at, nearest_of};
use super::note::Note;
use super::play::Play;
use super::state::{LiveEvent, LiveKey, LiveState, Status, Watching};
use crate::model::Model;
use std::collections::BTreeMap;
use std::sync::Arc;
use swarmyard_base::{Moment, Pose2, Uid};
use swarmyard_motion::flights::{Flights, Meeting, Path, crossing};
use swarmyard_part_api::{Answer, EventSensor, Every, Happening, Outline, Push, Seen, Watch, WatchFor};

/// The least time between two looks of a push sensor, s. Looks that find nothing are not counted as events of a moment, so
/// time must go on between them.
const LEAST_INTERVAL_S: f64 = 1e-9;

/// How far ahead a motion that bends without end is looked at, s.
pub(super) const MOST_S: f64 = 3600.0;

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
        self.state.watches.push(Watching {
            watch: number,
            robot,
            node,
            sensor: sensor as u16,
            what: watch.what.clone(),
            every: watch.every,
            crossings: Default::default(),
        });
        self.note(robot, Note::Watched(Some(watch.clone())));
        if watch.every == Every::Exact && watch.what != WatchFor::Contact {
            self.aim_all(self.state.watches.len() - 1);
        }
        Ok(())
    }

    /// Switches it off.
    pub(super) fn unwatch(&mut self, robot: u32, watch: u64) {
        let found = self.state.watches.iter().position(|w| w.watch == watch && w.robot == robot);
        let Some(k) = found else { return };
        let w = self.state.watches.remove(k);
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
        let found = self.state.watches.iter().find(|w| w.watch == watch && self.uid(w.robot) == key.who);
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
            let own =
                |w: &&Watching| w.robot == robot && w.what == WatchFor::Contact && w.every == Every::Exact;
            let watches: Vec<Watching> = self.state.watches.iter().filter(own).cloned().collect();
            for w in watches {
                self.fire(&w, Answer::Seen(vec![seen]));
            }
        }
    }

    /// A body or something fixed has crossed the range of an exact watch, or it is time to aim anew.
    pub(super) fn crossed(&mut self, watch: u64, slot: u32, entering: bool) {
        let Some(k) = self.state.watches.iter().position(|w| {
            w.crossings.get(&slot).is_some_and(|c| w.watch == watch && *c == (self.now, entering))
        }) else {
            return;
        };
        self.state.watches[k].crossings.remove(&slot);
        if slot == ANEW {
            self.aim_all(k);
        } else if slot >= FIXED {
            self.aim_fixed(k, Some(slot));
        } else {
            self.aim(k, slot as usize);
        }
        if entering {
            let w = self.state.watches[k].clone();
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

    /// Works out for everything when it crosses the range of an exact watch next.
    fn aim_all(&mut self, k: usize) {
        for other in 0..self.model.len() {
            self.aim(k, other);
        }
        self.aim_fixed(k, None);
    }

    /// Works out when a body crosses the range of an exact watch next.
    fn aim(&mut self, k: usize, other: usize) {
        let slot = other as u32;
        self.forget_crossing(k, slot);
        let own = self.live.members[self.state.watches[k].robot as usize] as usize;
        let gone =
            self.live.number(other).is_some_and(|n| self.state.robots[n as usize].status == Status::Gone);
        let Some(gap) = self.exact_range(k).filter(|_| other != own && !gone) else { return };
        let (mine, theirs) = (self.model.outline(own), self.model.outline(other));
        let (a, b) = (self.state.going[own].path(), self.state.going[other].path());
        let round = mine.is_disc() && theirs.is_disc();
        let closed = round && a.line().is_some() && b.line().is_some();
        let until = self.known_until(&[own, other], closed);
        let next = if round {
            crossing(&a, &b, gap + mine.reach() + theirs.reach(), self.now, until)
        } else {
            let found = Flights::approach((&a, mine), &[(b, theirs.clone())], gap, self.now, until);
            found.map(|at| (at, true))
        };
        self.expect(k, slot, next, until);
    }

    /// Works out when the robot of an exact watch comes near to what is fixed: to all of it, or only to the thing whose
    /// first edge is said.
    fn aim_fixed(&mut self, k: usize, only: Option<u32>) {
        let edges = self.model.fixed.edges();
        if edges.is_empty() {
            return;
        }
        let own = self.live.members[self.state.watches[k].robot as usize] as usize;
        let Some(gap) = self.exact_range(k) else { return };
        let (path, outline) = (self.state.going[own].path(), self.model.outline(own));
        let until = self.known_until(&[own], outline.is_disc() && path.line().is_some());
        let mut things: BTreeMap<Uid, (u32, Vec<(Path, Outline)>)> = BTreeMap::new();
        let still = Path::rest(path.start(), Pose2::default());
        for (e, edge) in edges.iter().enumerate() {
            let first = things.entry(edge.owner).or_insert((FIXED | e as u32, Vec::new()));
            first.1.push((still, Outline::line(edge.a, edge.b)));
        }
        for (slot, lines) in things.into_values().filter(|t| only.is_none_or(|o| o == t.0)) {
            self.forget_crossing(k, slot);
            let found = Flights::approach((&path, outline), &lines, gap, self.now, until);
            self.expect(k, slot, found.map(|at| (at, true)), until);
        }
    }

    /// Within which distance something must come for an exact watch.
    fn exact_range(&self, k: usize) -> Option<f64> {
        let w = &self.state.watches[k];
        let own = self.live.members[w.robot as usize] as usize;
        let life = self.model.type_at(own).life.as_ref()?;
        life.equipment.sensors[w.sensor as usize].1.exact(&w.what)
    }

    /// Until when these bodies go as they go. When a motion ends there is a new path, and crossings are worked out again;
    /// what bends or has corners is not looked at for ever.
    fn known_until(&self, slots: &[usize], closed: bool) -> Moment {
        let end = |s: &usize| self.state.going[*s].journey().map_or(Moment::NEVER, |j| j.until);
        let until = slots.iter().map(end).fold(Moment::NEVER, Moment::min);
        if closed { until } else { until.min(self.now.plus(MOST_S)) }
    }

    /// Writes down when a range is crossed; or, if nothing was found as far as was looked, that it is looked at again then.
    fn expect(&mut self, k: usize, slot: u32, next: Option<(Moment, bool)>, until: Moment) {
        let again = until == self.now.plus(MOST_S);
        let Some((at, entering)) = next.or_else(|| again.then_some((until, false))) else { return };
        let w = &mut self.state.watches[k];
        w.crossings.insert(slot, (at, entering));
        let (watch, robot) = (w.watch, w.robot);
        let who = self.uid(robot);
        let sequence = crossing_sequence(watch, slot);
        self.state.push(at, who, sequence, LiveEvent::Crossing { watch, slot, entering });
    }

    fn forget_crossing(&mut self, k: usize, slot: u32) {
        let w = &mut self.state.watches[k];
        if let Some((at, entering)) = w.crossings.remove(&slot) {
            let (watch, robot) = (w.watch, w.robot);
            self.drop_crossing(self.uid(robot), watch, slot, at, entering);
        }
    }

    fn drop_crossing(&mut self, who: Uid, watch: u64, slot: u32, at: Moment, entering: bool) {
        let kind = LiveEvent::Crossing { watch, slot, entering }.kind();
        let sequence = crossing_sequence(watch, slot);
        self.state.queue.remove(&LiveKey { at, kind, who, sequence });
    }

    /// A body moves in another way: exact watches aim anew.
    pub(super) fn path_changed(&mut self, slot: usize) {
        for k in 0..self.state.watches.len() {
            let w = &self.state.watches[k];
            if w.every != Every::Exact || w.what == WatchFor::Contact {
                continue;
            }
            if self.live.members[w.robot as usize] as usize == slot {
                self.aim_all(k);
            } else {
                self.aim(k, slot);
            }
        }
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
        let exact = |w: &Watching| w.every == Every::Exact && w.what != WatchFor::Contact;
        for k in (0..self.watches.len()).filter(|k| exact(&self.watches[*k])).collect::<Vec<usize>>() {
            let w = &mut self.watches[k];
            w.crossings.insert(ANEW, (self.now, false));
            let (watch, who) = (w.watch, model.uids[live.members[w.robot as usize] as usize]);
            let event = LiveEvent::Crossing { watch, slot: ANEW, entering: false };
            self.push(self.now, who, crossing_sequence(watch, ANEW), event);
        }
    }
}

/// Set in the place of a slot for something fixed: the number of its first edge.
const FIXED: u32 = 1 << 31;

/// In the place of a slot: everything is to be worked out anew.
const ANEW: u32 = u32::MAX;

/// Crossings of one watch are told apart by whom they are about.
fn crossing_sequence(watch: u64, slot: u32) -> u64 {
    watch << 32 | u64::from(slot)
}
