//! Robots of a tower part: with probability one half each goes off in some direction, not further than a
//! quarter of the way to the nearest other place (after Dieudonné and Petit 2009).
//!
//! Two robots in different places stay at least half as far from each other as they were: towers never merge.

use crate::lcm::{Decision, Rule, Snapshot};
use std::f64::consts::TAU;
use swarmyard_base::Vec2;
use swarmyard_base::chance::Draw;
use swarmyard_base::math;

/// The rule `scatter`. Who knows that it is alone in its place stays.
#[derive(Clone, Copy, Debug)]
pub struct Scatter;

impl Rule for Scatter {
    fn name(&self) -> &'static str {
        "scatter"
    }

    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        let here = look.towers().into_iter().find(|t| t.0.norm() <= look.same).map_or(1, |t| t.1);
        if here == 1 || chance.uniform(0) < 0.5 {
            return Decision::stay(look);
        }
        let nearest = look.others().iter().map(|p| p.norm()).fold(f64::INFINITY, math::min);
        let room = if nearest.is_finite() { 0.25 * nearest } else { 1.0 };
        let way = room * chance.between(1, 0.5, 1.0);
        Decision::go(look, Vec2::at_angle(chance.between(2, 0.0, TAU)) * way)
    }
}
