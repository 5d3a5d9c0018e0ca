//! What the network sees of the world, and what becomes of messages.

use super::agenda::Agenda;
use super::state::{Inner, LiveEvent, LiveKey};
use super::{Cast, Going};
use crate::model::Model;
use crate::state::State;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2, math};
use swarmyard_part_api::{Air, BodyKind, Loss, Message};

/// The world while the network is at work. What arrives, and when it wants to be woken, is an event to come at once; what is lost is collected.
pub(super) struct Sight<'a> {
    pub(super) model: &'a Model,
    pub(super) going: &'a [Going],
    pub(super) robots: &'a [Inner],
    pub(super) queue: &'a mut Agenda,
    pub(super) now: Moment,
    pub(super) lost: Vec<(Message, u32, Loss)>,
}

impl Sight<'_> {
    fn push(&mut self, at: Moment, who: Uid, sequence: u64, event: LiveEvent) {
        let key = LiveKey { at: at.max(self.now), kind: event.kind(), who, sequence };
        self.queue.insert(key, event);
    }
}

impl Air for Sight<'_> {
    fn now(&self) -> Moment {
        self.now
    }

    fn robots(&self) -> u32 {
        self.robots.len() as u32
    }

    fn place(&self, robot: u32) -> Option<Vec2> {
        let live = self.model.live.as_ref()?;
        if self.robots.get(robot as usize)?.status == super::Status::Gone {
            return None;
        }
        let slot = *live.members.get(robot as usize)? as usize;
        Some(self.going[slot].pose_at(self.now).at)
    }

    fn obstructed(&self, a: Vec2, b: Vec2) -> (u32, f64) {
        obstructed(self.model, a, b)
    }

    fn chance(&self, message: &Message, to: u32) -> Draw {
        // A function of the message and its receiver, never of the time: a network may ask again later.
        let uid = Uid(swarmyard_base::hash::mix64(message.serial));
        Draw::at(self.model.run.seed, uid, Purpose::Network, Time::ZERO, to)
    }

    fn deliver(&mut self, message: &Message, to: u32, at: Moment) {
        let slot = self.model.live.as_ref().and_then(|live| live.members.get(to as usize));
        let Some(who) = slot.map(|slot| self.model.uids[*slot as usize]) else { return };
        let Message { serial, from, protocol, ref bytes } = *message;
        let bytes = Arc::clone(bytes);
        self.push(at, who, serial, LiveEvent::Deliver { to, from, protocol, serial, bytes });
    }

    fn lose(&mut self, message: &Message, to: u32, why: Loss) {
        self.lost.push((message.clone(), to, why));
    }

    fn wake(&mut self, at: Moment, token: u64) {
        self.push(at, Uid(0), token, LiveEvent::Wake(token));
    }
}

/// Which robots could hear each other now, as pairs of slots; `None` when everybody hears everybody.
pub(crate) fn links(model: &Model, state: &State, cast: &Cast) -> Option<Vec<(usize, usize)>> {
    let (Some(members), Some(live), Some(network)) = (&model.live, &state.live, &cast.network) else {
        return Some(Vec::new());
    };
    let (now, mut nothing) = (Moment::at(state.now), Agenda::default());
    let (going, robots) = (&live.going[..], &live.robots[..]);
    let sight = Sight { model, going, robots, queue: &mut nothing, now, lost: Vec::new() };
    let pairs = network.links(&sight)?;
    let slot = |robot: u32| members.members.get(robot as usize).map(|s| *s as usize);
    Some(pairs.into_iter().filter_map(|(a, b)| Some((slot(a)?, slot(b)?))).collect())
}

/// Edges crossed by the line from one point to another, and its length inside of solid obstacles.
fn obstructed(model: &Model, a: Vec2, b: Vec2) -> (u32, f64) {
    let (min, max) = (
        Vec2::new(math::min(a.x, b.x), math::min(a.y, b.y)),
        Vec2::new(math::max(a.x, b.x), math::max(a.y, b.y)),
    );
    let way = b - a;
    let mut crossed: Vec<(usize, Uid, bool, f64)> = Vec::new();
    model.fixed.for_each_in(min, max, |k, edge| {
        let e = edge.b - edge.a;
        let det = way.cross(e);
        if det == 0.0 {
            return;
        }
        let from = edge.a - a;
        let (t, u) = (from.cross(e) / det, from.cross(way) / det);
        // Half open, so that a corner counts once.
        if (0.0..1.0).contains(&t) && (0.0..1.0).contains(&u) {
            crossed.push((k, edge.owner, edge.kind == BodyKind::Obstacle, t));
        }
    });
    crossed.sort_by_key(|c| (c.1, c.0));
    crossed.dedup_by_key(|c| c.0);
    let mut inside = 0.0;
    let mut k = 0;
    while k < crossed.len() {
        let owner = crossed[k].1;
        let end = k + crossed[k..].iter().take_while(|c| c.1 == owner).count();
        if crossed[k].2 {
            let mut cuts: Vec<f64> = crossed[k..end].iter().map(|c| c.3).collect();
            cuts.sort_by(f64::total_cmp);
            inside += cuts.chunks_exact(2).map(|pair| pair[1] - pair[0]).sum::<f64>();
        }
        k = end;
    }
    (crossed.len() as u32, inside * way.norm())
}
