//! Optimal reciprocal collision avoidance (van den Berg, Guy, Lin, Manocha 2011): the velocity nearest to the wanted one
//! with which nobody is touched within the horizon, if all others do their half.
//!
//! Relative velocities that lead to contact within the horizon are a cone with a round tip. Each of two robots takes on
//! half of the smallest change that leads out of it: what is left to it is a half-plane of velocities. One for every
//! neighbour; of what is in all of them the velocity [nearest](crate::half_planes) to the wanted one.
//!
//! There may be nothing left. Then robots take the velocity that misses the half-planes by least, and come nearer to
//! each other than they should: in a crowd they do touch. Nor need they ever arrive: of a symmetrical crowd everybody
//! waits for ever.

use super::steered::movers;
use crate::half_planes::{HalfPlane, nearest};
use crate::lcm::flocks::Moving;
use crate::lcm::{Decision, Needs, Rule, Snapshot};
use swarmyard_base::chance::Draw;
use swarmyard_base::{Rot2, Vec2};

/// Whom a robot gives way to, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GiveWay {
    /// Radius of every robot, m.
    pub radius_m: f64,
    /// Nobody is to be touched for so long, s.
    pub horizon_s: f64,
    /// Highest speed, m/s.
    pub max_speed: f64,
    /// Others further away are not minded, m.
    pub reach_m: f64,
    /// So many others are minded at most, the nearest ones.
    pub neighbours: usize,
}

impl Default for GiveWay {
    fn default() -> GiveWay {
        GiveWay { radius_m: 0.1, horizon_s: 10.0, max_speed: 2.0, reach_m: 15.0, neighbours: 10 }
    }
}

impl GiveWay {
    /// The velocity for the next `step_s` seconds of a robot that wants another one.
    #[must_use]
    pub fn velocity(&self, me: &Moving, others: &[Moving], wanted: Vec2, step_s: f64) -> Vec2 {
        nearest(&self.half_planes(me, others, step_s), self.max_speed, wanted)
    }

    /// The velocities that each neighbour leaves to a robot, the nearest neighbour first.
    #[must_use]
    pub fn half_planes(&self, me: &Moving, others: &[Moving], step_s: f64) -> Vec<HalfPlane> {
        let far = self.reach_m * self.reach_m;
        let near = others.iter().map(|o| ((o.at - me.at).norm2(), o));
        let mut near: Vec<(f64, &Moving)> = near.filter(|n| n.0 < far).collect();
        near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.robot.cmp(&b.1.robot)));
        near.truncate(self.neighbours);
        near.iter().map(|n| self.half_plane(me, n.1, step_s)).collect()
    }

    /// The velocities that one neighbour leaves.
    fn half_plane(&self, me: &Moving, other: &Moving, step_s: f64) -> HalfPlane {
        let (to, closing) = (other.at - me.at, me.velocity - other.velocity);
        let wide = 2.0 * self.radius_m;
        let apart = to.norm2() > wide * wide;
        // The tip; whoever overlaps already is to be apart after one step.
        let time = if apart { self.horizon_s } else { step_s };
        let from_tip = closing - to * (1.0 / time);
        let (normal, change) = if apart && -from_tip.dot(to) <= wide * from_tip.norm() {
            let normal = side(to, wide, from_tip);
            (normal, -normal.dot(closing))
        } else {
            let length = from_tip.norm();
            let normal = if length > 0.0 { from_tip * (1.0 / length) } else { away(me, other) };
            (normal, wide / time - length)
        };
        HalfPlane { normal, level: normal.dot(me.velocity) + 0.5 * change }
    }
}

/// The normal, outwards, of the side of the cone that the velocity is nearer to. Right ahead it is the right one, for both
/// robots alike.
fn side(to: Vec2, wide: f64, from_tip: Vec2) -> Vec2 {
    let (distance2, length) = (to.norm2(), (to.norm2() - wide * wide).sqrt());
    // A side is `to` turned by the angle whose sine is wide/distance; its normal a quarter turn further.
    if to.cross(from_tip) > 0.0 {
        (to.perp() * length - to * wide) * (1.0 / distance2)
    } else {
        -(to.perp() * length + to * wide) * (1.0 / distance2)
    }
}

/// Where to when the velocities do not tell: away from the other; of two in one place the one of lower number west.
fn away(me: &Moving, other: &Moving) -> Vec2 {
    let from = me.at - other.at;
    if from.norm() > 0.0 {
        return from * (1.0 / from.norm());
    }
    Vec2::new(if me.robot < other.robot { -1.0 } else { 1.0 }, 0.0)
}

/// The rule `orca`; one round is one step of time, and velocities are last displacements.
#[derive(Clone, Debug)]
pub struct Orca {
    /// Whom it gives way to.
    pub way: GiveWay,
    /// Speed towards the goal, m/s; within the last second it goes more slowly, so that it comes to rest there.
    pub speed: f64,
    /// Width of the noise on the direction towards the goal, rad.
    pub noise_rad: f64,
    /// Length of a round, s.
    pub round_s: f64,
    /// Goals in the world, by robot; one without a goal stays, and makes room.
    pub goals: Vec<Vec2>,
}

impl Orca {
    /// The velocity that a robot wants.
    fn wanted(&self, me: &Moving, chance: Draw) -> Vec2 {
        let Some(goal) = self.goals.get(me.robot as usize) else { return Vec2::ZERO };
        let to = *goal - me.at;
        // In one second it would be there.
        let wanted = if to.norm() > self.speed { to * (self.speed / to.norm()) } else { to };
        if self.noise_rad == 0.0 {
            return wanted;
        }
        Rot2::new(chance.between(0, -0.5, 0.5) * self.noise_rad).apply(wanted)
    }
}

impl Rule for Orca {
    fn name(&self) -> &'static str {
        "orca"
    }

    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        let (me, others) = movers(look, self.round_s);
        let velocity = self.way.velocity(&me, &others, self.wanted(&me, chance), self.round_s);
        Decision::go(look, velocity * self.round_s)
    }

    fn needs(&self) -> Needs {
        Needs { names: true, unit: true, axes: true, place: true, ..Needs::default() }
    }
}
