//! When two bodies meet of which one turns, goes round a bend or has corners.
//!
//! In: two motions with outlines. Out: their contact in the *window* that a moment falls into, by
//! [`first_contact_between`]. Windows of a pair are counted from the later start of its two motions and are as
//! long as the pair takes to move by its own size: both are functions of the pair alone, and so is the
//! contact. When it is asked for, or how often, never shows.

use crate::contact::{Contact, Mover, Skin, Workspace, contact_at, first_contact_between, gap_at};
use swarmyard_base::{Moment, Vec2, math};
use swarmyard_part_api::{Outline, Segment};

/// Bodies that turn, go round bends or have corners meet at this distance.
pub(super) const SKIN: Skin = Skin { width_m: 1e-9, along: 1e-8 };

/// A body, its motion, and when that starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bent<'a> {
    pub(super) start: Moment,
    pub(super) segment: Segment,
    pub(super) outline: &'a Outline,
}

/// What is known of a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    /// Their contact in the window.
    pub(super) hit: Option<Moment>,
    /// When to look again: nothing is known from here on.
    pub(super) until: Moment,
}

/// Both motions on one clock that begins at the later start.
pub(super) struct Together<'a> {
    pub(super) start: Moment,
    a: Bent<'a>,
    b: Bent<'a>,
}

impl<'a> Together<'a> {
    pub(super) fn new(mut a: Bent<'a>, mut b: Bent<'a>, shift: Vec2) -> Together<'a> {
        let start = a.start.max(b.start);
        a.segment.start_s = a.start.since(start);
        b.segment.start_s = b.start.since(start);
        b.segment.pose.at = b.segment.pose.at + shift;
        Together { start, a, b }
    }

    pub(super) fn movers(&self) -> (Mover<'_>, Mover<'_>) {
        (
            Mover { outline: self.a.outline, segment: &self.a.segment },
            Mover { outline: self.b.outline, segment: &self.b.segment },
        )
    }
}

/// Greatest speed of any point of a body.
pub(super) fn fastest(body: &Bent<'_>) -> f64 {
    let swing = if body.outline.is_disc() { 0.0 } else { body.outline.reach() * body.segment.spin.abs() };
    body.segment.top_speed() + swing
}

/// What happens between `a` and `b` (moved by `shift`) in the window that `now` falls into.
pub(super) fn look(a: Bent<'_>, b: Bent<'_>, shift: Vec2, now: Moment, work: &mut Workspace) -> Known {
    let speed = fastest(&a) + fastest(&b);
    if speed <= 0.0 {
        return Known { hit: None, until: Moment::NEVER };
    }
    // A line has no size of its own; what moves against it has.
    let size = reach(&a) + reach(&b);
    let length = math::max(size / speed, 1e-6);
    let both = Together::new(a, b, shift);
    let mut window = math::max((now.since(both.start) / length).floor(), 0.0);
    while both.start.plus((window + 1.0) * length) <= now {
        window += 1.0;
    }
    let (from, to) = (window * length, (window + 1.0) * length);
    let (a, b) = both.movers();
    let contact = first_contact_between(&a, &b, (from, to), SKIN, work);
    let hit = contact.map(|c| both.start.plus(c.time_s));
    Known { hit, until: both.start.plus(to) }
}

/// When `a` and `b` first meet, not before `after` and not after `until`: what one look after another finds. Windows
/// in which they are too far apart to meet are passed over.
pub(super) fn first(a: Bent<'_>, b: Bent<'_>, after: Moment, until: Moment) -> Option<Moment> {
    let speed = fastest(&a) + fastest(&b);
    let mut work = Workspace::default();
    let mut now = after.max(a.start).max(b.start);
    while now <= until {
        if speed > 0.0 {
            let both = Together::new(a, b, Vec2::ZERO);
            let (a, b) = both.movers();
            let gap = gap_at(&a, &b, now.since(both.start), &mut work) - SKIN.width_m;
            // A little less than the way there, for rounding.
            now = now.plus(math::max(gap * (1.0 - 1e-9), 0.0) / speed);
        }
        let known = look(a, b, Vec2::ZERO, now, &mut work);
        if let Some(hit) = known.hit.filter(|hit| *hit >= after) {
            return (hit <= until).then_some(hit);
        }
        if known.until == Moment::NEVER {
            return None;
        }
        now = known.until;
    }
    None
}

/// How two bodies meet at a moment: the contact, and the closing speed.
pub(super) fn meet(
    a: Bent<'_>,
    b: Bent<'_>,
    shift: Vec2,
    moment: Moment,
    work: &mut Workspace,
) -> (Contact, f64) {
    let both = Together::new(a, b, shift);
    let (a, b) = both.movers();
    contact_at(&a, &b, moment.since(both.start), SKIN, work)
}

fn reach(body: &Bent<'_>) -> f64 {
    if body.outline.corners().len() == 2 { 0.0 } else { body.outline.reach() }
}
