//! Access as in IEEE 802.11 (distributed coordination): free slots are counted down, collisions widen the window.
//!
//! A robot that wants to send draws a number of slots. When the air has been free for `pause`, it counts one slot after the
//! other; while it notices a frame it stops counting, and goes on after the next pause. At zero it sends. A frame to one
//! robot keeps the air for its acknowledgement; when that does not come, the frame is repeated with a window twice as wide.
//! The acknowledgement itself cannot be lost, and a frame to many robots is neither acknowledged nor repeated.
//!
//! Counting is reckoned when it would end, from the frames since it began: nobody is woken by each frame of others.

use super::Access;
use super::running::{Running, TOUCH_S, Work};
use crate::net::draws;
use swarmyard_base::Moment;
use swarmyard_base::math;
use swarmyard_part_api::Air;

impl Running {
    /// Counts on up to now; sends when there is nothing left to count.
    pub(super) fn count_down(&mut self, robot: u32, air: &mut dyn Air) {
        let station = &self.state.stations[robot as usize];
        let Some((message, _)) = station.queue.front() else { return };
        let (mut since, mut slots) = station.counting.unwrap_or_else(|| {
            let wider = u64::from(self.model.window) << station.refused.min(31);
            let window = wider.min(u64::from(self.model.window_most)) as u32;
            (air.now(), air.chance(message, robot).below(draws::BACKOFF + station.refused, window))
        });
        let (pause_s, slot_s) = (self.model.pause_s, self.model.slot_s);
        for (begin, end) in self.noticed(robot, since, air) {
            let expiry = since.plus(pause_s + f64::from(slots) * slot_s);
            // Who is through at the same moment as another sends as well: that is how collisions happen.
            if expiry.since(begin) <= TOUCH_S {
                break;
            }
            let counted = math::max(((begin.since(since) - pause_s + TOUCH_S) / slot_s).floor(), 0.0);
            slots -= (counted as u32).min(slots);
            since = since.max(end);
        }
        let expiry = since.plus(pause_s + f64::from(slots) * slot_s);
        if expiry > air.now() {
            self.state.stations[robot as usize].counting = Some((since, slots));
            self.wait(robot, expiry, air);
        } else {
            self.state.stations[robot as usize].counting = None;
            self.transmit(robot, air);
        }
    }

    /// From when to when a robot notices the frames of others, those that end after `since`, in the order of beginning.
    fn noticed(&self, robot: u32, since: Moment, air: &dyn Air) -> Vec<(Moment, Moment)> {
        let Some(here) = air.place(robot) else { return Vec::new() };
        let mut times = Vec::new();
        for frame in self.state.frames.values().filter(|f| f.message.from != robot) {
            let late = self.model.sensing_s + self.travel_s(frame.place, here);
            let (begin, end) = (frame.start.plus(late), frame.free.plus(late));
            if end > since && begin < air.now() {
                let margin = self.margin_db(frame, frame.place, (robot, here), air);
                if margin >= -self.model.sense_db {
                    times.push((begin, end));
                }
            }
        }
        times.sort_unstable();
        times
    }

    /// A frame, and the wait for its acknowledgement, is over.
    pub(super) fn end(&mut self, robot: u32, air: &mut dyn Air) {
        let station = &mut self.state.stations[robot as usize];
        if std::mem::take(&mut station.awaiting) {
            match station.failure.take() {
                Some(_) if station.refused < self.model.retries => {
                    station.refused += 1;
                    station.work = Work::Idle;
                    return self.begin(robot, air);
                }
                Some(why) => {
                    if let Some((message, to)) = station.queue.pop_front() {
                        to.iter().for_each(|to| air.lose(&message, *to, why));
                    }
                }
                None => drop(station.queue.pop_front()),
            }
        }
        self.rest(robot, air);
    }

    /// How long a robot may count before it looks back at the frames since.
    pub(super) fn longest_count_s(&self) -> f64 {
        if self.model.access != Access::Dcf {
            return 0.0;
        }
        self.model.pause_s + f64::from(self.model.window_most) * self.model.slot_s
    }
}
