//! A chain of robots from a base to a free robot, which goes where it likes (Pactole, `Volumes/NoCollisionAndPath`).
//!
//! All go by `step` at most in a round, and see as far as more than seven steps; rounds are fully synchronous. Robot 0
//! is free. The others wait in the origin of the world, the base, or have set out before the start; who waits has a
//! higher number than all that have set out. No two that have set out ever meet, and each living one sees a living one
//! of lower number, so a chain of sight leads from the base to the free robot, as long as somebody waits there.
//!
//! | light | |
//! |---|---|
//! | 0 | as at the start: waits when it is in the base, else has set out, free to go |
//! | 1 | has set out, free to go |
//! | 2 | has set out, and something is in its way |
//! | 3 | has withdrawn, for good |
//!
//! A robot cares for living ones of lower number alone. One is nearer than a step, or none is in sight: it withdraws,
//! and is no obstacle any more. Else it chooses one to follow, rather one that is free to go, for only one whose light
//! says that it is not may withdraw; and it goes towards it, unless that would bring it within two steps of anybody: then
//! it stays and says so. The lowest number of those who wait sets out when nobody who has is within `sees` − 4 steps.

use crate::lcm::{Decision, Needs, Rule, Sighting, Snapshot};
use std::f64::consts::TAU;
use swarmyard_base::chance::Draw;
use swarmyard_base::{Vec2, math};

/// The rule `life-line`.
#[derive(Clone, Copy, Debug)]
pub struct LifeLine {
    /// Longest way of a round, of the free robot too, m.
    pub step_m: f64,
    /// How near a robot goes to the one it follows: this share, up to 1, of the distance at which it cannot lose it.
    pub keep: f64,
    /// Width of the noise on the heading of the free robot, rad.
    pub noise_rad: f64,
}

impl LifeLine {
    /// The light of the start.
    pub const FRESH: u8 = 0;
    /// Has set out, and is free to go.
    pub const GOES: u8 = 1;
    /// Has set out, and something is in its way.
    pub const STUCK: u8 = 2;
    /// Has withdrawn.
    pub const GONE: u8 = 3;

    /// The distance at which a robot may be and is still in sight a round later.
    fn safe(&self, look: &Snapshot) -> f64 {
        look.sees - self.step_m
    }

    /// The free robot goes on as it went, with some noise; anywhere at first.
    fn roam(&self, look: &Snapshot, chance: Draw) -> Decision {
        let went = look.moved.norm() > 0.0;
        let heading = if went { look.moved.angle() } else { chance.between(1, 0.0, TAU) };
        let noise = chance.between(0, -0.5, 0.5) * self.noise_rad;
        Decision { target: Vec2::at_angle(heading + noise) * self.step_m, light: LifeLine::GOES }
    }

    /// Sets out when it is the first of those who wait and nobody else is near.
    fn wait(&self, me: u32, look: &Snapshot) -> Decision {
        let waits = |s: &&Sighting| s.light == LifeLine::FRESH && s.at.norm() <= look.same;
        let first = look.seen.iter().filter(waits).all(|s| s.robot >= Some(me));
        let near = self.safe(look) - 3.0 * self.step_m;
        let out = |s: &Sighting| s.light != LifeLine::GONE && !waits(&s);
        let lonely = !look.seen.iter().any(|s| out(s) && s.at.norm() <= near);
        let light = if first && lonely { LifeLine::GOES } else { LifeLine::FRESH };
        Decision { target: Vec2::ZERO, light }
    }

    /// Withdraws, or follows one of lower number.
    fn follow(&self, me: u32, look: &Snapshot) -> Decision {
        let lower = |s: &&Sighting| s.robot < Some(me) && s.light != LifeLine::GONE;
        let lower: Vec<&Sighting> = look.seen.iter().filter(lower).collect();
        let ends = |light: u8| Decision { target: Vec2::ZERO, light };
        let Some(leader) = lower.iter().min_by(|a, b| self.rank(look, a).total_cmp(&self.rank(look, b)))
        else {
            return ends(LifeLine::GONE);
        };
        // One step, and then two, and a little more: what rounding does to a step must not count.
        if lower.iter().any(|s| s.at.norm() <= self.step_m + look.same) {
            return ends(LifeLine::GONE);
        }
        let far = leader.at.norm();
        let way = math::min(math::max(far - self.keep * self.safe(look), 0.0), self.step_m);
        let target = leader.at * (way / far);
        let clear = 2.0 * (self.step_m + look.same);
        if lower.iter().any(|s| (s.at - target).norm() <= clear) {
            return ends(LifeLine::STUCK);
        }
        Decision { target, light: LifeLine::GOES }
    }

    /// Which of two to follow: one that is free to go, else one that is near enough, the nearest.
    fn rank(&self, look: &Snapshot, s: &Sighting) -> f64 {
        let far = s.at.norm();
        match (s.light == LifeLine::STUCK, far > self.safe(look)) {
            (false, _) => far,
            (true, false) => far + look.sees,
            (true, true) => far + 2.0 * look.sees,
        }
    }
}

impl Rule for LifeLine {
    fn name(&self) -> &'static str {
        "life-line"
    }

    fn decide(&self, look: &Snapshot, chance: Draw) -> Decision {
        let (Some(me), Some(here)) = (look.me, look.here) else { return Decision::stay(look) };
        match look.light {
            _ if me == 0 => self.roam(look, chance),
            LifeLine::GONE => Decision::stay(look),
            LifeLine::FRESH if here.norm() <= look.same => self.wait(me, look),
            _ => self.follow(me, look),
        }
    }

    fn needs(&self) -> Needs {
        Needs { names: true, unit: true, place: true, lights: 4, ..Needs::default() }
    }
}
