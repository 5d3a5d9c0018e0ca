//! A gas of hard discs on a torus: what `bench --gas` times, and what physics knows the numbers of.
//!
//! In: how many discs, and the share of the area they cover. Out: collisions, one after the other. Discs have diameter
//! and mass one; the temperature is one, the total momentum zero.

use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2};
use swarmyard_motion::flights::{Flights, Flyer, Meeting, Path, Shape, Space, With};
use swarmyard_part_api::FixedIndex;

/// Discs that bounce off one another without loss.
#[derive(Debug)]
pub struct Gas {
    flights: Flights,
    count: usize,
    /// Side of the torus.
    side: f64,
    /// When the last collision was.
    pub now: Moment,
    /// Collisions so far.
    pub collisions: u64,
    /// Sum of the closing speeds of all collisions: the virial, for discs of diameter and mass one.
    pub virial: f64,
}

impl Gas {
    /// `count` discs (rounded down to a square number) that cover the share `packing` of the torus, in a square lattice,
    /// with speeds of a gas.
    #[must_use]
    pub fn new(count: usize, packing: f64, seed: u64) -> Gas {
        let row = count.isqrt();
        Gas::with_velocities(packing, &velocities(row * row, seed))
    }

    /// The same with velocities of one's own, one for each of a square number of discs.
    #[must_use]
    pub fn with_velocities(packing: f64, velocities: &[Vec2]) -> Gas {
        let row = velocities.len().isqrt();
        let spacing = (std::f64::consts::PI / (4.0 * packing)).sqrt();
        let flyers: Vec<Flyer> = velocities
            .iter()
            .zip(in_blocks(row))
            .enumerate()
            .map(|(k, (velocity, (x, y)))| {
                let place = Vec2::new((x as f64 + 0.5) * spacing, (y as f64 + 0.5) * spacing);
                let path = Path::straight(Moment::ZERO, place, *velocity);
                Flyer { shape: Shape::Disc(0.5), rank: k as u32, path, ghost: false }
            })
            .collect();
        let side = row as f64 * spacing;
        let space = Space::Torus { min: Vec2::ZERO, max: Vec2::new(side, side) };
        Gas {
            flights: Flights::new(space, &flyers, FixedIndex::default()),
            count: flyers.len(),
            side,
            now: Moment::ZERO,
            collisions: 0,
            virial: 0.0,
        }
    }

    /// How many discs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The flights, to look at.
    #[must_use]
    pub fn flights(&self) -> &Flights {
        &self.flights
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.now.since(Moment::ZERO)
    }

    /// The next collision: the two swap what they have of velocity along the line between them. `None` when nobody
    /// will ever meet.
    #[inline]
    pub fn collide(&mut self) -> Option<Meeting> {
        let meeting = self.flights.next(Moment::NEVER)?;
        let With::Body(other) = meeting.with else { return None };
        let push = meeting.normal * meeting.closing;
        for (body, push) in [(meeting.body, push), (other, -push)] {
            let at = self.wrapped(self.flights.position_at(body, meeting.moment));
            let velocity = self.flights.velocity_at(body, meeting.moment) + push;
            self.flights.set(body, &Path::straight(meeting.moment, at, velocity));
        }
        self.now = meeting.moment;
        self.collisions += 1;
        self.virial += meeting.closing;
        Some(meeting)
    }

    /// That many collisions.
    pub fn run(&mut self, collisions: u64) {
        for _ in 0..collisions {
            self.collide();
        }
    }

    /// Turns every velocity around, at the present moment.
    pub fn reverse(&mut self) {
        for body in 0..self.count as u32 {
            let at = self.wrapped(self.flights.position_at(body, self.now));
            let velocity = self.flights.velocity_at(body, self.now);
            self.flights.set(body, &Path::straight(self.now, at, -velocity));
        }
    }

    /// Velocity of every disc.
    pub fn velocities(&self) -> impl Iterator<Item = Vec2> + '_ {
        (0..self.count as u32).map(|body| self.flights.velocity_at(body, self.now))
    }

    #[inline]
    fn wrapped(&self, p: Vec2) -> Vec2 {
        let wrap = |x: f64| {
            if x < 0.0 {
                x + self.side
            } else if x >= self.side {
                x - self.side
            } else {
                x
            }
        };
        Vec2::new(wrap(p.x), wrap(p.y))
    }
}

/// The places of a square lattice, block after block of eight by eight: neighbours in space are neighbours in memory.
fn in_blocks(row: usize) -> Vec<(usize, usize)> {
    let mut places: Vec<(usize, usize)> = (0..row * row).map(|k| (k % row, k / row)).collect();
    places.sort_by_key(|&(x, y)| (y / 8, x / 8, y, x));
    places
}

/// Normal velocities, with momentum zero and two for the mean of v².
fn velocities(count: usize, seed: u64) -> Vec<Vec2> {
    let axis = |ordinal: u32| Draw::at(seed, Uid(0x9a5), Purpose::Test, Time::ZERO, ordinal);
    let (x, y) = (axis(0), axis(1));
    let mut all: Vec<Vec2> = (0..count as u32).map(|k| Vec2::new(x.normal(k), y.normal(k))).collect();
    let mean = all.iter().fold(Vec2::ZERO, |sum, v| sum + *v) * (1.0 / count as f64);
    let energy: f64 = all.iter().map(|v| (*v - mean).norm2()).sum();
    let scale = (2.0 * count as f64 / energy).sqrt();
    for v in &mut all {
        *v = (*v - mean) * scale;
    }
    all
}
