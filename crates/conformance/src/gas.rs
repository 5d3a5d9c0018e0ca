//! Discs that bounce without loss, on the flights under test or on a predictor that looks at all pairs.
//!
//! The predictor of all pairs shares the closed form of one pair with the flights, and nothing else: no cells, no calendar,
//! no plans. Whatever the flights tell it must tell as well, to the last bit.

use swarmyard_base::{Moment, Vec2};
use swarmyard_motion::flights::{
    Flights, Flyer, Meeting, Path, Shape, Space, With, disc_meeting, edge_meeting,
};
use swarmyard_part_api::FixedIndex;

/// Which two meet, and when.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// When.
    pub moment: Moment,
    /// The one of the lower rank.
    pub body: u32,
    /// The other.
    pub with: With,
}

/// What foretells meetings.
pub trait Predictor {
    /// The next meeting.
    fn next(&mut self, bound: Moment) -> Option<Event>;
    /// A new path.
    fn set(&mut self, body: u32, path: &Path);
}

impl Predictor for Flights {
    fn next(&mut self, bound: Moment) -> Option<Event> {
        Flights::next(self, bound).map(event)
    }

    fn set(&mut self, body: u32, path: &Path) {
        Flights::set(self, body, path);
    }
}

/// The bare event of a meeting.
#[must_use]
pub fn event(m: Meeting) -> Event {
    Event { moment: m.moment, body: m.body, with: m.with }
}

/// What meetings are ordered by: the moment, the lower rank, the higher rank or the edge.
type Key = (Moment, u32, u32);

/// Looks at all pairs of discs, and all edges.
pub struct AllPairs {
    bodies: Vec<Flyer>,
    edges: Vec<(Vec2, Vec2)>,
    copies: Vec<Vec2>,
    /// Moment of each pair's meeting, or of the body's with each edge; taken out when it was told.
    pairs: Vec<Vec<Option<Moment>>>,
    walls: Vec<Vec<Option<Moment>>>,
}

impl AllPairs {
    /// All pairs of these discs; on a torus with the copies of each up to so many rounds away.
    #[must_use]
    pub fn new(space: Space, bodies: &[Flyer], fixed: &FixedIndex, rounds: i32) -> AllPairs {
        let mut copies = vec![Vec2::ZERO];
        if let Space::Torus { min, max } = space {
            let round = max - min;
            copies = (-rounds..=rounds)
                .flat_map(|x| (-rounds..=rounds).map(move |y| (x, y)))
                .map(|(x, y)| Vec2::new(f64::from(x) * round.x, f64::from(y) * round.y))
                .collect();
        }
        let n = bodies.len();
        let edges: Vec<_> = fixed.edges().iter().map(|e| (e.a, e.b)).collect();
        let mut all = AllPairs {
            bodies: bodies.to_vec(),
            copies,
            pairs: vec![vec![None; n]; n],
            walls: vec![vec![None; edges.len()]; n],
            edges,
        };
        for k in 0..n {
            all.look(k);
        }
        all
    }

    fn disc(&self, k: usize) -> (&Path, f64) {
        let Shape::Disc(radius) = self.bodies[k].shape else { panic!("only discs") };
        (&self.bodies[k].path, radius)
    }

    fn look(&mut self, k: usize) {
        for j in (0..self.bodies.len()).filter(|j| *j != k) {
            let moment =
                self.copies.iter().filter_map(|c| disc_meeting(self.disc(k), self.disc(j), *c)).min();
            (self.pairs[k][j], self.pairs[j][k]) = (moment, moment);
        }
        for e in 0..self.edges.len() {
            self.walls[k][e] = edge_meeting(self.disc(k), self.edges[e]);
        }
    }
}

impl Predictor for AllPairs {
    fn next(&mut self, bound: Moment) -> Option<Event> {
        let mut best: Option<(Key, (usize, With))> = None;
        let mut take = |key: Key, what| {
            if key.0 <= bound && best.is_none_or(|b| key < b.0) {
                best = Some((key, what));
            }
        };
        for k in 0..self.bodies.len() {
            let rank = self.bodies[k].rank;
            for j in 0..self.bodies.len() {
                let other = self.bodies[j].rank;
                if let Some(moment) = self.pairs[k][j].filter(|_| rank < other) {
                    take((moment, rank, other), (k, With::Body(j as u32)));
                }
            }
            for (e, moment) in self.walls[k].iter().enumerate() {
                if let Some(moment) = *moment {
                    take((moment, rank, (1 << 31) + e as u32), (k, With::Edge(e as u32)));
                }
            }
        }
        let ((moment, _, _), (k, with)) = best?;
        match with {
            With::Body(j) => (self.pairs[k][j as usize], self.pairs[j as usize][k]) = (None, None),
            With::Edge(e) => self.walls[k][e as usize] = None,
        }
        Some(Event { moment, body: k as u32, with })
    }

    fn set(&mut self, body: u32, path: &Path) {
        self.bodies[body as usize].path = *path;
        self.look(body as usize);
    }
}

/// Discs with masses that bounce off one another and off edges.
pub struct Billiard<P> {
    /// What foretells.
    pub predictor: P,
    /// The discs as they are now.
    pub bodies: Vec<Flyer>,
    /// Mass of each.
    pub masses: Vec<f64>,
    edges: Vec<(Vec2, Vec2)>,
    round: Option<Vec2>,
}

impl<P: Predictor> Billiard<P> {
    /// Discs of equal mass.
    #[must_use]
    pub fn new(predictor: P, space: Space, bodies: &[Flyer], fixed: &FixedIndex) -> Billiard<P> {
        let round = if let Space::Torus { min, max } = space { Some(max - min) } else { None };
        Billiard {
            predictor,
            bodies: bodies.to_vec(),
            masses: vec![1.0; bodies.len()],
            edges: fixed.edges().iter().map(|e| (e.a, e.b)).collect(),
            round,
        }
    }

    /// The next collision not after `bound`, and what it does.
    pub fn collide(&mut self, bound: Moment) -> Option<Event> {
        let event = self.predictor.next(bound)?;
        let moment = event.moment;
        let k = event.body as usize;
        let (at, v) = self.state(k, moment);
        match event.with {
            With::Body(j) => {
                let j = j as usize;
                let (other_at, other_v) = self.state(j, moment);
                let mut apart = at - other_at;
                if let Some(round) = self.round {
                    apart.x -= (apart.x / round.x).round() * round.x;
                    apart.y -= (apart.y / round.y).round() * round.y;
                }
                let normal = apart * (1.0 / apart.norm());
                let closing = -(v - other_v).dot(normal);
                let (m, n) = (self.masses[k], self.masses[j]);
                self.put(k, moment, at, v + normal * (2.0 * n / (m + n) * closing));
                self.put(j, moment, other_at, other_v - normal * (2.0 * m / (m + n) * closing));
            }
            With::Edge(e) => {
                let (a, b) = self.edges[e as usize];
                let share = ((at - a).dot(b - a) / (b - a).norm2()).clamp(0.0, 1.0);
                let away = at - (a + (b - a) * share);
                let normal = away * (1.0 / away.norm());
                self.put(k, moment, at, v - normal * (2.0 * v.dot(normal)));
            }
        }
        Some(event)
    }

    /// Position and velocity of a disc.
    #[must_use]
    pub fn state(&self, k: usize, moment: Moment) -> (Vec2, Vec2) {
        let path = &self.bodies[k].path;
        (path.position_at(moment), path.velocity_at(moment))
    }

    fn put(&mut self, k: usize, moment: Moment, at: Vec2, velocity: Vec2) {
        let at = match self.round {
            Some(round) => Vec2::new(
                at.x - (at.x / round.x).floor() * round.x,
                at.y - (at.y / round.y).floor() * round.y,
            ),
            None => at,
        };
        let path = Path::straight(moment, at, velocity);
        self.bodies[k].path = path;
        self.predictor.set(k as u32, &path);
    }
}

/// Compressibility of hard discs by the ten known terms of the virial series (Clisby and McCoy 2006), the rest as a
/// geometric series.
#[must_use]
pub fn virial_series(packing: f64) -> f64 {
    const TERMS: [f64; 10] = [
        1.0,
        1.0,
        0.782_004,
        0.532_231_80,
        0.333_556_04,
        0.198_842_5,
        0.114_872_8,
        0.064_993_0,
        0.036_219_3,
        0.019_953_7,
    ];
    let (mut power, mut sum) = (1.0, 0.0);
    for term in TERMS {
        sum += term * power;
        power *= 2.0 * packing;
    }
    let ratio = TERMS[9] / TERMS[8] * 2.0 * packing;
    sum + TERMS[9] * power / (2.0 * packing) * ratio / (1.0 - ratio)
}
