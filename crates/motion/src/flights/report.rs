//! Telling meetings, each once.
//!
//! In: entries of the calendar whose moment has come. Out: meetings.
//!
//! A pair of straight discs meets at one moment per pair of paths, so what lies before the last meeting told is over;
//! at that very moment, and for pairs on bends, a list says what was told.

use super::bend;
use super::cells::NONE;
use super::closed;
use super::predict::{EDGE, Entry, LOOK};
use super::{Body, Flights, Meeting, Space, With};
use swarmyard_base::{Moment, Vec2};

/// A meeting that was told, for as long as neither has a new path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reported {
    body: u32,
    partner: u32,
    counts: (u32, u32),
}

impl Reported {
    #[inline]
    fn is_on_a_bend(&self) -> bool {
        (self.counts.0 | self.counts.1) & 1 != 0
    }
}

impl Flights {
    /// What the entry of a body is for: a border, a look, or a meeting to be told.
    pub(super) fn happen(&mut self, moment: Moment, entry: Entry) -> Option<Meeting> {
        let k = entry.body as usize;
        match entry.partner {
            NONE => self.cross(k),
            LOOK => self.predict(k),
            partner => {
                let count = self.plans[k].partner_count;
                if self.count_of(partner) == count && !self.is_over(moment, k, partner, count) {
                    return Some(self.tell(moment, k, partner));
                }
                self.predict(k);
            }
        }
        None
    }

    #[inline]
    pub(super) fn count_of(&self, partner: u32) -> u32 {
        if partner & EDGE == 0 { self.bodies[partner as usize].count } else { 0 }
    }

    /// Whether a meeting was told already.
    #[inline]
    pub(super) fn is_over(&self, moment: Moment, k: usize, partner: u32, count: u32) -> bool {
        // Whoever is on a line met at a moment that is a function of both paths.
        if moment > self.now && !self.bends_reported {
            return false;
        }
        if moment < self.now {
            return true;
        }
        let mine = self.bodies[k].count;
        let me = k as u32;
        self.reported.iter().any(|r| {
            (r.body == me && r.partner == partner && r.counts == (mine, count))
                || (r.partner == me && r.body == partner && r.counts == (count, mine))
        })
    }

    fn tell(&mut self, moment: Moment, k: usize, partner: u32) -> Meeting {
        if moment > self.now {
            self.now = moment;
            self.forget();
        }
        let counts = (self.bodies[k].count, self.count_of(partner));
        self.report(Reported { body: k as u32, partner, counts });
        self.asked = Some((k as u32, self.plans[k].serial));
        if partner & EDGE != 0 {
            return self.meet_edge(moment, k, (partner & !EDGE) as usize);
        }
        let j = partner as usize;
        if self.plans[k].rank < self.plans[j].rank {
            self.meet(moment, k, j)
        } else {
            self.meet(moment, j, k)
        }
    }

    /// Drops what is over by its moment, and what has a new path.
    fn forget(&mut self) {
        if !self.bends_reported {
            self.reported.clear();
            return;
        }
        let mut reported = std::mem::take(&mut self.reported);
        reported.retain(|r| {
            let counts = (self.bodies[r.body as usize].count, self.count_of(r.partner));
            r.is_on_a_bend() && r.counts == counts
        });
        self.bends_reported = !reported.is_empty();
        self.reported = reported;
    }

    fn meet(&mut self, moment: Moment, k: usize, j: usize) -> Meeting {
        let (a, b) = (&self.bodies[k], &self.bodies[j]);
        if !(a.is_plain() && b.is_plain()) {
            let apart = self.place(k, moment) - self.place(j, moment);
            let shift = self.copy(apart);
            let mut work = std::mem::take(&mut self.work);
            let (contact, closing) = bend::meet(self.bent(k), self.bent(j), shift, moment, &mut work);
            self.work = work;
            let (normal, point) = (contact.normal, contact.point);
            return Meeting { moment, body: k as Body, with: With::Body(j as Body), normal, point, closing };
        }
        let at = self.place(k, moment);
        let apart = at - self.place(j, moment);
        let apart = apart - self.copy(apart);
        let distance = apart.norm();
        let normal = if distance > 0.0 { over(apart, distance) } else { Vec2::new(1.0, 0.0) };
        let closing = -normal.dot(a.velocity - b.velocity);
        let (radius, other) = (self.radius(k), self.radius(j));
        let point = at - normal * (radius + (distance - radius - other) / 2.0);
        Meeting { moment, body: k as Body, with: With::Body(j as Body), normal, point, closing }
    }

    fn meet_edge(&mut self, moment: Moment, k: usize, e: usize) -> Meeting {
        let at = self.place(k, moment);
        let edge = self.fixed.edges()[e];
        let copy = |end: Vec2| self.copy(at - end);
        // The copy of the edge that is nearest by either of its ends.
        let near = |shift: Vec2| (at - closed::nearest(edge.a + shift, edge.b + shift, at)).norm2();
        let (sa, sb) = (copy(edge.a), copy(edge.b));
        let middle = copy((edge.a + edge.b) * 0.5);
        let mut shift = sa;
        for other in [sb, middle] {
            if near(other) < near(shift) {
                shift = other;
            }
        }
        let with = With::Edge(e as u32);
        let body = k as Body;
        if self.bodies[k].is_plain() {
            let point = closed::nearest(edge.a + shift, edge.b + shift, at);
            let away = at - point;
            let distance = away.norm();
            let normal = if distance > 0.0 { over(away, distance) } else { Vec2::new(1.0, 0.0) };
            let closing = -normal.dot(self.bodies[k].velocity);
            return Meeting { moment, body, with, normal, point, closing };
        }
        let mut work = std::mem::take(&mut self.work);
        let start = self.bodies[k].start();
        let (contact, closing) = bend::meet(self.bent(k), self.bent_edge(e, start), shift, moment, &mut work);
        self.work = work;
        Meeting { moment, body, with, normal: contact.normal, point: contact.point, closing }
    }

    /// By how much the other must be moved for its nearest copy; zero on a plane.
    pub(super) fn copy(&self, apart: Vec2) -> Vec2 {
        match self.space {
            Space::Plane => Vec2::ZERO,
            Space::Torus { min, max } => {
                Vec2::new(nearest_copy(apart.x, max.x - min.x), nearest_copy(apart.y, max.y - min.y))
            }
        }
    }

    pub(super) fn open_meetings(&self) -> Vec<(Body, With)> {
        let open = |r: &&Reported| r.counts == (self.bodies[r.body as usize].count, self.count_of(r.partner));
        let with = |partner: u32| {
            if partner & EDGE == 0 { With::Body(partner) } else { With::Edge(partner & !EDGE) }
        };
        self.reported.iter().filter(open).map(|r| (r.body, with(r.partner))).collect()
    }

    pub(super) fn remember(&mut self, open: &[(Body, With)]) {
        for &(body, with) in open {
            let partner = match with {
                With::Body(other) => other,
                With::Edge(edge) => EDGE | edge,
            };
            let counts = (self.bodies[body as usize].count, self.count_of(partner));
            self.report(Reported { body, partner, counts });
        }
    }

    #[inline]
    fn report(&mut self, told: Reported) {
        self.bends_reported |= told.is_on_a_bend();
        self.reported.push(told);
    }
}

/// The multiple of `round` that is nearest.
#[inline]
fn nearest_copy(apart: f64, round: f64) -> f64 {
    // Nearly always none. The sign stays, as that of a share rounded to zero does.
    if apart.abs() < 0.49 * round { apart * 0.0 } else { (apart / round).round() * round }
}

/// Divided, not multiplied by the inverse: the direction's length is then one as nearly as can be, and energy drifts less.
#[inline]
fn over(v: Vec2, length: f64) -> Vec2 {
    Vec2::new(v.x / length, v.y / length)
}
