//! Frames in the air, and robots that wait for their turn.
//!
//! A frame is remembered until nothing that is still in the air can have met it. For each receiver it is judged when
//! its last bit has come there: any other frame that was there at the same time, strong enough to disturb, destroys
//! it (unless captured), and so does a frame of the receiver's own. The strength of a disturbing frame is taken from
//! where its sender was when it began to where the receiver was when the judged frame began.
//!
//! Two frames that share at most a nanosecond do not meet: a slot may begin where another one ends.

use super::propagation::{MOST_SIGMAS, from_db, nakagami, to_db};
use super::shadowing::Shadowing;
use super::{Access, Radio};
use crate::net::draws;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};
use std::sync::OnceLock;
use swarmyard_base::{Moment, Vec2, math};
use swarmyard_part_api::{Air, Loss, Message, Network, from_bytes, to_bytes};

/// What may be shared without being a meeting, s.
pub(super) const TOUCH_S: f64 = 1.0e-9;

/// Kinds of wakes: the upper bits of a token. The rest is the number of a robot or of a frame.
const TRY: u64 = 1 << 62;
const END: u64 = 2 << 62;
const ARRIVE: u64 = 3 << 62;
const NUMBER: u64 = (1 << 62) - 1;

pub(super) struct Running {
    pub(super) model: Radio,
    pub(super) state: State,
    /// Made at the first look: a function of the run's chance alone.
    shadowing: OnceLock<Shadowing>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) stations: Vec<Station>,
    /// Frames by number.
    pub(super) frames: BTreeMap<u64, Frame>,
    next: u64,
    /// Corners of a box around every place that was ever looked at: bounds how long a frame travels.
    seen: Option<(Vec2, Vec2)>,
}

/// One robot's transmitter.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Station {
    /// What is to be sent; the first is being tried when it is not idle.
    pub(super) queue: VecDeque<(Message, Vec<u32>)>,
    pub(super) work: Work,
    /// How often the first one found the air in use, or was not acknowledged.
    pub(super) refused: u32,
    /// Of `dcf`: since when slots are counted, and how many are left.
    pub(super) counting: Option<(Moment, u32)>,
    /// Of `dcf`: whether the first one is in the air and kept until it is acknowledged.
    pub(super) awaiting: bool,
    /// Of `dcf`: why it will not be.
    pub(super) failure: Option<Loss>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Work {
    #[default]
    Idle,
    Waiting,
    Sending,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Frame {
    pub(super) message: Message,
    pub(super) place: Vec2,
    pub(super) start: Moment,
    end: Moment,
    /// When the air is free again: later than its end while an acknowledgement is expected.
    pub(super) free: Moment,
    /// How often it was sent before.
    attempt: u32,
    acknowledged: bool,
    /// Receivers whose last bit is still to come, the nearest last.
    hearers: Vec<Hearer>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Hearer {
    robot: u32,
    place: Vec2,
    delay_s: f64,
    margin_db: f64,
}

impl Running {
    pub(super) fn new(model: Radio, robots: u32) -> Running {
        let stations = vec![Station::default(); robots as usize];
        let state = State { stations, ..State::default() };
        Running { model, state, shadowing: OnceLock::new() }
    }

    /// What a pair of robots has left of a signal above what it needs, without fading, dB.
    fn steady_margin_db(&self, (a, at_a): (u32, Vec2), (b, at_b): (u32, Vec2), air: &dyn Air) -> f64 {
        let model = &self.model;
        let mut margin = model.budget_db - model.path.loss_db((at_b - at_a).norm());
        if model.wall_db > 0.0 || model.solid_db_per_m > 0.0 {
            let (edges, inside) = air.obstructed(at_a, at_b);
            margin -= f64::from(edges) * model.wall_db + inside * model.solid_db_per_m;
        }
        if model.shadowing_db > 0.0 {
            margin += model.shadowing_db * self.shadowing((a, at_a), (b, at_b), air);
        }
        margin
    }

    /// Shadowing of a link in standard deviations.
    fn shadowing(&self, (a, at_a): (u32, Vec2), (b, at_b): (u32, Vec2), air: &dyn Air) -> f64 {
        let length_m = self.model.shadowing_correlation_m;
        if length_m > 0.0 {
            // No robot has this number, so no pair has this chance.
            let field = || Shadowing::new(air.pair_chance(u32::MAX, u32::MAX), length_m);
            return self.shadowing.get_or_init(field).between(at_a, at_b);
        }
        air.pair_chance(a.min(b), a.max(b)).normal(0)
    }

    /// The same for one frame, with fading.
    pub(super) fn margin_db(&self, frame: &Frame, from: Vec2, to: (u32, Vec2), air: &dyn Air) -> f64 {
        let steady = self.steady_margin_db((frame.message.from, from), to, air);
        let shape = self.model.fading((to.1 - from).norm());
        if shape > 0.0 {
            // As many attempts as the sheet allows have draws of their own.
            let first = draws::FADING + frame.attempt % 0x1_0000 * draws::FADINGS;
            let factor = nakagami(air.chance(&frame.message, to.0), first, shape);
            return steady + to_db(factor);
        }
        steady
    }

    pub(super) fn travel_s(&self, a: Vec2, b: Vec2) -> f64 {
        (b - a).norm() / self.model.wave_speed_mps
    }

    /// A robot has something to send and nothing else to do.
    pub(super) fn begin(&mut self, robot: u32, air: &mut dyn Air) {
        if self.model.access == Access::Dcf {
            return self.count_down(robot, air);
        }
        if self.model.access.slotted() {
            let slot = next_slot(air.now(), self.model.slot_s);
            if slot > air.now() {
                self.wait(robot, slot, air);
                return;
            }
        }
        match self.busy_until(robot, air) {
            None => self.transmit(robot, air),
            Some(free) => self.refuse(robot, free, air),
        }
    }

    pub(super) fn wait(&mut self, robot: u32, until: Moment, air: &mut dyn Air) {
        self.state.stations[robot as usize].work = Work::Waiting;
        air.wake(until, TRY | u64::from(robot));
    }

    /// When a robot that listens will notice that all it hears now has ended.
    fn busy_until(&self, robot: u32, air: &dyn Air) -> Option<Moment> {
        if !self.model.access.senses() {
            return None;
        }
        let (now, here) = (air.now(), air.place(robot)?);
        let mut until = None;
        for frame in self.state.frames.values().filter(|f| f.message.from != robot) {
            let late = self.model.sensing_s + self.travel_s(frame.place, here);
            let begun = frame.start < now && now.since(frame.start) > late - TOUCH_S;
            if begun && now.since(frame.free) < late - TOUCH_S {
                let margin = self.margin_db(frame, frame.place, (robot, here), air);
                if margin >= -self.model.sense_db {
                    until = until.max(Some(frame.free.plus(late)));
                }
            }
        }
        until
    }

    /// The air is in use.
    fn refuse(&mut self, robot: u32, free: Moment, air: &mut dyn Air) {
        if self.model.access == Access::CsmaPersistent {
            return self.wait(robot, free, air);
        }
        let station = &mut self.state.stations[robot as usize];
        let Some((message, to)) = station.queue.front() else { return };
        if station.refused >= self.model.retries {
            for robot in to {
                air.lose(message, *robot, Loss::Busy);
            }
            station.queue.pop_front();
            self.rest(robot, air);
            return;
        }
        let draw = air.chance(message, robot);
        let pause = draw.exponential(draws::BACKOFF + station.refused, self.model.backoff_s);
        station.refused += 1;
        self.wait(robot, air.now().plus(pause), air);
    }

    /// The first message of a robot is done with.
    pub(super) fn rest(&mut self, robot: u32, air: &mut dyn Air) {
        let station = &mut self.state.stations[robot as usize];
        (station.work, station.refused) = (Work::Idle, 0);
        if !station.queue.is_empty() {
            // Not from within: a long queue of refused messages must not be a deep stack.
            self.wait(robot, air.now(), air);
        }
    }

    pub(super) fn transmit(&mut self, robot: u32, air: &mut dyn Air) {
        let station = &mut self.state.stations[robot as usize];
        let Some((message, to)) = station.queue.pop_front() else { return };
        let Some(place) = air.place(robot) else {
            for robot in &to {
                air.lose(&message, *robot, Loss::Range);
            }
            return self.rest(robot, air);
        };
        station.work = Work::Sending;
        let attempt = station.refused;
        self.look_around(air);
        self.see(place);
        let (start, bytes) = (air.now(), message.bytes.len());
        let end = start.plus(self.model.airtime_s(bytes));
        let acknowledged = self.model.access == Access::Dcf && to.len() == 1;
        let hearers = Vec::new();
        let mut frame = Frame { message, place, start, end, free: end, attempt, acknowledged, hearers };
        for to in &to {
            let found = air.place(*to).map(|there| {
                self.see(there);
                let margin_db = self.margin_db(&frame, place, (*to, there), air);
                Hearer { robot: *to, place: there, delay_s: self.travel_s(place, there), margin_db }
            });
            match found {
                Some(hearer) if hearer.margin_db >= 0.0 => frame.hearers.push(hearer),
                _ if acknowledged => self.state.stations[robot as usize].failure = Some(Loss::Range),
                _ => air.lose(&frame.message, *to, Loss::Range),
            }
        }
        // Of those equally far the first one named comes first: last in the list.
        frame.hearers.reverse();
        frame.hearers.sort_by(|a, b| b.delay_s.total_cmp(&a.delay_s));
        if acknowledged {
            // It comes back to the front when it must be repeated, so it stays there.
            let delay_s = frame.hearers.first().map_or(0.0, |h| h.delay_s);
            frame.free = end.plus(math::max(self.model.acknowledgement_s, delay_s));
            let station = &mut self.state.stations[robot as usize];
            station.queue.push_front((frame.message.clone(), to));
            station.awaiting = true;
        }
        let number = self.state.next;
        self.state.next += 1;
        if let Some(nearest) = frame.hearers.last() {
            air.wake(end.plus(nearest.delay_s), ARRIVE | number);
        }
        air.wake(frame.free, END | u64::from(robot));
        self.state.frames.insert(number, frame);
    }

    /// At the first frame everybody counts, later only who talks and listens.
    fn look_around(&mut self, air: &dyn Air) {
        if self.state.seen.is_none() {
            for robot in 0..air.robots() {
                if let Some(place) = air.place(robot) {
                    self.see(place);
                }
            }
        }
    }

    fn see(&mut self, place: Vec2) {
        let (low, high) = self.state.seen.unwrap_or((place, place));
        self.state.seen = Some((
            Vec2 { x: math::min(low.x, place.x), y: math::min(low.y, place.y) },
            Vec2 { x: math::max(high.x, place.x), y: math::max(high.y, place.y) },
        ));
    }

    /// The last bit of a frame has come to its nearest receivers.
    fn arrive(&mut self, number: u64, air: &mut dyn Air) {
        let now = air.now();
        loop {
            let Some(frame) = self.state.frames.get_mut(&number) else { return };
            let Some(hearer) = frame.hearers.pop() else { break };
            let at = frame.end.plus(hearer.delay_s);
            if at > now {
                frame.hearers.push(hearer);
                air.wake(at, ARRIVE | number);
                return;
            }
            let frame = &self.state.frames[&number];
            match self.harm(number, frame, &hearer, air) {
                None => air.deliver(&frame.message, hearer.robot, now),
                Some(why) if frame.acknowledged => {
                    let from = frame.message.from as usize;
                    self.state.stations[from].failure = Some(why);
                }
                Some(why) => air.lose(&frame.message, hearer.robot, why),
            }
        }
        self.forget(now);
    }

    /// Why a frame cannot be received, if so.
    fn harm(&self, number: u64, frame: &Frame, hearer: &Hearer, air: &dyn Air) -> Option<Loss> {
        if self.model.judged_at_end {
            let places = air.place(frame.message.from).zip(air.place(hearer.robot));
            let margin = places.map(|(a, b)| self.margin_db(frame, a, (hearer.robot, b), air));
            if margin.is_none_or(|m| m < 0.0) {
                return Some(Loss::Range);
            }
        }
        let mut disturbance = 0.0;
        for (_, other) in self.state.frames.iter().filter(|(n, _)| **n != number) {
            let own = other.message.from == hearer.robot;
            let delay_s = if own { 0.0 } else { self.travel_s(other.place, hearer.place) };
            let later = delay_s - hearer.delay_s;
            let meet = other.end.since(frame.start) + later > TOUCH_S
                && frame.end.since(other.start) - later > TOUCH_S;
            if !meet {
                continue;
            }
            if own {
                return Some(Loss::Collision);
            }
            let margin = self.margin_db(other, other.place, (hearer.robot, hearer.place), air);
            if margin >= -self.model.interference_db {
                let Some(_) = self.model.capture_db else { return Some(Loss::Collision) };
                disturbance += from_db(margin);
            }
        }
        let capture_db = self.model.capture_db?;
        let drowned = disturbance > 0.0 && hearer.margin_db - to_db(disturbance) < capture_db;
        drowned.then_some(Loss::Collision)
    }

    /// Forgets frames that nothing in the air can meet any more, and nobody can hear.
    fn forget(&mut self, now: Moment) {
        let wide = self.state.seen.map_or(0.0, |(low, high)| (high - low).norm());
        let linger = self.model.sensing_s + wide / self.model.wave_speed_mps + 2.0 * TOUCH_S;
        let linger = linger + self.longest_count_s();
        let over = |f: &Frame| f.hearers.is_empty() && f.free <= now;
        let first = self.state.frames.values().filter(|f| !over(f)).map(|f| f.start).min();
        let first = first.unwrap_or(now).min(now);
        self.state.frames.retain(|_, f| !over(f) || f.free.plus(linger) >= first);
    }
}

impl Network for Running {
    fn send(&mut self, message: &Message, to: &[u32], air: &mut dyn Air) {
        let Some(station) = self.state.stations.get_mut(message.from as usize) else { return };
        // The one being tried does not wait; nor does one that is kept until it is acknowledged.
        let trying = usize::from(station.work == Work::Waiting || station.awaiting);
        let behind = station.queue.len().saturating_sub(trying) as u64;
        if station.work != Work::Idle && behind >= self.model.queue {
            for robot in to {
                air.lose(message, *robot, Loss::Full);
            }
            return;
        }
        station.queue.push_back((message.clone(), to.to_vec()));
        if station.work == Work::Idle {
            self.begin(message.from, air);
        }
    }

    fn wake(&mut self, token: u64, air: &mut dyn Air) {
        let number = token & NUMBER;
        let robot = number as u32;
        match token & !NUMBER {
            TRY if number < self.state.stations.len() as u64 => self.begin(robot, air),
            END if number < self.state.stations.len() as u64 => {
                self.end(robot, air);
                self.forget(air.now());
            }
            ARRIVE => self.arrive(number, air),
            _ => {}
        }
    }

    fn links(&self, air: &dyn Air) -> Option<Vec<(u32, u32)>> {
        let mut robots: Vec<(u32, Vec2)> =
            (0..air.robots()).filter_map(|r| air.place(r).map(|p| (r, p))).collect();
        // Along x, so that only pairs within reach are looked at.
        robots.sort_by(|a, b| a.1.x.total_cmp(&b.1.x).then(a.0.cmp(&b.0)));
        let reach = self.model.path.reach_m(self.model.budget_db + MOST_SIGMAS * self.model.shadowing_db);
        let mut links = Vec::new();
        for (k, a) in robots.iter().enumerate() {
            for b in robots[k + 1..].iter().take_while(|b| b.1.x - a.1.x <= reach) {
                if (b.1 - a.1).norm() <= reach && self.steady_margin_db(*a, *b, air) >= 0.0 {
                    links.push((a.0.min(b.0), a.0.max(b.0)));
                }
            }
        }
        links.sort_unstable();
        Some(links)
    }

    fn save(&self) -> Vec<u8> {
        to_bytes(&self.state)
    }

    fn load(&mut self, image: &[u8]) -> Result<(), String> {
        let state: State = from_bytes(image)?;
        if state.stations.len() != self.state.stations.len() {
            return Err("the memory is of a network with another number of robots".to_owned());
        }
        if state.frames.values().any(|f| f.message.from as usize >= state.stations.len()) {
            return Err("the memory has a frame of a robot that is not there".to_owned());
        }
        self.state = state;
        Ok(())
    }
}

/// The first beginning of a slot that is not before now; slots are counted from the start of the run.
fn next_slot(now: Moment, slot_s: f64) -> Moment {
    // One too early at first, so that rounding of the quotient does no harm.
    let mut k = math::max((now.since(Moment::ZERO) / slot_s).floor() - 1.0, 0.0);
    loop {
        let begin = Moment::ZERO.plus(k * slot_s);
        if begin >= now {
            return begin;
        }
        k += 1.0;
    }
}
