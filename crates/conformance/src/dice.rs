//! Reproducible chance for tests.

use std::f64::consts::PI;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Time, Uid, Vec2, math};

/// A stream of random numbers that is the same in every run of a test.
#[derive(Clone, Debug)]
pub struct Dice {
    draw: Draw,
    next: u32,
}

impl Dice {
    /// The stream with that number.
    #[must_use]
    pub fn new(seed: u64) -> Dice {
        Dice { draw: Draw::at(seed, Uid(0xd1ce), Purpose::Test, Time::ZERO, 0), next: 0 }
    }

    /// Uniform in [0, 1).
    pub fn unit(&mut self) -> f64 {
        self.next += 1;
        self.draw.uniform(self.next)
    }

    /// Uniform in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.unit()
    }

    /// Uniform in the logarithm: every decade between two positive numbers is as likely.
    pub fn scale(&mut self, low: f64, high: f64) -> f64 {
        math::exp(self.between(math::ln(low), math::ln(high)))
    }

    /// A whole number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        ((self.unit() * n as f64) as usize).min(n - 1)
    }

    /// Whether something with that probability happens.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// An angle in [−π, π).
    pub fn angle(&mut self) -> f64 {
        self.between(-PI, PI)
    }

    /// A point in a square around the origin.
    pub fn point(&mut self, half: f64) -> Vec2 {
        Vec2::new(self.between(-half, half), self.between(-half, half))
    }

    /// Corners of a convex polygon inside of a circle: points on the circle in order.
    pub fn convex(&mut self, corners: usize, radius: f64) -> Vec<Vec2> {
        let turn = self.angle();
        let step = 2.0 * PI / corners as f64;
        (0..corners)
            .map(|k| Vec2::at_angle(turn + (k as f64 + self.between(-0.35, 0.35)) * step) * radius)
            .collect()
    }

    /// A random order of 0..n.
    pub fn order(&mut self, n: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..n).collect();
        for k in (1..n).rev() {
            order.swap(k, self.below(k + 1));
        }
        order
    }
}
