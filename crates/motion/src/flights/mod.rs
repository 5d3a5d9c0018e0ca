//! Bodies in flight: where each is at any moment, and which two meet next.
//!
//! In: bodies with a shape, a rank and a [`Path`] each, edges that never move, and new paths as the caller
//! decides them. Out: meetings in the order of their moments ([`Flights::next`]), and who is near a point at
//! a moment ([`Flights::within`]).
//!
//! What never happens:
//! - A meeting's moment depends on anything but the two paths and shapes: not on "now", on cells, on other
//!   bodies, or on the order of calls. A second `Flights` made from the paths in the middle of a run
//!   ([`Flights::resume`]) therefore gives the same bits.
//! - Two meetings come in an order that depends on slots: they come by moment, then by the lower rank, then
//!   by the higher; edges come after bodies, by their owner's uid and their own.
//! - Bodies are moved, stopped or pushed here. Who meets is the caller's to answer, by [`Flights::set`].
//!
//! Discs on straight lines have closed forms, without any skin (`closed.rs`); everything else is stepped with
//! certainty (`bend.rs`). Each body has one entry in the calendar: its next meeting, or the next border of its cell.
//! A pair is covered when either of the two has an entry that is not after their meeting; that holds after every
//! step, so nothing is missed. Entries that a new path has overtaken are known by counters.

mod bend;
mod cells;
mod closed;
mod fetch;
mod path;
mod predict;
mod query;
mod range;
mod report;

pub use path::Path;
pub use predict::{disc_meeting, edge_meeting};
pub use range::{CLEAR_M, TOUCHING_M, crossing};

use crate::calendar::Calendar;
use crate::contact::Workspace;
use crate::pages;
use cells::{Cells, NONE, ROOM, TIGHT};
use fetch::Ahead;
use predict::{Entry, Order, Plan};
use report::Reported;
use std::collections::BTreeMap;
use swarmyard_base::{Moment, Vec2, math};
use swarmyard_part_api::{FixedIndex, Outline, Segment};

/// Number of a body, in the order they were given.
pub type Body = u32;

/// Where bodies fly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Space {
    /// The plane, without bounds.
    Plane,
    /// A rectangle whose opposite sides are the same place. Paths may leave it: every place has copies.
    /// It must be wider than 1.25 times the two widest bodies in touch.
    Torus {
        /// Lower left corner.
        min: Vec2,
        /// Upper right corner.
        max: Vec2,
    },
}

/// What a body looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    /// A disc of that radius.
    Disc(f64),
    /// Any outline.
    Hull(Outline),
}

impl Shape {
    fn reach(&self) -> f64 {
        match self {
            Shape::Disc(radius) => *radius,
            Shape::Hull(outline) => outline.reach(),
        }
    }
}

/// One body as it is given.
#[derive(Clone, Debug, PartialEq)]
pub struct Flyer {
    /// Its shape.
    pub shape: Shape,
    /// Its place among all: no two have the same. Below 2³¹.
    pub rank: u32,
    /// How it moves.
    pub path: Path,
    /// Whether it meets nobody.
    pub ghost: bool,
}

/// With whom a body meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum With {
    /// Another body.
    Body(Body),
    /// An edge, by its number in the index.
    Edge(u32),
}

/// Two that touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Meeting {
    /// When.
    pub moment: Moment,
    /// The body of the lower rank.
    pub body: Body,
    /// The other.
    pub with: With,
    /// Unit vector from the other to the body.
    pub normal: Vec2,
    /// Where they touch, near the body's own (perhaps unwrapped) position.
    pub point: Vec2,
    /// Speed at which they come nearer.
    pub closing: f64,
}

/// How far the meetings have been told: with the paths, all there is to go on from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// The moment of the last meeting told. Earlier ones are over.
    pub moment: Moment,
    /// Meetings that were told and not answered, which would otherwise be told again.
    pub open: Vec<(Body, With)>,
}

/// Instead of a link: a body that meets nobody.
const GHOST: u32 = u32::MAX - 1;
/// Instead of a link: a body that is not there.
const AWAY: u32 = u32::MAX - 2;

/// What the closed form and the cells need of a body, in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Flying {
    start_ns: i64,
    start_offset: u32,
    /// Changes with every path. Odd when the closed form does not apply.
    count: u32,
    at: Vec2,
    velocity: Vec2,
    cell: [i32; 2],
    /// The next body of its cell, [`NONE`] behind the last; or [`GHOST`] or [`AWAY`].
    link: u32,
    /// Number of its radius in the table.
    size: u32,
}

impl Flying {
    const NOWHERE: Flying = Flying {
        start_ns: 0,
        start_offset: 0,
        count: 0,
        at: Vec2::ZERO,
        velocity: Vec2::ZERO,
        cell: [0; 2],
        link: AWAY,
        size: 0,
    };

    #[inline(always)]
    fn start(&self) -> Moment {
        Moment { time: swarmyard_base::Time(self.start_ns), offset: self.start_offset }
    }

    #[inline(always)]
    fn is_plain(&self) -> bool {
        self.count & 1 == 0
    }

    /// Whether it takes part in meetings: then it is in a cell.
    #[inline(always)]
    fn meets(&self) -> bool {
        self.link < AWAY || self.link == NONE
    }
}

/// What only bodies need that turn, go round bends or have corners; empty until there is one.
#[derive(Debug, Default)]
struct Bends {
    segments: Vec<Segment>,
    outlines: Vec<Outline>,
    edges: Vec<Outline>,
}

/// Bodies in flight.
#[derive(Debug)]
pub struct Flights {
    space: Space,
    bodies: Vec<Flying>,
    plans: Vec<Plan>,
    /// The radii there are.
    radii: Vec<f64>,
    hulls: Vec<Option<Outline>>,
    bends: Bends,
    cells: Cells,
    fixed: FixedIndex,
    /// Place of each edge in the order of owners and uids.
    edge_ranks: Vec<u32>,
    calendar: Calendar<Entry>,
    /// Bodies with a new path, to be looked at before anything else happens.
    fresh: Vec<u32>,
    ahead: Ahead,
    reported: Vec<Reported>,
    /// Whether any of these is about somebody on a bend.
    bends_reported: bool,
    /// Moment of the last meeting told.
    now: Moment,
    /// Moment of the last thing that happened, borders included.
    clock: Moment,
    /// Nothing happens before this moment, unless somebody gets a new path.
    idle_until: Moment,
    /// The body whose meeting was told last.
    asked: Option<(u32, u32)>,
    /// No body ever was faster.
    top_speed2: f64,
    meeting: usize,
    /// Things that happened since the last new path or meeting.
    quiet: u64,
    /// Whether it is certain that nobody meets before somebody gets a new path.
    parted: bool,
    work: Workspace,
    /// Room for those that can meet a body that is looked at.
    hits: [predict::Hit; predict::NEAR],
}

impl Flights {
    /// Bodies, from their paths, before any of them has met.
    ///
    /// # Panics
    /// When there are more than 2³¹ − 3 bodies or edges.
    #[must_use]
    pub fn new(space: Space, bodies: &[Flyer], fixed: FixedIndex) -> Flights {
        Flights::resume(space, bodies, fixed, &Told { moment: first_moment(bodies), open: Vec::new() })
    }

    /// Bodies, from their paths, in the middle of a run: meetings that were told are not told again.
    ///
    /// # Panics
    /// When there are more than 2³¹ − 3 bodies or edges.
    #[must_use]
    pub fn resume(space: Space, bodies: &[Flyer], fixed: FixedIndex, told: &Told) -> Flights {
        let most = (1 << 31) - 3;
        assert!(bodies.len() <= most && fixed.edges().len() <= most, "too many bodies or edges");
        let (radii, sizes) = sizes(bodies);
        let flying = |(b, size): (&Flyer, u32)| {
            let link = if b.ghost { GHOST } else { AWAY };
            Flying { link, size, ..Flying::NOWHERE }
        };
        let any_hull = bodies.iter().any(|b| matches!(b.shape, Shape::Hull(_)));
        let hull = |b: &Flyer| match &b.shape {
            Shape::Hull(outline) if !outline.is_disc() => Some(outline.clone()),
            _ => None,
        };
        let (mut all, mut plans) = (pages::list(bodies.len()), pages::list(bodies.len()));
        all.extend(bodies.iter().zip(sizes).map(flying));
        plans.extend(bodies.iter().map(|b| Plan::of_rank(b.rank)));
        let mut flights = Flights {
            space,
            bodies: all,
            plans,
            radii,
            hulls: if any_hull { bodies.iter().map(hull).collect() } else { Vec::new() },
            bends: Bends::default(),
            cells: cells_for(space, bodies, told.moment),
            edge_ranks: edge_ranks(&fixed),
            fixed,
            calendar: Calendar::new(),
            fresh: Vec::new(),
            ahead: Ahead::default(),
            reported: Vec::new(),
            bends_reported: false,
            now: told.moment,
            clock: told.moment,
            idle_until: told.moment,
            asked: None,
            top_speed2: 0.0,
            meeting: bodies.iter().filter(|b| !b.ghost).count(),
            quiet: 0,
            parted: false,
            work: Workspace::default(),
            hits: predict::Hit::ROOM,
        };
        for (k, body) in bodies.iter().enumerate() {
            if body.ghost {
                flights.store(k, &body.path);
            } else {
                flights.put_back(k as u32, &body.path);
            }
        }
        flights.remember(&told.open);
        flights
    }

    /// How many bodies there are, ghosts and those away included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// Whether there is no body at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Bytes held for bodies that are discs on lines, and for the calendar.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bodies.capacity() * size_of::<Flying>()
            + self.plans.capacity() * size_of::<Plan>()
            + self.fresh.capacity() * size_of::<u32>()
            + self.ahead.bytes()
            + self.radii.capacity() * size_of::<f64>()
            + self.cells.bytes()
            + self.calendar.bytes()
    }

    /// The edges that never move.
    #[must_use]
    pub fn fixed(&self) -> &FixedIndex {
        &self.fixed
    }

    /// From now on the body moves on this path, which starts now: not before the last meeting told or the last
    /// bound asked for. Earlier predictions of its meetings no longer hold.
    #[inline]
    pub fn set(&mut self, body: Body, path: &Path) {
        let k = body as usize;
        self.store(k, path);
        if self.bodies[k].meets() {
            let cell = self.cell_now(k);
            self.move_to(k, cell);
            self.refresh(k);
            if (fetch::SOME..=fetch::MANY).contains(&self.bodies.len()) {
                self.fetch_around(cell);
            }
        }
    }

    /// Takes a body out: it meets nobody and nobody finds it, until it is put back.
    pub fn remove(&mut self, body: Body) {
        let k = body as usize;
        if self.bodies[k].meets() {
            self.cells.remove(&mut self.bodies, body);
            self.plans[k].cancel();
        }
        self.bodies[k].count = self.bodies[k].count.wrapping_add(2);
        self.bodies[k].link = AWAY;
    }

    /// Puts a body back that was taken out, on a path that starts now; it takes part in meetings.
    pub fn put_back(&mut self, body: Body, path: &Path) {
        let k = body as usize;
        if self.bodies[k].meets() {
            self.set(body, path);
            return;
        }
        self.store(k, path);
        let cell = self.cell_now(k);
        self.cells.insert(&mut self.bodies, body, cell);
        self.refresh(k);
    }

    /// The earliest meeting not after `bound` that has not been told yet.
    ///
    /// The caller answers by new paths for those who change. A meeting without an answer is not told again
    /// until one of the two has a new path.
    #[inline]
    pub fn next(&mut self, bound: Moment) -> Option<Meeting> {
        if bound < self.idle_until && self.fresh.is_empty() && self.asked.is_none() {
            self.clock = self.clock.max(bound);
            return None;
        }
        self.find_next(bound)
    }

    fn find_next(&mut self, bound: Moment) -> Option<Meeting> {
        self.settle();
        if self.parted {
            return None;
        }
        loop {
            let order = Order { plans: &self.plans, edges: &self.edge_ranks };
            if self.bodies.len() > fetch::SOME {
                if self.calendar.begin_day(bound, &order) {
                    self.fetch_day();
                } else if self.bodies.len() > fetch::MANY {
                    self.fetch();
                }
            }
            let order = Order { plans: &self.plans, edges: &self.edge_ranks };
            let Some((moment, entry)) = self.calendar.pop(bound, &order) else { break };
            self.clock = self.clock.max(moment);
            if let Some(meeting) = self.happen(moment, entry) {
                self.quiet = 0;
                self.idle_until = moment;
                return Some(meeting);
            }
            self.quiet += 1;
            if self.quiet > self.patience() {
                self.quiet = 0;
                self.parted = self.nobody_meets();
                if self.parted {
                    return None;
                }
            }
        }
        let order = Order { plans: &self.plans, edges: &self.edge_ranks };
        self.idle_until = self.calendar.due_from(&order);
        if bound != Moment::NEVER {
            self.clock = self.clock.max(bound);
        }
        None
    }

    /// Borders after which it is worth looking at all pairs: those who fly apart on a plane cross borders for ever.
    #[inline]
    fn patience(&self) -> u64 {
        256 + (self.meeting as u64 * self.meeting as u64) / 8
    }

    /// How far the meetings have been told, for [`Flights::resume`].
    #[must_use]
    pub fn told(&self) -> Told {
        Told { moment: self.now, open: self.open_meetings() }
    }

    /// Writes a path into the body and its tables.
    fn store(&mut self, k: usize, path: &Path) {
        let hull = !self.hulls.is_empty() && self.hulls[k].is_some();
        let line = if hull { None } else { path.line() };
        let body = &mut self.bodies[k];
        let count = (body.count & !1).wrapping_add(2);
        let (start, at, velocity) = match line {
            Some((start, at, velocity)) => {
                body.count = count;
                (start, at, velocity)
            }
            None => {
                body.count = count | 1;
                let start = path.start();
                (start, path.position_at(start), path.velocity_at(start))
            }
        };
        (body.start_ns, body.start_offset) = (start.time.0, start.offset);
        (body.at, body.velocity) = (at, velocity);
        let speed2 = velocity.norm2();
        if speed2 > self.top_speed2 {
            self.top_speed2 = speed2;
        }
        if line.is_none() {
            self.store_bend(k, path);
        }
    }

    fn store_bend(&mut self, k: usize, path: &Path) {
        if self.bends.outlines.is_empty() {
            let hull = |j: usize| self.hulls.get(j).cloned().flatten();
            let disc = |j: usize| Outline::disc(self.radius(j));
            self.bends.outlines =
                (0..self.bodies.len()).map(|j| hull(j).unwrap_or_else(|| disc(j))).collect();
            self.bends.edges = self.fixed.edges().iter().map(|e| Outline::line(e.a, e.b)).collect();
            self.bends.segments = vec![path.segment_from(0.0); self.bodies.len()];
        }
        self.bends.segments[k] = path.segment_from(0.0);
        let top = path.top_speed();
        self.top_speed2 = math::max(self.top_speed2, top * top);
        if self.cells.is_tight {
            self.make_room();
        }
    }

    /// The first bend: cells get the room that bends need, and all bodies are looked at anew.
    fn make_room(&mut self) {
        let there: Vec<usize> = (0..self.bodies.len()).filter(|k| self.bodies[*k].meets()).collect();
        let corners = match self.space {
            Space::Plane => around(there.iter().map(|k| self.place(*k, self.clock))),
            Space::Torus { min, max } => (min, max),
        };
        self.cells = Cells::new(self.space, there.len(), self.cells.reach, corners, ROOM);
        for k in there {
            let cell = self.cell_now(k);
            self.cells.insert(&mut self.bodies, k as u32, cell);
            self.refresh(k);
        }
    }

    /// Lets the body's meetings be looked for before anything else happens.
    #[inline]
    fn refresh(&mut self, k: usize) {
        (self.quiet, self.parted) = (0, false);
        self.plans[k].cancel();
        self.fresh.push(k as u32);
    }

    #[inline]
    fn cell_now(&self, k: usize) -> [i32; 2] {
        let start = self.bodies[k].start();
        let at = if start >= self.clock { self.bodies[k].at } else { self.place(k, self.clock) };
        self.cells.of(at)
    }

    #[inline]
    fn move_to(&mut self, k: usize, cell: [i32; 2]) {
        if self.bodies[k].cell != cell {
            self.cells.remove(&mut self.bodies, k as u32);
            self.cells.insert(&mut self.bodies, k as u32, cell);
        }
    }

    #[inline]
    fn radius(&self, k: usize) -> f64 {
        self.radii[self.bodies[k].size as usize]
    }

    /// Where a body is at a moment.
    #[inline]
    fn place(&self, k: usize, moment: Moment) -> Vec2 {
        let body = &self.bodies[k];
        let passed = moment.since(body.start());
        if body.is_plain() {
            body.at + body.velocity * passed
        } else {
            self.bends.segments[k].position_at(passed)
        }
    }
}

/// Before the first path starts.
fn first_moment(bodies: &[Flyer]) -> Moment {
    bodies.iter().map(|b| b.path.start()).min().unwrap_or_default()
}

/// A grid for bodies.
fn cells_for(space: Space, bodies: &[Flyer], now: Moment) -> Cells {
    let takes_part = || bodies.iter().filter(|b| !b.ghost);
    let reach = takes_part().map(|b| b.shape.reach()).fold(0.0, math::max);
    let corners = match space {
        Space::Plane => around(takes_part().map(|b| b.path.position_at(now))),
        Space::Torus { min, max } => (min, max),
    };
    let is_plain = |b: &Flyer| matches!(b.shape, Shape::Disc(_)) && b.path.line().is_some();
    let room = if bodies.iter().all(is_plain) { TIGHT } else { ROOM };
    Cells::new(space, takes_part().count(), 2.0 * reach, corners, room)
}

/// The box around some points.
fn around(points: impl Iterator<Item = Vec2>) -> (Vec2, Vec2) {
    let (mut min, mut max) = (Vec2::new(f64::MAX, f64::MAX), Vec2::new(f64::MIN, f64::MIN));
    for p in points {
        min = Vec2::new(math::min(min.x, p.x), math::min(min.y, p.y));
        max = Vec2::new(math::max(max.x, p.x), math::max(max.y, p.y));
    }
    if min.x > max.x { (Vec2::ZERO, Vec2::ZERO) } else { (min, max) }
}

/// The different radii, and the number of each body's among them.
fn sizes(bodies: &[Flyer]) -> (Vec<f64>, Vec<u32>) {
    let (mut radii, mut numbers) = (Vec::new(), BTreeMap::new());
    let mut number = |body: &Flyer| {
        let radius = body.shape.reach();
        *numbers.entry(radius.to_bits()).or_insert_with(|| {
            radii.push(radius);
            (radii.len() - 1) as u32
        })
    };
    let sizes = bodies.iter().map(&mut number).collect();
    (radii, sizes)
}

fn edge_ranks(fixed: &FixedIndex) -> Vec<u32> {
    let edges = fixed.edges();
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_unstable_by_key(|&k| (edges[k].owner, edges[k].uid, k));
    let mut ranks = vec![0; edges.len()];
    for (rank, k) in order.into_iter().enumerate() {
        ranks[k] = rank as u32;
    }
    ranks
}
