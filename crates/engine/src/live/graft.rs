//! Robots that live by events, carried over into another world.
//!
//! Who is there again with the same protocols goes on as it was, with its motion, timers and messages on
//! their way; who is new, or has other protocols, starts now. The same world again changes nothing.

use super::agenda::Agenda;
use super::going::Going;
use super::state::{Instant, LiveEvent, LiveState};
use super::{LiveModel, ZoneKind};
use crate::kinship::Kinship;
use crate::model::Model;
use crate::state::State;
use std::collections::BTreeMap;
use swarmyard_base::{Moment, Uid, math};

/// Whether a robot of the new model goes on as the one it was: same protocols by name.
pub(super) fn goes_on(old: &Model, new: &Model, was: usize, slot: usize) -> bool {
    let names = |model: &Model, slot: usize| -> Option<Vec<String>> {
        let life = model.type_at(slot).life.as_ref()?;
        Some(life.graph.names().map(str::to_owned).collect())
    };
    let (a, b) = (names(old, was), names(new, slot));
    a.is_some() && a == b
}

/// The live part of a state in another world. `placed` says who was put somewhere else.
pub(crate) fn graft(
    (old, before): (&Model, &State),
    (new, after): (&Model, &State),
    kinship: &Kinship,
    placed: impl Fn(usize, usize) -> bool,
) -> Option<Box<LiveState>> {
    let live = new.live.as_ref()?;
    let mut state = LiveState::new(new, &after.pose)?;
    let now = before.live.as_ref().map_or(Moment::at(before.now), |l| l.now);
    state.now = now;
    state.queue = Agenda::default();
    for (k, fault) in live.faults.iter().enumerate().filter(|(_, f)| Moment::at(f.at) > now) {
        state.push(Moment::at(fault.at), Uid(0), k as u64, LiveEvent::Fault(k as u32));
    }
    for (slot, pose) in after.pose.iter().enumerate() {
        state.going[slot] = Going::rest(now, *pose);
    }
    let (Some(was), Some(was_live)) = (&before.live, &old.live) else {
        starts(new, &mut state, |_| true);
        return Some(Box::new(state));
    };
    state.mid = was.mid;
    (state.sent, state.delivered, state.lost) = (was.sent, was.delivered, was.lost);
    state.crowd = (was.crowd.0, Vec::new());
    let keeps = |slot: usize| {
        let old_slot = kinship.old_slot(slot)?;
        Some(old_slot).filter(|o| !placed(slot, *o))
    };
    let hits: BTreeMap<u32, u32> = was.crowd.1.iter().copied().collect();
    for slot in 0..new.len() {
        let Some(old_slot) = keeps(slot) else { continue };
        let mut going = was.going[old_slot].clone();
        if live.number(slot).is_some() && !goes_on(old, new, old_slot, slot) {
            going = Going::rest(now, going.pose_at(now));
        }
        state.going[slot] = going;
        if !state.moved.is_empty() && !was.moved.is_empty() {
            state.moved[slot] = was.moved[old_slot];
        }
        state.crowd.1.extend(hits.get(&(old_slot as u32)).map(|n| (slot as u32, *n)));
    }
    // Numbers in the new world of robots that go on, by their old number; and who of the new ones is new.
    let mut numbers = vec![LiveModel::NOBODY; was_live.members.len()];
    let mut new_ones = vec![true; live.members.len()];
    for (n, slot) in live.members.iter().enumerate() {
        let slot = *slot as usize;
        let Some(old_slot) = kinship.old_slot(slot).filter(|o| goes_on(old, new, *o, slot)) else { continue };
        if let Some(number) = was_live.number(old_slot) {
            numbers[number as usize] = n as u32;
            new_ones[n] = false;
            state.robots[n] = was.robots[number as usize].clone();
        }
    }
    let busy = was.instant.robots.iter().map(|n| numbers[*n as usize]);
    let busy = busy.filter(|n| *n != LiveModel::NOBODY).collect();
    let chains = was.instant.chains.clone();
    state.instant = Instant { at: was.instant.at, robots: busy, next: 0, chains };
    let down = was.down.iter().filter(|(n, _)| numbers[**n as usize] != LiveModel::NOBODY);
    state.down = down.map(|(n, since)| (numbers[*n as usize], *since)).collect();
    let timers = was.timers.iter().filter(|((n, _), _)| numbers[*n as usize] != LiveModel::NOBODY);
    state.timers = timers.map(|((n, timer), at)| ((numbers[*n as usize], *timer), *at)).collect();
    let same_robots = live.members.len() == was_live.members.len();
    let who = Names { kinship, numbers: &numbers, same_robots };
    for (key, event) in was.queue.unsorted() {
        if let Some(event) = who.event(event, |slot| keeps(slot).is_some()) {
            state.queue.insert(*key, event);
        }
    }
    for watch in was.watches.values() {
        let Some(robot) = who.number(watch.robot) else { continue };
        let (crossings, within) = Default::default();
        let watching = super::Watching { robot, crossings, within, ..watch.clone() };
        state.watches.insert((robot, watch.watch), watching);
    }
    // Ground of the new world may be quicker.
    let quickest =
        live.zones.iter().filter_map(|z| if let ZoneKind::Slow(f) = z.kind { Some(f) } else { None });
    (state.fastest, state.widest) = (was.fastest * quickest.fold(1.0, math::max), was.widest);
    state.aim_anew(new);
    let asks = was.asks.iter().filter_map(|(r, node, what)| Some((who.number(*r)?, *node, what.clone())));
    state.asks = asks.collect();
    let open = was
        .open
        .iter()
        .filter_map(|&(a, body, b)| Some((who.slot(a)?, body, if body { who.slot(b)? } else { b })));
    state.open = open.collect();
    starts(new, &mut state, |n| new_ones[n]);
    Some(Box::new(state))
}

/// Robots that start now.
fn starts(model: &Model, state: &mut LiveState, is_new: impl Fn(usize) -> bool) {
    let Some(live) = &model.live else { return };
    for (n, slot) in live.members.iter().enumerate().filter(|(n, _)| is_new(*n)) {
        let who = model.uids[*slot as usize];
        state.push(state.now, who, 0, LiveEvent::Start(n as u32));
    }
}

/// Who is who.
struct Names<'a> {
    kinship: &'a Kinship,
    numbers: &'a [u32],
    same_robots: bool,
}

impl Names<'_> {
    fn number(&self, old: u32) -> Option<u32> {
        Some(self.numbers[old as usize]).filter(|n| *n != LiveModel::NOBODY)
    }

    fn slot(&self, old: u32) -> Option<u32> {
        self.kinship.new_slot(old as usize).map(|s| s as u32)
    }

    /// An event as it is in the new world; `None` when it is about nobody there.
    fn event(&self, event: &LiveEvent, stays: impl Fn(usize) -> bool) -> Option<LiveEvent> {
        Some(match event {
            LiveEvent::Fault(_) => return None,
            LiveEvent::Start(robot) => LiveEvent::Start(self.number(*robot)?),
            LiveEvent::Arrive(slot) => LiveEvent::Arrive(self.slot(*slot).filter(|s| stays(*s as usize))?),
            LiveEvent::Zone(slot) => LiveEvent::Zone(self.slot(*slot).filter(|s| stays(*s as usize))?),
            // Everybody may be elsewhere: exact watches are aimed anew.
            LiveEvent::Crossing { .. } => return None,
            LiveEvent::Wake(token) => LiveEvent::Wake(Some(*token).filter(|_| self.same_robots)?),
            LiveEvent::Deliver { to, from, protocol, serial, bytes } => LiveEvent::Deliver {
                to: self.number(*to)?,
                from: self.number(*from)?,
                protocol: *protocol,
                serial: *serial,
                bytes: bytes.clone(),
            },
            LiveEvent::Timer { robot, node, timer } => {
                LiveEvent::Timer { robot: self.number(*robot)?, node: *node, timer: *timer }
            }
            LiveEvent::Look(watch) => LiveEvent::Look(*watch),
        })
    }
}
