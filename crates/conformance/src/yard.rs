//! A world put together by hand, for casts without an engine.

use crate::Dice;
use crate::oracle::Thing;
use swarmyard_base::hash::canonical_bits;
use swarmyard_base::{Pose2, Rot2, Time, Twist2, Uid, Vec2};
use swarmyard_part_api::{
    Bodies, BodyGrid, BodyKind, Detail, Fan, FixedEdge, FixedIndex, Outline, TrackIndex, World,
};

/// Bodies and fixed edges; the observer is the body in slot 0.
#[derive(Default)]
pub struct Yard {
    uids: Vec<Uid>,
    poses: Vec<Pose2>,
    rots: Vec<Rot2>,
    rest: Vec<Twist2>,
    numbers: Vec<u32>,
    kinds: Vec<BodyKind>,
    heights: Vec<(f64, f64)>,
    outlines: Vec<Outline>,
    edges: Vec<FixedEdge>,
    grid: BodyGrid,
    fixed: FixedIndex,
    track_index: TrackIndex,
}

/// What a fan saw: one distance and one kind per ray.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// Distances.
    pub distances: Vec<f64>,
    /// Kinds; 0 for nothing.
    pub kinds: Vec<f64>,
}

impl Look {
    /// The same numbers bit by bit; −0 counts as 0, as in the state hash.
    #[must_use]
    pub fn bits(&self) -> Vec<(u64, u64)> {
        self.distances
            .iter()
            .zip(&self.kinds)
            .map(|(d, k)| (canonical_bits(*d), canonical_bits(*k)))
            .collect()
    }
}

impl Yard {
    /// An observer in slot 0 among at most `most` random bodies no smaller than `smallest`, and
    /// some edges; some of them low or hanging.
    #[must_use]
    pub fn random(dice: &mut Dice, half: f64, most: usize, smallest: f64) -> Yard {
        const KINDS: [BodyKind; 3] = [BodyKind::Wall, BodyKind::Robot, BodyKind::Obstacle];
        let mut yard = Yard::default();
        let heights = |dice: &mut Dice| {
            if dice.chance(0.3) { (dice.between(0.0, 0.2), dice.between(0.2, 0.5)) } else { (0.0, 1.0) }
        };
        let pose = Pose2 { at: dice.point(half), heading: dice.angle() };
        yard.body(Outline::disc(0.05), pose, BodyKind::Robot, (0.0, 1.0));
        for _ in 0..dice.below(most) {
            let size = dice.scale(smallest, half / 3.0);
            let corners = dice.below(6) + 3;
            let outline = match dice.below(3) {
                0 => Outline::disc(size),
                1 => Outline::rectangle(size, dice.scale(0.02, size)),
                _ => Outline::polygon(&dice.convex(corners, size)).expect("convex"),
            };
            let pose = Pose2 { at: dice.point(half), heading: dice.angle() };
            let (kind, heights) = (dice.pick(&KINDS), heights(dice));
            yard.body(outline, pose, kind, heights);
        }
        for _ in 0..dice.below(8) {
            let (a, length) = (dice.point(half), dice.scale(smallest, 2.0 * half));
            let b = a + Vec2::at_angle(dice.angle()) * length;
            let (kind, heights) = (dice.pick(&KINDS), heights(dice));
            yard.edge(a, b, kind, heights);
        }
        yard.ready();
        yard
    }

    /// Adds a body.
    pub fn body(&mut self, outline: Outline, pose: Pose2, kind: BodyKind, heights: (f64, f64)) {
        self.uids.push(Uid::of_path(&format!("/body/{}", self.uids.len())));
        self.poses.push(pose);
        self.rots.push(pose.rot());
        self.rest.push(Twist2::REST);
        self.numbers.push(self.outlines.len() as u32);
        self.kinds.push(kind);
        self.heights.push(heights);
        self.outlines.push(outline);
    }

    /// Adds a fixed edge.
    pub fn edge(&mut self, a: Vec2, b: Vec2, kind: BodyKind, heights: (f64, f64)) {
        let uid = Uid::of_path(&format!("/edge/{}", self.edges.len()));
        self.edges.push(FixedEdge { a, b, uid, owner: uid, kind, heights, surface: 0 });
    }

    /// Sorts everything by place; call after the last addition.
    pub fn ready(&mut self) {
        let Yard { grid, poses, outlines, .. } = self;
        grid.rebuild(poses, |slot| outlines[slot].reach());
        self.fixed = FixedIndex::new(self.edges.clone());
    }

    /// What an oracle has to know: every thing but the observer, with kind and heights.
    #[must_use]
    pub fn things(&self) -> Vec<(Thing, BodyKind, (f64, f64))> {
        let bodies = (1..self.poses.len())
            .map(|k| (Thing::new(&self.outlines[k], self.poses[k]), self.kinds[k], self.heights[k]));
        let edges = self.edges.iter().map(|e| (Thing::line(e.a, e.b), e.kind, e.heights));
        bodies.chain(edges).collect()
    }

    /// Where the observer is.
    #[must_use]
    pub fn observer(&self) -> Pose2 {
        self.poses[0]
    }

    /// What the observer's fan sees, the usual way.
    #[must_use]
    pub fn look(&self, fan: &Fan) -> Look {
        self.cast(fan, |world, distances, kinds| world.cast_fan(fan, 0, distances, kinds))
    }

    /// What it sees by sweeping neighbours.
    #[must_use]
    pub fn look_by_sweep(&self, fan: &Fan) -> Look {
        self.cast(fan, |world, distances, kinds| world.cast_fan_by_sweep(fan, 0, distances, kinds))
    }

    /// What it sees by walking each ray.
    #[must_use]
    pub fn look_by_walk(&self, fan: &Fan) -> Look {
        self.cast(fan, |world, distances, kinds| world.cast_fan_by_walk(fan, 0, distances, kinds))
    }

    fn cast(&self, fan: &Fan, way: impl Fn(&World<'_>, &mut [f64], &mut [f64])) -> Look {
        let mut look = Look { distances: vec![-1.0; fan.len()], kinds: vec![-1.0; fan.len()] };
        way(&self.world(), &mut look.distances, &mut look.kinds);
        look
    }

    /// The world as a sensor sees it.
    #[must_use]
    pub fn world(&self) -> World<'_> {
        World {
            now: Time::ZERO,
            quantum_s: 0.1,
            gravity: 9.81,
            seed: 1,
            detail: Detail::Normal,
            bodies: Bodies {
                uid: &self.uids,
                pose: &self.poses,
                rot: &self.rots,
                twist: &self.rest,
                moved: &self.rest,
                outline: &self.numbers,
                kind: &self.kinds,
                type_of: &self.numbers,
                heights: &self.heights,
            },
            outlines: &self.outlines,
            grid: &self.grid,
            fixed: &self.fixed,
            beacons: &[],
            tracks: &[],
            track_index: &self.track_index,
            touches: &[],
            carried: &[],
        }
    }
}
