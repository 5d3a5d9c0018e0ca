//! Looking for the next meeting of a body among its neighbours, and the next border of its cell.
//!
//! In: a body with a new path, or one that has crossed a border. Out: its plan, and one entry in the calendar.

use super::bend::{self, Bent};
use super::cells::NONE;
use super::closed;
use super::{Flights, Flying, Part, Path, Space};
use swarmyard_base::{Moment, Pose2, Rot2, Time, Vec2};
use swarmyard_part_api::Segment;

/// Set in the number of a partner that is an edge.
pub(super) const EDGE: u32 = 1 << 31;

/// An entry of the calendar. The ranks order what happens at one moment; borders, which nobody sees, have none.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry {
    pub(super) low: u32,
    pub(super) high: u32,
    pub(super) body: u32,
    pub(super) serial: u32,
}

/// What a body's entry in the calendar is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Next {
    /// A meeting.
    Meet,
    /// A border of its cell.
    Border,
    /// The end of what is known of a pair on bends.
    Look,
}

/// The next that happens to a body, as far as it knows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    hit_ns: i64,
    hit_offset: u32,
    /// Whom it meets then, or nobody.
    pub(super) partner: u32,
    /// The partner's count when that was found.
    pub(super) partner_count: u32,
    /// Number of its entry in the calendar: others are overtaken.
    pub(super) serial: u32,
    pub(super) next: Next,
    /// Whether somebody near goes round a bend: what is known then ends.
    bends: bool,
}

impl Plan {
    pub(super) const NONE: Plan = Plan {
        hit_ns: i64::MAX,
        hit_offset: u32::MAX,
        partner: NONE,
        partner_count: 0,
        serial: 0,
        next: Next::Border,
        bends: false,
    };

    #[inline]
    pub(super) fn cancel(&mut self) {
        self.serial = self.serial.wrapping_add(1);
    }

    fn hit(&self) -> Moment {
        Moment { time: Time(self.hit_ns), offset: self.hit_offset }
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
            if self.parts[body as usize] == Part::Meets {
                self.predict(body as usize);
            }
        }
        fresh.clear();
        self.fresh = fresh;
        if self.calendar.len() > 4 * self.meeting + 1024 {
            let plans = &self.plans;
            self.calendar.retain(|_, entry| plans[entry.body as usize].serial == entry.serial);
        }
    }

    /// Looks at all neighbours of a body.
    pub(super) fn predict(&mut self, k: usize) {
        let me = self.bodies[k];
        let [x, y] = me.cell;
        let mut best = Best::NOTHING;
        self.scan(k, &me, (x - 1, x + 1), (y - 1, y + 1), &mut best);
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
        let (_, axis) = self.border(k, &me);
        let mut cell = me.cell;
        let forward = if axis == 0 { me.velocity.x > 0.0 } else { me.velocity.y > 0.0 };
        let step = if forward { 1 } else { -1 };
        cell[axis] = cell[axis].saturating_add(step);
        self.move_to(k, cell);
        let plan = &self.plans[k];
        if plan.bends {
            self.predict(k);
            return;
        }
        let me = self.bodies[k];
        let mut best = if plan.partner == NONE {
            Best::NOTHING
        } else {
            Best { moment: plan.hit(), partner: plan.partner, count: plan.partner_count, look: Moment::NEVER }
        };
        let [x, y] = cell;
        if axis == 0 {
            self.scan(k, &me, (x + step, x + step), (y - 1, y + 1), &mut best);
        } else {
            self.scan(k, &me, (x - 1, x + 1), (y + step, y + step), &mut best);
        }
        self.scan_edges(k, &me, &mut best);
        self.schedule(k, &me, best);
    }

    fn move_to(&mut self, k: usize, cell: [i32; 2]) {
        let from = self.bodies[k].cell;
        if from != cell {
            self.cells.remove(k as u32, from);
            self.cells.insert(k as u32, cell);
            self.bodies[k].cell = cell;
        }
    }

    /// Looks at the bodies in some columns and rows.
    fn scan(&mut self, k: usize, me: &Flying, columns: (i32, i32), rows: (i32, i32), best: &mut Best) {
        let mut near = Near::new();
        for y in rows.0..=rows.1 {
            let row = self.cells.row(y);
            for x in columns.0..=columns.1 {
                let mut place = row + self.cells.column(x);
                loop {
                    let bunch = self.cells.bunch(place);
                    let next = bunch.next;
                    near.add(bunch.items, [x, y]);
                    if near.is_full() {
                        self.sift(k, me, &near, best);
                        near.count = 0;
                    }
                    if next == NONE {
                        break;
                    }
                    place = next as usize;
                }
            }
        }
        self.sift(k, me, &near, best);
    }

    /// First who of these can meet at all, then when. Which of them can is as good as chance: no branch depends on it.
    #[inline]
    fn sift(&mut self, k: usize, me: &Flying, near: &Near, best: &mut Best) {
        let mut hits = [0_u8; NEAR];
        let mut count = 0;
        let mut bends = me.count & 1;
        for n in 0..near.count.min(NEAR) {
            let other = &self.bodies[near.bodies[n] as usize];
            let (r, v, _) = together(me, other, self.shift(near.cells[n], other.cell));
            bends |= other.count & 1;
            hits[count & (NEAR - 1)] = n as u8;
            count += usize::from(closed::may_touch(r, v, me.radius + other.radius));
        }
        if bends != 0 {
            self.sift_bends(k, me, near, best);
            return;
        }
        for &n in &hits[..count] {
            let n = usize::from(n) & (NEAR - 1);
            let j = near.bodies[n];
            let other = &self.bodies[j as usize];
            if let Some(moment) = pair_moment(me, other, self.shift(near.cells[n], other.cell)) {
                let count = other.count;
                self.take(k, moment, j, count, best);
            }
        }
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

    /// The same where somebody goes round a bend.
    #[cold]
    fn sift_bends(&mut self, k: usize, me: &Flying, near: &Near, best: &mut Best) {
        for (&j, &cell) in near.bodies.iter().zip(&near.cells).take(near.count) {
            let j = j as usize;
            let other = self.bodies[j];
            let shift = self.shift(cell, other.cell);
            if j == k || shift.x.is_nan() {
                continue;
            }
            if (me.count | other.count) & 1 != 0 {
                self.consider_bend(k, j, shift, best);
            } else if let Some(moment) = pair_moment(me, &other, shift) {
                self.take(k, moment, j as u32, other.count, best);
            }
        }
    }

    #[cold]
    fn consider_bend(&mut self, k: usize, j: usize, shift: Vec2, best: &mut Best) {
        let mut work = std::mem::take(&mut self.work);
        // The lower rank first, so that the pair has the same bits whoever looks.
        let known = if self.ranks[k] < self.ranks[j] {
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
        let there = |k: &usize| self.parts[*k] == Part::Meets;
        let edges = self.fixed.edges();
        self.space == Space::Plane
            && (0..self.bodies.len()).filter(there).all(|k| {
                let me = &self.bodies[k];
                let apart = |j: usize| {
                    let other = &self.bodies[j];
                    pair_moment(me, other, Vec2::ZERO)
                        .is_none_or(|m| self.is_over(m, k, j as u32, other.count))
                };
                let free = |e: usize| {
                    let hit = closed::edge(me.at, me.velocity, me.radius, (edges[e].a, edges[e].b));
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
        let grown = me.radius + 2.0 * self.cells.margin();
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
            closed::edge(me.at, me.velocity, me.radius, ends).map(|t| me.start().plus(t))
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
        if moment == best.moment && self.order(k, partner) >= self.order(k, best.partner) {
            return;
        }
        if self.is_over(moment, k, partner, count) {
            return;
        }
        (best.moment, best.partner, best.count) = (moment, partner, count);
    }

    /// Ranks of the two of a meeting, as they are ordered.
    #[inline]
    pub(super) fn order(&self, k: usize, partner: u32) -> (u32, u32) {
        let mine = self.ranks[k];
        if partner == NONE {
            (u32::MAX, u32::MAX)
        } else if partner & EDGE != 0 {
            (mine, EDGE | self.edge_ranks[(partner & !EDGE) as usize])
        } else {
            let other = self.ranks[partner as usize];
            (mine.min(other), mine.max(other))
        }
    }

    /// Writes the plan and its entry.
    #[inline]
    fn schedule(&mut self, k: usize, me: &Flying, best: Best) {
        let (border, _) = self.border(k, me);
        let serial = self.plans[k].serial.wrapping_add(1);
        let (moment, next) = if best.moment < border.min(best.look) {
            (best.moment, Next::Meet)
        } else if best.look < border {
            (best.look, Next::Look)
        } else {
            (border, Next::Border)
        };
        self.plans[k] = Plan {
            hit_ns: best.moment.time.0,
            hit_offset: best.moment.offset,
            partner: best.partner,
            partner_count: best.count,
            serial,
            next,
            bends: best.look != Moment::NEVER,
        };
        if moment == Moment::NEVER {
            return;
        }
        let (low, high) = if next == Next::Meet { self.order(k, best.partner) } else { (0, 0) };
        self.calendar.push(moment, Entry { low, high, body: k as u32, serial });
    }

    /// When the body reaches the next border of its cell, and along which axis.
    #[inline]
    fn border(&self, k: usize, me: &Flying) -> (Moment, usize) {
        if !me.is_plain() {
            return (self.border_on_a_bend(k, me), 0);
        }
        let corner = self.cells.corner(me.cell);
        let along = |low: f64, size: f64, at: f64, v: f64| {
            if v > 0.0 {
                (low + size - at) / v
            } else if v < 0.0 {
                (low - at) / v
            } else {
                f64::INFINITY
            }
        };
        let tx = along(corner.x, self.cells.size.x, me.at.x, me.velocity.x);
        let ty = along(corner.y, self.cells.size.y, me.at.y, me.velocity.y);
        let (t, axis) = if tx <= ty { (tx, 0) } else { (ty, 1) };
        (me.start().plus(t), axis)
    }

    /// A moment before which the body cannot leave its cell by more than the margin.
    fn border_on_a_bend(&self, k: usize, me: &Flying) -> Moment {
        let speed = self.bends.segments[k].top_speed();
        let now = self.clock.max(me.start());
        let (at, low, margin) = (self.place(k, now), self.cells.corner(me.cell), self.cells.margin());
        let high = low + self.cells.size;
        let room = (at.x - low.x).min(high.x - at.x).min(at.y - low.y).min(high.y - at.y);
        // Who was just put into this cell is inside of it but for rounding.
        if speed > 0.0 { now.plus((room + margin).max(margin / 2.0) / speed) } else { Moment::NEVER }
    }
}

/// When two discs on straight lines first touch, the second moved by `shift`: the moment at which [`Flights`] lets
/// them meet. `None` when they do not, or when either goes round a bend.
#[must_use]
pub fn disc_meeting(a: (&Path, f64), b: (&Path, f64), shift: Vec2) -> Option<Moment> {
    pair_moment(&flying(a)?, &flying(b)?, shift)
}

/// When a disc on a straight line first touches the line between two points.
#[must_use]
pub fn edge_meeting((path, radius): (&Path, f64), ends: (Vec2, Vec2)) -> Option<Moment> {
    let (start, at, velocity) = path.line()?;
    closed::edge(at, velocity, radius, ends).map(|t| start.plus(t))
}

fn flying((path, radius): (&Path, f64)) -> Option<Flying> {
    let (start, at, velocity) = path.line()?;
    let (start_ns, start_offset) = (start.time.0, start.offset);
    Some(Flying { start_ns, start_offset, count: 0, at, velocity, radius, cell: [0; 2] })
}

/// When two discs on straight lines meet, the second moved by `shift`: a function of the two and nothing else.
#[inline(always)]
fn pair_moment(a: &Flying, b: &Flying, shift: Vec2) -> Option<Moment> {
    let (r, v, ahead) = together(a, b, shift);
    let t = closed::discs(r, v, a.radius + b.radius)?;
    let later = if ahead > 0.0 { a.start() } else { b.start() };
    Some(later.plus(t))
}

/// Distance and relative velocity at the later of the two starts, and how much later the first one's is.
#[inline(always)]
fn together(a: &Flying, b: &Flying, shift: Vec2) -> (Vec2, Vec2, f64) {
    let ahead = a.start().since(b.start());
    // One of the two waits is zero.
    let (wait_a, wait_b) = ((-ahead).max(0.0), ahead.max(0.0));
    let r = (a.at + a.velocity * wait_a) - (b.at + b.velocity * wait_b) - shift;
    (r, a.velocity - b.velocity, ahead)
}

/// Bodies to be looked at together.
const NEAR: usize = 16;

/// Neighbours, and the cells they are seen in.
struct Near {
    bodies: [u32; NEAR],
    cells: [[i32; 2]; NEAR],
    count: usize,
}

impl Near {
    #[inline(always)]
    fn new() -> Near {
        Near { bodies: [0; NEAR], cells: [[0; 2]; NEAR], count: 0 }
    }

    #[inline(always)]
    fn is_full(&self) -> bool {
        self.count + 3 > NEAR
    }

    /// Adds the bodies of a bunch; those that are nobody are written over by the next.
    #[inline(always)]
    fn add(&mut self, items: [u32; 3], cell: [i32; 2]) {
        for item in items {
            self.bodies[self.count & (NEAR - 1)] = item;
            self.cells[self.count & (NEAR - 1)] = cell;
            self.count += usize::from(item != NONE);
        }
    }
}
