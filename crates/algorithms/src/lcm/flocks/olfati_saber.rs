//! Olfati-Saber's flocking (2006): a lattice potential, agreement of velocities, and (algorithm 2) a goal.
//!
//! The sum of the potential and the kinetic energy never grows. Without a goal (algorithm 1) a wide flock falls
//! to pieces; with one it stays together.

use super::{Moving, Steering};
use std::f64::consts::PI;
use swarmyard_base::{Vec2, math};

/// Parameters, with the names of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OlfatiSaber {
    /// Distance of neighbours in the lattice, m.
    pub d: f64,
    /// Range of interaction, m.
    pub r: f64,
    /// Of the smooth norm.
    pub eps: f64,
    /// Of the attraction; as strong as the repulsion when equal to `b`.
    pub a: f64,
    /// Of the repulsion.
    pub b: f64,
    /// Where the potential begins to fade, as a part of the range.
    pub h: f64,
    /// Position and velocity of the goal, and the weights of both; `None` in algorithm 1.
    pub goal: Option<(Vec2, Vec2, f64, f64)>,
}

impl OlfatiSaber {
    /// Algorithm 1: no goal.
    #[must_use]
    pub fn free() -> OlfatiSaber {
        OlfatiSaber { d: 7.0, r: 1.2 * 7.0, eps: 0.1, a: 5.0, b: 5.0, h: 0.2, goal: None }
    }

    /// Algorithm 2: towards a goal.
    #[must_use]
    pub fn towards(at: Vec2, velocity: Vec2) -> OlfatiSaber {
        OlfatiSaber { goal: Some((at, velocity, 0.1, 0.4)), ..OlfatiSaber::free() }
    }

    /// The smooth norm of a length.
    fn sigma(&self, z: f64) -> f64 {
        ((1.0 + self.eps * z * z).sqrt() - 1.0) / self.eps
    }

    /// From 1 down to 0, smoothly.
    fn bump(&self, z: f64) -> f64 {
        if z < self.h {
            1.0
        } else if z < 1.0 {
            0.5 * (1.0 + math::cos(PI * (z - self.h) / (1.0 - self.h)))
        } else {
            0.0
        }
    }

    /// Force at a smooth distance.
    fn force(&self, z: f64) -> f64 {
        let (range, rest) = (self.sigma(self.r), self.sigma(self.d));
        let c = (self.a - self.b).abs() / (4.0 * self.a * self.b).sqrt();
        let x = z - rest + c;
        let phi = 0.5 * ((self.a + self.b) * x / (1.0 + x * x).sqrt() + (self.a - self.b));
        self.bump(z / range) * phi
    }

    /// Potential at a smooth distance, by Simpson's rule from the distance of rest.
    fn potential(&self, z: f64) -> f64 {
        const PIECES: u32 = 100;
        let from = self.sigma(self.d);
        let to = math::min(z, self.sigma(self.r));
        let h = (to - from) / f64::from(PIECES);
        let sum: f64 = (0..=PIECES)
            .map(|k| {
                let weight = if k == 0 || k == PIECES { 1.0 } else { f64::from(2 + 2 * (k % 2)) };
                weight * self.force(from + f64::from(k) * h)
            })
            .sum();
        sum * h / 3.0
    }

    /// Potential and kinetic energy of all, against the goal when there is one.
    #[must_use]
    pub fn energy(&self, robots: &[Moving]) -> f64 {
        let mut energy = 0.0;
        for (k, one) in robots.iter().enumerate() {
            for other in &robots[k + 1..] {
                energy += self.potential(self.sigma((other.at - one.at).norm()));
            }
            let (at, velocity, c1, _) = self.goal.unwrap_or((Vec2::ZERO, Vec2::ZERO, 0.0, 0.0));
            energy += 0.5 * (one.velocity - velocity).norm2() + 0.5 * c1 * (one.at - at).norm2();
        }
        energy
    }
}

impl Steering for OlfatiSaber {
    fn accelerate(&self, _: f64, me: &Moving, others: &[Moving]) -> Vec2 {
        let mut sum = Vec2::ZERO;
        for o in others {
            let to = o.at - me.at;
            if to.norm() >= self.r {
                continue;
            }
            let z = self.sigma(to.norm());
            let direction = to * (1.0 / (1.0 + self.eps * to.norm2()).sqrt());
            let weight = self.bump(z / self.sigma(self.r));
            sum = sum + direction * self.force(z) + (o.velocity - me.velocity) * weight;
        }
        if let Some((at, velocity, c1, c2)) = self.goal {
            sum = sum - (me.at - at) * c1 - (me.velocity - velocity) * c2;
        }
        sum
    }
}
