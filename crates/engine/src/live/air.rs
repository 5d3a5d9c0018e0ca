//! What the network sees of the world, and what becomes of messages.

use super::agenda::Agenda;
use super::deed::corners_at;
use super::state::{Inner, Instant, LiveEvent, LiveKey, LiveState};
use super::{Cast, Going};
use crate::model::Model;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2, math};
use swarmyard_part_api::chord::{crossing, edges_of, holds, through_disc, through_polygon};
use swarmyard_part_api::{Air, BodyKind, Loss, Message};

/// The world while the network is at work. What arrives, and when it wants to be woken, is an event to come at once; what is lost is collected.
pub(super) struct Sight<'a> {
    pub(super) model: &'a Model,
    pub(super) going: &'a [Going],
    pub(super) robots: &'a [Inner],
    pub(super) queue: &'a mut Agenda,
    pub(super) instant: &'a mut Instant,
    pub(super) now: Moment,
    pub(super) lost: Vec<(Message, u32, Loss)>,
}

impl Sight<'_> {
    #[inline]
    fn push(&mut self, at: Moment, who: Uid, sequence: u64, event: LiveEvent) {
        let key = LiveKey { at: at.max(self.now), kind: event.kind(), who, sequence };
        self.instant.expect(&key);
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
        obstructed(self.model, self.going, self.now, a, b)
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
pub(crate) fn links(model: &Model, live: Option<&LiveState>, cast: &Cast) -> Option<Vec<(usize, usize)>> {
    let (Some(members), Some(live), Some(network)) = (&model.live, live, &cast.network) else {
        return Some(Vec::new());
    };
    let (now, mut nothing, mut nobody) = (live.now, Agenda::default(), Instant::default());
    let (going, robots) = (&live.going[..], &live.robots[..]);
    let (queue, instant) = (&mut nothing, &mut nobody);
    let sight = Sight { model, going, robots, queue, instant, now, lost: Vec::new() };
    let pairs = network.links(&sight)?;
    let slot = |robot: u32| members.members.get(robot as usize).map(|s| *s as usize);
    Some(pairs.into_iter().filter_map(|(a, b)| Some((slot(a)?, slot(b)?))).collect())
}

/// Edges crossed by the line from one point to another, and its length inside of solid obstacles.
fn obstructed(model: &Model, going: &[Going], now: Moment, a: Vec2, b: Vec2) -> (u32, f64) {
    let (mut edges, mut inside) = through_fixed(model, a, b);
    let Some(live) = &model.live else { return (edges, inside * (b - a).norm()) };
    for slot in live.bodies.iter().map(|slot| *slot as usize) {
        let (outline, pose) = (model.outline(slot), going[slot].pose_at(now));
        // Most are far from the line.
        if aside(a, b, pose.at) > outline.reach() {
            continue;
        }
        let cuts = if outline.is_disc() {
            through_disc(a, b, pose.at, outline.round())
        } else {
            through_polygon(a, b, edges_of(&corners_at(outline, pose)))
        };
        (edges, inside) = (edges + cuts.0, inside + cuts.1);
    }
    (edges, inside * (b - a).norm())
}

/// Fixed edges that the line from `a` to `b` crosses, and its share inside of fixed obstacles.
fn through_fixed(model: &Model, a: Vec2, b: Vec2) -> (u32, f64) {
    let (min, max) = (
        Vec2::new(math::min(a.x, b.x), math::min(a.y, b.y)),
        Vec2::new(math::max(a.x, b.x), math::max(a.y, b.y)),
    );
    let mut crossed: Vec<(usize, Uid, bool, f64)> = Vec::new();
    model.fixed.for_each_in(min, max, |k, edge| {
        if let Some(t) = crossing(a, b, edge.a, edge.b) {
            crossed.push((k, edge.owner, edge.kind == BodyKind::Obstacle, t));
        }
    });
    crossed.sort_by_key(|c| (c.1, c.0));
    crossed.dedup_by_key(|c| c.0);
    let mut inside = 0.0;
    // Whose line begins inside, it is looked at whole.
    let mut begun: Vec<Uid> = Vec::new();
    for block in model.live.iter().flat_map(|live| &live.blocks) {
        let near = (block.min.x..=block.max.x).contains(&a.x) && (block.min.y..=block.max.y).contains(&a.y);
        let own = &model.fixed.edges()[block.first as usize..][..block.edges as usize];
        if near && holds(own.iter().map(|e| (e.a, e.b)), a) {
            begun.push(own[0].owner);
            inside += through_polygon(a, b, own.iter().map(|e| (e.a, e.b))).1;
        }
    }
    for own in crossed.chunk_by(|a, b| a.1 == b.1) {
        if own[0].2 && !begun.contains(&own[0].1) {
            let mut cuts: Vec<f64> = own.iter().map(|c| c.3).collect();
            cuts.sort_by(f64::total_cmp);
            if cuts.len() % 2 == 1 {
                cuts.push(1.0);
            }
            inside += cuts.chunks_exact(2).map(|pair| pair[1] - pair[0]).sum::<f64>();
        }
    }
    (crossed.len() as u32, inside)
}

/// How far a point is from the line from `a` to `b`.
fn aside(a: Vec2, b: Vec2, p: Vec2) -> f64 {
    let (way, from) = (b - a, p - a);
    let share = if way.norm2() > 0.0 { (from.dot(way) / way.norm2()).clamp(0.0, 1.0) } else { 0.0 };
    (from - way * share).norm()
}
