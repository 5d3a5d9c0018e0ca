//! Push sensors: at intervals, as the paper has them, or at the very moment of a crossing.

use super::deed::Look;
use super::note::Note;
use super::play::Play;
use super::state::{LiveEvent, LiveKey, Status, Watching};
use std::sync::Arc;
use swarmyard_base::{Moment, Uid};
use swarmyard_motion::flights::{Meeting, crossing};
use swarmyard_part_api::{Answer, EventSensor, Every, Happening, Push, Seen, Watch, WatchFor};

/// How far ahead a motion that bends without end is looked at, s.
const MOST_S: f64 = 3600.0;

impl Play<'_> {
    /// Switches a push sensor on.
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
            if !(s > 0.0 && s.is_finite()) {
                return Err(format!("an interval is a positive time, not `{s}` s"));
            }
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
            let k = self.state.watches.len() - 1;
            for other in 0..self.model.len() {
                self.aim(k, other);
            }
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
            let seen = Seen { robot: with, at: meeting.point, light: 0 };
            let own =
                |w: &&Watching| w.robot == robot && w.what == WatchFor::Contact && w.every == Every::Exact;
            let watches: Vec<Watching> = self.state.watches.iter().filter(own).cloned().collect();
            for w in watches {
                self.fire(&w, Answer::Seen(vec![seen]));
            }
        }
    }

    /// A body has crossed the range of an exact watch.
    pub(super) fn crossed(&mut self, watch: u64, slot: u32, entering: bool) {
        let Some(k) = self.state.watches.iter().position(|w| {
            w.crossings.get(&slot).is_some_and(|c| w.watch == watch && *c == (self.now, entering))
        }) else {
            return;
        };
        self.state.watches[k].crossings.remove(&slot);
        self.aim(k, slot as usize);
        let w = self.state.watches[k].clone();
        if entering {
            let pose = self.state.going[slot as usize].pose_at(self.now);
            let robot = self.live.number(slot as usize);
            let light = robot.map_or(0, |r| self.state.robots[r as usize].light);
            self.fire(&w, Answer::Seen(vec![Seen { robot, at: pose.at, light }]));
        }
    }

    /// Works out when a body crosses the range of an exact watch next.
    fn aim(&mut self, k: usize, other: usize) {
        let w = &self.state.watches[k];
        let own = self.live.members[w.robot as usize] as usize;
        let slot = other as u32;
        let (watch, who) = (w.watch, self.uid(w.robot));
        if let Some((at, entering)) = self.state.watches[k].crossings.remove(&slot) {
            self.drop_crossing(who, watch, slot, at, entering);
        }
        let w = &self.state.watches[k];
        let gone = |s: usize| {
            self.live.number(s).is_some_and(|n| self.state.robots[n as usize].status == Status::Gone)
        };
        if other == own || gone(other) {
            return;
        }
        let life = self.model.type_at(own).life.as_ref();
        let Some(gap) = life.and_then(|l| l.equipment.sensors[w.sensor as usize].1.exact(&w.what)) else {
            return;
        };
        let range = gap + self.model.outline(own).reach() + self.model.outline(other).reach();
        let (a, b) = (self.state.going[own].path(), self.state.going[other].path());
        // When a motion ends there is a new path, and this is worked out again.
        let ends = [own, other].map(|s| self.state.going[s].journey().map_or(Moment::NEVER, |j| j.until));
        let bent = a.line().is_none() || b.line().is_none();
        let far = if bent { self.now.plus(MOST_S) } else { Moment::NEVER };
        let until = ends[0].min(ends[1]).min(far);
        let Some((at, entering)) = crossing(&a, &b, range, self.now, until) else { return };
        self.state.watches[k].crossings.insert(slot, (at, entering));
        let sequence = crossing_sequence(watch, slot);
        self.state.push(at, who, sequence, LiveEvent::Crossing { watch, slot, entering });
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
                for other in 0..self.model.len() {
                    self.aim(k, other);
                }
            } else {
                self.aim(k, slot);
            }
        }
    }
}

/// Crossings of one watch are told apart by whom they are about.
fn crossing_sequence(watch: u64, slot: u32) -> u64 {
    watch << 32 | u64::from(slot)
}
