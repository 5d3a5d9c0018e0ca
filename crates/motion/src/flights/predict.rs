//! Looking for the next meeting of a body among its neighbours, and the next border of its cell.
//!
//! In: a body with a new path, or one that has crossed a border. Out: its plan, and one entry in the calendar.

use super::bend::{self, Bent};
use super::cells::NONE;
use super::closed::{self, Approach};
use super::{Flights, Flying, Path, Space};
use crate::calendar::Rule;
use swarmyard_base::{Moment, Pose2, Rot2, Vec2, math};
use swarmyard_part_api::Segment;

/// Set in the number of a partner that is an edge.
pub(super) const EDGE: u32 = 1 << 31;

/// Instead of a partner: the end of what is known of a pair on bends.
pub(super) const LOOK: u32 = u32::MAX - 1;

/// An entry of the calendar.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) body: u32,
    /// Whom it meets, [`NONE`] at a border of its cell, or [`LOOK`].
    pub(super) partner: u32,
    /// Which entry of the body it is: only the last counts.
    serial: u32,
}

/// The next that happens to a body, as far as it knows; and its rank, which is asked for together with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    /// Its place among all bodies.
    pub(super) rank: u32,
    /// Number of its entry in the calendar: others are overtaken.
    pub(super) serial: u32,
    /// Whom it meets next, borders left aside, or nobody.
    partner: u32,
    /// The partner's count when that was found.
    pub(super) partner_count: u32,
}

impl Plan {
    pub(super) fn of_rank(rank: u32) -> Plan {
        Plan { rank, serial: 0, partner: NONE, partner_count: 0 }
    }

    #[inline]
    pub(super) fn cancel(&mut self) {
        self.serial = self.serial.wrapping_add(1);
    }
}

/// How entries of one moment are ordered: by the ranks of those who meet; borders, which nobody sees, come first.
pub(super) struct Order<'a> {
    pub(super) plans: &'a [Plan],
    pub(super) edges: &'a [u32],
}

impl Order<'_> {
    /// Ranks of the two of a meeting, as they are ordered.
    #[inline]
    fn ranks(&self, body: u32, partner: u32) -> (u32, u32) {
        let mine = self.plans[body as usize].rank;
        if partner & EDGE != 0 {
            (mine, EDGE | self.edges[(partner & !EDGE) as usize])
        } else {
            let other = self.plans[partner as usize].rank;
            (mine.min(other), mine.max(other))
        }
    }

    fn key(&self, entry: &Entry) -> ((u32, u32), u32, u32) {
        let unseen = entry.partner == NONE || entry.partner == LOOK;
        let ranks = if unseen { (0, 0) } else { self.ranks(entry.body, entry.partner) };
        (ranks, entry.body, entry.serial)
    }
}

impl Rule<Entry> for Order<'_> {
    #[inline]
    fn is_live(&self, entry: &Entry) -> bool {
        self.plans[entry.body as usize].serial == entry.serial
    }

    fn is_before(&self, a: &Entry, b: &Entry) -> bool {
        self.key(a) < self.key(b)
    }
}

/// The best that was found so far.
#[derive(Clone, Copy, Debug)]
pub(super) struct Best {
    moment: Moment,
    partner: u32,
    count: u32,
    /// From when on nothing is known of a pair on bends.
    look: Moment,
}

impl Best {
    const NOTHING: Best = Best { moment: Moment::NEVER, partner: NONE, count: 0, look: Moment::NEVER };
}

impl Flights {
    /// Looks at the bodies with new paths, and at the one whose meeting was told and not answered.
    pub(super) fn settle(&mut self) {
        if let Some((body, serial)) = self.asked.take()
            && self.plans[body as usize].serial == serial
        {
            self.refresh(body as usize);
        }
        if self.fresh.is_empty() {
            return;
        }
        let mut fresh = std::mem::take(&mut self.fresh);
        for &body in &fresh {
            if self.bodies[body as usize].meets() {
                self.predict(body as usize);
            }
        }
        fresh.clear();
        // What was needed for all bodies at once will hardly be needed again.
        fresh.shrink_to(1024);
        self.fresh = fresh;
        if self.calendar.len() > 4 * self.meeting + 1024 {
            self.calendar.clear_away(&Order { plans: &self.plans, edges: &self.edge_ranks });
        }
    }

    /// Looks at all neighbours of a body.
    pub(super) fn predict(&mut self, k: usize) {
        let me = self.bodies[k];
        let [x, y] = me.cell.map(|c| c.saturating_sub(1));
        let mut best = Best::NOTHING;
        self.scan::<3, 3>(k, &me, [x, y], &mut best);
        self.scan_edges(k, &me, &mut best);
        self.schedule(k, &me, best);
    }

    /// Takes a body over the border of its cell: only what is new in sight must be looked at.
    pub(super) fn cross(&mut self, k: usize) {
        let me = self.bodies[k];
        if !me.is_plain() {
            let cell = self.cells.of(self.place(k, self.clock));
            self.move_to(k, cell);
            self.predict(k);
            return;
        }
        let [x, y] = self.until_borders(&me);
        let axis = if x <= y { 0 } else { 1 };
        let mut cell = me.cell;
        let forward = if axis == 0 { me.velocity.x > 0.0 } else { me.velocity.y > 0.0 };
        let step = if forward { 1 } else { -1 };
        cell[axis] = cell[axis].saturating_add(step);
        self.move_to(k, cell);
        let me = self.bodies[k];
        let Some(mut best) = self.known(k, &me) else {
            self.predict(k);
            return;
        };
        let [x, y] = cell;
        if axis == 0 {
            self.scan::<1, 3>(k, &me, [x.saturating_add(step), y.saturating_sub(1)], &mut best);
        } else {
            self.scan::<3, 1>(k, &me, [x.saturating_sub(1), y.saturating_add(step)], &mut best);
        }
        self.scan_edges(k, &me, &mut best);
        self.schedule(k, &me, best);
    }

    /// What the plan of a disc on a line says, if it holds and comes from discs on lines alone. The moment is not kept
    /// but is a function of the pair.
    fn known(&self, k: usize, me: &Flying) -> Option<Best> {
        if !self.bends.segments.is_empty() {
            return None;
        }
        let Plan { partner, partner_count, .. } = self.plans[k];
        if partner == NONE {
            return Some(Best::NOTHING);
        }
        let around = self.cells.around;
        if partner & EDGE != 0 || self.count_of(partner) != partner_count || around[0].min(around[1]) < FAR {
            return None;
        }
        let other = &self.bodies[partner as usize];
        // Those who will meet are never farther apart than when it was found: which copy it is cannot be in doubt.
        let near = |axis: usize| {
            let ahead = i64::from(me.cell[axis]) - i64::from(other.cell[axis]);
            let round = i64::from(around[axis]);
            (ahead + round / 2).div_euclid(round)
        };
        let shift = match self.cells.torus {
            Some(round) => Vec2::new(near(0) as f64 * round.x, near(1) as f64 * round.y),
            None => Vec2::ZERO,
        };
        let moment = self.pair_moment(me, other, shift)?;
        Some(Best { moment, partner, count: partner_count, look: Moment::NEVER })
    }

    /// Looks at the bodies in `C` columns and `R` rows of cells, at most three of each, from one on.
    ///
    /// First who of them can meet at all, then when. Who can is as good as chance, and so is who has a cell to themselves:
    /// no branch depends on either.
    #[inline]
    fn scan<const C: usize, const R: usize>(
        &mut self,
        k: usize,
        me: &Flying,
        from: [i32; 2],
        best: &mut Best,
    ) {
        let Some(places) = self.cells.places::<C, R>(from) else {
            self.scan_around(k, me, (from[0], C), (from[1], R), best);
            return;
        };
        let (mut near, mut waiting) = ([0; NEAR], 0);
        for place in places.as_flattened() {
            let first = self.cells.first(*place);
            near[waiting % NEAR] = first;
            waiting += usize::from(first != NONE);
        }
        let mut count = 0;
        let radius = self.radii[me.size as usize];
        let mut odd = !me.is_plain();
        let mut n = 0;
        while n < waiting {
            let j = near[n % NEAR];
            let other = &self.bodies[j as usize];
            near[waiting % NEAR] = other.link;
            waiting += usize::from(other.link != NONE);
            let (r, v, ahead) = together(me, other, Vec2::ZERO);
            odd |= !other.is_plain() | !self.cells.is_inside(other.cell);
            let reach = radius + self.radii[other.size as usize];
            let approach = Approach::of(r, v, reach);
            self.hits[count % NEAR] = Hit { body: j, reach, ahead, approach };
            count += usize::from(approach.may_touch());
            n += 1;
        }
        if odd || count >= NEAR {
            self.scan_around(k, me, (from[0], C), (from[1], R), best);
            return;
        }
        for n in 0..count {
            let Hit { body: j, reach, ahead, approach } = self.hits[n % NEAR];
            let other = &self.bodies[j as usize];
            let moment = match approach.seconds_from_afar(reach) {
                Some(t) => Some(later(me, other, ahead).plus(t)),
                None => self.pair_moment(me, other, Vec2::ZERO),
            };
            if let Some(moment) = moment {
                self.take(k, moment, j, other.count, best);
            }
        }
    }

    /// [`Flights::scan`] where cells lie beyond the grid, where somebody is seen in another cell than their own or goes round a
    /// bend, or where very many can meet.
    #[cold]
    #[inline(never)]
    fn scan_around(
        &mut self,
        k: usize,
        me: &Flying,
        columns: (i32, usize),
        rows: (i32, usize),
        best: &mut Best,
    ) {
        let mut near = self.firsts(columns, rows);
        let mut n = 0;
        while n < near.count {
            let (j, cell) = near.items[n % NEAR];
            n += 1;
            let j = j as usize;
            let other = self.bodies[j];
            near.add(other.link, cell);
            let shift = self.shift(near.cells[cell as usize % 9], other.cell);
            if j == k || shift.x.is_nan() {
                continue;
            }
            if (me.count | other.count) & 1 != 0 {
                self.consider_bend(k, j, shift, best);
            } else if let Some(moment) = self.pair_moment(me, &other, shift) {
                self.take(k, moment, j as u32, other.count, best);
            }
        }
    }

    /// The first body of each cell in some columns and rows.
    #[inline]
    fn firsts(&self, columns: (i32, usize), rows: (i32, usize)) -> Near {
        let mut near = Near::EMPTY;
        let mut places = [0; 3];
        for (c, place) in places.iter_mut().enumerate().take(columns.1) {
            *place = self.cells.column(columns.0.saturating_add(c as i32));
        }
        let mut cell = 0;
        for r in 0..rows.1 {
            let y = rows.0.saturating_add(r as i32);
            let row = self.cells.row(y);
            for (c, place) in places.iter().enumerate().take(columns.1) {
                near.cells[cell % 9] = [columns.0.saturating_add(c as i32), y];
                near.add(self.cells.first(row + place), cell as u32);
                cell += 1;
            }
        }
        near
    }

    /// By how much a body is moved that is seen in another cell than its own: a copy on a torus. On a plane it is
    /// somebody far away whose cell has the same place, and is moved out of reach.
    #[inline(always)]
    fn shift(&self, cell: [i32; 2], own: [i32; 2]) -> Vec2 {
        if cell == own { Vec2::ZERO } else { self.far_shift(cell, own) }
    }

    #[cold]
    fn far_shift(&self, cell: [i32; 2], own: [i32; 2]) -> Vec2 {
        let Some(round) = self.cells.torus else { return Vec2::new(f64::NAN, f64::NAN) };
        let around = self.cells.around;
        let turns = |axis: usize| f64::from(cell[axis].wrapping_sub(own[axis]) / around[axis]);
        Vec2::new(turns(0) * round.x, turns(1) * round.y)
    }

    #[cold]
    fn consider_bend(&mut self, k: usize, j: usize, shift: Vec2, best: &mut Best) {
        let mut work = std::mem::take(&mut self.work);
        // The lower rank first, so that the pair has the same bits whoever looks.
        let known = if self.plans[k].rank < self.plans[j].rank {
            bend::look(self.bent(k), self.bent(j), shift, self.clock, &mut work)
        } else {
            bend::look(self.bent(j), self.bent(k), -shift, self.clock, &mut work)
        };
        self.work = work;
        best.look = best.look.min(known.until);
        if let Some(moment) = known.hit {
            self.take(k, moment, j as u32, self.bodies[j].count, best);
        }
    }

    #[inline(always)]
    fn pair_moment(&self, a: &Flying, b: &Flying, shift: Vec2) -> Option<Moment> {
        pair_moment(a, b, shift, self.radii[a.size as usize] + self.radii[b.size as usize])
    }

    /// A body with its motion as a segment.
    pub(super) fn bent(&self, k: usize) -> Bent<'_> {
        let body = &self.bodies[k];
        let segment = if body.is_plain() {
            Segment::glide(0.0, Pose2 { at: body.at, heading: 0.0 }, Rot2::IDENTITY, body.velocity, 0.0)
        } else {
            self.bends.segments[k]
        };
        Bent { start: body.start(), segment, outline: &self.bends.outlines[k] }
    }

    /// An edge as a body.
    pub(super) fn bent_edge(&self, edge: usize, start: Moment) -> Bent<'_> {
        let segment = Segment::rest(0.0, Pose2::default(), Rot2::IDENTITY);
        Bent { start, segment, outline: &self.bends.edges[edge] }
    }

    /// Whether it is certain, by a look at all pairs and edges, that nobody will meet on these paths.
    pub(super) fn nobody_meets(&self) -> bool {
        let there = |k: &usize| self.bodies[*k].meets();
        let edges = self.fixed.edges();
        self.space == Space::Plane
            && (0..self.bodies.len()).filter(there).all(|k| {
                let me = &self.bodies[k];
                let apart = |j: usize| {
                    let other = &self.bodies[j];
                    self.pair_moment(me, other, Vec2::ZERO)
                        .is_none_or(|m| self.is_over(m, k, j as u32, other.count))
                };
                let free = |e: usize| {
                    let hit = closed::edge(me.at, me.velocity, self.radius(k), (edges[e].a, edges[e].b));
                    hit.is_none_or(|t| self.is_over(me.start().plus(t), k, EDGE | e as u32, 0))
                };
                me.is_plain() && (0..k).filter(there).all(apart) && (0..edges.len()).all(free)
            })
    }

    /// Looks at the edges near the body's cell.
    fn scan_edges(&mut self, k: usize, me: &Flying, best: &mut Best) {
        if self.edge_ranks.is_empty() {
            return;
        }
        let grown = self.radius(k) + 2.0 * self.cells.margin();
        let grow = Vec2::new(grown, grown);
        let low = self.cells.corner(me.cell) - grow;
        let high = self.cells.corner(me.cell) + self.cells.size + grow;
        // The index stays where it is while the rest of the flights is asked.
        let fixed = std::mem::take(&mut self.fixed);
        let ((from, to), round) = match self.space {
            Space::Plane => (([0, 0], [0, 0]), Vec2::ZERO),
            Space::Torus { min, max } => {
                let round = max - min;
                let copy = |p: Vec2| {
                    [((p.x - min.x) / round.x).floor() as i32, ((p.y - min.y) / round.y).floor() as i32]
                };
                ((copy(low), copy(high)), round)
            }
        };
        for cy in from[1]..=to[1] {
            for cx in from[0]..=to[0] {
                let shift = Vec2::new(f64::from(cx) * round.x, f64::from(cy) * round.y);
                fixed.for_each_in(low - shift, high - shift, |e, edge| {
                    self.consider_edge(k, me, e, (edge.a + shift, edge.b + shift), shift, best);
                });
            }
        }
        self.fixed = fixed;
    }

    fn consider_edge(
        &mut self,
        k: usize,
        me: &Flying,
        e: usize,
        ends: (Vec2, Vec2),
        shift: Vec2,
        best: &mut Best,
    ) {
        let hit = if me.is_plain() {
            closed::edge(me.at, me.velocity, self.radius(k), ends).map(|t| me.start().plus(t))
        } else {
            let mut work = std::mem::take(&mut self.work);
            let known = bend::look(self.bent(k), self.bent_edge(e, me.start()), shift, self.clock, &mut work);
            self.work = work;
            best.look = best.look.min(known.until);
            known.hit
        };
        if let Some(moment) = hit {
            self.take(k, moment, EDGE | e as u32, 0, best);
        }
    }

    /// Takes a meeting if it is the first so far and has not been told.
    #[inline]
    fn take(&mut self, k: usize, moment: Moment, partner: u32, count: u32, best: &mut Best) {
        if moment > best.moment {
            return;
        }
        if moment == best.moment && best.partner != NONE {
            let order = Order { plans: &self.plans, edges: &self.edge_ranks };
            if order.ranks(k as u32, partner) >= order.ranks(k as u32, best.partner) {
                return;
            }
        }
        if self.is_over(moment, k, partner, count) {
            return;
        }
        (best.moment, best.partner, best.count) = (moment, partner, count);
    }

    /// Writes the plan and its entry.
    #[inline]
    fn schedule(&mut self, k: usize, me: &Flying, best: Best) {
        let border = self.border(k, me);
        let (moment, partner) = if best.moment < border.min(best.look) {
            (best.moment, best.partner)
        } else if best.look < border {
            (best.look, LOOK)
        } else {
            (border, NONE)
        };
        let plan = &mut self.plans[k];
        plan.cancel();
        (plan.partner, plan.partner_count) = (best.partner, best.count);
        if moment == Moment::NEVER {
            return;
        }
        let entry = Entry { body: k as u32, partner, serial: plan.serial };
        self.calendar.push(moment, entry, &Order { plans: &self.plans, edges: &self.edge_ranks });
    }

    /// When the body reaches the next border of its cell.
    #[inline]
    fn border(&self, k: usize, me: &Flying) -> Moment {
        if !me.is_plain() {
            return self.border_on_a_bend(k, me);
        }
        let [x, y] = self.until_borders(me);
        me.start().plus(if x <= y { x } else { y })
    }

    /// Seconds from its start until a body on a line reaches the border of its column, and that of its row.
    #[inline]
    fn until_borders(&self, me: &Flying) -> [f64; 2] {
        let corner = self.cells.corner(me.cell);
        let along = |low: f64, size: f64, at: f64, v: f64| {
            let border = low + if v > 0.0 { size } else { 0.0 };
            if v == 0.0 { f64::INFINITY } else { (border - at) / v }
        };
        [
            along(corner.x, self.cells.size.x, me.at.x, me.velocity.x),
            along(corner.y, self.cells.size.y, me.at.y, me.velocity.y),
        ]
    }

    /// A moment before which the body cannot leave its cell by more than the margin.
    fn border_on_a_bend(&self, k: usize, me: &Flying) -> Moment {
        let speed = self.bends.segments[k].top_speed();
        let now = self.clock.max(me.start());
        let (at, low, margin) = (self.place(k, now), self.cells.corner(me.cell), self.cells.margin());
        let high = low + self.cells.size;
        let room = math::min(math::min(math::min(at.x - low.x, high.x - at.x), at.y - low.y), high.y - at.y);
        // Who was just put into this cell is inside of it but for rounding.
        if speed > 0.0 { now.plus(math::max(room + margin, margin / 2.0) / speed) } else { Moment::NEVER }
    }
}

/// When two discs on straight lines first touch, the second moved by `shift`: the moment at which [`Flights`] lets
/// them meet. `None` when they do not, or when either goes round a bend.
#[must_use]
pub fn disc_meeting(a: (&Path, f64), b: (&Path, f64), shift: Vec2) -> Option<Moment> {
    pair_moment(&flying(a.0)?, &flying(b.0)?, shift, a.1 + b.1)
}

/// When a disc on a straight line first touches the line between two points.
#[must_use]
pub fn edge_meeting((path, radius): (&Path, f64), ends: (Vec2, Vec2)) -> Option<Moment> {
    let (start, at, velocity) = path.line()?;
    closed::edge(at, velocity, radius, ends).map(|t| start.plus(t))
}

fn flying(path: &Path) -> Option<Flying> {
    let (start, at, velocity) = path.line()?;
    let (start_ns, start_offset) = (start.time.0, start.offset);
    Some(Flying { start_ns, start_offset, at, velocity, ..Flying::NOWHERE })
}

/// When two discs on straight lines meet whose radii sum up to `reach`, the second moved by `shift`: a function of the two
/// and nothing else.
#[inline(always)]
fn pair_moment(a: &Flying, b: &Flying, shift: Vec2, reach: f64) -> Option<Moment> {
    let (r, v, ahead) = together(a, b, shift);
    let t = closed::discs(r, v, reach)?;
    Some(later(a, b, ahead).plus(t))
}

/// The later of two starts, by how much later the first one's is.
#[inline(always)]
fn later(a: &Flying, b: &Flying, ahead: f64) -> Moment {
    if ahead > 0.0 { a.start() } else { b.start() }
}

/// Distance and relative velocity at the later of the two starts, and how much later the first one's is.
#[inline(always)]
fn together(a: &Flying, b: &Flying, shift: Vec2) -> (Vec2, Vec2, f64) {
    let ahead = a.start().since(b.start());
    // One of the two waits is zero.
    let (wait_a, wait_b) = if ahead > 0.0 { (0.0, ahead) } else { (-ahead, 0.0) };
    let r = (a.at + a.velocity * wait_a) - (b.at + b.velocity * wait_b) - shift;
    (r, a.velocity - b.velocity, ahead)
}

/// Cells around a torus from which on nobody is near to two copies of another.
const FAR: i32 = 8;

/// Room for bodies to be looked at: those that wait are never more than nine.
pub(super) const NEAR: usize = 16;

/// A body that can meet another, and how they approach each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hit {
    body: u32,
    /// Sum of their radii.
    reach: f64,
    /// How much later the start of the one that looks is.
    ahead: f64,
    approach: Approach,
}

impl Hit {
    /// Room for those that are found by one look; each look begins anew.
    pub(super) const ROOM: [Hit; NEAR] =
        [Hit { body: NONE, reach: 0.0, ahead: 0.0, approach: Approach::NONE }; NEAR];
}

/// Bodies to be looked at, and the cells they are seen in: a ring, to whose end each gives the next of its cell.
struct Near {
    /// Bodies, with the numbers of cells.
    items: [(u32, u32); NEAR],
    cells: [[i32; 2]; 9],
    /// How many there have been.
    count: usize,
}

impl Near {
    const EMPTY: Near = Near { items: [(0, 0); NEAR], cells: [[0; 2]; 9], count: 0 };

    /// Adds a body; one that is nobody is written over by the next.
    #[inline(always)]
    fn add(&mut self, body: u32, cell: u32) {
        self.items[self.count % NEAR] = (body, cell);
        self.count += usize::from(body != NONE);
    }
}
