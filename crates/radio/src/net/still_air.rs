//! An [`Air`] for tests and tools: robots that stand or glide, walls, and a queue.
//!
//! In: a world of points with straight motion, messages to send.
//! Out: which messages arrived where and when, and which were lost, and why.
//!
//! It plays a network without an engine. Events of the same moment come in the order they were asked for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Moment, Time, Uid, Vec2};
use swarmyard_part_api::chord::{crossing, edges_of, through_disc, through_polygon};
use swarmyard_part_api::{Air, Loss, Message, Network};

/// A message that arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When.
    pub at: Moment,
    /// Number of the message.
    pub serial: u64,
    /// Who sent it.
    pub from: u32,
    /// Where.
    pub to: u32,
}

impl Arrival {
    /// When, in seconds since the start.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.at.since(Moment::ZERO)
    }
}

/// A message that did not arrive at one of its receivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lost {
    /// When that was known.
    pub at: Moment,
    /// Number of the message.
    pub serial: u64,
    /// Where it should have arrived.
    pub to: u32,
    /// Why not.
    pub why: Loss,
}

/// Something solid.
#[derive(Clone, Debug)]
enum Solid {
    Disc(Vec2, f64),
    Polygon(Vec<Vec2>),
}

#[derive(Clone, Debug)]
enum What {
    Wake(u64),
    Arrive(Message, u32),
    Send(u32, Vec<u32>, Arc<[u8]>),
}

#[derive(Clone, Debug)]
struct Event {
    at: Moment,
    number: u64,
    what: What,
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.number == other.number
    }
}
impl Eq for Event {}
impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Event {
    fn cmp(&self, other: &Event) -> std::cmp::Ordering {
        (self.at, self.number).cmp(&(other.at, other.number))
    }
}

/// A small world around a network. See the module.
#[derive(Clone, Debug)]
pub struct StillAir {
    /// What arrived, in the order of arrival; filled only while `recording`.
    pub arrived: Vec<Arrival>,
    /// What was lost; filled only while `recording`.
    pub lost: Vec<Lost>,
    /// Whether arrivals and losses are written down, or only counted.
    pub recording: bool,
    /// How many messages arrived.
    pub arrivals: u64,
    /// How many were lost.
    pub losses: u64,
    seed: u64,
    now: Moment,
    /// Place at the start and velocity; `None` when gone.
    robots: Vec<Option<(Vec2, Vec2)>>,
    walls: Vec<(Vec2, Vec2)>,
    solids: Vec<Solid>,
    queue: BinaryHeap<Reverse<Event>>,
    events: u64,
    serial: u64,
}

impl StillAir {
    /// So many robots, all standing at the origin, and a seed of the run.
    #[must_use]
    pub fn new(robots: u32, seed: u64) -> StillAir {
        StillAir {
            arrived: Vec::new(),
            lost: Vec::new(),
            recording: true,
            arrivals: 0,
            losses: 0,
            seed,
            now: Moment::ZERO,
            robots: vec![Some((Vec2::ZERO, Vec2::ZERO)); robots as usize],
            walls: Vec::new(),
            solids: Vec::new(),
            queue: BinaryHeap::new(),
            events: 0,
            serial: 0,
        }
    }

    /// Puts a robot somewhere, standing.
    pub fn put(&mut self, robot: u32, place: Vec2) {
        self.glide(robot, place, Vec2::ZERO);
    }

    /// Lets a robot glide: at `place` at time 0, with this velocity for ever.
    pub fn glide(&mut self, robot: u32, place: Vec2, velocity: Vec2) {
        self.robots[robot as usize] = Some((place, velocity));
    }

    /// Takes a robot away.
    pub fn remove(&mut self, robot: u32) {
        self.robots[robot as usize] = None;
    }

    /// A thin wall: one edge.
    pub fn wall(&mut self, a: Vec2, b: Vec2) {
        self.walls.push((a, b));
    }

    /// A solid disc. A line that crosses it crosses two edges.
    pub fn disc(&mut self, centre: Vec2, radius: f64) {
        self.solids.push(Solid::Disc(centre, radius));
    }

    /// A solid polygon, by its corners.
    pub fn block(&mut self, corners: &[Vec2]) {
        self.solids.push(Solid::Polygon(corners.to_vec()));
    }

    /// A robot hands a message over now; its number.
    pub fn send(&mut self, network: &mut dyn Network, from: u32, to: &[u32], bytes: &[u8]) -> u64 {
        self.hand_over(network, from, to, Arc::from(bytes))
    }

    /// A robot will hand a message over at a later second.
    pub fn send_at(&mut self, seconds: f64, from: u32, to: &[u32], bytes: &Arc<[u8]>) {
        let what = What::Send(from, to.to_vec(), Arc::clone(bytes));
        self.ask(Moment::ZERO.plus(seconds), what);
    }

    fn hand_over(&mut self, network: &mut dyn Network, from: u32, to: &[u32], bytes: Arc<[u8]>) -> u64 {
        let message = Message { serial: self.serial, from, protocol: 0, bytes };
        self.serial += 1;
        network.send(&message, to, self);
        message.serial
    }

    /// Lets everything happen up to and including this second.
    pub fn run(&mut self, network: &mut dyn Network, seconds: f64) {
        let end = Moment::ZERO.plus(seconds);
        while self.queue.peek().is_some_and(|e| e.0.at <= end) {
            self.step(network);
        }
        self.now = self.now.max(end);
    }

    /// Lets the next event happen; whether there was one.
    pub fn step(&mut self, network: &mut dyn Network) -> bool {
        let Some(Reverse(event)) = self.queue.pop() else { return false };
        self.now = event.at;
        match event.what {
            What::Wake(token) => network.wake(token, self),
            What::Send(from, to, bytes) => {
                self.hand_over(network, from, &to, bytes);
            }
            What::Arrive(message, to) => {
                self.arrivals += 1;
                if self.recording {
                    let (serial, from) = (message.serial, message.from);
                    self.arrived.push(Arrival { at: event.at, serial, from, to });
                }
            }
        }
        true
    }

    fn ask(&mut self, at: Moment, what: What) {
        assert!(at >= self.now, "asked for a moment in the past: {at:?} at {:?}", self.now);
        self.queue.push(Reverse(Event { at, number: self.events, what }));
        self.events += 1;
    }
}

impl Air for StillAir {
    fn now(&self) -> Moment {
        self.now
    }

    fn robots(&self) -> u32 {
        self.robots.len() as u32
    }

    fn place(&self, robot: u32) -> Option<Vec2> {
        let (place, velocity) = self.robots.get(robot as usize).copied().flatten()?;
        Some(place + velocity * self.now.since(Moment::ZERO))
    }

    fn obstructed(&self, a: Vec2, b: Vec2) -> (u32, f64) {
        let crossed = self.walls.iter().filter(|w| crossing(a, b, w.0, w.1).is_some()).count() as u32;
        let mut all = (crossed, 0.0);
        for solid in &self.solids {
            let (edges, inside) = match solid {
                Solid::Disc(centre, radius) => through_disc(a, b, *centre, *radius),
                Solid::Polygon(corners) => through_polygon(a, b, edges_of(corners)),
            };
            all = (all.0 + edges, all.1 + inside * (b - a).norm());
        }
        all
    }

    fn chance(&self, message: &Message, to: u32) -> Draw {
        Draw::at(self.seed, Uid(message.serial), Purpose::Network, Time::ZERO, to)
    }

    fn deliver(&mut self, message: &Message, to: u32, at: Moment) {
        self.ask(at, What::Arrive(message.clone(), to));
    }

    fn lose(&mut self, message: &Message, to: u32, why: Loss) {
        self.losses += 1;
        if self.recording {
            self.lost.push(Lost { at: self.now, serial: message.serial, to, why });
        }
    }

    fn wake(&mut self, at: Moment, token: u64) {
        self.ask(at, What::Wake(token));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(x: f64, y: f64) -> Vec2 {
        Vec2 { x, y }
    }

    #[test]
    fn chords_have_the_lengths_of_geometry() {
        let mut air = StillAir::new(0, 1);
        air.disc(v(0.0, 0.0), 5.0);
        // A chord at distance 3 from the centre of a circle of radius 5 is 8 long.
        let (edges, inside) = air.obstructed(v(-10.0, 3.0), v(10.0, 3.0));
        assert!(edges == 2 && (inside - 8.0).abs() < 1e-12, "{edges} {inside}");
        assert_eq!(air.obstructed(v(0.0, 0.0), v(10.0, 0.0)), (1, 5.0));
        assert_eq!(air.obstructed(v(-10.0, 5.0), v(10.0, 5.0)), (0, 0.0));
        assert_eq!(air.obstructed(v(6.0, 0.0), v(10.0, 0.0)), (0, 0.0));
        let mut air = StillAir::new(0, 1);
        air.block(&[v(0.0, 0.0), v(2.0, 0.0), v(2.0, 1.0), v(0.0, 1.0)]);
        let (edges, inside) = air.obstructed(v(-1.0, 0.5), v(4.0, 0.5));
        assert_eq!((edges, (inside * 1e12).round()), (2, 2e12));
        // The diagonal of a square through two opposite corners.
        let mut air = StillAir::new(0, 1);
        air.block(&[v(0.0, 0.0), v(1.0, 0.0), v(1.0, 1.0), v(0.0, 1.0)]);
        let (_, inside) = air.obstructed(v(-1.0, -1.0), v(2.0, 2.0));
        assert!((inside - 2.0_f64.sqrt()).abs() < 1e-12);
        // An L: in, out through the notch, in again.
        let mut air = StillAir::new(0, 1);
        let (l, m) = (v(3.0, 0.0), v(3.0, 3.0));
        air.block(&[v(0.0, 0.0), l, m, v(2.0, 3.0), v(2.0, 1.0), v(1.0, 1.0), v(1.0, 3.0), v(0.0, 3.0)]);
        let (edges, inside) = air.obstructed(v(-1.0, 2.0), v(5.0, 2.0));
        assert_eq!(edges, 4);
        assert!((inside - 2.0).abs() < 1e-12);
    }

    #[test]
    fn a_thin_wall_is_one_edge_without_thickness() {
        let mut air = StillAir::new(0, 1);
        air.wall(v(1.0, -1.0), v(1.0, 1.0));
        assert_eq!(air.obstructed(v(0.0, 0.0), v(2.0, 0.0)), (1, 0.0));
        assert_eq!(air.obstructed(v(0.0, 2.0), v(2.0, 2.0)), (0, 0.0));
        assert_eq!(air.obstructed(v(1.0, -5.0), v(1.0, 5.0)), (0, 0.0), "along it");
    }
}
