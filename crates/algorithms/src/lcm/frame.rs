//! Private frames, and how the world looks in them.
//!
//! In: where all robots are. Out: the [`Snapshot`] of one of them. A frame is a similarity about the robot:
//! a rotation, a scale and perhaps a mirror; it is fixed for the run or drawn anew at every look.

use super::{Decision, Rule, Sighting, Snapshot};
use serde::{Deserialize, Serialize};
use std::f64::consts::TAU;
use swarmyard_base::chance::{Draw, Purpose};
use swarmyard_base::{Rot2, Time, Uid, Vec2, math};

/// A robot's private frame, about itself.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// Direction of its x axis in the world.
    pub turn: f64,
    /// Its units of length in one metre.
    pub scale: f64,
    /// Whether its left is the world's right.
    pub mirror: bool,
}

impl Frame {
    /// The world's own.
    pub const COMMON: Frame = Frame { turn: 0.0, scale: 1.0, mirror: false };

    /// A vector of the world in this frame.
    #[must_use]
    pub fn see(&self, v: Vec2) -> Vec2 {
        let turned = if self.turn == 0.0 { v } else { Rot2::new(self.turn).unapply(v) };
        Vec2::new(turned.x, if self.mirror { -turned.y } else { turned.y }) * self.scale
    }

    /// A vector of this frame in the world.
    #[must_use]
    pub fn unsee(&self, v: Vec2) -> Vec2 {
        let v = v * (1.0 / self.scale);
        let v = Vec2::new(v.x, if self.mirror { -v.y } else { v.y });
        if self.turn == 0.0 { v } else { Rot2::new(self.turn).apply(v) }
    }
}

/// How private frames differ from the world's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frames {
    /// Axes have any direction. Without it they are the compass's.
    pub rotate: bool,
    /// Units of length differ, from a quarter to four times.
    pub scale: bool,
    /// Left and right may be exchanged.
    pub mirror: bool,
    /// Drawn anew at every look.
    pub redraw: bool,
}

/// How far compasses err.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Compass {
    /// Greatest deviation from north, rad.
    pub error: f64,
    /// Whether it deviates differently at every look.
    pub dynamic: bool,
    /// The round (in asynchrony, the cycle) from which on it shows the truth; 0 means never.
    pub settles: u64,
}

/// What robots tell about how many are in one place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Multiplicity {
    /// Nothing.
    None,
    /// Whether there is one or more.
    Weak,
    /// How many.
    #[default]
    Strong,
}

/// What robots can see.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setup {
    /// Seed of all that is drawn.
    pub seed: u64,
    /// Private frames.
    pub frames: Frames,
    /// Compasses.
    pub compass: Compass,
    /// Frames given one by one, by robot, in place of drawn ones.
    pub given: Vec<Frame>,
    /// Detection of multiplicity.
    pub multiplicity: Multiplicity,
    /// How far robots see, m; may be infinite.
    pub sees_m: f64,
    /// Whether robots have names.
    pub names: bool,
    /// Whether robots know where they are in the world.
    pub place: bool,
    /// Robots nearer to each other than this are in one place, m. Rounding in private frames makes 0 useless.
    pub same_m: f64,
}

impl Default for Setup {
    fn default() -> Setup {
        Setup {
            seed: 1,
            frames: Frames::default(),
            compass: Compass::default(),
            given: Vec::new(),
            multiplicity: Multiplicity::Strong,
            sees_m: f64::INFINITY,
            names: false,
            place: false,
            same_m: 1e-9,
        }
    }
}

/// Which draw of a robot in a round is for what.
pub(crate) mod draws {
    pub(crate) const FRAME: u32 = 0;
    pub(crate) const RULE: u32 = 1;
    pub(crate) const MOVE: u32 = 2;
    pub(crate) const ACTIVE: u32 = 3;
    pub(crate) const CYCLE: u32 = 4;
}

/// Chance of one robot in one round, for one of [`draws`].
pub(crate) fn chance(seed: u64, robot: u32, round: u64, what: u32) -> Draw {
    Draw::at(seed, Uid(u64::from(robot)), Purpose::Schedule, Time(round as i64), what)
}

/// One robot as another may see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Visible {
    /// Its number.
    pub robot: u32,
    /// Where it is, in the world.
    pub at: Vec2,
    /// Its light.
    pub light: u8,
    /// Its displacement during the last round, in the world.
    pub moved: Vec2,
}

impl Setup {
    /// The private frame of a robot at its look in that round.
    #[must_use]
    pub fn frame(&self, robot: u32, round: u64) -> Frame {
        if let Some(frame) = self.given.get(robot as usize) {
            return *frame;
        }
        // Fixed frames are drawn in a round that never comes.
        let fixed = chance(self.seed, robot, u64::MAX, draws::FRAME);
        let anew = chance(self.seed, robot, round, draws::FRAME);
        let shape = if self.frames.redraw { anew } else { fixed };
        let needle = if self.compass.dynamic { anew } else { fixed };
        let turn = if self.frames.rotate {
            shape.between(0, 0.0, TAU)
        } else if self.compass.error > 0.0 && (self.compass.settles == 0 || round < self.compass.settles) {
            needle.between(1, -self.compass.error, self.compass.error)
        } else {
            0.0
        };
        let scale = if self.frames.scale { math::pow(4.0, shape.between(2, -1.0, 1.0)) } else { 1.0 };
        Frame { turn, scale, mirror: self.frames.mirror && shape.uniform(3) < 0.5 }
    }

    /// What a robot decides in that round, and its target in the world.
    ///
    /// # Panics
    /// When the robot is not among those that can be seen.
    #[must_use]
    pub fn decide(
        &self,
        rule: &dyn Rule,
        me: u32,
        all: &[Visible],
        round: u64,
        frame: Frame,
    ) -> (Decision, Vec2) {
        let look = self.snapshot(me, all, frame);
        let decision = rule.decide(&look, chance(self.seed, me, round, draws::RULE));
        let here = all.iter().find(|v| v.robot == me).map_or(Vec2::ZERO, |v| v.at);
        if decision.target == Vec2::ZERO {
            return (decision, here);
        }
        // A target it sees somebody at is that very place: towers must not drift apart by rounding.
        let target = here + frame.unsee(decision.target);
        let there = all.iter().find(|v| v.robot != me && (v.at - target).norm() <= self.same_m);
        (decision, there.map_or(target, |v| v.at))
    }

    /// What a robot sees. `all` has everybody, in any order, itself among them.
    ///
    /// # Panics
    /// When the robot is not among them.
    #[must_use]
    pub fn snapshot(&self, me: u32, all: &[Visible], frame: Frame) -> Snapshot {
        let Some(own) = all.iter().find(|v| v.robot == me) else {
            panic!("robot `{me}` is not among those that can be seen")
        };
        let here = |v: &Visible| v.robot == me || (v.at - own.at).norm() <= self.same_m;
        let mut offs: Vec<(Vec2, &Visible)> = all
            .iter()
            .filter(|v| (v.at - own.at).norm() <= self.sees_m)
            .map(|v| (if here(v) { Vec2::ZERO } else { v.at - own.at }, v))
            .collect();
        offs.sort_by(|(a, _), (b, _)| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
        let mut seen: Vec<Sighting> = Vec::new();
        let mut places: Vec<Vec2> = Vec::new();
        for (off, v) in offs {
            // They are in the order of x, so the same place is not far back.
            let back = (0..places.len()).rev().take_while(|k| places[*k].x >= off.x - self.same_m);
            let same: Vec<usize> = back.filter(|k| (places[*k] - off).norm() <= self.same_m).collect();
            if let Some(k) = same.iter().find(|k| !self.names && seen[**k].light == v.light) {
                seen[*k].count += 1;
                continue;
            }
            let robot = self.names.then_some(v.robot);
            // All that are in one place are seen in the very same place, whatever their lights.
            let at = if off == Vec2::ZERO { off } else { same.last().map_or(off, |k| places[*k]) };
            places.push(at);
            let (at, moved) = (frame.see(at), frame.see(v.moved));
            seen.push(Sighting { at, count: 1, light: v.light, moved, robot });
        }
        for s in &mut seen {
            s.count = match self.multiplicity {
                Multiplicity::None => 1,
                Multiplicity::Weak => s.count.min(2),
                Multiplicity::Strong => s.count,
            };
        }
        seen.sort_by(|a, b| {
            a.at.x.total_cmp(&b.at.x).then(a.at.y.total_cmp(&b.at.y)).then(a.light.cmp(&b.light))
        });
        Snapshot {
            seen,
            light: own.light,
            moved: frame.see(own.moved),
            me: self.names.then_some(me),
            here: self.place.then_some(own.at),
            sees: self.sees_m * frame.scale,
            same: self.same_m * frame.scale,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_seen_in_a_frame_is_unseen_back() {
        let setup = Setup {
            frames: Frames { rotate: true, scale: true, mirror: true, redraw: true },
            ..Setup::default()
        };
        let mut mirrored = 0;
        for round in 0..200 {
            let frame = setup.frame(3, round);
            let v = Vec2::new(3.0, -1.5);
            assert!((frame.unsee(frame.see(v)) - v).norm() < 1e-12);
            assert!((frame.see(v).norm() - v.norm() * frame.scale).abs() < 1e-12);
            mirrored += u32::from(frame.mirror);
        }
        assert!((60..140).contains(&mirrored), "{mirrored}");
    }

    #[test]
    fn a_compass_errs_until_it_settles() {
        let compass = Compass { error: 2.0, dynamic: true, settles: 30 };
        let setup = Setup { compass, ..Setup::default() };
        let turns: Vec<f64> = (0..60).map(|round| setup.frame(1, round).turn).collect();
        assert!(turns[..30].iter().all(|t| *t != 0.0 && t.abs() <= 2.0));
        assert!(turns[30..].iter().all(|t| *t == 0.0));
        let never = Setup { compass: Compass { settles: 0, ..compass }, ..Setup::default() };
        assert!((0..60).all(|round| never.frame(1, round).turn != 0.0));
    }

    #[test]
    fn multiplicity_is_told_as_far_as_it_is_detected() {
        let at = |robot: u32, x: f64, light: u8| Visible {
            robot,
            at: Vec2::new(x, 0.0),
            light,
            moved: Vec2::ZERO,
        };
        let all = [at(0, 0.0, 0), at(1, 1.0, 0), at(2, 1.0, 0), at(3, 1.0, 0), at(4, 1.0, 1), at(5, 9.0, 0)];
        for (multiplicity, count) in
            [(Multiplicity::None, 1), (Multiplicity::Weak, 2), (Multiplicity::Strong, 3)]
        {
            let setup = Setup { multiplicity, sees_m: 5.0, ..Setup::default() };
            let look = setup.snapshot(0, &all, Frame::COMMON);
            let counts: Vec<(f64, u32, u8)> = look.seen.iter().map(|s| (s.at.x, s.count, s.light)).collect();
            assert_eq!(counts, [(0.0, 1, 0), (1.0, count, 0), (1.0, 1, 1)], "the one at 9 m is out of sight");
        }
    }

    #[test]
    fn a_snapshot_does_not_tell_who_is_who() {
        let at = |robot: u32, x: f64| Visible { robot, at: Vec2::new(x, x * x), light: 0, moved: Vec2::ZERO };
        let one = [at(0, 0.0), at(1, 1.0), at(2, 2.0)];
        let other = [at(0, 0.0), at(2, 1.0), at(1, 2.0)];
        let setup = Setup::default();
        assert_eq!(
            setup.snapshot(0, &one, Frame::COMMON),
            setup.snapshot(0, &other, Frame::COMMON),
            "exchanging two others changes nothing"
        );
    }
}
